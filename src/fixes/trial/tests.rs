//! Tests of `trial`.

use serde_json::json;

use super::*;

#[test]
fn dry_runs_count_for_pods_with_many_demands() {
    let steps = |terms: usize| {
        let term = json!({"topologyKey": "zone", "labelSelector": {}});
        let affinity = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": vec![term; terms]}});
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": {"affinity": affinity}})).unwrap();
        steps_of_dry_runs(4_000_000, &pod)
    };
    assert_eq!((steps(0), steps(4)), (0, 0));
    assert!(steps(10) < 400_000 && (900_000..1_000_000).contains(&steps(500)), "{} {}", steps(10), steps(500));
}
