//! The pane of preemption: candidates, their victims, and the tie-break.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::{Elimination, elimination_of, odds_cell, odds_in_words, plain_value};
use crate::cluster::{Pod, Str};
use crate::framework::{Candidate, DryRunStep, ScoreFunction, ScoreFunctionName, Victim};
use crate::odds::Chance;
use crate::session::Timeline;
use crate::trace::{DryRunView, Fate, PreemptionView, victim_label};
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, PRIORITY, Width, fit, left, right};
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::CandidateRow;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::text::{StartTimes, count};
use crate::ui::model::verdict;
use crate::ui::model::verdict::Decision;
use crate::ui::model::view_model::ViewModel;
use crate::ui::model::{rows, text};
use crate::ui::view::draw::{Scene, put};
use crate::ui::view::layout::{Plan, split_bottom, split_top};
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::candidate::value;
use crate::ui::view::widgets::table;

/// The context of its keys.
pub const CONTEXT: Context = Context::pane("preemption", "In preemption");

pub static DEF: PaneDef = PaneDef {
    open_help: Some(("open", "show the candidate, or why the node is not one")),
    sort_help: "sort: winner first, name, fewest victims or violations",
    sorts: &[
        SortChoice::new(Sort::Usual, "winner first"),
        SortChoice::new(Sort::Name, "by name"),
        SortChoice::new(Sort::Victims, "fewest victims"),
        SortChoice::new(Sort::Violations, "fewest violations"),
    ],
    rows: Rows::List { make, get: |model| &model.rows.candidates },
    fields: rows::CANDIDATE_FIELDS,
    total: |_, timeline| timeline.cycle().preemption.as_ref().map(PreemptionView::begun_dry_runs),
    list_area: |plan, inner| split_top(split_bottom(inner, bottom_rows(inner.height, plan.candidate_rows)).0, top_rows(inner.height)).1,
    columns: |state, timeline, list, row| {
        let preemption = timeline.cycle().preemption.as_ref()?;
        let has_titles = Plan::of(state).inner(Pane::PREEMPTION).is_some_and(|inner| top_rows(inner.height) > 1);
        (has_titles && list.y.checked_sub(1) == Some(row)).then(|| columns(&state.view_model, preemption, timeline.clock(), list.width))
    },
    subject: |state, timeline| state.selected_candidate(timeline.cycle()).cloned().map(RowId::Node),
    node: |state, timeline| state.selected_candidate(timeline.cycle()).cloned(),
    open,
    of_decision: true,
    ..PaneDef::new(Pane::PREEMPTION, CONTEXT, ("go-to-preemption", "preemption"), draw)
};

fn make(state: &mut State, timeline: &Timeline) {
    let whole = state.view_model.cycle.whole.preemption.as_ref();
    state.view_model.rows.candidates = timeline.cycle().preemption.as_ref().map_or_else(Vec::new, |now| {
        rows::candidate_rows(now, whole, state.sort_of(Pane::PREEMPTION), &mut state.row_filter(Pane::PREEMPTION))
    });
}

/// Opens the selected candidate, or the node if it is not a candidate.
fn open(state: &mut State, session: &mut dyn SessionHandle) {
    let Some(RowId::Node(node)) = state.list(Pane::PREEMPTION).selected.clone() else { return };
    let timeline = session.timeline();
    if timeline.cycle().preemption.as_ref().is_some_and(|p| p.candidate(&node).is_some()) {
        state.arrangement.pinned = Some(timeline.cursor().revision);
        state.open_page(Pane::CANDIDATE);
    } else {
        state.open_node(node);
    }
}

/// Returns the rows above the list in a pane of this height: the summary, and the headings if a candidate has room below.
fn top_rows(height: u16) -> u16 {
    if height < 3 { 1 } else { 2 }
}

/// Returns the rows below the list in a pane of this height: those of the eliminations, and of the selected candidate's victims.
/// They get all that the list does not want.
fn bottom_rows(height: u16, wanted: u16) -> u16 {
    // The summary and the headings are above the list.
    if height < 8 { 0 } else { (height * 2 / 5).clamp(4, 9).max(height.saturating_sub(wanted.saturating_add(2))) }
}

