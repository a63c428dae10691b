//! Sentences about fixes and constraints.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::owner::{NoCommand, Setter};
use crate::cluster::{Key, Kind, NodeStage, OwnedTaint, Requirement, Str};
use crate::fixes::{
    Alternative, Change, ClaimChange, Closest, CutShort, Demand, Devices, Fix, FixOutcome, LastResort, NodeChange, PodChange,
    PreemptsToday, Recreated, RequirementPlace, Search, Unproposed, Untried,
};
use crate::framework::{Shortage, cores, taint_text};
use crate::plural::{count, count_of};
use crate::release::Release;

/// Limit on the names listed.
const NAMES: usize = 4;
/// Limit on the characters of a node's condition.
const SAID: usize = 240;

/// Returns the first characters of a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the changes of a fix in words.
pub(super) fn fix_text(fix: &Fix) -> String {
    // The other objects of a new node are implied.
    changes_text(&fix.changes)
}

fn changes_text(changes: &[Change]) -> String {
    let shown = changes.iter().filter(|c| !matches!(c, Change::Create { object, like: Some(_) } if object.kind() != Kind::Node));
    shown.map(change_text).collect::<Vec<_>>().join(" and ")
}

/// Returns the result of a fix in words.
pub(super) fn outcome_text(fix: &Fix) -> String {
    let mut text = match fix.outcome {
        FixOutcome::Scheduled => format!("fits on {}", names(&fix.nodes)),
        FixOutcome::Preempts => {
            let fewest = || fix.victims.iter().min_by_key(|(_, victims)| victims.len());
            let fewest = fix.reaction.evicts_on.as_ref().and_then(|node| fix.victims.get_key_value(node)).or_else(fewest);
            let cost = fewest.map_or_else(String::new, |(node, victims)| {
                let pods: Vec<String> = victims.iter().map(|v| v.key().to_string()).collect();
                format!("; on {node} it evicts {}", names(&pods))
            });
            format!("preempts on {}{cost}", names(&fix.nodes))
        }
    };
    let mut violated: Vec<String> = fix.budgets.iter().map(|key| key.name.to_string()).collect();
    if let Some((_, victims)) = fix.victims.iter().min_by_key(|(_, victims)| victims.len()) {
        let budgets = victims.iter().flat_map(crate::framework::Victim::violates).map(|violation| violation.budget.to_string());
        violated.extend(budgets);
    }
    violated.sort();
    let mut rest = violated.as_slice();
    while let Some(budget) = rest.first() {
        let times = rest.iter().take_while(|b| *b == budget).count();
        let pods = if times > 1 { format!(" with {times} pods") } else { String::new() };
        let _ = write!(text, "; violates the budget {budget}{pods}");
        rest = &rest[times..];
    }
    text
}

/// Returns where preemption makes room without changes, in words.
pub(super) fn preempts_text(today: &PreemptsToday) -> String {
    let victims: Vec<String> = today.victims.iter().map(ToString::to_string).collect();
    let equal = if today.of > 1 { format!(" (1 of {} equal candidates)", today.of) } else { String::new() };
    format!("preemption places it on {}{equal}, which evicts {}", today.node, names(&victims))
}

/// Returns what controllers do after a fix, in words; empty if nothing.
pub(super) fn reaction_text(fix: &Fix) -> String {
    let mut text = String::new();
    let mut rest = fix.reaction.recreated.as_slice();
    while let Some(Recreated { pod, workload, node, .. }) = rest.first() {
        let number = rest.iter().take_while(|other| other.workload == *workload && other.node.is_some() == node.is_some()).count();
        let (those, others) = rest.split_at(number);
        rest = others;
        let what = if number == 1 { pod.to_string() } else { count(number, "pod") };
        let nodes: BTreeSet<&str> = those.iter().filter_map(|one| one.node.as_deref()).collect();
        let _ = match number {
            _ if node.is_some() => write!(text, "; {workload} makes {what} again, on {}", names(&nodes.into_iter().collect::<Vec<_>>())),
            _ if fix.reaction.is_cut => write!(text, "; {workload} makes {what} again, which may stay pending"),
            1 => write!(text, "; {workload} makes {what} again, which stays pending"),
            _ => write!(text, "; {workload} makes {what} again, which stay pending"),
        };
    }
    if let Some(siblings) = &fix.reaction.siblings {
        let (placed, of) = (siblings.placed, siblings.of);
        let pods = count(of, "pending pod");
        let _ = match placed {
            _ if siblings.untried > 0 => {
                let all = count(of + siblings.untried, "pending pod");
                write!(text, "; of {all} of {} {of} were tried, and {placed} find a place with it", siblings.workload)
            }
            _ if placed == of => write!(text, "; so do all {pods} of {}", siblings.workload),
            _ => write!(text, "; {placed} of {pods} of {} find a place with it", siblings.workload),
        };
    }
    text
}

