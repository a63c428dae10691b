//! Runs the explorer's event loop. Draws a frame only after a change, and one frame for all input that has queued up.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::explorer::Explorer;
use super::input::{Input, Inputs};
use super::start::typed_path;
use super::terminal::{self, Terminal};
use super::ui_thread::UiThread;
use super::worker::Outcome;
use super::{AppError, Exit, ExitTo, Options, export, panics};
use crate::limits::terminal::COPIED;
use crate::output::Text;
use crate::ui::Context;
use crate::ui::{self, Action, Effect, Overlay, SessionHandle, Settings, State, TextView, Theme};

/// Time within which a task ends without a sign that it runs.
const GRACE: Duration = Duration::from_millis(10);

/// Interval of polling a job.
const POLL: Duration = Duration::from_millis(50);

/// Event that wakes the loop.
enum Wake {
    Input(Input),
    /// The worker finished a task.
    Answered(Outcome),
    /// Another thread panicked, or the log can no longer be written.
    Broken,
    /// The progress sign is due to move.
    Tick,
    /// A job is due to be polled.
    Poll,
    /// A live cluster has changes.
    Changed,
    /// Changes of a live cluster are due to be applied.
    Follow,
}

/// Waits for changes of a live cluster; forever without one.
async fn wait_for_notify(wake: Option<&Notify>) {
    match wake {
        Some(wake) => wake.notified().await,
        None => std::future::pending().await,
    }
}

/// Waits until an instant; forever without one.
async fn at(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}

/// State of the loop besides the screen.
struct Loop<'a> {
    options: &'a Options,
    theme: Theme,
    terminal: &'a mut Terminal,
    /// Time at which changes of a live cluster are applied.
    due: Option<Instant>,
    /// Time of the last poll of jobs.
    polled: Instant,
    /// Whether the frame on show is outdated.
    dirty: bool,
}

/// Shows a session until the user leaves it.
pub(super) async fn explore(
    explorer: Explorer,
    options: &Options,
    theme: Theme,
    terminal: &mut Terminal,
    inputs: &mut Inputs,
) -> Result<ExitTo, AppError> {
    let mut state = first_state(&explorer, options, terminal.size()?);
    theme.name().clone_into(&mut state.settings.theme);
    let mut screen = UiThread::new(state, explorer)?;
    match (&options.pod, &options.workload) {
        (Some(pod), _) => screen.show_pod(pod.clone()),
        (None, Some(workload)) => screen.show_workload(workload),
        (None, None) => screen.show_overview(),
    }
    let mut on = Loop { options, theme, terminal, due: None, polled: Instant::now(), dirty: true };
    let left = on.until_left(&mut screen, inputs).await;
    if matches!(left, Ok(ExitTo::Exit(_))) {
        screen.explorer.end_with_the_process();
    }
    left
}

