//! Tests of `excerpt`.

use super::*;
use crate::scheduler_log::{FileFacts, Reader, SchedulerLog};

const LOG: &str = "2026-11-21T01:00:00.25Z I1121 01:00:00.250000       1 a.go:1] \"Using component config\" config=<\n\
        2026-11-21T01:00:00.25Z \tkind: KubeSchedulerConfiguration\n\
        2026-11-21T01:00:00.25Z  >\n\
        2026-11-21T01:00:00.30Z I1121 01:00:00.300000       1 a.go:1] \"Listening\" secret=<\n\
        2026-11-21T01:00:00.30Z \tkind: KubeSchedulerConfiguration\n\
        2026-11-21T01:00:00.30Z  >\n\
        2026-11-21T01:00:01.25Z I1121 01:00:01.250000       1 a.go:1] \"Serving securely on [::]:10259\"\n\
        2026-11-21T01:00:02.25Z I1121 01:00:02.250000       1 a.go:1] \"Attempting to schedule pod\" pod=\"shop/web\"\n\
        2026-11-21T01:00:03.25Z I1121 01:00:03.250000       1 a.go:1] \"Unable to schedule pod; no fit; waiting\" pod=\"shop/web\" err=\"0/1 nodes are available: 1 Insufficient cpu.\"\n\
        2026-11-21T01:00:03.50Z I1121 01:00:03.500000       1 a.go:1] \"Pod moved to an internal scheduling queue\" pod=\"shop/web\" event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\" schedulingCycle=1 hint=0 unschedulable plugins={\"NodeResourcesFit\":{}}\n";

fn read(text: &[u8]) -> SchedulerLog {
    let mut reader = Reader::default();
    reader.file("log", &FileFacts::default(), &mut &*text, &mut |_| true);
    reader.finish()
}

#[test]
fn lines_that_a_reader_understands_are_kept_however_the_log_is_cut() {
    let mut whole = Vec::new();
    Excerpt::default().take(LOG.as_bytes(), &mut whole);
    let kept = String::from_utf8(whole.clone()).unwrap();
    assert!(!kept.contains("Listening") && !kept.contains("Serving"), "{kept}");
    assert_eq!(kept.matches("KubeSchedulerConfiguration").count(), 1, "{kept}");
    let (mut excerpt, mut lines) = (Excerpt::default(), Vec::new());
    LOG.split_inclusive('\n').for_each(|line| excerpt.take(line.as_bytes(), &mut lines));
    assert_eq!(lines, whole);
    let (expected, found) = (read(LOG.as_bytes()), read(&whole));
    assert_eq!(format!("{:?}", found.attempts), format!("{:?}", expected.attempts));
    assert_eq!(found.processes[0].configuration, expected.processes[0].configuration);
}

#[test]
fn a_line_that_was_taken_apart_is_read_as_before() {
    let near = "2026-11-21T01:00:00Z".parse().unwrap();
    let parts: Vec<LineParts> = LOG.lines().filter_map(|line| LineParts::of(line.as_bytes(), near)).collect();
    assert_eq!(parts.len(), 3);
    assert_eq!(parts[0].named, json!({"pod": {"namespace": "shop", "name": "web"}}));
    let text: String = parts.into_iter().map(|parts| parts.line() + "\n").collect();
    let (expected, found) = (read(LOG.as_bytes()), read(text.as_bytes()));
    let facts = |log: &SchedulerLog| {
        let names = |name| log.names.text(name).to_owned();
        let of = |attempt: &crate::scheduler_log::Attempt| {
            let plugins = attempt.requeued.and_then(|to| to.plugins).map(|set| log.plugin_sets[set as usize].len());
            (names(attempt.pod), attempt.outcome, names(attempt.message), attempt.begin_logged, plugins)
        };
        log.attempts.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!((facts(&found), found.attempts.len()), (facts(&expected), 1));
    // Without a prefix, the year is that of the time nearby.
    let bare = LineParts::of(b"I1121 01:00:02.250000       1 a.go:1] \"Attempting to schedule pod\" pod=\"shop/web\"", near).unwrap();
    assert!(bare.line().starts_with("{\"ts\":1795222802250.0,"), "a time in 2026");
    assert_eq!(LineParts::of(b"I1121 01:00:02.250000       1 a.go:1] Attempting to schedule pod: shop/web", near), None);
}
