//! The possible orders of pods of equal importance on a node, and the outcome of a dry run in each.
//!
//! kube-scheduler compares pods by priority and start time alone, and start times are whole seconds. Among pods that are
//! equal in both, those that no filter and no budget can tell apart are interchangeable: orders that differ in these only
//! have one outcome, and each of these pods is a victim equally often. All other orders are tried one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::dry_run::{Ranked, Scratch, by_importance, looks_at_sums, places_by_importance, select_victims_in_order};
use super::units::Unit;
use crate::cluster::{Key, Pod};
use crate::framework::{Candidate, CycleState, NodeInfo, PodInfo, PostFilterContext};
use crate::odds::Share;

/// The outcomes of dry runs on a node, over all orders of equal pods.
pub(super) struct Outcomes {
    /// Each of the candidates that the node can be, and in how many orders it is.
    pub(super) candidates: Vec<(u64, Candidate)>,
    /// In which share of orders a pod is a victim, for pods that are in some.
    pub(super) victims: Vec<(Key, Share)>,
}

/// Pods that are equal in importance, by place in the order of importance; those that are interchangeable together.
type Tie = Vec<Vec<usize>>;

/// Kinds of a tie that have more than [`VICTIM_ORDERS`](crate::limits::engine::VICTIM_ORDERS) orders, however many units are of each:
/// none of these orders is tried.
const MOST_KINDS: usize = 7;

/// The ties on a node, and how many orders they have that differ in more than interchangeable pods.
#[derive(Default)]
pub(super) struct Ties {
    pods: usize,
    ties: Vec<Tie>,
}

impl Ties {
    /// Finds the ties among the pods of lower priority on a node.
    pub(super) fn on(post: &PostFilterContext<'_>, pod: &PodInfo, node: &NodeInfo) -> Self {
        if looks_at_sums(post) {
            // The bits rule out most pairs, which are not fetched then.
            let same = |a: &Ranked, b: &Ranked| {
                let (a, b) = (node.at(a.place()), node.at(b.place()));
                a.bits() == b.bits() && same_pods(&a.info().pod, &b.info().pod)
            };
            return Self::among(&places_by_importance(post, pod.pod.priority(), node), |pod| pod.rank(), same);
        }
        Self::among(&by_importance(post, pod, node), |(rank, _)| *rank, |(_, a), (_, b)| interchangeable(a, b))
    }

    /// Finds the ties among units in the order of importance, of which `same` says whether they are interchangeable. Of a tie with
    /// [`MOST_KINDS`], all further units count as the last kind.
    fn among<T, R: PartialEq>(units: &[T], rank: impl Fn(&T) -> R, same: impl Fn(&T, &T) -> bool) -> Self {
        let mut ties = Vec::new();
        let mut start = 0;
        for group in units.chunk_by(|a, b| rank(a) == rank(b)) {
            if group.len() > 1 {
                let mut kinds: Tie = Vec::new();
                for (at, unit) in group.iter().enumerate() {
                    let is_full = kinds.len() == MOST_KINDS;
                    let kind = if is_full { kinds.last_mut() } else { kinds.iter_mut().find(|kind| same(&units[kind[0]], unit)) };
                    match kind {
                        Some(kind) => kind.push(start + at),
                        None => kinds.push(vec![start + at]),
                    }
                }
                ties.push(kinds);
            }
            start += group.len();
        }
        Self { pods: units.len(), ties }
    }

    /// Whether no two pods are equal.
    pub(super) fn is_empty(&self) -> bool {
        self.ties.is_empty()
    }

    /// Returns how many pods are equal to another.
    pub(super) fn tied_pods(&self) -> usize {
        self.ties.iter().flatten().map(Vec::len).sum()
    }

    /// Returns how many orders are to be tried; `None` beyond 64 bits.
    pub(super) fn orders(&self) -> Option<u64> {
        self.ties.iter().try_fold(1_u64, |product, tie| {
            // The number of words with this many of each letter.
            let mut ways = 1_u64;
            let mut length = 0;
            for kind in tie {
                for i in 1..=kind.len() as u64 {
                    length += 1;
                    ways = ways.checked_mul(length)? / i;
                }
            }
            product.checked_mul(ways)
        })
    }

