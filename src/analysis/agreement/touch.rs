//! The reasons that a change of the cluster can take from nodes, or give to them, and on which nodes.
//!
//! A binding takes room away: it gives `Insufficient cpu` to its node and takes it from none. Where the objects do not show
//! more, a change counts as able to.

use super::since::{Change, SeenChange};
use crate::cluster::{Cluster, Key, Labels, Node, Object, Pod, Str};
use crate::framework::{AffinityTerm, PluginName, PodInfo, Reason, ReasonKind, entry, read_reason};
use crate::release::Release;

/// A reason of a node as a message names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    text: String,
    aspect: Aspect,
    /// The plugin that gives it; `None` if it is not known.
    plugin: Option<PluginName>,
}

/// The part of the cluster that a reason is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aspect {
    /// Free room of a resource; `pods` for the number of pods.
    Room(String),
    /// Host ports.
    Ports,
    /// Taints, labels, conditions and features of the node.
    Node,
    /// Pods that the pod must be near to.
    Affinity,
    /// Pods that the pod must be away from.
    AntiAffinity,
    /// Either of these two, in the words of releases that do not tell them apart.
    AnyAffinity,
    /// The number of pods per domain.
    Spread,
    /// Disks and claims that pods share on a node or in the cluster.
    Disks,
    /// The number of volumes on a node.
    VolumeCount,
    /// Claims, volumes and classes.
    Storage,
    Devices,
    /// The pod's group.
    Group,
    /// No change of the cluster that is known explains it.
    Other,
}

impl Named {
    /// Reads the reason of a message in the newest release's words.
    pub(super) fn read(text: &str) -> Self {
        let read = read_reason(text);
        let plugin = read.as_ref().and_then(|read| entry(read.kind)).and_then(|entry| entry.plugin);
        let aspect = read.map_or(Aspect::Other, |read| {
            let resource = read.facts.first().copied().unwrap_or_default();
            aspect(read.kind, resource)
        });
        Self { text: text.to_owned(), aspect, plugin }
    }

    /// Returns whether a node that has this reason may not show another one that holds too: filters end at the first plugin that rejects,
    /// in this order. A plugin that says all of its reasons hides none of them.
    pub(super) fn may_hide(&self, other: &Self, filters: &[PluginName]) -> bool {
        let at = |of: &Self| of.plugin.and_then(|plugin| filters.iter().position(|filter| *filter == plugin));
        let is_of_filter = |of: &Self| !matches!(of.aspect, Aspect::Storage | Aspect::Devices | Aspect::Group | Aspect::Other);
        match (at(self), at(other)) {
            // PreFilter rejects before every filter.
            _ if !is_of_filter(self) => true,
            (Some(own), Some(others)) if own == others => self.plugin != Some(PluginName::NodeResourcesFit),
            (Some(own), Some(others)) => own < others,
            _ => true,
        }
    }

    /// Returns the part of the cluster that it is about.
    pub(super) fn aspect(&self) -> &Aspect {
        &self.aspect
    }

    /// Returns whether a node has the reason.
    pub(super) fn is_among(&self, reasons: &[Reason]) -> bool {
        let newest = Release::NEWEST;
        reasons.iter().map(|reason| reason.text(newest)).any(|text| text == self.text)
    }
}

fn aspect(kind: ReasonKind, resource: &str) -> Aspect {
    use ReasonKind as K;
    match kind {
        K::Insufficient => Aspect::Room(resource.to_owned()),
        K::TooManyPods => Aspect::Room("pods".to_owned()),
        K::HostPortConflict => Aspect::Ports,
        K::NodeUnschedulable
        | K::NodeNotReady
        | K::NodeOutOfDisk
        | K::NodeNetworkUnavailable
        | K::NodeMemoryPressure
        | K::NodePidPressure
        | K::NodeDiskPressure
        | K::NodeLabelPresence
        | K::UntoleratedTaint
        | K::NodeAffinityMismatch
        | K::AddedAffinityMismatch
        | K::TopologyKeyMissing
        | K::FeaturesMissing => Aspect::Node,
        K::PodAffinityMismatch => Aspect::Affinity,
        K::PodAntiAffinity | K::ExistingPodAntiAffinity => Aspect::AntiAffinity,
        K::PodAffinityRules | K::ServiceAffinityViolated => Aspect::AnyAffinity,
        K::TopologySpreadSkew => Aspect::Spread,
        K::DiskConflict | K::ReadWriteOncePodConflict => Aspect::Disks,
        K::MaxVolumeCountExceeded => Aspect::VolumeCount,
        K::CsiDriverMissing
        | K::ClaimLookupFailed
        | K::NoVolumeToBind
        | K::VolumeNodeAffinityConflict
        | K::NotEnoughStorage
        | K::BoundVolumeMissing
        | K::UnboundImmediateClaims
        | K::EphemeralClaimPending
        | K::ClaimNotFound
        | K::ClaimLost
        | K::ClaimDeleting
        | K::ClaimNotOwned
        | K::ClaimNotMadeForPod
        | K::VolumeZoneConflict
        | K::VolumeNotFound
        | K::StorageClassNotFound
        | K::BindingModeUnset
        | K::ClaimWithoutVolumeAndClass
        | K::VolumeWithoutName
        | K::NotAmongNodes
        | K::FilteredOutByPreFilter => Aspect::Storage,
        K::CannotAllocateClaims
        | K::ResourceClaimUnavailable
        | K::InvalidResourcePools
        | K::ExtendedResourceMissing
        | K::ResourceClaimNotFound
        | K::ResourceClaimDeleting
        | K::ResourceClaimNotOwned
        | K::ResourceClaimNotCreated
        | K::DeviceClassNotFound => Aspect::Devices,
        K::PodGroupMissing | K::GangIncomplete | K::GroupGated | K::GangQuorumUnmet | K::GroupUnschedulable => Aspect::Group,
        _ => Aspect::Other,
    }
}

