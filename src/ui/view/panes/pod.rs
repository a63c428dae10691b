//! The pane of one pod as the scheduler reads it: place, requests, priority, placement constraints, conditions, budgets, and
//! its recorded attempts.

mod requests;

use std::sync::Arc;

use crate::analysis::{VolumePlace, When, budgets_unknown_because, volume_places, why};
use crate::cluster::resource::{DeviceRequestAllocationResult, DeviceSelector, ResourceClaim};
use crate::cluster::{
    Affinity, Cluster, Condition, Key, LabelSelector, NodeSelectorTerm, Pod, PodAffinityTerm, PodDisruptionBudget, PodOwner, Requirement,
    Str, Toleration,
};
use crate::framework::PluginName;
use crate::session::{Keyframe, Revision};
use crate::session::{PodLocation, Timeline};
use crate::trace::{Event, Outcome, Place};
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, Width, left, right};
use crate::ui::model::filter::Filter;
use crate::ui::model::list::RowId;
use crate::ui::model::page::PageRows;
use crate::ui::model::page::{PageInput, PageRow, Sign, cell, labels, signed};
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::QueuePart;
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::page;

pub static DEF: PaneDef = PaneDef {
    home: Some(Pane::QUEUES),
    is_open: |state| state.subjects.pod.is_some(),
    rows: Rows::Page(|input, subject, filter| match subject {
        Some(RowId::Pod(key)) => rows(input, key, filter),
        _ => vec![PageRow::Note("no pod is open".to_owned())],
    }),
    subject: |state, _| state.subjects.pod.clone().map(RowId::Pod),
    visit: |def, state, timeline| match state.subjects.pod {
        Some(_) => def.show_page(state, timeline),
        None => open_best(state, timeline),
    },
    ..page::new(Pane::POD, ("go-to-pod", "one pod: request, priority, constraints, history"))
};

/// Opens the pod of the selected row, the pod of the cycle, or the one selected in the queues.
pub fn open_best(state: &mut State, timeline: &Timeline) {
    let selected = if let Some(RowId::Pod(pod)) = state.selected_row() { Some(pod.clone()) } else { None };
    let cycle = || timeline.cycle().start.as_ref().map(|start| start.pod.clone());
    match selected.or_else(cycle).or_else(|| state.selected_pod().cloned()) {
        Some(pod) => {
            state.arrangement.pinned = Some(timeline.cursor().revision);
            state.open_pod(pod);
        }
        None => state.say("there is no pod to show"),
    }
}

/// Returns the rows for a pod.
fn rows(input: &PageInput<'_>, key: &Key, filter: &mut Filter) -> Vec<PageRow> {
    let cluster = &input.timeline.keyframe().cluster;
    let mut rows = PageRows::new(input.width, filter);
    match cluster.pods.get(key) {
        Some(pod) => {
            state(input, cluster, pod, &mut rows);
            requests::table(pod, input.width, &mut rows);
            priority(cluster, pod, &mut rows);
            constraints(cluster, pod, &mut rows);
            conditions(input, pod, &mut rows);
            budgets(cluster, pod, &mut rows);
        }
        None => rows.note("the pod does not exist at this point"),
    }
    history(input, key, &mut rows);
    rows.done()
}

