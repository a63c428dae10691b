//! What-ifs as text and as data: who moved where, who stays pending, which budget stops a drain, how many more fit.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::analysis::{Missing, ReleaseReport, missing_clause, run_parts, sentence};
use crate::cluster::{Key, Kind, Str};
use crate::controllers::Workload;
use crate::output::{Document, Headings, Lines, Words};
use crate::plural::{count, count_of, thousands};
use crate::scheduler::Scheduler;
use crate::session::PodLocation;
use crate::trace::Place;
use crate::whatif::{
    Answer, Block, Capacity, CapacityEnd, Departure, Elsewhere, Flood, FloodVictim, Lost, NodeAnswer, NodeEnd, Note, PodAnswer, PodEnd,
    Stay, Verb, Whereabouts, is_tried_again,
};

/// Limit on the nodes of a capacity, and on those of one end, that are listed in text.
const NODES: usize = 20;
/// Spaces before the details of an answer.
const INDENT: usize = 2;
/// Limit on the pods of one kind that are listed in text.
const PODS: usize = 200;

/// The answers of several verbs, in order, with the pods at the end of all of them.
#[derive(Clone, Debug)]
pub struct WhatIfReport {
    answers: Vec<Answer>,
    /// Where each pod that was made is at the end.
    made: BTreeMap<Key, Whereabouts>,
    elsewhere: Vec<Elsewhere>,
    missing: Vec<Missing>,
    release: Option<ReleaseReport>,
    complete: bool,
    /// Whether a run took too many steps.
    cut_short: bool,
}

impl WhatIfReport {
    /// Reports answers, with the scheduler at the end. `elsewhere` are the pods that no verb named.
    pub fn new(answers: Vec<Answer>, end: &Scheduler, elsewhere: Vec<Elsewhere>) -> Self {
        let cluster = end.state().cluster();
        let cut_short = answers.iter().any(|answer| answer.notes.contains(&Note::CutShort));
        let made = answers.iter().flat_map(|answer| &answer.pods).filter_map(made);
        let made = made.map(|pod| (pod.clone(), Whereabouts::of(end, pod))).collect();
        Self {
            made,
            elsewhere,
            missing: Missing::all(cluster.unknown),
            release: Some(ReleaseReport::of(end.emulated(), &run_parts(end.state().config()))),
            complete: !cut_short && answers.iter().all(|answer| answer.is_complete(cluster)),
            cut_short,
            answers,
        }
    }

    /// Reports who is evicted if pods like one keep coming.
    pub fn of_flood(flood: Flood) -> Self {
        let answers = vec![Answer::of_flood(flood)];
        Self { answers, complete: true, cut_short: false, made: BTreeMap::new(), elsewhere: Vec::new(), missing: Vec::new(), release: None }
    }

    /// Reports how many more of a pod fit.
    pub fn of_capacity(capacity: Capacity) -> Self {
        let complete = capacity.fits > 0;
        let answer = Answer::of_capacity(capacity);
        Self {
            answers: vec![answer],
            made: BTreeMap::new(),
            elsewhere: Vec::new(),
            missing: Vec::new(),
            release: None,
            complete,
            cut_short: false,
        }
    }

    /// Returns whether every verb did all of its work: nodes drained, pods placed, at least one more fits.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns whether a run took too many steps, so that pods are not decided.
    pub fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// Returns the answers as text, with the pods that no verb names.
    pub fn text(&self) -> Lines {
        self.document().plain(Headings::Colon)
    }

    /// Returns the answers, with the pods that no verb names, without the release.
    pub fn outcome(&self) -> Document {
        let mut lines = self.answers();
        elsewhere_lines(&mut lines, &self.elsewhere, &|pod| self.answers.iter().find_map(|answer| answer.preempted.get(pod)));
        lines
    }

    /// Returns the answers, with the pods that no verb names.
    pub fn document(&self) -> Document {
        let mut lines = self.outcome();
        if let Some(release) = &self.release {
            lines.blank();
            lines.paragraph(release.sentence());
        }
        lines
    }

    /// Returns the answers alone.
    pub fn answers(&self) -> Document {
        let mut lines = Document::default();
        for (at, answer) in self.answers.iter().enumerate() {
            if at > 0 {
                lines.blank();
            }
            lines.paragraph(verb_words(answer).text(format!(": {}", self.sentence(answer))));
            self.details(&mut lines, answer);
        }
        lines
    }

