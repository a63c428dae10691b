//! Writes a cluster as a dump that [`load()`](super::load()) reads, with names and texts as they are or redacted.
//!
//! A dump has a typed list per kind, one after another, and then the version of the cluster. A kind known to have no
//! objects has an empty list. A kind that was refused has an API server's refusal in its place. An unknown kind has
//! neither and stays unknown. A kind that was read in part has both. Workloads, quotas and the events of others follow, each once. Only what the model holds is written: no environment variables, no commands, no
//! annotations but those that kube-scheduler reads.

mod redact;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize as _;
use serde_json::{Serializer, Value, json};
use strum::IntoEnumIterator;

use super::decode::refusals;
use crate::cluster::neighbors::{Neighbor, NeighborKind, Neighbors, OtherEvent};
use crate::cluster::{Cluster, Kind, MissingReason, Object, ObservedEvent, Str};
use crate::output::{Json, write_new};
pub(in crate::source) use redact::Redactor;
pub use redact::Vocabulary;

/// The bytes that are compressed at once. The encoder clears a buffer of 32 KB for each write, so small writes are expensive.
const COMPRESSED_AT_ONCE: usize = 256 << 10;

/// Returns a writer that compresses; its inner encoder must be finished.
pub(in crate::source) fn gzip<W: Write>(out: W) -> BufWriter<GzEncoder<W>> {
    BufWriter::with_capacity(COMPRESSED_AT_ONCE, GzEncoder::new(out, Compression::default()))
}

/// The content of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// The objects.
    pub cluster: &'a Cluster,
    /// Events of schedulers about pods.
    pub events: &'a [ObservedEvent],
    /// Workloads, quotas and the like, and the events of others; `None` writes none.
    pub neighbors: Option<&'a Neighbors>,
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
            let objects = self.cluster.objects_of(kind).into_iter().map(|object| self.value(&object));
            count += write_list(&mut out, &kind.to_string(), kind.api_version(), objects, redactor.as_ref())?;
        }
        count += self.write_neighbors(&mut out, redactor.as_ref())?;
        count += write_list(&mut out, "Event", "v1", self.all_events(), redactor.as_ref())?;
        if let Some(version) = self.version {
            // In the form of `kubectl version -o json`.
            let version = json!({"serverVersion": {"gitVersion": version}});
            version.serialize(&mut Serializer::with_formatter(&mut out, Json::default()))?;
            out.write_all(b"\n")?;
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
            let mut encoder = gzip(&mut file);
            let count = self.write(&mut encoder)?;
            encoder.into_inner()?.finish()?.flush()?;
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
            redactor.collect(object.kind().into(), &mut self.value(&object));
        }
        for neighbor in self.neighbors.into_iter().flat_map(Neighbors::objects).filter(|neighbor| !neighbor.kind.is_in_model()) {
            redactor.collect(neighbor.kind.into(), &mut neighbor_value(neighbor));
        }
        for mut event in self.all_events() {
            redactor.collect("Event", &mut event);
        }
        redactor.finish();
        redactor
    }

    /// Returns an object as an item of a typed list, with its state as a workload.
    fn value(&self, object: &Object) -> Value {
        let mut value = value(object);
        let neighbor = self.neighbors.and_then(|neighbors| neighbors.get(NeighborKind::of_model(object.kind())?, &object.key()));
        if let Some(neighbor) = neighbor {
            complete(&mut value, neighbor_value(neighbor));
        }
        value
    }

    /// Writes the objects that scheduling does not read, by kind and API, and the refusals of those that are not known.
    fn write_neighbors(&self, out: &mut impl Write, redactor: Option<&Redactor<'_>>) -> io::Result<usize> {
        let Some(neighbors) = self.neighbors else { return Ok(0) };
        let mut count = 0;
        for kind in NeighborKind::iter().filter(|kind| !kind.is_in_model()) {
            let group = kind.groups()[0];
            if let Some(why) = neighbors.why(kind) {
                write_status(out, group, kind.resource(), why)?;
            }
            let mut by_version: BTreeMap<Str, Vec<&Neighbor>> = BTreeMap::new();
            for object in neighbors.of_kind(kind) {
                by_version.entry(object.api_version.clone()).or_default().push(object);
            }
            if by_version.is_empty() && neighbors.knows(kind) {
                by_version.entry(if group.is_empty() { "v1".into() } else { format!("{group}/v1").into() }).or_default();
            }
            for (api_version, objects) in by_version {
                let objects = objects.into_iter().map(neighbor_value);
                count += write_list(out, &kind.to_string(), &api_version, objects, redactor)?;
            }
        }
        if let Some(why) = neighbors.events_withheld {
            write_status(out, "", "events", why)?;
        }
        Ok(count)
    }

    /// Returns all events as items of a typed list: those of schedulers, then those of others that are not among them.
    fn all_events(&self) -> impl Iterator<Item = Value> {
        let others = self.neighbors.map_or(&[][..], |neighbors| &neighbors.events);
        let same =
            |event: &OtherEvent| (event.about.key.clone(), event.reason.clone(), event.text.clone(), event.speaker.clone(), event.last);
        let mut by_event: HashMap<_, &OtherEvent> =
            others.iter().filter(|event| event.about.kind == "Pod").map(|event| (same(event), event)).collect();
        let mut values = Vec::new();
        for event in self.events {
            let mut value = event_value(values.len(), event);
            let key = (event.pod.clone(), event.reason.as_str().into(), event.note.clone(), event.controller.as_str().into(), event.last);
            if let Some(other) = by_event.remove(&key) {
                value["type"] = other.kind.as_str().into();
            }
            values.push(value);
        }
        let rest = others.iter().filter(|event| event.about.kind != "Pod" || by_event.contains_key(&same(event)));
        let from = values.len();
        values.extend(rest.enumerate().map(|(number, event)| other_event_value(from + number, event)));
        values.into_iter()
    }
}

