//! Runs the extension points of a profile and records their results; mirrors
//! `pkg/scheduler/framework/runtime/framework.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ScheduleError;
use super::equivalence_cache::EquivalenceClass;
use super::queue::{Nominated, PluginEvents};
use crate::cluster::{Key, Pod, Str};
use crate::framework::{
    CandidateExtenders, Code, Context, CycleState, DryRunPolicy, FilterPlugin, FilterRunner, KnownDryRuns, NodeFilters, NodeInfo,
    NodeToStatus, NominatingInfo, Plugin, PluginName, PluginSet, PodInfo, PodSums, PostFilterContext, PostFilterResult, PreFilterPlugin,
    PreFilterResult, Reason, SharedList, Status, SumsTried, hash_of,
};
use crate::release::{Algorithm, Emulation, FilterRun, NarrowingOrder};
use crate::trace::{Event, Recorder, record_preemption};

/// A shared plugin of a profile.
pub type PluginRef = Arc<dyn Plugin>;

/// The plugins of one profile, expanded by extension point, in the order they run.
#[derive(Clone, Default)]
pub struct Framework {
    /// `schedulerName` of the pods it takes.
    pub name: Str,
    /// PreEnqueue plugins.
    pub pre_enqueue: Vec<PluginRef>,
    /// PreFilter plugins.
    pub pre_filter: Vec<PluginRef>,
    pub filter: Vec<PluginRef>,
    /// PostFilter plugins.
    pub post_filter: Vec<PluginRef>,
    /// PreScore plugins.
    pub pre_score: Vec<PluginRef>,
    /// Score plugins with their weights.
    pub score: Vec<(PluginRef, i64)>,
    pub reserve: Vec<PluginRef>,
    pub permit: Vec<PluginRef>,
    /// PreBind plugins.
    pub pre_bind: Vec<PluginRef>,
    /// The PlacementGenerate plugin; at most one.
    pub placement_generate: Vec<PluginRef>,
    /// PlacementScore plugins with their weights.
    pub placement_score: Vec<(PluginRef, i64)>,
    /// Every enabled plugin, once.
    pub all: Vec<PluginRef>,
    /// Enabled plugins that are not emulated, with their extension points.
    pub not_emulated: Vec<(String, Vec<&'static str>)>,
    /// `percentageOfNodesToScore` of the profile.
    pub percentage_of_nodes_to_score: Option<i32>,
    /// Which filters run on a node.
    pub filters: FilterRun,
}

impl std::fmt::Debug for Framework {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Framework").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Source of nominated pods.
pub trait Nominations: Sync {
    /// Returns the pods nominated to a node, given its name and the hash of that ([`NodeInfo::name_hash`]); `None` if there are none.
    fn nominated(&self, node: &str, name_hash: u64) -> Option<Arc<Nominated>>;
    /// Whether any pod is nominated anywhere.
    fn any(&self) -> bool {
        true
    }
    /// Whether any pod may be nominated to a node whose name has this hash ([`NodeInfo::name_hash`]); `false` is certain.
    fn may_be_on(&self, _name_hash: u64) -> bool {
        true
    }
}

/// The result of PreFilter.
pub struct PreFiltered {
    /// The remaining nodes; `None` for all.
    pub nodes: Option<BTreeSet<Str>>,
    /// Success, or why every node is rejected.
    pub status: Status,
    /// Plugins that narrowed the nodes, in the order in which the release names them.
    pub narrowed_by: Vec<PluginName>,
}

/// A node's status, and the nominated pods counted for it.
pub(super) struct Filtered {
    pub status: Status,
    /// Nominated pods added for the first pass.
    pub nominated: Counted,
    /// Number of plugins that rejected, of those that ran.
    pub rejectors: usize,
}

/// The answer of the first filters, which depend on a node alone, with these sums of the pods nominated to it; `None` if none count.
pub(super) struct Learned {
    pub status: Status,
    pub nominated: Option<PodSums>,
}

/// The pods nominated to a node that count for another pod: those of its priority or a higher one, without itself.
pub(super) enum Counted {
    /// There are none.
    None,
    /// All that are nominated to the node.
    All(Arc<Nominated>),
    /// Some of them.
    Some(Vec<Arc<PodInfo>>),
}

impl Counted {
    fn pods(&self) -> &[Arc<PodInfo>] {
        match self {
            Self::None => &[],
            Self::All(nominated) => nominated.pods(),
            Self::Some(pods) => pods,
        }
    }

