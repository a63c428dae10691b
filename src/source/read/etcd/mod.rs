//! Reads etcd: a snapshot (`etcdctl snapshot save`, and the backups of k3s, kubeadm and OpenShift), or a member's file `db`.
//!
//! [`Objects`] is the newest state of all objects as a stream of JSON, or that of a revision of [`History`]: the text that
//! `kubectl get -o json` would have written in that moment, so that everything that reads dumps reads it too. Objects come in the order of their keys.
//!
//! | module | does |
//! | --- | --- |
//! | `bolt` | reads the pages of the database |
//! | `wire` | reads the wire format of protocol buffers |
//! | `envelope` | reads the envelope of an object |
//! | `revisions` | finds the values of each key |
//! | `clock` | tells the times of revisions from the objects |
//! | `history` | the state at each revision since the last compaction, and the changes |
//! | `keys` | tells from keys which are Kubernetes' objects, and of which resource |
//! | `schema` | the messages of Kubernetes' kinds |
//! | `json` | writes a stored object as JSON |
//!
//! Values of Secrets and ConfigMaps are left out by their keys and never decoded. A snapshot ends with a SHA-256 of all
//! before it. If that does not match, or a page cannot be used, the objects that can be read are given, and then an error.

mod bolt;
mod clock;
mod envelope;
mod history;
mod json;
mod keys;
mod revisions;
mod schema;
mod wire;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use strum::IntoEnumIterator;

use bolt::{Bolt, Error};
use envelope::Envelope;
pub(in crate::source) use history::{History, HistoryChange, HistoryStep, HistorySteps, HistoryText, is_at};
use json::Head;
use keys::{Keys, Stored, Where};
use revisions::Place;
use schema::{Schema, schema};

use crate::cluster::{Kind, KindSet};
use crate::plural::count_of;
use crate::source::read::made::{MadeText, WriteParts};

/// The first bytes of a value in protocol buffers.
const PROTOBUF: &[u8] = b"k8s\0";
/// The first bytes of an encrypted value, before the name of its provider.
const ENCRYPTED: &[u8] = b"k8s:enc:";
/// The first bytes of a value in CBOR.
const CBOR: &[u8] = &[0xd9, 0xd9, 0xf7];
const SECRET: &str = "Secret";
const CONFIG_MAP: &str = "ConfigMap";
/// The reason of a refusal of a kind that is there in part, as `decode::refusals` reads it.
const INCOMPLETE: &str = "Incomplete";

/// The fault of a snapshot that is not as it was written.
const DIGEST_DIFFERS: &str = "the SHA-256 at its end does not match";
/// Bytes of the digest at the end of a snapshot.
const DIGEST: u64 = 32;
/// The size that a database is a multiple of; what is beyond it is a snapshot's digest.
const BLOCK: u64 = 512;

/// Bytes at the start of a file that show whether it is etcd's database.
pub(super) const HEAD: usize = bolt::HEAD;

/// Returns whether bytes begin a database of etcd.
pub(super) fn is_database(head: &[u8]) -> bool {
    bolt::is_database(head)
}

/// Returns whether an error says that a database is damaged, though it is not cut.
pub(in crate::source) fn is_damage(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Damage>)
}

/// The faults of a database: the first, and the number of others.
#[derive(Debug)]
struct Damage {
    first: String,
    more: usize,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first)?;
        if self.more > 0 { write!(f, ", and {} more", self.more) } else { Ok(()) }
    }
}

impl std::error::Error for Damage {}

/// The faults found so far.
#[derive(Clone, Debug, Default)]
struct Flaws {
    first: Option<String>,
    count: usize,
}

impl Flaws {
    fn add(&mut self, flaw: impl fmt::Display) {
        self.count += 1;
        self.first.get_or_insert_with(|| flaw.to_string());
    }

    fn error(&mut self) -> Option<io::Error> {
        let first = self.first.take()?;
        Some(io::Error::other(Damage { first, more: self.count - 1 }))
    }
}

