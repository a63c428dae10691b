//! Choices of predicates and priorities that changed between releases, by name.

/// The named choices of a release about predicates and priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateBehaviour {
    /// Which reasons rule preemption out.
    pub preemption_reach: PreemptionReach,
    /// How required terms of affinity and anti-affinity are held against a pod.
    pub affinity_terms: AffinityTerms,
    /// When claims that wait for a consumer are bound.
    pub claim_binding: ClaimBinding,
    /// How many EBS volumes a node can attach.
    pub ebs_limit: EbsLimit,
    /// How ImageLocalityPriority scores.
    pub image_score: ImageScore,
    /// In which order nodes of the highest score take turns.
    pub host_order: HostOrder,
}

/// Which reasons rule preemption out; mirrors `nodesWherePreemptionMightHelp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionReach {
    /// Pod affinity, pressure and a full disk among others.
    Narrow,
    /// Not these.
    Wide,
}

/// How required terms of affinity and anti-affinity are held against a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityTerms {
    /// Each by its own topology key.
    Each,
    /// All by one pod, which must match all of them, and, of an existing pod, by the key of its last term.
    Together,
}

/// When claims that wait for a consumer are bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimBinding {
    /// With the pod, to volumes that exist or are provisioned.
    WithPod,
    /// Before the pod, to volumes that exist; a claim that names a volume counts as bound.
    BeforePod,
}

/// How many EBS volumes a node can attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EbsLimit {
    /// Fewer where its instance type has the Nitro hypervisor.
    ByInstanceType,
    /// The same everywhere.
    Fixed,
}

/// How ImageLocalityPriority scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageScore {
    /// By size and by how many nodes have the image.
    Spread,
    /// By size.
    Size,
}

/// In which order nodes of the highest score take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOrder {
    /// As they were found.
    Found,
    /// By name, backwards.
    NameBackwards,
}
