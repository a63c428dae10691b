//! kube-scheduler v1.12, with predicates and priorities. Also emulates v1.13 to v1.17.

use std::time::Duration;

use super::behaviour::{
    Algorithm, Behaviour, BudgetRule, Candidates, DryRunReport, Eligibility, Importance, NodeSearch, NodeUsage, PluginOrder,
    PotentialNodes, RepeatedScores, ScoreFunctionName, TerminatingPods, VictimOrder, VolumeMatching, WithoutVictims,
};
use super::defaults::DefaultPlugin;
use super::gates::{Gate, OtherGates};
use super::patches::Minor;
use super::profile::{Part, Profile};
use super::queue_behaviour::{
    AssignedPods, AssignedUpdates, Backoff, ClassAdditions, NodeEvents, NodeUpdates, NominationEnds, OtherEvents, Parking, PreemptionCalls,
    QueueBehaviour,
};
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
    behaviour: Behaviour {
        algorithm: Algorithm::PredicatesAndPriorities,
        plugin_order: PluginOrder::OverridesFirst,
        repeated_scores: RepeatedScores::CountedTwice,
        pre_filter_error_lost: false,
        search: NodeSearch::Share { min_nodes: 100, percentage: 50 },
        candidates: Candidates::All,
        tie_break: &[
            ScoreFunctionName::MinNumPDBViolations,
            ScoreFunctionName::MinHighestPriority,
            ScoreFunctionName::MinSumPriorities,
            ScoreFunctionName::MinNumPods,
        ],
        score_max: 10,
        leftover: Duration::MAX,
        images_as_copied: false,
        sidecar_ports: false,
        node_usage: NodeUsage::Containers,
        volume_matching: VolumeMatching::WithoutPhaseAndMode,
        volume_attributes_compared: false,
        rejectors_noted: false,
        one_node_without_scores: false,
        potential_nodes: PotentialNodes::NotUnresolvable,
        victims: VictimOrder::ViolatingFirst,
        terminating: TerminatingPods::All,
        without_victims: WithoutVictims::Chosen,
        dry_run: DryRunReport::Nothing,
        importance: Importance::Priority,
        budgets: BudgetRule::AsItStands,
        eligibility: Eligibility::Nomination,
        message_end: "",
        queue: QueueBehaviour {
            backoff: Backoff::None,
            parking: Parking::All,
            node_events: NodeEvents::All,
            other_events: OtherEvents::Volumes,
            node_updates: NodeUpdates::Any,
            assigned_updates: AssignedUpdates::One,
            assigned_pods: AssignedPods::AffinityTerms,
            nomination_ends: NominationEnds::Never,
            class_additions: ClassAdditions::WaitForFirstConsumer,
            preemption_calls: PreemptionCalls::VictimsFirst,
            terminating_victims_deleted: true,
            victims_marked: false,
            ..v1_20::PROFILE.behaviour.queue
        },
        ..v1_20::PROFILE.behaviour
    },
};

/// The patches.
pub(super) const MINOR: Minor = Minor::of_one(PROFILE);
