//! Nodes that do not exist yet, and the engine's answer about them: those of Karpenter's NodePools and NodeClaims, and of the node
//! groups to which cluster-autoscaler adds one.
//!
//! The labels and taints of a NodePool are those of its template (`spec.template` of `karpenter.sh/v1`). Its nodes are taken to be as
//! large as those that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::neighbors::{About, Neighbor, NeighborKind, Neighbors};
use crate::cluster::{Key, Labels, List, Node, Object, Pod, Quantity, Str, Taint};
use crate::fixes::another_node;
use crate::framework::{PodResourcesOptions, pod_requests};
use crate::limits::engine::{COMING_NODE_TRIALS, COMING_NODES};
use crate::scheduler::{Operation, Scheduler};
use crate::workload::{Meaning, Voice, condition_is};

/// The label with the NodePool of a node.
const POOL: &str = "karpenter.sh/nodepool";
/// The label with the name of a node.
const HOSTNAME: &str = "kubernetes.io/hostname";
/// Labels that every node of Karpenter has, with a value that it chooses.
const CHOSEN: [&str; 6] = [
    "karpenter.sh/capacity-type",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
/// Domains of labels that describe a kind of instance.
const OF_INSTANCES: [&str; 2] = ["karpenter.k8s.aws/", "karpenter.azure.com/"];
/// Different sizes of existing nodes that are tried for a pool.
const SIZES: usize = 4;
/// An amount of every resource that is more than any pod asks for.
const ENOUGH: &str = "1P";

/// A node that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ComingNode {
    /// The NodeClaim, NodePool or node group that it is of.
    pub(super) by: About,
    /// The existing node whose size it is taken to have; `None` where its own is known, or none is.
    pub(super) like: Option<Str>,
    /// The limit that one more node would exceed.
    pub(super) limit: Option<PoolLimit>,
    /// Why its NodePool is not ready, so that Karpenter adds none of it: the reason or the type of a condition.
    pub(super) not_ready: Option<Str>,
    /// Whether it would let the pod in.
    pub(super) verdict: ComingVerdict,
}

/// A limit of a NodePool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PoolLimit {
    pub(super) resource: Str,
    /// The amount of the nodes that exist.
    pub(super) used: Quantity,
    /// The amount that is allowed.
    pub(super) most: Quantity,
}

/// Whether a node that does not exist yet would let a pod in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ComingVerdict {
    /// It would.
    Fits,
    /// Its labels and taints would; its size is unknown.
    FitsIfLarge,
    /// It would not: the first rejection.
    Rejected(String),
    /// The pod asks for a label that no node of it has.
    NoSuchLabel(Str),
    /// It was not tried, because others took the time.
    NotTried,
}

/// The known properties of nodes that do not exist yet.
struct Template {
    by: About,
    labels: BTreeMap<Str, Str>,
    /// Labels with several values, one of which fits the pod best.
    choices: Vec<(Str, Vec<Str>)>,
    taints: List<Taint>,
    /// Its amounts; `None` if unknown.
    allocatable: Option<Value>,
    /// Existing nodes whose size is taken.
    likes: Vec<Arc<Node>>,
    limit: Option<PoolLimit>,
    not_ready: Option<Str>,
    missing_label: Option<Str>,
}

/// Tries nodes in a copy of the scheduler.
struct Trials<'a> {
    scheduler: &'a Scheduler,
    pod: &'a Pod,
    left: usize,
}

/// Returns the nodes that do not exist yet with whether each would let a pod in, those first that are on their way.
pub(super) fn coming_nodes(pod: &Pod, scheduler: &Scheduler, neighbors: &Neighbors, voices: &[Voice]) -> Vec<ComingNode> {
    let cluster = scheduler.state().cluster();
    let wanted = wanted_values(pod);
    let is_coming = |claim: &&Arc<Neighbor>| {
        let node = claim.field("/status/nodeName").and_then(Value::as_str).unwrap_or_default();
        claim.metadata.deletion_timestamp.is_empty() && cluster.nodes.named(&node.into()).is_none()
    };
    let claims = neighbors.of_kind(NeighborKind::NodeClaim).filter(is_coming).map(|claim| of_claim(claim));
    let groups: BTreeSet<&str> = voices.iter().filter_map(|voice| voice.means.as_ref()).flat_map(Meaning::groups).collect();
    let groups = groups.into_iter().filter_map(|group| of_group(group, scheduler));
    let pools = neighbors.of_kind(NeighborKind::NodePool).filter(|pool| pool.metadata.deletion_timestamp.is_empty());
    let pools = pools.map(|pool| of_pool(pool, scheduler, &wanted));
    let mut trials = Trials { scheduler, pod, left: COMING_NODE_TRIALS };
    let templates = claims.chain(groups).chain(pools).enumerate();
    templates.map(|(at, template)| if at < COMING_NODES { trials.judge(template) } else { template.untried() }).collect()
}

