use super::*;

/// Returns the requests of a pod as `name=amount`, in order of name.
fn requests(yaml: &str, options: PodResourcesOptions<'_>) -> String {
    let pod: Pod = serde_yaml::from_str(yaml).unwrap();
    let entries: Vec<String> = pod_requests(&pod, options).iter().map(|(name, amount)| format!("{name}={amount}")).collect();
    entries.join(" ")
}

#[test]
fn containers_sidecars_and_init_containers_add_up() {
    let main = "containers: [{resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 500m, memory: 1Gi}}}]";
    for (spec, expected) in [
        (main.to_owned(), "cpu=1500m memory=1Gi"),
        // An ordinary init container counts if it requests more than all containers together.
        (format!("{main}, initContainers: [{{resources: {{requests: {{cpu: 2, memory: 1Mi}}}}}}]"), "cpu=2 memory=1Gi"),
        // A sidecar adds to the containers, and to the init containers after it, but not to those before it.
        (
            format!(
                "{main}, initContainers: [{{resources: {{requests: {{cpu: 1800m}}}}}}, \
                     {{restartPolicy: Always, resources: {{requests: {{cpu: 200m}}}}}}]"
            ),
            "cpu=1800m memory=1Gi",
        ),
        (
            format!(
                "{main}, initContainers: [{{restartPolicy: Always, resources: {{requests: {{cpu: 200m}}}}}}, \
                     {{resources: {{requests: {{cpu: 1800m}}}}}}]"
            ),
            "cpu=2 memory=1Gi",
        ),
        // Supported pod-level requests replace the sum; overhead is added to them.
        (
            format!(
                "{main}, resources: {{requests: {{cpu: 4, hugepages-2Mi: 2Mi, example.com/x: 9}}}}, overhead: {{cpu: 50m, memory: 1Mi}}"
            ),
            "cpu=4050m hugepages-2Mi=2Mi memory=1025Mi",
        ),
        // Limits are never read.
        ("containers: [{resources: {limits: {cpu: 1}}}], resources: {limits: {memory: 1Gi}}".to_owned(), ""),
    ] {
        assert_eq!(requests(&format!("{{spec: {{{spec}}}}}"), PodResourcesOptions::default()), expected, "{spec}");
    }
    let skip = PodResourcesOptions { skip_pod_level_resources: true, ..PodResourcesOptions::default() };
    assert_eq!(requests("{spec: {resources: {requests: {cpu: 4}}, overhead: {cpu: 1}}}", skip), "cpu=1");
}

#[test]
fn a_resize_in_progress_counts_the_larger_amount() {
    let status = PodResourcesOptions { use_status_resources: true, in_place_pod_level: true, ..PodResourcesOptions::default() };
    let containers = "containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]";
    let larger = "{name: c, resources: {requests: {cpu: 2}}, allocatedResources: {memory: 2Gi}}";
    let infeasible = "conditions: [{type: PodResizePending, reason: Infeasible}]";
    let deferred = "conditions: [{type: PodResizePending, reason: Deferred}, {type: PodResizePending, reason: Infeasible}]";
    for (spec, status_yaml, expected) in [
        (containers, format!("containerStatuses: [{larger}]"), "cpu=2 memory=2Gi"),
        (containers, "containerStatuses: [{name: c, allocatedResources: {cpu: 9}}]".to_owned(), "cpu=1 memory=1Gi"),
        (containers, format!("containerStatuses: [{{name: c, resources: {{requests: {{cpu: 100m}}}}}}], {infeasible}"), "cpu=100m"),
        (containers, format!("containerStatuses: [{{name: c, resources: {{requests: {{cpu: 100m}}}}}}], {deferred}"), "cpu=1 memory=1Gi"),
        // Sidecars may be resized, ordinary init containers may not.
        (
            "initContainers: [{name: c, restartPolicy: Always, resources: {requests: {cpu: 1}}}]",
            format!("initContainerStatuses: [{larger}]"),
            "cpu=2 memory=2Gi",
        ),
        ("initContainers: [{name: c, resources: {requests: {cpu: 1}}}]", format!("initContainerStatuses: [{larger}]"), "cpu=1"),
        // With the spec ignored, pod-level resources that the status does not report are 0.
        ("resources: {requests: {cpu: 1, memory: 1Gi}}", "resources: {requests: {cpu: 2}}".to_owned(), "cpu=2 memory=1Gi"),
        ("resources: {requests: {cpu: 1}}", "allocatedResources: {cpu: 2}".to_owned(), "cpu=1"),
        ("resources: {requests: {cpu: 1, memory: 1Gi}}", format!("resources: {{requests: {{cpu: 2}}}}, {infeasible}"), "cpu=2 memory=0"),
    ] {
        let yaml = format!("{{spec: {{{spec}}}, status: {{{status_yaml}}}}}");
        assert_eq!(requests(&yaml, status), expected, "{yaml}");
    }
}

