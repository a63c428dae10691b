//! Where everything goes, by the size of the terminal alone and what is open.
//!
//! Both drawing and updating ask here, so that scrolling and the mouse agree with what is on the screen.

use ratatui::layout::{Position, Rect};

use crate::ui::action::Pane;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing useful fits.
    TooSmall,
    /// One main pane with tabs.
    Compact,
    /// Queues on the left, one of the others on the right.
    Medium,
    /// Everything at once.
    Wide,
}

impl Mode {
    /// The mode of a terminal of this size.
    pub fn of(width: u16, height: u16) -> Self {
        match (width, height) {
            (..60, _) | (_, ..16) => Self::TooSmall,
            (..100, _) | (_, ..30) => Self::Compact,
            (..160, _) | (_, ..40) => Self::Medium,
            _ => Self::Wide,
        }
    }
}

/// How much a cycle has to show of preemption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preemption {
    /// It is not looked into.
    #[default]
    None,
    /// It is ruled out in a sentence.
    Sentence,
    /// Nodes are dry-run.
    Table,
}

/// What the arrangement depends on besides the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The main pane where there is one.
    pub main: Pane,
    /// The pane beside the queues.
    pub right: Pane,
    /// Nodes or one node, where preemption is shown below.
    pub upper: Pane,
    /// What the cycle under the cursor has to show of preemption.
    pub preemption: Preemption,
    /// Rows that the queues have to list.
    pub queue_rows: usize,
}

/// Areas on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The first line.
    pub header: Rect,
    /// The answer in a sentence.
    pub answer: Rect,
    /// The line of tabs.
    pub tabs: Option<Rect>,
    /// The panes that are shown, with their borders.
    pub panes: Vec<(Pane, Rect)>,
    /// The scrub bar.
    pub scrub: Rect,
    /// The last line.
    pub hints: Rect,
    /// Whether steps and message do without a box.
    pub flat: bool,
    /// Rows that the queues have to list.
    pub queue_rows: usize,
}

impl Plan {
    /// Arranges a screen.
    pub fn new(area: Rect, shape: Shape) -> Self {
        let mode = Mode::of(area.width, area.height);
        if mode == Mode::TooSmall {
            return Self::default();
        }
        let flat = mode == Mode::Compact;
        let (header, rest) = split_top(area, 1);
        let (answer, rest) = split_top(rest, if flat && area.height >= 24 { 3 } else { 2 });
        let (rest, hints) = split_bottom(rest, 1);
        let (message, steps) = match (mode, area.height) {
            (Mode::Compact, ..20) => (1, 3),
            (Mode::Compact, ..28) => (2, 5),
            (Mode::Compact, _) => (3, 7),
            (Mode::Medium, _) => (5, 8),
            (_, h) => (5, if h >= 55 { 12 } else { 9 }),
        };
        let (rest, message) = split_bottom(rest, message);
        let (rest, steps) = split_bottom(rest, steps);
        let mut plan = Self { header, answer, hints, flat, queue_rows: shape.queue_rows, ..Self::default() };
        match mode {
            Mode::TooSmall => {}
            Mode::Compact => {
                let (tabs, body) = split_top(rest, 1);
                plan.tabs = Some(tabs);
                plan.panes.push((shape.main, body));
            }
            Mode::Medium => {
                let (left, right) = split_left(rest, (area.width / 3).clamp(34, 46));
                let (tabs, body) = split_top(right, 1);
                plan.tabs = Some(tabs);
                plan.panes.extend([(Pane::Queues, left), (shape.right, body)]);
            }
            Mode::Wide => {
                let (left, right) = split_left(rest, (area.width / 4).clamp(42, 60));
                plan.panes.push((Pane::Queues, left));
                let lower = match shape.preemption {
                    Preemption::None => 0,
                    Preemption::Sentence => 5,
                    Preemption::Table => right.height - right.height / 2,
                };
                let (upper, lower) = split_bottom(right, lower);
                plan.panes.push((shape.upper, upper));
                if !lower.is_empty() {
                    plan.panes.push((Pane::Preemption, lower));
                }
            }
        }
        plan.panes.extend([(Pane::Steps, steps), (Pane::Message, message)]);
        let inner = plan.inner(Pane::Steps).unwrap_or_default();
        plan.scrub = split_bottom(inner, 1).1;
        plan
    }

