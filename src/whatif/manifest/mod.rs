//! Manifests: their workloads are unfolded to pods, which are admitted, queued and scheduled until nothing changes.
//!
//! | file | holds |
//! | --- | --- |
//! | `answer` | the end of the pods, and the victims |
//! | `live` | a workload as the source has it, and a manifest over it |
//! | `merge` | a manifest over a live object, as `kubectl apply` merges them |
//! | `objects` | the objects that make no pods: applied as `kubectl apply` does |
//! | `rollout` | one workload: the pods that it has, makes and removes, round by round |
//! | `template` | whether a workload's template differs from that of its pods |

mod answer;
mod live;
#[cfg(test)]
mod live_tests;
mod merge;
mod objects;
mod rollout;
mod template;
#[cfg(test)]
mod tests;

pub use answer::{
    ManifestAnswer, ManifestCapacity, ManifestPod, ManifestPodEnd, ManifestVictim, ManifestWorkload, NotMade, RefusedPods, WhyKept,
    WhyNotMade, is_tried_again, may_move,
};
pub use live::LiveObjects;
pub use objects::makes_pods;
#[cfg(test)]
pub(in crate::whatif) use objects::merge;
pub use rollout::Change as ManifestChange;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde_json::Value;

use super::capacity::{CapacityEnd, capacity};
use super::stage::Stage;
use crate::admission::priority::is_unknown;
use crate::admission::{Admission, TooLong};
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Cluster, Key, Str};
use crate::controllers::unfold::{InvalidWorkload, UnfoldOptions, Unfolded, UnfoldedPod, Update, pods_within, unfold, unfold_for};
use crate::controllers::{Draft, Note, Workload};
use crate::extenders::Asking;
use crate::limits::engine::{
    CAPACITY_COPIES, MANIFEST_BYTES, MANIFEST_ODDS, MANIFEST_ODDS_STEPS, MANIFEST_PODS, MANIFEST_ROUNDS, MANIFEST_STEPS,
    MANIFEST_STEPS_OF_OBJECT,
};
use crate::scheduler::{DryOptions, OddsEffort, Operation, Scheduler, StepBound};
use crate::trace::CycleView;
use live::{Applied, Existence, Index};
use rollout::{Begin, Rollout};

/// A question about a manifest.
#[derive(Clone, Debug)]
pub struct ManifestRequest {
    /// The namespace of objects that name none.
    pub namespace: Str,
    /// The number of replicas of each workload, in place of the manifest's.
    pub replicas: Option<u64>,
    /// Whether to count how many more of the workload fit.
    pub capacity: bool,
    /// Whether to count the odds of all pods, also where that takes long.
    pub odds: bool,
    /// Number of pods that are made at most.
    pub most_pods: usize,
    /// Bytes of long pods that are made at most; see [`MANIFEST_BYTES`].
    pub most_bytes: usize,
    /// Number of rounds at most.
    pub most_rounds: usize,
    /// Steps of decisions at most; see [`MANIFEST_STEPS`]. `None` for as many as the size of the cluster allows.
    pub most_steps: Option<u64>,
}

impl Default for ManifestRequest {
    fn default() -> Self {
        Self {
            namespace: "default".into(),
            replicas: None,
            capacity: false,
            odds: false,
            most_pods: MANIFEST_PODS,
            most_bytes: MANIFEST_BYTES,
            most_rounds: MANIFEST_ROUNDS,
            most_steps: None,
        }
    }
}

/// Why a manifest is wrong. The number is the index of the object.
#[derive(Debug, thiserror::Error)]
pub enum ManifestProblem {
    /// An API server refuses the workload.
    #[error("{1}")]
    Workload(usize, InvalidWorkload),
    /// An object has fields of other types than the API's, or cannot be changed so.
    #[error("{kind} {key}: {error}")]
    Object {
        /// The index of the object.
        at: usize,
        kind: Str,
        key: Key,
        /// The error of the deserializer.
        error: String,
    },
    /// A name or label, also of a template, is longer than any of an API server.
    #[error("{kind} {what}")]
    TooLong {
        /// The index of the object.
        at: usize,
        kind: Str,
        /// The first of them.
        what: TooLong,
    },
    /// A quota has no room for the object.
    #[error("{1}")]
    Forbidden(usize, String),
    /// How many more fit is counted for one workload.
    #[error("--capacity counts one workload, and the manifest has {0}")]
    SeveralWorkloads(usize),
}

