//! kube-scheduler v1.36.

pub(super) mod gates;

use std::time::Duration;

use super::behaviour::{
    AssumedUsage, BalanceScore, Behaviour, Candidates, CsiLimits, DeviceSelectors, ImageSources, InvalidPools, LeftOutNodes, LocalVolumes,
    MissingNodes, NarrowingOrder, NodeSearch, PotentialNodes, ScoreFunctionName, SidecarCheck, SpreadCounts, VictimOrder,
};
use super::profile::{Part, Profile};
use super::queue_behaviour::{
    AssignedPods, AssignedUpdates, Backoff, ClassAdditions, EventMatching, EventNames, GatedPods, NodeRegistrations, NodeUpdates,
    NominationEnds, PreemptionCalls, QueueBehaviour, VictimStatus,
};
use super::version::Release;

/// The release; its neighbours are written as what differs, with `..v1_36::PROFILE` for the rest.
pub(super) const PROFILE: Profile = Profile {
    release: Release::NEWEST,
    verified: &[Part::Decisions, Part::Queues, Part::Configuration],
    since: Release::patch(36, 0),
    default_arguments: &[],
    removed_plugins: &["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"],
    config_api_versions: &["kubescheduler.config.k8s.io/v1"],
    other_gates: gates::OTHER,
    gate_dependencies: gates::DEPENDENCIES,
    behaviour: Behaviour {
        search: NodeSearch::Adaptive { min_nodes: 100, min_percentage: 5 },
        candidates: Candidates::Sampled,
        tie_break: &[
            ScoreFunctionName::MinNumPDBViolations,
            ScoreFunctionName::MinHighestPriority,
            ScoreFunctionName::MinSumPriorities,
            ScoreFunctionName::MinNumPods,
            ScoreFunctionName::LatestStartTime,
        ],
        score_max: 100,
        leftover: Duration::from_secs(300),
        balance: BalanceScore::Change,
        balance_skips_best_effort: true,
        images: ImageSources::Volumes,
        devices_score: true,
        device_selectors: DeviceSelectors { includes: true, multiple_allocations: true, list_functions: true },
        incomplete_pools_serve: false,
        invalid_pools: InvalidPools::Rejection,
        has_stable_allocator: false,
        beta_zones_translated: true,
        idle_scores_skipped: true,
        oversized_is_unresolvable: true,
        sidecars_refused_in: SidecarCheck::PreFilter,
        sidecar_ports: true,
        assumed_usage: AssumedUsage::PerContainer,
        spread_counts: SpreadCounts::PerConstraint,
        local_volumes: LocalVolumes::Filter,
        volume_attributes_compared: true,
        csi_limits: CsiLimits::CsiNode,
        missing_claim_rejects: true,
        pre_filter_goes_on: true,
        no_node_left_is_unresolvable: true,
        narrowing_order: NarrowingOrder::ByName,
        narrowing_rejects: true,
        left_out: LeftOutNodes::NotAmongNodes,
        missing_nodes: MissingNodes::PassedOver,
        one_node_without_scores: true,
        potential_nodes: PotentialNodes::Unschedulable,
        victims: VictimOrder::ByImportance,
        message_end: "",
        queue: QueueBehaviour {
            event_names: EventNames::ResourceAndAction,
            event_matching: EventMatching::Contained,
            node_updates: NodeUpdates::All,
            assigned_updates: AssignedUpdates::ByProperty,
            assigned_pods: AssignedPods::All,
            nomination_ends: NominationEnds::Told,
            backoff: Backoff::ByRejections,
            gating_plugin_first: true,
            gated_pods: GatedPods::AskedByGate,
            taints_told_with_nodes: true,
            hints_count_nominated: true,
            own_update_helps_affinity: true,
            any_label_helps_affinity: false,
            restrictions_wait_for_claim_updates: false,
            limits_wait_for_claims: true,
            limits_wait_for_csi_node_updates: true,
            node_registrations: NodeRegistrations::ByProperty,
            tolerations_registered: true,
            class_additions: ClassAdditions::All,
            preemption_calls: PreemptionCalls::InCycle,
            terminating_victims_deleted: false,
            victim_status: VictimStatus::Own,
        },
    },
};
