//! Files that are written whole or not at all, and that only their owner may read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Mode of written files, which may hold names of nodes and pods: only the owner may read and write.
const MODE: u32 = 0o600;

/// Writes a file that must not exist yet. The content goes to a hidden file beside it, which takes the final name once
/// it is synced to the disk. An error leaves no file.
///
/// # Errors
/// Returns `AlreadyExists` if the file exists, the error of the file system, or the error of `write`.
pub fn write_new<T, E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<T, E>) -> Result<T, E> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
    }
    let mut partial = Partial::create(path)?;
    let result = write(&mut partial.file)?;
    partial.file.flush()?;
    partial.file.sync_all()?;
    // A hard link never replaces an existing file.
    match fs::hard_link(&partial.path, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error.into()),
        Ok(()) => {}
        // Not every file system has links.
        Err(_) => fs::rename(&partial.path, path)?,
    }
    // Syncs the folder so that the name survives a crash, on systems that can sync folders.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(result)
}

/// Opens a file for appending, such as a log, and creates it if it does not exist.
pub fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(MODE).open(path)
}

/// Makes a file that must not be there yet, for writing it line by line.
///
/// # Errors
/// `AlreadyExists` where there is such a file, else why it cannot be made.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)
}

/// The files that are being written under hidden names; `None` once the program ends.
static PARTIAL: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

fn partial_files() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files that are being written, because the program ends without dropping them, and lets no more be begun.
pub(super) fn remove_partial_files() {
    for path in partial_files().take().into_iter().flatten() {
        let _ = fs::remove_file(path);
    }
}

/// Removes the files that other threads are still writing when the program ends, be it by a panic.
#[must_use]
#[derive(Debug)]
pub struct RemoveUnfinished;

impl Drop for RemoveUnfinished {
    fn drop(&mut self) {
        remove_partial_files();
    }
}

/// A file that is removed when it is dropped.
struct Partial {
    file: File,
    path: PathBuf,
}

impl Partial {
    fn create(path: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut hidden = std::ffi::OsString::from(".");
        // The name is shortened because it grows by a suffix and file systems limit its length.
        hidden.push(name.to_string_lossy().chars().take(40).collect::<String>());
        hidden.push(format!(".{}.{}.partial", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let path = path.with_file_name(hidden);
        let mut partial = partial_files();
        let Some(partial) = partial.as_mut() else { return Err(io::Error::other("the program ends")) };
        let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(&path)?;
        partial.push(path.clone());
        Ok(Self { file, path })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        if let Some(partial) = partial_files().as_mut() {
            partial.retain(|path| *path != self.path);
        }
    }
}

#[cfg(test)]
mod tests {
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
}
