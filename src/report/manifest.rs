//! The end of a manifest, as text and as data.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::whatif::{
    capacity_data, capacity_details, elsewhere_data, elsewhere_lines, made_again_sentence, more_fit_sentence, note_sentence,
};
use super::{Decision, OddsReport};
use crate::admission::Refusal;
use crate::analysis::{Missing, ReleaseReport, odds, run_parts, why};
use crate::cluster::{Cluster, Key, Pod, Str};
use crate::controllers::Note;
use crate::controllers::unfold::Hold;
use crate::framework::{Reason, Status};
use crate::output::{Document, Headings, Lines, Words};
use crate::plural::{count, thousands};
use crate::scheduler::Scheduler;
use crate::trace::CycleView;
use crate::whatif::{
    Elsewhere, ManifestAnswer, ManifestChange, ManifestPod, ManifestPodEnd, ManifestWorkload, NotMade, RefusedPods, Rehearsal, Stage as _,
    WhyKept, WhyNotMade, may_move,
};

/// Limit on the nodes, pods or victims that are listed in text.
const LISTED: usize = 20;
/// Limit on the pods of one workload named that wait for the same reason.
const NAMED: usize = 3;
/// Columns by which details are indented.
const INDENT: usize = 2;

/// The end of a manifest, with the emulated release and the source's gaps.
#[derive(Clone, Debug)]
pub struct ManifestReport {
    answer: ManifestAnswer,
    /// The priority of each workload's pods, in words; empty without pods.
    priorities: Vec<String>,
    /// Other pods that are elsewhere with the manifest.
    elsewhere: Vec<Elsewhere>,
    missing: Vec<Missing>,
    release: ReleaseReport,
}

/// The pods of a manifest, or of one of its workloads, counted.
#[derive(Default)]
struct Numbers {
    placed: usize,
    pending: usize,
    undecided: usize,
    preempted: usize,
    refused: u64,
    not_made: u64,
    /// The resources that pending pods wait for; empty where something else keeps one of them out.
    resources: Vec<String>,
    only_resources: bool,
}

impl ManifestReport {
    /// Reports an answer, with the scheduler at the end.
    pub fn new(answer: ManifestAnswer, end: &Scheduler) -> Self {
        let missing = Missing::all(end.state().cluster().unknown);
        let release = ReleaseReport::of(end.emulated(), &run_parts(end.state().config()));
        let cluster = end.state().cluster();
        let priority = |at: usize| {
            let pod = answer.pods_of(at).iter().find_map(|pod| cluster.pods.get(&pod.pod));
            pod.map(|pod| priority_words(cluster, pod)).unwrap_or_default()
        };
        let priorities = (0..answer.workloads.len()).map(priority).collect();
        Self { answer, priorities, elsewhere: Vec::new(), missing, release }
    }

    /// Adds the pods that are elsewhere than in a run without the manifest. `with` is the scheduler at the end.
    #[must_use]
    pub fn compared(mut self, without: &Rehearsal, with: &Scheduler) -> Self {
        let own = self.answer.pods.iter().map(|pod| &pod.pod).chain(self.answer.victims.iter().map(|victim| &victim.pod)).collect();
        self.elsewhere = Elsewhere::besides(without.scheduler(), with, &own);
        if without.bound().is_reached() {
            Note::CutShort.add_to(&mut self.answer.notes);
            self.elsewhere.retain(|pod| !may_move(&pod.at[0], &pod.at[1]));
        }
        if self.is_cut_short() {
            self.elsewhere.retain(|pod| !may_move(&pod.at[1], &pod.at[0]));
        }
        self
    }

    /// Returns whether every pod has a node.
    pub fn is_complete(&self) -> bool {
        self.answer.is_complete()
    }

    /// Returns whether the run ended before all pods were decided.
    pub fn is_cut_short(&self) -> bool {
        self.answer.notes.contains(&Note::CutShort)
    }

