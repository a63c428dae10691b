//! From a text that some kube-scheduler wrote back to the reason.

use super::{ReasonKind, catalogue, template};
use crate::framework::{PluginName, PluginSet};
use crate::release::{Lifetime, Release};

/// What a text says, as far as it can be told from the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReason<'t> {
    /// The kind of reason.
    pub kind: ReasonKind,
    /// The facts in the text, in order.
    pub facts: Vec<&'t str>,
    /// What is particular about the words, where the newest release has others.
    pub note: Option<&'static str>,
    /// The releases that write it so.
    pub releases: Lifetime,
}

impl ReadReason<'_> {
    /// Returns the plugins that are known to write it; `None` where the text names a plugin that is not known.
    pub fn plugins(&self) -> Option<PluginSet> {
        match self.kind {
            ReasonKind::NotAmongNodes | ReasonKind::NoNodeLeftBy | ReasonKind::NoNodeLeftTogether => {
                let names = self.facts.iter().flat_map(|names| names.split_ascii_whitespace());
                names.map(|name| name.parse::<PluginName>().ok()).collect()
            }
            kind => catalogue::entry(kind).and_then(|e| e.plugin).map(|plugin| PluginSet::from_iter([plugin])),
        }
    }

    /// Returns what tells this reason from others of its kind, whatever release wrote it: the facts that every release names.
    pub fn canonical(&self) -> String {
        let newest = catalogue::entry(self.kind).and_then(|e| e.wordings.first()).map_or("", |w| w.template);
        template::fill(newest, &self.facts.iter().map(|f| (*f).into()).collect::<Vec<_>>())
    }
}

/// Returns what a text says; `None` for one that no known release writes. A text may go on behind what is known of it.
pub fn read_reason(text: &str) -> Option<ReadReason<'_>> {
    find(text, Fit::Exact, None).or_else(|| find(text, Fit::Start, None))
}

/// Returns what a text says that a release wrote, or else any other; see [`read_reason`]. A text without facts is not taken
/// for one with facts.
pub fn read_reason_of(text: &str, release: Release) -> Option<ReadReason<'_>> {
    let mut ways = [Fit::Plain, Fit::Exact, Fit::Start].into_iter().flat_map(|fit| [(fit, Some(release)), (fit, None)]);
    ways.find_map(|(fit, release)| find(text, fit, release))
}

/// How a text fits words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The words have no facts in them and are the text.
    Plain,
    /// The words with facts in them are the text.
    Exact,
    /// The text begins so.
    Start,
}

/// Looks for the text among all words, or among those of a release.
fn find(text: &str, fit: Fit, release: Option<Release>) -> Option<ReadReason<'_>> {
    let entries = catalogue::entries().iter().filter(|e| e.kind != ReasonKind::Preemption);
    entries.flat_map(|e| e.wordings.iter().map(move |w| (e.kind, w))).find_map(|(kind, w)| {
        let is_wanted = !w.template.is_empty()
            && release.is_none_or(|release| w.span.contains(release))
            && (fit != Fit::Plain || template::is_plain(w.template));
        let facts = is_wanted.then(|| template::read(w.template, text, fit != Fit::Start)).flatten()?;
        Some(ReadReason { kind, facts, note: w.note, releases: w.span })
    })
}
