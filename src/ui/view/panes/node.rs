//! The pane of one node: verdict, scores, dry run in order, all Filter plugins, and its pods.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::cluster::{Key, PodDisruptionBudget, Str};
use crate::framework::{BudgetSelector, DryRunStep, NodeInfo, PodInfo};
use crate::session::Timeline;
use crate::trace::DryRunView;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, PRIORITY, Width, left, right};
use crate::ui::model::list::Row as _;
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::{NodePaneRow, dry_run_says};
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::text::StartTimes;
use crate::ui::model::verdict::Class;
use crate::ui::model::{rows, text, time_travel};
use crate::ui::view::draw::Scene;
use crate::ui::view::layout::Plan;
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::nodes;
use crate::ui::view::panes::preemption::{budget, no_budget, pod_line, victim_line};
use crate::ui::view::widgets::table;

/// The context of its keys.
pub const CONTEXT: Context = Context::pane("node", "On a node");

pub static DEF: PaneDef = PaneDef {
    open_help: Some(("pod", "show the selected pod")),
    back_help: Some("back to where the node was opened"),
    sort_help: "sort its pods: least important first, priority, name, cpu request",
    sorts: &[
        SortChoice::new(Sort::Usual, "least important first"),
        SortChoice::new(Sort::Priority, "by priority"),
        SortChoice::new(Sort::Name, "by name"),
        SortChoice::new(Sort::Request, "by cpu request"),
    ],
    home: Some(Pane::NODES),
    is_open: |state| state.subjects.node.is_some(),
    tab: |state| state.subjects.node.as_ref().map(ToString::to_string).unwrap_or_default(),
    rows: Rows::List { make, get: |model| &model.rows.node_pane },
    columns: heading_columns,
    subject: |state, _| state.subjects.node.clone().map(RowId::Node),
    node: |state, _| state.subjects.node.clone(),
    visit,
    open: |state, _| {
        if let Some(RowId::Pod(pod)) = state.list(Pane::NODE).selected.clone() {
            state.open_pod(pod);
        }
    },
    ..PaneDef::new(Pane::NODE, CONTEXT, ("go-to-node", "one node"), draw)
};

fn make(state: &mut State, timeline: &Timeline) {
    let cycle = timeline.cycle();
    let node = state.subjects.node.as_ref().and_then(|n| timeline.keyframe().snapshot.get(n));
    state.view_model.rows.node_pane = node.map_or_else(Vec::new, |node| {
        let filters = state.view_model.open_node.filters_at(timeline, state.subjects.node.as_ref()).filter(|_| cycle.start.is_some());
        rows::node_pane_rows(node, timeline.keyframe(), cycle, filters, state.sort_of(Pane::NODE), &mut state.row_filter(Pane::NODE))
    });
}

fn heading_columns(state: &State, timeline: &Timeline, list: Rect, row: u16) -> Option<Vec<Column>> {
    let at = state.list(Pane::NODE).offset + usize::from(row.checked_sub(list.y)?);
    let heading = matches!(state.view_model.rows.node_pane.get(at)?, NodePaneRow::Heading("pods on the node"));
    let info = state.subjects.node.as_ref().and_then(|node| timeline.keyframe().snapshot.get(node));
    info.filter(|_| heading).map(|info| pod_columns(info, timeline.clock(), list.width))
}

/// Goes to the open node, or opens the node that the focused pane is about.
fn visit(def: &PaneDef, state: &mut State, timeline: &Timeline) {
    if state.subjects.node.is_some() {
        time_travel::pin(state, timeline, def.id);
        state.show(def.id);
        state.focus = def.id;
    } else {
        let about = (super::def(state.focus).node)(state, timeline);
        open_best(state, timeline, about);
    }
}

/// Opens a node; without one, the node of the event at the cursor, the node that was open, or the first one.
pub fn open_best(state: &mut State, timeline: &Timeline, node: Option<Str>) {
    let node = node
        .or_else(|| timeline.cycle().current_node.clone())
        .or_else(|| state.subjects.node.clone())
        .or_else(|| timeline.keyframe().snapshot.nodes().first().map(|n| n.name().clone()));
    match node {
        Some(node) => {
            state.arrangement.pinned = Some(timeline.cursor().revision);
            state.open_node(node);
        }
        None => state.say("there is no node to show"),
    }
}

