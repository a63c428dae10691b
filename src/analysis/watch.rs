//! Changes for an operator on call: pods that begin or stop to be pending, preemptions, and budgets that are violated.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use super::agreement::preempted;
use super::missing::Missing;
use super::why::why;
use crate::cluster::{Cluster, Key, Kind, MissingReason, ObservedEvent, Str, Uid};
use crate::limits::engine::WATCH_DECISIONS;
use crate::scheduler::Scheduler;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "event")]
pub enum Happened {
    /// The watch began.
    Started {
        /// The number of pending pods; `None` if pods are not known whole.
        pending: Option<usize>,
        /// The number of budgets that are violated; `None` if budgets are not known whole.
        budgets_violated: Option<usize>,
    },
    /// Kinds are not known whole: what happened to their objects that the state lacks is unknown.
    Unknown {
        /// The kinds, of nodes, pods and budgets; none if all are known again.
        missing: Vec<Missing>,
    },
    /// A pod is pending.
    Pending {
        pod: Key,
        /// The decision about it in a sentence; `None` if too many pods became pending at once.
        sentence: Option<String>,
    },
    /// A pod is pending no more.
    PendingNoMore {
        pod: Key,
        /// The node that it was bound to; `None` if it is deleted, or has ended.
        node: Option<Str>,
    },
    /// A pod was preempted.
    Preempted {
        /// The victim.
        pod: Key,
        /// The node it ran on; `None` if that is not known.
        node: Option<Str>,
        /// The pod it was evicted for; `None` if that is not known.
        preemptor: Option<Key>,
    },
    /// Fewer pods of a budget are healthy than must be.
    BudgetViolated {
        budget: Key,
        /// The number of healthy pods.
        healthy: i32,
        /// The number of pods that must be healthy.
        desired: i32,
    },
    /// As many pods of a budget are healthy again as must be.
    BudgetMet { budget: Key },
}

/// Something that happened, with the time of the state that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WatchEvent {
    pub time: Timestamp,
    /// The change.
    #[serde(flatten)]
    pub happened: Happened,
}

impl WatchEvent {
    /// Returns the event as a line.
    pub fn line(&self) -> String {
        let time = self.time.strftime("%Y-%m-%dT%H:%M:%SZ");
        let words = match &self.happened {
            Happened::Started { pending, budgets_violated } => {
                let [pending, violated] =
                    [pending, budgets_violated].map(|number| number.map_or_else(|| "?".to_owned(), |n| n.to_string()));
                format!("watching: pending pods: {pending}, violated budgets: {violated}")
            }
            Happened::Unknown { missing } if missing.is_empty() => "known again: nodes, pods and budgets".to_owned(),
            Happened::Unknown { missing } => {
                format!("unknown: {}", missing.iter().map(Missing::clause).collect::<Vec<_>>().join("; "))
            }
            Happened::Pending { pod, sentence: Some(sentence) } => format!("pending {pod}: {sentence}"),
            Happened::Pending { pod, sentence: None } => format!("pending {pod}: not decided, as too many pods became pending at once"),
            Happened::PendingNoMore { pod, node: Some(node) } => format!("pending no more {pod}: bound to {node}"),
            Happened::PendingNoMore { pod, node: None } => format!("pending no more {pod}: deleted, or ended"),
            Happened::Preempted { pod, node, preemptor } => {
                let on = node.as_ref().map_or_else(String::new, |node| format!(" on {node}"));
                let by = preemptor.as_ref().map_or_else(|| " for a pod that is not known".to_owned(), |by| format!(" for {by}"));
                format!("preempted {pod}{on}{by}")
            }
            Happened::BudgetViolated { budget, healthy, desired } => {
                format!("budget violated {budget}: {healthy} healthy of {desired} that must be")
            }
            Happened::BudgetMet { budget } => format!("budget met again {budget}"),
        };
        format!("{time} {words}")
    }
}

/// The part of a state that the next one is compared with.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The pending pods, with their uids.
    pending: BTreeMap<Key, Uid>,
    /// The victims of preemption that events or conditions show.
    victims: BTreeSet<Key>,
    /// The budgets that are violated.
    violated: BTreeSet<Key>,
    /// The kinds that are not known whole.
    missing: Vec<Missing>,
}

impl Watched {
    /// Reads a state; `wanted` selects pods and budgets.
    pub fn of(cluster: &Cluster, events: &[ObservedEvent], wanted: &impl Fn(&Key) -> bool) -> Self {
        let pending = cluster.pods.iter().filter(|pod| pod.is_pending() && wanted(&pod.key()));
        let violated = cluster.pod_disruption_budgets.iter().filter(|budget| budget.status.current_healthy < budget.status.desired_healthy);
        Self {
            pending: pending.map(|pod| (pod.key(), pod.metadata.uid.clone())).collect(),
            victims: preempted(cluster, events).into_iter().map(|preempted| preempted.victim).collect(),
            violated: violated.map(|budget| budget.metadata.key()).filter(wanted).collect(),
            missing: Missing::brief(cluster.unknown).into_iter().filter(is_watched).collect(),
        }
    }

