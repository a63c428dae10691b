//! Fixes as commands that an API server accepts.
//!
//! The spec of an existing pod allows only added tolerations and removed scheduling gates (`ValidatePodUpdate` in
//! `pkg/apis/core/validation/validation.go`). Every other change goes to the template of the pod's owner, or replaces the
//! pod. A Job's template is immutable, so the Job is replaced.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::owner::{self, NoCommand, Owner, Way};
use super::patches::{Targets, difference, manifest};
use crate::cluster::neighbors::TemplateSpec;
use crate::cluster::storage::{PersistentVolumeClaim, StorageClass};
use crate::cluster::{Cluster, Controller, Key, Kind, Object, Pod, Str, Taint};
use crate::controllers::Workload;
use crate::fixes::{Change, ClaimChange, NodeChange, PodChange, RequestPlace, provisions, toleration};

/// Commands of a fix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Commands {
    /// The commands, one a line; `None` if kubectl cannot make the changes, for example a new node.
    pub(super) lines: Option<String>,
    /// Why no command brings the change of the pod about.
    pub(super) why_none: Option<NoCommand>,
    /// The owner whose template was not read, so that the pod's spec is taken for it.
    pub(super) assumed: Option<Workload>,
}

/// Returns the commands for a list of changes. A pod that `evicts` others evicts none that are gone by then.
pub(super) fn commands(targets: &Targets<'_>, changes: &[Change], evicts: &[Key]) -> Commands {
    let mut commands = Commands::default();
    match lines(targets, changes, evicts, &mut commands.assumed) {
        Ok(lines) => commands.lines = Some(lines),
        Err(why) => (commands.why_none, commands.assumed) = (why, None),
    }
    commands
}

/// Returns the commands, one a line; an error if there are none, with the reason where it lies with the pod's owner.
fn lines(targets: &Targets<'_>, changes: &[Change], evicts: &[Key], assumed: &mut Option<Workload>) -> Result<String, Option<NoCommand>> {
    let mut lines = Vec::new();
    let of_pod: Vec<&PodChange> = changes.iter().filter_map(|c| if let Change::Pod(change) = c { Some(change) } else { None }).collect();
    if !of_pod.is_empty() {
        let pod = targets.cluster.pods.get(targets.pod).ok_or(None)?;
        let made = pod_commands(targets, pod, &of_pod, evicts)?;
        lines.extend(made.lines);
        *assumed = made.assumed;
    }
    if let [Change::RollOut { deployment, .. }] = changes {
        owner::check_rollout(targets, deployment)?;
    }
    lines.extend(other_commands(targets, changes).ok_or(None)?);
    if lines.is_empty() { Err(None) } else { Ok(lines.join("\n")) }
}

/// Returns the commands for changes of other objects than the pod; `None` if kubectl cannot make them.
fn other_commands(targets: &Targets<'_>, changes: &[Change]) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    // Controllers do what follows from a change.
    for change in changes.iter().filter(|change| !change.follows() || changes.len() == 1) {
        match change {
            Change::Pod(_) => {}
            Change::Node(node, NodeChange::Uncordon) => lines.push(format!("kubectl uncordon {}", name(node)?)),
            // Its controller puts it back.
            Change::Node(_, NodeChange::RemoveTaint(taint)) if taint.condition().is_some() => return None,
            Change::Node(node, NodeChange::RemoveTaint(taint)) => {
                lines.push(format!("kubectl taint nodes {} {}", name(node)?, quoted(&format!("{}-", taint_argument(taint)?))));
            }
            // A claim that is created waits for the volume, which needs storage.
            Change::Create { object: Object::PersistentVolume(_), .. } if creates_claim(changes) => {}
            // A node needs a machine, and a volume needs storage.
            Change::Create { like: Some(_), .. } | Change::Create { object: Object::PersistentVolume(_), .. } => return None,
            Change::Create { object: Object::PersistentVolumeClaim(claim), .. } => {
                let object = Object::PersistentVolumeClaim(Arc::new(unbound(targets.cluster, claim)));
                lines.push(format!("printf '%s' {} | kubectl create -f -", quoted(&ascii(&manifest(&object)))));
            }
            Change::Create { object: Object::StorageClass(class), .. } => {
                lines.push(format!("printf '%s' {} | kubectl create -f -", quoted(&ascii(&class_like_others(targets, class)?))));
            }
            Change::Create { object, .. } => {
                lines.push(format!("printf '%s' {} | kubectl create -f -", quoted(&ascii(&manifest(object)))));
            }
            Change::Claim(key, change) => lines.push(claim_command(targets, key, change)?),
            // The volume controller binds a claim; kubectl does not.
            Change::Bind { .. } => return None,
            Change::RollOut { deployment, unavailable, .. } => {
                let patch = ascii(&json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": unavailable}}}}));
                let (own, namespace) = (name(&deployment.name)?, in_namespace(deployment)?);
                lines.push(format!("kubectl patch deployment {own}{namespace} -p {}", quoted(&patch)));
            }
            Change::Delete(kind, key) => {
                lines.push(format!("kubectl delete {} {}{}", kind.to_string().to_lowercase(), name(&key.name)?, in_namespace(key)?));
            }
        }
    }
    Some(lines)
}

/// Returns whether the changes create a claim, which a volume among them is for.
pub(super) fn creates_claim(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Create { object: Object::PersistentVolumeClaim(_), .. }))
}

