//! Names of keys: parsed from the configuration, made from terminal events, and formatted for display.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use thiserror::Error;

/// Why a text does not name a key that can be bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyNameError {
    /// No key has this name.
    #[error("{0:?} is not a key: a character, {named}, or ctrl-, alt- and one of them; shift-tab", named = NAMED.join(", "))]
    Unknown(String),
    /// Terminals send the same sequence for another key.
    #[error("terminals send the same for {text:?} and {same}")]
    SameAs {
        text: String,
        /// The other key.
        same: &'static str,
    },
}

/// Returns the name of a key; `None` for keys without a name.
pub fn name(key: &KeyEvent) -> Option<String> {
    let bare = match key.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "enter".to_owned(),
        KeyCode::Esc => "esc".to_owned(),
        KeyCode::Tab if key.modifiers.contains(KeyModifiers::SHIFT) => "shift-tab".to_owned(),
        KeyCode::Tab => "tab".to_owned(),
        KeyCode::BackTab => "shift-tab".to_owned(),
        KeyCode::Backspace => "backspace".to_owned(),
        KeyCode::Delete => "delete".to_owned(),
        KeyCode::Left => "left".to_owned(),
        KeyCode::Right => "right".to_owned(),
        KeyCode::Up => "up".to_owned(),
        KeyCode::Down => "down".to_owned(),
        KeyCode::Home => "home".to_owned(),
        KeyCode::End => "end".to_owned(),
        KeyCode::PageUp => "pgup".to_owned(),
        KeyCode::PageDown => "pgdn".to_owned(),
        KeyCode::F(n) => format!("f{n}"),
        _ => return None,
    };
    let control = if key.modifiers.contains(KeyModifiers::CONTROL) { "ctrl-" } else { "" };
    let alt = if key.modifiers.contains(KeyModifiers::ALT) { "alt-" } else { "" };
    Some(format!("{control}{alt}{bare}"))
}

/// Returns a key as displayed: `↓`, `Ctrl-D`, `Esc`.
pub fn label(key: &str) -> String {
    match key {
        "down" => "↓".to_owned(),
        "up" => "↑".to_owned(),
        "left" => "←".to_owned(),
        "right" => "→".to_owned(),
        _ => match (key.strip_prefix("ctrl-"), key.strip_prefix("alt-")) {
            (Some(rest), _) if rest.chars().count() == 1 => format!("Ctrl-{}", rest.to_uppercase()),
            (Some(rest), _) => format!("Ctrl-{}", label(rest)),
            (_, Some(rest)) if !rest.is_empty() => format!("Alt-{}", label(rest)),
            _ if key.chars().count() == 1 => key.to_owned(),
            _ => key.get(..1).unwrap_or_default().to_uppercase() + key.get(1..).unwrap_or_default(),
        },
    }
}

/// Names of keys other than characters.
const NAMED: &[&str] = &[
    "space",
    "enter",
    "esc",
    "tab",
    "backspace",
    "delete",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "pgup",
    "pgdn",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
];

/// Parses the name of a key. A character names its own key; names and modifiers may be in any case.
pub fn parse(text: &str) -> Result<String, KeyNameError> {
    let unknown = || KeyNameError::Unknown(text.to_owned());
    let strip = |text: &str, prefix: &str| {
        let head = text.get(..prefix.len())?;
        (head.eq_ignore_ascii_case(prefix) && text.len() > prefix.len()).then(|| text[prefix.len()..].to_owned())
    };
    let (mut rest, mut control, mut alt) = (text.to_owned(), false, false);
    loop {
        if let Some(bare) = strip(&rest, "ctrl-").filter(|_| !control) {
            (rest, control) = (bare, true);
        } else if let Some(bare) = strip(&rest, "alt-").filter(|_| !alt) {
            (rest, alt) = (bare, true);
        } else {
            break;
        }
    }
    let mut chars = rest.chars();
    let bare = match (chars.next(), chars.next()) {
        (Some(' '), None) => "space".to_owned(),
        (Some(c), None) if c.is_control() => return Err(unknown()),
        (Some(c), None) if control => c.to_lowercase().collect(),
        (Some(c), None) => c.to_string(),
        _ => {
            let lower = rest.to_ascii_lowercase();
            let plain = !control && !alt;
            let known = NAMED.contains(&lower.as_str()) || (plain && lower == "shift-tab");
            if !known {
                return Err(unknown());
            }
            lower
        }
    };
    // Terminals send the same for both.
    let same = match (control, bare.as_str()) {
        (true, "i") => Some("tab"),
        (true, "m") => Some("enter"),
        (true, "[") => Some("esc"),
        _ => None,
    };
    if let Some(same) = same {
        return Err(KeyNameError::SameAs { text: text.to_owned(), same });
    }
    Ok(format!("{}{}{bare}", if control { "ctrl-" } else { "" }, if alt { "alt-" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_what_is_no_key_is_refused() {
        for (text, expected) in [("Ctrl-X", "ctrl-x"), ("ALT-Ctrl-pgUp", "ctrl-alt-pgup"), (" ", "space"), ("-", "-"), ("ctrl--", "ctrl--")]
        {
            assert_eq!(parse(text).as_deref(), Ok(expected), "{text:?}");
        }
        for text in ["", "xx", "ctrl-", "shift-x", "ctrl-ctrl-x", "\n", "ctrl-shift-tab", "f13", "ctrl-i", "Ctrl-M", "ctrl-[", "é\u{301}"]
        {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
