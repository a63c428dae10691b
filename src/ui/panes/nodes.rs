//! Every node's verdict for the pod of the cycle, with what is free; and scores, once nodes that fit were scored.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::cluster::{Quantity, Str};
use crate::framework::{NodeInfo, PluginName, Status};
use crate::ui::action::Pane;
use crate::ui::facts::{Class, NodeVerdict, Verdicts};
use crate::ui::grouping::Grouping;
use crate::ui::layout::Plan;
use crate::ui::list::{GroupKey, RowId};
use crate::ui::order::{Order, Wanted};
use crate::ui::panes::node_groups;
use crate::ui::rows::NodeRow;

use crate::ui::scene::{Scene, chrome, extent, title};
use crate::ui::state::State;
use crate::ui::text;
use crate::ui::theme::Role;
use crate::ui::widgets::bar;
use crate::ui::widgets::table::{self, Column, Width, left, right};

/// What the pod of the cycle asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Thousandths of a core.
    pub cpu: Option<i64>,
    /// Bytes.
    pub memory: Option<i64>,
}

impl Asked {
    /// As the record of the cycle's start says.
    pub fn of(scene: &Scene<'_>) -> Self {
        let find = |name: &str| {
            let start = scene.cycle().start.as_ref()?;
            start.requests.iter().find(|(n, _)| *n == name)?.1.parse::<Quantity>().ok()
        };
        Self { cpu: find("cpu").map(Quantity::milli_value), memory: find("memory").map(Quantity::value) }
    }
}

/// Draws the nodes.
pub fn draw(scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let inner = chrome(scene, plan, Pane::Nodes, heading(scene), counts(scene), buf);
    let list = plan.list(Pane::Nodes);
    if inner.is_empty() {
        return;
    }
    let rows = &scene.state.derived.nodes;
    let offset = scene.state.nodes.offset;
    extent(scene, plan, Pane::Nodes, offset, rows.len(), buf);
    let look = Look::new(scene, list.width);
    // The heading is that of the rows on top: of scores above the first node that was rejected, of reasons below.
    let on_top = if scored_on_top(scene.state) { &look.scored } else { &look.plain };
    table::heading(scene, on_top, Rect { height: 1, ..inner }, buf);
    if rows.is_empty() {
        let words = if scene.state.filter(Pane::Nodes).is_empty() { "there are no nodes" } else { "no node of that name" };
        scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
    }
    for (i, row) in rows.iter().skip(offset).take(usize::from(list.height)).enumerate() {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            NodeRow::Rejected => table::heading(scene, &look.plain, area, buf),
            NodeRow::Group(group) => node_groups::draw(scene, &look, group, area, buf),
            NodeRow::Node { name, inside } => node(scene, &look, name, *inside, area, buf),
        }
    }
}

fn heading(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let Some(start) = &scene.cycle().start else { return title(scene, Pane::Nodes, "Nodes") };
    let mut spans = title(scene, Pane::Nodes, format!("Nodes for {}", start.pod));
    let mut facts = format!("  prio {}", start.priority);
    for (name, amount) in &start.requests {
        facts.push_str(&format!("  {} {amount}", if name == "memory" { "mem" } else { name }));
    }
    spans.push(scene.span(Role::Muted, facts));
    if let Grouping::Label(key) = &scene.state.derived.grouping {
        spans.push(scene.span(Role::Accent, format!("  by {key}")));
    }
    spans
}

fn counts(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    if scene.cycle().start.is_none() {
        return spans;
    }
    for (class, count) in &scene.state.derived.counts {
        let (sign, role) = scene.verdict(*class);
        if !spans.is_empty() {
            spans.push(Span::raw("  "));
        }
        spans.push(scene.span(role, format!("{sign} {} {}", text::thousands(*count), short_word(*class))));
    }
    spans
}

pub(super) fn short_word(class: Class) -> &'static str {
    match class {
        Class::MayHelp => "unsched.",
        Class::Hopeless => "unresolv.",
        Class::Unseen => "to go",
        _ => class.word(),
    }
}

