//! `schedscope record`: writes the changes of a live cluster into a journal, until it is ended.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use strum::IntoEnumIterator as _;

use super::args::{ConnectArgs, RecordArgs};
use super::live::{connected, soon};
use super::{Failure, StandardError, judgeable};
use crate::app;
use crate::cluster::{Cluster, Key, Kind, KindSet};
use crate::limits::live::NEIGHBORS_ASKED;
use crate::limits::sessions::{METRICS_CLIENTS, METRICS_REQUEST};
use crate::output::{self, METRICS_MEDIA_TYPE, MetricType, Metrics};
use crate::source::LogTail;
use crate::source::capture::Vocabulary;
use crate::source::journal::{JournalHealth, JournalOptions, JournalWriter, LogLines, LogWriter, RecordedState, unlisted};
use crate::source::live::{Live, NeighborsQuestion, State, Subject, Waits, runs_scheduler};

/// Time between two frames.
const TICK: Duration = Duration::from_secs(1);
/// Time between two lines about the health, while it is the same.
const HEALTH: Duration = Duration::from_secs(60);
/// Time between two looks for pods of schedulers.
const SCHEDULERS: Duration = Duration::from_secs(30);
/// Changes that are taken at once.
const AT_ONCE: usize = 20_000;
/// Time that a client of the metrics has for its request, and for taking the answer.
const CLIENT: Duration = Duration::from_secs(2);

/// A line about the recorder's health.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HealthLine<'a> {
    time: Timestamp,
    /// `recording`, `notWriting` or `stale`.
    state: &'a str,
    journal: String,
    objects: usize,
    pending_pods: usize,
    changes: u64,
    bytes_written: u64,
    journal_bytes: u64,
    segments: usize,
    /// Seconds since the API server last sent something.
    silent: u64,
    /// Kinds whose changes do not arrive.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale: Vec<Kind>,
    /// Why logs of schedulers are not recorded at present.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logs: Vec<String>,
    /// Why nothing can be written, and since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_written: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
}

/// The state that the metrics show.
#[derive(Debug, Default)]
struct Shown {
    cluster: Cluster,
    health: JournalHealth,
    stale: KindSet,
    is_failing: bool,
    changes: u64,
    /// When it was shown, and how long the API server had been silent then.
    silent: Option<(Instant, Duration)>,
    /// When the last frame was written.
    written: Option<Instant>,
}

type Board = Arc<Mutex<Shown>>;

/// Records until the program is ended.
pub(super) fn run(args: &RecordArgs) -> Result<u8, Failure> {
    let mut writer = JournalWriter::open(&args.journal, args.options()).map_err(|error| Failure::source(error.to_string()))?;
    let board = Board::default();
    if let Some(address) = args.metrics {
        serve(address, args.metrics_remote, &board)?;
    }
    let mut logs = SchedulerLogs::open(args, writer.health().last)?;
    let live = connected(&ConnectArgs { scheduler_log: logs.of_live, ..args.connect.clone() }, &Waits::default())?;
    let loaded = loop {
        if let Some(loaded) = live.wait_first(Some(soon())) {
            break loaded;
        }
    };
    super::tell(&loaded, &StandardError);
    let loaded = judgeable(loaded)?;
    let clock = || Timestamp::now().checked_add(live.status().ahead).unwrap_or(Timestamp::MAX);
    let version = app::known_version(&loaded.report);
    let words = Vocabulary::of(crate::framework::reason_texts());
    let mut state = RecordedState::new(&loaded, unlisted(&loaded), version.clone());
    if args.redact {
        state = state.redacted(&words);
    }
    drop(loaded);
    writer.begin(&state, clock());
    // Workloads, quotas and the events of others are listed again and again, each kind as far as rights allow.
    live.follow_neighbors(NeighborsQuestion::all(None, NEIGHBORS_ASKED));
    let mut listed = 0;
    if logs.of_live && schedulers(&state).is_empty() {
        return Err(Failure::source("--scheduler-log live: no visible pod runs kube-scheduler; managed control planes hide it"));
    }
    let mut recorder = Recorder { live: &live, args, board, changes: 0, last_line: None, was_well: None, logs: Vec::new() };
    recorder.show(&writer, &state);
    let mut lines = Vec::new();
    loop {
        std::thread::sleep(TICK);
        let now = clock();
        lines.clear();
        let mut changes = Vec::new();
        while live.has_changes() && changes.len() < AT_ONCE * 50 {
            changes.extend(live.take(AT_ONCE));
        }
        recorder.changes += changes.len() as u64;
        let version = live.server_version().or_else(|| version.clone());
        let restate = state.apply(changes, stale(&live), version, now, &mut lines);
        let mut restate = restate.map_err(|error| Failure::source(error.to_string()))?;
        if live.neighbors_generation() != listed {
            let (generation, neighbors) = live.newest_neighbors();
            listed = generation;
            restate |= state.apply_neighbors(neighbors, &mut lines).map_err(|error| Failure::source(error.to_string()))?;
        }
        writer.append(&lines, &state, now);
        recorder.logs = logs.take(&live, &mut state, now);
        writer.append_log(&mut logs.lines, now);
        if restate {
            writer.restate(&state, now);
        }
        recorder.show(&writer, &state);
    }
}

