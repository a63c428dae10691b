//! Who owns a scheduling gate or a scheduler's name.

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
    /// AWS Fargate.
    Fargate,
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

/// The names of schedulers, and their owners.
const SCHEDULERS: &[(&str, Holder)] = &[
    ("volcano", Holder::Volcano),
    ("yunikorn", Holder::YuniKorn),
    ("kai-scheduler", Holder::Kai),
    ("runai-scheduler", Holder::Kai),
    ("koord-scheduler", Holder::Koordinator),
    ("fargate-scheduler", Holder::Fargate),
];

/// Returns the owner of a scheduling gate, by its prefix.
pub fn holder_of_gate(gate: &str) -> Option<Holder> {
    let (prefix, _) = gate.split_once('/')?;
    let is_of = |end: &str| prefix == end || prefix.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    GATES.iter().find(|(end, _)| is_of(end)).map(|(_, holder)| *holder)
}

/// Returns the owner of a scheduler's name.
pub fn holder_of_scheduler(name: &str) -> Option<Holder> {
    SCHEDULERS.iter().find(|(known, _)| *known == name).map(|(_, holder)| *holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_reported_by_prefix_and_schedulers_by_name() {
        assert_eq!(holder_of_gate("kueue.x-k8s.io/admission"), Some(Holder::Kueue));
        assert_eq!(holder_of_gate("scheduling.volcano.sh/queue"), Some(Holder::Volcano));
        assert_eq!(holder_of_gate("notkueue.x-k8s.io/admission"), None);
        assert_eq!(holder_of_gate("mine"), None);
        assert_eq!(holder_of_scheduler("kai-scheduler").map(|h| h.to_string()).as_deref(), Some("KAI Scheduler"));
        assert_eq!(holder_of_scheduler("default-scheduler"), None);
    }
}
