//! Tests of `losses`.

use super::*;

#[test]
fn paths_name_kinds() {
    let kind = |model, neighbor, is_event| Some(AnyKind { model, neighbor, is_event, is_readable: true });
    for (path, expected) in [
        ("pods.json", kind(Some(Kind::Pod), None, false)),
        ("cluster/nodes.yaml.gz", kind(Some(Kind::Node), None, false)),
        ("pods/shop.json", kind(Some(Kind::Pod), None, false)),
        ("replicasets.json", kind(Some(Kind::ReplicaSet), Some(NeighborKind::ReplicaSet), false)),
        ("deployments.json", kind(None, Some(NeighborKind::Deployment), false)),
        ("events.json", kind(None, None, true)),
        ("dump.json", None),
    ] {
        assert_eq!(kind_of_path(path), expected, "{path}");
    }
    for (path, expected) in [("a/b.json.gz", true), ("a/b.log", false), ("a/dump", true), ("b.txt", false), ("c.tar.gz", true)] {
        assert_eq!(may_hold_objects(path), expected, "{path}");
    }
}

#[test]
fn lost_files_take_their_kind_and_others_all_that_is_not_whole() {
    let kinds = |losses: &Assembly| losses.losses.kinds().1.iter().collect::<Vec<_>>();
    let mut assembly = Assembly::default();
    assembly.lose_path("a/pods.json", true);
    assembly.lose_path("a/pods.log", true);
    assembly.lose_path("a/events.json", true);
    assembly.lose_hidden("a/.poddisruptionbudgets.yaml");
    assembly.lose_hidden("a/._nodes.json");
    assembly.lose_hidden("a/.git");
    assert_eq!(kinds(&assembly), [Kind::Pod, Kind::PodDisruptionBudget]);
    let others = |losses: &Assembly| {
        let mut neighbors = Neighbors::default();
        losses.losses.mark(&mut neighbors);
        (neighbors.withheld().map(|(kind, _)| kind).collect::<Vec<_>>(), neighbors.events_withheld)
    };
    assert_eq!(others(&assembly), (vec![], Some(MissingReason::Incomplete)));
    assembly.lose_path("a/jobs.yaml", true);
    assert_eq!(others(&assembly).0, [NeighborKind::Job]);
    for (path, is_directory) in [("a/kubelet.log.1", false), ("audit_logs/a", true), ("a/pods/logs", false)] {
        if is_directory { assembly.lose_directory(path, true) } else { assembly.lose_path(path, true) }
    }
    assert_eq!(kinds(&assembly).len(), 2);
    assembly.losses.whole.model.insert(Kind::Node);
    assembly.losses.whole.neighbors.insert(NeighborKind::Deployment);
    assembly.lose_path("a/dump.json", true);
    assert_eq!(kinds(&assembly).len(), Kind::iter().count() - 1);
    assert_eq!(others(&assembly).0.len(), NeighborKind::iter().count() - 1);
}
