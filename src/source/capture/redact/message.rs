//! Messages: the words that kube-scheduler has for all clusters stay, names in them become what they become elsewhere,
//! and the rest is left out.
//!
//! The words are those of the texts that kube-scheduler v1.36 and its predecessors write: the reasons of the plugins in
//! `pkg/scheduler/framework/plugins`, `FitError.Error` in `pkg/scheduler/framework/types.go`, and what
//! `pkg/scheduler/framework/preemption` says. Punctuation and blanks stay as they are, since they tell reasons apart.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::{Pass, resource};

/// What kube-scheduler writes, without the names in it.
pub(super) const TEXTS: &[&str] = &[
    // A failed attempt, and reasons of filters.
    "0/3 nodes are available:",
    "no nodes available to schedule pods",
    "Insufficient cpu",
    "Too many pods",
    "node(s) were unschedulable",
    "node(s) had untolerated taint(s)",
    "node(s) had taint , that the pod didn't tolerate",
    "node(s) had taints that the pod didn't tolerate",
    "node(s) had unknown conditions",
    "node(s) didn't match the requested node name",
    "node(s) didn't match scheduler-enforced node affinity",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't match node selector",
    "pod affinity terms conflict",
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't match pod affinity/anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) had no available disk",
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    "node(s) exceed max volume count",
    "looking up PVC",
    "CSI driver is not installed on the node",
    "node(s) had no available volume zone",
    "persistentvolume not found",
    "storageclass.storage.k8s.io not found",
    "VolumeBindingMode not set for StorageClass",
    "PersistentVolumeClaim had no name",
    "PersistentVolume had no name",
    "PersistentVolumeClaim had no pv name and storageClass name",
    "persistentvolumeclaim not found",
    "pod has unbound immediate PersistentVolumeClaims",
    "waiting for ephemeral volume controller to create the persistentvolumeclaim",
    "PVC was not created for pod (pod is not owner)",
    "persistentvolumeclaim is being deleted",
    "persistentvolumeclaim bound to non-existent persistentvolume",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) had volume node affinity conflict",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    "node(s) didn't match Pod's required features",
    "cannot allocate all claims",
    "resourceclaim not available on the node",
    "cannot schedule extended resource claim",
    "cannot fit resource",
    "invalid resource pools were encountered",
    "could not find ResourceClaim",
    "ResourceClaim was not created for Pod (Pod is not owner)",
    "resourceclaim.resource.k8s.io not found",
    "resource claim , request : unknown request type",
    "request : device class does not exist",
    "node(s) didn't satisfy plugin(s) simultaneously",
    // What PostFilter adds.
    "no new claims to deallocate",
    "still not schedulable",
    "deallocation of ResourceClaim completed",
    "deletion of ResourceClaim completed",
    "preemption: not eligible due to preemptionPolicy=Never.",
    "not eligible due to a terminating pod on the nominated node.",
    "not eligible due to failed attempt to create a preemption",
    "No preemption victims found for incoming pod",
    "Preemption is not helpful for scheduling",
    "no candidate node for preemption",
    "found a potential placement for pod on node , preempting victims",
    // Before the first attempt, around an attempt, and after it.
    "Scheduling is blocked due to non-empty scheduling gates",
    "waiting for scheduling gates:",
    "waiting for the preemption for this pod to be finished",
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
    // The plugins that a text can name.
    "SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions",
    "NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources DefaultPreemption",
    "NodeResourcesBalancedAllocation ImageLocality DefaultBinder NodeDeclaredFeatures GangScheduling",
    // What others say, in as few words.
    "and could cannot pod's pods did does have it its limit than these this too unable using when which will would without",
    "add after any as assigned at attach be been constraint created deleting domain evicted exist failed gates helpful inline insufficient \
     lookup making must need needs of only pending put reached resources rule selector setting size skip term unresolvable used victim wait",
];

static WORDS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| TEXTS.iter().flat_map(|text| text.split_whitespace()).map(|word| parts(word).1.to_lowercase()).collect());

/// What can stand before a word, and after it.
const BEFORE: &[char] = &['"', '\'', '`', '\\', '(', '[', '{'];
const AFTER: &[char] = &['"', '\'', '`', '\\', ')', ']', '}', ',', '.', ':', ';', '…'];

/// A word without the punctuation around it, which stands before and after.
fn parts(word: &str) -> (&str, &str, &str) {
    let rest = word.trim_start_matches(BEFORE);
    let core = rest.trim_end_matches(AFTER);
    // `node(s)` is one word.
    let core = if core.ends_with("(s") && rest[core.len()..].starts_with(')') { &rest[..=core.len()] } else { core };
    (&word[..word.len() - rest.len()], core, &rest[core.len()..])
}

/// How many digits a number in a text may have: more are an account's or a customer's.
const DIGITS: usize = 7;

