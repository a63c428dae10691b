use super::*;
use crate::cluster::Condition;
use crate::framework::{Change, DryRunPolicy, EventResource, FilterRunner, NodeToStatus, QueueingHint};

fn one_device() -> String {
    claim("c", &format!("requests: [{}]", exactly("r", 1, "")), "")
}

#[test]
fn pods_wait_for_claims_of_their_own() {
    let generated = "spec: {resourceClaims: [{name: x, resourceClaimTemplateName: t}]}";
    let owned = |owner: &str| format!("{{kind: ResourceClaim, metadata: {{namespace: d, name: c, uid: c, ownerReferences: [{owner}]}}}}");
    let (ours, theirs) = (owned("{uid: p, controller: true}"), owned("{uid: q, controller: true}"));
    let status = "status: {resourceClaimStatuses: [{name: x, resourceClaimName: c}]}";
    for (pod, documents, reason) in [
        ("spec: {}".to_owned(), vec![], None),
        (generated.to_owned(), vec![], Some("pod \"d/p\": ResourceClaim not created yet")),
        (
            "spec: {resourceClaims: [{name: x}]}".to_owned(),
            vec![],
            Some("pod \"d/p\", spec.resourceClaim \"x\": none of the supported fields are set"),
        ),
        ("spec: {resourceClaims: [{name: x, resourceClaimName: c}]}".to_owned(), vec![], Some("could not find ResourceClaim \"d/c\"")),
        (
            "spec: {resourceClaims: [{name: x, resourceClaimName: c}]}".to_owned(),
            vec!["{kind: ResourceClaim, metadata: {namespace: d, name: c, deletionTimestamp: '2026-01-01T00:00:00Z'}}"],
            Some("resourceclaim \"c\" is being deleted"),
        ),
        (format!("{generated}, {status}"), vec![&*ours], None),
        (format!("{generated}, {status}"), vec![&*theirs], Some("ResourceClaim d/c was not created for Pod d/p (Pod is not owner)")),
        (format!("{generated}, status: {{resourceClaimStatuses: [{{name: x}}]}}"), vec![], None),
    ] {
        let pod = pod_info(&format!("{{metadata: {{name: p, namespace: d, uid: p}}, {pod}}}"));
        let mut world = World::new(cluster(&documents), pod);
        let expected = reason.map_or_else(Status::success, Status::unresolvable);
        assert_eq!(PreEnqueuePlugin::pre_enqueue(&world.plugin, &world.cx(), &world.pod.pod, false).in_text(), expected);
        // PreFilter rejects likewise, and records an empty state.
        let found = world.pre_filter();
        assert!(if reason.is_some() { found.in_text() == expected } else { !found.is_rejected() }, "{found}");
    }
}

#[test]
fn classes_and_kinds_of_requests_are_checked_first() {
    for (request, code) in [
        ("{name: r, exactly: {deviceClassName: x}}", "UnschedulableAndUnresolvable: request r: device class x does not exist"),
        (
            "{name: r, firstAvailable: [{name: s, deviceClassName: x}]}",
            "UnschedulableAndUnresolvable: request r/s: device class x does not exist",
        ),
        ("{name: r}", "UnschedulableAndUnresolvable: resource claim d/c, request r: unknown request type"),
        ("{name: r, exactly: {}}", "Error: request r: unsupported request type"),
    ] {
        let mut world = World::new(cluster(&[&claim("c", &format!("requests: [{request}]"), "")]), pod_with(&["c"]));
        assert_eq!(world.pre_filter().to_string(), code);
    }
    let mut world = World::new(cluster(&[&claim("c", "requests: [{name: r, firstAvailable: [{name: s}]}]", "")]), pod_with(&["c"]));
    world.emulation.set(Gate::DRAPrioritizedList, false);
    let disabled = "resource claim d/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled";
    assert_eq!(world.pre_filter().in_text(), Status::unresolvable(disabled));
    let bad = "allocation: {nodeSelector: {nodeSelectorTerms: [{}, {matchExpressions: [{key: k, operator: Like}]}, \
               {matchFields: [{key: metadata.name, operator: In}]}]}}";
    let mut world = World::new(cluster(&[&claim("c", "", bad)]), pod_with(&["c"]));
    let errors = "Error: [nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: \"Like\": supported values: \"In\", \
                  \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\", \
                  nodeSelectorTerms[2].matchFields[0].values: Invalid value: null: must have one element]";
    assert_eq!(world.pre_filter().to_string(), errors);
}

