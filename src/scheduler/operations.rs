//! Operations on a cluster and its scheduler, applied one at a time.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::cycle::RecentFailures;
use super::decide::{device_findings, every_filter};
use super::equivalence_cache::EquivalenceCache;
use super::pod_group::TakeEvents;
use super::queue::PlaceInLog;
use super::{Config, ConfigEdit, ConfigEditError, ConfigError, Sampling, State};
use crate::cluster::{Cluster, Key, MissingKinds, Object, ObservedEvent, Pod};
use crate::extenders::Asking;
use crate::framework::{DeviceFindings, NodeFilters};
use crate::release::{Emulated, Emulation, FeatureGates, GateError, ReleaseChoice};
use crate::trace::{CycleView, Event};

/// A scheduler on a cluster of its own, under a virtual clock.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) state: State,
    /// Number of nodes to filter.
    pub(super) sampling: Sampling,
    /// How evicted pods are deleted.
    pub(super) evictions: Evictions,
    /// Whether its cycles ask extenders.
    pub(super) asking: Asking,
    /// Whether its cycles leave out the events about single nodes, candidates and odds.
    pub(super) quiet: bool,
    /// The quiet attempts that found no node since anything changed.
    pub(super) recent_failures: RecentFailures,
    /// Answers about pods of the same workloads, if it is quiet.
    pub(super) equivalence_cache: EquivalenceCache,
    /// Options of the start.
    options: Arc<Options>,
}

/// How evicted pods are deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, Serialize, Deserialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Evictions {
    /// Deleted at once.
    #[default]
    AtOnce,
    /// Marked with a deletionTimestamp, and deleted when the virtual clock reaches it during an advance. The same holds
    /// for every other pod with a deletionTimestamp, a node and no finalizers; those overdue at the start are deleted
    /// by the first advance.
    AfterGracePeriod,
    /// Marked with a deletionTimestamp, and kept until an operation deletes them.
    Marked,
}

/// Queue places of pending pods at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InitialQueues {
    /// Every pod is new to the scheduler, as after its restart: in activeQ, or gated.
    #[default]
    Fresh,
    /// Inferred from the objects' conditions and nominations, and from [`Options::events`].
    AsObserved,
}

/// Options of a scheduler, apart from its configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Initial virtual time.
    pub start: Timestamp,
    /// Number of nodes to filter.
    pub sampling: Sampling,
    /// How evicted pods are deleted.
    pub evictions: Evictions,
    /// Queue places of pending pods.
    pub queues: InitialQueues,
    /// The cluster's Events, from which queue places are inferred; ignored for [`InitialQueues::Fresh`].
    pub events: Vec<ObservedEvent>,
    /// Kinds that the source did not provide.
    pub unknown: MissingKinds,
    /// Why this release is emulated.
    #[serde(default)]
    pub release: ReleaseChoice,
    /// The unpacked length of the source, where it is known: a source of small objects bounds runs as a small cluster does.
    #[serde(skip)]
    pub source_bytes: Option<u64>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// One turn of the scheduling loop.
    Schedule,
    /// Add an object.
    Create { object: Object },
    /// Replace an object.
    Update {
        /// The whole new object.
        object: Object,
    },
    /// Delete an object.
    Delete {
        /// The object; only its kind, namespace and name are read.
        object: Object,
    },
    /// Advance the clock: flush queues, end grace periods under [`Evictions::AfterGracePeriod`] and expire Permit
    /// deadlines, each at its time. An advance of 0 seconds runs overdue timers.
    Advance {
        /// Duration.
        seconds: u64,
    },
    /// Advance the clock to a time, as with `advance`; no effect if it is past.
    #[serde(rename = "advance-to")]
    AdvanceTo {
        /// The target time.
        time: Timestamp,
    },
    /// Take in an observation of the cluster: flush the queues up to its time, then place these pods where they are
    /// inferred to wait. Grace periods and Permit deadlines do not run: their effects arrive as observed changes.
    Observe {
        /// Time of the observation.
        time: Timestamp,
        /// Pods with new conditions or events.
        pods: Vec<Key>,
        /// Events about them.
        events: Vec<ObservedEvent>,
        /// Missing kinds from now on; `None` if unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unknown: Option<MissingKinds>,
    },
    /// Take in the log of the cluster's scheduler: flush the queues up to its time, then place these pods where it shows
    /// them.
    #[serde(rename = "take-log", alias = "told")]
    TakeLog {
        /// The time of the log's last line.
        time: Timestamp,
        /// Places of pending pods.
        places: Vec<PlaceInLog>,
    },
    /// Apply several operations under one name.
    Batch {
        name: String,
        /// The operations, in order.
        operations: Vec<Operation>,
    },
    /// Allow a pod for every Permit plugin it waits for; no effect on a pod that is not waiting.
    Allow { pod: Key },
    /// Reject a pod by the first Permit plugin it waits for, in the order of the profile; no effect on a pod that is
    /// not waiting.
    Reject { pod: Key },
}

