//! Tests of `archive`.

use super::*;
use crate::limits::sources::UNPACK_WINDOW;
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

fn zip_of(members: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(*name, ::zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns how an archive ends, and the names of its files.
fn walked(bytes: &[u8]) -> (End, String) {
    let mut names = String::new();
    let budget = Budget::unlimited();
    let stream = open(Box::new(bytes), Some(bytes.len() as u64), &budget);
    let end = members(stream, None, &budget, None, &mut |_, head, _| {
        if head.kind == MemberKind::File {
            names.push_str(&head.name);
        }
        true
    });
    (end.unwrap(), names)
}

#[test]
fn bytes_of_a_zip_that_its_directory_does_not_list_are_reported() {
    let (one, two) = (zip_of(&[("a", "1"), ("b", "2")]), zip_of(&[("c", "333")]));
    assert_eq!(walked(&one), (End::Whole, "ab".into()));
    assert_eq!(walked(&zip_of(&[])), (End::Whole, String::new()));
    assert_eq!(walked(&[&one[..], &two].concat()).0, End::Unlisted);
    assert_eq!(walked(&[&one[..], b"rest"].concat()).0, End::Followed);
    let commented = {
        let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
        writer.set_comment("PK\u{5}\u{6} in a comment").unwrap();
        writer.start_file("a", ::zip::write::SimpleFileOptions::default()).unwrap();
        writer.finish().unwrap().into_inner()
    };
    assert_eq!(walked(&commented), (End::Whole, "a".into()));
    // Places of the entries of the directory, and of the record behind them.
    let entries: Vec<usize> = memchr::memmem::find_iter(&one, b"PK\x01\x02").collect();
    let record = one.len() - 22;
    let numbered = |bytes: &[u8], count: u8, length: usize, offset: usize| {
        let mut bytes = bytes.to_vec();
        let at = bytes.len() - 22;
        (bytes[at + 8], bytes[at + 10]) = (count, count);
        bytes[at + 12..at + 16].copy_from_slice(&(length as u32).to_le_bytes());
        bytes[at + 16..at + 20].copy_from_slice(&(offset as u32).to_le_bytes());
        bytes
    };
    let fewer = numbered(&one, 1, record - entries[0], entries[0]);
    assert_eq!(walked(&fewer), (End::Unlisted, "a".into()));
    for (kept, listed) in [(entries[0]..entries[1], "a"), (entries[1]..record, "b")] {
        let omitted = [&one[..entries[0]], &one[kept.clone()], &one[record..]].concat();
        assert_eq!(walked(&numbered(&omitted, 1, kept.len(), entries[0])), (End::Unlisted, listed.into()));
    }
    let mut twice = one.clone();
    let second = memchr::memmem::rfind(&one[..entries[0]], b"PK\x03\x04").unwrap();
    (twice[second + 30], twice[entries[1] + 46]) = (b'a', b'a');
    assert_eq!(walked(&twice), (End::Unlisted, "a".into()));
}

/// A name that ends as those of folders do is that of a file where it has content.
#[test]
fn a_member_of_a_zip_with_content_is_a_file() {
    assert_eq!(walked(&zip_of(&[("a/", ""), ("b.json/", "{}")])), (End::Whole, "b.json/".into()));
}

#[test]
fn windows_of_streams_are_bounded() {
    let xz = |window: u64| {
        let mut options = lzma_rust2::XzOptions::with_preset(1);
        options.lzma_options.dict_size = 1 << 16;
        let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        writer.write_all(b"kind: Pod").unwrap();
        let mut bytes = writer.finish().unwrap();
        // The header of the block: its size, flags, the filter, the length of its properties, and the window in them.
        let bits = window.ilog2() as u8;
        bytes[16] = 2 * (bits - 12);
        let length = 4 * (usize::from(bytes[12]) + 1);
        let mut sum = flate2::Crc::new();
        sum.update(&bytes[12..12 + length - 4]);
        bytes[12 + length - 4..12 + length].copy_from_slice(&sum.sum().to_le_bytes());
        bytes
    };
    // A frame with a window of its own, of one raw block.
    let zstd = |window: u64| [&[0x28, 0xb5, 0x2f, 0xfd, 0, ((window.ilog2() - 10) << 3) as u8, 0x49, 0, 0], &b"kind: Pod"[..]].concat();
    for stream in [&xz as &dyn Fn(u64) -> Vec<u8>, &zstd] {
        assert_eq!(open_all(&stream(UNPACK_WINDOW)).2.as_deref(), Ok("kind: Pod"));
        assert!(open_all(&stream(2 * UNPACK_WINDOW)).2.is_err());
    }
}
