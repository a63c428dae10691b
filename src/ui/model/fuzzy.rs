//! The fuzzy filter behind `/`.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// A filter, prepared to match many names.
pub struct Fuzzy {
    pattern: Option<(Pattern, Matcher)>,
    buffer: Vec<char>,
}

impl Fuzzy {
    /// Parses a filter; an empty text matches everything.
    pub fn new(text: &str) -> Self {
        let pattern = (!text.trim().is_empty())
            .then(|| (Pattern::parse(text, CaseMatching::Smart, Normalization::Smart), Matcher::new(Config::DEFAULT.match_paths())));
        Self { pattern, buffer: Vec::new() }
    }

    /// Returns whether a name matches.
    pub fn keeps(&mut self, name: &str) -> bool {
        match &mut self.pattern {
            None => true,
            Some((pattern, matcher)) => pattern.score(Utf32Str::new(name, &mut self.buffer), matcher).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_match_in_order_and_spaces_join_patterns() {
        let check = |text: &str, name: &str, expected: bool| assert_eq!(Fuzzy::new(text).keeps(name), expected, "{text:?} {name:?}");
        check("", "anything", true);
        check("  ", "anything", true);
        check("wa2", "worker-a2", true);
        check("wa2", "worker-b2", false);
        check("shop pay", "shop/payments", true);
        check("!shop", "shop/payments", false);
        check("Shop", "shop/payments", false);
    }
}
