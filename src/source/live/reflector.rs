//! Lists and watches one resource for as long as the connection lives.
//!
//! Mirrors `staging/src/k8s.io/client-go/tools/cache/reflector.go`: it lists (in pages, or as a stream of events if the
//! server supports it), watches from the list's resource version, resumes a watch that broke off, and lists again if the
//! server has compacted that version.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use tokio::time::Instant;

use super::answer::Pace;
use super::bounds::Bounds;
use super::connection::Shared;
use super::decode::{self, Line};
use super::discovery::{Offer, Offers, is_essential};
use super::failure::{Failure, FailureKind};
use super::resource::{Resource, Subject};
use super::status::{Place, RetryCause, State};
use super::store::Taken;
use super::timing::{Backoff, Timing};
use super::waiting::Waiting;
use crate::cluster::{Key, Kind};
use crate::limits::live::{CONTINUE_TOKEN, PAGES_WITHOUT_NEW_ITEMS, SMALLEST_PAGE};

/// Bytes of a watch that are decoded together; more if one object is longer.
const BATCH: usize = 1 << 20;

/// How many times more items a page of Events has than one of objects.
const EVENTS_PER_OBJECT: u32 = 10;

/// A watch that ends sooner without any data counts as failed, and one with data is opened again after a pause.
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
    /// When the first request of the present failures began.
    failing: Option<Instant>,
    /// Lists are streams of events.
    streaming: bool,
    /// Objects per page.
    page: u32,
    /// Objects per page of the first list.
    first_page: u32,
}

