//! The changes that a user can make, and how each is applied.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::ChangeError;
use super::what_if::WhatIfAnswer;
use super::{Goes, Workspace};
use crate::cluster::Key;
use crate::fixes;
use crate::release::Release;
use crate::scheduler::Operation;
use crate::session::{Action, Cursor, Edit, RevisionKind, Session, Verb};
use crate::source::{self, Input, Severity};
use crate::whatif::Originals;

/// A change at the cursor.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Edits an object.
    Edit(Edit),
    /// Creates or updates the objects of a file. One whose objects make pods is applied as a what-if is: on a branch, and run until
    /// nothing changes. The cursor ends at the decision about the subject.
    File(String, Option<Key>),
    /// Lets time pass.
    Advance(Advance),
    /// Makes the changes of a fix, on a new branch.
    Fix(FixToApply),
    /// Continues with another release of kube-scheduler, on a new branch.
    Release(Release),
    /// Applies a what-if on a branch, and runs until nothing changes where pods come or go. The cursor ends at the decision about
    /// the subject, the pod whose decision is shown; without one at the end of the branch.
    WhatIf(Verb, Option<Key>),
}

/// A fix that can be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct FixToApply {
    /// The fix in words.
    pub text: String,
    /// The pod that it lets in.
    pub pod: Key,
    pub changes: Arc<[fixes::Change]>,
    /// The pods that get its changes of a pod; empty for [`Self::pod`] alone.
    pub pods: Arc<[Key]>,
}

/// The time to advance by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// A number of seconds.
    Seconds(u64),
    /// Up to the next timer.
    NextTimer,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The change, or the last of several.
    pub kind: RevisionKind,
    /// The change in words, as the timeline has it.
    pub title: String,
    /// The number of changed objects.
    pub objects: usize,
    /// The new branch and its parent, by name; `None` if the change made no branch.
    pub branch: Option<(String, String)>,
    /// The answer of a what-if, or of a manifest; `None` for any other change.
    pub answer: Option<WhatIfAnswer>,
}

/// Things that changes need from outside of the session.
pub struct Tools<'a> {
    /// Objects with all their fields.
    pub originals: Originals<'a>,
    /// Returns false once a run is cancelled.
    pub go_on: &'a dyn Fn() -> bool,
}

impl Workspace {
    /// Applies a change at the cursor, which ends at the end of the branch. Then decides again about the pod whose decision was on
    /// show, if it still waits.
    ///
    /// # Errors
    /// When the change does not apply to the cluster at the cursor, or changes nothing. The session is then as it was.
    pub fn apply(&mut self, change: &Change, tools: &Tools<'_>) -> Result<Applied, ChangeError> {
        let make: &dyn Fn(&mut Self) -> Result<Applied, ChangeError> = match change {
            Change::Advance(by) => return self.advance(*by),
            Change::WhatIf(verb, subject) => return self.what_if(verb, subject.as_ref(), tools),
            Change::Edit(edit) => &|workspace| workspace.edit(edit),
            Change::File(path, subject) => match self.manifest(path, subject.as_ref(), tools)? {
                Some(applied) => return Ok(applied),
                None => &|workspace| workspace.file(path),
            },
            Change::Fix(fix) => &|workspace| workspace.fix(fix),
            Change::Release(release) => &|workspace| workspace.release(*release),
        };
        let cursor = self.session.timeline().cursor();
        let decided = || self.session.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
        let subject = self.session.explained().or_else(decided);
        let continues = self.continues();
        self.begin(self.begins(false));
        let result = make(self);
        match (&result, subject) {
            (Ok(_), Some(pod)) => {
                self.decide_at_end(&pod, continues);
            }
            (Ok(_), None) => self.session.timeline_mut().seek(Cursor::END),
            (Err(_), _) => self.session.timeline_mut().seek(cursor),
        }
        result
    }

