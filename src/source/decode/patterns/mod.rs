//! Recognises pods whose text is known but for names, nodes, times and addresses.
//!
//! Nearly all pods come from templates, so their texts repeat each other. A [pattern](tree) is the text of a pod's metadata, spec
//! or status with [gaps](gap) for the strings in which pods of one template differ. Text that fits a pattern is not parsed: it
//! is valid, because the text that the pattern was made from is, and its value is that text's value with other strings in a few
//! fields.
//!
//! A pattern is trusted once it has proved right: the text with other strings in its gaps is decoded, and the result must equal
//! that of the pattern. So a gap in a field that is kept, and that no pattern fills, makes no pattern.

mod gap;
mod tree;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jiff::Timestamp;
use serde::Deserialize;

use super::{DecodedItem, Modelled, dump_metadata, finish, read_json, times};
use crate::cluster::{Meta, Object, Pod, PodSpec, PodStatus, ResourceVersion, Str, Uid};
use crate::limits::sources::PATTERNS;
use crate::source::layout::Hint;
use crate::source::read::split::{Syntax, blank, key_and_value, skip_string, skip_value};
use gap::{Fills, Gap, Part, gaps};
use tree::{Piece, Tree};

/// The number of patterns that are made before it counts how often they are met again.
const TRIAL: usize = 512;

/// The patterns of the pods of a load, for all threads.
#[derive(Debug)]
pub(in crate::source) struct Patterns {
    known: RwLock<Known>,
    /// The bytes of the patterns of one part.
    most: usize,
}

#[derive(Debug, Default)]
struct Known {
    metadata: Met<Meta>,
    specs: Met<Arc<PodSpec>>,
    statuses: Met<PodStatus>,
}

/// The patterns of a part, and whether they are met again.
#[derive(Debug)]
struct Met<V> {
    tree: Tree<V>,
    hits: AtomicUsize,
    made: usize,
}

impl<V> Default for Met<V> {
    fn default() -> Self {
        Self { tree: Tree::default(), hits: AtomicUsize::new(0), made: 0 }
    }
}

/// A part of a pod's text.
struct Section<'t, V> {
    range: Range<usize>,
    fills: Fills<'t>,
    /// The value of its pattern, if it has one.
    value: Option<V>,
}

/// The parts of a pod's text.
struct Sections<'t> {
    metadata: Section<'t, Meta>,
    spec: Section<'t, Arc<PodSpec>>,
    /// `None` if the pod has no status.
    status: Option<Section<'t, PodStatus>>,
    /// The pod has a kind or an apiVersion of its own.
    is_typed: bool,
}

impl Default for Patterns {
    fn default() -> Self {
        Self { known: RwLock::default(), most: PATTERNS }
    }
}

impl Patterns {
    /// Decodes a pod like [`super::decode_model`]. `None` if its text is of no usual form, or has an error.
    pub(super) fn pod(&self, text: &[u8], api_version: Option<&str>, hint: &Hint) -> Option<Modelled> {
        self.pod_of(&self.sections(text)?, text, api_version, hint)
    }

    /// Does the same for a pod whose kind and apiVersion are those of its list. `None` also if it has one of its own.
    pub(super) fn listed_pod(&self, text: &[u8], api_version: Option<&str>, hint: &Hint) -> Option<Modelled> {
        let sections = self.sections(text).filter(|sections| !sections.is_typed)?;
        self.pod_of(&sections, text, api_version, hint)
    }

