//! Connections to live clusters, `schedscope capture`, and the first read of a live cluster.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::args::{CaptureArgs, ConnectArgs, SchedulerArgs};
use super::{Audience, EXIT_OK, EXIT_SOURCE, Failure, StandardError};
use crate::app::{self, Console};
use crate::cluster::{Key, Object};
use crate::limits::live::{LOG_READ, NEIGHBORS_ASKED};
use crate::output::{self, Status};
use crate::scheduler_log::SchedulerLog;
use crate::source::Loaded;
use crate::source::live::{ConnectOptions, Live, NeighborsQuestion, State, Waiting, Waits, connect, may_ask, runs_scheduler};

/// Interval between progress lines on a terminal.
const TELL: Duration = Duration::from_millis(200);

/// Interval between checks for the first complete read.
const LOOK: Duration = Duration::from_millis(50);

/// Writes a cluster to a dump.
pub(super) fn capture(args: &CaptureArgs) -> Result<u8, Failure> {
    if !args.merge {
        let limits = args.cluster.limits.limits();
        super::dumps::refuse_series(&args.cluster.source.from, &|inputs| super::read_inputs(inputs, &limits, &StandardError))?;
    }
    let read =
        super::history::read_source(&args.cluster.source, &args.cluster.connect, &args.cluster.limits.limits(), args.cluster.moment.at)?;
    let mut loaded = super::with_nodes(read)?;
    add_neighbors(&mut loaded, |_| Some(NeighborsQuestion::all(None, NEIGHBORS_ASKED)));
    let path = args.file.as_ref().or(args.output.as_ref()).map(|path| path.display().to_string()).unwrap_or_default();
    let (version, unknown) = (app::known_version(&loaded.report), app::unknown_kinds(&loaded.report));
    let said = app::capture(&loaded.cluster(), (&loaded.events, &loaded.neighbors), version.as_deref(), &unknown, &path, args.redact)
        .map_err(|error| Failure::source(error.to_string()))?;
    output::say(said);
    // The capture says what is unknown, as its reader does.
    Ok(if loaded.report.missing().decides_on_part() { EXIT_SOURCE } else { EXIT_OK })
}

/// Connects, lists every kind once, and returns the objects.
pub(super) fn first(args: &ConnectArgs) -> Result<(Arc<Live>, Loaded), Failure> {
    let waits = Waits::default();
    let live = with_progress(&waits, || connect_to(args, false, &waits))?;
    let mut loaded = None;
    tell_until(&live, || {
        loaded = live.wait_first(Some(soon()));
        loaded.is_some()
    });
    let mut loaded = loaded.ok_or_else(|| Failure::source("the cluster could not be read"))?;
    loaded.report.again = Some(live.clone());
    if args.scheduler_log {
        loaded.scheduler_log = Some(Arc::new(scheduler_log(&live, &loaded, false, &StandardError)?));
    }
    Ok((live, loaded))
}

/// Adds the objects and events that scheduling does not read, as far as a question about a live cluster needs them.
pub(super) fn add_neighbors(loaded: &mut Loaded, question: impl FnOnce(&Loaded) -> Option<NeighborsQuestion>) {
    let Some(again) = loaded.report.again.clone() else { return };
    if let Some(found) = question(loaded).and_then(|question| again.neighbors(&question)) {
        Arc::make_mut(&mut loaded.neighbors).extend(found);
    }
}

impl ConnectArgs {
    /// Returns these arguments with the right to read the scheduler's log if `--scheduler-log live` asks for it.
    pub(super) fn with_log(&self, scheduler: &SchedulerArgs, is_live: bool) -> Result<Self, Failure> {
        let asks = scheduler.asks_for_live_log();
        if asks && !is_live {
            return Err(Failure::usage("--scheduler-log live needs a live cluster; to read a file called live, write ./live"));
        }
        if asks && scheduler.scheduler_log.len() > 1 {
            return Err(Failure::usage("--scheduler-log live cannot be combined with log files"));
        }
        Ok(Self { scheduler_log: asks, ..self.clone() })
    }
}

