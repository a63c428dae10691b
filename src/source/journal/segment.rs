//! Segments: the files of a journal, each a keyframe and the changes after it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::frame::{self, FrameHead, Frames};
use crate::limits::sources::{JOURNAL_SEGMENT, JOURNAL_SEGMENTS};

const START: &str = "segment-";
const ENDING: &str = ".ssj";

/// Returns the name of a segment's file.
pub(super) fn name(number: u64) -> String {
    format!("{START}{number:010}{ENDING}")
}

fn number(name: &str) -> Option<u64> {
    name.strip_prefix(START)?.strip_suffix(ENDING)?.parse().ok()
}

/// A file of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) number: u64,
}

#[derive(Debug)]
pub(super) struct SegmentBytes {
    pub(super) bytes: Vec<u8>,
    /// The file is longer than what is read of it.
    pub(super) is_cut: bool,
}

/// Returns the segments of a folder, oldest first. Empty if it is no journal.
pub(super) fn list(folder: &Path) -> io::Result<Vec<Segment>> {
    list_within(folder, JOURNAL_SEGMENTS)
}

fn list_within(folder: &Path, limit: usize) -> io::Result<Vec<Segment>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(number) = entry.file_name().to_str().and_then(number) else { continue };
        if entry.file_type()?.is_file() {
            found.push(Segment { path: entry.path(), number });
        }
        if found.len() > limit {
            return Err(io::Error::other(format!("the journal has more than {limit} segments")));
        }
    }
    found.sort_by_key(|segment| segment.number);
    Ok(found)
}

impl Segment {
    pub(super) fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), number: 0 }
    }

    /// Reads the head of the first frame, which is not checked; `None` if there is none.
    pub(super) fn head(&self) -> io::Result<Option<FrameHead>> {
        Ok(FrameHead::read(&self.first_bytes()?))
    }

    /// Returns the format of the segment, if it begins with a frame of another one than is read here.
    pub(super) fn other_format(&self) -> io::Result<Option<u8>> {
        Ok(frame::format_of(&self.first_bytes()?).filter(|format| *format != frame::FORMAT))
    }

    /// Returns the length of the file; zero if that is not known.
    pub(super) fn length(&self) -> u64 {
        self.path.metadata().map_or(0, |file| file.len())
    }

    fn first_bytes(&self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        File::open(&self.path)?.take(FrameHead::LENGTH as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Reads the segment and finds its frames.
    pub(super) fn read(&self) -> io::Result<(SegmentBytes, Frames)> {
        self.read_within(JOURNAL_SEGMENT)
    }

    fn read_within(&self, limit: u64) -> io::Result<(SegmentBytes, Frames)> {
        let mut bytes = Vec::new();
        let mut file = File::open(&self.path)?.take(limit);
        file.read_to_end(&mut bytes)?;
        let is_cut = file.limit() == 0 && file.into_inner().read(&mut [0])? > 0;
        let frames = frame::scan(&bytes);
        Ok((SegmentBytes { bytes, is_cut }, frames))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_listed_in_their_order_and_other_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in [name(10), name(9), "journal.lock".to_owned(), "segment-x.ssj".to_owned()] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join(name(11))).unwrap();
        let numbers: Vec<u64> = list(folder.path()).unwrap().iter().map(|segment| segment.number).collect();
        assert_eq!(numbers, [9, 10]);
        assert!(list(&folder.path().join("nowhere")).is_err());
    }

    #[test]
    fn a_journal_of_too_many_segments_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..4 {
            fs::write(folder.path().join(name(number)), "").unwrap();
        }
        assert_eq!(list_within(folder.path(), 4).unwrap().len(), 4);
        assert_eq!(list_within(folder.path(), 3).unwrap_err().to_string(), "the journal has more than 3 segments");
    }

    #[test]
    fn a_segment_is_read_up_to_a_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name(1));
        fs::write(&path, "0123456789").unwrap();
        for (limit, length, is_cut) in [(9, 9, true), (10, 10, false), (11, 10, false)] {
            let (read, frames) = Segment::at(&path).read_within(limit).unwrap();
            assert_eq!((read.bytes.len(), read.is_cut, frames.tail), (length, is_cut, length), "{limit}");
        }
    }
}
