//! Decodes spans of text into objects.
//!
//! Each span is decoded on its own, on any thread. A span that cannot be decoded becomes a [`DecodedItem::Error`] with
//! its line, and does not affect other spans.

pub(super) mod admission;
pub(super) mod any_kind;
pub(super) mod classify;
pub(super) mod dedup;
pub(super) mod dump_metadata;
mod envelopes;
pub(super) mod events;
pub(super) mod neighbors;
mod null_as_zero;
mod old_versions;
pub(super) mod patterns;
mod plain_yaml;
pub(super) mod raw_object;
mod records;
pub(in crate::source) mod refusals;
mod times;
mod untyped;
pub(super) mod windows;

use jiff::Timestamp;
use serde::Deserialize;
use serde_yaml::Value;

use crate::admission::{TooLong, TooMany};
use crate::cluster::neighbors::NeighborKind;
use crate::cluster::{Condition, Key, Kind, MissingReason, Object};
use crate::limits::sources::{ALIASES, FLOW_DEPTH};
use crate::source::layout::Hint;
use crate::source::read::split::{Page, Span, SpanState, Syntax, TypeMeta, peek_json, peek_yaml};
use classify::{Class, classify, item_kind};
use dump_metadata::SchedulerMetadata;
use envelopes::{decode_json_list, decode_json_other, decode_yaml_value};
use events::{RawEvent, SeenEvent};
use neighbors::DecodedNeighbor;
use null_as_zero::NullAsZero;
use patterns::Patterns;
use untyped::Untyped;

/// The result of decoding one object's text.
#[derive(Debug)]
pub(super) struct Decoded {
    /// The line on which the object starts, from 0 within the decoded text.
    pub(super) line: u32,
    /// The object's index in its list.
    pub(super) index: Option<u32>,
    /// The newest time in the object.
    pub(super) newest: Option<Timestamp>,
    pub(super) what: DecodedItem,
    /// Metadata about the scheduler in the object.
    pub(super) metadata: Option<Box<SchedulerMetadata>>,
    /// The part of it that scheduling does not read.
    pub(super) neighbor: Option<Box<DecodedNeighbor>>,
    /// Set if it is a state in a record of changes.
    pub(super) change: Option<Change>,
}

/// The tool that wrote a record of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// kube-scheduler-simulator.
    Recorded,
    /// `kubectl get --watch --output-watch-events`.
    Watched,
}

#[derive(Debug)]
pub(super) enum DecodedItem {
    Object {
        object: Object,
        /// The object had no namespace and was put into `default`.
        namespace_defaulted: bool,
        /// The object had no `apiVersion`.
        versionless: bool,
    },
    /// The deletion of an object, in a record.
    Deleted(Kind, Key),
    /// A scheduler's event about a pod.
    Event(Box<SeenEvent>),
    /// A kind that the model does not have.
    Other(String),
    /// An API server's refusal to list a kind, why, and its message.
    Refusal(Kind, MissingReason, String),
    /// A list that is empty, or within another object; its items have entries of their own.
    List(SeenList),
    /// A kind that is never read.
    Unread(String),
    /// A kind of the model in a version that cannot be read.
    OldVersion(Kind, String),
    /// An object without a name.
    Nameless(Kind),
    /// An item without a kind, in a list whose kind is not known yet.
    Pending(Syntax, Box<[u8]>),
    /// A version of the cluster, which is in [`Decoded::metadata`].
    Version,
    /// An object of unknown kind; `named` if it has a name, as objects of a cluster do.
    Kindless {
        named: bool,
    },
    /// A value that is not an object.
    NoObject(OtherValue),
    /// An object that was read without its invalid parts, and the message about these.
    Mended(Box<DecodedItem>, String),
    Error(Box<DecodeError>),
}

impl DecodedItem {
    /// Returns whether it is an item that was not read, and may be an object of its list's kind.
    pub(super) fn is_lost_item(&self) -> bool {
        match self {
            Self::NoObject(_) | Self::Kindless { .. } => true,
            Self::Error(bad) => bad.kind.is_none() && bad.neighbor.is_none() && !bad.event,
            _ => false,
        }
    }
}

