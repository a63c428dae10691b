//! Fixes as text and as data: sentences, patches and `kubectl` commands.

mod kubectl;
mod owner;
mod patches;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

#[cfg(test)]
pub(in crate::analysis) use self::kubectl::merge;
pub(in crate::analysis) use self::kubectl::shell_words;
pub use self::owner::fix_kinds;
use self::patches::Targets;
use self::words::{
    closest_text, demand_kind, demand_text, fix_text, last_resort_text, no_command_text, outcome_text, preempts_text, progress_text,
    reaction_text, search_text,
};
pub(in crate::analysis) use self::words::{cut_short_texts, unproposed_text};
use super::why::{uncapitalized, waits_for_volume, why_group, why_group_in_short};
use crate::cluster::neighbors::{NeighborKind, Neighbors};
use crate::cluster::{Cluster, Key, Kind, Object, Pod, Str};
pub use crate::fixes::Originals;
use crate::fixes::{Alternative, Change, Fix, FixOutcome, Fixes, GroupProof, GroupTrial, LastResort, Recreated, Without};
use crate::scheduler::binding_under_way;
use crate::trace::{GroupOutcome, Outcome};

/// The objects of a source with all fields, and those that scheduling does not read.
pub type FixSource<'a> = (Originals<'a>, &'a Neighbors);

/// The constraints and fixes of a pod, as `explain --fixes -o json` prints them under `fixes`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FixesReport {
    /// Whether the list holds every single change that works.
    pub complete: bool,
    /// The limit that ended the search; `None` if it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_short_by: Option<String>,
    /// The extent of the search.
    pub searched: String,
    /// Obstacles for which no change can be proposed, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_proposed: Vec<String>,
    /// The kinds that may refuse or change the pods of these fixes and are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_policies: Vec<String>,
    /// The demands of the pod.
    pub constraints: Vec<ConstraintReport>,
    /// The fixes, smallest first.
    pub fixes: Vec<FixReport>,
    /// Objects whose source cannot be read again. Their patches know only the fields that scheduling reads, and replace lists
    /// by such.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub patched_as_held: BTreeSet<String>,
    /// Why no fix is needed; empty if one is.
    #[serde(skip)]
    pub(crate) nothing: String,
    /// Where preemption makes room without changes, in words; empty where it does not.
    #[serde(skip)]
    pub(crate) preempts: String,
    /// Whether the pod waits for victims that are ending.
    #[serde(skip)]
    pub(crate) waits: bool,
    /// The pod group that decides about the pod, without changes; `None` for a pod that is decided on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupFixReport>,
}

/// The result of a pod group's attempt for its pod.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupFixReport {
    /// The group, as `namespace/name`.
    pub name: String,
    /// How it ends; `None` if the group was not tried with the changes.
    pub outcome: Option<GroupOutcome>,
    /// Whether the pod is scheduled with its group; `None` if that was not tried.
    pub scheduled: Option<bool>,
    /// The above in words.
    pub text: String,
}

