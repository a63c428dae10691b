//! Tests of `archive`.

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
