//! Writes a cluster as a dump that [`load()`](super::load()) reads, with names and texts as they are or redacted.
//!
//! A dump has a typed list per kind, one after another, and then the version of the cluster. A kind known to have no
//! objects has an empty list. A kind that was refused has an API server's refusal in its place. An unknown kind has
//! neither and stays unknown. A kind that was read in part has both. Only what the model holds is written: no environment variables, no commands, no
//! annotations but those that kube-scheduler reads.

mod redact;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize as _;
use serde_json::{Serializer, Value, json};
use strum::IntoEnumIterator;

use super::decode::refusals;
use crate::cluster::{Cluster, Kind, MissingReason, Object, ObservedEvent};
use crate::output::{Json, write_new};
use redact::Redactor;
pub use redact::Vocabulary;

/// The content of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// The objects.
    pub cluster: &'a Cluster,
    /// Events of schedulers about pods.
    pub events: &'a [ObservedEvent],
    /// The version of the cluster as in `/version`, such as `v1.36.2`; `None` if unknown.
    pub version: Option<&'a str>,
    /// Kinds that are not fully known. The dump marks those without objects.
    pub unknown: &'a BTreeSet<Kind>,
    /// If set, names, namespaces, labels, taints, images, node names and texts are replaced, each by the same
    /// replacement everywhere, such that decisions do not change. Kept are: Kubernetes' own labels (but not custom node
    /// roles and node restrictions), resources, drivers, schedulers, amounts and times; kube-scheduler's messages, with
    /// the names in them replaced; values that are compared as numbers; expressions, and the values of devices that they
    /// select by; kinds of devices.
    ///
    /// Words of this vocabulary are kept in messages. `None` replaces nothing.
    pub redact: Option<&'a Vocabulary>,
}

impl Capture<'_> {
    /// Writes the dump. Returns the number of objects and events in it.
    ///
    /// # Errors
    /// Returns the error of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<usize> {
        let redactor = self.redact.map(|words| self.redactor(words));
        let mut count = 0;
        for kind in Kind::iter() {
            write_refusal(&mut out, kind, self.cluster.unknown.why(kind))?;
            if self.cluster.count(kind) == 0 && self.unknown.contains(&kind) {
                continue;
            }
            let objects = self.cluster.objects_of(kind).into_iter().map(|object| value(&object));
            count += write_list(&mut out, &kind.to_string(), &kind.api_version(), objects, redactor.as_ref())?;
        }
        let events = self.events.iter().enumerate().map(|(number, event)| event_value(number, event));
        count += write_list(&mut out, "Event", "v1", events, redactor.as_ref())?;
        if let Some(version) = self.version {
            // In the form of `kubectl version -o json`.
            writeln!(out, "{}", json!({"serverVersion": {"gitVersion": version}}))?;
        }
        out.flush()?;
        Ok(count)
    }

    /// Writes the dump into a new file, compressed if its name ends in `.gz`.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<usize> {
        let gz = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        write_new(path, |file| {
            let mut file = BufWriter::new(file);
            if !gz {
                return self.write(&mut file);
            }
            let mut encoder = GzEncoder::new(&mut file, Compression::default());
            let count = self.write(&mut encoder)?;
            encoder.finish()?.flush()?;
            Ok(count)
        })
    }

    /// Returns the originals of a redacted dump by their replacements, for reading other texts about it.
    pub fn replacements(&self) -> BTreeMap<String, String> {
        self.redact.map(|words| self.redactor(words).replacements()).unwrap_or_default()
    }

    /// Collects all texts first, so that replacements sort like the originals.
    fn redactor<'w>(&self, words: &'w Vocabulary) -> Redactor<'w> {
        let mut redactor = Redactor::new(words);
        for object in self.cluster.objects() {
            redactor.collect(&mut value(&object));
        }
        for (number, event) in self.events.iter().enumerate() {
            redactor.collect(&mut event_value(number, event));
        }
        redactor.finish();
        redactor
    }
}

/// Returns an object as an item of a typed list, which has no kind.
fn value(object: &Object) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("kind");
    }
    value
}

fn event_value(number: usize, event: &ObservedEvent) -> Value {
    let ObservedEvent { pod, uid, reason, note, controller, count, first, last } = event;
    json!({
        "metadata": {"name": format!("{}.{number:x}", pod.name), "namespace": pod.namespace},
        "involvedObject": {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": uid},
        "reason": reason,
        "message": note,
        "count": count,
        "firstTimestamp": first.map(|time| time.to_string()).unwrap_or_default(),
        "lastTimestamp": last.map(|time| time.to_string()).unwrap_or_default(),
        "reportingComponent": controller,
    })
}

/// Writes an API server's refusal, so that a kind that could not be listed, or not whole, stays unknown.
fn write_refusal(out: &mut impl Write, kind: Kind, why: Option<MissingReason>) -> io::Result<()> {
    let (reason, code, message) = match why {
        Some(MissingReason::Refused) => ("Forbidden", 403, "may not be read"),
        Some(MissingReason::Failed) => ("InternalError", 500, "could not be read"),
        Some(MissingReason::Incomplete) => (refusals::INCOMPLETE, 500, "may be missing in part"),
        Some(MissingReason::Partial) => (refusals::SOME_NAMESPACES, 403, "were read in some namespaces only"),
        Some(MissingReason::Selected) => (refusals::SOME_OBJECTS, 403, "were taken in part only"),
        Some(MissingReason::NotInSource) | None => return Ok(()),
    };
    let resource = kind.plural().to_lowercase();
    let status = json!({"apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
        "message": format!("{resource} {message}"), "details": {"group": kind.group(), "kind": resource}});
    // The kind comes first, as in lists: readers need not look further.
    writeln!(out, "{{\"kind\":\"Status\",{}", &status.to_string()[1..])
}

fn write_list(
    out: &mut impl Write,
    kind: &str,
    api_version: &str,
    items: impl Iterator<Item = Value>,
    redactor: Option<&Redactor<'_>>,
) -> io::Result<usize> {
    write!(out, "{{\"kind\":\"{kind}List\",\"apiVersion\":\"{api_version}\",\"items\":[")?;
    let mut count = 0;
    for mut item in items {
        if let Some(redactor) = redactor {
            redactor.apply(kind, &mut item);
        }
        out.write_all(if count == 0 { b"\n" } else { b",\n" })?;
        item.serialize(&mut Serializer::with_formatter(&mut *out, Json::default()))?;
        count += 1;
    }
    out.write_all(b"]}\n")?;
    Ok(count)
}
