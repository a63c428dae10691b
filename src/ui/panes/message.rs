//! What the user is told: the cycle in one plain line, then kube-scheduler's own words to the letter.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::report::differences;
use crate::trace::{Event, Outcome};
use crate::ui::action::{Action, Direction, Pane};
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
        None if cycle.bound.is_some() => "Scheduled".to_owned(),
        None => String::new(),
    };
    let mut right = if reason.is_empty() { Vec::new() } else { vec![scene.span(Role::Muted, reason)] };
    let beside = beside(scene);
    if let Some(beside) = &beside {
        let gap = if right.is_empty() { String::new() } else { format!(" {} ", scene.glyphs.dot) };
        right.push(scene.span(Role::Muted, gap));
        let (role, sign, words) = if beside.different.is_empty() {
            (Role::Fits, scene.glyphs.fits, "as the cluster's scheduler wrote")
        } else {
            (Role::Notice, scene.glyphs.here, "the cluster's scheduler wrote otherwise")
        };
        right.push(scene.span(role, format!("{sign} {words}")));
    }
    chrome(scene, plan, Pane::Message, title(scene, Pane::Message, "Message"), right, buf);
    let area = plan.list(Pane::Message);
    let lines = lines(scene, beside.as_ref(), area.width);
    let room = usize::from(area.height);
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

/// The plain answer, then the message.
fn lines(scene: &Scene<'_>, beside: Option<&Beside>, width: u16) -> Vec<Line<'static>> {
    let columns = usize::from(width);
    let (sign, answer) = answer(scene);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (i, words) in text::wrap(&answer, columns.saturating_sub(2)).into_iter().enumerate() {
        let lead = if i == 0 { sign.clone() } else { Span::raw("  ") };
        lines.push(Line::from(vec![lead, scene.span(Role::Strong, words)]));
    }
    let (words, role) = match &scene.cycle().failure {
        Some((_, message, _)) => (message.as_str(), Role::Text),
        None => (quiet(scene), Role::Muted),
    };
    let written = cycle_note(scene);
    let (words, role) = written.as_deref().map_or((words, role), |note| (note, Role::Text));
    let message = text::wrap(words, columns.saturating_sub(2)).into_iter();
    lines.extend(message.map(|line| Line::from(vec![Span::raw("  "), scene.span(role, line)])));
    for words in beside.iter().flat_map(|beside| beside.lines()) {
        let wrapped = text::wrap(&words, columns.saturating_sub(2)).into_iter();
        lines.extend(wrapped.map(|line| Line::from(vec![Span::raw("  "), scene.span(Role::Muted, line)])));
    }
    lines
}

/// What the cluster's scheduler last wrote about this pod.
struct Beside {
    at: String,
    different: Vec<String>,
    other_words: Vec<String>,
}

impl Beside {
    /// What is to be said of it: nothing where it is the same to the letter.
    fn lines(&self) -> Vec<String> {
        let differs = self.different.iter().map(|line| format!("the cluster's scheduler{}: {line}", self.at));
        differs.chain(self.other_words.iter().cloned()).collect()
    }
}

fn beside(scene: &Scene<'_>) -> Option<Beside> {
    let written = scene.written?;
    scene.cycle().outcome?;
    let at = written.at.map_or_else(String::new, |at| format!(" at {}", text::time_of_day(at)));
    let (different, other_words) = differences(scene.cycle(), written);
    Some(Beside { at, different, other_words })
}

/// The note of the Event that a binding writes.
fn cycle_note(scene: &Scene<'_>) -> Option<String> {
    let bound = scene.cycle().bound.as_ref()?;
    let pod = scene.cycle().start.as_ref()?.pod.clone();
    let event = Event::PodBound { pod, node: bound.clone() }.api_event(|_| None)?;
    Some(event.note)
}

fn answer(scene: &Scene<'_>) -> (Span<'static>, String) {
    let cycle = scene.cycle();
    let Some(text) = facts::answer(cycle) else {
        let next = scene.timeline.queues().active().first().map(|e| e.pod.to_string());
        let text = match next {
            Some(pod) => {
                let (step, cycle) = (scene.key(&Action::Step(Direction::Forward)), scene.key(&Action::Cycle(Direction::Forward)));
                format!("{pod} is the next to be tried: {step} goes step by step, {cycle} takes the whole cycle")
            }
            None => "activeQ is empty: nothing is to be tried now".to_owned(),
        };
        return (scene.span(Role::Accent, format!("{} ", scene.glyphs.here)), text);
    };
    let (sign, role) = match cycle.outcome {
        Some(Outcome::Scheduled) => (scene.glyphs.fits, Role::Fits),
        Some(Outcome::Error) => (scene.glyphs.failed, Role::Failed),
        Some(Outcome::Gated) => (scene.glyphs.hopeless, Role::Gated),
        Some(Outcome::Unschedulable) if cycle.nominated.as_ref().is_some_and(|n| !n.is_empty()) => (scene.glyphs.winner, Role::Winner),
        Some(Outcome::Unschedulable) => (scene.glyphs.may_help, Role::Hopeless),
        None => (scene.glyphs.here, Role::Accent),
    };
    (scene.span(role, format!("{sign} ")), text)
}

fn quiet(scene: &Scene<'_>) -> &'static str {
    let cycle = scene.cycle();
    match (&cycle.start, cycle.outcome) {
        (_, Some(Outcome::Scheduled)) => "no message: the pod fits",
        (_, Some(Outcome::Gated)) => "no message: the pod is not tried while a gate keeps it out",
        (_, Some(_)) => "no message was written",
        (Some(_), None) => "no message yet: the cycle goes on",
        (None, None) => "no cycle is shown yet",
    }
}
