//! The keys as the reader wants them: the table of [`keymap`], with what the `[keys]` of a configuration file changes.
//!
//! Every row of the table has a name, that of its [`Action`]; within a context names are distinct. What a configuration
//! gives an action replaces the keys of its row, except that Ctrl-C keeps its meaning.

mod error;

pub use error::KeyNameError;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use strum::IntoEnumIterator;
use tui_input::InputRequest as Edit;

use crate::ui::action::{Action, Direction, Motion, Pane};
use crate::ui::driver::HowFar;
use crate::ui::keymap::{self, BINDINGS, Binding, Context};
use error::WishError;

/// The key that cannot be given away: whatever else is changed, it leaves.
const FIXED: &str = "ctrl-c";

/// What keys do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    /// The keys of every row of [`BINDINGS`], in the same order.
    keys: Vec<Vec<String>>,
}

/// A row of the table, with its keys.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The keys, as [`keymap::name`] spells them; the first is the one hints show.
    pub keys: &'a [String],
    /// What the row is about.
    pub binding: &'static Binding,
}

impl Row<'_> {
    /// The key that hints show, as people write it; empty where the row has none.
    pub fn label(&self) -> String {
        self.keys.first().map(|k| keymap::label(k)).unwrap_or_default()
    }
}

impl Default for Keymap {
    fn default() -> Self {
        Self { keys: BINDINGS.iter().map(default_keys).collect() }
    }
}

fn default_keys(binding: &Binding) -> Vec<String> {
    binding.keys.iter().map(|k| (*k).to_owned()).collect()
}

/// Keys that a configuration gives one row of the table.
struct Wish {
    row: usize,
    keys: Vec<String>,
}

impl Keymap {
    /// The rows of a context that have keys, in order.
    pub fn of(&self, context: Context) -> impl Iterator<Item = Row<'_>> {
        self.rows().filter(move |r| r.binding.context == context && !r.keys.is_empty())
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        BINDINGS.iter().zip(&self.keys).map(|(binding, keys)| Row { keys, binding })
    }

    /// The first key of an action in a context, as people write it; a command's name where no key is left for it.
    pub fn label(&self, context: Context, action: &Action) -> String {
        let found = self.of(context).find(|r| r.binding.action == *action);
        found.map_or_else(|| format!("({})", action_name(action)), |row| row.label())
    }

    /// What a key does; contexts are asked in order. While typing, any other character is typed.
    pub fn lookup(&self, contexts: &[Context], key: &KeyEvent) -> Option<Action> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let name = keymap::name(key)?;
        match (self.named(contexts, &name), key.code) {
            (Some(action), _) => Some(action),
            (None, KeyCode::Char(c))
                if contexts == [Context::Prompt] && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                Some(Action::Input(Edit::InsertChar(c)))
            }
            _ => None,
        }
    }

    /// What pressing the key of a name does; while typing, any other character is typed.
    pub fn pressed(&self, contexts: &[Context], name: &str) -> Option<Action> {
        let typed = || match (name, name.chars().next(), name.chars().nth(1)) {
            ("space", ..) => Some(' '),
            (_, Some(c), None) => Some(c),
            _ => None,
        };
        let types = contexts == [Context::Prompt];
        self.named(contexts, name).or_else(|| typed().filter(|_| types).map(|c| Action::Input(Edit::InsertChar(c))))
    }

    /// What the key of a name does; contexts are asked in order.
    fn named(&self, contexts: &[Context], name: &str) -> Option<Action> {
        let row = contexts.iter().find_map(|c| self.of(*c).find(|r| r.keys.iter().any(|k| k == name)))?;
        Some(row.binding.action.clone())
    }

    /// The table with what `[keys]` of a configuration file changes. What cannot be done is told, one sentence each that
    /// begins with the key of the file, and changes nothing; all else is done.
    pub fn configured(table: &toml::Table) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut wishes: Vec<Wish> = Vec::new();
        for (place, entries) in table {
            let Some(context) = Context::iter().find(|c| c.key() == place) else {
                let known: Vec<&str> = Context::iter().map(Context::key).collect();
                problems.push(format!("keys.{place}: is none of {}", known.join(", ")));
                continue;
            };
            let Some(entries) = entries.as_table() else {
                problems.push(format!("keys.{place}: must be a table of actions and their keys"));
                continue;
            };
            for (action, value) in entries {
                match wish(context, action, value) {
                    Ok(wish) => wishes.push(wish),
                    Err(error) => problems.push(format!("keys.{place}.{action}: {error}")),
                }
            }
        }
        loop {
            let map = Self::with(&wishes);
            let Some((at, words)) = wishes.iter().enumerate().rev().find_map(|(i, w)| Some((i, map.clash(w)?))) else {
                problems.sort();
                return (map, problems);
            };
            // Without this wish others may clash that rely on it, so all are looked at again.
            let binding = &BINDINGS[wishes.remove(at).row];
            problems.push(format!("keys.{}.{}: {words}", binding.context.key(), action_name(&binding.action)));
        }
    }

    fn with(wishes: &[Wish]) -> Self {
        let mut map = Self::default();
        for wish in wishes {
            map.keys[wish.row].clone_from(&wish.keys);
        }
        map
    }

    /// Why a wish cannot be granted beside all others: another row, that works in the same place, has one of its keys.
    fn clash(&self, wish: &Wish) -> Option<String> {
        let own = &BINDINGS[wish.row];
        let meet = |other: Context| own.context.meets(other);
        let mut others = self.rows().enumerate().filter(|(i, r)| *i != wish.row && meet(r.binding.context));
        others.find_map(|(_, row)| {
            let key = wish.keys.iter().find(|k| row.keys.contains(k))?;
            let other = format!("{}.{}", row.binding.context.key(), action_name(&row.binding.action));
            Some(format!("{key:?} is the key of keys.{other}; give that another one first"))
        })
    }
}

