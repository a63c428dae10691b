//! The pane of the message: kube-scheduler's verbatim message, and its differences from that of the cluster's scheduler.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::differences;
use crate::trace::{Event, Outcome};
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::pane::Pane;
use crate::ui::model::text;
use crate::ui::model::text_view::scroll_lines;
use crate::ui::view::draw::Scene;
use crate::ui::view::layout::Plan;
use crate::ui::view::pane::PaneDef;
use crate::ui::view::panes::steps::cycle_pod;

/// The context of its keys.
pub const CONTEXT: Context = Context::pane("message", "In the message");

pub static DEF: PaneDef = PaneDef {
    subject: cycle_pod,
    node: |_, timeline| timeline.cycle().current_node.clone(),
    select: |_, state, _, motion, height| scroll_lines(&mut state.message_offset, motion, height),
    scroll: |_, state, _, by, _| state.message_offset = state.message_offset.saturating_add_signed(by.signum()),
    copy: Some(|timeline| match &timeline.cycle().failure {
        Some(failure) => Ok(("the message", failure.message.to_string())),
        None => Err("there is no message to copy"),
    }),
    of_decision: true,
    ..PaneDef::new(Pane::MESSAGE, CONTEXT, ("go-to-message", "the message"), draw)
};

/// Draws the message.
fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let cycle = scene.cycle();
    let reason = match &cycle.failure {
        _ if cycle.nodes_unknown().is_some() => {
            scene.written.map_or_else(String::new, |_| "as the cluster's scheduler reported".to_owned())
        }
        Some(failure) => format!("FailedScheduling, {}", failure.reason),
        None if cycle.effects.bound.is_some() => "Scheduled".to_owned(),
        None => String::new(),
    };
    let mut right = if reason.is_empty() { Vec::new() } else { vec![scene.span(Role::Muted, reason)] };
    let compared = compared(scene);
    if let Some(compared) = &compared {
        let gap = if right.is_empty() { String::new() } else { format!(" {} ", scene.glyphs.dot) };
        right.push(scene.span(Role::Muted, gap));
        let (role, sign, words) = if compared.different.is_empty() {
            (Role::Fits, scene.glyphs.fits, "as the cluster's scheduler reported")
        } else {
            (Role::Notice, scene.glyphs.here, "the cluster's scheduler reported otherwise")
        };
        right.push(scene.span(role, format!("{sign} {words}")));
    }
    def.chrome(scene, plan, def.title(scene, "Message"), right, buf);
    let area = def.list_in(plan);
    let room = usize::from(area.height);
    let lines = lines(scene, compared.as_ref(), area, scene.state.message_offset + room + 1);
    let offset = scene.state.message_offset.min(lines.len().saturating_sub(room));
    for (i, line) in lines.iter().skip(offset).take(room).enumerate() {
        let row = Rect { y: area.y + i as u16, height: 1, ..area };
        scene.line(buf, row, line);
        if i + 1 == room && offset + room < lines.len() {
            let more = Rect { x: area.right() - 1, width: 1, ..row };
            scene.line(buf, more, &Line::from(scene.span(Role::Accent, scene.glyphs.ellipsis)));
        }
    }
}

/// Returns the message, at most `limit` lines. In an area of one row it is one line, which drawing clips.
fn lines(scene: &Scene<'_>, compared: Option<&Compared>, area: Rect, limit: usize) -> Vec<Line<'static>> {
    let columns = usize::from(area.width);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let (words, role) = match &scene.cycle().failure {
        // Our message would be about the nodes that could not be read.
        Some(_) if scene.cycle().nodes_unknown().is_some() => scene.written.map_or_else(
            || ("no message: nothing is reported, and the nodes are unknown", Role::Muted),
            |written| (written.message.as_str(), Role::Text),
        ),
        Some(failure) => (failure.message.as_str(), Role::Text),
        None => (quiet(scene), Role::Muted),
    };
    let written = cycle_note(scene);
    let (words, role) = written.as_deref().map_or((words, role), |note| (note, Role::Text));
    let mut message: Vec<String> = text::wrap(words, columns.saturating_sub(2)).take(limit).collect();
    if area.height == 1 && limit == 2 {
        message = vec![message.join(" ")];
    }
    lines.extend(message.into_iter().map(|line| Line::from(vec![Span::raw("  "), scene.span(role, line)])));
    for words in compared.iter().flat_map(|compared| compared.lines()) {
        let wrapped = text::wrap(&words, columns.saturating_sub(2));
        lines.extend(
            wrapped.take(limit.saturating_sub(lines.len())).map(|line| Line::from(vec![Span::raw("  "), scene.span(Role::Muted, line)])),
        );
    }
    lines
}

/// The comparison with the last report of the cluster's scheduler about this pod.
struct Compared {
    at: String,
    different: Vec<String>,
    other_words: Vec<String>,
}

impl Compared {
    /// Returns the differences and notes; empty if both messages are equal.
    fn lines(&self) -> Vec<String> {
        let differs = self.different.iter().map(|line| format!("the cluster's scheduler{}: {line}", self.at));
        differs.chain(self.other_words.iter().cloned()).collect()
    }
}

fn compared(scene: &Scene<'_>) -> Option<Compared> {
    let written = scene.written?;
    scene.cycle().outcome.filter(|_| scene.cycle().nodes_unknown().is_none())?;
    let at = written.at.map_or_else(String::new, |at| format!(" at {}", text::moment(scene.timeline.clock(), at)));
    let (different, other_words) = differences(scene.cycle(), written, &scene.release);
    Some(Compared { at, different, other_words })
}

/// Returns the note of the Event for a binding.
fn cycle_note(scene: &Scene<'_>) -> Option<String> {
    let bound = scene.cycle().effects.bound.as_ref()?;
    let pod = scene.cycle().start.as_ref()?.pod.clone();
    let event = Event::PodBound { pod, node: bound.clone() }.api_event(|_| None)?;
    Some(event.note)
}

fn quiet(scene: &Scene<'_>) -> &'static str {
    let cycle = scene.cycle();
    match (&cycle.start, cycle.outcome) {
        (_, Some(Outcome::Scheduled)) => "no message: the pod fits",
        (_, Some(Outcome::Gated)) => "no message: the pod is not tried while a gate keeps it out",
        (_, Some(_)) => "no message was written",
        (Some(_), None) => "no message yet: the cycle has not ended",
        (None, None) if scene.timeline.revisions().is_empty() => "no cycle is shown yet",
        (None, None) => "no message: not a scheduling attempt",
    }
}
