//! Reads etcd's database file: bbolt's pages, as `go.etcd.io/bbolt`'s `page.go`, `meta.go` and `bucket.go` lay them out.
//!
//! Pages are read one at a time, so that a database of any size needs the memory of its largest page, and of long pages the objects
//! of Secrets and ConfigMaps are not read. All numbers are little-endian.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::keys;
use super::wire::varint;
use crate::limits::sources::ETCD_PAGE;

/// The number that each meta page holds.
const MAGIC: u32 = 0xED0C_DAED;
/// The version of the file's format.
const VERSION: u32 = 2;
/// Bytes of a page's header: its number (8), its type (2), its elements (2), and the pages that follow it (4).
const HEADER: usize = 16;
/// Bytes of an element's header in a branch or leaf.
const ELEMENT: usize = 16;
/// Bytes of a bucket's header: the page of its root, and a sequence.
const BUCKET: usize = 16;

const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const META: u16 = 4;
/// The flag of a leaf's element that is a bucket.
const IS_BUCKET: u32 = 1;

/// Bytes from a file's start that show whether it is a database: a page's header and the magic number.
pub(super) const HEAD: usize = HEADER + 4;

/// Returns whether bytes begin a database.
pub(super) fn is_database(head: &[u8]) -> bool {
    head.len() >= HEAD && u16_at(head, 8) == META && u32_at(head, HEADER) == MAGIC
}

/// An error of a database.
#[derive(Debug)]
pub(super) enum Error {
    /// Neither of the two meta pages is valid.
    NoMeta,
    /// A page cannot be used, and why.
    Page(u64, Flaw),
    /// A bucket that every etcd database has is missing.
    NoBucket(&'static str),
    /// The file cannot be read.
    Io(io::Error),
}

/// Why a page cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It is beyond the end of the file.
    Beyond,
    /// It has the number of another page.
    Number,
    /// It is neither a branch nor a leaf.
    Type,
    /// An element reaches beyond its end.
    Element,
    /// It is longer than [`ETCD_PAGE`].
    Long,
    /// It was reached more than once.
    Again,
    /// Its keys are not in order.
    Order,
    /// Its elements are longer together than the page.
    Overlap,
    /// A key is no revision, or a value no entry of etcd.
    Entry,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMeta => f.write_str("neither of its two meta pages is valid"),
            Self::NoBucket(name) => write!(f, "it has no bucket \"{name}\", so it is not etcd's database"),
            Self::Page(page, flaw) => write!(f, "page {page} {flaw}"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Beyond => "is beyond the end of the file",
            Self::Number => "holds another page",
            Self::Type => "is neither a branch nor a leaf",
            Self::Element => "has an element that reaches beyond its end",
            Self::Long => "is too long",
            Self::Again => "is reached more than once",
            Self::Order => "has keys out of order",
            Self::Overlap => "has elements that overlap",
            Self::Entry => "has an entry that is not etcd's",
        })
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An open database.
pub(super) struct Bolt<R> {
    file: R,
    /// Bytes of the file.
    size: u64,
    page_size: u64,
    /// The page of the bucket of all buckets.
    root: u64,
    /// One more than the highest page in use.
    pages: u64,
}

/// The root of a bucket.
pub(super) enum Bucket {
    /// It has pages of its own.
    Page(u64),
    /// It is small, and its only leaf is in the value of its parent.
    Inline(Vec<u8>),
}

impl<R: Read + Seek> Bolt<R> {
    /// Opens a database by the valid meta page of the newest transaction.
    pub(super) fn open(mut file: R) -> Result<Self, Error> {
        let size = file.seek(SeekFrom::End(0))?;
        let first = meta(&mut file, 0)?;
        // The second meta page is one page further; without the first, its place is tried for each size of pages.
        let sizes: Vec<u64> = first.as_ref().map_or_else(|| (9..=16).map(|bits| 1 << bits).collect(), |meta| vec![meta.page_size]);
        let mut metas: Vec<Meta> = first.into_iter().collect();
        for size in sizes {
            metas.extend(meta(&mut file, size)?.filter(|meta| meta.page_size == size));
        }
        let Meta { page_size, root, pages, .. } = metas.into_iter().max_by_key(|meta| meta.transaction).ok_or(Error::NoMeta)?;
        // The number of pages is the file's own word.
        Ok(Self { file, size, page_size, root, pages: pages.min(size / page_size) })
    }

