//! The command line: arguments, subcommands, exit codes.

mod args;
mod emulate;
mod explain;
mod explore;
mod info;
mod live;
mod log;
mod opening;
mod run;
mod start;
mod suggest;

use args::ConnectArgs;
pub use args::{Cli, Command, Queues, SchedulerArgs, SourceArgs};
use emulate::Emulate;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::CommandFactory as _;

use crate::app::AppError;
use crate::release::{Emulation, FeatureGates, Profile};
use crate::report::Missing;
use crate::scheduler::{Config, Evictions, Options, Sampling, Scheduler, Waiting};
use crate::source::{self, Diagnostic, Input, Limits, Loaded, Progress, STORIES, Severity, Story};

/// The pod fits, or the command did its job.
pub const EXIT_OK: u8 = 0;
/// The pod does not fit.
pub const EXIT_NO_FIT: u8 = 1;
/// Wrong usage.
pub const EXIT_USAGE: u8 = 2;
/// The source could not be read, or the cluster could not be reached.
pub const EXIT_SOURCE: u8 = 3;

/// Why a command ended without an answer, and the exit code that says so.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What to tell the user.
    pub message: String,
}

impl Failure {
    fn usage(message: impl Into<String>) -> Self {
        Self { code: EXIT_USAGE, message: message.into() }
    }

    fn source(message: impl Into<String>) -> Self {
        Self { code: EXIT_SOURCE, message: message.into() }
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        Self::usage(error.to_string())
    }
}

/// As a plugin of kubectl (`kubectl-schedscope` on the PATH) the program shows the live cluster unless it is asked for
/// something else: `kubectl schedscope --context prod` is `schedscope live --context prod`.
pub fn as_plugin(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let plugin = arguments.first().and_then(|name| Path::new(name).file_stem()).is_some_and(|name| name == "kubectl-schedscope");
    let first = arguments.get(1).map(|a| a.to_string_lossy().into_owned());
    let about_itself = ["-h", "--help", "-V", "--version"];
    let asks = first.is_some_and(|first| !first.starts_with('-') || about_itself.contains(&first.as_str()));
    if plugin && !asks {
        arguments.insert(1, "live".into());
    }
    arguments
}

/// Runs a command; answers go to standard output, diagnostics to standard error.
pub fn run(cli: Cli) -> ExitCode {
    let Some(command) = cli.command else { return start_screen(cli.no_color) };
    let result = match command {
        Command::Demo(args) if args.list => list_stories(),
        Command::Demo(args) => explore::demo(&args, cli.no_color),
        Command::Open(args) => explore::open(&args, cli.no_color),
        Command::Live(args) => explore::live(&args, cli.no_color),
        Command::Capture(args) => live::capture(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "schedscope", &mut std::io::stdout());
            Ok(EXIT_OK)
        }
        Command::Info(args) => info::run(&args),
    };
    ended(result)
}

/// The start screen; without a terminal for it, the help.
fn start_screen(no_color: bool) -> ExitCode {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return ended(explore::choose(no_color));
    }
    eprint!("{}", Cli::command().render_help());
    ExitCode::from(EXIT_USAGE)
}

fn ended(result: Result<u8, Failure>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("schedscope: {failure}");
            ExitCode::from(failure.code)
        }
    }
}

fn list_stories() -> Result<u8, Failure> {
    print(&STORIES.iter().map(|s| format!("{:<12} {}\n", s.name, s.title)).collect::<String>())
}

/// Writes an answer to standard output.
fn print(text: &str) -> Result<u8, Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        // A reader that goes away is no error.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::source(format!("standard output: {error}"))),
        _ => Ok(EXIT_OK),
    }
}

/// Returns the release of the cluster, and says where it was found.
fn detected(loaded: &Loaded, say: &dyn Fn(String)) -> &'static Profile {
    let found = emulate::detect(&loaded.objects);
    let profile = emulate::profile(found.map(|found| found.release));
    say(match found {
        Some(found) => format!("emulates kube-scheduler {}: {} is {}", profile.release, found.source, found.release),
        None => format!("emulates kube-scheduler {}: the source does not show a version", profile.release),
    });
    found.and_then(|found| emulate::substitution(found.release)).into_iter().for_each(say);
    profile
}

/// Reads the configuration that a command names, or the one that its source carries, or takes the defaults. `say` gets
/// lines about the release that is emulated.
fn config(args: &SchedulerArgs, loaded: &Loaded, say: &dyn Fn(String)) -> Result<Config, Failure> {
    let release = match args.emulate {
        None => emulate::profile(None),
        Some(Emulate::Release(release)) => {
            emulate::substitution(release).into_iter().for_each(say);
            emulate::profile(Some(release))
        }
        Some(Emulate::Auto) => detected(loaded, say),
    };
    let gates = FeatureGates::parse(args.feature_gates.as_deref().unwrap_or(""), release);
    let gates = gates.map_err(|e| Failure::usage(format!("--feature-gates: {e}")))?;
    let emulation = Emulation::new(release, gates);
    let (name, text) = if let Some(path) = &args.config {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Failure::usage(format!("{name}: {e}")))?;
        (name, text)
    } else if args.config_from_dump {
        let found = loaded.report.scheduler.iter().find_map(|hint| Some((hint.place.clone(), hint.config.clone()?)));
        found.ok_or_else(|| Failure::usage("--config-from-dump: the source carries no KubeSchedulerConfiguration"))?
    } else {
        return Ok(Config::defaults(emulation));
    };
    Config::parse(&text, emulation).map_err(|e| {
        let lines: Vec<String> = e.to_string().lines().map(|line| format!("{name}: {line}")).collect();
        Failure::usage(lines.join("\n"))
    })
}

