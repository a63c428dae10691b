//! The arrangements of the screen by terminal size.

/// An arrangement of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// The terminal is too small.
    TooSmall,
    /// One main pane, with tabs.
    Compact,
    /// The queues on the left, one other pane on the right.
    Medium,
    /// All panes at once.
    Wide,
}

impl Mode {
    /// Returns the mode for a number of columns and rows.
    pub fn of(width: u16, height: u16) -> Self {
        match (width, height) {
            (..60, _) | (_, ..16) => Self::TooSmall,
            (..100, _) | (_, ..30) => Self::Compact,
            (..160, _) | (_, ..40) => Self::Medium,
            _ => Self::Wide,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_their_modes() {
        for ((w, h), mode) in [
            ((59, 40), Mode::TooSmall),
            ((200, 15), Mode::TooSmall),
            ((60, 16), Mode::Compact),
            ((80, 24), Mode::Compact),
            ((200, 24), Mode::Compact),
            ((120, 40), Mode::Medium),
            ((200, 35), Mode::Medium),
            ((160, 40), Mode::Wide),
            ((200, 60), Mode::Wide),
        ] {
            assert_eq!(Mode::of(w, h), mode, "{w}x{h}");
        }
    }
}
