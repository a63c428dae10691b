//! Runs the explorer without a terminal: presses keys and writes the resulting screen to a file.

use std::time::Duration;

use super::event_loop::first_state;
use super::export::{screen, write_text};
use super::{AppError, Options, PrintError, pod_meant};
use crate::limits::terminal::PRINTED_KEYS;
use crate::output::Text;
use crate::ui::Context;
use crate::ui::view::export::{Frame, animation};
use crate::ui::{self, Action, Effect, NotWaiting, ScreenForm, SessionHandle, State, Theme};

/// Time between two looks at a job on another thread.
const POLL: Duration = Duration::from_millis(1);

/// Arguments of [`print()`].
#[derive(Clone, Debug)]
pub struct Print {
    /// Path of the new file.
    pub path: String,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Key names as in the keymap, separated by spaces; quoted text is typed.
    pub keys: String,
    /// Seconds of each screen of an animation, which shows the screen before the first key and after each; `None` for the
    /// last screen alone.
    pub animate: Option<f64>,
}

/// Presses keys and writes the screen.
///
/// # Errors
/// When a key has no binding in its context, or the theme or the file cannot be used.
pub fn print(driver: &mut dyn SessionHandle, options: &Options, print: &Print) -> Result<(), AppError> {
    let form = ScreenForm::of(&print.path).map_err(PrintError::from)?;
    if print.animate.is_some() && form == ScreenForm::Text {
        return Err(PrintError::NoAnimation.into());
    }
    let mut theme = options.library().load(&options.theme, options.depth)?;
    let mut state = first_state(driver, options, print.size);
    if let Some(words) = &options.workload {
        if !ui::show_workload_first(&mut state, driver, words) {
            return Err(PrintError::NoWorkload(words.clone(), driver.workloads_unknown()).into());
        }
    } else if let Some(pod) = options.pod.clone().or_else(|| ui::show_overview_first(&mut state, driver)) {
        if !ui::show_pod_first(&mut state, driver, &pod) {
            let timeline = driver.timeline();
            return Err(match NotWaiting::of(timeline, &pod) {
                Some(why) => PrintError::NotWaiting(pod, why),
                None => PrintError::NoPod(pod.clone(), pod_meant(&timeline.keyframe().cluster, &pod)),
            }
            .into());
        }
        ui::renew(&mut state, driver);
    }
    wait_for_overview(&mut state, driver);
    let mut frames = Vec::new();
    let mut add_frame = |caption: String, state: &State, driver: &dyn SessionHandle, theme: &Theme| {
        if print.animate.is_some() {
            frames.push(Frame { caption, screen: screen(state, driver, theme, &options.glyphs) });
        }
    };
    add_frame("the first screen".to_owned(), &state, driver, &theme);
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
        add_frame(key.to_string(), &state, driver, &theme);
    }
    if let Some(seconds) = print.animate {
        let text = Text::document(animation(form, &frames, seconds, &theme).ok_or(PrintError::NoAnimation)?);
        write_text(&print.path, &text).map_err(PrintError::from)?;
        return Ok(());
    }
    let text = Text::document(ui::view::export::write(form, &screen(&state, driver, &theme, &options.glyphs), &theme));
    write_text(&print.path, &text).map_err(PrintError::from)?;
    Ok(())
}

/// Runs the action of a key until its runs and jobs end. Returns false if it leaves the explorer.
fn press(state: &mut State, driver: &mut dyn SessionHandle, options: &Options, theme: &mut Theme, action: Action) -> bool {
    match ui::update(state, driver, action) {
        Some(Effect::Quit) => return false,
        Some(Effect::Theme(name)) => {
            if let Some(found) = ui::show_theme(state, &options.library(), &name, options.depth) {
                *theme = found;
            }
        }
        Some(Effect::Export { file, export }) => super::export::export(state, driver, theme, &options.glyphs, &file, &export),
        // Copying and suspending need a terminal.
        _ => {}
    }
    while state.tasks.running.is_some() {
        ui::continue_run(state, driver, || true);
    }
    while state.tasks.working.is_some() && state.overlay.is_none() {
        if !ui::poll_job(state, driver) {
            std::thread::sleep(POLL);
        }
    }
    wait_for_overview(state, driver);
    true
}

/// Waits until the overview is made, if it is in sight.
pub(super) fn wait_for_overview(state: &mut State, driver: &mut dyn SessionHandle) {
    while ui::update_overview(state, driver) || state.overview.runs && ui::overview_has_update(state) {
        std::thread::sleep(POLL);
    }
    ui::renew(state, driver);
}

/// A key to press, or text to type.
#[derive(Clone, Debug, PartialEq, Eq, strum::Display)]
enum Key {
    #[strum(to_string = "{0}")]
    Named(String),
    #[strum(to_string = "{0:?}")]
    Typed(String),
}

/// Parses a line such as `c 3 : "pod shop/payments" enter`.
fn keys(line: &str) -> Result<Vec<Key>, PrintError> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if found.len() == PRINTED_KEYS {
            return Err(PrintError::TooManyKeys);
        }
        let after = &rest[first.len_utf8()..];
        // A quotation mark on its own is a key.
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
        assert_eq!(keys("'a b").unwrap_err().to_string(), "--keys: 'a b has no closing quotation mark");
        assert_eq!(keys(&"j ".repeat(PRINTED_KEYS)).unwrap().len(), PRINTED_KEYS);
        assert!(matches!(keys(&"j ".repeat(PRINTED_KEYS + 1)), Err(PrintError::TooManyKeys)));
        assert!(keys("xx").unwrap_err().to_string().starts_with("--keys: \"xx\" is not a key: "));
    }
}
