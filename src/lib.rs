//! schedscope: an explorer of Kubernetes scheduling.
//!
//! An embedded engine repeats kube-scheduler's decisions (1.11, 1.12 and 1.20 to 1.37) step by step, on a dump of a cluster or a live one.
//! A terminal screen shows the reasons: which plugin rejected which node, where preemption would make room, which pods are
//! the victims, which budget they would violate and which score function broke the tie.
//!
//! # Modules, from the ground up
//!
//! A module imports only from modules above it in this list; a test (`tests/engine/layers.rs`) checks that.
//!
//! | module | holds |
//! | --- | --- |
//! | `plural` | numbers with their nouns |
//! | `suggest` | suggestions for names that do not exist |
//! | [`limits`] | limits of what input from outside may cost, in one table |
//! | [`cluster`] | the objects a scheduler reads, as immutable data: quantities, selectors, a persistent store per kind |
//! | [`output`] | output: escaping of untrusted text, documents and their renderers, formats of answers, standard streams, new files |
//! | [`release`] | kube-scheduler's releases with their differences and feature gates |
//! | [`odds`] | the likelihood of each outcome where kube-scheduler draws at random, as exact fractions |
//! | [`framework`] | the vocabulary: statuses, cycle state, node and pod information, extension points, cluster events |
//! | [`admission`] | admission as an API server does it: defaults of new pods, quotas, limit ranges, refusals |
//! | [`extenders`] | HTTP extenders: what they are asked, how their answers are read, and who knows answers |
//! | [`extender_client`] | asks extenders over HTTP, from a thread of its own |
//! | [`trace`] | typed events, their sentences, and the views that fold them |
//! | [`preemption`] | the Evaluator: eligible pods, candidates with their victims, and the choice among them |
//! | `cel` | the part of the Common Expression Language that kube-scheduler evaluates in device selectors |
//! | [`plugins`] | one file or folder per in-tree plugin |
//! | [`scheduler`] | configuration and profiles, the runtime, the queue, cache and snapshot, the scheduling and binding cycle |
//! | [`controllers`] | controllers, emulated: replacements of pods, and the workload of a pod |
//! | [`fixes`] | the demands that keep a pod out, and verified changes that let it in |
//! | [`session`] | timelines of scheduling on branches, each with a cursor; edits, runs, comparison, saving |
//! | [`whatif`] | what-ifs in operators' verbs: drain, lose, scale, capacity and others, applied and answered |
//! | [`workload`] | workloads: how many pods one wants, how far they come, why some are missing; the words of others |
//! | [`scheduler_log`] | kube-scheduler's own log: attempts, queues, victims, and the gaps in it |
//! | [`source`] | reading of dumps in any layout or archive and of live clusters, with a report of read, skipped and missing objects; captures |
//! | [`analysis`] | findings of running the engine or comparing: causes, agreement with the cluster's scheduler, best fixes, evictions, replay of logs |
//! | [`report`] | decisions and findings as text, Markdown or JSON; the story of each pod; the comparison of branches |
//! | [`ui`] | state, update, keymap, theme, panes and pages; pure, without IO or a clock |
//! | [`app`] | the event loop with its worker, loading, the terminal, signals, written files |
//! | [`cli`] | arguments, subcommands, exit codes |
//!
//! # Invariants
//!
//! - Data flows one way: source → cluster → scheduler → trace → session → screen. The screen reads reasons from the trace, not
//!   from the engine.
//! - Only the scheduler emits trace events. Plugins are pure: they read and return; the runtime records their answers.
//! - Chance and time are parameters. Where kube-scheduler draws at random, the first by name wins and all ties are shown.
//!   Time is virtual and passes only by operations.
//! - Full states ([`session::Keyframe`], [`scheduler::State`]) are values that share their parts, so that keeping one per
//!   cycle is cheap and going back is exact.
//! - Untrusted text is kept unchanged and escaped at the output, by [`output`] alone.
//! - Answers and pages are documents ([`output::Document`]) until a renderer writes them, and no code takes a finished text apart
//!   (`tests/engine/texts.rs`).
//! - No code writes to a cluster or reads Secrets or ConfigMaps. Extenders are called only if the user asks for it, never to
//!   bind, and never by trials.

#![deny(clippy::print_stdout, clippy::print_stderr)]
// Without the program, parts of the rooms that it uses are idle.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub mod admission;
pub mod analysis;
#[cfg(feature = "cli")]
pub mod app;
pub mod cel;
#[cfg(feature = "cli")]
pub mod cli;
pub mod cluster;
pub mod controllers;
#[cfg(feature = "extenders")]
pub mod extender_client;
pub mod extenders;
pub mod fixes;
pub mod framework;
pub mod limits;
pub mod odds;
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
mod suggest;
pub mod trace;
#[cfg(feature = "tui")]
pub mod ui;
pub mod whatif;
pub mod workload;
