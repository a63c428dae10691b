//! The reasons and scores of decisions, plugin by plugin: one row for each reason of each extension point and for each
//! way to a score.
//!
//! `*` in a text matches anything. A row that no recorded decision reaches gives the reason.

use serde_json::Value;

/// A recorded decision with its cluster.
pub(crate) struct Case {
    /// The cluster's objects.
    pub(crate) items: Vec<Value>,
    /// The pod's profile in the configuration; null for the defaults.
    pub(crate) profile: Value,
    /// The pod.
    pub(crate) pod: Value,
    /// The decision.
    pub(crate) expected: Value,
}

/// The part of a decision in which a row is searched.
#[derive(Clone, Copy)]
pub(crate) enum At {
    /// A PreEnqueue plugin's message.
    PreEnqueue,
    /// A PreFilter plugin's message.
    PreFilter,
    /// The status of all nodes that PreFilter plugins excluded together.
    Narrowed,
    /// One of the reasons of a node, with this code.
    Filter(&'static str),
    /// The status of PostFilter; its reasons are joined by commas.
    PostFilter,
    /// Why the pod may not preempt.
    Ineligible,
    /// One of the reasons of a node that was dry-run, with this code.
    DryRun(&'static str),
    /// The score function of this name was the last to run.
    ScoreFunction(Decides),
    /// The message of an attempt that ended in an error.
    Error,
    /// The plugin gave nodes different scores, in a matching case.
    Score(fn(&Case) -> bool),
    /// The decision matches.
    Outcome(fn(&Case) -> bool),
}

/// The effect of a score function on the choice.
#[derive(Clone, Copy)]
pub(crate) enum Decides {
    /// It left one candidate.
    Yes,
    /// It left several, and was the last function.
    Tied,
}

/// One possible statement of a decision.
pub(crate) struct Row {
    /// The plugin; empty for the framework.
    pub(crate) plugin: &'static str,
    /// The part of the decision to search.
    pub(crate) at: At,
    /// The text, or the branch in words.
    pub(crate) what: &'static str,
    /// Why no recorded decision reaches it.
    pub(crate) never: Option<&'static str>,
}

const U: &str = "Unschedulable";
const UNRESOLVABLE: &str = "UnschedulableAndUnresolvable";

const NOT_ADMITTED: &str = "the API server admits no such object";
const ONLY_OVER_TIME: &str = "it takes another pod's cycle before this one; a unit test has it";
const BOUND_AT_ONCE: &str = "a cycle here ends with the pod bound, so that no allocation is ever under way in another's";
const GATE_IS_OFF: &str = "the feature gate that it needs is off by default";
const ONLY_IN_OLDER_RELEASES: &str = "only older releases write it; their cases are in folders of their own";
const SAID_BEFORE: &str = "another plugin finds that first, and no recorded profile disables it on such a pod";

const fn row(plugin: &'static str, at: At, what: &'static str) -> Row {
    Row { plugin, at, what, never: None }
}

const fn never(plugin: &'static str, at: At, what: &'static str, why: &'static str) -> Row {
    Row { plugin, at, what, never: Some(why) }
}

const REJECTED_BEFORE_FILTER: [Row; 33] = [
    row("SchedulingGates", At::PreEnqueue, "waiting for scheduling gates: [*]"),
    never("DefaultPreemption", At::PreEnqueue, "waiting for the preemption for this pod to be finished", ONLY_OVER_TIME),
    row("DynamicResources", At::PreEnqueue, "pod \"*\": ResourceClaim not created yet"),
    row("DynamicResources", At::PreEnqueue, "could not find ResourceClaim \"*\""),
    row("DynamicResources", At::PreEnqueue, "resourceclaim \"*\" is being deleted"),
    row("DynamicResources", At::PreEnqueue, "ResourceClaim * was not created for Pod * (Pod is not owner)"),
    never("DynamicResources", At::PreEnqueue, "pod \"*\", spec.resourceClaim \"*\": none of the supported fields are set", NOT_ADMITTED),
    row("NodeAffinity", At::PreFilter, "pod affinity terms conflict"),
    never("InterPodAffinity", At::PreFilter, "parsing pod: *", NOT_ADMITTED),
    never("PodTopologySpread", At::Error, "running PreFilter plugin \"PodTopologySpread\": get constraints from pod: *", NOT_ADMITTED),
    row("VolumeRestrictions", At::PreFilter, "persistentvolumeclaim \"*\" not found"),
    never("VolumeBinding", At::PreFilter, "persistentvolumeclaim \"*\" not found", SAID_BEFORE),
    row("VolumeBinding", At::PreFilter, "waiting for ephemeral volume controller to create the persistentvolumeclaim \"*\""),
    row("VolumeBinding", At::PreFilter, "persistentvolumeclaim \"*\" bound to non-existent persistentvolume \"*\""),
    row("VolumeBinding", At::PreFilter, "persistentvolumeclaim \"*\" is being deleted"),
    row("VolumeBinding", At::PreFilter, "PVC * was not created for pod * (pod is not owner)"),
    row("VolumeBinding", At::PreFilter, "pod has unbound immediate PersistentVolumeClaims"),
    never(
        "VolumeBinding",
        At::Error,
        "running PreFilter plugin \"VolumeBinding\": VolumeBindingMode not set for StorageClass *",
        NOT_ADMITTED,
    ),
    never("VolumeZone", At::PreFilter, "PersistentVolumeClaim had no name", NOT_ADMITTED),
    never("VolumeZone", At::PreFilter, "persistentvolumeclaim \"*\" not found", SAID_BEFORE),
    row("VolumeZone", At::PreFilter, "PersistentVolumeClaim had no pv name and storageClass name"),
    never("VolumeZone", At::PreFilter, "storageclass.storage.k8s.io \"*\" not found", SAID_BEFORE),
    never("VolumeZone", At::PreFilter, "VolumeBindingMode not set for StorageClass \"*\"", NOT_ADMITTED),
    row("VolumeZone", At::PreFilter, "PersistentVolume had no name"),
    row("VolumeZone", At::PreFilter, "persistentvolume \"*\" not found"),
    row("DynamicResources", At::PreFilter, "request *: device class * does not exist"),
    never("DynamicResources", At::PreFilter, "resource claim *, request *: unknown request type", NOT_ADMITTED),
    never("DynamicResources", At::Error, "*request *: unsupported request type", NOT_ADMITTED),
    never(
        "DynamicResources",
        At::PreFilter,
        "resource claim *, request *: has subrequests, but the DRAPrioritizedList feature is disabled",
        "the feature gate is on by default",
    ),
    never("DynamicResources", At::PreFilter, "resource claim * is in the process of being allocated", BOUND_AT_ONCE),
    row("", At::Narrowed, "node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    never("", At::Narrowed, "node is filtered out by the prefilter result", ONLY_IN_OLDER_RELEASES),
    never("", At::Narrowed, "node(s) didn't satisfy plugin(s) [* *]", "NodeAffinity is the only plugin that leaves nodes out"),
];

const REJECTED_BY_FILTER: [Row; 50] = [
    row("NodeUnschedulable", At::Filter(UNRESOLVABLE), "node(s) were unschedulable"),
    never(
        "NodeName",
        At::Filter(UNRESOLVABLE),
        "node(s) didn't match the requested node name",
        "a pod that names its node is bound already",
    ),
    row("TaintToleration", At::Filter(UNRESOLVABLE), "node(s) had untolerated taint(s)"),
    row("NodeAffinity", At::Filter(UNRESOLVABLE), "node(s) didn't match Pod's node affinity/selector"),
    row("NodeAffinity", At::Filter(UNRESOLVABLE), "node(s) didn't match scheduler-enforced node affinity"),
    never("NodeLabel", At::Filter(UNRESOLVABLE), "node(s) didn't have the requested labels", ONLY_IN_OLDER_RELEASES),
    never("ServiceAffinity", At::Filter(U), "node(s) didn't match service affinity", ONLY_IN_OLDER_RELEASES),
    never("InterPodAffinity", At::Filter(U), "node(s) didn't match pod affinity/anti-affinity rules", ONLY_IN_OLDER_RELEASES),
    row("NodePorts", At::Filter(U), "node(s) didn't have free ports for the requested pod ports"),
    never(
        "NodeResourcesFit",
        At::Filter(U),
        "Pod has a restartable init container and the SidecarContainers feature is disabled",
        ONLY_IN_OLDER_RELEASES,
    ),
    row("NodeResourcesFit", At::Filter(U), "Too many pods"),
    row("NodeResourcesFit", At::Filter(U), "Insufficient cpu"),
    row("NodeResourcesFit", At::Filter(U), "Insufficient memory"),
    row("NodeResourcesFit", At::Filter(U), "Insufficient ephemeral-storage"),
    row("NodeResourcesFit", At::Filter(U), "Insufficient hugepages-*"),
    row("NodeResourcesFit", At::Filter(U), "Insufficient */*"),
    row("NodeResourcesFit", At::Filter(UNRESOLVABLE), "Too many pods"),
    row("NodeResourcesFit", At::Filter(UNRESOLVABLE), "Insufficient cpu"),
    row("NodeResourcesFit", At::Filter(UNRESOLVABLE), "Insufficient memory"),
    row("NodeResourcesFit", At::Filter(UNRESOLVABLE), "Insufficient ephemeral-storage"),
    row("NodeResourcesFit", At::Filter(UNRESOLVABLE), "Insufficient hugepages-*"),
    row("NodeResourcesFit", At::Filter(UNRESOLVABLE), "Insufficient */*"),
    row("VolumeRestrictions", At::Filter(U), "node(s) had no available disk"),
    row(
        "VolumeRestrictions",
        At::Filter(U),
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    ),
    row("NodeVolumeLimits", At::Filter(U), "node(s) exceed max volume count"),
    row("NodeVolumeLimits", At::Filter(UNRESOLVABLE), "looking up PVC *: persistentvolumeclaim \"*\" not found"),
    never("NodeVolumeLimits", At::Filter(U), "* CSI driver is not installed on the node", GATE_IS_OFF),
    row("VolumeBinding", At::Filter(UNRESOLVABLE), "node(s) didn't match PersistentVolume's node affinity"),
    row("VolumeBinding", At::Filter(UNRESOLVABLE), "node(s) didn't find available persistent volumes to bind"),
    row("VolumeBinding", At::Filter(UNRESOLVABLE), "node(s) did not have enough free storage"),
    row("VolumeBinding", At::Filter(UNRESOLVABLE), "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
    row("VolumeZone", At::Filter(UNRESOLVABLE), "node(s) had no available volume zone"),
    row("PodTopologySpread", At::Filter(U), "node(s) didn't match pod topology spread constraints"),
    row("PodTopologySpread", At::Filter(UNRESOLVABLE), "node(s) didn't match pod topology spread constraints (missing required label)"),
    row("InterPodAffinity", At::Filter(UNRESOLVABLE), "node(s) didn't match pod affinity rules"),
    row("InterPodAffinity", At::Filter(U), "node(s) didn't match pod anti-affinity rules"),
    row("InterPodAffinity", At::Filter(U), "node(s) didn't satisfy existing pods anti-affinity rules"),
    row("DynamicResources", At::Filter(UNRESOLVABLE), "cannot allocate all claims"),
    row("DynamicResources", At::Filter(UNRESOLVABLE), "resourceclaim not available on the node"),
    row("DynamicResources", At::Filter(UNRESOLVABLE), "cannot fit resource"),
    row("DynamicResources", At::Filter(UNRESOLVABLE), "cannot schedule extended resource claim"),
    row("DynamicResources", At::Filter(UNRESOLVABLE), "invalid resource pools were encountered"),
    never("DynamicResources", At::Error, "*timed out trying to allocate devices", "it depends on the machine's speed"),
    row("NodeDeclaredFeatures", At::Filter(UNRESOLVABLE), "node(s) didn't match Pod's required features"),
    row("", At::Error, "running \"*\" filter plugin: *"),
    row("", At::Error, "profile not found for scheduler name \"*\""),
    row("", At::Error, "skip schedule deleting pod: *"),
    row("", At::Error, "no nodes available to schedule pods"),
    row("", At::Outcome(nominated_node), "the nominated node still fits, and no other is looked at"),
    row("", At::Outcome(only_feasible_node), "one node fits, and nothing is scored"),
];

/// Reasons of predicates, and of plugins until v1.21.
const WRITTEN_ONCE: [Row; 9] = [
    never("CheckNodeCondition", At::Filter(UNRESOLVABLE), "node(s) were not ready", ONLY_IN_OLDER_RELEASES),
    never("CheckNodeCondition", At::Filter(UNRESOLVABLE), "node(s) were out of disk space", ONLY_IN_OLDER_RELEASES),
    never("CheckNodeCondition", At::Filter(UNRESOLVABLE), "node(s) had unavailable network", ONLY_IN_OLDER_RELEASES),
    never("CheckNodeMemoryPressure", At::Filter(UNRESOLVABLE), "node(s) had memory pressure", ONLY_IN_OLDER_RELEASES),
    never("CheckNodePIDPressure", At::Filter(UNRESOLVABLE), "node(s) had pid pressure", ONLY_IN_OLDER_RELEASES),
    never("CheckNodeDiskPressure", At::Filter(UNRESOLVABLE), "node(s) had disk pressure", ONLY_IN_OLDER_RELEASES),
    never("CheckNodeLabelPresence", At::Filter(UNRESOLVABLE), "node(s) didn't have the requested labels", ONLY_IN_OLDER_RELEASES),
    never("CheckServiceAffinity", At::Filter(U), "node(s) didn't match service affinity", ONLY_IN_OLDER_RELEASES),
    never("InterPodAffinity", At::Filter(U), "node(s) didn't match pod affinity/anti-affinity rules", ONLY_IN_OLDER_RELEASES),
];

const PREEMPTION: [Row; 34] = [
    row("DefaultPreemption", At::Ineligible, "not eligible due to preemptionPolicy=Never."),
    row("DefaultPreemption", At::Ineligible, "not eligible due to a terminating pod on the nominated node."),
    row("DefaultPreemption", At::Ineligible, "plugin DefaultPreemption is not enabled"),
    never(
        "DefaultPreemption",
        At::Ineligible,
        "no candidate node for preemption",
        "one is chosen only where there are candidates, and one of them is always best",
    ),
    row("DefaultPreemption", At::PostFilter, "*Preemption is not helpful for scheduling*"),
    row("DefaultPreemption", At::DryRun(UNRESOLVABLE), "No preemption victims found for incoming pod"),
    never(
        "DefaultPreemption",
        At::DryRun("Error"),
        "expected at least one victim pod on node \"*\"",
        "a node that takes the pod with everybody back had not turned it down",
    ),
    row("DefaultPreemption", At::DryRun(U), "Insufficient cpu"),
    row("DefaultPreemption", At::DryRun(UNRESOLVABLE), "Insufficient cpu"),
    row("DefaultPreemption", At::DryRun(U), "Insufficient memory"),
    row("DefaultPreemption", At::DryRun(U), "Insufficient */*"),
    row("DefaultPreemption", At::DryRun(U), "Too many pods"),
    row("DefaultPreemption", At::DryRun(U), "node(s) didn't have free ports for the requested pod ports"),
    row("DefaultPreemption", At::DryRun(U), "node(s) didn't match pod anti-affinity rules"),
    row("DefaultPreemption", At::DryRun(U), "node(s) didn't match pod topology spread constraints"),
    row("DefaultPreemption", At::DryRun(U), "node(s) didn't satisfy existing pods anti-affinity rules"),
    row("DefaultPreemption", At::DryRun(U), "node(s) exceed max volume count"),
    row("DefaultPreemption", At::DryRun(U), "node(s) had no available disk"),
    row("DefaultPreemption", At::DryRun(U), "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode *"),
    row("DefaultPreemption", At::DryRun(UNRESOLVABLE), "cannot allocate all claims"),
    row("DefaultPreemption", At::DryRun(UNRESOLVABLE), "node(s) didn't match PersistentVolume's node affinity"),
    row("DefaultPreemption", At::DryRun(UNRESOLVABLE), "node(s) didn't match pod affinity rules"),
    row("DefaultPreemption", At::DryRun(UNRESOLVABLE), "*(missing required label)"),
    row("DefaultPreemption", At::ScoreFunction(Decides::Yes), "MinNumPDBViolations"),
    row("DefaultPreemption", At::ScoreFunction(Decides::Yes), "MinHighestPriority"),
    row("DefaultPreemption", At::ScoreFunction(Decides::Yes), "MinSumPriorities"),
    row("DefaultPreemption", At::ScoreFunction(Decides::Yes), "MinNumPods"),
    row("DefaultPreemption", At::ScoreFunction(Decides::Yes), "LatestStartTime"),
    row("DefaultPreemption", At::ScoreFunction(Decides::Tied), "LatestStartTime"),
    row("DynamicResources", At::PostFilter, "no new claims to deallocate*"),
    row("DynamicResources", At::PostFilter, "deallocation of ResourceClaim completed*"),
    row("DynamicResources", At::PostFilter, "deletion of ResourceClaim completed*"),
    row("DynamicResources", At::PostFilter, "still not schedulable*"),
    row("DynamicResources", At::PostFilter, "not found"),
];

const SCORED: [Row; 27] = [
    row("NodeResourcesFit", At::Score(|c| c.strategy() == "LeastAllocated"), "LeastAllocated"),
    row("NodeResourcesFit", At::Score(|c| c.strategy() == "MostAllocated"), "MostAllocated"),
    row("NodeResourcesFit", At::Score(|c| c.strategy() == "RequestedToCapacityRatio"), "RequestedToCapacityRatio"),
    row("NodeResourcesFit", At::Score(|c| c.rates("NodeResourcesFit", "example.com/")), "extended resources"),
    row("NodeResourcesFit", At::Score(|c| c.rates("NodeResourcesFit", "hugepages-")), "hugepages"),
    row("NodeResourcesFit", At::Score(|c| c.rates("NodeResourcesFit", "deviceclass.")), "extended resources that devices back"),
    row("NodeResourcesBalancedAllocation", At::Score(|c| c.resources("NodeResourcesBalancedAllocation").is_empty()), "cpu and memory"),
    row(
        "NodeResourcesBalancedAllocation",
        At::Score(|c| c.resources("NodeResourcesBalancedAllocation").len() > 2),
        "three or more resources",
    ),
    row("NodeResourcesBalancedAllocation", At::Outcome(|c| c.skips("NodeResourcesBalancedAllocation")), "nothing asked for: skipped"),
    row("ImageLocality", At::Score(|_| true), "images that are there"),
    row("TaintToleration", At::Score(|_| true), "intolerable PreferNoSchedule taints"),
    row("NodeAffinity", At::Score(|c| c.prefers("nodeAffinity")), "preferred by the pod"),
    row("NodeAffinity", At::Score(|c| !c.prefers("nodeAffinity")), "preferred by the profile alone"),
    row("NodeAffinity", At::Outcome(|c| c.skips("NodeAffinity")), "nothing preferred: skipped"),
    row("PodTopologySpread", At::Score(Case::spreads), "the pod's constraints"),
    row("PodTopologySpread", At::Score(|c| !c.spreads() && !c.lists_constraints()), "the system's default constraints"),
    row("PodTopologySpread", At::Score(|c| !c.spreads() && c.lists_constraints()), "the profile's default constraints"),
    row("PodTopologySpread", At::Outcome(|c| c.skips("PodTopologySpread")), "no constraints: skipped"),
    row("InterPodAffinity", At::Score(|c| c.prefers("podAffinity")), "preferred by the pod"),
    row("InterPodAffinity", At::Score(|c| c.prefers("podAntiAffinity")), "avoided by the pod"),
    row(
        "InterPodAffinity",
        At::Score(|c| !c.prefers("podAffinity") && !c.prefers("podAntiAffinity")),
        "preferred or required by other pods",
    ),
    row("InterPodAffinity", At::Score(|c| !c.args("InterPodAffinity")["hardPodAffinityWeight"].is_null()), "hardPodAffinityWeight"),
    row("InterPodAffinity", At::Outcome(|c| c.skips("InterPodAffinity")), "no terms: skipped"),
    row("DynamicResources", At::Score(|_| true), "first or later alternative of a request"),
    never("VolumeBinding", At::Score(|_| true), "storage capacity", GATE_IS_OFF),
    row("", At::Outcome(|c| c.expected["bestNodes"].as_array().is_some_and(|n| n.len() > 1)), "several nodes share the highest score"),
    row("", At::Outcome(Case::weighs), "weights of the profile's own"),
];

/// Pod groups; the recorded runs `runs-gang` have them.
const POD_GROUPS: [Row; 17] = [
    never("GangScheduling", At::PreEnqueue, "waiting for pods's pod group \"*\" to appear in scheduling queue", GATE_IS_OFF),
    never("GangScheduling", At::PreEnqueue, "waiting for minCount pods from a gang to appear in scheduling queue", GATE_IS_OFF),
    never("DefaultPreemption", At::PreEnqueue, "waiting for the preemption for this pod group to be finished", GATE_IS_OFF),
    never("GangScheduling", At::Error, "waiting for minCount pods from a gang to be scheduled", GATE_IS_OFF),
    never("", At::Error, "one or more plugins asked to wait and no plugin rejected pod", GATE_IS_OFF),
    never("", At::Error, "pod group is unschedulable", GATE_IS_OFF),
    never("", At::Error, "pod group is waiting for preemption to complete", GATE_IS_OFF),
    never("", At::Error, "no feasible placements found", GATE_IS_OFF),
    never("", At::Error, "no pods were schedulable", GATE_IS_OFF),
    never("DynamicResources", At::PostFilter, "plugin disabled", GATE_IS_OFF),
    never("DefaultPreemption", At::PostFilter, "No preemption victims found for incoming preemptor", GATE_IS_OFF),
    never("DefaultPreemption", At::PostFilter, "ongoing preemption on nominated nodes", GATE_IS_OFF),
    never(
        "DefaultPreemption",
        At::PostFilter,
        "workload aware preemption is not supported for pod groups with scheduling constraints",
        GATE_IS_OFF,
    ),
    never(
        "DefaultPreemption",
        At::PostFilter,
        "default preemption plugin is not registered, workload aware preemption is disabled",
        GATE_IS_OFF,
    ),
    never("DefaultPreemption", At::Ineligible, "not eligible due to workload aware preemption enabled", GATE_IS_OFF),
    never("DefaultPreemption", At::Ineligible, "not eligible due to placement-based pod group scheduling limitation", GATE_IS_OFF),
    never("DefaultPreemption", At::Ineligible, "pod group for pod not found", GATE_IS_OFF),
];

/// All rows, in the order of a cycle.
pub(crate) fn rows() -> Vec<Row> {
    REJECTED_BEFORE_FILTER
        .into_iter()
        .chain(REJECTED_BY_FILTER)
        .chain(WRITTEN_ONCE)
        .chain(PREEMPTION)
        .chain(SCORED)
        .chain(POD_GROUPS)
        .collect()
}

fn only_feasible_node(case: &Case) -> bool {
    case.expected["outcome"] == "scheduled" && case.feasible() == 1 && case.pod["status"]["nominatedNodeName"].is_null()
}

/// Only one node was filtered although there are more, because the pod is nominated to it.
fn nominated_node(case: &Case) -> bool {
    let looked_at = case.feasible() + case.expected["filter"].as_array().map_or(0, Vec::len);
    let nodes = case.items.iter().filter(|o| o["kind"] == "Node").count();
    let nominated = &case.pod["status"]["nominatedNodeName"];
    nominated.is_string() && case.expected["node"] == *nominated && looked_at == 1 && nodes > 1 && case.expected["absent"].is_null()
}

impl Case {
    fn feasible(&self) -> usize {
        self.expected["feasible"].as_array().map_or(0, Vec::len)
    }

    /// Returns the arguments of a plugin in the profile.
    fn args(&self, plugin: &str) -> &Value {
        let configured = self.profile["pluginConfig"].as_array();
        configured.and_then(|all| all.iter().find(|c| c["name"] == plugin)).map_or(&Value::Null, |c| &c["args"])
    }

    fn strategy(&self) -> &str {
        self.args("NodeResourcesFit")["scoringStrategy"]["type"].as_str().unwrap_or("LeastAllocated")
    }

    /// Returns the resources that a plugin's arguments name.
    fn resources(&self, plugin: &str) -> Vec<&str> {
        let args = self.args(plugin);
        let list = args["scoringStrategy"]["resources"].as_array().or(args["resources"].as_array());
        list.into_iter().flatten().filter_map(|r| r["name"].as_str()).collect()
    }

    fn rates(&self, plugin: &str, part: &str) -> bool {
        self.resources(plugin).iter().any(|r| r.contains(part))
    }

    fn prefers(&self, affinity: &str) -> bool {
        let terms = &self.pod["spec"]["affinity"][affinity]["preferredDuringSchedulingIgnoredDuringExecution"];
        terms.as_array().is_some_and(|t| !t.is_empty())
    }

    fn spreads(&self) -> bool {
        let constraints = self.pod["spec"]["topologySpreadConstraints"].as_array();
        constraints.is_some_and(|all| all.iter().any(|c| c["whenUnsatisfiable"] == "ScheduleAnyway"))
    }

    fn lists_constraints(&self) -> bool {
        self.args("PodTopologySpread")["defaultingType"] == "List"
    }

    fn scores(&self) -> impl Iterator<Item = &Value> {
        self.expected["score"].as_array().into_iter().flatten()
    }

    /// Whether nodes were scored without the plugin.
    fn skips(&self, plugin: &str) -> bool {
        self.scores().count() > 1 && self.scores().all(|n| n["plugins"][plugin].is_null())
    }

    fn weighs(&self) -> bool {
        let plugins = &self.profile["plugins"];
        let sets = ["score", "multiPoint"].map(|set| plugins[set]["enabled"].as_array());
        self.scores().count() > 1 && sets.into_iter().flatten().flatten().any(|p| p["weight"].as_i64().is_some_and(|w| w > 0))
    }
}

impl Row {
    /// Whether a case reaches the row.
    pub(crate) fn is_in(&self, case: &Case) -> bool {
        let expected = &case.expected;
        let mine = |verdict: &Value| verdict["plugin"] == self.plugin && matches(self.what, &verdict["message"]);
        let reasons = |list: &Value, code: &str, plugin: &str| {
            let nodes = list.as_array().into_iter().flatten().filter(|n| n["code"] == code && (plugin.is_empty() || n["plugin"] == plugin));
            nodes.flat_map(|n| n["reasons"].as_array().into_iter().flatten()).any(|r| matches(self.what, r))
        };
        let preemption = &expected["preemption"];
        match self.at {
            At::PreEnqueue => mine(&expected["preEnqueue"]),
            At::PreFilter => mine(&expected["preFilter"]),
            At::Narrowed => expected["absent"]["reasons"].as_array().into_iter().flatten().any(|r| matches(self.what, r)),
            At::Filter(code) => reasons(&expected["filter"], code, self.plugin),
            At::PostFilter => matches(self.what, &preemption["status"]["message"]),
            At::Ineligible => matches(self.what, &preemption["ineligibleReason"]),
            At::DryRun(code) => reasons(&preemption["nodeStatuses"], code, ""),
            At::ScoreFunction(decides) => {
                let last = preemption["scoreFunctions"].as_array().and_then(|f| f.last());
                let left = last.and_then(|f| f["remaining"].as_array()).map_or(0, Vec::len);
                let right = if matches!(decides, Decides::Yes) { left == 1 } else { left > 1 };
                right && last.is_some_and(|f| f["name"] == self.what)
            }
            At::Error => matches(self.what, &expected["message"]),
            At::Score(like) => {
                let mut values = case.scores().map(|n| &n["plugins"][self.plugin]);
                let first = values.next();
                values.any(|v| Some(v) != first) && like(case)
            }
            At::Outcome(like) => like(case),
        }
    }

    /// Describes the part of the decision to search.
    pub(crate) fn place(&self) -> String {
        match self.at {
            At::PreEnqueue => "PreEnqueue".to_owned(),
            At::PreFilter => "PreFilter".to_owned(),
            At::Narrowed => "PreFilter, together".to_owned(),
            At::Filter(code) => format!("Filter, {}", short(code)),
            At::PostFilter => "PostFilter".to_owned(),
            At::Ineligible => "eligibility".to_owned(),
            At::DryRun(code) => format!("dry run, {}", short(code)),
            At::ScoreFunction(Decides::Yes) => "score function decides".to_owned(),
            At::ScoreFunction(Decides::Tied) => "score function ties".to_owned(),
            At::Error => "error".to_owned(),
            At::Score(_) => "Score".to_owned(),
            At::Outcome(_) => "outcome".to_owned(),
        }
    }
}

fn short(code: &str) -> &str {
    if code == UNRESOLVABLE { "unresolvable" } else { code }
}

/// Whether a text matches a pattern in which `*` matches anything.
fn matches(pattern: &str, text: &Value) -> bool {
    let Some(mut rest) = text.as_str() else { return false };
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
