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
mod tests {
    use super::*;

    /// Returns the candidates of a line without their descriptions, and the directive.
    fn completed(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (found, directive) = candidates(&words);
        let names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
        format!("{} :{directive}", names.join(" "))
    }

    #[test]
    fn subcommands_options_and_values_are_completed() {
        for (line, expected) in [
            ("e", "explain :4"),
            ("expl", "explain :4"),
            ("explain --sel", "--selector :4"),
            ("explain x -o m", "markdown metrics :4"),
            ("explain x --output=j", "json :4"),
            ("info -o m", "markdown :4"),
            ("completions z", "zsh :4"),
            ("explain --demo payments --fixes shop/pay", "shop/payments :4"),
            ("explain --from ", " :0"),
            ("open ", " :0"),
            ("--only-n", "--only-namespace :4"),
            ("explain --all-nodes --kubeconfig=", " :0"),
            ("no-such-command x", " :4"),
            ("explain -- ", " :4"),
        ] {
            assert_eq!(completed(line), expected, "{line}");
        }
        assert!(
            completed("").contains("demo open live capture record explain run") && !completed("").contains(" man"),
            "{}",
            completed("")
        );
        assert_eq!(candidates(&[]), (Vec::new(), NO_FILES));
        let (found, _) = candidates(&["explain".to_owned(), "--fix".to_owned()]);
        assert!(found[0].1.starts_with("Find the smallest changes"), "{found:?}");
    }

    #[test]
    fn a_completion_that_takes_too_long_is_empty() {
        let (_keeps_open, never) = mpsc::channel::<()>();
        assert_eq!(within(Duration::from_millis(1), move || never.recv().is_ok()), None);
        assert_eq!(within(COMPLETION, || 1), Some(1));
    }

    #[test]
    fn as_a_plugin_the_program_calls_itself_by_what_was_typed() {
        let usage = |name: &str| parse(&[name.into(), "explain".into()]).map(|_| ()).unwrap_err().to_string();
        assert!(usage("/usr/bin/kubectl-schedscope").contains("Usage: kubectl schedscope explain "), "{}", usage("kubectl-schedscope"));
        assert!(usage("schedscope").contains("Usage: schedscope explain "), "{}", usage("schedscope"));
        assert!(parse(&["kubectl-schedscope".into(), "info".into()]).is_ok());
    }
}
