//! Detects whether the terminal is light or dark, where no theme is configured.
//!
//! Some terminals set `COLORFGBG`; others are asked (OSC 11). The reply arrives among the keys and is filtered out, so
//! that keys typed ahead keep their meaning. A fast reply sets the theme of the first frame, and a late one changes it.
//! A terminal without a reply delays the first frame by a tenth of a second, once.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::keyboard::{Keyboard, Typed};
use super::terminal;
use crate::limits::terminal::{REPLY_KEYS, REPLY_WAIT};
use crate::ui::Depth;

/// Themes for dark and light backgrounds.
const DARK: &str = "dark";
const LIGHT: &str = "light";

/// Time that the first frame waits for the reply.
const PATIENCE: Duration = Duration::from_millis(100);

/// Returns the theme for `COLORFGBG`, such as `15;0` (white on black); `None` if it is unset or invalid.
pub(super) fn from_environment(var: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let value = var("COLORFGBG")?;
    let background: u8 = value.rsplit(';').next()?.trim().parse().ok()?;
    // Dark colours of the 16, as in Vim.
    Some(if matches!(background, 0..=6 | 8) { DARK } else { LIGHT })
}

/// Returns whether to ask the terminal.
pub(super) fn asks(depth: Depth, var: impl Fn(&str) -> Option<String>) -> bool {
    let term = var("TERM").unwrap_or_default();
    depth != Depth::None && !term.is_empty() && term != "dumb" && !term.starts_with("linux")
}

/// Pending query, with events held back while it runs.
#[derive(Debug, Default)]
pub(super) struct Question {
    asked: Option<Instant>,
    /// Events that may be the beginning of the reply.
    begun: Vec<Event>,
    /// Events to return before all others.
    pub(super) ahead: VecDeque<Event>,
}

/// Result of matching an event against the reply.
#[derive(Debug, PartialEq)]
pub(super) enum ReplyMatch {
    /// Not part of a reply.
    Event(Event),
    /// Possibly part of a reply; more events must follow.
    Part,
    /// Events that began like a reply and were typed, in order.
    Typed(Vec<Event>),
    /// The reply; names the theme.
    Theme(&'static str),
}

impl Question {
    /// Asks the terminal and waits briefly. Returns the theme if the reply came.
    pub(super) async fn ask(&mut self, keyboard: &mut Keyboard) -> io::Result<Option<&'static str>> {
        terminal::ask_background()?;
        let now = Instant::now();
        self.asked = Some(now);
        let end = tokio::time::Instant::from_std(now + PATIENCE);
        while let Ok(typed) = tokio::time::timeout_at(end, keyboard.next()).await {
            let event = match typed? {
                Some(Typed::Event(event)) => event,
                Some(Typed::Dropped(_)) => continue,
                None => break,
            };
            match self.hear(event, Instant::now()) {
                ReplyMatch::Theme(theme) => return Ok(Some(theme)),
                ReplyMatch::Event(event) => self.ahead.push_back(event),
                ReplyMatch::Part => {}
                ReplyMatch::Typed(events) => self.ahead.extend(events),
            }
        }
        Ok(None)
    }

    /// Matches an event against the reply.
    pub(super) fn hear(&mut self, event: Event, now: Instant) -> ReplyMatch {
        let awaited = self.asked.is_some_and(|asked| now.duration_since(asked) < REPLY_WAIT);
        let begins = is_key(&event, ']', KeyModifiers::ALT);
        if self.begun.is_empty() && !(awaited && begins) {
            return ReplyMatch::Event(event);
        }
        let ends = is_key(&event, '\\', KeyModifiers::ALT) || is_key(&event, 'g', KeyModifiers::CONTROL);
        let is_reply = begins || ends || plain(&event).is_some();
        self.begun.push(event);
        if !ends && is_reply && self.begun.len() <= REPLY_KEYS {
            return ReplyMatch::Part;
        }
        let begun = std::mem::take(&mut self.begun);
        let text: String = begun.iter().filter_map(plain).collect();
        match theme_of(&text).filter(|_| ends) {
            Some(theme) => {
                self.asked = None;
                ReplyMatch::Theme(theme)
            }
            // The keys were typed.
            None => ReplyMatch::Typed(begun),
        }
    }
}

fn is_key(event: &Event, c: char, with: KeyModifiers) -> bool {
    matches!(event, Event::Key(KeyEvent { code: KeyCode::Char(found), modifiers, .. }) if *found == c && *modifiers == with)
}

fn plain(event: &Event) -> Option<char> {
    match event {
        Event::Key(KeyEvent { code: KeyCode::Char(c), modifiers, kind: KeyEventKind::Press, .. })
            if modifiers.difference(KeyModifiers::SHIFT).is_empty() && (c.is_ascii_hexdigit() || ";rgba:/".contains(*c)) =>
        {
            Some(*c)
        }
        _ => None,
    }
}

/// Returns the theme for a reply such as `11;rgb:ffff/ffff/ffff`.
fn theme_of(answer: &str) -> Option<&'static str> {
    let (kind, colour) = answer.strip_prefix("11;")?.split_once(':')?;
    if !matches!(kind, "rgb" | "rgba") {
        return None;
    }
    // Each component has one to four digits.
    let part = |text: &str| {
        let most = 16_u32.checked_pow(text.len() as u32)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(text, 16).ok()?) / f64::from(most))
    };
    let mut parts = colour.split('/').map(part);
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if brightness > 0.5 { LIGHT } else { DARK })
}

#[cfg(test)]
mod tests;
