//! Verdicts as one operator says them to another: what a plugin's answer means for a node, in few words.

use crate::cluster::Quantity;
use crate::framework::{PluginName, Status};
use crate::trace::CycleStart;

/// What is said of nodes: of one, of many, and where all share it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Phrase {
    /// Of one node: `is cordoned`.
    pub(super) one: String,
    /// Of several: `are cordoned`.
    pub(super) many: String,
    /// The whole clause where it is every node, if there is a better one than `all 3 nodes are cordoned`.
    pub(super) none: Option<String>,
}

impl Phrase {
    fn new(one: &str, many: &str) -> Self {
        Self { one: one.to_owned(), many: many.to_owned(), none: None }
    }

    fn or_none(one: &str, many: &str, none: &str) -> Self {
        Self { none: Some(none.to_owned()), ..Self::new(one, many) }
    }

    /// Nodes that nobody looked at.
    pub(super) fn not_looked_at() -> Self {
        Self::or_none("was not looked at", "were not looked at", "no node was looked at")
    }

    /// Nodes that PreFilter left out of what was looked at.
    pub(super) fn left_out(status: &Status) -> Self {
        let reason = status.message();
        let by = reason.strip_prefix("node(s) didn't satisfy plugin(s) [").and_then(|rest| rest.strip_suffix(']'));
        match by {
            Some("NodeAffinity") => Self::or_none(
                "is not among those its node affinity names",
                "are not among those its node affinity names",
                "its node affinity names none of the nodes",
            ),
            Some(by) => Self::new(&format!("is left out by {by}"), &format!("are left out by {by}")),
            None => Self::quoted(status),
        }
    }

    /// What a verdict other than that on resources says.
    pub(super) fn of(status: &Status) -> Self {
        let Some(plugin) = status.plugin() else { return Self::quoted(status) };
        let said: Option<Vec<Self>> = status.reasons().iter().map(|reason| known(plugin, reason)).collect();
        match said.as_deref() {
            None | Some([]) => Self::quoted(status),
            Some([one]) => one.clone(),
            Some(all) => {
                let join = |words: fn(&Self) -> &String| all.iter().map(|p| words(p).as_str()).collect::<Vec<_>>().join(" and ");
                Self::new(&join(|p| &p.one), &join(|p| &p.many))
            }
        }
    }

    /// kube-scheduler's own words, where there are no better ones.
    fn quoted(status: &Status) -> Self {
        let by = status.plugin().map_or("a plugin", PluginName::as_str);
        let said = match status.message() {
            empty if empty.is_empty() => String::new(),
            reason => format!(" ({})", short(&reason)),
        };
        Self::new(&format!("is turned down by {by}{said}"), &format!("are turned down by {by}{said}"))
    }

    /// Nodes that lack all of these resources.
    pub(super) fn lack(resources: &[&str], start: Option<&CycleStart>) -> Self {
        let mut amounts: Vec<String> = resources.iter().take(3).map(|name| amount(name, start, true)).collect();
        if resources.len() > amounts.len() {
            amounts.push(count(resources.len() - amounts.len(), "more resource"));
        }
        let (and, or) = (list(&amounts, "and"), list(&amounts, "or"));
        Self::or_none(&format!("lacks {and}"), &format!("lack {and}"), &format!("no node has {or}"))
    }

    /// Nodes that lack one resource or another.
    pub(super) fn resources() -> Self {
        let none = "no node has all the resources it asks for";
        Self::or_none("lacks some resource it asks for", "lack some resource it asks for", none)
    }