/// Draws the node.
fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let info = scene.state.subjects.node.as_ref().and_then(|n| scene.timeline.keyframe().snapshot.get(n));
    let name = scene.state.subjects.node.as_ref().map(ToString::to_string).unwrap_or_default();
    def.chrome(scene, plan, def.title(scene, format!("Node {name}")), Vec::new(), buf);
    let list = def.list_in(plan);
    let Some(info) = info else {
        let open = || scene.state.settings.keymap.label(nodes::CONTEXT, &Action::OPEN);
        let absent = || "the node does not exist at this point".to_owned();
        let words = if name.is_empty() { format!("no node is open: {} on one opens it", open()) } else { absent() };
        return scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
    };
    let now = scene.timeline.clock();
    let run = scene.cycle().preemption.as_ref().and_then(|p| p.dry_run(info.name()));
    let pods = PodTable { info, run, columns: pod_columns(info, now, list.width), form: start_times(info, now) };
    def.extent(scene, plan, buf);
    def.foot(scene, plan, &totals(scene, info), buf);
    for (i, row) in
        scene.state.view_model.rows.node_pane.iter().skip(scene.state.list(Pane::NODE).offset).take(usize::from(list.height)).enumerate()
    {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            NodePaneRow::Heading(words) if *words == "pods on the node" => table::heading(scene, &pods.columns, area, buf),
            NodePaneRow::Heading(words) => scene.line(buf, area, &Line::from(scene.span(Role::Column, words.to_uppercase()))),
            NodePaneRow::Fact(name, value) => {
                let line = Line::from(vec![scene.span(Role::Muted, format!("{name:<11}  ")), scene.span(Role::Text, value.as_str())]);
                scene.line(buf, area, &line);
            }
            NodePaneRow::Score(index) => score(scene, info, *index, area, buf),
            NodePaneRow::Filter(index) => filter(scene, *index, area, buf),
            NodePaneRow::Step(index) => {
                if let Some(step) = run.and_then(|r| r.step(*index)) {
                    scene.line(buf, area, &Line::from(step_line(scene, step)));
                }
            }
            NodePaneRow::Device(_, suits, words) => {
                let role = if *suits { Role::Fits } else { Role::Text };
                scene.line(buf, area, &Line::from(scene.span(role, format!("  {words}"))));
            }
            NodePaneRow::Line { warns, text, .. } => {
                let role = if *warns { Role::Warning } else { Role::Text };
                scene.line(buf, area, &Line::from(scene.span(role, format!("  {text}"))));
            }
            NodePaneRow::Budget(_, words) => scene.line(buf, area, &Line::from(scene.span(Role::Text, format!("  {words}")))),
            NodePaneRow::Pod(key) => pods.draw(scene, key, area, buf),
            NodePaneRow::Note(words) => scene.line(buf, area, &Line::from(scene.span(Role::Muted, *words))),
        }
        let selected = scene.state.list(Pane::NODE).selected.as_ref().is_some_and(|id| row.is(id));
        let focused = scene.state.focus == Pane::NODE;
        table::mark(scene, area, selected, focused, buf);
        if !focused && matches!(row, NodePaneRow::Pod(key) if scene.state.view_model.linked.rows.contains(&RowId::Pod(key.clone()))) {
            table::link(area, buf);
        }
    }
}

/// Returns what the node has free, and its number of pods, the longest form first.
fn totals(scene: &Scene<'_>, info: &NodeInfo) -> [String; 3] {
    let (used, all) = (&info.requested, &info.allocatable);
    let cpu = format!("cpu {}/{}", text::cpu(all.milli_cpu - used.milli_cpu), text::cpu(all.milli_cpu));
    let memory = format!("mem {}/{}", text::memory(all.memory - used.memory), text::memory(all.memory));
    let (dot, pods) = (scene.glyphs.dot, text::count(info.pods.len(), "pod"));
    [format!("{cpu} free {dot} {memory} free {dot} {pods}"), format!("{cpu} {dot} {memory} free"), format!("{cpu} free")]
}

