//! The commands behind `:`, in one table like the keys.

use crate::cluster::{Key, Str};
use crate::session::Cursor;
use crate::trace::{Event, Granularity};
use crate::ui::action::{Action, Direction, Effect};
use crate::ui::driver::Driver;
use crate::ui::state::{Prompt, State};
use crate::ui::theme::Theme;
use crate::ui::update::{show_pod, update};

/// A command.
pub struct Command {
    /// Its names; the first is the one that is listed.
    pub names: &'static [&'static str],
    /// What it takes.
    pub args: &'static str,
    /// What it does; empty for commands that are not for users and so are not listed.
    pub help: &'static str,
    run: Run,
}

/// What a command does with its arguments; an error is a sentence for the reader.
type Run = fn(&mut State, &mut dyn Driver, &str) -> Result<Option<Effect>, String>;

/// All commands, in alphabetical order.
pub const COMMANDS: &[Command] = &[
    Command { names: &["cycle"], args: "N", help: "to the end of the N-th recorded cycle or operation", run: cycle },
    Command { names: &["help", "h"], args: "", help: "list keys and commands", run: |s, d, _| Ok(update(s, d, Action::Help)) },
    Command { names: &["node"], args: "NAME", help: "show a node", run: node },
    #[cfg(debug_assertions)]
    Command { names: &["panic"], args: "", help: "", run: |_, _, _| Ok(Some(Effect::Panic)) },
    Command { names: &["pod"], args: "NAMESPACE/NAME", help: "show a pod's decision, taking it first if need be", run: pod },
    Command { names: &["quit", "q", "q!", "wq"], args: "", help: "leave", run: |_, _, _| Ok(Some(Effect::Quit)) },
    Command { names: &["report"], args: "", help: "what was read from the source", run: |s, d, _| Ok(update(s, d, Action::Report)) },
    Command { names: &["step"], args: "[event|plugin|node|extension-point|cycle]", help: "step, or set how far a step goes", run: step },
    Command { names: &["theme"], args: "NAME", help: "show another theme", run: theme },
];

/// Runs a line; an error is a sentence for the reader.
pub fn run(state: &mut State, driver: &mut dyn Driver, line: &str) -> Result<Option<Effect>, String> {
    let line = line.trim();
    let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if name.is_empty() {
        return Ok(None);
    }
    match COMMANDS.iter().find(|c| c.names.contains(&name)) {
        Some(command) => (command.run)(state, driver, args.trim()),
        None => Err(format!("there is no command {name:?}; ? lists them")),
    }
}

fn cycle(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, String> {
    let frames = driver.timeline().frames().len();
    match args.parse::<usize>() {
        Ok(n) if (1..=frames).contains(&n) => {
            driver.timeline_mut().seek(Cursor { frame: n - 1, event: usize::MAX });
            state.touch();
            Ok(None)
        }
        _ => Err(format!("cycle needs a number from 1 to {frames}")),
    }
}

fn node(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, String> {
    match driver.timeline().moment().snapshot.get(args) {
        Some(node) => {
            state.open_node(node.name().clone());
            Ok(None)
        }
        None if args.is_empty() => Err("node needs a name".to_owned()),
        None => Err(format!("there is no node {args:?}")),
    }
}

fn pod(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, String> {
    let key = match args.split_once('/') {
        Some((namespace, name)) => Key::new(namespace, name),
        None if args.is_empty() => return Err("pod needs a namespace and a name, such as shop/payments".to_owned()),
        None => Key::new("default", args),
    };
    let known = driver.timeline().moment().cluster.pods.get(&key).is_some() || driver.timeline().queues().entries.contains_key(&key);
    if show_pod(state, driver, &key) {
        return Ok(None);
    }
    Err(if known { format!("{key} does not wait to be scheduled") } else { format!("there is no pod {key}") })
}

fn step(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, String> {
    if args.is_empty() {
        return Ok(update(state, driver, Action::Step(Direction::Forward)));
    }
    let size: Granularity = args.parse().map_err(|_| format!("{args:?} is none of event, plugin, node, extension-point, cycle"))?;
    state.granularity = size;
    state.say(format!("one step is now {}", crate::ui::update::phrase(size)));
    Ok(None)
}

fn theme(_: &mut State, _: &mut dyn Driver, args: &str) -> Result<Option<Effect>, String> {
    if args.is_empty() {
        return Err(format!("theme needs a name: {}", Theme::names().collect::<Vec<_>>().join(", ")));
    }
    Ok(Some(Effect::Theme(args.to_owned())))
}

/// How many completions are offered.
const OFFERED: usize = 8;

/// What the last word of a command could become.
pub fn completions(driver: &dyn Driver, prompt: &Prompt) -> Vec<String> {
    if prompt.filter.is_some() {
        return Vec::new();
    }
    let line = prompt.input.value();
    let begins = |candidate: &str, word: &str| candidate.starts_with(word) && candidate != word;
    let Some((name, word)) = line.split_once(' ') else {
        return COMMANDS.iter().filter(|c| !c.help.is_empty()).map(|c| c.names[0]).filter(|n| begins(n, line)).map(str::to_owned).collect();
    };
    let timeline = driver.timeline();
    // A word without a slash matches the pod's own name as well, as nobody likes to type the namespace first.
    let loosely = |key: &Key| {
        let full = key.to_string();
        let hit = begins(&full, word) || (!word.contains('/') && key.name.starts_with(word));
        hit.then_some(full)
    };
    match name {
        "pod" => {
            let tried = timeline.frames().iter().flat_map(|f| f.events.iter()).filter_map(|e| match e {
                Event::CycleStarted(start) => Some(&start.pod),
                _ => None,
            });
            let mut keys: Vec<String> = timeline.queues().entries.keys().chain(tried).filter_map(loosely).take(1000).collect();
            keys.sort();
            keys.dedup();
            keys.truncate(OFFERED);
            keys
        }
        "node" => {
            let nodes = timeline.moment().snapshot.nodes().iter().map(|n| n.name()).filter(|n| begins(n, word));
            let mut names: Vec<String> = nodes.map(Str::to_string).collect();
            names.sort();
            names.truncate(OFFERED);
            names
        }
        "theme" => Theme::names().filter(|n| begins(n, word)).map(str::to_owned).collect(),
        "step" => {
            use strum::IntoEnumIterator;
            Granularity::iter().map(|g| g.to_string()).filter(|n| begins(n, word)).collect()
        }
        _ => Vec::new(),
    }
}

/// The line with its last word completed as far as all completions agree, or to the first of them.
pub fn complete(prompt: &Prompt) -> Option<String> {
    let line = prompt.input.value();
    let first = prompt.completions.first()?;
    let (head, word) = line.rfind(' ').map_or(("", line), |at| line.split_at(at + 1));
    let mut shared = first.as_str();
    for other in &prompt.completions[1..] {
        let same =
            shared.char_indices().zip(other.chars()).find(|((_, a), b)| a != b).map_or(shared.len().min(other.len()), |((i, _), _)| i);
        shared = &shared[..same];
    }
    let only = prompt.completions.len() == 1;
    let word = if shared.len() > word.len() { shared } else { first };
    let takes_more = head.is_empty() && COMMANDS.iter().any(|c| c.names[0] == word && !c.args.is_empty());
    Some(format!("{head}{word}{}", if takes_more && only { " " } else { "" }))
}
