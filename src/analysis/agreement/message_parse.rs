//! Parses the message of a failed attempt, of any version of kube-scheduler, so that two messages can be compared by
//! content.
//!
//! Mirrors `FitError.Error` in `pkg/scheduler/framework/types.go` and the messages of the Evaluator in
//! `pkg/scheduler/framework/preemption`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::framework::{Entry, ReadReasons, ReasonKind, entry, read_reason_of};
use crate::plural::count;
use crate::release::Release;
use crate::scheduler::{LONGEST_MESSAGE, reasons};

/// The content of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wording {
    /// The number of nodes.
    pub(super) nodes: u32,
    /// The number of nodes for each reason, in the newest release's wording. A reason without a count applies to all.
    pub(super) reasons: BTreeMap<String, u32>,
    /// The number of nodes that PreFilter left out, by reason. Some releases name the plugins in the reason.
    pub(super) left_out: BTreeMap<String, u32>,
    /// PostFilter's part; `None` without one, as after a successful preemption.
    pub(super) post_filter: Option<PostFilter>,
    /// Notes on wordings of other releases.
    pub(super) other_words: BTreeSet<Cow<'static, str>>,
}

/// PostFilter's part of the message of a pod that fits on no node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PostFilter {
    /// The number of nodes on which preemption does not help, by reason.
    Nodes(BTreeMap<String, u32>),
    /// A potential placement, in newer releases: the node and the number of victims.
    Placement(String, u32),
    /// Anything else, such as `not eligible due to preemptionPolicy=Never`.
    Other(String),
}

/// Reasons of nodes that PreFilter leaves out.
const LEFT_OUT: [ReasonKind; 2] = [ReasonKind::FilteredOutByPreFilter, ReasonKind::NotAmongNodes];

/// Returns whether a reason of PreFilter names no plugin.
fn is_nameless(words: &str) -> bool {
    entry(ReasonKind::FilteredOutByPreFilter).and_then(Entry::plain_text) == Some(words)
}

/// Returns the text after DynamicResources' part, which precedes that of DefaultPreemption; `None` without that part.
fn after_dynamic_resources(text: &str) -> Option<&str> {
    use ReasonKind::{ClaimDeallocated, ClaimDeleted, NoClaimsToDeallocate, PluginDisabled, StillNotSchedulable};
    let leads = [NoClaimsToDeallocate, StillNotSchedulable, ClaimDeallocated, ClaimDeleted, PluginDisabled];
    let rest = leads.into_iter().filter_map(|kind| entry(kind)?.plain_text()).find_map(|lead| text.strip_prefix(lead))?;
    Some(rest.strip_prefix(", ").unwrap_or(rest))
}

impl Wording {
    /// Parses a message in the wording of a release; `None` if it is not of the form `0/3 nodes are available: ...`, or too
    /// long for a message.
    pub(super) fn of(message: &str, release: Release) -> Option<Self> {
        if message.len() > LONGEST_MESSAGE {
            return None;
        }
        let (count, rest) = message.split_once(" nodes are available:")?;
        let nodes = count.strip_prefix("0/")?.parse().ok()?;
        let mut found = Self { nodes, ..Self::default() };
        let rest = rest.trim();
        let (first, tail) = match rest.split_once(". ") {
            Some((first, tail)) => (first, tail),
            // Without reasons, PostFilter's part follows at once.
            None if is_post_filter(rest) => ("", rest),
            None => (rest, ""),
        };
        found.reasons = found.count(first.trim_end_matches('.'), release);
        found.post_filter = found.tail(tail.trim(), release);
        Some(found)
    }