/// A demand of the pod.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConstraintReport {
    /// The demand in words.
    pub text: String,
    /// A stable key of the kind of demand.
    pub kind: String,
    /// The field of the pod's spec; `None` for a demand that the spec does not hold.
    pub field: Option<&'static str>,
    /// The number of nodes on which it fails.
    pub fails: usize,
    /// The number of nodes on which only it fails.
    pub only: usize,
    /// The number of nodes that take the pod without it.
    pub opens: usize,
    /// The number of those that do not take it with the demand; `None` if that was not tried.
    #[serde(skip)]
    pub(crate) more: Option<usize>,
    /// Patches that drop it; null if none does, or if `withoutLeftOut`.
    pub without: Option<Vec<Value>>,
    /// Whether `without` is not known, as dropping it was not tried, or left out, as the patches of all demands take long to make.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_left_out: bool,
    /// The closest values of nodes, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub closest: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FixReport {
    /// The fix in words.
    pub text: String,
    /// `scheduled` or `preempts`.
    pub outcome: &'static str,
    /// The result in words.
    pub result: String,
    /// The nodes that take the pod; the candidates for a fix that preempts.
    pub nodes: Vec<Str>,
    /// The victims on each candidate, most important first, as `namespace/name`.
    pub victims: BTreeMap<Str, Vec<String>>,
    /// The changes, one per object and field.
    pub changes: Vec<Value>,
    /// Patches that make the changes.
    pub patches: Vec<Value>,
    /// The commands, one a line; null if kubectl cannot make the changes. A volume for a new claim is not made by them.
    pub kubectl: Option<String>,
    /// Why no command brings the change of the pod about, in words; `None` where there are commands, or kubectl has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_command: Option<String>,
    /// The owner whose template was not read, so that the commands take the pod's spec for it, as `Kind name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_unread: Option<String>,
    /// Why it is for the case that nothing else helps, in words; null for a fix that an owner would consider.
    pub last_resort: Option<String>,
    /// Index of the first fix that does the same with an equal node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_to: Option<usize>,
    /// The pods that controllers make in place of deleted ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recreated: Vec<RecreatedReport>,
    /// The pending pods of the workload whose template changes; `None` without others than the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub siblings: Option<SiblingsReport>,
    /// The node that is changed or copied; `None` for a fix without one.
    #[serde(skip)]
    pub(crate) node: Option<Str>,
    /// Whether it creates a claim that needs a new volume.
    #[serde(skip)]
    pub(crate) needs_volume: bool,
    /// The choice that it differs in from others.
    #[serde(skip)]
    pub(crate) alternative: Option<Alternative>,
    /// The result of the attempt of the pod's group with the changes; all else is about the pod alone. `None` for a pod that is decided on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupFixReport>,
}

/// A pod that a controller makes in place of a deleted one.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecreatedReport {
    /// The deleted pod, as `namespace/name`.
    pub pod: String,
    /// The workload, as `Kind name`.
    pub workload: String,
    /// The node that the new pod gets; null where it stays pending.
    pub node: Option<Str>,
}

/// The pending pods of a workload whose template changes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiblingsReport {
    /// The workload, as `Kind name`.
    pub workload: String,
    /// The number of pods that find a place.
    pub placed: usize,
    /// The number of pods that were tried.
    pub of: usize,
    /// The number of further pods.
    pub untried: usize,
}

impl FixesReport {
    /// Returns which policies of admission are not known, in words; `None` if all are.
    pub(crate) fn unknown_text(&self) -> Option<String> {
        unknown_policies_text(&self.unknown_policies)
    }

    /// Makes the report. `source` returns objects with all fields, for patches, and the owners of pods, for commands.
    pub fn new(fixes: &Fixes, cluster: &Cluster, source: FixSource<'_>) -> Self {
        let targets = Targets::new(&fixes.pod, cluster, source);
        let constraints = fixes.constraints.iter().map(|c| {
            let without = c.without.changes().and_then(|changes| targets.patches_of_demand(changes));
            (c, without.is_none() && c.without != Without::Impossible, without)
        });
        let constraints = constraints.map(|(c, without_left_out, without)| ConstraintReport {
            text: demand_text(&c.demand),
            kind: demand_kind(&c.demand),
            field: c.demand.field(),
            fails: c.fails,
            only: c.only,
            opens: c.opens,
            more: c.more,
            without,
            without_left_out,
            closest: if c.fails == 0 { String::new() } else { closest_text(&c.demand, &c.closest) },
        });
        Self {
            complete: fixes.search.is_complete(),
            cut_short_by: cut_short_texts(&fixes.search.cut_short_by),
            searched: search_text(&fixes.search),
            not_proposed: fixes.unproposed.iter().map(unproposed_text).collect(),
            unknown_policies: fixes.unknown_policies.iter().map(|kind| kind.plural()).collect(),
            constraints: constraints.collect(),
            fixes: fixes.fixes.iter().map(|fix| report(fix, &targets)).collect(),
            patched_as_held: as_held(fixes, source.0),
            nothing: nothing(fixes, cluster),
            preempts: fixes.preempts_today.as_ref().map(preempts_text).unwrap_or_default(),
            waits: fixes.waits_for_victims_of.is_some(),
            group: fixes.group.as_ref().map(group_report),
        }
    }
}

