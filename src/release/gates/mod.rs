//! Feature gates: their defaults in each release, and those that change a scheduling decision. Mirrors
//! `pkg/features/kube_features.go` and `staging/src/k8s.io/component-base/featuregate/feature_gate.go`.

mod error;
mod rows;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator as _;

use super::profile::Profile;
use super::version::Release;
pub use error::{GateError, GateRefusal};
use rows::{ROWS, Row};

macro_rules! gates {
    ($($name:ident: $doc:literal;)*) => {
        /// A feature gate that changes a decision.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumIter, strum::Display, strum::EnumString, strum::IntoStaticStr, Serialize, Deserialize)]
        pub enum Gate {
            $(#[doc = $doc] $name,)*
        }

        impl Gate {
            /// Returns a sentence about the effect of the gate when it is on.
            pub fn describe(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
        }
    };
}

gates! {
    CSIStorageCapacity: "Claims are provisioned where drivers report enough storage capacity.";
    ClearingNominatedNodeNameAfterBinding: "The API server clears nominatedNodeName when a pod is bound.";
    DefaultPodTopologySpread: "PodTopologySpread spreads pods without constraints, in place of SelectorSpread.";
    DRAAdminAccess: "Requests with adminAccess ignore other claims' use of a device.";
    DRAConsumableCapacity: "Devices can be shared by capacity.";
    DRADeviceBindingConditions: "Allocations wait for binding conditions.";
    DRADeviceTaintRules: "DeviceTaintRules taint devices.";
    DRADeviceTaints: "Device taints repel requests without a matching toleration.";
    DRAExtendedResource: "Extended resources can be served by a DeviceClass.";
    DRAFractionalCapacityRange: "Fractions in ranges of capacity policies count in thousandths.";
    DRAPartitionableDevices: "Devices draw on shared counters.";
    DRAPrioritizedList: "Requests may list alternatives in firstAvailable.";
    DRAResourceClaimDeviceStatus: "Drivers report the status of allocated devices.";
    GangScheduling: "The members of a gang are bound once enough of them have a place.";
    GenericEphemeralVolume: "Pods may have volumes whose claims are made for them.";
    GenericWorkload: "Pods of one PodGroup are tried together.";
    InPlacePodLevelResourcesVerticalScaling: "A resize of pod-level resources in progress counts.";
    InPlacePodVerticalScaling: "A container resize in progress counts.";
    MatchLabelKeysInPodTopologySpread: "matchLabelKeys of topology spread constraints are read.";
    MinDomainsInPodTopologySpread: "minDomains of topology spread constraints is read.";
    NodeDeclaredFeatures: "Nodes declare features that pods may require.";
    NodeInclusionPolicyInPodTopologySpread: "nodeAffinityPolicy and nodeTaintsPolicy are read.";
    NominatedNodeNameForExpectation: "The chosen node is written to nominatedNodeName before a binding that takes time.";
    OpportunisticBatching: "A pod of the same shape as the previous one tries that pod's ranking first.";
    PodAffinityNamespaceSelector: "namespaceSelector of affinity terms is read.";
    PodLevelResources: "spec.resources counts for the pod as a whole.";
    PodSchedulingReadiness: "Scheduling gates keep pods out of activeQ.";
    PreferNominatedNode: "The nominated node is tried before all others.";
    ReadWriteOncePod: "A claim with access mode ReadWriteOncePod serves one pod.";
    SchedulerAsyncPreemption: "Victims are deleted asynchronously, outside the scheduling loop.";
    SchedulerPopFromBackoffQ: "An idle scheduler pops from backoffQ early.";
    SchedulerQueueingHints: "Plugins decide which events can make a rejected pod schedulable.";
    SidecarContainers: "Init containers may keep running alongside the containers.";
    StorageCapacityScoring: "VolumeBinding scores nodes by storage capacity.";
    TaintNodesByCondition: "Taints represent a node's conditions and replace the predicates that check them.";
    TaintTolerationComparisonOperators: "Tolerations may compare numbers with Lt and Gt.";
    TopologyAwareWorkloadScheduling: "The members of a PodGroup share one value of a topology key.";
    VolumeAttributesClass: "volumeAttributesClassName of claims and volumes is read.";
    VolumeLimitScaling: "A node without a CSI driver cannot take the driver's volumes.";
    WorkloadAwarePreemption: "A PodGroup preempts as a whole.";
}

impl Gate {
    /// Returns the first release in which the gate is emulated: the gates of pod groups came with another API, and DeviceTaintRules had selectors.
    fn emulated_since(self) -> Release {
        match self {
            Self::DRADeviceTaintRules | Self::GangScheduling | Self::GenericWorkload => Release::patch(36, 0),
            _ => Release::patch(0, 0),
        }
    }

    /// Returns the gate that turns this one on in a release that has no longer a gate for it.
    fn leader(self, release: Release) -> Option<Self> {
        matches!(self, Self::GangScheduling | Self::WorkloadAwarePreemption)
            .then_some(Self::GenericWorkload)
            .filter(|_| release >= Release::patch(37, 0))
    }

    /// Returns whether the gate is on by default in a release. A gate that the release does not have yet is off. A
    /// removed gate keeps the behaviour of its last release.
    pub fn default_enabled(self, release: &Profile) -> bool {
        let name: &str = self.into();
        ROWS.iter().find(|row| row.name == name).and_then(|row| row.at(release.release)).is_some_and(|state| state.default)
    }
}

/// The state of a gate from one release on; mirrors `FeatureSpec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateState {
    /// The first release with this state.
    pub since: Release,
    pub default: bool,
    /// The maturity of the feature.
    pub stage: Stage,
    /// Whether it is locked to its default.
    pub locked: bool,
}

/// The maturity of a feature; mirrors `prerelease`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum Stage {
    /// Experimental; off by default.
    Alpha,
    /// Complete, but subject to change.
    Beta,
    /// Generally available.
    Stable,
    /// Scheduled for removal.
    Deprecated,
    /// The gate no longer exists; its default tells which behaviour remained.
    Removed,
}

