//! Sources of the explorer, and their loading.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::Notify;

use super::args::{ConnectArgs, SchedulerArgs, SourceArgs};
use super::dumps::{Dump, series};
use super::history::Past;
use super::history_window::{AROUND, Window};
use super::{Failure, begin, input, read_inputs, reproduce, some_object, tell};
use crate::analysis::{Missing, budgets_unknown_because};
use crate::app::{Explorer, FollowConfig, Options, Reproduction, Watch};
use crate::cluster::{Kind, MissingReason};
use crate::limits::live::NEIGHBORS_ASKED;
use crate::plural::{count, count_of};
use crate::report::completeness_in_short;
use crate::scheduler::{Evictions, InitialQueues};
use crate::session::{AtTime, Background, Cursor, EtcdRevisions, SESSION_HEAD, Session, changes, is_session_file};
use crate::source::live::{Live, NeighborsQuestion, Waits};
use crate::source::{Input, Limits, Loaded, Severity, Story};
use crate::ui::Action;
use crate::ui::Context;

/// A source of the explorer.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// An embedded cluster.
    Story(&'static Story),
    /// Dumps, or a session that was saved.
    Dumps { paths: Vec<PathBuf>, limits: Limits, merge: bool },
    /// A source that holds its past, around a moment; by default its end.
    Past { past: Past, at: Option<AtTime>, limits: Limits },
    /// A live cluster.
    Cluster(ConnectArgs),
}

/// A source, and the scheduler's options for it.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) source: Source,
    pub(super) scheduler: SchedulerArgs,
}

/// Limit on the past attempts on the timeline of a live cluster, which keeps few revisions.
const LIVE_ATTEMPTS: usize = 60;

/// An explorer that is ready to be shown.
pub(super) struct Opened {
    pub(super) explorer: Explorer,
    /// Notice to show first.
    pub(super) notice: Option<String>,
    /// Notified when a live cluster has something new.
    pub(super) wake: Option<Arc<Notify>>,
}

impl Wanted {
    /// Returns a short title.
    pub(super) fn title(&self) -> String {
        match &self.source {
            Source::Story(story) => format!("demo {}", story.name),
            Source::Dumps { paths, .. } => paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" "),
            Source::Past { past, .. } => past.path().display().to_string(),
            Source::Cluster(ConnectArgs { context: Some(context), .. }) => format!("live {context}"),
            Source::Cluster(_) => "live cluster".to_owned(),
        }
    }

    /// Loads the source. `connected` is an existing connection to a live cluster.
    pub(super) fn open(self, connected: Option<Arc<Live>>, options: &Options, watch: &Watch) -> Result<Opened, Failure> {
        let title = self.title();
        let words = reproduce::source_words(&self.source);
        let words = words.map(|words| [words, reproduce::scheduler_words(&self.scheduler)].concat());
        let Self { source, scheduler } = self;
        let with = |opened: Opened| Opened { explorer: opened.explorer.reproduced_by(words.map(Reproduction::new)), ..opened };
        match source {
            Source::Story(story) => {
                let limits = Limits::default();
                let loaded = read_inputs(&[story.input()], &limits, watch);
                open_loaded(loaded, None, &limits, title, &scheduler, options, watch).map(with)
            }
            Source::Cluster(connect) => open_cluster(&connect, connected, &scheduler, options, watch).map(with),
            Source::Past { past, at, limits } => {
                if scheduler.asks_for_log() {
                    let words = "--scheduler-log and --config-from-log work with one dump, not with a source that holds its past";
                    return Err(Failure::usage(words));
                }
                let (loaded, window) = past.window(at, AROUND, &limits, &|inputs| read_inputs(inputs, &limits, watch))?;
                open_loaded(loaded, Some(window), &limits, title, &scheduler, options, watch).map(with)
            }
            Source::Dumps { paths, limits, merge } => {
                if !merge && let Some(dumps) = series(&paths, &|inputs| read_inputs(inputs, &limits, watch)) {
                    if scheduler.asks_for_log() {
                        let words = "--scheduler-log and --config-from-log work with one dump, not with several over time";
                        return Err(Failure::usage(words));
                    }
                    return open_series(dumps, &scheduler, options, watch);
                }
                if let [path] = &paths[..]
                    && let Some(session) = saved_session(path)?
                {
                    if scheduler.is_given() {
                        let words = "a saved session has its own configuration and start time; open it without scheduler options";
                        return Err(Failure::usage(format!("{}: {words}", path.display())));
                    }
                    return Ok(Opened { explorer: Explorer::new(session), notice: None, wake: None });
                }
                let inputs: Vec<Input> = paths.into_iter().map(input).collect();
                let loaded = read_inputs(&inputs, &limits, watch);
                let opened = open_loaded(loaded, None, &limits, title, &scheduler, options, watch)?;
                Ok(with(Opened { explorer: opened.explorer.of_dump(), ..opened }))
            }
        }
    }
}

