//! The program as a plugin of kubectl: its name in usages, and completions as kubectl asks for them.
//!
//! kubectl runs `kubectl-schedscope WORDS...` for `kubectl schedscope WORDS...`, and on TAB `kubectl_complete-schedscope WORDS...`, whose
//! last word is being typed. Both names are links to this program. The completions are lines as those of Cobra: a candidate, a tab and
//! its description; the last line is a number of directives.

use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _, ValueHint};

use super::{Cli, completion};
use crate::limits::terminal::COMPLETION;
use crate::output;

/// The program's name as a plugin.
const PLUGIN: &str = "kubectl-schedscope";
/// The beginning of the name under which kubectl asks for completions.
const COMPLETE: &str = "kubectl_complete-";

/// The directive to offer files.
const FILES: u8 = 0;
/// The directive to offer no files.
const NO_FILES: u8 = 4;

/// A candidate with its description.
type Candidate = (String, String);

/// Returns the program's name without folders and extension.
fn name(arguments: &[OsString]) -> Option<String> {
    arguments.first().and_then(|name| Path::new(name).file_stem()).map(|name| name.to_string_lossy().into_owned())
}

/// Inserts `live` when the program runs as a kubectl plugin (`kubectl-schedscope` on the PATH) without a subcommand:
/// `kubectl schedscope --context prod` is `schedscope live --context prod`.
pub fn as_plugin(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let first = arguments.get(1).map(|a| a.to_string_lossy().into_owned());
    let about_itself = ["-h", "--help", "-V", "--version"];
    let asks = first.is_some_and(|first| !first.starts_with('-') || about_itself.contains(&first.as_str()));
    if name(&arguments).as_deref() == Some(PLUGIN) && !asks {
        arguments.insert(1, "live".into());
    }
    arguments
}

/// Parses arguments. As a plugin, the program calls itself by the words that its user typed.
pub(super) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    if name(arguments).as_deref() == Some(PLUGIN) {
        command = command.bin_name("kubectl schedscope");
    }
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Prints completions if the program has the name under which kubectl asks for them. Returns whether it has. Fails at nothing: a user who
/// presses TAB wants no message.
pub(super) fn answer(arguments: &[OsString]) -> bool {
    if !name(arguments).is_some_and(|name| name.starts_with(COMPLETE)) {
        return false;
    }
    let words: Vec<String> = arguments[1..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (found, directive) = within(COMPLETION, move || candidates(&words)).unwrap_or((Vec::new(), NO_FILES));
    let mut rows: Vec<Vec<String>> = found.into_iter().map(|(candidate, about)| vec![candidate, about]).collect();
    rows.push(vec![format!(":{directive}")]);
    let _ = output::print(&output::to_tab_separated(&rows));
    true
}

/// Runs a search on a thread of its own; `None` if it takes longer.
fn within<T: Send + 'static>(wait: Duration, search: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, found) = mpsc::channel();
    std::thread::Builder::new().spawn(move || send.send(search())).ok()?;
    found.recv_timeout(wait).ok()
}

/// Returns the candidates for the last word, and the directive.
fn candidates(words: &[String]) -> (Vec<Candidate>, u8) {
    let mut root = Cli::command();
    root.build();
    let Some((typed, before)) = words.split_last() else { return (Vec::new(), NO_FILES) };
    let sub = before.iter().enumerate().find_map(|(at, word)| Some((at, root.find_subcommand(word)?)));
    // Without a subcommand, kubectl's plugin opens the live cluster.
    let command = match sub {
        Some((_, command)) => command,
        None if typed.starts_with('-') || !before.is_empty() => root.find_subcommand("live").unwrap_or(&root),
        None => return (starting_with(typed, subcommands(&root)), NO_FILES),
    };
    // The names that only files know: contexts, namespaces, pods of dumps, releases.
    let with_subcommand: Vec<String> =
        if sub.is_some() { words.to_vec() } else { std::iter::once("live".to_owned()).chain(words.iter().cloned()).collect() };
    let names = completion::names(&with_subcommand);
    if !names.is_empty() {
        return (names.into_iter().map(|name| (name, String::new())).collect(), NO_FILES);
    }
    if let Some((option, value)) = typed.split_once('=')
        && let Some(arg) = option_of(command, option)
    {
        return values(arg, value);
    }
    if let Some(arg) = before.last().and_then(|option| option_of(command, option)).filter(|arg| takes_value(arg)) {
        return values(arg, typed);
    }
    if typed.starts_with('-') {
        return (starting_with(typed, options(command)), NO_FILES);
    }
    command.get_positionals().last().map_or((Vec::new(), NO_FILES), |arg| values(arg, typed))
}

fn subcommands(root: &Command) -> Vec<Candidate> {
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    root.get_subcommands().filter(|command| !command.is_hide_set()).map(|command| (command.get_name().to_owned(), about(command))).collect()
}

/// Returns the long options.
fn options(command: &Command) -> Vec<Candidate> {
    let option = |arg: &Arg| Some((format!("--{}", arg.get_long()?), arg.get_help().map(ToString::to_string).unwrap_or_default()));
    command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(option).collect()
}

/// Returns the argument that an option names.
fn option_of<'c>(command: &'c Command, option: &str) -> Option<&'c Arg> {
    let is_named = |arg: &&Arg| match (option.strip_prefix("--"), option.strip_prefix('-')) {
        (Some(long), _) => arg.get_long() == Some(long),
        (None, Some(short)) => arg.get_short().is_some_and(|letter| short.chars().eq([letter])),
        (None, None) => false,
    };
    command.get_arguments().find(is_named)
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// Returns the values that an argument can have, or that it takes a file.
fn values(arg: &Arg, typed: &str) -> (Vec<Candidate>, u8) {
    let possible = arg.get_possible_values();
    let about = |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string).unwrap_or_default();
    let found = possible.iter().filter(|value| !value.is_hide_set()).map(|value| (value.get_name().to_owned(), about(value.get_help())));
    let is_file = matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath);
    (starting_with(typed, found.collect()), if is_file { FILES } else { NO_FILES })
}

fn starting_with(typed: &str, all: Vec<Candidate>) -> Vec<Candidate> {
    all.into_iter().filter(|(candidate, _)| candidate.starts_with(typed)).collect()
}

#[cfg(test)]
mod tests;
