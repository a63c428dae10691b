//! Differences between two states of a cluster as a document.

use crate::analysis::{ChangeKind, DumpDiff, DumpState, NotCompared, Now, ObjectChange, PodDiff, missing_clause, written};
use crate::cluster::Kind;
use crate::output::{Document, Headings, Lines, Words};
use crate::plural::{count, count_of, thousands};

/// Limit on the objects, and on the pods, that text lists.
const LISTED: usize = 200;
/// Limit on the fields of an object that text lists.
const FIELDS: usize = 12;
/// Limit on the kinds of objects that the summary counts one by one.
const KINDS: usize = 4;

impl DumpDiff {
    /// Returns the differences as text.
    pub fn text(&self) -> Lines {
        self.document().plain(Headings::Colon)
    }

    /// Returns the differences: changed decisions first, then other pods, then the objects.
    pub fn document(&self) -> Document {
        let mut doc = Document::default();
        doc.paragraph(self.summary());
        let (changed, others): (Vec<&PodDiff>, Vec<&PodDiff>) = self.pods.iter().partition(|pod| pod.differs.is_some());
        section(&mut doc, "Decisions", &changed, |doc, pod| {
            doc.item(2, of_pod(pod));
            if let Some(to) = pod.to.as_ref().filter(|to| to.node.is_none() && pod.now == Now::Pending) {
                doc.item(4, format!("now: {}", to.sentence));
            }
        });
        section(&mut doc, "Other pods that were or are pending", &others, |doc, pod| doc.item(2, of_pod(pod)));
        let objects: Vec<&ObjectChange> = self.changes.iter().collect();
        section(&mut doc, "Objects", &objects, object);
        if !self.not_compared.is_empty() {
            doc.blank();
            doc.heading(2, "Unknown");
            for not in &self.not_compared {
                doc.item(2, self.not_compared_words(not));
            }
        }
        if let Some(first) = self.not_decided.first() {
            doc.blank();
            doc.heading(2, "Not decided");
            let pods = count_of(self.not_decided.len(), "pod is", "pods are");
            doc.item(2, format!("{pods} not decided, from {first} on: the decisions about the others took all steps"));
        }
        doc.blank();
        doc.paragraph(self.release.sentence());
        doc
    }

    /// Returns what is not compared of a kind, as a clause.
    fn not_compared_words(&self, not: &NotCompared) -> String {
        let (lacking, other) = if not.in_older { (&self.from, &self.to) } else { (&self.to, &self.from) };
        let kinds = not.kind.plural();
        if !not.in_part {
            return format!("{kinds} are not compared: {} does not have them", lacking.name);
        }
        let why = missing_clause(&kinds, not.why);
        match not.objects {
            0 => format!("{kinds} are compared as far as {} has them: {why}", lacking.name),
            1 => format!("1 {} that only {} has is not compared: in {} {why}", not.kind, other.name, lacking.name),
            several => format!("{} {kinds} that only {} has are not compared: in {} {why}", thousands(several), other.name, lacking.name),
        }
    }

    /// Returns the numbers of objects and decisions that changed in a sentence.
    pub fn summary(&self) -> String {
        let mut kinds: Vec<(Kind, usize)> = Vec::new();
        for change in &self.changes {
            match kinds.iter_mut().find(|(kind, _)| *kind == change.kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((change.kind, 1)),
            }
        }
        let named = kinds
            .iter()
            .take(KINDS)
            .map(|(kind, number)| if *number == 1 { format!("1 {kind}") } else { format!("{} {}", thousands(*number), kind.plural()) });
        let others: usize = kinds.iter().skip(KINDS).map(|(_, count)| count).sum();
        let others = (others > 0).then(|| count(others, "other object"));
        let objects: Vec<String> = named.chain(others).collect();
        let objects = if objects.is_empty() { "no object that scheduling reads".to_owned() } else { objects.join(", ") };
        let decisions = self.pods.iter().filter(|pod| pod.differs.is_some()).count();
        let decisions = if decisions == 0 { "no decision".to_owned() } else { count(decisions, "decision") };
        let same = if self.unchanged > 0 {
            format!(", {} the same decision", count_of(self.unchanged, "pending pod has", "pending pods have"))
        } else {
            String::new()
        };
        format!("From {} to {}: {objects} changed; {decisions} changed{same}.", state(&self.from), state(&self.to))
    }
}

fn state(state: &DumpState) -> String {
    state.at.map_or_else(|| state.name.clone(), |at| format!("{} ({at})", state.name))
}

/// Adds a heading with its entries, the first ones.
fn section<T>(doc: &mut Document, heading: &str, all: &[&T], mut add: impl FnMut(&mut Document, &T)) {
    if all.is_empty() {
        return;
    }
    doc.blank();
    doc.heading(2, heading);
    all.iter().take(LISTED).for_each(|one| add(doc, one));
    if all.len() > LISTED {
        doc.item(2, format!("and {} more", thousands(all.len() - LISTED)));
    }
}

/// Returns the sentence about a pod, with links.
fn of_pod(pod: &PodDiff) -> Words {
    Words::of_pod(&pod.pod).text(format!(" {}", pod.clause))
}

fn object(doc: &mut Document, change: &ObjectChange) {
    let name = match change.kind {
        Kind::Pod => Words::from("Pod ").pod(&change.key),
        Kind::Node => Words::from("Node ").node(&change.key.name),
        kind => format!("{kind} {}", change.key).into(),
    };
    let [from, to] = change.nodes.clone().unwrap_or_default();
    let on = |words: Words, node: Option<_>, verb: &str| match node {
        Some(node) => words.text(format!(" {verb} ")).node(&node),
        None => words,
    };
    match change.change {
        ChangeKind::Created => doc.item(2, on(name.text(" was created"), to, "on")),
        ChangeKind::Deleted => doc.item(2, on(name.text(" was deleted"), from, "from")),
        ChangeKind::Replaced => doc.item(2, name.text(" was deleted and created again")),
        ChangeKind::Updated => doc.item(2, name),
    }
    for field in change.fields.iter().take(FIELDS) {
        doc.item(4, format!("{}: {} → {}", field.field, written(field.from.as_ref()), written(field.to.as_ref())));
    }
    if change.fields.len() > FIELDS {
        doc.item(4, format!("and {}", count(change.fields.len() - FIELDS, "more field")));
    }
}
