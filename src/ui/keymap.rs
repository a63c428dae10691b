//! The keys: one table, from which come the help, the line of hints and the list in the README.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::InputRequest as Edit;

use crate::ui::action::{Action, Direction, Motion, Pane};
use crate::ui::driver::HowFar;

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display, strum::EnumIter)]
pub enum Context {
    /// In every pane.
    #[strum(to_string = "Everywhere")]
    Global,
    /// In the queues.
    #[strum(to_string = "In the queues")]
    Queues,
    /// Among the nodes.
    #[strum(to_string = "Among the nodes")]
    Nodes,
    /// Among the candidates.
    #[strum(to_string = "In preemption")]
    Preemption,
    /// On one node.
    #[strum(to_string = "On a node")]
    NodeDetail,
    /// In the steps.
    #[strum(to_string = "In the steps")]
    Steps,
    /// In the message.
    #[strum(to_string = "In the message")]
    Message,
    /// On a page: a pod, a candidate, the budgets.
    #[strum(to_string = "On a pod, a candidate, budgets")]
    Page,
    /// While something lies over the screen.
    #[strum(to_string = "In help and lists over the screen")]
    Overlay,
    /// While one of several is chosen, and shown meanwhile.
    #[strum(to_string = "While choosing a theme")]
    Picker,
    /// Before anything is opened.
    #[strum(to_string = "On the start screen")]
    Start,
    /// While typing.
    #[strum(to_string = "While typing")]
    Prompt,
}

impl Context {
    /// The name of its table in configuration files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Queues => "queues",
            Self::Nodes => "nodes",
            Self::Preemption => "preemption",
            Self::NodeDetail => "node",
            Self::Steps => "steps",
            Self::Message => "message",
            Self::Page => "page",
            Self::Overlay => "overlay",
            Self::Picker => "picker",
            Self::Start => "start",
            Self::Prompt => "prompt",
        }
    }

    /// Whether keys of both are looked up at the same time.
    pub fn meets(self, other: Self) -> bool {
        let in_pane = |context: Self| !matches!(context, Self::Overlay | Self::Picker | Self::Start | Self::Prompt);
        self == other || (self == Self::Global && in_pane(other)) || (other == Self::Global && in_pane(self))
    }
}

impl From<Pane> for Context {
    fn from(pane: Pane) -> Self {
        match pane {
            Pane::Queues => Self::Queues,
            Pane::Nodes => Self::Nodes,
            Pane::Preemption => Self::Preemption,
            Pane::NodeDetail => Self::NodeDetail,
            Pane::Steps => Self::Steps,
            Pane::Message => Self::Message,
            Pane::PodDetail | Pane::Candidate | Pane::Budgets => Self::Page,
        }
    }
}

/// One line of the table.
pub struct Binding {
    /// The keys, as [`name`] spells them; the first is the one hints show.
    pub keys: &'static [&'static str],
    /// What they do.
    pub action: Action,
    /// One or two words for the line of hints; empty for keys that are not shown there.
    pub short: &'static str,
    /// A phrase for the help.
    pub help: &'static str,
    /// Where they work.
    pub context: Context,
}

const fn bind(context: Context, keys: &'static [&'static str], action: Action, short: &'static str, help: &'static str) -> Binding {
    Binding { keys, action, short, help, context }
}

