//! Compares our decisions with the last report of the cluster's scheduler: they agree, they differ because the cluster has
//! changed since, or they differ without a known cause.
//!
//! The cluster's scheduler decided on an earlier state than the one that was read. So an unexplained difference is a fault
//! of one of the two only if nothing is known to have changed in between.

mod last_reported;
mod message_parse;
mod shift;
mod since;
mod touch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::Timestamp;
use rayon::prelude::*;
use serde::Serialize;

pub use self::last_reported::{LastReported, Preempted, SchedulerEvents, preempted};
use self::message_parse::{PostFilter, Wording, Writers};
use self::shift::{Explanation, Shift, explain};
use self::since::Changes;
pub use self::since::{SeenChange, counts as changes_decisions};
use self::touch::{Named, Way};
use super::odds::with_odds;
use super::overview::{CauseReport, WaitReason};
use super::why::{Sentence, binding, no_profile, sentence};
use super::{DumpDiff, Known, Missing, steps};
use super::{ReleaseReport, decision_parts};
use crate::cluster::{Cluster, Key, Kind, MissingReason, ObservedEvent, Pod, Str};
use crate::framework::{Candidate, PluginName, Reason, Status};
use crate::limits::engine::RELEASES_SHARE;
use crate::release::{Emulated, FoundVersion, Profile, Release, ReleaseChoice, VersionSource};
use crate::scheduler::{self, DryDecision, DryOptions, GroupViews, OddsEffort, ScheduleResult, Scheduler, StepBound};
use crate::suggest::nearest;
use crate::trace::{CycleView, Outcome, PreemptionView, SkipReason};

/// The relation of our decision to the last report of the cluster's scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::EnumIter)]
#[serde(rename_all = "kebab-case")]
pub enum MatchKind {
    /// They differ without a known cause.
    Unexplained,
    /// The attempt of the cluster's scheduler ended in an error, which decides nothing.
    SchedulerError,
    /// They differ, and the cluster has changed since.
    ChangedSince,
    /// They differ, and the release of the cluster's scheduler decides what it wrote.
    OtherRelease,
    /// The cluster's scheduler chose our node, and binds the pod's claims.
    Binding,
    /// They agree, to the letter or in another release's wording.
    Same,
    /// Our decision is open, because no node could be read.
    Undecided,
    /// The cluster's scheduler has written nothing about the pod yet.
    Unwritten,
    /// The pod belongs to another scheduler.
    NotOurs,
}

impl MatchKind {
    /// Returns the kind in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unexplained => "disagrees",
            Self::SchedulerError => "ended in an error",
            Self::Binding => "being bound",
            Self::ChangedSince => "explained by later changes",
            Self::OtherRelease => "explained by its release",
            Self::Same => "agrees",
            Self::Undecided => "not compared, as nodes are unknown",
            Self::Unwritten => "not tried yet",
            Self::NotOurs => "belongs to another scheduler",
        }
    }

    /// Returns the words for a number of pods: `1 agrees`, `8 agree`.
    pub fn counted(self, pods: usize) -> String {
        let words = match self {
            Self::Unexplained if pods != 1 => "disagree",
            Self::Same if pods != 1 => "agree",
            Self::NotOurs if pods != 1 => "belong to another scheduler",
            _ => self.words(),
        };
        format!("{pods} {words}")
    }
}

/// One pod's decision, the scheduler's report about it, and their differences.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerMatch {
    pub pod: Key,
    /// The relation of the two.
    pub accord: MatchKind,
    /// Our decision, in a sentence.
    pub here: String,
    /// The same as a clause; see [`Sentence::clause`].
    #[serde(skip)]
    pub clause: String,
    /// The message of our decision; empty for a pod that fits.
    pub message: String,
    /// The outcome of our decision; `None` for a pod of another scheduler.
    pub outcome: Option<Outcome>,
    /// The scheduler's last report.
    pub there: Option<LastReported>,
    /// The node that the cluster's scheduler nominated; empty if none.
    pub nominated: Str,
    /// The differences, a line each.
    pub differences: Vec<String>,
    /// Equal content in another wording, a line each.
    pub other_words: Vec<String>,
    /// The changes of the cluster since the report that explain the differences, a line each.
    pub since: Vec<String>,
    /// The kinds of which the source may lack objects that explain the differences; empty for explained ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Missing>,
    /// Why the pod waits; `None` if it fits.
    #[serde(skip)]
    pub waits_for: Option<WaitReason>,
    /// The pod group that was decided with the pod; `None` for a pod that was decided on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Key>,
    /// The release that decides what the report says, if it is not the emulated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The number of releases that may have written the report and were not tried, as decisions take too many steps.
    #[serde(rename = "releasesUntried", skip_serializing_if = "crate::analysis::is_zero")]
    pub untried: usize,
    /// Facts about the pod that need no node, where our decision is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Box<Known>>,
}

