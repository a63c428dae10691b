//! Holds the explorer's state and session on the thread that draws and reads keys, and must never wait.
//!
//! An action that may take longer than a frame goes to the [`Worker`] with clones. Until it finishes, the originals are
//! shown and keys queue up. Esc cancels it, and the originals stay.
//!
//! Measured with 5,000 nodes listed one by one, without optimisation: cloning both takes 0.3 ms, moving a selection 0.1
//! ms, making the rows 10 ms, a step 12 ms and a decision 30 ms. Optimised, a decision with preemption takes up to 60
//! ms, all filters of a node some ms, and applying changes of a live cluster 30 to 120 ms. So whatever may ask the
//! engine or move the cursor goes to the worker. Selecting, sorting and typing stay here ([`ui::runs_on_ui_thread`]):
//! they take effect in the next frame, and work while changes of a live cluster are applied.

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::{Event, KeyModifiers};
use tokio::time::Instant;

use super::explorer::Explorer;
use super::input::action_of;
use super::pod_meant;
use super::worker::{Answer, Kind, Outcome, UnderWay, Worker};
use crate::cluster::Key;
use crate::limits::terminal::KEYS_AHEAD;
use crate::ui::model::state::Busy;
use crate::ui::{self, Action, Effect, NotWaiting, Pane, SessionHandle as _, State};

/// Length of a slice of a run, after which the screen shows its progress.
const SLICE: Duration = Duration::from_millis(40);

/// Interval at which the progress sign moves; it first shows after one interval.
const TICK: Duration = Duration::from_millis(120);

/// The state and the session, with the task that runs on their clones.
pub(super) struct UiThread {
    pub(super) state: State,
    pub(super) explorer: Explorer,
    worker: Worker,
    /// The keys that wait for the running task.
    waiting: VecDeque<Event>,
    /// Warning that came while a task ran, whose result would hide it.
    warning: Option<String>,
}

impl UiThread {
    pub(super) fn new(state: State, explorer: Explorer) -> std::io::Result<Self> {
        Ok(Self { state, explorer, worker: Worker::start()?, waiting: VecDeque::new(), warning: None })
    }

    /// Shows a warning in the message line, now and after the running task.
    pub(super) fn warn(&mut self, warning: String) {
        self.warning = self.is_busy().then(|| warning.clone());
        self.state.warn(warning);
    }

    /// Returns whether a task runs.
    pub(super) fn is_busy(&self) -> bool {
        self.worker.under_way.is_some()
    }