fn is_number(core: &str) -> bool {
    core.split('/').all(|part| !part.is_empty() && part.len() <= DIGITS && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The text with its names replaced.
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
                // A name follows right upon the words that announce it.
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

/// A word by itself, and by what stands around it.
fn one(cores: &[&str], at: usize, announced: bool, quoted: bool, pass: &mut Pass<'_>) -> String {
    let core = cores[at];
    let back = |n: usize| at.checked_sub(n).map_or("", |at| cores[at]);
    let next = |n: usize| cores.get(at + n).copied().unwrap_or_default();
    let name = match (back(2), back(1)) {
        ("Preempted", "by") => core != "a" && next(0) != "pod",
        ("by", "pod") => back(3) == "Preempted" && core != "on" && core != "unknown",
        // A text that goes on without a name says `on the node`.
        ("on", "node") => !core.is_empty(),
        (_, "assigned") => back(2) == "Successfully",
        (_, "to") => back(4) == "Successfully",
        _ => false,
    };
    if back(1) == "Insufficient" {
        resource(core, pass)
    } else if name && announced || quoted {
        names(core, pass)
    } else if is_number(core) || WORDS.contains(&core.to_lowercase()) || next(1) == "CSI" && next(2) == "driver" {
        // Drivers are called what they are called everywhere.
        core.to_owned()
    } else if core.split('/').filter(|part| !part.is_empty()).count() == 2 && core.matches('/').count() == 1 {
        names(core, pass)
    } else {
        pass.known(core).unwrap_or_else(|| "…".to_owned())
    }
}

/// A name, with or without its namespace.
fn names(core: &str, pass: &mut Pass<'_>) -> String {
    core.split('/').map(|part| pass.text(part)).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use super::*;
    use serde_json::json;

    /// A message of a pod among things of these names, redacted, with `<name>` for what replaces a name.
    fn redacted(text: &str) -> String {
        let mut item =
            json!({"metadata": {"name": "web-1", "namespace": "shop", "uid": "0a-1b"}, "spec": {"nodeName": "host-a"}, "message": text});
        let mut redactor = Redactor::default();
        redactor.collect(&mut item.clone());
        redactor.finish();
        redactor.apply("Pod", &mut item);
        let mut out = item["message"].as_str().unwrap().to_owned();
        for (replacement, original) in redactor.replacements() {
            out = out.replace(&replacement, &format!("<{original}>"));
        }
        out
    }

    #[test]
    fn what_kube_scheduler_writes_stays() {
        let filled = [
            "Insufficient nvidia.com/gpu",
            "Insufficient ephemeral-storage",
            "Insufficient acme.com/rocket",
            "node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously",
            "ebs.csi.aws.com CSI driver is not installed on the node",
            "node(s) didn't match pod topology spread constraints",
            "not found",
        ];
        for text in TEXTS.iter().chain(&filled) {
            for whole in [
                (*text).to_owned(),
                format!(
                    "0/12 nodes are available: 1 {text}, 2 node(s) were unschedulable, 9 {text}. preemption: 0/12 nodes are available: 12 {text}."
                ),
            ] {
                assert_eq!(redacted(&whole), whole);
            }
        }
    }

    #[test]
    fn names_become_what_they_become_elsewhere() {
        for (text, expected) in [
            ("Preempted by pod 0a-1b on node host-a", "Preempted by pod <0a-1b> on node <host-a>"),
            ("Preempted by shop/web-1 on node host-a.", "Preempted by <shop>/<web-1> on node <host-a>."),
            ("Preempted by pod gone-2 on node node", "Preempted by pod <gone-2> on node <node>"),
            ("Preempted by a pod on node pod", "Preempted by a pod on node <pod>"),
            ("Successfully assigned shop/pod to storage", "Successfully assigned <shop>/<pod> to <storage>"),
            (
                "1 persistentvolumeclaim \"data-0\" not found, 2 Too many pods.",
                "1 persistentvolumeclaim \"<data-0>\" not found, 2 Too many pods.",
            ),
            (
                "looking up PVC shop/web-1: persistentvolumeclaim \"web-1\" not found",
                "looking up PVC <shop>/<web-1>: persistentvolumeclaim \"<web-1>\" not found",
            ),
            (
                "ResourceClaim shop/x was not created for Pod shop/web-1 (Pod is not owner)",
                "ResourceClaim <shop>/<x> was not created for Pod <shop>/<web-1> (Pod is not owner)",
            ),
            (
                "had untolerated taint {acme.com/hot: very}, 1 had taint {kubernetes.io/a: }, so",
                "had untolerated taint {<acme.com/hot>: <very>}, 1 had taint {kubernetes.io/a: }, …",
            ),
            ("waiting for scheduling gates: [acme.com/b hush]", "waiting for scheduling gates: [<acme.com/b> <hush>]"),
            ("Insufficient deviceclass.resource.kubernetes.io/acme-gpu.", "Insufficient deviceclass.resource.kubernetes.io/<acme-gpu>."),
            ("host-a, hush;  123456789012 42 https://acme.com/x\n(web-1)", "<host-a>, …;  … 42 …\n(<web-1>)"),
            (
                "found a potential placement for pod on node host-a, preempting 2 victims",
                "found a potential placement for pod on node <host-a>, preempting 2 victims",
            ),
        ] {
            assert_eq!(redacted(text), expected);
        }
    }
}
