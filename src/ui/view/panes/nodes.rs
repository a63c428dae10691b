//! The pane of nodes: each with its verdict for the pod of the cycle and its free resources, or with its scores.

mod groups;

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::{is_chance, odds, odds_cell};
use crate::cluster::{Key, Quantity, Str};
use crate::framework::{NodeInfo, PluginName, Status, taint_text};
use crate::odds::Odds;
use crate::session::Timeline;
use crate::trace::{CycleView, Outcome};
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, Width, fit, left, right};
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::grouping::{Grouping, is_zone};
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::{NodeOptions, NodeRow};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::verdict::{Class, NodeVerdict, Verdicts};
use crate::ui::model::view_model::ViewModel;
use crate::ui::model::view_model::cycle::ReasonWidths;
use crate::ui::model::{rows, text};
use crate::ui::view::draw::Scene;
use crate::ui::view::layout::{Plan, split_top};
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::widgets::{bar, table};

/// The heading of the column of odds.
const ODDS: &str = "ODDS";

/// The context of its keys.
pub const CONTEXT: Context = Context::pane("nodes", "Among the nodes");

pub static DEF: PaneDef = PaneDef {
    open_help: Some(("open", "open the group, or show the node")),
    sort_help: "sort: closest to fitting, name, free cpu, verdict and reason",
    sorts: &[
        SortChoice::new(Sort::Usual, "closest to fitting first"),
        SortChoice::new(Sort::Name, "by name"),
        SortChoice::new(Sort::FreeCpu, "by free cpu"),
        SortChoice::new(Sort::Verdict, "by verdict"),
    ],
    rows: Rows::List { make, get: |model| &*model.rows.nodes },
    fields: rows::NODE_FIELDS,
    total: |_, timeline| Some(timeline.decided_on().snapshot.len()),
    list_area: |_, inner| split_top(inner, 1).1,
    columns: heading_columns,
    node: |state, _| if let Some(RowId::Node(node)) = &state.list(Pane::NODES).selected { Some(node.clone()) } else { None },
    open,
    of_decision: true,
    ..PaneDef::new(Pane::NODES, CONTEXT, ("go-to-nodes", "the nodes"), draw)
};

fn make(state: &mut State, timeline: &Timeline) {
    let (mut filter, order) = (state.row_filter(Pane::NODES), state.sort_of(Pane::NODES));
    let (model, open) = (&mut state.view_model, &state.choices.open_groups);
    if gated(&model.cycle.whole).is_some() {
        model.rows.nodes = Arc::default();
        return;
    }
    let is_filtered = !filter.is_empty();
    let mut make = |model: &ViewModel| {
        let options = NodeOptions { grouping: &model.nodes.grouping, open, order, facts: &model.nodes.facts };
        let of_whole = || model.whole_facts(&timeline.decided_on().snapshot);
        rows::node_rows(timeline, &model.cycle.whole, of_whole, &options, &mut filter)
    };
    if is_filtered {
        model.rows.nodes = make(model).into();
    } else {
        model.list_nodes((model.nodes.grouping.clone(), order, open.clone()), make);
    }
}

/// Returns the pod of a decision that a gate ended before any node was filtered.
fn gated(cycle: &CycleView) -> Option<&Key> {
    cycle.pod().filter(|_| cycle.start.is_none() && cycle.outcome == Some(Outcome::Gated))
}

/// Opens or closes the selected group, or opens the selected node.
fn open(state: &mut State, _: &mut dyn SessionHandle) {
    match state.list(Pane::NODES).selected.clone() {
        Some(RowId::Group(key)) => {
            if !state.choices.open_groups.remove(&key) {
                state.choices.open_groups.insert(key);
            }
            state.touch_rows(Pane::NODES);
        }
        Some(RowId::Node(node)) => state.open_node(node),
        _ => {}
    }
}

/// The requests of the cycle's pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Thousandths of a core; `None` without a request.
    pub cpu: Option<i64>,
    /// Bytes; `None` without a request.
    pub memory: Option<i64>,
}