    /// Applies an action at the cursor.
    fn act(&mut self, action: impl Into<Action>, goes: Goes) -> Result<Applied, ChangeError> {
        let (branches, old) = (self.session.branches().len(), self.session.branch().name().to_owned());
        let done = match goes {
            Goes::OnBranch => self.session.apply(action),
            Goes::OnNewBranch => self.session.apply_on_new_branch(action),
        };
        if !done {
            return Err(ChangeError::NothingDone);
        }
        let forked = self.session.branches().len() > branches;
        let branch = forked.then(|| (self.session.branch().name().to_owned(), old));
        Ok(applied(&self.session, branch))
    }

    fn edit(&mut self, edit: &Edit) -> Result<Applied, ChangeError> {
        let operation = edit.operation(self.session.scheduler_here().state().cluster())?;
        match (self.act((Verb::Edit(edit.clone()), operation), self.goes()), edit) {
            (Err(ChangeError::NothingDone), Edit::Allow(pod) | Edit::Reject(pod)) => Err(ChangeError::NotWaitingOnPermit(pod.clone())),
            (result, _) => result,
        }
    }

    /// Creates or updates the objects of a file.
    fn file(&mut self, path: &str) -> Result<Applied, ChangeError> {
        let loaded = source::load(&[Input::Path(PathBuf::from(path))]);
        if let Some(wrong) = loaded.diagnostics.into_iter().find(|d| d.severity == Severity::Error) {
            return Err(ChangeError::Load(Box::new(wrong)));
        }
        let mut result = Err(ChangeError::NothingInFile { path: path.to_owned() });
        let objects = loaded.objects.len();
        let mut branch = None;
        for object in loaded.objects {
            let operation = Operation::put(self.session.scheduler_here().state().cluster(), object);
            let applied = self.act(operation, self.goes())?;
            branch = branch.or(applied.branch);
            result = Ok(Applied { objects, branch: branch.clone(), ..applied });
            self.session.timeline_mut().seek(Cursor::END);
        }
        result
    }

    /// Makes the changes of a fix.
    fn fix(&mut self, fix: &FixToApply) -> Result<Applied, ChangeError> {
        let cluster = self.session.scheduler_here().state().cluster();
        let operations = if fix.pods.is_empty() {
            fixes::operations(cluster, &fix.pod, &fix.changes)
        } else {
            fixes::operations_of_all(cluster, &fix.pod, &fix.changes, &fix.pods)
        };
        let operations = operations.ok_or(ChangeError::FixOutdated)?;
        let is_done = |operation: &Operation| match operation {
            Operation::Update { object } => cluster.get(object.kind(), &object.key()).as_ref() == Some(object),
            _ => false,
        };
        if operations.iter().all(is_done) {
            return Err(ChangeError::NothingDone);
        }
        let old = self.session.branch().name().to_owned();
        if !self.session.apply_on_new_branch(Operation::Batch { name: fix.text.clone(), operations }) {
            return Err(ChangeError::NothingDone);
        }
        Ok(applied(&self.session, Some((self.session.branch().name().to_owned(), old))))
    }

    fn advance(&mut self, by: Advance) -> Result<Applied, ChangeError> {
        let operation = match by {
            Advance::Seconds(seconds) => Operation::Advance { seconds },
            Advance::NextTimer => {
                let timer = self.session.scheduler_here().next_timer().ok_or(ChangeError::NoTimer)?;
                Operation::AdvanceTo { time: timer.time }
            }
        };
        let applied = self.act(operation, Goes::OnBranch)?;
        self.session.timeline_mut().seek(Cursor::END);
        Ok(applied)
    }

    /// Continues with another release.
    fn release(&mut self, release: Release) -> Result<Applied, ChangeError> {
        let old = self.session.branch().name().to_owned();
        self.session.change_release(release)?;
        Ok(applied(&self.session, Some((self.session.branch().name().to_owned(), old))))
    }
}

/// Returns the result of the change that is the last revision.
pub(super) fn applied(session: &Session, branch: Option<(String, String)>) -> Applied {
    let done = session.timeline().revisions().last();
    let (kind, title) = done.map(|revision| (revision.kind(), revision.title.clone())).unwrap_or_default();
    Applied { kind, title, objects: 1, branch, answer: None }
}
