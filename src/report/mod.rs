//! Decisions as text and as data: one sentence, plain text, JSON, YAML, Markdown.

mod agreement;
mod comparison;
mod completeness;
mod decision;
mod devices;
mod documents;
mod evictions;
mod extenders;
mod fixes;
mod form;
#[cfg(test)]
mod group_tests;
mod info;
mod known;
mod missing;
mod moments;
mod odds;
mod operation;
mod overview;
mod page;
mod pod_group;
mod release;
mod releases;
mod scheduler_log;
mod story;
mod text;
mod ticket;
mod tie_break;
mod whatif;
mod when;
mod why;
mod workload;

pub use agreement::{
    Agreements, LastReported, MatchKind, Preempted, SchedulerComparer, SchedulerEvents, SchedulerMatch, SeenChange, changes_decisions,
    differences, pending, preempted,
};
pub use comparison::{comparison, upgrade};
pub use completeness::{completeness, completeness_in_short};
pub use decision::*;
pub use devices::{DeviceLine, node_devices};
pub use evictions::{BudgetEvictions, NodeEvictions, Stop, evictions};
pub use extenders::{BindReport, ExtenderReport};
pub use fixes::{ConstraintReport, FixReport, FixesReport, Originals};
pub use form::{Answer, FORMATS, Format, FormatError, WriteComparedPods, WriteOperation};
pub use info::Info;
pub use known::{Known, KnownBudget};
pub use missing::{Missing, budgets_unknown_because, missing_sentences, unread_sentences};
pub use odds::{OddsReport, is_chance, odds, odds_cell, odds_in_words};
pub use operation::{BackoffReport, BeforeOperation, MoveReport, OperationReport, QueuesReport, SamplingReport, UnschedulableReport};
pub use overview::{
    Cause, CauseFix, CauseReport, FixSearch, Overview, PreemptionHelp, Stage, WaitReason, causes, causes_text, short_causes, with_short,
};
use page::body;
pub use page::page;
pub use pod_group::{ConditionReport, GroupReport, MemberReport, PlacementReport, group_text};
pub use release::{ReleaseReport, decision_parts, run_parts};
pub use releases::{PodComparison, ReleaseComparison, Releases};
pub use scheduler_log::{Beside, BesideKind, CacheDifference, CachedNodeBeside, Difference, Gap, LogMark, LogReport, Moment, Replay};
pub use story::{PodStory, Stories, stories, stories_text};
pub use text::{decided_by, text};
pub use ticket::{Origin, Reported, Ticket, shell_line};
pub use tie_break::{Elimination, WriteTimes, elimination_of, eliminations, plain_value, value_ends};
pub use whatif::WhatIfReport;
pub use when::{When, WhenInput};
pub use why::{Sentence, sentence, so_far, why, why_group, why_group_waits};
pub use workload::{RemedyReport, UnknownKind, VoiceReport, WorkloadCause, WorkloadFix, WorkloadReport, voices_in_short, voices_lines};
