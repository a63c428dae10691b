//! Reads zip, member by member.

use std::io::{self, Read, Seek};

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
    let mut archive = ZipArchive::new(source).map_err(|e| io::Error::other(e.to_string()))?;
    let places = only.map_or(0..archive.len(), |only| only as usize..(only as usize + 1).min(archive.len()));
    for place in places {
        let number = place as u32;
        let name = archive.by_index_data(place).map(|m| String::from_utf8_lossy(m.name_raw()).into_owned()).unwrap_or_default();
        let go_on = match archive.by_index(place) {
            Ok(member) => {
                taken = taken.saturating_add(member.compressed_size());
                let kind = match () {
                    () if taken > length => MemberKind::Unreadable("it shares its bytes with other members"),
                    () if member.is_symlink() => MemberKind::Link,
                    () if member.is_dir() || name.ends_with('/') => MemberKind::Other,
                    () => MemberKind::File,
                };
                let head = Head { name, size: Some(member.size()), kind };
                let compressed = Compressed::Bytes(member.compressed_size());
                visit(number, head, Box::new(budget.meter(member, compressed)))
            }
            Err(error) => {
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
    Ok(End::Whole)
}
