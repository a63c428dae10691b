//! Dry decisions: one pod decided on the current cluster, without consequences. `explain` uses them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::algorithm::{NO_NODES, ODDS_NODES, PostFilter, Sampling, SchedulePod, ScheduleResult};
use super::runtime::{Framework, Nominations, PluginRef, Runner};
use super::{Cache, Config, ScheduleError, Scheduler, binding_under_way};
use crate::cluster::{Cluster, Pod, Str};
use crate::extenders::Asking;
use crate::framework::{
    Context, CycleState, DeviceFindings, Diagnosis, ExtenderCall, ExtenderOutcome, NodeDevices, NodeFilters, NodeInfo, PluginName,
    PluginSet, PodInfo, PodResourcesOptions, PreemptionRecord, Reason, Status, pod_requests, search_steps_on_node,
};
use crate::trace::{
    AttemptFailure, CycleStart, CycleView, Event, FailureCause, FailureReason, Outcome, Quiet, Recorder, SkipReason, Trace,
};

/// Limit on the nodes whose devices are judged one by one for a decision.
const NODES_JUDGED: usize = 100;
/// Limit on the nodes whose devices are listed.
const NODES_LISTED: usize = 10;

/// Options of a dry decision.
#[derive(Clone, Copy, Debug)]
pub struct DryOptions<'a> {
    /// Whether extenders are asked, where anybody asks them; otherwise their last answers count.
    pub asking: Asking,
    /// Whether PostFilter, that is preemption, runs where no node fits.
    pub post_filter: PostFilter,
    /// Whether only the fit matters, and not which of the nodes that fit is selected.
    pub only_fit: bool,
    /// The index of the node where the search starts.
    pub start: usize,
    /// The number of nodes beyond the shortlist that may be dry-run for odds.
    pub odds_nodes: usize,
    /// Where the steps of the attempt are added, about; see [`crate::framework::node_steps`].
    pub all_steps: Option<&'a AtomicU64>,
    /// Where the steps of plugins are added, which [`search_steps_on_node`] limits then; see [`CycleState::spent`].
    pub steps: Option<&'a AtomicU64>,
}

impl Default for DryOptions<'_> {
    fn default() -> Self {
        Self {
            asking: Asking::Recall,
            post_filter: PostFilter::Run,
            only_fit: false,
            start: 0,
            odds_nodes: ODDS_NODES,
            all_steps: None,
            steps: None,
        }
    }
}

impl From<PostFilter> for DryOptions<'_> {
    fn from(post_filter: PostFilter) -> Self {
        Self { post_filter, ..Self::default() }
    }
}

/// The cluster that a dry decision is about.
#[derive(Clone, Copy)]
pub(super) struct DecisionInput<'a> {
    /// Profiles and gates.
    pub(super) config: &'a Config,
    /// All objects.
    pub(super) cluster: &'a Cluster,
    /// The nodes.
    pub(super) cache: &'a Cache,
    /// Nominated pods.
    pub(super) nominations: &'a dyn Nominations,
    /// Number of nodes to filter.
    pub(super) sampling: Sampling,
    /// The virtual time.
    pub(super) now: jiff::Timestamp,
    /// Why another pod of its group keeps the pod out of activeQ.
    group_gate: Option<&'a Status>,
}

/// The result of a dry decision.
#[derive(Clone, Debug)]
pub enum DryDecision {
    /// A PreEnqueue plugin keeps the pod out of activeQ.
    Gated(Status),
    /// An attempt was made.
    Tried(ScheduleResult),
}