/// The objects of a database, as JSON.
pub(super) struct Objects<R> {
    state: State<R>,
    flaws: Flaws,
}

enum State<R> {
    New(R),
    /// The walk through the values of a revision, before its start.
    Begun(Box<Walk<R>>, u64),
    Open(Box<Walk<R>>),
    End,
}

/// Reads values by their places, which are in any order: of a page, no more than the value and the page's beginning.
struct Values<R> {
    bolt: Bolt<R>,
    /// The page in `first`; 0 for none.
    page: u64,
    first: Vec<u8>,
    bytes: Vec<u8>,
}

impl<R: Read + Seek> Values<R> {
    fn new(bolt: Bolt<R>) -> Self {
        Self { bolt, page: 0, first: Vec::new(), bytes: Vec::new() }
    }

    fn get(&mut self, place: Place) -> Result<&[u8], Error> {
        if self.page != place.page {
            self.page = 0;
            self.bolt.first(place.page, &mut self.first)?;
            self.page = place.page;
        }
        self.bolt.value(place.page, &self.first, place.index, &mut self.bytes)?;
        revisions::entry(&self.bytes).map(|(_, value)| value).ok_or(Error::Page(place.page, bolt::Flaw::Entry))
    }
}

/// The walk through the values of a state.
struct Walk<R> {
    values: Values<R>,
    schema: &'static Schema,
    keys: Keys,
    /// The object that is being written.
    object: Vec<u8>,
    /// An item of the list is written.
    some: bool,
    /// The kinds with objects.
    kinds: KindSet,
    live: std::vec::IntoIter<(Arc<[u8]>, Place)>,
    /// Values that cannot be read, by resource and why.
    unreadable: BTreeMap<(String, UnreadableValue), usize>,
}

impl<R: Read + Seek> Objects<R> {
    /// Returns the text of the newest state.
    pub(super) fn newest(file: R) -> MadeText<Self> {
        MadeText::new(Self { state: State::New(file), flaws: Flaws::default() })
    }

    fn open(&mut self, mut file: R, out: &mut Vec<u8>) -> io::Result<Walk<R>> {
        if !is_whole(&mut file)? {
            self.flaws.add(DIGEST_DIFFERS);
        }
        let mut bolt = Bolt::open(file).map_err(damage)?;
        let flaws = &mut self.flaws;
        let found = revisions::read(&mut bolt, 0, &mut |error| flaws.add(error)).map_err(damage)?;
        let keys = Keys::of(found.keys());
        begin(out, found.newest);
        Ok(Walk::new(bolt, keys, found.into_newest()))
    }
}

/// Begins the list of a revision.
fn begin(out: &mut Vec<u8>, revision: u64) {
    out.extend(
        format!("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{{\"resourceVersion\":\"{revision}\"}},\"items\":[").as_bytes(),
    );
}

fn damage(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::other(Damage { first: other.to_string(), more: 0 }),
    }
}

impl<R: Read + Seek> WriteParts for Objects<R> {
    fn write_part(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        match std::mem::replace(&mut self.state, State::End) {
            State::New(file) => {
                let walk = self.open(file, out)?;
                self.state = State::Open(Box::new(walk));
                Ok(true)
            }
            State::Begun(walk, revision) => {
                begin(out, revision);
                self.state = State::Open(walk);
                Ok(true)
            }
            State::Open(mut walk) => {
                match walk.live.next() {
                    Some((key, place)) => {
                        if let Err(error) = walk.object(&key, place, out) {
                            self.flaws.add(error);
                        }
                        self.state = State::Open(walk);
                    }
                    None => {
                        walk.finish(out, self.flaws.count == 0);
                    }
                }
                Ok(true)
            }
            State::End => self.flaws.error().map_or(Ok(false), Err),
        }
    }
}

