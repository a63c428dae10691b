//! The patches of a minor version: which of them are known, and the changes of behaviour that came with one.
//!
//! A change is a row with the first patch that has it. A patch decides as patch 0 with all rows that it has reached.

use super::behaviour::Behaviour;
use super::profile::Profile;
use super::version::Release;

/// A change of behaviour that came with a patch.
#[derive(Clone, Copy, Debug)]
pub struct PatchChange {
    /// The first patch with the change.
    pub since: Release,
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
        Self { since, number, about, apply }
    }

    /// Makes a change of a gate's default or of words, which compare the version themselves.
    pub(super) const fn elsewhere(since: Release, number: Option<u32>, about: &'static str) -> Self {
        Self::new(since, number, about, |_| {})
    }
}

/// A minor version with its patches.
pub(super) struct Minor {
    /// The patch that the data was checked against.
    checked: Profile,
    /// Behaviours of the first known patch, if they differ from those of the checked one.
    first: Behaviour,
    /// The first and the last known patch: the code, the notes or the threads of the changes up to it were read.
    known: [u8; 2],
    /// The changes after the first known patch, oldest first.
    pub(super) changes: &'static [PatchChange],
}

impl Minor {
    /// Makes a minor version of which one patch is known.
    pub(super) const fn of_one(checked: Profile) -> Self {
        let patch = checked.release.patch_number();
        Self { first: checked.behaviour, checked, known: [patch, patch], changes: &[] }
    }

    /// Makes a minor version whose first known patch decides as the checked one.
    pub(super) const fn new(checked: Profile, known: [u8; 2], changes: &'static [PatchChange]) -> Self {
        Self { first: checked.behaviour, checked, known, changes }
    }

    /// Makes a minor version with other behaviours before the checked patch.
    pub(super) const fn since(first: Behaviour, checked: Profile, known: [u8; 2], changes: &'static [PatchChange]) -> Self {
        Self { checked, first, known, changes }
    }

    /// Returns the profile of each known patch, oldest first.
    pub(super) fn profiles(&self) -> impl Iterator<Item = Profile> {
        let [first, last] = self.known;
        (first..=last).map(|patch| self.profile(self.checked.release.with_patch(patch)))
    }

    fn profile(&self, release: Release) -> Profile {
        let mut profile = Profile { release, behaviour: self.first, ..self.checked.clone() };
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
