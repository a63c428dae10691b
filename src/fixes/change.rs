//! Changes of objects. Each edits JSON, so that it applies to the model's objects and to their originals, which have
//! more fields.

use serde_json::{Map, Value, json};

use crate::cluster::{Key, Kind, Object, Requirement, Str, Taint};
use crate::plugins::volume_helpers::ANN_BIND_COMPLETED;

/// The taint that the node controller puts on a cordoned node.
pub const UNSCHEDULABLE_TAINT: &str = "node.kubernetes.io/unschedulable";

/// A change of one object.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Edits the pod to schedule.
    Pod(PodChange),
    /// Edits a node.
    Node(Str, NodeChange),
    /// Creates an object.
    Create {
        object: Object,
        /// Node that was copied, where the object is part of another node like it.
        like: Option<Str>,
    },
    /// Deletes an object.
    Delete(Kind, Key),
    /// Takes a pod of an older revision away before the new one comes, as a Deployment does with `maxSurge: 0`.
    RollOut {
        deployment: Key,
        /// Key of an old pod that it may take.
        pod: Key,
        /// `maxUnavailable` with which it does.
        unavailable: i64,
        /// The number of old pods of which it takes that or another.
        of: usize,
    },
    /// Edits a ResourceClaim.
    Claim(Key, ClaimChange),
    /// Binds a PersistentVolumeClaim to a volume, as the volume controller does.
    Bind {
        claim: Key,
        /// Name of the volume.
        volume: Str,
    },
}

/// An edit of a ResourceClaim.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimChange {
    /// Removes a selector of a request.
    DropSelector {
        request: RequestPath,
        /// Index of the selector.
        index: usize,
        expression: Str,
    },
    /// Removes all selectors of a request, which has several.
    DropSelectors { request: RequestPath },
    /// Lowers the number of devices of a request.
    LowerCount {
        request: RequestPath,
        /// The old number.
        from: i64,
        /// The new number.
        to: i64,
    },
    /// Replaces the class of a request.
    SetClass {
        request: RequestPath,
        /// The old class.
        from: Str,
        /// The new class, which exists.
        to: Str,
        /// Whether both names are one edit apart.
        typo: bool,
    },
    /// Adds a toleration of a device taint to a request.
    Tolerate { request: RequestPath, taint: Taint },
    /// Removes a constraint between the devices of the claim.
    DropConstraint {
        /// Index of the constraint.
        index: usize,
        /// The attribute that it compares.
        attribute: Str,
    },
    /// Removes the allocation, as the claim controller does once no pod uses the claim.
    Free,
}

/// Position of a request in a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    /// Index of the request.
    pub request: usize,
    /// Index in its list of alternatives; `None` for a request without one.
    pub alternative: Option<usize>,
    /// Name of the request, or of request and alternative.
    pub name: Str,
}

