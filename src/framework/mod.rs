//! The vocabulary of the scheduling framework: statuses, cycle state, node and pod information, extension points,
//! events. The layers above use it; it depends on [`crate::cluster`] and [`crate::release`] above all.
//!
//! To begin with: [`plugin`](FilterPlugin) has the extension points, [`Status`] is what a plugin answers with a [`Reason`] in it, and
//! [`Snapshot`] is what it reads.
//!
//! | files | hold |
//! | --- | --- |
//! | `plugin`, `status`, `cycle_state`, `names` | the extension points; what a plugin answers, and hands on within a cycle; its name |
//! | `out_of_tree`, `field` | plugins of an embedder; errors of plugins' arguments |
//! | `reason` | why a plugin rejected a pod, with the facts; kube-scheduler's texts are made from it |
//! | `diagnosis`, `node_filters`, `devices` | the answers about all nodes, of all filters about one node, and about devices |
//! | `pod_info`, `queued_pod_info`, `node_info`, `resource`, `images` | a pod and a node with what the scheduler derives from them once |
//! | `snapshot`, `node_list`, `nodes` | the nodes as a cycle sees them |
//! | `equivalence_classes`, `label_bloom`, `topology`, `budget_index`, `list` | indexes and lists that make large clusters cheap |
//! | `events`, `event_words`, `property_changes`, `hint_error` | cluster events, and hints whether they let a pod in |
//! | `preempt`, `preempt_group` | the records of preemption |
//! | `pod_group_state`, `placement` | pod groups, and the sets of nodes in which they are tried |
//! | `extender` | calls of extenders in a cycle, as facts |
//! | `parallel`, `steps`, `duration` | work on all cores, counted steps, durations as Go writes them |

mod budget_index;
mod cycle_state;
mod devices;
mod diagnosis;
mod duration;
mod equivalence_classes;
mod event_words;
mod events;
mod extender;
mod field;
mod hint_error;
mod images;
mod known_dry_runs;
mod label_bloom;
mod list;
mod names;
mod node_filters;
mod node_info;
mod node_list;
mod nodes;
mod out_of_tree;
mod parallel;
mod placement;
mod plugin;
mod pod_group_state;
mod pod_info;
mod preempt;
mod preempt_group;
mod property_changes;
mod queued_pod_info;
mod reason;
mod resource;
mod snapshot;
mod status;
mod steps;
mod topology;

pub use budget_index::{BudgetIndex, BudgetSelector};
pub use cycle_state::{CycleState, StateData};
pub use devices::{Against, ClaimDevices, DeviceFindings, DeviceId, DeviceVerdict, NodeDevices, Obstacle, RequestDevices, SelectorFailure};
pub use diagnosis::{Diagnosis, NodeToStatus};
pub use duration::{DurationError, format_duration, parse_duration};
pub use equivalence_classes::{EquivalenceClasses, PodsByPosition};
pub use events::{ActionType, Change, ClusterEvent, ClusterEventWithHint, EventLabel, EventResource, QueueingHint, QueueingHintFn};
pub use extender::{CandidateExtenders, ExtenderCall, ExtenderFilter, ExtenderName, ExtenderOutcome, ExtenderPreemption, ExtenderVerb};
pub use field::{FieldError, FieldErrors};
pub use hint_error::{HintError, PluginHintError};
pub use images::{ImageState, Images};
pub use known_dry_runs::KnownDryRuns;
pub use label_bloom::LabelBloom;
pub use list::SharedList;
pub use names::{PluginName, PluginSet};
pub use node_filters::NodeFilters;
pub use node_info::{NodeInfo, PodAt, PodSums, hash_of, host_ports, is_same_pod};
pub use node_list::NodeList;
pub use nodes::{Nodes, NodesIter};
pub use out_of_tree::{OutOfTree, OutOfTreeFactory};
pub use parallel::{in_order, in_parts};
pub use placement::{Placement, PlacementGeneratePlugin, PlacementScorePlugin, PodGroupAssignments};
pub use plugin::*;
pub use pod_group_state::{PodGroupState, PodGroupStates};
pub use pod_info::{AffinityTerm, AffinityTerms, KnownPods, LastPod, PodInfo, WeightedAffinityTerm};
pub use preempt::*;
pub use preempt_group::{EvictionUnit, GroupMismatch, GroupPreemptionRecord};
pub use property_changes::{assigned_pod_changes, is_pod_updated, node_scheduling_properties_change, pod_scheduling_properties_change};
pub use queued_pod_info::QueuedPodInfo;
pub use reason::*;
pub use resource::*;
pub use snapshot::{Snapshot, SnapshotIndexes};
pub use status::{Code, LongStatuses, SharedStatuses, Status};
pub use steps::{decision_steps, hint_steps, node_steps, search_steps_on_node, steps_of_search};
pub use topology::Topology;
