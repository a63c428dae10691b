//! Matches claims with existing volumes; mirrors `FindMatchingVolume` of
//! `staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go`.
//!
//! Everything that does not depend on the node is computed once for claims with the same demands. The remaining volumes are
//! sorted, so that the first one usable on the node is the match. Local volumes, which are as many as nodes, are looked up by
//! their node label.

use std::collections::{BTreeMap, HashMap, HashSet};
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
    /// The volumes that refer to no claim.
    available: Arc<Available>,
}

/// The available volumes that suit all claims with the same demands.
#[derive(Debug, Default)]
struct Available {
    /// The position among the different demands of a pod.
    id: usize,
    /// Smaller volumes first, then by name. Upstream does not define the order of equal sizes.
    volumes: Vec<Arc<PersistentVolume>>,
    /// Indexes into `volumes` of those that are not pinned to a single label.
    anywhere: Vec<usize>,
    /// Indexes into `volumes` of the others, by the label and value that their node must have.
    by_label: BTreeMap<Str, HashMap<Str, Vec<usize>>>,
}

/// The volumes chosen on one node, for the claims of a pod in turn.
#[derive(Debug, Default)]
pub(super) struct Chosen<'a> {
    names: HashSet<&'a str>,
    /// For each of [`Available`], by id, the positions in `anywhere` that are used up: their volumes are chosen, or not usable on the node.
    passed: Vec<usize>,
    /// Claims and volumes that were judged, and terms of their affinity.
    judged: usize,
}

/// Claims, volumes and terms of their affinity that are judged in the time of a step of a plugin's search.
const VOLUMES_OF_A_STEP: usize = 8;

impl Chosen<'_> {
    /// Returns the steps that the choice took.
    pub(super) fn steps(&self) -> u64 {
        (self.judged / VOLUMES_OF_A_STEP) as u64
    }
}

/// The demands of a claim on a volume that refers to no claim.
#[derive(PartialEq)]
struct Demands<'a> {
    class: Str,
    size: Quantity,
    mode: &'a str,
    access_modes: &'a [Str],
    selector: Option<&'a LabelSelector>,
    attributes: &'a str,
}

impl<'a> Demands<'a> {
    fn of(claim: &'a PersistentVolumeClaim) -> Self {
        let spec = &claim.spec;
        Self {
            class: claim_class(claim),
            size: requested(claim).unwrap_or_default(),
            mode: spec.volume_mode.as_deref().unwrap_or(FILESYSTEM),
            access_modes: &spec.access_modes,
            selector: spec.selector.as_ref(),
            attributes: spec.volume_attributes_class_name.as_deref().unwrap_or_default(),
        }
    }

    /// Checks class, size, mode and attributes, which also apply to volumes that refer to a claim.
    fn suit(&self, volume: &PersistentVolume, rules: VolumeMatching, attributes: Attributes) -> bool {
        self.class == *volume_class(volume)
            && (rules == VolumeMatching::WithoutPhaseAndMode || volume.spec.volume_mode.as_deref().unwrap_or(FILESYSTEM) == self.mode)
            && volume.metadata.deletion_timestamp.is_none()
            && attributes.suit(volume, self.attributes)
            && capacity(volume) >= self.size
    }

    /// Whether a volume that refers to no claim can be taken.
    fn available(&self, volume: &PersistentVolume, rules: VolumeMatching) -> bool {
        (volume.status.phase == "Available" || rules == VolumeMatching::WithoutPhaseAndMode)
            && self.selector.is_none_or(|s| s.matches(&volume.metadata.labels))
            && self.access_modes.iter().all(|mode| volume.spec.access_modes.contains(mode))
    }
}

