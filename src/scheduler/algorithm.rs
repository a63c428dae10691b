//! One attempt to find a node; mirrors `schedulePod` and `findNodesThatFitPod` in `pkg/scheduler/schedule_one.go`.

use std::ops::Range;
use std::sync::Arc;

use super::runtime::{Framework, Nominations, Runner, record_preemption};
use super::search::{Search, Walked};
use crate::cluster::{Object, Str};
use crate::framework::{
    Context, CycleState, DryRunPolicy, List, NodeInfo, NodeToStatus, NominatingInfo, PARALLEL_ABOVE, PluginName, PluginSet, PodInfo,
    PreemptionRecord, SharedStatuses, Status, in_parts,
};
use crate::trace::{Event, Row, Selection};

/// Below this many nodes all are looked at.
const MIN_FEASIBLE_NODES_TO_FIND: usize = 100;
/// The adaptive percentage never goes below this.
const MIN_FEASIBLE_NODES_PERCENTAGE: i64 = 5;

/// How many nodes are looked at, and what stands in for chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sampling {
    /// `percentageOfNodesToScore` of the configuration; 0 adapts to the number of nodes.
    pub percentage: i32,
    /// Look at every node and dry-run every candidate, whatever the configuration says.
    pub all_nodes: bool,
    /// Where the dry run of preemption starts.
    pub dry_run_offset: usize,
}

/// What an attempt works with.
pub struct Attempt<'a> {
    /// The profile.
    pub framework: &'a Framework,
    /// The cluster.
    pub cx: Context<'a>,
    /// Nominated pods.
    pub nominations: &'a dyn Nominations,
    /// How many nodes are looked at.
    pub sampling: Sampling,
    /// Where the search for nodes starts; moves on with every search.
    pub next_start_node_index: &'a mut usize,
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub enum Attempted {
    /// A node was chosen.
    Selected(Str),
    /// No node takes the pod.
    FitError(Box<FitError>),
    /// Something went wrong.
    Error(String),
    /// There is no node at all.
    NoNodes,
}

/// Why no node takes the pod, and what preemption made of it.
#[derive(Clone, Debug)]
pub struct FitError {
    /// Why each node was turned down.
    pub statuses: NodeToStatus,
    /// The message of the PreFilter plugin that ruled out all nodes.
    pub pre_filter_message: String,
    /// The plugins that rejected.
    pub unschedulable_plugins: PluginSet,
    /// The plugins that answered Pending.
    pub pending_plugins: PluginSet,
    /// What PostFilter returned; `None` without PostFilter plugins.
    pub post_filter: Option<Status>,
    /// What becomes of the nomination; `None` leaves it.
    pub nominating: Option<NominatingInfo>,
    /// What preemption found; also where DefaultPreemption was not reached.
    pub preemption: Option<Arc<PreemptionRecord>>,
    /// Whether preemption really ran.
    pub preempted: bool,
    /// Objects that PostFilter plugins write.
    pub writes: Vec<Object>,
    /// The text of the event and of the condition.
    pub message: String,
}

/// The text of an attempt without nodes.
pub const NO_NODES: &str = "no nodes available to schedule pods";

