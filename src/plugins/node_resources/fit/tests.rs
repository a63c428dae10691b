//! Tests of NodeResourcesFit's Filter and Score.

use super::*;
use crate::cluster::Object;
use crate::plugins::helper::testing::{node_info, pod_info, with_context};

fn plugin(args: &str) -> NodeResourcesFit {
    let args: NodeResourcesFitArgs = serde_yaml::from_str(args).unwrap();
    args.validate().unwrap();
    NodeResourcesFit::new(args, &Emulation::default().behaviour().resources)
}

fn requesting(requests: &str) -> PodInfo {
    pod_info(&format!("{{spec: {{containers: [{{resources: {{requests: {{{requests}}}}}}}]}}}}"))
}

/// Makes a node with one pod.
fn node(allocatable: &str, requested: &str) -> NodeInfo {
    let mut node = node_info(&format!("{{metadata: {{name: n}}, status: {{allocatable: {{{allocatable}}}}}}}"));
    node.add_pod(Arc::new(requesting(requested)));
    node
}

/// Makes a cluster in which devices serve `example.com/dev`.
fn device_cluster() -> Cluster {
    let class = "{metadata: {name: c}, spec: {extendedResourceName: example.com/dev}}";
    [Object::DeviceClass(Arc::new(serde_yaml::from_str(class).unwrap()))].into_iter().collect()
}

fn filter(plugin: &NodeResourcesFit, emulation: Emulation, pod: &PodInfo, node: &NodeInfo) -> Status {
    with_context(&device_cluster(), &[], |mut cx| {
        cx.emulation = emulation;
        let mut state = CycleState::default();
        assert!(PreFilterPlugin::pre_filter(plugin, &cx, &mut state, pod).1.is_success());
        FilterPlugin::filter(plugin, &cx, &state, pod, node)
    })
}

#[test]
fn every_shortage_is_a_reason_in_a_fixed_order() {
    let plain = plugin("{}");
    let (hard, soft) = (Code::UnschedulableAndUnresolvable, Code::Unschedulable);
    let full = "cpu: 2, memory: 100, ephemeral-storage: 100, example.com/a: 4, example.com/b: 4, hugepages-2Mi: 8, pods: 2";
    let half = "cpu: 1, memory: 50, ephemeral-storage: 50, example.com/a: 2, example.com/b: 2, hugepages-2Mi: 4";
    for (pod, allocatable, requested, code, reasons) in [
        ("", full, half, Code::Success, ""),
        (half, full, half, Code::Success, ""),
        ("", "pods: 1", "", soft, "Too many pods"),
        ("", "cpu: 1", "", soft, "Too many pods"),
        ("cpu: 1500m", full, half, soft, "Insufficient cpu"),
        ("cpu: 2001m", full, half, hard, "Insufficient cpu"),
        ("memory: 51", full, half, soft, "Insufficient memory"),
        ("memory: 101", full, half, hard, "Insufficient memory"),
        ("ephemeral-storage: 51", full, half, soft, "Insufficient ephemeral-storage"),
        ("ephemeral-storage: 101", full, half, hard, "Insufficient ephemeral-storage"),
        ("example.com/a: 3", full, half, soft, "Insufficient example.com/a"),
        ("example.com/a: 5", full, half, hard, "Insufficient example.com/a"),
        ("example.com/z: 1", full, half, hard, "Insufficient example.com/z"),
        ("hugepages-2Mi: 5", full, half, soft, "Insufficient hugepages-2Mi"),
        // One resource for which the node is too small decides the code.
        ("cpu: 1500m, memory: 101", full, half, hard, "Insufficient cpu, Insufficient memory"),
        (
            "example.com/b: 3, hugepages-2Mi: 5, example.com/a: 3, ephemeral-storage: 51, memory: 51, cpu: 1500m",
            "cpu: 2, memory: 100, ephemeral-storage: 100, example.com/a: 4, example.com/b: 4, hugepages-2Mi: 8, pods: 1",
            half,
            soft,
            "Too many pods, Insufficient cpu, Insufficient memory, Insufficient ephemeral-storage, Insufficient example.com/a, \
             Insufficient example.com/b, Insufficient hugepages-2Mi",
        ),
        // A request of nothing always fits, even on an overcommitted node.
        ("cpu: 0, memory: -5, example.com/a: 0", "pods: 2, cpu: 1", "cpu: 2, memory: 3, example.com/a: 1", Code::Success, ""),
        ("cpu: 1m", "pods: 2, cpu: 1", "cpu: 2", soft, "Insufficient cpu"),
        // Resources that the scheduler does not count are ignored.
        ("strange: 9", "pods: 2", "", Code::Success, ""),
        ("memory: 8Ei", "pods: 2, memory: -8Ei", "memory: 8Ei", hard, "Insufficient memory"),
    ] {
        let status = filter(&plain, Emulation::default(), &requesting(pod), &node(allocatable, requested));
        assert_eq!((status.code(), status.message().as_str()), (code, reasons), "{pod} on {allocatable} with {requested}");
    }
}