impl<R: Read + Seek> Walk<R> {
    fn new(bolt: Bolt<R>, keys: Keys, live: Vec<(Arc<[u8]>, Place)>) -> Self {
        Self {
            values: Values::new(bolt),
            schema: schema(),
            keys,
            live: live.into_iter(),
            unreadable: BTreeMap::new(),
            object: Vec::new(),
            some: false,
            kinds: KindSet::default(),
        }
    }

    /// Writes an object.
    fn object(&mut self, key: &[u8], place: Place, out: &mut Vec<u8>) -> Result<(), Error> {
        let text = String::from_utf8_lossy(key);
        let Some(name) = self.keys.name(text.as_bytes()) else { return Ok(()) };
        if name.is_confidential() {
            let kind = if name.resource == "secrets" { SECRET } else { CONFIG_MAP };
            self.item(out, |out| stub(out, "v1", kind));
            return Ok(());
        }
        if name.place == Where::OtherCluster {
            self.item(out, |out| stub(out, "v1", "ObjectOfAnotherPrefix"));
            return Ok(());
        }
        if name.place == Where::Cluster && matches!(text, Cow::Owned(_)) {
            *self.unreadable.entry((name.resource.to_owned(), UnreadableValue::Key)).or_default() += 1;
            return Ok(());
        }
        let expected = self.keys.stored(key).as_ref().and_then(Stored::kind);
        let value = self.values.get(place)?;
        self.object.clear();
        match write_value_of(expected, &mut self.object, self.schema, value, place.revision) {
            Ok(kind) => {
                if let Some(kind) = kind {
                    self.kinds.insert(kind);
                }
                separate(out, &mut self.some);
                out.extend(&self.object);
            }
            // Values of other programs may be in any form.
            Err(_) if name.place == Where::Elsewhere => {}
            Err(why) => *self.unreadable.entry((name.resource.to_owned(), why)).or_default() += 1,
        }
        Ok(())
    }

    fn item(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        separate(out, &mut self.some);
        write(out);
    }

    /// Writes what could not be read, ends the list, and writes an empty list of each kind that has no object. If the
    /// database is damaged, any kind may have had some.
    fn finish(&mut self, out: &mut Vec<u8>, whole: bool) {
        for ((resource, why), count) in &std::mem::take(&mut self.unreadable) {
            let (group, resource) = keys::api_of(resource);
            let values = count_of(*count, "value", "values");
            let message = format!("{values} in etcd cannot be read: {why}");
            let status = serde_json::json!({"apiVersion": "v1", "status": "Failure", "reason": INCOMPLETE, "code": 500,
                "message": message, "details": {"group": group, "kind": resource}});
            // The kind comes first: readers need not look further.
            self.item(out, |out| out.extend(format!("{{\"kind\":\"Status\",{}", &status.to_string()[1..]).as_bytes()));
        }
        out.extend(b"]}\n");
        for kind in Kind::iter().filter(|kind| whole && !self.kinds.contains(*kind)) {
            out.extend(format!("{{\"kind\":\"{kind}List\",\"apiVersion\":\"{}\",\"items\":[]}}\n", kind.api_version()).as_bytes());
        }
    }
}

/// Separates an item of the list from the one before it.
fn separate(out: &mut Vec<u8>, some: &mut bool) {
    out.extend(if std::mem::replace(some, true) { &b",\n"[..] } else { b"\n" });
}

/// Writes an object without its content, which is only counted.
fn stub(out: &mut Vec<u8>, api_version: &str, kind: &str) {
    out.extend(format!("{{\"apiVersion\":\"{api_version}\",\"kind\":\"{kind}\"}}").as_bytes());
}

