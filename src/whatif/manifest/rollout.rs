//! One workload: the pods that it has, makes and removes, round by round.

mod ordinals;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::answer::{ManifestWorkload, WhyKept, WhyNotMade};
use super::live::{Applied, Existence};
use super::template;
use crate::admission::{Admission, RefusedPod, TemplatedPod};
use crate::cluster::{Cluster, Key, Pod, Str};
use crate::controllers::unfold::{Hold, Unfolded, UnfoldedPod, Update, create_with_claims};
use crate::controllers::{Draft, Note, pods as owners};
use ordinals::Ordinals;

/// The change that a manifest makes to a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Change {
    /// It is new.
    Created,
    /// Its number of pods changes.
    Scaled,
    /// Its template changes: its pods are replaced.
    RolledOut,
    /// Nothing.
    Unchanged,
}

/// A workload whose pods are made.
pub(super) struct Rollout {
    found: Unfolded,
    change: Change,
    /// Its pods are replaced as its template changes.
    replaces: bool,
    /// The pods that are left to make.
    queue: VecDeque<UnfoldedPod>,
    /// The places of a StatefulSet.
    ordinals: Option<Ordinals>,
    /// The pods that are left to remove.
    old: Vec<Arc<Pod>>,
    /// The pods that stay as they are.
    kept: Vec<Key>,
    /// Those among them that had no node at the start.
    was_pending: Vec<Key>,
    made: Vec<Key>,
    /// The number of pods of each part that are left to make, and those that were made.
    parts: BTreeMap<u32, (usize, Vec<Key>)>,
    removed: BTreeSet<Key>,
    /// Why pods that stay do not get the template of the manifest.
    outdated: Option<WhyKept>,
    /// The Job that keeps a CronJob from making another.
    concurrent: Option<Key>,
    /// The refusal of the pod that is next.
    refusal: Option<RefusedPod>,
    sample: Option<TemplatedPod>,
    /// A limit was reached.
    stopped: bool,
    /// That of the steps, before all pods of a round were made.
    is_cut: bool,
}

/// A workload of a manifest with its pods.
pub(super) struct Begin<'a> {
    pub applied: &'a Applied,
    /// As the manifest has it.
    pub found: Unfolded,
    /// The pods that the workload has.
    pub old: Vec<Arc<Pod>>,
    /// Whether these have another template.
    pub differs: bool,
}

impl Rollout {
    /// Begins with the pods that the cluster has of the workload.
    pub(super) fn begin(begin: Begin<'_>) -> Self {
        let Begin { applied, mut found, old, differs } = begin;
        let sample = found.pods.first().map(|pod| pod.pod.clone());
        let queue: VecDeque<UnfoldedPod> = std::mem::take(&mut found.pods).into();
        let is_paused = found.kind == "Deployment" && applied.object.pointer("/spec/paused") == Some(&Value::Bool(true));
        let outdated = match found.update {
            _ if !differs || matches!(found.kind.as_str(), "Pod" | "Job" | "CronJob" | "JobSet" | "LeaderWorkerSet") => None,
            _ if is_paused => Some(WhyKept::Paused),
            Update::Deleted => Some(WhyKept::OnDelete),
            Update::New => Some(WhyKept::NewOnly),
            Update::From(place) => Some(WhyKept::Partition(place)),
            Update::All => None,
        };
        let is_replaced = differs && matches!(outdated, None | Some(WhyKept::Partition(_)));
        let scaled = || match applied.replicas {
            _ if old.len() as u64 == found.wanted => Change::Unchanged,
            Some(replicas) if replicas == found.wanted => Change::Unchanged,
            _ => Change::Scaled,
        };
        let change = match found.kind.as_str() {
            // A CronJob makes another Job.
            "CronJob" => Change::Created,
            _ if old.is_empty() && applied.existence != Existence::Exists => Change::Created,
            "Pod" if found.wanted <= 1 => Change::Unchanged,
            "Job" | "JobSet" | "LeaderWorkerSet" | "Pod" => scaled(),
            _ if is_replaced && !old.is_empty() => Change::RolledOut,
            _ => scaled(),
        };
        let mut this = Self {
            kept: Vec::new(),
            was_pending: Vec::new(),
            old: Vec::new(),
            made: Vec::new(),
            parts: BTreeMap::new(),
            removed: BTreeSet::new(),
            outdated,
            concurrent: None,
            refusal: None,
            sample,
            stopped: false,
            is_cut: false,
            queue: VecDeque::new(),
            ordinals: None,
            replaces: change == Change::RolledOut,
            change,
            found,
        };
        this.set_queue(applied, old, queue, differs);
        if this.queue.iter().any(|pod| !pod.after.is_empty()) {
            for pod in &this.queue {
                this.parts.entry(pod.part).or_default().0 += 1;
            }
        }
        this
    }