impl SchedulerMatch {
    /// Returns whether the pod fits here alone, and the source may lack the objects that keep it out.
    pub fn fit_is_doubtful(&self) -> bool {
        self.outcome == Some(Outcome::Scheduled) && !self.suspects.is_empty()
    }
}

/// A decision in words, which pods that are alike share.
#[derive(Clone, Debug)]
struct DecisionWords {
    here: String,
    clause: String,
    waits_for: Option<WaitReason>,
}

impl DecisionWords {
    fn of(pod: &Pod, view: &CycleView) -> Self {
        let sentence = sentence(view);
        Self {
            here: sentence.as_ref().map_or_else(String::new, Sentence::to_string),
            clause: sentence.as_ref().map_or_else(String::new, Sentence::clause),
            waits_for: WaitReason::of(pod, view),
        }
    }
}

/// Objects that are loaded in the time in which a scheduler is made, with its gates and configuration.
const OBJECTS_OF_SCHEDULER: usize = 100;

/// Compares decisions on a cluster with the reports of its scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerComparer {
    scheduler: Scheduler,
    /// Whether other releases are tried where the decisions differ.
    tries_releases: bool,
    /// Steps of decisions of other releases about a pod, after which no further one is tried.
    writer_steps: u64,
    /// Schedulers of other releases on the same cluster, made on demand; `None` for a release that refuses the configuration.
    others: Arc<Mutex<BTreeMap<Release, Option<Scheduler>>>>,
    cluster: Cluster,
    scheduler_events: SchedulerEvents,
    /// Collected at the first difference.
    changes: OnceLock<Changes>,
    groups: Arc<Mutex<GroupViews>>,
    /// Binding times, from Events.
    bound: BTreeMap<Key, Timestamp>,
    /// Changes seen on a live cluster.
    seen: Vec<SeenChange>,
    preempted: Vec<Preempted>,
}

impl SchedulerComparer {
    /// Prepares comparisons for a scheduler's cluster and the Events of that cluster.
    pub fn new(scheduler: &Scheduler, events: &[ObservedEvent]) -> Self {
        let cluster = scheduler.state().cluster();
        let is_of_its_scheduler = |e: &&ObservedEvent| cluster.pods.get(&e.pod).is_none_or(|pod| e.is_about(pod));
        let scheduled = events.iter().filter(|e| e.reason == "Scheduled").filter(is_of_its_scheduler);
        let bound = scheduled.filter_map(|e| Some((e.pod.clone(), e.last.or(e.first)?))).collect();
        Self {
            scheduler: scheduler.clone(),
            tries_releases: true,
            writer_steps: StepBound::allowance_of_recorded(scheduler) / RELEASES_SHARE,
            others: Arc::default(),
            groups: Arc::default(),
            bound,
            seen: Vec::new(),
            cluster: cluster.clone(),
            scheduler_events: SchedulerEvents::new(events),
            changes: OnceLock::new(),
            preempted: preempted(cluster, events),
        }
    }

    /// Leaves out the other releases.
    #[must_use]
    pub(in crate::analysis) fn of_this_release(self) -> Self {
        Self { tries_releases: false, ..self }
    }

    /// Lets pods share the steps of decisions of other releases.
    #[must_use]
    pub fn for_pods(self, pods: usize) -> Self {
        Self { writer_steps: self.writer_steps / (pods as u64).max(1), ..self }
    }

    /// Returns how many objects were given to schedulers of other releases, of which each is as much work to make as
    /// [`OBJECTS_OF_SCHEDULER`] more.
    pub(in crate::analysis) fn objects_loaded(&self) -> usize {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.len().saturating_mul(self.cluster.object_count().saturating_add(OBJECTS_OF_SCHEDULER))
    }

    /// Adds the changes seen on a live cluster.
    #[must_use]
    pub fn having_seen(self, seen: Vec<SeenChange>) -> Self {
        Self { seen, ..self }
    }

    fn changes(&self) -> &Changes {
        self.changes.get_or_init(|| Changes::of(&self.cluster, &self.preempted, &self.bound, &self.scheduler_events, &self.seen))
    }

    /// Decides a pod on its own, or with its pod group, and compares. A pod of another scheduler is left to that.
    pub fn decide(&self, pod: &Arc<Pod>) -> SchedulerMatch {
        if self.scheduler.state().config().profile(&pod.spec.scheduler_name).is_none() {
            return self.not_ours(pod);
        }
        let view = self.with_group(pod).unwrap_or_else(|| self.scheduler.view_of(pod));
        self.compare(pod, &view)
    }

    /// Decides and compares pods, in their order: once about those that follow one another and are alike. Leaves out the rest once
    /// `go_on`, which is called for each pod, returns false.
    pub fn decide_all(&self, pods: &[&Arc<Pod>], go_on: impl Fn() -> bool + Sync) -> Vec<SchedulerMatch> {
        let alike: Vec<&[&Arc<Pod>]> = pods.chunk_by(|a, b| self.scheduler.decides_alike(a, b)).collect();
        let decide = |pods: &[&Arc<Pod>]| {
            let pods: Vec<&Arc<Pod>> = pods.iter().copied().filter(|_| go_on()).collect();
            self.decide_alike(&pods)
        };
        alike.into_par_iter().flat_map_iter(decide).collect()
    }

