//! Tests of `agreement`.

use serde_json::json;

use super::*;
use crate::cluster::testing::object_with_kind;
use crate::release::Emulation;
use crate::scheduler::{Config, Options};

#[test]
fn pods_that_are_left_by_the_bound_are_not_decided() {
    let pod = |name: &str| object_with_kind(&json!({"kind": "Pod", "metadata": {"name": name, "namespace": "d"}}));
    let node = object_with_kind(&json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "0"}}}));
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), vec![node, pod("a"), pod("b"), pod("c")], Options::default());
    let found = |most: u64| Agreements::of_some(&scheduler, &[], Vec::new(), (|_: &Key| true, most), |_| true);
    let names = |keys: &[Key]| keys.iter().map(|key| key.name.to_string()).collect::<Vec<_>>();
    // One pod is decided in any case.
    let first = found(1);
    assert_eq!((first.pods.len(), names(&first.not_decided)), (1, vec!["b".to_owned(), "c".to_owned()]));
    let text = first.text().to_string();
    assert!(text.contains("1 pending pod. ") && text.contains(" 2 more are not decided, as the others took all steps."), "{text}");
    assert!(text.contains("d/b, d/c"), "{text}");
    assert_eq!(serde_json::to_value(&first).unwrap()["notDecided"].as_array().map(Vec::len), Some(2));
    let all = found(1_000_000);
    assert_eq!((all.pods.len(), all.not_decided.len()), (3, 0));
    assert!(!all.text().to_string().contains("not decided") && serde_json::to_value(&all).unwrap().get("notDecided").is_none());
    assert_eq!(Agreements::within_bound(&scheduler, &[], |_| true).pods.len(), 3);
}
