//! JSON as Go's `encoding/json` reads it: the first value of a text, and the words of its syntax errors.
//!
//! Numbers stay as they are written, names of objects may repeat, and what is no UTF-8 is replaced.

use std::borrow::Cow;

use crate::limits::extenders::{ANSWER_DEPTH, ANSWER_ITEMS, ANSWER_VALUES};

/// Why a text is no JSON. The texts are Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SyntaxError {
    #[error("EOF")]
    Empty,
    #[error("unexpected EOF")]
    End,
    #[error("invalid character {} {place}", quoted(*.byte))]
    Character { byte: u8, place: Cow<'static, str> },
    #[error("exceeded max depth")]
    TooDeep,
    /// The limit of this program.
    #[error("the answer holds too many values")]
    TooManyValues,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Returns what Go calls the value in an error.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Returns the value as other readers take it; of names that repeat the last counts.
    pub(super) fn into_value(self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => value.into(),
            Self::Number(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            Self::Text(text) => text.into(),
            Self::Array(items) => items.into_iter().map(Self::into_value).collect(),
            Self::Object(fields) => Value::Object(fields.into_iter().map(|(name, value)| (name, value.into_value())).collect()),
        }
    }
}

/// Reads the first value of a text, as `json.Decoder` does.
///
/// # Errors
/// Where Go has an error, with its text.
pub(super) fn first_value(text: &[u8]) -> Result<Json, SyntaxError> {
    value_within(text, ANSWER_VALUES, ANSWER_ITEMS)
}

/// Reads the first value of a text, if it holds no more values than that, and no more in one list or object.
fn value_within(text: &[u8], values: usize, items: usize) -> Result<Json, SyntaxError> {
    let mut reader = Reader { text, at: 0, values, items };
    reader.skip_space();
    if reader.peek().is_none() {
        return Err(SyntaxError::Empty);
    }
    reader.document()
}

/// A list or object that is being read.
enum Open {
    Array(Vec<Json>),
    /// With the name of the value that comes next.
    Object(Vec<(String, Json)>, String),
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// The number of values that may still come.
    values: usize,
    /// The number of values that a list or object may hold.
    items: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Returns the byte here, past blanks.
    fn next_byte(&mut self) -> Result<u8, SyntaxError> {
        self.skip_space();
        self.here()
    }

    fn here(&self) -> Result<u8, SyntaxError> {
        self.peek().ok_or(SyntaxError::End)
    }

