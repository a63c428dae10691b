//! The answer in one sentence, below the header.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::Sentence;
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
    if room == 0 {
        return;
    }
    let (sign, name, sentence) = answer(scene);
    let lines = fitted(&name, &sentence, columns, room, scene.glyphs.ellipsis);
    for (i, words) in lines.into_iter().take(room).enumerate() {
        let lead = if i == 0 { sign.clone() } else { Span::raw("  ") };
        let line = Line::from(vec![Span::raw(" "), lead, scene.span(Role::Strong, words)]);
        scene.line(buf, Rect { y: area.y + i as u16, height: 1, ..area }, &line);
    }
}

/// Returns a sentence with a name before it; empty names are left out.
fn about(name: &str, sentence: &str) -> String {
    if name.is_empty() { sentence.to_owned() } else { format!("{name}: {sentence}") }
}

/// The fewest words of what follows from a cause; fewer say nothing.
const FEWEST: usize = 4;

/// Wraps the sentence, and shortens it to at most `room` lines where that is possible. A long name loses its middle first, then the
/// cause its remarks in brackets, then the sentence its opening; then what follows behind the semicolon loses its end, and the cause
/// last.
fn fitted(name: &str, sentence: &Sentence, columns: usize, room: usize, ellipsis: &str) -> Vec<String> {
    let wrap = |text: &str| text::wrap(text, columns).take(room + 1).collect::<Vec<String>>();
    let whole = wrap(&about(name, &sentence.to_string()));
    if whole.len() <= room {
        return whole;
    }
    let name = text::clip_middle(name, (columns * room / 4).max(12), ellipsis).into_owned();
    let (cause, rest) = (sentence.shortest_cause(), sentence.rest());
    let cut = |text: &str, kept: usize| {
        let words: Vec<&str> = text.split(' ').take(kept).collect();
        format!("{}{ellipsis}", words.join(" ").trim_end_matches([',', ':', ';']))
    };
    // More words than columns do not fit, however short they are.
    let words = |text: &str| text.split(' ').take(columns * room + 1).count();
    let room_for_more = wrap(&about(&name, cause)).len() <= room;
    let with_rest = (FEWEST..words(rest)).rev().map(|kept| format!("{cause}; {}", cut(rest, kept))).take_while(|_| room_for_more);
    let causes = sentence.causes().map(|cause| format!("{cause}{ellipsis}"));
    let cut_causes = (1..words(cause)).rev().map(|kept| cut(cause, kept));
    let forms = sentence.forms().chain(with_rest).chain(causes).chain(cut_causes);
    forms.map(|form| wrap(&about(&name, &form))).find(|lines| lines.len() <= room).unwrap_or(whole)
}

/// Returns why no pod is next.
fn nothing(scene: &Scene<'_>) -> String {
    let queues = scene.timeline.queues();
    // A pod in error backoff is never popped early.
    let early = queues.backoff().into_iter().find(|e| scene.pops_from_backoff() && matches!(e.place, Place::Backoff { error: false, .. }));
    match early {
        Some(entry) => format!("activeQ is empty: {} is popped early from backoffQ", entry.pod),
        None if queues.entries.is_empty() => "no pod waits to be scheduled".to_owned(),
        None => {
            format!("activeQ is empty: nothing is tried until something changes or time passes ({} advances it)", scene.key(&Action::WAIT))
        }
    }
}