/// An edit of the pod to schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum PodChange {
    /// Removes a key of `nodeSelector`.
    DropSelector {
        /// The label key.
        key: Str,
        value: Str,
    },
    /// Replaces the value of a key of `nodeSelector`.
    SetSelector {
        /// The label key.
        key: Str,
        /// The old value.
        from: Str,
        /// The new value, which nodes have.
        to: Str,
        /// Whether both values are one edit apart.
        typo: bool,
    },
    /// Replaces a key of `nodeSelector` that is one edit apart from a key of nodes with the same value.
    RenameSelector {
        /// The old key.
        from: Str,
        /// The new key, which nodes have.
        to: Str,
        /// The value, unchanged.
        value: Str,
    },
    /// Removes a requirement from a term of the required node affinity. If that empties the term, removes the whole
    /// required node affinity, because an empty term matches no node.
    DropRequirement {
        /// Position of the requirement.
        place: RequirementPlace,
        requirement: Requirement,
    },
    /// Adds a value to a requirement with operator `In`, or replaces a likely typo by it.
    AddValue {
        /// Position of the requirement.
        place: RequirementPlace,
        requirement: Requirement,
        /// The new value, which nodes have.
        value: Str,
        /// The replaced value, one edit apart.
        typo: Option<Str>,
    },
    /// Removes the required node affinity.
    DropNodeAffinity,
    /// Removes a required term of pod affinity or anti-affinity.
    DropPodTerm {
        /// Whether the term is of anti-affinity.
        anti: bool,
        /// Index of the term.
        index: usize,
        /// Topology key of the term.
        topology_key: Str,
    },
    /// Removes a topology spread constraint.
    DropSpread {
        /// Index of the constraint.
        index: usize,
        /// Topology key of the constraint.
        topology_key: Str,
    },
    /// Sets `maxSkew` of a topology spread constraint.
    MaxSkew {
        /// Index of the constraint.
        index: usize,
        /// Topology key of the constraint.
        topology_key: Str,
        /// The old value.
        from: i32,
        /// The new value.
        to: i32,
    },
    /// Adds a toleration of a taint.
    Tolerate(Taint),
    /// Lowers requests of a resource.
    Lower(Lowered),
    /// Removes the host ports with a number and protocol, or all host ports.
    DropHostPorts(Option<(i32, Str)>),
    /// Sets the priority.
    Priority {
        /// The old priority.
        from: i32,
        /// The new priority.
        to: i32,
        /// Name of the PriorityClass with that value; `None` where there is none.
        class: Option<Str>,
    },
    /// Sets `preemptionPolicy: PreemptLowerPriority`.
    Preempt,
    /// Removes all scheduling gates, which it names.
    RemoveGates(Vec<Str>),
    /// Removes a volume, by name.
    DropVolume(Str),
    /// Removes a resource claim, by its name in the pod.
    DropClaim(Str),
    /// Sets `schedulerName` to another profile.
    SchedulerName {
        /// The old name.
        from: Str,
        /// The new name.
        to: Str,
    },
}

/// Position of a requirement in the required node affinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequirementPlace {
    /// Index of the term.
    pub term: usize,
    /// Whether it is in `matchFields` rather than `matchExpressions`.
    pub field: bool,
    /// Index in that list.
    pub index: usize,
    /// Number of terms.
    pub terms: usize,
}

/// A lower request of a resource for the whole pod, in the units of [`crate::framework::Shortage`]: thousandths for
/// cpu, else units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// Name of the resource.
    pub resource: Str,
    /// The pod's present request.
    pub from: i64,
    /// The pod's new request.
    pub to: i64,
    /// Requests to set.
    pub parts: Vec<LoweredPart>,
}

/// One request to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoweredPart {
    /// Position of the request.
    pub place: RequestPlace,
    /// The present quantity.
    pub from: String,
    /// The new quantity; `None` removes request and limit.
    pub to: Option<String>,
    /// Whether the limit must equal the request, as for extended resources and huge pages.
    pub with_limit: bool,
}

/// Position of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPlace {
    /// Request of a container, by index and name.
    Container(usize, Str),
    /// Request of an init container, by index and name.
    InitContainer(usize, Str),
    /// `spec.resources`.
    Pod,
}

/// An edit of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeChange {
    /// Marks the node schedulable.
    Uncordon,
    RemoveTaint(Taint),
}

impl Change {
    /// Returns kind and key of the object; `pod` is the key of the pod to schedule.
    pub fn target(&self, pod: &Key) -> (Kind, Key) {
        match self {
            Self::Pod(_) => (Kind::Pod, pod.clone()),
            Self::Node(name, _) => (Kind::Node, Key::new("", name.clone())),
            Self::Create { object, .. } => (object.kind(), object.key()),
            Self::Delete(kind, key) => (*kind, key.clone()),
            Self::RollOut { pod, .. } => (Kind::Pod, pod.clone()),
            Self::Claim(key, _) => (Kind::ResourceClaim, key.clone()),
            Self::Bind { claim, .. } => (Kind::PersistentVolumeClaim, claim.clone()),
        }
    }

    /// Returns whether the change edits an existing object.
    pub fn is_edit(&self) -> bool {
        !matches!(self, Self::Create { .. } | Self::Delete(..) | Self::RollOut { .. })
    }

    /// Returns whether a controller makes the change as a consequence of another.
    pub fn follows(&self) -> bool {
        matches!(self, Self::Bind { .. } | Self::Claim(_, ClaimChange::Free) | Self::Delete(Kind::ResourceClaim, _))
    }

