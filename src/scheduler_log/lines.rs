//! Splits a stream into lines of bounded length.

use std::io::{self, Read};

use crate::limits::sources::LOG_LINE;

const CHUNK: usize = 256 << 10;

/// A line of a stream, without its line break.
pub(super) enum Line<'a> {
    /// A whole line.
    Whole(&'a [u8]),
    /// A line longer than [`LOG_LINE`], which was skipped.
    TooLong,
}

/// A stream read line by line.
pub(super) struct Lines<'a> {
    reader: &'a mut dyn Read,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    max: usize,
    at_end: bool,
    /// The number of the last line, from 1.
    pub(super) number: u64,
    /// The number of bytes read from the stream.
    pub(super) bytes: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: &'a mut dyn Read) -> Self {
        Self { reader, buffer: vec![0; CHUNK], start: 0, end: 0, max: LOG_LINE, at_end: false, number: 0, bytes: 0 }
    }

    /// Returns the next line; `None` at the end of the stream.
    ///
    /// # Errors
    /// Returns the error of the stream. The lines before it were returned.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        let mut too_long = false;
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[self.start + searched..self.end]) {
                let (start, end) = (self.start, self.start + searched + length);
                self.start = end + 1;
                self.number += 1;
                return Ok(Some(if too_long { Line::TooLong } else { Line::Whole(without_return(&self.buffer[start..end])) }));
            }
            searched = self.end - self.start;
            if self.at_end {
                if searched == 0 && !too_long {
                    return Ok(None);
                }
                let start = self.start;
                self.start = self.end;
                self.number += 1;
                return Ok(Some(if too_long { Line::TooLong } else { Line::Whole(without_return(&self.buffer[start..self.end])) }));
            }
            if searched >= self.max {
                too_long = true;
            }
            if too_long {
                (self.start, self.end, searched) = (0, 0, 0);
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize((self.buffer.len() * 2).min(self.max.max(CHUNK) + CHUNK), 0);
        }
        let read = loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        match read {
            Ok(count) => {
                self.at_end = count == 0;
                self.end += count;
                self.bytes += count as u64;
                Ok(())
            }
            Err(error) => {
                self.at_end = true;
                Err(error)
            }
        }
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], max: usize) -> Vec<Option<String>> {
        let mut reader = text;
        let mut lines = Lines { max, ..Lines::new(&mut reader) };
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Whole(line) => Some(String::from_utf8_lossy(line).into_owned()),
                Line::TooLong => None,
            });
        }
        assert_eq!(found.len() as u64, lines.number);
        found
    }

    #[test]
    fn lines_end_with_or_without_a_mark() {
        assert_eq!(all(b"a\r\n\nb", 10), [Some("a".into()), Some(String::new()), Some("b".into())]);
        assert!(all(b"", 10).is_empty());
    }

    #[test]
    fn a_line_without_end_costs_bounded_memory() {
        let long = vec![b'x'; 3 * CHUNK];
        let text = [b"a\n".as_slice(), &long, b"\nb\n"].concat();
        assert_eq!(all(&text, CHUNK), [Some("a".into()), None, Some("b".into())]);
        assert_eq!(all(&long, CHUNK), [None]);
        assert_eq!(all(&text, 4 * CHUNK)[1].as_ref().map(String::len), Some(3 * CHUNK));
    }

    #[test]
    fn what_comes_before_a_broken_end_is_kept() {
        struct Broken(bool);
        impl Read for Broken {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("gone"));
                }
                out[..4].copy_from_slice(b"a\nbc");
                Ok(4)
            }
        }
        let mut reader = Broken(false);
        let mut lines = Lines::new(&mut reader);
        assert!(matches!(lines.next(), Ok(Some(Line::Whole(b"a")))));
        assert!(lines.next().is_err());
        assert!(matches!(lines.next(), Ok(Some(Line::Whole(b"bc")))));
        assert!(matches!(lines.next(), Ok(None)));
    }
}
