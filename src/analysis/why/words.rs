//! Phrases for the rejection of nodes, in few words.

use crate::analysis::Missing;
use crate::cluster::{MissingKinds, Quantity};
use crate::framework::{PluginName, Reason, Status, cores, entry, whole_bytes};
use crate::plural::count;
use crate::trace::CycleStart;

/// A rejection in words: of one node, of many, and of all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Phrase {
    /// For one node: `is cordoned`.
    pub(super) one: String,
    /// For several: `are cordoned`.
    pub(super) many: String,
    /// The whole clause for all nodes, where one reads better than `all 3 nodes are cordoned`.
    pub(super) none: Option<String>,
    /// Whether it quotes text from outside, in which no word may be replaced.
    quotes: bool,
}

/// The number of pods that a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    One,
    /// Several: `they`.
    Several,
}

impl Number {
    /// Returns the possessive pronoun.
    pub(super) fn its(self) -> &'static str {
        if self == Self::One { "its" } else { "their" }
    }

    /// Replaces the pronouns of one pod, with their verbs. The text must not come from outside.
    fn said(self, text: &str) -> String {
        if self == Self::One {
            return text.to_owned();
        }
        let mut follows = false;
        let word = |word| match word {
            "it" => {
                follows = true;
                "they"
            }
            "its" => "their",
            verb if std::mem::take(&mut follows) => match verb {
                "does" => "do",
                "is" => "are",
                _ => verb.strip_suffix('s').unwrap_or(verb),
            },
            other => other,
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }
}

impl Phrase {
    fn new(one: &str, many: &str) -> Self {
        Self { one: one.to_owned(), many: many.to_owned(), none: None, quotes: false }
    }

    /// Returns the phrase for this number of pods.
    pub(super) fn about(&self, pods: Number) -> Self {
        match pods {
            Number::Several if !self.quotes => Self {
                one: pods.said(&self.one),
                many: pods.said(&self.many),
                none: self.none.as_ref().map(|none| pods.said(none)),
                quotes: false,
            },
            _ => self.clone(),
        }
    }

    fn or_none(one: &str, many: &str, none: &str) -> Self {
        Self { none: Some(none.to_owned()), ..Self::new(one, many) }
    }

    /// Nodes that were not evaluated.
    pub(super) fn not_looked_at() -> Self {
        Self::or_none("was not evaluated", "were not evaluated", "no node was evaluated")
    }

    /// Nodes for which a DaemonSet made other pods.
    pub(super) fn of_other_daemons() -> Self {
        let [one, many] = ["is not", "are not"].map(|verb| format!("{verb} the node for which its DaemonSet made it"));
        Self::or_none(&one, &many, "the node for which its DaemonSet made it does not exist")
    }

    /// Nodes that PreFilter left out.
    pub(super) fn left_out(status: &Status) -> Self {
        match status.reasons() {
            [Reason::NotAmongNodes { plugins }] if **plugins == [PluginName::NodeAffinity] => Self::or_none(
                "is not among those its node affinity names",
                "are not among those its node affinity names",
                "its node affinity names none of the nodes",
            ),
            [] if status.is_success() => Self::left_out_by_the_pod(),
            [Reason::FilteredOutByPreFilter] => Self::left_out_by_the_pod(),
            [Reason::NotAmongNodes { plugins }] => {
                let by = plugins.iter().map(|p| p.as_str()).collect::<Vec<_>>().join(" ");
                Self::new(&format!("is ruled out by {by}"), &format!("are ruled out by {by}"))
            }
            _ => Self::quoted(status),
        }
    }

    /// Nodes that the pod's own demands leave out, in releases that do not say which.
    fn left_out_by_the_pod() -> Self {
        Self::new("is not among those its node affinity and volumes allow", "are not among those its node affinity and volumes allow")
    }

    /// Returns the phrase of a status, other than one about resources.
    pub(super) fn of(status: &Status, start: Option<&CycleStart>) -> Self {
        // PodAffinityRules comes with the reason that names the rule.
        let reasons = status.reasons().iter().filter(|reason| !matches!(reason, Reason::PodAffinityRules));
        let said: Option<Vec<Self>> = reasons.map(|reason| Self::of_reason(reason, start)).collect();
        match said.as_deref() {
            None | Some([]) => Self::quoted(status),
            Some([one]) => one.clone(),
            Some(all) => {
                let join = |words: fn(&Self) -> &String| all.iter().map(|p| words(p).as_str()).collect::<Vec<_>>().join(" and ");
                Self::new(&join(|p| &p.one), &join(|p| &p.many))
            }
        }
    }

