//! A scheduler on a few objects, and its decision about one of them, as `explain -o json` prints it.

use jiff::Timestamp;
use schedscope::cluster::{Key, Object};
use schedscope::release::Emulation;
use schedscope::report::Decision;
use schedscope::scheduler::{Config, Evictions, Options, Sampling, Scheduler};
use schedscope::trace::CycleView;
use serde_json::Value;

/// Returns a scheduler of the default configuration that filters every node and keeps the grace period of victims.
pub(crate) fn scheduler(objects: Vec<Object>, start: Timestamp) -> Scheduler {
    let sampling = Sampling { all_nodes: true, ..Sampling::default() };
    Scheduler::new(
        Config::defaults(Emulation::default()),
        objects,
        Options { start, sampling, evictions: Evictions::Marked, ..Options::default() },
    )
}

/// Decides about a pod now; returns the folded events.
pub(crate) fn explained(scheduler: &Scheduler, pod: &Key) -> CycleView {
    let pod = scheduler.state().cluster().pods.get(pod).expect("the pod is in the cluster");
    CycleView::of(&scheduler.explain(pod))
}

/// Decides about a pod now; returns the decision as JSON.
pub(crate) fn decision(scheduler: &Scheduler, pod: &Key) -> Value {
    serde_json::to_value(Decision::of(&explained(scheduler, pod))).expect("plain data")
}
