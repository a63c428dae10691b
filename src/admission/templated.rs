//! Pods of one template, which share its JSON and what admission read of it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::new_pod::key_of;
use super::quotas::Charge;
use super::{Admission, FieldError, NewPod, Refusal, RefusedPod};
use crate::cluster::{Cluster, Key, Labels, Meta, Pod, PodSpec, Str};

/// Limit on the templates of which the content is kept, for workloads whose pods are of several in turn.
const TEMPLATES_KEPT: usize = 4;

/// A pod as JSON, whose copies differ in their metadata and in few fields of the spec.
#[derive(Debug)]
pub struct PodTemplate {
    pod: Value,
    size: usize,
}

impl PodTemplate {
    /// Takes a pod, with the fields that all its copies have.
    pub fn new(pod: Value) -> Arc<Self> {
        let size = serde_json::to_vec(&pod).map_or(usize::MAX, |text| text.len());
        Arc::new(Self { pod, size })
    }

    /// Returns its length as JSON, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    fn field(&self, part: &str, field: &str) -> &Value {
        self.pod.get(part).and_then(|part| part.get(field)).unwrap_or(&Value::Null)
    }
}

/// A pod before admission: a copy of a template, and what is its own.
#[derive(Clone, Debug)]
pub struct TemplatedPod {
    template: Arc<PodTemplate>,
    /// Fields of `metadata` in place of the template's; a null one is left out.
    metadata: Map<String, Value>,
    /// Labels beside the template's.
    labels: Map<String, Value>,
    /// `spec.volumes` and `spec.affinity` in place of the template's.
    spec: Map<String, Value>,
}

impl TemplatedPod {
    /// Makes a copy under a name. `metadata` has its other fields.
    pub fn new(template: &Arc<PodTemplate>, namespace: &str, name: &str, metadata: Map<String, Value>) -> Self {
        let mut this = Self { template: Arc::clone(template), metadata, labels: Map::new(), spec: Map::new() };
        this.metadata.insert("name".to_owned(), name.into());
        this.metadata.insert("namespace".to_owned(), namespace.into());
        this
    }

    /// Returns its template.
    pub fn template(&self) -> &Arc<PodTemplate> {
        &self.template
    }

    /// Returns its namespace and name.
    pub fn key(&self) -> Key {
        let text = |field: &str| self.metadata.get(field).and_then(Value::as_str).unwrap_or_default();
        Key::new(text("namespace"), text("name"))
    }

    /// Returns the first owner reference, as JSON.
    pub fn owner(&self) -> Option<&Value> {
        self.metadata.get("ownerReferences").unwrap_or_else(|| self.template.field("metadata", "ownerReferences")).get(0)
    }

    /// Returns the value of a label, as JSON.
    pub fn label(&self, key: &str) -> Option<&Value> {
        self.labels.get(key).or_else(|| self.template.field("metadata", "labels").get(key))
    }

    /// Gives it another name, and no uid.
    pub fn rename(&mut self, name: &str) {
        self.metadata.insert("name".to_owned(), name.into());
        self.metadata.insert("uid".to_owned(), Value::Null);
    }

    /// Adds a label, or replaces the template's.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.labels.insert(key.to_owned(), value.into());
    }

    /// Returns a field of the spec that holds text.
    pub fn spec_text(&self, field: &str) -> Option<&str> {
        self.template.field("spec", field).as_str()
    }

    /// Returns the volumes as JSON.
    pub fn volumes(&self) -> &Value {
        self.spec.get("volumes").unwrap_or_else(|| self.template.field("spec", "volumes"))
    }

    /// Replaces the volumes.
    pub fn set_volumes(&mut self, volumes: Value) {
        self.spec.insert("volumes".to_owned(), volumes);
    }

    /// Returns the affinity as JSON.
    pub fn affinity(&self) -> &Value {
        self.spec.get("affinity").unwrap_or_else(|| self.template.field("spec", "affinity"))
    }

    /// Replaces the affinity.
    pub fn set_affinity(&mut self, affinity: Value) {
        self.spec.insert("affinity".to_owned(), affinity);
    }

    /// Returns the whole pod as JSON.
    pub fn json(&self) -> Value {
        let mut pod = self.template.pod.clone();
        if let Some(fields) = pod.as_object_mut() {
            let metadata = object_in(fields, "metadata");
            metadata.extend(self.metadata.clone());
            metadata.retain(|_, value| !value.is_null());
            if !self.labels.is_empty() {
                object_in(metadata, "labels").extend(self.labels.clone());
            }
            if !self.spec.is_empty() {
                object_in(fields, "spec").extend(self.spec.clone());
            }
        }
        pod
    }

    /// Gives a copy of the template what is its own.
    fn complete(&self, pod: &mut Pod) -> serde_json::Result<()> {
        let own: Meta = serde_json::from_value(Value::Object(self.metadata.clone()))?;
        let (has, metadata) = (|field: &str| self.metadata.contains_key(field), &mut pod.metadata);
        (metadata.name, metadata.namespace) = (own.name.clone(), own.namespace.clone());
        if has("uid") {
            metadata.uid = own.uid.clone();
        }
        if has("creationTimestamp") {
            metadata.creation_timestamp = own.creation_timestamp;
        }
        if has("ownerReferences") {
            metadata.owner_references = own.owner_references.clone();
        }
        for (key, value) in &self.labels {
            metadata.labels.insert(key.as_str().into(), Str::from(value.as_str().unwrap_or_default()));
        }
        if !self.spec.is_empty() {
            let own: PodSpec = serde_json::from_value(Value::Object(self.spec.clone()))?;
            let spec = pod.spec_mut();
            if self.spec.contains_key("volumes") {
                spec.volumes = own.volumes;
            }
            if self.spec.contains_key("affinity") {
                spec.affinity = own.affinity;
            }
        }
        Ok(())
    }
}

