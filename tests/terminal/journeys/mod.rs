//! An operator's tasks in the built program on a pseudo-terminal: each test states the question, presses keys and reads
//! the answer off the screen.
//!
//! Nothing here sleeps or measures time: after each key a test waits for words that only the next screen contains.

mod attempts;
mod evicted;
mod files;
mod finding;
mod fixes;
mod log;
mod overview;
mod preemption;
mod releases;
mod tasks;
mod time;
mod what_if;

use crate::pty::{ENTER, ESC, Pty, command};

const HOME: &str = "\x1b[H";
const PAGE_DOWN: &str = "\x1b[6~";

/// Opens a story on a terminal of this size, and goes from its first screen to the queues.
fn story(name: &str, (columns, rows): (u16, u16)) -> Pty {
    let mut pty = Pty::start(&["demo", name], columns, rows);
    let first = pty.wait_until("the first screen", |s| ["0 Overview", "1 Queues"].iter().any(|pane| s.contents().contains(pane)));
    pty.assert_taken();
    if first.contains("0 Overview") {
        pty.send("1");
        pty.wait_for("━ 1 Queues ");
    }
    pty
}

/// Finds a pod in the queues by typing a part of its name, and opens its decision.
fn decide(pty: &mut Pty, part: &str) {
    pty.send("1/");
    pty.wait_for("filter queues");
    pty.send(part);
    pty.wait_for(&format!("/{part}"));
    pty.send(ENTER);
    pty.wait_gone("filter queues");
    pty.send(ENTER);
    pty.send("3");
    pty.wait_for("━ 3 Preemption ");
}

/// Clears the filter of the overlay whose title ends with this, and closes it.
fn close_filtered(pty: &mut Pty, title: &str) {
    pty.send(ENTER);
    pty.wait_for("Esc close");
    pty.send(ESC);
    pty.wait_for(&format!("{title} ━"));
    pty.send(ESC);
    pty.wait_gone(&format!("{title} ━"));
}

/// Quits without saving what-ifs, and checks that the terminal is restored.
fn quit(mut pty: Pty) {
    command(&mut pty, "q!");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

/// Returns the screen as one line of words, for wrapped sentences.
fn words(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first line with all these parts.
fn line(screen: &str, parts: &[&str]) -> String {
    let found = screen.lines().find(|l| parts.iter().all(|p| l.contains(p)));
    found.unwrap_or_else(|| panic!("no line has {parts:?} in\n{screen}")).to_owned()
}

/// Waits until a line has all these parts.
fn wait_line(pty: &Pty, parts: &[&str]) {
    let has = |screen: &vt100::Screen| screen.contents().lines().any(|line| parts.iter().all(|part| line.contains(part)));
    pty.wait_until(&format!("a line has {parts:?}"), has);
}

/// Returns the position of a text on the screen in mouse coordinates: column and line from 1.
fn place(screen: &str, text: &str) -> (usize, usize) {
    let found = screen.lines().enumerate().find_map(|(y, l)| Some((l[..l.find(text)?].chars().count() + 1, y + 1)));
    found.unwrap_or_else(|| panic!("{text:?} is nowhere in\n{screen}"))
}

/// Clicks on a text with the left button.
fn click(pty: &mut Pty, text: &str) {
    let (x, y) = place(&pty.screen(), text);
    pty.send(&format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m"));
}

/// Fails unless the texts are on the screen from top to bottom.
fn assert_order(screen: &str, texts: &[&str]) {
    let mut rest = screen;
    for text in texts {
        let at = rest.find(text).unwrap_or_else(|| panic!("{text:?} of {texts:?} does not come next in\n{screen}"));
        rest = &rest[at + text.len()..];
    }
}
