//! Errors of the translation, in Kubernetes' words.

use std::collections::BTreeSet;

use crate::cluster::Str;

/// Why a volume cannot be translated for its CSI driver, in Kubernetes' words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MigrationError {
    /// The id of an EBS volume is neither `vol-…` nor `aws://<zone>/vol-…`.
    #[error("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({id})")]
    EbsVolumeId { id: Str },
    /// An Azure disk is not managed.
    #[error("kind({kind}) is not supported in csi migration")]
    AzureDiskKind {
        /// The disk's kind.
        kind: Str,
    },
    /// The zones of a GCE disk do not give a region.
    #[error("failed to get region from zones: {0}")]
    Region(RegionError),
}

/// Why zones of GCE do not give a region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// The name of a zone does not have three parts.
    #[error("zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}")]
    ZoneFormat { zone: Str },
    /// The zones are in several regions, or there are none.
    #[error("multiple or no regions gotten from zones, got: map[{}]", as_go_map(regions))]
    NotOne {
        /// The regions, by name.
        regions: BTreeSet<String>,
    },
}

/// Returns the keys of a Go map without values as Go prints them: `a:{} b:{}`.
fn as_go_map(keys: &BTreeSet<String>) -> String {
    keys.iter().map(|key| format!("{key}:{{}}")).collect::<Vec<_>>().join(" ")
}

/// Why an inline volume of a pod cannot be translated for its CSI driver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("converting volume({volume}) from inline to csi: {error}")]
pub struct InlineVolumeError {
    /// The volume's name in the pod.
    pub volume: Str,
    /// Why.
    pub error: MigrationError,
}