impl Asked {
    /// Parses the requests in the record of the cycle's start.
    pub fn of(scene: &Scene<'_>) -> Self {
        let find = |name: &str| {
            let start = scene.cycle().start.as_ref()?;
            start.requests.iter().find(|(n, _)| *n == name)?.1.parse::<Quantity>().ok()
        };
        Self { cpu: find("cpu").map(Quantity::milli_value), memory: find("memory").map(Quantity::value) }
    }
}

/// Draws the nodes.
fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let inner = def.chrome(scene, plan, heading(def, scene), counts(scene), buf);
    let list = def.list_in(plan);
    if inner.is_empty() {
        return;
    }
    if let Some(pod) = gated(&scene.state.view_model.cycle.whole) {
        let words = format!("{pod} is gated: no node is filtered for it");
        return scene.line(buf, Rect { height: 1, ..inner }, &Line::from(scene.span(Role::Muted, words)));
    }
    let rows = &scene.state.view_model.rows.nodes;
    let offset = scene.state.list(Pane::NODES).offset;
    def.extent(scene, plan, buf);
    let style = RowStyle::new(scene, list.width);
    // The heading is that of the first visible row: scores above the first rejected node, reasons below.
    let on_top = if scored_on_top(scene.state) { &style.scored } else { &style.plain };
    table::heading(scene, on_top, Rect { height: 1, ..inner }, buf);
    let is_scored = scored_on_top(scene.state);
    // Node, verdict, rank and total come before the plugins, and the odds if there are any.
    let before = 4 + usize::from(style.scored.iter().any(|column| column.title == ODDS));
    let hidden = if is_scored { style.scored.len() < style.plugins.len() + before } else { style.plain.len() < ALL_COLUMNS };
    table::more(scene, hidden, inner, buf);
    def.foot(scene, plan, &totals(scene), buf);
    if rows.is_empty() {
        let words = if scene.state.filter(Pane::NODES).is_empty() {
            let unknown = scene.cycle().nodes_unknown().is_some();
            if unknown { "the nodes are unknown: none could be read" } else { "there are no nodes" }.to_owned()
        } else {
            format!("no node matches the filter: {} ends it", scene.key(&Action::BACK))
        };
        scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
    }
    for (i, row) in rows.iter().skip(offset).take(usize::from(list.height)).enumerate() {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            NodeRow::Rejected => table::heading(scene, &style.plain, area, buf),
            NodeRow::Group(group) => groups::draw(scene, &style, group, area, buf),
            NodeRow::Node { name, inside } => node(scene, &style, name, *inside, area, buf),
        }
    }
}

/// Returns what all nodes together have free, the longer form first.
fn totals(scene: &Scene<'_>) -> [String; 2] {
    let totals = &scene.state.view_model.nodes.totals;
    // Above a hundred cores, drop the thousandths.
    let cpu = |milli: i64| text::cpu(if milli >= 100_000 { milli - milli % 1000 } else { milli });
    let all = format!(
        "all nodes: cpu {}/{} free {} mem {}/{} free",
        cpu(totals.cpu.0),
        cpu(totals.cpu.1),
        scene.glyphs.dot,
        text::memory(totals.memory.0),
        text::memory(totals.memory.1)
    );
    [all, format!("cpu {}/{} free", cpu(totals.cpu.0), cpu(totals.cpu.1))]
}

fn heading(def: &PaneDef, scene: &Scene<'_>) -> Vec<Span<'static>> {
    let Some(start) = &scene.cycle().start else {
        let title = gated(&scene.state.view_model.cycle.whole).map_or_else(|| "Nodes".to_owned(), |pod| format!("Nodes for {pod}"));
        return def.title(scene, title);
    };
    let mut spans = def.title(scene, format!("Nodes for {}", start.pod));
    let mut facts = format!("  prio {}", start.priority);
    for (name, amount) in &start.requests {
        facts.push_str(&format!("  {} {amount}", if name == "memory" { "mem" } else { name }));
    }
    spans.push(scene.span(Role::Muted, facts));
    if let Some(words) = scene.state.view_model.nodes.grouping.in_title() {
        spans.push(scene.span(Role::Accent, format!("  {words}")));
    }
    spans
}

fn counts(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    if scene.cycle().start.is_none() {
        return spans;
    }
    for (class, count) in &scene.state.view_model.nodes.counts {
        let (sign, role) = scene.verdict(*class);
        if !spans.is_empty() {
            spans.push(Span::raw("  "));
        }
        let over = *class == Class::Unseen && not_evaluated(scene.cycle()).is_some();
        let word = if over { class.word() } else { short_word(*class) };
        spans.push(scene.span(role, format!("{sign} {} {word}", text::thousands(*count))));
    }
    spans
}

pub(super) fn short_word(class: Class) -> &'static str {
    match class {
        Class::Unschedulable => "unsched.",
        Class::Unresolvable => "unresolv.",
        Class::Unseen => "to go",
        _ => class.word(),
    }
}