/// All keys. Within a context the order is that of the help.
pub const BINDINGS: &[Binding] = &[
    bind(Context::Global, &["?", "f1"], Action::Help, "help", "list the keys"),
    bind(Context::Global, &["n", "space"], Action::Step(Direction::Forward), "step", "one step forward"),
    bind(Context::Global, &["b", "N"], Action::Step(Direction::Back), "back", "one step back"),
    bind(Context::Global, &["c"], Action::Cycle(Direction::Forward), "cycle", "to the end of this cycle, then of the next"),
    bind(Context::Global, &["C"], Action::Cycle(Direction::Back), "", "to the start of this cycle, then of the one before"),
    bind(Context::Global, &["r"], Action::Run, "run", "run until preemption starts or the cycle ends"),
    bind(
        Context::Global,
        &["e"],
        Action::StepSize(Direction::Forward),
        "step size",
        "coarser steps: event, plugin, node, extension point, cycle",
    ),
    bind(Context::Global, &["E"], Action::StepSize(Direction::Back), "", "finer steps"),
    bind(Context::Global, &["S"], Action::Settle, "", "let everything happen until nothing changes any more; Esc stops it"),
    bind(Context::Global, &["u"], Action::Begin("until "), "until", "run until something happens"),
    bind(Context::Global, &["t"], Action::Advance(HowFar::NextTimer), "wait", "let time pass until it makes something happen"),
    bind(Context::Global, &["T"], Action::Advance(HowFar::Seconds(10)), "", "let 10 seconds pass"),
    bind(Context::Global, &["["], Action::SeekPod(Direction::Back), "", "back to where something happened to the selected pod"),
    bind(Context::Global, &["]"], Action::SeekPod(Direction::Forward), "", "on to where something happened to the selected pod"),
    bind(Context::Global, &["B"], Action::Branches, "", "list the branches"),
    bind(Context::Global, &["="], Action::Compare, "", "this branch beside the one it left"),
    bind(Context::Global, &["home"], Action::SeekEnd(Direction::Back), "", "to the start of everything"),
    bind(Context::Global, &["end"], Action::SeekEnd(Direction::Forward), "", "to the end of what has been recorded"),
    bind(Context::Queues, &["s"], Action::TryNext, "step in", "decide about the selected pod, and stand before the first step"),
    bind(Context::Queues, &["enter", "l", "right"], Action::Open, "open", "show the decision about the selected pod"),
    bind(Context::Queues, &["o"], Action::Sort, "", "sort each queue: its own order, priority, name, attempts"),
    bind(Context::Nodes, &["enter", "l", "right"], Action::Open, "open", "open the group, or show the node"),
    bind(Context::Nodes, &["h", "left"], Action::Fold, "", "close the group"),
    bind(Context::Nodes, &["z"], Action::ToggleGroups, "groups", "nodes by verdict and reason, by pool, by zone, or one by one"),
    bind(Context::Nodes, &["o"], Action::Sort, "", "sort: worst last, name, free cpu, closest to fitting"),
    bind(Context::Preemption, &["enter", "l", "right"], Action::Open, "open", "show the candidate, or why it is none"),
    bind(Context::Preemption, &["o"], Action::Sort, "", "sort: winner first, name, fewest victims or violations"),
    bind(Context::NodeDetail, &["enter", "l", "right"], Action::Open, "pod", "show the selected pod"),
    bind(Context::NodeDetail, &["o"], Action::Sort, "", "sort its pods: least important first, priority, name, cpu request"),
    bind(Context::NodeDetail, &["h", "left"], Action::Back, "return", "back to where the node was opened"),
    bind(Context::Page, &["enter", "l", "right"], Action::Open, "open", "show the pod, go to the attempt, open or close the budget"),
    bind(Context::Page, &["o"], Action::Sort, "", "sort: victims by importance or name; budgets by harm, name, what is left"),
    bind(Context::Page, &["h", "left"], Action::Back, "return", "back to where this was opened"),
    bind(Context::Steps, &["l", "right"], Action::Move(Motion::Down), "", "the next fact"),
    bind(Context::Steps, &["h", "left"], Action::Move(Motion::Up), "", "the fact before"),
    bind(Context::Global, &["d"], Action::Detail, "node", "show the node that is selected or was touched last"),
    bind(Context::Global, &["v"], Action::Pod, "pod", "show the pod that is selected, or that of the cycle"),
    bind(Context::Global, &["/"], Action::OpenFilter, "filter", "filter the list"),
    bind(Context::Global, &[":"], Action::OpenPrompt, "command", "give a command"),
    bind(Context::Global, &["R"], Action::CatchUp, "", "a live cluster: to its end, with what has changed"),
    bind(Context::Global, &["A"], Action::SchedulerMatch, "", "all pending pods beside what the cluster's scheduler wrote"),
    bind(Context::Global, &["y"], Action::Source, "source", "the selected object as the cluster has it, as YAML"),
    bind(Context::Global, &["Y"], Action::Copy, "", "the same; in the message pane, copy the message (OSC 52)"),
    bind(Context::Global, &["p"], Action::Begin("export "), "", "write the screen or the decision to a file"),
    bind(Context::Global, &["i"], Action::Report, "", "what was read from the source, and what was not"),
    bind(Context::Global, &["j", "down"], Action::Move(Motion::Down), "", "down"),
    bind(Context::Global, &["k", "up"], Action::Move(Motion::Up), "", "up"),
    bind(Context::Global, &["ctrl-d"], Action::Move(Motion::HalfPageDown), "", "half a page down"),
    bind(Context::Global, &["ctrl-u"], Action::Move(Motion::HalfPageUp), "", "half a page up"),
    bind(Context::Global, &["pgdn", "ctrl-f"], Action::Move(Motion::PageDown), "", "a page down"),
    bind(Context::Global, &["pgup", "ctrl-b"], Action::Move(Motion::PageUp), "", "a page up"),
    bind(Context::Global, &["g"], Action::Move(Motion::Top), "", "to the first"),
    bind(Context::Global, &["G"], Action::Move(Motion::Bottom), "", "to the last"),
    bind(Context::Global, &["tab"], Action::CyclePane(Direction::Forward), "pane", "the next pane"),
    bind(Context::Global, &["shift-tab"], Action::CyclePane(Direction::Back), "", "the pane before"),
    bind(Context::Global, &["1"], Action::Focus(Pane::Queues), "", "the queues"),
    bind(Context::Global, &["2"], Action::Focus(Pane::Nodes), "", "the nodes"),
    bind(Context::Global, &["3"], Action::Focus(Pane::Preemption), "", "preemption"),
    bind(Context::Global, &["4"], Action::Focus(Pane::NodeDetail), "", "one node"),
    bind(Context::Global, &["5"], Action::Focus(Pane::Steps), "", "the steps"),
    bind(Context::Global, &["6"], Action::Focus(Pane::Message), "", "the message"),
    bind(Context::Global, &["7"], Action::Focus(Pane::PodDetail), "", "one pod: request, priority, constraints, history"),
    bind(Context::Global, &["8"], Action::Focus(Pane::Candidate), "", "one candidate: score functions, victims, budgets"),
    bind(Context::Global, &["9"], Action::Focus(Pane::Budgets), "", "all budgets, and what preemption does to them"),
    bind(Context::Global, &["esc"], Action::Back, "", "clear the filter, or go back"),
    bind(Context::Global, &["ctrl-z"], Action::Suspend, "", "to the shell; fg comes back"),
    bind(Context::Global, &["q", "ctrl-c"], Action::Quit, "quit", "leave"),
    bind(Context::Overlay, &["enter"], Action::Open, "go", "go to the line that is selected; close where there is none"),
    bind(Context::Overlay, &["/"], Action::OpenFilter, "filter", "keep only lines that match"),
    bind(Context::Overlay, &["esc", "q", "?"], Action::Back, "close", "close"),
    bind(Context::Overlay, &["Y"], Action::Copy, "copy", "copy the text to the clipboard (OSC 52)"),
    bind(Context::Overlay, &["j", "down"], Action::Move(Motion::Down), "down", "down"),
    bind(Context::Overlay, &["k", "up"], Action::Move(Motion::Up), "up", "up"),
    bind(Context::Overlay, &["pgdn", "space", "ctrl-d", "ctrl-f"], Action::Move(Motion::PageDown), "", "a page down"),
    bind(Context::Overlay, &["pgup", "ctrl-u", "ctrl-b"], Action::Move(Motion::PageUp), "", "a page up"),
    bind(Context::Overlay, &["g", "home"], Action::Move(Motion::Top), "", "to the top"),
    bind(Context::Overlay, &["G", "end"], Action::Move(Motion::Bottom), "", "to the bottom"),
    bind(Context::Overlay, &["ctrl-z"], Action::Suspend, "", "to the shell"),
    bind(Context::Overlay, &["ctrl-c"], Action::Quit, "", "leave"),
    bind(Context::Picker, &["enter"], Action::Open, "keep", "keep it"),
    bind(Context::Picker, &["esc", "q"], Action::Back, "as it was", "back to what was"),
    bind(Context::Picker, &["j", "down"], Action::Move(Motion::Down), "next", "the next one"),
    bind(Context::Picker, &["k", "up"], Action::Move(Motion::Up), "before", "the one before"),
    bind(Context::Picker, &["g", "home"], Action::Move(Motion::Top), "", "the first"),
    bind(Context::Picker, &["G", "end"], Action::Move(Motion::Bottom), "", "the last"),
    bind(Context::Picker, &["ctrl-z"], Action::Suspend, "", "to the shell"),
    bind(Context::Picker, &["ctrl-c"], Action::Quit, "", "leave"),
    bind(Context::Start, &["enter", "l", "right"], Action::Open, "open", "open what is selected"),
    bind(Context::Start, &["/"], Action::OpenFilter, "filter", "filter the list"),
    bind(Context::Start, &["o", ":"], Action::OpenPrompt, "path", "type the path of a dump"),
    bind(Context::Start, &["j", "down"], Action::Move(Motion::Down), "", "down"),
    bind(Context::Start, &["k", "up"], Action::Move(Motion::Up), "", "up"),
    bind(Context::Start, &["pgdn", "ctrl-d", "ctrl-f"], Action::Move(Motion::PageDown), "", "a page down"),
    bind(Context::Start, &["pgup", "ctrl-u", "ctrl-b"], Action::Move(Motion::PageUp), "", "a page up"),
    bind(Context::Start, &["g", "home"], Action::Move(Motion::Top), "", "to the first"),
    bind(Context::Start, &["G", "end"], Action::Move(Motion::Bottom), "", "to the last"),
    bind(Context::Start, &["esc"], Action::Back, "", "clear the filter"),
    bind(Context::Start, &["ctrl-z"], Action::Suspend, "", "to the shell; fg comes back"),
    bind(Context::Start, &["q", "ctrl-c"], Action::Quit, "quit", "leave"),
    bind(Context::Prompt, &["enter"], Action::Submit, "done", "done"),
    bind(Context::Prompt, &["esc", "ctrl-c"], Action::Back, "cancel", "cancel"),
    bind(Context::Prompt, &["tab"], Action::Complete, "complete", "complete the word"),
    bind(Context::Prompt, &["down", "ctrl-n"], Action::Move(Motion::Down), "", "the next row, without leaving the filter"),
    bind(Context::Prompt, &["up", "ctrl-p"], Action::Move(Motion::Up), "", "the row before"),
    bind(Context::Prompt, &["backspace", "ctrl-h"], Action::Input(Edit::DeletePrevChar), "", "delete the character before"),
    bind(Context::Prompt, &["delete"], Action::Input(Edit::DeleteNextChar), "", "delete the character after"),
    bind(Context::Prompt, &["ctrl-w"], Action::Input(Edit::DeletePrevWord), "", "delete the word before"),
    bind(Context::Prompt, &["ctrl-u"], Action::Input(Edit::DeleteFromStart), "", "delete all before"),
    bind(Context::Prompt, &["ctrl-k"], Action::Input(Edit::DeleteTillEnd), "", "delete all after"),
    bind(Context::Prompt, &["left", "ctrl-b"], Action::Input(Edit::GoToPrevChar), "", "left"),
    bind(Context::Prompt, &["right", "ctrl-f"], Action::Input(Edit::GoToNextChar), "", "right"),
    bind(Context::Prompt, &["home", "ctrl-a"], Action::Input(Edit::GoToStart), "", "to the start"),
    bind(Context::Prompt, &["end", "ctrl-e"], Action::Input(Edit::GoToEnd), "", "to the end"),
];