/// Returns that kinds of policies are not known, in words; `None` if there are none.
pub(crate) fn unknown_policies_text<'k>(kinds: impl IntoIterator<Item = &'k String>) -> Option<String> {
    let kinds: Vec<&str> = kinds.into_iter().map(String::as_str).collect();
    let text = || {
        let kinds = kinds.join(", ");
        format!("unknown, because the source has none or not all of them: {kinds}; they may refuse or change the pods of fixes")
    };
    (!kinds.is_empty()).then(text)
}

/// Returns the objects whose patches are made without their source.
fn as_held(fixes: &Fixes, originals: Originals<'_>) -> BTreeSet<String> {
    let dropped = fixes.constraints.iter().flat_map(|c| c.without.changes().into_iter().flatten());
    let changes = fixes.fixes.iter().flat_map(|fix| &fix.changes).chain(dropped);
    let patched: BTreeSet<(Kind, Key)> = changes.filter(|c| c.is_edit()).map(|c| c.target(&fixes.pod)).collect();
    patched.into_iter().filter(|(kind, key)| originals(*kind, key).is_none()).map(|(kind, key)| format!("{kind} {key}")).collect()
}

/// Reports one fix of a pod.
pub(super) fn fix_report(fix: &Fix, pod: &Key, cluster: &Cluster, source: FixSource<'_>) -> FixReport {
    report(fix, &Targets::new(pod, cluster, source))
}

/// Returns why no fix is needed; empty if one is.
fn nothing(fixes: &Fixes, cluster: &Cluster) -> String {
    let binding = cluster.pods.get(&fixes.pod).and_then(|pod| binding_under_way(cluster, pod));
    match &fixes.group {
        _ if fixes.outcome == Outcome::Scheduled && binding.is_some() => {
            let words = binding.map(|binding| uncapitalized(&waits_for_volume(&binding, None))).unwrap_or_default();
            format!("it needs no fix here: it is {words}")
        }
        _ if !fixes.overdue_victims.is_empty() => overdue(&fixes.overdue_victims, cluster),
        _ if let Some(preemptor) = &fixes.waits_for_victims_of => {
            let whom = if *preemptor == fixes.pod { "it".to_owned() } else { format!("pod {preemptor} of its pod group") };
            format!("the pods preempted for {whom} are ending: it needs no fix")
        }
        _ if fixes.outcome != Outcome::Scheduled => String::new(),
        Some(tried) if !tried.scheduled => {
            let why = why_group(&tried.group).unwrap_or_default();
            format!("the pod would fit by itself; its pod group {} decides: {why}", tried.group.start.group)
        }
        _ => "the pod fits: it needs no fix".to_owned(),
    }
}

/// Returns what holds pods that should have ended, as far as it is known.
fn overdue(victims: &[Key], cluster: &Cluster) -> String {
    let held = victims.iter().filter_map(|key| cluster.pods.get(key)).find(|pod| !pod.metadata.finalizers.is_empty());
    let why = match (held, victims.first().and_then(|key| cluster.pods.get(key))) {
        (Some(pod), _) => {
            let finalizers: Vec<&str> = pod.metadata.finalizers.iter().map(Str::as_str).collect();
            format!("{} has the finalizer {}, whose owner has not removed it", pod.key(), finalizers.join(", "))
        }
        (None, Some(pod)) => format!("look at {}, and at the kubelet of {}", pod.key(), pod.node_name),
        (None, None) => "look at them, and at the kubelet of their node".to_owned(),
    };
    format!("the pods preempted for it should have ended, and no change of it helps: {why}")
}

