//! Whether new pods fit.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::admit::refusal;
use super::{Decision, Engine, Error, ErrorKind};
use crate::admission::{Admission, Refusal, TemplatedPod};
use crate::cluster::{Cluster, Key, Kind, Pod, Str};
use crate::controllers::Draft;
use crate::controllers::unfold::{InvalidWorkload, UnfoldOptions, UnfoldedPod, create_with_claims, pods_within, unfold};
use crate::limits::engine::{CAPACITY_COPIES, MANIFEST_BYTES};
use crate::report::SCHEMA_VERSION;
use crate::scheduler::Operation;
use crate::trace::Event;

/// The places of new pods, and why some have none.
///
/// ```
/// use schedscope::engine::Engine;
/// use serde_json::json;
///
/// let node = "{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 110}}}";
/// let engine = Engine::builder().objects(node).build()?;
/// let pod = json!({"kind": "Pod", "metadata": {"name": "web"},
///     "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "300m"}}}]}});
/// let placed = engine.place(&pod, 20)?;
/// assert_eq!((placed.fit(), placed.pods().len()), (13, 20));
/// assert!(!placed.all_fit());
/// assert!(placed.pods()[19].why().contains("less than 0.3 cpu free"));
/// # Ok::<(), schedscope::engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Placement {
    pods: Vec<PlacedPod>,
    victims: Vec<Victim>,
}

/// One new pod.
#[derive(Clone, Debug)]
pub struct PlacedPod {
    pod: Key,
    node: Option<Str>,
    why: String,
    decision: Option<Decision>,
}

/// A pod that would be evicted for a new one.
#[derive(Clone, Debug)]
struct Victim {
    pod: Key,
    node: Str,
    by: Key,
}

impl Placement {
    /// Returns the new pods, in the order in which their controller makes them.
    pub fn pods(&self) -> &[PlacedPod] {
        &self.pods
    }

    /// Returns how many get a node.
    pub fn fit(&self) -> usize {
        self.pods.iter().filter(|pod| pod.node.is_some()).count()
    }

    /// Returns whether all get a node.
    pub fn all_fit(&self) -> bool {
        self.fit() == self.pods.len()
    }

    /// Returns the pods that would be preempted, as `namespace/name`.
    pub fn evicted(&self) -> impl Iterator<Item = String> + '_ {
        self.victims.iter().map(|victim| victim.pod.to_string())
    }

    /// Returns the answer as JSON. A decision is given once for each reason; further pods with it have null. `schedscope schema place`
    /// prints the JSON Schema.
    pub fn to_json(&self) -> Value {
        let (mut placed, mut pending, mut refused, mut reasons_seen) = (Vec::new(), Vec::new(), Vec::new(), BTreeSet::new());
        for pod in &self.pods {
            match (&pod.node, &pod.decision) {
                (Some(node), _) => placed.push(json!({"pod": pod.pod.to_string(), "node": node.as_str()})),
                (None, Some(decision)) => {
                    let decision = reasons_seen.insert(pod.why.as_str()).then(|| decision.to_json());
                    pending.push(json!({"pod": pod.pod.to_string(), "why": pod.why, "decision": decision}));
                }
                (None, None) => refused.push(json!({"object": format!("Pod {}", pod.pod), "why": pod.why})),
            }
        }
        let of = |victim: &Victim| json!({"pod": victim.pod.to_string(), "node": victim.node.as_str(), "by": victim.by.to_string()});
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "placed": placed,
            "pending": pending,
            "refused": refused,
            "victims": self.victims.iter().map(of).collect::<Vec<_>>(),
        })
    }
}

impl PlacedPod {
    /// Returns the namespace.
    pub fn namespace(&self) -> &str {
        &self.pod.namespace
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.pod.name
    }

    /// Returns the node that the pod gets; `None` if it stays pending, is refused, or is preempted again.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Returns why the pod gets no node; empty for one that gets a node.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Returns the decision about a pod that stays pending, at the end; `None` for others. Pods with one reason share the decision about
    /// the first of them, whose name it has.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }
}

