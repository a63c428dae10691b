//! Differences of two states in words.

use serde_json::Value;

use super::{Because, ChangeKind, Differs, FieldChange, How, NotCompared, Now, ObjectChange, PodDiff};
use crate::cluster::{Key, Kind};
use crate::plural::count;
use crate::trace::Outcome;

/// Limit on the fields of one object that a sentence names.
const FIELDS: usize = 3;
/// Limit on the changes that a sentence names.
const CHANGES: usize = 3;
/// Limit on the characters of a value.
const VALUE: usize = 80;

/// Returns the difference of a pod in a sentence that its name begins.
pub(super) fn clause(diff: &PodDiff, changes: &[ObjectChange], not_compared: &[NotCompared]) -> String {
    let pod = &diff.pod;
    let was = was(diff);
    let mut because = diff.because.as_ref().map(|because| because_words(because, pod, changes)).unwrap_or_default();
    let is_open = diff.because.as_ref().is_some_and(|because| because.how == How::NotFound);
    let open = not_compared.iter().find(|not| not.objects > 0 && matches!(not.kind, Kind::Node | Kind::Pod)).filter(|_| is_open);
    because.extend(open.map(|not| format!(", and not all {} are compared", not.kind.plural())));
    match (&diff.now, diff.differs) {
        (Now::Unknown, _) => format!("{was}; whether it still waits is unknown: the newer state may lack it."),
        (Now::Gone, _) => format!("{was}; it waits no more: it is deleted, or has ended."),
        (Now::Bound(node), Some(_)) => format!("{was}; it was bound to {node} since."),
        (Now::Bound(node), None) => format!("{was}, and was bound there: {node}."),
        (Now::Pending, None) if diff.may_be_old => format!("may be new, as the older state may lack it, and {was} then as it does now."),
        (Now::Pending, None) => format!("is new, and {was} then as it does now."),
        (Now::Pending, Some(_)) => format!("{was}; {}{because}.", is(diff)),
    }
}

/// Returns the older decision.
fn was(diff: &PodDiff) -> String {
    let would = diff.is_new;
    match (diff.from.outcome, &diff.from.node) {
        (Some(Outcome::Scheduled), Some(node)) if would => format!("would have fitted on {node}"),
        (Some(Outcome::Scheduled), Some(node)) => format!("fitted on {node}"),
        (Some(Outcome::Gated), _) => "was held back by a gate".to_owned(),
        (Some(Outcome::Unschedulable), _) if would => "would not have fitted on any node".to_owned(),
        (Some(Outcome::Unschedulable), _) => "did not fit on any node".to_owned(),
        _ => "could not be decided".to_owned(),
    }
}

/// Returns the newer decision.
fn is(diff: &PodDiff) -> String {
    let Some(to) = &diff.to else { return "it waits no more".to_owned() };
    match (to.outcome, &to.node, diff.differs) {
        (Some(Outcome::Scheduled), Some(node), _) => format!("it fits on {node} now"),
        (Some(Outcome::Gated), ..) => "it is held back by a gate now".to_owned(),
        (Some(Outcome::Unschedulable), _, Some(Differs::Nominated)) => "preemption chose a node for it".to_owned(),
        (Some(Outcome::Unschedulable), _, Some(Differs::Reasons)) => "it still does not, for other reasons".to_owned(),
        (Some(Outcome::Unschedulable), _, Some(Differs::Victims)) => "it still does not, and preemption would evict others".to_owned(),
        (Some(Outcome::Unschedulable), ..) => "it does not fit on any node now".to_owned(),
        _ => "it cannot be decided now".to_owned(),
    }
}

/// Returns the changes that explain a decision, as a clause behind it.
fn because_words(because: &Because, pod: &Key, changes: &[ObjectChange]) -> String {
    let words: Vec<String> = because.changes.iter().take(CHANGES).filter_map(|at| Some(changes.get(*at)?.words_about(pod))).collect();
    let more = because.changes.len().saturating_sub(words.len());
    let more = if more > 0 { format!(", and {}", count(more, "more change")) } else { String::new() };
    match because.how {
        How::One | How::Each | How::Together => format!(": since then {}{more}", words.join(", and ")),
        How::NotFound => ": no changes were found that explain it".to_owned(),
        How::NotSearched => ": the changes behind it were not searched".to_owned(),
    }
}

