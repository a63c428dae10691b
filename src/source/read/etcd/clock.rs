//! The times of revisions: etcd stores none, but the API server writes times into objects when it changes them.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Deserialize;

use super::PROTOBUF;
use super::envelope::Envelope;
use super::wire::{Fields, Wire};

/// The times of revisions, which never go back: a revision without a time has that of the one before.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The time of the first revision.
    begin: Option<Timestamp>,
    /// The revisions at which a later time begins, with it.
    times: VecDeque<(u64, Timestamp)>,
}

impl Clock {
    /// Notes a time that a change at a revision has written.
    pub(super) fn note(&mut self, revision: u64, time: Option<Timestamp>) {
        let last = self.times.back().map(|(_, time)| *time).or(self.begin);
        let Some(time) = time.filter(|time| last.is_none_or(|last| *time > last)) else { return };
        match self.times.back_mut() {
            Some((of, known)) if *of == revision => *known = time,
            _ => self.times.push_back((revision, time)),
        }
    }

    /// Forgets the times of revisions before a revision.
    pub(super) fn forget(&mut self, before: u64) {
        while self.times.front().is_some_and(|(revision, _)| *revision <= before) {
            self.begin = self.times.pop_front().map(|(_, time)| time);
        }
    }

    /// Returns the time of a revision, if one before it has any.
    pub(super) fn at(&self, revision: u64) -> Option<Timestamp> {
        let later = self.times.partition_point(|(of, _)| *of <= revision);
        later.checked_sub(1).and_then(|at| self.times.get(at)).map(|(_, time)| *time).or(self.begin)
    }

    /// Returns the first revision after a time; `None` if there is none.
    pub(super) fn first_after(&self, time: Timestamp) -> Option<u64> {
        self.times.get(self.times.partition_point(|(_, of)| *of <= time)).map(|(revision, _)| *revision)
    }
}

/// Returns the latest time that an API server has written into an object: its creation, or the last change of a field by a manager.
pub(super) fn written_at(value: &[u8]) -> Option<Timestamp> {
    match value.strip_prefix(PROTOBUF) {
        Some(envelope) => of_metadata(Envelope::read(envelope)?.raw),
        None if value.first() == Some(&b'{') => of_json(value),
        None => None,
    }
}

/// Reads the times of `ObjectMeta`, the first field of every kind.
fn of_metadata(object: &[u8]) -> Option<Timestamp> {
    let metadata = Fields::new(object).find_map(|field| if let Ok((1, Wire::Bytes(metadata))) = field { Some(metadata) } else { None })?;
    let mut latest = None;
    for field in Fields::new(metadata) {
        let time = match field.ok()? {
            (8, Wire::Bytes(time)) => seconds(time),
            (17, Wire::Bytes(managed)) => {
                let of = |field| if let Ok((4, Wire::Bytes(time))) = field { Some(time) } else { None };
                Fields::new(managed).find_map(of).and_then(seconds)
            }
            _ => None,
        };
        latest = latest.max(time);
    }
    latest
}

/// Reads a `metav1.Time`.
fn seconds(time: &[u8]) -> Option<Timestamp> {
    let seconds = Fields::new(time).find_map(|field| if let Ok((1, Wire::Varint(seconds))) = field { Some(seconds) } else { None })?;
    Timestamp::from_second(seconds.cast_signed()).ok()
}

fn of_json(value: &[u8]) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    #[derive(Default)]
    struct Metadata {
        creation_timestamp: Option<Timestamp>,
        managed_fields: Vec<Managed>,
    }
    #[derive(Deserialize)]
    struct Managed {
        time: Option<Timestamp>,
    }
    let Object { metadata } = serde_json::from_slice(value).ok()?;
    metadata.managed_fields.iter().filter_map(|managed| managed.time).chain(metadata.creation_timestamp).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn times_never_go_back() {
        let mut clock = Clock::default();
        assert_eq!((clock.at(9), clock.first_after(time(0))), (None, None));
        for (revision, seconds) in [(3, Some(10)), (4, None), (5, Some(8)), (6, Some(20)), (6, Some(21)), (9, Some(21))] {
            clock.note(revision, seconds.map(time));
        }
        let times: Vec<Option<i64>> = (2..10).map(|revision| clock.at(revision).map(Timestamp::as_second)).collect();
        assert_eq!(times, [None, Some(10), Some(10), Some(10), Some(21), Some(21), Some(21), Some(21)]);
        assert_eq!((clock.first_after(time(9)), clock.first_after(time(10)), clock.first_after(time(21))), (Some(3), Some(6), None));
        clock.forget(5);
        assert_eq!((clock.at(2), clock.at(6), clock.first_after(time(0))), (Some(time(10)), Some(time(21)), Some(6)));
    }

    #[test]
    fn times_of_objects_in_json_are_read() {
        let object =
            br#"{"kind":"A","metadata":{"creationTimestamp":"1970-01-01T00:00:09Z","managedFields":[{"time":"1970-01-01T00:00:20Z"},{}]}}"#;
        assert_eq!(written_at(object), Some(time(20)));
        for none in
            [&b"{}"[..], b"", b"k8s\0\xff", b"k8s:enc:aescbc:v1:x", br#"{"metadata":{}}"#, br#"{"metadata":{"creationTimestamp":"x"}}"#]
        {
            assert_eq!(written_at(none), None);
        }
    }
}
