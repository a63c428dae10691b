//! Feature gates that change a decision, at their v1.36 defaults; mirrors `pkg/features/kube_features.go`.

mod known;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use known::{DEFAULT_ONLY, DEPENDENCIES, known};

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

    /// The gates that are not at their default, as [`Self::parse`] reads them.
    pub fn changes(self) -> String {
        use strum::IntoEnumIterator;
        let changed = Gate::iter().filter(|gate| self.enabled(*gate) != gate.default_enabled());
        changed.map(|gate| format!("{gate}={}", self.enabled(gate))).collect::<Vec<_>>().join(",")
    }

    /// Reads `A=true,B=false` as kube-scheduler's flag does; what is not named stays at its default.
    ///
    /// Mirrors `Set` in `staging/src/k8s.io/component-base/featuregate/feature_gate.go`. A gate that kube-scheduler does
    /// not read may be set and has no effect; one that it reads and that is not emulated must stay at its default. The
    /// error names everything wrong, in its words where kube-scheduler refuses the value, too.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = known();
        let wanted = wanted(text)?;
        let mut gates = Self::default();
        let mut errors = Vec::new();
        for (name, on) in &wanted {
            if matches!(name.as_str(), "AllAlpha" | "AllBeta") {
                errors.push(format!("{name} is not emulated: name the feature gates one by one"));
                continue;
            }
            let Some(gate) = known.get(name.as_str()) else {
                return Err(format!("unrecognized feature gate: {name}"));
            };
            if gate.locked && gate.default != *on {
                errors.push(format!("cannot set feature gate {name} to {on}, feature is locked to {}", gate.default));
            } else if DEFAULT_ONLY.contains(&name.as_str()) && gate.default != *on {
                errors.push(format!("cannot set feature gate {name} to {on}: what it changes in kube-scheduler is not emulated"));
            } else if let Ok(gate) = name.parse() {
                gates.set(gate, *on);
            }
        }
        if errors.is_empty() {
            let enabled = |name: &str| wanted.get(name).copied().unwrap_or_else(|| known.get(name).is_some_and(|g| g.default));
            for (name, needs) in DEPENDENCIES.iter().filter(|(name, _)| enabled(name)) {
                let off: Vec<&str> = needs.iter().copied().filter(|n| !enabled(n)).collect();
                if !off.is_empty() {
                    errors.push(format!("{name} is enabled, but depends on features that are disabled: [{}]", off.join(" ")));
                }
            }
        }
        match errors.as_slice() {
            [] => Ok(gates),
            [one] => Err(one.clone()),
            many => Err(format!("[{}]", many.join(", "))),
        }
    }
}

/// The pairs of a flag; of several for one gate the last is meant.
fn wanted(text: &str) -> Result<BTreeMap<String, bool>, String> {
    let mut wanted = BTreeMap::new();
    for pair in text.split(',').filter(|p| !p.is_empty()) {
        // The flag may name the component that the gates belong to.
        let pair = pair.trim();
        let pair = pair.strip_prefix("kube:").unwrap_or(pair);
        let Some((name, value)) = pair.split_once('=') else { return Err(format!("missing bool value for {pair}")) };
        let (name, value) = (name.trim(), value.trim());
        let on = match value {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => true,
            "0" | "f" | "F" | "FALSE" | "false" | "False" => false,
            _ => return Err(format!("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")),
        };
        wanted.insert(name.to_owned(), on);
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;

    #[test]
    fn what_is_emulated_is_known_with_the_same_default() {
        let known = known();
        for gate in Gate::iter() {
            let name: &str = gate.into();
            assert_eq!(known.get(name).map(|g| g.default), Some(gate.default_enabled()), "{name}");
            assert!(!DEFAULT_ONLY.contains(&name), "{name}");
        }
        let named = DEPENDENCIES.iter().flat_map(|(name, needs)| needs.iter().chain([name])).chain(DEFAULT_ONLY);
        for name in named {
            assert!(known.get(name).is_some_and(|g| !g.locked), "{name}");
        }
    }

    #[test]
    fn the_flag_is_read_as_kube_scheduler_reads_it() {
        let set = |pairs: &[(Gate, bool)]| {
            let mut gates = FeatureGates::default();
            for (gate, on) in pairs {
                gates.set(*gate, *on);
            }
            gates
        };
        for (text, expected) in [
            ("", set(&[])),
            (",", set(&[])),
            ("StorageCapacityScoring=true", set(&[(Gate::StorageCapacityScoring, true)])),
            (
                " kube:StorageCapacityScoring = T ,DRADeviceTaints=0",
                set(&[(Gate::StorageCapacityScoring, true), (Gate::DRADeviceTaints, false)]),
            ),
            ("StorageCapacityScoring=true,StorageCapacityScoring=false", set(&[])),
            ("SchedulerQueueingHints=true,GangScheduling=false,DRASchedulerFilterTimeout=true", set(&[])),
            ("MemoryQoS=true,RotateKubeletServerCertificate=false", set(&[])),
            (
                "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false",
                set(&[(Gate::PodLevelResources, false), (Gate::InPlacePodLevelResourcesVerticalScaling, false)]),
            ),
        ] {
            assert_eq!(FeatureGates::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_set_is_refused() {
        let locked = |name: &str| format!("cannot set feature gate {name} to false, feature is locked to true");
        for (text, expected) in [
            ("X", "missing bool value for X".to_owned()),
            ("X=maybe", "invalid value of X=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax".into()),
            ("X=true", "unrecognized feature gate: X".into()),
            ("SidecarContainers=false", locked("SidecarContainers")),
            ("SidecarContainers=false,DRAAdminAccess=false", format!("[{}, {}]", locked("DRAAdminAccess"), locked("SidecarContainers"))),
            ("GitRepoVolumeDriver=true", "cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false".into()),
            (
                "GangScheduling=true",
                "cannot set feature gate GangScheduling to true: what it changes in kube-scheduler is not emulated".into(),
            ),
            ("AllAlpha=true", "AllAlpha is not emulated: name the feature gates one by one".into()),
            ("AllBeta=false", "AllBeta is not emulated: name the feature gates one by one".into()),
            (
                "DRAResourceClaimDeviceStatus=false,DRAResourceClaimGranularStatusAuthorization=false",
                "DRADeviceBindingConditions is enabled, but depends on features that are disabled: [DRAResourceClaimDeviceStatus]".into(),
            ),
        ] {
            assert_eq!(FeatureGates::parse(text), Err(expected), "{text}");
        }
    }
}
