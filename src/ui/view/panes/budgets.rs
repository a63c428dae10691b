//! The pane of all budgets: disruptions allowed, pods covered, and the effect of the preemption under the cursor.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cluster::{Key, Pod, PodDisruptionBudget, Str};
use crate::framework::DryRunStep;
use crate::report::budgets_unknown_because;
use crate::trace::PreemptionView;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, Width, fit, left, right};
use crate::ui::model::filter::Filter;
use crate::ui::model::list::RowId;
use crate::ui::model::page::PageRows;
use crate::ui::model::page::{PageInput, PageRow, Sign, cell, signed};
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::page;
use crate::ui::view::panes::pod::selector;

/// The pane.
pub static DEF: PaneDef = PaneDef {
    sorts: &[
        SortChoice::new(Sort::Usual, "violated first"),
        SortChoice::new(Sort::Name, "by name"),
        SortChoice::new(Sort::Left, "fewest left first"),
    ],
    home: Some(Pane::PREEMPTION),
    is_open: |state| state.opened.contains(&Pane::BUDGETS),
    rows: Rows::Page(|input, _, filter| rows(input, filter)),
    columns: |state, _, list, row| page::heading_columns(Pane::BUDGETS, state, list, row),
    open,
    ..page::new(Pane::BUDGETS, ("go-to-budgets", "all budgets, and what preemption does to them"))
};

/// Expands or collapses the selected budget, or opens the selected pod.
fn open(state: &mut State, session: &mut dyn SessionHandle) {
    match state.list(Pane::BUDGETS).selected.clone() {
        Some(RowId::Budget(key)) => {
            if !state.open_budgets.remove(&key) {
                state.open_budgets.insert(key);
            }
            state.touch();
        }
        _ => page::open_row(state, session),
    }
}

/// The effect of preemption on a budget: the nodes whose victims violate it, and the number of them on the chosen node.
#[derive(Default)]
struct BudgetImpact {
    nodes: Vec<Str>,
    on_chosen: usize,
}

