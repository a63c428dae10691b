//! Exports the screen as a self-contained SVG with selectable text, and screens as a page of such pictures.
//!
//! Every run of text gives its position and length, so the grid is kept with any font. Characters that fonts often lack
//! are runs of their own: a fallback glyph of another width does not shift its neighbours.

use std::collections::HashMap;
use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::{Frame, Piece, rows};
use crate::output;
use crate::ui::config::theme::{Role, Theme};

/// Cell size, baseline and margin in tenths of a pixel, which keeps sums exact.
const COLUMN: u32 = 84;
const ROW: u32 = 170;
const BASELINE: u32 = 129;
const MARGIN: u32 = 100;
const FONT: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

/// A resolved colour.
type Rgb = (u8, u8, u8);

/// The look of a run of cells.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    ink: Rgb,
    ground: Option<Rgb>,
    modifier: Modifier,
}

/// Colours of text and ground where cells name none.
#[derive(Clone, Copy)]
struct Base {
    ink: Rgb,
    ground: Rgb,
}

impl Base {
    fn of(theme: &Theme) -> Self {
        let ground = rgb(theme.ground(), (0, 0, 0));
        Self { ground, ink: if is_dark(ground) { (0xc9, 0xd1, 0xe3) } else { (0x2d, 0x33, 0x45) } }
    }
}

/// Returns the screen as SVG.
pub(super) fn svg(buf: &Buffer, theme: &Theme) -> String {
    let base = Base::of(theme);
    let mut out = opening(buf.area.width, buf.area.height, base);
    let mut letters = String::new();
    for (y, row) in rows(buf).enumerate() {
        bars(&mut out, &row, y, base);
        texts(&mut letters, &row, y, base);
    }
    let _ = writeln!(out, "{}", letters_group(base));
    out.push_str(&letters);
    out.push_str("</g>\n</svg>\n");
    out
}

/// Returns screens of one size as an SVG that shows each for some seconds, over and over, with its caption below. A viewer
/// without animations shows the first, one that reduces motion the last. Rows that several screens share are written once.
pub(super) fn animation(frames: &[Frame], seconds: f64, theme: &Theme) -> String {
    let base = Base::of(theme);
    let (width, height) = frames.iter().fold((0, 0), |(w, h), frame| (frame.screen.area.width.max(w), frame.screen.area.height.max(h)));
    let mut out = opening(width, height + 1, base);
    let all = seconds * frames.len() as f64;
    let share = 100.0 / frames.len() as f64;
    let _ = writeln!(out, "<style>.f{{visibility:hidden;animation:f {all:.2}s step-end infinite}}.f:first-of-type{{visibility:visible}}");
    let _ = writeln!(out, "@keyframes f{{0%{{visibility:visible}}{share:.3}%,100%{{visibility:hidden}}}}");
    for at in 1..frames.len() {
        let _ = writeln!(out, ".f:nth-of-type({}){{animation-delay:{:.2}s}}", at + 1, seconds * at as f64);
    }
    out.push_str("@media (prefers-reduced-motion:reduce){.f,.f:first-of-type{animation:none;visibility:hidden}");
    let _ = writeln!(out, ".f:last-of-type{{visibility:visible}}}}</style>\n{}\n<defs>", letters_group(base));
    let mut known = SharedRows::default();
    let mut shown = String::new();
    for frame in frames {
        shown.push_str("<g class=\"f\">");
        let mut caption = Buffer::empty(Rect::new(0, 0, width, 1));
        caption.set_stringn(1, 0, &frame.caption, usize::from(width.saturating_sub(1)), theme.style(Role::Accent));
        for (y, row) in rows(&frame.screen).enumerate().chain(rows(&caption).map(|row| (usize::from(height), row))) {
            if let Some(id) = known.add(&row, y, base) {
                let _ = write!(shown, "<use href=\"#r{id}\"/>");
            }
        }
        shown.push_str("</g>\n");
    }
    out.push_str(&known.written);
    out.push_str("</defs>\n");
    out.push_str(&shown);
    out.push_str("</g>\n</svg>\n");
    out
}

/// Rows of several screens, each written once.
#[derive(Default)]
struct SharedRows {
    known: HashMap<String, usize>,
    written: String,
}

