//! kube-scheduler v1.20, as differences from v1.21.

use super::behaviour::{AffinityRange, Behaviour, DryRunReport, MigratedPlugins, PreemptionText};
use super::patches::Minor;
use super::profile::Profile;
use super::v1_21;
use super::version::Release;
use crate::cluster::SelectorWords;

/// The release. Also emulates v1.18 and v1.19, of which less is known.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(20, 15),
    since: Release::patch(18, 0),
    behaviour: Behaviour {
        affinity_range: AffinityRange::WithZero,
        migrated_plugins: MigratedPlugins::None,
        selector_words: SelectorWords::Sentences,
        affinity_errors_add_up: false,
        filter_errors_name_pod: true,
        rejectors_noted: false,
        dry_run: DryRunReport::Nothing,
        preemption_text: PreemptionText::None,
        ..v1_21::PROFILE.behaviour
    },
    ..v1_21::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
