//! Splits the bytes of a terminal into keys and sequences, as ECMA-48 and xterm define them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::sequence::{self, MOUSE_BYTES};
use super::{DroppedPaste, Typed};
use crate::limits::terminal::{ESCAPE_WAIT, PASTE, PASTE_WAIT, SEQUENCE, SEQUENCE_WAIT};

const ESC: u8 = 0x1b;
const CTRL_C: u8 = 0x03;
/// End of a bracketed paste. Its first byte occurs in it once.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Position among the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Between keys.
    #[default]
    Ground,
    /// Within a character of several bytes, of which this count is to follow.
    Character(usize),
    /// After ESC. Where more bytes did not come with it, only `[` and `O` go on with a sequence.
    Escape { alone: bool },
    /// After ESC `[`.
    Csi,
    /// After ESC `O`.
    Ss3,
    /// Within the three bytes of an X10 mouse report.
    Mouse,
    /// Within a bracketed paste.
    Paste(Paste),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Paste {
    /// Count of bytes of [`PASTE_END`] seen last.
    matched: usize,
    /// Whether the text is longer than the limit.
    too_long: bool,
}

/// Parser of a terminal's bytes.
#[derive(Debug, Default)]
pub(super) struct Parser {
    state: State,
    /// Whether ESC came before the character.
    alt: bool,
    /// Bytes of the sequence, the character or the paste.
    bytes: Vec<u8>,
    /// Time of the last byte.
    last: Option<Instant>,
    parsed: VecDeque<Typed>,
}

impl Parser {
    /// Returns the next input.
    pub(super) fn next(&mut self) -> Option<Typed> {
        self.parsed.pop_front()
    }

    /// Returns when an unfinished sequence is over; `None` between sequences.
    pub(super) fn ends(&self) -> Option<Instant> {
        Some(self.last? + self.wait()?)
    }

    fn wait(&self) -> Option<Duration> {
        match self.state {
            State::Ground => None,
            State::Escape { .. } => Some(ESCAPE_WAIT),
            // Esc may have been pressed, or the end of the paste is under way.
            State::Paste(Paste { matched: 1, .. }) => Some(SEQUENCE_WAIT),
            State::Paste(_) => Some(PASTE_WAIT),
            State::Character(_) | State::Csi | State::Ss3 | State::Mouse => Some(SEQUENCE_WAIT),
        }
    }

    /// Parses bytes.
    pub(super) fn advance(&mut self, bytes: &[u8]) {
        self.last = Some(Instant::now());
        for byte in bytes {
            self.step(*byte);
        }
        if let State::Escape { alone } = &mut self.state {
            *alone = true;
        }
    }

    /// Ends an unfinished sequence. ESC alone, and before `[` or `O`, is a key.
    pub(super) fn time_out(&mut self) {
        let (state, begun) = (std::mem::take(&mut self.state), std::mem::take(&mut self.bytes));
        match state {
            State::Ground | State::Character(_) | State::Mouse => {}
            State::Escape { .. } => self.key(KeyCode::Esc, KeyModifiers::NONE),
            State::Csi if begun.is_empty() => self.key(KeyCode::Char('['), KeyModifiers::ALT),
            State::Ss3 => self.key(KeyCode::Char('O'), KeyModifiers::ALT | KeyModifiers::SHIFT),
            State::Csi => {}
            State::Paste(paste) => {
                // A key would clear the notice.
                if paste.matched == 1 {
                    self.key(KeyCode::Esc, KeyModifiers::NONE);
                }
                self.parsed.push_back(Typed::Dropped(DroppedPaste::Unfinished));
            }
        }
        self.alt = false;
    }

    fn step(&mut self, byte: u8) {
        match self.state {
            State::Ground => self.ground(byte),
            State::Character(left) => self.character(byte, left),
            State::Escape { alone } => self.escape(byte, alone),
            State::Csi => self.csi(byte),
            State::Ss3 => match sequence::ss3(byte) {
                Some(code) => self.finish(Some(Event::Key(code.into()))),
                None => self.give_up(byte),
            },
            State::Mouse if byte < b' ' => self.give_up(byte),
            State::Mouse => {
                self.bytes.push(byte);
                if self.bytes.len() == MOUSE_BYTES {
                    self.finish(sequence::x10_mouse(&self.bytes));
                }
            }
            State::Paste(paste) => self.paste(byte, paste),
        }
    }