impl ManifestProblem {
    /// Returns the index of the object; `None` for the manifest as a whole.
    pub fn object(&self) -> Option<usize> {
        match self {
            Self::Workload(at, _) | Self::Forbidden(at, _) | Self::Object { at, .. } | Self::TooLong { at, .. } => Some(*at),
            Self::SeveralWorkloads(_) => None,
        }
    }
}

/// Applies a manifest to a stage, and runs the scheduler until nothing changes.
///
/// # Errors
/// When the manifest is wrong. The stage may then have some of its objects.
pub fn apply_manifest(
    stage: &mut dyn Stage,
    objects: &[&Value],
    mut admission: Admission,
    request: &ManifestRequest,
    live: LiveObjects<'_>,
) -> Result<ManifestAnswer, ManifestProblem> {
    let mut answer = ManifestAnswer::default();
    for (at, object) in objects.iter().enumerate() {
        if let Some(what) = TooLong::in_object(object) {
            return Err(ManifestProblem::TooLong { at, kind: objects::kind_of(object), what });
        }
    }
    let (workloads, rest): (Vec<_>, Vec<_>) = objects.iter().enumerate().partition(|(_, object)| objects::makes_pods(object));
    if request.capacity && workloads.len() != 1 {
        return Err(ManifestProblem::SeveralWorkloads(workloads.len()));
    }
    let cluster = stage.scheduler().state().cluster().clone();
    // A wrong workload is found before anything is applied.
    let emulation = stage.scheduler().state().config().emulation;
    let now = stage.scheduler().state().clock();
    let options = UnfoldOptions { namespace: &request.namespace, replicas: request.replicas, most: 0, most_bytes: 0, emulation, now };
    let (index, mut owned) = (Index::of(&cluster, live), objects::OwnedPods::default());
    // Each once: the notes of many workloads are sorted.
    let (mut applied, mut notes) = (Vec::new(), BTreeSet::new());
    for (at, object) in workloads {
        let invalid = |error| ManifestProblem::Workload(at, error);
        let object = objects::with_namespace(object, &request.namespace);
        let mut found = index.apply(&cluster, &mut owned, &object).map_err(invalid)?;
        assume_replicas(&cluster, &mut owned, &mut found, &mut notes, request.replicas.is_none());
        unfold(&cluster, &found.object, &options).map_err(invalid)?;
        let (kind, key) = objects::name_of(&object);
        if let Some(error) = index.refusal(&kind, &key, &found) {
            if found.existence == Existence::New {
                return Err(ManifestProblem::Forbidden(at, error));
            }
            // Its pods show that it exists.
            if owned.of_workload(&cluster, &kind, &key).is_empty() {
                notes.insert(Note::ForbiddenIfNew { workload: Workload { kind, key }, error });
            }
        }
        applied.push((at, found));
    }
    let mut draft = Draft::new(&cluster);
    for (at, object) in rest {
        objects::apply(&mut draft, &mut admission, at, object, request, &mut answer)?;
    }
    put_all(stage, "apply objects", draft);
    answer.unknown = admission.policies().unknown().collect();

    let mut rollouts = Vec::new();
    let (mut left, mut bytes_left) = (request.most_pods, request.most_bytes);
    for (at, applied) in &applied {
        let invalid = |error| ManifestProblem::Workload(*at, error);
        let state = stage.scheduler().state();
        let mut bounds = Bounds { options: UnfoldOptions { most: left, most_bytes: bytes_left, ..options }, bytes_left };
        let begin = begin(state.cluster(), &mut owned, applied, &admission, &mut bounds).map_err(invalid)?;
        let Some(begin) = begin else {
            *answer.skipped.entry(objects::kind_of(&applied.object)).or_default() += 1;
            continue;
        };
        bytes_left = bounds.bytes_left;
        left -= begin.found.pods.len();
        let mut draft = Draft::new(state.cluster());
        objects::put_controller(&mut draft, *at, &applied.object, &begin.found)?;
        let makes_claims = begin.found.pods.iter().take(1).any(|pod| {
            let is_ephemeral = |volume: &Value| volume.get("ephemeral").is_some();
            !pod.claims.is_empty() || pod.pod.volumes().as_array().is_some_and(|volumes| volumes.iter().any(is_ephemeral))
        });
        if makes_claims {
            let namespace = begin.found.key.namespace.clone();
            let by = index.limits_of_claims(&namespace);
            if !by.is_empty() {
                notes.insert(Note::ClaimsNotChecked { namespace, by });
            }
        }
        let rollout = Rollout::begin(begin);
        add_notes(state.cluster(), &index, applied, &rollout.summary(), &mut notes);
        rollouts.push(rollout);
        put_all(stage, "apply workload", draft);
    }
    answer.notes.extend(notes);
    let names_runtime = |rollout: &Rollout| rollout.sample().is_some_and(|pod| pod.spec_text("runtimeClassName").is_some());
    answer.unknown.retain(|kind| *kind != NeighborKind::RuntimeClass || rollouts.iter().any(names_runtime));
    let cluster = stage.scheduler().state().cluster();
    for class in rollouts.iter().filter_map(|rollout| rollout.sample()?.spec_text("priorityClassName")) {
        if is_unknown(cluster, &class.into()) {
            Note::UnknownPriorityClass(class.into()).add_to(&mut answer.notes);
        }
    }
    let mut watch = Watch::new(&rollouts, request, stage);
    run(stage, &mut rollouts, &mut admission, &mut watch, request, &mut answer);
    answer.finish(stage, &rollouts, watch);
    if request.capacity {
        answer.capacity = rollouts.first().and_then(|rollout| count(stage.scheduler(), rollout, &mut admission, &answer));
    }
    Ok(answer)
}