    /// Returns whether keys wait.
    pub(super) fn has_waiting_keys(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns when the progress sign moves next; `None` if the user waits for nothing.
    pub(super) fn next_tick(&self) -> Option<Instant> {
        let under_way = self.worker.under_way.as_ref()?;
        let waits = match under_way.kind {
            Kind::Asked(_) => true,
            Kind::Follow => !self.waiting.is_empty(),
            Kind::Run => false,
        };
        let ticks = self.state.tasks.busy.as_ref().map_or(0, |busy| busy.ticks + 1);
        waits.then(|| under_way.began + TICK * (u32::try_from(ticks).unwrap_or(u32::MAX).saturating_add(1)))
    }

    /// Shows the progress sign, or moves it.
    pub(super) fn tick(&mut self) {
        let Some(under_way) = &self.worker.under_way else { return };
        let (what, stops) = match under_way.kind {
            Kind::Asked(what) => (what, !under_way.guard.is_committed()),
            Kind::Run | Kind::Follow => ("applying changes", false),
        };
        let ticks = self.state.tasks.busy.as_ref().map_or(0, |busy| busy.ticks + 1);
        self.state.tasks.busy = Some(Busy { what, stops, ticks });
    }

    /// Handles an event of the terminal: runs its action, here or on the worker. Returns an effect for the event loop.
    pub(super) fn handle(&mut self, event: Event) -> Option<Effect> {
        if let Some(UnderWay { kind, .. }) = self.worker.under_way {
            return self.handle_meanwhile(event, kind);
        }
        let action = action_of(&self.state, event)?;
        // The event loop runs these.
        let outside = matches!(action, Action::QUIT | Action::SUSPEND);
        if outside || ui::runs_on_ui_thread(&self.state, &action) {
            return ui::update(&mut self.state, &mut self.explorer, action);
        }
        let what = match action {
            Action::SUBMIT => "working",
            Action::CATCH_UP => "applying changes",
            _ => "deciding",
        };
        let submitted = action == Action::SUBMIT;
        self.worker.give(Kind::Asked(what), &self.state, &self.explorer, move |state, explorer, _| {
            Outcome::Done(ui::update(state, explorer, action))
        });
        if submitted {
            // Close the prompt, so that keys from now on do not edit the submitted line.
            self.state.overlay = None;
        }
        None
    }

    /// Handles an event while a task runs: what may wait waits.
    fn handle_meanwhile(&mut self, event: Event, kind: Kind) -> Option<Effect> {
        let action = action_of(&self.state, event.clone());
        let first = self.waiting.is_empty();
        match action {
            Some(action @ Action::Resize(..)) => ui::update(&mut self.state, &mut self.explorer, action),
            // Behind waiting keys a letter may belong to a prompt.
            Some(action @ (Action::QUIT | Action::SUSPEND)) if first || has_control(&event) => {
                ui::update(&mut self.state, &mut self.explorer, action)
            }
            // Esc cancels only once the screen says so; before, it was meant for something else.
            Some(Action::BACK) if kind == Kind::Run || self.state.tasks.busy.as_ref().is_some_and(|busy| busy.stops) => self.give_up(event),
            Some(action) if kind == Kind::Follow && first && ui::runs_on_ui_thread(&self.state, &action) => {
                ui::update(&mut self.state, &mut self.explorer, action)
            }
            // A key without a binding now may have one after the waiting keys.
            None if !matches!(event, Event::Key(_) | Event::Paste(_)) => None,
            _ => self.let_wait(event),
        }
    }

    fn let_wait(&mut self, event: Event) -> Option<Effect> {
        if self.waiting.len() < KEYS_AHEAD {
            self.waiting.push_back(event);
        }
        None
    }

    /// Shows the first screen: the overview of pending pods, or the decision about the only one.
    pub(super) fn show_overview(&mut self) {
        if let Some(pod) = ui::show_overview_first(&mut self.state, &mut self.explorer) {
            self.show_pod(pod);
        }
    }

    /// Returns whether a job or the overview is to be polled.
    pub(super) fn has_jobs(&self) -> bool {
        !self.is_busy() && (self.state.tasks.working.is_some() || ui::overview_has_update(&self.state))
    }

    /// Polls the job and the overview. Returns whether anything is new.
    pub(super) fn poll_jobs(&mut self) -> bool {
        let job = ui::poll_job(&mut self.state, &mut self.explorer);
        let overview = ui::update_overview(&mut self.state, &mut self.explorer);
        if overview {
            ui::renew(&mut self.state, &self.explorer);
        }
        job || overview
    }

    /// Shows the page of a workload once its pods are decided.
    pub(super) fn show_workload(&mut self, words: &str) {
        if !ui::show_workload_first(&mut self.state, &mut self.explorer, words) {
            self.show_overview();
            self.state.warn(format!("there is no workload {words}{}", self.explorer.workloads_unknown()));
        }
    }

    /// Shows a pod's decision, making it first if necessary. For a pod without one, says why and shows the first screen.
    pub(super) fn show_pod(&mut self, pod: Key) {
        self.worker.give(Kind::Asked("deciding"), &self.state, &self.explorer, move |state, explorer, _| {
            if !ui::show_pod_first(state, explorer, &pod) {
                let timeline = explorer.timeline();
                let why = match NotWaiting::of(timeline, &pod) {
                    Some(why) => format!("Pod {pod} {why}"),
                    None => format!("there is no Pod {pod}{}", pod_meant(&timeline.keyframe().cluster, &pod)),
                };
                state.subjects.subject = None;
                state.list_mut(Pane::QUEUES).reset();
                if let Some(only) = ui::show_overview_first(state, explorer) {
                    ui::show_pod_first(state, explorer, &only);
                }
                state.warn(why);
            }
            ui::renew(state, explorer);
            Outcome::Done(None)
        });
    }

    /// Continues a run, if there is one.
    pub(super) fn continue_run(&mut self) {
        if self.state.tasks.running.is_some() && !self.is_busy() {
            self.worker.give(Kind::Run, &self.state, &self.explorer, |state, explorer, guard| {
                let begin = Instant::now();
                ui::continue_run(state, explorer, || begin.elapsed() < SLICE && !guard.is_cancelled());
                Outcome::Done(None)
            });
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

    /// Applies changes of a live cluster. Returns false while a task or a run is in progress.
    pub(super) fn follow(&mut self) -> bool {
        if self.is_busy() || self.state.tasks.running.is_some() {
            return false;
        }
        self.worker.give(Kind::Follow, &self.state, &self.explorer, |_, explorer, _| Outcome::Followed(explorer.follow()));
        true
    }

    /// Cancels the running task and keeps the originals, unless it has committed to an irreversible effect.
    fn give_up(&mut self, key: Event) -> Option<Effect> {
        let Some(under_way) = self.worker.under_way.take_if(|u| u.guard.cancel()) else { return self.let_wait(key) };
        self.state.tasks.busy = None;
        self.waiting.clear();
        if under_way.kind == Kind::Run {
            return ui::update(&mut self.state, &mut self.explorer, Action::BACK);
        }
        self.state.say("stopped");
        None
    }

    /// Waits for the running task and puts its result in place. Cancel safe.
    pub(super) async fn answer(&mut self) -> Outcome {
        let Some(answer) = self.worker.answer().await else {
            // The worker panicked: keep the originals; the event loop shows the report.
            self.waiting.clear();
            (self.state.tasks.busy, self.state.tasks.running) = (None, None);
            return Outcome::Done(None);
        };
        self.put(answer)
    }

    fn put(&mut self, answer: Answer) -> Outcome {
        let Answer { state, explorer, outcome, .. } = answer;
        let size = self.state.size;
        self.state.tasks.busy = None;
        match outcome {
            // Without changes only the pause before the next batch differs, which the session's clone has.
            Outcome::Followed(false) => self.explorer = explorer,
            // Keep the state, with its selection: the user may have moved it meanwhile.
            Outcome::Followed(true) => {
                let before = self.explorer.emulated();
                self.explorer = explorer;
                let now = self.explorer.emulated();
                if now.choice.cluster != before.choice.cluster {
                    self.state
                        .say(format!("the API server is upgraded: decisions are those of kube-scheduler {} from now on", now.version()));
                }
                self.state.touch();
                ui::update_overview(&mut self.state, &mut self.explorer);
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
        if let Some(warning) = self.warning.take() {
            self.state.warn(warning);
        }
        outcome
    }

    /// Handles the waiting keys, up to the first with an effect for the event loop.
    pub(super) fn take_waiting_keys(&mut self) -> Option<Effect> {
        while !self.is_busy() {
            let event = self.waiting.pop_front()?;
            if let Some(effect) = self.handle(event) {
                return Some(effect);
            }
        }
        None
    }
}

impl Drop for UiThread {
    /// Cancels the task. One that has committed to an irreversible effect, such as a half-written file, is finished
    /// first.
    fn drop(&mut self) {
        if let Some(under_way) = &self.worker.under_way
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
mod tests;