fn score(scene: &Scene<'_>, info: &NodeInfo, index: usize, area: Rect, buf: &mut Buffer) {
    let Some(score) = scene.cycle().scoring.scores.get(info.name()) else { return };
    let Some(plugin) = score.plugins.get(index) else { return };
    let mut spans = vec![
        scene.span(Role::Text, format!("  {:<32}", plugin.plugin.to_string())),
        scene.span(Role::Muted, format!("raw {:>6}  normalised {:>3}  weighted ", plugin.raw, plugin.normalized)),
        scene.span(Role::Strong, format!("{:>4}", plugin.weighted)),
    ];
    if index + 1 == score.plugins.len() {
        spans.push(scene.span(Role::Winner, format!("   total {}", score.total)));
    }
    scene.line(buf, area, &Line::from(spans));
}

/// Draws a Filter plugin's answer and its effect on the cycle, which stops at the first rejection.
fn filter(scene: &Scene<'_>, index: usize, area: Rect, buf: &mut Buffer) {
    let Some(filters) = &scene.state.view_model.open_node.filters else { return };
    let Some((plugin, status)) = filters.answers.get(index) else { return };
    let name = format!("{:<32}", plugin.to_string());
    if status.is_skip() {
        let words = format!("  {} {name}skipped: nothing to check", scene.glyphs.unseen);
        return scene.line(buf, area, &Line::from(scene.span(Role::Muted, words)));
    }
    let (sign, role) = scene.verdict(Class::of(status));
    let mut spans =
        vec![scene.span(role, format!("  {sign} ")), scene.span(Role::Text, name), scene.span(Role::Text, status.message_with_fact())];
    if !status.is_success() {
        let asked =
            scene.state.subjects.node.as_ref().is_some_and(|node| scene.state.view_model.cycle.whole.filter.verdicts.contains_key(node));
        let first = filters.answers[..index].iter().all(|(_, s)| s.is_success() || s.is_skip());
        let words = match () {
            () if !first => "  would also fail",
            () if !asked => "  would fail",
            () => "  stops here",
        };
        spans.push(scene.span(Role::Muted, words));
    }
    scene.line(buf, area, &Line::from(spans));
}

fn step_line(scene: &Scene<'_>, step: DryRunStep<'_>) -> Vec<Span<'static>> {
    let (sign, role, word) = match step {
        DryRunStep::Removed(_) => (scene.glyphs.dash, Role::Muted, "removed"),
        DryRunStep::Filtered(status) if status.is_success() => (scene.glyphs.fits, Role::Fits, "filtered"),
        DryRunStep::Filtered(_) => (scene.glyphs.unschedulable, Role::Unresolvable, "filtered"),
        DryRunStep::Reprieved(_) => (scene.glyphs.stays, Role::Fits, "reprieved"),
        DryRunStep::NotReprieved(..) => (scene.glyphs.falls, Role::Victim, "victim"),
    };
    let mut spans = vec![scene.span(role, format!("  {sign} {word:<10} "))];
    match step {
        DryRunStep::Removed(pod) => spans.extend(pod_line(scene, pod)),
        DryRunStep::Reprieved(victim) => spans.extend(victim_line(scene, victim)),
        DryRunStep::Filtered(status) if status.is_success() => spans.push(scene.span(Role::Text, "the pod fits without them")),
        DryRunStep::Filtered(status) => spans.push(scene.span(Role::Text, format!("even without them: {}", status.message()))),
        DryRunStep::NotReprieved(victim, status) => {
            spans.extend(victim_line(scene, victim));
            spans.push(scene.span(Role::Muted, format!("  with it: {}", status.message())));
        }
    }
    spans
}

/// Returns the form of the start times of the node's pods.
fn start_times(info: &NodeInfo, now: Timestamp) -> StartTimes {
    StartTimes::of(now, info.pods.iter().filter_map(|pod| pod.start_time()))
}

/// Returns the columns of the node's pods.
fn pod_columns(info: &NodeInfo, now: Timestamp, width: u16) -> Vec<Column> {
    let longest =
        info.pods.iter().map(|p| text::width(&p.pod.metadata.namespace) + text::width(&p.pod.metadata.name) + 3).max().unwrap_or(0);
    let name = if width >= 120 { Width::Fixed((longest as u16).clamp(18, 64)) } else { Width::Rest };
    let mut columns = vec![left("  PODS ON THE NODE", name).by(Sort::Name), right("PRIORITY", PRIORITY).by(Sort::Priority)];
    if width >= 70 {
        columns.extend([right("CPU", Width::Fixed(6)).by(Sort::Request), right("MEM", Width::Fixed(7))]);
    }
    if width >= 60 {
        columns.push(left("DRY RUN", Width::Fixed(9)));
    }
    if width >= 84 {
        columns.push(left(BUDGET, Width::Fixed(22)));
    }
    if width >= 100 {
        let widest = text::columns(&start_times(info, now).write(0));
        columns.push(left("STARTED", Width::Fixed(widest)));
    }
    columns
}

