//! kube-scheduler v1.37, as differences from v1.36.
//!
//! No decision of this release was compared with its own code: [`CHANGES`] says how each difference is known.

use super::behaviour::{BudgetRule, EventNames, GroupRule, ImageSources, ResizeMaximum};
use super::novelty::{Knowledge, Novelty};
use super::patches::Minor;
use super::profile::Profile;
use super::v1_36;
use super::version::Release;

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(37, 0),
    since: Release::patch(37, 0),
    verified: &[],
    novelties: CHANGES,
    other_gates: v1_36::gates::OTHER_EARLIER,
    gate_dependencies: &[
        ("DRADeviceTaintRules", &["DRADeviceTaints"]),
        ("DRAWorkloadResourceClaims", &["GenericWorkload"]),
        ("InPlacePodLevelResourcesVerticalScaling", &["PodLevelResources"]),
        ("TopologyAwareWorkloadScheduling", &["GenericWorkload"]),
    ],
    behaviour: {
        let mut b = v1_36::PROFILE.behaviour;
        b.preemption.announced = true;
        b.preemption.budgets = BudgetRule::UpToExhausted;
        b.resources.resizes = ResizeMaximum::OfPod;
        b.images.sources = ImageSources::VolumesWeighed;
        b.devices.rejected_devices_taken_back = true;
        b.devices.distinct_of_each_device = true;
        b.devices.counters_by_driver = true;
        b.devices.shares_without_capacity_drawn = true;
        b.devices.all_devices_need_capacity = true;
        b.devices.capacity_requests_checked = true;
        b.devices.selector_errors_name_device = true;
        b.devices.selectors.list_attributes = true;
        b.groups.rule = GroupRule::Feasible;
        b.groups.are_victims = true;
        b.queue.event_names = EventNames::UnscheduledPods;
        b.queue.gated_pods_nominate = true;
        b.queue.gated_pods_flushed = true;
        b.queue.groups_queued_as_one = true;
        b.queue.any_anti_affinity_term_helps = true;
        b
    },
    ..v1_36::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);

