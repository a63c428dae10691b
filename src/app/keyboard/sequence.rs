//! Meanings of keys and control sequences, as xterm and the terminals after it send them.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// Bytes of an X10 mouse report after its introducer.
pub(super) const MOUSE_BYTES: usize = 3;

pub(super) fn ascii(byte: u8) -> (KeyCode, KeyModifiers) {
    let control = |c: u8| (KeyCode::Char(char::from(c)), KeyModifiers::CONTROL);
    match byte {
        b'\r' => (KeyCode::Enter, KeyModifiers::NONE),
        b'\t' => (KeyCode::Tab, KeyModifiers::NONE),
        0x1b => (KeyCode::Esc, KeyModifiers::NONE),
        0x7f => (KeyCode::Backspace, KeyModifiers::NONE),
        0 => control(b' '),
        1..=0x1a => control(byte - 1 + b'a'),
        0x1c..=0x1f => control(byte - 0x1c + b'4'),
        _ => (KeyCode::Char(char::from(byte)), shift_of(char::from(byte))),
    }
}

/// Returns Shift for a capital letter.
pub(super) fn shift_of(c: char) -> KeyModifiers {
    if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE }
}

/// Returns the key of a byte after ESC `O`.
pub(super) fn ss3(byte: u8) -> Option<KeyCode> {
    arrow(byte).filter(|code| *code != KeyCode::BackTab)
}

fn arrow(byte: u8) -> Option<KeyCode> {
    Some(match byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(byte - b'P' + 1),
        b'Z' => KeyCode::BackTab,
        _ => return None,
    })
}

/// Returns the meaning of a control sequence: the bytes between ESC `[` and its final byte, and that byte.
pub(super) fn csi(bytes: &[u8], last: u8) -> Option<Event> {
    let text = std::str::from_utf8(bytes).ok()?;
    if let Some(report) = text.strip_prefix('<') {
        return sgr_mouse(report, last);
    }
    if text == "[" {
        return matches!(last, b'A'..=b'E').then(|| Event::Key(KeyCode::F(last - b'A' + 1).into()));
    }
    match last {
        b'I' if text.is_empty() => Some(Event::FocusGained),
        b'O' if text.is_empty() => Some(Event::FocusLost),
        b'M' => rxvt_mouse(text),
        b'~' => special(text),
        b'u' => encoded(text),
        _ => {
            let code = arrow(last)?;
            // The first number is 1, or the modifiers where there is no other.
            let second = text.split_once(';').map_or(text, |(_, second)| second);
            let (with, kind) = modifiers(second);
            let with = if code == KeyCode::BackTab { with | KeyModifiers::SHIFT } else { with };
            Some(key(code, with, kind))
        }
    }
}

fn key(code: KeyCode, with: KeyModifiers, kind: KeyEventKind) -> Event {
    Event::Key(KeyEvent::new_with_kind(code, with, kind))
}

/// Returns modifiers, one more than their bits, and the kind of event behind a colon.
fn modifiers(text: &str) -> (KeyModifiers, KeyEventKind) {
    let (mask, kind) = text.split_once(':').unwrap_or((text, ""));
    let bits = mask.parse::<u8>().unwrap_or(1).saturating_sub(1);
    let of_bits = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    let with = of_bits.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, with)| with).collect();
    let kind = match kind {
        "2" => KeyEventKind::Repeat,
        "3" => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    (with, kind)
}

/// Returns the key of a number: `3~`, `3;5~`, or `27;5;97~` with the character in the third place.
fn special(text: &str) -> Option<Event> {
    let mut parts = text.split(';');
    let number: u8 = parts.next()?.parse().ok()?;
    let (with, kind) = modifiers(parts.next().unwrap_or_default());
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=26 => KeyCode::F(number - 12),
        27 => return of_character(parts.next()?.parse().ok()?, with, kind),
        28..=29 => KeyCode::F(number - 15),
        31..=34 => KeyCode::F(number - 17),
        _ => return None,
    };
    Some(key(code, with, kind))
}

