//! Formats numbers with their nouns.

/// Returns `1 node` or `3 nodes`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    count_of(n, noun, &format!("{noun}s"))
}

/// Returns `1 file holds` or `3 files hold`; takes both forms of the words after the number.
pub(crate) fn count_of(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Formats a number with separated thousands.
pub(crate) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// Returns ` (and 2 more)` behind the first of three items; empty for a single one.
pub(crate) fn and_more(n: usize) -> String {
    if n > 1 { format!(" (and {} more)", n - 1) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_singular_and_none_the_plural() {
        assert_eq!([0, 1, 2].map(|n| count(n, "node")), ["0 nodes", "1 node", "2 nodes"]);
        assert_eq!([0, 1, 2].map(|n| count_of(n, "is", "are")), ["0 are", "1 is", "2 are"]);
        assert_eq!([0, 1, 2].map(and_more), ["", "", " (and 1 more)"]);
    }
}
