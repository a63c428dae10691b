//! The commands behind `:`, in one table like the keys.

mod error;

pub use error::CommandError;

use crate::cluster::Key;
use crate::session::{Cursor, key_named, kind_named};
use crate::trace::StepSize;
use crate::ui::action::{Action, Direction, Effect, Pane};
use crate::ui::driver::{Driver, HowFar, Work};
use crate::ui::grouping::{self, Grouping};
use crate::ui::keymap::Context;
use crate::ui::open::show_pod;
use crate::ui::over_time::changed;
use crate::ui::state::{Running, State};
use crate::ui::themes;
use crate::ui::update::{moved, update};

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

/// What a command does with its arguments.
type Run = fn(&mut State, &mut dyn Driver, &str) -> Result<Option<Effect>, CommandError>;

/// All commands, in alphabetical order.
pub const COMMANDS: &[Command] = &[
    Command { names: &["advance"], args: "SECONDS|next", help: "let time pass, or until it makes something happen", run: advance },
    Command {
        names: &["agreement"],
        args: "",
        help: "pending pods beside what the cluster's scheduler wrote",
        run: |s, d, _| Ok(update(s, d, Action::SchedulerMatch)),
    },
    Command { names: &["allow"], args: "POD", help: "let a pod that waits on Permit go on", run: |s, d, a| edit(s, d, "allow", a) },
    Command { names: &["apply"], args: "FILE", help: "create or update the objects in a file", run: |s, d, a| edit(s, d, "apply", a) },
    Command { names: &["branch"], args: "N", help: "go to a branch", run: branch },
    Command { names: &["branches"], args: "", help: "list the branches", run: |s, d, _| Ok(update(s, d, Action::Branches)) },
    Command {
        names: &["budgets"],
        args: "",
        help: "all budgets, and what preemption does to them",
        run: |s, d, _| Ok(update(s, d, Action::Focus(Pane::Budgets))),
    },
    Command {
        names: &["capture"],
        args: "[--redact] FILE",
        help: "write the cluster as it was seen to a dump; open reads it",
        run: capture,
    },
    Command { names: &["compare"], args: "[N]", help: "this branch beside another, or the one it left", run: compare },
    Command { names: &["cordon"], args: "NODE", help: "no more pods on a node", run: |s, d, a| edit(s, d, "cordon", a) },
    Command { names: &["cycle"], args: "N", help: "to the end of the N-th recorded cycle or operation", run: cycle },
    Command { names: &["decide"], args: "POD", help: "decide about a pod as things stand now", run: decide },
    Command { names: &["delete"], args: "KIND NAME", help: "delete an object", run: |s, d, a| edit(s, d, "delete", a) },
    Command { names: &["group"], args: "verdict|pool|zone|none|LABEL", help: "group nodes, by any label too", run: group },
    Command {
        names: &["export"],
        args: "[screen|decision] FILE",
        help: "the screen (.svg, .txt) or the decision (.txt, .md, .json, .yaml)",
        run: |_, d, a| Ok(Some(crate::ui::export::asked(d, a)?)),
    },
    Command { names: &["help", "h"], args: "", help: "list keys and commands", run: |s, d, _| Ok(update(s, d, Action::Help)) },
    Command { names: &["node"], args: "NAME", help: "show a node", run: node },
    Command { names: &["open", "o"], args: "[PATH]", help: "open another dump, or go to the start screen", run: open_other },
    #[cfg(debug_assertions)]
    Command { names: &["panic"], args: "", help: "", run: |_, _, a| Ok(Some(Effect::Panic { beside: a == "beside" })) },
    Command {
        names: &["patch"],
        args: "KIND NAME JSON",
        help: "change an object by a JSON merge patch",
        run: |s, d, a| edit(s, d, "patch", a),
    },
    Command { names: &["pod"], args: "NAMESPACE/NAME", help: "show a pod's decision, taking it first if need be", run: pod },
    Command { names: &["quit", "q", "q!", "wq"], args: "", help: "leave", run: |_, _, _| Ok(Some(Effect::Quit)) },
    Command { names: &["reject"], args: "POD", help: "turn a pod back that waits on Permit", run: |s, d, a| edit(s, d, "reject", a) },
    Command { names: &["report"], args: "", help: "what was read from the source", run: |s, d, _| Ok(update(s, d, Action::Report)) },
    Command {
        names: &["run"],
        args: "",
        help: "let everything happen until nothing changes",
        run: |s, d, _| Ok(update(s, d, Action::Settle)),
    },
    Command { names: &["save"], args: "FILE", help: "save the session; open reads it", run: save },
    Command { names: &["source"], args: "KIND NAME", help: "an object as the cluster has it", run: source },
    Command { names: &["start"], args: "fresh|observed", help: "begin anew, as after a restart or as the cluster suggests", run: start },
    Command { names: &["step"], args: "[event|plugin|node|extension-point|cycle]", help: "step, or set how far a step goes", run: step },
    Command { names: &["theme"], args: "[NAME]", help: "show another theme, or choose one", run: |s, _, a| Ok(Some(themes::asked(s, a))) },
    Command { names: &["uncordon"], args: "NODE", help: "pods on a node again", run: |s, d, a| edit(s, d, "uncordon", a) },
    Command {
        names: &["until"],
        args: "popped|rejected|preemption|budget|bound|pod NAME|node NAME",
        help: "run until that happens",
        run: until,
    },
];