    /// Returns the field below `spec` that changes; `new` for a created object, `deleted` for a deleted one, and a path that
    /// begins with `status` for a field beside `spec`.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Pod(change) => change.field(),
            Self::Node(_, NodeChange::Uncordon) => "unschedulable",
            Self::Node(_, NodeChange::RemoveTaint(_)) => "taints",
            Self::Create { .. } => "new",
            Self::Delete(..) | Self::RollOut { .. } => "deleted",
            Self::Claim(_, ClaimChange::Free) => "status.allocation",
            Self::Claim(_, ClaimChange::DropConstraint { .. }) => "devices.constraints",
            Self::Claim(..) => "devices.requests",
            Self::Bind { .. } => "volumeName",
        }
    }

    /// Edits an object as JSON. Does nothing where the field is missing.
    pub fn edit(&self, object: &mut Value) {
        match self {
            Self::Pod(change) => change.edit(object),
            Self::Node(_, change) => change.edit(object),
            Self::Claim(_, change) => change.edit(object),
            Self::Bind { volume, .. } => bind(object, volume),
            Self::Create { .. } | Self::Delete(..) | Self::RollOut { .. } => {}
        }
    }
}

impl PodChange {
    /// Returns the field below `spec` that changes.
    pub fn field(&self) -> &'static str {
        match self {
            Self::DropSelector { .. } | Self::SetSelector { .. } | Self::RenameSelector { .. } => "nodeSelector",
            Self::DropRequirement { .. } | Self::AddValue { .. } | Self::DropNodeAffinity => "affinity.nodeAffinity",
            Self::DropPodTerm { anti: false, .. } => "affinity.podAffinity",
            Self::DropPodTerm { anti: true, .. } => "affinity.podAntiAffinity",
            Self::DropSpread { .. } | Self::MaxSkew { .. } => "topologySpreadConstraints",
            Self::Tolerate(_) => "tolerations",
            Self::Lower(_) => "resources",
            Self::DropHostPorts(_) => "ports",
            Self::Priority { .. } => "priority",
            Self::Preempt => "preemptionPolicy",
            Self::RemoveGates(_) => "schedulingGates",
            Self::DropVolume(_) => "volumes",
            Self::DropClaim(_) => "resourceClaims",
            Self::SchedulerName { .. } => "schedulerName",
        }
    }

    /// Edits the pod as JSON. Does nothing where the field is missing.
    pub fn edit(&self, pod: &mut Value) {
        let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
        match self {
            Self::DropSelector { key, .. } => {
                if let Some(selector) = member(spec, "nodeSelector") {
                    selector.remove(key.as_str());
                }
            }
            Self::SetSelector { key, to, .. } => {
                if let Some(selector) = member(spec, "nodeSelector") {
                    selector.insert(key.to_string(), json!(to));
                }
            }
            Self::RenameSelector { from, to, value } => {
                if let Some(selector) = member(spec, "nodeSelector") {
                    selector.remove(from.as_str());
                    selector.insert(to.to_string(), json!(value));
                }
            }
            Self::DropRequirement { place, .. } => drop_requirement(spec, *place),
            Self::AddValue { place, value, typo, .. } => {
                if let Some(values) = requirement(spec, *place).and_then(|r| r.get_mut("values")).and_then(Value::as_array_mut) {
                    if let Some(typo) = typo {
                        values.retain(|v| v.as_str() != Some(typo));
                    }
                    values.push(json!(value));
                }
            }
            Self::DropNodeAffinity => {
                if let Some(affinity) = member(spec, "affinity").and_then(|a| member(a, "nodeAffinity")) {
                    affinity.remove(REQUIRED);
                }
            }
            Self::DropPodTerm { anti, index, .. } => {
                let kind = if *anti { "podAntiAffinity" } else { "podAffinity" };
                let terms = member(spec, "affinity").and_then(|a| member(a, kind)).and_then(|a| list(a, REQUIRED));
                remove_at(terms, *index);
            }
            Self::DropSpread { index, .. } => remove_at(list(spec, "topologySpreadConstraints"), *index),
            Self::MaxSkew { index, to, .. } => {
                if let Some(constraint) = list(spec, "topologySpreadConstraints").and_then(|c| c.get_mut(*index)) {
                    constraint["maxSkew"] = json!(to);
                }
            }
            Self::Tolerate(taint) => {
                let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
                if !tolerations.is_array() {
                    *tolerations = json!([]);
                }
                if let Some(tolerations) = tolerations.as_array_mut() {
                    tolerations.push(toleration(taint));
                }
            }
            Self::Lower(lowered) => lowered.edit(spec),
            Self::DropHostPorts(which) => drop_host_ports(spec, which.as_ref()),
            Self::Priority { to, class, .. } => {
                spec.insert("priority".to_owned(), json!(to));
                match class {
                    Some(class) => spec.insert("priorityClassName".to_owned(), json!(class)),
                    None => spec.remove("priorityClassName"),
                };
            }
            Self::Preempt => {
                spec.insert("preemptionPolicy".to_owned(), json!("PreemptLowerPriority"));
            }
            Self::RemoveGates(_) => {
                spec.remove("schedulingGates");
            }
            Self::DropVolume(name) => retain_others(spec, "volumes", name),
            Self::DropClaim(name) => retain_others(spec, "resourceClaims", name),
            Self::SchedulerName { to, .. } => {
                spec.insert("schedulerName".to_owned(), json!(to));
            }
        }
    }
}

