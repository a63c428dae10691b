//! The work of jobs, each of which runs on its own thread, on clones that share their parts with the session.

use std::sync::Arc;

use crate::analysis::{Agreements, DumpDiff, DumpState, FixReport, FixesReport};
use crate::cluster::{Key, Kind, Pod};
use crate::fixes::{self, Fix, Limits};
use crate::output;
use crate::report::{FORMATS, WhatIfReport, comparison};
use crate::scheduler::{Config, InitialQueues, Options, Scheduler};
use crate::session::{Comparison, Session, is_same_cluster};
use crate::source::{self, Input};
use crate::ui::{FixToApply, JobState, LinkedText, NewFile, Progress, TicketSubject};
use crate::whatif::{capacity, flood};

use super::error::JobError;
use super::object_text::{Finding, Sources};
use super::ticket::{Decision, PageTicket, format_of};

/// Answer about a decision that every start of the search comes to.
const NO_STARTS: &str = "the start of the search changes nothing here: all nodes that fit were found";

/// The work of a job, which ends with a text to show or a sentence.
pub(super) type Work = Box<dyn FnOnce(&Progress) -> Result<JobState, JobError> + Send>;

fn prose(title: impl Into<String>, body: output::Document) -> JobState {
    JobState::Done(LinkedText::prose(title, body))
}

/// Returns a pod at the cursor, with the scheduler there.
fn pod_here(session: &Session, pod: Key) -> Result<(Scheduler, Arc<Pod>), JobError> {
    let scheduler = session.scheduler_here().clone();
    let pod = scheduler.state().cluster().pods.get(&pod).cloned().ok_or(JobError::NoPod(pod))?;
    Ok((scheduler, pod))
}

/// Searches for fixes of a pod. The lines of the text link to the fixes.
pub(super) fn fixes(session: &Session, sources: &Sources, pod: Key) -> Result<Work, JobError> {
    let (scheduler, pod) = pod_here(session, pod)?;
    let finding = Finding::new(session, sources);
    Ok(Box::new(move |progress| {
        let cluster = scheduler.state().cluster();
        let originals = |kind: Kind, key: &Key| finding.original(kind, key);
        let background = finding.background(&originals);
        let found = fixes::find(&scheduler, &pod, Limits::of(cluster.nodes.len()), background, &|_| progress.another(0));
        let report = FixesReport::new(&found, cluster, background.source());
        let fix = |(report, fix): (&FixReport, &Fix)| {
            let changes = fix.changes.clone().into();
            FixToApply { text: report.text.clone(), pod: found.pod.clone(), changes, pods: Arc::default() }
        };
        Ok(JobState::Done(LinkedText {
            fixes: report.fixes.iter().zip(&found.fixes).map(fix).collect(),
            ..LinkedText::prose(format!("Fixes for {}", found.pod), report.document())
        }))
    }))
}

/// Compares the decision about every pending pod with the cluster's scheduler.
pub(super) fn scheduler_match(session: &Session) -> Work {
    let scheduler = session.scheduler_as_seen().clone();
    let events = session.background().events.clone();
    let seen = super::live_follow::seen(session);
    Box::new(move |progress| {
        let found = Agreements::of(&scheduler, &events, seen, |_| true, |of| progress.another(of));
        Ok(prose("Compared with the cluster's scheduler", found.document()))
    })
}

/// Compares the dump in a file with the newest state of the cluster.
pub(super) fn diff_with(session: &Session, path: String) -> Work {
    let here = session.scheduler_as_seen().clone();
    let name = session.source().to_owned();
    Box::new(move |progress| {
        let there = dump_like(&here, &path)?;
        let is_same = is_same_cluster(there.state().cluster(), here.state().cluster());
        let is_newer = there.state().clock() > here.state().clock();
        let (there, here) = ((there, path), (here, name));
        let sorted = if is_newer { [here, there] } else { [there, here] };
        let mut body = output::Document::default();
        if !is_same {
            body.item(0, "These seem to be different clusters.");
            body.blank();
        }
        body.append(diff_of(&sorted, progress));
        Ok(prose("Differences", body))
    })
}

/// Compares two observed states of the cluster.
pub(super) fn diff(session: &Session, is_live: bool) -> Result<Work, JobError> {
    let (at, schedulers) = session.observed_change(is_live).ok_or(JobError::OneState)?;
    let revisions = session.timeline().revisions();
    // Dry decisions between dumps change nothing.
    let name = |done: usize| {
        let before = revisions[..done.min(revisions.len())].iter().rev();
        let change = before.into_iter().find(|revision| !revision.action.changes_nothing());
        change.map_or_else(|| "the start".to_owned(), |revision| revision.title.clone())
    };
    let [old, new] = if is_live { ["the start".to_owned(), "now".to_owned()] } else { [name(at - 1), name(at)] };
    let states = [(schedulers[0].clone(), old), (schedulers[1].clone(), new)];
    Ok(Box::new(move |progress| Ok(prose("Differences", diff_of(&states, progress)))))
}

fn diff_of(states: &[(Scheduler, String); 2], progress: &Progress) -> output::Document {
    let named = states.each_ref().map(|(scheduler, name)| DumpState { name: name.clone(), at: Some(scheduler.state().clock()) });
    DumpDiff::of(states.each_ref().map(|(scheduler, _)| scheduler), named, |_| true, |of| progress.another(of)).document()
}

