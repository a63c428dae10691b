//! Answers of an engine besides decisions.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::Decision;
use crate::analysis::FixesReport;
use crate::cluster::{Key, Str};
use crate::report::{Answer, OperationReport, QueuesReport, SCHEMA_VERSION, WhatIfReport};

/// Changes that let a pod in, each verified by a decision.
#[derive(Clone, Debug)]
pub struct Fixes {
    pub(super) decision: Decision,
    pub(super) report: FixesReport,
}

impl Fixes {
    /// Returns the decision without any change.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Returns the answer as JSON: the same object as `schedscope explain --fixes -o json`, with the changes in `fixes.fixes`.
    pub fn to_json(&self) -> Value {
        self.decision.json(Some(&self.report))
    }
}

/// The end of the pods if something happens.
#[derive(Clone, Debug)]
pub struct WhatIf {
    pub(super) report: WhatIfReport,
}

impl WhatIf {
    /// Returns whether all of it was done: nodes drained, pods placed, at least one more fits.
    pub fn is_complete(&self) -> bool {
        self.report.is_complete()
    }

    /// Returns the answer in a sentence.
    pub fn sentence(&self) -> String {
        self.report.headline()
    }

    /// Returns the answer as JSON: the same object as `schedscope run --what-if -o json`.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(Answer::WhatIf(&self.report)).unwrap_or_default()
    }
}

/// The result of an operation.
#[derive(Clone, Debug)]
pub struct Applied {
    pub(super) report: OperationReport,
}

impl Applied {
    /// Returns the pod that was popped from the queue, as `namespace/name`.
    pub fn popped(&self) -> Option<&str> {
        self.report.popped.as_deref()
    }

    /// Returns the node that the popped pod was bound to.
    pub fn node(&self) -> Option<&str> {
        self.report.node.as_deref()
    }

    /// Returns the result as JSON: the same object as a line of `schedscope run --ops -o json`.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(&self.report).unwrap_or_default()
    }
}

/// A run until nothing changes.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    pub(super) operations: usize,
    pub(super) took: SignedDuration,
    pub(super) bound: Vec<(Key, Str)>,
    pub(super) evicted: Vec<Key>,
    pub(super) pending: Vec<Key>,
    pub(super) is_cut_short: bool,
}

impl Settled {
    /// Returns the number of operations.
    pub fn operations(&self) -> usize {
        self.operations
    }

    /// Returns the time that passed in the cluster, in seconds.
    pub fn seconds(&self) -> f64 {
        self.took.as_secs_f64()
    }

    /// Returns the pods that were bound, as `namespace/name`, with their nodes, in order.
    pub fn bound(&self) -> impl Iterator<Item = (String, &str)> {
        self.bound.iter().map(|(pod, node)| (pod.to_string(), node.as_str()))
    }

    /// Returns the pods that were preempted, in order.
    pub fn evicted(&self) -> impl Iterator<Item = String> + '_ {
        self.evicted.iter().map(ToString::to_string)
    }

    /// Returns the pods that still wait, by name.
    pub fn pending(&self) -> impl Iterator<Item = String> + '_ {
        self.pending.iter().map(ToString::to_string)
    }

    /// Returns whether the run ended after as many steps as are allowed for a cluster of this size, so that pending pods that only time
    /// holds up are not decided.
    pub fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    /// Returns the run as JSON; `schedscope schema settled` prints its JSON Schema.
    pub fn to_json(&self) -> Value {
        let bound: Vec<Value> = self.bound().map(|(pod, node)| json!({"pod": pod, "node": node})).collect();
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "operations": self.operations,
            "seconds": self.seconds(),
            "bound": bound,
            "evicted": self.evicted().collect::<Vec<_>>(),
            "pending": self.pending().collect::<Vec<_>>(),
            "cutShort": self.is_cut_short,
        })
    }
}

/// The queues of the scheduler.
#[derive(Clone, Debug)]
pub struct Queues {
    pub(super) report: QueuesReport,
}

impl Queues {
    /// Returns the pods in activeQ in pop order, as `namespace/name`.
    pub fn active(&self) -> impl Iterator<Item = &str> {
        self.report.active.iter().map(String::as_str)
    }

    /// Returns the pods in backoffQ, with the end of their backoff in seconds since the engine was built.
    pub fn backoff(&self) -> impl Iterator<Item = (&str, f64)> {
        self.report.backoff.iter().map(|pod| (pod.pod.as_str(), pod.expires.as_f64().unwrap_or_default()))
    }

    /// Returns the pods in unschedulablePods by name, gated ones included.
    pub fn unschedulable(&self) -> impl Iterator<Item = &str> {
        self.report.unschedulable.iter().map(|pod| pod.pod.as_str())
    }

    /// Returns the queues as JSON: the same object as `queues` in a line of `schedscope run -o json`.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(&self.report).unwrap_or_default()
    }
}
