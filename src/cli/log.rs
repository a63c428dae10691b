//! The log: a file, never the terminal. What objects hold is not logged.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use super::Failure;
use crate::app::{self, LOG_PREFIX, LOG_SUFFIX, Log};

/// How many daily files are kept.
const DAYS: usize = 7;

/// Other libraries speak of requests and of what they carry: only their warnings are kept.
const FILTER: &str = "warn,schedscope=info";

/// Sends what is logged to the file that is asked for, or else to the file of the day in the state directory, until the
/// guard goes. Where the latter cannot be written there is no log, and the explorer tells why.
///
/// # Errors
/// Where the file that is asked for cannot be written.
pub(super) fn start(file: Option<&Path>) -> Result<Option<WorkerGuard>, Failure> {
    let (log, guard) = match file {
        Some(path) => {
            let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
            let opened = opened.map_err(|e| Failure::usage(format!("--log {}: {e}", path.display())))?;
            (Log::File(path.to_owned()), Some(tracing_appender::non_blocking(opened)))
        }
        None => match app::folder(|name| std::env::var(name).ok(), "XDG_STATE_HOME", ".local/state") {
            None => (Log::Failed("neither XDG_STATE_HOME nor HOME names a folder".to_owned()), None),
            Some(folder) => match daily(&folder) {
                Ok(files) => (Log::Daily(folder), Some(tracing_appender::non_blocking(files))),
                Err(why) => (Log::Failed(format!("{}: {why}", folder.display())), None),
            },
        },
    };
    app::set_log(log);
    let Some((writer, guard)) = guard else { return Ok(None) };
    let filter = EnvFilter::new(FILTER);
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).finish();
    tracing::subscriber::set_global_default(subscriber).map_err(|e| Failure::usage(format!("--log: {e}")))?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "schedscope started");
    Ok(Some(guard))
}

/// Why there are no files for the log.
#[derive(Debug, thiserror::Error)]
enum DailyError {
    #[error(transparent)]
    Folder(#[from] std::io::Error),
    #[error(transparent)]
    Appender(#[from] tracing_appender::rolling::InitError),
}

/// Files of a day each; the oldest goes when there are too many.
fn daily(folder: &Path) -> Result<RollingFileAppender, DailyError> {
    // Names of nodes and clusters are nobody else's business.
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let files = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(LOG_PREFIX)
        .filename_suffix(LOG_SUFFIX)
        .max_log_files(DAYS)
        .build(folder)?;
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_go() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/b");
        std::fs::create_dir_all(&folder).unwrap();
        for day in 1..=20 {
            std::fs::write(folder.join(format!("{LOG_PREFIX}.2020-01-{day:02}.{LOG_SUFFIX}")), "old").unwrap();
        }
        std::fs::write(folder.join("notes.txt"), "of somebody else").unwrap();
        drop(daily(&folder).unwrap());
        let names: Vec<String> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        let logs = names.iter().filter(|n| n.starts_with(LOG_PREFIX)).count();
        assert!(logs <= DAYS && names.contains(&"notes.txt".to_owned()), "{names:?}");
        std::fs::write(home.path().join("file"), "").unwrap();
        assert!(daily(&home.path().join("file/schedscope")).is_err());
    }
}
