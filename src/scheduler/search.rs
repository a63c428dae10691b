//! The search for nodes that fit; mirrors `findNodesThatFitPod` in `pkg/scheduler/schedule_one.go`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::ScheduleError;
use super::algorithm::SchedulePod;
use super::equivalence_cache::EquivalenceClass;
use super::runtime::{Filtered, Learned};
use crate::cluster::Str;
use crate::framework::{
    CycleState, Diagnosis, LongStatuses, NodeInfo, PluginName, PluginSet, PodInfo, PodSums, Reason, SharedList, SharedStatuses, Status,
    in_order,
};
use crate::release::{Algorithm, Gate, LeftOutNodes, MissingNodes, NodeSearch, PreFilterRejection, StartWrap};
use crate::trace::{Event, Recorder};

/// Minimum number of nodes to filter before the rate of fits is measured again.
const CHUNK: usize = 256;

/// The result of the search.
#[derive(Default)]
pub(super) struct Search {
    /// The nodes that pass Filter, as positions in the snapshot, in walking order from the rotating start.
    pub(super) feasible: Vec<usize>,
    /// The nodes that extenders left; `None` where none was asked.
    pub(super) nodes: Option<Vec<Arc<NodeInfo>>>,
    /// Whether the nominated node fits, which ends the search.
    pub(super) by_nomination: bool,
    /// Why other nodes were rejected.
    pub(super) diagnosis: Diagnosis,
}

/// Known answers of nodes, and those that a search adds: the statuses of some filters, by position.
#[derive(Default)]
struct Asked<'a> {
    class: Option<&'a EquivalenceClass>,
    filters: PluginSet,
    learned: Vec<(usize, Learned)>,
}

impl<'a> Asked<'a> {
    fn of(class: Option<&'a EquivalenceClass>) -> Self {
        Self { class, ..Self::default() }
    }
}

/// The nodes to filter, as positions in the snapshot.
enum Nodes<'a> {
    /// Every node of a snapshot of this size.
    All(usize),
    /// Only these.
    Only(&'a [usize]),
}

impl Nodes<'_> {
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::All(number) => *number,
            Self::Only(positions) => positions.len(),
        }
    }

    /// Returns the position of the `i`-th node from `start`, wrapping around; both are below the number of nodes.
    #[inline]
    fn walk(&self, start: usize, i: usize) -> usize {
        let at = start + i;
        let at = if at < self.len() { at } else { at - self.len() };
        match self {
            Self::All(_) => at,
            Self::Only(positions) => positions[at],
        }
    }
}

