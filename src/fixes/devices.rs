//! Searches changes of resource claims and device classes.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::change::{Change, ClaimChange, RequestPath};
use super::constraints::{Demand, Matrix};
use super::deletions::{exhausted_budgets, is_deletable};
use super::storage::is_unread;
use super::trial::Trials;
use super::typo::is_one_edit;
use super::{CutShort, Fix, FixOutcome, Fixes, Limits, Unproposed, Untried};
use crate::cel::{Activation, Selector};
use crate::cluster::resource::{
    CELDeviceSelector, Device, DeviceClass, DeviceRequest, DeviceSelector, ExactDeviceRequest, ResourceClaim, ResourceSlice,
};
use crate::cluster::{Cluster, Key, Kind, List, Object, Pod, PodResourceClaim, Str, Taint};
use crate::framework::PluginName;
use crate::limits::engine::FIXES_EVALUATIONS;
use crate::plugins::dynamic_resources::selector_environment;
use crate::release::Emulation;

/// Cost of an expression, in units of cel-go's cost, that counts as much as an evaluation.
const COST_OF_EVALUATION: u64 = 16;
/// Devices that a request without selectors passes in the time of an evaluation.
const DEVICES_OF_EVALUATION: usize = 64;

/// Devices of the cluster that a request selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Devices {
    /// Name of the request, or of request and alternative.
    pub request: Str,
    pub class: Str,
    /// Number of devices that the class selects.
    pub of_class: usize,
    /// Number of devices that class and request select.
    pub selected: usize,
    /// Number of selected devices that claims hold.
    pub held: usize,
    /// Claims that hold selected devices, by name.
    pub holders: Vec<Key>,
}

/// One request, or one alternative of a request.
struct Wanted<'a> {
    path: RequestPath,
    class: &'a Str,
    selectors: &'a [DeviceSelector],
    mode: &'a Str,
    count: i64,
}

/// Returns the requests of a claim with all alternatives.
fn wanted(claim: &ResourceClaim) -> Vec<Wanted<'_>> {
    let mut all = Vec::new();
    for (index, request) in claim.spec.devices.requests.iter().enumerate() {
        let path = |alternative, name| RequestPath { request: index, alternative, name };
        for (i, sub) in request.first_available.iter().enumerate() {
            let path = path(Some(i), format!("{}/{}", request.name, sub.name).into());
            all.push(Wanted {
                path,
                class: &sub.device_class_name,
                selectors: &sub.selectors,
                mode: &sub.allocation_mode,
                count: sub.count,
            });
        }
        if let Some(one) = request.exactly.as_ref().filter(|_| request.first_available.is_empty()) {
            let path = path(None, request.name.clone());
            all.push(Wanted {
                path,
                class: &one.device_class_name,
                selectors: &one.selectors,
                mode: &one.allocation_mode,
                count: one.count,
            });
        }
    }
    all
}

/// The devices that slices offer, and the claims that hold them.
pub(super) struct Inventory<'a> {
    devices: Vec<(&'a ResourceSlice, &'a Device)>,
    holders: HashMap<(&'a Str, &'a Str, &'a Str), Vec<Key>>,
    emulation: Emulation,
    /// Evaluations of selectors that are left for all requests.
    left: Cell<u64>,
}

impl<'a> Inventory<'a> {
    /// Gathers the devices of the newest slices, and allows a number of evaluations of selectors.
    pub(super) fn of(cluster: &'a Cluster, emulation: Emulation, evaluations: u64) -> Self {
        let mut newest: HashMap<(&Str, &Str), i64> = HashMap::new();
        for slice in cluster.resource_slices.iter() {
            let generation = newest.entry((&slice.spec.driver, &slice.spec.pool.name)).or_insert(i64::MIN);
            *generation = slice.spec.pool.generation.max(*generation);
        }
        let is_newest = |slice: &&Arc<ResourceSlice>| {
            newest.get(&(&slice.spec.driver, &slice.spec.pool.name)).is_some_and(|newest| *newest == slice.spec.pool.generation)
        };
        let slices = cluster.resource_slices.iter().filter(is_newest);
        let devices = slices.flat_map(|slice| slice.spec.devices.iter().map(move |device| (&**slice, device))).collect();
        let mut holders: HashMap<_, Vec<Key>> = HashMap::new();
        for claim in cluster.resource_claims.iter() {
            let results = claim.status.allocation.iter().flat_map(|allocation| allocation.devices.results.iter());
            for result in results.filter(|result| !result.admin_access.unwrap_or(false)) {
                holders.entry((&result.driver, &result.pool, &result.device)).or_default().push(claim.metadata.key());
            }
        }
        Self { devices, holders, emulation, left: Cell::new(evaluations) }
    }

