//! Lines being typed: commands, and filters of panes and of what lies over the screen.

use crate::ui::action::Effect;
use crate::ui::driver::Driver;
use crate::ui::overlay::{Overlay, Prompt, Typing};
use crate::ui::sheet::View;
use crate::ui::state::State;
use crate::ui::{commands, palette};

pub(super) fn open_prompt(state: &mut State, driver: &dyn Driver, typing: Typing) {
    let before = match &typing {
        Typing::Command => String::new(),
        Typing::Filter(pane) => state.filter(*pane).to_owned(),
        Typing::Over(over) => filter_of(over).to_owned(),
    };
    let mut prompt = Prompt { typing, input: before.clone().into(), before, completions: Vec::new(), chosen: None };
    prompt.completions = palette::completions(driver, &state.settings, &prompt);
    state.overlay = Some(Overlay::Prompt(prompt));
}

/// The filter of what lies over the screen.
pub(super) fn filter_of(over: &Overlay) -> &str {
    match over {
        Overlay::Help(view) => &view.filter,
        Overlay::Text(sheet) => &sheet.view.filter,
        Overlay::Prompt(_) | Overlay::Themes { .. } => "",
    }
}

pub(super) fn filter_over(over: &mut Overlay, filter: String) {
    match over {
        Overlay::Help(view) => *view = View { filter, ..View::default() },
        Overlay::Text(sheet) => sheet.set_filter(filter),
        Overlay::Prompt(_) | Overlay::Themes { .. } => {}
    }
}

pub(super) fn type_in(state: &mut State, driver: &dyn Driver, edit: impl FnOnce(&mut Prompt)) {
    let Some(Overlay::Prompt(prompt)) = &mut state.overlay else { return };
    edit(prompt);
    prompt.completions = palette::completions(driver, &state.settings, prompt);
    prompt.chosen = None;
    let text = prompt.input.value().to_owned();
    match &mut prompt.typing {
        Typing::Command => {}
        Typing::Filter(pane) => {
            let pane = *pane;
            state.set_filter(pane, text);
        }
        Typing::Over(over) => filter_over(over, text),
    }
}

pub(super) fn complete(state: &mut State, driver: &dyn Driver) {
    type_in(state, driver, |prompt| {
        if let Some(text) = palette::complete(prompt) {
            prompt.input = text.into();
        }
    });
}

pub(super) fn submit(state: &mut State, driver: &mut dyn Driver) -> Option<Effect> {
    let Some(Overlay::Prompt(prompt)) = state.overlay.take() else { return None };
    match prompt.typing {
        Typing::Command => {}
        Typing::Filter(_) => return None,
        Typing::Over(over) => {
            state.overlay = Some(*over);
            return None;
        }
    }
    // What is chosen from the list and wants more words is completed first.
    if let Some(line) = palette::chosen(&prompt) {
        if palette::wants_more(&line) {
            state.overlay = Some(Overlay::Prompt(prompt));
            type_in(state, driver, |prompt| prompt.input = line.into());
            return None;
        }
        return execute(state, driver, &line);
    }
    execute(state, driver, prompt.input.value())
}

pub(super) fn execute(state: &mut State, driver: &mut dyn Driver, line: &str) -> Option<Effect> {
    match commands::run(state, driver, line) {
        Ok(effect) => effect,
        Err(error) => {
            state.warn(error.to_string());
            None
        }
    }
}