fn state(input: &PageInput<'_>, cluster: &Cluster, pod: &Pod, rows: &mut PageRows<'_>) {
    let now = input.timeline.clock();
    let entry = input.timeline.queues().entries.get(&pod.key());
    let place = match entry.map(|e| (&e.place, e)) {
        Some((place, entry)) => {
            let part = QueuePart::of(place).map_or("nowhere", QueuePart::title);
            let more = match place {
                Place::Backoff { expires, .. } => format!(", {} left", text::until(now, *expires)),
                Place::WaitingOnPermit { node } => format!(", assumed on {node}"),
                _ if !entry.plugins.is_empty() => {
                    format!(", last rejected by {}", entry.plugins.iter().map(PluginName::as_str).collect::<Vec<_>>().join(", "))
                }
                _ => String::new(),
            };
            format!("{part}{more}")
        }
        None if !pod.node_name.is_empty() => format!("on {}", pod.node_name),
        None if pod.is_terminal() => "done".to_owned(),
        None => match PodLocation::of(cluster, input.timeline.queues(), &pod.key()) {
            PodLocation::Nowhere => "in no queue of this scheduler".to_owned(),
            other => other.to_string(),
        },
    };
    rows.fact("where it is", place, Role::Strong);
    rows.fact("when", When::of_place(input.timeline.keyframe(), pod).map_or_else(String::new, |when| when.text), Role::Text);
    rows.fact("phase", pod.status.phase.as_str(), Role::Text);
    if pod.is_terminating() {
        let grace = pod.spec.termination_grace_period_seconds.map_or_else(String::new, |s| format!(", grace period {s} s"));
        rows.fact("terminating", format!("it is being deleted{grace}"), Role::Warning);
    }
    let nominated = entry.map(|e| e.nominated.clone()).filter(|n| !n.is_empty()).unwrap_or_else(|| pod.status.nominated_node_name.clone());
    rows.fact("nominated to", nominated.as_str(), Role::Nominated);
    let read = |at| format!("{}, {} ago", text::moment(now, at), text::span(at, now));
    rows.fact("created", pod.metadata.creation_timestamp.map(read).unwrap_or_default(), Role::Text);
    rows.fact("started", pod.status.start_time.map(read).unwrap_or_default(), Role::Text);
    rows.fact("scheduler", pod.spec.scheduler_name.as_str(), Role::Text);
    let owners = pod.metadata.owner_references.iter().map(|o| {
        if o.controller != Some(true) {
            return format!("{} {} (not its controller)", o.kind, o.name);
        }
        match pod.owner() {
            Some(PodOwner { workload: (kind, name), through: Some(_) }) => format!("{kind} {name} (by {} {})", o.kind, o.name),
            _ => format!("{} {}", o.kind, o.name),
        }
    });
    let owners = owners.collect::<Vec<_>>().join(", ");
    rows.fact("owner", if owners.is_empty() { "none: it will not be recreated" } else { &owners }, Role::Text);
    rows.fact("labels", labels(pod.metadata.labels.iter()), Role::Text);
}

/// Adds the priority and its origin. Admission copies a class's value into the spec once; a later change of the class is
/// shown, but has no effect on the pod.
fn priority(cluster: &Cluster, pod: &Pod, rows: &mut PageRows<'_>) {
    rows.heading("priority");
    let spec = &pod.spec;
    let class = cluster.priority_classes.named(&spec.priority_class_name);
    let from = match (spec.priority, spec.priority_class_name.as_str(), class) {
        (None, "", _) => "the pod names none, which counts as 0".to_owned(),
        (None, name, _) => format!("no number was set although the pod names class {name}, which counts as 0"),
        (Some(_), "", _) => "spec.priority; no class is named".to_owned(),
        (Some(own), name, Some(class)) if class.value != own => format!("class {name}, whose value is now {}", class.value),
        (Some(_), name, Some(class)) if class.global_default == Some(true) => format!("class {name}, the default of the cluster"),
        (Some(_), name, Some(_)) => format!("class {name}"),
        (Some(_), name @ ("system-cluster-critical" | "system-node-critical"), None) => format!("class {name}, built in"),
        (Some(_), name, None) => format!("class {name}, which was not read"),
    };
    rows.fact("priority", format!("{} from {from}", pod.priority()), Role::Text);
    let policy = match spec.preemption_policy.as_deref() {
        Some("Never") => "Never: it waits and evicts no pod",
        _ => "PreemptLowerPriority: it may evict pods of lower priority",
    };
    rows.fact("preemptionPolicy", policy, Role::Text);
}

