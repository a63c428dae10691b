//! The answer of a plugin; mirrors `Status` and `Code` in `staging/src/k8s.io/kube-scheduler/framework/interface.go`.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{PluginName, Reason};
use crate::release::Release;

/// The code of an answer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::Display, strum::EnumString, strum::IntoStaticStr, Serialize, Deserialize,
)]
#[allow(missing_docs, reason = "the variants are kube-scheduler's own codes")]
pub enum Code {
    #[default]
    Success,
    Error,
    Unschedulable,
    UnschedulableAndUnresolvable,
    Wait,
    Skip,
    Pending,
}

/// A plugin's answer: a code, the reasons in order, and the plugin that gave it. Success carries no reason.
///
/// Takes one pointer, because a record holds one for every node and most nodes of a cycle share a few.
#[derive(Clone, Default)]
pub struct Status(
    /// `None` is `Success` without a plugin, and the only form of it.
    Option<Arc<Answer>>,
);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Answer {
    code: Code,
    plugin: Option<PluginName>,
    /// The release in whose words the reasons are written.
    release: Release,
    reasons: Reasons,
}

impl Answer {
    fn words(&self) -> Release {
        self.release
    }

    /// Returns a hash: equal for equal answers, mostly different for different ones.
    fn fingerprint(&self) -> u64 {
        self.reasons.as_slice().iter().fold(self.code as u64, |number, reason| number.rotate_left(8) ^ reason.fingerprint())
    }
}

/// Reasons in order. A single reason, the common case, needs no list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Reasons {
    #[default]
    None,
    One(Reason),
    Several(Vec<Reason>),
}

impl Reasons {
    fn as_slice(&self) -> &[Reason] {
        match self {
            Self::None => &[],
            Self::One(reason) => std::slice::from_ref(reason),
            Self::Several(reasons) => reasons,
        }
    }
}

impl FromIterator<Reason> for Reasons {
    fn from_iter<I: IntoIterator<Item = Reason>>(reasons: I) -> Self {
        let mut reasons = reasons.into_iter();
        let Some(first) = reasons.next() else { return Self::None };
        match reasons.next() {
            None => Self::One(first),
            Some(second) => Self::Several([first, second].into_iter().chain(reasons).collect()),
        }
    }
}

/// `Success` without a plugin.
static SUCCESS: Answer = Answer { code: Code::Success, plugin: None, release: Release::NEWEST, reasons: Reasons::None };

impl From<Answer> for Status {
    #[inline]
    fn from(answer: Answer) -> Self {
        let plain = answer.code == Code::Success && answer.plugin.is_none() && answer.reasons == Reasons::None;
        Self((!plain).then(|| Arc::new(answer)))
    }
}

/// The serialized form, with the reasons as texts.
#[derive(Serialize, Deserialize)]
struct Wire {
    code: Code,
    reasons: Vec<String>,
    plugin: Option<PluginName>,
}

impl Serialize for Status {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Wire { code: self.code(), reasons: self.texts().map(Into::into).collect(), plugin: self.plugin() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Wire { code, reasons, plugin } = Wire::deserialize(deserializer)?;
        let status = Self::new(code, reasons);
        Ok(match plugin {
            Some(plugin) => status.with_plugin(plugin),
            None => status,
        })
    }
}

impl PartialEq for Status {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Status {}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.texts().collect();
        f.debug_struct("Status").field("code", &self.code()).field("reasons", &texts).field("plugin", &self.plugin()).finish()
    }
}

impl Status {
    #[inline]
    pub const fn success() -> Self {
        Self(None)
    }

    /// Returns `Skip`: the plugin has nothing to do for this pod.
    pub fn skip() -> Self {
        Self::new(Code::Skip, Vec::<Reason>::new())
    }

    /// Returns a status with any code and reasons.
    pub fn new(code: Code, reasons: impl IntoIterator<Item = impl Into<Reason>>) -> Self {
        Answer { code, reasons: reasons.into_iter().map(Into::into).collect(), ..Answer::default() }.into()
    }

    /// Returns the rejection with this reason. The catalogue row of the reason decides the code.
    pub fn rejected(reason: Reason) -> Self {
        Answer { code: reason.code(), reasons: Reasons::One(reason), ..Answer::default() }.into()
    }

    /// Returns a plugin's answer for one reason or more, as [`Self::answered_by`] would make it.
    #[inline]
    pub(crate) fn given_by(plugin: PluginName, release: Release, code: Code, first: Reason, others: Vec<Reason>) -> Self {
        let reasons = if others.is_empty() {
            Reasons::One(first)
        } else {
            // Concatenating copies would count references of thousands of names.
            let mut all = Vec::with_capacity(1 + others.len());
            all.push(first);
            all.extend(others);
            Reasons::Several(all)
        };
        Self(Some(Arc::new(Answer { code, plugin: Some(plugin), release, reasons })))
    }

