//! The first line: the source, and the place in time.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::cluster::{Cluster, Kind};
use crate::session::{InitialQueues, Revision};
use crate::ui::config::theme::Role;
use crate::ui::model::text;
use crate::ui::model::text::count;
use crate::ui::view::draw::Scene;

/// The width from which the header shows the program's name.
const NAMED_FROM: u16 = 100;

/// The least columns of the source.
const SHORTEST_SOURCE: usize = 5;

/// Draws the header.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let right = place(scene);
    let right_width: usize = right.iter().map(|s| text::width(&s.content)).sum();
    let moment = scene.timeline.moment();
    let dot = format!(" {} ", scene.glyphs.dot);
    let (mut started, short_start) = match scene.timeline.started() {
        InitialQueues::Fresh => ("fresh start", "fresh"),
        InitialQueues::AsObserved => ("as observed", "observed"),
    };
    // Mark a dry decision: it changes nothing in the cluster.
    let mut alone = if scene.timeline.revision().is_some_and(Revision::is_dry_decision) { "dry decision" } else { "" };
    // A narrow screen drops the program's name first: it is not a fact about the cluster.
    let lead = if area.width < NAMED_FROM { " " } else { " schedscope  " };
    let room = usize::from(area.width).saturating_sub(right_width + 2);
    let live = match &scene.live {
        Some(live) => (live.words.clone(), if live.trouble { Role::Warning } else { Role::Notice }),
        None => (String::new(), Role::Muted),
    };
    let label = scene.release.label();
    let is_narrow = area.width < NAMED_FROM;
    let mut release = if is_narrow { label } else { format!("kube-scheduler {label}") };
    let width = |s: &str| if s.is_empty() { 0 } else { text::width(s) + text::width(&dot) };
    let mut always: usize = [scene.branch, alone, started, live.0.as_str(), release.as_str()].into_iter().map(width).sum();
    let least = text::width(lead) + SHORTEST_SOURCE;
    // Where room is short, words of the start of the queues and of the dry decision go first, and the release last.
    let mut shorten = |fact: &mut &'static str, shorter: &'static str| {
        if least + always > room && !fact.is_empty() {
            always = always - width(fact) + width(shorter);
            *fact = shorter;
        }
    };
    shorten(&mut started, short_start);
    shorten(&mut alone, "dry");
    shorten(&mut started, "");
    if least + always > room {
        always -= width(&release);
        release.clear();
    }
    let left = room.saturating_sub(text::width(lead) + always).max(SHORTEST_SOURCE);
    let source = text::clip_middle(scene.source, left, scene.glyphs.ellipsis).into_owned();
    // Drop the counts before the release.
    let mut spare = room.saturating_sub(text::width(lead) + text::width(&source) + always);
    let counts = [known(&moment.cluster, Kind::Node, "node"), known(&moment.cluster, Kind::Pod, "pod")].map(|(role, words)| {
        let fits = width(&words) <= spare;
        spare = if fits { spare - width(&words) } else { 0 };
        (role, if fits { words } else { String::new() })
    });
    let [nodes, pods] = counts;
    let facts = [
        (Role::Strong, source),
        (live.1, live.0.clone()),
        (Role::Accent, scene.branch.to_owned()),
        (Role::Notice, alone.to_owned()),
        (Role::Muted, started.to_owned()),
        nodes,
        pods,
        (Role::Muted, release),
    ];
    let mut spans = vec![scene.span(Role::Title, lead)];
    let mut used = text::width(lead);
    for (i, (role, fact)) in facts.into_iter().filter(|(_, fact)| !fact.is_empty()).enumerate() {
        used += text::width(&fact) + if i > 0 { text::width(&dot) } else { 0 };
        if i > 0 && used > room {
            break;
        }
        if i > 0 {
            spans.push(scene.span(Role::Muted, dot.clone()));
        }
        spans.push(scene.span(role, fact));
    }
    scene.line(buf, Rect { width: room as u16, ..area }, &Line::from(spans));
    let width = (right_width as u16).min(area.width);
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

fn place(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let timeline = scene.timeline;
    let revisions = timeline.revisions();
    let now = timeline.clock();
    let start = revisions.first().map_or(now, |f| f.before.clock);
    let cursor = timeline.cursor();
    let number = if revisions.is_empty() { 0 } else { cursor.revision + 1 };
    let steps = timeline.revision().map_or(0, |f| f.events.len());
    let pair = |name: &str, value: String| [scene.span(Role::Muted, format!("{name} ")), scene.span(Role::Text, format!("{value}  "))];
    let mut spans = Vec::new();
    spans.extend(pair("rev", format!("{number}/{}", revisions.len())));
    spans.extend(pair("step", format!("{}/{steps}", cursor.event)));
    spans.extend(pair("clock", text::since(start, now)));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_could_not_be_read_are_unknown_and_not_none() {
        let mut cluster = Cluster::default();
        assert_eq!(known(&cluster, Kind::Node, "node"), (Role::Muted, "0 nodes".to_owned()));
        cluster.unknown.refused.insert(Kind::Node);
        assert_eq!(known(&cluster, Kind::Node, "node"), (Role::Warning, "nodes unknown".to_owned()));
        assert_eq!(known(&cluster, Kind::Pod, "pod"), (Role::Muted, "0 pods".to_owned()));
    }
}