/// Returns a claim as a user writes it. One that was bound to an invented volume names the only class that provisions, if there is
/// one, or else none, so that the default class applies.
fn unbound(cluster: &Cluster, claim: &PersistentVolumeClaim) -> PersistentVolumeClaim {
    let mut new = claim.clone();
    if !new.spec.volume_name.is_empty() {
        new.spec.volume_name = Str::default();
        (new.metadata.annotations, new.status) = Default::default();
        let mut classes = cluster.storage_classes.iter().filter(|class| provisions(&class.provisioner));
        new.spec.storage_class_name = match (classes.next(), classes.next()) {
            (Some(only), None) => Some(only.metadata.name.clone()),
            _ => None,
        };
    }
    new
}

/// Fields of a StorageClass that scheduling does not read.
const CLASS_FIELDS: [&str; 4] = ["allowVolumeExpansion", "mountOptions", "parameters", "reclaimPolicy"];

/// Returns a new StorageClass as JSON, with the other fields of the classes of its provisioner; `None` if they differ or are not known.
fn class_like_others(targets: &Targets<'_>, class: &StorageClass) -> Option<Value> {
    let mut found: Option<Map<String, Value>> = None;
    for like in targets.cluster.storage_classes.iter().filter(|like| like.provisioner == class.provisioner) {
        let original = targets.original(Kind::StorageClass, &like.metadata.key())?;
        let fields = CLASS_FIELDS.into_iter().filter_map(|field| Some((field.to_owned(), original.get(field)?.clone())));
        let fields: Map<String, Value> = fields.collect();
        if found.as_ref().is_some_and(|known| *known != fields) {
            return None;
        }
        found = Some(fields);
    }
    let mut new = manifest(&Object::StorageClass(Arc::new(class.clone())));
    if let Some(new) = new.as_object_mut() {
        new.extend(found?);
        new.retain(|_, field| *field != json!([]));
    }
    Some(new)
}

/// The commands for a pod's changes.
struct PodCommands {
    lines: Vec<String>,
    assumed: Option<Workload>,
}

