//! The answer in one sentence, below the header.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::session::RevisionKind;
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
    let (sign, name, sentence) = answer(scene, |text| text::wrapped(text, columns).nth(room).is_none());
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

/// The beginning of a sentence that the sign before it says too.
const PENDING: &str = "Pending because ";

/// The fewest words of a remedy; fewer say nothing.
const FEWEST: usize = 4;

/// Returns a text without its remarks in brackets.
fn without_remarks(text: &str) -> String {
    let (mut bare, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(" (") {
        let Some((_, behind)) = after.split_once(')') else { break };
        bare.push_str(before);
        rest = behind;
    }
    bare.push_str(rest);
    bare
}

/// Wraps the sentence, and shortens it to at most `room` lines where that is possible. Shortens a long name first, in its
/// middle; then the remedy behind the semicolon loses its remarks in brackets, then the cause its own and the
/// words that it is pending; then the remedy loses its end, and the cause last.
fn fitted(name: &str, sentence: &str, columns: usize, room: usize, ellipsis: &str) -> Vec<String> {
    let wrap = |text: &str| text::wrap(text, columns).take(room + 1).collect::<Vec<String>>();
    let whole = wrap(&about(name, sentence));
    if whole.len() <= room {
        return whole;
    }
    let name = text::clip_middle(name, (columns * room / 4).max(12), ellipsis).into_owned();
    let (cause, remedy) = sentence.split_once("; ").map_or((sentence, None), |(cause, remedy)| (cause, Some(remedy)));
    let (bare, bare_cause) = (without_remarks(remedy.unwrap_or_default()), without_remarks(cause));
    let reason = bare_cause.strip_prefix(PENDING).unwrap_or(&bare_cause);
    let cut = |text: &str, kept: usize| {
        let words: Vec<&str> = text.split(' ').take(kept).collect();
        format!("{}{ellipsis}", words.join(" ").trim_end_matches([',', ':', ';']))
    };
    // More words than columns do not fit, however short they are.
    let words = |text: &str| text.split(' ').take(columns * room + 1).count();
    let shortened = (FEWEST..words(&bare)).rev().map(|kept| format!("{reason}; {}", cut(&bare, kept)));
    let room_for_more = wrap(&about(&name, reason)).len() <= room;
    let remedies =
        remedy.into_iter().flat_map(|_| [format!("{cause}; {bare}"), format!("{bare_cause}; {bare}"), format!("{reason}; {bare}")]);
    let remedies = remedies.chain(shortened).take_while(|_| room_for_more);
    let whole_causes = [cause, &bare_cause, reason].map(|cause| format!("{cause}{ellipsis}")).into_iter();
    let causes = whole_causes.chain((1..words(reason)).rev().map(|kept| cut(reason, kept)));
    let forms = std::iter::once(sentence.to_owned()).chain(remedies).chain(causes);
    forms.map(|form| wrap(&about(&name, &form))).find(|lines| lines.len() <= room).unwrap_or(whole)
}

/// Returns why no pod is next.
fn nothing(scene: &Scene<'_>) -> String {
    let queues = scene.timeline.queues();
    // A pod in error backoff is never popped early.
    let early = queues.backoff().into_iter().find(|e| matches!(e.place, Place::Backoff { error: false, .. }));
    match early {
        Some(entry) => format!("activeQ is empty: {} is popped early from backoffQ", entry.pod),
        None if queues.entries.is_empty() => "no pod waits to be scheduled".to_owned(),
        None => {
            format!("activeQ is empty: nothing is tried until something changes or time passes ({} advances it)", scene.key(&Action::WAIT))
        }
    }
}

/// Returns the sign, the name of the pod or pod group, and the sentence about it, with the deciding facts if `fits` allows them.
fn answer(scene: &Scene<'_>, fits: impl Fn(&str) -> bool) -> (Span<'static>, String, String) {
    if scene.state.whole == Some(Pane::OVERVIEW) {
        let (sign, text) = panes::overview::answer(scene);
        return (sign, String::new(), text);
    }
    let cycle = scene.cycle();
    let name = verdict::subject(cycle);
    let model = &scene.state.view_model;
    let whole = model.sentence(cycle).filter(|sentence| fits(&about(&name, sentence)));
    let Some(text) = whole.or_else(|| model.short_sentence(cycle)).map(str::to_owned) else {
        let (here, next) = (scene.timeline.cursor().event, scene.timeline.queues().active().first().map(|e| e.pod.to_string()));
        // At the start of a revision of the record, the next step is its first.
        let recorded = scene.timeline.revision().filter(|revision| here == 0 && !revision.events.is_empty());
        let text = match next {
            _ if recorded.is_some() => {
                let (step, cycle) = (scene.key(&Action::STEP), scene.key(&Action::CYCLE));
                let what = recorded.map_or_else(String::new, |revision| match &revision.kind {
                    RevisionKind::Explain(pod) => format!("the decision about {pod}"),
                    _ => revision.title.clone(),
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
        return (scene.span(Role::Accent, format!("{} ", scene.glyphs.here)), String::new(), text);
    };
    let (sign, role) = match cycle.outcome {
        Some(Outcome::Scheduled) => (scene.glyphs.fits, Role::Fits),
        Some(Outcome::Error) => (scene.glyphs.failed, Role::Failed),
        Some(Outcome::Gated) => (scene.glyphs.unresolvable, Role::Gated),
        Some(Outcome::Unschedulable) if cycle.nominated.as_ref().is_some_and(|n| !n.is_empty()) => (scene.glyphs.winner, Role::Winner),
        Some(Outcome::Unschedulable) => (scene.glyphs.unschedulable, Role::Unresolvable),
        None => (scene.glyphs.here, Role::Accent),
    };
    (scene.span(role, format!("{sign} ")), name, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_sentence_the_cause_stays_and_then_the_remedy() {
        let sentence = "pending because of one, two, three, four and five; evicting 2 pods on b (any of 2) makes room.";
        let check = |name: &str, columns: usize, room: usize, expected: &[&str]| {
            assert_eq!(fitted(name, sentence, columns, room, "…"), expected, "{columns}x{room}");
        };
        check(
            "shop/a",
            110,
            1,
            &["shop/a: pending because of one, two, three, four and five; evicting 2 pods on b (any of 2) makes room."],
        );
        check("shop/a", 95, 1, &["shop/a: pending because of one, two, three, four and five; evicting 2 pods on b makes room."]);
        check("shop/a", 80, 1, &["shop/a: pending because of one, two, three, four and five; evicting 2 pods on b…"]);
        check("shop/a", 65, 1, &["shop/a: pending because of one, two, three, four and five…"]);
        check("shop/a", 40, 2, &["shop/a: pending because of one, two,", "three, four and five…"]);
        check("shop/a", 40, 1, &["shop/a: pending because of one, two…"]);
        let remarks = "pending because one (a, b), two (c) and three; evicting 2 pods on b (any of 2) makes room.";
        for (columns, expected) in [
            (71, "a: pending because one, two and three; evicting 2 pods on b makes room."),
            (60, "a: pending because one, two and three; evicting 2 pods on b…"),
            (52, "a: pending because one (a, b), two (c) and three…"),
            (45, "a: pending because one, two and three…"),
            (30, "a: pending because one, two…"),
        ] {
            let lines = fitted("a", remarks, columns, 1, "…");
            assert_eq!(lines, [expected], "{columns}");
        }
        assert_eq!(without_remarks("a (b"), "a (b");
        assert_eq!(fitted("a", "Pending because one (b); evicting makes room.", 29, 1, "…"), ["a: one; evicting makes room."]);
        let long = format!("shop/{}-7z2j5", "x".repeat(200));
        let lines = fitted(&long, sentence, 60, 2, "…");
        assert!(lines.len() == 2 && lines.join(" ").contains("one, two, three, four and five"), "{lines:?}");
        assert!(lines[0].contains("7z2j5: pending"), "{lines:?}");
        assert!(fitted("a", sentence, 1, 1, "…").len() > 1, "what cannot be made to fit is left to the drawing");
        assert_eq!(fitted("", "one two three four five", 10, 1, "…"), ["one two…"]);
        let endless = "word ".repeat(1_000_000);
        assert_eq!(fitted("a", &format!("{endless}; {endless}"), 20, 2, "…"), ["a: word word word", "word word word word…"]);
        assert_eq!(fitted("a", &format!("cause; {endless}"), 20, 1, "…"), ["a: cause…"]);
    }
}
