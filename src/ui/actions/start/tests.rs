use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::ui::config::context::Context;
use crate::ui::config::glyphs::{ASCII, Glyphs, UNICODE};
use crate::ui::config::theme::{Depth, Theme};
use crate::ui::keymap;
use crate::ui::model::start::{Group, Offer};
use crate::ui::view::start::Palette;
use crate::ui::view::start::choice::draw;

fn offer(group: Group, name: &str, about: &str) -> Offer {
    Offer { group, name: name.to_owned(), about: about.to_owned() }
}

fn start(width: u16, height: u16) -> Start {
    let offers = vec![
        offer(Group::Clusters, "prod", "the current context"),
        offer(Group::Clusters, "staging", ""),
        offer(Group::Stories, "payments", "a real cluster: shop/payments preempts; eight nodes are candidates"),
        offer(Group::Stories, "budgets", "every node is full of pods under budgets"),
    ];
    Start::new(offers, vec![(Group::Dumps, "there are none".to_owned())], keymap(), (width, height))
}

fn text_of(start: &Start, glyphs: &Glyphs) -> String {
    let (width, height) = start.size;
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    draw(start, Palette { theme: &Theme::fallback(Depth::None), glyphs }, area, &mut buf);
    let rows = (0..height).map(|y| (0..width).map(|x| buf[(x, y)].symbol()).collect::<String>().trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n")
}

fn type_in(start: &mut Start, text: &str) {
    start.update(Action::Paste(text.to_owned()));
}

#[test]
fn the_screen() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        insta::assert_snapshot!(format!("start_{width}x{height}"), text_of(&start(width, height), &UNICODE));
    }
    let mut small = start(60, 16);
    small.update(Action::Verb(Motion::Bottom.name()));
    small.notice = Some("context staging cannot be reached: nothing was heard for 10s".to_owned());
    insta::assert_snapshot!("start_60x16", text_of(&small, &ASCII));
    let mut path = start(60, 16);
    path.update(Action::COMMAND);
    type_in(&mut path, "dumps/p");
    path.completions = vec!["dumps/pods.json".to_owned(), "dumps/prod/".to_owned()];
    insta::assert_snapshot!("start_path_60x16", text_of(&path, &UNICODE));
}

#[test]
fn keys_choose_and_stay_within_the_list() {
    let mut start = start(80, 24);
    assert_eq!(start.update(Action::OPEN), Some(Choice::Offer(0)));
    start.update(Action::Verb(Motion::Up.name()));
    start.update(Action::Verb(Motion::Down.name()));
    assert_eq!(start.update(Action::OPEN), Some(Choice::Offer(1)));
    for _ in 0..9 {
        start.update(Action::Verb(Motion::Down.name()));
    }
    assert_eq!(start.update(Action::OPEN), Some(Choice::Offer(3)));
    assert_eq!(start.update(Action::QUIT), Some(Choice::Quit));
}

#[test]
fn typing_filters_and_enter_opens_what_is_left() {
    let mut start = start(80, 24);
    assert_eq!(start.contexts(), [Context::START]);
    start.update(Action::FILTER);
    assert_eq!(start.contexts(), [Context::PROMPT]);
    type_in(&mut start, "bdg");
    assert!(!text_of(&start, &UNICODE).contains("prod"));
    assert_eq!(start.clone().update(Action::SUBMIT), Some(Choice::Offer(3)));
    type_in(&mut start, "xyz");
    assert!(text_of(&start, &UNICODE).contains("nothing is called \"bdgxyz\""));
    assert_eq!(start.clone().update(Action::SUBMIT), None);
    start.update(Action::BACK);
    assert_eq!(start.update(Action::OPEN), Some(Choice::Offer(0)));
}

#[test]
fn a_path_is_typed_and_completed() {
    let mut start = start(80, 24);
    start.update(Action::COMMAND);
    assert_eq!(start.path(), Some(""));
    type_in(&mut start, "d");
    start.completions = vec!["dumps/a.yaml".to_owned(), "dumps/b.yaml".to_owned()];
    start.update(Action::COMPLETE);
    assert_eq!(start.path(), Some("dumps/"));
    start.completions = vec!["dumps/ä.yaml".to_owned()];
    start.update(Action::COMPLETE);
    assert_eq!(start.update(Action::SUBMIT), Some(Choice::Path("dumps/ä.yaml".to_owned())));
    start.update(Action::COMMAND);
    assert_eq!(start.update(Action::SUBMIT), None, "nothing was typed");
    start.update(Action::COMMAND);
    start.update(Action::BACK);
    assert_eq!(start.path(), None);
}

#[test]
fn the_mouse_selects_and_opens() {
    let mut start = start(80, 24);
    let press = |y| Action::Mouse(Mouse::Press, 5, y);
    assert_eq!(start.update(press(4)), None);
    assert_eq!(start.update(press(4)), Some(Choice::Offer(1)));
    for y in [0, 2, 5, 22, 23] {
        assert_eq!(start.update(press(y)), None, "{y}");
    }
    start.update(Action::Mouse(Mouse::Scroll(Direction::Forward), 5, 5));
    assert_eq!(start.update(Action::OPEN), Some(Choice::Offer(2)));
}

#[test]
fn what_is_selected_is_in_sight_at_every_size() {
    for (width, height) in [(0, 0), (1, 1), (5, 3), (20, 5), (60, 8), (80, 24)] {
        let mut start = start(width, height);
        for motion in [Motion::Bottom, Motion::Up, Motion::PageUp, Motion::PageDown, Motion::Top] {
            start.update(Action::Verb(motion.name()));
            let text = text_of(&start, &UNICODE);
            assert!(height < 5 || width < 20 || text.contains('▸'), "{width}x{height} {motion:?}\n{text}");
        }
        start.update(Action::COMMAND);
        type_in(&mut start, "a/rather/long/path/that/does/not/fit/into/the/line/at/all/節点");
        start.completions = vec!["a/b".to_owned()];
        text_of(&start, &UNICODE);
    }
}

#[test]
fn help_is_shown_and_closed() {
    let mut start = start(80, 24);
    start.update(Action::HELP);
    let text = text_of(&start, &UNICODE);
    assert!(text.contains("What can be opened") && text.contains("type the path of a dump") && !text.contains("payments"), "{text}");
    insta::assert_snapshot!("start_help_80x24", text);
    start.update(Action::Verb(Motion::Bottom.name()));
    assert!(text_of(&start, &UNICODE).contains("schedscope --help"));
    for close in [Action::BACK, Action::HELP, Action::OPEN, Action::QUIT] {
        assert_eq!(start.update(close), None);
        assert!(text_of(&start, &UNICODE).contains("payments"));
        start.update(Action::HELP);
    }
    for (width, height) in [(0, 0), (1, 1), (20, 5)] {
        start.update(Action::Resize(width, height));
        text_of(&start, &UNICODE);
    }
}
