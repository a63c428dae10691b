//! Tests of `draw`.

use proptest::prelude::*;

use super::super::{Chance, Odds};
use super::*;

/// Contenders of (violations, rank among those alike), named by their place.
fn contenders(specs: &[(u8, u8)]) -> Vec<Contender> {
    let contender = |(i, (violations, rank)): (usize, &(u8, u8))| Contender {
        node: format!("n{i}").as_str().into(),
        violates: *violations > 0,
        rank: vec![-i64::from(*violations), i64::from(*rank)],
    };
    specs.iter().enumerate().map(contender).collect()
}

/// Walks one order as the rule is written, and returns the winners.
fn walk(order: &[Contender], wanted: usize) -> Vec<Str> {
    let (mut without, mut violating) = (Vec::new(), Vec::new());
    for contender in order {
        let list = if contender.violates { &mut violating } else { &mut without };
        if list.len() < wanted {
            list.push(contender);
        }
        if !without.is_empty() && without.len() + violating.len() >= wanted {
            break;
        }
    }
    without.extend(violating);
    let best = without.iter().map(|c| &c.rank).max();
    without.iter().filter(|c| Some(&c.rank) == best).map(|c| c.node.clone()).collect()
}

/// Every order of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |i: usize| {
        let mut rest = list.to_vec();
        let first = rest.remove(i);
        orders(&rest).into_iter().map(move |tail| [vec![first.clone()], tail].concat())
    };
    (0..list.len()).flat_map(with_first).collect()
}

/// Counts wins over walks, each winner of a tie once in as many cases as there are winners.
fn counted(walks: &[Vec<Contender>], wanted: usize) -> Vec<(Str, Share)> {
    let mut sums: BTreeMap<Str, Share> = BTreeMap::new();
    for order in walks {
        let winners = walk(order, wanted);
        for node in &winners {
            let sum = sums.entry(node.clone()).or_insert_with(Share::none);
            *sum = sum.plus(&Share::new(1, (winners.len() * walks.len()) as u64), 50);
        }
    }
    sums.into_iter().collect()
}

fn sum(shares: &[(Str, Share)], largest: u32) -> Share {
    shares.iter().fold(Share::none(), |sum, (_, share)| sum.plus(share, largest))
}

#[test]
fn one_of_a_hundred_and_fifty_is_listed_two_times_in_three() {
    let ranked: Vec<(u8, u8)> = (0..150).map(|i| (0, 150 - i)).collect();
    let draw = Draw::new(contenders(&ranked), 100);
    let share = |node| draw.share(node).map(|s| s.to_string()).unwrap_or_default();
    assert_eq!((share("n0").as_str(), share("n1").as_str(), share("n51").as_str()), ("2/3", "100/447", "0"));
    assert_eq!((share("x").as_str(), draw.winners(), draw.shares().len()), ("", 51, 51));
    assert_eq!(sum(&draw.shares(), 150), Share::whole());
}

#[test]
fn thousands_of_candidates_add_up() {
    let ranked: Vec<(u8, u8)> = (0..1000_usize).map(|i| (u8::from(i % 3 == 0), (i % 200) as u8)).collect();
    let draw = Draw::new(contenders(&ranked), 100);
    let shares = draw.shares();
    assert_eq!((sum(&shares, 1000), shares.len()), (Share::whole(), draw.winners()));
    for (node, share) in &shares {
        assert!((draw.likelihood(node).unwrap_or_default() - share.to_f64()).abs() < 1e-9, "{node}");
    }
    let mut sorted = shares;
    sorted.sort_by(|a, b| b.1.to_f64().total_cmp(&a.1.to_f64()).then_with(|| a.0.cmp(&b.0)));
    let odds = Odds::drawn(Chance::LastTie, draw);
    assert_eq!(odds.most_likely(10), sorted[..10]);
    assert_eq!(odds.most_likely(2000).len(), odds.outcomes());
}

proptest! {
    #[test]
    fn shares_equal_the_counts_over_every_order(specs in prop::collection::vec((0..3_u8, 0..3_u8), 1..7), wanted in 1..8_usize) {
        let contenders = contenders(&specs);
        let draw = Draw::new(contenders.clone(), wanted);
        let shares = draw.shares();
        prop_assert_eq!(&shares, &counted(&orders(&contenders), wanted));
        prop_assert_eq!(sum(&shares, 50), Share::whole());
        prop_assert_eq!(draw.winners(), shares.len());
        for contender in &contenders {
            let (share, likelihood) = (draw.share(&contender.node), draw.likelihood(&contender.node));
            prop_assert!((share.map_or(-1.0, |s| s.to_f64()) - likelihood.unwrap_or(-2.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn shares_equal_the_counts_over_every_offset(
        specs in prop::collection::vec((any::<bool>(), 0..3_u8, 0..3_u8), 1..12), wanted in 1..12_usize,
    ) {
        let all = contenders(&specs.iter().map(|(_, violations, rank)| (*violations, *rank)).collect::<Vec<_>>());
        let nodes: Vec<Option<Contender>> = all.into_iter().zip(&specs).map(|(c, (fits, ..))| fits.then_some(c)).collect();
        let rotated = |offset: usize| nodes[offset..].iter().chain(&nodes[..offset]).flatten().cloned().collect();
        let walks: Vec<Vec<Contender>> = (0..nodes.len()).map(rotated).collect();
        let shares = from_offsets(&nodes, wanted);
        prop_assert_eq!(&shares, &counted(&walks, wanted));
        if nodes.iter().any(Option::is_some) {
            prop_assert_eq!(sum(&shares, 50), Share::whole());
        }
    }
}