    /// Nodes that would lack the resource even without any pod.
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

fn known(plugin: PluginName, reason: &str) -> Option<Phrase> {
    use PluginName as P;
    let phrase = match (plugin, reason) {
        (P::NodeUnschedulable, "node(s) were unschedulable") => Phrase::new("is cordoned", "are cordoned"),
        (P::TaintToleration, "node(s) had untolerated taint(s)") => {
            Phrase::new("has a taint it does not tolerate", "have a taint it does not tolerate")
        }
        (P::NodeName, "node(s) didn't match the requested node name") => {
            Phrase::or_none("is not the node it asks for", "are not the node it asks for", "no node has the name it asks for")
        }
        (P::NodeAffinity, "node(s) didn't match Pod's node affinity/selector") => Phrase::or_none(
            "does not match its node affinity or selector",
            "do not match its node affinity or selector",
            "no node matches its node affinity or selector",
        ),
        (P::NodeAffinity, "node(s) didn't match scheduler-enforced node affinity") => Phrase::or_none(
            "does not match the node affinity its profile adds",
            "do not match the node affinity its profile adds",
            "no node matches the node affinity its profile adds",
        ),
        (P::NodePorts, "node(s) didn't have free ports for the requested pod ports") => {
            Phrase::or_none("has its host port taken", "have its host port taken", "no node has its host port free")
        }
        (P::InterPodAffinity, "node(s) didn't match pod affinity rules") => {
            Phrase::or_none("does not meet its pod affinity", "do not meet its pod affinity", "no node meets its pod affinity")
        }
        (P::InterPodAffinity, "node(s) didn't match pod anti-affinity rules") => {
            Phrase::new("is ruled out by its own anti-affinity", "are ruled out by its own anti-affinity")
        }
        (P::InterPodAffinity, "node(s) didn't satisfy existing pods anti-affinity rules") => {
            Phrase::new("is ruled out by the anti-affinity of other pods", "are ruled out by the anti-affinity of other pods")
        }
        (P::PodTopologySpread, "node(s) didn't match pod topology spread constraints") => {
            Phrase::new("would break its topology spread", "would break its topology spread")
        }
        (P::PodTopologySpread, "node(s) didn't match pod topology spread constraints (missing required label)") => Phrase::or_none(
            "lacks the label its topology spread needs",
            "lack the label its topology spread needs",
            "no node has the label its topology spread needs",
        ),
        (P::VolumeBinding, "node(s) didn't find available persistent volumes to bind") => {
            Phrase::or_none("has no volume for its claims", "have no volume for its claims", "no node has a volume for its claims")
        }
        (P::VolumeBinding, "node(s) didn't match PersistentVolume's node affinity") => {
            Phrase::or_none("is out of reach of its volume", "are out of reach of its volume", "no node is in reach of its volume")
        }
        (P::VolumeBinding, "node(s) did not have enough free storage") => Phrase::or_none(
            "lacks free storage for its volumes",
            "lack free storage for its volumes",
            "no node has enough free storage for its volumes",
        ),
        (P::VolumeBinding, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)") => Phrase::or_none(
            "is out because its claim is bound to a volume that does not exist",
            "are out because its claim is bound to a volume that does not exist",
            "its claim is bound to a volume that does not exist",
        ),
        (P::VolumeZone, "node(s) had no available volume zone") => {
            Phrase::or_none("is not in its volume's zone", "are not in its volume's zone", "no node is in its volume's zone")
        }
        (P::NodeVolumeLimits, "node(s) exceed max volume count") => {
            Phrase::or_none("can attach no more volumes", "can attach no more volumes", "no node can attach more volumes")
        }
        (P::VolumeRestrictions, "node(s) had no available disk") => {
            Phrase::new("has its disk in use already", "have its disk in use already")
        }
        (
            P::VolumeRestrictions,
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        ) => Phrase::or_none(
            "is out because another pod uses its ReadWriteOncePod claim",
            "are out because another pod uses its ReadWriteOncePod claim",
            "another pod uses its ReadWriteOncePod claim",
        ),
        (P::DynamicResources, "cannot allocate all claims") => Phrase::or_none(
            "cannot give all devices it claims",
            "cannot give all devices it claims",
            "no node can give all devices it claims",
        ),
        (P::DynamicResources, "resourceclaim not available on the node") => {
            Phrase::or_none("cannot use the device it holds", "cannot use the device it holds", "no node can use the device it holds")
        }
        (P::NodeDeclaredFeatures, "node(s) didn't match Pod's required features") => {
            Phrase::or_none("lacks a feature it needs", "lack a feature it needs", "no node has all features it needs")
        }
        _ => return None,
    };
    Some(phrase)
}

