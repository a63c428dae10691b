use std::future::Future;
use std::sync::mpsc::{Sender, channel};

use crossterm::event::{KeyCode, KeyEvent};

use super::*;
use crate::release::Emulation;
use crate::scheduler::{Config, Options, Scheduler};
use crate::session::Session;
use crate::source::{self, Story};

fn screen() -> UiThread {
    let loaded = source::load(&[Story::named("payments").unwrap().input()]);
    let options = Options { start: loaded.report.newest.unwrap(), ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options);
    let explorer = Explorer::new(Session::new(scheduler, "demo payments"));
    UiThread::new(ui::first_state(explorer.timeline(), (120, 40)), explorer).unwrap()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn event(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

fn key(c: char) -> Event {
    event(KeyCode::Char(c), KeyModifiers::NONE)
}

const ESC: Event = Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));

impl UiThread {
    /// Gives the worker an action that blocks until the returned sender sends.
    fn hold(&mut self, action: Action) -> Sender<()> {
        let (go, finished) = channel();
        self.worker.give(Kind::Asked("deciding"), &self.state, &self.explorer, move |state, explorer, _| {
            let _ = finished.recv();
            Outcome::Done(ui::update(state, explorer, action))
        });
        go
    }

    /// Waits for all answers, as the loop does.
    fn settle(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while self.is_busy() {
            if let Outcome::Done(effect) = wait(self.answer()) {
                effects.extend(effect);
            }
            while let Some(effect) = self.take_waiting_keys() {
                effects.push(effect);
            }
        }
        effects
    }

    fn revisions(&self) -> usize {
        self.explorer.timeline().revisions().len()
    }

    fn said(&self) -> &str {
        self.state.notice.as_ref().map_or("", |n| &n.text)
    }
}

#[test]
fn an_answer_takes_the_place_of_what_was_before() {
    let mut screen = screen();
    assert_eq!(screen.handle(key('c')), None);
    assert!(screen.is_busy() && screen.revisions() == 0);
    assert_eq!(screen.settle(), []);
    assert!(!screen.is_busy() && screen.revisions() == 1 && screen.explorer.timeline().at_end());
}

#[test]
fn keys_that_come_in_meanwhile_keep_their_order() {
    let mut screen = screen();
    let go = screen.hold(Action::CYCLE);
    // The meaning of these keys depends on the keys before: they type a command.
    for c in ":node worker-a1".chars() {
        assert_eq!(screen.handle(key(c)), None);
    }
    screen.handle(event(KeyCode::Enter, KeyModifiers::NONE));
    screen.handle(key('c'));
    // A letter behind them belongs to the command line, and does not quit.
    assert_eq!(screen.handle(key('q')), None);
    assert!(screen.has_waiting_keys() && screen.state.overlay.is_none());
    go.send(()).unwrap();
    assert_eq!(screen.settle(), [Effect::Quit]);
    assert_eq!((screen.state.subjects.node.as_deref(), screen.revisions()), (Some("worker-a1"), 2));
}

#[test]
fn no_more_keys_wait_than_there_is_room_for() {
    let mut screen = screen();
    let go = screen.hold(Action::HELP);
    for _ in 0..1000 {
        screen.handle(key('c'));
    }
    assert_eq!(screen.waiting.len(), KEYS_AHEAD);
    go.send(()).unwrap();
}

#[test]
fn a_warning_outlives_the_task_that_runs() {
    let mut screen = screen();
    let go = screen.hold(Action::CYCLE);
    screen.warn("look".to_owned());
    assert_eq!(screen.said(), "look");
    go.send(()).unwrap();
    screen.settle();
    assert_eq!(screen.said(), "look");
}

#[test]
fn esc_gives_up_what_the_screen_says_it_stops_and_nothing_else() {
    let mut screen = screen();
    let go = screen.hold(Action::CYCLE);
    // Before the screen says that it stops something, Esc waits like any key.
    screen.handle(ESC);
    assert!(screen.is_busy() && screen.has_waiting_keys());
    assert!(screen.next_tick().is_some() && screen.state.tasks.busy.is_none());
    screen.tick();
    screen.tick();
    assert_eq!(screen.state.tasks.busy, Some(Busy { what: "deciding", stops: true, ticks: 1 }));
    screen.handle(key('j'));
    screen.handle(ESC);
    assert!(!screen.is_busy() && !screen.has_waiting_keys() && screen.state.tasks.busy.is_none());
    assert_eq!((screen.said(), screen.revisions()), ("stopped", 0));
    // The result of the cancelled task arrives, and is ignored.
    go.send(()).unwrap();
    screen.handle(key('n'));
    assert_eq!(screen.settle(), []);
    assert!(screen.revisions() == 1 && !screen.explorer.timeline().at_end(), "one step, and no cycle before it");
}

