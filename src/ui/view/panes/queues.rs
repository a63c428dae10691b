//! The pane of the queues: every pending pod in its queue, with a note about the selected pod below.

mod note;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::cluster::Key;
use crate::framework::{PluginName, PluginSet, PodGroupState};
use crate::session::Timeline;
use crate::trace::{Place, QueueEntry};
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, Width, left, right};
use crate::ui::model::list::RowId;
use crate::ui::model::not_waiting::NotWaiting;
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::{PodGroupRow, QueuePart, QueueRow};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::{rows, text, time_travel};
use crate::ui::view::draw::{Scene, put};
use crate::ui::view::layout::{Plan, split_bottom};
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::widgets::table;

/// The context of its keys.
pub const CONTEXT: Context = Context::pane("queues", "In the queues");

pub static DEF: PaneDef = PaneDef {
    open_help: Some(("open", "show the decision about the selected pod")),
    sort_help: "sort each queue: its own order, priority, name, attempts",
    sorts: &[
        SortChoice::new(Sort::Usual, "in queue order"),
        SortChoice::new(Sort::Priority, "by priority"),
        SortChoice::new(Sort::Name, "by name"),
        SortChoice::new(Sort::Attempts, "by attempts"),
    ],
    rows: Rows::List { make, get: |model| &model.rows.queues },
    fields: rows::QUEUE_FIELDS,
    total: |_, timeline| Some(timeline.queues().entries.values().filter(|entry| QueuePart::of(&entry.place).is_some()).count()),
    list_area: |plan, inner| split_bottom(inner, note_rows(inner.height, plan.queue_rows)).0,
    columns: heading_columns,
    node: |state, timeline| {
        let entry = timeline.queues().entries.get(state.selected_pod()?)?;
        (!entry.nominated.is_empty()).then(|| entry.nominated.clone())
    },
    open,
    selected,
    ..PaneDef::new(Pane::QUEUES, CONTEXT, ("go-to-queues", "the queues"), draw)
};

fn make(state: &mut State, timeline: &Timeline) {
    let keyframe = timeline.keyframe();
    // The group of the selected pod opens, and stays open.
    if let Some(group) = state.selected_pod().and_then(|pod| rows::group_of(keyframe, pod)) {
        state.choices.open_pod_groups.insert(group);
    }
    let (order, filter) = (state.sort_of(Pane::QUEUES), &mut state.row_filter(Pane::QUEUES));
    state.view_model.rows.queues = rows::queue_rows(timeline, order, filter, &state.choices.open_pod_groups);
}

/// Returns the columns of the headings, which are in the first row if that is a queue's heading.
fn heading_columns(state: &State, _: &Timeline, list: Rect, row: u16) -> Option<Vec<Column>> {
    let first = state.view_model.rows.queues.get(state.list(Pane::QUEUES).offset);
    let shown = matches!(first, Some(QueueRow::Part { .. })) && row == list.y;
    shown.then(|| columns(list.width))
}

/// Shows the decision about the selected pod, even if the user chose another pane. Opens or closes a pod group.
fn open(state: &mut State, session: &mut dyn SessionHandle) {
    if let Some(RowId::PodGroup(group, _)) = state.list(Pane::QUEUES).selected.clone() {
        if !state.choices.open_pod_groups.remove(&group) {
            state.choices.open_pod_groups.insert(group);
        }
        state.touch();
        return;
    }
    let Some(pod) = state.selected_pod().cloned() else { return };
    state.arrangement.pinned = None;
    if time_travel::show_pod(state, session, &pod) {
        time_travel::follow(state, session.timeline());
    } else {
        let why = NotWaiting::of(session.timeline(), &pod).unwrap_or(NotWaiting::NotQueued);
        state.warn(format!("{pod} {why}"));
    }
}

/// Shows the selected pod in the pod pane if that is visible.
fn selected(state: &mut State, plan: &Plan) {
    state.subjects.subject = state.selected_pod().cloned();
    if let Some(pod) = state.subjects.subject.clone().filter(|_| plan.area(Pane::POD).is_some()) {
        state.subjects.pod = Some(pod);
    }
}

