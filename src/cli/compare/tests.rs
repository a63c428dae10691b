//! Tests of comparisons.

use serde_json::json;

use super::*;
use crate::cluster::testing::object_with_kind;
use crate::release::Emulation;
use crate::scheduler::Config;

#[test]
fn pods_that_are_compared_are_bounded_by_steps() {
    let pod = |i: usize| {
        let value = json!({"kind": "Pod", "metadata": {"name": format!("p{i}")}, "spec": {"schedulerName": "default-scheduler"}});
        object_with_kind(&value)
    };
    let node = json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}});
    let objects = (0..40).map(pod).chain([object_with_kind(&node)]).collect();
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default());
    let schedulers = [&scheduler, &scheduler];
    let left = |most: u64| {
        let mut taken = 0;
        let left = decide_within(most, schedulers, &pending(schedulers), |_, decided| {
            taken += decided.len();
            Ok(())
        });
        (taken, left.unwrap_or_default())
    };
    // Two decisions of ten steps for each pod.
    let some = AT_ONCE as u64 * 20 * RUN_STEPS_OF_COMPARED;
    assert_eq!([0, 1, some, some + 1, u64::MAX].map(left), [(0, 40), (16, 24), (16, 24), (32, 8), (40, 0)]);
}
