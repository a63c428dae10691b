//! The pane of one candidate for preemption: its score at each function, its victims and reprieved pods, and the budgets
//! on its node.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::analysis::{budgets_unknown_because, elimination_of, eliminations, plain_value};
use crate::cluster::{Key, Str};
use crate::framework::{Candidate, DryRunStep, ScoreFunction, ScoreFunctionName, Victim};
use crate::trace::{CycleView, DryRunView, PreemptionView, victim_label};
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, PRIORITY, Width, fit, left, right};
use crate::ui::model::filter::Filter;
use crate::ui::model::list::RowId;
use crate::ui::model::page::PageRows;
use crate::ui::model::page::{Cell, PageInput, PageRow, Sign, cell, signed};
use crate::ui::model::pane::Pane;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::text;
use crate::ui::model::text::{StartTimes, count};
use crate::ui::model::verdict;
use crate::ui::model::verdict::Decision;
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::page;
use crate::ui::view::panes::preemption::started;

pub static DEF: PaneDef = PaneDef {
    sorts: &[SortChoice::new(Sort::Usual, "most important first"), SortChoice::new(Sort::Name, "by name")],
    home: Some(Pane::PREEMPTION),
    is_open: |state| state.arrangement.opened.contains(&Pane::CANDIDATE),
    rows: Rows::Page(|input, subject, filter| match subject {
        Some(RowId::Node(node)) => rows(input, node, filter),
        _ => vec![PageRow::Note("there is no candidate here".to_owned())],
    }),
    columns: |state, _, list, row| page::heading_columns(Pane::CANDIDATE, state, list, row),
    subject: |state, timeline| state.selected_candidate(timeline.cycle()).cloned().map(RowId::Node),
    node: |state, timeline| state.selected_candidate(timeline.cycle()).cloned(),
    of_decision: true,
    ..page::new(Pane::CANDIDATE, ("go-to-candidate", "one candidate: score functions, victims, budgets"))
};

/// Returns the rows for a candidate at the cursor.
fn rows(input: &PageInput<'_>, node: &Str, filter: &mut Filter) -> Vec<PageRow> {
    let mut rows = PageRows::new(input.width, filter);
    let cycle = input.timeline.cycle();
    let Some(preemption) = &cycle.preemption else {
        rows.note(if input.whole.preemption.is_some() { "preemption is not reached yet" } else { "this cycle does not try preemption" });
        return rows.done();
    };
    let run = preemption.dry_run(node);
    let candidate = preemption.candidate(node);
    match candidate {
        Some(candidate) => {
            standing(cycle, preemption, candidate, input.timeline.clock(), &mut rows);
            let victims = candidate.victims.iter().map(|v| (v, true));
            people(("victims", node), cycle, victims, input, &mut rows);
        }
        None => {
            let status = run.and_then(DryRunView::status);
            let words = match status {
                Some(status) => format!("no candidate: {}", status.message()),
                None if run.is_some() => "being tried".to_owned(),
                None => "not dry-run".to_owned(),
            };
            rows.fact("result", words, Role::Unresolvable);
        }
    }
    budgets(input, cycle, node, run, &mut rows);
    if let Some(candidate) = candidate {
        functions(cycle, preemption, candidate, input, &mut rows);
    }
    let steps = run.into_iter().flat_map(DryRunView::steps);
    let kept = steps.filter_map(|s| if let DryRunStep::Reprieved(v) = s { Some((v, false)) } else { None });
    people(("reprieved", node), cycle, kept, input, &mut rows);
    rows.done()
}