/// Returns the budgets that cover a pod about which the dry run has said nothing, with the disruptions that they allow: the one
/// that allows fewest, and the number of the others.
fn allowed(scene: &Scene<'_>, pod: &PodInfo, room: usize) -> Vec<Span<'static>> {
    let budgets = scene.timeline.keyframe().snapshot.budgets().in_namespace(&pod.pod.metadata.namespace);
    let covering = budgets.iter().filter(|budget| pod.is_labelled() && budget.matches(pod)).map(BudgetSelector::budget);
    let (mut least, mut others) = (None::<&PodDisruptionBudget>, 0);
    for budget in covering {
        others += usize::from(least.is_some());
        least = Some(least.filter(|least| least.status.disruptions_allowed <= budget.status.disruptions_allowed).unwrap_or(budget));
    }
    let Some(least) = least else { return no_budget(scene) };
    let more = if others == 0 { String::new() } else { format!(" +{others}") };
    let words = format!("{more} allows {}", least.status.disruptions_allowed);
    let name = text::clip_middle(&least.metadata.name, room.saturating_sub(text::width(&words)), scene.glyphs.ellipsis);
    let role = if least.status.disruptions_allowed > 0 { Role::Muted } else { Role::Violation };
    vec![scene.span(role, format!("{name}{words}"))]
}

/// The heading of the column of budgets.
const BUDGET: &str = "BUDGET";

/// The table of the node's pods.
struct PodTable<'a> {
    info: &'a NodeInfo,
    run: Option<DryRunView<'a>>,
    columns: Vec<Column>,
    form: StartTimes,
}

impl PodTable<'_> {
    /// Draws the row of a pod.
    fn draw(&self, scene: &Scene<'_>, key: &Key, area: Rect, buf: &mut Buffer) {
        let Some(pod) = self.info.pods.iter().find(|p| p.pod.metadata.name == key.name && p.pod.metadata.namespace == key.namespace) else {
            return;
        };
        let said = self.run.and_then(|r| dry_run_says(r, key));
        let (sign, role, word) = match said {
            Some(DryRunStep::NotReprieved(..)) => (scene.glyphs.falls, Role::Victim, "victim"),
            Some(DryRunStep::Reprieved(_)) => (scene.glyphs.stays, Role::Fits, "reprieved"),
            Some(DryRunStep::Removed(_)) => (scene.glyphs.dash, Role::Muted, "removed"),
            _ => (" ", Role::Text, ""),
        };
        let room =
            self.columns.iter().find(|c| c.title == BUDGET).map_or(0, |c| if let Width::Fixed(n) = c.width { usize::from(n) } else { 0 });
        let said_of_budgets = match said.and_then(DryRunStep::put_back) {
            Some(victim) => budget(scene, victim),
            None if room == 0 => Vec::new(),
            None => allowed(scene, pod, room),
        };
        let going = if pod.pod.is_terminating() { " (terminating)" } else { "" };
        let started = pod.start_time().map_or_else(|| scene.glyphs.dash.to_owned(), |at| self.form.write(at));
        let all = [
            ("  PODS ON THE NODE", vec![scene.span(role, format!("{sign} ")), scene.span(Role::Text, format!("{key}{going}"))]),
            ("PRIORITY", vec![scene.span(Role::Text, pod.pod.priority().to_string())]),
            ("CPU", vec![scene.span(Role::Text, text::cpu(pod.resource.resource.milli_cpu))]),
            ("MEM", vec![scene.span(Role::Text, text::memory(pod.resource.resource.memory))]),
            ("DRY RUN", vec![scene.span(role, word)]),
            (BUDGET, said_of_budgets),
            ("STARTED", vec![scene.span(Role::Muted, started)]),
        ];
        let cells: Vec<Vec<Span<'_>>> =
            self.columns.iter().filter_map(|c| all.iter().find(|(title, _)| *title == c.title).map(|(_, cell)| cell.clone())).collect();
        table::row(scene, &self.columns, area, &cells, buf);
    }
}
