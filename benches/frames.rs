//! The screen on 5,000 nodes with 150,000 pods at 200x60: time to build a frame of each pane, time from a key to its
//! frame and, for the program on a pseudo-terminal, time to the first frame and processor time of an idle screen.
//! Goals: 99 of 100 frames under 4 ms, the first frame under 50 ms, no drawing without input.
//!
//! `SCHEDSCOPE_BENCH_DUMP` names a dump to measure instead; words on the command line select measurements. Keeps every single time, because the slowest few matter.

mod common;
#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/common/pty.rs"]
mod pty;

use std::hint::black_box;
use std::time::{Duration, Instant};

use pty::Pty;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use schedscope::app::Explorer;
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Options, Scheduler};
use schedscope::session::Session;
use schedscope::source::{Input, load};
use schedscope::ui::view::panes::PANES;
use schedscope::ui::{
    Action, Depth, Scene, SessionHandle as _, State, Theme, UNICODE, contexts, continue_run, draw, first_state, keymap, poll_job, renew,
    show_pod, update,
};

const SIZE: (u16, u16) = (200, 60);
/// Frames of each pane, and presses of each key.
const TIMES: usize = 400;
/// Presses of keys that run the scheduler.
const FEW: usize = 40;
/// Starts of the program.
const STARTS: usize = 20;
/// Observation time of an idle screen.
const IDLE: Duration = Duration::from_secs(5);

/// Returns whether the words on the command line select a measurement.
fn is_selected(what: &str) -> bool {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-')).peekable();
    words.peek().is_none() || words.any(|word| what.contains(&word))
}

/// The explorer with a screen in memory.
struct Screen {
    explorer: Explorer,
    state: State,
    theme: Theme,
    buf: Buffer,
}

impl Screen {
    fn new() -> Self {
        let input = match std::env::var_os("SCHEDSCOPE_BENCH_DUMP") {
            Some(path) => Input::Path(path.into()),
            None => {
                let text = common::cluster_with_pending(5000, 30, 2000, "100m");
                Input::Bytes { name: "bench".into(), bytes: text.into_bytes().into() }
            }
        };
        let loaded = load(&[input]);
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, Options::default());
        let mut explorer = Explorer::new(Session::new(scheduler, "bench"));
        let mut state = first_state(explorer.timeline(), SIZE);
        // A decision with everything: verdicts of many nodes, and preemption.
        let first = explorer.timeline().queues().entries.keys().find(|k| k.name == "preemptor").cloned();
        if let Some(pod) = first.or_else(|| explorer.timeline().queues().entries.keys().next().cloned()) {
            assert!(show_pod(&mut state, &mut explorer, &pod), "{pod} is decided about");
        }
        renew(&mut state, &explorer);
        let area = Rect::new(0, 0, SIZE.0, SIZE.1);
        Self { explorer, state, theme: Theme::fallback(Depth::True), buf: Buffer::empty(area) }
    }

    fn draw(&mut self) {
        let driver = &self.explorer;
        let pod = driver.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
        let written = pod.and_then(|pod| driver.written(&pod));
        let scene = Scene {
            written: written.as_ref(),
            state: &self.state,
            timeline: driver.timeline(),
            theme: &self.theme,
            glyphs: &UNICODE,
            source: driver.source(),
            live: driver.live_status(),
            release: driver.emulated(),
            branch: "",
            taken: None,
        };
        self.buf.reset();
        draw(&scene, self.buf.area, &mut self.buf);
        black_box(&self.buf);
    }

    /// Presses a key and waits for its jobs.
    fn press(&mut self, key: &str) {
        let action = keymap().pressed(&contexts(&self.state), key).unwrap_or_else(|| panic!("no key {key}"));
        update(&mut self.state, &mut self.explorer, action);
        while self.state.tasks.running.is_some() {
            continue_run(&mut self.state, &mut self.explorer, || true);
        }
        while self.state.tasks.working.is_some() && self.state.overlay.is_none() {
            poll_job(&mut self.state, &mut self.explorer);
        }
    }

    /// Presses a key and draws the screen.
    fn key_to_frame(&mut self, key: &str) {
        self.press(key);
        self.draw();
    }
}

fn timed(times: usize, mut work: impl FnMut()) -> Vec<Duration> {
    let one = |_| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    (0..times).map(one).collect()
}

fn measure(what: &str, times: usize, work: impl FnMut()) {
    if is_selected(what) {
        print(what, timed(times, work));
    }
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{what:<34} median {:>10.1?}   99% {:>10.1?}   worst {:>10.1?}", at(50), at(99), at(100));
}

fn frames(screen: &mut Screen) {
    for pane in PANES {
        update(&mut screen.state, &mut screen.explorer, Action::Verb(pane.verb.0));
        measure(&format!("a frame with {} in focus", pane.id), TIMES, || screen.draw());
    }
    update(&mut screen.state, &mut screen.explorer, Action::HELP);
    measure("a frame with the help over it", TIMES, || screen.draw());
    update(&mut screen.state, &mut screen.explorer, Action::BACK);
}

fn keys(screen: &mut Screen) {
    for (pane, key) in
        [("1", "j"), ("2", "j"), ("2", "G"), ("2", "g"), ("2", "z"), ("2", "o"), ("3", "j"), ("1", "tab"), ("1", "b"), ("1", "n")]
    {
        screen.press(pane);
        measure(&format!("{key} in pane {pane}, to its frame"), TIMES, || screen.key_to_frame(key));
    }
    for pane in ["1", "2"] {
        screen.press(pane);
        measure(&format!("/9 in pane {pane}, to its frame"), FEW, || {
            screen.press("/");
            screen.key_to_frame("9");
            screen.press("esc");
        });
    }
    screen.press("end");
    measure("c, a cycle taken, to its frame", FEW, || screen.key_to_frame("c"));
}

fn start() -> (Pty, Duration) {
    let begin = Instant::now();
    let pty = Pty::start(&["demo", "payments"], SIZE.0, SIZE.1);
    pty.wait_for("activeQ");
    (pty, begin.elapsed())
}

fn first_frames() {
    const WHAT: &str = "demo, from its start to its frame";
    if !is_selected(WHAT) {
        return;
    }
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let (mut pty, took) = start();
        times.push(took);
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0);
    }
    print(WHAT, times);
}

/// Processor time of a process, in hundredths of a second; `None` if the system does not report it.
fn ticks(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // From the third field on, after the name, which may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

fn idle() {
    if !is_selected("untouched") {
        return;
    }
    let (mut pty, _) = start();
    let process = pty.process();
    // The causes of all pending pods, and a fix for each, come after the first frame.
    let mut settled = 0;
    while settled != pty.raw().len() {
        settled = pty.raw().len();
        std::thread::sleep(Duration::from_secs(1));
    }
    let (bytes, before) = (settled, ticks(process));
    std::thread::sleep(IDLE);
    let drawn = pty.raw().len() - bytes;
    let spent = before.zip(ticks(process)).map_or("unknown".to_owned(), |(before, after)| format!("{} ms", (after - before) * 10));
    println!("untouched for {IDLE:?}: {drawn} bytes drawn, {spent} of processor time");
    assert_eq!(drawn, 0, "nothing is drawn without input");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

fn main() {
    first_frames();
    idle();
    let mut screen = Screen::new();
    frames(&mut screen);
    keys(&mut screen);
}
