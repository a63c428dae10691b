use super::*;

#[test]
fn a_log_is_that_of_one_pod() {
    for (path, expected) in [
        ("/api/v1/namespaces/kube-system/pods/kube-scheduler-cp-1/log", true),
        ("/api/v1/namespaces/kube-system/pods/kube-scheduler-cp-1", false),
        ("/api/v1/namespaces/kube-system/pods/../log", false),
        ("/api/v1/namespaces/kube-system/secrets/pods/log", false),
        ("/api/v1/namespaces/kube-system/services/pods/log", false),
        ("/api/v1/namespaces/kube-system/pods/a/b/log", false),
        ("/api/v1/namespaces/pods/pods/a/exec/log", false),
        ("/api/v1/nodes/a/log", false),
        ("/api/v1/pods/a/log", false),
        ("/log", false),
    ] {
        assert_eq!(is_log(path), expected, "{path}");
    }
}

#[test]
fn every_kind_has_a_resource_in_versions_that_the_model_reads() {
    for kind in Kind::iter() {
        let resource = Resource::of(Subject::Objects(kind));
        assert_eq!(resource.kind, kind.to_string());
        assert!(resource.versions.iter().all(|v| resource.understands(v)), "{resource:?}");
        assert_eq!(resource.understands("v1alpha3"), kind == Kind::PodGroup, "{resource:?}");
    }
    assert!(Resource::of(Subject::Events).understands("v1"));
    assert_eq!(Subject::Objects(Kind::CSINode).to_string(), "csinodes");
}

#[test]
fn the_rights_that_the_book_asks_for_are_those_that_are_used() {
    let page = include_str!("../../../../docs/live.md");
    let role = page.split("```").find(|block| block.contains("name: schedscope\n")).unwrap().trim_start_matches("yaml");
    let role: serde_json::Value = serde_yaml::from_str(role).unwrap();
    let texts = |value: &serde_json::Value| value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let mut asked = Vec::new();
    for rule in role["rules"].as_array().unwrap() {
        assert_eq!(texts(&rule["verbs"]), ["get", "list", "watch"]);
        let group = texts(&rule["apiGroups"]).remove(0);
        asked.extend(texts(&rule["resources"]).into_iter().map(|plural| (group.clone(), plural)));
    }
    let optional = page.split("```").find(|block| block.contains("name: schedscope-workloads")).unwrap().trim_start_matches("yaml");
    let optional: serde_json::Value = serde_yaml::from_str(optional).unwrap();
    let mut listed: Vec<(String, String)> = Vec::new();
    for rule in optional["rules"].as_array().unwrap() {
        assert_eq!(texts(&rule["verbs"]), ["list"], "nothing of them is watched");
        let (groups, resources) = (texts(&rule["apiGroups"]), texts(&rule["resources"]));
        listed.extend(groups.iter().flat_map(|group| resources.iter().map(|plural| (group.clone(), plural.clone()))));
    }
    let mut needed: Vec<_> = neighbors::optional().map(|(kind, group)| (group.to_owned(), kind.resource().to_owned())).collect();
    listed.sort();
    needed.sort();
    assert_eq!(listed, needed);
    let mut used: Vec<_> = RESOURCES.iter().map(|r| (r.group.to_owned(), r.plural.to_owned())).collect();
    asked.sort();
    used.sort();
    assert_eq!(asked, used);
    for example in [include_str!("../../../../packaging/recorder.yaml"), include_str!("../../../../packaging/cronjob.yaml")] {
        let role = example.split("---\n").find(|document| document.contains("kind: ClusterRole\n")).unwrap();
        let role: serde_json::Value = serde_yaml::from_str(role).unwrap();
        let mut asked = Vec::new();
        for rule in role["rules"].as_array().unwrap() {
            assert_eq!(texts(&rule["verbs"]), ["list", "watch"]);
            let group = texts(&rule["apiGroups"]).remove(0);
            asked.extend(texts(&rule["resources"]).into_iter().map(|plural| (group.clone(), plural)));
        }
        asked.sort();
        assert_eq!(asked, used, "the recorder and the report read no single objects");
    }
    let role = page.split("```").find(|block| block.contains("kind: Role\n")).unwrap().trim_start_matches("yaml");
    let role: serde_json::Value = serde_yaml::from_str(role).unwrap();
    assert_eq!(role["rules"], serde_json::json!([{"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}]));
}

#[test]
fn only_what_is_read_is_allowed() {
    for (path, allowed) in [
        ("/version", true),
        ("/apis", true),
        ("/api/v1", true),
        ("/apis/apps/v1", true),
        ("/apis/batch/v1", false),
        ("/apis/batch/v1/jobs", true),
        ("/apis/batch/v1/jobs/web/status", false),
        ("/apis/apps/v1/namespaces/shop/deployments", true),
        ("/apis/apps/v1/namespaces/shop/deployments/web", false),
        ("/apis/kueue.x-k8s.io/v1beta2/clusterqueues", true),
        ("/api/v1/pods", true),
        ("/api/v1/namespaces/shop/pods", true),
        ("/api/v1/namespaces/shop/pods/web-1", true),
        ("/api/v1/namespaces/shop", true),
        ("/api/v1/nodes/a", true),
        ("/apis/resource.k8s.io/v1beta1/resourceslices", true),
        ("/apis/resource.k8s.io/v1alpha3/resourceslices", false),
        ("/api/v1/pods/web-1", false),
        ("/api/v1/secrets", false),
        ("/api/v1/configmaps", false),
        ("/api/v1/namespaces/shop/secrets", false),
        ("/api/v1/namespaces/shop/secrets/token", false),
        ("/api/v1/namespaces/shop/configmaps/a", false),
        ("/api/v1/namespaces/shop/pods/web-1/log", false),
        ("/api/v1/namespaces/shop/pods/web-1/exec", false),
        ("/api/v1/namespaces/shop/pods/web-1/eviction", false),
        ("/api/v1/nodes/a/proxy", false),
        ("/api/v1/nodes/a/proxy/pods", false),
        ("/api/v1/watch/pods", false),
        ("/api/v1/namespaces/shop/pods/..", false),
        ("/api/v1/namespaces/shop/pods/%2e%2e", false),
        ("/api/v1/namespaces/../secrets", false),
        ("/api/v1//secrets", false),
        ("/metrics", false),
        ("/", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(path), allowed, "{path}");
    }
    for resource in RESOURCES.iter() {
        for version in resource.versions {
            assert!(is_allowed(&resource.path(version, None)) && is_allowed(&resource.path(version, Some("a"))), "{resource:?}");
        }
    }
}
