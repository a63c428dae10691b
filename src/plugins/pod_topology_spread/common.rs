//! Parsed constraints, and the selector derived for default constraints; mirrors
//! `pkg/scheduler/framework/plugins/podtopologyspread/common.go` and
//! `pkg/scheduler/framework/plugins/helper/spread.go`.

use std::collections::BTreeSet;

use super::PodTopologySpread;
use crate::cluster::{Cluster, LabelSelector, Labels, Node, Pod, Requirement, SelectorError, Str, TopologySpreadConstraint};
use crate::framework::{Context, LabelBloom, Snapshot};
use crate::plugins::helper::find_untolerated_taint;
use crate::plugins::node_affinity::{RequiredNodeAffinity, required_node_affinity_matches};
use crate::release::{DefaultSelector, EmptySelector, Emulation, Gate};

/// The node label with the node's own name.
pub(super) const LABEL_HOSTNAME: &str = "kubernetes.io/hostname";
/// The node label with the zone.
pub(super) const LABEL_TOPOLOGY_ZONE: &str = "topology.kubernetes.io/zone";

/// The action for a pod that violates a constraint (`whenUnsatisfiable`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    DoNotSchedule,
    ScheduleAnyway,
}

impl Action {
    fn as_str(self) -> &'static str {
        match self {
            Self::DoNotSchedule => "DoNotSchedule",
            Self::ScheduleAnyway => "ScheduleAnyway",
        }
    }

    fn nickname(self) -> &'static str {
        match self {
            Self::DoNotSchedule => "hard",
            Self::ScheduleAnyway => "soft",
        }
    }
}

/// An invalid selector of a constraint, in kube-scheduler's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConstraintError {
    /// In a default constraint.
    #[error("setting default {} topology spread constraints: {error}", action.nickname())]
    Default { action: Action, error: SelectorError },
    /// In a constraint of the pod.
    #[error("obtaining pod's {} topology spread constraints: {error}", action.nickname())]
    Pod { action: Action, error: SelectorError },
}

/// A parsed constraint.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Constraint {
    pub(super) max_skew: i32,
    pub(super) topology_key: Str,
    /// Selects the pods to count; `None` matches nothing.
    pub(super) selector: Option<LabelSelector>,
    pub(super) min_domains: i32,
    pub(super) honors_node_affinity: bool,
    pub(super) honors_node_taints: bool,
    /// Bits common to all pods that count.
    wanted: LabelBloom,
    empty_selector: EmptySelector,
}

impl Constraint {
    fn new(constraint: &TopologySpreadConstraint, pod_labels: &Labels, emulation: Emulation) -> Result<Self, SelectorError> {
        let mut selector = constraint.label_selector.clone();
        if let Some(selector) = &mut selector {
            selector.validate_in(emulation.behaviour().selector_words)?;
            if emulation.enabled(Gate::MatchLabelKeysInPodTopologySpread) {
                // Expressions, because the selector may require another value of the same key.
                let picked = constraint.match_label_keys.iter().filter_map(|key| Some((key, pod_labels.get(key)?)));
                selector.match_expressions.extend(picked.map(|(key, value)| equals(key, value)));
            }
        }
        let inclusion = emulation.enabled(Gate::NodeInclusionPolicyInPodTopologySpread);
        let affinity = constraint.node_affinity_policy.as_deref().filter(|_| inclusion).unwrap_or("Honor");
        let taints = constraint.node_taints_policy.as_deref().filter(|_| inclusion).unwrap_or("Ignore");
        Ok(Self {
            max_skew: constraint.max_skew,
            topology_key: constraint.topology_key.clone(),
            selector,
            min_domains: constraint.min_domains.filter(|_| emulation.enabled(Gate::MinDomainsInPodTopologySpread)).unwrap_or(1),
            honors_node_affinity: affinity == "Honor",
            honors_node_taints: taints == "Honor",
            wanted: LabelBloom::default(),
            empty_selector: emulation.behaviour().empty_spread_selector,
        })
    }

    /// Whether the selector matches these labels; an empty one matches all.
    pub(super) fn selects(&self, labels: &Labels) -> bool {
        self.selector.as_ref().is_some_and(|s| s.matches(labels))
    }

