//! kube-scheduler v1.29, as differences from v1.30.

use super::behaviour::{
    IdleScores, ImageSources, LeftOutNodes, MissingClaims, MissingNodes, NodeRegistrations, NodeUpdates, PluginOrder, SidecarCheck,
};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::Profile;
use super::v1_30;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(29, 1),
    since: Release::patch(29, 0),
    behaviour: {
        let mut b = v1_30::PROFILE.behaviour;
        b.cycle.idle_scores = IdleScores::OfPodsSkipped;
        b.cycle.pre_filter_continues = false;
        b.cycle.no_node_left_is_unresolvable = false;
        b.cycle.left_out = LeftOutNodes::WithoutStatus;
        b.cycle.missing_nodes = MissingNodes::Error;
        b.cycle.extenders_reject = false;
        b.search.one_node_without_scores = false;
        b.resources.sidecars_refused_in = SidecarCheck::Filter;
        b.images.sources = ImageSources::Containers;
        b.spread.constraint_error = "";
        b.volumes.missing_claims = MissingClaims::Error;
        b.queue.node_registrations = NodeRegistrations::AnyUpdateButUnschedulable;
        b.queue.node_updates = NodeUpdates::First;
        b.queue.taint_updates_with_node_adds = false;
        b.queue.limits_wait_for_claims = false;
        b
    },
    ..v1_30::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor =
    Minor::since(|b| b.cycle.plugin_order = PluginOrder::OverridesMixedUp, PROFILE, [0, 14], CHANGES).last_compared_with_queues();

const CHANGES: &[PatchChange] = &[
    picks::overrides_first(Release::patch(29, 1)),
    picks::left_out_have_status(Release::patch(29, 5)).until(6),
    picks::left_out_are_silent(Release::patch(29, 6)),
    picks::gated_pods_stay(Release::patch(29, 6)).until(7),
    picks::gates_hold(Release::patch(29, 7)),
    picks::victims_patched_rightly(Release::patch(29, 9), 126_694),
    picks::extenders_reject(Release::patch(29, 10), 122_019),
    picks::local_volumes_filtered(Release::patch(29, 11), 125_398),
    picks::victims_sorted(Release::patch(29, 11), 128_435),
];
