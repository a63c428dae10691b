//! Undo and redo of what-ifs. Nothing is lost: undoing goes to a branch without the change, and the branch with it stays.

use std::sync::Arc;

use crate::session::{Cursor, Revision, Timeline};
use crate::ui::model::session_handle::{Page, SessionHandle};

/// Limit on the what-ifs remembered.
const LIMIT: usize = 64;

/// A position on a branch. Revisions may be inserted before it, so it holds the revision and not its index.
#[derive(Clone, Debug)]
struct Place {
    branch: usize,
    revision: Option<Arc<Revision>>,
    event: usize,
}

impl Place {
    fn here(session: &dyn SessionHandle) -> Self {
        let (timeline, cursor) = (session.timeline(), session.timeline().cursor());
        Self { branch: session.current(), revision: timeline.revisions().get(cursor.revision).cloned(), event: cursor.event }
    }

    fn cursor(&self, timeline: &Timeline) -> Option<Cursor> {
        let Some(revision) = &self.revision else { return Some(Cursor::default()) };
        let at = timeline.revisions().iter().position(|other| Arc::ptr_eq(revision, other))?;
        Some(Cursor { revision: at, event: self.event })
    }

    /// Goes there. Returns false if the place is no longer recorded.
    fn visit(&self, session: &mut dyn SessionHandle) -> bool {
        let now = session.current();
        if !session.switch(self.branch) {
            return false;
        }
        let cursor = self.cursor(session.timeline());
        match cursor {
            Some(cursor) => session.timeline_mut().seek(cursor),
            None => {
                session.switch(now);
            }
        }
        cursor.is_some()
    }
}

/// A change, with the places before and after it.
#[derive(Clone, Debug)]
struct WhatIf {
    title: String,
    before: Place,
    after: Place,
    /// Whether the branch before the change is the one with it, so that undoing needs another.
    same_branch: bool,
}

/// The what-ifs of a session, in order.
#[derive(Clone, Debug, Default)]
pub struct WhatIfs {
    done: Vec<WhatIf>,
    undone: Vec<WhatIf>,
    /// The result of the last what-if that settled, with the branch on which it counts.
    result: Option<(usize, Page)>,
    /// Whether there are changes since the session was saved.
    pub unsaved: bool,
}

/// The start of a change, from [`WhatIfs::begin`].
#[derive(Clone, Debug)]
pub struct Begun(Place);

impl WhatIfs {
    /// Notes the place before a change.
    pub fn begin(session: &dyn SessionHandle) -> Begun {
        Begun(Place::here(session))
    }

    /// Remembers a change that was made. Undone changes can no longer be redone.
    pub fn finish(&mut self, begun: Begun, title: String, session: &dyn SessionHandle) {
        let after = Place::here(session);
        let same_branch = begun.0.branch == after.branch;
        self.undone.clear();
        self.done.push(WhatIf { title, before: begun.0, after, same_branch });
        if self.done.len() > LIMIT {
            self.done.remove(0);
        }
        self.unsaved = true;
    }

    /// Remembers the result of a what-if on the current branch; `None` for one that only changes objects.
    pub fn remember(&mut self, result: Option<Page>, session: &dyn SessionHandle) {
        self.result = result.map(|page| (session.current(), page));
    }

    /// Returns the result of the last what-if, if its branch is on show.
    pub fn result(&self, session: &dyn SessionHandle) -> Option<&Page> {
        self.result.as_ref().filter(|(branch, _)| *branch == session.current()).map(|(_, page)| page)
    }

    /// Forgets all changes, because their branches are gone.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Goes to the place before the last change. Returns the change; `None` if there is none.
    pub fn undo(&mut self, session: &mut dyn SessionHandle) -> Option<String> {
        let mut last = self.done.pop()?;
        let here = Place::here(session);
        if !last.before.visit(session) {
            self.clear();
            return None;
        }
        if last.same_branch {
            session.fork();
            last.before = Place::here(session);
            last.same_branch = false;
        }
        last.after = here;
        let title = last.title.clone();
        self.undone.push(last);
        Some(title)
    }

    /// Goes to the place from which the last change was undone. Returns the change; `None` if there is none.
    pub fn redo(&mut self, session: &mut dyn SessionHandle) -> Option<String> {
        let last = self.undone.pop()?;
        if !last.after.visit(session) {
            self.clear();
            return None;
        }
        let title = last.title.clone();
        self.done.push(last);
        Some(title)
    }
}