/// Returns why a fix is a last resort, in words.
pub(super) fn last_resort_text(why: &LastResort) -> String {
    match why {
        LastResort::LargeCut(resource) => format!("it asks for less than half of the {resource}"),
        LastResort::ForeignGate { gate, owner } => format!("the gate {gate} is {owner}'s, which removes it when the pod may start"),
        LastResort::ForeignScheduler { name, owner: Some(owner) } => {
            format!("the scheduler {name} is {owner}'s, and may decide about the pod")
        }
        LastResort::ForeignScheduler { name, owner: None } => format!("a scheduler {name:?} may run elsewhere and decide about the pod"),
        LastResort::Condition(condition, says) if says.is_empty() => format!("the node {}", condition.of_one()),
        LastResort::Condition(condition, says) => format!("the node {}: {}", condition.of_one(), cut(says, SAID)),
        LastResort::Starting(OwnedTaint { owner, .. }) => {
            format!("{owner} removes the taint once the node is ready: wait, unless this pod makes it ready")
        }
        LastResort::Cordoned => "a drain of the node would evict the pod again".to_owned(),
        LastResort::TakesBack(act) => format!("it takes back {act:?} of this session"),
        LastResort::MakesUpFor(act) => format!("it makes up for {act:?} of this session"),
        LastResort::Hardware(key) => format!("the pod asks for hardware by the label {key}"),
        LastResort::Drops(name) => format!("the pod uses {name}"),
        LastResort::EmptyVolume(claim) => format!("the new volume is empty, and the data of claim {claim} are elsewhere"),
        LastResort::ClassTypo { class, known } => {
            format!("the claim asks for class {class:?}, likely a typo of {known:?}, and has to be made anew with that")
        }
        LastResort::FailsJob(job) => format!("Job {job} fails, as its pod counts as failed"),
        LastResort::Bare(pod) => format!("no controller makes {pod} again"),
        LastResort::MayDisplace(pod) => format!("the pod in place of {pod} may stay pending"),
        LastResort::SystemClass(class) => format!("the class {class} is for pods without which the cluster does not work"),
        LastResort::Displaces(pod) => format!("the pod in place of {pod} stays pending"),
        LastResort::ReplacesJob(job) => format!("Job {} is replaced, and starts over", job.name),
        LastResort::Moves { workload, pods } => {
            format!("the template of {workload} also moves its {}", count(*pods, "running pod"))
        }
    }
}

/// Returns how far a Job is that is replaced, as the rest of a sentence.
pub(super) fn progress_text(succeeded: i64, running: usize) -> String {
    let succeeded = match succeeded {
        0 => String::new(),
        1 => ": 1 pod that has succeeded runs again".to_owned(),
        n => format!(": {n} pods that have succeeded run again"),
    };
    let running = match running {
        0 => String::new(),
        n => format!("{} {} running {}", if succeeded.is_empty() { ":" } else { ", and" }, n, if n == 1 { "pod ends" } else { "pods end" }),
    };
    format!("{succeeded}{running}")
}

