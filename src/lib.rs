//! schedscope: an explorer of Kubernetes scheduling.
//!
//! An embedded engine repeats kube-scheduler's decisions (1.11, 1.12 and 1.20 to 1.37) step by step, on a dump of a cluster or a live one.
//! A terminal screen shows the reasons: which plugin rejected which node, where preemption would make room, which pods are
//! the victims, which budget they would violate and which score function broke the tie.
//!
//! To embed the engine in another crate, see [`engine`]. All other modules are parts of the program: they are public for its own tests
//! and benches only, hidden in the documentation unless that is built with `--cfg internals`, and may change in any release.
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
//! | `proxies` | the proxies that the environment sets for a host |
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
//! | [`workspace`] | a session that a user changes: where changes begin, on which branch they go, where the cursor ends |
//! | [`engine`] | the door for crates that embed the engine |
//! | [`ui`] | state, update, keymap, theme, panes and pages; pure, without IO or a clock |
//! | [`app`] | the event loop with its worker, loading, the terminal, signals, written files |
//! | [`cli`] | arguments, subcommands, exit codes |
//!
//! # Invariants
//!
//! Each names the tests that hold it; `tests/engine/invariants.rs` looks whether there are such tests.
//!
//! - Data flows one way: source → cluster → scheduler → trace → session → screen. The screen imports no room of the engine: it reads
//!   reasons from the trace, and asks the session for the rest.
//!   (`modules_import_only_from_the_layers_above`, `the_screen_knows_no_engine`)
//! - Trace events come from the scheduler, and from the session where a scheduler starts or a line of a log is shown. Plugins are pure:
//!   they read and return; the runtime records their answers.
//!   (`events_come_from_the_scheduler_and_the_session`, `plugins_keep_nothing_and_reach_nothing`,
//!   `a_decision_without_a_record_is_the_same`)
//! - Chance and time are parameters. Where kube-scheduler draws at random, the first by name wins and all ties are shown.
//!   Time is virtual and passes only by operations.
//!   (`chance_and_time_are_parameters`, `of_equal_nodes_the_first_by_name_wins_and_all_are_named`,
//!   `every_pod_is_in_one_place_and_the_same_history_repeats`)
//! - Full states ([`session::Keyframe`], [`scheduler::State`]) are values that share their parts, so that keeping one per
//!   cycle is cheap and going back is exact.
//!   (`full_states_share_what_did_not_change`, `any_walk_shows_what_going_there_directly_shows`, `back_undoes_forward`)
//! - Untrusted text is kept unchanged and escaped at the output, by [`output`] alone.
//!   (`text_goes_out_through_output_alone`, `nothing_raw_leaves_whatever_comes_in`)
//! - Answers and pages are documents ([`output::Document`]) until a renderer writes them, and no code takes a finished text apart.
//!   (`no_finished_text_is_taken_apart`)
//! - No code writes to a cluster or reads Secrets or ConfigMaps. Extenders are called only if the user asks for it, never to
//!   bind, and never by trials.
//!   (`requests_to_a_cluster_only_read`, `only_what_is_read_is_allowed`, `kind_and_group_must_both_fit`,
//!   `values_of_secrets_are_never_decoded`, `without_an_asker_nobody_is_asked_and_the_answer_names_who_would_be`,
//!   `no_extender_is_asked_to_bind`, `trials_and_dry_decisions_ask_nobody_and_know_what_was_answered`)

#![deny(clippy::print_stdout, clippy::print_stderr)]
// Without the program, parts of the rooms that it uses are idle.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]
// Inside, an item needs no sentence that only repeats its name.
#![cfg_attr(internals, allow(missing_docs))]
// The map above names rooms that only the program has.
#![cfg_attr(not(feature = "cli"), allow(rustdoc::broken_intra_doc_links))]

#[cfg_attr(not(internals), doc(hidden))]
pub mod admission;
#[cfg_attr(not(internals), doc(hidden))]
pub mod analysis;
#[cfg(feature = "cli")]
#[cfg_attr(not(internals), doc(hidden))]
pub mod app;
#[cfg_attr(not(internals), doc(hidden))]
pub mod cel;
#[cfg(feature = "cli")]
#[cfg_attr(not(internals), doc(hidden))]
pub mod cli;
#[cfg_attr(not(internals), doc(hidden))]
pub mod cluster;
#[cfg_attr(not(internals), doc(hidden))]
pub mod controllers;
pub mod engine;
#[cfg(feature = "extenders")]
#[cfg_attr(not(internals), doc(hidden))]
pub mod extender_client;
#[cfg_attr(not(internals), doc(hidden))]
pub mod extenders;
#[cfg_attr(not(internals), doc(hidden))]
pub mod fixes;
#[cfg_attr(not(internals), doc(hidden))]
pub mod framework;
#[cfg_attr(not(internals), doc(hidden))]
pub mod limits;
#[cfg_attr(not(internals), doc(hidden))]
pub mod odds;
#[cfg_attr(not(internals), doc(hidden))]
pub mod output;
#[cfg_attr(not(internals), doc(hidden))]
pub mod plugins;
mod plural;
#[cfg_attr(not(internals), doc(hidden))]
pub mod preemption;
#[cfg(any(feature = "extenders", feature = "live"))]
mod proxies;
#[cfg_attr(not(internals), doc(hidden))]
pub mod release;
#[cfg_attr(not(internals), doc(hidden))]
pub mod report;
#[cfg_attr(not(internals), doc(hidden))]
pub mod scheduler;
#[cfg_attr(not(internals), doc(hidden))]
pub mod scheduler_log;
#[cfg_attr(not(internals), doc(hidden))]
pub mod session;
#[cfg_attr(not(internals), doc(hidden))]
pub mod source;
mod suggest;
#[cfg_attr(not(internals), doc(hidden))]
pub mod trace;
#[cfg(feature = "tui")]
#[cfg_attr(not(internals), doc(hidden))]
pub mod ui;
#[cfg_attr(not(internals), doc(hidden))]
pub mod whatif;
#[cfg_attr(not(internals), doc(hidden))]
pub mod workload;
#[cfg(feature = "tui")]
#[cfg_attr(not(internals), doc(hidden))]
pub mod workspace;
