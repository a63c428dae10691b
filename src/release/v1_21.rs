//! kube-scheduler v1.21, as differences from v1.22.

use super::behaviour::{AffinityReasons, BalanceScore, Behaviour, DefaultSelector, MissingResources, UtilizationRounding, WithoutVictims};
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
    behaviour: Behaviour {
        balance: BalanceScore::Difference,
        default_selector: DefaultSelector::OfMatching,
        missing_resources: MissingResources::Weighed,
        utilization: UtilizationRounding::FreeDown,
        affinity_reasons: AffinityReasons::Two,
        without_victims: WithoutVictims::Candidate,
        ..v1_22::PROFILE.behaviour
    },
    ..v1_22::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
