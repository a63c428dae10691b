//! The explorer without a terminal: keys are pressed, and the screen that comes of them is written to a file.

use super::event_loop::first_state;
use super::export::write;
use super::{AppError, Options, PrintError};
use crate::ui::Context;
use crate::ui::{self, Action, Effect, Export, ScreenForm, SessionHandle, State, Theme};

/// What to write.
#[derive(Clone, Debug)]
pub struct Print {
    /// The file, which must not be there yet.
    pub path: String,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Keys as the table of keys spells them, separated by blanks; words in quotation marks are typed.
    pub keys: String,
}

/// Presses keys and writes the screen.
///
/// # Errors
/// A key that means nothing where it is pressed, a theme or a file that cannot be used.
pub fn print(driver: &mut dyn SessionHandle, options: &Options, print: &Print) -> Result<(), AppError> {
    let form = ScreenForm::of(&print.path).map_err(PrintError::from)?;
    let mut theme = options.library().load(&options.theme, options.depth)?;
    let mut state = first_state(driver, options, print.size);
    if let Some(pod) = &options.pod {
        if !ui::show_pod(&mut state, driver, pod) {
            state.warn(format!("{pod} does not wait to be scheduled"));
        }
        ui::renew(&mut state, driver);
    }
    for key in keys(&print.keys)? {
        let contexts = ui::contexts(&state);
        let action = match &key {
            Key::Named(name) => state.settings.keymap.pressed(&contexts, name),
            Key::Typed(text) if contexts == [Context::PROMPT] => Some(Action::Paste(text.clone())),
            Key::Typed(_) => None,
        };
        let action = action.ok_or_else(|| PrintError::MeansNothing(key.to_string()))?;
        if !press(&mut state, driver, options, &mut theme, action) {
            return Err(PrintError::Leaves(key.to_string()).into());
        }
    }
    write(&state, driver, &theme, &options.glyphs, &print.path, &Export::Screen(form)).map_err(PrintError::from)?;
    Ok(())
}

/// Does what a key asks for, to the end of what takes a while; false where that is to leave.
fn press(state: &mut State, driver: &mut dyn SessionHandle, options: &Options, theme: &mut Theme, action: Action) -> bool {
    match ui::update(state, driver, action) {
        Some(Effect::Quit) => return false,
        Some(Effect::Theme(name)) => {
            if let Some(found) = ui::show_theme(state, &options.library(), &name, options.depth) {
                *theme = found;
            }
        }
        Some(Effect::Export { path, export }) => super::export::export(state, driver, theme, &options.glyphs, &path, &export),
        // There is no terminal to copy to or to stop.
        _ => {}
    }
    while state.running.is_some() {
        ui::go_on(state, driver, || true);
    }
    while state.working.is_some() && state.overlay.is_none() {
        if !ui::poll_job(state, driver) {
            std::thread::yield_now();
        }
    }
    true
}

/// Something to press or to type.
#[derive(Clone, Debug, PartialEq, Eq, strum::Display)]
enum Key {
    #[strum(to_string = "{0}")]
    Named(String),
    #[strum(to_string = "{0:?}")]
    Typed(String),
}

/// The keys of a line: `c 3 : "pod shop/payments" enter`.
fn keys(line: &str) -> Result<Vec<Key>, PrintError> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        // Alone, a quotation mark is a key.
        if matches!(first, '"' | '\'') && !after.is_empty() && !after.starts_with(char::is_whitespace) {
            let (text, more) = after.split_once(first).ok_or_else(|| PrintError::OpenQuotation(rest.to_owned()))?;
            found.push(Key::Typed(text.to_owned()));
            rest = more;
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            found.push(Key::Named(ui::config::key::parse(&rest[..end])?));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_and_words_are_typed() {
        let named = |name: &str| Key::Named(name.to_owned());
        let typed = |text: &str| Key::Typed(text.to_owned());
        assert_eq!(keys("").unwrap(), []);
        assert_eq!(keys(" c  Ctrl-D ' \" ").unwrap(), [named("c"), named("ctrl-d"), named("'"), named("\"")]);
        assert_eq!(keys(": \"pod a/b\" enter").unwrap(), [named(":"), typed("pod a/b"), named("enter")]);
        assert_eq!(keys("/ 'a \"b' j").unwrap(), [named("/"), typed("a \"b"), named("j")]);
        assert_eq!(keys("'a b").unwrap_err().to_string(), "--keys: 'a b has no end");
        assert!(keys("xx").unwrap_err().to_string().starts_with("--keys: \"xx\" is no key: "));
    }
}