/// Returns the word for the column of verdicts. A narrow one leaves the word for a node that will not be evaluated to the
/// reason.
pub(super) fn verdict_word(scene: &Scene<'_>, style: &RowStyle<'_>, class: Class) -> &'static str {
    match class {
        Class::Unseen if style.narrow && not_evaluated(scene.cycle()).is_some() => "",
        Class::Unseen if style.narrow => "not yet",
        Class::Unseen if not_evaluated(scene.cycle()).is_none() => "not yet",
        _ if style.narrow => short_word(class),
        _ => class.word(),
    }
}

/// Returns why the remaining nodes are never evaluated in this cycle; `None` while they may be.
fn not_evaluated(cycle: &CycleView) -> Option<String> {
    match stopped_at(cycle) {
        Some(stopped) => Some(format!("search {stopped}")),
        None => cycle.outcome.is_some().then(String::new),
    }
}

/// Returns where the search for a node stopped early, in words; `None` if it did not.
fn stopped_at(cycle: &CycleView) -> Option<String> {
    cycle.filter.stopped.map(|(evaluated, ..)| format!("stopped at {}", text::thousands(evaluated)))
}

/// Returns the reason of nodes that are never evaluated, with the words for which a narrow column of verdicts has no room.
pub(super) fn unseen_reason(scene: &Scene<'_>, style: &RowStyle<'_>) -> String {
    match not_evaluated(scene.cycle()) {
        None => String::new(),
        Some(why) if !style.narrow => why,
        Some(_) => match stopped_at(scene.cycle()) {
            Some(stopped) => format!("{}: {stopped}", Class::Unseen.word()),
            None => Class::Unseen.word().to_owned(),
        },
    }
}

/// The state shared by all rows.
pub(super) struct RowStyle<'a> {
    verdicts: Verdicts<'a>,
    pub(super) asked: Asked,
    pub(super) plain: Vec<Column>,
    scored: Vec<Column>,
    plugins: Vec<PluginName>,
    /// The filter, which naming a match in a row changes.
    filter: RefCell<Filter>,
    chosen: Option<&'a Str>,
    /// The likelihood of each node, once one is selected.
    odds: Option<Cow<'a, Odds>>,
    linked: Option<Str>,
    reasons_only: bool,
    narrow: bool,
    bars: usize,
}

impl<'a> RowStyle<'a> {
    fn new(scene: &Scene<'a>, width: u16) -> Self {
        let state = scene.state;
        let cycle = scene.cycle();
        let narrow = width < 84;
        let (plain, bars) = plain_columns(state, width);
        let (scored, plugins) = score_columns(state, (plain[0], plain[1]), width);
        let chosen = cycle
            .effects
            .bound
            .as_ref()
            .or(cycle.scoring.selected.as_ref().map(|(n, ..)| n))
            .or(cycle.effects.nominated.as_ref().filter(|n| !n.is_empty()))
            .or(cycle.preemption.as_ref().and_then(|p| p.selected().map(|(n, _)| n)));
        let linked = if matches!(state.focus, Pane::NODES) { None } else { (super::def(state.focus).node)(state, scene.timeline) };
        Self {
            verdicts: Verdicts::new(cycle),
            asked: Asked::of(scene),
            plain,
            scored,
            plugins,
            filter: RefCell::new(state.row_filter(Pane::NODES)),
            chosen,
            odds: cycle.scoring.selected.as_ref().and_then(|_| odds(cycle)),
            linked,
            reasons_only: reasons_only(state),
            narrow,
            bars,
        }
    }
}

/// The heading of the free and the allocatable cpu of a node.
pub(super) const CPU: &str = "CPU FREE";
/// The heading of the free and the allocatable memory of a node.
pub(super) const MEMORY: &str = "MEM FREE";
/// The number of columns of a node's verdict where all fit.
const ALL_COLUMNS: usize = 6;

