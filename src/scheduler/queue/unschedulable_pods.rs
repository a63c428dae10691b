//! unschedulablePods: the pods that wait for a change, and the gated ones. Mirrors `unschedulablePods` in
//! `pkg/scheduler/backend/queue/unschedulable_pods.go`.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use crate::cluster::Key;
use crate::framework::{PluginName, QueuedPodInfo};

/// Parked and gated pods, by namespace and name.
#[derive(Clone, Debug, Default)]
pub(super) struct UnschedulablePods {
    pods: OrdMap<Key, Arc<QueuedPodInfo>>,
    /// The gated pods of each pod group.
    gated: OrdMap<Key, OrdSet<Key>>,
}

impl UnschedulablePods {
    pub(super) fn get(&self, key: &Key) -> Option<&Arc<QueuedPodInfo>> {
        self.pods.get(key)
    }

    /// Returns the pods, by namespace and name.
    pub(super) fn values(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.pods.values()
    }

    pub(super) fn len(&self) -> usize {
        self.pods.len()
    }

    /// Adds a pod; replaces one of the same name.
    pub(super) fn insert(&mut self, info: Arc<QueuedPodInfo>) {
        let key = info.key();
        self.remove(&key);
        if let Some(group) = info.pod().group_key().filter(|_| info.gated()) {
            self.gated.entry(group).or_default().insert(key.clone());
        }
        self.pods.insert(key, info);
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<QueuedPodInfo>> {
        let info = self.pods.remove(key)?;
        if let Some(group) = info.pod().group_key().filter(|_| info.gated())
            && let Some(gated) = self.gated.get_mut(&group)
        {
            gated.remove(key);
            if gated.is_empty() {
                self.gated.remove(&group);
            }
        }
        Some(info)
    }

    /// Returns the gated pods of a group, by name.
    pub(super) fn gated(&self, group: &Key) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.gated.get(group).into_iter().flatten().filter_map(|key| self.pods.get(key))
    }

    /// Returns the first gated pod of a group by name.
    pub(super) fn first_gated(&self, group: &Key) -> Option<&Arc<QueuedPodInfo>> {
        self.pods.get(self.gated.get(group)?.get_min()?)
    }

    /// Returns the plugin that gates the first gated pod of a group by name.
    pub(super) fn gate_of(&self, group: &Key) -> Option<PluginName> {
        self.first_gated(group)?.gating_plugin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Emulation;

    fn info(name: &str, gate: Option<PluginName>) -> Arc<QueuedPodInfo> {
        let text = format!(r#"{{"metadata":{{"name":"{name}","namespace":"d"}},"spec":{{"schedulingGroup":{{"podGroupName":"g"}}}}}}"#);
        let pod = Arc::new(serde_json::from_str(&text).unwrap());
        let mut info = QueuedPodInfo::new(pod, jiff::Timestamp::UNIX_EPOCH, 0, Emulation::default());
        info.gating_plugin = gate;
        Arc::new(info)
    }

    #[test]
    fn a_group_is_gated_while_one_of_its_pods_is() {
        let (group, gates, claims) = (Key::new("d", "g"), Some(PluginName::SchedulingGates), Some(PluginName::DynamicResources));
        let mut pods = UnschedulablePods::default();
        pods.insert(info("a", None));
        assert_eq!(pods.gate_of(&group), None);
        pods.insert(info("c", gates));
        pods.insert(info("b", claims));
        assert_eq!((pods.gate_of(&group), pods.gate_of(&Key::new("d", "other")), pods.len()), (claims, None, 3));
        pods.insert(info("b", None));
        assert_eq!(pods.gate_of(&group), gates);
        assert!(pods.remove(&Key::new("d", "c")).is_some() && pods.remove(&Key::new("d", "c")).is_none());
        assert_eq!((pods.gate_of(&group), pods.gated.len(), pods.len()), (None, 0, 2));
    }
}