    /// Returns the first answer as a sentence, with its verb unless that is about one node, which the sentence names.
    pub fn headline(&self) -> String {
        let Some(answer) = self.answers.first() else { return String::new() };
        let sentence = self.sentence(answer);
        match &answer.verb {
            Verb::Drain(nodes) if nodes.len() == 1 => sentence,
            Verb::Lose(Lost::Node(_)) => sentence,
            verb => format!("{verb}: {sentence}"),
        }
    }

    fn place(&self, pod: &Key) -> Option<&Whereabouts> {
        self.made.get(pod)
    }

    fn node(&self, pod: &Key) -> Option<&Str> {
        self.place(pod).and_then(Whereabouts::node)
    }

    /// Returns whether a pod that an answer made is deleted or has finished.
    fn is_gone(&self, pod: &Key) -> bool {
        self.place(pod).is_none_or(|at| at.location == PodLocation::Gone)
    }

    /// Returns whether pods were not created. The others may be held back only because they are too few.
    fn is_short_of_pods(&self) -> bool {
        self.answers.iter().flat_map(|answer| &answer.notes).any(|note| matches!(note, Note::NotCreated(_)))
    }

    /// Returns whether the run ended before the next attempt of a pod.
    fn is_undecided(&self, pod: &Key) -> bool {
        let is_open = |at: &Whereabouts| {
            is_tried_again(&at.location)
                || self.is_short_of_pods() && matches!(at.location, PodLocation::Waiting(..)) && at.node().is_none()
        };
        self.cut_short && self.place(pod).is_some_and(is_open)
    }

    fn sentence(&self, answer: &Answer) -> String {
        if let Some(capacity) = &answer.capacity {
            return capacity_sentence(capacity);
        }
        if let Some(flood) = &answer.flood {
            return flood_sentence(flood);
        }
        let mut parts: Vec<String> = Vec::new();
        let nodes = |wanted: fn(&NodeEnd) -> bool| answer.nodes.iter().filter(|node| wanted(&node.end)).count();
        for (number, words) in [
            (nodes(|end| *end == NodeEnd::Drained), "drained"),
            (nodes(|end| matches!(end, NodeEnd::Bare { .. } | NodeEnd::Blocked)), "not drained"),
            (nodes(|end| *end == NodeEnd::NotReached), "not reached"),
            (nodes(|end| *end == NodeEnd::Lost), "lost"),
            (nodes(|end| *end == NodeEnd::Added), "added"),
        ] {
            match (number, &answer.nodes[..]) {
                (0, _) => {}
                (_, [one]) => parts.push(format!("{} is {words}", one.node)),
                _ => parts.push(format!("{} {words}", count(number, "node"))),
            }
        }
        let pods = |wanted: &dyn Fn(&PodAnswer) -> bool| answer.pods.iter().filter(|pod| wanted(pod)).count();
        let placed = pods(&|pod| made(pod).is_some_and(|pod| self.node(pod).is_some()));
        let pending = pods(&|pod| made(pod).is_some_and(|pod| self.node(pod).is_none() && !self.is_gone(pod) && !self.is_undecided(pod)));
        let undecided = pods(&|pod| made(pod).is_some_and(|pod| self.is_undecided(pod)));
        let preempted = pods(&|pod| made(pod).is_some_and(|pod| self.is_gone(pod)));
        let new = if answer.pods.iter().any(|pod| matches!(pod.end, PodEnd::Created)) { "new pod" } else { "replacement" };
        let gone = pods(&|pod| matches!(pod.end, PodEnd::Gone(_)));
        let stay = pods(&|pod| matches!(pod.end, PodEnd::Stays(Stay::Blocked(_))));
        for (number, noun, words) in [
            (placed, "pod", "placed"),
            (pending, "pod", "pending"),
            (undecided, "pod", "not decided"),
            (preempted, new, "preempted"),
            (gone, "pod", "not recreated"),
            (stay, "pod", "blocked by budgets"),
        ] {
            if number > 0 {
                parts.push(format!("{} {words}", count(number, noun)));
            }
        }
        if parts.is_empty() { "applied".to_owned() } else { parts.join(", ") }
    }

