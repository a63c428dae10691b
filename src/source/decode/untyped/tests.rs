//! Tests of `untyped`.

use super::*;
use serde_json::json;

#[test]
fn paths_of_the_api_tell_kinds() {
    for (link, expected) in [
        ("/api/v1/nodes/a", Some(("Node", "v1"))),
        ("/api/v1/namespaces/shop", Some(("Namespace", "v1"))),
        ("/api/v1/namespaces/shop/pods", Some(("Pod", "v1"))),
        ("/api/v1/namespaces/shop/pods/web", Some(("Pod", "v1"))),
        ("/apis/policy/v1beta1/namespaces/shop/poddisruptionbudgets/web", Some(("PodDisruptionBudget", "policy/v1beta1"))),
        ("/apis/config.openshift.io/v1/clusterversions/version", Some(("clusterversions.config.openshift.io", "config.openshift.io/v1"))),
        ("/apis/serving.knative.dev/v1/namespaces/shop/services/web", Some(("services.serving.knative.dev", "serving.knative.dev/v1"))),
        ("/api/v1", None),
        ("/healthz", None),
        ("", None),
    ] {
        assert_eq!(of_self_link(link), expected.map(|(kind, version)| (kind.to_owned(), version.to_owned())), "{link}");
    }
}

#[test]
fn a_glance_tells_objects_from_other_values() {
    let looks = |text: &str| {
        let Untyped { named, internal, event, self_link } = look(text.as_bytes(), Syntax::Json);
        (named, internal, event, self_link.is_some())
    };
    assert_eq!(looks(r#"{"metadata":{"name":"a","selfLink":"/api/v1/nodes/a"}}"#), (true, false, false, true));
    assert_eq!(looks(r#"{"metadata":{"name":"a"},"involvedObject":{}}"#), (true, false, true, false));
    assert_eq!(looks(r#"{"name":"a","Spec":{},"Status":null}"#), (true, true, false, false));
    assert_eq!(looks(r#"{"name":"a","status":{}}"#), (false, false, false, false));
    assert_eq!(looks(r#"{"metadata":{}}"#), (false, false, false, false));
    assert_eq!(looks(r#"{"metadata":"text","name":[1]}"#), (false, false, false, false));
    assert_eq!(look(b"metadata:\n  name: a\n", Syntax::Yaml), Untyped { named: true, ..Untyped::default() });
}

#[test]
fn internal_fields_take_the_names_of_the_api() {
    for (internal, name) in [
        ("Spec", "spec"),
        ("PodCIDR", "podCIDR"),
        ("GCEPersistentDisk", "gcePersistentDisk"),
        ("ISCSI", "iscsi"),
        ("UID", "uid"),
        ("RBDPool", "pool"),
    ] {
        assert_eq!(field(internal), name);
    }
    let internal = json!({"name": "web", "namespace": "shop", "labels": {"App": "web"}, "Spec": {
            "NodeName": "a", "NodeSelector": {"Disk": "ssd"}, "Priority": 7, "SecurityContext": {"HostNetwork": true},
            "Affinity": {"PodAffinity": {"RequiredDuringSchedulingIgnoredDuringExecution": [
                {"LabelSelector": {"matchLabels": {"App": "web"}}, "TopologyKey": "zone"}]}},
            "Containers": [{"Name": "c", "Resources": {"Requests": {"cpu": "1", "Example.com/x": "1"}}}],
            "Volumes": [{"Name": "v", "EmptyDir": null, "RBD": {"RBDPool": "p"}}]}, "Status": {"Phase": "Running"}});
    let present = json!({"metadata": {"name": "web", "namespace": "shop", "labels": {"App": "web"}}, "spec": {
            "nodeName": "a", "nodeSelector": {"Disk": "ssd"}, "priority": 7, "securityContext": {"hostNetwork": true}, "hostNetwork": true,
            "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"App": "web"}}, "topologyKey": "zone"}]}},
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "Example.com/x": "1"}}}],
            "volumes": [{"name": "v", "emptyDir": null, "rbd": {"pool": "p"}}]}, "status": {"phase": "Running"}});
    for (text, syntax) in [(internal.to_string(), Syntax::Json), (serde_yaml::to_string(&internal).unwrap(), Syntax::Yaml)] {
        let found: Value = serde_json::from_slice(&present_form(text.as_bytes(), syntax).unwrap()).unwrap();
        assert_eq!(found, present);
    }
    assert!(present_form(b"[", Syntax::Json).is_none());
}
