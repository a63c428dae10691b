//! What each action does to the state and to the cursor.

use crate::cluster::Str;
use crate::session::{Cursor, Timeline};
use crate::trace::{Event, ExtensionPoint, StepSize};
use crate::ui::action::{Action, Direction, Effect, Motion, Mouse, Pane};
use crate::ui::driver::{Driver, Work};
use crate::ui::keymap::Context;
use crate::ui::list::{ListView, RowId};
use crate::ui::open::{detail, fold, open, pod};
use crate::ui::order::Order;
use crate::ui::overlay::{Overlay, Prompt, Typing};
use crate::ui::sheet::{Form, Sheet, View, scroll_lines};
use crate::ui::state::{Running, State};
use crate::ui::typing::{complete, filter_of, filter_over, open_prompt, submit, type_in};
use crate::ui::{beside, grouping, mouse, over_time, overlays, palette, source_text, themes};

/// Does what was asked, and says what is left to the world outside.
pub fn update(state: &mut State, driver: &mut dyn Driver, action: Action) -> Option<Effect> {
    if !matches!(action, Action::Resize(..) | Action::Mouse(Mouse::Release, ..)) {
        state.notice = None;
        // Whatever else is asked stops what takes a while.
        if state.running.take().is_some() {
            state.say("stopped");
            if action == Action::Back {
                return None;
            }
        }
    }
    let effect = apply(state, driver, action);
    state.renew(driver);
    effect
}

fn apply(state: &mut State, driver: &mut dyn Driver, action: Action) -> Option<Effect> {
    match action {
        Action::Quit => return Some(Effect::Quit),
        Action::Suspend => return Some(Effect::Suspend),
        Action::Back | Action::Open | Action::Move(_) if matches!(state.overlay, Some(Overlay::Themes { .. })) => {
            return themes::choose(state, &action);
        }
        Action::Back => back(state, driver),
        Action::Help => state.overlay = Some(Overlay::Help(View::default())),
        Action::Report => text(state, format!("Source: {}", driver.source()), state.settings.report(driver.report_lines())),
        Action::OpenPrompt => open_prompt(state, driver, Typing::Command),
        Action::Begin(words) => {
            open_prompt(state, driver, Typing::Command);
            type_in(state, driver, |prompt| prompt.input = words.into());
        }
        Action::OpenFilter => match (state.overlay.take(), state.focus) {
            (Some(over), _) => open_prompt(state, driver, Typing::Over(Box::new(over))),
            (None, Pane::Steps | Pane::Message) => state.say("there is no list to filter here"),
            (None, pane) => open_prompt(state, driver, Typing::Filter(pane)),
        },
        Action::CyclePane(direction) => cycle_pane(state, direction),
        Action::Focus(pane) => focus(state, driver.timeline(), pane),
        Action::Move(motion) => go(state, driver, motion),
        Action::Open => open(state, driver),
        Action::Detail => detail(state, driver.timeline()),
        Action::Pod => pod(state, driver.timeline()),
        Action::Fold => fold(state),
        Action::ToggleGroups => grouping::go_round(state, driver.timeline()),
        Action::Sort if Order::of(state.focus).is_empty() => state.say("there is no list to sort here"),
        Action::Sort => state.sort(state.focus, state.order(state.focus).next(state.focus)),
        Action::Step(direction) => step(state, driver, direction, state.granularity),
        Action::Cycle(Direction::Forward) => step(state, driver, Direction::Forward, StepSize::Cycle),
        Action::Cycle(Direction::Back) => cycle_back(state, driver),
        Action::Run => run(state, driver),
        Action::SeekEnd(Direction::Back) => moved(state, driver, |d| d.timeline_mut().seek(Cursor::default())),
        Action::SeekEnd(Direction::Forward) => moved(state, driver, |d| d.timeline_mut().seek(Cursor::END)),
        Action::StepSize(direction) => change_granularity(state, direction),
        Action::TryNext => try_next(state, driver),
        Action::Advance(how_far) => over_time::advance(state, driver, how_far),
        Action::Settle => state.running = Some(Running { until: None, pieces: 0 }),
        Action::SeekPod(direction) => over_time::seek_pod(state, driver, direction),
        Action::Source => source_text::show(state, driver),
        Action::Copy => return source_text::copy(state, driver),
        Action::CatchUp => beside::catch_up(state, driver),
        Action::SchedulerMatch => beside::begin(state, driver, Work::SchedulerMatch),
        Action::Branches => over_time::branches(state, driver),
        Action::Compare => over_time::compare(state, driver, None),
        Action::Input(request) => type_in(state, driver, |prompt| {
            prompt.input.handle(request);
        }),
        Action::Paste(text) => type_in(state, driver, |prompt| {
            for c in text.chars().filter(|c| !c.is_control()) {
                prompt.input.handle(tui_input::InputRequest::InsertChar(c));
            }
        }),
        Action::Submit => return submit(state, driver),
        Action::Complete => complete(state, driver),
        Action::Resize(width, height) => state.size = (width, height),
        Action::Mouse(mouse, x, y) => return mouse::mouse(state, driver, mouse, x, y),
    }
    None
}