/// Reads a dump, and starts a scheduler on it as another one was started.
fn dump_like(like: &Scheduler, path: &str) -> Result<Scheduler, JobError> {
    let mut loaded = source::load(&[Input::Path(path.into())]);
    if loaded.objects.is_empty() {
        let why = loaded.diagnostics.first().map_or_else(|| format!("{path}: it has no object of a cluster"), ToString::to_string);
        return Err(JobError::NoDump(why));
    }
    loaded.report.forget_origins();
    let config = like.state().config();
    let options = Options {
        start: loaded.report.newest.unwrap_or_default(),
        unknown: loaded.report.missing_for(config.emulation.gated_kinds()),
        queues: InitialQueues::Fresh,
        events: Vec::new(),
        source_bytes: Some(loaded.report.bytes),
        ..like.options().clone()
    };
    Ok(Scheduler::new(Config::clone(config), loaded.objects, options))
}

/// Compares two branches.
pub(super) fn compare(session: &Session, one: usize, other: usize) -> Result<Work, JobError> {
    let branches = session.branches();
    let of = |at: usize| branches.get(at).cloned().ok_or(JobError::NoBranch(branches.len()));
    let (one, other) = (of(one)?, of(other)?);
    Ok(Box::new(move |progress| {
        let compared = Comparison::settled(&one, &other, |of| progress.another(of));
        Ok(prose(format!("{} compared with {}", compared.names[0], compared.names[1]), comparison(&compared)))
    }))
}

/// Writes a ticket.
pub(super) fn ticket(session: &Session, sources: &Sources, file: NewFile, subject: TicketSubject) -> Result<Work, JobError> {
    let reproduction = sources.reproduction.clone().map(|again| again.written_as(format_of(&file).unwrap_or(&FORMATS[0])));
    let (reproduction, is_live) = (reproduction.as_ref(), sources.live.is_some());
    let TicketSubject::Decision { revision, result } = subject else {
        let ticket = PageTicket::of(session, subject, reproduction, is_live).ok_or(JobError::NoDecision)?;
        return Ok(Box::new(move |_| Ok(JobState::Said(ticket.write(&file)?))));
    };
    let decision = Decision::of(session, revision, reproduction, is_live)?.with_result(result, reproduction);
    let finding = Finding::new(session, sources);
    Ok(Box::new(move |progress| Ok(JobState::Said(decision.write(&finding, &file, &|| progress.another(0))?))))
}

/// Counts how many more of a pod fit at the cursor.
pub(super) fn how_many_fit(session: &Session, pod: Key) -> Result<Work, JobError> {
    let (scheduler, pod) = pod_here(session, pod)?;
    Ok(Box::new(move |progress| {
        let found = capacity(&scheduler, &pod, &|_| progress.another(0))?;
        Ok(prose(format!("How many more of {} fit", pod.key()), WhatIfReport::of_capacity(found).answers()))
    }))
}

/// Finds who is evicted first if pods like one at the cursor keep coming.
pub(super) fn who_is_evicted(session: &Session, pod: Key) -> Result<Work, JobError> {
    let (scheduler, pod) = pod_here(session, pod)?;
    Ok(Box::new(move |progress| {
        let found = flood(&scheduler, &pod, &|_| progress.another(0))?;
        Ok(prose(format!("Who is evicted if pods like {} keep coming", pod.key()), WhatIfReport::of_flood(found).answers()))
    }))
}

/// Counts the odds of the decision of a revision over all starting nodes of the search.
pub(super) fn odds(session: &Session, at: usize) -> Result<Work, JobError> {
    let revision = session.timeline().revisions().get(at).cloned().ok_or(JobError::NoDecision)?;
    let decision = Decision::of(session, at, None, false)?;
    Ok(Box::new(move |_| {
        let odds = decision.odds_over_starts().map(Arc::new);
        let words = odds.as_deref().map_or_else(|| NO_STARTS.to_owned(), |odds| decision.odds_in_words(odds));
        if let Some(odds) = odds {
            // Counted before, if it is there.
            let _ = revision.odds_over_starts.set(odds);
        }
        Ok(JobState::Said(words))
    }))
}

/// Reads an object with all its fields, from the source or the live cluster.
pub(super) fn object(session: &Session, sources: &Sources, kind: Kind, key: Key) -> Work {
    let finding = Finding::new(session, sources);
    Box::new(move |_| Ok(JobState::Done(finding.object(kind, &key)?)))
}

/// Writes the cluster as last seen to a dump.
pub(super) fn capture(session: &Session, sources: &Sources, path: String, redact: bool) -> Work {
    let cluster = session.scheduler_as_seen().state().cluster().clone();
    let (events, unknown) = (session.background().events.clone(), sources.unknown.clone());
    let neighbors = session.background().neighbors.clone();
    let version = sources.reports.last().and_then(|report| super::object_text::known_version(report));
    // Standard output is the screen.
    let path = if path == "-" { "./-".to_owned() } else { path };
    Box::new(move |_| {
        let version = version.as_deref();
        Ok(JobState::Said(super::object_text::capture(&cluster, (&events, &neighbors), version, &unknown, &path, redact)?))
    })
}
