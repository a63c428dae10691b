//! The engine as a library: the door for crates that embed it.
//!
//! An [`Engine`] is a cluster with its scheduler. It decides about pods as kube-scheduler of a release would, says why, finds changes that
//! let a pod in, and plays what-ifs. It holds everything in memory, reads and writes no file, no network and no clock, and answers the
//! same for the same input. A clone costs microseconds and shares everything with its original, so that a fork is a clone.
//!
//! ```
//! use schedscope::engine::{Engine, Outcome};
//!
//! let cluster = "
//! {kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}}
//! ---
//! {kind: Pod, metadata: {name: payments, namespace: shop}, spec: {containers: [{name: c, resources: {requests: {cpu: 6}}}]}}
//! ";
//! let engine = Engine::builder()
//!     .release("1.34") // without it the newest
//!     .objects(cluster) // JSON or YAML; may be called again
//!     .unknown(["PodDisruptionBudget"]) // unknown, not none
//!     .now("2026-11-20T00:00:00Z")
//!     .build()?;
//!
//! let decision = engine.decide("shop", "payments")?;
//! assert_eq!(decision.outcome(), Outcome::Unschedulable);
//! for rejection in decision.rejections() {
//!     println!("{} {} {:?}", rejection.node(), rejection.plugin(), rejection.reasons());
//! }
//! # Ok::<(), schedscope::engine::Error>(())
//! ```
//!
//! | question | call |
//! | --- | --- |
//! | Why is the pod pending? Where does it go? | [`Engine::decide`] |
//! | What would let it in? | [`Engine::fixes`] |
//! | What if a node is drained, a zone lost, a workload scaled? | [`Engine::what_if`] |
//! | Will these 20 replicas fit? | [`Engine::place`] |
//! | What happens next, step by step? | [`Engine::apply`], [`Engine::queues`] |
//! | How does it end? | [`Engine::settle`] |
//! | What does an API server make of this pod? | [`Engine::admit`] |
//! | And with my plugin? | [`Builder::plugin`], [`Plugin`] |
//!
//! Calls return an [`Error`] with the input, the object and the line where it is; they do not panic. Texts in answers are those of the
//! cluster: escape them before they reach a terminal.
//!
//! # Stability
//!
//! This module is the crate's public interface, and `tests/public_api.txt` lists it: a change of it is a decision. All other modules are
//! parts of the program, hidden here, and may change in any release. JSON answers carry `schemaVersion`: fields may be added within a
//! version; names, meanings, and the kinds and parameters of reasons stay. `schedscope schema` prints the JSON Schemas.
//!
//! # Features
//!
//! The engine needs none of the crate's features: `schedscope = { version = "0.2", default-features = false }` compiles 45 other crates,
//! without tokio, ratatui, kube, rustls and clap. `k8s-openapi` adds [`Builder::object`] for typed objects and leaves the choice of
//! their API's version to the embedder. `dumps` reads compressed objects and archives.

mod admit;
mod answers;
mod builder;
mod decision;
mod error;
mod lines;
mod operation;
mod place;
mod plugin;
mod source;

pub use admit::admit;
pub use answers::{Applied, Fixes, Queues, Settled, WhatIf};
pub use builder::Builder;
pub use decision::{Decision, Outcome, Reason, Rejection};
pub use error::{Error, ErrorKind};
#[cfg(feature = "cli")]
pub(crate) use operation::{Step, operation};
pub use place::{PlacedPod, Placement};
pub use plugin::{Filter, NodeView, Plugin, PodView, Score, Verdict};

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::analysis::{FixesReport, ReleaseReport, SchedulerComparer, Voices, When, WhenInput, decision_parts};
use crate::cluster::{Key, Kind, Pod};
use crate::fixes::{self, Acts, Background, Limits};
use crate::report::{BeforeOperation, OperationReport, QueuesReport, WhatIfReport};
use crate::scheduler::{OddsEffort, Operation, Quiescence, Scheduler, StepBound};
use crate::session::requeue_events;
use crate::source::Loaded;
use crate::trace::Event;
use crate::whatif::{self, Rehearsal, Stage as _, Verb, VerbError};
use decision::Parts;
use source::Source;

