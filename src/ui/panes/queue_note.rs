//! Everything that is known of the pod selected among the queues, below their list.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::framework::{PluginName, PluginSet};
use crate::trace::{MoveCause, Place, QueueEntry, QueueMove};
use crate::ui::layout::split_top;
use crate::ui::rows::QueuePart;
use crate::ui::scene::{Scene, put};
use crate::ui::text;
use crate::ui::theme::Role;

/// Lines that go on below begin with so many spaces.
const INDENT: usize = 2;
/// Hint answers that are shown, the last ones.
const HINTS: usize = 3;

/// A fact: its name, what it says, and the role of that.
struct Fact {
    name: String,
    value: String,
    role: Role,
}

fn fact(name: impl Into<String>, value: impl Into<String>, role: Role) -> Fact {
    Fact { name: name.into(), value: value.into(), role }
}

/// Draws the note about the selected pod under a rule with its name.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let (rule, body) = split_top(area, 1);
    for x in rule.left()..rule.right() {
        buf[(x, rule.y)].set_symbol(scene.glyphs.border.horizontal_top).set_style(scene.style(Role::Border));
    }
    let Some(entry) = scene.state.selected_pod().and_then(|k| scene.timeline.queues().entries.get(k)) else { return };
    let name = Rect { x: rule.x + 1, width: rule.width.saturating_sub(2), ..rule };
    let words = text::clip_middle(&entry.pod.to_string(), usize::from(name.width).saturating_sub(2), scene.glyphs.ellipsis).into_owned();
    put(buf, name, &[scene.span(Role::Strong, format!(" {words} "))], scene.glyphs.ellipsis);
    let (width, room) = (usize::from(body.width), usize::from(body.height));
    let mut facts = facts(scene, entry, width);
    facts.extend(wakes(scene, entry));
    let lines: Vec<Vec<String>> = facts.iter().map(|f| folded(f, width)).collect();
    let shares = share(&lines.iter().map(Vec::len).collect::<Vec<_>>(), room);
    let mut y = body.y;
    for (i, (fact, share)) in facts.iter().zip(&shares).enumerate() {
        // What is cut is this fact, or all that come after it.
        let cut = *share < lines[i].len() || shares.get(i + 1) == Some(&0);
        for (j, line) in lines[i].iter().take(*share).enumerate() {
            let last = cut && j + 1 == *share;
            let line = if last { ellipsed(line, width, scene.glyphs.ellipsis) } else { line.clone() };
            let name = fact.name.trim_end();
            let split = if j == 0 && line.starts_with(name) { name.len() } else { 0 };
            let spans = [scene.span(Role::Muted, &line[..split]), scene.span(fact.role, &line[split..])];
            put(buf, Rect { y, height: 1, ..body }, &spans, scene.glyphs.ellipsis);
            y += 1;
        }
    }
}

/// Lines for each fact: one for each as long as there are any, and then more in turn where more are wanted.
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

/// The fact in lines of at most `width`, all but the first a little to the right.
fn folded(fact: &Fact, width: usize) -> Vec<String> {
    let text = format!("{}{}", fact.name, fact.value);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(first) = text::wrap(&text, width).into_iter().next() else { return Vec::new() };
    let rest = text[first.len()..].trim_start();
    let more = text::wrap(rest, width.saturating_sub(INDENT).max(1)).into_iter().map(|l| format!("{}{l}", " ".repeat(INDENT)));
    std::iter::once(first).chain(more).collect()
}

fn ellipsed(line: &str, width: usize, ellipsis: &str) -> String {
    let longer = format!("{line} {ellipsis}");
    if text::width(&longer) <= width { longer } else { text::cut(line, width, ellipsis) }
}

/// What is known of a waiting pod, most important first, but for the events that would wake it.
fn facts(scene: &Scene<'_>, entry: &QueueEntry, width: usize) -> Vec<Fact> {
    let mut facts = first(scene, entry, width);
    facts.extend(place(scene, entry));
    if let Some(why) = &entry.inferred {
        facts.push(fact(format!("{} inferred: ", scene.glyphs.inferred), why.clone(), Role::Warning));
    }
    if let Some(last) = &entry.last_move {
        facts.push(moved(scene, entry, last));
    }
    let hints = &scene.state.derived.story.hints;
    for answer in &hints[hints.len().saturating_sub(HINTS)..] {
        let error = answer.error.as_ref().map(|e| format!(", as it failed: {e}")).unwrap_or_default();
        facts.push(fact(format!("{}: ", answer.event), format!("{} says {}{error}", answer.plugin, answer.hint), Role::Text));
    }
    facts.extend(since(scene, entry));
    facts
}

