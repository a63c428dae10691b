//! The answer in one plain sentence, right under the header.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::trace::{Outcome, Place};
use crate::ui::action::{Action, Direction};
use crate::ui::driver::HowFar;
use crate::ui::facts;
use crate::ui::scene::Scene;
use crate::ui::text;
use crate::ui::theme::Role;

/// Draws the sentence on the lines there are.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let (sign, answer) = answer(scene);
    let columns = usize::from(area.width).saturating_sub(4);
    let room = usize::from(area.height);
    let lines = fitted(&answer, columns, room, scene.glyphs.ellipsis);
    for (i, words) in lines.into_iter().take(room).enumerate() {
        let lead = if i == 0 { sign.clone() } else { Span::raw("  ") };
        let line = Line::from(vec![Span::raw(" "), lead, scene.span(Role::Strong, words)]);
        scene.line(buf, Rect { y: area.y + i as u16, height: 1, ..area }, &line);
    }
}

/// The sentence in so many lines. Where it is too long, words go from its middle: who it is about stands at its beginning,
/// and what would help at its end.
fn fitted(sentence: &str, columns: usize, room: usize, ellipsis: &str) -> Vec<String> {
    let mut lines = text::wrap(sentence, columns);
    let words: Vec<&str> = sentence.split(' ').collect();
    let mut gone = 1;
    while lines.len() > room && gone < words.len() {
        // A third of what stays is from the beginning.
        let head = (words.len() - gone) / 3;
        let kept: Vec<&str> = words[..head].iter().copied().chain([ellipsis]).chain(words[head + gone..].iter().copied()).collect();
        lines = text::wrap(&kept.join(" "), columns);
        gone += 1;
    }
    lines
}

/// Why nothing is to be tried now.
fn nothing(scene: &Scene<'_>) -> String {
    let queues = scene.timeline.queues();
    // An error's backoff is never cut short.
    let early = queues.backoff().into_iter().find(|e| matches!(e.place, Place::Backoff { error: false, .. }));
    match early {
        Some(entry) => format!("activeQ is empty: {} is popped early from backoffQ", entry.pod),
        None if queues.entries.is_empty() => "no pod waits to be scheduled".to_owned(),
        None => format!(
            "activeQ is empty: nothing is to be tried until something changes or time passes ({} lets it)",
            scene.key(&Action::Advance(HowFar::NextWakeUp))
        ),
    }
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
            None => nothing(scene),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_keeps_its_beginning_and_its_end() {
        let sentence = "shop/a: pending because of one, two, three, four and five; evicting 2 pods on b makes room.";
        assert_eq!(fitted(sentence, 100, 1, "…"), [sentence]);
        let short = fitted(sentence, 30, 2, "…");
        assert_eq!(short.len(), 2, "{short:?}");
        assert!(short[0].starts_with("shop/a: pending") && short[1].ends_with("makes room."), "{short:?}");
        assert!(short.iter().any(|l| l.contains('…')), "{short:?}");
        assert!(fitted(sentence, 1, 1, "…").len() > 1, "what cannot be made to fit is left to the drawing");
    }
}
