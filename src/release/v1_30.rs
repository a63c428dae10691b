//! kube-scheduler v1.30, as differences from v1.31.

use super::behaviour::{Behaviour, LeftOutNodes, MigratedPlugins, MissingNodes, NarrowingOrder, PotentialNodes};
use super::profile::{Part, Profile};
use super::queue_behaviour::{AssignedPods, AssignedUpdates, EventNames, GatedPods, QueueBehaviour, VictimStatus};
use super::v1_31;
use super::version::Release;

/// The first patches.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(30, 1),
    since: Release::patch(30, 0),
    behaviour: Behaviour {
        volume_attributes_compared: false,
        migrated_plugins: MigratedPlugins::AllButPortworx,
        narrowing_order: NarrowingOrder::Running,
        narrowing_rejects: false,
        nominated_node_rejects: false,
        left_out: LeftOutNodes::FilteredOut,
        missing_nodes: MissingNodes::Crash,
        potential_nodes: PotentialNodes::NotUnresolvable,
        queue: QueueBehaviour {
            event_names: EventNames::Own,
            assigned_updates: AssignedUpdates::One,
            assigned_pods: AssignedPods::AffinityTerms,
            gated_pods: GatedPods::AsOthers,
            restrictions_wait_for_claim_updates: true,
            victim_status: VictimStatus::OfPreemptor,
            ..v1_31::PROFILE.behaviour.queue
        },
        ..v1_31::PROFILE.behaviour
    },
    ..v1_31::PROFILE
};

/// The patches from v1.30.2 on, which no longer crash if PreFilter names only missing nodes.
pub(super) const WITHOUT_CRASH: Profile = Profile {
    release: Release::latest(30),
    since: Release::patch(30, 2),
    verified: &[Part::Decisions],
    behaviour: Behaviour { missing_nodes: MissingNodes::PassedOver, ..PROFILE.behaviour },
    ..PROFILE
};
