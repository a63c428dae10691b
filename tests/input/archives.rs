//! Archives and compressed texts, built in memory.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::{Cursor, Write};
use std::path::Path;

/// A member: its name and content.
pub(crate) type Member = (String, Vec<u8>);

/// Returns the files below a directory in name order, their names under `prefix`.
pub(crate) fn members(directory: &Path, prefix: &str) -> Vec<Member> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = format!("{prefix}/{}", path.file_name().unwrap().to_string_lossy());
        let name = name.trim_start_matches('/').to_owned();
        if path.is_dir() {
            found.extend(members(&path, &name));
        } else {
            found.push((name, std::fs::read(&path).unwrap()));
        }
    }
    found
}

fn add(builder: &mut tar::Builder<Vec<u8>>, name: &str, content: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    if name.len() < 100 {
        // The library would refuse these names, which are the point of the test.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, content).unwrap();
    } else {
        builder.append_data(&mut header, name, content).unwrap();
    }
}

pub(crate) fn tar(members: &[Member]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        add(&mut builder, name, content);
    }
    builder.into_inner().unwrap()
}

/// As `tar`, with a symbolic and a hard link in front.
pub(crate) fn tar_with_links(members: &[Member]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        builder.append_link(&mut header, "link.json", "/etc/passwd").unwrap();
    }
    for (name, content) in members {
        add(&mut builder, name, content);
    }
    builder.into_inner().unwrap()
}

pub(crate) fn zip(members: &[Member]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns the content in nested tar archives.
pub(crate) fn nested(content: &[u8], levels: usize) -> Vec<u8> {
    (0..levels).fold(content.to_vec(), |inner, _| tar(&[("inner".to_owned(), inner)]))
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

pub(crate) fn xz(text: &[u8]) -> Vec<u8> {
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}
