//! The event loop: keys, mouse and signals in, frames out.
//!
//! One `select!` over a closed set of inputs, on one thread. A frame is drawn only after something happened, and only
//! once for all input that has come in meanwhile. Everything else is [`crate::ui`], which is pure.

mod background;
mod beside;
mod explorer;
mod export;
mod fault;
mod following;
mod objects;
mod print;
mod settings;
mod terminal;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crossterm::event::{Event, EventStream, KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use futures::StreamExt as _;
use thiserror::Error;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::cluster::Key;
use crate::ui::keymap::Context;
use crate::ui::themes::DEFAULT;
use crate::ui::{
    self, Action, Depth, Direction, Document, Driver, Effect, Glyphs, Keymap, Library, Mouse, Overlay, Settings, State, Theme, ThemeError,
};

use background::{Heard, Question};
pub use explorer::Explorer;
pub use fault::{LOG_PREFIX, LOG_SUFFIX, Log, install_panic_hook, set_log};
pub use following::Pace;
pub use objects::{capture, unknown_kinds};
pub use print::{Print, print};
use terminal::Terminal;

/// What can go wrong around the screen.
#[derive(Debug, Error)]
pub enum AppError {
    /// Standard output is no terminal.
    #[error("the explorer needs a terminal: standard {0} is none")]
    NoTerminal(&'static str),
    /// The terminal did not do what it was told.
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    /// The screen cannot be written to a file; a sentence.
    #[error("{0}")]
    Print(String),
    /// The theme cannot be used.
    #[error(transparent)]
    Theme(#[from] ThemeError),
}

/// How to start.
#[derive(Clone, Debug)]
pub struct Options {
    /// The theme's name.
    pub theme: String,
    /// Whether the terminal is asked if it is light or dark, as nobody says which theme to use.
    pub asks: bool,
    /// Where the reader's own themes are.
    pub themes: Option<PathBuf>,
    /// What keys do.
    pub keymap: Keymap,
    /// What of the reader's settings cannot be used, a sentence each.
    pub problems: Vec<String>,
    /// How many colours to use.
    pub depth: Depth,
    /// Which signs to use.
    pub glyphs: Glyphs,
    /// A pod whose decision is shown at once.
    pub pod: Option<Key>,
    /// What the reader should know first.
    pub notice: Option<String>,
    /// Told when a live cluster has something new.
    pub wake: Option<Arc<Notify>>,
}

impl Options {
    /// As the environment and the reader's configuration file want it.
    pub fn from_env() -> Self {
        Self::from_vars(|name| std::env::var(name).ok())
    }

    /// As these variables of an environment and the configuration file that they lead to want it.
    pub fn from_vars(var: impl Fn(&str) -> Option<String>) -> Self {
        let folder = settings::folder(&var);
        let configured = settings::read(folder.as_deref());
        let depth = Depth::detect(&var);
        let told = background::told(&var);
        Self {
            asks: configured.theme.is_none() && told.is_none() && background::asks(depth, &var),
            theme: configured.theme.unwrap_or_else(|| told.unwrap_or(DEFAULT).to_owned()),
            themes: folder.map(|f| f.join("themes")),
            keymap: configured.keymap,
            problems: configured.problems,
            depth,
            glyphs: configured.glyphs.unwrap_or_else(|| Glyphs::detect(&var)),
            pod: None,
            notice: None,
            wake: None,
        }
    }

    /// The embedded themes and the reader's own, as they are now.
    pub fn library(&self) -> Library {
        settings::library(self.themes.as_deref())
    }

    /// Puts the default in place of a theme that cannot be used, and remembers why.
    pub fn check_theme(&mut self) {
        if let Err(error) = self.library().load(&self.theme, self.depth) {
            self.problems.push(error.to_string());
            DEFAULT.clone_into(&mut self.theme);
        }
    }
}

/// Why the screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The reader quit.
    Quit,
    /// A signal of this number asked for it; the process should end with 128 and this number.
    Signal(i32),
}

impl Exit {
    /// The process's exit code, as shells expect it.
    pub fn code(self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(1),
        }
    }
}

/// Shows the explorer until it is left. The terminal is as it was afterwards, whatever happens.
///
/// # Errors
/// Without a terminal, with a broken theme, or when the terminal goes away.
pub fn run(driver: &mut dyn Driver, options: &Options) -> Result<Exit, AppError> {
    terminal::require()?;
    let theme = options.library().load(&options.theme, options.depth)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // The guard lives outside the loop, so that leaving it in any way restores the terminal.
    let mut terminal = Terminal::enter()?;
    let result = runtime.block_on(event_loop(driver, options, theme, &mut terminal));
    terminal.leave()?;
    result
}

/// What can wake the loop.
enum Input {
    Event(Event),
    /// An event that came while an answer of the terminal was awaited, and is none.
    Heard(Event),
    /// A signal that ends the program.
    End(i32),
    /// The shell wants the program to stop.
    Stop,
    /// The program goes on after it was stopped from outside.
    Continue,
    /// Nothing came in, and something that takes a while goes on.
    Idle,
    /// It is time to look how far the work beside the screen has got.
    Look,
    /// A live cluster has something new.
    News,
    /// It is time to take in what is new.
    Follow,
    /// Something broke on another thread.
    Broken,
}

/// How long work goes on before the screen shows how far it has got, and keys are looked at again.
const SLICE: Duration = Duration::from_millis(12);

/// Waits for news of a live cluster; for good where there is none.
async fn told(wake: Option<&Notify>) {
    match wake {
        Some(wake) => wake.notified().await,
        None => std::future::pending().await,
    }
}

/// How often the screen looks how far the work beside it has got.
const LOOK: Duration = Duration::from_millis(50);

async fn event_loop(driver: &mut dyn Driver, options: &Options, mut theme: Theme, terminal: &mut Terminal) -> Result<Exit, AppError> {
    let mut signals = Signals::new()?;
    let mut events = EventStream::new();
    let mut state = first_state(driver, options, terminal.size()?);
    let mut question = Question::default();
    if options.asks
        && let Some(name) = question.ask(&mut events).await?
    {
        theme = ui::show_theme(&mut state, &options.library(), name, options.depth).unwrap_or(theme);
    }
    let mut dirty = true;
    let mut due: Option<tokio::time::Instant> = None;
    let soonest = |a: Option<tokio::time::Instant>, after: Duration| {
        let then = tokio::time::Instant::now() + after;
        Some(a.map_or(then, |a| a.min(then)))
    };
    loop {
        if dirty {
            // It waits while something is read or typed.
            if state.overlay.is_none()
                && let Some(Document { title, lines, form }) = fault::take()
            {
                state.overlay = Some(Overlay::Text { title, lines, form, offset: 0 });
            }
            export::with_scene(&state, driver, &theme, &options.glyphs, |scene| terminal.draw(scene))?;
        }
        let ahead = question.ahead.pop_front().map(Input::Heard);
        let first = if let Some(ahead) = ahead {
            ahead
        } else {
            tokio::select! {
                biased;
                signal = signals.next() => signal,
                event = events.next() => match event {
                    Some(event) => Input::Event(event?),
                    // Standard input is gone, and with it whoever could press a key.
                    None => return Ok(Exit::Quit),
                },
                () = std::future::ready(()), if state.running.is_some() => Input::Idle,
                () = fault::told() => Input::Broken,
                () = tokio::time::sleep(LOOK), if state.working.is_some() => Input::Look,
                () = told(options.wake.as_deref()), if options.wake.is_some() => Input::News,
                () = tokio::time::sleep_until(due.unwrap_or_else(tokio::time::Instant::now)), if due.is_some() => Input::Follow,
            }
        };
        let mut next = Some(first);
        dirty = false;
        let live = options.wake.is_some();
        while let Some(input) = next.take() {
            let action = match input {
                Input::End(number) => return Ok(Exit::Signal(number)),
                Input::Stop => Some(Action::Suspend),
                Input::Continue => {
                    terminal.enter_again()?;
                    dirty = true;
                    None
                }
                Input::Idle => {
                    let begin = Instant::now();
                    ui::go_on(&mut state, driver, || begin.elapsed() < SLICE);
                    dirty = true;
                    None
                }
                Input::News => {
                    due = soonest(due, driver.rest());
                    None
                }
                Input::Follow => {
                    due = None;
                    let (shown, again) = ui::follow(&mut state, driver);
                    dirty = shown;
                    if let Some(after) = again {
                        due = soonest(None, after);
                    }
                    None
                }
                Input::Broken => {
                    dirty = true;
                    None
                }
                Input::Look => {
                    dirty = ui::look(&mut state, driver);
                    None
                }
                Input::Heard(event) => action_of(&state, event),
                Input::Event(event) => match question.hear(event, Instant::now()) {
                    Heard::Event(event) => action_of(&state, event),
                    Heard::Part => None,
                    Heard::Typed(events) => {
                        question.ahead.extend(events);
                        None
                    }
                    Heard::Theme(name) => {
                        theme = ui::show_theme(&mut state, &options.library(), name, options.depth).unwrap_or(theme);
                        dirty = true;
                        None
                    }
                },
            };
            if let Some(action) = action {
                dirty = true;
                match ui::update(&mut state, driver, action) {
                    None => {}
                    Some(Effect::Quit) => return Ok(Exit::Quit),
                    Some(Effect::Suspend) => {
                        terminal.suspend()?;
                        let (width, height) = terminal.size()?;
                        ui::update(&mut state, driver, Action::Resize(width, height));
                    }
                    Some(Effect::Copy(text)) => terminal::copy(&text)?,
                    Some(Effect::Theme(name)) => {
                        if let Some(found) = ui::show_theme(&mut state, &options.library(), &name, options.depth) {
                            theme = found;
                        }
                    }
                    Some(Effect::Export { path, export }) => {
                        export::export(&mut state, driver, &theme, &options.glyphs, &path, &export);
                    }
                    Some(Effect::Panic { beside: false }) => panic!("a panic was asked for"),
                    Some(Effect::Panic { beside: true }) => drop(std::thread::spawn(|| panic!("a panic was asked for"))),
                }
            }
            // The reader may have come back to where changes are taken in.
            if live && due.is_none() && driver.has_news() {
                due = soonest(None, driver.rest());
            }
            // Whatever came in meanwhile, such as a drag of the mouse, is taken in before the next frame.
            if let Some(event) = question.ahead.pop_front() {
                next = Some(Input::Heard(event));
            } else if let Some(Some(event)) = at_once(&mut events).await {
                next = Some(Input::Event(event?));
            }
        }
    }
}

/// What the screen begins with.
fn first_state(driver: &mut dyn Driver, options: &Options, size: (u16, u16)) -> State {
    let mut state = State::new(driver.timeline(), size);
    state.settings = Settings {
        keymap: options.keymap.clone(),
        themes: options.library().entries(),
        theme: options.theme.clone(),
        problems: options.problems.clone(),
        log: fault::log().words(),
    };
    if let Some(words) = first_words(options) {
        state.warn(words);
    }
    if let Some(pod) = &options.pod {
        if !ui::show_pod(&mut state, driver, pod) {
            state.warn(format!("{pod} does not wait to be scheduled"));
        }
        state.renew(driver);
    }
    state
}

/// What the reader should know first: of the settings in a few words, and of the source.
fn first_words(options: &Options) -> Option<String> {
    let settings = options.problems.first().map(|first| match options.problems.len() {
        1 => first.clone(),
        count => {
            let key = options.keymap.label(Context::Global, &Action::Report);
            format!("{count} settings are not used ({key} shows them): {first}")
        }
    });
    let all: Vec<String> = settings.into_iter().chain(options.notice.clone()).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The next event if there is one already. It is asked for with this task's own waker: the stream remembers the first
/// waker it is polled with until that one is woken, so another would leave the loop asleep.
async fn at_once(events: &mut EventStream) -> Option<Option<io::Result<Event>>> {
    std::future::poll_fn(|cx| match events.poll_next_unpin(cx) {
        Poll::Ready(event) => Poll::Ready(Some(event)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

fn action_of(state: &State, event: Event) -> Option<Action> {
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

fn mouse_action(event: MouseEvent) -> Option<Action> {
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

/// The signals that matter to a program on a terminal.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    stop: Signal,
    goes_on: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?,
            goes_on: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
        })
    }

    async fn next(&mut self) -> Input {
        tokio::select! {
            _ = self.terminate.recv() => Input::End(signal_hook::consts::SIGTERM),
            _ = self.hang_up.recv() => Input::End(signal_hook::consts::SIGHUP),
            _ = self.interrupt.recv() => Input::End(signal_hook::consts::SIGINT),
            _ = self.stop.recv() => Input::Stop,
            _ = self.goes_on.recv() => Input::Continue,
        }
    }
}

#[cfg(test)]
mod input_tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    #[test]
    fn signals_become_exit_codes() {
        assert_eq!(Exit::Quit.code(), 0);
        assert_eq!(Exit::Signal(15).code(), 143);
        assert_eq!(Exit::Signal(1000).code(), 1);
    }

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
