//! Reads which plugins rejected a pod from the text of its `PodScheduled` condition or of a `FailedScheduling` event,
//! as `FitError.Error` in `pkg/scheduler/framework/types.go` writes it.

use crate::framework::{PluginSet, ReasonKind, read_reason};

/// Plugins that rejected a pod, as far as a text shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejectors {
    /// Plugins whose reasons the text contains. Only the first plugin that rejects a node shows, as in the queue.
    pub plugins: PluginSet,
    /// Reasons that no plugin of this version writes: those of out-of-tree plugins or other versions. Without
    /// duplicates.
    pub unknown: Vec<String>,
}

/// Longest message that is read, in bytes: the API's limit on the message of a condition.
pub const LONGEST_MESSAGE: usize = 32 << 10;

/// Whether a text is a message of `PostFilter` plugins, which follows the reasons and names no rejector.
fn is_post_filter(text: &str) -> bool {
    use ReasonKind::{ClaimDeallocated, ClaimDeleted, NoClaimsToDeallocate, StillNotSchedulable};
    text.starts_with("preemption: ")
        || read_reason(text).is_some_and(|r| matches!(r.kind, ClaimDeallocated | ClaimDeleted | NoClaimsToDeallocate | StillNotSchedulable))
}

impl Rejectors {
    /// Reads the text of a failed attempt; `None` unless it has the form of a rejection by plugins (`0/3 nodes are
    /// available: ...`). Of a text that is longer than [`LONGEST_MESSAGE`] the reasons within that are read.
    pub fn of(message: &str) -> Option<Self> {
        let end = (0..=LONGEST_MESSAGE.min(message.len())).rev().find(|at| message.is_char_boundary(*at));
        let read = &message[..end.unwrap_or_default()];
        let message = if read.len() < message.len() { read.rsplit_once(", ").map_or(read, |(whole, _)| whole) } else { read };
        let (count, rest) = message.split_once(" nodes are available:")?;
        let of_all = count.strip_prefix("0/")?;
        if of_all.is_empty() || !of_all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let rest = rest.trim_start();
        let reasons = rest.split_once(". ").map_or(rest, |(reasons, _)| reasons);
        let reasons = reasons.strip_suffix('.').unwrap_or(reasons);
        let mut found = Self::default();
        if !is_post_filter(reasons) {
            self::reasons(reasons).for_each(|(_, text)| found.add(text));
        }
        Some(found)
    }

    fn add(&mut self, text: &str) {
        let plugins = read_reason(text).and_then(|reason| reason.plugins());
        match plugins {
            Some(plugins) => self.plugins = self.plugins.union(plugins),
            None if text.is_empty() || self.unknown.iter().any(|u| u == text) => {}
            None => self.unknown.push(text.to_owned()),
        }
    }
}

/// Returns the parts of `3 reason, 1 other reason` with their counts. A text that does not begin with a count is one
/// reason without a count. A comma within a reason is not followed by a count.
pub fn reasons(text: &str) -> impl Iterator<Item = (Option<u32>, &str)> {
    let mut rest = (!text.is_empty()).then_some(text);
    let with_counts = counted(text).is_some();
    std::iter::from_fn(move || {
        let (count, text) = rest.take().map(|text| counted(text).map_or((None, text), |(count, text)| (Some(count), text)))?;
        let end = text.match_indices(", ").map(|(at, _)| at).find(|at| with_counts && counted(&text[at + 2..]).is_some());
        Some(match end {
            Some(at) => {
                rest = Some(&text[at + 2..]);
                (count, &text[..at])
            }
            None => (count, text),
        })
    })
}

/// Splits a text into a leading count and the rest; a count that overflows becomes the maximum.
fn counted(text: &str) -> Option<(u32, &str)> {
    let (count, reason) = text.split_once(' ')?;
    (!count.is_empty() && count.bytes().all(|b| b.is_ascii_digit())).then(|| (count.parse().unwrap_or(u32::MAX), reason))
}

#[cfg(test)]
mod tests;
