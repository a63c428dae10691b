//! Runs tasks that may take longer than a frame, on one thread.
//!
//! A task gets clones of the state and the explorer, which share their parts. The UI thread keeps drawing the originals
//! and reading keys, and replaces them by the result.

use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

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
pub(super) type Task = Box<dyn FnOnce(&mut State, &mut Explorer, &CancelGuard) -> Outcome + Send>;

struct Order {
    number: u64,
    state: State,
    explorer: Explorer,
    guard: CancelGuard,
    task: Task,
}

/// Result of a task, with its clones.
pub(super) struct Answer {
    /// Number of the task.
    pub(super) number: u64,
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
}

impl Worker {
    pub(super) fn start() -> std::io::Result<Self> {
        let (orders, taken) = mpsc::channel();
        let (sender, answers) = unbounded_channel();
        let thread = std::thread::Builder::new().name("worker".to_owned()).spawn(move || work(&taken, &sender))?;
        Ok(Self { orders: Some(orders), answers, thread: Some(thread), given: 0 })
    }

    /// Queues a task on clones. Returns its number and its cancel guard.
    pub(super) fn give(&mut self, state: &State, explorer: &Explorer, task: Task) -> (u64, CancelGuard) {
        self.given += 1;
        let guard = CancelGuard::default();
        let explorer = explorer.clone().with_guard(guard.clone());
        let order = Order { number: self.given, state: state.clone(), explorer, guard: guard.clone(), task };
        if let Some(orders) = &self.orders {
            // A send fails only after a panic, which [`Self::answer`] handles.
            let _ = orders.send(order);
        }
        (self.given, guard)
    }

    /// Returns the next result; `None` after a panic of the worker, which is then replaced. Cancel safe.
    pub(super) async fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.recv().await;
        if answer.is_none() {
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
        }
        answer
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
