//! Requests on the start screen.

use tui_input::Input;

use crate::ui::config::action::{Action, Direction, Motion, Mouse};
use crate::ui::model::overlay;
use crate::ui::model::start::{Choice, Row, Start, TOP, Typing};

impl Start {
    /// Applies a request. Returns the user's choice if it makes one.
    pub fn update(&mut self, action: Action) -> Option<Choice> {
        if !matches!(action, Action::Resize(..) | Action::Mouse(Mouse::Release | Mouse::Drag, ..)) {
            self.notice = None;
        }
        if self.helps {
            match action {
                Action::SUSPEND => return Some(Choice::Suspend),
                Action::Resize(width, height) => self.size = (width, height),
                Action::BACK | Action::HELP | Action::OPEN | Action::QUIT => self.helps = false,
                other => self.offset = other.motion().map_or(self.offset, |motion| self.scrolled(motion)),
            }
            if !self.helps {
                self.offset = 0;
                self.settle();
            }
            return None;
        }
        match action {
            Action::QUIT => return Some(Choice::Quit),
            Action::HELP => {
                (self.helps, self.offset) = (true, 0);
                return None;
            }
            Action::SUSPEND => return Some(Choice::Suspend),
            Action::FILTER => self.typing = Some(Typing::Filter(self.filter.clone().into())),
            Action::COMMAND => self.typing = Some(Typing::Path(Input::default())),
            Action::COMPLETE => self.complete(),
            Action::BACK => match self.typing.take() {
                Some(Typing::Path(_)) => {}
                _ => self.set_filter(String::new()),
            },
            Action::SUBMIT => match self.typing.take() {
                Some(Typing::Path(input)) if !input.value().trim().is_empty() => {
                    return Some(Choice::Path(input.value().trim().to_owned()));
                }
                // Enter in the filter opens the selected match.
                Some(Typing::Filter(_)) => return self.chosen(),
                _ => {}
            },
            Action::OPEN => return self.chosen(),
            Action::Resize(width, height) => self.size = (width, height),
            Action::Paste(text) => self.type_in(|input| overlay::paste(input, &text)),
            Action::Mouse(Mouse::Scroll(Direction::Forward), ..) => self.go(Motion::Down),
            Action::Mouse(Mouse::Scroll(Direction::Back), ..) => self.go(Motion::Up),
            Action::Mouse(Mouse::Press, _, y) => return self.press(y),
            other => match (other.edit(), other.motion()) {
                (Some(edit), _) => self.type_in(|input| overlay::edit(input, edit)),
                (None, Some(motion)) => self.go(motion),
                (None, None) => {}
            },
        }
        self.settle();
        None
    }

    fn type_in(&mut self, edit: impl FnOnce(&mut Input)) {
        match &mut self.typing {
            Some(Typing::Path(input)) => edit(input),
            Some(Typing::Filter(input)) => {
                edit(input);
                let text = input.value().to_owned();
                self.set_filter(text);
            }
            None => {}
        }
    }

    /// Completes the path to the longest prefix that all completions share.
    fn complete(&mut self) {
        let Some(Typing::Path(input)) = &mut self.typing else { return };
        let Some(first) = self.completions.first() else { return };
        let shared = self.completions[1..].iter().fold(first.as_str(), |shared, other| {
            let same = shared.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
            &shared[..same.map_or(shared.len().min(other.len()), |((at, _), _)| at)]
        });
        if shared.len() > input.value().len() {
            *input = shared.to_owned().into();
        }
    }

    fn go(&mut self, motion: Motion) {
        let last = self.shown().len().saturating_sub(1);
        self.selected = motion.target(Some(self.selected), last, self.room());
    }

    /// Selects the clicked offer; opens it if it was selected.
    fn press(&mut self, y: u16) -> Option<Choice> {
        let row = usize::from(y.checked_sub(TOP)?);
        if row >= self.room() {
            return None;
        }
        let Some(Row::Offer(_, place)) = self.rows().get(self.offset + row).copied() else { return None };
        if place == self.selected {
            return self.chosen();
        }
        self.selected = place;
        None
    }

    /// Returns the first line of the help after a motion.
    fn scrolled(&self, motion: Motion) -> usize {
        let last = self.help().len().saturating_sub(self.room());
        motion.target(Some(self.offset), last, self.room()).min(last)
    }
}

#[cfg(test)]
mod tests;
