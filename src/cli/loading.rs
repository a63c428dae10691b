//! Loading, the same for every command and for the explorer: reading of sources, and a scheduler that has just started on what was read,
//! with its release, configuration, extenders and log.
//!
//! | step | by |
//! | --- | --- |
//! | inputs are read, and how far is shown | [`read_inputs`] |
//! | diagnostics go to the audience | [`tell`] |
//! | a source without pods is refused, for a decision also one without nodes | [`judgeable`], [`with_nodes`] |
//! | the scheduler's log is read, the release chosen, the configuration read, extenders are set up, the scheduler starts | [`begin`] |
//!
//! [`Audience`] is the only difference: an answer's is standard error, the explorer's its loading screen.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::args::{ClusterArgs, ConnectArgs, SchedulerArgs, SourceArgs};
use super::progress::Showing;
use super::{Failure, dumps, emulate, extenders, history, live, opening, scheduler_log, story};
use crate::analysis::{LogReport, Missing};
use crate::app::Watch;
use crate::cluster::Kind;
use crate::limits::sessions::CONFIGURATION;
use crate::output::{self, Lines};
use crate::release::{Emulation, FeatureGates, Profile};
use crate::scheduler::{Config, Evictions, InitialQueues, Options, Sampling, Scheduler};
use crate::session::{Session, objects_in_order};
use crate::source::{self, Input, Limits, Loaded, Progress, SavedConfiguration, ServerVersion, Severity, VersionPlace};

/// The place where the progress and the lines of a load go.
pub(super) trait Audience {
    /// Shows how far reading is, until the result is dropped.
    fn reading(&self, progress: &Arc<Progress>) -> Showing;

    /// Shows that the scheduler is being built.
    fn building(&self) {}

    /// Takes a line about the source, the log or the release.
    fn say(&self, line: String);
}

/// Standard error: gets the lines, and the progress if it is a terminal.
pub(super) struct StandardError;

impl Audience for StandardError {
    fn reading(&self, progress: &Arc<Progress>) -> Showing {
        Showing::on_terminal(progress, |progress| format!(", {} objects", progress.objects()))
    }

    fn say(&self, line: String) {
        output::say(line);
    }
}

/// Shows nothing.
pub(super) struct Silent;

impl Audience for Silent {
    fn reading(&self, _: &Arc<Progress>) -> Showing {
        Showing::default()
    }

    fn say(&self, _: String) {}
}

impl Audience for Watch {
    fn reading(&self, progress: &Arc<Progress>) -> Showing {
        Self::reading(self, Arc::clone(progress));
        Showing::default()
    }

    fn building(&self) {
        Self::building(self);
    }

    fn say(&self, line: String) {
        Self::say(self, line);
    }
}

pub(super) fn read_inputs(inputs: &[Input], limits: &Limits, audience: &dyn Audience) -> Loaded {
    let begin = Instant::now();
    let progress = Arc::new(Progress::default());
    let shown = audience.reading(&progress);
    let loaded = source::load_watched(inputs, limits, &progress);
    drop(shown);
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

/// Gives the diagnostics, without notes, to the audience.
pub(super) fn tell(loaded: &Loaded, audience: &dyn Audience) {
    for diagnostic in loaded.diagnostics.iter().filter(|d| d.severity != Severity::Note) {
        audience.say(diagnostic.to_string());
    }
}

/// Returns the input that a path on the command line names: `-` is standard input.
pub(super) fn input(path: impl AsRef<Path>) -> Input {
    let path = path.as_ref();
    if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path.to_path_buf()) }
}

/// Loads inputs. Diagnostics go to standard error.
pub(super) fn load(inputs: &[Input], limits: &Limits) -> Result<Loaded, Failure> {
    let loaded = read_inputs(inputs, limits, &StandardError);
    some_object(&loaded, &StandardError)?;
    judgeable(loaded)
}