/// Returns an object in a field, made where the field is of another type.
fn object_in<'a>(fields: &'a mut Map<String, Value>, field: &str) -> &'a mut Map<String, Value> {
    let value = fields.entry(field).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it is an object")
}

/// The content of a template.
#[derive(Clone, Debug)]
pub(super) struct ReadTemplate {
    template: Arc<PodTemplate>,
    new: NewPod,
    /// The last copy without own fields of the spec that passed.
    passed: Option<Passed>,
}

/// A pod that passed all checks but those of amounts.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    labels: Labels,
    new: NewPod,
    charge: Arc<Charge>,
}

impl Admission {
    /// Admits a pod as [`Admission::admit`]. Copies of one template are read once, and share their specs. For copies with the same labels the
    /// namespace, the classes and the policies but quotas are those that the first one met.
    ///
    /// # Errors
    /// When an API server would refuse the pod.
    pub fn admit_templated(&mut self, cluster: &Cluster, pod: &TemplatedPod) -> Result<Pod, RefusedPod> {
        let invalid = |errors: Vec<FieldError>| RefusedPod { pod: pod.key(), refusal: Refusal::Invalid(errors) };
        let mut known = match self.templates.iter().position(|known| Arc::ptr_eq(&known.template, &pod.template)) {
            Some(at) => self.templates.remove(at),
            None => {
                let new = NewPod::read(&pod.template.pod)
                    .map_err(|errors| RefusedPod { pod: key_of(&pod.json()), refusal: Refusal::Invalid(errors) })?;
                ReadTemplate { template: Arc::clone(&pod.template), new, passed: None }
            }
        };
        let mut new = known.new.clone();
        let completed = pod.complete(&mut new.pod);
        completed.map_err(|error| invalid(vec![FieldError { path: String::new(), detail: error.to_string() }]))?;
        let key = new.pod.key();
        let found = self.admit_copy(cluster, new, pod, &mut known.passed);
        if self.templates.len() == TEMPLATES_KEPT {
            self.templates.remove(0);
        }
        self.templates.push(known);
        found.map_err(|refusal| RefusedPod { pod: key, refusal })
    }

    fn admit_copy(&mut self, cluster: &Cluster, mut new: NewPod, pod: &TemplatedPod, passed: &mut Option<Passed>) -> Result<Pod, Refusal> {
        let as_before = passed.as_ref().filter(|before| {
            let namespace = &before.new.pod.metadata.namespace;
            pod.spec.is_empty() && before.labels == new.pod.metadata.labels && *namespace == new.pod.metadata.namespace
        });
        let charge = if let Some(Passed { new: before, charge, .. }) = as_before {
            let mut metadata = std::mem::take(&mut new.pod.metadata);
            if metadata.template == before.pod.metadata.template {
                metadata.template = before.pod.metadata.template.clone();
            }
            new = before.clone();
            new.pod.metadata = metadata;
            Arc::clone(charge)
        } else {
            let labels = new.pod.metadata.labels.clone();
            self.complete_and_check(cluster, &mut new)?;
            if let Some(before) = passed.as_ref().filter(|before| before.new.pod.spec == new.pod.spec) {
                new.pod.spec = Arc::clone(&before.new.pod.spec);
            }
            let charge = self.quotas.charge(&self.policies, self.emulation, &new)?;
            if pod.spec.is_empty() {
                *passed = Some(Passed { labels, new: new.clone(), charge: Arc::clone(&charge) });
            }
            charge
        };
        self.quotas.add(cluster, self.emulation, &charge)?;
        Ok(new.pod)
    }
}