/// Loads what a command names; diagnostics go to standard error.
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
        return Err(Failure::usage("--kubeconfig, --context and --only-namespace are for live clusters, and this is none"));
    }
    load(&inputs, limits)
}

fn story(name: &str) -> Result<&'static Story, Failure> {
    let names = || STORIES.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
    Story::named(name).ok_or_else(|| {
        let meant =
            suggest::nearest(name, STORIES.iter().map(|s| s.name)).map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
        Failure::usage(format!("there is no story {name:?}; there are {}{meant}", names()))
    })
}

/// Loads what a command names; diagnostics go to standard error.
fn load(inputs: &[Input], limits: &Limits) -> Result<Loaded, Failure> {
    let loaded = watched(inputs, limits);
    tell(&loaded);
    if loaded.objects.is_empty() {
        return Err(Failure::source("nothing could be read"));
    }
    judgeable(loaded)
}

/// Refuses a source in which nothing can be judged, because nodes or pods were asked for and not given.
fn judgeable(loaded: Loaded) -> Result<Loaded, Failure> {
    let withheld = loaded.report.withheld();
    if withheld.is_empty() {
        return Ok(loaded);
    }
    let of = |missing: &&Missing| withheld.contains(&missing.kind);
    let sentences: Vec<String> = Missing::all(loaded.report.missing()).iter().filter(of).map(Missing::sentence).collect();
    Err(Failure::source(sentences.join(" ")))
}

/// Diagnostics go to standard error.
fn tell(loaded: &Loaded) {
    for diagnostic in worth_telling(loaded) {
        eprintln!("{diagnostic}");
    }
}

fn worth_telling(loaded: &Loaded) -> impl Iterator<Item = &Diagnostic> {
    loaded.diagnostics.iter().filter(|d| d.severity != Severity::Note)
}

/// Loads, and says on a terminal how far it has got once that takes more than half a second. Ctrl-C stops it as it stops
/// any command.
fn watched(inputs: &[Input], limits: &Limits) -> Loaded {
    let begin = Instant::now();
    let progress = Arc::new(Progress::default());
    let loaded = watched_by(inputs, limits, &progress);
    log_read(inputs, &loaded, progress.bytes(), begin.elapsed());
    loaded
}

/// Logs what was read, and how long that took.
fn log_read(inputs: &[Input], loaded: &Loaded, bytes: u64, took: Duration) {
    let (objects, events, diagnostics) = (loaded.objects.len(), loaded.events.len(), loaded.diagnostics.len());
    let names = inputs.iter().map(|input| match input {
        Input::Path(path) => path.display().to_string(),
        Input::Stdin => "-".to_owned(),
        Input::Bytes { name, .. } => name.clone(),
    });
    let source = names.collect::<Vec<_>>().join(" ");
    let milliseconds = took.as_millis();
    tracing::info!(source, bytes, objects, events, diagnostics, milliseconds, "read");
}

fn watched_by(inputs: &[Input], limits: &Limits, progress: &Arc<Progress>) -> Loaded {
    if !std::io::stderr().is_terminal() {
        return source::load_watched(inputs, limits, progress);
    }
    let (done, finished) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut wait = FIRST_PROGRESS;
            let mut shown = false;
            while finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let megabytes = progress.bytes() / 1_000_000;
                eprint!("\r\x1b[Kreading {}: {megabytes} MB, {} objects so far", progress.file(), progress.objects());
                (wait, shown) = (NEXT_PROGRESS, true);
            }
            if shown {
                eprint!("\r\x1b[K");
            }
        });
        let loaded = source::load_watched(inputs, limits, progress);
        drop(done);
        loaded
    })
}

/// A load that takes less time says nothing.
const FIRST_PROGRESS: Duration = Duration::from_millis(400);
const NEXT_PROGRESS: Duration = Duration::from_millis(100);

/// Returns a scheduler that has just started on what was loaded; objects and events are taken out of it. `say` gets lines
/// about the release that is emulated.
fn scheduler(args: &SchedulerArgs, loaded: &mut Loaded, evictions: Evictions, say: &dyn Fn(String)) -> Result<Scheduler, Failure> {
    let config = config(args, loaded, say)?;
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, all_nodes: args.all_nodes, ..Sampling::default() };
    let start = args.start.or(loaded.report.newest).unwrap_or_default();
    let waiting = match args.queues.unwrap_or_default() {
        Queues::Fresh => Waiting::Fresh,
        Queues::Observed => Waiting::AsObserved(std::mem::take(&mut loaded.events)),
    };
    let unknown = loaded.report.missing();
    let options = Options { start, sampling, evictions, waiting, unknown };
    let objects = std::mem::take(&mut loaded.objects);
    // On a thread that decoded: the memory that decoding left free belongs to the allocator's arenas of those threads.
    Ok(rayon::join(move || Scheduler::new(config, objects, options), || ()).0)
}

/// What the source held and lacked, for reading.
fn completeness(loaded: &Loaded) -> String {
    let lines: String = crate::report::completeness(&loaded.report).lines().map(|l| format!("  {l}\n")).collect();
    format!("\nSOURCE\n{lines}")
}
