//! Odds: the likelihood of each outcome where kube-scheduler draws at random, as exact fractions.
//!
//! Nothing is simulated, cases are counted. Ties are uniform, and the law of a shortlist follows from the rule by which its walk
//! ends ([`Draw`]). The engine decides case by case where cases are few. Where they are too many, the odds are
//! [`UnknownOdds`] with the reason.

mod draw;
mod natural;
mod share;

use std::collections::BTreeMap;
use std::fmt;

pub use draw::{Contender, Draw, from_offsets};
pub use natural::Natural;
pub use share::{Share, per_cent};

use crate::cluster::{Key, Str};

/// A decision that is left to chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chance {
    /// Which nodes are evaluated, by the index where the search starts.
    Start,
    /// Which of the nodes with the highest score is taken.
    Tie,
    /// Which candidates are listed, by the order of a map.
    Shortlist,
    /// Which candidates are listed, by the offset where the dry run starts.
    Offset,
    /// Which of the candidates that are equal in everything is taken.
    LastTie,
    /// Which of several pods of equal priority and start time are evicted.
    VictimOrder,
}

impl Chance {
    /// Returns the name that programs read.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "sampling",
            Self::Tie => "ties",
            Self::Shortlist | Self::Offset => "shortlist",
            Self::LastTie => "lastTie",
            Self::VictimOrder => "victims",
        }
    }

    /// Returns the name for a heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Start => "sampled nodes",
            Self::Tie => "equal scores",
            Self::Shortlist | Self::Offset => "shortlist of candidates",
            Self::LastTie => "equal candidates",
            Self::VictimOrder => "equal victims",
        }
    }

    /// Returns what the shares take as equally likely, as a sentence.
    pub fn assumption(self) -> &'static str {
        match self {
            Self::Start => "The search may start at any node, each equally likely, and visits the nodes in order.",
            Self::Tie => "kube-scheduler picks one of the highest-scoring nodes at random, each equally likely.",
            Self::Shortlist => "The dry run visits the nodes in the order of a Go map; every order is taken as equally likely.",
            Self::Offset => "The dry run may start at any node, each equally likely, and visits the nodes in order.",
            Self::LastTie => "Equal candidates come in the order of a Go map; each is taken as equally likely to be first.",
            Self::VictimOrder => "Pods of equal priority and start time are listed on their node in any order, each equally likely.",
        }
    }
}

/// Why odds are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownOdds {
    /// The order of tied pods decides, and has too many cases.
    TiedPods {
        node: Str,
        /// How many pods there share their priority and start time with another.
        pods: usize,
    },
    /// The orders of tied pods on several nodes make too many cases together.
    TiedNodes(usize),
    /// PreFilter named the nodes, whose order is a map's, and more of them fit than are evaluated.
    NarrowedNodes,
    /// Nodes of one score take turns, and nothing says whose turn it is.
    Turns,
    /// The searches from this many starting nodes are too many to count.
    Starts(usize),
    /// The searches from this many starting nodes are counted only if the user asks for it.
    NotCounted(usize),
    /// A case has another outcome than the decision.
    OtherOutcome,
    /// This many more nodes would have to be dry-run, which a cycle does not do for odds.
    DryRuns(usize),
    /// Extenders take part, and are called for one random choice only.
    Extenders,
}

/// Writes the reason as a clause: `extenders take part, and they are called for one random choice only`.
impl fmt::Display for UnknownOdds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TiedPods { node, pods } => {
                write!(f, "{pods} pods on {node} share their priority and start time with another: their orders are too many to count")
            }
            Self::TiedNodes(nodes) => {
                write!(f, "on {nodes} nodes the order of pods of equal priority and start time decides: the cases are too many to count")
            }
            Self::NarrowedNodes => f.write_str("PreFilter returned the nodes in a random order, and more of them fit than are evaluated"),
            Self::Turns => f.write_str("nodes with equal scores are picked in turn, and the next one is unknown"),
            Self::Starts(starts) => write!(f, "searches from {starts} starting nodes are too many to count"),
            Self::NotCounted(starts) => write!(f, "searches from {starts} starting nodes were not counted; `explain --odds` counts them"),
            Self::OtherOutcome => f.write_str("another random choice would change the outcome"),
            Self::DryRuns(nodes) => write!(f, "{nodes} more nodes would have to be dry-run; `explain` of the pod does so"),
            Self::Extenders => f.write_str("extenders take part, and they are called for one random choice only"),
        }
    }
}

