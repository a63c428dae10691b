//! kube-scheduler v1.32, as differences from v1.33.

use super::behaviour::{Behaviour, SpreadCounts};
use super::patches::Minor;
use super::profile::Profile;
use super::queue_behaviour::{Backoff, EventNames, NominationEnds, PreemptionCalls, QueueBehaviour};
use super::v1_33;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(32, 2),
    since: Release::patch(32, 0),
    behaviour: Behaviour {
        balance_skips_best_effort: false,
        spread_counts: SpreadCounts::PerTopologyKey,
        queue: QueueBehaviour {
            event_names: EventNames::PluralTolerations,
            nomination_ends: NominationEnds::Never,
            backoff: Backoff::ExactByAttempts,
            any_label_helps_affinity: true,
            limits_wait_for_csi_node_updates: false,
            preemption_calls: PreemptionCalls::AfterCycle,
            ..v1_33::PROFILE.behaviour.queue
        },
        ..v1_33::PROFILE.behaviour
    },
    ..v1_33::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [2, 13], &[]).last_compared_with_queues();
