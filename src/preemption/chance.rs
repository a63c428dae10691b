//! The likelihood of each outcome of a preemption where kube-scheduler leaves it to chance: the candidates that are listed, the
//! choice among equal ones, and the victims among equal pods.
//!
//! One dry run of every potential node ranks all candidates; the rest is counting ([`crate::odds`]).

use std::ops::Range;
use std::sync::Arc;

use super::dry_run::{Scratch, Scratches};
use super::orders::{Outcomes, Ties};
use super::recall::{NewRun, Recall, Tried};
use super::select;
use crate::cluster::Str;
use crate::framework::{Candidate, Code, CycleState, NodeDryRun, NodeInfo, PodInfo, PostFilterContext, PreemptionRecord, in_parts};
use crate::limits::engine::{VICTIM_COMBINATIONS, VICTIM_COUNTED, VICTIM_ORDERS};
use crate::odds::{Chance, Contender, Draw, Odds, UnknownOdds, from_offsets, mixed};
use crate::release::{PotentialNodes, WithoutVictims};

/// The candidate that a potential node is, over all orders of equal pods on it, each with the number of orders. Empty for a node
/// that is no candidate.
type Contenders = Vec<(u64, Contender)>;

/// Returns the odds of a preemption that has chosen among its candidates; `None` where nothing is left to chance.
pub(super) fn odds<'a>(
    post: &'a PostFilterContext<'a>,
    state: &CycleState,
    pod: &PodInfo,
    record: &PreemptionRecord,
    scratches: &Scratches<Scratch<'a>>,
) -> Option<Odds> {
    let selected = record.selected()?;
    let shortlist = shortlist(post);
    let cut = record.wanted_candidates < record.potential_nodes.len();
    if !record.extender_calls.is_empty() {
        let is_open = cut || record.best.len() > 1;
        return is_open.then(|| Odds::unknown(if cut { shortlist } else { Chance::LastTie }, UnknownOdds::Extenders));
    }
    let beyond = record.potential_nodes.len() - record.dry_runs.in_order().len();
    if beyond > post.dry_run.odds_nodes {
        return Some(Odds::unknown(shortlist, UnknownOdds::DryRuns(beyond)));
    }
    let candidates = all_candidates(post, state, pod, record, scratches);
    let start = || Scratch::new(post.cx.snapshot, post.cx.emulation.behaviour());
    let found = scratches.lend(start, |scratch| Found::of(post, state, pod, selected, &candidates, scratch));
    let victims = match &found.victims {
        Ok(outcomes) => Ok(outcomes.iter().flat_map(|o| &o.victims).filter(|(_, share)| !share.is_whole()).cloned().collect::<Vec<_>>()),
        Err(why) => Err(why.clone()),
    };
    let victims_open = victims.as_ref().map_or(true, |victims| !victims.is_empty());
    let mut odds = match found.potential {
        Err(why) => Odds::unknown(Chance::VictimOrder, why),
        Ok(potential) => {
            let number = potential.iter().filter(|p| !p.is_empty()).count();
            let listed = if cut && number > record.wanted_candidates { Some(shortlist) } else { None };
            nodes(&potential, record.wanted_candidates, listed)
        }
    };
    if victims_open {
        odds = odds.and(Chance::VictimOrder).with_victims(victims.clone());
    }
    if odds.why_unknown().is_some() || odds.outcomes() > 1 {
        return Some(odds);
    }
    let one = Odds::uniform(Chance::VictimOrder, std::slice::from_ref(selected));
    victims_open.then(|| one.with_victims(victims))
}

/// Returns the chance that decides which candidates are listed: the order of a map, or the offset in the snapshot's order. Up to 1.30
/// all nodes are listed and then filtered; later releases do so if nodes without a status of their own are Unschedulable.
fn shortlist(post: &PostFilterContext<'_>) -> Chance {
    let absent = post.statuses.absent().code() == Code::Unschedulable;
    match post.cx.emulation.behaviour().preemption.potential_nodes {
        PotentialNodes::Unschedulable if !absent => Chance::Shortlist,
        _ => Chance::Offset,
    }
}

/// A potential node with its dry run, and the ties among its pods if it is a candidate.
struct Potential<'a> {
    node: &'a Arc<NodeInfo>,
    run: Arc<NodeDryRun>,
    ties: Ties,
}

