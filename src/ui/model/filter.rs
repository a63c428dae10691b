//! Filters of lists: words that rows must match, in any of their facts or in a named one, such as `queue:gated`,
//! `reason:"free cpu"` or `age:>1h`, each with `!` for not.

use std::cmp::Ordering;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::cluster::Key;

/// A fact of a row: the field that a filter can name, and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'a> {
    field: &'a str,
    text: FactText<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FactText<'a> {
    /// A name, which matches by its letters in order.
    Name(&'a str),
    /// Prose, which matches by substring.
    Prose(&'a str),
    /// A label, which matches as `key=value` by substring.
    Label(&'a str, &'a str),
    /// One of a few words, which matches from its start, and only where the field is named.
    Choice(&'a str),
    /// A number, which is compared, and only where the field is named.
    Number(i64),
    /// A duration in seconds, which is compared, and only where the field is named.
    Seconds(i64),
}

impl<'a> Fact<'a> {
    /// Returns a fact that is a name.
    pub fn name(field: &'a str, text: &'a str) -> Self {
        Self { field, text: FactText::Name(text) }
    }

    /// Returns a fact in prose.
    pub fn prose(field: &'a str, text: &'a str) -> Self {
        Self { field, text: FactText::Prose(text) }
    }

    pub fn label(key: &'a str, value: &'a str) -> Self {
        Self { field: "label", text: FactText::Label(key, value) }
    }

    /// Returns a fact that is one of a few words.
    pub fn choice(field: &'a str, text: &'a str) -> Self {
        Self { field, text: FactText::Choice(text) }
    }

    /// Returns a fact that is a number.
    pub fn number(field: &'a str, number: i64) -> Self {
        Self { field, text: FactText::Number(number) }
    }

    /// Returns a fact that is a duration.
    pub fn seconds(field: &'a str, seconds: i64) -> Self {
        Self { field, text: FactText::Seconds(seconds) }
    }

    /// Returns whether a field's name, or its beginning, is this fact's.
    fn is_called(&self, field: &str) -> bool {
        self.field.get(..field.len()).is_some_and(|start| start.eq_ignore_ascii_case(field))
    }
}

/// Returns the field of the facts that a filter names: itself, the one that it is short or another word for, or `None`.
fn field_of<'f>(facts: &[Fact<'_>], field: &'f str) -> Option<&'f str> {
    [field, full_name(field)].into_iter().find(|field| facts.iter().any(|fact| fact.is_called(field)))
}

/// Returns the field that a word is short or another word for, or the word itself.
fn full_name(field: &str) -> &str {
    match field {
        "ns" => "namespace",
        "by" => "plugin",
        "cause" | "why" => "reason",
        "tries" => "attempts",
        other => other,
    }
}

/// A word of a filter: `text`, `field:text`, and with `!` before it what rows must not match.
#[derive(Clone, Debug)]
struct Term {
    negated: bool,
    /// The field and the text in it; `None` for a word without a field.
    field: Option<(String, Pattern)>,
    /// The whole word, for rows without the field.
    whole: Pattern,
}

#[derive(Clone, Debug)]
struct Pattern {
    text: String,
    /// Whether capitals differ from small letters: only if the text has some.
    exact_case: bool,
    atom: Atom,
    comparison: Option<Comparison>,
}

/// A comparison with a number: `5`, `>=5`, `<2h`.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    /// The orders of a fact and the number that match; `None` for a number without a sign.
    signed: Option<&'static [Ordering]>,
    number: i64,
    /// Seconds of the unit of a duration.
    unit: Option<i64>,
}

impl Comparison {
    fn parse(text: &str) -> Option<Self> {
        use Ordering::{Equal, Greater, Less};
        let signs: [(&str, &[Ordering]); 5] =
            [(">=", &[Greater, Equal]), ("<=", &[Less, Equal]), (">", &[Greater]), ("<", &[Less]), ("=", &[Equal])];
        let signed = signs.into_iter().find_map(|(sign, orders)| Some((orders, text.strip_prefix(sign)?)));
        let (signed, digits) = signed.map_or((None, text), |(orders, rest)| (Some(orders), rest));
        let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
        let with_unit = units.into_iter().find_map(|(letter, seconds)| Some((digits.strip_suffix(letter)?, Some(seconds))));
        let (digits, unit) = with_unit.unwrap_or((digits, None));
        Some(Self { signed, number: digits.parse().ok()?, unit })
    }

