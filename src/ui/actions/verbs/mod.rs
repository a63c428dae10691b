//! One file per verb. To add one, write its file and put it into the registry below.

pub mod add;
pub mod agreement;
pub mod allow;
pub mod apply;
pub mod back;
pub mod branch;
pub mod branches;
pub mod breakpoint;
pub mod budgets;
pub mod capacity;
pub mod capture;
pub mod catch_up;
pub mod command;
pub mod compare;
pub mod copy;
pub mod cordon;
pub mod cycle;
pub mod cycle_pane;
pub mod decide;
pub mod delete;
pub mod drain;
pub mod ends;
pub mod evict;
pub mod export;
pub mod filter;
pub mod fixes;
pub mod fold;
pub mod gate;
pub mod groups;
pub mod help;
pub mod label;
pub mod learn;
pub mod lose;
pub mod node;
pub mod odds;
pub mod open;
pub mod open_source;
pub mod overview;
#[cfg(debug_assertions)]
pub mod panic;
pub mod patch;
pub mod plugin;
pub mod pod;
pub mod pod_seek;
pub mod priority;
pub mod quit;
pub mod reject;
pub mod relax;
pub mod release;
pub mod report;
pub mod restart;
pub mod run;
pub mod save;
pub mod scale;
pub mod select;
pub mod settle;
pub mod sort;
pub mod source;
pub mod step;
pub mod step_in;
pub mod step_size;
pub mod suspend;
pub mod taint;
pub mod theme;
pub mod undo;
pub mod ungate;
pub mod until;
pub mod wait;
pub mod weights;
pub mod workload;
pub mod zoom;

use crate::ui::actions::verb::{Command, Verb};

/// All verbs except those of the prompt. Within a context, help lists keys in this order.
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
    ends::VERBS,
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
    cycle_pane::VERBS,
    zoom::VERBS,
    allow::VERBS,
    apply::VERBS,
    budgets::VERBS,
    drain::VERBS,
    lose::VERBS,
    add::VERBS,
    scale::VERBS,
    taint::VERBS,
    label::VERBS,
    priority::VERBS,
    ungate::VERBS,
    evict::VERBS,
    relax::VERBS,
    capacity::VERBS,
    odds::VERBS,
    weights::VERBS,
    plugin::VERBS,
    gate::VERBS,
    capture::VERBS,
    cordon::VERBS,
    learn::VERBS,
    decide::VERBS,
    delete::VERBS,
    open_source::VERBS,
    overview::VERBS,
    patch::VERBS,
    reject::VERBS,
    release::VERBS,
    restart::VERBS,
    save::VERBS,
    theme::VERBS,
    #[cfg(debug_assertions)]
    panic::VERBS,
    suspend::VERBS,
    quit::VERBS,
];

/// Returns all verbs, in the order of the help.
pub fn all() -> impl Iterator<Item = &'static Verb> {
    VERBS.iter().flat_map(|verbs| verbs.iter())
}

/// Returns the verb with a command of this name, and the command.
pub fn command(name: &str) -> Option<(&'static Verb, &'static Command)> {
    all().find_map(|verb| verb.command.as_ref().filter(|c| c.names.contains(&name)).map(|c| (verb, c)))
}
