//! DaemonSets: one pod for each node that takes it; mirrors `pkg/controller/daemon/daemon_controller.go`.

use serde_json::{Value, json};

use super::{FieldError, Found, Names, Surge, UnfoldedPod, Update, Work, checked, sets, suffix};
use crate::admission::TemplatedPod;
use crate::cluster::{Cluster, Node, Pod, Str, taints_of_daemons};
use crate::plugins::helper::find_untolerated_taint;
use crate::plugins::node_affinity::required_node_affinity_matches;
use crate::release::Emulation;

/// Unfolds a DaemonSet. Each pod is bound to its node by a required node affinity.
pub(super) fn daemon_set(work: &Work<'_>) -> Found {
    let mut errors = Vec::new();
    let template = work.template(&["Always"], &mut errors);
    work.check_selector(template, &mut errors);
    let mut template = template.clone();
    add_tolerations(&mut template);
    let nodes = eligible(work.cluster, &template, work.options.emulation);
    let wanted = nodes.len() as u64;
    let mut found = work.unfolded(wanted);
    let surge = work.spec("updateStrategy/rollingUpdate/maxSurge").cloned().unwrap_or_else(|| json!(0));
    let below = work.spec("updateStrategy/rollingUpdate/maxUnavailable").cloned().unwrap_or_else(|| json!(1));
    let mut share =
        |value: &Value, field: &str| sets::share(value, wanted, true, &format!("spec.updateStrategy.rollingUpdate.{field}"), &mut errors);
    found.surge = Surge { above: share(&surge, "maxSurge"), below: share(&below, "maxUnavailable"), recreates: false };
    let is_none = |field: &str, default: bool| work.spec(&format!("updateStrategy/rollingUpdate/{field}")).map_or(default, sets::is_zero);
    found.update = sets::update(work, &mut errors);
    if found.update == Update::All {
        let (field, detail) = match (is_none("maxSurge", true), is_none("maxUnavailable", false)) {
            (true, true) => ("maxUnavailable", "Required value: cannot be 0 when maxSurge is 0".to_owned()),
            (false, false) => {
                let value = work.spec("updateStrategy/rollingUpdate/maxSurge").unwrap_or(&Value::Null);
                ("maxSurge", format!("Invalid value: {value}: may not be set when maxUnavailable is non-zero"))
            }
            _ => ("", String::new()),
        };
        if !field.is_empty() {
            errors.push(FieldError { path: format!("spec.updateStrategy.rollingUpdate.{field}"), detail });
        }
    }
    let hash = suffix(&[&template.to_string()], 10);
    let (shared, mut names) = (Work::shared(&template), Names::new(work.cluster, &work.key.namespace));
    for node in nodes.iter().take(work.made(wanted)) {
        let mut pod = work.pod(&shared, &names.generate(&work.key.name, &work.uid), &work.owner());
        pod.set_label("controller-revision-hash", &hash);
        bind_to(&mut pod, node);
        found.pods.push(UnfoldedPod::plain(pod));
    }
    checked(found, errors)
}

/// Adds the tolerations that the controller gives its pods.
fn add_tolerations(template: &mut Value) {
    let Some(spec) = template.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let on_host = spec.get("hostNetwork").and_then(Value::as_bool) == Some(true);
    let list = spec.entry("tolerations").or_insert_with(|| json!([]));
    if list.is_null() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else { return };
    for (key, effect) in taints_of_daemons(on_host) {
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        if !list.contains(&toleration) {
            list.push(toleration);
        }
    }
}

/// Replaces the pod's required node affinity by its node; mirrors `ReplaceDaemonSetPodNodeNameNodeAffinity`.
fn bind_to(pod: &mut TemplatedPod, node: &Str) {
    let mut affinity = Some(pod.affinity()).filter(|affinity| affinity.is_object()).cloned().unwrap_or_else(|| json!({}));
    if !affinity["nodeAffinity"].is_object() {
        affinity["nodeAffinity"] = json!({});
    }
    affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node.as_str()]}]}]});
    pod.set_affinity(affinity);
}

/// Returns the nodes that take a pod of a template: its node name, selector, affinity and tolerations allow it.
fn eligible(cluster: &Cluster, template: &Value, emulation: Emulation) -> Vec<Str> {
    let Ok(pod) = serde_json::from_value::<Pod>(json!({"spec": template.get("spec")})) else { return Vec::new() };
    let takes = |node: &Node| {
        (pod.node_name.is_empty() || pod.node_name == *node.name())
            && required_node_affinity_matches(&pod, node)
            && find_untolerated_taint(&node.spec.taints, &pod.spec.tolerations, emulation).is_none()
    };
    cluster.nodes.iter().filter(|node| takes(node)).map(|node| node.name().clone()).collect()
}
