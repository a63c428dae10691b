//! The pane of all budgets: disruptions allowed, pods covered, and the effect of the preemption under the cursor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analysis::{BudgetEvictions, budgets_unknown_because, evictions};
use crate::cluster::{ALWAYS_ALLOW, Key, Pod, PodDisruptionBudget, Str};
use crate::framework::DryRunStep;
use crate::trace::PreemptionView;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, PRIORITY, Width, fit, left, right};
use crate::ui::model::filter::Filter;
use crate::ui::model::list::RowId;
use crate::ui::model::page::PageRows;
use crate::ui::model::page::{Cell, PageInput, PageRow, Sign, cell, signed};
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::page;
use crate::ui::view::panes::pod::selector;

pub static DEF: PaneDef = PaneDef {
    sorts: &[
        SortChoice::new(Sort::Usual, "violated first"),
        SortChoice::new(Sort::Name, "by name"),
        SortChoice::new(Sort::Left, "fewest left first"),
    ],
    home: Some(Pane::PREEMPTION),
    is_open: |state| state.arrangement.opened.contains(&Pane::BUDGETS),
    rows: Rows::Page(|input, _, filter| rows(input, filter)),
    columns: |state, _, list, row| page::heading_columns(Pane::BUDGETS, state, list, row),
    open,
    ..page::new(Pane::BUDGETS, ("go-to-budgets", "all budgets, and what preemption does to them"))
};

/// Expands or collapses the selected budget, or opens the selected pod.
fn open(state: &mut State, session: &mut dyn SessionHandle) {
    match state.list(Pane::BUDGETS).selected.clone() {
        Some(RowId::Budget(key)) => {
            if !state.choices.open_budgets.remove(&key) {
                state.choices.open_budgets.insert(key);
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
    /// The victims that violate it.
    pods: BTreeSet<Key>,
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
    let cluster = &input.timeline.keyframe().cluster;
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
            (None, Some(preemption)) if preemption.begun_dry_runs() == 0 => ("no pod would be evicted".to_owned(), Role::Muted),
            (None, Some(_)) => ("not touched so far".to_owned(), Role::Muted),
            (_, None) => (String::new(), Role::Muted),
        };
        let which = budget.usable_selector().map_or_else(|| "no pods".to_owned(), selector);
        let all = [
            ("  BUDGET", signed(if open { Sign::Open } else { Sign::Closed }, key.to_string(), Role::Text)),
            (RULE, cell(rule(budget), Role::Text)),
            (HEALTHY, cell(healthy(budget), Role::Text)),
            (ALLOWED, cell(allowed.to_string(), role)),
            (EFFECT, cell(said.0, said.1)),
            ("COVERS", cell(which, Role::Muted)),
        ];
        let shown = |title: &&'static str| columns.iter().any(|column| column.title == *title);
        let cells = all.into_iter().filter(|(title, _)| shown(title)).map(|(_, cell)| cell).collect();
        rows.cells(RowId::Budget(key), &columns, cells);
        if open {
            facts(budget, input.width, &mut rows);
            pods(input, budget, harms.get(&budget.metadata.key()), &mut rows);
        }
    }
    rows.done()
}

/// The number of names from which the width of their column is taken.
const SOME: usize = 200;

const RULE: &str = "RULE";
const HEALTHY: &str = "HEALTHY";
const ALLOWED: &str = "ALLOWED";
const EFFECT: &str = "THIS PREEMPTION";

fn columns(width: usize, names: &[String]) -> Arc<[Column]> {
    let name = fit("  BUDGET", (width * 2 / 5) as u16, names.iter().map(String::as_str));
    let mut columns = vec![left("  BUDGET", name).by(Sort::Name)];
    if width >= 110 {
        columns.push(left(RULE, Width::Fixed(19)));
    }
    if width >= 76 {
        columns.push(right(HEALTHY, Width::Fixed(8)));
    }
    columns.extend([right(ALLOWED, Width::Fixed(7)).by(Sort::Left), left(EFFECT, Width::Rest).by(Sort::Usual)]);
    if width >= 110 {
        columns.push(left("COVERS", Width::Rest));
    }
    columns.into()
}

/// Returns what the budget demands: `minAvailable 2`.
fn rule(budget: &PodDisruptionBudget) -> String {
    match (&budget.spec.min_available, &budget.spec.max_unavailable) {
        (Some(min), None) => format!("minAvailable {min}"),
        (None, Some(max)) => format!("maxUnavailable {max}"),
        (Some(min), Some(max)) => format!("minAvailable {min}, maxUnavailable {max}"),
        (None, None) => "not stated".to_owned(),
    }
}

/// Returns the healthy pods of those expected, `?` for numbers that the status does not state.
fn healthy(budget: &PodDisruptionBudget) -> String {
    let status = &budget.status;
    match status.expected_pods {
        Some(expected) => format!("{} of {expected}", status.current_healthy),
        None if status.current_healthy > 0 => format!("{} of ?", status.current_healthy),
        None => "?".to_owned(),
    }
}

/// Adds the numbers of an open budget.
fn facts(budget: &PodDisruptionBudget, width: usize, rows: &mut PageRows<'_>) {
    let status = &budget.status;
    let healthy = match status.expected_pods {
        Some(expected) => {
            format!("{} expected, {} healthy, {} needed", count(expected), status.current_healthy, status.desired_healthy)
        }
        None if status.current_healthy > 0 => {
            format!("{} healthy, {} needed; how many are expected is not stated", count(status.current_healthy), status.desired_healthy)
        }
        None => "how many pods are expected and healthy is not stated".to_owned(),
    };
    note(format!("{}: {healthy}", rule(budget)), width, rows);
}

/// Adds the policy of an open budget and the pods that it counts as disrupted.
fn policy(budget: &PodDisruptionBudget, width: usize, rows: &mut PageRows<'_>) {
    let status = &budget.status;
    let policy = match budget.spec.unhealthy_pod_eviction_policy.as_deref() {
        Some(ALWAYS_ALLOW) => "AlwaysAllow: unready pods may always be evicted".to_owned(),
        Some(other) => format!("{other}: unready pods may be evicted while enough others are healthy"),
        None => "IfHealthyBudget (the default): unready pods may be evicted while enough others are healthy".to_owned(),
    };
    note(policy, width, rows);
    let disrupted: Vec<&str> = status.disrupted_pods.iter().map(|(name, _)| name.as_str()).take(SOME_PODS).collect();
    if !disrupted.is_empty() {
        let more = status.disrupted_pods.len() - disrupted.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        note(format!("counted as disrupted already: {}{more}", disrupted.join(", ")), width, rows);
    }
}

/// Adds an indented note on as many lines as it takes.
fn note(words: impl AsRef<str>, width: usize, rows: &mut PageRows<'_>) {
    for line in text::wrap(words.as_ref(), width.saturating_sub(4).max(16)) {
        rows.note(format!("    {line}"));
    }
}

fn count(pods: i32) -> String {
    if pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
}

/// Limit on the names in a sentence.
const SOME_PODS: usize = 5;

/// Adds the nodes whose drain the budget stops.
fn drains(input: &PageInput<'_>, budget: &PodDisruptionBudget, covered: &[&Arc<Pod>], rows: &mut PageRows<'_>) {
    let mut nodes: BTreeMap<&Str, Vec<&Pod>> = BTreeMap::new();
    for pod in covered.iter().filter(|pod| !pod.node_name.is_empty()) {
        nodes.entry(&pod.node_name).or_default().push(pod);
    }
    let cluster = &input.timeline.keyframe().cluster;
    let stopped: Vec<(&Str, BudgetEvictions)> = nodes
        .into_iter()
        .filter_map(|(node, pods)| {
            let effect = evictions(cluster, pods).budgets.remove(&budget.metadata.key())?;
            (!effect.stopped.is_empty()).then_some((node, effect))
        })
        .collect();
    if stopped.is_empty() {
        return note("stops the drain of no single node", input.width, rows);
    }
    for (node, effect) in stopped.iter().take(SOME_PODS) {
        note(format!("stops a drain of {node}: {}", effect.sentence()), input.width, rows);
    }
    if stopped.len() > SOME_PODS {
        note(format!("and of {} more", text::count(stopped.len() - SOME_PODS, "node")), input.width, rows);
    }
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
                harm.pods.insert(victim.key());
                if harm.nodes.last() != Some(node) {
                    harm.nodes.push(node.clone());
                }
            }
        }
    }
    harms
}

