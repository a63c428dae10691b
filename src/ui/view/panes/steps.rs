//! The pane of steps: the cycle's events as sentences around the cursor, and the scrub bar.

mod fold;

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use self::fold::StepLine;
use crate::output;
use crate::session::Revision;
use crate::session::Timeline;
use crate::trace::{Event, StepSize};
use crate::ui::config::action::{Action, Direction, Motion};
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::model::time_travel::{step_words_at, walk};
use crate::ui::model::verdict;
use crate::ui::model::{text, time_travel};
use crate::ui::view::draw::Scene;
use crate::ui::view::layout::{Plan, split_bottom};
use crate::ui::view::pane::PaneDef;
use crate::ui::view::widgets::scrub_bar;

/// The context of its keys.
pub const CONTEXT: Context = Context::pane("steps", "In the steps");

pub static DEF: PaneDef = PaneDef {
    list_area: |_, inner| if inner.height > 1 { split_bottom(inner, 1).0 } else { inner },
    subject: cycle_pod,
    node: |_, timeline| timeline.cycle().current_node.clone(),
    select,
    scroll: |_, state, session, by, _| {
        let direction = if by > 0 { Direction::Forward } else { Direction::Back };
        walk(state, session, direction, StepSize::Event);
    },
    of_decision: true,
    moves_cursor: true,
    ..PaneDef::new(Pane::STEPS, CONTEXT, ("go-to-steps", "the steps"), draw)
};

/// Returns the pod of the cycle, or the pod that the user chose last.
pub fn cycle_pod(state: &State, timeline: &Timeline) -> Option<RowId> {
    timeline.cycle().start.as_ref().map(|s| s.pod.clone()).or_else(|| state.subjects.subject.clone()).map(RowId::Pod)
}

/// Moves the cursor by events, by extension points, or to the ends of the cycle.
fn select(_: &PaneDef, state: &mut State, session: &mut dyn SessionHandle, motion: Motion, _: usize) {
    match motion {
        Motion::Up => walk(state, session, Direction::Back, StepSize::Event),
        Motion::Down => walk(state, session, Direction::Forward, StepSize::Event),
        Motion::HalfPageUp | Motion::PageUp => walk(state, session, Direction::Back, StepSize::ExtensionPoint),
        Motion::HalfPageDown | Motion::PageDown => walk(state, session, Direction::Forward, StepSize::ExtensionPoint),
        Motion::Top => time_travel::cycle_back(state, session),
        Motion::Bottom => walk(state, session, Direction::Forward, StepSize::Cycle),
    }
}

/// Width of the column that names the extension point.
const POINT: usize = 11;

/// Draws the steps.
fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let mut heading = def.title(scene, "Steps");
    let width = usize::from(plan.area(Pane::STEPS).map_or(0, |a| a.width));
    let room = |heading: &[Span<'_>]| width.saturating_sub(heading.iter().map(|s| text::width(&s.content)).sum::<usize>() + 10);
    let size = scene.span(Role::Muted, format!("  a step is {}", step_words_at(scene.state.step_size, scene.timeline)));
    // The part of the cycle is worth more than the step size.
    let without = room(&heading);
    heading.push(size);
    let points = points(scene, room(&heading)).or_else(|| {
        let points = points(scene, without)?;
        heading.pop();
        Some(points)
    });
    def.chrome(scene, plan, heading, points.unwrap_or_default(), buf);
    let list = def.list_in(plan);
    match scene.timeline.revision() {
        Some(revision) => sentences(scene, revision, list, buf),
        None => {
            let (step, cycle) = (scene.key(&Action::STEP), scene.key(&Action::CYCLE));
            let words = format!("nothing has happened yet: {step} takes the first step, {cycle} a whole cycle");
            scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
        }
    }
    scrub_bar::draw(scene, plan.scrub, buf);
}

/// Returns the range of parts that have room around the current one; `None` if there is no room for it.
fn around(widths: &[usize], here: usize, room: usize) -> Option<Range<usize>> {
    /// The columns of ` · ` between parts.
    const GAP: usize = 3;
    let (mut from, mut to) = (0, widths.len());
    let taken = |from: usize, to: usize| {
        let cut = usize::from(from > 0) + usize::from(to < widths.len());
        widths[from..to].iter().map(|width| width + GAP).sum::<usize>() + cut * (GAP + 1)
    };
    while to - from > 1 && taken(from, to) > room {
        if here > from + (to - from) / 2 || here + 1 == to { from += 1 } else { to -= 1 }
    }
    (from < to && taken(from, to) <= room).then_some(from..to)
}