    fn pod_of(&self, sections: &Sections<'_>, text: &[u8], api_version: Option<&str>, hint: &Hint) -> Option<Modelled> {
        let Sections { metadata, spec, status, .. } = sections;
        let all = metadata.value.is_some() && spec.value.is_some() && status.as_ref().is_none_or(|status| status.value.is_some());
        let pod = if all { Pod::default() } else { decode(&sections.rest(text, &[]))? };
        let object = Object::Pod(Arc::new(sections.build(pod)?));
        // No spec of a scheduler has a pattern.
        let metadata = spec.value.is_none().then(|| dump_metadata::of_pod(&object, text, Syntax::Json)).flatten().map(Box::new);
        let newest = times::newest(&object);
        if all {
            let transition = status.as_ref().and_then(|status| status.fills.transition).and_then(gap::parse);
            let versionless = api_version.is_none_or(str::is_empty);
            return Some((newest.max(transition), DecodedItem::Object { object, namespace_defaulted: false, versionless }, metadata));
        }
        let what = finish(object, api_version, hint);
        self.learn(text, sections, &what, api_version, hint);
        Some((newest.max(times::newest_in_text(text, &["lastTransitionTime"])), what, metadata))
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the parts of a pod; `None` if the text is not one of a pod with these members alone, in this order.
    fn sections<'t>(&self, text: &'t [u8]) -> Option<Sections<'t>> {
        let known = self.read();
        let (mut metadata, mut spec, mut status) = (None, None, None);
        let mut at = blank(text, 0);
        let mut next = b'{';
        let mut is_typed = false;
        loop {
            match text.get(at)? {
                b'}' if next == b',' => break,
                byte if *byte == next => next = b',',
                _ => return None,
            }
            let (key, value) = key_and_value(text, blank(text, at + 1))?;
            let end = match &text[key] {
                b"kind" | b"apiVersion" => {
                    is_typed = true;
                    plain_string(text, value)?
                }
                b"metadata" if metadata.is_none() => metadata.insert(section(&known.metadata, text, value)?).range.end,
                b"spec" if spec.is_none() => spec.insert(section(&known.specs, text, value)?).range.end,
                b"status" if status.is_none() => {
                    // The status of a pod that is not bound keeps more.
                    let bound = spec.as_ref()?.value.is_some() && spec.as_ref()?.fills.node.is_some();
                    let section = if bound { section(&known.statuses, text, value)? } else { unknown(text, value)? };
                    status.insert(section).range.end
                }
                _ => return None,
            };
            at = blank(text, end);
        }
        text[at + 1..].trim_ascii().is_empty().then_some(())?;
        Some(Sections { metadata: metadata?, spec: spec?, status, is_typed })
    }

    /// Makes patterns of the parts that have none.
    fn learn(&self, text: &[u8], sections: &Sections<'_>, what: &DecodedItem, api_version: Option<&str>, hint: &Hint) {
        let DecodedItem::Object { object: Object::Pod(pod), namespace_defaulted: false, .. } = what else { return };
        if pod.metadata.uid.is_empty() || pod.metadata.namespace.is_empty() || dump_metadata::is_scheduler(pod) {
            return;
        }
        let Sections { metadata, spec, status, .. } = sections;
        let bound = !pod.node_name.is_empty();
        let known = self.read();
        // Another thread may have made a pattern in the meantime.
        let wanted = [
            (Part::Metadata, known.metadata.wants(text, metadata).then_some(&metadata.range)),
            (Part::Spec, known.specs.wants(text, spec).then_some(&spec.range)),
            (Part::Status, status.as_ref().filter(|status| bound && known.statuses.wants(text, status)).map(|status| &status.range)),
        ];
        drop(known);
        let found: Vec<Drawn<'_>> = wanted.into_iter().filter_map(|(part, range)| Drawn::new(part, text, range?)).collect();
        if found.is_empty() {
            return;
        }
        let Some(other) = decode(&sections.rest(text, &found)).and_then(|other| sections.build(other)) else { return };
        let DecodedItem::Object { object: Object::Pod(other), .. } = finish(Object::Pod(Arc::new(other)), api_version, hint) else {
            return;
        };
        for drawn in found {
            self.add(&drawn, pod, &other);
        }
    }

    /// Adds a pattern if it yields, for the text with other strings in its gaps, the part of the pod `other`.
    fn add(&self, drawn: &Drawn<'_>, pod: &Pod, other: &Pod) {
        let fills = drawn.other_fills();
        let pieces = drawn.pieces();
        match drawn.part {
            Part::Metadata => {
                let value = Meta { name: Str::EMPTY, uid: Uid::EMPTY, ..pod.metadata.clone() };
                if fills.name.is_some() && fills.uid.is_some() && build_metadata(&value, &fills).as_ref() == Some(&other.metadata) {
                    self.write().metadata.add(&pieces, value, self.most);
                }
            }
            Part::Spec => {
                let node = fills.node.map_or_else(|| pod.node_name.clone(), |node| text_of(node).into());
                if node == other.node_name && node.is_empty() == pod.node_name.is_empty() && pod.spec == other.spec {
                    self.write().specs.add(&pieces, Arc::clone(&pod.spec), self.most);
                }
            }
            Part::Status => {
                if build_status(&pod.status, &fills).as_ref() == Some(&other.status) {
                    self.write().statuses.add(&pieces, pod.status.clone(), self.most);
                }
            }
        }
    }
}

