//! Goes to a moment of the timeline.

use crate::session::{AtTime, Cursor};
use crate::ui::actions::prelude::*;
use crate::ui::model::time_travel::seek_and_follow;

/// The command `at`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(
        &["at"],
        "TIME",
        "go to a moment of the timeline: RFC 3339, HH:MM[:SS] of its last day (UTC), -5m before its end, or rev:N of etcd",
    )),
    ..Verb::new("at", go)
}];

fn go(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let at: AtTime = args.trim().parse()?;
    let revisions = session.timeline().revisions();
    if let AtTime::Revision(revision) = at {
        // Those of other branches are not etcd's.
        let etcd = session.background().etcd.as_ref().filter(|_| session.current() == 0).ok_or(CommandError::NoRevision)?;
        let done = etcd.done(revision).ok_or(CommandError::BeyondRevisions { from: etcd.start, to: etcd.last() })?;
        return Ok(go_to(state, session, done));
    }
    let (Some(first), Some(last)) = (revisions.first(), revisions.last()) else { return Err(CommandError::EmptyTimeline) };
    let (from, to) = (first.before.clock, last.after.clock);
    let Some(time) = at.in_record(to) else { return Err(CommandError::NoRevision) };
    if time < from || time > to {
        return Err(CommandError::BeyondTimeline { from, to });
    }
    let done = revisions.partition_point(|revision| revision.after.clock <= time);
    Ok(go_to(state, session, done))
}

/// Goes to the state after a number of revisions of the timeline.
fn go_to(state: &mut State, session: &mut dyn SessionHandle, done: usize) -> Answer {
    let cursor = done.checked_sub(1).map_or_else(Cursor::default, |revision| Cursor { revision, event: usize::MAX });
    state.leave_whole();
    seek_and_follow(state, session, |s| s.timeline_mut().seek(cursor));
    Answer::Done
}
