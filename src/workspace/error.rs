//! Errors of changes. The texts are for the user.

use crate::cluster::Key;
use crate::session::{EditError, ReleaseChangeError};
use crate::source::{Diagnostic, ManifestError, ManifestPlace};
use crate::whatif::{ManifestProblem, WhatIfError};

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The what-if cannot be applied.
    #[error(transparent)]
    WhatIf(#[from] WhatIfError),
    /// The operation has no effect.
    #[error("nothing would change")]
    NothingDone,
    /// The pod does not wait on Permit.
    #[error("{0} is not waiting on Permit")]
    NotWaitingOnPermit(Key),
    /// The line is not a valid edit of the cluster.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The release refuses the configuration.
    #[error(transparent)]
    Release(#[from] ReleaseChangeError),
    /// The file to apply cannot be read.
    #[error("{0}")]
    Load(Box<Diagnostic>),
    /// The file to apply has no objects that scheduling reads.
    #[error("{path} has no objects that scheduling reads")]
    NothingInFile {
        /// Path of the file.
        path: String,
    },
    /// The manifest to apply cannot be read.
    #[error("{0}")]
    Manifest(Box<ManifestError>),
    /// An object of the manifest to apply is wrong.
    #[error("{place}: {problem}")]
    WrongManifest {
        /// The place of the object.
        place: ManifestPlace,
        /// The error.
        problem: Box<ManifestProblem>,
    },
    /// No timer is pending.
    #[error("no timer is pending")]
    NoTimer,
    /// An object that the fix changes does not exist.
    #[error("the fix does not apply to the cluster at the cursor")]
    FixOutdated,
}