#[test]
fn gates_switch_features_off() {
    let limits = |request: &str, gate, device: &str| {
        let claim = claim("c", &format!("requests: [{request}]"), "");
        let mut world = World::new(cluster(&[&slice("n1", device), &claim]), pod_with(&["c"]));
        assert_eq!(world.run("n1"), Status::success(), "{gate}");
        world.emulation.set(gate, false);
        world.run("n1").to_string()
    };
    let none = "UnschedulableAndUnresolvable: cannot allocate all claims";
    let plain = exactly("r", 1, "");
    for (request, gate, device, expected) in [
        (
            exactly("r", 1, ", adminAccess: true"),
            Gate::DRAAdminAccess,
            "{name: a}",
            "Error: claim d/c, request r: admin access is requested, but the feature is disabled",
        ),
        (
            exactly("r", 1, ", capacity: {requests: {m: 1}}"),
            Gate::DRAConsumableCapacity,
            "{name: a, capacity: {m: {value: 2}}}",
            "Error: claim d/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled",
        ),
        (plain.clone(), Gate::DRADeviceBindingConditions, "{name: a, bindingConditions: [x]}", none),
        (plain.clone(), Gate::DRAResourceClaimDeviceStatus, "{name: a, bindingConditions: [x]}", none),
    ] {
        assert_eq!(limits(&request, gate, device), expected);
    }
    let tainted = slice("n1", "{name: a, taints: [{key: k, effect: NoExecute}]}");
    let mut world = World::new(cluster(&[&tainted, &one_device()]), pod_with(&["c"]));
    assert_eq!(world.run("n1").to_string(), none);
    world.emulation.set(Gate::DRADeviceTaints, false);
    assert_eq!(world.run("n1"), Status::success());
}

#[test]
fn no_claims_no_work() {
    let mut world = World::new(cluster(&[]), pod_with(&[]));
    assert!(world.filter("n1").is_error());
    assert_eq!(world.pre_filter(), Status::skip());
    assert_eq!(world.filter("n1"), Status::success());
    assert_eq!(ScorePlugin::score(&world.plugin, &world.cx(), &world.state, &world.pod, &world.node("n1")), Ok(0));
    assert_eq!(world.reserve("n1"), Status::success());
    assert_eq!(PreBindPlugin::pre_bind_pre_flight(&world.plugin, &world.cx(), &world.state, &world.pod, &world.node("n1")), Status::skip());
    assert_eq!(world.pre_bind("n1"), Ok(Vec::new()));
}

