//! Searches single changes of the pod.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::admitted;
use super::change::{Change, PodChange, RequirementPlace};
use super::constraints::{Constraint, Demand, Matrix, Without, requested_beyond};
use super::requests::{lower, requested};
use super::trial::{Trials, Verified, free, requests_any};
use super::typo::is_one_edit;
use super::{Fix, FixOutcome, Fixes, Limits, Unproposed, Untried};
use crate::cluster::{NodeStage, Requirement, Str};
use crate::framework::{NodeInfo, Snapshot};
use crate::limits::engine::TYPO_PAIRS;

/// Maximum number of priorities to try one by one, the lowest first. More are searched by bisection where that is exact.
const PRIORITIES: usize = 12;
/// Highest priority of a user-defined PriorityClass; upstream `HighestUserDefinablePriority` in
/// `pkg/apis/scheduling/types.go`.
const HIGHEST_USER_PRIORITY: i32 = 1_000_000_000;

/// Returns the demands of a pod, each with the number of nodes that the pod fits on without it. `today` are the nodes that it fits
/// on with all of them.
pub(super) fn constraints(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, today: &BTreeSet<Str>) -> Vec<Constraint> {
    let mut rows = Vec::new();
    for (index, row) in matrix.rows.iter().enumerate() {
        let (fails, only) = (row.fails.count(), matrix.only(index).count());
        let mut constraint = Constraint {
            demand: row.demand.clone(),
            fails,
            only,
            opens: only,
            more: Some(only),
            without: if row.drop.is_some() { Without::Untried } else { Without::Impossible },
            closest: row.closest.clone(),
        };
        let nothing = matches!(&row.demand, Demand::Resource { amount: 0, .. });
        if let Some(drop) = row.drop.clone().map(Change::Pod).filter(|_| rows.len() < limits.alike) {
            let open = trials.fits(std::slice::from_ref(&drop)).unwrap_or_default();
            let is_tried = !trials.is_over();
            constraint.opens = open.len();
            constraint.more = is_tried.then(|| open.iter().filter(|node| !today.contains(*node)).count());
            if is_tried {
                constraint.without = Without::Changes(trials.first.iter().cloned().chain([drop]).collect());
            }
        } else if nothing {
            // Dropping a request of zero changes nothing.
            (constraint.opens, constraint.more) = (today.len(), Some(0));
            constraint.without = Without::Changes(trials.first.clone());
        }
        rows.push(constraint);
    }
    rows
}

/// State of the search for single changes.
struct Singles<'a, 'b> {
    trials: &'a mut Trials<'b>,
    matrix: &'a Matrix,
    limits: Limits,
    fixes: &'a mut Fixes,
    /// Read when the first selector asks for them.
    labels: OnceCell<NodeLabels>,
}

/// The labels of all nodes.
struct NodeLabels {
    keys: BTreeSet<Str>,
    /// The keys that have a value on any node.
    keys_of: BTreeMap<Str, BTreeSet<Str>>,
}

impl NodeLabels {
    fn of(snapshot: &Snapshot) -> Self {
        let labels = || snapshot.nodes().iter().flat_map(|node| node.node.metadata.labels.iter());
        let mut keys_of: BTreeMap<Str, BTreeSet<Str>> = BTreeMap::new();
        for (key, value) in labels().collect::<BTreeSet<_>>() {
            keys_of.entry(value.clone()).or_default().insert(key.clone());
        }
        Self { keys: keys_of.values().flatten().cloned().collect(), keys_of }
    }
}

/// Tries every single change of the pod.
pub(super) fn singles(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Fixes) {
    let mut singles = Singles { trials, matrix, limits, fixes, labels: OnceCell::new() };
    singles.selectors();
    singles.node_affinity();
    singles.tolerations();
    singles.requests();
    singles.spread();
    singles.dropped();
    singles.ports();
    singles.preemption();
}

/// Tries the existing profiles for a pod that names another.
pub(super) fn profiles(trials: &mut Trials<'_>, fixes: &mut Vec<Fix>) {
    let from = trials.pod().spec.scheduler_name.clone();
    let names: Vec<Str> = trials.scheduler().state().config().profiles.iter().map(|p| p.name.clone()).collect();
    for to in names {
        let change = Change::Pod(PodChange::SchedulerName { from: from.clone(), to });
        if let Some(verified) = trials.attempt(std::slice::from_ref(&change)) {
            fixes.push(Fix::new(vec![change], verified));
        }
    }
}