/// The likelihood of each node.
#[derive(Clone, Debug, PartialEq)]
enum NodeOdds {
    /// These nodes, by name, each as likely as the others.
    Equal(Vec<Str>),
    /// Every node that can be taken, by name.
    Counted(Vec<(Str, Share)>),
    /// As the draw says.
    Drawn(Draw),
    Unknown(UnknownOdds),
}

/// The likelihood of each outcome of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Odds {
    /// The decisions that are left to chance, in their order; not empty.
    chances: Vec<Chance>,
    nodes: NodeOdds,
    victims: Result<Vec<(Key, Share)>, UnknownOdds>,
}

impl Odds {
    /// Makes the odds of nodes from their shares.
    pub fn counted(chance: Chance, mut nodes: Vec<(Str, Share)>) -> Self {
        nodes.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Self { chances: vec![chance], nodes: NodeOdds::Counted(nodes), victims: Ok(Vec::new()) }
    }

    /// Makes odds by which each of the nodes is equally likely.
    pub fn uniform(chance: Chance, nodes: &[Str]) -> Self {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        Self { chances: vec![chance], nodes: NodeOdds::Equal(nodes), victims: Ok(Vec::new()) }
    }

    /// Makes the odds of a draw.
    pub fn drawn(chance: Chance, draw: Draw) -> Self {
        Self { chances: vec![chance], nodes: NodeOdds::Drawn(draw), victims: Ok(Vec::new()) }
    }

    /// Makes unknown odds.
    pub fn unknown(chance: Chance, why: UnknownOdds) -> Self {
        Self { chances: vec![chance], nodes: NodeOdds::Unknown(why), victims: Ok(Vec::new()) }
    }

    /// Adds another decision that is left to chance.
    #[must_use]
    pub fn and(mut self, chance: Chance) -> Self {
        self.chances.push(chance);
        self.chances.sort_unstable();
        self.chances.dedup();
        self
    }

    /// Adds the shares of cases in which pods of the chosen node are evicted, for those pods that chance decides about.
    #[must_use]
    pub fn with_victims(self, victims: Result<Vec<(Key, Share)>, UnknownOdds>) -> Self {
        Self { victims, ..self }
    }

    /// Returns what chance decides first.
    pub fn first_chance(&self) -> Chance {
        self.chances.first().copied().unwrap_or(Chance::Tie)
    }