    /// Returns whether a number matches; one without a sign must be equal.
    fn holds_number(self, number: i64) -> bool {
        self.unit.is_none() && self.signed.unwrap_or(&[Ordering::Equal]).contains(&number.cmp(&self.number))
    }

    /// Returns whether a duration matches; one without a sign is a least, because it is hardly ever exact.
    fn holds_seconds(self, seconds: i64) -> bool {
        let limit = self.number.saturating_mul(self.unit.unwrap_or(1));
        self.signed.unwrap_or(&[Ordering::Greater, Ordering::Equal]).contains(&seconds.cmp(&limit))
    }
}

impl Pattern {
    fn new(text: &str) -> Self {
        let exact_case = text.chars().any(char::is_uppercase);
        let atom = Atom::new(text, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy, false);
        Self { text: text.to_owned(), exact_case, atom, comparison: Comparison::parse(text) }
    }
}

/// A filter, prepared to match many rows. All of its words must match.
pub struct Filter {
    terms: Vec<Term>,
    /// Whether names match only where they contain a word, not where they have its letters in order.
    only_substrings: bool,
    matcher: Option<Matcher>,
    chars: Vec<char>,
    lower: String,
}

impl Filter {
    /// Parses a filter; an empty text matches everything, as do words that are not finished, such as `reason:`.
    pub fn new(text: &str) -> Self {
        let terms: Vec<Term> = words(text).iter().filter_map(|word| term(word)).collect();
        let matcher = (!terms.is_empty()).then(|| Matcher::new(Config::DEFAULT.match_paths()));
        Self { terms, only_substrings: false, matcher, chars: Vec::new(), lower: String::new() }
    }

    /// Returns the filter with names that match only where they contain a word.
    #[must_use]
    pub fn only_substrings(self, only: bool) -> Self {
        Self { only_substrings: only, ..self }
    }

    /// Returns whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the first field that it names and that is not among the fields of a list, and whether rows must not match it.
    pub fn unknown_field(&self, fields: &[&str]) -> Option<(&str, bool)> {
        let is_known = |field: &str| [field, full_name(field)].iter().any(|name| fields.iter().any(|known| known.starts_with(name)));
        let named = self.terms.iter().filter_map(|term| Some((term.field.as_ref()?.0.as_str(), term.negated)));
        named.into_iter().find(|(field, _)| !is_known(field))
    }