impl SharedRows {
    /// Writes a row if it is new, and returns its number; `None` for a row without letters and grounds.
    fn add(&mut self, row: &[Piece<'_>], y: usize, base: Base) -> Option<usize> {
        let mut drawn = String::new();
        bars(&mut drawn, row, y, base);
        texts(&mut drawn, row, y, base);
        if drawn.is_empty() {
            return None;
        }
        let next = self.known.len();
        let written = &mut self.written;
        Some(*self.known.entry(drawn).or_insert_with_key(|drawn| {
            let _ = write!(written, "<g id=\"r{next}\">\n{drawn}</g>\n");
            next
        }))
    }
}

/// Returns screens as a page of HTML that shows the first, with links to the others and one that plays them, each for some seconds. A page
/// of one screen has no links. It holds no script and loads nothing, and its policy forbids both; on paper all screens are shown.
pub(super) fn page(frames: &[Frame], seconds: f64, theme: &Theme) -> String {
    let base = Base::of(theme);
    let (ink, ground) = (hex(base.ink), hex(base.ground));
    let all = seconds * frames.len() as f64;
    let share = 100.0 / frames.len().max(1) as f64;
    let mut style = format!(
        ":root{{color-scheme:{}}}body{{margin:0 auto;max-width:90rem;padding:1rem;background:{ground};color:{ink};font:1rem/1.5 system-ui,\
         sans-serif}}h1,h2{{font-size:1rem;margin:.5rem 0}}a{{color:inherit;display:inline-block;padding:.25rem .75rem;margin-right:.5rem;\
         border:1px solid;border-radius:.4rem;text-decoration:none}}svg{{display:block;width:100%;height:auto}}text{{white-space:pre}}.rows{{position:absolute;\
         width:0;height:0}}",
        if is_dark(base.ground) { "dark" } else { "light" }
    );
    if frames.len() > 1 {
        // The first step is shown until a link leads to another. The link to all of them plays.
        style.push_str(
            "@supports selector(:has(a)){.step{display:none}.steps:not(:has(:target)) .step:first-child{display:block}}\
             .steps .step:target{display:block}.steps:target{display:grid}",
        );
        let _ = write!(
            style,
            ".steps:target .step{{display:block;grid-area:1/1;visibility:hidden;animation:f {all:.2}s step-end infinite}}\
             @keyframes f{{0%{{visibility:visible}}{share:.3}%,100%{{visibility:hidden}}}}"
        );
        for at in 1..frames.len() {
            let _ = write!(style, ".steps:target .step:nth-child({}){{animation-delay:{:.2}s}}", at + 1, seconds * at as f64);
        }
        style.push_str(
            "@media(prefers-reduced-motion:reduce){.steps:target .step{animation:none}.steps:target .step:last-child{visibility:visible}}\
             @media print{nav{display:none}.steps,.steps:target{display:block}.steps .step,.steps:target .step,\
             .steps:not(:has(:target)) .step:first-child{display:block;visibility:visible;animation:none;break-inside:avoid}}",
        );
    }
    let mut known = SharedRows::default();
    let mut shown = String::new();
    for (at, frame) in frames.iter().enumerate() {
        let caption = escaped(&frame.caption);
        let _ = writeln!(shown, "<section class=\"step\" id=\"s{}\">", at + 1);
        if frames.len() > 1 {
            let _ = writeln!(shown, "<h2>{} of {}: {caption}</h2>\n<nav>", at + 1, frames.len());
            let link = |to: usize, word: &str| format!("<a href=\"#s{to}\">{word}</a>\n");
            if at + 1 < frames.len() {
                shown.push_str(&link(at + 2, "Next"));
            }
            if at > 0 {
                shown.push_str(&link(at, "Back"));
                shown.push_str(&link(1, "First"));
            }
            shown.push_str("<a href=\"#steps\">Play</a>\n</nav>\n");
        }
        let Rect { width, height, .. } = frame.screen.area;
        let (w, h) = (px(u32::from(width) * COLUMN + 2 * MARGIN), px(u32::from(height) * ROW + 2 * MARGIN));
        let _ = writeln!(shown, "<svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"Screen {}\">\n{}", at + 1, letters_group(base));
        for (y, row) in rows(&frame.screen).enumerate() {
            if let Some(id) = known.add(&row, y, base) {
                let _ = write!(shown, "<use href=\"#r{id}\"></use>");
            }
        }
        shown.push_str("</g>\n</svg>\n</section>\n");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"schedscope\">\n<title>schedscope</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <svg class=\"rows\" aria-hidden=\"true\"><defs>\n{}</defs></svg>\n<main class=\"steps\" id=\"steps\">\n{shown}</main>\n</body>\n</html>\n",
        output::style_hash(&style),
        known.written
    )
}

/// Opens a picture of this size, in columns and rows.
fn opening(columns: u16, rows: u16, base: Base) -> String {
    let (width, height) = (u32::from(columns) * COLUMN + 2 * MARGIN, u32::from(rows) * ROW + 2 * MARGIN);
    let (w, h) = (px(width), px(height));
    let ground = hex(base.ground);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{ground}\"/>\n"
    )
}

/// Opens the group of the letters.
fn letters_group(base: Base) -> String {
    format!("<g font-family=\"{FONT}\" font-size=\"14\" fill=\"{}\" xml:space=\"preserve\">", hex(base.ink))
}