fn standing(cycle: &CycleView, preemption: &PreemptionView, candidate: &Candidate, now: Timestamp, rows: &mut PageRows<'_>) {
    let chosen = preemption.selected();
    let fell = preemption.score_functions().iter().find(|f| f.remaining.binary_search(&candidate.node).is_err());
    let (words, role) = match (chosen, fell) {
        (Some((node, _)), _) if *node == candidate.node => {
            let why = match verdict::decision(preemption) {
                Decision::By(name) => format!("decided by {name}: {}", verdict::function_meaning(name)),
                Decision::OnlyOne => "the only candidate".to_owned(),
                Decision::AnyOf(n) => format!("any of {n} would be right; the first by name is taken"),
                Decision::Open => String::new(),
            };
            (format!("chosen, {why}"), Role::Winner)
        }
        (Some((_, best)), _) if best.contains(&candidate.node) => {
            ("as good as the one chosen: kube-scheduler may take either".to_owned(), Role::Winner)
        }
        (_, Some(function)) => {
            let own = elimination_of(preemption, &candidate.node, &|both| StartTimes::write_both(now, both));
            let why = own.map_or_else(
                || verdict::function_meaning(function.name).to_owned(),
                |e| format!("{}, on {} {}", e.value, e.best, e.best_value),
            );
            (format!("eliminated by {}: {why}", function.name), Role::Fallen)
        }
        _ => ("still in the running".to_owned(), Role::Text),
    };
    rows.fact("result", words, role);
    let violations = match candidate.pdb_violations {
        0 if cycle.budgets_unknown() => "whether that violates a budget is unknown".to_owned(),
        0 => "no budget is violated".to_owned(),
        1 => "1 of them violates a budget".to_owned(),
        n => format!("{n} of them violate a budget"),
    };
    let victims = count(candidate.victims.len(), "pod");
    let words = match candidate.victims.len() {
        1 if candidate.pdb_violations == 1 => "1 pod, which violates a budget".to_owned(),
        _ => format!("{victims}; {violations}"),
    };
    rows.fact("evicts", words, if candidate.pdb_violations > 0 { Role::Violation } else { Role::Text });
}

fn functions(cycle: &CycleView, preemption: &PreemptionView, candidate: &Candidate, input: &PageInput<'_>, rows: &mut PageRows<'_>) {
    let now = input.timeline.clock();
    let times = |both| StartTimes::write_both(now, both);
    let width = input.width;
    let compared: Vec<Compared> = preemption.score_functions().iter().map(|f| Compared::of(preemption, f, candidate)).collect();
    let columns = function_columns(width, now, &compared);
    let form = Compared::start_times(now, &compared);
    rows.heading("tie-break");
    if preemption.score_functions().is_empty() {
        return rows.note("no score function was called: there is one candidate");
    }
    rows.titles(&columns);
    let eliminations = eliminations(preemption, &times);
    let own_fall = elimination_of(preemption, &candidate.node, &times);
    for (function, Compared { own, best, .. }) in preemption.score_functions().iter().zip(compared) {
        let Some(own) = own else {
            let mut cells = vec![signed(Sign::Unseen, function.name.to_string(), Role::Ahead), cell("eliminated earlier", Role::Ahead)];
            cells.extend(best.map(|b| cell(value(function.name, b, form), Role::Ahead)));
            rows.cells(RowId::Line("function", function.name as usize), &columns, cells);
            continue;
        };
        let stays = function.remaining.binary_search(&candidate.node).is_ok();
        let decides = verdict::decision(preemption) == Decision::By(function.name);
        let (sign, role) = match (stays, decides) {
            (true, true) => (Sign::Winner, Role::Winner),
            (true, false) => (Sign::Stays, Role::Fits),
            (false, _) => (Sign::Falls, Role::Unresolvable),
        };
        let unknown = function.name == ScoreFunctionName::MinNumPDBViolations && own == 0 && cycle.budgets_unknown();
        let here = if unknown { cell("?", Role::Warning) } else { cell(value(function.name, own, form), role) };
        let mut cells = vec![signed(sign, function.name.to_string(), role), here];
        cells.push(cell(best.map(|b| value(function.name, b, form)).unwrap_or_default(), Role::Muted));
        cells.push(cell(verdict::function_meaning(function.name), Role::Muted));
        cells.truncate(columns.len());
        rows.cells(RowId::Line("function", function.name as usize), &columns, cells);
        let said = if stays { eliminations.iter().find(|e| e.function == function.name) } else { own_fall.as_ref() };
        if let Some(elimination) = said {
            let [_, _, sentence, ..] = elimination.sentences();
            for line in text::wrap(&sentence, width.saturating_sub(4).max(16)) {
                rows.note(format!("    {line}"));
            }
        }
    }
}

/// The values that a function compares: of the candidate, and the best of the others.
struct Compared {
    name: ScoreFunctionName,
    own: Option<i64>,
    best: Option<i64>,
}