/// Returns the values that a pod's node selector and required node affinity name, by label.
fn wanted_values(pod: &Pod) -> BTreeMap<Str, Vec<Str>> {
    let mut wanted: BTreeMap<Str, Vec<Str>> = BTreeMap::new();
    for (key, value) in pod.spec.node_selector.iter().flat_map(Labels::iter) {
        wanted.entry(key.clone()).or_default().push(value.clone());
    }
    let required = pod.spec.affinity.iter().filter_map(|affinity| affinity.node_affinity.as_ref()?.required.as_ref());
    for requirement in required.flat_map(|selector| selector.node_selector_terms.iter()).flat_map(|term| term.match_expressions.iter()) {
        if requirement.operator == "In" {
            wanted.entry(requirement.key.clone()).or_default().extend(requirement.values.iter().cloned());
        }
    }
    wanted
}

fn texts(value: Option<&Value>) -> Vec<Str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(|text| text.as_str().map(Str::from)).collect()
}

fn labels_of(value: Option<&Value>) -> BTreeMap<Str, Str> {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into()))).collect()
}

fn taints_of(value: Option<&Value>) -> List<Taint> {
    value.and_then(|taints| serde_json::from_value(taints.clone()).ok()).unwrap_or_default()
}

/// Returns a NodeClaim's node. Its startup taints are gone once it is ready.
fn of_claim(claim: &Neighbor) -> Template {
    let mut labels: BTreeMap<Str, Str> = claim.metadata.labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    for requirement in claim.field("/spec/requirements").and_then(Value::as_array).into_iter().flatten() {
        if let (Some(key), [only]) = (requirement["key"].as_str(), &texts(requirement.get("values"))[..])
            && requirement["operator"] == "In"
        {
            labels.entry(key.into()).or_insert_with(|| only.clone());
        }
    }
    Template {
        by: About::new("NodeClaim", claim.metadata.key()),
        labels,
        choices: Vec::new(),
        taints: taints_of(claim.field("/spec/taints")),
        allocatable: claim.field("/status/allocatable").cloned(),
        likes: Vec::new(),
        limit: None,
        not_ready: None,
        missing_label: None,
    }
}

/// Returns the nodes of a group to which cluster-autoscaler adds one, like those that have its name as a label; `None` if none has.
fn of_group(group: &str, scheduler: &Scheduler) -> Option<Template> {
    let is_of = |node: &&Arc<Node>| node.metadata.labels.iter().any(|(_, value)| value == group);
    let likes = sizes(scheduler.state().cluster().nodes.iter().filter(is_of));
    let first = likes.first()?;
    let labels = first.metadata.labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let taints = first.spec.taints.clone();
    let by = About::new("NodeGroup", Key::new("", group));
    Some(Template { by, labels, choices: Vec::new(), taints, allocatable: None, likes, limit: None, not_ready: None, missing_label: None })
}

