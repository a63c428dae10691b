//! The status of a connection and of each reflector.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use strum::IntoEnumIterator;

use super::discovery::is_gated;
use super::error::Target;
use super::resource::Subject;
use super::store::About;
use crate::cluster::Kind;
use crate::plural::thousands;
use crate::source::assemble::diagnostic::{Diagnostic, Severity};

/// The status of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The target of the connection.
    pub target: Target,
    /// The API server's version, such as `v1.36.2`.
    pub server_version: Option<String>,
    /// Each list and watch, by kind and namespace.
    pub kinds: Vec<KindStatus>,
    /// The initial state of the cluster is assembled.
    pub complete: bool,
    /// When something last changed.
    pub last_change: Option<Timestamp>,
    /// How far the server's clock was ahead of this machine's at the first answer, to the second.
    pub ahead: SignedDuration,
}

impl Status {
    /// Returns the number of known objects.
    pub fn objects(&self) -> usize {
        self.kinds.iter().map(|kind| kind.objects).sum()
    }

    /// Returns the lists and watches that fail, are forbidden, or have an unreadable version.
    pub fn troubles(&self) -> impl Iterator<Item = &KindStatus> {
        self.kinds.iter().filter(|kind| matches!(kind.state, State::Retrying { .. } | State::Forbidden { .. } | State::OldVersion { .. }))
    }
}

/// The status of one list and watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindStatus {
    /// The resource.
    pub subject: Subject,
    /// The namespace to which it is limited.
    pub namespace: Option<String>,
    /// The version of its API, such as `apps/v1`.
    pub api_version: String,
    /// The current state.
    pub state: State,
    /// The number of known objects.
    pub objects: usize,
    /// The number of objects that could not be decoded, counted each time that they were sent.
    pub unreadable: usize,
    /// The number of objects whose current state cannot be decoded. Those known before keep their last state.
    pub degraded: usize,
    /// How often it was listed in full.
    pub lists: usize,
    /// When one of its objects last changed.
    pub last_change: Option<Timestamp>,
    /// The initial state waits for it no longer.
    pub(super) settled: bool,
}

/// The state of a list and watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Reading all objects.
    Listing,
    /// All objects are listed, and changes arrive as they happen.
    Watching,
    /// An error occurred; the known state may be outdated.
    Retrying {
        /// Since when.
        since: Timestamp,
        /// The last error, without a full stop.
        why: String,
        /// When it is retried.
        next: Timestamp,
        /// The meaning of the error for the whole connection.
        cause: RetryCause,
    },
    /// The user may not read it. It is retried at intervals.
    Forbidden {
        /// The server's message.
        why: String,
    },
    /// The server's discovery does not have the resource, so there are no objects.
    Absent,
    /// The server has it only in a version that cannot be read.
    OldVersion {
        /// The version, such as `resource.k8s.io/v1alpha3`.
        version: String,
    },
}

/// The meaning of an error for the whole connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryCause {
    /// The server refuses the credentials (401).
    CredentialsRefused,
    /// There are no credentials.
    NoCredentials,
    /// Nothing: only this request failed.
    Request,
}

/// Identifies a list and watch.
pub(super) type Place = (Subject, Option<String>);

#[derive(Debug, Default)]
pub(super) struct Board {
    pub(super) target: Target,
    pub(super) server_version: Option<String>,
    /// How far the server's clock was ahead of this machine's at the first answer.
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
            degraded: 0,
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

    /// Returns whether the initial state can be assembled.
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

