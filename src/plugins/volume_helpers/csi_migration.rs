//! In-tree volume plugins and the CSI drivers that replace them.
//!
//! Mirrors `staging/src/k8s.io/csi-translation-lib/{translate.go,plugins/*.go}`, as far as scheduling reads the
//! translated volume: its driver, its handle and its node affinity.

mod error;

pub use error::{InlineVolumeError, MigrationError, RegionError};

use std::collections::BTreeSet;

use crate::cluster::storage::{CSINode, PersistentVolume};
use crate::cluster::{AzureDiskVolumeSource, Labels, List, NodeSelector, NodeSelectorTerm, Requirement, Str, Volume};

use super::{ANN_MIGRATED_PLUGINS, required_affinity};
use crate::release::{MigratedPlugins, VolumeBehaviour};

const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";
const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";

/// An in-tree volume plugin with a CSI driver to migrate to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumIter)]
pub enum InTreePlugin {
    /// `awsElasticBlockStore`
    AwsEbs,
    /// `azureDisk`
    AzureDisk,
    /// `azureFile`
    AzureFile,
    Cinder,
    /// `gcePersistentDisk`
    GcePd,
    /// `portworxVolume`
    Portworx,
    /// `vsphereVolume`
    Vsphere,
}

impl InTreePlugin {
    /// Returns the plugin with the name used in StorageClasses.
    pub fn by_name(name: &str) -> Option<Self> {
        use strum::IntoEnumIterator;
        Self::iter().find(|p| p.name() == name)
    }

    /// Returns the plugin of an inline volume of a pod.
    pub fn of_volume(volume: &Volume) -> Option<Self> {
        match volume {
            Volume { aws_elastic_block_store: Some(_), .. } => Some(Self::AwsEbs),
            Volume { azure_disk: Some(_), .. } => Some(Self::AzureDisk),
            Volume { azure_file: Some(_), .. } => Some(Self::AzureFile),
            Volume { cinder: Some(_), .. } => Some(Self::Cinder),
            Volume { gce_persistent_disk: Some(_), .. } => Some(Self::GcePd),
            Volume { portworx_volume: Some(_), .. } => Some(Self::Portworx),
            Volume { vsphere_volume: Some(_), .. } => Some(Self::Vsphere),
            _ => None,
        }
    }

    /// Returns the plugin of a volume if migration is on for it; ignores the two others.
    pub fn of_persistent_volume(volume: &PersistentVolume) -> Option<Self> {
        let spec = &volume.spec;
        let sources = [
            (spec.aws_elastic_block_store.is_some(), Self::AwsEbs),
            (spec.azure_disk.is_some(), Self::AzureDisk),
            (spec.cinder.is_some(), Self::Cinder),
            (spec.gce_persistent_disk.is_some(), Self::GcePd),
            (spec.portworx_volume.is_some(), Self::Portworx),
        ];
        sources.into_iter().find_map(|(present, plugin)| present.then_some(plugin))
    }

