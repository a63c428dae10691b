//! The explorer on real sessions, driven by keys and commands alone, and its screens as text.

mod drawing;
mod exports;
mod filters;
mod golden;
mod groups;
mod growth;
mod keys;
mod lists;
mod overview;
mod pod_groups;
mod prompts;
mod queues;
mod room;
mod sessions;
mod stepping;
mod tasks;
mod what_if_verbs;
mod what_ifs;

use std::fmt::Write;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

use super::export::with_scene;
use crate::app::Explorer;
use crate::cluster::{Key, MissingKinds, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, Evictions, Options, Scheduler};
use crate::session::{Background, Session, Timeline};
use crate::source::{self, Input, Story};
use crate::ui::view::layout::Plan;
use crate::ui::view::panes;
use crate::ui::{
    ASCII, Action, Depth, Direction, Effect, Glyphs, Library, Mouse, Overlay, Pane, ScreenForm, SessionHandle, State, Theme, UNICODE,
    contexts, continue_run, draw, draw_over, first_state, poll_job, renew, show_overview_first, show_pod_first, update,
};

/// An explorer, and the state and signs of its screen.
struct Screen {
    explorer: Explorer,
    state: State,
    glyphs: Glyphs,
}

impl Screen {
    /// Opens a story, with 120 columns and 40 rows.
    fn new(story: &str) -> Self {
        Self::sized(story, 120, 40)
    }

    /// Opens a story.
    fn sized(story: &str, width: u16, height: u16) -> Self {
        let loaded = source::load(&[Story::named(story).unwrap().input()]);
        let start = loaded.report.newest.unwrap();
        let background = Background { events: loaded.events, ..Background::default() };
        let session = Session::new(scheduler(loaded.objects, start), format!("demo {story}")).with(background);
        Self::of(Explorer::new(session), width, height)
    }

    /// Opens the payments story and goes to the start of the decision about shop/payments.
    fn asked(width: u16, height: u16) -> Self {
        let mut screen = Self::sized("payments", width, height);
        screen.act(":pod shop/payments; C");
        screen
    }

    /// Opens a list of objects, as `kubectl get -o json` prints it.
    fn listed(items: &[serde_json::Value], width: u16, height: u16) -> Self {
        let text = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
        let loaded = source::load(&[Input::Bytes { name: "list.json".into(), bytes: text.into_bytes().into() }]);
        assert_eq!(loaded.objects.len(), items.len());
        let start = "2026-11-20T18:26:12Z".parse().unwrap();
        Self::of(Explorer::new(Session::new(scheduler(loaded.objects, start), "list")), width, height)
    }

