//! The vocabulary of the scheduling framework: statuses, cycle state, node and pod information, extension points,
//! events. The layers above use it; it depends only on [`crate::cluster`].

mod budget_index;
mod cycle_state;
mod diagnosis;
mod duration;
mod equivalence_classes;
mod events;
mod extender;
mod field;
mod hint_error;
mod label_bloom;
mod list;
mod names;
mod node_filters;
mod node_info;
mod node_list;
mod parallel;
mod plugin;
mod pod_info;
mod preempt;
mod property_changes;
mod queued_pod_info;
mod reason;
mod resource;
mod snapshot;
mod status;

pub use budget_index::{BudgetIndex, BudgetSelector};
pub use cycle_state::{CycleState, StateData};
pub use diagnosis::{Diagnosis, NodeToStatus};
pub use duration::{DurationError, format_duration, parse_duration};
pub use equivalence_classes::{EquivalenceClasses, PodsByPosition};
pub use events::{ActionType, Change, ClusterEvent, ClusterEventWithHint, EventLabel, EventResource, QueueingHint, QueueingHintFn};
pub use extender::{
    CandidateExtenders, ExtenderCall, ExtenderFilter, ExtenderName, ExtenderOutcome, ExtenderPreemption, ExtenderVerb,
};
pub use field::{FieldError, FieldErrors};
pub use hint_error::{HintError, PluginHintError};
pub use label_bloom::LabelBloom;
pub use list::SharedList;
pub use names::{PluginName, PluginSet};
pub use node_filters::NodeFilters;
pub use node_info::{HostPorts, NodeInfo, host_ports, is_same_pod};
pub use node_list::NodeList;
pub use parallel::{in_order, in_parts};
pub use plugin::*;
pub use pod_info::{AffinityTerm, AffinityTerms, KnownTerms, PodInfo, WeightedAffinityTerm};
pub use preempt::*;
pub use property_changes::{assigned_pod_changes, is_pod_updated, node_scheduling_properties_change, pod_scheduling_properties_change};
pub use queued_pod_info::QueuedPodInfo;
pub use reason::*;
pub use resource::*;
pub use snapshot::{ImageState, Snapshot};
pub use status::{Code, SharedStatuses, Status};
