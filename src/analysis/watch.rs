//! Changes for an operator on call: pods that begin or stop to be pending, preemptions, and budgets that are violated.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use super::agreement::preempted;
use super::why::why;
use crate::cluster::{Cluster, Key, ObservedEvent, Str, Uid};
use crate::limits::engine::WATCH_DECISIONS;
use crate::scheduler::Scheduler;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "event")]
pub enum Happened {
    /// The watch began.
    Started {
        /// The number of pending pods.
        pending: usize,
        /// The number of budgets that are violated.
        budgets_violated: usize,
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
                format!("watching: pending pods: {pending}, violated budgets: {budgets_violated}")
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
        }
    }

    /// Returns the event that a watch begins with.
    pub fn started(&self, time: Timestamp) -> WatchEvent {
        let happened = Happened::Started { pending: self.pending.len(), budgets_violated: self.violated.len() };
        WatchEvent { time, happened }
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
        let now = Self::of(cluster, events, wanted);
        let mut happened = Vec::new();
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

#[cfg(test)]
mod tests;
