//! The pods of a StatefulSet: made, removed and replaced by ordinal; mirrors `updateStatefulSet` in
//! `pkg/controller/statefulset/stateful_set_control.go`.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Rollout, is_ready};
use crate::admission::Admission;
use crate::cluster::{Key, Pod, Str};
use crate::controllers::unfold::{UnfoldedPod, Update};
use crate::controllers::{Draft, Note};

/// The places of a StatefulSet, from its first ordinal on.
pub(super) struct Ordinals {
    slots: Vec<Slot>,
    /// The pods beyond the last place.
    beyond: Vec<Arc<Pod>>,
    /// The places before this one have pods that are ready, or need not be.
    first: usize,
    /// The places from this one on have pods of the new template that are ready.
    last: usize,
    /// The place from which on pods are replaced; `None` for none.
    from: Option<usize>,
    /// The pod that is awaited.
    pub(super) awaited: Option<Key>,
}

/// A place.
struct Slot {
    pod: UnfoldedPod,
    state: State,
}

enum State {
    Missing,
    /// A pod of the template that it is to have.
    Current,
    /// A pod of another template.
    Old(Arc<Pod>),
}

impl Ordinals {
    /// Begins with the pods to make and those that exist. Returns those that exist and have a place as well. `differs` says that these
    /// have another template.
    pub(super) fn begin(pods: Vec<UnfoldedPod>, old: Vec<Arc<Pod>>, wanted: usize, update: Update, differs: bool) -> (Self, Vec<Arc<Pod>>) {
        let mut known: HashMap<Str, Arc<Pod>> = old.into_iter().map(|pod| (pod.metadata.name.clone(), pod)).collect();
        let mut kept = Vec::new();
        let slots: Vec<Slot> = pods
            .into_iter()
            .map(|pod| {
                let state = match known.remove(&pod.pod.key().name) {
                    None => State::Missing,
                    Some(own) => {
                        kept.push(own.clone());
                        if differs { State::Old(own) } else { State::Current }
                    }
                };
                Slot { pod, state }
            })
            .collect();
        // Of a set with more places than are tried, pods without a place among those stay.
        let beyond = if slots.len() < wanted { Vec::new() } else { known.into_values().collect() };
        let from = match update {
            _ if !differs => None,
            Update::From(place) => Some(usize::try_from(place).unwrap_or(usize::MAX)),
            Update::All => Some(0),
            Update::Deleted | Update::New => None,
        };
        (Self { first: 0, last: slots.len(), slots, beyond, from, awaited: None }, kept)
    }

    /// Returns the pods of another template that are left: those that are not to be replaced, and the others.
    pub(super) fn outdated(&self) -> (usize, usize) {
        let from = self.from.unwrap_or(usize::MAX);
        let old = self.slots.iter().enumerate().filter(|(_, slot)| matches!(slot.state, State::Old(_)));
        let (below, above): (Vec<_>, Vec<_>) = old.partition(|(place, _)| *place < from);
        (below.len(), above.len())
    }

    /// Returns whether the pod that is awaited has another template: it is not replaced before it is ready.
    pub(super) fn awaits_old(&self) -> bool {
        let is_awaited = |slot: &Slot| matches!(&slot.state, State::Old(pod) if Some(pod.key()) == self.awaited);
        self.awaited.is_some() && self.slots.iter().any(is_awaited)
    }

    /// Makes, removes and replaces pods as far as those before are ready.
    pub(super) fn advance(&mut self, of: &mut Rollout, draft: &mut Draft, admission: &mut Admission, notes: &mut Vec<Note>) {
        self.awaited = None;
        while self.create(of, draft, admission, notes) {
            for pod in std::mem::take(&mut self.beyond) {
                of.remove(draft, admission, &pod);
            }
            if !self.replace(of, draft, admission) {
                return;
            }
        }
    }

    /// Makes the pods that are missing. Returns false if one is awaited or refused.
    fn create(&mut self, of: &mut Rollout, draft: &mut Draft, admission: &mut Admission, notes: &mut Vec<Note>) -> bool {
        for at in self.first..self.slots.len() {
            let slot = &mut self.slots[at];
            if matches!(slot.state, State::Missing) {
                if !of.make(&slot.pod, draft, admission, notes) {
                    return false;
                }
                slot.state = State::Current;
            }
            let key = slot.pod.pod.key();
            if of.found.is_ordered && !is_ready(draft.cluster(), &key) {
                self.awaited = Some(key);
                return false;
            }
            self.first = at + 1;
        }
        true
    }

    /// Removes pods of another template, from the last place on. Returns whether it removed any.
    fn replace(&mut self, of: &mut Rollout, draft: &mut Draft, admission: &mut Admission) -> bool {
        let Some(from) = self.from else { return false };
        let (mut left, mut removes) = (of.found.surge.below.max(1), false);
        for at in (from..self.last).rev() {
            let slot = &mut self.slots[at];
            if let State::Old(pod) = &slot.state {
                let pod = pod.clone();
                of.remove(draft, admission, &pod);
                slot.state = State::Missing;
                self.first = self.first.min(at);
                removes = true;
            } else if is_ready(draft.cluster(), &slot.pod.pod.key()) {
                if at + 1 == self.last {
                    self.last = at;
                }
                continue;
            } else {
                self.awaited.get_or_insert_with(|| slot.pod.pod.key());
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
        removes
    }
}
