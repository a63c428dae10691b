//! Inline disks that pods cannot freely share; mirrors `isVolumeConflict`, with an index instead of comparing all pairs.

use std::collections::HashMap;

use crate::cluster::{Pod, Str, Volume};
use crate::framework::DiskInUse;

/// The name of a disk. Two volumes use the same disk if a name is common to them.
#[derive(PartialEq, Eq, Hash)]
enum Disk<'a> {
    Gce(&'a Str),
    Ebs(&'a Str),
    Iscsi(&'a Str),
    /// An image as one of its monitors serves it.
    Rbd(&'a Str, &'a Str, &'a Str),
}

/// The first volumes of a pod with one disk, by index.
#[derive(Default)]
struct Uses {
    any: Option<usize>,
    /// The first that does not allow sharing.
    exclusive: Option<usize>,
}

impl Uses {
    /// Returns the first volume that conflicts with another use of the disk.
    fn conflicting(&self, sharing: bool) -> Option<usize> {
        if sharing { self.exclusive } else { self.any }
    }
}

/// Whether pods on one node cannot freely share a volume of this kind.
pub(crate) fn needs_restrictions_check(volume: &Volume) -> bool {
    volume.gce_persistent_disk.is_some() || volume.aws_elastic_block_store.is_some() || volume.rbd.is_some() || volume.iscsi.is_some()
}

/// Returns the first inline disk of the pod that one of the others uses, and the first of them. Adds the number of disks that it reads to `read`.
pub(super) fn disk_in_use<'a>(pod: &Pod, others: &(impl Iterator<Item = &'a Pod> + Clone), read: &mut usize) -> Option<DiskInUse> {
    if !pod.spec.volumes.iter().any(needs_restrictions_check) {
        return None;
    }
    let mut index: HashMap<Disk<'_>, Uses> = HashMap::new();
    for (at, volume) in pod.spec.volumes.iter().enumerate() {
        each_disk(volume, &mut |disk, sharing| {
            *read += 1;
            let uses = index.entry(disk).or_default();
            uses.any.get_or_insert(at);
            if !sharing {
                uses.exclusive.get_or_insert(at);
            }
        });
    }
    let mut first: Option<(usize, &Pod)> = None;
    for other in others.clone() {
        for volume in &other.spec.volumes {
            each_disk(volume, &mut |disk, sharing| {
                *read += 1;
                let at = index.get(&disk).and_then(|uses| uses.conflicting(sharing));
                if let Some(at) = at.filter(|at| first.is_none_or(|(known, _)| *at < known)) {
                    first = Some((at, other));
                }
            });
        }
    }
    let (at, with) = first?;
    Some(DiskInUse { volume: pod.spec.volumes[at].name.clone(), with: with.key() })
}

/// Calls the function with each disk of a volume, and whether it allows sharing with uses that allow it, too.
fn each_disk<'v>(volume: &'v Volume, found: &mut impl FnMut(Disk<'v>, bool)) {
    if let Some(gce) = &volume.gce_persistent_disk {
        found(Disk::Gce(&gce.pd_name), gce.read_only.unwrap_or(false));
    }
    if let Some(ebs) = &volume.aws_elastic_block_store {
        found(Disk::Ebs(&ebs.volume_id), false);
    }
    if let Some(iscsi) = &volume.iscsi {
        found(Disk::Iscsi(&iscsi.iqn), iscsi.read_only.unwrap_or(false));
    }
    if let Some(rbd) = &volume.rbd {
        for monitor in &rbd.monitors {
            found(Disk::Rbd(&rbd.pool, &rbd.image, monitor), rbd.read_only.unwrap_or(false));
        }
    }
}

#[cfg(test)]
mod tests;
