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
mod log;
mod man;
mod manifest;
mod manual;
mod opening;
mod placed;
mod record;
mod reproduce;
mod run;
mod scheduler_log;
mod schema;
mod start;
mod watch;
mod what_if;
mod workload;

pub use args::{Cli, Command, SchedulerArgs, SourceArgs};
use args::{ClusterArgs, ConnectArgs, OutputFileArgs};
pub use failure::{Failure, FailureKind, Hint};
pub use kubectl::as_plugin;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::CommandFactory as _;

use crate::analysis::{LogReport, Missing};
use crate::cluster::{Key, Kind};
use crate::limits::sessions::CONFIGURATION;
use crate::output::{self, Document, Lines, Status, Text};
use crate::release::{Emulation, FeatureGates, Profile};
use crate::scheduler::{Config, Evictions, InitialQueues, Options, Sampling, Scheduler};
use crate::session::{Session, objects_in_order};
use crate::source::{
    self, Diagnostic, Input, Limits, Loaded, Progress, STORIES, SavedConfiguration, ServerVersion, Severity, Story, VersionPlace,
};
use crate::suggest::nearest;

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
    output::print(text).map(|()| EXIT_OK).map_err(Failure::standard_output)
}

/// Writes an answer to the file that is named for it, or else to standard output.
fn write_answer(text: &Text, to: &OutputFileArgs) -> Result<u8, Failure> {
    let Some(path) = &to.output_file else { return print(text) };
    output::replace(path, |file| file.write_all(text.as_str().as_bytes()))
        .map(|()| EXIT_OK)
        .map_err(|error| Failure::source(format!("{}: {error}", path.display())))
}

/// Reads the named configuration, or the one that the source or its log carries, or returns the defaults, as the release
/// reads them.
fn config(args: &SchedulerArgs, loaded: &Loaded, release: &'static Profile) -> Result<Config, Failure> {
    let gates = FeatureGates::parse(args.feature_gates.as_deref().unwrap_or(""), release);
    let gates = gates.map_err(|e| Failure::usage(format!("--feature-gates: {e}")))?;
    let emulation = Emulation::new(release, gates);
    let (name, text) = if let Some(path) = &args.config {
        let name = path.display().to_string();
        let text = text(path).map_err(|e| Failure::usage(format!("{name}: {e}")))?;
        (name, text)
    } else if args.config_from_log {
        let log = loaded.scheduler_log.as_deref().and_then(|log| LogReport::new(log, None));
        let log = log.ok_or_else(|| Failure::usage("--config-from-log: no kube-scheduler log is given; name one with --scheduler-log"))?;
        let words = "--config-from-log: the log does not contain the configuration, which kube-scheduler logs when it starts, from -v=2 on";
        let (text, shown) = log.configuration().ok_or_else(|| Failure::usage(words))?;
        if args.feature_gates.is_none() && !shown.is_empty() {
            let gates = FeatureGates::parse(&shown, release).map_err(|e| Failure::usage(format!("--config-from-log: {e}")))?;
            return parsed_config("the scheduler's log", text, Emulation::new(release, gates));
        }
        ("the scheduler's log".to_owned(), text.to_owned())
    } else if args.config_from_dump {
        let found = loaded.report.scheduler.iter().find_map(|hint| Some((hint.place.clone(), hint.config.clone()?)));
        found.ok_or_else(|| Failure::usage("--config-from-dump: the source contains no KubeSchedulerConfiguration"))?
    } else if let Some(saved) = &loaded.configuration {
        let gates = if args.feature_gates.is_some() { Ok(gates) } else { FeatureGates::parse(&saved.feature_gates, release) };
        let gates = gates.map_err(|e| Failure::usage(format!("{}: {e}", saved.name)))?;
        let emulation = Emulation::new(release, gates);
        return saved.text.as_ref().map_or_else(|| Ok(Config::defaults(emulation)), |text| parsed_config(&saved.name, text, emulation));
    } else {
        return Ok(Config::defaults(emulation));
    };
    parsed_config(&name, &text, emulation)
}

fn parsed_config(name: &str, text: &str, emulation: Emulation) -> Result<Config, Failure> {
    Config::parse(text, emulation).map_err(|e| {
        let mut lines: Lines = e.distinct().map(|error| format!("{name}: {error}")).collect();
        lines.line(format_args!("(validated as by kube-scheduler {}; --emulate selects another version)", emulation.release()));
        Failure::usage(lines)
    })
}

/// Returns the text of a configuration, which is a regular file or a pipe that a shell has opened.
fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = open_ordinary(path)?.take(CONFIGURATION + 1).read_to_string(&mut text)?;
    if read as u64 > CONFIGURATION {
        return Err(io::Error::other(format!("is longer than {} MiB", CONFIGURATION >> 20)));
    }
    Ok(text)
}