    fn details(&self, lines: &mut Document, answer: &Answer) {
        node_lines(lines, &answer.nodes);
        if let Some([without, with]) = &answer.tallies {
            lines.item(INDENT, format!("pending: {} without, {} with", count(without.pending, "pod"), count(with.pending, "pod")));
            lines.item(INDENT, format!("evicted: {} without, {} with", count(without.evicted, "pod"), count(with.evicted, "pod")));
        }
        let sections: [fn(&PodEnd) -> bool; 4] = [
            |end| matches!(end, PodEnd::Stays(Stay::Blocked(_))),
            |end| matches!(end, PodEnd::Recreated(_) | PodEnd::Created),
            |end| matches!(end, PodEnd::Gone(_)),
            |end| matches!(end, PodEnd::Stays(Stay::DaemonSet | Stay::Mirror)),
        ];
        for wanted in sections {
            let mut pods: Vec<&PodAnswer> = answer.pods.iter().filter(|pod| wanted(&pod.end)).collect();
            // Those without a node come first.
            pods.sort_by_key(|pod| made(pod).is_some_and(|new| self.node(new).is_some()));
            self.pods(lines, &pods[..pods.len().min(PODS)]);
            more(lines, INDENT, pods.len());
        }
        if let Some(capacity) = &answer.capacity {
            capacity_details(lines, capacity);
        }
        if let Some(flood) = &answer.flood {
            flood_details(lines, flood);
        }
        if let Some(words) = made_again_sentence(answer.made_again) {
            lines.item(INDENT, words);
        }
        for note in &answer.notes {
            lines.item(INDENT, note_sentence(note));
        }
    }

    fn pod(&self, answer: &PodAnswer) -> Words {
        let PodAnswer { pod, node, end } = answer;
        match end {
            PodEnd::Recreated(new) if new == pod => pod_on(pod, node).text(format!(" → {}", self.whereabouts(new))),
            PodEnd::Recreated(new) => pod_on(pod, node).text(" → ").pod(new).text(format!(" {}", self.whereabouts(new))),
            PodEnd::Created => Words::of_pod(pod).text(format!(" is new: {}", self.whereabouts(pod))),
            PodEnd::Gone(why) => pod_on(pod, node).text(format!(" is gone: {}", departure(why))),
            PodEnd::Stays(why) => {
                let why = match why {
                    Stay::DaemonSet => "it belongs to a DaemonSet".to_owned(),
                    Stay::Mirror => "it mirrors a static pod".to_owned(),
                    Stay::Blocked(block) => block_sentence(block),
                };
                Words::of_pod(pod).text(" stays").words(on(node)).text(format!(": {why}"))
            }
        }
    }

    /// Returns that a pod was preempted, with its preemptor if it is known.
    fn preempted(&self, pod: &Key) -> String {
        let by = self.answers.iter().find_map(|answer| answer.preempted.get(pod));
        by.map_or_else(|| "preempted".to_owned(), |by| format!("preempted by {by}"))
    }

    /// Returns the message of a pending pod that an answer made; `None` for any other pod.
    fn pending_message(&self, answer: &PodAnswer) -> Option<&Str> {
        let place = self.place(made(answer).filter(|pod| !self.is_undecided(pod))?)?;
        (matches!(place.location, PodLocation::Waiting(..)) && !place.message.is_empty()).then_some(&place.message)
    }

    /// Adds pods: those that are pending for the same reason share it.
    fn pods(&self, lines: &mut Document, pods: &[&PodAnswer]) {
        let mut pending: BTreeMap<&Str, Vec<&PodAnswer>> = BTreeMap::new();
        for pod in pods {
            if let Some(message) = self.pending_message(pod) {
                pending.entry(message).or_default().push(pod);
            }
        }
        for pod in pods {
            match self.pending_message(pod).map(|message| (message, pending.remove(message))) {
                Some((message, Some(alike))) if alike.len() > 1 => {
                    lines.item(INDENT, format!("{} pending: {message}", count(alike.len(), "pod")));
                    for PodAnswer { pod, node, end } in alike {
                        let words = pod_on(pod, node);
                        lines.item(
                            INDENT + 2,
                            match end {
                                PodEnd::Recreated(new) if new != pod => words.text(" → ").pod(new),
                                _ => words,
                            },
                        );
                    }
                }
                // It was written with the first.
                Some((_, None)) => {}
                _ => lines.item(INDENT, self.pod(pod)),
            }
        }
    }

