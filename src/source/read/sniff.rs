//! Decides by names and first bytes which files look like dumps and which to read.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::input::is_binary;

/// Bytes at the start of a file that are inspected.
const START: u64 = 4096;

/// Returns whether a file looks like a dump that [`crate::source::load()`] reads. Compressed content is not inspected.
pub fn looks_like_dump(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return false };
    let text = ["json", "yaml", "yml", "jsonl", "ndjson"];
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
    let inner = stem.rsplit_once('.').map_or("", |(_, inner)| inner);
    let magic: &[u8] = match ending {
        "gz" | "tgz" => &[0x1f, 0x8b],
        "xz" | "txz" => &[0xfd, b'7', b'z', b'X', b'Z', 0],
        "zst" => &[0x28, 0xb5, 0x2f, 0xfd],
        "bz2" | "tbz2" => b"BZh",
        "zip" => b"PK\x03\x04",
        "tar" => b"",
        _ if text.contains(&ending) => b"",
        _ => return false,
    };
    let compressed = ["gz", "xz", "zst", "bz2"].contains(&ending);
    if compressed && inner != "tar" && !text.contains(&inner) {
        return false;
    }
    let mut start = Vec::new();
    // Opening a pipe would block until it has a writer.
    let ordinary = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    if !ordinary || File::open(path).and_then(|file| file.take(START).read_to_end(&mut start)).is_err() {
        return false;
    }
    match ending {
        "tar" => start.get(257..262) == Some(b"ustar"),
        _ if !magic.is_empty() => start.starts_with(magic),
        _ => starts_like_objects(&start),
    }
}

/// A type of file that an extension promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub(in crate::source) enum Claim {
    #[strum(to_string = "tar archive")]
    Tar,
    #[strum(to_string = "zip archive")]
    Zip,
    #[strum(to_string = "gzip file")]
    Gzip,
    #[strum(to_string = "xz file")]
    Xz,
    #[strum(to_string = "zstd file")]
    Zstd,
    #[strum(to_string = "bzip2 file")]
    Bzip2,
}

impl Claim {
    pub(in crate::source) fn is_archive(self) -> bool {
        matches!(self, Self::Tar | Self::Zip)
    }
}

/// The extensions of compressed files and archives.
const ARCHIVES: &[(&str, Claim)] =
    &[("tar", Claim::Tar), ("tgz", Claim::Tar), ("txz", Claim::Tar), ("tbz2", Claim::Tar), ("zip", Claim::Zip)];
const COMPRESSED: &[(&str, Claim)] = &[("gz", Claim::Gzip), ("xz", Claim::Xz), ("zst", Claim::Zstd), ("bz2", Claim::Bzip2)];

/// Returns the type of archive or compression in a file's extension, for a file that is no archive. If the file was
/// `compressed`, only types of archives count.
pub(in crate::source) fn unkept_claim(path: &str, compressed: bool) -> Option<Claim> {
    let claim = |path: &Path, endings: &[(&str, Claim)]| {
        let ending = path.extension()?;
        endings.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, claim)| *claim)
    };
    let path = Path::new(path);
    let inner = claim(path, COMPRESSED).map(|_| Path::new(path.file_stem().unwrap_or_default()));
    let archive = claim(path, ARCHIVES).or_else(|| claim(inner?, ARCHIVES));
    archive.or_else(|| claim(path, COMPRESSED).filter(|_| !compressed))
}

/// Returns whether to read a file that the user did not name, by its name and its first bytes. Dumps also hold logs and
/// other long text.
pub(in crate::source) fn worth_reading(path: &str, start: &[u8]) -> bool {
    if is_binary(start) && !matches!(start, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        return false;
    }
    let path = Path::new(path);
    let ending = path.extension();
    let inner = ending.filter(|e| COMPRESSED.iter().any(|(known, _)| e.eq_ignore_ascii_case(known))).map(|_| path.with_extension(""));
    let ending = inner.as_deref().unwrap_or(path).extension();
    let known = |endings: &[&str]| ending.is_some_and(|e| endings.iter().any(|known| e.eq_ignore_ascii_case(known)));
    if known(&["json", "yaml", "yml", "jsonl", "ndjson"]) {
        return true;
    }
    !known(&["log"]) && starts_like_objects(start)
}

/// Returns whether bytes are zeros or white space only, as in files that a crash or a full disk left behind.
pub(in crate::source) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}

/// The first words of what kubectl prints in place of objects.
const MESSAGES: [&[u8]; 4] = [b"Error from server", b"Unable to connect to the server", b"The connection to the server", b"error: "];

/// Returns whether a text starts as kubectl's errors do.
pub(in crate::source) fn is_message(start: &[u8]) -> bool {
    MESSAGES.iter().any(|words| start.trim_ascii_start().starts_with(words))
}

/// Returns whether text starts like Kubernetes objects in JSON or YAML.
fn starts_like_objects(start: &[u8]) -> bool {
    let start = start.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(start);
    let has = |needle: &[u8]| memchr::memmem::find(start, needle).is_some();
    match start.trim_ascii_start().first() {
        // Audit logs consist of objects too, but not of a cluster's.
        Some(b'{' | b'[') => (has(b"\"kind\"") || has(b"\"apiVersion\"") || has(b"\"items\"")) && !has(b"audit.k8s.io/"),
        Some(0xff | 0xfe) => true,
        _ => start.split(|b| *b == b'\n').any(|line| {
            let line = line.strip_prefix(b"- ").unwrap_or(line);
            [&b"apiVersion:"[..], b"kind:", b"items:"].iter().any(|key| line.starts_with(key))
        }),
    }
}

#[cfg(test)]
mod tests;