impl SchedulePod<'_> {
    /// Runs PreFilter and Filter; mirrors `findNodesThatFitPod`.
    ///
    /// # Errors
    /// Returns the error of the plugin that failed.
    pub(super) fn find_nodes_that_fit_pod(
        &mut self,
        pod: &PodInfo,
        state: &mut CycleState,
        recorder: &mut impl Recorder,
    ) -> Result<Search, ScheduleError> {
        let mut search = Search::default();
        let pre = self.framework.run_pre_filter(&self.cx, state, pod, recorder);
        let release = self.cx.emulation.behaviour();
        if release.cycle.narrowing_rejects {
            search.diagnosis.unschedulable_plugins = pre.narrowed_by.iter().copied().collect();
        }
        if release.cycle.left_out == LeftOutNodes::WithoutStatus || release.cycle.left_out == LeftOutNodes::FilteredOut {
            search.diagnosis.node_to_status.set_absent(Status::success());
        }
        state.pre_filter_rejected = !pre.status.is_success();
        if !pre.status.is_success() {
            self.take_pre_filter_rejection(pre.status, &mut search, recorder)?;
            return Ok(search);
        }
        if self.cx.emulation.enabled(Gate::PreferNominatedNode) && self.nominated_node_fits(pod, state, &mut search, recorder) {
            return Ok(search);
        }
        let snapshot = self.cx.snapshot;
        let narrowed = pre.nodes.map(|names| self.named_positions(&names)).transpose()?;
        if let Some(positions) = &narrowed {
            self.leave_out_others(positions, &mut search, recorder);
        }
        let nodes = narrowed.as_deref().or(snapshot.placement()).map_or(Nodes::All(snapshot.len()), Nodes::Only);
        let mut asked = Asked::of(self.class.as_deref());
        let found = self.find_nodes_that_pass_filters(pod, state, &nodes, (&mut search, &mut asked), recorder);
        let Asked { filters, learned, .. } = asked;
        if let Some(class) = self.class.as_deref_mut().filter(|_| !learned.is_empty()) {
            class.learn_statuses(filters, learned, snapshot.nodes());
        }
        let processed = search.feasible.len() + search.diagnosis.node_to_status.len();
        let wrap = match release.search.start_wraps {
            StartWrap::AmongLeft => narrowed.as_ref().map_or(snapshot.len(), Vec::len).max(1),
            StartWrap::AmongAll => snapshot.nodes_in_placement(),
        };
        *self.next_start_node_index = (*self.next_start_node_index + processed) % wrap;
        self.forget_rejectors(&mut search.diagnosis);
        found?;
        self.pass_extenders(pod, &mut search, recorder)?;
        if search.nodes.as_ref().is_some_and(|nodes| nodes.len() != search.feasible.len()) && release.cycle.extenders_reject {
            search.diagnosis.unschedulable_plugins.insert(PluginName::Extender);
        }
        Ok(search)
    }

    /// Takes the status with which PreFilter turned all nodes down.
    ///
    /// # Errors
    /// Returns an error for any status but a rejection.
    fn take_pre_filter_rejection(&self, status: Status, search: &mut Search, recorder: &mut impl Recorder) -> Result<(), ScheduleError> {
        if !status.is_rejected() {
            return Err(ScheduleError::Filter(status));
        }
        let how = self.cx.emulation.behaviour().cycle.pre_filter_rejection;
        if how != PreFilterRejection::OfEachNode {
            search.diagnosis.pre_filter_msg = status.message();
        }
        search.diagnosis.add_plugin_status(&status);
        self.forget_rejectors(&mut search.diagnosis);
        recorder.record(|| Event::NodesNarrowed { nodes: SharedList::default(), status: status.clone(), rejected: Some(how) });
        let absent = if how == PreFilterRejection::WithoutStatus { Status::success() } else { status };
        search.diagnosis.node_to_status.set_absent(absent);
        Ok(())
    }

    /// Sets the status of the nodes that PreFilter left out.
    fn leave_out_others(&self, positions: &[usize], search: &mut Search, recorder: &mut impl Recorder) {
        let snapshot = self.cx.snapshot;
        let left_out = self.cx.emulation.behaviour().cycle.left_out;
        let absent = match left_out {
            LeftOutNodes::WithoutStatus => Status::success(),
            // This status is given node by node: where all are filtered, it is given to none.
            LeftOutNodes::FilteredOut if positions.len() == snapshot.len() => Status::success(),
            LeftOutNodes::FilteredOut => Status::rejected(Reason::FilteredOutByPreFilter),
            LeftOutNodes::NotAmongNodes => {
                // As upstream, also names the plugin that rejected the nominated node.
                let plugins = search.diagnosis.unschedulable_plugins.iter().collect();
                Status::rejected(Reason::NotAmongNodes { plugins })
            }
        };
        let absent = absent.in_words_of(self.cx.emulation.release());
        if left_out == LeftOutNodes::FilteredOut {
            // The nominated node was filtered before; it gets the status as well.
            let mut left_out = vec![true; snapshot.len()];
            for at in positions {
                left_out[*at] = false;
            }
            for at in (0..snapshot.len()).filter(|at| left_out[*at]) {
                search.diagnosis.node_to_status.set(at, Status::success());
            }
        }
        recorder.record(|| {
            let nodes = positions.iter().map(|at| snapshot.nodes()[*at].name().clone()).collect();
            Event::NodesNarrowed { nodes, status: absent.clone(), rejected: None }
        });
        search.diagnosis.node_to_status.set_absent(absent);
    }

    /// Clears the rejecting plugins where the release does not record them, or records one at random for a node that
    /// several rejected.
    fn forget_rejectors(&self, diagnosis: &mut Diagnosis) {
        if diagnosis.several_rejectors || !self.cx.emulation.behaviour().cycle.rejectors_noted {
            diagnosis.unschedulable_plugins = PluginSet::default();
            diagnosis.pending_plugins = PluginSet::default();
        }
    }

    /// Returns the positions of the nodes that PreFilter returned.
    fn named_positions(&self, names: &BTreeSet<Str>) -> Result<Vec<usize>, ScheduleError> {
        let snapshot = self.cx.snapshot;
        let in_placement = |at: &usize| snapshot.is_in_placement(*at);
        let found: Vec<usize> = names.iter().filter_map(|name| snapshot.position(name)).filter(in_placement).collect();
        match self.cx.emulation.behaviour().cycle.missing_nodes {
            MissingNodes::PassedOver => {}
            MissingNodes::Crash if found.is_empty() => return Err(ScheduleError::Crash),
            MissingNodes::Crash => {}
            MissingNodes::Error => {
                if let Some(missing) = names.iter().find(|name| snapshot.position(name).is_none()) {
                    return Err(ScheduleError::NodeNotFound(missing.clone()));
                }
            }
        }
        Ok(found)
    }

    /// Filters the nominated node before all others, and returns whether it fits; mirrors `evaluateNominatedNode`.
    ///
    /// Discards an error, which upstream only logs. Keeps the node's status; upstream passes the rest of the diagnosis by
    /// value, so that a set of plugins is kept only if it already exists.
    fn nominated_node_fits(&self, pod: &PodInfo, state: &CycleState, search: &mut Search, recorder: &mut impl Recorder) -> bool {
        let nominated = &pod.pod.status.nominated_node_name;
        let in_placement = |at: &usize| self.cx.snapshot.is_in_placement(*at);
        let position = self.cx.snapshot.position(nominated).filter(in_placement);
        let Some(position) = position.filter(|_| !nominated.is_empty()) else { return false };
        recorder.record(|| Event::NominatedNodeTried { node: nominated.clone() });
        let before = (search.diagnosis.unschedulable_plugins, search.diagnosis.pending_plugins);
        let found = self.find_nodes_that_pass_filters(pod, state, &Nodes::Only(&[position]), (search, &mut Asked::default()), recorder);
        let found = found.and_then(|()| self.pass_extenders(pod, search, recorder));
        if !search.feasible.is_empty() && (found.is_err() || search.nodes.as_ref().is_some_and(Vec::is_empty)) {
            search.feasible.clear();
            recorder.record(|| Event::AllNodesTried);
        }
        search.diagnosis.pending_plugins = before.1;
        if !self.cx.emulation.behaviour().cycle.nominated_node_rejects {
            search.diagnosis.unschedulable_plugins = before.0;
        }
        search.by_nomination = found.is_ok() && !search.feasible.is_empty();
        if !search.by_nomination {
            search.nodes = None;
        }
        search.by_nomination
    }

    /// Filters nodes from the rotating start until enough fit; mirrors `findNodesThatPassFilters`.
    ///
    /// kube-scheduler filters nodes in parallel, so which nodes it reaches before it stops depends on timing. This walk
    /// is that of a single worker.
    fn find_nodes_that_pass_filters(
        &self,
        pod: &PodInfo,
        state: &CycleState,
        nodes: &Nodes<'_>,
        (search, asked): (&mut Search, &mut Asked<'_>),
        recorder: &mut impl Recorder,
    ) -> Result<(), ScheduleError> {
        let all = self.cx.snapshot.nodes();
        let (n, wanted) = (nodes.len(), self.num_feasible_nodes_to_find(nodes.len()));
        let start = *self.next_start_node_index % n.max(1);
        let position = |i: usize| nodes.walk(start, i);
        if self.framework.filter.is_empty() {
            // Without filters the first nodes are taken as they are.
            for at in (0..wanted.min(n)).map(position) {
                let node = || all[at].name().clone();
                recorder.record(|| Event::NodeFiltered { node: node(), status: Status::success(), nominated: SharedList::default() });
                search.feasible.push(at);
            }
            return Ok(());
        }
        let runner = self.runner(state);
        asked.filters = runner.leading();
        let (keeps, known) = (asked.class.is_some(), asked.class.filter(|class| class.is_of(asked.filters)));
        let hashes = keeps.then(|| self.cx.snapshot.name_hashes());
        let long = LongStatuses::default();
        let filter = |i: usize| {
            let (position, node) = (position(i), &all[position(i)]);
            let (mut filtered, learned) = if let Some(hashes) = &hashes {
                let status = |nominated: Option<&PodSums>| known.and_then(|class| class.status(position, node, nominated));
                runner.filter_node_of_class(state, pod, node, hashes[position], status)
            } else {
                (runner.filter_node(state, pod, node), None)
            };
            filtered.status = long.share(filtered.status);
            (filtered, learned.map(|learned| Learned { status: long.share(learned.status), ..learned }))
        };
        search.diagnosis.node_to_status.reserve(all.len());
        if let Some(events) = recorder.events() {
            events.reserve(n.min(wanted + wanted / 8) + 1);
        }
        let collects_errors = self.cx.emulation.behaviour().algorithm == Algorithm::PredicatesAndPriorities;
        let errors = collects_errors.then(BTreeMap::new);
        let mut walk = Walk { search, recorder, shared: SharedStatuses::default(), n, wanted, errors };
        let (mut at, mut ahead) = (0, wanted + 1);
        while at < n {
            let range = at..(at + ahead.max(CHUNK)).min(n);
            at = range.end;
            let end = in_order(range, filter, |i, (filtered, learned)| {
                asked.learned.extend(learned.map(|learned| (position(i), learned)));
                walk.take(i, (position(i), &all[position(i)]), filtered)
            });
            if let ControlFlow::Break(end) = end {
                return end.and(walk.error());
            }
            // Nodes filtered beyond the end of the search are wasted work, so take only as many as this rate requires.
            let found = walk.search.feasible.len();
            let missing = (wanted + 1).saturating_sub(found);
            ahead = (missing * at).checked_div(found).map_or(n, |likely| likely + likely / 8);
        }
        walk.error()
    }

    /// Mirrors `numFeasibleNodesToFind`.
    fn num_feasible_nodes_to_find(&self, nodes: usize) -> usize {
        if self.sampling.all_nodes {
            return nodes;
        }
        if self.framework.score.is_empty() && !self.extenders_look_on && self.cx.emulation.behaviour().search.one_node_without_scores {
            return 1;
        }
        let configured = i64::from(self.framework.percentage_of_nodes_to_score.unwrap_or(self.sampling.percentage));
        match self.cx.emulation.behaviour().search.nodes {
            NodeSearch::All => nodes,
            NodeSearch::Adaptive { min_nodes, .. } | NodeSearch::Share { min_nodes, .. } if nodes < min_nodes => nodes,
            NodeSearch::Adaptive { min_nodes, min_percentage } => {
                let percentage = if configured == 0 { (50 - nodes as i64 / 125).max(min_percentage) } else { configured };
                (nodes * percentage as usize / 100).max(min_nodes)
            }
            NodeSearch::Share { min_nodes, percentage } => match if configured == 0 { percentage } else { configured } {
                share @ 1..100 => (nodes * share as usize / 100).max(min_nodes),
                _ => nodes,
            },
        }
    }
}