/// Returns the columns of verdicts and reasons that fit, and the width of the bars.
fn plain_columns(state: &State, width: u16) -> (Vec<Column>, usize) {
    let names = state.view_model.rows.nodes.iter().skip(state.list(Pane::NODES).offset).take(100).map(|r| match r {
        NodeRow::Node { name, .. } => name.as_str(),
        NodeRow::Group(group) => match &group.key {
            GroupKey::Label { .. } => group.key.words(),
            GroupKey::Verdict { .. } => "xxxxxxxxxxxx",
        },
        NodeRow::Rejected => "xxxxxxxxxxxx",
    });
    let grouping = &state.view_model.nodes.grouping;
    let indent = if grouping.is_grouped() { 4 } else { 2 };
    let Width::Fixed(name) = fit("NODE", 32, names) else { unreachable!("a fitted column is fixed") };
    let name = left(grouping.heading(), Width::Fixed((name + indent).min(width / 3))).by(Sort::Name);
    let narrow = width < 84;
    let verdict = left("VERDICT", Width::Fixed(if narrow { 11 } else { 15 })).by(Sort::Verdict);
    let mut plain = vec![name, verdict];
    // Widths depend on the whole cycle, so that columns do not shift while the user steps through it.
    let widths = || {
        state.view_model.cycle.reason_widths(|whole| {
            let statuses =
                || whole.filter.verdicts.values().map(|v| &v.status).chain(whole.pre_filter.narrowed.iter().map(|(_, s)| s)).take(2000);
            let reasons: Vec<String> = statuses().map(row_reason).chain(not_evaluated(whole)).collect();
            ReasonWidths {
                by: fit("BY", 18, statuses().filter_map(Status::plugin).map(PluginName::as_str)),
                reason: fit("REASON", 48, reasons.iter().map(String::as_str)),
            }
        })
    };
    if width >= 84 {
        plain.push(left("BY", widths().by));
    }
    // On a wide screen, keep the free resources next to the reason.
    let reason = match grouping {
        _ if width < 140 => Width::Rest,
        // The width of a group's counts with words.
        Grouping::Label(_) => Width::Fixed(46),
        _ => widths().reason,
    };
    plain.push(left("REASON", reason).by(Sort::Usual));
    let bars = if width >= 130 { 8 } else { 0 };
    let free = match bars {
        0 if grouping.is_grouped() && !narrow => 17,
        0 if grouping.is_grouped() => 13,
        0 => 11,
        _ => 21,
    };
    let cpu = left(CPU, Width::Fixed(free)).by(Sort::FreeCpu);
    let memory = left(MEMORY, Width::Fixed(free + 5));
    // With room for one of the two, show the one that more nodes lack.
    match width {
        ..58 => {}
        58..104 if state.view_model.cycle.lacks_memory => plain.push(memory),
        58..104 => plain.push(cpu),
        _ => plain.extend([cpu, memory]),
    }
    (plain, bars)
}

/// Returns whether the first visible rows show scores.
fn scored_on_top(state: &State) -> bool {
    let split = state.view_model.rows.nodes.iter().position(|r| *r == NodeRow::Rejected);
    !state.view_model.cycle.whole.scoring.scores.is_empty()
        && !reasons_only(state)
        && split.is_none_or(|at| state.list(Pane::NODES).offset < at)
}

/// Returns whether all rows show reasons: in groups, and in sort orders that mix feasible nodes with others.
fn reasons_only(state: &State) -> bool {
    state.view_model.nodes.grouping.is_grouped() || state.sort_of(Pane::NODES) != Sort::Usual
}

/// Returns the columns of the headings above the list, or of those between scores and reasons.
fn heading_columns(state: &State, _: &Timeline, list: Rect, row: u16) -> Option<Vec<Column>> {
    let below = row.checked_sub(list.y).map(|row| state.list(Pane::NODES).offset + usize::from(row));
    let rejected = below.is_some_and(|at| state.view_model.rows.nodes.get(at) == Some(&NodeRow::Rejected));
    if !rejected && list.y.checked_sub(1) != Some(row) {
        return None;
    }
    let plain = plain_columns(state, list.width).0;
    let scored = !rejected && scored_on_top(state);
    Some(if scored { score_columns(state, (plain[0], plain[1]), list.width).0 } else { plain })
}

