//! Helpers of several plugins: tolerations, default normalization, broken linear functions, and the objects of a
//! change.
//!
//! Mirrors `pkg/scheduler/framework/plugins/helper/{taint,normalize_score,shape_score}.go`,
//! `staging/src/k8s.io/component-helpers/scheduling/corev1/helpers.go` and `ToleratesTaint` in
//! `staging/src/k8s.io/api/core/v1/toleration.go`.

use std::sync::Arc;

use crate::cluster::{Kind, Node, Object, Pod, Taint, Toleration};
use crate::framework::{ActionType, Change, FieldErrors, HintError, MAX_NODE_SCORE};
use crate::release::{Emulation, Gate, NodeRegistrations};

/// Returns the node actions that a plugin registers which reads only the node: additions and `updates`, or any update
/// in releases that register all of them.
pub fn node_actions(emulation: Emulation, updates: ActionType) -> ActionType {
    let updates = match emulation.behaviour().queue.node_registrations {
        NodeRegistrations::AnyUpdate | NodeRegistrations::AnyUpdateButUnschedulable => ActionType::UPDATE,
        NodeRegistrations::ByProperty => updates,
    };
    ActionType::ADD.or(updates)
}

/// Whether one toleration tolerates a taint.
///
/// An empty effect or key of the toleration matches any. `Lt` and `Gt` never match while the gate
/// `TaintTolerationComparisonOperators` is off.
pub fn toleration_tolerates_taint(toleration: &Toleration, taint: &Taint, emulation: Emulation) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    match toleration.operator.as_str() {
        "" | "Equal" => toleration.value == taint.value,
        "Exists" => true,
        "Lt" => compare_values(toleration, taint, emulation, |taint, bound| taint < bound),
        "Gt" => compare_values(toleration, taint, emulation, |taint, bound| taint > bound),
        _ => false,
    }
}

fn compare_values(toleration: &Toleration, taint: &Taint, emulation: Emulation, holds: fn(i64, i64) -> bool) -> bool {
    emulation.enabled(Gate::TaintTolerationComparisonOperators)
        && canonical_integer(&taint.value).zip(canonical_integer(&toleration.value)).is_some_and(|(taint, bound)| holds(taint, bound))
}

/// Parses a decimal integer in the only form that the comparison accepts: no plus sign, no leading zeros, no `-0`.
fn canonical_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zero = digits.starts_with('0') && text != "0";
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if plain && !leading_zero { text.parse().ok() } else { None }
}

/// Whether any of the tolerations tolerates the taint; mirrors `TolerationsTolerateTaint`.
pub fn tolerates(tolerations: &[Toleration], taint: &Taint, emulation: Emulation) -> bool {
    tolerations.iter().any(|t| toleration_tolerates_taint(t, taint, emulation))
}

/// Returns the first taint selected by `include` that no toleration tolerates.
pub fn find_matching_untolerated_taint<'a>(
    taints: &'a [Taint],
    tolerations: &[Toleration],
    include: impl Fn(&Taint) -> bool,
    emulation: Emulation,
) -> Option<&'a Taint> {
    taints.iter().filter(|t| include(t)).find(|t| !tolerates(tolerations, t, emulation))
}

/// Returns the first NoSchedule or NoExecute taint that no toleration tolerates.
pub fn find_untolerated_taint<'a>(taints: &'a [Taint], tolerations: &[Toleration], emulation: Emulation) -> Option<&'a Taint> {
    find_matching_untolerated_taint(taints, tolerations, is_do_not_schedule_taint, emulation)
}

/// Whether a taint has the effect NoSchedule or NoExecute; mirrors `DoNotScheduleTaintsFilterFunc`.
pub fn is_do_not_schedule_taint(taint: &Taint) -> bool {
    taint.effect == "NoSchedule" || taint.effect == "NoExecute"
}

/// Scales scores so that the highest becomes [`MAX_NODE_SCORE`]; with `reverse`, so that 0 does.
///
/// If no score is above 0, scores stay unchanged, or all become the maximum with `reverse`. Scores must be at least 0.
/// Divisions truncate.
pub fn default_normalize_score(reverse: bool, scores: &mut [i64]) {
    let highest = scores.iter().copied().max().unwrap_or(0);
    if highest <= 0 {
        if reverse {
            scores.fill(MAX_NODE_SCORE);
        }
        return;
    }
    for score in scores {
        let scaled = MAX_NODE_SCORE.wrapping_mul(*score) / highest;
        *score = if reverse { MAX_NODE_SCORE.wrapping_sub(scaled) } else { scaled };
    }
}

/// A point where two segments of a broken linear function meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionShapePoint {
    /// Utilization in per cent of capacity.
    pub utilization: i64,
    /// The value of the function there.
    pub score: i64,
}

