//! Where extenders have their part in a cycle: after Filter, after Score, and among the candidates of preemption. Mirrors
//! `findNodesThatPassExtenders` and `prioritizeNodes` in `pkg/scheduler/schedule_one.go`, and `callExtenders` in
//! `pkg/scheduler/framework/preemption/preemption.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ScheduleError;
use super::algorithm::SchedulePod;
use super::scoring::Scores;
use super::search::Search;
use crate::cluster::Str;
use crate::extenders::{CallError, CycleExtenders, Extender, Filtered, Victims};
use crate::framework::PluginName;
use crate::framework::{
    Candidate, CandidateExtenders, Code, ExtenderCall, ExtenderFilter, ExtenderOutcome, ExtenderPreemption, ExtenderVerb, NodeInfo,
    PodInfo, Snapshot, Status,
};
use crate::trace::{Event, Recorder};

/// A call, as it is recorded.
fn call(extender: &Extender, outcome: ExtenderOutcome) -> ExtenderCall {
    ExtenderCall { extender: extender.name.clone(), outcome }
}

fn names(nodes: &[Arc<NodeInfo>]) -> Vec<Str> {
    nodes.iter().map(|node| node.name().clone()).collect()
}

/// Returns the record of a failed call.
fn failed(extender: &Extender, verb: ExtenderVerb, error: &CallError, ignored: bool) -> ExtenderCall {
    let outcome = match error {
        CallError::Unknown(..) => ExtenderOutcome::Unknown(verb),
        CallError::Failed(_) | CallError::Crash(..) => ExtenderOutcome::Failed { verb, text: error.to_string().into(), ignored },
    };
    call(extender, outcome)
}

/// Whether the cycle goes on after an error.
fn is_passed_over(extender: &Extender, error: &CallError) -> bool {
    extender.ignorable && matches!(error, CallError::Failed(_))
}

/// The statuses that an answer gives nodes; those that eviction cannot change go first.
fn statuses(filtered: &Filtered) -> Vec<(Str, Status)> {
    let status = |code, text: &String| Status::new(code, [text.clone()]).with_plugin(PluginName::Extender);
    let unresolvable = filtered.unresolvable.iter().map(|(node, text)| (node.clone(), status(Code::UnschedulableAndUnresolvable, text)));
    let failed = filtered.failed.iter().filter(|(node, _)| !filtered.unresolvable.contains_key(*node));
    unresolvable.chain(failed.map(|(node, text)| (node.clone(), status(Code::Unschedulable, text)))).collect()
}

impl SchedulePod<'_> {
    /// Lets extenders choose among the nodes that pass Filter.
    ///
    /// # Errors
    /// The error of an extender that counts.
    pub(super) fn pass_extenders(&self, pod: &PodInfo, search: &mut Search, recorder: &mut impl Recorder) -> Result<(), ScheduleError> {
        let Some(extenders) = self.extenders else { return Ok(()) };
        let all = self.cx.snapshot.nodes();
        let mut nodes: Vec<Arc<NodeInfo>> = search.feasible.iter().map(|at| all[*at].clone()).collect();
        for extender in extenders.interested(&pod.pod).filter(|extender| extender.has(ExtenderVerb::Filter)) {
            if nodes.is_empty() {
                break;
            }
            let filtered = match extenders.filter(extender, &pod.pod, &nodes) {
                Ok(filtered) => filtered,
                Err(error) => {
                    let ignored = is_passed_over(extender, &error);
                    recorder.record(|| Event::ExtenderTookPart(failed(extender, ExtenderVerb::Filter, &error, ignored).into()));
                    if ignored {
                        continue;
                    }
                    return Err(ScheduleError::Extender(error));
                }
            };
            let statuses = statuses(&filtered);
            for (node, status) in &statuses {
                search.diagnosis.node_to_status.set_by_name(self.cx.snapshot, node, status.clone());
            }
            recorder.record(|| {
                let (asked, left) = (names(&nodes), names(&filtered.nodes));
                let filter = ExtenderFilter { asked, left, statuses, replaced: filtered.replaced };
                Event::ExtenderTookPart(call(extender, ExtenderOutcome::Filtered(filter)).into())
            });
            nodes = filtered.nodes;
        }
        search.nodes = Some(nodes);
        Ok(())
    }

    /// Adds what extenders give to the totals. Errors are passed over: then an extender gives nothing.
    pub(super) fn add_extender_scores(&self, pod: &PodInfo, nodes: &[Arc<NodeInfo>], scores: &mut Scores, recorder: &mut impl Recorder) {
        let Some(extenders) = self.extenders else { return };
        let mut sums: BTreeMap<Str, i64> = BTreeMap::new();
        for extender in extenders.interested(&pod.pod) {
            let given = match extenders.prioritize(extender, &pod.pod, nodes) {
                Ok(given) => given,
                Err(error) => {
                    recorder.record(|| Event::ExtenderTookPart(failed(extender, ExtenderVerb::Prioritize, &error, true).into()));
                    continue;
                }
            };
            for (node, score) in &given {
                let sum = sums.entry(node.clone()).or_default();
                *sum = sum.wrapping_add(*score);
            }
            recorder.record(|| {
                let asked = extender.has(ExtenderVerb::Prioritize);
                Event::ExtenderTookPart(call(extender, ExtenderOutcome::Scored { asked, scores: given }).into())
            });
        }
        scores.add(nodes, &sums);
    }
}

/// The extenders of a cycle, for preemption.
pub(super) struct PreemptExtenders<'a> {
    pub(super) extenders: &'a CycleExtenders<'a>,
    pub(super) snapshot: &'a Snapshot,
}

impl CandidateExtenders for PreemptExtenders<'_> {
    fn process_preemption(&self, pod: &PodInfo, candidates: &[&Candidate]) -> (Vec<ExtenderCall>, Result<Option<Vec<Candidate>>, Status>) {
        let mut calls = Vec::new();
        let mut left: Victims = candidates.iter().map(|candidate| (candidate.node.clone(), Candidate::clone(candidate))).collect();
        for extender in self.extenders.interested(&pod.pod).filter(|extender| extender.has(ExtenderVerb::Preempt)) {
            let asked = left.keys().cloned().collect();
            let mut answer = match self.extenders.preempt(extender, &pod.pod, &left, self.snapshot) {
                Ok(answer) => answer,
                Err(error) => {
                    let ignored = is_passed_over(extender, &error);
                    calls.push(failed(extender, ExtenderVerb::Preempt, &error, ignored));
                    if ignored {
                        continue;
                    }
                    return (calls, Err(Status::error(error.to_string())));
                }
            };
            if extender.ignorable {
                answer.retain(|_, candidate| !candidate.victims.is_empty());
            } else if let Some(empty) = answer.values().find(|candidate| candidate.victims.is_empty()) {
                let text = format!("expected at least one victim pod on node {:?}", empty.node.as_str());
                calls.push(failed(extender, ExtenderVerb::Preempt, &CallError::Failed(text.clone()), false));
                return (calls, Err(Status::error(text)));
            }
            left = answer;
            let preemption = ExtenderPreemption { asked, left: left.values().cloned().collect() };
            calls.push(call(extender, ExtenderOutcome::Preempted(preemption)));
            if left.is_empty() {
                break;
            }
        }
        (calls, Ok(Some(left.into_values().collect())))
    }
}
