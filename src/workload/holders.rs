//! Who owns a scheduling gate.

use serde::Serialize;

/// A program that holds pods back or schedules them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display)]
pub enum Holder {
    /// Kueue.
    Kueue,
    /// Volcano.
    Volcano,
    /// Apache YuniKorn.
    YuniKorn,
    /// KAI Scheduler, or Run:ai.
    #[strum(to_string = "KAI Scheduler")]
    Kai,
    /// Koordinator.
    Koordinator,
    /// LeaderWorkerSet.
    LeaderWorkerSet,
    /// JobSet.
    JobSet,
}

/// The ends of prefixes of gates, and their owners.
const GATES: &[(&str, Holder)] = &[
    ("kueue.x-k8s.io", Holder::Kueue),
    ("volcano.sh", Holder::Volcano),
    ("yunikorn.apache.org", Holder::YuniKorn),
    ("kai.scheduler", Holder::Kai),
    ("run.ai", Holder::Kai),
    ("koordinator.sh", Holder::Koordinator),
    ("leaderworkerset.x-k8s.io", Holder::LeaderWorkerSet),
    ("jobset.x-k8s.io", Holder::JobSet),
];

/// Returns the owner of a scheduling gate, by its prefix.
pub fn holder_of_gate(gate: &str) -> Option<Holder> {
    let (prefix, _) = gate.split_once('/')?;
    let is_of = |end: &str| prefix == end || prefix.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    GATES.iter().find(|(end, _)| is_of(end)).map(|(_, holder)| *holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_reported_by_prefix() {
        assert_eq!(holder_of_gate("kueue.x-k8s.io/admission"), Some(Holder::Kueue));
        assert_eq!(holder_of_gate("scheduling.volcano.sh/queue"), Some(Holder::Volcano));
        assert_eq!(holder_of_gate("notkueue.x-k8s.io/admission"), None);
        assert_eq!(holder_of_gate("mine"), None);
    }
}