/// Returns the nodes of a NodePool.
fn of_pool(pool: &Neighbor, scheduler: &Scheduler, wanted: &BTreeMap<Str, Vec<Str>>) -> Template {
    let name = pool.metadata.name.clone();
    let mut labels = labels_of(pool.field("/spec/template/metadata/labels"));
    labels.insert(POOL.into(), name.clone());
    let mut known: BTreeMap<Str, Option<Vec<Str>>> = BTreeMap::new();
    let mut excluded: BTreeMap<Str, Vec<Str>> = BTreeMap::new();
    for requirement in pool.field("/spec/template/spec/requirements").and_then(Value::as_array).into_iter().flatten() {
        let Some(key) = requirement["key"].as_str().map(Str::from) else { continue };
        match requirement["operator"].as_str() {
            Some("In") => drop(known.insert(key, Some(texts(requirement.get("values"))))),
            Some("NotIn") => {
                excluded.insert(key.clone(), texts(requirement.get("values")));
                known.entry(key).or_insert(None);
            }
            Some("DoesNotExist") => {}
            _ => drop(known.entry(key).or_insert(None)),
        }
    }
    let likes = sizes(scheduler.state().cluster().nodes.iter().filter(|node| node.metadata.labels.get(POOL) == Some(&name)));
    let mut choices: Vec<(Str, Vec<Str>)> = Vec::new();
    for (key, values) in &known {
        match values.as_deref() {
            Some([only]) => drop(labels.entry(key.clone()).or_insert_with(|| only.clone())),
            Some(several) => choices.push((key.clone(), several.to_vec())),
            None => {}
        }
    }
    let mut missing_label = None;
    for (key, values) in wanted {
        let is_chosen = CHOSEN.contains(&key.as_str()) || OF_INSTANCES.iter().any(|domain| key.starts_with(domain));
        match known.get(key) {
            _ if labels.contains_key(key) => {}
            Some(Some(_)) => {}
            Some(None) => {
                let not = excluded.get(key).map_or(&[][..], Vec::as_slice);
                choices.push((key.clone(), values.iter().filter(|value| !not.contains(value)).cloned().collect()));
            }
            None if is_chosen => choices.push((key.clone(), values.clone())),
            None if likes.iter().any(|node| node.metadata.labels.contains_key(key)) => {}
            None => missing_label = Some(key.clone()),
        }
    }
    // Values that the pod names come first.
    for (key, values) in &mut choices {
        let named = wanted.get(key).map_or(&[][..], Vec::as_slice);
        values.sort_by_key(|value| !named.contains(value));
    }
    choices.retain(|(_, values)| !values.is_empty());
    Template {
        by: About::new("NodePool", pool.metadata.key()),
        labels,
        choices,
        taints: taints_of(pool.field("/spec/template/spec/taints")),
        allocatable: None,
        limit: limit_of(pool, likes.first()),
        not_ready: not_ready(pool),
        likes,
        missing_label,
    }
}

/// Returns nodes of different sizes, the first by name of each.
fn sizes<'n>(nodes: impl Iterator<Item = &'n Arc<Node>>) -> Vec<Arc<Node>> {
    let mut found: Vec<Arc<Node>> = Vec::new();
    for node in nodes {
        if found.iter().all(|known| known.status.allocatable != node.status.allocatable) {
            found.push(node.clone());
        }
        if found.len() == SIZES {
            break;
        }
    }
    found
}

/// Returns why a NodePool is not ready; `None` if it is, or if it does not say so.
fn not_ready(pool: &Neighbor) -> Option<Str> {
    let conditions = pool.conditions();
    let ready = condition_is(&conditions, "Ready", "False")?;
    let cause = ["ValidationSucceeded", "NodeClassReady"].iter().find_map(|kind| condition_is(&conditions, kind, "False"));
    let said = cause.unwrap_or(ready);
    Some(if said.reason.is_empty() { said.kind.clone() } else { said.reason.clone() })
}

/// Returns the first limit of a pool that one more node like another would exceed.
fn limit_of(pool: &Neighbor, like: Option<&Arc<Node>>) -> Option<PoolLimit> {
    let amount = |value: Option<&Value>| -> Option<Quantity> {
        match value? {
            Value::String(text) => text.parse().ok(),
            Value::Number(number) => number.to_string().parse().ok(),
            _ => None,
        }
    };
    let used = pool.field("/status/resources");
    for (resource, most) in pool.field("/spec/limits").and_then(Value::as_object).into_iter().flatten() {
        let Some(most) = amount(Some(most)) else { continue };
        let Some(used) = amount(used.and_then(|used| used.get(resource))) else { continue };
        let more = like.and_then(|node| node.status.allocatable.get(resource)).map_or(0, |amount| amount.nanos());
        if used >= most || used.nanos().saturating_add(more) > most.nanos() {
            return Some(PoolLimit { resource: resource.as_str().into(), used, most });
        }
    }
    None
}

impl Template {
    fn untried(self) -> ComingNode {
        ComingNode { by: self.by, like: None, limit: self.limit, not_ready: self.not_ready, verdict: ComingVerdict::NotTried }
    }

