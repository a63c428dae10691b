//! The placements in which a group is tried, and which of them is taken; mirrors `podGroupSchedulingPlacementAlgorithm`.

use crate::cluster::Str;
use crate::framework::{Code, Context, MAX_NODE_SCORE, Placement, PluginName, PodGroupAssignments, Reason, Status};
use crate::limits::engine::{PLACED_MEMBERS_KEPT, PLACEMENT_ATTEMPTS, PLACEMENT_ATTEMPTS_OF_NODE};
use crate::release::Gate;
use crate::scheduler::algorithm::PostFilter;
use crate::trace::{Event, GroupEvent, PlacementTry};

use super::{GroupResult, PodGroupCycle};

/// The scores of one placement by plugin, weighted.
type Scores = Vec<(PluginName, i64)>;

/// A placement that was tried.
struct Tried {
    result: GroupResult,
    facts: Vec<Event>,
    takes_the_group: bool,
    /// Whether each member that was tried found a place.
    placed: Vec<bool>,
    /// Whether the members of the result and the facts are left out.
    is_left_out: bool,
}

impl Tried {
    /// Keeps a result. Of `many`, those that changed nothing are kept without their members.
    fn new(mut result: GroupResult, mut facts: Vec<Event>, many: bool) -> Self {
        let takes_the_group = result.takes_the_group();
        let placed = result.members.iter().map(|member| member.place.is_some()).collect();
        let is_left_out = many && result.post_filtered.is_empty() && result.preemption.is_none();
        if is_left_out {
            (result.members, facts) = (Vec::new(), Vec::new());
        }
        Self { result, facts, takes_the_group, placed, is_left_out }
    }
}

