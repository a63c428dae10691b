//! One attempt to find a node; mirrors `schedulePod` in `pkg/scheduler/schedule_one.go`.

use std::sync::Arc;

use super::ScheduleError;
use super::equivalence_cache::EquivalenceClass;
use super::extending::PreemptExtenders;
use super::runtime::{Framework, Nominations, Runner};
use super::scoring::Scores;
use super::search::Search;
use crate::cluster::{Kind, Object, Str};
use crate::extenders::CycleExtenders;
use crate::framework::{
    CandidateExtenders, Context, CycleState, Diagnosis, DryRunPolicy, NodeInfo, NominatingInfo, PluginName, PodInfo, PostFilterContext,
    PreemptionRecord, Reason, SharedList, Status, node_steps, steps_of_search,
};
use crate::release::{Algorithm, HostOrder, PostFilterText};
use crate::trace::{Event, Recorder, Row, Selection, record_preemption};

/// How many nodes a cycle filters, and the offset that replaces kube-scheduler's random one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sampling {
    /// `percentageOfNodesToScore` of the configuration; 0 adapts to the number of nodes.
    pub percentage: i32,
    /// Filter every node and dry-run every candidate, regardless of the configuration.
    pub all_nodes: bool,
    /// Index at which the dry run of preemption starts; kube-scheduler draws it at random.
    pub dry_run_offset: usize,
}

/// The number of nodes beyond the shortlist that are dry-run for odds by default: few enough not to slow down long runs.
pub(super) const ODDS_NODES: usize = 1000;

/// Whether PostFilter, and with it preemption, runs when no node fits the pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PostFilter {
    /// Run it, as kube-scheduler does.
    #[default]
    Run,
    /// Skip it, when only the fit matters.
    LeaveOut,
}

/// The input of one attempt; [`Self::run`] mirrors `schedulePod`.
pub struct SchedulePod<'a> {
    /// The profile.
    pub framework: &'a Framework,
    /// Objects, snapshot, release and time.
    pub cx: Context<'a>,
    /// Nominated pods.
    pub nominations: &'a dyn Nominations,
    /// Number of nodes to filter.
    pub sampling: Sampling,
    /// Whether PostFilter runs.
    pub post_filter: PostFilter,
    /// How many nodes beyond the shortlist may be dry-run for the odds of a preemption.
    pub odds_nodes: usize,
    /// Whether only the fit matters: of the feasible nodes two are scored, which shows an error of the pod's scoring, and the
    /// selected node says nothing.
    pub only_fit: bool,
    /// The extenders that are asked; `None` where none is.
    pub extenders: Option<&'a CycleExtenders<'a>>,
    /// Whether an extender, asked or not, filters or scores, so that the search does not stop at the first node.
    pub extenders_look_on: bool,
    /// Answers about pods like this one, in quiet runs; `None` where none are kept.
    pub(super) class: Option<&'a mut EquivalenceClass>,
    /// Index into the snapshot at which the search starts; every search advances it.
    pub next_start_node_index: &'a mut usize,
    /// Counts the pods that were scored; selects among nodes of equal score in releases that rotate them.
    pub last_node_index: &'a mut u64,
    /// Counts the steps of attempts, about; see [`node_steps`].
    pub steps: &'a mut u64,
}

/// The result of one attempt.
#[derive(Clone, Debug)]
pub enum ScheduleResult {
    /// A node was chosen.
    Selected {
        /// The chosen node.
        node: Str,
        /// The nodes with the highest score, by name, the chosen one first.
        tied: SharedList<Str>,
        /// The nodes that passed Filter, as positions in the snapshot, in walking order from the rotating start.
        feasible: Vec<usize>,
        /// Why other nodes were rejected.
        diagnosis: Diagnosis,
    },
    /// No node fits the pod.
    FitError(Box<FitError>),
    /// The attempt ended in an error.
    Error(ScheduleError),
    /// The snapshot has no nodes.
    NoNodes,
}

