//! Redacts messages: kube-scheduler's own words are kept, names are replaced as everywhere, and the rest is replaced.
//!
//! The words are those of the texts of kube-scheduler v1.36 and earlier: the reasons of the plugins in
//! `pkg/scheduler/framework/plugins`, `FitError.Error` in `pkg/scheduler/framework/types.go`, and the texts of
//! `pkg/scheduler/framework/preemption`. Punctuation and blanks are kept, since they separate reasons.

use std::collections::BTreeSet;

use super::{Pass, neighbors, resource};

/// Texts of kube-scheduler besides the reasons of plugins, without names.
const TEXTS: &[&str] = &[
    // A failed attempt.
    "0/3 nodes are available:",
    "no nodes available to schedule pods",
    // Reasons and additions of PostFilter in other versions.
    "node(s) had unknown conditions",
    "node(s) didn't match pod affinity/anti-affinity rules",
    "resourceclaim.resource.k8s.io not found",
    "not eligible due to failed attempt to create a preemption",
    "found a potential placement for pod on node , preempting victims",
    // Before the first attempt, around an attempt, and after it.
    "Scheduling is blocked due to non-empty scheduling gates",
    "waiting for pods's pod group to appear in scheduling queue",
    "waiting for minCount pods from a gang to appear in scheduling queue",
    "waiting for minCount pods from a gang to be scheduled",
    "pod group is unschedulable",
    "pod group is waiting for preemption to complete",
    "placements are available, first placement status:",
    "running PreFilter Filter PostFilter PreScore Score Reserve Permit PreBind PreBindPreFlight Bind plugin",
    "running AddPod RemovePod on PreFilter plugin",
    "running Normalize on Score plugins: plugin",
    "Successfully assigned",
    "Preempted by a pod on node",
    "Preempted by pod (unknown) on node (in kube-scheduler memory).",
    "default-scheduler: preempting to accommodate a higher priority pod",
    "binding rejected: timed out waiting for the condition",
    // The plugins that a text may name.
    "SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions",
    "NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources DefaultPreemption",
    "NodeResourcesBalancedAllocation ImageLocality DefaultBinder NodeDeclaredFeatures GangScheduling",
    // Words of other texts.
    "and could cannot pod's pods did does have it its limit than these this too unable using when which will would without",
    "add after any as assigned at attach be been constraint created deleting domain evicted exist failed gates helpful inline insufficient \
     lookup making must need needs of only pending put reached resources rule selector setting size skip term unresolvable used victim wait",
];

/// The words of texts that are the same in every cluster and are kept in messages.
#[derive(Clone, Debug)]
pub struct Vocabulary(BTreeSet<String>);

impl Vocabulary {
    /// Returns the words of these texts, such as the reasons of plugins, and of kube-scheduler's other texts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let words = TEXTS.iter().chain(neighbors::MESSAGES).copied().chain(texts).flat_map(str::split_whitespace);
        Self(words.map(|word| parts(word).1.to_lowercase()).collect())
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&word.to_lowercase())
    }
}

/// Punctuation that may surround a word.
const BEFORE: &[char] = &['"', '\'', '`', '\\', '(', '[', '{'];
const AFTER: &[char] = &['"', '\'', '`', '\\', ')', ']', '}', ',', '.', ':', ';', '…'];

/// Splits a word into the punctuation before it, the word, and the punctuation after it.
fn parts(word: &str) -> (&str, &str, &str) {
    let rest = word.trim_start_matches(BEFORE);
    let core = rest.trim_end_matches(AFTER);
    // `node(s)` is one word.
    let core = if core.ends_with("(s") && rest[core.len()..].starts_with(')') { &rest[..=core.len()] } else { core };
    (&word[..word.len() - rest.len()], core, &rest[core.len()..])
}

/// The maximal number of digits of a number that is kept; longer ones may identify an account or a customer.
const DIGITS: usize = 7;

