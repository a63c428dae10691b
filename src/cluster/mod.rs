//! The objects that a scheduler reads, as immutable data.
//!
//! Types carry the API's own names and only the fields that scheduling reads. The module knows no plugins, queues or
//! files. A [`Cluster`] is a value: a clone shares all objects, and changing it leaves the original as it was. That
//! makes going back in time free.

mod annotations;
mod collections;
mod cow_arc;
mod daemons;
mod eviction;
mod host_ports;
mod kind;
mod meta;
mod missing;
pub mod neighbors;
mod node;
mod observed_event;
pub(crate) mod operations;
mod order;
mod pod;
mod pod_group;
mod quantity;
pub mod resource;
mod resource_version;
mod selector;
pub mod storage;
mod store;
mod str;
#[cfg(test)]
pub(crate) mod testing;
mod uid;
mod workload;

pub(crate) use annotations::{AvoidedController, PREFER_AVOID_PODS, avoided_controllers};
pub use annotations::{KEPT_ANNOTATIONS, OTHER_ANNOTATIONS};
pub use collections::{Labels, List, Map};
pub use cow_arc::{CowArc, Empty};
pub use daemons::taints_of_daemons;
pub use eviction::{ALWAYS_ALLOW, Controller, DrainAction, Eviction, evicting_budgets, needs_no_budget};
pub use host_ports::HostPorts;
pub use kind::{Kind, KindRow};
pub use meta::{Condition, Key, Meta, MetaTemplate, OwnerReference};
pub use missing::{KindSet, MissingKinds, MissingReason};
pub use node::{ContainerImage, Node, NodeCondition, NodeSpec, NodeStage, NodeStatus, NodeSystemInfo, OwnedTaint, ResourceList, Taint};
pub use observed_event::ObservedEvent;
pub use order::ObjectsByName;
pub use pod::*;
pub use pod_group::*;
pub use quantity::{Format, ParseQuantityError, Quantity};
pub use resource_version::ResourceVersion;
pub use selector::{
    LabelSelector, NodeSelector, NodeSelectorTerm, PreparedTerms, Requirement, SelectorError, SelectorWords,
    TopologySelectorLabelRequirement, TopologySelectorTerm, Values, subdomain_errors,
};
pub use store::{Cluster, Object, Store};
pub use str::Str;
pub use uid::Uid;
pub use workload::*;