    /// Returns the values of the labels with a choice, combination by combination.
    fn combinations(&self) -> impl Iterator<Item = Vec<(Str, Str)>> + '_ {
        let all = self.choices.iter().map(|(_, values)| values.len()).fold(1_usize, usize::saturating_mul);
        (0..all).map(|mut number| {
            let choose = |(key, values): &(Str, Vec<Str>)| {
                let value = values[number % values.len()].clone();
                number /= values.len();
                (key.clone(), value)
            };
            self.choices.iter().map(choose).collect()
        })
    }

    /// Returns the node with its devices and daemons.
    fn objects(&self, scheduler: &Scheduler, like: Option<&Node>, chosen: &[(Str, Str)], pod: &Pod) -> Vec<Object> {
        let (cluster, snapshot) = (scheduler.state().cluster(), scheduler.state().snapshot());
        let mut objects = like.map(|like| another_node(cluster, &snapshot, like)).unwrap_or_default();
        if objects.is_empty() {
            objects.push(Object::Node(Arc::new(self.bare(pod))));
        }
        if let Some(Object::Node(node)) = objects.first_mut() {
            let node = Arc::make_mut(node);
            for (key, value) in self.labels.iter().chain(chosen.iter().map(|(key, value)| (key, value))) {
                if key != HOSTNAME {
                    node.metadata.labels.insert(key.clone(), value.clone());
                }
            }
            node.spec.taints = self.taints.clone();
        }
        objects
    }

    /// Returns a node of no known size with enough of all that the pod asks for, or of the size that is known.
    fn bare(&self, pod: &Pod) -> Node {
        let name = format!("{}-coming", self.by.key.name);
        let mut node: Node = serde_json::from_value(json!({"metadata": {"name": name, "labels": {HOSTNAME: name}}})).unwrap_or_default();
        let known = self.allocatable.as_ref().and_then(|amounts| serde_json::from_value(amounts.clone()).ok());
        node.status.allocatable = known.unwrap_or_else(|| {
            let requests = pod_requests(pod, PodResourcesOptions::default());
            let names = requests.iter().map(|(name, _)| name.clone()).chain(["cpu", "memory", "pods", "ephemeral-storage"].map(Str::from));
            let enough = ENOUGH.parse::<Quantity>().unwrap_or_default();
            names.map(|name| (name, enough)).collect()
        });
        node
    }
}

impl Trials<'_> {
    fn judge(&mut self, template: Template) -> ComingNode {
        let (verdict, like) = self.verdict(&template);
        ComingNode { by: template.by, like, limit: template.limit, not_ready: template.not_ready, verdict }
    }

    fn verdict(&mut self, template: &Template) -> (ComingVerdict, Option<Str>) {
        if let Some(label) = &template.missing_label {
            return (ComingVerdict::NoSuchLabel(label.clone()), None);
        }
        let likes: Vec<Option<&Node>> = template.likes.iter().map(|node| Some(&**node)).collect();
        let likes = if likes.is_empty() { vec![None] } else { likes };
        let mut rejected = None;
        for like in likes {
            for chosen in template.combinations() {
                if self.left == 0 {
                    return rejected.unwrap_or((ComingVerdict::NotTried, None));
                }
                self.left -= 1;
                let name = like.map(|node| node.name().clone());
                match self.rejection(template.objects(self.scheduler, like, &chosen, self.pod)) {
                    None if like.is_none() && template.allocatable.is_none() => return (ComingVerdict::FitsIfLarge, None),
                    None => return (ComingVerdict::Fits, name),
                    Some(why) => rejected = rejected.or(Some((ComingVerdict::Rejected(why), name))),
                }
            }
        }
        rejected.unwrap_or((ComingVerdict::NotTried, None))
    }

    /// Adds a node to a copy of the cluster and returns the first rejection of the pod there; `None` if it fits.
    fn rejection(&self, objects: Vec<Object>) -> Option<String> {
        let name = objects.iter().find_map(|object| if let Object::Node(node) = object { Some(node.name().clone()) } else { None })?;
        let mut with = self.scheduler.clone().quietly();
        let operations = objects.into_iter().map(|object| Operation::Create { object }).collect();
        with.apply(Operation::Batch { name: "a node comes".to_owned(), operations });
        let filters = with.every_filter(&self.pod.key(), &name)?;
        if let Some(status) = &filters.not_asked {
            return Some(status.message());
        }
        if filters.left_out {
            return Some("it is not among the nodes that the pod may use".to_owned());
        }
        filters.rejections().next().map(|(_, status)| status.message())
    }
}

#[cfg(test)]
mod tests;
