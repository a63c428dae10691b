//! Workloads that are short of pods which do not exist: no pending pod shows them.

use strum::IntoEnumIterator as _;

use super::desired::ended_as;
use super::funnel::{MissingCause, WorkloadInput};
use crate::cluster::neighbors::{About, NeighborKind};

/// A workload with pods that do not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortWorkload {
    /// The workload.
    pub workload: About,
    /// The cause, which counts the pods that do not exist.
    pub cause: MissingCause,
}

/// Returns the workloads that lack pods which do not exist, and that no other known workload controls; most pods first.
pub fn short_workloads(input: &WorkloadInput<'_>, is_wanted: impl Fn(&str) -> bool) -> Vec<ShortWorkload> {
    let kinds = NeighborKind::iter().filter(|kind| kind.is_owner() && *kind != NeighborKind::CronJob);
    let mut found: Vec<ShortWorkload> = Vec::new();
    for object in kinds.flat_map(|kind| input.neighbors.of_kind(kind)).filter(|object| is_wanted(&object.metadata.namespace)) {
        let workload = About::new(<&str>::from(object.kind), object.metadata.key());
        let is_below =
            input.above(&workload).iter().any(|owner| owner.kind != "CronJob" && input.neighbors.owner(&owner.kind, &owner.key).is_some());
        if is_below || ended_as(object).is_some() {
            continue;
        }
        let Some(lacking) = input.lacking(&workload).filter(|lacking| *lacking > 0) else { continue };
        found.extend(input.not_created(&workload, lacking).map(|cause| ShortWorkload { workload, cause }));
    }
    found.sort_by(|a, b| b.cause.count.cmp(&a.cause.count).then_with(|| a.workload.cmp(&b.workload)));
    found
}
