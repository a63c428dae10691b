//! Patterns in RE2's syntax as Go's `regexp/syntax` parses it, translated to the syntax of the `regex` crate.
//!
//! `\d`, `\w`, `\s` and `\b` are ASCII. Repetition counts, multiplied when nested, are at most 1000. There is no
//! verbose mode, no look-around and no back reference. Errors are in Go's words.

use regex::{Regex, RegexBuilder};

use super::budget;
use super::error::RegexError;

/// Maximum repetition count, with nested counts multiplied.
const MAX_REPEAT: u32 = 1_000;
/// Maximum nesting of groups.
const MAX_DEPTH: usize = 1_000;
/// Maximum sizes of a compiled pattern, in bytes, each with the steps that compiling it takes. They are tried in turn, so that
/// the work is known before it is done. Go allows more, and takes seconds for it.
const SIZE_LIMITS: [(usize, u64); 3] = [(16 << 10, 200), (256 << 10, 10_000), (4 << 20, 250_000)];
/// States of a pattern that one byte of text leads through in the time of one step.
const STATES_PER_STEP: u64 = 20;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// An estimate of its states, with repetitions written out.
    states: u64,
}

pub(super) fn compile(pattern: &str) -> Result<Pattern, RegexError> {
    let (translated, states) = translated(pattern)?;
    let build = |limit| RegexBuilder::new(&translated).size_limit(limit).nest_limit(MAX_DEPTH as u32 + 10).build();
    for (limit, steps) in SIZE_LIMITS {
        if !budget::spend(steps) {
            break;
        }
        if let Ok(regex) = build(limit) {
            return Ok(Pattern { regex, states });
        }
    }
    Err(RegexError(format!("expression too large: `{pattern}`")))
}

/// Checks a pattern; the error is the text after Go's `error parsing regexp: `.
pub(super) fn check(pattern: &str) -> Result<(), RegexError> {
    translated(pattern).map(drop)
}

/// Translates a pattern, and estimates its states.
fn translated(pattern: &str) -> Result<(String, u64), RegexError> {
    let mut parser = Parser { whole: pattern, rest: pattern, out: String::new(), groups: vec![Group::default()] };
    parser.run()?;
    let states = parser.groups.last().map_or(1, |group| group.states);
    Ok((parser.out, states))
}

impl Pattern {
    /// Whether the text contains a match. False once the budget is used up.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.spend(text.len()) && self.regex.is_match(text)
    }

    /// Returns the first matches, up to a limit; none once the budget is used up.
    pub(super) fn find<'t>(&self, text: &'t str, limit: usize) -> impl Iterator<Item = &'t str> {
        // Each search may go to the end of the text.
        let limit = if self.spend(text.len()) { limit } else { 0 };
        let found = self.regex.find_iter(text).take(limit);
        found.take_while(|found| self.spend(text.len() - found.end())).map(|found| found.as_str())
    }

    fn spend(&self, bytes: usize) -> bool {
        budget::spend((bytes as u64).saturating_mul(self.states) / STATES_PER_STEP)
    }
}

/// An open group: its last operand, and its repetition counts.
#[derive(Default)]
struct Group {
    /// The repetition count within the last operand; `None` if there is no operand.
    last: Option<u32>,
    /// The largest repetition count within one operand of the group.
    most: u32,
    /// The states of all operands, and of the last one.
    states: u64,
    last_states: u64,
}

struct Parser<'p> {
    whole: &'p str,
    rest: &'p str,
    out: String,
    groups: Vec<Group>,
}

type Parsed<T> = Result<T, RegexError>;

fn fault<T>(code: &str, expression: &str) -> Parsed<T> {
    Err(RegexError(format!("{code}: `{expression}`")))
}

const BAD_RANGE: &str = "invalid character class range";

