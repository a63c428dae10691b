//! Tests of `node_facts`.

use super::*;
use crate::framework::{PluginName, Status};
use crate::trace::Verdict;
use crate::ui::testing;
use std::collections::BTreeSet;

fn snapshot(names: &[&str]) -> Snapshot {
    Snapshot::of(names.iter().map(|name| NodeInfo::new(Arc::new(testing::node(name, "1", "1Gi")))))
}

#[test]
fn facts_are_those_that_a_look_up_by_name_returns() {
    let snapshot = snapshot(&["d", "b", "a", "c", "e"]);
    let verdict = |status: Status| Verdict { status, nominated: Vec::new().into() };
    let taint = || Status::unresolvable("taint").with_plugin(PluginName::TaintToleration);
    let mut cycle = CycleView::default();
    cycle.filter.verdicts.insert("a".into(), verdict(Status::success()));
    cycle.filter.verdicts.insert("b".into(), verdict(taint()));
    cycle.filter.verdicts.insert("gone".into(), verdict(taint()));
    cycle.filter.verdicts.insert("c".into(), verdict(Status::unschedulable("ports").with_plugin(PluginName::NodePorts)));
    let kept: Vec<Str> = ["a", "b", "c", "e"].map(Str::from).into();
    let mut narrowed = cycle.clone();
    narrowed.pre_filter.narrowed = Some((kept.into(), taint()));
    for cycle in [cycle, narrowed] {
        let (facts, verdicts) = (NodeFacts::of(&cycle, &snapshot, Arc::default()), Verdicts::new(&cycle));
        let mut causes = BTreeSet::new();
        for (at, node) in snapshot.nodes().iter().enumerate() {
            let verdict = verdicts.of(node.name());
            assert_eq!(facts.class(at), verdict.class);
            let cause = verdict.cause();
            assert_eq!(*facts.cause(facts.cause_index(at)), cause, "{}", node.name());
            causes.insert(cause);
        }
        assert!(facts.causes.is_sorted());
        assert!(causes.iter().all(|cause| facts.causes.contains(cause)));
        let name = |at: &u32| snapshot.nodes()[*at as usize].name().as_str();
        let names = |order| facts.sorted(order, &cycle, &snapshot).iter().map(name).collect::<Vec<_>>();
        assert_eq!(names(Sort::Name), ["a", "b", "c", "d", "e"]);
        assert_eq!(names(Sort::Usual)[..2], ["a", "c"]);
        assert_eq!(names(Sort::Verdict)[..2], ["a", "c"]);
    }
}

#[test]
fn facts_of_an_earlier_moment_are_those_that_its_verdicts_give() {
    let snapshot = snapshot(&["d", "b", "a", "c", "e"]);
    let verdict = |status: Status| Verdict { status, nominated: Vec::new().into() };
    let rejected = |reason: &'static str| Status::unschedulable(reason).with_plugin(PluginName::NodePorts);
    let mut whole = CycleView::default();
    whole.filter.verdicts.extend(["a", "b", "c", "gone"].map(|node| (node.into(), verdict(Status::success()))));
    // An extender rejects a node that fitted before.
    whole.filter.verdicts.insert("c".into(), verdict(rejected("ports")));
    let kept: Vec<Str> = ["a", "b", "c"].map(Str::from).into();
    let mut narrowed = whole.clone();
    narrowed.pre_filter.narrowed = Some((kept.into(), rejected("zone")));
    for whole in [whole, narrowed] {
        let all = NodeFacts::of(&whole, &snapshot, Arc::default());
        for known in [&["a", "b", "c", "gone"][..], &["a"], &["b", "gone"], &["c", "other"], &[]] {
            let verdicts = known.iter().map(|node| (Str::from(*node), verdict(Status::success())));
            let mut cycle = whole.clone();
            cycle.filter.verdicts = verdicts.collect();
            let mut early = cycle.clone();
            early.pre_filter.narrowed = None;
            for cycle in [early, cycle] {
                let (found, expected) = (all.so_far(&whole, &cycle, &snapshot), NodeFacts::of(&cycle, &snapshot, Arc::default()));
                for at in 0..snapshot.len() {
                    assert_eq!(found.cause_of(at), expected.cause_of(at), "{known:?}, {at}");
                }
                assert!(found.causes.is_sorted());
            }
        }
        assert!(all.so_far(&whole, &whole, &snapshot).are_alike(&all));
    }
}
