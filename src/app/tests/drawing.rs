//! Drawing of one screen with different themes, sizes and terminals.

use ratatui::style::Modifier;
use serde_json::json;

use super::*;
use crate::session::Cursor;

/// Handles an effect about a theme as the event loop does. Returns the theme that is shown.
fn show_theme(screen: &mut Screen, words: &str, library: &Library) -> Option<String> {
    let Some(Effect::Theme(name)) = screen.act(words) else { return None };
    crate::ui::show_theme(&mut screen.state, library, &name, Depth::True).map(|t| t.name().to_owned())
}

#[test]
fn themes_are_chosen_while_the_selected_one_is_shown() {
    let user = |name: &str, text: &str| (name.to_owned(), format!("/home/me/{name}.toml"), Ok(text.to_owned()));
    let library = Library::new([user("mine", "inherits = 'light'"), user("broken", "[roles]\nwinner = 'moss'")]);
    let mut screen = Screen::sized("payments", 80, 24);
    let shows = |screen: &mut Screen, keys: &str, expected: &str| {
        assert_eq!(show_theme(screen, keys, &library).as_deref(), Some(expected), "{keys}");
    };
    shows(&mut screen, ":theme;", "dark");
    shows(&mut screen, "j", "light");
    shows(&mut screen, "G", "mine");
    shows(&mut screen, "k", "dark");
    let text = screen.text();
    assert!(text.contains("broken") && text.contains("cannot be used") && text.contains("/home/me/broken.toml: roles.winner"), "{text}");
    assert!(text.contains("mine           yours") && text.contains("Enter keep"), "{text}");
    shows(&mut screen, "enter", "dark");
    assert!(screen.said().starts_with("! /home/me/broken.toml: "), "{}", screen.said());
    shows(&mut screen, ":theme;", "dark");
    shows(&mut screen, "G", "mine");
    assert_eq!(show_theme(&mut screen, "enter", &library), None);
    assert_eq!((screen.state.settings.theme.as_str(), screen.state.overlay.is_none()), ("mine", true));
    shows(&mut screen, ":theme;", "mine");
    shows(&mut screen, "g", "dark");
    shows(&mut screen, "esc", "mine");
    // By name, with a word about what cannot be used.
    shows(&mut screen, ":theme broken;", "dark");
    assert!(screen.said().starts_with("! /home/me/broken.toml: "), "{}", screen.said());
    assert_eq!(show_theme(&mut screen, ":theme nope;", &library), None, "an unknown name changes nothing");
    assert!(screen.said().starts_with("! no theme is called \"nope\""), "{}", screen.said());
    shows(&mut screen, ": 'theme mi' tab enter", "mine");
}

#[test]
fn help_hints_and_sentences_show_the_reader_s_keys() {
    let table = "global.step = ['m', 'f2']\nglobal.help = 'f9'\nglobal.cycle = 'ctrl-n'\nprompt.complete = 'ctrl-t'".parse().unwrap();
    let (keymap, problems) = crate::ui::keymap().configured(&table);
    assert_eq!(problems, Vec::<String>::new());
    let mut screen = Screen::asked(120, 40);
    screen.state.settings.keymap = keymap;
    let check = |screen: &Screen, words: &str| assert!(screen.text().contains(words), "no {words:?} in\n{}", screen.text());
    check(&screen, " m step ");
    check(&screen, "F9 help");
    check(&screen, "next: the decision about shop/payments; m goes through it step by step, Ctrl-N to its end");
    screen.keys(":");
    check(&screen, "Ctrl-T complete");
    screen.keys("esc s");
    check(&screen, "m goes through it step by step, Ctrl-N to its end");
    assert_eq!(screen.press("n"), None);
    assert_eq!(screen.timeline().cursor().event, 0, "n is no key any more");
    screen.keys("m");
    assert_ne!(screen.timeline().cursor().event, 0);
    screen.press("f9");
    screen.act("/ 'one step' enter");
    check(&screen, "m F2                  one step forward");
    screen.act("esc esc :start fresh;");
    check(&screen, "fresh start");
    screen.keys("j");
    check(&screen, " m step ");
}

#[test]
fn ascii_only_where_the_locale_wants_it() {
    for story in ["payments", "budgets", "queues", "aftermath"] {
        let mut screen = Screen { glyphs: ASCII, ..Screen::new(story) };
        for keys in ["home", "c", "c", "2", "3", "9", "v", "?"] {
            screen.keys(keys);
            let text = screen.text();
            let strange: String = text.chars().filter(|c| !c.is_ascii()).collect();
            assert!(strange.is_empty(), "{strange:?} in\n{text}");
        }
    }
}

/// Restarts on a terminal of another size, at the start of the timeline.
fn reopen(screen: &mut Screen, size: (u16, u16)) {
    screen.explorer.timeline_mut().seek(Cursor::default());
    screen.state = first_state(screen.explorer.timeline(), size);
}

#[test]
fn tiny_terminals_cause_no_panic() {
    let mut screen = Screen::asked(120, 40);
    for width in 1..70 {
        for height in 1..20 {
            reopen(&mut screen, (width, height));
            screen.act("c 3 enter ? esc / 'x' esc : 'po'");
            screen.text();
        }
    }
}

