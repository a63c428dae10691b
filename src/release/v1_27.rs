//! kube-scheduler v1.27, as differences from v1.28.

use super::behaviour::{Behaviour, IdleScores, MigratedPlugins, PluginOrder, PreFilterRejection, ZeroRequests};
use super::config_fields::{V1, V1BETA2, V1BETA3};
use super::profile::{Part, Profile};
use super::queue_behaviour::QueueBehaviour;
use super::v1_28;
use super::version::Release;

/// The first patches.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(27, 1),
    since: Release::patch(27, 0),
    verified: &[Part::Decisions],
    config_api_versions: &[V1BETA2, V1BETA3, V1],
    behaviour: Behaviour {
        idle_scores: IdleScores::Kept,
        zero_requests: ZeroRequests::BasicChecked,
        migrated_plugins: MigratedPlugins::Disks,
        counted_undeclared: MigratedPlugins::DisksButGce,
        pre_filter_rejection: PreFilterRejection::WithoutStatus,
        queue: QueueBehaviour { gated_pods_nominate: true, ..v1_28::PROFILE.behaviour.queue },
        ..v1_28::PROFILE.behaviour
    },
    ..v1_28::PROFILE
};

/// The patches from v1.27.6 on; preemption skips nodes that PreFilter rejected.
pub(super) const WITH_STATUSES: Profile = Profile {
    release: Release::patch(27, 9),
    since: Release::patch(27, 6),
    verified: &[],
    behaviour: Behaviour { pre_filter_rejection: PreFilterRejection::Shared, ..PROFILE.behaviour },
    ..PROFILE
};

/// The patches from v1.27.10 on; overriding plugins are loaded once.
pub(super) const WITH_ORDER: Profile = Profile {
    release: Release::latest(27),
    since: Release::patch(27, 10),
    behaviour: Behaviour { plugin_order: PluginOrder::OverridesFirst, ..WITH_STATUSES.behaviour },
    ..WITH_STATUSES
};
