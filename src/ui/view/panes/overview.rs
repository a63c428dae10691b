//! The overview: every pending pod under its cause, with the fix that frees most pods of each.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::{Cause, FixSearch, MatchKind, Missing, PreemptionHelp, Stage};
use crate::cluster::neighbors::About;
use crate::cluster::{Key, Kind};
use crate::session::Timeline;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, Width, left, right};
use crate::ui::model::list::{Row, RowId};
use crate::ui::model::overlay::Overlay;
use crate::ui::model::overview::{
    CauseKind, CauseRow, FIELDS, OverviewRow, PodRow, RowsInput, overview_rows, preemption_words, queue_counts,
};
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::state::State;
use crate::ui::model::text_view::{Form, TextView};
use crate::ui::model::{text, time_travel};
use crate::ui::view::draw::{Scene, put};
use crate::ui::view::layout::{Plan, split_top};
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::widgets::table;

/// The context of its keys.
pub const CONTEXT: Context = Context::pane("overview", "In the overview");

pub static DEF: PaneDef = PaneDef {
    open_help: Some(("open", "open or close the cause; show its fix; show the decision about the pod")),
    sort_help: "sort causes and pods: by number, name, priority, age, attempts, queue, preemption, agreement",
    sorts: &[
        SortChoice::new(Sort::Usual, "most pods first"),
        SortChoice::new(Sort::Name, "by name"),
        SortChoice::new(Sort::Priority, "by priority"),
        SortChoice::new(Sort::Age, "oldest first"),
        SortChoice::new(Sort::Attempts, "by attempts"),
        SortChoice::new(Sort::Queue, "by queue"),
        SortChoice::new(Sort::Preemption, "where preemption helps first"),
        SortChoice::new(Sort::Agreement, "disagreements first"),
    ],
    is_open: |_| false,
    rows: Rows::List { make, get: |model| &model.rows.overview },
    fields: FIELDS,
    total: |state, timeline| Some(pending(state, timeline)),
    list_area: |_, inner| split_top(inner, HEAD).1,
    columns: |_, _, list, row| (row + 1 == list.y).then(|| columns(list.width)),
    open,
    opens_by_mouse: true,
    ..PaneDef::new(Pane::OVERVIEW, CONTEXT, ("go-to-overview", "all pending pods by cause, and the fix that frees most of each"), draw)
};

/// The rows above the list: the queues, and the headings of the columns.
const HEAD: u16 = 2;

fn make(state: &mut State, timeline: &Timeline) {
    let shown = state.arrangement.whole == Some(Pane::OVERVIEW);
    state.view_model.rows.overview = if shown {
        let (order, filter) = (state.sort_of(Pane::OVERVIEW), state.filter(Pane::OVERVIEW));
        let input =
            RowsInput { status: &state.overview, turned: &state.choices.turned_causes, seen: state.seen_pending.as_deref(), order, filter };
        overview_rows(timeline, &input)
    } else {
        Vec::new()
    };
}

/// Opens or closes the selected cause, or shows the decision about the selected pod.
fn open(state: &mut State, session: &mut dyn SessionHandle) {
    match state.list(Pane::OVERVIEW).selected.clone() {
        Some(RowId::Cause(key)) => {
            if !state.choices.turned_causes.remove(&key) {
                state.choices.turned_causes.insert(key);
            }
            state.touch();
        }
        Some(RowId::Workload(workload)) => show_workload(state, session, &workload),
        Some(RowId::Pod(pod)) if !time_travel::show_pod(state, session, &pod) => state.open_pod(pod),
        _ => {}
    }
}

/// Shows a workload's numbers and causes.
pub fn show_workload(state: &mut State, session: &dyn SessionHandle, workload: &About) {
    let body = session.workload(workload);
    let page = TextView::new(format!("Workload {workload} in namespace {}", workload.key.namespace), body, Form::Prose);
    state.overlay = Some(Overlay::Text(TextView { workload: Some(workload.clone()), ..page }));
}