/// Returns the rows of the note in a queues pane of this height; more if the list of `listed` rows leaves room.
fn note_rows(height: u16, listed: usize) -> u16 {
    let spare = height.saturating_sub(u16::try_from(listed).unwrap_or(u16::MAX)).min(height * 2 / 3);
    let least = match height {
        ..7 => 0,
        7..10 => 3,
        10..14 => 4,
        14..20 => 5,
        20..30 => height * 2 / 5,
        _ => (height * 2 / 5).clamp(14, 20),
    };
    if least == 0 { 0 } else { least.max(spare) }
}

/// The width from which priority and attempts have columns.
const WITH_NUMBERS: u16 = 56;
/// Columns for priority and attempts.
const NUMBERS: u16 = 19;
/// The columns by which a member is indented in its pod group.
const MEMBER: u16 = 2;
/// The least columns of a pod's name next to [`SIDE`].
const NAME: usize = 16;
/// The width of `InterPodAffinity +2`.
const SIDE: usize = 19;

/// Returns the columns with headings, which are in the row of the first queue; none if the pane is narrow.
fn columns(width: u16) -> Vec<Column> {
    if width < WITH_NUMBERS {
        return Vec::new();
    }
    vec![left("", Width::Rest), right("PRIORITY", Width::Fixed(10)).by(Sort::Priority), right("TRIES", Width::Fixed(5)).by(Sort::Attempts)]
}

/// Draws the queues.
fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let waiting = scene.timeline.queues().entries.len();
    let right = vec![scene.span(Role::Muted, format!("{} waiting", text::thousands(waiting)))];
    let inner = def.chrome(scene, plan, def.title(scene, "Queues"), right, buf);
    let list = def.list_in(plan);
    let rows = &scene.state.view_model.rows.queues;
    def.extent(scene, plan, buf);
    if rows.is_empty() {
        let words = if scene.state.filter(Pane::QUEUES).is_empty() {
            "no pod waits to be scheduled".to_owned()
        } else {
            format!("no waiting pod matches the filter: {} ends it", scene.key(&Action::BACK))
        };
        scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
    }
    for (i, row) in rows.iter().skip(scene.state.list(Pane::QUEUES).offset).take(usize::from(list.height)).enumerate() {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            QueueRow::Part { part, count, inferred } => heading(scene, *part, (*count, *inferred), i == 0, area, buf),
            QueueRow::Pod(key) => pod(scene, key, 0, area, buf),
            QueueRow::Member(key) => pod(scene, key, MEMBER, area, buf),
            QueueRow::Group(row) => group(scene, row, area, buf),
        }
    }
    let notes = split_bottom(inner, inner.height - list.height).1;
    note::draw(scene, notes, buf);
}

fn heading(scene: &Scene<'_>, part: QueuePart, (count, inferred): (usize, usize), first: bool, area: Rect, buf: &mut Buffer) {
    let role = match part {
        QueuePart::InFlight => Role::Accent,
        QueuePart::Active => Role::PointFilter,
        QueuePart::Backoff => Role::Warning,
        QueuePart::Unschedulable => Role::Unresolvable,
        QueuePart::Gated => Role::Gated,
        QueuePart::WaitingOnPermit => Role::Accent,
    };
    let explain = match part {
        QueuePart::Active if scene.state.sort_of(Pane::QUEUES) != Sort::Usual => "to be popped",
        QueuePart::Active => "in pop order",
        QueuePart::Backoff => "back when",
        QueuePart::Unschedulable => "rejected by",
        QueuePart::Gated => "by gate",
        QueuePart::WaitingOnPermit => "assumed on",
        QueuePart::InFlight => "being tried",
    };
    let mut words = vec![
        scene.span(role, part.title()),
        scene.span(Role::Text, format!(" {}", text::thousands(count))),
        scene.span(Role::Muted, format!("  {explain}")),
    ];
    if inferred > 0 {
        let mark = scene.span(Role::Warning, format!("  {}{} inferred", scene.glyphs.inferred, text::thousands(inferred)));
        let width: usize = words.iter().chain([&mark]).map(|s| text::width(&s.content)).sum();
        if width > usize::from(area.width) {
            words.pop();
        }
        words.push(mark);
    }
    let numbers = if first && area.width >= WITH_NUMBERS { NUMBERS } else { 0 };
    put(buf, Rect { width: area.width - numbers, ..area }, &words, scene.glyphs.ellipsis);
    if numbers > 0 {
        let titles = Rect { x: area.right() - NUMBERS, width: NUMBERS, ..area };
        put(buf, titles, &[scene.span(Role::Column, format!("{:>12}{:>7}", "PRIORITY", "TRIES"))], scene.glyphs.ellipsis);
    }
}

