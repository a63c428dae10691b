//! The pane of all pods: node, priority, owner and state, with a filter.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use crate::cluster::{Pod, PodOwner};
use crate::framework::PodResource;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, PRIORITY, Width, fit, left, right};
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::list::RowId;
use crate::ui::model::page::{Cell, PageInput, PageRow, PageRows, cell};
use crate::ui::model::pane::Pane;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::text;
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::page;

pub static DEF: PaneDef = PaneDef {
    sorts: &[
        SortChoice::new(Sort::Usual, "by name"),
        SortChoice::new(Sort::Priority, "by priority"),
        SortChoice::new(Sort::Node, "by node"),
        SortChoice::new(Sort::Request, "by cpu request"),
    ],
    home: Some(Pane::QUEUES),
    is_open: |_| false,
    rows: Rows::Page(|input, _, filter| rows(input, filter)),
    fields: FIELDS,
    total: |_, timeline| Some(timeline.keyframe().cluster.pods.len()),
    columns: |state, _, list, row| page::heading_columns(Pane::PODS, state, list, row),
    ..page::new(Pane::PODS, ("go-to-pods", "all pods: node, priority, owner, state"))
};

/// The fields that a filter can name.
const FIELDS: &[&str] = &["name", "namespace", "node", "owner", "priority", "state", "label"];

/// Limit on the rows; the filter reaches the others.
const SHOWN: usize = 2000;

/// The number of rows from which the widths of columns are taken.
const MEASURED: usize = 200;

/// The columns from which there is one for the state.
const WIDE: usize = 100;

const OWNER: &str = "OWNER";
const STATE: &str = "STATE";
const CPU: &str = "CPU";

/// Returns the state of a pod in a word.
fn state(pod: &Pod) -> (&str, Role) {
    match () {
        () if pod.is_terminating() => ("terminating", Role::Warning),
        () if pod.is_terminal() => (pod.status.phase.as_str(), Role::Muted),
        () if pod.node_name.is_empty() && !pod.spec.scheduling_gates.is_empty() => ("gated", Role::Gated),
        () if pod.node_name.is_empty() => ("pending", Role::Unschedulable),
        () if pod.status.phase.is_empty() => ("bound", Role::Text),
        () => (pod.status.phase.as_str(), Role::Text),
    }
}

/// Returns the workload of a pod; empty without one.
fn owner(pod: &Pod) -> String {
    match pod.owner() {
        Some(PodOwner { workload: (kind, _), .. }) if kind == "Node" => "static pod".to_owned(),
        Some(PodOwner { workload: (kind, name), .. }) => format!("{kind} {name}"),
        None => String::new(),
    }
}

fn cpu(pod: &Pod) -> i64 {
    PodResource::of(pod).resource.milli_cpu
}

fn keeps(filter: &mut Filter, pod: &Pod) -> bool {
    if filter.is_empty() {
        return true;
    }
    let (name, owner) = (pod.key().to_string(), owner(pod));
    let facts = [
        Fact::name("name", &name),
        Fact::name("namespace", &pod.metadata.namespace),
        Fact::name("node", &pod.node_name),
        Fact::prose("owner", &owner),
        Fact::number("priority", i64::from(pod.priority())),
        Fact::choice("state", state(pod).0),
    ];
    let labels = pod.metadata.labels.iter().map(|(key, value)| Fact::label(key, value));
    filter.keeps(&facts.into_iter().chain(labels).collect::<Vec<_>>())
}

/// Returns the node of a pod, in its column. Where there is no column for the state, it says whether the pod is ending.
fn place(pod: &Pod, has_state: bool) -> Cow<'_, str> {
    match (pod.node_name.as_str(), has_state) {
        ("", true) => "-".into(),
        ("", false) => state(pod).0.into(),
        (node, false) if pod.is_terminating() => format!("{node} (ending)").into(),
        (node, _) => node.into(),
    }
}

/// Returns the pods that the filter keeps.
fn rows(input: &PageInput<'_>, filter: &mut Filter) -> Vec<PageRow> {
    let cluster = &input.timeline.keyframe().cluster;
    let mut pods: Vec<&Arc<Pod>> = cluster.pods.iter().filter(|pod| keeps(filter, pod)).collect();
    match input.order {
        Sort::Priority => pods.sort_by_key(|pod| Reverse(pod.priority())),
        Sort::Node => pods.sort_by(|one, other| one.node_name.cmp(&other.node_name)),
        Sort::Request => pods.sort_by_cached_key(|pod| Reverse(cpu(pod))),
        // They are sorted by namespace and name.
        _ => {}
    }
    let mut all = Filter::new("");
    let mut rows = PageRows::new(input.width, &mut all);
    let columns = columns(input.width, &pods);
    if !pods.is_empty() {
        rows.titles(&columns);
    }
    for pod in pods.iter().take(SHOWN) {
        let (word, role) = state(pod);
        let node = place(pod, input.width >= WIDE);
        let mut cells = vec![cell(format!("  {}", pod.key()), role), cell(pod.priority().to_string(), Role::Text), cell(node, role)];
        for column in columns.iter() {
            let found: Option<Cell> = match column.title {
                CPU => Some(cell(text::cpu(cpu(pod)), Role::Text)),
                OWNER => Some(cell(owner(pod), Role::Muted)),
                STATE => Some(cell(word, role)),
                _ => None,
            };
            cells.extend(found);
        }
        rows.cells(RowId::Pod(pod.key()), &columns, cells);
    }
    if pods.len() > SHOWN {
        let more = text::count(pods.len() - SHOWN, "more pod");
        rows.note(format!("  and {more}: a filter such as node:w1, owner:web or priority:>9 finds them"));
    }
    rows.done()
}

fn columns(width: usize, pods: &[&Arc<Pod>]) -> Arc<[Column]> {
    let some = || pods.iter().take(MEASURED);
    let names: Vec<String> = some().map(|pod| format!("  {}", pod.key())).collect();
    let name = fit("  POD", (width * 2 / 5) as u16, names.iter().map(String::as_str));
    let places: Vec<Cow<'_, str>> = some().map(|pod| place(pod, width >= WIDE)).collect();
    let node = fit("NODE", (width / 4) as u16, places.iter().map(AsRef::as_ref).chain(["pending"]));
    let is_wide = width >= WIDE;
    let mut columns = vec![
        left("  POD", if is_wide { name } else { Width::Rest }).by(Sort::Usual),
        right("PRIORITY", PRIORITY).by(Sort::Priority),
        left("NODE", node).by(Sort::Node),
    ];
    if width >= 110 {
        columns.push(right(CPU, Width::Fixed(6)).by(Sort::Request));
    }
    if is_wide {
        columns.extend([left(STATE, Width::Fixed(11)), left(OWNER, Width::Rest)]);
    } else if width >= 60 {
        let owners: Vec<String> = some().map(|pod| owner(pod)).collect();
        columns.push(left(OWNER, fit(OWNER, (width / 4) as u16, owners.iter().map(String::as_str))));
    }
    columns.into()
}