/// Bounds of the pods of a workload.
struct Bounds<'a> {
    options: UnfoldOptions<'a>,
    /// Bytes that are left for pods.
    bytes_left: usize,
}

/// Unfolds an applied workload, with the pods that it has; `None` for an object that makes no pods.
fn begin<'a>(
    cluster: &Cluster,
    owned: &mut objects::OwnedPods,
    applied: &'a Applied,
    admission: &Admission,
    bounds: &mut Bounds<'_>,
) -> Result<Option<Begin<'a>>, InvalidWorkload> {
    let object = &applied.object;
    let Some(first) = unfold(cluster, object, &UnfoldOptions { most: bounds.options.most.min(1), ..bounds.options })? else {
        return Ok(None);
    };
    let old = owned.of(cluster, object, &first);
    let sample = first.pods.first().map(|pod| &pod.pod);
    let differs = applied.changes_template.unwrap_or_else(|| rollout::differs_by_pods(cluster, &old, sample, admission));
    let is_paused = object.pointer("/spec/paused") == Some(&Value::Bool(true));
    let revision = applied.revision.as_ref().filter(|_| !differs || is_paused);
    let live = applied.with_live_template().filter(|_| differs);
    let unfolded = |object: &Value| unfold_for(cluster, object, &bounds.options, revision);
    // A paused Deployment scales the ReplicaSet that it has.
    let object = live.as_ref().filter(|_| is_paused && revision.is_some()).unwrap_or(object);
    let Some(mut found) = unfolded(object)? else { return Ok(None) };
    if let (Update::From(place), Some(live)) = (found.update, &live) {
        let pods = unfolded(live)?.map_or_else(Vec::new, |live| live.pods);
        put_below(&mut found, pods, place);
    }
    found.pods.truncate(pods_within(&found.pods, &mut bounds.bytes_left));
    Ok(Some(Begin { applied, found, old, differs }))
}

