use super::*;
use crate::cluster::MissingKinds;
use crate::cluster::testing::object;

fn cluster(objects: &[(Kind, &str)]) -> Cluster {
    objects.iter().map(|(kind, text)| object(*kind, text)).collect()
}

fn shapes(from: &Cluster, to: &Cluster) -> Vec<String> {
    let Some(Operation::Batch { operations, .. }) = changes(from, to, &[], "b", Timestamp::UNIX_EPOCH) else { return Vec::new() };
    let word = |operation: &Operation| match operation {
        Operation::Create { object } => format!("+{}", object.key()),
        Operation::Update { object } => format!("={}", object.key()),
        Operation::Delete { object } => format!("-{}", object.key()),
        other => format!("{other:?}").split(' ').next().unwrap().to_owned(),
    };
    operations.iter().map(word).collect()
}

#[test]
fn what_changed_is_reported_in_the_order_of_resource_versions() {
    let before = cluster(&[
        (Kind::Node, r#"{"metadata":{"name":"a","uid":"1","resourceVersion":"5"}}"#),
        (Kind::Node, r#"{"metadata":{"name":"b","uid":"2","resourceVersion":"6"}}"#),
        (Kind::Pod, r#"{"metadata":{"name":"p","namespace":"x","uid":"3"}}"#),
        (Kind::Pod, r#"{"metadata":{"name":"q","namespace":"x","uid":"4"}}"#),
        (Kind::Service, r#"{"metadata":{"name":"s","namespace":"x"}}"#),
    ]);
    let after = cluster(&[
        (Kind::Node, r#"{"metadata":{"name":"a","uid":"1","resourceVersion":"20"},"spec":{"unschedulable":true}}"#),
        (Kind::Node, r#"{"metadata":{"name":"b","uid":"2","resourceVersion":"6"}}"#),
        (Kind::Pod, r#"{"metadata":{"name":"p","namespace":"x","uid":"7","resourceVersion":"9"}}"#),
    ]);
    // q was deleted, p was replaced, and services count as not dumped.
    assert_eq!(shapes(&before, &after), ["Observe", "-x/p", "-x/q", "+x/p", "=a", "Observe"]);
    assert!(shapes(&after, &after).is_empty());
}

#[test]
fn what_a_later_dump_tells_is_known_from_then_on() {
    let unknown = |budgets| Cluster { unknown: MissingKinds { budgets, ..MissingKinds::default() }, ..Cluster::default() };
    let check = |from: bool, to: bool, expected: Option<bool>| {
        let unknown_kinds = changes(&unknown(from), &unknown(to), &[], "b", Timestamp::UNIX_EPOCH).and_then(|operation| match operation {
            Operation::Batch { operations, .. } => match operations.last() {
                Some(Operation::Observe { unknown, .. }) => *unknown,
                _ => None,
            },
            _ => None,
        });
        assert_eq!(unknown_kinds, expected.map(|budgets| MissingKinds { budgets, ..MissingKinds::default() }), "{from} {to}");
    };
    check(true, false, Some(false));
    check(false, true, None);
    check(true, true, None);
}

#[test]
fn one_cluster_is_known_by_its_system_namespace_or_its_nodes() {
    let system = |uid: &str| format!(r#"{{"metadata":{{"name":"kube-system","uid":"{uid}"}}}}"#);
    let node = |uid: &str| format!(r#"{{"metadata":{{"name":"{uid}","uid":"{uid}"}}}}"#);
    let check = |a: &[(Kind, String)], b: &[(Kind, String)], expected: bool| {
        let of = |list: &[(Kind, String)]| cluster(&list.iter().map(|(k, t)| (*k, t.as_str())).collect::<Vec<_>>());
        assert_eq!(is_same_cluster(&of(a), &of(b)), expected, "{a:?} {b:?}");
    };
    check(&[(Kind::Namespace, system("1"))], &[(Kind::Namespace, system("1"))], true);
    check(&[(Kind::Namespace, system("1")), (Kind::Node, node("a"))], &[(Kind::Namespace, system("2")), (Kind::Node, node("a"))], false);
    check(&[(Kind::Node, node("a")), (Kind::Node, node("b"))], &[(Kind::Node, node("b")), (Kind::Node, node("c"))], true);
    check(&[(Kind::Node, node("a"))], &[(Kind::Node, node("c"))], false);
    check(&[], &[(Kind::Node, node("c"))], false);
}