#[test]
fn nodes_that_lack_all_further_resources_share_the_answer_unless_they_lack_others() {
    let (plugin, pod) = (plugin("{}"), requesting("cpu: 1, example.com/a: 1, example.com/b: 1"));
    let nodes = [
        node("pods: 9, cpu: 2", ""),
        node("pods: 9, cpu: 4", "cpu: 1"),
        node("pods: 9, cpu: 1", "cpu: 1"),
        node("pods: 1, cpu: 2", ""),
        node("pods: 9, cpu: 2, example.com/a: 1", ""),
    ];
    let statuses = with_context(&device_cluster(), &[], |cx| {
        let mut state = CycleState::default();
        PreFilterPlugin::pre_filter(&plugin, &cx, &mut state, &pod);
        nodes.each_ref().map(|node| FilterPlugin::filter(&plugin, &cx, &state, &pod, node))
    });
    assert_eq!(statuses, nodes.each_ref().map(|node| filter(&plugin, Emulation::default(), &pod, node)));
    assert!(statuses[0].address() == statuses[1].address() && statuses[0].address() != statuses[2].address());
}

#[test]
fn pod_level_requests_count_while_the_gate_is_on() {
    let pod = pod_info("{spec: {resources: {requests: {cpu: 2}}, containers: [{resources: {requests: {cpu: 1}}}]}}");
    let mut emulation = Emulation::default();
    let status = filter(&plugin("{}"), emulation, &pod, &node("pods: 9, cpu: 1", ""));
    assert_eq!((status.code(), status.message().as_str()), (Code::UnschedulableAndUnresolvable, "Insufficient cpu"));
    assert_eq!(status.fact().as_deref(), Some("needs cpu 2, 1 free of 1"));
    emulation.set(Gate::PodLevelResources, false);
    assert!(filter(&plugin("{}"), emulation, &pod, &node("pods: 9, cpu: 1", "")).is_success());
}

#[test]
fn arguments_take_extended_resources_out_of_account() {
    for (args, name, ignored) in [
        ("{}", "example.com/a", false),
        ("{ignoredResources: [example.com/a]}", "example.com/a", true),
        ("{ignoredResources: [example.com/b]}", "example.com/a", false),
        ("{ignoredResourceGroups: [example.com]}", "example.com/a", true),
        ("{ignoredResourceGroups: [example.org]}", "example.com/a", false),
        ("{ignoredResources: [hugepages-2Mi], ignoredResourceGroups: [hugepages-2Mi]}", "hugepages-2Mi", false),
    ] {
        let status = filter(&plugin(args), Emulation::default(), &requesting(&format!("{name}: 1")), &node("pods: 9", ""));
        assert_eq!(status.is_success(), ignored, "{args} {name}");
    }
}