    /// Whether pods on the node count for the constraint.
    pub(super) fn matches_node_inclusion_policies(&self, pod: &Pod, node: &Node, emulation: Emulation) -> bool {
        (!self.honors_node_affinity || required_node_affinity_matches(pod, node))
            && (!self.honors_node_taints || find_untolerated_taint(&node.spec.taints, &pod.spec.tolerations, emulation).is_none())
    }

    /// Returns the selector if it counts any pods: an empty one counts none in most releases.
    fn counting(&self) -> Option<&LabelSelector> {
        self.selector.as_ref().filter(|s| !s.is_empty() || self.empty_selector == EmptySelector::Everything)
    }

    /// Counts the matching pods by position of their node in the snapshot: pods of the namespace that are not
    /// terminating. Nodes without matching pods are left out.
    pub(super) fn matching_pods(&self, snapshot: &Snapshot, namespace: &Str) -> Vec<(usize, i64)> {
        let Some(selector) = self.counting() else { return Vec::new() };
        snapshot.pods().count(self.wanted, |p| is_counted(&p.pod, namespace, selector))
    }

    /// Returns the same numbers as [`Self::matching_pods`] in parts, in no order.
    pub(super) fn matching_parts(&self, snapshot: &Snapshot, namespace: &Str) -> impl Iterator<Item = (usize, i64)> {
        let parts = |selector| snapshot.pods().parts(self.wanted, move |p| is_counted(&p.pod, namespace, selector));
        self.counting().map(parts).into_iter().flatten()
    }
}

fn is_counted(pod: &Pod, namespace: &Str, selector: &LabelSelector) -> bool {
    pod.metadata.namespace == *namespace && !pod.is_terminating() && selector.matches(&pod.metadata.labels)
}

/// Answers of a node that are the same for all constraints of a pod, however many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodePolicies {
    /// Whether the node has the topology keys of all constraints.
    pub(super) has_all_keys: bool,
    /// Whether it matches the pod's required node affinity; true where no constraint honors that.
    matches_affinity: bool,
    /// Whether the pod tolerates its taints; true where no constraint honors them.
    is_tolerated: bool,
}

impl NodePolicies {
    /// Does the same as [`Constraint::matches_node_inclusion_policies`].
    pub(super) fn include(self, constraint: &Constraint) -> bool {
        (!constraint.honors_node_affinity || self.matches_affinity) && (!constraint.honors_node_taints || self.is_tolerated)
    }
}

/// Reads [`NodePolicies`] for the constraints of one pod.
pub(super) struct PolicyReader<'a> {
    /// The topology keys of the constraints, each once.
    keys: BTreeSet<&'a Str>,
    pod: &'a Pod,
    emulation: Emulation,
    /// `None` where no constraint honors it, or the pod requires nothing.
    required: Option<RequiredNodeAffinity>,
    honors_taints: bool,
}

impl<'a> PolicyReader<'a> {
    pub(super) fn new(constraints: impl IntoIterator<Item = &'a Constraint>, pod: &'a Pod, emulation: Emulation) -> Self {
        let constraints: Vec<&Constraint> = constraints.into_iter().collect();
        let honored = constraints.iter().any(|c| c.honors_node_affinity).then(|| RequiredNodeAffinity::of(pod));
        let required = honored.filter(|required| !required.is_trivial());
        let honors_taints = constraints.iter().any(|c| c.honors_node_taints);
        let keys = constraints.iter().map(|c| &c.topology_key).collect();
        Self { keys, pod, emulation, required, honors_taints }
    }

    /// Whether pods count on every node for every constraint, as far as node affinity and taints decide.
    pub(super) fn includes_all(&self) -> bool {
        self.required.is_none() && !self.honors_taints
    }

    pub(super) fn read(&self, node: &Node) -> NodePolicies {
        let labels = &node.metadata.labels;
        let is_tolerated = || find_untolerated_taint(&node.spec.taints, &self.pod.spec.tolerations, self.emulation).is_none();
        NodePolicies {
            has_all_keys: self.keys.iter().all(|key| labels.contains_key(key)),
            matches_affinity: self.required.as_ref().is_none_or(|required| required.matches(node)),
            is_tolerated: !self.honors_taints || is_tolerated(),
        }
    }
}

