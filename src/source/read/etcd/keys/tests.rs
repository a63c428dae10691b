//! Tests of `keys`.

use super::*;

#[test]
fn keys_name_the_objects_that_scheduling_reads() {
    let keys = Keys { prefix: "/registry/".to_owned(), others: BTreeSet::new() };
    let object = |kind, namespace: &str, name: &str| Some(Stored::Object(kind, Key::new(namespace, name)));
    for (key, expected) in [
        ("/registry/pods/shop/web", object(Kind::Pod, "shop", "web")),
        ("/registry/minions/n", object(Kind::Node, "", "n")),
        ("/registry/services/specs/shop/web", object(Kind::Service, "shop", "web")),
        ("/registry/services/endpoints/shop/web", None),
        ("/registry/controllers/shop/rc", object(Kind::ReplicationController, "shop", "rc")),
        ("/registry/priorityclasses/high", object(Kind::PriorityClass, "", "high")),
        ("/registry/podgroups/shop/g", object(Kind::PodGroup, "shop", "g")),
        ("/registry/scheduling.x-k8s.io/podgroups/shop/g", None),
        ("/registry/events/shop/web.1", Some(Stored::Event)),
        ("/registry/secrets/shop/web", None),
        ("/registry/pods/shop", None),
        ("/other/pods/shop/web", None),
    ] {
        assert_eq!(keys.stored(key.as_bytes()), expected, "{key}");
    }
    for kind in Kind::iter() {
        let plural = kind.plural().to_ascii_lowercase();
        let resource = RENAMED.iter().find(|(_, to)| *to == plural).map_or(plural.as_str(), |(from, _)| from);
        assert_eq!(api_of(resource), (kind.group(), plural.as_str()), "the table lacks the group of {kind}");
    }
    assert!(is_confidential(b"/x/secrets/a/b") && is_confidential(b"/x/g.io/configmaps/a") && !is_confidential(b"/x/pods/a/secrets-1"));
}

#[test]
fn the_prefix_is_found_by_the_namespaces() {
    let of = |keys: &[&str]| {
        let keys = Keys::of(keys.iter().map(|key| key.as_bytes()));
        (keys.prefix, keys.others)
    };
    assert_eq!(of(&["/registry/namespaces/default", "/registry/pods/a/namespaces/default"]).0, "/registry/");
    assert_eq!(of(&["/kubernetes.io/namespaces/kube-system", "compact_rev_key"]).0, "/kubernetes.io/");
    assert_eq!(of(&["a/b/namespaces/default"]).0, "a/b/");
    assert_eq!(of(&["x"]).0, "/registry/");
    let two = ["/a/namespaces/default", "/b/namespaces/default", "/b/pods/x/y"];
    assert_eq!(of(&two), ("/b/".to_owned(), BTreeSet::from(["/a/".to_owned()])));
}

#[test]
fn prefixes_are_found_up_to_a_depth() {
    // Each key is looked up by its own parts, not compared with all prefixes: with 30,000 prefixes that would not end here.
    let many: Vec<String> =
        (0..30_000).map(|number| format!("/{number:05}/namespaces/default")).chain(["/00007/pods/a/b".to_owned()]).collect();
    let keys = Keys::of(many.iter().map(String::as_bytes));
    assert_eq!((keys.prefix.as_str(), keys.others.len()), ("/00007/", 29_999));
    let others = many.iter().filter(|key| keys.name(key.as_bytes()).is_some_and(|name| name.place == Where::OtherCluster));
    assert_eq!(others.count(), 29_999);
    let of_depth = |depth: usize| format!("{}/namespaces/default", "/a".repeat(depth));
    let found = |depth| Keys::of([of_depth(depth).as_bytes()].into_iter()).prefix;
    assert_eq!(
        (found(ETCD_PREFIX_PARTS - 1), found(ETCD_PREFIX_PARTS)),
        ("/a".repeat(ETCD_PREFIX_PARTS - 1) + "/", "/registry/".to_owned())
    );
}

#[test]
fn keys_name_resources() {
    let keys = Keys { prefix: "/registry/".to_owned(), others: BTreeSet::from(["/old/".to_owned()]) };
    let name = |key: &'static str| keys.name(key.as_bytes()).map(|name| (name.resource, name.place, name.is_confidential()));
    for (key, expected) in [
        ("/registry/pods/secrets/web", Some(("pods", Where::Cluster, false))),
        ("/registry/secrets/shop/token", Some(("secrets", Where::Cluster, true))),
        ("/registry/configmaps/shop/c", Some(("configmaps", Where::Cluster, true))),
        ("/registry/kueue.x-k8s.io/workloads/shop/w", Some(("workloads", Where::Cluster, false))),
        ("/registry/apiregistration.k8s.io/secrets/x", Some(("secrets", Where::Cluster, true))),
        ("/old/secrets/a/b", Some(("secrets", Where::OtherCluster, true))),
        ("/openshift.io/routes/a/b", Some(("routes", Where::Elsewhere, false))),
        ("/other/secrets/a", Some(("secrets", Where::Elsewhere, true))),
        ("compact_rev_key", None),
    ] {
        assert_eq!(name(key), expected, "{key}");
    }
    assert_eq!(keys.name(b"/registry/\xff"), None);
    assert_eq!((api_of("minions"), api_of("poddisruptionbudgets")), (("", "nodes"), ("policy", "poddisruptionbudgets")));
}
