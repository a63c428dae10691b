//! Frames: records with a length and a checksum, one after another.
//!
//! | bytes | hold |
//! | --- | --- |
//! | 0 to 3 | [`MAGIC`] |
//! | 4 to 7 | the length of the payload, little-endian like all numbers |
//! | 8 to 11 | the CRC-32 of all bytes from the twelfth on |
//! | 12 | the [`FrameKind`] |
//! | 13 to 20 | the place in the journal's order, one more than that of the frame before |
//! | 21 to 28 | the cluster's time, in microseconds since 1970 |
//! | 29 on | the payload |

use std::ops::Range;

use flate2::Crc;
use jiff::Timestamp;

use crate::limits::sources::JOURNAL_FRAME;

/// The first bytes of a frame; the last of them is the [`FORMAT`].
const MAGIC: &[u8] = b"ssj2";
/// The format of journals that is read and written.
pub(super) const FORMAT: u8 = 2;
/// The bytes before the payload.
const HEAD: usize = 29;
/// The first byte that the checksum covers.
const CHECKED: usize = 12;

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The whole state.
    Keyframe = 1,
    /// Changes since the frame before; none if nothing changed.
    Changes = 2,
    /// A time in which nothing was recorded.
    Gap = 3,
    /// Lines of schedulers' logs.
    Log = 4,
}

impl FrameKind {
    fn of(byte: u8) -> Option<Self> {
        [Self::Keyframe, Self::Changes, Self::Gap, Self::Log].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A frame within the bytes of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) sequence: u64,
    pub(super) time: Timestamp,
    /// The place of the payload.
    pub(super) payload: Range<usize>,
}

impl Frame {
    /// Returns whether it comes right after the frame with a place in the order.
    pub(super) fn follows(&self, sequence: u64) -> bool {
        sequence.checked_add(1) == Some(self.sequence)
    }
}

/// Returns a frame's bytes; `None` if the payload is too long or the time cannot be written.
pub(super) fn encode(kind: FrameKind, sequence: u64, time: Timestamp, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok().filter(|length| *length <= JOURNAL_FRAME)?;
    let mut bytes = Vec::with_capacity(HEAD + payload.len());
    bytes.extend(MAGIC);
    bytes.extend(length.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.push(kind as u8);
    bytes.extend(sequence.to_le_bytes());
    bytes.extend(time.as_microsecond().to_le_bytes());
    bytes.extend(payload);
    let sum = checksum(&bytes[CHECKED..]);
    bytes[8..CHECKED].copy_from_slice(&sum.to_le_bytes());
    Some(bytes)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Returns the format of a segment that begins with these bytes; `None` if it begins with no frame of any format.
pub(super) fn format_of(bytes: &[u8]) -> Option<u8> {
    let (name, digit) = bytes.get(..MAGIC.len())?.split_at(MAGIC.len() - 1);
    let is_digit = MAGIC.starts_with(name) && digit[0].is_ascii_digit();
    is_digit.then(|| digit[0] - b'0')
}

/// The fields before the payload, which are not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) kind: FrameKind,
    pub(super) sequence: u64,
    pub(super) time: Timestamp,
    length: usize,
    checksum: u32,
}

impl FrameHead {
    /// Bytes of a head.
    pub(super) const LENGTH: usize = HEAD;

    /// Reads the head of a frame; `None` if the bytes begin none.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let head = bytes.get(..HEAD)?.strip_prefix(MAGIC)?;
        let (length, head) = head.split_first_chunk::<4>()?;
        let (sum, head) = head.split_first_chunk::<4>()?;
        let (kind, head) = head.split_first()?;
        let (sequence, head) = head.split_first_chunk::<8>()?;
        let (time, _) = head.split_first_chunk::<8>()?;
        let length = u32::from_le_bytes(*length);
        Some(Self {
            kind: FrameKind::of(*kind)?,
            sequence: u64::from_le_bytes(*sequence),
            time: Timestamp::from_microsecond(i64::from_le_bytes(*time)).ok()?,
            length: usize::try_from(length).ok().filter(|_| length <= JOURNAL_FRAME)?,
            checksum: u32::from_le_bytes(*sum),
        })
    }
}

/// Returns the frame that begins at a place; `None` if none does, or its checksum is wrong.
fn frame_at(bytes: &[u8], at: usize) -> Option<Frame> {
    let bytes_of = bytes.get(at..)?;
    let head = FrameHead::read(bytes_of)?;
    let all = bytes_of.get(..HEAD + head.length)?;
    let FrameHead { kind, sequence, time, length, .. } = head;
    (checksum(&all[CHECKED..]) == head.checksum).then_some(Frame { kind, sequence, time, payload: at + HEAD..at + HEAD + length })
}

/// Returns whether some bytes are none, or the start of a frame that goes on behind them.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    let names_more = |head: FrameHead| bytes.len() < HEAD + head.length;
    if bytes.len() < HEAD { bytes.iter().zip(MAGIC).all(|(byte, of)| byte == of) } else { FrameHead::read(bytes).is_some_and(names_more) }
}

/// The frames of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frames {
    /// The frames whose checksum is right, in the order of the file.
    pub(super) whole: Vec<Frame>,
    /// Damaged parts that a frame follows: the number of frames before each.
    pub(super) damaged: Vec<usize>,
    /// Bytes at the end that are no frame.
    pub(super) tail: usize,
}

/// Bytes that are checked at most, as a multiple of the segment's length: each start of a frame costs the length that it names.
const CHECKED_AGAIN: usize = 4;

/// Finds the frames of a segment. After a damaged part, the next frame with a right checksum is taken.
pub(super) fn scan(bytes: &[u8]) -> Frames {
    let mut found = Frames::default();
    let mut at = 0;
    let mut left = bytes.len().saturating_mul(CHECKED_AGAIN);
    while at < bytes.len() {
        if let Some(frame) = frame_at(bytes, at) {
            at = frame.payload.end;
            found.whole.push(frame);
            continue;
        }
        let next = memchr::memmem::find_iter(&bytes[at + 1..], MAGIC).map(|start| at + 1 + start).find_map(|start| {
            let length = FrameHead::read(&bytes[start..])?.length;
            left = left.checked_sub(length)?;
            frame_at(bytes, start)
        });
        let Some(frame) = next else {
            found.tail = bytes.len() - at;
            break;
        };
        found.damaged.push(found.whole.len());
        at = frame.payload.end;
        found.whole.push(frame);
    }
    found
}

#[cfg(test)]
mod tests;