/// Draws the row of a pod group: its name, and its pods in this queue.
fn group(scene: &Scene<'_>, row: &PodGroupRow, area: Rect, buf: &mut Buffer) {
    let arrow = if row.open { scene.glyphs.open } else { scene.glyphs.closed };
    let known = scene.timeline.keyframe().snapshot.pod_groups().get(&row.group).map_or(row.count, PodGroupState::pods);
    let full = format!("{} of {}", row.count, text::count(known, "pod"));
    let side = [scene.span(Role::Muted, if row.count == known { text::count(known, "pod") } else { full })];
    let side_width = side.iter().map(|s| text::columns(&s.content)).sum::<u16>().min(area.width / 2);
    let numbers = if area.width >= WITH_NUMBERS { NUMBERS } else { 0 };
    let room = area.width.saturating_sub(numbers);
    let name_width = room.saturating_sub(side_width + 3);
    let name = row.group.to_string();
    let name = text::clip_middle(&name, usize::from(name_width), scene.glyphs.ellipsis);
    let head = [scene.span(Role::Accent, format!("{arrow} ")), scene.span(Role::Strong, name)];
    put(buf, Rect { width: room.saturating_sub(side_width + 1), ..area }, &head, scene.glyphs.ellipsis);
    put(buf, Rect { x: area.x + room.saturating_sub(side_width), width: side_width, ..area }, &side, scene.glyphs.ellipsis);
    let selected = scene.state.list(Pane::QUEUES).selected == Some(PodGroupRow::id(&row.group, row.part));
    table::mark(scene, area, selected, scene.state.focus == Pane::QUEUES, buf);
}

/// Draws the row of a pod, with its name `indent` columns to the right.
fn pod(scene: &Scene<'_>, key: &Key, indent: u16, area: Rect, buf: &mut Buffer) {
    let Some(entry) = scene.timeline.queues().entries.get(key) else { return };
    let shown = scene.cycle().start.as_ref().is_some_and(|s| s.pod == *key);
    let moved = scene.state.view_model.revision.moved.contains(key);
    let (sign, sign_role) = match () {
        () if moved => (scene.glyphs.moved, Role::Moved),
        () if entry.inferred.is_some() => (scene.glyphs.inferred, Role::Warning),
        () => (" ", Role::Text),
    };
    let mark = Rect { width: 2.min(area.width), ..area };
    let here = if shown { scene.glyphs.here } else { " " };
    put(buf, mark, &[scene.span(Role::Accent, here), scene.span(sign_role, sign)], scene.glyphs.ellipsis);
    let numbers = if area.width >= WITH_NUMBERS { NUMBERS } else { 0 };
    let before = (mark.width + indent).min(area.width);
    let body = Rect { x: area.x + before, width: (area.width - before).saturating_sub(numbers), ..area };
    let name = key.to_string();
    // The fact gets the space that the name leaves, or at least a bit less than half, or [`SIDE`] if the name keeps enough.
    let room = usize::from(body.width);
    let spare = room.saturating_sub(text::width(&name) + 1).max(room * 45 / 100).max(room.saturating_sub(NAME + 1).min(SIDE));
    let side = side(scene, entry, area.width < WITH_NUMBERS, spare);
    let taken: usize = side.iter().map(|s| text::width(&s.content)).sum();
    let side_width = taken.min(spare) as u16;
    let name_width = body.width.saturating_sub(side_width + u16::from(side_width > 0));
    let name = text::clip_middle(&name, usize::from(name_width), scene.glyphs.ellipsis);
    let name_role = match (shown, moved) {
        (true, _) => Role::Strong,
        (false, true) => Role::Moved,
        (false, false) => Role::Text,
    };
    put(buf, Rect { width: name_width, ..body }, &[scene.span(name_role, name)], scene.glyphs.ellipsis);
    put(buf, Rect { x: body.right() - side_width, width: side_width, ..body }, &side, scene.glyphs.ellipsis);
    if numbers > 0 {
        let text = format!("{:>12}{:>7}", entry.priority, entry.attempts);
        put(buf, Rect { x: body.right(), width: numbers, ..body }, &[scene.span(Role::Text, text)], scene.glyphs.ellipsis);
    }
    let selected = scene.state.list(Pane::QUEUES).selected == Some(RowId::Pod(key.clone()));
    let focused = scene.state.focus == Pane::QUEUES;
    table::mark(scene, area, selected, focused, buf);
    if !focused && scene.state.view_model.linked.rows.contains(&RowId::Pod(key.clone())) {
        table::link(area, buf);
    }
}