impl Singles<'_, '_> {
    /// Adds a change to the fixes if it lets the pod in. Returns the nodes that take it or, for preemption, the candidates.
    fn try_one(&mut self, change: PodChange) -> Option<Vec<Str>> {
        self.trials.try_all(vec![Change::Pod(change)], &mut self.fixes.fixes)
    }

    fn selectors(&mut self) {
        for index in 0..self.matrix.rows.len() {
            if self.trials.is_over() {
                return;
            }
            let Demand::Selector { key, value } = self.matrix.rows[index].demand.clone() else { continue };
            let open = self.try_one(PodChange::DropSelector { key: key.clone(), value: value.clone() });
            if admitted::is_of_runtime_class(self.trials, &key) {
                continue;
            }
            for (to, typo) in self.other_values(&key, &[&value], open.as_deref()) {
                self.try_one(PodChange::SetSelector { key: key.clone(), from: value.clone(), to, typo });
            }
            for to in self.other_keys(&key, &value) {
                self.try_one(PodChange::RenameSelector { from: key.clone(), to, value: value.clone() });
            }
        }
    }

    /// Returns other values of a label on nodes, with whether each corrects a typo. Likely typos come first, then the most
    /// frequent. `open` are the nodes that take the pod without the demand.
    ///
    /// A demanded value narrows the nodes and changes nothing else, so that the pod fits on a node with another value only
    /// if it fits there without the demand. Spread constraints are the exception: they count the nodes that the pod
    /// selects.
    fn other_values(&mut self, key: &Str, asked: &[&Str], open: Option<&[Str]>) -> Vec<(Str, bool)> {
        let snapshot = self.trials.scheduler().state().snapshot();
        let value = |node: &Arc<NodeInfo>| node.node.metadata.labels.get(key.as_str()).cloned();
        let all: BTreeSet<Str> = snapshot.nodes().iter().filter_map(value).collect();
        // A value that a node has is not a typo.
        let mut unknown: BTreeSet<&Str> = asked.iter().copied().filter(|v| !all.contains(*v)).collect();
        if all.len().saturating_mul(unknown.len()) > TYPO_PAIRS {
            unknown.clear();
        }
        let is_typo = |v: &Str| unknown.iter().any(|u| is_one_edit(u, v));
        let asked: BTreeSet<&Str> = asked.iter().copied().collect();
        let mut counts: BTreeMap<Str, usize> = all.iter().filter(|v| is_typo(v)).map(|v| (v.clone(), 0)).collect();
        let mut count = |node: &Arc<NodeInfo>| {
            if let Some(value) = value(node).filter(|v| !asked.contains(&v)) {
                *counts.entry(value).or_default() += 1;
            }
        };
        if self.trials.is_local() {
            open.into_iter().flatten().filter_map(|name| snapshot.get(name)).for_each(&mut count);
        } else {
            snapshot.nodes().iter().for_each(&mut count);
        }
        let mut found: Vec<(Str, bool, usize)> = counts.into_iter().map(|(v, nodes)| (v.clone(), is_typo(&v), nodes)).collect();
        found.sort_by_key(|(_, typo, nodes)| (!typo, Reverse(*nodes)));
        let found = self.trials.first_of(found, self.limits.alike, Untried::Values(key.clone()));
        found.into_iter().map(|(v, typo, _)| (v, typo)).collect()
    }

    /// Returns node label keys with this value that are one edit apart from a key that no node has.
    fn other_keys(&mut self, key: &Str, value: &Str) -> Vec<Str> {
        let labels = self.labels.get_or_init(|| NodeLabels::of(&self.trials.scheduler().state().snapshot()));
        if labels.keys.contains(key) {
            return Vec::new();
        }
        let keys = labels.keys_of.get(value).into_iter().flatten();
        let keys = keys.filter(|k| is_one_edit(k, key)).cloned().collect();
        self.trials.first_of(keys, self.limits.alike, Untried::Keys(key.clone()))
    }

