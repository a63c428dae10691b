//! kube-scheduler v1.29, as differences from v1.30.

use super::behaviour::{Behaviour, IdleScores, ImageSources, LeftOutNodes, MissingClaims, MissingNodes, PluginOrder, SidecarCheck};
use super::profile::Profile;
use super::queue_behaviour::{NodeRegistrations, NodeUpdates, QueueBehaviour};
use super::v1_30;
use super::version::Release;

/// The patches from v1.29.1 on.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(29, 1),
    since: Release::patch(29, 1),
    behaviour: Behaviour {
        images: ImageSources::Containers,
        idle_scores: IdleScores::OfPodsSkipped,
        constraint_error: "",
        sidecars_refused_in: SidecarCheck::Filter,
        missing_claims: MissingClaims::Error,
        pre_filter_goes_on: false,
        no_node_left_is_unresolvable: false,
        left_out: LeftOutNodes::WithoutStatus,
        missing_nodes: MissingNodes::Error,
        one_node_without_scores: false,
        queue: QueueBehaviour {
            node_registrations: NodeRegistrations::AnyUpdateButUnschedulable,
            node_updates: NodeUpdates::First,
            taints_told_with_nodes: false,
            limits_wait_for_claims: false,
            ..v1_30::PROFILE.behaviour.queue
        },
        ..v1_30::PROFILE.behaviour
    },
    ..v1_30::PROFILE
};

/// The first patch.
pub(super) const FIRST: Profile = Profile {
    release: Release::patch(29, 0),
    since: Release::patch(29, 0),
    verified: &[],
    behaviour: Behaviour { plugin_order: PluginOrder::OverridesMixedUp, ..PROFILE.behaviour },
    ..PROFILE
};