impl DryDecision {
    /// Returns the outcome of a cycle with this decision.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Gated(_) => Outcome::Gated,
            Self::Tried(ScheduleResult::Selected { .. }) => Outcome::Scheduled,
            Self::Tried(ScheduleResult::FitError(_) | ScheduleResult::NoNodes) => Outcome::Unschedulable,
            Self::Tried(ScheduleResult::Error(_)) => Outcome::Error,
        }
    }

    /// Returns the nodes with the highest score, by name, the chosen one first; empty if no node was chosen.
    pub fn best(&self) -> &[Str] {
        if let Self::Tried(ScheduleResult::Selected { tied, .. }) = self { tied } else { &[] }
    }

    /// Returns the nodes that pass Filter, as positions in the snapshot's walking order.
    pub fn feasible(&self) -> &[usize] {
        if let Self::Tried(ScheduleResult::Selected { feasible, .. }) = self { feasible } else { &[] }
    }

    /// Returns why nodes were rejected; `None` if no search finished.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        match self {
            Self::Tried(ScheduleResult::Selected { diagnosis, .. }) => Some(diagnosis),
            Self::Tried(ScheduleResult::FitError(error)) => Some(&error.diagnosis),
            _ => None,
        }
    }

    /// Returns the dry run of preemption, if one was made.
    pub fn preemption(&self) -> Option<&PreemptionRecord> {
        if let Self::Tried(ScheduleResult::FitError(error)) = self { error.preemption.as_deref() } else { None }
    }

    /// Returns whether the pod waits for the end of pods that were preempted for it.
    pub fn waits_for_victims(&self) -> bool {
        match self {
            Self::Gated(status) => status.reasons().iter().any(Reason::waits_for_victims),
            Self::Tried(_) => self.preemption().is_some_and(|record| record.waits_for.is_some()),
        }
    }

    /// Returns the message of the pod's PodScheduled condition; empty if a node was chosen.
    pub fn message(&self) -> String {
        match self {
            Self::Gated(status) => status.message(),
            Self::Tried(ScheduleResult::Selected { .. }) => String::new(),
            Self::Tried(ScheduleResult::FitError(error)) => error.message(),
            Self::Tried(ScheduleResult::Error(error)) => error.to_string(),
            Self::Tried(ScheduleResult::NoNodes) => NO_NODES.to_owned(),
        }
    }
}

impl Scheduler {
    /// Decides about a pending pod as if it were popped now, and returns the events. Binds, evicts and nominates nothing.
    pub fn explain(&self, pod: &Arc<Pod>) -> Vec<Event> {
        self.explain_with(pod, DryOptions::default())
    }

    /// Takes the decision of [`Self::explain`] with options.
    pub fn explain_with<'a>(&self, pod: &Arc<Pod>, options: impl Into<DryOptions<'a>>) -> Vec<Event> {
        let mut events = Vec::new();
        self.decide(pod, &options.into(), &mut Trace::new(&mut events));
        events
    }

    /// Decides as [`Self::explain`], with the pods of its group if it has one, and returns the decision with the kinds that are unknown.
    pub fn view_of(&self, pod: &Arc<Pod>) -> CycleView {
        let mut view = self.group_view(pod).unwrap_or_else(|| CycleView::of(&self.explain(pod)));
        view.findings.unknown = self.state().cluster().unknown;
        view
    }

    /// Takes the decision of [`Self::explain_with`] without recording events. Positions in it refer to `self.state().snapshot()`.
    pub fn dry_decision<'a>(&self, pod: &Arc<Pod>, options: impl Into<DryOptions<'a>>) -> DryDecision {
        self.decide(pod, &options.into(), &mut Quiet)
    }

    fn decide(&self, pod: &Arc<Pod>, options: &DryOptions<'_>, recorder: &mut impl Recorder) -> DryDecision {
        let group_gate = self.group_gate(pod);
        let input = DecisionInput { group_gate: group_gate.as_ref(), ..self.decision_input() };
        let decision = try_pod(&input, pod, options, recorder);
        recorder.record(|| Event::CycleFinished { pod: pod.key(), outcome: decision.outcome() });
        decision
    }

    pub(super) fn decision_input(&self) -> DecisionInput<'_> {
        let state = &self.state;
        DecisionInput {
            group_gate: None,
            config: &state.config,
            cluster: &state.cluster,
            cache: &state.cache,
            nominations: &state.queue,
            sampling: self.sampling,
            now: state.clock,
        }
    }
}

