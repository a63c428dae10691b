//! Series of changes to a small cluster, with the invariants after each of them.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use schedscope::cluster::{Key, Object};
use schedscope::scheduler::{Operation, Scheduler};
use schedscope::trace::Event;
use serde_json::{Value, json};

use crate::worlds::{NodeSpec, Waiting, nodes, object, waiting};

/// One change. An index selects among the objects that exist; without any, the change has no effect.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    Schedule,
    Advance(u16),
    CreatePod(Waiting),
    DeletePod(Index),
    /// Delete all terminating pods.
    EndGrace,
    /// Cordon a node, or uncordon it.
    Cordon(Index),
    /// Move a pending pod to another pool, or to none.
    ChangePool(Index, u8),
    CreateNode(NodeSpec),
    DeleteNode(Index),
}

/// Returns a history on one or two nodes, which fill up soon.
pub(crate) fn history() -> impl Strategy<Value = (Vec<NodeSpec>, Vec<Deed>)> {
    let deed = prop_oneof![
        24 => Just(Deed::Schedule),
        3 => (0..40_u16).prop_map(Deed::Advance),
        1 => Just(Deed::Advance(310)),
        20 => waiting().prop_map(Deed::CreatePod),
        2 => any::<Index>().prop_map(Deed::DeletePod),
        3 => Just(Deed::EndGrace),
        1 => any::<Index>().prop_map(Deed::Cordon),
        2 => (any::<Index>(), 0..3_u8).prop_map(|(pod, pool)| Deed::ChangePool(pod, pool)),
        1 => nodes().prop_map(|n| Deed::CreateNode(n[0].clone())),
        1 => any::<Index>().prop_map(Deed::DeleteNode),
    ];
    let few = nodes().prop_map(|mut nodes| {
        nodes.truncate(2);
        nodes
    });
    (few, proptest::collection::vec(deed, 1..90))
}

/// Returns the first objects of a history.
pub(crate) fn beginning(nodes: &[NodeSpec]) -> Vec<Object> {
    let namespace = json!({"kind": "Namespace", "metadata": {"name": "a"}});
    let nodes = nodes.iter().enumerate().map(|(i, n)| n.value(&format!("n{i}")));
    std::iter::once(namespace).chain(nodes).map(|v| object(&v)).collect()
}

fn changed(old: Object, change: impl FnOnce(&mut Value)) -> Object {
    let mut value = serde_json::to_value(old).expect("plain data");
    change(&mut value);
    object(&value)
}

impl Deed {
    /// Returns the operations of the change; `number` names new objects.
    pub(crate) fn operations(&self, scheduler: &Scheduler, number: usize) -> Vec<Operation> {
        let cluster = scheduler.state().cluster();
        let pods: Vec<Object> = cluster.pods.iter().cloned().map(Object::Pod).collect();
        let nodes: Vec<Object> = cluster.nodes.iter().cloned().map(Object::Node).collect();
        let waits = |o: &&Object| matches!(o, Object::Pod(p) if p.node_name.is_empty());
        let pick = |index: &Index, list: &[Object]| (!list.is_empty()).then(|| index.get(list).clone());
        let one = |operation: Option<Operation>| operation.into_iter().collect();
        match self {
            Self::Schedule => vec![Operation::Schedule],
            Self::Advance(seconds) => vec![Operation::Advance { seconds: u64::from(*seconds) }],
            Self::CreatePod(pod) => vec![Operation::Create { object: object(&pod.value(&format!("q{number:02}"))) }],
            Self::DeletePod(index) => one(pick(index, &pods).map(|object| Operation::Delete { object })),
            Self::EndGrace => {
                let ending = pods.into_iter().filter(|o| o.meta().deletion_timestamp.is_some());
                ending.map(|object| Operation::Delete { object }).collect()
            }
            Self::Cordon(index) => one(pick(index, &nodes).map(|old| Operation::Update {
                object: changed(old, |node| {
                    let cordoned = node["spec"]["unschedulable"] == true;
                    node["spec"]["unschedulable"] = json!(!cordoned);
                }),
            })),
            Self::ChangePool(index, pool) => {
                let waiting: Vec<Object> = pods.iter().filter(waits).cloned().collect();
                let selector = if *pool < 2 { json!({"pool": format!("pool-{pool}")}) } else { Value::Null };
                one(pick(index, &waiting)
                    .map(|old| Operation::Update { object: changed(old, |pod| pod["spec"]["nodeSelector"] = selector) }))
            }
            Self::CreateNode(node) => vec![Operation::Create { object: object(&node.value(&format!("n{number:02}"))) }],
            Self::DeleteNode(index) => one(pick(index, &nodes).map(|object| Operation::Delete { object })),
        }
    }
}

