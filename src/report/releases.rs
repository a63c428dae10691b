//! The comparison of two releases: both decisions about each pending pod, as data and as text.

use serde::Serialize;

use super::Decision;
use super::decision::{NodeVerdict, PluginVerdict, StatusReport};
use crate::analysis::ReleaseReport;
use crate::cluster::MissingKinds;
use crate::output::{Document, Headings, Lines};
use crate::plural::count_of;
use crate::session::{PodDecisions, UpgradeComparison};

/// The keys of a decision that are compared: those that kube-scheduler itself decides.
const COMPARED: [&str; 12] = [
    "outcome",
    "node",
    "bestNodes",
    "feasible",
    "preEnqueue",
    "preFilter",
    "filter",
    "absent",
    "score",
    "message",
    "unschedulablePlugins",
    "preemption",
];

/// One pod as two releases decide it: an item of `pods` in the answer of `run --compare`.
#[derive(Clone, Debug, Serialize)]
pub struct PodComparison {
    /// `namespace/name`.
    pub pod: String,
    /// The decision of the first release.
    pub from: Decision,
    /// The decision of the second.
    pub to: Decision,
    /// The keys whose values differ, in the order of a decision's keys. Facts are not compared.
    pub changed: Vec<&'static str>,
}

impl PodComparison {
    /// Returns the comparison of two decisions.
    pub fn of(decisions: &PodDecisions) -> Self {
        let [from, to] = decisions.views.each_ref().map(Decision::of);
        let changed = changed(&from, &to);
        Self { pod: decisions.pod.to_string(), from, to, changed }
    }
}

/// Returns the keys whose values differ between two decisions. Facts are not compared.
fn changed(from: &Decision, to: &Decision) -> Vec<&'static str> {
    let differs = |key: &str| match key {
        "outcome" => from.outcome != to.outcome,
        "node" => from.node != to.node,
        "bestNodes" => from.best_nodes != to.best_nodes,
        "feasible" => from.feasible != to.feasible,
        "preEnqueue" => from.pre_enqueue.as_ref().map(PluginVerdict::decided) != to.pre_enqueue.as_ref().map(PluginVerdict::decided),
        "preFilter" => from.pre_filter.as_ref().map(PluginVerdict::decided) != to.pre_filter.as_ref().map(PluginVerdict::decided),
        "filter" => !from.filter.iter().map(NodeVerdict::decided).eq(to.filter.iter().map(NodeVerdict::decided)),
        "absent" => from.absent.as_ref().map(StatusReport::decided) != to.absent.as_ref().map(StatusReport::decided),
        "score" => from.score != to.score,
        "message" => from.message != to.message,
        "unschedulablePlugins" => from.unschedulable_plugins != to.unschedulable_plugins,
        "preemption" => match (&from.preemption, &to.preemption) {
            (Some(from), Some(to)) => !from.is_same(to),
            (from, to) => from.is_some() != to.is_some(),
        },
        _ => false,
    };
    COMPARED.into_iter().filter(|key| differs(key)).collect()
}

/// The answer of `run --compare`.
#[derive(Clone, Debug, Serialize)]
pub struct ReleaseComparison {
    /// The first release: `1.31.1`.
    pub from: String,
    /// The second.
    pub to: String,
    /// Why each release is emulated.
    pub releases: Releases,
    /// The pods added so far, by namespace and name, where they are kept.
    pub pods: Vec<PodComparison>,
    /// The number of pods that are not decided, after as many steps as are allowed.
    #[serde(skip_serializing_if = "is_none")]
    pub undecided: usize,
    #[serde(skip)]
    found: UpgradeComparison,
    /// The pods added that differ, but neither in the decision nor in its reasons.
    #[serde(skip)]
    reworded: Reworded,
}

/// Numbers of pods that differ in details only.
#[derive(Clone, Copy, Debug, Default)]
struct Reworded {
    pods: usize,
    messages: usize,
    scores: usize,
    /// In anything else.
    others: usize,
}

impl Reworded {
    fn add(&mut self, changed: &[&str]) {
        let has = |key: &str| changed.contains(&key);
        self.pods += usize::from(!changed.is_empty());
        self.messages += usize::from(has("message"));
        self.scores += usize::from(has("score"));
        self.others += usize::from(!changed.is_empty() && !has("message") && !has("score"));
    }

    /// Returns the sentence about them; `None` without any.
    fn sentence(self) -> Option<String> {
        let of = |number: usize, what: &str| (number > 0).then(|| format!("{number} in {what}"));
        let parts = [of(self.messages, "the message"), of(self.scores, "scores"), of(self.others, "other details")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (self.pods > 0).then(|| format!("{} in details only: {}.", count_of(self.pods, "pod differs", "pods differ"), parts.join(", ")))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the type that serde calls")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// Both releases of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Releases {
    /// The first.
    pub from: ReleaseReport,
    /// The second.
    pub to: ReleaseReport,
}

impl ReleaseComparison {
    /// Starts a comparison without pods. `versions` are the releases' names in text, `unknown` the kinds that the source left unknown.
    pub fn new(reports: [ReleaseReport; 2], versions: [String; 2], unknown: MissingKinds) -> Self {
        let [from, to] = reports;
        Self {
            from: from.emulates.clone(),
            to: to.emulates.clone(),
            releases: Releases { from, to },
            pods: Vec::new(),
            undecided: 0,
            reworded: Reworded::default(),
            found: UpgradeComparison { versions, unknown, ..UpgradeComparison::default() },
        }
    }

    /// Adds pods, with their comparisons, which are kept if the answer lists every pod.
    pub fn add(&mut self, decisions: &[PodDecisions], keep: bool) {
        self.found.pods += decisions.len();
        for decisions in decisions {
            let differing = |found: &UpgradeComparison| found.otherwise.len() + found.other_reasons.len();
            let before = differing(&self.found);
            self.found.add(decisions);
            let pod = PodComparison::of(decisions);
            if differing(&self.found) == before {
                self.reworded.add(&pod.changed);
            }
            if keep {
                self.pods.push(pod);
            }
        }
    }

    /// Returns the comparison as text.
    pub fn text(&self) -> Lines {
        self.document().plain(Headings::Colon)
    }

    /// Returns the comparison.
    pub(super) fn document(&self) -> Document {
        let mut out = Document::default();
        out.paragraph(format!("from {}", self.releases.from.sentence()));
        out.paragraph(format!("to   {}", self.releases.to.sentence()));
        out.paragraph("Each pod is decided on its own, ignoring the other pending pods.");
        out.blank();
        out.append(super::upgrade(&self.found));
        if let Some(sentence) = self.reworded.sentence() {
            out.blank();
            out.paragraph(sentence);
        }
        if self.undecided > 0 {
            out.blank();
            let pods = count_of(self.undecided, "more pending pod is", "more pending pods are");
            out.paragraph(format!(
                "{pods} not decided: the comparison ended after as many steps as are allowed for a cluster of this size."
            ));
        }
        out
    }
}

#[cfg(test)]
mod tests;