/// Returns the least rows for sentences about eliminations, one each, in a pane of this height.
fn sentence_rows(height: u16) -> u16 {
    match height {
        ..8 => 0,
        8..16 => 1,
        16..28 => 3,
        _ => 5,
    }
}

/// The heading of the column of odds.
const ODDS: &str = "ODDS";
/// The width of that column.
const ODDS_WIDTH: u16 = 7;

/// Draws preemption.
fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let Some(preemption) = &scene.cycle().preemption else { return absent(def, scene, plan, buf) };
    let mut heading = def.title(scene, "Preemption");
    if preemption.hypothetical() {
        heading.push(scene.span(Role::Hypothetical, "  hypothetical: not reached in this cycle"));
    }
    let (done, found) = (preemption.finished_dry_runs(), preemption.candidate_count());
    let unhelpful = done.saturating_sub(found);
    let left = preemption.after_extenders().filter(|_| !preemption.extender_calls().is_empty());
    let left = left.map_or_else(String::new, |left| format!(" ({} after extenders)", left.len()));
    let words = format!("{done} dry-run, {}{left}, {unhelpful} not helpful", count(found, "candidate"));
    let right = if preemption.potential_nodes().is_empty() { Vec::new() } else { vec![scene.span(Role::Muted, words)] };
    let inner = def.chrome(scene, plan, heading, right, buf);
    if inner.is_empty() {
        return;
    }
    scene.line(buf, Rect { height: 1, ..inner }, &Line::from(summary(scene, preemption, usize::from(inner.width))));
    if preemption.potential_nodes().is_empty() {
        return ruled_out(scene, preemption, inner, buf);
    }
    let list = def.list_in(plan);
    let table = Table::new(&scene.state.view_model, preemption, scene.timeline.clock(), list.width);
    def.extent(scene, plan, buf);
    if scene.state.view_model.rows.candidates.is_empty() && !scene.state.filter(Pane::PREEMPTION).is_empty() {
        // Nor are there victims: those of a hidden node would be taken for those of a match.
        let words = format!("no node matches the filter: {} ends it", scene.key(&Action::BACK));
        let (_, below) = split_top(inner, 1);
        return scene.line(buf, split_top(below, 1).0, &Line::from(scene.span(Role::Muted, words)));
    }
    let over = done == preemption.begun_dry_runs();
    if found > 0 && list.y > inner.y + 1 {
        let titles = Rect { y: inner.y + 1, height: 1, ..inner };
        table::heading(scene, &table.columns, titles, buf);
        table::more(scene, !table.has_victims(), titles, buf);
    }
    draw_rows(scene, preemption, &table, over, list, buf);
    let below = split_bottom(inner, inner.height - list.height - top_rows(inner.height)).1;
    let selected = scene.state.selected_candidate(scene.cycle()).and_then(|node| preemption.candidate(node));
    let listed = selected.map_or(0, |candidate| u16::try_from(candidate.victims.len() + 1).unwrap_or(u16::MAX));
    let rows = sentence_rows(inner.height).max(below.height.saturating_sub(listed));
    let below = sentences(scene, preemption, split_top(below, rows), buf);
    victims(scene, preemption, below, buf);
}

/// Draws the rows of the list that are in sight. `over` tells whether no dry run is under way.
fn draw_rows(scene: &Scene<'_>, preemption: &PreemptionView, table: &Table, over: bool, list: Rect, buf: &mut Buffer) {
    let rows = scene.state.view_model.rows.candidates.iter().skip(scene.state.list(Pane::PREEMPTION).offset).take(usize::from(list.height));
    for (i, row) in rows.enumerate() {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            CandidateRow::Candidate(node) => {
                if let Some(candidate) = preemption.candidate(node) {
                    table.candidate(scene, preemption, candidate, area, buf);
                }
            }
            CandidateRow::Unhelpful(n) => {
                let words = if over { "TRIED, NOT A CANDIDATE" } else { "TRIED SO FAR, NO CANDIDATE" };
                scene.line(buf, area, &Line::from(scene.span(Role::Column, format!("  {words} ({n})"))));
            }
            CandidateRow::BeingTried => {
                scene.line(buf, area, &Line::from(scene.span(Role::Column, "  BEING TRIED")));
            }
            CandidateRow::Tried(node) => tried(scene, preemption, node, area, buf),
        }
        if let CandidateRow::Candidate(node) | CandidateRow::Tried(node) = row {
            let selected = matches!(&scene.state.list(Pane::PREEMPTION).selected, Some(RowId::Node(n)) if n == node);
            let focused = scene.state.focus == Pane::PREEMPTION;
            table::mark(scene, area, selected, focused, buf);
            if !focused && scene.state.view_model.linked.rows.contains(&RowId::Node(node.clone())) {
                table::link(area, buf);
            }
        }
    }
}