/// A value that is not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub(super) enum OtherValue {
    #[strum(to_string = "a list")]
    List,
    #[strum(to_string = "a string")]
    Text,
    /// A text of several words, such as the message of an error.
    #[strum(to_string = "several words")]
    Words,
    #[strum(to_string = "a number or a word")]
    Scalar,
}

/// A list, without its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SeenList {
    pub(super) types: TypeMeta,
    /// All of its items were read.
    pub(super) whole: bool,
    pub(super) page: Option<Page>,
}

/// Why a text cannot be decoded as an object.
#[derive(Debug)]
pub(super) struct DecodeError {
    pub(super) kind: Option<Kind>,
    /// The kind that scheduling does not read, if it is one.
    pub(super) neighbor: Option<NeighborKind>,
    /// Set if it is an Event.
    pub(super) event: bool,
    /// `Pod shop/web`, if its name could be read.
    pub(super) object: Option<String>,
    /// The line of the error, from 0 within the object; `None` if unknown.
    pub(super) line: Option<u32>,
    pub(super) message: String,
    /// The syntax is broken, perhaps because the text was split wrongly.
    pub(super) syntax: bool,
}

impl DecodeError {
    pub(super) fn new(message: &str) -> Self {
        Self { kind: None, neighbor: None, event: false, object: None, line: None, message: message.to_owned(), syntax: false }
    }
}

impl From<DecodeError> for DecodedItem {
    fn from(bad: DecodeError) -> Self {
        Self::Error(Box::new(bad))
    }
}

/// The context of an object's text.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The enclosing list.
    pub(super) list: &'a TypeMeta,
    /// Set while more of the list's metadata may follow.
    pub(super) list_open: bool,
    pub(super) index: Option<u32>,
    /// The number of lists around the enclosing one.
    pub(super) depth: u8,
    /// The hint from the file's path.
    pub(super) hint: &'a Hint,
    /// The pods that are known by their texts; `None` where too few come.
    pub(super) patterns: Option<&'a Patterns>,
}

/// Decodes a span; `out` gets one entry per object (several for a nested list).
pub(super) fn decode(window: &[u8], span: &Span, context: Context<'_>, out: &mut Vec<Decoded>) {
    let text = &window[span.start..span.end];
    let bad = |message: &str| DecodeError { syntax: true, ..DecodeError::new(message) }.into();
    match span.state {
        SpanState::Whole => decode_text(text, span.syntax, context, 0, out),
        SpanState::Cut => push(out, 0, context, bad("the file ends within this object")),
        SpanState::Stray(message) => push(out, 0, context, bad(message)),
    }
}

pub(super) fn push(out: &mut Vec<Decoded>, line: u32, context: Context<'_>, what: DecodedItem) {
    put(out, line, context, (None, what, None, None));
}

/// Adds what an object's text was decoded to.
fn put(out: &mut Vec<Decoded>, line: u32, context: Context<'_>, (newest, what, metadata, neighbor): Typed) {
    out.push(Decoded { line, index: context.index, newest, what, metadata, neighbor, change: None });
}

/// Returns whether more brackets are open at some point, or more entries begin on a line (`- - - a`), than any valid object
/// needs. Brackets in strings are counted too, which affects no realistic object.
pub(in crate::source) fn is_too_deep(text: &[u8]) -> bool {
    let is_deep_line = |line: &[u8]| {
        let begin = line.trim_ascii_start();
        begin.chunks_exact(2).take(FLOW_DEPTH + 1).take_while(|pair| matches!(*pair, b"- " | b"? " | b": ")).count() > FLOW_DEPTH
    };
    if has_line_longer_than(2 * FLOW_DEPTH, text) && text.split(|byte| *byte == b'\n').any(is_deep_line) {
        return true;
    }
    let mut depth = 0usize;
    let opens = memchr::memchr2_iter(b'[', b'{', text).take(FLOW_DEPTH + 1).count();
    opens > FLOW_DEPTH
        && text.iter().any(|byte| {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > FLOW_DEPTH
        })
}

/// Returns whether a line may be longer than a length, by a look at a few places.
fn has_line_longer_than(length: usize, mut text: &[u8]) -> bool {
    while text.len() > length {
        let Some(end) = memchr::memrchr(b'\n', &text[..=length]) else { return true };
        text = &text[end + 1..];
    }
    false
}

