//! Findings: what is learnt by running the engine again, or by comparing its decisions with others. `report` writes them.

mod agreement;
mod attempts;
mod dump_diff;
mod eviction_story;
mod evictions;
pub(crate) mod fixes;
#[cfg(test)]
mod group_tests;
mod known;
mod missing;
mod moments;
mod next_victim;
mod odds;
mod overview;
mod release;
mod scheduler_log;
mod steps;
mod tie_break;
mod volume_places;
mod watch;
mod when;
mod why;
pub(crate) mod workload;

pub use agreement::{
    Agreements, LastReported, MatchKind, Preempted, SchedulerComparer, SchedulerEvents, SchedulerMatch, SeenChange, changes_decisions,
    differences, pending, preempted,
};
pub use attempts::{JudgedAttempt, JudgedAttempts};
pub use dump_diff::{
    Because, Brief, ChangeKind, Differs, DumpDiff, DumpState, FieldChange, FieldPath, How, NotCompared, Now, ObjectChange, PodDiff, Since,
    Step, written,
};
pub use eviction_story::{EvictionMatch, EvictionStory, ListedLeaving, SeenLeaving, last_leaving, leavings};
pub use evictions::{BudgetEvictions, NodeEvictions, Stop, evictions};
pub(crate) use fixes::unknown_policies_text;
pub use fixes::{ConstraintReport, FixReport, FixSource, FixesReport, Originals, fix_kinds};
pub use known::{Known, KnownBudget};
pub use missing::{Missing, budgets_unknown_because, capitalized, missing_clause, missing_sentences, unread_sentences};
pub use next_victim::{NextVictim, NoVictim, by_importance};
pub use odds::{is_chance, odds, odds_cell, odds_in_words, with_odds};
pub(crate) use overview::is_zero;
pub use overview::{
    Cause, CauseFix, CauseReport, FixSearch, Overview, PreemptionHelp, Stage, WaitReason, causes, short_causes, with_short,
};
pub use release::{ReleaseReport, decision_parts, run_parts};
pub(crate) use scheduler_log::is_shown;
pub use scheduler_log::{
    AttemptMatch, CacheDifference, ComparedAttempt, ComparedNode, Difference, Gap, LogMark, LogReport, Moment, Replay,
};
pub use tie_break::{Elimination, WriteTimes, elimination_of, eliminations, plain_value, value_ends, victims_in_sum};
pub use volume_places::{VolumeConflict, VolumePlace, volume_places};
pub use watch::{Happened, WatchEvent, Watched};
pub use when::{When, WhenInput};
pub use why::{Sentence, sentence, so_far, why, why_group, why_group_waits};
pub use workload::{RemedyReport, UnknownKind, VoiceReport, Voices, WorkloadCause, WorkloadFix, WorkloadReport, voices, voices_of_pods};
