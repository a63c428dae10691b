//! What is decided here beside what the cluster's own scheduler last wrote down: the same, different because the
//! cluster has changed since, or different and unexplained.
//!
//! The cluster's scheduler decided about the cluster as it was then; here it is as it was read. So a difference says
//! that one of the two is wrong only where nothing is known to have changed in between.

mod last_reported;
mod message_parse;
mod render;
mod since;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::Timestamp;
use rayon::prelude::*;
use serde::Serialize;

pub use self::last_reported::{LastReported, Preempted, SchedulerEvents, preempted};
use self::message_parse::{PostFilter, Wording};
use self::since::Changes;
use super::Missing;
use super::overview::{CauseReport, WaitReason};
use super::why::why;
use super::{ReleaseReport, decision_parts};
use crate::cluster::{Cluster, Key, ObservedEvent, Pod, Str};
use crate::framework::{Reason, Status};
use crate::release::{Emulated, FoundVersion, Profile, Release, ReleaseChoice, VersionSource};
use crate::scheduler::{Scheduler, Waiting};
use crate::trace::{CycleView, Outcome, PreemptionView};

/// How a decision here and the last word of the cluster's scheduler go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::EnumIter)]
#[serde(rename_all = "kebab-case")]
pub enum MatchKind {
    /// Nothing that is known explains the difference.
    Unexplained,
    /// They differ, and the cluster has changed since.
    ChangedSince,
    /// They differ because the cluster's scheduler is of another release: that release decides what it wrote.
    OtherRelease,
    /// The same to the letter, or in the words of another version.
    Same,
    /// The cluster's scheduler has written nothing about the pod yet.
    Unwritten,
    /// The pod is another scheduler's.
    NotOurs,
}

impl MatchKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unexplained => "disagrees",
            Self::ChangedSince => "explained by later changes",
            Self::OtherRelease => "explained by its release",
            Self::Same => "agrees",
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

/// One pod: what is decided here, what the cluster's scheduler wrote, and how the two differ.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerMatch {
    /// The pod.
    pub pod: Key,
    /// How the two go together.
    pub accord: MatchKind,
    /// What is decided here, in a sentence.
    pub here: String,
    /// The message of the decision here; empty for a pod that fits.
    pub message: String,
    /// How the decision here ended; `None` for a pod that is another scheduler's.
    pub outcome: Option<Outcome>,
    /// What the cluster's scheduler wrote.
    pub there: Option<LastReported>,
    /// The node it nominated the pod to; empty when none.
    pub nominated: Str,
    /// What differs, a line each.
    pub differences: Vec<String>,
    /// What the same is put in other words by, a line each.
    pub other_words: Vec<String>,
    /// What has changed since, a line each.
    pub since: Vec<String>,
    /// Why the pod waits; `None` where it fits.
    #[serde(skip)]
    pub waits_for: Option<WaitReason>,
    /// The release that decides what the cluster's scheduler wrote, where it is another than the one that is emulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

/// Compares decisions on a cluster with what its scheduler wrote.
#[derive(Clone, Debug)]
pub struct SchedulerComparer {
    scheduler: Scheduler,
    /// Schedulers of other releases on the same cluster, once they are asked for; `None` for those that would not start.
    others: Arc<Mutex<BTreeMap<Release, Option<Scheduler>>>>,
    cluster: Cluster,
    heard: SchedulerEvents,
    /// Looked for once something differs.
    changes: OnceLock<Changes>,
    /// When pods were bound, by Events.
    bound: BTreeMap<Key, Timestamp>,
    /// What was seen to change, and when.
    seen: Vec<(Timestamp, String)>,
    preempted: Vec<Preempted>,
}

impl SchedulerComparer {
    /// For a scheduler on a cluster as it was read, and the Events of it.
    pub fn new(scheduler: &Scheduler, events: &[ObservedEvent]) -> Self {
        let cluster = scheduler.state().cluster();
        let bound = events.iter().filter(|e| e.reason == "Scheduled").filter_map(|e| Some((e.pod.clone(), e.last.or(e.first)?))).collect();
        Self {
            scheduler: scheduler.clone(),
            others: Arc::default(),
            bound,
            seen: Vec::new(),
            cluster: cluster.clone(),
            heard: SchedulerEvents::new(events),
            changes: OnceLock::new(),
            preempted: preempted(cluster, events),
        }
    }

    /// What the cluster's scheduler last wrote about a pod.
    pub fn written(&self, pod: &Pod) -> Option<LastReported> {
        self.heard.about(pod)
    }

    /// Who was evicted for whom, the oldest first.
    pub fn preempted(&self) -> &[Preempted] {
        &self.preempted
    }