    /// Returns what the shares take as equally likely, as sentences.
    pub fn assumptions(&self) -> impl Iterator<Item = &'static str> {
        self.chances.iter().map(|chance| chance.assumption())
    }

    /// Returns why the shares of nodes are not known.
    pub fn why_unknown(&self) -> Option<&UnknownOdds> {
        if let NodeOdds::Unknown(why) = &self.nodes { Some(why) } else { None }
    }

    /// Returns the share of every node that can be taken, by name; empty where it is not known.
    pub fn shares(&self) -> Vec<(Str, Share)> {
        match &self.nodes {
            NodeOdds::Equal(nodes) => nodes.iter().map(|node| (node.clone(), Share::new(1, nodes.len() as u64))).collect(),
            NodeOdds::Counted(nodes) => nodes.clone(),
            NodeOdds::Drawn(draw) => draw.shares(),
            NodeOdds::Unknown(_) => Vec::new(),
        }
    }

    /// Returns the share of a node; `None` where it is not known.
    pub fn share(&self, node: &str) -> Option<Share> {
        match &self.nodes {
            NodeOdds::Equal(nodes) if holds(nodes, node) => Some(Share::new(1, nodes.len() as u64)),
            NodeOdds::Equal(_) => Some(Share::none()),
            NodeOdds::Counted(nodes) => Some(counted(nodes, node).cloned().unwrap_or_else(Share::none)),
            NodeOdds::Drawn(draw) => Some(draw.share(node).unwrap_or_else(Share::none)),
            NodeOdds::Unknown(_) => None,
        }
    }

    /// Returns how likely a node is, to about nine digits; `None` where it is not known. Cheap, unlike [`Self::share`].
    pub fn likelihood(&self, node: &str) -> Option<f64> {
        match &self.nodes {
            NodeOdds::Equal(nodes) => Some(if holds(nodes, node) { 1.0 / nodes.len() as f64 } else { 0.0 }),
            NodeOdds::Counted(nodes) => Some(counted(nodes, node).map_or(0.0, Share::to_f64)),
            NodeOdds::Drawn(draw) => Some(draw.likelihood(node).unwrap_or(0.0)),
            NodeOdds::Unknown(_) => None,
        }
    }

    /// Returns the nodes that are taken with the highest likelihood, at most `number`, the most likely first and then by name; with their
    /// shares. Cheaper than [`Self::shares`], which computes those of all.
    pub fn most_likely(&self, number: usize) -> Vec<(Str, Share)> {
        let mut nodes: Vec<(f64, &Str)> = match &self.nodes {
            NodeOdds::Equal(nodes) => nodes.iter().map(|node| (1.0, node)).collect(),
            NodeOdds::Counted(nodes) => nodes.iter().map(|(node, share)| (share.to_f64(), node)).collect(),
            NodeOdds::Drawn(draw) => draw.likelihoods().map(|(node, likelihood)| (likelihood, node)).collect(),
            NodeOdds::Unknown(_) => Vec::new(),
        };
        nodes.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let shares = nodes.into_iter().take(number).filter_map(|(_, node)| Some((node.clone(), self.share(node)?)));
        shares.filter(|(_, share)| !share.is_none()).collect()
    }

    /// Returns how many nodes can be taken; 0 where it is not known.
    pub fn outcomes(&self) -> usize {
        match &self.nodes {
            NodeOdds::Equal(nodes) => nodes.len(),
            NodeOdds::Counted(nodes) => nodes.len(),
            NodeOdds::Drawn(draw) => draw.winners(),
            NodeOdds::Unknown(_) => 0,
        }
    }

    /// Returns the share of cases in which pods of the chosen node are evicted, where chance decides about them.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn victims(&self) -> Result<&[(Key, Share)], &UnknownOdds> {
        self.victims.as_deref()
    }
}

fn holds(nodes: &[Str], node: &str) -> bool {
    nodes.binary_search_by(|name| name.as_str().cmp(node)).is_ok()
}

fn counted<'a>(nodes: &'a [(Str, Share)], node: &str) -> Option<&'a Share> {
    nodes.binary_search_by(|(name, _)| name.as_str().cmp(node)).ok().map(|at| &nodes[at].1)
}

/// Returns the mean of the shares of several cases, each with a weight, by name. No prime factor of a denominator or of the sum of
/// weights is above `largest`.
pub fn mixed(cases: &[(u64, Vec<(Str, Share)>)], largest: u32) -> Vec<(Str, Share)> {
    let total = cases.iter().map(|(weight, _)| weight).sum();
    let parts = cases.iter().flat_map(|(weight, shares)| shares.iter().map(move |(node, share)| (node, share, *weight)));
    sum_by_name(parts.map(|(node, share, weight)| (node.clone(), share.part(weight, total, largest))), largest)
}

/// Returns the sums of shares, by name. No prime factor of a denominator is above `largest`.
pub fn sum_by_name(shares: impl IntoIterator<Item = (Str, Share)>, largest: u32) -> Vec<(Str, Share)> {
    let mut sums: BTreeMap<Str, Share> = BTreeMap::new();
    for (node, share) in shares {
        let sum = sums.entry(node).or_insert_with(Share::none);
        *sum = sum.plus(&share, largest);
    }
    sums.into_iter().collect()
}