    /// Decides once about pods that are alike, and compares each.
    fn decide_alike(&self, pods: &[&Arc<Pod>]) -> Vec<SchedulerMatch> {
        let [first, _, ..] = pods else { return pods.iter().map(|pod| self.decide(pod)).collect() };
        if self.scheduler.state().config().profile(&first.spec.scheduler_name).is_none() {
            return pods.iter().map(|pod| self.not_ours(pod)).collect();
        }
        let view = self.scheduler.view_of(first);
        let words = DecisionWords::of(first, &view);
        pods.par_iter().map(|pod| self.compare_in(pod, &view, words.clone())).collect()
    }

    /// Leaves a pod to its own scheduler. Where no scheduler has written about it, a name near to one of the profiles is taken for
    /// a typo, and so for a cause.
    fn not_ours(&self, pod: &Pod) -> SchedulerMatch {
        let mut found = not_ours(pod);
        if let Some(meant) = self.meant_profile(pod) {
            let cause = no_profile(&pod.spec.scheduler_name, Some(meant));
            found.clause.clone_from(&cause);
            found.here = cause[..1].to_uppercase() + &cause[1..];
            found.waits_for = Some(WaitReason::of_unknown_scheduler(cause));
        }
        found
    }

    /// Returns the profile whose name is near to the scheduler name of a pod; `None` where there is such a profile, or a scheduler has
    /// written about the pod.
    fn meant_profile(&self, pod: &Pod) -> Option<&str> {
        let (config, name) = (self.scheduler.state().config(), &pod.spec.scheduler_name);
        let names = config.profiles.iter().map(|profile| profile.name.as_str());
        nearest(name, names).filter(|_| config.profile(name).is_none() && self.scheduler_events.about(pod).is_none())
    }

    /// Decides about a pod with all that an answer shows: with its group if it has one, else with the odds that the effort allows; with
    /// what its claims found, the kinds that are unknown, and the profile that it means.
    pub fn view(&self, pod: &Arc<Pod>, effort: OddsEffort) -> CycleView {
        let scheduler = &self.scheduler;
        let mut view = scheduler.group_view(pod).unwrap_or_else(|| with_odds(scheduler, pod, effort));
        view.findings.devices = scheduler.device_findings(pod, &view).map(Arc::new);
        view.findings.unknown = scheduler.state().cluster().unknown;
        view.findings.meant_profile = self.meant_profile(pod).map(Str::from);
        view
    }