    /// Returns the page of a bucket of the file's root.
    pub(super) fn bucket(&mut self, name: &'static str) -> Result<Bucket, Error> {
        let mut found = None;
        let mut flaw = None;
        let root = self.root;
        self.leaves(
            root,
            &mut |page, leaf| {
                for index in 0..leaf.len() {
                    match leaf.item(index) {
                        Some((IS_BUCKET, key, value)) if key == name.as_bytes() && value.len() >= BUCKET => {
                            found = Some(match u64_at(value, 0) {
                                0 => Bucket::Inline(value[BUCKET..].to_vec()),
                                page => Bucket::Page(page),
                            });
                        }
                        Some(_) => {}
                        None => return Err(Error::Page(page, Flaw::Element)),
                    }
                }
                Ok(())
            },
            &mut |error| flaw = Some(error),
        );
        found.ok_or_else(|| flaw.unwrap_or(Error::NoBucket(name)))
    }

    /// Passes the leaves below a page to `visit`, in key order. Errors are passed to `broken`, and the other
    /// pages are still read.
    pub(super) fn leaves(&mut self, root: u64, visit: &mut dyn FnMut(u64, Leaf<'_>) -> Result<(), Error>, broken: &mut dyn FnMut(Error)) {
        let mut stack = vec![root];
        // Each page has one place, also of those that follow another.
        let mut reached = HashSet::from([root]);
        let mut left = self.pages;
        let mut bytes = Vec::new();
        while let Some(page) = stack.pop() {
            let read = self.page(page, &mut bytes).and_then(|()| {
                let Some(rest) = left.checked_sub(bytes.len() as u64 / self.page_size) else {
                    stack.clear();
                    return Err(Error::Page(page, Flaw::Again));
                };
                left = rest;
                match u16_at(&bytes, 8) {
                    LEAF if overlap(&bytes) => Err(Error::Page(page, Flaw::Overlap)),
                    LEAF => visit(page, Leaf { bytes: &bytes }),
                    BRANCH => children(page, &bytes, &mut |child| {
                        if reached.insert(child) {
                            stack.push(child);
                        } else {
                            broken(Error::Page(child, Flaw::Again));
                        }
                    }),
                    _ => Err(Error::Page(page, Flaw::Type)),
                }
            });
            if let Err(error) = read {
                broken(error);
            }
        }
    }

    /// Reads a page, with those that follow it as its overflow, into `bytes`.
    fn page(&mut self, page: u64, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let (at, overflow) = self.first(page, bytes)?;
        if overflow >= LONG && u16_at(bytes, 8) == LEAF && self.long_leaf(at, overflow, bytes)? {
            return Ok(());
        }
        self.file.by_ref().take(overflow).read_to_end(bytes)?;
        if bytes.len() as u64 != self.page_size + overflow {
            return Err(Error::Page(page, Flaw::Beyond));
        }
        Ok(())
    }

    /// Reads a page without those that follow it into `bytes`; returns its offset, and the length of those.
    pub(super) fn first(&mut self, page: u64, bytes: &mut Vec<u8>) -> Result<(u64, u64), Error> {
        let flawed = |flaw| Error::Page(page, flaw);
        if page < 2 || page >= self.pages {
            return Err(flawed(Flaw::Beyond));
        }
        let at =
            page.checked_mul(self.page_size).filter(|at| at.saturating_add(self.page_size) <= self.size).ok_or(flawed(Flaw::Beyond))?;
        self.file.seek(SeekFrom::Start(at))?;
        bytes.clear();
        self.file.by_ref().take(self.page_size).read_to_end(bytes)?;
        if bytes.len() as u64 != self.page_size {
            return Err(flawed(Flaw::Beyond));
        }
        if u64_at(bytes, 0) != page {
            return Err(flawed(Flaw::Number));
        }
        let overflow = u64::from(u32_at(bytes, 12)) * self.page_size;
        if overflow > ETCD_PAGE {
            return Err(flawed(Flaw::Long));
        }
        Ok((at, overflow))
    }

    /// Reads the value of an element of a leaf, of which [`Bolt::first`] is read, into `value`: nothing else of its page.
    pub(super) fn value(&mut self, page: u64, first: &[u8], index: u32, value: &mut Vec<u8>) -> Result<(), Error> {
        let flawed = || Error::Page(page, Flaw::Element);
        let length = u64::from(u32_at(first, 12)) * self.page_size + first.len() as u64;
        let head = HEADER + index as usize * ELEMENT;
        let within = |end: usize| if end as u64 <= length { Ok(()) } else { Err(flawed()) };
        within(head + ELEMENT)?;
        self.part(page, first, head..head + ELEMENT, value)?;
        let start = [u32_at(value, 4), u32_at(value, 8)].into_iter().try_fold(head, |at, more| at.checked_add(more as usize));
        let part = start.and_then(|start| Some(start..start.checked_add(u32_at(value, 12) as usize)?)).ok_or_else(flawed)?;
        within(part.end)?;
        self.part(page, first, part, value)
    }

    /// Reads a part of a page into `out`, from its first page where it is there.
    fn part(&mut self, page: u64, first: &[u8], part: Range<usize>, out: &mut Vec<u8>) -> Result<(), Error> {
        out.clear();
        if let Some(read) = first.get(part.clone()) {
            out.extend(read);
            return Ok(());
        }
        out.resize(part.len(), 0);
        self.file.seek(SeekFrom::Start(page * self.page_size + part.start as u64))?;
        Ok(self.file.read_exact(out)?)
    }

    /// Reads the rest of a long leaf but for the values that [`value_to_skip`] names, which are zeros then; returns false, with the file
    /// where it was, if the elements do not follow each other within the leaf.
    fn long_leaf(&mut self, at: u64, overflow: u64, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let start = bytes.len();
        let end = start + usize::try_from(overflow).unwrap_or(usize::MAX);
        let count = usize::from(u16_at(bytes, 10));
        let fits = at.checked_add(end as u64).is_some_and(|end| end <= self.size) && HEADER + count * ELEMENT <= start;
        let mut parts = Vec::with_capacity(count);
        for index in 0..if fits { count } else { 0 } {
            let head = HEADER + index * ELEMENT;
            let key = head + u32_at(bytes, head + 4) as usize;
            let value = key + u32_at(bytes, head + 8) as usize;
            parts.push(value..value + u32_at(bytes, head + 12) as usize);
        }
        if !fits || parts.iter().any(|part| part.end > end) || parts.windows(2).any(|two| two[0].end > two[1].start) {
            return Ok(false);
        }
        bytes.resize(end, 0);
        let mut known = start;
        for part in parts {
            // The beginning of the value tells its key.
            self.fill(at, known..part.end.min(part.start + BEGINNING), bytes)?;
            known = known.max(part.end.min(part.start + BEGINNING));
            if let Some(skipped) = value_to_skip(&bytes[part.start..known.max(part.start)], part.len()) {
                known = known.max(part.start + skipped);
            }
            self.fill(at, known..part.end, bytes)?;
            known = known.max(part.end);
        }
        Ok(true)
    }

    /// Reads a part of a page at an offset.
    fn fill(&mut self, at: u64, part: Range<usize>, bytes: &mut [u8]) -> io::Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(at + part.start as u64))?;
        self.file.read_exact(&mut bytes[part])
    }
}