/// Runs a line.
pub fn run(state: &mut State, driver: &mut dyn Driver, line: &str) -> Result<Option<Effect>, CommandError> {
    let line = line.trim();
    let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if name.is_empty() {
        return Ok(None);
    }
    match COMMANDS.iter().find(|c| c.names.contains(&name)) {
        Some(command) => (command.run)(state, driver, args.trim()),
        None => {
            let help = state.settings.keymap.label(Context::Global, &Action::Help);
            Err(CommandError::Unknown { name: name.to_owned(), help })
        }
    }
}

fn cycle(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let frames = driver.timeline().frames().len();
    match args.parse::<usize>() {
        Ok(n) if (1..=frames).contains(&n) => {
            moved(state, driver, |d| d.timeline_mut().seek(Cursor { frame: n - 1, event: usize::MAX }));
            state.touch();
            Ok(None)
        }
        _ => Err(CommandError::Number { command: "cycle", last: frames }),
    }
}

fn source(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let (kind, name) = args.split_once(char::is_whitespace).ok_or(CommandError::Needs { command: "source", what: "a kind and a name" })?;
    let kind = kind_named(kind).ok_or_else(|| CommandError::UnknownKind(kind.to_owned()))?;
    crate::ui::beside::begin(state, driver, Work::Object(kind, key_named(kind, name.trim())));
    Ok(None)
}

fn capture(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let (redact, path) = match args.strip_prefix("--redact") {
        Some(path) => (true, path.trim()),
        None => (false, args),
    };
    if path.is_empty() {
        return Err(CommandError::Needs { command: "capture", what: "a file" });
    }
    crate::ui::beside::begin(state, driver, Work::Capture { path: path.to_owned(), redact });
    Ok(None)
}

fn until(state: &mut State, _: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    state.running = Some(Running { until: Some(args.parse()?), pieces: 0 });
    Ok(None)
}

fn advance(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let how_far = match args {
        "next" | "" => HowFar::NextTimer,
        text => match text.trim_end_matches('s').trim_end().parse() {
            Ok(seconds) => HowFar::Seconds(seconds),
            Err(_) => return Err(CommandError::Seconds(text.to_owned())),
        },
    };
    crate::ui::over_time::advance(state, driver, how_far);
    Ok(None)
}

#[allow(clippy::unnecessary_wraps, reason = "every command answers so")]
fn edit(state: &mut State, driver: &mut dyn Driver, word: &str, args: &str) -> Result<Option<Effect>, CommandError> {
    changed(state, driver, |d| d.edit(&format!("{word} {args}")));
    Ok(None)
}

