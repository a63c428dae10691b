//! kube-scheduler v1.11, as differences from v1.12. Also emulates all earlier releases.

use super::behaviour::{Behaviour, NodeSearch};
use super::patches::Minor;
use super::predicate_behaviour::{AffinityTerms, ClaimBinding, EbsLimit, HostOrder, ImageScore, PredicateBehaviour, PreemptionReach};
use super::profile::Profile;
use super::v1_12;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(11, 1),
    since: Release::patch(11, 0),
    config_api_versions: &["componentconfig/v1alpha1"],
    behaviour: Behaviour {
        predicates: PredicateBehaviour {
            preemption_reach: PreemptionReach::Wide,
            affinity_terms: AffinityTerms::Together,
            claim_binding: ClaimBinding::BeforePod,
            ebs_limit: EbsLimit::Fixed,
            image_score: ImageScore::Size,
            host_order: HostOrder::NameBackwards,
        },
        search: NodeSearch::All,
        ..v1_12::PROFILE.behaviour
    },
    ..v1_12::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
