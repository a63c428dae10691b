//! The activity of waiting pods in the record: the pods that moved in this revision, and for one pod its last move and the
//! answers of queueing hints.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::cluster::Key;
use crate::framework::{ClusterEvent, PluginName, QueueingHint};
use crate::session::{Revision, Timeline};
use crate::trace::{Event, Place};

/// The activity of one pod at the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodActivity {
    /// When it came to its place; `None` if that was before the record begins.
    pub moved_at: Option<Timestamp>,
    /// Answers of queueing hints about it in this revision, in order.
    pub hints: Vec<HintAnswer>,
    /// The Permit plugins it waits for, each with its timeout.
    pub permit: Vec<(PluginName, Timestamp)>,
}

/// The answer of a plugin's queueing hint.
#[derive(Clone, Debug, PartialEq)]
pub struct HintAnswer {
    /// The event that the hint was called for.
    pub event: ClusterEvent,
    pub plugin: PluginName,
    /// The answer.
    pub hint: QueueingHint,
    /// The error of the hint, which counts as Queue.
    pub error: Option<String>,
}

/// Returns the pods that moved in the revision at the cursor, up to the cursor.
pub fn moved(timeline: &Timeline) -> BTreeSet<Key> {
    let pod = |e: &Event| if let Event::QueueMoved(m) = e { Some(m.pod.clone()) } else { None };
    so_far(timeline).iter().filter_map(pod).collect()
}

/// Returns the events up to the cursor, without those about filtered nodes.
fn so_far(timeline: &Timeline) -> &[Event] {
    timeline.revision().map_or(&[], |f| f.events.others_before(timeline.cursor().event))
}

impl PodActivity {
    /// Collects the activity of a waiting pod.
    pub fn of(timeline: &Timeline, pod: &Key) -> Self {
        let hint = |e: &Event| match e {
            Event::HintAsked { pod: asked, plugin, event, hint, error } if asked == pod => {
                Some(HintAnswer { event: *event, plugin: *plugin, hint: *hint, error: error.as_ref().map(ToString::to_string) })
            }
            _ => None,
        };
        let hints = so_far(timeline).iter().filter_map(hint).collect();
        let Some(entry) = timeline.queues().entries.get(pod) else { return Self { hints, ..Self::default() } };
        let last = last_move(timeline, pod);
        let permit = match (&entry.place, last) {
            (Place::WaitingOnPermit { .. }, Some((events, _))) => events.iter().rev().find_map(|e| match e {
                Event::PermitWaited { pod: waiting, plugins, .. } if **waiting == *pod => Some(plugins.to_vec()),
                _ => None,
            }),
            _ => None,
        };
        Self { moved_at: last.map(|(_, at)| at), hints, permit: permit.unwrap_or_default() }
    }
}

/// Returns the events of the revision in which the pod moved last, and when it moved. Revisions without a move share the
/// pod's queue entry, so a long record costs one look-up per revision.
fn last_move<'a>(timeline: &'a Timeline, pod: &Key) -> Option<(&'a [Event], Timestamp)> {
    let cursor = timeline.cursor();
    let now = so_far(timeline);
    let revision = timeline.revision()?;
    let earlier = timeline.revisions()[..cursor.revision].iter().rev().filter(|f| touched(f, pod)).map(|f| (&**f, f.events.others()));
    std::iter::once((revision, now)).chain(earlier).find_map(|(revision, events)| {
        let at = events.iter().rposition(|e| matches!(e, Event::QueueMoved(m) if m.pod == *pod))?;
        let clock = events[..at].iter().rev().find_map(|e| if let Event::ClockMoved { to, .. } = e { Some(*to) } else { None });
        Some((events, clock.unwrap_or(revision.before.clock)))
    })
}

fn touched(revision: &Revision, pod: &Key) -> bool {
    match (revision.before.queues.entries.get(pod), revision.after.queues.entries.get(pod)) {
        (Some(before), Some(after)) => !Arc::ptr_eq(before, after),
        (None, None) => false,
        _ => true,
    }
}
