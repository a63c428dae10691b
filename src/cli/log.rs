//! The log, always a file, never the terminal. The contents of objects are not logged.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jiff::Timestamp;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use super::Failure;
use crate::app::{self, LOG_PREFIX, LOG_SUFFIX, Log};
use crate::limits::terminal::LOG_DAYS;
use crate::output;

/// Logs only this crate: other libraries log requests and their contents, and the output of programs that failed.
const FILTER: &str = "schedscope=info";

/// Sends the log to the named file, or else to today's file in the state directory. If the latter cannot be written,
/// logging is off, and the explorer says why.
///
/// # Errors
/// Fails if the named file cannot be written.
pub(super) fn start(file: Option<&Path>) -> Result<(), Failure> {
    let (log, writer): (Log, Option<Box<dyn Write + Send>>) = match file {
        Some(path) => {
            let opened = output::append(path).map_err(|e| Failure::usage(format!("--log {}: {e}", path.display())))?;
            (Log::File(path.to_owned()), Some(Box::new(Plain::new(path, opened))))
        }
        None => match app::folder(|name| std::env::var(name).ok(), "XDG_STATE_HOME", ".local/state") {
            None => (Log::Failed("neither XDG_STATE_HOME nor HOME names a folder".to_owned()), None),
            Some(folder) => match daily(&folder) {
                Ok(files) => (Log::Daily(folder.clone()), Some(Box::new(Plain::new(&folder, files)))),
                Err(why) => (Log::Failed(format!("{}: {why}", folder.display())), None),
            },
        },
    };
    app::set_log(log);
    let Some(writer) = writer else { return Ok(()) };
    let filter = EnvFilter::new(FILTER);
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(Mutex::new(writer)).with_ansi(false).finish();
    tracing::subscriber::set_global_default(subscriber).map_err(|e| Failure::usage(format!("--log: {e}")))?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "schedscope started");
    match (app::take_log_failure(), file) {
        (Some(why), Some(_)) => Err(Failure::usage(format!("--log {why}"))),
        // The explorer says why in its report.
        _ => Ok(()),
    }
}

/// Writes events escaped and without passwords. Each write is one whole event. The first error ends the log, and is said once; the
/// subscriber would print every one of them over the screen.
struct Plain<W> {
    place: PathBuf,
    to: W,
    failed: bool,
}

impl<W> Plain<W> {
    fn new(place: &Path, to: W) -> Self {
        Self { place: place.to_owned(), to, failed: false }
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Ok(event.len());
        }
        let text = String::from_utf8_lossy(event);
        let lines: Vec<String> = text.split('\n').map(|line| output::escape(&output::without_passwords(line)).into_owned()).collect();
        if let Err(why) = self.to.write_all(lines.join("\n").as_bytes()) {
            self.failed = true;
            app::log_failed(format!("{}: {why}", self.place.display()));
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Files have no buffer here.
        Ok(())
    }
}

/// A log file per day, readable by its owner only.
struct Daily {
    folder: PathBuf,
    day: String,
    file: RollingFileAppender,
}

/// Opens today's file and removes the oldest beyond [`LOG_DAYS`].
fn daily(folder: &Path) -> io::Result<Daily> {
    // Names of nodes and clusters are private to the user.
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let day = today();
    let file = begin(folder, &day)?;
    Ok(Daily { folder: folder.to_owned(), day, file })
}

fn today() -> String {
    // Days end at midnight UTC.
    Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// Opens the file of a day, and removes old ones.
fn begin(folder: &Path, day: &str) -> io::Result<RollingFileAppender> {
    let name = format!("{LOG_PREFIX}.{day}.{LOG_SUFFIX}");
    // The appender would let others read the file.
    output::append(&folder.join(&name))?;
    // An appender that rotates or removes files prints its errors over the screen.
    let file = RollingFileAppender::builder().rotation(Rotation::NEVER).filename_prefix(name).build(folder).map_err(io::Error::other)?;
    let names = std::fs::read_dir(folder)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_log = |name: &String| name.starts_with(&format!("{LOG_PREFIX}.")) && name.ends_with(&format!(".{LOG_SUFFIX}"));
    let mut logs: Vec<String> = names.filter(is_log).collect();
    // Their names differ in the day only.
    logs.sort();
    for old in logs.iter().rev().skip(LOG_DAYS) {
        // A file that cannot be removed does not stop logging.
        let _ = std::fs::remove_file(folder.join(old));
    }
    Ok(file)
}

impl Write for Daily {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let day = today();
        if day != self.day {
            self.file = begin(&self.folder, &day)?;
            self.day = day;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn old_files_go() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/b");
        std::fs::create_dir_all(&folder).unwrap();
        for day in 1..=20 {
            std::fs::write(folder.join(format!("{LOG_PREFIX}.2020-01-{day:02}.{LOG_SUFFIX}")), "old").unwrap();
        }
        std::fs::write(folder.join("notes.txt"), "unrelated").unwrap();
        let mut log = Plain::new(&folder, daily(&folder).unwrap());
        log.write_all("a\u{1b}[0m at https://me:hunter2@h/x\nb\n".as_bytes()).unwrap();
        let path = folder.join(format!("{LOG_PREFIX}.{}.{LOG_SUFFIX}", log.to.day));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "a\\u{1b}[0m at https://h/x\nb\n");
        let names: Vec<String> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        let logs = names.iter().filter(|n| n.starts_with(LOG_PREFIX)).count();
        assert!(logs <= LOG_DAYS && names.contains(&"notes.txt".to_owned()), "{names:?}");
        std::fs::write(home.path().join("file"), "").unwrap();
        assert!(daily(&home.path().join("file/schedscope")).is_err());
    }
}
