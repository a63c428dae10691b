//! Reads tar as a stream: ustar, GNU and pax headers.
//!
//! No library is used, so that memory is bounded whatever a header claims: long extension headers are skipped, and
//! members are never held whole. The formats are POSIX.1-2001 (pax) and that of the GNU tar manual.

use std::io::{self, Read};

use super::{Head, MemberKind};
use crate::limits::sources::TAR_EXTENSION;

const BLOCK: usize = 512;

/// An archive that is being read. Reading from it reads the content of the current member.
pub(in crate::source) struct Tar<R> {
    reader: R,
    /// Unread bytes of the current member, and of the padding after it.
    left: u64,
    padding: u64,
    /// The archive ended without its end blocks.
    pub(in crate::source) unmarked: bool,
}

/// The values of extension headers, for the next member.
#[derive(Default)]
struct Extensions {
    name: Option<String>,
    size: Option<u64>,
    sparse: bool,
}

impl<R: Read> Tar<R> {
    pub(in crate::source) fn new(reader: R) -> Self {
        Self { reader, left: 0, padding: 0, unmarked: false }
    }

    /// Skips the rest of the current member and returns the next one.
    pub(in crate::source) fn next(&mut self) -> io::Result<Option<Head>> {
        let mut extensions = Extensions::default();
        loop {
            self.skip()?;
            let Some(block) = self.block()? else { return Ok(None) };
            let size = number(&block[124..136]).ok_or_else(|| broken("the size of a member is no number"))?;
            self.enter(size)?;
            match block[156] {
                b'x' => self.pax(&mut extensions)?,
                b'L' => extensions.name = self.extension()?.map(|name| text(&name)),
                // Names of link targets, defaults for all members, volume labels.
                b'K' | b'g' | b'V' => {}
                kind => {
                    let size = extensions.size.unwrap_or(size);
                    self.enter(size)?;
                    let kind = match kind {
                        _ if extensions.sparse => MemberKind::Unreadable("it is stored as a sparse file"),
                        0 | b'0' | b'7' => MemberKind::File,
                        b'1' | b'2' => MemberKind::Link,
                        b'S' => MemberKind::Unreadable("it is stored as a sparse file"),
                        b'M' => MemberKind::Unreadable("it continues a file of an earlier volume"),
                        // GNU's lists of the files in a folder.
                        b'D' => MemberKind::Other,
                        b'3'..=b'6' if size > 0 => MemberKind::Unreadable("it is a folder, pipe or device with content"),
                        b'3'..=b'6' => MemberKind::Other,
                        // POSIX: types that are not known are files.
                        _ if size > 0 => MemberKind::File,
                        _ => MemberKind::Other,
                    };
                    let name = extensions.name.unwrap_or_else(|| name(&block));
                    let is_folder = kind == MemberKind::File && size == 0 && name.ends_with('/');
                    let kind = if is_folder { MemberKind::Other } else { kind };
                    return Ok(Some(Head { name, size: Some(size), kind }));
                }
            }
        }
    }

