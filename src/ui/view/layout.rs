//! The layout: areas of the screen by terminal size and open panes.
//!
//! Drawing and updating share it, so scrolling and the mouse agree with the screen.

use ratatui::layout::{Position, Rect};

use crate::trace::PreemptionView;
use crate::ui::model::pane::Pane;
use crate::ui::model::size::Mode;
use crate::ui::model::state::State;
use crate::ui::model::text;

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

/// The input of the layout besides the size: the panes in sight, and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The main pane, on a screen with one.
    pub main: Pane,
    /// The pane on the right of the queues.
    pub right: Pane,
    /// The pane above preemption.
    pub upper: Pane,
    /// The pane in focus, which gets more room.
    pub focus: Pane,
    /// Whether the pane in focus has the whole screen.
    pub zoomed: bool,
    /// The part of preemption that the cycle under the cursor shows.
    pub preemption: Preemption,
    /// The number of rows in the queues.
    pub queue_rows: usize,
    /// The pane that is shown in place of all others.
    pub whole: Option<Pane>,
    /// Whether a lesson of the tour is shown.
    pub lesson: bool,
    /// The number of rows that the pane above preemption wants; `None` for as many as there are.
    pub upper_rows: Option<usize>,
    /// The number of nodes that preemption tries.
    pub candidates: usize,
    /// Whether anything is recorded.
    pub has_steps: bool,
    /// The number of lines of the message in a pane of the screen's width; 0 without a message.
    pub message: usize,
}

/// The headings within the list of candidates: of the node that is being tried, and of those that are no candidates.
const CANDIDATE_HEADINGS: usize = 2;

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
    /// The number of rows that the list of candidates wants, with its headings.
    pub candidate_rows: u16,
}