    /// Returns a rejection that evicting pods may resolve.
    pub fn unschedulable(reason: impl Into<Reason>) -> Self {
        Self::new(Code::Unschedulable, [reason.into()])
    }

    /// Returns a rejection that evicting pods cannot resolve.
    pub fn unresolvable(reason: impl Into<Reason>) -> Self {
        Self::new(Code::UnschedulableAndUnresolvable, [reason.into()])
    }

    /// Returns an internal error.
    pub fn error(reason: impl Into<Reason>) -> Self {
        Self::new(Code::Error, [reason.into()])
    }

    /// Returns the same answer with a plugin as its author.
    #[must_use]
    #[inline]
    pub fn with_plugin(mut self, plugin: PluginName) -> Self {
        if self.plugin() != Some(plugin) {
            Arc::make_mut(self.0.get_or_insert_default()).plugin = Some(plugin);
        }
        self
    }

    #[inline]
    fn answer(&self) -> &Answer {
        self.0.as_deref().unwrap_or(&SUCCESS)
    }

    /// Returns the address of the answer, which clones share.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self.answer()).addr()
    }

    #[inline]
    pub fn code(&self) -> Code {
        self.answer().code
    }

    /// Returns the same answer in the words of a release.
    #[must_use]
    #[inline]
    pub fn in_words_of(mut self, release: Release) -> Self {
        if let Some(answer) = &mut self.0 {
            Arc::make_mut(answer).release = release;
        }
        self
    }

    /// Returns the release in whose words the answer is given.
    #[inline]
    pub fn words_of(&self) -> Release {
        self.answer().release
    }

    /// Returns the same answer with a plugin and a release as its author.
    #[must_use]
    #[inline]
    pub fn answered_by(mut self, plugin: PluginName, release: Release) -> Self {
        let Some(answer) = &mut self.0 else { return self.with_plugin(plugin) };
        let author = (Some(plugin), release);
        if author != (answer.plugin, answer.words()) {
            let answer = Arc::make_mut(answer);
            (answer.plugin, answer.release) = author;
        }
        self
    }

    /// Returns the reasons, in the plugin's order.
    #[inline]
    pub fn reasons(&self) -> &[Reason] {
        self.answer().reasons.as_slice()
    }

    /// Returns the texts of the reasons, in the plugin's order.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'static, str>> {
        let release = self.answer().release;
        self.reasons().iter().map(move |reason| reason.text(release))
    }

    /// Returns another code and other reasons, with the same plugin and release.
    #[must_use]
    pub fn with_reasons(&self, code: Code, reasons: impl IntoIterator<Item = Reason>) -> Self {
        let Answer { plugin, release, .. } = *self.answer();
        Answer { code, plugin, release, reasons: reasons.into_iter().collect() }.into()
    }

    /// Returns the plugin that answered; `None` if it is not recorded.
    #[inline]
    pub fn plugin(&self) -> Option<PluginName> {
        self.answer().plugin
    }

    /// Returns whether both have the same plugin, code and texts; facts outside the texts may differ.
    pub fn reads_like(&self, other: &Self) -> bool {
        let given = |s: &Self| (s.code(), s.plugin(), s.reasons().len());
        given(self) == given(other) && (self == other || self.texts().eq(other.texts()))
    }

    /// Returns whether both surely have the same texts, without writing them; `false` is not certain.
    pub fn surely_reads_like(&self, other: &Self) -> bool {
        self.words_of() == other.words_of() && self.surely_reads_like_in_one_release(other)
    }

    /// Returns whether both surely have the same texts in the words of any release; `false` is not certain.
    pub fn surely_reads_like_in_one_release(&self, other: &Self) -> bool {
        let same = |(a, b): (&Reason, &Reason)| match (a, b) {
            (Reason::Insufficient(a), Reason::Insufficient(b)) => a.resource == b.resource,
            _ => a == b,
        };
        std::ptr::eq(self.answer(), other.answer())
            || self.reasons().len() == other.reasons().len() && self.reasons().iter().zip(other.reasons()).all(same)
    }

    /// Returns the texts of all reasons in one line.
    pub fn message(&self) -> String {
        self.texts().collect::<Vec<_>>().join(", ")
    }

    /// Returns the deciding fact in a few words; `None` if the message already contains it.
    pub fn fact(&self) -> Option<String> {
        let facts: Vec<String> = self.reasons().iter().filter_map(Reason::fact).collect();
        (!facts.is_empty()).then(|| facts.join(", "))
    }

    /// Returns the message followed by the deciding fact.
    pub fn message_with_fact(&self) -> String {
        match self.fact() {
            Some(fact) => format!("{}: {fact}", self.message()),
            None => self.message(),
        }
    }

    /// Returns the same answer with its reasons reduced to texts, for comparison with texts.
    #[cfg(test)]
    pub(crate) fn in_text(&self) -> Self {
        let status = Self::new(self.code(), self.texts().map(|text| Reason::Other { text }));
        match self.plugin() {
            Some(plugin) => status.with_plugin(plugin),
            None => status,
        }
    }

    /// Whether the code is Success.
    #[inline]
    pub fn is_success(&self) -> bool {
        self.code() == Code::Success
    }

    /// Whether the code is Skip.
    #[inline]
    pub fn is_skip(&self) -> bool {
        self.code() == Code::Skip
    }

    /// Whether the code is Error.
    #[inline]
    pub fn is_error(&self) -> bool {
        self.code() == Code::Error
    }

    /// Whether the pod was rejected: Unschedulable, UnschedulableAndUnresolvable or Pending.
    #[inline]
    pub fn is_rejected(&self) -> bool {
        matches!(self.code(), Code::Unschedulable | Code::UnschedulableAndUnresolvable | Code::Pending)
    }
}

