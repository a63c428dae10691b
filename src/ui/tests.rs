//! Whole screens as text, and what keys do to them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::ui::fixture::{self, Script};
use crate::ui::{Depth, Driver, Effect, Scene, State, Theme, UNICODE, contexts, draw, keymap, update};

/// A screen with a script behind it.
struct Screen {
    state: State,
    driver: Script,
    glyphs: crate::ui::Glyphs,
}

impl Screen {
    fn new(width: u16, height: u16) -> Self {
        Self::of(fixture::script(false), width, height)
    }

    fn of(driver: Script, width: u16, height: u16) -> Self {
        Self { state: State::new(driver.timeline(), (width, height)), driver, glyphs: UNICODE }
    }

    /// Presses keys, spelled as in the table and apart by spaces; what stands in quotes is typed.
    fn keys(&mut self, keys: &str) -> Option<Effect> {
        let mut last = None;
        for word in keys.split(' ').filter(|w| !w.is_empty()) {
            if let Some(typed) = word.strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
                for c in typed.chars() {
                    last = self.press(KeyCode::Char(if c == '_' { ' ' } else { c }), KeyModifiers::NONE);
                }
                continue;
            }
            let (modifiers, name) = word.strip_prefix("ctrl-").map_or((KeyModifiers::NONE, word), |n| (KeyModifiers::CONTROL, n));
            let code = match name {
                "enter" => KeyCode::Enter,
                "esc" => KeyCode::Esc,
                "tab" => KeyCode::Tab,
                "shift-tab" => KeyCode::BackTab,
                "down" => KeyCode::Down,
                "up" => KeyCode::Up,
                "home" => KeyCode::Home,
                "end" => KeyCode::End,
                "pgdn" => KeyCode::PageDown,
                "pgup" => KeyCode::PageUp,
                "backspace" => KeyCode::Backspace,
                _ => KeyCode::Char(name.chars().next().unwrap()),
            };
            last = self.press(code, modifiers);
        }
        last
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Option<Effect> {
        let action = keymap::lookup(&contexts(&self.state), &KeyEvent::new(code, modifiers));
        action.and_then(|a| update(&mut self.state, &mut self.driver, a))
    }

    fn buffer(&self, depth: Depth) -> Buffer {
        let (width, height) = self.state.size;
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        let theme = Theme::embedded("dark", depth).unwrap();
        let source = self.driver.source();
        let scene = Scene { state: &self.state, timeline: self.driver.timeline(), theme: &theme, glyphs: &self.glyphs, source: &source };
        draw(&scene, area, &mut buf);
        buf
    }

    fn text(&self) -> String {
        text_of(&self.buffer(Depth::True))
    }
}

fn text_of(buf: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buf.area.height {
        let mut skip = 0;
        let mut line = String::new();
        for x in 0..buf.area.width {
            let symbol = buf[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
            }
            skip = unicode_width::UnicodeWidthStr::width(symbol).max(skip).saturating_sub(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn look() {
    let Ok(spec) = std::env::var("LOOK") else { return };
    for part in spec.split(';') {
        let (size, keys) = part.split_once(':').unwrap();
        let (w, h) = size.split_once('x').unwrap();
        let violating = w.starts_with('v');
        let mut screen = Screen::of(fixture::script(violating), w.trim_start_matches('v').parse().unwrap(), h.parse().unwrap());
        screen.keys(keys);
        println!("=== {part}\n{}", screen.text());
    }
}