/// Adds why nothing is dry-run, unless the summary has it.
fn ruled_out(scene: &Scene<'_>, preemption: &PreemptionView, inner: Rect, buf: &mut Buffer) {
    if preemption.ineligible().is_none() && inner.height > 1 {
        let words = "no node rejected the pod for a reason that evicting pods could remove";
        scene.line(buf, Rect { y: inner.y + 1, height: 1, ..inner }, &Line::from(scene.span(Role::Muted, words)));
    }
}

fn absent(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let inner = def.chrome(scene, plan, def.title(scene, "Preemption"), Vec::new(), buf);
    let words = match () {
        () if scene.state.view_model.cycle.whole.preemption.is_some() => {
            format!("not reached yet: {} runs until preemption starts", scene.key(&Action::RUN))
        }
        () if scene.timeline.revisions().is_empty() => "nothing has been tried yet".to_owned(),
        () if scene.cycle().start.is_none() => "not a scheduling attempt".to_owned(),
        () => "this cycle does not try preemption".to_owned(),
    };
    scene.line(buf, Rect { height: 1, ..inner }, &Line::from(scene.span(Role::Muted, words)));
}

/// Returns the progress of the choice, or its result. Drops the explanation if it does not fit.
fn summary(scene: &Scene<'_>, preemption: &PreemptionView, room: usize) -> Vec<Span<'static>> {
    if let Some(why) = preemption.ineligible() {
        // Some releases give no reason; the answer above has the known facts.
        let (why, sign) = (why.message(), scene.glyphs.unresolvable);
        let colon = if why.is_empty() { "" } else { ": " };
        return vec![scene.span(Role::Unresolvable, format!("{sign} may not preempt{colon}")), scene.span(Role::Text, why)];
    }
    let Some((node, best)) = preemption.selected() else {
        let (done, all) = (preemption.finished_dry_runs(), preemption.potential_nodes().len());
        return match all {
            0 => vec![scene.span(Role::Unresolvable, format!("{} evicting pods would not help on any node", scene.glyphs.unresolvable))],
            _ if done == all && preemption.candidate_count() == 0 => {
                vec![
                    scene.span(
                        Role::Unresolvable,
                        format!("{} tried on {}: it helps on none", scene.glyphs.unresolvable, count(all, "node")),
                    ),
                ]
            }
            _ => vec![
                scene.span(Role::Fits, format!("{} may preempt", scene.glyphs.fits)),
                scene.span(
                    Role::Muted,
                    format!("  tried on {done} of {}, {} wanted", count(all, "node"), count(preemption.wanted_candidates(), "candidate")),
                ),
            ],
        };
    };
    let mut spans = vec![scene.span(Role::Winner, format!("{} {node}", scene.glyphs.winner))];
    let words = match verdict::decision(preemption) {
        Decision::By(name) => [format!("  decided by {name}"), format!(": {}", verdict::function_meaning(name))],
        Decision::OnlyOne => ["  the only candidate".to_owned(), String::new()],
        Decision::AnyOf(n) => [format!("  any of these {n} may win: {}", names(best)), "; the first by name is shown".to_owned()],
        Decision::Open => [String::new(), String::new()],
    };
    let [short, more] = words;
    let taken = text::width(&spans[0].content) + text::width(&short) + text::width(&more);
    let words = if taken <= room { short + &more } else { short };
    let taken = text::width(&spans[0].content) + text::width(&words);
    spans.push(scene.span(Role::Text, words));
    // That equal candidates are equally likely needs no words.
    let drawn = preemption.odds().filter(|odds| odds.first_chance() != Chance::LastTie).and_then(|odds| odds_in_words(odds, node));
    let drawn = drawn.map(|words| format!("; {words}")).filter(|words| taken + text::width(words) <= room);
    spans.extend(drawn.map(|words| scene.span(Role::Winner, words)));
    spans
}

fn names(nodes: &[Str]) -> String {
    let shown: Vec<&str> = nodes.iter().take(4).map(Str::as_str).collect();
    let more = nodes.len().saturating_sub(shown.len());
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// Returns the columns with headings above the list; none without candidates.
fn columns(model: &ViewModel, preemption: &PreemptionView, now: Timestamp, width: u16) -> Vec<Column> {
    if preemption.candidate_count() == 0 { Vec::new() } else { Table::new(model, preemption, now, width).columns }
}

/// The columns of the tie-break.
struct Table {
    columns: Vec<Column>,
    functions: Vec<ScoreFunctionName>,
    values: bool,
    start_times: StartTimes,
}

impl Table {
    fn new(model: &ViewModel, preemption: &PreemptionView, now: Timestamp, width: u16) -> Self {
        let node = model.cycle.candidate_width(preemption);
        let values = width >= 74;
        let mut columns = vec![left("  CANDIDATE", Width::Fixed((node + 2).min(width / 3))).by(Sort::Name)];
        let functions = preemption.tie_break().to_vec();
        let titles = |name: &ScoreFunctionName| match name {
            ScoreFunctionName::MinNumPDBViolations => ("MinNumPDBViolations", "MinPDB", "PDB"),
            ScoreFunctionName::MinHighestPriority => ("MinHighestPriority", "MinHighest", "Hi"),
            ScoreFunctionName::MinSumPriorities => ("MinSumPriorities", "MinSum", "Sum"),
            ScoreFunctionName::MinNumPods => ("MinNumPods", "MinPods", "Pod"),
            ScoreFunctionName::LatestStartTime => ("LatestStartTime", "LatestStart", "Time"),
        };
        // Two columns for the sign.
        let needs: Vec<u16> = functions.iter().map(|name| widest_value(model, preemption, *name, now) + 2).collect();
        let sum = |title: &dyn Fn(&ScoreFunctionName) -> &'static str| -> u16 {
            functions.iter().zip(&needs).map(|(name, need)| (*need).max(text::columns(title(name))) + 2).sum()
        };
        let scores = if values { sum(&|name| titles(name).1) } else { 25 };
        let [victims, odds] = [right("VICTIMS", Width::Fixed(7)).by(Sort::Victims), right(ODDS, Width::Fixed(ODDS_WIDTH))];
        let spare = (width + 2).saturating_sub((node + 2).min(width / 3) + 2 + scores);
        // The odds take the place of the number of victims, which are listed below, where there is no room for both. The
        // number is also left out where values are wide.
        match preemption.is_chance() {
            true if width >= 60 && spare >= 9 + ODDS_WIDTH + 2 => columns.extend([victims, odds]),
            true if spare >= ODDS_WIDTH + 2 => columns.push(odds),
            _ if width >= 60 && (spare >= 9 || !values) => columns.push(victims),
            _ => {}
        }
        let used: u16 = columns.iter().map(|c| if let Width::Fixed(n) = c.width { n + 2 } else { 0 }).sum();
        let full = used + sum(&|name| titles(name).0) <= width + 2;
        for (name, need) in functions.iter().zip(needs) {
            let (long, short, mark) = titles(name);
            let column = match (values, full) {
                (false, _) => left(mark, Width::Fixed(text::columns(mark))),
                (true, true) => right(long, Width::Fixed(need.max(text::columns(long)))),
                (true, false) => right(short, Width::Fixed(need.max(text::columns(short)))),
            };
            columns.push(if *name == ScoreFunctionName::MinNumPDBViolations { column.by(Sort::Violations) } else { column });
        }
        Self { columns, functions, values, start_times: model.cycle.start_times(preemption, now) }
    }

    /// Returns whether there is room for the number of victims.
    fn has_victims(&self) -> bool {
        self.columns.iter().any(|column| column.title == "VICTIMS")
    }

    fn candidate(&self, scene: &Scene<'_>, preemption: &PreemptionView, candidate: &Candidate, area: Rect, buf: &mut Buffer) {
        let chosen = preemption.selected().is_some_and(|(n, _)| *n == candidate.node);
        let tied = preemption.selected().is_some_and(|(_, best)| best.len() > 1 && best.contains(&candidate.node));
        let fell = preemption.score_functions().iter().any(|f| f.remaining.binary_search(&candidate.node).is_err());
        let (sign, role) = match () {
            () if chosen => (scene.glyphs.winner, Role::Winner),
            () if tied => ("=", Role::Winner),
            () if preemption.is_dropped(&candidate.node) => (scene.glyphs.failed, Role::Fallen),
            () if fell => (" ", Role::Fallen),
            () => (" ", Role::Text),
        };
        let mut cells = vec![vec![scene.span(Role::Winner, format!("{sign} ")), scene.span(role, candidate.node.to_string())]];
        if self.has_victims() {
            cells.push(vec![scene.span(role, candidate.victims.len().to_string())]);
        }
        if self.columns.iter().any(|c| c.title == ODDS) {
            let odds = preemption.odds().map(|odds| odds_cell(odds, &candidate.node));
            cells.push(vec![scene.span(role, odds.unwrap_or_default())]);
        }
        for name in &self.functions {
            let function = preemption.score_functions().iter().find(|f| f.name == *name);
            cells.push(self.cell(scene, preemption, function, candidate, role));
        }
        table::row(scene, &self.columns, area, &cells, buf);
    }

    /// Returns a score with its effect: the candidate remains, is eliminated here, or was eliminated earlier.
    fn cell(
        &self,
        scene: &Scene<'_>,
        preemption: &PreemptionView,
        function: Option<&ScoreFunction>,
        candidate: &Candidate,
        role: Role,
    ) -> Vec<Span<'static>> {
        let scored = function.and_then(|f| Some((f, plain_value(f, candidate)?)));
        let Some((function, compared)) = scored else { return vec![scene.span(Role::Ahead, scene.glyphs.unseen)] };
        let stays = function.remaining.binary_search(&candidate.node).is_ok();
        let decides = verdict::decision(preemption) == Decision::By(function.name);
        let (sign, sign_role) = match (stays, decides) {
            (true, true) => (scene.glyphs.winner, Role::Winner),
            (true, false) => (scene.glyphs.stays, Role::Fits),
            (false, _) => (scene.glyphs.falls, Role::Unresolvable),
        };
        let mark = scene.span(sign_role, sign);
        let unknown = function.name == ScoreFunctionName::MinNumPDBViolations && compared == 0 && scene.cycle().budgets_unknown();
        if unknown {
            return vec![scene.span(Role::Warning, if self.values { "? " } else { "?" }), scene.span(Role::Muted, " ")];
        }
        if self.values {
            vec![scene.span(role, format!("{} ", value(function.name, compared, self.start_times))), mark]
        } else {
            vec![mark]
        }
    }
}

