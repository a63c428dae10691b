//! Small clusters for the tests of this plugin.

use std::sync::Arc;

use crate::cluster::{Object, Pod};
pub(super) use crate::plugins::testing::{World, info, node};

/// Makes a pod in namespace `default` with its name as uid.
pub(super) fn pod(name: &str, labels: &str, affinity: &str) -> Pod {
    pod_in("default", name, labels, affinity)
}

/// Makes a pod in any namespace.
pub(super) fn pod_in(namespace: &str, name: &str, labels: &str, affinity: &str) -> Pod {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{namespace}/{name}","labels":{labels}}},"spec":{{"affinity":{affinity}}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// Makes namespaces from names and labels.
pub(super) fn namespaces(all: &[(&str, &str)]) -> Vec<Object> {
    let namespace = |(name, labels): &(&str, &str)| {
        let text = format!(r#"{{"metadata":{{"name":"{name}","labels":{labels}}}}}"#);
        Object::Namespace(Arc::new(serde_json::from_str(&text).unwrap()))
    };
    all.iter().map(namespace).collect()
}