/// Why values cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
enum UnreadableValue {
    #[error("they are malformed")]
    Malformed,
    #[error("their keys are no UTF-8")]
    Key,
    #[error("they are of another kind than their keys")]
    OtherKind,
    #[error("their content is encoded in a way that is not known")]
    EncodedContent,
    /// The content of an object of a kind.
    #[error("{kind} {flaw}")]
    Content { kind: String, flaw: json::Flaw },
    /// The provider of the encryption.
    #[error("they are encrypted at rest ({0})")]
    Encrypted(String),
    #[error("they are in CBOR")]
    Cbor,
    #[error("they are in no known encoding")]
    UnknownEncoding,
}

/// Writes a stored value as [`write_value`]; one of another kind than its key names cannot be read.
fn write_value_of(
    expected: Option<Kind>,
    out: &mut Vec<u8>,
    schema: &Schema,
    value: &[u8],
    version: u64,
) -> Result<Option<Kind>, UnreadableValue> {
    let kind = write_value(out, schema, value, version)?;
    if expected.is_some() && kind != expected { Err(UnreadableValue::OtherKind) } else { Ok(kind) }
}

/// Writes a stored value as JSON; returns its kind, if the model has it, or why it cannot be read.
fn write_value(out: &mut Vec<u8>, schema: &Schema, value: &[u8], version: u64) -> Result<Option<Kind>, UnreadableValue> {
    if let Some(envelope) = value.strip_prefix(PROTOBUF) {
        let envelope = Envelope::read(envelope).ok_or(UnreadableValue::Malformed)?;
        let head = Head { api_version: envelope.api_version, kind: envelope.kind, version };
        if is_confidential(head.api_version, head.kind) {
            stub(out, "v1", head.kind);
            return Ok(None);
        }
        if envelope.encoded {
            return Err(UnreadableValue::EncodedContent);
        }
        let written = match schema.kind(head.api_version, head.kind) {
            Some(of) => json::object(out, schema, of, &head, envelope.raw),
            None => json::metadata(out, schema, &head, envelope.raw),
        };
        written.map_err(|flaw| UnreadableValue::Content { kind: head.kind.to_owned(), flaw })?;
        return Ok(head.kind.parse().ok().filter(|kind: &Kind| kind.group() == group_of(head.api_version)));
    }
    if let Some(provider) = value.strip_prefix(ENCRYPTED) {
        let provider = provider.split(|byte| *byte == b':').next().unwrap_or_default();
        return Err(UnreadableValue::Encrypted(String::from_utf8_lossy(provider).into_owned()));
    }
    if value.starts_with(CBOR) {
        return Err(UnreadableValue::Cbor);
    }
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(value).map_err(|_| UnreadableValue::UnknownEncoding)?;
    let text = |name: &str| object.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if is_confidential(&api_version, &kind) {
        stub(out, "v1", &kind);
        return Ok(None);
    }
    if let Some(serde_json::Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.insert("resourceVersion".to_owned(), version.to_string().into());
    }
    // An object that was parsed is written without an error.
    serde_json::to_writer(&mut *out, &object).map_err(|_| UnreadableValue::UnknownEncoding)?;
    Ok(kind.parse().ok().filter(|kind: &Kind| kind.group() == group_of(&api_version)))
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

fn is_confidential(api_version: &str, kind: &str) -> bool {
    api_version == "v1" && (kind == SECRET || kind == CONFIG_MAP)
}

/// Returns whether a database is whole: it has no digest, as that of a member, or one that matches.
fn is_whole<R: Read + Seek>(file: &mut R) -> io::Result<bool> {
    let size = file.seek(SeekFrom::End(0))?;
    if size % BLOCK != DIGEST {
        return Ok(true);
    }
    file.seek(SeekFrom::Start(0))?;
    let mut digest = Sha256::new();
    let mut left = size - DIGEST;
    let mut buffer = vec![0; 1 << 20];
    while left > 0 {
        let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..count])?;
        digest.update(&buffer[..count]);
        left -= count as u64;
    }
    let mut expected = [0; DIGEST as usize];
    file.read_exact(&mut expected)?;
    Ok(digest.finalize()[..] == expected)
}

#[cfg(test)]
mod tests;