    /// Returns the end in one line: `17 fit, 3 wait for cpu; 2 batch pods would be evicted`.
    pub fn headline(&self) -> String {
        let mut line = self.numbers(None).sentence();
        if let Some(evicted) = self.evicted() {
            line = format!("{line}; {evicted}");
        }
        line
    }

    /// Returns the release that is emulated.
    pub(super) fn release(&self) -> &ReleaseReport {
        &self.release
    }

    /// Returns the answer as text.
    pub fn text(&self) -> Lines {
        let mut doc = self.answer();
        doc.blank();
        doc.paragraph(self.release.sentence());
        doc.plain(Headings::Colon)
    }

    /// Returns the answer without the release.
    pub fn answer(&self) -> Document {
        let mut doc = Document::default();
        doc.paragraph(self.headline());
        for (at, workload) in self.answer.workloads.iter().enumerate() {
            doc.blank();
            doc.paragraph(format!("{} {}: {}", workload.kind, workload.key, self.workload_sentence(at, workload)));
            self.workload_details(&mut doc, at);
        }
        self.victims(&mut doc);
        elsewhere_lines(&mut doc, &self.elsewhere, &|_| None);
        if let Some(capacity) = &self.answer.capacity {
            doc.blank();
            doc.paragraph(format!("CAPACITY: {}", more_fit_sentence(&capacity.capacity)));
            match &capacity.refused {
                Some(refused) => doc.item(INDENT, format!("the next one is refused: {refused}")),
                None => capacity_details(&mut doc, &capacity.capacity),
            }
        }
        self.notes(&mut doc);
        doc
    }

    fn numbers(&self, workload: Option<usize>) -> Numbers {
        let mut numbers = Numbers { only_resources: true, ..Numbers::default() };
        let mut resources: BTreeSet<String> = BTreeSet::new();
        // Pods share decisions.
        let mut seen = HashSet::new();
        for pod in workload.map_or(&self.answer.pods[..], |at| self.answer.pods_of(at)) {
            match &pod.end {
                ManifestPodEnd::Placed { .. } => numbers.placed += 1,
                ManifestPodEnd::Undecided => numbers.undecided += 1,
                ManifestPodEnd::Preempted { .. } => numbers.preempted += 1,
                ManifestPodEnd::Pending { decision, .. } => {
                    numbers.pending += 1;
                    if seen.insert(decision.as_ref().map(Arc::as_ptr)) {
                        match decision.as_deref().and_then(resources_lacking) {
                            Some(lacking) => resources.extend(lacking),
                            None => numbers.only_resources = false,
                        }
                    }
                }
            }
        }
        let of = |at: usize| workload.is_none_or(|workload| workload == at);
        numbers.refused = self.answer.refused.iter().filter(|refused| of(refused.workload)).map(|refused| refused.count).sum();
        numbers.not_made = self.answer.not_made.iter().filter(|not| of(not.workload)).map(|not| not.count).sum();
        numbers.resources = resources.into_iter().collect();
        numbers
    }

    /// Returns how many pods would be evicted, with their namespace if they share one.
    fn evicted(&self) -> Option<String> {
        let victims = &self.answer.victims;
        let first = victims.first()?;
        let namespace =
            victims.iter().all(|victim| victim.pod.namespace == first.pod.namespace).then(|| format!("{} ", first.pod.namespace));
        let noun = format!("{}pod", namespace.unwrap_or_default());
        let violated: BTreeSet<&Key> = victims.iter().flat_map(|victim| &victim.violates).collect();
        let budgets = match violated.len() {
            0 => String::new(),
            number => format!(", against {}", count(number, "budget")),
        };
        Some(format!("{} would be evicted{budgets}", count(victims.len(), &noun)))
    }

