//! Replaces names and texts, consistently.
//!
//! Every text of an object is replaced unless a rule keeps it, so a field that is new to the model is never disclosed by
//! accident. One table serves all fields, since equality across fields matters: a node's name, its hostname label, and a
//! pod's node. Replacements are numbered in the order of the originals, so that sorting by name gives the same order.

mod devices;
mod fields;
mod kept;
mod known;
mod message;
mod neighbors;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde_json::{Map, Value, json};

use devices::Expressions;
use fields::{FREE_MAPS, is_field};
use kept::Kept;
use known::{Own, own};
pub use message::Vocabulary;
use message::message;

use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{AvoidedController, PREFER_AVOID_PODS, Quantity, avoided_controllers};

/// Fields whose text is a property, not a name.
const KEPT_FIELDS: [&str; 45] = [
    "accessModes",
    "action",
    "allocationMode",
    "allocationTimestamp",
    "attacher",
    "borrowed",
    "borrowingLimit",
    "capacity",
    "concurrencyPolicy",
    "creationTimestamp",
    "declaredFeatures",
    "deletionTimestamp",
    "distinctAttribute",
    "driver",
    "effect",
    "expression",
    "extendedResourceName",
    "firstTimestamp",
    "kubeletVersion",
    "lastTimestamp",
    "lastTransitionTime",
    "lendingLimit",
    "matchAttribute",
    "maxSurge",
    "maxUnavailable",
    "maximumVolumeSize",
    "nodeAffinityPolicy",
    "nodeTaintsPolicy",
    "nominalQuota",
    "operator",
    "persistentVolumeReclaimPolicy",
    "preemptionPolicy",
    "protocol",
    "provisioner",
    "resourceVersion",
    "restartPolicy",
    "schedulerName",
    "scopeName",
    "scopes",
    "startTime",
    "timeAdded",
    "total",
    "volumeBindingMode",
    "volumeMode",
    "whenUnsatisfiable",
];

/// Maps from names of resources to amounts, which are kept.
const KEPT_MAPS: [&str; 7] = ["allocatable", "allocatedResources", "capacity", "consumedCapacity", "limits", "overhead", "requests"];

/// The amounts of an item of a LimitRange, within `limits`.
const LIMIT_MAPS: [&str; 5] = ["default", "defaultRequest", "max", "maxLimitRequestRatio", "min"];

/// The amounts of a ResourceQuota.
const QUOTA_MAPS: [&str; 2] = ["hard", "used"];

/// Maps whose keys are label keys.
const LABEL_MAPS: [&str; 5] = ["labels", "matchLabels", "nodeSelector", "annotations", "selector"];

/// Fields with condition types.
const CONDITIONS: [&str; 3] = ["bindingConditions", "bindingFailureConditions", "type"];

/// Fields with keys of labels or taints.
const LABEL_KEYS: [&str; 4] = ["key", "topologyKey", "matchLabelKeys", "mismatchLabelKeys"];

/// Annotations whose value is a driver's or plugin's name.
const DRIVER_ANNOTATIONS: [&str; 4] = [
    "pv.kubernetes.io/migrated-to",
    "pv.kubernetes.io/provisioned-by",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "volume.kubernetes.io/storage-provisioner",
];

/// References to objects with their namespaces.
const REFERENCES: [&str; 2] = ["claimRef", "involvedObject"];

/// Texts that are the same in every cluster.
const KEPT_TEXTS: [&str; 22] = [
    "",
    "*",
    "0.0.0.0",
    "::",
    "DaemonSet",
    "DoesNotExist",
    "Job",
    "Node",
    "Pod",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "amd64",
    "arm64",
    "false",
    "linux",
    "metadata.name",
    "system-cluster-critical",
    "system-node-critical",
    "true",
    "windows",
    "yes",
];

fn is_kept(text: &str) -> bool {
    KEPT_TEXTS.contains(&text) || neighbors::TEXTS.contains(&text)
}

/// The redactor; see the module's documentation.
#[derive(Debug)]
pub(in crate::source) struct Redactor<'w> {
    words: &'w Vocabulary,
    /// The replacements; empty until they are numbered.
    names: BTreeMap<String, String>,
    /// Texts without a replacement.
    fresh: Vec<String>,
    claims: DerivedClaims,
    /// Names of claims that were replaced otherwise before their pod was known.
    renamed: usize,
    /// Keys of labels and taints whose values are compared as numbers.
    numeric: BTreeSet<String>,
    expressions: Expressions,
    kept: Kept,
}

