//! The cost of a fix to its owner: which of two comes first, and which is a last resort, such as one that takes back what the user did.

use std::collections::BTreeMap;

use super::change::{Change, ClaimChange, NodeChange, PodChange, UNSCHEDULABLE_TAINT};
use super::typo::is_one_edit;
use super::{Fix, FixOutcome};
use crate::cluster::{Cluster, Controller, Key, Kind, Node, NodeCondition, Object, OwnedTaint, Pod, Str, Taint};
use crate::controllers::Workload;

/// The cost of a fix. A lower one comes first.
pub type Effort = (bool, usize, u32, u32);

/// Why a fix is for the case that nothing else helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastResort {
    /// The pod gets less than half of what it requests of this resource.
    LargeCut(Str),
    /// The gate belongs to a controller, which removes it.
    ForeignGate {
        /// Name of the gate.
        gate: Str,
        /// Name of the controller.
        owner: &'static str,
    },
    /// The pod names another scheduler, which may run elsewhere.
    ForeignScheduler {
        /// The name in the pod.
        name: Str,
        /// The project, if the name is known.
        owner: Option<&'static str>,
    },
    /// The node has this condition. Its kubelet, or the node controller, says why in these words; empty if it does not.
    Condition(NodeCondition, Str),
    /// The owner of the taint removes it once the new node is ready for pods.
    Starting(OwnedTaint),
    /// The node is cordoned, which keeps pods away on purpose.
    Cordoned,
    /// It takes back a change that the user made in this session, in words.
    TakesBack(Str),
    /// It makes up for a change that the user made in this session, in words.
    MakesUpFor(Str),
    /// The pod asks for hardware by this label.
    Hardware(Str),
    /// The pod loses a volume or a claim that it uses.
    Drops(Str),
    /// A new volume is empty; the claim had another.
    EmptyVolume(Key),
    /// The name of the class that a claim asks for is one edit apart from that of another class.
    ClassTypo {
        /// The name in the claim.
        class: Str,
        /// The class that exists.
        known: Str,
    },
    /// No controller makes the deleted or preempted pod again.
    Bare(Key),
    /// This Job fails, as its deleted or preempted pod counts as failed.
    FailsJob(Key),
    /// The pod in place of the deleted or preempted one stays pending.
    Displaces(Key),
    /// The pod in place of the deleted or preempted one has no place where the run was cut.
    MayDisplace(Key),
    /// The class is for pods without which the cluster does not work.
    SystemClass(Str),
    /// The template of a Job is immutable, so that the Job is replaced.
    ReplacesJob(Key),
    /// The template of the workload moves running pods too.
    Moves {
        workload: Workload,
        /// Number of running pods.
        pods: usize,
    },
}

/// The changes that the user made in this session, each with the words that made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    cordoned: BTreeMap<Str, Str>,
    tainted: BTreeMap<Str, Vec<(Taint, Str)>>,
    /// The labels that nodes had before, by key and value.
    unlabelled: BTreeMap<Str, BTreeMap<Str, Str>>,
    deleted: BTreeMap<(Kind, Key), Str>,
}

impl Acts {
    /// Records the change of a node from one state to another by an act.
    pub fn record(&mut self, from: Option<&Node>, to: &Node, act: &str) {
        let name = to.name();
        match (from.is_some_and(Node::unschedulable), to.unschedulable()) {
            (false, true) => drop(self.cordoned.insert(name.clone(), act.into())),
            (true, false) => drop(self.cordoned.remove(name)),
            _ => {}
        }
        let had = |taint: &Taint| from.is_some_and(|from| from.spec.taints.contains(taint));
        let new = to.spec.taints.iter().filter(|taint| !had(taint)).map(|taint| (taint.clone(), Str::from(act)));
        let known = self.tainted.entry(name.clone()).or_default();
        known.retain(|(taint, _)| to.spec.taints.contains(taint));
        known.extend(new);
        let Some(from) = from else {
            return;
        };
        for (key, value) in from.metadata.labels.iter() {
            if to.metadata.labels.get(key) != Some(value) {
                self.unlabelled.entry(key.clone()).or_default().insert(value.clone(), act.into());
            }
        }
        // A label that a node has again counts no more.
        for (key, value) in to.metadata.labels.iter() {
            if let Some(values) = self.unlabelled.get_mut(key)
                && from.metadata.labels.get(key) != Some(value)
            {
                values.remove(value);
            }
        }
    }