impl ObjectChange {
    /// Returns the change in a clause, such as `w1 got the taint dedicated=gpu:NoSchedule`.
    pub fn words(&self) -> String {
        let name = match self.kind {
            Kind::Node | Kind::Pod => self.key.to_string(),
            kind => format!("{kind} {}", self.key),
        };
        let [from, to] = self.nodes.clone().unwrap_or_default();
        match (self.kind, self.change, from, to) {
            (Kind::Pod, ChangeKind::Created | ChangeKind::Updated | ChangeKind::Replaced, None, Some(node)) => {
                format!("{name} was bound to {node}")
            }
            (Kind::Pod, ChangeKind::Deleted, Some(node), _) => format!("{name} on {node} was deleted"),
            (Kind::Pod, ChangeKind::Replaced, Some(from), Some(to)) if from != to => format!("{name} moved from {from} to {to}"),
            (_, ChangeKind::Created, ..) => format!("{name} was created"),
            (_, ChangeKind::Deleted, ..) => format!("{name} was deleted"),
            (_, ChangeKind::Replaced, ..) => format!("{name} was deleted and created again"),
            (_, ChangeKind::Updated, ..) => format!("{name} {}", self.fields_in_words()),
        }
    }

    /// Returns the change in a clause of a sentence about a pod.
    fn words_about(&self, pod: &Key) -> String {
        if self.kind == Kind::Pod && self.key == *pod { format!("it {}", self.fields_in_words()) } else { self.words() }
    }

    fn fields_in_words(&self) -> String {
        let is_cordon = self.fields.iter().any(|change| change.field.is_under(&["spec", "unschedulable"]));
        let of_cordon = |change: &&FieldChange| is_cordon && change.field.last() == "node.kubernetes.io/unschedulable:NoSchedule";
        let fields: Vec<&FieldChange> = self.fields.iter().filter(|change| !of_cordon(change)).collect();
        let more = fields.len().saturating_sub(FIELDS);
        let more = if more > 0 { format!(", and {} changed", count(more, "more field")) } else { String::new() };
        format!("{}{more}", fields.iter().take(FIELDS).map(|field| field.clause()).collect::<Vec<_>>().join(", "))
    }
}

impl FieldChange {
    /// Returns the change as a predicate of its object.
    fn clause(&self) -> String {
        let Self { field, from, to } = self;
        if field.is_under(&["spec", "unschedulable"]) {
            return if to.as_ref().is_some_and(|to| *to == true) { "was cordoned" } else { "was uncordoned" }.to_owned();
        }
        if field.is_under(&["metadata", "deletionTimestamp"]) && from.is_none() {
            return "began to terminate".to_owned();
        }
        if field.is_under(&["status", "nominatedNodeName"]) {
            return match (from, to) {
                (_, Some(to)) => format!("was nominated to {}", written(Some(to))),
                (from, None) => format!("is no longer nominated to {}", written(from.as_ref())),
            };
        }
        let (noun, name) = match () {
            () if field.is_under(&["spec", "taints"]) => ("taint", None),
            () if field.is_under(&["metadata", "labels"]) => ("label", Some(field.last())),
            () if field.is_under(&["status", "allocatable"]) => {
                return format!("has {} {} instead of {}", written(to.as_ref()), field.last(), written(from.as_ref()));
            }
            () => return format!("has {field} {} instead of {}", written(to.as_ref()), written(from.as_ref())),
        };
        let full =
            |value: &Option<Value>| name.map_or_else(|| written(value.as_ref()), |name| format!("{name}={}", written(value.as_ref())));
        match (from, to) {
            (None, _) => format!("got the {noun} {}", full(to)),
            (_, None) => format!("lost the {noun} {}", full(from)),
            _ => format!("has the {noun} {} instead of {}", full(to), full(from)),
        }
    }
}

/// Returns a value as people write it: a taint as `key=value:effect`, other objects as JSON, cut to a length.
pub fn written(value: Option<&Value>) -> String {
    let text = match value {
        None => return "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(fields)) if fields.contains_key("key") && fields.contains_key("effect") => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            let value = if text("value").is_empty() { String::new() } else { format!("={}", text("value")) };
            format!("{}{value}:{}", text("key"), text("effect"))
        }
        Some(value) => value.to_string(),
    };
    if text.chars().count() > VALUE { text.chars().take(VALUE).chain("...".chars()).collect() } else { text }
}