    /// Sorts the pods that exist and those that are to be made.
    fn set_queue(&mut self, applied: &Applied, old: Vec<Arc<Pod>>, mut queue: VecDeque<UnfoldedPod>, differs: bool) {
        let is_suspended = self.found.hold == Some(Hold::Suspended) && matches!(self.found.kind.as_str(), "Job" | "JobSet");
        if self.found.kind == "StatefulSet" {
            let wanted = usize::try_from(self.found.wanted).unwrap_or(usize::MAX);
            let (ordinals, kept) = Ordinals::begin(queue.into(), old, wanted, self.found.update, differs);
            self.ordinals = Some(ordinals);
            self.set_kept(&kept);
        } else if self.found.kind == "CronJob" {
            match applied.object.pointer("/spec/concurrencyPolicy").and_then(Value::as_str) {
                Some("Forbid") if !applied.jobs.is_empty() => self.concurrent = applied.jobs.first().cloned(),
                Some("Replace") if self.found.hold.is_none() => (self.old, self.queue) = (old, queue),
                _ if self.found.hold.is_none() => self.queue = queue,
                _ => {}
            }
        } else if applied.has_ended {
            self.set_kept(&old);
            (self.found.wanted, self.found.later, self.change) = (old.len() as u64, 0, Change::Unchanged);
        } else if self.replaces || is_suspended {
            if is_suspended && !old.is_empty() {
                self.change = Change::Scaled;
            }
            (self.old, self.queue) = (old, if is_suspended { VecDeque::new() } else { queue });
        } else {
            if self.change != Change::Created {
                self.keep(old, &mut queue);
            }
            // A Deployment that is paused without a ReplicaSet and a suspended Job make none.
            if self.found.hold.is_none() {
                self.queue = queue;
            }
        }
    }

    fn set_kept(&mut self, kept: &[Arc<Pod>]) {
        self.was_pending = kept.iter().filter(|pod| pod.node_name.is_empty()).map(|pod| pod.key()).collect();
        self.kept = kept.iter().map(|pod| pod.key()).collect();
    }

    /// Keeps pods as far as they are wanted, and leaves out those that need not be made.
    fn keep(&mut self, old: Vec<Arc<Pod>>, queue: &mut VecDeque<UnfoldedPod>) {
        let wanted = usize::try_from(self.found.wanted).unwrap_or(usize::MAX);
        let is_named = matches!(self.found.kind.as_str(), "LeaderWorkerSet" | "Pod");
        let is_daemon = self.found.kind == "DaemonSet";
        let name = |pod: &UnfoldedPod| pod.pod.key().name;
        let (kept, gone): (Vec<Arc<Pod>>, Vec<Arc<Pod>>) = if is_named && self.found.kind != "Pod" {
            let names: BTreeSet<Str> = queue.iter().map(name).collect();
            old.into_iter().partition(|pod| names.contains(&pod.metadata.name))
        } else if is_daemon {
            let nodes: BTreeSet<Str> = queue.iter().filter_map(node_of).collect();
            old.into_iter().partition(|pod| nodes.contains(pod.daemon_node().unwrap_or(&pod.node_name)))
        } else {
            // Those without a node go first.
            let mut old = old;
            old.sort_by_key(|pod| (pod.node_name.is_empty(), pod.metadata.creation_timestamp, pod.key()));
            let gone = old.split_off(old.len().min(wanted));
            (old, gone)
        };
        if is_daemon {
            let nodes: BTreeSet<&Str> = kept.iter().map(|own| own.daemon_node().unwrap_or(&own.node_name)).collect();
            queue.retain(|pod| node_of(pod).is_none_or(|node| !nodes.contains(&node)));
        } else if is_named {
            let names: BTreeSet<&Str> = kept.iter().map(|own| &own.metadata.name).collect();
            queue.retain(|pod| !names.contains(&name(pod)));
        } else {
            queue.truncate(wanted.saturating_sub(kept.len()));
        }
        self.set_kept(&kept);
        self.old = gone;
    }

    /// Makes and removes the pods of a round.
    pub(super) fn advance(&mut self, draft: &mut Draft, admission: &mut Admission, _now: Timestamp, notes: &mut Vec<Note>) {
        if let Some(mut ordinals) = self.ordinals.take() {
            ordinals.advance(self, draft, admission, notes);
            self.ordinals = Some(ordinals);
            return;
        }
        if self.replaces {
            self.roll(draft, admission, notes);
            return;
        }
        for pod in std::mem::take(&mut self.old) {
            self.remove(draft, admission, &pod);
        }
        if self.parts.is_empty() {
            while self.make_next(draft, admission, notes) {}
        } else {
            self.make_parts(draft, admission, notes);
        }
    }