impl BudgetImpact {
    fn words(&self, preemption: &PreemptionView) -> (String, Role) {
        let first: Vec<&str> = self.nodes.iter().take(3).map(Str::as_str).collect();
        let more = self.nodes.len().saturating_sub(first.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let nodes = format!("{}{more}", first.join(", "));
        match (preemption.selected(), self.on_chosen) {
            (Some((node, _)), 0) => (format!("kept on {node}; violated on {nodes}"), Role::Fits),
            (Some((node, _)), n) => (format!("violated by {} on {node}", text::count(n, "victim")), Role::Violation),
            (None, _) => (format!("would be violated on {nodes}"), Role::Violation),
        }
    }
}

/// Returns all budgets by namespace and name, by default those first that the preemption under the cursor would violate.
fn rows(input: &PageInput<'_>, filter: &mut Filter) -> Vec<PageRow> {
    let cluster = &input.timeline.moment().cluster;
    let mut rows = PageRows::new(input.width, filter);
    if cluster.unknown.budgets {
        let why = budgets_unknown_because(cluster.unknown);
        rows.note(format!("? {why}: whether an eviction violates one is unknown"));
    } else if cluster.pod_disruption_budgets.is_empty() {
        rows.note("there are no budgets: evictions violate none");
    }
    let preemption = input.timeline.cycle().preemption.as_ref();
    let harms = preemption.map(harms).unwrap_or_default();
    let names: Vec<String> = cluster.pod_disruption_budgets.iter().take(SOME).map(|b| format!("  {}", b.metadata.key())).collect();
    let columns: Arc<[Column]> = columns(input.width, &names);
    if !cluster.pod_disruption_budgets.is_empty() {
        rows.titles(&columns);
    }
    let mut budgets: Vec<_> = cluster.pod_disruption_budgets.iter().collect();
    match input.order {
        // They are sorted by namespace and name.
        Sort::Name => {}
        Sort::Left => budgets.sort_by_key(|b| b.status.disruptions_allowed),
        _ => budgets.sort_by_cached_key(|b| !harms.contains_key(&b.metadata.key())),
    }
    for budget in budgets {
        let key = budget.metadata.key();
        let open = input.open.contains(&key);
        let allowed = budget.status.disruptions_allowed;
        let role = if allowed > 0 { Role::Fits } else { Role::Violation };
        let said = match (harms.get(&key), preemption) {
            (Some(harm), Some(preemption)) => harm.words(preemption),
            (None, Some(preemption)) if preemption.selected().is_some() => ("kept".to_owned(), Role::Fits),
            (None, Some(preemption)) if preemption.begun_dry_runs() == 0 => ("no pod is to be evicted".to_owned(), Role::Muted),
            (None, Some(_)) => ("not touched so far".to_owned(), Role::Muted),
            (_, None) => (String::new(), Role::Muted),
        };
        let which = budget.usable_selector().map_or_else(|| "no pods".to_owned(), selector);
        let mut cells = vec![
            signed(if open { Sign::Open } else { Sign::Closed }, key.to_string(), Role::Text),
            cell(allowed.to_string(), role),
            cell(said.0, said.1),
            cell(which, Role::Muted),
        ];
        cells.truncate(columns.len());
        rows.cells(RowId::Budget(key), &columns, cells);
        if open {
            pods(input, budget, &mut rows);
        }
    }
    rows.done()
}

/// The number of names from which the width of their column is taken.
const SOME: usize = 200;

fn columns(width: usize, names: &[String]) -> Arc<[Column]> {
    let name = fit("  BUDGET", (width * 2 / 5) as u16, names.iter().map(String::as_str));
    let mut columns = vec![
        left("  BUDGET", name).by(Sort::Name),
        right("MAY DISRUPT", Width::Fixed(11)).by(Sort::Left),
        left("THIS PREEMPTION", Width::Rest).by(Sort::Usual),
    ];
    if width >= 100 {
        columns.push(left("COVERS", Width::Rest));
    }
    columns.into()
}

/// Returns the effect of the dry runs so far on budgets: a pod counts from the step that makes it a victim.
fn harms(preemption: &PreemptionView) -> BTreeMap<Key, BudgetImpact> {
    let mut harms: BTreeMap<Key, BudgetImpact> = BTreeMap::new();
    for run in preemption.dry_runs() {
        let node = run.node();
        let chosen = preemption.selected().is_some_and(|(n, _)| n == node);
        let victims = run.steps().filter_map(|s| if let DryRunStep::NotReprieved(v, _) = s { Some(v) } else { None });
        for victim in victims {
            for violated in victim.violates() {
                let harm =
                    harms.entry(Key { namespace: victim.pod().metadata.namespace.clone(), name: violated.budget.clone() }).or_default();
                harm.on_chosen += usize::from(chosen);
                if harm.nodes.last() != Some(node) {
                    harm.nodes.push(node.clone());
                }
            }
        }
    }
    harms
}

/// Adds the pods that a budget covers.
fn pods(input: &PageInput<'_>, budget: &PodDisruptionBudget, rows: &mut PageRows<'_>) {
    let columns: Arc<[Column]> = [left("    POD", Width::Rest), right("PRIORITY", Width::Fixed(10)), left("NODE", Width::Fixed(30))].into();
    let moment = input.timeline.moment();
    let covered: Vec<&Arc<Pod>> = moment.cluster.pods.in_namespace(&budget.metadata.namespace).filter(|pod| budget.covers(pod)).collect();
    if covered.is_empty() {
        return rows.note("    it covers no pod");
    }
    let chosen = input.timeline.cycle().preemption.as_ref().and_then(PreemptionView::chosen);
    for pod in covered {
        let key = pod.key();
        let goes = chosen.is_some_and(|c| c.victims.iter().any(|v| v.key() == key));
        let disrupted = budget.status.disrupted_pods.contains_key(&pod.metadata.name);
        let (sign, said, role) = match () {
            () if goes => (Sign::Falls, ", a victim", Role::Victim),
            () if disrupted => (Sign::Unseen, ", disrupted already", Role::Warning),
            () => (Sign::Blank, "", Role::Text),
        };
        let node = if pod.node_name.is_empty() { "waiting".to_owned() } else { pod.node_name.to_string() };
        let cells =
            vec![signed(sign, format!("  {key}"), role), cell(pod.priority().to_string(), Role::Text), cell(format!("{node}{said}"), role)];
        rows.cells(RowId::Pod(key), &columns, cells);
    }
}
