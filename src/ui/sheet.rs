//! Text that lies over the screen: it scrolls, is filtered, and its lines can lead somewhere.

use std::collections::BTreeMap;

use crate::cluster::{Key, Str};
use crate::session::Timeline;
use crate::ui::action::Motion;
use crate::ui::driver::{Document, Driver};
use crate::ui::fuzzy::Fuzzy;
use crate::ui::open::show_pod;
use crate::ui::overlays::{self, report};
use crate::ui::state::State;
use crate::ui::update::moved;

/// How text that lies over the screen is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines that end in a colon and are not indented are headings.
    Prose,
    /// An object.
    Yaml,
}

/// Some text to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What it is about.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
    /// How they are to be read.
    pub form: Form,
    /// Where lines lead, by their number.
    pub links: BTreeMap<usize, Target>,
    /// What of it is in sight.
    pub view: View,
}

/// What of a text is in sight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// How far it is scrolled, in lines as they are drawn.
    pub offset: usize,
    /// Only lines that match are shown.
    pub filter: String,
    /// The line that is selected, by its number; the next one that leads somewhere, or after a page whichever is there.
    pub selected: Option<usize>,
}

/// Where a line leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To the decision about a pod, or to the pod where none is to be taken.
    Pod(Key),
    /// To a node.
    Node(Str),
    /// To a branch, by its number from 0.
    Branch(usize),
}

impl Sheet {
    /// A text without links.
    pub fn new(title: impl Into<String>, lines: Vec<String>, form: Form) -> Self {
        Self { title: title.into(), lines, form, links: BTreeMap::new(), view: View::default() }
    }

    /// A document, in which lines that begin with the name of a pod or node lead there.
    pub fn of(document: Document, timeline: &Timeline) -> Self {
        let mut sheet = Self::new(document.title, document.lines, document.form);
        if sheet.form == Form::Prose {
            let target = |line: &String| target(line, timeline);
            sheet.links = sheet.lines.iter().enumerate().filter_map(|(at, line)| Some((at, target(line)?))).collect();
            sheet.view.selected = sheet.links.keys().next().copied();
        }
        sheet
    }

    /// The numbers of the lines that the filter leaves.
    pub fn shown(&self) -> Vec<usize> {
        let mut fuzzy = Fuzzy::new(&self.view.filter);
        (0..self.lines.len()).filter(|at| fuzzy.is_empty() || fuzzy.keeps(&self.lines[*at])).collect()
    }

    /// Sets the filter; what is selected goes on only where it is still shown.
    pub fn set_filter(&mut self, filter: String) {
        self.view = View { filter, ..View::default() };
        self.view.selected = self.shown().into_iter().find(|at| self.links.contains_key(at)).filter(|_| !self.view.filter.is_empty());
    }

    /// Moves from one line that leads somewhere to the next, and by pages through all lines, so that what stands between
    /// and behind such lines is seen as well; scrolls where no line leads anywhere.
    pub fn go(&mut self, motion: Motion, size: (u16, u16)) {
        let links: Vec<usize> = self.shown().into_iter().filter(|at| self.links.contains_key(at)).collect();
        let rows = report::rows(self, size);
        let room = overlays::room(size.1);
        let (Some(first), Some(last)) = (links.first(), links.last()) else {
            return self.view.scroll(motion, room, rows.len());
        };
        let selected = self.view.selected;
        let row = |line: usize| rows.iter().position(|at| *at == line).unwrap_or(0);
        // The ends of the text; a line that leads somewhere where that keeps them in sight.
        let (end, half) = (rows.len().saturating_sub(1), room / 2);
        let top = if row(*first) < half { *first } else { rows[0] };
        let bottom = if row(*last) + half > end { *last } else { rows[end] };
        // What is selected stands in the middle, but for the first and the last rows. A page keeps some rows in sight.
        let middle = selected.map_or(half, row).min((end + 1).saturating_sub(half)).max(half);
        let page = room.saturating_sub(3).max(1);
        let up = |by: usize| middle.checked_sub(by).filter(|to| *to >= half).map_or(top, |to| rows[to.min(end)]);
        let down = |by: usize| if middle + by + half > end { bottom } else { rows[middle + by] };
        self.view.selected = Some(match motion {
            Motion::Up => links.iter().rfind(|at| Some(**at) < selected).copied().or(selected).unwrap_or(*first),
            Motion::Down => links.iter().find(|at| Some(**at) > selected).copied().or(selected).unwrap_or(*last),
            Motion::HalfPageUp => up(page.div_ceil(2)),
            Motion::HalfPageDown => down(page.div_ceil(2)),
            Motion::PageUp => up(page),
            Motion::PageDown => down(page),
            Motion::Top => top,
            Motion::Bottom => bottom,
        });
    }
}

impl View {
    /// Scrolls so many lines, of which a page is in sight. Drawing stops at the last line, and so it goes on from there.
    pub fn scroll(&mut self, motion: Motion, page: usize, lines: usize) {
        self.offset = self.offset.min(lines.saturating_sub(page));
        scroll_lines(&mut self.offset, motion, page);
    }
}