/// Returns the sign, the name of the pod or pod group, and the sentence about it.
fn answer<'a>(scene: &'a Scene<'_>) -> (Span<'static>, String, Cow<'a, Sentence>) {
    if scene.state.arrangement.whole == Some(Pane::OVERVIEW) {
        let (sign, text) = panes::overview::answer(scene);
        return (sign, String::new(), Cow::Owned(text.into()));
    }
    let cycle = scene.cycle();
    let name = verdict::subject(cycle);
    let Some(sentence) = scene.state.view_model.cycle.sentence(cycle) else {
        let (here, next) = (scene.timeline.cursor().event, scene.timeline.queues().active().first().map(|e| e.pod.to_string()));
        // At the start of a revision of the record, the next step is its first.
        let recorded = scene.timeline.revision().filter(|revision| here == 0 && !revision.events.is_empty());
        let text = match next {
            _ if recorded.is_some() => {
                let (step, cycle) = (scene.key(&Action::STEP), scene.key(&Action::CYCLE));
                let what = recorded.map_or_else(String::new, |revision| match revision.explained() {
                    Some(pod) => format!("the decision about {pod}"),
                    None => revision.title.clone(),
                });
                format!("next: {what}; {step} goes through it step by step, {cycle} to its end")
            }
            Some(pod) => {
                let (step, cycle) = (scene.key(&Action::STEP), scene.key(&Action::CYCLE));
                let any = match scene.timeline.queues().alike_next() {
                    0 | 1 => String::new(),
                    alike => format!(" ({alike} came together, and each is as likely)"),
                };
                format!("{pod} is the next to be tried{any}: {step} goes step by step, {cycle} takes the whole cycle")
            }
            None => nothing(scene),
        };
        let done = scene.timeline.revision().filter(|f| cycle.start.is_none() && scene.timeline.cursor().event >= f.events.len());
        let text = done.map_or_else(|| text.clone(), |f| format!("{}; {text}", f.title));
        return (scene.span(Role::Accent, format!("{} ", scene.glyphs.here)), String::new(), Cow::Owned(text.into()));
    };
    let (sign, role) = match cycle.outcome {
        Some(Outcome::Scheduled) => (scene.glyphs.fits, Role::Fits),
        Some(Outcome::Error) => (scene.glyphs.failed, Role::Failed),
        Some(Outcome::Gated) => (scene.glyphs.unresolvable, Role::Gated),
        Some(Outcome::Unschedulable) if cycle.effects.nominated.as_ref().is_some_and(|n| !n.is_empty()) => {
            (scene.glyphs.winner, Role::Winner)
        }
        Some(Outcome::Unschedulable) => (scene.glyphs.unschedulable, Role::Unresolvable),
        None => (scene.glyphs.here, Role::Accent),
    };
    (scene.span(role, format!("{sign} ")), name, Cow::Borrowed(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_sentence_the_cause_stays_and_then_what_follows_from_it() {
        let causes = |causes: &[&str]| causes.iter().map(|cause| (*cause).to_owned()).collect::<Vec<_>>();
        let rest = "evicting 2 pods on b (any of 2) makes room".to_owned();
        let sentence = Sentence::pending(causes(&["one (a, b), two (c) and three", "one, two and three"]), Some(rest.clone()));
        let check = |name: &str, sentence: &Sentence, columns: usize, room: usize, expected: &[&str]| {
            assert_eq!(fitted(name, sentence, columns, room, "…"), expected, "{columns}x{room}");
        };
        for (columns, expected) in [
            (92, "a: Pending because one (a, b), two (c) and three; evicting 2 pods on b (any of 2) makes room."),
            (81, "a: Pending because one, two and three; evicting 2 pods on b (any of 2) makes room."),
            (65, "a: one, two and three; evicting 2 pods on b (any of 2) makes room."),
            (60, "a: one, two and three; evicting 2 pods on b (any of 2) makes…"),
            (50, "a: one, two and three; evicting 2 pods on b (any…"),
            (40, "a: Pending because one, two and three…"),
            (25, "a: one, two and three…"),
            (18, "a: one, two and…"),
        ] {
            check("a", &sentence, columns + 1, 1, &[expected]);
        }
        check("shop/a", &sentence, 40, 2, &["shop/a: one, two and three; evicting 2", "pods on b (any of 2) makes room."]);
        let long = format!("shop/{}-7z2j5", "x".repeat(200));
        let lines = fitted(&long, &sentence, 60, 2, "…");
        assert!(lines.len() == 2 && lines.join(" ").contains("one, two and three; evicting 2 pods"), "{lines:?}");
        assert!(lines[0].contains("7z2j5: "), "{lines:?}");
        assert!(fitted("a", &sentence, 1, 1, "…").len() > 1, "what cannot be made to fit is left to the drawing");
        check("", &"one two three four five".to_owned().into(), 10, 1, &["one two…"]);
        let endless = "word ".repeat(1_000_000);
        check("a", &Sentence::pending(vec![endless.clone()], Some(rest)), 20, 2, &["a: word word word", "word word word word…"]);
        check("a", &Sentence::pending(vec!["cause".to_owned()], Some(endless)), 20, 1, &["a: cause…"]);
    }
}
