//! The quotas of a cluster with their usage.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::quota::{Quota, containers_lacking, usage};
use super::refusal::QuotaAmount;
use super::{NewPod, Policies, Refusal};
use crate::cluster::{Cluster, Pod, Quantity, Str};
use crate::release::Emulation;

/// The usage of quotas, by namespace. Those of a namespace are there once a pod was counted in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Quotas {
    namespaces: BTreeMap<Str, Namespace>,
    /// The charge that came last, which often comes again.
    last: Option<Again>,
}

/// The quotas of a namespace, by name.
#[derive(Clone, Debug, Default)]
struct Namespace {
    quotas: Vec<Counted>,
    /// The resources that any of them limits.
    resources: HashMap<Str, usize>,
}

#[derive(Clone, Debug)]
struct Counted {
    quota: Arc<Quota>,
    /// The resources, in the order of the quota.
    resources: Vec<usize>,
    /// The usage of each; `None` until a pod is counted.
    used: Option<Vec<Quantity>>,
}

/// The usage of a pod, with the quotas of its namespace that cover it.
#[derive(Clone, Debug)]
pub(super) struct Charge {
    namespace: Str,
    /// The places of the quotas.
    quotas: Vec<usize>,
    /// The usage of each resource that a quota of the namespace limits.
    usage: Vec<Option<Quantity>>,
}

/// A charge that the quotas are known to allow some more times.
#[derive(Clone, Debug)]
struct Again {
    charge: Arc<Charge>,
    left: i128,
    /// How often it is not yet counted in the usage.
    uncounted: u64,
}

impl Quotas {
    /// Returns what a new pod uses of the quotas that cover it.
    ///
    /// # Errors
    /// When its containers lack a request or limit which a quota names.
    pub(super) fn charge(&mut self, policies: &Policies, emulation: Emulation, new: &NewPod) -> Result<Arc<Charge>, Refusal> {
        let known = self.in_namespace(policies, &new.pod.metadata.namespace);
        let quotas: Vec<usize> = (0..known.quotas.len()).filter(|at| known.quotas[*at].quota.covers(new)).collect();
        if !quotas.is_empty() {
            let lacking = containers_lacking(&new.pod);
            for at in &quotas {
                known.quotas[*at].quota.check_named(&lacking)?;
            }
        }
        let usage = known.usage_of(&new.pod, emulation, quotas.is_empty());
        Ok(Arc::new(Charge { namespace: new.pod.metadata.namespace.clone(), quotas, usage }))
    }

    /// Counts a charge, if all quotas have so much left.
    pub(super) fn add(&mut self, cluster: &Cluster, emulation: Emulation, charge: &Arc<Charge>) -> Result<(), Refusal> {
        if let Some(again) = self.last.as_mut().filter(|again| Arc::ptr_eq(&again.charge, charge) && again.left > 0) {
            again.left -= 1;
            again.uncounted += 1;
            return Ok(());
        }
        self.count_last();
        let Some(known) = self.namespaces.get_mut(&charge.namespace) else { return Ok(()) };
        let mut left = i128::MAX;
        for at in &charge.quotas {
            known.count(*at, cluster, emulation);
            left = left.min(known.quotas[*at].times_left(&charge.usage)?);
        }
        self.last = Some(Again { charge: Arc::clone(charge), left: left - 1, uncounted: 1 });
        Ok(())
    }

    /// Checks that all quotas have a charge left.
    pub(super) fn check(&mut self, cluster: &Cluster, emulation: Emulation, charge: &Charge) -> Result<(), Refusal> {
        self.count_last();
        let Some(known) = self.namespaces.get_mut(&charge.namespace) else { return Ok(()) };
        for at in &charge.quotas {
            known.count(*at, cluster, emulation);
            known.quotas[*at].times_left(&charge.usage)?;
        }
        Ok(())
    }

    /// Takes a deleted pod out of its quotas.
    pub(super) fn subtract(&mut self, policies: &Policies, emulation: Emulation, cluster: &Cluster, new: &NewPod) {
        self.count_last();
        let known = self.in_namespace(policies, &new.pod.metadata.namespace);
        let quotas: Vec<usize> = (0..known.quotas.len()).filter(|at| known.quotas[*at].quota.covers(new)).collect();
        let usage = known.usage_of(&new.pod, emulation, quotas.is_empty());
        for at in quotas {
            known.count(at, cluster, emulation);
            known.quotas[at].subtract(&usage);
        }
    }

    /// Adds or replaces a quota, of which the usage is not counted.
    pub(super) fn insert(&mut self, quota: &Arc<Quota>) {
        self.count_last();
        let Some(known) = self.namespaces.get_mut(&quota.key().namespace) else { return };
        let counted = known.counted(quota);
        match known.quotas.binary_search_by(|other| other.quota.key().name.cmp(&quota.key().name)) {
            Ok(at) => known.quotas[at] = counted,
            Err(at) => known.quotas.insert(at, counted),
        }
    }

    /// Counts the charge that came last as often as it came.
    fn count_last(&mut self) {
        let Some(Again { charge, uncounted, .. }) = self.last.take() else { return };
        let Some(known) = self.namespaces.get_mut(&charge.namespace) else { return };
        let usage: Vec<Option<Quantity>> = charge.usage.iter().map(|amount| amount.map(|amount| times(amount, uncounted))).collect();
        for at in &charge.quotas {
            known.quotas[*at].add(&usage);
        }
    }

