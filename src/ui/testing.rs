//! Objects for unit tests of the screen.

use crate::cluster::{Container, Key, Meta, Node, Pod, Quantity};

fn key(text: &str) -> Key {
    let (namespace, name) = text.split_once('/').unwrap();
    Key::new(namespace, name)
}

fn quantities(list: &[(&str, &str)]) -> crate::cluster::ResourceList {
    list.iter().map(|(name, amount)| (*name, amount.parse::<Quantity>().unwrap())).collect()
}

/// Returns a node that allows 20 pods.
pub(crate) fn node(name: &str, cpu: &str, memory: &str) -> Node {
    let mut node = Node { metadata: Meta { name: name.into(), ..Meta::default() }, ..Node::default() };
    node.status.allocatable = quantities(&[("cpu", cpu), ("memory", memory), ("pods", "20")]);
    node
}

/// Returns a pod with one container, bound unless `node` is empty.
pub(crate) fn pod(name: &str, priority: i32, cpu: &str, memory: &str, node: &str) -> Pod {
    let key = key(name);
    let mut pod = Pod { metadata: Meta { namespace: key.namespace, name: key.name, ..Meta::default() }, ..Pod::default() };
    pod.node_name = node.into();
    let spec = pod.spec_mut();
    spec.priority = Some(priority);
    spec.scheduler_name = "default-scheduler".into();
    let mut container = Container { name: "main".into(), ..Container::default() };
    container.resources.requests = quantities(&[("cpu", cpu), ("memory", memory)]);
    spec.containers = [container].into_iter().collect();
    pod
}
