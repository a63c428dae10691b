//! Suggestions for names that do not exist.

/// Largest edit distance at which a name is suggested.
const EDITS: usize = 3;

/// Bytes of the longest name for which another is suggested: a name of an API server has no more.
const LONGEST: usize = 253;

/// Returns the nearest name within the limit; the first of several at the same distance.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // At most a third of the name may differ.
    let limit = EDITS.min(wanted.chars().count().div_ceil(3));
    let names = names.filter(|_| wanted.len() <= LONGEST);
    let near = names.filter(|name| name.len().abs_diff(wanted.len()) <= 4 * EDITS);
    let near = near.filter_map(|name| Some((edits_within(wanted, name, limit)?, name)));
    near.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Returns the number of edits between two texts, if it is within a limit: inserted, removed or replaced characters, and
/// swapped neighbours.
pub(crate) fn edits_within(one: &str, other: &str, limit: usize) -> Option<usize> {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // A common beginning or end costs no edit.
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[start..], &other[start..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - end], &other[..other.len() - end]);
    if one.len().abs_diff(other.len()) > limit {
        return None;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
        // Every later row builds on one of the last two.
        if before_last.iter().chain(&last).all(|edits| *edits > limit) {
            return None;
        }
    }
    Some(last[other.len()]).filter(|edits| *edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_slip_is_known() {
        let names = ["payments", "payment-worker", "cart"];
        let near = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(near("paymets"), Some("payments"));
        assert_eq!(near("Cart"), Some("cart"));
        assert_eq!((near("checkout"), near("c"), near("")), (None, None, None));
        let edits = |a, b| (edits_within(a, b, 3), edits_within(b, a, 2));
        assert_eq!(edits("kitten", "sitting"), (Some(3), None));
        assert_eq!(edits("old", "odl"), (Some(1), Some(1)));
        assert_eq!(edits("", "ab"), (Some(2), Some(2)));
        assert_eq!(edits("ab", "ab"), (Some(0), Some(0)));
        assert_eq!(edits("abcdefgh", "zyxwvuts"), (None, None));
        assert_eq!(edits("badc", "abcd"), (Some(2), Some(2)));
    }
}
