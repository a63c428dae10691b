//! All pending pods at a glance: grouped by cause, each cause with the fix that frees most of its pods.

mod best_fix;
mod short;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::agreement::{Agreements, SchedulerComparer, SchedulerMatch, pending, within_steps};
use super::fixes::FixReport;
use super::why::{binding, in_common, uncapitalized, waits_for, waits_for_volume, why_group_in_short, why_group_is_gated};
use crate::cluster::neighbors::About;
use crate::cluster::{Key, Pod};
use crate::fixes::{Background, Change, NodesNeeded};
use crate::framework::{PluginName, PluginSet, Reason, Status};
use crate::plural::count;
use crate::scheduler::Scheduler;
use crate::trace::{CycleView, GroupOutcome, Outcome, PreemptionView};

use best_fix::best_fix;
pub use short::{short_causes, with_short};

/// Limit on the causes for which fixes are searched, largest first.
const CAUSES_SEARCHED: usize = 8;
/// Limit on the reasons of a cause that are shown with their nodes.
const MAIN_REASONS: usize = 8;
/// The key of pods that have a node and wait for its volume.
pub(in crate::analysis) const VOLUME: &str = "volume-provisioning";
/// The number of pods decided before the overview is published again, at first. Causes are grouped anew for each part: parts grow with the
/// pods that are decided.
const CHUNK: usize = 32;
/// The share of the decided pods that are decided before it is published again, as a divisor.
const SHARE_OF_DECIDED: usize = 8;

/// Why a pod waits, in a form that pods can share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitReason {
    /// A stable key of the set of reasons.
    pub key: String,
    /// The reason in words that leave out the pod's own amounts.
    pub words: String,
    /// The same words as they are said of several pods.
    pub words_of_several: String,
    /// The same in ever fewer words, for narrow screens: of one pod, and of several.
    pub shorter: Vec<(String, String)>,
    /// The number of nodes that give each reason, by its text.
    pub nodes: BTreeMap<String, usize>,
    /// The plugins that reject it.
    pub plugins: PluginSet,
    /// Whether preemption makes room.
    pub preemption: PreemptionHelp,
}

/// Whether preemption makes room for the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum PreemptionHelp {
    /// It finds a candidate.
    #[serde(rename = "helps")]
    Helps,
    /// It made room already: the victims are ending.
    #[serde(rename = "inProgress")]
    InProgress,
    /// It finds none.
    #[serde(rename = "no")]
    No,
    /// PostFilter did not run.
    #[serde(rename = "not run")]
    NotRun,
}

impl PreemptionHelp {
    /// Returns whether preemption helps a number of pods, as a clause behind a semicolon; empty where it did not run.
    pub fn clause(self, helped: usize, pods: usize) -> String {
        match self.words(helped, pods) {
            words if words.is_empty() => words,
            words => format!("; {words}"),
        }
    }

    /// Returns whether preemption helps a number of pods; empty where it did not run.
    fn words(self, helped: usize, pods: usize) -> String {
        match self {
            Self::Helps if helped < pods => format!("preemption helps {helped} of {pods}"),
            Self::Helps => "preemption helps".to_owned(),
            Self::No => "preemption does not help".to_owned(),
            Self::InProgress | Self::NotRun => String::new(),
        }
    }
}

/// Pods that wait for the same reasons.
#[derive(Clone, Debug)]
pub struct Cause {
    /// A stable key of the set of reasons.
    pub key: String,
    /// The cause in words.
    pub sentence: String,
    /// The cause in ever fewer words, for narrow screens.
    pub shorter: Vec<String>,
    /// The pods, by name.
    pub pods: Vec<Key>,
    /// The number of pods that do not exist.
    pub missing: usize,
    /// The workloads that want them.
    pub workloads: Vec<About>,
    /// The number of nodes that give each reason, the largest over the pods.
    pub nodes: BTreeMap<String, usize>,
    /// The reasons that most nodes give, with the number of nodes; those first.
    pub main_reasons: Vec<(String, usize)>,
    /// Whether preemption makes room for any of the pods.
    pub preemption: PreemptionHelp,
    /// The number of pods for which preemption makes room.
    pub helped: usize,
    /// Those pods, by name.
    pub helped_pods: Vec<Key>,
    /// The fix that frees most of the pods.
    pub fix: FixSearch,
}