#[test]
fn device_backed_resources_are_left_to_the_devices() {
    let insufficient = || {
        let shortage = Shortage { resource: "example.com/dev".into(), requested: 2, used: 0, capacity: 1 };
        Status::rejected(Reason::Insufficient(shortage)).answered_by(PluginName::NodeResourcesFit, Emulation::default().release())
    };
    let unlisted = || {
        let shortage = Shortage { resource: "example.com/dev".into(), requested: 2, used: 0, capacity: 0 };
        Status::rejected(Reason::Insufficient(shortage)).answered_by(PluginName::NodeResourcesFit, Emulation::default().release())
    };
    let pod = requesting("example.com/dev: 2");
    let mut emulation = Emulation::default();
    assert!(filter(&plugin("{}"), emulation, &pod, &node("pods: 9", "")).is_success());
    assert!(filter(&plugin("{}"), emulation, &pod, &node("pods: 9, example.com/dev: 0", "")).is_success());
    // A device plugin on the node takes precedence.
    assert_eq!(filter(&plugin("{}"), emulation, &pod, &node("pods: 9, example.com/dev: 1", "")), insufficient());
    let implicit = requesting("deviceclass.resource.kubernetes.io/c: 1");
    assert!(filter(&plugin("{}"), emulation, &implicit, &node("pods: 9", "")).is_success());
    emulation.set(Gate::DRAExtendedResource, false);
    assert_eq!(filter(&plugin("{}"), emulation, &pod, &node("pods: 9", "")), unlisted());
    assert_eq!(unlisted().message(), "Insufficient example.com/dev");
}

#[test]
fn filter_needs_what_pre_filter_left() {
    with_context(&Cluster::default(), &[], |cx| {
        let status = FilterPlugin::filter(&plugin("{}"), &cx, &CycleState::default(), &requesting(""), &node("", ""));
        assert_eq!(status, Status::error("error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"));
    });
}

#[test]
fn each_strategy_scores_its_way() {
    let on = node("cpu: 4, memory: 1000Mi, example.com/a: 4", "cpu: 1, memory: 300Mi");
    let ratio = "requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}";
    for (strategy, pod, expected) in [
        // cpu (4 - 1 - 1) / 4 = 50, memory (1000 - 300 - 100) / 1000 = 60
        ("type: LeastAllocated", "cpu: 1, memory: 100Mi", 55),
        ("type: MostAllocated", "cpu: 1, memory: 100Mi", 45),
        (&format!("type: RequestedToCapacityRatio, {ratio}"), "cpu: 1, memory: 100Mi", 45),
        // Without requests 100m and 200Mi are assumed: 72 and 50.
        ("type: LeastAllocated", "", 61),
        ("type: LeastAllocated, resources: [{name: cpu, weight: 3}, {name: memory}]", "cpu: 1, memory: 100Mi", 52),
        // A resource that the pod does not request is left out.
        ("type: MostAllocated, resources: [{name: cpu}, {name: example.com/a}]", "cpu: 1", 50),
        ("type: MostAllocated, resources: [{name: cpu}, {name: example.com/a}]", "cpu: 1, example.com/a: 4", 75),
        ("type: MostAllocated, resources: [{name: example.com/a}]", "cpu: 1", 0),
        ("type: MostAllocated, resources: [{name: example.com/none}]", "example.com/none: 1", 0),
    ] {
        let plugin = plugin(&format!("{{scoringStrategy: {{{strategy}}}}}"));
        let (pod, mut state) = (requesting(pod), CycleState::default());
        with_context(&Cluster::default(), &[], |cx| {
            assert_eq!(ScorePlugin::score(&plugin, &cx, &state, &pod, &on), Ok(expected), "{strategy} without PreScore");
            assert!(PreScorePlugin::pre_score(&plugin, &cx, &mut state, &pod, &[]).is_success());
            assert_eq!(ScorePlugin::score(&plugin, &cx, &state, &pod, &on), Ok(expected), "{strategy}");
        });
    }
}

#[test]
fn earlier_releases_try_preemption_on_nodes_that_are_too_small_and_may_refuse_sidecars() {
    let release = |version: &str| Emulation::from(crate::release::Profile::named(version).expect("an emulated release"));
    let code = |version| filter(&plugin("{}"), release(version), &requesting("cpu: 2"), &node("pods: 9, cpu: 1", "")).code();
    assert_eq!((code("v1.33.0"), code("v1.34.1")), (Code::Unschedulable, Code::UnschedulableAndUnresolvable));
    let sidecar = pod_info("{spec: {containers: [{}], initContainers: [{restartPolicy: Always}]}}");
    let status = filter(&plugin("{}"), release("v1.28.3"), &sidecar, &node("pods: 9", ""));
    assert_eq!(status, Status::rejected(Reason::SidecarsDisabled));
    assert!(filter(&plugin("{}"), release("v1.29.1"), &sidecar, &node("pods: 9", "")).is_success());
}
