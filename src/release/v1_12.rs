//! kube-scheduler v1.12, with predicates and priorities. Also emulates v1.13 to v1.17.

use std::time::Duration;

use super::behaviour::{
    Algorithm, AssignedPods, AssignedUpdates, Backoff, BudgetRule, Candidates, ClassAdditions, DryRunReport, Eligibility, Importance,
    NodeEvents, NodeSearch, NodeUpdates, NodeUsage, NominationEnds, OtherEvents, Parking, PluginOrder, PotentialNodes, PreemptionCalls,
    RepeatedScores, ScoreFunctionName, TerminatingPods, VictimOrder, VolumeMatching, WithoutVictims,
};
use super::defaults::DefaultPlugin;
use super::gates::{Gate, OtherGates};
use super::patches::Minor;
use super::profile::{Part, Profile};
use super::v1_20;
use super::version::{Lifetime, Release};

/// Predicates in running order, and priorities with their weights. Mirrors `Ordering` in
/// `pkg/scheduler/algorithm/predicates/predicates.go` and `pkg/scheduler/algorithmprovider/defaults/defaults.go`.
static PREDICATES: &[DefaultPlugin] = &[
    DefaultPlugin::plain("CheckNodeCondition").without(Gate::TaintNodesByCondition),
    DefaultPlugin::plain("CheckNodeUnschedulable").with(Gate::TaintNodesByCondition).of(Lifetime::since(12)),
    DefaultPlugin::plain("GeneralPredicates"),
    DefaultPlugin::plain("NoDiskConflict"),
    DefaultPlugin::plain("PodToleratesNodeTaints"),
    DefaultPlugin::plain("MaxEBSVolumeCount"),
    DefaultPlugin::plain("MaxGCEPDVolumeCount"),
    DefaultPlugin::plain("MaxCSIVolumeCountPred").of(Lifetime::since(12)),
    DefaultPlugin::plain("MaxAzureDiskVolumeCount"),
    DefaultPlugin::plain("CheckVolumeBinding"),
    DefaultPlugin::plain("NoVolumeZoneConflict"),
    DefaultPlugin::plain("CheckNodeMemoryPressure").without(Gate::TaintNodesByCondition),
    DefaultPlugin::plain("CheckNodePIDPressure").without(Gate::TaintNodesByCondition),
    DefaultPlugin::plain("CheckNodeDiskPressure").without(Gate::TaintNodesByCondition),
    DefaultPlugin::plain("MatchInterPodAffinity"),
    DefaultPlugin::weighing("SelectorSpreadPriority", 1),
    DefaultPlugin::weighing("InterPodAffinityPriority", 1),
    DefaultPlugin::weighing("LeastRequestedPriority", 1),
    DefaultPlugin::weighing("BalancedResourceAllocation", 1),
    DefaultPlugin::weighing("NodePreferAvoidPodsPriority", 10000),
    DefaultPlugin::weighing("NodeAffinityPriority", 1),
    DefaultPlugin::weighing("TaintTolerationPriority", 1),
    DefaultPlugin::weighing("ImageLocalityPriority", 1).of(Lifetime::since(12)),
    DefaultPlugin::plain("Preempt"),
];

/// Known gates that the scheduler does not read.
const OTHER_GATES: &[OtherGates] = &[
    OtherGates {
        names: "AppArmor CPUManager CRIContainerLogRotation CSIPersistentVolume CustomPodDNS DevicePlugins DynamicKubeletConfig \
            ExpandPersistentVolumes GCERegionalPersistentDisk HugePages MountPropagation \
            PersistentLocalVolumes PodReadinessGates PodShareProcessNamespace ResourceQuotaScopeSelectors RotateKubeletClientCertificate \
            RotateKubeletServerCertificate ScheduleDaemonSetPods StorageObjectInUseProtection SupportIPVSProxyMode Sysctls \
            TokenRequest TokenRequestProjection VolumeSubpath",
        default: true,
        locked: false,
    },
    OtherGates {
        names: "BoundServiceAccountTokenVolume CSIBlockVolume CSIDriverRegistry CSINodeInfo DebugContainers \
            ExpandInUsePersistentVolumes ExperimentalHostUserNamespaceDefaulting HyperVContainer MountContainers QOSReserved RunAsGroup \
            RuntimeClass ServiceNodeExclusion SupportPodPidsLimit TTLAfterFinished TaintBasedEvictions VolumeSnapshotDataSource \
            VolumeSubpathEnvExpansion",
        default: false,
        locked: false,
    },
];

/// The release.
pub(super) const PROFILE: Profile = Profile {
    release: Release::patch(12, 0),
    since: Release::patch(12, 0),
    novelties: &[],
    verified: &[Part::Decisions],
    predicates: PREDICATES,
    default_arguments: &[],
    removed_plugins: &[],
    config_api_versions: &["componentconfig/v1alpha1", "kubescheduler.config.k8s.io/v1alpha1"],
    other_gates: OTHER_GATES,
    gate_dependencies: &[],
    behaviour: {
        let mut b = v1_20::PROFILE.behaviour;
        b.algorithm = Algorithm::PredicatesAndPriorities;
        b.cycle.plugin_order = PluginOrder::OverridesFirst;
        b.cycle.repeated_scores = RepeatedScores::CountedTwice;
        b.cycle.pre_filter_error_lost = false;
        b.cycle.score_max = 10;
        b.cycle.rejectors_noted = false;
        b.search.nodes = NodeSearch::Share { min_nodes: 100, percentage: 50 };
        b.search.one_node_without_scores = false;
        b.preemption.candidates = Candidates::All;
        b.preemption.tie_break = &[
            ScoreFunctionName::MinNumPDBViolations,
            ScoreFunctionName::MinHighestPriority,
            ScoreFunctionName::MinSumPriorities,
            ScoreFunctionName::MinNumPods,
        ];
        b.preemption.potential_nodes = PotentialNodes::NotUnresolvable;
        b.preemption.victims = VictimOrder::ViolatingFirst;
        b.preemption.terminating = TerminatingPods::All;
        b.preemption.without_victims = WithoutVictims::Chosen;
        b.preemption.dry_run = DryRunReport::Nothing;
        b.preemption.importance = Importance::Priority;
        b.preemption.budgets = BudgetRule::AsItStands;
        b.preemption.eligibility = Eligibility::Nomination;
        b.resources.sidecar_ports = false;
        b.resources.node_usage = NodeUsage::Containers;
        b.images.as_copied = false;
        b.volumes.matching = VolumeMatching::WithoutPhaseAndMode;
        b.volumes.attributes_compared = false;
        b.messages.end = "";
        b.queue.leftover = Duration::MAX;
        b.queue.backoff = Backoff::None;
        b.queue.parking = Parking::All;
        b.queue.node_events = NodeEvents::All;
        b.queue.other_events = OtherEvents::Volumes;
        b.queue.node_updates = NodeUpdates::Any;
        b.queue.assigned_updates = AssignedUpdates::One;
        b.queue.assigned_pods = AssignedPods::AffinityTerms;
        b.queue.nomination_ends = NominationEnds::Never;
        b.queue.class_additions = ClassAdditions::WaitForFirstConsumer;
        b.queue.preemption_calls = PreemptionCalls::VictimsFirst;
        b.queue.terminating_victims_deleted = true;
        b.queue.victims_marked = false;
        b
    },
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