/// Returns the columns that the widest value of a function takes.
fn widest_value(model: &ViewModel, preemption: &PreemptionView, name: ScoreFunctionName, now: Timestamp) -> u16 {
    let Some((least, greatest)) = model.cycle.value_ends(preemption, name) else { return 1 };
    let form = model.cycle.start_times(preemption, now);
    let columns = |end| text::columns(&value(name, end, form));
    columns(least).max(columns(greatest))
}

/// Draws why candidates were eliminated: the selected one first, then by function. Returns the area below, with the rows left.
fn sentences(scene: &Scene<'_>, preemption: &PreemptionView, (area, below): (Rect, Rect), buf: &mut Buffer) -> Rect {
    let now = scene.timeline.clock();
    let times = |both| StartTimes::write_both(now, both);
    let selected = scene.state.selected_candidate(scene.cycle());
    let own = selected.and_then(|node| elimination_of(preemption, node, &times));
    // The latest elimination comes closest to the choice.
    let all = scene.state.view_model.cycle.eliminations(preemption, &times);
    let others = all.iter().rev().filter(|e| own.as_ref().is_none_or(|own| own.function != e.function));
    let all: Vec<&Elimination> = own.iter().chain(others).take(usize::from(area.height)).collect();
    for (i, elimination) in all.iter().enumerate() {
        let row = Rect { y: area.y + i as u16, height: 1, ..area };
        let words = fitting(elimination, usize::from(row.width).saturating_sub(2), scene.glyphs.ellipsis);
        put(
            buf,
            row,
            &[scene.span(Role::Unresolvable, format!("{} ", scene.glyphs.falls)), scene.span(Role::Text, words)],
            scene.glyphs.ellipsis,
        );
    }
    let used = all.len() as u16;
    Rect { y: area.y + used, height: below.height + area.height - used, ..area }
}

