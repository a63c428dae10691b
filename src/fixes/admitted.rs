//! Admission of the pod that is made anew when a fix changes it: an API server may refuse it, or set a field again.
//!
//! The pod is admitted in place of the old one. A template is not read: the pod is taken for it, without the fields that admission has
//! set from classes.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::change::{Change, PodChange};
use super::reaction::changes_template;
use super::rollout::makes_new_first;
use super::trial::{Trials, Verified};
use super::{Background, Fix, FixOutcome, Fixes, Unproposed};
use crate::admission::{Admission, Policies, Refusal};
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Cluster, Key, Kind, Object, Pod, PriorityClass, Str};
use crate::framework::{PodResourcesOptions, pod_requests};
use crate::scheduler::Scheduler;

/// Name of the class of a priority that no class has.
const NEW_CLASS: &str = "new-priority";

/// The pods that are made in place of the pod, before admission.
pub(super) struct NewPods {
    admission: Admission,
    cluster: Cluster,
    /// The pod with all its fields.
    original: Value,
    /// Whether a controller makes the pod from a template.
    is_of_template: bool,
    /// The runtime class of the pod.
    runtime_class: Option<Str>,
    /// Whether the old pod goes before the new one comes, and the quotas still count it.
    goes_first: bool,
    /// Whether the pod passes without changes.
    unchanged: Option<Result<(), Refusal>>,
}

impl NewPods {
    /// Prepares the pods in place of a pod. `written` is the pod as held, as JSON.
    fn of(background: Background<'_>, scheduler: &Scheduler, pod: &Pod, written: &Value) -> Self {
        let (cluster, emulation) = (scheduler.state().cluster(), scheduler.state().config().emulation);
        let policies = Policies::of_namespace(background.neighbors, &pod.metadata.namespace);
        let original = (background.originals)(Kind::Pod, &pod.key()).unwrap_or_else(|| written.clone());
        let class = original.pointer("/spec/runtimeClassName").and_then(Value::as_str).filter(|name| !name.is_empty());
        Self {
            admission: Admission::new(policies, emulation),
            is_of_template: pod.metadata.controller().is_some(),
            runtime_class: class.map(Str::from),
            goes_first: !makes_new_first(background.neighbors, cluster, pod),
            cluster: cluster.clone(),
            original,
            unchanged: None,
        }
    }

    /// Returns the pod with some changes, as it is created.
    fn changed(&self, changes: &[&PodChange]) -> Value {
        let mut new = self.original.clone();
        for change in changes {
            change.edit(&mut new);
        }
        if let Some(fields) = new.as_object_mut() {
            fields.remove("status");
        }
        if self.is_of_template {
            self.admission.policies().remove_runtime_class(&mut new);
        }
        if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) {
            if changes.iter().any(|change| needs_class(change)) {
                spec.insert("priorityClassName".to_owned(), NEW_CLASS.into());
            }
            // Admission sets them from the class.
            spec.remove("priority");
            spec.remove("preemptionPolicy");
        }
        new
    }

    /// Returns the cluster, with the class that changes of the priority need.
    fn cluster_for(&self, pod: &Pod, changes: &[&PodChange]) -> Cluster {
        let mut cluster = self.cluster.clone();
        let value = changes.iter().find_map(|change| match change {
            PodChange::Priority { to, class: None, .. } => Some(*to),
            PodChange::Preempt => Some(pod.priority()),
            _ => None,
        });
        if let Some(value) = value {
            let mut class = PriorityClass { value, ..PriorityClass::default() };
            class.metadata.name = NEW_CLASS.into();
            cluster.insert(Object::PriorityClass(Arc::new(class)));
        }
        cluster
    }

    /// Returns the pod that an API server makes of the changed one.
    fn admit(&mut self, pod: &Pod, changes: &[&PodChange]) -> Result<Pod, Refusal> {
        if std::mem::take(&mut self.goes_first) {
            self.admission.forget_written(&self.cluster, &self.original);
        }
        let cluster = self.cluster_for(pod, changes);
        let new = self.changed(changes);
        self.admission.check(&cluster, &new)
    }

    /// Returns whether the pod is invalid without changes, or has the overhead of an unknown class: its source does not have it whole.
    fn is_partial(&mut self, pod: &Pod) -> bool {
        if self.unchanged.is_none() {
            self.unchanged = Some(self.admit(pod, &[]).map(drop));
        }
        matches!(self.unchanged, Some(Err(Refusal::Invalid(_) | Refusal::OverheadWithoutClass | Refusal::NoNamespace(_))))
    }

    /// Returns the kinds that may refuse or change the pod and are not known.
    fn unknown(&self) -> Vec<NeighborKind> {
        // The pod shows that its account was there.
        let concerns = |kind: &NeighborKind| match kind {
            NeighborKind::RuntimeClass => self.runtime_class.is_some(),
            NeighborKind::ServiceAccount => false,
            _ => true,
        };
        self.admission.policies().unknown().filter(concerns).collect()
    }
}