/// Opens a file that a user names. Refuses devices, and pipes that may have no writer: those of no process substitution.
fn open_ordinary(path: &Path) -> io::Result<File> {
    let is_open = ["/dev/fd", "/proc/self/fd", "/dev/stdin"].iter().any(|open| path.starts_with(open));
    if !is_open && !path.metadata()?.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    File::open(path)
}

/// Loads the source that a command names. Diagnostics go to standard error.
fn read(source: &SourceArgs, connect: &ConnectArgs, limits: &Limits) -> Result<Loaded, Failure> {
    let inputs = match &source.demo {
        Some(name) => vec![story(name)?.input()],
        None => source.from.iter().map(|path| if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path.clone()) }).collect(),
    };
    if inputs.is_empty() {
        let (_, loaded) = live::first(connect)?;
        tell(&loaded);
        return judgeable(loaded);
    }
    if connect.is_given() {
        return Err(Failure::usage("--kubeconfig, --context and --only-namespace need a live cluster, without --from or --demo"));
    }
    if let [path] = &source.from[..]
        && let Some(session) = opening::saved_session(path)?
    {
        return judgeable(of_session(&session, path.display().to_string()));
    }
    load(&inputs, limits)
}

/// Loads one state of a cluster, with its nodes. Dumps of different times are refused unless they are to be merged.
fn one_state(args: &ClusterArgs, scheduler: &SchedulerArgs, merge: bool) -> Result<Loaded, Failure> {
    let (connect, limits) = (args.connect.with_log(scheduler, args.source.is_live())?, args.limits.limits());
    if !merge {
        dumps::refuse_series(&args.source.from, &|inputs| watched(inputs, &limits))?;
    }
    with_nodes(history::read_source(&args.source, &connect, &limits, args.moment.at)?)
}

/// Returns the cluster at the start of a saved session, with its configuration, release, time and unknown kinds.
fn of_session(session: &Session, name: String) -> Loaded {
    let scheduler = session.scheduler_at_start();
    let config = scheduler.state().config();
    let mut loaded = Loaded {
        objects: objects_in_order(scheduler),
        events: session.background().events.clone(),
        neighbors: session.background().neighbors.clone(),
        configuration: Some(SavedConfiguration {
            name: name.clone(),
            text: config.text().map(str::to_owned),
            feature_gates: config.emulation.gate_changes(),
        }),
        ..Loaded::default()
    };
    for object in &loaded.objects {
        loaded.report.kinds.entry(object.kind()).or_default().read += 1;
    }
    loaded.report.set_missing(scheduler.options().unknown);
    loaded.report.newest = Some(scheduler.options().start);
    let version = config.emulation.release().to_string();
    loaded.report.server_version = Some(ServerVersion { version, found_in: VersionPlace::File(name) });
    loaded
}

/// Returns an object with the fields that scheduling does not read; `None` where its source can be read once only.
fn original(loaded: &Loaded, kind: Kind, key: &Key) -> Option<serde_json::Value> {
    let text = loaded.report.original(kind, key).ok().flatten()?;
    serde_yaml::from_str(&source::as_yaml(&text, kind, key)?).ok()
}

fn story(name: &str) -> Result<&'static Story, Failure> {
    let names = || STORIES.iter().map(|s| s.name);
    Story::named(name).ok_or_else(|| {
        let all = names().collect::<Vec<_>>().join(", ");
        Failure::usage(format!("there is no demo {name:?}; choose one of {all}")).with_nearest(nearest(name, names()))
    })
}

/// Loads inputs. Diagnostics go to standard error.
fn load(inputs: &[Input], limits: &Limits) -> Result<Loaded, Failure> {
    let loaded = watched(inputs, limits);
    tell(&loaded);
    if loaded.objects.is_empty() {
        return Err(Failure::source("nothing could be read"));
    }
    judgeable(loaded)
}

/// Fails if reading pods was refused: nothing can be said without them. Without nodes, something can.
fn judgeable(loaded: Loaded) -> Result<Loaded, Failure> {
    if loaded.report.withheld().contains(&Kind::Pod) { with_nodes(loaded) } else { Ok(loaded) }
}

/// Fails if reading nodes or pods was refused: no decision is possible without them.
fn with_nodes(loaded: Loaded) -> Result<Loaded, Failure> {
    let withheld = loaded.report.withheld();
    if withheld.is_empty() {
        return Ok(loaded);
    }
    let of = |missing: &&Missing| withheld.contains(&missing.kind);
    let sentences: Vec<String> = Missing::all(loaded.report.missing()).iter().filter(of).map(Missing::sentence).collect();
    Err(Failure::source(sentences.join(" ")))
}