/// Returns the key of `CSI u`: a code point with its shifted one, modifiers, and the kind of event.
fn encoded(text: &str) -> Option<Event> {
    let mut parts = text.split(';');
    let mut codes = parts.next()?.split(':');
    let code: u32 = codes.next()?.parse().ok()?;
    let (with, kind) = modifiers(parts.next().unwrap_or_default());
    let shifted = codes.next().and_then(|code| code.parse().ok()).filter(|_| with.contains(KeyModifiers::SHIFT));
    match shifted {
        Some(shifted) => of_character(shifted, with.difference(KeyModifiers::SHIFT), kind),
        None => of_character(code, with, kind),
    }
}

fn of_character(code: u32, with: KeyModifiers, kind: KeyEventKind) -> Option<Event> {
    let code = match char::from_u32(keypad(code))? {
        '\x1b' => KeyCode::Esc,
        '\r' => KeyCode::Enter,
        '\t' if with.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        '\t' => KeyCode::Tab,
        '\x7f' => KeyCode::Backspace,
        // Other keys have codes for private use.
        c if c.is_control() || ('\u{e000}'..='\u{f8ff}').contains(&c) => return None,
        c if with == KeyModifiers::SHIFT => c.to_uppercase().next().map(KeyCode::Char)?,
        c => KeyCode::Char(c),
    };
    Some(key(code, with, kind))
}

/// Returns the code point of a key of the numeric keypad, or the code itself.
fn keypad(code: u32) -> u32 {
    match code {
        57_399..=57_408 => code - 57_399 + u32::from('0'),
        57_414 => u32::from('\r'),
        _ => code,
    }
}

/// Returns a report such as `0;20;10` with `M`, or `m` for a release.
fn sgr_mouse(text: &str, last: u8) -> Option<Event> {
    let released = match last {
        b'M' => false,
        b'm' => true,
        _ => return None,
    };
    let mut event = numbered_mouse(text, 0)?;
    if let MouseEventKind::Down(button) = event.kind
        && released
    {
        event.kind = MouseEventKind::Up(button);
    }
    Some(Event::Mouse(event))
}

fn rxvt_mouse(text: &str) -> Option<Event> {
    numbered_mouse(text, 32).map(Event::Mouse)
}

fn numbered_mouse(text: &str, above: u8) -> Option<MouseEvent> {
    let mut parts = text.split(';');
    let button: u8 = parts.next()?.parse().ok()?;
    let (column, row): (u16, u16) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    mouse(button.checked_sub(above)?, column, row)
}

/// Returns a report of three bytes, each 32 above its value.
pub(super) fn x10_mouse(bytes: &[u8]) -> Option<Event> {
    let [button, column, row] = bytes else { return None };
    let above = |byte: &u8| byte.checked_sub(32);
    mouse(above(button)?, u16::from(above(column)?), u16::from(above(row)?)).map(Event::Mouse)
}

/// Returns a report of a button's bits and a position that counts from 1.
fn mouse(bits: u8, column: u16, row: u16) -> Option<MouseEvent> {
    let (button, moves) = (bits & 0b11 | (bits & 0b1100_0000) >> 4, bits & 0b10_0000 != 0);
    let pressed = [MouseButton::Left, MouseButton::Middle, MouseButton::Right].get(usize::from(button)).copied();
    let kind = match (button, pressed) {
        (_, Some(pressed)) if moves => MouseEventKind::Drag(pressed),
        (_, Some(pressed)) => MouseEventKind::Down(pressed),
        (3..=5, _) if moves => MouseEventKind::Moved,
        (3, _) => MouseEventKind::Up(MouseButton::Left),
        (4, _) if !moves => MouseEventKind::ScrollUp,
        (5, _) if !moves => MouseEventKind::ScrollDown,
        (6, _) if !moves => MouseEventKind::ScrollLeft,
        (7, _) if !moves => MouseEventKind::ScrollRight,
        _ => return None,
    };
    let of_bits = [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)];
    let modifiers = of_bits.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, with)| with).collect();
    Some(MouseEvent { kind, column: column.checked_sub(1)?, row: row.checked_sub(1)?, modifiers })
}
