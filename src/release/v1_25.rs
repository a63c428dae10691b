//! kube-scheduler v1.25, as differences from v1.26.

use super::behaviour::{Behaviour, FilterRun, PreFilterRejection, RepeatedScores, ZeroRequests};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::Profile;
use super::v1_26;
use super::version::Release;
use crate::cluster::SelectorWords;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(25, 2),
    since: Release::patch(25, 0),
    behaviour: Behaviour {
        zero_requests: ZeroRequests::Checked,
        pre_filter_rejection: PreFilterRejection::OfEachNode,
        filters: FilterRun::All,
        message_end: "",
        selector_words: SelectorWords::PathsOfPodSelectors,
        repeated_scores: RepeatedScores::WeightedTwice,
        pre_filter_error_lost: true,
        ..v1_26::PROFILE.behaviour
    },
    ..v1_26::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [2, 10], CHANGES).last_compared();

const CHANGES: &[PatchChange] = &[picks::filters_stop(Release::patch(25, 6), 114_525)];
