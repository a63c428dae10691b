//! Spreads work over the cores where that pays; the counterpart of `pkg/scheduler/framework/parallelize`.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Items that run on the calling thread first; their time decides whether the rest is spread.
const PROBE: usize = 64;
/// Estimated single-thread time below which the rest stays on the calling thread.
///
/// Two threads gain at most half of the time. They lose the time to wake a sleeping thread, to fetch the nodes into
/// another core's cache, and to free memory that another thread allocated. With all filters on 5,000 nodes, which one
/// thread does in 0.7 ms, the loss is larger than the gain.
const WORTH_SPREADING: Duration = Duration::from_millis(2);
/// Parts per thread, so that a thread that starts late or is delayed still finds work.
const PARTS_PER_THREAD: usize = 3;
/// Smallest number of items in a part.
const SMALLEST_PART: usize = 32;

/// Runs the work on consecutive parts of a range and returns the results in the order of the parts.
///
/// The number of parts and their threads depend on timing, so the work must not depend on them.
pub fn in_parts<R: Send>(range: Range<usize>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    if rayon::current_num_threads() == 1 || range.len() <= PROBE {
        return vec![work(range)];
    }
    let (probe, rest) = (range.start..range.start + PROBE, range.start + PROBE..range.end);
    let started = Instant::now();
    let mut parts = vec![work(probe)];
    if is_worth_spreading(started, &rest) {
        parts.extend(spread(rest, work));
    } else {
        parts.push(work(rest));
    }
    parts
}

/// Runs the work on every item of a range and passes the results to `take` in order, until `take` breaks.
///
/// Items after the break may have run already; their results are dropped.
pub fn in_order<T: Send, B>(
    range: Range<usize>,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let alone = if rayon::current_num_threads() == 1 { range.end } else { range.end.min(range.start + PROBE) };
    let (probe, rest) = (range.start..alone, alone..range.end);
    let started = Instant::now();
    for i in probe {
        take(i, work(i))?;
    }
    if !rest.is_empty() && is_worth_spreading(started, &rest) {
        let parts = spread(rest.clone(), |part| part.map(&work).collect::<Vec<T>>());
        for (i, result) in rest.zip(parts.into_iter().flatten()) {
            take(i, result)?;
        }
    } else {
        for i in rest {
            take(i, work(i))?;
        }
    }
    ControlFlow::Continue(())
}

/// Whether the rest is likely to take long enough. `started` is the time at which the first [`PROBE`] items began.
fn is_worth_spreading(started: Instant, rest: &Range<usize>) -> bool {
    started.elapsed().as_nanos() * rest.len() as u128 >= WORTH_SPREADING.as_nanos() * PROBE as u128
}

/// Runs the work in parts on all threads. The calling thread takes parts too, so that little is lost if the others
/// start late.
fn spread<R: Send>(range: Range<usize>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads();
    let size = range.len().div_ceil(threads * PARTS_PER_THREAD).max(SMALLEST_PART);
    let parts = range.len().div_ceil(size);
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

    /// Ranges with work on each item that is not worth spreading, and that is.
    const CASES: [(Range<usize>, Duration); 8] = [
        (0..0, Duration::ZERO),
        (7..8, Duration::ZERO),
        (0..PROBE, Duration::ZERO),
        (3..100, Duration::ZERO),
        (0..5000, Duration::ZERO),
        (0..PROBE + 1, Duration::from_millis(1)),
        (3..100, Duration::from_micros(200)),
        (0..800, Duration::from_micros(10)),
    ];

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    }

    #[test]
    fn the_parts_are_the_range_in_order() {
        for threads in [1, 2, 5] {
            for (range, each) in CASES {
                let work = |part: Range<usize>| {
                    std::thread::sleep(each * part.len() as u32);
                    part
                };
                let parts = pool(threads).install(|| in_parts(range.clone(), work));
                if threads > 1 && each > Duration::ZERO && range.len() > PROBE + SMALLEST_PART {
                    assert!(parts.len() > 2, "long work is spread");
                }
                assert_eq!(parts.into_iter().flatten().collect::<Vec<usize>>(), range.collect::<Vec<usize>>());
            }
        }
    }

    #[test]
    fn results_come_in_order_until_enough() {
        for threads in [1, 2, 5] {
            for (range, each) in CASES {
                for enough in [1, 40, 70, 10_000] {
                    let work = |i: usize| {
                        std::thread::sleep(each);
                        i * 10
                    };
                    let mut taken = Vec::new();
                    let end = pool(threads).install(|| {
                        in_order(range.clone(), work, |i, result| {
                            assert_eq!(result, i * 10);
                            taken.push(i);
                            if taken.len() == enough { ControlFlow::Break(i) } else { ControlFlow::Continue(()) }
                        })
                    });
                    assert_eq!(taken, range.clone().take(enough).collect::<Vec<usize>>());
                    assert_eq!(end.is_break(), range.len() >= enough);
                }
            }
        }
    }
}
