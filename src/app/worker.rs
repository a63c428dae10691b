//! The one thread on which everything runs that may take longer than a frame.
//!
//! It works on copies: of the screen's state and of the explorer, which share all that is large. Whoever gave it
//! something to do keeps the originals, goes on drawing them and taking keys, and puts the answer in their place.

use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::cancel_guard::CancelGuard;
use super::explorer::Explorer;
use crate::ui::{Effect, SessionHandle as _, State};

/// What came of a task.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was done, and this is left to the world outside.
    Done(Option<Effect>),
    /// A live cluster was looked at, and whether there was something new.
    Followed(bool),
}

/// What the worker does.
pub(super) type Task = Box<dyn FnOnce(&mut State, &mut Explorer, &CancelGuard) -> Outcome + Send>;

struct Order {
    number: u64,
    state: State,
    explorer: Explorer,
    guard: CancelGuard,
    task: Task,
}

/// A task's outcome, with the copies that it was done on.
pub(super) struct Answer {
    /// Which task it was.
    pub(super) number: u64,
    pub(super) state: State,
    pub(super) explorer: Explorer,
    pub(super) outcome: Outcome,
}

/// The thread, and the ways to it and back.
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

    /// Gives it something to do, on copies; says by which number its answer is known, and how to give it up.
    pub(super) fn give(&mut self, state: &State, explorer: &Explorer, task: Task) -> (u64, CancelGuard) {
        self.given += 1;
        let guard = CancelGuard::default();
        let explorer = explorer.clone().with_guard(guard.clone());
        let order = Order { number: self.given, state: state.clone(), explorer, guard: guard.clone(), task };
        if let Some(orders) = &self.orders {
            // Where nobody takes it any more, waiting for the answer finds out why.
            let _ = orders.send(order);
        }
        (self.given, guard)
    }

    /// The next answer; `None` where the worker broke off, and another has taken its place. Waiting may be broken off at any
    /// time.
    pub(super) async fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.recv().await;
        if answer.is_none() {
            // Why was reported on its own thread.
            if let Some(broken) = self.thread.take() {
                let _ = broken.join();
            }
            match Self::start() {
                Ok(worker) => *self = Self { given: self.given, ..worker },
                // Without a worker nothing can be answered; the reader can still look and guard.
                Err(error) => {
                    tracing::error!(%error, "no thread could be started");
                    std::future::pending::<()>().await;
                }
            }
        }
        answer
    }

    /// Waits until everything that was given is done, and ends.
    pub(super) fn finish(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic of it was reported when it happened.
            let _ = thread.join();
        }
    }
}

fn work(orders: &mpsc::Receiver<Order>, answers: &UnboundedSender<Answer>) {
    while let Ok(Order { number, mut state, mut explorer, guard, task }) = orders.recv() {
        // What was given up before it began is not even tried.
        let outcome = if guard.is_cancelled() { Outcome::Done(None) } else { task(&mut state, &mut explorer, &guard) };
        // What the next frame asks for is looked up here, where it may take its time.
        if let Some(start) = &explorer.timeline().cycle().start {
            let _ = explorer.written(&start.pod);
        }
        if answers.send(Answer { number, state, explorer, outcome }).is_err() {
            return;
        }
    }
}
