//! kube-scheduler v1.33, as differences from v1.34.

use super::behaviour::{Backoff, DeviceSelectors, GatedPods};
use super::patches::{Minor, PatchChange};
use super::profile::Profile;
use super::v1_34;
use super::version::Release;
use crate::cluster::SelectorWords;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(33, 0),
    since: Release::patch(33, 0),
    behaviour: {
        let mut b = v1_34::PROFILE.behaviour;
        b.resources.oversized_is_unresolvable = false;
        b.resources.sidecar_ports = false;
        b.devices.selectors =
            DeviceSelectors { includes: false, multiple_allocations: false, list_functions: false, list_attributes: false };
        b.affinity.namespace_selectors_cleared = true;
        b.messages.selector_words = SelectorWords::PathsAndGoLists;
        b.queue.backoff = Backoff::ByAttempts;
        b.queue.gating_plugin_first = false;
        b.queue.gated_pods = GatedPods::HeldByGates;
        b.queue.terminating_victims_deleted = true;
        b
    },
    ..v1_34::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [0, 13], CHANGES).last_compared_with_queues();

const CHANGES: &[PatchChange] =
    &[PatchChange::new(Release::patch(33, 6), Some(133_390), "Host ports of sidecars count.", |b| b.resources.sidecar_ports = true)];