impl Engine {
    /// Makes `replicas` copies of a pod, or the pods of a workload with that number of replicas, as an API server and the controllers would, and
    /// runs the scheduler on a fork until nothing changes. Other pending pods compete with them. Nothing is kept. See [`Placement`].
    ///
    /// # Errors
    /// When the object is no pod and no workload, an API server would refuse it for its fields, or there are more than 10,000 pods. A pod
    /// that would be refused for the cluster's sake, such as by a quota, is in the answer.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// use serde_json::json;
    ///
    /// let node = "{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 3}}}";
    /// let engine = Engine::builder().objects(node).build()?;
    /// let deployment = json!({
    ///     "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
    ///     "spec": {"selector": {"matchLabels": {"app": "web"}},
    ///         "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}}
    /// });
    /// assert_eq!(engine.place(&deployment, 5)?.fit(), 3);
    /// assert!(engine.place(&json!({"kind": "ConfigMap"}), 1).is_err());
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn place(&self, object: &Value, replicas: usize) -> Result<Placement, Error> {
        let mut fork = self.clone();
        let (mut pods, made) = fork.make(object, replicas)?;
        let mut victims = Vec::new();
        fork.settle_watching(&mut |events| victims.extend(events.iter().filter_map(victim)))?;
        let cluster = fork.scheduler.state().cluster();
        let mut decisions = Decisions::default();
        for (at, pod) in &made {
            let place = &mut pods[*at];
            match cluster.pods.get(pod) {
                Some(found) if !found.node_name.is_empty() => place.node = Some(found.node_name.clone()),
                Some(found) => {
                    let decision = decisions.about(&fork, found)?;
                    decision.why().clone_into(&mut place.why);
                    place.decision = Some(decision);
                }
                None => "it is preempted by another pod".clone_into(&mut place.why),
            }
        }
        Ok(Placement { pods, victims })
    }

    /// Creates the pods. Returns all of them, and the indexes and keys of those that are admitted.
    #[allow(clippy::type_complexity, reason = "two lists that are taken apart at once")]
    fn make(&mut self, object: &Value, replicas: usize) -> Result<(Vec<PlacedPod>, Vec<(usize, Key)>), Error> {
        let state = self.scheduler.state();
        let (emulation, cluster) = (state.config().emulation, state.cluster());
        let (replicas, most) = (Some(replicas as u64), CAPACITY_COPIES + 1);
        let options = UnfoldOptions { namespace: "default", replicas, most, most_bytes: MANIFEST_BYTES, emulation, now: state.clock() };
        let unfolded = unfolded(object, &options, cluster)?;
        if unfolded.len() > CAPACITY_COPIES {
            return Err(Error::new(ErrorKind::Workload, format_args!("more than {CAPACITY_COPIES} pods are not placed")));
        }
        let most = pods_within(&unfolded, &mut { MANIFEST_BYTES });
        if most < unfolded.len() {
            return Err(Error::new(ErrorKind::Workload, format_args!("more than {most} pods of this length are not placed")));
        }
        let mut admission = Admission::new(self.source.policies().clone(), emulation);
        let (mut draft, mut pods, mut made, mut notes) = (Draft::new(cluster), Vec::new(), Vec::new(), Vec::new());
        for mut new in unfolded {
            give_free_name(&mut new.pod, draft.cluster());
            match admission.admit_templated(draft.cluster(), &new.pod) {
                Ok(admitted) => {
                    made.push((pods.len(), admitted.key()));
                    pods.push(PlacedPod { pod: admitted.key(), node: None, why: String::new(), decision: None });
                    create_with_claims(&mut draft, &new, admitted, &mut notes);
                }
                // The others would be refused for the same fields.
                Err(refused) if matches!(refused.refusal, Refusal::Invalid(_)) => return Err(refusal(&refused)),
                Err(refused) => {
                    let why = refusal(&refused).message().to_owned();
                    pods.push(PlacedPod { pod: refused.pod, node: None, why, decision: None });
                }
            }
        }
        let operations = draft.into_operations();
        self.change(Operation::Batch { name: "place".to_owned(), operations });
        Ok((pods, made))
    }
}

/// Decisions about pods that stay pending. Each holds a verdict of every node, so that pods with one reason share one.
#[derive(Default)]
struct Decisions {
    /// By what a pod asks for, and kube-scheduler's message about it.
    of_equal_pods: BTreeMap<(String, Str), Decision>,
    /// By the sentence.
    by_reason: BTreeMap<String, Decision>,
}

impl Decisions {
    fn about(&mut self, fork: &Engine, pod: &Arc<Pod>) -> Result<Decision, Error> {
        let asks = serde_json::to_string(&(&pod.spec, &pod.metadata.labels)).map_err(|error| Error::new(ErrorKind::Answer, error))?;
        let message = pod.condition("PodScheduled").map(|condition| condition.message.clone()).unwrap_or_default();
        match self.of_equal_pods.entry((asks, message)) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(new) => {
                let decision = fork.decision(pod)?;
                let shared = self.by_reason.entry(decision.why().to_owned()).or_insert(decision);
                Ok(new.insert(shared.clone()).clone())
            }
        }
    }
}