/// The nodes on which a change has an effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Reach {
    #[default]
    None,
    One(Str),
    All,
}

impl Reach {
    /// Returns whether it reaches a node.
    pub(super) fn covers(&self, node: &str) -> bool {
        match self {
            Self::None => false,
            Self::One(one) => one == node,
            Self::All => true,
        }
    }

    fn on(node: &Str, holds: bool) -> Self {
        if holds && !node.is_empty() { Self::One(node.clone()) } else { Self::None }
    }

    fn all(holds: bool) -> Self {
        if holds { Self::All } else { Self::None }
    }
}

/// Whether a reason came to a node or went from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Came,
    Went,
}

/// The pending pod that a decision is about, with its terms.
pub(super) struct Waiter<'a> {
    pod: &'a Pod,
    info: PodInfo,
    cluster: &'a Cluster,
}

impl<'a> Waiter<'a> {
    pub(super) fn new(pod: &'a Pod, cluster: &'a Cluster) -> Self {
        Self { pod, info: PodInfo::new(pod.clone().into()), cluster }
    }

    fn labels_of(&self, namespace: &Str) -> Labels {
        self.cluster.namespaces.named(namespace).map(|namespace| namespace.metadata.labels.clone()).unwrap_or_default()
    }

    fn any_matches(&self, terms: &[AffinityTerm], other: &Pod) -> bool {
        terms.iter().any(|term| term.matches(other, &self.labels_of(&other.metadata.namespace)))
    }

    /// Returns whether the pod and another one keep apart.
    fn keeps_apart_from(&self, other: &Pod) -> bool {
        let theirs = PodInfo::new(other.clone().into());
        self.any_matches(self.info.required_anti_affinity(), other) || self.any_matches(theirs.required_anti_affinity(), self.pod)
    }

    /// Returns whether one of the pod's spread constraints counts another pod. Without own constraints those of the profile apply.
    fn counts(&self, other: &Pod) -> bool {
        let constraints = &self.pod.spec.topology_spread_constraints;
        let counts = || constraints.iter().filter_map(|c| c.label_selector.as_ref()).any(|s| s.matches(&other.metadata.labels));
        other.metadata.namespace == self.pod.metadata.namespace && (constraints.is_empty() || counts())
    }

    /// Returns whether the pod uses a claim.
    fn uses_claim(&self, claim: &Key) -> bool {
        let of_volume = self.pod.spec.volumes.iter().any(|volume| {
            volume.persistent_volume_claim.as_ref().is_some_and(|source| source.claim_name == claim.name)
                || volume.ephemeral.is_some() && claim.name.starts_with(self.pod.metadata.name.as_str())
        });
        claim.namespace == self.pod.metadata.namespace && of_volume
    }