fn is_number(core: &str) -> bool {
    core.split('/').all(|part| !part.is_empty() && part.len() <= DIGITS && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the text with its names replaced.
pub(super) fn message(text: &str, pass: &mut Pass<'_>) -> String {
    let words: Vec<(&str, &str)> = text
        .split_inclusive(char::is_whitespace)
        .map(|word| {
            let bare = word.trim_end_matches(char::is_whitespace);
            (bare, &word[bare.len()..])
        })
        .collect();
    let cores: Vec<&str> = words.iter().map(|(word, _)| parts(word).1).collect();
    let mut out = String::with_capacity(text.len());
    // Where the taint or the list of gates that is being read ends.
    let mut inside = None;
    for (at, (word, blank)) in words.iter().enumerate() {
        let (before, core, after) = parts(word);
        if before.ends_with('{') {
            inside = Some('}');
        } else if before.ends_with('[') && at >= 1 && cores[at - 1] == "gates" {
            inside = Some(']');
        }
        out += before;
        out += &match inside {
            _ if core.is_empty() => String::new(),
            Some('}') if after.starts_with(':') => pass.key(core),
            Some(_) => pass.text(core),
            None => {
                // A name directly follows the words that announce it.
                let announced = before.is_empty() && at.checked_sub(1).is_none_or(|at| parts(words[at].0).2.is_empty());
                one(&cores, at, announced, before.contains('"') && after.contains('"'), pass)
            }
        };
        out += after;
        out += blank;
        inside = inside.filter(|end| !after.contains(*end));
    }
    out
}

/// Redacts one word, given the words around it.
fn one(cores: &[&str], at: usize, announced: bool, quoted: bool, pass: &mut Pass<'_>) -> String {
    let core = cores[at];
    let back = |n: usize| at.checked_sub(n).map_or("", |at| cores[at]);
    let next = |n: usize| cores.get(at + n).copied().unwrap_or_default();
    let name = match (back(2), back(1)) {
        ("exceeded" | "failed", "quota") => !core.is_empty(),
        ("with", "name") => back(3) == "PriorityClass",
        ("Preempted", "by") => core != "a" && next(0) != "pod",
        ("by", "pod") => back(3) == "Preempted" && core != "on" && core != "unknown",
        // In `on the node` no name follows.
        ("on", "node") => !core.is_empty(),
        (_, "assigned") => back(2) == "Successfully",
        (_, "to") => back(4) == "Successfully",
        _ => false,
    };
    let lacking = if back(1) == "Insufficient" { lacking(core, pass) } else { None };
    if let Some(resource) = lacking {
        resource
    } else if name && announced || quoted {
        names(core, pass)
    } else if is_number(core) || pass.words().has(core) || next(1) == "CSI" && next(2) == "driver" && is_driver(core, pass) {
        core.to_owned()
    } else if let Some(kept) = neighbors::amounts(core, pass).or_else(|| neighbors::planned(core, pass)) {
        kept
    } else if core.split('/').filter(|part| !part.is_empty()).count() == 2 && core.matches('/').count() == 1 {
        names(core, pass)
    } else {
        pass.known(core).unwrap_or_else(|| "…".to_owned())
    }
}

/// Returns the resource that a text says is lacking, with a class in it replaced; `None` if the word is none. Resources that no
/// object has are known by their domain.
fn lacking(core: &str, pass: &mut Pass<'_>) -> Option<String> {
    let has_domain = || core.split_once('/').is_some_and(|(domain, name)| domain.contains('.') && !name.contains('/'));
    let is_resource = pass.kept().is_some_and(|kept| kept.is_resource(core)) || has_domain() && pass.known(core).is_none();
    is_resource.then(|| resource(core, pass))
}

/// Returns whether a word is the name of a driver; those that no object has are known by their domain.
fn is_driver(core: &str, pass: &Pass<'_>) -> bool {
    pass.kept().is_some_and(|kept| kept.is_driver(core)) || core.contains('.') && !core.contains('/') && pass.known(core).is_none()
}

/// Redacts a name, with or without its namespace.
fn names(core: &str, pass: &mut Pass<'_>) -> String {
    match core.split_once('/') {
        Some((namespace, name)) if !name.contains('/') => {
            let name = pass.within(namespace, |pass| pass.claim(name));
            format!("{}/{name}", pass.text(namespace))
        }
        Some(_) => core.split('/').map(|part| pass.text(part)).collect::<Vec<_>>().join("/"),
        None => pass.claim(core),
    }
}

#[cfg(test)]
mod tests;