/// Bytes beyond its first page from which on a leaf is read part by part; what a fuzzer draws is short.
const LONG: u64 = if cfg!(fuzzing) { 1 << 10 } else { 64 << 10 };
/// Bytes of a value that tell its key, unless that is very long.
const BEGINNING: usize = 1024;

/// Returns the end of a confidential object within an entry of etcd, of which the beginning is read; `None` for any other entry.
fn value_to_skip(beginning: &[u8], length: usize) -> Option<usize> {
    let mut rest = beginning;
    let mut is_confidential = false;
    while !rest.is_empty() {
        match varint(&mut rest)? {
            0x0a => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                let (key, after) = rest.split_at_checked(length)?;
                (is_confidential, rest) = (keys::is_confidential(key), after);
            }
            0x2a if is_confidential => {
                let object = usize::try_from(varint(&mut rest)?).ok()?;
                let end = (beginning.len() - rest.len()).checked_add(object)?;
                return (end <= length).then_some(end);
            }
            tag if tag % 8 == 0 => drop(varint(&mut rest)?),
            _ => return None,
        }
    }
    None
}

/// A leaf page.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    bytes: &'a [u8],
}

impl<'a> Leaf<'a> {
    /// Returns the leaf in a page, or in the value of a small bucket.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() >= HEADER && u16_at(bytes, 8) == LEAF).then_some(Self { bytes })
    }

    /// Returns the number of elements.
    pub(super) fn len(self) -> usize {
        usize::from(u16_at(self.bytes, 10))
    }

    /// Returns an element's flags, key and value; `None` if it reaches beyond the page.
    pub(super) fn item(self, index: usize) -> Option<(u32, &'a [u8], &'a [u8])> {
        let at = HEADER + index * ELEMENT;
        let head = self.bytes.get(at..at + ELEMENT)?;
        let key = at.checked_add(u32_at(head, 4) as usize)?;
        let value = key.checked_add(u32_at(head, 8) as usize)?;
        let end = value.checked_add(u32_at(head, 12) as usize)?;
        Some((u32_at(head, 0), self.bytes.get(key..value)?, self.bytes.get(value..end)?))
    }
}

