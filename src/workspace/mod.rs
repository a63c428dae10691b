//! A session that a user changes: where a change begins, on which branch it goes, and where the cursor ends.
//!
//! [`Workspace::apply`] is the one entry for all that a user changes. A change runs in three steps:
//!
//! 1. It begins at a place (`Begins`): at the cursor; before the dry decision at the cursor, so that both decisions can be compared;
//!    or at the end of the branch, if the cursor is where the last change left it.
//! 2. It goes on a branch (`Goes`): as the session decides, or always on a new one.
//! 3. The cursor ends at the decision about the subject, the pod whose decision was on show, if there is one.
//!
//! A change that fails leaves the session as it was.

mod change;
mod decision;
mod error;
mod what_if;

#[cfg(test)]
mod tests;

pub use change::{Advance, Applied, Change, FixToApply, Tools};
pub use error::ChangeError;
pub use what_if::WhatIfAnswer;

use std::sync::Arc;

use crate::cluster::{Key, Pod};
use crate::session::{Cursor, InitialQueues, Session};

/// A session with the place where the last change ended. Clones share their parts.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The session. Changes that a user makes go through [`Self::apply`].
    pub session: Session,
    /// Where the last change ended, at the decision about its subject: the branch and the cursor. A further one there goes on at
    /// the end of the branch.
    ended_at: Option<(usize, Cursor)>,
}

/// Place where a change begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    AtCursor,
    /// Before the dry decision at the cursor.
    BeforeDecision,
    /// At the end of the branch: the cursor is where the last change left it.
    AfterLast,
}

/// Branch on which a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goes {
    /// On the branch of the cursor, if it is at its end; on a new one in the past, and where the branch records a cluster.
    OnBranch,
    /// On a new branch, so that it can be compared.
    OnNewBranch,
}

impl Workspace {
    /// Makes a workspace of a session.
    pub fn new(session: Session) -> Self {
        Self { session, ended_at: None }
    }

    /// Restarts the record, with pending pods placed as given.
    pub fn restart(&mut self, queues: InitialQueues) {
        *self = Self::new(self.session.restarted(queues));
    }

    /// Drops the earlier revisions of an observed cluster, and all branches.
    pub fn forget(&mut self) {
        *self = Self::new(self.session.forgotten());
    }

    /// Returns where a change begins. One that runs the scheduler begins at the cursor: a dry decision is no part of the run.
    pub(crate) fn begins(&self, runs: bool) -> Begins {
        if self.is_where_last_ended() {
            Begins::AfterLast
        } else if self.session.explained().is_some() && !runs {
            Begins::BeforeDecision
        } else {
            Begins::AtCursor
        }
    }

    /// Returns whether the cursor is where the last change left it.
    fn is_where_last_ended(&self) -> bool {
        self.ended_at == Some((self.session.current(), self.session.timeline().cursor()))
    }

    /// Returns whether a change at the cursor is followed by further ones at its end, rather than before the same decision.
    fn continues(&self) -> bool {
        self.is_where_last_ended() || self.session.explained().is_none()
    }

    /// Goes where a change begins.
    fn begin(&mut self, begins: Begins) {
        let cursor = self.session.timeline().cursor();
        match begins {
            Begins::AtCursor => {}
            Begins::BeforeDecision => self.session.timeline_mut().seek(Cursor { event: 0, ..cursor }),
            Begins::AfterLast => self.session.timeline_mut().seek(Cursor::END),
        }
    }

    /// Returns the branch for an edit: one of the cluster as it was read begins a branch, as a what-if does, so that both can be
    /// compared.
    pub(crate) fn goes(&self) -> Goes {
        let as_read = self.session.current() == 0 && self.session.timeline().revisions().is_empty();
        if as_read { Goes::OnNewBranch } else { Goes::OnBranch }
    }

    /// Makes a dry decision about a pod at the end of the observed branch, if the pod still waits for a node.
    pub fn decide_again(&mut self, pod: &Key) {
        let cluster = self.session.scheduler_as_seen().state().cluster();
        if cluster.pods.get(pod).is_some_and(waits) && self.session.explain_again(pod).is_some() {
            self.session.timeline_mut().seek(Cursor::END);
        }
    }

    /// Makes a dry decision about a pod at the end of the branch, if the pod waits for a node there. Returns whether it does.
    /// `continues` tells whether a further change goes on there, instead of before that decision.
    fn decide_at_end(&mut self, pod: &Key, continues: bool) -> bool {
        self.session.timeline_mut().seek(Cursor::END);
        let waits = self.session.scheduler().state().cluster().pods.get(pod).is_some_and(waits);
        if waits {
            let _ = self.session.explain(pod);
            self.session.timeline_mut().seek(Cursor::END);
            self.ended_at = continues.then(|| (self.session.current(), self.session.timeline().cursor()));
        }
        waits
    }
}

fn waits(pod: &Arc<Pod>) -> bool {
    pod.is_pending() && !pod.is_terminating()
}