    /// Decides a pod together with its pod group; `None` for a pod that is decided on its own. Each group is tried once for
    /// all of its pods.
    fn with_group(&self, pod: &Arc<Pod>) -> Option<CycleView> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).member(&self.scheduler, pod)
    }

    /// Compares a decision on the cluster as it was read.
    pub fn compare(&self, pod: &Pod, view: &CycleView) -> SchedulerMatch {
        self.compare_in(pod, view, DecisionWords::of(pod, view))
    }

    /// Compares a decision of which the words are known.
    fn compare_in(&self, pod: &Pod, view: &CycleView, words: DecisionWords) -> SchedulerMatch {
        let there = self.scheduler_events.about(pod);
        let nominated = pod.status.nominated_node_name.clone();
        let DecisionWords { here, clause, waits_for } = words;
        let mut found = SchedulerMatch {
            pod: pod.key(),
            accord: MatchKind::Same,
            here,
            clause,
            message: view.failure.as_ref().map(|failure| failure.message.to_string()).unwrap_or_default(),
            outcome: view.outcome,
            nominated,
            differences: Vec::new(),
            other_words: Vec::new(),
            since: Vec::new(),
            suspects: Vec::new(),
            waits_for,
            group: view.group.as_ref().map(|group| group.start.group.clone()),
            decided_by: None,
            untried: 0,
            known: None,
            there,
        };
        if view.nodes_unknown().is_some() {
            let known = Some(Box::new(Known::of(&self.cluster, pod)));
            return SchedulerMatch { accord: MatchKind::Undecided, message: String::new(), outcome: None, known, ..found };
        }
        let is_binding = binding(view).is_some();
        let Some(written) = found.there.clone() else {
            found.accord = if is_binding { MatchKind::Binding } else { MatchKind::Unwritten };
            return found;
        };
        // The claim was written after an attempt that found no node.
        if is_binding && written.reason != SCHEDULER_ERROR {
            found.accord = MatchKind::Binding;
            return found;
        }
        let shifts = self.compare_with(pod, view, &written, self.scheduler.emulated(), &mut found);
        let is_error = written.reason == SCHEDULER_ERROR;
        if !found.differences.is_empty() && self.tries_releases && !is_error {
            (found.decided_by, found.untried) = self.decided_by(pod, &written, &found);
        }
        if !found.differences.is_empty() && is_error {
            found.accord = MatchKind::SchedulerError;
        } else if found.decided_by.is_some() {
            found.accord = MatchKind::OtherRelease;
        } else if !found.differences.is_empty() {
            self.explain(pod, view, written.at, &shifts, &mut found);
        }
        found
    }

    /// Explains the differences by later changes, or names what the source may lack.
    fn explain(&self, pod: &Pod, view: &CycleView, at: Option<Timestamp>, shifts: &[Shift], found: &mut SchedulerMatch) {
        // Without a time, no change is known to be later.
        let later = at.map(|at| self.changes().since(at, &found.pod)).unwrap_or_default();
        let framework = self.scheduler.state().config().profile(&pod.spec.scheduler_name);
        let filters: Vec<PluginName> = framework.into_iter().flat_map(|framework| &framework.filter).map(|plugin| plugin.name()).collect();
        if let Some(Explanation { changes, own }) = at.and_then(|_| explain(shifts, &later, pod, &self.cluster, view, &filters)) {
            found.accord = MatchKind::ChangedSince;
            found.since = since::lines(&changes);
            found.since.extend(own.map(str::to_owned));
            return;
        }
        found.accord = MatchKind::Unexplained;
        let kinds = shift::suspects(shifts);
        found.suspects = Missing::brief(self.cluster.unknown);
        found.suspects.retain(|missing| kinds.contains(&missing.kind));
        // Pods are missing most often, and a part that is known to lack some is worse than one that may.
        found.suspects.sort_by_key(|missing| (missing.why == MissingReason::Incomplete, missing.kind != Kind::Pod));
    }

    /// Fills in the differences between a release's decision and the report, and returns them as shifts.
    fn compare_with(
        &self,
        pod: &Pod,
        view: &CycleView,
        written: &LastReported,
        release: Emulated,
        found: &mut SchedulerMatch,
    ) -> Vec<Shift> {
        let compared = compare_messages(view, written, &release);
        (found.differences, found.other_words) = (compared.differences, compared.other_words);
        let mut shifts = compared.shifts;
        if found.differences.is_empty() {
            self.compare_preemption(pod, view, found, &mut shifts);
        }
        shifts
    }

    /// Returns the release that decides exactly what was reported, among those that may have written the message, and how many of them
    /// were not tried.
    fn decided_by(&self, pod: &Pod, written: &LastReported, found: &SchedulerMatch) -> (Option<String>, usize) {
        let emulated = self.scheduler.emulated();
        let known = emulated.choice.cluster.is_some();
        let message = if known { None } else { Writers::of(&written.message) };
        let may_be = |profile: &&Profile| message.as_ref().is_none_or(|message| message.may_be(profile.release));
        let mut writers = emulated.other_writers().into_iter().filter(may_be);
        let of_decision = StepBound::steps_of_decision(&self.scheduler, &Arc::new(pod.clone())).max(1);
        // The likeliest one is tried in any case.
        let most = usize::try_from(self.writer_steps / of_decision).unwrap_or(usize::MAX).max(1);
        let release = writers.by_ref().take(most).find_map(|profile| {
            let other = self.scheduler_of(profile)?;
            let pod = other.state().cluster().pods.get(&pod.key())?;
            if !known && !may_say(&other, pod, &written.message) {
                let whole = || other.dry_decision(pod, DryOptions::default()).message();
                debug_assert!(written.message.is_empty() || !last_reported::says_the_same(&written.message, &whole()));
                return None;
            }
            let view = CycleView::of(&other.explain(pod));
            let mut theirs = found.clone();
            self.compare_with(pod, &view, written, Emulated { profile, ..emulated }, &mut theirs);
            // With an unknown version only the verbatim message identifies the release.
            let said = view.failure.as_ref().is_some_and(|failure| last_reported::says_the_same(&written.message, &failure.message));
            (theirs.differences.is_empty() && (known || said)).then(|| profile.release.number())
        });
        let untried = if release.is_some() { 0 } else { writers.count() };
        (release, untried)
    }

    /// Returns a scheduler of another release on the same cluster; `None` if that refuses the configuration.
    fn scheduler_of(&self, profile: &'static Profile) -> Option<Scheduler> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let made = others.entry(profile.release).or_insert_with(|| {
            let objects = self.cluster.objects().collect();
            let found = FoundVersion { release: profile.release, source: VersionSource::Flag };
            let choice = ReleaseChoice { wanted: Some(found), ..self.scheduler.emulated().choice };
            self.scheduler.of_release(choice, objects, Default::default()).ok()
        });
        made.clone()
    }

    /// Compares the preemption that we decide with the nomination and evictions of the cluster's scheduler.
    fn compare_preemption(&self, pod: &Pod, view: &CycleView, found: &mut SchedulerMatch, shifts: &mut Vec<Shift>) {
        let preemption = view.preemption.as_ref().filter(|p| !p.hypothetical());
        let selected = preemption.and_then(PreemptionView::selected);
        if view.outcome != Some(Outcome::Unschedulable) {
            return;
        }
        let nominated = &found.nominated;
        // Both wait for the victims to terminate, even if the report is of the attempt that evicted them.
        if going_on(view) {
            let said = found.other_words.iter().any(|w| w == GOING);
            if !said {
                return;
            }
            let victims = self.victims_on(pod, nominated);
            let who = if victims.is_empty() { String::new() } else { format!(": {}", victims.join(", ")) };
            found.other_words.retain(|w| w != GOING);
            found.other_words.push(format!("it is nominated to {nominated}, and {GOING}{who}"));
            return;
        }
        match selected {
            None if nominated.is_empty() => {}
            None => {
                let going = self.victims_on(pod, nominated);
                let ineligible = preemption.and_then(|p| p.ineligible());
                let why = ineligible.map_or_else(|| "preemption finds no candidate".to_owned(), Status::message);
                let mut line = format!("the scheduler nominated it to {nominated}; schedscope says {why}");
                if !going.is_empty() {
                    line += &format!(" (evicted for it: {})", going.join(", "));
                }
                found.differences.push(line);
                shifts.push(Shift::PreemptsElsewhere(vec![nominated.clone()]));
            }
            Some((node, tied)) if nominated.is_empty() => {
                let any = if tied.len() > 1 { format!(", or one of {} equal candidates", tied.len() - 1) } else { String::new() };
                found.differences.push(format!("schedscope preempts on {node}{any}; the scheduler nominated it to no node"));
                shifts.push(Shift::Preempts(preemption.iter().flat_map(|p| p.candidates()).map(|c| c.node.clone()).collect()));
            }
            Some((node, tied)) if node != nominated && !tied.contains(nominated) => {
                found.differences.push(format!("the scheduler nominated it to {nominated}, schedscope preempts on {node}"));
                shifts.push(Shift::PreemptsElsewhere(vec![nominated.clone(), node.clone()]));
            }
            Some(_) => {
                if let Some(candidate) = preemption.and_then(|p| p.candidate(nominated)) {
                    self.compare_victims(pod, candidate, found, shifts);
                }
            }
        }
    }

    /// Compares the victims of the candidate to which the pod is nominated with the pods that were evicted for it.
    fn compare_victims(&self, pod: &Pod, candidate: &Candidate, found: &mut SchedulerMatch, shifts: &mut Vec<Shift>) {
        let nominated = &candidate.node;
        let evicted: BTreeSet<String> = self.victims_on(pod, nominated).into_iter().collect();
        let ours: BTreeSet<String> = candidate.victims.iter().map(|v| v.key().to_string()).collect();
        if evicted.is_empty() || evicted == ours {
            return;
        }
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let (evicted_list, our_list) = (list(&evicted), list(&ours));
        let line = format!("victims on {nominated}: the scheduler took {evicted_list}, schedscope takes {our_list}");
        if self.are_equal(&evicted, &ours) {
            found.other_words.push(format!("{line}: equal in priority and start time"));
        } else {
            found.differences.push(line);
            shifts.push(Shift::PreemptsElsewhere(vec![nominated.clone()]));
        }
    }

    /// Returns whether two sets of victims have equal priorities and start times, which makes them equal to kube-scheduler.
    fn are_equal(&self, one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
        let weights = |names: &BTreeSet<String>| -> Option<Vec<(i32, Option<Timestamp>)>> {
            let pods = names.iter().map(|name| {
                let (namespace, name) = name.split_once('/')?;
                let pod = self.cluster.pods.get(&Key::new(namespace, name))?;
                Some((pod.priority(), pod.status.start_time))
            });
            let mut weights = pods.collect::<Option<Vec<_>>>()?;
            weights.sort_unstable();
            Some(weights)
        };
        weights(one).is_some_and(|found| Some(found) == weights(other))
    }

    fn victims_on(&self, pod: &Pod, node: &str) -> Vec<String> {
        let key = pod.key();
        let by_uid = |p: &&Preempted| p.preemptor.as_ref() == Some(&key) || !pod.metadata.uid.is_empty() && pod.metadata.uid == *p.by;
        self.preempted.iter().filter(by_uid).filter(|p| p.node == *node).map(|p| p.victim.to_string()).collect()
    }
}

