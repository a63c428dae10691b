//! The feature gates that kube-scheduler reads, with their states by release. Mirrors `VersionedSpecs` in
//! `pkg/features/kube_features.go`, corrected by the behaviour of released binaries.

use super::{GateState, Stage};
use crate::release::version::Release;

/// A gate with its states, oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Each state is valid until the next one.
    pub(super) states: &'static [GateState],
}

const OFF: bool = false;
const ON: bool = true;

const fn state(minor: u8, default: bool, stage: Stage) -> GateState {
    GateState { since: Release::patch(minor, 0), default, stage, locked: false }
}

const fn alpha(minor: u8) -> GateState {
    state(minor, OFF, Stage::Alpha)
}

const fn beta(minor: u8, default: bool) -> GateState {
    state(minor, default, Stage::Beta)
}

const fn stable(minor: u8) -> GateState {
    state(minor, ON, Stage::Stable)
}

/// Makes a stable gate that is locked on.
const fn locked(minor: u8) -> GateState {
    GateState { locked: true, ..stable(minor) }
}

/// Makes a removed gate whose feature is always on.
const fn removed(minor: u8) -> GateState {
    state(minor, ON, Stage::Removed)
}

/// Makes a removed gate whose feature is always off.
const fn gone(minor: u8) -> GateState {
    state(minor, OFF, Stage::Removed)
}

const fn row(name: &'static str, states: &'static [GateState]) -> Row {
    Row { name, states }
}

