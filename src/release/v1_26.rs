//! kube-scheduler v1.26, as differences from v1.27.

use super::behaviour::{
    ClaimsInUse, EmptySelector, LocalVolumes, MigratedPlugins, NodeAffinityConflict, OverheadUnit, PostFilterText, TerminatingPods,
    ZoneCheck,
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
    behaviour: {
        let mut b = v1_27::PROFILE.behaviour;
        b.preemption.terminating = TerminatingPods::All;
        b.resources.overhead_unit = OverheadUnit::Cores;
        b.affinity.node_conflict = NodeAffinityConflict::InAnyTerm;
        b.spread.empty_selector = EmptySelector::Everything;
        b.volumes.zones_looked_up_in = ZoneCheck::Filter;
        b.volumes.claims_in_use = ClaimsInUse::PreFilter;
        b.volumes.local_volumes = LocalVolumes::Filter;
        b.volumes.counted_undeclared = MigratedPlugins::Cinder;
        b.messages.post_filter = PostFilterText::UnlessError;
        b
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