/// Returns the errors of a shape of points `(utilization, score)`, with paths relative to the list; mirrors
/// `validateFunctionShape` in `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.
pub fn function_shape_errors(points: impl IntoIterator<Item = (i32, i32)>) -> FieldErrors {
    let points: Vec<(i32, i32)> = points.into_iter().collect();
    let mut errors = FieldErrors::default();
    if points.is_empty() {
        errors.required("", "at least one point must be specified");
    }
    if let Some(i) = points.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
        errors.invalid(format!("[{}].utilization", i + 1), &points[i + 1].0, "values must be sorted in increasing order");
    }
    for (i, (utilization, score)) in points.into_iter().enumerate() {
        // The highest score is `MaxCustomPriorityScore`.
        for (field, value, max) in [("utilization", utilization, 100), ("score", score, 10)] {
            if !(0..=max).contains(&value) {
                errors.invalid(format!("[{i}].{field}"), &value, format!("not in valid range [0, {max}]"));
            }
        }
    }
    errors
}

/// Returns the value at `p` of the function that is linear between the points of `shape` and constant outside them.
///
/// Points must be in order of utilization. Without points the value is 0. Divisions truncate towards zero.
pub fn broken_linear(shape: &[FunctionShapePoint], p: i64) -> i64 {
    let Some(i) = shape.iter().position(|point| p <= point.utilization) else {
        return shape.last().map_or(0, |point| point.score);
    };
    let to = shape[i];
    let Some(from) = i.checked_sub(1).map(|before| shape[before]) else { return to.score };
    let rise = to.score.wrapping_sub(from.score).wrapping_mul(p.wrapping_sub(from.utilization));
    from.score.wrapping_add(rise.checked_div(to.utilization.wrapping_sub(from.utilization)).unwrap_or(0))
}

/// An object before and after a change; `None` before an addition and after a deletion.
pub type BeforeAfter<'a, T> = (Option<&'a Arc<T>>, Option<&'a Arc<T>>);

/// The text with which the API says that there is no PodGroup of a name.
pub fn pod_group_not_found(name: &str) -> String {
    format!("podgroup.scheduling.k8s.io {name:?} not found")
}

/// Returns the pods of a change; an error if it is about another kind. Mirrors `As` in `pkg/scheduler/util/utils.go`.
pub fn changed_pods(change: &Change) -> Result<BeforeAfter<'_, Pod>, HintError> {
    fn pod(object: &Object) -> Result<&Arc<Pod>, HintError> {
        if let Object::Pod(pod) = object { Ok(pod) } else { Err(HintError::OtherKind { expected: Kind::Pod, got: object.kind() }) }
    }
    Ok((change.old.as_ref().map(pod).transpose()?, change.new.as_ref().map(pod).transpose()?))
}

/// Returns the nodes of a change; an error if it is about another kind.
pub fn changed_nodes(change: &Change) -> Result<BeforeAfter<'_, Node>, HintError> {
    fn node(object: &Object) -> Result<&Arc<Node>, HintError> {
        if let Object::Node(node) = object { Ok(node) } else { Err(HintError::OtherKind { expected: Kind::Node, got: object.kind() }) }
    }
    Ok((change.old.as_ref().map(node).transpose()?, change.new.as_ref().map(node).transpose()?))
}

/// Helpers for tests of plugins.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::cluster::{Cluster, Meta};
    use crate::framework::{Context, NodeInfo, PodInfo, Snapshot};

    /// Runs `body` with a context over `cluster` and `nodes` at the default gates.
    pub(crate) fn with_context<T>(cluster: &Cluster, nodes: &[NodeInfo], body: impl FnOnce(Context<'_>) -> T) -> T {
        let snapshot = Snapshot::of(nodes.iter().cloned());
        body(Context { cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH })
    }

    /// Makes a pod from YAML, with name and uid `p` unless given.
    pub(crate) fn pod(yaml: &str) -> Arc<Pod> {
        let mut pod: Pod = serde_yaml::from_str(yaml).unwrap();
        let Meta { name, uid, .. } = &mut pod.metadata;
        if name.is_empty() {
            *name = "p".into();
        }
        if uid.is_empty() {
            *uid = "p".into();
        }
        Arc::new(pod)
    }

    /// Makes a parsed pod from YAML.
    pub(crate) fn pod_info(yaml: &str) -> PodInfo {
        PodInfo::new(pod(yaml))
    }

    /// Makes a node from YAML.
    pub(crate) fn node(yaml: &str) -> Arc<Node> {
        Arc::new(serde_yaml::from_str(yaml).unwrap())
    }

    /// Makes a node without pods from YAML.
    pub(crate) fn node_info(yaml: &str) -> NodeInfo {
        NodeInfo::new(node(yaml))
    }

    /// Makes a change of one node.
    pub(crate) fn node_change(old: Option<&str>, new: Option<&str>) -> Change {
        Change { old: old.map(|y| Object::Node(node(y))), new: new.map(|y| Object::Node(node(y))) }
    }

    /// Makes a change of one pod.
    pub(crate) fn pod_change(old: Option<&str>, new: Option<&str>) -> Change {
        Change { old: old.map(|y| Object::Pod(pod(y))), new: new.map(|y| Object::Pod(pod(y))) }
    }
}

#[cfg(test)]
mod tests;
