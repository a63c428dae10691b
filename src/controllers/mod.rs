//! Controllers, emulated: the pods that they make in place of others, and the workload that a pod belongs to.
//!
//! | file | holds |
//! | --- | --- |
//! | `draft` | changes of a cluster that become one operation |
//! | `jobs` | the end of a Job with one of its pods |
//! | `pods` | a pod's removal, and its replacement with the claims that are made for it |
//! | `unfold` | a workload of a manifest, unfolded to the pods that its controller makes |
//! | `workload` | the workload of a pod |

mod draft;
pub(crate) mod jobs;
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
    /// The live workload has fields that a manifest leaves out, and the manifest that was applied last is not known.
    FieldsLeftOut {
        workload: Workload,
        /// Their paths below `spec`.
        fields: Vec<String>,
    },
    /// It is unknown whether a workload exists, and which values it keeps of fields that a manifest leaves out.
    LiveUnknown {
        workload: Workload,
        /// The replicas that are assumed, if the manifest leaves them out.
        replicas: Option<u64>,
        /// Whether pods of it exist.
        has_pods: bool,
    },
    /// A HorizontalPodAutoscaler sets the replicas of a workload again.
    Autoscaled { workload: Workload, scaler: Key, min: u64, max: u64 },
    /// A Job that has ended makes no pods.
    HasEnded(Key),
    /// The namespace enforces a Pod Security Standard, which is not checked.
    PodSecurity { namespace: Str, level: Str },
    /// Kueue admits a workload of this queue before its pods are created, which is not emulated.
    Queued { workload: Workload, queue: Str },
    /// It is unknown whether a workload exists, and a quota has no room for a new one.
    ForbiddenIfNew {
        workload: Workload,
        /// The error of the API server.
        error: String,
    },
    /// Quotas and limit ranges of the namespace limit the claims of new pods, which is not checked.
    ClaimsNotChecked { namespace: Str, by: Vec<String> },
    /// Groups of pods share no topology domain, which is not emulated.
    ExclusiveTopology { workload: Workload, topology: Str },
}

impl Note {
    /// Adds the note to others, once.
    pub(crate) fn add_to(self, notes: &mut Vec<Self>) {
        if !notes.contains(&self) {
            notes.push(self);
        }
    }
}
