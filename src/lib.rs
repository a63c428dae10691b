//! schedscope: an explorer of Kubernetes scheduling.
//!
//! One embedded engine takes kube-scheduler's decisions (1.20 to 1.36) again, on a dump of a cluster, in step mode, and a
//! terminal screen shows why: which node was turned down by which plugin, where eviction would make room, whom it would
//! cost, which budget it would violate and which score function broke the tie.
//!
//! # Modules, from the ground up
//!
//! A module imports only from modules above it in this list, and a test (`tests/engine/layers.rs`) says so.
//!
//! | module | holds |
//! | --- | --- |
//! | `plural` | numbers with their nouns |
//! | [`output`] | what leaves: text from outside made visible, the formats of answers, the standard streams |
//! | [`cluster`] | the objects a scheduler reads, as immutable data: quantities, selectors, a persistent store per kind |
//! | [`release`] | kube-scheduler's releases with their feature gates, and the handle by which the rest asks |
//! | [`framework`] | the vocabulary: statuses, cycle state, node and pod information, extension points, cluster events |
//! | [`trace`] | typed events in the past tense, the sentences they read as, and the views that fold them |
//! | [`preemption`] | the Evaluator: who may preempt, where, whom, and which candidate wins |
//! | `cel` | selectors of devices: the part of the Common Expression Language that kube-scheduler evaluates |
//! | [`plugins`] | one file or folder per in-tree plugin |
//! | [`scheduler`] | configuration and profiles, the runtime, the queue, cache and snapshot, the scheduling and binding cycle |
//! | [`fixes`] | what keeps a pod out, demand by demand, and verified changes that let it in |
//! | [`session`] | timelines of what the scheduler did, on branches, with a cursor; edits, runs, comparison, saving |
//! | [`scheduler_log`] | what kube-scheduler's own log tells: attempts, queues, victims, and what stays unknown |
//! | [`source`] | dumps in any layout and archive, and live clusters, into [`cluster`], with a report of what was read, skipped and missing; captures |
//! | [`report`] | a decision as one sentence, text or JSON; the story of each pod; two branches side by side |
//! | [`ui`] | state, update, keymap, theme, panes and pages: pure, without IO or a clock |
//! | [`app`] | the event loop, the worker behind it, loading, the terminal guard, signals, what is written to files |
//! | [`cli`] | arguments, subcommands, exit codes |
//!
//! # Invariants
//!
//! - Data flows one way: source → cluster → scheduler → trace → session → screen. The screen never asks the engine why.
//! - The scheduler is the only emitter of trace. Plugins are pure: they read and answer; the runtime records around them.
//! - Chance and time are parameters. Where kube-scheduler draws at random, the first by name is taken and all that are as
//!   good are shown; time is virtual and passes only when told to.
//! - Everything at a moment ([`session::Keyframe`], [`scheduler::State`]) is a value that shares its parts, so keeping one
//!   per cycle is cheap and going back is exact.
//! - Text from outside is held as it came and escaped where it leaves, by [`output`] and nothing else.
//! - Nothing here writes to a cluster, and Secrets and ConfigMaps are never read.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod app;
pub mod cel;
pub mod cli;
pub mod cluster;
pub mod fixes;
pub mod extender_client;
pub mod extenders;
pub mod framework;
pub mod output;
pub mod plugins;
mod plural;
pub mod preemption;
pub mod release;
pub mod report;
pub mod scheduler;
pub mod scheduler_log;
pub mod session;
pub mod source;
pub mod trace;
pub mod ui;
