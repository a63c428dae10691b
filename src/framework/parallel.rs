//! Work that is spread over the cores; stands where upstream has `pkg/scheduler/framework/parallelize`.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Work on fewer nodes than this is not worth spreading over cores.
pub const PARALLEL_ABOVE: usize = 256;
/// Parts for each thread, so that one which comes late or is held up still finds its share.
const PARTS_PER_THREAD: usize = 3;
/// Fewer items than this are not worth taking apart.
const SMALLEST_PART: usize = 32;

/// Does the work on consecutive parts of a range; the results stand in the order of the parts.
///
/// The calling thread takes parts like all others, so that little is lost where the others come late. Which thread
/// takes which part is left to chance, and so must not matter to the work.
pub fn in_parts<R: Send>(range: Range<usize>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads();
    let size = range.len().div_ceil(threads * PARTS_PER_THREAD).max(SMALLEST_PART);
    let parts = range.len().div_ceil(size);
    if threads == 1 || parts <= 1 {
        return vec![work(range)];
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(parts));
    let take = || loop {
        let part = next.fetch_add(1, Ordering::Relaxed);
        if part >= parts {
            return;
        }
        let from = range.start + part * size;
        let result = work(from..(from + size).min(range.end));
        done.lock().unwrap_or_else(PoisonError::into_inner).push((part, result));
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..threads.min(parts) {
            scope.spawn(|_| take());
        }
        take();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(part, _)| *part);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_range_in_order() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            for range in [0..0, 7..8, 0..SMALLEST_PART, 3..100, 0..5000] {
                let (parts, inside) = (in_parts(range.clone(), |part| part), pool.install(|| in_parts(range.clone(), |part| part)));
                for parts in [parts, inside] {
                    assert_eq!(parts.concat(), range.clone().collect::<Vec<usize>>());
                }
            }
        }
    }

    trait Concat {
        fn concat(self) -> Vec<usize>;
    }

    impl Concat for Vec<Range<usize>> {
        fn concat(self) -> Vec<usize> {
            self.into_iter().flatten().collect()
        }
    }
}
