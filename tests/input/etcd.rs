//! A real snapshot of etcd, through the program: as it is, compressed, in an archive, and damaged.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pretty_assertions::assert_eq;
use schedscope::source::{Input, Layout, load};
use serde_json::Value;

use crate::measure::{next, setting};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dumps/etcd").join(name)
}

fn snapshot() -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(fixture("snapshot-1.31.db.xz")).unwrap();
    lzma_rust2::XzReader::new(file, true).read_to_end(&mut bytes).unwrap();
    bytes
}

fn pending(from: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(["explain", "-A", "--pending", "-o", "json", "--from"]).arg(from).output().unwrap()
}

/// Returns the outcome, nodes and message of each pending pod.
fn decisions(output: &Output) -> Vec<Value> {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["missing"], serde_json::json!([]), "a kind without an object in etcd is known to have none");
    answer["pods"].as_array().unwrap().iter().map(|pod| serde_json::json!([pod["pod"], pod["namespace"], pod["why"]])).collect()
}

#[test]
fn a_snapshot_is_read_as_it_is_compressed_and_in_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    std::fs::write(&path, snapshot()).unwrap();
    let archive = folder.path().join("backup.tar");
    let mut tar = tar::Builder::new(std::fs::File::create(&archive).unwrap());
    tar.append_path_with_name(&path, "etcd/backup.db").unwrap();
    tar.finish().unwrap();
    let plain = pending(&path);
    assert_eq!((plain.status.code(), String::from_utf8_lossy(&plain.stderr).as_ref()), (Some(1), ""));
    let expected = decisions(&plain);
    assert_eq!(expected.len(), 6);
    for other in [fixture("snapshot-1.31.db.xz"), archive.clone()] {
        assert_eq!(decisions(&pending(&other)), expected, "{}", other.display());
    }
    for input in [path, fixture("snapshot-1.31.db.xz"), archive] {
        let loaded = load(&[Input::Path(input.clone())]);
        assert_eq!(loaded.report.layout.0, [Layout::Etcd], "{}", input.display());
        let said: Vec<&str> = loaded.diagnostics.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(said, ["18 objects were skipped unread, since scheduling does not depend on them: ConfigMap"]);
    }
}

fn program(arguments: &[&str], from: &Path) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).arg("--from").arg(from).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_snapshot_is_read_at_each_revision_since_the_last_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("backup.db");
    std::fs::write(&plain, snapshot()).unwrap();
    let packed = fixture("snapshot-1.31.db.xz");
    let explained = |at: &str, from: &Path| program(&["explain", "-A", "--pending", "-o", "json", "--at", at], from);
    // The newest revision is the snapshot as it is read without a moment.
    let newest: Value = serde_json::from_slice(&pending(&plain).stdout).unwrap();
    for from in [&plain, &packed] {
        for at in ["rev:12347", "-0s"] {
            let (code, text, said) = explained(at, from);
            let answer: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((code, said.as_str(), &answer["pods"]), (Some(1), "", &newest["pods"]), "{at}");
        }
    }
    // A pod that is gone is explained as it was before it was deleted.
    assert_eq!(program(&["explain", "green/c701-0135"], &plain).0, Some(2));
    let (code, text, said) = program(&["explain", "green/c701-0135", "--evicted"], &plain);
    assert!(code.is_some_and(|code| code < 2) && said.starts_with("green/c701-0135 was deleted at revision 12292 ("), "{said}{text}");
    for (at, expected) in [
        ("rev:9948", "the snapshot's history begins at revision 9949 ("),
        ("rev:12348", "the snapshot's history ends at revision 12347 ("),
        ("2001-01-01T00:00:00Z", "the snapshot's history begins at revision 9949 ("),
        ("2101-01-01T00:00:00Z", "the snapshot's history ends at revision 12347 ("),
    ] {
        let (code, _, said) = explained(at, &plain);
        assert!(code == Some(3) && said.contains(expected), "{at}: {said}");
    }
    // In an archive it is a dump of its newest revision alone.
    let archive = folder.path().join("backup.tar");
    let mut tar = tar::Builder::new(std::fs::File::create(&archive).unwrap());
    tar.append_path_with_name(&plain, "etcd/backup.db").unwrap();
    tar.finish().unwrap();
    let (code, _, said) = explained("rev:12347", &archive);
    assert!(code == Some(2) && said.contains("one snapshot of etcd that is in no archive"), "{said}");
}

#[test]
fn a_damaged_snapshot_is_read_in_part_and_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    let mut bytes = snapshot();
    let at = bytes.windows(8).rposition(|eight| eight == b"spec.pod" || eight == b"default-").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let flipped = pending(&path);
    let said = String::from_utf8_lossy(&flipped.stderr).into_owned();
    assert!(flipped.status.code() == Some(3) && said.contains("is damaged (the SHA-256 at its end does not match"), "{said}");
    let answer: Value = serde_json::from_slice(&flipped.stdout).unwrap();
    assert!(answer["missing"].as_array().unwrap().iter().any(|kind| kind["kind"] == "Node" && kind["why"] == "partial"), "{answer}");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let cut = pending(&path);
    assert_eq!(cut.status.code(), Some(3), "{}", String::from_utf8_lossy(&cut.stderr));
}

/// SCHEDSCOPE_ETCD_DAMAGES is the number of damaged copies.
#[test]
fn copies_of_a_real_snapshot_with_flipped_bits_and_cuts_are_said_to_be_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    let sound = snapshot();
    let mut seed = 11;
    for copy in 0..setting("SCHEDSCOPE_ETCD_DAMAGES", 3) {
        let at = (next(&mut seed) >> 8) as usize % sound.len();
        let mut damaged = sound.clone();
        if copy % 3 == 2 {
            damaged.truncate(at);
        } else {
            damaged[at] ^= 1 << (next(&mut seed) % 8);
        }
        std::fs::write(&path, &damaged).unwrap();
        for arguments in [&["explain", "-A", "--pending"][..], &["explain", "-A", "--pending", "--at", "rev:11000"]] {
            let (code, _, said) = program(arguments, &path);
            assert!(code == Some(3) && (said.contains("damaged") || at < 8192 && !said.is_empty()), "copy {copy} at {at}: {said}");
        }
    }
}
