//! The list of themes. The selected theme is shown as a preview.

use crate::ui::actions::verb::Answer;
use crate::ui::config::action::Motion;
use crate::ui::config::theme::{Depth, Theme, ThemeError};
use crate::ui::config::themes::Library;
use crate::ui::model::effect::Effect;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::state::State;

/// Moves the selection and previews the theme.
pub fn select(state: &mut State, motion: Motion) -> Answer {
    let Some(Overlay::Themes { selected, .. }) = &mut state.overlay else { return Answer::Done };
    let themes = &state.settings.themes;
    let Some(last) = themes.len().checked_sub(1) else { return Answer::Done };
    let at = themes.iter().position(|t| t.name == *selected).unwrap_or(0);
    let to = match motion {
        Motion::Up => at.saturating_sub(1),
        Motion::Down => (at + 1).min(last),
        Motion::Top | Motion::PageUp | Motion::HalfPageUp => 0,
        Motion::Bottom | Motion::PageDown | Motion::HalfPageDown => last,
    };
    selected.clone_from(&themes[to].name);
    Answer::Effect(Effect::Theme(selected.clone()))
}

/// Keeps the selected theme and closes the list.
pub fn keep(state: &mut State) -> Answer {
    let Some(Overlay::Themes { selected: name, before }) = state.overlay.take() else { return Answer::Done };
    let problem = state.settings.themes.iter().find(|t| t.name == name).and_then(|t| t.problem.clone());
    if let Some(problem) = problem {
        state.warn(problem);
        return Answer::Effect(Effect::Theme(before));
    }
    state.say(format!("this is {name}; theme = {name:?} in config.toml keeps it for next time"));
    Answer::Done
}

/// Restores the previous theme and closes the list.
pub fn undo(state: &mut State) -> Answer {
    let Some(Overlay::Themes { before, .. }) = state.overlay.take() else { return Answer::Done };
    Answer::Effect(Effect::Theme(before))
}

/// Performs [`Effect::Theme`]. Returns the theme to draw with; `None` for an unknown name. Shows the default in place of a
/// broken theme.
pub fn show_theme(state: &mut State, library: &Library, name: &str, depth: Depth) -> Option<Theme> {
    state.settings.themes = library.entries();
    let listed = matches!(state.overlay, Some(Overlay::Themes { .. }));
    let theme = match library.load(name, depth) {
        Ok(theme) => theme,
        Err(error) => {
            // The list shows the problem next to the name.
            if !listed {
                state.warn(error.to_string());
            }
            if !listed && matches!(error, ThemeError::Unknown { file: None, .. }) {
                return None;
            }
            Theme::fallback(depth)
        }
    };
    theme.name().clone_into(&mut state.settings.theme);
    Some(theme)
}
