//! Where every pending pod waits, and what is known of the selected one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::cluster::Key;
use crate::framework::PluginSet;
use crate::trace::{MoveCause, Place, QueueEntry};
use crate::ui::action::Pane;
use crate::ui::layout::{Plan, split_bottom, split_top};
use crate::ui::list::RowId;
use crate::ui::rows::{QueuePart, QueueRow};
use crate::ui::scene::{Scene, chrome, put, title};
use crate::ui::text;
use crate::ui::theme::Role;
use crate::ui::widgets::table;

/// From this width on, priority and attempts have columns of their own.
const WITH_NUMBERS: u16 = 56;
/// Columns for them.
const NUMBERS: u16 = 19;

/// Draws the queues.
pub fn draw(scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let waiting = scene.timeline.queues().entries.len();
    let right = vec![scene.span(Role::Muted, format!("{} waiting", text::thousands(waiting)))];
    let inner = chrome(scene, plan, Pane::Queues, title(scene, Pane::Queues, "Queues"), right, buf);
    let list = plan.list(Pane::Queues);
    let rows = &scene.state.derived.queues;
    if rows.is_empty() {
        let words =
            if scene.state.filter(Pane::Queues).is_empty() { "no pod waits to be scheduled" } else { "no waiting pod of that name" };
        scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
    }
    for (i, row) in rows.iter().skip(scene.state.queues.offset).take(usize::from(list.height)).enumerate() {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            QueueRow::Part(part, count) => heading(scene, *part, *count, i == 0, area, buf),
            QueueRow::Pod(key) => pod(scene, key, area, buf),
        }
    }
    let notes = split_bottom(inner, inner.height - list.height).1;
    note(scene, notes, buf);
}

fn heading(scene: &Scene<'_>, part: QueuePart, count: usize, first: bool, area: Rect, buf: &mut Buffer) {
    let role = match part {
        QueuePart::InFlight => Role::Accent,
        QueuePart::Active => Role::PointFilter,
        QueuePart::Backoff => Role::Warning,
        QueuePart::Unschedulable => Role::Hopeless,
        QueuePart::Gated => Role::Gated,
        QueuePart::WaitingOnPermit => Role::Accent,
    };
    let explain = match part {
        QueuePart::Active => "in pop order",
        QueuePart::Backoff => "back when",
        QueuePart::Unschedulable => "rejected by",
        QueuePart::Gated => "by",
        QueuePart::WaitingOnPermit => "assumed on",
        QueuePart::InFlight => "being tried",
    };
    put(
        buf,
        area,
        &[
            scene.span(role, part.title()),
            scene.span(Role::Text, format!(" {}", text::thousands(count))),
            scene.span(Role::Muted, format!("  {explain}")),
        ],
        scene.glyphs.ellipsis,
    );
    if first && area.width >= WITH_NUMBERS {
        let titles = Rect { x: area.right() - NUMBERS, width: NUMBERS, ..area };
        put(buf, titles, &[scene.span(Role::Column, format!("{:>12}{:>7}", "PRIORITY", "TRIES"))], scene.glyphs.ellipsis);
    }
}

fn pod(scene: &Scene<'_>, key: &Key, area: Rect, buf: &mut Buffer) {
    let Some(entry) = scene.timeline.queues().entries.get(key) else { return };
    let shown = scene.cycle().start.as_ref().is_some_and(|s| s.pod == *key);
    let sign = if shown { scene.glyphs.here } else { " " };
    let (mark, rest) = (Rect { width: 2.min(area.width), ..area }, area);
    put(buf, mark, &[scene.span(Role::Accent, sign)], scene.glyphs.ellipsis);
    let body = Rect { x: rest.x + mark.width, width: rest.width - mark.width, ..rest };
    let (words, role) = side(scene, entry, area.width < WITH_NUMBERS);
    let numbers = if area.width >= WITH_NUMBERS { NUMBERS } else { 0 };
    let side_width = (text::width(&words) as u16).min(body.width * 45 / 100);
    let name_width = body.width.saturating_sub(side_width + 1 + numbers);
    let name = text::clip_middle(&key.to_string(), usize::from(name_width), scene.glyphs.ellipsis).into_owned();
    let name_role = if shown { Role::Strong } else { Role::Text };
    put(buf, Rect { width: name_width, ..body }, &[scene.span(name_role, name)], scene.glyphs.ellipsis);
    let right = Rect { x: body.right() - side_width - numbers, width: side_width, ..body };
    put(buf, right, &[scene.span(role, words)], scene.glyphs.ellipsis);
    if numbers > 0 {
        let text = format!("{:>12}{:>7}", entry.priority, entry.attempts);
        put(buf, Rect { x: body.right() - numbers, width: numbers, ..body }, &[scene.span(Role::Text, text)], scene.glyphs.ellipsis);
    }
    let selected = scene.state.queues.selected == Some(RowId::Pod(key.clone()));
    table::mark(scene, area, selected, scene.state.focus == Pane::Queues, buf);
}

