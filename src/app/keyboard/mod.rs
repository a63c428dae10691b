//! Reads the terminal, and turns its bytes into keys, mouse reports and pastes.
//!
//! Nothing that a terminal sends keeps later keys from being read: a sequence that does not end is over after some bytes or some
//! time ([`crate::limits::terminal`]), and Ctrl-C and Esc end it at once.

mod parser;
mod sequence;

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::time::Duration;

use crossterm::event::Event;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{sleep_until, timeout};

use parser::Parser;

use crate::limits::terminal::PASTE;

/// Bytes read at a time; what a terminal's driver holds at most.
const CHUNK: usize = 4096;

/// Time to see bytes that are already there, before an unfinished sequence is taken as over.
const LAST_LOOK: Duration = Duration::from_millis(1);

/// Input of a terminal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Typed {
    /// A key, a mouse report or a paste.
    Event(Event),
    /// A paste that is not passed on.
    Dropped(DroppedPaste),
}

/// Reason why a paste is not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DroppedPaste {
    /// It is longer than [`PASTE`].
    #[error("the pasted text is longer than {} KiB and was not inserted", PASTE >> 10)]
    TooLong,
    /// The terminal did not say where it ends.
    #[error("the pasted text did not end and was not inserted")]
    Unfinished,
}

/// Standard input as a terminal.
pub(super) struct Keyboard {
    terminal: File,
    parser: Parser,
    buffer: Box<[u8]>,
}

impl Keyboard {
    pub(super) fn new() -> io::Result<Self> {
        let terminal = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Self { terminal, parser: Parser::default(), buffer: vec![0; CHUNK].into_boxed_slice() })
    }

    /// Returns the next input if it has been read already.
    pub(super) fn queued(&mut self) -> Option<Typed> {
        self.parser.next()
    }

    /// Waits for the next input; `None` if the terminal hung up. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<Option<Typed>> {
        loop {
            if let Some(typed) = self.parser.next() {
                return Ok(Some(typed));
            }
            let end = self.parser.ends().map(tokio::time::Instant::from_std);
            let ready = match end {
                None => Some(self.readable().await?),
                Some(end) => tokio::select! {
                    biased;
                    ready = self.readable() => Some(ready?),
                    // The screen may have been busy for longer than that, and more bytes may wait.
                    () = sleep_until(end) => timeout(LAST_LOOK, self.readable()).await.ok().transpose()?,
                },
            };
            match ready {
                Some(Readable::Bytes) => {
                    let count = self.terminal.read(&mut self.buffer)?;
                    if count == 0 {
                        return Ok(None);
                    }
                    self.parser.advance(self.buffer.get(..count).unwrap_or_default());
                }
                Some(Readable::HungUp) => return Ok(None),
                None => self.parser.time_out(),
            }
        }
    }

    /// Waits until there is something to read. Registers the terminal anew each time, so that the answer is about now: reading
    /// blocks, and another program may have taken the bytes while this one was stopped.
    #[allow(deprecated, reason = "what takes its place is unsafe, and this descriptor is owned")]
    async fn readable(&self) -> io::Result<Readable> {
        let watched = AsyncFd::with_interest(self.terminal.as_fd(), Interest::READABLE)?;
        let ready = watched.readable().await?.ready();
        // No signal may come where a terminal hangs up.
        Ok(if ready.is_read_closed() { Readable::HungUp } else { Readable::Bytes })
    }
}

/// State of a terminal that can be read without waiting.
enum Readable {
    Bytes,
    HungUp,
}
