//! Searches pairs of changes, where no single change lets the pod in.

use std::collections::BTreeMap;

use super::change::{Change, NodeChange};
use super::constraints::{Demand, Matrix, Row};
use super::search::{largest_request, least_priority};
use super::trial::{Trials, Verified};
use super::{Fix, FixOutcome, Limits, rank};
use crate::cluster::{NodeStage, Str};

/// Maximum number of pairs of demands to try.
const PAIRS: usize = 64;
/// Number of fixes at which the search ends.
const ENOUGH: usize = 12;

/// Tries pairs of changes: for two demands that are the only ones to fail on some node, and a change with a higher
/// priority. Returns the number of pairs that were left out.
pub(super) fn pairs(trials: &mut Trials<'_>, matrix: &Matrix, limits: Limits, fixes: &mut Vec<Fix>) -> usize {
    let snapshot = trials.scheduler().state().snapshot();
    // The first such node by name is the one to edit, where a change is of a node.
    let mut found: BTreeMap<(usize, usize), (usize, Str)> = BTreeMap::new();
    for at in matrix.two.iter() {
        let rows: Vec<usize> = matrix.failing(at).collect();
        let &[one, other] = &rows[..] else { continue };
        let name = snapshot.nodes()[at].name();
        let entry = found.entry((one, other)).or_insert_with(|| (0, name.clone()));
        entry.0 += 1;
        if *name < entry.1 {
            entry.1 = name.clone();
        }
    }
    let mut ranked: Vec<((usize, usize), (usize, Str))> = found.into_iter().collect();
    ranked.sort_by_key(|(_, (nodes, _))| std::cmp::Reverse(*nodes));
    let all = ranked.len();
    for (tried, ((one, other), (_, node))) in ranked.into_iter().enumerate() {
        if fixes.len() >= ENOUGH || tried >= PAIRS {
            return all - tried;
        }
        if let Some((changes, verified)) = pair(trials, matrix, [one, other], &node) {
            fixes.push(Fix::new(changes, verified));
        }
    }
    if fixes.is_empty() && !trials.preempts_today {
        let may_drop = |row: &Row| !matches!(row.demand, Demand::Volume { .. } | Demand::Claim(_)) && !is_left_to_owner(&row.demand);
        let rows = (0..matrix.rows.len()).filter(|row| may_drop(&matrix.rows[*row]));
        let changes: Vec<(usize, Change)> = rows.filter_map(|row| Some((row, Change::Pod(matrix.rows[row].drop.clone()?)))).collect();
        let left = changes.len().saturating_sub(PAIRS);
        for (row, change) in changes.into_iter().take(PAIRS) {
            if let Some((priority, verified)) = least_priority(trials, limits, std::slice::from_ref(&change)) {
                // Such a change lets the pod in without the priority, and was left out.
                if verified.outcome == FixOutcome::Scheduled && matrix.only(row).count() > 0 {
                    continue;
                }
                fixes.push(Fix::new(vec![change, priority], verified));
            }
        }
        return left;
    }
    0
}

/// Returns whether a taint keeps the pod off nodes that go or do not run.
fn is_left_to_owner(demand: &Demand) -> bool {
    matches!(demand, Demand::Taint(taint) if taint.owned().is_some_and(|owned| owned.stage != NodeStage::Starting))
}

/// Tries to drop two demands; a request is lowered instead.
fn pair(trials: &mut Trials<'_>, matrix: &Matrix, rows: [usize; 2], node: &Str) -> Option<(Vec<Change>, Verified)> {
    let request = |row: usize| match &matrix.rows[row].demand {
        Demand::Resource { resource, .. } => Some(resource.clone()),
        _ => None,
    };
    let drop = |row: usize| match &matrix.rows[row].demand {
        Demand::Cordon => Some(Change::Node(node.clone(), NodeChange::Uncordon)),
        // A container that mounts a volume or uses a claim needs it.
        Demand::Volume { .. } | Demand::Claim(_) => None,
        demand if is_left_to_owner(demand) => None,
        _ => matrix.rows[row].drop.clone().map(Change::Pod),
    };
    let [one, other] = rows;
    match (request(one), request(other)) {
        (None, None) => {
            let mut changes = vec![drop(one)?, drop(other)?];
            changes.sort_by_key(rank);
            let verified = trials.attempt(&changes)?;
            Some((changes, verified))
        }
        (Some(resource), None) => lowered(trials, drop(other)?, &resource),
        (None, Some(resource)) => lowered(trials, drop(one)?, &resource),
        (Some(first), Some(second)) => two_requests(trials, matrix, rows, &first, &second),
    }
}

fn lowered(trials: &mut Trials<'_>, with: Change, resource: &Str) -> Option<(Vec<Change>, Verified)> {
    let (change, verified) = largest_request(trials, std::slice::from_ref(&with), resource)?;
    Some((vec![with, change], verified))
}

/// Lowers the first request to the largest that fits without the second, then the second to the largest that fits with
/// the first.
fn two_requests(trials: &mut Trials<'_>, matrix: &Matrix, rows: [usize; 2], first: &Str, second: &Str) -> Option<(Vec<Change>, Verified)> {
    let without = Change::Pod(matrix.rows[rows[1]].drop.clone()?);
    let (one, _) = largest_request(trials, std::slice::from_ref(&without), first)?;
    let (other, verified) = largest_request(trials, std::slice::from_ref(&one), second)?;
    Some((vec![one, other], verified))
}
