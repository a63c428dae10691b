//! Time that passes, changes that begin branches, runs that take a while, and moving among what came of them.

use crate::session::{Cursor, RunEnd};
use crate::ui::action::Direction;
use crate::ui::driver::{Driver, DriverError, HowFar, Work};
use crate::ui::overlay::Overlay;
use crate::ui::sheet::{Form, Sheet, Target};
use crate::ui::state::{Notice, State};
use crate::ui::update::moved;

/// Lets time pass and shows what came of it.
pub fn advance(state: &mut State, driver: &mut dyn Driver, how_far: HowFar) {
    changed(state, driver, |d| d.advance(how_far));
}

/// Changes something at the cursor; the cursor then stands behind it, be it on a new branch.
pub fn changed(state: &mut State, driver: &mut dyn Driver, change: impl FnOnce(&mut dyn Driver) -> Result<String, DriverError>) {
    let mut answer = Ok(String::new());
    moved(state, driver, |d| {
        answer = change(d);
        if answer.is_ok() {
            d.timeline_mut().seek(Cursor::END);
        }
    });
    state.touch();
    match answer {
        Ok(words) => state.say(words),
        Err(error) => state.warn(error.to_string()),
    }
}

/// Goes on with what takes a while, for as long as `more` says so, and then shows how far it has got.
pub fn go_on(state: &mut State, driver: &mut dyn Driver, mut more: impl FnMut() -> bool) {
    let Some(mut running) = state.running.take() else { return };
    let mut said = None;
    moved(state, driver, |driver| {
        loop {
            running.pieces += 1;
            said = match &running.until {
                None if driver.settle() => None,
                None => Some(settled(driver)),
                Some(until) => match driver.run_until(until, 1) {
                    RunEnd::OutOfTurns => None,
                    RunEnd::Met => Some(until.to_string()),
                    RunEnd::NothingLeft => Some(format!("nothing is left to schedule, and it did not happen that {until}")),
                },
            };
            if said.is_some() || !more() {
                break;
            }
        }
        if running.until.is_none() {
            driver.timeline_mut().seek(Cursor::END);
        }
    });
    match said {
        Some(words) => state.notice = Some(Notice { text: words, warning: false }),
        None => state.running = Some(running),
    }
    state.touch();
    state.renew(driver);
}

/// That nothing changes any more, in words.
fn settled(driver: &dyn Driver) -> String {
    let timeline = driver.timeline();
    let (end, waiting) = (timeline.end(), timeline.end().queues.entries.len());
    let passed = crate::ui::text::since(timeline.start().clock, end.clock);
    let who =
        if waiting == 1 { "1 pod still waits".to_owned() } else { format!("{} pods still wait", crate::ui::text::thousands(waiting)) };
    format!("nothing changes any more: {who}, {passed} has passed")
}

/// To the end of the nearest frame before or after in which the selected pod plays a part of its own.
pub(super) fn seek_pod(state: &mut State, driver: &mut dyn Driver, direction: Direction) {
    let Some(pod) = state.subject.clone().or_else(|| state.selected_pod().cloned()) else {
        return state.say("no pod is selected");
    };
    let timeline = driver.timeline();
    let (here, revisions) = (timeline.cursor().revision, timeline.revisions());
    let touches = |at: &usize| revisions[*at].events.iter().any(|e| e.is_about(&pod));
    let found = match direction {
        Direction::Forward => (here + 1..revisions.len()).find(touches),
        Direction::Back => (0..here.min(revisions.len())).rev().find(touches),
    };
    match found {
        Some(revision) => moved(state, driver, |d| d.timeline_mut().seek(Cursor { revision, event: usize::MAX })),
        None if direction == Direction::Forward => state.say(format!("nothing more is recorded about {pod}")),
        None => state.say(format!("nothing is recorded about {pod} before this")),
    }
}

/// Lists the branches.
pub fn branches(state: &mut State, driver: &dyn Driver) {
    let (branches, current) = driver.branches();
    let mut lines = Vec::new();
    let links = (0..branches.len()).map(|at| (at, Target::Branch(at))).collect();
    for (i, branch) in branches.iter().enumerate() {
        let here = if i == current { ", you are here" } else { "" };
        let revisions = branch.timeline().revisions();
        let from = match branch.forked().and_then(|f| Some((branches.get(f.branch)?, f.revisions))) {
            Some((from, at)) => {
                let did = revisions.get(at).map_or_else(String::new, |f| format!(": {}", f.title));
                format!(", left {} after {at}{did}", from.name())
            }
            None => String::new(),
        };
        lines.push(format!("{}  {}: {}{from}{here}", i + 1, branch.name(), crate::ui::text::count(revisions.len(), "frame")));
    }
    lines.push(String::new());
    lines.push("Enter or :branch N goes to a branch, :compare N shows it beside this one".to_owned());
    let mut sheet = Sheet::new("Branches", lines, Form::Prose);
    sheet.links = links;
    sheet.view.selected = Some(current);
    state.overlay = Some(Overlay::Text(sheet));
}

/// Shows this branch beside another: by default the one that it left, or the newest.
pub fn compare(state: &mut State, driver: &mut dyn Driver, with: Option<usize>) {
    let (all, current) = driver.branches();
    let with = with.or_else(|| all.get(current)?.forked().map(|f| f.branch)).unwrap_or(all.len().saturating_sub(1));
    if all.len() < 2 {
        return state.say("there is one branch only: an operation in the past begins another");
    }
    if with == current {
        return state.warn("this is the branch itself");
    }
    if with >= all.len() {
        return state.warn(format!("there are {} branches", all.len()));
    }
    crate::ui::beside::begin(state, driver, Work::Compare(with, current));
}
