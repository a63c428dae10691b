//! Runs the real binary in a pseudo-terminal and reads its screen.
//!
//! Nothing here sleeps for a fixed time: a reader thread feeds the terminal's parser, and every wait ends as soon as the
//! screen shows what is waited for, or fails at a deadline with the screen in the message.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// No step takes this long, on however loaded a machine.
const DEADLINE: Duration = Duration::from_secs(60);

struct Shared {
    screen: Mutex<Feed>,
    changed: Condvar,
}

struct Feed {
    parser: vt100::Parser,
    ended: bool,
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal has a size")
}

/// The program and its terminal.
pub(crate) struct Terminal {
    shared: Arc<Shared>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn std::io::Write + Send>,
    child: Box<dyn Child + Send + Sync>,
}

impl Terminal {
    /// Starts `schedscope ARGUMENTS` on a terminal of this size.
    pub(crate) fn start(arguments: &[&str], columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_schedscope"));
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env_remove("NO_COLOR");
        command.env("RUST_BACKTRACE", "0");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let feed = Feed { parser: vt100::Parser::new(cells(rows), cells(columns), 0), ended: false };
        let shared = Arc::new(Shared { screen: Mutex::new(feed), changed: Condvar::new() });
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let fed = shared.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut feed = fed.screen.lock().expect("the feed");
                feed.parser.process(&buffer[..read]);
                feed.ended = read == 0;
                fed.changed.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().expect("a writer");
        Self { shared, master: pair.master, writer, child }
    }

    /// Presses keys, as the bytes a terminal sends for them.
    pub(crate) fn press(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("the terminal takes keys");
        self.writer.flush().expect("the terminal takes keys");
    }

    /// Waits until the screen satisfies the condition, and gives it.
    pub(crate) fn wait(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + DEADLINE;
        let mut feed = self.shared.screen.lock().expect("the feed");
        loop {
            let screen = feed.parser.screen().contents();
            if condition(&screen) {
                return screen;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !feed.ended, "waited in vain for {what}; the screen is\n{screen}");
            feed = self.shared.changed.wait_timeout(feed, left).expect("the feed").0;
        }
    }

    /// Waits until the screen shows a text, and gives the screen.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.wait(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Waits until the screen shows all of these, and gives the screen. A frame arrives in pieces: what is to be read off
    /// it must be waited for.
    pub(crate) fn wait_for_all(&self, texts: &[&str]) -> String {
        self.wait(&format!("{texts:?}"), |screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Changes the terminal's size.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.shared.screen.lock().expect("the feed").parser.set_size(cells(rows), cells(columns));
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).expect("a new size");
    }

    /// The program's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().expect("a running program")
    }

    /// Waits for the end; gives the exit code, what is on the screen then, and whether the terminal is as it was.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.child.wait().expect("the program ends");
        drop(self.writer);
        let end = Instant::now() + DEADLINE;
        let mut feed = self.shared.screen.lock().expect("the feed");
        let restored = |feed: &Feed| {
            let screen = feed.parser.screen();
            !screen.alternate_screen()
                && !screen.hide_cursor()
                && !screen.bracketed_paste()
                && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
        };
        while !restored(&feed) && !feed.ended && Instant::now() < end {
            feed = self.shared.changed.wait_timeout(feed, Duration::from_secs(1)).expect("the feed").0;
        }
        Ended { code: status.exit_code(), screen: feed.parser.screen().contents(), restored: restored(&feed) }
    }
}

/// How the program ended.
pub(crate) struct Ended {
    pub(crate) code: u32,
    pub(crate) screen: String,
    pub(crate) restored: bool,
}
