//! VolumeBinding: PreFilter, Filter, PreScore, Score, Reserve, PreBind. Mirrors
//! `pkg/scheduler/framework/plugins/volumebinding/{volume_binding,binder,scorer}.go`.
//!
//! Claims that are bound keep the pod to the nodes that their volumes can be used on. Claims that wait for a consumer
//! are bound with the pod: to a volume that exists, or to one that is provisioned for the node. What the scheduler
//! writes for that (`claimRef` on volumes, `volume.kubernetes.io/selected-node` on claims) is chosen in Reserve and
//! handed out by PreBind; see [`reserve`] for what happens to the wait that follows.
//!
//! | file | what |
//! | --- | --- |
//! | `args` | the plugin's arguments |
//! | `claims` | PreFilter: the pod's claims, sorted out |
//! | `matching` | which existing volumes suit a claim |
//! | `provision` | whether a volume can be provisioned for a node |
//! | `find` | Filter: what becomes of each claim on a node |
//! | `score` | PreScore and Score, behind the gate `StorageCapacityScoring` |
//! | `reserve` | Reserve and PreBind |
//! | `predicate` | CheckVolumeBinding, of the releases before there were plugins |
//! | `hints` | the events that may help a rejected pod |

mod args;
mod claims;
mod find;
mod hints;
mod matching;
mod predicate;
mod provision;
pub mod reserve;
mod score;

pub use args::{UtilizationShapePoint, VolumeBindingArgs};
pub use predicate::CheckVolumeBinding;

use self::claims::State;
use crate::framework::{ClusterEventWithHint, Context, CycleState, FilterPlugin, NodeInfo, Plugin, PodInfo, Status};
use crate::release::Emulation;

/// Binds a pod's claims together with the pod.
#[derive(Clone, Debug, Default)]
pub struct VolumeBinding {
    args: VolumeBindingArgs,
}

impl VolumeBinding {
    /// The plugin with its arguments, which are taken to be valid; see [`VolumeBindingArgs::validate`].
    pub fn new(args: VolumeBindingArgs) -> Self {
        Self { args }
    }
}

impl Plugin for VolumeBinding {
    plugin!(VolumeBinding: pre_filter, filter, pre_score, score, reserve, pre_bind);

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(hints::events())
    }
}

impl FilterPlugin for VolumeBinding {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(State(claims)) = state.read::<State>() else { return no_state() };
        match find::find_pod_volumes(cx, claims, node) {
            Ok(Ok(_)) => Status::success(),
            Ok(Err(reasons)) => Status::new(crate::framework::Code::UnschedulableAndUnresolvable, reasons),
            Err(error) => Status::error(error.to_string()),
        }
    }
}

/// PreFilter did not run; the text is CycleState's.
fn no_state() -> Status {
    Status::error("not found")
}

#[cfg(test)]
mod tests;
