//! Runs a job on its own thread, on clones that share their parts with the session.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::analysis::{Agreements, DumpDiff, DumpState, FixReport, FixesReport};
use crate::cluster::Pod;
use crate::fixes::{self, Fix, Limits};
use crate::output;
use crate::report::{FORMATS, WhatIfReport, comparison};
use crate::scheduler::{Config, InitialQueues, Options, Scheduler};
use crate::session::{Comparison, Session, is_same_cluster};
use crate::source::{self, Input};
use crate::ui::{Document, FixToApply, Form, Job, JobState, SessionError, TicketSubject};
use crate::whatif::{capacity, flood};

use super::error::JobError;
use super::object_text::{Finding, Sources};
use super::ticket::{Decision, PageTicket, format_of};

/// Answer about a decision that every start of the search comes to.
const NO_STARTS: &str = "the start of the search changes nothing here: all nodes that fit were found";

/// Name of the thread.
const THREAD: &str = "jobs";

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
        ..like.options().clone()
    };
    Ok(Scheduler::new(Config::clone(config), loaded.objects, options))
}

/// A running job; dropping it cancels the job.
#[derive(Debug)]
pub(super) struct RunningJob {
    progress: Arc<Progress>,
    /// Clones of an explorer share the job; the first to poll gets the result.
    result: Mutex<Receiver<Result<Outcome, JobError>>>,
}

/// Result of a job.
#[derive(Debug)]
enum Outcome {
    Shown(Document),
    Said(String),
}

/// Progress of a job.
#[derive(Debug, Default)]
struct Progress {
    done: AtomicUsize,
    of: AtomicUsize,
    cancelled: AtomicBool,
}