impl<V> Met<V> {
    /// Returns whether a pattern is to be made of a part that had none.
    fn wants(&self, text: &[u8], part: &Section<'_, V>) -> bool {
        let is_new = || self.tree.find(&text[part.range.clone()], &mut Fills::default()).is_none();
        part.value.is_none() && self.is_worth_it() && is_new()
    }

    /// Returns whether patterns are met again often enough for more of them.
    fn is_worth_it(&self) -> bool {
        self.made < TRIAL || self.hits.load(Ordering::Relaxed) >= self.made
    }

    fn add(&mut self, pieces: &[Piece<'_>], value: V, most: usize) {
        if self.tree.size() > most {
            self.tree = Tree::default();
        }
        self.made += usize::from(self.tree.insert(pieces, value));
    }
}

/// Finds the pattern and the end of the part that starts at `at`.
fn section<'t, V: Clone>(known: &Met<V>, text: &'t [u8], at: usize) -> Option<Section<'t, V>> {
    let mut fills = Fills::default();
    match known.tree.find(&text[at..], &mut fills) {
        Some((value, length)) => {
            known.hits.fetch_add(1, Ordering::Relaxed);
            Some(Section { range: at..at + length, fills, value: Some(value.clone()) })
        }
        None => unknown(text, at),
    }
}

/// Finds the end of the part that starts at `at`.
fn unknown<V>(text: &[u8], at: usize) -> Option<Section<'_, V>> {
    let end = skip_value(text, at).filter(|_| text[at] == b'{')?;
    Some(Section { range: at..end, fills: Fills::default(), value: None })
}

/// Returns the end of the string at `at`, if it has no escapes.
fn plain_string(text: &[u8], at: usize) -> Option<usize> {
    let end = skip_string(text, at).filter(|_| text[at] == b'"')?;
    text[at + 1..end - 1].iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\').then_some(end)
}

fn decode(text: &[u8]) -> Option<Pod> {
    read_json(text, |deserializer| Pod::deserialize(deserializer)).ok()
}