/// Scrolls lines that are not selected.
pub fn scroll_lines(offset: &mut usize, motion: Motion, page: usize) {
    let page = page.max(2) - 1;
    *offset = match motion {
        Motion::Up => offset.saturating_sub(1),
        Motion::Down => *offset + 1,
        Motion::HalfPageUp | Motion::PageUp => offset.saturating_sub(page),
        Motion::HalfPageDown | Motion::PageDown => *offset + page,
        Motion::Top => 0,
        Motion::Bottom => 10_000,
    }
    .min(10_000);
}

/// The pod or node that a line begins with, behind what may mark it.
fn target(line: &str, timeline: &Timeline) -> Option<Target> {
    let moment = timeline.moment();
    let words = line.split_whitespace().map(|w| w.trim_matches([':', ',', ';', '.'])).take(3);
    words.filter(|w| w.len() > 1).find_map(|word| match word.split_once('/') {
        Some((namespace, name)) => {
            let key = Key::new(namespace, name);
            moment.cluster.pods.get(&key).map(|_| Target::Pod(key))
        }
        None => moment.snapshot.get(word).map(|node| Target::Node(node.name().clone())),
    })
}

/// Goes where a line leads.
pub(super) fn follow(state: &mut State, driver: &mut dyn Driver, target: Target) {
    match target {
        Target::Pod(pod) => {
            if !show_pod(state, driver, &pod) {
                state.open_pod(pod);
            }
        }
        Target::Node(node) => state.open_node(node),
        Target::Branch(branch) => {
            moved(state, driver, |d| {
                d.switch_branch(branch);
            });
            state.touch();
            let (branches, current) = driver.branches();
            if let Some(branch) = branches.get(current) {
                state.say(format!("this is {}", branch.name()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let lines = ["pods:", "  shop/a  same", "  nothing", "  shop/b  different"].map(str::to_owned).to_vec();
        let mut sheet = Sheet::new("t", lines, Form::Prose);
        sheet.links = [(1, Target::Pod(Key::new("shop", "a"))), (3, Target::Pod(Key::new("shop", "b")))].into();
        sheet
    }

    #[test]
    fn the_selection_goes_from_link_to_link() {
        let mut sheet = sheet();
        let mut go = |motion| {
            sheet.go(motion, (80, 24));
            sheet.view.selected
        };
        assert_eq!(go(Motion::Down), Some(1));
        assert_eq!(go(Motion::Down), Some(3));
        assert_eq!(go(Motion::Down), Some(3));
        assert_eq!(go(Motion::Up), Some(1));
        assert_eq!(go(Motion::Bottom), Some(3));
        assert_eq!(go(Motion::PageUp), Some(1));
    }

    #[test]
    fn pages_go_through_all_lines_and_to_the_end_of_what_leads_nowhere() {
        let mut sheet = sheet();
        sheet.lines.extend((0..96).map(|n| format!("  line {n}")));
        let (size, room) = ((80, 24), 20);
        // The first lines that are in sight: what is selected stands in the middle.
        let mut tops = vec![0];
        for _ in 0..10 {
            sheet.go(Motion::PageDown, size);
            tops.extend(sheet.view.selected.map(|at| at.saturating_sub(room / 2).min(100 - room)));
        }
        assert!(tops.windows(2).all(|w| w[1] - w[0] < room), "no line is left out: {tops:?}");
        assert_eq!((tops.last(), sheet.view.selected), (Some(&80), Some(99)));
        for _ in 0..10 {
            sheet.go(Motion::PageUp, size);
        }
        assert_eq!(sheet.view.selected, Some(1), "the first that leads somewhere is in sight from the top");
        sheet.go(Motion::Bottom, size);
        sheet.go(Motion::Up, size);
        assert_eq!(sheet.view.selected, Some(3));
    }

    #[test]
    fn what_leads_nowhere_is_left_from_its_end_at_once() {
        let mut sheet = Sheet::new("t", (0..100).map(|n| n.to_string()).collect(), Form::Prose);
        sheet.go(Motion::Bottom, (80, 24));
        sheet.go(Motion::Up, (80, 24));
        assert_eq!(sheet.view.offset, 79);
    }

    #[test]
    fn a_filter_leaves_lines_and_selects_the_first_that_leads_somewhere() {
        let mut sheet = sheet();
        sheet.set_filter("diff".to_owned());
        assert_eq!((sheet.shown(), sheet.view.selected), (vec![3], Some(3)));
        sheet.set_filter("noth".to_owned());
        assert_eq!((sheet.shown(), sheet.view.selected), (vec![2], None));
        sheet.go(Motion::Down, (80, 24));
        assert_eq!(sheet.view.offset, 1, "without links it scrolls");
        sheet.set_filter(String::new());
        assert_eq!((sheet.shown().len(), sheet.view.selected), (4, None));
    }
}