/// When to continue after a failure.
enum Next {
    Now,
    After(Duration),
    /// When the server's discovery has the resource, which it does not now.
    WhenOffered,
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
        let backoff = Backoff::default();
        Self { shared, resource, namespace, place, version: 0, at: None, backoff, failing: None, streaming, page, first_page: page }
    }

    /// Runs for as long as the connection lives.
    pub(super) async fn run(mut self) {
        match self.shared.offers.of(self.resource) {
            Offer::Version(version) => self.version = version,
            Offer::Unknown => {}
            Offer::Absent => {
                if !self.until_offered().await {
                    return;
                }
            }
            Offer::Old => {
                let version = self.shared.offers.versions(self.resource);
                return self.settle(State::OldVersion { version });
            }
        }
        loop {
            let shared = Arc::clone(&self.shared);
            let (began, watches) = (Instant::now(), self.at.is_some());
            let result = tokio::select! {
                result = self.turn() => result,
                () = shared.hung.notified() => Err(hangs(&shared.timing)),
            };
            let next = match result {
                // A server that ends each watch at once is not asked without a pause.
                Ok(()) if watches && began.elapsed() < SHORT.min(shared.timing.watch) => Next::After(self.backoff.pause(&shared.timing)),
                Ok(()) => Next::Now,
                Err(failure) => {
                    self.failing.get_or_insert(began);
                    self.after(shared.client.hide(failure)).await
                }
            };
            let wait = match next {
                Next::Never => return,
                Next::WhenOffered if !self.until_offered().await => return,
                Next::WhenOffered | Next::Now => Duration::ZERO,
                Next::After(wait) => wait,
            };
            // Without watches, a settled resource does not change any more.
            if !shared.watch && shared.board().of(&self.place).settled {
                return;
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Waits until the server's discovery has the resource, without which there are no objects; returns false if that is not waited for.
    async fn until_offered(&mut self) -> bool {
        self.settle(State::Absent);
        if !self.shared.watch {
            return false;
        }
        loop {
            tokio::time::sleep(self.shared.timing.absent).await;
            if let Offer::Version(version) = self.offer().await {
                (self.version, self.at) = (version, None);
                return true;
            }
        }
    }

    /// Asks the server's discovery for the resource again.
    async fn offer(&self) -> Offer {
        Offers::ask_again(&self.shared.client, self.resource, self.shared.timing.answer).await
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

    /// Returns the name of its lists or watches among what the connection waits for.
    fn waiting(&self, name: fn(Subject, Option<String>) -> Waiting) -> Waiting {
        name(self.resource.subject, self.namespace.clone())
    }

    fn succeeded(&mut self) {
        self.backoff.succeeded();
        self.failing = None;
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
        match failure.what {
            // Streams may be switched off on the server, and a list may be there, or permitted, without a watch.
            FailureKind::Rejected | FailureKind::Forbidden | FailureKind::NotFound if self.streaming && self.at.is_none() => {
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
                return Next::After(self.shared.timing.forbidden);
            }
            // Every server has these, so discovery is not asked again.
            FailureKind::NotFound if self.resource.group.is_empty() => {}
            FailureKind::NotFound => match self.offer().await {
                Offer::Absent => {
                    self.at = None;
                    self.clear();
                    return Next::WhenOffered;
                }
                Offer::Version(version) if version != self.version => {
                    (self.version, self.at) = (version, None);
                    return Next::After(self.backoff.next(&self.shared.timing, None));
                }
                // The server may have any version.
                Offer::Unknown if self.at.is_none() && self.version + 1 < self.resource.versions.len() => {
                    self.version += 1;
                    return Next::Now;
                }
                Offer::Unknown if self.at.is_none() => self.version = 0,
                Offer::Version(_) | Offer::Unknown | Offer::Old => {}
            },
            // A resource version may be one that cannot be sent.
            FailureKind::Rejected | FailureKind::Refused => self.at = None,
            FailureKind::Limit | FailureKind::TooLong => {
                let is_smaller = self.shrink_page(failure.what);
                if is_smaller && !self.shared.client.is_exhausted() {
                    return Next::After(self.backoff.next(&self.shared.timing, None));
                }
            }
            FailureKind::Expired => {
                // The list takes longer than the server keeps its version. Larger pages need fewer requests.
                if self.at.is_none() {
                    self.page = self.page.saturating_mul(4).min(self.first_page.saturating_mul(16));
                }
                self.at = None;
                if self.backoff.is_fresh(&self.shared.timing) {
                    self.backoff.next(&self.shared.timing, None);
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
        if failure.what == FailureKind::OtherKind || self.shared.client.is_exhausted() {
            self.backoff.exhaust();
        }
        let wait = self.backoff.next(timing, failure.asked(timing.second));
        self.retrying(failure, wait);
        Next::After(wait)
    }

    /// Makes pages smaller after one that was too long, or took too long. Returns whether it can.
    fn shrink_page(&mut self, what: FailureKind) -> bool {
        let is_list = self.at.take().is_none() && !self.streaming;
        let smaller = match what {
            // Its pages had become larger.
            _ if self.page > self.first_page => self.first_page,
            FailureKind::TooLong if is_list => (self.page / 10).max(SMALLEST_PAGE).min(self.page),
            _ => self.page,
        };
        let is_smaller = smaller < self.page;
        self.page = smaller;
        is_smaller
    }

    fn retrying(&self, failure: Failure, wait: Duration) {
        let now = Timestamp::now();
        let next = now.checked_add(wait).unwrap_or(now);
        let limited = matches!(failure.what, FailureKind::Limit | FailureKind::TooLong | FailureKind::OtherKind);
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
        let timing = &self.shared.timing;
        let can_wait = self.shared.watch && is_essential(self.resource.subject);
        let fails_long = self.backoff.failures() >= timing.patience || self.failing.is_some_and(|since| since.elapsed() >= timing.answer);
        // Another try meets the same limit.
        let settles = (limited || fails_long && !can_wait) && !status.settled;
        status.settled |= settles;
        drop(board);
        if settles {
            self.shared.settled();
        }
        self.shared.wake();
    }

    /// Removes all objects: the server's discovery no longer has the resource.
    fn clear(&self) {
        if let Some(kind) = self.kind()
            && self.shared.store().sweep(kind, self.namespace.as_deref(), &HashSet::new())
        {
            self.shared.changed(&self.place);
        }
    }

    /// Lists all objects, page by page.
    async fn list(&mut self) -> Result<(), Failure> {
        let shared = Arc::clone(&self.shared);
        let bounds = shared.client.bounds();
        let mut list = List::default();
        loop {
            let from = if list.next.is_empty() { String::new() } else { format!("&continue={}", encode(&list.next)) };
            let url = self.url(&format!("limit={}{from}", self.page));
            let check = |start: &[u8]| decode::check_start(start, self.resource);
            let text = shared.client.checked(&url, self.waiting(Waiting::List), bounds.page, check).await?;
            let page = decode::page(&text.bytes, self.resource)?;
            list.bytes += text.bytes.len() as u64;
            self.shared.note_read(text.bytes.len(), text.date);
            text.used();
            list.pages += 1;
            let before = list.seen.len();
            list.items += page.items.len();
            let mut taken = Taken::default();
            {
                let mut store = self.shared.store();
                for item in page.items {
                    taken += store.put(item, Some(&mut list.seen));
                }
            }
            list.unreadable += taken.unreadable;
            // Events are not kept by key.
            let progress = self.kind().is_none() || list.seen.len() > before;
            list.without_progress = if progress { 0 } else { list.without_progress + 1 };
            self.note(taken, Some(list.seen.len().max(if self.kind().is_some() { 0 } else { list.items })));
            if page.next.is_empty() {
                return self.end_list(&list.seen, page.resource_version);
            }
            list.go_on(page.next, bounds)?;
        }
    }

    /// Ends a list of all pages.
    fn end_list(&mut self, seen: &HashSet<Key>, version: String) -> Result<(), Failure> {
        let follows = !version.is_empty() || !self.shared.watch;
        self.listed(seen, version);
        if follows { Ok(()) } else { Err(versionless()) }
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
        self.succeeded();
        self.note(Taken { changed, unreadable: 0 }, self.kind().map(|_| seen.len()));
        self.shared.board().of(&self.place).lists += 1;
        self.settle(State::Watching);
    }

    fn watch_url(&self, from: Option<&str>) -> String {
        let seconds = self.shared.timing.watch.as_secs().max(1);
        let start = match from {
            Some(version) => format!("&resourceVersion={}", encode(version)),
            None => "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan".to_owned(),
        };
        self.url(&format!("watch=true&allowWatchBookmarks=true{start}&timeoutSeconds={seconds}"))
    }

    /// Watches from a resource version on; without one, all objects come first.
    async fn watch(&mut self, from: Option<String>) -> Result<(), Failure> {
        let shared = Arc::clone(&self.shared);
        let bounds = shared.client.bounds();
        let mut answer = self.shared.client.get(&self.watch_url(from.as_deref()), self.waiting(Waiting::Watch), None).await?;
        let opened = Instant::now();
        self.shared.note_read(0, answer.date);
        if from.is_some() {
            self.set(State::Watching);
            self.shared.wake();
        }
        let timing = &shared.timing;
        let mut stream = Stream { initial: from.is_none().then(HashSet::new), answered: false, bytes: 0, unreadable: 0 };
        let mut text: Vec<u8> = Vec::new();
        let mut turn = None;
        // Of the initial objects, and of an object that has begun.
        let mut pace = Pace::new(timing.answer);
        loop {
            let more = if stream.initial.is_some() || !text.is_empty() {
                answer.next_in_time(&mut pace, &mut text).await?
            } else {
                let more = answer.next(timing.silence, &mut text).await?;
                pace = Pace::new(timing.answer);
                more
            };
            let mut ended = !more;
            // All data that has arrived is decoded together.
            while !ended && text.len() < BATCH {
                match answer.next(Duration::MAX, &mut text).now_or_never() {
                    Some(Ok(more)) => ended = !more,
                    Some(Err(failure)) => {
                        self.take(&text, &mut stream)?;
                        return Err(failure);
                    }
                    None => break,
                }
            }
            let rest = self.take(&text, &mut stream)?;
            text.drain(..rest);
            shared.client.costs().used(rest);
            if rest > 0 && stream.initial.is_none() {
                pace = Pace::new(timing.answer);
            }
            // Long objects are read one after another, like long answers.
            if (text.len() as u64) <= bounds.small_answer {
                turn = None;
            } else if turn.is_none() {
                turn = shared.client.costs().turn().await;
                pace = Pace::new(timing.answer);
            }
            let most = bounds.watched_object.min(shared.client.costs().allowed(bounds) as usize);
            if text.len() > most {
                shared.client.costs().wasted(text.len());
                return Err(Failure::new(FailureKind::Content, format!("the watch sends an object of more than {most} bytes")));
            }
            if !ended {
                continue;
            }
            return stream.end(!text.trim_ascii().is_empty(), opened.elapsed() < SHORT.min(timing.watch));
        }
    }

    /// Ingests the whole lines of a watch; returns their length.
    fn take(&mut self, text: &[u8], stream: &mut Stream) -> Result<usize, Failure> {
        let Some(end) = memchr::memrchr(b'\n', text) else { return Ok(0) };
        let lines = decode::lines(&text[..end], self.resource, &self.api_version());
        if stream.initial.is_some() {
            self.shared.note_read(end, None);
            stream.bytes += end as u64;
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
                    if end && let Some(seen) = stream.initial.take() {
                        drop(store);
                        self.listed(&seen, version.clone());
                        complete = true;
                        store = shared.store();
                        if version.is_empty() {
                            result = Err(versionless());
                            break;
                        }
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
            stream.answered = true;
        }
        let objects = match (kind, &stream.initial) {
            (Some(_), Some(seen)) => Some(seen.len()),
            (Some(kind), None) if taken.changed || complete => Some(store.count(kind, self.namespace.as_deref())),
            _ => None,
        };
        let known = kind.map_or(0, |kind| store.count(kind, None));
        drop(store);
        if stream.initial.is_none() && stream.answered {
            self.succeeded();
        }
        self.note(taken, objects);
        stream.unreadable += taken.unreadable;
        result.and_then(|end| stream.check(known, self.shared.client.bounds()).map(|()| end))
    }

    fn reached(&mut self, version: String, stream: &Stream) {
        if stream.initial.is_none() && !version.is_empty() {
            self.at = Some(version);
        }
    }
}

fn versionless() -> Failure {
    Failure::new(FailureKind::Content, "the list has no resource version, so its changes cannot be watched")
}

fn hangs(timing: &Timing) -> Failure {
    let silent = timing.probe + timing.probe_answer;
    Failure::new(FailureKind::Timeout, format!("the server does not respond: nothing was received for {silent:?}"))
}

/// The pages that were read of a list.
#[derive(Default)]
pub(super) struct List {
    seen: HashSet<Key>,
    /// The token of the next page.
    pub(super) next: String,
    /// The hashes of all tokens.
    tokens: HashSet<u64>,
    pub(super) pages: usize,
    /// Pages in a row without a new object.
    pub(super) without_progress: usize,
    pub(super) items: usize,
    pub(super) bytes: u64,
    unreadable: usize,
}

impl List {
    /// Continues with the page of a token, unless the list is too long or does not end.
    pub(super) fn go_on(&mut self, next: String, bounds: &Bounds) -> Result<(), Failure> {
        let limit = |message: String| Err(Failure::new(FailureKind::Limit, message));
        if next.len() > CONTINUE_TOKEN {
            return limit(format!("the list has a continue token of {} bytes", next.len()));
        }
        let mut hasher = DefaultHasher::new();
        next.hash(&mut hasher);
        if !self.tokens.insert(hasher.finish()) {
            return limit(format!("the list does not end: a continue token comes again after {} pages", self.pages));
        }
        if self.without_progress >= PAGES_WITHOUT_NEW_ITEMS {
            return limit("the list does not end: its pages bring nothing new".to_owned());
        }
        self.next = next;
        if self.pages >= bounds.pages {
            return limit(format!("the list has more than {} pages", bounds.pages));
        }
        within(self.items, self.bytes, self.unreadable, bounds)
    }
}

/// Checks the objects of a list or watch.
fn within(items: usize, bytes: u64, unreadable: usize, bounds: &Bounds) -> Result<(), Failure> {
    let limit = |message: String| Err(Failure::new(FailureKind::Limit, message));
    if items > bounds.items {
        return limit(format!("there are more than {} objects", bounds.items));
    }
    if bytes > bounds.list {
        return limit(format!("the list is longer than {} bytes", bounds.list));
    }
    if unreadable > bounds.unreadable {
        return limit(format!("more than {} objects cannot be read", bounds.unreadable));
    }
    Ok(())
}

/// The state of a watch.
struct Stream {
    /// The keys of the initial objects so far; `None` after these.
    initial: Option<HashSet<Key>>,
    /// Data has arrived.
    answered: bool,
    /// Bytes of the initial objects.
    bytes: u64,
    unreadable: usize,
}

impl Stream {
    /// Returns the result of a watch that ended, perhaps within an object, or soon after it was opened.
    fn end(&self, within_object: bool, is_short: bool) -> Result<(), Failure> {
        let message = match () {
            () if self.initial.is_some() => "the list was interrupted",
            () if within_object => "the watch was interrupted within an object",
            () if !self.answered && is_short => "the watch ended at once",
            () => return Ok(()),
        };
        Err(Failure::new(FailureKind::Connection, message))
    }

    /// Checks the objects so far, of which `known` are kept.
    fn check(&self, known: usize, bounds: &Bounds) -> Result<(), Failure> {
        within(self.initial.as_ref().map_or(0, HashSet::len).max(known), self.bytes, self.unreadable, bounds)
    }
}

/// Encodes a parameter's value for a query.
pub(super) fn encode(value: &str) -> String {
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
