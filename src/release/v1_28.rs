//! kube-scheduler v1.28, as differences from v1.29.

use super::behaviour::{PluginOrder, VictimStatus};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::{Part, Profile};
use super::v1_29;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(28, 3),
    since: Release::patch(28, 0),
    verified: &[Part::Decisions],
    config_api_versions: &["kubescheduler.config.k8s.io/v1beta3", "kubescheduler.config.k8s.io/v1"],
    behaviour: {
        let mut b = v1_29::PROFILE.behaviour;
        b.cycle.plugin_order = PluginOrder::OverridesMixedUp;
        b.cycle.nominated_node_rejects = true;
        b.images.as_copied = false;
        b.volumes.beta_zones_translated = false;
        b.messages.end = ".";
        b.queue.victim_status = VictimStatus::Own;
        b
    },
    ..v1_29::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [3, 15], CHANGES).last_compared();

const CHANGES: &[PatchChange] = &[
    picks::victims_patched(Release::patch(28, 4), None).until(14),
    picks::extenders_reject(Release::patch(28, 5), 122_019),
    picks::overrides_first(Release::patch(28, 6)),
    PatchChange::elsewhere(Release::patch(28, 6), None, "SchedulerQueueingHints is off by default."),
    picks::left_out_have_status(Release::patch(28, 10)).until(11),
    picks::left_out_are_silent(Release::patch(28, 11)),
    picks::gated_pods_stay(Release::patch(28, 11)).until(12),
    picks::gates_hold(Release::patch(28, 12)),
    picks::victims_patched_rightly(Release::patch(28, 14), 126_644),
];
