//! ImageLocality: Score. Mirrors `pkg/scheduler/framework/plugins/imagelocality/image_locality.go`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::cluster::{Container, Pod, Volume};
use crate::framework::{
    Context, CycleState, ImageState, MAX_NODE_SCORE, NodeInfo, Plugin, PodInfo, ScorePlugin, Snapshot, Status, hash_of,
};
use crate::release::ImageSources;

const MB: i64 = 1024 * 1024;
/// Images below this sum, in bytes, score 0.
const MIN_THRESHOLD: i64 = 23 * MB;
/// Maximum bytes per container that count.
const MAX_CONTAINER_THRESHOLD: i64 = 1000 * MB;

/// Prefers nodes that already have the pod's images.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageLocality;

impl Plugin for ImageLocality {
    plugin!(ImageLocality: score);
}

impl ScorePlugin for ImageLocality {
    fn score(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        Ok(Wanted::of(cx, &pod.pod).score(node))
    }

    fn score_all(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        let wanted = Wanted::of(cx, &pod.pod);
        Ok(nodes.iter().map(|node| wanted.score(node)).collect())
    }
}

fn calculate_priority(sum: i64, containers: i64) -> i64 {
    let max_threshold = MAX_CONTAINER_THRESHOLD.wrapping_mul(containers);
    // `clamp` would panic: a pod without containers has its upper bound below the lower one.
    let sum = if sum < MIN_THRESHOLD { MIN_THRESHOLD } else { sum.min(max_threshold) };
    MAX_NODE_SCORE.wrapping_mul(sum - MIN_THRESHOLD) / (max_threshold - MIN_THRESHOLD)
}

/// The pod's images and their divisor.
struct Wanted<'a> {
    snapshot: &'a Snapshot,
    /// Images that any node has, with the hash of their name and their size scaled by the share of nodes that have
    /// them, where that is the same for all nodes; images of containers first.
    images: Vec<(Cow<'a, str>, u64, Option<i64>)>,
    containers: i64,
}

impl<'a> Wanted<'a> {
    fn of(cx: &Context<'a>, pod: &'a Pod) -> Self {
        let snapshot = cx.snapshot;
        let images_of = cx.emulation.behaviour().images.sources;
        let (init_containers, volumes): (&[Container], &[Volume]) = match images_of {
            ImageSources::Containers => (&[], &[]),
            ImageSources::InitContainers => (&pod.spec.init_containers, &[]),
            ImageSources::Volumes | ImageSources::VolumesWeighed => (&pod.spec.init_containers, &pod.spec.volumes),
        };
        let of_volumes = volumes.iter().filter_map(|v| v.image.as_ref());
        let weighed = if images_of == ImageSources::VolumesWeighed { of_volumes.clone().count() } else { 0 };
        let number = init_containers.len() + pod.spec.containers.len() + weighed;
        let containers = init_containers.iter().chain(&pod.spec.containers).map(|c| c.image.as_str());
        let volumes = of_volumes.map(|i| i.reference.as_str());
        let scaled = |image: &'a str| {
            let name = normalized_image_name(image);
            let size = scaled_size(snapshot.images().get(&name)?, snapshot);
            let (hash, differs) = (hash_of(&name), snapshot.images().differs(&name));
            Some((name, hash, Some(size).filter(|_| !differs)))
        };
        let images = containers.chain(volumes).filter_map(scaled).collect();
        Self { snapshot, images, containers: number as i64 }
    }

    fn score(&self, node: &NodeInfo) -> i64 {
        let here = self.images.iter().filter(|(name, hash, _)| node.has_image(name, *hash));
        let on_node = |name: &str| self.snapshot.image_on(name, node).map_or(0, |state| scaled_size(state, self.snapshot));
        let sizes = here.map(|(name, _, size)| size.unwrap_or_else(|| on_node(name)));
        calculate_priority(sizes.fold(0i64, i64::wrapping_add), self.containers)
    }
}

fn scaled_size(state: ImageState, snapshot: &Snapshot) -> i64 {
    (state.size as f64 * (state.num_nodes as f64 / snapshot.len() as f64)) as i64
}

/// Returns the image name, with `:latest` if it has neither tag nor digest.
pub(super) fn normalized_image_name(name: &str) -> Cow<'_, str> {
    if name.rfind(':') <= name.rfind('/') { Cow::Owned(format!("{name}:latest")) } else { Cow::Borrowed(name) }
}

#[cfg(test)]
mod tests;
