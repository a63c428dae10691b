//! The thread of a connection: the state that its tasks share, and its main loop.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use tokio::sync::{Notify, mpsc as channel};

use super::answer::Text;
use super::discovery::{self, Offers};
use super::error::{ConnectError, Target};
use super::failure::{Failure, FailureKind};
use super::neighbors;
use super::objects::Objects;
use super::read_only::{Connector, ReadOnly, ReadOnlyClient};
use super::reflector::Reflector;
use super::resource::{RESOURCES, Resource};
use super::scheduler_log::{self, LogFeed, LogRead};
use super::status::{Board, Place};
use super::store::Store;
use super::timing::Timing;
use super::waiting::Waiting;
use super::{ConnectOptions, Live};
use crate::cluster::Key;
use crate::cluster::neighbors::Neighbors;
use crate::source::assemble::Loaded;
use crate::source::assemble::report::NeighborsQuestion;

/// The state that the reflectors share with each other and with the consumer.
pub(super) struct Shared {
    pub(super) client: ReadOnlyClient,
    pub(super) offers: Offers,
    pub(super) namespaces: Vec<String>,
    pub(super) page: u32,
    pub(super) streaming: bool,
    /// Lists are followed by watches.
    pub(super) watch: bool,
    /// Notified when the server no longer responds.
    pub(super) hung: Notify,
    /// Notified when a list or watch succeeds after a failure: the server may have been replaced meanwhile.
    pub(super) reconnected: Notify,
    pub(super) timing: Timing,
    pub(super) store: Mutex<Store>,
    pub(super) board: Mutex<Board>,
    pub(super) first: Mutex<Option<Loaded>>,
    /// Starts further reflectors, for those that fall back to namespaces.
    pub(super) reflectors: channel::UnboundedSender<Reflector>,
    pub(super) renewed: tokio::sync::Mutex<Option<Instant>>,
    pub(super) notify: Arc<Notify>,
    /// Logs of kube-scheduler's pods may be read.
    pub(super) may_read_logs: bool,
    pub(super) scheduler_log: Mutex<LogFeed>,
    /// The objects and events that scheduling does not read, if they are followed, and how often they changed.
    pub(super) neighbors: Mutex<(u64, Arc<Neighbors>)>,
    /// The number of updates so far, for waiting without a runtime.
    pub(super) generation: Mutex<u64>,
    pub(super) newer: Condvar,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked left no inconsistent state behind.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }

    pub(super) fn board(&self) -> MutexGuard<'_, Board> {
        lock(&self.board)
    }

    /// Wakes all that wait for an update.
    pub(super) fn wake(&self) {
        *lock(&self.generation) += 1;
        self.newer.notify_all();
        self.notify.notify_one();
    }

    pub(super) fn changed(&self, place: &Place) {
        self.board().changed(place);
        self.wake();
    }

    pub(super) fn note_read(&self, bytes: usize, date: Option<Timestamp>) {
        let mut board = self.board();
        board.bytes += bytes as u64;
        board.date = board.date.max(date);
    }

    /// Takes the server's version, which may be another one than before.
    fn note_version(&self, version: String) {
        let mut board = self.board();
        if board.server_version.as_ref() == Some(&version) {
            return;
        }
        tracing::info!(before = board.server_version, version, "the server has another version");
        board.server_version = Some(version);
        drop(board);
        self.wake();
    }

    /// Assembles the initial state once every reflector is settled.
    pub(super) fn settled(&self) {
        let about = {
            let board = self.board();
            (!board.complete && board.is_settled()).then(|| board.about())
        };
        if let Some(about) = about
            && let Some(loaded) = self.store().assemble(about)
        {
            *lock(&self.first) = Some(loaded);
            self.board().complete = true;
            self.client.loaded();
        }
        self.wake();
    }

    /// Ends the initial state: the kinds that are not read by now are missing from it.
    pub(super) fn give_up(&self) {
        self.board().kinds.values_mut().for_each(|kind| kind.settled = true);
        self.settled();
    }

    /// Replaces a resource's reflector by one per namespace.
    pub(super) fn split(self: &Arc<Self>, resource: &'static Resource) {
        let reflectors: Vec<_> =
            self.namespaces.iter().map(|namespace| Reflector::new(Arc::clone(self), resource, Some(namespace.clone()))).collect();
        self.board().remove(&(resource.subject, None));
        for reflector in reflectors {
            // The receiver lives as long as any reflector does.
            let _ = self.reflectors.send(reflector);
        }
    }

    /// Renews the credentials, unless that was done very recently.
    pub(super) async fn renew(&self) -> Result<(), Failure> {
        let mut renewed = self.renewed.lock().await;
        if renewed.is_some_and(|at| at.elapsed() < self.timing.max_backoff) {
            return Ok(());
        }
        *renewed = Some(Instant::now());
        self.client.renew().await
    }
}

