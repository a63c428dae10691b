//! kube-scheduler v1.20, as differences from v1.21.

use super::behaviour::{AffinityRange, DryRunReport, MigratedPlugins, PreemptionText};
use super::patches::Minor;
use super::profile::Profile;
use super::v1_21;
use super::version::Release;
use crate::cluster::SelectorWords;

/// The release. Also emulates v1.18 and v1.19, of which less is known.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(20, 15),
    since: Release::patch(18, 0),
    behaviour: {
        let mut b = v1_21::PROFILE.behaviour;
        b.cycle.rejectors_noted = false;
        b.preemption.dry_run = DryRunReport::Nothing;
        b.preemption.text = PreemptionText::None;
        b.affinity.range = AffinityRange::WithZero;
        b.affinity.errors_add_up = false;
        b.volumes.migrated_plugins = MigratedPlugins::None;
        b.messages.selector_words = SelectorWords::Sentences;
        b.messages.filter_errors_name_pod = true;
        b
    },
    ..v1_21::PROFILE
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