    /// With what else was seen to change in the cluster, and when.
    #[must_use]
    pub fn having_seen(self, seen: Vec<(Timestamp, String)>) -> Self {
        Self { seen, ..self }
    }

    fn changes(&self) -> &Changes {
        self.changes.get_or_init(|| Changes::of(&self.cluster, &self.preempted, &self.bound, &self.heard, &self.seen))
    }

    /// Compares a decision that was taken on the cluster as it was read.
    pub fn compare(&self, pod: &Pod, view: &CycleView) -> SchedulerMatch {
        let there = self.heard.about(pod);
        let nominated = pod.status.nominated_node_name.clone();
        let mut found = SchedulerMatch {
            pod: pod.key(),
            accord: MatchKind::Same,
            here: why(view),
            message: view.failure.as_ref().map(|failure| failure.message.to_string()).unwrap_or_default(),
            outcome: view.outcome,
            nominated,
            differences: Vec::new(),
            other_words: Vec::new(),
            since: Vec::new(),
            waits_for: WaitReason::of(view),
            decided_by: None,
            there,
        };
        let Some(written) = found.there.clone() else {
            found.accord = MatchKind::Unwritten;
            return found;
        };
        self.compare_with(pod, view, &written, self.scheduler.emulated(), &mut found);
        if !found.differences.is_empty() {
            found.decided_by = self.decided_by(pod, &written, &found);
        }
        if found.decided_by.is_some() {
            found.accord = MatchKind::OtherRelease;
        } else if !found.differences.is_empty() {
            // A time that is not known explains nothing.
            found.since = written.at.map(|at| self.changes().since(at, &found.pod)).unwrap_or_default();
            found.accord = if found.since.is_empty() { MatchKind::Unexplained } else { MatchKind::ChangedSince };
        }
        found
    }

    /// Fills in what differs between a decision of a release and what was written.
    fn compare_with(&self, pod: &Pod, view: &CycleView, written: &LastReported, release: Emulated, found: &mut SchedulerMatch) {
        (found.differences, found.other_words) = differences(view, written, &release);
        if found.differences.is_empty() {
            self.compare_preemption(pod, view, found);
        }
    }

    /// Returns the release that decides exactly what was written, among those that may have written it.
    fn decided_by(&self, pod: &Pod, written: &LastReported, found: &SchedulerMatch) -> Option<String> {
        let emulated = self.scheduler.emulated();
        let known = emulated.choice.cluster.is_some();
        let may_be = |profile: &&Profile| known || Wording::may_be_of(&written.message, profile.release);
        emulated.other_writers().into_iter().filter(may_be).find_map(|profile| {
            let other = self.scheduler_of(profile)?;
            let pod = other.state().cluster().pods.get(&pod.key())?;
            let view = CycleView::of(&other.explain(pod));
            let mut theirs = found.clone();
            self.compare_with(pod, &view, written, Emulated { profile, ..emulated }, &mut theirs);
            // Where nothing shows the version, nothing less than the text itself tells it.
            let said = view.failure.as_ref().is_some_and(|failure| last_reported::says_the_same(&written.message, &failure.message));
            (theirs.differences.is_empty() && (known || said)).then(|| profile.release.number())
        })
    }

    /// Returns a scheduler of another release on the same cluster; `None` where it would not start.
    fn scheduler_of(&self, profile: &'static Profile) -> Option<Scheduler> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let made = others.entry(profile.release).or_insert_with(|| {
            let objects = self.cluster.objects().collect();
            let found = FoundVersion { release: profile.release, source: VersionSource::Flag };
            let choice = ReleaseChoice { wanted: Some(found), ..self.scheduler.emulated().choice };
            self.scheduler.of_release(choice, objects, Waiting::Fresh).ok()
        });
        made.clone()
    }

    /// Where the pod would make room, and where it did.
    fn compare_preemption(&self, pod: &Pod, view: &CycleView, found: &mut SchedulerMatch) {
        let preemption = view.preemption.as_ref().filter(|p| !p.hypothetical());
        let selected = preemption.and_then(PreemptionView::selected);
        if view.outcome != Some(Outcome::Unschedulable) {
            return;
        }
        let nominated = &found.nominated;
        // It waits for its victims there as here, whether the texts are the same or tell of the attempt that evicted them.
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
                let why = ineligible.map_or_else(|| "here preemption finds no place".to_owned(), Status::message);
                let mut line = format!("it is nominated to {nominated}; now: {why}");
                if !going.is_empty() {
                    line += &format!(" (evicted for it there: {})", going.join(", "));
                }
                found.differences.push(line);
            }
            Some((node, tied)) if nominated.is_empty() => {
                let any = if tied.len() > 1 { format!(", or any of {} as good", tied.len() - 1) } else { String::new() };
                found.differences.push(format!("here preemption takes {node}{any}; there it is nominated to no node"));
            }
            Some((node, tied)) => {
                if node != nominated && !tied.contains(nominated) {
                    found.differences.push(format!("here preemption takes {node}, there it is nominated to {nominated}"));
                    return;
                }
                let evicted: BTreeSet<String> = self.victims_on(pod, nominated).into_iter().collect();
                let Some(candidate) = preemption.and_then(|p| p.candidate(nominated)) else { return };
                let ours: BTreeSet<String> = candidate.victims.iter().map(|v| v.key().to_string()).collect();
                if !evicted.is_empty() && evicted != ours {
                    let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
                    if self.are_equal(&evicted, &ours) {
                        found.other_words.push(format!(
                            "victims on {nominated}: there {}; here {}: as good as each other, of equal priority and start time",
                            list(&evicted),
                            list(&ours)
                        ));
                        return;
                    }
                    found.differences.push(format!("victims on {nominated}: there {}; here {}", list(&evicted), list(&ours)));
                }
            }
        }
    }

    /// Whether two sets of victims are of the same priorities and start times: kube-scheduler prefers none of them.
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
        let by_uid = |p: &&Preempted| p.preemptor.as_ref() == Some(&key) || !pod.metadata.uid.is_empty() && p.by == *pod.metadata.uid;
        self.preempted.iter().filter(by_uid).filter(|p| p.node == *node).map(|p| p.victim.to_string()).collect()
    }
}

