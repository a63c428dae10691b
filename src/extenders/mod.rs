//! HTTP extenders: how they are configured, what they are asked, and how their answers are read. Mirrors
//! `pkg/scheduler/extender.go`.
//!
//! An [`ExtenderTransport`] from another module sends the requests; without one an [`Asker`] has only earlier answers. The
//! bind verb is never called.
//!
//! | file | holds |
//! | --- | --- |
//! | `asker` | the transport's trait, and what was answered before |
//! | `wire` | requests, as Go writes them |
//! | `objects` | pods and nodes in them |
//! | `go_json` | JSON as Go reads it, with its words for errors |
//! | `go_types` | the types of a node in Go, for its words about wrong ones |
//! | `answers` | answers, read into their types |
//! | `calls` | one call from question to result |

mod answers;
mod asker;
mod calls;
#[cfg(feature = "extenders")]
mod destination;
mod go_json;
mod go_types;
mod objects;
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub use asker::{Answer, AnswerBody, Asker, Asking, ExtenderTransport, Originals, QuestionId, RecordedCall, Recorder};
pub use calls::{CallError, CycleExtenders, Filtered, Victims};
#[cfg(feature = "extenders")]
pub use destination::{Destination, DestinationError};

use crate::cluster::{Container, Pod, Str};
use crate::framework::{ExtenderName, ExtenderVerb};
use crate::output::Secret;

/// An extender as it is configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extender {
    /// Its place and its URL.
    pub name: ExtenderName,
    /// `urlPrefix` as it is written.
    pub url_prefix: Secret<String>,
    /// `filterVerb`; empty where it takes no part.
    pub filter_verb: String,
    /// `prioritizeVerb`; empty where it takes no part.
    pub prioritize_verb: String,
    /// `preemptVerb`; empty where it takes no part.
    pub preempt_verb: String,
    /// `bindVerb`; empty where it takes no part.
    pub bind_verb: String,
    /// The factor of its scores.
    pub weight: i64,
    /// Names instead of objects are sent.
    pub node_cache_capable: bool,
    /// The resources of the pods that it is asked about; of all pods where there are none.
    pub managed_resources: BTreeSet<Str>,
    /// Its errors are passed over.
    pub ignorable: bool,
    /// How long one whole call may take.
    pub timeout: Duration,
    /// How TLS is spoken, where `urlPrefix` asks for it.
    pub tls: TlsSettings,
}

/// `enableHTTPS` and `tlsConfig` of an extender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// The server's certificate is not verified.
    pub insecure: bool,
    /// The name that the certificate must have, where it is not that of the URL.
    pub server_name: String,
    /// The file of the certificates that are trusted.
    pub ca_file: String,
    /// The certificates that are trusted.
    pub ca_data: Vec<u8>,
    /// The file of our certificate.
    pub cert_file: String,
    /// Our certificate.
    pub cert_data: Vec<u8>,
    /// The file of our key.
    pub key_file: String,
    /// Our key.
    pub key_data: Secret<Vec<u8>>,
}

impl Extender {
    /// Returns the path of a call; empty where the extender takes no part in it.
    pub fn verb(&self, verb: ExtenderVerb) -> &str {
        match verb {
            ExtenderVerb::Filter => &self.filter_verb,
            ExtenderVerb::Prioritize => &self.prioritize_verb,
            ExtenderVerb::Preempt => &self.preempt_verb,
            ExtenderVerb::Bind => &self.bind_verb,
        }
    }

    /// Returns whether the extender takes part in a call.
    pub fn has(&self, verb: ExtenderVerb) -> bool {
        !self.verb(verb).is_empty()
    }

    /// Returns the URL of a call, with its user and password.
    pub fn url(&self, verb: ExtenderVerb) -> Secret<String> {
        Secret::new(url_of(self.url_prefix.expose(), self.verb(verb)))
    }

    /// Returns the URL of a call as it is shown.
    pub fn shown_url(&self, verb: ExtenderVerb) -> String {
        url_of(&self.name.url, self.verb(verb))
    }

    /// Returns whether the extender is asked about a pod; mirrors `IsInterested`.
    pub fn is_interested(&self, pod: &Pod) -> bool {
        let names = |container: &Container| {
            let resources = &container.resources;
            resources.requests.keys().chain(resources.limits.keys()).any(|name| self.managed_resources.contains(name))
        };
        self.managed_resources.is_empty() || pod.spec.containers.iter().chain(pod.spec.init_containers.iter()).any(names)
    }
}

fn url_of(prefix: &str, verb: &str) -> String {
    format!("{}/{verb}", prefix.trim_end_matches('/'))
}

/// The extenders of a scheduler.
#[derive(Clone, Debug, Default)]
pub struct Extenders {
    /// In the order in which they have their part: those whose errors are passed over come last.
    list: Arc<[Extender]>,
    /// The extenders that are called, by their place in the configuration, and their asker; `None` without one.
    asked: Option<(Arc<BTreeSet<usize>>, Arc<Asker>)>,
}

impl Extenders {
    /// Puts extenders, which come as they are configured, in order; mirrors `buildExtenders` in
    /// `pkg/scheduler/scheduler.go`. None is called.
    pub fn new(configured: Vec<Extender>) -> Self {
        let (last, first): (Vec<_>, Vec<_>) = configured.into_iter().partition(|extender| extender.ignorable);
        Self { list: first.into_iter().chain(last).collect(), asked: None }
    }

    /// Lets those be asked that `is_asked` picks.
    #[must_use]
    pub fn asked_by(&self, asker: Arc<Asker>, is_asked: impl Fn(&Extender) -> bool) -> Self {
        let asked = self.list.iter().filter(|extender| is_asked(extender)).map(|extender| extender.name.index).collect();
        Self { list: self.list.clone(), asked: Some((Arc::new(asked), asker)) }
    }

    /// Returns all extenders, in the order in which they have their part.
    pub fn list(&self) -> &[Extender] {
        &self.list
    }

    /// Returns who asks.
    pub fn asker(&self) -> Option<&Arc<Asker>> {
        self.asked.as_ref().map(|(_, asker)| asker)
    }

    /// Returns whether an extender is asked, or its answers are recalled.
    pub fn is_asked(&self, extender: &Extender) -> bool {
        self.asked.as_ref().is_some_and(|(asked, _)| asked.contains(&extender.name.index))
    }

    /// Returns whether an extender filters or scores, so that the search for nodes does not stop at the first.
    pub fn look_at_all_nodes(&self) -> bool {
        self.list.iter().any(|extender| extender.has(ExtenderVerb::Filter) || extender.has(ExtenderVerb::Prioritize))
    }

    /// Returns the extender that binds a pod; `None` where the Bind plugins do. It is never asked to.
    pub fn binder(&self, pod: &Pod) -> Option<&Extender> {
        self.list.iter().find(|extender| extender.has(ExtenderVerb::Bind) && extender.is_interested(pod))
    }

    /// Returns the extenders as one cycle asks them; `None` where none is asked.
    pub fn for_cycle(&self, asking: Asking) -> Option<CycleExtenders<'_>> {
        let (_, asker) = self.asked.as_ref()?;
        let asked: Vec<&Extender> = self.list.iter().filter(|extender| self.is_asked(extender)).collect();
        (!asked.is_empty()).then(|| CycleExtenders::new(asked, asker, asking))
    }
}