/// Returns the pods of an object, before admission. A pod without a node and a status is made of one that has them.
fn unfolded(object: &Value, options: &UnfoldOptions<'_>, cluster: &Cluster) -> Result<Vec<UnfoldedPod>, Error> {
    let mut object = object.clone();
    let kind = object.get("kind").and_then(Value::as_str).map(str::to_owned);
    if kind.as_deref() == Some("Pod") || kind.is_none() && object.pointer("/spec/containers").is_some() {
        let is_object = |value: Option<&Value>| value.is_none_or(Value::is_object);
        if !is_object(object.get("metadata")) || !is_object(object.get("spec")) {
            return Err(Error::new(ErrorKind::Workload, "metadata and spec of a pod are objects").about(Kind::Pod));
        }
        if let Some(pod) = object.as_object_mut() {
            pod.insert("kind".to_owned(), "Pod".into());
            pod.entry("metadata").or_insert_with(|| json!({}));
            pod.remove("status");
        }
        if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
            spec.remove("nodeName");
        }
    }
    let about = |invalid: InvalidWorkload| Error::new(ErrorKind::Refused, &invalid).about(format_args!("{} {}", invalid.kind, invalid.key));
    let found = unfold(cluster, &object, options).map_err(about)?;
    found.map(|found| found.pods).ok_or_else(|| {
        let error = Error::new(ErrorKind::Workload, "the object is no pod and no workload");
        match kind {
            Some(kind) => error.about(kind),
            None => error,
        }
    })
}

/// Renames a pod whose name the cluster has.
fn give_free_name(pod: &mut TemplatedPod, cluster: &Cluster) {
    let Key { namespace, name } = pod.key();
    let is_taken = |name: &str| cluster.get(Kind::Pod, &Key::new(namespace.clone(), name)).is_some();
    if !name.is_empty() && is_taken(&name) {
        let free = (2..=u32::MAX).map(|number| format!("{name}-{number}")).find(|name| !is_taken(name));
        pod.rename(&free.unwrap_or_else(|| name.to_string()));
    }
}

fn victim(event: &Event) -> Option<Victim> {
    match event {
        Event::VictimEvicted { pod, node, preemptor, .. } => {
            Some(Victim { pod: Key::clone(pod), node: node.clone(), by: Key::clone(preemptor) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a decision is a copy of another one, which holds the same text.
    fn shared(a: &Decision, b: &Decision) -> bool {
        std::ptr::eq(a.why(), b.why())
    }

    fn pending(placed: &Placement) -> Vec<&Decision> {
        placed.pods().iter().filter_map(PlacedPod::decision).collect()
    }

    #[test]
    fn pods_that_stay_pending_for_one_reason_share_a_decision() {
        let node = "{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 110}}}";
        let waiting =
            "{kind: Pod, metadata: {name: big, namespace: shop}, spec: {containers: [{name: c, resources: {requests: {cpu: 9}}}]}}";
        let engine = Engine::builder().objects(node).objects(waiting).build().unwrap();
        let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
        let pod = json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec.clone()});
        let placed = engine.place(&pod, 9).unwrap();
        let decisions = pending(&placed);
        assert_eq!(decisions.len(), 5);
        assert!(decisions.iter().all(|decision| shared(decision, decisions[0])));
        // Each of these has other labels.
        let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"}, "spec": {
            "serviceName": "db", "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": spec}}});
        let placed = engine.place(&set, 7).unwrap();
        let decisions = pending(&placed);
        assert_eq!((placed.fit(), decisions.len()), (4, 3));
        assert!(decisions.iter().all(|decision| shared(decision, decisions[0])));
        assert!(placed.pods().iter().all(|pod| pod.node().is_some() != pod.why().contains("1 cpu free")), "{placed:?}");
        assert!(!shared(decisions[0], &engine.decide("shop", "big").unwrap()));
    }

    #[test]
    fn a_pod_whose_name_is_taken_gets_another_and_not_the_uid_of_the_one_that_has_it() {
        let node = "{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 110}}}";
        let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
        let object = json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "u1"}, "spec": spec.clone()});
        let mut taken = object.clone();
        taken["spec"]["nodeName"] = json!("a");
        let engine = Engine::builder().objects(node).objects(taken.to_string().as_str()).build().unwrap();
        let mut fork = engine.clone();
        let (_, made) = fork.make(&object, 2).unwrap();
        let pods = &fork.scheduler.state().cluster().pods;
        let made: Vec<(&str, String)> =
            made.iter().map(|(_, key)| (key.name.as_str(), pods.get(key).expect("it was made").metadata.uid.to_string())).collect();
        assert_eq!(made[0], ("web-2", String::new()));
        // The second is a copy, which has a name and uid of its own.
        assert!(made[1].0.starts_with("web-") && !["", "u1"].contains(&made[1].1.as_str()), "{made:?}");
        assert_eq!(pods.get(&Key::new("shop", "web")).expect("it stays").metadata.uid, "u1");
        let placed = engine.place(&object, 5).unwrap();
        assert_eq!((placed.fit(), placed.pods().len()), (3, 5));
    }
}
