//! Opens compressed streams and archives, which are recognized by their first bytes and never by their names.
//!
//! Nothing is written to disk, links are not followed, and names of members are never used as paths. A tar is streamed.
//! A zip is read in place; only a zip that is itself compressed or inside another archive is held in memory, up to
//! [`ZIP_IN_MEMORY`].

#[cfg(feature = "dumps")]
mod codec;
mod tar;
#[cfg(feature = "dumps")]
mod zip;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::etcd;
use super::input::{BoxRead, Content, broken_behind, peek};
use super::limits::{Budget, Compressed, Counting, size};
#[cfg(feature = "dumps")]
use crate::limits::sources::ETCD_IN_MEMORY;
use crate::limits::sources::{COMPRESSIONS, TAR_PADDING, ZIP_IN_MEMORY};

/// The type of a stream's content, decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Sort {
    /// Anything but an archive.
    Plain,
    /// The objects of etcd's database, as text.
    Database,
    Tar,
    Zip,
}

/// A decompressed stream.
pub(in crate::source) struct Stream<'a> {
    pub(in crate::source) reader: BoxRead<'a>,
    /// The number of bytes, if known.
    pub(in crate::source) size: Option<u64>,
    pub(in crate::source) sort: Sort,
    pub(in crate::source) compressed: bool,
}

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct Head {
    pub(in crate::source) name: String,
    pub(in crate::source) size: Option<u64>,
    pub(in crate::source) kind: MemberKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum MemberKind {
    File,
    /// A symbolic or hard link, which is never followed.
    Link,
    /// A directory, or another member without content.
    Other,
    /// A file whose content cannot be read, and why.
    Unreadable(&'static str),
}

/// How the walk through an archive's members ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum End {
    Whole,
    /// At the end of the stream, without the mark that ends an archive.
    Unmarked,
    /// Other bytes than padding follow the mark.
    Followed,
    /// Bytes before or between the members belong to none that the directory lists, or it lists two of one name.
    #[cfg_attr(not(feature = "dumps"), allow(dead_code, reason = "only a zip has a directory"))]
    Unlisted,
    /// The visitor stopped it.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Xz,
    Zstd,
    Bzip2,
}

/// Returns the compression of a stream by its first bytes.
fn compression(head: &[u8]) -> Option<Compression> {
    match head {
        [0x1f, 0x8b, ..] => Some(Compression::Gzip),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
        // `BZh`, the block size, and the magic number of a block or of the stream's end.
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => Some(Compression::Bzip2),
        _ => None,
    }
}

fn sort(head: &[u8]) -> Sort {
    match head {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Sort::Zip,
        _ if tar::is_header(head) => Sort::Tar,
        _ => Sort::Plain,
    }
}

/// Returns whether a file with these first bytes is neither compressed nor an archive.
pub(in crate::source) fn is_plain(head: &[u8]) -> bool {
    compression(head).is_none() && sort(head) == Sort::Plain && !etcd::is_database(head)
}

/// Decompresses a stream; returns it with its size, if that is known, and whether it was compressed.
pub(in crate::source) fn decompress<'a>(
    mut reader: BoxRead<'a>,
    mut size: Option<u64>,
    budget: &Budget,
) -> (BoxRead<'a>, Option<u64>, bool) {
    let mut compressed = false;
    for _ in 0..COMPRESSIONS {
        let (head, whole) = peek(reader, 6);
        reader = whole;
        let Some(compression) = compression(&head) else { break };
        let count = Arc::new(AtomicU64::new(0));
        let below = Counting { inner: BufReader::with_capacity(64 << 10, reader), count: Arc::clone(&count) };
        reader = Box::new(budget.meter(codec::decoder(compression, below), Compressed::Counted(count)));
        size = None;
        compressed = true;
    }
    (reader, size, compressed)
}

/// Decompresses a stream and detects its type, by its first bytes.
pub(in crate::source) fn open<'a>(reader: BoxRead<'a>, size: Option<u64>, budget: &Budget) -> Stream<'a> {
    let (reader, size, compressed) = decompress(reader, size, budget);
    let (head, reader) = peek(reader, 512);
    #[cfg(feature = "dumps")]
    if etcd::is_database(&head) {
        return open_database(reader, ETCD_IN_MEMORY, budget);
    }
    Stream { reader, size, sort: sort(&head), compressed }
}

