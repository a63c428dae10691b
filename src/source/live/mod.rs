//! A live cluster, read and never written, into the cluster model.
//!
//! [`connect()`] finds the cluster as kubectl does, asks what it offers, and from then on lists and watches every kind
//! that a scheduler reads, on a thread of its own. First comes one picture of the whole cluster, as a [`Loaded`] with
//! its report, just as a dump gives one; then come [`Change`]s, of which only the outcome waits, however late they are
//! taken. What goes wrong is never fatal once the connection stands: it is shown in the [`Status`] and tried again.
//!
//! How it works, file by file: `kubeconfig` and `proxy` find the way; `read_only` is the only client, and refuses to
//! send anything but reads of what `resource` lists; `discovery` picks the versions; a `reflector` for each resource
//! lists and watches it; `answers` decodes what comes, with the same decoder that dumps go through; `store` knows what
//! the server holds, and `pending` what the consumer has not seen of it yet; `board` shows how each of them is doing.

mod answers;
mod board;
mod discovery;
mod error;
mod failure;
mod kubeconfig;
mod pending;
mod proxy;
mod read_only;
mod reflector;
mod resource;
mod store;
mod timing;

pub use board::{KindStatus, State, Status};
pub use error::{ConnectError, Target};
pub use kubeconfig::{Contexts, contexts};
pub use pending::Change;
pub use resource::Subject;
pub use timing::Timing;

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;
use tokio::sync::{Notify, mpsc as channel};

use super::Loaded;
use crate::cluster::{Cluster, Key, Kind};
use board::{Board, Place};
use discovery::Offers;
use failure::{Failure, What};
use kubeconfig::{Surroundings, Wanted};
use read_only::{Connector, ReadOnlyClient};
use reflector::Reflector;
use resource::{RESOURCES, Resource};
use store::Store;

/// Which cluster to connect to, and how.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// A kubeconfig; otherwise `KUBECONFIG`, `~/.kube/config` or, in a pod, its service account.
    pub kubeconfig: Option<PathBuf>,
    /// A context other than the current one.
    pub context: Option<String>,
    /// The namespaces to fall back to, for each kind that may not be read over all namespaces.
    pub namespaces: Vec<String>,
    /// Whether programs that make credentials may talk to the user on the terminal.
    pub interactive: bool,
    /// Objects to a page of a list; 1000 by default.
    pub page: u32,
    /// Whether to read lists as streams of events from servers that can; true by default.
    pub streaming: bool,
    /// How long to wait for what.
    pub timing: Timing,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            kubeconfig: None,
            context: None,
            namespaces: Vec::new(),
            interactive: false,
            page: 1000,
            streaming: true,
            timing: Timing::default(),
        }
    }
}

/// What the reflectors share with each other and with whoever looks at the cluster.
struct Shared {
    client: ReadOnlyClient,
    offers: Offers,
    namespaces: Vec<String>,
    page: u32,
    streaming: bool,
    timing: Timing,
    store: Mutex<Store>,
    board: Mutex<Board>,
    first: Mutex<Option<Loaded>>,
    /// More to run, sent by reflectors that fall back to namespaces.
    reflectors: channel::UnboundedSender<Reflector>,
    renewed: tokio::sync::Mutex<Option<Instant>>,
    notify: Arc<Notify>,
    /// Counts what there was to see, for those who wait without a runtime.
    news: Mutex<u64>,
    newer: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked has left nothing half done that others could not go on with.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn store(&self) -> MutexGuard<'_, Store> {
        lock(&self.store)
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        lock(&self.board)
    }

    /// Lets whoever waits look.
    fn wake(&self) {
        *lock(&self.news) += 1;
        self.newer.notify_all();
        self.notify.notify_one();
    }

    fn changed(&self, place: &Place) {
        self.board().changed(place);
        self.wake();
    }

    fn note_read(&self, bytes: usize, date: Option<Timestamp>) {
        let mut board = self.board();
        board.bytes += bytes as u64;
        board.date = board.date.max(date);
    }

    /// Makes the first picture, once every reflector is as far as it will get.
    fn settled(&self) {
        let (ready, about) = {
            let board = self.board();
            (!board.complete && board.is_settled(), board.about())
        };
        if ready && let Some(loaded) = self.store().assemble(about) {
            *lock(&self.first) = Some(loaded);
            self.board().complete = true;
        }
        self.wake();
    }

    /// Reads a resource namespace by namespace.
    fn split(self: &Arc<Self>, resource: &'static Resource) {
        let reflectors: Vec<_> =
            self.namespaces.iter().map(|namespace| Reflector::new(Arc::clone(self), resource, Some(namespace.clone()))).collect();
        self.board().remove(&(resource.subject, None));
        for reflector in reflectors {
            // The receiver lives as long as any reflector does.
            let _ = self.reflectors.send(reflector);
        }
    }

    /// Takes up the credentials anew, unless that was done just now.
    async fn renew(&self) -> Result<(), Failure> {
        let mut renewed = self.renewed.lock().await;
        if renewed.is_some_and(|at| at.elapsed() < self.timing.max_backoff) {
            return Ok(());
        }
        *renewed = Some(Instant::now());
        self.client.renew().await
    }
}