/// The reason of a condition about an attempt that ended in an error.
const SCHEDULER_ERROR: &str = "SchedulerError";

/// Returns whether a scheduler's error comes from a step after the choice of a node.
fn chose_a_node(message: &str) -> bool {
    let steps =
        ["Reserve plugin", "Permit plugin", "PreBind plugin", "Bind plugin", "waiting on permit", "binding rejected", "Binding rejected"];
    steps.iter().any(|step| message.contains(step))
}

/// Note on a report that has a reason only.
const NO_MESSAGE: &str = "the scheduler's report has no message, so only the outcome is compared";

/// Note on a preemptor that waits for its victims.
const GOING: &str = "its victims are still terminating";

/// Returns whether the pod may not preempt again because its victims are still terminating.
fn going_on(view: &CycleView) -> bool {
    let ineligible = view.preemption.as_ref().and_then(|p| p.ineligible());
    ineligible.is_some_and(|status| status.reasons().contains(&Reason::TerminatingVictims))
}

/// A comparison of two messages.
#[derive(Default)]
struct Compared {
    differences: Vec<String>,
    other_words: Vec<String>,
    /// The differences as shifts, for the search of an explanation.
    shifts: Vec<Shift>,
}

impl Compared {
    fn one(line: String, shift: Shift) -> Self {
        Self { differences: vec![line], shifts: vec![shift], ..Self::default() }
    }
}

