//! The events that plugins registered for; mirrors `buildQueueingHintMap` in `pkg/scheduler/scheduler.go` and
//! `fillEnqueueExtensions` in `pkg/scheduler/framework/runtime/framework.go`.

use std::collections::BTreeMap;

use crate::cluster::Str;
use crate::framework::{ActionType, ClusterEvent, ClusterEventWithHint, EventResource, PluginName, PluginSet, QueueingHintFn};
use crate::release::{Emulation, Gate};

/// An event that a plugin registered.
#[derive(Clone)]
pub(super) struct Registration {
    pub(super) plugin: PluginName,
    pub(super) event: ClusterEvent,
    /// `None` always returns Queue.
    pub(super) hint: Option<QueueingHintFn>,
}

/// A plugin of a profile with what it registered.
type OfPlugin = (PluginName, Vec<Registration>);

/// The events that the plugins of one profile registered; `None` for a plugin without registrations of its own.
pub type PluginEvents = Vec<(PluginName, Option<Vec<ClusterEventWithHint>>)>;

/// The registrations of all profiles, in the order of the plugins given.
///
/// kube-scheduler runs hints in random order; the outcome is the same, as one Queue suffices.
#[derive(Clone, Default)]
pub struct HintMap {
    profiles: BTreeMap<Str, Vec<OfPlugin>>,
    emulation: Emulation,
}

impl std::fmt::Debug for HintMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_plugin = |(plugin, list): &OfPlugin| list.iter().map(|r| format!("{plugin}: {}", r.event)).collect::<Vec<_>>();
        let rows = |list: &[OfPlugin]| list.iter().flat_map(of_plugin).collect::<Vec<_>>();
        f.debug_map().entries(self.profiles.iter().map(|(name, list)| (name, rows(list)))).finish()
    }
}

impl HintMap {
    /// Builds the map, per `schedulerName`, from the plugins that run at `PreEnqueue`, `PreFilter`, Filter, Reserve or
    /// Permit. A plugin without registrations of its own (`None`) is registered for all events. So is
    /// [`PluginName::Extender`], which the list contains if the profile has extenders. Without the gate
    /// `SchedulerQueueingHints` every registered event requeues the pod.
    pub fn new(profiles: &[(Str, PluginEvents)], emulation: Emulation) -> Self {
        let of_plugin = |(plugin, events): &(PluginName, _)| (*plugin, register(*plugin, Option::as_deref(events), emulation));
        let registrations = |plugins: &PluginEvents| plugins.iter().map(of_plugin).collect();
        Self { profiles: profiles.iter().map(|(name, plugins)| (name.clone(), registrations(plugins))).collect(), emulation }
    }

    pub(super) fn matches(&self, registration: &Registration, event: ClusterEvent) -> bool {
        registration.event.matches_by(&event, self.emulation.behaviour().queue.event_matching)
    }

    /// Whether any plugin of any profile registered for the event.
    pub fn is_event_of_interest(&self, event: &ClusterEvent) -> bool {
        event.is_wildcard() || self.profiles.values().flatten().flat_map(|(_, list)| list).any(|r| self.matches(r, *event))
    }

    /// Whether the plugin, in any profile, registered an event that this one matches.
    pub fn registered(&self, plugin: PluginName, event: &ClusterEvent) -> bool {
        self.profiles.values().flatten().any(|(known, list)| *known == plugin && list.iter().any(|r| self.matches(r, *event)))
    }

    /// Returns all registrations, as the `schedulerName` of the profile, the plugin and the event; by profile, in the
    /// order of the plugins given.
    pub fn registrations(&self) -> impl Iterator<Item = (&Str, PluginName, ClusterEvent)> {
        self.profiles
            .iter()
            .flat_map(|(profile, plugins)| plugins.iter().flat_map(|(_, list)| list).map(move |r| (profile, r.plugin, r.event)))
    }

    /// Returns the registrations of some plugins of a profile for an event; `None` if no profile has the name.
    pub(super) fn of(&self, scheduler_name: &Str, plugins: PluginSet, event: ClusterEvent) -> Option<impl Iterator<Item = &Registration>> {
        let of_plugins = self.profiles.get(scheduler_name)?.iter().filter(move |(plugin, _)| plugins.contains(*plugin));
        Some(of_plugins.flat_map(|(_, list)| list).filter(move |registration| self.matches(registration, event)))
    }
}

