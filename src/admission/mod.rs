//! Admission, as an API server does it: the defaults of pods that it has not seen, and its refusals.
//!
//! Mirrors the parts of `pkg/apis/core/v1/defaults.go` and of the admission plugins that are on by default which decide about
//! scheduling or about the existence of a pod. Webhooks, policies and Pod Security are not emulated.
//!
//! | file | holds |
//! | --- | --- |
//! | `defaults` | defaults that depend on the pod only |
//! | `priority` | the priority of a pod's class |
//! | `limit_range` | defaults and bounds of LimitRanges |
//! | `quota` | ResourceQuotas: the scope, the usage of a pod |
//! | `quotas` | the quotas of a cluster, and the amounts left |
//! | `policies` | the objects that admission reads and scheduling does not |
//! | `new_pod` | a pod of a manifest, and its validation |
//! | `placement` | checks of placement constraints, ports and resource names |
//! | `templated` | pods of one template, which is read once |
//! | `refusal` | why a pod is refused, in the API server's words |

pub(crate) mod defaults;
mod items;
mod length;
mod limit_range;
mod new_pod;
mod placement;
mod policies;
pub(crate) mod priority;
mod quota;
mod quotas;
mod refusal;
mod templated;

/// Removes fields of an object that are null: an API server reads them as absent.
pub(crate) fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// Refuses pods of a namespace that does not exist or is being deleted.
fn check_namespace(cluster: &Cluster, namespace: &Str) -> Result<(), Refusal> {
    let found = cluster.namespaces.named(namespace);
    if found.is_some_and(|found| found.metadata.deletion_timestamp.is_some()) {
        return Err(Refusal::NamespaceTerminating(namespace.clone()));
    }
    let is_known = cluster.unknown.why(Kind::Namespace).is_none() && !cluster.namespaces.is_empty();
    // Every cluster has it.
    if found.is_none() && is_known && namespace != "default" {
        return Err(Refusal::NoNamespace(namespace.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

pub use items::TooMany;
pub use length::TooLong;
use limit_range::{Defaults, LimitRange};
pub use new_pod::NewPod;
pub use policies::{OtherTypes, Policies};
use quotas::Quotas;
pub use refusal::{FieldError, LimitBreach, QuotaAmount, Refusal, RefusedPod};
use templated::ReadTemplate;
pub use templated::{PodTemplate, TemplatedPod};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cluster::neighbors::NeighborKind;
use serde_json::Value;

use crate::cluster::{Cluster, Key, Kind, Pod, Str};
use crate::release::Emulation;

/// Admits one pod to a cluster: returns it with the defaults of an API server.
///
/// The pod is JSON as in a manifest; one without a namespace is put into `default`. Nothing is kept: an [`Admission`] counts the
/// pods that it admitted in their quotas.
///
/// # Errors
/// When an API server would refuse the pod.
pub fn admit(cluster: &Cluster, policies: &Policies, emulation: Emulation, pod: &Value) -> Result<Pod, RefusedPod> {
    Admission::new(policies.clone(), emulation).admit(cluster, pod)
}

/// Returns the errors of a pod or of a template of pods that an API server finds before it reads anything of the cluster. A missing name
/// is none.
pub fn template_errors(template: &Value) -> Vec<FieldError> {
    let new = match NewPod::read(template) {
        Ok(new) => new,
        Err(errors) => return errors,
    };
    let is_other = |error: &FieldError| error.path != "metadata.name";
    match new_pod::validate(&new.pod) {
        Err(Refusal::Invalid(errors)) => errors.into_iter().filter(is_other).collect(),
        _ => Vec::new(),
    }
}

/// Returns the errors of mounts of volumes that a pod, or a template of pods, has not. Those of a StatefulSet may be of its claims.
pub fn mount_errors(template: &Value) -> Vec<FieldError> {
    placement::mounts(template)
}

/// An API server that admits one pod after another.
#[derive(Clone, Debug)]
pub struct Admission {
    policies: Policies,
    emulation: Emulation,
    quotas: Quotas,
    /// The LimitRanges of namespaces to which pods came.
    ranges: BTreeMap<Str, Arc<Ranges>>,
    /// The templates that were read, the newest last.
    templates: Vec<ReadTemplate>,
}

/// The LimitRanges of a namespace, by name, and the defaults of all of them.
#[derive(Debug)]
struct Ranges {
    all: Vec<Arc<LimitRange>>,
    defaults: Defaults,
}

impl Ranges {
    fn of(policies: &Policies, namespace: &Str) -> Arc<Self> {
        let all: Vec<Arc<LimitRange>> = policies.limit_ranges_in(namespace).cloned().collect();
        Arc::new(Self { defaults: Defaults::of(all.iter()), all })
    }
}

impl Admission {
    /// Begins with the policies of a cluster.
    pub fn new(policies: Policies, emulation: Emulation) -> Self {
        Self { policies, emulation, quotas: Quotas::default(), ranges: BTreeMap::new(), templates: Vec::new() }
    }

    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Returns the emulated release.
    pub fn emulation(&self) -> Emulation {
        self.emulation
    }

    /// Adds or replaces a policy. The usage of a quota is counted anew. Returns whether the object is a policy.
    ///
    /// # Errors
    /// When a field has another type than the API's.
    pub fn learn(&mut self, object: &Value) -> Result<bool, OtherTypes> {
        let Some((kind, key)) = self.policies.insert(object)? else { return Ok(false) };
        self.templates.clear();
        self.ranges.remove(&key.namespace);
        if kind == NeighborKind::ResourceQuota {
            self.policies.quota(&key).into_iter().for_each(|quota| self.quotas.insert(quota));
        }
        Ok(true)
    }

    /// Admits a pod: returns it with the defaults of an API server, and counts it in its quotas.
    ///
    /// # Errors
    /// When an API server would refuse the pod.
    pub fn admit(&mut self, cluster: &Cluster, pod: &Value) -> Result<Pod, RefusedPod> {
        let new = NewPod::read(pod).map_err(|errors| RefusedPod { pod: new_pod::key_of(pod), refusal: Refusal::Invalid(errors) })?;
        let key = new.pod.key();
        self.admit_new(cluster, new).map_err(|refusal| RefusedPod { pod: key, refusal })
    }

    /// Admits a pod in the order in which an API server asks its plugins: those that change the pod, then those that check it.
    fn admit_new(&mut self, cluster: &Cluster, mut new: NewPod) -> Result<Pod, Refusal> {
        self.complete_and_check(cluster, &mut new)?;
        let charge = self.quotas.charge(&self.policies, self.emulation, &new)?;
        self.quotas.add(cluster, self.emulation, &charge)?;
        Ok(new.pod)
    }

    /// Sets defaults and makes all checks but those of quotas.
    fn complete_and_check(&mut self, cluster: &Cluster, new: &mut NewPod) -> Result<(), Refusal> {
        check_namespace(cluster, &new.pod.metadata.namespace)?;
        defaults::new_pod(&mut new.pod, self.emulation);
        let namespace = new.pod.metadata.namespace.clone();
        let ranges = self.ranges.entry(namespace.clone()).or_insert_with(|| Ranges::of(&self.policies, &namespace)).clone();
        ranges.defaults.set(&mut new.pod)?;
        self.check_account(&namespace, &new.service_account)?;
        priority::set(cluster, &mut new.pod)?;
        defaults::tolerations(&mut new.pod);
        self.policies.apply_runtime_class(new)?;
        new_pod::validate(&new.pod)?;
        limit_range::check(&ranges.all, &new.pod)
    }

    /// Checks whether a pod would be admitted, and returns it with the defaults of an API server. Does not count it in its quotas.
    ///
    /// # Errors
    /// When an API server would refuse the pod.
    pub fn check(&mut self, cluster: &Cluster, pod: &Value) -> Result<Pod, Refusal> {
        let mut new = NewPod::read(pod).map_err(Refusal::Invalid)?;
        self.complete_and_check(cluster, &mut new)?;
        let charge = self.quotas.charge(&self.policies, self.emulation, &new)?;
        self.quotas.check(cluster, self.emulation, &charge)?;
        Ok(new.pod)
    }

    /// Admits a pod that a controller makes in place of another from the same template, and counts it in its quotas instead of that. Neither
    /// its runtime class nor its service account is read.
    ///
    /// # Errors
    /// When an API server would refuse the pod.
    pub fn replace(&mut self, cluster: &Cluster, old: &Pod, new: &Pod) -> Result<(), Refusal> {
        self.forget(cluster, old);
        let mut new = NewPod::of(new.clone());
        let namespace = new.pod.metadata.namespace.clone();
        // The old pod shows that it exists.
        if let Err(refusal @ Refusal::NamespaceTerminating(_)) = check_namespace(cluster, &namespace) {
            return Err(refusal);
        }
        // A template names the class only.
        let spec = new.pod.spec_mut();
        (spec.priority, spec.preemption_policy) = (None, None);
        priority::set(cluster, &mut new.pod)?;
        let ranges = self.ranges.entry(namespace.clone()).or_insert_with(|| Ranges::of(&self.policies, &namespace)).clone();
        limit_range::check(&ranges.all, &new.pod)?;
        let charge = self.quotas.charge(&self.policies, self.emulation, &new)?;
        self.quotas.add(cluster, self.emulation, &charge)
    }

    fn check_account(&self, namespace: &Str, account: &Str) -> Result<(), Refusal> {
        let key = Key::new(namespace.clone(), account.clone());
        if self.policies.has_account(&key) == Some(false) { Err(Refusal::NoServiceAccount(key)) } else { Ok(()) }
    }

    /// Takes a deleted pod out of its quotas.
    pub fn forget(&mut self, cluster: &Cluster, pod: &Pod) {
        self.quotas.subtract(&self.policies, self.emulation, cluster, &NewPod::of(pod.clone()));
    }

    /// Takes a deleted pod out of its quotas, with the fields that scheduling does not read.
    pub fn forget_written(&mut self, cluster: &Cluster, pod: &Value) {
        if let Ok(new) = NewPod::read(pod) {
            self.quotas.subtract(&self.policies, self.emulation, cluster, &new);
        }
    }
}
