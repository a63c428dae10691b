//! A decision about a pod.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Error, ErrorKind};
use crate::analysis::{FixesReport, ReleaseReport, SchedulerMatch, Voices, When};
use crate::cluster::{Key, Str};
use crate::framework::{self, Status};
use crate::report::{self, Answer, Origin, PodFacts, Ticket};
use crate::trace::{self, CycleView};

/// How an attempt to schedule a pod ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A node is selected.
    Scheduled,
    /// No node fits.
    Unschedulable,
    /// A scheduling gate, or another PreEnqueue plugin, keeps the pod out of the queue.
    Gated,
    /// The attempt ends with an error.
    Error,
}

/// A decision about a pending pod, taken on its own: nothing is bound, evicted or kept.
///
/// ```
/// use schedscope::engine::{Engine, Outcome};
///
/// let cluster = "
/// {kind: Node, metadata: {name: small}, status: {allocatable: {cpu: 1, pods: 10}}}
/// ---
/// {kind: Node, metadata: {name: off}, spec: {unschedulable: true}, status: {allocatable: {cpu: 8, pods: 10}}}
/// ---
/// {kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
/// ";
/// let decision = Engine::builder().objects(cluster).build()?.decide("default", "web")?;
/// assert_eq!((decision.outcome(), decision.node()), (Outcome::Unschedulable, None));
/// assert!(decision.message().starts_with("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."));
/// assert_eq!(decision.to_json()["outcome"], "unschedulable");
///
/// let rejections = decision.rejections();
/// let small = rejections.iter().find(|rejection| rejection.node() == "small").unwrap();
/// assert_eq!((small.plugin(), small.code()), ("NodeResourcesFit", "UnschedulableAndUnresolvable"));
/// let reason = &small.reasons()[0];
/// assert_eq!((reason.kind(), reason.text()), ("insufficient", "Insufficient cpu"));
/// assert_eq!((&reason.parameters()["requested"], &reason.parameters()["capacity"]), (&"2".into(), &"1".into()));
/// # Ok::<(), schedscope::engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decision {
    pod: Key,
    priority: i32,
    view: Arc<CycleView>,
    release: ReleaseReport,
    agreement: Arc<SchedulerMatch>,
    when: Option<When>,
    voices: Arc<Voices>,
    report: Arc<report::Decision>,
    /// The nodes of the snapshot, by name.
    nodes: Arc<[Str]>,
}

/// The parts of a decision that the engine finds.
pub(super) struct Parts {
    pub(super) pod: Key,
    pub(super) priority: i32,
    pub(super) view: CycleView,
    pub(super) release: ReleaseReport,
    pub(super) agreement: SchedulerMatch,
    pub(super) when: Option<When>,
    pub(super) voices: Voices,
    pub(super) nodes: Vec<Str>,
}

impl Decision {
    pub(super) fn new(parts: Parts) -> Result<Self, Error> {
        let Parts { pod, priority, view, release, agreement, when, voices, mut nodes } = parts;
        if view.nodes_unknown().is_some() || view.outcome.is_none() {
            return Err(Error::about_pod(ErrorKind::NodesUnknown, &pod, "the nodes are unknown, so that no decision is possible"));
        }
        nodes.sort_unstable();
        let report = report::Decision::of(&view).into();
        Ok(Self {
            pod,
            priority,
            report,
            view: view.into(),
            release,
            agreement: agreement.into(),
            when,
            voices: voices.into(),
            nodes: nodes.into(),
        })
    }

    /// Returns the namespace of the pod.
    pub fn namespace(&self) -> &str {
        &self.pod.namespace
    }

    /// Returns the name of the pod.
    pub fn name(&self) -> &str {
        &self.pod.name
    }

    /// Returns how the attempt ends.
    pub fn outcome(&self) -> Outcome {
        match self.view.outcome {
            Some(trace::Outcome::Scheduled) => Outcome::Scheduled,
            Some(trace::Outcome::Unschedulable) => Outcome::Unschedulable,
            Some(trace::Outcome::Gated) => Outcome::Gated,
            Some(trace::Outcome::Error) | None => Outcome::Error,
        }
    }

    /// Returns the selected node: the first by name where several tie. `None` unless the pod is scheduled.
    pub fn node(&self) -> Option<&str> {
        self.report.node.as_deref()
    }

    /// Returns the nodes that share the highest score, by name. kube-scheduler draws one of them at random.
    pub fn best_nodes(&self) -> impl Iterator<Item = &str> {
        self.report.best_nodes.iter().map(Str::as_str)
    }

    /// Returns the nodes that the pod fits on, by name.
    pub fn feasible_nodes(&self) -> impl Iterator<Item = &str> {
        self.report.feasible.iter().map(Str::as_str)
    }