    /// Records the deletion of an object by an act.
    pub fn record_deletion(&mut self, kind: Kind, key: &Key, act: &str) {
        self.deleted.insert((kind, key.clone()), act.into());
    }

    /// Returns the act that a change takes back.
    fn undone_by(&self, change: &Change) -> Option<&Str> {
        match change {
            Change::Node(node, NodeChange::Uncordon) => self.cordoned.get(node),
            Change::Node(node, NodeChange::RemoveTaint(taint)) => {
                self.tainted.get(node)?.iter().find(|(own, _)| own == taint).map(|(_, act)| act)
            }
            // Another node like one that is left is as good as the one that was lost.
            Change::Create { like: Some(_), .. } => self.deleted.iter().find(|((kind, _), _)| *kind == Kind::Node).map(|(_, act)| act),
            Change::Create { object, like: None } => self.deleted.get(&(object.kind(), object.key())),
            _ => None,
        }
    }

    /// Returns the act that took a label from a node which a change lets the pod do without.
    fn made_up_for_by(&self, change: &Change) -> Option<&Str> {
        let Change::Pod(change) = change else { return None };
        match change {
            PodChange::DropSelector { key, value }
            | PodChange::SetSelector { key, from: value, .. }
            | PodChange::RenameSelector { from: key, value, .. } => self.unlabelled.get(key)?.get(value),
            PodChange::DropRequirement { requirement, .. } | PodChange::AddValue { requirement, .. } => {
                let values = self.unlabelled.get(&requirement.key)?;
                values.iter().find(|(value, _)| requirement.values.is_empty() || requirement.values.contains(value)).map(|(_, act)| act)
            }
            _ => None,
        }
    }
}