/// Adds the pods that a budget covers, those that violate it first, and what the budget does to drains.
fn pods(input: &PageInput<'_>, budget: &PodDisruptionBudget, harm: Option<&BudgetImpact>, rows: &mut PageRows<'_>) {
    let keyframe = input.timeline.keyframe();
    let mut covered: Vec<&Arc<Pod>> =
        keyframe.cluster.pods.in_namespace(&budget.metadata.namespace).filter(|pod| budget.covers(pod)).collect();
    if covered.is_empty() {
        rows.note("    it covers no pod");
        return policy(budget, input.width, rows);
    }
    let violates = |pod: &Key| harm.is_some_and(|harm| harm.pods.contains(pod));
    covered.sort_by_cached_key(|pod| !violates(&pod.key()));
    let chosen = input.timeline.cycle().preemption.as_ref().and_then(PreemptionView::chosen);
    let row = |pod: &&Arc<Pod>| {
        let key = pod.key();
        let goes = chosen.is_some_and(|c| c.victims.iter().any(|v| v.key() == key));
        let disrupted = budget.status.disrupted_pods.contains_key(&pod.metadata.name);
        let (sign, said, role) = match () {
            () if goes => (Sign::Falls, ", a victim", Role::Victim),
            () if violates(&key) => (Sign::Failed, ": violates it", Role::Violation),
            () if disrupted => (Sign::Unseen, ", disrupted already", Role::Warning),
            () => (Sign::Blank, "", Role::Text),
        };
        let node = if pod.node_name.is_empty() { "waiting".to_owned() } else { pod.node_name.to_string() };
        let cells =
            [signed(sign, format!("  {key}"), role), cell(pod.priority().to_string(), Role::Text), cell(format!("{node}{said}"), role)];
        (RowId::Pod(key), cells)
    };
    let listed: Vec<(RowId, [Cell; 3])> = covered.iter().map(row).collect();
    let node = fit("NODE", 30, listed.iter().map(|(_, [.., node])| node.text.as_str()));
    let columns: Arc<[Column]> = [left("    POD", Width::Rest), right("PRIORITY", PRIORITY), left("NODE", node)].into();
    for (id, cells) in listed {
        rows.cells(id, &columns, cells.into());
    }
    policy(budget, input.width, rows);
    drains(input, budget, &covered, rows);
}