#[test]
fn binding_writes_allocation_reservation_and_finalizer() {
    let mut world = World::new(cluster(&[&slice("n1", "{name: a}"), &one_device()]), pod_with(&["c"]));
    assert_eq!(world.run("n1"), Status::success());
    assert_eq!(world.filter("n2").in_text(), Status::unresolvable("cannot allocate all claims"));
    assert_eq!(world.reserve("n2"), Status::error("claim allocation not found for node"));
    assert_eq!(world.reserve("n1"), Status::success());
    assert_eq!(
        PreBindPlugin::pre_bind_pre_flight(&world.plugin, &world.cx(), &world.state, &world.pod, &world.node("n1")),
        Status::success()
    );
    let [Object::ResourceClaim(written)] = &world.pre_bind("n1").unwrap()[..] else { panic!("one claim") };
    assert_eq!(written.metadata.finalizers.iter().map(Str::as_str).collect::<Vec<_>>(), ["resource.kubernetes.io/delete-protection"]);
    let allocation = written.status.allocation.as_ref().unwrap();
    assert_eq!(show(std::slice::from_ref(allocation)), "r=a");
    assert_eq!(allocation.allocation_timestamp.unwrap().to_string(), "2026-01-01T00:00:00Z");
    let consumer = &written.status.reserved_for[0];
    assert_eq!((consumer.resource.as_str(), consumer.name.as_str(), consumer.uid.as_str()), ("pods", "p", "p"));

    // A further pod is only added to the consumers; a pod that already is one writes nothing.
    world.cluster.insert(Object::ResourceClaim(written.clone()));
    assert_eq!(world.run("n1"), Status::success());
    assert_eq!(world.filter("n2").in_text(), Status::unresolvable("resourceclaim not available on the node"));
    assert_eq!((world.reserve("n1"), world.pre_bind("n1")), (Status::success(), Ok(Vec::new())));
    world.pod = pod_info("{metadata: {name: q, namespace: d, uid: q}, spec: {resourceClaims: [{name: c, resourceClaimName: c}]}}");
    assert_eq!((world.run("n1"), world.reserve("n1")), (Status::success(), Status::success()));
    let [Object::ResourceClaim(shared)] = &world.pre_bind("n1").unwrap()[..] else { panic!("one claim") };
    assert_eq!(shared.status.reserved_for.iter().map(|c| c.uid.as_str()).collect::<Vec<_>>(), ["p", "q"]);
    assert_eq!(shared.status.allocation, written.status.allocation);
}

#[test]
fn binding_fails_when_the_claim_has_moved_on() {
    for (change, error) in [
        (claim("c", "", "allocation: {}"), "claim d/c got allocated elsewhere in the meantime"),
        (
            "{kind: ResourceClaim, metadata: {namespace: d, name: c, uid: c, deletionTimestamp: '2026-01-01T00:00:00Z'}}".to_owned(),
            "claim d/c got deleted in the meantime",
        ),
        (claim("c", "", "").replace("uid: c", "uid: other"), "add finalizer to claim d/c: resourceclaims.resource.k8s.io \"c\" not found"),
    ] {
        let mut world = World::new(cluster(&[&slice("n1", "{name: a}"), &one_device()]), pod_with(&["c"]));
        assert_eq!((world.run("n1"), world.reserve("n1")), (Status::success(), Status::success()));
        world.cluster.insert(objects(&[&change]).remove(0));
        assert_eq!(world.pre_bind("n1"), Err(Status::error(error)));
    }
    let allocated = claim("c", "", "allocation: {}");
    let mut world = World::new(cluster(&[&allocated]), pod_with(&["c"]));
    assert_eq!((world.run("n1"), world.reserve("n1")), (Status::success(), Status::success()));
    world.cluster.insert(objects(&[&claim("c", "", "")]).remove(0));
    assert_eq!(world.pre_bind("n1"), Err(Status::error("claim d/c got deallocated elsewhere in the meantime")));
}