    /// Makes the pods of each part for which those that it comes after are ready.
    fn make_parts(&mut self, draft: &mut Draft, admission: &mut Admission, notes: &mut Vec<Note>) {
        let is_ready = |(left, made): &(usize, Vec<Key>)| *left == 0 && made.iter().all(|pod| is_ready(draft.cluster(), pod));
        let ready: BTreeSet<u32> = self.parts.iter().filter(|(_, part)| is_ready(part)).map(|(part, _)| *part).collect();
        let mut waiting = VecDeque::new();
        while let Some(pod) = self.queue.pop_front() {
            // A part without a pod is ready.
            let may_be_made = pod.after.iter().all(|part| ready.contains(part) || !self.parts.contains_key(part));
            if !may_be_made || !self.make(&pod, draft, admission, notes) {
                waiting.push_back(pod);
            } else if let (Some((left, made)), Some(key)) = (self.parts.get_mut(&pod.part), self.made.last()) {
                *left -= 1;
                made.push(key.clone());
            }
        }
        self.queue = waiting;
    }

    /// Makes the pods of a rollout as far as the surge allows, and removes old ones as far as enough are available.
    fn roll(&mut self, draft: &mut Draft, admission: &mut Admission, notes: &mut Vec<Note>) {
        let surge = self.found.surge;
        let wanted = self.found.wanted;
        if surge.recreates {
            for pod in std::mem::take(&mut self.old) {
                self.remove(draft, admission, &pod);
            }
            while self.make_next(draft, admission, notes) {}
            return;
        }
        let has_node = |draft: &Draft, key: &Key| draft.cluster().pods.get(key).is_some_and(|pod| !pod.node_name.is_empty());
        self.old.retain(|pod| draft.cluster().pods.get(&pod.key()).is_some());
        // Old pods without a node are not available, and go first.
        let ready = self.old.iter().filter(|pod| has_node(draft, &pod.key())).count() as u64
            + self.made.iter().filter(|pod| has_node(draft, pod)).count() as u64;
        let mut spare = (ready + surge.below).saturating_sub(wanted);
        let mut order = std::mem::take(&mut self.old);
        order.sort_by_key(|pod| (has_node(draft, &pod.key()), std::cmp::Reverse(pod.metadata.name.clone())));
        for pod in order {
            if !has_node(draft, &pod.key()) {
                self.remove(draft, admission, &pod);
            } else if spare > 0 {
                spare -= 1;
                self.remove(draft, admission, &pod);
            } else {
                self.old.push(pod);
            }
        }
        // Without a surge a DaemonSet makes a pod on a node whose old one is gone.
        let is_held = self.found.kind == "DaemonSet" && surge.above == 0;
        let node = |pod: &Arc<Pod>| pod.daemon_node().unwrap_or(&pod.node_name).clone();
        let held: BTreeSet<Str> = if is_held { self.old.iter().map(node).collect() } else { BTreeSet::new() };
        if is_held {
            let (free, others): (VecDeque<_>, VecDeque<_>) =
                std::mem::take(&mut self.queue).into_iter().partition(|pod| node_of(pod).is_none_or(|node| !held.contains(&node)));
            self.queue = free;
            self.queue.extend(others);
        }
        loop {
            let total = (self.old.len() + self.made.len()) as u64;
            if total >= wanted + surge.above {
                return;
            }
            if !self.make_next(draft, admission, notes) {
                return;
            }
        }
    }

    fn remove(&mut self, draft: &mut Draft, admission: &mut Admission, pod: &Arc<Pod>) {
        admission.forget(draft.cluster(), pod);
        owners::remove(draft, pod);
        self.removed.insert(pod.key());
        // A quota may have room again.
        self.refusal = None;
    }

    /// Makes the next pod. Returns false if none is left, or it is refused.
    fn make_next(&mut self, draft: &mut Draft, admission: &mut Admission, notes: &mut Vec<Note>) -> bool {
        let Some(next) = self.queue.pop_front() else { return false };
        let is_made = self.make(&next, draft, admission, notes);
        if !is_made {
            self.queue.push_front(next);
        }
        is_made
    }

    /// Makes a pod. Returns false if it, or one before, is refused.
    fn make(&mut self, pod: &UnfoldedPod, draft: &mut Draft, admission: &mut Admission, notes: &mut Vec<Note>) -> bool {
        if self.refusal.is_some() {
            return false;
        }
        match admission.admit_templated(draft.cluster(), &pod.pod) {
            Ok(made) => {
                self.made.push(made.key());
                create_with_claims(draft, pod, made, notes);
                true
            }
            Err(refusal) => {
                self.refusal = Some(refusal);
                false
            }
        }
    }

    /// Takes back pods that took too many steps to make, and makes no more.
    pub(super) fn unmake(&mut self, pods: &BTreeSet<Key>) {
        let made = self.made.len();
        self.made.retain(|pod| !pods.contains(pod));
        self.is_cut = self.made.len() < made;
        self.stopped = true;
    }