/// Returns the most complete sentence that fits; with the node's name shortened if none does.
fn fitting(elimination: &Elimination, room: usize, ellipsis: &str) -> String {
    let all = elimination.sentences();
    if let Some(fits) = all.iter().find(|sentence| text::width(sentence) <= room) {
        return fits.clone();
    }
    match &elimination.losers[..] {
        [one] => {
            let rest = text::width(&elimination.shortest_about(""));
            elimination.shortest_about(&text::clip_middle(one, room.saturating_sub(rest), ellipsis))
        }
        _ => all[all.len() - 1].clone(),
    }
}

fn tried(scene: &Scene<'_>, preemption: &PreemptionView, node: &Str, area: Rect, buf: &mut Buffer) {
    let (sign, role, why) = match preemption.dry_run(node).and_then(DryRunView::status) {
        Some(status) => (scene.glyphs.unschedulable, Role::Unresolvable, status.message()),
        None => (scene.glyphs.here, Role::Accent, preemption.dry_run(node).map_or_else(String::new, so_far)),
    };
    put(buf, area, &[scene.span(role, format!("{sign} {node}  ")), scene.span(Role::Muted, why)], scene.glyphs.ellipsis);
}

/// Returns the progress of a dry run in a few words: `4 pods removed, 1 reprieved, 2 victims, 1 to put back`.
fn so_far(run: DryRunView<'_>) -> String {
    let pods = run.pods();
    let number = |is: fn(&Fate<'_>) -> bool| pods.iter().filter(|(_, fate)| is(fate)).count();
    let (reprieved, victims) = (number(|fate| matches!(fate, Fate::Reprieved(_))), number(|fate| matches!(fate, Fate::Victim(_))));
    let mut words = format!("{} removed", count(pods.len(), "pod"));
    let is_filtered = run.steps().any(|step| matches!(step, DryRunStep::Filtered(_)));
    if reprieved + victims > 0 {
        words.push_str(&format!(", {reprieved} reprieved, {}", count(victims, "victim")));
    }
    let left = pods.len() - reprieved - victims;
    if is_filtered && left > 0 {
        words.push_str(&format!(", {left} to put back"));
    }
    words
}

/// Draws the pods of lower priority on the node that is being tried, each with its fate so far; the last one touched is in sight.
fn fates(scene: &Scene<'_>, run: DryRunView<'_>, area: Rect, buf: &mut Buffer) {
    let (top, body) = split_top(area, 1);
    let pods = run.pods();
    if body.is_empty() || pods.is_empty() {
        return;
    }
    let last = run.steps().last().and_then(DryRunStep::pod).map(|pod| pod.key());
    let at = pods.iter().position(|(pod, _)| Some(pod.key()) == last);
    let room = usize::from(body.height);
    // The next pod to be put back stays in sight too.
    let first = at.map_or(0, |at| (at + 2).min(pods.len()).saturating_sub(room));
    let budgets: Vec<String> =
        pods.iter().map(|(_, fate)| fate_budget(scene, *fate).iter().map(|s| s.content.as_ref()).collect()).collect();
    let names: Vec<String> = pods.iter().map(|(pod, _)| format!("  {}", pod.key())).collect();
    let fate = Width::Fixed(11);
    let columns = [
        left("", Width::Rest),
        left("SO FAR", fate),
        right("PRIORITY", PRIORITY),
        left("BUDGET", budget_width(&budgets, body.width, body.width / 4, &names, &[fate, PRIORITY])),
    ];
    table::heading(scene, &columns, top, buf);
    let shown = pods.len().min(room);
    let part = if shown < pods.len() { format!(" ({}-{} OF {})", first + 1, first + shown, pods.len()) } else { String::new() };
    let title = table::areas(&columns, top)[0];
    let name_room = usize::from(title.width).saturating_sub(text::width(&part) + text::width("  PODS ON "));
    let node = run.node().to_uppercase();
    let name = text::clip_middle(&node, name_room, scene.glyphs.ellipsis);
    put(buf, title, &[scene.span(Role::Column, format!("  PODS ON {name}{part}"))], scene.glyphs.ellipsis);
    let name_room = usize::from(title.width).saturating_sub(2);
    for (i, (pod, fate)) in pods.iter().enumerate().skip(first).take(room) {
        let row = Rect { y: body.y + (i - first) as u16, height: 1, ..body };
        let (sign, role, word) = match fate {
            Fate::Removed => (scene.glyphs.unseen, Role::Muted, "removed"),
            Fate::Reprieved(_) => (scene.glyphs.stays, Role::Fits, "reprieved"),
            Fate::Victim(_) => (scene.glyphs.falls, Role::Victim, "victim"),
        };
        let here = if Some(i) == at { scene.glyphs.here } else { " " };
        let name = pod.key().to_string();
        let name = text::clip_middle(&name, name_room, scene.glyphs.ellipsis).into_owned();
        let cells = [
            vec![scene.span(role, format!("{sign} ")), scene.span(Role::Text, name)],
            vec![scene.span(Role::Accent, format!("{here} ")), scene.span(role, word)],
            vec![scene.span(Role::Text, pod.priority().to_string())],
            fate_budget(scene, *fate),
        ];
        table::row(scene, &columns, row, &cells, buf);
        table::mark(scene, row, Some(i) == at, false, buf);
    }
}

/// Returns the effect of a pod on its budgets; nothing before it was put back.
fn fate_budget(scene: &Scene<'_>, fate: Fate<'_>) -> Vec<Span<'static>> {
    match fate {
        Fate::Removed => Vec::new(),
        Fate::Victim(victim) => budget(scene, victim),
        // A reprieved pod takes nothing from its budgets.
        Fate::Reprieved(victim) => match victim.covered_by().chain(victim.violates().map(|violated| violated.budget)).next() {
            Some(first) => vec![scene.span(Role::Muted, format!("{} {first} spared", scene.glyphs.stays))],
            None => no_budget(scene),
        },
    }
}