    /// Returns the keys of the pods, in order of nomination.
    pub(super) fn keys(&self) -> SharedList<Key> {
        match self {
            Self::None => SharedList::default(),
            Self::All(nominated) => nominated.keys().clone(),
            Self::Some(pods) => pods.iter().map(|pod| pod.key()).collect(),
        }
    }

    /// Returns the sums of the pods; `None` if there are none.
    fn sums(&self) -> Option<PodSums> {
        match self {
            Self::None => None,
            Self::All(nominated) => Some(nominated.sums().clone()),
            Self::Some(pods) => Some(PodSums::of(pods)),
        }
    }
}

impl Framework {
    /// Returns the events registered by the plugins that can reject a pod, in the order they are enabled; mirrors
    /// `fillEnqueueExtensions`. Extenders come last, if there are any.
    pub fn plugin_events(&self, emulation: Emulation, with_extenders: bool) -> PluginEvents {
        let rejects = |p: &&PluginRef| {
            p.pre_enqueue().is_some() || p.pre_filter().is_some() || p.filter().is_some() || p.reserve().is_some() || p.permit().is_some()
        };
        let plugins = self.all.iter().filter(rejects).map(|p| (p.name(), p.events_to_register(emulation)));
        plugins.chain(with_extenders.then_some((PluginName::Extender, None))).collect()
    }

    /// Returns an event for each plugin that is enabled but not emulated.
    pub(super) fn not_emulated_events(&self) -> impl Iterator<Item = Event> {
        self.not_emulated.iter().map(|(plugin, points)| {
            let what = format!("it might change the decision at {}", points.join(", "));
            Event::NotEmulated { plugin: plugin.as_str().into(), what: what.into() }
        })
    }

    /// Returns the status of the first PreEnqueue plugin that rejects the pod; `first`, which gated it last, runs
    /// first.
    pub fn run_pre_enqueue(&self, cx: &Context<'_>, pod: &Pod, preempting: bool, first: Option<PluginName>) -> Option<Status> {
        let of = |is_first: bool| self.pre_enqueue.iter().filter(move |plugin| (Some(plugin.name()) == first) == is_first);
        of(true).chain(of(false)).find_map(|plugin| {
            let status = plugin.pre_enqueue()?.pre_enqueue(cx, pod, preempting);
            (!status.is_success()).then(|| status.answered_by(plugin.name(), cx.emulation.release()))
        })
    }

    /// Mirrors `RunPreFilterPlugins`.
    pub fn run_pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, recorder: &mut impl Recorder) -> PreFiltered {
        let mut nodes: Option<BTreeSet<Str>> = None;
        let release = cx.emulation.behaviour();
        let mut narrowed_by: Vec<PluginName> = Vec::new();
        let mut rejection = Status::success();
        for plugin in &self.pre_filter {
            let Some(point) = plugin.pre_filter() else { continue };
            let name = plugin.name();
            let (result, status) = point.pre_filter(cx, state, pod);
            let status = if status.is_success() { status } else { status.answered_by(name, cx.emulation.release()) };
            if release.algorithm == Algorithm::PredicatesAndPriorities {
                // Predicates have no PreFilter: metadata is computed for them, which never rejects.
                continue;
            }
            recorder.record(|| {
                let nodes = result.node_names.as_ref().filter(|_| status.is_success()).map(|n| n.iter().cloned().collect());
                Event::PreFiltered { plugin: name, status: status.clone(), nodes }
            });
            match status.code() {
                Code::Success => {}
                Code::Skip => {
                    state.skip_filter.insert(name);
                    continue;
                }
                Code::UnschedulableAndUnresolvable => return PreFiltered { nodes: None, status, narrowed_by: Vec::new() },
                Code::Unschedulable if !release.cycle.pre_filter_continues => {
                    return PreFiltered { nodes: None, status, narrowed_by: Vec::new() };
                }
                Code::Unschedulable => {
                    rejection = status;
                    continue;
                }
                _ => {
                    // Where the wrong variable is reported, it is nil.
                    let error = if release.cycle.pre_filter_error_lost { "%!w(<nil>)".to_owned() } else { status.message() };
                    let status = Status::error(format!("running PreFilter plugin \"{name}\": {error}")).with_plugin(name);
                    return PreFiltered { nodes: None, status, narrowed_by: Vec::new() };
                }
            }
            if let Some(names) = result.node_names {
                narrowed_by.push(name);
                if release.cycle.narrowing_order == NarrowingOrder::ByName {
                    narrowed_by.sort_unstable();
                }
                nodes = Some(match nodes {
                    Some(before) => before.intersection(&names).cloned().collect(),
                    None => names,
                });
            }
            if nodes.as_ref().is_some_and(BTreeSet::is_empty) {
                let status = no_node_left(&narrowed_by, cx.emulation);
                return PreFiltered { nodes, status, narrowed_by };
            }
        }
        PreFiltered { nodes, status: rejection, narrowed_by }
    }

