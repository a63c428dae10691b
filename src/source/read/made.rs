//! Text that is made while it is read: the state of a journal at a moment, the objects of etcd.

use std::io::{self, Read};

/// Writes a text part by part.
pub(in crate::source) trait WriteParts {
    /// Appends the next part; returns false at the end.
    ///
    /// # Errors
    /// Returns an error if the rest cannot be made.
    fn write_part(&mut self, out: &mut Vec<u8>) -> io::Result<bool>;
}

/// The text of a writer, of which one part at a time is in memory.
pub(in crate::source) struct MadeText<W> {
    writer: W,
    /// The part that is being read.
    part: Vec<u8>,
    read: usize,
}

impl<W> MadeText<W> {
    pub(in crate::source) fn new(writer: W) -> Self {
        Self { writer, part: Vec::new(), read: 0 }
    }
}

impl<W: WriteParts> Read for MadeText<W> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.read == self.part.len() && !out.is_empty() {
            self.part.clear();
            self.read = 0;
            if !self.writer.write_part(&mut self.part)? {
                return Ok(0);
            }
        }
        let count = out.len().min(self.part.len() - self.read);
        out[..count].copy_from_slice(&self.part[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(u8);

    impl WriteParts for Numbers {
        fn write_part(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
            self.0 += 1;
            match self.0 {
                // A part may be empty.
                1 | 3 => Ok(true),
                5 => Err(io::Error::other("broken")),
                number => {
                    out.extend([b'0' + number; 3]);
                    Ok(true)
                }
            }
        }
    }

    #[test]
    fn parts_are_read_one_after_another_up_to_an_error() {
        let mut text = MadeText::new(Numbers(0));
        let mut read = Vec::new();
        let mut two = [0; 2];
        let error = loop {
            match text.read(&mut two) {
                Ok(count) => read.extend_from_slice(&two[..count]),
                Err(error) => break error,
            }
        };
        assert_eq!((read.as_slice(), error.to_string().as_str()), (b"222444".as_slice(), "broken"));
        assert_eq!(MadeText::new(Numbers(0)).read(&mut []).unwrap(), 0);
    }
}