impl Progress {
    /// Reports one finished item; returns false if cancelled.
    fn another(&self, of: usize) -> bool {
        self.of.store(of, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
        !self.cancelled.load(Ordering::Relaxed)
    }
}

/// Searches for fixes of a pod and makes a document, whose lines link to the fixes.
fn fixes_of(scheduler: &Scheduler, pod: &Arc<Pod>, finding: &Finding, progress: &Progress) -> Document {
    let cluster = scheduler.state().cluster();
    let found = fixes::find(scheduler, pod, Limits::of(cluster.nodes.len()), finding.acts(), &|_| progress.another(0));
    let report = FixesReport::new(&found, cluster, &|kind, key| finding.original(kind, key));
    let fix = |(report, fix): (&FixReport, &Fix)| {
        let changes = fix.changes.clone().into();
        FixToApply { text: report.text.clone(), pod: found.pod.clone(), changes, pods: Arc::default() }
    };
    Document {
        title: format!("Fixes for {}", found.pod),
        fixes: report.fixes.iter().zip(&found.fixes).map(fix).collect(),
        body: report.document(),
        form: Form::Prose,
    }
}

impl RunningJob {
    /// Starts a job.
    pub(super) fn start(session: &Session, sources: &Sources, work: Job) -> Result<Self, JobError> {
        let progress = Arc::new(Progress::default());
        let (sender, result) = channel();
        let watched = Arc::clone(&progress);
        let prose = |title: String, body| Outcome::Shown(Document { title, body, form: Form::Prose, fixes: Vec::new() });
        let run: Box<dyn FnOnce() -> Result<Outcome, JobError> + Send> = match work {
            Job::SchedulerMatch => {
                let scheduler = session.scheduler_as_seen().clone();
                let events = session.background().events.clone();
                let seen = super::live_follow::seen(session);
                Box::new(move || {
                    let found = Agreements::of(&scheduler, &events, seen, |_| true, |of| watched.another(of));
                    Ok(prose("Compared with the cluster's scheduler".to_owned(), found.document()))
                })
            }
            Job::Diff(Some(path)) => {
                let here = session.scheduler_as_seen().clone();
                let name = session.source().to_owned();
                Box::new(move || {
                    let there = dump_like(&here, &path)?;
                    let is_same = is_same_cluster(there.state().cluster(), here.state().cluster());
                    let (there, here) = ((there, path), (here, name));
                    let sorted = if there.0.state().clock() > here.0.state().clock() { [here, there] } else { [there, here] };
                    let states = [&sorted[0], &sorted[1]]
                        .map(|(scheduler, name)| DumpState { name: name.clone(), at: Some(scheduler.state().clock()) });
                    let found = DumpDiff::of([&sorted[0].0, &sorted[1].0], states, |_| true, |of| watched.another(of));
                    let mut body = output::Document::default();
                    if !is_same {
                        body.item(0, "These seem to be different clusters.");
                        body.blank();
                    }
                    body.append(found.document());
                    Ok(prose("Differences".to_owned(), body))
                })
            }
            Job::Diff(None) => {
                let (at, schedulers) = session.observed_change(sources.live.is_some()).ok_or(JobError::OneState)?;
                let revisions = session.timeline().revisions();
                // Dry decisions between dumps change nothing.
                let name = |done: usize| {
                    let before = revisions[..done.min(revisions.len())].iter().rev();
                    let change = before.into_iter().find(|revision| !revision.action.changes_nothing());
                    change.map_or_else(|| "the start".to_owned(), |revision| revision.title.clone())
                };
                let names = if sources.live.is_some() { ["the start".to_owned(), "now".to_owned()] } else { [name(at - 1), name(at)] };
                let [old, new] = schedulers.map(Scheduler::clone);
                let states = [(&old, &names[0]), (&new, &names[1])]
                    .map(|(scheduler, name)| DumpState { name: name.clone(), at: Some(scheduler.state().clock()) });
                Box::new(move || {
                    let found = DumpDiff::of([&old, &new], states, |_| true, |of| watched.another(of));
                    Ok(prose("Differences".to_owned(), found.document()))
                })
            }
            Job::Compare(one, other) => {
                let branches = session.branches();
                let of = |at: usize| branches.get(at).cloned().ok_or(JobError::NoBranch(branches.len()));
                let (one, other) = (of(one)?, of(other)?);
                Box::new(move || {
                    let compared = Comparison::settled(&one, &other, |of| watched.another(of));
                    Ok(prose(format!("{} compared with {}", compared.names[0], compared.names[1]), comparison(&compared)))
                })
            }
            Job::Fixes(pod) => {
                let (scheduler, finding) = (session.scheduler_here().clone(), Finding::new(session, sources));
                let waiting = scheduler.state().cluster().pods.get(&pod).cloned().ok_or(JobError::NoPod(pod))?;
                Box::new(move || Ok(Outcome::Shown(fixes_of(&scheduler, &waiting, &finding, &watched))))
            }
            Job::Ticket { file, subject: TicketSubject::Decision { revision, result } } => {
                let reproduction = sources.reproduction.clone().map(|again| again.written_as(format_of(&file).unwrap_or(&FORMATS[0])));
                let decision = Decision::of(session, revision, reproduction.as_ref(), sources.live.is_some())?;
                let decision = decision.with_result(result, reproduction.as_ref());
                let finding = Finding::new(session, sources);
                Box::new(move || Ok(Outcome::Said(decision.write(&finding, &file, &|| watched.another(0))?)))
            }
            Job::Ticket { file, subject } => {
                let reproduction = sources.reproduction.clone().map(|again| again.written_as(format_of(&file).unwrap_or(&FORMATS[0])));
                let ticket = PageTicket::of(session, subject, reproduction.as_ref(), sources.live.is_some());
                let ticket = ticket.ok_or(JobError::NoDecision)?;
                Box::new(move || Ok(Outcome::Said(ticket.write(&file)?)))
            }
            Job::Capacity(pod) => {
                let scheduler = session.scheduler_here().clone();
                let pod = scheduler.state().cluster().pods.get(&pod).cloned().ok_or(JobError::NoPod(pod))?;
                Box::new(move || {
                    let found = capacity(&scheduler, &pod, &|_| watched.another(0))?;
                    Ok(prose(format!("How many more of {} fit", pod.key()), WhatIfReport::of_capacity(found).answers()))
                })
            }
            Job::Flood(pod) => {
                let scheduler = session.scheduler_here().clone();
                let pod = scheduler.state().cluster().pods.get(&pod).cloned().ok_or(JobError::NoPod(pod))?;
                Box::new(move || {
                    let found = flood(&scheduler, &pod, &|_| watched.another(0))?;
                    Ok(prose(format!("Who is evicted if pods like {} keep coming", pod.key()), WhatIfReport::of_flood(found).answers()))
                })
            }
            Job::Odds(at) => {
                let revision = session.timeline().revisions().get(at).cloned().ok_or(JobError::NoDecision)?;
                let decision = Decision::of(session, at, None, false)?;
                Box::new(move || {
                    let odds = decision.odds_over_starts().map(Arc::new);
                    let words = odds.as_deref().map_or_else(|| NO_STARTS.to_owned(), |odds| decision.odds_in_words(odds));
                    if let Some(odds) = odds {
                        // Counted before, if it is there.
                        let _ = revision.odds_over_starts.set(odds);
                    }
                    Ok(Outcome::Said(words))
                })
            }
            Job::Object(kind, key) => {
                let finding = Finding::new(session, sources);
                Box::new(move || Ok(Outcome::Shown(finding.object(kind, &key)?)))
            }
            Job::Capture { path, redact } => {
                let cluster = session.scheduler_as_seen().state().cluster().clone();
                let (events, unknown) = (session.background().events.clone(), sources.unknown.clone());
                let neighbors = session.background().neighbors.clone();
                let version = sources.reports.last().and_then(|report| super::object_text::known_version(report));
                // Standard output is the screen.
                let path = if path == "-" { "./-".to_owned() } else { path };
                Box::new(move || {
                    let version = version.as_deref();
                    Ok(Outcome::Said(super::object_text::capture(&cluster, (&events, &neighbors), version, &unknown, &path, redact)?))
                })
            }
        };
        std::thread::Builder::new()
            .name(THREAD.to_owned())
            // The receiver is gone if the user left.
            .spawn(move || drop(sender.send(run())))
            .map_err(JobError::Thread)?;
        Ok(Self { progress, result: Mutex::new(result) })
    }

    /// Returns the progress, or the result once.
    pub(super) fn state(&self) -> JobState {
        match self.result.lock().unwrap_or_else(PoisonError::into_inner).try_recv() {
            Ok(Ok(Outcome::Shown(document))) => JobState::Done(document),
            Ok(Ok(Outcome::Said(words))) => JobState::Said(words),
            Ok(Err(error)) => JobState::Failed(SessionError::new(error)),
            Err(TryRecvError::Empty) => {
                JobState::Going(self.progress.done.load(Ordering::Relaxed), self.progress.of.load(Ordering::Relaxed))
            }
            Err(TryRecvError::Disconnected) => JobState::Failed(SessionError::new(JobError::BrokeOff)),
        }
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.progress.cancelled.store(true, Ordering::Relaxed);
    }
}