    /// Takes evaluations from those that are left; `None` where there are fewer.
    fn spend(&self, evaluations: u64) -> Option<()> {
        let left = self.left.get().checked_sub(evaluations);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// Returns the devices that a request selects; `None` if they take more evaluations than are left, or a selector fails.
    fn survey(&self, cluster: &Cluster, wanted: &Wanted<'_>) -> Option<Devices> {
        let class = cluster.device_classes.named(wanted.class)?;
        self.spend((self.devices.len() / DEVICES_OF_EVALUATION) as u64)?;
        let environment = selector_environment(self.emulation);
        let compiled = |selectors: &[DeviceSelector]| -> Option<Vec<Selector>> {
            let compile = |selector: &DeviceSelector| Selector::compile(&selector.cel.as_ref()?.expression, environment).ok();
            selectors.iter().map(compile).collect()
        };
        let (of_class, of_request) = (compiled(&class.spec.selectors)?, compiled(wanted.selectors)?);
        let all = |selectors: &[Selector], activation: &Activation<'_>| -> Option<bool> {
            for selector in selectors {
                let (verdict, cost) = selector.evaluate(activation);
                self.spend(1 + cost / COST_OF_EVALUATION)?;
                if !verdict.ok()? {
                    return Some(false);
                }
            }
            Some(true)
        };
        let (request, class) = (wanted.path.name.clone(), wanted.class.clone());
        let mut devices = Devices { request, class, of_class: 0, selected: 0, held: 0, holders: Vec::new() };
        let mut holders = BTreeSet::new();
        for (slice, device) in &self.devices {
            let driver = &slice.spec.driver;
            let activation = Activation::new(driver, device, environment);
            if !all(&of_class, &activation)? {
                continue;
            }
            devices.of_class += 1;
            if !all(&of_request, &activation)? {
                continue;
            }
            devices.selected += 1;
            if let Some(held) = self.holders.get(&(driver, &slice.spec.pool.name, &device.name)) {
                devices.held += 1;
                holders.extend(held.iter().cloned());
            }
        }
        devices.holders = holders.into_iter().collect();
        Some(devices)
    }

    /// Returns the taints that keep devices from being allocated.
    fn taints(&self) -> Vec<Taint> {
        let taints = self.devices.iter().flat_map(|(_, device)| device.taints.iter());
        let effective = taints.filter(|taint| !taint.key.is_empty() && matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"));
        let distinct: BTreeMap<_, Taint> = effective
            .map(|taint| {
                let taint = Taint { key: taint.key.clone(), value: taint.value.clone(), effect: taint.effect.clone() };
                ((taint.key.clone(), taint.value.clone(), taint.effect.clone()), taint)
            })
            .collect();
        distinct.into_values().collect()
    }
}

/// The first proposals of many, and how many there are.
struct Proposals<T> {
    first: Vec<T>,
    most: usize,
    of: usize,
}

impl<T> Proposals<T> {
    /// Begins without any, to hold this number.
    fn up_to(most: usize) -> Self {
        Self { first: Vec::new(), most, of: 0 }
    }

    /// Whether no further one is held.
    fn is_full(&self) -> bool {
        self.first.len() >= self.most
    }