fn constraints(cluster: &Cluster, pod: &Pod, rows: &mut PageRows<'_>) {
    rows.heading("placement constraints");
    let spec = &pod.spec;
    let gates = spec.scheduling_gates.iter().map(|g| g.name.as_str()).collect::<Vec<_>>().join(", ");
    rows.fact("scheduling gates", gates, Role::Gated);
    rows.fact("nodeSelector", spec.node_selector.as_ref().map(|s| labels(s.iter())).unwrap_or_default(), Role::Text);
    if let Some(affinity) = &spec.affinity {
        self::affinity(affinity, rows);
    }
    for constraint in &spec.topology_spread_constraints {
        let pods = constraint.label_selector.as_ref().map_or_else(|| "no pods".to_owned(), selector);
        let domains = constraint.min_domains.map(|n| format!(", at least {n} domains")).unwrap_or_default();
        let words = format!(
            "{} by {}, skew at most {}{domains}, {}",
            pods, constraint.topology_key, constraint.max_skew, constraint.when_unsatisfiable
        );
        rows.fact("spread", words, Role::Text);
    }
    rows.fact("tolerations", spec.tolerations.iter().map(toleration).collect::<Vec<_>>().join("; "), Role::Text);
    let ports = spec.containers.iter().chain(&spec.init_containers).flat_map(|c| &c.ports);
    let ports = ports.filter_map(|p| {
        let port = p.host_port.filter(|port| *port > 0)?;
        let ip = if p.host_ip.is_empty() { String::new() } else { format!("{}:", p.host_ip) };
        Some(format!("{ip}{port}/{}", if p.protocol.is_empty() { "TCP" } else { p.protocol.as_str() }))
    });
    rows.fact("host ports", ports.collect::<Vec<_>>().join(", "), Role::Text);
    volumes(cluster, pod, rows);
    resource_claims(cluster, pod, rows);
}

fn volumes(cluster: &Cluster, pod: &Pod, rows: &mut PageRows<'_>) {
    let places = volume_places(cluster, pod);
    for volume in &pod.spec.volumes {
        let claim = match (&volume.persistent_volume_claim, &volume.ephemeral) {
            (Some(source), _) => source.claim_name.clone(),
            (None, Some(_)) => format!("{}-{}", pod.metadata.name, volume.name).into(),
            (None, None) => continue,
        };
        let found = cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, &claim);
        let (words, role) = match found {
            None => (format!("claim {claim}, which was not found"), Role::Warning),
            Some(found) => {
                let class = found.spec.storage_class_name.as_ref().filter(|c| !c.is_empty());
                let class = class.map(|c| format!(", class {c}")).unwrap_or_default();
                let bound = if found.spec.volume_name.is_empty() {
                    "not bound yet".to_owned()
                } else {
                    format!("bound to {}", found.spec.volume_name)
                };
                let place = places.iter().find(|place| place.claim == claim);
                let place = place.map(|place| format!(", for nodes with {}", place.place)).unwrap_or_default();
                (format!("claim {claim}: {bound}{class}{place}"), Role::Text)
            }
        };
        rows.fact("volume", words, role);
    }
    for conflict in places.iter().filter_map(VolumePlace::conflict_sentence) {
        rows.fact("contradiction", conflict, Role::Warning);
    }
}

fn resource_claims(cluster: &Cluster, pod: &Pod, rows: &mut PageRows<'_>) {
    for claim in &pod.spec.resource_claims {
        let status = pod.status.resource_claim_statuses.iter().find(|s| s.name == claim.name);
        let made = status.and_then(|s| s.resource_claim_name.clone());
        let (words, name) = match (&claim.resource_claim_name, &claim.resource_claim_template_name) {
            (Some(name), _) => (format!("{}: claim {name}", claim.name), Some(name.clone())),
            (None, Some(template)) => (format!("{}: from template {template}", claim.name), made),
            (None, None) => (claim.name.to_string(), made),
        };
        let found = name.and_then(|name| cluster.resource_claims.namespaced(&pod.metadata.namespace, &name));
        let more = if found.is_some() { "" } else { ", which was not found" };
        rows.fact("resource claim", format!("{words}{more}"), if found.is_some() { Role::Text } else { Role::Warning });
        for line in found.into_iter().flat_map(|claim| claim_lines(claim)) {
            rows.fact("", line, Role::Text);
        }
    }
}

