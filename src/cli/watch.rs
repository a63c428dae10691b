//! `schedscope explain --pending --watch`: a line when something happens, of a live cluster, of dumps over time, or of a dump that is
//! written again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use serde::Serialize;

use super::args::{ConnectArgs, ExplainArgs};
use super::{EXIT_OK, EXIT_SOURCE, Failure, Silent, StandardError};
use crate::analysis::{WatchEvent, Watched};
use crate::cluster::{Cluster, Key, ObservedEvent};
use crate::limits::sources::WATCHED_FILES;
use crate::output::{self, Lines, Text};
use crate::plural::count_of;
use crate::report::SCHEMA_VERSION;
use crate::scheduler::Evictions;
use crate::source::live::{Change, Waits};
use crate::source::{self, Limits, Loaded};

/// Pause after each state of a live cluster, in which changes are collected.
const PAUSE: Duration = Duration::from_secs(1);
/// Time without changes after which the connection is checked again.
const QUIET: Duration = Duration::from_secs(30);
/// Interval between looks at files.
const LOOK: Duration = Duration::from_secs(1);
/// Limit on the changes of a live cluster that are taken at once.
const AT_ONCE: usize = 100_000;

/// Prints what happens until the source ends, or Ctrl-C.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let is_text = args.output.wide || args.output.endings.contains(&"txt");
    if !is_text && args.output.operation().is_none() {
        return Err(Failure::usage(format!("--watch prints text or JSON lines, not {}", args.output.name)));
    }
    output::interrupt_is_success();
    let mut watch = Watch { args, state: None, is_in_part: false, is_closed: false };
    match &args.cluster.source.from[..] {
        [] if args.cluster.source.demo.is_some() => {
            let loaded = super::read(&args.cluster.source, &args.cluster.connect, &args.cluster.limits.limits())?;
            watch.observe(loaded)?;
        }
        [] => live(&mut watch, &args.cluster.connect)?,
        [path] if path.as_os_str() != "-" => files(&mut watch, path)?,
        paths => {
            let inputs: Vec<PathBuf> = paths.to_vec();
            let limits = args.cluster.limits.limits();
            let mut dumps = Vec::new();
            for path in &inputs {
                let dump = dump(path, &limits, true).ok_or_else(|| {
                    Failure::source(format!("--watch takes dumps over time, each with nodes, pods and a time: {} is none", path.display()))
                })?;
                dumps.push(dump);
            }
            dumps.sort_by_key(|(time, _)| *time);
            dumps.into_iter().try_for_each(|(_, loaded)| watch.observe(loaded))?;
        }
    }
    Ok(if watch.is_in_part { EXIT_SOURCE } else { EXIT_OK })
}

/// The state that was seen last.
struct Watch<'a> {
    args: &'a ExplainArgs,
    state: Option<Watched>,
    /// Whether nodes or pods of a state are not known, or in part only.
    is_in_part: bool,
    /// Whether standard output is read no more.
    is_closed: bool,
}

impl Watch<'_> {
    /// Prints what happened up to a state.
    fn observe(&mut self, mut loaded: Loaded) -> Result<(), Failure> {
        let time = loaded.report.newest.unwrap_or_default();
        let events = loaded.events.clone();
        let cluster = loaded.cluster();
        self.next(time, &cluster, &events, || {
            loaded.events = Vec::new();
            loaded
        })
    }

    /// Prints what happened up to a state; `loaded` makes a source of it.
    fn next(
        &mut self,
        time: Timestamp,
        cluster: &Cluster,
        events: &[ObservedEvent],
        loaded: impl FnOnce() -> Loaded,
    ) -> Result<(), Failure> {
        self.is_in_part |= cluster.unknown.decides_on_part();
        let args = self.args;
        let namespace = args.namespace();
        let wanted = |key: &Key| args.all_namespaces || key.namespace.as_str() == namespace;
        let happened = match &mut self.state {
            None => {
                if let Some(failure) = super::explain::unknown_namespace(&[cluster], &[], args.namespace.as_deref()) {
                    return Err(failure);
                }
                let state = Watched::of(cluster, events, &wanted);
                let started = state.started(time);
                self.state = Some(state);
                started
            }
            Some(state) => state.next(time, cluster, events, &wanted, || {
                super::scheduler(&args.cluster.scheduler(&args.scheduler), &mut loaded(), Evictions::AtOnce, &Silent)
            })?,
        };
        self.print(&happened)
    }

    fn print(&mut self, happened: &[WatchEvent]) -> Result<(), Failure> {
        for event in happened {
            let text = if self.args.output.operation().is_some() {
                output::to_json_line(&Line { schema_version: SCHEMA_VERSION, event }).map_err(Failure::standard_output)?
            } else {
                Text::from(Lines::from(event.line()))
            };
            self.is_closed |= !output::print(&text).map_err(Failure::standard_output)?;
        }
        Ok(())
    }
}

/// A line of JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    schema_version: u32,
    #[serde(flatten)]
    event: &'a WatchEvent,
}