    /// Adds some, of which those that are not held are not made.
    fn add(&mut self, proposals: impl ExactSizeIterator<Item = T>) {
        self.of += proposals.len();
        self.first.extend(proposals.take(self.most - self.first.len()));
    }
}

/// A claim as a pod refers to it.
enum Reference<'a> {
    /// By its name; `generated` from a template.
    Named { claim: &'a Str, template: Option<&'a Str> },
    /// Not created from its template yet.
    Awaited { template: &'a Str },
    /// Nothing to allocate, or nothing that can be read.
    Nothing,
}

fn reference<'a>(pod: &'a Pod, claim: &'a PodResourceClaim) -> Reference<'a> {
    if let Some(claim) = &claim.resource_claim_name {
        return Reference::Named { claim, template: None };
    }
    let Some(template) = &claim.resource_claim_template_name else { return Reference::Nothing };
    match pod.status.resource_claim_statuses.iter().find(|status| status.name == claim.name) {
        Some(status) => {
            status.resource_claim_name.as_ref().map_or(Reference::Nothing, |claim| Reference::Named { claim, template: Some(template) })
        }
        None => Reference::Awaited { template },
    }
}

/// Returns the devices for the request of a pod's claim that has the fewest left; `None` if that cannot be said.
pub(super) fn scarcest(cluster: &Cluster, inventory: &Inventory<'_>, pod: &Pod, claim: &PodResourceClaim) -> Option<Devices> {
    let Reference::Named { claim, .. } = reference(pod, claim) else { return None };
    let claim = cluster.resource_claims.namespaced(&pod.metadata.namespace, claim)?;
    let mut found = Vec::new();
    for wanted in wanted(claim) {
        let devices = inventory.survey(cluster, &wanted)?;
        let spare = (devices.selected - devices.held) as i64 - wanted.count;
        found.push((spare, devices));
    }
    found.into_iter().min_by_key(|(spare, _)| *spare).map(|(_, devices)| devices)
}

/// Tries every single change of claims and classes, if any of the pod's claims keeps it out.
pub(super) fn singles(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Fixes) {
    let concerns = |demand: &Demand| match demand {
        Demand::Claim(_) => true,
        Demand::Other { plugin, .. } => *plugin == PluginName::DynamicResources,
        _ => false,
    };
    if !matrix.rows.iter().any(|row| concerns(&row.demand) && row.fails.count() > 0) {
        return;
    }
    let pod = trials.pod().clone();
    let state = trials.scheduler().state();
    let (cluster, emulation) = (state.cluster().clone(), state.config().emulation);
    let inventory = Inventory::of(&cluster, emulation, FIXES_EVALUATIONS);
    let taints = inventory.taints();
    let (holders, missing_classes) = (BTreeSet::new(), BTreeSet::new());
    let mut search = Claims { trials, cluster: &cluster, inventory, taints, limits, fixes, holders, missing_classes };
    let (mut missing, mut seen) = (Vec::new(), BTreeSet::new());
    for claim in &pod.spec.resource_claims {
        let template_exists = |template: &Str| cluster.resource_claim_templates.namespaced(&pod.metadata.namespace, template).is_some();
        let from_template = |template: &Str| Unproposed::FromTemplate {
            name: claim.name.clone(),
            template: template.clone(),
            exists: template_exists(template),
        };
        match reference(&pod, claim) {
            Reference::Nothing => {}
            Reference::Awaited { template } => search.fixes.unproposed.push(from_template(template)),
            Reference::Named { claim: name, .. } if !seen.insert(name) => {}
            Reference::Named { claim: name, template } => {
                match (cluster.resource_claims.namespaced(&pod.metadata.namespace, name), template) {
                    (Some(claim), _) => search.existing(&pod, claim),
                    (None, Some(template)) => search.fixes.unproposed.push(from_template(template)),
                    (None, None) if is_unread(&cluster, Kind::ResourceClaim) => {
                        search.fixes.unproposed.push(Unproposed::Unread { kind: Kind::ResourceClaim, name: name.clone() });
                    }
                    (None, None) => missing.push(Key::new(pod.metadata.namespace.clone(), name.clone())),
                }
            }
        }
    }
    search.create(&missing);
    search.free();
}

struct Claims<'a, 'b> {
    trials: &'a mut Trials<'b>,
    cluster: &'a Cluster,
    inventory: Inventory<'a>,
    /// The taints that keep devices from being allocated.
    taints: Vec<Taint>,
    limits: Limits,
    fixes: &'a mut Fixes,
    /// Claims that hold devices which the pod's requests select.
    holders: BTreeSet<Key>,
    /// Classes that do not exist, whose creation was tried.
    missing_classes: BTreeSet<Str>,
}

impl Claims<'_, '_> {
    fn works(&mut self, change: Change) -> bool {
        self.trials.try_all(vec![change], &mut self.fixes.fixes).is_some()
    }

    /// Tries to create claims that do not exist, together: each for one device of a class.
    fn create(&mut self, missing: &[Key]) {
        if missing.is_empty() {
            return;
        }
        let classes: Vec<Str> = self.cluster.device_classes.iter().map(|class| class.metadata.name.clone()).collect();
        if classes.is_empty() {
            let is_unread = is_unread(self.cluster, Kind::DeviceClass);
            let why = |key: &Key| {
                let name = key.name.clone();
                if is_unread { Unproposed::DeviceClassesUnread(name) } else { Unproposed::NoDeviceClass(name) }
            };
            self.fixes.unproposed.extend(missing.iter().map(why));
        }
        for class in self.trials.first_of(classes, self.limits.alike, Untried::DeviceClasses) {
            let create = |key: &Key| Change::Create { object: Object::ResourceClaim(Arc::new(new_claim(key, &class))), like: None };
            self.trials.try_all(missing.iter().map(create).collect(), &mut self.fixes.fixes);
        }
    }

