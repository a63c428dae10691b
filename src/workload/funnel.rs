//! The numbers from desired to ready, and their causes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;
use strum::IntoEnumIterator as _;

use super::creation::{self, NotCreated};
use super::desired::desired;
use super::holders::{Holder, holder_of_gate};
use super::queues::holds_for;
use super::remedy::Remedy;
use super::subject::{GENERATIONS, controller, is_known, owners};
use super::voices::{WordsOfObject, groups_of};
use crate::cluster::neighbors::{About, Neighbor, NeighborKind, Neighbors, OtherEvent};
use crate::cluster::operations::operation;
use crate::cluster::{Cluster, Key, Kind, MissingReason, OwnerReference, Pod, Str};

/// Where a pod is lost on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Stage {
    /// It is not created.
    Creation,
    /// A scheduling gate holds it.
    Gate,
    /// It has no node.
    Scheduling,
    /// It has a node, and waits for a volume there.
    Binding,
    /// It is bound, and not ready.
    Startup,
}

/// Why pods are missing, before scheduling or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// They are not created.
    NotCreated(NotCreated),
    /// Scheduling gates hold them: the gates, the program that owns them, and what it says.
    Gated(Vec<Str>, Option<Holder>, Option<String>),
    /// They are bound, and not ready.
    NotReady,
}

/// A cause of missing pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCause {
    /// The cause.
    pub kind: CauseKind,
    /// The number of missing pods that it explains; 0 for a remark.
    pub count: usize,
    /// The pods, where they exist, by name.
    pub pods: Vec<Key>,
    /// The object behind it.
    pub by: Option<About>,
    /// The change that ends it, or the object to look at.
    pub remedy: Option<Remedy>,
}

impl MissingCause {
    /// Returns where the pods are lost.
    pub fn stage(&self) -> Stage {
        match self.kind {
            CauseKind::NotCreated(_) => Stage::Creation,
            CauseKind::Gated(..) => Stage::Gate,
            CauseKind::NotReady => Stage::Startup,
        }
    }

    /// Returns a stable key.
    pub fn key(&self) -> String {
        match &self.kind {
            CauseKind::NotCreated(why) => why.key(),
            CauseKind::Gated(gates, ..) => format!("gated:{}", gates.iter().map(Str::as_str).collect::<Vec<_>>().join(",")),
            CauseKind::NotReady => "not-ready".to_owned(),
        }
    }
}

/// A workload's numbers and causes. Causes of the pods without a node are the scheduler's to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// The workload.
    pub workload: About,
    /// The number of pods that it wants; `None` if the source does not show it.
    pub desired: Option<usize>,
    /// The pods that exist and do not end; `None` if the source may lack some of them, as are the numbers of parts of them.
    pub created: Option<usize>,
    /// Those of them that a scheduling gate holds.
    pub gated: Option<usize>,
    /// Those that have no node, by name, as far as they are known.
    pub unscheduled: Vec<Key>,
    /// Those that have a node.
    pub bound: Option<usize>,
    /// Those that are ready.
    pub ready: Option<usize>,
    /// The number of wanted pods that are not ready; `None` if the source does not show it.
    pub missing: Option<usize>,
    /// The number of missing pods that have no node.
    pub unscheduled_missing: usize,
    /// The causes, in the order of stages.
    pub causes: Vec<MissingCause>,
    /// The kinds that the numbers or the decisions about the pods depend on and that are not known whole, with what each leaves open.
    pub open: Vec<OpenKind>,
    /// The kinds that could explain more and that the source does not have.
    pub unknown: Vec<(NeighborKind, MissingReason)>,
    /// Why events about its objects are not known, or only in part; `None` where the source does not say.
    pub events_unknown: Option<MissingReason>,
}

/// A kind that is not known whole, and that an answer about a workload depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenKind {
    pub kind: OpenOf,
    /// Why it is not known whole.
    pub why: MissingReason,
}

/// The part of an answer that a kind leaves open where it is not known whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenOf {
    /// Pods: how many exist.
    Pods,
    /// Nodes: where the pods fit.
    Nodes,
    /// The kind between the workload and its pods: which pods are its own.
    Between(NeighborKind),
}

