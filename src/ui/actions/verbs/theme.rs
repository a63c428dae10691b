//! Shows another theme, or lists the themes.

use crate::ui::actions::arguments;
use crate::ui::actions::prelude::*;
use crate::ui::model::effect::Effect;
use crate::ui::model::overlay::Overlay;

/// The command `theme`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |_, state, word| arguments::words(state.settings.themes.iter().map(|t| t.name.clone()), word),
        ..Command::new(&["theme"], "[NAME]", "show another theme, or choose one")
    }),
    ..Verb::new("theme", |state, _, args| Ok(Answer::Effect(show(state, args))))
}];

/// Shows a theme; without a name, opens the list at the current one. The effect shows the current theme again, which
/// refreshes the list.
fn show(state: &mut State, name: &str) -> Effect {
    if !name.is_empty() {
        return Effect::Theme(name.to_owned());
    }
    let now = state.settings.theme.clone();
    state.overlay = Some(Overlay::Themes { selected: now.clone(), before: now.clone() });
    Effect::Theme(now)
}
