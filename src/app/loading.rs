//! Tracks a load that runs on its own thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::source::Progress;
use crate::source::live::{Live, State, Waits};
use crate::ui::model::text::thousands;
use crate::ui::view::start::loading::{Detail, Loading, Mark};

/// Progress of a load, its messages for standard error, and its cancellation.
#[derive(Debug, Default)]
pub struct Watch(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    phases: Vec<(&'static str, Instant)>,
    reading: Option<Arc<Progress>>,
    cluster: Option<Arc<Live>>,
    waits: Option<Waits>,
    said: Vec<String>,
    cancelled: bool,
}

impl Watch {
    /// Reports that a dump is being read.
    pub fn reading(&self, progress: Arc<Progress>) {
        let mut watched = self.lock();
        if watched.cancelled {
            progress.cancel();
        }
        watched.begin("reading");
        watched.reading = Some(progress);
    }

    /// Reports that a cluster is being contacted, and what is waited for.
    pub fn connecting(&self, waits: Waits) {
        let mut watched = self.lock();
        watched.begin("connecting");
        watched.waits = Some(waits);
    }

    /// Reports that a cluster is being listed.
    pub fn cluster(&self, live: Arc<Live>) {
        let mut watched = self.lock();
        watched.begin("reading the cluster");
        watched.cluster = Some(live);
    }

    /// Reports that reading ended and the scheduler is being built.
    pub fn building(&self) {
        let mut watched = self.lock();
        watched.begin("building the scheduler");
    }

    /// Adds a line for standard error, printed when that does not spoil the screen.
    pub fn say(&self, line: impl std::fmt::Display) {
        self.lock().said.push(line.to_string());
    }

    /// Takes the lines for standard error.
    pub fn said(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().said)
    }

    /// Cancels the load.
    pub(super) fn cancel(&self) {
        let mut watched = self.lock();
        watched.cancelled = true;
        if let Some(progress) = &watched.reading {
            progress.cancel();
        }
    }

    /// Returns whether the load was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    /// Returns the progress for the loading screen.
    pub(super) fn shown(&self, source: &str, ticks: usize) -> Loading {
        let watched = self.lock();
        let ends = watched.phases.iter().skip(1).map(|(_, began)| *began).chain([Instant::now()]);
        let took = |(began, end): (Instant, Instant)| -> Duration { end.saturating_duration_since(began) };
        let phases = watched.phases.iter().zip(ends).map(|((what, began), end)| ((*what).to_owned(), took((*began, end)))).collect();
        let details = match (&watched.cluster, &watched.reading) {
            (Some(live), _) => kinds(live),
            (None, Some(progress)) => amounts(progress),
            (None, None) => {
                watched.waits.as_ref().and_then(Waits::line).map(|words| Detail { mark: Mark::Going, words }).into_iter().collect()
            }
        };
        Loading { source: source.to_owned(), phases, details, ticks }
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Begins a phase, unless it is the current one.
    fn begin(&mut self, what: &'static str) {
        if self.phases.last().is_none_or(|(last, _)| *last != what) {
            self.phases.push((what, Instant::now()));
        }
    }
}

fn amounts(progress: &Progress) -> Vec<Detail> {
    let objects = thousands(usize::try_from(progress.objects()).unwrap_or(usize::MAX));
    let megabytes = thousands(usize::try_from(progress.bytes() / 1_000_000).unwrap_or(usize::MAX));
    let lines = [progress.file(), format!("{megabytes} MB, {objects} objects so far")];
    lines.into_iter().filter(|words| !words.is_empty()).map(|words| Detail { mark: Mark::Plain, words }).collect()
}

/// Returns the progress of each list of a cluster.
fn kinds(live: &Live) -> Vec<Detail> {
    let status = live.status();
    let details = status.kinds.iter().map(|kind| {
        let place = kind.namespace.as_deref().map(|n| format!(" in {n}")).unwrap_or_default();
        let count = thousands(kind.objects);
        let (mark, words) = match &kind.state {
            State::Listing if kind.objects == 0 => (Mark::Going, "being listed".to_owned()),
            State::Listing => (Mark::Going, format!("being listed, {count} so far")),
            State::Watching => (Mark::Done, format!("{count} read")),
            State::Retrying { why, .. } => (Mark::Trouble, format!("disconnected: {why}")),
            State::Forbidden { why } => (Mark::Trouble, format!("may not be read: {why}")),
            State::Absent => (Mark::Done, "not on this server".to_owned()),
            State::OldVersion { version } => (Mark::Trouble, format!("only as {version}, which is not understood")),
        };
        Detail { mark, words: format!("{}{place}: {words}", kind.subject) }
    });
    let waits = live.waits().line().map(|line| Detail { mark: Mark::Plain, words: format!("{line} ({})", live.time_left()) });
    waits.into_iter().chain(details).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_one_another_and_what_is_left_is_cancelled() {
        let watch = Watch::default();
        assert_eq!(watch.shown("x", 3), Loading { source: "x".to_owned(), ticks: 3, ..Loading::default() });
        let progress = [Arc::new(Progress::default()), Arc::new(Progress::default()), Arc::new(Progress::default())];
        watch.reading(Arc::clone(&progress[0]));
        watch.reading(Arc::clone(&progress[1]));
        watch.building();
        let shown = watch.shown("x", 0);
        assert_eq!(shown.phases.iter().map(|(what, _)| what.as_str()).collect::<Vec<_>>(), ["reading", "building the scheduler"]);
        assert_eq!(shown.details.iter().map(|d| d.words.as_str()).collect::<Vec<_>>(), ["0 MB, 0 objects so far"]);
        watch.say("a word");
        assert_eq!((watch.said(), watch.said()), (vec!["a word".to_owned()], Vec::new()));
        watch.cancel();
        watch.reading(Arc::clone(&progress[2]));
        assert_eq!(progress.map(|p| p.is_cancelled()), [false, true, true]);
    }
}
