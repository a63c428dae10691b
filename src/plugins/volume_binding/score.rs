//! PreScore and Score, which are active only with the gate `StorageCapacityScoring`. Mirrors `scorer.go`, and
//! `PreScore` and `Score` of `volume_binding.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claims::{State, requested};
use super::find::{PodVolumes, find_pod_volumes};
use super::{VolumeBinding, no_state};
use crate::cluster::{Quantity, Str};
use crate::framework::{Context, CycleState, NodeInfo, PodInfo, PreScorePlugin, ScorePlugin, Status};
use crate::plugins::helper::broken_linear;
use crate::plugins::volume_helpers::STORAGE;
use crate::release::{Gate, IdleScores};

const MAX_UTILIZATION: i64 = 100;

impl PreScorePlugin for VolumeBinding {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        match state.read::<State>() {
            _ if cx.emulation.behaviour().cycle.idle_scores != IdleScores::Skipped => Status::success(),
            _ if !cx.emulation.enabled(Gate::StorageCapacityScoring) => Status::skip(),
            None => no_state(),
            Some(_) => Status::success(),
        }
    }
}

impl ScorePlugin for VolumeBinding {
    fn score_all(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        // Without claims to bind, no node has volumes to bind or capacity to provision from.
        if !cx.emulation.enabled(Gate::StorageCapacityScoring) || state.read::<State>().is_some_and(|State(claims)| claims.all_bound()) {
            return Ok(vec![0; nodes.len()]);
        }
        nodes.iter().map(|node| self.score(cx, state, pod, node)).collect()
    }

    fn score(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        if !cx.emulation.enabled(Gate::StorageCapacityScoring) {
            return Ok(0);
        }
        let State(claims) = state.read::<State>().ok_or_else(no_state)?;
        let Ok(Ok(volumes)) = find_pod_volumes(cx, state, claims, node) else { return Ok(0) };
        let classes = by_class(&volumes);
        if classes.is_empty() {
            return Ok(0);
        }
        let function = self.args.function();
        let score = |(requested, capacity): &(i64, i64)| {
            let full = *capacity == 0 || requested > capacity;
            // Sizes in bytes times 100 can exceed 64 bits.
            let utilization = if full { 100 } else { i128::from(*requested) * i128::from(MAX_UTILIZATION) / i128::from(*capacity) };
            broken_linear(&function, utilization as i64)
        };
        let sum: i64 = classes.values().map(score).sum();
        Ok((sum as f64 / classes.len() as f64).round() as i64)
    }
}

/// Returns requested and available bytes by class: of the volumes to bind or, if there are none, of the capacities to
/// provision from.
fn by_class(volumes: &PodVolumes) -> BTreeMap<Str, (i64, i64)> {
    let mut classes: BTreeMap<Str, (i64, i64)> = BTreeMap::new();
    let bytes = |size: Option<Quantity>| size.map_or(0, Quantity::value);
    if volumes.static_bindings.is_empty() {
        for (claim, capacity) in &volumes.dynamic_provisions {
            let Some(capacity) = capacity else { continue };
            let class = classes.entry(claim.spec.storage_class_name.clone().unwrap_or_default()).or_default();
            class.0 = class.0.saturating_add(bytes(requested(claim)));
            class.1 = bytes(capacity.capacity);
        }
    } else {
        for (volume, claim) in &volumes.static_bindings {
            let class = classes.entry(volume.spec.storage_class_name.clone()).or_default();
            class.0 = class.0.saturating_add(bytes(requested(claim)));
            class.1 = class.1.saturating_add(bytes(volume.spec.capacity.get(STORAGE).copied()));
        }
    }
    classes
}
