use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::cluster::{Meta, Node};
use crate::framework::{NodeInfo, PluginName};

/// Nodes of the snapshot; a drawn name beyond is of no node.
const NODES: usize = 7;

fn name(number: usize) -> Str {
    format!("n{number}").as_str().into()
}

fn snapshot(nodes: usize) -> Snapshot {
    let node = |number| Node { metadata: Meta { name: name(number), ..Meta::default() }, ..Node::default() };
    Snapshot::of((0..nodes).map(|number| NodeInfo::new(Arc::new(node(number)))))
}

fn statuses(count: usize) -> Vec<Status> {
    let rejected = |number: usize| Status::unschedulable(format!("reason {number}")).with_plugin(PluginName::NodeName);
    [Status::success()].into_iter().chain((1..count).map(rejected)).collect()
}

fn of_node(node: usize, status: &Status) -> Event {
    Event::NodeFiltered { node: name(node), status: status.clone(), nominated: SharedList::default() }
}

fn other(number: usize) -> Event {
    Event::FilterStopped { evaluated: number, of: 0, wanted: 0 }
}

/// Returns events of all kinds that the packing tells apart: other ones, walks from a node of the snapshot on, and single nodes.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let all = statuses(12);
    let status = (0..all.len(), any::<bool>()).prop_map(move |(at, shared)| {
        // A status that is equal to another need not share its memory.
        if shared { all[at].clone() } else { statuses(12).swap_remove(at) }
    });
    let pods = prop_oneof![4 => Just(Vec::new()), 1 => Just(vec![Key::new("ns", "a"), Key::new("ns", "b")])];
    let step = (status, pods);
    let part = prop_oneof![
        (0..9_usize).prop_map(|number| vec![other(number)]),
        (0..NODES + 1, prop::collection::vec(step, 1..2 * NODES)).prop_map(|(from, steps)| {
            let walked = |(i, (status, pods)): (usize, (Status, Vec<Key>))| {
                let node = if from < NODES { (from + i) % NODES } else { from };
                Event::NodeFiltered { node: name(node), status, nominated: pods.into() }
            };
            steps.into_iter().enumerate().map(walked).collect()
        }),
    ];
    prop::collection::vec(part, 0..7).prop_map(|parts| parts.concat())
}

fn is_filtered(event: &Event) -> bool {
    matches!(event, Event::NodeFiltered { .. })
}

proptest! {
    /// Packed events read as those that were packed, whichever way they are read.
    #[test]
    fn packed_events_are_the_same(events in events()) {
        let packed = RecordedEvents::new(events.clone(), &snapshot(NODES));
        prop_assert_eq!((packed.len(), packed.is_empty()), (events.len(), events.is_empty()));
        prop_assert!(packed.iter().eq(events.iter().map(Cow::Borrowed)));
        prop_assert!(packed.iter().rev().eq(events.iter().rev().map(Cow::Borrowed)));
        prop_assert_eq!(format!("{packed:?}"), format!("{events:?}"));
        prop_assert_eq!(&packed, &RecordedEvents::new(events.clone(), &Snapshot::default()));
        let others: Vec<&Event> = events.iter().filter(|event| !is_filtered(event)).collect();
        prop_assert_eq!(packed.others().iter().collect::<Vec<_>>(), others.clone());
        for at in 0..events.len() + 3 {
            for wanted in 0..NODES {
                let met = |event: &Event| !is_filtered(event) || *event.node().unwrap() == name(wanted) || event.plugin().is_none();
                let found = packed.position(at, |node, status| *node == name(wanted) || status.plugin().is_none());
                prop_assert_eq!(found, (at..events.len()).find(|at| met(&events[*at])));
            }
            prop_assert_eq!(packed.get(at), events.get(at).map(Cow::Borrowed));
            let before = events.iter().take(at).filter(|event| !is_filtered(event)).count();
            prop_assert_eq!(packed.others_before(at).len(), before);
            if at <= events.len() {
                prop_assert!(packed.range(at..events.len()).eq(events[at..].iter().map(Cow::Borrowed)));
            }
        }
        for wanted in others {
            prop_assert_eq!(packed.rposition_of_other(|event| event == wanted), events.iter().rposition(|event| event == wanted));
        }
        prop_assert_eq!(packed.rposition_of_other(is_filtered), None);
    }
}

#[test]
fn a_walk_over_the_nodes_shares_their_names() {
    let (snapshot, all) = (snapshot(NODES), statuses(3));
    let walk = |nodes: &[usize]| {
        let events = nodes.iter().map(|node| of_node(*node, &all[node % 3])).chain([other(0)]).collect();
        let packed = RecordedEvents::new(events, &snapshot);
        assert_eq!(packed.runs.len(), 1);
        packed.runs[0].clone()
    };
    for nodes in [&[0, 1, 2, 3, 4, 5, 6][..], &[5, 6, 0, 1, 2, 3, 4], &[3], &[6, 0]] {
        let run = walk(nodes);
        assert!(Arc::ptr_eq(&run.names, &snapshot.names()), "{nodes:?}");
        assert!(run.statuses.len() <= 3 && run.nominated.is_empty());
    }
    for nodes in [&[0, 2][..], &[7, 0], &[6, 0, 1, 2, 3, 4, 5, 6]] {
        assert_eq!(walk(nodes).names.len(), nodes.len(), "{nodes:?} have names of their own");
    }
}

#[test]
fn many_statuses_take_several_runs() {
    let all = statuses(1000);
    let events: Vec<Event> = (0..3000).map(|i| of_node(i % 1500, &all[i * 7 % 1000])).collect();
    for nodes in [0, 1500, 4000] {
        let packed = RecordedEvents::new(events.clone(), &snapshot(nodes));
        assert!((4..=15).contains(&packed.runs.len()), "{}", packed.runs.len());
        assert!(packed.iter().eq(events.iter().map(Cow::Borrowed)));
    }
    let few: Vec<Event> = (0..3000).map(|i| of_node(i, &all[i % 8])).collect();
    let packed = RecordedEvents::new(few, &snapshot(3000));
    assert_eq!((packed.runs.len(), packed.runs[0].statuses.len(), packed.runs[0].status_of.len()), (1, 8, 3000));
}
