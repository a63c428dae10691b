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