impl Potential<'_> {
    /// Returns the candidate that the node is if it is dry-run and listed.
    fn candidate(&self) -> Option<(&Candidate, &Ties)> {
        Some((self.run.candidate.as_ref()?, &self.ties))
    }
}

/// Returns the potential nodes in the snapshot's order.
fn all_candidates<'a>(
    post: &'a PostFilterContext<'a>,
    state: &CycleState,
    pod: &PodInfo,
    record: &PreemptionRecord,
    scratches: &Scratches<Scratch<'a>>,
) -> Vec<Potential<'a>> {
    let snapshot = post.cx.snapshot;
    let at = |name: &Str| Some((snapshot.position(name)?, snapshot.get(name)?));
    let nodes: Vec<(usize, &Arc<NodeInfo>)> = record.potential_nodes.iter().filter_map(at).collect();
    let quiet = PostFilterContext { quiet: true, ..*post };
    let recall = Recall::of(&quiet, pod);
    let start = || Scratch::new(snapshot, post.cx.emulation.behaviour());
    // The dry runs began at the offset, and left out the rest.
    let run = |i: usize| record.dry_runs.in_order().get((i + nodes.len() - record.offset) % nodes.len());
    let potential = |scratch: &mut Scratch<'a>, i: usize| -> (Potential<'a>, Option<NewRun>) {
        let (at, node) = nodes[i];
        let Tried { run, new } = match run(i) {
            Some(run) if run.candidate.is_some() || !run.status.is_success() => Tried { run: run.clone(), new: None },
            // Not tried, or dropped from a full list.
            _ => recall.try_node(state, scratch, (at, node)),
        };
        let ties = if run.has_ties && run.candidate.is_some() { Ties::on(post, pod, node) } else { Ties::default() };
        (Potential { node, run, ties }, new)
    };
    let some = |part: Range<usize>| -> Vec<(Potential<'a>, Option<NewRun>)> {
        scratches.lend(start, |scratch| part.map(|i| potential(scratch, i)).collect())
    };
    let (potential, new): (Vec<_>, Vec<_>) = in_parts(0..nodes.len(), some).into_iter().flatten().unzip();
    recall.keep(new.into_iter().flatten().collect());
    potential
}

/// The outcomes over all orders of equal pods.
struct Found {
    potential: Result<Vec<Contenders>, UnknownOdds>,
    /// The outcomes on the selected node; `None` where no pods are equal there.
    victims: Result<Option<Outcomes>, UnknownOdds>,
}

impl Found {
    fn of<'a>(
        post: &PostFilterContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
        selected: &Str,
        candidates: &[Potential<'a>],
        scratch: &mut Scratch<'a>,
    ) -> Self {
        let rank = |candidate: &Candidate| {
            let release = &post.cx.emulation.behaviour().preemption;
            let costless = release.without_victims == WithoutVictims::Chosen && candidate.victims.is_empty();
            let scores = select::scores(candidate, release.tie_break, post.cx.now);
            let rank = std::iter::once(i64::from(costless)).chain(scores).collect();
            Contender { node: candidate.node.clone(), violates: candidate.pdb_violations > 0, rank }
        };
        let only_one = candidates.iter().filter(|p| p.candidate().is_some()).count() == 1;
        let plans = plans(candidates, selected);
        // The last node with too many orders makes the odds of nodes unknown, whatever comes before.
        let last = plans.iter().rposition(|plan| *plan == Orders::TooMany).filter(|_| !only_one);
        let (mut potential, mut victims) = (Ok(Vec::new()), Ok(None));
        for (at, (one, plan)) in candidates.iter().zip(plans).enumerate() {
            let node = one.node;
            let is_selected = node.name() == selected;
            if last.is_some_and(|last| at < last) && !is_selected {
                continue;
            }
            let Some((candidate, ties)) = one.candidate() else {
                if let Ok(potential) = &mut potential {
                    potential.push(Vec::new());
                }
                continue;
            };
            let mut outcomes = if potential.is_ok() { vec![(1, rank(candidate))] } else { Vec::new() };
            if plan != Orders::One {
                let found = match plan {
                    Orders::TooMany => Err(UnknownOdds::TiedPods { node: node.name().clone(), pods: ties.tied_pods() }),
                    _ => ties.outcomes(post, state, pod, node, scratch).ok_or(UnknownOdds::OtherOutcome),
                };
                match &found {
                    Ok(_) if potential.is_err() => {}
                    Ok(found) => outcomes = by_rank(found.candidates.iter().map(|(count, candidate)| (*count, rank(candidate)))),
                    Err(why) if !only_one => potential = Err(why.clone()),
                    Err(_) => {}
                }
                if is_selected {
                    victims = found.map(Some);
                }
            }
            if let Ok(potential) = &mut potential {
                potential.push(outcomes);
            }
        }
        Self { potential, victims }
    }
}