    /// Tries the changes of an existing claim.
    fn existing(&mut self, pod: &Pod, claim: &Arc<ResourceClaim>) {
        let name = || claim.metadata.name.clone();
        if claim.metadata.deletion_timestamp.is_some() {
            return self.fixes.unproposed.push(Unproposed::Deleting { kind: Kind::ResourceClaim, name: name() });
        }
        if claim.status.allocation.is_some() {
            let is_used = claim.status.reserved_for.iter().any(|consumer| consumer.uid != pod.metadata.uid);
            if is_used {
                self.fixes.unproposed.push(Unproposed::AllocatedElsewhere(name()));
            } else {
                self.works(Change::Claim(claim.metadata.key(), ClaimChange::Free));
            }
            return;
        }
        let mut changes = Proposals::up_to(self.limits.alike);
        let mut any_may_hold = false;
        for wanted in wanted(claim) {
            if self.cluster.device_classes.named(wanted.class).is_none() {
                self.missing_class(&wanted, &mut changes);
                continue;
            }
            match self.inventory.survey(self.cluster, &wanted) {
                Some(devices) => self.holders.extend(devices.holders),
                // Without the answers of its selectors, any claim may hold a device that it selects.
                None if any_may_hold => {}
                None => {
                    any_may_hold = true;
                    self.holders.extend(self.inventory.holders.values().flatten().cloned());
                }
            }
            let request = || wanted.path.clone();
            let expression = |selector: &DeviceSelector| selector.cel.as_ref().map(|cel| cel.expression.clone()).unwrap_or_default();
            let selectors = wanted.selectors.iter().enumerate();
            changes.add(selectors.map(|(index, one)| ClaimChange::DropSelector { request: request(), index, expression: expression(one) }));
            changes.add(self.taints.iter().map(|taint| ClaimChange::Tolerate { request: request(), taint: taint.clone() }));
        }
        let constraints = claim.spec.devices.constraints.iter().enumerate();
        changes.add(constraints.map(|(index, one)| ClaimChange::DropConstraint {
            index,
            attribute: one.match_attribute.as_ref().or(one.distinct_attribute.as_ref()).cloned().unwrap_or_default(),
        }));
        let key = claim.metadata.key();
        let mut requests_that_work = BTreeSet::new();
        self.trials.count_untried(changes.first.len(), changes.of, Untried::ClaimRequests);
        for change in changes.first {
            let of_selector = if let ClaimChange::DropSelector { request, .. } = &change { Some(request.name.clone()) } else { None };
            if self.works(Change::Claim(key.clone(), change)) {
                requests_that_work.extend(of_selector);
            }
        }
        for wanted in wanted(claim) {
            if wanted.selectors.len() > 1 && !requests_that_work.contains(&wanted.path.name) {
                self.works(Change::Claim(key.clone(), ClaimChange::DropSelectors { request: wanted.path.clone() }));
            }
            self.lower(&key, &wanted);
        }
    }

    /// Adds the changes for a class that does not exist: its creation, which is tried at once, and other classes.
    fn missing_class(&mut self, wanted: &Wanted<'_>, changes: &mut Proposals<ClaimChange>) {
        let from = wanted.class;
        if is_unread(self.cluster, Kind::DeviceClass) {
            if self.missing_classes.insert(from.clone()) {
                self.fixes.unproposed.push(Unproposed::Unread { kind: Kind::DeviceClass, name: from.clone() });
            }
            return;
        }
        let mut names: Vec<(bool, Str)> = Vec::new();
        if changes.is_full() {
            changes.of += self.cluster.device_classes.len();
        } else {
            names.extend(
                self.cluster.device_classes.iter().map(|class| (!is_one_edit(from, &class.metadata.name), class.metadata.name.clone())),
            );
            names.sort_by_key(|(is_other, _)| *is_other);
        }
        changes.add(names.into_iter().map(|(is_other, to)| ClaimChange::SetClass {
            request: wanted.path.clone(),
            from: from.clone(),
            typo: !is_other,
            to,
        }));
        if !self.missing_classes.insert(from.clone()) {
            return;
        }
        // By convention a class selects by driver; it may also be like another class.
        let drivers: BTreeSet<&Str> = self.inventory.devices.iter().map(|(slice, _)| &slice.spec.driver).collect();
        let by_driver = |driver: &&Str| vec![selector(&format!("device.driver == {:?}", driver.as_str()))].into();
        let of_classes = self.cluster.device_classes.iter().map(|class| class.spec.selectors.clone());
        let mut seen = HashSet::new();
        let all = drivers.iter().map(by_driver).chain(of_classes);
        let contents: Vec<List<DeviceSelector>> = all.filter(|selectors| seen.insert(selectors.clone())).collect();
        if contents.is_empty() {
            self.fixes.unproposed.push(Unproposed::NoDevices(from.clone()));
        }
        for selectors in self.trials.first_of(contents, self.limits.alike, Untried::DeviceClasses) {
            let mut class = DeviceClass::default();
            class.metadata.name = from.clone();
            class.spec.selectors = selectors;
            self.works(Change::Create { object: Object::DeviceClass(Arc::new(class)), like: None });
        }
    }

