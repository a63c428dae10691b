use super::*;
use crate::cluster::Object;
use crate::release::{Gate, Profile};

fn object(kind: Kind, yaml: &str) -> Object {
    Object::deserialize_kind(kind, serde_yaml::Deserializer::from_str(yaml)).unwrap()
}

fn rule(name: &str, selector: &str) -> Arc<DeviceTaintRule> {
    let yaml = format!("{{metadata: {{name: {name}}}, spec: {{{selector}taint: {{key: {name}, effect: NoSchedule}}}}}}");
    let Object::DeviceTaintRule(rule) = object(Kind::DeviceTaintRule, &yaml) else { panic!("a rule") };
    rule
}

/// Two slices of driver `gpu`, pools `p` and `q`, and one of driver `nic`, pool `p`; each with devices `a` (tainted) and `b`.
fn cluster(rules: &[Arc<DeviceTaintRule>]) -> Cluster {
    let slice = |driver: &str, pool: &str| {
        let devices = "[{name: a, taints: [{key: own, effect: NoSchedule}]}, {name: b}]";
        let yaml = format!(
            "{{metadata: {{name: {driver}-{pool}}}, spec: {{driver: {driver}, pool: {{name: {pool}}}, allNodes: true, devices: {devices}}}}}"
        );
        object(Kind::ResourceSlice, &yaml)
    };
    let slices = [slice("gpu", "p"), slice("gpu", "q"), slice("nic", "p")];
    slices.into_iter().chain(rules.iter().cloned().map(Object::DeviceTaintRule)).collect()
}

fn emulation(version: &str) -> Emulation {
    Profile::named(version).expect("an emulated release").into()
}

fn words(slices: &[Arc<ResourceSlice>]) -> Vec<String> {
    let keys = |taints: &[DeviceTaint]| taints.iter().map(|t| t.key.as_str()).collect::<Vec<_>>().join("+");
    let of_slice = |slice: &Arc<ResourceSlice>| {
        let devices: Vec<String> = slice.spec.devices.iter().map(|d| format!("{}:{}", d.name, keys(&d.taints))).collect();
        format!("{} {}", slice.metadata.name, devices.join(" "))
    };
    slices.iter().map(of_slice).collect()
}

#[test]
fn a_rule_taints_the_devices_that_all_of_its_selector_fits() {
    let tainted = |selector: &str| words(&tainted_slices(&cluster(&[rule("r", selector)]), emulation("v1.37.0"))).join(", ");
    let all = "gpu-p a:own+r b:r, gpu-q a:own+r b:r, nic-p a:own+r b:r";
    assert_eq!(tainted(""), all, "a rule without a selector taints every device");
    assert_eq!(tainted("deviceSelector: {}, "), all);
    assert_eq!(tainted("deviceSelector: {driver: gpu}, "), "gpu-p a:own+r b:r, gpu-q a:own+r b:r, nic-p a:own b:");
    assert_eq!(tainted("deviceSelector: {pool: p}, "), "gpu-p a:own+r b:r, gpu-q a:own b:, nic-p a:own+r b:r");
    assert_eq!(tainted("deviceSelector: {driver: gpu, pool: q, device: b}, "), "gpu-p a:own b:, gpu-q a:own b:r, nic-p a:own b:");
    assert_eq!(tainted("deviceSelector: {driver: other}, "), "gpu-p a:own b:, gpu-q a:own b:, nic-p a:own b:");
}

#[test]
fn rules_add_up_by_name_and_only_where_both_gates_are_on() {
    let rules = [rule("s", "deviceSelector: {device: b}, "), rule("r", "deviceSelector: {driver: nic}, ")];
    let keys = |emulation: Emulation| words(&tainted_slices(&cluster(&rules), emulation)).remove(2);
    assert_eq!(keys(emulation("v1.37.0")), "nic-p a:own+r b:r+s");
    let mut other = emulation("v1.36.2");
    assert_eq!(keys(other), "nic-p a:own b:", "the gate is off in 1.36");
    other.set(Gate::DRADeviceTaintRules, true);
    assert_eq!(keys(other), "nic-p a:own+r b:r+s");
    other.set(Gate::DRADeviceTaints, false);
    assert_eq!(keys(other), "nic-p a:own b:");
}

#[test]
fn a_change_of_a_rule_changes_the_slices_that_it_taints_otherwise() {
    let (one, other) = (rule("r", "deviceSelector: {pool: p}, "), rule("r", "deviceSelector: {driver: gpu}, "));
    let changed = |cluster: &Cluster, old: Option<&Arc<DeviceTaintRule>>, new: Option<&Arc<DeviceTaintRule>>| {
        let changed = slices_tainted_otherwise(cluster, emulation("v1.37.0"), old.cloned(), new.cloned());
        changed.into_iter().map(|[before, after]| words(&[before, after]).join(" > ")).collect::<Vec<_>>()
    };
    assert_eq!(
        changed(&cluster(std::slice::from_ref(&one)), None, Some(&one)),
        ["gpu-p a:own b: > gpu-p a:own+r b:r", "nic-p a:own b: > nic-p a:own+r b:r"]
    );
    assert_eq!(
        changed(&cluster(std::slice::from_ref(&other)), Some(&one), Some(&other)),
        ["gpu-q a:own b: > gpu-q a:own+r b:r", "nic-p a:own+r b:r > nic-p a:own b:"]
    );
    assert_eq!(changed(&cluster(&[]), Some(&other), None).len(), 2);
    assert_eq!(changed(&cluster(std::slice::from_ref(&one)), Some(&one), Some(&one)), [""; 0]);
    assert!(slices_tainted_otherwise(&cluster(&[]), emulation("v1.36.2"), None, Some(one)).is_empty());
}