/// What a pod that made room waits for.
const GOING: &str = "its victims are still terminating";

/// Whether the pod may not preempt again while its victims go.
fn going_on(view: &CycleView) -> bool {
    let ineligible = view.preemption.as_ref().and_then(|p| p.ineligible());
    ineligible.is_some_and(|status| status.reasons().contains(&Reason::TerminatingVictims))
}

/// What differs between a decision of a release and a text, and what is only put otherwise. The text is read in the words of
/// the cluster's release.
pub fn differences(view: &CycleView, written: &LastReported, emulated: &Emulated) -> (Vec<String>, Vec<String>) {
    let gated = written.reason == "SchedulingGated";
    let ours = view.failure.as_ref().map(|failure| failure.message.as_str());
    let one = |line: String| (vec![line], Vec::new());
    match (view.outcome, gated) {
        (Some(Outcome::Gated), true) => return (Vec::new(), Vec::new()),
        (Some(Outcome::Gated), false) => return one("here a gate holds it, there it was tried".to_owned()),
        (_, true) => return one("there its scheduling gates hold it, here it has none".to_owned()),
        (Some(Outcome::Scheduled), _) => {
            let node = view.selected.as_ref().map_or("a node", |(node, ..)| node.as_str());
            return one(format!("there no node took it, here it fits on {node}"));
        }
        _ => {}
    }
    let Some(ours) = ours else {
        let why = view.skipped.as_ref().map_or_else(|| "its attempt has no end".to_owned(), |(pod, why)| why.text(pod));
        return one(format!("here it is not tried: {why}"));
    };
    if last_reported::says_the_same(&written.message, ours) {
        return (Vec::new(), Vec::new());
    }
    let releases = [emulated.writer(), emulated.profile.release];
    let (Some(theirs), Some(mut here)) = (Wording::of(&written.message, releases[0]), Wording::of(ours, releases[1])) else {
        return one(format!("the texts differ: there {:?}, here {ours:?}", written.message));
    };
    let mut lines = Vec::new();
    let mut words: Vec<String> = theirs.other_words.difference(&here.other_words).map(|w| format!("the cluster's scheduler {w}")).collect();
    words.extend(here.other_words.difference(&theirs.other_words).map(|w| format!("schedscope, as {}, {w}", emulated.version())));
    if going_on(view)
        && matches!(theirs.post_filter, None | Some(PostFilter::Placement(..)))
        && matches!(here.post_filter, Some(PostFilter::Other(_)))
    {
        // What differs is what it has done itself.
        words.push(GOING.to_owned());
        here.post_filter.clone_from(&theirs.post_filter);
    }
    let (theirs, here, never) = Wording::without_what_is_never_written(theirs, here, releases);
    words.extend(never);
    if theirs.nodes != here.nodes {
        lines.push(format!("nodes in all: the scheduler said {}, schedscope says {}", theirs.nodes, here.nodes));
    }
    lines.extend(message_parse::differences(&theirs.reasons, &here.reasons, ""));
    lines.extend(message_parse::differences(&theirs.left_out, &here.left_out, ""));
    match (&theirs.post_filter, &here.post_filter) {
        (Some(PostFilter::Nodes(a)), Some(PostFilter::Nodes(b))) => lines.extend(message_parse::differences(a, b, "preemption, ")),
        (a, b) if a == b => {}
        (Some(PostFilter::Placement(node, victims)), None) => {
            let chosen = view.preemption.as_ref().and_then(PreemptionView::chosen);
            let same = chosen.is_some_and(|c| c.node.as_str() == node && c.victims.len() == *victims as usize);
            if !same {
                lines.push(format!("there preemption takes {node} with {victims} victims, which it does not here"));
            }
        }
        (a, b) => lines.push(format!("preemption: there {}, here {}", said(a.as_ref()), said(b.as_ref()))),
    }
    (lines, words)
}