/// Opens what was read, with the changes after it on the timeline if it is a part of a past.
fn open_loaded(
    mut loaded: Loaded,
    window: Option<Window>,
    limits: &Limits,
    title: String,
    args: &SchedulerArgs,
    options: &Options,
    watch: &Watch,
) -> Result<Opened, Failure> {
    some_object(&loaded, watch)?;
    let observed = window.is_some();
    let mut args = args.clone();
    if observed {
        loaded = super::judgeable(loaded)?;
        // Events, conditions and nominations of that time are known.
        args.queues.get_or_insert(InitialQueues::AsObserved);
    }
    let of_start = |loaded: &Loaded| Window { events: loaded.events.clone(), neighbors: loaded.neighbors.clone(), ..Window::default() };
    let Window { operations, etcd, reached, events, neighbors, lines } = window.unwrap_or_else(|| of_start(&loaded));
    let mut report = lines.into_vec();
    let scheduler = begin(&args, &mut loaded, limits, Evictions::AfterGracePeriod, watch)?;
    let notices: Vec<String> = report.last().cloned().into_iter().chain(notice(&loaded, &args, options, observed)).collect();
    let notice = (!notices.is_empty()).then(|| notices.join("; "));
    report.extend(report_lines(&loaded));
    // The timeline has the states of their moments.
    let attempts = if observed { super::scheduler_log::reported(loaded.scheduler_log.as_deref()) } else { Vec::new() };
    let mut background = Background { report, events, neighbors, attempts, etcd: None, observed };
    let mut session = Session::new(scheduler, title);
    let (mut cursor, mut ends) = (None, Vec::new());
    for (done, operation) in operations.into_iter().enumerate() {
        if done == reached {
            cursor = Some(session.timeline().revisions().len());
        }
        // A revision of etcd that changes nothing is one with those before it.
        let end = etcd.as_ref().and_then(|etcd| etcd.ends.get(done)).copied();
        if session.observe(operation) {
            ends.extend(end);
        } else if let Some(last) = ends.last_mut() {
            *last = end.unwrap_or(*last);
        }
    }
    background.etcd = etcd.map(|etcd| EtcdRevisions { ends, ..etcd });
    if observed {
        let revision = cursor.unwrap_or(session.timeline().revisions().len());
        session.timeline_mut().seek(Cursor { revision, event: 0 });
    }
    let mut session = session.with(background);
    if let Some(log) = loaded.scheduler_log.as_ref().filter(|_| !observed) {
        super::scheduler_log::onto_timeline(log, &mut session, super::scheduler_log::MAX_ATTEMPTS);
        if let Some(places) = super::scheduler_log::log_places(&args, Some(log), session.scheduler(), watch) {
            session.observe(places);
        }
    }
    Ok(Opened { explorer: Explorer::new(session).with_reports(vec![Arc::new(loaded.report)]), notice, wake: None })
}