/// A cache of recent statuses that shares equal ones: most of thousands of nodes are rejected for one of a few reasons.
///
/// It is set-associative. The status met last comes first in its set, because neighbours tend to share one.
#[derive(Clone, Debug, Default)]
pub struct SharedStatuses(Vec<Status>);

impl SharedStatuses {
    /// Bits of a fingerprint that select a set.
    const SET_BITS: u32 = 5;
    /// Number of statuses kept per set.
    const WAYS: usize = 4;

    /// Returns an equal status, sharing memory with one that was seen recently.
    pub fn share(&mut self, status: Status) -> Status {
        let Some(answer) = &status.0 else { return status };
        let set = (answer.fingerprint().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::SET_BITS)) as usize;
        if self.0.is_empty() {
            self.0.resize(Self::WAYS << Self::SET_BITS, Status::success());
        }
        let ways = &mut self.0[set * Self::WAYS..][..Self::WAYS];
        if let Some(at) = ways.iter().position(|known| *known == status) {
            ways.swap(0, at);
        } else {
            ways.rotate_right(1);
            ways[0] = status;
        }
        ways[0].clone()
    }
}

/// Statuses with many reasons, as of a pod that requests thousands of resources, which nodes share while they are filtered.
#[derive(Debug, Default)]
pub struct LongStatuses(Mutex<SharedStatuses>);

impl LongStatuses {
    /// Number of reasons above which a status is shared.
    const FEW_REASONS: usize = 16;

    /// Returns an equal status; see [`SharedStatuses::share`].
    #[inline]
    pub fn share(&self, status: Status) -> Status {
        if status.reasons().len() <= Self::FEW_REASONS {
            return status;
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).share(status)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code())?;
        if self.reasons().is_empty() { Ok(()) } else { write!(f, ": {}", self.message()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::reason::Shortage;

    #[test]
    fn equal_statuses_share_and_success_takes_nothing() {
        assert_eq!(size_of::<Status>(), size_of::<usize>());
        assert_eq!(Status::new(Code::Success, Vec::<Reason>::new()), Status::success());
        assert_ne!(Status::success().with_plugin(PluginName::NodeName), Status::success());
        let mut shared = SharedStatuses::default();
        let one = |i: usize| Status::unschedulable(format!("reason {i}")).with_plugin(PluginName::NodeName);
        for i in [0, 1, 0, 30].into_iter().chain(2..40) {
            assert_eq!(shared.share(one(i)), one(i));
        }
        let same = |a: &Status, b: &Status| std::ptr::eq(a.answer(), b.answer());
        assert!(same(&shared.share(one(1)), &shared.share(one(1))));
        let short = |used| Status::rejected(Reason::Insufficient(Shortage { resource: "cpu".into(), requested: 9, used, capacity: 10 }));
        let first: Vec<Status> = (2..32).map(|used| shared.share(short(used))).collect();
        let shares = first.iter().zip(2..32).filter(|(known, used)| same(known, &shared.share(short(*used)))).count();
        assert!(shares > 20, "amounts that differ do not push each other out: {shares}");
        let (long, reasons) =
            (LongStatuses::default(), |count| Status::new(Code::Unschedulable, (0..count).map(|i| Reason::from(format!("reason {i}")))));
        assert!(same(&long.share(reasons(17)), &long.share(reasons(17))) && !same(&long.share(reasons(16)), &long.share(reasons(16))));
        let text = serde_json::to_string(&one(7)).unwrap();
        assert_eq!(text, r#"{"code":"Unschedulable","reasons":["reason 7"],"plugin":"NodeName"}"#);
        assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), one(7));
    }
}