/// Returns the columns of scores that fit, and all scored plugins in the profile's order.
fn score_columns(state: &State, (name, verdict): (Column, Column), width: u16) -> (Vec<Column>, Vec<PluginName>) {
    let plugins: Vec<PluginName> = state
        .view_model
        .cycle
        .whole
        .scoring
        .scores
        .values()
        .next()
        .map(|s| s.plugins.iter().map(|p| p.plugin).collect())
        .unwrap_or_default();
    let mut scored = vec![name, verdict, right("RANK", Width::Fixed(10)).by(Sort::Usual), right("TOTAL", Width::Fixed(6)).by(Sort::Usual)];
    if state.view_model.cycle.whole.scoring.selected.is_some() && is_chance(&state.view_model.cycle.whole) {
        scored.push(right(ODDS, Width::Fixed(7)));
    }
    let mut room = width.saturating_sub(scored.iter().map(|c| if let Width::Fixed(n) = c.width { n + 2 } else { 0 }).sum());
    let extenders = state.view_model.cycle.whole.extenders.scoring();
    let mut push_fitting = |titles: &mut dyn Iterator<Item = &'static str>| {
        for title in titles {
            let need = text::columns(title) + 2;
            if need > room {
                break;
            }
            room -= need;
            scored.push(right(title, Width::Fixed(need - 2)));
        }
    };
    // Next to the totals: few nodes differ in as much as extenders give.
    push_fitting(&mut extenders.iter().map_while(|index| EXTENDER_TITLES.get(*index).copied()));
    push_fitting(&mut plugins.iter().map(|plugin| score_title(*plugin)));
    (scored, plugins)
}

/// Headings of the scores of extenders, by their place in the configuration; more of them are in the pane of one node.
const EXTENDER_TITLES: [&str; 8] = ["Ext. 0", "Ext. 1", "Ext. 2", "Ext. 3", "Ext. 4", "Ext. 5", "Ext. 6", "Ext. 7"];

/// Returns a short heading for a plugin's score; the pane of one node has the full name.
fn score_title(plugin: PluginName) -> &'static str {
    match plugin {
        PluginName::NodeResourcesFit => "Fit",
        PluginName::NodeResourcesBalancedAllocation => "Balanced",
        PluginName::TaintToleration => "Taints",
        PluginName::ImageLocality => "Images",
        PluginName::InterPodAffinity => "InterPod",
        PluginName::NodeAffinity => "NodeAff.",
        PluginName::PodTopologySpread => "Spread",
        PluginName::DynamicResources => "Devices",
        PluginName::VolumeBinding => "Volumes",
        PluginName::BalancedResourceAllocation => "Balanced",
        PluginName::ImageLocalityPriority => "Images",
        PluginName::InterPodAffinityPriority => "InterPod",
        PluginName::LeastRequestedPriority => "Least",
        PluginName::MostRequestedPriority => "Most",
        PluginName::NodeAffinityPriority => "NodeAff.",
        PluginName::NodePreferAvoidPodsPriority => "Avoid",
        PluginName::SelectorSpreadPriority | PluginName::ServiceSpreadingPriority => "Spread",
        PluginName::TaintTolerationPriority => "Taints",
        other => other.as_str(),
    }
}

pub(super) fn reason_cells(
    scene: &Scene<'_>,
    style: &RowStyle<'_>,
    plugin: Option<PluginName>,
    reason: &str,
    cells: &mut Vec<Vec<Span<'static>>>,
) {
    let by = plugin.map_or("", PluginName::as_str);
    if style.plain.iter().any(|c| c.title == "BY") {
        cells.push(vec![scene.span(Role::Text, by)]);
        cells.push(vec![scene.span(Role::Text, reason.to_owned())]);
    } else if reason.is_empty() {
        cells.push(vec![scene.span(Role::Text, by)]);
    } else {
        cells.push(vec![scene.span(Role::Text, reason.to_owned())]);
    }
}

