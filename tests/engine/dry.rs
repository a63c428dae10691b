//! Compares an unrecorded dry decision with the events of the recorded one.

use std::sync::Arc;

use schedscope::cluster::{Pod, Str};
use schedscope::framework::{Candidate, PluginSet, Status};
use schedscope::scheduler::{DryDecision, PostFilter, ScheduleResult, Scheduler};
use schedscope::trace::{Event, Outcome};

/// The parts of a decision that must not depend on recording.
#[derive(Debug, Default, PartialEq)]
struct Facts {
    outcome: Option<Outcome>,
    best: Vec<Str>,
    feasible: Vec<Str>,
    /// The rejected nodes by name; one filtered first as the nominated node counts once.
    rejected: Vec<(Str, Status)>,
    plugins: PluginSet,
    message: String,
    gated: Option<Status>,
    preemption: Option<Preemption>,
}

#[derive(Debug, Default, PartialEq)]
struct Preemption {
    ineligible: Option<Status>,
    potential_nodes: Vec<Str>,
    candidates: Vec<Candidate>,
    best: Vec<Str>,
    selected: Option<Str>,
}

fn recorded(events: &[Event]) -> Facts {
    let mut facts = Facts::default();
    for event in events.iter().cloned() {
        match event {
            Event::CycleFinished { outcome, .. } => facts.outcome = Some(outcome),
            Event::NodeSelected { tied, .. } => facts.best = tied.to_vec(),
            Event::NodeFiltered { node, status, .. } if status.is_success() => facts.feasible.push(node),
            Event::NodeFiltered { node, status, .. } if status.is_rejected() => {
                facts.rejected.retain(|(known, _)| *known != node);
                facts.rejected.push((node, status));
            }
            Event::AttemptFailed { failure, .. } => (facts.message, facts.plugins) = (failure.message.to_string(), failure.plugins),
            Event::CycleSkipped { pod, why } => facts.message = why.text(&pod),
            Event::PreEnqueueRejected { status, .. } => (facts.message, facts.gated) = (status.message(), Some(status)),
            Event::PreemptionStarted(start) => {
                let (ineligible, potential_nodes) = (start.ineligible.clone(), start.potential_nodes.to_vec());
                facts.preemption = Some(Preemption { ineligible, potential_nodes, ..Preemption::default() });
            }
            Event::DryRunFinished(run) => preemption(&mut facts).candidates.extend(run.candidate.clone()),
            Event::CandidateSelected(record) => {
                (preemption(&mut facts).best, preemption(&mut facts).selected) = (record.best.to_vec(), record.selected().cloned());
            }
            _ => {}
        }
    }
    if facts.outcome == Some(Outcome::Error) {
        // An error ends the attempt: nodes filtered before it do not count.
        facts.feasible.clear();
        facts.rejected.clear();
    }
    facts.rejected.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some(preemption) = &mut facts.preemption {
        preemption.candidates.sort_by(|a, b| a.node.cmp(&b.node));
    }
    facts
}

fn preemption(facts: &mut Facts) -> &mut Preemption {
    facts.preemption.as_mut().expect("preemption was looked into")
}

fn unrecorded(scheduler: &Scheduler, decision: &DryDecision) -> Facts {
    let snapshot = scheduler.state().snapshot();
    let name = |at: usize| snapshot.nodes()[at].name().clone();
    let mut facts = Facts { outcome: Some(decision.outcome()), message: decision.message(), ..Facts::default() };
    facts.best = decision.best().to_vec();
    facts.feasible = decision.feasible().iter().map(|at| name(*at)).collect();
    if let Some(diagnosis) = decision.diagnosis() {
        facts.rejected = diagnosis.node_to_status.iter().map(|(at, status)| (name(at), status.clone())).collect();
        facts.rejected.sort_by(|a, b| a.0.cmp(&b.0));
    }
    if let DryDecision::Gated(status) = decision {
        facts.gated = Some(status.clone());
    }
    if let DryDecision::Tried(ScheduleResult::FitError(error)) = decision {
        facts.plugins = error.diagnosis.unschedulable_plugins;
    }
    facts.preemption = decision.preemption().map(|record| Preemption {
        ineligible: record.ineligible.clone(),
        potential_nodes: record.potential_nodes.to_vec(),
        candidates: record.candidates().cloned().collect(),
        best: record.best.to_vec(),
        selected: record.selected().cloned(),
    });
    facts
}

/// Fails if an unrecorded decision differs, or if skipping PostFilter changes more than PostFilter.
#[track_caller]
pub(crate) fn check_dry_decision(scheduler: &Scheduler, pod: &Arc<Pod>, name: &str) -> Outcome {
    let expected = recorded(&scheduler.explain(pod));
    let facts = unrecorded(scheduler, &scheduler.dry_decision(pod, PostFilter::Run));
    assert_eq!(facts, expected, "{name}");
    let mut without = unrecorded(scheduler, &scheduler.dry_decision(pod, PostFilter::LeaveOut));
    assert_eq!(without.preemption.take(), None, "{name}");
    assert!(facts.message.starts_with(&without.message), "{name}: {} and {}", facts.message, without.message);
    let outcome = facts.outcome.expect("an outcome");
    without.message.clone_from(&facts.message);
    assert_eq!(without, Facts { preemption: None, ..facts }, "{name}");
    outcome
}