/// Returns the pods of schedulers.
fn schedulers(state: &RecordedState<'_>) -> Vec<Key> {
    state.cluster().pods.iter().filter(|pod| runs_scheduler(pod)).map(|pod| pod.key()).collect()
}

/// The logs of schedulers that are recorded.
struct SchedulerLogs {
    /// Whether they are those of the cluster's schedulers.
    of_live: bool,
    files: Vec<(String, LogTail)>,
    /// When the journal was last written before; lines until then are in it already.
    before: Option<Timestamp>,
    /// When it last looked for pods of schedulers.
    followed: Option<Instant>,
    lines: LogLines,
}

impl SchedulerLogs {
    fn open(args: &RecordArgs, before: Option<Timestamp>) -> Result<Self, Failure> {
        let (of_live, files) = (args.reads_live_log()?, args.log_files(before.is_some())?);
        Ok(Self { of_live, files, before, followed: None, lines: LogLines::default() })
    }

    /// Takes the new lines. Returns why logs are not recorded at present.
    fn take(&mut self, live: &Live, state: &mut RecordedState<'_>, now: Timestamp) -> Vec<String> {
        if self.of_live && self.followed.is_none_or(|last| last.elapsed() >= SCHEDULERS) {
            live.follow_log_text(&schedulers(state), self.before);
            self.followed = Some(Instant::now());
        }
        let mut troubles: Vec<String> =
            live.logs().iter().filter_map(|log| Some(format!("log of {}: {}", log.pod, log.state.trouble()?))).collect();
        let text = live.take_log_text();
        self.lines.add_dropped(text.dropped);
        for (pod, text) in text.parts {
            state.take_log(&LogWriter::Pod(pod), &text, now, &mut self.lines);
        }
        for (name, file) in &mut self.files {
            match file.read() {
                Ok(text) => state.take_log(&LogWriter::File(name.clone()), &text, now, &mut self.lines),
                Err(error) => troubles.push(format!("{name}: {error}")),
            }
        }
        troubles
    }
}

impl RecordArgs {
    /// Returns whether the logs of the cluster's schedulers are recorded.
    fn reads_live_log(&self) -> Result<bool, Failure> {
        let reads = self.scheduler_log.iter().any(|path| path.as_os_str() == "live");
        if reads && self.scheduler_log.len() > 1 {
            return Err(Failure::usage("--scheduler-log live cannot be combined with log files"));
        }
        Ok(reads)
    }

    /// Opens the log files. In a journal that goes on, they are read from their end.
    fn log_files(&self, goes_on: bool) -> Result<Vec<(String, LogTail)>, Failure> {
        let files = self.scheduler_log.iter().filter(|path| path.as_os_str() != "live");
        let open = |path: &PathBuf| {
            let name = path.display().to_string();
            let tail = LogTail::open(path, goes_on).map_err(|error| Failure::source(format!("--scheduler-log {name}: {error}")))?;
            Ok((name, tail))
        };
        files.map(open).collect()
    }

    fn options(&self) -> JournalOptions {
        let default = JournalOptions::default();
        JournalOptions {
            keep: self.keep,
            max_size: self.max_size,
            segment_size: self.segment_size.unwrap_or(default.segment_size),
            segment_time: self.segment_time.unwrap_or(default.segment_time),
        }
    }
}

/// Returns the kinds that were read and whose changes do not arrive at present.
fn stale(live: &Live) -> KindSet {
    let fails = |state: &State| matches!(state, State::Retrying { .. } | State::Forbidden { .. } | State::OldVersion { .. });
    let status = live.status();
    let failing = status.kinds.iter().filter(|kind| kind.lists > 0 && fails(&kind.state));
    failing.filter_map(|kind| if let Subject::Objects(kind) = kind.subject { Some(kind) } else { None }).collect()
}

