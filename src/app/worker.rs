//! Runs tasks that may take longer than a frame, on one thread.
//!
//! A task gets clones of the state and the explorer, which share their parts. The UI thread keeps drawing the originals
//! and reading keys, and replaces them by the result.

use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::cancel_guard::CancelGuard;
use super::explorer::Explorer;
use crate::ui::{Effect, SessionHandle as _, State};

/// Outcome of a task.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The task was done; holds an effect for the event loop.
    Done(Option<Effect>),
    /// Changes of a live cluster were applied; false without any.
    Followed(bool),
}

/// A task, run on clones of the state and the explorer.
type Task = Box<dyn FnOnce(&mut State, &mut Explorer, &CancelGuard) -> Outcome + Send>;

struct Order {
    number: u64,
    state: State,
    explorer: Explorer,
    guard: CancelGuard,
    task: Task,
}

/// The task that the worker runs.
pub(super) struct UnderWay {
    number: u64,
    pub(super) kind: Kind,
    pub(super) guard: CancelGuard,
    pub(super) began: Instant,
}

/// Kind of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request of the user, with its name on the screen.
    Asked(&'static str),
    /// A slice of a run, whose progress the screen shows already.
    Run,
    /// Applying changes of a live cluster; only the session is taken from the answer.
    Follow,
}

/// Result of a task, with its clones.
pub(super) struct Answer {
    number: u64,
    pub(super) state: State,
    pub(super) explorer: Explorer,
    pub(super) outcome: Outcome,
}

/// The thread, with the channels to it and back.
pub(super) struct Worker {
    orders: Option<mpsc::Sender<Order>>,
    answers: UnboundedReceiver<Answer>,
    thread: Option<JoinHandle<()>>,
    given: u64,
    /// The task whose result is waited for; `None` after it was cancelled.
    pub(super) under_way: Option<UnderWay>,
}

impl Worker {
    pub(super) fn start() -> std::io::Result<Self> {
        let (orders, taken) = mpsc::channel();
        let (sender, answers) = unbounded_channel();
        let thread = std::thread::Builder::new().name("worker".to_owned()).spawn(move || work(&taken, &sender))?;
        Ok(Self { orders: Some(orders), answers, thread: Some(thread), given: 0, under_way: None })
    }

    /// Runs a task on clones.
    pub(super) fn give(
        &mut self,
        kind: Kind,
        state: &State,
        explorer: &Explorer,
        task: impl FnOnce(&mut State, &mut Explorer, &CancelGuard) -> Outcome + Send + 'static,
    ) {
        self.given += 1;
        let guard = CancelGuard::default();
        let explorer = explorer.clone().with_guard(guard.clone());
        let order = Order { number: self.given, state: state.clone(), explorer, guard: guard.clone(), task: Box::new(task) };
        if let Some(orders) = &self.orders {
            // A send fails only after a panic, which [`Self::answer`] handles.
            let _ = orders.send(order);
        }
        self.under_way = Some(UnderWay { number: self.given, kind, guard, began: Instant::now() });
    }

    /// Waits for the result of the task under way; `None` after a panic of the worker, which is then replaced. Cancel safe.
    pub(super) async fn answer(&mut self) -> Option<Answer> {
        while let Some(answer) = self.answers.recv().await {
            // Ignore the result of a cancelled task.
            if self.under_way.take_if(|u| u.number == answer.number).is_some() {
                return Some(answer);
            }
        }
        // The panic hook has reported it.
        if let Some(broken) = self.thread.take() {
            let _ = broken.join();
        }
        match Self::start() {
            Ok(worker) => *self = Self { given: self.given, ..worker },
            // Without a worker no task can run; the user can still view and quit.
            Err(error) => {
                tracing::error!(%error, "no thread could be started");
                std::future::pending::<()>().await;
            }
        }
        None
    }

    /// Waits until all tasks are done, then ends the thread.
    pub(super) fn finish(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported a panic.
            let _ = thread.join();
        }
    }
}

fn work(orders: &mpsc::Receiver<Order>, answers: &UnboundedSender<Answer>) {
    while let Ok(Order { number, mut state, mut explorer, guard, task }) = orders.recv() {
        // Skip a task that was cancelled before it began.
        let outcome = if guard.is_cancelled() { Outcome::Done(None) } else { task(&mut state, &mut explorer, &guard) };
        // Fill the cache that the next frame reads, which may take longer than a frame.
        if let Some(start) = &explorer.timeline().cycle().start {
            let _ = explorer.written(&start.pod);
        }
        if answers.send(Answer { number, state, explorer, outcome }).is_err() {
            return;
        }
    }
}
