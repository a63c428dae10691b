//! MaxEBSVolumeCount, MaxGCEPDVolumeCount, MaxAzureDiskVolumeCount and MaxCSIVolumeCountPred. Mirrors
//! `MaxPDVolumeCountChecker` in `pkg/scheduler/algorithm/predicates/predicates.go`.
//!
//! The environment variable `KUBE_MAX_PD_VOLS` of kube-scheduler is unknown and ignored.

use std::collections::BTreeSet;

use super::reject;
use crate::cluster::storage::PersistentVolume;
use crate::cluster::{Key, Pod, Str, Volume};
use crate::framework::{Context, CycleState, FilterPlugin, NodeInfo, Plugin, PluginName, PodInfo, Reason, Status, VolumeLimit};
use crate::plugins::node_volume_limits::is_nitro_instance;
use crate::release::EbsLimit;

/// Keeps pods off nodes that cannot attach more volumes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxVolumeCount {
    /// AWS EBS volumes.
    Ebs,
    /// GCE persistent disks.
    GcePd,
    AzureDisk,
    /// CSI volumes; nothing is counted while the gate `AttachVolumeLimit` is off, its default.
    Csi,
}

/// A counted volume: by its name, or by the claim if the volume is unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    Volume(Str),
    Claim(Key),
}

impl MaxVolumeCount {
    fn of_volume(self, volume: &Volume) -> Option<Str> {
        match self {
            Self::Ebs => volume.aws_elastic_block_store.as_ref().map(|v| v.volume_id.clone()),
            Self::GcePd => volume.gce_persistent_disk.as_ref().map(|v| v.pd_name.clone()),
            Self::AzureDisk => volume.azure_disk.as_ref().map(|v| v.disk_name.clone()),
            Self::Csi => None,
        }
    }

    fn of_persistent_volume(self, volume: &PersistentVolume) -> Option<Str> {
        let spec = &volume.spec;
        match self {
            Self::Ebs => spec.aws_elastic_block_store.as_ref().map(|v| v.volume_id.clone()),
            Self::GcePd => spec.gce_persistent_disk.as_ref().map(|v| v.pd_name.clone()),
            Self::AzureDisk => spec.azure_disk.as_ref().map(|v| v.disk_name.clone()),
            Self::Csi => None,
        }
    }

    /// Adds the pod's volumes of the kind. A claim with an unknown volume counts as one.
    fn collect(self, cx: &Context<'_>, pod: &Pod, found: &mut BTreeSet<Counted>) -> Result<(), Status> {
        for volume in &pod.spec.volumes {
            if let Some(id) = self.of_volume(volume) {
                found.insert(Counted::Volume(id));
                continue;
            }
            let Some(source) = &volume.persistent_volume_claim else { continue };
            if source.claim_name.is_empty() {
                return Err(Status::error(Reason::ClaimWithoutName));
            }
            let key = Key::new(pod.metadata.namespace.clone(), source.claim_name.clone());
            let claim = cx.cluster.persistent_volume_claims.namespaced(&key.namespace, &key.name);
            let name = claim.map(|claim| &claim.spec.volume_name).filter(|name| !name.is_empty());
            match name.and_then(|name| cx.cluster.persistent_volumes.named(name)) {
                Some(volume) => found.extend(self.of_persistent_volume(volume).map(Counted::Volume)),
                None => _ = found.insert(Counted::Claim(key)),
            }
        }
        Ok(())
    }

    fn limit(self, cx: &Context<'_>, node: &NodeInfo) -> i64 {
        let by_instance = cx.emulation.behaviour().predicates.ebs_limit == EbsLimit::ByInstanceType;
        match self {
            Self::Ebs if by_instance && node.node.metadata.labels.get(INSTANCE_TYPE).is_some_and(|i| is_nitro_instance(i)) => 25,
            Self::Ebs => 39,
            Self::GcePd | Self::AzureDisk | Self::Csi => 16,
        }
    }
}

const INSTANCE_TYPE: &str = "beta.kubernetes.io/instance-type";

impl Plugin for MaxVolumeCount {
    fn name(&self) -> PluginName {
        match self {
            Self::Ebs => PluginName::MaxEBSVolumeCount,
            Self::GcePd => PluginName::MaxGCEPDVolumeCount,
            Self::AzureDisk => PluginName::MaxAzureDiskVolumeCount,
            Self::Csi => PluginName::MaxCSIVolumeCountPred,
        }
    }
    fn filter(&self) -> Option<&dyn FilterPlugin> {
        Some(self)
    }
}

impl FilterPlugin for MaxVolumeCount {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if *self == Self::Csi || pod.pod.spec.volumes.is_empty() {
            return Status::success();
        }
        let (mut new, mut existing) = (BTreeSet::new(), BTreeSet::new());
        match self.collect(cx, &pod.pod, &mut new) {
            Err(status) => return status,
            Ok(()) if new.is_empty() => return Status::success(),
            Ok(()) => {}
        }
        for other in &node.pods {
            if let Err(status) = self.collect(cx, &other.pod, &mut existing) {
                return status;
            }
        }
        let (attached, added, limit) = (existing.len() as i64, new.difference(&existing).count() as i64, self.limit(cx, node));
        if attached + added <= limit {
            return Status::success();
        }
        let driver = match self {
            Self::Ebs => "kubernetes.io/aws-ebs",
            Self::GcePd => "kubernetes.io/gce-pd",
            Self::AzureDisk => "kubernetes.io/azure-disk",
            Self::Csi => "",
        };
        let reason = Reason::MaxVolumeCountExceeded(Box::new(VolumeLimit { driver: driver.into(), attached, added, limit }));
        reject(vec![reason], cx.emulation.behaviour())
    }
}