    /// Returns where a pod is that an answer made, and if it is pending, why.
    fn whereabouts(&self, pod: &Key) -> String {
        match self.place(pod).filter(|_| !self.is_gone(pod)) {
            Some(_) if self.is_undecided(pod) => "not decided".to_owned(),
            Some(Whereabouts { location: PodLocation::Waiting(..), message }) if !message.is_empty() => format!("pending: {message}"),
            Some(Whereabouts { location, .. }) => location.settled(),
            // While the cluster settles, only preemption deletes pods.
            None => self.preempted(pod),
        }
    }
}

/// Adds the pods that are elsewhere because of a what-if, with the preemptors of those that are gone.
pub(super) fn elsewhere_lines<'a>(lines: &mut Document, elsewhere: &[Elsewhere], preemptor: &dyn Fn(&Key) -> Option<&'a Key>) {
    if elsewhere.is_empty() {
        return;
    }
    lines.blank();
    lines.heading(2, format!("{} affected (without → with)", count(elsewhere.len(), "other pod")));
    for Elsewhere { pod, at: [without, with] } in elsewhere.iter().take(PODS) {
        let by = preemptor(pod).filter(|_| *with == PodLocation::Gone);
        let by = by.map_or_else(String::new, |by| format!(", preempted by {by}"));
        let places = Words::from(": ").words(place_words(without)).text(" → ").words(place_words(with));
        lines.item(2, Words::of_pod(pod).words(places).text(by));
    }
    more(lines, 0, elsewhere.len());
}

/// Returns a pod that is elsewhere, as data.
pub(super) fn elsewhere_data(elsewhere: &Elsewhere) -> Value {
    let Elsewhere { pod, at: [without, with] } = elsewhere;
    json!({"pod": pod.to_string(), "without": without.to_string(), "with": with.to_string()})
}

/// Returns that controllers make evicted pods again, which nothing here counts; `None` without any.
pub(super) fn made_again_sentence(pods: usize) -> Option<String> {
    let again = count_of(pods, "preempted pod is", "preempted pods are");
    (pods > 0).then(|| format!("{again} made again by controllers, and not counted as pending"))
}

/// Returns the pod that an answer made, if it made one.
fn made(answer: &PodAnswer) -> Option<&Key> {
    match &answer.end {
        PodEnd::Recreated(new) => Some(new),
        PodEnd::Created => Some(&answer.pod),
        PodEnd::Gone(_) | PodEnd::Stays(_) => None,
    }
}

/// Adds a line for each node, of those with the same end at most [`NODES`].
fn node_lines(lines: &mut Document, nodes: &[NodeAnswer]) {
    let mut with: BTreeMap<&str, usize> = BTreeMap::new();
    for NodeAnswer { node, end } in nodes {
        let words = match end {
            NodeEnd::Bare { pods, blocks } => {
                let pods = list(pods);
                let why = format!(" is cordoned, but nothing is evicted: no controller would replace {pods}");
                lines.item(INDENT, Words::of_node(node).text(why));
                for block in blocks {
                    let why = format!(" would not be drained with --force either: {}", block_sentence(block));
                    lines.item(INDENT, Words::of_node(node).text(why));
                }
                continue;
            }
            NodeEnd::Blocked => "cordoned, but not drained",
            NodeEnd::NotReached => "cordoned; its drain waits for the node before it",
            NodeEnd::Drained => "cordoned and drained",
            NodeEnd::Lost => "lost",
            NodeEnd::Added => "added",
        };
        let number = with.entry(words).or_default();
        *number += 1;
        if *number <= NODES {
            lines.item(INDENT, Words::of_node(node).text(format!(" is {words}")));
        }
    }
    for (words, number) in with.into_iter().filter(|(_, number)| *number > NODES) {
        let more = count(number - NODES, "more node");
        lines.item(INDENT, format!("{more} {} {words}", if number - NODES == 1 { "is" } else { "are" }));
    }
}

/// Adds how many pods are left out.
fn more(lines: &mut Document, indent: usize, all: usize) {
    if all > PODS {
        lines.item(indent, format!("and {} more", all - PODS));
    }
}