impl Compared {
    fn of(preemption: &PreemptionView, function: &ScoreFunction, candidate: &Candidate) -> Self {
        let others = function.scores.iter().filter(|(node, _)| *node != candidate.node);
        let best = others.max_by_key(|(_, score)| *score).and_then(|(node, _)| preemption.candidate(node));
        Self { name: function.name, own: plain_value(function, candidate), best: best.and_then(|best| plain_value(function, best)) }
    }

    fn values(&self) -> impl Iterator<Item = i64> {
        self.own.into_iter().chain(self.best)
    }

    /// Returns the form of the start times that are compared.
    fn start_times(now: Timestamp, all: &[Self]) -> StartTimes {
        let started = all.iter().filter(|compared| compared.name == ScoreFunctionName::LatestStartTime);
        StartTimes::of(now, started.flat_map(Self::values))
    }
}

/// Returns the columns of the score functions: as wide as their values, and at least as a sum of priorities usually is.
fn function_columns(width: usize, now: Timestamp, compared: &[Compared]) -> Arc<[Column]> {
    const ELIMINATED: u16 = 18;
    const USUAL: u16 = 14;
    let form = Compared::start_times(now, compared);
    let widest = compared.iter().flat_map(|c| c.values().map(|v| text::columns(&value(c.name, v, form)))).max();
    let values = |least: u16| Width::Fixed(widest.unwrap_or(0).max(least));
    let mut columns = vec![left("SCORE FUNCTION", Width::Fixed(22)), right("HERE", values(ELIMINATED)), right("BEST OTHER", values(USUAL))];
    if width >= 80 {
        columns.push(left("", Width::Rest));
    }
    columns.into()
}

/// Formats the value that a function compares.
pub fn value(name: ScoreFunctionName, value: i64, form: StartTimes) -> String {
    match name {
        ScoreFunctionName::LatestStartTime => form.write(value),
        _ => value.to_string(),
    }
}