/// Returns the devices of a claim, or its requests with their selectors.
fn claim_lines(claim: &ResourceClaim) -> Vec<String> {
    if let Some(allocation) = &claim.status.allocation {
        let device = |d: &DeviceRequestAllocationResult| format!("{}: has {}/{}/{}", d.request, d.driver, d.pool, d.device);
        return allocation.devices.results.iter().map(device).collect();
    }
    let mut lines = Vec::new();
    let mut line = |name: String, class: &Str, mode: &str, count: i64, selectors: &[DeviceSelector]| {
        let wanted = if mode == "All" { "all devices".to_owned() } else { text::count(usize::try_from(count).unwrap_or(0), "device") };
        let selectors = selectors.iter().filter_map(|s| s.cel.as_ref()).map(|cel| cel.expression.split_whitespace().collect::<Vec<_>>());
        let selectors: String = selectors.map(|words| format!(" where {}", words.join(" "))).collect();
        lines.push(format!("{name}: {wanted} of class {class}{selectors}"));
    };
    for request in &claim.spec.devices.requests {
        if let Some(e) = &request.exactly {
            line(request.name.to_string(), &e.device_class_name, &e.allocation_mode, e.count, &e.selectors);
        }
        for s in &request.first_available {
            line(format!("{}/{}", request.name, s.name), &s.device_class_name, &s.allocation_mode, s.count, &s.selectors);
        }
    }
    lines
}

fn affinity(affinity: &Affinity, rows: &mut PageRows<'_>) {
    if let Some(node) = &affinity.node_affinity {
        if let Some(required) = &node.required {
            let terms: Vec<String> = required.node_selector_terms.iter().map(term).collect();
            let words = if terms.is_empty() { "no term, so no node".to_owned() } else { terms.join(" or ") };
            rows.fact("node affinity", words, Role::Text);
        }
        for preferred in node.preferred.iter().flatten() {
            rows.fact("prefers nodes", format!("{} (weight {})", term(&preferred.preference), preferred.weight), Role::Text);
        }
    }
    for (set, must, likes) in
        [(&affinity.pod_affinity, "pod affinity", "prefers pods"), (&affinity.pod_anti_affinity, "pod anti-affinity", "avoids pods")]
    {
        let Some(set) = set else { continue };
        for one in &set.required {
            rows.fact(must, pod_term(one), Role::Text);
        }
        for one in &set.preferred {
            rows.fact(likes, format!("{} (weight {})", pod_term(&one.pod_affinity_term), one.weight), Role::Text);
        }
    }
}

fn requirement(r: &Requirement) -> String {
    let values = r.values.iter().map(Str::as_str).collect::<Vec<_>>().join(", ");
    match r.operator.as_str() {
        "Exists" => format!("{} exists", r.key),
        "DoesNotExist" => format!("{} does not exist", r.key),
        "Gt" => format!("{} > {values}", r.key),
        "Lt" => format!("{} < {values}", r.key),
        "In" if r.values.len() == 1 => format!("{}={values}", r.key),
        "In" => format!("{} in ({values})", r.key),
        "NotIn" => format!("{} not in ({values})", r.key),
        other => format!("{} {other} ({values})", r.key),
    }
}

fn term(term: &NodeSelectorTerm) -> String {
    let parts: Vec<String> = term.match_expressions.iter().chain(&term.match_fields).map(requirement).collect();
    if parts.is_empty() { "nothing, so no node".to_owned() } else { parts.join(" and ") }
}

/// Formats a label selector.
pub(super) fn selector(selector: &LabelSelector) -> String {
    let labels = selector.match_labels.iter().map(|(k, v)| format!("{k}={v}"));
    let parts: Vec<String> = labels.chain(selector.match_expressions.iter().map(requirement)).collect();
    if parts.is_empty() { "all pods".to_owned() } else { parts.join(", ") }
}

fn pod_term(term: &PodAffinityTerm) -> String {
    let pods = term.label_selector.as_ref().map_or_else(|| "no pods".to_owned(), selector);
    let names: Vec<&str> = term.namespaces.iter().map(Str::as_str).collect();
    let place = match (&names[..], &term.namespace_selector) {
        ([], None) => String::new(),
        ([], Some(s)) if s.is_empty() => " of all namespaces".to_owned(),
        ([], Some(s)) => format!(" of namespaces with {}", selector(s)),
        (names, _) => format!(" of {}", names.join(", ")),
    };
    format!("{pods}{place} by {}", term.topology_key)
}

