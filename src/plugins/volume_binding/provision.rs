//! Whether a volume can be provisioned for a node; mirrors `checkVolumeProvisions` and `hasEnoughCapacity` of
//! `binder.go`, and `MatchTopologySelectorTerms` of `pkg/apis/core/v1/helper/helpers.go`.

use std::sync::Arc;

use super::claims::requested;
use crate::cluster::storage::{CSIStorageCapacity, PersistentVolumeClaim, StorageClass};
use crate::cluster::{Labels, Quantity, TopologySelectorTerm};
use crate::framework::Context;
use crate::plugins::volume_helpers::NOT_SUPPORTED_PROVISIONER;
use crate::release::Gate;

/// The class and capacities for provisioning one claim.
#[derive(Debug)]
pub(super) struct Provisioning {
    class: Arc<StorageClass>,
    /// Capacities large enough for the claim, in order of name; `None` if the driver reports no capacity or the claim
    /// requests no size.
    capacities: Option<Vec<Arc<CSIStorageCapacity>>>,
    /// Whether volumes can be provisioned at all.
    provisions: bool,
}

/// Whether a claim's volume can be provisioned for a node.
pub(super) enum Verdict<'a> {
    /// It can; from this capacity if the driver reports any.
    Possible(Option<&'a Arc<CSIStorageCapacity>>),
    /// The class has no provisioner, or does not allow the node.
    Unsupported,
    /// No capacity is large enough.
    NotEnoughSpace,
}

impl Provisioning {
    /// Computes everything that does not depend on the node.
    pub(super) fn of(cx: &Context<'_>, claim: &PersistentVolumeClaim, class: &Arc<StorageClass>) -> Self {
        let driver = cx.cluster.csi_drivers.named(&class.provisioner);
        let reports = cx.emulation.enabled(Gate::CSIStorageCapacity) && driver.is_some_and(|d| d.spec.storage_capacity.unwrap_or(false));
        let capacities = requested(claim).filter(|_| reports).map(|size| {
            let suits = |c: &&Arc<CSIStorageCapacity>| {
                c.storage_class_name == class.metadata.name
                    && volume_limit(c).is_some_and(|limit| limit.value() >= size.value())
                    && c.node_topology.as_ref().is_some_and(|t| t.validate().is_ok())
            };
            cx.cluster.csi_storage_capacities.iter().filter(suits).cloned().collect()
        });
        Self { class: class.clone(), capacities, provisions: true }
    }

    /// Makes a provisioning that ignores capacity.
    pub(super) fn anywhere(class: &Arc<StorageClass>) -> Self {
        Self { class: class.clone(), capacities: None, provisions: true }
    }

    /// Makes a provisioning that never succeeds.
    pub(super) fn none(class: &Arc<StorageClass>) -> Self {
        Self { provisions: false, ..Self::anywhere(class) }
    }

    /// Whether a volume can be provisioned for a node with these labels.
    pub(super) fn on(&self, labels: &Labels) -> Verdict<'_> {
        let provisioner = &self.class.provisioner;
        let supported = self.provisions && !provisioner.is_empty() && provisioner != NOT_SUPPORTED_PROVISIONER;
        if !supported || !matches_topology(&self.class.allowed_topologies, labels) {
            return Verdict::Unsupported;
        }
        let Some(capacities) = &self.capacities else { return Verdict::Possible(None) };
        match capacities.iter().find(|c| c.node_topology.as_ref().is_some_and(|t| t.matches(labels))) {
            Some(capacity) => Verdict::Possible(Some(capacity)),
            None => Verdict::NotEnoughSpace,
        }
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
