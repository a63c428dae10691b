//! The loading screen: the source, the progress, and how to leave.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::ui::config::theme::Role;
use crate::ui::view::start::Palette;

/// The progress of loading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loading {
    /// A short name of the source.
    pub source: String,
    /// The phases with their durations; the last is in progress.
    pub phases: Vec<(String, Duration)>,
    /// Details of the last phase.
    pub details: Vec<Detail>,
    /// The number of frames that the activity indicator has shown.
    pub ticks: usize,
}

/// A detail of the progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Its state.
    pub mark: Mark,
    /// The text, one line.
    pub words: String,
}

/// The state of a detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Reading fails, or is refused.
    Trouble,
    /// Reading is in progress.
    Going,
    /// Reading has finished.
    Done,
    /// No state.
    Plain,
}

/// Draws the screen.
pub fn draw(loading: &Loading, palette: Palette<'_>, area: Rect, buf: &mut Buffer) {
    buf.set_style(area, palette.theme.style(Role::Text));
    let turn = palette.glyphs.turns[loading.ticks % palette.glyphs.turns.len()];
    palette.row(buf, area, 0, &[palette.span(Role::Title, " schedscope  "), palette.span(Role::Strong, loading.source.as_str())]);
    let mut row = 2;
    for (i, (what, took)) in loading.phases.iter().enumerate() {
        let (sign, role) = if i + 1 == loading.phases.len() { (turn, Role::Notice) } else { (palette.glyphs.fits, Role::Fits) };
        let time = format!("  {:.1} s", took.as_secs_f64());
        palette.row(
            buf,
            area,
            row,
            &[palette.span(role, format!(" {sign} ")), palette.span(Role::Text, what.as_str()), palette.span(Role::Muted, time)],
        );
        row += 1;
    }
    row += 1;
    let hint = area.height.saturating_sub(1);
    let room = usize::from(hint.saturating_sub(row + 1));
    let mut details: Vec<&Detail> = loading.details.iter().collect();
    // If there is too little room, troubles come first.
    details.sort_by_key(|detail| detail.mark);
    let shown = if details.len() > room { room.saturating_sub(1) } else { details.len() };
    for detail in &details[..shown] {
        let (sign, role) = match detail.mark {
            Mark::Trouble => (palette.glyphs.failed, Role::Warning),
            Mark::Going => (turn, Role::Notice),
            Mark::Done => (palette.glyphs.fits, Role::Fits),
            Mark::Plain => (" ", Role::Text),
        };
        let words = if detail.mark == Mark::Trouble { Role::Warning } else { Role::Text };
        palette.row(buf, area, row, &[palette.span(role, format!(" {sign} ")), palette.span(words, detail.words.as_str())]);
        row += 1;
    }
    if shown < details.len() && room > 0 {
        palette.row(buf, area, row, &[palette.span(Role::Muted, format!("   and {} more", details.len() - shown))]);
    }
    if area.height > 1 {
        palette.row(buf, area, hint, &[palette.span(Role::Key, " q"), palette.span(Role::Muted, " leaves")]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::{ASCII, Depth, Glyphs, Theme, UNICODE};

    fn text(loading: &Loading, glyphs: &Glyphs, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        draw(loading, Palette { theme: &Theme::fallback(Depth::None), glyphs }, area, &mut buf);
        let rows = (0..height).map(|y| (0..width).map(|x| buf[(x, y)].symbol()).collect::<String>().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }

    fn detail(mark: Mark, words: &str) -> Detail {
        Detail { mark, words: words.to_owned() }
    }

    fn phase(what: &str, millis: u64) -> (String, Duration) {
        (what.to_owned(), Duration::from_millis(millis))
    }

    #[test]
    fn a_dump_says_file_size_and_time() {
        let loading = Loading {
            source: "bundle.tar.gz".to_owned(),
            phases: vec![phase("reading", 12_340), phase("building the scheduler", 210)],
            details: vec![detail(Mark::Plain, "bundle.tar.gz/pods.json"), detail(Mark::Plain, "1,234 MB, 150,000 objects so far")],
            ticks: 1,
        };
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            insta::assert_snapshot!(format!("loading_a_dump_{width}x{height}"), text(&loading, &UNICODE, width, height));
        }
        insta::assert_snapshot!("loading_a_dump_60x16", text(&loading, &ASCII, 60, 16));
    }

    #[test]
    fn a_live_cluster_says_its_kinds_and_troubles_first() {
        let mut details: Vec<Detail> = (0..14).map(|n| detail(Mark::Done, &format!("Kind{n}: {n} read"))).collect();
        details.push(detail(Mark::Going, "Pod: being listed, 12,000 so far"));
        details.push(detail(Mark::Trouble, "PodDisruptionBudget: may not be read: forbidden"));
        let source = "context prod (https://10.0.0.1:6443)".to_owned();
        let loading = Loading { source, phases: vec![phase("reading the cluster", 900)], details, ticks: 0 };
        for (width, height) in [(80, 24), (120, 40), (200, 60)] {
            insta::assert_snapshot!(format!("loading_a_cluster_{width}x{height}"), text(&loading, &UNICODE, width, height));
        }
        let small = text(&loading, &UNICODE, 60, 16);
        assert!(small.contains("forbidden") && small.contains("being listed") && small.contains("and 7 more"), "{small}");
        insta::assert_snapshot!("loading_a_cluster_60x16", small);
    }

    #[test]
    fn no_size_is_too_small() {
        let loading =
            Loading { details: vec![detail(Mark::Done, "Pod: 節点"); 9], phases: vec![phase("reading", 1); 3], ..Loading::default() };
        for (width, height) in [(0, 0), (1, 1), (3, 2), (10, 5), (40, 7)] {
            text(&loading, &UNICODE, width, height);
        }
    }
}