/// Returns the verb of an answer with the objects that it names.
fn verb_words(answer: &Answer) -> Words {
    match (&answer.verb, &answer.capacity) {
        (Verb::Drain(nodes), _) => nodes.iter().fold(Words::from("drain"), |words, node| words.text(" ").node(node)),
        (Verb::Lose(Lost::Node(node)), _) => Words::from("lose ").node(node),
        (Verb::Taint(node, edit), _) => Words::from("taint ").node(node).text(format!(" {edit}")),
        (Verb::Capacity(pod), Some(capacity)) if pod.as_str() == capacity.pod.to_string() => Words::from("capacity ").pod(&capacity.pod),
        (verb, _) => verb.to_string().into(),
    }
}

fn pod_on(pod: &Key, node: &Str) -> Words {
    Words::of_pod(pod).words(on(node))
}

/// Returns a node behind `on`; no words without a node.
fn on(node: &Str) -> Words {
    if node.is_empty() { Words::default() } else { Words::from(" on ").node(node) }
}

/// Returns where a pod is; of a pod in a queue also that it is pending.
fn place_words(at: &PodLocation) -> Words {
    match at {
        PodLocation::Node(node) => Words::from("on ").node(node),
        PodLocation::Waiting(Place::Unschedulable { gated_by: Some(_), .. }, ..) | PodLocation::Waiting(_, _, Some(_)) => {
            format!("pending: {at}").into()
        }
        _ => at.settled().into(),
    }
}

/// Returns names as a list.
fn list(keys: &[Key]) -> String {
    let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn departure(why: &Departure) -> Cow<'static, str> {
    let words = match why {
        Departure::Bare => "no controller replaces it",
        Departure::Ended => "it had finished",
        Departure::Terminating => "it was already being deleted",
        Departure::DaemonSet => "its DaemonSet creates no pod without the node",
        Departure::Mirror => "it mirrored a static pod of the node",
        Departure::JobFails => "its Job fails: the pod counts as failed",
        Departure::Refused(refusal) => return format!("an API server refuses the pod in its place: {refusal}").into(),
        Departure::ScaledDown => "its workload was scaled down",
        Departure::NotCreated => "no more replacements were created, after as many steps as are allowed",
    };
    words.into()
}

fn block_sentence(block: &Block) -> String {
    match block {
        Block::Exhausted { budget, allowed, healthy: None } => {
            format!("budget {budget} allows {}", count(usize::try_from(*allowed).unwrap_or(0), "disruption"))
        }
        Block::Exhausted { budget, allowed, healthy: Some((current, desired)) } => {
            format!(
                "budget {budget} allows {}: {current} healthy, {desired} desired",
                count(usize::try_from(*allowed).unwrap_or(0), "disruption")
            )
        }
        Block::Waits { budget, replacements } => {
            format!("budget {budget} allows no more disruptions until {} scheduled", waiting(replacements))
        }
        Block::Several(budgets) => format!("{} cover it, and the eviction API supports only one budget", list(budgets)),
    }
}

/// Returns names with their verb.
fn waiting(replacements: &[Key]) -> String {
    format!("{} {}", list(replacements), if replacements.len() == 1 { "is" } else { "are" })
}

