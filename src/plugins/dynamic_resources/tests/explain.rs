//! Obstacles of a node's devices, one by one.

use super::*;
use crate::cluster::Key;
use crate::framework::{Against, NodeDevices, Obstacle, SelectorFailure};

/// Judges the devices of `n1` for a pod with claim `c`.
fn judge(documents: &[&str], devices: &str) -> NodeDevices {
    let claim = claim("c", devices, "");
    let documents: Vec<&str> = documents.iter().copied().chain([claim.as_str()]).collect();
    let mut world = World::new(cluster(&documents), pod_with(&["c"]));
    let verdict = world.run("n1");
    FilterPlugin::devices(&world.plugin, &world.cx(), &world.state, &world.pod, &world.node("n1"), &verdict).unwrap()
}

/// Returns what is against each device of the only request, by name.
fn obstacles(found: &NodeDevices) -> Vec<(String, Vec<Obstacle>)> {
    let [request] = &found.claims[0].requests[..] else { panic!("one request") };
    request.devices.iter().map(|device| (device.id.device.to_string(), device.obstacles.clone())).collect()
}

fn request(class: &str, more: &str) -> String {
    format!("requests: [{{name: r, exactly: {{deviceClassName: {class}, allocationMode: ExactCount, count: 1{more}}}}}]")
}

fn selects(expression: &str) -> String {
    format!(", selectors: [{{cel: {{expression: 'true'}}}}, {{cel: {{expression: '{expression}'}}}}]")
}

fn of_request(expression: &str, error: Option<&str>, values: &[(&str, &str)]) -> Obstacle {
    Obstacle::Selector(SelectorFailure {
        class: None,
        index: 1,
        expression: expression.to_owned(),
        error: error.map(str::to_owned),
        values: values.iter().map(|(name, value)| (Str::from(*name), (*value).to_owned())).collect(),
    })
}

#[test]
fn the_selector_that_is_false_is_named_with_the_values_it_mentions() {
    let devices =
        slice("n1", "{name: a, attributes: {model: {string: a100}, n: {int: 1}}}, {name: b, attributes: {model: {string: h100}}}");
    let expression = "device.attributes[\"gpu\"].model == \"h100\"";
    let found = judge(&[&devices], &request("any", &selects(expression)));
    let a = vec![of_request(expression, None, &[("model", "\"a100\"")])];
    assert_eq!(obstacles(&found), [("a".to_owned(), a), ("b".to_owned(), vec![])]);
    assert!(!found.rejected);
    // The class comes first.
    let other = "{kind: DeviceClass, metadata: {name: other}, spec: {selectors: [{cel: {expression: 'device.driver == \"x\"'}}]}}";
    let found = judge(&[&devices, other], &request("other", &selects(expression)));
    assert!(found.rejected);
    for (_, obstacles) in obstacles(&found) {
        let [Obstacle::Selector(failure)] = &obstacles[..] else { panic!("{obstacles:?}") };
        assert_eq!((failure.class.as_deref(), failure.index, failure.error.as_deref()), (Some("other"), 0, None));
    }
}

#[test]
fn errors_of_selectors_have_their_text() {
    let devices = slice("n1", "{name: a}");
    for (expression, error) in [
        ("device.attributes[\"gpu\"].model == 1", "CEL runtime error: no such key: model"),
        ("device.nothing", "CEL compile error: compilation failed: ERROR: <input>:1:7: undefined field"),
    ] {
        let found = judge(&[&devices], &request("any", &selects(expression)));
        assert!(found.rejected);
        let obstacles = obstacles(&found).remove(0).1;
        let [Obstacle::Selector(failure)] = &obstacles[..] else { panic!("{obstacles:?}") };
        assert!(failure.error.as_deref().is_some_and(|text| text.starts_with(error)), "{failure:?}");
        assert_eq!(obstacles[0].against(), Against::SelectorError);
    }
}

#[test]
fn taken_tainted_and_short_devices_say_so() {
    let devices = slice(
        "n1",
        "{name: a}, {name: b, taints: [{key: k, value: v, effect: NoSchedule}]}, \
         {name: c, allowMultipleAllocations: true, capacity: {memory: {value: 10Gi}}}",
    );
    let holder = claim("x", "", &holding(&["a"]));
    let found = judge(&[&devices, &holder], &request("any", ", capacity: {requests: {memory: 11Gi}}"));
    let all = obstacles(&found);
    let memory = |free: Option<&str>| Obstacle::Capacity {
        name: "memory".into(),
        requested: "11Gi".parse().unwrap(),
        free: free.map(|q| q.parse().unwrap()),
        against_policy: false,
    };
    let taint = Obstacle::Tainted { key: "k".into(), value: "v".into(), effect: "NoSchedule".into() };
    assert_eq!(all[0].1, [Obstacle::Taken { claim: Some(Key::new("d", "x")) }, memory(None)]);
    assert_eq!(all[1].1, [memory(None), taint]);
    assert_eq!(all[2].1, [memory(Some("10Gi"))]);
    assert_eq!(found.claims[0].requests[0].suitable, 0);
    assert!(found.claims[0].requests[0].lacks());
}