impl Plan {
    /// Returns the layout of a state.
    pub fn of(state: &State) -> Self {
        let preemption = match &state.view_model.cycle.whole.preemption {
            None => Preemption::None,
            Some(p) if p.potential_nodes().is_empty() => Preemption::Sentence,
            Some(_) => Preemption::Table,
        };
        let model = &state.view_model;
        let upper_rows = (state.arrangement.upper == Pane::NODES).then_some(model.rows.nodes.len());
        let columns = usize::from(state.size.0.saturating_sub(4));
        let message = match (&model.cycle.whole.failure, &model.cycle.whole.effects.bound) {
            (Some(failure), _) => {
                text::wrapped(&failure.message, columns).take(MOST_LINES).count() + 2 * usize::from(model.cycle.is_reported)
            }
            (None, Some(_)) => 1,
            (None, None) => 0,
        };
        let shape = Shape {
            main: state.arrangement.main,
            right: state.arrangement.right,
            upper: state.arrangement.upper,
            focus: state.focus,
            zoomed: state.arrangement.zoomed,
            preemption,
            queue_rows: model.rows.queues.len(),
            upper_rows,
            candidates: model.cycle.whole.preemption.as_ref().map_or(0, PreemptionView::begun_dry_runs),
            has_steps: !model.cycle.whole_is_empty(),
            message,
            whole: state.arrangement.whole,
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
        let candidate_rows = u16::try_from(shape.candidates.saturating_add(CANDIDATE_HEADINGS)).unwrap_or(u16::MAX);
        let mut plan = Self { header, flat, queue_rows: shape.queue_rows, candidate_rows, ..Self::default() };
        if shape.zoomed {
            let (rest, hints) = split_bottom(rest, 1);
            plan.hints = hints;
            // There is room for a box.
            plan.flat = false;
            plan.panes.push((shape.focus, rest));
            plan.place_scrub();
            return plan;
        }
        let (answer, rest) = split_top(rest, if flat { 3 } else { 2 });
        let (rest, hints) = split_bottom(rest, 1);
        let (rest, lesson) = split_bottom(rest, if shape.lesson { LESSON } else { 0 });
        (plan.answer, plan.lesson, plan.hints) = (answer, lesson, hints);
        if let Some(pane) = shape.whole {
            plan.panes.push((pane, rest));
            return plan;
        }
        let (rest, message) = split_bottom(rest, message_rows(mode, area.height, &shape));
        let (rest, steps) = split_bottom(rest, steps_rows(mode, area.height, &shape));
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
                let (upper, lower) = split_bottom(right, lower_rows(right.height, &shape));
                plan.panes.push((shape.upper, upper));
                if !lower.is_empty() {
                    plan.panes.push((Pane::PREEMPTION, lower));
                }
            }
        }
        plan.panes.extend([(Pane::STEPS, steps), (Pane::MESSAGE, message)]);
        plan.place_scrub();
        plan
    }

    /// Places the scrub bar in the last row of the steps. Steps of one row have none.
    fn place_scrub(&mut self) {
        let inner = self.inner(Pane::STEPS).unwrap_or_default();
        self.scrub = if inner.height > 1 { split_bottom(inner, 1).1 } else { Rect::default() };
    }

    /// Returns whether a pane is so low that it has no border.
    pub fn is_line(&self, pane: Pane) -> bool {
        matches!(pane, Pane::STEPS | Pane::MESSAGE) && self.area(pane).is_some_and(|area| area.height <= 2)
    }

    /// Returns a pane's area with its border; `None` if it is not visible.
    pub fn area(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(p, _)| *p == pane).map(|(_, area)| *area)
    }

    /// Returns a pane's area without its border.
    pub fn inner(&self, pane: Pane) -> Option<Rect> {
        let area = self.area(pane)?;
        Some(match (pane, self.flat) {
            _ if self.is_line(pane) => shrink(area, 1, 0, 1, 0),
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

/// Limit on the lines of the message that are counted.
const MOST_LINES: usize = 8;

/// Returns the rows of the message: one if there is none, and more if it is in focus.
fn message_rows(mode: Mode, height: u16, shape: &Shape) -> u16 {
    let lines = shape.message as u16;
    let focused = shape.focus == Pane::MESSAGE;
    let border = if mode == Mode::Compact { 0 } else { 2 };
    let most = match (mode, height) {
        (Mode::Compact, ..20) if focused => 3,
        (_, ..40) if focused => 6,
        (Mode::TooSmall | Mode::Compact, ..28) => 1,
        _ if focused => MOST_LINES as u16,
        _ => 3,
    };
    if lines == 0 { 1 } else { lines.min(most) + border }
}

/// Returns the rows of the steps with the scrub bar: one if nothing is recorded, and more if they are in focus.
fn steps_rows(mode: Mode, height: u16, shape: &Shape) -> u16 {
    let focused = shape.focus == Pane::STEPS;
    match (mode, height) {
        _ if !shape.has_steps => 1,
        (Mode::Compact, ..20) if focused => 5,
        (Mode::Compact, _) if focused => height / 3,
        (_, _) if focused => (height / 3).max(8),
        // The answer is worth more than the scrub bar.
        (Mode::Compact, ..20) => 1,
        (Mode::Compact, ..28) => 2,
        (Mode::Compact, _) => 5,
        (Mode::Medium, _) => 7,
        (_, h) => {
            if h >= 55 {
                12
            } else {
                9
            }
        }
    }
}

/// Returns the rows of preemption below the pane of the nodes: what it holds if both fit, or else half, and two thirds in
/// focus.
fn lower_rows(height: u16, shape: &Shape) -> u16 {
    /// The border, summary, headings and victims.
    const AROUND: u16 = 13;
    let wanted = match shape.preemption {
        Preemption::None => return 0,
        Preemption::Sentence => return 5,
        Preemption::Table => AROUND.saturating_add(u16::try_from(shape.candidates).unwrap_or(u16::MAX)),
    };
    // The border and the headings of the nodes.
    let above = shape.upper_rows.map_or(height, |rows| u16::try_from(rows + 4).unwrap_or(u16::MAX));
    let share = match shape.focus {
        Pane::PREEMPTION => height * 2 / 3,
        focus if focus == shape.upper => height / 3,
        _ => height / 2,
    };
    let least = 8.min(height / 2);
    wanted.min(share.max(height.saturating_sub(above))).max(least)
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
mod tests;