impl Sections<'_> {
    /// Returns the object of the parts that have no pattern; those drawn, with other strings in their gaps.
    fn rest(&self, text: &[u8], drawn: &[Drawn<'_>]) -> Vec<u8> {
        let Self { metadata, spec, status, .. } = self;
        let status = status.as_ref().filter(|status| status.value.is_none()).map(|status| (Part::Status, &status.range));
        let spec = spec.value.is_none().then_some((Part::Spec, &spec.range));
        let metadata = metadata.value.is_none().then_some((Part::Metadata, &metadata.range));
        let mut rest = Vec::with_capacity(text.len());
        rest.push(b'{');
        for (part, range) in [metadata, spec, status].into_iter().flatten() {
            let key: &[u8] = match part {
                Part::Metadata => b"\"metadata\":",
                Part::Spec => b"\"spec\":",
                Part::Status => b"\"status\":",
            };
            if rest.len() > 1 {
                rest.push(b',');
            }
            rest.extend_from_slice(key);
            match drawn.iter().find(|drawn| drawn.part == part) {
                Some(drawn) => drawn.write_other(&mut rest),
                None => rest.extend_from_slice(&text[range.clone()]),
            }
        }
        rest.push(b'}');
        rest
    }

    /// Completes a pod by the parts that have a pattern.
    fn build(&self, mut pod: Pod) -> Option<Pod> {
        if let Section { value: Some(value), fills, .. } = &self.metadata {
            pod.metadata = build_metadata(value, fills)?;
        }
        if let Section { value: Some(value), fills, .. } = &self.spec {
            pod.node_name = fills.node.map_or(Str::EMPTY, |node| Str::interned(text_of(node)));
            pod.spec = Arc::clone(value);
        }
        if let Some(Section { value: Some(value), fills, .. }) = &self.status {
            pod.status = build_status(value, fills)?;
        }
        Some(pod)
    }
}

/// Returns the text of a gap, which is ASCII.
fn text_of(fill: &[u8]) -> &str {
    std::str::from_utf8(fill).unwrap_or_default()
}

fn build_metadata(value: &Meta, fills: &Fills<'_>) -> Option<Meta> {
    let mut meta = value.clone();
    meta.name = text_of(fills.name?).into();
    meta.uid = text_of(fills.uid?).into();
    if let Some(version) = fills.version {
        meta.resource_version = ResourceVersion::from(text_of(version));
    }
    if let Some(created) = fills.created {
        meta.creation_timestamp = Some(gap::parse(created)?);
    }
    Some(meta)
}

fn build_status(value: &PodStatus, fills: &Fills<'_>) -> Option<PodStatus> {
    let mut status = value.clone();
    if let Some(started) = fills.started {
        status.start_time = Some(gap::parse(started)?);
    }
    Some(status)
}

/// The text of a part with its gaps.
struct Drawn<'t> {
    part: Part,
    text: &'t [u8],
    gaps: Vec<(Range<usize>, Gap)>,
}

impl<'t> Drawn<'t> {
    /// Finds the gaps of a part; `None` if a time in it would be missed.
    fn new(part: Part, text: &'t [u8], range: &Range<usize>) -> Option<Self> {
        let text = &text[range.clone()];
        let drawn = Self { part, text, gaps: gaps(part, text) };
        let mut literals = text.to_vec();
        drawn.gaps.iter().for_each(|(gap, _)| literals[gap.clone()].fill(b'x'));
        let others: Option<Timestamp> = times::newest_in_text(&literals, &["lastTransitionTime"]);
        others.is_none().then_some(drawn)
    }

    fn pieces(&self) -> Vec<Piece<'t>> {
        let mut pieces = Vec::with_capacity(2 * self.gaps.len() + 1);
        let mut at = 0;
        for (range, gap) in &self.gaps {
            pieces.push(Piece::Literal(&self.text[at..range.start]));
            pieces.push(Piece::Gap(*gap));
            at = range.end;
        }
        pieces.push(Piece::Literal(&self.text[at..]));
        pieces
    }

    /// Writes the text with other strings in the gaps.
    fn write_other(&self, out: &mut Vec<u8>) {
        let mut at = 0;
        for (range, gap) in &self.gaps {
            out.extend_from_slice(&self.text[at..range.start]);
            out.extend_from_slice(gap.other(&self.text[range.clone()]));
            at = range.end;
        }
        out.extend_from_slice(&self.text[at..]);
    }

    /// Returns what [`Self::write_other`] fills the gaps with.
    fn other_fills(&self) -> Fills<'static> {
        let mut fills = Fills::default();
        self.gaps.iter().for_each(|(range, gap)| fills.put(*gap, gap.other(&self.text[range.clone()])));
        fills
    }
}

#[cfg(test)]
mod tests;
