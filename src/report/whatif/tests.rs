use super::*;
use crate::cluster::{Kind, MissingReason, testing::object};
use crate::release::Emulation;
use crate::scheduler::{Config, Options, Scheduler};

/// A pod may be held back only because others of its group were not created.
#[test]
fn pods_are_not_decided_where_others_were_not_created() {
    let gated = r#"{"metadata":{"name":"web","namespace":"d"},"spec":{"schedulerName":"default-scheduler","schedulingGates":[{"name":"g"}],"containers":[]}}"#;
    let end = Scheduler::new(Config::defaults(Emulation::default()), vec![object(Kind::Pod, gated)], Options::default());
    let said = |notes: Vec<Note>| {
        let mut answer = Answer::new("scale rs/d/web 2".parse().unwrap());
        answer.pods.push(PodAnswer { pod: Key::new("d", "web"), node: Str::default(), end: PodEnd::Created });
        answer.notes = notes;
        let report = WhatIfReport::new(vec![answer], &end, Vec::new());
        report.sentence(&report.answers[0])
    };
    assert_eq!(said(vec![Note::CutShort]), "1 pod pending");
    assert_eq!(said(vec![Note::CutShort, Note::NotCreated(1)]), "1 pod not decided");
}

#[test]
fn of_many_nodes_with_the_same_end_the_first_are_named_and_the_others_counted() {
    let node = |i: usize, end| NodeAnswer { node: format!("n{i}").into(), end };
    let said = |lost: usize| {
        let mut nodes: Vec<NodeAnswer> = (0..lost).map(|i| node(i, NodeEnd::Lost)).collect();
        let block = Block::Exhausted { budget: Key::new("a", "c"), allowed: 1, healthy: Some((2, 1)) };
        nodes.push(node(99, NodeEnd::Bare { pods: vec![Key::new("a", "b")], blocks: vec![block] }));
        let mut document = Document::default();
        node_lines(&mut document, &nodes);
        document.plain(Headings::Colon).iter().map(|line| line.trim_start().to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(said(20).len(), 22);
    let lines = said(21);
    assert_eq!((lines.len(), lines[22].as_str()), (23, "1 more node is lost"));
    assert_eq!(lines[20], "n99 is cordoned, but nothing is evicted: no controller would replace a/b");
    assert_eq!(lines[21], "n99 would not be drained with --force either: budget a/c allows 1 disruption: 2 healthy, 1 desired");
    assert_eq!(said(1_667).last().map(String::as_str), Some("1647 more nodes are lost"));
}

#[test]
fn a_capacity_says_whether_the_pod_itself_is_counted() {
    let said = |is_pending, fits, end| {
        let pod = Key::new("a", "b");
        capacity_sentence(&Capacity { pod, is_pending, others: 0, fits, nodes: BTreeMap::new(), end, next: None })
    };
    let full = |is_pending, fits| said(is_pending, fits, CapacityEnd::Full(String::new()));
    assert_eq!(
        [0, 1, 2].map(|fits| full(true, fits)),
        ["this pod does not fit", "this pod fits, and no more like it", "this pod and 1 more like it fit"]
    );
    assert_eq!(
        [0, 1, 8370].map(|fits| full(false, fits)),
        ["no more pods like it fit", "1 more pod like it fits", "8,370 more pods like it fit"]
    );
    assert_eq!(said(true, 10_000, CapacityEnd::Limit), "this pod and 9,999 more like it fit, and maybe more: no more were tried");
    assert_eq!(said(false, 0, CapacityEnd::Cancelled), "the count was stopped before one was found to fit");
}

#[test]
fn a_note_says_why_budgets_are_unknown() {
    let said = |why| note_sentence(&Note::BudgetsUnknown(why));
    assert_eq!(
        said(MissingReason::NotInSource),
        "Note: the source contains no PodDisruptionBudgets, so whether one would block is unknown."
    );
    assert_eq!(said(MissingReason::Failed), "Note: not all PodDisruptionBudgets could be read, so whether one would block is unknown.");
}
