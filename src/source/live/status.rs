//! The status of each list and watch.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use strum::IntoEnumIterator;

use super::error::Target;
use super::resource::Subject;
use super::store::About;
use crate::cluster::Kind;
use crate::source::assemble::diagnostic::{Diagnostic, Severity};

/// How a live cluster is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Where the connection leads.
    pub target: Target,
    /// The API server's version, such as `v1.36.2`.
    pub server_version: Option<String>,
    /// Each list and watch, by kind and namespace.
    pub kinds: Vec<KindStatus>,
    /// The first picture of the cluster is made.
    pub complete: bool,
    /// When something changed last.
    pub last_change: Option<Timestamp>,
    /// How far the server's clock was ahead of this machine's when it answered first, to the second.
    pub ahead: SignedDuration,
}

impl Status {
    /// Objects that are known of.
    pub fn objects(&self) -> usize {
        self.kinds.iter().map(|kind| kind.objects).sum()
    }

    /// What is not as it should be.
    pub fn troubles(&self) -> impl Iterator<Item = &KindStatus> {
        self.kinds.iter().filter(|kind| matches!(kind.state, State::Retrying { .. } | State::Forbidden { .. } | State::OldVersion { .. }))
    }
}

/// How one list and watch is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindStatus {
    /// What it is about.
    pub subject: Subject,
    /// The namespace that it is limited to.
    pub namespace: Option<String>,
    /// The version of its API, such as `apps/v1`.
    pub api_version: String,
    /// What it is doing.
    pub state: State,
    /// Objects that are known of.
    pub objects: usize,
    /// Objects that could not be read, each time that they were sent.
    pub unreadable: usize,
    /// How often all was listed.
    pub lists: usize,
    /// When something of it changed last.
    pub last_change: Option<Timestamp>,
    /// It is as complete as it will get for the first picture.
    pub(super) settled: bool,
}

/// What a list and watch is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Reading all objects.
    Listing,
    /// All objects are read, and changes come as they happen.
    Watching,
    /// Something went wrong; what is known may be out of date.
    Retrying {
        /// Since when.
        since: Timestamp,
        /// What went wrong last, without a full stop.
        why: String,
        /// When it will be tried again.
        next: Timestamp,
    },
    /// The user may not read it; tried again once in a while.
    Forbidden {
        /// What the server said.
        why: String,
    },
    /// The server does not have it, and so there are none.
    Absent,
    /// The server has it only in a version that cannot be read.
    OldVersion {
        /// Such as `resource.k8s.io/v1alpha3`.
        version: String,
    },
}

/// What names a list and watch.
pub(super) type Place = (Subject, Option<String>);

#[derive(Debug, Default)]
pub(super) struct Board {
    pub(super) target: Target,
    pub(super) server_version: Option<String>,
    /// How far the server's clock was ahead of this machine's when it answered first.
    pub(super) ahead: SignedDuration,
    /// The server's clock at the last list.
    pub(super) date: Option<Timestamp>,
    pub(super) bytes: u64,
    pub(super) complete: bool,
    pub(super) last_change: Option<Timestamp>,
    pub(super) kinds: BTreeMap<Place, KindStatus>,
}

impl Board {
    pub(super) fn add(&mut self, place: &Place) {
        let status = KindStatus {
            subject: place.0,
            namespace: place.1.clone(),
            api_version: String::new(),
            state: State::Listing,
            objects: 0,
            unreadable: 0,
            lists: 0,
            last_change: None,
            settled: false,
        };
        self.kinds.insert(place.clone(), status);
    }

    pub(super) fn remove(&mut self, place: &Place) {
        self.kinds.remove(place);
    }

    pub(super) fn of(&mut self, place: &Place) -> &mut KindStatus {
        if !self.kinds.contains_key(place) {
            self.add(place);
        }
        self.kinds.get_mut(place).expect("it was added where it was missing")
    }

    pub(super) fn changed(&mut self, place: &Place) {
        let now = Timestamp::now();
        self.of(place).last_change = Some(now);
        self.last_change = Some(now);
    }

    /// Whether the first picture can be made.
    pub(super) fn is_settled(&self) -> bool {
        self.kinds.values().all(|kind| kind.settled)
    }

    pub(super) fn status(&self) -> Status {
        Status {
            target: self.target.clone(),
            server_version: self.server_version.clone(),
            kinds: self.kinds.values().cloned().collect(),
            complete: self.complete,
            last_change: self.last_change,
            ahead: self.ahead,
        }
    }

    /// What the report has to say besides what was read.
    pub(super) fn about(&self) -> About {
        let mut about = About {
            name: self.target.to_string(),
            version: self.server_version.clone(),
            date: self.date,
            bytes: self.bytes,
            ..About::default()
        };
        for kind in Kind::iter() {
            let mut of_kind = self.kinds.values().filter(|status| status.subject == Subject::Objects(kind)).peekable();
            let known = of_kind.peek().is_some() && of_kind.all(|status| status.lists > 0 || status.state == State::Absent);
            if known {
                about.listed.push(kind);
            } else {
                about.unlisted.insert(kind);
            }
        }
        for status in self.kinds.values() {
            let Subject::Objects(kind) = status.subject else { continue };
            match &status.state {
                State::Forbidden { .. } if status.lists == 0 => about.refused.insert(kind),
                State::Retrying { .. } if status.lists == 0 => about.failed.insert(kind),
                State::OldVersion { .. } => about.failed.insert(kind),
                _ if status.namespace.is_some() => about.partial.insert(kind),
                _ => {}
            }
        }
        let remark = |severity, message| Diagnostic { severity, file: about.name.clone(), line: None, object: None, message };
        let mut diagnostics = Vec::new();
        let mut absent = Vec::new();
        let mut namespaces: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for status in self.kinds.values() {
            let subject = status.subject;
            let of = status.namespace.as_ref().map_or_else(String::new, |namespace| format!(" of namespace {namespace}"));
            match &status.state {
                State::Forbidden { why } => diagnostics.push(remark(Severity::Warning, format!("{subject}{of} cannot be read: {why}"))),
                State::Retrying { why, .. } if status.lists == 0 => {
                    diagnostics.push(remark(Severity::Error, format!("{subject}{of} could not be read so far: {why}")));
                }
                State::OldVersion { version } => {
                    let message = format!("{subject} of {version} cannot be read; only newer versions can");
                    diagnostics.push(remark(Severity::Warning, message));
                }
                State::Absent => absent.push(subject.to_string()),
                _ => {}
            }
            if let Some(namespace) = &status.namespace {
                namespaces.entry(namespace).or_default().push(subject.to_string());
            }
        }
        if !absent.is_empty() {
            diagnostics.push(remark(Severity::Note, format!("the server does not have {}", absent.join(", "))));
        }
        if let Some(subjects) = namespaces.values().next() {
            let of: Vec<&str> = namespaces.keys().copied().collect();
            let message = format!(
                "only namespaces {} were read of {}, since all may not be; nodes may look emptier than they are",
                of.join(", "),
                subjects.join(", ")
            );
            diagnostics.push(remark(Severity::Warning, message));
        }
        about.diagnostics = diagnostics;
        about
    }
}
