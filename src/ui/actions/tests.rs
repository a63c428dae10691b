//! Tests of the keymap, and of its configuration.

use std::collections::BTreeSet;

use super::*;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::ui::config::action::Motion;
use crate::ui::config::key;
use crate::ui::view::panes::{nodes, queues};

fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
    KeyEvent::new(code, modifiers)
}

#[test]
fn contexts_are_asked_in_order() {
    let check = |contexts: &[Context], code: KeyCode, modifiers: KeyModifiers, expected: Option<Action>| {
        assert_eq!(keymap().lookup(contexts, &press(code, modifiers)), expected, "{code:?}");
    };
    let (none, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
    let nodes = [nodes::CONTEXT, Context::GLOBAL];
    check(&nodes, KeyCode::Char('h'), none, Some(Action::Verb("close-group")));
    check(&nodes, KeyCode::Char('N'), KeyModifiers::SHIFT, Some(Action::STEP_BACK));
    check(&nodes, KeyCode::Char('s'), none, None);
    check(&[queues::CONTEXT, Context::GLOBAL], KeyCode::Char('s'), none, Some(Action::Verb("step-in")));
    check(&nodes, KeyCode::BackTab, KeyModifiers::SHIFT, Some(Action::Verb("previous-pane")));
    check(&[Context::PROMPT], KeyCode::Char('q'), none, Some(Action::Type('q')));
    check(&[Context::PROMPT], KeyCode::Char('c'), ctrl, Some(Action::BACK));
    check(&[Context::PROMPT], KeyCode::Char('y'), ctrl, None);
    let mut release = press(KeyCode::Char('q'), none);
    release.kind = KeyEventKind::Release;
    assert_eq!(keymap().lookup(&nodes, &release), None);
}

#[test]
fn every_row_has_a_name_of_its_own() {
    let mut seen = BTreeSet::new();
    for binding in table().bindings {
        let name = binding.verb;
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
        assert!(seen.insert((binding.context, name)), "{name} twice in {}", binding.context);
    }
}

fn configured(text: &str) -> (Keymap, Vec<String>) {
    keymap().configured(&text.parse().unwrap())
}

#[test]
fn a_configuration_changes_keys() {
    let check = |text: &str, contexts: &[Context], code: KeyCode, expected: Option<Action>| {
        let (map, problems) = configured(text);
        assert_eq!(problems, Vec::<String>::new(), "{text}");
        assert_eq!(map.lookup(contexts, &press(code, KeyModifiers::NONE)), expected, "{text}");
    };
    let queues = [queues::CONTEXT, Context::GLOBAL];
    let step = Some(Action::STEP);
    check("global.step = 'm'", &queues, KeyCode::Char('m'), step.clone());
    check("global.step = 'm'", &queues, KeyCode::Char('n'), None);
    check("global.step = ['m', 'f2']", &queues, KeyCode::F(2), step.clone());
    check("global.step = []", &queues, KeyCode::Char('n'), None);
    // The two swap their keys.
    check("global.step = 'c'\nglobal.cycle = 'n'", &queues, KeyCode::Char('c'), step.clone());
    check("global.step = 'c'\nglobal.cycle = 'n'", &queues, KeyCode::Char('n'), Some(Action::CYCLE));
    check("queues.step-in = 'm'\nnodes.groups = 'm'", &queues, KeyCode::Char('m'), Some(Action::Verb("step-in")));
    check("overlay.down = 'n'", &[Context::OVERLAY], KeyCode::Char('n'), Some(Action::Verb(Motion::Down.name())));
    check("prompt.submit = 'ctrl-x'", &[Context::PROMPT], KeyCode::Enter, None);
    let (map, problems) = configured("global.quit = 'Q'");
    let leaves = map.lookup(&queues, &press(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert_eq!((leaves, problems), (Some(Action::QUIT), Vec::new()), "Ctrl-C stays");
    assert_eq!(map.label(Context::GLOBAL, &Action::QUIT), "Q");
}

#[test]
fn what_cannot_be_done_is_reported_and_the_rest_is_done() {
    let check = |text: &str, expected: &[&str]| {
        let (map, problems) = configured(&format!("{text}\nglobal.until = 'Z'"));
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, words) in problems.iter().zip(expected) {
            assert!(problem.starts_with(words), "{problem}");
        }
        let rest = configured("global.until = 'Z'").0;
        assert_eq!(map, rest, "{text}");
    };
    check("everywhere.step = 'm'", &["keys.everywhere: is not one of global, queues, nodes, "]);
    check("queues = 'm'", &["keys.queues: must be a table"]);
    check("global.stpe = 'm'", &["keys.global.stpe: is not one of help, step, step-back, "]);
    check("message.step = 'm'", &["keys.message.step: no action has a key in message alone"]);
    check("global.step = 1", &["keys.global.step: must be a key or a list of keys"]);
    check("global.step = ['m', 1]", &["keys.global.step: must be a key or a list of keys"]);
    check("global.step = 'xx'", &["keys.global.step: \"xx\" is not a key: a character, space, "]);
    check("global.step = 'ctrl-c'", &["keys.global.step: ctrl-c keeps its meaning"]);
    check("global.quit = []", &["keys.global.quit: needs a key"]);
    check("prompt.complete = 'm'", &["keys.prompt.complete: \"m\" is typed there"]);
    check("global.step = 'c'", &["keys.global.step: \"c\" is the key of keys.global.cycle; give that another one first"]);
    // A key has one meaning in a pane, whichever context defines it.
    check("global.step = 's'", &["keys.global.step: \"s\" is the key of keys.queues.step-in"]);
    check("queues.step-in = 'c'", &["keys.queues.step-in: \"c\" is the key of keys.global.cycle"]);
}

#[test]
fn of_two_that_want_one_key_the_first_has_it() {
    let (map, problems) = configured("global.step = 'm'\nglobal.run = 'm'");
    assert_eq!(problems, ["keys.global.step: \"m\" is the key of keys.global.run; give that another one first"]);
    assert_eq!(map, configured("global.run = 'm'").0);
    // An entry that depends on a rejected one is rejected too.
    let (map, problems) = configured("global.cycle = 'n'\nglobal.step = 's'");
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(map, keymap());
}

#[test]
fn keys_are_spelled_as_they_are_parsed() {
    for key in table().bindings.iter().flat_map(|b| b.keys) {
        assert_eq!(key::parse(key).as_deref(), Ok(*key));
    }
}

#[test]
fn no_key_has_two_meanings_in_one_context() {
    let mut seen = BTreeSet::new();
    for binding in table().bindings {
        assert!(!binding.help.is_empty() && !binding.keys.is_empty());
        for key in binding.keys {
            assert!(seen.insert((binding.context, *key)), "{key} twice in {}", binding.context);
        }
    }
}

#[test]
fn every_key_of_the_table_can_be_pressed() {
    use KeyCode as K;
    let special = [
        K::Enter,
        K::Esc,
        K::Tab,
        K::BackTab,
        K::Backspace,
        K::Delete,
        K::Left,
        K::Right,
        K::Up,
        K::Down,
        K::Home,
        K::End,
        K::PageUp,
        K::PageDown,
        K::F(1),
    ];
    let mut names: BTreeSet<String> = special.iter().filter_map(|c| key::name(&press(*c, KeyModifiers::NONE))).collect();
    for c in ' '..='~' {
        names.extend(key::name(&press(K::Char(c), KeyModifiers::NONE)));
        names.extend(key::name(&press(K::Char(c), KeyModifiers::CONTROL)));
    }
    for key in table().bindings.iter().flat_map(|b| b.keys) {
        assert!(names.contains(*key), "{key}");
    }
}

/// Returns the table of keys in Markdown, for docs/keys.md.
fn markdown(table: &Table) -> String {
    let mut text = String::from("| where | keys | what | in `[keys]` |\n| --- | --- | --- | --- |\n");
    for context in &table.contexts {
        for row in table.bindings.iter().filter(|row| row.context == *context) {
            let keys: Vec<String> = row.keys.iter().map(|k| format!("`{}`", key::label(k))).collect();
            text.push_str(&format!("| {context} | {} | {} | `{}.{}` |\n", keys.join(" "), row.help, context.key, row.verb));
        }
    }
    text
}

#[test]
fn the_book_lists_every_binding() {
    let text = markdown(&table());
    assert_eq!(text.lines().count(), table().bindings.len() + 2);
    let page = include_str!("../../../docs/keys.md");
    assert!(page.contains(&text), "the table of docs/keys.md should be\n\n{text}");
}
