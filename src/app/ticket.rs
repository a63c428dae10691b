//! Writes a decision as a ticket, with its fixes and the command that takes it again.

use std::sync::Arc;

use super::error::JobError;
use super::export::write_file;
use super::object_text::Finding;
use crate::analysis::{FixesReport, ReleaseReport, SchedulerEvents, decision_parts, odds_in_words, why};
use crate::cluster::neighbors::About;
use crate::cluster::{Key, Kind, Pod};
use crate::fixes::{self, Limits};
use crate::odds::Odds;
use crate::output::{Document, Lines};
use crate::report::{Answer, Format, Origin, Reported, Ticket, page, shell_line};
use crate::scheduler::{OddsEffort, Scheduler};
use crate::session::{Cursor, Revision, Session};
use crate::trace::{CycleView, Outcome};
use crate::ui::{NewFile, Page, TicketSubject};
use crate::whatif::Verb;

/// The arguments of `schedscope explain` that name the source, the scheduler and the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproduction {
    words: Vec<String>,
    format: &'static str,
}

impl Reproduction {
    /// Makes it from the arguments behind the pod's name.
    pub fn new(words: Vec<String>) -> Self {
        Self { words, format: "markdown" }
    }

    /// Returns the same in a format of documents; Markdown for others.
    #[must_use]
    pub fn written_as(self, format: &Format) -> Self {
        Self { format: if format.is_ticket() { format.name } else { self.format }, ..self }
    }

    /// Returns the command that shows all pending pods.
    fn overview(&self) -> String {
        let first = ["schedscope", "explain", "--pending", "-A"];
        shell_line(first.into_iter().chain(self.words.iter().map(String::as_str)).chain(["-o", self.format]))
    }

    /// Returns the command that explains a workload.
    fn workload(&self, workload: &About) -> String {
        let name = workload.to_string();
        let first = ["schedscope", "explain", name.as_str(), "-n", workload.key.namespace.as_str()];
        shell_line(first.into_iter().chain(self.words.iter().map(String::as_str)).chain(["-o", self.format]))
    }

    /// Returns the command that makes these what-ifs.
    fn what_if(&self, verbs: &[&Verb]) -> Option<String> {
        let verbs: Vec<String> = verbs.iter().map(ToString::to_string).collect();
        let of_verbs = verbs.iter().flat_map(|verb| ["--what-if", verb.as_str()]);
        let all = ["schedscope", "run"].into_iter().chain(of_verbs).chain(self.words.iter().map(String::as_str));
        (!verbs.is_empty()).then(|| shell_line(all.chain(["-o", self.format])))
    }

    /// Returns the command that applies a manifest.
    fn manifest(&self, path: &str) -> String {
        let first = ["schedscope", "explain", "-f", path];
        shell_line(first.into_iter().chain(self.words.iter().map(String::as_str)).chain(["-o", self.format]))
    }

    /// Returns the command that takes the decision about a pod again.
    pub fn command(&self, pod: &Key) -> String {
        let first = ["schedscope", "explain", pod.name.as_str(), "-n", pod.namespace.as_str()];
        shell_line(first.into_iter().chain(self.words.iter().map(String::as_str)).chain(["--fixes", "-o", self.format]))
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

/// A what-if of a session.
#[derive(PartialEq, strum::Display)]
enum WhatIf<'a> {
    /// A change that a verb makes.
    #[strum(to_string = "{0}")]
    Verb(Verb),
    /// A change that is no verb, such as the objects of a file, with its title.
    #[strum(to_string = "{0}")]
    Titled(&'a str),
}

/// Returns the what-ifs among revisions, each once: a drain makes several changes, one after another.
fn what_ifs<'a>(revisions: &[&'a Revision]) -> Vec<WhatIf<'a>> {
    let changes = revisions.iter().filter(|revision| revision.action.is_what_if());
    let mut found: Vec<WhatIf<'a>> =
        changes.map(|revision| revision.action.what_if().map_or(WhatIf::Titled(&revision.title), WhatIf::Verb)).collect();
    found.dedup();
    found
}