/// Waits until the objects of a live cluster are there.
fn first_state(live: &Live, watch: &Watch) -> Result<Loaded, Failure> {
    loop {
        if let Some(loaded) = live.wait_first(Some(super::live::soon())) {
            return Ok(loaded);
        }
        if watch.is_cancelled() {
            return Err(Failure::source("loading was cancelled"));
        }
    }
}

fn open_cluster(
    connect: &ConnectArgs,
    connected: Option<Arc<Live>>,
    args: &SchedulerArgs,
    options: &Options,
    watch: &Watch,
) -> Result<Opened, Failure> {
    if args.asks_for_log() && !args.asks_for_live_log() {
        let words = "on a live cluster, read the log with --scheduler-log live; --config-from-log needs it too";
        return Err(Failure::usage(words));
    }
    let live = match connected {
        Some(live) => live,
        None => {
            let waits = Waits::default();
            watch.connecting(waits.clone());
            super::live::connected(connect, &waits)?
        }
    };
    watch.cluster(Arc::clone(&live));
    let mut loaded = first_state(&live, watch)?;
    tell(&loaded, watch);
    loaded.report.again = Some(live.clone());
    loaded = super::judgeable(loaded)?;
    let follows_log = args.asks_for_live_log();
    if follows_log {
        let log = super::live::scheduler_log(&live, &loaded, true, watch)?;
        loaded.scheduler_log = Some(Arc::new(log));
        super::scheduler_log::read_log(args, &mut loaded, &Limits::default(), watch)?;
    }
    watch.building();
    let notice = notice(&loaded, args, options, false);
    let background = Background {
        report: report_lines(&loaded),
        events: loaded.events.clone(),
        neighbors: loaded.neighbors.clone(),
        observed: true,
        ..Background::default()
    };
    let mut scheduler = args.on(&SourceArgs::default());
    let ahead = live.status().ahead;
    scheduler.start.get_or_insert_with(|| Timestamp::now().checked_add(ahead).unwrap_or(Timestamp::MAX));
    let scheduler = super::scheduler(&scheduler, &mut loaded, Evictions::AfterGracePeriod, watch)?;
    let target = live.target();
    let name = if target.context.is_empty() { target.server } else { target.context };
    let mut session = Session::new(scheduler, format!("live {name}")).with(background);
    if let Some(log) = &loaded.scheduler_log {
        super::scheduler_log::onto_timeline(log, &mut session, LIVE_ATTEMPTS);
    }
    live.follow_neighbors(NeighborsQuestion::all(None, NEIGHBORS_ASKED));
    let wake = Some(live.notify());
    let mut explorer = Explorer::new(session)
        .with_reports(vec![Arc::new(loaded.report)])
        .following(live, FollowConfig { ahead, ..FollowConfig::default() });
    if let Some(log) = &loaded.scheduler_log {
        explorer = explorer.following_log(log);
    }
    Ok(Opened { explorer, notice, wake })
}

/// Returns the most important limits of the source as one line. The report key shows all of them.
fn notice(loaded: &Loaded, args: &SchedulerArgs, options: &Options, observed: bool) -> Option<String> {
    let wrong = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let mut parts = Vec::new();
    if wrong > 0 {
        parts.push(format!("{} while reading", count(wrong, "error")));
    }
    let missing = loaded.report.missing();
    let lacks_nodes = loaded.report.withheld().contains(&Kind::Node) || missing.why(Kind::Node) == Some(MissingReason::NotInSource);
    if lacks_nodes {
        parts.extend(Missing::all(missing).iter().find(|missing| missing.kind == Kind::Node).map(Missing::clause));
    }
    if missing.budgets {
        parts.push(format!("{}: violations are unknown, shown as ?", budgets_unknown_because(missing)));
    }
    if !args.config_from_dump && args.config.is_none() && loaded.report.scheduler.iter().any(|hint| hint.config.is_some()) {
        parts.push("the dump contains a scheduler configuration: --config-from-dump uses it".to_owned());
    }
    if let Some(log) = loaded.scheduler_log.as_ref().filter(|_| !observed) {
        parts.push(format!("the timeline begins with the scheduler's log: {}", count(log.attempts.len(), "attempt")));
    }
    let pods: usize = loaded.report.pods_on_unknown_nodes.values().sum();
    if pods > 0 && !lacks_nodes {
        let nodes = loaded.report.pods_on_unknown_nodes.len();
        let fate = if loaded.report.unread_nodes_are_gone() {
            count_of(nodes, "node that does not exist", "nodes that do not exist")
        } else {
            format!("{} not in the source", count_of(nodes, "node that is", "nodes that are"))
        };
        parts.push(format!("{} on {fate}", count_of(pods, "pod is", "pods are")));
    }
    (!parts.is_empty()).then(|| format!("{} ({} shows all)", parts.join("; "), options.keymap.label(Context::GLOBAL, &Action::REPORT)))
}