/// Returns the differences between a release's decision and a report, and the notes on wording. Parses the report in the
/// wording of the cluster's release.
pub fn differences(view: &CycleView, written: &LastReported, emulated: &Emulated) -> (Vec<String>, Vec<String>) {
    let compared = compare_messages(view, written, emulated);
    (compared.differences, compared.other_words)
}

fn compare_messages(view: &CycleView, written: &LastReported, emulated: &Emulated) -> Compared {
    let gated = written.reason == "SchedulingGated";
    let ours = view.failure.as_ref().map(|failure| failure.message.as_str());
    let releases = [emulated.writer(), emulated.profile.release];
    match (view.outcome, gated) {
        (Some(Outcome::Gated), true) => return Compared::default(),
        (Some(Outcome::Gated), false) => {
            return Compared::one("the scheduler tried it, schedscope says it is gated".to_owned(), Shift::Never);
        }
        (_, true) => return Compared::one("the scheduler said it is gated, schedscope finds no gate".to_owned(), Shift::Ungated),
        (outcome, _) if written.reason == SCHEDULER_ERROR && outcome != Some(Outcome::Error) => {
            let chose = if chose_a_node(&written.message) { "the scheduler chose a node, and its" } else { "the scheduler's" };
            return Compared::one(format!("{chose} attempt ended in an error: {}", written.message), Shift::Never);
        }
        (Some(Outcome::Scheduled), _) => {
            let node = view.scoring.selected.as_ref().map_or("a node", |(node, ..)| node.as_str());
            let line = format!("the scheduler found no node, schedscope says it fits on {node}");
            let shift = Wording::of(&written.message, releases[0]).map_or(Shift::Never, |said| {
                Shift::Fits(said.reasons.keys().chain(said.left_out.keys()).map(|reason| Named::read(reason)).collect())
            });
            return Compared::one(line, shift);
        }
        _ => {}
    }
    let Some(ours) = ours else {
        let why = view.skipped.as_ref().map_or_else(|| "its attempt did not finish".to_owned(), |(pod, why)| why.text(pod));
        let shift = if matches!(view.skipped, Some((_, SkipReason::Deleting))) { Shift::Deleting } else { Shift::Never };
        return Compared::one(format!("schedscope does not try it: {why}"), shift);
    };
    if last_reported::says_the_same(&written.message, ours) {
        return Compared::default();
    }
    if written.message.is_empty() {
        // Both find no node; nothing more is known of the report.
        return Compared { other_words: vec![NO_MESSAGE.to_owned()], ..Compared::default() };
    }
    let (Some(theirs), Some(here)) = (Wording::of(&written.message, releases[0]), Wording::of(ours, releases[1])) else {
        let line = format!("the messages differ: the scheduler said {:?}, schedscope says {ours:?}", written.message);
        return Compared::one(line, Shift::Never);
    };
    compare_wordings(view, theirs, here, emulated)
}

fn compare_wordings(view: &CycleView, theirs: Wording, mut here: Wording, emulated: &Emulated) -> Compared {
    let releases = [emulated.writer(), emulated.profile.release];
    let (mut lines, mut shifts) = (Vec::new(), Vec::new());
    let mut words: Vec<String> = theirs.other_words.difference(&here.other_words).map(|w| format!("the cluster's scheduler {w}")).collect();
    words.extend(here.other_words.difference(&theirs.other_words).map(|w| format!("schedscope, as {}, {w}", emulated.version())));
    if going_on(view)
        && matches!(theirs.post_filter, None | Some(PostFilter::Placement(..)))
        && matches!(here.post_filter, Some(PostFilter::Other(_)))
    {
        // The difference is the result of its own preemption.
        words.push(GOING.to_owned());
        here.post_filter.clone_from(&theirs.post_filter);
    }
    let (theirs, here, never) = Wording::without_what_is_never_written(theirs, here, releases);
    words.extend(never);
    if theirs.nodes != here.nodes {
        lines.push(format!("total nodes: the scheduler said {}, schedscope says {}", theirs.nodes, here.nodes));
        shifts.push(Shift::Nodes { there: theirs.nodes, here: here.nodes });
    }
    for (theirs, here) in [(&theirs.reasons, &here.reasons), (&theirs.left_out, &here.left_out)] {
        lines.extend(message_parse::differences(theirs, here, ""));
        shifts.extend(reason_shifts(theirs, here));
    }
    match (&theirs.post_filter, &here.post_filter) {
        (Some(PostFilter::Nodes(a)), Some(PostFilter::Nodes(b))) => {
            let more = message_parse::differences(a, b, "preemption, ");
            shifts.extend((!more.is_empty()).then_some(Shift::PreemptionText));
            lines.extend(more);
        }
        (a, b) if a == b => {}
        (Some(PostFilter::Placement(node, victims)), None) => {
            let chosen = view.preemption.as_ref().and_then(PreemptionView::chosen);
            let same = chosen.is_some_and(|c| c.node.as_str() == node && c.victims.len() == *victims as usize);
            if !same {
                lines.push(format!("the scheduler preempts {victims} victims on {node}, schedscope does not"));
                shifts.push(Shift::PreemptsElsewhere(vec![node.as_str().into()]));
            }
        }
        (a, b) => {
            lines.push(format!("preemption: the scheduler said {}, schedscope says {}", said(a.as_ref()), said(b.as_ref())));
            let candidates = view.preemption.iter().flat_map(PreemptionView::candidates).map(|c| c.node.clone());
            shifts.push(match b {
                None => Shift::Preempts(candidates.collect()),
                Some(_) => Shift::PreemptionText,
            });
        }
    }
    Compared { differences: lines, other_words: words, shifts }
}

