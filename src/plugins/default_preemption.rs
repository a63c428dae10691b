//! `DefaultPreemption`: `PostFilter` and `PreEnqueue`. Mirrors
//! `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`, on top of [`crate::preemption`].

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cluster::Pod;
use crate::framework::{
    ActionType, ClusterEvent, ClusterEventWithHint, Code, Context, CycleState, EventResource, FieldErrors, Plugin, PodInfo,
    PostFilterContext, PostFilterPlugin, PostFilterResult, PreEnqueuePlugin, PreemptionRecord, QueueingHint, Reason, Status,
};
use crate::preemption::{CandidateLimits, Evaluator, Preemption};
use crate::release::{Emulation, Gate, PreemptionText};

/// `kubescheduler.config.k8s.io/v1.DefaultPreemptionArgs`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "ArgsWire")]
pub struct DefaultPreemptionArgs {
    /// Minimum number of candidates, in per cent of the potential nodes.
    pub min_candidate_nodes_percentage: i32,
    /// Minimum number of candidates, in nodes.
    pub min_candidate_nodes_absolute: i32,
}

impl Default for DefaultPreemptionArgs {
    fn default() -> Self {
        Self { min_candidate_nodes_percentage: 10, min_candidate_nodes_absolute: 100 }
    }
}

impl DefaultPreemptionArgs {
    /// Validates the arguments; mirrors `ValidateDefaultPreemptionArgs`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let (percentage, absolute) = (self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute);
        let mut errors = FieldErrors::default();
        if !(0..=100).contains(&percentage) {
            errors.invalid("minCandidateNodesPercentage", &percentage, "not in valid range [0, 100]");
        }
        if absolute < 0 {
            errors.invalid("minCandidateNodesAbsolute", &absolute, "not in valid range [0, inf)");
        }
        if percentage == 0 && absolute == 0 {
            let same_time = "cannot be zero at the same time as";
            errors.invalid("minCandidateNodesPercentage", &0, format!("{same_time} minCandidateNodesAbsolute"));
            errors.invalid("minCandidateNodesAbsolute", &0, format!("{same_time} minCandidateNodesPercentage"));
        }
        errors.into_result()
    }
}

/// The serialized arguments: fields may be absent or null, and the object may name its type.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ArgsWire {
    #[serde(rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    min_candidate_nodes_percentage: Option<i32>,
    min_candidate_nodes_absolute: Option<i32>,
}

impl From<ArgsWire> for DefaultPreemptionArgs {
    fn from(wire: ArgsWire) -> Self {
        let defaults = Self::default();
        Self {
            min_candidate_nodes_percentage: wire.min_candidate_nodes_percentage.unwrap_or(defaults.min_candidate_nodes_percentage),
            min_candidate_nodes_absolute: wire.min_candidate_nodes_absolute.unwrap_or(defaults.min_candidate_nodes_absolute),
        }
    }
}

/// Makes room for a pod by evicting pods of lower priority.
#[derive(Clone, Debug)]
pub struct DefaultPreemption {
    args: DefaultPreemptionArgs,
}

impl DefaultPreemption {
    /// Makes the plugin with its arguments.
    pub fn new(args: DefaultPreemptionArgs) -> Self {
        Self { args }
    }

    fn evaluator<'a>(&self, cx: &'a PostFilterContext<'a>) -> Evaluator<'a> {
        let (percentage, absolute) = (self.args.min_candidate_nodes_percentage, self.args.min_candidate_nodes_absolute);
        Evaluator::new(cx, CandidateLimits { percentage, absolute })
    }
}

impl Plugin for DefaultPreemption {
    plugin!(DefaultPreemption: pre_enqueue, post_filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        if !emulation.enabled(Gate::SchedulerAsyncPreemption) {
            return Some(Vec::new());
        }
        // The event ungates pods; the plugins that rejected a pod decide whether to retry it.
        let event = ClusterEvent::new(EventResource::Pod, ActionType::DELETE);
        Some(vec![ClusterEventWithHint { event, hint: Some(Arc::new(|_, _, _| Ok(QueueingHint::QueueSkip))) }])
    }
}