/// The one fact that matters most where the pod waits.
fn side(scene: &Scene<'_>, entry: &QueueEntry, narrow: bool) -> (String, Role) {
    if !entry.nominated.is_empty() {
        return (format!("{} {}", scene.glyphs.arrow, entry.nominated), Role::Nominated);
    }
    match &entry.place {
        Place::Backoff { expires, error } => {
            let why = if *error { " error" } else { "" };
            (format!("{}{why}", text::until(scene.timeline.moment().clock, *expires)), Role::Warning)
        }
        Place::Unschedulable { gated_by: Some(plugin), .. } => (plugin.to_string(), Role::Gated),
        Place::Unschedulable { plugins, .. } => (plugins_short(*plugins), Role::Muted),
        _ if narrow => (entry.priority.to_string(), Role::Muted),
        _ => (String::new(), Role::Muted),
    }
}

/// The first plugin and how many more.
fn plugins_short(plugins: PluginSet) -> String {
    let mut list = plugins.iter();
    match (list.next(), list.count()) {
        (None, _) => "unknown".to_owned(),
        (Some(one), 0) => one.to_string(),
        (Some(one), more) => format!("{one} +{more}"),
    }
}

fn note(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let (rule, body) = split_top(area, 1);
    for x in rule.left()..rule.right() {
        buf[(x, rule.y)].set_symbol(scene.glyphs.border.horizontal_top).set_style(scene.style(Role::Border));
    }
    let Some(entry) = scene.state.selected_pod().and_then(|k| scene.timeline.queues().entries.get(k)) else { return };
    let mut y = body.y;
    for (name, value, role) in note_lines(scene, entry) {
        let indent = text::width(name);
        for (i, words) in text::wrap(&value, usize::from(body.width).saturating_sub(indent)).into_iter().enumerate() {
            if y >= body.bottom() {
                return;
            }
            let lead = if i == 0 { name.to_owned() } else { " ".repeat(indent) };
            let row = Rect { y, height: 1, ..body };
            put(buf, row, &[scene.span(Role::Muted, lead), scene.span(role, words)], scene.glyphs.ellipsis);
            y += 1;
        }
    }
}

/// What is known of a waiting pod: the name of each fact, what it says and its role.
fn note_lines(scene: &Scene<'_>, entry: &QueueEntry) -> Vec<(&'static str, String, Role)> {
    let dot = scene.glyphs.dot;
    let mut lines =
        vec![("", format!("priority {} {dot} {}", entry.priority, text::count(entry.attempts as usize, "attempt")), Role::Text)];
    if !entry.nominated.is_empty() {
        lines.push(("nominated to ", entry.nominated.to_string(), Role::Nominated));
    }
    match &entry.place {
        Place::Unschedulable { gated_by: Some(_), .. } => {
            let pod = scene.timeline.moment().cluster.pods.get(&entry.pod);
            let gates: Vec<&str> = pod.iter().flat_map(|p| p.spec.scheduling_gates.iter()).map(|g| g.name.as_str()).collect();
            lines.push(("gates ", if gates.is_empty() { "unknown".to_owned() } else { gates.join(", ") }, Role::Text));
        }
        _ if !entry.plugins.is_empty() => {
            let plugins: Vec<&str> = entry.plugins.iter().map(crate::framework::PluginName::as_str).collect();
            lines.push(("rejected by ", plugins.join(", "), Role::Text));
        }
        _ => {}
    }
    match (&entry.last_move, &entry.inferred) {
        (_, Some(why)) => lines.push(("inferred: ", why.clone(), Role::Warning)),
        (Some(m), None) if m.cause == MoveCause::Cycle => lines.push(("moved by ", "being popped for its attempt".to_owned(), Role::Text)),
        (Some(m), None) => {
            let hint = m.plugin.map(|p| format!(", which may help {p}")).unwrap_or_default();
            lines.push(("moved by ", format!("{}{hint}", m.cause), Role::Text));
        }
        (None, None) => lines.push(("moved by ", "unknown".to_owned(), Role::Muted)),
    }
    lines
}
