//! The completeness of a source: objects read, objects left out, and the facts that stay unknown.

use crate::cluster::MissingReason;
use crate::output::Lines;
use crate::plural::{count, count_of, thousands};
use crate::source::{KindCount, Report};

/// Returns why objects of a kind were skipped: `2 unreadable, 1 superseded by a newer copy`.
fn skipped(count: &KindCount) -> String {
    let reasons = [
        (count.unreadable, "unreadable"),
        (count.nameless, "without a name"),
        (count.old_version, "of an API version that is not read"),
        (count.superseded, "superseded by a newer copy"),
    ];
    let reasons: Vec<String> = reasons.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
    reasons.join(", ")
}

/// Returns a number of objects of a kind: `1 Node`, `1,200 StorageClasses`.
fn objects(number: usize, kind: &str) -> String {
    if number == 1 {
        return format!("1 {kind}");
    }
    let number = thousands(number);
    match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ if kind.ends_with('s') => format!("{number} {kind}es"),
        _ => format!("{number} {kind}s"),
    }
}

/// Kinds that scheduling does not read, of which the short form names those with the most objects.
const NAMED_KINDS: usize = 4;

/// Returns the facts, one a line, most important first.
pub fn completeness(report: &Report) -> Lines {
    facts(report, true)
}

/// Returns the facts of [`completeness`], with the objects that scheduling does not read only counted, and the largest of their kinds named.
pub fn completeness_in_short(report: &Report) -> Lines {
    facts(report, false)
}

fn facts(report: &Report, lists_other_kinds: bool) -> Lines {
    let mut out = Lines::default();
    let read: Vec<String> = report.kinds.iter().filter(|(_, c)| c.read > 0).map(|(kind, c)| objects(c.read, &kind.to_string())).collect();
    out.line(format_args!("read: {}", if read.is_empty() { "nothing".to_owned() } else { read.join(", ") }));
    if !report.layout.0.is_empty() {
        out.line(format_args!("layout: {}", report.layout));
    }
    if let Some(version) = &report.server_version {
        out.line(format_args!("server version: {version}"));
    }
    for hint in &report.scheduler {
        out.line(format_args!("scheduler: {} ({})", hint.what, hint.place));
    }
    if report.events.read > 0 {
        out.line(format_args!("events: {} from schedulers about pods", report.events.read));
    }
    if report.events.skipped() > 0 {
        out.line(format_args!("skipped: {}: {}", objects(report.events.skipped(), "Event"), skipped(&report.events)));
    }
    for (kind, count) in report.kinds.iter().filter(|(_, c)| c.skipped() > 0) {
        out.line(format_args!("skipped: {}: {}", objects(count.skipped(), &kind.to_string()), skipped(count)));
    }
    for (kind, count) in &report.unread_kinds {
        out.line(format_args!("not read: {}", objects(*count, kind)));
    }
    if !report.other_kinds.is_empty() {
        let others = if lists_other_kinds { all_other_kinds(report) } else { other_kinds_in_short(report) };
        out.line(format_args!("not read by scheduling: {others}"));
    }
    gaps(report, &mut out);
    match (report.taken, report.taken_by_name) {
        (Some(taken), _) => {
            out.line(format_args!("taken: {taken}"));
        }
        (None, Some(taken)) => {
            out.line(format_args!("taken: {taken}, from its name, in an unknown time zone"));
        }
        (None, None) => {}
    }
    if let Some(newest) = report.newest {
        out.line(format_args!("newest time: {newest}"));
    }
    out
}