    /// Returns the events that a watch begins with.
    pub fn started(&self, time: Timestamp) -> Vec<WatchEvent> {
        let counted = |kind: Kind, number: usize| self.missing.iter().all(|missing| missing.kind != kind).then_some(number);
        let pending = counted(Kind::Pod, self.pending.len());
        let budgets_violated = counted(Kind::PodDisruptionBudget, self.violated.len());
        let unknown = (!self.missing.is_empty()).then(|| Happened::Unknown { missing: self.missing.clone() });
        std::iter::once(Happened::Started { pending, budgets_violated })
            .chain(unknown)
            .map(|happened| WatchEvent { time, happened })
            .collect()
    }

    /// Keeps what an earlier state shows of the objects that this one may lack.
    fn keep_unknown(&mut self, before: &Self, cluster: &Cluster) {
        let pods = &cluster.pods;
        let has_pods = |namespace: &Str| pods.in_namespace(namespace).next().is_some();
        for (pod, uid) in before.pending.iter().filter(|(pod, _)| pods.get(pod).is_none()) {
            if cluster.unknown.may_lack(Kind::Pod, || has_pods(&pod.namespace)) {
                self.pending.insert(pod.clone(), uid.clone());
            }
        }
        let budgets = &cluster.pod_disruption_budgets;
        let has_budgets = |namespace: &Str| budgets.in_namespace(namespace).next().is_some();
        for budget in before.violated.iter().filter(|budget| budgets.get(budget).is_none()) {
            if cluster.unknown.may_lack(Kind::PodDisruptionBudget, || has_budgets(&budget.namespace)) {
                self.violated.insert(budget.clone());
            }
        }
    }

    /// Goes on to the next state, and returns what happened. `events` are those since the last state; `scheduler` makes a scheduler on the
    /// state, and is called only if a pod began to be pending.
    pub fn next<E>(
        &mut self,
        time: Timestamp,
        cluster: &Cluster,
        events: &[ObservedEvent],
        wanted: &impl Fn(&Key) -> bool,
        scheduler: impl FnOnce() -> Result<Scheduler, E>,
    ) -> Result<Vec<WatchEvent>, E> {
        let mut now = Self::of(cluster, events, wanted);
        now.keep_unknown(self, cluster);
        let mut happened = Vec::new();
        if now.missing != self.missing {
            happened.push(Happened::Unknown { missing: now.missing.clone() });
        }
        for found in preempted(cluster, events) {
            let is_wanted = wanted(&found.victim) || found.preemptor.as_ref().is_some_and(wanted);
            if !self.victims.contains(&found.victim) && is_wanted {
                let node = Some(found.node).filter(|node| !node.is_empty());
                happened.push(Happened::Preempted { pod: found.victim, node, preemptor: found.preemptor });
            }
        }
        for budget in &now.violated - &self.violated {
            if let Some(found) = cluster.pod_disruption_budgets.get(&budget) {
                let (healthy, desired) = (found.status.current_healthy, found.status.desired_healthy);
                happened.push(Happened::BudgetViolated { budget, healthy, desired });
            }
        }
        happened.extend((&self.violated - &now.violated).into_iter().map(|budget| Happened::BudgetMet { budget }));
        for pod in self.pending.keys().filter(|pod| !now.pending.contains_key(*pod)) {
            let node = cluster.pods.get(pod).filter(|pod| !pod.is_terminal()).map(|pod| pod.node_name.clone());
            happened.push(Happened::PendingNoMore { pod: pod.clone(), node: node.filter(|node| !node.is_empty()) });
        }
        let came: Vec<&Key> = now.pending.iter().filter(|(pod, uid)| self.pending.get(*pod) != Some(*uid)).map(|(pod, _)| pod).collect();
        if !came.is_empty() {
            let scheduler = scheduler()?;
            for (at, pod) in came.into_iter().enumerate() {
                let decided = scheduler.state().cluster().pods.get(pod).filter(|_| at < WATCH_DECISIONS);
                let sentence = decided.map(|pod| why(&scheduler.view_of(pod)));
                happened.push(Happened::Pending { pod: pod.clone(), sentence });
            }
        }
        *self = now;
        Ok(happened.into_iter().map(|happened| WatchEvent { time, happened }).collect())
    }
}

/// Returns whether a missing kind is one that a watch is about. Namespaces that were read show all of their own.
fn is_watched(missing: &Missing) -> bool {
    matches!(missing.kind, Kind::Node | Kind::Pod | Kind::PodDisruptionBudget) && missing.why != MissingReason::Partial
}

#[cfg(test)]
mod tests;
