//! Workloads as the subject: how many pods one wants, how far they come, and why some are missing.
//!
//! | file | holds |
//! | --- | --- |
//! | `subject` | the workload that a user names, and the owners of a pod |
//! | `funnel` | the numbers from desired to ready, and their causes |
//! | `desired` | how many pods a workload wants now |
//! | `conditions` | the meaning of an object's conditions for the pods that wait for it |
//! | `creation` | why pods are not created |
//! | `refusal` | an API server's refusal of a pod, by the shape of its text |
//! | `daemons` | the nodes on which a DaemonSet runs a pod |
//! | `holders` | who owns a scheduling gate or a scheduler's name |
//! | `joint` | findings that need both a pod's decision and the words of others |
//! | `queues` | the queues and the requests for capacity through which a pod waits |
//! | `remedy` | changes that can be computed, and objects to look at |
//! | `short` | workloads that are short of pods which do not exist |
//! | `voices` | events and conditions of others, by speaker and shape |
//!
//! Findings are types. [`crate::report`] writes them.

mod conditions;
mod creation;
mod daemons;
mod desired;
mod funnel;
mod holders;
mod joint;
mod queues;
mod refusal;
mod remedy;
mod short;
mod subject;
mod voices;

pub use conditions::Capacity;
pub(crate) use conditions::is as condition_is;
pub use creation::{NotCreated, RefusedAt, Suspension};
pub use daemons::Eligible;
pub use funnel::{CauseKind, Findings, MissingCause, OpenKind, OpenOf, Stage, WorkloadInput};
pub use holders::{Holder, holder_of_gate};
pub use joint::{Joint, joint};
pub use queues::{QueueQuota, UnknownVoice, unknown_voices};
pub use refusal::Refusal;
pub use remedy::{QuotaRaise, Remedy};
pub use short::{ShortWorkload, short_workloads};
pub use subject::{SubjectError, kind_named, owners, subject, subject_named};
pub use voices::{Meaning, NeighborNeeds, OtherWords, Voice, objects_of_pod, voices_about, voices_of_pod, voices_of_workload};
