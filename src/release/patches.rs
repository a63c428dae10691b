//! The patches of a minor version: which of them are known, and the changes of behaviour that came with one.
//!
//! A change is a row with the first patch that has it. A patch decides as patch 0 with all rows that it has reached.

use std::fmt;

use super::behaviour::Behaviour;
use super::profile::{Part, Profile};
use super::version::Release;

/// A change of behaviour that came with a patch.
#[derive(Clone, Copy, Debug)]
pub struct PatchChange {
    /// The first patch with the change.
    pub since: Release,
    /// The first patch that behaves otherwise again.
    pub until: Option<Release>,
    /// The issue or pull request of kubernetes/kubernetes about it, if known.
    pub number: Option<u32>,
    /// The behaviour since then, in a sentence.
    pub about: &'static str,
    /// Sets the behaviours; changes none where gates or words follow the version themselves.
    apply: fn(&mut Behaviour),
}

impl PatchChange {
    /// Makes a change of behaviours.
    pub(super) const fn new(since: Release, number: Option<u32>, about: &'static str, apply: fn(&mut Behaviour)) -> Self {
        Self { since, until: None, number, about, apply }
    }

    /// Returns whether a patch of the minor version has the change.
    pub fn is_in(&self, release: Release) -> bool {
        self.since <= release && self.until.is_none_or(|until| release < until)
    }

    /// Ends the change with a patch of the minor version, which has a row of its own.
    pub(super) const fn until(self, patch: u8) -> Self {
        Self { until: Some(self.since.with_patch(patch)), ..self }
    }

    /// Makes a change of a gate's default or of words, which compare the version themselves.
    pub(super) const fn elsewhere(since: Release, number: Option<u32>, about: &'static str) -> Self {
        Self::new(since, number, about, |_| {})
    }
}

/// Writes the patches that have the change: `1.29.11 on`, `1.28.4 to 1.28.13` or `1.29.5 only`.
impl fmt::Display for PatchChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.since.number();
        let last = self.until.map(|until| until.with_patch(until.patch_number().saturating_sub(1)));
        match last {
            None => write!(f, "{since} on"),
            Some(last) if last == self.since => write!(f, "{since} only"),
            Some(last) => write!(f, "{since} to {}", last.number()),
        }
    }
}

/// A minor version with its patches.
pub(super) struct Minor {
    /// The patch that the data was checked against.
    checked: Profile,
    /// Sets the behaviours of the first known patch that differ from those of the checked one.
    first: fn(&mut Behaviour),
    /// The first and the last known patch: the code, the notes or the threads of the changes up to it were read.
    known: [u8; 2],
    /// Another patch whose decisions were compared with kube-scheduler's own.
    decisions_of: Option<u8>,
    /// Another patch whose queues were compared with kube-scheduler's own.
    queues_of: Option<u8>,
    /// The changes after the first known patch, oldest first.
    pub(super) changes: &'static [PatchChange],
}

impl Minor {
    /// Makes a minor version of which one patch is known.
    pub(super) const fn of_one(checked: Profile) -> Self {
        let patch = checked.release.patch_number();
        Self { first: |_| {}, checked, known: [patch, patch], decisions_of: None, queues_of: None, changes: &[] }
    }

    /// Makes a minor version whose first known patch decides as the checked one.
    pub(super) const fn new(checked: Profile, known: [u8; 2], changes: &'static [PatchChange]) -> Self {
        Self { first: |_| {}, checked, known, decisions_of: None, queues_of: None, changes }
    }

    /// Makes a minor version with other behaviours before the checked patch.
    pub(super) const fn since(first: fn(&mut Behaviour), checked: Profile, known: [u8; 2], changes: &'static [PatchChange]) -> Self {
        Self { checked, first, known, decisions_of: None, queues_of: None, changes }
    }

    /// Says that decisions of the last known patch were compared too.
    pub(super) const fn last_compared(self) -> Self {
        let last = self.known[1];
        self.decisions_compared(last)
    }

    /// Says that decisions and queues of the last known patch were compared too.
    pub(super) const fn last_compared_with_queues(self) -> Self {
        let last = self.known[1];
        Self { queues_of: Some(last), ..self.decisions_compared(last) }
    }

    /// Says that decisions and queues of a known patch were compared too.
    pub(super) const fn compared_with_queues(self, patch: u8) -> Self {
        Self { queues_of: Some(patch), ..self.decisions_compared(patch) }
    }

    /// Says that decisions of a known patch were compared too.
    pub(super) const fn decisions_compared(self, patch: u8) -> Self {
        Self { decisions_of: Some(patch), ..self }
    }

    /// Returns the patches of which a part was compared with kube-scheduler's own code: the checked one first.
    pub(super) fn compared(&self, part: Part) -> impl Iterator<Item = Release> {
        let other = match part {
            Part::Decisions => self.decisions_of,
            Part::Queues => self.queues_of,
            Part::Configuration | Part::Extenders => None,
        };
        [Some(self.checked()), other.map(|patch| self.checked().with_patch(patch))].into_iter().flatten()
    }

    /// Returns the profile of each known patch, oldest first.
    pub(super) fn profiles(&self) -> impl Iterator<Item = Profile> {
        let [first, last] = self.known;
        (first..=last).map(|patch| self.profile(self.checked.release.with_patch(patch)))
    }

    fn profile(&self, release: Release) -> Profile {
        let mut profile = Profile { release, ..self.checked.clone() };
        (self.first)(&mut profile.behaviour);
        for change in self.changes.iter().filter(|change| change.since <= release) {
            (change.apply)(&mut profile.behaviour);
            profile.since = change.since;
        }
        profile
    }

    /// Returns the first and the last known patch.
    pub(super) fn known(&self) -> [Release; 2] {
        self.known.map(|patch| self.checked.release.with_patch(patch))
    }

    /// Returns the data of the checked patch.
    #[cfg(test)]
    pub(super) fn data(&self) -> &Profile {
        &self.checked
    }

    /// Returns the patch that was checked.
    pub(super) fn checked(&self) -> Release {
        self.checked.release
    }
}
