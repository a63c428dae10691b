//! Decisions as text and as data: one sentence, plain text, JSON, YAML, Markdown, HTML.

mod agreement;
mod attempts_page;
mod comparison;
mod completeness;
mod decision;
mod details;
mod devices;
mod documents;
mod dump_diff;
mod eviction_page;
mod extenders;
mod fixes;
mod formats;
mod info;
mod known;
mod manifest;
mod metrics;
mod odds;
mod operation;
mod overview;
mod page;
mod placed;
mod pod_group;
mod releases;
mod scheduler_log;
mod schema;
mod sections;
mod story;
mod text;
mod ticket;
mod whatif;
mod workload;

pub use attempts_page::attempts_document;
pub use comparison::{comparison, upgrade};
pub use completeness::{completeness, completeness_in_short};
pub use decision::*;
pub use devices::{DeviceLine, node_devices};
pub use documents::workload_document;
pub use eviction_page::{eviction_document, leavings_document};
pub use extenders::{BindReport, ExtenderReport};
pub use formats::{Answer, FORMATS, Format, FormatError, SCHEMA_VERSION, WriteComparedPods, WriteOperation};
pub use info::Info;
pub use manifest::ManifestReport;
pub use odds::OddsReport;
pub use operation::{
    BackoffReport, BeforeOperation, BriefOperation, MoveReport, OperationLine, OperationReport, QueueLengths, QueuesReport, SamplingReport,
    UnschedulableReport,
};
pub use overview::causes_text;
pub use page::page;
pub use placed::{AgainReport, EvictionReport, PlacedReport, recorded_preemptions};
pub use pod_group::{ConditionReport, GroupReport, MemberReport, PlacementReport, group_document, group_text};
pub use releases::{PodComparison, ReleaseComparison, Releases};
pub use schema::{AnswerSchema, SCHEMAS};
pub use story::{PodStory, Stories, stories_document};
pub use text::{decided_by, text};
pub use ticket::{Origin, PodFacts, Reported, Ticket, shell_line};
pub use whatif::{WhatIfReport, note_sentence};
pub use workload::voices_lines;
