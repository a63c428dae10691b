//! Where the volumes of a pod are, and whether the pod asks for nodes elsewhere.

use crate::cluster::storage::PersistentVolume;
use crate::cluster::{Cluster, NodeSelectorTerm, Pod, Requirement, Str};
use crate::limits::engine::PLACE_COMPARISONS;

/// A bound claim of a pod whose volume only some nodes reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumePlace {
    pub claim: Str,
    pub volume: Str,
    /// The nodes that reach it, such as `topology.kubernetes.io/zone=a`; alternatives are separated by `or`.
    pub place: String,
    /// The contradiction with the pod's own constraints, if one is found.
    pub against: Option<VolumeConflict>,
}

/// A label for which a volume and its pod ask for different values: no node has both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeConflict {
    /// The label.
    pub key: Str,
    /// The values that the pod asks for.
    pub pod: Vec<Str>,
    /// The values of the volume.
    pub volume: Vec<Str>,
}

/// Labels of volumes that name their place.
const PLACE_LABELS: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

/// Returns the places of a pod's volumes, in the order of the pod's volumes. Claims that are not bound have none.
pub fn volume_places(cluster: &Cluster, pod: &Pod) -> Vec<VolumePlace> {
    places_within(cluster, pod, PLACE_COMPARISONS)
}

/// Does the same as [`volume_places`], with contradictions that this number of comparisons finds.
fn places_within(cluster: &Cluster, pod: &Pod, comparisons: usize) -> Vec<VolumePlace> {
    let wanted = Wanted::of(pod);
    let mut left = comparisons;
    let mut places = Vec::new();
    for volume in &pod.spec.volumes {
        let claim: Str = match (&volume.persistent_volume_claim, &volume.ephemeral) {
            (Some(source), _) => source.claim_name.clone(),
            (None, Some(_)) => format!("{}-{}", pod.metadata.name, volume.name).into(),
            (None, None) => continue,
        };
        let Some(found) = cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, &claim) else { continue };
        let Some(volume) = cluster.persistent_volumes.named(&found.spec.volume_name) else { continue };
        let terms = of_volume(volume);
        if terms.iter().all(Vec::is_empty) {
            continue;
        }
        let against = wanted.conflict(&terms, &mut left);
        let place = terms.iter().map(|term| term.iter().map(Allowed::words).collect::<Vec<_>>().join(" and "));
        let place = place.collect::<Vec<_>>().join(" or ");
        places.push(VolumePlace { claim, volume: volume.metadata.name.clone(), place, against });
    }
    places
}

impl VolumePlace {
    /// Returns a sentence about the contradiction without its full stop; `None` without one.
    pub fn conflict_sentence(&self) -> Option<String> {
        let VolumeConflict { key, pod, volume } = self.against.as_ref()?;
        let list = |values: &[Str]| values.iter().map(Str::as_str).collect::<Vec<_>>().join(" or ");
        Some(format!(
            "the volume {} of claim {} is on nodes with {key}={}, and the pod asks for {key}={}: no node has both",
            self.volume,
            self.claim,
            list(volume),
            list(pod)
        ))
    }
}

/// The values of a label that are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Allowed {
    key: Str,
    values: Vec<Str>,
}

fn number_of_values(list: &[Allowed]) -> usize {
    list.iter().map(|allowed| allowed.values.len()).sum()
}

impl Allowed {
    /// Returns how no node can have both one of these values and what is there.
    fn excludes(&self, there: &[Self]) -> Option<VolumeConflict> {
        let there = there.iter().find(|there| there.key == self.key)?;
        let is_disjoint = self.values.iter().all(|value| !there.values.contains(value));
        is_disjoint.then(|| VolumeConflict { key: self.key.clone(), pod: self.values.clone(), volume: there.values.clone() })
    }

    fn words(&self) -> String {
        let values = self.values.iter().map(Str::as_str).collect::<Vec<_>>();
        match &values[..] {
            [one] => format!("{}={one}", self.key),
            several => format!("{} in ({})", self.key, several.join(", ")),
        }
    }
}

/// The values of labels that a pod asks for. Requirements without a list of values are left out.
struct Wanted {
    /// Its node selector, which every node must have.
    selector: Vec<Allowed>,
    /// The alternatives of its node affinity; `None` without one.
    terms: Option<Vec<Vec<Allowed>>>,
}

impl Wanted {
    fn of(pod: &Pod) -> Self {
        let selector = (pod.spec.node_selector.iter().flat_map(crate::cluster::Labels::iter))
            .map(|(key, value)| Allowed { key: key.clone(), values: vec![value.clone()] });
        let required = pod.spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref()?.required.as_ref());
        let terms = required.map(|required| required.node_selector_terms.iter().map(of_term).collect());
        Self { selector: selector.collect(), terms }
    }

    /// Returns the first label for which each alternative of the pod excludes each of a volume; `None` if two go together, or if they
    /// take more comparisons than are left.
    fn conflict(&self, volume: &[Vec<Allowed>], left: &mut usize) -> Option<VolumeConflict> {
        let mut excludes = |wanted: &[Allowed], there: &[Allowed]| {
            *left = left.checked_sub(number_of_values(wanted).saturating_mul(number_of_values(there)))?;
            wanted.iter().find_map(|wanted| wanted.excludes(there))
        };
        let of_selector: Vec<Option<VolumeConflict>> = volume.iter().map(|there| excludes(&self.selector, there)).collect();
        let none = [Vec::new()];
        let terms = self.terms.as_deref().unwrap_or(&none);
        let mut first = None;
        for term in terms {
            for (there, found) in volume.iter().zip(&of_selector) {
                let found = match found {
                    Some(found) => found.clone(),
                    None => excludes(term, there)?,
                };
                first.get_or_insert(found);
            }
        }
        first
    }
}

/// Returns the alternatives of a volume's node affinity, each with its labels that name a place.
fn of_volume(volume: &PersistentVolume) -> Vec<Vec<Allowed>> {
    let is_place = |key: &Str| PLACE_LABELS.contains(&key.as_str());
    let labels = volume.metadata.labels.iter().filter(|(key, _)| is_place(key));
    // Labels of volumes separate several values so.
    let labels = labels.map(|(key, value)| Allowed { key: key.clone(), values: value.split("__").map(Str::from).collect() });
    let labels: Vec<Allowed> = labels.collect();
    let required = volume.spec.node_affinity.as_ref().and_then(|affinity| affinity.required.as_ref());
    let Some(required) = required else { return vec![labels] };
    let with_labels = |term: &NodeSelectorTerm| {
        let own = of_term(term);
        let others = labels.iter().filter(|label| own.iter().all(|known| known.key != label.key)).cloned();
        own.iter().cloned().chain(others).collect()
    };
    required.node_selector_terms.iter().map(with_labels).collect()
}

fn of_term(term: &NodeSelectorTerm) -> Vec<Allowed> {
    let is_list = |requirement: &&Requirement| requirement.operator == "In";
    let lists = term.match_expressions.iter().filter(is_list);
    lists.map(|list| Allowed { key: list.key.clone(), values: list.values.iter().cloned().collect() }).collect()
}

#[cfg(test)]
mod tests;
