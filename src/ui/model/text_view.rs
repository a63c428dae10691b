//! Text that lies over the screen: it scrolls, is filtered, and its lines can lead somewhere.

use std::collections::BTreeMap;

use crate::cluster::{Key, Str};
use crate::session::Timeline;
use crate::ui::config::action::Motion;
use crate::ui::model::fuzzy::Fuzzy;
use crate::ui::model::session_handle::{Document, FixToApply};

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
pub struct TextView {
    /// What it is about.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
    /// How they are to be read.
    pub form: Form,
    /// Where lines lead, by their number.
    pub links: BTreeMap<usize, Target>,
    /// What of it is in sight.
    pub view: Viewport,
}

/// What of a text is in sight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewport {
    /// How far it is scrolled, in lines as they are drawn.
    pub offset: usize,
    /// Only lines that match are shown.
    pub filter: String,
    /// The line that is selected, by its number; the next one that leads somewhere, or after a page whichever is there.
    pub selected: Option<usize>,
}

/// Where a line leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// To the decision about a pod, or to the pod where none is to be taken.
    Pod(Key),
    /// To a node.
    Node(Str),
    /// To a branch, by its number from 0.
    Branch(usize),
    /// To what comes of a fix.
    Fix(FixToApply),
}

impl TextView {
    /// A text without links.
    pub fn new(title: impl Into<String>, lines: Vec<String>, form: Form) -> Self {
        Self { title: title.into(), lines, form, links: BTreeMap::new(), view: Viewport::default() }
    }

    /// A document, in which lines that begin with the name of a pod or node lead there.
    pub fn of(document: Document, timeline: &Timeline) -> Self {
        let mut sheet = Self::new(document.title, document.lines, document.form);
        if !document.fixes.is_empty() {
            sheet.links = document.fixes.into_iter().map(|(at, fix)| (at, Target::Fix(fix))).collect();
            sheet.view.selected = sheet.links.keys().next().copied();
        } else if sheet.form == Form::Prose {
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
        self.view = Viewport { filter, ..Viewport::default() };
        self.view.selected = self.shown().into_iter().find(|at| self.links.contains_key(at)).filter(|_| !self.view.filter.is_empty());
    }
}

impl Viewport {
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
