//! The line of tabs, on screens that do not show all panes at once.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::ui::config::theme::Role;
use crate::ui::model::pane::{Pane, Place};
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::view::draw::{Scene, put};
use crate::ui::view::layout::Plan;
use crate::ui::view::panes;

/// Returns the tabs with their areas.
fn tabs(state: &State, plan: &Plan) -> Vec<(Pane, String, Rect)> {
    let Some(area) = plan.tabs else { return Vec::new() };
    let mut x = area.x + 1;
    let mut list = Vec::new();
    for def in panes::PANES.iter().filter(|def| (def.is_open)(state)) {
        let pane = def.id;
        if matches!(pane.place, Place::Fixed | Place::Whole) || (pane.place == Place::Left && !plan.flat) {
            continue;
        }
        let words = def.tab_words(state);
        let width = text::columns(&words).min(area.right().saturating_sub(x));
        list.push((pane, words, Rect { x, width, ..area }));
        x = (x + width + 3).min(area.right());
    }
    list
}

/// Returns the tab at a place.
pub fn tab_at(state: &State, plan: &Plan, x: u16, y: u16) -> Option<Pane> {
    tabs(state, plan).into_iter().find(|(.., area)| area.contains((x, y).into())).map(|(pane, ..)| pane)
}

/// Draws the tabs. The active tab has a glyph, not only a colour.
pub fn draw(scene: &Scene<'_>, plan: &Plan, _: Rect, buf: &mut Buffer) {
    for (pane, words, area) in tabs(scene.state, plan) {
        let shown = plan.area(pane).is_some();
        let role = if shown { Role::TabActive } else { Role::Tab };
        put(buf, area, &[scene.span(role, words)], scene.glyphs.ellipsis);
        if shown && area.x > 0 {
            buf.set_string(area.x - 1, area.y, scene.glyphs.here, scene.style(Role::Accent));
        }
    }
}