/// Returns the reasons that nodes have and did not have, and those that they had and have no more.
fn reason_shifts(theirs: &BTreeMap<String, u32>, here: &BTreeMap<String, u32>) -> Vec<Shift> {
    let names: BTreeSet<&String> = theirs.keys().chain(here.keys()).collect();
    let shift = |name: &String| {
        let [there, here] = [theirs, here].map(|counts| counts.get(name).copied().unwrap_or(0));
        let way = if here > there { Way::Came } else { Way::Went };
        (here != there).then(|| Shift::Reason { reason: Named::read(name), way, nodes: here.abs_diff(there) })
    };
    names.into_iter().filter_map(shift).collect()
}

fn said(words: Option<&PostFilter>) -> String {
    match words {
        None => "nothing (as when preemption succeeds)".to_owned(),
        Some(PostFilter::Nodes(reasons)) => reasons.iter().map(|(r, n)| format!("{n} {r}")).collect::<Vec<_>>().join(", "),
        Some(PostFilter::Placement(node, victims)) => format!("{victims} victims on {node}"),
        Some(PostFilter::Other(text)) => text.clone(),
    }
}

/// All pending pods of a cluster, compared with the reports of its scheduler.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agreements {
    /// The emulated release.
    pub release: ReleaseReport,
    /// The pods, disagreements first, then by name.
    pub pods: Vec<SchedulerMatch>,
    /// The victims of preemption, oldest first.
    pub preempted: Vec<Preempted>,
    /// Those of them that were evicted for selected pods, or from selected namespaces, as indexes.
    #[serde(skip)]
    pub preempted_of_selected: Vec<usize>,
    /// The kinds that are unknown, or known in part.
    pub missing: Vec<Missing>,
    /// Why the pods wait, largest cause first; empty if not requested.
    pub causes: Vec<CauseReport>,
    /// The difference from the dump before; `None` where the source is not a series of dumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<DumpDiff>,
    /// Selected pods that are not decided, by name: the decisions about the others took all steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_decided: Vec<Key>,
    /// The number of pending pods that were not selected.
    pub unselected: usize,
    /// The only namespace whose pods are compared, if one was named.
    #[serde(skip)]
    pub namespace: Option<String>,
    /// Whether pods of that namespace were read from a source that has whole namespaces only.
    #[serde(skip)]
    pub namespace_is_read: bool,
}

impl Agreements {
    /// Decides each pending pod on its own and compares. `seen` holds changes seen on a live cluster; `wanted` selects
    /// pods. Calls `go_on` with the number of pods before each one; `false` skips the rest.
    pub fn of(
        scheduler: &Scheduler,
        events: &[ObservedEvent],
        seen: Vec<SeenChange>,
        wanted: impl Fn(&Key) -> bool,
        go_on: impl Fn(usize) -> bool + Sync,
    ) -> Self {
        Self::of_some(scheduler, events, seen, (wanted, u64::MAX), go_on)
    }

    /// Decides each selected pending pod on its own and compares, for as long as the bound on steps allows.
    pub fn within_bound(scheduler: &Scheduler, events: &[ObservedEvent], wanted: impl Fn(&Key) -> bool) -> Self {
        Self::of_some(scheduler, events, Vec::new(), (wanted, StepBound::allowance_of_recorded(scheduler)), |_| true)
    }

