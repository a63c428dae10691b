//! The note below the queues: all facts about the selected pod.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::analysis::why_group_waits;
use crate::cluster::Key;
use crate::framework::{ActionType, ClusterEvent, EventLabel, EventResource, PluginName, PluginSet};
use crate::odds::Share;
use crate::trace::{GroupGate, MoveCause, Place, QueueEntry, QueueMove};
use crate::ui::config::theme::Role;
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::QueuePart;
use crate::ui::model::text;
use crate::ui::view::draw::{Scene, put};
use crate::ui::view::layout::split_top;

/// The indentation of continued lines.
const INDENT: usize = 2;
/// Limit on the hint answers shown; the last ones.
const HINTS: usize = 3;
/// The width from which short facts share a line.
const PACKED: usize = 60;

/// A fact: name, text, and style of the text.
struct Fact {
    name: String,
    value: String,
    role: Role,
}

fn fact(name: impl Into<String>, value: impl Into<String>, role: Role) -> Fact {
    Fact { name: name.into(), value: value.into(), role }
}

/// Draws the note about the selected pod below a rule with its name.
pub(super) fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let (rule, body) = split_top(area, 1);
    for x in rule.left()..rule.right() {
        buf[(x, rule.y)].set_symbol(scene.glyphs.border.horizontal_top).set_style(scene.style(Role::Border));
    }
    if let Some(RowId::PodGroup(group, _)) = &scene.state.list(Pane::QUEUES).selected {
        let facts = group_facts(scene, group);
        let left = heading(scene, group, facts.first(), rule, buf);
        return body_lines(scene, if left { &facts[1..] } else { &facts }, body, buf);
    }
    let Some(entry) = scene.state.selected_pod().and_then(|k| scene.timeline.queues().entries.get(k)) else { return };
    let mut facts = facts(scene, entry);
    facts.extend(wakes(scene, entry));
    let left = heading(scene, &entry.pod, facts.first(), rule, buf);
    body_lines(scene, if left { &facts[1..] } else { &facts }, body, buf);
}

/// Draws the pod's name into the rule, and in a wide pane the first fact too, which is short and always present. Returns
/// whether the fact fitted.
fn heading(scene: &Scene<'_>, pod: &Key, first: Option<&Fact>, rule: Rect, buf: &mut Buffer) -> bool {
    let area = Rect { x: rule.x + 1, width: rule.width.saturating_sub(2), ..rule };
    let name = pod.to_string();
    let name = text::clip_middle(&name, usize::from(area.width).saturating_sub(2), scene.glyphs.ellipsis);
    let taken = put(buf, area, &[scene.span(Role::Strong, format!(" {name} "))], scene.glyphs.ellipsis);
    let Some(fact) = first.filter(|_| usize::from(rule.width) >= PACKED) else { return false };
    let spans = [scene.span(Role::Muted, format!(" {}", fact.name)), scene.span(fact.role, format!("{} ", fact.value))];
    let width = spans.iter().map(|s| text::columns(&s.content)).sum::<u16>();
    let fits = taken + width + 1 < area.width;
    if fits {
        put(buf, Rect { x: area.right() - width, width, ..area }, &spans, scene.glyphs.ellipsis);
    }
    fits
}

fn body_lines(scene: &Scene<'_>, facts: &[Fact], body: Rect, buf: &mut Buffer) {
    let width = usize::from(body.width);
    let lines = lines(facts, width, usize::from(body.height) + 1, scene.glyphs.dot);
    let shares = share(&lines.iter().map(Line::rows).collect::<Vec<_>>(), usize::from(body.height));
    let mut y = body.y;
    for (i, (line, share)) in lines.iter().zip(&shares).enumerate() {
        // Mark the last line if the next one is dropped.
        let more = *share == line.rows() && shares.get(i + 1) == Some(&0);
        for at in 0..*share {
            let cut = at + 1 == *share && *share < line.rows();
            let mut spans = line.spans(scene, at, width, cut);
            if more && at + 1 == *share {
                spans.push(scene.span(Role::Muted, format!(" {}", scene.glyphs.ellipsis)));
            }
            put(buf, Rect { y, height: 1, ..body }, &spans, scene.glyphs.ellipsis);
            y += 1;
        }
    }
}

