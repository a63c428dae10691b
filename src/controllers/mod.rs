//! Controllers, emulated: the pods that they make in place of others, and the workload that a pod belongs to.
//!
//! | file | holds |
//! | --- | --- |
//! | `draft` | changes of a cluster that become one operation |
//! | `pods` | a pod's removal, and its replacement with the claims that are made for it |
//! | `unfold` | a workload of a manifest, unfolded to the pods that its controller makes |
//! | `workload` | the workload of a pod |

mod draft;
pub(crate) mod pods;
pub mod unfold;
mod workload;

pub(crate) use draft::Draft;
pub use workload::{Workload, deployment_of};

use crate::cluster::{Key, MissingReason, Str};

/// A fact that is unknown or not emulated and may matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// Controllers of this kind are assumed to replace their pods.
    UnknownController(Str),
    /// The claim was made without a volume, and its class binds at once, which no controller does here.
    ImmediateClaim(Key),
    /// The claim of an evicted pod is not in the source, so none is made for its replacement.
    NoClaim(Key),
    /// It is unknown whether the class of a pod exists, and so is the pod's priority.
    UnknownPriorityClass(Str),
    /// Budgets are not known, or not all, for this reason, so that one that is not known cannot block.
    BudgetsUnknown(MissingReason),
    /// The run ended after as many steps as are allowed: pods that wait for an attempt might have a node or make room.
    CutShort,
    /// This many pods of a workload are not created, as those before took as many steps as are allowed.
    NotCreated(usize),
    /// The odds of this many pods were asked for and are not counted, as those of others took as many steps as are allowed.
    OddsNotCounted(usize),
}

impl Note {
    /// Adds the note to others, once.
    pub(crate) fn add_to(self, notes: &mut Vec<Self>) {
        if !notes.contains(&self) {
            notes.push(self);
        }
    }
}
