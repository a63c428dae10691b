//! The glyphs that accompany words, with their ASCII replacements.

use ratatui::symbols::border;

/// A set of glyphs. Each takes one column, except for the ellipsis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Glyphs {
    pub fits: &'static str,
    pub unschedulable: &'static str,
    pub unresolvable: &'static str,
    pub failed: &'static str,
    pub unseen: &'static str,
    pub here: &'static str,
    pub winner: &'static str,
    pub stays: &'static str,
    pub falls: &'static str,
    pub arrow: &'static str,
    pub crumb: &'static str,
    pub dot: &'static str,
    /// More columns than fit.
    pub more: &'static str,
    pub dash: &'static str,
    pub ellipsis: &'static str,
    pub moved: &'static str,
    pub inferred: &'static str,
    pub open: &'static str,
    pub closed: &'static str,
    pub bar_used: &'static str,
    pub bar_free: &'static str,
    pub scrub_done: &'static str,
    pub scrub_ahead: &'static str,
    pub scrub_here: &'static str,
    pub scrub_edge: &'static str,
    /// Frames of the activity indicator.
    pub turns: [&'static str; 4],
    pub border: border::Set<'static>,
    pub border_focused: border::Set<'static>,
}

/// Glyphs for Unicode terminals.
pub const UNICODE: Glyphs = Glyphs {
    fits: "✓",
    unschedulable: "✗",
    unresolvable: "⊘",
    failed: "‼",
    unseen: "·",
    here: "▸",
    winner: "★",
    stays: "✓",
    falls: "✗",
    arrow: "→",
    crumb: "‹",
    dot: "·",
    more: "›",
    dash: "–",
    ellipsis: "…",
    moved: "»",
    inferred: "~",
    open: "▾",
    closed: "▸",
    bar_used: "▇",
    bar_free: "▁",
    scrub_done: "━",
    scrub_ahead: "─",
    scrub_here: "●",
    scrub_edge: "┃",
    turns: ["◐", "◓", "◑", "◒"],
    border: border::PLAIN,
    border_focused: border::THICK,
};

/// Glyphs for other terminals.
pub const ASCII: Glyphs = Glyphs {
    fits: "+",
    unschedulable: "x",
    unresolvable: "#",
    failed: "!",
    unseen: ".",
    here: ">",
    winner: "*",
    stays: "+",
    falls: "x",
    arrow: ">",
    crumb: "<",
    dot: "|",
    more: ">",
    dash: "-",
    ellipsis: "~",
    moved: "^",
    inferred: "~",
    open: "v",
    closed: ">",
    bar_used: "#",
    bar_free: ".",
    scrub_done: "=",
    scrub_ahead: "-",
    scrub_here: "O",
    scrub_edge: "|",
    turns: ["|", "/", "-", "\\"],
    border: border::Set {
        top_left: "+",
        top_right: "+",
        bottom_left: "+",
        bottom_right: "+",
        vertical_left: "|",
        vertical_right: "|",
        horizontal_top: "-",
        horizontal_bottom: "-",
    },
    border_focused: border::Set {
        top_left: "#",
        top_right: "#",
        bottom_left: "#",
        bottom_right: "#",
        vertical_left: "#",
        vertical_right: "#",
        horizontal_top: "=",
        horizontal_bottom: "=",
    },
};

impl Glyphs {
    /// Returns names of keys with words in place of arrows that the terminal cannot draw.
    pub fn keys(&self, names: &str) -> String {
        if *self == UNICODE {
            return names.to_owned();
        }
        [("↓", "Down"), ("↑", "Up"), ("←", "Left"), ("→", "Right")]
            .iter()
            .fold(names.to_owned(), |names, (sign, word)| names.replace(sign, word))
    }

    /// Returns the glyphs for the terminal and the locale: of `LC_ALL`, then `LC_CTYPE`, then `LANG`. Without any of them, assumes Unicode, as
    /// most containers set none.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        // The Linux console has 256 or 512 glyphs in its font.
        if var("TERM").is_some_and(|term| term == "linux") {
            return ASCII;
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| var(name).filter(|v| !v.is_empty()));
        match locale.map(|l| l.to_ascii_lowercase()) {
            Some(l) if !l.contains("utf-8") && !l.contains("utf8") => ASCII,
            _ => UNICODE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::model::text::width;

    #[test]
    fn signs_take_one_column_and_fallbacks_are_ascii() {
        let all = |g: &Glyphs| {
            [
                g.fits,
                g.unschedulable,
                g.unresolvable,
                g.failed,
                g.unseen,
                g.here,
                g.winner,
                g.stays,
                g.falls,
                g.arrow,
                g.dot,
                g.more,
                g.dash,
                g.ellipsis,
                g.moved,
                g.inferred,
                g.open,
                g.closed,
                g.bar_used,
                g.bar_free,
                g.scrub_done,
                g.scrub_ahead,
                g.scrub_here,
                g.scrub_edge,
            ]
        };
        assert!(all(&UNICODE).iter().all(|s| width(s) == 1), "{:?}", all(&UNICODE).map(width));
        assert!(all(&ASCII).iter().all(|s| s.is_ascii() && s.len() == 1));
    }

    #[test]
    fn the_terminal_and_the_locale_decide() {
        let check = |vars: &[(&str, &str)], expected: Glyphs| {
            assert_eq!(Glyphs::detect(|n| vars.iter().find(|(k, _)| *k == n).map(|(_, v)| (*v).to_owned())), expected, "{vars:?}");
        };
        check(&[], UNICODE);
        check(&[("LANG", "en_GB.UTF-8")], UNICODE);
        check(&[("LANG", "C")], ASCII);
        check(&[("TERM", "linux"), ("LANG", "en_GB.UTF-8")], ASCII);
        check(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")], ASCII);
        check(&[("LC_ALL", ""), ("LANG", "C.utf8")], UNICODE);
    }
}
