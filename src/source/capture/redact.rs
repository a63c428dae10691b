//! Names and texts replaced by others, consistently.
//!
//! Every text of an object is replaced unless a rule says that it stays, so that a field that is new to the model is
//! never given away by accident. One table serves all fields, since what matters is which of them are equal: a node's
//! name, its hostname label, and a pod's node. Replacements are numbered in the order of the originals, so that what
//! was first by name stays first by name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Fields whose text says what a thing is like, not what it is called.
const KEPT_FIELDS: [&str; 44] = [
    "accessModes",
    "action",
    "allocationMode",
    "allocationTimestamp",
    "apiGroup",
    "attacher",
    "bindingConditions",
    "bindingFailureConditions",
    "capacity",
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
    "matchAttribute",
    "maximumVolumeSize",
    "nodeAffinityPolicy",
    "nodeTaintsPolicy",
    "operator",
    "persistentVolumeReclaimPolicy",
    "phase",
    "preemptionPolicy",
    "protocol",
    "provisioner",
    "reason",
    "reportingComponent",
    "resource",
    "resourceVersion",
    "restartPolicy",
    "schedulerName",
    "startTime",
    "status",
    "timeAdded",
    "type",
    "volumeBindingMode",
    "volumeMode",
    "whenUnsatisfiable",
];

/// Maps from names of resources, attributes and counters to amounts: all of it stays.
const KEPT_MAPS: [&str; 9] =
    ["allocatable", "allocatedResources", "attributes", "capacity", "consumedCapacity", "counters", "limits", "overhead", "requests"];

/// Maps whose keys are those of labels.
const LABEL_MAPS: [&str; 5] = ["labels", "matchLabels", "nodeSelector", "annotations", "selector"];

/// Fields that hold types of conditions.
const CONDITIONS: [&str; 3] = ["bindingConditions", "bindingFailureConditions", "type"];

/// Fields that hold keys of labels or taints.
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

/// The words of kube-scheduler's messages; all others in a text are left out.
const WORDS: &str = "a add affinity after all allocate an and anti-affinity any are assigned at attach available available: be been \
    binding bound by cannot claim claims claim(s) class conflict constraint constraints constraints. could cpu created deleted deleting \
    did didn't does domain due ephemeral-storage evicted exceed exist existing failed find for found free from gated gates had has have \
    helpful immediate incoming inline insufficient is it limit long lookup making match max memory missing must name no node node(s) \
    nodes nodes. not of on only pending persistentvolumeclaim persistentvolume pod pod's pods pods. port ports preempted preempting \
    preemption preemption: priority process put reached requested resource resourceclaim resources rules rules. satisfied scheduling \
    schedule scheduled selector selector. setting size skip spread successfully taint taints taint(s) term terms than that the these this \
    to tolerate tolerated too topology type unable unbound unresolvable unschedulable untolerated used using victim victims volume \
    volumes wait waiting was were when which will with without would zone";

/// Replaces; see the file's text.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    names: BTreeMap<String, u32>,
    /// Claims that kube-scheduler looks up by the names of a pod and its ephemeral volume.
    made: BTreeMap<String, (String, String)>,
    digits: usize,
}

/// What is done with a text.
enum Pass<'a> {
    /// It is noted.
    Collect(&'a mut BTreeMap<String, u32>),
    /// It is replaced.
    Apply(&'a Redactor),
}

impl Redactor {
    /// Notes the texts of an item.
    pub(super) fn collect(&mut self, item: &mut Value) {
        let pod = item["metadata"]["name"].as_str().unwrap_or_default();
        for volume in item["spec"]["volumes"].as_array().into_iter().flatten().filter(|volume| !volume["ephemeral"].is_null()) {
            let volume = volume["name"].as_str().unwrap_or_default();
            self.made.insert(format!("{pod}-{volume}"), (pod.to_owned(), volume.to_owned()));
        }
        walk(item, "", &mut Pass::Collect(&mut self.names));
    }

    /// Numbers what was noted.
    pub(super) fn finish(&mut self) {
        for (number, place) in self.names.values_mut().enumerate() {
            *place = number as u32;
        }
        self.digits = self.names.len().to_string().len();
    }

    /// Replaces the texts of an item of a kind.
    pub(super) fn apply(&self, kind: &str, item: &mut Value) {
        // A CSIDriver is called what its driver is called everywhere.
        let name = (kind == "CSIDriver").then(|| item["metadata"]["name"].clone());
        walk(item, "", &mut Pass::Apply(self));
        if let Some(name) = name {
            item["metadata"]["name"] = name;
        }
    }

    /// What was replaced, by what replaces it.
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
        // Everything was noted before anything is replaced.
        let number = self.names.get(text).copied().unwrap_or_default();
        format!("r{number:0digits$}", digits = self.digits)
    }
}