impl<'p> Parser<'p> {
    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Returns the text consumed since the rest was `before`.
    fn read(&self, before: &'p str) -> &'p str {
        &before[..before.len() - self.rest.len()]
    }

    fn operand(&mut self, repeats: u32, states: u64) {
        if let Some(group) = self.groups.last_mut() {
            group.last = Some(repeats);
            group.most = group.most.max(repeats);
            group.states = group.states.saturating_add(states);
            group.last_states = states;
        }
    }

    fn emit(&mut self, text: &str) {
        self.out.push_str(text);
        self.operand(1, 1);
    }

    fn literal(&mut self, c: char) {
        push_literal(&mut self.out, c);
        self.operand(1, 1);
    }

    fn run(&mut self) -> Parsed<()> {
        let mut last_repeat: Option<&'p str> = None;
        while let Some(c) = self.rest.chars().next() {
            let before = self.rest;
            let mut repeat = None;
            match c {
                '(' => self.open()?,
                '|' => {
                    self.take();
                    self.out.push('|');
                    if let Some(group) = self.groups.last_mut() {
                        group.last = None;
                    }
                }
                ')' => {
                    self.take();
                    let Some(group) = self.groups.pop() else { return fault("unexpected )", self.whole) };
                    if self.groups.is_empty() {
                        return fault("unexpected )", self.whole);
                    }
                    self.out.push(')');
                    self.operand(group.most.max(1), group.states.saturating_add(1));
                }
                '^' | '$' | '.' => {
                    self.take();
                    self.emit(&c.to_string());
                }
                '[' => self.class()?,
                '*' | '+' | '?' => {
                    self.take();
                    self.repeat(before, last_repeat, &c.to_string(), 1)?;
                    repeat = Some(before);
                }
                '{' => match counts(before) {
                    None => {
                        self.take();
                        self.literal('{');
                    }
                    Some((min, max, after)) => {
                        self.rest = after;
                        let most = max.unwrap_or(min);
                        if min > MAX_REPEAT || most > MAX_REPEAT || most < min {
                            return fault("invalid repeat count", self.read(before));
                        }
                        let text = self.read(before);
                        self.repeat(before, last_repeat, text, most)?;
                        repeat = Some(before);
                    }
                },
                '\\' => self.backslash()?,
                _ => {
                    self.take();
                    self.literal(c);
                }
            }
            last_repeat = repeat;
        }
        if self.groups.len() > 1 { fault("missing closing )", self.whole) } else { Ok(()) }
    }

    /// Repeats the last operand at most `times` times.
    fn repeat(&mut self, before: &'p str, last_repeat: Option<&'p str>, text: &str, times: u32) -> Parsed<()> {
        self.out.push_str(text);
        if self.rest.starts_with('?') {
            self.take();
            self.out.push('?');
        }
        if let Some(last) = last_repeat {
            return fault("invalid nested repetition operator", self.read(last));
        }
        let Some(repeats) = self.groups.last().and_then(|group| group.last) else {
            return fault("missing argument to repetition operator", self.read(before));
        };
        let total = repeats.saturating_mul(times.max(1));
        if times >= 2 && total > MAX_REPEAT {
            return fault("invalid repeat count", self.read(before));
        }
        let once = self.groups.last().map_or(1, |group| group.last_states);
        let times = u64::from(times.max(1));
        // The operand is counted already.
        self.operand(total, once.saturating_mul(times - 1));
        if let Some(group) = self.groups.last_mut() {
            group.last_states = once.saturating_mul(times);
        }
        Ok(())
    }

    fn open(&mut self) -> Parsed<()> {
        let before = self.rest;
        if !before.starts_with("(?") {
            self.take();
            self.out.push('(');
            return self.push();
        }
        let name = before.strip_prefix("(?P<").or_else(|| before.strip_prefix("(?<"));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let Some((name, rest)) = name.split_once('>') else { return fault("invalid named capture", before) };
            self.rest = rest;
            let valid = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
            if !valid {
                return fault("invalid named capture", self.read(before));
            }
            self.out.push('(');
            return self.push();
        }
        self.rest = &before[2..];
        // Flags to set, and those to clear, which win. Go allows repeated ones and none.
        let (mut set, mut clear): (String, Option<String>) = (String::new(), None);
        while let Some(c) = self.take() {
            match c {
                'i' | 'm' | 's' | 'U' => {
                    let flags = clear.as_mut().unwrap_or(&mut set);
                    if !flags.contains(c) {
                        flags.push(c);
                    }
                }
                '-' if clear.is_none() => clear = Some(String::new()),
                ':' | ')' if clear.as_ref().is_none_or(|flags| !flags.is_empty()) => {
                    let cleared = clear.unwrap_or_default();
                    set.retain(|c| !cleared.contains(c));
                    let minus = if cleared.is_empty() { "" } else { "-" };
                    if c == ':' || !set.is_empty() || !cleared.is_empty() {
                        self.out.push_str(&format!("(?{set}{minus}{cleared}{c}"));
                    }
                    return if c == ':' { self.push() } else { Ok(()) };
                }
                _ => break,
            }
        }
        fault("invalid or unsupported Perl syntax", self.read(before))
    }

