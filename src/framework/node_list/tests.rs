use super::*;

fn node(name: &str) -> Arc<Node> {
    Arc::new(serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}"}}}}"#)).unwrap())
}

#[track_caller]
fn check(list: &NodeList, expected: &[(&str, usize)]) {
    let names = list.nodes().iter().map(|n| n.name().as_str());
    assert_eq!(names.zip(list.slots()).collect::<Vec<_>>(), expected);
    for (position, (name, slot)) in expected.iter().enumerate() {
        assert_eq!((list.position(name), list.slot(name)), (Some(position), Some(*slot)));
        assert_eq!((list.position_of_slot(*slot), list.by_slot(*slot).name().as_str()), (position, *name));
        assert_eq!(list.position_of(list.by_slot(*slot)), Some(position));
    }
    let rank = |name: &str| expected.iter().filter(|(other, _)| *other < name).count() as u32;
    assert_eq!(*list.names(), expected.iter().map(|(name, _)| (*name).into()).collect::<Vec<Str>>());
    assert_eq!(*list.name_ranks(), expected.iter().map(|(name, _)| rank(name)).collect::<Vec<_>>());
}

#[test]
fn slots_stay_and_free_ones_are_taken_again() {
    let mut list = NodeList::default();
    assert_eq!(list.push(["a", "b", "c", "d"].map(node)), [0, 1, 2, 3]);
    let before = list.clone();
    assert_eq!(list.remove("b").map(|(slot, n)| (slot, n.name().to_string())), Some((1, "b".to_owned())));
    assert!(list.remove("b").is_none() && list.position("b").is_none());
    check(&list, &[("a", 0), ("c", 2), ("d", 3)]);
    list.remove("a");
    assert_eq!(list.push(["e", "f", "g"].map(node)), [0, 1, 4]);
    list.reorder(vec![4, 0, 3, 1, 2]);
    check(&list, &[("g", 4), ("e", 0), ("d", 3), ("f", 1), ("c", 2)]);
    list.by_slot_mut(3).non_zero_cpu = 7;
    assert_eq!(list.nodes()[2].non_zero_cpu, 7);
    // A copy of a node with other pods is still that node; one with another object is not.
    *list.by_slot_mut(3) = list.by_slot(3).without_pods();
    assert_eq!(list.position_of(&list.by_slot(3).without_pods()), Some(2));
    assert_eq!(list.position_of(&NodeInfo::new(Arc::new(Node::clone(&list.nodes()[2].node)))), None);
    check(&before, &[("a", 0), ("b", 1), ("c", 2), ("d", 3)]);
}

#[test]
fn topologies_follow_nodes_and_their_labels() {
    let in_zone = |name: &str, zone: &str| -> Arc<Node> {
        Arc::new(serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","labels":{{"zone":"{zone}"}}}}}}"#)).unwrap())
    };
    let mut list = NodeList::default();
    list.push([in_zone("a", "z1"), node("b"), in_zone("c", "z2"), in_zone("d", "z1")]);
    let read = |list: &NodeList, key: &str| -> Vec<String> {
        let topology = list.topology(&key.into());
        let value = |number: Option<usize>| number.map_or("-".to_owned(), |number| topology.value(number).to_string());
        assert!((0..topology.len()).all(|number| topology.number(topology.value(number)) == Some(number)));
        assert!(topology.of_nodes().enumerate().all(|(at, number)| topology.of_node(at) == number));
        topology.of_nodes().map(value).collect()
    };
    assert_eq!(read(&list, "zone"), ["z1", "-", "z2", "z1"]);
    assert_eq!(read(&list, "other"), ["-", "-", "-", "-"]);
    assert!(!list.topology(&"zone".into()).is_complete());
    assert!(list.topology(&"other".into()).is_empty() && list.topology(&"zone".into()).number("z3").is_none());
    let before = list.clone();
    assert!(Arc::ptr_eq(&list.topology(&"zone".into()), &before.topology(&"zone".into())));
    list.by_slot_mut(1).non_zero_cpu = 1;
    assert!(Arc::ptr_eq(&list.topology(&"zone".into()), &before.topology(&"zone".into())));
    list.set_node(1, in_zone("b", "z3"));
    assert_eq!(read(&list, "zone"), ["z1", "z3", "z2", "z1"]);
    assert!(list.topology(&"zone".into()).is_complete());
    list.remove("a");
    assert_eq!(read(&list, "zone"), ["z3", "z2", "z1"]);
    list.push([in_zone("e", "z4")]);
    assert_eq!(read(&list, "zone"), ["z3", "z2", "z1", "z4"]);
    list.reorder(vec![0, 3, 2, 1]);
    assert_eq!(read(&list, "zone"), ["z4", "z1", "z2", "z3"]);
    assert_eq!(read(&before, "zone"), ["z1", "-", "z2", "z1"]);
}