    /// Returns the nodes on which a change can have given a reason to nodes, or taken it from them.
    pub(super) fn reach(&self, change: &Change, reason: &Named, way: Way) -> Reach {
        if reason.aspect == Aspect::AnyAffinity {
            let of = |aspect| self.reach(change, &Named { aspect, ..reason.clone() }, way);
            return match of(Aspect::Affinity) {
                Reach::None => of(Aspect::AntiAffinity),
                found => found,
            };
        }
        match change {
            Change::Bound(pod) => self.placed(pod, &pod.node_name, reason, way),
            Change::Nominated(pod) => match way {
                // Filters run without nominated pods too, so these only give reasons. They count from the same priority on.
                Way::Came if pod.priority() >= self.pod.priority() => self.placed(pod, &pod.status.nominated_node_name, reason, way),
                _ => Reach::None,
            },
            Change::Going(pod) => Reach::all(reason.aspect == Aspect::Spread && self.counts(pod)),
            Change::Ended(pod) => Self::gone(Some((self, pod)), &pod.node_name, reason, way),
            Change::Evicted { node, .. } => Self::gone(None, node, reason, way),
            Change::Came(Object::Node(node)) => match way {
                Way::Came => Reach::on(&node.metadata.name, true).or(Reach::all(reason.aspect == Aspect::Spread)),
                Way::Went => Reach::on(&node.metadata.name, true),
            },
            Change::Changed(Object::Node(node)) => Self::node_changed(node, None, reason, way),
            Change::Came(object) | Change::Changed(object) => self.object(object, reason, way),
            Change::Seen(SeenChange { before, after, .. }) => self.seen(before, after.as_ref(), reason, way),
        }
    }

    fn seen(&self, before: &Object, after: Option<&Object>, reason: &Named, way: Way) -> Reach {
        match (before, after) {
            (Object::Pod(pod), None) => Self::gone(Some((self, pod)), &pod.node_name, reason, way),
            (Object::Node(before), Some(Object::Node(after))) => Self::node_changed(after, Some(before), reason, way),
            (Object::Node(node), None) => Reach::on(&node.metadata.name, true).or(Reach::all(matches!(
                (&reason.aspect, way),
                (Aspect::Spread, _) | (Aspect::Affinity, Way::Came) | (Aspect::AntiAffinity, Way::Went)
            ))),
            (Object::Pod(_), Some(_)) => Reach::None,
            // An object that goes takes the reasons that it gave when it came.
            (_, Some(after)) => self.object(after, reason, way),
            (before, None) => self.object(before, reason, if way == Way::Came { Way::Went } else { Way::Came }),
        }
    }

    /// A pod takes its place on a node.
    fn placed(&self, pod: &Pod, node: &Str, reason: &Named, way: Way) -> Reach {
        let came = way == Way::Came;
        match &reason.aspect {
            Aspect::Room(resource) => Reach::on(node, came && requests(pod, resource)),
            Aspect::Ports => Reach::on(node, came && pod.spec.host_port_list(true).next().is_some()),
            Aspect::AntiAffinity => Reach::all(came && self.keeps_apart_from(pod)),
            Aspect::Affinity => Reach::all(!came && self.any_matches(self.info.required_affinity(), pod)),
            // A pod more in one domain lets others fall behind, or lifts the lowest one.
            Aspect::Spread => Reach::all(self.counts(pod)),
            Aspect::Disks | Aspect::Storage => Reach::all(came && !pod.spec.volumes.is_empty()),
            Aspect::VolumeCount => Reach::on(node, came && !pod.spec.volumes.is_empty()),
            Aspect::Devices => Reach::all(came && !pod.spec.resource_claims.is_empty()),
            Aspect::Group => Reach::all(pod.group_key().is_some() && pod.group_key() == self.pod.group_key()),
            Aspect::Node | Aspect::AnyAffinity | Aspect::Other => Reach::None,
        }
    }

    /// A pod leaves its node.
    fn gone(pod: Option<(&Self, &Pod)>, node: &Str, reason: &Named, way: Way) -> Reach {
        let (came, went) = (way == Way::Came, way == Way::Went);
        let holds = |of: &dyn Fn(&Self, &Pod) -> bool| pod.is_none_or(|(waiter, pod)| of(waiter, pod));
        match &reason.aspect {
            Aspect::Room(resource) => Reach::on(node, went && holds(&|_, pod| requests(pod, resource))),
            Aspect::Ports => Reach::on(node, went && holds(&|_, pod| pod.spec.host_port_list(true).next().is_some())),
            Aspect::AntiAffinity => Reach::all(went && holds(&Self::keeps_apart_from)),
            Aspect::Affinity => Reach::all(came && holds(&|waiter, pod| waiter.any_matches(waiter.info.required_affinity(), pod))),
            Aspect::Spread => Reach::all(holds(&Self::counts)),
            Aspect::Disks => Reach::all(went && holds(&|_, pod| !pod.spec.volumes.is_empty())),
            Aspect::VolumeCount => Reach::on(node, went && holds(&|_, pod| !pod.spec.volumes.is_empty())),
            Aspect::Devices => Reach::all(went && holds(&|_, pod| !pod.spec.resource_claims.is_empty())),
            Aspect::Group => Reach::all(true),
            Aspect::Node | Aspect::Storage | Aspect::AnyAffinity | Aspect::Other => Reach::None,
        }
    }

