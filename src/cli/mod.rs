//! The command line: arguments, subcommands, exit codes.

mod args;
mod compare;
mod completion;
mod diff;
mod dumps;
mod emulate;
mod explain;
mod explore;
mod extenders;
mod failure;
mod history;
mod history_window;
mod info;
mod kubectl;
mod live;
mod loading;
mod log;
mod man;
mod manifest;
mod manual;
mod opening;
mod placed;
mod progress;
mod record;
mod reproduce;
mod run;
mod scheduler_log;
mod schema;
mod start;
mod watch;
mod what_if;
mod workload;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::cluster::{Key, Kind};
#[cfg(target_os = "linux")]
pub use crate::output::reserve_little_under_a_limit;
use crate::output::{self, Document, Lines, Text};
use crate::scheduler::Scheduler;
use crate::source::{self, Loaded, STORIES, Story};
use crate::suggest::nearest;
use args::OutputFileArgs;
pub use args::{Cli, Command, SchedulerArgs, SourceArgs};
pub use failure::{Failure, FailureKind, Hint};
pub use kubectl::as_plugin;
use loading::{
    Audience, Silent, StandardError, begin, input, judgeable, load, one_state, read, read_inputs, scheduler, some_object, tell, with_nodes,
};

/// The pod fits, or the command did its job.
pub const EXIT_OK: u8 = 0;
/// The pod does not fit.
pub const EXIT_NO_FIT: u8 = 1;
/// Wrong usage.
pub const EXIT_USAGE: u8 = 2;
/// The source could not be read, or the cluster could not be reached.
pub const EXIT_SOURCE: u8 = 3;

/// Runs the command line. Answers go to standard output, diagnostics to standard error.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let _unfinished = output::RemoveUnfinished;
    if completion::answer(&arguments) || kubectl::answer(&arguments) {
        return ExitCode::from(EXIT_OK);
    }
    let arguments = as_plugin(arguments);
    let code = match kubectl::parse(&arguments) {
        Ok(cli) => run(cli),
        Err(error) => refused(&arguments, &error),
    };
    // A credential plugin may still run.
    output::end_children();
    code
}

/// Prints clap's error, its help, or the version.
fn refused(arguments: &[OsString], error: &clap::Error) -> ExitCode {
    // clap quotes arguments unescaped within its own colours. Parse escaped arguments again to get the same message with
    // safe text; if that gives another error, escape the whole message.
    let escape = |argument: &OsString| OsString::from(output::escape(&argument.to_string_lossy()).into_owned());
    let escaped: Vec<OsString> = arguments.iter().map(escape).collect();
    let written = match kubectl::parse(&escaped) {
        Err(same) if same.kind() == error.kind() => output::say_styled(&same),
        _ => {
            let lines: Lines = error.to_string().lines().map(str::to_owned).collect();
            output::say_all(&lines);
            Ok(())
        }
    };
    match written {
        Ok(()) => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(EXIT_USAGE)),
        Err(error) => ended(Err(Failure::standard_output(error))),
    }
}

/// Runs a command.
fn run(cli: Cli) -> ExitCode {
    output::end_on_signals();
    output::end_on_little_memory();
    let Some(command) = cli.command else { return start_screen(cli.no_color) };
    if !matches!(command, Command::Completions { .. } | Command::Info(_) | Command::Man { .. } | Command::Schema { .. })
        && let Err(failure) = start_threads()
    {
        return ended(Err(failure));
    }
    let exits_with_zero = command.exits_with_zero();
    let result = match command {
        Command::Demo(args) if args.list => list_stories(),
        Command::Demo(args) => explore::demo(&args, cli.no_color),
        Command::Open(args) => explore::open(&args, cli.no_color),
        Command::Live(args) => explore::live(&args, cli.no_color),
        Command::Capture(args) => live::capture(&args),
        Command::Record(args) => record::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Log(args) => scheduler_log::run(&args),
        Command::Completions { shell } => print(&Text::document(completion::script(shell))),
        Command::Info(args) => info::run(&args),
        Command::Man { folder } => man::run(&folder),
        Command::Schema { answer } => schema::run(answer.as_deref()),
    };
    ended(result.map(|code| if exits_with_zero && code == EXIT_NO_FIT { EXIT_OK } else { code }))
}