fn toleration(t: &Toleration) -> String {
    let effect = if t.effect.is_empty() { String::new() } else { format!(":{}", t.effect) };
    match (t.key.as_str(), t.operator.as_str()) {
        ("", _) => format!("every taint{effect}"),
        (key, "Exists") => format!("{key}{effect}"),
        (key, "" | "Equal") => format!("{key}={}{effect}", t.value),
        (key, operator) => format!("{key} {operator} {}{effect}", t.value),
    }
}

fn conditions(input: &PageInput<'_>, pod: &Pod, rows: &mut PageRows<'_>) {
    rows.heading("conditions");
    for condition in &pod.status.conditions {
        let at =
            condition.last_transition_time.map(|at| format!(" since {}", text::moment(input.timeline.clock(), at))).unwrap_or_default();
        let why = [condition.reason.as_str(), condition.message.as_str()];
        let why = why.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(": ");
        let gap = if why.is_empty() { "" } else { ": " };
        rows.fact("condition", format!("{}={}{at}{gap}{why}", condition.kind, condition.status), Role::Text);
    }
}

/// Returns the budgets that cover a pod, by name. A pod without labels has none.
pub fn covering<'a>(cluster: &'a Cluster, pod: &'a Pod) -> impl Iterator<Item = &'a Arc<PodDisruptionBudget>> {
    let budgets = cluster.pod_disruption_budgets.in_namespace(&pod.metadata.namespace);
    budgets.filter(|budget| budget.covers(pod))
}

fn budgets(cluster: &Cluster, pod: &Pod, rows: &mut PageRows<'_>) {
    let columns: Arc<[Column]> = [left("BUDGET", Width::Rest), right("ALLOWED", Width::Fixed(7))].into();
    rows.heading("budgets that cover it");
    let all: Vec<_> = covering(cluster, pod).collect();
    if all.is_empty() {
        let unknown = || format!("unknown: {}", budgets_unknown_because(cluster.unknown));
        rows.note(if cluster.unknown.budgets { unknown() } else { "none".to_owned() });
    }
    for budget in all {
        let allowed = budget.status.disruptions_allowed;
        let (sign, role) = if allowed > 0 { (Sign::Stays, Role::Fits) } else { (Sign::Failed, Role::Violation) };
        let cells = vec![signed(sign, budget.metadata.name.as_str(), role), cell(allowed.to_string(), role)];
        rows.cells(RowId::Budget(budget.metadata.key()), &columns, cells);
    }
}

/// Adds the recorded history up to the cursor, newest last: attempts with their outcomes, moves, evictions.
fn history(input: &PageInput<'_>, key: &Key, rows: &mut PageRows<'_>) {
    let columns: Arc<[Column]> =
        [right("CYCLE", Width::Fixed(5)), left("TIME", Width::Fixed(8)), left("WHAT HAPPENED", Width::Rest)].into();
    rows.heading("history");
    rows.titles(&columns);
    let here = input.timeline.cursor().revision;
    let mut any = false;
    for (at, revision) in input.timeline.revisions().iter().enumerate().take(here + 1) {
        let Some((words, role)) = part(revision, key) else { continue };
        any = true;
        let mark = if at == here { Sign::Here } else { Sign::None };
        let cells = vec![
            signed(mark, (at + 1).to_string(), Role::Muted),
            cell(text::time_of_day(revision.before.clock), Role::Muted),
            cell(words, role),
        ];
        rows.cells(RowId::Revision(at), &columns, cells);
    }
    let evicted = input.timeline.keyframe().cluster.pods.get(key).and_then(|pod| preempted(pod));
    if let Some(condition) = evicted {
        let at = condition.last_transition_time.map_or_else(String::new, |at| format!(" at {}", text::moment(input.timeline.clock(), at)));
        rows.note(format!("preempted by the cluster's scheduler{at}; :evicted says for whom"));
    } else if !any {
        rows.note("nothing is recorded about it yet");
    }
}

/// Returns the condition that the scheduler preempted a pod.
fn preempted(pod: &Pod) -> Option<&Condition> {
    let is_preempted = |condition: &&Condition| condition.status == "True" && condition.reason == "PreemptionByScheduler";
    pod.condition("DisruptionTarget").filter(is_preempted)
}

