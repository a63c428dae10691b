//! One workload: the pods that it has, makes and removes, round by round.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::answer::{ManifestWorkload, WhyNotMade};
use super::objects::OwnedPods;
use super::template;
use crate::admission::{Admission, RefusedPod, TemplatedPod};
use crate::cluster::{Cluster, Key, Kind, Pod, Str};
use crate::controllers::unfold::{Unfolded, UnfoldedPod, create_with_claims};
use crate::controllers::{Draft, Note, pods as owners};
use crate::whatif::Originals;

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
    /// The pods that are left to make.
    queue: VecDeque<UnfoldedPod>,
    /// The pods that are left to remove.
    old: Vec<Arc<Pod>>,
    /// The pods that stay as they are.
    kept: Vec<Key>,
    /// Those among them that had no node at the start.
    was_pending: Vec<Key>,
    made: Vec<Key>,
    removed: usize,
    /// The refusal of the pod that is next.
    refusal: Option<RefusedPod>,
    sample: Option<TemplatedPod>,
    /// A limit was reached.
    stopped: bool,
    /// That of the steps, before all pods of a round were made.
    is_cut: bool,
}

impl Rollout {
    /// Begins with the pods that the cluster has of the workload.
    pub(super) fn begin(
        (cluster, owned): (&Cluster, &mut OwnedPods),
        object: &Value,
        mut found: Unfolded,
        admission: &mut Admission,
        originals: Originals<'_>,
    ) -> Self {
        let sample = found.pods.first().map(|pod| pod.pod.clone());
        let old = owned.of(cluster, &found);
        let mut queue: VecDeque<UnfoldedPod> = std::mem::take(&mut found.pods).into();
        let differs = || is_rolled_out(cluster, object, &old, sample.as_ref(), admission, originals);
        let change = match found.kind.as_str() {
            _ if old.is_empty() => Change::Created,
            "Pod" if found.wanted <= 1 => Change::Unchanged,
            // A CronJob makes another Job; the templates of Jobs cannot change.
            "CronJob" => Change::Created,
            "Job" | "JobSet" | "LeaderWorkerSet" | "Pod" => scaled(&old, found.wanted),
            _ if differs() => Change::RolledOut,
            _ => scaled(&old, found.wanted),
        };
        let mut this = Self {
            kept: Vec::new(),
            was_pending: Vec::new(),
            old: Vec::new(),
            made: Vec::new(),
            removed: 0,
            refusal: None,
            sample,
            stopped: false,
            is_cut: false,
            queue: VecDeque::new(),
            change,
            found,
        };
        match change {
            Change::Created => {}
            Change::RolledOut => this.old = old,
            Change::Scaled | Change::Unchanged => {
                this.keep(old, &mut queue);
            }
        }
        // A paused Deployment and a suspended Job make none.
        if this.found.hold.is_none() {
            this.queue = queue;
        }
        this
    }