fn back(state: &mut State, driver: &mut dyn Driver) {
    if state.overlay.is_none() && state.working.take().is_some() {
        driver.stop();
        return state.say("stopped");
    }
    match state.overlay.take() {
        Some(Overlay::Prompt(Prompt { typing: Typing::Filter(pane), before, .. })) => state.set_filter(pane, before),
        Some(Overlay::Prompt(Prompt { typing: Typing::Over(mut over), before, .. })) => {
            filter_over(&mut over, before);
            state.overlay = Some(*over);
        }
        Some(mut over) if !filter_of(&over).is_empty() => {
            filter_over(&mut over, String::new());
            state.overlay = Some(over);
        }
        Some(_) => {}
        None if !state.filter(state.focus).is_empty() => state.set_filter(state.focus, String::new()),
        None if state.came_from_text() => {
            state.go_back();
        }
        None => {
            let home = match state.focus {
                Pane::NodeDetail => Pane::Nodes,
                Pane::PodDetail => Pane::Queues,
                Pane::Candidate | Pane::Budgets => Pane::Preemption,
                _ => return,
            };
            if !state.go_back() {
                state.show(home);
                state.focus = home;
            }
        }
    }
}

fn cycle_pane(state: &mut State, direction: Direction) {
    let panes = state.panes();
    let at = panes.iter().position(|p| *p == state.focus).unwrap_or(0);
    let next = match direction {
        Direction::Forward => (at + 1) % panes.len(),
        Direction::Back => (at + panes.len() - 1) % panes.len(),
    };
    state.show(panes[next]);
    state.focus = panes[next];
}

pub(super) fn focus(state: &mut State, timeline: &Timeline, pane: Pane) {
    if pane == Pane::NodeDetail && state.detail.is_none() {
        return detail(state, timeline);
    }
    if pane == Pane::PodDetail && state.pod.is_none() {
        return pod(state, timeline);
    }
    // Looking at the steps or the message chooses nothing that the cycle could show better.
    let chosen = match pane {
        Pane::Nodes | Pane::Preemption | Pane::NodeDetail | Pane::PodDetail | Pane::Candidate | Pane::Budgets => true,
        Pane::Queues => state.plan().flat,
        Pane::Steps | Pane::Message => false,
    };
    if chosen {
        state.pinned = Some(timeline.cursor().frame);
    }
    if Pane::PAGES.contains(&pane) {
        return state.open_page(pane);
    }
    if pane != Pane::NodeDetail {
        state.trail.clear();
    }
    state.show(pane);
    state.focus = pane;
}