/// Gates with equal state that a release accepts and the scheduler does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OtherGates {
    /// Their names, separated by whitespace.
    pub(super) names: &'static str,
    /// Whether they are on by default.
    pub(super) default: bool,
    /// Whether they are locked to their default.
    pub(super) locked: bool,
}

impl Row {
    /// Returns the state in a release; `None` if the release does not have the gate yet.
    fn at(&self, release: Release) -> Option<GateState> {
        self.states.iter().rfind(|state| state.since <= release).copied()
    }
}

/// How a gate can be set in one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settable {
    default: bool,
    locked: bool,
    /// Whether both states are emulated, or have the same effect.
    emulated: bool,
}

/// Returns all gates of a release, by name.
fn known(release: &Profile) -> BTreeMap<&'static str, Settable> {
    let others = release.other_gates.iter().flat_map(|OtherGates { names, default, locked }| {
        names.split_whitespace().map(|name| (name, Settable { default: *default, locked: *locked, emulated: true }))
    });
    let read = ROWS.iter().filter_map(|row| Some((row, row.at(release.release)?))).filter(|(_, state)| state.stage != Stage::Removed);
    let read = read.map(|(row, GateState { default, locked, .. })| {
        let emulated = row.name.parse::<Gate>().is_ok_and(|gate| gate.emulated_since() <= release.release);
        (row.name, Settable { default, locked, emulated })
    });
    others.chain(read).collect()
}

/// The gates that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureGates(u64);

impl FeatureGates {
    /// Returns the defaults of a release.
    pub fn of(release: &Profile) -> Self {
        let mut gates = Self(0);
        for gate in Gate::iter() {
            gates.set(gate, gate.default_enabled(release));
        }
        gates
    }

    #[inline]
    pub fn enabled(self, gate: Gate) -> bool {
        self.0 & (1 << gate as u64) != 0
    }