    fn push(&mut self) -> Parsed<()> {
        self.groups.push(Group::default());
        if self.groups.len() > MAX_DEPTH { fault("expression nests too deeply", self.whole) } else { Ok(()) }
    }

    fn backslash(&mut self) -> Parsed<()> {
        let before = self.rest;
        match before[1..].chars().next() {
            Some('A') => {
                self.fixed(2, "\\A");
                return Ok(());
            }
            Some('b') => {
                self.fixed(2, "(?-u:\\b)");
                return Ok(());
            }
            Some('B') => {
                self.fixed(2, "(?-u:\\B)");
                return Ok(());
            }
            Some('z') => {
                self.fixed(2, "\\z");
                return Ok(());
            }
            Some('C') => return fault("invalid escape sequence", &before[..2]),
            Some('Q') => {
                let (quoted, rest) = before[2..].split_once("\\E").unwrap_or((&before[2..], ""));
                quoted.chars().for_each(|c| self.literal(c));
                self.rest = rest;
                return Ok(());
            }
            _ => {}
        }
        if let Some(class) = self.class_escape()? {
            self.emit(&format!("[{class}]"));
            return Ok(());
        }
        match char::from_u32(self.escape()?) {
            Some(c) => self.literal(c),
            // Nothing matches a surrogate.
            None => self.emit("[^\\s\\S]"),
        }
        Ok(())
    }

    fn fixed(&mut self, size: usize, text: &str) {
        self.rest = &self.rest[size..];
        self.emit(text);
    }

    /// Parses `\d`, `\pL` and similar escapes inside brackets.
    fn class_escape(&mut self) -> Parsed<Option<String>> {
        let before = self.rest;
        let class = match before.as_bytes().get(1) {
            Some(b'd') => "0-9",
            Some(b'D') => "[^0-9]",
            Some(b's') => "\\t\\n\\x0C\\r ",
            Some(b'S') => "[^\\t\\n\\x0C\\r ]",
            Some(b'w') => "0-9A-Za-z_",
            Some(b'W') => "[^0-9A-Za-z_]",
            Some(b'p' | b'P') => return self.unicode_class().map(Some),
            _ => return Ok(None),
        };
        self.rest = &before[2..];
        Ok(Some(class.to_owned()))
    }

