//! kube-scheduler v1.26, as differences from v1.27.

use super::behaviour::{
    Behaviour, ClaimsInUse, EmptySelector, LocalVolumes, MigratedPlugins, NodeAffinityConflict, OverheadUnit, PluginOrder, PostFilterText,
    PreFilterRejection, TerminatingPods, ZoneCheck,
};
use super::profile::Profile;
use super::v1_27;
use super::version::Release;

/// The first patches.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(26, 4),
    since: Release::patch(26, 0),
    verified: &[],
    behaviour: Behaviour {
        overhead_unit: OverheadUnit::Cores,
        empty_spread_selector: EmptySelector::Everything,
        node_affinity_conflict: NodeAffinityConflict::InAnyTerm,
        zones_looked_up_in: ZoneCheck::Filter,
        claims_in_use: ClaimsInUse::PreFilter,
        local_volumes: LocalVolumes::Filter,
        counted_undeclared: MigratedPlugins::Cinder,
        terminating: TerminatingPods::All,
        post_filter_text: PostFilterText::UnlessError,
        ..v1_27::PROFILE.behaviour
    },
    ..v1_27::PROFILE
};

/// The patches from v1.26.9 on; preemption skips nodes that PreFilter rejected.
pub(super) const WITH_STATUSES: Profile = Profile {
    release: Release::patch(26, 12),
    since: Release::patch(26, 9),
    behaviour: Behaviour { pre_filter_rejection: PreFilterRejection::Shared, ..PROFILE.behaviour },
    ..PROFILE
};

/// The patches from v1.26.13 on; overriding plugins are loaded once.
pub(super) const WITH_ORDER: Profile = Profile {
    release: Release::latest(26),
    since: Release::patch(26, 13),
    behaviour: Behaviour { plugin_order: PluginOrder::OverridesFirst, ..WITH_STATUSES.behaviour },
    ..WITH_STATUSES
};
