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
mod tests;
