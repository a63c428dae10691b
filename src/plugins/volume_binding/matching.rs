//! Matches claims with existing volumes; mirrors `FindMatchingVolume` of
//! `staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go`.
//!
//! Everything that does not depend on the node is computed once for a claim. The remaining volumes are sorted, so that
//! the first one usable on the node is the match. Local volumes, which are as many as nodes, are looked up by their
//! node label.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::claims::requested;
use super::find::FindError;
use crate::cluster::storage::{PersistentVolume, PersistentVolumeClaim};
use crate::cluster::{LabelSelector, Labels, Quantity, Str};
use crate::framework::Context;
use crate::plugins::volume_helpers::{STORAGE, claim_class, node_affinity_holds, required_affinity, volume_class};
use crate::release::{Emulation, Gate, VolumeMatching};

/// The default volume mode.
const FILESYSTEM: &str = "Filesystem";

/// The volumes that match a claim on some node.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Why no volume can be matched.
    error: Option<FindError>,
    /// Volumes that refer to the claim, in order of name.
    prebound: Vec<Arc<PersistentVolume>>,
    /// Available volumes, smaller ones first, then by name. Upstream does not define the order of equal sizes.
    available: Vec<Arc<PersistentVolume>>,
    /// Indexes into `available` of volumes that are not pinned to a single label.
    anywhere: Vec<usize>,
    /// Indexes into `available` of the others, by the label and value that their node must have.
    by_label: BTreeMap<Str, HashMap<Str, Vec<usize>>>,
}

impl Candidates {
    /// Computes the candidates of several claims in one pass over the volumes. The results are in the order of the
    /// claims.
    pub(super) fn of(cx: &Context<'_>, claims: &[&PersistentVolumeClaim]) -> Vec<Self> {
        let classes: Vec<Str> = claims.iter().map(|c| claim_class(c)).collect();
        let attributes = Attributes::of(cx.emulation);
        let error = |claim: &PersistentVolumeClaim| selector_error(claim).or_else(|| attributes.error(claim));
        let mut found: Vec<Self> = claims.iter().map(|c| Self { error: error(c), ..Self::default() }).collect();
        if claims.is_empty() {
            return found;
        }
        let rules = cx.emulation.behaviour().volume_matching;
        for volume in cx.cluster.persistent_volumes.iter() {
            let class = volume_class(volume);
            for (i, claim) in claims.iter().enumerate() {
                if classes[i] == *class && suits(volume, claim, rules) && attributes.suit(volume, claim) {
                    found[i].add(volume, claim, rules);
                }
            }
        }
        for candidates in &mut found {
            // The store is in name order and the sort is stable.
            candidates.available.sort_by_cached_key(|v| capacity(v));
            candidates.index();
        }
        found
    }

    fn add(&mut self, volume: &Arc<PersistentVolume>, claim: &PersistentVolumeClaim, rules: VolumeMatching) {
        if volume.spec.claim_ref.is_some() {
            self.prebound.push(volume.clone());
        } else if (volume.status.phase == "Available" || rules == VolumeMatching::WithoutPhaseAndMode)
            && claim.spec.selector.as_ref().is_none_or(|s| s.matches(&volume.metadata.labels))
            && claim.spec.access_modes.iter().all(|mode| volume.spec.access_modes.contains(mode))
        {
            self.available.push(volume.clone());
        }
    }

    fn index(&mut self) {
        for (i, volume) in self.available.iter().enumerate() {
            match pinned(volume) {
                None => self.anywhere.push(i),
                Some((key, values)) => {
                    let by_value = self.by_label.entry(key.clone()).or_default();
                    for value in values {
                        by_value.entry(value.clone()).or_default().push(i);
                    }
                }
            }
        }
    }