    fn unicode_class(&mut self) -> Parsed<String> {
        let before = self.rest;
        let negated = before.as_bytes()[1] == b'P';
        self.rest = &before[2..];
        let name = match self.take() {
            Some('{') => match self.rest.split_once('}') {
                Some((name, rest)) => {
                    self.rest = rest;
                    name
                }
                None => return fault(BAD_RANGE, before),
            },
            Some(c) => &before[2..2 + c.len_utf8()],
            None => return fault(BAD_RANGE, before),
        };
        let (name, negated) = name.strip_prefix('^').map_or((name, negated), |name| (name, !negated));
        // Case, blanks, hyphens and underscores in names do not matter.
        let name: String = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
        let class = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric()) && !name.starts_with("is");
        if !plain || Regex::new(&class).is_err() {
            return fault(BAD_RANGE, self.read(before));
        }
        Ok(class)
    }

    /// Parses an escaped character, which may be a surrogate.
    fn escape(&mut self) -> Parsed<u32> {
        let before = self.rest;
        self.take();
        let Some(c) = self.take() else { return fault("trailing backslash at end of expression", "") };
        let is_octal = |c: Option<char>| c.is_some_and(|c| ('0'..='7').contains(&c));
        match c {
            '1'..='7' if !is_octal(self.rest.chars().next()) => {}
            '0'..='7' => {
                let mut value = c as u32 - '0' as u32;
                for _ in 0..2 {
                    if is_octal(self.rest.chars().next()) {
                        value = value * 8 + self.take().and_then(|c| c.to_digit(8)).unwrap_or(0);
                    }
                }
                return Ok(value);
            }
            'x' => {
                if let Some(value) = self.hexadecimal() {
                    return Ok(value);
                }
            }
            'a' => return Ok(0x7),
            'f' => return Ok(0xC),
            'n' => return Ok(0xA),
            'r' => return Ok(0xD),
            't' => return Ok(0x9),
            'v' => return Ok(0xB),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c.into()),
            _ => {}
        }
        fault("invalid escape sequence", self.read(before))
    }

    /// Parses the digits after `\x`: two, or any number in braces. Stops behind the first character that does not fit.
    fn hexadecimal(&mut self) -> Option<u32> {
        let first = self.take()?;
        if first != '{' {
            let low = self.take();
            return Some(first.to_digit(16)? * 16 + low?.to_digit(16)?);
        }
        let (mut value, mut empty) = (0, true);
        loop {
            match self.take()? {
                '}' => return (!empty).then_some(value),
                c => {
                    value = value * 16 + c.to_digit(16)?;
                    if value > char::MAX.into() {
                        return None;
                    }
                    empty = false;
                }
            }
        }
    }

    fn class(&mut self) -> Parsed<()> {
        let before = self.rest;
        self.take();
        let mut class = String::from("[");
        if self.rest.starts_with('^') {
            self.take();
            class.push('^');
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if let Some(inner) = self.rest.strip_prefix("[:")
                && let Some(end) = inner.find(":]")
            {
                let named = &self.rest[..end + 4];
                let name = inner[..end].trim_start_matches('^');
                let known = [
                    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
                    "xdigit",
                ];
                if !known.contains(&name) {
                    return fault(BAD_RANGE, named);
                }
                class.push_str(named);
                self.rest = &self.rest[named.len()..];
                continue;
            }
            if self.rest.starts_with('\\')
                && let Some(named) = self.class_escape()?
            {
                class.push_str(&named);
                continue;
            }
            let range = self.rest;
            let low = self.class_char(before)?;
            let mut high = low;
            if self.rest.starts_with('-') && self.rest.len() >= 2 && !self.rest.starts_with("-]") {
                self.take();
                high = self.class_char(before)?;
                if high < low {
                    return fault(BAD_RANGE, self.read(range));
                }
            }
            push_range(&mut class, low, high);
        }
        self.take();
        class.push(']');
        self.emit(&class);
        Ok(())
    }

    fn class_char(&mut self, class: &'p str) -> Parsed<u32> {
        match self.rest.chars().next() {
            None => fault("missing closing ]", class),
            Some('\\') => self.escape(),
            Some(_) => Ok(self.take().unwrap_or_default().into()),
        }
    }
}

/// Adds a range to a class, without its surrogates.
fn push_range(class: &mut String, low: u32, high: u32) {
    let low = char::from_u32(low).unwrap_or('\u{E000}');
    let high = char::from_u32(high).unwrap_or('\u{D7FF}');
    if low > high {
        // Keeps a class of surrogates only from being empty.
        class.push_str("[^\\s\\S]");
        return;
    }
    push_literal(class, low);
    if low < high {
        class.push('-');
        push_literal(class, high);
    }
}

fn push_literal(out: &mut String, c: char) {
    if c.is_ascii() && !c.is_ascii_alphanumeric() {
        out.push_str(&format!("\\x{:02X}", c as u32));
    } else {
        out.push(c);
    }
}

/// Parses the counts of `{n}`, `{n,}` or `{n,m}`, and returns the rest.
fn counts(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (inner, after) = text.strip_prefix('{')?.split_once('}')?;
    let number = |digits: &str| -> Option<u32> {
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
        plain.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    match inner.split_once(',') {
        None => number(inner).map(|n| (n, Some(n), after)),
        Some((min, "")) => number(min).map(|n| (n, None, after)),
        Some((min, max)) => number(min).zip(number(max)).map(|(min, max)| (min, Some(max), after)),
    }
}
