//! Reads a live cluster, and never writes it, into the cluster model.
//!
//! [`connect()`] finds the cluster as kubectl does, discovers its resources, and then lists and watches every kind that
//! a scheduler reads, on a thread of its own. First comes the initial state of the whole cluster, as a [`Loaded`] with
//! its report, as from a dump. Then come [`Change`]s: at most one per object waits, however late they are taken. Once
//! connected, errors are never fatal: the [`Status`] shows them, and the request is retried.
//!
//! File by file: `kubeconfig`, `exec` and `proxy` find the server. `read_only` is the only client, and sends only reads
//! of the paths that `resource` lists. `discovery` selects the versions. A `reflector` for each resource lists and
//! watches it, all on the thread of the `connection`. `answer` unpacks the bodies of answers within the `bounds`, and `decode` turns
//! them into objects with the decoder for dumps. `neighbors` lists the kinds that scheduling does not read when a question needs them.
//! `objects` shares the answers about single objects. `scheduler_log` reads the logs of kube-scheduler's pods, if that was asked for.
//! `store` holds the server's known state, `delta_queue` the changes that the consumer has not taken, `status` the progress of each
//! reflector, and `waiting` what is waited for.

mod answer;
mod bounds;
mod connection;
mod decode;
mod delta_queue;
mod discovery;
mod error;
mod exec;
mod failure;
mod kubeconfig;
mod neighbors;
mod objects;
mod read_only;
mod reflector;
mod resource;
mod scheduler_log;
mod status;
mod store;
mod timing;
mod waiting;

pub use crate::source::assemble::report::NeighborsQuestion;
pub use bounds::Bounds;
pub use delta_queue::Change;
pub use error::{ConnectError, OriginalError, Target};
pub use kubeconfig::{Contexts, context_namespace, context_namespaces, contexts, may_ask};
pub use resource::Subject;
use scheduler_log::LogRead;
pub use scheduler_log::{LogState, LogStatus, LogText, runs_scheduler};
pub use status::{KindStatus, RetryCause, State, Status};
pub use timing::Timing;
pub use waiting::{Waiting, Waits};

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::{Notify, mpsc as channel};

use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Cluster, Key, Kind};
use crate::scheduler_log::SchedulerLog;
use crate::source::assemble::Loaded;
use crate::source::assemble::report::ReadAgain;
use connection::{LogRequest, NeighborsRequest, ObjectRequest, Shared, lock, start};
use failure::{Failure, FailureKind};
use kubeconfig::{Env, Wanted};
use objects::Objects;
use resource::Resource;

/// Time beyond that of a question in which its answer is assembled.
const NEIGHBORS_SLACK: Duration = Duration::from_millis(500);

/// The cluster to connect to, and how.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// A kubeconfig; by default `KUBECONFIG`, `~/.kube/config` or, in a pod, its service account.
    pub kubeconfig: Option<PathBuf>,
    /// A context; by default the current one.
    pub context: Option<String>,
    /// The namespaces to list instead, for each kind that may not be listed in all namespaces.
    pub namespaces: Vec<String>,
    /// Whether programs for credentials may prompt the user on the terminal.
    pub interactive: bool,
    /// Objects per page of a list; 1000 by default.
    pub page: u32,
    /// Whether to read lists as streams of events from servers that support it; true by default.
    pub streaming: bool,
    /// Whether to watch after listing; true by default. If false, nothing changes after the initial state, and a server
    /// that fails repeatedly fails the initial state, Nodes and Pods included.
    pub watch: bool,
    /// Whether logs of kube-scheduler's pods may be read; false by default.
    pub scheduler_log: bool,
    /// Time limits and intervals.
    pub timing: Timing,
    /// Bounds on what the server's answers may cost.
    pub bounds: Bounds,
    /// The requests that are not answered yet, also while [`connect()`] blocks.
    pub waits: Waits,
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
            watch: true,
            scheduler_log: false,
            timing: Timing::default(),
            bounds: Bounds::default(),
            waits: Waits::default(),
        }
    }
}