/// A fact next to a name, in full and short.
struct Side {
    full: String,
    short: String,
    role: Role,
}

fn plain(words: impl Into<String>, role: Role) -> Side {
    let full = words.into();
    Side { short: full.clone(), full, role }
}

/// Returns the most important facts about the pod's place that fit into `room` columns.
fn side(scene: &Scene<'_>, entry: &QueueEntry, narrow: bool, room: usize) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut used = 0;
    for (i, side) in sides(scene, entry, narrow).into_iter().enumerate() {
        let gap = if i == 0 { 0 } else { 2 };
        let fits = |text: &str| used + gap + text::width(text) <= room;
        let words = match () {
            () if fits(&side.full) => side.full,
            () if i == 0 || fits(&side.short) => side.short,
            () => break,
        };
        used += gap + text::width(&words);
        spans.push(scene.span(side.role, format!("{}{words}", " ".repeat(gap))));
    }
    spans
}

fn sides(scene: &Scene<'_>, entry: &QueueEntry, narrow: bool) -> Vec<Side> {
    let mut sides = Vec::new();
    match &entry.place {
        Place::Backoff { expires, error } => {
            let now = scene.timeline.clock();
            let left = if *expires > now { format!("in {}", text::until(now, *expires)) } else { "due".to_owned() };
            sides.push(plain(if *error { format!("{left}, error") } else { left }, Role::Warning));
        }
        Place::Unschedulable { gated_by: Some(plugin), .. } => {
            let gates = if *plugin == PluginName::SchedulingGates { note::gates(scene, entry) } else { Vec::new() };
            sides.push(if gates.is_empty() { plain(plugin.as_str(), Role::Gated) } else { several(&gates, Role::Gated) });
        }
        Place::Unschedulable { plugins, .. } => sides.push(match note::group_gate(scene, entry) {
            Some(gate) => plain(format!("with {}", gate.pod.name), Role::Gated),
            None => rejectors(*plugins),
        }),
        Place::WaitingOnPermit { node } => sides.push(plain(node.as_str(), Role::Accent)),
        Place::Active | Place::InFlight | Place::Bound { .. } | Place::Gone => {}
    }
    if !entry.nominated.is_empty() {
        // The nomination of a parked pod matters more than its rejectors.
        let first = if matches!(entry.place, Place::Unschedulable { gated_by: None, .. }) { 0 } else { sides.len() };
        sides.insert(first, plain(format!("{} {}", scene.glyphs.arrow, entry.nominated), Role::Nominated));
    }
    if narrow && matches!(entry.place, Place::Active | Place::InFlight) {
        sides.push(plain(entry.priority.to_string(), Role::Muted));
    }
    if entry.inferred.is_some() {
        sides.push(plain("inferred", Role::Warning));
    }
    sides
}

fn rejectors(plugins: PluginSet) -> Side {
    let names: Vec<&str> = plugins.iter().map(PluginName::as_str).collect();
    if names.is_empty() { plain("unknown", Role::Muted) } else { several(&names, Role::Muted) }
}

/// Returns all names, or in short the first and the number of others.
fn several(names: &[&str], role: Role) -> Side {
    let short = match names {
        [first, _, ..] => format!("{first} +{}", names.len() - 1),
        _ => names.concat(),
    };
    Side { full: names.join(", "), short, role }
}
