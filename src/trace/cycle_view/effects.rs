//! The effects of a cycle on its pod and on others.

use crate::cluster::{Key, Str};
use crate::framework::PluginName;
use crate::trace::event::Eviction;

/// The effects of a cycle on its pod and on others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectsView {
    /// The node that this cycle nominated the pod to; empty if the nomination was cleared.
    pub nominated: Option<Str>,
    /// Pods that lost their nomination.
    pub cleared_nominations: Vec<Key>,
    /// Pods that were evicted.
    pub evicted: Vec<(Key, Eviction)>,
    /// The Permit plugins that the pod still waits for.
    pub permit_waits: Vec<PluginName>,
    /// The node the pod is bound to.
    pub bound: Option<Str>,
}
