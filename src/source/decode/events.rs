//! Decodes Events of both APIs, `v1` and `events.k8s.io/v1`.
//!
//! Events of schedulers about pods are kept for scheduling; those of other components are kept beside it.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use crate::cluster::neighbors::{About, OtherEvent};
use crate::cluster::{Key, ObservedEvent, Str};

/// Reasons of events about scheduling.
const REASONS: &[&str] = &["FailedScheduling", "Scheduled", "Preempted"];

/// An event that is kept, with its identity.
#[derive(Debug)]
pub(in crate::source) struct SeenEvent {
    /// The uid, or else the namespace and name.
    pub(in crate::source) identity: String,
    pub(in crate::source) event: ObservedEvent,
}

/// An Event of either API, as written. Times are text, so that an invalid one does not reject the event.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::source) struct RawEvent<'a> {
    #[serde(borrow)]
    metadata: RawMeta<'a>,
    #[serde(borrow)]
    involved_object: Reference<'a>,
    #[serde(borrow)]
    regarding: Reference<'a>,
    #[serde(borrow)]
    reason: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    note: Cow<'a, str>,
    count: i64,
    deprecated_count: i64,
    #[serde(borrow)]
    first_timestamp: Cow<'a, str>,
    #[serde(borrow)]
    last_timestamp: Cow<'a, str>,
    #[serde(borrow)]
    deprecated_first_timestamp: Cow<'a, str>,
    #[serde(borrow)]
    deprecated_last_timestamp: Cow<'a, str>,
    #[serde(borrow)]
    event_time: Cow<'a, str>,
    #[serde(borrow)]
    series: Series<'a>,
    #[serde(borrow)]
    reporting_controller: Cow<'a, str>,
    #[serde(borrow)]
    reporting_component: Cow<'a, str>,
    #[serde(borrow)]
    source: Source<'a>,
    #[serde(borrow)]
    deprecated_source: Source<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawMeta<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(borrow)]
    creation_timestamp: Cow<'a, str>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reference<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    uid: Cow<'a, str>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series<'a> {
    count: i64,
    #[serde(borrow)]
    last_observed_time: Cow<'a, str>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Source<'a> {
    #[serde(borrow)]
    component: Cow<'a, str>,
}

fn first_of(texts: &[&Cow<'_, str>]) -> String {
    texts.iter().find(|text| !text.is_empty()).map(ToString::to_string).unwrap_or_default()
}

/// The times of an event, of those that are given and valid.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::source) struct Times {
    /// When it first occurred, or else when it was written.
    first: Option<Timestamp>,
    /// When it last occurred, or else when it was written.
    last: Option<Timestamp>,
    /// The newest of all.
    pub(in crate::source) newest: Option<Timestamp>,
}

