//! The log: a file, never the terminal.

use std::path::Path;

use tracing_appender::non_blocking::WorkerGuard;

use super::Failure;

/// Sends what is logged to a file, until the guard goes.
pub(super) fn to_file(path: &Path) -> Result<WorkerGuard, Failure> {
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|e| Failure::usage(format!("--log {}: {e}", path.display())))?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish();
    tracing::subscriber::set_global_default(subscriber).map_err(|e| Failure::usage(format!("--log: {e}")))?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "schedscope started");
    Ok(guard)
}
