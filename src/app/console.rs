//! Owns the terminal from the first screen to the last, with its input and signals.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::event_loop;
use super::explorer::Explorer;
use super::input::{Input, Inputs};
use super::loading::Watch;
use super::start;
use super::terminal::{self, Terminal};
use super::{AppError, Exit, ExitTo, Options};
use crate::limits::terminal::KEYS_AHEAD;
use crate::output::{self, ScreenEnds};
use crate::ui::Theme;
use crate::ui::model::start::{Choice, Group, Offer, Start};
use crate::ui::view::start::{Palette, loading};

/// Time within which a load ends without a loading screen.
const AT_ONCE: Duration = Duration::from_millis(30);

/// Interval between frames of the loading screen.
const TICK: Duration = Duration::from_millis(100);

/// Console that enters the terminal when there is something to show.
pub struct Console {
    runtime: Runtime,
    taken: Option<(Terminal, Inputs)>,
    /// Lines for standard error, printed once the terminal is restored.
    unsaid: Vec<String>,
    _ends: ScreenEnds,
}

/// Result of a load.
#[derive(Debug)]
pub enum Loaded<T> {
    /// The load ended.
    Done(T),
    /// The user left before the load ended.
    ExitTo(Exit),
}

impl Console {
    /// Makes a console without entering the terminal.
    ///
    /// # Errors
    /// When the system gives no async runtime.
    pub fn new() -> Result<Self, AppError> {
        super::install_panic_hook();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, taken: None, unsaid: Vec::new(), _ends: output::screen_ends_on_signals(terminal::give_back_without_waiting) })
    }

    /// Runs a load on its own thread, with a loading screen unless it ends at once. Without a terminal, runs it on this
    /// thread.
    ///
    /// # Errors
    /// When drawing or reading input fails.
    ///
    /// # Panics
    /// When the load panics.
    pub fn load<T: Send + 'static>(
        &mut self,
        source: &str,
        options: &Options,
        load: impl FnOnce(&Watch) -> T + Send + 'static,
    ) -> Result<Loaded<T>, AppError> {
        let watch = Arc::new(Watch::default());
        let loaded = if terminal::require().is_err() {
            Ok(Loaded::Done(load(&watch)))
        } else {
            let (sender, result) = oneshot::channel();
            let shared = Arc::clone(&watch);
            // The receiver is gone if the user left.
            let run = move || drop(sender.send(load(&shared)));
            let thread = std::thread::Builder::new().name("loader".to_owned()).spawn(run)?;
            let watched = self.runtime.block_on(wait(result, &watch, source, options, &mut self.taken));
            match or_hung_up(watched, |exit| Some(Loaded::ExitTo(exit))) {
                Ok(Some(loaded)) => Ok(loaded),
                // The panic hook has restored the terminal and reported the panic.
                Ok(None) => match thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => Err(AppError::Terminal(std::io::Error::other("the load ended without a result"))),
                },
                Err(error) => Err(error),
            }
        };
        for line in watch.said() {
            self.say(line);
        }
        loaded
    }

    /// Prints a line on standard error; while that would spoil the screen, keeps it until the terminal is restored.
    pub fn say(&mut self, line: String) {
        if self.taken.is_some() && output::standard_error_is_terminal() {
            self.unsaid.push(line);
        } else {
            output::say(line);
        }
    }

    /// Returns the lines that wait for the terminal to be restored.
    pub fn unsaid(&self) -> &[String] {
        &self.unsaid
    }

    /// Restores the terminal, so that something else can use it.
    pub fn give_back(&mut self) {
        self.taken = None;
    }

    /// Shows the explorer until the user leaves it.
    ///
    /// # Errors
    /// Without a terminal, with a broken theme, or when drawing or reading input fails.
    pub fn explore(&mut self, explorer: Explorer, options: &Options) -> Result<ExitTo, AppError> {
        terminal::require()?;
        let taken = &mut self.taken;
        let left = self.runtime.block_on(async {
            let ((terminal, inputs), theme) = take(taken, options).await?;
            event_loop::explore(explorer, options, theme, terminal, inputs).await
        });
        or_hung_up(left, ExitTo::Exit)
    }
}

/// Turns the error of a terminal that is gone into an exit by SIGHUP, which may not arrive as a signal.
fn or_hung_up<T>(result: Result<T, AppError>, exit: impl FnOnce(Exit) -> T) -> Result<T, AppError> {
    match result {
        Err(AppError::Terminal(error)) if terminal::is_gone(&error) => Ok(exit(Exit::Signal(signal_hook::consts::SIGHUP))),
        other => other,
    }
}

impl Console {
    /// Shows the start screen until the user chooses a source or leaves; `why` is the error of the last choice.
    ///
    /// # Errors
    /// Without a terminal, with a broken theme, or when drawing or reading input fails.
    pub fn choose(
        &mut self,
        offers: Vec<Offer>,
        empty: Vec<(Group, String)>,
        why: Option<String>,
        options: &Options,
    ) -> Result<Result<Choice, Exit>, AppError> {
        terminal::require()?;
        let taken = &mut self.taken;
        let left = self.runtime.block_on(async {
            let ((terminal, inputs), theme) = take(taken, options).await?;
            let palette = Palette { theme: &theme, glyphs: &options.glyphs };
            let mut screen = Start::new(offers, empty, options.keymap.clone(), terminal.size()?);
            screen.notice = why.or_else(|| options.problems.first().cloned());
            start::choose(screen, palette, terminal, inputs).await
        });
        or_hung_up(left, Err)
    }
}