/// The pods of a workload.
#[derive(Clone, Debug, Default)]
pub(super) struct PodCounts<'a> {
    pub(super) gated: Vec<&'a Arc<Pod>>,
    pub(super) unscheduled: Vec<&'a Arc<Pod>>,
    pub(super) bound: Vec<&'a Arc<Pod>>,
    pub(super) terminating: Vec<&'a Arc<Pod>>,
}

/// Returns whether a bound pod is ready.
fn is_ready(pod: &Pod) -> bool {
    !pod.status.unready && pod.status.phase != "Pending"
}

impl<'a> PodCounts<'a> {
    fn of(pods: impl Iterator<Item = &'a Arc<Pod>>) -> Self {
        let mut counts = Self::default();
        for pod in pods.filter(|pod| !pod.is_terminal()) {
            let list = match (pod.is_terminating(), pod.node_name.is_empty(), pod.spec.scheduling_gates.is_empty()) {
                (true, ..) => &mut counts.terminating,
                (_, false, _) => &mut counts.bound,
                (_, true, true) => &mut counts.unscheduled,
                (_, true, false) => &mut counts.gated,
            };
            list.push(pod);
        }
        counts
    }

    pub(super) fn created(&self) -> usize {
        self.gated.len() + self.unscheduled.len() + self.bound.len()
    }

    pub(super) fn ready(&self) -> usize {
        self.bound.iter().filter(|pod| is_ready(pod)).count()
    }

    /// Returns the pods that exist and are not ready.
    pub(super) fn unready(&self) -> impl Iterator<Item = &'a Arc<Pod>> {
        let bound = self.bound.iter().filter(|pod| !is_ready(pod));
        self.gated.iter().chain(&self.unscheduled).chain(bound).copied()
    }
}

/// A cluster and its neighbors, indexed by owner.
#[derive(Debug)]
pub struct WorkloadInput<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) neighbors: &'a Neighbors,
    /// The pods that have not ended, by their controller.
    pods: HashMap<About, Vec<&'a Arc<Pod>>>,
    /// The controllers of pods that are a workload or below it.
    below: HashMap<About, Vec<About>>,
    children: HashMap<About, Vec<&'a Arc<Neighbor>>>,
    /// The namespaces with pods of a controller that the source lacks and whose name does not tell its owner, with the kind of the
    /// controller.
    strays: HashSet<(NeighborKind, Str)>,
    events: HashMap<&'a About, Vec<&'a OtherEvent>>,
    /// Kueue's Workloads and the ProvisioningRequests, by their owners.
    held: HashMap<About, Vec<&'a Arc<Neighbor>>>,
    /// The pods by the PodGroup that they name, on first use.
    grouped: OnceLock<HashMap<Key, Vec<&'a Arc<Pod>>>>,
    /// The words about objects that were asked for, by the object and the speaker that is left out; an empty one for none.
    words: Mutex<HashMap<(About, String), Arc<WordsOfObject>>>,
    /// Those who wrote events, on first use.
    speakers: OnceLock<HashSet<&'a str>>,
}

