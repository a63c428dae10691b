//! Lists and watches one resource for as long as the connection lives.
//!
//! Mirrors `staging/src/k8s.io/client-go/tools/cache/reflector.go`: it lists (in pages, or as a stream of events if the
//! server supports it), watches from the list's resource version, resumes a watch that broke off, and lists again if the
//! server has compacted that version.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use tokio::time::Instant;

use super::connection::Shared;
use super::decode::{self, Line};
use super::discovery::{Offer, is_essential};
use super::failure::{Failure, FailureKind};
use super::resource::{Resource, Subject};
use super::status::{Place, RetryCause, State};
use super::store::Taken;
use super::timing::{Backoff, Timing};
use crate::cluster::{Key, Kind};
use crate::limits::live::{CONTINUE_TOKEN, PAGES, PAGES_WITHOUT_NEWS};

/// Bytes of a watch that are decoded together; more if one object is longer.
const BATCH: usize = 1 << 20;

/// The maximal length of an object in bytes; API servers reject objects of a few megabytes.
const MAX_LINE: usize = 64 << 20;

/// How many times more items a page of Events has than one of objects.
const EVENTS_PER_OBJECT: u32 = 10;

/// A watch that ends sooner without any data counts as failed.
const SHORT: Duration = Duration::from_secs(1);

/// The reflector of a resource, in all namespaces or in one.
pub(super) struct Reflector {
    shared: Arc<Shared>,
    resource: &'static Resource,
    namespace: Option<String>,
    place: Place,
    /// The API version, as an index in the resource's versions.
    version: usize,
    /// The resource version up to which all is known; `None` before the first list.
    at: Option<String>,
    backoff: Backoff,
    /// Lists are streams of events.
    streaming: bool,
    /// Objects per page.
    page: u32,
}

/// When to continue after a failure.
enum Next {
    Now,
    After(Duration),
    Never,
}

impl Reflector {
    pub(super) fn new(shared: Arc<Shared>, resource: &'static Resource, namespace: Option<String>) -> Self {
        let place = (resource.subject, namespace.clone());
        shared.board().add(&place);
        let (streaming, page) = match resource.subject {
            // They are small and far more numerous than objects.
            Subject::Events => (false, shared.page.saturating_mul(EVENTS_PER_OBJECT)),
            Subject::Objects(_) => (shared.streaming, shared.page),
        };
        Self { shared, resource, namespace, place, version: 0, at: None, backoff: Backoff::default(), streaming, page }
    }