    /// Reads a value. Open arrays and objects are in a list, so that depth takes no stack.
    fn document(&mut self) -> Result<Json, SyntaxError> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let Some(left) = self.values.checked_sub(1) else { return Err(SyntaxError::TooManyValues) };
            self.values = left;
            let Some(mut value) = self.begin(&mut open)? else { continue };
            // Close everything that ends here.
            loop {
                let Some(last) = open.last_mut() else { return Ok(value) };
                let ended = match last {
                    Open::Array(items) => {
                        if items.len() >= self.items {
                            return Err(SyntaxError::TooManyValues);
                        }
                        items.push(value);
                        match self.next_byte()? {
                            b',' => false,
                            b']' => true,
                            other => return Err(invalid(other, "after array element")),
                        }
                    }
                    Open::Object(fields, name) => {
                        if fields.len() >= self.items {
                            return Err(SyntaxError::TooManyValues);
                        }
                        fields.push((std::mem::take(name), value));
                        match self.next_byte()? {
                            b',' => false,
                            b'}' => true,
                            other => return Err(invalid(other, "after object key:value pair")),
                        }
                    }
                };
                self.at += 1;
                if !ended {
                    if let Open::Object(_, name) = last {
                        *name = self.name()?;
                    }
                    break;
                }
                value = match open.pop() {
                    Some(Open::Array(items)) => Json::Array(items),
                    Some(Open::Object(fields, _)) => Json::Object(fields),
                    None => return Err(SyntaxError::End),
                };
            }
        }
    }

    /// Reads a value without others in it; `None` where an array or an object with values begins.
    fn begin(&mut self, open: &mut Vec<Open>) -> Result<Option<Json>, SyntaxError> {
        match self.next_byte()? {
            b'[' => {
                self.enter(open)?;
                if self.next_byte()? != b']' {
                    open.push(Open::Array(Vec::new()));
                    return Ok(None);
                }
                self.at += 1;
                Ok(Some(Json::Array(Vec::new())))
            }
            b'{' => {
                self.enter(open)?;
                if self.next_byte()? != b'}' {
                    let name = self.name()?;
                    open.push(Open::Object(Vec::new(), name));
                    return Ok(None);
                }
                self.at += 1;
                Ok(Some(Json::Object(Vec::new())))
            }
            _ => self.scalar().map(Some),
        }
    }

    fn enter(&mut self, open: &[Open]) -> Result<(), SyntaxError> {
        self.at += 1;
        if open.len() >= ANSWER_DEPTH { Err(SyntaxError::TooDeep) } else { Ok(()) }
    }

    /// Reads the name of a field, up to behind its colon.
    fn name(&mut self) -> Result<String, SyntaxError> {
        match self.next_byte()? {
            b'"' => {}
            other => return Err(invalid(other, "looking for beginning of object key string")),
        }
        let name = self.string()?;
        match self.next_byte()? {
            b':' => self.at += 1,
            other => return Err(invalid(other, "after object key")),
        }
        Ok(name)
    }

    fn scalar(&mut self) -> Result<Json, SyntaxError> {
        match self.here()? {
            b'"' => self.string().map(Json::Text),
            b't' => self.literal("true", Json::Bool(true)),
            b'f' => self.literal("false", Json::Bool(false)),
            b'n' => self.literal("null", Json::Null),
            b'-' | b'0'..=b'9' => self.number(),
            other => Err(invalid(other, "looking for beginning of value")),
        }
    }

    fn literal(&mut self, word: &str, value: Json) -> Result<Json, SyntaxError> {
        for expected in word.bytes() {
            let found = self.here()?;
            if found != expected {
                return Err(invalid(found, format!("in literal {word} (expecting {})", quoted(expected))));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Json, SyntaxError> {
        let start = self.at;
        if self.here()? == b'-' {
            self.at += 1;
        }
        match self.here()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            other => return Err(invalid(other, "in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.one_digit("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.one_digit("in exponent of numeric literal")?;
        }
        Ok(Json::Number(String::from_utf8_lossy(&self.text[start..self.at]).into_owned()))
    }

    fn one_digit(&mut self, place: &'static str) -> Result<(), SyntaxError> {
        match self.here()? {
            b'0'..=b'9' => self.digits(),
            other => return Err(invalid(other, place)),
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// Reads a string, from its first quotation mark on.
    fn string(&mut self) -> Result<String, SyntaxError> {
        self.at += 1;
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let byte = self.here()?;
            self.at += 1;
            match byte {
                b'"' => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                b'\\' => self.escape(&mut bytes)?,
                0..0x20 => return Err(invalid(byte, "in string literal")),
                _ => bytes.push(byte),
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let byte = self.here()?;
        self.at += 1;
        bytes.push(match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut unit = u32::from(self.hex()?);
                if (0xd800..0xdc00).contains(&unit) && self.text.get(self.at..self.at + 2) == Some(b"\\u") {
                    // The low half of a surrogate pair; any other character is read by itself.
                    let before = self.at;
                    self.at += 2;
                    let low = u32::from(self.hex()?);
                    if (0xdc00..0xe000).contains(&low) {
                        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    } else {
                        self.at = before;
                    }
                }
                let character = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            other => return Err(invalid(other, "in string escape code")),
        });
        Ok(())
    }

    fn hex(&mut self) -> Result<u16, SyntaxError> {
        let mut unit = 0;
        for _ in 0..4 {
            let byte = self.here()?;
            let digit = char::from(byte).to_digit(16).ok_or_else(|| invalid(byte, "in \\u hexadecimal character escape"))?;
            unit = unit << 4 | digit as u16;
            self.at += 1;
        }
        Ok(unit)
    }
}

fn invalid(byte: u8, place: impl Into<Cow<'static, str>>) -> SyntaxError {
    SyntaxError::Character { byte, place: place.into() }
}

/// Returns a byte as Go shows a character.
fn quoted(byte: u8) -> String {
    let shown = match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        12 => "\\f".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        11 => "\\v".to_owned(),
        0..0x20 | 0x7f => format!("\\x{byte:02x}"),
        0x80..0xa1 | 0xad => format!("\\u00{byte:02x}"),
        _ => char::from(byte).to_string(),
    };
    format!("'{shown}'")
}

#[cfg(test)]
mod tests;