    fn workload_sentence(&self, at: usize, workload: &ManifestWorkload) -> String {
        let mut parts = vec![format!("{} wanted", thousands(usize::try_from(workload.wanted).unwrap_or(usize::MAX)))];
        if workload.kind == "DaemonSet" && workload.wanted == 0 {
            parts.push("since its node selector, affinity and tolerations leave out every node".to_owned());
        }
        let change = match workload.change {
            ManifestChange::Created => None,
            ManifestChange::Scaled => Some("scaled"),
            // No pod gets the new template.
            ManifestChange::RolledOut | ManifestChange::Unchanged if !workload.outdated.is_empty() && workload.removed == 0 => {
                Some("not rolled out")
            }
            ManifestChange::RolledOut => Some("rolled out"),
            ManifestChange::Unchanged => Some("unchanged"),
        };
        parts.extend(change.map(str::to_owned));
        for (number, words) in [(workload.kept, "kept"), (workload.removed, "removed")] {
            if number > 0 {
                parts.push(format!("{} {words}", thousands(number)));
            }
        }
        let numbers = self.numbers(Some(at));
        if !numbers.is_empty() {
            parts.push(numbers.sentence());
        }
        if workload.later > 0 {
            parts.push(format!("{} later, when others have completed", workload.later));
        }
        parts.join(", ")
    }

    fn workload_details(&self, doc: &mut Document, at: usize) {
        if let Some(words) = self.priorities.get(at).filter(|words| !words.is_empty()) {
            doc.item(INDENT, words.as_str());
        }
        let mut nodes: BTreeMap<&Str, usize> = BTreeMap::new();
        for pod in self.answer.pods_of(at) {
            if let ManifestPodEnd::Placed { node, .. } = &pod.end {
                *nodes.entry(node).or_default() += 1;
            }
        }
        let mut nodes: Vec<(&Str, usize)> = nodes.into_iter().collect();
        nodes.sort_by_key(|(node, number)| (std::cmp::Reverse(*number), (*node).clone()));
        for (node, number) in nodes.iter().take(LISTED) {
            doc.item(INDENT, Words::from(format!("{} on ", thousands(*number))).node(node));
        }
        if nodes.len() > LISTED {
            doc.item(INDENT, format!("and on {}", count(nodes.len() - LISTED, "more node")));
        }
        let mut alike: BTreeMap<String, Vec<&Key>> = BTreeMap::new();
        let mut known: HashMap<*const CycleView, String> = HashMap::new();
        for pod in self.answer.pods_of(at) {
            let reason = match &pod.end {
                ManifestPodEnd::Pending { decision: Some(view), .. } => {
                    Some(known.entry(Arc::as_ptr(view)).or_insert_with(|| why(view)).clone())
                }
                _ => reason(pod),
            };
            if let Some(reason) = reason {
                alike.entry(reason).or_default().push(&pod.pod);
            }
        }
        for (reason, pods) in alike {
            doc.item(INDENT, format!("{} pending: {reason}", count(pods.len(), "pod")));
            for pod in pods.iter().take(NAMED) {
                doc.item(INDENT + 2, Words::of_pod(pod));
            }
            if pods.len() > NAMED {
                doc.item(INDENT + 2, format!("and {} more", thousands(pods.len() - NAMED)));
            }
        }
        for (number, why) in self.answer.workloads.get(at).into_iter().flat_map(|workload| &workload.outdated) {
            let keep = if *number == 1 { "keeps" } else { "keep" };
            doc.item(INDENT, format!("{} {keep} the template before: {}", count(*number, "pod"), outdated(why)));
        }
        for RefusedPods { count: number, refusal, .. } in self.answer.refused.iter().filter(|refused| refused.workload == at) {
            doc.item(INDENT, format!("{} refused: {refusal}", pods(*number)));
        }
        for NotMade { count: number, why, .. } in self.answer.not_made.iter().filter(|not| not.workload == at) {
            doc.item(INDENT, format!("{} not created: {}", pods(*number), not_made(why)));
        }
    }

