//! Tests of `devices`.

use super::*;
use crate::framework::{DeviceId, DeviceVerdict};

fn device(name: &str, obstacles: Vec<Obstacle>) -> DeviceVerdict {
    DeviceVerdict { id: DeviceId { driver: "d".into(), pool: "p".into(), device: name.into() }, obstacles }
}

fn request(devices: Vec<DeviceVerdict>) -> RequestDevices {
    let suitable = devices.iter().filter(|d| d.obstacles.is_empty()).count();
    RequestDevices {
        request: "r".into(),
        class: "gpu".into(),
        wanted: Some(1),
        suitable,
        devices,
        more: [(Against::Taken, 3), (Against::Selector, 1)].into(),
        not_judged: 0,
    }
}

fn words(request: RequestDevices, constraints: usize) -> Vec<String> {
    let claim = ClaimDevices { claim: "c".into(), usable_here: None, requests: vec![request], constraints };
    let node = NodeDevices { node: "n".into(), rejected: true, claims: vec![claim] };
    node_devices(&node).into_iter().map(|line| line.words).collect()
}

#[test]
fn each_device_has_a_line_with_all_that_speaks_against_it() {
    let failure = |error: Option<&str>| {
        let values = vec![("model".into(), "\"a100\"".to_owned())];
        let (expression, error) = ("device.driver == \"x\"".to_owned(), error.map(str::to_owned));
        Obstacle::Selector(SelectorFailure { class: Some("gpu".into()), index: 1, expression, error, values })
    };
    let taken = Obstacle::Taken { claim: Some(crate::cluster::Key::new("a", "b")) };
    let found = words(request(vec![device("x", vec![taken, failure(None)]), device("y", vec![failure(Some("CEL runtime error: e"))])]), 0);
    assert_eq!(
        found,
        [
            "claim c",
            "request r: 1 device of class gpu; 0 of 6 suit",
            "d/p/x: taken by claim a/b; selector #1 of class gpu is false: device.driver == \"x\" (model is \"a100\")",
            "d/p/y: selector #1 of class gpu fails: CEL runtime error: e: device.driver == \"x\"",
            "… and 4 more: 3 taken by other claims, 1 not selected",
        ]
    );
}

#[test]
fn a_node_with_enough_devices_for_each_request_is_rejected_for_all_of_them_together() {
    let found = words(request(vec![device("x", Vec::new())]), 1);
    assert_eq!(found[2], "d/p/x: suits");
    assert_eq!(found[4], "Each request has enough devices by itself, but not all of them together under 1 constraint.");
}