    fn of_reason(reason: &Reason, start: Option<&CycleStart>) -> Option<Self> {
        if matches!(reason, Reason::Insufficient(_) | Reason::TooManyPods { .. }) {
            return Some(Self::lack(&[resource(reason)?], start));
        }
        if let Reason::UntoleratedTaint { taint } = reason
            && let Some(condition) = taint.condition()
        {
            let none = condition.of_all().map(str::to_owned);
            return Some(Self { none, ..Self::new(condition.of_one(), condition.of_many()) });
        }
        let phrase = entry(reason.kind())?.phrase?;
        Some(Self { none: phrase.none.map(str::to_owned), ..Self::new(phrase.one, phrase.many) })
    }

    /// Quotes kube-scheduler's own message.
    fn quoted(status: &Status) -> Self {
        let by = match status.plugin() {
            Some(PluginName::Extender) if status.reasons().is_empty() => {
                return Self::new("is ruled out by an extender", "are ruled out by extenders");
            }
            Some(PluginName::Extender) => "an extender",
            plugin => plugin.map_or("a plugin", PluginName::as_str),
        };
        let said = match status.message() {
            empty if empty.is_empty() => String::new(),
            reason => format!(" ({})", short(&reason)),
        };
        Self { quotes: true, ..Self::new(&format!("is rejected by {by}{said}"), &format!("are rejected by {by}{said}")) }
    }

    /// Nodes that lack all of these resources.
    pub(super) fn lack(resources: &[&str], start: Option<&CycleStart>) -> Self {
        let mut amounts: Vec<String> = resources.iter().take(3).map(|name| amount(name, start, true)).collect();
        let mut short: Vec<String> = resources.iter().take(3).map(|name| too_little(name, start)).collect();
        if resources.len() > amounts.len() {
            let more = count(resources.len() - amounts.len(), "more resource");
            short.push(format!("too little of {more}"));
            amounts.push(more);
        }
        let (and, or) = (list(&short, "and"), list(&amounts, "or"));
        Self::or_none(&format!("has {and}"), &format!("have {and}"), &format!("no node has {or}"))
    }

    /// Nodes that lack one resource or another.
    pub(super) fn resources() -> Self {
        let none = "no node has all the resources it requests";
        Self::or_none("lacks some resource it requests", "lack some resource it requests", none)
    }

    /// Nodes that lack the resource even when empty.
    pub(super) fn too_small(resource: &str, start: Option<&CycleStart>) -> Self {
        let wanted = amount(resource, start, false);
        match resource {
            "cpu" | "memory" | "ephemeral-storage" => Self::or_none(
                &format!("is too small for {wanted}"),
                &format!("are too small for {wanted}"),
                &format!("no node is large enough for {wanted}"),
            ),
            _ => Self::or_none(
                &format!("does not offer {wanted}"),
                &format!("do not offer {wanted}"),
                &format!("no node offers {wanted}, even when empty"),
            ),
        }
    }
}

/// Returns the kind of which the source lacks the object that a reason misses.
fn absent(reason: &Reason, unknown: MissingKinds) -> Option<Missing> {
    reason.missing_kinds().iter().find_map(|kind| Some(Missing { kind: *kind, why: unknown.why(*kind)?, effect: None }))
}

/// Returns in brackets that a status is uncertain, because the source lacks a kind of which its reasons miss an object; empty where it
/// does not.
pub(super) fn doubt(status: &Status, unknown: MissingKinds) -> String {
    let absent = status.reasons().iter().find_map(|reason| absent(reason, unknown));
    absent.map_or_else(String::new, |absent| format!(" ({}: whether that is so is unknown)", absent.clause()))
}

