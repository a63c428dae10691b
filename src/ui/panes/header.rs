//! The first line: what is being looked at, and where in time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::session::Started;
use crate::ui::scene::Scene;
use crate::ui::text::{self, count};
use crate::ui::theme::Role;

/// Draws the header.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let right = place(scene);
    let right_width: usize = right.iter().map(|s| text::width(&s.content)).sum();
    let moment = scene.timeline.moment();
    let dot = format!(" {} ", scene.glyphs.dot);
    let facts = [
        (Role::Strong, scene.source.to_owned()),
        (Role::Accent, scene.branch.to_owned()),
        (
            Role::Muted,
            match scene.timeline.started() {
                Started::Fresh => "fresh start".to_owned(),
                Started::AsObserved => "as observed".to_owned(),
            },
        ),
        (Role::Muted, count(moment.cluster.nodes.len(), "node")),
        (Role::Muted, count(moment.cluster.pods.len(), "pod")),
        (Role::Muted, "kube-scheduler v1.36".to_owned()),
    ];
    let mut spans = vec![scene.span(Role::Title, " schedscope  ")];
    let room = usize::from(area.width).saturating_sub(right_width + 2);
    let mut used = text::width(" schedscope  ");
    for (i, (role, fact)) in facts.into_iter().filter(|(_, fact)| !fact.is_empty()).enumerate() {
        used += text::width(&fact) + if i > 0 { text::width(&dot) } else { 0 };
        if i > 0 && used > room {
            break;
        }
        if i > 0 {
            spans.push(scene.span(Role::Muted, dot.clone()));
        }
        spans.push(scene.span(role, fact));
    }
    scene.line(buf, Rect { width: room as u16, ..area }, &Line::from(spans));
    let width = (right_width as u16).min(area.width);
    scene.line(buf, Rect { x: area.right() - width, width, ..area }, &Line::from(right));
}

fn place(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let timeline = scene.timeline;
    let frames = timeline.frames();
    let now = timeline.clock();
    let start = frames.first().map_or(now, |f| f.before.clock);
    let cursor = timeline.cursor();
    let number = if frames.is_empty() { 0 } else { cursor.frame + 1 };
    let steps = timeline.frame().map_or(0, |f| f.events.len());
    let pair = |name: &str, value: String| [scene.span(Role::Muted, format!("{name} ")), scene.span(Role::Text, format!("{value}  "))];
    let mut spans = Vec::new();
    spans.extend(pair("cycle", format!("{number}/{}", frames.len())));
    spans.extend(pair("step", format!("{}/{steps}", cursor.event)));
    spans.extend(pair("clock", text::since(start, now)));
    spans
}
