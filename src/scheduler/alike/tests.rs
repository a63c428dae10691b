//! Tests of `alike`.

use serde_json::json;

use super::*;
use crate::cluster::Object;
use crate::cluster::testing::object_with_kind;
use crate::framework::{Plugin, PluginName};
use crate::release::Emulation;
use crate::scheduler::{Config, InitialQueues, Options};

/// Returns whether two pods of one workload that ask for a GPU share a decision.
fn shares(config: Config, more: Option<Object>) -> bool {
    let containers = json!([{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}]);
    let pod = |name: &str| {
        object_with_kind(
            &json!({"kind": "Pod", "metadata": {"name": name, "namespace": "d", "uid": name}, "spec": {"schedulerName": "default-scheduler", "containers": containers}}),
        )
    };
    let objects = [pod("a"), pod("b")].into_iter().chain(more).collect();
    let scheduler = Scheduler::new(config, objects, Options { queues: InitialQueues::Fresh, ..Options::default() });
    let pods: Vec<Arc<Pod>> = scheduler.state().cluster().pods.iter().cloned().collect();
    scheduler.decides_alike(&pods[0], &pods[1])
}

#[test]
fn pods_that_differ_in_their_names_share_a_decision() {
    assert!(shares(Config::defaults(Emulation::default()), None));
}

#[test]
fn a_pod_that_may_own_the_claim_of_its_extended_resources_shares_no_decision() {
    let class = json!({"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}});
    assert!(!shares(Config::defaults(Emulation::default()), Some(object_with_kind(&class))));
}

/// A plugin of others, which may read names.
struct OfOthers(PluginName);

impl Plugin for OfOthers {
    fn name(&self) -> PluginName {
        self.0
    }
}

#[test]
fn pods_share_no_decision_where_a_plugin_of_others_may_read_their_names() {
    let mut config = Config::defaults(Emulation::default());
    config.profiles[0].all.push(Arc::new(OfOthers(PluginName::OutOfTree1)));
    assert!(!shares(config, None));
}