/// Priority, attempts and nomination, in one line where they fit.
fn first(scene: &Scene<'_>, entry: &QueueEntry, width: usize) -> Vec<Fact> {
    let dot = scene.glyphs.dot;
    let numbers = format!("{} {dot} {}", entry.priority, text::count(entry.attempts as usize, "attempt"));
    if entry.nominated.is_empty() {
        return vec![fact("priority ", numbers, Role::Text)];
    }
    let together = format!("{numbers} {dot} nominated to {}", entry.nominated);
    if text::width("priority ") + text::width(&together) <= width {
        return vec![fact("priority ", together, Role::Text)];
    }
    vec![fact("priority ", numbers, Role::Text), fact("nominated to ", entry.nominated.to_string(), Role::Nominated)]
}

/// What keeps the pod where it is.
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
        Place::Unschedulable { .. } => rejected("rejected by ", None).into_iter().collect(),
        Place::Backoff { expires, error } => {
            let at = text::moment(now, *expires);
            let name = if *error { "error backoff" } else { "backoff" };
            let early = if *error { "; never popped early" } else { "; sooner where activeQ runs empty" };
            let ends = if *expires > now {
                fact(format!("{name} ends "), format!("in {}, at {at}{early}", text::until(now, *expires)), Role::Warning)
            } else {
                fact(format!("{name} ended "), format!("at {at}; leaves at the next whole second"), Role::Warning)
            };
            std::iter::once(ends).chain(rejected("rejected by ", None)).collect()
        }
        Place::WaitingOnPermit { node } => {
            let mut facts = vec![fact("assumed on ", node.to_string(), Role::Accent)];
            for (plugin, until) in &scene.state.derived.story.permit {
                let left = if *until > now { format!(", for {} more", text::span(now, *until)) } else { String::new() };
                facts.push(fact("waits for ", format!("{plugin} until {}{left}", text::moment(now, *until)), Role::Text));
            }
            facts
        }
        Place::Active | Place::InFlight | Place::Bound { .. } | Place::Gone => rejected("last rejected by ", None).into_iter().collect(),
    }
}

/// The scheduling gates of a pod.
pub fn gates<'a>(scene: &Scene<'a>, entry: &QueueEntry) -> Vec<&'a str> {
    let pod = scene.timeline.moment().cluster.pods.get(&entry.pod);
    pod.into_iter().flat_map(|p| p.spec.scheduling_gates.iter()).map(|g| g.name.as_str()).collect()
}

fn moved(scene: &Scene<'_>, entry: &QueueEntry, last: &QueueMove) -> Fact {
    let now = scene.timeline.clock();
    let arrived = last.from.is_none() || matches!(last.cause, MoveCause::Label(crate::framework::EventLabel::ScheduleAttemptFailure));
    // These two stamp the pod with the time at which they move it.
    let at = scene.state.derived.story.moved_at.or_else(|| arrived.then_some(last.order.timestamp));
    let at = at.map(|at| format!("at {} ", text::moment(now, at))).unwrap_or_default();
    let what = match (last.cause, &last.to, last.plugin) {
        (MoveCause::Cycle, Place::InFlight, _) => "popped for its attempt".to_owned(),
        (MoveCause::Cycle, Place::WaitingOnPermit { .. }, _) => "a Permit plugin asked to wait".to_owned(),
        (MoveCause::Cycle, ..) => "its attempt".to_owned(),
        (cause, _, Some(plugin)) => format!("by {cause}: {plugin} said Queue"),
        (cause, ..) => format!("by {cause}"),
    };
    let from = last.from.as_ref().and_then(QueuePart::of).map(|p| format!("from {} ", p.title()));
    let here = scene.state.derived.moved.contains(&entry.pod);
    let (name, role) = if here { (format!("{} moved ", scene.glyphs.moved), Role::Moved) } else { ("moved ".to_owned(), Role::Text) };
    fact(name, format!("{at}{}{what}", from.unwrap_or_default()), role)
}

fn since(scene: &Scene<'_>, entry: &QueueEntry) -> Option<Fact> {
    let now = scene.timeline.clock();
    let known = entry.timestamp != jiff::Timestamp::UNIX_EPOCH && entry.timestamp <= now;
    known.then(|| {
        let (at, span) = (text::moment(now, entry.timestamp), text::span(entry.timestamp, now));
        fact("waiting since ", format!("{at}, for {span}"), Role::Text)
    })
}

/// The events that would wake a parked pod, by the plugin that would be asked; any one of them is enough.
fn wakes(scene: &Scene<'_>, entry: &QueueEntry) -> Vec<Fact> {
    if !matches!(entry.place, Place::Unschedulable { .. }) {
        return Vec::new();
    }
    let moment = scene.timeline.moment();
    let Some(pod) = moment.cluster.pods.get(&entry.pod) else { return Vec::new() };
    let mut facts = Vec::new();
    for plugin in entry.plugins.iter() {
        let events = moment.wakes.of(&pod.spec.scheduler_name, plugin);
        let list = if events.is_empty() { "no event".to_owned() } else { events.join(", ") };
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
        let fold = |name: &str, value: &str, width| folded(&fact(name, value, Role::Text), width);
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
