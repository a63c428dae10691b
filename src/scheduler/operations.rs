//! What can be done to a cluster under a scheduler, one thing after another.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Config, ConfigError, DecisionInput, DryDecision, PostFilter, Sampling, State, decide, decide_quietly, every_filter};
use crate::cluster::{Cluster, Key, MissingKinds, Object, ObservedEvent, Pod};
use crate::extenders::Asking;
use crate::framework::NodeFilters;
use crate::release::{Emulated, Emulation, FeatureGates, GateError, ReleaseChoice};
use crate::trace::Event;

/// A scheduler on a cluster of its own, under a virtual clock.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) state: State,
    /// How many nodes are looked at.
    pub(super) sampling: Sampling,
    /// How victims go.
    pub(super) evictions: Evictions,
    /// Whether its cycles ask extenders.
    pub(super) asking: Asking,
    /// How it was started.
    options: Arc<Options>,
}

/// How evicted pods go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, Serialize, Deserialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Evictions {
    /// They are gone at once.
    #[default]
    AtOnce,
    /// They get a deletionTimestamp, and go when the virtual clock reaches it while time passes. So does every other pod
    /// that has one and a node and no finalizers; those whose deletionTimestamp is past when the scheduler starts go as
    /// soon as time is let pass.
    AfterGracePeriod,
    /// They get a deletionTimestamp, and stay until an operation deletes them.
    Marked,
}

/// Where waiting pods are when a session starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Waiting {
    /// Every pod is new to the scheduler, as after its restart.
    #[default]
    Fresh,
    /// Where the cluster's objects, and these events of it, suggest.
    AsObserved(Vec<ObservedEvent>),
}

/// How a scheduler starts and runs, beside its configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Where the virtual clock begins.
    pub start: Timestamp,
    /// How many nodes are looked at.
    pub sampling: Sampling,
    /// How victims go.
    pub evictions: Evictions,
    /// Where waiting pods are.
    pub waiting: Waiting,
    /// What is not known of the cluster.
    pub unknown: MissingKinds,
    /// Why the release is emulated that the configuration has.
    #[serde(default)]
    pub release: ReleaseChoice,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// One turn of the scheduling loop.
    Schedule,
    /// An object comes.
    Create {
        /// The object.
        object: Object,
    },
    /// An object changes.
    Update {
        /// The whole object as it is from now on.
        object: Object,
    },
    /// An object goes.
    Delete {
        /// The object; only its kind, namespace and name are read.
        object: Object,
    },
    /// Time passes: queues are flushed, grace periods end where [`Evictions::AfterGracePeriod`] says so, and Permit
    /// deadlines come, each at its time. No time at all is enough for what is overdue.
    Advance {
        /// How much.
        seconds: u64,
    },
    /// Time passes until a moment, as with `advance`; nothing happens where that is past.
    #[serde(rename = "advance-to")]
    AdvanceTo {
        /// Until when.
        time: Timestamp,
    },
    /// The cluster was looked at again: the queues are flushed as they are by that time, and these pods are put where
    /// they are taken to wait then. Nothing else that time would do happens: what a cluster does by itself shows in
    /// the changes that are seen of it.
    Observe {
        /// When it was looked at.
        time: Timestamp,
        /// Pods about which something new was written.
        pods: Vec<Key>,
        /// What Events tell of them.
        events: Vec<ObservedEvent>,
        /// What is unknown from now on, where that has changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unknown: Option<MissingKinds>,
    },
    /// Several things, one after another, that are known by one name.
    Batch {
        /// What they are.
        name: String,
        /// The things.
        operations: Vec<Operation>,
    },
    /// Every Permit plugin that a pod waits for allows it; nothing happens for a pod that does not wait.
    Allow {
        /// The pod.
        pod: Key,
    },
    /// The first of the Permit plugins that a pod waits for, in the order of the profile, rejects it; nothing happens for a
    /// pod that does not wait.
    Reject {
        /// The pod.
        pod: Key,
    },
}

impl Operation {
    /// An object comes to a cluster, or changes where it is there already.
    pub fn put(cluster: &Cluster, object: Object) -> Self {
        let known = cluster.get(object.kind(), &object.key()).is_some();
        if known { Self::Update { object } } else { Self::Create { object } }
    }
}

