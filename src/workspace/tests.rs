//! The places where changes begin and end, and the branches on which they go.

use super::*;
use crate::cluster::testing::object_of as object;
use crate::cluster::{Kind, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, Operation, Options, Scheduler};
use crate::session::{Edit, Verb};
use serde_json::json;

/// One node of two CPUs and a pod that wants three.
fn workspace() -> Workspace {
    let node = json!({"metadata": {"name": "n", "uid": "n"}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}});
    let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "3"}}}]);
    let pod = json!({"metadata": {"name": "p", "namespace": "d", "uid": "p"},
                     "spec": {"schedulerName": "default-scheduler", "containers": containers}, "status": {"phase": "Pending"}});
    let objects = vec![object(Kind::Node, &node), object(Kind::Pod, &pod)];
    Workspace::new(Session::new(Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default()), "a test"))
}

fn apply(workspace: &mut Workspace, change: &Change) -> Result<Applied, ChangeError> {
    workspace.apply(change, &Tools { originals: &|_, _| None, go_on: &|| true })
}

fn cordon() -> Change {
    Change::Edit(Edit::Cordon("n".into()))
}

fn titles(workspace: &Workspace) -> Vec<&str> {
    workspace.session.timeline().revisions().iter().map(|revision| revision.title.as_str()).collect()
}

#[test]
fn the_first_edit_begins_a_branch_and_the_next_extends_it() {
    let mut w = workspace();
    assert_eq!(w.goes(), Goes::OnNewBranch);
    let first = apply(&mut w, &cordon()).unwrap();
    assert_eq!(first.branch, Some(("branch 2".into(), "main".into())));
    w.session.timeline_mut().seek(Cursor::END);
    assert_eq!(w.goes(), Goes::OnBranch);
    let next = apply(&mut w, &Change::Edit(Edit::Uncordon("n".into()))).unwrap();
    assert_eq!((next.branch, titles(&w)), (None, vec!["cordon n", "uncordon n"]));
}

#[test]
fn a_change_at_a_dry_decision_goes_before_it_and_the_decision_is_taken_again() {
    let mut w = workspace();
    let pod = Key::new("d", "p");
    w.session.explain(&pod).unwrap();
    w.session.timeline_mut().seek(Cursor::END);
    assert_eq!((w.begins(false), w.begins(true)), (Begins::BeforeDecision, Begins::AtCursor));
    apply(&mut w, &cordon()).unwrap();
    assert_eq!((titles(&w), w.session.branches().len()), (vec!["cordon n", "explain d/p"], 2));
    assert_eq!(w.session.explained(), Some(pod), "the cursor is at the decision");
    assert_eq!(w.begins(false), Begins::BeforeDecision);
}

#[test]
fn changes_at_a_cycle_go_on_at_the_end() {
    let mut w = workspace();
    assert!(w.session.run_next());
    w.session.timeline_mut().seek(Cursor::END);
    let more = Change::WhatIf("add 1 like n".parse::<Verb>().unwrap(), Some(Key::new("d", "p")));
    let applied = apply(&mut w, &more).unwrap();
    assert_eq!(applied.branch, Some(("branch 2".into(), "main".into())));
    let answer = applied.answer.unwrap();
    assert_eq!((answer.what_if.as_str(), answer.settles, answer.subject.is_some()), ("add 1 like n", true, true));
    assert_eq!(w.begins(false), Begins::AfterLast);
    apply(&mut w, &cordon()).unwrap();
    assert_eq!(w.session.branches().len(), 2, "it goes on on the same branch: {:?}", titles(&w));
}

#[test]
fn a_change_that_fails_leaves_the_session_as_it_was() {
    let mut w = workspace();
    w.session.explain(&Key::new("d", "p")).unwrap();
    w.session.timeline_mut().seek(Cursor::END);
    let (cursor, before) = (w.session.timeline().cursor(), titles(&w).len());
    for change in [
        Change::Edit(Edit::Cordon("none".into())),
        Change::WhatIf("drain none".parse().unwrap(), None),
        Change::File("/nonexistent".into(), None),
        Change::Advance(Advance::NextTimer),
        Change::Edit(Edit::Allow(Key::new("d", "p"))),
    ] {
        assert!(apply(&mut w, &change).is_err(), "{change:?}");
        assert_eq!((w.session.timeline().cursor(), titles(&w).len(), w.session.branches().len()), (cursor, before, 1), "{change:?}");
    }
}

#[test]
fn a_what_if_is_a_value_of_its_revisions() {
    let mut w = workspace();
    let verb: Verb = "taint n k=v:NoSchedule".parse().unwrap();
    apply(&mut w, &Change::WhatIf(verb.clone(), None)).unwrap();
    apply(&mut w, &cordon()).unwrap();
    w.session.timeline_mut().seek(Cursor::END);
    assert!(w.session.apply(Operation::Advance { seconds: 1 }));
    // Between them the scheduler runs, which is no what-if.
    let what_ifs = |session: &Session| -> Vec<Verb> {
        session.timeline().revisions().iter().filter_map(|revision| revision.action.what_if()).collect()
    };
    let expected = [verb, Verb::Edit(Edit::Cordon("n".into()))];
    assert!(w.session.timeline().revisions().len() > 2);
    assert_eq!(what_ifs(&w.session), expected);
    let mut file = Vec::new();
    w.session.save(&mut file).unwrap();
    assert_eq!(what_ifs(&Session::load(file.as_slice()).unwrap()), expected, "saved and loaded");
}

/// Two nodes; pods of a workload on one of them, and a low one on the other that its replacement evicts.
fn crowded() -> Workspace {
    let node = |name: &str| json!({"metadata": {"name": name, "uid": name}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}});
    let pod = |name: &str, on: &str, priority: i32| {
        let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": true}]);
        json!({"metadata": {"name": format!("{name}-1"), "namespace": "d", "uid": name, "ownerReferences": owner},
            "spec": {"schedulerName": "default-scheduler", "nodeName": on, "priority": priority,
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}, "status": {"phase": "Running"}})
    };
    let mut objects: Vec<Object> = ["n", "m"].iter().map(|name| object(Kind::Node, &node(name))).collect();
    objects.extend([pod("high", "n", 9), pod("low", "m", 0)].iter().map(|pod| object(Kind::Pod, pod)));
    Workspace::new(Session::new(Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default()), "a test"))
}

#[test]
fn a_what_if_says_which_other_pods_lose_and_which_are_made_again() {
    let mut w = crowded();
    let answer = apply(&mut w, &Change::WhatIf("drain n".parse().unwrap(), None)).unwrap().answer.unwrap();
    let said = answer.body.plain(crate::output::Headings::Colon).into_vec().join("\n");
    assert!(said.contains("1 other pod affected (without → with)") && said.contains("d/low-1: on m → "), "{said}");
    assert!(said.contains("preempted by d/high-"), "{said}");
    assert!(said.contains("1 preempted pod is made again by controllers, and not counted as pending"), "{said}");
}
