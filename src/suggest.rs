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

/// Returns the Levenshtein distance of two texts.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(COMPARED).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().take(COMPARED).enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
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
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