/// Every gate that kube-scheduler reads, by name. Gates without a [`Gate`](super::Gate) are emulated only at their
/// defaults.
pub(super) const ROWS: &[Row] = &[
    row("AttachVolumeLimit", &[alpha(11), beta(12, OFF), locked(17), removed(19)]),
    row("BalanceAttachedNodeVolumes", &[alpha(11), gone(22)]),
    row("BlockVolume", &[alpha(9), beta(13, ON), locked(18), removed(21)]),
    row("CSIMigration", &[beta(17, ON), locked(25), removed(27)]),
    row("CSIMigrationAWS", &[beta(17, OFF), beta(23, ON), locked(25), removed(27)]),
    row("CSIMigrationAzureDisk", &[beta(19, OFF), beta(23, ON), stable(24), locked(25), removed(27)]),
    row("CSIMigrationGCE", &[beta(17, OFF), beta(23, ON), locked(25), removed(28)]),
    row("CSIMigrationOpenStack", &[beta(18, OFF), beta(21, ON), locked(24), removed(26)]),
    row("CSIMigrationPortworx", &[alpha(23), beta(25, OFF), beta(31, ON), removed(36)]),
    row("CSIMigrationRBD", &[alpha(23), state(28, OFF, Stage::Deprecated), removed(31)]),
    row("CSIStorageCapacity", &[alpha(19), beta(21, ON), locked(24), removed(28)]),
    row("ClearingNominatedNodeNameAfterBinding", &[alpha(34), beta(35, ON)]),
    row("CompositePodGroup", &[alpha(37)]),
    row("DRAAdminAccess", &[alpha(32), beta(34, ON), locked(36)]),
    row("DRAConsumableCapacity", &[alpha(34), beta(36, ON)]),
    row("DRADerivedAttributes", &[alpha(37)]),
    row("DRADeviceBindingConditions", &[alpha(34), beta(36, ON)]),
    row("DRADeviceCompatibilityGroups", &[alpha(37)]),
    row("DRADeviceTaintRules", &[alpha(35), beta(36, OFF), stable(37)]),
    row("DRADeviceTaints", &[alpha(33), beta(36, ON), stable(37)]),
    row("DRAExtendedResource", &[alpha(34), beta(36, ON), locked(37)]),
    row("DRAFractionalCapacityRange", &[beta(37, ON)]),
    row("DRAListTypeAttributes", &[alpha(36)]),
    row("DRANodeAllocatableResources", &[alpha(36)]),
    row("DRAOptionalNodeOperations", &[alpha(37)]),
    row("DRAPartitionableDevices", &[alpha(33), beta(36, ON)]),
    row("DRAPrioritizedList", &[alpha(33), beta(34, ON), stable(36), locked(37)]),
    row("DRAResourceClaimDeviceStatus", &[alpha(32), beta(33, ON), locked(37)]),
    row("DRASchedulerFilterTimeout", &[beta(34, ON)]),
    row("DRAWorkloadResourceClaims", &[alpha(36), beta(37, OFF)]),
    row("DefaultPodTopologySpread", &[alpha(19), beta(20, ON), locked(24), removed(26)]),
    row("DynamicResourceAllocation", &[alpha(26), beta(32, OFF), stable(34), locked(35)]),
    row("EnableEquivalenceClassCache", &[alpha(8), gone(15)]),
    row("ExperimentalCriticalPodAnnotation", &[alpha(5), gone(16)]),
    row("GangScheduling", &[alpha(35), gone(37)]),
    row("GenericEphemeralVolume", &[alpha(19), beta(21, ON), locked(23), removed(25)]),
    row("GenericWorkload", &[alpha(35), beta(37, OFF)]),
    row("InPlacePodLevelResourcesVerticalScaling", &[alpha(35), beta(36, ON)]),
    row("InPlacePodVerticalScaling", &[alpha(27), beta(33, ON), locked(35)]),
    row("InPlacePodVerticalScalingSchedulerPreemption", &[alpha(37)]),
    row("InterPodAffinityHostnameFastPath", &[alpha(37)]),
    row("LocalStorageCapacityIsolation", &[beta(10, ON), locked(25), removed(27)]),
    row("MatchLabelKeysInPodTopologySpread", &[alpha(25), beta(27, ON)]),
    row("MinDomainsInPodTopologySpread", &[alpha(24), beta(25, OFF), beta(27, ON), locked(30), removed(32)]),
    row("NodeDeclaredFeatures", &[alpha(35), beta(36, ON), locked(37)]),
    row("NodeInclusionPolicyInPodTopologySpread", &[alpha(25), beta(26, ON), locked(33)]),
    row("NominatedNodeNameForExpectation", &[alpha(34), beta(35, ON)]),
    row("NonPreemptingPriority", &[beta(19, ON), locked(24), removed(26)]),
    row("OpportunisticBatching", &[beta(35, ON)]),
    row("PodAffinityNamespaceSelector", &[alpha(21), beta(22, ON), locked(24), removed(26)]),
    row("PodDisruptionBudget", &[beta(5, ON), locked(21), removed(25)]),
    row("PodDisruptionConditions", &[alpha(25), beta(26, ON), locked(31), removed(34)]),
    row("PodGroupPreemptionPolicy", &[alpha(37)]),
    row("PodLevelResources", &[alpha(32), beta(34, ON)]),
    row("PodOverhead", &[beta(18, ON), locked(24), removed(26)]),
    row("PodPriority", &[alpha(8), beta(11, ON), locked(14), removed(18)]),
    row("PodSchedulingReadiness", &[alpha(26), beta(27, ON), locked(30)]),
    row("PreferNominatedNode", &[alpha(21), beta(22, ON), locked(24), removed(26)]),
    row("ReadWriteOncePod", &[alpha(22), beta(27, ON), locked(29), removed(31)]),
    row("ResourceLimitsPriorityFunction", &[alpha(9), gone(21)]),
    // Patches of 1.34 and 1.35 disabled it again: 1.34.1 has it on, 1.35.2 and 1.36 off.
    row(
        "SchedulerAsyncAPICalls",
        &[
            beta(34, ON),
            GateState { since: Release::patch(34, 2), ..beta(34, OFF) },
            beta(35, ON),
            GateState { since: Release::patch(35, 1), ..beta(35, OFF) },
        ],
    ),
    row("SchedulerAsyncPreemption", &[alpha(32), beta(33, ON)]),
    row("SchedulerPopFromBackoffQ", &[beta(33, ON)]),
    row("SchedulerPreQueueingHints", &[alpha(37)]),
    // 1.28.6 disabled it.
    row(
        "SchedulerQueueingHints",
        &[beta(28, ON), GateState { since: Release::patch(28, 6), ..beta(28, OFF) }, beta(32, ON), locked(34), removed(37)],
    ),
    row("SidecarContainers", &[alpha(28), beta(29, ON), locked(33)]),
    row("StorageCapacityScoring", &[alpha(33), beta(37, ON)]),
    row("TaintNodesByCondition", &[alpha(8), beta(12, ON), locked(17), removed(19)]),
    row("TaintTolerationComparisonOperators", &[alpha(35)]),
    row("TopologyAwareWorkloadScheduling", &[alpha(36)]),
    row("VolumeAttributesClass", &[alpha(29), beta(31, OFF), stable(34), locked(36)]),
    row("VolumeCapacityPriority", &[alpha(21), gone(33)]),
    row("VolumeLimitScaling", &[alpha(35), beta(37, ON)]),
    row("VolumeScheduling", &[alpha(9), beta(10, ON), locked(13), removed(16)]),
    row("WorkloadAwarePreemption", &[alpha(36), gone(37)]),
];