/// Returns why PreFilter ruled out every node for these pods.
pub(super) fn no_node_at_all(status: &Status, pods: Number, unknown: MissingKinds) -> String {
    let its = pods.its();
    let missing = |what: String, reason: &Reason| match absent(reason, unknown) {
        Some(absent) => format!("{what} was not found ({}: whether it exists is unknown)", absent.clause()),
        None => format!("{what} does not exist"),
    };
    let clause = match status.reasons() {
        [reason @ Reason::UnboundImmediateClaims { .. }] => match absent(reason, unknown) {
            Some(absent) => {
                format!("{its} PersistentVolumeClaims are not bound yet ({}: whether they wait for the pod is unknown)", absent.clause())
            }
            None => format!("{its} immediate PersistentVolumeClaims are not bound yet"),
        },
        [Reason::NodeAffinityConflict] => format!("{its} node affinity contradicts itself ({})", status.message()),
        [Reason::ClaimDeleting { claim }] => format!("{its} claim {claim} is being deleted"),
        [reason @ Reason::ClaimNotFound { claim }] => missing(format!("{its} claim {:?}", claim.as_str()), reason),
        [reason @ Reason::VolumeNotFound { volume }] => missing(format!("the volume {:?} of {its} claim", volume.as_str()), reason),
        [Reason::NoNodeLeftTogether { plugins }] => {
            let names = plugins.iter().map(|p| p.as_str()).collect::<Vec<_>>().join(" and ");
            return format!("no node satisfies {names} at once");
        }
        [Reason::NoNodeLeftBy { plugin }] => return format!("no node satisfies {plugin}"),
        _ => short(&status.message()) + &doubt(status, unknown),
    };
    let names_object = |reason: &Reason| {
        use Reason::{ClaimDeleting, ClaimNotFound, UnboundImmediateClaims, VolumeNotFound};
        matches!(reason, UnboundImmediateClaims { .. } | ClaimDeleting { .. } | ClaimNotFound { .. } | VolumeNotFound { .. })
    };
    match status.plugin() {
        // The object says it all; the plugin that missed it says nothing to an operator.
        _ if matches!(status.reasons(), [reason] if names_object(reason)) => clause,
        Some(plugin) => format!("{plugin} rules out every node: {clause}"),
        None => format!("every node is ruled out: {clause}"),
    }
}

/// Returns the resource that a node lacks, as requests name it; `pods` for the number of pods.
pub(super) fn resource(reason: &Reason) -> Option<&str> {
    match reason {
        Reason::TooManyPods { .. } => Some("pods"),
        Reason::Insufficient(shortage) => Some(&shortage.resource),
        _ => None,
    }
}

/// Returns `6 free cpu`, `8Gi of free memory` or `2 free nvidia.com/gpu`, with the pod's request if the record has it.
pub(super) fn amount(name: &str, start: Option<&CycleStart>, free: bool) -> String {
    let (free, word) = if free { (" free", "free ") } else { ("", "") };
    if name == "pods" {
        return "room for one more pod".to_owned();
    }
    let asked = start.and_then(|s| s.requests.iter().find(|(n, _)| *n == name)).and_then(|(_, q)| Some((q, q.parse::<Quantity>().ok()?)));
    match (name, asked) {
        (_, None) => format!("enough {word}{name}"),
        ("cpu", Some((_, asked))) => format!("{}{free} cpu", cores(asked.milli_value())),
        ("memory" | "ephemeral-storage", Some((text, asked))) => {
            let amount = whole_bytes(asked.value()).unwrap_or_else(|| text.clone());
            format!("{amount} of {word}{name}")
        }
        (_, Some((text, _))) => format!("{text}{free} {name}"),
    }
}

/// Returns `less than 6 cpu free`, `less than 8Gi of memory free` or `fewer than 2 nvidia.com/gpu free`, with the pod's request if the
/// record has it.
pub(super) fn too_little(name: &str, start: Option<&CycleStart>) -> String {
    let continuous = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
    match start.filter(|start| start.requests.iter().any(|(n, _)| *n == name)) {
        _ if name == "pods" => "no room for one more pod".to_owned(),
        None => format!("too {} free {name}", if continuous { "little" } else { "few" }),
        start => format!("{} than {} free", if continuous { "less" } else { "fewer" }, amount(name, start, false)),
    }
}

/// Joins items as `a`, `a and b`, or `a, b and c`.
pub(super) fn list(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., end] => format!("{} {last} {end}", init.join(", ")),
    }
}

/// Shortens quoted text: one line, no full stop, at most 140 characters.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 140;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches(['.', ' ']);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}