impl PreEnqueuePlugin for DefaultPreemption {
    fn pre_enqueue(&self, cx: &Context<'_>, pod: &Pod, preempting: bool) -> Status {
        if preempting && cx.emulation.enabled(Gate::SchedulerAsyncPreemption) {
            let of_group = pod.spec.scheduling_group.is_some() && cx.emulation.enabled(Gate::WorkloadAwarePreemption);
            return Status::rejected(if of_group { Reason::GroupPreemptionInProgress } else { Reason::PreemptionInProgress });
        }
        Status::success()
    }
}

/// Why a member of a group does not preempt by itself; `None` where it may.
fn left_to_group(cx: &Context<'_>, pod: &Pod) -> Option<Reason> {
    let key = pod.group_key()?;
    if cx.emulation.enabled(Gate::TopologyAwareWorkloadScheduling) {
        match cx.cluster.pod_groups.get(&key) {
            None => return Some(Reason::PreemptorGroupMissing),
            Some(group) if group.spec.scheduling_constraints.is_some() => return Some(Reason::PreemptionLimitedByPlacements),
            Some(_) => {}
        }
    }
    cx.emulation.enabled(Gate::WorkloadAwarePreemption).then_some(Reason::PreemptionLeftToGroup)
}

impl PostFilterPlugin for DefaultPreemption {
    fn post_filter(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> PostFilterResult {
        if let Some(reason) = left_to_group(&cx.cx, &pod.pod) {
            let status = Status::rejected(Reason::Preemption { reason: Box::new(reason) });
            return PostFilterResult { status, nominating: None, preemption: None, writes: Vec::new() };
        }
        let Preemption { mut status, nominating, record } = self.evaluator(cx).preempt(state, pod);
        if let Some(chosen) = record.selected().filter(|_| status.is_success() && cx.cx.emulation.behaviour().preemption_announced) {
            let victims = record.candidates().find(|c| c.node == *chosen).map_or(0, |c| c.victims.len());
            let found = Reason::PlacementFound { node: chosen.clone(), victims };
            status = Status::new(Code::Success, [Reason::Preemption { reason: Box::new(found) }]);
            return PostFilterResult { status, nominating, preemption: Some(Arc::new(record)), writes: Vec::new() };
        }
        let message = status.message();
        if !message.is_empty() {
            let code = status.code();
            status = match cx.cx.emulation.behaviour().preemption_text {
                PreemptionText::Prefixed => Status::new(code, [format!("preemption: {message}")]),
                PreemptionText::None if !status.is_error() => Status::new(code, Vec::<Reason>::new()),
                PreemptionText::Plain | PreemptionText::None => status,
            };
        }
        PostFilterResult { status, nominating, preemption: Some(Arc::new(record)), writes: Vec::new() }
    }

    fn dry_run_only(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> Option<Arc<PreemptionRecord>> {
        if left_to_group(&cx.cx, &pod.pod).is_some() {
            return None;
        }
        Some(Arc::new(self.evaluator(cx).dry_run_only(state, pod)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Cluster, Object};
    use crate::framework::{Change, Code, DryRunPolicy, FilterRunner, NodeInfo, NodeToStatus, NominatingInfo, Snapshot};

    fn emulation(on: bool) -> Emulation {
        let mut emulation = Emulation::default();
        emulation.set(Gate::SchedulerAsyncPreemption, on);
        emulation
    }

    fn plugin() -> DefaultPreemption {
        DefaultPreemption::new(DefaultPreemptionArgs::default())
    }

    #[test]
    fn arguments_have_defaults_and_refuse_what_they_do_not_know() {
        let read = |text| serde_json::from_str::<DefaultPreemptionArgs>(text);
        assert_eq!(read("{}").unwrap(), DefaultPreemptionArgs::default());
        let named = r#"{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"DefaultPreemptionArgs",
            "minCandidateNodesPercentage":20,"minCandidateNodesAbsolute":null}"#;
        let want = DefaultPreemptionArgs { min_candidate_nodes_percentage: 20, min_candidate_nodes_absolute: 100 };
        assert_eq!(read(named).unwrap(), want);
        assert!(read(r#"{"minCandidateNodes":3}"#).is_err());
    }

    #[test]
    fn a_pod_waits_while_its_preemption_is_under_way() {
        let (cluster, snapshot, pod) = (Cluster::default(), Snapshot::default(), Pod::default());
        let check = |gate, preempting| {
            let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: emulation(gate), now: jiff::Timestamp::UNIX_EPOCH };
            PreEnqueuePlugin::pre_enqueue(&plugin(), &cx, &pod, preempting)
        };
        assert!(check(true, false).is_success());
        assert!(check(false, true).is_success());
        assert_eq!(check(true, true), Status::rejected(Reason::PreemptionInProgress));
    }

    #[test]
    fn deleted_pods_are_of_interest_and_never_queue() {
        assert_eq!(plugin().events_to_register(emulation(false)).unwrap().len(), 0);
        let events = plugin().events_to_register(emulation(true)).unwrap();
        assert_eq!(events.iter().map(|e| e.event.to_string()).collect::<Vec<_>>(), ["PodDelete"]);
        let (cluster, snapshot, pod) = (Cluster::default(), Snapshot::default(), Arc::new(Pod::default()));
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: emulation(true), now: jiff::Timestamp::UNIX_EPOCH };
        let deleted = Change { old: Some(Object::Pod(pod.clone())), new: None };
        assert_eq!(events[0].hint.as_ref().unwrap()(&cx, &pod, &deleted), Ok(QueueingHint::QueueSkip));
    }

    /// Filters that pass empty nodes only.
    struct Alone;

    impl FilterRunner for Alone {
        fn filter_with_nominated_pods(&self, _: &CycleState, _: &PodInfo, node: &NodeInfo) -> Status {
            if node.pods.is_empty() { Status::success() } else { Status::unschedulable("taken") }
        }
        fn add_pod(&self, _: &mut CycleState, _: &PodInfo, _: &PodInfo, _: &NodeInfo) -> Status {
            Status::success()
        }
        fn remove_pod(&self, _: &mut CycleState, _: &PodInfo, _: &PodInfo, _: &NodeInfo) -> Status {
            Status::success()
        }
        fn nominated_pods(&self, _: &str) -> Vec<Arc<PodInfo>> {
            Vec::new()
        }
    }

    fn pod(name: &str, priority: i32) -> Arc<PodInfo> {
        let text = format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}"}},"spec":{{"priority":{priority}}}}}"#);
        Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
    }

    fn check(priority: i32, code: Code, message: &str, nominated: &str) {
        check_in(emulation(true), priority, code, message, nominated);
    }

    /// Runs the plugin for a pod of priority 10 and one node that a pod of the given priority occupies.
    fn check_in(emulation: Emulation, priority: i32, code: Code, message: &str, nominated: &str) {
        let mut node = NodeInfo::new(Arc::new(serde_json::from_str(r#"{"metadata":{"name":"a"}}"#).unwrap()));
        node.add_pod(pod("v", priority));
        let (snapshot, preemptor) = (Snapshot::of([node]), pod("p", 10));
        let cluster: Cluster = [Object::Pod(preemptor.pod.clone())].into_iter().collect();
        let mut statuses = NodeToStatus::default();
        statuses.set(0, Status::unschedulable("taken"));
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation, now: jiff::Timestamp::UNIX_EPOCH };
        let cx =
            PostFilterContext { cx, runner: &Alone, statuses: &statuses, dry_run: DryRunPolicy::default(), quiet: false, extenders: None };
        let state = CycleState::default();
        let result = PostFilterPlugin::post_filter(&plugin(), &cx, &state, &preemptor);
        assert_eq!((result.status.code(), result.status.message().as_str()), (code, message));
        assert_eq!(result.nominating, Some(NominatingInfo::Override(nominated.into())));
        let dry_run_only = plugin().dry_run_only(&cx, &state, &preemptor).unwrap();
        assert_eq!(result.preemption.unwrap().dry_runs, dry_run_only.dry_runs);
        assert_eq!(dry_run_only.candidates().next().is_none(), nominated.is_empty());
    }

    #[test]
    fn messages_say_that_preemption_speaks() {
        check(1, Code::Success, "", "a");
        let text = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
        check(10, Code::Unschedulable, text, "");
        let later: Emulation = crate::release::Profile::named("v1.37.0").expect("an emulated release").into();
        let found = "preemption: found a potential placement for pod on node a, preempting 1 victims";
        check_in(later, 1, Code::Success, found, "a");
        check_in(later, 10, Code::Unschedulable, text, "");
    }
}