    /// Returns whether a row with these facts matches.
    pub fn keeps(&mut self, facts: &[Fact<'_>]) -> bool {
        let terms = std::mem::take(&mut self.terms);
        let kept = terms.iter().all(|term| {
            let named = term.field.as_ref().and_then(|(field, pattern)| Some((field_of(facts, field)?, pattern)));
            let found = match named {
                Some((field, pattern)) => {
                    let mut called = facts.iter().filter(|fact| fact.is_called(field));
                    called.any(|fact| Self::compares(pattern, fact.text) || self.finds(pattern, fact.text))
                }
                None => {
                    // A text that two fields have is matched once.
                    let mut last = None;
                    facts.iter().any(|fact| last.replace(fact.text) != Some(fact.text) && self.finds(&term.whole, fact.text))
                }
            };
            found != term.negated
        });
        self.terms = terms;
        kept
    }

    /// Returns whether a line of prose matches.
    pub fn keeps_line(&mut self, line: &str) -> bool {
        self.is_empty() || self.keeps(&[Fact::prose("", line)])
    }

    /// Returns whether a pod matches by namespace and name.
    pub fn keeps_pod(&mut self, key: &Key) -> bool {
        self.is_empty() || self.keeps(&[Fact::name("name", &key.to_string()), Fact::name("namespace", &key.namespace)])
    }

    /// Returns whether a fact matches one of the words that rows must match.
    pub fn names(&mut self, fact: Fact<'_>) -> bool {
        let terms = std::mem::take(&mut self.terms);
        let found = terms.iter().filter(|term| !term.negated).any(|term| match &term.field {
            Some((field, pattern)) if field_of(&[fact], field).is_some() => self.finds(pattern, fact.text),
            _ => self.finds(&term.whole, fact.text),
        });
        self.terms = terms;
        found
    }

    /// Returns whether a fact matches that only matches where its field is named.
    fn compares(pattern: &Pattern, text: FactText<'_>) -> bool {
        match text {
            FactText::Choice(text) => match text.get(..pattern.text.len()) {
                Some(start) if pattern.exact_case => start == pattern.text,
                start => start.is_some_and(|start| start.eq_ignore_ascii_case(&pattern.text)),
            },
            FactText::Number(number) => pattern.comparison.is_some_and(|comparison| comparison.holds_number(number)),
            FactText::Seconds(seconds) => pattern.comparison.is_some_and(|comparison| comparison.holds_seconds(seconds)),
            FactText::Name(_) | FactText::Prose(_) | FactText::Label(..) => false,
        }
    }

    fn finds(&mut self, pattern: &Pattern, text: FactText<'_>) -> bool {
        match text {
            FactText::Prose(text) => self.substring(pattern, text),
            FactText::Label(key, value) if !pattern.text.contains('=') => self.substring(pattern, key) || self.substring(pattern, value),
            FactText::Label(key, value) => {
                let mut pair = String::with_capacity(key.len() + 1 + value.len());
                pair.extend([key, "=", value]);
                self.substring(pattern, &pair)
            }
            FactText::Name(text) if self.only_substrings => self.substring(pattern, text),
            FactText::Name(text) => {
                let Self { matcher: Some(matcher), chars, .. } = self else { return false };
                pattern.atom.score(Utf32Str::new(text, chars), matcher).is_some()
            }
            FactText::Choice(_) | FactText::Number(_) | FactText::Seconds(_) => false,
        }
    }

    fn substring(&mut self, pattern: &Pattern, text: &str) -> bool {
        if pattern.exact_case {
            return text.contains(&pattern.text);
        }
        if text.is_ascii() {
            let (text, word) = (text.as_bytes(), pattern.text.as_bytes());
            return word.is_empty() || text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
        }
        self.lower.clear();
        self.lower.extend(text.chars().flat_map(char::to_lowercase));
        self.lower.contains(&pattern.text)
    }

    /// Returns the indices of the characters of a drawn row that match, in order: every occurrence of each word, or else the
    /// letters of the first blank-separated part that has them in order.
    pub fn letters(&mut self, row: &[char]) -> Vec<usize> {
        let mut found = Vec::new();
        let terms = std::mem::take(&mut self.terms);
        for term in terms.iter().filter(|term| !term.negated) {
            let pattern = term.field.as_ref().map_or(&term.whole, |(_, pattern)| pattern);
            let before = found.len();
            occurrences(pattern, row, &mut found);
            if found.len() == before && !self.only_substrings {
                self.scattered(pattern, row, &mut found);
            }
        }
        self.terms = terms;
        found.sort_unstable();
        found.dedup();
        found
    }

    fn scattered(&mut self, pattern: &Pattern, row: &[char], found: &mut Vec<usize>) {
        let Self { matcher: Some(matcher), .. } = self else { return };
        let mut start = 0;
        for part in row.split(|c| c.is_whitespace()) {
            let text: String = part.iter().collect();
            let mut indices = Vec::new();
            if !part.is_empty() && pattern.atom.indices(Utf32Str::new(&text, &mut self.chars), matcher, &mut indices).is_some() {
                found.extend(indices.into_iter().map(|i| start + i as usize));
                return;
            }
            start += part.len() + 1;
        }
    }
}

fn occurrences(pattern: &Pattern, row: &[char], found: &mut Vec<usize>) {
    let word: Vec<char> = pattern.text.chars().collect();
    let same = |a: &char, b: &char| a == b || (!pattern.exact_case && a.to_lowercase().eq(b.to_lowercase()));
    for (at, window) in row.windows(word.len().max(1)).enumerate() {
        if window.iter().zip(&word).all(|(a, b)| same(a, b)) {
            found.extend(at..at + word.len());
        }
    }
}

/// Splits a filter at blanks outside of quotation marks.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

/// Parses a word; `None` for one that is not finished.
fn term(word: &str) -> Option<Term> {
    let (negated, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
    let is_field = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic());
    let field = word.split_once(':').filter(|(field, _)| is_field(field));
    if word.is_empty() || field.is_some_and(|(_, text)| text.is_empty()) {
        return None;
    }
    let field = field.map(|(field, text)| (field.to_ascii_lowercase(), Pattern::new(text)));
    Some(Term { negated, field, whole: Pattern::new(word) })
}

#[cfg(test)]
mod tests;
