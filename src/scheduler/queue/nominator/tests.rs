//! Tests of `nominator`.

use super::*;

fn pod(name: &str, nominated: &str, node: &str) -> Pod {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","uid":"u-{name}"}},"spec":{{"nodeName":"{node}"}},"status":{{"nominatedNodeName":"{nominated}"}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn on(node: &str) -> NominatingInfo {
    NominatingInfo::Override(node.into())
}

#[track_caller]
fn check(nominator: &Nominator, expected: &[(&str, &str)]) {
    let all: Vec<(String, &str)> = nominator.iter().map(|(k, n)| (k.to_string(), n.as_str())).collect();
    assert_eq!(all.iter().map(|(k, n)| (k.as_str(), *n)).collect::<Vec<_>>(), expected);
    for (id, (node, number)) in &nominator.node {
        assert_eq!(ObjectId::of_pod(&nominator.pods[node][number].pod), *id);
    }
    assert_eq!(nominator.pods.values().map(OrdMap::len).sum::<usize>(), nominator.node.len());
    assert!(nominator.pods.values().all(|list| !list.is_empty()));
    let marked: u64 = nominator.marks.0.iter().flat_map(|counts| counts.iter()).map(|count| u64::from(*count)).sum();
    assert_eq!(marked, nominator.pods.len() as u64);
    assert!(nominator.pods.keys().all(|node| nominator.may_be_on(hash_of(node))));
}

#[test]
fn the_given_node_goes_before_the_field_and_replaces_what_was() {
    let (a, mut n) = (pod("a", "n1", ""), Nominator::default());
    n.add(&a, &NominatingInfo::Noop, Some(&a));
    check(&n, &[("a", "n1")]);
    n.add(&a, &on("n2"), Some(&a));
    check(&n, &[("a", "n2")]);
    n.add(&a, &on(""), Some(&a));
    check(&n, &[]);
    assert_eq!(n.node_of(&a), None);
    n.add(&pod("a", "", ""), &NominatingInfo::Noop, Some(&a));
    check(&n, &[]);
}

#[test]
fn pods_that_are_gone_or_bound_are_refused_but_lose_what_they_had() {
    for informer in [None, Some(pod("a", "", "n3"))] {
        let (a, mut n) = (pod("a", "n1", ""), Nominator::default());
        n.add(&a, &NominatingInfo::Noop, Some(&a));
        n.add(&a, &on("n2"), informer.as_ref());
        check(&n, &[]);
    }
}

#[test]
fn updates_follow_the_field_unless_it_never_was_set() {
    // (field before, field after, in memory) and what is left.
    for (old, new, memory, expected) in [
        ("", "", "n1", "n1"),
        ("n1", "", "n1", ""),
        ("", "n2", "n1", "n2"),
        ("n1", "n2", "n3", "n2"),
        ("n1", "n1", "n3", "n1"),
        ("", "", "", ""),
    ] {
        let (before, after, mut n) = (pod("a", old, ""), pod("a", new, ""), Nominator::default());
        n.add(&before, &on(memory), Some(&before));
        n.update(&before, &after, Some(&after));
        assert_eq!(n.node_of(&after).map_or("", Str::as_str), expected, "{old:?} {new:?} {memory:?}");
    }
}

#[test]
fn a_full_count_of_marks_stays() {
    let mut marks = Marks::default();
    assert!(!marks.may_have(hash_of("n")));
    for _ in 0..300 {
        marks.add("n");
    }
    for _ in 0..300 {
        marks.remove("n");
    }
    assert!(marks.may_have(hash_of("n")));
    let mut few = Marks::default();
    few.add("n");
    assert!(few.may_have(hash_of("n")));
    few.remove("n");
    assert!(!few.may_have(hash_of("n")));
}

#[test]
fn nominations_keep_their_order_per_node() {
    let mut n = Nominator::default();
    for name in ["b", "a", "c"] {
        n.add(&pod(name, "n1", ""), &NominatingInfo::Noop, Some(&pod(name, "", "")));
    }
    n.delete(&pod("a", "", ""));
    n.delete(&pod("x", "", ""));
    check(&n, &[("b", "n1"), ("c", "n1")]);
}

#[test]
fn nominated_pods_are_looked_up_again_once_they_or_their_node_are_touched() {
    #[derive(Default)]
    struct Fake {
        part: Journaled<Vec<i32>>,
        others: [Journal<Key>; 3],
        nodes: Journal<Str>,
        known: NominatedPods,
        looked_up: std::cell::Cell<usize>,
    }
    impl Fake {
        /// Asks about two nodes, of which the first has a nominated pod, and returns how often pods were looked up.
        fn ask(&self) -> usize {
            self.looked_up.set(0);
            for (node, pods) in [("n", vec![Arc::new(PodInfo::new(Arc::new(pod("a", "n", ""))))]), ("m", Vec::new())] {
                let [b, c, d] = &self.others;
                let touched = Touched { pods: [self.part.journal(), b, c, d], nodes: &self.nodes };
                let number = pods.len();
                let look_up = || {
                    self.looked_up.set(self.looked_up.get() + 1);
                    pods
                };
                let found = self.known.on_node(node, hash_of(node), touched, look_up);
                assert_eq!(found.map_or(0, |found| found.pods().len()), number);
            }
            self.looked_up.get()
        }
    }
    let mut fake = Fake::default();
    let key = |name: &str| Key::new("", name);
    assert_eq!((fake.ask(), fake.ask()), (2, 0));
    fake.part.of(&key("other")).push(1);
    assert_eq!((fake.part.len(), fake.ask()), (1, 0), "another pod");
    fake.part.of(&key("a")).push(1);
    let copy = fake.known.clone();
    assert_eq!((fake.ask(), fake.ask()), (1, 0), "the pod");
    fake.others[2].note(key("a"));
    assert_eq!((fake.ask(), fake.ask()), (1, 0), "in another part");
    fake.nodes.note("m".into());
    assert_eq!((fake.ask(), fake.ask()), (1, 0), "the node without pods");
    fake.part.of_any().push(1);
    fake.part.of(&key("other")).push(1);
    assert_eq!((fake.ask(), fake.ask()), (2, 0), "any pod");
    (0..64).for_each(|_| fake.part.of(&key("other")).push(1));
    assert_eq!(fake.ask(), 0);
    (0..65).for_each(|_| fake.part.of(&key("other")).push(1));
    assert_eq!((fake.ask(), fake.ask()), (2, 0), "more than is noted");
    fake.known = copy;
    assert_eq!(fake.ask(), 2, "a copy follows from where it was made");
}