/// Returns why no command brings a change of a pod about, in words.
pub(super) fn no_command_text(why: &NoCommand) -> String {
    match why {
        NoCommand::MadeBy(by) => format!("{by} makes the pod, so that the change belongs there"),
        NoCommand::WrittenBy { what, by } => format!("{by} controls {what} and would take the change back, so that it belongs there"),
        NoCommand::Unread(owner) => format!("{owner} was not read, and another object may control it"),
        NoCommand::JobUnread(job) => format!("{job} was not read, and the change needs another Job in its place"),
        NoCommand::Deleting(owner) => format!("{owner} is being deleted"),
        NoCommand::Paused(deployment) => format!("{deployment} is paused, and makes no new pods until it is resumed"),
        NoCommand::Partition(set, partition) => format!("the partition {partition} of {set} keeps the pod at its revision"),
        NoCommand::OlderReplicaSet { replica_set, deployment } => {
            format!("the pod is of ReplicaSet {replica_set}, and {deployment} makes new pods from another template")
        }
        NoCommand::SetAtCreation { owner, field, by } => {
            let by = match by {
                Setter::Namespace(annotation, namespace) => format!("the annotation {annotation} of namespace {namespace}"),
                Setter::VerticalPodAutoscaler => "a VerticalPodAutoscaler".to_owned(),
                Setter::Unknown => "a webhook or the like".to_owned(),
            };
            format!("{by} sets {field} when a pod is created, over the template of {owner}")
        }
        NoCommand::OtherTemplate { owner, field } => {
            format!("{field} differs in the template of {owner}: the pod is of an older revision, or it was set when the pod was created")
        }
        NoCommand::EvictsOwn(job) => format!("{job} is replaced for it with all its pods, so that none of them is left to evict"),
        NoCommand::HostNetwork => "the containers of a pod on the host's network have their ports there".to_owned(),
    }
}

/// Returns the first names and the number of the others.
pub(crate) fn names<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Writes an amount of a resource as a Kubernetes quantity.
pub(super) fn amount(resource: &Str, amount: i64) -> String {
    if resource == "cpu" {
        return cores(amount);
    }
    Shortage { resource: resource.clone(), requested: 0, used: 0, capacity: 0 }.quantity(amount)
}

fn change_text(change: &Change) -> String {
    match change {
        Change::Pod(change) => pod_change_text(change),
        Change::Node(node, NodeChange::Uncordon) => format!("uncordon {node}, unless it is being drained"),
        Change::Node(node, NodeChange::RemoveTaint(taint)) => {
            let returns = taint.condition().map_or_else(String::new, |of| format!(" (it returns while the node {})", of.of_one()));
            format!("remove taint {} from {node}{returns}", taint_text(taint))
        }
        Change::Create { like: Some(like), .. } => format!("add a node like {like}"),
        Change::Create { object, .. } => format!("create {} {}", object.kind(), object.key()),
        Change::Delete(kind, key) => format!("delete {kind} {key}"),
        Change::RollOut { deployment, pod, unavailable, of } => {
            let pod = if *of == 1 { pod.to_string() } else { format!("one of {of} older pods") };
            format!("let the rollout of Deployment {} take {pod} away first (maxSurge 0, maxUnavailable {unavailable})", deployment.name)
        }
        Change::Claim(key, change) => claim_change_text(key, change),
        Change::Bind { claim, volume } => format!("bind {claim} to {volume}"),
    }
}

fn claim_change_text(claim: &Key, change: &ClaimChange) -> String {
    match change {
        ClaimChange::DropSelector { request, expression, .. } => {
            format!("drop selector {expression:?} of request {} of {claim}", request.name)
        }
        ClaimChange::DropSelectors { request } => format!("drop all selectors of request {} of {claim}", request.name),
        ClaimChange::LowerCount { request, from, to } => {
            format!("request {} of {claim} for {} instead of {from}", request.name, count(usize::try_from(*to).unwrap_or(0), "device"))
        }
        ClaimChange::SetClass { request, from, to, typo } => {
            format!("DeviceClass {to} instead of {from} in request {} of {claim}{}", request.name, typo_text(*typo))
        }
        ClaimChange::Tolerate { request, taint } => {
            format!("tolerate device taint {} in request {} of {claim}", taint_text(taint), request.name)
        }
        ClaimChange::DropConstraint { attribute, .. } => format!("drop the constraint by {attribute} of {claim}"),
        ClaimChange::Free => format!("deallocate {claim}"),
    }
}