    fn node_affinity(&mut self) {
        let spec = self.trials.pod().spec.clone();
        let Some(required) = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref()).and_then(|a| a.required.as_ref()) else {
            return;
        };
        let terms = required.node_selector_terms.len();
        let mut places: Vec<(RequirementPlace, Requirement)> = Vec::new();
        for (term, of) in required.node_selector_terms.iter().enumerate() {
            for (field, list) in [(false, &of.match_expressions), (true, &of.match_fields)] {
                let place = |index| RequirementPlace { term, field, index, terms };
                places.extend(list.iter().enumerate().map(|(index, one)| (place(index), one.clone())));
            }
        }
        let mut works = false;
        for (place, requirement) in self.trials.first_of(places, self.limits.alike, Untried::Requirements) {
            if self.trials.is_over() {
                return;
            }
            let open = self.try_one(PodChange::DropRequirement { place, requirement: requirement.clone() });
            works |= open.is_some();
            if place.field || requirement.operator != "In" {
                continue;
            }
            let asked: Vec<&Str> = requirement.values.iter().collect();
            for (value, is_typo) in self.other_values(&requirement.key, &asked, open.as_deref()) {
                let typo = requirement.values.iter().find(|v| is_typo && is_one_edit(v, &value)).cloned();
                works |= self.try_one(PodChange::AddValue { place, requirement: requirement.clone(), value, typo }).is_some();
            }
        }
        if !works {
            self.try_one(PodChange::DropNodeAffinity);
        }
    }

    fn tolerations(&mut self) {
        let mut rows: Vec<usize> =
            (0..self.matrix.rows.len()).filter(|i| matches!(self.matrix.rows[*i].drop, Some(PodChange::Tolerate(_)))).collect();
        rows.sort_by_key(|row| Reverse(self.matrix.only(*row).count()));
        for row in self.trials.first_of(rows, self.limits.alike, Untried::Taints) {
            let Some(change) = self.matrix.rows[row].drop.clone() else { continue };
            match &change {
                PodChange::Tolerate(taint) if let Some(owned) = taint.owned().filter(|owned| owned.stage != NodeStage::Starting) => {
                    let taint = taint.clone();
                    if let Some(nodes) = self.trials.fits(&[Change::Pod(change)]) {
                        self.fixes.unproposed.push(Unproposed::Owned { taint, owned, nodes });
                    }
                }
                _ => drop(self.try_one(change)),
            }
        }
    }

    fn requests(&mut self) {
        let resources = self.matrix.rows.iter().filter_map(|row| match &row.demand {
            Demand::Resource { resource, .. } => Some(resource.clone()),
            _ => None,
        });
        for resource in resources.collect::<Vec<_>>() {
            if let Some((change, verified)) = largest_request(self.trials, &[], &resource) {
                self.fixes.fixes.push(Fix::new(vec![change], verified));
            }
        }
    }

    fn spread(&mut self) {
        for row in 0..self.matrix.rows.len() {
            let (Demand::Spread { max_skew, .. }, Some(drop)) = (&self.matrix.rows[row].demand, self.matrix.rows[row].drop.clone()) else {
                continue;
            };
            let (from, PodChange::DropSpread { index, topology_key }) = (*max_skew, &drop) else { continue };
            let raised = |to| Change::Pod(PodChange::MaxSkew { index: *index, topology_key: topology_key.clone(), from, to });
            // Without the constraint the pod fits wherever it fits with any `maxSkew`.
            if self.try_one(drop.clone()).is_none() {
                continue;
            }
            // A skew cannot exceed the number of pods.
            let pods = self.trials.scheduler().state().cluster().pods.len();
            let top = i32::try_from(pods).unwrap_or(i32::MAX).max(from).saturating_add(1);
            if let Some((to, verified)) = least(from.saturating_add(1), top, |to| self.trials.attempt(&[raised(to)])) {
                self.fixes.fixes.push(Fix::new(vec![raised(to)], verified));
            }
        }
    }

    fn dropped(&mut self) {
        let terms = self.matrix.rows.iter().filter_map(|row| row.drop.clone());
        for change in terms.filter(|drop| matches!(drop, PodChange::DropPodTerm { .. })).collect::<Vec<_>>() {
            self.try_one(change);
        }
    }

    fn ports(&mut self) {
        let ports = self.matrix.rows.iter().filter_map(|row| row.drop.clone());
        let ports: Vec<PodChange> = ports.filter(|drop| matches!(drop, PodChange::DropHostPorts(_))).collect();
        let several = ports.len() > 1;
        let mut works = false;
        for change in ports {
            works |= self.try_one(change).is_some();
        }
        if several && !works {
            self.try_one(PodChange::DropHostPorts(None));
        }
    }

    fn preemption(&mut self) {
        let spec = self.trials.pod().spec.clone();
        if spec.preemption_policy.as_deref() == Some("Never") {
            self.try_one(PodChange::Preempt);
        }
        if let Some((change, verified)) = least_priority(self.trials, self.limits, &[]) {
            self.fixes.fixes.push(Fix::new(vec![change], verified));
        }
    }
}

