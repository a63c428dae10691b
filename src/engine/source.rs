//! The parts of its input that an engine keeps besides the cluster.

use std::sync::Arc;

use serde_json::Value;

use crate::admission::Policies;
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Key, Kind, ObservedEvent};
use crate::output::escape;
use crate::plural::{and_more, count};
use crate::source::{self, Diagnostic, Report, Severity};

/// Events, warnings, and the objects with all their fields.
#[derive(Debug)]
pub(super) struct Source {
    report: Report,
    events: Vec<ObservedEvent>,
    diagnostics: Vec<Diagnostic>,
    policies: Policies,
    neighbors: Arc<Neighbors>,
}

impl Source {
    pub(super) fn new(loaded: source::Loaded) -> Self {
        Self {
            policies: Policies::of(&loaded.neighbors),
            report: loaded.report,
            events: loaded.events,
            diagnostics: loaded.diagnostics,
            neighbors: loaded.neighbors,
        }
    }

    pub(super) fn events(&self) -> &[ObservedEvent] {
        &self.events
    }

    /// Returns the objects and events that explain a workload beside what scheduling reads.
    pub(super) fn neighbors(&self) -> &Arc<Neighbors> {
        &self.neighbors
    }

    pub(super) fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Returns an object with the fields that scheduling does not read.
    pub(super) fn original(&self, kind: Kind, key: &Key) -> Option<Value> {
        let text = self.report.original(kind, key).ok().flatten()?;
        source::as_json(&text, kind, key)
    }

    pub(super) fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        let found = self.diagnostics.iter().filter(|found| found.severity != Severity::Error);
        let others = &self.report.other_kinds;
        let unread = others.iter().next().map(|(first, _)| {
            let objects = count(others.values().sum(), "object");
            format!("{objects} of kinds that scheduling does not read: {first}{}", and_more(others.len()))
        });
        found.map(ToString::to_string).chain(unread).map(|text| escape(&text).into_owned())
    }
}
