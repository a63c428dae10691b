//! kube-scheduler v1.26, as differences from v1.27.

use super::behaviour::{
    Behaviour, ClaimsInUse, EmptySelector, LocalVolumes, MigratedPlugins, NodeAffinityConflict, OverheadUnit, PostFilterText,
    TerminatingPods, ZoneCheck,
};
use super::patches::{Minor, PatchChange};
use super::picks;
use super::profile::{Part, Profile};
use super::v1_27;
use super::version::Release;

/// The checked patch.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(26, 4),
    since: Release::patch(26, 0),
    verified: &[Part::Decisions],
    behaviour: Behaviour {
        overhead_unit: OverheadUnit::Cores,
        empty_spread_selector: EmptySelector::Everything,
        node_affinity_conflict: NodeAffinityConflict::InAnyTerm,
        zones_looked_up_in: ZoneCheck::Filter,
        claims_in_use: ClaimsInUse::PreFilter,
        local_volumes: LocalVolumes::Filter,
        counted_undeclared: MigratedPlugins::Cinder,
        terminating: TerminatingPods::All,
        post_filter_text: PostFilterText::UnlessError,
        ..v1_27::PROFILE.behaviour
    },
    ..v1_27::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::new(PROFILE, [2, 15], CHANGES).decisions_compared(9);

const CHANGES: &[PatchChange] = &[
    picks::rejection_shared(Release::patch(26, 9)),
    picks::victims_patched(Release::patch(26, 11), Some(121_381)),
    picks::extenders_reject(Release::patch(26, 12), 122_043),
    picks::overrides_first(Release::patch(26, 13)),
];
