use super::super::helper::testing::{node_change, node_info, pod, pod_change, pod_info, with_context};
use super::*;
use crate::cluster::Cluster;
use crate::framework::Code;

fn with_port(port: &str) -> String {
    format!("{{metadata: {{uid: other}}, spec: {{nodeName: n, containers: [{{ports: [{port}]}}]}}}}")
}

#[test]
fn a_port_conflicts_with_the_same_protocol_and_an_overlapping_address() {
    // (in use, requested, passes)
    for (used, wanted, passes) in [
        ("{hostPort: 80}", "{hostPort: 80}", false),
        ("{hostPort: 80}", "{hostPort: 81}", true),
        ("{hostPort: 80}", "{hostPort: 80, protocol: TCP, hostIP: 0.0.0.0}", false),
        ("{hostPort: 80}", "{hostPort: 80, protocol: UDP}", true),
        ("{hostPort: 80, hostIP: 10.0.0.1}", "{hostPort: 80}", false),
        ("{hostPort: 80, hostIP: 10.0.0.1}", "{hostPort: 80, hostIP: 10.0.0.1}", false),
        ("{hostPort: 80, hostIP: 10.0.0.1}", "{hostPort: 80, hostIP: 10.0.0.2}", true),
        ("{hostPort: 80}", "{hostPort: 80, hostIP: 10.0.0.2}", false),
        // Only the IPv4 wildcard conflicts with all addresses.
        ("{hostPort: 80, hostIP: '::'}", "{hostPort: 80, hostIP: 10.0.0.2}", true),
        ("{hostPort: 80}", "{hostPort: 80}, {hostPort: 443}", false),
    ] {
        let mut node = node_info("{metadata: {name: n}}");
        node.add_pod(Arc::new(pod_info(&with_port(used))));
        let (pod, mut state) = (pod_info(&with_port(wanted)), CycleState::default());
        let status = with_context(&Cluster::default(), &[], |cx| {
            assert!(PreFilterPlugin::pre_filter(&NodePorts, &cx, &mut state, &pod).1.is_success());
            FilterPlugin::filter(&NodePorts, &cx, &state, &pod, &node)
        });
        let text = "node(s) didn't have free ports for the requested pod ports";
        let (code, message) = if passes { (Code::Success, "") } else { (Code::Unschedulable, text) };
        assert_eq!((status.code(), status.message().as_str()), (code, message), "{used} {wanted}");
        let named = |r: &Reason| matches!(r, Reason::HostPortConflict(c) if c.with.is_some() && c.port == 80);
        assert!(status.reasons().iter().all(named), "{status:?}");
    }
}

#[test]
fn a_pod_without_host_ports_is_none_of_its_business() {
    with_context(&Cluster::default(), &[], |cx| {
        for pod in ["{}", "{spec: {containers: [{ports: [{containerPort: 80}]}], initContainers: [{ports: [{hostPort: 80}]}]}}"] {
            assert!(PreFilterPlugin::pre_filter(&NodePorts, &cx, &mut CycleState::default(), &pod_info(pod)).1.is_skip(), "{pod}");
        }
        let sidecar = "{spec: {initContainers: [{restartPolicy: Always, ports: [{hostPort: 80}]}]}}";
        assert!(PreFilterPlugin::pre_filter(&NodePorts, &cx, &mut CycleState::default(), &pod_info(sidecar)).1.is_success());
        let status = FilterPlugin::filter(&NodePorts, &cx, &CycleState::default(), &pod_info("{}"), &node_info("{}"));
        assert_eq!(status, Status::error("reading \"PreFilterNodePorts\" from cycleState: not found"));
    });
}

#[test]
fn a_deleted_pod_helps_when_it_frees_a_wanted_port() {
    use QueueingHint::{Queue, QueueSkip};
    let mine = pod(&with_port("{hostPort: 80}"));
    let nominated = "{spec: {containers: [{ports: [{hostPort: 80}]}]}, status: {nominatedNodeName: n}}";
    for (deleted, expected) in [
        (with_port("{hostPort: 80}"), Queue),
        (with_port("{hostPort: 81}"), QueueSkip),
        (with_port(""), QueueSkip),
        (nominated.to_owned(), Queue),
        ("{spec: {containers: [{ports: [{hostPort: 80}]}]}}".to_owned(), QueueSkip),
    ] {
        assert_eq!(after_pod_deleted(Emulation::default(), &mine, &pod_change(Some(&deleted), None)), Ok(expected), "{deleted}");
    }
    assert!(after_pod_deleted(Emulation::default(), &mine, &node_change(Some("{}"), None)).is_err());
}
