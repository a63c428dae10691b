//! EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits: PreFilter, Filter. Mirrors
//! `pkg/scheduler/framework/plugins/nodevolumelimits/non_csi.go` of the releases that have it.
//!
//! Each counts the volumes of one in-tree plugin, by name or, if a claim has no volume yet, by claim. NodeVolumeLimits
//! counts them on nodes where a CSI driver has replaced the plugin.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::attachable::ephemeral_counts;
use super::hints;
use crate::cluster::storage::{PersistentVolume, PersistentVolumeClaim};
use crate::cluster::{Key, Labels, Pod, Str, Volume};
use crate::framework::{
    ClusterEventWithHint, Context, CycleState, FilterPlugin, NodeInfo, Plugin, PluginName, PodInfo, PreFilterPlugin, PreFilterResult,
    Reason, Status, VolumeLimit,
};
use crate::plugins::volume_helpers::csi_migration::InTreePlugin;
use crate::plugins::volume_helpers::{claim_of, volume_is_for_pod};
use crate::release::{Emulation, MissingClaims};

/// Keeps pods off nodes that cannot attach their volumes of one in-tree plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InTreeVolumeLimits {
    name: PluginName,
    kind: InTreePlugin,
    /// The resource in which a Node publishes its limit.
    limit_key: &'static str,
    /// The limit of nodes that publish none.
    default_limit: i64,
}

/// EBS volumes that a Nitro instance can attach.
const MAX_EBS_NITRO_VOLUMES: i64 = 25;

/// Instance types with the Nitro hypervisor, by upstream's pattern.
static NITRO: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[cmr]5.*|t3|z1d").ok());

impl InTreeVolumeLimits {
    pub const EBS: Self = Self::new(PluginName::EBSLimits, InTreePlugin::AwsEbs, "attachable-volumes-aws-ebs", 39);
    pub const GCE_PD: Self = Self::new(PluginName::GCEPDLimits, InTreePlugin::GcePd, "attachable-volumes-gce-pd", 16);
    /// `AzureDiskLimits`
    pub const AZURE_DISK: Self = Self::new(PluginName::AzureDiskLimits, InTreePlugin::AzureDisk, "attachable-volumes-azure-disk", 16);
    /// `CinderLimits`
    pub const CINDER: Self = Self::new(PluginName::CinderLimits, InTreePlugin::Cinder, "attachable-volumes-cinder", 256);

    const fn new(name: PluginName, kind: InTreePlugin, limit_key: &'static str, default_limit: i64) -> Self {
        Self { name, kind, limit_key, default_limit }
    }

    /// Returns the limit of a node. Ignores the scheduler's environment variable for another default, which is unknown.
    fn limit(&self, node: &NodeInfo) -> i64 {
        node.allocatable.scalar.get(self.limit_key).copied().unwrap_or_else(|| {
            let nitro = self.kind == InTreePlugin::AwsEbs && is_nitro(&node.node.metadata.labels);
            if nitro { MAX_EBS_NITRO_VOLUMES } else { self.default_limit }
        })
    }

    /// Returns the identity of an inline volume of this kind.
    fn of_volume(&self, volume: &Volume) -> Option<Counted> {
        let id = match self.kind {
            InTreePlugin::AwsEbs => &volume.aws_elastic_block_store.as_ref()?.volume_id,
            InTreePlugin::GcePd => &volume.gce_persistent_disk.as_ref()?.pd_name,
            InTreePlugin::AzureDisk => &volume.azure_disk.as_ref()?.disk_name,
            InTreePlugin::Cinder => &volume.cinder.as_ref()?.volume_id,
            _ => return None,
        };
        Some(Counted::Volume(id.clone()))
    }

    fn of_persistent_volume(&self, volume: &PersistentVolume) -> Option<Counted> {
        let spec = &volume.spec;
        let id = match self.kind {
            InTreePlugin::AwsEbs => &spec.aws_elastic_block_store.as_ref()?.volume_id,
            InTreePlugin::GcePd => &spec.gce_persistent_disk.as_ref()?.pd_name,
            InTreePlugin::AzureDisk => &spec.azure_disk.as_ref()?.disk_name,
            InTreePlugin::Cinder => &spec.cinder.as_ref()?.volume_id,
            _ => return None,
        };
        Some(Counted::Volume(id.clone()))
    }

    /// Whether the kind's own provisioner creates volumes for the claim.
    fn provisions(&self, cx: &Context<'_>, claim: &PersistentVolumeClaim) -> bool {
        let class = claim.spec.storage_class_name.as_ref().and_then(|name| cx.cluster.storage_classes.named(name));
        class.is_some_and(|class| class.provisioner == self.kind.name())
    }

