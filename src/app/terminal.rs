//! Enters the terminal, draws on it, and restores it in every way the program can end or pause.

#![allow(clippy::disallowed_methods, reason = "cells hold what the screen has escaped; all else is the terminal's own language")]

use std::fs::OpenOptions;
use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, window_size,
};
use crossterm::{execute, queue};
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{AppError, panics};
use crate::limits::terminal::{COLUMNS, COPIED, RESTORE_WAIT, ROWS};
use crate::output::{self, Text};
use crate::ui::{self, Scene};

/// Whether the terminal is entered; static because the panic hook reads it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the mouse is used; static because the terminal is entered again after a stop.
static MOUSE: AtomicBool = AtomicBool::new(true);

/// Asks for presses, releases, the wheel, and moves while a button is held. crossterm's command asks for all moves.
const ASK_FOR_MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";

/// Fails unless standard input and output are terminals.
pub(super) fn require() -> Result<(), AppError> {
    if !output::standard_output_is_terminal() {
        return Err(AppError::NoTerminal("output"));
    }
    if !output::standard_input_is_terminal() {
        return Err(AppError::NoTerminal("input"));
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return Err(AppError::DumbTerminal);
    }
    Ok(())
}

/// Returns whether an error means that the terminal was closed or its connection lost.
pub(super) fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, NotConnected, UnexpectedEof};
    // EIO, ENXIO, EBADF, ENODEV and ENOTTY, which have no [`io::ErrorKind`].
    matches!(error.raw_os_error(), Some(5 | 6 | 9 | 19 | 25)) || matches!(error.kind(), BrokenPipe | NotConnected | UnexpectedEof)
}

/// Terminal in raw mode on its alternate screen. Dropping it restores the terminal and ignores errors.
pub(super) struct Terminal {
    backend: CrosstermBackend<Stdout>,
    /// Content of the screen.
    shown: Buffer,
    /// Buffer for the next frame.
    next: Buffer,
}

impl Terminal {
    /// Enters the terminal, with or without its mouse.
    pub(super) fn enter(mouse: bool) -> io::Result<Self> {
        MOUSE.store(mouse, Ordering::SeqCst);
        panics::install_panic_hook();
        panics::screen_taken();
        take()?;
        Ok(Self { backend: CrosstermBackend::new(io::stdout()), shown: Buffer::default(), next: Buffer::default() })
    }

    /// Returns columns and rows.
    #[allow(clippy::unused_self, reason = "only who holds the terminal asks")]
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        size()
    }

    /// Draws a frame, as one synchronized update where the terminal supports that.
    ///
    /// Uses the size that the state was laid out for. If the terminal was resized meanwhile, a resize event follows.
    pub(super) fn draw(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        self.show_at(scene.state.size, |area, buf| ui::draw(scene, area, buf))
    }

    /// Draws a frame with a function, at the terminal's size.
    pub(super) fn show(&mut self, draw: impl FnOnce(Rect, &mut Buffer)) -> io::Result<()> {
        let size = self.size()?;
        self.show_at(size, draw)
    }

    fn show_at(&mut self, (width, height): (u16, u16), draw: impl FnOnce(Rect, &mut Buffer)) -> io::Result<()> {
        // A panic on another thread restored the terminal; do not draw over its report.
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        let area = Rect::new(0, 0, width, height);
        queue!(self.backend, BeginSynchronizedUpdate)?;
        if area != self.shown.area {
            queue!(self.backend, Clear(ClearType::All))?;
            self.shown = Buffer::empty(area);
        }
        self.next.resize(area);
        self.next.reset();
        draw(area, &mut self.next);
        self.backend.draw(self.shown.diff(&self.next).into_iter())?;
        execute!(self.backend, EndSynchronizedUpdate)?;
        std::mem::swap(&mut self.shown, &mut self.next);
        Ok(())
    }

    /// Stops the program as Ctrl-Z does, and enters the terminal again when it resumes.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::raise(signal_hook::consts::SIGSTOP)?;
        self.enter_again()
    }

    /// Enters the terminal again and clears it: other programs wrote on it during the stop.
    pub(super) fn enter_again(&mut self) -> io::Result<()> {
        take()?;
        execute!(io::stdout(), Clear(ClearType::All))?;
        self.shown = Buffer::default();
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
        panics::screen_left();
    }
}

/// Returns the terminal's columns and rows.
pub(super) fn size() -> io::Result<(u16, u16)> {
    window_size().map(|size| bounded((size.columns, size.rows)))
}

/// Returns the size to draw at. A terminal that does not know its size has that of most; of one that is larger than the limits, a
/// part remains empty.
fn bounded((columns, rows): (u16, u16)) -> (u16, u16) {
    let of = |size: u16, unknown: u16, most: u16| if size == 0 { unknown } else { size.min(most) };
    (of(columns, 80, COLUMNS), of(rows, 24, ROWS))
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    let mouse: &[u8] = if MOUSE.load(Ordering::SeqCst) { ASK_FOR_MOUSE } else { b"" };
    let entered =
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, Hide).and_then(|()| out.write_all(mouse)).and_then(|()| out.flush());
    entered.inspect_err(|_| give_back())
}

/// Copies text to the terminal's clipboard (OSC 52). Terminals without support ignore it. Returns false for a text that is longer
/// than terminals take, which may show the rest of it.
pub(super) fn copy(text: &Text) -> io::Result<bool> {
    if text.as_str().len() > COPIED {
        return Ok(false);
    }
    execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text.as_str()))?;
    Ok(true)
}

/// Uses the mouse, or leaves it to the terminal; also after a stop.
pub(super) fn use_mouse(on: bool) -> io::Result<()> {
    MOUSE.store(on, Ordering::SeqCst);
    let mut out = io::stdout();
    if on {
        out.write_all(ASK_FOR_MOUSE)?;
        return out.flush();
    }
    execute!(out, DisableMouseCapture)
}

/// Asks the terminal for its background colour (OSC 11). Terminals without support ignore it.
pub(super) fn ask_background() -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(b"\x1b]11;?\x1b\\")?;
    out.flush()
}

/// Restores the terminal as far as that takes no waiting, while another thread may be stuck writing to it.
pub(super) fn give_back_without_waiting() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = disable_raw_mode();
    // Standard output is locked by the thread that writes, and the terminal may take nothing.
    let restore = || {
        if let Ok(mut terminal) = OpenOptions::new().write(true).open("/dev/tty") {
            let _ = leave(&mut terminal);
        }
    };
    if std::thread::Builder::new().spawn(restore).is_ok() {
        std::thread::sleep(RESTORE_WAIT);
    }
}

fn leave(to: &mut impl Write) -> io::Result<()> {
    execute!(to, EndSynchronizedUpdate, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show)
}

/// Restores the terminal if it is entered. Ignores errors, because a terminal that is gone needs no restoring.
pub(super) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = leave(&mut io::stdout());
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_for_a_clipboard_is_not_copied() {
        assert_eq!(copy(&Text::document("x".repeat(COPIED + 1))).ok(), Some(false));
    }

    #[test]
    fn a_window_is_drawn_up_to_a_size() {
        assert_eq!([bounded((0, 0)), bounded((1, 1)), bounded((200, 60))], [(80, 24), (1, 1), (200, 60)]);
        assert_eq!(bounded((u16::MAX, u16::MAX)), (COLUMNS, ROWS));
    }
}