impl Cause {
    /// Returns the number of its pods, those that do not exist included.
    pub fn count(&self) -> usize {
        self.pods.len() + self.missing
    }

    /// Returns the state of the search for its fix in words. Begins with preemption where that makes room for all of its pods.
    pub fn fix_words(&self) -> String {
        let words = self.fix.words(self.count());
        let Some(needed) = self.without_fix() else { return words };
        if let FixSearch::Nothing(None) = self.fix { needed } else { format!("{needed}; without evictions: {words}") }
    }

    /// Returns the same in fewer words, for narrow screens: the number of pods first, and no reasons.
    pub fn fix_words_in_short(&self) -> String {
        let FixSearch::Found(fix) = &self.fix else { return self.fix_words() };
        let what = match (fix.preempts(), &fix.fix.last_resort) {
            (_, Some(_)) => "last resort",
            (true, None) => "fix, by preemption",
            (false, None) => "fix",
        };
        let words = format!("{what} ({} of {}): {}", fix.frees, self.count(), fix.fix.text);
        let spared = fix.freed.iter().all(|pod| self.helped_pods.binary_search(pod).is_ok());
        match (&fix.freed[..], self.without_fix()) {
            (_, Some(_)) if self.helped == self.count() => format!("preemption makes room; or {words}"),
            ([one], Some(_)) if spared => format!("preemption places {one}; or {words}"),
            (freed, Some(_)) if spared => format!("preemption places {}; or {words}", count(freed.len(), "pod")),
            _ => words,
        }
    }

    /// Returns that preemption makes room for all of its pods, or all that the fix frees, in words; `None` where it does not.
    pub fn without_fix(&self) -> Option<String> {
        let all = self.preemption == PreemptionHelp::Helps && self.helped == self.count();
        let found = self.fix.found().filter(|fix| fix.freed.iter().all(|pod| self.helped_pods.binary_search(pod).is_ok()));
        match found.map(|fix| &fix.freed[..]) {
            _ if all && self.count() == 1 => Some("no fix is needed: preemption makes room for it".to_owned()),
            _ if all => Some("no fix is needed: preemption makes room for each of them by itself".to_owned()),
            Some([one]) => Some(format!("{one} needs no fix: preemption makes room for it")),
            Some(freed) => Some(format!("{} of them need no fix: preemption makes room for each by itself", freed.len())),
            None => None,
        }
    }

    /// Returns the names of its pods; of its workloads where the pods do not exist.
    pub fn names(&self) -> Vec<String> {
        if self.workloads.is_empty() {
            self.pods.iter().map(Key::to_string).collect()
        } else {
            self.workloads.iter().map(About::in_namespace).collect()
        }
    }
}

/// The state of the search for the fix of a cause.
#[derive(Clone, Debug)]
pub enum FixSearch {
    /// It has not begun.
    Ahead,
    /// It is not made, because enough other causes have more pods.
    LeftOut,
    /// The fix, or the object to look at, in words, with the commands that make it: it follows from the objects without a search.
    Said(String, Vec<String>),
    /// The pods need no fix: they have a node, or it is being made free.
    NotNeeded(&'static str),
    /// It was stopped before it ended.
    Stopped,
    /// No fix places any of the pods. Holds why some fixes were not tried; `None` if all were.
    Nothing(Option<String>),
    /// No fix places any of the pods, and one that might is not proposed, for this reason. The flag says that the reason is missing knowledge.
    NotProposed(String, bool),
    /// This fix frees most of the pods.
    Found(Arc<CauseFix>),
}

impl FixSearch {
    pub fn found(&self) -> Option<&Arc<CauseFix>> {
        if let Self::Found(fix) = self { Some(fix) } else { None }
    }

