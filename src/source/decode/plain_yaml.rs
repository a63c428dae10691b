//! Writes YAML in the plain style of kubectl as JSON, which is read faster: by known [patterns](super::patterns), or by a quicker parser.
//!
//! Only what is beyond doubt is written: block mappings with sorted keys, block sequences, and scalars on one line that are strings,
//! whole numbers, booleans or null for certain. Any other text is left to the parser of YAML.

/// The depth of nesting beyond which a text is left to the parser of YAML.
const DEEPEST: usize = 40;

/// Returns the JSON of a mapping; `None` where a text is not of the plain style.
pub(super) fn to_json(text: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader { text, line: None, next: 0, out: Vec::with_capacity(text.len()) };
    reader.advance()?;
    let indent = reader.line?.indent;
    reader.mapping(indent, 0)?;
    reader.line.is_none().then_some(reader.out)
}

/// A line without its indentation.
#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    content: &'t [u8],
}

struct Reader<'t> {
    text: &'t [u8],
    /// The line to read; `None` at the end.
    line: Option<Line<'t>>,
    /// The offset of the line after it.
    next: usize,
    out: Vec<u8>,
}

impl Reader<'_> {
    /// Goes to the next line. `None` if its style is not plain.
    fn advance(&mut self) -> Option<()> {
        if self.next >= self.text.len() {
            self.line = None;
            return Some(());
        }
        let rest = &self.text[self.next..];
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.next += end + 1;
        let line = &rest[..end];
        let indent = line.iter().position(|byte| *byte != b' ')?;
        let content = &line[indent..];
        // An empty line may be part of a scalar; a trailing space or a comment is not written by kubectl.
        let is_plain = content[0] != b'#' && content.last() != Some(&b' ');
        self.line = Some(Line { indent, content });
        // Without an early end, many bytes are compared at once.
        let is_printed = content.iter().fold(true, |is_printed, byte| is_printed & (b' '..=b'~').contains(byte));
        (is_plain && is_printed).then_some(())
    }

    /// Writes a mapping whose keys are at an indentation.
    fn mapping(&mut self, indent: usize, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let mut last: &[u8] = b"";
        self.out.push(b'{');
        while let Some(line) = self.line {
            if line.indent != indent {
                if line.indent > indent {
                    return None;
                }
                break;
            }
            let (key, value) = key_and_value(line.content)?;
            // Equal keys are errors, and equal ones are neighbours here. Short keys are compared faster one byte after another.
            if key.iter().le(last) {
                return None;
            }
            if !last.is_empty() {
                self.out.push(b',');
            }
            last = key;
            self.out.push(b'"');
            self.out.extend_from_slice(key);
            self.out.extend_from_slice(b"\":");
            self.advance()?;
            if value.is_empty() { self.nested(indent, depth)? } else { self.scalar(value)? }
        }
        self.out.push(b'}');
        Some(())
    }

    /// Writes what is below a key at an indentation.
    fn nested(&mut self, indent: usize, depth: usize) -> Option<()> {
        match self.line {
            Some(line) if line.indent >= indent && line.content.starts_with(b"- ") => self.sequence(line.indent, depth + 1),
            Some(line) if line.indent > indent => self.mapping(line.indent, depth + 1),
            _ => {
                self.out.extend_from_slice(b"null");
                Some(())
            }
        }
    }

    /// Writes a sequence whose dashes are at an indentation.
    fn sequence(&mut self, indent: usize, depth: usize) -> Option<()> {
        let mut is_first = true;
        self.out.push(b'[');
        while let Some(line) = self.line {
            let is_entry = line.indent == indent && line.content.starts_with(b"- ");
            if !is_entry {
                if line.indent > indent {
                    return None;
                }
                break;
            }
            if !std::mem::take(&mut is_first) {
                self.out.push(b',');
            }
            let entry = &line.content[2..];
            if key_and_value(entry).is_some() {
                self.line = Some(Line { indent: indent + 2, content: entry });
                self.mapping(indent + 2, depth + 1)?;
            } else {
                self.advance()?;
                self.scalar(entry)?;
            }
        }
        self.out.push(b']');
        Some(())
    }

    /// Writes a scalar.
    fn scalar(&mut self, text: &[u8]) -> Option<()> {
        match *text {
            [b'"', ref inner @ .., b'"'] => memchr::memchr2(b'"', b'\\', inner).is_none().then(|| self.string(inner)),
            [b'\'', ref inner @ .., b'\''] => (!inner.contains(&b'\'')).then(|| self.string(inner)),
            [b'{', b'}'] | [b'[', b']'] => {
                self.out.extend_from_slice(text);
                Some(())
            }
            _ => self.plain(text),
        }
    }

    /// Writes a scalar without quotes.
    fn plain(&mut self, text: &[u8]) -> Option<()> {
        if is_whole_number(text) || matches!(text, b"true" | b"false" | b"null") {
            self.out.extend_from_slice(text);
            return Some(());
        }
        let starts = matches!(text, [b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'$', ..] | [b'-' | b'.', b'!'..=b'~', ..]);
        // `: ` would begin a value, and ` #` a comment.
        let is_one = || memchr::memchr_iter(b' ', text).all(|at| text[at - 1] != b':' && text.get(at + 1) != Some(&b'#'));
        let is_string = starts && is_one() && text.last() != Some(&b':') && !may_be_other(text);
        is_string.then(|| self.string(text))
    }

    fn string(&mut self, text: &[u8]) {
        self.out.push(b'"');
        let mut rest = text;
        while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
            self.out.extend_from_slice(&rest[..at]);
            self.out.extend_from_slice(&[b'\\', rest[at]]);
            rest = &rest[at + 1..];
        }
        self.out.extend_from_slice(rest);
        self.out.push(b'"');
    }
}