impl Candidates {
    /// Computes the candidates of several claims. Claims with the same demands share what is available. The results are in the order of
    /// the claims.
    pub(super) fn of(cx: &Context<'_>, claims: &[&PersistentVolumeClaim]) -> Vec<Self> {
        if claims.is_empty() {
            return Vec::new();
        }
        let attributes = Attributes::of(cx.emulation);
        let rules = cx.emulation.behaviour().volumes.matching;
        let (free, taken): (Vec<_>, Vec<_>) = cx.cluster.persistent_volumes.iter().partition(|v| v.spec.claim_ref.is_none());
        let mut referring: HashMap<(&str, &str), Vec<&Arc<PersistentVolume>>> = HashMap::new();
        for volume in taken {
            if let Some(reference) = &volume.spec.claim_ref {
                referring.entry((&reference.namespace, &reference.name)).or_default().push(volume);
            }
        }
        let mut kinds: Vec<(Demands<'_>, Arc<Available>)> = Vec::new();
        let mut of_claim = |claim| {
            let demands = Demands::of(claim);
            let meta = &claim.metadata;
            let prebound = referring.get(&(meta.namespace.as_str(), meta.name.as_str())).into_iter().flatten();
            let prebound = prebound.filter(|v| is_bound_to_claim(v, claim) && demands.suit(v, rules, attributes));
            let prebound = prebound.map(|v| Arc::clone(v)).collect();
            let error = selector_error(claim).or_else(|| attributes.error(claim));
            let available = if let Some((_, known)) = kinds.iter().find(|(known, _)| *known == demands) {
                known.clone()
            } else {
                let suiting = free.iter().filter(|v| demands.suit(v, rules, attributes) && demands.available(v, rules));
                let made = Arc::new(Available::new(kinds.len(), suiting.map(|v| Arc::clone(v)).collect()));
                kinds.push((demands, made.clone()));
                made
            };
            Self { error, prebound, available }
        };
        claims.iter().map(|claim| of_claim(*claim)).collect()
    }

    /// Chooses the volume for the claim on a node with these labels, leaving out volumes that are `chosen` for other claims.
    ///
    /// A volume that refers to the claim is the only choice: if the node cannot use it, nothing matches.
    pub(super) fn choose<'a>(&'a self, labels: &Labels, chosen: &mut Chosen<'a>) -> Result<Option<&'a Arc<PersistentVolume>>, FindError> {
        chosen.judged += 1;
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let usable = |v: &&Arc<PersistentVolume>| node_affinity_holds(required_affinity(v), labels);
        let found = match self.prebound.iter().find(|v| !chosen.names.contains(v.metadata.name.as_str())) {
            Some(prebound) => Some(prebound).filter(usable),
            None => self.available.first(labels, chosen),
        };
        chosen.names.extend(found.map(|v| v.metadata.name.as_str()));
        Ok(found)
    }
}

impl Available {
    /// Indexes volumes, which are given in order of name.
    fn new(id: usize, mut volumes: Vec<Arc<PersistentVolume>>) -> Self {
        volumes.sort_by_cached_key(|v| capacity(v));
        let mut made = Self { id, ..Self::default() };
        for (i, volume) in volumes.iter().enumerate() {
            match pinned(volume) {
                None => made.anywhere.push(i),
                Some((key, values)) => {
                    let by_value = made.by_label.entry(key.clone()).or_default();
                    for value in values {
                        by_value.entry(value.clone()).or_default().push(i);
                    }
                }
            }
        }
        made.volumes = volumes;
        made
    }

    /// Returns the first volume that is usable on a node with these labels and not chosen.
    fn first(&self, labels: &Labels, chosen: &mut Chosen<'_>) -> Option<&Arc<PersistentVolume>> {
        let Chosen { names, passed, judged } = chosen;
        let mut fits = |i: &usize| {
            let volume = &self.volumes[*i];
            let affinity = required_affinity(volume);
            *judged += 1 + affinity.map_or(0, |affinity| affinity.node_selector_terms.len());
            !names.contains(volume.metadata.name.as_str()) && node_affinity_holds(affinity, labels)
        };
        let pinned = self.by_label.iter().filter_map(|(key, by_value)| by_value.get(labels.get(key)?));
        let pinned = pinned.filter_map(|list| list.iter().copied().find(&mut fits)).min();
        // A volume that did not fit for one claim fits for none after it.
        if passed.len() <= self.id {
            passed.resize(self.id + 1, 0);
        }
        let passed = &mut passed[self.id];
        *passed += self.anywhere[*passed..].iter().take_while(|i| !fits(i)).count();
        pinned.into_iter().chain(self.anywhere.get(*passed).copied()).min().map(|i| &self.volumes[i])
    }
}

fn selector_error(claim: &PersistentVolumeClaim) -> Option<FindError> {
    let error = claim.spec.selector.as_ref().map(LabelSelector::validate)?.err()?;
    Some(FindError::Selector { claim: claim.metadata.key(), error })
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
        match (emulation.behaviour().volumes.attributes_compared, emulation.enabled(Gate::VolumeAttributesClass)) {
            (false, _) => Self::Ignored,
            (true, false) => Self::Refused,
            (true, true) => Self::Compared,
        }
    }

    fn error(self, claim: &PersistentVolumeClaim) -> Option<FindError> {
        let named = claim.spec.volume_attributes_class_name.as_ref().is_some_and(|name| !name.is_empty());
        (self == Self::Refused && named).then(|| FindError::AttributesClass { claim: claim.metadata.key() })
    }

    fn suit(self, volume: &PersistentVolume, of_claim: &str) -> bool {
        let of_volume = volume.spec.volume_attributes_class_name.as_deref().unwrap_or_default();
        match self {
            Self::Ignored => true,
            Self::Refused => of_volume.is_empty(),
            Self::Compared => of_volume == of_claim,
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