fn branch(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let count = driver.branches().0.len();
    let number = args.parse::<usize>().ok().filter(|n| (1..=count).contains(n));
    let number = number.ok_or(CommandError::Number { command: "branch", last: count })?;
    moved(state, driver, |d| {
        d.switch_branch(number - 1);
    });
    state.touch();
    state.say(format!("this is {}", driver.branches().0[number - 1].name()));
    Ok(None)
}

fn compare(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let with = match args {
        "" => None,
        text => Some(text.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).ok_or_else(|| CommandError::Branch(text.to_owned()))?),
    };
    crate::ui::over_time::compare(state, driver, with);
    Ok(None)
}

fn decide(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let key = pod_key(driver, args)?;
    let mut found = false;
    moved(state, driver, |d| {
        if let Some(frame) = d.explain(&key) {
            found = true;
            d.timeline_mut().seek(Cursor { frame, event: usize::MAX });
        }
    });
    state.touch();
    if found { Ok(None) } else { Err(CommandError::NoPod(key)) }
}

#[allow(clippy::unnecessary_wraps, reason = "every command answers so")]
fn open_other(_: &mut State, _: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    Ok(Some(Effect::Open((!args.is_empty()).then(|| args.to_owned()))))
}

fn save(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    if args.is_empty() {
        return Err(CommandError::Needs { command: "save", what: "a file" });
    }
    let words = driver.save(args)?;
    state.say(words);
    Ok(None)
}

fn start(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let observed = match args {
        "fresh" => false,
        "observed" => true,
        other => return Err(CommandError::Start(other.to_owned())),
    };
    let mut answer = Ok(String::new());
    moved(state, driver, |d| answer = d.restart(observed));
    let (granularity, settings) = (state.granularity, std::mem::take(&mut state.settings));
    *state = State::new(driver.timeline(), state.size);
    (state.granularity, state.settings) = (granularity, settings);
    state.say(answer?);
    Ok(None)
}

fn group(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let grouping = Grouping::named(args, driver.timeline().moment().snapshot.nodes())?;
    grouping::choose(state, grouping);
    Ok(None)
}

fn node(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    match driver.timeline().moment().snapshot.get(args) {
        Some(node) => {
            state.open_node(node.name().clone());
            Ok(None)
        }
        None if args.is_empty() => Err(CommandError::Needs { command: "node", what: "a name" }),
        None => Err(CommandError::NoNode(args.to_owned())),
    }
}

fn pod(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    let key = pod_key(driver, args)?;
    let known = driver.timeline().moment().cluster.pods.get(&key).is_some() || driver.timeline().queues().entries.contains_key(&key);
    if !known {
        return Err(CommandError::NoPod(key));
    }
    if show_pod(state, driver, &key) {
        return Ok(None);
    }
    state.open_pod(key.clone());
    state.warn(format!("{key} does not wait to be scheduled: this is the pod"));
    Ok(None)
}

/// The pod that a name stands for: with its namespace, or without where only one pod is called so.
fn pod_key(driver: &dyn Driver, args: &str) -> Result<Key, CommandError> {
    if let Some((namespace, name)) = args.split_once('/') {
        return Ok(Key::new(namespace, name));
    }
    if args.is_empty() {
        return Err(CommandError::NoPodName);
    }
    let pods = &driver.timeline().moment().cluster.pods;
    let mut called = pods.iter().filter(|pod| pod.metadata.name.as_str() == args).map(|pod| pod.key());
    match (called.next(), called.next()) {
        (None, _) => Err(CommandError::NoPodCalled(args.to_owned())),
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(CommandError::SeveralPods(one, other)),
    }
}

fn step(state: &mut State, driver: &mut dyn Driver, args: &str) -> Result<Option<Effect>, CommandError> {
    if args.is_empty() {
        return Ok(update(state, driver, Action::Step(Direction::Forward)));
    }
    let size: StepSize = args.parse().map_err(|_| CommandError::Step(args.to_owned()))?;
    state.granularity = size;
    state.say(format!("one step is now {}", crate::ui::update::phrase(size)));
    Ok(None)
}