/// Adds what may be missing.
fn gaps(report: &Report, out: &mut Lines) {
    if report.unknown > 0 {
        let pieces = count_of(report.unknown, "object without a kind", "objects without a kind");
        out.line(format_args!("unknown: {pieces}"));
    }
    if report.left_out > 0 {
        let files = count_of(report.left_out, "file, member or folder was", "files, members or folders were");
        out.line(format_args!("left out: {files} not read, or not to the end"));
    }
    for (kind, _) in report.missing().iter().filter(|(_, why)| *why == MissingReason::Incomplete) {
        out.line(format_args!("in part: {kind}: some may not have been read"));
    }
    for absence in &report.absent {
        out.line(format_args!("missing: {}: {}", absence.kind, absence.effect));
    }
    if report.namespaces_with_pods * 2 < report.namespaces {
        out.line(format_args!(
            "pods: found in {} of {} namespaces; if the dump lacks pods of the others, node usage is understated",
            report.namespaces_with_pods, report.namespaces
        ));
    }
    if !report.pods_on_unknown_nodes.is_empty() {
        out.line(format_args!("ignored: {}", pods_on_unknown_nodes(report)));
    }
}

/// Returns the kinds that scheduling does not read, with the number of objects of each.
fn all_other_kinds(report: &Report) -> String {
    // Their names come from the source, so their plurals are not known.
    let kinds: Vec<String> = report.other_kinds.iter().map(|(kind, count)| format!("{kind} {}", thousands(*count))).collect();
    kinds.join(", ")
}

/// Returns the number of objects that scheduling does not read, and the kinds with the most.
fn other_kinds_in_short(report: &Report) -> String {
    let number: usize = report.other_kinds.values().sum();
    let mut most: Vec<(&String, &usize)> = report.other_kinds.iter().collect();
    most.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let named: Vec<&str> = most.iter().take(NAMED_KINDS).map(|(kind, _)| kind.as_str()).collect();
    let more = if most.len() > named.len() { ", ..." } else { "" };
    format!("{} of {} ({}{more})", objects(number, "object"), count(most.len(), "kind"), named.join(", "))
}

fn pods_on_unknown_nodes(report: &Report) -> String {
    let pods: usize = report.pods_on_unknown_nodes.values().sum();
    let nodes = report.pods_on_unknown_nodes.len();
    let fate = match (report.unread_nodes_are_gone(), nodes) {
        (true, 1) => "that does not exist (deleted)",
        (true, _) => "that do not exist (deleted)",
        (false, _) => "not in the source",
    };
    format!("{} on {} {fate}", count(pods, "pod"), count(nodes, "node"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_for_skipping_is_counted() {
        let count = KindCount { read: 9, unreadable: 2, nameless: 0, old_version: 1, superseded: 70 };
        assert_eq!(skipped(&count), "2 unreadable, 1 of an API version that is not read, 70 superseded by a newer copy");
    }

    #[test]
    fn kinds_have_their_plural() {
        use strum::IntoEnumIterator as _;
        let plurals: Vec<String> = crate::cluster::Kind::iter().map(|kind| objects(2, &kind.to_string())).collect();
        for odd in ["2 StorageClasses", "2 PriorityClasses", "2 DeviceClasses", "2 CSIStorageCapacities", "2 Nodes", "2 ResourceSlices"] {
            assert!(plurals.iter().any(|plural| plural == odd), "{odd}: {plurals:?}");
        }
        assert_eq!(
            (objects(1, "Pod"), objects(12_345, "Pod"), objects(0, "Gateway")),
            ("1 Pod".into(), "12,345 Pods".into(), "0 Gateways".into())
        );
    }

    #[test]
    fn kinds_that_scheduling_does_not_read_are_listed_or_counted() {
        let mut report = Report::default();
        report.other_kinds = [("ConsolePlugin", 3), ("Deployment", 1200)].map(|(kind, count)| (kind.to_owned(), count)).into();
        let line = |lines: Lines| lines.iter().find(|line| line.starts_with("not read by")).map(str::to_owned);
        assert_eq!(line(completeness(&report)).as_deref(), Some("not read by scheduling: ConsolePlugin 3, Deployment 1,200"));
        assert_eq!(
            line(completeness_in_short(&report)).as_deref(),
            Some("not read by scheduling: 1,203 objects of 2 kinds (Deployment, ConsolePlugin)")
        );
    }
}