/// Why another release does not start as this one did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseRefused {
    /// It refuses a feature gate.
    #[error(transparent)]
    Gates(#[from] GateError),
    /// It refuses the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Every operation but `advance`, `advance-to`, `observe` and `batch` takes this long, so that no two queue timestamps are equal.
const TICK: SignedDuration = SignedDuration::from_millis(1);

impl Scheduler {
    /// A scheduler on a cluster; see [`State::new`].
    pub fn new(config: Config, objects: Vec<Object>, options: Options) -> Self {
        let Options { start, sampling, evictions, ref waiting, unknown, .. } = options;
        let mut state = State::new(Arc::new(config), objects, start, waiting);
        state.cluster.unknown = unknown;
        Self { state, sampling, evictions, asking: Asking::Ask, options: Arc::new(options) }
    }

    /// How it was started.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns a kube-scheduler of another release that has just started on `objects`, with the same configuration file and
    /// feature gates as this one.
    ///
    /// # Errors
    /// Where that release refuses the configuration or a feature gate.
    pub fn of_release(&self, release: ReleaseChoice, objects: Vec<Object>, waiting: Waiting) -> Result<Self, ReleaseRefused> {
        let profile = release.profile();
        let gates = FeatureGates::parse(&self.state.config.emulation.gate_changes(), profile)?;
        let config = self.state.config.of_release(Emulation::new(profile, gates))?;
        let (start, unknown) = (self.state.clock, self.state.cluster.unknown);
        Ok(Self::new(config, objects, Options { start, waiting, unknown, release, ..(*self.options).clone() }))
    }

    /// Returns the release that is emulated, and why.
    pub fn emulated(&self) -> Emulated {
        Emulated { profile: self.state.config.emulation.profile(), choice: self.options.release }
    }

    /// What the scheduler knows now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Does one thing, to the end of everything that follows from it, and says what happened.
    pub fn apply(&mut self, operation: Operation) -> Vec<Event> {
        self.apply_taking(operation, TICK)
    }

    fn apply_taking(&mut self, operation: Operation, tick: SignedDuration) -> Vec<Event> {
        let mut events = Vec::new();
        if let Operation::Batch { operations, .. } = operation {
            // What was seen of a cluster happened at the time of looking, however much it is.
            let tick = if matches!(operations.first(), Some(Operation::Observe { .. })) { SignedDuration::ZERO } else { tick };
            return operations.into_iter().flat_map(|operation| self.apply_taking(operation, tick)).collect();
        }
        if let Operation::Observe { time, pods, events: seen, unknown } = operation {
            self.state.cluster.unknown = unknown.unwrap_or(self.state.cluster.unknown);
            self.state.observe(time, &pods, &seen, &mut events);
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
            Operation::Schedule => self.schedule_one(&mut events),
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
            Operation::Advance { .. } | Operation::AdvanceTo { .. } | Operation::Observe { .. } | Operation::Batch { .. } => {}
        }
        events
    }

    /// Decides about a pending pod as if it were popped now, without consequences; see [`decide()`]. Of extenders the last
    /// answers count.
    pub fn explain(&self, pod: &Arc<Pod>) -> Vec<Event> {
        decide(&self.decision_input(), pod)
    }

    /// Takes the decision of [`Self::explain`], and asks extenders for it, where anybody asks them.
    pub fn explain_asking(&self, pod: &Arc<Pod>) -> Vec<Event> {
        decide(&DecisionInput { asking: Asking::Ask, ..self.decision_input() }, pod)
    }

    /// Takes the decision of [`Self::explain`], and returns it without a record of how it was taken; see
    /// [`decide_quietly()`]. The positions in it are those of `self.state().snapshot()`.
    pub fn dry_decision(&self, pod: &Arc<Pod>, post_filter: PostFilter) -> DryDecision {
        decide_quietly(&self.decision_input(), pod, post_filter)
    }

    /// What every Filter plugin says about a node for a pod as if it were popped now; `None` where there is no such pod,
    /// node or profile. See [`every_filter()`].
    pub fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters> {
        every_filter(&self.decision_input(), self.state.cluster.pods.get(pod)?, node)
    }

    pub(super) fn decision_input(&self) -> DecisionInput<'_> {
        let state = &self.state;
        DecisionInput {
            config: &state.config,
            cluster: &state.cluster,
            cache: &state.cache,
            nominations: &state.queue,
            sampling: self.sampling,
            now: state.clock,
            asking: Asking::Recall,
        }
    }

    /// The pod that the next [`Operation::Schedule`] would take.
    pub fn next_pod(&self) -> Option<Key> {
        self.state.queue.next_to_pop().map(|info| info.key())
    }
}