/// Applies a change and returns the events; checks the passing of time, and that every pod is in exactly one place.
pub(crate) fn apply(scheduler: &mut Scheduler, deed: &Deed, number: usize) -> Vec<Event> {
    let mut all = Vec::new();
    for operation in deed.operations(scheduler, number) {
        let before = scheduler.state().clock();
        let took = match &operation {
            Operation::Advance { seconds } => SignedDuration::from_secs(i64::try_from(*seconds).expect("few")),
            _ => SignedDuration::from_millis(1),
        };
        let mut view = scheduler.state().queue().view().clone();
        let events = scheduler.apply(operation);
        for event in &events {
            view.apply(event);
        }
        assert_eq!(&view, scheduler.state().queue().view(), "the events say where every pod is");
        check_clock(before, &events, scheduler.state().clock());
        assert_eq!(scheduler.state().clock(), before + took);
        check_places(scheduler);
        all.extend(events);
    }
    all
}

fn check_clock(before: Timestamp, events: &[Event], after: Timestamp) {
    let mut clock = before;
    for event in events {
        if let Event::ClockMoved { from, to } = event {
            assert!(clock <= **from && **from <= *to && *to <= after, "{clock} {from} {to} {after}");
            clock = *to;
        }
    }
    assert!(clock <= after);
}

/// Checks that each pod is in one queue or on one node, and that queues and nodes hold nothing else.
fn check_places(scheduler: &Scheduler) {
    let (state, queue) = (scheduler.state(), scheduler.state().queue());
    let mut places: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    let mut put = |key: Key, place: &str| places.entry(key).or_default().push(place.to_owned());
    queue.active_pods().for_each(|p| put(p.key(), "activeQ"));
    queue.backoff_pods().for_each(|p| put(p.key(), "backoffQ"));
    queue.unschedulable_pods().for_each(|p| put(p.key(), "unschedulablePods"));
    queue.in_flight_pods().for_each(|p| put(p.key(), "in flight"));
    let view = queue.view();
    let waiting = [view.active(), view.backoff(), view.unschedulable(), view.gated(), view.in_flight()].concat();
    assert!(waiting.iter().all(|e| places.contains_key(&e.pod)) && waiting.len() == places.len() && waiting.len() == view.entries.len());
    for info in queue.active_pods().chain(queue.backoff_pods()).chain(queue.unschedulable_pods()) {
        let entry = &view.entries[&info.key()];
        assert_eq!(
            (entry.priority, entry.attempts, entry.plugins),
            (info.pod().priority(), info.attempts, info.rejectors()),
            "{}",
            entry.pod
        );
    }
    for node in state.snapshot().nodes() {
        node.pods.iter().for_each(|p| places.entry(p.pod.key()).or_default().push(format!("node {}", node.name())));
    }
    for pod in state.cluster().pods.iter() {
        let found = places.remove(&pod.key()).unwrap_or_default();
        let on_a_node = format!("node {}", pod.node_name);
        if pod.node_name.is_empty() {
            assert!(found.len() == 1 && !found[0].starts_with("node"), "{} waits in {found:?}", pod.key());
        } else if state.cluster().nodes.named(&pod.node_name).is_some() {
            assert_eq!(found, [on_a_node], "{}", pod.key());
        } else {
            assert!(found.is_empty(), "{} is on a node that is gone, and in {found:?}", pod.key());
        }
    }
    assert!(places.is_empty(), "unknown pods: {places:?}");
}