impl NodeChange {
    fn edit(&self, node: &mut Value) {
        let Some(spec) = node.get_mut("spec").and_then(Value::as_object_mut) else { return };
        let text = |taint: &Value, field: &str| taint[field].as_str().unwrap_or_default().to_owned();
        let goes = |taint: &Value| match self {
            Self::Uncordon => text(taint, "key") == UNSCHEDULABLE_TAINT,
            Self::RemoveTaint(gone) => {
                text(taint, "key") == *gone.key && text(taint, "value") == *gone.value && text(taint, "effect") == *gone.effect
            }
        };
        if let Some(taints) = list(spec, "taints") {
            taints.retain(|taint| !goes(taint));
            if taints.is_empty() {
                spec.remove("taints");
            }
        }
        if *self == Self::Uncordon {
            spec.remove("unschedulable");
        }
    }
}

impl ClaimChange {
    /// Edits the claim as JSON. Does nothing where the field is missing.
    fn edit(&self, claim: &mut Value) {
        match self {
            Self::Free => {
                if let Some(status) = claim.get_mut("status").and_then(Value::as_object_mut) {
                    status.retain(|field, _| !matches!(field.as_str(), "allocation" | "reservedFor" | "devices"));
                }
            }
            Self::DropConstraint { index, .. } => {
                let devices = claim.get_mut("spec").and_then(|spec| spec.get_mut("devices")).and_then(Value::as_object_mut);
                remove_at(devices.and_then(|devices| list(devices, "constraints")), *index);
            }
            Self::DropSelector { request, index, .. } => remove_at(request.of(claim).and_then(|r| list(r, "selectors")), *index),
            Self::DropSelectors { request } => {
                if let Some(request) = request.of(claim) {
                    request.remove("selectors");
                }
            }
            Self::LowerCount { request, to, .. } => request.set(claim, "count", json!(to)),
            Self::SetClass { request, to, .. } => request.set(claim, "deviceClassName", json!(to)),
            Self::Tolerate { request, taint } => {
                let Some(request) = request.of(claim) else { return };
                let tolerations = request.entry("tolerations").or_insert_with(|| json!([]));
                if !tolerations.is_array() {
                    *tolerations = json!([]);
                }
                if let Some(tolerations) = tolerations.as_array_mut() {
                    tolerations.push(toleration(taint));
                }
            }
        }
    }
}

impl RequestPath {
    /// Returns the request, or its alternative, in a claim as JSON.
    fn of<'a>(&self, claim: &'a mut Value) -> Option<&'a mut Map<String, Value>> {
        let request = claim.get_mut("spec")?.get_mut("devices")?.get_mut("requests")?.get_mut(self.request)?;
        match self.alternative {
            Some(alternative) => request.get_mut("firstAvailable")?.get_mut(alternative)?,
            None => request.get_mut("exactly")?,
        }
        .as_object_mut()
    }

    fn set(&self, claim: &mut Value, field: &str, value: Value) {
        if let Some(request) = self.of(claim) {
            request.insert(field.to_owned(), value);
        }
    }
}

fn bind(claim: &mut Value, volume: &str) {
    if !claim.is_object() {
        return;
    }
    claim["spec"]["volumeName"] = json!(volume);
    claim["status"]["phase"] = json!("Bound");
    let annotations = &mut claim["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = json!({});
    }
    annotations[ANN_BIND_COMPLETED] = json!("yes");
}