fn wish(context: Context, action: &str, value: &toml::Value) -> Result<Wish, WishError> {
    let row = BINDINGS.iter().position(|b| b.context == context && action_name(&b.action) == action).ok_or_else(|| {
        let known: Vec<&str> = keymap::of(context).map(|b| action_name(&b.action)).collect();
        let place = context.key();
        if known.is_empty() { WishError::NoActions(place) } else { WishError::UnknownAction(known) }
    })?;
    let texts: Vec<&str> = match value {
        toml::Value::String(text) => vec![text],
        toml::Value::Array(all) => all.iter().map(toml::Value::as_str).collect::<Option<_>>().ok_or(WishError::NotKeys)?,
        _ => return Err(WishError::NotKeys),
    };
    let mut keys: Vec<String> = Vec::new();
    for text in texts {
        let key = parse(text)?;
        if key == FIXED {
            return Err(WishError::Fixed);
        }
        if context == Context::Prompt && key.chars().count() == 1 {
            return Err(WishError::Typed(text.to_owned()));
        }
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let binding = &BINDINGS[row];
    if keys.is_empty() && matches!(binding.action, Action::Back | Action::Quit | Action::Submit | Action::OpenPrompt) {
        return Err(WishError::NoKey);
    }
    keys.extend(binding.keys.iter().filter(|k| **k == FIXED).map(|k| (*k).to_owned()));
    Ok(Wish { row, keys })
}

/// Keys that are no characters, as the table spells them.
const NAMED: &[&str] = &[
    "space",
    "enter",
    "esc",
    "tab",
    "backspace",
    "delete",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "pgup",
    "pgdn",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
];

/// A key as people write it, as the table spells it. Characters are themselves; names and modifiers may be in any case.
pub fn parse(text: &str) -> Result<String, KeyNameError> {
    let unknown = || KeyNameError::Unknown(text.to_owned());
    let strip = |text: &str, prefix: &str| {
        let head = text.get(..prefix.len())?;
        (head.eq_ignore_ascii_case(prefix) && text.len() > prefix.len()).then(|| text[prefix.len()..].to_owned())
    };
    let (mut rest, mut control, mut alt) = (text.to_owned(), false, false);
    loop {
        if let Some(bare) = strip(&rest, "ctrl-").filter(|_| !control) {
            (rest, control) = (bare, true);
        } else if let Some(bare) = strip(&rest, "alt-").filter(|_| !alt) {
            (rest, alt) = (bare, true);
        } else {
            break;
        }
    }
    let mut chars = rest.chars();
    let bare = match (chars.next(), chars.next()) {
        (Some(' '), None) => "space".to_owned(),
        (Some(c), None) if c.is_control() => return Err(unknown()),
        (Some(c), None) if control => c.to_lowercase().collect(),
        (Some(c), None) => c.to_string(),
        _ => {
            let lower = rest.to_ascii_lowercase();
            let plain = !control && !alt;
            let known = NAMED.contains(&lower.as_str()) || (plain && lower == "shift-tab");
            if !known {
                return Err(unknown());
            }
            lower
        }
    };
    // A terminal sends the same for both.
    let same = match (control, bare.as_str()) {
        (true, "i") => Some("tab"),
        (true, "m") => Some("enter"),
        (true, "[") => Some("esc"),
        _ => None,
    };
    if let Some(same) = same {
        return Err(KeyNameError::SameAs { text: text.to_owned(), same });
    }
    Ok(format!("{}{}{bare}", if control { "ctrl-" } else { "" }, if alt { "alt-" } else { "" }))
}

/// The name of an action in configuration files; actions that have no key share one.
pub fn action_name(action: &Action) -> &'static str {
    use Direction::{Back, Forward};
    match action {
        Action::Quit => "quit",
        Action::Suspend => "suspend",
        Action::Back => "back",
        Action::Help => "help",
        Action::Report => "report",
        Action::OpenPrompt => "command",
        Action::OpenFilter => "filter",
        Action::CyclePane(Forward) => "next-pane",
        Action::CyclePane(Back) => "previous-pane",
        Action::Focus(Pane::Queues) => "go-to-queues",
        Action::Focus(Pane::Nodes) => "go-to-nodes",
        Action::Focus(Pane::Preemption) => "go-to-preemption",
        Action::Focus(Pane::NodeDetail) => "go-to-node",
        Action::Focus(Pane::Steps) => "go-to-steps",
        Action::Focus(Pane::Message) => "go-to-message",
        Action::Focus(Pane::PodDetail) => "go-to-pod",
        Action::Focus(Pane::Candidate) => "go-to-candidate",
        Action::Focus(Pane::Budgets) => "go-to-budgets",
        Action::Pod => "pod",
        Action::Move(Motion::Up) => "up",
        Action::Move(Motion::Down) => "down",
        Action::Move(Motion::HalfPageUp) => "half-page-up",
        Action::Move(Motion::HalfPageDown) => "half-page-down",
        Action::Move(Motion::PageUp) => "page-up",
        Action::Move(Motion::PageDown) => "page-down",
        Action::Move(Motion::Top) => "top",
        Action::Move(Motion::Bottom) => "bottom",
        Action::Open => "open",
        Action::Detail => "node",
        Action::Fold => "close-group",
        Action::ToggleGroups => "groups",
        Action::Step(Forward) => "step",
        Action::Step(Back) => "step-back",
        Action::Cycle(Forward) => "cycle",
        Action::Cycle(Back) => "cycle-back",
        Action::Run => "run",
        Action::SeekEnd(Back) => "start",
        Action::SeekEnd(Forward) => "end",
        Action::StepSize(Forward) => "coarser",
        Action::StepSize(Back) => "finer",
        Action::TryNext => "step-in",
        Action::Advance(HowFar::NextTimer) => "wait",
        Action::Advance(HowFar::Seconds(_)) => "wait-seconds",
        Action::Settle => "settle",
        Action::SeekPod(Back) => "pod-back",
        Action::SeekPod(Forward) => "pod-forward",
        Action::Begin("export ") => "export",
        Action::Begin(_) => "until",
        Action::Source => "source",
        Action::Copy => "copy",
        Action::CatchUp => "catch-up",
        Action::SchedulerMatch => "agreement",
        Action::Sort => "sort",
        Action::Branches => "branches",
        Action::Compare => "compare",
        Action::Input(edit) => edit_name(*edit),
        Action::Submit => "submit",
        Action::Complete => "complete",
        Action::Paste(_) | Action::Resize(..) | Action::Mouse(..) => "none",
    }
}