/// A question of the consumer's to the thread with the runtime: a path, and where the answer goes.
type Question = (String, mpsc::Sender<Result<Vec<u8>, Failure>>);

/// A connection to a cluster; it ends when this is dropped.
pub struct Live {
    shared: Arc<Shared>,
    stop: Arc<Notify>,
    questions: channel::UnboundedSender<Question>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("target", &self.target()).finish_non_exhaustive()
    }
}

/// What `/version` says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

/// Connects to a cluster. This waits until the server has answered, or [`Timing::connect`] has passed; everything else
/// goes on in the background.
///
/// # Errors
/// Where the kubeconfig is of no use, the server cannot be reached, or it does not accept the credentials.
pub fn connect(options: &ConnectOptions) -> Result<Live, ConnectError> {
    let wanted = Wanted { kubeconfig: options.kubeconfig.clone(), context: options.context.clone(), interactive: options.interactive };
    let surroundings = Surroundings::of_process();
    let (first, target) = kubeconfig::load(&wanted, &surroundings)?;
    // A later look at the kubeconfig must not lead elsewhere.
    let pinned = Wanted { context: Some(target.context.clone()).filter(|name| !name.is_empty()), ..wanted };
    let (connect_timeout, server) = (options.timing.connect, target.server.clone());
    let first = Mutex::new(Some(first));
    let connector = move || {
        let mut config = match lock(&first).take() {
            Some(config) => config,
            None => {
                let loaded = kubeconfig::load(&pinned, &surroundings);
                let (config, target) = loaded.map_err(|error| Failure::new(What::Credentials, error.to_string()))?;
                if target.server != server {
                    let message = format!("the kubeconfig leads to another server now: {}", target.server);
                    return Err(Failure::new(What::Credentials, message));
                }
                config
            }
        };
        config.connect_timeout = Some(connect_timeout);
        Ok(config)
    };
    start(Arc::new(connector), target, options.clone())
}

/// Starts the thread, and waits until it has reached the server.
fn start(connector: Arc<Connector>, target: Target, options: ConnectOptions) -> Result<Live, ConnectError> {
    let (answer, answered) = mpsc::channel();
    let (questions, asked) = channel::unbounded_channel();
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ConnectError::System(error.to_string()))?;
    let body = move || {
        runtime.block_on(async {
            tokio::select! {
                () = stopped.notified() => {}
                () = serve(&connector, target, options, &answer, asked) => {}
            }
        });
        // A program that makes credentials may still run, and is not waited for.
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new().name("live".to_owned()).spawn(body);
    let thread = thread.map_err(|error| ConnectError::System(error.to_string()))?;
    match answered.recv() {
        Ok(Ok(shared)) => Ok(Live { shared, stop, questions, thread: Some(thread) }),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ConnectError::System("the thread of the connection ended".to_owned())),
    }
}

/// Everything that the thread does.
async fn serve(
    connector: &Arc<Connector>,
    target: Target,
    options: ConnectOptions,
    answer: &mpsc::Sender<Result<Arc<Shared>, ConnectError>>,
    mut asked: channel::UnboundedReceiver<Question>,
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
    loop {
        tokio::select! {
            Some(reflector) = reflectors.recv() => drop(tokio::spawn(reflector.run())),
            Some((path, answer)) = asked.recv() => {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let result = shared.client.text(&path, None).await;
                    // Whoever asked may have given up waiting.
                    let _ = answer.send(result.map(|(text, _)| text));
                });
            }
            else => return,
        }
    }
}