impl<'a> WorkloadInput<'a> {
    /// Indexes a cluster.
    pub fn new(cluster: &'a Cluster, neighbors: &'a Neighbors) -> Self {
        let mut pods: HashMap<About, Vec<&Arc<Pod>>> = HashMap::new();
        let owned = cluster.pods.iter().filter(|pod| !pod.is_terminal()).filter_map(|pod| Some((pod.metadata.controller()?, pod)));
        let owned: Vec<(&OwnerReference, &Arc<Pod>)> = owned.collect();
        // By name, pods of one owner mostly follow one another.
        let is_same = |(one, pod): &(&OwnerReference, &Arc<Pod>), (other, next): &(&OwnerReference, &Arc<Pod>)| {
            (&one.kind, &one.name, &pod.metadata.namespace) == (&other.kind, &other.name, &next.metadata.namespace)
        };
        for siblings in owned.chunk_by(is_same) {
            let (owner, pod) = siblings[0];
            let about = About::new(owner.kind.clone(), Key::new(pod.metadata.namespace.clone(), owner.name.clone()));
            pods.entry(about).or_default().extend(siblings.iter().map(|(_, pod)| *pod));
        }
        let mut below: HashMap<About, Vec<About>> = HashMap::new();
        let mut strays = HashSet::new();
        for (about, of) in &pods {
            let owners = of.first().map(|pod| owners(cluster, neighbors, pod)).unwrap_or_default();
            if owners.len() == 1
                && !is_known(cluster, neighbors, about)
                && let Ok(kind) = about.kind.parse()
            {
                strays.insert((kind, about.key.namespace.clone()));
            }
            for owner in owners {
                below.entry(owner).or_default().push(about.clone());
            }
        }
        let mut children: HashMap<About, Vec<&Arc<Neighbor>>> = HashMap::new();
        for kind in NeighborKind::iter().filter(|kind| kind.is_owner()) {
            for object in neighbors.of_kind(kind) {
                let own = About::new(<&str>::from(kind), object.metadata.key());
                if let Some(owner) = controller(cluster, neighbors, &own) {
                    children.entry(owner).or_default().push(object);
                }
            }
        }
        Self { pods, below, children, strays, ..Self::of_events(cluster, neighbors) }
    }

    /// Indexes the events, Kueue's Workloads and the ProvisioningRequests of a cluster only, for the words of others.
    pub fn of_events(cluster: &'a Cluster, neighbors: &'a Neighbors) -> Self {
        let mut events: HashMap<&About, Vec<&OtherEvent>> = HashMap::new();
        for event in &neighbors.events {
            operation();
            events.entry(&event.about).or_default().push(event);
        }
        let mut held: HashMap<About, Vec<&Arc<Neighbor>>> = HashMap::new();
        for object in [NeighborKind::Workload, NeighborKind::ProvisioningRequest].into_iter().flat_map(|kind| neighbors.of_kind(kind)) {
            for owner in holds_for(object) {
                held.entry(owner).or_default().push(object);
            }
        }
        Self {
            cluster,
            neighbors,
            pods: HashMap::new(),
            below: HashMap::new(),
            children: HashMap::new(),
            strays: HashSet::new(),
            events,
            held,
            grouped: OnceLock::new(),
            words: Mutex::default(),
            speakers: OnceLock::new(),
        }
    }