/// The names of claims that kube-scheduler derives from a pod and its ephemeral volume. Pods of two namespaces may derive one name
/// in different ways.
#[derive(Debug, Default)]
struct DerivedClaims(BTreeMap<String, BTreeMap<String, PodVolume>>);

/// A pod and its ephemeral volume.
#[derive(Debug, PartialEq)]
struct PodVolume {
    pod: String,
    volume: String,
    /// Whether the claim states the pod as its owner.
    is_owner: bool,
}

impl DerivedClaims {
    /// Adds a claim's name. In one namespace the owner of the claim counts, else the pod that came first. Returns whether the name
    /// is derived otherwise from here on.
    fn add(&mut self, namespace: &str, name: String, of: PodVolume) -> bool {
        let by_namespace = self.0.entry(name).or_default();
        match by_namespace.get(namespace) {
            Some(known) if known.is_owner || !of.is_owner || (&known.pod, &known.volume) == (&of.pod, &of.volume) => false,
            _ => {
                by_namespace.insert(namespace.to_owned(), of);
                true
            }
        }
    }

    /// Returns what a name in a namespace is derived from. Without a namespace, the name must be that of one claim.
    fn get(&self, namespace: &str, name: &str) -> Option<&PodVolume> {
        let by_namespace = self.0.get(name)?;
        let single = || by_namespace.values().next().filter(|_| namespace.is_empty() && by_namespace.len() == 1);
        by_namespace.get(namespace).or_else(single)
    }
}

/// The pass over the texts of an object.
struct Pass<'a> {
    to: To<'a>,
    /// Whether the object is kept as JSON, with all its fields: keys may be texts.
    is_raw: bool,
    /// The namespace of the object.
    namespace: String,
}

/// The purpose of a pass.
enum To<'a> {
    /// Collects the texts.
    Collect(&'a mut BTreeMap<String, String>, &'a mut Vec<String>, &'a Vocabulary),
    /// Replaces the texts.
    Apply(&'a Redactor<'a>),
}

/// Returns whether objects of a kind are kept as JSON.
fn is_raw(kind: &str) -> bool {
    use NeighborKind::{JobSet, LeaderWorkerSet};
    kind.parse::<NeighborKind>().is_ok_and(|kind| !kind.is_owner() || matches!(kind, JobSet | LeaderWorkerSet))
}

impl<'w> Redactor<'w> {
    /// Returns a redactor that keeps these words in messages.
    pub(in crate::source) fn new(words: &'w Vocabulary) -> Self {
        Self {
            words,
            names: BTreeMap::new(),
            fresh: Vec::new(),
            claims: DerivedClaims::default(),
            renamed: 0,
            numeric: BTreeSet::new(),
            expressions: Expressions::default(),
            kept: Kept::default(),
        }
    }

    /// Collects the texts of an item of a kind.
    pub(in crate::source) fn collect(&mut self, kind: &str, item: &mut Value) {
        self.add_claims(kind, item);
        if let ("CSIDriver", Some(name)) = (kind, item["metadata"]["name"].as_str()) {
            self.kept.add_driver(name);
        }
        self.survey("", "", item);
        walk(item, "", &mut self.collecting(kind));
    }

