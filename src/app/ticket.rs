//! Writes a decision as a ticket, with its fixes and the command that takes it again.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::WriteError;
use super::error::JobError;
use super::object_text::Finding;
use crate::cluster::{Key, Pod};
use crate::fixes::{self, Limits};
use crate::odds::Odds;
use crate::output::{self, Lines};
use crate::report::{
    Answer, FixesReport, Format, Origin, ReleaseReport, Reported, SchedulerEvents, Ticket, decision_parts, odds_in_words, shell_line,
};
use crate::scheduler::{OddsEffort, Scheduler};
use crate::session::{Cursor, Revision, RevisionKind, Session};
use crate::trace::{CycleView, Outcome};

/// The arguments of `schedscope explain` that name the source and the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproduction(Vec<String>);

impl Reproduction {
    /// Makes it from the arguments behind the pod's name.
    pub fn new(words: Vec<String>) -> Self {
        Self(words)
    }

    /// Returns the command that takes the decision about a pod again.
    pub fn command(&self, pod: &Key) -> String {
        let first = ["schedscope", "explain", pod.name.as_str(), "-n", pod.namespace.as_str()];
        shell_line(first.into_iter().chain(self.0.iter().map(String::as_str)).chain(["--fixes", "-o", "markdown"]))
    }
}

/// A decision of a session, with everything that its ticket needs.
pub(super) struct Decision {
    view: CycleView,
    /// The scheduler before the decision.
    scheduler: Scheduler,
    pod: Arc<Pod>,
    release: ReleaseReport,
    origin: Origin,
}

impl Decision {
    /// Finds the decision of a revision.
    pub(super) fn of(session: &Session, revision: usize, reproduction: Option<&Reproduction>, is_live: bool) -> Result<Self, JobError> {
        let mut before = session.clone();
        before.timeline_mut().seek(Cursor { revision, event: 0 });
        let revisions = session.timeline().revisions();
        let decided = revisions.get(revision).ok_or(JobError::NoDecision)?;
        let view = CycleView::of(decided.events.iter());
        let key = view.start.as_ref().map(|start| start.pod.clone()).ok_or(JobError::NoDecision)?;
        let scheduler = before.scheduler_here().clone();
        let pod = scheduler.state().cluster().pods.get(&key).cloned().ok_or_else(|| JobError::NoPod(key.clone()))?;
        let written = SchedulerEvents::new(&session.background().events);
        let written = session.scheduler_as_seen().state().cluster().pods.get(&key).and_then(|pod| written.about(pod));
        let reported = if decided.kind.is_logged() { Reported::This } else { Reported::of(&view, written.as_ref()) };
        let added: Vec<&Revision> = revisions[session.observed_revisions().min(revision)..revision].iter().map(Arc::as_ref).collect();
        let titles = |wanted: fn(&RevisionKind) -> bool| added.iter().filter(|r| wanted(&r.kind)).map(|r| r.title.clone()).collect();
        let origin = Origin {
            source: session.source().to_owned(),
            at: Some(decided.before.clock),
            command: reproduction.map(|reproduction| reproduction.command(&key)),
            steps: titles(|kind| !matches!(kind, RevisionKind::Explain(_) | RevisionKind::Logged(_) | RevisionKind::Observe)),
            what_ifs: titles(RevisionKind::is_what_if),
            reported,
            is_live,
        };
        let release = ReleaseReport::of(scheduler.emulated(), &decision_parts(scheduler.state().config()));
        Ok(Self { view, scheduler, pod, release, origin })
    }

    /// Counts the odds over all starting nodes of the search; `None` if the start changes nothing.
    pub(super) fn odds_over_starts(&self) -> Option<Odds> {
        self.scheduler.odds_over_starts(&self.pod, &self.view, OddsEffort::Asked)
    }

    /// Returns the odds of the selected node in words.
    pub(super) fn odds_in_words(&self, odds: &Odds) -> String {
        let node = self.view.selected.as_ref().map(|(node, ..)| node.as_str()).unwrap_or_default();
        match (odds.why_unknown(), odds_in_words(odds, node)) {
            (Some(why), _) => format!("the odds over all starting nodes are unknown: {why}"),
            (None, Some(words)) => format!("over all starting nodes of the search {node} is picked {words}"),
            (None, None) => format!("{node} is picked whichever node the search starts from"),
        }
    }

    /// Searches the fixes and writes the ticket to a new file. Returns what was done in words.
    pub(super) fn write(self, finding: &Finding, path: &str, goes_on: &(dyn Fn() -> bool + Sync)) -> Result<String, JobError> {
        let cluster = self.scheduler.state().cluster();
        let fits = self.view.outcome == Some(Outcome::Scheduled);
        let found = (!fits).then(|| fixes::find(&self.scheduler, &self.pod, Limits::of(cluster.nodes.len()), &|_| goes_on()));
        let fixes = found.map(|found| FixesReport::new(&found, cluster, &|kind, key| finding.original(kind, key)));
        let ticket = Ticket {
            view: &self.view,
            release: &self.release,
            fixes: fixes.as_ref(),
            origin: &self.origin,
            agreement: None,
            priority: None,
            when: None,
        };
        let format = Format::of_ending("md").ok_or(JobError::NoDecision)?;
        let text = format.write(&Answer::Ticket(ticket), Lines::default())?;
        let written = output::write_new(Path::new(path), |file| file.write_all(text.as_str().as_bytes()));
        written.map_err(|error| WriteError::create(path, error))?;
        Ok(format!("ticket about {} written to {path}", self.pod.key()))
    }
}
