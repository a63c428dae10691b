//! The unpacked bytes of a compressed file of which several objects are read again.

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::sources::KEPT_UNPACKED;
use crate::source::read::input::{Content, Place};
use crate::source::read::limits::Budget;

/// One compressed file: it is unpacked as a whole for each of its objects until [`Self::place`] has kept it.
#[derive(Debug, Default)]
pub(in crate::source) struct Unpacked(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// `None` after the first request, and where the bytes are not to be kept.
    bytes: Option<Arc<Cow<'static, [u8]>>>,
    /// Whether it was tried to unpack the file.
    tried: bool,
}

impl Unpacked {
    /// Returns a place with the same text that needs no unpacking, if there is one. From the second request for a file on its bytes
    /// are kept, up to [`KEPT_UNPACKED`]; those of the file before are dropped.
    pub(in crate::source) fn place(&self, place: &Place) -> Option<Place> {
        let Content::File(path) = &place.base else { return None };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *kept {
            Some(kept) if kept.path == *path => {
                if !kept.tried {
                    (kept.tried, kept.bytes) = (true, unpack(path));
                }
                let base = Content::Memory(kept.bytes.clone()?);
                Some(Place { base, members: place.members.clone() })
            }
            _ => {
                *kept = Some(Kept { path: path.clone(), bytes: None, tried: false });
                None
            }
        }
    }
}

/// Returns the bytes of a compressed file; `None` for any other, where they are too many, and for errors, which reading it again gives.
fn unpack(path: &Path) -> Option<Arc<Cow<'static, [u8]>>> {
    let content = Content::File(path.to_owned());
    let open = || content.stream(&Budget::unlimited()).ok().filter(|stream| stream.compressed);
    // Its length is found first: a list that grows takes up to three times the memory, also where it is too long.
    let length = io::copy(&mut open()?.reader.take(KEPT_UNPACKED + 1), &mut io::sink()).ok().filter(|length| *length <= KEPT_UNPACKED)?;
    let mut bytes = Vec::with_capacity(length as usize);
    open()?.reader.take(length).read_to_end(&mut bytes).ok()?;
    Some(Arc::new(Cow::Owned(bytes)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_packed_file_is_kept_from_the_second_request_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json.gz");
        let mut packer = flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
        packer.write_all(b"{\"kind\": \"List\"}").unwrap();
        packer.finish().unwrap();
        let plain = folder.path().join("b.json");
        std::fs::write(&plain, "{}").unwrap();
        let at = |path: &Path| Place { base: Content::File(path.to_owned()), members: Vec::new() };
        let unpacked = Unpacked::default();
        assert!(unpacked.place(&at(&path)).is_none());
        // It is not read a third time.
        let second = unpacked.place(&at(&path)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let third = unpacked.place(&at(&path)).unwrap();
        for place in [second, third] {
            assert_eq!(place.part(9, 4).unwrap().unwrap(), b"\"Lis");
        }
        // Of a plain file a part is read.
        assert!([0, 1].iter().all(|_| unpacked.place(&at(&plain)).is_none()));
        assert!(unpacked.place(&at(&path)).is_none());
    }
}
