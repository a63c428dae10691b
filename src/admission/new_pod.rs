//! A pod of a manifest, and its validation.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::refusal::FieldError;
use super::{Refusal, placement};
use crate::cluster::{Container, Key, LabelSelector, Meta, Pod, ResourceRequirements, Str, subdomain_errors};

/// A pod with the fields that admission reads and scheduling does not.
#[derive(Clone, Debug)]
pub struct NewPod {
    pub pod: Pod,
    /// `serviceAccountName`; `default` if the pod names none.
    pub service_account: Str,
    /// Whether `activeDeadlineSeconds` is set.
    pub has_deadline: bool,
    /// `runtimeClassName`.
    pub runtime_class: Option<Str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wire {
    spec: Fields,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Fields {
    service_account_name: Option<Str>,
    service_account: Option<Str>,
    active_deadline_seconds: Option<i64>,
    runtime_class_name: Option<Str>,
}

impl NewPod {
    /// Reads a pod. One without a namespace is in `default`.
    ///
    /// # Errors
    /// When a field has another type than the API's.
    pub fn read(pod: &Value) -> Result<Self, Vec<FieldError>> {
        let invalid = |error: serde_json::Error| vec![FieldError { path: String::new(), detail: error.to_string() }];
        for path in ["", "metadata", "spec"] {
            let part = if path.is_empty() { Some(pod) } else { pod.get(path) };
            if part.is_some_and(|part| !part.is_object() && (path.is_empty() || !part.is_null())) {
                return Err(vec![FieldError { path: path.to_owned(), detail: "Invalid value: must be an object".to_owned() }]);
            }
        }
        let fields = Wire::deserialize(pod).map_err(invalid)?.spec;
        let written = pod;
        let mut pod = Pod::deserialize(written).map_err(invalid)?;
        default_ports(&mut pod, written).map_err(invalid)?;
        if pod.metadata.namespace.is_empty() {
            pod.metadata.namespace = "default".into();
        }
        let named = [fields.service_account_name, fields.service_account].into_iter().flatten().find(|name| !name.is_empty());
        Ok(Self {
            pod,
            service_account: named.unwrap_or_else(|| "default".into()),
            has_deadline: fields.active_deadline_seconds.is_some(),
            runtime_class: fields.runtime_class_name,
        })
    }

    /// Returns a pod of which only scheduling's fields are known.
    pub(super) fn of(pod: Pod) -> Self {
        Self { pod, service_account: "default".into(), has_deadline: false, runtime_class: None }
    }
}

/// Returns the key of a pod that cannot be read.
pub(super) fn key_of(pod: &Value) -> Key {
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    Key::new(text("/metadata/namespace"), text("/metadata/name"))
}

/// Sets the protocol of ports, and the host port of each container port of a pod on the host's network. `written` is the pod as JSON,
/// which has the container ports.
fn default_ports(pod: &mut Pod, written: &Value) -> serde_json::Result<()> {
    let (on_host, tcp) = (pod.spec.host_network == Some(true), Str::from("TCP"));
    let spec = pod.spec_mut();
    for (list, containers) in [("containers", &mut spec.containers), ("initContainers", &mut spec.init_containers)] {
        for (at, container) in containers.iter_mut().enumerate() {
            for (number, port) in container.ports.iter_mut().enumerate() {
                if port.protocol.is_empty() {
                    port.protocol = tcp.clone();
                }
                if on_host && port.host_port.unwrap_or(0) == 0 {
                    port.host_port = Option::deserialize(&written["spec"][list][at]["ports"][number]["containerPort"])?;
                }
            }
        }
    }
    Ok(())
}

/// Checks the fields that decide about scheduling and that a manifest often gets wrong; mirrors parts of
/// `pkg/apis/core/validation/validation.go`.
pub(super) fn validate(pod: &Pod) -> Result<(), Refusal> {
    let mut errors = Vec::new();
    let mut error = |path: String, detail: String| errors.push(FieldError { path, detail });
    if pod.metadata.name.is_empty() {
        error("metadata.name".to_owned(), "Required value: name or generateName is required".to_owned());
    }
    validate_metadata(&pod.metadata, &mut error);
    if pod.spec.containers.is_empty() {
        error("spec.containers".to_owned(), "Required value".to_owned());
    }
    for (list, containers) in [("containers", &pod.spec.containers), ("initContainers", &pod.spec.init_containers)] {
        for (at, container) in containers.iter().enumerate() {
            validate_container(container, &format!("spec.{list}[{at}]"), &mut error);
        }
    }
    placement::validate(pod, &mut error);
    for (at, constraint) in pod.spec.topology_spread_constraints.iter().enumerate() {
        let path = format!("spec.topologySpreadConstraints[{at}]");
        if constraint.max_skew <= 0 {
            error(format!("{path}.maxSkew"), format!("Invalid value: {}: must be greater than zero", constraint.max_skew));
        }
        if constraint.topology_key.is_empty() {
            error(format!("{path}.topologyKey"), "Required value: can not be empty".to_owned());
        }
        if !matches!(constraint.when_unsatisfiable.as_str(), "DoNotSchedule" | "ScheduleAnyway") {
            let detail = format!(
                "Unsupported value: \"{}\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"",
                constraint.when_unsatisfiable
            );
            error(format!("{path}.whenUnsatisfiable"), detail);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Refusal::Invalid(errors)) }
}

/// Bytes of a text that an error repeats.
const QUOTED: usize = 320;

/// Checks the name and the labels.
fn validate_metadata(meta: &Meta, error: &mut dyn FnMut(String, String)) {
    let mut invalid = |path: &str, text: &str, problems: Vec<String>| {
        for problem in problems {
            error(path.to_owned(), format!("Invalid value: \"{}\": {problem}", excerpt(text)));
        }
    };
    if !meta.name.is_empty() {
        invalid("metadata.name", &meta.name, subdomain_errors(&meta.name));
    }
    for (key, value) in meta.labels.iter() {
        invalid("metadata.labels", key, LabelSelector::key_errors(key));
        invalid("metadata.labels", value, LabelSelector::value_errors(value));
    }
}

/// Returns the beginning of a text that is too long to be repeated.
fn excerpt(text: &str) -> Cow<'_, str> {
    let end = text.char_indices().map(|(at, _)| at).chain([text.len()]).take_while(|at| *at <= QUOTED).last().unwrap_or(0);
    if end == text.len() { Cow::Borrowed(text) } else { Cow::Owned(format!("{}...", &text[..end])) }
}

fn validate_container(container: &Container, path: &str, error: &mut dyn FnMut(String, String)) {
    if container.name.is_empty() {
        error(format!("{path}.name"), "Required value".to_owned());
    }
    let ResourceRequirements { requests, limits, .. } = &container.resources;
    for (name, amount) in requests.iter() {
        if amount.nanos() < 0 {
            error(format!("{path}.resources.requests[{name}]"), format!("Invalid value: \"{amount}\": must be greater than or equal to 0"));
        }
        if let Some(limit) = limits.get(name).filter(|limit| *limit < amount && placement::is_overcommitted(name)) {
            let detail = format!("Invalid value: \"{amount}\": must be less than or equal to {name} limit of {limit}");
            error(format!("{path}.resources.requests"), detail);
        }
    }
    placement::resources(container, path, error);
}