fn try_pod(input: &DecisionInput<'_>, pod: &Arc<Pod>, options: &DryOptions<'_>, recorder: &mut impl Recorder) -> DryDecision {
    let snapshot = input.cache.snapshot();
    let cx = Context { cluster: input.cluster, snapshot: &snapshot, emulation: input.config.emulation, now: input.now };
    let Some(framework) = input.config.profile(&pod.spec.scheduler_name) else {
        let result = ScheduleResult::Error(ScheduleError::UnknownProfile(pod.spec.scheduler_name.clone()));
        record_failure(pod, &result, recorder);
        return DryDecision::Tried(result);
    };
    if let Some(status) = framework.run_pre_enqueue(&cx, pod, false, None).or_else(|| input.group_gate.cloned()) {
        recorder.record(|| Event::PreEnqueueRejected { pod: pod.key(), status: status.clone() });
        return DryDecision::Gated(status);
    }
    let info = PodInfo::with_emulation(pod.clone(), input.config.emulation);
    recorder.record(|| {
        let binding = binding_under_way(input.cluster, pod);
        Event::CycleStarted(Arc::new(CycleStart { binding, time: Some(input.now), ..cycle_start(1, &info, &cx, input.config) }))
    });
    if pod.is_terminating() {
        recorder.record(|| Event::CycleSkipped { pod: pod.key(), why: SkipReason::Deleting });
        return DryDecision::Tried(ScheduleResult::Error(ScheduleError::Deleting(pod.key())));
    }
    let (mut start, mut steps) = (options.start, 0);
    let extenders = input.config.extenders.for_cycle(options.asking);
    let mut attempt = SchedulePod {
        framework,
        cx,
        nominations: input.nominations,
        sampling: input.sampling,
        post_filter: options.post_filter,
        odds_nodes: options.odds_nodes,
        only_fit: options.only_fit,
        extenders: extenders.as_ref(),
        extenders_look_on: input.config.extenders.look_at_all_nodes(),
        class: None,
        next_start_node_index: &mut start,
        last_node_index: &mut 0,
        steps: &mut steps,
    };
    let mut state = CycleState::within(options.steps.map(|_| search_steps_on_node(snapshot.len())));
    let result = attempt.run(&info, &mut state, recorder);
    if let Some(all) = options.all_steps {
        all.fetch_add(steps, Ordering::Relaxed);
    }
    let result = reserved(framework, cx, &info, &mut state, result);
    if let Some(steps) = options.steps {
        steps.fetch_add(state.spent(), Ordering::Relaxed);
    }
    if let (ScheduleResult::Selected { node, .. }, Some(events)) = (&result, recorder.events()) {
        events.extend(would_bind(input.config, pod, node));
    }
    record_failure(pod, &result, recorder);
    if let Some(events) = recorder.events() {
        events.extend(framework.not_emulated_events());
    }
    DryDecision::Tried(result)
}

/// Returns the result once Reserve has run. A plugin whose Filter ran reserves what that found; the others can fail here.
fn reserved(framework: &Framework, cx: Context<'_>, pod: &PodInfo, state: &mut CycleState, result: ScheduleResult) -> ScheduleResult {
    let ScheduleResult::Selected { node, .. } = &result else { return result };
    let Some(node) = cx.snapshot.get(node) else { return result };
    let filters = |plugin: &PluginRef| framework.filter.iter().any(|filter| filter.name() == plugin.name());
    for plugin in framework.reserve.iter().filter(|plugin| !filters(plugin)) {
        let Some(point) = plugin.reserve() else { continue };
        let status = point.reserve(&cx, state, pod, node);
        if status.is_error() {
            return ScheduleResult::Error(ScheduleError::Reserve { plugin: plugin.name(), status });
        }
    }
    result
}

fn record_failure(pod: &Pod, result: &ScheduleResult, recorder: &mut impl Recorder) {
    let Some(events) = recorder.events() else { return };
    let (reason, cause, message, plugins) = match result {
        ScheduleResult::Selected { .. } => return,
        ScheduleResult::NoNodes => (FailureReason::Unschedulable, FailureCause::NoNodes, NO_NODES.to_owned(), PluginSet::default()),
        ScheduleResult::Error(error) => {
            let cause = match error {
                ScheduleError::UnknownProfile(name) => FailureCause::UnknownProfile(name.clone()),
                _ => FailureCause::Error,
            };
            (FailureReason::SchedulerError, cause, error.to_string(), PluginSet::default())
        }
        ScheduleResult::FitError(error) => {
            (FailureReason::Unschedulable, FailureCause::NoFit, error.message(), error.diagnosis.unschedulable_plugins)
        }
    };
    let failure = AttemptFailure { reason, cause, message: message.into(), plugins };
    events.push(Event::AttemptFailed { pod: pod.key(), failure: failure.into() });
}

/// Runs every Filter plugin of the pod's profile on one node; a cycle stops at the first rejection. `None` if the
/// profile or the node does not exist.
pub(super) fn every_filter(input: &DecisionInput<'_>, pod: &Arc<Pod>, node: &str) -> Option<NodeFilters> {
    let snapshot = input.cache.snapshot();
    let cx = Context { cluster: input.cluster, snapshot: &snapshot, emulation: input.config.emulation, now: input.now };
    let framework = input.config.profile(&pod.spec.scheduler_name)?;
    let node = snapshot.get(node)?;
    let info = PodInfo::with_emulation(pod.clone(), input.config.emulation);
    let mut state = CycleState::default();
    let narrowed = framework.run_pre_filter(&cx, &mut state, &info, &mut Quiet);
    if !narrowed.status.is_success() {
        return Some(NodeFilters { not_asked: Some(narrowed.status), ..NodeFilters::default() });
    }
    let left_out = narrowed.nodes.is_some_and(|nodes| !nodes.contains(node.name()));
    let filters = Runner::new(framework, cx, input.nominations, &state).every_filter(&state, &info, node);
    let points = framework.filter.iter().filter(|plugin| !state.skip_filter.contains(plugin.name()));
    let devices = points.filter_map(|plugin| plugin.filter().map(|point| (plugin.name(), point))).find_map(|(name, point)| {
        let (_, verdict) = filters.answers.iter().find(|(plugin, _)| *plugin == name)?;
        point.devices(&cx, &state, &info, node, verdict)
    });
    Some(NodeFilters { left_out, devices, ..filters })
}