    fn in_namespace(&mut self, policies: &Policies, namespace: &Str) -> &mut Namespace {
        self.namespaces.entry(namespace.clone()).or_insert_with(|| {
            let mut known = Namespace::default();
            known.quotas = policies.quotas_in(namespace).map(|quota| known.counted(quota)).collect();
            known
        })
    }
}

impl Namespace {
    fn counted(&mut self, quota: &Arc<Quota>) -> Counted {
        let mut place = |name: &Str| {
            let next = self.resources.len();
            *self.resources.entry(name.clone()).or_insert(next)
        };
        Counted { quota: Arc::clone(quota), resources: quota.hard().keys().map(&mut place).collect(), used: None }
    }

    /// Returns what a pod uses of each resource that a quota limits; nothing if no quota covers it.
    fn usage_of(&self, pod: &Pod, emulation: Emulation, is_covered_by_none: bool) -> Vec<Option<Quantity>> {
        if is_covered_by_none {
            return Vec::new();
        }
        let mut amounts = vec![None; self.resources.len()];
        for (name, amount) in usage(pod, emulation).iter() {
            if let Some(place) = self.resources.get(name) {
                amounts[*place] = Some(*amount);
            }
        }
        amounts
    }

    /// Counts what is used of a quota: that of its status, or the sum over the pods of the cluster.
    fn count(&mut self, at: usize, cluster: &Cluster, emulation: Emulation) {
        if self.quotas[at].used.is_some() {
            return;
        }
        let quota = Arc::clone(&self.quotas[at].quota);
        let mut used = vec![Quantity::units(0); self.quotas[at].resources.len()];
        if let Some(known) = quota.used() {
            for (used, name) in used.iter_mut().zip(quota.hard().keys()) {
                *used = known.get(name).copied().unwrap_or_default();
            }
        }
        self.quotas[at].used = Some(used);
        if quota.used().is_none() {
            for pod in cluster.pods.in_namespace(&quota.key().namespace) {
                if quota.covers(&NewPod::of(Pod::clone(pod))) {
                    let usage = self.usage_of(pod, emulation, false);
                    self.quotas[at].add(&usage);
                }
            }
        }
    }
}

impl Counted {
    /// Returns what the quota allows of each resource that a usage names, its place, what is used of it, and the usage.
    fn amounts<'a>(&'a self, usage: &'a [Option<Quantity>]) -> impl Iterator<Item = (&'a Str, Quantity, Quantity, Quantity)> {
        let used = self.used.iter().flatten().copied();
        let each = self.quota.hard().iter().zip(&self.resources).zip(used);
        each.filter_map(|(((name, hard), place), used)| Some((name, *hard, used, usage.get(*place).copied().flatten()?)))
    }

    /// Returns how often the quota allows a usage from here on, at least once.
    ///
    /// # Errors
    /// When too little is left for it.
    fn times_left(&self, usage: &[Option<Quantity>]) -> Result<i128, Refusal> {
        // A pod that needs none of a resource may exceed it.
        let needed = || self.amounts(usage).filter(|(.., requested)| !requested.is_zero());
        let fit = |(_, hard, used, requested): (&Str, Quantity, Quantity, Quantity)| {
            if used + requested > hard {
                0
            } else if requested.nanos() < 0 {
                i128::MAX
            } else {
                (hard.nanos() - used.nanos()) / requested.nanos()
            }
        };
        match needed().map(fit).min().unwrap_or(i128::MAX) {
            0 => {
                let exceeded = needed().filter(|(_, hard, used, requested)| *used + *requested > *hard);
                let amount = |(name, hard, used, requested): (&Str, _, _, _)| QuotaAmount { resource: name.clone(), requested, used, hard };
                let mut amounts: Vec<QuotaAmount> = exceeded.map(amount).collect();
                amounts.sort_by(|a, b| a.resource.cmp(&b.resource));
                Err(Refusal::QuotaExceeded { quota: self.quota.key().clone(), amounts })
            }
            times => Ok(times),
        }
    }

    fn add(&mut self, usage: &[Option<Quantity>]) {
        for (used, place) in self.used.iter_mut().flatten().zip(&self.resources) {
            if let Some(amount) = usage.get(*place).copied().flatten() {
                *used += amount;
            }
        }
    }

    fn subtract(&mut self, usage: &[Option<Quantity>]) {
        for (used, place) in self.used.iter_mut().flatten().zip(&self.resources) {
            if let Some(amount) = usage.get(*place).copied().flatten() {
                *used = if *used < amount { Quantity::units(0) } else { *used - amount };
            }
        }
    }
}

/// Returns the sum of an amount a number of times.
fn times(amount: Quantity, number: u64) -> Quantity {
    let (mut sum, mut power) = (Quantity::default(), amount);
    for bit in 0..u64::BITS - number.leading_zeros() {
        if number >> bit & 1 == 1 {
            sum += power;
        }
        power += power;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_many_times_is_its_sum() {
        for text in ["100m", "1Gi", "7", "0", "-3", "1n"] {
            let amount: Quantity = text.parse().unwrap();
            let mut sum = Quantity::default();
            for number in 0..70 {
                assert_eq!(times(amount, number), sum, "{number} × {text}");
                assert_eq!(times(amount, number).to_string(), sum.to_string(), "{number} × {text}");
                sum += amount;
            }
        }
    }
}
