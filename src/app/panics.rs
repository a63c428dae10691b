//! Reports panics.
//!
//! A panic on the thread that has the terminal ends the program: the hook restores the terminal and prints a short
//! report. A panic on another thread is logged, and the event loop opens a report over the screen. The panic hook
//! belongs to the whole process, so its state is static.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Write as _;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};

use jiff::Timestamp;
use tokio::sync::Notify;

use crate::output::{self, Escaped, Lines};
use crate::ui::LinkedText;

/// Destination of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Not requested.
    #[default]
    None,
    File(PathBuf),
    /// A folder, with one file per day.
    Daily(PathBuf),
    /// The log could not be opened; holds the reason.
    Failed(String),
}

/// Beginning of a daily file's name.
pub const LOG_PREFIX: &str = "schedscope";
/// Ending of a daily file's name.
pub const LOG_SUFFIX: &str = "log";

impl Log {
    /// Returns the current file.
    pub fn file(&self) -> Option<PathBuf> {
        match self {
            Self::File(path) => Some(path.clone()),
            // Days change at midnight UTC.
            Self::Daily(folder) => Some(folder.join(format!("{LOG_PREFIX}.{}.{LOG_SUFFIX}", Timestamp::now().strftime("%Y-%m-%d")))),
            Self::None | Self::Failed(_) => None,
        }
    }

    /// Returns a line that names the file, or the reason why there is none; empty if no log was requested.
    pub fn words(&self) -> String {
        match (self, self.file()) {
            (_, Some(path)) => format!("Log: {}", path.display()),
            (Self::Failed(why), None) => format!("No log is written: {why}"),
            _ => String::new(),
        }
    }
}

static LOG: Mutex<Log> = Mutex::new(Log::None);
/// Thread that has the terminal.
static SCREEN: Mutex<Option<ThreadId>> = Mutex::new(None);
/// Panics on other threads that are yet to be reported.
static UNREPORTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Reason why the log ended, which is yet to be said.
static LOG_ENDED: Mutex<Option<String>> = Mutex::new(None);
static CHANGED: Notify = Notify::const_new();

/// Locks, ignoring poison: every value here stays valid after a panic.
fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the destination of the log.
pub fn set_log(log: Log) {
    *lock(&LOG) = log;
}

/// Records that the log can no longer be written, for the screen or the end of the command to say.
pub fn log_failed(why: String) {
    set_log(Log::Failed(why.clone()));
    *lock(&LOG_ENDED) = Some(why);
    CHANGED.notify_one();
}

/// Takes the reason why the log ended, unless it was said.
pub fn take_log_failure() -> Option<String> {
    lock(&LOG_ENDED).take()
}

/// Returns the destination of the log.
pub(super) fn log() -> Log {
    lock(&LOG).clone()
}

/// Records that this thread has the terminal.
pub(super) fn screen_taken() {
    *lock(&SCREEN) = Some(thread::current().id());
}

/// Records that no thread has the terminal. If a panic of another thread was resumed here, reports it.
pub(super) fn screen_left() {
    lock(&SCREEN).take();
    if let Some(why) = take_log_failure() {
        output::say(Log::Failed(why).words());
    }
    if thread::panicking() {
        for what in lock(&UNREPORTED).drain(..) {
            output::say_all(&report(&what, &log()));
        }
    }
}

/// Waits for a panic on another thread, or the end of the log.
pub(super) async fn wait_for_notify() {
    CHANGED.notified().await;
}

/// Takes the panics since the last call, as a document for the screen.
pub(super) fn take() -> Option<LinkedText> {
    let broken = std::mem::take(&mut *lock(&UNREPORTED));
    (!broken.is_empty()).then(|| document(&broken, &log()))
}

fn document(broken: &[String], log: &Log) -> LinkedText {
    let mut lines = vec!["A background thread panicked, and its result is missing. Everything else keeps running.".to_owned()];
    lines.push(String::new());
    lines.extend(broken.iter().cloned());
    lines.push(String::new());
    lines.extend(help(log));
    LinkedText::prose("An error in schedscope", lines.into_iter().collect())
}

/// Returns where to find more, and how to report the panic.
fn help(log: &Log) -> Vec<String> {
    let (first, send) = match log.file() {
        Some(path) => (format!("The log says more: {}", path.display()), "this and the log"),
        None => ("There is no log; --log FILE writes one.".to_owned(), "this"),
    };
    let capture = "and, if you may show it, the cluster without its names: schedscope capture FILE --redact, or :capture --redact FILE.";
    vec![first, format!("Report it at {}/issues: send {send} along,", env!("CARGO_PKG_REPOSITORY")), capture.to_owned()]
}

/// Returns the report for a panic that ends the program.
fn report(what: &str, log: &Log) -> Lines {
    let mut lines = Lines::default();
    lines.line(format_args!("schedscope {} panicked: {what}", env!("CARGO_PKG_VERSION")));
    lines.push("The terminal was restored.");
    lines.extend(help(log));
    lines
}

/// Returns the backtrace if `RUST_BACKTRACE` requests one.
fn backtrace() -> Vec<String> {
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured { backtrace.to_string().lines().map(str::to_owned).collect() } else { Vec::new() }
}

/// Installs the panic hook, once per process.
pub fn install_panic_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        std::panic::set_hook(Box::new(move |info| {
            let what = panic_text(info);
            let thread = thread::current();
            tracing::error!(thread = thread.name().unwrap_or("unnamed"), "panic: {}\n{}", Escaped(&what), Backtrace::force_capture());
            let screen = *lock(&SCREEN);
            match screen {
                Some(screen) if screen != thread.id() => {
                    lock(&UNREPORTED).push(what);
                    CHANGED.notify_one();
                }
                _ => {
                    super::terminal::give_back();
                    let log = log();
                    let mut lines = report(&what, &log);
                    if log.file().is_none() {
                        // Without a log, print the requested backtrace here.
                        lines.extend(backtrace());
                    }
                    output::say_all(&lines);
                }
            }
        }));
    });
}

/// Returns the message of a panic, with its place.
fn panic_text(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let words = payload.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| payload.downcast_ref::<String>().cloned());
    let mut text = words.unwrap_or_else(|| "a value that is not text".to_owned());
    if let Some(at) = info.location() {
        let _ = write!(text, " at {at}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_named_where_there_is_one() {
        let file = Log::File("/x/a.log".into());
        assert_eq!(file.words(), "Log: /x/a.log");
        assert!(
            report("boom at a.rs:1", &file)
                .to_string()
                .contains("boom at a.rs:1\nThe terminal was restored.\nThe log says more: /x/a.log\n")
        );
        let daily = Log::Daily("/x".into()).words();
        assert!(daily.starts_with("Log: /x/schedscope.2") && daily.strip_suffix(".log").is_some(), "{daily}");
        let failed = Log::Failed("/x: no space left".to_owned());
        assert_eq!(failed.words(), "No log is written: /x: no space left");
        assert!(report("boom", &failed).to_string().contains("--log FILE writes one"));
        assert_eq!(Log::None.words(), "");
        let shown = document(&["boom".to_owned()], &file);
        let rows = shown.body.rows();
        let has = |text: &str| rows.iter().any(|row| row.text == text);
        assert!(has("boom") && has("The log says more: /x/a.log"), "{shown:?}");
    }
}