/// Returns an upper limit on the bytes of a text's aliases, each expanded once: the length of the text for each of them, and
/// 0 without an anchor. Words in strings that look like an alias are counted too.
fn may_expand_to(text: &[u8]) -> usize {
    let marks = |mark: u8| {
        memchr::memchr_iter(mark, text).filter(move |at| {
            let before = at.checked_sub(1).map_or(b'\n', |before| text[before]);
            let after = text.get(at + 1).copied().unwrap_or_default();
            matches!(before, b' ' | b'\t' | b'\n' | b',' | b'[' | b'{' | b':') && !after.is_ascii_whitespace() && after != mark
        })
    };
    if marks(b'&').next().is_none() { 0 } else { marks(b'*').count().saturating_mul(text.len()) }
}

/// Returns whether the aliases of a YAML text may expand beyond the limit.
pub(in crate::source) fn may_expand_too_far(text: &[u8]) -> bool {
    may_expand_to(text) > ALIASES
}

/// Returns why a YAML text may cost too much to parse.
fn yaml_cost(text: &[u8]) -> Option<&'static str> {
    let too_deep = is_too_deep(text).then_some("brackets are nested too deeply");
    too_deep.or_else(|| may_expand_too_far(text).then_some("its aliases expand to too much"))
}

/// Returns the type that an object's text has. `None` for YAML whose text does not show it: with keys that are merged in, of a list
/// in an unusual layout, or without a mapping in block style.
fn own_type(text: &[u8], syntax: Syntax) -> Option<TypeMeta> {
    let is_list = |types: &TypeMeta| types.kind.as_deref().is_some_and(|kind| classify(kind, types.api_version.as_deref()) == Class::List);
    match syntax {
        Syntax::Json => Some(peek_json(text)),
        Syntax::Yaml if memchr::memmem::find(text, b"<<:").is_some() => None,
        Syntax::Yaml => peek_yaml(text).filter(|types| !is_list(types)),
    }
}

/// Decodes the text of one value that starts at `line`.
pub(super) fn decode_text(text: &[u8], syntax: Syntax, context: Context<'_>, line: u32, out: &mut Vec<Decoded>) {
    if syntax == Syntax::Yaml
        && let Some(cost) = yaml_cost(text)
    {
        return push(out, line, context, DecodeError::new(cost).into());
    }
    if syntax == Syntax::Json
        && let Some((newest, what, metadata)) = listed_pod(text, context)
    {
        return put(out, line, context, (newest, what, metadata, None));
    }
    let Some(own) = own_type(text, syntax) else { return decode_yaml_value(text, context, line, out) };
    if syntax == Syntax::Json && !text.trim_ascii_start().starts_with(b"{") {
        return decode_json_other(text, context, line, out);
    }
    if own.kind.is_none() && syntax == Syntax::Json && records::may_be(text) && records::decode(text, context, line, out) {
        return;
    }
    if own.kind.is_none()
        && context.index.is_none()
        && let Some(metadata) = dump_metadata::of_kindless(text, syntax)
    {
        return put(out, line, context, (None, DecodedItem::Version, Some(Box::new(metadata)), None));
    }
    if own.kind.is_none() && context.list.kind.is_none() && own.self_link.is_none() && context.list_open {
        return push(out, line, context, DecodedItem::Pending(syntax, text.into()));
    }
    let listed = context.list.kind.as_deref().and_then(item_kind).is_some();
    let seen = if own.kind.is_none() && !listed { untyped::look(text, syntax) } else { Untyped::default() };
    let Some(types) = complete(&own, context, &seen) else {
        // Broken syntax may be why no kind was found, and explains it better.
        let what = syntax_error(text, syntax).map_or(DecodedItem::Kindless { named: seen.named }, Into::into);
        return push(out, line, context, what);
    };
    if seen.internal
        && let Some(present) = untyped::present_form(text, syntax)
    {
        let (newest, what, metadata, neighbor) =
            decode_typed(&present, Syntax::Json, classify(&types.0, types.1.as_deref()), types, context.hint);
        return put(out, line, context, (newest, without_line(what), metadata, neighbor));
    }
    match classify(&types.0, types.1.as_deref()) {
        Class::List => decode_json_list(text, context, line, out),
        class => {
            let known = if class == Class::Model(Kind::Pod) { known_pod(text, syntax, context, types.1.as_deref()) } else { None };
            let typed = match known {
                Some((newest, what, metadata)) => (newest, what, metadata, None),
                None => decode_typed(text, syntax, class, types, context.hint),
            };
            put(out, line, context, typed);
        }
    }
}

