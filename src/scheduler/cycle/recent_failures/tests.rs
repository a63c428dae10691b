use proptest::prelude::*;

use crate::cluster::Object;
use crate::limits::engine::RECENT_FAILURES;
use crate::scheduler::testing::{changed, node, pod, scheduler};
use crate::scheduler::{Evictions, Operation, Quiescence, Scheduler};

fn quiet(objects: Vec<Object>) -> Scheduler {
    scheduler(Evictions::AtOnce, objects).quietly()
}

/// Returns how many steps the next attempt takes.
fn steps(scheduler: &mut Scheduler) -> u64 {
    let before = scheduler.state().steps;
    scheduler.apply(Operation::Schedule);
    scheduler.state().steps - before
}

#[test]
fn pods_like_one_that_failed_are_not_tried_while_nothing_changes() {
    let waiting = |name: &str, cpu: u32| pod(name, 0, cpu, "", "app=web");
    let objects = || vec![node("n1"), node("n2"), waiting("a", 90), waiting("b", 90), waiting("c", 91), waiting("d", 91)];
    let mut all = quiet(objects());
    let taken: Vec<bool> = (0..4).map(|_| steps(&mut all) > 0).collect();
    assert_eq!(taken, [true, false, true, false]);
    // Pods of several workloads in turn.
    let in_turn = ["a", "b", "c", "d", "e"].map(|name| waiting(name, if "ace".contains(name) { 90 } else { 91 }));
    let mut in_turn = quiet([node("n1"), node("n2")].into_iter().chain(in_turn).collect());
    let taken: Vec<bool> = (0..5).map(|_| steps(&mut in_turn) > 0).collect();
    assert_eq!(taken, [true, true, false, false, false]);
    // Anything else that happens may change the outcome.
    let mut disturbed = quiet(objects());
    assert!(steps(&mut disturbed) > 0);
    let labelled = changed(&disturbed, "c", |pod| pod.metadata.labels = [("app", "db".into())].into_iter().collect());
    disturbed.apply(Operation::Update { object: labelled });
    assert!(steps(&mut disturbed) > 0);
    // A run that is recorded has every node.
    let mut recorded = scheduler(Evictions::AtOnce, objects());
    assert!((0..4).all(|_| steps(&mut recorded) > 0));
}

#[test]
fn the_failures_of_a_number_of_workloads_are_kept() {
    // The same workloads come again in the same order, so the first one left out is the next one asked for.
    let tried_again = |workloads: usize| {
        let pods = (0..2 * workloads).map(|at| pod(&format!("p{at:04}"), 0, 90 + (at % workloads) as u32, "", "app=web"));
        let mut all = quiet([node("n1")].into_iter().chain(pods).collect());
        (0..2 * workloads).filter(|_| steps(&mut all) > 0).count() - workloads
    };
    assert_eq!((tried_again(RECENT_FAILURES), tried_again(RECENT_FAILURES + 1)), (0, RECENT_FAILURES + 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn quiet_runs_end_as_recorded_ones(
        bound in prop::collection::vec((0..2_i32, 1..4_u32, 0..3_usize), 0..8),
        waiting in prop::collection::vec((0..3_i32, 1..6_u32, 1..4_usize), 1..5),
    ) {
        let mut objects: Vec<Object> = ["n1", "n2", "n3"].map(node).to_vec();
        for (at, (priority, cpu, on)) in bound.iter().enumerate() {
            objects.push(pod(&format!("b{at}"), *priority, *cpu, ["n1", "n2", "n3"][*on], "app=old"));
        }
        for (at, (priority, cpu, copies)) in waiting.iter().enumerate() {
            objects.extend((0..*copies).map(|copy| pod(&format!("w{at}-{copy}"), *priority, *cpu, "", &format!("app=w{at}"))));
        }
        let settled = |mut scheduler: Scheduler| {
            let mut settling = Quiescence::default();
            while let Some(operation) = scheduler.next_operation(&settling) {
                settling.observe(&scheduler.apply(operation));
            }
            scheduler.state().cluster().pods.iter().cloned().collect::<Vec<_>>()
        };
        let recorded = settled(scheduler(Evictions::AtOnce, objects.clone()));
        prop_assert_eq!(settled(quiet(objects)), recorded);
    }
}