    /// A pane's area with its border; `None` when it is not shown.
    pub fn area(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(p, _)| *p == pane).map(|(_, area)| *area)
    }

    /// A pane's area without its border.
    pub fn inner(&self, pane: Pane) -> Option<Rect> {
        let area = self.area(pane)?;
        Some(match (pane, self.flat) {
            (Pane::Message, true) => shrink(area, 1, 0, 1, 0),
            (Pane::Steps, true) => shrink(area, 1, 1, 1, 0),
            _ => shrink(area, 1, 1, 1, 1),
        })
    }

    /// The part of a pane that holds its list.
    pub fn list(&self, pane: Pane) -> Rect {
        let Some(inner) = self.inner(pane) else { return Rect::default() };
        match pane {
            Pane::Nodes => split_top(inner, 1).1,
            Pane::Preemption => split_top(split_bottom(inner, victim_rows(inner.height)).0, 2).1,
            Pane::Steps => split_bottom(inner, 1).0,
            Pane::Queues => split_bottom(inner, queue_note_rows(inner.height, self.queue_rows)).0,
            Pane::NodeDetail | Pane::Message | Pane::PodDetail | Pane::Candidate | Pane::Budgets => inner,
        }
    }

    /// The pane at a place on the screen.
    pub fn pane_at(&self, x: u16, y: u16) -> Option<Pane> {
        self.panes.iter().find(|(_, area)| area.contains(Position::new(x, y))).map(|(pane, _)| *pane)
    }
}

/// Rows kept for the victims of the selected candidate in a preemption pane of this height.
pub fn victim_rows(height: u16) -> u16 {
    if height < 8 { 0 } else { (height * 2 / 5).clamp(4, 9) }
}

/// Rows kept for what is known of the selected pod in a queues pane of this height: more of them where the list of so
/// many rows leaves room.
pub fn queue_note_rows(height: u16, listed: usize) -> u16 {
    let spare = height.saturating_sub(u16::try_from(listed).unwrap_or(u16::MAX)).min(height * 2 / 3);
    let least = match height {
        ..7 => 0,
        7..10 => 3,
        10..14 => 4,
        14..20 => 6,
        20..30 => height * 2 / 5,
        _ => (height * 2 / 5).clamp(14, 20),
    };
    if least == 0 { 0 } else { least.max(spare) }
}

/// The first `rows` rows, and the rest.
pub fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// All but the last `rows` rows, and those.
pub fn split_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    split_top(area, area.height - rows)
}

/// The first `columns` columns, and the rest.
pub fn split_left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    (Rect { width: columns, ..area }, Rect { x: area.x + columns, width: area.width - columns, ..area })
}

fn shrink(area: Rect, left: u16, top: u16, right: u16, bottom: u16) -> Rect {
    Rect {
        x: area.x + left.min(area.width),
        y: area.y + top.min(area.height),
        width: area.width.saturating_sub(left + right),
        height: area.height.saturating_sub(top + bottom),
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;

    const SHAPE: Shape =
        Shape { main: Pane::Nodes, right: Pane::Nodes, upper: Pane::Nodes, preemption: Preemption::Table, queue_rows: 1000 };

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

    #[test]
    fn areas_cover_the_screen_without_overlap_at_every_size() {
        for width in (60..=220).step_by(7) {
            for height in 16..=70 {
                for preemption in [Preemption::None, Preemption::Sentence, Preemption::Table] {
                    let area = Rect::new(0, 0, width, height);
                    let plan = Plan::new(area, Shape { preemption, ..SHAPE });
                    let mut all: Vec<Rect> = plan.panes.iter().map(|(_, a)| *a).collect();
                    all.extend([plan.header, plan.answer, plan.hints]);
                    all.extend(plan.tabs);
                    let covered: u32 = all.iter().map(|a| a.area()).sum();
                    assert_eq!(covered, area.area(), "{width}x{height}: {plan:?}");
                    for (i, a) in all.iter().enumerate() {
                        assert_eq!(a.intersection(area), *a);
                        assert!(all[i + 1..].iter().all(|b| a.intersection(*b).is_empty()), "{width}x{height}: {plan:?}");
                    }
                    for pane in Pane::iter().filter(|p| plan.area(*p).is_some()) {
                        assert!(!plan.list(pane).is_empty(), "{width}x{height} has no room in {pane}: {plan:?}");
                    }
                }
            }
        }
    }
}
