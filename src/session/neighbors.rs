//! Saves and loads what a source holds beside the objects of scheduling: workloads, quotas, and the events of others.
//!
//! The head of a file counts them. Each object and each event is a value of its own, behind the objects of scheduling.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::file::{LineProblem, SessionFileError};
use super::values::Values;
use crate::cluster::MissingReason;
use crate::cluster::neighbors::{Neighbor, NeighborKind, Neighbors, OtherEvent};

/// The part of the head that is about them. Kinds and reasons are their names.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NeighborsHead {
    objects: usize,
    events: usize,
    /// Kinds of which all objects are known.
    listed: Vec<String>,
    /// Kinds that are not known, or only in part, and why.
    withheld: Vec<(String, String)>,
    events_withheld: Option<String>,
}

impl NeighborsHead {
    pub(super) fn of(neighbors: &Neighbors) -> Self {
        Self {
            objects: neighbors.count(),
            events: neighbors.events.len(),
            listed: neighbors.listed().map(|kind| kind.to_string()).collect(),
            withheld: neighbors.withheld().map(|(kind, why)| (kind.to_string(), why.to_string())).collect(),
            events_withheld: neighbors.events_withheld.map(|why| why.to_string()),
        }
    }

    /// Passes each value to `line`.
    pub(super) fn write(neighbors: &Neighbors, mut line: impl FnMut(Value<'_>) -> io::Result<()>) -> io::Result<()> {
        for object in neighbors.objects() {
            line(Value::Object(object))?;
        }
        neighbors.events.iter().try_for_each(|event| line(Value::Event(event)))
    }

    /// Reads the values that the head counts.
    ///
    /// # Errors
    /// When a value cannot be read, or the head names a kind or a reason that does not exist.
    pub(super) fn read(&self, lines: &mut Values<impl Read>) -> Result<Neighbors, SessionFileError> {
        let in_head = || SessionFileError::Line { line: 1, problem: LineProblem::Incomplete };
        let kind = |name: &String| name.parse::<NeighborKind>().map_err(|_| in_head());
        let reason = |name: &String| name.parse::<MissingReason>().map_err(|_| in_head());
        let mut neighbors = Neighbors::default();
        for _ in 0..self.objects {
            neighbors.insert(lines.next::<Neighbor>()?);
        }
        for _ in 0..self.events {
            neighbors.events.push(lines.next::<OtherEvent>()?);
        }
        for name in &self.listed {
            neighbors.add_listed(kind(name)?);
        }
        for (name, why) in &self.withheld {
            neighbors.withhold(kind(name)?, reason(why)?);
        }
        neighbors.events_withheld = self.events_withheld.as_ref().map(reason).transpose()?;
        Ok(neighbors)
    }
}

/// A value of a file.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Value<'a> {
    Object(&'a Neighbor),
    Event(&'a OtherEvent),
}