/// Shows how recording goes.
struct Recorder<'a> {
    live: &'a Live,
    args: &'a RecordArgs,
    board: Board,
    changes: u64,
    last_line: Option<Instant>,
    /// The health in the last line: the kinds that were stale, whether frames could not be written, and the logs that are not recorded.
    was_well: Option<(KindSet, bool, Vec<String>)>,
    /// Why logs of schedulers are not recorded at present.
    logs: Vec<String>,
}

impl Recorder<'_> {
    /// Updates the metrics, and writes a line if the health changed or the last one is a minute old.
    fn show(&mut self, writer: &JournalWriter, state: &RecordedState<'_>) {
        let (health, stale, failing) = (writer.health(), state.knowledge().stale, writer.failing());
        let silent = self.live.silent_for();
        {
            let mut shown = self.board.lock().unwrap_or_else(PoisonError::into_inner);
            let written = if shown.health.last == health.last { shown.written } else { Some(Instant::now()) };
            *shown = Shown {
                cluster: state.cluster().clone(),
                health,
                stale,
                is_failing: failing.is_some(),
                changes: self.changes,
                silent: Some((Instant::now(), silent)),
                written,
            };
        }
        let now = (stale, failing.is_some(), self.logs.clone());
        if self.was_well.as_ref() == Some(&now) && self.last_line.is_some_and(|last| last.elapsed() < HEALTH) {
            return;
        }
        self.last_line = Some(Instant::now());
        let line = HealthLine {
            time: Timestamp::now(),
            state: match failing {
                Some(_) => "notWriting",
                None if !stale.is_empty() => "stale",
                None => "recording",
            },
            journal: self.args.journal.display().to_string(),
            objects: Kind::iter().map(|kind| state.cluster().count(kind)).sum(),
            pending_pods: state.cluster().pods.iter().filter(|pod| pod.is_pending()).count(),
            changes: self.changes,
            bytes_written: health.written,
            journal_bytes: health.size,
            segments: health.segments,
            silent: silent.as_secs(),
            stale: stale.iter().collect(),
            logs: self.logs.clone(),
            not_written: failing.map(|(_, why)| why),
            since: failing.map(|(since, _)| since),
        };
        match output::to_json_line(&line) {
            Ok(line) => output::say(line.as_str().trim_end()),
            Err(error) => output::say(error),
        }
        self.was_well = Some(now);
    }
}

/// Writes the metrics.
fn metrics(shown: &Shown) -> Metrics {
    let mut metrics = Metrics::default();
    let mut pending: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for pod in shown.cluster.pods.iter().filter(|pod| pod.is_pending()) {
        let reason = pod.condition("PodScheduled").map_or("", |condition| condition.reason.as_str());
        *pending.entry(reason).or_default() += 1;
    }
    let help = "Pending pods by the reason of their PodScheduled condition; empty while no scheduler has written one.";
    let mut family = metrics.family("schedscope_recorder_pending_pods", MetricType::Gauge, help);
    for (reason, count) in pending {
        family.sample(&[("reason", reason)], count);
    }
    let mut family = metrics.family("schedscope_recorder_objects", MetricType::Gauge, "Objects in the recorded state.");
    for kind in Kind::iter().filter(|kind| shown.cluster.count(*kind) > 0) {
        family.sample(&[("kind", &kind.to_string())], shown.cluster.count(kind));
    }
    let help = "1 for each kind whose changes do not arrive, because its list or watch fails.";
    let mut family = metrics.family("schedscope_recorder_stale", MetricType::Gauge, help);
    for kind in shown.stale.iter() {
        family.sample(&[("kind", &kind.to_string())], 1_usize);
    }
    let help = "Seconds since the API server last sent anything.";
    let mut family = metrics.family("schedscope_recorder_silence_seconds", MetricType::Gauge, help);
    if let Some((at, silent)) = shown.silent {
        family.sample(&[], (silent + at.elapsed()).as_secs_f64());
    }
    let help = "Seconds since a frame was written.";
    let mut family = metrics.family("schedscope_recorder_last_frame_age_seconds", MetricType::Gauge, help);
    if let Some(written) = shown.written {
        family.sample(&[], written.elapsed().as_secs_f64());
    }
    let help = "1 while frames cannot be written, else 0.";
    metrics.family("schedscope_recorder_not_writing", MetricType::Gauge, help).sample(&[], usize::from(shown.is_failing));
    metrics.family("schedscope_recorder_changes_total", MetricType::Counter, "Changes that were received.").sample(&[], shown.changes);
    let help = "Bytes of frames that were written.";
    metrics.family("schedscope_recorder_written_bytes_total", MetricType::Counter, help).sample(&[], shown.health.written);
    let help = "Frames that could not be written.";
    metrics.family("schedscope_recorder_failed_frames_total", MetricType::Counter, help).sample(&[], shown.health.failed);
    metrics.family("schedscope_recorder_journal_bytes", MetricType::Gauge, "Bytes of all segments.").sample(&[], shown.health.size);
    metrics.family("schedscope_recorder_segments", MetricType::Gauge, "Segments of the journal.").sample(&[], shown.health.segments);
    metrics
}

