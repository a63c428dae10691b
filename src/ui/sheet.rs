//! Text that lies over the screen: it scrolls, is filtered, and its lines can lead somewhere.

use std::collections::BTreeMap;

use crate::cluster::{Key, Str};
use crate::session::Timeline;
use crate::ui::action::Motion;
use crate::ui::driver::{Document, Driver};
use crate::ui::fuzzy::Fuzzy;
use crate::ui::open::show_pod;
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
    /// The line that is selected, by its number; only lines that lead somewhere are.
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

    /// Moves the selection where lines lead somewhere, and scrolls where none does.
    pub fn go(&mut self, motion: Motion, page: usize) {
        let links: Vec<usize> = self.shown().into_iter().filter(|at| self.links.contains_key(at)).collect();
        if links.is_empty() {
            return self.view.scroll(motion, page);
        }
        let last = links.len() - 1;
        let at = self.view.selected.and_then(|selected| links.iter().position(|at| *at == selected));
        let next = motion.target(at, last, page);
        self.view.selected = Some(links[next]);
    }
}

impl View {
    /// Drawing stops at the last line; here it is enough not to run away.
    pub fn scroll(&mut self, motion: Motion, page: usize) {
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
            sheet.go(motion, 10);
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
    fn a_filter_leaves_lines_and_selects_the_first_that_leads_somewhere() {
        let mut sheet = sheet();
        sheet.set_filter("diff".to_owned());
        assert_eq!((sheet.shown(), sheet.view.selected), (vec![3], Some(3)));
        sheet.set_filter("noth".to_owned());
        assert_eq!((sheet.shown(), sheet.view.selected), (vec![2], None));
        sheet.go(Motion::Down, 10);
        assert_eq!(sheet.view.offset, 1, "without links it scrolls");
        sheet.set_filter(String::new());
        assert_eq!((sheet.shown().len(), sheet.view.selected), (4, None));
    }
}
