//! One file per verb. To add one, write its file and put it into the registry below. What-ifs have no files: they follow from their grammar,
//! [`crate::session::GRAMMAR`].

pub mod agreement;
pub mod apply;
pub mod at;
pub mod attempts;
pub mod back;
pub mod branch;
pub mod branches;
pub mod breakpoint;
pub mod budgets;
pub mod capture;
pub mod catch_up;
pub mod command;
pub mod compare;
pub mod copy;
pub mod cycle;
pub mod cycle_pane;
pub mod decide;
pub mod diff;
pub mod ends;
pub mod evicted;
pub mod export;
pub mod filter;
pub mod fixes;
pub mod fold;
pub mod groups;
pub mod help;
pub mod learn;
pub mod mouse;
pub mod node;
pub mod nth;
pub mod odds;
pub mod open;
pub mod open_source;
pub mod overview;
#[cfg(debug_assertions)]
pub mod panic;
pub mod pod;
pub mod pod_seek;
pub mod pods;
pub mod quit;
pub mod report;
pub mod restart;
pub mod run;
pub mod save;
pub mod select;
pub mod settle;
pub mod sort;
pub mod source;
pub mod step;
pub mod step_in;
pub mod step_size;
pub mod suspend;
pub mod theme;
pub mod undo;
pub mod until;
pub mod wait;
pub mod workload;
pub mod zoom;

use std::sync::LazyLock;

use crate::session::GRAMMAR;
use crate::ui::actions::verb::{Command, Verb};

/// All verbs except what-ifs and those of the prompt. Within a context, help lists keys in this order.
pub static VERBS: &[&[Verb]] = &[
    help::VERBS,
    step::VERBS,
    cycle::VERBS,
    run::VERBS,
    step_size::VERBS,
    settle::VERBS,
    until::VERBS,
    breakpoint::VERBS,
    wait::VERBS,
    pod_seek::VERBS,
    undo::VERBS,
    branches::VERBS,
    branch::VERBS,
    compare::VERBS,
    diff::VERBS,
    ends::VERBS,
    attempts::VERBS,
    evicted::VERBS,
    step_in::VERBS,
    open::VERBS,
    fold::VERBS,
    groups::VERBS,
    sort::VERBS,
    node::VERBS,
    pod::VERBS,
    filter::VERBS,
    command::VERBS,
    catch_up::VERBS,
    agreement::VERBS,
    workload::VERBS,
    fixes::VERBS,
    source::VERBS,
    copy::VERBS,
    export::VERBS,
    report::VERBS,
    back::VERBS,
    select::VERBS,
    nth::VERBS,
    cycle_pane::VERBS,
    zoom::VERBS,
    apply::VERBS,
    at::VERBS,
    budgets::VERBS,
    pods::VERBS,
    odds::VERBS,
    capture::VERBS,
    learn::VERBS,
    decide::VERBS,
    open_source::VERBS,
    overview::VERBS,
    restart::VERBS,
    save::VERBS,
    theme::VERBS,
    mouse::VERBS,
    #[cfg(debug_assertions)]
    panic::VERBS,
    suspend::VERBS,
    quit::VERBS,
];

static WHAT_IFS: LazyLock<Vec<Verb>> = LazyLock::new(|| GRAMMAR.iter().map(Verb::of_what_if).collect());

/// Returns all verbs, in the order of the help.
pub fn all() -> impl Iterator<Item = &'static Verb> {
    VERBS.iter().flat_map(|verbs| verbs.iter()).chain(WHAT_IFS.iter())
}

pub fn command(name: &str) -> Option<(&'static Verb, &'static Command)> {
    all().find_map(|verb| verb.command.as_ref().filter(|c| c.names.contains(&name)).map(|c| (verb, c)))
}