/// Selects the first pod of the selected cause if a filter left some of its pods, or one.
pub fn select_match(state: &mut State) {
    let is_filtered = !state.filter(Pane::OVERVIEW).is_empty();
    let rows = &state.view_model.rows.overview;
    let list = state.lists.entry(Pane::OVERVIEW).or_default();
    let Some(at) = list.position(rows).filter(|_| is_filtered) else { return };
    let Some(OverviewRow::Cause(cause)) = rows.get(at) else { return };
    if cause.open && (cause.matching < cause.all || cause.all == 1) {
        let first = rows[at..].iter().position(|row| matches!(row, OverviewRow::Pod(_)));
        list.select(rows, at + first.unwrap_or(0));
    }
}

/// Closes the cause of the selected row.
pub fn fold(state: &mut State) {
    let rows = &state.view_model.rows.overview;
    let list = state.lists.entry(Pane::OVERVIEW).or_default();
    let Some(at) = list.position(rows) else { return };
    let Some(at) = rows[..=at].iter().rposition(|row| matches!(row, OverviewRow::Cause(_))) else { return };
    list.select(rows, at);
    if let Some(OverviewRow::Cause(CauseRow { key, open: true, .. })) = rows.get(at)
        && !state.choices.turned_causes.remove(key)
    {
        state.choices.turned_causes.insert(key.clone());
    }
    state.touch();
}

/// The widths from which columns are shown.
const WITH_QUEUE: u16 = 72;
const WITH_TRIES: u16 = 80;
const WITH_PREEMPTION: u16 = 100;
const WITH_AGREEMENT: u16 = 115;

/// Returns the columns, those of the pods' facts from the left by importance.
fn columns(width: u16) -> Vec<Column> {
    let all = [
        (0, left("  CAUSE, POD", Width::Rest).by(Sort::Name)),
        (WITH_QUEUE, left("QUEUE", Width::Fixed(13)).by(Sort::Queue)),
        (0, right("PRIORITY", Width::Fixed(11)).by(Sort::Priority)),
        (0, right("AGE", Width::Fixed(5)).by(Sort::Age)),
        (WITH_TRIES, right("TRIES", Width::Fixed(5)).by(Sort::Attempts)),
        (WITH_PREEMPTION, left("PREEMPTION", Width::Fixed(10)).by(Sort::Preemption)),
        (WITH_AGREEMENT, left("AGREEMENT", Width::Fixed(13)).by(Sort::Agreement)),
    ];
    all.into_iter().filter(|(from, _)| width >= *from).map(|(_, column)| column).collect()
}

fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let rows = &scene.state.view_model.rows.overview;
    let causes =
        rows.iter().filter(|row| matches!(row, OverviewRow::Cause(CauseRow { kind: CauseKind::Waits | CauseKind::Missing, .. }))).count();
    let pods = pending(scene.state, scene.timeline);
    let words = match causes {
        // With a filter, the number before it says how many match, and other causes are out of sight.
        _ if !scene.state.filter(Pane::OVERVIEW).is_empty() => format!("Overview: {}", text::count(pods, "pending pod")),
        0 => format!("Overview: {}", text::count(pods, "pending pod")),
        causes => format!("Overview: {}, {}", text::count(pods, "pending pod"), text::count(causes, "cause")),
    };
    let new: usize = rows.iter().map(|row| if let OverviewRow::Cause(cause) = row { cause.new } else { 0 }).sum();
    let words = if new == 0 { words } else { format!("{words}, {} new", text::thousands(new)) };
    let inner = def.chrome(scene, plan, def.title(scene, words), progress(scene), buf);
    let (head, _) = split_top(inner, HEAD);
    let list = def.list_in(plan);
    let (queues, titles) = split_top(head, 1);
    put(buf, queues, &queue_line(scene, queues.width), scene.glyphs.ellipsis);
    let shown = columns(list.width);
    table::heading(scene, &shown, titles, buf);
    table::more(scene, shown.len() < columns(u16::MAX).len(), titles, buf);
    def.extent(scene, plan, buf);
    if rows.is_empty() {
        scene.line(buf, Rect { height: 1, ..list }, &Line::from(scene.span(Role::Muted, nothing(scene))));
    }
    let view = scene.state.list(Pane::OVERVIEW);
    for (i, row) in rows.iter().skip(view.offset).take(usize::from(list.height)).enumerate() {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            OverviewRow::Cause(cause) => draw_cause(scene, cause, area, buf),
            OverviewRow::Fix { words, in_short, frees, .. } => {
                let role = if frees.is_some() { Role::Accent } else { Role::Muted };
                let fits = 4 + text::width(words) <= usize::from(area.width);
                let words = if fits { words } else { in_short };
                scene.line(buf, area, &Line::from(vec![Span::raw("    "), scene.span(role, words.as_str())]));
            }
            OverviewRow::Pod(pod) => draw_pod(scene, pod, area, buf),
            OverviewRow::Workload(workload) => draw_workload(scene, workload, area, buf),
        }
        let selected = view.selected.as_ref().is_some_and(|id| row.is(id));
        table::mark(scene, area, selected, scene.state.focus == Pane::OVERVIEW, buf);
    }
    let used = u16::try_from(rows.len().saturating_sub(view.offset)).unwrap_or(u16::MAX);
    if view.offset == 0 && list.height.saturating_sub(used) > LEAST_ROOM {
        let (top, height) = (list.y + used + 1, list.height - used - 1);
        draw_details(scene, Rect { y: top, height, ..list }, buf);
    }
}

