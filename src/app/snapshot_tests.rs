//! Every pane and everything that lies over the screen, on real sessions, at four sizes: driven by keys and commands
//! alone.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::export::with_scene;
use super::tests::Screen;
use crate::ui::{Action, Depth, ScreenForm, Theme, UNICODE, draw, update};

const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 40), (200, 60)];

/// What is done, in words: a story, then commands behind `:`, keys, and what is typed in quotes.
const SCREENS: &[(&str, &str, &str)] = &[
    ("queues", "payments", ""),
    ("queues_sorted_and_filtered", "payments", "o o / 'shop' enter"),
    ("queues_backing_off", "queues", ":until rejected; c c t"),
    ("nodes", "payments", ":pod shop/payments; 2"),
    ("nodes_closest_first", "payments", ":pod shop/payments; 2 o o o"),
    ("nodes_scored", "payments", ":pod shop/spread-85969bc548-7z2j5; 2"),
    ("node", "payments", ":pod shop/payments; 3 j d"),
    ("node_that_was_turned_down", "payments", ":pod shop/payments; :node infra-1;"),
    ("preemption", "payments", ":pod shop/payments; 3"),
    ("candidate", "payments", ":pod shop/payments; 3 enter"),
    ("candidate_that_violates", "budgets", "c 3 G enter"),
    ("pod", "payments", ":pod shop/payments; v"),
    ("pod_with_constraints", "payments", ":pod shop/spread-85969bc548-7z2j5; v pgdn"),
    ("pod_history", "payments", ":run; ] v G"),
    ("budgets", "budgets", "c 9"),
    ("budget_with_its_pods", "budgets", "c 9 enter j"),
    ("steps", "payments", ":pod shop/payments; C r n n n 5"),
    ("message", "payments", ":pod shop/payments; 6"),
    ("help", "payments", "?"),
    ("help_filtered", "payments", "? / 'budget' enter"),
    ("palette", "payments", ": 'b' down"),
    ("palette_of_pods", "payments", ": 'pod spread'"),
    ("filter", "payments", "2 / 'worker'"),
    ("report", "payments", "i"),
    ("source", "payments", ":pod shop/payments; y"),
    ("agreement", "aftermath", "A j"),
    ("branches", "payments", "c C :cordon worker-a2; c B"),
    ("comparison", "payments", ":pod shop/payments; C :cordon worker-a2; :pod shop/payments; ="),
    ("themes", "payments", ":theme;"),
];

fn text(screen: &Screen) -> String {
    let (width, height) = screen.state.size;
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    let theme = Theme::embedded("dark", Depth::True).unwrap();
    with_scene(&screen.state, &screen.explorer, &theme, &UNICODE, |scene| draw(scene, area, &mut buf));
    crate::ui::view::export::write(ScreenForm::Text, &buf, &theme)
}

/// Does what the words say: commands end in a semicolon.
fn act(screen: &mut Screen, words: &str) {
    let mut rest = words.trim();
    while !rest.is_empty() {
        if let Some((command, more)) = rest.strip_prefix(':').and_then(|r| r.split_once(';')).filter(|(c, _)| !c.starts_with(' ')) {
            screen.command(command);
            rest = more.trim_start();
        } else if let Some((typed, more)) = rest.strip_prefix('\'').and_then(|r| r.split_once('\'')) {
            update(&mut screen.state, &mut screen.explorer, Action::Paste(typed.to_owned()));
            rest = more.trim_start();
        } else {
            let (key, more) = rest.split_once(' ').unwrap_or((rest, ""));
            screen.keys(key);
            rest = more.trim_start();
        }
        screen.wait();
    }
}

#[test]
fn every_pane_and_overlay_at_four_sizes() {
    for (name, story, words) in SCREENS {
        for (width, height) in SIZES {
            let mut screen = Screen::new(story);
            update(&mut screen.state, &mut screen.explorer, Action::Resize(width, height));
            act(&mut screen, words);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), text(&screen));
        }
    }
}