impl Operation {
    /// Creates an object, or updates it if the cluster has it.
    pub fn put(cluster: &Cluster, object: Object) -> Self {
        let known = cluster.get(object.kind(), &object.key()).is_some();
        if known { Self::Update { object } } else { Self::Create { object } }
    }
}

/// Why another release refuses to start as this one did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseRefused {
    /// It refuses a feature gate.
    #[error(transparent)]
    Gates(#[from] GateError),
    /// It refuses the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Duration of every operation but `advance`, `advance-to`, `observe` and `batch`; keeps queue timestamps distinct.
const TICK: SignedDuration = SignedDuration::from_millis(1);

impl Scheduler {
    /// Starts a scheduler on a cluster; see [`State::new`].
    pub fn new(config: Config, objects: Vec<Object>, options: Options) -> Self {
        let Options { start, sampling, evictions, queues, ref events, unknown, .. } = options;
        let mut state = State::new(Arc::new(config), objects, start, (queues == InitialQueues::AsObserved).then_some(events));
        state.cluster.unknown = unknown;
        let (recent_failures, equivalence_cache) = (RecentFailures::default(), EquivalenceCache::default());
        Self {
            state,
            sampling,
            evictions,
            asking: Asking::Ask,
            quiet: false,
            recent_failures,
            equivalence_cache,
            options: Arc::new(options),
        }
    }

    /// Returns the options of the start.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns a kube-scheduler of another release that has just started on `objects`, with the same configuration file and
    /// feature gates as this one.
    ///
    /// # Errors
    /// Returns the refusal if that release rejects the configuration or a feature gate.
    pub fn of_release(
        &self,
        release: ReleaseChoice,
        objects: Vec<Object>,
        (queues, events): (InitialQueues, Vec<ObservedEvent>),
    ) -> Result<Self, ReleaseRefused> {
        let profile = release.profile();
        let gates = FeatureGates::parse(&self.state.config.emulation.gate_changes(), profile)?;
        let config = self.state.config.of_release(Emulation::new(profile, gates))?;
        let (start, unknown) = (self.state.clock, self.state.cluster.unknown);
        Ok(Self::new(config, objects, Options { start, queues, events, unknown, release, ..(*self.options).clone() }))
    }

    /// Returns a kube-scheduler with an edited configuration that has just started on `objects`.
    ///
    /// # Errors
    /// Returns the refusal if it would not start with that configuration.
    pub fn configured(
        &self,
        edit: &ConfigEdit,
        objects: Vec<Object>,
        (queues, events): (InitialQueues, Vec<ObservedEvent>),
    ) -> Result<Self, ConfigEditError> {
        let config = self.state.config.edited(edit)?;
        let (start, unknown) = (self.state.clock, self.state.cluster.unknown);
        Ok(Self::new(config, objects, Options { start, queues, events, unknown, ..(*self.options).clone() }))
    }

    /// Returns the release that is emulated, and why.
    pub fn emulated(&self) -> Emulated {
        Emulated { profile: self.state.config.emulation.profile(), choice: self.options.release }
    }

    /// Returns the current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Applies one operation with everything that follows from it, and returns the events.
    pub fn apply(&mut self, operation: Operation) -> Vec<Event> {
        self.apply_taking(operation, TICK, &mut |_| {})
    }

    /// Applies an operation as [`Self::apply`] does, and hands on the events in parts, in order: those of a large pod group are many.
    pub(crate) fn apply_in_parts(&mut self, operation: Operation, take_in: &mut dyn FnMut(Vec<Event>)) {
        let last = self.apply_taking(operation, TICK, &mut |events| take_in(std::mem::take(events)));
        take_in(last);
    }

    /// Returns the events that `after_member` leaves. It is not called for a batch.
    fn apply_taking(&mut self, operation: Operation, tick: SignedDuration, after_member: TakeEvents<'_>) -> Vec<Event> {
        let mut events = Vec::new();
        if !matches!(operation, Operation::Schedule) {
            self.recent_failures = RecentFailures::default();
        }
        if let Operation::Batch { operations, .. } = operation {
            // Changes observed together all happened at the time of the observation.
            let tick = if matches!(operations.first(), Some(Operation::Observe { .. })) { SignedDuration::ZERO } else { tick };
            return operations.into_iter().flat_map(|operation| self.apply_taking(operation, tick, &mut |_| {})).collect();
        }
        if let Operation::Observe { time, pods, events: seen, unknown } = operation {
            self.state.cluster.unknown = unknown.unwrap_or(self.state.cluster.unknown);
            self.state.observe(time, &pods, &seen, &mut events);
            return events;
        }
        if let Operation::TakeLog { time, places } = operation {
            self.state.observe_log(time, &places, &mut events);
            return events;
        }
        let until = match operation {
            Operation::Advance { seconds } => {
                let by = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
                Some(self.state.clock.checked_add(by).unwrap_or(Timestamp::MAX))
            }
            Operation::AdvanceTo { time } => Some(time),
            _ => None,
        };
        if let Some(to) = until {
            self.advance(to, &mut events);
            return events;
        }
        self.state.clock = self.state.clock.checked_add(tick).unwrap_or(Timestamp::MAX);
        match operation {
            Operation::Schedule => self.schedule_one(&mut events, after_member),
            Operation::Create { object } | Operation::Update { object } => {
                let old = self.state.cluster.get(object.kind(), &object.key());
                self.state.on_api_event(old, Some(object), &mut events);
            }
            Operation::Delete { object } => {
                let old = self.state.cluster.get(object.kind(), &object.key());
                self.state.on_api_event(old, None, &mut events);
            }
            Operation::Allow { pod } => self.state.allow(&pod, &mut events),
            Operation::Reject { pod } => self.state.reject(&pod, &mut events),
            Operation::Advance { .. }
            | Operation::AdvanceTo { .. }
            | Operation::Observe { .. }
            | Operation::TakeLog { .. }
            | Operation::Batch { .. } => {}
        }
        events
    }

    /// Returns the scheduler with cycles whose events leave out nodes, candidates and odds. Its decisions are the same.
    #[must_use]
    pub fn quietly(self) -> Self {
        Self { quiet: true, recent_failures: RecentFailures::default(), ..self }
    }

    /// Runs every Filter plugin on a node for a pod as if it were popped now; `None` if the pod, node or profile does
    /// not exist.
    pub fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters> {
        every_filter(&self.decision_input(), self.state.cluster.pods.get(pod)?, node)
    }

    /// Judges the devices of the nodes that a decision about a pending pod rejects for them.
    pub fn device_findings(&self, pod: &Arc<Pod>, view: &CycleView) -> Option<DeviceFindings> {
        device_findings(&self.decision_input(), pod, view)
    }

    /// Returns the pod that the next [`Operation::Schedule`] would pop.
    pub fn next_pod(&self) -> Option<Key> {
        self.state.queue.next_to_pop().map(|info| info.key())
    }
}
