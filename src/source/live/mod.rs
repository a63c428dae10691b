//! A live cluster, read and never written, into the cluster model.
//!
//! [`connect()`] finds the cluster as kubectl does, asks what it offers, and from then on lists and watches every kind
//! that a scheduler reads, on a thread of its own. First comes one picture of the whole cluster, as a [`Loaded`] with
//! its report, just as a dump gives one; then come [`Change`]s, of which only the outcome waits, however late they are
//! taken. What goes wrong is never fatal once the connection stands: it is shown in the [`Status`] and tried again.
//!
//! How it works, file by file: `kubeconfig`, `exec` and `proxy` find the way; `read_only` is the only client, and refuses to
//! send anything but reads of what `resource` lists; `discovery` picks the versions; a `reflector` for each resource
//! lists and watches it, all of them on the thread of the `connection`; `decode` turns
//! answers into objects, with the same decoder that dumps go through; `store` knows what the server holds, and
//! `delta_queue` what the consumer has not seen of it yet; `status` shows how each of them is doing.

mod connection;
mod decode;
mod delta_queue;
mod discovery;
mod error;
mod exec;
mod failure;
mod kubeconfig;
mod proxy;
mod read_only;
mod reflector;
mod resource;
mod status;
mod store;
mod timing;

pub use delta_queue::Change;
pub use error::{ConnectError, OriginalError, Target};
pub use kubeconfig::{Contexts, contexts, may_ask};
pub use resource::Subject;
pub use status::{KindStatus, State, Status};
pub use timing::Timing;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc as channel};

use crate::cluster::{Cluster, Key, Kind};
use crate::source::assemble::Loaded;
use connection::{ObjectRequest, Shared, lock, start};
use failure::{Failure, FailureKind};
use kubeconfig::{Env, Wanted};
use resource::Resource;

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
    /// Whether to watch what was listed; true by default. Without it nothing changes any more after the first picture, and a
    /// server that fails again and again fails the picture, Nodes and Pods included.
    pub watch: bool,
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
            watch: true,
            timing: Timing::default(),
        }
    }
}

/// A connection to a cluster; it ends when this is dropped.
pub struct Live {
    shared: Arc<Shared>,
    stop: Arc<Notify>,
    object_requests: channel::UnboundedSender<ObjectRequest>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("target", &self.target()).finish_non_exhaustive()
    }
}

/// Connects to a cluster. This waits until the server has answered, or [`Timing::connect`] has passed; everything else
/// goes on in the background.
///
/// # Errors
/// Where the kubeconfig is of no use, the server cannot be reached, or it does not accept the credentials.
pub fn connect(options: &ConnectOptions) -> Result<Live, ConnectError> {
    let wanted = Wanted {
        kubeconfig: options.kubeconfig.clone(),
        context: options.context.clone(),
        interactive: options.interactive,
        exec: options.timing.exec,
    };
    let env = Env::of_process();
    let kubeconfig::Loaded { config, target, valid_until } = kubeconfig::load(&wanted, &env)?;
    let first = (config, valid_until);
    // A later look at the kubeconfig must not lead elsewhere.
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
    /// comes once, as it is now; one that came and went in between does not come at all. While the first picture is
    /// made this waits, so that a screen had better not ask before [`Status::complete`].
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
    pub fn original(&self, kind: Kind, key: &Key) -> Result<String, OriginalError> {
        let resource = Resource::of(Subject::Objects(kind));
        let status = self.status();
        let version = status.kinds.iter().find(|k| k.subject == resource.subject).map(|k| k.api_version.clone());
        let version = version.as_deref().and_then(|v| v.rsplit('/').next()).filter(|v| !v.is_empty()).unwrap_or(resource.versions[0]);
        let path = format!("{}/{}", resource.path(version, Some(&key.namespace)), key.name);
        let (answer, answered) = mpsc::channel();
        self.object_requests.send((path, answer)).map_err(|_| OriginalError::Ended)?;
        let text = answered.recv().map_err(|_| OriginalError::Ended)?.map_err(|failure| OriginalError::Server(failure.message))?;
        let mut object: serde_json::Value = serde_json::from_slice(&text)?;
        if let Some(metadata) = object.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        Ok(serde_yaml::to_string(&object)?)
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
