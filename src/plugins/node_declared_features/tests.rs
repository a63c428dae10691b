use super::super::helper::testing::{node_change, node_info, pod, pod_change, pod_info, with_context};
use super::*;
use crate::cluster::Cluster;
use crate::framework::Code;

const RESTARTS: &str = "{spec: {containers: [{restartPolicyRules: [{action: Restart}, {action: RestartAllContainers}]}]}}";
const INIT_RESTARTS: &str = "{spec: {initContainers: [{restartPolicyRules: [{action: RestartAllContainers}]}]}}";
const NAMESPACED: &str = "{spec: {hostNetwork: true, hostUsers: false}}";

#[test]
fn the_registry_is_sorted() {
    assert!(REGISTRY.is_sorted());
    assert_eq!((REGISTRY[3], REGISTRY[4]), (RESTART_ALL, USER_NAMESPACES));
}

#[test]
fn a_node_must_declare_what_the_pod_needs() {
    let both = "[ExtendWebSocketsToKubelet, Newer, RestartAllContainersOnContainerExits, UserNamespacesHostNetworkSupport]";
    let unsorted = "[UserNamespacesHostNetworkSupport, RestartAllContainersOnContainerExits]";
    // (pod, declared, `None` if PreFilter skips, else whether the node passes)
    for (pod, declared, passes) in [
        ("{}", "[]", None),
        ("{spec: {hostNetwork: true}}", "[]", None),
        ("{spec: {hostNetwork: true, hostUsers: true}}", "[]", None),
        ("{spec: {hostUsers: false}}", "[]", None),
        (RESTARTS, "[]", Some(false)),
        (RESTARTS, both, Some(true)),
        (INIT_RESTARTS, "[RestartAllContainersOnContainerExits]", Some(true)),
        (NAMESPACED, "[RestartAllContainersOnContainerExits]", Some(false)),
        (NAMESPACED, both, Some(true)),
        (NAMESPACED, unsorted, Some(true)),
        (RESTARTS, unsorted, Some(false)),
    ] {
        let (pod, mut state) = (pod_info(pod), CycleState::default());
        let node = node_info(&format!("{{status: {{declaredFeatures: {declared}}}}}"));
        with_context(&Cluster::default(), &[], |cx| {
            let (_, status) = PreFilterPlugin::pre_filter(&NodeDeclaredFeatures, &cx, &mut state, &pod);
            assert_eq!(status.is_skip(), passes.is_none(), "{declared}");
            let Some(passes) = passes else { return };
            let status = FilterPlugin::filter(&NodeDeclaredFeatures, &cx, &state, &pod, &node);
            let (code, message) = if passes {
                (Code::Success, "")
            } else {
                (Code::UnschedulableAndUnresolvable, "node(s) didn't match Pod's required features")
            };
            assert_eq!((status.code(), status.message().as_str()), (code, message), "{declared}");
            assert_eq!(status.fact().is_some_and(|f| f.starts_with("lacks ")), !passes, "{declared}");
        });
    }
}

#[test]
fn the_gate_switches_it_off() {
    with_context(&Cluster::default(), &[], |mut cx| {
        let filter = |cx: &Context<'_>| {
            FilterPlugin::filter(&NodeDeclaredFeatures, cx, &CycleState::default(), &pod_info(RESTARTS), &node_info("{}"))
        };
        assert_eq!(filter(&cx).message(), "error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found");
        assert_eq!(NodeDeclaredFeatures.events_to_register(cx.emulation).map(|e| e.len()), Some(2));
        cx.emulation.set(Gate::NodeDeclaredFeatures, false);
        let (_, status) = PreFilterPlugin::pre_filter(&NodeDeclaredFeatures, &cx, &mut CycleState::default(), &pod_info(RESTARTS));
        assert!(status.is_skip());
        assert!(filter(&cx).is_success());
        assert_eq!(NodeDeclaredFeatures.events_to_register(cx.emulation).map(|e| e.len()), Some(0));
    });
}

#[test]
fn changed_features_queue_the_pod() {
    use QueueingHint::{Queue, QueueSkip};
    let declaring = "{status: {declaredFeatures: [x]}}";
    for (old, new, expected) in
        [(None, "{}", Queue), (Some("{}"), declaring, Queue), (Some(declaring), declaring, QueueSkip), (Some("{}"), "{}", QueueSkip)]
    {
        assert_eq!(after_node_change(&node_change(old, Some(new))), Ok(expected), "{old:?} {new}");
    }
    let mine = pod("{}");
    for (old, new, expected) in [
        ("{}", RESTARTS, Queue),
        (RESTARTS, RESTARTS, QueueSkip),
        ("{}", "{metadata: {uid: other}, spec: {hostNetwork: true, hostUsers: false}}", QueueSkip),
    ] {
        assert_eq!(after_pod_update(&mine, &pod_change(Some(old), Some(new))), Ok(expected), "{old} {new}");
    }
    assert!(after_pod_update(&mine, &node_change(None, Some("{}"))).is_err());
}