/// Why no node fits the pod, with the result of PostFilter; mirrors `FitError` in `pkg/scheduler/framework/types.go`.
#[derive(Clone, Debug)]
pub struct FitError {
    /// Nodes in the snapshot.
    pub num_all_nodes: usize,
    /// Why each node was rejected.
    pub diagnosis: Diagnosis,
    /// Status of PostFilter; `None` if it did not run.
    pub post_filter: Option<Status>,
    /// Change to the nominated node; `None` keeps it.
    pub nominating: Option<NominatingInfo>,
    /// Dry run of preemption; also made when an earlier PostFilter plugin ended before DefaultPreemption.
    pub preemption: Option<Arc<PreemptionRecord>>,
    /// Whether PostFilter reached DefaultPreemption.
    pub preempted: bool,
    /// Objects written by PostFilter plugins.
    pub writes: Vec<Object>,
}

impl FitError {
    /// Returns the text of the event and of the condition; mirrors `FitError.Error`.
    pub fn message(&self) -> String {
        self.diagnosis.fit_error(self.num_all_nodes)
    }
}

/// The text of an attempt without nodes.
pub const NO_NODES: &str = "no nodes available to schedule pods";

impl SchedulePod<'_> {
    /// Runs the attempt and records its events. Reserve and PreBind continue with `state`.
    pub fn run(&mut self, pod: &PodInfo, state: &mut CycleState, recorder: &mut impl Recorder) -> ScheduleResult {
        state.set_node_steps(node_steps(pod, self.cx.snapshot));
        let result = self.try_pod(pod, state, recorder);
        state.count_filters(self.asked(&result));
        *self.steps = self.steps.saturating_add(state.list_steps()).saturating_add(steps_of_search(state.spent()));
        result
    }

    /// Returns how many nodes were filtered or scored.
    fn asked(&self, result: &ScheduleResult) -> usize {
        match result {
            ScheduleResult::Selected { feasible, diagnosis, .. } => feasible.len() + diagnosis.node_to_status.len(),
            ScheduleResult::FitError(error) => error.diagnosis.node_to_status.len(),
            ScheduleResult::Error(_) | ScheduleResult::NoNodes => self.cx.snapshot.len(),
        }
    }

    fn try_pod(&mut self, pod: &PodInfo, state: &mut CycleState, recorder: &mut impl Recorder) -> ScheduleResult {
        if let Err(error) = self.check_claims(pod) {
            return ScheduleResult::Error(error);
        }
        if self.cx.snapshot.nodes_in_placement() == 0 {
            let withheld = self.cx.cluster.unknown.unread(Kind::Node);
            return withheld.map_or(ScheduleResult::NoNodes, |why| ScheduleResult::Error(ScheduleError::NodesUnknown(why)));
        }
        let Search { mut feasible, nodes, by_nomination, diagnosis } = match self.find_nodes_that_fit_pod(pod, state, recorder) {
            Ok(search) => search,
            Err(error) => return ScheduleResult::Error(error),
        };
        let all = self.cx.snapshot.nodes();
        let nodes: Vec<Arc<NodeInfo>> = match nodes {
            Some(nodes) => {
                // Extenders may have left nodes out, and name some that the cluster lacks.
                feasible = nodes.iter().filter_map(|node| self.cx.snapshot.position(node.name())).collect();
                nodes
            }
            // Where only the fit matters, two are scored.
            None => feasible.iter().take(if self.only_fit { 2 } else { usize::MAX }).map(|at| all[*at].clone()).collect(),
        };
        let tied = match &nodes[..] {
            [] => return self.run_post_filter(pod, state, diagnosis, recorder),
            [one] => {
                let tied: SharedList<Str> = [one.name().clone()].into_iter().collect();
                let why = if by_nomination { Selection::NominatedNode } else { Selection::OnlyFeasibleNode };
                recorder.record(|| Event::NodeSelected { node: tied[0].clone(), why, tied: tied.clone() });
                tied
            }
            all => match self.prioritize_nodes(pod, state, if self.only_fit { &all[..2] } else { all }, &feasible, recorder) {
                Ok(tied) => tied,
                Err(error) => return ScheduleResult::Error(error),
            },
        };
        match tied.first().cloned() {
            Some(node) => ScheduleResult::Selected { node, tied, feasible, diagnosis },
            None => ScheduleResult::Error(ScheduleError::NoScores),
        }
    }

    /// Rejects missing and deleting claims before everything else, in releases that do; mirrors `podPassesBasicChecks`
    /// in `pkg/scheduler/core/generic_scheduler.go`.
    fn check_claims(&self, pod: &PodInfo) -> Result<(), ScheduleError> {
        if self.cx.emulation.behaviour().algorithm != Algorithm::PredicatesAndPriorities {
            return Ok(());
        }
        let claims = pod.pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref());
        for name in claims.map(|source| &source.claim_name) {
            let reason = match self.cx.cluster.persistent_volume_claims.namespaced(pod.namespace(), name) {
                None => Reason::ClaimNotFound { claim: name.clone() },
                Some(claim) if claim.metadata.deletion_timestamp.is_some() => Reason::ClaimDeleting { claim: name.clone() },
                Some(_) => continue,
            };
            return Err(ScheduleError::Claim(Status::error(reason).in_words_of(self.cx.emulation.release())));
        }
        Ok(())
    }

    pub(super) fn runner(&self, state: &CycleState) -> Runner<'_> {
        Runner::new(self.framework, self.cx, self.nominations, state)
    }

    /// Returns the nodes with the highest score, by name; mirrors `prioritizeNodes` and `selectHost`, which draws among
    /// them at random. `positions` are those of the nodes in the snapshot.
    fn prioritize_nodes(
        &mut self,
        pod: &PodInfo,
        state: &mut CycleState,
        nodes: &[Arc<NodeInfo>],
        positions: &[usize],
        recorder: &mut impl Recorder,
    ) -> Result<SharedList<Str>, ScheduleError> {
        let by_name = self.places_by_name(nodes, positions);
        let release = self.cx.emulation.behaviour();
        let scores = if release.algorithm == Algorithm::Plugins && self.framework.score.is_empty() && !self.extenders_look_on {
            Scores::equal(nodes.len())
        } else {
            self.framework.run_pre_score(&self.cx, state, pod, nodes, recorder)?;
            let class = self.class.as_deref_mut().filter(|_| positions.len() >= nodes.len()).map(|class| (class, positions));
            let mut scores = self.framework.run_score(&self.cx, state, pod, (nodes, class), recorder.events().is_some())?;
            self.add_extender_scores(pod, nodes, &mut scores, recorder);
            scores
        };
        let (best, why) = self.select_host(nodes, scores.best(nodes, &by_name));
        let tied: SharedList<Str> = best.into_iter().collect();
        if let (Some(events), Some(node)) = (recorder.events(), tied.first()) {
            events.extend(Row::all(scores.table(nodes, &by_name)).map(Event::NodeScored));
            events.push(Event::NodeSelected { node: node.clone(), why, tied: tied.clone() });
        }
        Ok(tied)
    }

    /// Returns the places of nodes in the order of names. `positions` begins with those in the snapshot, unless extenders returned
    /// nodes that it lacks.
    fn places_by_name(&self, nodes: &[Arc<NodeInfo>], positions: &[usize]) -> Vec<u32> {
        if positions.len() >= nodes.len() {
            let ranks = self.cx.snapshot.name_ranks();
            return positions.iter().take(nodes.len()).map(|at| ranks[*at]).collect();
        }
        let mut by_name: Vec<usize> = (0..nodes.len()).collect();
        by_name.sort_by_key(|at| nodes[*at].name());
        let mut places = vec![0; nodes.len()];
        for (place, at) in (0..).zip(by_name) {
            places[at] = place;
        }
        places
    }

    /// Moves the chosen node to the front of `best`, which is sorted by name. Mirrors `selectHost` in
    /// `pkg/scheduler/core/generic_scheduler.go` of releases that rotate among equal scores.
    fn select_host(&mut self, nodes: &[Arc<NodeInfo>], mut best: Vec<Str>) -> (Vec<Str>, Selection) {
        let release = self.cx.emulation.behaviour();
        if release.algorithm == Algorithm::Plugins || best.is_empty() {
            return (best, Selection::HighestScore);
        }
        let turn = (*self.last_node_index % best.len() as u64) as usize;
        *self.last_node_index += 1;
        let at = match release.predicates.host_order {
            HostOrder::NameBackwards => best.len() - 1 - turn,
            HostOrder::Found => {
                let found = nodes.iter().filter(|node| best.binary_search(node.name()).is_ok()).nth(turn);
                found.and_then(|node| best.binary_search(node.name()).ok()).unwrap_or(0)
            }
        };
        let why = if best.len() > 1 { Selection::Turn } else { Selection::HighestScore };
        best[..=at].rotate_right(1);
        (best, why)
    }

    fn run_post_filter(&self, pod: &PodInfo, state: &mut CycleState, diagnosis: Diagnosis, recorder: &mut impl Recorder) -> ScheduleResult {
        let mut error = FitError {
            num_all_nodes: self.cx.snapshot.nodes_in_placement(),
            diagnosis,
            post_filter: None,
            nominating: Some(NominatingInfo::Override(Str::default())),
            preemption: None,
            preempted: false,
            writes: Vec::new(),
        };
        if self.framework.post_filter.is_empty() || self.post_filter == PostFilter::LeaveOut {
            return ScheduleResult::FitError(Box::new(error));
        }
        let class = self.class.as_deref().filter(|_| !state.pre_filter_rejected);
        let runner = self.runner(state).with_class(class);
        let Sampling { all_nodes, dry_run_offset: offset, .. } = self.sampling;
        let policy = DryRunPolicy { offset, all_nodes, odds_nodes: self.odds_nodes };
        let extenders = self.extenders.map(|extenders| PreemptExtenders { extenders, snapshot: self.cx.snapshot });
        let extenders = extenders.as_ref().map(|extenders| extenders as &dyn CandidateExtenders);
        let px = runner.post_filter_context(&error.diagnosis.node_to_status, policy, recorder.events().is_none(), extenders);
        let result = self.framework.run_post_filter(&px, state, pod, recorder);
        error.preempted = result.preemption.is_some();
        error.preemption = result.preemption;
        if error.preemption.is_none() && self.framework.post_filter.iter().any(|p| p.name() == PluginName::DefaultPreemption) {
            // An earlier plugin ended PostFilter; say what preemption would have found.
            error.preemption = self.consider_preemption(&px, state, pod);
            if let (Some(record), Some(events)) = (&error.preemption, recorder.events()) {
                record_preemption(record, events);
            }
        }
        let release = &self.cx.emulation.behaviour().messages;
        let is_reported = match release.post_filter {
            PostFilterText::Always => true,
            PostFilterText::UnlessError => !result.status.is_error(),
            PostFilterText::Never => false,
        };
        error.diagnosis.post_filter_msg = if is_reported { result.status.message() } else { String::new() };
        if !error.diagnosis.post_filter_msg.is_empty() {
            error.diagnosis.post_filter_msg += release.end;
        }
        error.nominating = result.nominating;
        error.writes = result.writes;
        error.post_filter = Some(result.status);
        ScheduleResult::FitError(Box::new(error))
    }

    fn consider_preemption(&self, px: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> Option<Arc<PreemptionRecord>> {
        let plugin = self.framework.post_filter.iter().find(|p| p.name() == PluginName::DefaultPreemption)?;
        plugin.post_filter()?.dry_run_only(px, state, pod)
    }
}
