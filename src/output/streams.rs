//! The standard streams. A reader that went away, or a terminal that is gone, is no error of standard error.

#![allow(clippy::disallowed_methods, reason = "the one place that may")]

use std::fmt::{self, Display};
use std::io::{self, IsTerminal as _, Write as _};

use super::{Escaped, Lines, Text, without_passwords};

/// Writes a text to standard output. A reader that has gone away has read enough: that is no error.
pub fn print(text: &Text) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_str().as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Lets a writer of [`Json`](super::Json) write to standard output what is too large to hold. A reader that has gone away
/// has read enough: `None`.
///
/// # Errors
/// Whatever `write` returns.
pub fn print_with<T>(write: impl FnOnce(&mut dyn io::Write) -> io::Result<T>) -> io::Result<Option<T>> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|result| out.flush().map(|()| result)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What is left is not tried again.
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

/// Writes a line to standard error, where there is one.
pub fn say(line: impl Display) {
    write_error(format_args!("{}\n", Escaped(without_passwords(&line.to_string()))));
}

/// Writes lines to standard error, where there is one.
pub fn say_all(lines: &Lines) {
    write_error(format_args!("{lines}"));
}

/// Writes usage or help, in which arguments are escaped already: to standard output, or to standard error where it is an
/// error, in colours where they suit.
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
    // In one piece: other threads may say something as well.
    let text = text.to_string();
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A line on standard error that says how far something has got, and is replaced by the next.
#[derive(Debug, Default)]
pub struct Status {
    shown: bool,
}

impl Status {
    /// Shows a line in place of the last one.
    pub fn show(&mut self, line: impl Display) {
        self.shown = true;
        write_error(format_args!("\r\x1b[K{}", Escaped(without_passwords(&line.to_string()))));
    }
}

impl Drop for Status {
    /// Leaves an empty line.
    fn drop(&mut self) {
        if self.shown {
            write_error(format_args!("\r\x1b[K"));
        }
    }
}

/// Returns whether standard input is a terminal.
pub fn standard_input_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Returns whether standard output is a terminal.
pub fn standard_output_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether standard error is a terminal.
pub fn standard_error_is_terminal() -> bool {
    io::stderr().is_terminal()
}
