//! What the record tells of the pods that wait, beyond where they are: who moved just now, and for one pod when it
//! moved last and what plugins answered about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::cluster::Key;
use crate::framework::{ClusterEvent, PluginName, QueueingHint};
use crate::session::{Revision, Timeline};
use crate::trace::{Event, Place};

/// One pod's part of the record at the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodActivity {
    /// When it came to where it is; `None` where that was before the record begins, or was never seen.
    pub moved_at: Option<Timestamp>,
    /// What plugins answered about it in this revision, in order.
    pub hints: Vec<HintAnswer>,
    /// The plugins for which it waits on Permit, with the end of their patience; none where it does not.
    pub permit: Vec<(PluginName, Timestamp)>,
}

/// What a plugin answered when it was asked about an event.
#[derive(Clone, Debug, PartialEq)]
pub struct HintAnswer {
    /// The event.
    pub event: ClusterEvent,
    /// Who answered.
    pub plugin: PluginName,
    /// What.
    pub hint: QueueingHint,
    /// What went wrong, which counts as Queue.
    pub error: Option<String>,
}

/// The pods that moved in the revision under the cursor, up to it.
pub fn moved(timeline: &Timeline) -> BTreeSet<Key> {
    let pod = |e: &Event| if let Event::QueueMoved(m) = e { Some(m.pod.clone()) } else { None };
    so_far(timeline).iter().filter_map(pod).collect()
}

fn so_far(timeline: &Timeline) -> &[Event] {
    timeline.revision().map_or(&[], |f| &f.events[..timeline.cursor().event])
}

impl PodActivity {
    /// The story of a waiting pod.
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

/// The events of the revision in which the pod moved last, and when it did. Revisions that left the pod alone are known by
/// the entry they share, so that a long record costs one look-up a revision.
fn last_move<'a>(timeline: &'a Timeline, pod: &Key) -> Option<(&'a [Event], Timestamp)> {
    let cursor = timeline.cursor();
    let now = so_far(timeline);
    let revision = timeline.revision()?;
    let earlier = timeline.revisions()[..cursor.revision].iter().rev().filter(|f| touched(f, pod)).map(|f| (&**f, &f.events[..]));
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
