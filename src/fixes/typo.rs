//! Compares names that may differ by a typo.

/// Returns whether two texts differ by one inserted, removed or replaced character, or by two swapped neighbours.
pub(super) fn is_one_edit(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    if long.len() - short.len() > 1 || short == long || long.len() < 2 {
        return false;
    }
    let start = short.iter().zip(long.iter()).take_while(|(x, y)| x == y).count();
    let room = short.len() - start;
    let end = short.iter().rev().zip(long.iter().rev()).take(room).take_while(|(x, y)| x == y).count();
    match (short.len() - start - end, long.len() - start - end) {
        (0 | 1, 1) => true,
        (2, 2) => short[start] == long[start + 1] && short[start + 1] == long[start],
        _ => false,
    }
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