fn pod_change_text(change: &PodChange) -> String {
    match change {
        PodChange::DropSelector { key, value } => format!("drop nodeSelector {key}={value}"),
        PodChange::SetSelector { key, from, to, typo } => format!("nodeSelector {key}={to} instead of {from}{}", typo_text(*typo)),
        PodChange::RenameSelector { from, to, value } => format!("nodeSelector {to}={value} instead of {from}={value}{}", typo_text(true)),
        PodChange::DropRequirement { place, requirement } => {
            format!("drop node affinity {}{}", requirement_text(requirement), term_text(*place))
        }
        PodChange::AddValue { place, requirement, value, typo: None } => {
            let mut wider = requirement.clone();
            wider.values.push(value.clone());
            format!("node affinity {}{}", requirement_text(&wider), term_text(*place))
        }
        PodChange::AddValue { place, requirement, value, typo: Some(typo) } => {
            format!("node affinity {} {value} instead of {typo}{}{}", requirement.key, term_text(*place), typo_text(true))
        }
        PodChange::DropNodeAffinity => "drop the required node affinity".to_owned(),
        PodChange::DropPodTerm { anti, topology_key, .. } => {
            let kind = if *anti { "pod anti-affinity" } else { "pod affinity" };
            format!("drop the {kind} on {topology_key}")
        }
        PodChange::DropSpread { topology_key, .. } => format!("drop the spread constraint on {topology_key}"),
        PodChange::MaxSkew { topology_key, from, to, .. } => format!("raise maxSkew on {topology_key} from {from} to {to}"),
        PodChange::Tolerate(taint) => {
            let though = taint.condition().map_or_else(String::new, |of| format!(" (though the node {})", of.of_one()));
            format!("tolerate {}{though}", taint_text(taint))
        }
        PodChange::Lower(lowered) if lowered.to == 0 => {
            format!("drop the {} request of {}", lowered.resource, amount(&lowered.resource, lowered.from))
        }
        PodChange::Lower(lowered) => {
            let of = |n| amount(&lowered.resource, n);
            format!("lower the {} request from {} to {}", lowered.resource, of(lowered.from), of(lowered.to))
        }
        PodChange::DropHostPorts(Some((port, protocol))) => format!("drop host port {port}/{protocol}"),
        PodChange::DropHostPorts(None) => "drop all host ports".to_owned(),
        PodChange::Priority { from, to, class: Some(class) } => format!("PriorityClass {class} (priority {to} instead of {from})"),
        PodChange::Priority { from, to, class: None } => format!("a new PriorityClass (priority {to} instead of {from})"),
        PodChange::Preempt => "preemptionPolicy PreemptLowerPriority instead of Never".to_owned(),
        PodChange::RemoveGates(gates) => {
            let what = if gates.len() == 1 { "gate" } else { "gates" };
            format!("remove the scheduling {what} {}", gates.iter().map(Str::as_str).collect::<Vec<_>>().join(", "))
        }
        PodChange::DropVolume(name) => format!("drop volume {name}"),
        PodChange::DropClaim(name) => format!("drop resource claim {name}"),
        PodChange::SchedulerName { from, to } => format!("schedulerName {to} instead of {from}"),
    }
}

fn typo_text(typo: bool) -> &'static str {
    if typo { " (likely typo)" } else { "" }
}

fn term_text(place: RequirementPlace) -> String {
    if place.terms > 1 { format!(" (term {} of {})", place.term + 1, place.terms) } else { String::new() }
}

fn requirement_text(requirement: &Requirement) -> String {
    let Requirement { key, operator, values } = requirement;
    let list = || values.iter().map(Str::as_str).collect::<Vec<_>>().join(", ");
    match operator.as_str() {
        "In" => format!("{key} in ({})", list()),
        "NotIn" => format!("{key} not in ({})", list()),
        "Exists" => format!("{key} exists"),
        "DoesNotExist" => format!("{key} does not exist"),
        "Gt" => format!("{key} > {}", list()),
        "Lt" => format!("{key} < {}", list()),
        other => format!("{key} {other} ({})", list()),
    }
}

