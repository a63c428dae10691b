//! kube-scheduler v1.11, as differences from v1.12. Also emulates all earlier releases.

use super::behaviour::{AffinityTerms, ClaimBinding, EbsLimit, HostOrder, ImageScore, NodeSearch, PreemptionReach};
use super::patches::Minor;
use super::profile::Profile;
use super::v1_12;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(11, 1),
    since: Release::patch(11, 0),
    config_api_versions: &["componentconfig/v1alpha1"],
    behaviour: {
        let mut b = v1_12::PROFILE.behaviour;
        b.predicates.preemption_reach = PreemptionReach::Wide;
        b.predicates.affinity_terms = AffinityTerms::Together;
        b.predicates.claim_binding = ClaimBinding::BeforePod;
        b.predicates.ebs_limit = EbsLimit::Fixed;
        b.predicates.image_score = ImageScore::Size;
        b.predicates.host_order = HostOrder::NameBackwards;
        b.search.nodes = NodeSearch::All;
        b
    },
    ..v1_12::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
