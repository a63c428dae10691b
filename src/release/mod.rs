//! Releases of kube-scheduler: their feature gates, default plugins and named behaviours, and the handle through which
//! the engine reads them.
//!
//! Architecture invariant: only this module compares versions. All other code reads an [`Emulation`]. A release is
//! data: a file `v1_NN` with a [`Profile`], listed in `profile.rs`.

mod behaviour;
mod choice;
mod config_fields;
mod defaults;
mod gates;
mod known;
mod messages;
mod novelty;
mod patches;
mod picks;
mod profile;
mod v1_11;
mod v1_12;
mod v1_20;
mod v1_21;
mod v1_22;
mod v1_23;
mod v1_24;
mod v1_25;
mod v1_26;
mod v1_27;
mod v1_28;
mod v1_29;
mod v1_30;
mod v1_31;
mod v1_32;
mod v1_33;
mod v1_34;
mod v1_35;
mod v1_36;
mod v1_37;
mod version;

pub use behaviour::*;
pub use choice::{Emulated, FoundVersion, ReleaseChoice, VersionSource};
pub use defaults::{DefaultArgument, DefaultPlugin};
pub use gates::{FeatureGates, Gate, GateError, GateRefusal, GateState, Stage};
pub use known::{Match, Nearest, nearest, newest, supported};
pub use messages::MessageForm;
pub use novelty::{Knowledge, Novelty};
pub use patches::PatchChange;
pub use profile::{Part, Profile, RemovedPlugins};
pub use version::{Lifetime, Release, ReleaseError};

use crate::cluster::{Kind, KindSet};

/// The emulated release with its feature gates, as plugins, preemption and the queue read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulation {
    release: &'static Profile,
    gates: FeatureGates,
}

/// Returns the newest release with its default gates.
impl Default for Emulation {
    fn default() -> Self {
        Self::from(Profile::newest())
    }
}

/// Returns a release with its default gates.
impl From<&'static Profile> for Emulation {
    fn from(release: &'static Profile) -> Self {
        Self::new(release, FeatureGates::of(release))
    }
}

impl Emulation {
    /// Returns a release with these gates.
    pub fn new(release: &'static Profile, gates: FeatureGates) -> Self {
        Self { release, gates }
    }

    #[inline]
    pub fn release(self) -> Release {
        self.release.release
    }

    /// Returns the data of the release.
    #[inline]
    pub fn profile(self) -> &'static Profile {
        self.release
    }

    /// Returns the named behaviours of the release.
    #[inline]
    pub fn behaviour(self) -> &'static Behaviour {
        &self.release.behaviour
    }

    #[inline]
    pub fn gates(self) -> FeatureGates {
        self.gates
    }

    /// Returns the gates that differ from the release's defaults, in the form that [`FeatureGates::parse`] reads.
    pub fn gate_changes(self) -> String {
        self.gates.changes(self.release)
    }

    #[inline]
    pub fn enabled(self, gate: Gate) -> bool {
        self.gates.enabled(gate)
    }

    /// Returns the kinds that the scheduler reads because their feature gates are on.
    pub fn gated_kinds(self) -> KindSet {
        let rules = self.enabled(Gate::DRADeviceTaintRules) && self.enabled(Gate::DRADeviceTaints);
        let kinds = [(Kind::DeviceTaintRule, rules), (Kind::PodGroup, self.enabled(Gate::GenericWorkload))];
        kinds.into_iter().filter(|(_, read)| *read).map(|(kind, _)| kind).collect()
    }

    pub fn set(&mut self, gate: Gate, on: bool) {
        self.gates.set(gate, on);
        self.gates = self.gates.followed(self.release);
    }
}
