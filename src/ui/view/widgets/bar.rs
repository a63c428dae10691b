//! A small bar of used and free amounts.

use ratatui::text::Span;

use crate::ui::config::theme::Role;
use crate::ui::view::draw::Scene;

/// Returns used cells, then free ones. Any used amount takes at least one cell, and any free amount leaves one.
pub fn spans(scene: &Scene<'_>, used: i64, of: i64, width: usize) -> Vec<Span<'static>> {
    let filled = cells(used, of, width);
    vec![
        scene.span(Role::BarUsed, scene.glyphs.bar_used.repeat(filled)),
        scene.span(Role::BarFree, scene.glyphs.bar_free.repeat(width - filled)),
    ]
}

fn cells(used: i64, of: i64, width: usize) -> usize {
    if used <= 0 || of <= 0 {
        return if of <= 0 { width } else { 0 };
    }
    if used >= of {
        return width;
    }
    let exact = i128::from(used) * width as i128 / i128::from(of);
    (exact as usize).clamp(1.min(width), width.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_is_never_nothing_and_nearly_full_is_never_full() {
        for ((used, of), expected) in [
            ((0, 8), 0),
            ((1, 800), 1),
            ((4, 8), 4),
            ((799, 800), 7),
            ((8, 8), 8),
            ((9, 8), 8),
            ((0, 0), 8),
            ((-1, 8), 0),
            ((i64::MAX - 1, i64::MAX), 7),
        ] {
            assert_eq!(cells(used, of, 8), expected, "{used} of {of}");
        }
    }
}