    fn collecting(&mut self, kind: &str) -> Pass<'_> {
        let to = To::Collect(&mut self.names, &mut self.fresh, self.words);
        Pass { to, is_raw: is_raw(kind), namespace: String::new() }
    }

    /// Finds names of claims that are derived from a pod.
    fn add_claims(&mut self, kind: &str, item: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text(&item["metadata"]["namespace"]), text(&item["metadata"]["name"]));
        let mut found = Vec::new();
        for volume in item["spec"]["volumes"].as_array().into_iter().flatten().filter(|volume| !volume["ephemeral"].is_null()) {
            found.push(PodVolume { pod: name.clone(), volume: text(&volume["name"]), is_owner: false });
        }
        let owners = item["metadata"]["ownerReferences"].as_array().filter(|_| kind == "PersistentVolumeClaim");
        for pod in owners.into_iter().flatten().filter(|owner| owner["kind"] == "Pod").map(|owner| text(&owner["name"])) {
            let volume = name.strip_prefix(&pod).and_then(|rest| rest.strip_prefix('-')).filter(|volume| !volume.is_empty());
            let Some(volume) = volume.map(str::to_owned) else { continue };
            // The pod may be gone.
            let mut pass = self.collecting(kind);
            pass.text(&pod);
            pass.text(&volume);
            found.push(PodVolume { pod, volume, is_owner: true });
        }
        for of in found {
            let claim = format!("{}-{}", of.pod, of.volume);
            let was_replaced = self.names.get(&claim).is_some_and(|label| !label.is_empty());
            self.renamed += usize::from(self.claims.add(&namespace, claim, of) && was_replaced);
        }
    }

    /// Finds texts on which more depends than their equality, and names that are kept, in a field of another.
    fn survey(&mut self, outer: &str, field: &str, value: &Value) {
        if let (Some(key), Some("Gt" | "Lt")) = (value["key"].as_str(), value["operator"].as_str()) {
            self.numeric.insert(key.to_owned());
        }
        if let Some(expression) = value["expression"].as_str() {
            self.expressions.add(expression);
        }
        self.kept.add(outer, field, value);
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.survey(outer, field, item)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.survey(field, name, value)),
            _ => {}
        }
    }

    /// Gives the collected texts their replacements: numbers at first, and later ones that sort between those of their neighbours.
    pub(in crate::source) fn finish(&mut self) {
        if self.fresh.len() == self.names.len() {
            let digits = self.names.len().to_string().len();
            for (number, place) in self.names.values_mut().enumerate() {
                *place = format!("r{number:0digits$}");
            }
            self.fresh.clear();
            return;
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable();
        for text in fresh {
            let before =
                self.names.range::<str, _>((Bound::Unbounded, Bound::Excluded(text.as_str()))).next_back().map_or("q", |(_, label)| label);
            let behind = (Bound::Excluded(text.as_str()), Bound::Unbounded);
            let after = self.names.range::<str, _>(behind).map(|(_, label)| label).find(|label| !label.is_empty());
            let label = between(before, after.map_or("", String::as_str));
            self.names.insert(text, label);
        }
    }

    /// Returns a number that grows when a text that was replaced before would now be kept, or be replaced otherwise.
    pub(in crate::source) fn rules(&self) -> usize {
        self.numeric.len() + self.expressions.len() + self.kept.len() + self.renamed
    }

    /// Replaces the texts of an item of a kind.
    pub(in crate::source) fn apply(&self, kind: &str, item: &mut Value) {
        // A CSIDriver's name is the driver's name, which is kept everywhere.
        let name = (kind == "CSIDriver").then(|| item["metadata"]["name"].clone());
        let namespace = item["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let claim =
            (kind == "PersistentVolumeClaim").then(|| self.claim(&namespace, item["metadata"]["name"].as_str().unwrap_or_default()));
        walk(item, "", &mut Pass { to: To::Apply(self), is_raw: is_raw(kind), namespace });
        if let Some(claim) = claim {
            item["metadata"]["name"] = claim.into();
        }
        if let Some(name) = name {
            item["metadata"]["name"] = name;
        }
    }

    /// Returns the originals by their replacements.
    pub(super) fn replacements(&self) -> BTreeMap<String, String> {
        let names = self.names.keys().map(|text| (self.of(text), text.clone()));
        let claims = self.claims.0.iter().flat_map(|(name, by)| by.values().map(move |of| (self.derived(of), name.clone())));
        names.chain(claims).collect()
    }

    /// Returns whether an attribute of a device is kept. Expressions may compare it with the driver.
    fn keeps_attribute(&self, name: &str, text: &str) -> bool {
        self.expressions.keep(name, text) || self.kept.is_driver(text)
    }

    fn of(&self, text: &str) -> String {
        if is_kept(text) {
            return text.to_owned();
        }
        // Collecting comes first, so every text has a replacement.
        self.names.get(text).cloned().unwrap_or_else(|| "r".to_owned())
    }

    /// Returns the replacement of the name of a claim in a namespace.
    fn claim(&self, namespace: &str, name: &str) -> String {
        self.claims.get(namespace, name).map_or_else(|| self.of(name), |of| self.derived(of))
    }

    fn derived(&self, of: &PodVolume) -> String {
        format!("{}-{}", self.of(&of.pod), self.of(&of.volume))
    }
}

/// Digits of replacements that count on from one another: names that count on, such as those of jobs, get replacements of one length.
const COUNTED: usize = 6;

/// Returns a text that sorts behind `before` and in front of `after`, which does not begin with it.
fn behind(before: &str, after: &str) -> String {
    let shared = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let head = before.len().saturating_sub(COUNTED);
    let counted = before.get(head..).filter(|_| head > shared).and_then(|digits| u64::from_str_radix(digits, 36).ok());
    let next = counted.map(|count| count + 1).map(|count| if count % 36 == 0 { count + 1 } else { count });
    let Some(mut count) = next.filter(|count| *count < 36_u64.pow(COUNTED as u32)) else { return format!("{before}100001") };
    let mut digits = [b'0'; COUNTED];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[(count % 36) as usize];
        count /= 36;
    }
    format!("{}{}", &before[..head], String::from_utf8_lossy(&digits))
}