/// Gives the pods of a StatefulSet below its partition the template that they have.
fn put_below(found: &mut Unfolded, pods: Vec<UnfoldedPod>, place: u64) {
    for (pod, live) in found.pods.iter_mut().zip(pods).take(usize::try_from(place).unwrap_or(usize::MAX)) {
        *pod = live;
    }
}

/// Sets the replicas of a workload of which it is unknown whether it exists, if its manifest leaves them out: as many as it has pods.
fn assume_replicas(cluster: &Cluster, owned: &mut objects::OwnedPods, applied: &mut Applied, notes: &mut BTreeSet<Note>, matters: bool) {
    if applied.existence != Existence::Unknown {
        return;
    }
    let (kind, key) = objects::name_of(&applied.object);
    let has_replicas = !matches!(kind.as_str(), "DaemonSet" | "Job" | "CronJob" | "JobSet");
    let leaves_out = applied.object.pointer("/spec/replicas").is_none_or(Value::is_null);
    if matters && has_replicas && leaves_out {
        let pods = owned.of_workload(cluster, &kind, &key).len() as u64;
        let replicas = if pods == 0 { 1 } else { pods };
        if let Some(spec) = applied.object.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("replicas".to_owned(), replicas.into());
        }
        let workload = Workload { kind, key };
        applied.assumes_replicas = true;
        notes.insert(Note::LiveUnknown { workload, replicas: Some(replicas), has_pods: pods > 0 });
    }
}

/// Adds the notes about a workload.
fn add_notes(cluster: &Cluster, index: &Index<'_>, applied: &Applied, summary: &ManifestWorkload, notes: &mut BTreeSet<Note>) {
    let ManifestWorkload { kind, key, wanted, change, .. } = summary;
    let workload = || Workload { kind: kind.clone(), key: key.clone() };
    if !applied.left_out.is_empty() {
        notes.insert(Note::FieldsLeftOut { workload: workload(), fields: applied.left_out.clone() });
    }
    if applied.existence == Existence::Unknown && *change == ManifestChange::RolledOut && !applied.assumes_replicas {
        notes.insert(Note::LiveUnknown { workload: workload(), replicas: None, has_pods: true });
    }
    if let Some(scaler) = index.scaler(kind, key)
        && *wanted > 0
        && (*change == ManifestChange::Scaled || !(scaler.min..=scaler.max).contains(wanted))
    {
        let live::Scaler { key: scaler, min, max } = scaler.clone();
        notes.insert(Note::Autoscaled { workload: workload(), scaler, min, max });
    }
    if applied.has_ended {
        notes.insert(Note::HasEnded(key.clone()));
    }
    let standard = cluster.namespaces.named(&key.namespace).and_then(|namespace| {
        let level = namespace.metadata.labels.get("pod-security.kubernetes.io/enforce")?;
        (level != "privileged").then(|| level.clone())
    });
    if let Some(level) = standard {
        notes.insert(Note::PodSecurity { namespace: key.namespace.clone(), level });
    }
    let metadata = |field: &str, name: &str| Some(applied.object.get("metadata")?.get(field)?.get(name)?.as_str()?.into());
    if let Some(queue) = metadata("labels", "kueue.x-k8s.io/queue-name") {
        notes.insert(Note::Queued { workload: workload(), queue });
    }
    for name in ["leaderworkerset.sigs.k8s.io/exclusive-topology", "alpha.jobset.sigs.k8s.io/exclusive-topology"] {
        if let Some(topology) = metadata("annotations", name) {
            notes.insert(Note::ExclusiveTopology { workload: workload(), topology });
        }
    }
}

/// Applies the operations of a draft as one.
fn put_all(stage: &mut dyn Stage, name: &str, draft: Draft) {
    if !draft.is_empty() {
        stage.apply_alone(Operation::Batch { name: name.to_owned(), operations: draft.into_operations() });
    }
}