impl Drop for Console {
    /// Restores the terminal, then prints the lines that waited.
    fn drop(&mut self) {
        self.taken = None;
        for line in &self.unsaid {
            output::say(line);
        }
    }
}

/// Enters the terminal, unless it is entered, and returns the theme for its background.
async fn take<'t>(taken: &'t mut Option<(Terminal, Inputs)>, options: &Options) -> Result<(&'t mut (Terminal, Inputs), Theme), AppError> {
    // Load the theme first, so that its error is printed before the terminal is entered.
    let theme = options.library().load(&options.theme, options.depth)?;
    let taken = match taken {
        Some(taken) => taken,
        None => {
            let mut inputs = Inputs::new()?;
            let terminal = Terminal::enter(options.mouse)?;
            if options.asks {
                inputs.ask().await?;
            }
            taken.insert((terminal, inputs))
        }
    };
    let detected = taken.1.theme.filter(|_| options.asks).and_then(|name| options.library().load(name, options.depth).ok());
    Ok((taken, detected.unwrap_or(theme)))
}

/// Shows the loading screen until a load ends; `None` where the load panicked.
async fn wait<T>(
    mut result: oneshot::Receiver<T>,
    watch: &Watch,
    source: &str,
    options: &Options,
    taken: &mut Option<(Terminal, Inputs)>,
) -> Result<Option<Loaded<T>>, AppError> {
    if let Ok(result) = timeout(AT_ONCE, &mut result).await {
        return Ok(result.ok().map(Loaded::Done));
    }
    let ((terminal, inputs), theme) = take(taken, options).await?;
    let palette = Palette { theme: &theme, glyphs: &options.glyphs };
    let mut ticks = 0;
    // Keep keys for the screen that follows.
    let mut typed = Vec::new();
    loop {
        let shown = watch.shown(source, ticks);
        terminal.show(|area, buf| loading::draw(&shown, palette, area, buf))?;
        let input = tokio::select! {
            biased;
            input = inputs.next() => input?,
            result = &mut result => {
                inputs.put_back(typed);
                return Ok(result.ok().map(Loaded::Done));
            }
            () = sleep(TICK) => {
                ticks += 1;
                continue;
            }
        };
        let asked = match input {
            Input::End(number) => Some(Asks::Exit(Exit::Signal(number))),
            Input::Stop => Some(Asks::Suspend),
            Input::Continue => {
                terminal.enter_again()?;
                None
            }
            Input::Theme(_) | Input::Dropped(_) => None,
            Input::Event(event) => {
                let asked = asks(&event);
                if asked.is_none() && matches!(event, Event::Key(_)) && typed.len() < KEYS_AHEAD {
                    typed.push(event);
                }
                asked
            }
        };
        match asked {
            Some(Asks::Exit(exit)) => {
                watch.cancel();
                return Ok(Some(Loaded::ExitTo(exit)));
            }
            Some(Asks::Suspend) => terminal.suspend()?,
            None => {}
        }
    }
}

/// Request that a key makes while a load runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Exit(Exit),
    Suspend,
}

/// Returns the request of a key: `q` and Esc leave, Ctrl-C leaves as SIGINT would, Ctrl-Z suspends.
fn asks(event: &Event) -> Option<Asks> {
    let Event::Key(KeyEvent { code, modifiers, .. }) = event else { return None };
    match (code, modifiers.contains(KeyModifiers::CONTROL)) {
        (KeyCode::Char('c'), true) => Some(Asks::Exit(Exit::Signal(signal_hook::consts::SIGINT))),
        (KeyCode::Char('z'), true) => Some(Asks::Suspend),
        (KeyCode::Char('q') | KeyCode::Esc, false) => Some(Asks::Exit(Exit::Quit)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_leave_a_load() {
        let check = |code, modifiers, expected| assert_eq!(asks(&Event::Key(KeyEvent::new(code, modifiers))), expected);
        check(KeyCode::Char('q'), KeyModifiers::NONE, Some(Asks::Exit(Exit::Quit)));
        check(KeyCode::Esc, KeyModifiers::NONE, Some(Asks::Exit(Exit::Quit)));
        check(KeyCode::Char('c'), KeyModifiers::CONTROL, Some(Asks::Exit(Exit::Signal(2))));
        check(KeyCode::Char('z'), KeyModifiers::CONTROL, Some(Asks::Suspend));
        check(KeyCode::Char('c'), KeyModifiers::NONE, None);
        assert_eq!(asks(&Event::FocusGained), None);
    }

    #[test]
    fn a_load_within_no_time_takes_no_terminal() {
        let mut console = Console::new().unwrap();
        let loaded = console.load("x", &Options::from_env(), |watch| {
            watch.building();
            7
        });
        assert!(matches!(loaded, Ok(Loaded::Done(7))) && console.taken.is_none());
    }
}
