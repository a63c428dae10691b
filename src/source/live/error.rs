//! Errors of connecting to a cluster.

use std::io;
use std::path::PathBuf;

use super::failure::{Failure, FailureKind};

/// The target of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The kubeconfig's context; empty in a cluster.
    pub context: String,
    /// The API server's URL.
    pub server: String,
    /// The context's namespace.
    pub namespace: String,
    /// The proxy, as a URL without credentials.
    pub proxy: Option<String>,
}

/// Writes `context prod (https://10.0.0.1:6443)`.
impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.context.is_empty() {
            write!(f, "this pod's cluster ({})", self.server)
        } else {
            write!(f, "context {} ({})", self.context, self.server)
        }
    }
}

/// Why an object cannot be read from the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OriginalError {
    /// The connection has ended.
    #[error("the connection has ended")]
    Ended,
    /// The server or the connection failed, with the message.
    #[error("{0}")]
    Server(String),
    /// The answer is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The object cannot be written as YAML.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
}

/// Why a connection to a cluster cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is neither a kubeconfig nor the environment of a pod.
    #[error("there is no kubeconfig ({looked}), and this process is not running in a pod; a dump or a demo needs none")]
    NoKubeconfig {
        /// The places that were searched.
        looked: String,
    },
    /// The kubeconfig cannot be read or is invalid.
    #[error("the kubeconfig {} cannot be used: {cause}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The reason.
        cause: String,
    },
    /// The kubeconfig does not have the context.
    #[error("there is no context {name:?} in the kubeconfig; {}", known_contexts(known))]
    NoContext {
        /// The requested context.
        name: String,
        /// The contexts that exist, by name.
        known: Vec<String>,
    },
    /// No context was requested and the kubeconfig has no current one.
    #[error("the kubeconfig has no current context; {}", known_contexts(known))]
    NoCurrentContext {
        /// The contexts that exist, by name.
        known: Vec<String>,
    },
    /// The context's entries are missing or invalid.
    #[error("context {context} of the kubeconfig cannot be used: {cause}")]
    BadContext {
        context: String,
        /// The reason.
        cause: String,
    },
    /// There are no credentials: a program for them failed, or a file with them cannot be read.
    #[error("{target}: no credentials: {cause}")]
    Credentials {
        target: Target,
        /// The reason.
        cause: String,
    },
    /// The server cannot be reached.
    #[error("{target} cannot be reached: {cause}")]
    Unreachable {
        target: Target,
        /// The reason.
        cause: String,
    },
    /// TLS failed: client and server do not trust each other.
    #[error("{target}: no secure connection: {cause}")]
    Certificate {
        target: Target,
        /// The reason.
        cause: String,
    },
    /// The server rejects the credentials.
    #[error("{target} does not accept the credentials: {cause}")]
    Unauthorised {
        target: Target,
        /// The reason.
        cause: String,
    },
    /// The server does not answer as an API server does.
    #[error("{target} does not answer like an API server: {cause}")]
    BadAnswer {
        target: Target,
        /// Its answer.
        cause: String,
    },
    /// The system failed, for example to start a thread.
    #[error("cannot start: {0}")]
    System(io::Error),
    /// The thread that connects panicked.
    #[error("cannot start: the thread of the connection ended")]
    ThreadEnded,
}

/// Returns a sentence about the kubeconfig's contexts.
fn known_contexts(known: &[String]) -> String {
    match known {
        [] => "it has no contexts".to_owned(),
        [only] => format!("it has {only}"),
        many => format!("it has {}", many.join(", ")),
    }
}

impl ConnectError {
    pub(super) fn of(target: &Target, failure: Failure) -> Self {
        let by_proxy = target.proxy.as_ref().filter(|_| {
            matches!(failure.what, FailureKind::Connection | FailureKind::Timeout | FailureKind::Certificate | FailureKind::Content)
        });
        let cause = match by_proxy {
            Some(proxy) => format!("{} (by the proxy {proxy})", failure.message),
            None => failure.message,
        };
        let target = target.clone();
        match failure.what {
            FailureKind::Credentials => Self::Credentials { target, cause },
            FailureKind::Certificate => Self::Certificate { target, cause },
            FailureKind::Unauthorised => Self::Unauthorised { target, cause },
            FailureKind::Connection | FailureKind::Timeout => Self::Unreachable { target, cause },
            _ => Self::BadAnswer { target, cause },
        }
    }
}