    /// Returns the state in words, for a cause of a number of pods.
    pub fn words(&self, pods: usize) -> String {
        match self {
            Self::Said(words, _) => words.clone(),
            Self::Ahead => "searching for a fix".to_owned(),
            Self::LeftOut => format!("no fix searched: only the {CAUSES_SEARCHED} largest causes are searched"),
            Self::NotNeeded(why) => format!("no fix is needed: {why}"),
            Self::Stopped => "the search for a fix was stopped".to_owned(),
            Self::Nothing(why) => {
                let these = if pods == 1 { "" } else { " for any of these pods" };
                let incomplete = why.as_ref().map_or_else(String::new, |why| format!("; incomplete: {why}"));
                format!("no fix found{these}{incomplete}")
            }
            Self::NotProposed(why, true) => format!("no fix known: {why}"),
            Self::NotProposed(why, false) => format!("no fix proposed: {why}"),
            Self::Found(fix) => {
                let whose = match &fix.freed[..] {
                    [one] if pods > 1 => format!(" for {one}"),
                    [one, other] if pods > 2 => format!(" for {one} and {other}"),
                    _ => String::new(),
                };
                let verb = if fix.preempts() { "preempts for" } else { "frees" };
                let frees = format!("{verb} {} of {pods}", fix.frees);
                let last = fix.fix.last_resort.as_ref().map_or_else(String::new, |why| format!("; only if nothing else helps: {why}"));
                format!("fix{whose}: {} ({frees}{last}){}", fix.fix.text, fix.nodes_words(pods))
            }
        }
    }
}

/// Pods that wait for the same reasons, as `explain --pending -o json` prints them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CauseReport {
    /// A stable key of the set of reasons.
    pub cause: String,
    /// The cause in words.
    pub sentence: String,
    /// The pods as `namespace/name`, by name.
    pub pods: Vec<String>,
    /// The number of pods that do not exist; the cause is then of workloads.
    #[serde(skip_serializing_if = "is_zero")]
    pub missing: usize,
    /// The workloads that want them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<About>,
    /// The number of nodes that give each reason, the largest over the pods.
    pub nodes: BTreeMap<String, usize>,
    /// Whether preemption makes room for any of the pods.
    pub preemption: PreemptionHelp,
    /// The number of pods for which preemption makes room.
    #[serde(skip)]
    pub(crate) helped: usize,
    /// The fix that frees most of the pods.
    pub fix: Option<CauseFix>,
    /// Whether a fix was searched for.
    pub fix_searched: bool,
    /// Why some fixes were not tried although none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_search_cut_short_by: Option<String>,
    /// The state of the search in words.
    #[serde(skip)]
    fix_words: String,
}

/// The fix that frees most pods of a cause.
#[derive(Clone, Debug, Serialize)]
pub struct CauseFix {
    /// The fix, with the patches of all pods that it frees.
    #[serde(flatten)]
    pub fix: FixReport,
    /// The number of pods that find a node, placed one after another.
    pub frees: usize,
    /// The smallest number of new nodes of an existing shape that takes all pods of the cause; null where it is not searched or none does.
    #[serde(rename = "nodesForAll")]
    pub nodes: Option<NodesNeeded>,
    /// The kinds that may refuse or change the pods of the fix and are not known.
    #[serde(rename = "unknownPolicies", skip_serializing_if = "Vec::is_empty")]
    pub unknown_policies: Vec<String>,
    /// The pod for which the fix was found.
    #[serde(skip)]
    pub first: Key,
    /// Its changes, to the first pod and to other objects.
    #[serde(skip)]
    pub parts: Vec<Change>,
    /// The pods that it frees, by name.
    #[serde(skip)]
    pub freed: Vec<Key>,
}

impl CauseFix {
    /// Returns whether it lets a pod preempt, instead of finding nodes.
    pub fn preempts(&self) -> bool {
        self.fix.outcome == "preempts"
    }