#[test]
fn slices_of_old_or_incomplete_pools_offer_nothing() {
    let of = |name: &str, pool: &str, generation: u32, slices: u32, device: &str| {
        format!(
            "{{kind: ResourceSlice, metadata: {{name: {name}}}, spec: {{driver: gpu, nodeName: n1, \
             pool: {{name: {pool}, generation: {generation}, resourceSliceCount: {slices}}}, devices: [{{name: {device}}}]}}}}"
        )
    };
    let (old, new) = (of("s1", "p", 1, 1, "old"), of("s2", "p", 2, 1, "new"));
    let (part, twice) = (of("s3", "q", 1, 3, "part"), [of("s4", "z", 1, 2, "twin"), of("s5", "z", 1, 2, "twin")]);
    let found = judge(&[&old, &new, &part, &twice[0], &twice[1]], &request("any", ""));
    let invalid = Obstacle::PoolInvalid { duplicate: Some("twin".into()) };
    assert_eq!(
        obstacles(&found),
        [
            ("new".to_owned(), vec![]),
            ("old".to_owned(), vec![Obstacle::OldGeneration { generation: 1, newest: 2 }]),
            ("part".to_owned(), vec![Obstacle::PoolIncomplete { slices: 1, expected: 3 }]),
            ("twin".to_owned(), vec![invalid.clone()]),
            ("twin".to_owned(), vec![invalid]),
        ]
    );
}

#[test]
fn counters_that_are_used_up_are_named() {
    let documents = [
        "{kind: ResourceSlice, metadata: {name: s0}, spec: {driver: gpu, nodeName: n1, \
         pool: {name: n1, resourceSliceCount: 2}, sharedCounters: [{name: set, counters: {memory: {value: 4Gi}}}]}}",
        "{kind: ResourceSlice, metadata: {name: s1}, spec: {driver: gpu, nodeName: n1, pool: {name: n1, resourceSliceCount: 2}, \
         devices: [{name: a, consumesCounters: [{counterSet: set, counters: {memory: {value: 3Gi}}}]}, \
                   {name: b, consumesCounters: [{counterSet: set, counters: {memory: {value: 2Gi}}}]}]}}",
    ];
    let holder = claim("x", "", &holding(&["a"]));
    let found = judge(&[documents[0], documents[1], &holder], &request("any", ""));
    let [(_, a), (_, b)] = &obstacles(&found)[..] else { panic!("two devices") };
    assert!(matches!(&a[..], [Obstacle::Taken { .. }, Obstacle::Counter { .. }]), "{a:?}");
    let (needed, free) = ("2Gi".parse().unwrap(), Some("1Gi".parse().unwrap()));
    assert_eq!(b[..], [Obstacle::Counter { counter_set: "set".into(), counter: "memory".into(), needed, free }]);
}

#[test]
fn many_devices_are_counted_by_what_is_against_them() {
    let names: Vec<String> = (0..30).map(|i| format!("{{name: d{i:02}, attributes: {{n: {{int: {i}}}}}}}")).collect();
    let found = judge(&[&slice("n1", &names.join(", "))], &request("any", &selects("device.attributes[\"gpu\"].n > 27")));
    let request = &found.claims[0].requests[0];
    assert_eq!((request.suitable, request.devices.len(), request.count(), request.lacks()), (2, 16, 30, false));
    assert_eq!(request.more, [(Against::Nothing, 2), (Against::Selector, 12)].into());
}

#[test]
fn long_and_wrapped_expressions_are_shortened_to_one_line() {
    let expression = format!("device.driver == \"{}\"   &&\\n  false", "x".repeat(400));
    let request = request("any", &format!(", selectors: [{{cel: {{expression: \"{}\"}}}}]", expression.replace('"', "\\\"")));
    let found = judge(&[&slice("n1", "{name: a}")], &request);
    let obstacles = obstacles(&found).remove(0).1;
    let [Obstacle::Selector(failure)] = &obstacles[..] else { panic!("{obstacles:?}") };
    assert_eq!(failure.expression.chars().count(), 161);
    assert!(failure.expression.ends_with('…') && !failure.expression.contains('\n'));
}

#[test]
fn devices_beyond_the_limits_are_counted_as_not_judged() {
    let devices = |count: usize| (0..count).map(|i| format!("{{name: d{i:04}}}")).collect::<Vec<_>>().join(", ");
    let wanted = |name: usize, more: &str| {
        format!("{{name: r{name}, exactly: {{deviceClassName: any, allocationMode: ExactCount, count: 1{more}}}}}")
    };
    let requests = (0..6).map(|i| wanted(i, "")).collect::<Vec<_>>().join(", ");
    let not_judged = |devices: &str, requests: &str| -> Vec<usize> {
        let found = judge(&[&slice("n1", devices)], &format!("requests: [{requests}]"));
        found.claims[0].requests.iter().map(|request| request.not_judged).collect()
    };
    assert_eq!(not_judged(&devices(2_100), &requests), [100, 100, 100, 100, 100, 2_100]);
    // Costly selectors use up the devices of a node earlier.
    let costly = wanted(0, ", selectors: [{cel: {expression: 'lists.range(200).all(a, lists.range(200).all(b, a + b >= 0)) && false'}}]");
    let [rest] = not_judged(&devices(100), &costly)[..] else { panic!("one request") };
    assert!((1..100).contains(&rest), "{rest}");
}
