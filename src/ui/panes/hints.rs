//! The last line: a word to the reader, or the keys that work here.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::keymap::{self, Binding, Context};
use crate::ui::scene::Scene;
use crate::ui::text;
use crate::ui::theme::Role;

/// Draws the hints; keys of the pane in focus come first, and `?` and `q` are always there.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    if let Some(running) = &scene.state.running {
        let goal = running.until.as_ref().map_or_else(|| "nothing changes any more".to_owned(), ToString::to_string);
        let so_far = text::thousands(running.pieces);
        let words = format!(" {} running until {goal}: {so_far} so far; Esc stops here", scene.glyphs.here);
        return scene.line(buf, area, &Line::from(scene.span(Role::Notice, words)));
    }
    if let Some(working) = scene.state.working.as_ref().filter(|_| scene.state.notice.is_none()) {
        let so_far =
            if working.of == 0 { String::new() } else { format!(": {} of {}", text::thousands(working.done), text::thousands(working.of)) };
        let words = format!(" {} {}{so_far}; Esc stops it", scene.glyphs.here, working.what);
        return scene.line(buf, area, &Line::from(scene.span(Role::Notice, words)));
    }
    if let Some(notice) = &scene.state.notice {
        let (sign, role) = if notice.warning { (scene.glyphs.failed, Role::Warning) } else { (scene.glyphs.here, Role::Notice) };
        return scene.line(buf, area, &Line::from(scene.span(role, format!(" {sign} {}", notice.text))));
    }
    let contexts = crate::ui::contexts(scene.state);
    let shown = |context: &Context| keymap::of(*context).filter(|b| !b.short.is_empty());
    let (fixed, rest): (Vec<&Binding>, Vec<&Binding>) =
        contexts.iter().flat_map(shown).partition(|b| matches!(b.short, "help" | "quit" | "close"));
    let mut spans = vec![Span::raw(" ")];
    let cost = |b: &Binding| text::width(&keymap::label(b.keys[0])) + 1 + b.short.len() + 2;
    let mut room = usize::from(area.width).saturating_sub(1 + fixed.iter().map(|b| cost(b)).sum::<usize>());
    let mut push = |b: &Binding| {
        spans.push(scene.span(Role::Key, keymap::label(b.keys[0])));
        spans.push(scene.span(Role::Muted, format!(" {}  ", b.short)));
    };
    for binding in rest {
        if cost(binding) > room {
            continue;
        }
        room -= cost(binding);
        push(binding);
    }
    fixed.into_iter().for_each(&mut push);
    scene.line(buf, area, &Line::from(spans));
}