    /// Returns how many nodes would take all of a number of pods, as a clause; empty where that is unknown.
    pub fn nodes_words(&self, pods: usize) -> String {
        let Some(nodes) = &self.nodes else { return String::new() };
        let all = if pods == 1 { "it".to_owned() } else { format!("all {pods}") };
        match nodes.count {
            1 => format!("; 1 new node like {} would take {all}", nodes.like),
            number => format!("; {number} new nodes like {} in all would take {all}", nodes.like),
        }
    }
}

/// All pending pods, as far as they are decided, with their causes.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The decided pods, each compared with the cluster's scheduler.
    pub pods: BTreeMap<Key, Arc<SchedulerMatch>>,
    /// The causes, most pods first. Holds no pods that fit or belong to another scheduler.
    pub causes: Vec<Cause>,
    /// The number of pending pods.
    pub pending: usize,
    /// Whether the decisions are about the cluster that its scheduler reported about, so that both can be compared.
    pub compared: bool,
    /// The progress.
    pub stage: Stage,
    /// The newest word of others about each pod, of which the meaning is known, in a few words.
    pub others: Arc<BTreeMap<Key, String>>,
}

/// The progress of an overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Pods are being decided.
    Deciding,
    /// Fixes are being searched for: the number of causes done, and of all that are searched.
    Searching(usize, usize),
    /// Everything is there.
    Complete,
    /// It was stopped before.
    Stopped,
    /// Pods are left that are not decided, as the others took all steps; the rest is there.
    OutOfSteps,
}

impl Stage {
    /// Returns whether nothing more comes.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Complete | Self::Stopped | Self::OutOfSteps)
    }
}

/// Key of the cause of pods whose victims should have ended.
const OVERDUE: &str = "preemption-overdue";

impl WaitReason {
    /// Returns why a pod waits, by its decision; `None` for a pod that fits. The pods of a group that waits share its reason.
    pub fn of(pod: &Pod, view: &CycleView) -> Option<Self> {
        let mut reason = Self::of_pod(view)?;
        let Some(group) = pod.group_key() else { return Some(reason) };
        if let Some((key, words)) = view.pre_enqueue.as_ref().and_then(|gate| why_group_is_gated(gate, view.missing())) {
            reason.key = format!("pod-group:{group}:{key}");
            reason.say(format!("Pod group {group}: {words}"));
            return Some(reason);
        }
        let Some(tried) = &view.group else { return Some(reason) };
        let outcome = tried.decision.as_ref().map(|decision| decision.outcome).or(tried.outcome);
        let (Some(outcome), Some(words)) = (outcome, why_group_in_short(tried)) else { return Some(reason) };
        if outcome != GroupOutcome::Scheduled {
            reason.key = format!("pod-group:{group}:{outcome}");
            reason.say(format!("Pod group {group}: {words}"));
            reason.preemption = match outcome {
                GroupOutcome::WaitingOnPreemption => PreemptionHelp::Helps,
                _ if tried.preemption.is_some() => PreemptionHelp::No,
                // A victim of a single member does not make room for the group.
                _ => reason.preemption.max(PreemptionHelp::No),
            };
        }
        Some(reason)
    }

    /// Sets words that one pod and several share.
    fn say(&mut self, words: String) {
        self.words_of_several.clone_from(&words);
        self.words = words;
        self.shorter.clear();
    }