fn edit_name(edit: Edit) -> &'static str {
    match edit {
        Edit::DeletePrevChar => "delete-before",
        Edit::DeleteNextChar => "delete-after",
        Edit::DeletePrevWord => "delete-word-before",
        Edit::DeleteFromStart => "delete-all-before",
        Edit::DeleteTillEnd => "delete-all-after",
        Edit::GoToPrevChar => "left",
        Edit::GoToNextChar => "right",
        Edit::GoToStart => "line-start",
        Edit::GoToEnd => "line-end",
        _ => "none",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn contexts_are_asked_in_order() {
        let check = |contexts: &[Context], code: KeyCode, modifiers: KeyModifiers, expected: Option<Action>| {
            assert_eq!(Keymap::default().lookup(contexts, &press(code, modifiers)), expected, "{code:?}");
        };
        let (none, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        let nodes = [Context::Nodes, Context::Global];
        check(&nodes, KeyCode::Char('h'), none, Some(Action::Fold));
        check(&nodes, KeyCode::Char('N'), KeyModifiers::SHIFT, Some(Action::Step(Direction::Back)));
        check(&nodes, KeyCode::Char('s'), none, None);
        check(&[Context::Queues, Context::Global], KeyCode::Char('s'), none, Some(Action::TryNext));
        check(&nodes, KeyCode::BackTab, KeyModifiers::SHIFT, Some(Action::CyclePane(Direction::Back)));
        check(&[Context::Prompt], KeyCode::Char('q'), none, Some(Action::Input(Edit::InsertChar('q'))));
        check(&[Context::Prompt], KeyCode::Char('c'), ctrl, Some(Action::Back));
        check(&[Context::Prompt], KeyCode::Char('y'), ctrl, None);
        let mut release = press(KeyCode::Char('q'), none);
        release.kind = KeyEventKind::Release;
        assert_eq!(Keymap::default().lookup(&nodes, &release), None);
    }

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let mut seen = BTreeSet::new();
        for binding in BINDINGS {
            let name = action_name(&binding.action);
            assert_ne!(name, "none", "{}", binding.help);
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
            assert!(seen.insert((binding.context, name)), "{name} twice in {}", binding.context);
        }
    }

    #[test]
    fn keys_of_the_table_are_spelled_as_they_are_parsed() {
        for key in BINDINGS.iter().flat_map(|b| b.keys) {
            assert_eq!(parse(key).as_deref(), Ok(*key));
        }
        for (text, expected) in [("Ctrl-X", "ctrl-x"), ("ALT-Ctrl-pgUp", "ctrl-alt-pgup"), (" ", "space"), ("-", "-"), ("ctrl--", "ctrl--")]
        {
            assert_eq!(parse(text).as_deref(), Ok(expected), "{text:?}");
        }
        for text in ["", "xx", "ctrl-", "shift-x", "ctrl-ctrl-x", "\n", "ctrl-shift-tab", "f13", "ctrl-i", "Ctrl-M", "ctrl-[", "é\u{301}"]
        {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    fn configured(text: &str) -> (Keymap, Vec<String>) {
        Keymap::configured(&text.parse().unwrap())
    }

    #[test]
    fn a_configuration_changes_keys() {
        let check = |text: &str, contexts: &[Context], code: KeyCode, expected: Option<Action>| {
            let (map, problems) = configured(text);
            assert_eq!(problems, Vec::<String>::new(), "{text}");
            assert_eq!(map.lookup(contexts, &press(code, KeyModifiers::NONE)), expected, "{text}");
        };
        let queues = [Context::Queues, Context::Global];
        let step = Some(Action::Step(Direction::Forward));
        check("global.step = 'x'", &queues, KeyCode::Char('x'), step.clone());
        check("global.step = 'x'", &queues, KeyCode::Char('n'), None);
        check("global.step = ['x', 'f2']", &queues, KeyCode::F(2), step.clone());
        check("global.step = []", &queues, KeyCode::Char('n'), None);
        // Two that change places.
        check("global.step = 'c'\nglobal.cycle = 'n'", &queues, KeyCode::Char('c'), step.clone());
        check("global.step = 'c'\nglobal.cycle = 'n'", &queues, KeyCode::Char('n'), Some(Action::Cycle(Direction::Forward)));
        check("queues.step-in = 'x'\nnodes.groups = 'x'", &queues, KeyCode::Char('x'), Some(Action::TryNext));
        check("overlay.down = 'n'", &[Context::Overlay], KeyCode::Char('n'), Some(Action::Move(Motion::Down)));
        check("prompt.submit = 'ctrl-x'", &[Context::Prompt], KeyCode::Enter, None);
        let (map, problems) = configured("global.quit = 'Q'");
        let leaves = map.lookup(&queues, &press(KeyCode::Char('c'), KeyModifiers::CONTROL));
        assert_eq!((leaves, problems), (Some(Action::Quit), Vec::new()), "Ctrl-C stays");
        assert_eq!(map.label(Context::Global, &Action::Quit), "Q");
    }

    #[test]
    fn what_cannot_be_done_is_told_and_the_rest_is_done() {
        let check = |text: &str, expected: &[&str]| {
            let (map, problems) = configured(&format!("{text}\nglobal.until = 'U'"));
            assert_eq!(problems.len(), expected.len(), "{problems:?}");
            for (problem, words) in problems.iter().zip(expected) {
                assert!(problem.starts_with(words), "{problem}");
            }
            let rest = configured("global.until = 'U'").0;
            assert_eq!(map, rest, "{text}");
        };
        check("everywhere.step = 'x'", &["keys.everywhere: is none of global, queues, nodes, "]);
        check("queues = 'x'", &["keys.queues: must be a table"]);
        check("global.stpe = 'x'", &["keys.global.stpe: is none of help, step, step-back, "]);
        check("message.step = 'x'", &["keys.message.step: no action has a key in message alone"]);
        check("global.step = 1", &["keys.global.step: must be a key or a list of keys"]);
        check("global.step = ['x', 1]", &["keys.global.step: must be a key or a list of keys"]);
        check("global.step = 'xx'", &["keys.global.step: \"xx\" is no key: a character, space, "]);
        check("global.step = 'ctrl-c'", &["keys.global.step: ctrl-c keeps its meaning"]);
        check("global.quit = []", &["keys.global.quit: needs a key"]);
        check("prompt.complete = 'x'", &["keys.prompt.complete: \"x\" is typed there"]);
        check("global.step = 'c'", &["keys.global.step: \"c\" is the key of keys.global.cycle; give that another one first"]);
        // In one pane a key has one meaning, wherever it comes from.
        check("global.step = 's'", &["keys.global.step: \"s\" is the key of keys.queues.step-in"]);
        check("queues.step-in = 'c'", &["keys.queues.step-in: \"c\" is the key of keys.global.cycle"]);
    }

    #[test]
    fn of_two_that_want_one_key_the_first_has_it() {
        let (map, problems) = configured("global.step = 'x'\nglobal.run = 'x'");
        assert_eq!(problems, ["keys.global.step: \"x\" is the key of keys.global.run; give that another one first"]);
        assert_eq!(map, configured("global.run = 'x'").0);
        // What relied on a wish that is not granted is not granted either.
        let (map, problems) = configured("global.cycle = 'n'\nglobal.step = 's'");
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(map, Keymap::default());
    }
}