/// A request of the consumer to the thread: a path, and the channel for the answer.
pub(super) type ObjectRequest = (String, mpsc::Sender<Result<Vec<u8>, Failure>>);

/// A question of the consumer for what scheduling does not read, and the channel for the answer; without one it is asked again and
/// again.
pub(super) type NeighborsRequest = (NeighborsQuestion, Option<mpsc::Sender<Neighbors>>);

/// A request of the consumer to read the log of a pod, and whether to follow it.
pub(super) type LogRequest = (Key, LogRead);

/// The answer of `/version`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

/// Starts the thread and waits until it has reached the server.
pub(super) fn start(connector: Arc<Connector>, target: Target, options: ConnectOptions) -> Result<Live, ConnectError> {
    let (answer, answered) = mpsc::channel();
    let (object_requests, asked) = channel::unbounded_channel();
    let (log_requests, logs_asked) = channel::unbounded_channel();
    let (neighbors_requests, neighbors_asked) = channel::unbounded_channel();
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ConnectError::System)?;
    let body = move || {
        runtime.block_on(async {
            tokio::select! {
                () = stopped.notified() => {}
                () = serve(&connector, target, options, &answer, (asked, logs_asked, neighbors_asked)) => {}
            }
        });
        // A program for credentials may still run; it is not waited for.
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("live".to_owned()).spawn(body);
    let thread = thread.map_err(ConnectError::System)?;
    match answered.recv() {
        Ok(Ok(shared)) => {
            let deadline = std::time::Instant::now() + shared.timing.first_load;
            let (objects, thread) = (Objects::default(), Some(thread));
            Ok(Live { shared, stop, object_requests, log_requests, neighbors_requests, objects, thread, deadline })
        }
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ConnectError::ThreadEnded),
    }
}

/// The requests of the consumer: for objects, logs, and what scheduling does not read.
type Requests =
    (channel::UnboundedReceiver<ObjectRequest>, channel::UnboundedReceiver<LogRequest>, channel::UnboundedReceiver<NeighborsRequest>);

/// Runs the connection until it is stopped.
async fn serve(
    connector: &Arc<Connector>,
    target: Target,
    options: ConnectOptions,
    answer: &mpsc::Sender<Result<Arc<Shared>, ConnectError>>,
    (mut asked, mut logs_asked, mut neighbors_asked): Requests,
) {
    let (more, mut reflectors) = channel::unbounded_channel();
    let shared = match reach(connector, &target, options, more).await {
        Ok(shared) => Arc::new(shared),
        Err(failure) => return drop(answer.send(Err(ConnectError::of(&target, failure)))),
    };
    shared.board().target = target;
    let all: Vec<Reflector> = RESOURCES.iter().map(|resource| Reflector::new(Arc::clone(&shared), resource, None)).collect();
    if answer.send(Ok(Arc::clone(&shared))).is_err() {
        return;
    }
    for reflector in all {
        tokio::spawn(reflector.run());
    }
    tokio::spawn(listen(Arc::clone(&shared)));
    tokio::spawn(follow_version(Arc::clone(&shared)));
    let deadline = tokio::time::sleep(shared.timing.first_load);
    let late = Arc::clone(&shared);
    tokio::spawn(async move {
        deadline.await;
        late.give_up();
    });
    loop {
        tokio::select! {
            Some(reflector) = reflectors.recv() => drop(tokio::spawn(reflector.run())),
            Some((path, answer)) = asked.recv() => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let most = shared.client.bounds().page;
                    let result = shared.client.text(&path, Waiting::Object(path.clone()), most).await;
                    // The consumer may have stopped waiting.
                    let _ = answer.send(result.map(Text::into_bytes));
                });
            }
            Some((pod, read)) = logs_asked.recv() => drop(tokio::spawn(scheduler_log::run(Arc::clone(&shared), pod, read))),
            Some((question, answer)) = neighbors_asked.recv() => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let Some(answer) = answer else { return neighbors::follow(shared, question).await };
                    let found = neighbors::answer(Arc::clone(&shared), question).await;
                    // The consumer may have stopped waiting.
                    let _ = answer.send(found);
                    shared.wake();
                });
            }
            else => return,
        }
    }
}

