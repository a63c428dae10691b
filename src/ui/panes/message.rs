//! What the user is told: the cycle in one plain line, then kube-scheduler's own words to the letter.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::trace::Outcome;
use crate::ui::action::Pane;
use crate::ui::facts;
use crate::ui::layout::Plan;
use crate::ui::scene::{Scene, chrome, title};
use crate::ui::text;
use crate::ui::theme::Role;

/// Draws the message.
pub fn draw(scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let cycle = scene.cycle();
    let reason = match &cycle.failure {
        Some((reason, ..)) => format!("FailedScheduling, {reason}"),
        None => String::new(),
    };
    let right = if reason.is_empty() { Vec::new() } else { vec![scene.span(Role::Muted, reason)] };
    let inner = chrome(scene, plan, Pane::Message, title(scene, Pane::Message, "Message"), right, buf);
    if inner.is_empty() {
        return;
    }
    let first = Rect { height: 1, ..inner };
    scene.line(buf, first, &Line::from(answer(scene)));
    let list = plan.list(Pane::Message);
    let (words, role) = match &cycle.failure {
        Some((_, message, _)) => (message.as_str(), Role::Text),
        None => (quiet(scene), Role::Muted),
    };
    let lines = text::wrap(words, usize::from(list.width));
    let room = usize::from(list.height);
    let offset = scene.state.message_offset.min(lines.len().saturating_sub(room));
    for (i, line) in lines.iter().skip(offset).take(room).enumerate() {
        let more = i + 1 == room && offset + room < lines.len();
        let row = Rect { y: list.y + i as u16, height: 1, ..list };
        let text =
            if more { text::cut(line, usize::from(list.width).min(text::width(line) + 1), scene.glyphs.ellipsis) } else { line.clone() };
        scene.line(buf, row, &Line::from(scene.span(role, text)));
    }
}

fn answer(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let cycle = scene.cycle();
    let nodes = scene.timeline.moment().snapshot.len();
    let Some(text) = facts::answer(cycle, nodes) else {
        let next = scene.timeline.queues().active().first().map(|e| e.pod.to_string());
        let text = match next {
            Some(pod) => format!("{pod} is the next to be tried: n goes step by step, c takes the whole cycle"),
            None => "activeQ is empty: nothing is to be tried now".to_owned(),
        };
        return vec![scene.span(Role::Strong, text)];
    };
    let (sign, role) = match cycle.outcome {
        Some(Outcome::Scheduled) => (scene.glyphs.fits, Role::Fits),
        Some(Outcome::Error) => (scene.glyphs.failed, Role::Failed),
        Some(Outcome::Gated) => (scene.glyphs.hopeless, Role::Gated),
        Some(Outcome::Unschedulable) if cycle.nominated.as_ref().is_some_and(|n| !n.is_empty()) => (scene.glyphs.winner, Role::Winner),
        Some(Outcome::Unschedulable) => (scene.glyphs.may_help, Role::Hopeless),
        None => (scene.glyphs.here, Role::Accent),
    };
    vec![scene.span(role, format!("{sign} ")), scene.span(Role::Strong, text)]
}

fn quiet(scene: &Scene<'_>) -> &'static str {
    let cycle = scene.cycle();
    match (&cycle.start, &cycle.outcome) {
        (None, _) => "no cycle is shown yet",
        (Some(_), None) => "no message yet: the cycle goes on",
        (Some(_), Some(_)) => "no message: the pod was scheduled",
    }
}
