//! Compares names that may differ by a typo.

use crate::suggest::edits_within;

/// Returns whether two texts differ by one inserted, removed or replaced character, or by two swapped neighbours. One
/// character alone says too little.
pub(super) fn is_one_edit(a: &str, b: &str) -> bool {
    edits_within(a, b, 1) == Some(1) && a.chars().chain(b.chars()).nth(2).is_some()
}

#[cfg(test)]
mod tests {
    use super::is_one_edit;

    #[test]
    fn one_edit_is_one() {
        for (a, b, expected) in [
            ("ssd", "ssd", false),
            ("ssd", "sssd", true),
            ("ssd", "sd", true),
            ("ssd", "hsd", true),
            ("ssd", "sds", true),
            ("ssd", "dss", false),
            ("ssd", "nvme", false),
            ("us-east-1a", "us-east-1b", true),
            ("", "a", false),
            ("a", "b", false),
            ("a", "ab", true),
            ("größe", "grösse", false),
            ("größe", "groöße", true),
        ] {
            assert_eq!((is_one_edit(a, b), is_one_edit(b, a)), (expected, expected), "{a} {b}");
        }
    }
}
