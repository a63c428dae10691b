//! The names of fields of objects that are kept as JSON. A key that is none is a user's.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Fields of Kueue, JobSet, LeaderWorkerSet, Karpenter, Volcano, scheduler-plugins, KAI and cluster-autoscaler, and of HPAs. Those of
/// the objects of Kubernetes, pods among them, are in the schema by which etcd is read.
const OTHERS: &str = "\
    accumulatedPastExectutionTimeSeconds active admission admissionCheckStrategy admissionChecks admissionChecksStrategy admissionMode \
    admissionScope afs allocated apiVersion assignments averageUtilization averageValue backgroundCheck backoffLimit borrowWithinCohort \
    borrowed borrowingLimit bufferLimits budgets capability capacity capacityType clusterName clusterQueue clusterRef cohort cohortName \
    completions conditions configSpec consolidateAfter consolidationPolicy container controller coordinator count counts coveredResources \
    cpuCFSQuota createJobs createdAt currentReplicas current currentMetrics currentValue deadline delayedTopologyRequest depends \
    dependsOn deserved desiredReplicas disruption disruptions domains drainPolicy duration effect eligible enableDNSHostnames evictionHard \
    evictionMaxPodGracePeriod evictionSoft evictionSoftGracePeriod evictions exclusiveTopology expireAfter failed failureDomain failurePolicy \
    fairSharing finishedAt flavor flavorFungibility flavors flavorsReservation flavorsUsage generation groupName groupNames group guarantee \
    highestTierAllowed \
    hibernating imageGCHighThresholdPercent imageGCLowThresholdPercent imageID inflightRequests inUse items jobIndex kind kubeReserved \
    kubelet lastProbeTime lastPodFailure lastScaleTime lastTransitionTime leader leaderTemplate leaderWorkerTemplate lendingLimit levels \
    limits localQueues managedBy markUnschedulable maxCount maximumExecutionTimeSeconds maxPods maxReplicas maxSurge maxUnavailable \
    maxRestarts metric metrics metricName minAvailable minCount minMember minReplicas minResources minSubGroup minTaskMember minValues \
    name namespace namespaceSelector network networkConfig networkTopology nodeCount nodeClassRef nodeInfo nodeName nodes nodeTaints \
    nominalConcurrencyShares nominalQuota notReady numberOfPods object observedGeneration onFailure operator order overrideReclaimable \
    parallelism parameters parent parentName partitionSize pendingWorkloads pendingWorkloadsStatus phase podAnnotations podCount \
    podFixed podGroupRef podPhase podSet podSetAssignments podSetName podSetPreemptionPolicy podSets podSetUpdates podTemplateRef pods podsPerCore \
    policies policy preemptMode preemption preference preemptibility priority priorityBoost priorityClassName priorityClassRef \
    priorityClassSource provider providerID provisioningClassDetails provisioningClassName publishNotReadyAddresses quota quotas queue \
    queueName queueingStrategy ready readyReplicas reason replicatedJobs replicatedJobsStatus reasons reclaimable reclaimablePods \
    reclaimWithinCohort requeueAt requeueCount requeueState requests required requirements requiredTopology reservation reservations \
    reservedHugepages reservingWorkloads \
    resizePolicy resource resourceGroups resourceRequests resourceSpec resourceUsage resources restarts restartsCountTowardsMax \
    resyncPeriod rolloutStrategy rollingUpdateConfiguration roleName rules runHistoryLimit running scaleDown scaleTargetRef scaleUp schedule \
    scheduleTimeoutSeconds schedulingConditions schedulingBackoff schedulingStats scope selectPolicy selector size \
    sliceRequiredTopology sliceSize slices spec specs stabilizationWindowSeconds startupPolicy startupPolicyOrder startupTaints state \
    status statusList stopPolicy strategy subGroups subGroupPolicy subGroupSize subdomain subdomainPolicy succeeded successPolicy suspend \
    suspended systemReserved target targetReplicatedJobs taints template templates terminated terminationGracePeriod times tolerance \
    topologyAssignment topologyConstraint topologyName topologyRequest total transitionID ttlSecondsAfterFinished type unconstrained \
    unhealthyNodes unschedulable updatedReplicas usage value values version weight weightedShare whenCanBorrow whenCanPreempt \
    withinClusterQueue workerTemplate workload workloads workloadSliceName zones";

/// The schema by which etcd is read: indented lines are fields, with their number first.
const SCHEMA: &str = include_str!("../../read/etcd/schema.txt");

static FIELDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let of_kubernetes = SCHEMA.lines().filter(|line| line.starts_with(' ')).filter_map(|line| line.split_whitespace().nth(1));
    of_kubernetes.chain(OTHERS.split_whitespace()).collect()
});

/// Maps whose keys users choose, whatever they are.
pub(super) const FREE_MAPS: [&str; 7] =
    ["minTaskMember", "options", "parameters", "podAnnotations", "provisioningClassDetails", "volumeAttributes", "volumeContext"];

/// Returns whether a key is the name of a field.
pub(super) fn is_field(name: &str) -> bool {
    FIELDS.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_kubernetes_and_others_are_known() {
        for name in ["nodeSelector", "topologySpreadConstraints", "minMember", "replicatedJobs", "schedulingConditions", "podFixed"] {
            assert!(is_field(name), "{name}");
        }
        assert!(!is_field("payments"));
    }
}