    /// Tries the largest smaller number of devices. Where some number can be allocated, so can each smaller one.
    fn lower(&mut self, key: &Key, wanted: &Wanted<'_>) {
        if wanted.mode == "All" || wanted.count <= 1 {
            return;
        }
        let lowered = |to| Change::Claim(key.clone(), ClaimChange::LowerCount { request: wanted.path.clone(), from: wanted.count, to });
        let Some(mut best) = self.trials.attempt(&[lowered(1)]) else { return };
        let (mut low, mut high) = (1, wanted.count - 1);
        while low < high {
            let middle = low + (high - low + 1) / 2;
            match self.trials.attempt(&[lowered(middle)]) {
                Some(verified) => (low, best) = (middle, verified),
                None => high = middle - 1,
            }
        }
        self.fixes.fixes.push(Fix::new(vec![lowered(low)], best));
    }

    /// Tries to free devices: by the deletion of each claim that no pod uses, and of each pod with the claims that it alone
    /// uses.
    fn free(&mut self) {
        let mut tried: BTreeSet<Key> = BTreeSet::new();
        let mut changes: Vec<(Vec<Change>, Vec<Key>)> = Vec::new();
        for key in &self.holders {
            let Some(claim) = self.cluster.resource_claims.get(key) else { continue };
            match &claim.status.reserved_for[..] {
                [] => changes.push((vec![Change::Delete(Kind::ResourceClaim, key.clone())], Vec::new())),
                [one] if one.resource == "pods" => {
                    let user = Key::new(key.namespace.clone(), one.name.clone());
                    let Some(pod) = self
                        .cluster
                        .pods
                        .get(&user)
                        .filter(|pod| pod.metadata.uid == one.uid && is_deletable(self.cluster, pod, self.trials.pod()))
                    else {
                        continue;
                    };
                    if tried.insert(user) {
                        changes.push((self.without(pod), exhausted_budgets(self.cluster, pod)));
                    }
                }
                // Several pods would have to go.
                _ => {}
            }
        }
        let all = changes.len();
        for (tried, (change, budgets)) in changes.into_iter().enumerate() {
            if tried >= self.limits.deletions {
                return self.trials.cut_short(CutShort::Untried { what: Untried::ClaimHolders, tried, of: all });
            }
            if let Some(verified) = self.trials.attempt(&change).filter(|v| v.outcome == FixOutcome::Scheduled) {
                self.fixes.fixes.push(Fix { budgets, ..Fix::new(change, verified) });
            }
        }
    }

    /// Returns the deletion of a pod with its consequences: claims that were made for it go with it, and others that it alone
    /// uses lose their allocation.
    fn without(&self, pod: &Pod) -> Vec<Change> {
        let mut changes = vec![Change::Delete(Kind::Pod, pod.key())];
        for claim in self.cluster.resource_claims.in_namespace(&pod.metadata.namespace) {
            let is_owned = claim.metadata.controller().is_some_and(|owner| owner.uid == pod.metadata.uid);
            let is_only_user = matches!(&claim.status.reserved_for[..], [one] if one.uid == pod.metadata.uid);
            if is_owned {
                changes.push(Change::Delete(Kind::ResourceClaim, claim.metadata.key()));
            } else if is_only_user {
                changes.push(Change::Claim(claim.metadata.key(), ClaimChange::Free));
            }
        }
        changes
    }
}

fn selector(expression: &str) -> DeviceSelector {
    DeviceSelector { cel: Some(CELDeviceSelector { expression: expression.into() }) }
}

/// Returns a claim for one device of a class.
fn new_claim(key: &Key, class: &Str) -> ResourceClaim {
    let one = ExactDeviceRequest {
        device_class_name: class.clone(),
        allocation_mode: "ExactCount".into(),
        count: 1,
        ..ExactDeviceRequest::default()
    };
    let mut claim = ResourceClaim::default();
    claim.metadata.name = key.name.clone();
    claim.metadata.namespace = key.namespace.clone();
    claim.spec.devices.requests = vec![DeviceRequest { name: "device".into(), exactly: Some(one), ..DeviceRequest::default() }].into();
    claim
}

#[cfg(test)]
mod tests;
