//! What-ifs on a branch, with their answers.

use std::path::PathBuf;

use serde_json::Value;

use super::Workspace;
use super::change::{Applied, Tools, applied};
use super::decision::PodAt;
use super::error::ChangeError;
use crate::admission::{Admission, Policies};
use crate::cluster::Key;
use crate::output::Document;
use crate::report::{ManifestReport, WhatIfReport};
use crate::scheduler::Scheduler;
use crate::session::{Cursor, Verb};
use crate::source::read_manifests;
use crate::whatif::{self, LiveObjects, ManifestRequest, OnBranch, Rehearsal, Stage as _};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIfAnswer {
    /// The result in a line.
    pub headline: String,
    /// Where the subject ends, in a clause; `None` without a subject.
    pub subject: Option<String>,
    /// The what-if, as it is typed.
    pub what_if: String,
    /// Whether the scheduler ran with it until nothing changed.
    pub settles: bool,
    /// The whole result.
    pub body: Document,
}

/// Returns a scheduler after a run until nothing changes, or until `go_on` returns false.
fn settled(scheduler: Scheduler, go_on: &dyn Fn() -> bool) -> Rehearsal {
    let mut rehearsal = Rehearsal::new(scheduler);
    while go_on() && rehearsal.settle_step() {}
    rehearsal
}

impl Workspace {
    /// Applies a what-if on a branch.
    pub(super) fn what_if(&mut self, verb: &Verb, subject: Option<&Key>, tools: &Tools<'_>) -> Result<Applied, ChangeError> {
        let act = |stage: &mut OnBranch<'_>| {
            let (answers, elsewhere) = if verb.settles() {
                let mut without = Rehearsal::new(stage.scheduler().clone());
                let applied = whatif::apply_all(stage, &mut without, std::slice::from_ref(verb), tools.originals);
                applied.map_err(|(_, error)| error)?
            } else {
                (vec![whatif::apply(stage, verb, tools.originals)?], Vec::new())
            };
            let report = WhatIfReport::new(answers, stage.scheduler(), elsewhere);
            Ok((report.headline(), report.outcome()))
        };
        self.on_branch(&verb.to_string(), verb.settles(), subject, tools, act)
    }

    /// Applies a manifest on a branch, and runs until nothing changes. `None` for one whose objects make no pods.
    pub(super) fn manifest(&mut self, path: &str, subject: Option<&Key>, tools: &Tools<'_>) -> Result<Option<Applied>, ChangeError> {
        let objects = read_manifests(&[PathBuf::from(path)]).map_err(|mut errors| ChangeError::Manifest(Box::new(errors.remove(0))))?;
        if !objects.iter().any(|object| whatif::makes_pods(&object.value)) {
            return Ok(None);
        }
        let neighbors = self.session.background().neighbors.clone();
        let policies = Policies::of(&neighbors);
        let values: Vec<&Value> = objects.iter().map(|object| &object.value).collect();
        let act = |stage: &mut OnBranch<'_>| {
            let before = stage.scheduler().clone();
            let admission = Admission::new(policies, stage.scheduler().state().config().emulation);
            let live = LiveObjects { neighbors: &neighbors, originals: tools.originals };
            let answer = whatif::apply_manifest(stage, &values, admission, &ManifestRequest::default(), live);
            let answer = answer.map_err(|problem| {
                let at = problem.object().unwrap_or_default();
                ChangeError::WrongManifest { place: objects[at].place.clone(), problem: Box::new(problem) }
            })?;
            let without = settled(before, tools.go_on);
            let report = ManifestReport::new(answer, stage.scheduler()).compared(&without, stage.scheduler());
            Ok((report.headline(), report.answer()))
        };
        self.on_branch(&format!("apply {path}"), true, subject, tools, act).map(Some)
    }

    /// Acts on a branch, and returns the answer: its headline and its whole text. At a dry decision, an action that does not run
    /// the scheduler is taken before the decision, which is then taken again. The cursor ends at the decision about the subject, if
    /// it still has one. An error, or a cancelled run, leaves the session as it was.
    fn on_branch(
        &mut self,
        what_if: &str,
        settles: bool,
        subject: Option<&Key>,
        tools: &Tools<'_>,
        act: impl FnOnce(&mut OnBranch<'_>) -> Result<(String, Document), ChangeError>,
    ) -> Result<Applied, ChangeError> {
        let cursor = self.session.timeline().cursor();
        let was = subject.map(|pod| (pod, PodAt::cursor(&self.session, pod)));
        let continues = self.continues();
        self.begin(self.begins(settles));
        let branch = self.session.begin_what_if();
        let begun_at = self.session.timeline().revisions().len();
        let (headline, body) = match act(&mut OnBranch::new(&mut self.session, tools.go_on)) {
            Ok(answer) => answer,
            Err(error) => {
                if branch.is_some() {
                    self.session.abandon_branch();
                }
                self.session.timeline_mut().seek(cursor);
                return Err(error);
            }
        };
        self.session.timeline_mut().seek(Cursor::END);
        let applied = applied(&self.session, branch);
        let subject = was.map(|(pod, was)| {
            self.show_end_of(pod, begun_at, continues);
            was.ends(&self.session, pod)
        });
        let answer = WhatIfAnswer { headline, subject, what_if: what_if.to_owned(), settles, body };
        Ok(Applied { answer: Some(answer), ..applied })
    }
}
