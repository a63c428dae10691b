//! Limits the cost of a load: a small file may be a decompression bomb, and an archive may have any number of members.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::progress::Progress;
use crate::limits::sources::{DECOMPRESSED, FILES, GROWTH, GROWTH_BEYOND};

/// Limits on decompression and on the number of files, over all inputs of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Decompressed bytes; 64 GiB by default. Plain files do not count.
    pub decompressed: u64,
    /// How many times its compressed size a file may grow; 100 by default. All files of a load together may go 32 MiB beyond.
    /// Indented JSON grows ten- to fiftyfold.
    pub growth: u64,
    /// Number of files and members of archives that are opened; a million by default.
    pub files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { decompressed: DECOMPRESSED, growth: GROWTH, files: FILES }
    }
}

/// The remaining budget of one load.
#[derive(Clone, Debug)]
pub(in crate::source) struct Budget {
    left: Arc<AtomicU64>,
    decompressed: u64,
    growth: u64,
    /// Bytes that files may still grow beyond their limits.
    beyond: Arc<AtomicU64>,
    progress: Arc<Progress>,
}

impl Budget {
    pub(in crate::source) fn new(limits: &Limits, progress: Arc<Progress>) -> Self {
        let Limits { decompressed, growth, .. } = *limits;
        Self { left: Arc::new(decompressed.into()), decompressed, growth, beyond: Arc::new(GROWTH_BEYOND.into()), progress }
    }

    /// Returns an unlimited budget, for reading a known object again.
    pub(in crate::source) fn unlimited() -> Self {
        Self::new(&Limits { decompressed: u64::MAX, growth: u64::MAX, files: usize::MAX }, Arc::default())
    }

    /// Returns the progress of the load.
    pub(in crate::source) fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(in crate::source) fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Returns a decompressed stream that is charged to the budget. `compressed` is counted below the decompressor.
    pub(in crate::source) fn meter<R>(&self, inner: R, compressed: Compressed) -> Metered<R> {
        Metered { inner, out: 0, beyond: 0, compressed, budget: self.clone() }
    }
}

/// The compressed size of a stream.
#[derive(Clone, Debug)]
pub(in crate::source) enum Compressed {
    /// Known in advance.
    Bytes(u64),
    /// Counted while it is read.
    Counted(Arc<AtomicU64>),
}

impl Compressed {
    fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => *bytes,
            Self::Counted(count) => count.load(Ordering::Relaxed),
        }
    }
}

/// Counts the bytes read through it.
pub(in crate::source) struct Counting<R> {
    pub(in crate::source) inner: R,
    pub(in crate::source) count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A stream charged to a budget; see [`Budget::meter`].
pub(in crate::source) struct Metered<R> {
    inner: R,
    out: u64,
    /// The bytes beyond the limit on growth, which were taken from the budget.
    beyond: u64,
    compressed: Compressed,
    budget: Budget,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let left = self.budget.left.load(Ordering::Relaxed);
        // One byte more than the rest of the budget distinguishes a file that ends there from one that goes on.
        let wanted = (out.len() as u64).min(left.saturating_add(1)) as usize;
        let read = self.inner.read(&mut out[..wanted])? as u64;
        if read > left {
            self.budget.left.store(0, Ordering::Relaxed);
            return Err(io::Error::other(format!("more than {} came out of compressed files", size(self.budget.decompressed))));
        }
        self.budget.left.fetch_sub(read, Ordering::Relaxed);
        self.out += read;
        let allowed = self.compressed.bytes().max(1).saturating_mul(self.budget.growth);
        let more = self.out.saturating_sub(allowed).saturating_sub(self.beyond);
        self.beyond += more;
        let take = |left: u64| left.checked_sub(more);
        if more > 0 && self.budget.beyond.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Err(io::Error::other(format!("it grows to more than {} times its compressed size", self.budget.growth)));
        }
        Ok(read as usize)
    }
}

/// Returns `64 GiB`, in the largest unit that is exact.
pub(in crate::source) fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(limits: &Limits, bytes: u64, compressed: u64) -> Result<u64, String> {
        let budget = Budget::new(limits, Arc::default());
        let mut reader = budget.meter(io::repeat(b'x').take(bytes), Compressed::Bytes(compressed));
        io::copy(&mut reader, &mut io::sink()).map_err(|e| e.to_string())
    }

    #[test]
    fn what_goes_beyond_a_limit_ends_with_its_name() {
        let limits = Limits { decompressed: 1000, ..Limits::default() };
        assert_eq!(drain(&limits, 1000, 1), Ok(1000));
        assert_eq!(drain(&limits, 1001, 1), Err("more than 1000 bytes came out of compressed files".into()));
        let limits = Limits { decompressed: u64::MAX, growth: 10, ..Limits::default() };
        let most = GROWTH_BEYOND + 10_000;
        assert_eq!(drain(&limits, most, 1000), Ok(most));
        assert_eq!(drain(&limits, most + 1, most / 10 + 1), Ok(most + 1));
        assert_eq!(drain(&limits, most + 1, 1000), Err("it grows to more than 10 times its compressed size".into()));
    }

    #[test]
    fn all_streams_share_one_budget() {
        let budget = Budget::new(&Limits { decompressed: 10, ..Limits::default() }, Arc::default());
        for (bytes, fits) in [(4, true), (6, true), (1, false), (0, true)] {
            let mut reader = budget.meter(io::repeat(0).take(bytes), Compressed::Bytes(1));
            assert_eq!(io::copy(&mut reader, &mut io::sink()).is_ok(), fits, "{bytes}");
        }
        assert!(budget.is_spent());
        assert_eq!((size(64 << 30), size(3 << 20), size(1025)), ("64 GiB".into(), "3 MiB".into(), "1025 bytes".into()));
    }
}