pub fn note_sentence(note: &Note) -> String {
    match note {
        Note::UnknownController(kind) => format!("Note: pods of {kind} are assumed to be replaced as those of a ReplicaSet."),
        Note::ImmediateClaim(claim) => {
            format!("Note: claim {claim} is new and unbound, and its StorageClass binds immediately, which is not emulated.")
        }
        Note::NoClaim(claim) => format!("Note: claim {claim} is not in the source, so its pod's replacement has none."),
        Note::UnknownPriorityClass(class) => {
            format!(
                "Note: whether PriorityClass {class} exists, and its value, are unknown; its pods are decided with the priority that they specify, or 0."
            )
        }
        Note::BudgetsUnknown(why) => {
            let clause = missing_clause(&Kind::PodDisruptionBudget.plural(), *why);
            format!("Note: {clause}, so whether one would block is unknown.")
        }
        Note::CutShort => {
            "Note: the run ended after as many steps as are allowed for a cluster of this size; pods that would be tried after that are not \
             decided, and where others would move for them is unknown."
                .to_owned()
        }
        Note::NotCreated(pods) => format!("Note: {} not created; no more were tried.", count_of(*pods, "pod was", "pods were")),
        Note::OddsNotCounted(pods) => {
            format!("Note: the odds of {} are not counted: those of the others took as many steps as are allowed.", count(*pods, "pod"))
        }
        Note::FieldsLeftOut { workload: Workload { kind, key }, fields } => format!(
            "Note: the manifest leaves out fields of {kind} {key}: {}. They keep their live values, unless the manifest that was applied \
             last had them, which is unknown: then they are removed.",
            fields.join(", ")
        ),
        Note::LiveUnknown { workload: Workload { kind, key }, replicas, has_pods } => {
            let known = if *has_pods {
                format!("Note: the source has no fields of {kind} {key}; those that the manifest leaves out keep their live values")
            } else {
                format!(
                    "Note: whether {kind} {key} exists is unknown, as the source has no {kind}s; if it does, fields that the manifest leaves \
                     out keep their live values"
                )
            };
            match replicas {
                Some(replicas) => format!("{known}. It is assumed that it wants {}.", count(usize::try_from(*replicas).unwrap_or(usize::MAX), "pod")),
                None => format!("{known}."),
            }
        }
        Note::Autoscaled { workload: Workload { kind, key }, scaler, min, max } => {
            let most = if *max == u64::MAX { String::new() } else { format!(" to {max}") };
            format!("Note: HorizontalPodAutoscaler {scaler} sets the replicas of {kind} {key} again: {min}{most}, by its metrics.")
        }
        Note::HasEnded(job) => format!("Note: Job {job} has ended, so it makes no more pods."),
        Note::PodSecurity { namespace, level } => {
            format!("Note: namespace {namespace} enforces the Pod Security Standard {level}, which may refuse pods and is not checked.")
        }
        Note::Queued { workload: Workload { kind, key }, queue } => format!(
            "Note: {kind} {key} waits in Kueue's queue {queue} until its quota admits it, which is not emulated; its pods are decided as if \
             it were admitted."
        ),
        Note::ForbiddenIfNew { workload: Workload { kind, key }, error } => {
            format!("Note: whether {kind} {key} exists is unknown, as the source has no {kind}s; a new one is refused: {error}.")
        }
        Note::ClaimsNotChecked { namespace, by } => format!(
            "Note: claims of new pods are not checked against the limits of namespace {namespace} ({}), which may refuse them and so the pods.",
            by.join(", ")
        ),
        Note::ExclusiveTopology { workload: Workload { kind, key }, topology } => {
            format!("Note: each group of {kind} {key} takes a domain of {topology} for itself, which is not emulated: fewer may fit.")
        }
    }
}

/// Returns how many fit, and whether the pod itself is one of them.
pub(super) fn capacity_sentence(capacity: &Capacity) -> String {
    let fit = match (capacity.is_pending, capacity.fits) {
        (true, 0) => "this pod does not fit".to_owned(),
        (true, 1) => "this pod fits, and no more like it".to_owned(),
        (true, fits) => format!("this pod and {} more like it fit", thousands(fits - 1)),
        (false, 0) => "no more pods like it fit".to_owned(),
        (false, 1) => "1 more pod like it fits".to_owned(),
        (false, fits) => format!("{} more pods like it fit", thousands(fits)),
    };
    match (&capacity.end, capacity.fits) {
        (CapacityEnd::Full(_), _) => fit,
        (CapacityEnd::Limit | CapacityEnd::Cancelled, 0) => "the count was stopped before one was found to fit".to_owned(),
        (CapacityEnd::Limit, _) => format!("{fit}, and maybe more: no more were tried"),
        (CapacityEnd::Cancelled, _) => format!("{fit}, and maybe more: the count was stopped"),
    }
}

/// Returns how many more pods of a manifest's workload fit. The pending ones among them are counted first.
pub(super) fn more_fit_sentence(capacity: &Capacity) -> String {
    match capacity.fits {
        0 if matches!(capacity.end, CapacityEnd::Full(_)) => "no more of its pods fit".to_owned(),
        _ => capacity_sentence(capacity),
    }
}

/// Returns why the one that fits nowhere does not, in the words of its decision.
fn why_not(capacity: &Capacity, message: &str) -> String {
    let decided = capacity.next.as_ref().and_then(|view| sentence(view)).unwrap_or_else(|| message.to_owned().into());
    if capacity.is_pending && capacity.fits == 0 {
        decided.to_string()
    } else if decided.is_pending() {
        format!("the next one does not fit because {}", decided.unopened())
    } else {
        format!("the next one does not fit: {decided}")
    }
}

