//! Tests of `header`.

use super::*;

#[test]
fn of_a_narrow_header_the_name_of_the_file_stays() {
    let facts = Facts {
        source: "/work/dumps/kubectl.json".to_owned(),
        dry: "dry decision".to_owned(),
        start: "fresh start".to_owned(),
        taken: "taken 3d ago".to_owned(),
        release: "v1.31.2 (kubelets)".to_owned(),
        revision: true,
        clock_at_start: true,
        clock: true,
        ..Facts::default()
    };
    let shown = |room: usize| {
        let fits = |facts: &Facts| {
            (facts.width(3) + 9 * usize::from(facts.revision) + 14 * usize::from(facts.clock_at_start))
                .checked_sub(room)
                .filter(|over| *over > 0)
        };
        let facts = fitted(facts.clone(), "…", fits);
        let place = [(facts.revision, "rev"), (facts.clock_at_start, "clock")];
        let place = place.map(|(shown, word)| if shown { word } else { "" }.to_owned());
        let all = [facts.source, facts.dry, facts.start, facts.taken, facts.release].into_iter().chain(place);
        all.filter(|fact| !fact.is_empty()).collect::<Vec<String>>().join(" · ")
    };
    for (room, expected) in [
        (113, "/work/dumps/kubectl.json · dry decision · fresh start · taken 3d ago · v1.31.2 (kubelets) · rev · clock"),
        (106, "/work/dumps/kubectl.json · dry decision · fresh · taken 3d ago · v1.31.2 (kubelets) · rev · clock"),
        (94, "kubectl.json · dry decision · fresh · taken 3d ago · v1.31.2 (kubelets) · rev · clock"),
        (80, "kubectl.json · dry decision · fresh · taken 3d ago · v1.31.2 (kubelets) · rev"),
        (71, "kubectl.json · dry decision · fresh · taken 3d ago · v1.31.2 (kubelets)"),
        (63, "kubectl.json · dry decision · taken 3d ago · v1.31.2 (kubelets)"),
        (54, "kubectl.json · dry · taken 3d ago · v1.31.2 (kubelets)"),
        (43, "kubectl.json · dry · taken 3d ago · v1.31.2"),
        (33, "kubectl.json · dry · taken 3d ago"),
        (18, "kubectl.json · dry"),
        (13, "kubect… · dry"),
    ] {
        assert_eq!(shown(room), expected, "{room}");
    }
    let facts = Facts {
        source: "live production-eu-west-1".to_owned(),
        live: "may not read nodes and 3 more, heard 40s ago".to_owned(),
        live_in_brief: "4 kinds refused, 40s".to_owned(),
        hint: "i says why".to_owned(),
        start: "as observed".to_owned(),
        release: "v1.34.1 (server)".to_owned(),
        ..Facts::default()
    };
    let shown = |room: usize| {
        let Facts { source, live, hint, release, .. } =
            fitted(facts.clone(), "…", |facts| facts.width(3).checked_sub(room).filter(|over| *over > 0));
        [source, live, hint, release].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<String>>().join(" · ")
    };
    for (room, expected) in [
        (108, "live production-eu-west-1 · may not read nodes and 3 more, heard 40s ago · i says why · v1.34.1 (server)"),
        (99, "live production-eu-west-1 · may not read nodes and 3 more, heard 40s ago · i says why · v1.34.1"),
        (86, "live production-eu-west-1 · may not read nodes and 3 more, heard 40s ago · v1.34.1"),
        (68, "live production-eu-west-1 · 4 kinds refused, 40s · v1.34.1"),
        (50, "live produc…est-1 · 4 kinds refused, 40s · v1.34.1"),
        (46, "live pr…est-1 · 4 kinds refused, 40s · v1.34.1"),
        (34, "live…est-1 · 4 kinds refused, 40s"),
    ] {
        assert_eq!(shown(room), expected, "{room}");
    }
    assert_eq!(without_directories("a/b.json c/ and later"), "b.json c and later");
    assert_eq!(without_directories("demo payments"), "demo payments");
}

#[test]
fn objects_that_could_not_be_read_are_unknown_and_not_none() {
    let mut cluster = Cluster::default();
    assert_eq!(known(&cluster, Kind::Node, "node"), (Role::Muted, "0 nodes".to_owned()));
    cluster.unknown.refused.insert(Kind::Node);
    assert_eq!(known(&cluster, Kind::Node, "node"), (Role::Warning, "nodes unknown".to_owned()));
    assert_eq!(known(&cluster, Kind::Pod, "pod"), (Role::Muted, "0 pods".to_owned()));
}
