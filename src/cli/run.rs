//! `schedscope run`: applies operations in order, or schedules until nothing changes.

use std::io::{BufReader, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Unit;
use serde_json::Value;

use super::args::RunArgs;
use super::progress::Showing;
use super::{EXIT_OK, EXIT_SOURCE, Failure, StandardError, print};
use crate::analysis::{Missing, ReleaseReport, run_parts, why};
use crate::cluster::{Kind, MissingReason};
use crate::engine::{Step, operation};
use crate::framework::format_duration;
use crate::limits::sessions::OPERATIONS;
use crate::odds::Share;
use crate::output::{self, Document, Headings, Words};
use crate::plural::count_of;
use crate::report::{
    BeforeOperation, BriefOperation, OperationLine, OperationReport, Stories, group_document, note_sentence, stories_document,
};
use crate::scheduler::{Evictions, InitialQueues, Operation, Quiescence, Scheduler, StepBound};
use crate::session::PodLocation;
use crate::source::Loaded;
use crate::trace::{CycleView, Event};
use crate::whatif::{Note, is_tried_again};

/// Applies operations and prints their results.
pub(super) fn run(args: &RunArgs) -> Result<u8, Failure> {
    if args.brief && args.output.operation().is_none() {
        return Err(Failure::usage("--brief works with -o json and -o yaml"));
    }
    if args.what_if.iter().any(|verb| verb == "help") {
        return super::what_if::help();
    }
    let operations = args.ops.as_ref().map(|path| read_operations(path)).transpose()?;
    let mut loaded = super::one_state(&args.cluster, &args.scheduler, args.merge)?;
    if let Some(other) = args.compare {
        return super::compare::run(args, other, loaded);
    }
    if !args.what_if.is_empty() {
        return super::what_if::run(args, loaded);
    }
    if args.scheduler.extenders.ask_extenders.is_none() {
        loaded.report.forget_origins();
    }
    let mut scheduler = begin(args, operations.is_some(), &mut loaded)?;
    let mut doc = Document::default();
    if args.output.operation().is_none() {
        let release = ReleaseReport::of(scheduler.emulated(), &run_parts(scheduler.state().config()));
        let started = std::iter::once(started(&scheduler)).chain(in_any_order(&scheduler));
        doc = started.chain([release.sentence().to_owned()]).collect();
    }
    let written = operations.is_some() || args.output.operation().is_some();
    let mut bound = if written { StepBound::of_written(&scheduler) } else { StepBound::of(&scheduler) };
    match (operations, args.output.operation()) {
        (Some(operations), Some(line)) => {
            let write = |operation| print(&line(&operation)?).map(drop);
            let left = apply_in_lines(&mut scheduler, &mut bound, args.brief, operations, write)?;
            if let Some(left) = left {
                output::say(left);
            }
        }
        (Some(operations), None) => {
            let number = operations.len();
            for (at, step) in operations.into_iter().enumerate() {
                if !bound.allows_any(scheduler.state()) {
                    doc.paragraph(not_applied(number - at, number));
                    break;
                }
                let before = scheduler.state().steps();
                let operation = on_cluster(step, &scheduler)?;
                one(&mut scheduler, operation, &mut doc);
                bound.spend_on_written(before, scheduler.state(), 0);
            }
        }
        (None, Some(line)) => {
            // Print each operation at once, to keep memory bounded.
            settle_in_lines(&mut scheduler, &mut bound, args.brief, |operation| print(&line(&operation)?).map(drop))?;
            if bound.is_reached() {
                output::say(note_sentence(&Note::CutShort));
            }
        }
        (None, None) => {
            // Stories need no events about single nodes.
            scheduler = scheduler.quietly();
            settle(&mut scheduler, &mut bound, args.output.wide, &mut doc);
        }
    }
    if args.output.operation().is_some() {
        // No line is printed where nothing happens.
        let missing =
            Missing::all(scheduler.state().cluster().unknown).into_iter().filter(|missing| missing.why == MissingReason::NotInSource);
        missing.filter(|missing| matches!(missing.kind, Kind::Node | Kind::Pod)).for_each(|missing| output::say(missing.sentence()));
    } else {
        doc.append(super::unread(&scheduler));
        print(&args.output.document().map_or_else(|| doc.plain(Headings::Capitals).into(), |write| write(&titled(doc.clone()))))?;
    }

    let code = super::code(if bound.is_reached() { EXIT_SOURCE } else { EXIT_OK }, &scheduler);
    // Skip the destructors: the process exits here, and freeing a large cluster takes time.
    std::mem::forget((scheduler, loaded));
    Ok(code)
}

/// Starts the scheduler, with pods at the places that its log shows.
fn begin(args: &RunArgs, has_operations: bool, loaded: &mut Loaded) -> Result<Scheduler, Failure> {
    let evictions = match (args.graceful, has_operations) {
        (false, _) => Evictions::AtOnce,
        (true, true) => Evictions::Marked,
        (true, false) => Evictions::AfterGracePeriod,
    };
    let scheduler_args = args.cluster.scheduler(&args.scheduler);
    let mut scheduler = super::begin(&scheduler_args, loaded, &args.cluster.limits.limits(), evictions, &StandardError)?;
    let places = super::scheduler_log::log_places(&scheduler_args, loaded.scheduler_log.as_deref(), &scheduler, &StandardError);
    if let Some(places) = places {
        scheduler.apply(places);
    }
    Ok(scheduler)
}

/// Returns a run as a document with a title.
fn titled(run: Document) -> Document {
    let mut doc = Document::default();
    doc.heading(1, "Run of the scheduler");
    doc.append(run);
    doc
}

/// Returns a line about the queues at the start.
fn started(scheduler: &Scheduler) -> String {
    let state = scheduler.state();
    let entries = &state.queue().view().entries;
    let inferred = entries.values().filter(|e| e.inferred.is_some()).count();
    match scheduler.options().queues {
        InitialQueues::Fresh => {
            let pods = count_of(entries.len(), "pending pod is", "pending pods are");
            format!("queues fresh: {pods} new to the scheduler")
        }
        InitialQueues::AsObserved => {
            let (active, backoff, parked) = state.queue().len();
            format!(
                "queues observed: {inferred} of {} places inferred; {active} in activeQ, {backoff} in backoffQ, {parked} in unschedulablePods",
                entries.len()
            )
        }
    }
}

/// Returns how likely each of the pods is the first that a scheduler tries after a restart; `None` unless it tries them in random order.
fn in_any_order(scheduler: &Scheduler) -> Option<String> {
    if scheduler.options().queues != InitialQueues::Fresh || !scheduler.emulated().profile.behaviour.queue.equal_pods_in_random_order {
        return None;
    }
    // The order in which the scheduler reads pods decides, not their age.
    let view = scheduler.state().queue().view();
    let active = view.active();
    let alike = active.iter().take_while(|entry| entry.priority == active[0].priority).count();
    let share = u64::try_from(alike).ok().filter(|alike| *alike > 1).map(|alike| Share::new(1, alike).in_words());
    let share = share?;
    Some(format!(
        "after a restart kube-scheduler tries the first {alike} pods in random order, as their priorities are equal: each comes first {share}; here they go by name"
    ))
}

/// Runs until nothing changes, and writes each operation. The last one says whether the run was cut short.
fn settle_in_lines(
    scheduler: &mut Scheduler,
    bound: &mut StepBound,
    brief: bool,
    mut write: impl FnMut(OperationLine) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut settling = Quiescence::default();
    let mut next = bound.next_operation(scheduler, &settling);
    while let Some(operation) = next {
        let (events, mut line) = one_line(scheduler, bound, operation, brief);
        settling.observe(&events);
        next = bound.next_operation(scheduler, &settling);
        line.set_cut_short(bound.is_reached());
        write(line)?;
    }
    Ok(())
}

/// Applies operations in order, and writes each. Returns how many are left where the run was cut short, in words, which the last line
/// says as well.
fn apply_in_lines(
    scheduler: &mut Scheduler,
    bound: &mut StepBound,
    brief: bool,
    operations: Vec<Step>,
    mut write: impl FnMut(OperationLine) -> Result<(), Failure>,
) -> Result<Option<String>, Failure> {
    let number = operations.len();
    for (at, step) in operations.into_iter().enumerate() {
        let operation = on_cluster(step, scheduler)?;
        let (_, mut line) = one_line(scheduler, bound, operation, brief);
        let is_cut = at + 1 < number && !bound.allows_any(scheduler.state());
        line.set_cut_short(is_cut);
        write(line)?;
        if is_cut {
            return Ok(Some(not_applied(number - at - 1, number)));
        }
    }
    Ok(None)
}

/// Returns an operation of `run --ops` on the objects of this moment.
fn on_cluster(step: Step, scheduler: &Scheduler) -> Result<Operation, Failure> {
    step.on(scheduler.state().cluster()).map_err(|e| Failure::usage(e.to_string()))
}

/// Returns that operations were not applied.
fn not_applied(left: usize, of: usize) -> String {
    let were = count_of(left, "operation was", "operations were");
    format!("CUT SHORT: the last {were} not applied, of {of}: this run takes too many steps")
}

/// Applies an operation. Returns its events and its line, and counts what they take.
fn one_line(scheduler: &mut Scheduler, bound: &mut StepBound, operation: Operation, brief: bool) -> (Vec<Event>, OperationLine) {
    let steps = scheduler.state().steps();
    let before = if brief { BeforeOperation::default() } else { BeforeOperation::of(scheduler) };
    let events = scheduler.apply(operation);
    let entries = if brief { 0 } else { scheduler.state().queue().view().entries.len() };
    bound.spend_on_written(steps, scheduler.state(), entries);
    let report = if brief {
        OperationLine::Brief(BriefOperation::of(&events, scheduler))
    } else {
        OperationLine::Whole(Box::new(OperationReport::after(&before, &events, scheduler)))
    };
    (events, report)
}

/// Applies an operation and adds it as an item, with its consequences as items below.
fn one(scheduler: &mut Scheduler, operation: Operation, doc: &mut Document) {
    let name = format!("{operation:?}").split([' ', '{']).next().unwrap_or_default().to_lowercase();
    let before = BeforeOperation::of(scheduler);
    let events = scheduler.apply(operation);
    let view = CycleView::of(&events);
    match &view.start {
        _ if view.group.is_some() => doc.append(group_document(&view)),
        Some(start) => doc.item(0, Words::of_pod(&start.pod).text(format!(": {}", why(&view)))),
        None => doc.item(0, name),
    }
    if let Some(words) = before.pop_odds_in_words().filter(|_| view.start.is_some()) {
        doc.item(2, words);
    }
    for event in &events {
        if matches!(event, Event::PodBound { .. } | Event::VictimEvicted { .. } | Event::QueueMoved(_) | Event::CycleSkipped { .. }) {
            doc.item(2, event.sentence());
        }
    }
}

/// Runs until nothing changes, and adds the outcome and each pod's story.
fn settle(scheduler: &mut Scheduler, bound: &mut StepBound, wide: bool, doc: &mut Document) {
    let start = scheduler.state().clock();
    let (mut settling, mut stories) = (Quiescence::default(), Stories::new(start, wide));
    let operations = Arc::new(AtomicUsize::new(0));
    let shown = Showing::operations(&operations);
    while let Some(operation) = bound.next_operation(scheduler, &settling) {
        operations.fetch_add(1, Ordering::Relaxed);
        let (clock, cluster) = (scheduler.state().clock(), scheduler.state().cluster().clone());
        let events = scheduler.apply(operation);
        settling.observe(&events);
        stories.observe(clock, &cluster, &events);
    }
    drop(shown);
    let state = scheduler.state();
    let stories = stories.finish(state.cluster(), state.queue().view());
    let count = |of: fn(&PodLocation) -> bool| stories.iter().filter(|s| of(&s.end)).count();
    let placed = count(|end| matches!(end, PodLocation::Node(_)));
    let waiting = count(|end| matches!(end, PodLocation::Waiting(..)));
    let gone = count(|end| matches!(end, PodLocation::Gone | PodLocation::Leaving(_)));
    let took = state.clock().duration_since(start);
    let took = format_duration(took.round(Unit::Second).unwrap_or(took));
    if bound.is_reached() {
        let (active, backoff, _) = state.queue().len();
        let (pending, undecided) = (waiting - count(is_tried_again), active + backoff);
        doc.paragraph(format!(
            "CUT SHORT after {took}: {placed} scheduled, {pending} pending, {undecided} not decided, {gone} evicted or deleted"
        ));
        doc.paragraph(note_sentence(&Note::CutShort));
    } else {
        doc.paragraph(format!("SETTLED after {took}: {placed} scheduled, {waiting} pending, {gone} evicted or deleted"));
    }
    doc.blank();
    doc.append(stories_document(&stories));
}

/// Reads a JSON array of operations, or operations separated by white space.
fn read_operations(path: &std::path::Path) -> Result<Vec<Step>, Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
    let file = super::loading::open_ordinary(path).map_err(|e| at(&e))?;
    if file.metadata().is_ok_and(|about| about.len() > OPERATIONS) {
        return Err(at(&format!("is longer than {} MiB", OPERATIONS >> 20)));
    }
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_reader(BufReader::new(file.take(OPERATIONS))).into_iter::<Value>() {
        match value.map_err(|e| at(&e))? {
            Value::Array(list) => values.extend(list),
            one => values.push(one),
        }
    }
    values.into_iter().enumerate().map(|(i, v)| operation(&v).map_err(|e| at(&format!("operation {i}: {e}")))).collect()
}

#[cfg(test)]
mod tests;
