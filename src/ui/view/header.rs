//! The first line: the source, and the place in time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::cluster::{Cluster, Kind};
use crate::session::{InitialQueues, Revision};
use crate::ui::config::action::Action;
use crate::ui::config::theme::Role;
use crate::ui::model::live_status::LiveStatus;
use crate::ui::model::text;
use crate::ui::model::text::count;
use crate::ui::view::draw::Scene;

/// The width from which the header shows the program's name.
const NAMED_FROM: u16 = 100;

/// The name before the release, on a wide screen.
const NAME: &str = "kube-scheduler ";

/// The least columns of the source.
const SHORTEST_SOURCE: usize = 5;

/// The columns that a source keeps before the release and the age go.
const SHORT_SOURCE: usize = 16;

/// The columns that the name of a live cluster keeps before the release goes.
const SHORT_CONTEXT: usize = 10;

/// The facts of the header that may be shortened or left out.
#[derive(Clone, Default)]
struct Facts {
    source: String,
    live: String,
    /// The same for a narrow header.
    live_in_brief: String,
    /// Where the reason of a live cluster's trouble is shown.
    hint: String,
    branch: String,
    /// That the decision is a dry one.
    dry: String,
    /// How the queues started.
    start: String,
    /// The age of the dump.
    taken: String,
    release: String,
    /// The number of the revision is shown.
    revision: bool,
    /// The clock is shown although it has not moved.
    clock_at_start: bool,
    /// The clock is shown.
    clock: bool,
}

impl Facts {
    /// Returns the columns with `gap` columns between facts.
    fn width(&self, gap: usize) -> usize {
        let all = [&self.source, &self.live, &self.hint, &self.branch, &self.dry, &self.start, &self.taken, &self.release];
        let shown = all.into_iter().filter(|fact| !fact.is_empty());
        shown.map(|fact| text::width(fact) + gap).sum::<usize>().saturating_sub(gap)
    }
}

/// Returns the names of the files of a source without their directories.
fn without_directories(source: &str) -> String {
    let name = |word: &str| word.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    source.split(' ').map(name).collect::<Vec<String>>().join(" ")
}

/// Shortens one fact; takes the number of columns that are too many.
type Shortening<'a> = dyn Fn(&mut Facts, usize) + 'a;

/// Shortens the facts until they fit, in this order: the start of the queues, directories, a clock that has not moved, the number
/// of the revision, the dry decision, the release's remark, of a live cluster the scheduler's name and the clock, where trouble is
/// explained, the state of a live cluster, the middle of the source; the release and the age last.
fn fitted(mut facts: Facts, ellipsis: &str, fits: impl Fn(&Facts) -> Option<usize>) -> Facts {
    let clip = |facts: &mut Facts, over: usize, least: usize| {
        let room = text::width(&facts.source).saturating_sub(over).max(least);
        facts.source = text::clip_middle(&facts.source, room, ellipsis).into_owned();
    };
    let steps: [&Shortening<'_>; 16] = [
        &|facts, _| facts.start = ["fresh", "observed"].into_iter().find(|word| facts.start.contains(word)).unwrap_or_default().to_owned(),
        &|facts, _| facts.source = without_directories(&facts.source),
        &|facts, _| facts.clock_at_start = false,
        &|facts, _| facts.revision = false,
        &|facts, _| facts.start.clear(),
        &|facts, _| facts.dry.truncate("dry".len()),
        &|facts, _| facts.release = facts.release.split(" (").next().unwrap_or_default().to_owned(),
        &|facts, _| {
            if !facts.live.is_empty() {
                facts.release = facts.release.trim_start_matches(NAME).to_owned();
            }
        },
        // The clock of a live cluster is that of the wall.
        &|facts, _| facts.clock = facts.live.is_empty(),
        &|facts, _| facts.hint.clear(),
        &|facts, _| facts.live = facts.live_in_brief.clone(),
        &|facts, over| clip(facts, over, SHORT_SOURCE),
        &|facts, over| {
            if !facts.live.is_empty() {
                clip(facts, over, SHORT_CONTEXT);
            }
        },
        &|facts, _| facts.release.clear(),
        &|facts, _| facts.taken.clear(),
        &|facts, over| clip(facts, over, SHORTEST_SOURCE),
    ];
    for step in steps {
        let Some(over) = fits(&facts) else { break };
        step(&mut facts, over);
    }
    facts
}