fn needs_class(change: &PodChange) -> bool {
    matches!(change, PodChange::Priority { class: None, .. } | PodChange::Preempt)
}

/// Calls a function with the pods in place of the pod, which are made when first needed.
fn with_new_pods<T>(trials: &mut Trials<'_>, with: impl FnOnce(&mut NewPods, &Pod) -> T) -> T {
    let pod = trials.pod().clone();
    let of = |trials: &Trials<'_>| Box::new(NewPods::of(trials.background(), trials.scheduler(), &pod, trials.written()));
    let mut new = trials.admission.take().unwrap_or_else(|| of(trials));
    let found = with(&mut new, &pod);
    trials.admission = Some(new);
    found
}

/// Returns whether a key of the pod's node selector is of its runtime class, which admission enforces.
pub(super) fn is_of_runtime_class(trials: &mut Trials<'_>, key: &Str) -> bool {
    with_new_pods(trials, |new, _| {
        let class = new.runtime_class.as_ref().and_then(|class| new.admission.policies().runtime_selector(class));
        class.is_some_and(|selector| selector.contains_key(key))
    })
}

/// Leaves out the fixes whose pod is made anew and would be refused, or would get nowhere as admission sets its fields, and notes why.
pub(super) fn keep_admitted(trials: &mut Trials<'_>, fixes: &mut Fixes) {
    if !fixes.fixes.iter().any(|fix| changes_template(&fix.changes)) {
        return;
    }
    fixes.unknown_policies = with_new_pods(trials, |new, _| new.unknown());
    let mut found = std::mem::take(&mut fixes.fixes);
    found.retain_mut(|fix| !changes_template(&fix.changes) || is_admitted(trials, fix, &mut fixes.unproposed));
    fixes.fixes = found;
}

/// Returns whether the pod of a fix is admitted and gets in as admission makes it; notes why if not.
fn is_admitted(trials: &mut Trials<'_>, fix: &mut Fix, unproposed: &mut Vec<Unproposed>) -> bool {
    let all: Vec<Change> = trials.first.iter().chain(&fix.changes).cloned().collect();
    let of_pod: Vec<&PodChange> =
        all.iter().filter_map(|change| if let Change::Pod(change) = change { Some(change) } else { None }).collect();
    trials.spend_on_admission();
    match with_new_pods(trials, |new, pod| new.admit(pod, &of_pod)) {
        Ok(admitted) => {
            let Some(changed) = trials.changed_pod(&fix.changes) else { return false };
            let Some(pod) = otherwise(&changed, &admitted, fix.outcome) else { return true };
            if let Some(Verified { outcome, nodes, victims }) = trials.attempt_as(&Arc::new(pod), &fix.changes) {
                (fix.outcome, fix.nodes, fix.victims) = (outcome, nodes, victims);
                return true;
            }
            let selects = |change: &&PodChange| change.field() == "nodeSelector";
            let class = with_new_pods(trials, |new, _| new.runtime_class.clone()).filter(|_| of_pod.iter().any(selects));
            unproposed.push(Unproposed::SetAgain { changes: fix.changes.clone(), class });
            false
        }
        Err(Refusal::Invalid(_) | Refusal::OverheadWithoutClass | Refusal::NoNamespace(_))
            if with_new_pods(trials, NewPods::is_partial) =>
        {
            true
        }
        Err(refusal) => {
            note_refused(&fix.changes, refusal, unproposed);
            false
        }
    }
}