/// Returns the origin of an answer that was given before the revision `upto`, at a time. `again` returns the command that gives it
/// on the cluster as it was read; where the session has what-ifs, the command makes them, if they are all verbs.
fn origin(
    session: &Session,
    upto: usize,
    at: jiff::Timestamp,
    (reproduction, is_live): (Option<&Reproduction>, bool),
    again: impl FnOnce(&Reproduction) -> Option<String>,
) -> Origin {
    let revisions = session.timeline().revisions();
    let upto = upto.min(revisions.len());
    let added: Vec<&Revision> = revisions[session.observed_revisions().min(upto)..upto].iter().map(Arc::as_ref).collect();
    let titles = |wanted: fn(&Revision) -> bool| added.iter().filter(|r| wanted(r)).map(|r| r.title.clone()).collect::<Vec<String>>();
    let what_ifs = what_ifs(&added);
    let verbs: Option<Vec<&Verb>> =
        what_ifs.iter().map(|what_if| if let WhatIf::Verb(verb) = what_if { Some(verb) } else { None }).collect();
    let with_steps = reproduction.and_then(|reproduction| reproduction.what_if(&verbs?));
    Origin {
        source: session.source().to_owned(),
        at: Some(at),
        command_has_steps: with_steps.is_some(),
        command: with_steps.or_else(|| again(reproduction?)),
        steps: titles(|revision| revision.action.is_what_if() || revision.action.is_run()),
        what_ifs: what_ifs.iter().map(WhatIf::to_string).collect(),
        is_live,
        ..Origin::default()
    }
}

/// Returns the origin of an answer after the manifest of a file was applied, and nothing else.
fn with_manifest(origin: Origin, manifest: Option<&str>, reproduction: Option<&Reproduction>) -> Origin {
    let Some(path) = manifest else { return origin };
    let command = reproduction.map(|reproduction| reproduction.manifest(path));
    Origin { what_ifs: vec![format!("apply {path}")], command_has_steps: command.is_some(), command, ..origin }
}

/// Returns the fixes of a pod with the reason why it is pending before them.
fn with_reason(session: &Session, key: &Key, fixes: Document) -> Document {
    let scheduler = session.scheduler_here();
    let Some(pod) = scheduler.state().cluster().pods.get(key) else { return fixes };
    let view = scheduler.view_of(pod).showing(key);
    let mut body = Document::default();
    body.paragraph(format!("{key}: {}", why(&view)));
    body.blank();
    body.append(fixes);
    body
}

/// A text on the screen, with how it is made again.
pub(super) struct PageTicket {
    page: Page,
    origin: Origin,
}

/// Returns the format of a ticket in a file.
pub(super) fn format_of(file: &NewFile) -> Result<&'static Format, JobError> {
    Format::of_ending(file.ending()).filter(|format| format.is_ticket()).ok_or(JobError::NoDecision)
}

impl PageTicket {
    /// Takes the text of a subject that is no decision; `None` for a decision.
    pub(super) fn of(session: &Session, subject: TicketSubject, reproduction: Option<&Reproduction>, is_live: bool) -> Option<Self> {
        let clock = session.timeline().clock();
        let upto = session.timeline().revisions_done();
        let origin = |again: &dyn Fn(&Reproduction) -> Option<String>| origin(session, upto, clock, (reproduction, is_live), again);
        let (page, origin) = match subject {
            TicketSubject::Decision { .. } => return None,
            TicketSubject::Overview(page) => (page, origin(&|reproduction| Some(reproduction.overview()))),
            TicketSubject::Fixes(pod, page) => {
                let is_known = session.scheduler_as_seen().state().cluster().pods.get(&pod).is_some();
                let page = Page { body: with_reason(session, &pod, page.body), ..page };
                (page, origin(&|reproduction| is_known.then(|| reproduction.command(&pod))))
            }
            TicketSubject::Workload(workload, page) => (page, origin(&|reproduction| Some(reproduction.workload(&workload)))),
            TicketSubject::Text(page) => {
                let origin = with_manifest(origin(&|_| None), page.manifest.as_deref(), reproduction);
                (page, origin)
            }
        };
        Some(Self { page, origin })
    }