    /// Returns the words of others about an object, without those of a scheduler. They are collected once.
    pub(super) fn words_about(&self, about: &About, scheduler: Option<&str>) -> Arc<WordsOfObject> {
        let key = (about.clone(), scheduler.unwrap_or_default().to_owned());
        let known = |key: &_| self.words.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        known(&key).unwrap_or_else(|| {
            let made = Arc::new(WordsOfObject::of(self, about, scheduler));
            self.words.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&made));
            made
        })
    }

    /// Returns whether a component wrote an event.
    pub(super) fn speaks(&self, name: &str) -> bool {
        self.speakers.get_or_init(|| self.neighbors.events.iter().map(|event| event.speaker.as_str()).collect()).contains(name)
    }

    /// Returns the objects that scheduling does not read.
    pub fn neighbors(&self) -> &'a Neighbors {
        self.neighbors
    }

    /// Returns the events about an object, in the order in which they were read.
    pub fn events(&self, about: &About) -> &[&'a OtherEvent] {
        self.events.get(about).map_or(&[], Vec::as_slice)
    }

    /// Returns Kueue's Workloads and the ProvisioningRequests of an object.
    pub(super) fn held(&self, about: &About) -> &[&'a Arc<Neighbor>] {
        self.held.get(about).map_or(&[], Vec::as_slice)
    }

    /// Returns the objects that a workload controls, by kind and name.
    pub(super) fn children(&self, workload: &About) -> &[&'a Arc<Neighbor>] {
        self.children.get(workload).map_or(&[], Vec::as_slice)
    }

    /// Returns a workload and all that it controls, oldest generation first and each before its children.
    pub fn family(&self, workload: &About) -> Vec<About> {
        let mut found = vec![workload.clone()];
        let mut at = 0;
        while at < found.len() {
            let mut below: Vec<(&Arc<Neighbor>, About)> =
                self.children(&found[at]).iter().map(|o| (*o, About::new(<&str>::from(o.kind), o.metadata.key()))).collect();
            below.sort_by_key(|(object, _)| object.metadata.created());
            let new: Vec<About> = below.into_iter().map(|(_, about)| about).filter(|about| !found.contains(about)).collect();
            found.extend(new);
            at += 1;
        }
        found
    }

    /// Returns the nearest owners of a workload, nearest first.
    pub(super) fn above(&self, workload: &About) -> Vec<About> {
        let mut found: Vec<About> = Vec::new();
        while found.len() < GENERATIONS
            && let Some(next) = controller(self.cluster, self.neighbors, found.last().unwrap_or(workload))
        {
            if found.contains(&next) || next == *workload {
                break;
            }
            found.push(next);
        }
        found
    }

    /// Returns Kueue's object for an object, and why it is not admitted.
    pub(super) fn admission(&self, about: &About) -> Option<(About, String)> {
        let workload = self.held(about).iter().find(|object| object.kind == NeighborKind::Workload)?;
        let conditions = workload.conditions();
        let is_false = |kind: &str| conditions.iter().find(|c| c.kind == kind && c.status == "False");
        let said = is_false("QuotaReserved").or_else(|| is_false("Admitted"));
        let said = said.map(|condition| format!("{}: {}", condition.reason, condition.message)).unwrap_or_default();
        Some((About::new("Workload", workload.metadata.key()), said))
    }

    /// Returns the pods by the PodGroup that they name.
    fn grouped(&self) -> &HashMap<Key, Vec<&'a Arc<Pod>>> {
        self.grouped.get_or_init(|| {
            let mut grouped: HashMap<Key, Vec<&Arc<Pod>>> = HashMap::new();
            for pod in self.cluster.pods.iter() {
                let groups: BTreeSet<Key> = groups_of(pod).collect();
                for group in groups {
                    grouped.entry(group).or_default().push(pod);
                }
            }
            grouped
        })
    }

    fn pods_of(&self, workload: &About) -> PodCounts<'a> {
        if workload.kind == "PodGroup" {
            return PodCounts::of(self.grouped().get(&workload.key).into_iter().flatten().copied());
        }
        let controllers = self.below.get(workload).into_iter().flatten();
        let mut counts = PodCounts::of(controllers.filter_map(|about| self.pods.get(about)).flatten().copied());
        for list in [&mut counts.gated, &mut counts.unscheduled, &mut counts.bound, &mut counts.terminating] {
            list.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        }
        counts
    }

    /// Returns the number of wanted pods that do not exist; `None` if it is unknown how many are wanted, or how many exist.
    pub(super) fn lacking(&self, workload: &About) -> Option<usize> {
        let wanted = desired(self.cluster, self.neighbors, workload)?;
        self.uncounted(workload).next().is_none().then(|| wanted.saturating_sub(self.pods_of(workload).created()))
    }

    /// Returns the cause of the pods of a workload that do not exist.
    pub(super) fn not_created(&self, workload: &About, lacking: usize) -> Option<MissingCause> {
        creation::causes(self, workload, &self.pods_of(workload), Some(lacking)).into_iter().find(|cause| cause.count > 0)
    }

    /// Returns whether the source shows all objects of a kind in every namespace that was read.
    pub(super) fn knows_whole(&self, kind: NeighborKind) -> bool {
        self.knows(kind) && self.neighbors.why(kind).is_none_or(|why| why == MissingReason::Partial)
    }

    /// Returns whether the source shows which objects of a kind there are. An empty list of one that scheduling reads is known to the
    /// cluster alone.
    fn knows(&self, kind: NeighborKind) -> bool {
        let of_cluster = || kind.to_string().parse::<Kind>().is_ok_and(|kind| self.cluster.unknown.why(kind).is_none());
        self.neighbors.knows(kind) || of_cluster()
    }

    /// Returns the kinds without which the pods of a workload cannot be counted, and that are not known whole.
    fn uncounted(&self, workload: &About) -> impl Iterator<Item = OpenKind> {
        let namespace = &workload.key.namespace;
        // A namespace that was read shows all of its own.
        let is_read =
            || self.cluster.pods.in_namespace(namespace).next().is_some() || self.why_own(workload) == Some(MissingReason::Partial);
        let pods = self.cluster.unknown.why(Kind::Pod).filter(|why| *why != MissingReason::Partial || !is_read());
        let between =
            between(workload).iter().filter(|kind| self.strays.contains(&(**kind, namespace.clone())) && !self.knows_whole(**kind));
        let between: Vec<OpenKind> = between.map(|kind| OpenKind { kind: OpenOf::Between(*kind), why: self.why(*kind) }).collect();
        pods.map(|why| OpenKind { kind: OpenOf::Pods, why }).into_iter().chain(between)
    }

    /// Returns why the objects of a workload's own kind are not known, or not all.
    fn why_own(&self, workload: &About) -> Option<MissingReason> {
        self.neighbors.why(workload.kind.parse().ok()?)
    }

    /// Returns a workload's numbers and causes.
    pub fn findings(&self, workload: &About) -> Findings {
        let counts = self.pods_of(workload);
        let wanted = desired(self.cluster, self.neighbors, workload);
        let mut open: Vec<OpenKind> = self.uncounted(workload).collect();
        let is_counted = open.is_empty();
        open.extend(self.cluster.unknown.why(Kind::Node).map(|why| OpenKind { kind: OpenOf::Nodes, why }));
        let (created, ready) = (counts.created(), counts.ready());
        let lacking = if is_counted { Some(wanted.map_or(0, |wanted| wanted.saturating_sub(created))) } else { None };
        let mut surplus = wanted.map_or(0, |wanted| created.saturating_sub(wanted));
        let mut less = |lost: usize| {
            let left = lost.saturating_sub(surplus);
            surplus -= lost - left;
            left
        };
        // During a rollout there are more pods than wanted. Those that come last count least.
        let unready = less(counts.bound.len() - ready);
        let unscheduled_missing = less(counts.unscheduled.len());
        let gated_missing = less(counts.gated.len());
        let mut causes = creation::causes(self, workload, &counts, lacking);
        causes.extend(self.gates(&counts, gated_missing));
        let pods: Vec<Key> = counts.bound.iter().filter(|pod| !is_ready(pod)).map(|pod| pod.key()).collect();
        if let Some(first) = pods.first() {
            let remedy = Some(Remedy::LookAt(About::new("Pod", first.clone())));
            causes.push(MissingCause { kind: CauseKind::NotReady, count: unready, pods, by: None, remedy });
        }
        let counted = |number: usize| is_counted.then_some(number);
        Findings {
            workload: workload.clone(),
            desired: wanted,
            created: counted(created),
            gated: counted(counts.gated.len()),
            unscheduled: counts.unscheduled.iter().map(|pod| pod.key()).collect(),
            bound: counted(counts.bound.len()),
            ready: counted(ready),
            // Where enough are ready, it does not matter whether there are more.
            missing: wanted.map(|wanted| wanted.saturating_sub(ready)).filter(|missing| is_counted || *missing == 0),
            unscheduled_missing,
            causes,
            open,
            unknown: self.unknown(workload),
            events_unknown: self.neighbors.events_withheld,
        }
    }

    /// Groups gated pods by their gates.
    fn gates(&self, counts: &PodCounts<'_>, mut missing: usize) -> Vec<MissingCause> {
        let mut groups: BTreeMap<Vec<Str>, Vec<&Arc<Pod>>> = BTreeMap::new();
        for pod in &counts.gated {
            groups.entry(pod.spec.scheduling_gates.iter().map(|gate| gate.name.clone()).collect()).or_default().push(pod);
        }
        let causes = groups.into_iter().map(|(gates, pods)| {
            let count = pods.len().min(missing);
            missing -= count;
            let holder = gates.iter().find_map(|gate| holder_of_gate(gate));
            let about =
                pods.iter().flat_map(|pod| std::iter::once(About::new("Pod", pod.key())).chain(owners(self.cluster, self.neighbors, pod)));
            let said = about.filter(|_| holder == Some(Holder::Kueue)).find_map(|about| self.admission(&about));
            let (by, said) = said.map_or((None, None), |(by, said)| (Some(by), Some(said)));
            let look = by.clone().or_else(|| pods.first().map(|pod| About::new("Pod", pod.key())));
            let pods = pods.iter().map(|pod| pod.key()).collect();
            MissingCause { kind: CauseKind::Gated(gates, holder, said), count, pods, by, remedy: look.map(Remedy::LookAt) }
        });
        causes.collect()
    }

    /// Returns the kinds that could explain more and that the source does not have.
    fn unknown(&self, workload: &About) -> Vec<(NeighborKind, MissingReason)> {
        // That other objects of its kind are unknown matters only where it is one of them.
        let own = workload.kind.parse::<NeighborKind>().ok().filter(|kind| kind.is_owner());
        let own = own.filter(|kind| self.neighbors.get(*kind, &workload.key).is_none());
        let below = if workload.kind.parse::<NeighborKind>().is_ok() { between(workload) } else { &[] };
        let scaler =
            matches!(workload.kind.as_str(), "Deployment" | "StatefulSet" | "ReplicaSet").then_some(NeighborKind::HorizontalPodAutoscaler);
        let of_namespace = [NeighborKind::ResourceQuota, NeighborKind::LimitRange, NeighborKind::ServiceAccount];
        let kinds = own.into_iter().chain(below.iter().copied()).chain(scaler).chain(of_namespace);
        let unknown = kinds.filter(|kind| !self.knows(*kind) || self.neighbors.why(*kind).is_some());
        unknown.map(|kind| (kind, self.why(kind))).collect()
    }

    /// Returns why a kind is not known.
    fn why(&self, kind: NeighborKind) -> MissingReason {
        let of_cluster = || kind.to_string().parse::<Kind>().ok().and_then(|kind| self.cluster.unknown.why(kind));
        self.neighbors.why(kind).or_else(of_cluster).unwrap_or(MissingReason::NotInSource)
    }
}