fn register(plugin: PluginName, events: Option<&[ClusterEventWithHint]>, emulation: Emulation) -> Vec<Registration> {
    let Some(events) = events else {
        let groups = Some(EventResource::PodGroup).filter(|_| emulation.enabled(Gate::GenericWorkload));
        let all = UNROLLED.iter().copied().chain(groups);
        return all.map(|r| Registration { plugin, event: ClusterEvent::new(r, ActionType::ALL), hint: None }).collect();
    };
    let hints = emulation.enabled(Gate::SchedulerQueueingHints);
    let registration = |e: &ClusterEventWithHint| Registration { plugin, event: e.event, hint: e.hint.clone().filter(|_| hints) };
    let tolerations = emulation.behaviour().queue.tolerations_registered;
    let registered = |e: &&ClusterEventWithHint| tolerations || e.event.action != ActionType::UPDATE_POD_TOLERATION;
    let mut list: Vec<Registration> = events.iter().filter(registered).map(registration).collect();
    // Upstream adds this for plugins that could otherwise miss a node that became eligible (issue 109437). It does not
    // depend on the gate that made it unnecessary, so any taint change retries the pods that these plugins rejected.
    let on_node = |action: ActionType| events.iter().any(|e| e.event.resource == EventResource::Node && e.event.action.0 & action.0 != 0);
    let taint_updates_with_node_adds = emulation.behaviour().queue.taint_updates_with_node_adds;
    if taint_updates_with_node_adds && on_node(ActionType::ADD) && !on_node(ActionType::UPDATE_NODE_TAINT) {
        let event = ClusterEvent::new(EventResource::Node, ActionType::UPDATE_NODE_TAINT);
        list.push(Registration { plugin, event, hint: None });
    }
    list
}

/// `UnrollWildCardResource` in `pkg/scheduler/framework/types.go`; `ResourceSlice` and `VolumeAttachment` are missing
/// there too.
const UNROLLED: [EventResource; 10] = [
    EventResource::Pod,
    EventResource::Node,
    EventResource::PersistentVolume,
    EventResource::PersistentVolumeClaim,
    EventResource::CSINode,
    EventResource::CSIDriver,
    EventResource::CSIStorageCapacity,
    EventResource::StorageClass,
    EventResource::ResourceClaim,
    EventResource::DeviceClass,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(resource: EventResource, action: ActionType) -> ClusterEventWithHint {
        ClusterEventWithHint { event: ClusterEvent::new(resource, action), hint: None }
    }

    fn rows(events: Option<Vec<ClusterEventWithHint>>) -> Vec<String> {
        let map = HintMap::new(&[("s".into(), vec![(PluginName::NodeName, events)])], Emulation::default());
        map.registrations().map(|(_, _, event)| event.to_string()).collect()
    }

    #[test]
    fn node_add_without_taint_updates_gets_them_too() {
        assert_eq!(rows(Some(vec![plain(EventResource::Node, ActionType::ADD)])), ["NodeAdd", "NodeUpdateNodeTaint"]);
        let both = ActionType::ADD.or(ActionType::UPDATE_NODE_TAINT);
        assert_eq!(rows(Some(vec![plain(EventResource::Node, both)])).len(), 1);
        assert_eq!(rows(Some(vec![plain(EventResource::Node, ActionType::UPDATE_NODE_LABEL)])), ["NodeUpdateNodeLabel"]);
        assert_eq!(rows(Some(vec![plain(EventResource::Pod, ActionType::ADD)])), ["PodAdd"]);
        assert!(rows(Some(Vec::new())).is_empty());
    }

    #[test]
    fn a_plugin_that_leaves_it_open_hears_of_everything_but_slices_and_attachments() {
        let rows = rows(None);
        assert_eq!((rows.len(), rows[0].as_str()), (10, "PodAll"));
        let map = HintMap::new(&[("s".into(), vec![(PluginName::Extender, None)])], Emulation::default());
        let add = |resource| ClusterEvent::new(resource, ActionType::ADD);
        assert!(map.is_event_of_interest(&add(EventResource::AssignedPod)));
        assert!(!map.is_event_of_interest(&add(EventResource::ResourceSlice)));
        assert!(!map.registered(PluginName::Extender, &add(EventResource::VolumeAttachment)));
        assert!(!map.registered(PluginName::Extender, &ClusterEvent::FORCE_ACTIVATE), "wildcards match only wildcards");
        assert!(map.is_event_of_interest(&ClusterEvent::FORCE_ACTIVATE));
        assert!(map.of(&"other".into(), PluginSet::default(), add(EventResource::Node)).is_none());
    }
}
