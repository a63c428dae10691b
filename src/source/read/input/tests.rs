//! Tests of `input`.

use super::*;
use std::io::Write;

fn read(bytes: Vec<u8>) -> String {
    let content = Content::Memory(Arc::new(bytes.into()));
    let mut text = String::new();
    Opened::new(content.stream(&Budget::unlimited()).unwrap()).unwrap().reader.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_part_is_read_where_the_text_is_plain() {
    let folder = tempfile::tempdir().unwrap();
    let part = |bytes: &[u8]| {
        let path = folder.path().join("a");
        std::fs::write(&path, bytes).unwrap();
        let places =
            [Content::File(path), Content::Memory(Arc::new(bytes.to_vec().into()))].map(|base| Place { base, members: Vec::new() });
        let [file, memory] = places.map(|place| place.part(6, 3).map_err(|error| error.kind()));
        assert_eq!(file, memory);
        file
    };
    assert_eq!(part(b"kind: Pod\n"), Ok(Some(b"Pod".to_vec())));
    assert_eq!(part("\u{feff}kind: Pod".as_bytes()), Ok(Some(b"Pod".to_vec())), "offsets begin behind a mark");
    assert_eq!(part(b"kind: Po"), Err(io::ErrorKind::UnexpectedEof), "the file has become shorter");
    assert_eq!(part(b"\xff\xfek\0i\0n\0d\0:\0"), Ok(None));
    assert_eq!(part(b"\x1f\x8b packed"), Ok(None));
    let member = Place { base: Content::Memory(Arc::new(b"kind: Pod"[..].into())), members: vec![0] };
    assert_eq!(member.part(6, 3).unwrap(), None);
}

#[test]
fn opens_plain_gzip_and_utf16_text_alike() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all("\u{feff}kind: Pod".as_bytes()).unwrap();
    let mut gzip = gzip.finish().unwrap();
    assert_eq!(read(gzip.clone()), "kind: Pod");
    // gzip files may be concatenated.
    let mut more = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    more.write_all(b"\n---").unwrap();
    gzip.extend(more.finish().unwrap());
    assert_eq!(read(gzip), "kind: Pod\n---");
    let le: Vec<u8> = "\u{feff}kind: Pöd".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let be: Vec<u8> = "\u{feff}kind: Pöd".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!((read(le), read(be)), ("kind: Pöd".into(), "kind: Pöd".into()));
    for short in ["", "a", "ab", "\u{feff}"] {
        assert_eq!(read(short.into()), short.trim_start_matches('\u{feff}'));
    }
}

#[test]
fn standard_input_is_read_up_to_a_length() {
    let read = |bytes: &[u8], limit| read_input(&mut &*bytes, limit).map(|read| read.len()).map_err(|error| error.to_string());
    let text = [b'a'; 10_000];
    assert_eq!(read(&text, STDIN), Ok(10_000));
    assert_eq!((read(&text, 10_000), read(&text, 9_999)), (Ok(10_000), Err("has more than 9999 bytes; name a file instead".into())));
    // Of what is no dump, no more than the start is read, however long it is.
    let mut endless = io::repeat(0);
    assert_eq!(read_input(&mut endless, STDIN).unwrap().len(), INPUT_HEAD);
    let packed = [&b"\x1f\x8b\x08"[..], &[0; 10_000]].concat();
    assert_eq!(read(&packed, STDIN), Ok(packed.len()));
}

/// The parts of a character may be in different parts of the input.
#[test]
fn utf16_is_converted_part_by_part() {
    struct Bytes<'a>(&'a [u8]);
    impl Read for Bytes<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(out.len()).min(1);
            self.0.read(&mut out[..count])
        }
    }
    let text = format!("a{}\u{1f600}end", "\u{1f600}".repeat(UTF16_PART as usize / 2));
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read([&[0xff, 0xfe][..], &bytes].concat()), text);
    let converted = |bytes: &[u8]| {
        let mut read = String::new();
        let marked = [&[0xff, 0xfe][..], bytes].concat();
        without_mark(Box::new(Bytes(&marked)), None).unwrap().0.read_to_string(&mut read).unwrap();
        read
    };
    // Half of a unit, half of a pair, and the second half alone.
    assert_eq!(converted(b"a\0b"), "a\u{fffd}");
    assert_eq!(converted(b"a\0\x3d\xd8"), "a\u{fffd}");
    assert_eq!(converted(b"\x00\xdea\0"), "\u{fffd}a");
}
