//! kube-scheduler v1.22, as differences from v1.23.

use super::behaviour::{DryRunReport, EphemeralClaims, MigratedPlugins, MissingClaims};
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
    behaviour: {
        let mut b = v1_23::PROFILE.behaviour;
        b.preemption.dry_run = DryRunReport::Statuses;
        b.volumes.lost_claims_reject = false;
        b.volumes.migrated_plugins = MigratedPlugins::Cinder;
        b.volumes.missing_claims = MissingClaims::PassedOver;
        b.volumes.ephemeral_claims = EphemeralClaims::AsOthers;
        b
    },
    ..v1_23::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