    /// Returns why the pod of a decision waits, leaving out its group.
    fn of_pod(view: &CycleView) -> Option<Self> {
        if let Some(reason) = Self::in_progress(view) {
            return Some(reason);
        }
        let preemption = match &view.preemption {
            Some(found) if !found.hypothetical() && found.selected().is_some() => PreemptionHelp::Helps,
            _ if view.post_filter.is_empty() => PreemptionHelp::NotRun,
            _ => PreemptionHelp::No,
        };
        let (nodes, plugins) = (BTreeMap::new(), PluginSet::default());
        let ((words, words_of_several), shorter) = in_common(view);
        let mut reason = Self { key: String::new(), words, words_of_several, shorter, nodes, plugins, preemption };
        match view.outcome? {
            Outcome::Gated => {
                let gate = view.pre_enqueue.as_ref()?;
                let gates = gate.reasons().iter().filter_map(|r| match r {
                    Reason::SchedulingGates { gates } => Some(gates.iter().map(crate::cluster::Str::as_str).collect::<Vec<_>>().join(",")),
                    _ => None,
                });
                let kinds = gate.reasons().iter().map(kind_of).collect::<Vec<_>>().join("+");
                reason.key = format!("gated:{kinds}:{}", gates.collect::<Vec<_>>().join(","));
                reason.rejected_by(gate);
            }
            Outcome::Error if view.nodes_unknown().is_some() => "nodes-unknown".clone_into(&mut reason.key),
            Outcome::Error => "error".clone_into(&mut reason.key),
            Outcome::Unschedulable => reason.count(view),
            Outcome::Scheduled => {
                let binding = binding(view)?;
                VOLUME.clone_into(&mut reason.key);
                let words = waits_for_volume(binding, view.start.as_ref().and_then(|start| start.time));
                reason.words = uncapitalized(&words);
                "have their nodes, and wait for their volumes to be provisioned".clone_into(&mut reason.words_of_several);
                reason.preemption = PreemptionHelp::NotRun;
                reason.plugins.insert(PluginName::VolumeBinding);
            }
        }
        Some(reason)
    }

    /// Returns the reason of a pod whose scheduler name is a typo.
    pub(in crate::analysis) fn of_unknown_scheduler(words: String) -> Self {
        Self {
            key: "unknown-scheduler".to_owned(),
            words_of_several: words.clone(),
            words,
            shorter: Vec::new(),
            nodes: BTreeMap::new(),
            plugins: PluginSet::default(),
            preemption: PreemptionHelp::NotRun,
        }
    }

    /// Returns the state of the search for a fix before it begins: a pod that only waits needs none.
    fn fix_before_search(&self) -> FixSearch {
        match self.key.as_str() {
            VOLUME => FixSearch::NotNeeded("a node is chosen already"),
            OVERDUE => FixSearch::NotProposed(
                "preempted pods should have ended; a finalizer may hold them, or the kubelet of their node does not answer".to_owned(),
                false,
            ),
            _ if self.preemption == PreemptionHelp::InProgress => FixSearch::NotNeeded("preemption is in progress"),
            _ => FixSearch::Ahead,
        }
    }

    /// Returns the reason of a pod that waits for its victims; `None` for others.
    fn in_progress(view: &CycleView) -> Option<Self> {
        let gated = view.pre_enqueue.iter().flat_map(Status::reasons).any(Reason::waits_for_victims);
        let victims = view.preemption.as_ref().and_then(PreemptionView::waits_for);
        let overdue = victims.is_some_and(|victims| victims.are_overdue());
        let words = match victims {
            Some(victims) => waits_for(victims),
            None if gated && view.outcome == Some(Outcome::Gated) => "waits for the pods that are preempted for it to end".to_owned(),
            None => return None,
        };
        let mut reason = Self {
            key: String::new(),
            words,
            words_of_several: if overdue {
                "wait for pods that were preempted for them, and should have ended".to_owned()
            } else {
                "wait for the pods that are preempted for them to end".to_owned()
            },
            shorter: Vec::new(),
            nodes: BTreeMap::new(),
            plugins: PluginSet::default(),
            preemption: PreemptionHelp::InProgress,
        };
        reason.count(view);
        if overdue { OVERDUE } else { "preemption-in-progress" }.clone_into(&mut reason.key);
        Some(reason)
    }

    fn rejected_by(&mut self, status: &Status) {
        if let Some(plugin) = status.plugin() {
            self.plugins.insert(plugin);
        }
    }