/// Returns an object that scheduling does not read as an item of a typed list.
pub(in crate::source) fn neighbor_value(neighbor: &Neighbor) -> Value {
    let mut value = serde_json::to_value(neighbor).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    value
}

/// Adds the fields that an object lacks.
pub(in crate::source) fn complete(value: &mut Value, more: Value) {
    match (value, more) {
        (Value::Object(fields), Value::Object(more)) => {
            for (name, field) in more {
                match fields.get_mut(&name) {
                    Some(known) => complete(known, field),
                    None => drop(fields.insert(name, field)),
                }
            }
        }
        (value @ Value::Null, more) => *value = more,
        _ => {}
    }
}

pub(in crate::source) fn other_event_value(number: usize, event: &OtherEvent) -> Value {
    let OtherEvent { about, uid, speaker, kind, reason, text, count, first, last } = event;
    let namespace = if about.key.namespace.is_empty() { "default" } else { about.key.namespace.as_str() };
    json!({
        "metadata": {"name": format!("{}.{number:x}", about.key.name), "namespace": namespace},
        "involvedObject": {"kind": about.kind, "namespace": about.key.namespace, "name": about.key.name, "uid": uid},
        "type": kind,
        "reason": reason,
        "message": text,
        "count": count,
        "firstTimestamp": first.map(|time| time.to_string()).unwrap_or_default(),
        "lastTimestamp": last.map(|time| time.to_string()).unwrap_or_default(),
        "reportingComponent": speaker,
    })
}

/// Returns an object as an item of a typed list, which has no kind.
pub(in crate::source) fn value(object: &Object) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("kind");
    }
    value
}

pub(in crate::source) fn event_value(number: usize, event: &ObservedEvent) -> Value {
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
pub(in crate::source) fn write_refusal(out: &mut impl Write, kind: Kind, why: Option<MissingReason>) -> io::Result<()> {
    let Some(why) = why else { return Ok(()) };
    write_status(out, kind.group(), kind.resource(), why)
}

pub(in crate::source) fn write_status(out: &mut impl Write, group: &str, resource: &str, why: MissingReason) -> io::Result<()> {
    let (reason, code, message) = match why {
        MissingReason::Refused => ("Forbidden", 403, "may not be read"),
        MissingReason::Failed => ("InternalError", 500, "could not be read"),
        MissingReason::Incomplete => (refusals::INCOMPLETE, 500, "may be missing in part"),
        MissingReason::Partial => (refusals::SOME_NAMESPACES, 403, "were read in some namespaces only"),
        MissingReason::Selected => (refusals::SOME_OBJECTS, 403, "were taken in part only"),
        MissingReason::NotInSource => return Ok(()),
    };
    let status = json!({"apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
        "message": format!("{resource} {message}"), "details": {"group": group, "kind": resource}});
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
