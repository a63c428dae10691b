//! The last line: a message to the user, or key hints.

use std::collections::HashSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget as _};

use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::keymap::Row;
use crate::ui::config::theme::Role;
use crate::ui::model::list::RowId;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::pane::Pane;
use crate::ui::model::state::Notice;
use crate::ui::model::text;
use crate::ui::model::text_view::Target;
use crate::ui::view::draw::Scene;
use crate::ui::view::panes::contexts;

/// The columns between two hints.
const GAP: usize = 2;

/// Draws the task that is under way, the notice, or the hints.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    if let Some(words) = under_way(scene) {
        return scene.line(buf, area, &Line::from(scene.span(Role::Notice, words)));
    }
    match &scene.state.notice {
        Some(notice) if notice.above_hints && area.y > 0 => draw_notice(scene, notice, Rect { y: area.y - 1, ..area }, buf),
        Some(notice) => return draw_notice(scene, notice, area, buf),
        None => {}
    }
    draw_keys(scene, area, buf);
}

/// Returns the task that is under way, how far it is, and how it is stopped; `None` without one.
fn under_way(scene: &Scene<'_>) -> Option<String> {
    let (tasks, here, stop) = (&scene.state.tasks, scene.glyphs.here, scene.key(&Action::BACK));
    if let Some(busy) = &tasks.busy {
        let sign = scene.glyphs.turns[busy.ticks % scene.glyphs.turns.len()];
        let stops = if busy.stops { format!("; {stop} stops it") } else { String::new() };
        return Some(format!(" {sign} {}{stops}", busy.what));
    }
    if let Some(running) = &tasks.running {
        let goal = running.until.as_ref().map_or_else(|| "nothing changes".to_owned(), ToString::to_string);
        return Some(format!(" {here} running until {goal}: {} so far; {stop} stops here", text::thousands(running.pieces)));
    }
    let working = tasks.working.as_ref().filter(|_| scene.state.notice.is_none())?;
    let counts = || format!(": {} of {}", text::thousands(working.done), text::thousands(working.of));
    let so_far = if working.of == 0 { String::new() } else { counts() };
    Some(format!(" {here} {}{so_far}; {stop} stops it", working.what))
}

/// Draws the hints. Keys of the focused pane come first; `:`, `?` and `q` are always shown.
fn draw_keys(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let contexts = contexts(scene.state);
    let keymap = &scene.state.settings.keymap;
    // A text without links has nothing to open.
    let leads = !matches!(&scene.state.overlay, Some(Overlay::Help(_)))
        && !matches!(&scene.state.overlay, Some(Overlay::Text(s)) if s.links.is_empty());
    let works = |r: &Row<'_>| !r.binding.short.is_empty() && (leads || Action::Verb(r.binding.verb) != Action::OPEN);
    let shown = |context: &Context| keymap.of(*context).filter(works);
    let branches = !scene.branch.is_empty();
    // There is nothing to compare without a branch.
    let is_of_use = |r: &Row<'_>| branches || r.binding.verb != "compare";
    let (mut fixed, mut rest): (Vec<Row<'_>>, Vec<Row<'_>>) =
        contexts.iter().flat_map(shown).filter(is_of_use).partition(|r| matches!(r.binding.short, "help" | "quit" | "close" | "command"));
    fixed.sort_by_key(|r| r.binding.short != "command");
    // The key of a pane hides the same key of the program.
    let mut known = HashSet::new();
    rest.retain(|r| known.insert(r.label()));
    let focus = scene.state.focus;
    rest.sort_by_key(|r| match r.binding.context {
        Context::GLOBAL => rank(focus, r.binding.verb),
        // It leads away from a text.
        _ => usize::from(r.binding.verb == "compare"),
    });
    let mut spans = vec![Span::raw(" ")];
    let what_opens = opens_a_fix(scene);
    let short = |r: &Row<'_>| match what_opens {
        Some(words) if Action::Verb(r.binding.verb) == Action::OPEN => words,
        _ => r.binding.short,
    };
    let cost = |r: &Row<'_>| text::width(&r.label()) + 1 + short(r).len() + GAP;
    // Nothing follows the last one.
    let mut room = (usize::from(area.width) + GAP).saturating_sub(1 + fixed.iter().map(cost).sum::<usize>());
    let mut push = |r: Row<'_>| {
        spans.push(scene.span(Role::Key, scene.glyphs.keys(&r.label())));
        spans.push(scene.span(Role::Muted, format!(" {}", short(&r))));
        spans.push(scene.span(Role::Muted, " ".repeat(GAP)));
    };
    for row in rest {
        if cost(&row) > room {
            continue;
        }
        room -= cost(&row);
        push(row);
    }
    fixed.into_iter().for_each(&mut push);
    spans.pop();
    scene.line(buf, area, &Line::from(spans));
}

/// Returns the place of a verb that works everywhere among the hints, which are drawn as far as they fit.
fn rank(focus: Pane, verb: &str) -> usize {
    const OF_OVERVIEW: &[&str] = &["agreement", "export", "compare", "step", "cycle", "run"];
    const OF_PANES: &[&str] = &["step", "fixes", "cycle", "step-back", "compare", "run", "until", "export", "agreement", "wait"];
    let order = if focus == Pane::OVERVIEW { OF_OVERVIEW } else { OF_PANES };
    1 + order.iter().position(|known| *known == verb).unwrap_or(order.len())
}

/// Limit on the lines of a message.
const MOST_LINES: usize = 4;

/// Draws a message. One that is longer than the line takes further lines above it.
pub fn draw_notice(scene: &Scene<'_>, notice: &Notice, area: Rect, buf: &mut Buffer) {
    let (sign, role) = if notice.warning { (scene.glyphs.failed, Role::Warning) } else { (scene.glyphs.here, Role::Notice) };
    let lead = format!(" {sign} ");
    let room = usize::from(area.width).saturating_sub(text::width(&lead));
    let mut lines: Vec<String> = text::wrap(&notice.text, room).take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines[MOST_LINES - 1].push_str(scene.glyphs.ellipsis);
    }
    if lines.len() < 2 {
        Clear.render(area, buf);
        buf.set_style(area, scene.style(Role::Text));
        return scene.line(buf, area, &Line::from(scene.span(role, format!("{lead}{}", notice.text))));
    }
    let above = (lines.len() as u16 - 1).min(area.y);
    let area = Rect { y: area.y - above, height: above + 1, ..area };
    Clear.render(area, buf);
    buf.set_style(area, scene.style(Role::Text));
    for (line, y) in lines.into_iter().zip(area.top()..area.bottom()) {
        let lead = if y == area.y { lead.clone() } else { " ".repeat(text::width(&lead)) };
        scene.line(buf, Rect { y, height: 1, ..area }, &Line::from(scene.span(role, format!("{lead}{line}"))));
    }
}

/// Returns what opening does to the fix in the selected row or line, in a word or two; `None` without a fix there.
fn opens_a_fix(scene: &Scene<'_>) -> Option<&'static str> {
    match &scene.state.overlay {
        Some(Overlay::Text(text)) => {
            text.view.selected.is_some_and(|at| matches!(text.links.get(&at), Some(Target::Fix(_)))).then_some("apply")
        }
        Some(_) => None,
        None => {
            let is_fix = scene.state.focus == Pane::OVERVIEW && matches!(scene.state.selected_row(), Some(RowId::CauseFix(_)));
            is_fix.then_some("show fix")
        }
    }
}