/// Returns a demand in words.
pub(super) fn demand_text(demand: &Demand) -> String {
    match demand {
        Demand::Selector { key, value } => format!("nodeSelector {key}={value}"),
        Demand::Requirement(requirement) => format!("node affinity {}", requirement_text(requirement)),
        Demand::NodeAffinity(terms) => format!("node affinity ({})", count(*terms, "term")),
        Demand::Taint(taint) => format!("taint {}", taint_text(taint)),
        Demand::Cordon => "cordon".to_owned(),
        Demand::PodTerm { anti: false, topology_key } => format!("pod affinity on {topology_key}"),
        Demand::PodTerm { topology_key, .. } => format!("pod anti-affinity on {topology_key}"),
        Demand::ExistingAntiAffinity => "anti-affinity of running pods".to_owned(),
        Demand::Spread { topology_key, max_skew } => format!("spread on {topology_key}, maxSkew {max_skew}"),
        Demand::HostPort { port, protocol } => format!("host port {port}/{protocol}"),
        Demand::Resource { resource, amount: n } => format!("{resource} {}", amount(resource, *n)),
        Demand::PodSlot => "number of pods".to_owned(),
        Demand::Volume { name, claim: Some(claim) } => format!("volume {name}, claim {claim}"),
        Demand::Volume { name, claim: None } => format!("volume {name}"),
        Demand::Claim(name) => format!("resource claim {name}"),
        Demand::Other { plugin, reason: Some(reason) } => {
            let text = reason.text(Release::NEWEST);
            format!("{plugin}: {text}")
        }
        Demand::Other { plugin, reason: None } => plugin.to_string(),
    }
}

/// Returns the kind of a demand, as a key for programs.
pub(super) fn demand_kind(demand: &Demand) -> String {
    match demand {
        Demand::Selector { .. } => "nodeSelector",
        Demand::Requirement(_) | Demand::NodeAffinity(_) => "nodeAffinity",
        Demand::Taint(_) => "taint",
        Demand::Cordon => "cordon",
        Demand::PodTerm { anti: false, .. } => "podAffinity",
        Demand::PodTerm { .. } => "podAntiAffinity",
        Demand::ExistingAntiAffinity => "existingPodAntiAffinity",
        Demand::Spread { .. } => "topologySpread",
        Demand::HostPort { .. } => "hostPort",
        Demand::Resource { .. } => "resource",
        Demand::PodSlot => "podCount",
        Demand::Volume { .. } => "volume",
        Demand::Claim(_) => "resourceClaim",
        Demand::Other { plugin, .. } => plugin.as_str(),
    }
    .to_owned()
}

/// Returns the closest values of nodes in words; empty if unknown.
pub(super) fn closest_text(demand: &Demand, closest: &Closest) -> String {
    match closest {
        Closest::Unknown => String::new(),
        Closest::Values { values, .. } if values.is_empty() => "no node has the label".to_owned(),
        Closest::Values { values, more } => {
            let list: Vec<String> = values.iter().map(|(value, nodes)| format!("{value} ({nodes})")).collect();
            let more = if *more == 0 { String::new() } else { format!(" and {more} more") };
            let key = match demand {
                Demand::Selector { key, .. } => key.as_str(),
                Demand::Requirement(requirement) => requirement.key.as_str(),
                _ => "label",
            };
            format!("nodes have {key}: {}{more}", list.join(", "))
        }
        Closest::Missing { node, shortage } => {
            let (free, requested) = (shortage.free().max(0), shortage.requested);
            let in_words = |amount| shortage.readable(amount);
            // Rounding must not make the two look alike.
            let exact = in_words(free) == in_words(requested);
            let [free, requested] = [free, requested].map(|n| if exact { amount(&shortage.resource, n) } else { in_words(n) });
            format!("closest: {node} has {free} free of {requested} requested")
        }
        Closest::Pod { pod, node } => format!("{pod} blocks {node}"),
        Closest::Reason(reason) => reason.text(Release::NEWEST).into_owned(),
        Closest::Devices(devices) => devices_text(devices),
    }
}