fn equals(key: &Str, value: &Str) -> Requirement {
    Requirement { key: key.clone(), operator: "In".into(), values: vec![value.clone()].into() }
}

/// Whether the node has the topology keys of all constraints.
pub(super) fn has_all_keys(labels: &Labels, constraints: &[Constraint]) -> bool {
    constraints.iter().all(|c| labels.contains_key(&c.topology_key))
}

/// Returns for each constraint the index of the first one with which it shares counts, or its own.
pub(super) fn slots<'c>(keys: impl Iterator<Item = &'c Str>, shares: impl Fn(&Str) -> bool) -> Vec<usize> {
    let mut first: Vec<(&Str, usize)> = Vec::new();
    let slot = |(i, key): (usize, &'c Str)| match first.iter().find(|(known, _)| *known == key && shares(key)) {
        Some((_, slot)) => *slot,
        None => {
            first.push((key, i));
            i
        }
    };
    keys.enumerate().map(slot).collect()
}

impl PodTopologySpread {
    /// Returns the pod's constraints of one action or, if it has none at all, the default ones with the selector
    /// derived for the pod.
    pub(super) fn constraints(&self, cx: &Context<'_>, pod: &Pod, action: Action) -> Result<Vec<Constraint>, ConstraintError> {
        let own = &pod.spec.topology_spread_constraints;
        let mut constraints = if own.is_empty() {
            self.default_constraints(cx, pod, action).map_err(|error| ConstraintError::Default { action, error })?
        } else {
            let own = filter_constraints(own, &pod.metadata.labels, action, cx.emulation);
            own.map_err(|error| ConstraintError::Pod { action, error })?
        };
        for constraint in &mut constraints {
            let selected = constraint.selector.as_ref().map(LabelBloom::selected_by).unwrap_or_default();
            constraint.wanted = LabelBloom::namespace(&pod.metadata.namespace).and(selected);
        }
        Ok(constraints)
    }

    fn default_constraints(&self, cx: &Context<'_>, pod: &Pod, action: Action) -> Result<Vec<Constraint>, SelectorError> {
        let mut constraints = filter_constraints(&self.default_constraints, &pod.metadata.labels, action, cx.emulation)?;
        if constraints.is_empty() {
            return Ok(constraints);
        }
        let selector = default_selector(cx, pod);
        if selector.is_empty() {
            return Ok(Vec::new());
        }
        for constraint in &mut constraints {
            constraint.selector = Some(selector.clone());
        }
        Ok(constraints)
    }
}

fn filter_constraints(
    constraints: &[TopologySpreadConstraint],
    pod_labels: &Labels,
    action: Action,
    emulation: Emulation,
) -> Result<Vec<Constraint>, SelectorError> {
    let of_kind = constraints.iter().filter(|c| c.when_unsatisfiable == action.as_str());
    of_kind.map(|c| Constraint::new(c, pod_labels, emulation)).collect()
}

