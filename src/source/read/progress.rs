//! Counts the progress of a load, which another thread may watch and cancel.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters of one load; see [`crate::source::load_watched()`].
#[derive(Debug, Default)]
pub struct Progress {
    bytes: AtomicU64,
    objects: AtomicU64,
    cancelled: AtomicBool,
    file: Mutex<String>,
}

impl Progress {
    /// Returns the length of the text read so far, decompressed, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of objects seen so far, of any kind.
    pub fn objects(&self) -> u64 {
        self.objects.load(Ordering::Relaxed)
    }

    /// Returns the name of the file that is being read.
    pub fn file(&self) -> String {
        self.file.lock().map(|name| name.clone()).unwrap_or_default()
    }

    /// Cancels the load soon. Its result is what was read until then.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the load was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(in crate::source) fn enter(&self, file: &str) {
        if let Ok(mut name) = self.file.lock() {
            file.clone_into(&mut name);
        }
    }

    pub(in crate::source) fn add(&self, bytes: u64, objects: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.objects.fetch_add(objects as u64, Ordering::Relaxed);
    }
}
