//! VolumeBinding: PreFilter, Filter, PreScore, Score, Reserve, PreBind. Mirrors
//! `pkg/scheduler/framework/plugins/volumebinding/{volume_binding,binder,scorer}.go`.
//!
//! Bound claims keep the pod to nodes that can use their volumes. Claims that wait for a consumer are bound with the
//! pod: to an existing volume, or to one provisioned for the node. Reserve chooses the scheduler's writes (`claimRef`
//! on volumes, `volume.kubernetes.io/selected-node` on claims), and PreBind returns them. See [`reserve`] for the wait
//! that follows.
//!
//! | file | what |
//! | --- | --- |
//! | `args` | the plugin's arguments |
//! | `claims` | PreFilter: classifies the pod's claims |
//! | `matching` | matches claims with existing volumes |
//! | `provision` | whether a volume can be provisioned for a node |
//! | `find` | Filter: checks the claims on a node |
//! | `score` | PreScore and Score, behind the gate `StorageCapacityScoring` |
//! | `reserve` | Reserve and PreBind |
//! | `predicate` | CheckVolumeBinding, of releases before the scheduling framework |
//! | `hints` | the events that may make a rejected pod schedulable |

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

/// Binds a pod's claims with the pod.
#[derive(Clone, Debug, Default)]
pub struct VolumeBinding {
    args: VolumeBindingArgs,
}

impl VolumeBinding {
    /// Makes the plugin with its arguments, which must be valid; see [`VolumeBindingArgs::validate`].
    pub fn new(args: VolumeBindingArgs) -> Self {
        Self { args }
    }
}

impl Plugin for VolumeBinding {
    plugin!(VolumeBinding: pre_filter, filter, pre_score, score, reserve, pre_bind);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(hints::events(emulation))
    }
}

impl FilterPlugin for VolumeBinding {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(State(claims)) = state.read::<State>() else { return no_state() };
        match find::find_pod_volumes(cx, state, claims, node) {
            Ok(Ok(_)) => Status::success(),
            Ok(Err(reasons)) => Status::new(crate::framework::Code::UnschedulableAndUnresolvable, reasons),
            Err(error) => Status::error(error.to_string()),
        }
    }
}

/// Returns the error of CycleState if PreFilter did not run.
fn no_state() -> Status {
    Status::error("not found")
}

#[cfg(test)]
mod tests;
