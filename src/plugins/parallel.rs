//! Work over many nodes that gives one answer on any number of cores; stands where upstream uses its `Parallelizer`
//! (`pkg/scheduler/framework/parallelize`).

use rayon::prelude::*;

/// From how many items on the work is spread over the cores; below, starting threads costs more than it saves.
const WORTH_SPREADING: usize = 256;

/// Applies `f` to every item; the answers stand in the order of the items.
pub(super) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if items.len() > WORTH_SPREADING {
        items.par_iter().with_min_len(WORTH_SPREADING / 8).map(f).collect()
    } else {
        items.iter().map(f).collect()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn answers_keep_the_order_of_the_items() {
        for len in [0, 3, 256, 257, 5000] {
            let items: Vec<usize> = (0..len).collect();
            assert_eq!(super::map(&items, |i| i * 2), items.iter().map(|i| i * 2).collect::<Vec<_>>());
        }
    }
}
