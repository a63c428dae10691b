//! Replaces names and texts, consistently.
//!
//! Every text of an object is replaced unless a rule keeps it, so a field that is new to the model is never disclosed by
//! accident. One table serves all fields, since equality across fields matters: a node's name, its hostname label, and a
//! pod's node. Replacements are numbered in the order of the originals, so that sorting by name gives the same order.

mod devices;
mod known;
mod message;
mod neighbors;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde_json::{Map, Value};

use devices::Expressions;
use known::{Own, is_own_domain, own};
pub use message::Vocabulary;
use message::message;

use crate::cluster::Quantity;

/// Fields whose text is a property, not a name.
const KEPT_FIELDS: [&str; 49] = [
    "accessModes",
    "action",
    "allocationMode",
    "allocationTimestamp",
    "apiGroup",
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
    "phase",
    "preemptionPolicy",
    "protocol",
    "provisioner",
    "resource",
    "resourceVersion",
    "restartPolicy",
    "schedulerName",
    "scopeName",
    "scopes",
    "startTime",
    "status",
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

/// The redactor; see the module's documentation.
#[derive(Debug)]
pub(in crate::source) struct Redactor<'w> {
    words: &'w Vocabulary,
    /// The replacements; empty until they are numbered.
    names: BTreeMap<String, String>,
    /// Texts without a replacement.
    fresh: Vec<String>,
    /// Names of claims that kube-scheduler derives from a pod and its ephemeral volume.
    made: BTreeMap<String, (String, String)>,
    /// Names of such claims that were replaced before the pod was known.
    renamed: usize,
    /// Keys of labels and taints whose values are compared as numbers.
    numeric: BTreeSet<String>,
    expressions: Expressions,
}

/// The pass over the texts of an object.
enum Pass<'a> {
    /// Collects the texts.
    Collect(&'a mut BTreeMap<String, String>, &'a mut Vec<String>, &'a Vocabulary),
    /// Replaces the texts.
    Apply(&'a Redactor<'a>),
}

impl<'w> Redactor<'w> {
    /// Returns a redactor that keeps these words in messages.
    pub(in crate::source) fn new(words: &'w Vocabulary) -> Self {
        Self {
            words,
            names: BTreeMap::new(),
            fresh: Vec::new(),
            made: BTreeMap::new(),
            renamed: 0,
            numeric: BTreeSet::new(),
            expressions: Expressions::default(),
        }
    }

    /// Collects the texts of an item.
    pub(in crate::source) fn collect(&mut self, item: &mut Value) {
        let pod = item["metadata"]["name"].as_str().unwrap_or_default();
        for volume in item["spec"]["volumes"].as_array().into_iter().flatten().filter(|volume| !volume["ephemeral"].is_null()) {
            let volume = volume["name"].as_str().unwrap_or_default();
            let claim = format!("{pod}-{volume}");
            let is_new = self.made.insert(claim.clone(), (pod.to_owned(), volume.to_owned())).is_none();
            self.renamed += usize::from(is_new && self.names.get(&claim).is_some_and(|label| !label.is_empty()));
        }
        self.survey(item);
        walk(item, "", &mut Pass::Collect(&mut self.names, &mut self.fresh, self.words));
    }

    /// Finds texts on which more depends than their equality.
    fn survey(&mut self, value: &Value) {
        if let (Some(key), Some("Gt" | "Lt")) = (value["key"].as_str(), value["operator"].as_str()) {
            self.numeric.insert(key.to_owned());
        }
        if let Some(expression) = value["expression"].as_str() {
            self.expressions.add(expression);
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.survey(item)),
            Value::Object(fields) => fields.values().for_each(|value| self.survey(value)),
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
        self.numeric.len() + self.expressions.len() + self.renamed
    }