/// Returns whether a revision may be about the pod. Cheap, as a record may have many revisions with many events.
fn concerned(revision: &Revision, key: &Key) -> bool {
    let object = |m: &Keyframe| m.cluster.pods.get(key).map(Arc::as_ptr);
    let entry = |m: &Keyframe| m.queues.entries.get(key).map(Arc::as_ptr);
    let (before, after) = (&revision.before, &revision.after);
    revision.is_logged()
        || object(before) != object(after)
        || entry(before) != entry(after)
        || revision.events.others_before(4).iter().any(|e| e.is_about(key))
}

/// Returns the pod's part in a revision; `None` if it has none.
fn part(revision: &Revision, key: &Key) -> Option<(String, Role)> {
    if !concerned(revision, key) {
        return None;
    }
    let about: Vec<&Event> = revision.events.others().iter().filter(|e| e.is_about(key)).collect();
    if revision.is_logged() {
        return logged(&about, key);
    }
    let finished = about.iter().find_map(|e| if let Event::CycleFinished { outcome, .. } = e { Some(*outcome) } else { None });
    if let Some(outcome) = finished {
        let role = match outcome {
            Outcome::Scheduled => Role::Fits,
            Outcome::Unschedulable => Role::Unresolvable,
            Outcome::Gated => Role::Gated,
            Outcome::Error => Role::Failed,
        };
        let asked = if revision.is_dry_decision() { "dry decision: " } else { "" };
        return Some((format!("{asked}{}", why(&revision.events.cycle_view_of(key))), role));
    }
    about.iter().rev().find_map(|e| match e {
        Event::VictimEvicted { preemptor, node, .. } => Some((format!("evicted from {node} for {preemptor}"), Role::Victim)),
        Event::GracePeriodEnded { node, .. } => Some((format!("gone from {node}: its grace period ended"), Role::Victim)),
        Event::PodBound { node, .. } => Some((format!("bound to {node}"), Role::Fits)),
        Event::NominationCleared { node, .. } => Some((format!("lost its nomination to {node}"), Role::Warning)),
        Event::QueueMoved(m) => {
            let to = QueuePart::of(&m.to).map_or("out of the queue", QueuePart::title);
            Some((format!("to {to}: {}", revision.title), Role::Text))
        }
        _ => None,
    })
}

/// Returns a pod's part in a revision that is from the scheduler's log.
fn logged(about: &[&Event], key: &Key) -> Option<(String, Role)> {
    let of_log = |event: &&Event| if let Event::Logged(logged) = event { (!logged.is_ours).then(|| Arc::clone(logged)) } else { None };
    let name = key.to_string();
    let moves: Vec<String> = about
        .iter()
        .filter_map(of_log)
        .map(|logged| logged.words.strip_prefix(&name).unwrap_or(&logged.words).trim_start().to_owned())
        .collect();
    (!moves.is_empty()).then(|| (format!("from the log: {}", moves.join("; then ")), Role::Text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_terms_and_tolerations_read_as_people_write_them() {
        let parsed: LabelSelector =
            serde_json::from_str(r#"{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"tier","operator":"In","values":["a","b"]},{"key":"x","operator":"Exists"}]}"#)
                .unwrap();
        assert_eq!(selector(&parsed), "app=web, tier in (a, b), x exists");
        assert_eq!(selector(&LabelSelector::default()), "all pods");
        let one: NodeSelectorTerm = serde_json::from_str(
            r#"{"matchExpressions":[{"key":"cpus","operator":"Gt","values":["4"]}],"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}"#,
        )
        .unwrap();
        assert_eq!(term(&one), "cpus > 4 and metadata.name=n1");
        assert_eq!(term(&NodeSelectorTerm::default()), "nothing, so no node");
        let check = |json: &str, expected: &str| {
            let parsed: Toleration = serde_json::from_str(json).unwrap();
            assert_eq!(toleration(&parsed), expected);
        };
        check(r#"{"operator":"Exists"}"#, "every taint");
        check(r#"{"key":"dedicated","value":"infra","effect":"NoSchedule"}"#, "dedicated=infra:NoSchedule");
        check(r#"{"key":"gpu","operator":"Exists"}"#, "gpu");
        check(r#"{"key":"level","operator":"Gt","value":"3"}"#, "level Gt 3");
    }
}