    /// A node changes. Managed fields have no times of its status, so its room counts only where both states are known.
    fn node_changed(node: &Node, before: Option<&Node>, reason: &Named, way: Way) -> Reach {
        let name = &node.metadata.name;
        match &reason.aspect {
            Aspect::Room(resource) => {
                let amount = |node: &Node| node.status.allocatable.get(resource).map_or(0, |quantity| quantity.milli_value());
                let grew = before.map(|before| amount(node).cmp(&amount(before)));
                let wanted = if way == Way::Went { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less };
                Reach::on(name, grew == Some(wanted))
            }
            Aspect::Node | Aspect::Storage | Aspect::Devices => Reach::on(name, true),
            // Labels decide about domains, and so about other nodes too.
            Aspect::Affinity | Aspect::AntiAffinity | Aspect::Spread => Reach::All,
            _ => Reach::None,
        }
    }

    /// An object other than a pod or a node comes or changes.
    fn object(&self, object: &Object, reason: &Named, way: Way) -> Reach {
        let went = way == Way::Went;
        match (object, &reason.aspect) {
            (Object::CSINode(csi), Aspect::Storage | Aspect::VolumeCount) => Reach::on(&csi.metadata.name, true),
            (Object::VolumeAttachment(_), Aspect::VolumeCount) => Reach::all(!went),
            (Object::PersistentVolumeClaim(claim), Aspect::Storage) => Reach::all(!went || self.uses_claim(&claim.metadata.key())),
            (
                Object::PersistentVolume(_) | Object::StorageClass(_) | Object::CSIDriver(_) | Object::CSIStorageCapacity(_),
                Aspect::Storage,
            )
            | (
                Object::ResourceSlice(_) | Object::DeviceClass(_) | Object::DeviceTaintRule(_) | Object::ResourceClaimTemplate(_),
                Aspect::Devices,
            )
            | (Object::Namespace(_), Aspect::Affinity | Aspect::AntiAffinity)
            | (Object::PodGroup(_), Aspect::Group) => Reach::All,
            (Object::ResourceClaim(claim), Aspect::Devices) => {
                Reach::all(!went || claim.metadata.namespace == self.pod.metadata.namespace && !self.pod.spec.resource_claims.is_empty())
            }
            _ => Reach::None,
        }
    }

    /// Returns the nodes on which a change can alter what preemption finds: with [`Way::Went`], where it can make room possible; with
    /// [`Way::Came`], where it can end that.
    pub(super) fn reach_of_preemption(&self, change: &Change, way: Way) -> Reach {
        match change {
            Change::Bound(pod) => Reach::on(&pod.node_name, way == Way::Came || pod.priority() < self.pod.priority()),
            Change::Nominated(pod) => Reach::on(&pod.status.nominated_node_name, way == Way::Came),
            Change::Going(pod) | Change::Ended(pod) => Reach::on(&pod.node_name, true),
            Change::Evicted { node, .. } => Reach::on(node, true),
            Change::Came(Object::Node(node)) | Change::Changed(Object::Node(node)) => Reach::on(&node.metadata.name, true),
            Change::Seen(SeenChange { before: Object::Pod(pod), .. }) => Reach::on(&pod.node_name, true),
            Change::Seen(SeenChange { before: Object::Node(node), .. }) => Reach::on(&node.metadata.name, true),
            Change::Came(_) | Change::Changed(_) | Change::Seen(_) => Reach::None,
        }
    }
}

impl Reach {
    fn or(self, wider: Self) -> Self {
        if wider == Self::All { wider } else { self }
    }
}

/// Returns whether a change is one of a budget. Budgets decide which candidate is chosen, and never whether there is one.
pub(super) fn is_of_budget(change: &Change) -> bool {
    match change {
        Change::Came(object) | Change::Changed(object) | Change::Seen(SeenChange { before: object, .. }) => {
            matches!(object, Object::PodDisruptionBudget(_))
        }
        _ => false,
    }
}

/// Returns whether a pod requests a resource; every pod takes one of `pods`.
fn requests(pod: &Pod, resource: &str) -> bool {
    let spec = &pod.spec;
    let of_containers = || spec.containers.iter().chain(spec.init_containers.iter()).map(|container| &container.resources);
    let mut all = of_containers().chain(spec.resources.as_ref());
    resource == "pods"
        || spec.overhead.contains_key(resource)
        || all.any(|r| r.requests.contains_key(resource) || r.limits.contains_key(resource))
}