    /// Decides and compares selected pods, for as long as their steps are fewer than `most`.
    fn of_some(
        scheduler: &Scheduler,
        events: &[ObservedEvent],
        seen: Vec<SeenChange>,
        (wanted, most): (impl Fn(&Key) -> bool, u64),
        go_on: impl Fn(usize) -> bool + Sync,
    ) -> Self {
        let state = scheduler.state();
        let (mut pods, others): (Vec<&Arc<Pod>>, Vec<_>) = pending(state.cluster()).partition(|p| wanted(&p.key()));
        let decided = within_steps(scheduler, &pods, most);
        let not_decided = pods.split_off(decided).into_iter().map(|pod| pod.key()).collect();
        let count = pods.len();
        let comparer = SchedulerComparer::new(scheduler, events).having_seen(seen).for_pods(count);
        let mut found = comparer.decide_all(&pods, || go_on(count));
        found.sort_by(|a, b| (a.accord, &a.pod).cmp(&(b.accord, &b.pod)));
        let release = ReleaseReport::of(scheduler.emulated(), &decision_parts(state.config()));
        let missing = Missing::all(state.cluster().unknown);
        let preempted = comparer.preempted;
        let is_selected = |eviction: &Preempted| wanted(&eviction.victim) || eviction.preemptor.as_ref().is_some_and(&wanted);
        let preempted_of_selected = preempted.iter().enumerate().filter(|(_, p)| is_selected(p)).map(|(at, _)| at).collect();
        Self {
            release,
            pods: found,
            preempted,
            preempted_of_selected,
            missing,
            causes: Vec::new(),
            since: None,
            not_decided,
            unselected: others.len(),
            namespace: None,
            namespace_is_read: false,
        }
    }

    /// Returns whether a pod that was decided here does not fit.
    pub fn some_does_not_fit(&self) -> bool {
        let waits = |pod: &SchedulerMatch| pod.waits_for.is_some() || pod.outcome.is_some_and(|outcome| outcome != Outcome::Scheduled);
        self.pods.iter().any(waits)
    }

    /// Returns whether a pod fits only because the source may lack objects, as the scheduler's report shows.
    pub fn some_fit_is_doubtful(&self) -> bool {
        self.pods.iter().any(SchedulerMatch::fit_is_doubtful)
    }

    /// Returns that it is unknown whether pods are pending, as a clause; `None` if some are, or none is known to be.
    pub fn pending_unknown(&self) -> Option<String> {
        let unknown = self.missing.iter().find_map(Missing::leaves_pending_unknown)?;
        (self.pods.is_empty() && !self.namespace_is_read).then_some(unknown)
    }

    /// Limits the answer to one namespace, for its words.
    pub fn in_namespace(&mut self, namespace: &str, cluster: &Cluster) {
        let listed = cluster.unknown.why(Kind::Pod) == Some(MissingReason::Partial);
        self.namespace_is_read = listed && cluster.pods.in_namespace(&namespace.into()).next().is_some();
        self.namespace = Some(namespace.to_owned());
    }

    /// Returns whether a difference has no known cause.
    pub fn some_disagrees(&self) -> bool {
        self.pods.iter().any(|pod| pod.accord == MatchKind::Unexplained)
    }

    /// Returns the number of pods of each kind of match, without the kinds that have none.
    pub fn counts(&self) -> Vec<(MatchKind, usize)> {
        use strum::IntoEnumIterator as _;
        let count = |accord| self.pods.iter().filter(|a| a.accord == accord).count();
        MatchKind::iter().map(|accord| (accord, count(accord))).filter(|(_, n)| *n > 0).collect()
    }
}

/// Returns whether a scheduler's message about a pod may be one that was written: up to the part about preemption, which takes
/// longest to find, it is.
fn may_say(other: &Scheduler, pod: &Arc<Pod>, written: &str) -> bool {
    let options = DryOptions { only_fit: true, ..scheduler::PostFilter::LeaveOut.into() };
    match other.dry_decision(pod, options) {
        DryDecision::Tried(ScheduleResult::FitError(error)) => last_reported::may_start_with(written, &error.message()),
        DryDecision::Tried(ScheduleResult::Selected { .. }) => false,
        _ => true,
    }
}

/// Returns how many pods, from the first on, may be decided in a number of steps; see [`steps::within_steps`].
pub(super) fn within_steps(scheduler: &Scheduler, pods: &[&Arc<Pod>], most: u64) -> usize {
    steps::within_steps(pods, |a, b| scheduler.decides_alike(a, b), |pod| StepBound::steps_of_recorded(scheduler, pod), most)
}

/// Returns the pods that wait for a node.
pub fn pending(cluster: &Cluster) -> impl Iterator<Item = &Arc<Pod>> {
    cluster.pods.iter().filter(|p| p.is_pending())
}

fn not_ours(pod: &Pod) -> SchedulerMatch {
    SchedulerMatch {
        pod: pod.key(),
        accord: MatchKind::NotOurs,
        here: format!("Not tried, because {}.", no_profile(&pod.spec.scheduler_name, None)),
        clause: no_profile(&pod.spec.scheduler_name, None),
        message: String::new(),
        outcome: None,
        there: None,
        nominated: pod.status.nominated_node_name.clone(),
        differences: Vec::new(),
        other_words: Vec::new(),
        since: Vec::new(),
        suspects: Vec::new(),
        waits_for: None,
        group: None,
        decided_by: None,
        untried: 0,
        known: None,
    }
}

#[cfg(test)]
mod tests;