/// Returns the kinds between a workload and its pods: a pod names its controller, and that names the workload.
fn between(workload: &About) -> &'static [NeighborKind] {
    match workload.kind.parse::<NeighborKind>() {
        Ok(NeighborKind::Deployment) => &[NeighborKind::ReplicaSet],
        Ok(NeighborKind::CronJob | NeighborKind::JobSet) => &[NeighborKind::Job],
        Ok(NeighborKind::LeaderWorkerSet) => &[NeighborKind::StatefulSet],
        Ok(_) => &[],
        // Operators make any of them.
        Err(_) => &[NeighborKind::ReplicaSet, NeighborKind::StatefulSet, NeighborKind::Job],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Object;
    use crate::cluster::operations::counted;
    use serde_json::json;

    fn world(groups: usize) -> (Cluster, Neighbors) {
        let mut neighbors = Neighbors::default();
        let mut objects = Vec::new();
        for number in 0..groups {
            let group = json!({"metadata": {"name": format!("g{number}"), "namespace": "ml"}, "spec": {"minMember": 3}});
            neighbors.insert(Neighbor::deserialize_kind(NeighborKind::PodGroup, "scheduling.volcano.sh/v1beta1".into(), group).unwrap());
            for name in ["a", "b"] {
                let metadata = json!({"name": format!("{name}{number}"), "namespace": "ml",
                    "annotations": {"scheduling.k8s.io/group-name": format!("g{number}")}});
                objects.push(Object::Pod(Arc::new(serde_json::from_value(json!({"metadata": metadata})).unwrap())));
            }
        }
        (objects.into_iter().collect(), neighbors)
    }

    #[test]
    fn the_pods_of_a_gang_are_those_that_name_it_and_many_gangs_cost_as_much_each_as_few() {
        let operations = |groups: usize| {
            let (cluster, neighbors) = world(groups);
            let (found, operations) = counted(|| {
                let input = WorkloadInput::new(&cluster, &neighbors);
                let group = |number: usize| About::new("PodGroup", Key::new("ml", format!("g{number}").as_str()));
                (0..groups).map(|number| input.findings(&group(number))).map(|found| (found.created, found.missing)).collect::<Vec<_>>()
            });
            assert_eq!(found, vec![(Some(2), Some(3)); groups]);
            operations
        };
        let (few, many) = (operations(50), operations(200));
        assert!(many < 6 * few, "{few} and {many}");
    }
}
