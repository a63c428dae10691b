use super::*;
use crate::cluster::{Kind, Object};
use crate::plugins::helper::testing::node;

fn cluster(objects: &[(Kind, &str)]) -> Cluster {
    let read = |(kind, yaml): &(Kind, &str)| {
        let value: serde_yaml::Value = serde_yaml::from_str(yaml).unwrap();
        Object::deserialize_kind(*kind, value).unwrap()
    };
    objects.iter().map(read).collect()
}

#[test]
fn devices_that_a_node_can_use_are_counted() {
    let cluster = cluster(&[
        (Kind::DeviceClass, "{metadata: {name: all}, spec: {extendedResourceName: example.com/x}}"),
        (
            Kind::ResourceSlice,
            "{metadata: {name: here}, spec: {driver: d, pool: {name: n1}, nodeName: n1, devices: [{name: d0}, {name: d1}]}}",
        ),
        (Kind::ResourceSlice, "{metadata: {name: there}, spec: {driver: d, pool: {name: n2}, nodeName: n2, devices: [{name: d0}]}}"),
        (
            Kind::ResourceSlice,
            "{metadata: {name: everywhere}, spec: {driver: d, pool: {name: net}, allNodes: true, devices: [{name: d0}]}}",
        ),
        (
            Kind::ResourceSlice,
            "{metadata: {name: picked}, spec: {driver: d, pool: {name: zone}, devices: [{name: d0}], \
             nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}}",
        ),
        (
            Kind::ResourceSlice,
            "{metadata: {name: each}, spec: {driver: d, pool: {name: each}, perDeviceNodeSelection: true, devices: [\
             {name: d0, nodeName: n1}, {name: d1, nodeName: n2}, {name: d2, allNodes: true}, {name: d3}, \
             {name: d4, nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}]}}",
        ),
        (
            Kind::ResourceClaim,
            "{metadata: {name: c, namespace: d}, status: {allocation: {devices: {results: [\
             {driver: d, pool: n1, device: d0}, {driver: d, pool: n1, device: d1, adminAccess: true}, \
             {driver: d, pool: each, device: d2, shareID: s}, {driver: other, pool: net, device: d0}]}}}}",
        ),
    ]);
    let names: Vec<Str> = ["cpu", "example.com/x"].into_iter().map(Str::from).collect();
    let dra = DraResources::gather(&cluster, Emulation::default(), names.iter()).unwrap();
    let zoned = |name: &str| node(&format!("{{metadata: {{name: {name}, labels: {{zone: z}}}}}}"));
    for (node, expected) in [
        (node("{metadata: {name: n1}}"), (5, 2)),
        (node("{metadata: {name: n2}}"), (4, 1)),
        (node("{metadata: {name: n3}}"), (2, 1)),
        (zoned("n3"), (4, 1)),
    ] {
        assert_eq!(dra.capacity_and_allocated(1, &node), expected, "{}", node.name());
        assert_eq!(dra.capacity_and_allocated(0, &node), (0, 0));
    }
    assert!(DraResources::gather(&cluster, Emulation::default(), names[..1].iter()).is_none());
}

#[test]
fn only_devices_of_the_class_count() {
    let slice = (
        Kind::ResourceSlice,
        "{metadata: {name: a}, spec: {driver: d, pool: {name: p}, allNodes: true, devices: [\
         {name: d0, attributes: {kind: {string: big}}}, {name: d1, attributes: {kind: {string: small}}}, {name: d2}]}}",
    );
    let names: Vec<Str> = vec!["example.com/x".into()];
    for (selectors, expected) in [
        ("", (3, 0)),
        ("{cel: {expression: 'device.driver == \"d\"'}}", (3, 0)),
        ("{cel: {expression: 'device.driver == \"d\"'}}, {cel: {expression: 'device.driver == \"e\"'}}", (0, 0)),
        ("{cel: {expression: '\"kind\" in device.attributes[\"d\"]'}}", (2, 0)),
        // One device without the attribute is an error and hides the others.
        ("{cel: {expression: 'device.attributes[\"d\"].kind == \"big\"'}}", (0, 0)),
        ("{cel: {expression: 'no sense'}}", (0, 0)),
        ("{cel: {expression: 'device.driver == \"e\"'}}, {cel: {expression: 'no sense'}}", (0, 0)),
    ] {
        let class = format!("{{metadata: {{name: c}}, spec: {{extendedResourceName: example.com/x, selectors: [{selectors}]}}}}");
        let dra = DraResources::gather(&cluster(&[(Kind::DeviceClass, &class), slice]), Emulation::default(), names.iter()).unwrap();
        assert_eq!(dra.capacity_and_allocated(0, &node("{metadata: {name: n}}")), expected, "{selectors}");
    }
}

#[test]
fn a_failure_hides_the_resource() {
    let class = (Kind::DeviceClass, "{metadata: {name: all}, spec: {extendedResourceName: example.com/x}}");
    let good = (Kind::ResourceSlice, "{metadata: {name: a}, spec: {allNodes: true, devices: [{name: d0}]}}");
    let bad = "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Likes}]}]}";
    let slice = format!("{{metadata: {{name: b}}, spec: {{{bad}, devices: []}}}}");
    let device = format!("{{metadata: {{name: b}}, spec: {{perDeviceNodeSelection: true, devices: [{{{bad}}}]}}}}");
    let names: Vec<Str> = vec!["example.com/x".into()];
    for bad in [&slice, &device] {
        let dra = DraResources::gather(&cluster(&[class, good, (Kind::ResourceSlice, bad)]), Emulation::default(), names.iter()).unwrap();
        assert_eq!(dra.capacity_and_allocated(0, &node("{metadata: {name: n}}")), (0, 0), "{bad}");
    }
}
