//! A segment of a journal: any bytes, or frames with a right checksum around any payload. Every moment and every step of it is read,
//! or is said to be damaged.
#![no_main]

use std::io::Read as _;

use libfuzzer_sys::fuzz_target;
use schedscope::source::journal::Journal;

/// The CRC-32 of gzip, so that a payload gets past the checksum.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

fn frame(kind: u8, sequence: u64, payload: &[u8]) -> Vec<u8> {
    let mut checked = vec![kind];
    checked.extend(sequence.to_le_bytes());
    checked.extend((1_800_000_000_000_000 + sequence * 1_000_000).to_le_bytes());
    checked.extend(payload);
    let mut bytes = b"ssj2".to_vec();
    bytes.extend(u32::try_from(payload.len()).expect("inputs are short").to_le_bytes());
    bytes.extend(crc(&checked).to_le_bytes());
    bytes.extend(checked);
    bytes
}

fuzz_target!(|bytes: &[u8]| {
    let Some((how, rest)) = bytes.split_first() else { return };
    let segment = if how % 2 == 0 {
        rest.to_vec()
    } else {
        let parts = rest.split(|byte| *byte == 0xff).enumerate();
        parts.flat_map(|(number, part)| frame(if number == 0 { 1 } else { 2 + (part.len() % 3) as u8 }, number as u64, part)).collect()
    };
    let folder = std::env::temp_dir().join(format!("schedscope-fuzz-journal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("segment-0000000001.ssj"), segment).expect("a segment");
    let Ok(journal) = Journal::open(&folder) else { return };
    for time in [journal.begin(), journal.end()] {
        let Ok(moment) = journal.at(time) else { continue };
        let mut text = Vec::new();
        let made = moment.text();
        if let Ok(mut reader) = made.open() {
            let _ = reader.read_to_end(&mut text);
        }
        let _ = journal.after(&moment).count();
    }
    let _ = journal.log(journal.begin(), journal.end());
});
