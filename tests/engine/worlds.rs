//! Small clusters for the laws: up to six nodes that differ in zone, labels, taints and size; pods with every kind of
//! demand on a node that needs no further object; budgets over some of them; and one pending pod.

use proptest::prelude::*;
use proptest::sample::Index;
use schedscope::cluster::{Kind, Object};
use serde_json::{Value, json};

/// Reads a generated object.
pub(crate) fn object(value: &Value) -> Object {
    let kind: Kind = value["kind"].as_str().expect("a kind").parse().expect("a known kind");
    Object::deserialize_kind(kind, value).expect("a valid object")
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpec {
    /// 0 is no zone.
    zone: u8,
    pool: u8,
    /// 0 `NoSchedule`, 1 `PreferNoSchedule`, more is no taint.
    taint: u8,
    half_cpus: u8,
    pods: u8,
    cordoned: bool,
}

/// A pod's demand on other pods: a required rule about pods of an app within a topology.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish {
    Near(u8, bool),
    Apart(u8, bool),
    PreferNear(u8, bool),
    SpreadHard(bool),
    SpreadSoft(bool),
    Port(u8),
    Nothing,
}

/// A pod without its node.
#[derive(Clone, Debug)]
pub(crate) struct PodSpec {
    pub(crate) app: u8,
    pub(crate) priority: i32,
    half_cpus: u8,
    wish: Wish,
}

/// A budget over the pods of an app in namespace `a` or `b`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BudgetSpec {
    pub(crate) namespace: bool,
    pub(crate) app: u8,
    pub(crate) allowed: i32,
}

/// A pending pod.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    spec: PodSpec,
    tolerates: bool,
    /// The pool of nodes that it asks for.
    pub(crate) pool: Option<u8>,
}

/// A cluster with a pending pod.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) nodes: Vec<NodeSpec>,
    /// Each with the index of its node, and whether its namespace is `b`.
    pub(crate) pods: Vec<(PodSpec, Index, bool)>,
    pub(crate) budgets: Vec<BudgetSpec>,
    pub(crate) waiting: Waiting,
}

/// One to six nodes.
pub(crate) fn nodes() -> impl Strategy<Value = Vec<NodeSpec>> {
    let one = (0..3_u8, 0..2_u8, 0..5_u8, 2..14_u8, 3..9_u8, proptest::bool::weighted(0.05))
        .prop_map(|(zone, pool, taint, half_cpus, pods, cordoned)| NodeSpec { zone, pool, taint, half_cpus, pods, cordoned });
    prop_oneof![proptest::collection::vec(one.clone(), 1..=3), proptest::collection::vec(one, 1..=6)]
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        5 => Just(Wish::Nothing),
        1 => (0..2_u8, any::<bool>()).prop_map(|(app, zone)| Wish::Near(app, zone)),
        1 => (0..2_u8, any::<bool>()).prop_map(|(app, zone)| Wish::Apart(app, zone)),
        1 => (0..2_u8, any::<bool>()).prop_map(|(app, zone)| Wish::PreferNear(app, zone)),
        3 => any::<bool>().prop_map(Wish::SpreadHard),
        1 => any::<bool>().prop_map(Wish::SpreadSoft),
        2 => (0..2_u8).prop_map(Wish::Port),
    ]
}

/// A pod whose priority is one of `priorities`.
pub(crate) fn pod(priorities: std::ops::Range<i32>) -> impl Strategy<Value = PodSpec> {
    (0..2_u8, priorities, 0..5_u8, wish()).prop_map(|(app, priority, half_cpus, wish)| PodSpec { app, priority, half_cpus, wish })
}

/// A pending pod.
pub(crate) fn waiting() -> impl Strategy<Value = Waiting> {
    (pod(2..6), any::<bool>(), proptest::option::weighted(0.2, 0..2_u8)).prop_map(|(mut spec, tolerates, pool)| {
        spec.half_cpus += 1;
        Waiting { spec, tolerates, pool }
    })
}

/// Any small cluster.
pub(crate) fn world() -> impl Strategy<Value = World> {
    let pods = proptest::collection::vec((pod(0..5), any::<Index>(), proptest::bool::weighted(0.3)), 0..20);
    let budget = (any::<bool>(), 0..2_u8, 0..2_i32).prop_map(|(namespace, app, allowed)| BudgetSpec { namespace, app, allowed });
    (nodes(), pods, proptest::collection::vec(budget, 0..6), waiting()).prop_map(|(nodes, pods, budgets, waiting)| World {
        nodes,
        pods,
        budgets,
        waiting,
    })
}

fn topology(zone: bool) -> &'static str {
    if zone { "topology.kubernetes.io/zone" } else { "kubernetes.io/hostname" }
}

fn term(app: u8, zone: bool) -> Value {
    json!({"labelSelector": {"matchLabels": {"app": format!("app-{app}")}}, "topologyKey": topology(zone)})
}

fn spread(app: u8, zone: bool, when: &str) -> Value {
    let selector = json!({"matchLabels": {"app": format!("app-{app}")}});
    json!([{"maxSkew": 1, "topologyKey": topology(zone), "whenUnsatisfiable": when, "labelSelector": selector}])
}