pub(super) fn go(state: &mut State, driver: &mut dyn Driver, motion: Motion) {
    let plan = state.plan();
    let height = |pane| usize::from(plan.list(pane).height);
    let room = overlays::room(state.size.1);
    let (keymap, focus) = (&state.settings.keymap, state.focus);
    let width = state.size.0;
    let help_lines = |view: &View| overlays::help::count(keymap, focus, &view.filter, width);
    let pane = match &mut state.overlay {
        Some(Overlay::Help(view)) => return view.scroll(motion, room, help_lines(view)),
        Some(Overlay::Text(sheet)) => return sheet.go(motion, state.size),
        Some(Overlay::Prompt(prompt)) => match &mut prompt.typing {
            Typing::Filter(pane) => *pane,
            Typing::Command => return palette::choose(prompt, motion),
            Typing::Over(over) => {
                match &mut **over {
                    Overlay::Help(view) => view.scroll(motion, room, help_lines(view)),
                    Overlay::Text(sheet) => sheet.go(motion, state.size),
                    Overlay::Prompt(_) | Overlay::Themes { .. } => {}
                }
                return;
            }
        },
        Some(Overlay::Themes { .. }) => return,
        None => state.focus,
    };
    match pane {
        Pane::Queues => {
            state.queues.go(&state.derived.queues, motion, height(pane));
            state.subject = state.selected_pod().cloned();
            // A pod that is open beside the queues follows the selection.
            if let Some(pod) = state.subject.clone().filter(|_| plan.area(Pane::PodDetail).is_some()) {
                state.pod = Some(pod);
            }
        }
        Pane::PodDetail | Pane::Candidate | Pane::Budgets => {
            let rows = state.derived.page(pane);
            state.pages.entry(pane).or_default().go(rows, motion, height(pane));
        }
        Pane::Nodes => state.nodes.go(&state.derived.nodes, motion, height(pane)),
        Pane::Preemption => state.candidates.go(&state.derived.candidates, motion, height(pane)),
        Pane::NodeDetail => state.detail_list.go(&state.derived.detail, motion, height(pane)),
        Pane::Message => scroll_lines(&mut state.message_offset, motion, height(pane)),
        Pane::Steps => match motion {
            Motion::Up => walk(state, driver, Direction::Back, StepSize::Event),
            Motion::Down => walk(state, driver, Direction::Forward, StepSize::Event),
            Motion::HalfPageUp | Motion::PageUp => walk(state, driver, Direction::Back, StepSize::ExtensionPoint),
            Motion::HalfPageDown | Motion::PageDown => walk(state, driver, Direction::Forward, StepSize::ExtensionPoint),
            Motion::Top => cycle_back(state, driver),
            Motion::Bottom => walk(state, driver, Direction::Forward, StepSize::Cycle),
        },
    }
}

fn change_granularity(state: &mut State, direction: Direction) {
    use strum::IntoEnumIterator;
    let all: Vec<StepSize> = StepSize::iter().collect();
    let at = all.iter().position(|g| *g == state.granularity).unwrap_or(0);
    let next = match direction {
        Direction::Forward => (at + 1) % all.len(),
        Direction::Back => (at + all.len() - 1) % all.len(),
    };
    state.granularity = all[next];
    state.say(format!("one step is now {}", phrase(state.granularity)));
}

/// A granularity as people say it.
pub fn phrase(granularity: StepSize) -> &'static str {
    match granularity {
        StepSize::Event => "one event",
        StepSize::Plugin => "one plugin",
        StepSize::Node => "one node",
        StepSize::ExtensionPoint => "one extension point",
        StepSize::Cycle => "one cycle",
    }
}

pub(super) fn step(state: &mut State, driver: &mut dyn Driver, direction: Direction, by: StepSize) {
    let mut done = false;
    moved(state, driver, |d| {
        done = match direction {
            Direction::Forward => d.timeline_mut().forward(by) || (d.run_next() && d.timeline_mut().forward(by)),
            Direction::Back => d.timeline_mut().back(by),
        }
    });
    match (done, direction) {
        (true, _) => {}
        (false, Direction::Forward) => state.say("nothing is left to schedule"),
        (false, Direction::Back) => state.say("this is the start"),
    }
}

/// Moves within what is recorded; the scheduler does nothing for it.
pub(super) fn walk(state: &mut State, driver: &mut dyn Driver, direction: Direction, by: StepSize) {
    if direction == Direction::Forward && driver.timeline().at_end() {
        let key = state.settings.keymap.label(Context::Global, &Action::Step(Direction::Forward));
        return state.say(format!("this is the end of what is recorded: {key} lets the scheduler go on"));
    }
    step(state, driver, direction, by);
}

