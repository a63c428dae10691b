//! The built binary on a pseudo-terminal: keys in, screen out.
//!
//! Nothing here sleeps for a guessed time: every wait polls the screen (or the process) until the condition holds, and
//! fails with the screen in its message after a deadline.

use std::io::{Read as _, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Deadline of every wait; generous, as test machines are busy.
const DEADLINE: Duration = Duration::from_secs(30);

/// The output of the terminal, filled by a reading thread.
#[derive(Default)]
struct Shared {
    screen: Mutex<Output>,
    changed: Condvar,
}

#[derive(Default)]
struct Output {
    parser: Option<vt100::Parser>,
    raw: Vec<u8>,
    closed: bool,
    /// Set to end the reading thread.
    leaves: bool,
}

impl Output {
    /// Whether the last frame is complete: the explorer marks the begin and end of each (synchronized output).
    fn is_whole(&self) -> bool {
        let last = |mark: &[u8]| self.raw.windows(mark.len()).rposition(|w| w == mark);
        last(b"\x1b[?2026h") <= last(b"\x1b[?2026l")
    }
}

/// A running program and its terminal.
pub(crate) struct Pty {
    /// `None` after the hang-up.
    ends: Option<Ends>,
    child: Box<dyn Child + Send + Sync>,
    shared: Arc<Shared>,
}

/// The test's end of the terminal.
struct Ends {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    reader: JoinHandle<()>,
}

pub(crate) const ENTER: &str = "\r";
pub(crate) const ESC: &str = "\x1b";

/// Types a command after `:`.
pub(crate) fn command(pty: &mut Pty, line: &str) {
    pty.send(":");
    pty.wait_for("Enter run");
    pty.send(line);
    pty.wait_for(&format!(":{line}"));
    pty.send(ENTER);
}

impl Pty {
    /// Starts `schedscope` with arguments on a terminal of this size, with 24-bit colour and Unicode.
    pub(crate) fn start(args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_in(&[], args, columns, rows)
    }

    /// As [`Self::start`], with more environment variables. The user's own configuration is hidden from the program.
    pub(crate) fn start_in(variables: &[(&str, &str)], args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_at(Path::new(env!("CARGO_MANIFEST_DIR")), variables, args, columns, rows)
    }

    /// As [`Self::start_in`], in another folder.
    pub(crate) fn start_at(folder: &Path, variables: &[(&str, &str)], args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_program(env!("CARGO_BIN_EXE_schedscope"), folder, variables, args, columns, rows)
    }

    /// As [`Self::start_at`], with another program, such as a shell that starts `schedscope`.
    pub(crate) fn start_program(program: &str, folder: &Path, variables: &[(&str, &str)], args: &[&str], columns: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(folder);
        command.env_remove("NO_COLOR");
        for (name, value) in [
            ("TERM", "xterm-256color"),
            ("COLORTERM", "truecolor"),
            // Terminals announce a dark background this way.
            ("COLORFGBG", "15;0"),
            ("LC_ALL", "C.UTF-8"),
            ("XDG_CONFIG_HOME", "/nowhere"),
            // No folder can be created there.
            ("XDG_STATE_HOME", "/dev/null"),
        ]
        .iter()
        .chain(variables)
        {
            command.env(name, value);
        }
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo terminal");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let shared = Arc::new(Shared::default());
        lock(&shared).parser = Some(vt100::Parser::new(some(rows), some(columns), 0));
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let filled = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            loop {
                let read = reader.read(&mut buffer);
                let mut output = lock(&filled);
                match read {
                    Ok(n) if n > 0 => {
                        output.raw.extend_from_slice(&buffer[..n]);
                        if let Some(parser) = &mut output.parser {
                            parser.process(&buffer[..n]);
                        }
                    }
                    _ => output.closed = true,
                }
                let closed = output.closed || output.leaves;
                drop(output);
                filled.changed.notify_all();
                if closed {
                    return;
                }
            }
        });
        Self { ends: Some(Ends { master: pair.master, writer, reader: thread }), child, shared }
    }

    /// Closes the terminal like a closed window; it can no longer be read or written.
    #[allow(dead_code, reason = "not every test that starts the program needs it")]
    pub(crate) fn hang_up(&mut self) {
        lock(&self.shared).leaves = true;
        // The reading thread needs output to notice the flag.
        self.resize(81, 25);
        self.send("n");
        let Ends { master, writer, reader } = self.ends.take().expect("it has not hung up yet");
        reader.join().expect("it does not panic");
        lock(&self.shared).closed = true;
        drop((master, writer));
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &str) {
        self.send_bytes(bytes.as_bytes());
    }

    /// Sends bytes that need not be text.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let writer = &mut self.ends.as_mut().expect("it has not hung up").writer;
        writer.write_all(bytes).and_then(|()| writer.flush()).expect("the terminal takes keys");
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        if let Some(parser) = &mut lock(&self.shared).parser {
            parser.screen_mut().set_size(some(rows), some(columns));
        }
        self.resize_unseen(columns, rows);
    }

    /// Changes the size in the terminal's driver alone. The screen here keeps its own.
    pub(crate) fn resize_unseen(&self, columns: u16, rows: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.ends.as_ref().expect("it has not hung up").master.resize(size).expect("a new size");
    }

    /// Waits until the screen contains a text, and returns the screen.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("the screen contains {text:?}"), |screen| screen.contents().contains(text))
    }

    /// Waits until the screen no longer contains a text, and returns the screen.
    pub(crate) fn wait_gone(&self, text: &str) -> String {
        self.wait_until(&format!("the screen no longer contains {text:?}"), |screen| !screen.contents().contains(text))
    }

    /// Waits until the screen meets a condition, and returns its text.
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) -> String {
        let end = Instant::now() + DEADLINE;
        let mut output = lock(&self.shared);
        loop {
            let screen = output.parser.as_ref().expect("set at the start").screen();
            if output.is_whole() && is_so(screen) {
                return screen.contents();
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !output.closed, "waiting until {what}; the screen is\n{}", screen.contents());
            output = self.shared.changed.wait_timeout(output, left).expect("no thread panics with the lock").0;
        }
    }

    /// Waits until the program has written some bytes, whatever their effect.
    #[allow(dead_code, reason = "not every test that starts the program needs it")]
    pub(crate) fn wait_raw(&self, bytes: &str) {
        let end = Instant::now() + DEADLINE;
        let mut output = lock(&self.shared);
        while !output.raw.windows(bytes.len()).any(|w| w == bytes.as_bytes()) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !output.closed, "{bytes:?} is never written");
            output = self.shared.changed.wait_timeout(output, left).expect("no thread panics with the lock").0;
        }
    }

    /// Returns the current text of the screen.
    pub(crate) fn screen(&self) -> String {
        lock(&self.shared).parser.as_ref().expect("set at the start").screen().contents()
    }

    /// Waits for the program to end and returns its exit code; everything it wrote has been read then.
    pub(crate) fn wait_exit(&mut self) -> u32 {
        let end = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the program can be waited for") {
                break status;
            }
            assert!(Instant::now() < end, "the program does not end; the screen is\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut output = lock(&self.shared);
        while !output.closed && Instant::now() < end {
            output = self.shared.changed.wait_timeout(output, Duration::from_millis(50)).expect("no thread panics with the lock").0;
            if cfg!(target_os = "macos") {
                break;
            }
        }
        status.exit_code()
    }

    /// Returns the most memory that the program has had, in kB.
    #[cfg(target_os = "linux")]
    #[allow(dead_code, reason = "not every test that starts the program needs it")]
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Returns the program's process id.
    #[allow(dead_code, reason = "tests have no use for it")]
    pub(crate) fn process(&self) -> u32 {
        self.child.process_id().expect("it runs")
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.process_id().expect("it runs").to_string();
        let status = std::process::Command::new("kill").args(["-s", name, &id]).status().expect("kill runs");
        assert!(status.success(), "kill -s {name} {id}");
    }

    /// Returns the one-letter state of the program, as in `ps`.
    pub(crate) fn state(&self) -> String {
        let id = self.child.process_id().expect("it runs").to_string();
        let output = std::process::Command::new("ps").args(["-o", "state=", "-p", &id]).output().expect("ps runs");
        String::from_utf8_lossy(&output.stdout).trim().chars().take(1).collect()
    }

    /// Waits until the program is in a state.
    pub(crate) fn wait_state(&self, state: &str) {
        let end = Instant::now() + DEADLINE;
        while self.state() != state {
            assert!(Instant::now() < end, "the program is in state {:?} and not {state:?}", self.state());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns all output of the program, with escape sequences.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&lock(&self.shared).raw).into_owned()
    }

    /// Fails unless the terminal is restored for a shell: main screen, cursor shown, no mouse and paste reports.
    pub(crate) fn assert_restored(&self) {
        let output = lock(&self.shared);
        let screen = output.parser.as_ref().expect("set at the start").screen();
        assert!(!screen.alternate_screen(), "the alternate screen is still shown:\n{}", screen.contents());
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        assert!(!screen.bracketed_paste(), "pasting is still bracketed");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "the mouse still reports");
    }

    /// Fails unless the explorer has set up the terminal.
    pub(crate) fn assert_taken(&self) {
        self.wait_until("the explorer has the terminal", |screen| {
            screen.alternate_screen() && screen.hide_cursor() && screen.bracketed_paste()
        });
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A failed test must stop its program.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn some(size: u16) -> NonZero<u16> {
    NonZero::new(size).expect("a terminal has a size")
}

fn lock(shared: &Shared) -> MutexGuard<'_, Output> {
    shared.screen.lock().expect("no thread panics with the lock")
}