/// Starts the thread pool, of one thread where the system refuses more. rayon would start it at first use and panic.
fn start_threads() -> Result<(), Failure> {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads);
    // 0 is a thread for each processor. The global pool can be tried once only.
    let threads = usize::from(pool(0).build().is_err());
    pool(threads).build_global().map_err(|error| Failure::source(format!("cannot start threads: {error}")))
}

/// Opens the start screen; without a terminal, prints the help.
fn start_screen(no_color: bool) -> ExitCode {
    if output::standard_input_is_terminal() && output::standard_output_is_terminal() {
        return ended(start_threads().and_then(|()| explore::choose(no_color)));
    }
    let help = Cli::command().render_help().to_string();
    output::say_all(&help.lines().map(str::to_owned).collect());
    ExitCode::from(EXIT_USAGE)
}

fn ended(result: Result<u8, Failure>) -> ExitCode {
    if let Some(why) = crate::app::take_log_failure() {
        output::say(crate::app::Log::Failed(why).words());
    }
    match result {
        Ok(code) => match extenders::broken_recording() {
            Some(why) => {
                output::say(format!("schedscope: {why}"));
                ExitCode::from(EXIT_SOURCE)
            }
            None => ExitCode::from(code),
        },
        Err(failure) => {
            if let Some(why) = extenders::broken_recording() {
                output::say(format!("schedscope: {why}"));
            }
            let code = failure.kind.code();
            let mut message = failure.lines();
            if let Some(first) = message.first_mut() {
                first.insert_str(0, "schedscope: ");
            }
            output::say_all(&message.into_iter().collect());
            ExitCode::from(code)
        }
    }
}

fn list_stories() -> Result<u8, Failure> {
    let stories = STORIES.iter().map(|s| (s.name, s.title)).chain([("learn", "a tour of ten screens on the demo payments")]);
    print(&stories.map(|(name, title)| format!("{name:<12} {title}")).collect::<Lines>().into())
}

/// Writes an answer to standard output.
fn print(text: &Text) -> Result<u8, Failure> {
    output::print(text).map(|_| EXIT_OK).map_err(Failure::standard_output)
}

/// Writes an answer to the file that is named for it, or else to standard output.
fn write_answer(text: &Text, to: &OutputFileArgs) -> Result<u8, Failure> {
    let Some(path) = &to.output_file else { return print(text) };
    output::replace(path, |file| file.write_all(text.as_str().as_bytes()))
        .map(|()| EXIT_OK)
        .map_err(|error| Failure::source(format!("{}: {error}", path.display())))
}

/// Returns an object with the fields that scheduling does not read; `None` where its source can be read once only.
fn original(loaded: &Loaded, kind: Kind, key: &Key) -> Option<serde_json::Value> {
    let text = loaded.report.original(kind, key).ok().flatten()?;
    source::as_json(&text, kind, key)
}

fn story(name: &str) -> Result<&'static Story, Failure> {
    let names = || STORIES.iter().map(|s| s.name);
    Story::named(name).ok_or_else(|| {
        let all = names().collect::<Vec<_>>().join(", ");
        Failure::usage(format!("there is no demo {name:?}; choose one of {all}")).with_nearest(nearest(name, names()))
    })
}

/// Returns the exit code of an answer: that of the source where nodes or pods are not known, or in part only.
fn code(code: u8, scheduler: &Scheduler) -> u8 {
    if scheduler.state().cluster().unknown.decides_on_part() { EXIT_SOURCE } else { code }
}

/// Returns the kinds that could not be read, or not whole, under a heading; empty if there are none.
fn unread(scheduler: &Scheduler) -> Document {
    section("Unknown", crate::analysis::unread_sentences(scheduler.state().cluster().unknown))
}

/// Returns the lines about completeness, under a heading.
fn completeness(loaded: &Loaded) -> Document {
    section("Source", crate::report::completeness(&loaded.report))
}

/// Returns lines under a heading, after an empty line.
fn section(heading: &str, lines: impl IntoIterator<Item = String>) -> Document {
    let mut section = Document::default();
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        section.heading(2, heading);
        lines.for_each(|line| section.item(2, line));
    }
    section
}
