//! The terminal while the explorer has it, and giving it back in every way a program can end or pause.

#![allow(clippy::disallowed_methods, reason = "cells hold what the screen has escaped; all else is the terminal's own language")]

use std::io::{self, Stdout, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, window_size,
};
use crossterm::{execute, queue};
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{AppError, panics};
use crate::output::{self, Text};
use crate::ui::{self, Scene};

/// Whether the terminal is ours at the moment; the panic hook has to know, and it has no other way to.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Fails where there is no terminal to draw on or to read keys from.
pub(super) fn require() -> Result<(), AppError> {
    if !output::standard_output_is_terminal() {
        return Err(AppError::NoTerminal("output"));
    }
    if !output::standard_input_is_terminal() {
        return Err(AppError::NoTerminal("input"));
    }
    Ok(())
}

/// Returns whether an error says that the terminal is gone: it was closed, or the connection to it was.
pub(super) fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, NotConnected, UnexpectedEof};
    // EIO, ENXIO, EBADF, ENODEV and ENOTTY, for which there are no kinds.
    matches!(error.raw_os_error(), Some(5 | 6 | 9 | 19 | 25)) || matches!(error.kind(), BrokenPipe | NotConnected | UnexpectedEof)
}

/// The terminal in raw mode, on its alternate screen; dropping it gives it back, and says nothing where that fails.
pub(super) struct Terminal {
    backend: CrosstermBackend<Stdout>,
    /// What it shows.
    shown: Buffer,
    /// Where the next frame is drawn.
    next: Buffer,
}

impl Terminal {
    /// Takes the terminal.
    pub(super) fn enter() -> io::Result<Self> {
        panics::install_panic_hook();
        panics::screen_taken();
        take()?;
        Ok(Self { backend: CrosstermBackend::new(io::stdout()), shown: Buffer::default(), next: Buffer::default() })
    }

    /// Columns and rows.
    #[allow(clippy::unused_self, reason = "only who holds the terminal asks")]
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        window_size().map(|size| (size.columns, size.rows))
    }

    /// Draws a frame, all of it at once where the terminal can do that.
    ///
    /// It has the size that the state was laid out for: the terminal may have another by now, of which an event is on its way.
    pub(super) fn draw(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        self.show_at(scene.state.size, |area, buf| ui::draw(scene, area, buf))
    }

    /// Draws anything, likewise.
    pub(super) fn show(&mut self, draw: impl FnOnce(Rect, &mut Buffer)) -> io::Result<()> {
        let size = self.size()?;
        self.show_at(size, draw)
    }

    fn show_at(&mut self, (width, height): (u16, u16), draw: impl FnOnce(Rect, &mut Buffer)) -> io::Result<()> {
        // A panic on another thread has given it back: what it says is not drawn over.
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

    /// Stops the program as Ctrl-Z does, and takes the terminal again once it goes on.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::raise(signal_hook::consts::SIGSTOP)?;
        self.enter_again()
    }

    /// Takes the terminal again and draws everything anew: while the program was stopped, others wrote on it.
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

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, EnableMouseCapture, Hide).inspect_err(|_| give_back())
}

/// Puts some text into the clipboard of the terminal, wherever that is (OSC 52); a terminal that cannot do that ignores it.
pub(super) fn copy(text: &Text) -> io::Result<()> {
    execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text.as_str()))
}

/// Asks the terminal for the colour of its background (OSC 11); one that does not know the question ignores it.
pub(super) fn ask_background() -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(b"\x1b]11;?\x1b\\")?;
    out.flush()
}

/// Errors are of no use here: when the terminal is gone, there is nothing to give back.
pub(super) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), EndSynchronizedUpdate, DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