fn victims(scene: &Scene<'_>, preemption: &PreemptionView, area: Rect, buf: &mut Buffer) {
    let Some(node) = scene.state.selected_candidate(scene.cycle()) else { return };
    if let Some(run) = preemption.under_way().filter(|run| run.node() == node) {
        return fates(scene, run, area, buf);
    }
    let Some(candidate) = preemption.candidate(node) else { return };
    let (top, body) = split_top(area, 1);
    if top.is_empty() {
        return;
    }
    let columns = victim_columns(scene, &candidate.victims, body.width);
    table::more(scene, columns.len() < VICTIM_COLUMNS, top, buf);
    let mut titles = columns.clone();
    let heading = format!("  VICTIMS ON {}", node.to_uppercase());
    titles[0].title = "";
    table::heading(scene, &titles, top, buf);
    put(buf, top, &[scene.span(Role::Column, heading)], scene.glyphs.ellipsis);
    let room = usize::from(body.height);
    let hidden = candidate.victims.len().saturating_sub(room);
    let shown = if hidden > 0 { room.saturating_sub(1) } else { room };
    let form = start_times(scene, &candidate.victims);
    for (i, victim) in candidate.victims.iter().take(shown).enumerate() {
        let row = Rect { y: body.y + i as u16, height: 1, ..body };
        table::row(scene, &columns, row, &victim_cells(scene, victim, node, form, &columns), buf);
    }
    if hidden > 0 && room > 0 {
        let row = Rect { y: body.y + shown as u16, height: 1, ..body };
        let words = format!(
            "  and {} more: {} shows the whole dry run",
            candidate.victims.len() - shown,
            scene.state.settings.keymap.label(CONTEXT, &Action::OPEN)
        );
        put(buf, row, &[scene.span(Role::Muted, words)], scene.glyphs.ellipsis);
    }
}

