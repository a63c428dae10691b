//! Whole screens as text, and what keys do to them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::ui::testing;
use crate::ui::view::layout::Plan;
use crate::ui::view::panes;
use crate::ui::{
    Action, Depth, Direction, Effect, Library, Mouse, Pane, Scene, SessionHandle, State, Theme, UNICODE, contexts, draw, first_state,
    update,
};

/// A screen with a script behind it.
struct Screen {
    state: State,
    driver: Box<dyn SessionHandle>,
    glyphs: crate::ui::Glyphs,
}

impl Screen {
    fn new(width: u16, height: u16) -> Self {
        Self::of(testing::script(false), width, height)
    }

    fn of(driver: impl SessionHandle + 'static, width: u16, height: u16) -> Self {
        Self { state: first_state(driver.timeline(), (width, height)), driver: Box::new(driver), glyphs: UNICODE }
    }

    /// Presses keys, spelled as in the table and apart by spaces; what stands in quotes is typed.
    fn keys(&mut self, keys: &str) -> Option<Effect> {
        let mut last = None;
        for word in keys.split(' ').filter(|w| !w.is_empty()) {
            if let Some(typed) = word.strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
                for c in typed.chars() {
                    last = self.press(KeyCode::Char(if c == '_' { ' ' } else { c }), KeyModifiers::NONE);
                }
                continue;
            }
            let (modifiers, name) = word.strip_prefix("ctrl-").map_or((KeyModifiers::NONE, word), |n| (KeyModifiers::CONTROL, n));
            let code = match name {
                "enter" => KeyCode::Enter,
                "esc" => KeyCode::Esc,
                "tab" => KeyCode::Tab,
                "shift-tab" => KeyCode::BackTab,
                "down" => KeyCode::Down,
                "up" => KeyCode::Up,
                "home" => KeyCode::Home,
                "end" => KeyCode::End,
                "pgdn" => KeyCode::PageDown,
                "pgup" => KeyCode::PageUp,
                "backspace" => KeyCode::Backspace,
                _ => KeyCode::Char(name.chars().next().unwrap()),
            };
            last = self.press(code, modifiers);
        }
        last
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Option<Effect> {
        let action = self.state.settings.keymap.lookup(&contexts(&self.state), &KeyEvent::new(code, modifiers));
        action.and_then(|a| update(&mut self.state, self.driver.as_mut(), a))
    }

    fn buffer(&self, depth: Depth) -> Buffer {
        self.buffer_in(&Theme::embedded("dark", depth).unwrap())
    }

    fn buffer_in(&self, theme: &Theme) -> Buffer {
        let (width, height) = self.state.size;
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        let source = self.driver.source();
        let branch = crate::ui::branch_label(self.driver.as_ref());
        let scene = Scene {
            written: None,
            live: None,
            release: self.driver.emulated(),
            state: &self.state,
            timeline: self.driver.timeline(),
            theme,
            glyphs: &self.glyphs,
            source: &source,
            branch: &branch,
        };
        draw(&scene, area, &mut buf);
        buf
    }

    fn text(&self) -> String {
        text_of(&self.buffer(Depth::True))
    }
}

fn text_of(buf: &Buffer) -> String {
    crate::ui::view::export::lines(buf)
}