impl RawEvent<'_> {
    /// Returns its times.
    pub(in crate::source) fn times(&self) -> Times {
        let occurred = [
            &self.event_time,
            &self.first_timestamp,
            &self.deprecated_first_timestamp,
            &self.last_timestamp,
            &self.deprecated_last_timestamp,
            &self.series.last_observed_time,
        ];
        // Most are equal to the one before, which was parsed.
        let mut before: (&str, Option<Timestamp>) = ("", None);
        let mut parse = |text| {
            if text != before.0 {
                before = (text, text.parse().ok());
            }
            before.1
        };
        let created = parse(self.metadata.creation_timestamp.as_ref());
        let (mut first, mut last) = (None, None);
        for time in occurred.into_iter().filter_map(|text| parse(text.as_ref())) {
            first = Some(first.map_or(time, |first: Timestamp| first.min(time)));
            last = last.max(Some(time));
        }
        Times { first: first.or(created), last: last.or(created), newest: last.max(created) }
    }

    fn about(&self) -> &Reference<'_> {
        if self.involved_object.name.is_empty() { &self.regarding } else { &self.involved_object }
    }

    /// Returns the uid, or else the namespace and name.
    fn identity(&self) -> String {
        match self.metadata.uid.as_ref() {
            "" => format!("{}/{}", self.metadata.namespace, self.metadata.name),
            uid => uid.to_owned(),
        }
    }

    /// Returns the component that wrote it; empty if it does not say.
    fn speaker(&self) -> String {
        first_of(&[&self.reporting_controller, &self.reporting_component, &self.source.component, &self.deprecated_source.component])
    }

    fn occurrences(&self) -> u32 {
        let count = self.count.max(self.deprecated_count).max(self.series.count).max(1);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Returns the whole of it with its identity; `None` if it does not name the object that it regards.
    pub(in crate::source) fn other(&self, times: Times) -> Option<(String, OtherEvent)> {
        let about = self.about();
        if about.name.is_empty() || about.kind.is_empty() {
            return None;
        }
        let event = OtherEvent {
            about: About::new(about.kind.as_ref(), Key::new(about.namespace.as_ref(), about.name.as_ref())),
            uid: about.uid.as_ref().into(),
            speaker: Str::interned(&self.speaker()),
            kind: Str::interned(&self.kind),
            reason: Str::interned(&self.reason),
            text: first_of(&[&self.message, &self.note]),
            count: self.occurrences(),
            first: times.first,
            last: times.last,
        };
        Some((self.identity(), event))
    }

    /// Returns the part that is kept; `None` if it is not about a pod or not about scheduling.
    pub(in crate::source) fn keep(&self, times: Times) -> Option<SeenEvent> {
        let reason = REASONS.iter().find(|reason| **reason == self.reason)?;
        let about = self.about();
        if about.kind != "Pod" || about.name.is_empty() {
            return None;
        }
        let namespace = first_of(&[&about.namespace, &self.metadata.namespace]);
        Some(SeenEvent {
            identity: self.identity(),
            event: ObservedEvent {
                pod: Key::new(namespace.as_str(), about.name.as_ref()),
                uid: about.uid.as_ref().into(),
                reason: (*reason).into(),
                note: first_of(&[&self.message, &self.note]),
                controller: self.speaker().into(),
                count: self.occurrences(),
                first: times.first,
                last: times.last,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Input, Loaded, Severity, load};

    const CORE: &str = r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"web.1","namespace":"shop","uid":"e1",
        "creationTimestamp":"2026-01-01T00:00:00Z"},"involvedObject":{"apiVersion":"v1","kind":"Pod","name":"web","namespace":"shop",
        "uid":"u1"},"reason":"FailedScheduling","message":"0/1 nodes are available: 1 \"Too\" many pods.","count":3,"eventTime":null,
        "firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:30Z","source":{"component":"default-scheduler"},
        "reportingComponent":"","series":null,"type":"Warning"}"#;

    const NEW: &str = r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"web.2","namespace":"shop",
        "creationTimestamp":"2026-01-01T00:00:00Z"},"regarding":{"kind":"Pod","name":"web","namespace":"shop"},
        "reason":"FailedScheduling","note":"a note","eventTime":"2026-01-01T00:01:00.123456Z","deprecatedCount":0,
        "deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null,"deprecatedSource":{},
        "series":{"count":7,"lastObservedTime":"2026-01-01T00:02:00.5Z"},"reportingController":"mine"}"#;

    fn read(text: &str) -> Loaded {
        load(&[Input::Bytes { name: "test".into(), bytes: text.as_bytes().to_vec().into() }])
    }

    fn words(event: &ObservedEvent) -> String {
        let time = |t: Option<Timestamp>| t.map_or_else(|| "-".to_owned(), |t| t.to_string());
        let ObservedEvent { pod, uid, reason, note, controller, count, first, last } = event;
        format!("{pod} {uid:?} {reason} {note:?} {controller:?} {count} {} {}", time(*first), time(*last))
    }

    const CORE_WORDS: &str = r#"shop/web "u1" FailedScheduling "0/1 nodes are available: 1 \"Too\" many pods." "default-scheduler" 3 2026-01-01T00:00:00Z 2026-01-01T00:00:30Z"#;
    const NEW_WORDS: &str = r#"shop/web "" FailedScheduling "a note" "mine" 7 2026-01-01T00:01:00.123456Z 2026-01-01T00:02:00.5Z"#;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) -> Loaded {
        let loaded = read(text);
        assert_eq!(loaded.events.iter().map(words).collect::<Vec<_>>(), expected, "{text}");
        assert_eq!(loaded.report.events.read, expected.len());
        loaded
    }

    #[test]
    fn both_apis_are_read_in_every_layout() {
        check(CORE, &[CORE_WORDS]);
        check(NEW, &[NEW_WORDS]);
        let loaded = check(&format!(r#"{{"kind":"List","apiVersion":"v1","items":[{CORE},{NEW}]}}"#), &[CORE_WORDS, NEW_WORDS]);
        assert_eq!(loaded.report.newest.unwrap().to_string(), "2026-01-01T00:02:00.5Z");
        // The items of a typed list carry neither kind nor version.
        let bare = |text: &str, version: &str| text.replace(&format!(r#""apiVersion":"{version}","kind":"Event","#), "");
        check(&format!(r#"{{"items":[{}],"kind":"EventList","apiVersion":"v1"}}"#, bare(CORE, "v1")), &[CORE_WORDS]);
        let list = format!(r#"{{"kind":"EventList","apiVersion":"events.k8s.io/v1","items":[{}]}}"#, bare(NEW, "events.k8s.io/v1"));
        check(&list, &[NEW_WORDS]);
        for text in [CORE, NEW] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let yaml = serde_yaml::to_string(&value).unwrap();
            check(&yaml, &[if text == CORE { CORE_WORDS } else { NEW_WORDS }]);
            let items: String = yaml.lines().map(|line| format!("  {line}\n")).collect();
            let list = format!("apiVersion: v1\nkind: List\nitems:\n-{}", &items[1..]);
            check(&list, &[if text == CORE { CORE_WORDS } else { NEW_WORDS }]);
        }
    }

    #[test]
    fn only_words_of_schedulers_about_pods_are_kept() {
        for (text, kept) in [
            (CORE.replace("FailedScheduling", "Scheduled"), 1),
            (CORE.replace("FailedScheduling", "Preempted"), 1),
            (CORE.replace("FailedScheduling", "NotTriggerScaleUp"), 0),
            (CORE.replace("FailedScheduling", "Killing"), 0),
            (CORE.replace(r#""kind":"Pod""#, r#""kind":"PodGroup""#), 0),
            (CORE.replace(r#""name":"web","#, ""), 0),
            (NEW.replace("events.k8s.io", "events.example.com"), 0),
        ] {
            let loaded = read(&text);
            let other = loaded.report.other_kinds.get("Event").copied().unwrap_or_default();
            assert_eq!((loaded.events.len(), loaded.report.events.read, other), (kept, kept, 1 - kept), "{text}");
            assert!(loaded.diagnostics.iter().all(|d| d.severity != Severity::Error), "{:?}", loaded.diagnostics);
        }
    }

    #[test]
    fn the_newest_state_of_an_event_counts_once_and_keeps_its_place() {
        let later = CORE.replace(r#""count":3"#, r#""count":4"#).replace("00:00:30Z", "00:00:40Z");
        let scheduled = NEW.replace("FailedScheduling", "Scheduled");
        for (first, second) in [(CORE, later.as_str()), (later.as_str(), CORE)] {
            let loaded = read(&format!("{first}{scheduled}{second}"));
            let counts: Vec<u32> = loaded.events.iter().map(|e| e.count).collect();
            assert_eq!((counts, loaded.report.events.superseded), (vec![4, 7], 1));
        }
    }

    #[test]
    fn what_is_missing_is_left_out() {
        check(
            r#"{"kind":"Event","metadata":{"name":"e","namespace":"ns","creationTimestamp":"2026-01-01T00:00:00Z"},
            "involvedObject":{"kind":"Pod","name":"p"},"reason":"Preempted","count":-5,"lastTimestamp":"soon"}"#,
            &[r#"ns/p "" Preempted "" "" 1 2026-01-01T00:00:00Z 2026-01-01T00:00:00Z"#],
        );
    }

    #[test]
    fn a_broken_event_is_reported() {
        for broken in [CORE.replace(r#""count":3"#, r#""count":"x""#), CORE.replace(r#""series":null"#, r#""series":[1]"#)] {
            let loaded = read(&format!(r#"{{"kind":"List","apiVersion":"v1","items":[{broken},{NEW}]}}"#));
            let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
            assert_eq!((errors.len(), loaded.events.len(), loaded.report.events.unreadable), (1, 1, 1), "{errors:?}");
            assert_eq!(errors[0].object.as_deref(), Some("Event shop/web.1"));
            assert!(errors[0].line.is_some());
        }
    }
}