/// Returns a text that sorts behind `before` and in front of `after`, where an empty `after` is the end. Neither ends in `0` where
/// one begins with the other, nor does the result.
fn between(before: &str, after: &str) -> String {
    let Some(rest) = after.strip_prefix(before) else { return behind(before, after) };
    let mut label = before.to_owned();
    for digit in rest.bytes() {
        match digit {
            b'0' => label.push('0'),
            b'1' => {
                label.push_str("0i");
                return label;
            }
            b'2'..=b'9' => {
                label.push(char::from(b'0' + (digit - b'0') / 2));
                return label;
            }
            _ => {
                label.push('5');
                return label;
            }
        }
    }
    label.push('i');
    label
}

impl Pass<'_> {
    fn words(&self) -> &Vocabulary {
        match &self.to {
            To::Collect(_, _, words) => words,
            To::Apply(redactor) => redactor.words,
        }
    }

    /// Returns the names that are kept; `None` while texts are collected.
    fn kept(&self) -> Option<&Kept> {
        if let To::Apply(redactor) = &self.to { Some(&redactor.kept) } else { None }
    }

    fn text(&mut self, text: &str) -> String {
        if is_kept(text) {
            return text.to_owned();
        }
        match &mut self.to {
            To::Collect(names, fresh, _) => {
                if !names.contains_key(text) {
                    names.insert(text.to_owned(), String::new());
                    fresh.push(text.to_owned());
                }
                String::new()
            }
            To::Apply(redactor) => redactor.of(text),
        }
    }

    /// Returns the replacement of a text that is a name elsewhere; `None` for others.
    fn known(&self, text: &str) -> Option<String> {
        let To::Apply(redactor) = &self.to else { return None };
        (!is_kept(text) && redactor.names.contains_key(text)).then(|| redactor.claim(&self.namespace, text))
    }

    /// Handles the name of a claim in the namespace of the object.
    fn claim(&mut self, name: &str) -> String {
        if let To::Apply(redactor) = &self.to { redactor.claim(&self.namespace, name) } else { self.text(name) }
    }

    /// Handles a reference to an object, which may be in another namespace.
    fn within<R>(&mut self, namespace: &str, handle: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.namespace, namespace.to_owned());
        let result = handle(self);
        self.namespace = outer;
        result
    }

    /// Handles a key of an object that is kept as JSON: names of fields and of resources are kept.
    fn raw_key(&mut self, of: &str, key: &str) -> String {
        let is_free = FREE_MAPS.contains(&of);
        if !is_free && (is_field(key) || kept::is_resource_of_kubernetes(key)) {
            return key.to_owned();
        }
        let replaced = self.key(key);
        let is_resource = !is_free && self.kept().is_some_and(|kept| kept.is_resource(key));
        if is_resource { key.to_owned() } else { replaced }
    }

    /// Handles the value of a label or taint. A value may hold several zones, separated by two underscores.
    fn value(&mut self, key: &str, text: &str) -> String {
        match &self.to {
            To::Apply(redactor) if redactor.numeric.contains(key) && text.parse::<i64>().is_ok() => text.to_owned(),
            _ => text.split("__").map(|part| self.text(part)).collect::<Vec<_>>().join("__"),
        }
    }

    /// Handles the key of a label, annotation or taint.
    fn key(&mut self, key: &str) -> String {
        match own(key) {
            Own::All => key.to_owned(),
            Own::Domain(domain, name) => format!("{domain}/{}", self.text(name)),
            Own::None => self.text(key),
        }
    }

    /// Handles a word that is in Kubernetes' own list or custom, with or without a domain.
    fn word(&mut self, known: &[&str], text: &str) -> String {
        if known.contains(&text) { text.to_owned() } else { self.key(text) }
    }

    /// Handles the attribute of a device.
    fn attribute(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) if matches!(&self.to, To::Apply(redactor) if redactor.keeps_attribute(name, text)) => {}
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.attribute(name, item)),
            // Versions are compared by their parts.
            Value::Object(fields) => {
                fields.iter_mut().filter(|(sort, _)| !sort.starts_with("version")).for_each(|(_, value)| self.attribute(name, value));
            }
            _ => {}
        }
    }

    /// Handles an image. Whether it has a tag, and whether that is `latest`, is kept.
    fn image(&mut self, image: &str) -> String {
        let name = image.rsplit('/').next().unwrap_or(image);
        let Some((_, tag)) = name.split_once(':') else { return self.text(image) };
        let repository = &image[..image.len() - tag.len() - 1];
        let tag = if tag == "latest" { tag.to_owned() } else { self.text(tag) };
        format!("{}:{tag}", self.text(repository))
    }
}

