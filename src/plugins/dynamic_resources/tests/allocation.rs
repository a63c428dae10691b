use super::*;

const NONE: &str = "UnschedulableAndUnresolvable: cannot allocate all claims";

/// Claims on a node with these devices of driver `gpu`.
fn check(devices: &str, claims: &[&str], expected: &str) {
    assert_eq!(allocate(&[&slice("n1", devices)], claims), expected, "{devices} {claims:?}");
}

/// A claim with one request.
fn one(request: &str) -> String {
    format!("requests: [{request}]")
}

#[test]
fn the_first_devices_that_fit_are_taken() {
    let three = "{name: a}, {name: b}, {name: c}";
    for (claims, expected) in [
        (vec![one(&exactly("r", 1, ""))], "r=a"),
        (vec![one(&exactly("r", 2, ""))], "r=a r=b"),
        (vec![one(&exactly("r", 4, ""))], NONE),
        (vec![one(&exactly("r", 2, "")), one(&exactly("s", 1, ""))], "r=a r=b; s=c"),
        (vec![one(&exactly("r", 2, "")), one(&exactly("s", 2, ""))], NONE),
        (vec![format!("requests: [{}, {}]", exactly("r", 1, ""), exactly("s", 1, ""))], "r=a s=b"),
        (vec![one("{name: r, exactly: {deviceClassName: any, allocationMode: All}}")], "r=a r=b r=c"),
        (vec![one(&exactly("r", 1, "")), one("{name: s, exactly: {deviceClassName: any, allocationMode: All}}")], NONE),
    ] {
        check(three, &claims.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
    check("", &[&one("{name: r, exactly: {deviceClassName: any, allocationMode: All}}")], NONE);
}

#[test]
fn the_search_goes_back_when_a_choice_leads_nowhere() {
    let only_a = ", selectors: [{cel: {expression: 'device.attributes[\"gpu\"].n == 1'}}]";
    let devices = "{name: a, attributes: {n: {int: 1}}}, {name: b, attributes: {n: {int: 2}}}";
    check(devices, &[&format!("requests: [{}, {}]", exactly("r", 1, ""), exactly("s", 1, only_a))], "r=b s=a");
    check(devices, &[&one(&exactly("r", 1, "")), &one(&exactly("s", 1, only_a))], "r=b; s=a");
}

#[test]
fn devices_in_use_are_left_out_but_for_admin_access() {
    let devices = slice("n1", "{name: a}, {name: b}");
    let (exclusive, shared) =
        (claim("x", "", &holding(&["a"])), claim("x", "", &holding(&["a"]).replace("device: a", "device: a, adminAccess: true")));
    let admin = one(&exactly("r", 2, ", adminAccess: true"));
    assert_eq!(allocate(&[&devices, &exclusive], &[&one(&exactly("r", 1, ""))]), "r=b");
    assert_eq!(allocate(&[&devices, &exclusive], &[&one(&exactly("r", 2, ""))]), NONE);
    assert_eq!(allocate(&[&devices, &shared], &[&one(&exactly("r", 2, ""))]), "r=a r=b");
    assert_eq!(allocate(&[&devices, &exclusive], &[&admin]), "r=a r=b");
    assert_eq!(allocate(&[&devices], &[&admin, &admin]), "r=a r=b; r=a r=b");
    // A claim gets a device once, and a device with admin access is not available to the pod's other requests.
    assert_eq!(allocate(&[&devices], &[&one(&exactly("r", 3, ", adminAccess: true"))]), NONE);
    assert_eq!(allocate(&[&devices], &[&admin, &one(&exactly("s", 1, ""))]), NONE);
}

#[test]
fn alternatives_are_tried_in_order() {
    let list = |subs: &[(&str, u32)]| {
        let subs: Vec<String> =
            subs.iter().map(|(n, c)| format!("{{name: {n}, deviceClassName: any, allocationMode: ExactCount, count: {c}}}")).collect();
        format!("{{name: r, firstAvailable: [{}]}}", subs.join(", "))
    };
    let two = "{name: a}, {name: b}";
    check(two, &[&one(&list(&[("many", 3), ("few", 1)]))], "r/few=a");
    check(two, &[&one(&list(&[("two", 2), ("one", 1)]))], "r/two=a r/two=b");
    // A later request may need the devices of the preferred alternative.
    check(two, &[&one(&list(&[("two", 2), ("one", 1)])), &one(&exactly("s", 1, ""))], "r/one=a; s=b");
    check(two, &[&one(&list(&[("three", 3), ("four", 4)]))], NONE);
    check(two, &[&one(&list(&[("x", 33), ("y", 40)]))], "Error: claim d/c0: number of requested devices 33 exceeds the claim limit of 32");
    check(two, &[&one(&list(&[("x", 33), ("y", 1)]))], "r/y=a");
    let full = (0..34).map(|i| format!("{{name: d{i:02}}}")).collect::<Vec<_>>().join(", ");
    let requests = format!("requests: [{}, {}]", exactly("s", 32, ""), list(&[("y", 1), ("z", 2)]));
    check(&full, &[&requests], "Error: claim d/c0: number of requested devices 33 exceeds the claim limit of 32");
    // The minimum of the alternatives is within the limit, but too little remains after the first request.
    let requests = format!("requests: [{}, {}]", list(&[("big", 32), ("small", 1)]), exactly("s", 31, ""));
    let shown = allocate(&[&slice("n1", &full)], &[&requests]);
    assert!(shown.starts_with("r/small=d00 s=d01") && shown.ends_with("s=d31"), "{shown}");
}

#[test]
fn constraints_hold_over_requests() {
    let devices = "{name: a, attributes: {numa: {int: 0}}}, {name: b, attributes: {numa: {int: 1}}}, \
                   {name: c, attributes: {gpu/numa: {int: 1}}}, {name: d}";
    let with = |requests: &str, constraint: &str| format!("requests: [{requests}], constraints: [{constraint}]");
    let (r, s) = (exactly("r", 1, ""), exactly("s", 1, ""));
    let both = format!("{r}, {s}");
    check(devices, &[&with(&exactly("r", 2, ""), "{matchAttribute: gpu/numa}")], "r=b r=c");
    check(devices, &[&with(&both, "{matchAttribute: gpu/numa}")], "r=b s=c");
    check(devices, &[&with(&both, "{requests: [r], matchAttribute: gpu/numa}")], "r=a s=b");
    check(devices, &[&with(&both, "{matchAttribute: other/numa}")], NONE);
    check(devices, &[&with(&both, "{distinctAttribute: gpu/numa}")], "r=a s=b");
    check(devices, &[&with(&format!("{both}, {}", exactly("t", 1, "")), "{distinctAttribute: gpu/numa}")], NONE);
    check(devices, &[&with(&both, "{}")], "Error: claim d/c0, constraint #0: empty constraint (unsupported constraint type?)");
    let sub = "{name: r, firstAvailable: [{name: x, deviceClassName: any, allocationMode: ExactCount, count: 2}]}";
    check(devices, &[&with(sub, "{requests: [r/x], matchAttribute: gpu/numa}")], "r/x=b r/x=c");
    check(devices, &[&with(sub, "{requests: [r/y], matchAttribute: gpu/numa}")], "r/x=a r/x=b");
    let all = "{name: r, exactly: {deviceClassName: any, allocationMode: All}}";
    check(
        devices,
        &[&with(all, "{matchAttribute: gpu/numa}")],
        "Error: claim d/c0, request r: cannot add device gpu/n1/b because a claim constraint would not be satisfied",
    );
}

#[test]
fn attributes_of_every_type_are_compared() {
    for value in ["string: x", "bool: true", "version: 1.0.0"] {
        let devices = format!(
            "{{name: a, attributes: {{k: {{int: 5}}}}}}, {{name: b, attributes: {{k: {{{value}}}}}}}, {{name: c, attributes: {{k: {{{value}}}}}}}"
        );
        check(&devices, &[&format!("requests: [{}], constraints: [{{matchAttribute: gpu/k}}]", exactly("r", 2, ""))], "r=b r=c");
        let requests: Vec<String> = ["r", "s"].iter().map(|n| exactly(n, 1, "")).collect();
        check(&devices, &[&format!("requests: [{}], constraints: [{{distinctAttribute: gpu/k}}]", requests.join(", "))], "r=a s=b");
    }
}

#[test]
fn a_device_of_no_known_value_is_distinct_once_nothing_is_left_to_compare_with() {
    let devices = "{name: a, attributes: {k: {string: x}}}, {name: b, attributes: {k: {string: y}}}, {name: c, attributes: {k: {}}}";
    let distinct = |requests: &[&str]| format!("requests: [{}], constraints: [{{distinctAttribute: gpu/k}}]", requests.join(", "));
    let (two, one) = (exactly("r", 2, ""), exactly("s", 1, ""));
    // With a and b for the first request none is left for the second. Giving b back forgets the value of the first request, that of a included.
    check(devices, &[&distinct(&[&two, &one])], "r=a r=c s=b");
    check("{name: a, attributes: {k: {string: x}}}, {name: c, attributes: {k: {}}}", &[&distinct(&[&two])], NONE);
}

#[test]
fn taints_keep_devices_from_those_who_do_not_tolerate_them() {
    let devices = "{name: a, taints: [{key: k, value: v, effect: NoSchedule}]}, {name: b}";
    check(devices, &[&one(&exactly("r", 1, ""))], "r=b");
    check(devices, &[&one(&exactly("r", 1, ", tolerations: [{key: k, operator: Exists}]"))], "r=a");
}

#[test]
fn shared_capacity_and_counters_run_out() {
    let gpu = "{name: a, allowMultipleAllocations: true, capacity: {memory: {value: 10Gi}}}";
    let some = |name: &str, amount: &str| exactly(name, 1, &format!(", capacity: {{requests: {{memory: {amount}}}}}"));
    check(gpu, &[&one(&some("r", "4Gi")), &one(&some("s", "6Gi"))], "r=a; s=a");
    check(gpu, &[&one(&some("r", "4Gi")), &one(&some("s", "7Gi"))], NONE);
    check(gpu, &[&one(&some("r", "4Gi")), &one(&exactly("s", 1, ""))], NONE);
    let held = claim("x", "", &holding(&["a"]).replace("device: a", "device: a, shareID: s, consumedCapacity: {memory: 5Gi}"));
    assert_eq!(allocate(&[&slice("n1", gpu), &held], &[&one(&some("r", "5Gi"))]), "r=a");
    assert_eq!(allocate(&[&slice("n1", gpu), &held], &[&one(&some("r", "6Gi"))]), NONE);

    let partition = |name: &str, amount: u32| {
        format!("{{name: {name}, consumesCounters: [{{counterSet: set, counters: {{memory: {{value: {amount}}}}}}}]}}")
    };
    let pool = |devices: &str, name: &str| {
        format!(
            "{{kind: ResourceSlice, metadata: {{name: {name}}}, spec: {{driver: gpu, nodeName: n1, pool: {{name: n1, resourceSliceCount: 2}}, {devices}}}}}"
        )
    };
    let counters = pool("sharedCounters: [{name: set, counters: {memory: {value: 10}}}]", "counters");
    let devices =
        pool(&format!("devices: [{}, {}, {}]", partition("whole", 10), partition("half", 5), partition("other-half", 5)), "devices");
    let held = claim("x", "", &holding(&["half"]));
    for (extra, count, expected) in
        [(None, 1, "r=whole"), (None, 2, "r=half r=other-half"), (None, 3, NONE), (Some(&held), 1, "r=other-half"), (Some(&held), 2, NONE)]
    {
        let documents: Vec<&str> = [&counters, &devices].into_iter().chain(extra).map(String::as_str).collect();
        assert_eq!(allocate(&documents, &[&one(&exactly("r", count, ""))]), expected, "{extra:?} {count}");
    }
}

#[test]
fn pools_count_only_when_whole_and_sound() {
    let slice = |name: &str, spec: &str| format!("{{kind: ResourceSlice, metadata: {{name: {name}}}, spec: {{driver: gpu, {spec}}}}}");
    let (single, all) = (one(&exactly("r", 1, "")), one("{name: r, exactly: {deviceClassName: any, allocationMode: All}}"));
    let here = |generation: u32, count: u32, devices: &str| {
        format!("nodeName: n1, pool: {{name: n1, generation: {generation}, resourceSliceCount: {count}}}, devices: [{devices}]")
    };
    let invalid = "UnschedulableAndUnresolvable: invalid resource pools were encountered";
    for (what, slices, single_expected, all_expected) in [
        ("by name of the slice", vec![here(0, 2, "{name: b}"), here(0, 2, "{name: a}")], "r=b", "r=b r=a"),
        ("newest generation", vec![here(1, 1, "{name: old}"), here(2, 1, "{name: new}")], "r=new", "r=new"),
        (
            "incomplete",
            vec![here(0, 2, "{name: a}")],
            NONE,
            "Error: claim d/c0, request r: asks for all devices, but resource pool gpu/n1 is currently being updated",
        ),
        (
            "duplicate device",
            vec![here(0, 2, "{name: a}"), here(0, 2, "{name: a}")],
            invalid,
            "Error: claim d/c0, request r: asks for all devices, but resource pool gpu/n1 is currently invalid",
        ),
        (
            "unknown counters",
            vec![here(0, 1, "{name: a, consumesCounters: [{counterSet: x, counters: {m: {value: 1}}}]}")],
            invalid,
            "Error: claim d/c0, request r: asks for all devices, but resource pool gpu/n1 is currently invalid",
        ),
        (
            "complete elsewhere",
            vec![here(0, 2, "{name: a}"), here(0, 2, "{name: z}").replace("nodeName: n1", "nodeName: n2")],
            "r=a",
            "r=a",
        ),
        (
            "obsolete by a generation elsewhere",
            vec![here(0, 2, "{name: a}"), here(1, 1, "{name: z}").replace("nodeName: n1", "nodeName: n2")],
            NONE,
            NONE,
        ),
        ("nothing says where", vec!["pool: {name: n1, resourceSliceCount: 1}, devices: [{name: a}]".to_owned()], NONE, NONE),
    ] {
        let slices: Vec<String> = slices.iter().enumerate().map(|(i, spec)| slice(&format!("s{i}"), spec)).collect();
        let documents: Vec<&str> = slices.iter().map(String::as_str).collect();
        assert_eq!(allocate(&documents, &[&single]), single_expected, "{what}");
        assert_eq!(allocate(&documents, &[&all]), all_expected, "{what}");
    }
}

#[test]
fn pools_come_by_driver_and_name_and_those_with_binding_conditions_last() {
    let slice = |driver: &str, pool: &str, device: &str| {
        format!(
            "{{kind: ResourceSlice, metadata: {{name: {driver}-{pool}}}, spec: {{driver: {driver}, allNodes: true, \
             pool: {{name: {pool}, resourceSliceCount: 1}}, devices: [{device}]}}}}"
        )
    };
    let slices = [
        slice("b", "p", "{name: d}"),
        slice("a", "q", "{name: d}"),
        slice("a", "p", "{name: d, bindingConditions: [ready]}"),
        slice("c", "o", "{name: d}"),
    ];
    let documents: Vec<&str> = slices.iter().map(String::as_str).collect();
    assert_eq!(allocate(&documents, &[&one(&exactly("r", 4, ""))]), "r=q/d r=p/d r=o/d r=p/d");
}

#[test]
fn where_a_device_can_be_used_decides_where_the_claim_can() {
    let zone = "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [z-n1]}]}]}";
    let own = Some("metadata.name=n1");
    for (place, device, expected) in [
        ("nodeName: n1", "", own),
        ("allNodes: true", "", None),
        ("allNodes: true", ", bindsToNode: true", own),
        (&*format!("nodeSelector: {zone}"), "", Some("zone=z-n1")),
        ("perDeviceNodeSelection: true", ", nodeName: n1", own),
        ("perDeviceNodeSelection: true", ", allNodes: true", None),
        ("perDeviceNodeSelection: true", &*format!(", nodeSelector: {zone}"), Some("zone=z-n1")),
    ] {
        let document = format!(
            "{{kind: ResourceSlice, metadata: {{name: s}}, spec: {{driver: gpu, {place}, pool: {{name: n1, resourceSliceCount: 1}}, devices: [\
             {{name: never, nodeName: n2}}, {{name: a{device}}}]}}}}"
        );
        let document = if place.starts_with("perDevice") { document } else { document.replace("{name: never, nodeName: n2}, ", "") };
        let claim = claim("c", &one(&exactly("r", 1, "")), "");
        let mut world = World::new(cluster(&[&document, &claim]), pod_with(&["c"]));
        assert_eq!(world.run("n1"), Status::success(), "{place} {device}");
        let results = world.results("n1");
        assert_eq!(show(&results), "r=a", "{place} {device}");
        let selector = results[0].node_selector.as_ref().map(|s| {
            let term = &s.node_selector_terms[0];
            let requirement = term.match_fields.iter().chain(&term.match_expressions).next().unwrap();
            format!("{}={}", requirement.key, requirement.values[0])
        });
        assert_eq!(selector.as_deref(), expected, "{place} {device}");
        if place.starts_with("nodeSelector") {
            assert_eq!(world.filter("n2").message(), "cannot allocate all claims");
        }
    }
}

#[test]
fn requests_that_cannot_be_worked_with_are_errors() {
    for (request, expected) in [
        ("{name: r, exactly: {deviceClassName: any}}", "Error: claim d/c0, request r: unsupported count mode "),
        (
            &*exactly("r", 1, ", selectors: [{}]"),
            "Error: claim d/c0, request r, selector #0: CEL expression empty (unsupported selector type?)",
        ),
        (&*exactly("r", 33, ""), "Error: claim d/c0: number of requested devices 33 exceeds the claim limit of 32"),
        (
            &*exactly("r", 1, ", selectors: [{cel: {expression: 'device.attributes[\"gpu\"].nothing == 1'}}]"),
            "Error: claim d/c0: selector #0: CEL runtime error: no such key: nothing",
        ),
        (
            &*exactly("r", 1, ", selectors: [{cel: {expression: '1'}}]"),
            "Error: claim d/c0: selector #0: CEL compile error: must evaluate to bool or the unknown type, not int",
        ),
    ] {
        check("{name: a}", &[&one(request)], expected);
    }
    let broken = "{kind: DeviceClass, metadata: {name: any}, spec: {selectors: [{cel: {expression: 'device.attributes[\"x\"].y'}}]}}";
    assert_eq!(
        allocate(&[&slice("n1", "{name: a}"), broken], &[&one(&exactly("r", 1, ""))]),
        "Error: class any: selector #0: CEL runtime error: no such key: y"
    );
}

#[test]
fn a_hopeless_search_ends() {
    // 40 equal devices, 20 of which are requested with one that does not exist: too many combinations to try.
    let devices = (0..40).map(|i| format!("{{name: d{i:02}, attributes: {{n: {{int: {i}}}}}}}")).collect::<Vec<_>>().join(", ");
    let missing = exactly("s", 1, ", selectors: [{cel: {expression: 'device.attributes[\"gpu\"].n == 99'}}]");
    let claim = claim("c", &format!("requests: [{}, {missing}]", exactly("r", 20, "")), "");
    let mut world = World::new(cluster(&[&slice("n1", &devices), &claim]), pod_with(&["c"]));
    let args = DynamicResourcesArgs { filter_timeout: jiff::SignedDuration::from_secs(1), ..Default::default() };
    world.plugin = DynamicResources::new(args, true);
    assert_eq!(world.run("n1").to_string(), "Error: node n1: timed out trying to allocate devices");
}

#[test]
fn costly_selectors_use_up_the_filter_timeout() {
    // A second pays for some ten evaluations.
    let devices = |count: usize| (0..count).map(|i| format!("{{name: d{i:02}}}")).collect::<Vec<_>>().join(", ");
    let costly = "lists.range(60).all(a, lists.range(60).all(b, a + b >= 0)) && false";
    let claim = claim("c", &format!("requests: [{}]", exactly("r", 1, &format!(", selectors: [{{cel: {{expression: '{costly}'}}}}]"))), "");
    let verdict = |count| {
        let mut world = World::new(cluster(&[&slice("n1", &devices(count)), &claim]), pod_with(&["c"]));
        let args = DynamicResourcesArgs { filter_timeout: jiff::SignedDuration::from_secs(1), ..Default::default() };
        world.plugin = DynamicResources::new(args, true);
        world.run("n1").to_string()
    };
    assert_eq!(verdict(40), "Error: node n1: timed out trying to allocate devices");
    assert!(!verdict(2).contains("timed out"), "{}", verdict(2));
}

#[test]
fn a_decision_among_many_ends_after_steps_on_each_node() {
    use crate::limits::engine::{SEARCH_STEPS, SEARCH_STEPS_ON_NODE};
    assert_eq!([0, 1, 10].map(crate::framework::search_steps_on_node), [SEARCH_STEPS, SEARCH_STEPS, SEARCH_STEPS / 10]);
    assert_eq!(crate::framework::search_steps_on_node(1_000_000), SEARCH_STEPS_ON_NODE);
    let devices = (0..24).map(|i| format!("{{name: d{i:02}, attributes: {{n: {{int: {i}}}}}}}")).collect::<Vec<_>>().join(", ");
    let missing = exactly("s", 1, ", selectors: [{cel: {expression: 'device.attributes[\"gpu\"].n == 99'}}]");
    let claim = claim("c", &format!("requests: [{}, {missing}]", exactly("r", 8, "")), "");
    let mut world = World::new(cluster(&[&slice("n1", &devices), &claim]), pod_with(&["c"]));
    world.state = CycleState::within(Some(1000));
    assert_eq!(world.run("n1").to_string(), "Error: node n1: not decided: the search for devices takes more than 1000 steps");
}

#[test]
fn a_deep_search_fits_the_stack_of_a_thread() {
    let devices = (0..1100).map(|i| format!("{{name: d{i}}}")).collect::<Vec<_>>().join(", ");
    let claims: Vec<String> = (0..40).map(|_| one(&exactly("r", 30, ""))).collect();
    let run = move || allocate(&[&slice("n1", &devices)], &claims.iter().map(String::as_str).collect::<Vec<_>>());
    let shown = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    assert_eq!(shown, "Error: node n1: timed out trying to allocate devices");
}

#[test]
fn earlier_releases_treat_pools_and_what_they_do_not_know_otherwise() {
    let of = |version: &str, slice: &str, request: &str, rest: &str| {
        let mut world = World::new(cluster(&[slice, &claim("c", &format!("requests: [{request}]{rest}"), "")]), pod_with(&["c"]));
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        world.run("n1").to_string()
    };
    let incomplete = slice("n1", "{name: a}").replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let one = exactly("r", 1, "");
    assert_eq!(of("v1.34.1", &incomplete, &one, ""), "Success");
    assert_eq!(of("v1.35.2", &incomplete, &one, ""), "UnschedulableAndUnresolvable: cannot allocate all claims");
    let twice = slice("n1", "{name: a}, {name: a}");
    assert_eq!(of("v1.34.1", &twice, &one, ""), "Error: pool n1 is invalid: duplicate device name a");
    assert_eq!(of("v1.35.2", &twice, &one, ""), "UnschedulableAndUnresolvable: invalid resource pools were encountered");
    assert_eq!(of("v1.36.2", &twice, &one, ""), "UnschedulableAndUnresolvable: invalid resource pools were encountered");
    let capacity = exactly("r", 1, ", capacity: {requests: {memory: 1}}");
    let plain = slice("n1", "{name: a}");
    assert_eq!(of("v1.35.2", &plain, &capacity, ""), "Success");
    assert!(of("v1.34.1", &plain, &capacity, "").contains("the DRAConsumableCapacity feature is disabled"));
    let distinct = ", constraints: [{distinctAttribute: gpu/x}]";
    assert!(of("v1.35.2", &plain, &one, distinct).contains("empty constraint"));
    assert!(!of("v1.34.1", &plain, &one, distinct).contains("empty constraint"));
}

#[test]
fn earlier_releases_confuse_alternatives_and_distinct_values() {
    let of = |version: &str, documents: &[&str], devices: &str| {
        let claim = claim("c", devices, "");
        let documents: Vec<&str> = documents.iter().copied().chain([claim.as_str()]).collect();
        let mut world = World::new(cluster(&documents), pod_with(&["c"]));
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        match world.run("n1") {
            status if status.is_success() => show(&world.results("n1")),
            status => status.to_string(),
        }
    };
    let list = |subs: &str| format!("requests: [{{name: r, firstAvailable: [{subs}]}}]");
    let sub = |name: &str, mode: &str, n: u32| {
        let selector = format!("selectors: [{{cel: {{expression: 'device.attributes[\"gpu\"].n == {n}'}}}}]");
        format!("{{name: {name}, deviceClassName: any, allocationMode: {mode}, {selector}}}")
    };
    let devices =
        slice("n1", "{name: a, attributes: {n: {int: 1}}}, {name: b, attributes: {n: {int: 2}}}, {name: c, attributes: {n: {int: 2}}}");
    // An alternative's devices are noted for the alternative before it.
    let both_all = list(&[sub("x", "All", 9), sub("y", "All", 2)].join(", "));
    assert_eq!(of("v1.34.1", &[&devices], &both_all), NONE);
    assert_eq!(of("v1.35.2", &[&devices], &both_all), NONE);
    assert_eq!(of("v1.36.2", &[&devices], &both_all), "r/y=b r/y=c");
    let then_all = |count: u32| list(&[sub("x", &format!("ExactCount, count: {count}"), 9), sub("y", "All", 2)].join(", "));
    assert_eq!(of("v1.34.1", &[&devices], &then_all(1)), "r/x=b");
    assert_eq!(of("v1.36.2", &[&devices], &then_all(1)), "r/y=b r/y=c");
    // After the first device of mode All the rest is allocated for the first alternative.
    assert_eq!(of("v1.34.1", &[&devices], &then_all(3)), NONE);
    assert_eq!(of("v1.36.2", &[&devices], &then_all(3)), "r/y=b r/y=c");
    // Two devices with the same value count as distinct.
    let of_value = |name: &str| exactly(name, 1, ", selectors: [{cel: {expression: 'device.attributes[\"gpu\"].n == 2'}}]");
    let distinct = format!("requests: [{}, {}], constraints: [{{distinctAttribute: gpu/n}}]", of_value("r"), of_value("s"));
    assert_eq!(of("v1.36.2", &[&devices], &distinct), NONE);
    assert_eq!(of("v1.34.1", &[&devices], &distinct), "r=b s=c");
    // A capacity request of an alternative is reported for the request.
    let capacity = list("{name: x, deviceClassName: any, allocationMode: ExactCount, count: 1, capacity: {requests: {m: 1}}}");
    let disabled = "Error: claim d/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled";
    assert_eq!(of("v1.34.1", &[&devices], &capacity), disabled);
    // Slices with shared counters belong to a pool like others.
    let two = devices.replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let counters = "{kind: ResourceSlice, metadata: {name: counters}, spec: {driver: gpu, nodeName: n1, \
                    pool: {name: n1, resourceSliceCount: 2}, sharedCounters: [{name: s, counters: {m: {value: 1}}}]}}";
    let all = one("{name: r, exactly: {deviceClassName: any, allocationMode: All}}");
    assert_eq!(of("v1.34.1", &[&two, counters], &all), "r=a r=b r=c");
}

#[test]
fn rejected_devices_give_back_their_counters_from_a_patch_on() {
    let of = |version: &str, documents: &[&str], devices: &str| {
        let claim = claim("c", devices, "");
        let documents: Vec<&str> = documents.iter().copied().chain([claim.as_str()]).collect();
        let mut world = World::new(cluster(&documents), pod_with(&["c"]));
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        match world.run("n1") {
            status if status.is_success() => show(&world.results("n1")),
            status => status.to_string(),
        }
    };
    let counters = "{kind: ResourceSlice, metadata: {name: counters}, spec: {driver: gpu, nodeName: n1, \
                    pool: {name: n1, resourceSliceCount: 2}, sharedCounters: [{name: s, counters: {m: {value: 2}}}]}}";
    let device =
        |name: &str, more: &str| format!("{{name: {name}, consumesCounters: [{{counterSet: s, counters: {{m: {{value: 2}}}}}}]{more}}}");
    let pool = |devices: &[String]| slice("n1", &devices.join(", ")).replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let one = format!("requests: [{}]", exactly("r", 1, ""));
    let tainted = pool(&[device("a", ", taints: [{key: k, effect: NoSchedule}]"), device("b", "")]);
    assert_eq!(of("v1.36.2", &[&tainted, counters], &one), NONE);
    assert_eq!(of("v1.36.3", &[&tainted, counters], &one), "r=b");
    // The constraint wants the attribute, which only the second has.
    let matching = format!("{one}, constraints: [{{matchAttribute: gpu/x}}]");
    let unmatched = pool(&[device("a", ""), device("b", ", attributes: {x: {int: 1}}")]);
    assert_eq!(of("v1.36.2", &[&unmatched, counters], &matching), NONE);
    assert_eq!(of("v1.36.3", &[&unmatched, counters], &matching), "r=b");
    // Without counters both are alike.
    let plain = slice("n1", "{name: a, taints: [{key: k, effect: NoSchedule}]}, {name: b}");
    for version in ["v1.36.2", "v1.36.3"] {
        assert_eq!(of(version, &[&plain], &one), "r=b", "{version}");
    }
}

/// The first choice shares a device, and is given up because the second request needs its counters.
#[test]
fn shared_devices_that_are_given_up_give_back_their_counters_from_a_patch_on() {
    let counters = "{kind: ResourceSlice, metadata: {name: counters}, spec: {driver: gpu, nodeName: n1, \
                    pool: {name: n1, resourceSliceCount: 2}, sharedCounters: [{name: s, counters: {m: {value: 1}}}]}}";
    let drawing = "consumesCounters: [{counterSet: s, counters: {m: {value: 1}}}]";
    let devices = format!(
        "{{name: a, allowMultipleAllocations: true, attributes: {{k: {{int: 1}}}}, {drawing}, capacity: {{memory: {{value: 4}}}}}}, \
         {{name: b, attributes: {{k: {{int: 1}}}}}}, {{name: c, attributes: {{k: {{int: 2}}}}, {drawing}}}"
    );
    let slice = slice("n1", &devices).replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let with =
        |name: &str, n: u32| exactly(name, 1, &format!(", selectors: [{{cel: {{expression: 'device.attributes[\"gpu\"].k == {n}'}}}}]"));
    let claim = claim("c", &format!("requests: [{}, {}]", with("r", 1), with("q", 2)), "");
    for (version, expected) in [("v1.36.2", NONE), ("v1.36.3", "r=b q=c")] {
        let mut world = World::new(cluster(&[&slice, counters, &claim]), pod_with(&["c"]));
        world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        let found = match world.run("n1") {
            status if status.is_success() => show(&world.results("n1")),
            status => status.to_string(),
        };
        assert_eq!(found, expected, "{version}");
    }
}

/// Returns the devices of a claim on `n1` in a release, or the status.
fn allocated_by(version: &str, documents: &[&str], devices: &str) -> String {
    let claim = claim("c0", devices, "");
    let documents: Vec<&str> = documents.iter().copied().chain([claim.as_str()]).collect();
    let mut world = World::new(cluster(&documents), pod_with(&["c0"]));
    world.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
    match world.run("n1") {
        status if status.is_success() => show(&world.results("n1")),
        status => status.to_string(),
    }
}

#[test]
fn a_distinct_attribute_compares_all_devices_of_a_request_from_1_37_on() {
    let devices = ["a, 1", "b, 2", "c, 1", "d, 3"].map(|of| {
        let (name, k) = of.split_once(", ").unwrap();
        format!("{{name: {name}, attributes: {{k: {{int: {k}}}}}}}")
    });
    let slice = slice("n1", &devices.join(", "));
    let claim = format!("requests: [{}], constraints: [{{distinctAttribute: gpu/k}}]", exactly("r", 3, ""));
    assert_eq!(allocated_by("v1.36.3", &[&slice], &claim), "r=a r=b r=c", "only the last device of a request is compared");
    assert_eq!(allocated_by("v1.37.0", &[&slice], &claim), "r=a r=b r=d");
    let four = format!("requests: [{}], constraints: [{{distinctAttribute: gpu/k}}]", exactly("r", 4, ""));
    assert_eq!(allocated_by("v1.37.0", &[&slice], &four), NONE);
}

/// Two drivers with a pool of the same name, each with a counter that is enough for one of its devices.
#[test]
fn drivers_have_counters_of_their_own_from_a_patch_on() {
    let of_driver = |driver: &str| {
        let counters = "sharedCounters: [{name: s, counters: {m: {value: 1}}}]";
        let device = "{name: a, consumesCounters: [{counterSet: s, counters: {m: {value: 1}}}]}";
        let spec = |more: &str| format!("{{driver: {driver}, pool: {{name: p, resourceSliceCount: 2}}, {more}}}");
        [
            format!("{{kind: ResourceSlice, metadata: {{name: {driver}-c}}, spec: {}}}", spec(&format!("allNodes: true, {counters}"))),
            format!(
                "{{kind: ResourceSlice, metadata: {{name: {driver}-d}}, spec: {}}}",
                spec(&format!("nodeName: n1, devices: [{device}]"))
            ),
        ]
    };
    let slices = [of_driver("gpu"), of_driver("nic")].concat();
    let slices: Vec<&str> = slices.iter().map(String::as_str).collect();
    let claim = one(&exactly("r", 2, ""));
    assert_eq!(allocated_by("v1.36.3", &slices, &claim), NONE, "the second device finds the counter of the first one's pool used up");
    assert_eq!(allocated_by("v1.36.4", &slices, &claim), "r=p/a r=p/a", "the change came with a patch, too");
    assert_eq!(allocated_by("v1.37.0", &slices, &claim), "r=p/a r=p/a");
}

#[test]
fn a_request_for_all_devices_needs_the_capacity_of_each_from_1_37_on() {
    let slice = slice("n1", "{name: a, capacity: {m: {value: 2}}}, {name: b, capacity: {m: {value: 1}}}");
    let all = one("{name: r, exactly: {deviceClassName: any, allocationMode: All, capacity: {requests: {m: 2}}}}");
    assert_eq!(allocated_by("v1.36.3", &[&slice], &all), "r=a");
    assert_eq!(allocated_by("v1.37.0", &[&slice], &all), NONE);
}

/// A share without a recorded capacity has drawn on the counter, which another share need not do again.
#[test]
fn a_share_without_capacity_draws_once_from_1_37_on() {
    let counters = "{kind: ResourceSlice, metadata: {name: counters}, spec: {driver: gpu, allNodes: true, \
                    pool: {name: n1, resourceSliceCount: 2}, sharedCounters: [{name: s, counters: {m: {value: 1}}}]}}";
    let device = "{name: a, allowMultipleAllocations: true, consumesCounters: [{counterSet: s, counters: {m: {value: 1}}}]}";
    let slice = slice("n1", device).replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let held = claim("x", "", &holding(&["a"]).replace("device: a", "device: a, shareID: u"));
    let claim = one(&exactly("r", 1, ""));
    assert_eq!(allocated_by("v1.36.3", &[counters, &slice, &held], &claim), NONE);
    assert_eq!(allocated_by("v1.37.0", &[counters, &slice, &held], &claim), "r=a");
    assert_eq!(allocated_by("v1.37.0", &[counters, &slice], &claim), "r=a");
}

#[test]
fn amounts_of_capacity_that_cannot_be_counted_end_the_attempt_from_1_37_on() {
    let plain = slice("n1", "{name: a, allowMultipleAllocations: true, capacity: {m: {value: 2}}}");
    let stepped = plain.replace("value: 2", "value: 2, requestPolicy: {default: 1, validRange: {min: 1, step: 1}}");
    let not = "Error: capacity \"m\": capacity request cannot be represented in the device's range arithmetic: ";
    for (slice, mode, request, before, after) in [
        (&plain, "", "'-1'", "r=a", "Error: capacity \"m\": capacity value is negative".to_owned()),
        (&plain, "allocationMode: All", "'-1'", "r=a", "Error: capacity \"m\": capacity value is negative".to_owned()),
        (&plain, "", "3", NONE, NONE.to_owned()),
        (&stepped, "", "9E", NONE, format!("{not}request 9E is not a representable milli value")),
        (&stepped, "", "1", "r=a", "r=a".to_owned()),
    ] {
        let mode = if mode.is_empty() { "allocationMode: ExactCount, count: 1" } else { mode };
        let claim = one(&format!("{{name: r, exactly: {{deviceClassName: any, {mode}, capacity: {{requests: {{m: {request}}}}}}}}}"));
        assert_eq!(allocated_by("v1.36.3", &[slice], &claim), before, "{request}");
        assert_eq!(allocated_by("v1.37.0", &[slice], &claim), after, "{request}");
    }
}

/// In 1.35 before its sixth patch, the scheduler ended where such a device was selected.
#[test]
fn a_request_for_all_devices_draws_on_counters() {
    let counters = |value: u32| {
        format!(
            "{{kind: ResourceSlice, metadata: {{name: counters}}, spec: {{driver: gpu, allNodes: true, \
             pool: {{name: n1, resourceSliceCount: 2}}, sharedCounters: [{{name: s, counters: {{m: {{value: {value}}}}}}}]}}}}"
        )
    };
    let device = |name: &str| format!("{{name: {name}, consumesCounters: [{{counterSet: s, counters: {{m: {{value: 1}}}}}}]}}");
    let slice = slice("n1", &[device("a"), device("b")].join(", ")).replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let all = one("{name: r, exactly: {deviceClassName: any, allocationMode: All}}");
    for release in ["v1.36.2", "v1.37.0"] {
        assert_eq!(allocated_by(release, &[&counters(2), &slice], &all), "r=a r=b", "{release}");
        assert_eq!(allocated_by(release, &[&counters(1), &slice], &all), NONE, "{release}");
    }
}

#[test]
fn selectors_read_list_attributes_from_1_37_on() {
    let devices =
        "{name: a, attributes: {ids: {ints: [1]}}}, {name: b, attributes: {ids: {ints: [2, 3]}}}, {name: c, attributes: {ids: {int: 3}}}";
    let slice = slice("n1", devices);
    let selects = |expression: &str| one(&exactly("r", 1, &format!(", selectors: [{{cel: {{expression: '{expression}'}}}}]")));
    let exists = selects("type(device.attributes[\"gpu\"].ids) == list && device.attributes[\"gpu\"].ids.exists(id, id == 3)");
    assert_eq!(allocated_by("v1.37.0", &[&slice], &exists), "r=b");
    assert_eq!(allocated_by("v1.37.0", &[&slice], &selects("device.attributes[\"gpu\"].ids.includes(3)")), "r=b");
    let before = allocated_by("v1.36.3", &[&slice], &exists);
    assert!(before.starts_with("Error: claim d/c0: selector #0: CEL compile error"), "{before}");
    let before = allocated_by("v1.36.3", &[&slice], &selects("device.attributes[\"gpu\"].ids.includes(3)"));
    assert!(before.starts_with("Error: claim d/c0: selector #0: CEL runtime error"), "{before}");
}

#[test]
fn the_error_of_a_selector_names_the_device_from_1_37_on() {
    let slice = slice("n1", "{name: a}");
    let of = |release, expression: &str| {
        let claim = one(&exactly("r", 1, &format!(", selectors: [{{cel: {{expression: '{expression}'}}}}]")));
        allocated_by(release, &[&slice], &claim)
    };
    let missing = "device.attributes[\"gpu\"].nothing == 1";
    assert_eq!(of("v1.36.3", missing), "Error: claim d/c0: selector #0: CEL runtime error: no such key: nothing");
    let hint = "\n\nSee https://pkg.go.dev/k8s.io/api/resource/v1#CELDeviceSelector for documentation on CEL device selectors and how to \
                handle optional fields.";
    let named = |rest: &str| format!("Error: claim d/c0: selector #0 on device gpu/n1/a: CEL runtime error: {rest}");
    assert_eq!(of("v1.37.0", missing), named(&format!("no such key: nothing{hint}")));
    assert_eq!(of("v1.37.0", "[1][device.driver.size()] == 1"), named("index out of bounds: 3"));
}
