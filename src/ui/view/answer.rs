//! The answer in one sentence, below the header.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::trace::{Outcome, Place};
use crate::ui::config::action::Action;
use crate::ui::config::theme::Role;
use crate::ui::model::pane::Pane;
use crate::ui::model::text;
use crate::ui::model::verdict;
use crate::ui::view::draw::Scene;
use crate::ui::view::panes;

/// Draws the sentence on the available lines.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let columns = usize::from(area.width).saturating_sub(4);
    let room = usize::from(area.height);
    let (sign, answer) = answer(scene, |sentence| text::wrapped(sentence, columns).nth(room).is_none());
    let lines = fitted(&answer, columns, room, scene.glyphs.ellipsis);
    for (i, words) in lines.into_iter().take(room).enumerate() {
        let lead = if i == 0 { sign.clone() } else { Span::raw("  ") };
        let line = Line::from(vec![Span::raw(" "), lead, scene.span(Role::Strong, words)]);
        scene.line(buf, Rect { y: area.y + i as u16, height: 1, ..area }, &line);
    }
}

/// Wraps the sentence, and shortens it to at most `room` lines where that is possible. Drops words at the end of its first
/// half, because the pod's name is at the start and the help follows the semicolon.
fn fitted(sentence: &str, columns: usize, room: usize, ellipsis: &str) -> Vec<String> {
    let (way, rest) = sentence.split_once("; ").map_or((sentence, String::new()), |(way, rest)| (way, format!("; {rest}")));
    let words: Vec<&str> = way.split(' ').collect();
    // Remarks in brackets are dropped next.
    let bare = rest.split_once(" (").and_then(|(a, b)| Some(format!("{a}{}", b.split_once(')')?.1)));
    let wrap = |text: &str| text::wrap(text, columns).take(room + 1).collect::<Vec<String>>();
    let mut lines = wrap(sentence);
    for rest in [Some(rest), bare].into_iter().flatten() {
        for kept in (1..words.len()).rev() {
            if lines.len() <= room {
                return lines;
            }
            let way = words[..kept].join(" ");
            lines = wrap(&format!("{}{ellipsis}{rest}", way.trim_end_matches([',', ':'])));
        }
    }
    lines
}

/// Returns why no pod is next.
fn nothing(scene: &Scene<'_>) -> String {
    let queues = scene.timeline.queues();
    // A pod in error backoff is never popped early.
    let early = queues.backoff().into_iter().find(|e| matches!(e.place, Place::Backoff { error: false, .. }));
    match early {
        Some(entry) => format!("activeQ is empty: {} is popped early from backoffQ", entry.pod),
        None if queues.entries.is_empty() => "no pod waits to be scheduled".to_owned(),
        None => format!(
            "activeQ is empty: nothing is to be tried until something changes or time passes ({} lets it)",
            scene.key(&Action::WAIT)
        ),
    }
}

fn answer(scene: &Scene<'_>, fits: impl Fn(&str) -> bool) -> (Span<'static>, String) {
    if scene.state.whole == Some(Pane::OVERVIEW) {
        return panes::overview::answer(scene);
    }
    let cycle = scene.cycle();
    let whole = verdict::answer(cycle).filter(|sentence| fits(sentence));
    let Some(text) = whole.or_else(|| verdict::answer_in_short(cycle)) else {
        let next = scene.timeline.queues().active().first().map(|e| e.pod.to_string());
        let text = match next {
            Some(pod) => {
                let (step, cycle) = (scene.key(&Action::STEP), scene.key(&Action::CYCLE));
                format!("{pod} is the next to be tried: {step} goes step by step, {cycle} takes the whole cycle")
            }
            None => nothing(scene),
        };
        let done = scene.timeline.revision().filter(|f| cycle.start.is_none() && scene.timeline.cursor().event >= f.events.len());
        let text = done.map_or_else(|| text.clone(), |f| format!("{}; {text}", f.title));
        return (scene.span(Role::Accent, format!("{} ", scene.glyphs.here)), text);
    };
    let (sign, role) = match cycle.outcome {
        Some(Outcome::Scheduled) => (scene.glyphs.fits, Role::Fits),
        Some(Outcome::Error) => (scene.glyphs.failed, Role::Failed),
        Some(Outcome::Gated) => (scene.glyphs.unresolvable, Role::Gated),
        Some(Outcome::Unschedulable) if cycle.nominated.as_ref().is_some_and(|n| !n.is_empty()) => (scene.glyphs.winner, Role::Winner),
        Some(Outcome::Unschedulable) => (scene.glyphs.unschedulable, Role::Unresolvable),
        None => (scene.glyphs.here, Role::Accent),
    };
    (scene.span(role, format!("{sign} ")), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_keeps_its_beginning_and_what_would_help() {
        let sentence = "shop/a: pending because of one, two, three, four and five; evicting 2 pods on b (any of 2) makes room.";
        assert_eq!(fitted(sentence, 110, 1, "…"), [sentence]);
        assert_eq!(fitted(sentence, 40, 2, "…"), ["shop/a: pending because of…; evicting 2", "pods on b (any of 2) makes room."]);
        assert_eq!(fitted(sentence, 46, 1, "…"), ["shop/a…; evicting 2 pods on b makes room."]);
        assert!(fitted(sentence, 1, 1, "…").len() > 1, "what cannot be made to fit is left to the drawing");
        assert_eq!(fitted("one two three four five", 10, 1, "…"), ["one two…"]);
    }
}