    /// Opens a list of objects of which some kinds are unknown.
    fn lacking(items: &[serde_json::Value], unknown: MissingKinds, width: u16, height: u16) -> Self {
        let text = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
        let loaded = source::load(&[Input::Bytes { name: "list.json".into(), bytes: text.into_bytes().into() }]);
        let start = "2026-11-20T18:26:12Z".parse().unwrap();
        let options = Options { start, unknown, ..Options::default() };
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options);
        Self::of(Explorer::new(Session::new(scheduler, "list")), width, height)
    }

    fn of(explorer: Explorer, width: u16, height: u16) -> Self {
        let state = first_state(explorer.timeline(), (width, height));
        Self { explorer, state, glyphs: UNICODE }
    }

    /// Opens a story as `demo` does: with the overview of its pending pods.
    fn with_overview(story: &str, width: u16, height: u16) -> Self {
        Self::sized(story, width, height).with_first_screen()
    }

    fn with_first_screen(mut self) -> Self {
        if let Some(pod) = show_overview_first(&mut self.state, &mut self.explorer) {
            assert!(show_pod_first(&mut self.state, &mut self.explorer, &pod));
            renew(&mut self.state, &self.explorer);
        }
        self.wait();
        self
    }

    fn timeline(&self) -> &Timeline {
        self.explorer.timeline()
    }

    /// Presses keys, separated by spaces.
    fn keys(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ') {
            self.press(key);
        }
        self
    }

    fn press(&mut self, key: &str) -> Option<Effect> {
        let action = self.state.settings.keymap.pressed(&contexts(&self.state), key)?;
        let effect = update(&mut self.state, &mut self.explorer, action);
        continue_run(&mut self.state, &mut self.explorer, || true);
        effect
    }

    fn mouse(&mut self, mouse: Mouse, x: u16, y: u16) {
        update(&mut self.state, &mut self.explorer, Action::Mouse(mouse, x, y));
    }

    /// Gives a command and returns what the screen says then.
    fn command(&mut self, line: &str) -> String {
        self.enter(line);
        self.said()
    }

    fn enter(&mut self, line: &str) -> Option<Effect> {
        update(&mut self.state, &mut self.explorer, Action::COMMAND);
        update(&mut self.state, &mut self.explorer, Action::Paste(line.to_owned()));
        let effect = update(&mut self.state, &mut self.explorer, Action::SUBMIT);
        continue_run(&mut self.state, &mut self.explorer, || true);
        effect
    }

    /// Runs keys and commands in order and waits for each: commands begin with a colon and end in a semicolon, and
    /// single quotes enclose typed text. Returns the effect of the last.
    fn act(&mut self, words: &str) -> Option<Effect> {
        let (mut rest, mut effect) = (words.trim(), None);
        while !rest.is_empty() {
            if let Some((command, more)) = rest.strip_prefix(':').and_then(|r| r.split_once(';')).filter(|(c, _)| !c.starts_with(' ')) {
                effect = self.enter(command);
                rest = more.trim_start();
            } else if let Some((typed, more)) = rest.strip_prefix('\'').and_then(|r| r.split_once('\'')) {
                effect = update(&mut self.state, &mut self.explorer, Action::Paste(typed.to_owned()));
                rest = more.trim_start();
            } else {
                let (key, more) = rest.split_once(' ').unwrap_or((rest, ""));
                effect = self.press(key);
                rest = more.trim_start();
            }
            self.wait();
        }
        effect
    }

    /// Returns the notice, behind an exclamation mark where it is a warning.
    fn said(&self) -> String {
        self.state.notice.as_ref().map(|n| format!("{}{}", if n.warning { "! " } else { "" }, n.text)).unwrap_or_default()
    }

    fn title(&self) -> String {
        self.timeline().revision().map(|f| f.title.clone()).unwrap_or_default()
    }

    /// Waits for the job that runs on another thread, if there is one.
    fn wait(&mut self) {
        while self.state.tasks.working.is_some() {
            poll_job(&mut self.state, &mut self.explorer);
            std::thread::yield_now();
        }
        super::print::wait_for_overview(&mut self.state, &mut self.explorer);
    }

    /// Returns the title and the text of the overlay, and closes it.
    fn overlay(&mut self) -> String {
        self.wait();
        let text = match &self.state.overlay {
            Some(Overlay::Text(sheet)) => {
                format!("{}\n{}", sheet.title, sheet.rows.iter().map(|row| row.text.as_str()).collect::<Vec<_>>().join("\n"))
            }
            other => panic!("{other:?}"),
        };
        self.keys("esc");
        text
    }

    fn buffer(&self, theme: &Theme) -> Buffer {
        let (width, height) = self.state.size;
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        with_scene(&self.state, &self.explorer, theme, &self.glyphs, |scene| draw(scene, area, &mut buf));
        buf
    }

    fn text(&self) -> String {
        let theme = theme("dark", Depth::True);
        crate::ui::view::export::write(ScreenForm::Text, &self.buffer(&theme), &theme)
    }

    /// Returns the text of what the keys go to, without the rest of the screen: the pane in focus, and the overlay. A text or the help
    /// hides the pane.
    fn part(&self) -> String {
        let (theme, plan) = (theme("dark", Depth::True), Plan::of(&self.state));
        let (width, height) = self.state.size;
        let area = Rect::new(0, 0, width, height);
        let mut text = String::new();
        let mut add = |buf: &Buffer, area| text.push_str(&crate::ui::view::export::write(ScreenForm::Text, &cropped(buf, area), &theme));
        with_scene(&self.state, &self.explorer, &theme, &self.glyphs, |scene| {
            if matches!(self.state.overlay, None | Some(Overlay::Prompt(_))) {
                let (def, mut buf) = (panes::def(self.state.focus), Buffer::empty(area));
                (def.draw)(def, scene, &plan, &mut buf);
                add(&buf, plan.area(def.id).unwrap());
            }
            if let Some(over) = &self.state.overlay {
                let mut buf = Buffer::empty(area);
                draw_over(scene, over, &plan, area, &mut buf);
                add(&buf, filled(&buf));
            }
        });
        text
    }
}

/// Returns the cells of an area.
fn cropped(buf: &Buffer, area: Rect) -> Buffer {
    let mut part = Buffer::empty(area);
    for place in area.positions() {
        part[place] = buf[place].clone();
    }
    part
}

/// Returns the smallest area that holds all cells with a sign.
fn filled(buf: &Buffer) -> Rect {
    let signs = || buf.area.positions().filter(|place| buf[*place].symbol() != " ");
    let (left, right) = (signs().map(|place| place.x).min().unwrap_or(0), signs().map(|place| place.x + 1).max().unwrap_or(0));
    let (top, bottom) = (signs().map(|place| place.y).min().unwrap_or(0), signs().map(|place| place.y + 1).max().unwrap_or(0));
    Rect::new(left, top, right - left, bottom - top)
}

fn scheduler(objects: Vec<Object>, start: Timestamp) -> Scheduler {
    let options = Options { start, evictions: Evictions::AfterGracePeriod, ..Options::default() };
    Scheduler::new(Config::defaults(Emulation::default()), objects, options)
}

fn theme(name: &str, depth: Depth) -> Theme {
    Theme::embedded(name, depth).unwrap()
}
