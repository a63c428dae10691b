//! A row for a group of nodes: the counts of verdicts, the sum of free resources, and the most on one node, because free
//! cpu in small pieces is of no use to a large pod.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::{CPU, MEMORY, RowStyle, reason_cells, short_word, unseen_reason, verdict_word};

use crate::ui::config::theme::Role;
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::Group;
use crate::ui::model::text;
use crate::ui::model::verdict::Class;
use crate::ui::view::draw::Scene;
use crate::ui::view::widgets::table;

/// The width of the bar of verdicts.
const BAR: usize = 10;

pub(super) fn draw(scene: &Scene<'_>, style: &RowStyle<'_>, group: &Group, area: Rect, buf: &mut Buffer) {
    let arrow = if group.open { scene.glyphs.open } else { scene.glyphs.closed };
    let nodes = text::count(group.count, "node");
    let widths = table::areas(&style.plain, area);
    let room = |title: &str| style.plain.iter().position(|c| c.title == title).map_or(0, |at| usize::from(widths[at].width));
    let mut cells = vec![vec![scene.span(Role::Accent, format!("{arrow} "))]];
    match &group.key {
        GroupKey::Verdict { class, plugin, reason } => {
            cells[0].push(scene.span(Role::Strong, nodes));
            let (sign, role) = scene.verdict(*class);
            cells.push(vec![scene.span(role, format!("{sign} {}", verdict_word(scene, style, *class)))]);
            let unseen = if *class == Class::Unseen { unseen_reason(scene, style) } else { String::new() };
            reason_cells(scene, style, *plugin, if unseen.is_empty() { reason } else { &unseen }, &mut cells);
        }
        GroupKey::Label { value, .. } => {
            let role = if value.is_some() { Role::Strong } else { Role::Muted };
            cells[0].push(scene.span(role, group.key.words().to_owned()));
            let tried = scene.cycle().start.is_some();
            cells.push(if tried { bar(scene, group) } else { Vec::new() });
            let by = style.plain.iter().any(|c| c.title == "BY");
            if by {
                cells.push(vec![scene.span(Role::Text, nodes.clone())]);
            }
            let head = if by { String::new() } else { format!("{nodes}: ") };
            cells.push(match tried {
                false if by => Vec::new(),
                false => vec![scene.span(Role::Text, nodes)],
                true => fitting(scene, group, head, room("REASON")),
            });
        }
    }
    // Above a hundred cores, drop the thousandths.
    let sum = if group.cpu >= 100_000 { group.cpu - group.cpu % 1000 } else { group.cpu };
    let cpu = (sum, group.most_cpu, style.asked.cpu);
    let memory = (group.memory, group.most_memory, style.asked.memory);
    for column in &style.plain {
        match column.title {
            CPU => cells.push(vec![free(scene, room(CPU), group.count, cpu, text::cpu)]),
            MEMORY => cells.push(vec![free(scene, room(MEMORY), group.count, memory, text::memory)]),
            _ => {}
        }
    }
    table::row(scene, &style.plain, area, &cells, buf);
    let selected = matches!(&scene.state.list(Pane::NODES).selected, Some(RowId::Group(k)) if *k == group.key);
    table::mark(scene, area, selected, scene.state.focus == Pane::NODES, buf);
}

/// Returns the counts of verdicts in the longest form that fits: `12 nodes: 9 ✗ unsched.  3 ⊘ unresolv.`, glyphs only,
/// glyphs without gaps, or that without the number of nodes.
fn fitting(scene: &Scene<'_>, group: &Group, head: String, room: usize) -> Vec<Span<'static>> {
    let with = |head: String, words: bool, apart: &str| {
        let mut spans = if head.is_empty() { Vec::new() } else { vec![scene.span(Role::Text, head)] };
        for (at, (class, n)) in group.classes.iter().enumerate() {
            let (sign, role) = scene.verdict(*class);
            let word = if words { format!(" {}", short_word(*class)) } else { String::new() };
            let gap = [if words { "  " } else { " " }, ""][usize::from(at == 0)];
            spans.push(scene.span(role, format!("{gap}{}{apart}{sign}{word}", text::thousands(*n))));
        }
        spans
    };
    let fits = |spans: &Vec<Span<'_>>| spans.iter().map(|s| text::width(&s.content)).sum::<usize>() <= room;
    let forms = [with(head.clone(), true, " "), with(head.clone(), false, " "), with(head, false, "")];
    forms.into_iter().find(fits).unwrap_or_else(|| with(String::new(), false, ""))
}

/// Returns the verdicts as a bar of their glyphs.
fn bar(scene: &Scene<'_>, group: &Group) -> Vec<Span<'static>> {
    let counts: Vec<usize> = group.classes.values().copied().collect();
    let part = |((class, _), cells): ((&Class, &usize), usize)| {
        let (sign, role) = scene.verdict(*class);
        scene.span(role, sign.repeat(cells))
    };
    group.classes.iter().zip(shares(&counts, BAR)).map(part).collect()
}

/// Divides cells among counts in proportion; each count gets at least one if there are enough.
fn shares(counts: &[usize], cells: usize) -> Vec<usize> {
    let total: usize = counts.iter().sum();
    let mut shares: Vec<usize> = counts.iter().map(|n| (n * cells / total.max(1)).max(usize::from(*n > 0))).collect();
    while shares.iter().sum::<usize>() != cells && total > 0 {
        let short = shares.iter().sum::<usize>() < cells;
        // The share furthest from its due gives or takes a cell; a share of one gives only if all are.
        let due = |at: &usize| counts[*at] as i128 * cells as i128 - shares[*at] as i128 * total as i128;
        let at = if short { (0..shares.len()).max_by_key(due) } else { (0..shares.len()).filter(|at| shares[*at] > 1).min_by_key(due) };
        let Some(at) = at else { break };
        if short { shares[at] += 1 } else { shares[at] -= 1 }
    }
    shares
}

/// Formats the sum, the maximum and a larger request: `sum 96, max 1.9 < 6`, or the longest part of it that fits.
fn free(
    scene: &Scene<'_>,
    room: usize,
    count: usize,
    (sum, most, asked): (i64, i64, Option<i64>),
    show: fn(i64) -> String,
) -> Span<'static> {
    let (limit, role) = match asked {
        Some(asked) if asked > most => (format!(" < {}", show(asked)), Role::Unschedulable),
        Some(_) => (String::new(), Role::Fits),
        None => (String::new(), Role::Text),
    };
    let one = format!("{}{limit}", show(most));
    let sum = show(sum);
    let all = [format!("sum {sum}, max {one}"), format!("max {one}")];
    let words = all.into_iter().filter(|_| count > 1).find(|words| text::width(words) <= room);
    scene.span(role, words.unwrap_or(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_a_part_of_the_bar() {
        for (counts, expected) in [
            (&[1, 1][..], &[5, 5][..]),
            (&[1, 999], &[1, 9]),
            (&[1, 1, 998], &[1, 1, 8]),
            (&[7], &[10]),
            (&[1, 2], &[3, 7]),
            (&[1, 1, 1], &[3, 3, 4]),
            (&[], &[]),
        ] {
            assert_eq!(shares(counts, BAR), expected, "{counts:?}");
        }
    }
}
