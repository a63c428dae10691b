//! Tests that what a cycle sees of PodDisruptionBudgets follows the cluster.

use crate::cluster::testing::object;
use crate::cluster::{Kind, Object};
use crate::framework::BudgetIndex;
use crate::release::Emulation;
use crate::scheduler::{Config, Operation, Options, Scheduler};

fn budget(namespace: &str, name: &str, allowed: i32, selector: &str) -> Object {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}},"spec":{{"selector":{selector}}},"status":{{"disruptionsAllowed":{allowed}}}}}"#
    );
    object(Kind::PodDisruptionBudget, &text)
}

#[test]
fn the_index_of_budgets_follows_the_cluster() {
    let web = r#"{"matchLabels":{"app":"web"}}"#;
    let objects = vec![budget("a", "x", 1, web), budget("b", "y", 1, web), budget("b", "none", 1, "null")];
    let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default());
    let check = |scheduler: &Scheduler, listed: usize| {
        let (state, snapshot) = (scheduler.state(), scheduler.state().snapshot());
        let rebuilt: BudgetIndex = state.cluster().pod_disruption_budgets.iter().collect();
        assert_eq!(*snapshot.budgets(), rebuilt);
        assert_eq!(["a", "b"].map(|n| snapshot.budgets().in_namespace(&n.into()).len()).iter().sum::<usize>(), listed);
    };
    check(&scheduler, 2);
    let before = scheduler.clone();
    for (operation, listed) in [
        (Operation::Update { object: budget("a", "x", 0, web) }, 2),
        (Operation::Create { object: budget("a", "w", 2, web) }, 3),
        (Operation::Update { object: budget("b", "none", 2, web) }, 4),
        (Operation::Update { object: budget("a", "w", 2, "{}") }, 3),
        (Operation::Delete { object: budget("a", "x", 0, web) }, 2),
    ] {
        scheduler.apply(operation);
        check(&scheduler, listed);
    }
    check(&before, 2);
}
