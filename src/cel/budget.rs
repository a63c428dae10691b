//! A budget of steps besides the cost: values and their comparisons can be far larger than what cel-go charges for, since
//! lists and maps may hold the same list many times over.

use std::cell::Cell;

/// Steps that one compilation or one evaluation may take in comparing, showing and copying.
const STEPS: u64 = 2_000_000;
/// The most elements of a list that is put together, and bytes of a text.
pub(super) const MAX_ELEMENTS: usize = 1 << 20;
pub(super) const MAX_BYTES: usize = 16 << 20;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(STEPS) };
}

/// Begins anew.
pub(super) fn reset() {
    LEFT.set(STEPS);
}

/// Takes steps; false where none are left.
pub(super) fn spend(steps: u64) -> bool {
    let left = LEFT.get().saturating_sub(steps);
    LEFT.set(left);
    left > 0
}

/// Whether all steps are taken.
pub(super) fn is_spent() -> bool {
    LEFT.get() == 0
}
