//! Tests of `run`.

use serde_json::json;

use super::*;
use crate::cluster::testing::object_with_kind;
use crate::release::Emulation;
use crate::scheduler::{Config, Options};

#[test]
fn a_run_that_takes_too_many_steps_says_how_many_pods_are_not_decided() {
    let pod =
        |name: &str| object_with_kind(&json!({"kind": "Pod", "metadata": {"name": name}, "spec": {"schedulerName": "default-scheduler"}}));
    let node = json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}});
    let objects = vec![object_with_kind(&node), pod("a"), pod("b"), pod("c")];
    let text = |steps: u64| {
        let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects.clone(), Options::default());
        let (mut bound, mut doc) = (StepBound::after(scheduler.state(), steps), Document::default());
        settle(&mut scheduler, &mut bound, false, &mut doc);
        (bound.is_reached(), doc.plain(Headings::Capitals).to_string())
    };
    let (is_cut, cut) = text(11);
    assert!(is_cut && cut.starts_with("CUT SHORT after 0s: 2 scheduled, 0 pending, 1 not decided, 0 evicted or deleted\nNote: "), "{cut}");
    let (is_cut, whole) = text(21);
    assert!(!is_cut && whole.starts_with("SETTLED after 0s: 3 scheduled, 0 pending, 0 evicted or deleted\n"), "{whole}");
}