    fn count(&mut self, text: &str, release: Release) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for (count, reason) in reasons(text) {
            let reason = reason.trim_end_matches('.');
            let read = read_reason_of(reason, release);
            let left_out = read.as_ref().is_some_and(|read| LEFT_OUT.contains(&read.kind));
            let words = match read.filter(|read| read.note.is_some()) {
                Some(older) => {
                    self.other_words.extend(older.note.map(Cow::Borrowed));
                    older.canonical()
                }
                None => reason.to_owned(),
            };
            let counts = if left_out { &mut self.left_out } else { &mut counts };
            *counts.entry(words).or_default() += count.unwrap_or(self.nodes);
        }
        counts
    }

    /// Drops the parts that either release never writes, and returns notes on them, about the first message.
    pub(super) fn without_what_is_never_written(mut theirs: Self, mut ours: Self, releases: [Release; 2]) -> (Self, Self, Vec<String>) {
        let [writes, we_write] = releases.map(Release::message_form);
        let mut notes = Vec::new();
        if !writes.preemption && theirs.post_filter.is_none() && ours.post_filter.take().is_some() {
            notes.push("the cluster's scheduler does not report preemption here, as in old versions".to_owned());
        }
        if !we_write.preemption && ours.post_filter.is_none() && theirs.post_filter.take().is_some() {
            notes.push("the cluster's scheduler reports the result of preemption, as in later versions".to_owned());
        }
        let places = |side: &Self| matches!(side.post_filter, Some(PostFilter::Placement(..)));
        if !writes.placement && theirs.post_filter.is_none() && places(&ours) {
            ours.post_filter = None;
            notes.push("the cluster's scheduler does not say where preemption makes room, as in earlier versions".to_owned());
        }
        if writes.placement && !we_write.placement && places(&theirs) && ours.post_filter.is_none() {
            notes.push("the cluster's scheduler says where preemption makes room, as later versions do".to_owned());
        }
        if theirs.left_out.is_empty() && !ours.left_out.is_empty() && !writes.left_out {
            ours.left_out.clear();
            notes.push("the cluster's scheduler does not count the nodes that PreFilter ruled out, as in some versions".to_owned());
        }
        if ours.left_out.is_empty() && !theirs.left_out.is_empty() && !we_write.left_out {
            theirs.left_out.clear();
            notes.push("the cluster's scheduler counts the nodes that PreFilter ruled out, as in some versions".to_owned());
        }
        let names_none = |side: &Self| side.left_out.keys().all(|words| is_nameless(words)) && !side.left_out.is_empty();
        if names_none(&theirs) != names_none(&ours) && theirs.left_out.values().sum::<u32>() == ours.left_out.values().sum::<u32>() {
            notes.push("the cluster's scheduler names the plugins that ruled out nodes differently, as in some versions".to_owned());
            theirs.left_out.clear();
            ours.left_out.clear();
        }
        (theirs, ours, notes)
    }

    fn tail(&mut self, text: &str, release: Release) -> Option<PostFilter> {
        let text = after_dynamic_resources(text).unwrap_or(text);
        let said = text.strip_prefix("preemption: ").unwrap_or(text).trim();
        if said.is_empty() {
            return None;
        }
        if let Some((_, reasons)) = said.split_once(" nodes are available: ").filter(|(count, _)| count.starts_with("0/")) {
            return Some(PostFilter::Nodes(self.count(reasons.trim_end_matches('.'), release)));
        }
        if let Some((node, victims)) = placement(said) {
            if !release.message_form().placement {
                self.other_words.insert("says where preemption makes room, as later versions do".into());
            }
            return Some(PostFilter::Placement(node, victims));
        }
        Some(PostFilter::Other(said.trim_end_matches('.').to_owned()))
    }
}

/// The parts of a message by which the releases that may have written it are known.
#[derive(Clone, Debug)]
pub(super) struct Writers<'m> {
    reasons: Vec<ReadReasons<'m>>,
    places: bool,
    has_post_filter: bool,
    leaves_out: bool,
}

impl<'m> Writers<'m> {
    /// Reads a message; `None` if it is not of the form of [`Wording::of`], so that any release may have written it.
    pub(super) fn of(message: &'m str) -> Option<Self> {
        let found = Wording::of(message, Release::NEWEST)?;
        let (_, rest) = message.split_once(" nodes are available:")?;
        let first = rest.trim().split_once(". ").map_or(rest.trim(), |(first, _)| first);
        let reasons = reasons(first.trim_end_matches('.')).map(|(_, reason)| ReadReasons::of(reason)).collect();
        let places = matches!(found.post_filter, Some(PostFilter::Placement(..)));
        Some(Self { reasons, places, has_post_filter: found.post_filter.is_some(), leaves_out: !found.left_out.is_empty() })
    }

    /// Returns whether a release may have written the message: it has every known reason in it, and its parts.
    pub(super) fn may_be(&self, release: Release) -> bool {
        let form = release.message_form();
        let mut known = self.reasons.iter().filter_map(|reason| reason.written_by(release));
        (form.placement || !self.places)
            && (form.preemption || !self.has_post_filter)
            && (form.left_out || !self.leaves_out)
            && known.all(|read| read.releases.contains(release))
    }
}

fn is_post_filter(text: &str) -> bool {
    text.starts_with("preemption:") || after_dynamic_resources(text).is_some()
}

/// Parses `found a potential placement for pod on node <node>, preempting <n> victims`.
fn placement(said: &str) -> Option<(String, u32)> {
    let rest = said.strip_prefix("found a potential placement")?;
    let (_, rest) = rest.split_once("on node ")?;
    let (node, rest) = rest.split_once(", preempting ")?;
    let victims = rest.split(' ').next()?.parse().ok()?;
    Some((node.to_owned(), victims))
}

/// Returns a line for each reason whose counts differ.
pub(super) fn differences(theirs: &BTreeMap<String, u32>, ours: &BTreeMap<String, u32>, what: &str) -> Vec<String> {
    let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    let mut lines = Vec::new();
    for name in names {
        let (a, b) = (theirs.get(name), ours.get(name));
        if a == b {
            continue;
        }
        let on = |n: &u32| count(*n as usize, "node");
        let said = match (a.map(on), b.map(on)) {
            (Some(a), Some(b)) => format!("the scheduler said {a}, schedscope says {b}"),
            (Some(a), None) => format!("the scheduler said {a}, not reported by schedscope"),
            (None, Some(b)) => format!("not reported by the scheduler, schedscope says {b}"),
            (None, None) => continue,
        };
        lines.push(format!("{what}{name}: {said}"));
    }
    lines
}

#[cfg(test)]
mod tests;
