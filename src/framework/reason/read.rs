//! Reads a text that some kube-scheduler wrote back into a reason.

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
    find(text, Fit::Exact, None).or_else(|| find(text, Fit::Start, None))
}

/// Reads a text of a release, or else of any other; see [`read_reason`]. Templates without facts are tried first.
pub fn read_reason_of(text: &str, release: Release) -> Option<ReadReason<'_>> {
    let mut ways = [Fit::Plain, Fit::Exact, Fit::Start].into_iter().flat_map(|fit| [(fit, Some(release)), (fit, None)]);
    ways.find_map(|(fit, release)| find(text, fit, release))
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

/// Searches the templates of a release, or all of them.
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
