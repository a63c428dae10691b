//! Whether a volume can be provisioned for a node; mirrors `checkVolumeProvisions` and `hasEnoughCapacity` of
//! `binder.go`, and `MatchTopologySelectorTerms` of `pkg/apis/core/v1/helper/helpers.go`.
//!
//! Claims of one class share all that depends on the class alone. Capacities, which are as many as nodes, are looked up by the node
//! label that they require.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::claims::requested;
use crate::cluster::storage::{CSIStorageCapacity, PersistentVolumeClaim, StorageClass};
use crate::cluster::{Labels, Quantity, Str, TopologySelectorTerm};
use crate::framework::Context;
use crate::plugins::volume_helpers::NOT_SUPPORTED_PROVISIONER;
use crate::release::Gate;

/// The provisioning of a volume for one claim.
#[derive(Debug)]
pub(super) struct Provisioning {
    class: Arc<Class>,
    /// The size that the claim requests, if its driver reports capacity.
    size: Option<Quantity>,
}

/// A class of a pod's claims.
#[derive(Debug)]
struct Class {
    /// The position among the classes of the pod.
    id: usize,
    object: Arc<StorageClass>,
    /// Whether volumes can be provisioned at all.
    provisions: bool,
    /// `None` if the driver reports no capacity.
    capacities: Option<Capacities>,
}

/// The classes of a pod's claims, each once.
#[derive(Debug, Default)]
pub(super) struct Classes(Vec<Arc<Class>>);

/// The capacities of a class.
#[derive(Debug, Default)]
struct Capacities {
    /// In order of name, each with the largest volume that fits.
    all: Vec<(Quantity, Arc<CSIStorageCapacity>)>,
    /// Places of those that do not require a label with certain values.
    anywhere: Vec<usize>,
    /// Places of the others, by the label and value that their nodes must have.
    by_label: BTreeMap<Str, HashMap<Str, Vec<usize>>>,
}

/// The answers of the classes of a pod's claims about one node, as far as they were asked; by their ids.
#[derive(Debug, Default)]
pub(super) struct ClassesOnNode<'a> {
    known: Vec<Option<ClassOnNode<'a>>>,
    /// Capacities and terms that were judged.
    judged: usize,
}

#[derive(Clone, Debug)]
struct ClassOnNode<'a> {
    is_supported: bool,
    /// The capacities that apply to the node, without those that are not larger than one before them.
    capacities: Vec<(Quantity, &'a Arc<CSIStorageCapacity>)>,
}

/// Values of a requirement up to which a capacity is looked up by them.
const VALUES_INDEXED: usize = 8;
/// Capacities and terms that are judged in the time of a step of a plugin's search.
const CAPACITIES_OF_A_STEP: usize = 8;

/// Whether a claim's volume can be provisioned for a node.
pub(super) enum Verdict<'a> {
    /// It can; from this capacity if the driver reports any.
    Possible(Option<&'a Arc<CSIStorageCapacity>>),
    /// The class has no provisioner, or does not allow the node.
    Unsupported,
    /// No capacity is large enough.
    NotEnoughSpace,
}

impl Classes {
    /// Computes everything about a claim of a class that does not depend on the node.
    pub(super) fn provisioning(&mut self, cx: &Context<'_>, claim: &PersistentVolumeClaim, class: &Arc<StorageClass>) -> Provisioning {
        let class = self.add(class, true, || {
            let driver = cx.cluster.csi_drivers.named(&class.provisioner);
            let reports =
                cx.emulation.enabled(Gate::CSIStorageCapacity) && driver.is_some_and(|d| d.spec.storage_capacity.unwrap_or(false));
            reports.then(|| Capacities::of(cx, class))
        });
        let size = requested(claim).filter(|_| class.capacities.is_some());
        Provisioning { class, size }
    }

    /// Makes a provisioning that ignores capacity; one that never succeeds unless it `provisions`.
    pub(super) fn without_capacity(&mut self, class: &Arc<StorageClass>, provisions: bool) -> Provisioning {
        Provisioning { class: self.add(class, provisions, || None), size: None }
    }

    fn add(&mut self, class: &Arc<StorageClass>, provisions: bool, capacities: impl FnOnce() -> Option<Capacities>) -> Arc<Class> {
        if let Some(known) = self.0.iter().find(|known| Arc::ptr_eq(&known.object, class)) {
            return known.clone();
        }
        let made = Arc::new(Class { id: self.0.len(), object: class.clone(), provisions, capacities: capacities() });
        self.0.push(made.clone());
        made
    }
}