pub(super) fn capacity_details(lines: &mut Document, capacity: &Capacity) {
    if let CapacityEnd::Full(message) = &capacity.end {
        lines.item(INDENT, why_not(capacity, message));
    }
    let others = match capacity.others {
        0 => String::new(),
        others => format!(" and without {}", count(others, "other pending pod")),
    };
    lines.item(INDENT, format!("counted without evictions{others}"));
    let mut nodes: Vec<(&Str, usize)> = capacity.nodes.iter().map(|(node, number)| (node, *number)).collect();
    nodes.sort_by_key(|(node, number)| (std::cmp::Reverse(*number), (*node).clone()));
    for (node, number) in nodes.iter().take(NODES) {
        lines.item(INDENT, Words::from(format!("{} on ", thousands(*number))).node(node));
    }
    if nodes.len() > NODES {
        lines.item(INDENT, format!("and on {} more", count(nodes.len() - NODES, "node")));
    }
}

fn keys(keys: &[Key]) -> Vec<String> {
    keys.iter().map(ToString::to_string).collect()
}

fn block_data(block: &Block) -> Value {
    let why = match block {
        Block::Exhausted { .. } => "exhausted",
        Block::Waits { .. } => "waits",
        Block::Several(_) => "several",
    };
    let waits_for = if let Block::Waits { replacements, .. } = block { keys(replacements) } else { Vec::new() };
    let (allowed, healthy) = match block {
        Block::Exhausted { allowed, healthy, .. } => (Some(*allowed), *healthy),
        Block::Waits { .. } | Block::Several(_) => (None, None),
    };
    json!({
        "why": why, "budgets": keys(block.budgets()), "disruptionsAllowed": allowed,
        "currentHealthy": healthy.map(|h| h.0), "desiredHealthy": healthy.map(|h| h.1), "waitsFor": waits_for,
    })
}

/// Returns who is evicted if pods like one keep coming, as a sentence.
fn flood_sentence(flood: &Flood) -> String {
    let fit = match flood.fits {
        0 => "no more pod like it fits".to_owned(),
        1 => "1 more pod like it fits".to_owned(),
        number => format!("{} more pods like it fit", thousands(number)),
    };
    let more = flood.placed - flood.fits;
    let evicted = match flood.victims.len() {
        0 => "no pod is evicted for more".to_owned(),
        number => format!("for {more} more, {} evicted", count_of(number, "pod is", "pods are")),
    };
    let end = match flood.end {
        CapacityEnd::Full(_) => "",
        CapacityEnd::Limit => "; no more were tried",
        CapacityEnd::Cancelled => "; the search was stopped",
    };
    format!("{fit}; {evicted}{end}")
}

/// Adds the pods that are evicted, in order, and how many of each workload.
fn flood_details(lines: &mut Document, flood: &Flood) {
    let mut workloads: Vec<(&str, usize)> = Vec::new();
    for victim in &flood.victims {
        let name = victim.workload.as_deref().unwrap_or("without a workload");
        match workloads.iter_mut().find(|(known, _)| *known == name) {
            Some((_, number)) => *number += 1,
            None => workloads.push((name, 1)),
        }
    }
    for (workload, number) in workloads.iter().take(NODES) {
        lines.item(INDENT, format!("{workload}: {}", count(*number, "pod")));
    }
    if workloads.len() > NODES {
        lines.item(INDENT, format!("and {}", count(workloads.len() - NODES, "more workload")));
    }
    for victim in flood.victims.iter().take(PODS) {
        let violates: Vec<String> = victim.violates.iter().map(ToString::to_string).collect();
        let against = if violates.is_empty() { String::new() } else { format!(", against {}", violates.join(", ")) };
        let words = format!(" (priority {}) for pod {} that comes{against}", victim.priority, victim.by);
        lines.item(INDENT, pod_on(&victim.pod, &victim.node).text(words));
    }
    more(lines, INDENT, flood.victims.len());
    if let CapacityEnd::Full(message) = &flood.end {
        lines.item(INDENT, format!("the next one gets no node: {message}"));
    }
    if flood.others > 0 {
        lines.item(INDENT, format!("{} left out", count_of(flood.others, "other pending pod is", "other pending pods are")));
    }
}

