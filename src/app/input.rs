//! Reads keys, mouse and signals, and maps them to actions.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::task::Poll;
use std::time::Instant;

use crossterm::event::{Event, EventStream, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use futures::StreamExt as _;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::terminal_background::{Question, ReplyMatch};
use crate::ui::{self, Action, Direction, Mouse, State};

/// Input from outside the program.
pub(super) enum Input {
    /// A key, a mouse event, a paste or a resize.
    Event(Event),
    /// A signal that ends the program.
    End(i32),
    /// SIGTSTP: the shell suspends the program.
    Stop,
    /// SIGCONT: the program resumes after a stop.
    Continue,
    /// The terminal reported its background; names the theme for it.
    Theme(&'static str),
}

/// All inputs from outside the program.
pub(super) struct Inputs {
    events: EventStream,
    signals: Signals,
    hang_up: HangUp,
    question: Question,
    /// Theme for the background that the terminal reported.
    pub(super) heard: Option<&'static str>,
    /// Whether `heard` is yet to be returned by [`Self::next`].
    news: bool,
}

impl Inputs {
    pub(super) fn new() -> io::Result<Self> {
        // crossterm's stream spawns a thread and panics where it cannot, so try first.
        std::thread::Builder::new().spawn(|| ())?.join().map_err(|_| io::Error::other("a thread ended"))?;
        let (events, signals) = (EventStream::new(), Signals::new()?);
        Ok(Self { events, signals, hang_up: HangUp::new(), question: Question::default(), heard: None, news: false })
    }

    /// Returns the next input, signals first. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<Input> {
        loop {
            if let Some(event) = self.question.ahead.pop_front() {
                return Ok(Input::Event(event));
            }
            if std::mem::take(&mut self.news)
                && let Some(theme) = self.heard
            {
                return Ok(Input::Theme(theme));
            }
            let event = tokio::select! {
                biased;
                signal = self.signals.next() => return Ok(signal),
                () = self.hang_up.wait() => return Ok(Input::End(signal_hook::consts::SIGHUP)),
                event = self.events.next() => event,
            };
            match event {
                Some(event) => {
                    if let Some(event) = self.hear(event?) {
                        return Ok(Input::Event(event));
                    }
                }
                // End of input: no key can arrive any more.
                None => return Ok(Input::End(signal_hook::consts::SIGHUP)),
            }
        }
    }

    /// Puts events back in front of the queue, for a later screen.
    pub(super) fn put_back(&mut self, typed: Vec<Event>) {
        for event in typed.into_iter().rev() {
            self.question.ahead.push_front(event);
        }
    }

    /// Asks the terminal for its background and waits briefly for the reply.
    pub(super) async fn ask(&mut self) -> io::Result<()> {
        self.heard = self.question.ask(&mut self.events).await?.or(self.heard);
        Ok(())
    }

    /// Filters the terminal's reply out of the events.
    fn hear(&mut self, event: Event) -> Option<Event> {
        match self.question.hear(event, Instant::now()) {
            ReplyMatch::Event(event) => Some(event),
            ReplyMatch::Part => None,
            ReplyMatch::Typed(events) => {
                self.question.ahead.extend(events);
                None
            }
            ReplyMatch::Theme(theme) => {
                (self.heard, self.news) = (Some(theme), true);
                None
            }
        }
    }

    /// Returns the next event if one is queued. Polls with this task's own waker: the stream keeps the first waker that
    /// it is polled with until that is woken, so another one would leave the loop asleep.
    pub(super) async fn at_once(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.question.ahead.pop_front() {
                return Ok(Some(event));
            }
            let events = &mut self.events;
            let next = std::future::poll_fn(|cx| match events.poll_next_unpin(cx) {
                Poll::Ready(event) => Poll::Ready(event),
                Poll::Pending => Poll::Ready(None),
            });
            let Some(event) = next.await.transpose()? else { return Ok(None) };
            if let Some(event) = self.hear(event) {
                return Ok(Some(event));
            }
        }
    }
}

pub(super) fn action_of(state: &State, event: Event) -> Option<Action> {
    match event {
        Event::Key(key) => key_action(state, &key),
        Event::Paste(text) => Some(Action::Paste(text)),
        Event::Resize(width, height) => Some(Action::Resize(width, height)),
        Event::Mouse(mouse) => mouse_action(mouse),
        Event::FocusGained | Event::FocusLost => None,
    }
}

fn key_action(state: &State, key: &KeyEvent) -> Option<Action> {
    let action = state.settings.keymap.lookup(&ui::contexts(state), key);
    // A key without a binding ends a notice too.
    action.or_else(|| (state.notice.is_some() && key.kind != KeyEventKind::Release).then_some(Action::NOTHING))
}

pub(super) fn mouse_action(event: MouseEvent) -> Option<Action> {
    let mouse = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Mouse::Press,
        MouseEventKind::Drag(MouseButton::Left) => Mouse::Drag,
        MouseEventKind::Up(MouseButton::Left) => Mouse::Release,
        MouseEventKind::ScrollDown => Mouse::Scroll(Direction::Forward),
        MouseEventKind::ScrollUp => Mouse::Scroll(Direction::Back),
        _ => return None,
    };
    Some(Action::Mouse(mouse, event.column, event.row))
}

/// Detects that the terminal hangs up. No signal may come, and the stream of keys would wait forever.
struct HangUp(Option<AsyncFd<OwnedFd>>);

impl HangUp {
    #[allow(deprecated, reason = "what takes its place is unsafe, and this descriptor is owned")]
    fn new() -> Self {
        let terminal = io::stdin().as_fd().try_clone_to_owned().ok();
        let watched = terminal.and_then(|fd| AsyncFd::with_interest(fd, Interest::READABLE).ok());
        // Where standard input cannot be watched, reading and writing fail soon after.
        Self(watched)
    }

    async fn wait(&mut self) {
        let Some(terminal) = &self.0 else { return std::future::pending().await };
        loop {
            let Ok(mut ready) = terminal.readable().await else { return std::future::pending().await };
            if ready.ready().is_read_closed() {
                return;
            }
            ready.clear_ready();
        }
    }
}

/// Signals that a terminal program handles.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    quit: Signal,
    interrupt: Signal,
    stop: Signal,
    goes_on: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?,
            goes_on: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
        })
    }

    async fn next(&mut self) -> Input {
        tokio::select! {
            _ = self.terminate.recv() => Input::End(signal_hook::consts::SIGTERM),
            _ = self.hang_up.recv() => Input::End(signal_hook::consts::SIGHUP),
            _ = self.quit.recv() => Input::End(signal_hook::consts::SIGQUIT),
            _ = self.interrupt.recv() => Input::End(signal_hook::consts::SIGINT),
            _ = self.stop.recv() => Input::Stop,
            _ = self.goes_on.recv() => Input::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    #[test]
    fn the_mouse_speaks_with_its_left_button_and_wheel() {
        let check = |kind, expected| {
            let event = MouseEvent { kind, column: 3, row: 4, modifiers: KeyModifiers::NONE };
            assert_eq!(mouse_action(event), expected);
        };
        check(MouseEventKind::Down(MouseButton::Left), Some(Action::Mouse(Mouse::Press, 3, 4)));
        check(MouseEventKind::Drag(MouseButton::Left), Some(Action::Mouse(Mouse::Drag, 3, 4)));
        check(MouseEventKind::ScrollUp, Some(Action::Mouse(Mouse::Scroll(Direction::Back), 3, 4)));
        check(MouseEventKind::Down(MouseButton::Right), None);
        check(MouseEventKind::Moved, None);
    }
}
