//! Tests of `frame`.

use super::*;

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn segment() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let mut ends = vec![0];
    for (sequence, (kind, payload)) in
        (7..).zip([(FrameKind::Keyframe, "keyframe"), (FrameKind::Changes, ""), (FrameKind::Gap, "ssj1"), (FrameKind::Changes, "abc")])
    {
        bytes.extend(encode(kind, sequence, time(sequence as i64), payload.as_bytes()).unwrap());
        ends.push(bytes.len());
    }
    (bytes, ends)
}

#[test]
fn frames_are_found_as_they_were_written() {
    let (bytes, _) = segment();
    let Frames { whole: frames, damaged, tail } = scan(&bytes);
    let words: Vec<_> = frames.iter().map(|f| (f.kind, f.sequence, f.time, &bytes[f.payload.clone()])).collect();
    assert_eq!(
        words,
        [
            (FrameKind::Keyframe, 7, time(7), b"keyframe".as_slice()),
            (FrameKind::Changes, 8, time(8), b""),
            (FrameKind::Gap, 9, time(9), b"ssj1"),
            (FrameKind::Changes, 10, time(10), b"abc"),
        ]
    );
    assert_eq!((damaged, tail), (vec![], 0));
}

#[test]
fn the_last_place_in_the_order_has_none_after_it() {
    let frame = |sequence| Frame { kind: FrameKind::Changes, sequence, time: time(0), payload: 0..0 };
    assert!(frame(8).follows(7) && !frame(8).follows(8));
    assert!(!frame(0).follows(u64::MAX) && !frame(u64::MAX).follows(u64::MAX));
}

#[test]
fn a_cut_at_any_byte_leaves_the_whole_frames() {
    let (bytes, ends) = segment();
    for cut in 0..=bytes.len() {
        let Frames { whole: frames, damaged, tail } = scan(&bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!((frames.len(), damaged.len(), tail), (whole, 0, cut - ends[whole]), "{cut}");
    }
}

#[test]
fn a_flipped_bit_costs_its_frame_alone() {
    let (bytes, ends) = segment();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let of = ends.iter().filter(|end| **end <= at).count() - 1;
            let Frames { whole: frames, damaged, tail } = scan(&flipped);
            let sequences: Vec<u64> = frames.iter().map(|frame| frame.sequence).collect();
            let expected: Vec<u64> = (7..11).filter(|sequence| *sequence != 7 + of as u64).collect();
            assert_eq!(sequences, expected, "byte {at}, bit {bit}");
            let is_last = of == 3;
            assert_eq!((damaged, tail > 0), (if is_last { vec![] } else { vec![of] }, is_last), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn a_segment_of_starts_is_checked_in_bounded_time() {
    // Each of these starts names nearly all that follows.
    let start = encode(FrameKind::Changes, 1, time(1), b"").unwrap();
    let mut bytes = start.repeat(4000);
    let length = bytes.len();
    for at in (0..length).step_by(HEAD) {
        let names = u32::try_from(length - at - HEAD).unwrap();
        bytes[at + 4..at + 8].copy_from_slice(&names.to_le_bytes());
    }
    assert_eq!(scan(&bytes).whole.len(), 1, "the last one alone names no more than there is");
    assert!(encode(FrameKind::Changes, 1, time(1), &vec![0; JOURNAL_FRAME as usize + 1]).is_none());
}
