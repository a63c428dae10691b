//! Counts operations in tests: strings that are compared or read, and objects and nodes that are walked over.
//!
//! Nearly all work is done on these, so their number grows as the work does, and unlike time it is the same in every run.

#[cfg(test)]
thread_local! {
    static COUNT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts an operation of this thread in tests; does nothing elsewhere.
#[inline]
pub(crate) fn operation() {
    #[cfg(test)]
    COUNT.with(|count| count.set(count.get() + 1));
}

/// Returns the result of some work with the number of its operations. Work that it gives to the thread pool is done on one thread and
/// counted.
#[cfg(test)]
pub(crate) fn counted<R: Send>(work: impl FnOnce() -> R + Send) -> (R, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let before = COUNT.get();
        let result = work();
        (result, COUNT.get() - before)
    })
}
