//! Per-cycle data that a plugin hands from one extension point to the next; mirrors
//! `pkg/scheduler/framework/cycle_state.go`.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::PluginSet;

/// A plugin's own data. Implemented for every type that is `Clone + Send + Sync`.
pub trait StateData: Any + Send + Sync {
    /// Returns a copy that can be changed.
    fn clone_arc(&self) -> Arc<dyn StateData>;
    /// Returns the data for downcasting.
    fn as_any(&self) -> &dyn Any;
    /// Returns the data for downcasting and changing.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Any + Clone + Send + Sync> StateData for T {
    fn clone_arc(&self) -> Arc<dyn StateData> {
        Arc::new(self.clone())
    }
    #[inline]
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// State of one cycle, keyed by the type of the data. A clone shares the data, and a write copies shared data first, so
/// that a dry run pays only for the data that its removals change.
#[derive(Clone, Default)]
pub struct CycleState {
    slots: Vec<(TypeId, Arc<dyn StateData>)>,
    /// Plugins whose PreFilter returned Skip: Filter, AddPod and RemovePod leave them out.
    pub skip_filter: PluginSet,
    /// Whether PreFilter rejected all nodes, so that the plugins behind the one that did have no state.
    pub pre_filter_rejected: bool,
    /// Plugins whose PreScore returned Skip.
    pub skip_score: PluginSet,
    /// Steps that searches of plugins took; clones share them.
    steps: Arc<AtomicU64>,
    /// Steps that plugins took over lists of pods, nodes and budgets; clones share them.
    list_steps: Arc<AtomicU64>,
    /// Steps of the filters on one node, about.
    node_steps: u64,
    /// Steps that a plugin's search may take on each node, where the cycle is one of many of a search; `None` for no limit.
    steps_on_node: Option<u64>,
}

impl CycleState {
    /// Returns the state of a cycle in which a plugin's search may take some steps on each node.
    pub fn within(steps_on_node: Option<u64>) -> Self {
        Self { steps_on_node, ..Self::default() }
    }

    /// Returns the number of steps that a plugin's search may take on a node; `None` for no limit.
    pub fn steps_on_node(&self) -> Option<u64> {
        self.steps_on_node
    }

    /// Counts steps that a search of a plugin took.
    pub fn spend(&self, steps: u64) {
        self.steps.fetch_add(steps, Ordering::Relaxed);
    }

    /// Returns the number of steps that searches of plugins took, on all nodes and in all dry runs. Where an error ended the cycle,
    /// it depends on how many nodes were asked meanwhile.
    pub fn spent(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Counts steps of a plugin over a list that grows with the cluster and that the number of nodes and the pod's constraints do not
    /// show; see [`super::node_steps`] for the unit.
    pub fn count_list_steps(&self, steps: u64) {
        self.list_steps.fetch_add(steps, Ordering::Relaxed);
    }

    /// Sets about how many steps the filters take on one node.
    pub fn set_node_steps(&mut self, steps: u64) {
        self.node_steps = steps;
    }

    /// Counts the steps of filters that are asked about a node this many times.
    pub fn count_filters(&self, times: usize) {
        self.count_list_steps(self.node_steps.saturating_mul(times as u64));
    }

    /// Returns the number of steps over lists, of all plugins.
    pub fn list_steps(&self) -> u64 {
        self.list_steps.load(Ordering::Relaxed)
    }

    /// Stores data, replacing what was stored under its type.
    pub fn write<T: StateData>(&mut self, data: T) {
        let id = TypeId::of::<T>();
        let data: Arc<dyn StateData> = Arc::new(data);
        match self.slots.iter_mut().find(|(t, _)| *t == id) {
            Some(slot) => slot.1 = data,
            None => self.slots.push((id, data)),
        }
    }

    /// Returns the data of a type; `None` if it was never stored.
    #[inline]
    pub fn read<T: StateData>(&self) -> Option<&T> {
        let id = TypeId::of::<T>();
        self.slots.iter().find(|(t, _)| *t == id).and_then(|(_, d)| (**d).as_any().downcast_ref())
    }

    /// Returns the data of a type for changing, copied first if another clone shares it.
    pub fn get_mut<T: StateData>(&mut self) -> Option<&mut T> {
        let id = TypeId::of::<T>();
        let slot = self.slots.iter_mut().find(|(t, _)| *t == id)?;
        if Arc::get_mut(&mut slot.1).is_none() {
            slot.1 = (*slot.1).clone_arc();
        }
        (*Arc::get_mut(&mut slot.1)?).as_any_mut().downcast_mut()
    }
}

impl fmt::Debug for CycleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CycleState")
            .field("slots", &self.slots.len())
            .field("skip_filter", &self.skip_filter)
            .field("skip_score", &self.skip_score)
            .field("steps", &self.spent())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_its_own_data_once_either_is_changed() {
        let mut a = CycleState::default();
        a.write(vec![1, 2]);
        let mut b = a.clone();
        b.get_mut::<Vec<i32>>().unwrap().push(3);
        assert_eq!(a.read::<Vec<i32>>().unwrap(), &[1, 2]);
        assert_eq!(b.read::<Vec<i32>>().unwrap(), &[1, 2, 3]);
        assert!(a.read::<String>().is_none());
    }
}
