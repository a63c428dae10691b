//! The explorer's state and session on the side that must never wait: what is shown, and the keys that come in.
//!
//! What may take longer than a frame goes to the [`Worker`] as a copy. Until its answer is there, the originals are
//! shown, keys wait in a line, and Esc gives the answer up: then everything is as it was before.
//!
//! Measured with 5,000 nodes, one by one in the list, and without optimisation: a copy of both takes 0.3 ms, moving a
//! selection 0.1 ms, making the rows anew 10 ms, a step 12 ms and a decision 30 ms; optimised, decisions that preempt take
//! up to 60 ms, what every filter says about a node some ms, and taking in what is new of a live cluster 30 to 120 ms. So
//! whatever may ask the engine or move the cursor goes to the worker, and what only moves a selection, sorts or types
//! stays here ([`ui::runs_on_ui_thread`]): it is done before the next frame, and works while a live cluster is taken in.

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::{Event, KeyModifiers};
use tokio::time::Instant;

use super::cancel_guard::CancelGuard;
use super::explorer::Explorer;
use super::input::action_of;
use super::worker::{Answer, Outcome, Task, Worker};
use crate::cluster::Key;
use crate::ui::model::state::Busy;
use crate::ui::{self, Action, Effect, SessionHandle as _, State};

/// How long a piece of a run goes on before the screen shows how far it has got.
const SLICE: Duration = Duration::from_millis(40);

/// How often the sign moves that tells the reader to wait; before that, none is shown.
const TICK: Duration = Duration::from_millis(120);

/// So many keys wait; further ones are lost.
const LINE: usize = 64;

/// The state, the session behind it, and what is being done to both.
pub(super) struct UiThread {
    pub(super) state: State,
    pub(super) explorer: Explorer,
    worker: Worker,
    under_way: Option<UnderWay>,
    line: VecDeque<Event>,
}

/// What the worker is at.
struct UnderWay {
    number: u64,
    kind: Kind,
    guard: CancelGuard,
    began: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// What the reader asked for.
    Asked(&'static str),
    /// A piece of a run, which says itself that it goes on.
    Run,
    /// What is new of a live cluster; only the session comes back.
    Follow,
}

impl UiThread {
    pub(super) fn new(state: State, explorer: Explorer) -> std::io::Result<Self> {
        Ok(Self { state, explorer, worker: Worker::start()?, under_way: None, line: VecDeque::new() })
    }

    /// Whether an answer is being waited for.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some()
    }

    /// Whether keys wait.
    pub(super) fn has_line(&self) -> bool {
        !self.line.is_empty()
    }

    /// When the reader, who waits, is to be told so the next time.
    pub(super) fn next_tick(&self) -> Option<Instant> {
        let under_way = self.under_way.as_ref()?;
        let waits = match under_way.kind {
            Kind::Asked(_) => true,
            Kind::Follow => !self.line.is_empty(),
            Kind::Run => false,
        };
        let ticks = self.state.busy.as_ref().map_or(0, |busy| busy.ticks + 1);
        waits.then(|| under_way.began + TICK * (u32::try_from(ticks).unwrap_or(u32::MAX).saturating_add(1)))
    }

    /// Tells the reader that they are waiting, and moves the sign that says so.
    pub(super) fn tick(&mut self) {
        let Some(under_way) = &self.under_way else { return };
        let (what, stops) = match under_way.kind {
            Kind::Asked(what) => (what, !under_way.guard.is_committed()),
            Kind::Run | Kind::Follow => ("taking in what is new", false),
        };
        let ticks = self.state.busy.as_ref().map_or(0, |busy| busy.ticks + 1);
        self.state.busy = Some(Busy { what, stops, ticks });
    }

    /// Takes what came from the terminal; says what is left to the world outside.
    pub(super) fn take(&mut self, event: Event) -> Option<Effect> {
        if let Event::Resize(width, height) = event {
            return ui::update(&mut self.state, &mut self.explorer, Action::Resize(width, height));
        }
        let Some(UnderWay { kind, .. }) = &self.under_way else {
            let action = action_of(&self.state, event)?;
            return self.act(action);
        };
        let kind = *kind;
        let action = action_of(&self.state, event.clone());
        let first = self.line.is_empty();
        match action {
            // Behind keys that wait, a letter may mean something else by then.
            Some(action @ (Action::QUIT | Action::SUSPEND)) if first || has_control(&event) => {
                ui::update(&mut self.state, &mut self.explorer, action)
            }
            // What was pressed before the screen said that this stops it meant something else.
            Some(Action::BACK) if kind == Kind::Run || self.state.busy.as_ref().is_some_and(|busy| busy.stops) => self.give_up(event),
            Some(action) if kind == Kind::Follow && first && ui::runs_on_ui_thread(&self.state, &action) => {
                ui::update(&mut self.state, &mut self.explorer, action)
            }
            // What means nothing now may mean something by then.
            None if !matches!(event, Event::Key(_) | Event::Paste(_)) => None,
            _ => self.wait_in_line(event),
        }
    }

    fn wait_in_line(&mut self, event: Event) -> Option<Effect> {
        if self.line.len() < LINE {
            self.line.push_back(event);
        }
        None
    }

