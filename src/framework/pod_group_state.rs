//! The pods of each group that the scheduler knows; mirrors `pkg/scheduler/backend/cache/podgroupstate.go`.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::PodInfo;
use crate::cluster::{Key, Pod};

/// The pods of all groups that pods name, whether the PodGroup is there or not. Cloning is free.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodGroupStates(OrdMap<Key, PodGroupState>);

/// The pods of one group by name. A pod is waiting, assumed or bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodGroupState {
    pods: OrdMap<Key, Arc<Pod>>,
    unscheduled: OrdMap<Key, Arc<Pod>>,
    /// As the cache has them.
    assumed: OrdMap<Key, Arc<Pod>>,
    assigned: OrdSet<Key>,
}

impl PodGroupStates {
    /// Returns the pods of a group; `None` where no pod names it.
    pub fn get(&self, group: &Key) -> Option<&PodGroupState> {
        self.0.get(group)
    }

    /// Takes in a pod that came, with a node or without.
    pub fn add(&mut self, pod: &Arc<Pod>) {
        let Some(group) = pod.group_key() else { return };
        let state = self.0.entry(group).or_default();
        let key = pod.key();
        state.pods.insert(key.clone(), pod.clone());
        if pod.node_name.is_empty() {
            state.unscheduled.insert(key, pod.clone());
        } else {
            state.assigned.insert(key);
        }
    }

    /// Takes in a change of a pod that waits.
    pub fn update(&mut self, pod: &Arc<Pod>) {
        if let Some(state) = pod.group_key().and_then(|group| self.0.get_mut(&group)) {
            let key = pod.key();
            if let Some(known) = state.unscheduled.get_mut(&key) {
                *known = pod.clone();
            }
            state.pods.insert(key, pod.clone());
        }
    }

    /// Forgets a pod; a group without pods is forgotten, too.
    pub fn remove(&mut self, pod: &Pod) {
        let Some(group) = pod.group_key() else { return };
        let Some(state) = self.0.get_mut(&group) else { return };
        let key = pod.key();
        state.pods.remove(&key);
        state.unscheduled.remove(&key);
        state.assumed.remove(&key);
        state.assigned.remove(&key);
        if state.pods.is_empty() {
            self.0.remove(&group);
        }
    }

    /// Notes that a pod was put on its node in memory.
    pub fn assume(&mut self, pod: &PodInfo) {
        let key = pod.key();
        let Some(state) = pod.pod.group_key().and_then(|group| self.0.get_mut(&group)) else { return };
        let Some(known) = state.pods.get(&key) else { return };
        if known.node_name.is_empty() {
            state.assumed.insert(key.clone(), pod.pod.clone());
        } else {
            state.assigned.insert(key.clone());
        }
        state.unscheduled.remove(&key);
    }

    /// Notes that an assumed pod was taken off its node again.
    pub fn forget(&mut self, pod: &Pod) {
        let key = pod.key();
        let Some(state) = pod.group_key().and_then(|group| self.0.get_mut(&group)) else { return };
        state.assumed.remove(&key);
        let Some(known) = state.pods.get(&key) else { return };
        if known.node_name.is_empty() {
            state.unscheduled.insert(key, known.clone());
        } else {
            state.assigned.insert(key);
        }
    }
}

impl PodGroupState {
    /// Returns how many pods of the group are known.
    pub fn pods(&self) -> usize {
        self.pods.len()
    }

    /// Returns the pods that are neither assumed nor bound, by name.
    pub fn unscheduled(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.unscheduled.values()
    }

    /// Returns the names of these pods, in the same order.
    pub fn unscheduled_keys(&self) -> impl Iterator<Item = &Key> {
        self.unscheduled.keys()
    }

    /// Returns how many pods are neither assumed nor bound.
    pub fn unscheduled_count(&self) -> usize {
        self.unscheduled.len()
    }

    pub fn is_assumed(&self, pod: &Key) -> bool {
        self.assumed.contains_key(pod)
    }

    /// Returns the pods that are assumed, by name.
    pub fn assumed(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.assumed.values()
    }

    /// Returns the pods that have a node, the bound ones first, by name.
    pub fn scheduled(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.assigned.iter().filter_map(|key| self.pods.get(key)).chain(self.assumed.values())
    }

    /// Returns how many pods have a node.
    pub fn scheduled_count(&self) -> usize {
        self.assigned.len() + self.assumed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, group: &str, node: &str) -> Arc<Pod> {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"d"}},"spec":{{"nodeName":"{node}","schedulingGroup":{{"podGroupName":"{group}"}}}}}}"#
        );
        Arc::new(serde_json::from_str(&text).unwrap())
    }

    #[track_caller]
    fn check(states: &PodGroupStates, pods: usize, unscheduled: &str, scheduled: &str) {
        let state = states.get(&Key::new("d", "g")).expect("the group");
        let names = |pods: Vec<&Arc<Pod>>| pods.iter().map(|p| p.metadata.name.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!((state.pods(), state.scheduled_count()), (pods, state.scheduled().count()));
        assert_eq!((names(state.unscheduled().collect()), names(state.scheduled().collect())), (unscheduled.into(), scheduled.into()));
    }

    #[test]
    fn a_pod_waits_or_is_assumed_or_bound() {
        let mut states = PodGroupStates::default();
        states.add(&Arc::new(Pod::default()));
        states.add(&pod("b", "g", ""));
        states.add(&pod("a", "g", "n"));
        states.add(&pod("x", "other", ""));
        check(&states, 2, "b", "a");
        let assumed = PodInfo::new(pod("b", "g", "n"));
        states.assume(&assumed);
        check(&states, 2, "", "a b");
        assert_eq!(states.get(&Key::new("d", "g")).unwrap().assumed().count(), 1);
        states.forget(&assumed.pod);
        check(&states, 2, "b", "a");
        states.assume(&assumed);
        // Bound: the cache forgets the assumed pod and takes in the real one.
        states.remove(&assumed.pod);
        states.add(&assumed.pod);
        check(&states, 2, "", "a b");
        states.remove(&pod("a", "g", "n"));
        // A pod that is gone is not assumed.
        states.assume(&PodInfo::new(pod("a", "g", "n")));
        check(&states, 1, "", "b");
        states.remove(&assumed.pod);
        assert!(states.get(&Key::new("d", "g")).is_none());
    }
}