    /// Writes it to a new file, in the format of its extension. Returns what was done in words.
    pub(super) fn write(&self, file: &NewFile) -> Result<String, JobError> {
        let write = format_of(file)?.document().ok_or(JobError::NoDecision)?;
        let text = write(&page(&self.page.title, &self.page.body, Some(&self.origin)));
        let path = write_file(file, &text)?;
        Ok(format!("ticket about {} written to {path}", self.page.title))
    }
}

impl Decision {
    /// Finds the decision of a revision.
    pub(super) fn of(session: &Session, revision: usize, reproduction: Option<&Reproduction>, is_live: bool) -> Result<Self, JobError> {
        let mut before = session.clone();
        before.timeline_mut().seek(Cursor { revision, event: 0 });
        let revisions = session.timeline().revisions();
        let decided = revisions.get(revision).ok_or(JobError::NoDecision)?;
        let view = decided.events.cycle_view();
        let key = view.start.as_ref().map(|start| start.pod.clone()).ok_or(JobError::NoDecision)?;
        let scheduler = before.scheduler_here().clone();
        let pod = scheduler.state().cluster().pods.get(&key).cloned().ok_or_else(|| JobError::NoPod(key.clone()))?;
        let written = SchedulerEvents::new(&session.background().events);
        let written = session.scheduler_as_seen().state().cluster().pods.get(&key).and_then(|pod| written.about(pod));
        let reported = if decided.is_logged() { Reported::This } else { Reported::of(&view, written.as_ref()) };
        let invented = session.scheduler_as_seen().state().cluster().pods.get(&key).is_none();
        let again = |reproduction: &Reproduction| (!invented).then(|| reproduction.command(&key));
        let origin = Origin { reported, invented, ..origin(session, revision, decided.before.clock, (reproduction, is_live), again) };
        let release = ReleaseReport::of(scheduler.emulated(), &decision_parts(scheduler.state().config()));
        Ok(Self { view, scheduler, pod, release, origin })
    }

    /// Adds the result of the what-if that led to the decision.
    pub(super) fn with_result(mut self, result: Option<Page>, reproduction: Option<&Reproduction>) -> Self {
        let manifest = result.as_ref().and_then(|page| page.manifest.as_deref());
        self.origin = with_manifest(self.origin, manifest, reproduction);
        self.origin.result = result.map(|page| (page.title, page.body));
        self
    }

    /// Counts the odds over all starting nodes of the search; `None` if the start changes nothing.
    pub(super) fn odds_over_starts(&self) -> Option<Odds> {
        self.scheduler.odds_over_starts(&self.pod, &self.view, OddsEffort::Asked)
    }

    /// Returns the odds of the selected node in words.
    pub(super) fn odds_in_words(&self, odds: &Odds) -> String {
        let node = self.view.scoring.selected.as_ref().map(|(node, ..)| node.as_str()).unwrap_or_default();
        match (odds.why_unknown(), odds_in_words(odds, node)) {
            (Some(why), _) => format!("the odds over all starting nodes are unknown: {why}"),
            (None, Some(words)) => format!("over all starting nodes of the search {node} is picked {words}"),
            (None, None) => format!("{node} is picked whichever node the search starts from"),
        }
    }

    /// Searches the fixes and writes the ticket to a new file, in the format of its extension. Returns what was done in words.
    pub(super) fn write(self, finding: &Finding, file: &NewFile, is_wanted: &(dyn Fn() -> bool + Sync)) -> Result<String, JobError> {
        let cluster = self.scheduler.state().cluster();
        let fits = self.view.outcome == Some(Outcome::Scheduled);
        let originals = |kind: Kind, key: &Key| finding.original(kind, key);
        let (limits, background) = (Limits::of(cluster.nodes.len()), finding.background(&originals));
        let found = (!fits).then(|| fixes::find(&self.scheduler, &self.pod, limits, background, &|_| is_wanted()));
        let fixes = found.map(|found| FixesReport::new(&found, cluster, background.source()));
        let ticket = Ticket::new(&self.view, &self.release, fixes.as_ref(), &self.origin);
        let text = format_of(file)?.write(&Answer::Ticket(ticket), Lines::default())?;
        let path = write_file(file, &text)?;
        Ok(format!("ticket about {} written to {path}", self.pod.key()))
    }
}
