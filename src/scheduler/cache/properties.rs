//! Compares the cache after any series of changes with a plain model that rebuilds every list at each change.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Cache, zone_key};
use crate::cluster::{Node, Pod, Str};
use crate::framework::{ImageState, LabelBloom, NodeInfo, PodInfo, Snapshot};

#[derive(Clone, Debug)]
enum Step {
    /// Adds nodes, or updates those that are known.
    Add(Vec<(u8, u8, u8)>),
    /// Updates a node: zone and images.
    Update(u8, u8, u8),
    Remove(u8),
    PodComes(u8, u8),
    PodGoes(u8),
    /// Keeps a clone, which later steps must not change.
    Keep,
}

fn step() -> impl Strategy<Value = Step> {
    let node = || (0..9_u8, 0..4_u8, 0..4_u8);
    prop_oneof![
        1 => proptest::collection::vec(node(), 1..5).prop_map(Step::Add),
        2 => node().prop_map(|n| Step::Add(vec![n])),
        2 => node().prop_map(|(n, zone, images)| Step::Update(n, zone, images)),
        2 => (0..9_u8).prop_map(Step::Remove),
        4 => (0..12_u8, 0..9_u8).prop_map(|(pod, node)| Step::PodComes(pod, node)),
        2 => (0..12_u8).prop_map(Step::PodGoes),
        1 => Just(Step::Keep),
    ]
}

