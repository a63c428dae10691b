//! Which files look like dumps, by their names and first bytes, for whoever offers some to choose from.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::visit::starts_like_objects;

/// So much of a file is looked at.
const START: u64 = 4096;

/// Whether a file looks like a dump that [`super::load()`] reads. Content that is compressed is not looked at.
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
    // Opening a pipe would wait for somebody to write into it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_tell_dumps() {
        let folder = tempfile::tempdir().unwrap();
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        for (name, content, expected) in [
            ("pods.json", &b"{\"kind\": \"List\"}"[..], true),
            ("package.json", b"{\"name\": \"x\"}", false),
            ("pods.YAML", b"# a comment\napiVersion: v1\n", true),
            ("values.yaml", b"image: x\n", false),
            ("pods.json.gz", b"\x1f\x8b...", true),
            ("pods.log.gz", b"\x1f\x8b...", false),
            ("bundle.tar.gz", b"\x1f\x8b...", true),
            ("bundle.tgz", b"not compressed", false),
            ("bundle.tar", &tar, true),
            ("short.tar", b"x", false),
            ("bundle.zip", b"PK\x03\x04", true),
            ("notes.txt", b"kind: Pod", false),
            ("json", b"{\"kind\": \"List\"}", false),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            assert_eq!(looks_like_dump(&path), expected, "{name}");
        }
        assert!(!looks_like_dump(&folder.path().join("missing.json")));
        std::fs::create_dir(folder.path().join("folder.json")).unwrap();
        assert!(!looks_like_dump(&folder.path().join("folder.json")));
    }
}