/// Parts of gates' domains, with their projects.
const GATES: &[(&str, &str)] = &[
    ("kueue.x-k8s.io", "Kueue"),
    ("volcano.sh", "Volcano"),
    ("yunikorn.apache.org", "YuniKorn"),
    ("koordinator.sh", "Koordinator"),
    ("run.ai", "KAI Scheduler"),
    ("kai.scheduler", "KAI Scheduler"),
    ("jobset.x-k8s.io", "JobSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    ("multiarch.openshift.io", "the Multiarch Tuning Operator"),
    ("grove.io", "Grove"),
];

/// Names of schedulers, with their projects.
const SCHEDULERS: &[(&str, &str)] = &[
    ("volcano", "Volcano"),
    ("yunikorn", "YuniKorn"),
    ("kai-scheduler", "KAI Scheduler"),
    ("runai-scheduler", "Run:ai"),
    ("koord-scheduler", "Koordinator"),
    ("scheduler-plugins-scheduler", "scheduler-plugins"),
    ("stork", "Stork"),
    ("hami-scheduler", "HAMi"),
];

/// Beginning of the names of Kubernetes' own priority classes; upstream `SystemPriorityClassPrefix`.
const SYSTEM_CLASSES: &str = "system-";
/// The share of a request up to which a cut is small, in thousandths.
const SMALL_CUT: u32 = 250;
/// Words in labels that name hardware.
const HARDWARE: &[&str] = &["disk", "ssd", "nvme", "storage", "gpu", "accelerator", "instance-type", "arch", "os", "cpu"];

impl Fix {
    /// Returns the sort key: last resorts last, then the number of changes, their intrusiveness, and the share of a request that is
    /// cut, in thousandths.
    pub fn effort(&self) -> Effort {
        let created = self.changes.iter().filter(|c| matches!(c, Change::Create { .. })).count();
        let follows = self.changes.iter().filter(|c| c.follows()).count();
        // Objects that are created together count as one change, and so does a change with what controllers do after it.
        let number = self.changes.len() - created.saturating_sub(1) - follows.min(self.changes.len() - 1);
        let cut = self.changes.iter().map(cut).max().unwrap_or(0);
        (self.last_resort.is_some(), number, self.changes.iter().map(rank).max().unwrap_or(0), cut)
    }
}

/// Returns the share of a request that a change cuts, in thousandths.
fn cut(change: &Change) -> u32 {
    let (from, to) = match change {
        Change::Pod(PodChange::Lower(lowered)) => (lowered.from, lowered.to),
        Change::Claim(_, ClaimChange::LowerCount { from, to, .. }) => (*from, *to),
        _ => return 0,
    };
    let share = i128::from(from.saturating_sub(to)) * 1000 / i128::from(from.max(1));
    u32::try_from(share).unwrap_or(0)
}

/// Returns how intrusive a change is. A change ranks before every change that includes it.
pub(super) fn rank(change: &Change) -> u32 {
    match change {
        Change::Pod(pod) => match pod {
            PodChange::RemoveGates(_) | PodChange::SchedulerName { .. } => 0,
            PodChange::SetSelector { typo: true, .. } | PodChange::AddValue { typo: Some(_), .. } | PodChange::RenameSelector { .. } => 1,
            PodChange::AddValue { .. } => 2,
            PodChange::Lower(_) if cut(change) <= SMALL_CUT => 3,
            PodChange::MaxSkew { .. } => 4,
            PodChange::Tolerate(taint) if taint.condition().is_some() || taint.owned().is_some() => 25,
            PodChange::Tolerate(taint) if taint.key == UNSCHEDULABLE_TAINT => 9,
            PodChange::Tolerate(_) => 5,
            // The pod is rarely oversized by that much.
            PodChange::Lower(_) => 9,
            // It gives up what the owner asked for.
            PodChange::SetSelector { .. } => 10,
            PodChange::DropSelector { .. } => 11,
            PodChange::DropRequirement { .. } => 12,
            PodChange::DropNodeAffinity => 13,
            PodChange::DropSpread { .. } => 14,
            PodChange::DropPodTerm { anti: true, .. } => 15,
            PodChange::DropPodTerm { .. } => 16,
            PodChange::DropHostPorts(Some(_)) => 17,
            PodChange::DropHostPorts(None) => 18,
            PodChange::DropVolume(_) | PodChange::DropClaim(_) => 19,
            PodChange::Preempt => 20,
            PodChange::Priority { class: Some(_), .. } => 21,
            PodChange::Priority { .. } => 22,
        },
        Change::RollOut { .. } => 0,
        Change::Node(_, NodeChange::Uncordon) => 7,
        // The node controller or the owner adds the taint again.
        Change::Node(_, NodeChange::RemoveTaint(taint)) if taint.condition().is_some() || taint.owned().is_some() => 26,
        Change::Node(_, NodeChange::RemoveTaint(_)) => 8,
        Change::Claim(_, change) => match change {
            ClaimChange::SetClass { typo: true, .. } => 1,
            ClaimChange::SetClass { .. } => 3,
            ClaimChange::Tolerate { .. } => 5,
            ClaimChange::LowerCount { .. } => 6,
            ClaimChange::DropSelector { .. } => 10,
            ClaimChange::DropSelectors { .. } => 11,
            ClaimChange::DropConstraint { .. } => 14,
            ClaimChange::Free => 23,
        },
        Change::Create { like: None, .. } | Change::Bind { .. } => 23,
        Change::Delete(..) => 24,
        Change::Create { .. } => 9,
    }
}

/// Returns why a fix of a pod is a last resort; `None` for one that an owner would consider.
pub(super) fn last_resort(cluster: &Cluster, pod: &Pod, fix: &Fix, acts: &Acts) -> Option<LastResort> {
    if let Some(act) = fix.changes.iter().find_map(|change| acts.undone_by(change)) {
        return Some(LastResort::TakesBack(act.clone()));
    }
    if let Some(act) = fix.changes.iter().find_map(|change| acts.made_up_for_by(change)) {
        return Some(LastResort::MakesUpFor(act.clone()));
    }
    // A pod evicts by its own priority as it is meant to.
    let takes = |change: &Change| matches!(change, Change::Delete(..) | Change::Pod(PodChange::Priority { .. } | PodChange::Preempt));
    if fix.changes.iter().any(takes) {
        if let Some(displaced) = fix.reaction.recreated.iter().find(|one| one.node.is_none()) {
            let of = if fix.reaction.is_cut { LastResort::MayDisplace } else { LastResort::Displaces };
            return Some(of(displaced.pod.clone()));
        }
        if let Some(job) = fix.reaction.failed_jobs.first() {
            return Some(LastResort::FailsJob(job.clone()));
        }
        if let Some(lost) = fix.reaction.lost.first() {
            return Some(LastResort::Bare(lost.clone()));
        }
    }
    replaced_job(pod, &fix.changes).or_else(|| fix.changes.iter().find_map(|change| of_change(cluster, pod, fix, change)))
}

/// Returns the Job that is replaced for a change that an existing pod does not allow.
fn replaced_job(pod: &Pod, changes: &[Change]) -> Option<LastResort> {
    let owner = pod.metadata.controller().filter(|owner| owner.kind == "Job")?;
    let replaces =
        |change: &Change| matches!(change, Change::Pod(change) if !matches!(change, PodChange::Tolerate(_) | PodChange::RemoveGates(_)));
    let job = || Key::new(pod.metadata.namespace.clone(), owner.name.clone());
    changes.iter().any(replaces).then(|| LastResort::ReplacesJob(job()))
}

fn of_change(cluster: &Cluster, pod: &Pod, fix: &Fix, change: &Change) -> Option<LastResort> {
    match change {
        Change::Pod(PodChange::Lower(lowered)) if cut(change) > 500 => Some(LastResort::LargeCut(lowered.resource.clone())),
        Change::Claim(_, ClaimChange::LowerCount { .. }) if cut(change) > 500 => Some(LastResort::LargeCut("devices".into())),
        Change::Pod(PodChange::RemoveGates(gates)) => gates.iter().find_map(|gate| {
            let domain = gate.split_once('/').map_or("", |(domain, _)| domain);
            let owner = GATES.iter().find(|(part, _)| domain == *part || domain.strip_suffix(part).is_some_and(|rest| rest.ends_with('.')));
            owner.map(|(_, owner)| LastResort::ForeignGate { gate: gate.clone(), owner })
        }),
        Change::Pod(PodChange::SchedulerName { from, to }) if !is_one_edit(from, to) => {
            let owner = SCHEDULERS.iter().find(|(name, _)| *from == *name).map(|(_, owner)| *owner);
            Some(LastResort::ForeignScheduler { name: from.clone(), owner })
        }
        Change::Pod(PodChange::Tolerate(taint)) if taint.key == UNSCHEDULABLE_TAINT => Some(LastResort::Cordoned),
        Change::Pod(PodChange::Tolerate(taint)) | Change::Node(_, NodeChange::RemoveTaint(taint)) => {
            let Some(condition) = taint.condition() else { return taint.owned().map(LastResort::Starting) };
            let node = if let Change::Node(node, _) = change { Some(node) } else { fix.nodes.first() };
            let says = node.and_then(|node| cluster.nodes.named(node)).and_then(|node| node.says_of(condition));
            Some(LastResort::Condition(condition, says.cloned().unwrap_or_default()))
        }
        Change::Pod(PodChange::Priority { class: Some(class), .. }) if class.starts_with(SYSTEM_CLASSES) => {
            Some(LastResort::SystemClass(class.clone()))
        }
        Change::Pod(PodChange::DropVolume(name) | PodChange::DropClaim(name)) => Some(LastResort::Drops(name.clone())),
        Change::Pod(change) => demanded(cluster, pod, change),
        Change::Create { object: Object::StorageClass(class), like: None } => class_typo(cluster, &class.metadata.name),
        Change::Create { object: Object::PersistentVolume(volume), like: None } => {
            let reference = volume.spec.claim_ref.as_ref()?;
            let key = Key::new(reference.namespace.clone(), reference.name.clone());
            let claim = cluster.persistent_volume_claims.get(&key)?;
            let is_empty = (!claim.spec.volume_name.is_empty()).then_some(LastResort::EmptyVolume(key));
            is_empty.or_else(|| class_typo(cluster, &volume.spec.storage_class_name))
        }
        // A fix that evicts makes room as well.
        Change::Delete(Kind::Pod, key) if fix.outcome == FixOutcome::Scheduled => {
            let bare = cluster.pods.get(key).is_some_and(|pod| Controller::of(pod) == Controller::None && !pod.is_terminal());
            bare.then(|| LastResort::Bare(key.clone()))
        }
        _ => None,
    }
}

/// Returns why a change gives up something that the owner demanded on purpose.
fn demanded(cluster: &Cluster, pod: &Pod, change: &PodChange) -> Option<LastResort> {
    let hardware = |key: &Str| is_hardware(key).then(|| LastResort::Hardware(key.clone()));
    match change {
        PodChange::DropSelector { key, value } | PodChange::SetSelector { key, from: value, typo: false, .. } => {
            hardware(key).or_else(|| moves(cluster, pod, key, value))
        }
        PodChange::DropRequirement { requirement, .. } | PodChange::AddValue { requirement, typo: None, .. } => hardware(&requirement.key),
        PodChange::DropNodeAffinity => {
            let required = pod.spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()?;
            let mut keys = required.node_selector_terms.iter().flat_map(|term| term.match_expressions.iter()).map(|one| &one.key);
            keys.find_map(hardware)
        }
        _ => None,
    }
}

/// Returns that the name of a class that does not exist is one edit apart from that of another; `None` otherwise.
fn class_typo(cluster: &Cluster, name: &Str) -> Option<LastResort> {
    if cluster.storage_classes.named(name).is_some() {
        return None;
    }
    let known = cluster.storage_classes.iter().map(|class| &class.metadata.name).find(|known| is_one_edit(known, name))?;
    Some(LastResort::ClassTypo { class: name.clone(), known: known.clone() })
}

/// Returns whether running pods of the workload have the same selector, which its template would change for them too.
fn moves(cluster: &Cluster, pod: &Pod, key: &Str, value: &Str) -> Option<LastResort> {
    let workload = Workload::of(cluster, pod)?;
    let selects = |other: &Pod| other.spec.node_selector.as_ref().and_then(|selector| selector.get(key)).is_some_and(|v| v == value);
    let running = cluster.pods.in_namespace(&pod.metadata.namespace).filter(|other| {
        !other.node_name.is_empty() && !other.is_terminal() && selects(other) && Workload::of(cluster, other).as_ref() == Some(&workload)
    });
    let pods = running.count();
    (pods > 0).then_some(LastResort::Moves { workload, pods })
}

/// Returns whether a label key names hardware: one of its words does.
fn is_hardware(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let name = key.rsplit('/').next().unwrap_or_default();
    HARDWARE.iter().any(|word| match *word {
        "arch" | "os" | "cpu" => name.split(['.', '-', '_']).any(|part| part == *word),
        word => name.contains(word),
    })
}

#[cfg(test)]
mod tests {
    use super::is_hardware;

    #[test]
    fn labels_of_hardware_are_known_by_their_words() {
        for (key, expected) in [
            ("disk", true),
            ("kubernetes.io/arch", true),
            ("example.com/local-ssd", true),
            ("cloud.google.com/gke-accelerator", true),
            ("node.kubernetes.io/instance-type", true),
            ("pool", false),
            ("topology.kubernetes.io/zone", false),
            ("team.example.com/architects", false),
            ("cost-center", false),
        ] {
            assert_eq!(is_hardware(key), expected, "{key}");
        }
    }
}
