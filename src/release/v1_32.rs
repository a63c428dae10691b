//! kube-scheduler v1.32, as differences from v1.33.

use super::behaviour::{Backoff, EventNames, NominationEnds, PreemptionCalls, SpreadCounts};
use super::patches::Minor;
use super::profile::Profile;
use super::v1_33;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(32, 2),
    since: Release::patch(32, 0),
    behaviour: {
        let mut b = v1_33::PROFILE.behaviour;
        b.resources.balance_skips_best_effort = false;
        b.spread.counts = SpreadCounts::PerTopologyKey;
        b.queue.event_names = EventNames::PluralTolerations;
        b.queue.nomination_ends = NominationEnds::Never;
        b.queue.backoff = Backoff::ExactByAttempts;
        b.queue.any_label_helps_affinity = true;
        b.queue.limits_wait_for_csi_node_updates = false;
        b.queue.preemption_calls = PreemptionCalls::AfterCycle;
        b
    },
    ..v1_33::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [2, 13], &[]).last_compared_with_queues();