    fn victims(&self, doc: &mut Document) {
        let victims = &self.answer.victims;
        if victims.is_empty() {
            return;
        }
        doc.blank();
        doc.paragraph(format!("EVICTED: {}", count(victims.len(), "pod")));
        for victim in victims.iter().take(LISTED) {
            let budgets: Vec<String> = victim.violates.iter().map(ToString::to_string).collect();
            let violates = if budgets.is_empty() { String::new() } else { format!(", violates {}", budgets.join(", ")) };
            doc.item(INDENT, Words::of_pod(&victim.pod).text(format!(" on {}, preempted by {}{violates}", victim.node, victim.by)));
        }
        if victims.len() > LISTED {
            doc.item(INDENT, format!("and {} more", thousands(victims.len() - LISTED)));
        }
        let again = made_again_sentence(victims.iter().filter(|victim| victim.made_again).count());
        if let Some(words) = again {
            doc.item(INDENT, words);
        }
    }

    fn notes(&self, doc: &mut Document) {
        let ManifestAnswer { applied, skipped, notes, unknown, .. } = &self.answer;
        let kinds = |counts: &BTreeMap<Str, usize>| {
            let each: Vec<String> = counts.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
            each.join(", ")
        };
        let mut more: Vec<String> = Vec::new();
        if !applied.is_empty() {
            more.push(format!("Also applied: {}.", kinds(applied)));
        }
        if !skipped.is_empty() {
            more.push(format!("Skipped, because scheduling does not read them: {}.", kinds(skipped)));
        }
        more.extend(notes.iter().map(note_sentence));
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.iter().map(|kind| kind.plural()).collect();
            more.push(format!(
                "Unknown, because the source has none or not all of them: {}. They may refuse or change pods.",
                names.join(", ")
            ));
        }
        if !more.is_empty() {
            doc.blank();
            for line in more {
                doc.paragraph(line);
            }
        }
    }
}

impl Numbers {
    fn is_empty(&self) -> bool {
        self.placed + self.pending + self.undecided + self.preempted == 0 && self.refused + self.not_made == 0
    }

    fn sentence(&self) -> String {
        let waits = match (self.only_resources, self.resources.is_empty()) {
            (true, false) => format!("{} for {}", if self.pending == 1 { "waits" } else { "wait" }, self.resources.join(" and ")),
            _ => "pending".to_owned(),
        };
        let fit = if self.placed == 1 { "fits" } else { "fit" };
        let mut parts = Vec::new();
        for (number, words) in [
            (self.placed as u64, fit),
            (self.pending as u64, waits.as_str()),
            (self.undecided as u64, "not decided"),
            (self.preempted as u64, "preempted by others of the manifest"),
            (self.refused, "refused"),
            (self.not_made, "not created"),
        ] {
            if number > 0 {
                parts.push(format!("{} {words}", thousands(usize::try_from(number).unwrap_or(usize::MAX))));
            }
        }
        if parts.is_empty() { "no pods are created".to_owned() } else { parts.join(", ") }
    }
}

/// Returns the priority of a workload's pod and its origin, in words; empty for the priority of a pod without any class.
fn priority_words(cluster: &Cluster, pod: &Pod) -> String {
    let class = cluster.priority_classes.named(&pod.spec.priority_class_name);
    match class {
        _ if pod.priority() == 0 => String::new(),
        Some(class) if class.global_default == Some(true) => {
            format!("priority {}, of the default PriorityClass {}", pod.priority(), class.metadata.name)
        }
        Some(class) => format!("priority {}, of PriorityClass {}", pod.priority(), class.metadata.name),
        None => format!("priority {}", pod.priority()),
    }
}

fn pods(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "pod")
}

/// Returns why a pod has no node.
fn reason(pod: &ManifestPod) -> Option<String> {
    match &pod.end {
        ManifestPodEnd::Placed { .. } => None,
        ManifestPodEnd::Pending { decision: Some(view), .. } => Some(why(view)),
        ManifestPodEnd::Pending { message, .. } if message.is_empty() => Some("it was not tried".to_owned()),
        ManifestPodEnd::Pending { message, .. } => Some(message.to_string()),
        ManifestPodEnd::Undecided => Some("it is not decided, as the run ended after as many steps as are allowed".to_owned()),
        ManifestPodEnd::Preempted { by: Some(by) } => Some(format!("preempted by {by}")),
        ManifestPodEnd::Preempted { by: None } => Some("preempted".to_owned()),
    }
}