/// Judges the devices of nodes that a decision rejects for them; `None` if there are none. The decision is `view`.
pub(super) fn device_findings(input: &DecisionInput<'_>, pod: &Arc<Pod>, view: &CycleView) -> Option<DeviceFindings> {
    let by_devices = |status: &Status| status.plugin() == Some(PluginName::DynamicResources) && !status.is_success();
    let rejected: BTreeSet<&Str> =
        view.filter.verdicts.iter().filter(|(_, verdict)| by_devices(&verdict.status)).map(|(node, _)| node).collect();
    let is_error = view.outcome == Some(Outcome::Error);
    if (rejected.is_empty() && !is_error) || !pod.node_name.is_empty() {
        return None;
    }
    let snapshot = input.cache.snapshot();
    let cx = Context { cluster: input.cluster, snapshot: &snapshot, emulation: input.config.emulation, now: input.now };
    let framework = input.config.profile(&pod.spec.scheduler_name)?;
    let plugin = framework.filter.iter().find(|plugin| plugin.name() == PluginName::DynamicResources)?;
    let point = plugin.filter()?;
    let info = PodInfo::with_emulation(pod.clone(), input.config.emulation);
    let mut state = CycleState::default();
    let narrowed = framework.run_pre_filter(&cx, &mut state, &info, &mut Quiet);
    if !narrowed.status.is_success() || state.skip_filter.contains(plugin.name()) {
        return None;
    }
    // An error ends the search, and the record may lack the node.
    let is_asked = |node: &&Arc<NodeInfo>| if rejected.is_empty() { is_error } else { rejected.contains(node.name()) };
    let judge = |node: &Arc<NodeInfo>| {
        let verdict = point.filter(&cx, &state, &info, node);
        let concerns = if is_error { verdict.is_error() } else { !verdict.is_success() };
        point.devices(&cx, &state, &info, node, &verdict).filter(|_| concerns)
    };
    let judged = snapshot.nodes().iter().filter(is_asked).take(NODES_JUDGED).filter_map(judge);
    let mut nodes: Vec<NodeDevices> = if is_error { judged.take(1).collect() } else { judged.collect() };
    nodes.sort_by_key(|node| !node.has_devices());
    nodes.truncate(NODES_LISTED);
    let more = rejected.len().saturating_sub(nodes.len());
    (!nodes.is_empty()).then_some(DeviceFindings { nodes, more })
}

/// Returns the event that names the extender that would bind the pod; `None` without one, or if it is not asked.
pub(super) fn would_bind(config: &Config, pod: &Pod, node: &Str) -> Option<Event> {
    let extender = config.extenders.binder(pod).filter(|extender| config.extenders.is_asked(extender))?;
    let outcome = ExtenderOutcome::WouldBind(node.clone());
    Some(Event::ExtenderTookPart(ExtenderCall { extender: extender.name.clone(), outcome }.into()))
}

/// Returns the record of a cycle's start: the pod, its requests, the size of the snapshot and the missing kinds.
pub(super) fn cycle_start(cycle: u64, info: &PodInfo, cx: &Context<'_>, config: &Config) -> CycleStart {
    let pod = &info.pod;
    let requests = pod_requests(pod, PodResourcesOptions::default());
    CycleStart {
        time: None,
        binding: None,
        daemon_node: pod.daemon_node().cloned(),
        cycle,
        pod: pod.key(),
        priority: pod.priority(),
        profile: pod.spec.scheduler_name.clone(),
        requests: requests.iter().map(|(name, q)| (name.clone(), q.to_string())).collect(),
        nominated: pod.status.nominated_node_name.clone(),
        nodes: cx.snapshot.len(),
        budgets_unknown: cx.cluster.unknown.budgets,
        missing: cx.cluster.unknown,
        asks_extenders: config.extenders.asker().is_some(),
    }
}