/// Gives the diagnostics to the audience. Fails if no object could be read.
pub(super) fn some_object(loaded: &Loaded, audience: &dyn Audience) -> Result<(), Failure> {
    tell(loaded, audience);
    if loaded.objects.is_empty() { Err(Failure::source("nothing could be read")) } else { Ok(()) }
}

/// Fails if reading pods was refused: nothing can be said without them. Without nodes, something can.
pub(super) fn judgeable(loaded: Loaded) -> Result<Loaded, Failure> {
    if loaded.report.withheld().contains(&Kind::Pod) { with_nodes(loaded) } else { Ok(loaded) }
}

/// Fails if reading nodes or pods was refused: no decision is possible without them.
pub(super) fn with_nodes(loaded: Loaded) -> Result<Loaded, Failure> {
    let withheld = loaded.report.withheld();
    if withheld.is_empty() {
        return Ok(loaded);
    }
    let of = |missing: &&Missing| withheld.contains(&missing.kind);
    let sentences: Vec<String> = Missing::all(loaded.report.missing()).iter().filter(of).map(Missing::sentence).collect();
    Err(Failure::source(sentences.join(" ")))
}

/// Loads the source that a command names. Diagnostics go to standard error.
pub(super) fn read(source: &SourceArgs, connect: &ConnectArgs, limits: &Limits) -> Result<Loaded, Failure> {
    let inputs = match &source.demo {
        Some(name) => vec![story(name)?.input()],
        None => source.from.iter().map(input).collect(),
    };
    if inputs.is_empty() {
        let (_, loaded) = live::first(connect)?;
        tell(&loaded, &StandardError);
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
pub(super) fn one_state(args: &ClusterArgs, scheduler: &SchedulerArgs, merge: bool) -> Result<Loaded, Failure> {
    let (connect, limits) = (args.connect.with_log(scheduler, args.source.is_live())?, args.limits.limits());
    if !merge {
        dumps::refuse_series(&args.source.from, &|inputs| read_inputs(inputs, &limits, &StandardError))?;
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

/// Returns a scheduler that has just started on the loaded objects. Takes objects and events out of `loaded`. The
/// audience gets the lines about the emulated release.
pub(super) fn scheduler(
    args: &SchedulerArgs,
    loaded: &mut Loaded,
    evictions: Evictions,
    audience: &dyn Audience,
) -> Result<Scheduler, Failure> {
    audience.building();
    let release = emulate::choose(args.emulate, loaded);
    if let Some(line) = emulate::substitution(release) {
        audience.say(line);
    }
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
    let source_bytes = Some(loaded.report.bytes);
    let options = Options { start, sampling, evictions, queues, events, unknown, release, source_bytes };
    let objects = std::mem::take(&mut loaded.objects);
    // Run on a pool thread: the allocator's arenas of those threads hold the memory that decoding freed.
    Ok(rayon::join(move || Scheduler::new(config, objects, options), || ()).0)
}

/// Reads the scheduler's log, and returns a scheduler that has just started on the loaded objects: what every command does between
/// a source and its answer. The audience gets the findings about the log and the lines about the emulated release.
pub(super) fn begin(
    args: &SchedulerArgs,
    loaded: &mut Loaded,
    limits: &Limits,
    evictions: Evictions,
    audience: &dyn Audience,
) -> Result<Scheduler, Failure> {
    audience.building();
    scheduler_log::read_log(args, loaded, limits, audience)?;
    scheduler(args, loaded, evictions, audience)
}

/// Reads the named configuration, or the one that the source or its log carries, or returns the defaults, as the release
/// reads them.
pub(super) fn config(args: &SchedulerArgs, loaded: &Loaded, release: &'static Profile) -> Result<Config, Failure> {
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
pub(super) fn open_ordinary(path: &Path) -> io::Result<File> {
    let is_open = ["/dev/fd", "/proc/self/fd", "/dev/stdin"].iter().any(|open| path.starts_with(open));
    if !is_open && !path.metadata()?.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    File::open(path)
}
