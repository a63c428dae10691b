use super::*;

#[test]
fn names_and_first_bytes_tell_what_to_read() {
    for (path, start, expected) in [
        ("a.json", "anything", true),
        ("a.YAML", "", true),
        ("a.yml.gz", "", true),
        ("dump", "{\"apiVersion\": \"v1\"", true),
        ("dump.txt", "# a comment\n---\nkind: List", true),
        ("dump", "- apiVersion: v1", true),
        ("dump", "time to kind: say", false),
        ("logs.txt", "{\"level\":\"info\"}", false),
        ("audit.txt", "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"", false),
        ("kubelet.log", "{\"kind\":\"Pod\"", false),
        ("a.json", "\0\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\u{e}", false),
    ] {
        assert_eq!(worth_reading(path, start.as_bytes()), expected, "{path} {start:?}");
    }
}

#[test]
fn names_that_claim_more_than_is_there() {
    for (path, compressed, expected) in [
        ("a.tar", false, Some("tar archive")),
        ("a.TGZ", true, Some("tar archive")),
        ("a.tar.xz", true, Some("tar archive")),
        ("a.zip", false, Some("zip archive")),
        ("a.json.gz", false, Some("gzip file")),
        ("a.json.gz", true, None),
        ("a.json", false, None),
    ] {
        assert_eq!(unkept_claim(path, compressed).map(|claim| claim.to_string()).as_deref(), expected, "{path}");
    }
}

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
