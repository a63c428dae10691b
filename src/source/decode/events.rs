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
    pub(in crate::source) newest: Option<Timestamp>,
}

impl RawEvent<'_> {
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
mod tests;