/// Decodes a pod that differs from one before in a few places only.
fn known_pod(text: &[u8], syntax: Syntax, context: Context<'_>, api_version: Option<&str>) -> Option<Modelled> {
    let patterns = context.patterns?;
    match syntax {
        Syntax::Json => patterns.pod(text, api_version, context.hint),
        // An error is explained on the lines of the YAML.
        Syntax::Yaml => patterns.pod(&plain_yaml::to_json(text)?, api_version, context.hint),
    }
}

/// Decodes a pod whose type only its list has. To look for a type of its own first would cost a walk over its whole text.
fn listed_pod(text: &[u8], context: Context<'_>) -> Option<Modelled> {
    let Context { list, hint, .. } = context;
    let (patterns, kind, api_version) = (context.patterns?, item_kind(list.kind.as_deref()?)?, list.api_version.as_deref());
    (classify(kind, api_version) == Class::Model(Kind::Pod)).then_some(())?;
    patterns.listed_pod(text, api_version, hint)
}

/// Returns an object's kind and apiVersion. If it has none, they come from the list, from its own or the list's
/// `selfLink`, from its fields, or from the file's name.
pub(super) fn complete(own: &TypeMeta, context: Context<'_>, seen: &Untyped) -> Option<(String, Option<String>)> {
    let Context { list, hint, .. } = context;
    if let Some(kind) = &own.kind {
        return Some((kind.clone(), own.api_version.clone()));
    }
    if let Some(kind) = list.kind.as_deref().and_then(item_kind) {
        return Some((kind.to_owned(), own.api_version.clone().or_else(|| list.api_version.clone())));
    }
    let links = [&own.self_link, &seen.self_link, &list.self_link];
    let linked = links.into_iter().flatten().find_map(|link| untyped::of_self_link(link));
    let shown = || seen.event.then(|| ("Event".to_owned(), "v1".to_owned()));
    let named_after = || {
        let of = hint.kind.filter(|_| hint.certain || seen.named)?;
        Some((of.kind.to_owned(), of.api_version.to_owned()))
    };
    let (kind, api_version) = linked.or_else(shown).or_else(named_after)?;
    Some((kind, Some(own.api_version.clone().unwrap_or(api_version))))
}

/// Removes the line from an error in converted text, which has other lines than the source.
fn without_line(what: DecodedItem) -> DecodedItem {
    match what {
        DecodedItem::Error(bad) => DecodeError { line: None, ..*bad }.into(),
        other => other,
    }
}

type Modelled = (Option<Timestamp>, DecodedItem, Option<Box<SchedulerMetadata>>);

pub(super) type Typed = (Option<Timestamp>, DecodedItem, Option<Box<SchedulerMetadata>>, Option<Box<DecodedNeighbor>>);

/// Decodes the text of one object, for scheduling and beside it.
pub(super) fn decode_typed(text: &[u8], syntax: Syntax, class: Class, types: (String, Option<String>), hint: &Hint) -> Typed {
    if class == Class::Event {
        let (newest, what, neighbor) = decode_event(text, syntax, types.0);
        return (newest, what, None, neighbor);
    }
    let neighbor = if class == Class::Refusal {
        refusals::decode_neighbor(text, syntax).map(|refused| Ok(Box::new(refused)))
    } else {
        neighbors::object(text, syntax, &types.0, types.1.as_deref(), hint)
    };
    let (newest, what, metadata) = decode_class(text, syntax, class, types, hint);
    match (what, neighbor) {
        // Scheduling does not see it either: an API server refuses an object as a whole.
        (DecodedItem::Object { .. } | DecodedItem::Mended(..) | DecodedItem::Other(_), Some(Err(bad))) => {
            (newest, bad.into(), metadata, None)
        }
        (what, neighbor) => (newest, what, metadata, neighbor.and_then(Result::ok)),
    }
}