/// Watches a live cluster until it ends.
fn live(watch: &mut Watch<'_>, connect: &ConnectArgs) -> Result<(), Failure> {
    let live = super::live::connected(connect, &Waits::default())?;
    let mut seen = live.generation();
    let first = loop {
        if let Some(first) = live.wait_first(Some(super::live::soon())) {
            break super::judgeable(first)?;
        }
    };
    super::tell(&first, &StandardError);
    let report = Loaded { objects: Vec::new(), events: Vec::new(), ..first.clone() };
    watch.next(Timestamp::now(), &first.cluster(), &first.events, || first.clone())?;
    drop(first);
    let mut trouble = None;
    while !watch.is_closed {
        live.wait_beyond(seen, Some(Instant::now() + QUIET));
        std::thread::sleep(PAUSE);
        seen = live.generation();
        let found = live.status().troubles().next().map(|kind| kind.subject.to_string());
        if found != trouble {
            output::say(match &found {
                Some(subject) => format!("warning: {subject} cannot be read at the moment; nothing is known of them"),
                None => "all kinds can be read again".to_owned(),
            });
            trouble = found;
        }
        if !live.has_changes() {
            continue;
        }
        let mut events = Vec::new();
        while live.has_changes() {
            let changes = live.take(AT_ONCE).into_iter();
            events.extend(changes.filter_map(|change| if let Change::Event(event) = change { Some(event) } else { None }));
        }
        let cluster = live.cluster();
        watch.next(Timestamp::now(), &cluster, &events, || Loaded { objects: cluster.objects().collect(), ..report.clone() })?;
    }
    Ok(())
}

/// Watches a dump that is written again, or a folder to which dumps come.
fn files(watch: &mut Watch<'_>, path: &Path) -> Result<(), Failure> {
    let limits = watch.args.cluster.limits.limits();
    if !path.exists() {
        return Err(Failure::source(format!("{}: there is no such file", path.display())));
    }
    let mut states: HashMap<PathBuf, Stamp> = HashMap::new();
    let mut newest = None;
    while !watch.is_closed {
        let mut dumps: Vec<(Timestamp, Loaded)> = Vec::new();
        let mut left_out: Vec<PathBuf> = Vec::new();
        for path in take_changed(&mut states, dumps_of(path)?) {
            match dump(&path, &limits, left_out.is_empty()) {
                Some(dump) => dumps.push(dump),
                None => left_out.push(path),
            }
        }
        left_out_line(&left_out).into_iter().for_each(output::say);
        dumps.sort_by_key(|(time, _)| *time);
        for (time, loaded) in dumps {
            // A dump that comes late is of a state that has passed.
            if newest.is_none_or(|newest| time > newest) || !path.is_dir() {
                newest = newest.max(Some(time));
                watch.observe(loaded)?;
            }
        }
        if watch.state.is_none() {
            return Err(Failure::source(format!("{}: there is no dump with nodes, pods and a time", path.display())));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// The time of the last change, and the length.
type Stamp = (Option<SystemTime>, u64);

/// Returns the files that are new or have changed, and keeps the stamps of all.
fn take_changed(states: &mut HashMap<PathBuf, Stamp>, files: Vec<(PathBuf, Stamp)>) -> Vec<PathBuf> {
    let changed = files.iter().filter(|(path, stamp)| states.get(path) != Some(stamp)).map(|(path, _)| path.clone()).collect();
    *states = files.into_iter().collect();
    changed
}

/// Returns one line about the files that are no dumps.
fn left_out_line(paths: &[PathBuf]) -> Option<String> {
    let first = paths.first()?.display();
    Some(match paths.len() {
        1 => format!("{first} is left out: it does not hold nodes, pods and a time"),
        count => format!(
            "{first} and {} are left out: they do not hold nodes, pods and a time",
            count_of(count - 1, "other file", "other files")
        ),
    })
}

/// Returns the file, or the files of a folder, with their stamps.
fn dumps_of(path: &Path) -> Result<Vec<(PathBuf, Stamp)>, Failure> {
    let failed = |error: std::io::Error| Failure::source(format!("{}: {error}", path.display()));
    let stamp = |path: PathBuf| {
        let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((path, (about.modified().ok(), about.len())))
    };
    if !path.is_dir() {
        return Ok(stamp(path.to_owned()).into_iter().collect());
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in path.read_dir().map_err(failed)? {
        files.push(entry.map_err(failed)?.path());
        if files.len() > WATCHED_FILES {
            return Err(Failure::source(format!("{}: holds more than {WATCHED_FILES} files", path.display())));
        }
    }
    files.sort();
    Ok(files.into_iter().filter_map(stamp).collect())
}

/// Loads a dump that has nodes, pods and a time. Its diagnostics go to standard error, and those of another file if `tells_all`.
fn dump(path: &Path, limits: &Limits, tells_all: bool) -> Option<(Timestamp, Loaded)> {
    let read = |inputs: &[source::Input]| {
        let loaded = source::load_within(inputs, limits);
        if tells_all {
            super::tell(&loaded, &StandardError);
        }
        loaded
    };
    let dump = super::dumps::whole_dump(path, &read)?;
    let time = dump.time()?;
    if !tells_all {
        super::tell(&dump.loaded, &StandardError);
    }
    Some((time, dump.loaded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_are_taken_once_and_others_are_one_line() {
        let stamp = |length| (None, length);
        let files = |lengths: [u64; 2]| vec![(PathBuf::from("a"), stamp(lengths[0])), (PathBuf::from("b"), stamp(lengths[1]))];
        let mut states = HashMap::new();
        let mut taken =
            |lengths| take_changed(&mut states, files(lengths)).iter().map(|path| path.display().to_string()).collect::<String>();
        assert_eq!([taken([1, 1]), taken([1, 1]), taken([1, 2]), taken([1, 2])], ["ab", "", "b", ""]);
        let line = |paths: &[&str]| left_out_line(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(line(&[]), None);
        assert_eq!(line(&["a"]).unwrap(), "a is left out: it does not hold nodes, pods and a time");
        assert_eq!(line(&["a", "b", "c"]).unwrap(), "a and 2 other files are left out: they do not hold nodes, pods and a time");
    }
}