/// The lines of one or several facts.
enum Line<'a> {
    /// One fact, wrapped.
    Folded(&'a Fact, Vec<String>),
    /// Facts that share a line.
    Packed(Vec<&'a Fact>),
}

impl Line<'_> {
    fn rows(&self) -> usize {
        match self {
            Self::Folded(_, rows) => rows.len(),
            Self::Packed(_) => 1,
        }
    }

    fn spans(&self, scene: &Scene<'_>, at: usize, width: usize, cut: bool) -> Vec<Span<'static>> {
        match self {
            Self::Folded(fact, rows) => {
                let row = if cut { ellipsed(&rows[at], width, scene.glyphs.ellipsis) } else { rows[at].clone() };
                let name = fact.name.trim_end();
                let split = if at == 0 && row.starts_with(name) { name.len() } else { 0 };
                vec![scene.span(Role::Muted, row[..split].to_owned()), scene.span(fact.role, row[split..].to_owned())]
            }
            Self::Packed(facts) => {
                let mut spans = Vec::new();
                for (i, fact) in facts.iter().enumerate() {
                    if i > 0 {
                        spans.push(scene.span(Role::Muted, format!(" {} ", scene.glyphs.dot)));
                    }
                    spans.push(scene.span(Role::Muted, fact.name.clone()));
                    spans.push(scene.span(fact.role, fact.value.clone()));
                }
                spans
            }
        }
    }
}

/// Returns the facts as lines. In a wide pane, short facts share a line.
fn lines<'a>(facts: &'a [Fact], width: usize, limit: usize, dot: &str) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut used = 0;
    for fact in facts {
        let rows = folded(fact, width, limit);
        let wanted = text::width(&fact.name) + text::width_within(&fact.value, width).unwrap_or(width);
        let fits = width >= PACKED && rows.len() <= 1;
        match lines.last_mut() {
            Some(Line::Packed(row)) if fits && used + text::width(dot) + 2 + wanted <= width => {
                used += text::width(dot) + 2 + wanted;
                row.push(fact);
            }
            _ if fits => {
                used = wanted;
                lines.push(Line::Packed(vec![fact]));
            }
            _ => lines.push(Line::Folded(fact, rows)),
        }
    }
    lines
}

/// Divides rows among facts: one each while there are any, then one more each in turn.
fn share(wanted: &[usize], mut room: usize) -> Vec<usize> {
    let mut given = vec![0; wanted.len()];
    loop {
        let before = room;
        for (given, wanted) in given.iter_mut().zip(wanted) {
            if room > 0 && *given < *wanted {
                *given += 1;
                room -= 1;
            }
        }
        if room == before || room == 0 {
            return given;
        }
    }
}

/// Wraps a fact to at most `limit` lines of `width`; all but the first are indented.
fn folded(fact: &Fact, width: usize, limit: usize) -> Vec<String> {
    let text = format!("{}{}", fact.name, fact.value);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(first) = text::wrapped(&text, width).next() else { return Vec::new() };
    let rest = text[first.end..].trim_start();
    let more = text::wrap(rest, width.saturating_sub(INDENT).max(1)).map(|l| format!("{}{l}", " ".repeat(INDENT)));
    std::iter::once(text::joined(&text[first])).chain(more).take(limit).collect()
}

fn ellipsed(line: &str, width: usize, ellipsis: &str) -> String {
    let longer = format!("{line} {ellipsis}");
    if text::width(&longer) <= width { longer } else { text::cut(line, width, ellipsis) }
}