impl Pass<'_> {
    fn text(&mut self, text: &str) -> String {
        if KEPT_TEXTS.contains(&text) || text.parse::<i64>().is_ok() {
            return text.to_owned();
        }
        match self {
            Self::Collect(names) => {
                if !names.contains_key(text) {
                    names.insert(text.to_owned(), 0);
                }
                String::new()
            }
            Self::Apply(redactor) => redactor.of(text),
        }
    }

    /// A label's value: several zones stand in one, separated by two underscores.
    fn value(&mut self, text: &str) -> String {
        text.split("__").map(|part| self.text(part)).collect::<Vec<_>>().join("__")
    }

    /// The key of a label, annotation or taint.
    fn key(&mut self, key: &str) -> String {
        if is_kubernetes_own(key) { key.to_owned() } else { self.text(key) }
    }

    /// An image: whether it has a tag, and whether that is `latest`, stays.
    fn image(&mut self, image: &str) -> String {
        let name = image.rsplit('/').next().unwrap_or(image);
        let Some((_, tag)) = name.split_once(':') else { return self.text(image) };
        let repository = &image[..image.len() - tag.len() - 1];
        let tag = if tag == "latest" { tag.to_owned() } else { self.text(tag) };
        format!("{}:{tag}", self.text(repository))
    }
}