#[test]
fn what_cannot_be_undone_is_not_given_up() {
    let mut screen = screen();
    let (go, finished) = channel();
    let (leave, taken) = channel();
    screen.worker.give(Kind::Asked("working"), &screen.state, &screen.explorer, move |state, explorer, own| {
        leave.send(own.commit()).unwrap();
        let _ = finished.recv();
        Outcome::Done(ui::update(state, explorer, Action::CYCLE))
    });
    assert!(taken.recv().unwrap());
    screen.tick();
    assert_eq!(screen.state.tasks.busy, Some(Busy { what: "working", stops: false, ticks: 0 }));
    screen.handle(ESC);
    assert!(screen.is_busy());
    go.send(()).unwrap();
    screen.settle();
    assert_eq!(screen.revisions(), 1);
}

/// A cancelled save writes no file.
#[test]
fn nothing_is_written_after_it_was_given_up() {
    let mut screen = screen();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let command = format!("save {}", path.display());
    ui::update(&mut screen.state, &mut screen.explorer, Action::COMMAND);
    ui::update(&mut screen.state, &mut screen.explorer, Action::Paste(command));
    let go = screen.hold(Action::SUBMIT);
    screen.tick();
    screen.handle(ESC);
    go.send(()).unwrap();
    screen.handle(key('c'));
    screen.settle();
    assert!(!path.exists());
}

#[test]
fn quitting_and_another_size_wait_for_nothing() {
    let mut screen = screen();
    let go = screen.hold(Action::CYCLE);
    assert_eq!(screen.handle(key('q')), Some(Effect::Quit));
    assert_eq!(screen.handle(Event::Resize(80, 24)), None);
    assert_eq!(screen.state.size, (80, 24));
    screen.handle(key('/'));
    assert_eq!(screen.handle(key('q')), None);
    assert_eq!(screen.handle(event(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Effect::Quit));
    go.send(()).unwrap();
    screen.settle();
    assert_eq!((screen.state.size, screen.revisions()), ((80, 24), 1));
}

#[test]
fn a_run_continues_in_pieces_and_stops_at_once() {
    let mut screen = screen();
    screen.handle(key('S'));
    screen.settle();
    assert!(screen.state.tasks.running.is_some() && screen.revisions() == 0);
    screen.continue_run();
    assert!(screen.is_busy() && screen.next_tick().is_none());
    screen.handle(ESC);
    assert!(!screen.is_busy() && screen.state.tasks.running.is_none());
    assert_eq!((screen.said(), screen.revisions()), ("stopped", 0));
    screen.handle(key('S'));
    screen.settle();
    while screen.state.tasks.running.is_some() {
        screen.continue_run();
        screen.settle();
    }
    assert!(screen.said().starts_with("settled after "), "{}", screen.said());
}

#[test]
fn a_selection_moves_while_a_live_cluster_is_taken_in() {
    let mut screen = screen();
    let (go, finished) = channel::<()>();
    screen.worker.give(Kind::Follow, &screen.state, &screen.explorer, move |_, explorer, _| {
        let _ = finished.recv();
        Outcome::Followed(explorer.run_next())
    });
    let before = screen.state.selected_pod().cloned();
    screen.handle(key('j'));
    let selected = screen.state.selected_pod().cloned();
    assert!(screen.is_busy() && selected != before && screen.next_tick().is_none());
    screen.handle(key('n'));
    assert!(screen.has_waiting_keys() && screen.next_tick().is_some());
    go.send(()).unwrap();
    screen.settle();
    assert_eq!(screen.state.selected_pod().cloned(), selected);
    assert!(screen.revisions() == 1 && !screen.explorer.timeline().at_end());
}

#[test]
fn after_a_panic_of_the_worker_all_is_as_before_and_continues() {
    let mut screen = screen();
    let cursor = screen.explorer.timeline().cursor();
    screen.worker.give(Kind::Asked("deciding"), &screen.state, &screen.explorer, |_, explorer, _| {
        explorer.run_next();
        panic!("as it should")
    });
    screen.handle(key('j'));
    assert!(screen.settle().is_empty());
    assert_eq!((screen.explorer.timeline().cursor(), screen.revisions(), screen.has_waiting_keys()), (cursor, 0, false));
    screen.handle(key('c'));
    screen.settle();
    assert_eq!(screen.revisions(), 1, "another worker has taken its place");
}