    /// Returns the plugin's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AwsEbs => "kubernetes.io/aws-ebs",
            Self::AzureDisk => "kubernetes.io/azure-disk",
            Self::AzureFile => "kubernetes.io/azure-file",
            Self::Cinder => "kubernetes.io/cinder",
            Self::GcePd => "kubernetes.io/gce-pd",
            Self::Portworx => "kubernetes.io/portworx-volume",
            Self::Vsphere => "kubernetes.io/vsphere-volume",
        }
    }

    /// Returns the CSI driver that replaces the plugin.
    pub fn driver(self) -> &'static str {
        match self {
            Self::AwsEbs => "ebs.csi.aws.com",
            Self::AzureDisk => "disk.csi.azure.com",
            Self::AzureFile => "file.csi.azure.com",
            Self::Cinder => "cinder.csi.openstack.org",
            Self::GcePd => "pd.csi.storage.gke.io",
            Self::Portworx => "pxd.portworx.com",
            Self::Vsphere => "csi.vsphere.vmware.com",
        }
    }

    /// Whether volumes of the plugin count as CSI volumes; mirrors `isCSIMigrationOn`, which names five of the seven.
    pub fn migration_is_on(self) -> bool {
        !matches!(self, Self::AzureFile | Self::Vsphere)
    }

    /// Whether volumes of the plugin may be served by CSI in a release.
    fn is_among(self, migrated: MigratedPlugins) -> bool {
        match migrated {
            MigratedPlugins::All => true,
            MigratedPlugins::AllButPortworx => self != Self::Portworx,
            MigratedPlugins::Disks => matches!(self, Self::AwsEbs | Self::AzureDisk | Self::GcePd | Self::Cinder),
            MigratedPlugins::DisksButGce => matches!(self, Self::AwsEbs | Self::AzureDisk | Self::Cinder),
            MigratedPlugins::Cinder => self == Self::Cinder,
            MigratedPlugins::None => false,
        }
    }

    /// Whether volumes of the plugin count for the limits of its CSI driver on a node with this CSINode. For most plugins
    /// and releases the CSINode need not name the plugin.
    pub fn counts_as_csi(self, node: Option<&CSINode>, release: &VolumeBehaviour) -> bool {
        let undeclared = node.is_some() && self.is_among(release.counted_undeclared);
        self.migration_is_on() && (undeclared || self.is_migrated_on(node, release.migrated_plugins))
    }

    /// Whether the plugin's volumes are served by CSI on a node; mirrors `isPluginMigratedToCSIOnNode`.
    pub fn is_migrated_on(self, node: Option<&CSINode>, release: MigratedPlugins) -> bool {
        if !self.is_among(release) {
            return false;
        }
        let migrated = node.and_then(|n| n.metadata.annotations.get(ANN_MIGRATED_PLUGINS));
        migrated.is_some_and(|names| names.split(',').any(|name| name == self.name()))
    }
}

/// Returns the CSI handle of an inline volume; empty if nothing identifies the volume.
///
/// # Errors
///
/// If the driver cannot serve the volume.
pub fn inline_handle(volume: &Volume) -> Result<Str, MigrationError> {
    if let Some(source) = &volume.aws_elastic_block_store {
        return ebs_volume_id(&source.volume_id);
    }
    if let Some(source) = &volume.azure_disk {
        return azure_disk_handle(source);
    }
    if let Some(source) = &volume.gce_persistent_disk {
        return Ok(gce_handle("zones", "UNSPECIFIED", &source.pd_name));
    }
    let plain = volume.cinder.as_ref().map(|s| &s.volume_id).or(volume.portworx_volume.as_ref().map(|s| &s.volume_id));
    Ok(plain.cloned().unwrap_or_default())
}

/// Returns the CSI handle of an in-tree volume.
///
/// # Errors
///
/// If the volume cannot be translated.
pub fn volume_handle(volume: &PersistentVolume) -> Result<Str, MigrationError> {
    let spec = &volume.spec;
    if let Some(source) = &spec.aws_elastic_block_store {
        return ebs_volume_id(&source.volume_id);
    }
    if let Some(source) = &spec.azure_disk {
        return azure_disk_handle(source);
    }
    if let Some(source) = &spec.gce_persistent_disk {
        let labels = &volume.metadata.labels;
        let label = labels.get(BETA_ZONE).filter(|v| !v.is_empty()).or_else(|| labels.get(ZONE));
        let zones: Vec<&str> = label.map(|l| l.split("__").collect()).unwrap_or_default();
        return match zones.as_slice() {
            [] | [""] => Ok(gce_handle("zones", "UNSPECIFIED", &source.pd_name)),
            [zone] => Ok(gce_handle("zones", zone, &source.pd_name)),
            zones => {
                let region = gce_region(zones).map_err(MigrationError::Region)?;
                Ok(gce_handle("regions", &region, &source.pd_name))
            }
        };
    }
    let plain = spec.cinder.as_ref().map(|s| &s.volume_id).or(spec.portworx_volume.as_ref().map(|s| &s.volume_id));
    Ok(plain.cloned().unwrap_or_default())
}

/// Returns the required node affinity of an in-tree volume after translation to CSI, with zones under the driver's own
/// label.
///
/// # Errors
///
/// If the volume cannot be translated.
pub fn translated_affinity(plugin: InTreePlugin, volume: &PersistentVolume) -> Result<Option<NodeSelector>, MigrationError> {
    volume_handle(volume)?;
    let required = required_affinity(volume).cloned();
    let zone_key = match plugin {
        InTreePlugin::AwsEbs => "topology.ebs.csi.aws.com/zone",
        InTreePlugin::GcePd => "topology.gke.io/zone",
        InTreePlugin::Cinder => "topology.cinder.csi.openstack.org/zone",
        _ => return Ok(required),
    };
    Ok(translate_topology(required, &volume.metadata.labels, zone_key))
}

