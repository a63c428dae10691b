//! Suggestions for names that do not exist.

/// Longer names are compared by this many leading characters.
const COMPARED: usize = 64;

/// Largest edit distance at which a name is suggested.
const EDITS: usize = 3;

/// Returns the nearest name within the limit; the first of several at the same distance.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // At most a third of the name may differ.
    let limit = EDITS.min(wanted.chars().count().div_ceil(3));
    let near = names.filter(|name| name.len().abs_diff(wanted.len()) <= 4 * EDITS).map(|name| (edits(wanted, name), name));
    near.filter(|(edits, _)| *edits <= limit).min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Returns the number of edits between two texts: inserted, removed or replaced characters, and swapped neighbours.
fn edits(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|text| text.chars().take(COMPARED).collect::<Vec<char>>());
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
    }
    last[other.len()]
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
        assert_eq!((edits("kitten", "sitting"), edits("old", "odl"), edits("", "ab"), edits("ab", "ab")), (3, 1, 2, 0));
    }
}
