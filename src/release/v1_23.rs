//! kube-scheduler v1.23, as differences from v1.24.

use std::time::Duration;

use super::behaviour::{
    Behaviour, FilterRun, MigratedPlugins, NodeAffinityPreFilter, PluginOrder, PostFilterText, PreemptionText, Rounding, SpreadCounts,
};
use super::patches::{Minor, PatchChange};
use super::profile::Profile;
use super::v1_24;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(23, 5),
    since: Release::patch(23, 0),
    behaviour: Behaviour {
        plugin_order: PluginOrder::ImpliedLast,
        pre_filter_error_lost: false,
        leftover: Duration::from_secs(60),
        fit_scores_overhead: false,
        counted_undeclared: MigratedPlugins::None,
        spread_counts: SpreadCounts::OnAllNodes,
        spread_score: Rounding::Down,
        node_affinity_pre_filter: NodeAffinityPreFilter::Prepares,
        filters: FilterRun::UntilRejection,
        preemption_text: PreemptionText::Plain,
        post_filter_text: PostFilterText::Never,
        ..v1_24::PROFILE.behaviour
    },
    ..v1_24::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [5, 6], CHANGES);

const CHANGES: &[PatchChange] =
    &[PatchChange::new(Release::patch(23, 6), None, "Plugins that override those of multiPoint come first.", |b| {
        b.plugin_order = PluginOrder::OverridesMixedUp;
    })];