    fn ground(&mut self, byte: u8) {
        let more = match byte {
            ESC => {
                self.state = State::Escape { alone: false };
                return;
            }
            0..=0x7f => {
                let (code, with) = sequence::ascii(byte);
                self.plain(code, with);
                return;
            }
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            // Not UTF-8.
            _ => {
                self.alt = false;
                return;
            }
        };
        self.bytes.clear();
        self.bytes.push(byte);
        self.state = State::Character(more);
    }

    fn character(&mut self, byte: u8, left: usize) {
        if !matches!(byte, 0x80..=0xbf) {
            self.give_up(byte);
            return;
        }
        self.bytes.push(byte);
        if left > 1 {
            self.state = State::Character(left - 1);
            return;
        }
        let found = std::str::from_utf8(&self.bytes).ok().and_then(|text| text.chars().next());
        self.state = State::Ground;
        self.bytes.clear();
        if let Some(c) = found {
            self.plain(KeyCode::Char(c), sequence::shift_of(c));
        }
        self.alt = false;
    }

    fn escape(&mut self, byte: u8, alone: bool) {
        self.bytes.clear();
        match byte {
            b'[' => self.state = State::Csi,
            b'O' => self.state = State::Ss3,
            _ if alone || matches!(byte, ESC | CTRL_C) => {
                self.key(KeyCode::Esc, KeyModifiers::NONE);
                self.give_up(byte);
            }
            _ => {
                (self.state, self.alt) = (State::Ground, true);
                self.ground(byte);
            }
        }
    }

    /// Collects a control sequence up to its final byte. Any other control character ends it, and counts.
    fn csi(&mut self, byte: u8) {
        match byte {
            // The keys F1 to F5 of Linux's console.
            b'[' if self.bytes.is_empty() => self.bytes.push(byte),
            b' '..=b'?' => {
                // One byte more than the limit marks a sequence that is too long.
                if self.bytes.len() <= SEQUENCE {
                    self.bytes.push(byte);
                }
            }
            b'M' if self.bytes.is_empty() => self.state = State::Mouse,
            b'~' if self.bytes == b"200" => {
                self.bytes.clear();
                self.state = State::Paste(Paste::default());
            }
            b'@'..=b'~' => {
                let known = (self.bytes.len() <= SEQUENCE).then(|| sequence::csi(&self.bytes, byte)).flatten();
                self.finish(known);
            }
            _ => self.give_up(byte),
        }
    }

    fn paste(&mut self, byte: u8, mut paste: Paste) {
        if byte == CTRL_C {
            self.give_up(byte);
            self.parsed.push_back(Typed::Dropped(DroppedPaste::Unfinished));
            return;
        }
        paste.matched = match PASTE_END.get(paste.matched) {
            Some(expected) if *expected == byte => paste.matched + 1,
            _ => usize::from(byte == ESC),
        };
        if paste.too_long || self.bytes.len() >= PASTE + PASTE_END.len() {
            paste.too_long = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.push(byte);
        }
        self.state = State::Paste(paste);
        if paste.matched == PASTE_END.len() {
            self.end_paste(paste);
        }
    }

    fn end_paste(&mut self, paste: Paste) {
        self.state = State::Ground;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.truncate(bytes.len().saturating_sub(PASTE_END.len()));
        self.parsed.push_back(if paste.too_long {
            Typed::Dropped(DroppedPaste::TooLong)
        } else {
            Typed::Event(Event::Paste(String::from_utf8_lossy(&bytes).into_owned()))
        });
    }

    /// Drops the sequence, and takes a byte as the first after it.
    fn give_up(&mut self, byte: u8) {
        (self.state, self.alt) = (State::Ground, false);
        self.bytes.clear();
        self.ground(byte);
    }

    /// Ends a sequence, with its meaning if it has one.
    fn finish(&mut self, event: Option<Event>) {
        self.state = State::Ground;
        self.bytes.clear();
        self.parsed.extend(event.map(Typed::Event));
    }

    fn plain(&mut self, code: KeyCode, with: KeyModifiers) {
        let alt = if std::mem::take(&mut self.alt) { KeyModifiers::ALT } else { KeyModifiers::NONE };
        self.key(code, with | alt);
    }

    fn key(&mut self, code: KeyCode, with: KeyModifiers) {
        self.parsed.push_back(Typed::Event(Event::Key(KeyEvent::new(code, with))));
    }
}

#[cfg(test)]
mod tests;
