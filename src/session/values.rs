//! Reads the JSON values of a session's file one after another: compressed or not, one per line, indented, or as the
//! items of one array.

use std::io::{self, BufRead, BufReader, Read};

use flate2::Crc;
use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::file::{LineProblem, SessionFileError};
use crate::limits::sessions::{LONGEST_VALUE, UNPACKED, UNPACKED_GROWTH};

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns whether `format` is the value of the outermost key `format`, in a text that may be cut off anywhere.
pub(super) fn names_format(start: &[u8], format: &str) -> bool {
    let mut text = Vec::new();
    // Decompressing a file's beginning ends in an error; the bytes before it count.
    let _ = Unpacked::new(start).take(1 << 20).read_to_end(&mut text);
    let (mut depth, mut is_key, mut at) = (0_i32, false, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' => (depth, is_key) = (depth + 1, true),
            // The head may be the first item of an array.
            b'[' if depth > 0 => (depth, is_key) = (depth + 1, false),
            b'}' | b']' => depth -= 1,
            b',' => is_key = true,
            b':' => is_key = false,
            b'"' => {
                let Some(length) = string_length(&text[at..]) else { return false };
                let name = &text[at..at + length];
                at += length + 1;
                if depth == 1 && is_key && name == b"format" {
                    let rest = text[at..].trim_ascii_start();
                    let value = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
                    return value.is_some_and(|value| value.starts_with(format!("\"{format}\"").as_bytes()));
                }
            }
            _ => {}
        }
        if depth <= 0 && matches!(byte, b'}' | b']') {
            return false;
        }
    }
    false
}

/// Returns the length of a string up to its closing quotation mark; `None` without one.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// A file's content, decompressed if it is gzip.
enum Unpacked<R: Read> {
    Plain(BufReader<R>),
    Gzip { inner: Box<GzDecoder<Counted<BufReader<R>>>>, out: u64 },
    Failed(Option<io::Error>),
}

struct Counted<R> {
    inner: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.count += read as u64;
        Ok(read)
    }
}

impl<R: Read> Unpacked<R> {
    fn new(file: R) -> Self {
        let mut file = BufReader::new(file);
        match file.fill_buf() {
            Ok(start) if start.starts_with(&GZIP) => {
                Self::Gzip { inner: Box::new(GzDecoder::new(Counted { inner: file, count: 0 })), out: 0 }
            }
            Ok(_) => Self::Plain(file),
            Err(error) => Self::Failed(Some(error)),
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Gzip { inner, out } => {
                let read = inner.read(buffer)?;
                *out += read as u64;
                if *out > UNPACKED + inner.get_ref().count.saturating_mul(UNPACKED_GROWTH) {
                    return Err(io::Error::other("it decompresses to more than a session of its size can hold"));
                }
                Ok(read)
            }
            Self::Failed(error) => error.take().map_or(Ok(0), Err),
        }
    }
}

/// Adds a value to a checksum, with its fields in the order of their names.
pub(super) fn add_value(crc: &mut Crc, value: &Value) {
    crc.update(value.to_string().as_bytes());
}

/// Reader of JSON values, in order.
pub(super) struct Values<R: Read> {
    reader: BufReader<Unpacked<R>>,
    /// Line on which the newest value begins, from 1.
    pub(super) line: usize,
    /// Number of line breaks read.
    breaks: usize,
    text: Vec<u8>,
    /// The checksum of the values so far.
    pub(super) crc: Crc,
    longest: usize,
}

impl<R: Read> Values<R> {
    pub(super) fn new(file: R) -> Self {
        Self {
            reader: BufReader::with_capacity(64 << 10, Unpacked::new(file)),
            line: 1,
            breaks: 0,
            text: Vec::new(),
            crc: Crc::new(),
            longest: LONGEST_VALUE,
        }
    }

    /// Reads the next value.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<T, SessionFileError> {
        let read = self.read();
        let line = self.line;
        let at = |problem| SessionFileError::Line { line, problem };
        read.map_err(at)?;
        self.add_to_checksum();
        serde_json::from_slice(&self.text).map_err(|error| at(error.into()))
    }

    /// Reads to the end of the file, which checks what the compression says of its content.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        io::copy(&mut self.reader, &mut io::sink()).map(|_| ())
    }

    /// Adds the value to the checksum, whatever its layout and the order of its fields. A text that is no value is refused later.
    fn add_to_checksum(&mut self) {
        if let Ok(value) = serde_json::from_slice::<Value>(&self.text) {
            add_value(&mut self.crc, &value);
        }
    }

    /// Reads the text of the next value, which must be an object.
    fn read(&mut self) -> Result<(), LineProblem> {
        self.text.clear();
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                self.line = self.breaks + 1;
                return Err(LineProblem::EndOfFile);
            }
            let mut end = None;
            let mut from = 0;
            for (at, byte) in buffer.iter().enumerate() {
                self.breaks += usize::from(*byte == b'\n');
                if in_string {
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => in_string = false,
                        _ => {}
                    }
                    continue;
                }
                match byte {
                    // Separators between values, and a byte order mark.
                    b'[' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf if depth == 0 => from = at + 1,
                    b'{' | b'[' => {
                        if depth == 0 {
                            self.line = self.breaks + 1;
                        }
                        depth += 1;
                    }
                    b'}' | b']' if depth > 0 => {
                        depth -= 1;
                        if depth == 0 {
                            end = Some(at + 1);
                            break;
                        }
                    }
                    b'"' if depth > 0 => in_string = true,
                    _ if depth > 0 => {}
                    // Saved values are objects.
                    _ => {
                        self.line = self.breaks + 1;
                        return Err(LineProblem::NoObject);
                    }
                }
            }
            let taken = end.unwrap_or(buffer.len());
            self.text.extend_from_slice(&buffer[from.min(taken)..taken]);
            self.reader.consume(taken);
            if self.text.len() > self.longest {
                return Err(LineProblem::TooLong);
            }
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