/// The rows below the list from which the selected cause's details are shown there.
const LEAST_ROOM: u16 = 4;
/// Limit on the pods that a fix frees that are named.
const FREED: usize = 4;

/// Returns the cause of the selected row.
fn selected_cause<'a>(scene: &Scene<'a>) -> Option<&'a Cause> {
    let state = scene.state;
    let rows = &state.view_model.rows.overview;
    let at = state.list(Pane::OVERVIEW).selected.as_ref().and_then(|id| rows.iter().position(|row| row.is(id)))?;
    let key = rows[..=at].iter().rev().find_map(|row| if let OverviewRow::Cause(cause) = row { Some(&cause.key) } else { None })?;
    state.overview.newest.as_ref()?.causes.iter().find(|cause| cause.key == key.as_str())
}

/// Draws what is known of the selected cause where the list leaves room: its nodes by reason, its fix, and the commands for it.
fn draw_details(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let Some(cause) = selected_cause(scene) else { return };
    let width = usize::from(area.width).saturating_sub(4);
    let mut lines: Vec<(Role, String)> = Vec::new();
    if !cause.main_reasons.is_empty() {
        lines.push((Role::Column, "NODES BY REASON".to_owned()));
        let reason = |(reason, nodes): &(String, usize)| (Role::Text, format!("{:>6}  {reason}", text::thousands(*nodes)));
        lines.extend(cause.main_reasons.iter().map(reason));
        let more = cause.nodes.len().saturating_sub(cause.main_reasons.len());
        lines.extend((more > 0).then(|| (Role::Muted, format!("{:>6}  and {}", "", text::count(more, "other reason")))));
    }
    let wrapped = |role: Role, words: &str| text::wrap(words, width).map(move |line| (role, format!("  {line}"))).collect::<Vec<_>>();
    if cause.preemption == PreemptionHelp::InProgress {
        lines.push((Role::Column, "WAITS FOR".to_owned()));
        let decided = scene.state.overview.newest.as_ref().map(|overview| &overview.pods);
        let words = |pod: &Key| decided?.get(pod)?.waits_for.as_ref().map(|reason| format!("{pod} {}", reason.words));
        lines.extend(cause.pods.iter().take(FREED).filter_map(words).flat_map(|words| wrapped(Role::Text, &words)));
        let more = cause.pods.len().saturating_sub(FREED);
        lines.extend((more > 0).then(|| (Role::Muted, format!("  and {}", text::count(more, "other pod")))));
    }
    if let FixSearch::NotProposed(why, unknown) = &cause.fix {
        lines.push((Role::Column, if *unknown { "NO FIX IS KNOWN" } else { "NO FIX IS PROPOSED" }.to_owned()));
        lines.extend(text::wrap(why, width).map(|line| (Role::Text, format!("  {line}"))));
    }
    if let Some(fix) = cause.fix.found() {
        let heading = if fix.fix.last_resort.is_some() { "FIX, ONLY IF NOTHING ELSE HELPS" } else { "BEST FIX" };
        lines.push((Role::Column, heading.to_owned()));
        lines.extend(cause.without_fix().into_iter().flat_map(|words| wrapped(Role::Muted, &words)));
        lines.extend(wrapped(Role::Text, &fix.fix.text));
        lines.extend(fix.fix.last_resort.iter().flat_map(|why| wrapped(Role::Warning, why)));
        let named: Vec<String> = fix.freed.iter().take(FREED).map(ToString::to_string).collect();
        let more = fix.freed.len().saturating_sub(FREED);
        let more = if more > 0 { format!(" and {} more", text::thousands(more)) } else { String::new() };
        let does = if fix.preempts() { "lets preempt" } else { "frees" };
        lines.extend(wrapped(Role::Muted, &format!("{does} {}{more}{}", named.join(", "), fix.nodes_words(cause.count()))));
        for command in fix.fix.commands() {
            lines.extend(wrapped(Role::Accent, &command.remarked()));
        }
    }
    for (at, (role, words)) in lines.into_iter().take(usize::from(area.height)).enumerate() {
        let row = Rect { y: area.y + at as u16, height: 1, ..area };
        scene.line(buf, row, &Line::from(vec![Span::raw("  "), scene.span(role, words)]));
    }
}