/// The name of a namespace.
pub(crate) fn namespace(b: bool) -> &'static str {
    if b { "b" } else { "a" }
}

impl NodeSpec {
    /// Returns the node as an object.
    pub(crate) fn value(&self, name: &str) -> Value {
        let mut labels = json!({"kubernetes.io/hostname": name, "pool": format!("pool-{}", self.pool)});
        if self.zone > 0 {
            labels["topology.kubernetes.io/zone"] = json!(format!("zone-{}", self.zone));
        }
        let taints = match self.taint {
            0 => json!([{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]),
            1 => json!([{"key": "dedicated", "value": "x", "effect": "PreferNoSchedule"}]),
            _ => json!([]),
        };
        let allocatable = json!({"cpu": format!("{}m", u32::from(self.half_cpus) * 500), "memory": "16Gi", "pods": self.pods.to_string()});
        json!({
            "kind": "Node", "metadata": {"name": name, "uid": name, "labels": labels},
            "spec": {"taints": taints, "unschedulable": self.cordoned}, "status": {"allocatable": allocatable}
        })
    }
}

impl PodSpec {
    /// Returns the pod as an object, bound unless `node` is empty. `age` orders pods by their start.
    pub(crate) fn value(&self, namespace: &str, name: &str, node: &str, age: usize) -> Value {
        let app = format!("app-{}", self.app);
        let mut spec = json!({
            "schedulerName": "default-scheduler", "priority": self.priority, "nodeName": node,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": format!("{}m", u32::from(self.half_cpus) * 500)}}}],
        });
        match self.wish {
            Wish::Near(app, zone) => {
                spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!([term(app, zone)]);
            }
            Wish::Apart(app, zone) => {
                spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!([term(app, zone)]);
            }
            Wish::PreferNear(app, zone) => {
                spec["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
                    json!([{"weight": 50, "podAffinityTerm": term(app, zone)}]);
            }
            Wish::SpreadHard(zone) => spec["topologySpreadConstraints"] = spread(self.app, zone, "DoNotSchedule"),
            Wish::SpreadSoft(zone) => spec["topologySpreadConstraints"] = spread(self.app, zone, "ScheduleAnyway"),
            Wish::Port(n) => spec["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 8080 + u32::from(n)}]),
            Wish::Nothing => {}
        }
        let mut status = json!({"phase": if node.is_empty() { "Pending" } else { "Running" }});
        if !node.is_empty() {
            status["startTime"] = json!(format!("2026-11-19T{:02}:00:00Z", age % 24));
        }
        json!({
            "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "uid": format!("{namespace}-{name}"), "labels": {"app": app}},
            "spec": spec, "status": status
        })
    }
}

impl BudgetSpec {
    fn value(self, name: &str) -> Value {
        json!({
            "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": namespace(self.namespace)},
            "spec": {"selector": {"matchLabels": {"app": format!("app-{}", self.app)}}}, "status": {"disruptionsAllowed": self.allowed}
        })
    }
}

impl World {
    /// Returns the objects, the pending pod `a/waiting` last. Every pod has a different start time, so that preemption
    /// never finds two equal.
    pub(crate) fn values(&self) -> Vec<Value> {
        let namespaces = [false, true].map(|b| json!({"kind": "Namespace", "metadata": {"name": namespace(b), "labels": {}}}));
        let nodes = self.nodes.iter().enumerate().map(|(i, n)| n.value(&format!("n{i}")));
        let mut taken = std::collections::BTreeSet::new();
        let pods = self.pods.iter().enumerate().map(|(i, (spec, place, b))| {
            let node = place.index(self.nodes.len());
            let mut spec = spec.clone();
            if let Wish::Port(port) = spec.wish
                && !taken.insert((node, port))
            {
                // Two pods never share a port of a node; a node's ports are a set, and removing one pod would free it.
                spec.wish = Wish::Nothing;
            }
            spec.value(namespace(*b), &format!("p{i:02}"), &format!("n{node}"), i)
        });
        let budgets = self.budgets.iter().enumerate().map(|(i, b)| b.value(&format!("budget-{i}")));
        let mut all: Vec<Value> = namespaces.into_iter().chain(nodes).chain(pods).chain(budgets).collect();
        all.push(self.waiting.value("waiting"));
        all
    }

    /// Returns the objects; see [`Self::values`].
    pub(crate) fn objects(&self) -> Vec<Object> {
        self.values().iter().map(object).collect()
    }
}

impl Waiting {
    /// Returns the pod as an object.
    pub(crate) fn value(&self, name: &str) -> Value {
        let mut value = self.spec.value("a", name, "", 0);
        if self.tolerates {
            value["spec"]["tolerations"] = json!([{"key": "dedicated", "operator": "Exists"}]);
        }
        if let Some(pool) = self.pool {
            value["spec"]["nodeSelector"] = json!({"pool": format!("pool-{pool}")});
        }
        value
    }
}