impl Capacities {
    fn of(cx: &Context<'_>, class: &StorageClass) -> Self {
        let mut made = Self::default();
        let of_class = cx.cluster.csi_storage_capacities.iter().filter(|c| c.storage_class_name == class.metadata.name);
        for capacity in of_class {
            let (Some(limit), Some(topology)) = (volume_limit(capacity), &capacity.node_topology) else { continue };
            if topology.validate().is_err() {
                continue;
            }
            let at = made.all.len();
            made.all.push((limit, capacity.clone()));
            let mut place = |key: &Str, value: &Str| {
                let places = made.by_label.entry(key.clone()).or_default().entry(value.clone()).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            };
            if let Some((key, value)) = topology.match_labels.iter().next() {
                place(key, value);
            } else if let Some(requirement) =
                topology.match_expressions.iter().find(|r| r.operator == "In" && r.values.len() <= VALUES_INDEXED)
            {
                requirement.values.iter().for_each(|value| place(&requirement.key, value));
            } else {
                made.anywhere.push(at);
            }
        }
        made
    }

    /// Returns the capacities that apply to a node with these labels, in order of name, without those that are not larger than one before
    /// them; and how many were judged.
    fn on(&self, labels: &Labels) -> (Vec<(Quantity, &Arc<CSIStorageCapacity>)>, usize) {
        let of_labels = self.by_label.iter().filter_map(|(key, by_value)| by_value.get(labels.get(key)?)).flatten();
        let mut places: Vec<usize> = of_labels.chain(&self.anywhere).copied().collect();
        places.sort_unstable();
        let judged = places.len();
        let mut found: Vec<(Quantity, &Arc<CSIStorageCapacity>)> = Vec::new();
        for (limit, capacity) in places.into_iter().map(|at| &self.all[at]) {
            let is_larger = found.last().is_none_or(|(largest, _)| limit.value() > largest.value());
            if is_larger && capacity.node_topology.as_ref().is_some_and(|t| t.matches(labels)) {
                found.push((*limit, capacity));
            }
        }
        (found, judged)
    }
}

impl<'a> ClassesOnNode<'a> {
    /// Returns whether a volume can be provisioned for the node, which has these labels.
    pub(super) fn verdict(&mut self, wanted: &'a Provisioning, labels: &Labels) -> Verdict<'a> {
        let class = &*wanted.class;
        if self.known.len() <= class.id {
            self.known.resize(class.id + 1, None);
        }
        let judged = &mut self.judged;
        *judged += 1;
        let here = self.known[class.id].get_or_insert_with(|| {
            let provisioner = &class.object.provisioner;
            let is_possible = class.provisions && !provisioner.is_empty() && provisioner != NOT_SUPPORTED_PROVISIONER;
            let terms = &class.object.allowed_topologies;
            let is_supported = is_possible && matches_topology(terms, labels);
            let capacities = class.capacities.as_ref().filter(|_| is_supported).map(|all| all.on(labels));
            let (capacities, looked_at) = capacities.unwrap_or_default();
            *judged += terms.len() + looked_at;
            ClassOnNode { is_supported, capacities }
        });
        if !here.is_supported {
            return Verdict::Unsupported;
        }
        let Some(size) = wanted.size else { return Verdict::Possible(None) };
        let first = here.capacities.partition_point(|(limit, _)| limit.value() < size.value());
        here.capacities.get(first).map_or(Verdict::NotEnoughSpace, |(_, capacity)| Verdict::Possible(Some(capacity)))
    }

    /// Returns the steps that the verdicts took.
    pub(super) fn steps(&self) -> u64 {
        (self.judged / CAPACITIES_OF_A_STEP) as u64
    }
}

/// Returns the largest volume that fits a capacity.
pub(super) fn volume_limit(capacity: &CSIStorageCapacity) -> Option<Quantity> {
    capacity.maximum_volume_size.or(capacity.capacity)
}

/// Whether any term matches. No terms match every node, and a term without requirements matches none.
fn matches_topology(terms: &[TopologySelectorTerm], labels: &Labels) -> bool {
    let holds = |term: &TopologySelectorTerm| {
        let expressions = &term.match_label_expressions;
        !expressions.is_empty() && expressions.iter().all(|e| labels.get(&e.key).is_some_and(|v| e.values.contains(v)))
    };
    terms.is_empty() || terms.iter().any(holds)
}
