//! The kinds that are not known of a cluster, and why.

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator as _;

use super::Kind;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Kind>", into = "Vec<Kind>")]
pub struct KindSet(u32);

impl KindSet {
    /// Returns whether the set holds a kind.
    pub fn contains(self, kind: Kind) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    /// Returns the kinds in their order.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::iter().filter(move |kind| self.contains(*kind))
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds a kind.
    pub fn insert(&mut self, kind: Kind) {
        self.0 |= Self::bit(kind);
    }

    pub fn remove(&mut self, kind: Kind) {
        self.0 &= !Self::bit(kind);
    }

    fn bit(kind: Kind) -> u32 {
        1 << kind as u32
    }
}

impl FromIterator<Kind> for KindSet {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        let mut set = Self::default();
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

impl From<Vec<Kind>> for KindSet {
    fn from(kinds: Vec<Kind>) -> Self {
        kinds.into_iter().collect()
    }
}

impl From<KindSet> for Vec<Kind> {
    fn from(set: KindSet) -> Self {
        set.iter().collect()
    }
}

/// Why a kind is not known, or only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "camelCase")]
pub enum MissingReason {
    /// The source holds no object of the kind, and no empty list of it either.
    NotInSource,
    /// Listing it was forbidden.
    Refused,
    /// Listing it failed, wholly or in part.
    Failed,
    /// A part of the source could not be read, and may have held some.
    #[serde(rename = "partial")]
    Incomplete,
    /// It was listed in some namespaces only.
    Partial,
    /// The tool that made the source takes only some of the objects.
    #[serde(rename = "partial")]
    Selected,
}

/// The kinds that the source left unknown. Decisions do not read it; every view that shows a decision names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissingKinds {
    /// It is unknown whether there are PodDisruptionBudgets, so finding no violation proves nothing.
    pub budgets: bool,
    /// Kinds that are [`MissingReason::NotInSource`].
    #[serde(skip_serializing_if = "KindSet::is_skipped")]
    pub absent: KindSet,
    /// Kinds that are [`MissingReason::Refused`].
    #[serde(skip_serializing_if = "KindSet::is_skipped")]
    pub refused: KindSet,
    /// Kinds that are [`MissingReason::Failed`].
    #[serde(skip_serializing_if = "KindSet::is_skipped")]
    pub failed: KindSet,
    /// Kinds that are [`MissingReason::Incomplete`].
    #[serde(skip_serializing_if = "KindSet::is_skipped")]
    pub incomplete: KindSet,
    /// Kinds that are [`MissingReason::Partial`].
    #[serde(skip_serializing_if = "KindSet::is_skipped")]
    pub partial: KindSet,
    /// Kinds that are [`MissingReason::Selected`].
    #[serde(skip_serializing_if = "KindSet::is_skipped")]
    pub selected: KindSet,
}

impl KindSet {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_skipped(&self) -> bool {
        self.is_empty()
    }
}

impl MissingKinds {
    /// Returns why a kind is not known; `None` if it is known.
    pub fn why(self, kind: Kind) -> Option<MissingReason> {
        let Self { absent, refused, failed, incomplete, partial, selected, .. } = self;
        let reasons = [
            (refused, MissingReason::Refused),
            (failed, MissingReason::Failed),
            (partial, MissingReason::Partial),
            (selected, MissingReason::Selected),
            (incomplete, MissingReason::Incomplete),
            (absent, MissingReason::NotInSource),
        ];
        reasons.into_iter().find(|(set, _)| set.contains(kind)).map(|(_, why)| why)
    }

    /// Returns the unknown kinds and the reasons, in the kinds' order.
    pub fn iter(self) -> impl Iterator<Item = (Kind, MissingReason)> {
        Kind::iter().filter_map(move |kind| Some((kind, self.why(kind)?)))
    }

    /// Returns whether listing the budgets was refused or failed, so that the number of violations is unreliable. If
    /// pods are known in some namespaces only, the budgets of these namespaces are enough.
    pub fn budgets_withheld(self) -> bool {
        match self.why(Kind::PodDisruptionBudget) {
            Some(MissingReason::Refused | MissingReason::Failed | MissingReason::Incomplete) => true,
            Some(MissingReason::Partial | MissingReason::Selected) => self.why(Kind::Pod).is_none(),
            Some(MissingReason::NotInSource) | None => false,
        }
    }

