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

/// The columns between two tabs: one of them is for the mark of the active one.
const GAP: u16 = 3;

/// A tab in sight.
struct Tab {
    pane: Pane,
    words: String,
    area: Rect,
}

/// The tabs in sight, and whether there are others on their left and right.
#[derive(Default)]
struct Tabs {
    list: Vec<Tab>,
    hidden: (bool, bool),
}

/// Returns the tabs with their areas. If they have too little room, begins with the first from which the active one is whole.
fn tabs(state: &State, plan: &Plan) -> Tabs {
    let Some(area) = plan.tabs else { return Tabs::default() };
    let mut all = Vec::new();
    for def in panes::PANES.iter().filter(|def| (def.is_open)(state)) {
        let pane = def.id;
        if matches!(pane.place, Place::Fixed | Place::Whole) || (pane.place == Place::Left && !plan.flat) {
            continue;
        }
        let mut words = def.tab_words(state);
        if !state.filter(pane).is_empty() {
            words.push_str(" /");
        }
        all.push((pane, text::columns(&words), words));
    }
    let widths: Vec<u16> = all.iter().map(|(_, width, _)| *width).collect();
    let active = all.iter().position(|(pane, ..)| plan.area(*pane).is_some()).unwrap_or(0);
    // Two columns at the end are for the mark of hidden tabs.
    let all_fit = widths.last().is_none_or(|_| first_tab(&widths, widths.len() - 1, area.width) == 0);
    let end = if all_fit { area.right() } else { area.right().saturating_sub(2) };
    let first = first_tab(&widths, active, end.saturating_sub(area.x));
    let mut x = area.x + 1 + u16::from(first > 0);
    let mut hidden = (first > 0, false);
    let mut list = Vec::new();
    for (pane, width, words) in all.into_iter().skip(first) {
        let room = end.saturating_sub(x);
        hidden.1 |= width > room;
        // A piece of two columns would be a digit.
        if room > 2 {
            let area = Rect { x, width: width.min(room), ..area };
            list.push(Tab { pane, words, area });
        }
        x = (x + width + GAP).min(end);
    }
    Tabs { list, hidden }
}

/// Returns the first tab in sight: all are, or the active one is whole with as many before it as have room.
fn first_tab(widths: &[u16], active: usize, room: u16) -> usize {
    let taken = |first: usize| {
        let tabs = &widths[first..=active];
        // A column before the first, and another for the mark of those that are hidden.
        tabs.iter().sum::<u16>() + GAP * (tabs.len() as u16 - 1) + 1 + u16::from(first > 0)
    };
    (0..active).find(|first| taken(*first) <= room).unwrap_or(active)
}

/// Returns the tab at a place.
pub fn tab_at(state: &State, plan: &Plan, x: u16, y: u16) -> Option<Pane> {
    tabs(state, plan).list.into_iter().find(|tab| tab.area.contains((x, y).into())).map(|tab| tab.pane)
}

/// Draws the tabs. The active tab has a glyph, not only a colour.
pub fn draw(scene: &Scene<'_>, plan: &Plan, _: Rect, buf: &mut Buffer) {
    let Tabs { list, hidden } = tabs(scene.state, plan);
    for Tab { pane, words, area } in list {
        let shown = plan.area(pane).is_some();
        let role = if shown { Role::TabActive } else { Role::Tab };
        put(buf, area, &[scene.span(role, words)], scene.glyphs.ellipsis);
        if shown && area.x > 0 {
            buf.set_string(area.x - 1, area.y, scene.glyphs.here, scene.style(Role::Accent));
        }
    }
    let Some(area) = plan.tabs else { return };
    let style = scene.style(Role::Accent);
    if hidden.0 {
        buf.set_string(area.x, area.y, scene.glyphs.crumb, style);
    }
    if hidden.1 {
        buf.set_string(area.right() - 1, area.y, scene.glyphs.more, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_active_tab_is_whole_and_those_before_it_stay_if_they_have_room() {
        let widths = [8, 7, 12, 26, 11];
        assert_eq!((0..5).map(|active| first_tab(&widths, active, 120)).collect::<Vec<_>>(), [0; 5]);
        assert_eq!((0..5).map(|active| first_tab(&widths, active, 60)).collect::<Vec<_>>(), [0, 0, 0, 1, 2]);
        assert_eq!(first_tab(&widths, 3, 10), 3, "a tab that is wider than the screen");
        assert_eq!(first_tab(&[], 0, 60), 0);
    }
}
