//! How many decisions about pods a number of steps is enough for.

/// Pods that share a decision which take together as many steps as one: what was reported about each is compared.
const SHARE_OF_ALIKE: u64 = 16;

/// Returns how many pods, from the first on, may be decided in a number of steps; at least one, if there are any, and all where that is
/// [`u64::MAX`]. Pods that follow one another and are alike share a decision, which takes the steps of its first pod.
pub(super) fn within_steps<T>(pods: &[T], is_alike: impl Fn(&T, &T) -> bool, steps_of: impl Fn(&T) -> u64, mut steps: u64) -> usize {
    if steps == u64::MAX {
        return pods.len();
    }
    let mut decided = 0;
    for alike in pods.chunk_by(is_alike) {
        let whole = steps_of(&alike[0]);
        for share in std::iter::once(1).chain(std::iter::repeat_n(SHARE_OF_ALIKE, alike.len() - 1)) {
            if steps == 0 {
                return decided;
            }
            steps = steps.saturating_sub(whole / share);
            decided += 1;
        }
    }
    decided
}