    fn count(&mut self, view: &CycleView) {
        let mut kinds: BTreeSet<String> = BTreeSet::new();
        // A pod may request thousands of resources, of which each node lacks others.
        let mut insufficient: HashMap<&str, (&Reason, Cow<str>, usize)> = HashMap::new();
        let mut add = |status, nodes: usize| {
            self.rejected_by(status);
            for reason in status.reasons() {
                let text = || reason.text(status.words_of());
                let of_reason = if let Reason::Insufficient(shortage) = reason {
                    &mut insufficient.entry(&shortage.resource).or_insert_with(|| (reason, text(), 0)).2
                } else {
                    kinds.insert(kind_of(reason));
                    self.nodes.entry(text().into_owned()).or_default()
                };
                *of_reason += nodes;
            }
        };
        let mut rejected = view.filter.verdicts.values().map(|verdict| &verdict.status).filter(|status| !status.is_success()).peekable();
        while let Some(status) = rejected.next() {
            let is_alike = |next: &&Status| next.plugin() == status.plugin() && next.surely_reads_like(status);
            let alike = std::iter::from_fn(|| rejected.next_if(is_alike)).count();
            add(status, 1 + alike);
        }
        let all = view.start.as_ref().map_or(0, |start| start.nodes);
        if let Some((_, status)) = view.pre_filter.narrowed.as_ref().filter(|(_, status)| !status.is_success()) {
            add(status, all.saturating_sub(view.filter.verdicts.len()));
        }
        for (reason, text, nodes) in insufficient.into_values() {
            kinds.insert(kind_of(reason));
            *self.nodes.entry(text.into_owned()).or_default() += nodes;
        }
        self.key = kinds.into_iter().collect::<Vec<_>>().join("+");
        if self.key.is_empty() {
            "no-nodes".clone_into(&mut self.key);
        }
    }
}