fn walk(value: &mut Value, field: &str, pass: &mut Pass<'_>) {
    match value {
        Value::String(_) if KEPT_FIELDS.contains(&field) => {}
        Value::String(text) => {
            *text = match field {
                "message" => message(text, pass),
                "reason" if neighbors::REASONS.contains(&text.as_str()) => return,
                "reason" => pass.word(&known::REASONS, text),
                _ if CONDITIONS.contains(&field) && neighbors::TYPES.contains(&text.as_str()) => return,
                _ if CONDITIONS.contains(&field) => pass.word(&known::TYPES, text),
                "reportingComponent" => neighbors::speaker(text, pass),
                "resourceName" => resource(text, pass),
                "claimName" => pass.claim(text),
                "image" | "names" | "reference" => pass.image(text),
                _ if LABEL_KEYS.contains(&field) => pass.key(text),
                "finalizers" => pass.key(text),
                "apiVersion" => api_version(text, pass),
                "apiGroup" if known::is_group(text) => return,
                "resource" if known::is_api_resource(text) => return,
                "phase" | "status" if neighbors::STATES.contains(&text.as_str()) => return,
                "values" | "value" => pass.value("", text),
                // `REQUEST/ALTERNATIVE`: the part after the slash is one of the alternatives of a request.
                "request" | "requests" | "requestName" => text.split('/').map(|part| pass.text(part)).collect::<Vec<_>>().join("/"),
                _ => pass.text(text),
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, field, pass)),
        Value::Object(fields) => walk_object(fields, field, pass),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Handles the value of the annotation by which a node asks to avoid pods: their controllers are its only use.
fn avoided(text: &str, pass: &mut Pass<'_>) -> String {
    let entry = |controller: AvoidedController| {
        let (kind, uid) = (pass.text(&controller.kind), pass.text(&controller.uid));
        json!({"podSignature": {"podController": {"kind": kind, "uid": uid}}})
    };
    let entries: Vec<Value> = avoided_controllers(text).into_iter().map(entry).collect();
    json!({"preferAvoidPods": entries}).to_string()
}

/// Handles a reference to an object.
fn reference(fields: &mut Map<String, Value>, field: &str, pass: &mut Pass<'_>) {
    let is_claim = field == "claimRef" || fields.get("kind").is_some_and(|kind| kind == "PersistentVolumeClaim");
    let namespace = fields.get("namespace").and_then(Value::as_str).unwrap_or_default().to_owned();
    pass.within(&namespace, |pass| {
        for (name, value) in fields {
            match value {
                Value::String(text) if is_claim && name == "name" => *text = pass.claim(text),
                value => walk(value, name, pass),
            }
        }
    });
}

fn walk_object(fields: &mut Map<String, Value>, field: &str, pass: &mut Pass<'_>) {
    if REFERENCES.contains(&field) {
        return reference(fields, field, pass);
    }
    let texts_only = fields.values().all(Value::is_string);
    if LABEL_MAPS.contains(&field) && texts_only && !fields.is_empty() {
        let old = std::mem::take(fields);
        for (key, value) in old {
            let text = value.as_str().unwrap_or_default();
            let new = match field {
                "annotations" if own(&key) != Own::All => continue,
                "annotations" if key == PREFER_AVOID_PODS => avoided(text, pass),
                "annotations" if DRIVER_ANNOTATIONS.contains(&key.as_str()) => text.to_owned(),
                _ => pass.value(&key, text),
            };
            fields.insert(pass.key(&key), new.into());
        }
        return;
    }
    // Drivers choose the names of counters.
    if field == "disruptedPods" || field == "counters" {
        let old = std::mem::take(fields);
        fields.extend(old.into_iter().map(|(name, value)| (pass.text(&name), value)));
        return;
    }
    if pass.is_raw && (FREE_MAPS.contains(&field) || !fields.keys().all(|key| is_field(key))) {
        let old = std::mem::take(fields);
        fields.extend(old.into_iter().map(|(key, value)| (pass.raw_key(field, &key), value)));
    }
    // Drivers may put anything into these fields.
    fields.remove("data");
    fields.remove("networkData");
    let key = fields.get("key").and_then(Value::as_str).map(str::to_owned);
    for (name, value) in fields.iter_mut() {
        if let (Some(key), "value" | "values") = (&key, name.as_str()) {
            values(key, value, pass);
            continue;
        }
        if let ("attributes", Some(attributes)) = (name.as_str(), value.as_object_mut()) {
            attributes.iter_mut().for_each(|(name, value)| pass.attribute(name, value));
            continue;
        }
        // Amounts by resource are maps whose values may be maps.
        let of_quota = QUOTA_MAPS.contains(&name.as_str()) && value.is_object();
        // Of a NodePool's status. The resources of a container are requests and limits.
        let is_sum = name == "resources" && value.as_object().is_some_and(|amounts| amounts.values().all(is_amount));
        let of_limits = field == "limits" && LIMIT_MAPS.contains(&name.as_str());
        if let Some(amounts) = value.as_object_mut().filter(|_| of_quota) {
            let old = std::mem::take(amounts);
            amounts.extend(old.into_iter().map(|(name, amount)| (neighbors::quota_resource(&name, pass), amount)));
            continue;
        }
        if (KEPT_MAPS.contains(&name.as_str()) || of_limits || is_sum)
            && let Some(amounts) = value.as_object_mut()
        {
            resources(amounts, pass);
            continue;
        }
        // The drivers of a CSINode are listed by name.
        if field == "drivers" && name == "name" {
            continue;
        }
        walk(value, name, pass);
    }
}

/// Returns whether a value is an amount of a resource.
fn is_amount(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.parse::<Quantity>().is_ok())
}

/// Handles the values that the label or taint of a key has or is compared with.
fn values(key: &str, value: &mut Value, pass: &mut Pass<'_>) {
    match value {
        Value::String(text) => *text = pass.value(key, text),
        Value::Array(items) => items.iter_mut().for_each(|item| values(key, item, pass)),
        _ => {}
    }
}

/// The prefix of the implicit extended resource of a device class.
const OF_CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// Handles names of resources, which are kept unless they contain a class's name, and texts that are no amounts.
fn resources(amounts: &mut Map<String, Value>, pass: &mut Pass<'_>) {
    amounts.values_mut().for_each(|value| amount(value, pass));
    if amounts.keys().any(|name| name.starts_with(OF_CLASS)) {
        let old = std::mem::take(amounts);
        amounts.extend(old.into_iter().map(|(name, amount)| (resource(&name, pass), amount)));
    }
}

/// Handles an amount, or what a device has of it.
fn amount(value: &mut Value, pass: &mut Pass<'_>) {
    match value {
        Value::String(text) if text.parse::<Quantity>().is_err() => *text = pass.text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| amount(item, pass)),
        Value::Object(fields) => fields.values_mut().for_each(|value| amount(value, pass)),
        _ => {}
    }
}

fn resource(name: &str, pass: &mut Pass<'_>) -> String {
    name.strip_prefix(OF_CLASS).map_or_else(|| name.to_owned(), |class| format!("{OF_CLASS}{}", pass.text(class)))
}

/// Handles an owner's API group and version; Kubernetes' own are kept.
fn api_version(text: &str, pass: &mut Pass<'_>) -> String {
    match text.split_once('/') {
        None => text.to_owned(),
        Some((group, _)) if known::is_group(group) => text.to_owned(),
        Some((group, version)) => format!("{}/{version}", pass.text(group)),
    }
}

#[cfg(test)]
mod tests;
