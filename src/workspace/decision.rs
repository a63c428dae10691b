//! The decision about a pod before a change and after it.

use super::Workspace;
use crate::analysis::why;
use crate::cluster::{Cluster, Key, Str};
use crate::session::{Cursor, Session};
use crate::trace::{Event, Outcome};

/// A pod at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodAt {
    /// Whether it fits and the sentence about it, by the whole decision at the cursor; `None` if that is not about the pod.
    decision: Option<(bool, String)>,
    /// The node that it is bound to; empty without one, `None` without the pod.
    node: Option<Str>,
}

impl PodAt {
    pub(super) fn cursor(session: &Session, pod: &Key) -> Self {
        let node = session.scheduler_here().state().cluster().pods.get(pod).map(|pod| pod.node_name.clone());
        Self { decision: decision_about(session, pod), node }
    }

    /// Returns where the pod ends, in a clause. `self` is the pod before.
    pub(super) fn ends(&self, session: &Session, pod: &Key) -> String {
        let decisions = [self.decision.clone(), decision_about(session, pod)];
        fate(pod, self.node.as_ref(), session.scheduler().state().cluster(), &decisions)
    }
}

fn decision_about(session: &Session, pod: &Key) -> Option<(bool, String)> {
    let revision = session.timeline().revision()?;
    let view = revision.events.cycle_view_of(pod);
    let is_about = view.start.as_ref().is_some_and(|start| start.pod == *pod);
    is_about.then(|| (view.outcome == Some(Outcome::Scheduled), why(&view)))
}

/// Returns where a pod ends, which was on a node before; on an empty one if it waited. The decisions about it are those before
/// and after: whether it fits, and the sentence.
fn fate(pod: &Key, before: Option<&Str>, cluster: &Cluster, decisions: &[Option<(bool, String)>; 2]) -> String {
    let Some(now) = cluster.pods.get(pod) else { return format!("{pod} is gone") };
    let node = &now.node_name;
    if !node.is_empty() {
        let verb = if before == Some(node) { "stays" } else { "ends" };
        return format!("{pod} {verb} on {node}");
    }
    let fits = decisions.each_ref().map(|decision| decision.as_ref().map(|(fits, _)| *fits));
    match fits {
        _ if decisions[0] == decisions[1] => format!("nothing changes for {pod}"),
        [Some(true), Some(true)] => format!("{pod} still fits"),
        [_, Some(true)] => format!("{pod} fits now"),
        [Some(true), _] => format!("{pod} no longer fits"),
        _ => format!("{pod} stays pending, for other reasons"),
    }
}

impl Workspace {
    /// Seeks the decision about a pod at the end of a branch, whose revisions from `from` on are those of a what-if. A pod that
    /// still waits is decided there; for another one it is the decision that ended its wait. Without one the end stays.
    /// `continues` tells whether a further change goes on there, instead of before that decision.
    pub(super) fn show_end_of(&mut self, pod: &Key, from: usize, continues: bool) {
        self.ended_at = None;
        if self.decide_at_end(pod, continues) {
            return;
        }
        let ended = |event: &Event| matches!(event, Event::CycleFinished { pod: p, .. } if p == pod);
        let timeline = self.session.timeline();
        let found = (from..timeline.revisions().len()).rev().find_map(|revision| {
            let events = &timeline.revisions()[revision].events;
            let at = events.rposition_of_other(ended)?;
            // The cycle of a pod group goes on with other members.
            let is_group = events.others().iter().any(|event| matches!(event, Event::Group(_)));
            Some(Cursor { revision, event: if is_group { at + 1 } else { events.len() } })
        });
        if let Some(cursor) = found {
            self.session.timeline_mut().seek(cursor);
            self.ended_at = Some((self.session.current(), self.session.timeline().cursor()));
        }
    }
}
