//! The terminal from the first screen to the last, with all that comes from it.

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
use crate::output;
use crate::ui::Theme;
use crate::ui::view::start::choice::{Choice, Group, Offer, Start};
use crate::ui::view::start::{Palette, loading};

/// Keys kept that are typed while something is loaded.
const TYPED_AHEAD: usize = 64;
/// What is loaded within this time is shown at once, and nothing else before it.
const AT_ONCE: Duration = Duration::from_millis(30);

/// How often the screen says how far a load has got.
const TICK: Duration = Duration::from_millis(100);

/// The terminal, which is taken when there is something to show.
pub struct Console {
    runtime: Runtime,
    taken: Option<(Terminal, Inputs)>,
    /// What is said on standard error once the terminal is given back.
    unsaid: Vec<String>,
}

/// How a load ended.
#[derive(Debug)]
pub enum Loaded<T> {
    /// With this.
    Done(T),
    /// The reader did not wait for it.
    ExitTo(Exit),
}

impl Console {
    /// A console whose terminal is not taken yet.
    ///
    /// # Errors
    /// Where the system gives no means to wait for keys.
    pub fn new() -> Result<Self, AppError> {
        super::install_panic_hook();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, taken: None, unsaid: Vec::new() })
    }

    /// Loads on a thread of its own, and shows how far that has got unless it takes no time. Where there is no terminal,
    /// it just loads.
    ///
    /// # Errors
    /// When the terminal goes away.
    ///
    /// # Panics
    /// As the load does.
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
            // Whoever asked may have left: then nobody hears.
            let run = move || drop(sender.send(load(&shared)));
            let thread = std::thread::Builder::new().name("loader".to_owned()).spawn(run)?;
            let watched = self.runtime.block_on(wait(result, &watch, source, options, &mut self.taken));
            match or_hung_up(watched, |exit| Some(Loaded::ExitTo(exit))) {
                Ok(Some(loaded)) => Ok(loaded),
                // The terminal was given back and the panic was reported on its own thread.
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

    /// Says something on standard error: once the terminal is given back, where it would go onto the screen.
    pub fn say(&mut self, line: String) {
        if self.taken.is_some() && output::standard_error_is_terminal() {
            self.unsaid.push(line);
        } else {
            output::say(line);
        }
    }

    /// What waits to be said on standard error.
    pub fn unsaid(&self) -> &[String] {
        &self.unsaid
    }

    /// Gives the terminal back, for whatever else needs it meanwhile.
    pub fn give_back(&mut self) {
        self.taken = None;
    }

    /// Shows the explorer until it is left.
    ///
    /// # Errors
    /// Without a terminal, with a broken theme, or when the terminal goes away.
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

/// A terminal that is gone has hung up, whether or not a signal says so.
fn or_hung_up<T>(result: Result<T, AppError>, exit: impl FnOnce(Exit) -> T) -> Result<T, AppError> {
    match result {
        Err(AppError::Terminal(error)) if terminal::is_gone(&error) => Ok(exit(Exit::Signal(signal_hook::consts::SIGHUP))),
        other => other,
    }
}

impl Console {
    /// Lets the reader choose what to explore, or leave; `why` says why the last choice could not be opened.
    ///
    /// # Errors
    /// Without a terminal, with a broken theme, or when the terminal goes away.
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
    /// The terminal is as it was afterwards, whatever happens.
    fn drop(&mut self) {
        self.taken = None;
        for line in &self.unsaid {
            output::say(line);
        }
    }
}

/// Takes the terminal, unless that was done, and says which theme suits it.
async fn take<'t>(taken: &'t mut Option<(Terminal, Inputs)>, options: &Options) -> Result<(&'t mut (Terminal, Inputs), Theme), AppError> {
    // What is wrong with the theme is told on the screen that was there before.
    let theme = options.library().load(&options.theme, options.depth)?;
    let taken = match taken {
        Some(taken) => taken,
        None => {
            let mut inputs = Inputs::new()?;
            let terminal = Terminal::enter()?;
            if options.asks {
                inputs.ask().await?;
            }
            taken.insert((terminal, inputs))
        }
    };
    let heard = taken.1.heard.filter(|_| options.asks).and_then(|name| options.library().load(name, options.depth).ok());
    Ok((taken, heard.unwrap_or(theme)))
}

/// Waits for a load with a screen; `None` where it broke off.
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
    // What is typed ahead is meant for the screen that follows.
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
        let exit = match input {
            Input::End(number) => Some(Exit::Signal(number)),
            Input::Stop => {
                terminal.suspend()?;
                None
            }
            Input::Continue => {
                terminal.enter_again()?;
                None
            }
            Input::Theme(_) => None,
            Input::Event(event) => match asks(&event) {
                Some(Asks::CancelGuard(exit)) => Some(exit),
                Some(Asks::Suspend) => {
                    terminal.suspend()?;
                    None
                }
                None => {
                    if matches!(event, Event::Key(_)) && typed.len() < TYPED_AHEAD {
                        typed.push(event);
                    }
                    None
                }
            },
        };
        if let Some(exit) = exit {
            watch.cancel();
            return Ok(Some(Loaded::ExitTo(exit)));
        }
    }
}

/// What a key can ask for while something is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    CancelGuard(Exit),
    Suspend,
}

/// `q` and Esc leave; Ctrl-C ends the program as the signal would that it stands for.
fn asks(event: &Event) -> Option<Asks> {
    let Event::Key(KeyEvent { code, modifiers, .. }) = event else { return None };
    match (code, modifiers.contains(KeyModifiers::CONTROL)) {
        (KeyCode::Char('c'), true) => Some(Asks::CancelGuard(Exit::Signal(signal_hook::consts::SIGINT))),
        (KeyCode::Char('z'), true) => Some(Asks::Suspend),
        (KeyCode::Char('q') | KeyCode::Esc, false) => Some(Asks::CancelGuard(Exit::Quit)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_leave_a_load() {
        let check = |code, modifiers, expected| assert_eq!(asks(&Event::Key(KeyEvent::new(code, modifiers))), expected);
        check(KeyCode::Char('q'), KeyModifiers::NONE, Some(Asks::CancelGuard(Exit::Quit)));
        check(KeyCode::Esc, KeyModifiers::NONE, Some(Asks::CancelGuard(Exit::Quit)));
        check(KeyCode::Char('c'), KeyModifiers::CONTROL, Some(Asks::CancelGuard(Exit::Signal(2))));
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