/// State of a walk over the nodes.
struct Walk<'a, R> {
    search: &'a mut Search,
    recorder: &'a mut R,
    /// The statuses of recorded nodes.
    shared: SharedStatuses,
    /// Number of nodes to filter.
    n: usize,
    /// Number of fitting nodes wanted.
    wanted: usize,
    /// Count of each error; `None` if the first error ends the search.
    errors: Option<BTreeMap<String, usize>>,
}

impl<R: Recorder> Walk<'_, R> {
    /// Returns the collected errors as one, sorted by text; mirrors `CreateAggregateFromMessageCountMap` in
    /// `staging/src/k8s.io/apimachinery/pkg/util/errors/errors.go`, whose order is random.
    fn error(&self) -> Result<(), ScheduleError> {
        let texts = self.errors.iter().flatten().map(|(text, count)| match count {
            1 => text.clone(),
            many => format!("{text} (repeated {many} times)"),
        });
        let texts: Vec<String> = texts.collect();
        match &texts[..] {
            [] => Ok(()),
            [one] => Err(ScheduleError::Filter(Status::error(one.clone()))),
            many => Err(ScheduleError::Filter(Status::error(format!("[{}]", many.join(", "))))),
        }
    }

    /// Records the status of the `i`-th node of the walk, at `position` of the snapshot. Breaks at the end of the
    /// search: on the first fitting node beyond `wanted`, or on an error.
    fn take(&mut self, i: usize, (position, node): (usize, &NodeInfo), filtered: Filtered) -> ControlFlow<Result<(), ScheduleError>> {
        let Search { feasible, diagnosis, .. } = &mut *self.search;
        let Filtered { mut status, nominated, rejectors } = filtered;
        let (n, wanted) = (self.n, self.wanted);
        if status.is_success() && feasible.len() == wanted {
            self.recorder.record(|| Event::FilterStopped { evaluated: i, of: n, wanted });
            return ControlFlow::Break(Ok(()));
        }
        if let Some(events) = self.recorder.events() {
            status = self.shared.share(status);
            events.push(Event::NodeFiltered { node: node.name().clone(), status: status.clone(), nominated: nominated.keys() });
        }
        if status.is_success() {
            feasible.push(position);
        } else if let Some(errors) = self.errors.as_mut().filter(|_| status.is_error()) {
            *errors.entry(status.message()).or_default() += 1;
        } else if status.is_error() {
            return ControlFlow::Break(Err(ScheduleError::Filter(status)));
        } else {
            diagnosis.add_plugin_status(&status);
            diagnosis.several_rejectors |= rejectors > 1;
            diagnosis.node_to_status.set(position, status);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
