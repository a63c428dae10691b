//! `schedscope run`: operations one after another, or scheduling until nothing moves.

use std::fmt::Write as _;

use jiff::Unit;
use serde_json::Value;

use super::args::RunArgs;
use super::{EXIT_OK, Failure, print};
use crate::cluster::{Kind, Object};
use crate::framework::format_duration;
use crate::report::{Format, OperationReport, ReleaseReport, Stories, run_parts, stories_text, why};
use crate::scheduler::{Evictions, Operation, Quiescence, Scheduler, Waiting};
use crate::session::PodLocation;
use crate::trace::{CycleView, Event};

/// Applies and prints.
pub(super) fn run(args: &RunArgs) -> Result<u8, Failure> {
    let operations = args.ops.as_ref().map(|path| read_operations(path)).transpose()?;
    let mut loaded = super::read(&args.source, &args.connect, &args.limits.limits())?;
    if let Some(other) = args.compare {
        return super::compare::run(args, other, loaded);
    }
    loaded.report.forget_origins();
    super::scheduler_log::read_beside(&args.scheduler, &mut loaded, &args.limits.limits(), &|line| eprintln!("{line}"))?;
    let evictions = match (args.graceful, &operations) {
        (false, _) => Evictions::AtOnce,
        (true, Some(_)) => Evictions::Marked,
        (true, None) => Evictions::AfterGracePeriod,
    };
    let mut scheduler = super::scheduler(&args.scheduler.on(&args.source), &mut loaded, evictions, &|line| eprintln!("{line}"))?;
    let mut out = String::new();
    if args.output.operation().is_none() {
        let release = ReleaseReport::of(scheduler.emulated(), &run_parts(scheduler.state().config()));
        out = format!("{}\n{}", release.sentence(), started(&scheduler));
    }
    match operations {
        Some(operations) => {
            for operation in operations {
                one(&mut scheduler, operation, args.output, &mut out)?;
            }
        }
        None if args.output.operation().is_some() => {
            let mut settling = Quiescence::default();
            while let Some(operation) = scheduler.next_operation(&settling) {
                settling.observe(&one(&mut scheduler, operation, args.output, &mut out)?);
                // Line by line, so that nothing has to be kept.
                print(&std::mem::take(&mut out))?;
            }
        }
        None => settle(&mut scheduler, args.output.wide, &mut out),
    }
    print(&out)?;
    // The program ends here: to give a large cluster back piece by piece would only take time.
    std::mem::forget((scheduler, loaded));
    Ok(EXIT_OK)
}

/// How the scheduler started, as one line.
fn started(scheduler: &Scheduler) -> String {
    let state = scheduler.state();
    let entries = &state.queue().view().entries;
    let inferred = entries.values().filter(|e| e.inferred.is_some()).count();
    match scheduler.options().waiting {
        Waiting::Fresh => format!("queues fresh: every waiting pod is new to the scheduler ({})\n", entries.len()),
        Waiting::AsObserved(_) => {
            let (active, backoff, parked) = state.queue().len();
            format!(
                "queues as observed: {inferred} of {} places inferred; {active} in activeQ, {backoff} in backoffQ, {parked} in unschedulablePods\n",
                entries.len()
            )
        }
    }
}

fn one(scheduler: &mut Scheduler, operation: Operation, output: &Format, out: &mut String) -> Result<Vec<Event>, Failure> {
    let name = format!("{operation:?}").split([' ', '{']).next().unwrap_or_default().to_lowercase();
    let events = scheduler.apply(operation);
    if let Some(line) = output.operation() {
        *out += &line(&OperationReport::of(&events, scheduler)).map_err(|e| Failure::source(e.to_string()))?;
        return Ok(events);
    }
    let view = CycleView::of(&events);
    match &view.start {
        Some(start) => {
            let _ = writeln!(out, "{}: {}", start.pod, why(&view));
        }
        None => {
            let _ = writeln!(out, "{name}");
        }
    }
    for event in &events {
        if matches!(event, Event::PodBound { .. } | Event::VictimEvicted { .. } | Event::QueueMoved(_) | Event::CycleSkipped { .. }) {
            let _ = writeln!(out, "  {}", event.sentence());
        }
    }
    Ok(events)
}

/// Runs until nothing changes, and writes how that ended and then the story of each pod.
fn settle(scheduler: &mut Scheduler, wide: bool, out: &mut String) {
    let start = scheduler.state().clock();
    let (mut settling, mut stories) = (Quiescence::default(), Stories::new(start, wide));
    while let Some(operation) = scheduler.next_operation(&settling) {
        let (clock, cluster) = (scheduler.state().clock(), scheduler.state().cluster().clone());
        let events = scheduler.apply(operation);
        settling.observe(&events);
        stories.observe(clock, &cluster, &events);
    }
    let state = scheduler.state();
    let stories = stories.finish(state.cluster(), state.queue().view());
    let count = |of: fn(&PodLocation) -> bool| stories.iter().filter(|s| of(&s.end)).count();
    let bound = count(|end| matches!(end, PodLocation::Node(_)));
    let waiting = count(|end| matches!(end, PodLocation::Waiting(..)));
    let gone = count(|end| matches!(end, PodLocation::Gone | PodLocation::Leaving(_)));
    let took = state.clock().duration_since(start);
    let took = format_duration(took.round(Unit::Second).unwrap_or(took));
    let _ = writeln!(out, "SETTLED after {took}: {bound} placed, {waiting} pending, {gone} evicted or gone\n");
    *out += &stories_text(&stories);
}

/// Reads a JSON array of operations, or one operation after another.
fn read_operations(path: &std::path::Path) -> Result<Vec<Operation>, Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| at(&e))?;
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        match value.map_err(|e| at(&e))? {
            Value::Array(list) => values.extend(list),
            one => values.push(one),
        }
    }
    values.into_iter().enumerate().map(|(i, v)| operation(&v).map_err(|e| at(&format!("operation {i}: {e}")))).collect()
}

/// Why a JSON value is no operation.
#[derive(Debug, thiserror::Error)]
enum OperationError {
    #[error("it has no {0:?}")]
    Missing(&'static str),
    /// The value, as JSON.
    #[error("kind {0} is not known")]
    UnknownKind(String),
    #[error(transparent)]
    Object(#[from] serde_json::Error),
    #[error("\"seconds\" is not a whole number")]
    Seconds,
    #[error("{0:?} is none of schedule, create, update, delete, advance")]
    Unknown(String),
}

fn operation(value: &Value) -> Result<Operation, OperationError> {
    let name = value["op"].as_str().ok_or(OperationError::Missing("op"))?.to_owned();
    let object = || -> Result<Object, OperationError> {
        let object = value.get("object").ok_or(OperationError::Missing("object"))?;
        let kind = object["kind"].as_str().unwrap_or_default().parse::<Kind>();
        let kind = kind.map_err(|_| OperationError::UnknownKind(object["kind"].to_string()))?;
        Ok(Object::deserialize_kind(kind, object)?)
    };
    match name.as_str() {
        "schedule" => Ok(Operation::Schedule),
        "advance" => Ok(Operation::Advance { seconds: value["seconds"].as_u64().ok_or(OperationError::Seconds)? }),
        "create" => Ok(Operation::Create { object: object()? }),
        "update" => Ok(Operation::Update { object: object()? }),
        "delete" => Ok(Operation::Delete { object: object()? }),
        other => Err(OperationError::Unknown(other.to_owned())),
    }
}