/// Returns a number of further fixes that differ in one choice, in words.
pub(crate) fn alternatives_text(alternative: &Alternative, more: usize) -> String {
    match alternative {
        Alternative::Value(key) => format!("{} of {key}", count(more, "more value")),
        Alternative::CordonedNode => count(more, "more cordoned node"),
        Alternative::TaintedNode(taint) => format!("{} with taint {}", count(more, "more node"), taint_text(taint)),
        Alternative::Deletion(kind) => format!("{} to delete", count(more, &format!("more {kind}"))),
        Alternative::DeviceClass(request) => format!("{} for request {request}", count(more, "more DeviceClass")),
    }
}

fn devices_text(devices: &Devices) -> String {
    let Devices { request, class, of_class, selected, held, holders } = devices;
    if *of_class == 0 {
        return format!("request {request}: no device is of class {class}");
    }
    if *selected == 0 {
        return format!("request {request}: none of {} of class {class} matches its selectors", count(*of_class, "device"));
    }
    let free = selected - held;
    let devices = count(*selected, "device");
    if holders.is_empty() {
        return format!("request {request} selects {devices} in the cluster, all free");
    }
    let by: Vec<String> = holders.iter().map(ToString::to_string).collect();
    format!("request {request} selects {devices} in the cluster, {free} of them free; the others are held by {}", names(&by))
}

/// Returns why no change is proposed, in words.
pub(in crate::analysis) fn unproposed_text(unproposed: &Unproposed) -> String {
    match unproposed {
        Unproposed::Unread { kind, name } => {
            format!("whether {kind} {name:?} exists is unknown: not all objects of this kind are known")
        }
        Unproposed::EphemeralClaim(claim) => {
            format!("PersistentVolumeClaim {claim:?} is created by the ephemeral volume controller, which has not done so")
        }
        Unproposed::TemplateClaim { claim, set } => {
            format!(
                "PersistentVolumeClaim {claim:?} is created by the controller of StatefulSet {set} from a volumeClaimTemplate, which has not done so"
            )
        }
        Unproposed::Owned { taint, owned: OwnedTaint { owner, stage }, nodes } => {
            let state = match stage {
                NodeStage::Starting => "not ready for pods yet",
                NodeStage::Leaving => "about to be removed",
                NodeStage::Down => "down",
            };
            let verb = if nodes.len() == 1 { "is" } else { "are" };
            format!("the pod would fit on {}, which {verb} {state}: {owner} says so by the taint {}", names(nodes), taint_text(taint))
        }
        Unproposed::Refused { changes, refusal, others } => {
            let more = if *others == 0 { String::new() } else { format!(" (and {})", count_of(*others, "other change", "other changes")) };
            format!("{}{more}: the changed pod would be refused: {refusal}", changes_text(changes))
        }
        Unproposed::SetAgain { changes, class: Some(class) } => {
            format!("{}: the runtime class {class} sets it again", changes_text(changes))
        }
        Unproposed::SetAgain { changes, class: None } => {
            format!("{}: the admission of the changed pod undoes it", changes_text(changes))
        }
        Unproposed::RolloutUnread(deployment) => format!(
            "the rollout of Deployment {} could take an older pod away first; whether it does is unknown without the Deployment and its ReplicaSets",
            deployment.name
        ),
        Unproposed::RolloutByChance { deployment, unavailable, helpful, of } => format!(
            "let the rollout of Deployment {} take an older pod away first (maxSurge 0, maxUnavailable {unavailable}): only {helpful} of the {of} that it may take would make room",
            deployment.name
        ),
        Unproposed::Deleting { kind, name } => format!("{kind} {name:?} is being deleted"),
        Unproposed::Lost(claim) => format!("PersistentVolumeClaim {claim:?} has lost its volume"),
        Unproposed::NoProvisioner { claim, class } => {
            format!("StorageClass {class:?} of claim {claim:?} does not exist, and no other class names a provisioner for it")
        }
        Unproposed::FromTemplate { name, template, exists: true } => {
            format!("resource claim {name} is created from template {template:?} by the claim controller, which has not done so")
        }
        Unproposed::FromTemplate { name, template, exists: false } => {
            format!("resource claim {name} is created by the claim controller once there is a ResourceClaimTemplate {template:?}")
        }
        Unproposed::NoDeviceClass(claim) => format!("ResourceClaim {claim:?} does not exist, and there is no DeviceClass to request"),
        Unproposed::DeviceClassesUnread(claim) => {
            format!("ResourceClaim {claim:?} does not exist, and which DeviceClasses there are to request is unknown")
        }
        Unproposed::NoDevices(class) => {
            format!("DeviceClass {class:?} does not exist, and no device is published that it could select")
        }
        Unproposed::GroupGated(pod) => format!("pod {pod} of its pod group must be let into the queue"),
        Unproposed::Undone(Recreated { pod, workload, node, .. }) => {
            let place = node.as_ref().map_or_else(String::new, |node| format!(" on {node}"));
            format!("delete Pod {pod}: {workload} makes it again, and the new pod takes the place{place}")
        }
        Unproposed::AllocatedElsewhere(claim) => format!("ResourceClaim {claim:?} is allocated for other nodes and used there"),
    }
}