fn node(scene: &Scene<'_>, style: &RowStyle<'_>, name: &Str, inside: bool, area: Rect, buf: &mut Buffer) {
    let verdict = style.verdicts.of(name);
    let (sign, role) = scene.verdict(verdict.class);
    let (mark, mark_role) = match () {
        () if style.chosen == Some(name) => (scene.glyphs.winner, Role::Winner),
        () if style.linked.as_ref() == Some(name) => (scene.glyphs.here, Role::Accent),
        () => (" ", Role::Muted),
    };
    let indent = if inside { "  " } else { "" };
    let name_role = if verdict.class == Class::Unseen && scene.cycle().start.is_some() { Role::Muted } else { Role::Text };
    let verdict_cell =
        if scene.cycle().start.is_some() { format!("{sign} {}", verdict_word(scene, style, verdict.class)) } else { String::new() };
    let mut cells = vec![
        vec![scene.span(mark_role, format!("{mark} {indent}")), scene.span(name_role, name.to_string())],
        vec![scene.span(role, verdict_cell)],
    ];
    let info = scene.timeline.decided_on().snapshot.get(name);
    let scored = (verdict.class == Class::Fits && !style.reasons_only).then(|| scene.cycle().scoring.scores.get(name)).flatten();
    let section_scored = !scene.state.view_model.cycle.whole.scoring.scores.is_empty()
        && !style.reasons_only
        && scene.state.view_model.cycle.whole.scoring.scores.contains_key(name);
    if let Some(score) = scored {
        let (rank, tied) = scene.state.view_model.nodes.ranks.get(&score.total).copied().unwrap_or((0, 1));
        let shared = if tied > 1 { format!("{rank} ({tied} tied)") } else { rank.to_string() };
        cells.push(vec![scene.span(if rank == 1 { Role::Winner } else { Role::Text }, shared)]);
        cells.push(vec![scene.span(Role::Strong, score.total.to_string())]);
        if style.scored.iter().any(|column| column.title == ODDS) {
            let odds = style.odds.as_deref().map(|odds| odds_cell(odds, name));
            cells.push(vec![scene.span(Role::Text, odds.unwrap_or_default())]);
        }
        let given = scene.cycle().extenders.scores_of(name);
        for (index, _) in EXTENDER_TITLES.iter().enumerate().filter(|(_, title)| style.scored.iter().any(|c| c.title == **title)) {
            let shown = given.get(&index).map_or_else(|| scene.glyphs.dash.to_owned(), ToString::to_string);
            cells.push(vec![scene.span(if given.get(&index).is_some_and(|score| *score != 0) { Role::Text } else { Role::Muted }, shown)]);
        }
        for plugin in &style.plugins {
            let weighted = score.plugins.iter().find(|p| p.plugin == *plugin).map_or(0, |p| p.weighted);
            cells.push(vec![scene.span(if weighted == 0 { Role::Muted } else { Role::Text }, weighted.to_string())]);
        }
        table::row(scene, &style.scored, area, &cells, buf);
    } else if section_scored {
        table::row(scene, &style.scored, area, &cells, buf);
    } else {
        // In a group by verdict, the group's row has the reason.
        let is_in_heading = inside && scene.state.view_model.nodes.grouping == Grouping::Verdict;
        let reason = reason(scene, style, &verdict, name, is_in_heading);
        reason_cells(scene, style, verdict.plugin.filter(|_| !is_in_heading), &reason, &mut cells);
        if let Some(info) = info {
            free_cells(scene, style, info, &mut cells);
        }
        table::row(scene, &style.plain, area, &cells, buf);
    }
    let selected = matches!(&scene.state.list(Pane::NODES).selected, Some(RowId::Node(n)) if n == name);
    table::mark(scene, area, selected, scene.state.focus == Pane::NODES, buf);
}

