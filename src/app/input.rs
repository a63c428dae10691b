//! Reads keys, mouse and signals, and maps them to actions.

use std::io;
use std::time::Instant;

use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::keyboard::{DroppedPaste, Keyboard, Typed};
use super::terminal;
use super::terminal_background::{Question, ReplyMatch};
use crate::ui::{self, Action, Direction, Mouse, State};

/// Input from outside the program.
pub(super) enum Input {
    /// A key, a mouse event, a paste or a resize.
    Event(Event),
    /// A paste that is not passed on.
    Dropped(DroppedPaste),
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
    keyboard: Keyboard,
    signals: Signals,
    question: Question,
    /// Theme for the background that the terminal reported.
    pub(super) theme: Option<&'static str>,
    /// Whether `theme` is yet to be returned by [`Self::next`].
    theme_changed: bool,
}

impl Inputs {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { keyboard: Keyboard::new()?, signals: Signals::new()?, question: Question::default(), theme: None, theme_changed: false })
    }

    /// Returns the next input, signals first. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<Input> {
        loop {
            if let Some(input) = self.queued() {
                return Ok(input);
            }
            let typed = tokio::select! {
                biased;
                signal = self.signals.next() => return signal,
                typed = self.keyboard.next() => typed?,
            };
            match typed {
                Some(typed) => {
                    if let Some(input) = self.hear(typed) {
                        return Ok(input);
                    }
                }
                // No key can arrive any more.
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
        self.theme = self.question.ask(&mut self.keyboard).await?.or(self.theme);
        Ok(())
    }

    /// Filters the terminal's reply out of the events.
    fn hear(&mut self, typed: Typed) -> Option<Input> {
        let event = match typed {
            Typed::Event(event) => event,
            Typed::Dropped(why) => return Some(Input::Dropped(why)),
        };
        match self.question.hear(event, Instant::now()) {
            ReplyMatch::Event(event) => Some(Input::Event(event)),
            ReplyMatch::Part => None,
            ReplyMatch::Typed(events) => {
                self.question.ahead.extend(events);
                None
            }
            ReplyMatch::Theme(theme) => {
                (self.theme, self.theme_changed) = (Some(theme), true);
                None
            }
        }
    }

    /// Returns the next input that has been read already.
    pub(super) fn queued(&mut self) -> Option<Input> {
        loop {
            if let Some(event) = self.question.ahead.pop_front() {
                return Some(Input::Event(event));
            }
            if std::mem::take(&mut self.theme_changed)
                && let Some(theme) = self.theme
            {
                return Some(Input::Theme(theme));
            }
            let typed = self.keyboard.queued()?;
            if let Some(input) = self.hear(typed) {
                return Some(input);
            }
        }
    }
}

/// Returns the action of an event in the state; `None` if it has none.
pub(super) fn action_of(state: &State, event: Event) -> Option<Action> {
    match event {
        Event::Key(key) => {
            let action = state.settings.keymap.lookup(&ui::contexts(state), &key);
            // A key without a binding ends a notice too.
            action.or_else(|| (state.notice.is_some() && key.kind != KeyEventKind::Release).then_some(Action::NOTHING))
        }
        Event::Paste(text) => Some(Action::Paste(text)),
        Event::Resize(width, height) => Some(Action::Resize(width, height)),
        Event::Mouse(mouse) => mouse_action(mouse),
        Event::FocusGained | Event::FocusLost => None,
    }
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

/// Signals that a terminal program handles.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    quit: Signal,
    interrupt: Signal,
    stop: Signal,
    continued: Signal,
    resized: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?,
            continued: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    async fn next(&mut self) -> io::Result<Input> {
        Ok(tokio::select! {
            _ = self.terminate.recv() => Input::End(signal_hook::consts::SIGTERM),
            _ = self.hang_up.recv() => Input::End(signal_hook::consts::SIGHUP),
            _ = self.quit.recv() => Input::End(signal_hook::consts::SIGQUIT),
            _ = self.interrupt.recv() => Input::End(signal_hook::consts::SIGINT),
            _ = self.stop.recv() => Input::Stop,
            _ = self.continued.recv() => Input::Continue,
            _ = self.resized.recv() => {
                let (width, height) = terminal::size()?;
                Input::Event(Event::Resize(width, height))
            }
        })
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