/// A connection to a cluster, which ends when it is dropped.
pub struct Live {
    shared: Arc<Shared>,
    stop: Arc<Notify>,
    object_requests: channel::UnboundedSender<ObjectRequest>,
    log_requests: channel::UnboundedSender<LogRequest>,
    neighbors_requests: channel::UnboundedSender<NeighborsRequest>,
    objects: Objects,
    thread: Option<JoinHandle<()>>,
    /// When the initial state is complete at the latest.
    deadline: Instant,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("target", &self.target()).finish_non_exhaustive()
    }
}

/// Connects to a cluster. Blocks until the server has given its version and its resources, or [`Timing::connect`] and then
/// [`Timing::answer`] have passed; everything else runs in the background.
///
/// # Errors
/// Returns an error if the kubeconfig is unusable, the server cannot be reached, or it rejects the credentials.
pub fn connect(options: &ConnectOptions) -> Result<Live, ConnectError> {
    let wanted = Wanted {
        kubeconfig: options.kubeconfig.clone(),
        context: options.context.clone(),
        interactive: options.interactive,
        exec: options.timing.exec,
    };
    let env = Env::of_process();
    let wait = options.waits.begin(Waiting::Credentials);
    let kubeconfig::Loaded { config, target, valid_until } = kubeconfig::load(&wanted, &env)?;
    drop(wait);
    let first = (config, valid_until);
    // Reading the kubeconfig again must not lead to another server.
    let pinned = Wanted { context: Some(target.context.clone()).filter(|name| !name.is_empty()), ..wanted };
    let (connect_timeout, server) = (options.timing.connect, target.server.clone());
    let first = Mutex::new(Some(first));
    let connector = move || {
        let (mut config, valid_until) = match lock(&first).take() {
            Some(first) => first,
            None => {
                let loaded = kubeconfig::load(&pinned, &env);
                let kubeconfig::Loaded { config, target, valid_until } =
                    loaded.map_err(|error| Failure::new(FailureKind::Credentials, error.to_string()))?;
                if target.server != server {
                    let message = format!("the kubeconfig leads to another server now: {}", target.server);
                    return Err(Failure::new(FailureKind::Credentials, message));
                }
                (config, valid_until)
            }
        };
        config.connect_timeout = Some(connect_timeout);
        Ok((config, valid_until))
    };
    start(Arc::new(connector), target, options.clone())
}

impl Live {
    /// Returns the target of the connection.
    pub fn target(&self) -> Target {
        self.shared.board().target.clone()
    }

    /// Returns the status of all reflectors, also while the initial state is read.
    pub fn status(&self) -> Status {
        self.shared.board().status()
    }

    /// Returns the API server's version, which may change; `None` if it is unknown.
    pub fn server_version(&self) -> Option<String> {
        self.shared.board().server_version.clone()
    }

    /// Returns the requests that are not answered yet.
    pub fn waits(&self) -> &Waits {
        self.shared.client.waits()
    }

    /// Returns how long reading the initial state may still take, such as `at most 580 s more`.
    pub fn time_left(&self) -> String {
        format!("at most {} s more", self.deadline.saturating_duration_since(Instant::now()).as_secs())
    }

    /// Returns the time since the server last sent something.
    pub fn silent_for(&self) -> Duration {
        self.shared.client.last_answer().elapsed()
    }

    /// Returns the time since the server last accepted a request for something else than its version. Where it refuses all, this is
    /// the age of what is known.
    pub fn refused_for(&self) -> Duration {
        self.shared.client.accepted().elapsed()
    }

    /// Returns the initial state of the cluster once it is complete; `None` before, and after it was taken.
    pub fn first(&self) -> Option<Loaded> {
        lock(&self.shared.first).take()
    }

