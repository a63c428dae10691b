//! Reads a text that some kube-scheduler wrote back into a reason.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::catalogue::Wording;
use super::{ReasonKind, catalogue, template};
use crate::framework::{PluginName, PluginSet};
use crate::release::{Lifetime, Release};

/// A reason as far as its text contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReason<'t> {
    pub kind: ReasonKind,
    /// The facts in the text, in order.
    pub facts: Vec<&'t str>,
    /// How the text differs from that of the newest release, as a verb phrase; `None` for the newest text.
    pub note: Option<&'static str>,
    /// The releases that write this text.
    pub releases: Lifetime,
}

impl ReadReason<'_> {
    /// Returns the plugins known to write it; `None` if the text names an unknown plugin.
    pub fn plugins(&self) -> Option<PluginSet> {
        match self.kind {
            ReasonKind::NotAmongNodes | ReasonKind::NoNodeLeftBy | ReasonKind::NoNodeLeftTogether => {
                let names = self.facts.iter().flat_map(|names| names.split_ascii_whitespace());
                names.map(|name| name.parse::<PluginName>().ok()).collect()
            }
            kind => catalogue::entry(kind).and_then(|e| e.plugin).map(|plugin| PluginSet::from_iter([plugin])),
        }
    }

    /// Returns the reason in the newest release's words, with the facts that every release names; equal for the same
    /// reason in texts of different releases.
    pub fn canonical(&self) -> String {
        let newest = catalogue::entry(self.kind).and_then(|e| e.wordings.first()).map_or("", |w| w.template);
        template::fill(newest, &self.facts.iter().map(|f| (*f).into()).collect::<Vec<_>>())
    }
}

/// Reads a text; `None` if no known release writes it. The text may continue after the known part.
pub fn read_reason(text: &str) -> Option<ReadReason<'_>> {
    let wordings = WORDINGS.starting(text);
    [Fit::Exact, Fit::Start].into_iter().find_map(|fit| wordings.iter().find_map(|row| read(text, row, fit)))
}

/// Reads a text of a release, or else of any other; see [`read_reason`]. Templates without facts are tried first.
pub fn read_reason_of(text: &str, release: Release) -> Option<ReadReason<'_>> {
    ReadReasons::of(text).written_by(release).cloned()
}

/// The reasons as which releases read a text; each is written by some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReasons<'t>(Vec<ReadReason<'t>>);

impl<'t> ReadReasons<'t> {
    /// Reads a text as each release would; see [`read_reason_of`].
    pub fn of(text: &'t str) -> Self {
        let wordings = WORDINGS.starting(text);
        let ways = [Fit::Plain, Fit::Exact, Fit::Start].into_iter();
        let mut found = ways.map(|fit| wordings.iter().filter_map(|row| read(text, row, fit)).collect::<Vec<_>>());
        Self(found.find(|found| !found.is_empty()).unwrap_or_default())
    }

    /// Returns the reason that a release reads, or else that of any other.
    pub fn written_by(&self, release: Release) -> Option<&ReadReason<'t>> {
        self.0.iter().find(|read| read.releases.contains(release)).or(self.0.first())
    }
}

/// How a text must match a template.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The template has no facts and equals the text.
    Plain,
    /// The filled template equals the text.
    Exact,
    /// The filled template is a prefix of the text.
    Start,
}

/// A wording, with the kind of its reason.
type Row = (ReasonKind, &'static Wording);

/// Reads a text in a wording; `None` if it does not fit.
fn read<'t>(text: &'t str, (kind, wording): &Row, fit: Fit) -> Option<ReadReason<'t>> {
    let facts = match fit {
        Fit::Plain => (wording.template == text && template::is_plain(text)).then(Vec::new)?,
        Fit::Exact | Fit::Start => template::read(wording.template, text, fit == Fit::Exact)?,
    };
    Some(ReadReason { kind: *kind, facts, note: wording.note, releases: wording.span })
}

static WORDINGS: LazyLock<Wordings> = LazyLock::new(Wordings::new);

/// The wordings of the table by the literal text with which they start, so that few of them are compared with a text.
struct Wordings {
    /// In the order of the table.
    rows: Vec<Row>,
    /// In the order of their texts.
    starts: Vec<Start>,
}

/// The wordings that start with the same literal text.
struct Start {
    literal: &'static str,
    /// Places in the rows, ascending.
    rows: Vec<usize>,
    /// The place of the longest other literal text that this one starts with.
    shorter: Option<usize>,
}

impl Wordings {
    fn new() -> Self {
        let entries = catalogue::entries().iter().filter(|e| e.kind != ReasonKind::Preemption);
        let rows: Vec<_> =
            entries.flat_map(|e| e.wordings.iter().map(move |w| (e.kind, w))).filter(|(_, w)| !w.template.is_empty()).collect();
        let mut by_literal: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, (_, wording)) in rows.iter().enumerate() {
            by_literal.entry(template::first_literal(wording.template)).or_default().push(at);
        }
        let mut starts: Vec<Start> = Vec::with_capacity(by_literal.len());
        for (literal, rows) in by_literal {
            let shorter = longest(&starts, literal);
            starts.push(Start { literal, rows, shorter });
        }
        Self { rows, starts }
    }

    /// Returns the wordings whose first literal text starts a text, in the order of the table.
    fn starting(&self, text: &str) -> Vec<Row> {
        let before = self.starts.partition_point(|start| start.literal <= text);
        let longest = longest(&self.starts[..before], text);
        let starts = std::iter::successors(longest, |at| self.starts[*at].shorter);
        let mut rows: Vec<usize> = starts.flat_map(|at| self.starts[at].rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.into_iter().map(|at| self.rows[at]).collect()
    }
}

/// Returns the place of the longest literal text that a text starts with, among those that sort before it. Every such one starts the
/// last of them, so it is that or shorter than it.
fn longest(sorted: &[Start], text: &str) -> Option<usize> {
    let last = sorted.len().checked_sub(1);
    std::iter::successors(last, |at| sorted[*at].shorter).find(|at| text.starts_with(sorted[*at].literal))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The law of the lookup: it leaves out only wordings that cannot match.
    #[test]
    fn the_wordings_of_a_text_are_all_that_it_starts_with() {
        let rows = &WORDINGS.rows;
        assert!(rows.len() > 100 && rows.iter().any(|(_, w)| template::first_literal(w.template).is_empty()));
        let texts = rows.iter().flat_map(|(_, w)| {
            let text = template::fill(w.template, &[]);
            [format!("{text}, and more"), text.trim_end().to_owned(), text.chars().take(9).collect(), format!("node(s) {text}"), text]
        });
        for text in texts.chain([String::new(), "é".to_owned(), "~".to_owned(), "node(s) h".to_owned()]) {
            let found: Vec<_> = WORDINGS.starting(&text).iter().map(|(_, w)| std::ptr::from_ref(*w)).collect();
            let starting = rows.iter().filter(|(_, w)| text.starts_with(template::first_literal(w.template)));
            assert_eq!(found, starting.map(|(_, w)| std::ptr::from_ref(*w)).collect::<Vec<_>>(), "{text}");
        }
    }
}
