//! Text in an overlay: it scrolls, can be filtered, and its lines can be links.

use std::collections::BTreeMap;

use crate::cluster::{Key, Str};
use crate::session::Timeline;
use crate::ui::config::action::Motion;
use crate::ui::model::filter::Filter;
use crate::ui::model::session_handle::{Document, FixToApply};

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines that end in a colon and are not indented are headings.
    Prose,
    /// An object.
    Yaml,
}

/// A text in an overlay.
#[derive(Clone, Debug, PartialEq)]
pub struct TextView {
    /// Its title.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
    /// Its form.
    pub form: Form,
    /// The links, by line index.
    pub links: BTreeMap<usize, Target>,
    /// The visible part.
    pub view: Viewport,
}

/// The visible part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewport {
    /// The scroll position, in drawn rows.
    pub offset: usize,
    /// The filter of lines.
    pub filter: String,
    /// The index of the selected line: a link, or any line after paging.
    pub selected: Option<usize>,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The decision about a pod, or the pod if it does not wait.
    Pod(Key),
    /// A node.
    Node(Str),
    /// A branch, by its index.
    Branch(usize),
    /// A breakpoint to remove, by its index.
    Breakpoint(usize),
    /// The consequences of a fix.
    Fix(FixToApply),
}

impl TextView {
    /// Makes a text without links.
    pub fn new(title: impl Into<String>, lines: Vec<String>, form: Form) -> Self {
        Self { title: title.into(), lines, form, links: BTreeMap::new(), view: Viewport::default() }
    }

    /// Makes a text of a document. Lines that begin with the name of a pod or node link to it.
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

    /// Returns the indices of the lines that match the filter.
    pub fn shown(&self) -> Vec<usize> {
        let mut filter = Filter::new(&self.view.filter);
        (0..self.lines.len()).filter(|at| filter.keeps_line(&self.lines[*at])).collect()
    }

    /// Sets the filter and selects the first matching link; an empty filter selects nothing.
    pub fn set_filter(&mut self, filter: String) {
        self.view = Viewport { filter, ..Viewport::default() };
        self.view.selected = self.shown().into_iter().find(|at| self.links.contains_key(at)).filter(|_| !self.view.filter.is_empty());
    }
}

impl Viewport {
    /// Scrolls a text of `lines` rows, `page` of them in sight. Starts from the last row that drawing can show.
    pub fn scroll(&mut self, motion: Motion, page: usize, lines: usize) {
        self.offset = self.offset.min(lines.saturating_sub(page));
        scroll_lines(&mut self.offset, motion, page);
    }
}

/// Scrolls lines without a selection.
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

/// Returns the pod or node among the first words of a line.
fn target(line: &str, timeline: &Timeline) -> Option<Target> {
    let keyframe = timeline.keyframe();
    let words = line.split_whitespace().map(|w| w.trim_matches([':', ',', ';', '.'])).take(3);
    words.filter(|w| w.len() > 1).find_map(|word| match word.split_once('/') {
        Some((namespace, name)) => {
            let key = Key::new(namespace, name);
            keyframe.cluster.pods.get(&key).map(|_| Target::Pod(key))
        }
        None => keyframe.snapshot.get(word).map(|node| Target::Node(node.name().clone())),
    })
}
