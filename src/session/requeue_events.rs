//! Lists the cluster events that may requeue a parked pod, for screens and reports, which must not ask the engine.

use std::collections::{BTreeMap, BTreeSet};

use strum::IntoEnumIterator;

use crate::cluster::Str;
use crate::framework::{ActionType, ClusterEvent, EventResource, PluginName};

/// Events at which a plugin's queueing hint is called for a pod that it rejected, by profile and plugin.
///
/// Only events that occur are listed: a plugin that registers `Pod/Delete` is called at `AssignedPodDelete`. The most frequent come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequeueEvents {
    profiles: BTreeMap<Str, BTreeMap<PluginName, Vec<ClusterEvent>>>,
}

impl RequeueEvents {
    /// Collects registrations: the profile's `schedulerName`, the plugin and the event.
    pub fn new<'a>(registrations: impl IntoIterator<Item = (&'a Str, PluginName, ClusterEvent)>) -> Self {
        let incoming = incoming();
        let mut found: BTreeMap<&Str, BTreeMap<PluginName, BTreeSet<usize>>> = BTreeMap::new();
        for (profile, plugin, registered) in registrations {
            let matching = incoming.iter().enumerate().filter(|(_, e)| registered.matches(e)).map(|(i, _)| i);
            found.entry(profile).or_default().entry(plugin).or_default().extend(matching);
        }
        let events = |at: BTreeSet<usize>| at.into_iter().map(|i| incoming[i]).collect();
        let profiles =
            found.into_iter().map(|(profile, by)| (profile.clone(), by.into_iter().map(|(plugin, at)| (plugin, events(at))).collect()));
        Self { profiles: profiles.collect() }
    }

    /// Returns whether there is a profile of this name.
    pub fn has_profile(&self, profile: &str) -> bool {
        self.profiles.contains_key(profile)
    }

    /// Returns the events for a plugin of a profile; empty where it registered none.
    pub fn of(&self, profile: &str, plugin: PluginName) -> &[ClusterEvent] {
        self.profiles.get(profile).and_then(|p| p.get(&plugin)).map_or(&[], Vec::as_slice)
    }
}

/// Returns the events at which parked pods can move, the most frequent first. Updates of an unscheduled pod move only
/// that pod; its creation and deletion move none.
fn incoming() -> Vec<ClusterEvent> {
    use ActionType as A;
    use EventResource as R;
    let mut events = Vec::new();
    let mut add = |resource, actions: &[A]| events.extend(actions.iter().map(|a| ClusterEvent::new(resource, *a)));
    add(R::AssignedPod, &[A::DELETE, A::ADD]);
    add(R::Node, &[A::ADD, A::UPDATE_NODE_ALLOCATABLE, A::UPDATE_NODE_TAINT, A::UPDATE_NODE_LABEL]);
    add(R::Node, &[A::UPDATE_NODE_CONDITION, A::UPDATE_NODE_ANNOTATION, A::UPDATE_NODE_DECLARED_FEATURE, A::DELETE]);
    let of_both = [A::UPDATE, A::UPDATE_POD_LABEL, A::UPDATE_POD_SCALE_DOWN, A::UPDATE_POD_TOLERATION];
    add(R::UnschedulablePod, &of_both);
    add(R::AssignedPod, &of_both);
    add(R::UnschedulablePod, &[A::UPDATE_POD_SCHEDULING_GATES_ELIMINATED, A::UPDATE_POD_GENERATED_RESOURCE_CLAIM]);
    let others = R::iter().filter(|r| !matches!(r, R::Pod | R::AssignedPod | R::UnschedulablePod | R::Node | R::WildCard));
    for resource in others {
        add(resource, &[A::ADD, A::UPDATE, A::DELETE]);
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrations_become_the_labels_of_events_that_come() {
        use ActionType as A;
        use EventResource as R;
        let check = |registered: &[(R, A)], expected: &[&str]| {
            let (profile, plugin) = (Str::from("s"), PluginName::NodeResourcesFit);
            let requeue_events = RequeueEvents::new(registered.iter().map(|(r, a)| (&profile, plugin, ClusterEvent::new(*r, *a))));
            let labels: Vec<String> = requeue_events.of("s", plugin).iter().map(ToString::to_string).collect();
            assert_eq!(labels, expected, "{registered:?}");
            assert!(requeue_events.of("other", plugin).is_empty());
            assert!(requeue_events.of("s", PluginName::NodeName).is_empty());
        };
        check(&[], &[]);
        check(&[(R::Pod, A::DELETE)], &["AssignedPodDelete"]);
        check(&[(R::Node, A::ADD.or(A::UPDATE_NODE_LABEL))], &["NodeAdd", "NodeUpdateNodeLabel"]);
        check(
            &[(R::Node, A::UPDATE_NODE_TAINT), (R::Node, A::ADD), (R::Pod, A::DELETE)],
            &["AssignedPodDelete", "NodeAdd", "NodeUpdateNodeTaint"],
        );
        check(&[(R::Pod, A::UPDATE_POD_LABEL)], &["UnschedulablePodUpdatePodLabel", "AssignedPodUpdatePodLabel"]);
        check(&[(R::Pod, A::UPDATE_POD_SCHEDULING_GATES_ELIMINATED)], &["UnschedulablePodUpdatePodSchedulingGatesEliminated"]);
        check(&[(R::PersistentVolumeClaim, A::ADD.or(A::UPDATE))], &["PersistentVolumeClaimAdd", "PersistentVolumeClaimUpdate"]);
        check(&[(R::CSINode, A::ADD)], &["storage.k8s.io/CSINodeAdd"]);
    }
}
