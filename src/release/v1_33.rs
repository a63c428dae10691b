//! kube-scheduler v1.33, as differences from v1.34.

use super::behaviour::{Behaviour, DeviceSelectors};
use super::patches::{Minor, PatchChange};
use super::profile::Profile;
use super::queue_behaviour::{Backoff, GatedPods, QueueBehaviour};
use super::v1_34;
use super::version::Release;
use crate::cluster::SelectorWords;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(33, 0),
    since: Release::patch(33, 0),
    behaviour: Behaviour {
        device_selectors: DeviceSelectors { includes: false, multiple_allocations: false, list_functions: false, list_attributes: false },
        selector_words: SelectorWords::PathsAndGoLists,
        namespace_selectors_cleared: true,
        oversized_is_unresolvable: false,
        sidecar_ports: false,
        queue: QueueBehaviour {
            backoff: Backoff::ByAttempts,
            gating_plugin_first: false,
            gated_pods: GatedPods::HeldByGates,
            terminating_victims_deleted: true,
            ..v1_34::PROFILE.behaviour.queue
        },
        ..v1_34::PROFILE.behaviour
    },
    ..v1_34::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [0, 13], CHANGES).last_compared_with_queues();

const CHANGES: &[PatchChange] =
    &[PatchChange::new(Release::patch(33, 6), Some(133_390), "Host ports of sidecars count.", |b| b.sidecar_ports = true)];