    /// Returns the volume for the claim on a node with these labels, leaving out volumes `chosen` for other claims.
    ///
    /// A volume that refers to the claim is the only choice: if the node cannot use it, nothing matches.
    pub(super) fn matching(&self, labels: &Labels, chosen: &[Arc<PersistentVolume>]) -> Result<Option<&Arc<PersistentVolume>>, FindError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let free = |v: &&Arc<PersistentVolume>| !chosen.iter().any(|c| c.metadata.name == v.metadata.name);
        let usable = |v: &&Arc<PersistentVolume>| node_affinity_holds(required_affinity(v), labels);
        if let Some(prebound) = self.prebound.iter().find(free) {
            return Ok(Some(prebound).filter(usable));
        }
        let labelled = self.by_label.iter().filter_map(|(key, by_value)| by_value.get(labels.get(key)?));
        let lists = labelled.chain(std::iter::once(&self.anywhere));
        let fits = |i: &usize| Some(&self.available[*i]).filter(free).is_some_and(|v| usable(&v));
        let first = |list: &Vec<usize>| list.iter().copied().find(fits);
        Ok(lists.filter_map(first).min().map(|i| &self.available[i]))
    }
}

fn selector_error(claim: &PersistentVolumeClaim) -> Option<FindError> {
    let error = claim.spec.selector.as_ref().map(LabelSelector::validate)?.err()?;
    Some(FindError::Selector { claim: claim.metadata.key(), error })
}

/// Checks claim reference, size and mode, which also apply to volumes that refer to the claim.
fn suits(volume: &PersistentVolume, claim: &PersistentVolumeClaim, rules: VolumeMatching) -> bool {
    let (of_volume, of_claim) = (volume.spec.volume_mode.as_deref(), claim.spec.volume_mode.as_deref());
    (volume.spec.claim_ref.is_none() || is_bound_to_claim(volume, claim))
        && capacity(volume) >= requested(claim).unwrap_or_default()
        && (rules == VolumeMatching::WithoutPhaseAndMode || of_volume.unwrap_or(FILESYSTEM) == of_claim.unwrap_or(FILESYSTEM))
        && volume.metadata.deletion_timestamp.is_none()
}

/// How the attributes classes of volumes and claims are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attributes {
    /// They are ignored.
    Ignored,
    /// The feature is off: neither may have one.
    Refused,
    /// They must be equal.
    Compared,
}

impl Attributes {
    fn of(emulation: Emulation) -> Self {
        match (emulation.behaviour().volume_attributes_compared, emulation.enabled(Gate::VolumeAttributesClass)) {
            (false, _) => Self::Ignored,
            (true, false) => Self::Refused,
            (true, true) => Self::Compared,
        }
    }

    fn error(self, claim: &PersistentVolumeClaim) -> Option<FindError> {
        let named = claim.spec.volume_attributes_class_name.as_ref().is_some_and(|name| !name.is_empty());
        (self == Self::Refused && named).then(|| FindError::AttributesClass { claim: claim.metadata.key() })
    }

    fn suit(self, volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
        let of_volume = volume.spec.volume_attributes_class_name.as_deref().unwrap_or_default();
        match self {
            Self::Ignored => true,
            Self::Refused => of_volume.is_empty(),
            Self::Compared => of_volume == claim.spec.volume_attributes_class_name.as_deref().unwrap_or_default(),
        }
    }
}

fn capacity(volume: &PersistentVolume) -> Quantity {
    volume.spec.capacity.get(STORAGE).copied().unwrap_or_default()
}

/// Whether a volume refers to the claim, by uid too if it has one; mirrors `IsVolumeBoundToClaim`.
pub(super) fn is_bound_to_claim(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let (Some(reference), meta) = (&volume.spec.claim_ref, &claim.metadata) else { return false };
    reference.name == meta.name && reference.namespace == meta.namespace && (reference.uid.is_empty() || reference.uid == meta.uid)
}

/// Returns the label and the values that the volume's node must have, if its only affinity term requires them.
fn pinned(volume: &PersistentVolume) -> Option<(&Str, &[Str])> {
    let [term] = &required_affinity(volume)?.node_selector_terms[..] else { return None };
    let requirement = term.match_expressions.iter().find(|r| r.operator == "In" && !r.values.is_empty())?;
    Some((&requirement.key, &requirement.values))
}