/// Makes a client, and asks the server who it is and what it offers.
async fn reach(
    connector: &Arc<Connector>,
    target: &Target,
    options: ConnectOptions,
    reflectors: channel::UnboundedSender<Reflector>,
) -> Result<Shared, Failure> {
    let ConnectOptions { namespaces, page, streaming, timing, .. } = options;
    let client = ReadOnlyClient::new(Arc::clone(connector), &timing)?;
    let version = match client.json::<Version>("/version", Some(timing.connect)).await {
        Ok((version, _)) => Some(version.git_version),
        // Not everybody may ask for the version.
        Err(failure) if matches!(failure.what, What::Forbidden | What::Absent) => None,
        Err(failure) => return Err(failure),
    };
    let offers = Offers::ask(&client).await?;
    let streaming = streaming && discovery::streams_lists(version.as_deref());
    tracing::info!(%target, version, streaming, "connected");
    let board = Board { server_version: version, ..Board::default() };
    Ok(Shared {
        client,
        offers,
        namespaces,
        page,
        streaming,
        timing,
        store: Mutex::default(),
        board: Mutex::new(board),
        first: Mutex::default(),
        reflectors,
        renewed: tokio::sync::Mutex::default(),
        notify: Arc::default(),
        news: Mutex::default(),
        newer: Condvar::new(),
    })
}

impl Live {
    /// Where the connection leads.
    pub fn target(&self) -> Target {
        self.shared.board().target.clone()
    }

    /// How it is doing: while the first picture is made, how far that has got.
    pub fn status(&self) -> Status {
        self.shared.board().status()
    }

    /// The first picture of the cluster, once it is complete; `None` before, and after it was taken.
    pub fn first(&self) -> Option<Loaded> {
        lock(&self.shared.first).take()
    }

    /// Waits for the first picture until `deadline` at most, or for good without one.
    pub fn wait_first(&self, deadline: Option<Instant>) -> Option<Loaded> {
        loop {
            let seen = *lock(&self.shared.news);
            if let Some(loaded) = self.first() {
                return Some(loaded);
            }
            if self.shared.board().complete || !self.wait_beyond(seen, deadline) {
                return None;
            }
        }
    }

    /// Takes up to about `limit` changes since the first picture, oldest first. An object that changed several times
    /// comes once, as it is now; one that came and went in between does not come at all.
    pub fn take(&self, limit: usize) -> Vec<Change> {
        self.shared.store().take(limit)
    }

    /// Whether there is something to take.
    pub fn has_changes(&self) -> bool {
        self.shared.store().has_changes()
    }

    /// Told each time that there may be something new to see: the first picture, changes, or another status.
    pub fn notify(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.notify)
    }

    /// How often there was something new to see; see [`Self::wait_beyond`].
    pub fn news(&self) -> u64 {
        *lock(&self.shared.news)
    }

    /// Waits, on the calling thread, until there was something new to see more often than `seen` times; false where the
    /// deadline came first.
    pub fn wait_beyond(&self, seen: u64, deadline: Option<Instant>) -> bool {
        let mut news = lock(&self.shared.news);
        while *news <= seen {
            let left = deadline.map_or(Duration::from_secs(3600), |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            news = self.shared.newer.wait_timeout(news, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// All that the server is known to hold now, whether it was taken or not. Empty before the first picture.
    pub fn cluster(&self) -> Cluster {
        let store = self.shared.store();
        if store.is_gathering() { Cluster::default() } else { store.cluster() }
    }

    /// An object as the server has it now, as YAML; asks the server, and waits for its answer.
    ///
    /// # Errors
    /// What went wrong, in a sentence.
    pub fn original(&self, kind: Kind, key: &Key) -> Result<String, String> {
        let resource = Resource::of(Subject::Objects(kind));
        let status = self.status();
        let version = status.kinds.iter().find(|k| k.subject == resource.subject).map(|k| k.api_version.clone());
        let version = version.as_deref().and_then(|v| v.rsplit('/').next()).filter(|v| !v.is_empty()).unwrap_or(resource.versions[0]);
        let path = format!("{}/{}", resource.path(version, Some(&key.namespace)), key.name);
        let (answer, answered) = mpsc::channel();
        let ended = || "the connection has ended".to_owned();
        self.questions.send((path, answer)).map_err(|_| ended())?;
        let text = answered.recv().map_err(|_| ended())?.map_err(|failure| failure.message)?;
        let mut object: serde_json::Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        if let Some(metadata) = object.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        serde_yaml::to_string(&object).map_err(|error| error.to_string())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // It has nothing to say any more, even if it panicked.
            let _ = thread.join();
        }
    }
}
