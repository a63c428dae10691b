//! The vocabulary of the scheduling framework: statuses, cycle state, node and pod information, extension points,
//! events. Everything above speaks it; it knows only [`crate::cluster`].

mod budget_index;
mod cycle_state;
mod diagnosis;
mod duration;
mod events;
mod field;
mod list;
mod names;
mod node_filters;
mod node_info;
mod parallel;
mod plugin;
mod pod_bits;
mod pod_classes;
mod pod_info;
mod preempt;
mod property_changes;
mod queued_pod_info;
mod resource;
mod snapshot;
mod status;

pub use budget_index::{BudgetIndex, BudgetSelector};
pub use cycle_state::{CycleState, StateData};
pub use diagnosis::NodeToStatus;
pub use duration::{format_duration, parse_duration};
pub use events::{ActionType, Change, ClusterEvent, ClusterEventWithHint, EventLabel, EventResource, QueueingHint, QueueingHintFn};
pub use field::{FieldError, FieldErrors};
pub use list::List;
pub use names::{PluginName, PluginSet};
pub use node_filters::NodeFilters;
pub use node_info::{HostPorts, NodeInfo, host_ports, is_same_pod};
pub use parallel::{PARALLEL_ABOVE, in_parts};
pub use plugin::*;
pub use pod_bits::PodBits;
pub use pod_classes::PodClasses;
pub use pod_info::{AffinityTerm, AffinityTerms, KnownTerms, PodInfo, WeightedAffinityTerm};
pub use preempt::*;
pub use property_changes::{node_scheduling_properties_change, pod_scheduling_properties_change};
pub use queued_pod_info::QueuedPodInfo;
pub use resource::*;
pub use snapshot::{ImageState, Snapshot};
pub use status::{Code, Reason, SharedStatuses, Status};