/// Returns the least number from `low` to `top` that passes a test, with its result; `None` where `top` fails. If a
/// number passes, all above it must.
fn least<T>(low: i32, top: i32, mut test: impl FnMut(i32) -> Option<T>) -> Option<(i32, T)> {
    let mut found = (top, test(top)?);
    let (mut low, mut high) = (low, top);
    while low < high {
        let middle = low + (high - low) / 2;
        match test(middle) {
            Some(verified) => {
                found = (middle, verified);
                high = middle;
            }
            None => low = middle + 1,
        }
    }
    Some(found)
}

/// Returns an amount in whole units that people write: bytes in mebibytes, if there is one at least.
fn in_whole_units(resource: &str, amount: i64) -> i64 {
    const MEBIBYTE: i64 = 1 << 20;
    let is_bytes = matches!(resource, "memory" | "ephemeral-storage");
    if is_bytes && amount >= MEBIBYTE { amount / MEBIBYTE * MEBIBYTE } else { amount }
}

/// Returns the largest lower request of a resource that lets the pod in, in whole units, with other changes; `None` without one.
pub(super) fn largest_request(trials: &mut Trials<'_>, with: &[Change], resource: &Str) -> Option<(Change, Verified)> {
    if trials.is_over() {
        return None;
    }
    let pod = trials.changed_pod(with)?;
    if !requests_any(&pod, resource) {
        return None;
    }
    let changes = |to: i64| -> Option<Vec<Change>> {
        let lowered = Change::Pod(PodChange::Lower(lower(&pod, resource, to)?));
        Some(with.iter().cloned().chain([lowered]).collect())
    };
    let (floor, now) = (requested_beyond(&pod, resource), requested(&pod, resource));
    let lowest = trials.attempt(&changes(floor)?)?;
    let outcome = lowest.outcome;
    let attempt = |trials: &mut Trials<'_>, to: i64| -> Option<Verified> {
        let changes = changes(to)?;
        match outcome {
            FixOutcome::Scheduled => {
                let nodes = trials.fits(&changes)?;
                Some(Verified { outcome, nodes, victims: BTreeMap::new() })
            }
            FixOutcome::Preempts => trials.attempt(&changes),
        }
    };
    // Guess the free amount of the emptiest node. Nominated pods can make the answer smaller.
    let snapshot = trials.scheduler().state().snapshot();
    let room = lowest.nodes.iter().filter_map(|node| snapshot.get(node)).map(|node| free(node, resource)).max();
    let (mut low, mut best) = (floor, lowest);
    let mut high = now.saturating_sub(1);
    if let Some(guess) = room.filter(|guess| outcome == FixOutcome::Scheduled && (low..=high).contains(guess)) {
        match attempt(trials, guess) {
            Some(verified) => {
                (low, best) = (guess, verified);
                if guess < high {
                    match attempt(trials, guess + 1) {
                        Some(verified) => (low, best) = (guess + 1, verified),
                        None => high = guess,
                    }
                }
            }
            None => high = guess - 1,
        }
    }
    while low < high {
        let middle = low + (high - low + 1) / 2;
        match attempt(trials, middle) {
            Some(verified) => (low, best) = (middle, verified),
            None => high = middle - 1,
        }
    }
    let rounded = in_whole_units(resource, low);
    if (floor..low).contains(&rounded)
        && let Some(verified) = attempt(trials, rounded)
    {
        (low, best) = (rounded, verified);
    }
    let change = Change::Pod(PodChange::Lower(lower(&pod, resource, low)?));
    Some((change, best))
}