#[test]
fn every_size_shows_every_pane_without_a_panic() {
    let mut screen = Screen::new("budgets");
    screen.keys("c c c");
    for size in [(60, 16), (61, 17), (79, 23), (99, 29), (100, 30), (159, 39), (160, 40), (250, 80), (500, 16), (60, 200)] {
        for keys in ["home", "r", "c", "c c", "c c c"] {
            for pane in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "?", "i", "/", ":", "B"] {
                reopen(&mut screen, size);
                screen.act(keys);
                screen.act(pane);
                screen.act("j j G k pgdn pgup g");
                screen.text();
            }
        }
    }
}

/// Returns the screen as text, each line followed by a letter per cell for its style (a dot for the first), then the key to the letters.
fn styles_of(screen: &Screen, theme: &Theme) -> String {
    const LETTERS: &str = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let buf = screen.buffer(theme);
    let (mut styles, mut text) = (Vec::new(), String::new());
    for (y, line) in screen.text().lines().enumerate() {
        let mut letters = String::new();
        for x in 0..buf.area.width {
            let style = buf[(x, y as u16)].style();
            let at = styles.iter().position(|s| *s == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            letters.push(char::from(LETTERS.as_bytes()[at]));
        }
        writeln!(text, "{line}\n{}", letters.trim_end_matches('.')).unwrap();
    }
    for (letter, style) in LETTERS.chars().zip(styles) {
        let colour = |c: Option<Color>| c.map(|c| c.to_string()).unwrap_or_default();
        writeln!(text, "{letter} {} on {} {:?}", colour(style.fg), colour(style.bg), style.add_modifier).unwrap();
    }
    text
}

#[test]
fn a_screen_in_every_theme() {
    let mut screen = Screen::asked(120, 40);
    screen.act("c 3 j");
    for name in Library::default().names() {
        insta::assert_snapshot!(format!("theme_{name}"), styles_of(&screen, &theme(&name, Depth::True)));
    }
}

#[test]
fn no_colour_is_left_without_colours_and_the_selection_is_still_to_be_seen() {
    let mut screen = Screen::asked(120, 40);
    screen.keys("c");
    let plain = theme("dark", Depth::None);
    let buf = screen.buffer(&plain);
    assert!(buf.content().iter().all(|c| c.fg == Color::Reset && c.bg == Color::Reset), "a colour is left");
    let reversed = buf.content().iter().filter(|c| c.modifier.contains(Modifier::REVERSED)).count();
    assert!(reversed > 20, "the selected row is marked");
    assert_eq!(crate::ui::view::export::write(ScreenForm::Text, &buf, &plain), screen.text(), "colour carries no words");
}

#[test]
fn wide_combining_and_control_characters_keep_the_columns() {
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": "節点-е\u{301}一二三四五六七八九十一二三四五六七八" },
        "spec": { "taints": [{ "key": "\u{1b}[2J節点 e\u{301}\nsecond line", "effect": "NoSchedule" }] },
        "status": { "allocatable": { "cpu": "8", "memory": "32Gi", "pods": "20" } },
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "ns", "name": "пöd-\u{1b}[31m節点" },
        "spec": { "schedulerName": "default-scheduler", "containers": [{ "name": "c", "resources": { "requests": { "cpu": "1" } } }] },
    });
    let mut screen = Screen::listed(&[node, pod], 80, 24);
    for keys in ["home", "2", "c", "3", "v", "8", "9", "4"] {
        screen.keys(keys);
        let text = screen.text();
        assert!(text.contains("節点") || keys != "2", "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        for line in text.lines().filter(|l| l.starts_with('┃')) {
            assert_eq!(unicode_width::UnicodeWidthStr::width(line), 80, "{line}");
            // › marks columns that do not fit.
            assert!(line.ends_with(['┃', '›']), "{line}");
        }
    }
}

#[test]
fn going_back_and_forward_again_draws_the_same_screen() {
    let mut screen = Screen::sized("queues", 200, 60);
    screen.keys("c c c home");
    screen.act(":step event;");
    // The first step shows the panes of the cycle; later steps change only the time.
    screen.keys("n j");
    let mut seen = vec![screen.text()];
    while !screen.timeline().at_end() {
        screen.keys("n");
        seen.push(screen.text());
    }
    let events: usize = screen.timeline().revisions().iter().map(|r| r.events.len()).sum();
    assert!(seen.len() == events && events > 60, "{events}");
    for (i, expected) in seen.iter().enumerate().rev() {
        assert!(screen.text() == *expected, "after {} events:\n{}\nand not\n{expected}", i + 1, screen.text());
        screen.keys("b");
    }
}

#[test]
fn the_start_of_the_queues_is_in_the_header_at_any_width() {
    for (width, start) in [(60, " fresh "), (80, "fresh start"), (120, "fresh start")] {
        let mut screen = Screen::sized("payments", width, 24);
        screen.keys("c c");
        let text = screen.text();
        let header = text.lines().next().unwrap();
        assert!(header.contains(start) && header.contains("v1.36"), "{text}");
    }
}