/// Serves the metrics from threads of their own.
fn serve(address: SocketAddr, remote: bool, board: &Board) -> Result<(), Failure> {
    if !address.ip().is_loopback() && !remote {
        let words = format!("--metrics {address}: other machines could read it; add --metrics-remote to allow that");
        return Err(Failure::usage(words));
    }
    let listener = TcpListener::bind(address).map_err(|error| Failure::usage(format!("--metrics {address}: {error}")))?;
    let board = Arc::clone(board);
    let answer_all = move || {
        let mut clients = VecDeque::new();
        for stream in listener.incoming().flatten() {
            clients.retain(|(client, _): &(JoinHandle<()>, TcpStream)| !client.is_finished());
            if clients.len() >= METRICS_CLIENTS
                && let Some((_, first)) = clients.pop_front()
            {
                // Its thread ends with the connection.
                let _ = first.shutdown(Shutdown::Both);
            }
            let (Ok(connection), board) = (stream.try_clone(), Arc::clone(&board)) else { continue };
            let answer = move || {
                // A client that is gone needs no answer.
                let _ = answer(&stream, &board);
                let _ = stream.shutdown(Shutdown::Both);
            };
            clients.extend(metrics_thread(answer).ok().map(|client| (client, connection)));
        }
    };
    metrics_thread(answer_all).map(drop).map_err(|error| Failure::source(format!("cannot start threads: {error}")))
}

fn metrics_thread(run: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("metrics".to_owned()).spawn(run)
}

/// Answers one request.
fn answer(mut stream: &TcpStream, board: &Board) -> std::io::Result<()> {
    stream.set_read_timeout(Some(CLIENT))?;
    stream.set_write_timeout(Some(CLIENT))?;
    let deadline = Instant::now() + CLIENT;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut part)?;
        request.extend_from_slice(&part[..count]);
        if count == 0 || request.len() > METRICS_REQUEST || Instant::now() > deadline {
            return Ok(());
        }
    }
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let (status, body) = match line.split(|byte| *byte == b' ').collect::<Vec<_>>()[..] {
        [b"GET", b"/metrics", _] => ("200 OK", metrics(&board.lock().unwrap_or_else(PoisonError::into_inner)).text().as_str().to_owned()),
        [b"GET", ..] => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "GET alone is answered\n".to_owned()),
    };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {METRICS_MEDIA_TYPE}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        // A server that closes before it has read all resets the connection.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn free() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    #[test]
    fn metrics_are_served_on_loopback_and_elsewhere_on_request() {
        let board = Board::default();
        board.lock().unwrap().health = JournalHealth { written: 17, ..JournalHealth::default() };
        let address = free();
        serve(address, false, &board).unwrap();
        let answer = ask(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("schedscope_recorder_written_bytes_total 17\n"), "{answer}");
        assert!(ask(address, b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(address, b"POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        let error = serve("0.0.0.0:0".parse().unwrap(), false, &board).unwrap_err();
        assert!(error.message.to_string().contains("--metrics-remote"), "{}", error.message);
    }

    #[test]
    fn a_request_without_end_is_not_answered() {
        let board = Board::default();
        let address = free();
        serve(address, false, &board).unwrap();
        assert_eq!(ask(address, &vec![b'a'; METRICS_REQUEST + 1024]), "");
        assert!(ask(address, b"GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK"), "the next client is");
    }

    #[test]
    fn idle_clients_do_not_keep_others_from_the_metrics() {
        let board = Board::default();
        let address = free();
        serve(address, false, &board).unwrap();
        let before = Instant::now();
        let idle: Vec<TcpStream> = (0..METRICS_CLIENTS * 4).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert!(ask(address, b"GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
        assert!(before.elapsed() < CLIENT * 4, "one after another takes more than a minute");
        // The first ones were closed for later ones.
        assert_eq!((&idle[0]).read(&mut [0; 1]).unwrap(), 0);
    }
}
