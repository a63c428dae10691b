//! Files that are written whole or not at all, and that only their owner may read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Mode of written files, which may hold names of nodes and pods: only the owner may read and write.
const MODE: u32 = 0o600;

/// Mode of files that others may read, before the user's mask.
const SHARED: u32 = 0o666;

/// Writes a file that must not exist yet. The content goes to a hidden file beside it, which takes the final name once
/// it is synced to the disk. An error leaves no file.
///
/// # Errors
/// Returns `AlreadyExists` if the file exists, the error of the file system, or the error of `write`.
pub fn write_new<T, E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<T, E>) -> Result<T, E> {
    write_new_with(path, MODE, write)
}

/// Writes a file that must not exist yet as [`write_new`] does, and that others may read: one without a word about a cluster.
///
/// # Errors
/// As [`write_new`].
pub fn write_new_public<T, E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<T, E>) -> Result<T, E> {
    write_new_with(path, SHARED, write)
}

fn write_new_with<T, E: From<io::Error>>(path: &Path, mode: u32, write: impl FnOnce(&mut File) -> Result<T, E>) -> Result<T, E> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
    }
    let mut partial = Partial::create(path, mode)?;
    let result = partial.fill(write)?;
    // A hard link never replaces an existing file.
    match fs::hard_link(&partial.path, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error.into()),
        Ok(()) => {}
        // Not every file system has links.
        Err(_) => fs::rename(&partial.path, path)?,
    }
    sync_folder_of(path);
    Ok(result)
}

/// Writes a file that may exist, as a shell's `>` would for whom it is readable. Whoever reads it meanwhile reads the old content or the
/// new, and an error leaves the old. A link stays, and the file that it names is replaced.
///
/// # Errors
/// When something else than a file has the name; the error of the file system, or the error of `write`.
pub fn replace<T, E: From<io::Error>>(path: &Path, write: impl FnOnce(&mut File) -> Result<T, E>) -> Result<T, E> {
    let found = match fs::canonicalize(path) {
        Ok(found) => Some((fs::metadata(&found)?, found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    if found.as_ref().is_some_and(|(metadata, _)| !metadata.is_file()) {
        return Err(io::Error::other("is not a regular file").into());
    }
    let path = found.as_ref().map_or(path, |(_, path)| path);
    let mut partial = Partial::create(path, SHARED)?;
    if let Some((metadata, _)) = &found {
        partial.file.set_permissions(metadata.permissions())?;
    }
    let result = partial.fill(write)?;
    fs::rename(&partial.path, path)?;
    sync_folder_of(path);
    Ok(result)
}

/// Syncs the folder so that the name survives a crash, on systems that can sync folders.
fn sync_folder_of(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
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
    fn create(path: &Path, mode: u32) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut hidden = std::ffi::OsString::from(".");
        // The name is shortened because it grows by a suffix and file systems limit its length.
        hidden.push(name.to_string_lossy().chars().take(40).collect::<String>());
        hidden.push(format!(".{}.{}.partial", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let path = path.with_file_name(hidden);
        let mut partial = partial_files();
        let Some(partial) = partial.as_mut() else { return Err(io::Error::other("the program ends")) };
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        partial.push(path.clone());
        Ok(Self { file, path })
    }

    /// Writes the content to the disk.
    fn fill<T, E: From<io::Error>>(&mut self, write: impl FnOnce(&mut File) -> Result<T, E>) -> Result<T, E> {
        let result = write(&mut self.file)?;
        self.file.flush()?;
        self.file.sync_all()?;
        Ok(result)
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
mod tests;
