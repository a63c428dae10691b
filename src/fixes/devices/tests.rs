//! Tests of `devices`.

use serde_json::{Value, json};

use super::*;

fn object(kind: Kind, value: Value) -> Object {
    Object::deserialize_kind(kind, value).unwrap()
}

#[test]
fn devices_that_take_many_evaluations_are_not_counted() {
    let devices: Vec<Value> = (0..10).map(|i| json!({"name": format!("d{i}")})).collect();
    let slice = json!({"metadata": {"name": "s"}, "spec": {"driver": "a", "pool": {"name": "p"}, "allNodes": true, "devices": devices}});
    let class = |name: &str, selectors: Value| json!({"metadata": {"name": name}, "spec": {"selectors": selectors}});
    let selector = json!([{"cel": {"expression": "device.driver == 'a'"}}]);
    let cluster: Cluster = [
        object(Kind::ResourceSlice, slice),
        object(Kind::DeviceClass, class("with", selector)),
        object(Kind::DeviceClass, class("without", json!([]))),
    ]
    .into_iter()
    .collect();
    let inventory = |evaluations| Inventory::of(&cluster, Emulation::default(), evaluations);
    let survey = |inventory: &Inventory<'_>, class: &str| {
        let path = RequestPath { request: 0, alternative: None, name: "r".into() };
        let class = Str::from(class);
        let wanted = Wanted { path, class: &class, selectors: &[], mode: &"ExactCount".into(), count: 1 };
        inventory.survey(&cluster, &wanted).map(|devices| devices.selected)
    };
    let (enough, few) = (inventory(15), inventory(9));
    assert_eq!((survey(&enough, "with"), survey(&enough, "with")), (Some(10), None), "one for each device");
    assert_eq!((survey(&few, "with"), survey(&few, "without")), (None, Some(10)), "a request without selectors takes none");
}

#[test]
fn proposals_are_counted_and_the_first_are_made() {
    let mut proposals = Proposals::up_to(3);
    let mut made = 0;
    for _ in 0..2 {
        proposals.add((0..2).inspect(|_| made += 1));
    }
    assert_eq!((proposals.is_full(), proposals.of, made), (true, 4, 3));
    assert_eq!(proposals.first, [0, 1, 0]);
}
