//! Named behaviours of predicates and priorities that changed between releases.

/// The named behaviours of predicates and priorities in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateBehaviour {
    /// Which reasons rule out preemption on a node.
    pub preemption_reach: PreemptionReach,
    /// How required terms of affinity and anti-affinity are matched with a pod.
    pub affinity_terms: AffinityTerms,
    /// When claims that wait for a consumer are bound.
    pub claim_binding: ClaimBinding,
    /// The number of EBS volumes that a node can attach.
    pub ebs_limit: EbsLimit,
    /// How ImageLocalityPriority scores.
    pub image_score: ImageScore,
    /// The order in which nodes of the highest score take turns.
    pub host_order: HostOrder,
}

/// Which reasons rule out preemption on a node; mirrors `nodesWherePreemptionMightHelp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionReach {
    /// Also pod affinity, pressure and a full disk.
    Narrow,
    /// Without pod affinity, pressure and a full disk.
    Wide,
}

/// How required terms of affinity and anti-affinity are matched with a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityTerms {
    /// Each term by its own topology key.
    Each,
    /// All terms by one pod, which must match all of them. Terms of an existing pod use the key of its last term.
    Together,
}

/// When claims that wait for a consumer are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimBinding {
    /// With the pod, to volumes that exist or are provisioned.
    WithPod,
    /// Before the pod, to existing volumes. A claim that names a volume counts as bound.
    BeforePod,
}

/// The number of EBS volumes that a node can attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EbsLimit {
    /// Fewer for instance types with the Nitro hypervisor.
    ByInstanceType,
    /// The same for all nodes.
    Fixed,
}

/// How ImageLocalityPriority scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageScore {
    /// By size and by the number of nodes with the image.
    Spread,
    Size,
}

/// The order in which nodes of the highest score take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOrder {
    /// The order in which they were found.
    Found,
    /// Reverse order of name.
    NameBackwards,
}
