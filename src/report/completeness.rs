//! What a source held, what was left out of it, and what that leaves unknown.

use std::fmt::Write as _;

use crate::plural::count_of;
use crate::source::Report;

/// One fact a line, most important first.
pub fn completeness(report: &Report) -> String {
    let mut out = String::new();
    let read: Vec<String> = report.kinds.iter().filter(|(_, c)| c.read > 0).map(|(kind, c)| format!("{} {kind}", c.read)).collect();
    let _ = writeln!(out, "read: {}", if read.is_empty() { "nothing".to_owned() } else { read.join(", ") });
    if !report.layout.0.is_empty() {
        let _ = writeln!(out, "layout: {}", report.layout);
    }
    if let Some(version) = &report.server_version {
        let _ = writeln!(out, "server version: {version}");
    }
    for hint in &report.scheduler {
        let _ = writeln!(out, "scheduler: {} ({})", hint.what, hint.place);
    }
    if report.events.read > 0 {
        let _ = writeln!(out, "events: {} of schedulers about pods", report.events.read);
    }
    if report.events.skipped() > 0 {
        let _ = writeln!(out, "skipped: {} Event", report.events.skipped());
    }
    for (kind, count) in report.kinds.iter().filter(|(_, c)| c.skipped() > 0) {
        let _ = writeln!(out, "skipped: {} {kind}", count.skipped());
    }
    for (kind, count) in &report.unread_kinds {
        let _ = writeln!(out, "not looked at: {count} {kind}");
    }
    if !report.other_kinds.is_empty() {
        let others: Vec<String> = report.other_kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let _ = writeln!(out, "not read by a scheduler: {}", others.join(", "));
    }
    if report.unknown > 0 {
        let _ =
            writeln!(out, "unknown: {}", count_of(report.unknown, "piece of text that names no kind", "pieces of text that name no kind"));
    }
    for absence in &report.absent {
        let _ = writeln!(out, "missing: {}: {}", absence.kind, absence.effect);
    }
    if report.namespaces_with_pods * 2 < report.namespaces {
        let _ = writeln!(
            out,
            "pods: in {} of {} namespaces; where those of the others were not taken, node usage is understated",
            report.namespaces_with_pods, report.namespaces
        );
    }
    if !report.pods_on_unknown_nodes.is_empty() {
        let pods: usize = report.pods_on_unknown_nodes.values().sum();
        let _ = writeln!(
            out,
            "{pods} pods are on {} nodes that are not in the source: they take part in nothing",
            report.pods_on_unknown_nodes.len()
        );
    }
    match (report.taken, report.taken_by_name) {
        (Some(taken), _) => {
            let _ = writeln!(out, "taken: {taken}");
        }
        (None, Some(taken)) => {
            let _ = writeln!(out, "taken: {taken} by its name, in an unknown time zone");
        }
        (None, None) => {}
    }
    if let Some(newest) = report.newest {
        let _ = writeln!(out, "newest time: {newest}");
    }
    out
}