#[test]
fn the_largest_sum_counts_where_a_release_takes_the_maximum_of_the_pod() {
    let status =
        |resizes| PodResourcesOptions { use_status_resources: true, in_place_pod_level: true, resizes, ..PodResourcesOptions::default() };
    let spec = "containers: [{name: a, resources: {requests: {cpu: 1}}}, {name: b, resources: {requests: {cpu: 2}}}]";
    let shown = |name: &str, allocated: &str, actuated: &str| {
        format!("{{name: {name}, allocatedResources: {{cpu: {allocated}}}, resources: {{requests: {{cpu: {actuated}}}}}}}")
    };
    let infeasible = "conditions: [{type: PodResizePending, reason: Infeasible}]";
    for (statuses, more, of_container, of_pod) in [
        // Desired 1 + 2, allocated and actuated 2 + 1.
        (format!("{}, {}", shown("a", "2", "2"), shown("b", "1", "1")), "", "cpu=4", "cpu=3"),
        // A single container that grows: as before.
        (shown("b", "5", "5"), "", "cpu=6", "cpu=6"),
        // Without actuated requests the allocated ones count, and without those the desired ones.
        ("{name: a, allocatedResources: {cpu: 3}}".to_owned(), "", "cpu=3", "cpu=5"),
        // Of an infeasible resize only what the kubelet reports counts.
        (format!("{}, {}", shown("a", "500m", "500m"), shown("b", "1", "1")), infeasible, "cpu=1500m", "cpu=1500m"),
        // The kubelet's amounts for the pod replace the sums over its containers.
        (
            format!("{}, {}", shown("a", "2", "2"), shown("b", "1", "1")),
            "allocatedResources: {cpu: 7}, resources: {requests: {cpu: 6}}",
            "cpu=4",
            "cpu=7",
        ),
    ] {
        let yaml = format!("{{spec: {{{spec}}}, status: {{containerStatuses: [{statuses}], {more}}}}}");
        assert_eq!(requests(&yaml, status(ResizeMaximum::OfContainer)), of_container, "{yaml}");
        assert_eq!(requests(&yaml, status(ResizeMaximum::OfPod)), of_pod, "{yaml}");
    }
}

#[test]
fn releases_without_sidecars_run_every_init_container_alone() {
    let yaml = "{spec: {containers: [{resources: {requests: {cpu: 1}}}], \
                    initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 3}}}]}}";
    assert_eq!(requests(yaml, PodResourcesOptions::default()), "cpu=4");
    assert_eq!(requests(yaml, PodResourcesOptions { sidecars_unknown: true, ..PodResourcesOptions::default() }), "cpu=3");
}

const MI: i64 = 1024 * 1024;

