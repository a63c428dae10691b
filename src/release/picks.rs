//! Changes that were picked to patches of several minor versions.

use super::behaviour::{
    FilterRun, GatedPods, LeftOutNodes, LocalVolumes, MissingNodes, PluginOrder, PotentialNodes, PreFilterRejection, StartWrap,
    VictimOrder, VictimStatus,
};
use super::patches::PatchChange;
use super::version::Release;

/// Filters stop at the first rejection.
pub(super) const fn filters_stop(since: Release, number: u32) -> PatchChange {
    let about = "The first filter that rejects a node ends the checks of that node.";
    PatchChange::new(since, Some(number), about, |b| b.cycle.filters = FilterRun::UntilRejection)
}

/// A rejection of PreFilter is the status of every node.
pub(super) const fn rejection_shared(since: Release) -> PatchChange {
    let about = "Nodes have the status of a PreFilter rejection, so preemption passes over those that it cannot help.";
    PatchChange::new(since, None, about, |b| b.cycle.pre_filter_rejection = PreFilterRejection::Shared)
}

/// Victims are patched on the basis of the preemptor.
pub(super) const fn victims_patched(since: Release, number: Option<u32>) -> PatchChange {
    let about = "The new status of a victim is based on that of the preemptor.";
    PatchChange::new(since, number, about, |b| b.queue.victim_status = VictimStatus::OfPreemptor)
}

/// Victims are patched on their own basis.
pub(super) const fn victims_patched_rightly(since: Release, number: u32) -> PatchChange {
    let about = "The new status of a victim is based on its own.";
    PatchChange::new(since, Some(number), about, |b| b.queue.victim_status = VictimStatus::Own)
}

/// Extenders are among the plugins that reject a pod.
pub(super) const fn extenders_reject(since: Release, number: u32) -> PatchChange {
    let about = "Extenders that reject nodes count as rejecting the pod, so any event moves it.";
    PatchChange::new(since, Some(number), about, |b| b.cycle.extenders_reject = true)
}

/// Plugins that override others are loaded once.
pub(super) const fn overrides_first(since: Release) -> PatchChange {
    let about = "Plugins that override those of multiPoint are loaded once, before the others.";
    PatchChange::new(since, Some(122_066), about, |b| b.cycle.plugin_order = PluginOrder::OverridesFirst)
}

/// Nodes that PreFilter excludes have a status.
pub(super) const fn left_out_have_status(since: Release) -> PatchChange {
    let about = "Nodes that PreFilter excludes have a status, which the message counts, and preemption passes over them.";
    PatchChange::new(since, None, about, |b| {
        b.cycle.left_out = LeftOutNodes::FilteredOut;
        b.cycle.missing_nodes = MissingNodes::Crash;
    })
}

/// Nodes that PreFilter excludes have no status.
pub(super) const fn left_out_are_silent(since: Release) -> PatchChange {
    let about = "Nodes that PreFilter excludes have no status, and preemption considers only nodes that Filter rejected as Unschedulable.";
    PatchChange::new(since, None, about, |b| {
        b.cycle.left_out = LeftOutNodes::WithoutStatus;
        b.cycle.missing_nodes = MissingNodes::PassedOver;
        b.preemption.potential_nodes = PotentialNodes::ListedUnschedulable;
        b.search.start_wraps = StartWrap::AmongAll;
    })
}

/// Events pass over gated pods.
pub(super) const fn gated_pods_stay(since: Release) -> PatchChange {
    PatchChange::new(since, None, "Events do not move gated pods.", |b| b.queue.gated_pods = GatedPods::Stay)
}

/// Events pass over pods that `SchedulingGates` gates.
pub(super) const fn gates_hold(since: Release) -> PatchChange {
    let about = "Events do not move pods that SchedulingGates gates, but those that another plugin gates.";
    PatchChange::new(since, Some(124_384), about, |b| b.queue.gated_pods = GatedPods::HeldByGates)
}

/// `VolumeBinding` checks local volumes in Filter only.
pub(super) const fn local_volumes_filtered(since: Release, number: u32) -> PatchChange {
    let about = "VolumeBinding checks the node affinity of bound local volumes in Filter, and PreFilter restricts no nodes.";
    PatchChange::new(since, Some(number), about, |b| b.volumes.local_volumes = LocalVolumes::Filter)
}

/// Victims are sorted after reprieving.
pub(super) const fn victims_sorted(since: Release, number: u32) -> PatchChange {
    let about = "Victims are sorted by importance, even if some of them violate a budget.";
    PatchChange::new(since, Some(number), about, |b| b.preemption.victims = VictimOrder::ByImportance)
}

/// A recreated pod does not get the condition of its predecessor.
pub(super) const fn recreated_pods_unmarked(since: Release, number: u32) -> PatchChange {
    let about = "A pod that is recreated during an attempt does not get the condition of that attempt.";
    PatchChange::new(since, Some(number), about, |b| b.queue.recreated_pods_marked = false)
}
