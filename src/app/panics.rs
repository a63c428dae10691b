//! What breaks, and how it is told.
//!
//! A panic on the thread that has the screen ends the program: the terminal is given back first, and then a short report
//! follows. A panic on any other thread leaves the screen as it is: it is logged, and the event loop hears of it and lays
//! it over the screen. The hook of panics is the program's own, so what it has to know is kept here.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};

use jiff::Timestamp;
use tokio::sync::Notify;

use crate::output::{self, Escaped, Lines};
use crate::ui::{Document, Form};

/// Where the log is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Nobody asked for one.
    #[default]
    None,
    /// In this file.
    File(PathBuf),
    /// In this folder, a file for each day.
    Daily(PathBuf),
    /// It could not be written; a sentence.
    Failed(String),
}

/// How the name of a daily file begins.
pub const LOG_PREFIX: &str = "schedscope";
/// How it ends.
pub const LOG_SUFFIX: &str = "log";

impl Log {
    /// The file that is written at present.
    pub fn file(&self) -> Option<PathBuf> {
        match self {
            Self::File(path) => Some(path.clone()),
            // Days end as UTC has them.
            Self::Daily(folder) => Some(folder.join(format!("{LOG_PREFIX}.{}.{LOG_SUFFIX}", Timestamp::now().strftime("%Y-%m-%d")))),
            Self::None | Self::Failed(_) => None,
        }
    }

    /// Where it is, or why there is none, in a line; empty where nobody asked for one.
    pub fn words(&self) -> String {
        match (self, self.file()) {
            (_, Some(path)) => format!("Log: {}", path.display()),
            (Self::Failed(why), None) => format!("No log is written: {why}"),
            _ => String::new(),
        }
    }
}

static LOG: Mutex<Log> = Mutex::new(Log::None);
/// The thread that has the terminal.
static SCREEN: Mutex<Option<ThreadId>> = Mutex::new(None);
/// What broke on other threads and was not told yet.
static UNTOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
static NEWS: Notify = Notify::const_new();

/// What is kept stays of use although a thread broke off while it held it.
fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers where the log is.
pub fn set_log(log: Log) {
    *lock(&LOG) = log;
}

/// Where the log is.
pub(super) fn log() -> Log {
    lock(&LOG).clone()
}

/// This thread has the terminal from now on.
pub(super) fn screen_taken() {
    *lock(&SCREEN) = Some(thread::current().id());
}

/// No thread has it any more. Where that is because a panic of another thread came here, nothing has been said yet.
pub(super) fn screen_left() {
    lock(&SCREEN).take();
    if thread::panicking() {
        for what in lock(&UNTOLD).drain(..) {
            output::say_all(&report(&what, &log()));
        }
    }
}

/// Waits until something broke on another thread.
pub(super) async fn told() {
    NEWS.notified().await;
}

/// What broke since the last time this was asked, to be laid over the screen.
pub(super) fn take() -> Option<Document> {
    let broken = std::mem::take(&mut *lock(&UNTOLD));
    (!broken.is_empty()).then(|| document(&broken, &log()))
}

fn document(broken: &[String], log: &Log) -> Document {
    let mut lines = vec!["What went on beside the screen broke off, and what it was to show is missing. All else goes on.".to_owned()];
    lines.push(String::new());
    lines.extend(broken.iter().cloned());
    lines.push(String::new());
    lines.extend(help(log));
    Document { title: "An error in schedscope".to_owned(), lines, form: Form::Prose, fixes: BTreeMap::new() }
}

/// Where to read on, and what to send along.
fn help(log: &Log) -> Vec<String> {
    let (first, send) = match log.file() {
        Some(path) => (format!("The log says more: {}", path.display()), "this and the log"),
        None => ("There is no log; with --log FILE there is one.".to_owned(), "this"),
    };
    let capture = "and, if you may show it, the cluster without its names: schedscope capture FILE --redact, or :capture --redact FILE.";
    vec![first, format!("Report it at {}/issues: send {send} along,", env!("CARGO_PKG_REPOSITORY")), capture.to_owned()]
}

/// What is said when the program ends by a panic.
fn report(what: &str, log: &Log) -> Lines {
    let mut lines = Lines::default();
    lines.line(format_args!("schedscope {} broke off: {what}", env!("CARGO_PKG_VERSION")));
    lines.push("The terminal is as it was.");
    lines.extend(help(log));
    lines
}

/// The calls that led here, where `RUST_BACKTRACE` asks for them.
fn backtrace() -> Vec<String> {
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured { backtrace.to_string().lines().map(str::to_owned).collect() } else { Vec::new() }
}

/// Makes panics log themselves and tell of themselves. May be called more than once.
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
                    lock(&UNTOLD).push(what);
                    NEWS.notify_one();
                }
                _ => {
                    super::terminal::give_back();
                    let log = log();
                    let mut lines = report(&what, &log);
                    if log.file().is_none() {
                        // The only place for a backtrace, where one is asked for.
                        lines.extend(backtrace());
                    }
                    output::say_all(&lines);
                }
            }
        }));
    });
}

/// A panic in words.
fn panic_text(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let words = payload.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| payload.downcast_ref::<String>().cloned());
    let mut text = words.unwrap_or_else(|| "something that is no text".to_owned());
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
                .contains("boom at a.rs:1\nThe terminal is as it was.\nThe log says more: /x/a.log\n")
        );
        let daily = Log::Daily("/x".into()).words();
        assert!(daily.starts_with("Log: /x/schedscope.2") && daily.strip_suffix(".log").is_some(), "{daily}");
        let failed = Log::Failed("/x: no space left".to_owned());
        assert_eq!(failed.words(), "No log is written: /x: no space left");
        assert!(report("boom", &failed).to_string().contains("with --log FILE there is one"));
        assert_eq!(Log::None.words(), "");
        let shown = document(&["boom".to_owned()], &file);
        assert!(shown.lines.contains(&"boom".to_owned()) && shown.lines.contains(&"The log says more: /x/a.log".to_owned()), "{shown:?}");
    }
}