/// Returns the facts about a pod group, of which pods wait.
fn group_facts(scene: &Scene<'_>, group: &Key) -> Vec<Fact> {
    let keyframe = scene.timeline.keyframe();
    let (object, pods) = (keyframe.cluster.pod_groups.get(group), keyframe.snapshot.pod_groups().get(group));
    let (known, placed) = pods.map_or((0, 0), |pods| (pods.pods(), pods.scheduled_count()));
    let mut facts = vec![fact("pod group of ", format!("{}, {placed} with a node", text::count(known, "pod")), Role::Text)];
    if let Some(min) = object.and_then(|object| object.min_count()) {
        facts.push(fact("must be placed together ", text::count(usize::try_from(min).unwrap_or(0), "pod"), Role::Text));
    }
    facts.push(fact("", why_group_waits(&keyframe.cluster, pods, scene.timeline.queues(), group), Role::Warning));
    if let Some(condition) = object.and_then(|object| object.scheduled_condition()) {
        let value = format!("{}, {}: {}", condition.status, condition.reason, condition.message);
        facts.push(fact(format!("{} ", condition.kind), value, Role::Text));
    }
    facts
}

/// Returns the facts about a waiting pod, most important first, without the events that requeue it.
fn facts(scene: &Scene<'_>, entry: &QueueEntry) -> Vec<Fact> {
    let attempts = text::count(entry.attempts as usize, "attempt");
    let mut facts = vec![fact("priority ", format!("{} {} {attempts}", entry.priority, scene.glyphs.dot), Role::Text)];
    if !entry.nominated.is_empty() {
        facts.push(fact("nominated to ", entry.nominated.to_string(), Role::Nominated));
    }
    facts.extend(place(scene, entry));
    facts.extend(first_of_alike(scene, entry));
    if let Some(why) = &entry.inferred {
        facts.push(fact(format!("{} inferred: ", scene.glyphs.inferred), why.clone(), Role::Warning));
    }
    if let Some(last) = &entry.last_move {
        facts.push(moved(scene, entry, last));
    }
    facts.extend(since(scene, entry));
    let hints = &scene.state.view_model.activity.shown.hints;
    for answer in &hints[hints.len().saturating_sub(HINTS)..] {
        let error = answer.error.as_ref().map(|e| format!(", as it failed: {e}")).unwrap_or_default();
        facts.push(fact(
            format!("{}: ", answer.event.words_with_label()),
            format!("{} says {}{error}", answer.plugin, answer.hint),
            Role::Text,
        ));
    }
    facts
}

/// Returns the facts about the pod's place.
fn place(scene: &Scene<'_>, entry: &QueueEntry) -> Vec<Fact> {
    let now = scene.timeline.clock();
    let names = |set: PluginSet, but: Option<PluginName>| {
        set.iter().filter(|p| Some(*p) != but).map(PluginName::as_str).collect::<Vec<_>>().join(", ")
    };
    let rejected = |name: &str, but| match names(entry.plugins, but) {
        list if list.is_empty() => None,
        list => Some(fact(name, list, Role::Text)),
    };
    match &entry.place {
        Place::Unschedulable { gated_by: Some(plugin), .. } => {
            let gates = match plugin {
                PluginName::SchedulingGates => gates(scene, entry),
                _ => Vec::new(),
            };
            let by = if gates.is_empty() { plugin.to_string() } else { format!("{plugin}: {}", gates.join(", ")) };
            std::iter::once(fact("gated by ", by, Role::Gated)).chain(rejected("rejected by ", Some(*plugin))).collect()
        }
        Place::Unschedulable { .. } => {
            let gate = group_gate(scene, entry)
                .map(|gate| fact("gated with its group, by ", format!("{} of {}", gate.plugin, gate.pod), Role::Gated));
            gate.into_iter().chain(rejected("rejected by ", None)).collect()
        }
        Place::Backoff { expires, error } => {
            let at = text::moment(now, *expires);
            // Before backoffQ is popped from, it has one heap for all pods.
            let (name, early) = match (scene.pops_from_backoff(), *error) {
                (false, _) => ("backoff", ""),
                (true, true) => ("error backoff", "; never popped early"),
                (true, false) => ("backoff", "; sooner if activeQ is empty"),
            };
            let ends = if *expires > now {
                fact(format!("{name} ends "), format!("in {}, at {at}{early}", text::until(now, *expires)), Role::Warning)
            } else {
                fact(format!("{name} ended "), format!("at {at}; leaves at the next whole second"), Role::Warning)
            };
            std::iter::once(ends).chain(rejected("rejected by ", None)).collect()
        }
        Place::WaitingOnPermit { node } => {
            let mut facts = vec![fact("assumed on ", node.to_string(), Role::Accent)];
            for (plugin, until) in &scene.state.view_model.activity.shown.permit {
                let left = if *until > now { format!(", for {} more", text::span(now, *until)) } else { String::new() };
                facts.push(fact("waits for ", format!("{plugin} until {}{left}", text::moment(now, *until)), Role::Text));
            }
            facts
        }
        Place::Active | Place::InFlight | Place::Bound { .. } | Place::Gone => rejected("last rejected by ", None).into_iter().collect(),
    }
}