fn group_report(tried: &GroupTrial) -> GroupFixReport {
    let group = &tried.group;
    let name = group.start.group.to_string();
    let outcome = group.decision.as_ref().map(|decision| decision.outcome).or(group.outcome);
    let text = match outcome {
        _ if tried.scheduled => format!("it is scheduled with its pod group {name}"),
        Some(GroupOutcome::Scheduled) => format!("its pod group {name} is scheduled without it"),
        _ => format!("but its pod group {name} is not scheduled: {}", why_group_in_short(group).unwrap_or_default()),
    };
    GroupFixReport { name, outcome, scheduled: Some(tried.scheduled), text }
}

fn proof_report(proof: &GroupProof) -> GroupFixReport {
    match proof {
        GroupProof::Tried(tried) => group_report(tried),
        GroupProof::NotTried(group) => GroupFixReport {
            name: group.to_string(),
            outcome: None,
            scheduled: None,
            text: format!("for the pod alone: not tried for its pod group {group}"),
        },
    }
}

fn report(fix: &Fix, targets: &Targets<'_>) -> FixReport {
    let outcome = match fix.outcome {
        FixOutcome::Scheduled => "scheduled",
        FixOutcome::Preempts => "preempts",
    };
    let victims = fix.victims.iter().map(|(node, list)| (node.clone(), list.iter().map(|v| v.key().to_string()).collect()));
    let group = fix.group.as_ref().map(proof_report);
    let of_group = group.as_ref().map_or_else(String::new, |group| format!("; {}", group.text));
    let evicts: Vec<Key> = fix.victims.values().flatten().map(|victim| victim.key().clone()).collect();
    let commands = kubectl::commands(targets, &fix.changes, &evicts);
    FixReport {
        text: fix_text(fix),
        outcome,
        result: format!("{}{}{of_group}", outcome_text(fix), reaction_text(fix)),
        nodes: fix.nodes.clone(),
        victims: victims.collect(),
        changes: targets.changes(&fix.changes),
        patches: targets.patches(&fix.changes),
        kubectl: commands.lines,
        no_command: commands.why_none.as_ref().map(no_command_text),
        template_unread: commands.assumed.as_ref().map(ToString::to_string),
        last_resort: fix.last_resort.as_ref().map(|why| format!("{}{}", last_resort_text(why), progress(why, targets))),
        equal_to: fix.equals,
        recreated: fix.reaction.recreated.iter().map(recreated).collect(),
        siblings: fix.reaction.siblings.as_ref().map(|siblings| SiblingsReport {
            workload: siblings.workload.to_string(),
            placed: siblings.placed,
            of: siblings.of,
            untried: siblings.untried,
        }),
        node: fix.changes.iter().find_map(node_of),
        needs_volume: kubectl::creates_claim(&fix.changes) && fix.changes.iter().any(is_volume),
        alternative: fix.alternative(),
        group,
    }
}

/// Returns how far a Job is that a fix replaces, as the rest of a sentence; empty if nothing is known of it.
fn progress(why: &LastResort, targets: &Targets<'_>) -> String {
    let LastResort::ReplacesJob(job) = why else { return String::new() };
    let Some(facts) = targets.neighbors.get(NeighborKind::Job, job).and_then(|job| job.facts()) else { return String::new() };
    let is_its = |pod: &&Arc<Pod>| pod.metadata.controller().is_some_and(|owner| owner.kind == "Job" && owner.name == job.name);
    let of_job = targets.cluster.pods.in_namespace(&job.namespace).filter(is_its);
    let running = of_job.filter(|pod| !pod.node_name.is_empty() && !pod.is_terminal()).count();
    progress_text(facts.status.succeeded.unwrap_or(0), running)
}

fn recreated(one: &Recreated) -> RecreatedReport {
    RecreatedReport { pod: one.pod.to_string(), workload: one.workload.to_string(), node: one.node.clone() }
}

fn is_volume(change: &Change) -> bool {
    matches!(change, Change::Create { object: Object::PersistentVolume(_), .. })
}

/// Returns the node that a change edits or copies.
fn node_of(change: &Change) -> Option<Str> {
    match change {
        Change::Node(node, _) => Some(node.clone()),
        Change::Create { like, .. } => like.clone(),
        _ => None,
    }
}
