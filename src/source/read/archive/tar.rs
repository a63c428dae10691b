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
                        _ => MemberKind::Other,
                    };
                    let name = extensions.name.unwrap_or_else(|| name(&block));
                    let kind = if kind == MemberKind::File && name.ends_with('/') { MemberKind::Other } else { kind };
                    return Ok(Some(Head { name, size: Some(size), kind }));
                }
            }
        }
    }

    /// Reads what follows the end of the archive.
    pub(in crate::source) fn drain(&mut self, limit: u64) -> io::Result<()> {
        io::copy(&mut self.reader.by_ref().take(limit), &mut io::sink()).map(|_| ())
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
mod tests {
    use super::*;

    fn read(archive: &[u8]) -> (Vec<(String, MemberKind, String)>, Option<String>) {
        let mut tar = Tar::new(archive);
        let mut found = Vec::new();
        loop {
            match tar.next() {
                Ok(Some(head)) => {
                    let mut content = String::new();
                    match tar.read_to_string(&mut content) {
                        Ok(_) => found.push((head.name, head.kind, content)),
                        Err(error) => return (found, Some(error.to_string())),
                    }
                }
                Ok(None) => return (found, None),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    fn build(header: fn() -> tar::Header, names: &[&str]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for name in names {
            let mut head = header();
            head.set_size(name.len() as u64);
            head.set_mode(0o644);
            builder.append_data(&mut head, name, name.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn reads_what_other_writers_write() {
        let long = format!("{}/pods.json", "long-name".repeat(30));
        for header in [tar::Header::new_gnu, tar::Header::new_ustar] {
            let names: Vec<&str> = if header().as_gnu().is_some() { vec!["a", "dir/b.json", &long] } else { vec!["a", "dir/b.json"] };
            let (found, error) = read(&build(header, &names));
            let expected: Vec<_> = names.iter().map(|n| ((*n).to_owned(), MemberKind::File, (*n).to_owned())).collect();
            assert_eq!((found, error), (expected, None));
        }
        let prefixed = format!("{}/{}", "p".repeat(90), "n".repeat(90));
        let (found, _) = read(&build(tar::Header::new_ustar, &[&prefixed]));
        assert_eq!(found[0].0, prefixed);
    }

    #[test]
    fn pax_records_name_and_size() {
        let mut builder = tar::Builder::new(Vec::new());
        builder.append_pax_extensions([("path", "in/päx.json".as_bytes()), ("mtime", b"1.5".as_slice())]).unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_size(2);
        builder.append_data(&mut header, "short", &b"ok"[..]).unwrap();
        let (found, error) = read(&builder.into_inner().unwrap());
        assert_eq!((found, error), (vec![("in/päx.json".into(), MemberKind::File, "ok".into())], None));
    }

    #[test]
    fn extensions_that_are_too_long_are_skipped() {
        let with_name = |length: usize| {
            let mut builder = tar::Builder::new(Vec::new());
            builder.append_pax_extensions([("path", "n".repeat(length).as_bytes())]).unwrap();
            let mut header = tar::Header::new_ustar();
            header.set_size(2);
            builder.append_data(&mut header, "short", &b"ok"[..]).unwrap();
            read(&builder.into_inner().unwrap()).0[0].0.len()
        };
        assert_eq!(with_name(1000), 1000);
        assert_eq!(with_name(TAR_EXTENSION as usize), "short".len());
    }

    #[test]
    fn padding_is_read_up_to_a_length() {
        let mut archive = build(tar::Header::new_gnu, &["a"]);
        archive.extend(vec![0; 3000]);
        let mut rest = archive.as_slice();
        let mut tar = Tar::new(&mut rest);
        while tar.next().unwrap().is_some() {}
        tar.drain(1000).unwrap();
        assert!(!rest.is_empty());
    }

    #[test]
    fn links_are_distinguished_from_files() {
        let mut builder = tar::Builder::new(Vec::new());
        for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory, tar::EntryType::Fifo] {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            builder.append_link(&mut header, "x", "/etc/passwd").unwrap();
        }
        let kinds: Vec<_> = read(&builder.into_inner().unwrap()).0.into_iter().map(|(_, kind, _)| kind).collect();
        assert_eq!(kinds, [MemberKind::Link, MemberKind::Link, MemberKind::Other, MemberKind::Other]);
    }

    #[test]
    fn damage_is_reported_and_what_stands_before_it_is_read() {
        let archive = build(tar::Header::new_gnu, &["a", "b", "c"]);
        let names = |archive: &[u8]| {
            let (found, error) = read(archive);
            (found.into_iter().map(|f| f.0).collect::<String>(), error)
        };
        assert_eq!(names(&archive), ("abc".into(), None));
        assert_eq!(names(&archive[..3 * 1024]), ("abc".into(), None));
        assert_eq!(names(&archive[..2 * 1024 + 512]).1.as_deref(), Some("the archive ends within a member"));
        assert_eq!(names(&archive[..1024 + 100]), ("a".into(), Some("the archive ends within a member".into())));
        let mut damaged = archive.clone();
        damaged[1024] ^= 1;
        assert_eq!(names(&damaged), ("a".into(), Some("the header of a member is damaged".into())));
        // Text with a high bit in the place of a checksum.
        assert!(!is_header("é".repeat(BLOCK).as_bytes()) && !is_header(&[0xff; BLOCK]));
        // A header may claim any size.
        let mut header = tar::Header::new_gnu();
        header.set_path("huge").unwrap();
        header.as_gnu_mut().unwrap().size = [0xff; 12];
        header.set_cksum();
        assert!(names(header.as_bytes()).1.is_some());
        header.set_size(u64::MAX);
        header.set_cksum();
        assert!(names(header.as_bytes()).1.is_some());
    }
}
