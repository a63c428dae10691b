//! The release that takes the decisions: why it is that one, and what of it was not held against kube-scheduler.

use serde::Serialize;

use crate::release::{Emulated, Part};
use crate::scheduler::Config;

/// The release of an answer, as the object `release` of JSON answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseReport {
    /// The release whose decisions are taken: `1.31.1`, or `1.28` for the latest patch.
    pub emulates: String,
    /// The version that was asked for or that the source shows; `None` where neither.
    pub asked: Option<String>,
    /// What told that version: `flag`, `command`, `server`, `version-file`, `cluster-operator`, `scheduler-image` or
    /// `kubelets`; `default` for the newest, where nothing did.
    pub from: &'static str,
    /// The version that the source shows of the cluster.
    pub cluster: Option<String>,
    /// The parts that matter for the answer and that no case of the release covers.
    pub not_verified: Vec<String>,
    /// The same in a sentence.
    #[serde(skip)]
    sentence: String,
}

impl ReleaseReport {
    /// Returns the report for an answer that these parts matter for.
    pub fn of(emulated: Emulated, parts: &[Part]) -> Self {
        let not_verified: Vec<String> = emulated.not_verified(parts).iter().map(ToString::to_string).collect();
        let missing = if not_verified.is_empty() { String::new() } else { format!("; not verified: {}", not_verified.join(", ")) };
        Self {
            emulates: emulated.profile.release.number(),
            asked: emulated.choice.wanted.map(|wanted| wanted.release.number()),
            from: emulated.choice.wanted.map_or("default", |wanted| wanted.source.into()),
            cluster: emulated.choice.cluster.map(|cluster| cluster.release.number()),
            not_verified,
            sentence: format!("kube-scheduler {}: {}{missing}", emulated.profile.release, emulated.because()),
        }
    }

    /// Returns it in a sentence: `kube-scheduler v1.31.1: v1.31.4 is its newest kubelet; not verified: extenders`.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

/// Returns the parts that matter for a decision under a configuration.
pub fn decision_parts(config: &Config) -> Vec<Part> {
    let mut parts = vec![Part::Decisions];
    parts.extend(config.text().map(|_| Part::Configuration));
    parts.extend(config.has_extenders().then_some(Part::Extenders));
    parts
}

/// Returns the parts that matter for a run under a configuration.
pub fn run_parts(config: &Config) -> Vec<Part> {
    let mut parts = decision_parts(config);
    parts.insert(1, Part::Queues);
    parts
}
