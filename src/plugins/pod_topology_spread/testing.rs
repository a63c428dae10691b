//! Small clusters for the tests of this plugin.

use crate::cluster::Pod;
pub(super) use crate::plugins::testing::{World, info, node};

/// Makes a pod in namespace `default` with spread constraints and its name as uid.
pub(super) fn pod(name: &str, labels: &str, constraints: &str) -> Pod {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"default","uid":"{name}","labels":{labels}}},"spec":{{"topologySpreadConstraints":{constraints}}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}