fn people<'v>(
    (what, node): (&'static str, &Str),
    cycle: &CycleView,
    victims: impl Iterator<Item = (&'v Victim, bool)>,
    input: &PageInput<'_>,
    rows: &mut PageRows<'_>,
) {
    let width = input.width;
    let mut all: Vec<_> = victims.collect();
    if input.order == Sort::Name {
        all.sort_by_cached_key(|(victim, _)| victim.key());
    }
    let name = |v: &Victim| if v.group().is_some() { victim_label(v, node) } else { v.key().to_string() };
    let names: Vec<String> = all.iter().map(|(v, _)| format!("  {}", name(v))).collect();
    let name = fit("POD", (width * 5 / 9).max(20) as u16, names.iter().map(String::as_str));
    let wide = width >= WIDE;
    let clock = input.timeline.clock();
    let form = StartTimes::of(clock, all.iter().filter_map(|(victim, _)| victim.start_time()));
    let started = |victim: &Victim| started(victim, form);
    let times: Vec<String> = all.iter().map(|(victim, _)| started(victim)).collect();
    let mut columns = vec![left("POD", name).by(Sort::Name), right("PRIORITY", PRIORITY).by(Sort::Usual), left("BUDGET", Width::Rest)];
    if wide {
        columns.extend([
            left("STARTED", fit("STARTED", 19, times.iter().map(String::as_str).chain(["00:00:00"]))),
            left("OWNER", Width::Fixed(34)),
        ]);
    }
    let columns: Arc<[Column]> = columns.into();
    rows.heading(format!("{what} ({})", all.len()));
    if all.is_empty() {
        return rows.note("none");
    }
    rows.titles(&columns);
    for (victim, goes) in all {
        let (sign, role) = if goes { (Sign::Falls, Role::Victim) } else { (Sign::Stays, Role::Fits) };
        let started = started(victim);
        let owner = victim.owner().unwrap_or_else(|| "no controller".to_owned());
        let mut cells = vec![
            signed(sign, victim_label(victim, node), role),
            cell(victim.priority().to_string(), Role::Text),
            budget(cycle, victim, goes),
        ];
        let below = format!("  started {started}, {owner}");
        if wide {
            cells.extend([cell(started, Role::Muted), cell(owner, Role::Muted)]);
        }
        rows.cells(RowId::Pod(victim.key()), &columns, cells);
        if !wide {
            rows.note(below);
        }
    }
}

/// The width from which a victim takes one row.
const WIDE: usize = 110;

/// Returns the effect of a victim, or of a reprieved pod, on its budgets.
fn budget(cycle: &CycleView, victim: &Victim, goes: bool) -> Cell {
    let names = |all: Vec<String>| all.join(", ");
    let covered: Vec<String> = victim.covered_by().map(ToString::to_string).collect();
    if victim.violates_any() {
        let (verb, role) = if goes { ("violates", Role::Violation) } else { ("would violate", Role::Muted) };
        let all = victim.violates().map(|b| format!("{verb} {} (allows {})", b.budget, b.allowed)).collect();
        signed(Sign::Failed, names(all), role)
    } else if !covered.is_empty() {
        signed(Sign::Stays, format!("{} allows", names(covered)), Role::Fits)
    } else if cycle.budgets_unknown() {
        cell("? unknown", Role::Warning)
    } else {
        cell("no budget", Role::Muted)
    }
}

/// The count of a budget in the dry run of a node.
#[derive(Default)]
struct Count {
    touched: usize,
    violated_by: Vec<Key>,
    /// Reprieved pods whose eviction would violate it.
    would: Vec<Key>,
    victims: usize,
}

/// Adds the budgets that cover a pod removed in the dry run: allowed disruptions, and the victims that violate it. Counts
/// all removed pods, reprieved ones too, as kube-scheduler does.
fn budgets(input: &PageInput<'_>, cycle: &CycleView, node: &Str, run: Option<DryRunView<'_>>, rows: &mut PageRows<'_>) {
    rows.heading("budgets on this node");
    if cycle.budgets_unknown() {
        return rows.note(format!("? unknown: {}", budgets_unknown_because(cycle.missing())));
    }
    let mut counts: BTreeMap<Key, Count> = BTreeMap::new();
    for step in run.into_iter().flat_map(DryRunView::steps) {
        let (victim, goes) = match step {
            DryRunStep::Reprieved(victim) => (victim, false),
            DryRunStep::NotReprieved(victim, _) => (victim, true),
            DryRunStep::Removed(_) | DryRunStep::Filtered(_) => continue,
        };
        let pod = victim.key();
        let key = |name: &Str| Key { namespace: pod.namespace.clone(), name: name.clone() };
        for name in victim.covered_by().chain(victim.violates().map(|b| b.budget)) {
            let count = counts.entry(key(name)).or_default();
            count.touched += 1;
            count.victims += usize::from(goes);
        }
        for violated in victim.violates() {
            let count = counts.entry(key(violated.budget)).or_default();
            if goes { &mut count.violated_by } else { &mut count.would }.push(pod.clone());
        }
    }
    if counts.is_empty() {
        return rows.note(format!("no budget covers a pod of lower priority on {node}"));
    }
    let columns: Arc<[Column]> = [
        left("BUDGET", Width::Rest),
        right("ALLOWED", Width::Fixed(8)),
        right("COVERS", Width::Fixed(6)),
        right("EVICTED", Width::Fixed(7)),
        left("VIOLATED BY", Width::Rest),
    ]
    .into();
    rows.titles(&columns);
    for (key, count) in counts {
        let known = input.timeline.keyframe().cluster.pod_disruption_budgets.get(&key);
        let left = known.map_or_else(|| "?".to_owned(), |b| b.status.disruptions_allowed.to_string());
        let violated = !count.violated_by.is_empty();
        let (sign, role) = if violated { (Sign::Failed, Role::Violation) } else { (Sign::Stays, Role::Fits) };
        let names = |keys: &[Key]| keys.iter().map(|k| k.name.to_string()).collect::<Vec<_>>().join(", ");
        let by = match (violated, count.would.is_empty()) {
            (true, _) => names(&count.violated_by),
            (false, true) => "none".to_owned(),
            (false, false) => format!("none: {} is reprieved", names(&count.would)),
        };
        let cells = vec![
            signed(sign, key.to_string(), role),
            cell(left, role),
            cell(count.touched.to_string(), Role::Text),
            cell(count.victims.to_string(), Role::Text),
            cell(by, role),
        ];
        rows.cells(RowId::Budget(key), &columns, cells);
    }
}