#[test]
fn claims_whose_devices_do_not_get_ready_are_given_up() {
    let waiting = "allocation: {allocationTimestamp: 'TIME', devices: {results: [{request: r, driver: gpu, pool: n1, device: a, \
                   bindingConditions: [ready], bindingFailureConditions: [failed]}]}}, \
                   devices: [{driver: gpu, pool: n1, device: a, conditions: [CONDITION]}]";
    let given_up = Status::unresolvable("resourceclaim not available on the node");
    for (time, condition, expected) in [
        ("2026-01-01T00:00:00Z", "{type: ready, status: 'True'}", Status::success()),
        ("2020-01-01T00:00:00Z", "{type: ready, status: 'True'}", Status::success()),
        ("2026-01-01T00:00:00Z", "{type: ready, status: 'False'}", Status::success()),
        ("2025-12-31T23:50:00Z", "{type: other, status: 'True'}", given_up.clone()),
        ("2026-01-01T00:00:00Z", "{type: failed, status: 'True'}", given_up.clone()),
    ] {
        let status = waiting.replace("TIME", time).replace("CONDITION", condition);
        let mut world = World::new(cluster(&[&claim("c", "", &status)]), pod_with(&["c"]));
        assert_eq!(world.run("n1").in_text(), expected, "{time} {condition}");
        world.emulation.set(Gate::DRADeviceBindingConditions, false);
        assert_eq!(world.run("n1"), Status::success());
    }
    // PreBind fails likewise for a claim that has failed since.
    let ready = claim("c", "", &waiting.replace("TIME", "2026-01-01T00:00:00Z").replace("CONDITION", ""));
    let mut world = World::new(cluster(&[&ready]), pod_with(&["c"]));
    assert_eq!((world.run("n1"), world.reserve("n1"), world.pre_bind("n1").is_ok()), (Status::success(), Status::success(), true));
    let Some(Object::ResourceClaim(claim)) = objects(&[&ready]).pop() else { panic!("a claim") };
    let mut claim = ResourceClaim::clone(&claim);
    claim.status.devices[0].conditions = vec![Condition {
        kind: "failed".into(),
        status: "True".into(),
        reason: "Broken".into(),
        message: "no \"link\"".into(),
        ..Condition::default()
    }]
    .into();
    world.cluster.insert(Object::ResourceClaim(Arc::new(claim)));
    let failed = "device binding failed: claim=c, reason=Broken, message=\"no \\\"link\\\"\"";
    assert_eq!(world.pre_bind("n1"), Err(Status::error(failed)));
}

struct NoRunner;

