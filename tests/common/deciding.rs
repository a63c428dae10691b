//! A scheduler on a handful of objects, and what it decides about one of them, as `explain -o json` would print it.

use jiff::Timestamp;
use schedscope::cluster::{Key, Object};
use schedscope::release::Emulation;
use schedscope::report::Decision;
use schedscope::scheduler::{Config, Evictions, Options, Sampling, Scheduler};
use schedscope::trace::CycleView;
use serde_json::Value;

/// A scheduler of the default configuration that looks at every node and leaves victims their grace period.
pub(crate) fn scheduler(objects: Vec<Object>, start: Timestamp) -> Scheduler {
    let sampling = Sampling { all_nodes: true, ..Sampling::default() };
    Scheduler::new(
        Config::defaults(Emulation::default()),
        objects,
        Options { start, sampling, evictions: Evictions::Marked, ..Options::default() },
    )
}

/// What would be decided about a pod now, as events folded into a view.
pub(crate) fn explained(scheduler: &Scheduler, pod: &Key) -> CycleView {
    let pod = scheduler.state().cluster().pods.get(pod).expect("the pod is in the cluster");
    CycleView::of(&scheduler.explain(pod))
}

/// What would be decided about a pod now.
pub(crate) fn decision(scheduler: &Scheduler, pod: &Key) -> Value {
    serde_json::to_value(Decision::of(&explained(scheduler, pod))).expect("plain data")
}
