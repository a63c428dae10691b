//! The emulated release of an answer: why it was chosen, and its parts that tests do not verify.

use serde::Serialize;

use crate::plural::count_of;
use crate::release::{Emulated, Part, Release};
use crate::scheduler::Config;

/// The emulated release, as the object `release` of JSON answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseReport {
    /// The emulated release: `1.31.1`, or `1.28` for the latest patch.
    pub emulates: String,
    /// The requested version, or the one that the source shows; `None` without either.
    pub asked: Option<String>,
    /// The origin of that version: `flag`, `command`, `server`, `version-file`, `cluster-operator`, `scheduler-image`,
    /// `kubelets`, or `default` for the newest release.
    pub from: &'static str,
    /// The cluster's version that the source shows.
    pub cluster: Option<String>,
    /// The parts that matter for this answer and that no test case of the release covers.
    pub not_verified: Vec<String>,
    /// The patch that the test cases are of.
    pub verified_as: String,
    /// How many changes of behaviour, known from code or notes, are between that patch and the emulated one.
    pub changes_apart: usize,
    /// The report in a sentence.
    #[serde(skip)]
    sentence: String,
}

impl ReleaseReport {
    /// Reports the release for an answer that depends on these parts.
    pub fn of(emulated: Emulated, parts: &[Part]) -> Self {
        let not_verified: Vec<String> = emulated.not_verified(parts).iter().map(ToString::to_string).collect();
        let verified: Vec<Part> = parts.iter().copied().filter(|part| emulated.profile.verified.contains(part)).collect();
        let (verified_as, changes) = emulated.profile.verified_as(&verified);
        let apart = changes_apart(emulated, verified_as, changes);
        let against = if emulated.profile.novelties.is_empty() { "" } else { " against its own code" };
        let missing = if not_verified.is_empty() { String::new() } else { format!("; not verified{against}: {}", not_verified.join(", ")) };
        Self {
            emulates: emulated.profile.release.number(),
            asked: emulated.choice.wanted.map(|wanted| wanted.release.number()),
            from: emulated.choice.wanted.map_or("default", |wanted| wanted.source.into()),
            cluster: emulated.choice.cluster.map(|cluster| cluster.release.number()),
            not_verified,
            verified_as: verified_as.number(),
            changes_apart: changes,
            sentence: format!("kube-scheduler {}: {}{apart}{missing}", emulated.profile.release, emulated.because()),
        }
    }

    /// Returns a sentence such as `kube-scheduler v1.31.1: v1.31.4 is the version of its newest kubelet; not verified: extenders`.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

/// Returns a clause about the changes since the patch that the test cases are of; empty without either.
fn changes_apart(emulated: Emulated, verified_as: Release, changes: usize) -> String {
    if emulated.profile.verified.is_empty() || changes == 0 {
        return String::new();
    }
    let alike = emulated.profile.verified_as(&[Part::Decisions]).1 == 0;
    let what = if alike { "decisions are verified, the rest as" } else { "verified as" };
    format!("; {what} {verified_as}, which differs by {}", count_of(changes, "known change", "known changes"))
}

/// Returns the parts that a decision under a configuration depends on.
pub fn decision_parts(config: &Config) -> Vec<Part> {
    let mut parts = vec![Part::Decisions];
    parts.extend(config.text().map(|_| Part::Configuration));
    parts.extend(config.has_extenders().then_some(Part::Extenders));
    parts
}

/// Returns the parts that a run under a configuration depends on.
pub fn run_parts(config: &Config) -> Vec<Part> {
    let mut parts = decision_parts(config);
    parts.insert(1, Part::Queues);
    parts
}

#[cfg(test)]
mod tests;
