//! The standard streams. A closed standard error is no error, nor is a reader that closes standard output early.

#![allow(clippy::disallowed_methods, reason = "the one place that may")]

use std::fmt::{self, Display};
use std::io::{self, IsTerminal as _, Write as _};

use super::{Escaped, Lines, Text, without_passwords};

/// Writes a text to standard output. Returns false if the reader has closed it.
pub fn print(text: &Text) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_str().as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Writes to standard output what is too large to hold, with a writer of [`Json`](super::Json). Returns `None` if the
/// reader has closed it.
///
/// # Errors
/// Returns the error of `write`.
pub fn print_with<T>(write: impl FnOnce(&mut dyn io::Write) -> io::Result<T>) -> io::Result<Option<T>> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|result| out.flush().map(|()| result)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Dropping the writer itself would try to write its buffer again.
            drop(out.into_parts());
            Ok(None)
        }
        Ok(result) => Ok(Some(result)),
        Err(error) => {
            drop(out.into_parts());
            Err(error)
        }
    }
}

/// Writes a line to standard error; errors are ignored.
pub fn say(line: impl Display) {
    write_error(format_args!("{}\n", Escaped(without_passwords(&line.to_string()))));
}

/// Writes lines to standard error; errors are ignored.
pub fn say_all(lines: &Lines) {
    write_error(format_args!("{lines}"));
}

#[cfg(feature = "cli")]
/// Writes clap's usage or help, in colours on a terminal: errors to standard error, help to standard output. Clap has
/// escaped the arguments in it.
pub fn say_styled(error: &clap::Error) -> io::Result<()> {
    match error.print() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written if error.use_stderr() => {
            drop(written);
            Ok(())
        }
        written => written.and_then(|()| io::stdout().flush()),
    }
}

fn write_error(text: fmt::Arguments<'_>) {
    // One write, so that lines of other threads do not mix into it.
    let text = text.to_string();
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A progress line on standard error, which each update replaces.
#[derive(Debug, Default)]
pub struct Status {
    shown: bool,
}

impl Status {
    /// Replaces the line.
    pub fn show(&mut self, line: impl Display) {
        self.shown = true;
        write_error(format_args!("\r\x1b[K{}", Escaped(without_passwords(&line.to_string()))));
    }
}

impl Drop for Status {
    /// Clears the line.
    fn drop(&mut self) {
        if self.shown {
            write_error(format_args!("\r\x1b[K"));
        }
    }
}

pub fn standard_input_is_terminal() -> bool {
    io::stdin().is_terminal()
}

pub fn standard_output_is_terminal() -> bool {
    io::stdout().is_terminal()
}

pub fn standard_error_is_terminal() -> bool {
    io::stderr().is_terminal()
}