    /// Keeps pods as far as they are wanted, and leaves out those that need not be made.
    fn keep(&mut self, old: Vec<Arc<Pod>>, queue: &mut VecDeque<UnfoldedPod>) {
        let wanted = usize::try_from(self.found.wanted).unwrap_or(usize::MAX);
        let is_named = matches!(self.found.kind.as_str(), "StatefulSet" | "LeaderWorkerSet" | "Pod");
        let is_daemon = self.found.kind == "DaemonSet";
        let name = |pod: &UnfoldedPod| pod.pod.key().name;
        let (mut kept, gone): (Vec<Arc<Pod>>, Vec<Arc<Pod>>) = if is_named && self.found.kind != "Pod" {
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
        self.was_pending = kept.iter().filter(|pod| pod.node_name.is_empty()).map(|pod| pod.key()).collect();
        self.kept = kept.drain(..).map(|pod| pod.key()).collect();
        self.old = gone;
    }

    /// Makes and removes the pods of a round.
    pub(super) fn advance(&mut self, draft: &mut Draft, admission: &mut Admission, _now: Timestamp, notes: &mut Vec<Note>) {
        if self.change == Change::RolledOut {
            self.roll(draft, admission, notes);
            return;
        }
        for pod in std::mem::take(&mut self.old) {
            self.remove(draft, admission, &pod);
        }
        loop {
            if self.found.is_ordered && !self.is_last_ready(draft.cluster()) {
                return;
            }
            if !self.make_next(draft, admission, notes) {
                return;
            }
        }
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
        let is_named = self.found.kind == "StatefulSet";
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
        let held: BTreeSet<Str> = if is_named { self.old.iter().map(|old| old.metadata.name.clone()).collect() } else { BTreeSet::new() };
        loop {
            let total = (self.old.len() + self.made.len()) as u64;
            if total >= wanted + surge.above {
                return;
            }
            // A StatefulSet makes a pod under the name of one that is gone.
            if is_named {
                let free = self.queue.iter().position(|pod| !held.contains(&pod.pod.key().name));
                if let Some(free) = free {
                    self.queue.swap(0, free);
                }
            }
            if !self.make_next(draft, admission, notes) {
                return;
            }
        }
    }

    fn remove(&mut self, draft: &mut Draft, admission: &mut Admission, pod: &Arc<Pod>) {
        admission.forget(draft.cluster(), pod);
        owners::remove(draft, pod);
        self.removed += 1;
        // A quota may have room again.
        self.refusal = None;
    }

    /// Makes the next pod. Returns false if none is left, or it is refused.
    fn make_next(&mut self, draft: &mut Draft, admission: &mut Admission, notes: &mut Vec<Note>) -> bool {
        if self.refusal.is_some() {
            return false;
        }
        let Some(next) = self.queue.front() else { return false };
        match admission.admit_templated(draft.cluster(), &next.pod) {
            Ok(pod) => {
                self.made.push(pod.key());
                create_with_claims(draft, next, pod, notes);
                self.queue.pop_front();
                true
            }
            Err(refusal) => {
                self.refusal = Some(refusal);
                false
            }
        }
    }

    /// Returns whether the pod that was made last has a node, and those that the workload had.
    fn is_last_ready(&self, cluster: &Cluster) -> bool {
        let has_node = |key: &Key| cluster.pods.get(key).is_some_and(|pod| !pod.node_name.is_empty());
        self.made.last().is_none_or(has_node) && self.was_pending.iter().all(has_node)
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

    pub(super) fn kept(&self) -> impl Iterator<Item = &Key> {
        self.kept.iter()
    }

    pub(super) fn was_pending(&self) -> impl Iterator<Item = &Key> {
        self.was_pending.iter()
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
            kept: self.kept.len() - self.was_pending.len() + self.old.len(),
            removed: self.removed,
        }
    }

    /// Returns the refusal, and the number of pods that are refused: all that are left.
    pub(super) fn refused(&self) -> Option<(&RefusedPod, u64)> {
        self.refusal.as_ref().map(|refusal| (refusal, self.left()))
    }

    /// Returns the number of pods that are wanted and were not made.
    fn left(&self) -> u64 {
        self.found.wanted.saturating_sub((self.made.len() + self.kept.len()) as u64)
    }

    /// Returns why pods are not made, and how many.
    pub(super) fn not_made(&self, cluster: &Cluster) -> Option<(WhyNotMade, u64)> {
        let left = self.left();
        if left == 0 || self.refusal.is_some() || self.change == Change::Unchanged {
            return None;
        }
        let without_node = |key: &&Key| cluster.pods.get(key).is_none_or(|pod| pod.node_name.is_empty());
        let why = match self.found.hold {
            Some(hold) => WhyNotMade::Held(hold),
            None if self.stopped || self.queue.is_empty() => WhyNotMade::Limit,
            None if self.change == Change::RolledOut => WhyNotMade::Rollout,
            None => match self.made.iter().rev().chain(&self.was_pending).find(without_node) {
                Some(pod) => WhyNotMade::Ordered(pod.clone()),
                None => WhyNotMade::Limit,
            },
        };
        Some((why, left))
    }
}

fn scaled(old: &[Arc<Pod>], wanted: u64) -> Change {
    if old.len() as u64 == wanted { Change::Unchanged } else { Change::Scaled }
}

/// Returns the node of a DaemonSet's pod.
fn node_of(pod: &UnfoldedPod) -> Option<Str> {
    let path = "/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    pod.pod.affinity().pointer(path).and_then(Value::as_str).map(Str::from)
}

/// Returns whether a manifest's template differs from that of the workload's pods: by the object of the source, if it is known, and
/// by the newest pod.
fn is_rolled_out(
    cluster: &Cluster,
    object: &Value,
    old: &[Arc<Pod>],
    sample: Option<&TemplatedPod>,
    admission: &Admission,
    originals: Originals<'_>,
) -> bool {
    let newest = old.iter().max_by_key(|pod| (pod.metadata.creation_timestamp, pod.key()));
    let (Some(newest), Some(sample)) = (newest, sample) else { return false };
    let owner = newest.metadata.controller();
    let live = owner.and_then(|owner| {
        let kind = owner.kind.parse::<Kind>().ok()?;
        originals(kind, &Key::new(newest.metadata.namespace.clone(), owner.name.clone()))
    });
    let live = live.as_ref().and_then(|live| live.pointer("/spec/template/spec"));
    if let (Some(live), Some(manifest)) = (live, object.pointer("/spec/template/spec")) {
        return !template::is_within(manifest, live);
    }
    // A quota says nothing about the template.
    let mut without = Admission::new(crate::admission::Policies::default(), admission.emulation());
    without.admit_templated(cluster, sample).is_ok_and(|new| template::differs(newest, &new))
}
