//! The taints that DeviceTaintRules add to devices; mirrors
//! `staging/src/k8s.io/dynamic-resource-allocation/resourceslice/tracker/tracker.go`.
//!
//! Taints of a slice come first, then those of rules. Upstream takes the rules in random order; here they come by name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::cluster::resource::{DeviceTaint, DeviceTaintRule, ResourceSlice};
use crate::cluster::{Cluster, Key, Kind, Str};
use crate::release::Emulation;

/// Driver, pool and device of a rule; `None` selects all.
type Selected<'a> = (Option<&'a Str>, Option<&'a Str>, Option<&'a Str>);

/// Returns whether the scheduler reads DeviceTaintRules.
fn reads_rules(emulation: Emulation) -> bool {
    emulation.gated_kinds().contains(Kind::DeviceTaintRule)
}

/// Returns the slices by name, with the taints of rules.
pub(super) fn tainted_slices(cluster: &Cluster, emulation: Emulation) -> Vec<Arc<ResourceSlice>> {
    let slices = cluster.resource_slices.iter();
    if !reads_rules(emulation) || cluster.device_taint_rules.is_empty() {
        return slices.cloned().collect();
    }
    let rules = Rules::new(cluster.device_taint_rules.iter());
    slices.map(|slice| rules.taint(slice)).collect()
}

/// Returns the slices whose taints differ after a rule was added (no `old`), updated, or deleted (no `new`): before and after.
pub(crate) fn slices_tainted_otherwise(
    cluster: &Cluster,
    emulation: Emulation,
    old: Option<Arc<DeviceTaintRule>>,
    new: Option<Arc<DeviceTaintRule>>,
) -> Vec<[Arc<ResourceSlice>; 2]> {
    let Some(key) = new.as_ref().or(old.as_ref()).map(|rule| rule.metadata.key()).filter(|_| reads_rules(emulation)) else {
        return Vec::new();
    };
    let others = cluster.device_taint_rules.iter().filter(|rule| rule.metadata.key() != key);
    let others: BTreeMap<Key, Arc<DeviceTaintRule>> = others.map(|rule| (rule.metadata.key(), rule.clone())).collect();
    let [before, after] = [old, new].map(|rule| {
        let mut rules = others.clone();
        rules.extend(rule.map(|rule| (key.clone(), rule)));
        rules
    });
    let [before, after] = [&before, &after].map(|rules| Rules::new(rules.values()));
    let both = cluster.resource_slices.iter().map(|slice| [before.taint(slice), after.taint(slice)]);
    both.filter(|[before, after]| before != after).collect()
}

/// Rules by what they select.
struct Rules<'a> {
    by_selection: HashMap<Selected<'a>, Vec<(usize, &'a DeviceTaint)>>,
}

impl<'a> Rules<'a> {
    fn new(rules: impl Iterator<Item = &'a Arc<DeviceTaintRule>>) -> Self {
        let mut by_selection: HashMap<Selected<'a>, Vec<(usize, &'a DeviceTaint)>> = HashMap::new();
        for (place, rule) in rules.enumerate() {
            let selector = rule.spec.device_selector.as_ref();
            let selected = selector.map(|s| (s.driver.as_ref(), s.pool.as_ref(), s.device.as_ref())).unwrap_or_default();
            by_selection.entry(selected).or_default().push((place, &rule.spec.taint));
        }
        Self { by_selection }
    }

    /// Returns the slice with the taints of all rules that select its devices.
    fn taint(&self, slice: &Arc<ResourceSlice>) -> Arc<ResourceSlice> {
        let mut tainted = None;
        for (i, device) in slice.spec.devices.iter().enumerate() {
            let found = self.of_device(&slice.spec.driver, &slice.spec.pool.name, &device.name);
            if found.is_empty() {
                continue;
            }
            let tainted = tainted.get_or_insert_with(|| ResourceSlice::clone(slice));
            if let Some(device) = tainted.spec.devices.get_mut(i) {
                device.taints.extend(found.into_iter().cloned());
            }
        }
        tainted.map_or_else(|| slice.clone(), Arc::new)
    }

    fn of_device(&self, driver: &Str, pool: &Str, device: &Str) -> Vec<&'a DeviceTaint> {
        let mut found: Vec<(usize, &DeviceTaint)> = Vec::new();
        for of_driver in [None, Some(driver)] {
            for of_pool in [None, Some(pool)] {
                for of_device in [None, Some(device)] {
                    found.extend(self.by_selection.get(&(of_driver, of_pool, of_device)).into_iter().flatten());
                }
            }
        }
        found.sort_unstable_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, taint)| taint).collect()
    }
}

#[cfg(test)]
mod tests {
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
}