/// Draws the grounds of a row's cells.
fn bars(out: &mut String, row: &[Piece<'_>], y: usize, base: Base) {
    for bar in row.chunk_by(|a, b| look(a.cell, base).ground == look(b.cell, base).ground) {
        if let Some(fill) = look(bar[0].cell, base).ground {
            let (left, columns) = place(bar);
            let (w, h) = (px(columns * COLUMN), px(ROW));
            let (x, y) = (px(left), px(top(y)));
            let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{}\"/>", hex(fill));
        }
    }
}

/// Draws the letters of a row.
fn texts(out: &mut String, row: &[Piece<'_>], y: usize, base: Base) {
    for (look, pieces) in runs(row, |cell| look(cell, base)) {
        let (left, columns) = place(pieces);
        run(out, look, pieces, (left, top(y)), columns, base.ink);
    }
}

/// Returns the upper edge of a row.
fn top(row: usize) -> u32 {
    MARGIN + row as u32 * ROW
}

/// Returns the position of adjacent pieces, and the columns they span.
fn place(pieces: &[Piece<'_>]) -> (u32, u32) {
    let first = pieces.first().map_or(0, |p| u32::from(p.column));
    (MARGIN + first * COLUMN, pieces.iter().map(|p| u32::from(p.columns)).sum())
}

/// Writes the text of one run. Skips blanks unless they are underlined.
fn run(out: &mut String, look: Look, pieces: &[Piece<'_>], (left, top): (u32, u32), columns: u32, ink: Rgb) {
    let text: String = pieces.iter().map(|p| p.symbol).collect();
    let lined = look.modifier.intersects(Modifier::UNDERLINED | Modifier::CROSSED_OUT);
    if look.modifier.contains(Modifier::HIDDEN) || (text.trim().is_empty() && !lined) {
        return;
    }
    let (x, y, length) = (px(left), px(top + BASELINE), px(columns * COLUMN));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"");
    if look.ink != ink {
        let _ = write!(out, " fill=\"{}\"", hex(look.ink));
    }
    for (modifier, attribute) in [
        (Modifier::BOLD, "font-weight=\"bold\""),
        (Modifier::DIM, "opacity=\"0.6\""),
        (Modifier::ITALIC, "font-style=\"italic\""),
        (Modifier::UNDERLINED, "text-decoration=\"underline\""),
        (Modifier::CROSSED_OUT, "text-decoration=\"line-through\""),
    ] {
        if look.modifier.contains(modifier) {
            let _ = write!(out, " {attribute}");
        }
    }
    let _ = writeln!(out, ">{}</text>", escaped(&text));
}

/// Groups adjacent pieces with the same look, if all fonts have their characters in the same width; other pieces stay alone.
fn runs<'r, 'b>(row: &'r [Piece<'b>], look: impl Fn(&Cell) -> Look) -> Vec<(Look, &'r [Piece<'b>])> {
    let mut found = Vec::new();
    let mut begin = 0;
    while begin < row.len() {
        let first = look(row[begin].cell);
        let kind = kind(row[begin].symbol);
        let same = |p: &&Piece<'_>| kind != Kind::Other && look(p.cell) == first && self::kind(p.symbol) == kind;
        let length = 1 + row[begin + 1..].iter().take_while(same).count();
        found.push((first, &row[begin..begin + length]));
        begin += length;
    }
    found
}

/// Characters by font support.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Lines,
    Other,
}

fn kind(symbol: &str) -> Kind {
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        (Some(' '..='~'), None) => Kind::Plain,
        (Some('\u{2500}'..='\u{259f}'), None) => Kind::Lines,
        _ => Kind::Other,
    }
}

fn look(cell: &Cell, Base { ink, ground }: Base) -> Look {
    let style = (rgb(cell.fg, ink), rgb(cell.bg, ground));
    let reversed = cell.modifier.contains(Modifier::REVERSED);
    let (front, back) = if reversed { (style.1, style.0) } else { style };
    Look { ink: front, ground: (back != ground).then_some(back), modifier: cell.modifier - Modifier::REVERSED }
}

fn is_dark((r, g, b): Rgb) -> bool {
    u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114 < 128_000
}

/// Resolves a colour; the named ones as xterm has them.
fn rgb(color: Color, default: Rgb) -> Rgb {
    const NAMED: [Rgb; 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (59, 120, 255),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let index = match color {
        Color::Reset => return default,
        Color::Rgb(r, g, b) => return (r, g, b),
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Indexed(index) => index,
    };
    match index {
        0..16 => NAMED[usize::from(index)],
        16..232 => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let at = index - 16;
            (level(at / 36), level(at / 6 % 6), level(at % 6))
        }
        _ => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Formats tenths of a pixel as pixels.
fn px(tenths: u32) -> String {
    if tenths.is_multiple_of(10) { (tenths / 10).to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) }
}

/// Escapes text for XML; replaces characters that XML cannot hold.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