/// Translates zones; those of the affinity take precedence over those of the volume's labels. A beta region becomes the
/// stable one.
fn translate_topology(required: Option<NodeSelector>, labels: &Labels, zone_key: &str) -> Option<NodeSelector> {
    let asks_for = |key: &str| required.as_ref().is_some_and(|r| expressions(r).any(|e| e.key == key));
    let beta = if asks_for(ZONE) {
        false
    } else if asks_for(BETA_ZONE) {
        true
    } else {
        !labels.contains_key(ZONE) && labels.contains_key(BETA_ZONE)
    };
    let zone_label = if beta { BETA_ZONE } else { ZONE };
    let has_values = |r: &NodeSelector, key: &str| expressions(r).any(|e| e.key == key && !e.values.is_empty());
    let mut translated = match required {
        Some(mut required) if has_values(&required, zone_label) => {
            rename_key(&mut required, zone_label, zone_key);
            Some(required)
        }
        required => match labels.get(zone_label) {
            Some(zones) => add_topology(required, zone_key, zones),
            None => required,
        },
    };
    if let Some(selector) = translated.as_mut().filter(|r| beta && has_values(r, BETA_REGION)) {
        rename_key(selector, BETA_REGION, REGION);
    }
    translated
}

fn expressions(selector: &NodeSelector) -> impl Iterator<Item = &Requirement> {
    selector.node_selector_terms.iter().flat_map(|t| t.match_expressions.iter())
}

fn rename_key(selector: &mut NodeSelector, from: &str, to: &str) {
    let terms = selector.node_selector_terms.iter_mut();
    for expression in terms.flat_map(|t| t.match_expressions.iter_mut()).filter(|e| e.key == from) {
        expression.key = to.into();
    }
}

/// Requires the zones of a label in every term, or in a first term if there is none.
fn add_topology(required: Option<NodeSelector>, key: &str, zones: &str) -> Option<NodeSelector> {
    let zones: BTreeSet<&str> = zones.split("__").map(str::trim).filter(|z| !z.is_empty()).collect();
    if zones.is_empty() {
        return required;
    }
    let mut selector = required.unwrap_or_default();
    if selector.node_selector_terms.is_empty() {
        selector.node_selector_terms.push(NodeSelectorTerm::default());
    }
    let values: List<Str> = zones.into_iter().map(Str::from).collect();
    for term in selector.node_selector_terms.iter_mut() {
        term.match_expressions.push(Requirement { key: key.into(), operator: "In".into(), values: values.clone().into() });
    }
    Some(selector)
}

/// Returns `vol-…` unchanged, or the last part of `aws://<zone>/vol-…`.
fn ebs_volume_id(id: &Str) -> Result<Str, MigrationError> {
    let Some(rest) = id.strip_prefix("aws://") else { return Ok(id.clone()) };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = rest.split_once('/').map_or("", |(_, path)| path).trim_matches('/');
    if path.starts_with("vol-") && !path.contains('/') {
        return Ok(path.into());
    }
    Err(MigrationError::EbsVolumeId { id: id.clone() })
}

fn azure_disk_handle(source: &AzureDiskVolumeSource) -> Result<Str, MigrationError> {
    match &source.kind {
        Some(kind) if !kind.eq_ignore_ascii_case("Managed") => Err(MigrationError::AzureDiskKind { kind: kind.clone() }),
        _ => Ok(source.disk_uri.clone()),
    }
}

fn gce_handle(scope: &str, place: &str, disk: &str) -> Str {
    format!("projects/UNSPECIFIED/{scope}/{place}/disks/{disk}").into()
}

fn gce_region(zones: &[&str]) -> Result<String, RegionError> {
    let mut regions = BTreeSet::new();
    for zone in zones {
        let parts: Vec<&str> = zone.split('-').collect();
        let [locale, region, _] = parts[..] else {
            return Err(RegionError::ZoneFormat { zone: (*zone).into() });
        };
        regions.insert(format!("{locale}-{region}"));
    }
    match regions.pop_first() {
        Some(region) if regions.is_empty() => Ok(region),
        first => Err(RegionError::NotOne { regions: first.into_iter().chain(regions).collect() }),
    }
}

#[cfg(test)]
mod tests;
