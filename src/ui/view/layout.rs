//! The layout: areas of the screen by terminal size and open panes.
//!
//! Drawing and updating share it, so scrolling and the mouse agree with the screen.

use ratatui::layout::{Position, Rect};

use crate::ui::model::pane::Pane;
use crate::ui::model::size::Mode;
use crate::ui::model::state::State;

/// The part of preemption that a cycle shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preemption {
    /// Preemption was not tried.
    #[default]
    None,
    /// A sentence that rules it out.
    Sentence,
    /// The dry runs.
    Table,
}

/// The input of the layout besides the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The main pane, on a screen with one.
    pub main: Pane,
    /// The pane on the right of the queues.
    pub right: Pane,
    /// The pane above preemption.
    pub upper: Pane,
    /// The part of preemption that the cycle under the cursor shows.
    pub preemption: Preemption,
    /// The number of rows in the queues.
    pub queue_rows: usize,
    /// The pane that is shown in place of all others.
    pub whole: Option<Pane>,
    /// Whether a lesson of the tour is shown.
    pub lesson: bool,
}

/// The rows of a lesson of the tour.
const LESSON: u16 = 3;

/// The areas of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The first line.
    pub header: Rect,
    /// The answer in a sentence.
    pub answer: Rect,
    /// The line of tabs.
    pub tabs: Option<Rect>,
    /// The visible panes, with their borders.
    pub panes: Vec<(Pane, Rect)>,
    /// The scrub bar.
    pub scrub: Rect,
    /// The lesson of the tour; empty outside of it.
    pub lesson: Rect,
    /// The last line.
    pub hints: Rect,
    /// Whether steps and message have no box.
    pub flat: bool,
    /// The number of rows in the queues.
    pub queue_rows: usize,
}

impl Plan {
    /// Returns the layout of a state.
    pub fn of(state: &State) -> Self {
        let preemption = match &state.view_model.whole.preemption {
            None => Preemption::None,
            Some(p) if p.potential_nodes().is_empty() => Preemption::Sentence,
            Some(_) => Preemption::Table,
        };
        let queue_rows = state.view_model.queues.len();
        let shape = Shape {
            main: state.main,
            right: state.right,
            upper: state.upper,
            preemption,
            queue_rows,
            whole: state.whole,
            lesson: state.lesson.is_some(),
        };
        Self::new(Rect::new(0, 0, state.size.0, state.size.1), shape)
    }

    /// Returns the layout of a screen.
    pub fn new(area: Rect, shape: Shape) -> Self {
        let mode = Mode::of(area.width, area.height);
        if mode == Mode::TooSmall {
            return Self::default();
        }
        let flat = mode == Mode::Compact;
        let (header, rest) = split_top(area, 1);
        let (answer, rest) = split_top(rest, if flat && area.height >= 24 { 3 } else { 2 });
        let (rest, hints) = split_bottom(rest, 1);
        let (rest, lesson) = split_bottom(rest, if shape.lesson { LESSON } else { 0 });
        if let Some(pane) = shape.whole {
            return Self {
                header,
                answer,
                lesson,
                hints,
                flat,
                queue_rows: shape.queue_rows,
                panes: vec![(pane, rest)],
                ..Self::default()
            };
        }
        let (message, steps) = match (mode, area.height) {
            (Mode::Compact, ..20) => (1, 3),
            (Mode::Compact, ..28) => (2, 5),
            (Mode::Compact, _) => (3, 7),
            (Mode::Medium, _) => (5, 8),
            (_, h) => (5, if h >= 55 { 12 } else { 9 }),
        };
        let (rest, message) = split_bottom(rest, message);
        let (rest, steps) = split_bottom(rest, steps);
        let mut plan = Self { header, answer, lesson, hints, flat, queue_rows: shape.queue_rows, ..Self::default() };
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
                plan.panes.extend([(Pane::QUEUES, left), (shape.right, body)]);
            }
            Mode::Wide => {
                let (left, right) = split_left(rest, (area.width / 4).clamp(42, 60));
                plan.panes.push((Pane::QUEUES, left));
                let lower = match shape.preemption {
                    Preemption::None => 0,
                    Preemption::Sentence => 5,
                    Preemption::Table => right.height - right.height / 2,
                };
                let (upper, lower) = split_bottom(right, lower);
                plan.panes.push((shape.upper, upper));
                if !lower.is_empty() {
                    plan.panes.push((Pane::PREEMPTION, lower));
                }
            }
        }
        plan.panes.extend([(Pane::STEPS, steps), (Pane::MESSAGE, message)]);
        let inner = plan.inner(Pane::STEPS).unwrap_or_default();
        plan.scrub = split_bottom(inner, 1).1;
        plan
    }

    /// Returns a pane's area with its border; `None` if it is not visible.
    pub fn area(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(p, _)| *p == pane).map(|(_, area)| *area)
    }

    /// Returns a pane's area without its border.
    pub fn inner(&self, pane: Pane) -> Option<Rect> {
        let area = self.area(pane)?;
        Some(match (pane, self.flat) {
            (Pane::MESSAGE, true) => shrink(area, 1, 0, 1, 0),
            (Pane::STEPS, true) => shrink(area, 1, 1, 1, 0),
            _ => shrink(area, 1, 1, 1, 1),
        })
    }

    /// Returns the pane at a place.
    pub fn pane_at(&self, x: u16, y: u16) -> Option<Pane> {
        self.panes.iter().find(|(_, area)| area.contains(Position::new(x, y))).map(|(pane, _)| *pane)
    }
}

/// Splits off the first `rows` rows.
pub fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Splits off the last `rows` rows; returns the rest first.
pub fn split_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    split_top(area, area.height - rows)
}

/// Splits off the first `columns` columns.
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
    use super::*;
    use crate::ui::view::panes::PANES;

    const SHAPE: Shape = Shape {
        main: Pane::NODES,
        right: Pane::NODES,
        upper: Pane::NODES,
        preemption: Preemption::Table,
        queue_rows: 1000,
        whole: None,
        lesson: false,
    };

    #[test]
    fn areas_cover_the_screen_without_overlap_at_every_size() {
        for width in (60..=220).step_by(7) {
            for height in 16..=70 {
                let preemptions = [Preemption::None, Preemption::Sentence, Preemption::Table].map(|preemption| (preemption, None, false));
                let others = [(Preemption::Table, Some(Pane::OVERVIEW), false), (Preemption::Table, None, true)];
                for (preemption, whole, lesson) in preemptions.into_iter().chain(others) {
                    let area = Rect::new(0, 0, width, height);
                    let plan = Plan::new(area, Shape { preemption, whole, lesson, ..SHAPE });
                    let mut all: Vec<Rect> = plan.panes.iter().map(|(_, a)| *a).collect();
                    all.extend([plan.header, plan.answer, plan.hints, plan.lesson]);
                    all.extend(plan.tabs);
                    let covered: u32 = all.iter().map(|a| a.area()).sum();
                    assert_eq!(covered, area.area(), "{width}x{height}: {plan:?}");
                    for (i, a) in all.iter().enumerate() {
                        assert_eq!(a.intersection(area), *a);
                        assert!(all[i + 1..].iter().all(|b| a.intersection(*b).is_empty()), "{width}x{height}: {plan:?}");
                    }
                    for pane in PANES.iter().map(|def| def.id).filter(|p| plan.area(*p).is_some()) {
                        assert!(
                            !crate::ui::view::panes::def(pane).list_in(&plan).is_empty(),
                            "{width}x{height} has no room in {pane}: {plan:?}"
                        );
                    }
                }
            }
        }
    }
}
