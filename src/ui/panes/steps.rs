//! The record of the cycle as plain sentences around the cursor, and the scrub bar over everything recorded.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::session::Revision;
use crate::ui::action::{Action, Direction, Pane};
use crate::ui::facts;
use crate::ui::layout::Plan;
use crate::ui::scene::{Scene, chrome, title};
use crate::ui::text;
use crate::ui::theme::Role;
use crate::ui::update::phrase;
use crate::ui::widgets::scrub_bar;

/// Width of the column that names the extension point.
const POINT: usize = 11;

/// Draws the steps.
pub fn draw(scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let mut heading = title(scene, Pane::Steps, "Steps");
    heading.push(scene.span(Role::Muted, format!("  a step is {}", phrase(scene.state.step_size))));
    let used: usize = heading.iter().map(|s| text::width(&s.content)).sum();
    let width = usize::from(plan.area(Pane::Steps).map_or(0, |a| a.width));
    chrome(scene, plan, Pane::Steps, heading, points(scene, width.saturating_sub(used + 10)), buf);
    let list = plan.list(Pane::Steps);
    match scene.timeline.revision() {
        Some(revision) => sentences(scene, revision, list, buf),
        None => {
            let (step, cycle) = (scene.key(&Action::Step(Direction::Forward)), scene.key(&Action::Cycle(Direction::Forward)));
            let words = format!("nothing has happened yet: {step} takes the first step, {cycle} a whole cycle");
            scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
        }
    }
    scrub_bar::draw(scene, plan.scrub, buf);
}

/// The parts of the cycle, the one at the cursor marked; where there is too little room, those around it.
fn points(scene: &Scene<'_>, room: usize) -> Vec<Span<'static>> {
    // A part that comes twice, such as the queue, is marked where the cursor has got to.
    let done = passed(scene);
    let parts = &scene.state.derived.points;
    let (mut from, mut to) = (0, parts.len());
    let taken = |from: usize, to: usize| {
        let cut = usize::from(from > 0) + usize::from(to < parts.len());
        parts[from..to].iter().map(|p| text::width(p) + 3).sum::<usize>() + cut * 4
    };
    while from < to && taken(from, to) > room {
        if done > from + (to - from) / 2 + 1 {
            from += 1;
        } else {
            to -= 1;
        }
    }
    let dot = || scene.span(Role::Muted, format!(" {} ", scene.glyphs.dot));
    let mut spans = Vec::new();
    if from > 0 {
        spans.extend([scene.span(Role::Muted, scene.glyphs.ellipsis), dot()]);
    }
    for (i, part) in parts.iter().enumerate().take(to).skip(from) {
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
    spans
}

/// How many of the cycle's parts have been entered.
fn passed(scene: &Scene<'_>) -> usize {
    let Some(revision) = scene.timeline.revision() else { return 0 };
    let mut count = 0;
    let mut last = None;
    for event in &revision.events[..scene.timeline.cursor().event] {
        let part = facts::part(event);
        if last != Some(part) {
            count += 1;
            last = Some(part);
        }
    }
    count
}

fn sentences(scene: &Scene<'_>, revision: &Revision, list: Rect, buf: &mut Buffer) {
    let room = usize::from(list.height);
    let here = scene.timeline.cursor().event;
    // Line 0 is the operation itself; line i the i-th event. A third of the room looks ahead.
    let total = revision.events.len() + 1;
    let first = (here + 1 + room / 3).min(total).saturating_sub(room);
    for (row, at) in (first..total.min(first + room)).enumerate() {
        let area = Rect { y: list.y + row as u16, height: 1, ..list };
        let current = at == here;
        let role = match () {
            () if current => Role::Current,
            () if at < here => Role::Past,
            () => Role::Ahead,
        };
        let sign = if current { scene.glyphs.here } else { " " };
        let mut spans = vec![scene.span(Role::Accent, format!("{sign} "))];
        match at.checked_sub(1).map(|i| &revision.events[i]) {
            None => spans.push(scene.span(role, revision.title.clone())),
            Some(event) => {
                let role_of_part = if at > here { Role::Ahead } else { scrub_bar::role(event) };
                spans.push(scene.span(role_of_part, format!("{:<POINT$} ", facts::part(event))));
                spans.push(scene.span(role, event.sentence()));
            }
        }
        scene.line(buf, area, &Line::from(spans));
        if current && scene.state.focus == Pane::Steps {
            buf.set_style(area, scene.style(Role::Selection));
        }
    }
}