const CHANGES: &[Novelty] = &[
    Novelty::new(
        None,
        Knowledge::Source,
        "Feature gates have other defaults: StorageCapacityScoring, VolumeLimitScaling, DRADeviceTaintRules and DRAFractionalCapacityRange are on.",
    ),
    Novelty::new(
        None,
        Knowledge::Source,
        "GenericWorkload alone turns on pod groups, gangs and their preemption; GangScheduling and WorkloadAwarePreemption no longer exist.",
    ),
    Novelty::new(
        None,
        Knowledge::Predecessor,
        "VolumeBinding scores every pod by the free share of volumes or storage capacity; emptier is better.",
    ),
    Novelty::new(None, Knowledge::Predecessor, "NodeVolumeLimits rejects nodes without a CSI driver that asks for it."),
    Novelty::new(Some(138_951), Knowledge::PullRequest, "ImageLocality counts image volumes in the size that scores highest."),
    Novelty::new(
        Some(140_047),
        Knowledge::Source,
        "In a resize the largest of the sums of desired, allocated and actuated requests counts, and not the sum of the largest.",
    ),
    Novelty::new(
        Some(140_180),
        Knowledge::Events,
        "The message of a pod whose preemption found a node names the node and the number of victims.",
    ),
    Novelty::new(Some(139_162), Knowledge::PullRequest, "PreEnqueue runs again for gated pods every five minutes."),
    Novelty::new(Some(139_057), Knowledge::Notes, "Gated pods count on their nominated nodes."),
    Novelty::new(Some(139_161), Knowledge::Notes, "InterPodAffinity's hints count a pod that matches any of several anti-affinity terms."),
    Novelty::new(Some(135_905), Knowledge::Source, "The event of a new pending pod is UnscheduledPodAdd."),
    Novelty::new(Some(140_431), Knowledge::Source, "A device that is rejected gives back the counters that it was to consume."),
    Novelty::new(
        None,
        Knowledge::Notes,
        "The default plugins, their order and their weights are those of 1.36, as no note says otherwise.",
    ),
    Novelty::new(
        Some(138_567),
        Knowledge::Source,
        "With GenericWorkload, a pod group is one entry of the queue: its pods wait in one place, with one backoff, and a gated one keeps all out.",
    ),
    Novelty::new(
        Some(139_952),
        Knowledge::Source,
        "With GenericWorkload, pods without their PodGroup are not in unschedulablePods but wait apart; here they count as gated, and enter with it.",
    ),
    Novelty::new(
        Some(139_613),
        Knowledge::PullRequest,
        "With GenericWorkload, the pods left of a group that was placed are tried at once, with their old time.",
    ),
    Novelty::new(
        Some(138_643),
        Knowledge::Source,
        "With GenericWorkload, an attempt to place a gang ends as soon as too few of its pods can have a place; Permit lets pods wait no more.",
    ),
    Novelty::new(Some(140_412), Knowledge::Source, "With GenericWorkload, PostFilter does not run for the pods of a group."),
    Novelty::new(Some(139_743), Knowledge::Notes, "The condition of a PodGroup is PodGroupInitiallyScheduled."),
    Novelty::new(
        Some(139_920),
        Knowledge::Source,
        "With GenericWorkload, pods of a group with another priority than the group, or with several preemption policies, are errors.",
    ),
    Novelty::new(
        Some(139_980),
        Knowledge::Source,
        "With GenericWorkload, the group algorithm runs once in a preemption by a group, which keeps the places found then and names its victims.",
    ),
    Novelty::new(
        Some(140_683),
        Knowledge::Source,
        "With GenericWorkload, groups with topology constraints preempt too, and a group waits for victims of an earlier preemption.",
    ),
    Novelty::new(
        Some(137_981),
        Knowledge::Source,
        "With GenericWorkload, preemption by a single pod evicts a group that is disrupted as one as a whole, on all nodes; it counts with the priority of the group.",
    ),
    Novelty::new(
        Some(138_676),
        Knowledge::Source,
        "DeviceTaintRules taint devices by driver, pool and name; one without a selector taints all devices.",
    ),
    Novelty::new(Some(140_161), Knowledge::Source, "Fractions in the ranges of a capacity policy count in thousandths."),
    Novelty::new(Some(140_600), Knowledge::Source, "A distinctAttribute compares all devices of a request that takes several."),
    Novelty::new(Some(140_435), Knowledge::Notes, "Drivers with pools of one name have counters of their own."),
    Novelty::new(Some(140_437), Knowledge::Notes, "A shared device without a recorded capacity draws on its counters once."),
    Novelty::new(
        Some(140_769),
        Knowledge::Notes,
        "A request for all devices fails where one that matches lacks capacity, and no longer takes the others.",
    ),
    Novelty::new(
        Some(140_442),
        Knowledge::Source,
        "Requests for capacity that are negative, or that the range of a policy cannot count, end the attempt with an error.",
    ),
    Novelty::new(
        Some(139_017),
        Knowledge::Predecessor,
        "A pod with a claim that spans nodes and another that is bound to one is not stuck; 1.36.2 has the correction.",
    ),
    Novelty::new(Some(139_395), Knowledge::Source, "Selectors read attributes that are lists, also where DRAListTypeAttributes is off."),
    Novelty::new(
        Some(138_885),
        Knowledge::Predecessor,
        "allocationMode All counts the devices that draw on counters; 1.36.2 has the correction.",
    ),
    Novelty::new(
        Some(137_981),
        Knowledge::Source,
        "A pod that finds a budget exhausted in a preemption is not counted in the budgets behind it; here these come by name.",
    ),
    Novelty::new(
        Some(136_709),
        Knowledge::Source,
        "An error of a device selector names the device, and that of a missing attribute comes with a hint.",
    ),
    Novelty::new(
        Some(139_814),
        Knowledge::PullRequest,
        "The configuration for an alternative of a request no longer goes to other requests; it decides nothing here.",
    ),
    Novelty::new(
        Some(139_040),
        Knowledge::Predecessor,
        "Counters that shared devices in use have drawn on are not free; 1.36.2 has the correction.",
    ),
];