fn not_made(why: &WhyNotMade) -> String {
    match why {
        WhyNotMade::Held(Hold::Paused) => "the Deployment is paused".to_owned(),
        WhyNotMade::Held(Hold::Suspended) => "it is suspended".to_owned(),
        WhyNotMade::Ordered(pod) => format!("the StatefulSet waits until {pod} is ready"),
        WhyNotMade::Part(pod) => format!("{pod} must be ready first"),
        WhyNotMade::Concurrent(job) => format!("the CronJob skips this run, as Job {job} has not ended and it forbids concurrent Jobs"),
        WhyNotMade::Rollout => "the rollout waits until its new pods are ready".to_owned(),
        WhyNotMade::Limit => "no more were tried".to_owned(),
    }
}

/// Returns why pods keep another template than the manifest's.
fn outdated(why: &WhyKept) -> String {
    match why {
        WhyKept::Paused => "the Deployment is paused".to_owned(),
        WhyKept::OnDelete => "with the update strategy OnDelete a pod gets the new one when it is deleted".to_owned(),
        WhyKept::Partition(place) => format!("the partition of the StatefulSet is {place}"),
        WhyKept::NewOnly => "the controller uses a new one for new pods only".to_owned(),
        WhyKept::Ordered(pod) => format!("the StatefulSet waits until {pod} is ready"),
        WhyKept::Unready(pod) => {
            format!(
                "the StatefulSet replaces none before {pod} is ready, that pod neither; it is made with the new one after it is deleted"
            )
        }
    }
}

/// Returns the resources of which nodes that reject a pod for nothing else have too little; `None` if there are no such nodes.
fn resources_lacking(view: &CycleView) -> Option<BTreeSet<String>> {
    // Nodes share long statuses.
    let mut statuses: HashMap<_, (&Status, usize)> = HashMap::new();
    for status in view.filter.verdicts.values().map(|verdict| &verdict.status).filter(|status| !status.is_success()) {
        statuses.entry(status.address()).or_insert((status, 0)).1 += 1;
    }
    let mut lacking: BTreeMap<BTreeSet<String>, usize> = BTreeMap::new();
    for (status, nodes) in statuses.into_values() {
        let of = |reason: &Reason| if let Reason::Insufficient(shortage) = reason { Some(shortage.resource.to_string()) } else { None };
        let resources: Option<BTreeSet<String>> = status.reasons().iter().map(of).collect();
        if let Some(resources) = resources.filter(|resources| !resources.is_empty()) {
            *lacking.entry(resources).or_default() += nodes;
        }
    }
    lacking.into_iter().max_by_key(|(resources, nodes)| (*nodes, std::cmp::Reverse(resources.len()))).map(|(resources, _)| resources)
}

/// Returns who refuses.
fn refused_by(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoNamespace(name) | Refusal::NamespaceTerminating(name) => format!("Namespace {name}"),
        Refusal::NoServiceAccount(key) => format!("ServiceAccount {key}"),
        Refusal::NoPriorityClass(name) => format!("PriorityClass {name}"),
        Refusal::OtherPriority { .. } | Refusal::OtherPreemptionPolicy { .. } => "PriorityClass".to_owned(),
        Refusal::NoRuntimeClass(name) => format!("RuntimeClass {name}"),
        Refusal::OverheadWithoutClass | Refusal::OtherOverhead | Refusal::OtherSelector { .. } => "RuntimeClass".to_owned(),
        Refusal::LimitRange { range, .. } => format!("LimitRange {range}"),
        Refusal::QuotaNeeds { quota, .. } | Refusal::QuotaExceeded { quota, .. } => format!("ResourceQuota {quota}"),
        Refusal::TooLarge => "etcd".to_owned(),
        Refusal::Invalid(_) => "validation".to_owned(),
    }
}

