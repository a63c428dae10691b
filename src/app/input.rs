//! What comes from outside: keys, mouse and signals, and what they ask for.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::task::Poll;
use std::time::Instant;

use crossterm::event::{Event, EventStream, KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use futures::StreamExt as _;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::terminal_background::{Question, ReplyMatch};
use crate::ui::{self, Action, Direction, Mouse, State};

/// Something from outside.
pub(super) enum Input {
    /// A key, the mouse, another size.
    Event(Event),
    /// A signal that ends the program.
    End(i32),
    /// The shell wants the program to stop.
    Stop,
    /// The program goes on after it was stopped from outside.
    Continue,
    /// The terminal said what theme suits its background.
    Theme(&'static str),
}

/// Everything that comes from outside.
pub(super) struct Inputs {
    events: EventStream,
    signals: Signals,
    hang_up: HangUp,
    question: Question,
    /// What the terminal said of its background, once it has.
    pub(super) heard: Option<&'static str>,
    /// Whether that was not handed out yet.
    news: bool,
}

impl Inputs {
    pub(super) fn new() -> io::Result<Self> {
        // The stream has a thread, without which it would end the program.
        std::thread::Builder::new().spawn(|| ())?.join().map_err(|_| io::Error::other("a thread ended"))?;
        let (events, signals) = (EventStream::new(), Signals::new()?);
        Ok(Self { events, signals, hang_up: HangUp::new(), question: Question::default(), heard: None, news: false })
    }

    /// The next of it, signals first. Waiting may be broken off at any time.
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
                // Nobody can press a key any more.
                None => return Ok(Input::End(signal_hook::consts::SIGHUP)),
            }
        }
    }

    /// Puts events back in front of those that follow, for a later screen.
    pub(super) fn put_back(&mut self, typed: Vec<Event>) {
        for event in typed.into_iter().rev() {
            self.question.ahead.push_front(event);
        }
    }

    /// Asks the terminal whether it is light or dark, and waits a little for the answer.
    pub(super) async fn ask(&mut self) -> io::Result<()> {
        self.heard = self.question.ask(&mut self.events).await?.or(self.heard);
        Ok(())
    }

    /// Takes what the terminal answers out of what comes in.
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

    /// The next event if there is one already. It is asked for with this task's own waker: the stream remembers the first
    /// waker it is polled with until that one is woken, so another would leave the loop asleep.
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
    state.settings.keymap.lookup(&ui::contexts(state), key)
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

/// Tells when the terminal hangs up, of which no signal may come: the stream of keys would wait for good.
struct HangUp(Option<AsyncFd<OwnedFd>>);

impl HangUp {
    #[allow(deprecated, reason = "what takes its place is unsafe, and this descriptor is owned")]
    fn new() -> Self {
        let terminal = io::stdin().as_fd().try_clone_to_owned().ok();
        let watched = terminal.and_then(|fd| AsyncFd::with_interest(fd, Interest::READABLE).ok());
        // Where standard input cannot be watched, reading and writing fail in time.
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

/// The signals that matter to a program on a terminal.
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
