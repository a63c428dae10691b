//! The form of the message of an unschedulable pod by release, apart from the words of single reasons. Mirrors the
//! changes of `FitError.Error` in `pkg/scheduler/framework/types.go` and its callers.

use super::behaviour::{Algorithm, LeftOutNodes};
use super::choice::Emulated;
use super::known::{Match, nearest};
use super::profile::Profile;
use super::version::Release;

/// The optional parts of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageForm {
    /// The result of preemption follows the reasons.
    pub preemption: bool,
    /// Nodes that PreFilter excluded are counted with a reason.
    pub left_out: bool,
    /// A preemption that found a node says so.
    pub placement: bool,
}

impl Release {
    /// Returns the parts that messages of the release contain.
    pub fn message_form(self) -> MessageForm {
        let behaviour = &nearest(self).profile.behaviour;
        let left_out = behaviour.algorithm == Algorithm::Plugins && behaviour.cycle.left_out != LeftOutNodes::WithoutStatus;
        MessageForm { preemption: self >= Self::patch(24, 0), left_out, placement: behaviour.preemption.announced }
    }
}

impl Emulated {
    /// Returns the release that wrote the cluster's messages: the cluster's own, or the emulated one if it is unknown.
    pub fn writer(&self) -> Release {
        self.choice.cluster.map_or(self.profile.release, |cluster| cluster.release)
    }

    /// Returns the other releases that may have written the cluster's messages, most likely first: the one that covers
    /// the cluster's version, plus its neighbours if the version itself is not emulated. Without a known version,
    /// returns all releases, newest first.
    pub fn other_writers(&self) -> Vec<&'static Profile> {
        let all = Profile::all();
        let mut found: Vec<&'static Profile> = match self.choice.cluster {
            None => all.iter().rev().copied().collect(),
            Some(cluster) => {
                let own = nearest(cluster.release);
                let at = all.iter().position(|p| p.behaves_like(own.profile)).unwrap_or_default();
                let around = if own.is == Match::Same { at..=at } else { at.saturating_sub(1)..=at + 1 };
                let some = all.iter().enumerate().filter(|(i, _)| around.contains(i));
                let mut some: Vec<&'static Profile> = some.map(|(i, p)| if i == at { own.profile } else { *p }).collect();
                some.sort_by_key(|p| !p.behaves_like(own.profile));
                some
            }
        };
        found.retain(|p| !p.behaves_like(self.profile));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{FoundVersion, ReleaseChoice, VersionSource};

    #[test]
    fn parts_of_messages_came_and_went() {
        let form = |version: &str| {
            let MessageForm { preemption, left_out, .. } = version.parse::<Release>().unwrap().message_form();
            (preemption, left_out)
        };
        for (version, expected) in [
            ("1.12.0", (false, false)),
            ("1.23.9", (false, false)),
            ("1.24", (true, false)),
            ("1.29.1", (true, false)),
            ("1.30.1", (true, true)),
            ("1.30.2", (true, false)),
            ("1.29.5", (true, true)),
            ("1.29.6", (true, false)),
            ("1.31", (true, false)),
            ("1.32.0", (true, true)),
            ("1.36.2", (true, true)),
        ] {
            assert_eq!(form(version), expected, "{version}");
        }
    }

    #[test]
    fn who_may_have_written_a_message() {
        let others = |wanted: Option<&str>, cluster: Option<&str>| {
            let found = |version: &str| FoundVersion { release: version.parse().unwrap(), source: VersionSource::Server };
            let emulated = ReleaseChoice { wanted: wanted.map(found), cluster: cluster.map(found) }.emulated();
            let names: Vec<String> = emulated.other_writers().iter().map(|p| p.release.to_string()).collect();
            (emulated.writer().to_string(), names)
        };
        assert_eq!(others(Some("1.31.4"), Some("1.31.4")), ("v1.31.4".to_owned(), Vec::new()));
        assert_eq!(others(Some("1.36"), Some("1.31.4")), ("v1.31.4".to_owned(), vec!["v1.31.4".to_owned()]));
        // Patches that behave alike write alike.
        assert_eq!(others(Some("1.31.9"), Some("1.31.4")), ("v1.31.4".to_owned(), Vec::new()));
        assert_eq!(others(Some("1.31.1"), Some("1.31.4")), ("v1.31.4".to_owned(), vec!["v1.31.4".to_owned()]));
        let (writer, all) = others(None, None);
        assert_eq!((writer.as_str(), all.len(), all[0].as_str()), ("v1.36.2", Profile::all().len() - 1, "v1.37.0"));
        assert_eq!(others(Some("1.36"), Some("1.99")), ("v1.99".to_owned(), vec!["v1.37.0".to_owned()]));
    }
}