/// Returns the selector that combines those of the pod's Services and workloads; empty if there are none. Mirrors `DefaultSelector`.
pub(in crate::plugins) fn default_selector(cx: &Context<'_>, pod: &Pod) -> LabelSelector {
    let cluster = cx.cluster;
    let (namespace, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
    // The selector of a Service that selects the pod is a part of the pod's labels.
    let mut selected = vec![false; labels.len()];
    for service in cluster.services.in_namespace(namespace) {
        for position in service.spec.selector.as_ref().and_then(|wanted| wanted.positions_in(labels)).into_iter().flatten() {
            selected[position] = true;
        }
    }
    let of_services = labels.iter().zip(&selected).filter(|(_, selected)| **selected);
    let match_labels = of_services.map(|((key, value), _)| (key.clone(), value.clone())).collect();
    let mut selector = LabelSelector { match_labels, ..LabelSelector::default() };
    match cx.emulation.behaviour().default_selector {
        DefaultSelector::OfMatching => add_matching_workloads(&mut selector, cluster, pod),
        DefaultSelector::OfController => add_controller(&mut selector, cluster, pod),
    }
    selector
}

fn add_controller(selector: &mut LabelSelector, cluster: &Cluster, pod: &Pod) {
    let Some(owner) = pod.metadata.controller() else { return };
    let namespace = &pod.metadata.namespace;
    let workload = match (owner.api_version.as_str(), owner.kind.as_str()) {
        ("v1" | "/v1", "ReplicationController") => {
            let controller = cluster.replication_controllers.namespaced(namespace, &owner.name);
            for (key, value) in controller.and_then(|c| c.spec.selector.as_ref()).into_iter().flat_map(Labels::iter) {
                selector.match_labels.insert(key.clone(), value.clone());
            }
            None
        }
        ("apps/v1", "ReplicaSet") => cluster.replica_sets.namespaced(namespace, &owner.name),
        ("apps/v1", "StatefulSet") => cluster.stateful_sets.namespaced(namespace, &owner.name),
        _ => None,
    };
    // An absent or invalid selector adds nothing. One that contradicts the Services selects no pods.
    if let Some(wanted) = workload.and_then(|w| w.spec.selector.as_ref()).filter(|s| s.validate().is_ok()) {
        add_requirements(selector, wanted);
    }
}

/// Adds the selectors of all workloads that select the pod. One invalid selector in the namespace hides all of its kind.
fn add_matching_workloads(selector: &mut LabelSelector, cluster: &Cluster, pod: &Pod) {
    let (namespace, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
    if labels.is_empty() {
        return;
    }
    for wanted in cluster.replication_controllers.in_namespace(namespace).filter_map(|c| c.spec.selector.as_ref()) {
        for (key, value) in wanted.positions_in(labels).into_iter().flatten().filter_map(|position| labels.iter().nth(position)) {
            selector.match_labels.insert(key.clone(), value.clone());
        }
    }
    let replica_sets: Vec<_> = cluster.replica_sets.in_namespace(namespace).filter_map(|set| set.spec.selector.as_ref()).collect();
    let stateful_sets: Vec<_> = cluster.stateful_sets.in_namespace(namespace).filter_map(|set| set.spec.selector.as_ref()).collect();
    for of_kind in [replica_sets, stateful_sets] {
        if of_kind.iter().all(|wanted| wanted.validate().is_ok()) {
            for wanted in of_kind.into_iter().filter(|wanted| !wanted.is_empty() && wanted.matches(labels)) {
                add_requirements(selector, wanted);
            }
        }
    }
}

fn add_requirements(selector: &mut LabelSelector, wanted: &LabelSelector) {
    selector.match_expressions.extend(wanted.match_labels.iter().map(|(key, value)| equals(key, value)));
    selector.match_expressions.extend(wanted.match_expressions.iter().cloned());
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, info, node, pod};
    use super::*;
    use crate::cluster::{Kind, Object};

    #[test]
    fn constraints_with_one_key_share_a_slot_where_they_may() {
        let keys: Vec<Str> = ["zone", "host", "zone", "host"].into_iter().map(Into::into).collect();
        assert_eq!(slots(keys.iter(), |_| false), [0, 1, 2, 3]);
        assert_eq!(slots(keys.iter(), |_| true), [0, 1, 0, 1]);
        assert_eq!(slots(keys.iter(), |key| key != "host"), [0, 1, 0, 3]);
    }

    fn world(objects: &[(Kind, &str)]) -> World {
        let objects =
            objects.iter().map(|(kind, text)| Object::deserialize_kind(*kind, &mut serde_json::Deserializer::from_str(text)).unwrap());
        World::new(vec![], objects)
    }

    fn soft(world: &World, pod: &Pod) -> Vec<Constraint> {
        PodTopologySpread::default().constraints(&world.cx(), pod, Action::ScheduleAnyway).unwrap()
    }

    #[test]
    fn constraint_defaults_and_gates() {
        let world = world(&[]);
        let text = |rest: &str| {
            format!(r#"[{{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{{}}{rest}}}]"#)
        };
        let parse = |rest: &str, world: &World| {
            let pod = pod("p", r#"{"v":"1"}"#, &text(rest));
            PodTopologySpread::default().constraints(&world.cx(), &pod, Action::DoNotSchedule).unwrap().remove(0)
        };
        let plain = parse("", &world);
        assert_eq!((plain.max_skew, plain.min_domains, plain.honors_node_affinity, plain.honors_node_taints), (2, 1, true, false));
        let rest = r#","minDomains":3,"nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor","matchLabelKeys":["v","w"]"#;
        let full = parse(rest, &world);
        assert_eq!((full.min_domains, full.honors_node_affinity, full.honors_node_taints), (3, false, true));
        assert!(full.selects(&serde_json::from_str(r#"{"v":"1"}"#).unwrap()) && !full.selects(&Labels::default()));
        let without = World {
            emulation: world.emulation(&[Gate::MatchLabelKeysInPodTopologySpread, Gate::NodeInclusionPolicyInPodTopologySpread]),
            ..world
        };
        let gated = parse(rest, &without);
        assert_eq!((gated.min_domains, gated.honors_node_affinity, gated.honors_node_taints), (3, true, false));
        assert!(gated.selects(&Labels::default()));
    }

    #[test]
    fn match_label_keys_narrow_a_selector_but_not_an_absent_one() {
        let check = |selector: &str, labels: &str, expected: bool| {
            let text = format!(
                r#"[{{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{selector},"matchLabelKeys":["v"]}}]"#
            );
            let constraint = soft(&world(&[]), &pod("p", r#"{"v":"1"}"#, &text)).remove(0);
            assert_eq!(constraint.selects(&serde_json::from_str(labels).unwrap()), expected, "{selector} on {labels}");
        };
        check("null", r#"{"v":"1"}"#, false);
        check("{}", r#"{"v":"1"}"#, true);
        check("{}", r#"{"v":"2"}"#, false);
        check(r#"{"matchLabels":{"v":"2"}}"#, r#"{"v":"2"}"#, false);
        check(r#"{"matchLabels":{"v":"2"}}"#, r#"{"v":"1"}"#, false);
    }

    #[test]
    fn what_counts_on_a_node() {
        let other = r#""namespace":"other""#;
        let pods = vec![
            pod("a", r#"{"app":"web"}"#, "[]"),
            pod("b", r#"{"app":"db"}"#, "[]"),
            serde_json::from_str(&format!(r#"{{"metadata":{{"name":"c",{other},"labels":{{"app":"web"}}}}}}"#)).unwrap(),
            serde_json::from_str(
                r#"{"metadata":{"name":"d","namespace":"default","deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web"}}}"#,
            )
            .unwrap(),
        ];
        let world = World::new(vec![(node("n", "{}"), pods)], []);
        let check = |selector: &str, counted: i64| {
            let text = format!(r#"[{{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{selector}}}]"#);
            let constraint = soft(&world, &pod("p", "{}", &text)).remove(0);
            let expected: Vec<(usize, i64)> = (counted > 0).then_some((0, counted)).into_iter().collect();
            assert_eq!(constraint.matching_pods(&world.snapshot, &"default".into()), expected, "{selector}");
        };
        check("null", 0);
        check("{}", 0);
        check(r#"{"matchLabels":{"app":"web"}}"#, 1);
        check(r#"{"matchExpressions":[{"key":"app","operator":"Exists"}]}"#, 2);
    }

    #[test]
    fn default_constraints_need_an_empty_list_and_a_selector() {
        let service = (Kind::Service, r#"{"metadata":{"name":"s","namespace":"default"},"spec":{"selector":{"app":"web"}}}"#);
        let web = r#"{"app":"web"}"#;
        let keys = |world: &World, pod: &Pod| -> Vec<(String, i32)> {
            soft(world, pod).iter().map(|c| (c.topology_key.to_string(), c.max_skew)).collect()
        };
        let expected = [(LABEL_HOSTNAME.to_string(), 3), (LABEL_TOPOLOGY_ZONE.to_string(), 5)];
        assert_eq!(keys(&world(&[service]), &pod("p", web, "[]")), expected);
        assert!(keys(&world(&[service]), &pod("p", "{}", "[]")).is_empty());
        let hard = r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]"#;
        assert!(keys(&world(&[service]), &pod("p", web, hard)).is_empty());
        let list = PodTopologySpread { default_constraints: Vec::new(), system_defaulted: false };
        assert!(list.constraints(&world(&[service]).cx(), &pod("p", web, "[]"), Action::ScheduleAnyway).unwrap().is_empty());
    }

    #[test]
    fn the_default_selector_joins_services_and_the_controller() {
        let objects = |kind: Kind, namespace: &str, selector: &str| {
            (kind, format!(r#"{{"metadata":{{"name":"o","namespace":"{namespace}"}},"spec":{{"selector":{selector}}}}}"#))
        };
        let check = |objects: &[(Kind, String)], owner: &str, expected: &str| {
            let objects: Vec<(Kind, &str)> = objects.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
            let world = world(&objects);
            let mut pod = pod("p", r#"{"a":"1","b":"2"}"#, "[]");
            pod.metadata.owner_references = serde_json::from_str(owner).unwrap();
            let selector = default_selector(&world.cx(), &pod);
            assert_eq!(serde_json::to_string(&selector).unwrap(), expected, "{owner}");
        };
        let owner = |version: &str, kind: &str, rest: &str| format!(r#"[{{"apiVersion":"{version}","kind":"{kind}","name":"o"{rest}}}]"#);
        let controller = |version: &str, kind: &str| owner(version, kind, r#","controller":true"#);
        let service = |selector: &str| objects(Kind::Service, "default", selector);
        check(&[service(r#"{"a":"1"}"#)], "[]", r#"{"matchLabels":{"a":"1"}}"#);
        check(&[service("null")], "[]", "{}");
        check(&[service("{}")], "[]", "{}");
        check(&[service(r#"{"a":"2"}"#)], "[]", "{}");
        check(&[objects(Kind::Service, "other", r#"{"a":"1"}"#)], "[]", "{}");
        let set = objects(Kind::ReplicaSet, "default", r#"{"matchLabels":{"a":"1"}}"#);
        let in_one = r#"{"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]}"#;
        check(std::slice::from_ref(&set), &controller("apps/v1", "ReplicaSet"), in_one);
        check(std::slice::from_ref(&set), &owner("apps/v1", "ReplicaSet", ""), "{}");
        check(std::slice::from_ref(&set), &controller("apps/v1beta2", "ReplicaSet"), "{}");
        check(std::slice::from_ref(&set), &controller("apps/v1", "StatefulSet"), "{}");
        check(&[set], &controller("apps/v1", "Deployment"), "{}");
        let set = objects(Kind::StatefulSet, "default", r#"{"matchExpressions":[{"key":"b","operator":"Exists"}]}"#);
        let both = r#"{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"Exists"}]}"#;
        check(&[set, service(r#"{"a":"1"}"#)], &controller("apps/v1", "StatefulSet"), both);
        check(&[objects(Kind::StatefulSet, "default", "null")], &controller("apps/v1", "StatefulSet"), "{}");
        let odd = objects(Kind::StatefulSet, "default", r#"{"matchExpressions":[{"key":"b","operator":"Odd"}]}"#);
        check(&[odd], &controller("apps/v1", "StatefulSet"), "{}");
        let replication = objects(Kind::ReplicationController, "default", r#"{"a":"9","c":"3"}"#);
        let merged = r#"{"matchLabels":{"a":"9","c":"3"}}"#;
        check(&[replication.clone(), service(r#"{"a":"1"}"#)], &controller("v1", "ReplicationController"), merged);
        check(&[replication], &controller("apps/v1", "ReplicationController"), "{}");
    }

    #[test]
    fn up_to_1_21_the_default_selector_joins_all_that_select_the_pod() {
        let object = |kind: Kind, name: &str, selector: &str| {
            (kind, format!(r#"{{"metadata":{{"name":"{name}","namespace":"default"}},"spec":{{"selector":{selector}}}}}"#))
        };
        let check = |version: &str, objects: &[(Kind, String)], expected: &str| {
            let objects: Vec<(Kind, &str)> = objects.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
            let mut world = world(&objects);
            world.emulation = Emulation::from(crate::release::nearest(version.parse().unwrap()).profile);
            let selector = default_selector(&world.cx(), &pod("p", r#"{"a":"1","b":"2"}"#, "[]"));
            assert_eq!(serde_json::to_string(&selector).unwrap(), expected, "{version} {objects:?}");
        };
        let of_one = [object(Kind::StatefulSet, "s", r#"{"matchLabels":{"a":"1"}}"#)];
        let in_one = r#"{"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]}"#;
        check("1.20.15", &of_one, in_one);
        check("1.21.9", &of_one, in_one);
        check("1.22.6", &of_one, "{}");
        let replication = object(Kind::ReplicationController, "r", r#"{"b":"2"}"#);
        let set = object(Kind::ReplicaSet, "s", r#"{"matchExpressions":[{"key":"b","operator":"Exists"}]}"#);
        let both = r#"{"matchLabels":{"b":"2"},"matchExpressions":[{"key":"b","operator":"Exists"}]}"#;
        check("1.20.15", &[replication.clone(), set], both);
        let others = [object(Kind::ReplicationController, "r", r#"{"b":"3"}"#), object(Kind::ReplicaSet, "s", "{}")];
        check("1.20.15", &others, "{}");
        let invalid = object(Kind::StatefulSet, "odd", r#"{"matchExpressions":[{"key":"b","operator":"Odd"}]}"#);
        let of_services = r#"{"matchLabels":{"b":"2"}}"#;
        check("1.20.15", &[replication, of_one[0].clone(), invalid], of_services);
    }

    #[test]
    fn errors_name_the_kind_of_constraint() {
        let odd = |action: &str| {
            format!(
                r#"[{{"topologyKey":"z","whenUnsatisfiable":"{action}","labelSelector":{{"matchExpressions":[{{"key":"a","operator":"Odd"}}]}}}}]"#
            )
        };
        let world = world(&[]);
        for (action, name, nickname) in
            [(Action::DoNotSchedule, "DoNotSchedule", "hard"), (Action::ScheduleAnyway, "ScheduleAnyway", "soft")]
        {
            let error = PodTopologySpread::default().constraints(&world.cx(), &pod("p", "{}", &odd(name)), action).unwrap_err();
            let expected =
                format!("obtaining pod's {nickname} topology spread constraints: \"Odd\" is not a valid label selector operator");
            assert_eq!(error.to_string(), expected);
            let other = if action == Action::DoNotSchedule { Action::ScheduleAnyway } else { Action::DoNotSchedule };
            assert!(PodTopologySpread::default().constraints(&world.cx(), &pod("p", "{}", &odd(name)), other).unwrap().is_empty());
        }
    }

    #[test]
    fn inclusion_policies_look_at_affinity_and_taints() {
        let mut tainted = node("n", r#"{"disk":"ssd"}"#);
        tainted.spec.taints = serde_json::from_str(r#"[{"key":"k","effect":"NoSchedule"}]"#).unwrap();
        let world = world(&[]);
        let check = |policies: &str, selector: &str, tolerations: &str, expected: bool| {
            let text = format!(r#"[{{"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"{policies}}}]"#);
            let mut pod = pod("p", "{}", &text);
            pod.spec_mut().node_selector = serde_json::from_str(selector).unwrap();
            pod.spec_mut().tolerations = serde_json::from_str(tolerations).unwrap();
            let constraint = soft(&world, &pod).remove(0);
            let info = info(pod);
            assert_eq!(constraint.matches_node_inclusion_policies(&info.pod, &tainted, Emulation::default()), expected, "{policies}");
        };
        check("", "null", "[]", true);
        check("", r#"{"disk":"ssd"}"#, "[]", true);
        check("", r#"{"disk":"hdd"}"#, "[]", false);
        check(r#","nodeAffinityPolicy":"Ignore""#, r#"{"disk":"hdd"}"#, "[]", true);
        check(r#","nodeTaintsPolicy":"Honor""#, "null", "[]", false);
        check(r#","nodeTaintsPolicy":"Honor""#, "null", r#"[{"key":"k","operator":"Exists"}]"#, true);
    }
}