/// Reads the log of a live cluster's scheduler up to its present end, and follows it if asked to. Every replica's log is
/// read: it shows which of them leads. The audience gets the troubles with single replicas.
pub(super) fn scheduler_log(live: &Live, loaded: &Loaded, follow: bool, audience: &dyn Audience) -> Result<SchedulerLog, Failure> {
    let pod = |object: &Object| if let Object::Pod(pod) = object { runs_scheduler(pod).then(|| pod.key()) } else { None };
    let pods: Vec<Key> = loaded.objects.iter().filter_map(pod).collect();
    if pods.is_empty() {
        let words = "--scheduler-log live: no visible pod runs kube-scheduler; managed control planes hide it";
        return Err(Failure::source(words));
    }
    for pod in &pods {
        live.read_log(pod, follow);
    }
    if !live.wait_logs(Some(Instant::now() + LOG_READ)) {
        return Err(Failure::source(format!("--scheduler-log live: the log was not read within {LOG_READ:?}")));
    }
    let troubles: Vec<String> =
        live.logs().iter().filter_map(|log| Some(format!("log of {}: {}", log.pod, log.state.trouble()?))).collect();
    if troubles.len() == pods.len() {
        let lines = troubles.into_iter().map(|trouble| format!("--scheduler-log live: {trouble}"));
        return Err(Failure::source(lines.collect::<crate::output::Lines>()));
    }
    for trouble in troubles {
        audience.say(trouble);
    }
    let log = live.with_log(Clone::clone);
    if log.is_empty() {
        let names: Vec<String> = pods.iter().map(ToString::to_string).collect();
        return Err(Failure::source(format!("--scheduler-log live: no line of kube-scheduler in the log of {}", names.join(", "))));
    }
    Ok(log)
}

/// Connects and waits for the server's first answer.
pub(super) fn connected(args: &ConnectArgs, waits: &Waits) -> Result<Arc<Live>, Failure> {
    connect_to(args, true, waits)
}

/// Shows what is waited for on a terminal while a cluster is being contacted.
fn with_progress<T>(waits: &Waits, connect: impl FnOnce() -> T) -> T {
    if !output::standard_error_is_terminal() {
        return connect();
    }
    let (done, finished) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watcher = move || {
            let mut status = Status::default();
            while finished.recv_timeout(TELL) == Err(RecvTimeoutError::Timeout) {
                // A credential plugin may be prompting.
                let asks = matches!(waits.longest(), Some((Waiting::Credentials, _)));
                if let Some(line) = waits.line().filter(|_| !asks) {
                    status.show(format_args!("connecting: {line}"));
                }
            }
        };
        // Without a thread to spare, connect without showing progress.
        let _ = std::thread::Builder::new().spawn_scoped(scope, watcher);
        let connected = connect();
        drop(done);
        connected
    })
}

fn connect_to(args: &ConnectArgs, watch: bool, waits: &Waits) -> Result<Arc<Live>, Failure> {
    let options = ConnectOptions {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        namespaces: args.only_namespace.clone(),
        interactive: output::standard_input_is_terminal(),
        watch,
        scheduler_log: args.scheduler_log,
        waits: waits.clone(),
        ..ConnectOptions::default()
    };
    connect(&options).map(Arc::new).map_err(|e| Failure::source(e.to_string()))
}

/// Connects before the screen opens if the kubeconfig may ask for credentials on the terminal; `None` if it asks nothing.
pub(super) fn connected_first(args: &ConnectArgs, console: &mut Console) -> Result<Option<Arc<Live>>, Failure> {
    if !may_ask(args.kubeconfig.as_deref(), args.context.as_deref()) {
        return Ok(None);
    }
    console.give_back();
    connected(args, &Waits::default()).map(Some)
}

/// Shows progress on a terminal until `holds` returns true. `holds` blocks for a short time on each call.
fn tell_until(live: &Live, mut holds: impl FnMut() -> bool) {
    let shows = output::standard_error_is_terminal();
    let mut status = Status::default();
    let mut last_said = None;
    let begin = Instant::now();
    while !holds() {
        // Reads shorter than the interval print nothing.
        if shows && last_said.unwrap_or(begin).elapsed() >= TELL {
            status.show(so_far(live));
            last_said = Some(Instant::now());
        }
    }
}

/// Returns the deadline of one check for the first complete read.
pub(super) fn soon() -> Instant {
    Instant::now() + LOOK
}

/// Returns one progress line: objects read, what is waited for and at most how long, and the first trouble.
fn so_far(live: &Live) -> String {
    let status = live.status();
    let troubles: Vec<String> = status
        .troubles()
        .filter_map(|k| if let State::Retrying { why, .. } = &k.state { Some(format!("{}: {why}", k.subject)) } else { None })
        .collect();
    let mut line = format!("reading {}: {} objects so far", status.target, status.objects());
    let listing = status.kinds.iter().find(|kind| kind.state == State::Listing);
    match (live.waits().line(), listing) {
        (Some(waits), _) => line += &format!(", {waits} ({})", live.time_left()),
        (None, Some(kind)) => line += &format!(", listing {}", kind.subject),
        (None, None) => {}
    }
    if let Some(trouble) = troubles.first() {
        line += &format!("; {trouble}");
    }
    line.chars().take(160).collect()
}