    /// Tries every order. `None` where one of them makes the node no candidate.
    pub(super) fn outcomes<'a>(
        &self,
        post: &PostFilterContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
        node: &'a Arc<NodeInfo>,
        scratch: &mut Scratch<'a>,
    ) -> Option<Outcomes> {
        let pods = by_importance(post, pod, node);
        let quiet = PostFilterContext { quiet: true, ..*post };
        let mut candidates: Vec<(u64, Candidate)> = Vec::new();
        let mut victims: BTreeMap<usize, u64> = BTreeMap::new();
        let mut number = 0;
        let mut words: Vec<Vec<usize>> = self.ties.iter().map(|tie| letters(tie)).collect();
        loop {
            let order = self.order(&words);
            let candidate = select_victims_in_order(&quiet, state, pod, node, scratch, Some(&order)).run.candidate?;
            number += 1;
            for (at, (_, unit)) in pods.iter().enumerate() {
                if unit.pods().first().is_some_and(|first| candidate.victims.iter().any(|victim| Arc::ptr_eq(first, victim.info()))) {
                    *victims.entry(at).or_default() += 1;
                }
            }
            match candidates.iter_mut().find(|(_, known)| *known == candidate) {
                Some((count, _)) => *count += 1,
                None => candidates.push((1, candidate)),
            }
            if !words.iter_mut().any(|word| next_word(word)) {
                break;
            }
        }
        // Each of several interchangeable pods has the share of their mean.
        let mut shares: Vec<(Key, Share)> = Vec::new();
        for kind in self.ties.iter().flatten() {
            let count: u64 = kind.iter().filter_map(|at| victims.get(at)).sum();
            let share = Share::new(count, number * kind.len() as u64);
            let keys = kind.iter().filter(|_| count > 0).flat_map(|at| pods[*at].1.pods()).map(|info| info.key());
            shares.extend(keys.map(|key| (key, share.clone())));
        }
        shares.sort_by(|a, b| a.0.cmp(&b.0));
        Some(Outcomes { candidates, victims: shares })
    }

    /// Returns the places of all pods, with those of each tie as its word says.
    fn order(&self, words: &[Vec<usize>]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pods).collect();
        for (tie, word) in self.ties.iter().zip(words) {
            let mut next: Vec<std::slice::Iter<'_, usize>> = tie.iter().map(|kind| kind.iter()).collect();
            let mut places: Vec<usize> = tie.iter().flatten().copied().collect();
            places.sort_unstable();
            for (place, letter) in places.into_iter().zip(word) {
                if let Some(at) = next[*letter].next() {
                    order[place] = *at;
                }
            }
        }
        order
    }
}

/// Returns the first word of a tie in alphabetical order: a letter for each pod, which says of which kind it is.
fn letters(tie: &[Vec<usize>]) -> Vec<usize> {
    tie.iter().enumerate().flat_map(|(letter, kind)| kind.iter().map(move |_| letter)).collect()
}

/// Makes the next word of the same letters in alphabetical order. After the last comes the first again, and `false`.
fn next_word(word: &mut [usize]) -> bool {
    let Some(at) = (1..word.len()).rev().find(|at| word[at - 1] < word[*at]) else {
        word.reverse();
        return false;
    };
    let pivot = word[at - 1];
    if let Some(larger) = word.iter().rposition(|letter| *letter > pivot) {
        word.swap(at - 1, larger);
    }
    word[at..].reverse();
    true
}

/// Whether neither filters nor budgets can tell two units on one node apart, which are equal in importance. Groups with pods on
/// several nodes never are.
fn interchangeable(a: &Unit<'_>, b: &Unit<'_>) -> bool {
    match (a, b) {
        (Unit::Pod(a), Unit::Pod(b)) => same_pods(&a.pod, &b.pod),
        _ => false,
    }
}

fn same_pods(a: &Pod, b: &Pod) -> bool {
    let (one, other) = (&a.metadata, &b.metadata);
    one.namespace == other.namespace
        && one.labels == other.labels
        && one.annotations == other.annotations
        && one.deletion_timestamp == other.deletion_timestamp
        && a.status.phase == b.status.phase
        && a.status.rare == b.status.rare
        && same_spec(a, b)
}

/// Whether two pods have the same spec, but for the names of volumes of no kind that scheduling reads.
fn same_spec(a: &Pod, b: &Pod) -> bool {
    if Arc::ptr_eq(&a.spec, &b.spec) || a.spec == b.spec {
        return true;
    }
    let without_names = |pod: &Pod| {
        let mut spec = (*pod.spec).clone();
        spec.volumes = spec.volumes.iter().filter(|volume| !volume.is_unread()).cloned().collect();
        spec
    };
    a.spec.volumes.len() == b.spec.volumes.len() && without_names(a) == without_names(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::engine::VICTIM_ORDERS;

    #[test]
    fn words_come_in_alphabetical_order_each_once() {
        let mut word = letters(&[vec![4, 7], vec![5], vec![6]]);
        let mut seen = vec![word.clone()];
        while next_word(&mut word) {
            seen.push(word.clone());
        }
        assert_eq!((seen.len(), &seen[0], &seen[11], &word), (12, &vec![0, 0, 1, 2], &vec![2, 1, 0, 0], &seen[0]));
        assert!(seen.is_sorted() && seen.windows(2).all(|pair| pair[0] != pair[1]));
        let ties = Ties { pods: 9, ties: vec![vec![vec![4, 7], vec![5], vec![6]], vec![vec![0], vec![1]]] };
        assert_eq!((ties.orders(), ties.tied_pods()), (Some(24), 6));
        assert_eq!(ties.order(&[vec![2, 0, 1, 0], vec![1, 0]]), [1, 0, 2, 3, 6, 4, 5, 7, 8]);
        assert!((1..=MOST_KINDS as u64).product::<u64>() > VICTIM_ORDERS);
        let several = Ties::among(&(0..40).collect::<Vec<usize>>(), |at| at / 20, |a, b| a / 2 == b / 2);
        assert_eq!((several.ties.len(), several.tied_pods(), several.ties[1][0].clone()), (2, 40, vec![20, 21]));
        assert_eq!(several.ties[0][MOST_KINDS - 1], [12, 13, 14, 15, 16, 17, 18, 19]);
        let many = Ties { pods: 30, ties: vec![(0..30).map(|at| vec![at]).collect()] };
        assert_eq!(many.orders(), None);
    }
}