    /// Returns whether more pods take too many steps to make. Those that were made may be held back only because they are too few.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Makes no more pods.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Returns the pods that stay.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Key> {
        self.kept.iter().filter(|pod| !self.removed.contains(pod))
    }

    /// Returns those that had no node at the start.
    pub(super) fn was_pending(&self) -> impl Iterator<Item = &Key> {
        self.was_pending.iter().filter(|pod| !self.removed.contains(pod))
    }

    pub(super) fn made(&self) -> impl Iterator<Item = &Key> {
        self.made.iter()
    }

    /// Returns a pod of the workload, if it has any.
    pub(super) fn sample(&self) -> Option<&TemplatedPod> {
        self.sample.as_ref()
    }

    pub(super) fn summary(&self) -> ManifestWorkload {
        ManifestWorkload {
            kind: self.found.kind.clone(),
            key: self.found.key.clone(),
            wanted: self.found.wanted,
            later: self.found.later,
            change: self.change,
            kept: self.kept().count() - self.was_pending().count() + self.old.len(),
            removed: self.removed.len(),
            outdated: self.outdated(),
        }
    }

    /// Returns the pods that keep another template than the manifest's, and why.
    fn outdated(&self) -> Vec<(usize, WhyKept)> {
        let mut found = Vec::new();
        match (&self.ordinals, &self.outdated) {
            (Some(ordinals), why) => {
                let (below, above) = ordinals.outdated();
                found.extend(why.clone().map(|why| (below, why)));
                if let Some(awaited) = ordinals.awaited.clone() {
                    found.push((above, if ordinals.awaits_old() { WhyKept::Unready(awaited) } else { WhyKept::Ordered(awaited) }));
                }
            }
            (None, Some(why)) => found.push((self.kept().count(), why.clone())),
            (None, None) => {}
        }
        found.retain(|(pods, _)| *pods > 0);
        found
    }

    /// Returns the refusal, and the number of pods that are refused: all that are left.
    pub(super) fn refused(&self) -> Option<(&RefusedPod, u64)> {
        self.refusal.as_ref().map(|refusal| (refusal, self.left()))
    }

    /// Returns the number of pods that are wanted and were not made.
    fn left(&self) -> u64 {
        self.found.wanted.saturating_sub((self.made.len() + self.kept().count()) as u64)
    }

    /// Returns why pods are not made, and how many.
    pub(super) fn not_made(&self, cluster: &Cluster) -> Option<(WhyNotMade, u64)> {
        let left = self.left();
        if left == 0 || self.refusal.is_some() {
            return None;
        }
        let is_pending = |key: &&Key| !is_ready(cluster, key);
        let awaited = self.ordinals.as_ref().and_then(|ordinals| ordinals.awaited.clone());
        let why = match (self.found.hold, &self.concurrent) {
            (Some(hold), _) => WhyNotMade::Held(hold),
            (None, Some(job)) => WhyNotMade::Concurrent(job.clone()),
            _ if self.stopped => WhyNotMade::Limit,
            _ if self.ordinals.is_some() => awaited.map_or(WhyNotMade::Limit, WhyNotMade::Ordered),
            _ if self.queue.is_empty() => WhyNotMade::Limit,
            _ if self.replaces => WhyNotMade::Rollout,
            _ => match self.made.iter().find(is_pending).filter(|_| !self.parts.is_empty()) {
                Some(pod) => WhyNotMade::Part(pod.clone()),
                None => WhyNotMade::Limit,
            },
        };
        Some((why, left))
    }
}

/// Returns whether a pod has a node, and none that says that it is not ready.
fn is_ready(cluster: &Cluster, pod: &Key) -> bool {
    cluster.pods.get(pod).is_some_and(|pod| !pod.node_name.is_empty() && !pod.status.unready)
}

/// Returns the node of a DaemonSet's pod.
fn node_of(pod: &UnfoldedPod) -> Option<Str> {
    let path = "/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    pod.pod.affinity().pointer(path).and_then(Value::as_str).map(Str::from)
}

/// Returns whether the template of a manifest, of which `sample` is a pod, differs from that of the workload's newest pod.
pub(super) fn differs_by_pods(cluster: &Cluster, old: &[Arc<Pod>], sample: Option<&TemplatedPod>, admission: &Admission) -> bool {
    let newest = old.iter().max_by_key(|pod| (pod.metadata.creation_timestamp, pod.key()));
    let (Some(newest), Some(sample)) = (newest, sample) else { return false };
    // A quota says nothing about the template.
    let mut without = Admission::new(crate::admission::Policies::default(), admission.emulation());
    without.admit_templated(cluster, sample).is_ok_and(|new| template::differs(newest, &new))
}
