//! kube-scheduler v1.23, as differences from v1.24.

use std::time::Duration;

use super::behaviour::{
    FilterRun, MigratedPlugins, NodeAffinityPreFilter, PluginOrder, PostFilterText, PreemptionText, Rounding, SpreadCounts,
};
use super::patches::{Minor, PatchChange};
use super::profile::Profile;
use super::v1_24;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(23, 5),
    since: Release::patch(23, 0),
    behaviour: {
        let mut b = v1_24::PROFILE.behaviour;
        b.cycle.plugin_order = PluginOrder::ImpliedLast;
        b.cycle.pre_filter_error_lost = false;
        b.cycle.filters = FilterRun::UntilRejection;
        b.preemption.text = PreemptionText::Plain;
        b.resources.fit_scores_overhead = false;
        b.affinity.node_pre_filter = NodeAffinityPreFilter::Prepares;
        b.spread.counts = SpreadCounts::OnAllNodes;
        b.spread.score = Rounding::Down;
        b.volumes.counted_undeclared = MigratedPlugins::None;
        b.messages.post_filter = PostFilterText::Never;
        b.queue.leftover = Duration::from_secs(60);
        b
    },
    ..v1_24::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [5, 6], CHANGES);

const CHANGES: &[PatchChange] =
    &[PatchChange::new(Release::patch(23, 6), None, "Plugins that override those of multiPoint come first.", |b| {
        b.cycle.plugin_order = PluginOrder::OverridesMixedUp;
    })];