/// Returns the kind of a reason, with its resource or the condition behind its taint if it has one.
fn kind_of(reason: &Reason) -> String {
    match reason {
        Reason::Insufficient(shortage) => format!("Insufficient({})", shortage.resource),
        // A node that is not ready is another cause than one that is reserved.
        Reason::UntoleratedTaint { taint } if taint.condition().is_some() => format!("{}({})", reason.kind(), taint.key),
        other => other.kind().to_string(),
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The words of a cause about one pod and about several, with the number of pods that have them, and the shorter words.
type Wordings<'a> = BTreeMap<(&'a str, &'a str), (usize, &'a [(String, String)])>;

/// Groups pods by cause, most pods first, without fixes.
fn grouped<'a>(pods: impl Iterator<Item = &'a SchedulerMatch>) -> Vec<Cause> {
    let mut groups: BTreeMap<&str, (Cause, Wordings<'_>)> = BTreeMap::new();
    for found in pods {
        let Some(reason) = &found.waits_for else { continue };
        let (cause, words) = groups.entry(&reason.key).or_insert_with(|| {
            let cause = Cause {
                key: reason.key.clone(),
                sentence: String::new(),
                shorter: Vec::new(),
                pods: Vec::new(),
                missing: 0,
                workloads: Vec::new(),
                nodes: BTreeMap::new(),
                main_reasons: Vec::new(),
                preemption: reason.preemption,
                helped: 0,
                helped_pods: Vec::new(),
                fix: reason.fix_before_search(),
            };
            (cause, BTreeMap::new())
        });
        for (text, nodes) in &reason.nodes {
            let known = cause.nodes.entry(text.clone()).or_default();
            *known = (*known).max(*nodes);
        }
        words.entry((reason.words.as_str(), reason.words_of_several.as_str())).or_insert((0, &reason.shorter)).0 += 1;
        if reason.preemption == PreemptionHelp::Helps {
            cause.helped += 1;
            cause.helped_pods.push(found.pod.clone());
        }
        cause.preemption = cause.preemption.min(reason.preemption);
        cause.pods.push(found.pod.clone());
    }
    let said = |(cause, words): (Cause, Wordings<'_>)| {
        let (sentence, shorter) = sentence(&words, cause.pods.len());
        Cause { sentence, shorter, ..cause }
    };
    let mut causes: Vec<Cause> = groups.into_values().map(said).collect();
    for cause in &mut causes {
        cause.pods.sort();
        cause.helped_pods.sort();
        cause.main_reasons = main_reasons(&cause.nodes);
    }
    causes.sort_by(|a, b| b.pods.len().cmp(&a.pods.len()).then_with(|| a.key.cmp(&b.key)));
    for cause in causes.iter_mut().skip(CAUSES_SEARCHED) {
        if matches!(cause.fix, FixSearch::Ahead) {
            cause.fix = FixSearch::LeftOut;
        }
    }
    causes
}

/// Returns the reasons that most nodes give.
fn main_reasons(nodes: &BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut all: Vec<(&String, usize)> = nodes.iter().map(|(reason, count)| (reason, *count)).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.into_iter().take(MAIN_REASONS).map(|(reason, count)| (reason.clone(), count)).collect()
}

/// Returns the words of most pods of a cause, and the shorter ones.
fn sentence(words: &Wordings<'_>, pods: usize) -> (String, Vec<String>) {
    let of = |one: &str, several: &str| if pods == 1 { one.to_owned() } else { several.to_owned() };
    let most = words.iter().max_by(|a, b| a.1.0.cmp(&b.1.0).then_with(|| b.0.cmp(a.0)));
    let Some(((of_one, of_several), (_, shorter))) = most else { return Default::default() };
    let said: BTreeSet<&str> = words.keys().map(|(of_one, of_several)| if pods == 1 { *of_one } else { *of_several }).collect();
    let others = if said.len() > 1 { " (details differ by pod)" } else { "" };
    let sentence = format!("{}{others}", of(of_one, of_several));
    (sentence, shorter.iter().map(|(one, several)| of(one, several)).collect())
}

/// Groups pending pods by cause and searches each cause's best fix.
pub fn causes(agreements: &Agreements, scheduler: &Scheduler, background: Background<'_>) -> Vec<CauseReport> {
    let mut causes = grouped(agreements.pods.iter());
    let mut group_steps = 0;
    for cause in causes.iter_mut().filter(|cause| matches!(cause.fix, FixSearch::Ahead)) {
        cause.fix = best_fix(scheduler, &cause.pods, background, &mut group_steps, &|| true);
    }
    causes.into_iter().map(CauseReport::of).collect()
}

impl CauseReport {
    /// Returns the number of its pods, those that do not exist included.
    pub fn count(&self) -> usize {
        self.pods.len() + self.missing
    }

    /// Returns the names of its pods; of its workloads where the pods do not exist.
    pub fn names(&self) -> Vec<String> {
        if self.workloads.is_empty() { self.pods.clone() } else { self.workloads.iter().map(About::in_namespace).collect() }
    }

    /// Returns the state of the search for its fix in words.
    pub fn fix_words(&self) -> &str {
        &self.fix_words
    }

    /// Returns whether preemption helps, in words.
    pub fn preemption_words(&self) -> String {
        self.preemption.words(self.helped, self.pods.len())
    }

    fn of(cause: Cause) -> Self {
        let words = cause.fix_words();
        Self {
            cause: cause.key,
            sentence: cause.sentence,
            nodes: cause.nodes,
            preemption: cause.preemption,
            helped: cause.helped,
            fix_searched: !matches!(cause.fix, FixSearch::LeftOut | FixSearch::NotNeeded(_) | FixSearch::Said(..)),
            fix_words: words,
            missing: cause.missing,
            workloads: cause.workloads,
            fix: cause.fix.found().map(|fix| CauseFix::clone(fix)),
            fix_search_cut_short_by: match cause.fix {
                FixSearch::Nothing(why) => why,
                FixSearch::NotProposed(why, _) => Some(why),
                _ => None,
            },
            pods: cause.pods.iter().map(Key::to_string).collect(),
        }
    }
}

impl Overview {
    /// Decides every pending pod on its own or with its pod group, groups them by cause and searches each cause's best fix. `compared` says whether
    /// the cluster is the one that its scheduler reported about. Fixes that take back one of the acts of `background` are last resorts. `short` holds the causes of workloads whose pods do not exist. Calls `publish` after each part. Once `go_on` returns false, the rest is left out and the last stage is [`Stage::Stopped`].
    /// With pods that take more than `most` steps, the later ones are not decided and the last stage is [`Stage::OutOfSteps`].
    pub fn make(
        scheduler: &Scheduler,
        (comparer, compared): (&SchedulerComparer, bool),
        most: u64,
        short: &[Cause],
        background: Background<'_>,
        go_on: &(dyn Fn() -> bool + Sync),
        publish: &dyn Fn(Self),
    ) {
        let publish = |found: Self| publish(found.with_short(short));
        let waiting: Vec<&Arc<Pod>> = pending(scheduler.state().cluster()).collect();
        let (pods, causes, others) = (BTreeMap::new(), Vec::new(), Arc::default());
        let mut found = Self { pods, causes, pending: waiting.len(), compared, stage: Stage::Deciding, others };
        let mut rest = &waiting[..within_steps(scheduler, &waiting, most)];
        while !rest.is_empty() {
            let share = CHUNK.max(found.pods.len() / SHARE_OF_DECIDED).min(rest.len());
            let (chunk, later) = rest.split_at(share);
            rest = later;
            let decided = comparer.decide_all(chunk, go_on);
            found.pods.extend(decided.into_iter().map(|decided| (decided.pod.clone(), Arc::new(decided))));
            found.causes = grouped(found.pods.values().map(|pod| &**pod));
            if !go_on() {
                return publish(found.stopped());
            }
            publish(found.clone());
        }
        let searched = found.causes.len().min(CAUSES_SEARCHED);
        let mut group_steps = 0;
        for at in 0..searched {
            if !matches!(found.causes[at].fix, FixSearch::Ahead) {
                continue;
            }
            found.stage = Stage::Searching(at, searched);
            publish(found.clone());
            found.causes[at].fix = best_fix(scheduler, &found.causes[at].pods, background, &mut group_steps, go_on);
            if !go_on() {
                return publish(found.stopped());
            }
        }
        found.stage = if found.pods.len() < found.pending { Stage::OutOfSteps } else { Stage::Complete };
        publish(found);
    }

    /// Adds what others wrote about pods.
    #[must_use]
    pub fn with_others(self, others: Arc<BTreeMap<Key, String>>) -> Self {
        Self { others, ..self }
    }

    /// Shows the fixes of an overview of the state before until they are searched again, for causes with the same pods.
    #[must_use]
    pub fn keeping_fixes_of(mut self, before: &Self) -> Self {
        for cause in self.causes.iter_mut().filter(|cause| matches!(cause.fix, FixSearch::Ahead | FixSearch::Stopped)) {
            if let Some(known) = before.causes.iter().find(|known| known.key == cause.key && known.pods == cause.pods) {
                cause.fix = known.fix.clone();
            }
        }
        self
    }

    /// Adds the causes of workloads whose pods do not exist.
    fn with_short(mut self, short: &[Cause]) -> Self {
        self.causes.extend(short.iter().cloned());
        self.causes.sort_by_key(|cause| std::cmp::Reverse(cause.count()));
        self
    }

    fn stopped(mut self) -> Self {
        for cause in self.causes.iter_mut().filter(|cause| matches!(cause.fix, FixSearch::Ahead)) {
            cause.fix = FixSearch::Stopped;
        }
        self.stage = Stage::Stopped;
        self
    }

    /// Returns the decisions about some pods as far as they are made, and their causes with the fixes that are found.
    pub fn among(&self, pods: &[Key]) -> (Vec<&SchedulerMatch>, Vec<CauseReport>) {
        let decided: Vec<&SchedulerMatch> = pods.iter().filter_map(|pod| self.pods.get(pod)).map(|pod| &**pod).collect();
        let mut causes = grouped(decided.iter().copied());
        let known: HashMap<&str, &Cause> = self.causes.iter().rev().map(|cause| (cause.key.as_str(), cause)).collect();
        for cause in &mut causes {
            if let Some(known) = known.get(cause.key.as_str()) {
                cause.fix = known.fix.clone();
            }
        }
        (decided, causes.into_iter().map(CauseReport::of).collect())
    }
}

#[cfg(test)]
mod tests;
