//! From a text that some kube-scheduler wrote back to the reason.

use super::{Entry, ReasonKind, catalogue, template};
use crate::framework::{PluginName, PluginSet};

/// What a text says, as far as it can be told from the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReason<'t> {
    /// The kind of reason.
    pub kind: ReasonKind,
    /// The facts in the text, in order.
    pub facts: Vec<&'t str>,
    /// What is particular about the words, where the newest release has others.
    pub note: Option<&'static str>,
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
    let find = |exact: bool| catalogue::entries().iter().filter(|e| e.kind != ReasonKind::Preemption).find_map(|e| read_as(e, text, exact));
    find(true).or_else(|| find(false))
}

fn read_as<'t>(entry: &Entry, text: &'t str, exact: bool) -> Option<ReadReason<'t>> {
    entry.wordings.iter().filter(|w| !w.template.is_empty()).find_map(|w| {
        let facts = template::read(w.template, text, exact)?;
        Some(ReadReason { kind: entry.kind, facts, note: w.note })
    })
}