/// How many orders of equal pods are tried on a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orders {
    /// The one that was tried: others have the same outcome.
    One,
    /// Each of them.
    Each,
    /// None of too many.
    TooMany,
}

/// Returns how many orders are tried on each node: all, for as long as they are not too many together.
fn plans(candidates: &[Potential<'_>], selected: &Str) -> Vec<Orders> {
    let mut tried = 0_u64;
    let plan = |potential: &Potential<'_>| match potential.candidate() {
        Some((_, ties)) if !ties.is_empty() => match ties.orders() {
            // One order alone decides between interchangeable pods only, which matters where they are evicted.
            Some(1) if potential.node.name() != selected => Orders::One,
            Some(orders) if tried.saturating_add(orders) <= VICTIM_ORDERS => {
                tried += orders;
                Orders::Each
            }
            _ => Orders::TooMany,
        },
        _ => Orders::One,
    };
    candidates.iter().map(plan).collect()
}

/// Puts together outcomes that are as good as each other.
fn by_rank(outcomes: impl Iterator<Item = (u64, Contender)>) -> Vec<(u64, Contender)> {
    let mut distinct: Vec<(u64, Contender)> = Vec::new();
    for (count, contender) in outcomes {
        match distinct.iter_mut().find(|(_, known)| *known == contender) {
            Some((sum, _)) => *sum += count,
            None => distinct.push((count, contender)),
        }
    }
    distinct
}

/// Returns the odds of nodes. `listed` says what decides which candidates are listed, where not all are.
fn nodes(potential: &[Contenders], wanted: usize, listed: Option<Chance>) -> Odds {
    let several: Vec<&Contenders> = potential.iter().filter(|p| p.len() > 1).collect();
    let combinations = several.iter().try_fold(1_usize, |product, p| product.checked_mul(p.len()));
    let orders = several.iter().try_fold(1_u64, |product, p| product.checked_mul(p.iter().map(|(count, _)| count).sum()));
    let few = |number: &usize| *number == 1 || *number <= VICTIM_COMBINATIONS && *number * potential.len() <= VICTIM_COUNTED;
    let Some(combinations) = combinations.filter(few).filter(|_| orders.is_some()) else {
        return Odds::unknown(Chance::VictimOrder, UnknownOdds::TiedNodes(several.len()));
    };
    if combinations == 1 {
        let contenders: Vec<Option<Contender>> = potential.iter().map(|p| p.first().map(|(_, contender)| contender.clone())).collect();
        let draw = Draw::new(contenders.iter().flatten().cloned().collect(), wanted);
        let odds = match listed {
            None => return Odds::drawn(Chance::LastTie, draw),
            Some(Chance::Offset) => Odds::counted(Chance::Offset, from_offsets(&contenders, wanted)),
            Some(chance) => Odds::drawn(chance, draw.clone()),
        };
        return if draw.has_ties() { odds.and(Chance::LastTie) } else { odds };
    }
    let mut has_ties = false;
    let mut cases = Vec::with_capacity(combinations);
    for number in 0..combinations {
        let (mut rest, mut weight) = (number, 1_u64);
        let contenders = potential.iter().map(|p| {
            let (count, contender) = match &p[..] {
                [] => return None,
                [(_, one)] => return Some(one.clone()),
                many => &many[rest % many.len()],
            };
            rest /= p.len();
            weight *= *count;
            Some(contender.clone())
        });
        let contenders: Vec<Option<Contender>> = contenders.collect();
        let draw = Draw::new(contenders.iter().flatten().cloned().collect(), wanted);
        let shares = if listed == Some(Chance::Offset) { from_offsets(&contenders, wanted) } else { draw.shares() };
        has_ties |= if listed.is_some() { draw.has_ties() } else { shares.len() > 1 };
        cases.push((weight, shares));
    }
    let odds = Odds::counted(Chance::VictimOrder, mixed(&cases, (potential.len() as u64).max(VICTIM_ORDERS) as u32));
    let odds = if has_ties { odds.and(Chance::LastTie) } else { odds };
    if let Some(listed) = listed { odds.and(listed) } else { odds }
}
