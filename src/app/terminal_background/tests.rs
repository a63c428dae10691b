//! Tests of `terminal_background`.

use super::*;

/// Returns the events that the keyboard makes of some bytes.
fn events(text: &str) -> Vec<Event> {
    let mut found = Vec::new();
    let mut alt = false;
    for c in text.chars() {
        let (code, modifiers) = match c {
            '\x1b' => {
                alt = true;
                continue;
            }
            '\x07' => (KeyCode::Char('g'), KeyModifiers::CONTROL),
            c if alt => (KeyCode::Char(c), KeyModifiers::ALT),
            c => (KeyCode::Char(c), KeyModifiers::NONE),
        };
        alt = false;
        found.push(Event::Key(KeyEvent::new(code, modifiers)));
    }
    found
}

/// Returns the events left of some input, and the theme in the reply.
fn fed(question: &mut Question, text: &str, now: Instant) -> (Vec<Event>, Option<&'static str>) {
    let (mut left, mut theme) = (Vec::new(), None);
    for event in events(text) {
        match question.hear(event, now) {
            ReplyMatch::Theme(found) => theme = Some(found),
            ReplyMatch::Event(event) => left.push(event),
            ReplyMatch::Part => {}
            ReplyMatch::Typed(events) => left.extend(events),
        }
    }
    (left, theme)
}

#[test]
fn the_answer_is_taken_out_from_among_the_keys() {
    let begin = Instant::now();
    for (input, keys, theme) in [
        ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "", Some(LIGHT)),
        ("n\x1b]11;rgb:1e1e/1e1e/2e2e\x07j", "nj", Some(DARK)),
        ("\x1b]11;rgba:f/f/e/f\x1b\\q", "q", Some(LIGHT)),
        ("\x1b]11;rgb:00/00/00\x1b\\\x1b]x", "\x1b]x", Some(DARK)),
        // Not a reply, but typed.
        ("\x1b]n", "\x1b]n", None),
        ("\x1b]11;rgb:zz", "\x1b]11;rgb:zz", None),
        ("\x1b]11;rgb:/ff/ff\x1b\\", "\x1b]11;rgb:/ff/ff\x1b\\", None),
        ("\x1b]10;rgb:ff/ff/ff\x1b\\", "\x1b]10;rgb:ff/ff/ff\x1b\\", None),
        ("abc", "abc", None),
    ] {
        let mut question = Question { asked: Some(begin), ..Question::default() };
        assert_eq!(fed(&mut question, input, begin), (events(keys), theme), "{input:?}");
    }
    let endless = format!("\x1b]{}", "1".repeat(100));
    let mut question = Question { asked: Some(begin), ..Question::default() };
    assert_eq!(fed(&mut question, &endless, begin), (events(&endless), None));
    // Too late, or without a query, it is not a reply.
    let answer = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
    let mut late = Question { asked: Some(begin), ..Question::default() };
    assert_eq!(fed(&mut late, answer, begin + REPLY_WAIT), (events(answer), None));
    assert_eq!(fed(&mut Question::default(), answer, begin), (events(answer), None));
}

#[test]
fn the_environment_may_tell() {
    let var = |value: &'static str| move |name: &str| (name == "COLORFGBG").then(|| value.to_owned());
    for (value, theme) in [
        ("15;0", Some(DARK)),
        ("0;15", Some(LIGHT)),
        ("0;default;7", Some(LIGHT)),
        ("7;8", Some(DARK)),
        ("default;default", None),
        ("", None),
    ] {
        assert_eq!(from_environment(var(value)), theme, "{value}");
    }
    assert_eq!(from_environment(|_| None), None);
}

#[test]
fn terminals_without_colour_are_not_asked() {
    let var = |term: &'static str| move |name: &str| (name == "TERM").then(|| term.to_owned());
    assert!(asks(Depth::True, var("xterm-256color")) && asks(Depth::Ansi16, var("xterm")));
    assert!(!asks(Depth::None, var("xterm")) && !asks(Depth::True, var("dumb")) && !asks(Depth::Ansi16, var("linux")));
    assert!(!asks(Depth::True, |_| None));
}
