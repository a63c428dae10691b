//! kube-scheduler v1.22, as differences from v1.23.

use super::behaviour::{Behaviour, DryRunReport, EphemeralClaims, MigratedPlugins, MissingClaims};
use super::config_fields::{V1BETA1, V1BETA2};
use super::patches::Minor;
use super::profile::{Profile, RemovedPlugins};
use super::v1_23;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(22, 6),
    since: Release::patch(22, 0),
    config_api_versions: &[V1BETA1, V1BETA2],
    removed_plugins: &[RemovedPlugins {
        api_version: V1BETA2,
        why: "was removed in version \"kubescheduler.config.k8s.io/v1beta2\"",
        plugins: &[
            "NodeLabel",
            "NodePreferAvoidPods",
            "NodeResourcesLeastAllocated",
            "NodeResourcesMostAllocated",
            "RequestedToCapacityRatio",
            "ServiceAffinity",
        ],
    }],
    behaviour: Behaviour {
        lost_claims_reject: false,
        migrated_plugins: MigratedPlugins::Cinder,
        missing_claims: MissingClaims::PassedOver,
        ephemeral_claims: EphemeralClaims::AsOthers,
        dry_run: DryRunReport::Statuses,
        ..v1_23::PROFILE.behaviour
    },
    ..v1_23::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