impl FilterRunner for NoRunner {
    fn filter_with_nominated_pods(&self, _state: &CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
    fn add_pod(&self, _state: &mut CycleState, _pod: &PodInfo, _added: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
    fn remove_pod(&self, _state: &mut CycleState, _pod: &PodInfo, _removed: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
    fn nominated_pods(&self, _node: &str) -> Vec<Arc<PodInfo>> {
        Vec::new()
    }
}

fn post_filter(world: &World) -> (String, Vec<Object>) {
    let statuses = NodeToStatus::default();
    let cx = PostFilterContext {
        cx: world.cx(),
        runner: &NoRunner,
        statuses: &statuses,
        dry_run: DryRunPolicy::default(),
        quiet: false,
        extenders: None,
    };
    let result = PostFilterPlugin::post_filter(&world.plugin, &cx, &world.state, &world.pod);
    (result.status.to_string(), result.writes)
}

#[test]
fn post_filter_gives_up_claims_that_only_this_pod_uses() {
    let mut world = World::new(cluster(&[]), pod_with(&[]));
    assert_eq!(post_filter(&world), ("Error: not found".to_owned(), Vec::new()));
    world.pre_filter();
    assert_eq!(post_filter(&world), ("Unschedulable: no new claims to deallocate".to_owned(), Vec::new()));

    let elsewhere = "allocation: {nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [x]}]}]}}, \
                     devices: [{device: a}], reservedFor: [CONSUMERS]";
    for (consumers, deallocated) in [("", true), ("{uid: p}", true), ("{uid: q}", false), ("{uid: p}, {uid: q}", false)] {
        let claim = claim("c", "", &elsewhere.replace("CONSUMERS", consumers));
        let mut world = World::new(cluster(&[&claim]), pod_with(&["c"]));
        assert_eq!(world.run("n1").message(), "resourceclaim not available on the node");
        let (status, writes) = post_filter(&world);
        if deallocated {
            assert_eq!(status, "Unschedulable: deallocation of ResourceClaim completed");
            let [Object::ResourceClaim(written)] = &writes[..] else { panic!("one claim") };
            assert_eq!(written.status, crate::cluster::resource::ResourceClaimStatus::default());
        } else {
            assert_eq!((status.as_str(), writes.len()), ("Unschedulable: still not schedulable", 0));
        }
    }
}

#[test]
fn earlier_alternatives_score_higher() {
    let prioritized = "requests: [{name: r, firstAvailable: [\
        {name: x, deviceClassName: any, allocationMode: ExactCount, count: 1, selectors: [{cel: {expression: 'device.attributes[\"gpu\"].big'}}]}, \
        {name: y, deviceClassName: any, allocationMode: ExactCount, count: 1}]}]";
    let (big, small) =
        (slice("n1", "{name: a, attributes: {big: {bool: true}}}"), slice("n2", "{name: a, attributes: {big: {bool: false}}}"));
    let mut world = World::new(cluster(&[&big, &small, &claim("c", prioritized, "")]), pod_with(&["c"]));
    assert_eq!((world.run("n1"), world.filter("n2")), (Status::success(), Status::success()));
    let nodes = [world.node("n1"), world.node("n2")];
    let mut scores = nodes.clone().map(|n| ScorePlugin::score(&world.plugin, &world.cx(), &world.state, &world.pod, &n).unwrap());
    assert_eq!(scores, [8, 7]);
    assert!(ScorePlugin::normalize(&world.plugin, &world.cx(), &world.state, &world.pod, &nodes, &mut scores).is_success());
    assert_eq!(scores, [100, 87]);
    world.emulation.set(Gate::DRAPrioritizedList, false);
    assert_eq!(ScorePlugin::score(&world.plugin, &world.cx(), &world.state, &world.pod, &nodes[0]), Ok(0));
}

#[test]
fn a_pod_with_an_allocated_claim_next_to_another_is_scored_from_a_patch_on() {
    let devices = slice("n1", "{name: a}, {name: b}");
    let one = format!("requests: [{}]", exactly("r", 1, ""));
    let documents = [devices, claim("c", &one, &holding(&["a"])), claim("d", &one, "")];
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for (version, expected) in [
        ("v1.35.2", Err("number of allocations 1 is smaller than number of claims".to_owned())),
        ("v1.35.5", Err("number of allocations 1 is smaller than number of claims".to_owned())),
        ("v1.35.6", Ok(0)),
        ("v1.36.2", Ok(0)),
        ("v1.37.0", Ok(0)),
    ] {
        let mut world = World::new(cluster(&documents), pod_with(&["c", "d"]));
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        assert_eq!(world.run("n1"), Status::success(), "{version}");
        let score = ScorePlugin::score(&world.plugin, &world.cx(), &world.state, &world.pod, &world.node("n1"));
        assert_eq!(score.map_err(|status| status.message()), expected, "{version}");
    }
}

/// A pod with containers that request `example.com/gpu`; `n1` has no device plugin, `n2` has one.
fn extended_world(documents: &[&str], containers: &str) -> World {
    let class = "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}";
    let documents: Vec<&str> = documents.iter().copied().chain([class]).collect();
    let pod = pod_info(&format!("{{metadata: {{name: p, namespace: d, uid: p}}, spec: {{{containers}}}}}"));
    let mut world = World::new(cluster(&documents), pod);
    let plugin = node("{metadata: {name: n2}, status: {allocatable: {example.com/gpu: 4}}}");
    world.snapshot = Snapshot::of([NodeInfo::new(zoned_node("n1")), NodeInfo::new(plugin)]);
    world
}

#[test]
fn extended_resources_become_a_claim_where_no_device_plugin_serves_them() {
    let wants = "containers: [{name: m, resources: {requests: {cpu: 1, example.com/gpu: 2}}}]";
    let mut world = extended_world(&[&slice("n1", "{name: a}, {name: b}")], wants);
    world.cluster.insert(Object::Pod(world.pod.pod.clone()));
    assert_eq!((world.run("n1"), world.filter("n2")), (Status::success(), Status::success()));
    assert_eq!(
        (show(&world.results("n1")), show(&world.results("n2"))),
        ("container-0-request-1=a container-0-request-1=b".into(), String::new())
    );
    assert_eq!((world.reserve("n2"), world.pre_bind("n2")), (Status::success(), Ok(Vec::new())));
    assert_eq!(world.reserve("n1"), Status::success());
    let [Object::ResourceClaim(claim), Object::Pod(pod)] = &world.pre_bind("n1").unwrap()[..] else { panic!("claim and pod") };
    assert!(claim.metadata.name.starts_with("p-extended-resources-") && claim.metadata.name.len() == 26, "{}", claim.metadata.name);
    assert_eq!(claim.metadata.annotations.get("resource.kubernetes.io/extended-resource-claim").unwrap(), "true");
    assert_eq!(claim.metadata.controller().unwrap().uid, "p");
    assert_eq!((claim.status.reserved_for.len(), claim.spec.devices.requests.len()), (1, 1));
    let status = pod.status.extended_resource_claim_status.as_ref().unwrap();
    assert_eq!((&status.resource_claim_name, status.request_mappings.len()), (&claim.metadata.name, 1));
    let mapping = &status.request_mappings[0];
    assert_eq!([&mapping.container_name, &mapping.resource_name, &mapping.request_name], ["m", "example.com/gpu", "container-0-request-1"]);

    // A claim left over from a failure must be deleted first.
    world.cluster.insert(Object::ResourceClaim(claim.clone()));
    assert_eq!(world.run("n1").in_text(), Status::unresolvable("cannot schedule extended resource claim"));
    let (status, writes) = post_filter(&world);
    assert_eq!(status, "Unschedulable: deletion of ResourceClaim completed");
    assert!(writes[0].meta().deletion_timestamp.is_some() && writes[0].meta().finalizers.is_empty());
}

#[test]
fn extended_resources_that_nothing_serves_do_not_fit() {
    let wants = "containers: [{name: m, resources: {requests: {example.com/gpu: 1, example.com/other: 1}}}]";
    let mut world = extended_world(&[&slice("n1", "{name: a}")], wants);
    assert_eq!(world.run("n1").in_text(), Status::unresolvable("cannot fit resource"));
    assert_eq!(world.run("n1").fact().as_deref(), Some("does not offer example.com/other"));
    for wants in ["containers: [{name: m, resources: {requests: {example.com/gpu: 0}}}]", "containers: [{name: m}]"] {
        assert_eq!(extended_world(&[], wants).pre_filter(), Status::skip());
    }
    let mut world = extended_world(&[], "containers: [{name: m, resources: {requests: {example.com/gpu: 1}}}]");
    assert_eq!(world.run("n1").in_text(), Status::unresolvable("cannot allocate all claims"));
    world.emulation.set(Gate::DRAExtendedResource, false);
    assert_eq!(world.pre_filter(), Status::skip());
}

#[test]
fn init_containers_reuse_the_requests_of_later_containers() {
    let ask = |name: &str, count: u32, more: &str| format!("{{name: {name}, resources: {{requests: {{example.com/gpu: {count}}}}}{more}}}");
    let many = (0..8).map(|i| format!("{{name: d{i}}}")).collect::<Vec<_>>().join(", ");
    for (init, main, expected) in [
        // The largest short-lived container needs two more than the main container has.
        (vec![ask("i", 3, ""), ask("j", 5, "")], ask("m", 3, ""), "container-1-request-0:2 container-2-request-0:3"),
        (vec![ask("i", 2, "")], ask("m", 3, ""), "container-1-request-0:3"),
        (
            vec![ask("i", 4, ", restartPolicy: Always"), ask("j", 2, "")],
            ask("m", 1, ""),
            "container-0-request-0:4 container-1-request-0:1 container-2-request-0:1",
        ),
    ] {
        let spec = format!("initContainers: [{}], containers: [{main}]", init.join(", "));
        let mut world = extended_world(&[&slice("n1", &many)], &spec);
        assert_eq!(world.run("n1"), Status::success(), "{spec}");
        let state = world.state.read::<DynamicResourcesState>().unwrap();
        let found = state.found();
        let claim = found.nodes["n1"].extended.clone().unwrap();
        let requests: Vec<String> =
            claim.claim.spec.devices.requests.iter().map(|r| format!("{}:{}", r.name, r.exactly.as_ref().unwrap().count)).collect();
        assert_eq!(requests.join(" "), expected, "{spec}");
    }
}

#[test]
fn the_newest_class_serves_an_extended_resource() {
    let class = |name: &str, time: &str| {
        format!("{{kind: DeviceClass, metadata: {{name: {name}{time}}}, spec: {{extendedResourceName: e.com/x}}}}")
    };
    let new = ", creationTimestamp: '2026-01-01T00:00:00Z'";
    let old = ", creationTimestamp: '2025-01-01T00:00:00Z'";
    let other = "{kind: DeviceClass, metadata: {name: e}, spec: {extendedResourceName: e.com/z}}";
    let cluster = cluster(&[&class("a", ""), &class("c", new), &class("b", new), &class("d", old), other]);
    for (resource, expected) in [
        ("e.com/x", Some("b")),
        ("e.com/y", None),
        // A class serves the resource of its own name, unless a class before it has taken the other one.
        ("deviceclass.resource.kubernetes.io/a", Some("a")),
        ("deviceclass.resource.kubernetes.io/b", Some("b")),
        ("deviceclass.resource.kubernetes.io/c", None),
        ("deviceclass.resource.kubernetes.io/d", None),
        ("deviceclass.resource.kubernetes.io/e", Some("e")),
        ("deviceclass.resource.kubernetes.io/gpu", Some("gpu")),
        ("deviceclass.resource.kubernetes.io/f", None),
    ] {
        assert_eq!(extended_resource_class(&cluster, resource).map(|c| c.metadata.name.to_string()).as_deref(), expected, "{resource}");
    }
}

#[test]
fn hints_wait_for_all_claims_and_for_a_change_that_matters() {
    let events = Plugin::events_to_register(&DynamicResources::default(), Emulation::default()).unwrap();
    let labels: Vec<String> = events.iter().map(|e| format!("{}{}", e.event.resource, u8::from(e.hint.is_some()))).collect();
    assert_eq!(
        labels,
        ["Node0", "resource.k8s.io/ResourceClaim1", "Pod1", "resource.k8s.io/DeviceClass0", "resource.k8s.io/ResourceSlice0"]
    );
    let hint = |resource: EventResource| events.iter().find(|e| e.event.resource == resource).and_then(|e| e.hint.clone()).unwrap();

    let (free, held, other) = (claim("c", "", ""), claim("c", "", &holding(&["a"])), claim("x", "", ""));
    let labelled = free.replace("name: c", "labels: {l: v}, name: c");
    let other_held = claim("x", "", &holding(&["a"]));
    for (old, new, expected) in [
        (None, &free, QueueingHint::Queue),
        (Some(&free), &held, QueueingHint::Queue),
        (Some(&free), &labelled, QueueingHint::QueueSkip),
        (None, &other, QueueingHint::QueueSkip),
        (Some(&other), &other_held, QueueingHint::QueueSkip),
        (Some(&other_held), &other, QueueingHint::Queue),
    ] {
        let change = Change { old: old.map(|o| objects(&[o]).remove(0)), new: Some(objects(&[new]).remove(0)) };
        let world = World::new(cluster(&[&free]), pod_with(&["c"]));
        let pod = world.pod.pod.clone();
        assert_eq!(hint(EventResource::ResourceClaim)(&world.cx(), &pod, &change), Ok(expected), "{old:?} {new}");
        // A pod with missing claims is not retried.
        let world = World::new(cluster(&[&free]), pod_with(&["c", "missing"]));
        let pod = world.pod.pod.clone();
        assert_eq!(hint(EventResource::ResourceClaim)(&world.cx(), &pod, &change), Ok(QueueingHint::QueueSkip));
    }
    let world = World::new(cluster(&[&free]), pod_with(&["c"]));
    let pod_change = |pod: &PodInfo| Change { old: None, new: Some(Object::Pod(pod.pod.clone())) };
    let pod = world.pod.pod.clone();
    assert!(hint(EventResource::ResourceClaim)(&world.cx(), &pod, &pod_change(&world.pod)).is_err());
    for (changed, expected) in [
        (pod_with(&["c"]), QueueingHint::Queue),
        (pod_with(&["missing"]), QueueingHint::QueueSkip),
        (pod_info("{metadata: {name: q, uid: q}}"), QueueingHint::QueueSkip),
    ] {
        assert_eq!(hint(EventResource::Pod)(&world.cx(), &pod, &pod_change(&changed)), Ok(expected));
    }
}
