//! Admission of new pods, as an API server does it.

use serde_json::{Value, json};

use super::{Engine, Error, ErrorKind};
use crate::admission::{self, Policies};
use crate::cluster::{Cluster, Kind, Pod};
use crate::release::Emulation;

/// Returns a pod with the defaults that the newest API server sets in an empty cluster: `schedulerName`, requests from limits, tolerations
/// and others. [`Engine::admit`] does the same in a cluster, with its priority classes, limit ranges and quotas.
///
/// # Errors
/// When an API server would refuse the pod.
///
/// ```
/// use serde_json::json;
///
/// let pod = json!({"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]}});
/// let pod = schedscope::engine::admit(&pod)?;
/// assert_eq!(pod["spec"]["schedulerName"], "default-scheduler");
/// assert_eq!(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "2");
/// # Ok::<(), schedscope::engine::Error>(())
/// ```
pub fn admit(pod: &Value) -> Result<Value, Error> {
    admitted(&Cluster::default(), &Policies::default(), Emulation::default(), pod)
}

impl Engine {
    /// Returns a new pod as an API server of this cluster would store it: with its defaults, the priority of its class, and the defaults of
    /// limit ranges. Nothing is kept.
    ///
    /// # Errors
    /// When an API server would refuse the pod, with its words: a quota, a limit range, a missing class or service account.
    ///
    /// ```
    /// # use schedscope::engine::{Engine, ErrorKind};
    /// use serde_json::json;
    ///
    /// let class = "{kind: PriorityClass, metadata: {name: gold}, value: 1000}";
    /// let engine = Engine::builder().objects(class).build()?;
    /// let pod = |class: &str| json!({"metadata": {"name": "web"}, "spec": {"priorityClassName": class, "containers": [{"name": "c"}]}});
    /// assert_eq!(engine.admit(&pod("gold"))?["spec"]["priority"], 1000);
    /// let refused = engine.admit(&pod("silver")).unwrap_err();
    /// assert_eq!((refused.kind(), refused.object()), (ErrorKind::Refused, Some("Pod default/web")));
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn admit(&self, pod: &Value) -> Result<Value, Error> {
        let state = self.scheduler.state();
        admitted(state.cluster(), self.source.policies(), state.config().emulation, pod)
    }
}

fn admitted(cluster: &Cluster, policies: &Policies, emulation: Emulation, pod: &Value) -> Result<Value, Error> {
    if !matches!(pod.get("kind").and_then(Value::as_str), None | Some("Pod")) {
        return Err(Error::new(ErrorKind::Workload, "only pods are admitted; `place` takes workloads"));
    }
    let found: Pod = admission::admit(cluster, policies, emulation, pod).map_err(|refused| refusal(&refused))?;
    let defaults = serde_json::to_value(&found).map_err(|error| Error::new(ErrorKind::Answer, error))?;
    let mut admitted = json!({"apiVersion": "v1", "kind": "Pod"});
    fill(&mut admitted, pod);
    fill(&mut admitted, &defaults);
    Ok(admitted)
}

pub(super) fn refusal(refused: &admission::RefusedPod) -> Error {
    if refused.pod.name.is_empty() {
        Error::new(ErrorKind::Refused, refused).about(Kind::Pod)
    } else {
        Error::about_pod(ErrorKind::Refused, &refused.pod, refused)
    }
}

/// Adds the fields that an object lacks. Lists are filled item by item.
fn fill(value: &mut Value, from: &Value) {
    match (value, from) {
        (Value::Object(fields), Value::Object(from)) => {
            for (name, from) in from {
                match fields.get_mut(name) {
                    Some(field) if !field.is_null() => fill(field, from),
                    _ => drop(fields.insert(name.clone(), from.clone())),
                }
            }
        }
        (Value::Array(items), Value::Array(from)) => {
            items.iter_mut().zip(from).for_each(|(item, from)| fill(item, from));
            let known = items.len();
            items.extend(from.iter().skip(known).cloned());
        }
        _ => {}
    }
}
