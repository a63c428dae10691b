//! Why a connection to a cluster cannot be made.

use std::io;
use std::path::PathBuf;

use super::failure::{Failure, FailureKind};

/// Where a connection leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The kubeconfig's context; empty within a cluster.
    pub context: String,
    /// The API server's URL.
    pub server: String,
    /// The context's namespace.
    pub namespace: String,
    /// The proxy in between, as a URL without credentials.
    pub proxy: Option<String>,
}

/// `context prod (https://10.0.0.1:6443)`.
impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.context.is_empty() {
            write!(f, "this pod's cluster ({})", self.server)
        } else {
            write!(f, "context {} ({})", self.context, self.server)
        }
    }
}

/// Why an object cannot be had from the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OriginalError {
    /// Nothing asks the server any more.
    #[error("the connection has ended")]
    Ended,
    /// The server has not given it, in its own words or those of the connection.
    #[error("{0}")]
    Server(String),
    /// The answer is no JSON.
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
    /// Neither a kubeconfig nor the environment of a pod.
    #[error("there is no kubeconfig ({looked}), and this process is not running in a pod; use --from FILE or --demo")]
    NoKubeconfig {
        /// Where it was looked for.
        looked: String,
    },
    /// A kubeconfig that cannot be read or makes no sense.
    #[error("the kubeconfig {} cannot be used: {cause}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// The kubeconfig does not have the context.
    #[error("there is no context {name:?} in the kubeconfig; {}", known_contexts(known))]
    NoContext {
        /// The context that was asked for.
        name: String,
        /// Those that there are, by name.
        known: Vec<String>,
    },
    /// No context was asked for and the kubeconfig has no current one.
    #[error("the kubeconfig has no current context; {}", known_contexts(known))]
    NoCurrentContext {
        /// Those that there are, by name.
        known: Vec<String>,
    },
    /// The context leads nowhere, or its entries make no sense.
    #[error("context {context} of the kubeconfig cannot be used: {cause}")]
    BadContext {
        /// The context.
        context: String,
        /// Why.
        cause: String,
    },
    /// The credentials cannot be had: a program that makes them fails, or a file with them cannot be read.
    #[error("{target}: no credentials: {cause}")]
    Credentials {
        /// Where to.
        target: Target,
        /// Why.
        cause: String,
    },
    /// No connection.
    #[error("{target} cannot be reached: {cause}")]
    Unreachable {
        /// Where to.
        target: Target,
        /// Why.
        cause: String,
    },
    /// No trust between client and server.
    #[error("{target}: no secure connection: {cause}")]
    Certificate {
        /// Where to.
        target: Target,
        /// Why.
        cause: String,
    },
    /// The server does not accept the credentials.
    #[error("{target} does not accept the credentials: {cause}")]
    Unauthorised {
        /// Where to.
        target: Target,
        /// Why.
        cause: String,
    },
    /// Something answers that is no API server, or a broken one.
    #[error("{target} does not answer as an API server: {cause}")]
    BadAnswer {
        /// Where to.
        target: Target,
        /// What it answers.
        cause: String,
    },
    /// The system refused a thread or the like.
    #[error("cannot start: {0}")]
    System(io::Error),
    /// The thread that connects panicked.
    #[error("cannot start: the thread of the connection ended")]
    ThreadEnded,
}

/// The kubeconfig's contexts in a sentence.
fn known_contexts(known: &[String]) -> String {
    match known {
        [] => "it has none at all".to_owned(),
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