impl ManifestReport {
    fn workload_name(&self, at: usize) -> String {
        self.answer.workloads.get(at).map(|workload| format!("{} {}", workload.kind, workload.key)).unwrap_or_default()
    }

    fn data(&self) -> Value {
        let (placed, pending) = self.pods_data();
        let refused: Vec<Value> = self
            .answer
            .refused
            .iter()
            .map(|refused| {
                let RefusedPods { workload, count, refusal } = refused;
                json!({
                    "object": self.workload_name(*workload), "by": refused_by(&refusal.refusal), "why": refusal.to_string(), "pods": count,
                })
            })
            .collect();
        let victims: Vec<Value> = self
            .answer
            .victims
            .iter()
            .map(|victim| {
                let violates: Vec<String> = victim.violates.iter().map(ToString::to_string).collect();
                json!({"pod": victim.pod.to_string(), "node": victim.node.as_str(), "by": victim.by.to_string(), "violates": violates,
                    "madeAgain": victim.made_again})
            })
            .collect();
        let not_made: Vec<Value> = self
            .answer
            .not_made
            .iter()
            .map(|not| json!({"object": self.workload_name(not.workload), "pods": not.count, "why": not_made(&not.why)}))
            .collect();
        let capacity = self.answer.capacity.as_ref().map(|found| {
            let mut data = capacity_data(&found.capacity);
            if let Some(refused) = &found.refused {
                data["next"] = json!(refused.to_string());
                data["complete"] = json!(true);
            }
            data
        });
        json!({
            "placed": placed,
            "pending": pending,
            "refused": refused,
            "victims": victims,
            "elsewhere": self.elsewhere.iter().map(elsewhere_data).collect::<Vec<_>>(),
            "capacity": capacity,
            "notCreated": not_made,
            "workloads": self.workloads_data(),
            "applied": self.answer.applied,
            "skipped": self.answer.skipped,
            "unknown": self.answer.unknown.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "notes": self.answer.notes.iter().map(note_sentence).collect::<Vec<_>>(),
            "missing": self.missing,
            "release": self.release,
        })
    }

    /// Returns the pods that have a node, and the others.
    fn pods_data(&self) -> (Vec<Value>, Vec<Value>) {
        let mut decided: BTreeSet<*const CycleView> = BTreeSet::new();
        let (mut placed, mut pending) = (Vec::new(), Vec::new());
        for pod in &self.answer.pods {
            match &pod.end {
                ManifestPodEnd::Placed { node, odds: view } => {
                    let odds = view.as_deref().and_then(|view| odds(view).map(|odds| OddsReport::of(&odds)));
                    placed.push(json!({"pod": pod.pod.to_string(), "node": node.as_str(), "odds": odds}));
                }
                other => {
                    let decision = if let ManifestPodEnd::Pending { decision, .. } = other { decision.as_ref() } else { None };
                    // Of pods that are decided alike the first has the decision.
                    let first = decision.filter(|view| decided.insert(std::sync::Arc::as_ptr(view)));
                    pending.push(json!({
                        "pod": pod.pod.to_string(), "why": reason(pod), "decision": first.map(|view| Decision::of(view)),
                    }));
                }
            }
        }
        (placed, pending)
    }

    fn workloads_data(&self) -> Vec<Value> {
        let data = |workload: &ManifestWorkload| {
            let change: &str = workload.change.into();
            let outdated: Vec<Value> = workload.outdated.iter().map(|(pods, why)| json!({"pods": pods, "why": outdated(why)})).collect();
            json!({
                "kind": workload.kind.as_str(), "namespace": workload.key.namespace.as_str(), "name": workload.key.name.as_str(),
                "wanted": workload.wanted, "later": workload.later, "change": change, "kept": workload.kept, "removed": workload.removed,
                "outdated": outdated,
            })
        };
        self.answer.workloads.iter().map(data).collect()
    }
}

impl Serialize for ManifestReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.data().serialize(serializer)
    }
}
