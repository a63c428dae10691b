//! Feature gates: what each release has on, and which of them change a decision here; mirrors
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
            /// Returns what the gate does here.
            pub fn describe(self) -> &'static str {
                match self { $(Self::$name => $doc,)* }
            }
        }
    };
}

gates! {
    CSIStorageCapacity: "Claims are provisioned where drivers say that there is room.";
    ClearingNominatedNodeNameAfterBinding: "The API server clears nominatedNodeName when a pod is bound.";
    DefaultPodTopologySpread: "PodTopologySpread spreads pods without constraints, in place of SelectorSpread.";
    DRAAdminAccess: "Requests with adminAccess ignore other claims' use of a device.";
    DRAConsumableCapacity: "Devices can be shared by capacity.";
    DRADeviceBindingConditions: "Allocations wait for binding conditions.";
    DRADeviceTaints: "Device taints keep untolerating requests away.";
    DRAExtendedResource: "Extended resources can be served by a DeviceClass.";
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
    NominatedNodeNameForExpectation: "The chosen node is announced before a binding that takes time.";
    OpportunisticBatching: "The next pod of one shape tries the previous ranking first.";
    PodAffinityNamespaceSelector: "namespaceSelector of affinity terms is read.";
    PodLevelResources: "spec.resources counts for the pod as a whole.";
    PodSchedulingReadiness: "Scheduling gates hold pods back.";
    PreferNominatedNode: "The nominated node is tried before all others.";
    ReadWriteOncePod: "A claim with access mode ReadWriteOncePod serves one pod.";
    SchedulerAsyncPreemption: "Victims are deleted beside the scheduling loop.";
    SchedulerPopFromBackoffQ: "An idle scheduler pops from backoffQ early.";
    SchedulerQueueingHints: "Plugins say which events are worth another try for a pod.";
    SidecarContainers: "Init containers may run beside the containers.";
    StorageCapacityScoring: "VolumeBinding scores nodes by storage capacity.";
    TaintNodesByCondition: "Taints tell of a node's conditions, in place of predicates that look at them.";
    TaintTolerationComparisonOperators: "Tolerations may compare numbers with Lt and Gt.";
    TopologyAwareWorkloadScheduling: "The members of a PodGroup share one value of a topology key.";
    VolumeAttributesClass: "volumeAttributesClassName of claims and volumes is read.";
    VolumeLimitScaling: "A CSI driver missing on a node keeps its volumes away.";
    WorkloadAwarePreemption: "A PodGroup preempts as a whole.";
}

impl Gate {
    /// Returns the first release in which the gate is emulated: the gates of pod groups came with another API.
    fn emulated_since(self) -> Release {
        match self {
            Self::GangScheduling | Self::GenericWorkload => Release::patch(36, 0),
            _ => Release::patch(0, 0),
        }
    }

    /// Returns whether the gate is on in a release unless set. A release that does not know it yet has it off; one that
    /// knows it no more has the behaviour that it stood for at last.
    pub fn default_enabled(self, release: &Profile) -> bool {
        let name: &str = self.into();
        ROWS.iter().find(|row| row.name == name).and_then(|row| row.at(release.release)).is_some_and(|state| state.default)
    }
}

/// The state of a gate from a release on; mirrors `FeatureSpec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateState {
    /// The first release with this state.
    pub since: Release,
    /// Whether it is on unless set.
    pub default: bool,
    /// How far it has come.
    pub stage: Stage,
    /// Whether it cannot be set otherwise.
    pub locked: bool,
}

/// How far a feature has come; mirrors `prerelease`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum Stage {
    /// Off unless asked for.
    Alpha,
    /// Complete, and still subject to change.
    Beta,
    /// Generally available.
    Stable,
    /// About to go.
    Deprecated,
    /// The gate is gone; its default says which of the two behaviours stayed.
    Removed,
}

/// Gates of one state that a release accepts and the scheduler does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OtherGates {
    /// Their names, separated by whitespace.
    pub(super) names: &'static str,
    /// Whether they are on unless set.
    pub(super) default: bool,
    /// Whether they cannot be set otherwise.
    pub(super) locked: bool,
}

impl Row {
    /// Returns the state in a release; `None` before the gate came.
    fn at(&self, release: Release) -> Option<GateState> {
        self.states.iter().rfind(|state| state.since <= release).copied()
    }
}

/// How a gate can be set in one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settable {
    default: bool,
    locked: bool,
    /// Whether both of its states are emulated, or it makes no difference.
    emulated: bool,
}

/// Returns every gate that a release knows, by name.
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

    /// Returns whether a gate is on.
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

    /// Returns the gates that are not at a release's defaults, as [`Self::parse`] reads them.
    pub fn changes(self, release: &Profile) -> String {
        let changed = Gate::iter().filter(|gate| self.enabled(*gate) != gate.default_enabled(release));
        changed.map(|gate| format!("{gate}={}", self.enabled(gate))).collect::<Vec<_>>().join(",")
    }

    /// Reads `A=true,B=false` as a release's flag does; gates that are not named stay at their defaults.
    ///
    /// Mirrors `Set` in `staging/src/k8s.io/component-base/featuregate/feature_gate.go`. A gate that kube-scheduler does
    /// not read may be set and has no effect; one that it reads and that is not emulated must stay at its default.
    ///
    /// # Errors
    /// Names everything wrong, in kube-scheduler's words where it refuses the value, too.
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
        if refused.is_empty() { Ok(gates) } else { Err(GateError::Refused(refused)) }
    }
}

/// Returns the gates that are on without those that they need.
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

/// Returns the pairs of a flag; of several for one gate the last counts.
fn wanted(text: &str) -> Result<BTreeMap<String, bool>, GateError> {
    let mut wanted = BTreeMap::new();
    for pair in text.split(',').filter(|p| !p.is_empty()) {
        // The flag may name the component that the gates belong to.
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
