//! Behaviours of the volume plugins.

/// The named behaviours of the volume plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeBehaviour {
    /// Whether a volume's beta zone label is compared with the stable one of a node.
    pub beta_zones_translated: bool,
    /// Where VolumeZone reads claims.
    pub zones_looked_up_in: ZoneCheck,
    /// Whether PreFilter rejects the pod if a claim lost its volume.
    pub lost_claims_reject: bool,
    /// Whether inline volumes of migrated in-tree plugins count as volumes of their CSI driver.
    pub inline_volumes_counted: bool,
    /// The in-tree plugins whose volumes a CSI driver serves if the node declares it.
    pub migrated_plugins: MigratedPlugins,
    /// The in-tree plugins whose volumes count for the limits of their CSI driver on every node with a CSINode, declared or
    /// not.
    pub counted_undeclared: MigratedPlugins,
    /// How VolumeBinding treats local volumes.
    pub local_volumes: LocalVolumes,
    /// Which volume fields are compared when volumes are matched with claims.
    pub matching: VolumeMatching,
    /// Whether `volumeAttributesClassName` is compared when volumes are matched with claims.
    pub attributes_compared: bool,
    /// The volumes that NodeVolumeLimits counts, and the limits it applies.
    pub csi_limits: CsiLimits,
    /// Where a ReadWriteOncePod claim in use rejects a pod.
    pub claims_in_use: ClaimsInUse,
    /// How the volume limit plugins handle a missing claim of the pod.
    pub missing_claims: MissingClaims,
    /// How missing claims of generic ephemeral volumes are handled.
    pub ephemeral_claims: EphemeralClaims,
}

/// Where a ReadWriteOncePod claim in use rejects a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimsInUse {
    /// In Filter, on each node; evicting the other user may help.
    Filter,
    /// Once, in PreFilter.
    PreFilter,
}

/// How the volume limit plugins handle a missing claim of the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingClaims {
    /// They reject the pod.
    Rejection,
    /// They return an error.
    Error,
    /// They ignore it; another plugin checks for it.
    PassedOver,
}

/// How missing claims of generic ephemeral volumes are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralClaims {
    /// As claims that may still be created; their volumes count towards limits.
    Awaited,
    /// As other claims; their volumes count towards no limit.
    AsOthers,
}

/// The in-tree volume plugins whose volumes CSI drivers may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigratedPlugins {
    /// All that have a CSI driver.
    All,
    AllButPortworx,
    /// EBS, GCE disks, Azure disks and Cinder.
    Disks,
    /// EBS, Azure disks and Cinder.
    DisksButGce,
    Cinder,
    None,
}

/// Where VolumeZone reads claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCheck {
    /// Once, in PreFilter.
    PreFilter,
    /// In Filter, on each node with a zone or region label.
    Filter,
}

/// Which volume fields are compared when volumes are matched with claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeMatching {
    /// Phase and volume mode as well.
    WithPhaseAndMode,
    /// All but phase and volume mode.
    WithoutPhaseAndMode,
}

/// How VolumeBinding treats local volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalVolumes {
    /// PreFilter restricts the nodes to those that bound volumes name.
    Narrow,
    /// Filter checks each node.
    Filter,
}

/// The volumes that NodeVolumeLimits counts, and the limits it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsiLimits {
    /// Volumes of pods, with the limits of the Node and the CSINode.
    NodeAndCsiNode,
    /// VolumeAttachments as well, with the limits of the CSINode.
    CsiNode,
}