fn decode_class(text: &[u8], syntax: Syntax, class: Class, types: (String, Option<String>), hint: &Hint) -> Modelled {
    let (kind_name, api_version) = types;
    let (newest, what) = match class {
        Class::Model(kind) => return decode_model(text, syntax, kind, &kind_name, api_version.as_deref(), hint),
        Class::Convertible(kind) => match old_versions::convert(kind, text, syntax) {
            Some(present) => {
                let (newest, what, metadata) = decode_model(&present, Syntax::Json, kind, &kind_name, api_version.as_deref(), hint);
                return (newest, without_line(what), metadata);
            }
            // The decoder explains text that does not parse best.
            None => return decode_model(text, syntax, kind, &kind_name, api_version.as_deref(), hint),
        },
        Class::OldVersion(kind) => (None, DecodedItem::OldVersion(kind, api_version.unwrap_or_default())),
        Class::Clock => {
            let clock = match syntax {
                Syntax::Json => read_json(text, |d| times::Clock::deserialize(d)).ok(),
                Syntax::Yaml => times::Clock::deserialize(NullAsZero(serde_yaml::Deserializer::from_slice(text))).ok(),
            };
            (clock.and_then(|c| c.newest()), DecodedItem::Other(kind_name))
        }
        Class::Configuration => {
            let metadata = dump_metadata::of_configuration(&kind_name, text, syntax).map(Box::new);
            return (None, DecodedItem::Other(kind_name), metadata);
        }
        Class::Refusal => (None, refusals::decode(text, syntax).unwrap_or(DecodedItem::Other(kind_name))),
        Class::Unread => (None, DecodedItem::Unread(kind_name)),
        Class::Event | Class::Other | Class::List => (None, DecodedItem::Other(kind_name)),
    };
    (newest, what, None)
}

fn decode_model(text: &[u8], syntax: Syntax, kind: Kind, kind_name: &str, api_version: Option<&str>, hint: &Hint) -> Modelled {
    let object = match syntax {
        Syntax::Json => read_json(text, |d| Object::deserialize_kind(kind, d)).map_err(|e| json_error(&e)),
        Syntax::Yaml => {
            Object::deserialize_kind(kind, NullAsZero(serde_yaml::Deserializer::from_slice(text))).map_err(|e| yaml_error(&e, text))
        }
    };
    if let Err(bad) = &object
        && !bad.syntax
        && let Some((mended, bad_times)) = times::without_bad_times(text, syntax)
    {
        let (newest, what, metadata) = decode_model(&mended, Syntax::Json, kind, kind_name, api_version, hint);
        let what = match what {
            what @ DecodedItem::Object { .. } => DecodedItem::Mended(Box::new(what), bad_times),
            // The other error matters more.
            other => without_line(other),
        };
        return (newest, what, metadata);
    }
    match object {
        Ok(mut object) => {
            // A taint that evicts has the time at which it was added.
            if let Object::Node(node) = &mut object
                && let Some(node) = std::sync::Arc::get_mut(node)
                && let Some(added) = times::newest_in_text(text, &["timeAdded"])
            {
                node.metadata.changed = node.metadata.changed.max(Some(added));
            }
            let keys: &[&str] = match kind {
                Kind::Node => &["lastHeartbeatTime"],
                Kind::Pod => &["lastTransitionTime"],
                _ => &[],
            };
            let newest = times::newest(&object).max(times::newest_in_text(text, keys));
            let metadata = dump_metadata::of_pod(&object, text, syntax).map(Box::new);
            (newest, finish(object, api_version, hint), metadata)
        }
        Err(bad) => {
            let object = name_of(text, syntax, kind_name, kind.namespaced());
            (None, DecodeError { kind: Some(kind), object, ..bad }.into(), None)
        }
    }
}

/// Decodes an Event. Of one that scheduling does not read, the newest time counts.
fn decode_event(text: &[u8], syntax: Syntax, kind_name: String) -> (Option<Timestamp>, DecodedItem, Option<Box<DecodedNeighbor>>) {
    let event = match syntax {
        Syntax::Json => read_json(text, |d| RawEvent::deserialize(d)).map_err(|e| json_error(&e)),
        Syntax::Yaml => RawEvent::deserialize(NullAsZero(serde_yaml::Deserializer::from_slice(text))).map_err(|e| yaml_error(&e, text)),
    };
    match event {
        Ok(event) => {
            let times = event.times();
            let kept = event.keep(times).map_or(DecodedItem::Other(kind_name), |kept| DecodedItem::Event(Box::new(kept)));
            (times.newest, kept, neighbors::event(&event, times))
        }
        Err(bad) => (None, DecodeError { event: true, object: name_of(text, syntax, &kind_name, true), ..bad }.into(), None),
    }
}