/// Returns how likely a pod of activeQ is the first of those that came together; `None` where it came alone.
fn first_of_alike(scene: &Scene<'_>, entry: &QueueEntry) -> Option<Fact> {
    let alike = scene.timeline.queues().alike(&entry.pod);
    let share = Share::new(1, u64::try_from(alike).ok().filter(|alike| *alike > 1)?).in_words();
    Some(fact("popped first ", format!("{share}, as is each of the {alike} that came together"), Role::Text))
}

/// Returns the gate of the group of a pod that nothing else gates.
pub(super) fn group_gate<'a>(scene: &Scene<'a>, entry: &QueueEntry) -> Option<&'a GroupGate> {
    let pod = scene.timeline.keyframe().cluster.pods.get(&entry.pod)?;
    Some(&**scene.timeline.queues().group_gate(pod)?)
}

/// Returns the scheduling gates of a pod.
pub(super) fn gates<'a>(scene: &Scene<'a>, entry: &QueueEntry) -> Vec<&'a str> {
    let pod = scene.timeline.keyframe().cluster.pods.get(&entry.pod);
    pod.into_iter().flat_map(|p| p.spec.scheduling_gates.iter()).map(|g| g.name.as_str()).collect()
}

/// Returns the cause and time of the last move. Drops the time if it equals the start of waiting.
fn moved(scene: &Scene<'_>, entry: &QueueEntry, last: &QueueMove) -> Fact {
    let read = |at| text::moment(scene.timeline.clock(), at);
    let at = scene.state.view_model.activity.shown.moved_at.map(read).filter(|at| *at != read(entry.timestamp));
    // A failed attempt always comes from in flight.
    let by_failure = last.cause == MoveCause::Label(EventLabel::ScheduleAttemptFailure);
    let from = last.from.as_ref().filter(|_| !by_failure).and_then(QueuePart::of);
    let here = scene.state.view_model.revision.moved.contains(&entry.pod);
    let (mark, role) = if here { (format!("{} ", scene.glyphs.moved), Role::Moved) } else { (String::new(), Role::Text) };
    if from.is_none() && is_addition(last.cause) {
        return fact(format!("{mark}new"), at.map_or_else(String::new, |at| format!(" at {at}")), role);
    }
    let mut words = Vec::new();
    words.extend(at.map(|at| format!("at {at}")));
    words.extend(from.map(|p| format!("from {}", p.title())));
    let of_cycle = match &last.to {
        Place::InFlight => "popped for its attempt",
        Place::WaitingOnPermit { .. } => "a Permit plugin asked it to wait",
        _ => "its attempt is over",
    };
    words.push(match (last.cause, last.plugin) {
        (MoveCause::Cycle, _) => format!("({of_cycle})"),
        (cause, Some(plugin)) => format!("as {}: {plugin} said Queue", cause_words(cause)),
        (cause, None) => format!("as {}", cause_words(cause)),
    });
    fact(format!("{mark}moved "), words.join(" "), role)
}

/// Returns the cause of a move as a clause.
fn cause_words(cause: MoveCause) -> String {
    match cause {
        MoveCause::Cluster(event) => event.words_with_label(),
        MoveCause::Label(EventLabel::BackoffComplete) => "its backoff ended (BackoffComplete)".to_owned(),
        MoveCause::Label(EventLabel::PopFromBackoffQ) => "activeQ was empty (PopFromBackoffQ)".to_owned(),
        MoveCause::Label(EventLabel::ScheduleAttemptFailure) => "its attempt failed (ScheduleAttemptFailure)".to_owned(),
        MoveCause::Label(EventLabel::UnschedulableTimeout) => "it had waited too long (UnschedulableTimeout)".to_owned(),
        MoveCause::Label(EventLabel::ForceActivate) => "a plugin activated it (ForceActivate)".to_owned(),
        other => other.to_string(),
    }
}

