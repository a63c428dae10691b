//! Reads zip, member by member, and compares its directory with its bytes. The format is that of PKWARE's APPNOTE.TXT.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::iter;
use std::ops::Range;

use zip::ZipArchive;

use super::{BoxRead, End, Head, MemberKind};
use crate::source::read::limits::{Budget, Compressed};

/// Does the same as [`super::members`], in the order of the archive's directory.
pub(in crate::source) fn members<R: Read + Seek + Send>(
    mut source: R,
    budget: &Budget,
    only: Option<u32>,
    visit: &mut dyn FnMut(u32, Head, BoxRead<'_>) -> bool,
) -> io::Result<End> {
    let length = source.seek(io::SeekFrom::End(0))?;
    // Members lie one after another. Those that take more bytes than there are share them.
    let mut taken = 0u64;
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut are_known = true;
    let mut archive = ZipArchive::new(source).map_err(|e| io::Error::other(e.to_string()))?;
    let places = only.map_or(0..archive.len(), |only| only as usize..(only as usize + 1).min(archive.len()));
    for place in places {
        let number = place as u32;
        let name = archive.by_index_data(place).map(|m| String::from_utf8_lossy(m.name_raw()).into_owned()).unwrap_or_default();
        let go_on = match archive.by_index(place) {
            Ok(member) => {
                taken = taken.saturating_add(member.compressed_size());
                match member.data_start() {
                    Some(start) => ranges.push(member.header_start()..start.saturating_add(member.compressed_size())),
                    None => are_known = false,
                }
                let kind = match () {
                    () if taken > length => MemberKind::Unreadable("it shares its bytes with other members"),
                    () if member.is_symlink() => MemberKind::Link,
                    // Some writers mark files so; those with content are read.
                    () if (member.is_dir() || name.ends_with('/')) && member.size() == 0 => MemberKind::Other,
                    () => MemberKind::File,
                };
                let head = Head { name, size: Some(member.size()), kind };
                let compressed = Compressed::Bytes(member.compressed_size());
                visit(number, head, Box::new(budget.meter(member, compressed)))
            }
            Err(error) => {
                // Its own error says more than bytes that no member has.
                are_known = false;
                let reason = match error {
                    zip::result::ZipError::UnsupportedArchive(zip::result::ZipError::PASSWORD_REQUIRED) => "it is encrypted",
                    zip::result::ZipError::UnsupportedArchive(reason) => reason,
                    _ => "it is compressed in a way that is not supported, or damaged",
                };
                let head = Head { name, size: None, kind: MemberKind::Unreadable(reason) };
                visit(number, head, Box::new(io::empty()))
            }
        };
        if !go_on {
            return Ok(End::Stopped);
        }
    }
    if only.is_some() {
        return Ok(End::Whole);
    }
    let (start, listed) = (archive.central_directory_start(), archive.len());
    let ranges = are_known.then_some(ranges);
    compare(BufReader::new(archive.into_inner()), length, start, listed, ranges)
}

/// The signatures of the directory's entries and of its end.
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";

/// Length of the record that ends an archive, before its comment.
const END_RECORD: usize = 22;

/// Bytes that may follow a member: a descriptor of 64 bits with its signature.
const DESCRIPTOR: u64 = 24;

/// Returns how an archive ends, by its bytes: `start` is that of its directory, of which `listed` members were read, and `ranges` are
/// the bytes of these members where they are known.
fn compare(mut source: impl Read + Seek, length: u64, start: u64, listed: usize, ranges: Option<Vec<Range<u64>>>) -> io::Result<End> {
    let tail = length.saturating_sub((END_RECORD + usize::from(u16::MAX)) as u64);
    source.seek(SeekFrom::Start(tail))?;
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    let behind = |at: usize| {
        let comment = bytes.get(at + 20..at + END_RECORD)?;
        let end = at + END_RECORD + usize::from(u16::from_le_bytes([comment[0], comment[1]]));
        bytes.len().checked_sub(end)
    };
    if !memchr::memmem::rfind_iter(&bytes, &END).any(|at| behind(at) == Some(0)) {
        return Ok(End::Followed);
    }
    if count_entries(&mut source, start)? != listed {
        return Ok(End::Unlisted);
    }
    let Some(mut ranges) = ranges else { return Ok(End::Whole) };
    ranges.sort_unstable_by_key(|range| range.start);
    let mut end = 0;
    for range in ranges.into_iter().chain(iter::once(start..start)) {
        // Before the first member there is nothing.
        if range.start > end + if end == 0 { 0 } else { DESCRIPTOR } {
            return Ok(End::Unlisted);
        }
        end = end.max(range.end);
    }
    Ok(End::Whole)
}

/// Returns the number of entries that a directory holds, whatever the record at its end says.
fn count_entries(mut source: impl Read + Seek, start: u64) -> io::Result<usize> {
    source.seek(SeekFrom::Start(start))?;
    let (mut count, mut entry) = (0, [0; 46]);
    while source.read_exact(&mut entry[..4]).is_ok() && entry[..4] == ENTRY && source.read_exact(&mut entry[4..]).is_ok() {
        let lengths = [28, 30, 32].map(|at| u64::from(u16::from_le_bytes([entry[at], entry[at + 1]])));
        io::copy(&mut source.by_ref().take(lengths.iter().sum()), &mut io::sink())?;
        count += 1;
    }
    Ok(count)
}