#[test]
fn scoring_assumes_requests_for_containers_without() {
    let per_phase: Emulation = crate::release::Profile::named("v1.31.1").expect("an emulated release").into();
    for (yaml, cpu, memory) in [
        ("containers: [{}, {}]", 200, 400 * MI),
        ("containers: [{}], initContainers: [{restartPolicy: Always}]", 100, 200 * MI),
        (
            "containers: [{}], initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 2}}}]",
            3000,
            200 * MI,
        ),
        ("containers: [{}], overhead: {cpu: 1, memory: 5Mi}", 1100, 205 * MI),
    ] {
        let pod: Pod = serde_yaml::from_str(&format!("{{spec: {{{yaml}}}}}")).unwrap();
        let used = PodResource::with_emulation(&pod, per_phase);
        assert_eq!((used.non_zero_cpu, used.non_zero_memory), (cpu, memory), "{yaml}");
    }
    let mut without_pod_level = Emulation::default();
    without_pod_level.set(Gate::PodLevelResources, false);
    for (spec, emulation, milli_cpu, non_zero) in [
        ("containers: [{}, {resources: {requests: {cpu: 0, memory: 1Mi}}}]", Emulation::default(), 0, (100, 201 * MI)),
        ("initContainers: [{}]", Emulation::default(), 0, (100, 200 * MI)),
        ("containers: [{}, {}], resources: {requests: {cpu: 1}}", Emulation::default(), 1000, (1000, 400 * MI)),
        (
            "containers: [{resources: {requests: {memory: 5Mi}}}, {}], resources: {requests: {cpu: 1}}",
            Emulation::default(),
            1000,
            (1000, 5 * MI),
        ),
        ("containers: [{}], resources: {requests: {cpu: 1}}", without_pod_level, 0, (100, 200 * MI)),
    ] {
        let pod: Pod = serde_yaml::from_str(&format!("{{spec: {{{spec}}}}}")).unwrap();
        let resource = PodResource::with_emulation(&pod, emulation);
        assert_eq!((resource.resource.milli_cpu, (resource.non_zero_cpu, resource.non_zero_memory)), (milli_cpu, non_zero), "{spec}");
    }
}

#[test]
fn only_known_names_count() {
    let list: ResourceList = serde_yaml::from_str(
        "{cpu: 1500u, memory: 1500m, pods: 3, ephemeral-storage: 1Ki, example.com/gpu: 2, hugepages-2Mi: 4Mi, unknown: 7, \
             attachable-volumes-x: 5, requests.example.com/x: 1, 'bad prefix/x': 1, example.com/: 1, x.kubernetes.io/y: 6}",
    )
    .unwrap();
    let resource = Resource::from_list(&list);
    assert_eq!((resource.milli_cpu, resource.memory, resource.ephemeral_storage, resource.allowed_pod_number), (2, 2, 1024, 3));
    let names: Vec<String> = resource.scalar.iter().map(|(n, v)| format!("{n}={v}")).collect();
    assert_eq!(names, ["attachable-volumes-x=5", "example.com/gpu=2", "hugepages-2Mi=4194304", "x.kubernetes.io/y=6"]);
    assert!(is_extended_resource_name("example.com/gpu") && !is_extended_resource_name("x.kubernetes.io/y"));
}

#[test]
fn sums_wrap_and_a_largest_request_is_never_negative() {
    let list: ResourceList = serde_yaml::from_str("{cpu: -1, memory: 8Ei, ephemeral-storage: -2, example.com/x: -3, pods: 4}").unwrap();
    let largest = Resource::max_of_list(&list);
    assert_eq!((largest.milli_cpu, largest.memory, largest.ephemeral_storage, largest.allowed_pod_number), (0, i64::MAX, 0, 0));
    assert_eq!((largest.scalar("example.com/x"), largest.scalar("example.com/y")), (0, 0));
    let mut sum = Resource::from_list(&list);
    sum.apply(&Resource::from_list(&list), 1);
    sum.apply(&Resource::from_list(&list), -1);
    assert_eq!(sum, Resource::from_list(&list));
}