    /// Reads what follows the end of the archive. Returns whether it is more than padding, which has up to `limit` bytes.
    pub(in crate::source) fn drain(&mut self, limit: u64) -> io::Result<bool> {
        let mut rest = self.reader.by_ref().take(limit + 1);
        let mut part = [0; 4 * BLOCK];
        loop {
            match rest.read(&mut part) {
                Ok(0) => return Ok(rest.limit() == 0),
                Ok(count) if part[..count].iter().any(|byte| *byte != 0) => return Ok(true),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn enter(&mut self, size: u64) -> io::Result<()> {
        let padded = size.checked_next_multiple_of(BLOCK as u64).ok_or_else(|| broken("a member is larger than can be"))?;
        (self.left, self.padding) = (size, padded - size);
        Ok(())
    }

    fn skip(&mut self) -> io::Result<()> {
        let rest = self.left.saturating_add(self.padding);
        let skipped = io::copy(&mut self.reader.by_ref().take(rest), &mut io::sink())?;
        let content = self.left;
        (self.left, self.padding) = (0, 0);
        // The padding of the last member may be missing, its content may not.
        if skipped < content { Err(cut()) } else { Ok(()) }
    }

    /// Returns the next header; `None` at the end.
    fn block(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let mut block = [0; BLOCK];
        let mut read = 0;
        while read < BLOCK {
            match self.reader.read(&mut block[read..]) {
                Ok(0) if read == 0 => {
                    self.unmarked = true;
                    return Ok(None);
                }
                Ok(0) => return Err(cut()),
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if block.iter().all(|b| *b == 0) {
            return Ok(None);
        }
        if is_header(&block) { Ok(Some(block)) } else { Err(broken("the header of a member is damaged")) }
    }

    /// Returns the content of an extension header; `None` if it is too long.
    fn extension(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.left > TAR_EXTENSION {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(self.left as usize);
        self.read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Reads records of the form `LENGTH KEY=VALUE\n`.
    fn pax(&mut self, extensions: &mut Extensions) -> io::Result<()> {
        let Some(content) = self.extension()? else { return Ok(()) };
        let mut rest = content.as_slice();
        while let Some(space) = rest.iter().position(|b| *b == b' ') {
            let length = std::str::from_utf8(&rest[..space]).ok().and_then(|t| t.parse::<usize>().ok());
            let Some(record) = length.filter(|l| *l > space).and_then(|l| rest.get(space + 1..l)) else { break };
            rest = &rest[space + 1 + record.len()..];
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            let Some(equals) = record.iter().position(|b| *b == b'=') else { continue };
            let (key, value) = (&record[..equals], &record[equals + 1..]);
            match key {
                b"path" => extensions.name = Some(text(value)),
                b"size" => extensions.size = std::str::from_utf8(value).ok().and_then(|t| t.parse().ok()),
                _ if key.starts_with(b"GNU.sparse.") => extensions.sparse = true,
                _ => {}
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Tar<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted = (out.len() as u64).min(self.left) as usize;
        if wanted == 0 {
            return Ok(0);
        }
        let read = self.reader.read(&mut out[..wanted])?;
        if read == 0 {
            return Err(cut());
        }
        self.left -= read as u64;
        Ok(read)
    }
}

fn broken(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the archive ends within a member")
}

/// Returns whether a block is a member's header, which is one with a correct checksum.
pub(in crate::source) fn is_header(block: &[u8]) -> bool {
    if block.len() < BLOCK || block[0] == 0 && block[345] == 0 && block[156] != b'x' && block[156] != b'L' {
        return false;
    }
    let Some(expected) = number(&block[148..156]) else { return false };
    let bytes = || block[..BLOCK].iter().enumerate().map(|(i, b)| if (148..156).contains(&i) { b' ' } else { *b });
    let unsigned: u64 = bytes().map(u64::from).sum();
    // Some old writers summed signed characters.
    let signed: i64 = bytes().map(|b| i64::from(b.cast_signed())).sum();
    expected == unsigned || i64::try_from(expected) == Ok(signed)
}

/// Reads an octal number, or a large one in GNU's binary form.
fn number(field: &[u8]) -> Option<u64> {
    if let [0x80..=0xff, binary @ ..] = field {
        let (high, low) = binary.split_at(binary.len().saturating_sub(8));
        let fits = field[0] == 0x80 && high.iter().all(|b| *b == 0);
        return fits.then(|| low.iter().fold(0, |sum, b| sum << 8 | u64::from(*b)));
    }
    let digits = field.split(|b| *b == 0).next().unwrap_or_default().trim_ascii();
    digits.iter().try_fold(0u64, |sum, digit| match digit {
        b'0'..=b'7' => sum.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// Returns a member's name from the header itself.
fn name(block: &[u8; BLOCK]) -> String {
    let name = text(&block[..100]);
    // Only ustar has a prefix there; GNU has times in its place.
    let prefix = if &block[257..263] == b"ustar\0" { text(&block[345..500]) } else { String::new() };
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests;