/// Whether a key belongs to Kubernetes itself: `kubernetes.io/hostname`, `topology.kubernetes.io/zone`.
fn is_kubernetes_own(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else { return false };
    ["kubernetes.io", "k8s.io"].iter().any(|own| domain.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// The words of a message that kube-scheduler has for all clusters, and its numbers.
fn message(text: &str) -> String {
    let kept = |word: &str| {
        let bare = word.trim_end_matches([',', '.', ':', ';']);
        let number = bare.split('/').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        number || WORDS.split(' ').any(|known| known == bare.to_lowercase() || known == word.to_lowercase())
    };
    let words: Vec<&str> = text.split_whitespace().map(|word| if kept(word) { word } else { "…" }).collect();
    words.join(" ")
}

fn walk(value: &mut Value, field: &str, pass: &mut Pass<'_>) {
    match value {
        // Conditions of one's own have a domain in front.
        Value::String(text) if CONDITIONS.contains(&field) && text.contains('/') => *text = pass.key(text),
        Value::String(_) if KEPT_FIELDS.contains(&field) => {}
        Value::String(text) => {
            *text = match field {
                "message" => message(text),
                "resourceName" => resource(text, pass),
                "image" | "names" | "reference" => pass.image(text),
                _ if LABEL_KEYS.contains(&field) => pass.key(text),
                "finalizers" => pass.key(text),
                "apiVersion" => api_version(text, pass),
                "values" | "value" => pass.value(text),
                // One of the alternatives of a request stands behind it.
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
                "annotations" if !is_kubernetes_own(&key) => continue,
                "annotations" if DRIVER_ANNOTATIONS.contains(&key.as_str()) => text.to_owned(),
                _ => pass.value(text),
            };
            fields.insert(pass.key(&key), new.into());
        }
        return;
    }
    if field == "disruptedPods" {
        let old = std::mem::take(fields);
        fields.extend(old.into_iter().map(|(name, time)| (pass.text(&name), time)));
        return;
    }
    // What drivers say about devices is anybody's guess.
    fields.remove("data");
    fields.remove("networkData");
    for (name, value) in fields.iter_mut() {
        // Amounts by resource, and a device's attributes, are maps whose entries can be maps again.
        if KEPT_MAPS.contains(&name.as_str())
            && let Some(amounts) = value.as_object_mut()
        {
            resources(amounts, pass);
            continue;
        }
        // A CSINode's drivers are called by name.
        if field == "drivers" && name == "name" {
            continue;
        }
        walk(value, name, pass);
    }
}

/// The prefix of the resources that device classes are without being told to.
const OF_CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// Names of resources stay, but for those that are made of a class's name.
fn resources(amounts: &mut Map<String, Value>, pass: &mut Pass<'_>) {
    if amounts.keys().any(|name| name.starts_with(OF_CLASS)) {
        let old = std::mem::take(amounts);
        amounts.extend(old.into_iter().map(|(name, amount)| (resource(&name, pass), amount)));
    }
}

fn resource(name: &str, pass: &mut Pass<'_>) -> String {
    name.strip_prefix(OF_CLASS).map_or_else(|| name.to_owned(), |class| format!("{OF_CLASS}{}", pass.text(class)))
}

/// An owner's API: those of Kubernetes stay.
fn api_version(text: &str, pass: &mut Pass<'_>) -> String {
    match text.split_once('/') {
        None | Some(("apps" | "batch" | "policy", _)) => text.to_owned(),
        Some(_) if is_kubernetes_own(text) => text.to_owned(),
        Some((group, version)) => format!("{}/{version}", pass.text(group)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_text_is_replaced_but_those_that_say_what_a_thing_is_like() {
        let mut pod = json!({
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "u-1", "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {"app": "web", "app.kubernetes.io/name": "web", "tier": "3", "kubernetes.io/os": "linux"},
                "annotations": {"schedscope/other-annotations": "0123", "volume.kubernetes.io/selected-node": "host-a"},
                "ownerReferences": [{"apiVersion": "acme.com/v1", "kind": "Rocket", "name": "r"}, {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web"}]},
            "spec": {"nodeName": "host-a", "schedulerName": "mine", "secret-field": "hush",
                "containers": [{"name": "web", "image": "registry.acme.com/web:1.2", "resources": {"requests": {"cpu": "1", "acme.com/gpu": "2"}}},
                    {"name": "b", "image": "web"}, {"name": "c", "image": "web:latest"}],
                "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "web", "effect": "NoSchedule"}]},
            "status": {"conditions": [{"type": "Ready"}, {"type": "acme.com/Ready"}], "images": [{"names": ["web@sha256:0a"]}], "message": "0/3 nodes are available: 1 Insufficient cpu, 2 hush."},
        });
        let mut redactor = Redactor::default();
        redactor.collect(&mut pod.clone());
        redactor.finish();
        redactor.apply("Pod", &mut pod);
        let r = |text: &str| redactor.of(text);
        let image = |repository: &str, tag: &str| format!("{}:{}", r(repository), r(tag));
        assert_eq!(
            pod,
            json!({
                "metadata": {"name": r("web-1"), "namespace": r("shop"), "uid": r("u-1"), "creationTimestamp": "2026-01-01T00:00:00Z",
                    "labels": {r("app"): r("web"), "app.kubernetes.io/name": r("web"), r("tier"): "3", "kubernetes.io/os": "linux"},
                    "annotations": {"volume.kubernetes.io/selected-node": r("host-a")},
                    "ownerReferences": [{"apiVersion": format!("{}/v1", r("acme.com")), "kind": r("Rocket"), "name": r("r")}, {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": r("web")}]},
                "spec": {"nodeName": r("host-a"), "schedulerName": "mine", "secret-field": r("hush"),
                    "containers": [{"name": r("web"), "image": image("registry.acme.com/web", "1.2"), "resources": {"requests": {"cpu": "1", "acme.com/gpu": "2"}}},
                        {"name": r("b"), "image": r("web")}, {"name": r("c"), "image": format!("{}:latest", r("web"))}],
                    "tolerations": [{"key": r("dedicated"), "operator": "Equal", "value": r("web"), "effect": "NoSchedule"}]},
                "status": {"conditions": [{"type": "Ready"}, {"type": r("acme.com/Ready")}], "images": [{"names": [image("web@sha256", "0a")]}], "message": "0/3 nodes are available: 1 Insufficient cpu, 2 …"},
            })
        );
        assert!(r("host-a") < r("shop") && r("shop") < r("web"), "the order stays");
    }

    #[test]
    fn keys_of_kubernetes_own_stay() {
        for (key, own) in [
            ("kubernetes.io/hostname", true),
            ("topology.kubernetes.io/zone", true),
            ("node-role.kubernetes.io/control-plane", true),
            ("resource.k8s.io/x", true),
            ("notkubernetes.io/x", false),
            ("acme.com/kubernetes.io", false),
            ("app", false),
        ] {
            assert_eq!(is_kubernetes_own(key), own, "{key}");
        }
        let zones = Pass::Apply(&Redactor::default()).value("1__true");
        assert_eq!(zones, "1__true");
    }
}
