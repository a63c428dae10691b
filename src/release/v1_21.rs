//! kube-scheduler v1.21, as differences from v1.22.

use super::behaviour::{AffinityReasons, BalanceScore, DefaultSelector, MissingResources, UtilizationRounding, WithoutVictims};
use super::config_fields::V1BETA1;
use super::patches::Minor;
use super::profile::Profile;
use super::v1_22;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(21, 9),
    since: Release::patch(21, 0),
    config_api_versions: &[V1BETA1],
    removed_plugins: &[],
    behaviour: {
        let mut b = v1_22::PROFILE.behaviour;
        b.preemption.without_victims = WithoutVictims::Candidate;
        b.resources.balance = BalanceScore::Difference;
        b.resources.missing_resources = MissingResources::Weighed;
        b.resources.utilization = UtilizationRounding::FreeDown;
        b.affinity.reasons = AffinityReasons::Two;
        b.spread.default_selector = DefaultSelector::OfMatching;
        b
    },
    ..v1_22::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
