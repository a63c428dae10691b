//! The draw of a shortlist of candidates, and who wins it.
//!
//! # The walk
//!
//! The dry run of preemption walks the nodes that eviction might help and puts candidates on two lists, those without and
//! those with budget violations, each at most `w` long. It ends as soon as the first list is not empty and both together have
//! `w`. The best candidate on the lists wins; among equals, each is as likely.
//!
//! # Any order
//!
//! From 1.31 on the nodes come in a Go map's order, so every order is taken as equally likely. Nodes that are no candidate take
//! no place on a list and change nothing. Let `K` be the number of candidates, `v` of them with and `m = K - v` without
//! violations, and `K >= w` (else all are listed, and the best of all win).
//!
//! - The walk always passes the first `w` candidates, which are a set of `w` out of `K`, each as likely. With one without
//!   violations among them it ends there. Else, which is so in `C(v, w)` of `C(K, w)` cases, it goes on to the first one
//!   without violations, each of the `m` as likely, drops what is in between, and lists `w + 1`. That one wins, as the number of
//!   violations is the first thing that candidates are compared by. Without any (`m = 0`) the first `w` are listed.
//! - Let classes of equal candidates have the sizes `c1, c2, …` from the best on, and `sj = c1 + … + cj`. None of the best `j`
//!   classes is among the first `w` in `C(K - sj, w)` of `C(K, w)` cases. So class `j` is the best among them in
//!   `C(K - s(j-1), w) - C(K - sj, w)` cases, and each of its members wins as often as any other.
//!
//! So a candidate of class `j` without violations wins with `(C(K - s(j-1), w) - C(K - sj, w)) / (cj C(K, w)) + C(v, w) / (m C(K, w))`,
//! and one with violations with the first term alone, or never where `m > 0`.
//!
//! # From an offset
//!
//! Until 1.30, and where all nodes without a status of their own are Unschedulable, the nodes come in the snapshot's order from
//! an offset, each as likely. There are as many walks as nodes, and each is walked.

use std::collections::BTreeMap;

use super::{Natural, Share, sum_by_name};
use crate::cluster::Str;

/// A candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    pub node: Str,
    /// Whether its victims violate a budget.
    pub violates: bool,
    /// The candidate's scores, the most important first; higher is better. A candidate without violations outranks any with.
    pub rank: Vec<i64>,
}

/// The law of a draw in any order; see the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    wanted: usize,
    /// How many candidates violate a budget.
    violating: usize,
    /// Candidates that are equal, the best first.
    classes: Vec<Class>,
    /// Every node with its class, by name.
    nodes: Vec<(Str, usize)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Class {
    violates: bool,
    size: usize,
    /// How many candidates are better.
    better: usize,
    /// How likely each of the class wins.
    likelihood: f64,
}

impl Draw {
    /// A draw among candidates, of which `wanted` are enough.
    pub fn new(mut contenders: Vec<Contender>, wanted: usize) -> Self {
        contenders.sort_by(|a, b| b.rank.cmp(&a.rank));
        let violating = contenders.iter().filter(|c| c.violates).count();
        let mut classes: Vec<Class> = Vec::new();
        let mut nodes = Vec::with_capacity(contenders.len());
        for (better, contender) in contenders.iter().enumerate() {
            match classes.last_mut().filter(|_| contenders[better - 1].rank == contender.rank) {
                Some(class) => class.size += 1,
                None => classes.push(Class { violates: contender.violates, size: 1, better, likelihood: 0.0 }),
            }
            nodes.push((contender.node.clone(), classes.len() - 1));
        }
        nodes.sort_unstable();
        let mut draw = Self { wanted, violating, classes, nodes };
        draw.estimate();
        draw
    }

    /// The number of candidates.
    fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether some candidates are equal.
    pub fn has_ties(&self) -> bool {
        self.classes.len() < self.len()
    }

    /// Whether all candidates are listed, whatever the order.
    fn lists_all(&self) -> bool {
        self.len() <= self.wanted
    }

    fn without_violations(&self) -> usize {
        self.len() - self.violating
    }

    fn can_win(&self, class: &Class) -> bool {
        !class.violates || self.without_violations() == 0
    }

    /// Fills in how likely each class wins, in floats.
    fn estimate(&mut self) {
        let (all, wanted, any_without) = (self.len(), self.wanted, self.without_violations());
        // How likely none of the best few is among the first.
        let mut missed = vec![1.0];
        for better in 0..all {
            let left = all - better;
            missed.push(missed[better] * left.saturating_sub(wanted) as f64 / left as f64);
        }
        let extra = if any_without == 0 { 0.0 } else { missed[any_without] / any_without as f64 };
        let likely = |class: &Class| match () {
            () if self.lists_all() => {
                if class.better == 0 {
                    1.0 / class.size as f64
                } else {
                    0.0
                }
            }
            () if !self.can_win(class) => 0.0,
            () => (missed[class.better] - missed[class.better + class.size]) / class.size as f64 + extra,
        };
        let likelihoods: Vec<f64> = self.classes.iter().map(likely).collect();
        for (class, likelihood) in self.classes.iter_mut().zip(likelihoods) {
            class.likelihood = likelihood;
        }
    }

    /// Returns how likely a node wins; `None` for one that is no candidate.
    pub fn likelihood(&self, node: &str) -> Option<f64> {
        Some(self.classes[self.class(node)?].likelihood)
    }

