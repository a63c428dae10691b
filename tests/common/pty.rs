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
    /// Everything the program wrote, escape sequences and all.
    raw: Vec<u8>,
    ended: bool,
}

impl Feed {
    /// Whether the last frame is there to its end: the explorer marks where each begins and ends, as terminals that show
    /// a frame at once expect it.
    fn is_whole(&self) -> bool {
        let last = |mark: &[u8]| self.raw.windows(mark.len()).rposition(|w| w == mark);
        last(b"\x1b[?2026h") <= last(b"\x1b[?2026l")
    }

    /// Whether the terminal is as a shell wants it: main screen, cursor shown, no reports of mouse and paste.
    fn is_restored(&self) -> bool {
        let screen = self.parser.screen();
        !screen.alternate_screen()
            && !screen.hide_cursor()
            && !screen.bracketed_paste()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    }
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
        Self::start_in(&[], arguments, columns, rows)
    }

    /// The same, with other variables in its environment than those of a terminal with all colours and Unicode.
    pub(crate) fn start_in(variables: &[(&str, &str)], arguments: &[&str], columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_schedscope"));
        command.args(arguments);
        command.env_remove("NO_COLOR");
        let usual = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LC_ALL", "C.UTF-8"), ("RUST_BACKTRACE", "0")];
        for (name, value) in usual.iter().chain(variables) {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let feed = Feed { parser: vt100::Parser::new(cells(rows), cells(columns), 0), raw: Vec::new(), ended: false };
        let shared = Arc::new(Shared { screen: Mutex::new(feed), changed: Condvar::new() });
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let fed = shared.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut feed = fed.screen.lock().expect("the feed");
                feed.parser.process(&buffer[..read]);
                feed.raw.extend_from_slice(&buffer[..read]);
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
            if feed.is_whole() && condition(&screen) {
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

    /// Waits until the screen shows all of these, and gives the screen.
    pub(crate) fn wait_for_all(&self, texts: &[&str]) -> String {
        self.wait(&format!("{texts:?}"), |screen| texts.iter().all(|text| screen.contains(text)))
    }

    /// Changes the terminal's size.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.shared.screen.lock().expect("the feed").parser.set_size(cells(rows), cells(columns));
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).expect("a new size");
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid();
        let status = std::process::Command::new("kill").args(["-s", name, &pid]).status().expect("kill");
        assert!(status.success(), "kill -s {name} {pid}");
    }

    /// Waits until the program is stopped, as `ps` tells it, with the terminal as it was.
    pub(crate) fn wait_stopped(&self) {
        let end = Instant::now() + DEADLINE;
        let state = || {
            let output = std::process::Command::new("ps").args(["-o", "state=", "-p", &self.pid()]).output().expect("ps");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        // Nobody tells us that a program was stopped, so this one wait asks again and again.
        while !state().starts_with('T') {
            assert!(Instant::now() < end, "the program is not stopped but {:?}", state());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the terminal is as it was before the program started, or the program's.
    pub(crate) fn wait_restored(&self, restored: bool) {
        let end = Instant::now() + DEADLINE;
        let mut feed = self.shared.screen.lock().expect("the feed");
        while feed.is_restored() != restored {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !feed.ended, "waited in vain for the terminal; it shows\n{}", feed.parser.screen().contents());
            feed = self.shared.changed.wait_timeout(feed, left).expect("the feed").0;
        }
    }

    fn pid(&self) -> String {
        self.child.process_id().expect("a running program").to_string()
    }

    /// Waits for the end; gives the exit code, what is on the screen then, and whether the terminal is as it was.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.child.wait().expect("the program ends");
        drop(self.writer);
        let end = Instant::now() + DEADLINE;
        let mut feed = self.shared.screen.lock().expect("the feed");
        while !feed.is_restored() && !feed.ended && Instant::now() < end {
            feed = self.shared.changed.wait_timeout(feed, Duration::from_secs(1)).expect("the feed").0;
        }
        Ended {
            code: status.exit_code(),
            screen: feed.parser.screen().contents(),
            restored: feed.is_restored(),
            raw: String::from_utf8_lossy(&feed.raw).into_owned(),
        }
    }
}

/// How the program ended.
pub(crate) struct Ended {
    pub(crate) code: u32,
    pub(crate) screen: String,
    pub(crate) restored: bool,
    /// Everything the program wrote, escape sequences and all.
    pub(crate) raw: String,
}