/// Sends a probe to a server that has been silent for a while, and breaks off all requests if it gives no answer.
/// Mirrors the health checks of client-go's HTTP/2 connections (`staging/src/k8s.io/apimachinery/pkg/util/net/http.go`).
async fn listen(shared: Arc<Shared>) {
    let Timing { probe, probe_answer, .. } = shared.timing;
    let mut from = shared.client.last_answer();
    loop {
        tokio::time::sleep_until(from + probe).await;
        from = shared.client.last_answer().max(from);
        if from.elapsed() < probe {
            continue;
        }
        let answer = shared.client.json::<serde::de::IgnoredAny>("/version", Waiting::Version, probe_answer).await;
        // Any answer shows that the server is alive.
        if matches!(answer, Err(Failure { what: FailureKind::Timeout | FailureKind::Connection, .. })) {
            shared.hung.notify_waiters();
        }
        from = tokio::time::Instant::now();
    }
}

/// Asks the server for its version at intervals and after failures: it may be upgraded while it is followed.
async fn follow_version(shared: Arc<Shared>) {
    let Timing { version, connect, .. } = shared.timing;
    loop {
        let after_failure = tokio::time::timeout(version, shared.reconnected.notified()).await.is_ok();
        if after_failure {
            // Lists and watches come back together.
            tokio::time::sleep(shared.timing.backoff).await;
        }
        match shared.client.json::<Version>("/version", Waiting::Version, connect).await {
            Ok((Version { git_version }, _)) => shared.note_version(git_version),
            Err(failure) => tracing::info!(%failure, "the server's version was not read again"),
        }
    }
}

/// Returns how far the server's clock is ahead. It gives whole seconds, so a difference below 3 s counts as none.
fn clock_ahead(server: Timestamp) -> SignedDuration {
    let ahead = server.duration_since(Timestamp::now());
    if ahead.abs() < SignedDuration::from_secs(3) { SignedDuration::ZERO } else { ahead }
}

/// Makes a client, and asks the server for its version and its resources.
async fn reach(
    connector: &Arc<Connector>,
    target: &Target,
    options: ConnectOptions,
    reflectors: channel::UnboundedSender<Reflector>,
) -> Result<Shared, Failure> {
    let ConnectOptions { namespaces, page, streaming, watch, scheduler_log: may_read_logs, timing, bounds, waits, .. } = options;
    let client = ReadOnlyClient::new(Arc::clone(connector), &timing, ReadOnly { logs: may_read_logs }, bounds, waits)?;
    let mut ahead = SignedDuration::ZERO;
    let version = match client.json::<Version>("/version", Waiting::Version, timing.connect).await {
        Ok((version, date)) => {
            ahead = date.map(clock_ahead).unwrap_or_default();
            Some(version.git_version)
        }
        // Reading the version may be forbidden.
        Err(failure) if matches!(failure.what, FailureKind::Forbidden | FailureKind::NotFound) => None,
        Err(failure) => return Err(failure),
    };
    let offers = Offers::ask(&client, timing.answer).await?;
    let streaming = streaming && watch && discovery::streams_lists(version.as_deref());
    tracing::info!(%target, version, streaming, "connected");
    let board = Board { server_version: version, ahead, ..Board::default() };
    Ok(Shared {
        client,
        offers,
        namespaces,
        page,
        streaming,
        watch,
        hung: Notify::new(),
        reconnected: Notify::new(),
        timing,
        store: Mutex::default(),
        board: Mutex::new(board),
        first: Mutex::default(),
        reflectors,
        renewed: tokio::sync::Mutex::default(),
        notify: Arc::default(),
        may_read_logs,
        scheduler_log: Mutex::default(),
        neighbors: Mutex::default(),
        generation: Mutex::default(),
        newer: Condvar::new(),
    })
}
