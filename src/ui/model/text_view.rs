//! Text in an overlay: it scrolls, can be filtered, and its lines can be links.

use std::collections::BTreeMap;

use crate::analysis::SeenLeaving;
use crate::cluster::neighbors::About;
use crate::cluster::{Key, Str};
use crate::output::{self, Row, RowKind, Span};
use crate::session::Timeline;
use crate::ui::config::action::Motion;
use crate::ui::model::filter::Filter;
use crate::ui::model::session_handle::{FixToApply, LinkedText};

/// Rows from the top within which a link is selected at first: selecting one further down would hide the top.
const NEAR_TOP: usize = 8;

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Headings, words and commands.
    Prose,
    /// An object.
    Yaml,
}

/// A text in an overlay.
#[derive(Clone, Debug, PartialEq)]
pub struct TextView {
    pub title: String,
    /// The text.
    pub body: output::Document,
    pub rows: Vec<Row>,
    pub form: Form,
    /// The links, by row index.
    pub links: BTreeMap<usize, Target>,
    /// The visible part.
    pub view: Viewport,
    pub workload: Option<About>,
    /// The file of the manifest of which it is the answer, if nothing else was changed.
    pub manifest: Option<String>,
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
    Node(Str),
    /// A branch, by its index.
    Branch(usize),
    /// A breakpoint to remove, by its index.
    Breakpoint(usize),
    /// The consequences of a fix.
    Fix(FixToApply),
    /// Who evicted a pod that left its node.
    Leaving(SeenLeaving),
    /// Who evicted a pod, as the source records it.
    Recorded(Key),
}

impl TextView {
    /// Makes a text without links.
    pub fn new(title: impl Into<String>, body: output::Document, form: Form) -> Self {
        let (links, view) = (BTreeMap::new(), Viewport::default());
        Self { title: title.into(), rows: body.rows(), body, form, links, view, workload: None, manifest: None }
    }

    /// Makes a text of a document. Rows link to their fix, or else to the first pod or node that exists at the cursor of a timeline;
    /// without a timeline, all do. The first link is selected if it is near the top, which is in sight.
    pub fn of(document: LinkedText, timeline: Option<&Timeline>) -> Self {
        let exists = |target: &Target| match (target, timeline.map(Timeline::keyframe)) {
            (Target::Pod(key), Some(keyframe)) => keyframe.cluster.pods.get(key).is_some(),
            (Target::Node(node), Some(keyframe)) => keyframe.snapshot.get(node).is_some(),
            _ => true,
        };
        let LinkedText { title, body, form, fixes } = document;
        let target = |span: &Span| match span {
            Span::Pod(key) => Some(Target::Pod(key.clone())),
            Span::Node(node) => Some(Target::Node(node.clone())),
            Span::Fix(index, _) => fixes.get(*index).cloned().map(Target::Fix),
            Span::Text(_) | Span::Remark(_) => None,
        };
        let mut view = Self::new(title, body, form);
        let link = |(at, row): (usize, &Row)| Some((at, row.links.iter().filter_map(target).find(exists)?));
        view.links = view.rows.iter().enumerate().filter_map(link).collect();
        view.view.selected = view.links.keys().next().copied().filter(|at| *at < NEAR_TOP);
        view
    }

    /// Returns the text of a row.
    pub fn line(&self, at: usize) -> &str {
        self.rows.get(at).map_or("", |row| &row.text)
    }

    /// Returns the command in a row; `None` for other rows.
    pub fn command(&self, at: usize) -> Option<&str> {
        match &self.rows.get(at)?.kind {
            RowKind::Code(line) if self.form == Form::Prose => Some(&line.text),
            _ => None,
        }
    }

    /// Returns the indices of the lines that match the filter.
    pub fn shown(&self) -> Vec<usize> {
        let mut filter = Filter::new(&self.view.filter);
        (0..self.rows.len()).filter(|at| filter.keeps_line(&self.rows[*at].text)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Words;

    /// A text opens at its top.
    #[test]
    fn a_link_far_below_the_top_is_not_selected_at_first() {
        for (lines, expected) in [(3, Some(3)), (40, None)] {
            let mut body = output::Document::default();
            (0..lines).for_each(|n: usize| body.item(0, n.to_string()));
            body.item(0, Words::of_pod(&Key::new("shop", "web")));
            let document = LinkedText::prose("", body);
            let view = TextView::of(document, None);
            assert_eq!((view.view.selected, view.links.len()), (expected, 1));
        }
    }
}