/// A cluster with its scheduler. A clone shares everything with its original and costs microseconds.
///
/// ```
/// use schedscope::engine::Engine;
///
/// let engine = Engine::builder().objects("{kind: Node, metadata: {name: a}}").build()?;
/// let fork = engine.clone();
/// assert_eq!(fork.now(), engine.now());
/// # Ok::<(), schedscope::engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    scheduler: Scheduler,
    source: Arc<Source>,
    /// Of the scheduler as it is, made at the first decision.
    comparer: OnceLock<SchedulerComparer>,
}

impl Engine {
    /// Begins an engine; see [`Builder`].
    ///
    /// ```
    /// let engine = schedscope::engine::Engine::builder().release("1.34").build()?;
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn new(scheduler: Scheduler, loaded: Loaded) -> Self {
        Self { scheduler, source: Arc::new(Source::new(loaded)), comparer: OnceLock::new() }
    }

    /// Returns the emulated release, such as `1.34.1`; without a patch where that is the latest one.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// assert_eq!(Engine::builder().release("v1.31.4-eks-a1b2c3").build()?.release(), "1.31.4");
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn release(&self) -> String {
        self.scheduler.emulated().profile.release.number()
    }

    /// Returns the time of the cluster, as RFC 3339.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let mut engine = Engine::builder().now("2026-11-20T00:00:00Z").build()?;
    /// engine.apply(&serde_json::json!({"op": "advance", "seconds": 60}))?;
    /// assert_eq!(engine.now(), "2026-11-20T00:01:00Z");
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn now(&self) -> String {
        self.scheduler.state().clock().to_string()
    }