/// To the start of this cycle, or of the one before where that is where one stands.
fn cycle_back(state: &mut State, driver: &mut dyn Driver) {
    let cursor = driver.timeline().cursor();
    let frame = if cursor.event == 0 { cursor.frame.checked_sub(1) } else { Some(cursor.frame) };
    match frame.filter(|_| !driver.timeline().at_start()) {
        Some(frame) => moved(state, driver, |d| d.timeline_mut().seek(Cursor { frame, event: 0 })),
        None => state.say("this is the start"),
    }
}

/// To the start of preemption where one is ahead, else to the end of the cycle.
fn run(state: &mut State, driver: &mut dyn Driver) {
    if driver.timeline().at_end() && !driver.run_next() {
        return state.say("nothing is left to schedule");
    }
    moved(state, driver, |d| {
        let timeline = d.timeline_mut();
        loop {
            if !timeline.forward(StepSize::Event) {
                break;
            }
            let at_end = timeline.frame().is_none_or(|f| timeline.cursor().event == f.events.len());
            if at_end || matches!(timeline.current(), Some(Event::PreemptionStarted(_))) {
                break;
            }
        }
    });
}

/// Moves the cursor and lets the panes follow, unless the reader chose one in this cycle.
pub fn moved(state: &mut State, driver: &mut dyn Driver, seek: impl FnOnce(&mut dyn Driver)) {
    let before = driver.timeline().cursor();
    let chosen = winner(driver.timeline());
    seek(driver);
    let timeline = driver.timeline();
    if timeline.cursor() == before {
        return;
    }
    if state.pinned.is_some_and(|frame| frame != timeline.cursor().frame) {
        state.pinned = None;
    }
    // The list of candidates starts at the one that wins, once that is known.
    let wins = winner(timeline);
    if timeline.cursor().frame != before.frame {
        state.nodes.reset();
    }
    if timeline.cursor().frame != before.frame || wins != chosen {
        state.candidates = wins.map_or_else(ListView::default, |node| ListView::at(RowId::Node(node)));
    }
    if state.pinned.is_none() && matches!(state.focus, Pane::Queues | Pane::Nodes | Pane::Preemption | Pane::Steps) {
        follow(state, timeline);
    }
}

fn winner(timeline: &Timeline) -> Option<Str> {
    timeline.cycle().preemption.as_ref()?.selected().map(|(node, _)| node.clone())
}

/// Brings the pane into sight that has the most to say about where the cursor stands.
pub(super) fn follow(state: &mut State, timeline: &Timeline) {
    let Some(event) = timeline.current() else { return };
    let cycle = timeline.cycle();
    let pane = match event.extension_point() {
        ExtensionPoint::PreFilter | ExtensionPoint::Filter | ExtensionPoint::PreScore | ExtensionPoint::Score => Pane::Nodes,
        _ if cycle.preemption.as_ref().is_some_and(|p| !p.potential_nodes().is_empty()) => Pane::Preemption,
        _ if cycle.start.is_some() => Pane::Nodes,
        _ => return,
    };
    let moves_focus = state.focus == state.main && state.plan().flat;
    state.show(pane);
    if moves_focus || state.focus == Pane::Nodes && pane == Pane::Preemption || state.focus == Pane::Preemption && pane == Pane::Nodes {
        state.focus = pane;
    }
}

/// Decides about the selected pod as of now, and stands before the first fact of it.
fn try_next(state: &mut State, driver: &mut dyn Driver) {
    let Some(pod) = state.selected_pod().cloned() else { return };
    let mut found = false;
    moved(state, driver, |d| {
        if let Some(frame) = d.explain(&pod) {
            found = true;
            d.timeline_mut().seek(Cursor { frame, event: 0 });
        }
    });
    state.touch();
    if found {
        let key = |action| state.settings.keymap.label(Context::Global, &action);
        let (step, cycle) = (key(Action::Step(Direction::Forward)), key(Action::Cycle(Direction::Forward)));
        state.say(format!("before the decision about {pod}: {step} goes through it step by step, {cycle} to its end"));
    } else {
        state.warn(format!("there is no pod {pod} any more"));
    }
}

pub(super) fn text(state: &mut State, title: impl Into<String>, lines: Vec<String>) {
    state.overlay = Some(Overlay::Text(Sheet::new(title, lines, Form::Prose)));
}
