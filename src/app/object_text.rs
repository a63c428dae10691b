//! Reads the original text of objects, and writes the cluster to a file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::error::{ObjectError, SourceTextError, WriteError};
use super::ticket::Reproduction;
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Cluster, Key, Kind, Object, ObservedEvent};
use crate::fixes::{Acts, Background, Originals};
use crate::output;
use crate::session::{ObjectChange, Session};
use crate::source::capture::{Capture, Vocabulary};
use crate::source::live::Live;
use crate::source::{self, Report, VersionPlace};
use crate::ui::{Form, LinkedText};

/// Returns the lines of an object's text.
fn verbatim(yaml: &str) -> output::Document {
    let mut body = output::Document::default();
    body.code(0, yaml.lines().map(str::to_owned));
    body
}

/// Sources of objects' texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// Reports of the loaded sources, the newest last.
    pub(super) reports: Vec<Arc<Report>>,
    /// Kinds whose objects are unknown.
    pub(super) unknown: BTreeSet<Kind>,
    /// The live cluster, if the source is one.
    pub(super) live: Option<Arc<Live>>,
    /// The arguments that name the source; `None` if it cannot be read again.
    pub(super) reproduction: Option<Reproduction>,
}

/// Search for an object's text, with clones of everything it needs.
pub(super) struct Finding {
    sources: Sources,
    here: Cluster,
    start: Cluster,
    neighbors: Arc<Neighbors>,
    acts: Acts,
}

/// Returns the changes that the user made up to the cursor.
fn acts(session: &Session) -> Acts {
    let mut acts = Acts::default();
    for revision in session.own_changes() {
        let words = revision.action.what_if().map_or_else(|| revision.title.clone(), |verb| verb.to_string());
        let before = &revision.before.cluster;
        for change in revision.action.objects() {
            match change {
                ObjectChange::Put(Object::Node(node)) => acts.record(before.nodes.named(node.name()).map(|node| &**node), node, &words),
                ObjectChange::Put(_) => {}
                ObjectChange::Deleted(object) => acts.record_deletion(object.kind(), &object.key(), &words),
            }
        }
    }
    acts
}

impl Finding {
    pub(super) fn new(session: &Session, sources: &Sources) -> Self {
        let here = session.scheduler_here().state().cluster().clone();
        let start = session.scheduler_as_seen().state().cluster().clone();
        Self { sources: sources.clone(), here, start, neighbors: session.background().neighbors.clone(), acts: acts(session) }
    }

    /// Returns what a search for fixes reads beside the cluster. `originals` is [`Self::original`].
    pub(super) fn background<'a>(&'a self, originals: Originals<'a>) -> Background<'a> {
        Background { neighbors: &self.neighbors, originals, acts: &self.acts }
    }

    /// Returns an object as YAML: its original if a source has it, else the model's fields.
    pub(super) fn object(&self, kind: Kind, key: &Key) -> Result<LinkedText, ObjectError> {
        let (here, start) = (self.here.get(kind, key), self.start.get(kind, key));
        let known = here.as_ref().or(start.as_ref());
        let document = |place: &str, yaml: &str| LinkedText {
            title: format!("{kind} {key}: {place}"),
            body: verbatim(yaml),
            form: Form::Yaml,
            fixes: Vec::new(),
        };
        match self.read(kind, key, start.is_some()) {
            Some(Ok((place, yaml))) => {
                let changed = match (&start, &here) {
                    (Some(_), None) => "# It does not exist at the cursor.\n",
                    (Some(start), Some(here)) if start != here => "# It has changed at the cursor; this is the text as read.\n",
                    _ => "",
                };
                Ok(document(&place, &format!("{changed}{yaml}")))
            }
            other => {
                let object = known.ok_or_else(|| ObjectError::NotFound { kind, key: key.clone() })?;
                let why = other.and_then(Result::err).map_or_else(String::new, |e| format!("# {e}\n"));
                let yaml = serde_yaml::to_string::<Object>(object)?;
                Ok(document("as schedscope holds it", &format!("{why}# Only the fields that affect scheduling are kept.\n{yaml}")))
            }
        }
    }

    /// Returns an object's original with all fields; `None` where the object has changed since, or its source can be
    /// read only once.
    pub(super) fn original(&self, kind: Kind, key: &Key) -> Option<serde_json::Value> {
        let start = self.start.get(kind, key);
        if start.is_none() || start != self.here.get(kind, key) {
            return None;
        }
        let (_, yaml) = self.read(kind, key, true)?.ok()?;
        serde_yaml::from_str(&yaml).ok()
    }

    /// Returns the place and text of the original, from the live cluster or the newest source that has it.
    fn read(&self, kind: Kind, key: &Key, seen: bool) -> Option<Result<(String, String), SourceTextError>> {
        if let Some(live) = self.sources.live.as_ref().filter(|_| seen) {
            let found = live.original(kind, key).map_err(SourceTextError::from);
            return Some(found.map(|yaml| ("as the cluster has it now".to_owned(), yaml)));
        }
        let report = self.sources.reports.iter().rev().find(|r| r.origin(kind, key).is_some())?;
        let (file, line) = report.file_and_line(kind, key)?;
        let place = format!("{file}, line {line}");
        Some(match report.original(kind, key) {
            Ok(Some(text)) => match source::as_yaml(&text, kind, key) {
                Some(yaml) => Ok((place, yaml)),
                None => Err(SourceTextError::Gone { place, kind, key: key.clone() }),
            },
            Ok(None) => Err(SourceTextError::ReadOnce { place }),
            Err(error) => Err(SourceTextError::Io { place, error }),
        })
    }
}

/// Writes a cluster to a new file, or to standard output if `path` is `-`. `version` is the cluster's, and objects of
/// `unknown` kinds are missing. Returns a sentence about the result.
pub fn capture(
    cluster: &Cluster,
    (events, neighbors): (&[ObservedEvent], &Neighbors),
    version: Option<&str>,
    unknown: &BTreeSet<Kind>,
    path: &str,
    redact: bool,
) -> Result<String, WriteError> {
    let words = redact.then(|| Vocabulary::of(crate::framework::reason_texts()));
    let capture = Capture { cluster, events, neighbors: Some(neighbors), version, unknown, redact: words.as_ref() };
    let how = if redact { ", with names and texts replaced" } else { "" };
    if path == "-" {
        let written = output::print_with(|out| capture.write(out)).map_err(|error| WriteError::create("standard output", error))?;
        return Ok(match written {
            Some(count) => format!("{count} objects and events written to standard output{how}"),
            None => "standard output was closed before everything was written".to_owned(),
        });
    }
    let count = capture.save(Path::new(path)).map_err(|error| WriteError::create(path, error))?;
    Ok(format!("{count} objects and events written to {path}{how}; schedscope open {path} reads it"))
}

/// Returns the version of the cluster that a source states; a kubelet's version does not count.
pub fn known_version(report: &Report) -> Option<String> {
    let found = report.server_version.as_ref().filter(|found| found.found_in != VersionPlace::Kubelets)?;
    Some(found.version.clone())
}

/// Returns the kinds whose objects a source does not have.
pub fn unknown_kinds(report: &Report) -> BTreeSet<Kind> {
    report.absent.iter().map(|absence| absence.kind).chain(report.gated_unknown().iter()).collect()
}
