//! kube-scheduler v1.25, as differences from v1.26.

use super::behaviour::{FilterRun, PreFilterRejection, RepeatedScores, ZeroRequests};
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
    behaviour: {
        let mut b = v1_26::PROFILE.behaviour;
        b.cycle.pre_filter_rejection = PreFilterRejection::OfEachNode;
        b.cycle.filters = FilterRun::All;
        b.cycle.repeated_scores = RepeatedScores::WeightedTwice;
        b.cycle.pre_filter_error_lost = true;
        b.resources.zero_requests = ZeroRequests::Checked;
        b.messages.end = "";
        b.messages.selector_words = SelectorWords::PathsOfPodSelectors;
        b
    },
    ..v1_26::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [2, 10], CHANGES).last_compared();

const CHANGES: &[PatchChange] = &[picks::filters_stop(Release::patch(25, 6), 114_525)];