    /// Runs for as long as the connection lives.
    pub(super) async fn run(mut self) {
        match self.shared.offers.of(self.resource) {
            Offer::Version(version) => self.version = version,
            Offer::Unknown => {}
            Offer::Absent => {
                self.settle(State::Absent);
                if !self.shared.watch {
                    return;
                }
                tokio::time::sleep(self.shared.timing.absent).await;
            }
            Offer::Old => {
                let version = self.shared.offers.versions(self.resource);
                return self.settle(State::OldVersion { version });
            }
        }
        loop {
            let shared = Arc::clone(&self.shared);
            let result = tokio::select! {
                result = self.turn() => result,
                () = shared.hung.notified() => Err(hangs(&shared.timing)),
            };
            let next = match result {
                Ok(()) => Next::Now,
                Err(failure) => self.after(failure).await,
            };
            let wait = match next {
                Next::Never => return,
                Next::Now => Duration::ZERO,
                Next::After(wait) => wait,
            };
            // Without watches, a settled resource does not change any more.
            if !shared.watch && shared.board().of(&self.place).settled {
                return;
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Runs one list, or one watch.
    async fn turn(&mut self) -> Result<(), Failure> {
        match self.at.clone() {
            Some(version) => self.watch(Some(version)).await,
            None if self.streaming => self.watch(None).await,
            None => self.list().await,
        }
    }

    fn kind(&self) -> Option<Kind> {
        if let Subject::Objects(kind) = self.resource.subject { Some(kind) } else { None }
    }

    fn api_version(&self) -> String {
        self.resource.api_version(self.resource.versions[self.version])
    }

    /// Returns the URL of a request; `more` are further parameters.
    fn url(&self, more: &str) -> String {
        let path = self.resource.path(self.resource.versions[self.version], self.namespace.as_deref());
        match self.resource.field_selector() {
            Some(selector) => format!("{path}?{more}&fieldSelector={}", encode(selector)),
            None => format!("{path}?{more}"),
        }
    }

    fn set(&self, state: State) {
        let mut board = self.shared.board();
        let status = board.of(&self.place);
        if matches!((&status.state, &state), (State::Retrying { .. }, State::Watching)) {
            self.shared.reconnected.notify_one();
        }
        status.state = state;
        if status.api_version.is_empty() {
            status.api_version = self.api_version();
        }
    }

    /// Sets a state after which nothing more will come for the initial state.
    fn settle(&self, state: State) {
        self.set(state);
        self.shared.board().of(&self.place).settled = true;
        self.shared.settled();
    }

    /// Decides how to continue after a failure, and shows it.
    async fn after(&mut self, failure: Failure) -> Next {
        let timing = &self.shared.timing;
        match failure.what {
            // Streams may be switched off on the server, and permission to list does not imply permission to watch.
            FailureKind::Rejected | FailureKind::Forbidden if self.streaming && self.at.is_none() => {
                self.streaming = false;
                return Next::Now;
            }
            FailureKind::Forbidden => {
                let namespaces = &self.shared.namespaces;
                if self.namespace.is_none() && self.resource.namespaced() && !namespaces.is_empty() {
                    self.shared.split(self.resource);
                    return Next::Never;
                }
                // It may be allowed later. Changes until then are only in a new list.
                self.at = None;
                self.settle(State::Forbidden { why: failure.message });
                return Next::After(timing.forbidden);
            }
            FailureKind::Absent if self.version + 1 < self.resource.versions.len() => {
                self.version += 1;
                self.at = None;
                return Next::Now;
            }
            FailureKind::Absent => {
                (self.version, self.at) = (0, None);
                self.clear();
                self.settle(State::Absent);
                return Next::After(timing.absent);
            }
            FailureKind::Rejected => self.at = None,
            FailureKind::Expired => {
                // The list takes longer than the server keeps its version. Larger pages need fewer requests.
                if self.at.is_none() {
                    self.page = self.page.saturating_mul(4);
                }
                self.at = None;
                if self.backoff.failures() == 0 {
                    self.backoff.next(timing, None);
                    self.set(State::Listing);
                    return Next::Now;
                }
            }
            FailureKind::Unauthorised | FailureKind::Credentials => {
                let _ = self.shared.renew().await;
            }
            _ => {}
        }
        let timing = &self.shared.timing;
        let wait = self.backoff.next(timing, failure.asked(timing.second));
        self.retrying(failure, wait);
        Next::After(wait)
    }

    fn retrying(&self, failure: Failure, wait: Duration) {
        let now = Timestamp::now();
        let next = now.checked_add(wait).unwrap_or(now);
        let mut board = self.shared.board();
        let status = board.of(&self.place);
        let since = if let State::Retrying { since, .. } = status.state { since } else { now };
        tracing::info!(subject = %self.resource.subject, why = failure.message, ?wait, "tried again later");
        let cause = match failure.what {
            FailureKind::Unauthorised => RetryCause::CredentialsRefused,
            FailureKind::Credentials => RetryCause::NoCredentials,
            _ => RetryCause::Request,
        };
        status.state = State::Retrying { since, why: failure.message, next, cause };
        let can_wait = self.shared.watch && is_essential(self.resource.subject);
        let out_of_patience = self.backoff.failures() >= self.shared.timing.patience && !can_wait;
        let settles = out_of_patience && !status.settled;
        status.settled |= settles;
        drop(board);
        if settles {
            self.shared.settled();
        }
        self.shared.wake();
    }

    /// Removes all objects: the server no longer has the resource.
    fn clear(&self) {
        if let Some(kind) = self.kind()
            && self.shared.store().sweep(kind, self.namespace.as_deref(), &HashSet::new())
        {
            self.shared.changed(&self.place);
        }
    }

    /// Lists all objects, page by page.
    async fn list(&mut self) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        let mut next = String::new();
        let (mut without_news, mut pages) = (0, 0);
        loop {
            pages += 1;
            let before = seen.len();
            let from = if next.is_empty() { String::new() } else { format!("&continue={}", encode(&next)) };
            let url = self.url(&format!("limit={}{from}", self.page));
            let (text, date) = self.shared.client.text(&url, None).await?;
            let page = decode::page(&text, self.resource)?;
            self.shared.note_read(text.len(), date);
            drop(text);
            let (mut taken, count) = (Taken::default(), page.items.len());
            {
                let mut store = self.shared.store();
                for item in page.items {
                    taken += store.put(item, Some(&mut seen));
                }
            }
            self.note(taken, Some(seen.len().max(count)));
            without_news = if seen.len() > before { 0 } else { without_news + 1 };
            if self.kind().is_some() && without_news >= PAGES_WITHOUT_NEWS || pages >= PAGES || page.next.len() > CONTINUE_TOKEN {
                return Err(Failure::new(FailureKind::Content, "the list does not end: its pages bring nothing new"));
            }
            if !page.next.is_empty() && page.next == next {
                return Err(Failure::new(FailureKind::Content, "the list does not end: a page leads to itself"));
            }
            next = page.next;
            if next.is_empty() {
                let watched = !page.resource_version.is_empty();
                self.listed(&seen, page.resource_version);
                return if watched || !self.shared.watch {
                    Ok(())
                } else {
                    Err(Failure::new(FailureKind::Content, "the list has no resourceVersion, so it is read again instead of watched"))
                };
            }
        }
    }

    /// Updates the status after some answers.
    fn note(&self, taken: Taken, objects: Option<usize>) {
        let degraded = self.kind().map(|kind| self.shared.store().unreadable(kind, self.namespace.as_deref()));
        let mut board = self.shared.board();
        let status = board.of(&self.place);
        status.unreadable += taken.unreadable;
        let degrades = degraded.is_some_and(|count| count != status.degraded);
        status.degraded = degraded.unwrap_or(0);
        if let Some(objects) = objects {
            status.objects = objects;
        }
        drop(board);
        if taken.changed {
            self.shared.changed(&self.place);
        } else if degrades {
            self.shared.wake();
        }
    }

    /// Ends a list of all objects, whose keys are `seen`.
    fn listed(&mut self, seen: &HashSet<Key>, version: String) {
        let mut changed = false;
        if let Some(kind) = self.kind() {
            let mut store = self.shared.store();
            changed = store.sweep(kind, self.namespace.as_deref(), seen);
            changed |= store.listed(kind);
        }
        self.at = Some(version).filter(|version| !version.is_empty());
        self.note(Taken { changed, unreadable: 0 }, self.kind().map(|_| seen.len()));
        self.shared.board().of(&self.place).lists += 1;
        self.settle(State::Watching);
    }

    /// Watches from a resource version on; without one, all objects come first.
    async fn watch(&mut self, from: Option<String>) -> Result<(), Failure> {
        let seconds = self.shared.timing.watch.as_secs().max(1);
        let start = match &from {
            Some(version) => format!("&resourceVersion={}", encode(version)),
            None => "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan".to_owned(),
        };
        let url = self.url(&format!("watch=true&allowWatchBookmarks=true{start}&timeoutSeconds={seconds}"));
        let mut answer = self.shared.client.get(&url, None).await?;
        let opened = Instant::now();
        self.shared.note_read(0, answer.date);
        if from.is_some() {
            self.set(State::Watching);
            self.shared.wake();
        }
        let mut stream = Stream { initial: from.is_none().then(HashSet::new), bookmarks: false, heard: false };
        let mut text: Vec<u8> = Vec::new();
        loop {
            let span = answer.next(stream.patience(&self.shared.timing)).await?;
            let mut ended = span.is_none();
            text.extend_from_slice(&span.unwrap_or_default());
            // All data that has arrived is decoded together.
            while !ended && text.len() < BATCH {
                match answer.next(Duration::MAX).now_or_never() {
                    Some(Ok(Some(more))) => text.extend_from_slice(&more),
                    Some(Ok(None)) => ended = true,
                    Some(Err(failure)) => {
                        self.take(&text, &mut stream)?;
                        return Err(failure);
                    }
                    None => break,
                }
            }
            let rest = self.take(&text, &mut stream)?;
            text.drain(..rest);
            if text.len() > MAX_LINE {
                return Err(Failure::new(FailureKind::Content, "the watch sends an object without an end"));
            }
            if !ended {
                continue;
            }
            return match () {
                () if stream.initial.is_some() => Err(Failure::new(FailureKind::Connection, "the list was interrupted")),
                () if !text.trim_ascii().is_empty() => {
                    Err(Failure::new(FailureKind::Connection, "the watch was interrupted within an object"))
                }
                () if !stream.heard && opened.elapsed() < SHORT.min(self.shared.timing.watch) => {
                    Err(Failure::new(FailureKind::Connection, "the watch ended at once"))
                }
                () => {
                    self.backoff.reset();
                    Ok(())
                }
            };
        }
    }

    /// Ingests the whole lines of a watch; returns their length.
    fn take(&mut self, text: &[u8], stream: &mut Stream) -> Result<usize, Failure> {
        let Some(end) = memchr::memrchr(b'\n', text) else { return Ok(0) };
        let lines = decode::lines(&text[..end], self.resource, &self.api_version());
        if stream.initial.is_some() {
            self.shared.note_read(end, None);
        }
        let kind = self.kind();
        let mut taken = Taken::default();
        let mut result = Ok(end + 1);
        let mut complete = false;
        let shared = Arc::clone(&self.shared);
        let mut store = shared.store();
        for line in lines {
            match line {
                Ok(Line::Put(decoded, version)) => {
                    taken += store.put(*decoded, stream.initial.as_mut());
                    self.reached(version, stream);
                }
                Ok(Line::Gone(key, uid, version)) => {
                    if let Some(kind) = kind {
                        taken.changed |= store.gone(kind, &key, Some(&uid));
                    }
                    if let Some(seen) = &mut stream.initial {
                        seen.remove(&key);
                    }
                    self.reached(version, stream);
                }
                Ok(Line::Bookmark(version, end)) => {
                    stream.bookmarks = true;
                    if end && let Some(seen) = stream.initial.take() {
                        drop(store);
                        self.listed(&seen, version.clone());
                        complete = true;
                        store = shared.store();
                    }
                    self.reached(version, stream);
                }
                Ok(Line::Error(failure)) | Err(failure) => {
                    if failure.what == FailureKind::Content {
                        // Changes may be missing between the last line that was decoded and the next one.
                        self.at = None;
                    }
                    result = Err(failure);
                    break;
                }
            }
            stream.heard = true;
        }
        let objects = match (kind, &stream.initial) {
            (Some(_), Some(seen)) => Some(seen.len()),
            (Some(kind), None) if taken.changed || complete => Some(store.count(kind, self.namespace.as_deref())),
            _ => None,
        };
        drop(store);
        if stream.initial.is_none() && stream.heard {
            self.backoff.reset();
        }
        self.note(taken, objects);
        result
    }

    fn reached(&mut self, version: String, stream: &Stream) {
        if stream.initial.is_none() && !version.is_empty() {
            self.at = Some(version);
        }
    }
}

fn hangs(timing: &Timing) -> Failure {
    let silent = timing.probe + timing.probe_answer;
    Failure::new(FailureKind::Timeout, format!("the server does not respond: nothing was received for {silent:?}"))
}

/// The state of a watch.
struct Stream {
    /// The keys of the initial objects so far; `None` after these.
    initial: Option<HashSet<Key>>,
    /// The server sends bookmarks.
    bookmarks: bool,
    /// Data has arrived.
    heard: bool,
}

impl Stream {
    /// Returns how long the watch may be silent before the connection counts as dead.
    fn patience(&self, timing: &Timing) -> Duration {
        match (&self.initial, self.bookmarks) {
            (Some(_), _) => timing.answer,
            (None, true) => timing.silence,
            (None, false) => timing.watch + timing.silence.min(timing.answer),
        }
    }
}

/// Encodes a parameter's value for a query.
fn encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
