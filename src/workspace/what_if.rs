//! What-ifs on a branch, with their answers.

use super::Workspace;
use super::change::{Applied, Tools, applied};
use super::decision::PodAt;
use super::error::ChangeError;
use crate::cluster::Key;
use crate::output::Document;
use crate::report::WhatIfReport;
use crate::session::{Cursor, Verb};
use crate::whatif::{self, OnBranch};

/// The answer of a what-if.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIfAnswer {
    /// The result in a line.
    pub headline: String,
    /// Where the subject ends, in a clause; `None` without a subject.
    pub subject: Option<String>,
    /// The title of the whole result.
    pub title: String,
    /// The whole result.
    pub body: Document,
}

impl Workspace {
    /// Applies a what-if on a branch. At a dry decision, one that does not run the scheduler is applied before the
    /// decision, which is then taken again. The cursor ends at the decision about the subject, if it still has one. An error, or
    /// a cancelled run, leaves the session as it was.
    pub(super) fn what_if(&mut self, verb: &Verb, subject: Option<&Key>, tools: &Tools<'_>) -> Result<Applied, ChangeError> {
        let cursor = self.session.timeline().cursor();
        let was = subject.map(|pod| (pod, PodAt::cursor(&self.session, pod)));
        let continues = self.continues();
        self.begin(self.begins(verb.settles()));
        let branch = self.session.begin_what_if();
        let begun_at = self.session.timeline().revisions().len();
        let answer = match whatif::apply(&mut OnBranch::new(&mut self.session, tools.go_on), verb, tools.originals) {
            Ok(answer) => answer,
            Err(error) => {
                if branch.is_some() {
                    self.session.abandon_branch();
                }
                self.session.timeline_mut().seek(cursor);
                return Err(error.into());
            }
        };
        self.session.timeline_mut().seek(Cursor::END);
        let report = WhatIfReport::new(vec![answer], self.session.scheduler(), Vec::new());
        let applied = applied(&self.session, branch);
        let subject = was.map(|(pod, was)| {
            self.show_end_of(pod, begun_at, continues);
            was.ends(&self.session, pod)
        });
        let (headline, body) = (report.headline(), report.answers());
        let answer = WhatIfAnswer { headline, subject, title: format!("What if: {verb}"), body };
        Ok(Applied { answer: Some(answer), ..applied })
    }
}