/// Returns the parts of the cycle with the current one marked; those around it if there is too little room, and `None` if there is
/// none for it.
fn points(scene: &Scene<'_>, room: usize) -> Option<Vec<Span<'static>>> {
    // A part that occurs twice, such as Queue, is marked at the cursor's occurrence.
    let done = passed(scene);
    let parts = &scene.state.view_model.cycle.points;
    if parts.is_empty() {
        return Some(Vec::new());
    }
    let widths: Vec<usize> = parts.iter().map(|(_, point)| text::width(point)).collect();
    let Range { start: from, end: to } = around(&widths, done.saturating_sub(1), room)?;
    let dot = || scene.span(Role::Muted, format!(" {} ", scene.glyphs.dot));
    let mut spans = Vec::new();
    if from > 0 {
        spans.extend([scene.span(Role::Muted, scene.glyphs.ellipsis), dot()]);
    }
    for (i, (_, part)) in parts.iter().enumerate().take(to).skip(from) {
        if i > from {
            spans.push(dot());
        }
        let (sign, role) = match () {
            () if i + 1 == done => (scene.glyphs.here, Role::Current),
            () if i < done => ("", Role::Text),
            () => ("", Role::Muted),
        };
        spans.push(scene.span(role, format!("{sign}{part}")));
    }
    if to < parts.len() {
        spans.extend([dot(), scene.span(Role::Muted, scene.glyphs.ellipsis)]);
    }
    Some(spans)
}

/// Returns the number of parts entered up to the cursor.
fn passed(scene: &Scene<'_>) -> usize {
    let event = scene.timeline.cursor().event;
    scene.state.view_model.cycle.points.partition_point(|(start, _)| *start < event)
}

/// Returns the sentence of an event. If it has more columns than there is room, shortens the pod's name, then leaves out its
/// priority, then shortens both names further: the verdict is at the end and stays.
fn fitting(event: &Event, room: usize, ellipsis: &str) -> String {
    let words = event.words();
    let mut parts: Vec<(&output::Span, String)> = words.spans().iter().map(|span| (span, span.to_string())).collect();
    let over = |parts: &[(&output::Span, String)]| parts.iter().map(|(_, text)| text::width(text)).sum::<usize>().saturating_sub(room);
    let shorten = |parts: &mut Vec<(&output::Span, String)>, is_wanted: fn(&output::Span) -> bool, least: usize| {
        let over = over(parts);
        if let Some((_, name)) = parts.iter_mut().find(|(span, _)| over > 0 && is_wanted(span)) {
            *name = text::clip_middle(name, text::width(name).saturating_sub(over).max(least), ellipsis).into_owned();
        }
    };
    let is_pod = |span: &output::Span| matches!(span, output::Span::Pod(_));
    let is_node = |span: &output::Span| matches!(span, output::Span::Node(_));
    shorten(&mut parts, is_pod, 20);
    if over(&parts) > 0 {
        parts.retain(|(span, _)| !matches!(span, output::Span::Remark(_)));
    }
    shorten(&mut parts, is_pod, 10);
    shorten(&mut parts, is_node, 10);
    parts.into_iter().map(|(_, text)| text).collect()
}

fn sentences(scene: &Scene<'_>, revision: &Revision, list: Rect, buf: &mut Buffer) {
    let room = usize::from(list.height);
    let here = scene.timeline.cursor().event;
    let lines = fold::lines(revision.events.len(), &scene.state.view_model.cycle.members, here, room);
    for (row, line) in lines.into_iter().enumerate() {
        let area = Rect { y: list.y + row as u16, height: 1, ..list };
        let at = match &line {
            StepLine::Title => 0,
            StepLine::Event(event) => event + 1,
            StepLine::Part(part) => part.end,
        };
        let current = at == here && !matches!(line, StepLine::Part(_));
        let role = match () {
            () if current => Role::Current,
            () if at <= here => Role::Past,
            () => Role::Ahead,
        };
        let sign = if current { scene.glyphs.here } else { " " };
        let mut spans = vec![scene.span(Role::Accent, format!("{sign} "))];
        let (event, more) = match line {
            StepLine::Title => (None, 0),
            StepLine::Event(event) => (revision.events.get(event), 0),
            StepLine::Part(part) => (revision.events.get(part.start), part.len() - 1),
        };
        match event {
            None => spans.push(scene.span(role, revision.title.clone())),
            Some(event) => {
                let role_of_part = if at > here { Role::Ahead } else { scrub_bar::role(&event) };
                spans.push(scene.span(role_of_part, format!("{:<POINT$} ", verdict::part(&event))));
                spans.push(scene.span(role, fitting(&event, usize::from(area.width).saturating_sub(POINT + 3), scene.glyphs.ellipsis)));
            }
        }
        if more > 0 {
            spans.push(scene.span(Role::Muted, format!("  {} {}", scene.glyphs.closed, text::count(more, "more step"))));
        }
        scene.line(buf, area, &Line::from(spans));
        if current && scene.state.focus == Pane::STEPS {
            buf.set_style(area, scene.style(Role::Selection));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_part_of_the_cycle_is_never_the_one_without_room() {
        let widths = [5, 10, 9, 6, 10, 7, 3];
        for here in 0..widths.len() {
            for room in 0..80 {
                match around(&widths, here, room) {
                    Some(parts) => assert!(parts.contains(&here), "{here} is not in {parts:?} of {room} columns"),
                    // Between two ellipses.
                    None => assert!(room < widths[here] + 3 + 8, "{here} has room in {room} columns"),
                }
            }
        }
        assert_eq!(around(&widths, 4, 22), Some(4..5));
        assert_eq!(around(&widths, 4, 200), Some(0..7));
        assert_eq!(around(&[], 0, 80), None);
    }
}