    /// Returns whether nodes or pods are known in part only, or not at all, because reading them was refused or broke off: a decision
    /// may then be another one.
    pub fn decides_on_part(self) -> bool {
        [Kind::Node, Kind::Pod].into_iter().any(|kind| self.unread(kind).is_some())
    }

    /// Returns why a kind could not be read, or not whole; `None` also for a source that has none of them, or some on purpose: those of
    /// some namespaces, or those that a tool takes.
    pub fn unread(self, kind: Kind) -> Option<MissingReason> {
        self.why(kind).filter(|why| !matches!(why, MissingReason::NotInSource | MissingReason::Partial | MissingReason::Selected))
    }

    /// Returns whether an object of a kind may exist that the source does not have. `has_others` says whether it has others of the
    /// object's namespace.
    pub fn may_lack(self, kind: Kind, has_others: impl FnOnce() -> bool) -> bool {
        match self.why(kind) {
            None => false,
            // A namespace that was read shows all of its own.
            Some(MissingReason::Partial) => !has_others(),
            Some(_) => true,
        }
    }

    /// Returns the rest once a kind is known.
    #[must_use]
    pub fn without(mut self, kind: Kind) -> Self {
        self.budgets &= kind != Kind::PodDisruptionBudget;
        let Self { absent, refused, failed, incomplete, partial, selected, .. } = &mut self;
        for set in [absent, refused, failed, incomplete, partial, selected] {
            set.remove(kind);
        }
        self
    }

    /// Returns the kinds that both sources leave unknown.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let known = Kind::iter().filter(|kind| other.why(*kind).is_none() && (*kind != Kind::PodDisruptionBudget || !other.budgets));
        known.fold(self, Self::without)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(kinds: &[Kind]) -> KindSet {
        kinds.iter().copied().collect()
    }

    #[test]
    fn sets_hold_kinds_in_their_order() {
        let mut kinds = set(&[Kind::VolumeAttachment, Kind::CSIDriver]);
        assert_eq!(kinds.iter().collect::<Vec<_>>(), [Kind::CSIDriver, Kind::VolumeAttachment]);
        kinds.remove(Kind::CSIDriver);
        assert_eq!((kinds.contains(Kind::CSIDriver), kinds.contains(Kind::VolumeAttachment)), (false, true));
        let text = serde_json::to_string(&kinds).unwrap();
        assert_eq!((text.as_str(), serde_json::from_str::<KindSet>(&text).unwrap()), (r#"["VolumeAttachment"]"#, kinds));
    }

    #[test]
    fn budgets_are_withheld_where_they_were_asked_for_and_not_given() {
        let budgets = set(&[Kind::PodDisruptionBudget]);
        let missing = MissingKinds::default();
        for (missing, withheld) in [
            (missing, false),
            (MissingKinds { budgets: true, absent: budgets, ..missing }, false),
            (MissingKinds { refused: budgets, ..missing }, true),
            (MissingKinds { failed: budgets, absent: budgets, ..missing }, true),
            (MissingKinds { partial: budgets, ..missing }, true),
            (MissingKinds { partial: set(&[Kind::PodDisruptionBudget, Kind::Pod]), ..missing }, false),
        ] {
            assert_eq!(missing.budgets_withheld(), withheld, "{missing:?}");
        }
    }

    #[test]
    fn what_is_known_once_is_known() {
        let first = MissingKinds { budgets: true, absent: set(&[Kind::PodDisruptionBudget, Kind::Node]), ..MissingKinds::default() };
        let second = MissingKinds { refused: set(&[Kind::Node]), ..MissingKinds::default() };
        assert_eq!(first.and(second), MissingKinds { absent: set(&[Kind::Node]), ..MissingKinds::default() });
        assert_eq!(first.and(first), first);
        assert_eq!(first.without(Kind::Node).without(Kind::PodDisruptionBudget), MissingKinds::default());
        // Old sessions only record whether budgets are unknown.
        let old: MissingKinds = serde_json::from_str(r#"{"budgets":true}"#).unwrap();
        assert_eq!(old, MissingKinds { budgets: true, ..MissingKinds::default() });
    }
}