    /// Runs every PreFilter plugin regardless of the others' results, and returns the status of each, in order. Notes
    /// in `state` which filters to skip.
    pub(super) fn run_every_pre_filter(
        &self,
        cx: &Context<'_>,
        state: &mut CycleState,
        pod: &PodInfo,
    ) -> Vec<(PluginName, PreFilterResult, Status)> {
        let mut answers = Vec::new();
        for plugin in &self.pre_filter {
            let (Some(point), name) = (plugin.pre_filter(), plugin.name()) else { continue };
            let (result, status) = point.pre_filter(cx, state, pod);
            if status.is_skip() {
                state.skip_filter.insert(name);
            }
            let status = if status.is_success() { status } else { status.answered_by(name, cx.emulation.release()) };
            answers.push((name, result, status));
        }
        answers
    }

    /// Returns the Filter plugins that PreFilter did not skip, in order.
    fn filters(&self, state: &CycleState) -> Vec<(PluginName, &dyn FilterPlugin)> {
        let asked = self.filter.iter().filter(|p| !state.skip_filter.contains(p.name()));
        asked.filter_map(|p| p.filter().map(|point| (p.name(), point))).collect()
    }

    /// Mirrors `RunPostFilterPlugins`; also returns the dry run of preemption, if one was made.
    pub fn run_post_filter(
        &self,
        px: &PostFilterContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
        recorder: &mut impl Recorder,
    ) -> PostFilterResult {
        let mut out = PostFilterResult { status: Status::success(), nominating: None, preemption: None, writes: Vec::new() };
        let mut reasons = Vec::new();
        let mut rejector = None;
        for plugin in &self.post_filter {
            let Some(point) = plugin.post_filter() else { continue };
            let name = plugin.name();
            let result = point.post_filter(px, state, pod);
            if let (Some(preemption), Some(events)) = (&result.preemption, recorder.events()) {
                record_preemption(preemption, events);
            }
            out.preemption = result.preemption.or(out.preemption);
            out.writes.extend(result.writes);
            recorder.record(|| Event::PostFiltered { plugin: name, status: result.status.clone() });
            match result.status.code() {
                Code::Success => {
                    out.nominating = result.nominating;
                    out.status = result.status;
                    return out;
                }
                Code::UnschedulableAndUnresolvable => {
                    out.nominating = result.nominating;
                    out.status = result.status.with_plugin(name);
                    return out;
                }
                Code::Unschedulable | Code::Pending => {
                    if !matches!(result.nominating, None | Some(NominatingInfo::Noop)) {
                        out.nominating = result.nominating;
                    }
                }
                _ => {
                    out.nominating = None;
                    out.status = Status::error(result.status.message()).with_plugin(name);
                    return out;
                }
            }
            reasons.extend(result.status.reasons().iter().cloned());
            rejector = rejector.or(Some(name));
        }
        let status = Status::new(Code::Unschedulable, reasons).in_words_of(px.cx.emulation.release());
        out.status = match rejector {
            Some(plugin) => status.with_plugin(plugin),
            None => status,
        };
        out
    }

