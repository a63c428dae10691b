//! DynamicResources of releases whose gate `DynamicResourceAllocation` is off by default: a configuration may enable the plugin, and
//! it then does nothing but answer PostFilter.

use crate::cluster::Object;
use crate::framework::{
    Context, CycleState, FilterPlugin, NodeInfo, Plugin, PodInfo, PostFilterContext, PostFilterPlugin, PostFilterResult, PreBindPlugin,
    PreFilterPlugin, PreFilterResult, Reason, ReservePlugin, Status,
};

/// The plugin while its gate is off.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisabledDynamicResources;

impl Plugin for DisabledDynamicResources {
    plugin!(DynamicResources: pre_filter, filter, post_filter, reserve, pre_bind);
}

impl PreFilterPlugin for DisabledDynamicResources {
    fn pre_filter(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo) -> (PreFilterResult, Status) {
        (PreFilterResult::default(), Status::skip())
    }
}

impl FilterPlugin for DisabledDynamicResources {
    fn filter(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
}

impl PostFilterPlugin for DisabledDynamicResources {
    fn post_filter(&self, _cx: &PostFilterContext<'_>, _state: &CycleState, _pod: &PodInfo) -> PostFilterResult {
        PostFilterResult { status: Status::rejected(Reason::PluginDisabled), nominating: None, preemption: None, writes: Vec::new() }
    }
}

impl ReservePlugin for DisabledDynamicResources {
    fn reserve(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }

    fn unreserve(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo, _node: &NodeInfo) {}
}

impl PreBindPlugin for DisabledDynamicResources {
    fn pre_bind_pre_flight(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }

    fn pre_bind(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Result<Vec<Object>, Status> {
        Ok(Vec::new())
    }
}