    /// Adds the pod's volumes of the kind. Claims must exist for the incoming pod.
    fn collect(&self, cx: &Context<'_>, pod: &Pod, is_new: bool, found: &mut BTreeSet<Counted>) -> Result<(), Failure> {
        for volume in &pod.spec.volumes {
            if let Some(counted) = self.of_volume(volume) {
                found.insert(counted);
                continue;
            }
            let Some(named) = claim_of(pod, volume).filter(|named| !named.ephemeral || ephemeral_counts(cx)) else { continue };
            if named.name.is_empty() {
                return Err(Failure::Other(Reason::ClaimWithoutName));
            }
            let key = Key::new(pod.metadata.namespace.clone(), named.name);
            let Some(claim) = cx.cluster.persistent_volume_claims.namespaced(&key.namespace, &key.name) else {
                if is_new && cx.emulation.behaviour().volumes.missing_claims != MissingClaims::PassedOver {
                    return Err(Failure::ClaimNotFound(Reason::ClaimLookupFailed { claim: key }));
                }
                continue;
            };
            if named.ephemeral {
                volume_is_for_pod(pod, claim).map_err(Failure::Other)?;
            }
            let volume = Some(&claim.spec.volume_name).filter(|n| !n.is_empty()).and_then(|n| cx.cluster.persistent_volumes.named(n));
            match volume {
                Some(volume) => found.extend(self.of_persistent_volume(volume)),
                None if self.provisions(cx, claim) => _ = found.insert(Counted::Claim(key)),
                None => {}
            }
        }
        Ok(())
    }
}

fn is_nitro(labels: &Labels) -> bool {
    let instance = labels.get("node.kubernetes.io/instance-type").or_else(|| labels.get("beta.kubernetes.io/instance-type"));
    instance.is_some_and(|instance| is_nitro_instance(instance))
}

/// Returns whether instances of a type have the Nitro hypervisor.
pub(in crate::plugins) fn is_nitro_instance(instance: &str) -> bool {
    NITRO.as_ref().is_some_and(|nitro| nitro.is_match(instance))
}

/// A counted volume: by its name, or by the claim it will be created for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    Volume(Str),
    Claim(Key),
}

/// Why a pod's volumes cannot be counted.
enum Failure {
    ClaimNotFound(Reason),
    Other(Reason),
}

impl Plugin for InTreeVolumeLimits {
    fn name(&self) -> PluginName {
        self.name
    }
    fn pre_filter(&self) -> Option<&dyn PreFilterPlugin> {
        Some(self)
    }
    fn filter(&self) -> Option<&dyn FilterPlugin> {
        Some(self)
    }
    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(hints::in_tree_events())
    }
}

impl PreFilterPlugin for InTreeVolumeLimits {
    fn pre_filter(&self, _cx: &Context<'_>, _state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let counts = |v: &Volume| v.persistent_volume_claim.is_some() || v.ephemeral.is_some() || self.of_volume(v).is_some();
        let status = if pod.pod.spec.volumes.iter().any(counts) { Status::success() } else { Status::skip() };
        (PreFilterResult::default(), status)
    }
}

impl FilterPlugin for InTreeVolumeLimits {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let mut new = BTreeSet::new();
        match self.collect(cx, &pod.pod, true, &mut new) {
            Ok(()) if new.is_empty() => return Status::success(),
            Ok(()) => {}
            Err(Failure::ClaimNotFound(reason)) if cx.emulation.behaviour().volumes.missing_claims == MissingClaims::Rejection => {
                return Status::rejected(reason);
            }
            Err(Failure::ClaimNotFound(reason) | Failure::Other(reason)) => return Status::error(reason),
        }
        let csi_node = cx.cluster.csi_nodes.named(node.name()).map(|n| &**n);
        if self.kind.counts_as_csi(csi_node, &cx.emulation.behaviour().volumes) {
            return Status::success();
        }
        let mut existing = BTreeSet::new();
        for other in &node.pods {
            match self.collect(cx, &other.pod, false, &mut existing) {
                Ok(()) => {}
                Err(Failure::ClaimNotFound(reason) | Failure::Other(reason)) => return Status::error(reason),
            }
        }
        let (attached, added, limit) = (existing.len() as i64, new.difference(&existing).count() as i64, self.limit(node));
        if attached + added <= limit {
            return Status::success();
        }
        let driver = self.kind.name().into();
        Status::rejected(Reason::MaxVolumeCountExceeded(Box::new(VolumeLimit { driver, attached, added, limit })))
    }
}