/// The number of columns of a victim where all fit.
const VICTIM_COLUMNS: usize = 5;

fn victim_columns(scene: &Scene<'_>, victims: &[Victim], width: u16) -> Vec<Column> {
    let names: Vec<String> = victims.iter().map(|v| format!("  {}", v.key())).collect();
    let name = if width >= 110 { fit("  VICTIMS ON A NODE OF SOME NAME", 64, names.iter().map(String::as_str)) } else { Width::Rest };
    let mut columns = vec![left("", name), right("PRIORITY", PRIORITY)];
    let started = (width >= 70).then(|| {
        let form = start_times(scene, victims);
        let times: Vec<String> = victims.iter().map(|v| started(v, form)).collect();
        left("STARTED", fit("STARTED", 19, times.iter().map(String::as_str).chain(["00:00:00"])))
    });
    let budgets: Vec<String> = victims.iter().map(|v| budget(scene, v).iter().map(|s| s.content.as_ref()).collect()).collect();
    columns
        .push(left("BUDGET", budget_width(&budgets, width, width / 3, &names, &[PRIORITY, started.map_or(Width::Fixed(0), |s| s.width)])));
    columns.extend(started);
    if width >= 110 {
        columns.push(left("OWNER", Width::Fixed(32)));
    }
    columns
}

