use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn a_file_is_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let failed: io::Result<()> = write_new(&path, |file| {
        file.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    let left = || fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left(), 0);
    let panicked = std::panic::catch_unwind(|| write_new(&path, |_| -> io::Result<()> { panic!("as it should") }));
    assert!(panicked.is_err() && left() == 0);
    write_new(&path, |file| file.write_all(b"whole")).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), left()), ("whole", 1));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
    let again = write_new(&path, |file| file.write_all(b"other"));
    assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), left()), ("whole", 1));
    // A file that appears meanwhile is kept.
    let path = folder.path().join("b.json");
    let beaten = write_new(&path, |file| fs::write(&path, "theirs").and_then(|()| file.write_all(b"ours")));
    assert_eq!(beaten.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), left()), ("theirs", 2));
    append(&folder.path().join("log")).unwrap().write_all(b"x").unwrap();
    assert_eq!(fs::metadata(folder.path().join("log")).unwrap().permissions().mode() & 0o777, MODE);
    let long = folder.path().join("x".repeat(250));
    write_new(&long, |file| file.write_all(b"long")).unwrap();
}

#[test]
fn a_file_is_replaced_whole_or_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a.prom"), folder.path().join("link"));
    let write = |path: &Path, text: &str| replace(path, |file| file.write_all(text.as_bytes()));
    write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("a.prom", &link).unwrap();
    write(&link, "new").unwrap();
    let failed: io::Result<()> = replace(&path, |file| {
        file.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640, "it stays readable for whom it was");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    for other in [folder.path(), Path::new("/dev/null")] {
        assert_eq!(write(other, "x").unwrap_err().to_string(), "is not a regular file");
    }
}