/// The word for the column of verdicts.
pub(super) fn verdict_word(look: &Look<'_>, class: Class) -> &'static str {
    match class {
        Class::Unseen if look.narrow => "not yet",
        _ if look.narrow => short_word(class),
        _ => class.word(),
    }
}

/// Everything rows need that is the same for all of them.
pub(super) struct Look<'a> {
    verdicts: Verdicts<'a>,
    pub(super) asked: Asked,
    /// What the pod asks for, where the order is about what nodes lack of it.
    wanted: Option<Wanted>,
    pub(super) plain: Vec<Column>,
    scored: Vec<Column>,
    plugins: Vec<PluginName>,
    chosen: Option<&'a Str>,
    linked: Option<&'a Str>,
    reasons_only: bool,
    narrow: bool,
    bars: usize,
}

impl<'a> Look<'a> {
    fn new(scene: &Scene<'a>, width: u16) -> Self {
        let state = scene.state;
        let cycle = scene.cycle();
        let narrow = width < 76;
        let (plain, bars) = plain_columns(state, width);
        let (scored, plugins) = score_columns(state, (plain[0], plain[1]), width);
        let chosen = cycle
            .bound
            .as_ref()
            .or(cycle.selected.as_ref().map(|(n, ..)| n))
            .or(cycle.nominated.as_ref().filter(|n| !n.is_empty()))
            .or(cycle.preemption.as_ref().and_then(|p| p.selected().map(|(n, _)| n)));
        let linked = if matches!(state.focus, Pane::Nodes) { None } else { state.linked_node(scene.timeline) };
        Self {
            verdicts: Verdicts::new(cycle),
            asked: Asked::of(scene),
            wanted: (state.order(Pane::Nodes) == Order::Closest).then(|| Wanted::of(cycle)),
            plain,
            scored,
            plugins,
            chosen,
            linked,
            reasons_only: reasons_only(state),
            narrow,
            bars,
        }
    }
}

/// The columns of verdicts and reasons that fit, and how wide the bars are.
fn plain_columns(state: &State, width: u16) -> (Vec<Column>, usize) {
    let names = state.derived.nodes.iter().skip(state.nodes.offset).take(100).map(|r| match r {
        NodeRow::Node { name, .. } => name.as_str(),
        NodeRow::Group(group) => match &group.key {
            GroupKey::Label { .. } => group.key.words(),
            GroupKey::Verdict { .. } => "xxxxxxxxxxxx",
        },
        NodeRow::Rejected => "xxxxxxxxxxxx",
    });
    let grouping = &state.derived.grouping;
    let indent = if grouping.is_grouped() { 4 } else { 2 };
    let Width::Fixed(name) = table::fit("NODE", 32, names) else { unreachable!("a fitted column is fixed") };
    let name = left(grouping.heading(), Width::Fixed((name + indent).min(width / 3)));
    let narrow = width < 76;
    let verdict = left("VERDICT", Width::Fixed(if narrow { 11 } else { 15 }));
    let mut plain = vec![name, verdict];
    // Widths come from the cycle as it ends, so that nothing shifts while one steps through it.
    let whole = &state.derived.whole;
    let statuses = || whole.verdicts.values().map(|v| &v.status).chain(whole.narrowed.iter().map(|(_, s)| s)).take(2000);
    if width >= 84 {
        plain.push(left("BY", table::fit("BY", 18, statuses().filter_map(Status::plugin).map(PluginName::as_str))));
    }
    // Where there is room to spare, what is free stands beside the reason and not far away from it.
    let reasons: Vec<String> = statuses().map(|s| s.fact().unwrap_or_else(|| s.message())).collect();
    let reason = match grouping {
        _ if width < 140 => Width::Rest,
        // As wide as the counts of a group with their words.
        Grouping::Label(_) => Width::Fixed(46),
        _ => table::fit("REASON", 48, reasons.iter().map(String::as_str)),
    };
    plain.push(left("REASON", reason));
    let bars = if width >= 130 { 8 } else { 0 };
    let free = match bars {
        0 if grouping.is_grouped() && !narrow => 17,
        0 if grouping.is_grouped() => 13,
        0 => 11,
        _ => 21,
    };
    if width >= 58 {
        plain.push(left("CPU FREE", Width::Fixed(free)));
    }
    if width >= 104 {
        plain.push(left("MEM FREE", Width::Fixed(free + 4)));
    }
    (plain, bars)
}