/// Returns the least PriorityClass that lets the pod in, with other changes, or else the least priority; `None` where
/// no priority does.
pub(super) fn least_priority(trials: &mut Trials<'_>, limits: Limits, with: &[Change]) -> Option<(Change, Verified)> {
    let pod = trials.changed_pod(with)?;
    let from = pod.priority();
    if trials.preempts_today && with.is_empty() && trials.first.is_empty() {
        // The pod preempts already, so that a higher priority helps only by letting it ignore nominated pods.
        let top = Change::Pod(PodChange::Priority { from, to: HIGHEST_USER_PRIORITY.max(from), class: None });
        trials.fits(std::slice::from_ref(&top))?;
    }
    let mut steps: BTreeMap<i32, Option<Str>> = BTreeMap::new();
    let cluster = trials.scheduler().state().cluster().clone();
    for class in cluster.priority_classes.iter().filter(|c| c.value > from && c.preemption_policy.as_deref() != Some("Never")) {
        steps.entry(class.value).or_insert_with(|| Some(class.metadata.name.clone()));
    }
    let attempt = |trials: &mut Trials<'_>, to: i32, class: Option<Str>| {
        let change = Change::Pod(PodChange::Priority { from, to, class });
        let changes: Vec<Change> = with.iter().cloned().chain([change.clone()]).collect();
        trials.attempt(&changes).map(|verified| (change, verified))
    };
    // With a higher priority the pod may evict more pods and counts fewer nominated ones. Only pods that it needs near it,
    // and extenders, can make that worse.
    let needs_pods = pod.spec.affinity.as_ref().and_then(|a| a.pod_affinity.as_ref()).is_some_and(|a| !a.required.is_empty());
    let is_monotonic = !needs_pods && !trials.scheduler().state().config().has_extenders();
    let mut first = |steps: Vec<(i32, Option<Str>)>| {
        let steps = if is_monotonic { steps } else { trials.first_of(steps, limits.alike, Untried::Priorities) };
        first_that(&steps, is_monotonic, |(to, class)| attempt(trials, *to, class.clone()))
    };
    if let Some(found) = first(steps.into_iter().collect()) {
        return Some(found);
    }
    // Without a class, try one more than the priority of each pod: values in between have the same effect.
    let mut above: BTreeSet<i32> = BTreeSet::new();
    for other in cluster.pods.iter().filter(|p| !p.is_terminal()).map(|p| p.priority()) {
        above.extend(other.checked_add(1).filter(|to| *to > from && *to <= HIGHEST_USER_PRIORITY));
    }
    first(above.into_iter().map(|to| (to, None)).collect())
}

/// Returns the result of the first step that passes a test. Long lists are bisected if `is_monotonic`: if a step passes,
/// all behind it must.
fn first_that<S, T>(steps: &[S], is_monotonic: bool, mut test: impl FnMut(&S) -> Option<T>) -> Option<T> {
    if steps.len() <= PRIORITIES || !is_monotonic {
        return steps.iter().find_map(test);
    }
    let mut found = test(steps.last()?)?;
    let (mut low, mut high) = (0, steps.len() - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match test(&steps[middle]) {
            Some(one) => {
                found = one;
                high = middle;
            }
            None => low = middle + 1,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_is_accepted_is_found() {
        for wanted in 1..=9 {
            assert_eq!(least(1, 9, |n| (n >= wanted).then_some(())), Some((wanted, ())));
        }
        assert_eq!(least(1, 9, |_| None::<()>), None);
        let steps: Vec<i32> = (0..40).collect();
        assert_eq!(first_that(&steps, true, |n| (*n >= 23).then_some(*n)), Some(23));
        assert_eq!(first_that(&steps, true, |n| (*n > 99).then_some(*n)), None);
        assert_eq!(first_that(&steps[..5], true, |n| (*n == 2).then_some(*n)), Some(2), "a few are tried one by one");
        assert_eq!(first_that(&steps, false, |n| (*n == 7).then_some(*n)), Some(7), "so are those of no order");
    }
}