/// Returns the number of pending pods, whether or not they match the filter.
fn pending(state: &State, timeline: &Timeline) -> usize {
    if state.filter(Pane::OVERVIEW).is_empty() {
        return state.view_model.rows.overview.iter().map(Row::things).sum();
    }
    match &state.overview.newest {
        Some(overview) if state.overview.is_current => overview.pending,
        _ => queue_counts(timeline.queues()).iter().map(|(_, count)| count).sum(),
    }
}

/// Returns the progress of the overview, or that it is of another state.
fn progress(scene: &Scene<'_>) -> Vec<Span<'static>> {
    let status = &scene.state.overview;
    let words = match status.newest.as_deref().map(|overview| (overview.stage, overview)) {
        _ if !status.is_current && status.newest.is_some() => {
            if status.runs { "of the state before; deciding again" } else { "of the state before; decided again soon" }.to_owned()
        }
        None if status.runs => "deciding".to_owned(),
        Some((Stage::Deciding, overview)) => {
            format!("deciding: {} of {}", text::thousands(overview.pods.len()), text::thousands(overview.pending))
        }
        Some((Stage::Searching(at, of), _)) => format!("searching fixes: cause {} of {of}", at + 1),
        Some((Stage::Stopped, overview)) => {
            let (done, all) = (text::thousands(overview.pods.len()), text::thousands(overview.pending));
            return vec![scene.span(Role::Warning, format!("stopped: {done} of {all} decided; :overview goes on"))];
        }
        Some((Stage::OutOfSteps, overview)) => {
            let (done, all) = (text::thousands(overview.pods.len()), text::thousands(overview.pending));
            return vec![scene.span(Role::Warning, format!("{done} of {all} decided: they took all steps"))];
        }
        None | Some((Stage::Complete, _)) => return Vec::new(),
    };
    let stops = if status.runs { format!("; {} stops", scene.key(&Action::BACK)) } else { String::new() };
    vec![scene.span(Role::Notice, format!("{words}{stops}"))]
}

/// Returns all queues with their numbers of pods, empty ones too.
fn queue_line(scene: &Scene<'_>, width: u16) -> Vec<Span<'static>> {
    let counts = queue_counts(scene.timeline.queues());
    let line = |words: fn(&(crate::ui::model::rows::QueuePart, usize)) -> &'static str, gap: &str| {
        let mut spans = Vec::new();
        for (i, part) in counts.iter().enumerate() {
            let role = if part.1 == 0 { Role::Muted } else { Role::Strong };
            spans.push(scene.span(Role::Muted, format!("{}{} ", if i == 0 { "" } else { gap }, words(part))));
            spans.push(scene.span(role, text::thousands(part.1)));
        }
        spans
    };
    let full = line(|(part, _)| part.title(), "  ");
    let taken: usize = full.iter().map(|span| text::width(&span.content)).sum();
    if taken <= usize::from(width) { full } else { line(|(part, _)| part.in_brief(), " ") }
}

fn nothing(scene: &Scene<'_>) -> String {
    if !scene.state.filter(Pane::OVERVIEW).is_empty() {
        let fields: Vec<String> = FIELDS.iter().map(|field| format!("{field}:")).collect();
        return format!("no pending pod matches; fields are {}", fields.join(" "));
    }
    no_pending(scene.timeline)
}

/// Returns that no pod is pending, or that it is unknown whether one is.
fn no_pending(timeline: &Timeline) -> String {
    let cluster = &timeline.keyframe().cluster;
    let pods = cluster.count(Kind::Pod);
    if let Some(unknown) = Missing::all(cluster.unknown).iter().find_map(Missing::leaves_pending_unknown) {
        let read = if pods == 0 { String::new() } else { format!("; of {} that were read, none is", text::count(pods, "pod")) };
        return format!("{unknown}{read}");
    }
    format!("no pod is pending: {} on {}", text::count(pods, "pod"), text::count(cluster.count(Kind::Node), "node"))
}

fn draw_cause(scene: &Scene<'_>, cause: &CauseRow, area: Rect, buf: &mut Buffer) {
    let columns = columns(area.width);
    let sign = if cause.open { scene.glyphs.open } else { scene.glyphs.closed };
    let number = if cause.matching == cause.all {
        text::count(cause.all, "pod")
    } else {
        format!("{} of {}", text::thousands(cause.matching), text::count(cause.all, "pod"))
    };
    let (role, _) = colours(cause.kind, cause.preemption);
    let new = match cause.new {
        0 => String::new(),
        new if new == cause.all => " (new)".to_owned(),
        new => format!(" ({} new)", text::thousands(new)),
    };
    let head = vec![scene.span(role, format!("{sign} {number}")), scene.span(Role::Notice, new)];
    let lead = head.iter().map(|span| text::width(&span.content)).sum::<usize>() + 2;
    let needed = lead + text::width(&cause.sentence);
    let areas = table::areas(&columns, area);
    // A sentence that is longer than its column takes the place of the pods' facts, then of everything.
    let spare = |titles: &[&str]| columns.iter().zip(&areas).find(|(column, _)| !titles.contains(&column.title)).map(|(_, area)| area.x);
    let facts = ["  CAUSE, POD", "QUEUE", "PRIORITY", "AGE", "TRIES"];
    let ends = [spare(&facts[..1]), spare(&facts)].into_iter().flatten().map(|x| x.saturating_sub(2));
    let all: Vec<u16> = ends.chain([area.right()]).collect();
    let end = all.iter().copied().find(|end| usize::from(end.saturating_sub(area.x)) >= needed);
    // Preemption and agreement stay where there is a column for them.
    let end = end.or_else(|| (area.width >= WITH_PREEMPTION).then(|| all[all.len().saturating_sub(2)])).unwrap_or(area.right());
    let end = if area.width >= WITH_PREEMPTION { end.min(all[all.len().saturating_sub(2)]) } else { end };
    let room = usize::from(end.saturating_sub(area.x)).saturating_sub(lead);
    // The longest words that fit; the shortest are cut where none do. Words that leave much of the room empty say less than half of a
    // sentence that fills it.
    let fits = |words: &&String| text::width(words) <= room;
    let said = std::iter::once(&cause.sentence).chain(&cause.shorter).find(fits).or(cause.shorter.last());
    let said = said.filter(|words| text::width(words) * 8 > room * 5 || fits(&&cause.sentence)).unwrap_or(&cause.sentence);
    let words: Vec<Span<'_>> = head.into_iter().chain([scene.span(Role::Text, format!("  {said}"))]).collect();
    put(buf, Rect { width: end.saturating_sub(area.x), ..area }, &words, scene.glyphs.ellipsis);
    if cause.kind == CauseKind::Missing {
        return;
    }
    let cells = [
        ("QUEUE", String::new(), Role::Muted),
        ("PRIORITY", cause.priority.to_string(), Role::Muted),
        ("AGE", age(scene, cause.since), Role::Muted),
        ("TRIES", cause.attempts.to_string(), Role::Muted),
        ("PREEMPTION", cause.preemption_words(), preemption_role(cause.preemption)),
        ("AGREEMENT", agreement(cause), accord_role(if cause.disagree > 0 { Some(MatchKind::Unexplained) } else { cause.accord })),
    ];
    for ((column, place), (_, words, role)) in
        columns.iter().zip(areas).filter_map(|at| Some((at, cells.iter().find(|(title, ..)| *title == at.0.title)?)))
    {
        if place.x > end {
            let shift = if column.right { place.width.saturating_sub(text::columns(words)) } else { 0 };
            let place = Rect { x: place.x + shift, width: place.width - shift, ..place };
            put(buf, place, &[scene.span(*role, words.as_str())], scene.glyphs.ellipsis);
        }
    }
}

/// Returns the agreement of a cause's pods in a word or two.
fn agreement(cause: &CauseRow) -> String {
    match (cause.accord, cause.disagree) {
        (Some(accord), _) => accord.in_short().to_owned(),
        (None, 0) => String::new(),
        (None, disagree) => format!("{disagree} disagree"),
    }
}

fn draw_pod(scene: &Scene<'_>, pod: &PodRow, area: Rect, buf: &mut Buffer) {
    let columns = columns(area.width);
    let place = table::areas(&columns, area).first().map_or(0, |place| usize::from(place.width));
    let name = if pod.is_new { format!("{} (new)", pod.key) } else { pod.key.to_string() };
    let queue = pod.queue.map_or("", |queue| queue.in_short());
    let queue = if pod.inferred { format!("{}{queue}", scene.glyphs.inferred) } else { queue.to_owned() };
    let cells: Vec<Vec<Span<'_>>> = columns
        .iter()
        .map(|column| {
            let (words, role) = match column.title {
                "QUEUE" => (queue.clone(), if pod.inferred { Role::Warning } else { Role::Muted }),
                "PRIORITY" => (pod.priority.to_string(), Role::Text),
                "AGE" => (age(scene, pod.since), Role::Text),
                "TRIES" => (pod.attempts.to_string(), Role::Text),
                "PREEMPTION" => (pod.preemption.map_or("", preemption_words).to_owned(), preemption_role(pod.preemption)),
                "AGREEMENT" => (pod.accord.map_or("", |accord| accord.in_short()).to_owned(), accord_role(pod.accord)),
                _ => (format!("    {}", text::clip_middle(&name, place.saturating_sub(4), scene.glyphs.ellipsis)), Role::Text),
            };
            vec![scene.span(role, words)]
        })
        .collect();
    table::row(scene, &columns, area, &cells, buf);
}

fn draw_workload(scene: &Scene<'_>, workload: &About, area: Rect, buf: &mut Buffer) {
    let name = format!("    {workload} in {}", workload.key.namespace);
    let name = text::clip_middle(&name, usize::from(area.width), scene.glyphs.ellipsis);
    put(buf, area, &[scene.span(Role::Text, name)], scene.glyphs.ellipsis);
}

/// Returns the time since the creation, in its largest unit.
fn age(scene: &Scene<'_>, since: Option<jiff::Timestamp>) -> String {
    since.map_or_else(|| "?".to_owned(), |since| text::age(since, scene.timeline.clock()))
}

fn preemption_role(help: Option<PreemptionHelp>) -> Role {
    match help {
        Some(PreemptionHelp::Helps | PreemptionHelp::InProgress) => Role::Winner,
        Some(PreemptionHelp::No) => Role::Unresolvable,
        Some(PreemptionHelp::NotRun) | None => Role::Muted,
    }
}

fn accord_role(accord: Option<MatchKind>) -> Role {
    match accord {
        Some(MatchKind::Unexplained) => Role::Warning,
        Some(MatchKind::Same) => Role::Fits,
        _ => Role::Muted,
    }
}

/// Returns the colour and the sign of a group of pods.
fn colours(kind: CauseKind, preemption: Option<PreemptionHelp>) -> (Role, Sign) {
    match (kind, preemption) {
        (CauseKind::Fits, _) => (Role::Fits, |glyphs| glyphs.fits),
        (CauseKind::Waits, Some(PreemptionHelp::Helps | PreemptionHelp::InProgress)) => (Role::Winner, |glyphs| glyphs.winner),
        (CauseKind::Waits, Some(PreemptionHelp::NotRun)) => (Role::Gated, |glyphs| glyphs.unresolvable),
        (CauseKind::Waits, _) => (Role::Unresolvable, |glyphs| glyphs.unschedulable),
        (CauseKind::Missing, _) => (Role::Gated, |glyphs| glyphs.unresolvable),
        (CauseKind::Elsewhere | CauseKind::Undecided, _) => (Role::Muted, |glyphs| glyphs.here),
    }
}

type Sign = fn(&crate::ui::config::glyphs::Glyphs) -> &'static str;

/// Returns how many of a cause's pods a fix frees, or lets preempt.
fn frees_of(frees: usize, all: usize, preempts: bool) -> String {
    match frees {
        _ if preempts && all == 1 => "lets it preempt".to_owned(),
        _ if preempts => format!("lets {frees} of them preempt"),
        _ if frees == all && all == 1 => "frees it".to_owned(),
        _ if frees == all => "frees all".to_owned(),
        _ => format!("frees {frees} of them"),
    }
}

/// Returns the sign and the sentence of the selected row: why the pods of a cause or a pod wait, and the fix.
pub fn answer(scene: &Scene<'_>) -> (Span<'static>, String) {
    let state = scene.state;
    let rows = &state.view_model.rows.overview;
    let row = state.list(Pane::OVERVIEW).selected.as_ref().and_then(|id| rows.iter().position(|row| row.is(id)));
    let here = scene.span(Role::Accent, format!("{} ", scene.glyphs.here));
    let Some(at) = row else { return (here, nothing(scene)) };
    match &rows[at] {
        OverviewRow::Cause(cause) => {
            let (role, sign) = colours(cause.kind, cause.preemption);
            // Without the words of the fix, which are in the row below and hold text from outside.
            let fix = match rows.get(at + 1) {
                Some(OverviewRow::Fix { frees: Some(frees), preempts, spares, .. }) => {
                    let begin = if *spares { "; without evictions," } else { ";" };
                    format!("{begin} the fix below {}", frees_of(*frees, cause.all, *preempts))
                }
                _ => String::new(),
            };
            let preemption = cause.preemption.map_or_else(String::new, |help| help.clause(cause.helped, cause.all));
            // A cause is a clause of its own, the other sentences continue the number of pods.
            let colon = if cause.kind == CauseKind::Waits { ":" } else { "" };
            let words = format!("{}{colon} {}{preemption}{fix}", text::count(cause.all, "pod"), cause.sentence);
            (scene.span(role, format!("{} ", sign(scene.glyphs))), words)
        }
        OverviewRow::Fix { frees, preempts, .. } => {
            let does = if *preempts { "lets preempt" } else { "frees" };
            let open = state.settings.keymap.label(CONTEXT, &Action::OPEN);
            let words = format!(
                "{open} shows this fix, which {does} {}, with its commands; {open} there applies it on a branch",
                text::count(frees.unwrap_or(0), "pod")
            );
            (scene.span(Role::Winner, format!("{} ", scene.glyphs.winner)), words)
        }
        OverviewRow::Workload(workload) => {
            let open = state.settings.keymap.label(CONTEXT, &Action::OPEN);
            (here, format!("{workload}: {open} shows how far its pods come"))
        }
        OverviewRow::Pod(pod) => {
            let decided = state.overview.newest.as_ref().and_then(|overview| overview.pods.get(&pod.key));
            let others = state.overview.newest.as_ref().and_then(|overview| overview.others.get(&pod.key));
            let words = match (decided, others) {
                (None, _) => "not decided yet".to_owned(),
                (Some(decided), None) => decided.here.clone(),
                (Some(decided), Some(others)) => format!("{}; others: {others}", decided.clause),
            };
            (here, format!("{}: {words}", pod.key))
        }
    }
}