/// Why PreFilter ruled out every node at once.
pub(super) fn no_node_at_all(status: &Status) -> String {
    let reason = status.message();
    let quoted = |start: &str, end: &str| Some(reason.strip_prefix(start)?.strip_suffix(end)?.to_owned());
    let clause = match reason.as_str() {
        "pod has unbound immediate PersistentVolumeClaims" => "its immediate PersistentVolumeClaims are not bound yet".to_owned(),
        "pod affinity terms conflict" => "its node affinity contradicts itself (pod affinity terms conflict)".to_owned(),
        _ => {
            if let Some(name) = quoted("persistentvolumeclaim \"", "\" is being deleted") {
                format!("its claim {name} is being deleted")
            } else if let Some(name) = quoted("persistentvolumeclaim \"", "\" not found").filter(|n| !n.contains('"')) {
                format!("its claim {name} does not exist")
            } else if let Some(name) = quoted("persistentvolume \"", "\" not found").filter(|n| !n.contains('"')) {
                format!("the volume {name} of its claim does not exist")
            } else if let Some(names) = quoted("node(s) didn't satisfy plugin(s) [", "] simultaneously") {
                return format!("no node satisfies {} at once", names.replace(' ', " and "));
            } else if let Some(name) = reason.strip_prefix("node(s) didn't satisfy plugin ") {
                return format!("no node satisfies {name}");
            } else {
                short(&reason)
            }
        }
    };
    match status.plugin() {
        Some(plugin) => format!("{plugin} rules out every node: {clause}"),
        None => format!("every node is ruled out: {clause}"),
    }
}

/// The resource that a reason of NodeResourcesFit complains of, by the name that requests have; `pods` for room at all.
pub(super) fn resource(reason: &str) -> Option<&str> {
    if reason == "Too many pods" { Some("pods") } else { reason.strip_prefix("Insufficient ") }
}

/// `6 free cpu`, `8Gi of free memory`, `2 free nvidia.com/gpu`, with the pod's own figure where the record has it.
pub(super) fn amount(name: &str, start: Option<&CycleStart>, free: bool) -> String {
    let (free, word) = if free { (" free", "free ") } else { ("", "") };
    if name == "pods" {
        return "room for one more pod".to_owned();
    }
    let asked = start.and_then(|s| s.requests.iter().find(|(n, _)| *n == name)).and_then(|(_, q)| Some((q, q.parse::<Quantity>().ok()?)));
    match (name, asked) {
        (_, None) => format!("enough {word}{name}"),
        ("cpu", Some((_, asked))) => format!("{}{free} cpu", cores(asked.milli_value())),
        ("memory" | "ephemeral-storage", Some((text, asked))) => format!("{} of {word}{name}", bytes(asked.value(), text)),
        (_, Some((text, _))) => format!("{text}{free} {name}"),
    }
}

/// Cores as people write them: `6`, `1.5`, `0.25`.
fn cores(milli: i64) -> String {
    let (whole, rest) = (milli / 1000, milli.unsigned_abs() % 1000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}").trim_end_matches('0').to_owned() }
}

/// Bytes in the largest binary unit that they are a whole number of; as asked for where they are of none.
fn bytes(bytes: i64, text: &str) -> String {
    const UNITS: [(i64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let unit = UNITS.iter().find(|(unit, _)| bytes >= *unit && bytes % unit == 0);
    unit.map_or_else(|| text.to_owned(), |(unit, name)| format!("{}{name}", bytes / unit))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., end] => format!("{} {last} {end}", init.join(", ")),
    }
}

/// A number with its noun.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Somebody else's text within a sentence: on one line, without its full stop, and not too long.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 140;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches(['.', ' ']);
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}