/// The bytes of which a key may consist.
const IS_OF_KEY: [bool; 256] = {
    let mut bytes = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        bytes[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'.' | b'_' | b'-' | b'/');
        byte += 1;
    }
    bytes
};

/// Splits a line into its key, which is a string for certain, and its value, which is empty where it is below.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line.iter().position(|byte| !IS_OF_KEY[usize::from(*byte)])?;
    let (key, rest) = line.split_at(end);
    let value = match rest {
        [b':'] => &rest[1..],
        [b':', b' ', value @ ..] if value.first() != Some(&b' ') => value,
        _ => return None,
    };
    (key.first().is_some_and(u8::is_ascii_alphabetic) && !may_be_other(key)).then_some((key, value))
}

/// Whether a scalar is a whole number in its only form, of at most 18 digits.
fn is_whole_number(text: &[u8]) -> bool {
    match text {
        b"0" => true,
        [b'-', b'1'..=b'9', rest @ ..] | [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Whether a scalar without quotes may be something else than a string: a number in any form, a word for a boolean or null.
fn may_be_other(text: &[u8]) -> bool {
    match text {
        [b'0'..=b'9' | b'+' | b'-' | b'.' | b'_' | b'e' | b'E', ..] => {}
        // The longest word is `infinity`.
        [b't' | b'T' | b'f' | b'F' | b'n' | b'N' | b'y' | b'Y' | b'o' | b'O' | b'i' | b'I', rest @ ..] if rest.len() < 8 => {}
        _ => return false,
    }
    let word = |word: &[u8]| text.eq_ignore_ascii_case(word);
    if [&b"true"[..], b"false", b"null", b"yes", b"no", b"on", b"off", b"y", b"n"].into_iter().any(word) {
        return true;
    }
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let dotless = unsigned.strip_prefix(b".").unwrap_or(unsigned);
    if [&b"inf"[..], b"infinity", b"nan"].into_iter().any(|word| dotless.eq_ignore_ascii_case(word)) {
        return true;
    }
    if unsigned.first() == Some(&b'0') && matches!(unsigned.get(1), Some(b'x' | b'X' | b'o' | b'O' | b'b' | b'B')) {
        return true;
    }
    // An address of four numbers is not a number.
    let is_address = memchr::memchr_iter(b'.', text).count() > 1 && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    !is_address && text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-' | b'_'))
}

#[cfg(test)]
mod tests;