/// Whether the rows on top show scores, and not reasons.
fn scored_on_top(state: &State) -> bool {
    let split = state.derived.nodes.iter().position(|r| *r == NodeRow::Rejected);
    !state.derived.whole.scores.is_empty() && !reasons_only(state) && split.is_none_or(|at| state.nodes.offset < at)
}

/// Whether all rows show reasons: in groups, and in an order that mixes nodes that fit with others.
fn reasons_only(state: &State) -> bool {
    state.derived.grouping.is_grouped() || state.order(Pane::Nodes) != Order::Usual
}

/// The columns whose headings stand on top of the list, or at the rows further down that only show reasons.
pub fn columns(state: &State, on_top: bool, width: u16) -> Vec<Column> {
    let plain = plain_columns(state, width).0;
    if on_top && scored_on_top(state) { score_columns(state, (plain[0], plain[1]), width).0 } else { plain }
}

/// The columns of scores that fit, and the plugins they belong to, in the profile's order.
fn score_columns(state: &State, (name, verdict): (Column, Column), width: u16) -> (Vec<Column>, Vec<PluginName>) {
    let plugins: Vec<PluginName> =
        state.derived.whole.scores.values().next().map(|s| s.plugins.iter().map(|p| p.plugin).collect()).unwrap_or_default();
    let mut scored = vec![name, verdict, right("RANK", Width::Fixed(10)), right("TOTAL", Width::Fixed(6))];
    let mut room = width.saturating_sub(scored.iter().map(|c| if let Width::Fixed(n) = c.width { n + 2 } else { 0 }).sum());
    for plugin in &plugins {
        let title = score_title(*plugin);
        let need = text::width(title) as u16 + 2;
        if need > room {
            break;
        }
        room -= need;
        scored.push(right(title, Width::Fixed(need - 2)));
    }
    (scored, plugins)
}

/// A heading for a plugin's score; its full name stands in the pane of one node.
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
        other => other.as_str(),
    }
}

pub(super) fn reason_cells(
    scene: &Scene<'_>,
    look: &Look<'_>,
    plugin: Option<PluginName>,
    reason: &str,
    cells: &mut Vec<Vec<Span<'static>>>,
) {
    let by = plugin.map_or("", PluginName::as_str);
    if look.plain.iter().any(|c| c.title == "BY") {
        cells.push(vec![scene.span(Role::Text, by)]);
        cells.push(vec![scene.span(Role::Text, reason.to_owned())]);
    } else if reason.is_empty() {
        cells.push(vec![scene.span(Role::Text, by)]);
    } else {
        cells.push(vec![scene.span(Role::Text, reason.to_owned())]);
    }
}

fn node(scene: &Scene<'_>, look: &Look<'_>, name: &Str, inside: bool, area: Rect, buf: &mut Buffer) {
    let verdict = look.verdicts.of(name);
    let (sign, role) = scene.verdict(verdict.class);
    let (mark, mark_role) = match () {
        () if look.chosen == Some(name) => (scene.glyphs.winner, Role::Winner),
        () if look.linked == Some(name) => (scene.glyphs.here, Role::Accent),
        () => (" ", Role::Muted),
    };
    let indent = if inside { "  " } else { "" };
    let name_role = if verdict.class == Class::Unseen && scene.cycle().start.is_some() { Role::Muted } else { Role::Text };
    let verdict_cell = if scene.cycle().start.is_some() { format!("{sign} {}", verdict_word(look, verdict.class)) } else { String::new() };
    let mut cells = vec![
        vec![scene.span(mark_role, format!("{mark} {indent}")), scene.span(name_role, name.to_string())],
        vec![scene.span(role, verdict_cell)],
    ];
    let info = scene.timeline.moment().snapshot.get(name);
    let scored = (verdict.class == Class::Fits && !look.reasons_only).then(|| scene.cycle().scores.get(name)).flatten();
    let section_scored =
        !scene.state.derived.whole.scores.is_empty() && !look.reasons_only && scene.state.derived.whole.scores.contains_key(name);
    if let Some(score) = scored {
        let (rank, tied) = scene.state.derived.ranks.get(&score.total).copied().unwrap_or((0, 1));
        let shared = if tied > 1 { format!("{rank} ({tied} tied)") } else { rank.to_string() };
        cells.push(vec![scene.span(if rank == 1 { Role::Winner } else { Role::Text }, shared)]);
        cells.push(vec![scene.span(Role::Strong, score.total.to_string())]);
        for plugin in &look.plugins {
            let weighted = score.plugins.iter().find(|p| p.plugin == *plugin).map_or(0, |p| p.weighted);
            cells.push(vec![scene.span(if weighted == 0 { Role::Muted } else { Role::Text }, weighted.to_string())]);
        }
        table::row(scene, &look.scored, area, &cells, buf);
    } else if section_scored {
        table::row(scene, &look.scored, area, &cells, buf);
    } else {
        // Under a group by verdict the heading says why.
        let told = inside && scene.state.derived.grouping == Grouping::Verdict;
        let reason = reason(scene, look, &verdict, name, told);
        reason_cells(scene, look, verdict.plugin.filter(|_| !told), &reason, &mut cells);
        if let Some(info) = info {
            free_cells(scene, look, info, &mut cells);
        }
        table::row(scene, &look.plain, area, &cells, buf);
    }
    let selected = matches!(&scene.state.nodes.selected, Some(RowId::Node(n)) if n == name);
    table::mark(scene, area, selected, scene.state.focus == Pane::Nodes, buf);
}