impl Lowered {
    fn edit(&self, spec: &mut Map<String, Value>) {
        for part in &self.parts {
            let holder = match &part.place {
                RequestPlace::Container(index, _) => list(spec, "containers").and_then(|c| c.get_mut(*index)),
                RequestPlace::InitContainer(index, _) => list(spec, "initContainers").and_then(|c| c.get_mut(*index)),
                RequestPlace::Pod => None,
            };
            let resources = match holder {
                Some(container) => container.as_object_mut().and_then(|c| member(c, "resources")),
                None if part.place == RequestPlace::Pod => member(spec, "resources"),
                None => None,
            };
            let Some(resources) = resources else { continue };
            let Some(to) = &part.to else {
                for kind in ["requests", "limits"] {
                    if let Some(amounts) = member(resources, kind) {
                        amounts.remove(self.resource.as_str());
                    }
                }
                continue;
            };
            // A container with a limit alone requests that much, so the request may have to be added.
            let requests = resources.entry("requests").or_insert_with(|| json!({}));
            if let Some(requests) = requests.as_object_mut() {
                requests.insert(self.resource.to_string(), json!(to));
            }
            if part.with_limit
                && let Some(limits) = member(resources, "limits").filter(|l| l.contains_key(self.resource.as_str()))
            {
                limits.insert(self.resource.to_string(), json!(to));
            }
        }
    }
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Returns a toleration that matches just this taint.
pub fn toleration(taint: &Taint) -> Value {
    let mut toleration = json!({"key": taint.key, "operator": "Equal", "effect": taint.effect});
    if !taint.value.is_empty() {
        toleration["value"] = json!(taint.value);
    }
    toleration
}

fn member<'a>(object: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(name)?.as_object_mut()
}

fn list<'a>(object: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Vec<Value>> {
    object.get_mut(name)?.as_array_mut()
}

fn remove_at(list: Option<&mut Vec<Value>>, index: usize) {
    if let Some(list) = list.filter(|list| index < list.len()) {
        list.remove(index);
    }
}

fn retain_others(spec: &mut Map<String, Value>, field: &str, name: &str) {
    if let Some(list) = list(spec, field) {
        list.retain(|item| item["name"].as_str() != Some(name));
    }
}

fn terms(spec: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    let affinity = member(member(spec, "affinity")?, "nodeAffinity")?;
    list(member(affinity, REQUIRED)?, "nodeSelectorTerms")
}

fn requirements(spec: &mut Map<String, Value>, place: RequirementPlace) -> Option<&mut Vec<Value>> {
    let term = terms(spec)?.get_mut(place.term)?.as_object_mut()?;
    list(term, if place.field { "matchFields" } else { "matchExpressions" })
}

fn requirement(spec: &mut Map<String, Value>, place: RequirementPlace) -> Option<&mut Value> {
    requirements(spec, place)?.get_mut(place.index)
}

fn drop_requirement(spec: &mut Map<String, Value>, place: RequirementPlace) {
    remove_at(requirements(spec, place), place.index);
    let empty = |term: &Value| ["matchExpressions", "matchFields"].iter().all(|f| term[*f].as_array().is_none_or(Vec::is_empty));
    let Some(terms) = terms(spec) else { return };
    // An empty term matches no node. Its one requirement was all it asked for, so that without it any node matches.
    if terms.get(place.term).is_some_and(empty)
        && let Some(affinity) = member(spec, "affinity").and_then(|a| member(a, "nodeAffinity"))
    {
        affinity.remove(REQUIRED);
    }
}

fn drop_host_ports(spec: &mut Map<String, Value>, which: Option<&(i32, Str)>) {
    let protocol = |port: &Value| port["protocol"].as_str().filter(|p| !p.is_empty()).unwrap_or("TCP").to_owned();
    for kind in ["containers", "initContainers"] {
        let containers = list(spec, kind).map(|c| c.iter_mut()).into_iter().flatten();
        for port in containers.filter_map(|c| c.get_mut("ports").and_then(Value::as_array_mut)).flatten() {
            let goes = which.is_none_or(|(number, of)| port["hostPort"] == json!(number) && protocol(port) == *of.as_str());
            if let Some(port) = port.as_object_mut().filter(|_| goes) {
                port.remove("hostPort");
            }
        }
    }
}

#[cfg(test)]
mod tests;