    /// Returns remarks about what [`Builder::build`] read, such as defaults that it chose, objects that scheduling does not
    /// read, and a release that is emulated by another one.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let engine = Engine::builder().objects("{kind: Pod, metadata: {name: a}, spec: {priorityClassName: gold}}").build()?;
    /// assert!(engine.warnings().any(|warning| warning.contains("priority class gold does not exist")));
    /// let engine = Engine::builder().objects("{kind: Pdo, apiVersion: v1, metadata: {name: a}}").build()?;
    /// assert!(engine.warnings().any(|warning| warning == "1 object of kinds that scheduling does not read: Pdo"));
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.scheduler.emulated().stand_in().into_iter().chain(self.source.warnings())
    }

    /// Decides about a pending pod as if it were popped from the queue now. Nothing is bound, evicted or kept. See [`Decision`].
    ///
    /// # Errors
    /// When the cluster has no such pod, the pod is not pending, or the nodes are unknown.
    ///
    /// ```
    /// # use schedscope::engine::{Engine, ErrorKind};
    /// let engine = Engine::builder().objects("{kind: Pod, metadata: {name: web, namespace: shop}}").build()?;
    /// assert_eq!(engine.decide("shop", "web")?.message(), "no nodes available to schedule pods");
    /// assert_eq!(engine.decide("shop", "wab").unwrap_err().kind(), ErrorKind::NoSuchPod);
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn decide(&self, namespace: &str, name: &str) -> Result<Decision, Error> {
        self.decision(self.pending(namespace, name)?)
    }

    fn pending(&self, namespace: &str, name: &str) -> Result<&Arc<Pod>, Error> {
        let key = Key::new(namespace, name);
        let pod = self.scheduler.state().cluster().pods.get(&key);
        let pod = pod.ok_or_else(|| Error::about_pod(ErrorKind::NoSuchPod, &key, "the cluster has no such pod"))?;
        let not_pending = |why: String| Err(Error::about_pod(ErrorKind::NotPending, &key, format_args!("is not pending: {why}")));
        if !pod.node_name.is_empty() {
            return not_pending(format!("it is bound to {}", pod.node_name));
        }
        if pod.is_terminal() {
            return not_pending(format!("its phase is {}", pod.status.phase));
        }
        Ok(pod)
    }

    fn decision(&self, pod: &Arc<Pod>) -> Result<Decision, Error> {
        let (scheduler, key) = (&self.scheduler, pod.key());
        let comparer = self.comparer.get_or_init(|| SchedulerComparer::new(scheduler, self.source.events()));
        let view = comparer.view(pod, OddsEffort::Little);
        let agreement = comparer.compare(pod, &view);
        let state = scheduler.state();
        let when = When::of(&WhenInput {
            view: &view,
            // The queues are fresh.
            entry: None,
            requeue_events: &requeue_events(scheduler),
            failed: agreement.there.as_ref().and_then(|there| there.at),
            longest_stay: state.config().emulation.behaviour().queue.leftover,
            now: state.clock(),
        });
        let voices = Voices::about(pod, scheduler, self.source.neighbors(), &view);
        Decision::new(Parts {
            pod: key,
            priority: pod.priority(),
            release: ReleaseReport::of(scheduler.emulated(), &decision_parts(state.config())),
            view,
            agreement,
            when,
            voices,
            nodes: state.snapshot().nodes().iter().map(|node| node.name().clone()).collect(),
        })
    }

    /// Finds changes of the pod, its nodes and other objects that let a pending pod in. Each is verified by a decision.
    ///
    /// # Errors
    /// As for [`decide`](Self::decide).
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let cluster = "
    /// {kind: Node, metadata: {name: a}, spec: {unschedulable: true}, status: {allocatable: {cpu: 4, pods: 10}}}
    /// ---
    /// {kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
    /// ";
    /// let fixes = Engine::builder().objects(cluster).build()?.fixes("default", "web")?.to_json();
    /// let change = &fixes["fixes"]["fixes"][0]["changes"][0];
    /// assert_eq!((&change["kind"], &change["name"], &change["field"]), (&"Node".into(), &"a".into(), &"unschedulable".into()));
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn fixes(&self, namespace: &str, name: &str) -> Result<Fixes, Error> {
        let pod = self.pending(namespace, name)?;
        let decision = self.decision(pod)?;
        let cluster = self.scheduler.state().cluster();
        let originals = |kind: Kind, key: &Key| self.source.original(kind, key);
        let background = Background { neighbors: self.source.neighbors(), originals: &originals, acts: &Acts::default() };
        let found = fixes::find(&self.scheduler, pod, Limits::of(cluster.nodes.len()), background, &|_| true);
        let report = FixesReport::new(&found, cluster, background.source());
        Ok(Fixes { decision, report })
    }

    /// Plays a what-if in operators' words on a fork, until nothing changes: `drain NODE`, `lose zone ZONE`, `scale deployment/NAME N`,
    /// `capacity NAMESPACE/POD` and others that `schedscope run --what-if` takes.
    ///
    /// # Errors
    /// When the text is no what-if, or names what the cluster does not have.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let cluster = "
    /// {kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 10}}}
    /// ---
    /// {kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 4, pods: 10}}}
    /// ---
    /// kind: Pod
    /// metadata: {name: web, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}]}
    /// spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
    /// ";
    /// let engine = Engine::builder().objects(cluster).build()?;
    /// let answer = engine.what_if("drain a")?;
    /// assert!(answer.is_complete(), "{}", answer.sentence());
    /// assert!(engine.what_if("drain c").is_err());
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn what_if(&self, words: &str) -> Result<WhatIf, Error> {
        let refused = |error: whatif::WhatIfError| Error::new(ErrorKind::WhatIf, error).in_input(&format!("what-if {words:?}"));
        let verb: Verb = words.parse().map_err(|error: VerbError| refused(error.into()))?;
        let new = || Rehearsal::new(self.scheduler.clone()).among(self.source.neighbors());
        let (mut without, mut with) = (new(), new());
        let originals = |kind: Kind, key: &Key| self.source.original(kind, key);
        let applied = whatif::apply_all(&mut with, &mut without, &[verb], &originals);
        let (answers, elsewhere) = applied.map_err(|(_, error)| refused(error))?;
        Ok(WhatIf { report: WhatIfReport::new(answers, with.scheduler(), elsewhere) })
    }

    /// Applies an operation of `schedscope run --ops`: `schedule` for one turn of the scheduling loop, `advance` for time, `create`,
    /// `update`, `patch` and `delete` for objects.
    ///
    /// # Errors
    /// When the value is no operation, or changes what the cluster does not have; the error names the object. Nothing is changed then.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// use serde_json::json;
    ///
    /// let node = json!({"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}});
    /// let engine = Engine::builder().objects("{kind: Pod, metadata: {name: web}}").build()?;
    /// let mut fork = engine.clone();
    /// fork.apply(&json!({"op": "create", "object": node}))?;
    /// let applied = fork.apply(&json!({"op": "schedule"}))?;
    /// assert_eq!((applied.popped(), applied.node()), (Some("default/web"), Some("a")));
    /// assert_eq!(engine.decide("default", "web")?.node(), None, "the original is as it was");
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn apply(&mut self, operation: &Value) -> Result<Applied, Error> {
        let refused = |error: &dyn std::fmt::Display| {
            let found = Error::new(ErrorKind::Operation, error).in_input("operation");
            match operation::subject(operation) {
                Some(object) => found.about(object),
                None => found,
            }
        };
        let step = operation::operation(operation).map_err(|error| refused(&error))?;
        let operation = step.on(self.scheduler.state().cluster()).map_err(|error| refused(&error))?;
        let before = BeforeOperation::of(&self.scheduler);
        let events = self.change(operation);
        Ok(Applied { report: OperationReport::after(&before, &events, &self.scheduler) })
    }

    fn change(&mut self, operation: Operation) -> Vec<Event> {
        self.comparer = OnceLock::new();
        self.scheduler.apply(operation)
    }

    /// Runs the scheduler until nothing changes: every pending pod is tried once after the last change, and time passes where backoffs and
    /// grace periods need it.
    ///
    /// # Errors
    /// When the nodes are unknown.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let cluster = "
    /// {kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 1}}}
    /// ---
    /// {kind: Pod, metadata: {name: p}}
    /// ---
    /// {kind: Pod, metadata: {name: q}}
    /// ";
    /// let mut fork = Engine::builder().objects(cluster).build()?;
    /// let settled = fork.settle()?;
    /// assert_eq!(settled.bound().collect::<Vec<_>>(), [("default/p".to_owned(), "a")]);
    /// assert_eq!(settled.pending().collect::<Vec<_>>(), ["default/q"]);
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn settle(&mut self) -> Result<Settled, Error> {
        self.settle_watching(&mut |_| ())
    }

    fn settle_watching(&mut self, watch: &mut dyn FnMut(&[Event])) -> Result<Settled, Error> {
        if self.scheduler.state().cluster().unknown.unread(crate::cluster::Kind::Node).is_some() {
            return Err(Error::new(ErrorKind::NodesUnknown, "the nodes are unknown, so that no pod can be placed"));
        }
        let (start, mut quiescence, mut settled) = (self.scheduler.state().clock(), Quiescence::default(), Settled::default());
        let mut bound = StepBound::of(&self.scheduler);
        while let Some(operation) = bound.next_operation(&self.scheduler, &quiescence) {
            let events = self.change(operation);
            quiescence.observe(&events);
            settled.operations += 1;
            for event in &events {
                match event {
                    Event::PodBound { pod, node } => settled.bound.push((pod.clone(), node.clone())),
                    Event::VictimEvicted { pod, .. } => settled.evicted.push(Key::clone(pod)),
                    _ => {}
                }
            }
            watch(&events);
        }
        let state = self.scheduler.state();
        settled.took = state.clock().duration_since(start);
        settled.is_cut_short = bound.is_reached();
        settled.pending = state.queue().view().entries.keys().cloned().collect();
        settled.pending.sort_unstable();
        Ok(settled)
    }

    /// Returns the queues.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let pods = "{kind: Pod, metadata: {name: p}}\n---\n{kind: Pod, metadata: {name: q}, spec: {priority: 5, nodeSelector: {a: b}}}\n";
    /// let mut fork = Engine::builder().objects("{kind: Node, metadata: {name: n}}").objects(pods).build()?;
    /// assert_eq!(fork.queues().active().collect::<Vec<_>>(), ["default/q", "default/p"]);
    /// fork.apply(&serde_json::json!({"op": "schedule"}))?;
    /// assert_eq!(fork.queues().unschedulable().collect::<Vec<_>>(), ["default/q"]);
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn queues(&self) -> Queues {
        Queues { report: QueuesReport::of(self.scheduler.state()) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_decision_after_a_change_is_about_the_changed_cluster() {
        let cluster = "{kind: Node, metadata: {name: a}, spec: {unschedulable: true}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n\
                       {kind: Pod, metadata: {name: web}}";
        let mut engine = Engine::builder().objects(cluster).build().unwrap();
        assert_eq!(engine.decide("default", "web").unwrap().node(), None);
        let open = json!({"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}});
        engine.apply(&json!({"op": "update", "object": open})).unwrap();
        assert_eq!(engine.decide("default", "web").unwrap().node(), Some("a"));
        let before = engine.clone();
        engine.apply(&json!({"op": "schedule"})).unwrap();
        assert_eq!(engine.decide("default", "web").unwrap_err().kind(), ErrorKind::NotPending);
        assert_eq!(before.decide("default", "web").unwrap().node(), Some("a"));
    }
}