/// A key as the table spells it; `None` for keys that the table cannot name.
pub fn name(key: &KeyEvent) -> Option<String> {
    let bare = match key.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "enter".to_owned(),
        KeyCode::Esc => "esc".to_owned(),
        KeyCode::Tab if key.modifiers.contains(KeyModifiers::SHIFT) => "shift-tab".to_owned(),
        KeyCode::Tab => "tab".to_owned(),
        KeyCode::BackTab => "shift-tab".to_owned(),
        KeyCode::Backspace => "backspace".to_owned(),
        KeyCode::Delete => "delete".to_owned(),
        KeyCode::Left => "left".to_owned(),
        KeyCode::Right => "right".to_owned(),
        KeyCode::Up => "up".to_owned(),
        KeyCode::Down => "down".to_owned(),
        KeyCode::Home => "home".to_owned(),
        KeyCode::End => "end".to_owned(),
        KeyCode::PageUp => "pgup".to_owned(),
        KeyCode::PageDown => "pgdn".to_owned(),
        KeyCode::F(n) => format!("f{n}"),
        _ => return None,
    };
    let control = if key.modifiers.contains(KeyModifiers::CONTROL) { "ctrl-" } else { "" };
    let alt = if key.modifiers.contains(KeyModifiers::ALT) { "alt-" } else { "" };
    Some(format!("{control}{alt}{bare}"))
}

