use proptest::prelude::*;

use crate::cluster::Object;
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
fn only_the_next_pod_like_the_last_one_is_not_tried() {
    let waiting = |name: &str, cpu: u32| pod(name, 0, cpu, "", "app=web");
    let objects = || vec![node("n1"), node("n2"), waiting("a", 90), waiting("b", 90), waiting("c", 91), waiting("d", 91)];
    let mut all = quiet(objects());
    let taken: Vec<bool> = (0..4).map(|_| steps(&mut all) > 0).collect();
    assert_eq!(taken, [true, false, true, false]);
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