impl PodGroupCycle<'_> {
    /// Tries the group, in each placement if there are several.
    pub(super) fn schedule(&mut self, post_filter: PostFilter, mut events: Option<&mut Vec<Event>>) -> GroupResult {
        if !self.emulation.enabled(Gate::TopologyAwareWorkloadScheduling) {
            return self.try_members(None, post_filter, events);
        }
        let placements = match self.placements() {
            Ok(placements) => placements,
            Err(status) => return GroupResult::of(status),
        };
        // Only one of them is reported, and which one shows at the end.
        let keeps = events.is_some();
        let are_many = placements.len().saturating_mul(self.members.len()) > PLACED_MEMBERS_KEPT;
        let mut tried: Vec<Tried> = Vec::new();
        let nodes = self.world.cache.snapshot().len();
        let mut left = PLACEMENT_ATTEMPTS.saturating_add(nodes.saturating_mul(PLACEMENT_ATTEMPTS_OF_NODE));
        for placement in &placements {
            if left == 0 {
                return GroupResult::of(Status::error(format!(
                    "the pods of the group were tried in {} of {} placements, and more take too long",
                    tried.len(),
                    placements.len()
                )));
            }
            let mut facts = Vec::new();
            let result = self.try_members(Some(placement), post_filter, keeps.then_some(&mut facts));
            if result.status.is_error() {
                if let Some(events) = events.as_mut() {
                    events.append(&mut facts);
                }
                return result;
            }
            left = left.saturating_sub(result.members.len());
            tried.push(Tried::new(result, facts, are_many));
        }
        let chosen = self.choose(&placements, &tried);
        let (at, scores) = match chosen {
            Ok(chosen) => chosen,
            Err(status) => return GroupResult::of(status),
        };
        for (i, (placement, tried)) in placements.iter().zip(&tried).enumerate() {
            let Some(events) = &mut events else { break };
            let scores = scores.get(i).cloned().unwrap_or_default();
            let (name, nodes, placed) = (placement.name.clone(), placement.nodes.len(), tried.placed.iter().filter(|is| **is).count());
            let status = if tried.takes_the_group { Status::success() } else { tried.result.status.clone() };
            events.push(Event::group(GroupEvent::PlacementTried(PlacementTry { name, nodes, placed, status, scores, chosen: i == at })));
        }
        let others = tried.iter_mut().enumerate().filter(|(i, _)| *i != at);
        let mut elsewhere: Vec<_> = others.flat_map(|(_, tried)| std::mem::take(&mut tried.result.post_filtered)).collect();
        let feasible = tried.iter().any(|tried| tried.takes_the_group);
        let Tried { mut result, mut facts, is_left_out, .. } = tried.swap_remove(at);
        if is_left_out {
            // It changed nothing, so that it ends the same again.
            result = self.try_members(Some(&placements[at]), post_filter, keeps.then_some(&mut facts));
        }
        if let Some(events) = events.as_mut() {
            events.append(&mut facts);
        }
        result.post_filtered.append(&mut elsewhere);
        if !feasible {
            // As an error, a status says no more than that the group cannot be scheduled.
            let first: Str = match result.status.reasons().first() {
                Some(reason @ Reason::GroupUnschedulable) => reason.text(self.emulation.release()).as_ref().into(),
                _ => result.status.message().into(),
            };
            result.status = Status::new(Code::Unschedulable, [Reason::NoPlacementAvailable { placements: placements.len(), first }]);
        }
        result
    }

    /// Mirrors `RunPlacementGeneratePlugins`.
    fn placements(&self) -> Result<Vec<Placement>, Status> {
        let snapshot = self.world.cache.snapshot();
        let all = Placement { name: Str::default(), nodes: (0..snapshot.len()).collect() };
        let Some(plugin) = self.framework.placement_generate.first() else { return Ok(vec![all]) };
        let Some(point) = plugin.placement_generate() else { return Ok(vec![all]) };
        let placements = point.generate_placements(&self.context(&snapshot), self.group, all)?;
        if placements.is_empty() {
            return Err(Status::rejected(Reason::NoFeasiblePlacement).with_plugin(plugin.name()));
        }
        Ok(placements)
    }

    fn context<'b>(&'b self, snapshot: &'b crate::framework::Snapshot) -> Context<'b> {
        Context { cluster: &self.world.cluster, snapshot, emulation: self.emulation, now: self.now }
    }

    /// Returns which placement is taken, and the scores of each where several take the group; the first where none does. Of
    /// equals the first by name is taken, where kube-scheduler draws one.
    fn choose(&self, placements: &[Placement], tried: &[Tried]) -> Result<(usize, Vec<Scores>), Status> {
        let feasible: Vec<usize> = (0..tried.len()).filter(|i| tried[*i].takes_the_group).collect();
        if let [] | [_] = feasible[..] {
            return Ok((feasible.first().copied().unwrap_or(0), Vec::new()));
        }
        let assignments: Vec<PodGroupAssignments<'_>> = feasible
            .iter()
            .map(|i| {
                let placed = self.members.iter().zip(&tried[*i].placed).filter(|(_, is_placed)| **is_placed);
                let pods = placed.map(|(info, _)| info.pod_info.clone()).collect();
                PodGroupAssignments { placement: &placements[*i], pods }
            })
            .collect();
        let scores = self.score(&assignments)?;
        let total = |scores: &Scores| scores.iter().fold(0i64, |sum, (_, score)| sum.saturating_add(*score));
        let best = scores.iter().map(total).max().unwrap_or(0);
        let at = scores.iter().position(|scores| total(scores) == best).map_or(0, |at| feasible[at]);
        let mut by_placement = vec![Scores::new(); placements.len()];
        for (i, scores) in feasible.into_iter().zip(scores) {
            by_placement[i] = scores;
        }
        Ok((at, by_placement))
    }

    /// Mirrors `RunPlacementScorePlugins`.
    fn score(&self, assignments: &[PodGroupAssignments<'_>]) -> Result<Vec<Scores>, Status> {
        let snapshot = self.world.cache.snapshot();
        let cx = self.context(&snapshot);
        let mut all: Vec<Scores> = vec![Scores::new(); assignments.len()];
        let failed = |what: &str, name: PluginName, status: &Status| {
            Status::error(format!("{what}PlacementScore plugins: plugin {:?} failed with: {}", name.as_str(), status.message()))
        };
        for (plugin, weight) in &self.framework.placement_score {
            let (Some(point), name) = (plugin.placement_score(), plugin.name()) else { continue };
            let raw = assignments.iter().map(|assignments| point.score_placement(&cx, self.group, assignments));
            let mut scores: Vec<i64> = raw.collect::<Result<_, _>>().map_err(|status| failed("running ", name, &status))?;
            let normalized = point.normalize_placement_scores(&mut scores);
            normalized.map_err(|status| failed("running NormalizePlacementScore on ", name, &status))?;
            if let Some(score) = scores.iter().find(|score| !(0..=MAX_NODE_SCORE).contains(*score)) {
                return Err(Status::error(format!(
                    "applying score defaultWeights on PlacementScore plugins: plugin {:?} returns an invalid score {score}, it should in the \
                     range of [0, {MAX_NODE_SCORE}] after normalizing",
                    name.as_str()
                )));
            }
            for (scores, score) in all.iter_mut().zip(scores) {
                scores.push((name, score.saturating_mul(*weight)));
            }
        }
        Ok(all)
    }
}