fn node((name, zone, images): (u8, u8, u8)) -> Arc<Node> {
    let names: Vec<String> = (0..2).filter(|bit| images & 1 << bit != 0).map(|bit| format!("\"image-{bit}\"")).collect();
    // The size identifies the node that reported an image first.
    let images: Vec<String> = names.iter().map(|n| format!(r#"{{"names":[{n}],"sizeBytes":{}}}"#, name + 10 * images)).collect();
    let labels = if zone == 0 { String::new() } else { format!(r#""topology.kubernetes.io/zone":"z{zone}""#) };
    let text = format!(r#"{{"metadata":{{"name":"n{name}","labels":{{{labels}}}}},"status":{{"images":[{}]}}}}"#, images.join(","));
    Arc::new(serde_json::from_str(&text).unwrap())
}

fn pod(name: u8, node: u8) -> Arc<PodInfo> {
    let term = r#""requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{},"topologyKey":"zone"}]"#;
    let affinity =
        ["", r#","affinity":{"podAffinity":{T}}"#, r#","affinity":{"podAntiAffinity":{T}}"#][usize::from(name % 3)].replace('T', term);
    let meta = format!(r#"{{"name":"p{name}","uid":"p{name}","labels":{{"app":"a{}"}}}}"#, name % 4);
    let containers = r#"[{"resources":{"requests":{"cpu":"100m","memory":"1Mi"}}}]"#;
    let text = format!(r#"{{"metadata":{meta},"spec":{{"nodeName":"n{node}","containers":{containers}{affinity}}}}}"#);
    Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
}

/// The zones of upstream's node tree with the names of their nodes.
#[derive(Clone, Debug, Default)]
struct Model {
    tree: Vec<(String, Vec<Str>)>,
    /// Rebuilt from the tree only when a node is added or removed.
    order: Vec<Str>,
    nodes: BTreeMap<Str, Arc<Node>>,
    /// By the name of a node, existing or not.
    pods: BTreeMap<Str, Vec<Arc<PodInfo>>>,
    image_sizes: BTreeMap<Str, i64>,
}

impl Model {
    fn leave(&mut self, name: &Str) {
        for (_, names) in &mut self.tree {
            names.retain(|n| n != name);
        }
        self.tree.retain(|(_, names)| !names.is_empty());
    }

    fn enter(&mut self, node: &Node) {
        let zone = zone_key(node);
        match self.tree.iter().position(|(z, _)| *z == zone) {
            Some(at) => self.tree[at].1.push(node.name().clone()),
            None => self.tree.push((zone, vec![node.name().clone()])),
        }
    }

    fn relist(&mut self) {
        let turns = 0..self.nodes.len();
        self.order = turns.flat_map(|turn| self.tree.iter().filter_map(move |(_, names)| names.get(turn)).cloned()).collect();
    }

    fn has_image(&self, image: &str) -> usize {
        let has = |n: &&Arc<Node>| n.status.images.iter().any(|i| i.names.iter().any(|name| name.as_str() == image));
        self.nodes.values().filter(has).count()
    }

    fn set(&mut self, new: &Arc<Node>) {
        let old = self.nodes.remove(new.name());
        if old.as_ref().is_none_or(|old| old.status.images != new.status.images) {
            self.drop_images();
            for image in &new.status.images {
                self.image_sizes.entry(image.names[0].clone()).or_insert(image.size_bytes.unwrap());
            }
        }
        self.nodes.insert(new.name().clone(), new.clone());
        if old.as_ref().is_none_or(|old| zone_key(old) != zone_key(new)) {
            self.leave(new.name());
            self.enter(new);
        }
        if old.is_none() {
            self.relist();
        }
    }

    fn remove(&mut self, name: &Str) {
        if self.nodes.remove(name).is_some() {
            self.leave(name);
            self.drop_images();
            self.relist();
        }
    }

    fn drop_images(&mut self) {
        let mut sizes = std::mem::take(&mut self.image_sizes);
        sizes.retain(|image, _| self.has_image(image) > 0);
        self.image_sizes = sizes;
    }

    fn remove_pod(&mut self, pod: &Pod) -> bool {
        let Some(pods) = self.pods.get_mut(&pod.node_name) else { return false };
        let Some(at) = pods.iter().position(|p| p.pod.metadata.name == pod.metadata.name) else { return false };
        // Removing a pod from a node fills the gap with the node's last pod; orphaned pods keep their order.
        drop(if self.nodes.contains_key(&pod.node_name) { pods.swap_remove(at) } else { pods.remove(at) });
        true
    }

    fn infos(&self) -> Vec<NodeInfo> {
        let info = |name: &Str| {
            let mut info = NodeInfo::new(self.nodes[name].clone());
            self.pods.get(name).into_iter().flatten().for_each(|pod| info.add_pod(pod.clone()));
            info
        };
        self.order.iter().map(info).collect()
    }
}

type ByClass = Vec<(Vec<(usize, i64)>, String)>;

fn by_class<'a, N: Iterator<Item = (usize, i64)>>(found: impl Iterator<Item = (&'a PodInfo, N)>) -> ByClass {
    let row = |(pod, nodes): (&PodInfo, N)| {
        let mut nodes: Vec<_> = nodes.collect();
        nodes.sort_unstable();
        (nodes, pod.pod.metadata.labels.get("app").unwrap().to_string())
    };
    let mut rows: ByClass = found.map(row).collect();
    rows.sort();
    rows
}

fn check(cache: &Cache, model: &Model) {
    let (snapshot, infos) = (cache.snapshot(), model.infos());
    assert!(snapshot.nodes().iter().map(|n| &**n).eq(&infos), "{:?}\n{infos:?}", snapshot.nodes());
    for name in (0..9).map(|i| Str::from(format!("n{i}").as_str())) {
        let position = model.order.iter().position(|n| *n == name);
        assert_eq!(snapshot.position(&name), position);
        assert_eq!(snapshot.get(&name).map(|n| &**n), position.map(|at| &infos[at]));
    }
    let rebuilt = Snapshot::of(infos);
    for app in ["a0", "a1", "a2", "a3"] {
        let chosen = |p: &PodInfo| p.pod.metadata.labels.get("app").is_some_and(|a| a.as_str() == app);
        assert_eq!(snapshot.pods().count(LabelBloom::default(), chosen), rebuilt.pods().count(LabelBloom::default(), chosen));
    }
    let (all, bits) = (|_: &PodInfo| true, LabelBloom::ALL);
    assert_eq!(snapshot.pods().count(LabelBloom::default(), all), rebuilt.pods().count(LabelBloom::default(), all));
    assert_eq!(by_class(snapshot.pods().with_affinity_to(bits, false)), by_class(rebuilt.pods().with_affinity_to(bits, false)));
    let anti = |s: &Snapshot| by_class(s.pods().with_required_anti_affinity_to(bits));
    assert_eq!(anti(&snapshot), anti(&rebuilt));
    for image in ["image-0", "image-1"] {
        let expected = model.image_sizes.get(image).map(|size| ImageState { size: *size, num_nodes: model.has_image(image) });
        assert_eq!(snapshot.images().get(image), expected);
    }
    let named = |pods: &[Arc<PodInfo>]| pods.iter().map(|p| p.pod.metadata.name.to_string()).collect::<Vec<_>>();
    let orphans: Vec<_> = cache.orphans.iter().map(|(node, pods)| (node.clone(), named(pods))).collect();
    let waiting = model.pods.iter().filter(|(node, pods)| !pods.is_empty() && !model.nodes.contains_key(*node));
    assert_eq!(orphans, waiting.map(|(node, pods)| (node.clone(), named(pods))).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn the_cache_is_as_if_made_again_after_any_changes(steps in proptest::collection::vec(step(), 1..60)) {
        let (mut cache, mut model, mut kept) = (Cache::default(), Model::default(), Vec::new());
        let mut bound: BTreeMap<u8, Arc<PodInfo>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Add(nodes) => {
                    let by_name: BTreeMap<u8, Arc<Node>> = nodes.into_iter().map(|n| (n.0, node(n))).collect();
                    cache.add_nodes(by_name.values().rev().cloned());
                    let (known, new): (Vec<_>, Vec<_>) = by_name.values().partition(|n| model.nodes.contains_key(n.name()));
                    known.into_iter().chain(new).for_each(|n| model.set(n));
                    model.relist();
                }
                Step::Update(name, zone, images) => {
                    let node = node((name, zone, images));
                    cache.update_node(&node);
                    model.set(&node);
                }
                Step::Remove(name) => {
                    let name = Str::from(format!("n{name}").as_str());
                    cache.remove_node(&name);
                    model.remove(&name);
                }
                Step::PodComes(name, node) => {
                    let pod = pod(name, node);
                    if let Some(old) = bound.insert(name, pod.clone()) {
                        prop_assert!(cache.remove_pod(&old.pod) && model.remove_pod(&old.pod));
                    }
                    cache.add_pod(pod.clone());
                    model.pods.entry(pod.pod.node_name.clone()).or_default().push(pod);
                }
                Step::PodGoes(name) => {
                    let old = bound.remove(&name).unwrap_or_else(|| pod(name, 0));
                    prop_assert_eq!(cache.remove_pod(&old.pod), model.remove_pod(&old.pod));
                }
                Step::Keep => kept.push((cache.clone(), model.clone())),
            }
            check(&cache, &model);
        }
        for (cache, model) in &kept {
            check(cache, model);
        }
    }
}
