//! The place of every pending pod at a point of the timeline: a fold over queue moves.

use std::sync::Arc;

use imbl::OrdMap;
use jiff::Timestamp;

use super::event::{Event, InferredPlace, Place, QueueMove};
use crate::cluster::{Key, Pod, Str};
use crate::framework::{PluginName, PluginSet};

/// A pending pod.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueEntry {
    pub pod: Key,
    pub priority: i32,
    pub place: Place,
    /// Time of its entry into the queue, the second sort key of activeQ.
    pub timestamp: Timestamp,
    /// Number of its entry into the queue, the tie-break of the sort keys.
    pub sequence: u64,
    /// Number of times it was popped.
    pub attempts: u32,
    /// The plugins that rejected it last.
    pub plugins: PluginSet,
    /// The node it is nominated to; empty if none.
    pub nominated: Str,
    pub last_move: Option<QueueMove>,
    /// The evidence for an inferred place; `None` for a place of this session's scheduler.
    pub inferred: Option<String>,
}

impl QueueEntry {
    /// Returns an untried pod at a given place.
    pub fn at(pod: Key, place: Place) -> Self {
        let plugins = if let Place::Unschedulable { plugins, .. } = &place { *plugins } else { PluginSet::default() };
        Self { place, plugins, ..Self::new(pod) }
    }

    /// Returns a pod that was never tried.
    fn new(pod: Key) -> Self {
        Self {
            pod,
            priority: 0,
            place: Place::Active,
            timestamp: Timestamp::default(),
            sequence: 0,
            attempts: 0,
            plugins: PluginSet::default(),
            nominated: Str::default(),
            last_move: None,
            inferred: None,
        }
    }
}

/// All pending pods. Clones share their contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueuesView {
    /// By namespace and name.
    pub entries: OrdMap<Key, Arc<QueueEntry>>,
    /// Of the groups that are queued as one entry and that one of their pods gates, by namespace and name.
    pub group_gates: OrdMap<Key, Arc<GroupGate>>,
}

/// The first pod by name that gates its group, where that is queued as one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupGate {
    pub pod: Key,
    /// The plugin that rejects it.
    pub plugin: PluginName,
}

impl std::fmt::Display for GroupGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "gated with {} by {}", self.pod, self.plugin)
    }
}