/// Returns the width of a column of budgets: what they take, at most `usual` columns or what the names and other columns leave.
fn budget_width(budgets: &[String], width: u16, usual: u16, names: &[String], others: &[Width]) -> Width {
    let taken = |width: &Width| if let Width::Fixed(columns) = width { columns + table::GAP } else { 0 };
    let names = names.iter().map(|name| text::columns(name)).max().unwrap_or(0) + table::GAP;
    let left = width.saturating_sub(names + others.iter().map(taken).sum::<u16>());
    fit("BUDGET", usual.max(12).max(left), budgets.iter().map(String::as_str))
}

/// Returns the form of the start times of victims.
fn start_times(scene: &Scene<'_>, victims: &[Victim]) -> StartTimes {
    StartTimes::of(scene.timeline.clock(), victims.iter().filter_map(Victim::start_time))
}

pub fn started(victim: &Victim, form: StartTimes) -> String {
    victim.start_time().map_or_else(|| "now".to_owned(), |at| form.write(at))
}

fn victim_cells(scene: &Scene<'_>, victim: &Victim, node: &str, form: StartTimes, columns: &[Column]) -> Vec<Vec<Span<'static>>> {
    let name = victim_label(victim, node);
    let owner = victim.owner().unwrap_or_else(|| "no controller".to_owned());
    let mut cells = vec![
        vec![scene.span(Role::Victim, format!("{} ", scene.glyphs.falls)), scene.span(Role::Text, name)],
        vec![scene.span(Role::Text, victim.priority().to_string())],
        budget(scene, victim),
        vec![scene.span(Role::Muted, started(victim, form))],
        vec![scene.span(Role::Muted, owner)],
    ];
    cells.truncate(columns.len());
    cells
}

/// Returns the effect of a victim on its budgets.
pub fn budget(scene: &Scene<'_>, victim: &Victim) -> Vec<Span<'static>> {
    let more = |others: usize| if others == 0 { String::new() } else { format!(" +{others}") };
    let (mut violated, mut allowing) = (victim.violates(), victim.covered_by());
    match (violated.next(), allowing.next()) {
        (None, None) => no_budget(scene),
        (None, Some(first)) => {
            vec![scene.span(Role::Fits, format!("{} {first}{} allows", scene.glyphs.stays, more(allowing.count())))]
        }
        (Some(first), _) => {
            let more = more(violated.count());
            vec![scene.span(Role::Violation, format!("{} violates {}{more} (allows {})", scene.glyphs.failed, first.budget, first.allowed))]
        }
    }
}

/// Returns the text for a pod that no known budget covers.
pub fn no_budget(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let unknown = scene.cycle().budgets_unknown();
    vec![if unknown { scene.span(Role::Warning, "? unknown") } else { scene.span(Role::Muted, "no budget") }]
}

/// Returns a pod in half a line, for steps.
pub fn pod_line(scene: &Scene<'_>, pod: &Pod) -> Vec<Span<'static>> {
    vec![scene.span(Role::Text, pod.key().to_string()), scene.span(Role::Muted, format!("  priority {}  ", pod.priority()))]
}

/// Returns a victim in half a line, for steps.
pub fn victim_line(scene: &Scene<'_>, victim: &Victim) -> Vec<Span<'static>> {
    let mut spans = pod_line(scene, victim.pod());
    if victim.violates_any() || victim.covered_by().next().is_some() {
        spans.extend(budget(scene, victim));
    }
    spans
}