fn pod_commands(targets: &Targets<'_>, pod: &Pod, changes: &[&PodChange], evicts: &[Key]) -> Result<PodCommands, Option<NoCommand>> {
    let key = pod.key();
    let (pod_name, namespace) = (name(&key.name).ok_or(None)?, in_namespace(&key).ok_or(None)?);
    let mut lines = Vec::new();
    if changes.iter().all(|change| is_allowed(pod, change)) {
        let patch = pod_patch(pod, changes);
        lines.push(format!("kubectl patch pod {pod_name}{namespace} --type=json -p {}", quoted(&ascii(&patch))));
        return Ok(PodCommands { lines, assumed: None });
    }
    if changes.iter().any(|change| matches!(change, PodChange::DropHostPorts(_))) && pod.spec.host_network == Some(true) {
        return Err(Some(NoCommand::HostNetwork));
    }
    if let Some(class) = new_class(targets.cluster, pod, changes) {
        let about = format!("--description 'above the pods that {pod_name} may evict'");
        lines.push(format!("kubectl create priorityclass {} --value={} {about}", class.name, class.value));
    }
    let Some(owner) = Owner::of(targets, pod)? else {
        let spec = template_patch(targets, pod, changes, None).ok_or(None)?;
        let patch = ascii(&json!({"spec": of_written_pod(targets.cluster, pod, spec)}));
        lines.push(again("pod", pod_name, &namespace, &patch));
        return Ok(PodCommands { lines, assumed: None });
    };
    if owner.resource == "daemonset" && changes.iter().any(|c| c.field() == "affinity.nodeAffinity") {
        // The DaemonSet controller writes the node into the affinity of each pod.
        return Err(None);
    }
    owner.check(targets, pod, changes)?;
    let spec = template_patch(targets, pod, changes, owner.template).ok_or(None)?;
    let template = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    let (resource, own) = (owner.resource, name(&owner.workload.key.name).ok_or(None)?);
    match &owner.way {
        Way::Template | Way::TemplateThenDelete => {
            lines.push(format!("kubectl patch {resource} {own}{namespace} -p {}", quoted(&ascii(&template(spec)))));
            // A StatefulSet's controller waits for the old pod; the others keep existing pods.
            if owner.way == Way::TemplateThenDelete {
                lines.push(format!("kubectl delete pod {pod_name}{namespace}"));
            }
        }
        Way::Job { manual_selector, cron } => {
            let is_own = |pod: &Key| {
                targets.cluster.pods.get(pod).and_then(|pod| Workload::of(targets.cluster, pod)).as_ref() == Some(&owner.workload)
            };
            if evicts.iter().any(is_own) {
                return Err(Some(NoCommand::EvictsOwn(owner.workload)));
            }
            let mut patch = template(spec);
            if !manual_selector {
                // Remove the fields that the API server sets itself: it rejects them in a new Job.
                patch["spec"]["selector"] = Value::Null;
                let labels = json!({"controller-uid": null, "batch.kubernetes.io/controller-uid": null});
                patch["spec"]["template"]["metadata"] = json!({"labels": labels});
                patch["metadata"] = json!({"labels": labels});
            }
            lines.push(again("job", own, &namespace, &ascii(&patch)));
            let next = cron.as_ref().filter(|cron| owner.with_template(cron.template).check(targets, pod, changes).is_ok());
            if let Some(cron) = next {
                let spec = template_patch(targets, pod, changes, cron.template.or(owner.template)).ok_or(None)?;
                let patch = json!({"spec": {"jobTemplate": template(spec)}});
                lines.push(format!("kubectl patch cronjob {}{namespace} -p {}", name(&cron.name).ok_or(None)?, quoted(&ascii(&patch))));
            }
        }
    }
    let assumed = owner.template.is_none().then_some(owner.workload);
    Ok(PodCommands { lines, assumed })
}

/// Returns whether an existing pod may be changed so, to last. The DaemonSet controller deletes a pod on a node with a taint of effect
/// `NoExecute` that its template does not tolerate (`nodeShouldRunDaemonPod` in `pkg/controller/daemon/daemon_controller.go`).
fn is_allowed(pod: &Pod, change: &PodChange) -> bool {
    match change {
        PodChange::Tolerate(taint) => taint.effect != "NoExecute" || Controller::of(pod) != Controller::DaemonSet,
        PodChange::RemoveGates(_) => true,
        _ => false,
    }
}

/// Returns the command that changes a ResourceClaim. Its spec is immutable, so that it is replaced; only its controller
/// deallocates it.
fn claim_command(targets: &Targets<'_>, key: &Key, change: &ClaimChange) -> Option<String> {
    if *change == ClaimChange::Free {
        return None;
    }
    let before = targets.written(Kind::ResourceClaim, key)?;
    let mut after = Value::clone(&before);
    Change::Claim(key.clone(), change.clone()).edit(&mut after);
    let patch = difference(&before, &after)?;
    Some(again("resourceclaim", name(&key.name)?, &in_namespace(key)?, &ascii(&patch)))
}

/// Returns the command that deletes an object and creates it again with a strategic merge patch.
fn again(kind: &str, name: &str, namespace: &str, patch: &str) -> String {
    format!(
        "kubectl get {kind} {name}{namespace} -o yaml | kubectl patch --local -f - -p {} -o yaml | kubectl replace --force -f -",
        quoted(patch)
    )
}

/// Returns the JSON patch (RFC 6902) that adds tolerations and removes gates of an existing pod.
fn pod_patch(pod: &Pod, changes: &[&PodChange]) -> Value {
    let mut patch = Vec::new();
    let mut listed = !pod.spec.tolerations.is_empty();
    for change in changes {
        match change {
            PodChange::Tolerate(taint) if listed => {
                patch.push(json!({"op": "add", "path": "/spec/tolerations/-", "value": toleration(taint)}));
            }
            PodChange::Tolerate(taint) => {
                patch.push(json!({"op": "add", "path": "/spec/tolerations", "value": [toleration(taint)]}));
                listed = true;
            }
            _ => patch.push(json!({"op": "remove", "path": "/spec/schedulingGates"})),
        }
    }
    Value::Array(patch)
}

/// Tolerations that the API server adds to every pod (`plugin/pkg/admission/defaulttolerationseconds`), for as many seconds by default.
const DEFAULT_TOLERATIONS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const DEFAULT_SECONDS: i64 = 300;

