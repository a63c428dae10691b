//! The lines of the steps: one for each event. In the cycle of a pod group, the part of each member is one line, which opens
//! while the cursor is in it.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StepLine {
    /// The operation itself.
    Title,
    /// An event, by its index.
    Event(usize),
    /// The events of a member's part.
    Part(Range<usize>),
}

/// Returns the `room` lines around the cursor, a third of them ahead. `here` is the number of events up to the cursor, of
/// `events`; `parts` are those of members, in order.
pub(super) fn lines(events: usize, parts: &[Range<usize>], here: usize, room: usize) -> Vec<StepLine> {
    let is_open = |part: &&Range<usize>| here.checked_sub(1).is_some_and(|at| part.contains(&at));
    let closed: Vec<&Range<usize>> = parts.iter().filter(|part| !is_open(part) && part.len() > 1).collect();
    let hidden = |part: &Range<usize>| part.len() - 1;
    let total = events + 1 - closed.iter().map(|part| hidden(part)).sum::<usize>();
    let at = here - closed.iter().filter(|part| part.end <= here).map(|part| hidden(part)).sum::<usize>();
    let first = (at + 1 + room / 3).min(total).saturating_sub(room);
    let mut lines = Vec::new();
    // Line 0 is the operation itself.
    let (mut line, mut event) = (1, 0);
    if first == 0 && room > 0 {
        lines.push(StepLine::Title);
    }
    let end = events..events;
    for part in closed.into_iter().chain([&end]) {
        let skipped = first.saturating_sub(line).min(part.start - event);
        for shown in event + skipped..part.start {
            if lines.len() == room {
                return lines;
            }
            lines.push(StepLine::Event(shown));
        }
        line += part.start - event;
        event = part.end;
        if !part.is_empty() {
            if line >= first && lines.len() < room {
                lines.push(StepLine::Part(part.clone()));
            }
            line += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::StepLine::{Event, Part, Title};
    use super::*;

    #[test]
    fn without_parts_every_event_has_a_line() {
        assert_eq!(lines(3, &[], 0, 9), [Title, Event(0), Event(1), Event(2)]);
        assert_eq!(lines(30, &[], 20, 3), [Event(18), Event(19), Event(20)]);
        assert_eq!(lines(30, &[], 30, 3), [Event(27), Event(28), Event(29)]);
        assert_eq!(lines(30, &[], 0, 3), [Title, Event(0), Event(1)]);
        assert!(lines(3, &[], 1, 0).is_empty());
    }

    #[test]
    fn a_part_is_one_line_unless_the_cursor_is_in_it() {
        let parts = [2..5, 5..9, 10..11];
        assert_eq!(lines(12, &parts, 0, 99), [Title, Event(0), Event(1), Part(2..5), Part(5..9), Event(9), Event(10), Event(11)]);
        let open = [Title, Event(0), Event(1), Event(2), Event(3), Event(4), Part(5..9), Event(9), Event(10), Event(11)];
        for here in 3..=5 {
            assert_eq!(lines(12, &parts, here, 99), open, "at {here}");
        }
        assert_eq!(lines(12, &parts, 12, 3), [Event(9), Event(10), Event(11)]);
        assert_eq!(lines(12, &parts, 10, 4), [Part(2..5), Part(5..9), Event(9), Event(10)]);
        for (here, room) in (0..=12).flat_map(|here| (1..9).map(move |room| (here, room))) {
            let all = lines(12, &parts, here, 99);
            let some = lines(12, &parts, here, room);
            assert!(all.windows(some.len()).any(|window| window == some), "{here} {room}: {some:?}");
            let current = if here == 0 { Title } else { Event(here - 1) };
            assert!(some.contains(&current), "{here} {room}: {some:?}");
        }
    }
}
