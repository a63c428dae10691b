//! Drawing of the start screen.

use std::path::MAIN_SEPARATOR;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;

use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::start::{Row, Start, TOP, Typing};
use crate::ui::model::text;
use crate::ui::view::start::Palette;

/// Draws the screen.
pub fn draw(start: &Start, palette: Palette<'_>, area: Rect, buf: &mut Buffer) {
    buf.set_style(area, palette.theme.style(Role::Text));
    let lead = palette.span(Role::Title, " schedscope  ");
    palette.row(
        buf,
        area,
        0,
        &[lead, palette.span(Role::Strong, "why is this pod pending?"), palette.span(Role::Muted, "  choose a cluster")],
    );
    if start.helps {
        draw_help(start, palette, area, buf);
        return;
    }
    let rows = start.rows();
    let names = start.offers.iter().map(|offer| text::width(&offer.name)).max().unwrap_or(0).min(usize::from(area.width) / 3);
    for (i, row) in rows.iter().skip(start.offset).take(start.room()).enumerate() {
        let at = TOP + i as u16;
        match row {
            Row::Blank => {}
            Row::Heading(group) => palette.row(buf, area, at, &[palette.span(Role::Column, format!(" {group}"))]),
            Row::Empty(group) => {
                let why = start.empty.iter().find(|(of, _)| of == group).map_or("", |(_, why)| why.as_str());
                palette.row(buf, area, at, &[palette.span(Role::Muted, format!("   {why}"))]);
            }
            Row::Offer(of, place) => {
                let offer = &start.offers[*of];
                let here = *place == start.selected;
                let sign = if here { palette.glyphs.here } else { " " };
                let name = text::clip_middle(&offer.name, names.max(1), palette.glyphs.ellipsis);
                let pad = " ".repeat(names.saturating_sub(text::width(&name)) + 2);
                let spans = [
                    palette.span(Role::Accent, format!(" {sign} ")),
                    palette.span(Role::Strong, name.into_owned()),
                    Span::raw(pad),
                    palette.span(Role::Muted, offer.about.as_str()),
                ];
                palette.row(buf, area, at, &spans);
                if here && at < area.height {
                    buf.set_style(Rect { y: area.y + at, height: 1, ..area }, palette.theme.style(Role::Selection));
                }
            }
        }
    }
    if rows.is_empty() {
        palette.row(buf, area, TOP, &[palette.span(Role::Muted, format!("   nothing is called {:?}", start.filter))]);
    }
    if area.height > TOP {
        foot(start, palette, area, buf);
    }
}

fn draw_help(start: &Start, palette: Palette<'_>, area: Rect, buf: &mut Buffer) {
    let lines = start.help();
    let column = lines.iter().filter(|(_, right)| !right.is_empty()).map(|(left, _)| text::width(left)).max().unwrap_or(0) + 2;
    for (i, (left, right)) in lines.iter().skip(start.offset).take(start.room()).enumerate() {
        let at = TOP + i as u16;
        if right.is_empty() {
            palette.row(buf, area, at, &[palette.span(Role::Column, format!(" {left}"))]);
        } else {
            let pad = " ".repeat(column.saturating_sub(text::width(left)));
            palette.row(buf, area, at, &[palette.span(Role::Key, format!("   {left}{pad}")), palette.span(Role::Text, *right)]);
        }
    }
    if area.height > TOP {
        let key = start.keymap.label(Context::START, &Action::BACK);
        palette.row(buf, area, area.height - 1, &[palette.span(Role::Key, format!(" {key}")), palette.span(Role::Muted, " closes")]);
    }
}

/// Draws the last two lines: the prompt with completions, a notice, or the key hints.
fn foot(start: &Start, palette: Palette<'_>, area: Rect, buf: &mut Buffer) {
    let last = area.height - 1;
    let key = |context, action| start.keymap.label(context, &action);
    if let Some(typing) = &start.typing {
        let (what, input) = match typing {
            Typing::Filter(input) => ("/", input),
            Typing::Path(input) => ("open ", input),
        };
        let room = usize::from(area.width).saturating_sub(text::width(what) + 3);
        let skip = input.visual_scroll(room);
        let value: String = input
            .value()
            .chars()
            .scan(0, |at, c| {
                *at += text::width(c.encode_utf8(&mut [0; 4]));
                Some((*at, c))
            })
            .filter(|(at, _)| *at > skip)
            .map(|(_, c)| c)
            .collect();
        palette.row(buf, area, last, &[palette.span(Role::Key, format!(" {what}")), palette.span(Role::Strong, value)]);
        let x = 1 + text::width(what) + input.visual_cursor().saturating_sub(skip);
        if let Ok(x) = u16::try_from(x)
            && x < area.width
        {
            buf[(area.x + x, area.y + last)].set_style(palette.theme.style(Role::Strong).add_modifier(Modifier::REVERSED));
        }
        if matches!(typing, Typing::Path(_)) && !start.completions.is_empty() {
            let folder = |path: &str| path.trim_end_matches(MAIN_SEPARATOR).rfind(MAIN_SEPARATOR).map_or(0, |at| at + 1);
            let words: Vec<&str> = start.completions.iter().map(|path| &path[folder(path)..]).collect();
            palette.row(buf, area, last - 1, &[palette.span(Role::Accent, format!("   {}", words.join("  ")))]);
        }
        return;
    }
    if let Some(notice) = &start.notice {
        // A notice may take both lines.
        let words = notice.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = text::wrapped(&words, usize::from(area.width.saturating_sub(4))).next().map_or(0, |first| first.end);
        let (first, rest) = words.split_at(end);
        let rows = if rest.is_empty() { vec![first] } else { vec![first, rest.trim_start()] };
        for (row, words) in (last + 1 - rows.len() as u16..).zip(&rows) {
            let sign = if row == last + 1 - rows.len() as u16 { palette.glyphs.failed } else { " " };
            palette.row(buf, area, row, &[palette.span(Role::Warning, format!(" {sign} {words}"))]);
        }
        return;
    }
    let mut spans = vec![Span::raw(" ")];
    let mut shown: Vec<_> = start.keymap.of(Context::START).filter(|row| !row.binding.short.is_empty()).collect();
    shown.sort_by_key(|row| matches!(row.binding.short, "help" | "quit"));
    for row in shown {
        spans.push(palette.span(Role::Key, row.label()));
        spans.push(palette.span(Role::Muted, format!(" {}  ", row.binding.short)));
    }
    palette.row(buf, area, last, &spans);
    if !start.filter.is_empty() {
        let words = format!("   /{}  ({} shows all)", start.filter, key(Context::START, Action::BACK));
        palette.row(buf, area, last - 1, &[palette.span(Role::Accent, words)]);
    }
}
