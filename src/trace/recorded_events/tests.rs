use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::cluster::{Meta, Node};
use crate::framework::{NodeInfo, PluginName, PodInfo};

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

/// Returns the end of the dry run of a node that removed some pods and filtered; with no pods it has no steps.
fn dry_run(pods: usize) -> Event {
    let pod = |number| Pod { metadata: Meta { name: name(number), ..Meta::default() }, ..Pod::default() };
    let removed: Vec<Arc<PodInfo>> = (0..pods).map(|number| Arc::new(PodInfo::new(Arc::new(pod(number))))).collect();
    let filtered = (pods > 0).then(Status::success);
    Event::DryRunFinished(Arc::new(NodeDryRun { node: name(pods), removed: removed.into(), filtered, ..NodeDryRun::default() }))
}

/// Returns the events with the steps of the dry runs.
fn unfolded(events: &[Event]) -> Vec<Event> {
    let steps = |event: &Event| match event {
        Event::DryRunFinished(run) => (0..run.len()).map(|number| Event::DryRunStepped(DryRunStepAt::new(run.clone(), number))).collect(),
        _ => Vec::new(),
    };
    events.iter().flat_map(|event| steps(event).into_iter().chain([event.clone()])).collect()
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
        prop::collection::vec(0..4_usize, 1..3).prop_map(|pods| pods.into_iter().map(dry_run).collect()),
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
        let (packed, packed_elsewhere) = (RecordedEvents::new(events.clone(), &snapshot(NODES)), RecordedEvents::new(events.clone(), &Snapshot::default()));
        let events = unfolded(&events);
        prop_assert_eq!(&RecordedEvents::new(events.clone(), &snapshot(NODES)), &packed, "steps that are listed are not listed twice");
        prop_assert_eq!((packed.len(), packed.is_empty()), (events.len(), events.is_empty()));
        prop_assert!(packed.iter().eq(events.iter().map(Cow::Borrowed)));
        prop_assert!(packed.iter().rev().eq(events.iter().rev().map(Cow::Borrowed)));
        prop_assert_eq!(format!("{packed:?}"), format!("{events:?}"));
        prop_assert_eq!(&packed, &packed_elsewhere);
        let is_packed = |event: &Event| is_filtered(event) || matches!(event, Event::DryRunStepped(_));
        let others: Vec<&Event> = events.iter().filter(|event| !is_packed(event)).collect();
        for pod in 0..4 {
            let pod = Key { namespace: Str::default(), name: name(pod) };
            prop_assert_eq!(packed.is_any_about(&pod), events.iter().any(|event| event.is_about(&pod)));
        }
        prop_assert_eq!(packed.others().iter().collect::<Vec<_>>(), others.clone());
        for at in 0..events.len() + 3 {
            for wanted in 0..NODES {
                let met = |event: &Event| !is_filtered(event) || *event.node().unwrap() == name(wanted) || event.plugin().is_none();
                let found = packed.position(at, |node, status| *node == name(wanted) || status.plugin().is_none());
                prop_assert_eq!(found, (at..events.len()).find(|at| met(&events[*at])));
            }
            prop_assert_eq!(packed.get(at), events.get(at).map(Cow::Borrowed));
            let before = events.iter().take(at).filter(|event| !is_packed(event)).count();
            prop_assert_eq!(packed.others_before(at).len(), before);
            if at <= events.len() {
                prop_assert!(packed.range(at..events.len()).eq(events[at..].iter().map(Cow::Borrowed)));
                let (all, quick) = (packed.range(0..at), packed.without_steps(0..at).map(|(_, event)| event));
                prop_assert_eq!(CycleView::of_recorded(quick), CycleView::of_recorded(all), "until {}", at);
                let mut in_turn = (0..at).rev().step_by(3).filter_map(|begin| packed.without_steps(begin..at).next());
                prop_assert!(in_turn.all(|(at, event)| *event == events[at]));
            }
        }
        let kind = |event: &Event| (is_filtered(event), matches!(event, Event::DryRunStepped(_)));
        for (at, event) in packed.first_of_each_kind() {
            prop_assert_eq!(&*event, &events[at]);
        }
        let listed: Vec<usize> = packed.first_of_each_kind().map(|(at, _)| at).collect();
        for at in (0..events.len()).filter(|at| !listed.contains(at)) {
            prop_assert!(at > 0 && is_packed(&events[at]) && kind(&events[at]) == kind(&events[at - 1]), "{} is left out", at);
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
        let RunOf::Filter(run) = packed.runs[0].of.clone() else { panic!("a run over nodes") };
        run
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
    let [Run { of: RunOf::Filter(run), .. }] = &*packed.runs else { panic!("one run") };
    assert_eq!((run.statuses.len(), run.status_of.len()), (8, 3000));
}