/// Returns why a search is incomplete, in words.
pub(in crate::analysis) fn cut_short_texts(by: &[CutShort]) -> Option<String> {
    let texts: Vec<String> = by.iter().map(cut_short_text).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn untried_text(what: &Untried) -> String {
    match what {
        Untried::Values(key) => format!("other values of {key}"),
        Untried::Keys(key) => format!("other labels in place of {key}"),
        Untried::Requirements => "requirements of node affinity".to_owned(),
        Untried::Taints => "taints to tolerate".to_owned(),
        Untried::Priorities => "priorities".to_owned(),
        Untried::CordonedNodes => "cordoned nodes".to_owned(),
        Untried::TaintedNodes => "nodes with a taint to remove".to_owned(),
        Untried::Deletions => "pods to delete".to_owned(),
        Untried::NodeGroups => "groups of nodes to add one to".to_owned(),
        Untried::StorageClasses => "StorageClasses".to_owned(),
        Untried::DeviceClasses => "DeviceClasses".to_owned(),
        Untried::ClaimRequests => "changes of resource claims".to_owned(),
        Untried::Claims => "resource claims of the pod".to_owned(),
        Untried::ClaimHolders => "resource claims to free".to_owned(),
        Untried::PodAffinity => "terms of pod affinity".to_owned(),
        Untried::PodAntiAffinity => "terms of pod anti-affinity".to_owned(),
        Untried::SpreadConstraints => "topology spread constraints".to_owned(),
        Untried::HostPorts => "host ports".to_owned(),
        Untried::Volumes => "volumes".to_owned(),
    }
}

fn cut_short_text(by: &CutShort) -> String {
    match by {
        CutShort::Trials(number) => format!("the limit of {number} decisions was reached"),
        CutShort::Steps(number) => format!("it took too many steps after {}", count_of(*number, "decision", "decisions")),
        CutShort::GroupSteps => "the attempts of pod groups took too many steps".to_owned(),
        CutShort::CombinedFilters => "this release checks several constraints in one filter".to_owned(),
        CutShort::Stopped => "it was stopped".to_owned(),
        CutShort::Spec(length) => format!("the pod's spec is too long, {} kB", length / 1000),
        CutShort::Untried { what, tried, of } => format!("{tried} of {of} {} were tried", untried_text(what)),
    }
}

/// Returns the extent of a search, in words.
pub(super) fn search_text(search: &Search) -> String {
    let kinds = match (search.pairs, search.pairs_untried) {
        (false, _) => "single changes".to_owned(),
        (true, 0) => "single changes and pairs".to_owned(),
        (true, left) => format!("single changes and pairs, {} left out", count(left, "pair")),
    };
    let cut = cut_short_texts(&search.cut_short_by).map_or_else(String::new, |by| format!("; cut short: {by}"));
    format!("{kinds}, {}{cut}", count(search.trials, "decision"))
}