impl Loop<'_> {
    /// Shows the screen until the user leaves it.
    async fn until_left(&mut self, screen: &mut UiThread, inputs: &mut Inputs) -> Result<ExitTo, AppError> {
        let live = self.options.wake.is_some();
        if let (_, Some(after)) = ui::show_live_status(&mut screen.state, &screen.explorer) {
            self.follow_in(after);
        }
        loop {
            if let Some(left) = self.answered_at_once(screen).await? {
                return Ok(left);
            }
            self.show_panics(screen);
            if std::mem::take(&mut self.dirty) {
                self.draw(screen)?;
            }
            let wake = self.wake(screen, inputs).await?;
            match wake {
                Wake::Input(input) => {
                    self.dirty = true;
                    if let Some(left) = self.input(screen, input)? {
                        return Ok(left);
                    }
                }
                Wake::Answered(outcome) => {
                    if let Some(left) = self.answered(screen, outcome)? {
                        return Ok(left);
                    }
                }
                Wake::Tick => {
                    screen.tick();
                    self.dirty = true;
                }
                // The report opens, or a warning shows, before the next frame.
                Wake::Broken => {}
                Wake::Poll => {
                    self.polled = Instant::now();
                    self.dirty = screen.poll_jobs();
                }
                Wake::Changed => self.follow_in(screen.cooldown()),
                Wake::Follow => {
                    self.due = None;
                    if !screen.follow() {
                        self.follow_in(POLL);
                    }
                }
            }
            // Handle all queued input, such as a drag of the mouse, before the next frame.
            while let Some(input) = inputs.queued() {
                self.dirty = true;
                if let Some(left) = self.input(screen, input)? {
                    return Ok(left);
                }
            }
            // The user may have returned to the end, where changes are applied.
            if live && self.due.is_none() && !screen.is_busy() && screen.has_live_changes() {
                self.follow_in(screen.cooldown());
            }
        }
    }

    /// Begins the next task, and takes the answers of those that end soon.
    async fn answered_at_once(&mut self, screen: &mut UiThread) -> Result<Option<ExitTo>, AppError> {
        screen.continue_run();
        let soon = Instant::now() + GRACE;
        while screen.is_busy()
            && let Ok(outcome) = timeout_at(soon, screen.answer()).await
        {
            if let Some(left) = self.answered(screen, outcome)? {
                return Ok(Some(left));
            }
            screen.continue_run();
        }
        Ok(None)
    }

    /// Shows the report of a panic once no overlay is open, and a failure of the log.
    fn show_panics(&mut self, screen: &mut UiThread) {
        if screen.state.overlay.is_none()
            && let Some(document) = panics::take()
        {
            screen.state.overlay = Some(Overlay::Text(TextView::of(document, Some(screen.explorer.timeline()))));
            self.dirty = true;
        }
        if let Some(why) = panics::take_log_failure() {
            screen.warn(panics::Log::Failed(why).words());
            self.dirty = true;
        }
    }

    /// Waits for what is next.
    async fn wake(&self, screen: &mut UiThread, inputs: &mut Inputs) -> Result<Wake, AppError> {
        let (tick, follow) = (screen.next_tick(), self.due.filter(|_| !screen.is_busy()));
        // Other events, however many, do not put the poll off.
        let poll = screen.has_jobs().then(|| self.polled + POLL);
        let live = self.options.wake.as_deref();
        Ok(tokio::select! {
            biased;
            input = inputs.next() => Wake::Input(input?),
            outcome = screen.answer(), if screen.is_busy() => Wake::Answered(outcome),
            () = panics::wait_for_notify() => Wake::Broken,
            () = at(tick) => Wake::Tick,
            () = at(poll) => Wake::Poll,
            () = at(follow) => Wake::Follow,
            () = wait_for_notify(live), if live.is_some() => Wake::Changed,
        })
    }

    /// Draws a frame.
    fn draw(&mut self, screen: &UiThread) -> std::io::Result<()> {
        export::with_scene(&screen.state, &screen.explorer, &self.theme, &self.options.glyphs, |scene| self.terminal.draw(scene))
    }

    /// Schedules the changes of a live cluster to be applied after a pause, or earlier if that was scheduled.
    fn follow_in(&mut self, after: Duration) {
        let then = Instant::now() + after;
        self.due = Some(self.due.map_or(then, |due| due.min(then)));
    }

    /// Returns whether a finished task changes the frame.
    fn is_worth_showing(&mut self, screen: &mut UiThread, outcome: &Outcome) -> bool {
        let Outcome::Followed(new) = outcome else { return true };
        let (shown, again) = ui::show_live_status(&mut screen.state, &screen.explorer);
        if let Some(after) = again {
            self.follow_in(after);
        }
        *new || shown || screen.has_waiting_keys()
    }

    /// Runs the effect of a finished task, then the keys that waited for it.
    fn answered(&mut self, screen: &mut UiThread, outcome: Outcome) -> Result<Option<ExitTo>, AppError> {
        self.dirty |= self.is_worth_showing(screen, &outcome);
        let mut effect = match outcome {
            Outcome::Done(effect) => effect,
            Outcome::Followed(_) => None,
        };
        loop {
            if let Some(effect) = effect
                && let Some(left) = self.effect(screen, effect)?
            {
                return Ok(Some(left));
            }
            effect = screen.take_waiting_keys();
            if effect.is_none() {
                return Ok(None);
            }
        }
    }

    fn input(&mut self, screen: &mut UiThread, input: Input) -> Result<Option<ExitTo>, AppError> {
        let effect = match input {
            Input::End(number) => return Ok(Some(ExitTo::Exit(Exit::Signal(number)))),
            Input::Stop => Some(Effect::Suspend),
            Input::Continue => {
                self.terminal.enter_again()?;
                None
            }
            Input::Theme(name) => {
                self.show_theme(screen, name);
                None
            }
            Input::Dropped(why) => {
                screen.warn(why.to_string());
                None
            }
            Input::Event(event) => screen.handle(event),
        };
        effect.map_or(Ok(None), |effect| self.effect(screen, effect))
    }

    /// Runs an effect outside the screen. Returns where to exit to, if it leaves.
    fn effect(&mut self, screen: &mut UiThread, effect: Effect) -> Result<Option<ExitTo>, AppError> {
        match effect {
            Effect::Quit => return Ok(Some(ExitTo::Exit(Exit::Quit))),
            Effect::Open(what) => match what.as_deref().map(|path| (path, std::fs::metadata(typed_path(path)))) {
                // A mistyped path does not end the session.
                Some((path, Err(error))) if path != "-" => screen.state.warn(format!("{path} cannot be read: {error}")),
                _ => return Ok(Some(ExitTo::Open(what))),
            },
            Effect::Suspend => {
                self.terminal.suspend()?;
                let (width, height) = self.terminal.size()?;
                ui::update(&mut screen.state, &mut screen.explorer, Action::Resize(width, height));
            }
            Effect::Copy(text) => {
                if !terminal::copy(&Text::document(text))? {
                    screen.state.warn(format!("not copied: longer than {} KiB", COPIED >> 10));
                }
            }
            Effect::Theme(name) => self.show_theme(screen, &name),
            Effect::Mouse(on) => {
                terminal::use_mouse(on)?;
                screen.state.say(if on { "the mouse selects and scrolls here" } else { "the mouse is the terminal's: it selects text" });
            }
            Effect::Export { file, export } => {
                export::export(&mut screen.state, &screen.explorer, &self.theme, &self.options.glyphs, &file, &export);
            }
            Effect::Panic { in_thread: false } => panic!("a panic was asked for"),
            Effect::Panic { in_thread: true } => drop(std::thread::spawn(|| panic!("a panic was asked for"))),
        }
        Ok(None)
    }

    fn show_theme(&mut self, screen: &mut UiThread, name: &str) {
        if let Some(found) = ui::show_theme(&mut screen.state, &self.options.library(), name, self.options.depth) {
            self.theme = found;
        }
    }
}

/// Returns the state of the first frame.
pub(super) fn first_state(driver: &dyn SessionHandle, options: &Options, size: (u16, u16)) -> State {
    let settings = Settings {
        keymap: options.keymap.clone(),
        themes: options.library().entries(),
        theme: options.theme.clone(),
        problems: options.problems.clone(),
        log: panics::log().words(),
    };
    let mut state = State::new(driver.timeline(), size, settings);
    state.lesson = options.learn.then_some(0);
    ui::renew(&mut state, driver);
    match (first_words(options), options.offer) {
        (Some(words), _) => state.say_first(words, true),
        (None, Some(offer)) => state.say_first(offer, false),
        (None, None) => {}
    }
    state
}

/// Returns the first notice: problems of the settings, then of the source.
fn first_words(options: &Options) -> Option<String> {
    let settings = options.problems.first().map(|first| match options.problems.len() {
        1 => first.clone(),
        count => {
            let key = options.keymap.label(Context::GLOBAL, &Action::REPORT);
            format!("{count} settings are not used ({key} shows them): {first}")
        }
    });
    let all: Vec<String> = settings.into_iter().chain(options.notice.clone()).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