    /// Waits for the initial state until `deadline`, or without limit.
    pub fn wait_first(&self, deadline: Option<Instant>) -> Option<Loaded> {
        loop {
            let seen = *lock(&self.shared.generation);
            // The initial state is there before it is complete, and may become complete between two looks.
            let complete = self.shared.board().complete;
            if let Some(loaded) = self.first() {
                return Some(loaded);
            }
            if complete || !self.wait_beyond(seen, deadline) {
                return None;
            }
        }
    }

    /// Takes about `limit` changes since the initial state, oldest first. An object that changed several times comes
    /// once, in its current state; one that was added and deleted in between does not come. Blocks while the initial
    /// state is assembled, so a UI thread should first check [`Status::complete`].
    pub fn take(&self, limit: usize) -> Vec<Change> {
        self.shared.store().take(limit)
    }

    /// Returns whether there are changes to take.
    pub fn has_changes(&self) -> bool {
        self.shared.store().has_changes()
    }

    /// Returns the notifier of updates: the initial state, changes, or another status.
    pub fn notify(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.notify)
    }

    /// Returns the number of updates so far; see [`Self::wait_beyond`].
    pub fn generation(&self) -> u64 {
        *lock(&self.shared.generation)
    }

    /// Blocks the calling thread until there were more than `seen` updates; returns false if the deadline came first.
    pub fn wait_beyond(&self, seen: u64, deadline: Option<Instant>) -> bool {
        let mut generation = lock(&self.shared.generation);
        while *generation <= seen {
            let left = deadline.map_or(Duration::from_secs(3600), |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return false;
            }
            generation = self.shared.newer.wait_timeout(generation, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns the server's known state, including changes not taken yet. Empty before the initial state.
    pub fn cluster(&self) -> Cluster {
        let store = self.shared.store();
        if store.is_gathering() { Cluster::default() } else { store.cluster() }
    }

    /// Starts to read the log of a scheduler's pod, and to follow it. Does nothing if it is read already, or if
    /// [`ConnectOptions::scheduler_log`] is not set.
    pub fn read_log(&self, pod: &Key, follow: bool) {
        self.start_log(pod, LogRead { follow, since: None });
    }

    fn start_log(&self, pod: &Key, read: LogRead) {
        if self.shared.may_read_logs && lock(&self.shared.scheduler_log).add(pod) {
            // The connection may have ended.
            let _ = self.log_requests.send((pod.clone(), read));
        }
    }

    /// Follows the logs of these schedulers' pods from a time on, or all that the server has of them, and those of no others. Their text
    /// waits for [`Self::take_log_text`].
    pub fn follow_log_text(&self, pods: &[Key], since: Option<Timestamp>) {
        {
            let mut feed = lock(&self.shared.scheduler_log);
            feed.keep_text();
            feed.retain(|pod| pods.contains(pod));
        }
        for pod in pods {
            self.start_log(pod, LogRead { follow: true, since });
        }
    }

    /// Takes the text of the logs that has come since the last call.
    pub fn take_log_text(&self) -> LogText {
        lock(&self.shared.scheduler_log).take_text()
    }

    /// Returns how far each scheduler's log is read, by pod.
    pub fn logs(&self) -> Vec<LogStatus> {
        lock(&self.shared.scheduler_log).statuses()
    }

    /// Waits until every log was read up to its end once, or failed.
    pub fn wait_logs(&self, deadline: Option<Instant>) -> bool {
        loop {
            let seen = *lock(&self.shared.generation);
            if self.logs().iter().all(|log| log.state != LogState::Reading) {
                return true;
            }
            if !self.wait_beyond(seen, deadline) {
                return false;
            }
        }
    }

    /// Returns the number of parts of logs that were read so far.
    pub fn log_generation(&self) -> u64 {
        lock(&self.shared.scheduler_log).generation()
    }

    /// Passes the log that was read so far to a function. Reading waits meanwhile.
    pub fn with_log<T>(&self, take: impl FnOnce(&SchedulerLog) -> T) -> T {
        take(lock(&self.shared.scheduler_log).log())
    }

    /// Requests an object from the server and returns its current state as YAML. Blocks until the answer.
    pub fn original(&self, kind: Kind, key: &Key) -> Result<String, OriginalError> {
        let mut object = self.get(kind, Some(key))?;
        if let Some(metadata) = object.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        Ok(serde_yaml::to_string(&object)?)
    }

    /// Requests an object, or all objects of a kind, from the server.
    fn get(&self, kind: Kind, key: Option<&Key>) -> Result<serde_json::Value, OriginalError> {
        let resource = Resource::of(Subject::Objects(kind));
        let status = self.status();
        let version = status.kinds.iter().find(|k| k.subject == resource.subject).map(|k| k.api_version.clone());
        let version = version.as_deref().and_then(|v| v.rsplit('/').next()).filter(|v| !v.is_empty()).unwrap_or(resource.versions[0]);
        let Some(key) = key else { return Ok(serde_json::from_slice(&self.ask(resource.path(version, None))?)?) };
        let path = format!("{}/{}", resource.path(version, Some(&key.namespace)), key.name);
        let state = (path.clone(), self.shared.store().version_of(kind, key));
        let text = self.objects.get(state, || self.ask(path).map(Arc::from).map_err(|error| error.to_string()));
        Ok(serde_json::from_slice(&text.map_err(OriginalError::Server)?)?)
    }

    /// Starts to list what a question needs beside the objects that are followed. The receiver gets the answer within the time of the
    /// question; it is disconnected if the connection has ended.
    pub fn ask_neighbors(&self, question: NeighborsQuestion) -> mpsc::Receiver<Neighbors> {
        let (answer, answered) = mpsc::channel();
        // The connection may have ended.
        let _ = self.neighbors_requests.send((question, Some(answer)));
        answered
    }

    /// Starts to list what a question needs again and again, at the interval [`Timing::neighbors`].
    pub fn follow_neighbors(&self, question: NeighborsQuestion) {
        // The connection may have ended.
        let _ = self.neighbors_requests.send((question, None));
    }

    /// Returns how often the newest answer of [`Self::follow_neighbors`] was another than before; 0 before the first.
    pub fn neighbors_generation(&self) -> u64 {
        lock(&self.shared.neighbors).0
    }

    /// Returns what is known beside the objects that scheduling reads, and the generation of it.
    pub fn newest_neighbors(&self) -> (u64, Neighbors) {
        let (generation, listed) = lock(&self.shared.neighbors).clone();
        let mut neighbors = self.followed_neighbors();
        neighbors.extend(Arc::unwrap_or_clone(listed));
        (generation, neighbors)
    }

    /// Returns the states of workloads and the events of others about pods that came with the objects that are followed.
    pub fn followed_neighbors(&self) -> Neighbors {
        self.shared.store().neighbors()
    }

    /// Sends a request and waits for its answer.
    fn ask(&self, path: String) -> Result<Vec<u8>, OriginalError> {
        let (answer, answered) = mpsc::channel();
        self.object_requests.send((path, answer)).map_err(|_| OriginalError::Ended)?;
        answered.recv().map_err(|_| OriginalError::Ended)?.map_err(|failure| OriginalError::Server(failure.message))
    }
}

impl ReadAgain for Live {
    fn neighbors(&self, question: &NeighborsQuestion) -> Option<Neighbors> {
        // The question ends by itself; this ends the wait if the connection hangs.
        self.ask_neighbors(question.clone()).recv_timeout(question.within + NEIGHBORS_SLACK).ok()
    }

    fn object(&self, kind: Kind, key: &Key) -> Option<serde_json::Value> {
        self.get(kind, Some(key)).ok()
    }

    fn objects(&self, kind: Kind) -> Result<Vec<serde_json::Value>, Box<dyn std::error::Error + Send + Sync>> {
        let mut list = self.get(kind, None)?;
        Ok(match list.get_mut("items").map(serde_json::Value::take) {
            Some(serde_json::Value::Array(items)) => items,
            _ => Vec::new(),
        })
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is irrelevant by now.
            let _ = thread.join();
        }
    }
}