    pub fn set(&mut self, gate: Gate, on: bool) {
        if on {
            self.0 |= 1 << gate as u64;
        } else {
            self.0 &= !(1 << gate as u64);
        }
    }

    /// Returns the gates that differ from a release's defaults, in the form that [`Self::parse`] reads.
    pub fn changes(self, release: &Profile) -> String {
        let free = Gate::iter().filter(|gate| gate.leader(release.release).is_none());
        let changed = free.filter(|gate| self.enabled(*gate) != gate.default_enabled(release));
        changed.map(|gate| format!("{gate}={}", self.enabled(gate))).collect::<Vec<_>>().join(",")
    }

    /// Parses `A=true,B=false` as a release's flag does. Gates that are not named keep their defaults.
    ///
    /// Mirrors `Set` in `staging/src/k8s.io/component-base/featuregate/feature_gate.go`. A gate that kube-scheduler
    /// does not read may be set and has no effect. A gate that it reads, but that is not emulated, must keep its
    /// default.
    ///
    /// # Errors
    ///
    /// Names every refused gate, in kube-scheduler's words if it refuses the value too.
    pub fn parse(text: &str, release: &Profile) -> Result<Self, GateError> {
        let known = known(release);
        let wanted = wanted(text)?;
        let mut gates = Self::of(release);
        let mut refused = Vec::new();
        for (name, &on) in &wanted {
            if matches!(name.as_str(), "AllAlpha" | "AllBeta") {
                refused.push(GateRefusal::Group { name: name.clone() });
                continue;
            }
            let Some(gate) = known.get(name.as_str()) else {
                return Err(GateError::Unrecognized { name: name.clone() });
            };
            if gate.locked && gate.default != on {
                refused.push(GateRefusal::Locked { name: name.clone(), on });
            } else if !gate.emulated && gate.default != on {
                refused.push(GateRefusal::NotEmulated { name: name.clone(), on });
            } else if let Ok(gate) = name.parse() {
                gates.set(gate, on);
            }
        }
        if refused.is_empty() {
            refused = unmet(release, |name| wanted.get(name).copied().unwrap_or_else(|| known.get(name).is_some_and(|g| g.default)));
        }
        if refused.is_empty() { Ok(gates.followed(release)) } else { Err(GateError::Refused(refused)) }
    }

    /// Sets the gates that follow others in a release.
    pub(super) fn followed(mut self, release: &Profile) -> Self {
        for gate in Gate::iter() {
            if let Some(leader) = gate.leader(release.release) {
                self.set(gate, self.enabled(leader));
            }
        }
        self
    }
}

/// Returns the gates that are on while gates they depend on are off.
fn unmet(release: &Profile, enabled: impl Fn(&str) -> bool) -> Vec<GateRefusal> {
    let mut refused = Vec::new();
    for (name, needs) in release.gate_dependencies.iter().filter(|(name, _)| enabled(name)) {
        let off: Vec<&'static str> = needs.iter().copied().filter(|n| !enabled(n)).collect();
        if !off.is_empty() {
            refused.push(GateRefusal::Needs { name, off });
        }
    }
    refused
}

/// Parses the pairs of a flag; the last of several values for one gate counts.
fn wanted(text: &str) -> Result<BTreeMap<String, bool>, GateError> {
    let mut wanted = BTreeMap::new();
    for pair in text.split(',').filter(|p| !p.is_empty()) {
        // A pair may start with the component of the gate.
        let pair = pair.trim();
        let pair = pair.strip_prefix("kube:").unwrap_or(pair);
        let Some((name, value)) = pair.split_once('=') else { return Err(GateError::NoValue { pair: pair.to_owned() }) };
        let (name, value) = (name.trim(), value.trim());
        let on = match value {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => true,
            "0" | "f" | "F" | "FALSE" | "false" | "False" => false,
            _ => return Err(GateError::NoBool { name: name.to_owned(), value: value.to_owned() }),
        };
        wanted.insert(name.to_owned(), on);
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests;