fn report_lines(loaded: &Loaded) -> Vec<String> {
    completeness_in_short(&loaded.report).into_iter().chain(loaded.diagnostics.iter().map(ToString::to_string)).collect()
}

/// Opens the oldest dump, with the changes up to each later one on the timeline.
fn open_series(dumps: Vec<Dump>, args: &SchedulerArgs, options: &Options, watch: &Watch) -> Result<Opened, Failure> {
    let mut notices = Vec::new();
    for Dump { name, loaded } in &dumps {
        tell(loaded, watch);
        notices.extend(notice(loaded, args, options, false).map(|words| format!("{name}: {words}")));
    }
    let notice = (!notices.is_empty()).then(|| notices.join("; "));
    let mut dumps = dumps.into_iter();
    let Some(Dump { name: first_name, loaded: mut first }) = dumps.next() else { return Err(Failure::usage("no dump is given")) };
    watch.building();
    let mut report = vec![format!("{first_name}:")];
    report.extend(report_lines(&first));
    let mut cluster = first.cluster();
    let (mut events, mut neighbors) = (first.events.clone(), first.neighbors.clone());
    let scheduler = super::scheduler(args, &mut first, Evictions::AfterGracePeriod, watch)?;
    let mut session = Session::new(scheduler, format!("{first_name} and later"));
    let mut reports = vec![Arc::new(first.report)];
    for dump in dumps {
        let time = dump.time();
        let (name, loaded) = dump.into_parts();
        report.push(String::new());
        report.push(format!("{name}:"));
        report.extend(report_lines(&loaded));
        let next = loaded.cluster();
        let time = time.unwrap_or_else(|| session.scheduler().state().clock());
        match changes(&cluster, &next, &loaded.events, &name, time) {
            Some(operation) => {
                session.observe(operation);
            }
            None => report.push("nothing changed".to_owned()),
        }
        cluster = next;
        (events, neighbors) = (loaded.events, loaded.neighbors);
        reports.push(Arc::new(loaded.report));
    }
    session.timeline_mut().seek(Cursor::default());
    let session = session.with(Background { report, events, neighbors, observed: true, ..Background::default() });
    Ok(Opened { explorer: Explorer::new(session).with_reports(reports), notice, wake: None })
}

/// Returns the session saved in a file; `None` for any other file.
pub(super) fn saved_session(path: &Path) -> Result<Option<Session>, Failure> {
    // A pipe gives its bytes once: the dump reader needs all of them.
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return Ok(None);
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SESSION_HEAD).read_to_end(&mut start));
    if read.is_err() || !is_session_file(&start) {
        // The dump reader reports files that cannot be read.
        return Ok(None);
    }
    let at = |e: &dyn std::fmt::Display| Failure::source(format!("{}: {e}", path.display()));
    Session::load(File::open(path).map_err(|e| at(&e))?).map(Some).map_err(|e| at(&e))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn a_pipe_is_left_whole_for_the_dump_reader() {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"{}").unwrap();
        drop(writer);
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        assert!(saved_session(&path).unwrap().is_none());
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "{}");
    }
}