/// Returns the reason of a node's verdict: its scores if it fits, or the deciding fact; in a group whose row has the reason,
/// the fact alone. A label or taint that a filter matched and that is not in the row comes last.
fn reason(scene: &Scene<'_>, style: &RowStyle<'_>, verdict: &NodeVerdict<'_>, name: &Str, is_in_heading: bool) -> String {
    let words = match scene.cycle().scoring.scores.get(name) {
        Some(score) if style.reasons_only => {
            let (rank, tied) = scene.state.view_model.nodes.ranks.get(&score.total).copied().unwrap_or((0, 1));
            let shared = if tied > 1 { format!(" ({tied} tied)") } else { String::new() };
            let parts: Vec<String> =
                score.plugins.iter().filter(|p| p.weighted != 0).map(|p| format!("{} {}", score_title(p.plugin), p.weighted)).collect();
            format!("rank {rank}{shared}  total {} = {}", score.total, parts.join(" + "))
        }
        _ if verdict.class == Class::Unseen && scene.cycle().start.is_some() => {
            if is_in_heading {
                String::new()
            } else {
                unseen_reason(scene, style)
            }
        }
        // The group's row has the rest.
        _ if is_in_heading => verdict.row_fact().unwrap_or_default(),
        _ => verdict.in_row(),
    };
    match matched_elsewhere(scene, &mut style.filter.borrow_mut(), verdict, name, &words) {
        Some(found) if words.is_empty() => found,
        Some(found) => format!("{words}  {found}"),
        None => words,
    }
}

/// Returns the label or taint that the filter matched; `None` if the row shows a match already.
fn matched_elsewhere(scene: &Scene<'_>, filter: &mut Filter, verdict: &NodeVerdict<'_>, name: &Str, words: &str) -> Option<String> {
    let plugin = verdict.plugin.map_or("", PluginName::as_str);
    let shown = [
        Fact::name("node", name),
        Fact::name("name", name),
        Fact::prose("verdict", verdict.class.word()),
        Fact::prose("plugin", plugin),
        Fact::prose("reason", words),
    ];
    if filter.is_empty() || filter.keeps(&shown) {
        return None;
    }
    let node = &scene.timeline.keyframe().snapshot.get(name)?.node;
    let label = node.metadata.labels.iter().find_map(|(key, value)| {
        // The prefix, such as `topology.kubernetes.io/`, is left out unless it is what matched: a row has little room.
        let short = key.rsplit_once('/').map_or(key.as_str(), |(_, name)| name);
        let is_short = filter.names(Fact::label(short, value)) || (is_zone(key) && filter.names(Fact::prose("zone", value)));
        let shown = if is_short { short } else { key.as_str() };
        (is_short || filter.names(Fact::label(key, value))).then(|| format!("{shown}={value}"))
    });
    label.or_else(|| node.spec.taints.iter().map(taint_text).find(|taint| filter.names(Fact::prose("taint", taint))))
}

/// Returns the text of a rejection in a row.
fn row_reason(status: &Status) -> String {
    NodeVerdict::of(status).in_row()
}

fn free_cells(scene: &Scene<'_>, style: &RowStyle<'_>, info: &NodeInfo, cells: &mut Vec<Vec<Span<'static>>>) {
    // A pod that fits may have been bound here since, so its request is not compared with the rest.
    let asked = |amount: Option<i64>| amount.filter(|_| style.verdicts.class(info.name()) != Class::Fits);
    let cpu = (info.requested.milli_cpu, info.allocatable.milli_cpu, asked(style.asked.cpu));
    let memory = (info.requested.memory, info.allocatable.memory, asked(style.asked.memory));
    for column in &style.plain {
        match column.title {
            CPU => cells.push(free(scene, style.bars, cpu, text::cpu)),
            MEMORY => cells.push(free(scene, style.bars, memory, text::memory)),
            _ => {}
        }
    }
}

/// Formats the free amount and that of the node in all, and the request if it is larger than the free one: `▇▇▇▇▇▁ 1.9/8 < 6`.
fn free(scene: &Scene<'_>, bars: usize, (used, of, asked): (i64, i64, Option<i64>), show: fn(i64) -> String) -> Vec<Span<'static>> {
    let left = of.saturating_sub(used);
    let mut spans = if bars > 0 { bar::spans(scene, used, of, bars) } else { Vec::new() };
    if bars > 0 {
        spans.push(Span::raw(" "));
    }
    let (words, role) = match asked {
        Some(asked) if asked > left => (format!("{}/{} < {}", show(left), show(of), show(asked)), Role::Unschedulable),
        Some(_) => (format!("{}/{}", show(left), show(of)), Role::Fits),
        None => (format!("{}/{}", show(left), show(of)), Role::Text),
    };
    spans.push(scene.span(role, words));
    spans
}