fn read_json<'de, T>(
    text: &'de [u8],
    read: impl FnOnce(NullAsZero<&mut serde_json::Deserializer<serde_json::de::SliceRead<'de>>>) -> Result<T, serde_json::Error>,
) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = read(NullAsZero(&mut deserializer))?;
    deserializer.end()?;
    Ok(value)
}

/// Takes the last steps on a decoded object: defaults, as the API server sets them, and sharing.
fn finish(mut object: Object, api_version: Option<&str>, hint: &Hint) -> DecodedItem {
    if object.meta().name.is_empty() {
        return DecodedItem::Nameless(object.kind());
    }
    if let Some(what) = TooLong::in_metadata(object.meta()) {
        return DecodeError { kind: Some(object.kind()), ..DecodeError::new(&format!("{what}; skipped")) }.into();
    }
    if let Some(what) = TooMany::of(&object) {
        let label = format!("{} {}", object.kind(), object.key());
        return DecodeError { kind: Some(object.kind()), object: Some(label), ..DecodeError::new(&format!("{what}; skipped")) }.into();
    }
    let namespace_defaulted = admission::place(&mut object, hint.namespace.as_deref());
    admission::read_version(&mut object, api_version);
    if let Object::Pod(pod) = &mut object
        && let Some(pod) = std::sync::Arc::get_mut(pod)
    {
        crate::admission::defaults::source_pod(pod);
        let is_bound = |c: &Condition| c.kind == "PodScheduled" && c.status == "True";
        if !pod.node_name.is_empty() && pod.status.conditions.iter().any(is_bound) {
            // A bound pod's node says the same, and a condition with its own time could not be shared.
            let mut rare = std::mem::take(&mut *pod.status.rare);
            rare.conditions.retain(|c| !is_bound(c));
            rare.conditions.shrink_to_fit();
            pod.status.rare = rare.into();
        }
        dedup::dedup_parts(pod);
    }
    DecodedItem::Object { object, namespace_defaulted, versionless: api_version.is_none_or(str::is_empty) }
}

fn json_error(error: &serde_json::Error) -> DecodeError {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned();
    let line = (error.line() > 0).then(|| error.line() as u32 - 1);
    DecodeError { line, syntax: !error.is_data(), ..DecodeError::new(&message) }
}

pub(super) fn yaml_error(error: &serde_yaml::Error, text: &[u8]) -> DecodeError {
    let line = error.location().map(|l| l.line().saturating_sub(1) as u32);
    let full = error.to_string();
    // The position is reported separately from the message.
    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message).to_owned();
    let syntax = Value::deserialize(serde_yaml::Deserializer::from_slice(text)).is_err();
    DecodeError { line, syntax, ..DecodeError::new(&message) }
}

/// Returns the syntax error of a text, if it has one.
pub(super) fn syntax_error(text: &[u8], syntax: Syntax) -> Option<DecodeError> {
    use serde::de::IgnoredAny;
    match syntax {
        Syntax::Json => serde_json::from_slice::<IgnoredAny>(text).err().map(|e| json_error(&e)),
        Syntax::Yaml => IgnoredAny::deserialize(serde_yaml::Deserializer::from_slice(text)).err().map(|e| yaml_error(&e, text)),
    }
}

/// Returns `Pod shop/web` from text that could not be decoded.
fn name_of(text: &[u8], syntax: Syntax, kind: &str, namespaced: bool) -> Option<String> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Names {
        name: String,
        namespace: String,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Named {
        metadata: Names,
    }
    let named: Result<Named, ()> = match syntax {
        Syntax::Json => read_json(text, |d| Named::deserialize(d)).map_err(drop),
        Syntax::Yaml => Named::deserialize(NullAsZero(serde_yaml::Deserializer::from_slice(text))).map_err(drop),
    };
    let Names { name, namespace } = named.ok()?.metadata;
    match (name.is_empty(), namespaced && !namespace.is_empty()) {
        (true, _) => None,
        (false, true) => Some(format!("{kind} {namespace}/{name}")),
        (false, false) => Some(format!("{kind} {name}")),
    }
}
