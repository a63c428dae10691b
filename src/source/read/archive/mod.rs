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
    tar.drain(TAR_PADDING)?;
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
mod tests {
    use super::*;
    use std::io::Write as _;

    fn open_all(bytes: &[u8]) -> (Sort, bool, Result<String, String>) {
        let stream = open(Box::new(bytes), Some(bytes.len() as u64), &Budget::unlimited());
        let (sort, compressed) = (stream.sort, stream.compressed);
        let mut text = String::new();
        let mut reader = stream.reader;
        let read = reader.read_to_string(&mut text).map(|_| ()).map_err(|e| e.to_string());
        (sort, compressed, read.map(|()| text))
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn compressions_within_each_other_are_undone_up_to_a_depth() {
        let within = |depth: usize| (0..depth).fold(b"text".to_vec(), |bytes, _| bzip2(&bytes));
        assert_eq!(open_all(&within(COMPRESSIONS)).2.as_deref(), Ok("text"));
        assert_ne!(open_all(&within(COMPRESSIONS + 1)).2.as_deref(), Ok("text"));
    }

    #[test]
    fn a_stream_is_held_in_memory_up_to_a_length() {
        let read = |limit| read_within(Box::new(&b"12345"[..]), Some(5), limit, "a zip");
        assert_eq!(read(5).unwrap(), b"12345");
        assert!(read(4).unwrap_err().to_string().ends_with("can be read up to 4 bytes"));
        // Content that does not fit into memory is an error too.
        let huge = read_within(Box::new(&b""[..]), Some(1 << 62), 1 << 62, "a zip");
        assert_eq!(huge.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    }

    #[test]
    fn every_compression_is_known_by_its_first_bytes() {
        // Made by `printf 'kind: Pod' | xz -9 --check=crc32`.
        let joined = |bytes: Vec<u8>| [bytes.clone(), bytes].concat();
        for bytes in [bzip2(b"kind: Pod"), zstd(b"kind: Pod"), zstd(&bzip2(b"kind: Pod"))] {
            assert_eq!(open_all(&bytes), (Sort::Plain, true, Ok("kind: Pod".into())));
        }
        for bytes in [joined(bzip2(b"ab")), joined(zstd(b"ab"))] {
            assert_eq!(open_all(&bytes).2, Ok("abab".into()));
        }
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], zstd(b"ab").as_slice()].concat();
        assert_eq!(open_all(&skippable).2, Ok("ab".into()));
        for cut in [bzip2(b"kind: Pod"), zstd(b"kind: Pod")] {
            assert!(open_all(&cut[..cut.len() - 4]).2.is_err());
        }
        for plain in ["", "BZh9 is how it starts", "PK", "kind: Pod"] {
            assert_eq!(open_all(plain.as_bytes()), (Sort::Plain, false, Ok(plain.into())));
        }
    }
}