/// Returns whether a pod's toleration is one of its template; without a template, whether it is not one of the API server's. The seconds
/// are not known of a pod that `is_original` is false of.
fn is_of_template(toleration: &Value, template: Option<&TemplateSpec>, is_original: bool) -> bool {
    let is_default = || {
        DEFAULT_TOLERATIONS.iter().any(|key| toleration["key"] == *key)
            && toleration["effect"] == "NoExecute"
            && (!is_original || toleration["tolerationSeconds"] == DEFAULT_SECONDS)
    };
    match template {
        Some(template) => serde_json::from_value(toleration.clone()).is_ok_and(|own| template.tolerations.contains(&own)),
        None => !is_default(),
    }
}

/// Returns the strategic merge patch of a template's spec; of a bare pod's without a template, or of one that was not read.
fn template_patch(targets: &Targets<'_>, pod: &Pod, changes: &[&PodChange], template: Option<&TemplateSpec>) -> Option<Value> {
    let mut before = Value::clone(&*targets.written(Kind::Pod, targets.pod)?);
    owner::unmerge(&mut before);
    let mut after = before.clone();
    for change in changes {
        change.edit(&mut after);
    }
    let mut patch = Map::new();
    for change in changes {
        match change {
            PodChange::DropSelector { .. } | PodChange::SetSelector { .. } | PodChange::RenameSelector { .. } => {
                patch.insert("nodeSelector".to_owned(), difference(&before["spec"]["nodeSelector"], &after["spec"]["nodeSelector"])?);
            }
            PodChange::DropRequirement { .. }
            | PodChange::AddValue { .. }
            | PodChange::DropNodeAffinity
            | PodChange::DropPodTerm { .. } => {
                patch.insert("affinity".to_owned(), difference(&before["spec"]["affinity"], &after["spec"]["affinity"])?);
            }
            PodChange::DropSpread { .. } | PodChange::MaxSkew { .. } => {
                let mut list = after["spec"]["topologySpreadConstraints"].as_array().cloned().unwrap_or_default();
                // Without the directive, lists are merged by topologyKey.
                list.push(json!({"$patch": "replace"}));
                patch.insert("topologySpreadConstraints".to_owned(), Value::Array(list));
            }
            PodChange::Tolerate(_) => {
                let list = after["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
                let added = changes.iter().filter(|change| matches!(change, PodChange::Tolerate(_))).count();
                let (known, new) = list.split_at(list.len().saturating_sub(added));
                let is_original = targets.is_original(Kind::Pod, targets.pod);
                let kept: Vec<&Value> = known.iter().filter(|one| is_of_template(one, template, is_original)).collect();
                if !is_original && kept.iter().any(|one| one["effect"] == "NoExecute") {
                    return None;
                }
                patch.insert("tolerations".to_owned(), kept.into_iter().chain(new).cloned().collect());
            }
            PodChange::RemoveGates(_) => {
                patch.insert("schedulingGates".to_owned(), Value::Null);
            }
            PodChange::Lower(lowered) => {
                for part in &lowered.parts {
                    let mut resources = json!({"requests": {lowered.resource.as_str(): part.to}});
                    if part.with_limit || part.to.is_none() {
                        resources["limits"] = json!({lowered.resource.as_str(): part.to});
                    }
                    match &part.place {
                        RequestPlace::Container(_, name) => merge_container(&mut patch, "containers", name, "resources", resources),
                        RequestPlace::InitContainer(_, name) => merge_container(&mut patch, "initContainers", name, "resources", resources),
                        RequestPlace::Pod => drop(patch.insert("resources".to_owned(), resources)),
                    }
                }
            }
            PodChange::DropHostPorts(_) => ports(&before, &after, &mut patch)?,
            PodChange::Priority { .. } | PodChange::Preempt => {
                let new = new_class(targets.cluster, pod, changes).map(|class| class.name);
                let known = if let PodChange::Priority { class: Some(class), .. } = change { Some(class.to_string()) } else { None };
                patch.insert("priorityClassName".to_owned(), json!(known.or(new)?));
                // The API server refuses values that differ from those of the class.
                if template.is_some_and(|template| template.priority.is_some()) {
                    patch.insert("priority".to_owned(), Value::Null);
                }
                if template.is_some_and(|template| !template.preemption_policy.is_empty()) {
                    patch.insert("preemptionPolicy".to_owned(), Value::Null);
                }
            }
            PodChange::SchedulerName { to, .. } => {
                patch.insert("schedulerName".to_owned(), json!(to));
            }
            PodChange::DropVolume(_) | PodChange::DropClaim(_) => return None,
        }
    }
    Some(Value::Object(patch))
}

/// Clears the fields that the API server has derived from the old class of an existing pod, or from its class as it was.
fn of_written_pod(cluster: &Cluster, pod: &Pod, mut spec: Value) -> Value {
    let never = |policy: &Option<Str>| policy.as_deref() == Some("Never");
    let class = cluster.priority_classes.named(&pod.spec.priority_class_name);
    let has_changed =
        class.is_some_and(|class| pod.priority() != class.value || never(&pod.spec.preemption_policy) != never(&class.preemption_policy));
    if has_changed || spec.get("priorityClassName").is_some() {
        spec["priority"] = Value::Null;
        spec["preemptionPolicy"] = Value::Null;
    }
    spec
}

/// Merges a field of a container into a patch. Strategic merge identifies containers by name.
fn merge_container(patch: &mut Map<String, Value>, kind: &str, name: &str, field: &str, value: Value) {
    let list = patch.entry(kind).or_insert_with(|| json!([]));
    let Some(list) = list.as_array_mut() else { return };
    let at = list.iter().position(|c| c["name"] == name).unwrap_or_else(|| {
        list.push(json!({"name": name}));
        list.len() - 1
    });
    merge(&mut list[at][field], value);
}

/// Puts the fields of a value over those of another.
pub(in crate::analysis) fn merge(target: &mut Value, value: Value) {
    match (target, value) {
        (Value::Object(target), Value::Object(value)) => {
            for (name, value) in value {
                merge(target.entry(name).or_insert(Value::Null), value);
            }
        }
        (target, value) => *target = value,
    }
}

/// Removes host ports. Strategic merge identifies ports by `containerPort`; `None` if one lacks it.
fn ports(before: &Value, after: &Value, patch: &mut Map<String, Value>) -> Option<()> {
    for kind in ["containers", "initContainers"] {
        let of = |pod: &Value| pod["spec"][kind].as_array().cloned().unwrap_or_default();
        for (old, new) in of(before).into_iter().zip(of(after)) {
            let (Some(old), Some(new), Some(name)) = (old["ports"].as_array(), new["ports"].as_array(), old["name"].as_str()) else {
                continue;
            };
            if old == new {
                continue;
            }
            // Replace the whole list: two ports may share a containerPort.
            let mut list = new.clone();
            if list.iter().any(|port| !port["containerPort"].is_number()) {
                return None;
            }
            list.push(json!({"$patch": "replace"}));
            merge_container(patch, kind, name, "ports", Value::Array(list));
        }
    }
    Some(())
}

/// A PriorityClass to create.
struct NewClass {
    name: String,
    value: i32,
}

/// Returns the PriorityClass that changes need and the cluster lacks.
fn new_class(cluster: &Cluster, pod: &Pod, changes: &[&PodChange]) -> Option<NewClass> {
    let value = changes.iter().find_map(|change| match change {
        PodChange::Priority { to, class: None, .. } => Some(*to),
        PodChange::Preempt => Some(pod.priority()),
        _ => None,
    })?;
    let sign = if value < 0 { "minus-" } else { "" };
    let name = |n: usize| {
        if n == 0 { format!("priority-{sign}{}", value.unsigned_abs()) } else { format!("priority-{sign}{}-{n}", value.unsigned_abs()) }
    };
    let free = (0..=cluster.priority_classes.len()).map(name).find(|n| cluster.priority_classes.named(&Str::from(n.as_str())).is_none())?;
    Some(NewClass { name: free, value })
}

/// Returns a name as an argument; `None` if it is not a valid object name, which kubectl might read as a flag.
fn name(text: &str) -> Option<&str> {
    let valid = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
    let starts = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    (starts && text.len() <= 253 && text.bytes().all(valid)).then_some(text)
}

fn in_namespace(key: &Key) -> Option<String> {
    if key.namespace.is_empty() { Some(String::new()) } else { Some(format!(" -n {}", name(&key.namespace)?)) }
}

/// Returns a taint in kubectl's syntax.
fn taint_argument(taint: &Taint) -> Option<String> {
    let Taint { key, value, effect } = taint;
    let starts = key.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    let value = if value.is_empty() { String::new() } else { format!("={value}") };
    starts.then(|| format!("{key}{value}:{effect}"))
}

/// Writes JSON in ASCII, so that no character can control a terminal.
fn ascii(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii_graphic() || c == ' ' {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// Returns words as a command line of a POSIX shell.
pub(in crate::analysis) fn shell_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Quotes a text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&b);
    if !text.is_empty() && text.bytes().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests;
