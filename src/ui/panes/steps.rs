//! The record of the cycle as plain sentences around the cursor, and the scrub bar over everything recorded.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::session::Frame;
use crate::ui::action::Pane;
use crate::ui::layout::Plan;
use crate::ui::scene::{Scene, chrome, title};
use crate::ui::theme::Role;
use crate::ui::update::phrase;
use crate::ui::widgets::scrub_bar;

/// Width of the column that names the extension point.
const POINT: usize = 11;

/// Draws the steps.
pub fn draw(scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let mut heading = title(scene, Pane::Steps, "Steps");
    heading.push(scene.span(Role::Muted, format!("  a step is {}", phrase(scene.state.granularity))));
    chrome(scene, plan, Pane::Steps, heading, points(scene), buf);
    let list = plan.list(Pane::Steps);
    match scene.timeline.frame() {
        Some(frame) => sentences(scene, frame, list, buf),
        None => {
            let words = "nothing has happened yet: n takes the first step, c a whole cycle";
            scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, words)));
        }
    }
    scrub_bar::draw(scene, plan.scrub, buf);
}

/// The extension points of the cycle, the one at the cursor marked.
fn points(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let current = scene.timeline.current().map(crate::trace::Event::extension_point);
    let mut spans = Vec::new();
    let mut marked = false;
    // A point that comes twice, such as the queue, is marked where the cursor has got to.
    let done = passed(scene);
    for (i, point) in scene.state.derived.points.iter().enumerate() {
        if i > 0 {
            spans.push(scene.span(Role::Ahead, format!(" {} ", scene.glyphs.dot)));
        }
        let here = !marked && current == Some(*point) && i + 1 == done;
        marked |= here;
        let role = if here {
            Role::Current
        } else if i < done {
            scrub_bar::role(*point)
        } else {
            Role::Muted
        };
        let sign = if here { scene.glyphs.here } else { "" };
        spans.push(scene.span(role, format!("{sign}{point}")));
    }
    spans
}

/// How many of the cycle's extension points have been entered.
fn passed(scene: &Scene<'_>) -> usize {
    let Some(frame) = scene.timeline.frame() else { return 0 };
    let mut count = 0;
    let mut last = None;
    for event in &frame.events[..scene.timeline.cursor().event] {
        let point = event.extension_point();
        if last != Some(point) {
            count += 1;
            last = Some(point);
        }
    }
    count
}

fn sentences(scene: &Scene<'_>, frame: &Frame, list: Rect, buf: &mut Buffer) {
    let room = usize::from(list.height);
    let here = scene.timeline.cursor().event;
    // Line 0 is the operation itself; line i the i-th event. A third of the room looks ahead.
    let total = frame.events.len() + 1;
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
        match at.checked_sub(1).map(|i| &frame.events[i]) {
            None => spans.push(scene.span(role, frame.title.clone())),
            Some(event) => {
                let point = event.extension_point();
                let point_role = if at > here { Role::Ahead } else { scrub_bar::role(point) };
                spans.push(scene.span(point_role, format!("{:<POINT$} ", point.to_string())));
                spans.push(scene.span(role, event.sentence()));
            }
        }
        scene.line(buf, area, &Line::from(spans));
        if current && scene.state.focus == Pane::Steps {
            buf.set_style(area, scene.style(Role::Selection));
        }
    }
}