    /// Runs the PreScore plugins; stops at the first error.
    pub fn run_pre_score(
        &self,
        cx: &Context<'_>,
        state: &mut CycleState,
        pod: &PodInfo,
        nodes: &[Arc<NodeInfo>],
        recorder: &mut impl Recorder,
    ) -> Result<(), ScheduleError> {
        for plugin in &self.pre_score {
            let Some(point) = plugin.pre_score() else { continue };
            let name = plugin.name();
            let status = point.pre_score(cx, state, pod, nodes);
            if cx.emulation.behaviour().algorithm == Algorithm::PredicatesAndPriorities {
                continue;
            }
            recorder.record(|| Event::PreScored { plugin: name, status: status.clone() });
            if status.is_skip() {
                state.skip_score.insert(name);
            } else if !status.is_success() {
                return Err(ScheduleError::PreScore { plugin: name, status });
            }
        }
        Ok(())
    }
}

/// Returns the status with which PreFilter turns a pod down where these plugins leave no node.
fn no_node_left(narrowed_by: &[PluginName], emulation: Emulation) -> Status {
    let reason = match narrowed_by {
        [plugin] => Reason::NoNodeLeftBy { plugin: *plugin },
        _ => Reason::NoNodeLeftTogether { plugins: narrowed_by.iter().copied().collect() },
    };
    let is_unresolvable = emulation.behaviour().cycle.no_node_left_is_unresolvable;
    let status = if is_unresolvable { Status::rejected(reason) } else { Status::unschedulable(reason) };
    status.in_words_of(emulation.release())
}

/// Nominated pods, with the cycle state and the node as if they ran there.
type WithNominated = (Counted, CycleState, NodeInfo);

/// A framework with the inputs of the filters of one cycle.
pub(super) struct Runner<'a> {
    framework: &'a Framework,
    cx: Context<'a>,
    /// Source of nominated pods; `None` if there are none.
    nominations: Option<&'a dyn Nominations>,
    /// The filters to run.
    all: Vec<(PluginName, &'a dyn FilterPlugin)>,
    /// The number of the first filters that depend on the pod and the node alone; 0 where a rejection does not end the filters.
    alone: usize,
    /// Filters whose result depends on the pods of a node.
    again: Vec<(PluginName, &'a dyn FilterPlugin)>,
    /// PreFilter plugins that keep track of pods added and removed.
    extensions: Vec<(PluginName, &'a dyn PreFilterPlugin)>,
    /// Whether filters depend on the pods of a node by their sums alone, and no plugin keeps track of pods.
    by_sums: bool,
    /// The first filters, as far as they depend on the pods of a node by their sums alone; empty where a rejection does not end the
    /// filters.
    first: Vec<(PluginName, &'a dyn FilterPlugin)>,
    /// Answers about pods like the one that is tried; `None` where none are kept.
    class: Option<&'a EquivalenceClass>,
}

impl<'a> Runner<'a> {
    /// Prepares the inputs that all nodes of the cycle share; PreFilter has run.
    pub(super) fn new(framework: &'a Framework, cx: Context<'a>, nominations: &'a dyn Nominations, state: &CycleState) -> Self {
        let all = framework.filters(state);
        let leading = all.iter().take_while(|(_, point)| point.depends_on_node_alone()).count();
        let alone = if framework.filters == FilterRun::UntilRejection { leading } else { 0 };
        let again = all.iter().filter(|(_, point)| point.depends_on_pods()).copied().collect();
        let asked = framework.pre_filter.iter().filter(|p| !state.skip_filter.contains(p.name()));
        let points = asked.filter_map(|p| p.pre_filter().map(|point| (p.name(), point)));
        let extensions: Vec<_> = points.filter(|(_, point)| point.has_extensions(cx.emulation)).collect();
        let is_by_sums = |(_, point): &&(PluginName, &dyn FilterPlugin)| !point.depends_on_pods() || point.depends_on_sums();
        let by_sums = extensions.is_empty() && all.iter().all(|filter| is_by_sums(&filter));
        // Without its state a plugin fails when pods are removed, which is before any filter.
        let ends = !by_sums && framework.filters == FilterRun::UntilRejection && !state.pre_filter_rejected;
        let first = if ends { all.iter().take_while(is_by_sums).copied().collect() } else { Vec::new() };
        Self {
            framework,
            cx,
            nominations: Some(nominations).filter(|n| n.any()),
            all,
            alone,
            again,
            extensions,
            by_sums,
            first,
            class: None,
        }
    }

    /// Returns it with the answers about pods like the one that is tried.
    pub(super) fn with_class(self, class: Option<&'a EquivalenceClass>) -> Self {
        Self { class, ..self }
    }

    /// Mirrors `RunFilterPluginsWithNominatedPods`.
    #[inline]
    pub(super) fn filter_node(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Filtered {
        self.filter_node_with(state, pod, node, &self.all)
    }

    /// Whether no filter depends on the pods of other nodes, and no plugin keeps track of pods.
    pub(super) fn depends_on_its_node_alone(&self) -> bool {
        let is_local = |(_, point): &(PluginName, &dyn FilterPlugin)| {
            !point.depends_on_pods() || point.depends_on_sums() || point.depends_on_node_alone()
        };
        self.extensions.is_empty() && self.all.iter().all(is_local)
    }

    /// Returns the first filters, as far as they depend on the pod and the node alone.
    pub(super) fn leading(&self) -> PluginSet {
        self.all[..self.alone].iter().map(|(name, _)| *name).collect()
    }

    /// Whether all filters depend on nothing but the pod's requirements, the node, and the sums of its pods.
    fn depends_on_node_and_sums(&self) -> bool {
        self.by_sums && self.alone > 0 && self.alone == self.all.len()
    }

    /// Whether the first filters that depend on a node alone depend on its pods by their sums alone.
    fn leading_depend_on_sums(&self) -> bool {
        self.by_sums || self.first.len() >= self.alone
    }

    /// Does the same as [`Self::filter_node`], given the hash of the node's name and what is known of the node with the sums of the pods
    /// that are nominated to it. Returns also what the first filters answer, if it was not known.
    #[inline]
    pub(super) fn filter_node_of_class<'s>(
        &self,
        state: &CycleState,
        pod: &PodInfo,
        node: &NodeInfo,
        name_hash: u64,
        known: impl FnOnce(Option<&PodSums>) -> Option<&'s Status>,
    ) -> (Filtered, Option<Learned>) {
        debug_assert_eq!(name_hash, node.name_hash());
        let may_be_nominated = self.may_be_nominated_to(name_hash);
        if self.alone == 0 || may_be_nominated && !self.leading_depend_on_sums() {
            return (self.filter_node(state, pod, node), None);
        }
        let nominated = if may_be_nominated { self.nominated_that_count(pod, node) } else { Counted::None };
        let sums = nominated.sums();
        let (first, others) = self.all.split_at(self.alone);
        let tried = SumsTried { state, pod, node };
        let asked = || match &sums {
            Some(with) => self.run_sums(first, &tried, &with.and(&node.sums())).0,
            None => self.run(first, state, pod, node).0,
        };
        let known = known(sums.as_ref());
        debug_assert!(known.is_none_or(|known| *known == asked()), "{} on {}", pod.key(), node.name());
        let status = known.cloned().unwrap_or_else(asked);
        let learns = known.is_none() && (status.is_success() || status.is_rejected());
        let passes_with_nominated = sums.is_some() && status.is_success();
        let learned = learns.then(|| Learned { status: status.clone(), nominated: sums });
        if passes_with_nominated {
            // The rest is asked with the nominated pods, and then all without them.
            return (self.filter_node(state, pod, node), learned);
        }
        let (status, rejectors) = if status.is_success() { self.run(others, state, pod, node) } else { (status, 1) };
        (Filtered { status, nominated, rejectors }, learned)
    }

    /// Runs filters on a node as it is; stops at the first failure or, where all filters run, at the first error.
    /// Returns the status and the number of rejecting plugins.
    #[inline]
    fn run(&self, filters: &[(PluginName, &dyn FilterPlugin)], state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> (Status, usize) {
        self.first_or_all(filters.iter().map(|filter| self.ask(*filter, state, pod, node)))
    }

    /// Runs filters on a node whose pods have these sums, as [`Self::run`] does.
    #[inline]
    fn run_sums(&self, filters: &[(PluginName, &dyn FilterPlugin)], tried: &SumsTried<'_>, sums: &PodSums) -> (Status, usize) {
        let SumsTried { state, pod, node } = *tried;
        self.first_or_all(filters.iter().map(|(name, point)| {
            let status = point.filter_sums(&self.cx, state, pod, node, sums);
            if status.is_success() { status } else { self.answered(*name, pod, status) }
        }))
    }

    /// Returns the first failure or, where all filters run, the merged ones; and the number of rejecting plugins.
    #[inline]
    fn first_or_all(&self, answers: impl Iterator<Item = Status>) -> (Status, usize) {
        let mut answers = answers.filter(|status| !status.is_success());
        match self.framework.filters {
            FilterRun::UntilRejection => answers.next().map_or((Status::success(), 0), |status| (status, 1)),
            FilterRun::All => merge(answers),
        }
    }

    /// Runs one filter on a node as it is.
    #[inline]
    fn ask(&self, (name, point): (PluginName, &dyn FilterPlugin), state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let status = point.filter(&self.cx, state, pod, node);
        if status.is_success() { status } else { self.answered(name, pod, status) }
    }

    /// Returns what a filter's failure becomes.
    fn answered(&self, name: PluginName, pod: &PodInfo, status: Status) -> Status {
        if status.is_rejected() {
            return status.answered_by(name, self.cx.emulation.release());
        }
        if self.cx.emulation.behaviour().algorithm == Algorithm::PredicatesAndPriorities {
            return status.answered_by(name, self.cx.emulation.release());
        }
        let of_pod = if self.cx.emulation.behaviour().messages.filter_errors_name_pod {
            format!(" for pod {:?}", pod.pod.metadata.name.as_str())
        } else {
            String::new()
        };
        Status::error(format!("running \"{name}\" filter plugin{of_pod}: {}", status.message())).with_plugin(name)
    }

    /// Runs every filter on a node as it is, and returns each with its answer: `Skip` for those that PreFilter skipped.
    fn answers<'b>(
        &'b self,
        state: &'b CycleState,
        pod: &'b PodInfo,
        node: &'b NodeInfo,
    ) -> impl Iterator<Item = (PluginName, Status)> + use<'b, 'a> {
        let known = self.framework.filter.iter().filter_map(|plugin| plugin.filter().map(|point| (plugin.name(), point)));
        known.map(move |(name, point)| {
            let skipped = state.skip_filter.contains(name);
            (name, if skipped { Status::skip().with_plugin(name) } else { self.ask((name, point), state, pod, node) })
        })
    }

    /// Runs every filter on a node, past the first failure; counts nominated pods as [`Runner::filter_node`] does.
    /// Filters that PreFilter skipped return `Skip`.
    pub(super) fn every_filter(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> NodeFilters {
        let all = |state: &CycleState, node: &NodeInfo| -> Vec<(PluginName, Status)> { self.answers(state, pod, node).collect() };
        let mut filters = NodeFilters::default();
        match self.with_nominated(state, pod, node) {
            Ok(None) => {}
            Ok(Some((others, with_state, with_node))) => {
                filters.nominated = others.pods().iter().map(|p| p.key()).collect();
                filters.answers = all(&with_state, &with_node);
                let rejected = filters.rejections().next().is_some();
                filters.with_nominated = rejected;
            }
            Err(status) => return NodeFilters { not_asked: Some(status), ..filters },
        }
        if !filters.with_nominated {
            filters.answers = all(state, node);
        }
        filters
    }

    /// Runs every filter as [`Self::every_filter`] does, and returns the rejections alone.
    ///
    /// # Errors
    /// Returns why no filter runs on any node.
    pub(super) fn every_rejection(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<Vec<(PluginName, Status)>, Status> {
        let is_rejection = |(_, status): &(PluginName, Status)| !status.is_success() && !status.is_skip();
        let all = |state: &CycleState, node: &NodeInfo| -> Vec<(PluginName, Status)> {
            self.answers(state, pod, node).filter(is_rejection).collect()
        };
        if let Some((_, with_state, with_node)) = self.with_nominated(state, pod, node)? {
            let rejections = all(&with_state, &with_node);
            if !rejections.is_empty() {
                return Ok(rejections);
            }
        }
        Ok(all(state, node))
    }

    /// Returns the pods nominated to a node that have at least the pod's priority, without itself.
    #[inline]
    fn nominated_that_count(&self, pod: &PodInfo, node: &NodeInfo) -> Counted {
        let nominations = self.nominations.filter(|n| n.may_be_on(node.name_hash()));
        let Some(nominated) = nominations.and_then(|n| n.nominated(node.name(), node.name_hash())) else { return Counted::None };
        if nominated.all_count_for(pod) {
            return Counted::All(nominated);
        }
        let counts = |other: &&Arc<PodInfo>| other.priority() >= pod.priority() && !other.is_same_pod(pod);
        let counted: Vec<Arc<PodInfo>> = nominated.pods().iter().filter(counts).cloned().collect();
        if counted.is_empty() { Counted::None } else { Counted::Some(counted) }
    }

    /// Returns the node with the nominated pods of equal or higher priority; `None` if there are none.
    #[inline]
    fn with_nominated(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<Option<WithNominated>, Status> {
        let nominated = self.nominated_that_count(pod, node);
        Ok(self.with_counted(&nominated, state, pod, node)?.map(|(with_state, with_node)| (nominated, with_state, with_node)))
    }

    /// Returns the state and the node with nominated pods; `None` if there are none.
    fn with_counted(
        &self,
        nominated: &Counted,
        state: &CycleState,
        pod: &PodInfo,
        node: &NodeInfo,
    ) -> Result<Option<(CycleState, NodeInfo)>, Status> {
        if matches!(nominated, Counted::None) {
            return Ok(None);
        }
        let (mut with_state, mut with_node) = (state.clone(), node.clone());
        for other in nominated.pods() {
            with_node.add_pod(other.clone());
            let status = self.add_pod(&mut with_state, pod, other, &with_node);
            if !status.is_success() {
                return Err(Status::error(status.message()));
            }
        }
        Ok(Some((with_state, with_node)))
    }

    #[inline]
    fn filter_node_with(
        &self,
        state: &CycleState,
        pod: &PodInfo,
        node: &NodeInfo,
        filters: &[(PluginName, &dyn FilterPlugin)],
    ) -> Filtered {
        let run = |state: &CycleState, node: &NodeInfo| self.run(filters, state, pod, node);
        if self.by_sums {
            let nominated = self.nominated_that_count(pod, node);
            let mut answer = None;
            if let Some(with) = nominated.sums() {
                let (status, rejectors) = self.run_sums(filters, &SumsTried { state, pod, node }, &with.and(&node.sums()));
                answer = Some((status, rejectors)).filter(|(status, _)| !status.is_success());
            }
            let (status, rejectors) = answer.unwrap_or_else(|| run(state, node));
            return Filtered { status, nominated, rejectors };
        }
        let nominated = self.nominated_that_count(pod, node);
        if let Some(with) = nominated.sums() {
            let (status, rejectors) = self.run_sums(&self.first, &SumsTried { state, pod, node }, &with.and(&node.sums()));
            if !status.is_success() {
                return Filtered { status, nominated, rejectors };
            }
        }
        let (with_state, with_node) = match self.with_counted(&nominated, state, pod, node) {
            Ok(None) => {
                let (status, rejectors) = run(state, node);
                return Filtered { status, nominated: Counted::None, rejectors };
            }
            Ok(Some(with)) => with,
            Err(status) => return Filtered { status, nominated: Counted::None, rejectors: 0 },
        };
        let (mut status, mut rejectors) = run(&with_state, &with_node);
        if status.is_success() {
            (status, rejectors) = run(state, node);
        }
        Filtered { status, nominated, rejectors }
    }

    /// Returns the input of PostFilter plugins.
    pub(super) fn post_filter_context<'b>(
        &'b self,
        statuses: &'b NodeToStatus,
        dry_run: DryRunPolicy,
        quiet: bool,
        extenders: Option<&'b dyn CandidateExtenders>,
    ) -> PostFilterContext<'b> {
        PostFilterContext { cx: self.cx, runner: self, statuses, dry_run, quiet, extenders }
    }
}

impl FilterRunner for Runner<'_> {
    fn filter_with_nominated_pods(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        self.filter_node(state, pod, node).status
    }

    fn filter_again_with_nominated_pods(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        self.filter_node_with(state, pod, node, &self.again).status
    }

    fn with_nominated_pods(&self, pod: &PodInfo, node: &NodeInfo) -> Option<(NodeInfo, usize)> {
        if !self.extensions.is_empty() {
            return None;
        }
        let nominated = self.nominated_that_count(pod, node);
        let mut with = (!nominated.pods().is_empty()).then(|| node.clone())?;
        for other in nominated.pods() {
            with.add_pod(other.clone());
        }
        Some((with, nominated.pods().len()))
    }

    fn filter_again_on(&self, state: &CycleState, pod: &PodInfo, with_nominated: &NodeInfo, node: &NodeInfo) -> Status {
        let (status, _) = self.run(&self.again, state, pod, with_nominated);
        if status.is_success() { self.run(&self.again, state, pod, node).0 } else { status }
    }

    fn depends_on_sums(&self) -> bool {
        self.by_sums
    }

    fn nominated_sums(&self, pod: &PodInfo, node: &NodeInfo) -> Option<PodSums> {
        self.nominated_that_count(pod, node).sums()
    }

    fn filter_sums(&self, tried: &SumsTried<'_>, sums: &PodSums, with_nominated: Option<&PodSums>, again: bool) -> Status {
        let filters = if again { &self.again } else { &self.all };
        let rejection = with_nominated.map(|with| self.run_sums(filters, tried, with).0).filter(|status| !status.is_success());
        rejection.unwrap_or_else(|| self.run_sums(filters, tried, sums).0)
    }

    fn rejection_by_sums(&self, tried: &SumsTried<'_>, sums: &PodSums, with_nominated: Option<&PodSums>) -> Option<Status> {
        let (status, _) = self.run_sums(&self.first, tried, with_nominated.unwrap_or(sums));
        (!status.is_success()).then_some(status)
    }

    fn may_be_nominated_to(&self, name_hash: u64) -> bool {
        self.nominations.is_some_and(|nominations| nominations.may_be_on(name_hash))
    }

    fn take_dry_runs(&self, pod: &PodInfo, quiet: bool) -> Option<KnownDryRuns> {
        let ending = if self.depends_on_node_and_sums() { &self.all } else { &self.first };
        let class = self.class.filter(|_| !ending.is_empty() && ending.len() <= self.alone)?;
        let known = class.take_dry_runs(self.framework, &pod.pod, quiet)?;
        let filters = ending.iter().map(|(name, _)| *name).collect();
        Some(known.of((pod.pod.priority(), filters), self.cx.snapshot.budgets()))
    }

    fn keep_dry_runs(&self, known: KnownDryRuns, quiet: bool) {
        if let Some(class) = self.class {
            class.keep_dry_runs(known, quiet);
        }
    }

    fn nominated_pods(&self, node: &str) -> Vec<Arc<PodInfo>> {
        let nominated = self.nominations.and_then(|n| n.nominated(node, hash_of(node)));
        nominated.map_or_else(Vec::new, |nominated| nominated.pods().to_vec())
    }

    fn add_pod(&self, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status {
        for (name, point) in &self.extensions {
            let status = point.add_pod(&self.cx, state, pod, added, node);
            if !status.is_success() {
                return Status::error(format!("running AddPod on PreFilter plugin \"{name}\": {}", status.message()));
            }
        }
        Status::success()
    }

    fn remove_pod(&self, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) -> Status {
        for (name, point) in &self.extensions {
            let status = point.remove_pod(&self.cx, state, pod, removed, node);
            if !status.is_success() {
                return Status::error(format!("running RemovePod on PreFilter plugin \"{name}\": {}", status.message()));
            }
        }
        Status::success()
    }
}

/// Merges failed statuses into one with all their reasons, unresolvable if one of them is; or returns the first error.
/// The first plugin becomes the plugin of the status. Mirrors `PluginToStatus.Merge` of the releases that have it.
fn merge(answers: impl Iterator<Item = Status>) -> (Status, usize) {
    let mut merged: Vec<Status> = Vec::new();
    for status in answers {
        if status.is_error() {
            return (status, 0);
        }
        merged.push(status);
    }
    let rejectors = merged.len();
    let Some(first) = merged.first().filter(|_| rejectors > 1) else { return (merged.pop().unwrap_or_else(Status::success), rejectors) };
    let unresolvable = merged.iter().find(|status| status.code() == Code::UnschedulableAndUnresolvable);
    let code = unresolvable.map_or(first.code(), Status::code);
    (first.with_reasons(code, merged.iter().flat_map(|status| status.reasons().iter().cloned())), rejectors)
}
