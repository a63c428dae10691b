//! An eviction on a timeline as a document: who evicted a pod, why it and not another, and what waited then.

use super::decided_by;
use super::text::elimination_sentences;
use crate::analysis::{EvictionMatch, EvictionStory, ListedLeaving, SeenLeaving};
use crate::cluster::{Key, Pod};
use crate::output::{Document, Words};
use crate::plural::{count, count_of};
use crate::trace::{Fate, Place, PreemptionView, QueueEntry};

/// Pods, candidates or waiting pods that are listed; the others are counted.
const LISTED: usize = 12;

/// Writes the story of a pod that left its node.
pub fn eviction_document(story: &EvictionStory) -> Document {
    let mut out = Document::default();
    out.heading(2, "Who evicted it");
    who(story, &mut out);
    if let (Some(preemptor), Some(preemption)) =
        (&story.preemptor, story.decision.as_ref().and_then(|decision| decision.preemption.as_ref()))
    {
        out.blank();
        out.heading(2, "Why it");
        why_it(story, preemptor, preemption, &mut out);
        out.blank();
        out.heading(2, "Why not another");
        why_not_another(story, preemptor, preemption, &mut out);
    }
    out.blank();
    out.heading(2, "Compared with schedscope on the state before");
    out.item(2, compared(story));
    out.blank();
    out.heading(2, "Pods that waited then");
    waiting(story, &mut out);
    out
}

/// Writes an item for each pod that left its node.
pub fn leavings_document(found: &[ListedLeaving]) -> Document {
    let mut out = Document::default();
    for ListedLeaving { seen, preempted } in found {
        let how = match preempted {
            Some(Some(by)) => Words::from(": preempted by ").pod(by),
            Some(None) => Words::from(": preempted by a pod that the source does not name"),
            None => Words::from(": deleted"),
        };
        let at = seen.after.strftime("%Y-%m-%d %H:%M:%SZ");
        out.item(0, Words::from(format!("{at}  ")).pod(&seen.pod).text(" left ").node(&seen.node).words(how));
    }
    out
}

fn who(story: &EvictionStory, out: &mut Document) {
    let SeenLeaving { pod, node, before, after, .. } = &story.seen;
    match &story.preemption {
        Some(preemption) => {
            let at = preemption.at.map_or_else(String::new, |at| format!(" at {at}"));
            let words = match (&preemption.preemptor, preemption.by.as_str()) {
                (Some(by), _) => Words::of_pod(by).text(" preempted "),
                (None, "") => Words::from("A pod that the source does not name preempted "),
                (None, by) => Words::from(format!("The pod {by}, which was not in the source before, preempted ")),
            };
            out.item(2, words.pod(pod).text(" on ").node(node).text(format!("{at}.")));
        }
        None => out.item(2, "No event or condition near that time says that a scheduler preempted it: something else deleted it."),
    }
    out.item(2, Words::of_pod(pod).text(" ran on ").node(node).text(format!(" at {before}, and was terminating or gone at {after}.")));
}

fn why_it(story: &EvictionStory, preemptor: &Pod, preemption: &PreemptionView, out: &mut Document) {
    let key = preemptor.key();
    let is_below = if story.priority < preemptor.priority() { "is below" } else { "is not below" };
    out.item(2, format!("Its priority {} {is_below} {}, that of {key}.", story.priority, preemptor.priority()));
    if let Some(candidate) = preemption.candidate(&story.seen.node) {
        let victims = count_of(candidate.victims.len(), "pod has", "pods have");
        out.item(2, Words::from("On ").node(&candidate.node).text(format!(" {victims} to go before {key} fits:")));
        let named = candidate.victims.iter().map(|victim| (victim.key(), victim.priority()));
        list(out, named.map(|(victim, priority)| Words::of_pod(&victim).text(format!(" (priority {priority})"))));
    }
    if let Some((node, best)) = preemption.selected() {
        out.item(2, decided_by(preemption, node, best));
    }
}

fn why_not_another(story: &EvictionStory, preemptor: &Pod, preemption: &PreemptionView, out: &mut Document) {
    let key = preemptor.key();
    let mut lines: Vec<Words> = elimination_sentences(preemption).into_iter().map(Words::from).collect();
    if let Some(run) = preemption.dry_run(&story.seen.node) {
        for (pod, fate) in run.pods() {
            if let Fate::Reprieved(_) = fate {
                let words = format!(" (priority {}) stays on {}: {key} fits beside it", pod.priority(), story.seen.node);
                lines.push(Words::of_pod(&pod.key()).text(words));
            }
        }
    }
    for other in &story.not_below {
        lines.push(Words::of_pod(other).text(format!(" stays on {}: its priority is not below that of {key}", story.seen.node)));
    }
    if lines.is_empty() {
        lines.push("There was no other candidate, and no other pod on the node.".into());
    }
    list(out, lines.into_iter());
}

fn compared(story: &EvictionStory) -> Words {
    let whom = |victims: &[Key]| victims.iter().map(Key::to_string).collect::<Vec<_>>().join(", ");
    match &story.accord {
        EvictionMatch::Agrees => "agrees: schedscope evicts it too.".into(),
        EvictionMatch::Equal(node) => {
            Words::from("agrees: its node and ").node(node).text(" are equal by every score function, and either may be taken.")
        }
        EvictionMatch::Fits(node) => Words::from("differs: the preemptor fits on ").node(node).text(" without an eviction."),
        EvictionMatch::Others(node, victims) => {
            Words::from("differs: schedscope evicts on ").node(node).text(format!(": {}.", whom(victims)))
        }
        EvictionMatch::NoPreemption(why) => format!("differs: schedscope evicts no pod. {why}").into(),
        EvictionMatch::NotKnown => "not known: the source does not have a pending pod that preempted it.".into(),
    }
}

fn waiting(story: &EvictionStory, out: &mut Document) {
    let mut entries: Vec<&QueueEntry> = story.queues.iter().map(|entry| &**entry).collect();
    entries.sort_by_key(|entry| (std::cmp::Reverse(entry.priority), entry.timestamp, entry.sequence));
    if entries.is_empty() {
        out.item(2, "None.");
    }
    let words = |entry: &QueueEntry| {
        let place = match &entry.place {
            Place::Active => "activeQ".to_owned(),
            Place::Backoff { expires, .. } => format!("backoffQ until {expires}"),
            Place::Unschedulable { .. } => "unschedulablePods".to_owned(),
            Place::InFlight => "in its attempt".to_owned(),
            Place::WaitingOnPermit { node } => format!("waits on Permit for {node}"),
            Place::Bound { node } => format!("on {node}"),
            Place::Gone => "in no queue".to_owned(),
        };
        Words::of_pod(&entry.pod).text(format!(": priority {}, {place}, {}", entry.priority, count(entry.attempts as usize, "attempt")))
    };
    list(out, entries.into_iter().map(words));
}

/// Lists the first lines, and counts the others.
fn list(out: &mut Document, lines: impl ExactSizeIterator<Item = Words>) {
    let hidden = lines.len().saturating_sub(LISTED);
    for line in lines.take(LISTED) {
        out.item(4, line);
    }
    if hidden > 0 {
        out.item(4, format!("and {hidden} more"));
    }
}