/// Returns who is evicted if pods like one keep coming, as data.
fn flood_data(flood: &Flood) -> Value {
    let victim = |victim: &FloodVictim| {
        json!({"pod": victim.pod.to_string(), "node": victim.node.as_str(), "priority": victim.priority, "workload": victim.workload,
            "by": victim.by, "violates": victim.violates.iter().map(ToString::to_string).collect::<Vec<String>>()})
    };
    let next = if let CapacityEnd::Full(message) = &flood.end { Some(message.as_str()) } else { None };
    json!({"pod": flood.pod.to_string(), "fits": flood.fits, "placed": flood.placed, "complete": next.is_some(), "next": next,
        "victims": flood.victims.iter().map(victim).collect::<Vec<Value>>()})
}

pub(super) fn capacity_data(capacity: &Capacity) -> Value {
    let (complete, next) = match &capacity.end {
        CapacityEnd::Full(message) => (true, Some(message.as_str())),
        CapacityEnd::Limit | CapacityEnd::Cancelled => (false, None),
    };
    let nodes: BTreeMap<&str, usize> = capacity.nodes.iter().map(|(node, number)| (node.as_str(), *number)).collect();
    json!({"pod": capacity.pod.to_string(), "fits": capacity.fits, "complete": complete, "next": next, "nodes": nodes})
}

impl WhatIfReport {
    fn pod_data(&self, answer: &PodAnswer) -> Value {
        let why: Option<&str> = match &answer.end {
            PodEnd::Recreated(_) | PodEnd::Created => None,
            PodEnd::Gone(why) => Some(why.into()),
            PodEnd::Stays(Stay::DaemonSet) => Some("daemon-set"),
            PodEnd::Stays(Stay::Mirror) => Some("mirror"),
            PodEnd::Stays(Stay::Blocked(_)) => Some("budget"),
        };
        let block = if let PodEnd::Stays(Stay::Blocked(block)) = &answer.end { Some(block_data(block)) } else { None };
        let new = made(answer);
        let place = new.and_then(|new| self.place(new));
        json!({
            "pod": answer.pod.to_string(),
            "from": Some(&answer.node).filter(|node| !node.is_empty()).map(Str::as_str),
            "end": <&str>::from(&answer.end),
            "why": why,
            "now": new.map(ToString::to_string),
            "node": new.and_then(|new| self.node(new)).map(Str::as_str),
            "place": place.map(|place| place.location.to_string()),
            "message": place.map(|place| place.message.as_str()).filter(|message| !message.is_empty()),
            "blockedBy": block,
        })
    }

    fn answer_data(&self, answer: &Answer) -> Value {
        let nodes: Vec<Value> = answer
            .nodes
            .iter()
            .map(|node| {
                let (bare, blocks) = match &node.end {
                    NodeEnd::Bare { pods, blocks } => (keys(pods), blocks.iter().map(block_data).collect()),
                    _ => (Vec::new(), Vec::<Value>::new()),
                };
                json!({"node": node.node.as_str(), "end": <&str>::from(&node.end), "barePods": bare, "blockedBy": blocks})
            })
            .collect();
        let capacity = answer.capacity.as_ref().map(capacity_data);
        json!({
            "verb": answer.verb.to_string(),
            "sentence": self.sentence(answer),
            "nodes": nodes,
            "pods": answer.pods.iter().map(|pod| self.pod_data(pod)).collect::<Vec<Value>>(),
            "capacity": capacity,
            "flood": answer.flood.as_ref().map(flood_data),
            "notes": answer.notes.iter().map(note_sentence).collect::<Vec<String>>(),
            "pending": answer.tallies.map(|[without, with]| json!({"without": without.pending, "with": with.pending})),
            "evicted": answer.tallies.map(|[without, with]| json!({"without": without.evicted, "with": with.evicted})),
            "madeAgain": answer.made_again,
            "preempted": answer.preempted.iter().map(|(pod, by)| json!({"pod": pod.to_string(), "by": by.to_string()})).collect::<Vec<Value>>(),
        })
    }
}

impl Serialize for WhatIfReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let elsewhere: Vec<Value> = self.elsewhere.iter().map(elsewhere_data).collect();
        let data = json!({
            "whatIf": self.answers.iter().map(|answer| self.answer_data(answer)).collect::<Vec<Value>>(),
            "complete": self.complete,
            "elsewhere": elsewhere,
            "missing": self.missing,
            "release": self.release,
        });
        data.serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