/// Lets the workloads make and remove pods, and settles, until they have nothing more to do.
fn run(
    stage: &mut dyn Stage,
    rollouts: &mut [Rollout],
    admission: &mut Admission,
    watch: &mut Watch,
    request: &ManifestRequest,
    answer: &mut ManifestAnswer,
) {
    for round in 0.. {
        let is_last = round == request.most_rounds;
        let cluster = stage.scheduler().state().cluster().clone();
        let mut draft = Draft::new(&cluster);
        for rollout in rollouts.iter_mut() {
            if is_last {
                rollout.stop();
            } else {
                rollout.advance(&mut draft, admission, stage.scheduler().state().clock(), &mut answer.notes);
            }
        }
        let is_idle = draft.is_empty();
        if is_idle && round > 0 {
            return;
        }
        watch.add(rollouts);
        if !is_idle {
            let left = stage.apply_within(None, "make pods", draft.into_operations());
            for rollout in rollouts.iter_mut().filter(|_| !left.is_empty()) {
                rollout.unmake(&left);
            }
        }
        if !watch.settle(stage) || is_last {
            rollouts.iter_mut().for_each(Rollout::stop);
            return;
        }
    }
}

/// Watches a run: the odds of the pods when they are decided, and the victims.
struct Watch {
    /// The pods of the manifest.
    own: BTreeSet<Key>,
    odds: BTreeMap<Key, Arc<CycleView>>,
    /// Whether the odds of all pods are asked for.
    odds_asked: bool,
    /// Number of pods whose odds may still be counted, and the steps of it.
    odds_left: (usize, u64),
    victims: Vec<ManifestVictim>,
    seen: BTreeSet<Key>,
}

impl Watch {
    /// Begins, and bounds the steps of the run.
    fn new(rollouts: &[Rollout], request: &ManifestRequest, stage: &mut dyn Stage) -> Self {
        let own = rollouts.iter().flat_map(Rollout::kept).cloned().collect();
        let (victims, seen) = (Vec::new(), BTreeSet::new());
        let state = stage.scheduler().state();
        let cluster = state.cluster();
        let of_objects = MANIFEST_STEPS_OF_OBJECT.saturating_mul((cluster.nodes.len() + cluster.pods.len()) as u64);
        let steps = request.most_steps.unwrap_or(MANIFEST_STEPS.saturating_add(of_objects));
        // Half of the steps are left for decisions.
        let odds_left = if request.odds { (usize::MAX, steps / 2) } else { (MANIFEST_ODDS, MANIFEST_ODDS_STEPS) };
        stage.set_bound(StepBound::after(state, steps));
        Self { own, odds: BTreeMap::new(), odds_asked: request.odds, odds_left, victims, seen }
    }

    /// Takes in the pods that were made.
    fn add(&mut self, rollouts: &[Rollout]) {
        self.own.extend(rollouts.iter().flat_map(Rollout::made).cloned());
    }

    /// Runs until nothing changes. Returns false if the run was cancelled, or took too many steps.
    fn settle(&mut self, stage: &mut dyn Stage) -> bool {
        loop {
            let mut bound = stage.bound();
            let may_schedule = stage.scheduler().next_pod().is_none() || bound.allows(stage.scheduler().state(), &Operation::Schedule);
            stage.set_bound(bound);
            if !may_schedule {
                return false;
            }
            let before = stage.scheduler().state().cluster().clone();
            let (decided, steps) = self.count_odds(stage.scheduler()).map_or((None, 0), |(pod, view, steps)| (Some((pod, view)), steps));
            let (pods, odds_steps) = self.odds_left;
            self.odds_left = (pods.saturating_sub(usize::from(decided.is_some())), odds_steps.saturating_sub(steps));
            if !stage.settle_step() {
                self.note_victims(stage, &before);
                return stage.continues();
            }
            bound.spend(steps);
            stage.set_bound(bound);
            let after = stage.scheduler().state().cluster();
            if let Some((pod, view)) = decided
                && after.pods.get(&pod).is_some_and(|pod| !pod.node_name.is_empty())
            {
                self.odds.insert(pod, view);
            }
            if after.pods.len() < before.pods.len() {
                self.note_victims(stage, &before);
            }
        }
    }

