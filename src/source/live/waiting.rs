//! Names what a connection waits for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::connection::lock;
use super::resource::Subject;
use crate::cluster::Key;

/// Something that a connection waits for. Its text follows "waiting for".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    /// The credentials: files that the kubeconfig names, or a credential plugin.
    Credentials,
    /// The server's version.
    Version,
    /// The API groups that the server offers.
    Groups,
    /// The resources of a group's version, such as `apps/v1`.
    Resources(String),
    /// A page of a list, in all namespaces or in one.
    List(Subject, Option<String>),
    /// The start of a watch, or its next event.
    Watch(Subject, Option<String>),
    /// A single object, or all objects of a kind as they are now.
    Object(String),
    /// The log of a scheduler's pod.
    Log(Key),
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |namespace: &Option<String>| namespace.as_ref().map_or_else(String::new, |namespace| format!(" in {namespace}"));
        match self {
            Self::Credentials => f.write_str("the credentials"),
            Self::Version => f.write_str("the server's version"),
            Self::Groups => f.write_str("the API groups"),
            Self::Resources(version) => write!(f, "the resources of {version}"),
            Self::List(subject, namespace) => write!(f, "the list of {subject}{}", of(namespace)),
            Self::Watch(subject, namespace) => write!(f, "the watch of {subject}{}", of(namespace)),
            Self::Object(path) => f.write_str(path),
            Self::Log(pod) => write!(f, "the log of {pod}"),
        }
    }
}

/// The requests that are not answered yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Waits(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    waits: BTreeMap<u64, (Waiting, Instant)>,
}

/// A wait, which ends when it is dropped.
pub(super) struct Wait {
    waits: Waits,
    number: u64,
}

impl Waits {
    pub(super) fn begin(&self, waiting: Waiting) -> Wait {
        let mut open = lock(&self.0);
        open.next += 1;
        let number = open.next;
        open.waits.insert(number, (waiting, Instant::now()));
        Wait { waits: self.clone(), number }
    }

    /// Returns what has been waited for the longest, and for how long.
    pub fn longest(&self) -> Option<(Waiting, Duration)> {
        // The first to begin has the lowest number.
        lock(&self.0).waits.values().next().map(|(waiting, since)| (waiting.clone(), since.elapsed()))
    }

    /// Returns `waiting for the list of pods, 12 s` once something is waited for longer than a moment.
    pub fn line(&self) -> Option<String> {
        self.longest().filter(|(_, time)| time.as_secs() > 0).map(|(waiting, time)| format!("waiting for {waiting}, {} s", time.as_secs()))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        lock(&self.waits.0).waits.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Kind;

    #[test]
    fn the_longest_wait_comes_first_and_each_has_its_name() {
        let waits = Waits::default();
        assert_eq!((waits.longest(), waits.line()), (None, None));
        let first = waits.begin(Waiting::Groups);
        let second = waits.begin(Waiting::List(Subject::Objects(Kind::Pod), Some("shop".to_owned())));
        assert_eq!(waits.longest().unwrap().0.to_string(), "the API groups");
        assert_eq!(waits.line(), None, "it has just begun");
        drop(first);
        assert_eq!(waits.longest().unwrap().0.to_string(), "the list of pods in shop");
        drop(second);
        assert_eq!(waits.longest(), None);
        for (waiting, expected) in [
            (Waiting::Watch(Subject::Events, None), "the watch of events"),
            (Waiting::Resources("apps/v1".to_owned()), "the resources of apps/v1"),
            (Waiting::Log(Key::new("kube-system", "s")), "the log of kube-system/s"),
        ] {
            assert_eq!(waiting.to_string(), expected);
        }
    }
}
