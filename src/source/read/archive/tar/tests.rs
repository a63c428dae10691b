//! Tests of `tar`.

use super::*;
use crate::limits::sources::TAR_PADDING;

fn read(archive: &[u8]) -> (Vec<(String, MemberKind, String)>, Option<String>) {
    let mut tar = Tar::new(archive);
    let mut found = Vec::new();
    loop {
        match tar.next() {
            Ok(Some(head)) => {
                let mut content = String::new();
                match tar.read_to_string(&mut content) {
                    Ok(_) => found.push((head.name, head.kind, content)),
                    Err(error) => return (found, Some(error.to_string())),
                }
            }
            Ok(None) => return (found, None),
            Err(error) => return (found, Some(error.to_string())),
        }
    }
}

fn build(header: fn() -> tar::Header, names: &[&str]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for name in names {
        let mut head = header();
        head.set_size(name.len() as u64);
        head.set_mode(0o644);
        builder.append_data(&mut head, name, name.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn reads_what_other_writers_write() {
    let long = format!("{}/pods.json", "long-name".repeat(30));
    for header in [tar::Header::new_gnu, tar::Header::new_ustar] {
        let names: Vec<&str> = if header().as_gnu().is_some() { vec!["a", "dir/b.json", &long] } else { vec!["a", "dir/b.json"] };
        let (found, error) = read(&build(header, &names));
        let expected: Vec<_> = names.iter().map(|n| ((*n).to_owned(), MemberKind::File, (*n).to_owned())).collect();
        assert_eq!((found, error), (expected, None));
    }
    let prefixed = format!("{}/{}", "p".repeat(90), "n".repeat(90));
    let (found, _) = read(&build(tar::Header::new_ustar, &[&prefixed]));
    assert_eq!(found[0].0, prefixed);
}

#[test]
fn pax_records_name_and_size() {
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_pax_extensions([("path", "in/päx.json".as_bytes()), ("mtime", b"1.5".as_slice())]).unwrap();
    let mut header = tar::Header::new_ustar();
    header.set_size(2);
    builder.append_data(&mut header, "short", &b"ok"[..]).unwrap();
    let (found, error) = read(&builder.into_inner().unwrap());
    assert_eq!((found, error), (vec![("in/päx.json".into(), MemberKind::File, "ok".into())], None));
}

#[test]
fn extensions_that_are_too_long_are_skipped() {
    let with_name = |length: usize| {
        let mut builder = tar::Builder::new(Vec::new());
        builder.append_pax_extensions([("path", "n".repeat(length).as_bytes())]).unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_size(2);
        builder.append_data(&mut header, "short", &b"ok"[..]).unwrap();
        read(&builder.into_inner().unwrap()).0[0].0.len()
    };
    assert_eq!(with_name(1000), 1000);
    assert_eq!(with_name(TAR_EXTENSION as usize), "short".len());
}

#[test]
fn padding_is_read_up_to_a_length() {
    let mut archive = build(tar::Header::new_gnu, &["a"]);
    archive.extend(vec![0; 3000]);
    for (limit, goes_on) in [(1000, true), (3511, true), (3512, false), (TAR_PADDING, false)] {
        let mut rest = archive.as_slice();
        let mut tar = Tar::new(&mut rest);
        while tar.next().unwrap().is_some() {}
        assert_eq!(tar.drain(limit).unwrap(), goes_on, "{limit}");
        assert_eq!(rest.is_empty(), limit >= 3511, "{limit}");
    }
}

/// Content of a type that is not known is that of a file, and no content is dropped without a word.
#[test]
fn members_of_other_types_are_read_or_named() {
    let kind_of = |kind: u8, name: &str, content: &str| {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(tar::EntryType::new(kind));
        header.set_size(content.len() as u64);
        header.set_cksum();
        let mut builder = tar::Builder::new(Vec::new());
        builder.append(&header, content.as_bytes()).unwrap();
        read(&builder.into_inner().unwrap()).0[0].1
    };
    for kind in [1, b'8', b'9', b'A', b'N', b'X', b'Z'] {
        assert_eq!((kind_of(kind, "a.json", "{}"), kind_of(kind, "a.json", "")), (MemberKind::File, MemberKind::Other), "{kind}");
    }
    for kind in [b'4', b'5', b'6', b'M'] {
        assert!(matches!(kind_of(kind, "a.json", "{}"), MemberKind::Unreadable(_)), "{kind}");
    }
    assert_eq!((kind_of(b'0', "a.json/", "{}"), kind_of(b'0', "a/", "")), (MemberKind::File, MemberKind::Other));
    assert_eq!(kind_of(b'D', "a/", "Yb.json\0\0"), MemberKind::Other);
}

#[test]
fn links_are_distinguished_from_files() {
    let mut builder = tar::Builder::new(Vec::new());
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory, tar::EntryType::Fifo] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        builder.append_link(&mut header, "x", "/etc/passwd").unwrap();
    }
    let kinds: Vec<_> = read(&builder.into_inner().unwrap()).0.into_iter().map(|(_, kind, _)| kind).collect();
    assert_eq!(kinds, [MemberKind::Link, MemberKind::Link, MemberKind::Other, MemberKind::Other]);
}

#[test]
fn damage_is_reported_and_what_stands_before_it_is_read() {
    let archive = build(tar::Header::new_gnu, &["a", "b", "c"]);
    let names = |archive: &[u8]| {
        let (found, error) = read(archive);
        (found.into_iter().map(|f| f.0).collect::<String>(), error)
    };
    assert_eq!(names(&archive), ("abc".into(), None));
    assert_eq!(names(&archive[..3 * 1024]), ("abc".into(), None));
    assert_eq!(names(&archive[..2 * 1024 + 512]).1.as_deref(), Some("the archive ends within a member"));
    assert_eq!(names(&archive[..1024 + 100]), ("a".into(), Some("the archive ends within a member".into())));
    let mut damaged = archive.clone();
    damaged[1024] ^= 1;
    assert_eq!(names(&damaged), ("a".into(), Some("the header of a member is damaged".into())));
    // Text with a high bit in the place of a checksum.
    assert!(!is_header("é".repeat(BLOCK).as_bytes()) && !is_header(&[0xff; BLOCK]));
    // A header may claim any size.
    let mut header = tar::Header::new_gnu();
    header.set_path("huge").unwrap();
    header.as_gnu_mut().unwrap().size = [0xff; 12];
    header.set_cksum();
    assert!(names(header.as_bytes()).1.is_some());
    header.set_size(u64::MAX);
    header.set_cksum();
    assert!(names(header.as_bytes()).1.is_some());
}