impl QueuesView {
    /// Applies one more event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::SchedulerStarted(start) => *self = start.queues.clone(),
            Event::QueueMoved(m) => self.moved(m),
            Event::PlaceInferred(p) => self.inferred(p),
            Event::PodPopped { pod, attempts, .. } => self.change(pod, |e| e.attempts = *attempts),
            Event::PodNominated { pod, node } => self.change(pod, |e| e.nominated = node.clone()),
            Event::NominationCleared { pod, .. } => self.change(pod, |e| e.nominated = Str::default()),
            Event::PriorityChanged { pod, priority } => self.change(pod, |e| e.priority = *priority),
            Event::PreEnqueueRejected { pod, status } => self.gated_where_it_is(pod, status.plugin()),
            Event::GroupGateChanged { group, gate: Some(gate) } => drop(self.group_gates.insert(group.clone(), gate.clone())),
            Event::GroupGateChanged { group, gate: None } => drop(self.group_gates.remove(group)),
            _ => {}
        }
    }

    fn moved(&mut self, m: &QueueMove) {
        if matches!(m.to, Place::Bound { .. } | Place::Gone) {
            self.entries.remove(&m.pod);
            return;
        }
        if m.from.is_none() {
            self.insert(QueueEntry::new(m.pod.clone()));
        }
        self.change(&m.pod, |e| {
            e.place = m.to.clone();
            (e.priority, e.timestamp, e.sequence) = (m.order.priority, m.order.timestamp, m.order.sequence);
            e.plugins = m.plugins;
            e.last_move = Some(m.clone());
            e.inferred = None;
        });
    }

    fn inferred(&mut self, p: &InferredPlace) {
        let known = self.entries.get(&p.pod).map(|e| e.nominated.clone());
        self.insert(QueueEntry {
            place: p.place.clone(),
            priority: p.order.priority,
            timestamp: p.order.timestamp,
            sequence: p.order.sequence,
            attempts: p.attempts,
            plugins: p.plugins,
            nominated: known.unwrap_or_default(),
            inferred: (!p.from_log).then(|| p.from.clone()),
            ..QueueEntry::new(p.pod.clone())
        });
    }

    /// Replaces the gating plugin of a pod that is in unschedulablePods already: `PreEnqueue` kept it there without a
    /// move.
    fn gated_where_it_is(&mut self, pod: &Key, plugin: Option<PluginName>) {
        let Some(plugin) = plugin else { return };
        self.change(pod, |e| {
            if let Place::Unschedulable { plugins, gated_by } = &mut e.place {
                plugins.insert(plugin);
                e.plugins = *plugins;
                *gated_by = Some(plugin);
            }
        });
    }

    fn change(&mut self, pod: &Key, change: impl FnOnce(&mut QueueEntry)) {
        if let Some(entry) = self.entries.get_mut(pod) {
            change(Arc::make_mut(entry));
        }
    }

    /// Adds or replaces an entry.
    pub fn insert(&mut self, entry: QueueEntry) {
        self.entries.insert(entry.pod.clone(), Arc::new(entry));
    }

    /// Returns the gate of the group of a pod that nothing else gates; `None` for a pod that is not in unschedulablePods.
    pub fn group_gate(&self, pod: &Pod) -> Option<&Arc<GroupGate>> {
        if self.group_gates.is_empty() {
            return None;
        }
        let is_let_in = |entry: &&Arc<QueueEntry>| matches!(entry.place, Place::Unschedulable { gated_by: None, .. });
        self.entries.get(&pod.key()).filter(is_let_in)?;
        self.group_gates.get(&pod.group_key()?)
    }

    /// Returns activeQ in the order of popping.
    pub fn active(&self) -> Vec<&QueueEntry> {
        self.sorted(|p| matches!(p, Place::Active), |e| (std::cmp::Reverse(e.priority), e.timestamp, e.sequence))
    }

    /// Returns the number of pods that are as likely to be popped next: those of activeQ with the first one's priority and
    /// time of entry, which kube-scheduler's heap leaves in any order.
    pub fn alike_next(&self) -> usize {
        let order = |entry: &QueueEntry| (entry.priority, entry.timestamp);
        let active = self.active();
        active.iter().take_while(|entry| order(entry) == order(active[0])).count()
    }

    /// Returns the number of pods of activeQ with the priority and time of entry of one of them, itself included: each is as
    /// likely to be popped first. 0 for a pod that is not in activeQ.
    pub fn alike(&self, pod: &Key) -> usize {
        let order = |entry: &QueueEntry| (entry.priority, entry.timestamp);
        let is_active = |entry: &&Arc<QueueEntry>| matches!(entry.place, Place::Active);
        let Some(own) = self.entries.get(pod).filter(is_active) else { return 0 };
        self.entries.values().filter(is_active).filter(|entry| order(entry) == order(own)).count()
    }

    /// Returns backoffQ in order of expiry, then priority, then time.
    pub fn backoff(&self) -> Vec<&QueueEntry> {
        self.sorted(|p| matches!(p, Place::Backoff { .. }), |e| (expiry(e), std::cmp::Reverse(e.priority), e.timestamp, e.sequence))
    }

    /// Returns the pods of unschedulablePods that are not gated, by name.
    pub fn unschedulable(&self) -> Vec<&QueueEntry> {
        self.sorted(|p| matches!(p, Place::Unschedulable { gated_by: None, .. }), |e| e.pod.clone())
    }

    /// Returns the gated pods, by name.
    pub fn gated(&self) -> Vec<&QueueEntry> {
        self.sorted(|p| matches!(p, Place::Unschedulable { gated_by: Some(_), .. }), |e| e.pod.clone())
    }

    /// Returns the pods whose attempt is under way, by name.
    pub fn in_flight(&self) -> Vec<&QueueEntry> {
        self.sorted(|p| matches!(p, Place::InFlight), |e| e.pod.clone())
    }

    /// Returns the pods that wait on Permit, by name.
    pub fn waiting_on_permit(&self) -> Vec<&QueueEntry> {
        self.sorted(|p| matches!(p, Place::WaitingOnPermit { .. }), |e| e.pod.clone())
    }

    fn sorted<K: Ord>(&self, which: impl Fn(&Place) -> bool, key: impl Fn(&QueueEntry) -> K) -> Vec<&QueueEntry> {
        let mut list: Vec<&QueueEntry> = self.entries.values().map(AsRef::as_ref).filter(|e| which(&e.place)).collect();
        list.sort_by_key(|e| key(e));
        list
    }
}

fn expiry(entry: &QueueEntry) -> Option<Timestamp> {
    match entry.place {
        Place::Backoff { expires, .. } => Some(expires),
        _ => None,
    }
}