    /// Notes which kinds were listed, and why others are not known, or in part.
    fn sort_kinds(&self, about: &mut About) {
        for kind in Kind::iter() {
            let mut of_kind = self.kinds.values().filter(|status| status.subject == Subject::Objects(kind)).peekable();
            let known = of_kind.peek().is_some()
                && of_kind.all(|status| status.lists > 0 || status.state == State::Absent && !is_gated(status.subject));
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
                State::Retrying { .. } | State::Listing if status.lists == 0 => about.failed.insert(kind),
                State::OldVersion { .. } => about.failed.insert(kind),
                _ if status.namespace.is_some() => about.partial.insert(kind),
                _ => {}
            }
        }
    }

    /// Returns the report's content besides the objects.
    pub(super) fn about(&self) -> About {
        let mut about = About {
            name: self.target.to_string(),
            version: self.server_version.clone(),
            date: self.date,
            bytes: self.bytes,
            ..About::default()
        };
        self.sort_kinds(&mut about);
        let remark = |severity, message| Diagnostic { severity, file: about.name.clone(), line: None, object: None, message };
        let mut diagnostics = Vec::new();
        let (mut absent, mut refused, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        let mut namespaces: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for status in self.kinds.values() {
            let subject = status.subject;
            let of = status.namespace.as_ref().map_or_else(String::new, |namespace| format!(" of namespace {namespace}"));
            // A scheduler that reads them names them as missing.
            let severity = if is_gated(subject) { Severity::Note } else { Severity::Warning };
            match &status.state {
                State::Forbidden { why } => refused.push((severity, format!("{subject}{of}"), why.as_str())),
                State::Retrying { why, .. } if status.lists == 0 => {
                    let severity = if is_gated(subject) { Severity::Note } else { Severity::Error };
                    failed.push((severity, format!("{subject}{of}"), why.as_str()));
                }
                State::Listing if status.lists == 0 => {
                    let severity = if is_gated(subject) { Severity::Note } else { Severity::Error };
                    let objects = thousands(status.objects);
                    diagnostics.push(remark(severity, format!("{subject}{of} were not read in time: {objects} objects so far")));
                }
                State::OldVersion { version } => {
                    let message = format!("{subject} of {version} cannot be read; only newer versions can");
                    diagnostics.push(remark(Severity::Warning, message));
                }
                State::Absent if !is_gated(subject) => absent.push(subject.to_string()),
                _ => {}
            }
            if let Some(namespace) = &status.namespace {
                namespaces.entry(namespace).or_default().push(subject.to_string());
            }
        }
        let lines = [together(refused, "cannot be read"), together(failed, "could not be read so far")];
        diagnostics.extend(lines.into_iter().flatten().map(|(severity, message)| remark(severity, message)));
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

/// Returns one line about the lists that share a fate, and then the lines of each as notes. A single list, and one that is only
/// worth a note, has a line of its own.
fn together(lists: Vec<(Severity, String, &str)>, fate: &str) -> Vec<(Severity, String)> {
    let severity = lists.iter().map(|(severity, ..)| *severity).find(|severity| *severity != Severity::Note);
    let named: Vec<&(Severity, String, &str)> = lists.iter().filter(|(severity, ..)| *severity != Severity::Note).collect();
    let mut lines = Vec::new();
    if let (Some(severity), [(_, first, why), _, ..]) = (severity, named.as_slice()) {
        let names: Vec<&str> = named.iter().map(|(_, name, _)| name.as_str()).collect();
        let why = if named.iter().all(|(.., other)| other == why) { (*why).to_owned() } else { format!("{first}: {why}") };
        lines.push((severity, format!("{} lists {fate}: {} ({why})", named.len(), names.join(", "))));
    }
    let is_summed_up = !lines.is_empty();
    lines.extend(lists.into_iter().map(|(severity, name, why)| {
        let severity = if is_summed_up { Severity::Note } else { severity };
        (severity, format!("{name} {fate}: {why}"))
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_share_a_fate_share_a_line() {
        let of = |lists: &[(Severity, &'static str, &'static str)]| -> Vec<String> {
            let lists = lists.iter().map(|(severity, name, why)| (*severity, (*name).to_owned(), *why)).collect();
            together(lists, "cannot be read").into_iter().map(|(severity, line)| format!("{severity}: {line}")).collect()
        };
        assert_eq!(of(&[(Severity::Warning, "nodes", "403")]), ["warning: nodes cannot be read: 403"]);
        assert_eq!(
            of(&[(Severity::Note, "podgroups", "403"), (Severity::Warning, "nodes", "403"), (Severity::Warning, "pods", "403")]),
            [
                "warning: 2 lists cannot be read: nodes, pods (403)",
                "note: podgroups cannot be read: 403",
                "note: nodes cannot be read: 403",
                "note: pods cannot be read: 403"
            ]
        );
        assert_eq!(
            of(&[(Severity::Error, "nodes", "a"), (Severity::Error, "pods", "b")])[0],
            "error: 2 lists cannot be read: nodes, pods (nodes: a)"
        );
    }
}