/// Returns the pods among some that an API server admits with the changes of a fix that was found for `first`.
pub fn admitted(scheduler: &Scheduler, background: Background<'_>, first: &Pod, fix: &Fix, pods: &[Key]) -> Vec<Key> {
    if !fix.needs_admission() {
        return pods.to_vec();
    }
    let cluster = scheduler.state().cluster();
    let changes: Vec<&PodChange> =
        fix.changes.iter().filter_map(|change| if let Change::Pod(change) = change { Some(change) } else { None }).collect();
    // Pods of one spec in a namespace are admitted alike.
    let mut known: HashMap<(Str, String), bool> = HashMap::new();
    let mut is_admitted = |key: &Key| {
        let Some(pod) = cluster.pods.get(key) else { return false };
        let namespace = &pod.metadata.namespace;
        if *namespace == first.metadata.namespace && pod.spec == first.spec || !Policies::any_for(background.neighbors, namespace) {
            return true;
        }
        let written = serde_json::to_value(pod.as_ref()).unwrap_or_default();
        let id = (namespace.clone(), written["spec"].to_string());
        *known.entry(id).or_insert_with(|| {
            is_other_admitted(&mut NewPods::of(background, scheduler, pod, &written), pod, (&changes, fix.outcome), &written)
        })
    };
    pods.iter().filter(|key| is_admitted(key)).cloned().collect()
}

/// Returns whether a pod with the changes is admitted as it is.
fn is_other_admitted(new: &mut NewPods, pod: &Pod, (changes, outcome): (&[&PodChange], FixOutcome), written: &Value) -> bool {
    match new.admit(pod, changes) {
        Ok(admitted) => {
            let mut changed = written.clone();
            for change in changes {
                change.edit(&mut changed);
            }
            serde_json::from_value::<Pod>(changed).is_ok_and(|changed| otherwise(&changed, &admitted, outcome).is_none())
        }
        Err(Refusal::Invalid(_) | Refusal::OverheadWithoutClass | Refusal::NoNamespace(_)) => new.is_partial(pod),
        Err(_) => false,
    }
}

/// Notes a refusal, once for several fixes with the same.
fn note_refused(changes: &[Change], refusal: Refusal, unproposed: &mut Vec<Unproposed>) {
    for known in unproposed.iter_mut() {
        if let Unproposed::Refused { refusal: known, others, .. } = known
            && *known == refusal
        {
            *others += 1;
            return;
        }
    }
    unproposed.push(Unproposed::Refused { changes: changes.to_vec(), refusal, others: 0 });
}

fn never_preempts(pod: &Pod) -> bool {
    pod.spec.preemption_policy.as_deref() == Some("Never")
}

/// Returns the changed pod with what admission has changed in it; `None` if it decides as before.
fn otherwise(changed: &Pod, admitted: &Pod, outcome: FixOutcome) -> Option<Pod> {
    let requests = |pod: &Pod| pod_requests(pod, PodResourcesOptions::default());
    let selector = |pod: &Pod| pod.spec.node_selector.clone().filter(|selector| !selector.is_empty());
    // A class that is not known sets neither.
    let has_class = !admitted.spec.priority_class_name.is_empty() && admitted.spec.priority.is_some();
    let is_same = selector(changed) == selector(admitted)
        && requests(changed) == requests(admitted)
        && (!has_class || changed.priority() == admitted.priority())
        && (!has_class || outcome != FixOutcome::Preempts || never_preempts(changed) == never_preempts(admitted));
    (!is_same).then(|| {
        let mut pod = changed.clone();
        let spec = pod.spec_mut();
        spec.node_selector.clone_from(&admitted.spec.node_selector);
        spec.tolerations = admitted.spec.tolerations.clone();
        spec.containers = admitted.spec.containers.clone();
        spec.init_containers = admitted.spec.init_containers.clone();
        spec.overhead = admitted.spec.overhead.clone();
        if has_class {
            spec.priority = admitted.spec.priority;
            spec.preemption_policy.clone_from(&admitted.spec.preemption_policy);
        }
        pod
    })
}
