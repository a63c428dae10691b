//! Tests of `ring`.

use proptest::prelude::*;

use super::*;

/// Counts the windows one by one.
fn counted(totals: &[i64], found: usize, counts: &[usize]) -> Vec<BTreeMap<usize, u64>> {
    let ring = totals.len();
    let mut won = vec![BTreeMap::new(); ring];
    for (begin, count) in counts.iter().enumerate() {
        let window: Vec<usize> = (begin..begin + found).map(|at| at % ring).collect();
        let highest = window.iter().map(|at| totals[*at]).max();
        let best: Vec<usize> = window.into_iter().filter(|at| Some(totals[*at]) == highest).collect();
        for at in &best {
            *won[*at].entry(best.len()).or_default() += *count as u64;
        }
    }
    won
}

proptest! {
    #[test]
    fn windows_are_won_as_one_by_one(
        totals in proptest::collection::vec(0..5_i64, 2..40),
        found in 1..40_usize,
        counts in proptest::collection::vec(1..4_usize, 40),
    ) {
        let (ring, found) = (totals.len(), found.min(totals.len()));
        let around: Vec<i64> = (0..ring + found - 1).map(|at| totals[at % ring]).collect();
        let mut won = vec![BTreeMap::new(); ring];
        win(&around, 0, found, &counts[..ring], &mut won);
        prop_assert_eq!(won, counted(&totals, found, &counts[..ring]));
    }

    #[test]
    fn the_highest_of_a_window_slides(values in proptest::collection::vec(0..9_i64, 1..30), found in 1..30_usize) {
        let found = found.min(values.len());
        let around = |begin: usize| (begin..begin + found).map(|at| values[at % values.len()]);
        let expected: Vec<i64> = (0..values.len()).map(|begin| around(begin).max().unwrap()).collect();
        prop_assert_eq!(sliding(&values, found, |new, old| new >= old), expected);
    }
}

#[test]
fn odds_that_take_too_many_steps_are_not_computed() {
    let column =
        Column { normalization: Normalization::Highest { reverse: false }, weight: 1, raw: (0..50).collect(), normalized: Vec::new() };
    let names = (0..50).map(|i| format!("n{i}").into()).collect();
    let ring = Ring { names, columns: vec![column], affinity_range: AffinityRange::OfNodes };
    assert_eq!(ring.shares(20, &[1; 50], 50, 100).map(|_| ()), Err(TooManySteps));
    assert!(ring.shares(20, &[1; 50], 50, 2000).is_ok());
}
