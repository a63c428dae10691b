//! The frame: the whole screen from top to bottom, with overlays last.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::ui::config::action::Action;
use crate::ui::config::theme::Role;
use crate::ui::model::overlay::{Overlay, Typing};
use crate::ui::model::size::Mode;
use crate::ui::model::text;
use crate::ui::model::text_view::Form;
use crate::ui::view::draw::{Scene, put};
use crate::ui::view::layout::Plan;
use crate::ui::view::{answer, header, hints, lesson, overlays, panes, tabs};

/// Draws the whole screen.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    buf.set_style(area, scene.style(Role::Text));
    if Mode::of(area.width, area.height) == Mode::TooSmall {
        return too_small(scene, area, buf);
    }
    let plan = Plan::of(scene.state);
    if !area.contains(Position::new(plan.hints.x, plan.hints.y)) {
        // The terminal has shrunk and the state has the old size: skip this frame.
        return;
    }
    header::draw(scene, plan.header, buf);
    answer::draw(scene, plan.answer, buf);
    if let Some(tabs) = plan.tabs {
        tabs::draw(scene, &plan, tabs, buf);
    }
    for (pane, _) in &plan.panes {
        let def = panes::def(*pane);
        (def.draw)(def, scene, &plan, buf);
        def.mark_matches(scene, &plan, buf);
    }
    lesson::draw(scene, plan.lesson, buf);
    let types = matches!(scene.state.overlay, Some(Overlay::Prompt(_)));
    if types {
        hints::draw(scene, plan.hints, buf);
    }
    if let Some(over) = &scene.state.overlay {
        draw_over(scene, over, &plan, area, buf);
    }
    // A long message lies over a text.
    if !types {
        hints::draw(scene, plan.hints, buf);
    }
}

/// Draws an overlay without the screen below it.
pub fn draw_over(scene: &Scene<'_>, over: &Overlay, plan: &Plan, area: Rect, buf: &mut Buffer) {
    match over {
        Overlay::Help(view) => overlays::help::draw(scene, view, area, buf),
        Overlay::Text(sheet) => match sheet.form {
            Form::Prose => overlays::report::draw(scene, sheet, area, buf),
            Form::Yaml => overlays::object::draw(scene, sheet, area, buf),
        },
        Overlay::Themes { selected, .. } => overlays::themes::draw(scene, selected, area, buf),
        Overlay::Prompt(prompt) => {
            if let Typing::Over(under) = &prompt.typing {
                draw_over(scene, under, plan, area, buf);
            }
            overlays::prompt::draw(scene, prompt, plan.hints, buf);
        }
    }
}

fn too_small(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let lines = [
        (Role::Strong, format!("terminal too small: {}x{}", area.width, area.height)),
        (Role::Muted, "needed: 60x16 or larger".to_owned()),
        (Role::Muted, format!("{} quits", scene.key(&Action::QUIT))),
    ];
    let top = area.y + area.height.saturating_sub(lines.len() as u16) / 2;
    for (i, (role, words)) in lines.iter().enumerate() {
        let y = top + i as u16;
        if y >= area.bottom() {
            break;
        }
        let width = text::columns(words).min(area.width);
        let row = Rect { x: area.x + (area.width - width) / 2, y, width, height: 1 };
        put(buf, row, &[scene.span(*role, words.as_str())], scene.glyphs.ellipsis);
    }
}