/// The screen as text, and below each line of it the style of every cell as a letter, a dot for the first; then the letters.
fn styles_of(buf: &Buffer) -> String {
    let mut styles = Vec::new();
    let mut text = String::new();
    for (y, line) in text_of(buf).lines().enumerate() {
        let mut letters = String::new();
        for x in 0..buf.area.width {
            let style = buf[(x, y as u16)].style();
            let at = styles.iter().position(|s| *s == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            letters.push(char::from(b".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[at]));
        }
        text.push_str(&format!("{line}\n{}\n", letters.trim_end_matches('.')));
    }
    for (letter, style) in ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().zip(styles) {
        let colour = |c: Option<ratatui::style::Color>| c.map(|c| c.to_string()).unwrap_or_default();
        text.push_str(&format!("{letter} {} on {} {:?}\n", colour(style.fg), colour(style.bg), style.add_modifier));
    }
    text
}

fn words_of(screen: &Screen, pane: Pane) -> &'static str {
    panes::def(pane).choice(screen.state.sort_of(pane)).map_or("", |choice| choice.words)
}

/// The screen as text, under a name of the test's own.
macro_rules! assert_screen {
    ($name:literal, $screen:expr) => {
        insta::assert_snapshot!($name, $screen.text());
    };
}

mod groups;

const SIZES: [(&str, u16, u16); 3] = [("80x24", 80, 24), ("120x40", 120, 40), ("200x60", 200, 60)];

#[test]
fn screens_at_three_sizes() {
    for (size, width, height) in SIZES {
        for (name, keys) in [
            ("start", ""),
            ("filtering", "n n e e e e n n n n"),
            ("preemption_starts", "r"),
            ("dry_run", "r e e e e n n"),
            ("decided", "c"),
            ("candidate_opened", "c 3 j enter"),
            ("scored", "c c 2"),
            ("ineligible", "c c c"),
            ("help", "?"),
        ] {
            let mut screen = Screen::new(width, height);
            screen.keys(keys);
            insta::assert_snapshot!(format!("{name}_{size}"), screen.text());
        }
    }
}

#[test]
fn a_screen_in_every_theme() {
    let mut screen = Screen::new(120, 40);
    screen.keys("c 3 j");
    for name in Library::default().names() {
        let theme = Theme::embedded(&name, Depth::True).unwrap();
        insta::assert_snapshot!(format!("theme_{name}"), styles_of(&screen.buffer_in(&theme)));
    }
}

/// Does what the world outside would do about a theme.
fn show_theme(screen: &mut Screen, keys: &str, library: &Library) -> Option<String> {
    let Some(Effect::Theme(name)) = screen.keys(keys) else { return None };
    crate::ui::show_theme(&mut screen.state, library, &name, Depth::True).map(|t| t.name().to_owned())
}

#[test]
fn themes_are_chosen_while_the_selected_one_is_shown() {
    let user = |name: &str, text: &str| (name.to_owned(), format!("/home/me/{name}.toml"), Ok(text.to_owned()));
    let library = Library::new([user("mine", "inherits = 'light'"), user("broken", "[roles]\nwinner = 'moss'")]);
    let mut screen = Screen::new(80, 24);
    let shows = |screen: &mut Screen, keys: &str, expected: &str| {
        assert_eq!(show_theme(screen, keys, &library).as_deref(), Some(expected), "{keys}");
    };
    shows(&mut screen, ": \"theme\" enter", "dark");
    shows(&mut screen, "j", "light");
    shows(&mut screen, "G", "mine");
    shows(&mut screen, "k", "dark");
    let text = screen.text();
    assert!(text.contains("broken") && text.contains("cannot be used") && text.contains("/home/me/broken.toml: roles.winner"), "{text}");
    assert!(text.contains("mine           yours") && text.contains("Enter keep"), "{text}");
    assert_screen!("themes", screen);
    shows(&mut screen, "enter", "dark");
    assert!(screen.state.notice.as_ref().is_some_and(|n| n.warning && n.text.starts_with("/home/me/broken.toml: ")));
    shows(&mut screen, ": \"theme\" enter", "dark");
    shows(&mut screen, "G", "mine");
    assert_eq!(show_theme(&mut screen, "enter", &library), None);
    assert_eq!((screen.state.settings.theme.as_str(), screen.state.overlay.is_none()), ("mine", true));
    shows(&mut screen, ": \"theme\" enter", "mine");
    shows(&mut screen, "g", "dark");
    shows(&mut screen, "esc", "mine");
    // By name, with a word about what cannot be used.
    shows(&mut screen, ": \"theme_broken\" enter", "dark");
    assert!(screen.state.notice.as_ref().is_some_and(|n| n.warning && n.text.starts_with("/home/me/broken.toml: ")));
    assert_eq!(show_theme(&mut screen, ": \"theme_nope\" enter", &library), None, "an unknown name changes nothing");
    assert!(screen.state.notice.as_ref().is_some_and(|n| n.text.starts_with("no theme is called \"nope\"")));
    shows(&mut screen, ": \"theme_mi\" tab enter", "mine");
}

#[test]
fn help_hints_and_sentences_show_the_reader_s_keys() {
    let table = "global.step = ['x', 'f2']\nglobal.help = 'f9'\nglobal.cycle = 'ctrl-n'\nprompt.complete = 'ctrl-t'".parse().unwrap();
    let (keymap, problems) = crate::ui::keymap().configured(&table);
    assert_eq!(problems, Vec::<String>::new());
    let mut screen = Screen::new(120, 40);
    screen.state.settings.keymap = keymap;
    let check = |screen: &Screen, words: &str| assert!(screen.text().contains(words), "no {words:?} in\n{}", screen.text());
    check(&screen, " x step ");
    check(&screen, "F9 help");
    check(&screen, "x takes the first step, Ctrl-N a whole cycle");
    screen.keys(":");
    check(&screen, "Ctrl-T complete");
    screen.keys("esc s");
    check(&screen, "x goes through it step by step, Ctrl-N to its end");
    assert_eq!(screen.keys("n"), None);
    assert_eq!(screen.driver.timeline().cursor().event, 0, "n is no key any more");
    screen.keys("x");
    assert_ne!(screen.driver.timeline().cursor().event, 0);
    screen.press(KeyCode::F(9), KeyModifiers::NONE);
    check(&screen, "x F2                  one step forward");
    screen.keys("esc : \"start_fresh\" enter");
    check(&screen, "fresh start");
    screen.keys("j");
    check(&screen, " x step ");
}

#[test]
fn a_violated_budget_and_the_function_that_decides() {
    let mut screen = Screen::of(testing::script(true), 120, 40);
    screen.keys("c 3 G");
    assert_screen!("budget_violated", screen);
    screen.keys("enter");
    assert_screen!("budget_violated_on_its_node", screen);
}

#[test]
fn a_node_shows_every_filter() {
    let mut screen = Screen::new(120, 40);
    screen.keys("c : \"node_infra-1\" enter");
    assert_screen!("every_filter", screen);
    let asked = screen.state.view_model.filters.clone();
    screen.keys("c : \"node_worker-a2\" enter");
    assert_screen!("every_filter_passes", screen);
    assert_ne!(screen.state.view_model.filters, asked);
}

#[test]
fn many_nodes_read_as_groups_that_open() {
    let mut screen = Screen::of(testing::large(5000), 120, 40);
    screen.keys("c 2");
    assert_screen!("groups", screen);
    screen.keys("j enter G");
    assert_screen!("group_opened", screen);
    screen.keys("/ \"4711\" enter");
    assert_screen!("group_filtered", screen);
}

#[test]
fn prompts_and_notices() {
    let mut screen = Screen::new(80, 24);
    screen.keys(": \"pod_shop\"");
    assert_screen!("prompt", screen);
    screen.keys("esc s");
    assert_screen!("notice", screen);
    screen.keys(": \"nope\" enter");
    assert_screen!("warning", screen);
    screen.keys("i");
    assert_screen!("report", screen);
}

#[test]
fn ascii_only_where_the_locale_wants_it() {
    let mut screen = Screen { glyphs: crate::ui::ASCII, ..Screen::of(testing::script(true), 120, 40) };
    for keys in ["", "c", "c", "?"] {
        screen.keys(keys);
        let text = screen.text();
        let strange: String = text.chars().filter(|c| !c.is_ascii()).collect();
        assert!(strange.is_empty(), "{strange:?} in\n{text}");
    }
    screen.keys("esc C C");
    assert_screen!("ascii", screen);
}

#[test]
fn small_terminals_get_a_kind_word_and_tiny_ones_no_panic() {
    assert_screen!("too_small", Screen::new(50, 12));
    for width in 1..70 {
        for height in 1..20 {
            let mut screen = Screen::new(width, height);
            screen.keys("c 3 enter ? esc / \"x\" esc : \"po\"");
            screen.text();
        }
    }
}

#[test]
fn every_size_shows_every_pane_without_a_panic() {
    for (width, height) in [(60, 16), (61, 17), (79, 23), (99, 29), (100, 30), (159, 39), (160, 40), (250, 80), (500, 16), (60, 200)] {
        for keys in ["", "r", "c", "c c", "c c c"] {
            for pane in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "?", "i", "/", ":", "B"] {
                let mut screen = Screen::of(testing::script(true), width, height);
                screen.keys(keys);
                screen.keys(pane);
                screen.keys("j j G k pgdn pgup g");
                screen.text();
            }
        }
    }
}

#[test]
fn no_colour_is_left_without_colours_and_the_selection_is_still_to_be_seen() {
    let mut screen = Screen::new(120, 40);
    screen.keys("c");
    let buf = screen.buffer(Depth::None);
    let plain = buf.content().iter().all(|c| c.fg == ratatui::style::Color::Reset && c.bg == ratatui::style::Color::Reset);
    assert!(plain, "a colour is left");
    let reversed = buf.content().iter().filter(|c| c.modifier.contains(ratatui::style::Modifier::REVERSED)).count();
    assert!(reversed > 20, "the selected row is marked");
    assert_eq!(text_of(&buf), screen.text(), "colour carries no words");
}

#[test]
fn wide_and_combining_characters_keep_the_columns() {
    let mut screen = Screen::of(testing::named("節点-е\u{301}一二三四五六七八九十一二三四五六七八", "ns/пöd-\u{1b}[31m節点"), 80, 24);
    for keys in ["", "2", "c", "3", "v", "8", "9", "4"] {
        screen.keys(keys);
        for line in screen.text().lines().filter(|l| l.starts_with('┃')) {
            assert_eq!(unicode_width::UnicodeWidthStr::width(line), 80, "{line}");
            assert!(line.ends_with('┃') && !line.contains('\u{1b}'), "{line}");
        }
    }
}

/// Keys, and what the screen remembers after them.
fn check(keys: &str, expected: &str) {
    let mut screen = Screen::new(120, 40);
    screen.keys(keys);
    let state = &screen.state;
    let cursor = screen.driver.timeline().cursor();
    let selected = |list: &crate::ui::model::list::ListView| match &list.selected {
        Some(crate::ui::model::list::RowId::Pod(key)) => key.to_string(),
        Some(crate::ui::model::list::RowId::Node(node)) => node.to_string(),
        Some(crate::ui::model::list::RowId::Group(key)) => key.words().to_owned(),
        Some(crate::ui::model::list::RowId::Line(kind, _)) => (*kind).to_owned(),
        Some(other) => format!("{other:?}"),
        None => "-".to_owned(),
    };
    let list = match state.focus {
        Pane::QUEUES => selected(state.list(Pane::QUEUES)),
        Pane::NODES => selected(state.list(Pane::NODES)),
        Pane::PREEMPTION => selected(state.list(Pane::PREEMPTION)),
        Pane::NODE => format!("{} {}", state.detail.as_ref().unwrap(), selected(state.list(Pane::NODE))),
        Pane::STEPS | Pane::MESSAGE => "-".to_owned(),
        page => selected(state.list(page)),
    };
    let actual = format!("{}:{} {:?}/{:?} {list}", cursor.revision, cursor.event, state.focus, state.right);
    assert_eq!(actual, expected, "after {keys}");
}

#[test]
fn keys_move_in_time() {
    check("", "0:0 Queues/Nodes shop/payments");
    check("n", "0:3 Queues/Nodes shop/payments");
    check("n n", "0:5 Queues/Nodes shop/payments");
    check("n n b", "0:3 Queues/Nodes shop/payments");
    check("n n N N N N", "0:0 Queues/Nodes shop/payments");
    check("r", "0:18 Queues/Preemption shop/payments");
    check("r r", "0:103 Queues/Preemption shop/payments");
    check("c", "0:103 Queues/Preemption shop/payments");
    check("c c", "1:27 Queues/Nodes shop/payments");
    check("c c C", "1:0 Queues/Nodes shop/payments");
    check("c c C C", "0:0 Queues/Nodes shop/payments");
    check("c c c c c c", "2:21 Queues/Nodes shop/payments");
    check("c c home", "0:0 Queues/Nodes shop/payments");
    check("c c home end", "1:27 Queues/Nodes shop/payments");
    check("E n n", "0:2 Queues/Nodes shop/payments");
    check("n 5 j j k", "0:4 Steps/Nodes -");
    check("5 j j", "0:0 Steps/Nodes -");
    check("n 5 G", "0:103 Steps/Preemption -");
    check("c home n n n b b b c", "0:103 Queues/Preemption shop/payments");
}

#[test]
fn keys_move_the_selection_and_the_focus() {
    check("j", "0:0 Queues/Nodes shop/patient-job");
    check("j j k", "0:0 Queues/Nodes shop/patient-job");
    check("G", "0:0 Queues/Nodes batch/gated");
    check("G g", "0:0 Queues/Nodes shop/payments");
    check("tab", "0:0 Nodes/Nodes gpu-a1");
    check("tab tab tab tab tab", "0:0 Queues/Preemption shop/payments");
    check("shift-tab", "0:0 Message/Nodes -");
    check("c 3", "0:103 Preemption/Preemption worker-a2");
    check("c 3 j", "0:103 Preemption/Preemption worker-b1");
    check("c 3 j enter", "0:103 Candidate/Candidate result");
    check("c 3 j enter esc", "0:103 Preemption/Preemption worker-b1");
    check("c 3 j enter d", "0:103 Node/Node worker-b1 verdict");
    check("c 3 j enter d esc", "0:103 Candidate/Candidate result");
    check("c 3 j enter d esc esc", "0:103 Preemption/Preemption worker-b1");
    check("v", "0:0 Pod/Pod where it is");
    check("v esc", "0:0 Queues/Nodes shop/payments");
    check("9", "0:0 Budgets/Budgets -");
    check("c 2 enter", "0:103 Node/Node worker-a1 verdict");
    check("c d", "0:103 Node/Node worker-a2 verdict");
    check("c j enter", "0:103 Queues/Preemption batch/gated");
    check("c c / \"pay\" enter enter", "0:103 Queues/Preemption shop/payments");
}

#[test]
fn a_pane_that_was_chosen_stays_until_the_next_cycle() {
    check("2 r", "0:18 Nodes/Nodes worker-a1");
    check("2 r r", "0:103 Nodes/Nodes worker-a1");
    check("3 c c", "1:27 Nodes/Nodes worker-a2");
}

#[test]
fn filters_groups_and_commands() {
    check("/ \"gated\"", "0:0 Queues/Nodes batch/gated");
    check("/ \"gated\" enter", "0:0 Queues/Nodes batch/gated");
    check("/ \"gated\" esc", "0:0 Queues/Nodes batch/gated");
    check("/ \"nothing\" enter", "0:0 Queues/Nodes -");
    check("/ \"nothing\" enter esc", "0:0 Queues/Nodes shop/payments");
    check("c 2 z", "0:103 Nodes/Nodes Insufficient cpu");
    check("c 2 z enter j", "0:103 Nodes/Nodes worker-a1");
    check("c 2 z enter j h", "0:103 Nodes/Nodes Insufficient cpu");
    check(": \"node_worker-b3\" enter", "0:0 Node/Node worker-b3 verdict");
    check(": \"nod\" tab \"worker-c\" tab tab enter", "0:0 Node/Node worker-c1 verdict");
    check(": \"step_event\" enter n", "0:1 Queues/Nodes shop/payments");
    check(": \"step\" enter", "0:3 Queues/Nodes shop/payments");
    check("c c : \"cycle_1\" enter", "0:103 Queues/Preemption shop/payments");
    check(": \"pod_shop/payments\" enter", "0:103 Queues/Preemption shop/payments");
}

/// The rows of the pane in focus, without headings.
fn listed(screen: &Screen) -> Vec<String> {
    use crate::ui::model::list::{Row, RowId};
    fn names<R: Row>(rows: &[R]) -> Vec<String> {
        let name = |id| match id {
            RowId::Pod(key) => key.to_string(),
            RowId::Node(node) => node.to_string(),
            RowId::Group(key) => key.words().to_owned(),
            RowId::Line(kind, _) => kind.to_owned(),
            other => format!("{other:?}"),
        };
        rows.iter().filter_map(Row::id).map(name).collect()
    }
    let derived = &screen.state.view_model;
    match screen.state.focus {
        Pane::QUEUES => names(&derived.queues),
        Pane::NODES => names(&derived.nodes),
        _ => names(&derived.candidates),
    }
}

#[test]
fn lists_go_round_their_orders_and_the_selection_stays() {
    // Keys, the order that the screen says, the first rows, and the row that stays selected.
    for (keys, order, first, selected) in [
        ("", "", "shop/payments shop/patient-job platform/needs-volume shop/spread-85969bc548-7z2j5", "shop/payments"),
        ("j o", "by priority", "shop/payments shop/patient-job platform/needs-volume", "shop/patient-job"),
        ("j o o", "by name", "platform/needs-volume shop/patient-job shop/payments", "shop/patient-job"),
        ("o o", "by name", "platform/needs-volume shop/patient-job shop/payments", "shop/payments"),
        ("o o o", "by attempts", "shop/payments shop/patient-job", "shop/payments"),
        ("o o o o", "", "shop/payments shop/patient-job platform/needs-volume", "shop/payments"),
        ("c 2", "", "worker-a1 worker-a2 worker-a3", "worker-a1"),
        ("c 2 o", "by name", "gpu-a1 gpu-b1 infra-1 worker-a1", "worker-a1"),
        ("c 2 o o", "by free cpu", "gpu-a1 gpu-b1 worker-c3", "worker-a1"),
        // 6 cores are asked for: a2 and b1 have most of that, and what is tainted is as far away as ever.
        ("c 2 o o o", "closest to fitting", "worker-a2 worker-b1 worker-a3 worker-b3 worker-a1", "worker-a1"),
        ("c c 2 o", "by name", "gpu-a1 gpu-b1 infra-1 worker-a1", "worker-a2"),
        ("c 3", "", "worker-a2 worker-b1", "worker-a2"),
        ("c 3 o", "by name", "worker-a1 worker-a2 worker-a3", "worker-a2"),
        ("c 3 o o", "fewest victims", "worker-a2 worker-a3 worker-b1 worker-b3 worker-a1", "worker-a2"),
        (
            "c 3 G o o o",
            "fewest violations",
            "worker-a2 worker-a3 worker-b1 worker-b2 worker-b3 worker-c1 worker-c2 worker-a1",
            "worker-a1",
        ),
    ] {
        let mut screen = Screen::of(testing::script(true), 120, 40);
        screen.keys(keys);
        let rows = listed(&screen);
        assert!(rows.join(" ").starts_with(first), "{keys}: {rows:?}");
        let list = match screen.state.focus {
            Pane::QUEUES => screen.state.list(Pane::QUEUES),
            Pane::NODES => screen.state.list(Pane::NODES),
            _ => screen.state.list(Pane::PREEMPTION),
        };
        let id = match list.selected.clone().unwrap() {
            crate::ui::model::list::RowId::Pod(key) => key.to_string(),
            crate::ui::model::list::RowId::Node(node) => node.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(id, selected, "{keys}");
        screen.state.notice = None;
        let text = screen.text();
        let words = ["by name", "by priority", "by attempts", "by free cpu", "closest to fitting", "fewest victims", "fewest violations"];
        let said: Vec<&str> = words.into_iter().filter(|w| text.contains(&format!("  {w} "))).collect();
        assert_eq!(said.join(""), order, "{keys}\n{text}");
    }
}

#[test]
fn a_click_on_a_heading_sorts_and_another_goes_back() {
    let mut screen = Screen::of(testing::script(true), 200, 60);
    screen.keys("c");
    let plan = Plan::of(&screen.state);
    let act = |screen: &mut Screen, x, y| update(&mut screen.state, screen.driver.as_mut(), Action::Mouse(Mouse::Press, x, y));
    // Where a heading is drawn in a pane.
    let find = |screen: &Screen, pane: Pane, heading: &str| -> (u16, u16) {
        let area = plan.area(pane).unwrap();
        let buf = screen.buffer(Depth::True);
        let row = |y| (area.x..area.right()).map(|x| buf[(x, y)].symbol()).collect::<Vec<_>>();
        let at = |y| row(y).windows(heading.len()).position(|w| w.concat() == heading);
        (area.y..area.bottom()).find_map(|y| at(y).map(|x| (area.x + x as u16 + 1, y))).unwrap_or_else(|| panic!("{heading}"))
    };
    for (pane, heading, words) in [
        (Pane::NODES, "NODE", "by name"),
        (Pane::NODES, "CPU FREE", "by free cpu"),
        (Pane::PREEMPTION, "CANDIDATE", "by name"),
        (Pane::PREEMPTION, "VICTIMS", "fewest victims"),
        (Pane::PREEMPTION, "MinNumPDBViolations", "fewest violations"),
    ] {
        let (x, y) = find(&screen, pane, heading);
        act(&mut screen, x, y);
        assert_eq!((screen.state.focus, words_of(&screen, pane)), (pane, words), "{heading}");
        let (x, y) = find(&screen, pane, heading);
        act(&mut screen, x, y);
        assert_eq!(screen.state.sort_of(pane), crate::ui::model::sort::Sort::Usual, "{heading}");
    }
    // The queues have headings where they have the whole screen.
    let mut screen = Screen::of(testing::script(true), 90, 30);
    let text = screen.text();
    let y = text.lines().position(|l| l.contains("TRIES")).unwrap();
    let line = text.lines().nth(y).unwrap();
    let column = |word: &str| line[..line.find(word).unwrap()].chars().count() as u16 + 1;
    for (word, words) in [("TRIES", "by attempts"), ("PRIORITY", "by priority")] {
        act(&mut screen, column(word), y as u16);
        assert_eq!(words_of(&screen, Pane::QUEUES), words);
    }
    act(&mut screen, 3, y as u16);
    assert_eq!(words_of(&screen, Pane::QUEUES), "by priority", "no heading stands there");
}

#[test]
fn sorted_lists() {
    let mut screen = Screen::of(testing::script(true), 200, 60);
    screen.keys("c 1 o o 3 o o 2 o o o");
    assert_screen!("sorted_by_distance", screen);
    let mut screen = Screen::new(120, 40);
    screen.keys("c c 2 o o");
    assert_screen!("sorted_by_free_cpu", screen);
}

#[test]
fn commands_that_cannot_be_done_say_why() {
    for (command, words) in [
        ("nope", "there is no command \"nope\""),
        ("node", "node needs a name"),
        ("node_x", "there is no node \"x\""),
        ("pod", "a namespace and a name are missing"),
        ("pod_x", "no pod is called x"),
        ("pod_shop/catalog-746f66cf94-a1", "shop/catalog-746f66cf94-a1 does not wait"),
        ("cycle_7", "cycle needs a number from 1 to 0"),
        ("step_far", "\"far\" is none of event, plugin"),
    ] {
        let mut screen = Screen::new(80, 24);
        let effect = screen.keys(&format!(": \"{command}\" enter"));
        let notice = screen.state.notice.clone().unwrap();
        assert!(notice.warning && notice.text.contains(words), "{command}: {notice:?}");
        assert_eq!(effect, None);
        screen.keys("j");
        assert_eq!(screen.state.notice, None, "a notice goes with the next key");
    }
}

#[test]
fn what_the_world_has_to_do() {
    for (keys, expected) in [
        ("q", Some(Effect::Quit)),
        ("ctrl-c", Some(Effect::Quit)),
        ("ctrl-z", Some(Effect::Suspend)),
        (": \"q\" enter", Some(Effect::Quit)),
        (": \"theme\" enter", Some(Effect::Theme("dark".to_owned()))),
        (": \"theme\" enter j", Some(Effect::Theme("light".to_owned()))),
        (": \"theme\" enter G k", Some(Effect::Theme("colour-blind".to_owned()))),
        (": \"theme\" enter j enter", None),
        (": \"theme\" enter j j esc", Some(Effect::Theme("dark".to_owned()))),
        (": \"theme\" enter ctrl-c", Some(Effect::Quit)),
        (": \"theme_light\" enter", Some(Effect::Theme("light".to_owned()))),
        #[cfg(debug_assertions)]
        (": \"panic\" enter", Some(Effect::Panic { beside: false })),
        ("? q", None),
        ("? ctrl-c", Some(Effect::Quit)),
        (": ctrl-c", None),
        (": enter", None),
    ] {
        assert_eq!(Screen::new(80, 24).keys(keys), expected, "{keys}");
    }
}

#[test]
fn the_mouse_selects_opens_scrolls_and_scrubs() {
    let mut screen = Screen::new(120, 40);
    screen.keys("c");
    let act = |screen: &mut Screen, mouse, x, y| update(&mut screen.state, screen.driver.as_mut(), Action::Mouse(mouse, x, y));
    let plan = Plan::of(&screen.state);
    let list = panes::def(Pane::PREEMPTION).list_in(&plan);
    act(&mut screen, Mouse::Press, list.x + 3, list.y + 1);
    assert_eq!(
        (screen.state.focus, screen.state.selected_candidate(screen.driver.timeline().cycle()).unwrap().as_str()),
        (Pane::PREEMPTION, "worker-b1")
    );
    act(&mut screen, Mouse::Press, list.x + 3, list.y + 1);
    assert_eq!(screen.state.focus, Pane::CANDIDATE, "a second press opens");
    let plan = Plan::of(&screen.state);
    let tabs = plan.tabs.unwrap();
    act(&mut screen, Mouse::Press, tabs.x + 2, tabs.y);
    assert_eq!(screen.state.focus, Pane::NODES, "the first tab");
    act(&mut screen, Mouse::Press, plan.scrub.x, plan.scrub.y);
    assert!(screen.driver.timeline().at_start());
    act(&mut screen, Mouse::Drag, plan.scrub.right() + 5, plan.scrub.y + 1);
    assert!(screen.driver.timeline().at_end(), "a drag goes on outside the bar");
    act(&mut screen, Mouse::Release, 0, 0);
    act(&mut screen, Mouse::Drag, plan.scrub.x, plan.scrub.y);
    assert!(screen.driver.timeline().at_end(), "and ends with the button");
    act(&mut screen, Mouse::Scroll(Direction::Back), plan.scrub.x, plan.scrub.y);
    assert_eq!(screen.driver.timeline().cursor().event, 102);
    let queues = panes::def(Pane::QUEUES).list_in(&plan);
    act(&mut screen, Mouse::Press, queues.x, queues.y);
    assert_eq!(screen.state.focus, Pane::QUEUES, "a heading cannot be selected, but the pane can");
    act(&mut screen, Mouse::Press, 500, 500);
}

#[test]
fn a_pod_that_is_asked_about_comes_next() {
    let mut screen = Screen::new(80, 24);
    screen.keys("j s");
    let notice = screen.state.notice.clone().unwrap().text;
    assert!(notice.starts_with("before the decision about shop/patient-job"), "{notice}");
    assert_eq!(screen.driver.timeline().cursor().event, 0);
    screen.keys("c");
    assert_eq!(screen.driver.timeline().cycle().start.as_ref().unwrap().pod.to_string(), "shop/patient-job");
}

#[test]
fn going_back_and_forward_again_draws_the_same_screen() {
    let mut screen = Screen::new(200, 60);
    screen.keys("c c c home");
    screen.keys(": \"step_event\" enter");
    // The first step brings the panes of the cycle into sight; after that only time changes.
    screen.keys("n j");
    let mut seen = vec![screen.text()];
    while !screen.driver.timeline().at_end() {
        screen.keys("n");
        seen.push(screen.text());
    }
    assert_eq!(seen.len(), 103 + 27 + 21);
    for (i, expected) in seen.iter().enumerate().rev() {
        assert!(screen.text() == *expected, "after {} events:\n{}\nand not\n{expected}", i + 1, screen.text());
        screen.keys("b");
    }
}

/// The world with pods in every place, at a moment of its record and with a pod selected.
fn waiting(width: u16, height: u16, keys: &str, pod: &str) -> Screen {
    let mut screen = Screen::of(testing::waiting_script(), width, height);
    screen.keys(keys);
    select(&mut screen, pod);
    screen
}

fn select(screen: &mut Screen, pod: &str) {
    let (namespace, name) = pod.split_once('/').unwrap();
    screen.state.list_mut(Pane::QUEUES).selected = Some(crate::ui::model::list::RowId::Pod(crate::cluster::Key::new(namespace, name)));
    crate::ui::view::refresh::refresh(&mut screen.state, screen.driver.timeline());
}

#[test]
fn queues_over_time_at_three_sizes() {
    for (size, width, height) in SIZES {
        for (name, keys, pod) in [
            ("inferred", "", "ml/gpu-hungry"),
            ("backing_off", "", "shop/spread-85969bc548-b5rrz"),
            ("backoff_ended", "c E b b b 1", "platform/needs-volume"),
            ("parked", "c", "batch/too-big"),
            ("woken", "c c", "batch/too-big"),
            ("gated", "c c c E b b b b b b b 1", "shop/preemptor"),
            ("permit", "c c c 1", "shop/payments"),
        ] {
            let screen = waiting(width, height, keys, pod);
            insta::assert_snapshot!(format!("queues_{name}_{size}"), screen.text());
        }
    }
}

#[test]
fn what_moved_is_marked_and_going_back_takes_the_mark_away() {
    let mut screen = waiting(120, 40, "c c home E", "batch/gated");
    let marked = |screen: &Screen| {
        let lines = screen.text().lines().map(str::to_owned).collect::<Vec<_>>();
        let rows = lines.iter().filter(|l| l.contains(" »") || l.contains("▸»"));
        rows.map(|l| l.split(['»', ' ']).find(|w| w.contains('/')).unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let expected: [&[&str]; 6] = [
        &[],
        &["shop/spread-85969bc548-b5rrz"],
        &["shop/spread-85969bc548-b5rrz"],
        &["platform/needs-volume", "shop/spread-85969bc548-b5rrz"],
        &["platform/needs-volume", "shop/spread-85969bc548-b5rrz"],
        &[],
    ];
    let mut seen = Vec::new();
    for step in expected {
        screen.keys("n");
        assert_eq!(marked(&screen), step, "{}", screen.text());
        seen.push(screen.text());
    }
    for text in seen.iter().rev().skip(1) {
        screen.keys("b");
        assert_eq!(screen.text(), *text, "the same screen backwards");
    }
    let plain = text_of(&screen.buffer(Depth::None));
    assert_eq!(plain, screen.text(), "marks need no colour");
}

/// The lines of the note about a pod, as one text.
fn note(screen: &Screen) -> String {
    let inner = Plan::of(&screen.state).inner(Pane::QUEUES).unwrap();
    let list = panes::def(Pane::QUEUES).list_in(&Plan::of(&screen.state));
    let text = screen.text();
    let lines = text.lines().skip(usize::from(list.bottom())).take(usize::from(inner.height - list.height));
    let cells = lines.map(|l| l.chars().skip(usize::from(inner.x)).take(usize::from(inner.width)).collect::<String>());
    cells.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_note_says_what_is_known_of_the_selected_pod() {
    let check = |keys: &str, pod: &str, expected: &[&str], never: &[&str]| {
        let note = note(&waiting(240, 90, keys, pod));
        assert!(note.starts_with(&format!("─ {pod} ─")), "{note}");
        for words in expected {
            assert!(note.contains(words), "{pod} after {keys:?}: no {words:?} in {note}");
        }
        for words in never {
            assert!(!note.contains(words), "{pod} after {keys:?}: {words:?} in {note}");
        }
    };
    check("", "shop/payments", &["priority 100000 · 0 attempts", "new", "for 0s"], &["rejected", "woken", "moved"]);
    check("", "shop/patient-job", &["nominated to worker-b1", "since 18:26:02, for 10s"], &["woken"]);
    check(
        "",
        "shop/spread-85969bc548-b5rrz",
        &["backoff ends in 1.2s, at 18:26:14; sooner if activeQ is empty", "rejected by NodeResourcesFit"],
        &["error", "woken"],
    );
    check("", "platform/needs-volume", &["error backoff ends in 3.2s, at 18:26:16; never popped early"], &["rejected", "woken"]);
    check("E n n n", "platform/needs-volume", &["error backoff ended at 18:26:16; leaves at the next whole second"], &[]);
    check("E n n n n", "platform/needs-volume", &["» moved at 18:26:17 from backoffQ by BackoffComplete"], &["ends"]);
    check("c c", "platform/needs-volume", &["moved at 18:26:17 from backoffQ by BackoffComplete"], &["»"]);
    check(
        "",
        "batch/too-big",
        &[
            "rejected by NodeResourcesFit, NodeUnschedulable, TaintToleration",
            "moved by ScheduleAttemptFailure",
            "or by TaintToleration: NodeAdd",
        ],
        &["inferred", "says"],
    );
    check("", "ml/no-toleration", &["waiting since 2026-11-19 07:00:00, for 1d11h"], &[]);
    check("c c", "ml/no-toleration", &["NodeAdd: TaintToleration says QueueSkip"], &["moved at"]);
    check("c c c", "ml/no-toleration", &[], &["says"]);
    check(
        "",
        "ml/gpu-hungry",
        &["~ inferred: its PodScheduled condition says", "woken by NodeResourcesFit: AssignedPodDelete, NodeAdd"],
        &["moved by"],
    );
    check(
        "c c",
        "batch/too-big",
        &["» moved at 18:26:17 from unschedulablePods by NodeAdd: NodeResourcesFit said Queue", "NodeAdd: NodeResourcesFit says Queue"],
        &["woken"],
    );
    check("", "batch/gated", &["gated by SchedulingGates: example.com/quota, example.com/network"], &["rejected"]);
    check("", "shop/preemptor", &["gated by DefaultPreemption", "rejected by NodeResourcesFit", "nominated to worker-a2"], &[]);
    check(
        "c c c",
        "shop/payments",
        &["assumed on worker-d1", "waits for GangScheduling until 18:31:17, for 5m00s more", "a Permit plugin asked it to wait"],
        &["woken"],
    );
    check("c c E n n", "shop/payments", &["» moved at 18:26:17 from activeQ (popped for its attempt)"], &[]);
}

#[test]
fn the_header_follows_the_clock_within_a_frame() {
    let mut screen = waiting(120, 40, "E", "batch/gated");
    let header = |screen: &Screen| screen.text().lines().next().unwrap_or_default().to_owned();
    for clock in ["+00:02", "+00:02", "+00:04", "+00:04", "+00:05"] {
        screen.keys("n");
        let header = header(&screen);
        assert!(header.contains("as observed") && header.ends_with(&format!("clock {clock}")), "{header}");
    }
    assert!(header(&Screen::new(80, 24)).contains("fresh start"));
}

#[test]
fn every_place_is_marked_without_unicode_and_fits_every_width() {
    for (width, height) in [(60, 16), (79, 24), (100, 30), (119, 40), (160, 40), (230, 70)] {
        for pod in ["ml/gpu-hungry", "batch/too-big", "shop/preemptor", "batch/gated", "platform/needs-volume"] {
            for keys in ["", "c", "c c", "c c c"] {
                let mut screen = waiting(width, height, keys, pod);
                screen.glyphs = crate::ui::ASCII;
                let text = screen.text();
                assert!(text.is_ascii(), "{text}");
                screen.keys("1");
                let plan = Plan::of(&screen.state);
                let area = plan.area(Pane::QUEUES).unwrap();
                let (buf, mut marks) = (screen.buffer(Depth::True), 0);
                for y in area.top() + 1..area.bottom() - 1 {
                    assert_eq!((buf[(area.x, y)].symbol(), buf[(area.right() - 1, y)].symbol()), ("#", "#"), "{}", screen.text());
                    marks += usize::from(buf[(area.x + 2, y)].symbol() == "^");
                }
                let all = screen.state.view_model.queues.len() <= usize::from(panes::def(Pane::QUEUES).list_in(&plan).height);
                assert!(!all || (marks > 0) != keys.is_empty(), "{}", screen.text());
            }
        }
    }
}

/// Where pods started from is said however little room there is.
#[test]
fn the_start_is_told_at_any_width() {
    for width in [60, 80, 120] {
        let mut screen = Screen::new(width, 24);
        screen.keys("c c");
        let text = screen.text();
        assert!(text.lines().next().unwrap().contains("fresh start"), "{text}");
    }
}