/// Returns whether elements of a leaf overlap: together they are longer than it.
fn overlap(bytes: &[u8]) -> bool {
    let heads = bytes[HEADER..].chunks_exact(ELEMENT).take(usize::from(u16_at(bytes, 10)));
    heads.map(|head| u64::from(u32_at(head, 8)) + u64::from(u32_at(head, 12))).sum::<u64>() > bytes.len() as u64
}

/// Passes the pages below a branch to `push`, the last first.
fn children(page: u64, bytes: &[u8], push: &mut dyn FnMut(u64)) -> Result<(), Error> {
    for index in (0..usize::from(u16_at(bytes, 10))).rev() {
        let at = HEADER + index * ELEMENT;
        push(u64_at(bytes.get(at..at + ELEMENT).ok_or(Error::Page(page, Flaw::Element))?, 8));
    }
    Ok(())
}

/// The parts of a meta page that are used.
struct Meta {
    page_size: u64,
    root: u64,
    pages: u64,
    transaction: u64,
}

/// Reads the meta page at an offset; `None` if it is not valid.
fn meta<R: Read + Seek>(file: &mut R, at: u64) -> Result<Option<Meta>, Error> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.by_ref().take(80).read_to_end(&mut bytes)?;
    if bytes.len() < 80 || !is_database(&bytes) {
        return Ok(None);
    }
    let body = &bytes[HEADER..];
    let page_size = u64::from(u32_at(body, 8));
    let valid = u32_at(body, 4) == VERSION && page_size.is_power_of_two() && (1 << 9..=1 << 16).contains(&page_size);
    let sound = valid && u64_at(body, 56) == fnv(&body[..56]);
    Ok(sound.then(|| Meta { page_size, root: u64_at(body, 16), pages: u64_at(body, 40), transaction: u64_at(body, 48) }))
}

/// Returns the 64-bit FNV-1a hash, which protects meta pages.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
