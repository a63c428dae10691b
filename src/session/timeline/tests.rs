use std::sync::OnceLock;

use super::*;
use crate::framework::{SharedList, Snapshot};
use crate::odds::{Chance, Odds};
use crate::release::Emulation;
use crate::scheduler::{Config, Operation, Options, Scheduler};
use crate::session::Action;
use crate::trace::Selection;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("small")
}

#[test]
fn counted_odds_show_once_the_node_is_selected() {
    let odds = Odds::uniform(Chance::Start, &["a".into(), "b".into()]);
    let selected = Event::NodeSelected { node: "a".into(), why: Selection::HighestScore, tied: SharedList::default() };
    let mut cycle = revision(0, &[]);
    cycle.events = recorded(cycle.events.others().iter().cloned().chain([selected]));
    let mut timeline = Timeline::new(Keyframe::default());
    timeline.push(cycle);
    timeline.seek(Cursor::END);
    assert_eq!(timeline.cycle().findings.odds_over_starts, None);
    timeline.revisions()[0].odds_over_starts.set(Arc::new(odds.clone())).expect("not counted yet");
    timeline.seek(timeline.cursor());
    assert_eq!(timeline.cycle().findings.odds_over_starts.as_deref(), Some(&odds));
    assert!(timeline.back(StepSize::Event) && timeline.cycle().findings.odds_over_starts.is_none());
    assert!(timeline.forward(StepSize::Event) && timeline.cycle().findings.odds_over_starts.is_some());
}

fn recorded(events: impl Iterator<Item = Event>) -> Arc<RecordedEvents> {
    Arc::new(RecordedEvents::new(events.collect(), &Snapshot::default()))
}

fn revision(from: i64, stops: &[i64]) -> Revision {
    let other = Event::NominationCleared { pod: Key::new("ns", "pod"), node: "n".into() };
    let starts = std::iter::once(&from).chain(stops);
    let moves = starts.zip(stops).flat_map(|(from, to)| [Event::ClockMoved { from: Box::new(at(*from)), to: at(*to) }, other.clone()]);
    let keyframe = |clock: i64| Keyframe { clock: at(clock), ..Keyframe::default() };
    let after = keyframe(*stops.last().unwrap_or(&from));
    Revision {
        action: Action::Apply(Operation::Schedule),
        scheduler: Scheduler::new(Config::defaults(Emulation::default()), Vec::new(), Options::default()),
        title: String::new(),
        events: recorded(moves.chain([other.clone()])),
        before: keyframe(from),
        after,
        odds_over_starts: OnceLock::new(),
    }
}

#[test]
fn the_clock_is_exact_within_a_frame_whichever_way_one_came() {
    let mut timeline = Timeline::new(Keyframe { clock: at(10), ..Keyframe::default() });
    assert_eq!(timeline.clock(), at(10));
    for revision in [revision(10, &[12, 15]), revision(15, &[]), revision(15, &[30])] {
        timeline.push(revision);
    }
    let expected = [vec![10, 12, 12, 15, 15, 15], vec![15, 15], vec![15, 30, 30, 30]];
    let places: Vec<(Cursor, Timestamp)> = expected
        .iter()
        .enumerate()
        .flat_map(|(revision, clocks)| clocks.iter().enumerate().map(move |(event, clock)| (Cursor { revision, event }, at(*clock))))
        .collect();
    for (cursor, clock) in places.iter().chain(places.iter().rev()).chain(places.iter().step_by(3)) {
        timeline.seek(*cursor);
        assert_eq!((timeline.cursor(), timeline.clock()), (*cursor, *clock));
    }
    timeline.seek(Cursor { revision: 2, event: 9 });
    assert_eq!(timeline.clock(), timeline.keyframe().clock);
}
