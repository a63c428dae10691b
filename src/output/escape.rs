//! Makes characters visible that a reader cannot see or that a terminal obeys.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use unicode_width::UnicodeWidthChar as _;

/// Marks that may follow one character; the Stream-Safe Text Format (UAX #15) has the same limit.
const MARKS: usize = 30;

/// Returns whether a character is shown as itself. Control characters (C0, DEL, C1), line breaks, overrides and isolates
/// of the writing direction, and characters without a shape are not.
pub fn is_plain(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\0'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fdd0}'..='\u{fdef}'
        // U+FE0E and U+FE0F choose between text and picture.
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}'..='\u{ffff}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        _ => true,
    }
}

/// Returns a text from outside as it may be shown on one line. Characters that are not plain, and marks after the
/// thirtieth on one character, are written as Rust escapes such as `\n` or `\u{1b}`. Idempotent.
pub fn escape(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut escaped = Escaping::default();
    let Some(first) = text.char_indices().find(|(_, c)| !escaped.keeps(*c)).map(|(at, _)| at) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut writer = Writer { out: &mut out, escaping: escaped };
    let _ = writer.write_str(&text[first..]);
    Cow::Owned(out)
}

/// Counts the marks on the current character.
#[derive(Clone, Copy, Debug, Default)]
struct Escaping {
    marks: usize,
}

impl Escaping {
    /// Takes the next character; returns false if it must be escaped.
    fn keeps(&mut self, c: char) -> bool {
        if !is_plain(c) {
            return false;
        }
        let is_mark = !c.is_ascii() && c.width() == Some(0);
        self.marks = if is_mark { self.marks + 1 } else { 0 };
        self.marks <= MARKS
    }
}

/// Writes text escaped.
struct Writer<'a, W: ?Sized> {
    out: &'a mut W,
    escaping: Escaping,
}

impl<W: fmt::Write + ?Sized> fmt::Write for Writer<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            if self.escaping.keeps(c) {
                continue;
            }
            self.out.write_str(&text[plain..at])?;
            match c {
                '\n' => self.out.write_str("\\n")?,
                '\r' => self.out.write_str("\\r")?,
                '\t' => self.out.write_str("\\t")?,
                c => write!(self.out, "{}", c.escape_unicode())?,
            }
            plain = at + c.len_utf8();
        }
        self.out.write_str(&text[plain..])
    }
}

/// Displays a value escaped.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<T>(pub T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Writer { out: f, escaping: Escaping::default() }, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_made_visible_and_plain_text_is_left() {
        for text in ["", "shop/a-1 <b> `c`", "节点 é ✓ 👍🏽 ⚠\u{fe0f} שלום", "e\u{301}"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        for (text, expected) in [
            ("a\u{1b}[2J\u{7}b", r"a\u{1b}[2J\u{7}b"),
            ("a\nb\r\tc\0", r"a\nb\r\tc\u{0}"),
            ("\u{7f}\u{80}\u{9b}31m\u{9f}", r"\u{7f}\u{80}\u{9b}31m\u{9f}"),
            ("\u{202e}gnp\u{2066}\u{200f}\u{61c}", r"\u{202e}gnp\u{2066}\u{200f}\u{61c}"),
            ("\u{200b}\u{feff}\u{2028}\u{85}\u{e0041}", r"\u{200b}\u{feff}\u{2028}\u{85}\u{e0041}"),
            (r"a\n", r"a\n"),
        ] {
            assert_eq!(escape(text), expected, "{text:?}");
            assert_eq!(Escaped(text).to_string(), expected);
            assert_eq!(escape(&escape(text)), expected);
        }
        for c in (char::MIN..=char::MAX).filter(|c| c.is_control()) {
            assert!(!is_plain(c), "{c:?}");
        }
    }

    #[test]
    fn marks_do_not_pile_up() {
        let text = format!("a{}b\u{301}", "\u{301}".repeat(100));
        let shown = escape(&text);
        assert_eq!(shown.matches('\u{301}').count(), MARKS + 1);
        assert_eq!(shown.matches(r"\u{301}").count(), 100 - MARKS);
        assert_eq!(escape(&shown), shown);
    }
}
