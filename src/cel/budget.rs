//! A step budget in addition to the CEL cost. Lists and maps may contain the same list many times, so comparing values
//! can take far more work than cel-go charges for.

use std::cell::Cell;

/// Steps of comparing, showing and copying that one compilation or evaluation may take.
const STEPS: u64 = 2_000_000;
/// Bytes of text that are read, and elements that are copied, in the time of one step.
const BYTES_PER_STEP: usize = 256;
const COPIES_PER_STEP: usize = 16;
/// Maximum length of a constructed list, in elements, or text, in bytes.
pub(super) const MAX_ELEMENTS: usize = 1 << 20;
pub(super) const MAX_BYTES: usize = 16 << 20;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(STEPS) };
}

/// Resets the budget.
pub(super) fn reset() {
    LEFT.set(STEPS);
}

/// Spends steps; returns false if none are left.
pub(super) fn spend(steps: u64) -> bool {
    let left = LEFT.get().saturating_sub(steps);
    LEFT.set(left);
    left > 0
}

/// Spends the steps of reading or copying a number of bytes of text. Texts as short as a device's attributes cost nothing.
pub(super) fn spend_bytes(bytes: usize) -> bool {
    spend((bytes / BYTES_PER_STEP) as u64)
}

/// Spends the steps of copying a number of elements of a list.
pub(super) fn spend_copies(elements: usize) -> bool {
    spend((elements / COPIES_PER_STEP) as u64)
}

/// Whether the budget is used up.
pub(super) fn is_spent() -> bool {
    LEFT.get() == 0
}