/// Why a node has its verdict: its score where it fits, how much it lacks in an order that is about that, and nothing
/// where the heading has told.
fn reason(scene: &Scene<'_>, look: &Look<'_>, verdict: &NodeVerdict<'_>, name: &Str, told: bool) -> String {
    let lacks = look.wanted.as_ref().filter(|_| verdict.plugin == Some(PluginName::NodeResourcesFit));
    let lacks = lacks.zip(scene.timeline.moment().snapshot.get(name)).and_then(|(wanted, node)| wanted.lacks(node));
    match scene.cycle().scores.get(name) {
        Some(score) if look.reasons_only => {
            let (rank, tied) = scene.state.derived.ranks.get(&score.total).copied().unwrap_or((0, 1));
            let shared = if tied > 1 { format!(" ({tied} tied)") } else { String::new() };
            let parts: Vec<String> =
                score.plugins.iter().filter(|p| p.weighted != 0).map(|p| format!("{} {}", score_title(p.plugin), p.weighted)).collect();
            format!("rank {rank}{shared}  total {} = {}", score.total, parts.join(" + "))
        }
        _ if lacks.is_some() => lacks.unwrap_or_default(),
        // The heading of the group says the rest.
        _ if told => verdict.decided().unwrap_or_default(),
        _ => verdict.fact(),
    }
}

fn free_cells(scene: &Scene<'_>, look: &Look<'_>, info: &NodeInfo, cells: &mut Vec<Vec<Span<'static>>>) {
    // Where the pod fits it may have been put there since, and what is left says nothing about it any more.
    let asked = |amount: Option<i64>| amount.filter(|_| look.verdicts.class(info.name()) != Class::Fits);
    let cpu = (info.requested.milli_cpu, info.allocatable.milli_cpu, asked(look.asked.cpu));
    let memory = (info.requested.memory, info.allocatable.memory, asked(look.asked.memory));
    cells.push(free(scene, look.bars, cpu, text::cpu));
    cells.push(free(scene, look.bars, memory, text::memory));
}

/// `▇▇▇▇▇▁ 1.9 < 6`: taken, free, and whether that is less than what the pod asks for.
fn free(scene: &Scene<'_>, bars: usize, (used, of, asked): (i64, i64, Option<i64>), show: fn(i64) -> String) -> Vec<Span<'static>> {
    let left = of.saturating_sub(used);
    let mut spans = if bars > 0 { bar::spans(scene, used, of, bars) } else { Vec::new() };
    if bars > 0 {
        spans.push(Span::raw(" "));
    }
    let (words, role) = match asked {
        Some(asked) if asked > left => (format!("{} < {}", show(left), show(asked)), Role::MayHelp),
        Some(_) => (show(left), Role::Fits),
        None => (show(left), Role::Text),
    };
    spans.push(scene.span(role, words));
    spans
}