/// Returns whether the pod came to the queue by its creation.
fn is_addition(cause: MoveCause) -> bool {
    match cause {
        MoveCause::Cluster(event) => event == ClusterEvent::new(EventResource::UnschedulablePod, ActionType::ADD),
        MoveCause::Label(label) => label == EventLabel::PodAdd,
        MoveCause::Cycle => false,
    }
}

fn since(scene: &Scene<'_>, entry: &QueueEntry) -> Option<Fact> {
    let now = scene.timeline.clock();
    let known = entry.timestamp != jiff::Timestamp::UNIX_EPOCH && entry.timestamp <= now;
    known.then(|| {
        // At its start the scheduler queues one pod each millisecond, the last one at the start: none before its creation.
        let pod = scene.timeline.keyframe().cluster.pods.get(&entry.pod);
        let created = pod.and_then(|pod| pod.metadata.creation_timestamp).filter(|created| *created <= now);
        let since = created.map_or(entry.timestamp, |created| created.max(entry.timestamp));
        let (at, span) = (text::moment(now, since), text::span(since, now));
        fact("waiting since ", format!("{at}, for {span}"), Role::Text)
    })
}

/// Returns the events that would requeue a parked pod, by plugin. Any one of them suffices.
fn wakes(scene: &Scene<'_>, entry: &QueueEntry) -> Vec<Fact> {
    if !matches!(entry.place, Place::Unschedulable { .. }) {
        return Vec::new();
    }
    let keyframe = scene.timeline.keyframe();
    let Some(pod) = keyframe.cluster.pods.get(&entry.pod) else { return Vec::new() };
    let mut facts = Vec::new();
    for plugin in entry.plugins.iter() {
        let events = keyframe.requeue_events.of(&pod.spec.scheduler_name, plugin);
        let words: Vec<String> = events.iter().map(ClusterEvent::words_with_label).collect();
        let list = if words.is_empty() { "no event".to_owned() } else { words.join(", ") };
        let name = if facts.is_empty() { "woken by " } else { "or by " };
        facts.push(fact(name, format!("{plugin}: {list}"), Role::Text));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shared_fairly() {
        let check = |wanted: &[usize], room: usize, expected: &[usize]| assert_eq!(share(wanted, room), expected, "{wanted:?} in {room}");
        check(&[1, 3, 2], 9, &[1, 3, 2]);
        check(&[1, 3, 2], 5, &[1, 2, 2]);
        check(&[1, 3, 2], 4, &[1, 2, 1]);
        check(&[1, 3, 2], 2, &[1, 1, 0]);
        check(&[4], 0, &[0]);
        check(&[], 3, &[]);
        check(&[0, 5], 3, &[0, 3]);
    }

    #[test]
    fn facts_fold_with_an_indent_and_are_cut_with_an_ellipsis() {
        let fold = |name: &str, value: &str, width| folded(&fact(name, value, Role::Text), width, usize::MAX);
        assert_eq!(fold("woken by ", "NodeName: NodeAdd, NodeDelete", 20), ["woken by NodeName:", "  NodeAdd,", "  NodeDelete"]);
        assert_eq!(fold("woken by ", "", 20), ["woken by"]);
        assert_eq!(fold("", "abcdefgh", 4), ["abcd", "  ef", "  gh"]);
        assert_eq!(fold("a ", "b\n  c", 40), ["a b c"]);
        assert!(fold("", "", 4).is_empty());
        assert_eq!(ellipsed("NodeAdd,", 10, "…"), "NodeAdd, …");
        assert_eq!(ellipsed("NodeAdd,", 9, "…"), "NodeAdd,…");
        assert_eq!(ellipsed("NodeAdd,", 8, "…"), "NodeAdd…");
    }
}