fn said(words: Option<&PostFilter>) -> String {
    match words {
        None => "silent (as when it makes room)".to_owned(),
        Some(PostFilter::Nodes(reasons)) => reasons.iter().map(|(r, n)| format!("{n} {r}")).collect::<Vec<_>>().join(", "),
        Some(PostFilter::Placement(node, victims)) => format!("{victims} victims on {node}"),
        Some(PostFilter::Other(text)) => text.clone(),
    }
}

/// All pending pods of a cluster, beside what its scheduler wrote about them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agreements {
    /// The release that decides here.
    pub release: ReleaseReport,
    /// The pods, differences first, then by name.
    pub pods: Vec<SchedulerMatch>,
    /// Who was evicted for whom, the oldest first.
    pub preempted: Vec<Preempted>,
    /// What is not known of the cluster.
    pub missing: Vec<Missing>,
    /// Why the pods wait, the causes of the most pods first; empty where that was not asked.
    pub causes: Vec<CauseReport>,
}

impl Agreements {
    /// Decides about every pending pod on the cluster as it is, each alone, and compares. `seen` is what else was seen to change in the cluster; `wanted` leaves pods out;
    /// `go_on` is told of each pod that is done and of how many, and stops the rest.
    pub fn of(
        scheduler: &Scheduler,
        events: &[ObservedEvent],
        seen: Vec<(Timestamp, String)>,
        wanted: impl Fn(&Key) -> bool,
        go_on: impl Fn(usize) -> bool + Sync,
    ) -> Self {
        let state = scheduler.state();
        let comparer = SchedulerComparer::new(scheduler, events).having_seen(seen);
        let pods: Vec<&Arc<Pod>> = pending(state.cluster()).filter(|p| wanted(&p.key())).collect();
        let count = pods.len();
        let mut found: Vec<SchedulerMatch> = pods
            .into_par_iter()
            .filter_map(|pod| {
                if !go_on(count) {
                    return None;
                }
                if state.config().profile(&pod.spec.scheduler_name).is_none() {
                    return Some(not_ours(pod));
                }
                Some(comparer.compare(pod, &CycleView::of(&scheduler.explain(pod))))
            })
            .collect();
        found.sort_by(|a, b| (a.accord, &a.pod).cmp(&(b.accord, &b.pod)));
        let release = ReleaseReport::of(scheduler.emulated(), &decision_parts(state.config()));
        let missing = Missing::all(state.cluster().unknown);
        Self { release, pods: found, preempted: comparer.preempted, missing, causes: Vec::new() }
    }

    /// Whether a pod does not fit, of those that are decided here.
    pub fn some_does_not_fit(&self) -> bool {
        self.pods.iter().any(|pod| pod.outcome.is_some_and(|outcome| outcome != Outcome::Scheduled))
    }

    /// Whether something differs for no reason that is known.
    pub fn some_disagrees(&self) -> bool {
        self.pods.iter().any(|pod| pod.accord == MatchKind::Unexplained)
    }

    /// How many pods there are of each accord; those of which there are none are left out.
    pub fn counts(&self) -> Vec<(MatchKind, usize)> {
        use strum::IntoEnumIterator as _;
        let count = |accord| self.pods.iter().filter(|a| a.accord == accord).count();
        MatchKind::iter().map(|accord| (accord, count(accord))).filter(|(_, n)| *n > 0).collect()
    }
}

/// Pods that wait for a node.
pub fn pending(cluster: &Cluster) -> impl Iterator<Item = &Arc<Pod>> {
    cluster.pods.iter().filter(|p| p.is_pending())
}

fn not_ours(pod: &Pod) -> SchedulerMatch {
    SchedulerMatch {
        pod: pod.key(),
        accord: MatchKind::NotOurs,
        here: format!("Left to the scheduler {}.", pod.spec.scheduler_name),
        message: String::new(),
        outcome: None,
        there: None,
        nominated: pod.status.nominated_node_name.clone(),
        differences: Vec::new(),
        other_words: Vec::new(),
        since: Vec::new(),
        waits_for: None,
        decided_by: None,
    }
}