/// Returns the facts, all of them in full.
fn all_facts(scene: &Scene<'_>, is_troubled: bool, release: String) -> Facts {
    let live = |words: fn(&LiveStatus) -> String| scene.live.as_ref().map(words).unwrap_or_default();
    let start = match scene.timeline.start().initial_queues {
        InitialQueues::Fresh => "fresh start",
        InitialQueues::AsObserved => "as observed",
    };
    Facts {
        source: scene.source.to_owned(),
        live: live(LiveStatus::label),
        live_in_brief: live(LiveStatus::brief_label),
        hint: if is_troubled { format!("{} says why", scene.key(&Action::REPORT)) } else { String::new() },
        branch: scene.branch.to_owned(),
        // Mark a dry decision: it changes nothing in the cluster.
        dry: if scene.timeline.revision().is_some_and(Revision::is_dry_decision) { "dry decision" } else { "" }.to_owned(),
        start: start.to_owned(),
        taken: scene.taken.unwrap_or_default().to_owned(),
        release,
        revision: true,
        clock_at_start: true,
        clock: true,
    }
}

/// Draws the header.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let keyframe = scene.timeline.keyframe();
    let dot = format!(" {} ", scene.glyphs.dot);
    let gap = text::width(&dot);
    // A narrow screen drops the program's name first: it is not a fact about the cluster.
    let is_narrow = area.width < NAMED_FROM;
    let lead = if is_narrow { " " } else { " schedscope  " };
    let label = scene.release.label();
    let is_troubled = scene.live.as_ref().is_some_and(|live| live.state.is_trouble());
    let facts = all_facts(scene, is_troubled, if is_narrow { label } else { format!("{NAME}{label}") });
    let columns = |spans: &[Span<'_>]| spans.iter().map(|span| text::width(&span.content)).sum::<usize>();
    let room = |facts: &Facts| usize::from(area.width).saturating_sub(columns(&place(scene, facts)) + 2);
    let facts = fitted(facts, scene.glyphs.ellipsis, |facts| {
        (text::width(lead) + facts.width(gap)).checked_sub(room(facts)).filter(|over| *over > 0)
    });
    let (right, room) = (place(scene, &facts), room(&facts));
    // Drop the counts before the release.
    let mut spare = room.saturating_sub(text::width(lead) + facts.width(gap));
    let counts = [known(&keyframe.cluster, Kind::Node, "node"), known(&keyframe.cluster, Kind::Pod, "pod")].map(|(role, words)| {
        let need = text::width(&words) + gap;
        let fits = need <= spare;
        spare = if fits { spare - need } else { 0 };
        (role, if fits { words } else { String::new() })
    });
    let [nodes, pods] = counts;
    let live_role = if is_troubled { Role::Warning } else { Role::Notice };
    let facts = [
        (Role::Strong, facts.source),
        (live_role, facts.live),
        (live_role, facts.hint),
        (Role::Accent, facts.branch),
        (Role::Notice, facts.dry),
        (Role::Muted, facts.start),
        nodes,
        pods,
        (Role::Muted, facts.taken),
        (Role::Muted, facts.release),
    ];
    let mut spans = vec![scene.span(Role::Title, lead)];
    let mut used = text::width(lead);
    for (i, (role, fact)) in facts.into_iter().filter(|(_, fact)| !fact.is_empty()).enumerate() {
        used += text::width(&fact) + if i > 0 { gap } else { 0 };
        if i > 0 && used > room {
            break;
        }
        if i > 0 {
            spans.push(scene.span(Role::Muted, dot.clone()));
        }
        spans.push(scene.span(role, fact));
    }
    scene.line(buf, Rect { width: room as u16, ..area }, &Line::from(spans));
    let width = (columns(&right) as u16).min(area.width);
    scene.line(buf, Rect { x: area.right() - width, width, ..area }, &Line::from(right));
}

/// Returns the number of objects of a kind, or that they are unknown.
fn known(cluster: &Cluster, kind: Kind, one: &str) -> (Role, String) {
    let objects = cluster.count(kind);
    if objects == 0 && cluster.unknown.why(kind).is_some() {
        return (Role::Warning, format!("{one}s unknown"));
    }
    (Role::Muted, count(objects, one))
}

/// Returns the place in time.
fn place(scene: &Scene<'_>, facts: &Facts) -> Vec<Span<'static>> {
    let timeline = scene.timeline;
    let revisions = timeline.revisions();
    let now = timeline.clock();
    let start = revisions.first().map_or(now, |f| f.before.clock);
    let cursor = timeline.cursor();
    let number = if revisions.is_empty() { 0 } else { cursor.revision + 1 };
    let steps = timeline.revision().map_or(0, |f| f.events.len());
    let pair = |name: &str, value: String| [scene.span(Role::Muted, format!("{name} ")), scene.span(Role::Text, format!("{value}  "))];
    let mut spans = Vec::new();
    if facts.revision {
        spans.extend(pair("rev", format!("{number}/{}", revisions.len())));
    }
    spans.extend(pair("step", format!("{}/{steps}", cursor.event)));
    if facts.clock && (facts.clock_at_start || now != start) {
        spans.extend(pair("clock", text::since(start, now)));
    }
    spans
}

#[cfg(test)]
mod tests;