    /// Returns how likely each node wins, by name; 0 where it cannot.
    pub fn likelihoods(&self) -> impl Iterator<Item = (&Str, f64)> {
        self.nodes.iter().map(|(node, class)| (node, self.classes[*class].likelihood))
    }

    fn class(&self, node: &str) -> Option<usize> {
        let at = self.nodes.binary_search_by(|(name, _)| name.as_str().cmp(node)).ok()?;
        Some(self.nodes[at].1)
    }

    /// Returns in which share of all cases a node wins; `None` for one that is no candidate.
    pub fn share(&self, node: &str) -> Option<Share> {
        let class = self.class(node)?;
        self.class_shares(&self.classes[class..=class]).pop()
    }

    /// Returns the share of every node that can win, by name.
    pub fn shares(&self) -> Vec<(Str, Share)> {
        let shares = self.class_shares(&self.classes);
        let each = self.nodes.iter().map(|(node, class)| (node.clone(), shares[*class].clone()));
        each.filter(|(_, share)| !share.is_none()).collect()
    }

    /// Returns how many nodes can win.
    pub fn winners(&self) -> usize {
        let (all, wanted) = (self.len(), self.wanted);
        // Where the first may all violate budgets, any of the others can come next.
        let any_next = self.violating >= wanted && self.without_violations() > 0;
        let wins = |class: &&Class| match () {
            () if self.lists_all() => class.better == 0,
            () => self.can_win(class) && (any_next || all - class.better >= wanted),
        };
        self.classes.iter().filter(wins).map(|class| class.size).sum()
    }

    /// Returns in which share of all cases each member of some classes wins, of which each follows the one before.
    fn class_shares(&self, classes: &[Class]) -> Vec<Share> {
        if self.lists_all() {
            return classes.iter().map(|c| if c.better == 0 { Share::new(1, c.size as u64) } else { Share::none() }).collect();
        }
        let (all, wanted, others) = (self.len() as u32, self.wanted as u32, self.without_violations() as u64);
        let every = choose(all, wanted);
        let extra = if others == 0 { Natural::default() } else { choose(self.violating as u32, wanted) };
        let better = classes.first().map_or(0, |class| class.better as u32);
        let mut missed = if better == 0 { every.clone() } else { choose(all - better, wanted) };
        let share = |class: &Class| {
            // C(left - 1, w) of C(left, w), one after another.
            let lefts = (0..class.size as u32).map(|i| all - class.better as u32 - i);
            let after = multiplied(missed.clone(), lefts.map(|left| (left.saturating_sub(wanted), left)));
            let cases = missed.minus(&after);
            missed = after;
            if !self.can_win(class) {
                return None;
            }
            let size = class.size as u64;
            let (cases, of) = match others {
                0 => (cases, every.times(&size.into())),
                _ => (cases.times(&others.into()).plus(&extra.times(&size.into())), every.times(&(size * others).into())),
            };
            Some((cases, of))
        };
        let fractions: Vec<_> = classes.iter().map(share).collect();
        let reduced = |fraction: Option<(Natural, Natural)>| fraction.map_or_else(Share::none, |(cases, of)| Share::smooth(cases, of, all));
        fractions.into_iter().map(reduced).collect()
    }
}

/// Returns in how many ways `k` can be chosen from `n`.
fn choose(n: u32, k: u32) -> Natural {
    if k > n {
        return Natural::default();
    }
    multiplied(1.into(), (0..k).map(|i| (n - i, i + 1)))
}

/// Returns the product with fractions, of which each makes a natural number of the product before it. Several go into one step over
/// the long number.
fn multiplied(number: Natural, fractions: impl Iterator<Item = (u32, u32)>) -> Natural {
    let step = |number: Natural, (factor, divisor): (u32, u32)| number.times(&u64::from(factor).into()).divided(divisor).0;
    let (number, last) = fractions.fold((number, (1_u32, 1_u32)), |(number, (factor, divisor)), next| {
        match (factor.checked_mul(next.0), divisor.checked_mul(next.1)) {
            (Some(factor), Some(divisor)) => (number, (factor, divisor)),
            _ => (step(number, (factor, divisor)), next),
        }
    });
    step(number, last)
}

/// Returns the shares of the nodes that can win where the walk begins at any of the nodes, each as likely, and goes in order; by
/// name. Nodes that are no candidates are `None`.
pub fn from_offsets(nodes: &[Option<Contender>], wanted: usize) -> Vec<(Str, Share)> {
    let mut wins: BTreeMap<(Str, usize), u64> = BTreeMap::new();
    for offset in 0..nodes.len() {
        let (mut without, mut violating) = (0, 0);
        let mut best: Vec<&Contender> = Vec::new();
        for contender in nodes[offset..].iter().chain(&nodes[..offset]).flatten() {
            let list = if contender.violates { &mut violating } else { &mut without };
            if *list < wanted {
                *list += 1;
                match best.first().map_or(std::cmp::Ordering::Greater, |first| contender.rank.cmp(&first.rank)) {
                    std::cmp::Ordering::Greater => best = vec![contender],
                    std::cmp::Ordering::Equal => best.push(contender),
                    std::cmp::Ordering::Less => {}
                }
            }
            if without > 0 && without + violating >= wanted {
                break;
            }
        }
        for contender in &best {
            *wins.entry((contender.node.clone(), best.len())).or_default() += 1;
        }
    }
    let shares = wins.into_iter().map(|((node, tied), count)| (node, Share::new(count, (nodes.len() * tied) as u64)));
    sum_by_name(shares, nodes.len() as u32)
}

#[cfg(test)]
mod tests;