/// Prints the diagnostics, without notes, to standard error.
fn tell(loaded: &Loaded) {
    for diagnostic in worth_telling(loaded) {
        output::say(diagnostic);
    }
}

fn worth_telling(loaded: &Loaded) -> impl Iterator<Item = &Diagnostic> {
    loaded.diagnostics.iter().filter(|d| d.severity != Severity::Note)
}

/// Loads inputs and shows progress on a terminal once that takes longer than `FIRST_PROGRESS`.
fn watched(inputs: &[Input], limits: &Limits) -> Loaded {
    let begin = Instant::now();
    let progress = Arc::new(Progress::default());
    let loaded = watched_by(&progress, true, || source::load_watched(inputs, limits, &progress));
    log_read(inputs, &loaded, progress.bytes(), begin.elapsed());
    loaded
}

/// Logs the inputs, the counts of what was read, and the time taken.
fn log_read(inputs: &[Input], loaded: &Loaded, bytes: u64, took: Duration) {
    let (objects, events, diagnostics) = (loaded.objects.len(), loaded.events.len(), loaded.diagnostics.len());
    let names = inputs.iter().map(|input| match input {
        Input::Path(path) => path.display().to_string(),
        Input::Stdin => "-".to_owned(),
        Input::Bytes { name, .. } | Input::Text { name, .. } => name.clone(),
    });
    let source = names.collect::<Vec<_>>().join(" ");
    let milliseconds = took.as_millis();
    tracing::info!(source, bytes, objects, events, diagnostics, milliseconds, "read");
}

/// Reads while a thread shows progress on the terminal. `objects` adds the count of objects to the line.
fn watched_by<T>(progress: &Arc<Progress>, objects: bool, read: impl FnOnce() -> T) -> T {
    if !output::standard_error_is_terminal() {
        return read();
    }
    let (done, finished) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watcher = move || {
            let mut wait = FIRST_PROGRESS;
            let mut status = Status::default();
            while finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let megabytes = progress.bytes() / 1_000_000;
                let objects = if objects { format!(", {} objects", progress.objects()) } else { String::new() };
                status.show(format_args!("reading {}: {megabytes} MB{objects} so far", progress.file()));
                wait = NEXT_PROGRESS;
            }
        };
        // Without a thread to spare, read without showing progress.
        let _ = std::thread::Builder::new().spawn_scoped(scope, watcher);
        let loaded = read();
        drop(done);
        loaded
    })
}

/// Delay before the first progress line: shorter loads print nothing.
const FIRST_PROGRESS: Duration = Duration::from_millis(400);
const NEXT_PROGRESS: Duration = Duration::from_millis(100);

/// Returns a scheduler that has just started on the loaded objects. Takes objects and events out of `loaded`. `say` gets
/// the lines about the emulated release.
fn scheduler(args: &SchedulerArgs, loaded: &mut Loaded, evictions: Evictions, say: &dyn Fn(String)) -> Result<Scheduler, Failure> {
    let release = emulate::choose(args.emulate, loaded);
    emulate::substitution(release).into_iter().for_each(say);
    let config = config(args, loaded, release.profile())?;
    let config = extenders::asked(args, config, &loaded.report)?;
    let sampling = Sampling {
        percentage: config.percentage_of_nodes_to_score,
        all_nodes: args.all_nodes,
        dry_run_offset: args.dry_run_offset.unwrap_or(0) as usize,
    };
    let start = args.start.or(loaded.report.newest).unwrap_or_default();
    let queues = args.start_queues();
    let events = if queues == InitialQueues::AsObserved { std::mem::take(&mut loaded.events) } else { Vec::new() };
    let unknown = loaded.report.missing_for(config.emulation.gated_kinds());
    let options = Options { start, sampling, evictions, queues, events, unknown, release };
    let objects = std::mem::take(&mut loaded.objects);
    // Run on a pool thread: the allocator's arenas of those threads hold the memory that decoding freed.
    Ok(rayon::join(move || Scheduler::new(config, objects, options), || ()).0)
}

/// Reads the scheduler's log, and returns a scheduler that has just started on the loaded objects: what every command does between
/// a source and its answer. `say` gets the findings about the log and the lines about the emulated release.
fn begin(
    args: &SchedulerArgs,
    loaded: &mut Loaded,
    limits: &Limits,
    evictions: Evictions,
    say: &dyn Fn(String),
) -> Result<Scheduler, Failure> {
    scheduler_log::read_log(args, loaded, limits, say)?;
    scheduler(args, loaded, evictions, say)
}

/// Returns the exit code of an answer: that of the source where nodes or pods are known in part only.
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
