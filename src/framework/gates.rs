//! Feature gates that change a decision, at their v1.36 defaults; mirrors `pkg/features/kube_features.go`.

use serde::{Deserialize, Serialize};

macro_rules! gates {
    ($($name:ident: $default:literal, $doc:literal;)*) => {
        /// A feature gate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumIter, strum::Display, strum::EnumString, strum::IntoStaticStr, Serialize, Deserialize)]
        pub enum Gate {
            $(#[doc = $doc] $name,)*
        }

        impl Gate {
            /// Whether the gate is on in v1.36 unless set.
            pub fn default_enabled(self) -> bool {
                match self { $(Self::$name => $default,)* }
            }

            /// What the gate does here.
            pub fn describe(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
        }
    };
}

gates! {
    ClearingNominatedNodeNameAfterBinding: true, "The API server clears nominatedNodeName when a pod is bound.";
    DRAAdminAccess: true, "Requests with adminAccess ignore other claims' use of a device.";
    DRAConsumableCapacity: true, "Devices can be shared by capacity.";
    DRADeviceBindingConditions: true, "Allocations wait for binding conditions.";
    DRADeviceTaints: true, "Device taints keep untolerating requests away.";
    DRAExtendedResource: true, "Extended resources can be served by a DeviceClass.";
    DRAPartitionableDevices: true, "Devices draw on shared counters.";
    DRAPrioritizedList: true, "Requests may list alternatives in firstAvailable.";
    DRAResourceClaimDeviceStatus: true, "Drivers report the status of allocated devices.";
    InPlacePodLevelResourcesVerticalScaling: true, "A resize of pod-level resources in progress counts.";
    InPlacePodVerticalScaling: true, "A container resize in progress counts.";
    MatchLabelKeysInPodTopologySpread: true, "matchLabelKeys of topology spread constraints are read.";
    NodeDeclaredFeatures: true, "Nodes declare features that pods may require.";
    NodeInclusionPolicyInPodTopologySpread: true, "nodeAffinityPolicy and nodeTaintsPolicy are read.";
    NominatedNodeNameForExpectation: true, "The chosen node is announced before a binding that takes time.";
    OpportunisticBatching: true, "The next pod of one shape tries the previous ranking first.";
    PodLevelResources: true, "spec.resources counts for the pod as a whole.";
    SchedulerAsyncPreemption: true, "Victims are deleted beside the scheduling loop.";
    SchedulerPopFromBackoffQ: true, "An idle scheduler pops from backoffQ early.";
    StorageCapacityScoring: false, "VolumeBinding scores nodes by storage capacity.";
    TaintTolerationComparisonOperators: false, "Tolerations may compare numbers with Lt and Gt.";
    VolumeLimitScaling: false, "A CSI driver missing on a node keeps its volumes away.";
}

/// Which gates are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureGates(u64);

impl Default for FeatureGates {
    fn default() -> Self {
        use strum::IntoEnumIterator;
        let mut gates = Self(0);
        for gate in Gate::iter() {
            gates.set(gate, gate.default_enabled());
        }
        gates
    }
}

impl FeatureGates {
    /// Whether a gate is on.
    pub fn enabled(self, gate: Gate) -> bool {
        self.0 & (1 << gate as u64) != 0
    }

    /// Switches a gate.
    pub fn set(&mut self, gate: Gate, on: bool) {
        if on {
            self.0 |= 1 << gate as u64;
        } else {
            self.0 &= !(1 << gate as u64);
        }
    }
}