    /// Replaces the texts of an item of a kind.
    pub(in crate::source) fn apply(&self, kind: &str, item: &mut Value) {
        // A CSIDriver's name is the driver's name, which is kept everywhere.
        let name = (kind == "CSIDriver").then(|| item["metadata"]["name"].clone());
        walk(item, "", &mut Pass::Apply(self));
        if let Some(name) = name {
            item["metadata"]["name"] = name;
        }
    }

    /// Returns the originals by their replacements.
    pub(super) fn replacements(&self) -> BTreeMap<String, String> {
        self.names.keys().map(|text| (self.of(text), text.clone())).collect()
    }

    fn of(&self, text: &str) -> String {
        if let Some((pod, volume)) = self.made.get(text) {
            return format!("{}-{}", self.number(pod), self.number(volume));
        }
        self.number(text)
    }

    fn number(&self, text: &str) -> String {
        // Collecting comes first, so every text has a replacement.
        self.names.get(text).cloned().unwrap_or_else(|| "r".to_owned())
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
        match self {
            Self::Collect(_, _, words) => words,
            Self::Apply(redactor) => redactor.words,
        }
    }

    fn text(&mut self, text: &str) -> String {
        if KEPT_TEXTS.contains(&text) || neighbors::TEXTS.contains(&text) {
            return text.to_owned();
        }
        match self {
            Self::Collect(names, fresh, _) => {
                if !names.contains_key(text) {
                    names.insert(text.to_owned(), String::new());
                    fresh.push(text.to_owned());
                }
                String::new()
            }
            Self::Apply(redactor) => redactor.of(text),
        }
    }

    /// Returns the replacement of a text that is a name elsewhere; `None` for others.
    fn known(&mut self, text: &str) -> Option<String> {
        match self {
            Self::Collect(..) => None,
            Self::Apply(redactor) if KEPT_TEXTS.contains(&text) || !redactor.names.contains_key(text) => None,
            Self::Apply(redactor) => Some(redactor.of(text)),
        }
    }

    /// Handles the value of a label or taint. A value may hold several zones, separated by two underscores.
    fn value(&mut self, key: &str, text: &str) -> String {
        match self {
            Self::Apply(redactor) if redactor.numeric.contains(key) && text.parse::<i64>().is_ok() => text.to_owned(),
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
            Value::String(text) if matches!(self, Self::Apply(redactor) if redactor.expressions.keep(name, text)) => {}
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
                "image" | "names" | "reference" => pass.image(text),
                _ if LABEL_KEYS.contains(&field) => pass.key(text),
                "finalizers" => pass.key(text),
                "apiVersion" => api_version(text, pass),
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

fn walk_object(fields: &mut Map<String, Value>, field: &str, pass: &mut Pass<'_>) {
    let texts_only = fields.values().all(Value::is_string);
    if LABEL_MAPS.contains(&field) && texts_only && !fields.is_empty() {
        let old = std::mem::take(fields);
        for (key, value) in old {
            let text = value.as_str().unwrap_or_default();
            let new = match field {
                "annotations" if own(&key) != Own::All => continue,
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

/// Handles names of resources, which are kept unless they contain a class's name.
fn resources(amounts: &mut Map<String, Value>, pass: &mut Pass<'_>) {
    if amounts.keys().any(|name| name.starts_with(OF_CLASS)) {
        let old = std::mem::take(amounts);
        amounts.extend(old.into_iter().map(|(name, amount)| (resource(&name, pass), amount)));
    }
}

fn resource(name: &str, pass: &mut Pass<'_>) -> String {
    name.strip_prefix(OF_CLASS).map_or_else(|| name.to_owned(), |class| format!("{OF_CLASS}{}", pass.text(class)))
}

/// Handles an owner's API group and version; Kubernetes' own are kept.
fn api_version(text: &str, pass: &mut Pass<'_>) -> String {
    match text.split_once('/') {
        None | Some(("apps" | "batch" | "policy", _)) => text.to_owned(),
        Some((group, _)) if is_own_domain(group) => text.to_owned(),
        Some((group, version)) => format!("{}/{version}", pass.text(group)),
    }
}

#[cfg(test)]
mod tests;
