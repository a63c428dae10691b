//! The priority of a pod's class; mirrors `plugin/pkg/admission/priority/admission.go`.

use std::sync::Arc;

use super::Refusal;
use crate::cluster::{Cluster, Kind, Pod, PriorityClass, Str};

/// The classes that exist in every cluster.
const SYSTEM_CLASSES: [(&str, i32); 2] = [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
/// The preemption policy of a class that names none.
const PREEMPTS: &str = "PreemptLowerPriority";

/// The class of a pod, as far as its pods depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodClass {
    /// The name; empty without a class.
    pub(crate) name: Str,
    pub(crate) value: i32,
    pub(crate) preemption_policy: Option<Str>,
}

impl PodClass {
    fn of(class: &PriorityClass) -> Self {
        Self { name: class.metadata.name.clone(), value: class.value, preemption_policy: class.preemption_policy.clone() }
    }
}

/// Returns the default class: of several the API server uses the one with the lowest value.
pub(crate) fn default_class<'a>(classes: impl Iterator<Item = &'a Arc<PriorityClass>>) -> Option<PodClass> {
    let defaults = classes.filter(|class| class.global_default == Some(true));
    defaults.min_by_key(|class| class.value).map(|class| PodClass::of(class))
}

/// Returns the class of a name; `None` if it does not exist.
pub(crate) fn named(name: &Str, find: impl Fn(&Str) -> Option<Arc<PriorityClass>>) -> Option<PodClass> {
    let of_system = || {
        let (_, value) = SYSTEM_CLASSES.iter().find(|(system, _)| name == system)?;
        Some(PodClass { name: name.clone(), value: *value, preemption_policy: None })
    };
    find(name).map(|class| PodClass::of(&class)).or_else(of_system)
}

/// Returns whether it is unknown if a class exists: the cluster lacks it, and not all classes are known.
pub(crate) fn is_unknown(cluster: &Cluster, name: &Str) -> bool {
    let found = named(name, |name| cluster.priority_classes.named(name).cloned());
    !name.is_empty() && found.is_none() && cluster.unknown.why(Kind::PriorityClass).is_some()
}

/// Sets a pod's priority, class and preemption policy. Where it is unknown whether its class exists, they stay as they are.
///
/// # Errors
/// When the class does not exist, or the pod names another priority or policy than its class.
pub(super) fn set(cluster: &Cluster, pod: &mut Pod) -> Result<(), Refusal> {
    let name = pod.spec.priority_class_name.clone();
    let class = if name.is_empty() {
        let none = PodClass { name, value: 0, preemption_policy: None };
        default_class(cluster.priority_classes.iter()).unwrap_or(none)
    } else {
        let found = named(&name, |name| cluster.priority_classes.named(name).cloned());
        match found {
            Some(class) => class,
            None if is_unknown(cluster, &name) => return Ok(()),
            None => return Err(Refusal::NoPriorityClass(name)),
        }
    };
    let policy = class.preemption_policy.unwrap_or_else(|| PREEMPTS.into());
    if let Some(given) = pod.spec.priority.filter(|given| *given != class.value) {
        return Err(Refusal::OtherPriority { given, computed: class.value });
    }
    if let Some(given) = pod.spec.preemption_policy.clone().filter(|given| *given != policy) {
        return Err(Refusal::OtherPreemptionPolicy { given, computed: policy });
    }
    let spec = pod.spec_mut();
    spec.priority = Some(class.value);
    spec.priority_class_name = class.name;
    spec.preemption_policy = Some(policy);
    Ok(())
}
