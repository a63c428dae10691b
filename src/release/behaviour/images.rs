//! Behaviours of ImageLocality.

/// The named behaviours of ImageLocality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageBehaviour {
    /// Which images ImageLocality counts.
    pub sources: ImageSources,
    /// Whether the number of nodes that have an image is read where a cycle copies a node, so that a node on which nothing happens
    /// keeps an earlier one.
    pub as_copied: bool,
}

/// Which images ImageLocality counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSources {
    /// Images of containers.
    Containers,
    /// Images of init containers as well.
    InitContainers,
    /// Images of image volumes as well.
    Volumes,
    /// Images of image volumes as well, each of which raises the sum for the highest score.
    VolumesWeighed,
}