/// Returns the objects of etcd's database in a file or in memory.
#[cfg(feature = "dumps")]
pub(in crate::source) fn database<'a>(file: impl Read + Seek + Send + 'a, size: u64, budget: &Budget) -> Stream<'a> {
    let reader = Box::new(budget.meter(etcd::Objects::newest(file), Compressed::Bytes(size)));
    Stream { reader, size: None, sort: Sort::Database, compressed: true }
}

/// Returns the objects of a database that is compressed or in an archive, and must be in memory for that.
/// Beyond `limit` bytes it is an error.
#[cfg(feature = "dumps")]
pub(in crate::source) fn open_database<'a>(reader: BoxRead<'a>, limit: u64, budget: &Budget) -> Stream<'a> {
    match database_within(reader, limit) {
        Ok(bytes) => {
            let size = bytes.len() as u64;
            database(Cursor::new(bytes), size, budget)
        }
        Err(error) => Stream { reader: broken_behind(Vec::new(), error), size: None, sort: Sort::Database, compressed: true },
    }
}

/// Returns the bytes of a database that must be in memory; an error beyond `limit` bytes.
#[cfg(feature = "dumps")]
pub(in crate::source) fn database_within(reader: BoxRead<'_>, limit: u64) -> io::Result<Vec<u8>> {
    read_within(reader, None, limit, "a database of etcd")
}

/// Replaces the decompressors in a build without them.
#[cfg(not(feature = "dumps"))]
mod codec {
    use std::io::{self, Read};

    use super::{BoxRead, Compression};

    pub(super) fn decoder<'a>(_: Compression, _: impl Read + Send + 'a) -> BoxRead<'a> {
        super::broken_behind(Vec::new(), io::Error::other(super::WITHOUT_DUMPS))
    }
}

/// Replaces the reader of zip in a build without it.
#[cfg(not(feature = "dumps"))]
mod zip {
    use std::io;

    use super::{BoxRead, Budget, End, Head};

    pub(super) fn members<R>(_: R, _: &Budget, _: Option<u32>, _: &mut dyn FnMut(u32, Head, BoxRead<'_>) -> bool) -> io::Result<End> {
        Err(io::Error::other(super::WITHOUT_DUMPS))
    }
}

/// The error of archives in a build that cannot read them.
#[cfg(not(feature = "dumps"))]
const WITHOUT_DUMPS: &str = "compressed text needs the feature `dumps`";

/// A source from which a zip can be read.
trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// Passes each member of the archive `stream`, or only that of index `only`, to `visit`, until it returns false. `base`
/// is the archive's own content if it is not inside another archive.
pub(in crate::source) fn members(
    stream: Stream<'_>,
    base: Option<&Content>,
    budget: &Budget,
    only: Option<u32>,
    visit: &mut dyn FnMut(u32, Head, BoxRead<'_>) -> bool,
) -> io::Result<End> {
    if stream.sort == Sort::Zip {
        let source: Box<dyn ReadSeek + '_> = match base.filter(|_| !stream.compressed) {
            Some(Content::File(path)) => Box::new(BufReader::new(File::open(path)?)),
            Some(Content::Memory(bytes)) => Box::new(Cursor::new(&***bytes)),
            Some(Content::Made(_)) | None => Box::new(Cursor::new(read_within(stream.reader, stream.size, ZIP_IN_MEMORY, "a zip")?)),
        };
        return zip::members(source, budget, only, visit);
    }
    let mut tar = tar::Tar::new(stream.reader);
    let mut place = 0;
    while let Some(head) = tar.next()? {
        if only.is_none_or(|only| only == place) && !visit(place, head, Box::new(&mut tar)) {
            return Ok(End::Stopped);
        }
        place += 1;
    }
    // Only the very end of a compressed stream shows that it is whole.
    if tar.drain(TAR_PADDING)? {
        return Ok(End::Followed);
    }
    Ok(if tar.unmarked { End::Unmarked } else { End::Whole })
}

/// Returns the whole stream, or an error if it is longer than `limit`.
fn read_within(reader: BoxRead<'_>, known: Option<u64>, limit: u64, what: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(known.unwrap_or_default().min(limit) as usize)?;
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("{what} that is compressed or inside another archive can be read up to {}", size(limit));
        return Err(io::Error::other(message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