    /// Decides about the pod that is next, if it is of the manifest and its odds are counted. Returns the steps as well.
    fn count_odds(&self, scheduler: &Scheduler) -> Option<(Key, Arc<CycleView>, u64)> {
        let (pods, steps) = self.odds_left;
        if pods == 0 || steps == 0 {
            return None;
        }
        let next = scheduler.next_pod().filter(|pod| self.own.contains(pod))?;
        let pod = scheduler.state().cluster().pods.get(&next)?;
        let effort = if self.odds_asked { OddsEffort::Asked } else { OddsEffort::Little };
        let steps = AtomicU64::new(0);
        let options = DryOptions { asking: Asking::Ask, odds_nodes: usize::MAX, all_steps: Some(&steps), ..DryOptions::default() };
        let mut view = CycleView::of(&scheduler.explain_with(pod, options));
        view.findings.odds_over_starts = scheduler.odds_over_starts_counting(pod, &view, effort, &steps).map(Arc::new);
        Some((next, Arc::new(view), steps.into_inner()))
    }

    /// Records the victims of the pods of the manifest since the last time. `before` is the cluster that still had them.
    fn note_victims(&mut self, stage: &dyn Stage, before: &Cluster) {
        let mut used: BTreeMap<Key, i32> = BTreeMap::new();
        for (pod, by) in stage.preempted() {
            if !self.own.contains(&by) || !self.seen.insert(pod.clone()) {
                continue;
            }
            let Some(victim) = before.pods.get(&pod) else { continue };
            let mut violates = Vec::new();
            let budgets = before.pod_disruption_budgets.in_namespace(&pod.namespace).filter(|budget| budget.covers(victim));
            for budget in budgets.filter(|budget| !budget.status.disrupted_pods.contains_key(&pod.name)) {
                let used = used.entry(budget.metadata.key()).or_default();
                *used += 1;
                if *used > budget.status.disruptions_allowed {
                    violates.push(budget.metadata.key());
                }
            }
            let made_again = super::is_made_again(victim);
            self.victims.push(ManifestVictim { node: victim.node_name.clone(), pod, by, violates, made_again });
        }
    }
}

/// Counts how many more pods of a workload fit, up to what quotas let in.
fn count(scheduler: &Scheduler, rollout: &Rollout, admission: &mut Admission, answer: &ManifestAnswer) -> Option<ManifestCapacity> {
    let cluster = scheduler.state().cluster();
    // A pending pod is the first of those counted.
    let pending = answer.pods.iter().find(|pod| matches!(pod.end, ManifestPodEnd::Pending { .. })).map(|pod| &pod.pod);
    let placed = answer.pods.iter().find(|pod| matches!(pod.end, ManifestPodEnd::Placed { .. })).map(|pod| &pod.pod);
    let known = pending.or(placed).or_else(|| rollout.kept().next());
    let pod = known.and_then(|key| cluster.pods.get(key).cloned());
    let sample = rollout.sample();
    let pod = match (pod, sample) {
        (Some(pod), _) => pod,
        (None, Some(sample)) => Arc::new(admission.clone().admit_templated(cluster, sample).ok()?),
        (None, None) => return None,
    };
    let mut found = capacity(scheduler, &pod, &|_| true).ok()?;
    let mut refused = None;
    if let Some(sample) = sample {
        let is_free = usize::from(found.is_pending);
        let most = found.fits.saturating_sub(is_free).min(CAPACITY_COPIES);
        for admitted in 0..=most {
            if let Err(refusal) = admission.admit_templated(cluster, sample) {
                let fits = (admitted + is_free).min(found.fits);
                let is_first = fits < found.fits || !matches!(found.end, CapacityEnd::Full(_));
                if is_first {
                    found.fits = fits;
                    refused = Some(refusal);
                }
                break;
            }
        }
    }
    Some(ManifestCapacity { capacity: found, refused })
}
