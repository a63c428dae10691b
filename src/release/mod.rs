//! Releases of kube-scheduler: what each one has switched on, and the handle by which the engine asks.
//!
//! Architecture invariant: versions are compared in this module only. Everything above asks an [`Emulation`].

mod gates;

use std::fmt;

pub use gates::{FeatureGates, Gate};

/// A release of kube-scheduler by minor and patch version; the major version is 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    minor: u8,
    patch: u8,
}

impl Release {
    /// The newest release that is emulated.
    pub const NEWEST: Self = Self { minor: 36, patch: 2 };
}

impl Default for Release {
    fn default() -> Self {
        Self::NEWEST
    }
}

/// `v1.36.2`
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v1.{}.{}", self.minor, self.patch)
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The release whose decisions are taken, with its feature gates: what plugins, preemption and the queue ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emulation {
    release: Release,
    gates: FeatureGates,
}

impl Emulation {
    /// Returns the newest release with these gates.
    pub fn with_gates(gates: FeatureGates) -> Self {
        Self { release: Release::NEWEST, gates }
    }

    /// Returns the release.
    pub fn release(self) -> Release {
        self.release
    }

    /// Returns the feature gates.
    pub fn gates(self) -> FeatureGates {
        self.gates
    }

    /// Returns whether a gate is on.
    pub fn enabled(self, gate: Gate) -> bool {
        self.gates.enabled(gate)
    }

    /// Switches a gate.
    pub fn set(&mut self, gate: Gate, on: bool) {
        self.gates.set(gate, on);
    }
}

/// A span of minor releases, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    first: u8,
    last: u8,
}

impl Span {
    /// Every release.
    pub const ALWAYS: Self = Self { first: 0, last: u8::MAX };

    /// Returns the releases from 1.`minor` on.
    pub const fn since(minor: u8) -> Self {
        Self { first: minor, last: u8::MAX }
    }

    /// Returns the releases up to 1.`minor`.
    pub const fn until(minor: u8) -> Self {
        Self { first: 0, last: minor }
    }

    /// Returns whether a release is one of them.
    pub fn contains(self, release: Release) -> bool {
        (self.first..=self.last).contains(&release.minor)
    }
}