/// A key as people write it.
pub fn label(key: &str) -> String {
    match key {
        "down" => "↓".to_owned(),
        "up" => "↑".to_owned(),
        "left" => "←".to_owned(),
        "right" => "→".to_owned(),
        _ => match (key.strip_prefix("ctrl-"), key.strip_prefix("alt-")) {
            (Some(rest), _) if rest.chars().count() == 1 => format!("Ctrl-{}", rest.to_uppercase()),
            (Some(rest), _) => format!("Ctrl-{}", label(rest)),
            (_, Some(rest)) if !rest.is_empty() => format!("Alt-{}", label(rest)),
            _ if key.chars().count() == 1 => key.to_owned(),
            _ => key.get(..1).unwrap_or_default().to_uppercase() + key.get(1..).unwrap_or_default(),
        },
    }
}

/// The bindings of a context, in order.
pub fn of(context: Context) -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().filter(move |b| b.context == context)
}

/// The whole table in Markdown, for the README.
pub fn markdown() -> String {
    use std::fmt::Write as _;
    use strum::IntoEnumIterator;
    let mut text = String::from("| where | keys | what | in `[keys]` |\n| --- | --- | --- | --- |\n");
    for context in Context::iter() {
        for binding in of(context) {
            let keys: Vec<String> = binding.keys.iter().map(|k| format!("`{}`", label(k))).collect();
            let name = crate::ui::keys::action_name(&binding.action);
            let _ = writeln!(text, "| {context} | {} | {} | `{}.{name}` |", keys.join(" "), binding.help, context.key());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn no_key_has_two_meanings_in_one_context() {
        let mut seen = BTreeSet::new();
        for binding in BINDINGS {
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
        let mut names: BTreeSet<String> = special.iter().filter_map(|c| name(&press(*c, KeyModifiers::NONE))).collect();
        for c in ' '..='~' {
            names.extend(name(&press(K::Char(c), KeyModifiers::NONE)));
            names.extend(name(&press(K::Char(c), KeyModifiers::CONTROL)));
        }
        for key in BINDINGS.iter().flat_map(|b| b.keys) {
            assert!(names.contains(*key), "{key}");
        }
    }

    #[test]
    fn the_readme_lists_every_binding() {
        let text = markdown();
        assert_eq!(text.lines().count(), BINDINGS.len() + 2);
        let readme = include_str!("../../README.md");
        assert!(readme.contains(&text), "the README's table of keys should be\n\n{text}");
    }
}