    /// Does something: at once, or on the worker.
    pub(super) fn act(&mut self, action: Action) -> Option<Effect> {
        // The world outside does these.
        let outside = matches!(action, Action::QUIT | Action::SUSPEND);
        if outside || ui::runs_on_ui_thread(&self.state, &action) {
            return ui::update(&mut self.state, &mut self.explorer, action);
        }
        let what = match action {
            Action::SUBMIT => "working",
            Action::CATCH_UP => "taking in what is new",
            _ => "deciding",
        };
        let submitted = action == Action::SUBMIT;
        self.give(Kind::Asked(what), Box::new(move |state, explorer, _| Outcome::Done(ui::update(state, explorer, action))));
        if submitted {
            // A key that comes in meanwhile is no part of the line that was typed.
            self.state.overlay = None;
        }
        None
    }

    /// Shows a pod's decision, taking it first if need be.
    pub(super) fn show_pod(&mut self, pod: Key) {
        self.give(
            Kind::Asked("deciding"),
            Box::new(move |state, explorer, _| {
                if !ui::show_pod(state, explorer, &pod) {
                    state.warn(format!("{pod} does not wait to be scheduled"));
                }
                ui::renew(state, explorer);
                Outcome::Done(None)
            }),
        );
    }

    /// Goes on with a run, where one is under way.
    pub(super) fn go_on(&mut self) {
        if self.state.running.is_some() && !self.is_busy() {
            self.give(
                Kind::Run,
                Box::new(|state, explorer, guard| {
                    let begin = Instant::now();
                    ui::go_on(state, explorer, || begin.elapsed() < SLICE && !guard.is_cancelled());
                    Outcome::Done(None)
                }),
            );
        }
    }

    /// Returns how long to wait before changes of a live cluster are applied.
    pub(super) fn cooldown(&self) -> Duration {
        self.explorer.live_status().map_or(Duration::ZERO, |status| status.cooldown)
    }

    /// Returns whether changes of a live cluster are pending that can be applied.
    pub(super) fn has_live_changes(&self) -> bool {
        self.explorer.live_status().is_some_and(|status| status.has_changes)
    }

    /// Takes in what is new of a live cluster; false when that has to wait.
    pub(super) fn follow(&mut self) -> bool {
        if self.is_busy() || self.state.running.is_some() {
            return false;
        }
        self.give(Kind::Follow, Box::new(|_, explorer, _| Outcome::Followed(explorer.follow())));
        true
    }

    fn give(&mut self, kind: Kind, task: Task) {
        let (number, guard) = self.worker.give(&self.state, &self.explorer, task);
        self.under_way = Some(UnderWay { number, kind, guard, began: Instant::now() });
    }

    /// Stays with what was before what is under way, unless that cannot be undone any more.
    fn give_up(&mut self, key: Event) -> Option<Effect> {
        let Some(under_way) = self.under_way.take_if(|u| u.guard.cancel()) else { return self.wait_in_line(key) };
        self.state.busy = None;
        self.line.clear();
        if under_way.kind == Kind::Run {
            return ui::update(&mut self.state, &mut self.explorer, Action::BACK);
        }
        self.state.say("stopped");
        None
    }

    /// Waits for the worker's answer and puts it in place. Waiting may be broken off at any time.
    pub(super) async fn answer(&mut self) -> Outcome {
        loop {
            let Some(answer) = self.worker.answer().await else {
                // All is as it was before; what broke is told over the screen.
                self.under_way = None;
                self.line.clear();
                (self.state.busy, self.state.running) = (None, None);
                return Outcome::Done(None);
            };
            // The answer to what was given up is of no use to anybody.
            if self.under_way.take_if(|u| u.number == answer.number).is_some() {
                return self.put(answer);
            }
        }
    }

    fn put(&mut self, answer: Answer) -> Outcome {
        let Answer { state, explorer, outcome, .. } = answer;
        let size = self.state.size;
        self.state.busy = None;
        match outcome {
            // Nothing has come of it, and the time of the next look is part of the session's copy.
            Outcome::Followed(false) => self.explorer = explorer,
            // What the reader selected meanwhile stays selected.
            Outcome::Followed(true) => {
                self.explorer = explorer;
                self.state.touch();
                ui::renew(&mut self.state, &self.explorer);
            }
            Outcome::Done(_) => {
                (self.state, self.explorer) = (state, explorer);
                if self.state.size != size {
                    self.state.size = size;
                    ui::renew(&mut self.state, &self.explorer);
                }
            }
        }
        outcome
    }

    /// Takes the keys that waited, up to one that leaves something to the world outside.
    pub(super) fn take_line(&mut self) -> Option<Effect> {
        while !self.is_busy() {
            let event = self.line.pop_front()?;
            if let Some(effect) = self.take(event) {
                return Some(effect);
            }
        }
        None
    }
}

impl Drop for UiThread {
    /// Ends what can be ended; what cannot, such as half a file, is finished first.
    fn drop(&mut self) {
        if let Some(under_way) = &self.under_way
            && !under_way.guard.cancel()
            && matches!(under_way.kind, Kind::Asked(_))
        {
            self.worker.finish();
        }
    }
}

fn has_control(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.modifiers.contains(KeyModifiers::CONTROL))
}

#[cfg(test)]
#[path = "ui_thread_tests.rs"]
mod tests;