    /// Returns the node on which preemption would make room, and the pods that it would evict there, as `namespace/name`, most important
    /// first. `None` without a preemption that helps.
    pub fn preemption(&self) -> Option<(&str, impl Iterator<Item = &str>)> {
        let found = self.report.preemption.as_ref()?;
        let node = found.selected.as_deref()?;
        let candidates = found.after_extenders.as_ref().unwrap_or(&found.candidates);
        let chosen = candidates.iter().find(|candidate| candidate.node == node)?;
        Some((node, chosen.victims.iter().map(String::as_str)))
    }

    /// Returns the decision in one sentence.
    pub fn why(&self) -> &str {
        &self.report.why
    }

    /// Returns kube-scheduler's text, to the letter of the release; empty for a pod that is scheduled.
    pub fn message(&self) -> &str {
        &self.report.message
    }

    /// Returns every node that is out, by name, with its reasons. Empty for a pod that is gated, and after an error.
    pub fn rejections(&self) -> Vec<Rejection> {
        let report = &self.report;
        let mut found: Vec<Rejection> = report
            .filter
            .iter()
            .map(|verdict| Rejection {
                node: verdict.node.clone(),
                plugin: verdict.plugin.map(|plugin| plugin.as_str().into()),
                code: verdict.code,
                reasons: reasons(&verdict.facts, &verdict.reasons),
            })
            .collect();
        // PreFilter left these out before any Filter.
        if let Some(status) = self.status_of_others() {
            let others = self.nodes.iter().filter(|node| report.filter.binary_search_by(|known| known.node.cmp(node)).is_err());
            let others = others.filter(|node| report.feasible.binary_search(node).is_err());
            let texts: Vec<String> = status.texts().map(Into::into).collect();
            let reasons = reasons(status.reasons(), &texts);
            let plugin = status.plugin().map(|plugin| plugin.as_str().into());
            let of = |node: &Str| Rejection { node: node.clone(), plugin: plugin.clone(), code: status.code(), reasons: reasons.clone() };
            found.extend(others.map(of));
            found.sort_by(|a, b| a.node.cmp(&b.node));
        }
        found
    }

    fn status_of_others(&self) -> Option<&Status> {
        let is_error = self.view.outcome == Some(trace::Outcome::Error);
        self.view.pre_filter.narrowed.as_ref().map(|(_, status)| status).filter(|status| !is_error && !status.is_success())
    }

    /// Returns the decision as JSON: the same object as `schedscope explain -o json`. `schedscope schema explain` prints its JSON Schema.
    pub fn to_json(&self) -> Value {
        self.json(None)
    }

    pub(super) fn json(&self, fixes: Option<&FixesReport>) -> Value {
        let ticket = Ticket {
            view: &self.view,
            release: &self.release,
            fixes,
            origin: &Origin::default(),
            priority: Some(self.priority),
            facts: PodFacts {
                agreement: Some(&self.agreement),
                others: &self.voices.others,
                others_left_out: self.voices.left_out,
                others_together: &self.voices.together,
                when: self.when.as_ref(),
                ..PodFacts::default()
            },
        };
        serde_json::to_value(Answer::Ticket(ticket)).unwrap_or_default()
    }
}

/// Returns reasons with their texts, which are parallel.
fn reasons(facts: &[framework::Reason], texts: &[String]) -> Vec<Reason> {
    let of = |(fact, text): (&framework::Reason, &String)| {
        let mut parameters = match serde_json::to_value(fact) {
            Ok(Value::Object(parameters)) => parameters,
            _ => Map::new(),
        };
        let kind = parameters.remove("kind").and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
        Reason { kind, text: text.clone(), parameters }
    };
    facts.iter().zip(texts).map(of).collect()
}

/// Why one node is out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    node: Str,
    plugin: Option<Str>,
    code: framework::Code,
    reasons: Vec<Reason>,
}

impl Rejection {
    /// Returns the node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Returns the plugin that rejects it; empty if several plugins together leave it out, or an extender does.
    pub fn plugin(&self) -> &str {
        self.plugin.as_deref().unwrap_or_default()
    }

    /// Returns kube-scheduler's code: `Unschedulable` where evicting pods may help, `UnschedulableAndUnresolvable` where it does not.
    pub fn code(&self) -> &'static str {
        self.code.into()
    }

    /// Returns the reasons, in order.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }
}

/// A reason: its kind with parameters, which are the same in all releases, and kube-scheduler's text in the emulated one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    kind: String,
    text: String,
    parameters: Map<String, Value>,
}

impl Reason {
    /// Returns the kind, such as `insufficient` or `untoleratedTaint`. Kinds are never renamed; `other` has only a text, as out-of-tree
    /// plugins give it. `schedscope schema reasons` lists them with their parameters.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the facts that decide, by name.
    pub fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    /// Returns kube-scheduler's text in the emulated release.
    pub fn text(&self) -> &str {
        &self.text
    }
}