impl Attempt<'_> {
    /// Runs the attempt; everything that happens goes to `events`. The state is what Reserve and PreBind go on with.
    pub fn run(&mut self, pod: &PodInfo, state: &mut CycleState, events: &mut Vec<Event>) -> Attempted {
        if self.cx.snapshot.is_empty() {
            return Attempted::NoNodes;
        }
        let search = match self.find_nodes(pod, state, events) {
            Ok(search) => search,
            Err(message) => return Attempted::Error(message),
        };
        match &search.feasible[..] {
            [] => self.post_filter(pod, state, search, events),
            [one] => {
                let node = one.name().clone();
                let why = if search.by_nomination { Selection::NominatedNode } else { Selection::OnlyFeasibleNode };
                events.push(Event::NodeSelected { node: node.clone(), why, tied: vec![node.clone()].into() });
                Attempted::Selected(node)
            }
            nodes => match self.prioritize(pod, state, nodes, events) {
                Ok(node) => Attempted::Selected(node),
                Err(message) => Attempted::Error(message),
            },
        }
    }

    fn runner(&self, state: &CycleState) -> Runner<'_> {
        Runner::new(self.framework, self.cx, self.nominations, state)
    }

    fn find_nodes(&mut self, pod: &PodInfo, state: &mut CycleState, events: &mut Vec<Event>) -> Result<Search, String> {
        let mut search = Search::default();
        let pre = self.framework.run_pre_filter(&self.cx, state, pod, events);
        search.noted.plugins = pre.narrowed_by;
        if !pre.status.is_success() {
            if !pre.status.is_rejected() {
                return Err(pre.status.message());
            }
            search.pre_filter_message = pre.status.message();
            search.noted.note(&pre.status);
            events.push(Event::NodesNarrowed { nodes: List::default(), status: pre.status.clone(), rejected: true });
            search.absent = Some(pre.status);
            return Ok(search);
        }
        search.events_from = events.len();
        let nominated = &pod.pod.status.nominated_node_name;
        if let Some(node) = self.cx.snapshot.get(nominated).filter(|_| !nominated.is_empty()) {
            events.push(Event::NominatedNodeTried { node: nominated.clone() });
            // An error here is logged and forgotten: all nodes are looked at next.
            let node = node.clone();
            let mut first = Search { noted: search.noted, ..Search::default() };
            let found = self.filter_all(pod, state, &[node], &mut first, events);
            if found.is_ok() && !first.feasible.is_empty() {
                search.feasible = first.feasible;
                search.by_nomination = true;
                return Ok(search);
            }
        }
        let nominated_first = events.len() > search.events_from;
        let all = self.cx.snapshot.nodes();
        let narrowed: Option<Vec<Arc<NodeInfo>>> =
            pre.nodes.as_ref().map(|names| names.iter().filter_map(|n| self.cx.snapshot.get(n).cloned()).collect());
        if let Some(nodes) = &narrowed {
            let by: Vec<&str> = pre.narrowed_by.iter().map(PluginName::as_str).collect();
            let absent = Status::unresolvable(format!("node(s) didn't satisfy plugin(s) [{}]", by.join(" ")));
            let names = nodes.iter().map(|n| n.name().clone()).collect();
            events.push(Event::NodesNarrowed { nodes: names, status: absent.clone(), rejected: false });
            search.absent = Some(absent);
        }
        let found = self.filter_all(pod, state, narrowed.as_deref().unwrap_or(all), &mut search, events);
        // A node that was tried before all others may be among those looked at now.
        let rejected = if nominated_first { search.statuses(events).len() } else { search.rejected };
        let processed = search.feasible.len() + rejected;
        *self.next_start_node_index = (*self.next_start_node_index + processed) % all.len();
        found.map(|()| search)
    }

    /// Looks at nodes from the rotating start until enough fit; mirrors `findNodesThatPassFilters`.
    ///
    /// kube-scheduler looks at nodes in parallel, so that which nodes it got to before it stopped depends on timing;
    /// here it is as if one worker walked them.
    fn filter_all(
        &self,
        pod: &PodInfo,
        state: &CycleState,
        nodes: &[Arc<NodeInfo>],
        search: &mut Search,
        events: &mut Vec<Event>,
    ) -> Result<(), String> {
        let mut wanted = self.num_feasible_nodes_to_find(nodes.len());
        if self.framework.score.is_empty() && !self.sampling.all_nodes {
            wanted = 1;
        }
        let n = nodes.len();
        let start = *self.next_start_node_index;
        if self.framework.filter.is_empty() {
            // Without filters the first nodes are taken unseen.
            search.feasible = (0..wanted.min(n)).map(|i| nodes[(start + i) % n].clone()).collect();
            for node in &search.feasible {
                events.push(Event::NodeFiltered { node: node.name().clone(), status: Status::success(), nominated: List::default() });
            }
            return Ok(());
        }
        let runner = self.runner(state);
        let node_at = |i: usize| &nodes[(start + i) % n];
        let mut shared = SharedStatuses::default();
        let (mut at, mut ahead) = (0, wanted + 1);
        while at < n {
            let range = at..(at + ahead.max(PARALLEL_ABOVE)).min(n);
            at = range.end;
            let filter = |i: usize| (node_at(i), runner.filter_node(state, pod, node_at(i)));
            let walk = |part: Range<usize>| Walked::over(part, shared.clone(), filter);
            let parts = if n > PARALLEL_ABOVE { in_parts(range, walk) } else { vec![walk(range)] };
            for mut walked in parts {
                shared = std::mem::take(&mut walked.shared);
                if search.take(walked, node_at, (n, wanted), events)? {
                    return Ok(());
                }
            }
            // What is looked at beyond the end of the search is looked at in vain, so no more than will do at this rate.
            let missing = (wanted + 1).saturating_sub(search.feasible.len());
            ahead = (missing * at).checked_div(search.feasible.len()).map_or(n, |likely| likely + likely / 8);
        }
        Ok(())
    }

    /// Mirrors `numFeasibleNodesToFind`.
    fn num_feasible_nodes_to_find(&self, nodes: usize) -> usize {
        if nodes < MIN_FEASIBLE_NODES_TO_FIND || self.sampling.all_nodes {
            return nodes;
        }
        let mut percentage = i64::from(self.framework.percentage_of_nodes_to_score.unwrap_or(self.sampling.percentage));
        if percentage == 0 {
            percentage = (50 - nodes as i64 / 125).max(MIN_FEASIBLE_NODES_PERCENTAGE);
        }
        (nodes * percentage as usize / 100).max(MIN_FEASIBLE_NODES_TO_FIND)
    }

    fn prioritize(&self, pod: &PodInfo, state: &mut CycleState, nodes: &[Arc<NodeInfo>], events: &mut Vec<Event>) -> Result<Str, String> {
        self.framework.run_pre_score(&self.cx, state, pod, nodes, events)?;
        let scores = self.framework.run_score(&self.cx, state, pod, nodes)?;
        let best = scores.first().map_or(0, |s| s.total);
        let tied: List<Str> = scores.iter().take_while(|s| s.total == best).map(|s| s.node.clone()).collect();
        events.extend(Row::all(scores).map(Event::NodeScored));
        let node = tied.first().cloned().ok_or_else(|| "empty priorityList".to_owned())?;
        events.push(Event::NodeSelected { node: node.clone(), why: Selection::HighestScore, tied });
        Ok(node)
    }

    fn post_filter(&self, pod: &PodInfo, state: &mut CycleState, search: Search, events: &mut Vec<Event>) -> Attempted {
        let num_all_nodes = self.cx.snapshot.len();
        let mut error = FitError {
            statuses: search.statuses(events),
            pre_filter_message: search.pre_filter_message,
            unschedulable_plugins: search.noted.plugins,
            pending_plugins: search.noted.pending,
            post_filter: None,
            nominating: Some(NominatingInfo::Override(Str::default())),
            preemption: None,
            preempted: false,
            writes: Vec::new(),
            message: String::new(),
        };
        let mut post_message = String::new();
        if !self.framework.post_filter.is_empty() {
            let runner = self.runner(state);
            let policy = DryRunPolicy { offset: self.sampling.dry_run_offset, all_nodes: self.sampling.all_nodes };
            let px = runner.post_filter_context(&error.statuses, policy);
            let result = self.framework.run_post_filter(&px, state, pod, events);
            error.preempted = result.preemption.is_some();
            error.preemption = result.preemption;
            if error.preemption.is_none() && self.framework.post_filter.iter().any(|p| p.name() == PluginName::DefaultPreemption) {
                // An earlier plugin ended PostFilter; say what preemption would have found.
                error.preemption = self.consider_preemption(&px, state, pod);
                if let Some(record) = &error.preemption {
                    record_preemption(record, events);
                }
            }
            post_message = result.status.message();
            error.nominating = result.nominating;
            error.writes = result.writes;
            error.post_filter = Some(result.status);
        }
        error.message = error.statuses.fit_error(num_all_nodes, &error.pre_filter_message, &post_message);
        Attempted::FitError(Box::new(error))
    }

    fn consider_preemption(
        &self,
        px: &crate::framework::PostFilterContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
    ) -> Option<Arc<PreemptionRecord>> {
        let plugin = self.framework.post_filter.iter().find(|p| p.name() == PluginName::DefaultPreemption)?;
        plugin.post_filter()?.dry_run_only(px, state, pod)
    }
}
