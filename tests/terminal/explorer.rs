//! Tests of the built program on a pseudo-terminal.

use std::process::Command;

use crate::pty::{ENTER, ESC, Pty, command};

fn demo(columns: u16, rows: u16) -> Pty {
    let mut pty = Pty::start(&["demo", "payments"], columns, rows);
    pty.wait_for("0 Overview");
    pty.assert_taken();
    pty.send("1");
    pty.wait_for("━ 1 Queues ");
    pty
}

#[test]
fn the_story_of_payments_is_read_off_the_screen() {
    let mut pty = demo(120, 40);
    pty.wait_for("12 nodes");
    command(&mut pty, "pod shop/payments");
    let screen = pty.wait_for("★ worker-a2");
    assert!(screen.contains("8 candidates") && screen.contains("Preemption"), "{screen}");
    assert!(screen.contains("any of these 2 may win"), "{screen}");
    assert!(screen.contains("0/12 nodes are available: 1 node(s) were unschedulable"), "{screen}");
    assert!(screen.contains("batch/reports-646f8d7fc5-zgcpb"), "a victim\n{screen}");

    // The candidates, and the score function that eliminated one.
    pty.send("3");
    let row = line(&pty.wait_for("MinHighest"), "worker-a1");
    assert!(row.contains("1000 ✗"), "worker-a1 falls at the highest priority: {row}");
    let row = line(&pty.screen(), "= worker-b1");
    assert!(row.contains("-10 ✓") && row.contains("-20 ✓"), "{row}");

    // The candidate, and on its node the dry run in order.
    pty.send("j");
    pty.wait_for("VICTIMS ON WORKER-B1");
    pty.send(ENTER);
    let screen = pty.wait_for("Candidate worker-b1");
    assert!(screen.contains("as good as the one chosen") && screen.contains("VICTIMS (2)"), "{screen}");
    pty.send("d");
    let screen = pty.wait_for("Node worker-b1 ‹ Candidate");
    assert!(screen.contains("DRY RUN, IN ORDER") && screen.contains("reprieved"), "{screen}");
    pty.send(ESC);
    pty.wait_for("Candidate worker-b1 ‹ Preemption");
    pty.send(ESC);
    pty.wait_for("VICTIMS ON WORKER-B1");
    pty.send("2");
    pty.wait_for("Nodes for shop/payments");

    // Back to before the cycle, and quit.
    pty.send("C");
    pty.wait_for("step 0/");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

fn line(screen: &str, part: &str) -> String {
    screen.lines().find(|l| l.contains(part)).unwrap_or_else(|| panic!("{part:?} is nowhere in\n{screen}")).to_owned()
}

#[test]
fn steps_run_and_go_back_exactly() {
    let mut pty = demo(100, 32);
    let start = pty.screen();
    pty.send("n");
    pty.wait_for("rev 1/1");
    pty.wait_gone("step 0/");
    pty.send("r");
    pty.wait_until("preemption is looked into", |s| s.contents().contains("▸PostFilter"));
    pty.send("\x1b[H");
    let back = pty.wait_for("step 0/");
    let queues = |screen: &str| {
        let rows = screen.lines().map(|l| l.chars().take(34).collect::<String>());
        rows.filter(|l| l.contains('/') && l.starts_with("┃  ")).collect::<Vec<String>>()
    };
    // With a record, the steps take rows of the queues.
    let (start, back) = (queues(&start), queues(&back));
    assert!(!back.is_empty() && start.starts_with(&back), "the queues are as they were: {start:?} {back:?}");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn a_pod_from_the_command_line_is_decided_at_once() {
    let mut pty = Pty::start(&["demo", "payments", "--pod", "shop/payments"], 200, 60);
    let screen = pty.wait_for("shop/payments: Pending because 8 of 12 nodes have less than 6 cpu free");
    assert!(screen.contains("Nodes for shop/payments") && screen.contains("Preemption"), "{screen}");
    assert!(screen.contains("preempting 2 pods of priority -10 on worker-a2"), "{screen}");
    assert!(screen.contains("MinNumPDBViolations") && screen.contains("Insufficient cpu"), "{screen}");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn resizing_goes_through_every_arrangement() {
    let mut pty = demo(200, 60);
    pty.wait_for("2 Nodes");
    pty.resize(50, 12);
    pty.wait_for("terminal too small");
    pty.resize(80, 24);
    pty.wait_for("▸1 Queues");
    pty.resize(120, 40);
    pty.wait_for("2 Nodes");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn help_filter_and_mouse() {
    let mut pty = demo(120, 40);
    pty.send("?");
    pty.wait_for("keys and commands");
    pty.send(ESC);
    pty.wait_gone("keys and commands");
    pty.send("/");
    pty.wait_for("filter queues");
    pty.send("patient");
    pty.wait_gone("shop/spread");
    pty.send(ENTER);
    pty.wait_for("/patient");
    pty.send(ESC);
    pty.wait_for("shop/spread");
    // A paste outside a prompt neither types nor quits.
    pty.send("\x1b[200~q:q\r\x1b[201~");
    // In a prompt it is text, and a line break in it does not run the command.
    pty.send(":\x1b[200~node work\ner-a1\x1b[201~");
    pty.wait_for(":node worker-a1");
    pty.send(ENTER);
    pty.wait_for("Node worker-a1");
    // A left click on the tab of preemption.
    pty.send("\x1b[<0;55;4M\x1b[<0;55;4m");
    pty.wait_for("nothing has been tried yet");
    pty.send("\x03");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_gives_the_terminal_back_before_it_is_reported() {
    let mut pty = demo(100, 30);
    command(&mut pty, "panic");
    assert_ne!(pty.wait_exit(), 0);
    pty.assert_restored();
    let raw = pty.raw();
    let left = raw.rfind("\x1b[?1049l").expect("the alternate screen was left");
    let report = raw.find("panicked: a panic was asked for").expect("the panic was reported");
    assert!(left < report, "the report comes after, on the main screen");
    assert!(raw[report..].contains("--log FILE writes one"), "{raw}");
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_is_reported_and_logged_with_its_backtrace() {
    let home = tempfile::tempdir().expect("a folder");
    let state = home.path().display().to_string();
    let mut pty = Pty::start_in(&[("XDG_STATE_HOME", &state)], &["demo", "payments"], 100, 30);
    pty.wait_for("activeQ");
    pty.send("iG");
    pty.wait_for(&format!("Log: {state}/schedscope/schedscope.2"));
    pty.send(ESC);
    pty.wait_gone("Log: ");
    // On another thread: the screen stays, reports it, and continues.
    command(&mut pty, "panic beside");
    let screen = pty.wait_for("An error in schedscope");
    assert!(
        screen.contains("a panic was asked for at src/app/event_loop.rs:") && screen.contains(&format!("{state}/schedscope/")),
        "{screen}"
    );
    pty.assert_taken();
    pty.send(ESC);
    pty.wait_gone("An error in schedscope");
    pty.send("n");
    pty.wait_for("rev 1/1");
    command(&mut pty, "panic");
    assert_eq!(pty.wait_exit(), 101);
    pty.assert_restored();
    let raw = pty.raw();
    let report = &raw[raw.rfind("\x1b[?1049l").expect("the alternate screen was left")..];
    for part in ["panicked: a panic was asked for at src/app/event_loop.rs:", "The log says more: ", "/issues", "--redact"] {
        assert!(report.contains(part), "{part} is not in {report}");
    }
    let logged = log(home.path());
    assert_eq!(logged.matches("panic: a panic was asked for").count(), 2, "{logged}");
    assert!(logged.contains("schedscope::app::event_loop"), "a backtrace\n{logged}");
}

/// Returns the content of the only log in a state directory, which also holds that the tour was offered.
fn log(state: &std::path::Path) -> String {
    let entries = std::fs::read_dir(state.join("schedscope")).expect("a folder").map(|e| e.expect("an entry").path());
    let files: Vec<_> = entries.filter(|path| !path.ends_with("tour-offered")).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    std::fs::read_to_string(file).expect("a log")
}

#[test]
fn what_was_loaded_is_logged_and_what_it_holds_is_not() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().display().to_string();
    // Without `XDG_STATE_HOME`, the state directory is in the home directory.
    let mut pty = Pty::start_in(&[("HOME", &folder), ("XDG_STATE_HOME", "")], &["demo", "payments", "--pod", "shop/payments"], 100, 30);
    pty.wait_for("shop/payments");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    assert!(!pty.raw().contains("INFO"), "nothing is logged to the terminal");
    let logged = log(&home.path().join(".local/state"));
    for part in ["schedscope started version=", " read source=", "objects=", "milliseconds=", "the screen was left"] {
        assert!(logged.contains(part), "{part} is not in {logged}");
    }
    assert!(!logged.contains("worker-") && !logged.contains("catalog"), "{logged}");
}

#[test]
fn without_a_place_for_the_log_the_explorer_says_so_and_continues() {
    let mut pty = demo(120, 40);
    pty.send("iG");
    pty.wait_for("No log is written: /dev/null/schedscope: ");
    pty.send(ESC);
    pty.wait_gone("No log is written");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn a_log_that_can_no_longer_be_written_is_said_once_and_spoils_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("a.log");
    // The first event fits, the second does not.
    std::fs::write(&log, "x".repeat(512 - 150)).expect("a file");
    let log = log.display().to_string();
    let script = format!("trap '' XFSZ; ulimit -f 1; exec '{}' demo payments --log '{log}'", env!("CARGO_BIN_EXE_schedscope"));
    let mut pty = Pty::start_program("/bin/sh", folder.path(), &[], &["-c", &script], 120, 40);
    let screen = pty.wait_for("No log is written: ");
    assert!(screen.contains("File too large") && screen.matches("a.log").count() == 1, "{screen}");
    pty.send("j");
    pty.wait_gone("No log is written");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
    assert!(!pty.raw().contains("Unable to write"), "{}", pty.raw());
    let output =
        Command::new(env!("CARGO_BIN_EXE_schedscope")).args(["demo", "payments", "--log", "/dev/full"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("schedscope: --log /dev/full: No space left on device"), "{said}");
}

#[test]
fn the_screen_and_the_decision_are_written_to_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    let mut pty = Pty::start(&["demo", "payments", "--pod", "shop/payments"], 160, 40);
    pty.wait_for("★ worker-a2");
    pty.send("p");
    pty.wait_for(":export ");
    pty.send(&path("a.svg"));
    pty.send(ENTER);
    pty.wait_for("written to");
    let picture = read("a.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("worker-a2") && !picture.contains("written to"), "{picture}");
    command(&mut pty, &format!("export {}", path("a.svg")));
    pty.wait_for("already exists; it is not overwritten");
    assert_eq!(read("a.svg"), picture);
    let shown = pty.screen();
    command(&mut pty, &format!("export screen {}", path("a.txt")));
    pty.wait_for("written to");
    // All lines but the last, which held the notice.
    let without_notice = |text: &str| text.lines().take(39).map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(without_notice(&read("a.txt")), without_notice(&shown));
    for (name, part) in [
        ("b.txt", "PREEMPTION ("),
        ("b.md", "# shop/payments is pending"),
        ("b.json", "\"selected\": \"worker-a2\""),
        ("b.yaml", "selected: worker-a2"),
    ] {
        command(&mut pty, &format!("export {}", path(name)));
        pty.wait_for(&format!("written to {}", path(name)));
        assert!(read(name).contains(part), "{}", read(name));
    }
    command(&mut pty, "export /nowhere/a.svg");
    pty.wait_for("/nowhere/a.svg: No such file");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)] {
        let mut pty = demo(80, 24);
        pty.signal(signal);
        assert_eq!(pty.wait_exit(), code, "{signal}");
        pty.assert_restored();
    }
}

#[test]
fn a_terminal_that_is_closed_ends_the_program_quietly() {
    // At different times: during the start, during drawing, and while waiting for keys.
    for round in 0..10 {
        let mut pty = if round % 2 == 0 { demo(80, 24) } else { Pty::start(&["demo", "payments"], 80, 24) };
        if round % 2 == 1 {
            pty.wait_raw("\x1b[?1049h");
        }
        for _ in 0..round {
            pty.send("n");
        }
        pty.hang_up();
        assert_eq!(pty.wait_exit(), 129, "round {round}");
    }
}

#[test]
fn a_terminal_that_is_closed_is_noticed_without_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = (folder.path().join("code"), folder.path().join("said"));
    // In a session of its own the program gets no hang-up signal, which it would ignore as well.
    let script = format!(
        "trap '' HUP; setsid --wait {} demo payments 2> {}; echo $? > {}",
        env!("CARGO_BIN_EXE_schedscope"),
        said.display(),
        code.display(),
    );
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pty = Pty::start_program("/bin/sh", here, &[], &["-c", &script], 80, 24);
    pty.wait_for("activeQ");
    pty.hang_up();
    pty.wait_exit();
    assert_eq!(std::fs::read_to_string(&code).unwrap(), "129\n");
    assert_eq!(std::fs::read_to_string(&said).unwrap(), "");
}

#[test]
fn a_storm_of_sizes_ends_with_the_last() {
    let mut pty = demo(80, 24);
    for round in 0..200_u16 {
        pty.resize(1 + round * 37 % 211, 1 + round * 17 % 67);
        if round % 7 == 0 {
            pty.send("n");
        }
    }
    pty.resize(120, 40);
    pty.wait_for("6 Message");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

#[test]
fn stopping_gives_the_terminal_back_and_going_on_takes_it_again() {
    let mut pty = demo(100, 30);
    for keys in [Some("\x1a"), None] {
        match keys {
            Some(keys) => pty.send(keys),
            None => pty.signal("TSTP"),
        }
        pty.wait_state("T");
        pty.wait_until("the terminal is given back", |s| !s.alternate_screen());
        pty.assert_restored();
        pty.signal("CONT");
        pty.assert_taken();
        pty.wait_for("activeQ");
    }
    // Stopped from outside without notice: it redraws when it continues.
    pty.signal("STOP");
    pty.wait_state("T");
    pty.signal("CONT");
    pty.send("2");
    pty.wait_for("2 Nodes");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

#[test]
fn without_colours_and_without_unicode_it_says_the_same() {
    let args = ["demo", "payments", "--pod", "shop/payments"];
    for (variables, more, winner) in
        [(&[][..], &["--no-color"][..], "★ worker-a2"), (&[("NO_COLOR", "1"), ("LC_ALL", "C")], &[], "* worker-a2")]
    {
        let args: Vec<&str> = args.iter().chain(more).copied().collect();
        let mut pty = Pty::start_in(variables, &args, 120, 40);
        let screen = pty.wait_for(winner);
        assert!(screen.contains("any of these 2 may win") && (winner.starts_with('★') || screen.is_ascii()), "{screen}");
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0);
        let raw = pty.raw();
        for colour in ["\x1b[38;2;", "\x1b[38;5;", "\x1b[48;2;", "\x1b[48;5;"] {
            assert!(!raw.contains(colour), "a colour is sent: {raw:?}");
        }
    }
    // The opposite case, so that the check above can fail.
    let mut pty = Pty::start(&args, 120, 40);
    pty.wait_for("★ worker-a2");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    assert!(pty.raw().contains("\x1b[38;2;"), "24-bit colours are sent where the terminal has them");
}

/// The terminal's answer is believed, however late, and keys typed meanwhile keep their meaning.
#[test]
fn a_light_terminal_gets_the_light_theme() {
    const QUESTION: &str = "\x1b]11;?";
    let ink = |pty: &Pty, (r, g, b): (u8, u8, u8)| {
        pty.wait_until("the theme is shown", |s| inks(s).contains(&(r, g, b)));
    };
    let (light, dark) = ((0x2d, 0x33, 0x45), (0xc9, 0xd1, 0xe3));
    let mut pty = Pty::start_in(&[("COLORFGBG", "")], &["demo", "payments"], 120, 40);
    pty.send("n");
    pty.wait_raw(QUESTION);
    pty.send("n\x1b]11;rgb:ffff/fafa/f0f0\x1b\\");
    ink(&pty, light);
    pty.wait_for("step 14/33");
    // Asked once, and an explicit choice asks nothing.
    assert_eq!(pty.raw().matches(QUESTION).count(), 1);
    command(&mut pty, "theme dark");
    ink(&pty, dark);
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    // A terminal that never answers, one that announces its background, and runs without a question.
    for (variables, args, expected, asked) in [
        (&[("COLORFGBG", "")][..], &["demo"][..], Some(dark), true),
        (&[("COLORFGBG", "0;15")], &["demo"], Some(light), false),
        (&[("COLORFGBG", "")], &["demo", "--theme", "dark"], Some(dark), false),
        (&[("COLORFGBG", ""), ("NO_COLOR", "1")], &["demo"], None, false),
    ] {
        let mut pty = Pty::start_in(variables, args, 120, 40);
        pty.wait_for("activeQ");
        if let Some(expected) = expected {
            ink(&pty, expected);
        }
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0);
        assert_eq!(pty.raw().contains(QUESTION), asked, "{variables:?} {args:?}");
    }
}

/// Returns the foreground colours of the screen.
fn inks(screen: &vt100::Screen) -> Vec<(u8, u8, u8)> {
    let cells = (0..40).flat_map(|y| (0..120).map(move |x| (y, x)));
    let colour = |(y, x)| match screen.cell(y, x)?.fgcolor() {
        vt100::Color::Rgb(r, g, b) => Some((r, g, b)),
        _ => None,
    };
    cells.filter_map(colour).collect()
}

/// Moves of the mouse without a button are not asked for: they would wake the explorer for nothing.
#[test]
fn the_mouse_is_asked_for_clicks_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let configured = folder.path().join("schedscope");
    std::fs::create_dir(&configured).expect("a folder");
    let path = folder.path().display().to_string();
    for (config, asks) in [("", true), ("mouse = false", false)] {
        std::fs::write(configured.join("config.toml"), config).expect("written");
        let mut pty = Pty::start_in(&[("XDG_CONFIG_HOME", &path)], &["demo", "payments"], 80, 24);
        pty.wait_for("Overview");
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0);
        let modes = ["1000h", "1002h", "1006h", "1003h"].map(|mode| pty.raw().contains(&format!("\x1b[?{mode}")));
        assert_eq!(modes, [asks, asks, asks, false]);
        pty.assert_restored();
    }
}

#[test]
fn a_dumb_terminal_is_a_reason_not_to_start() {
    for args in [&["demo", "payments"][..], &[]] {
        let mut pty = Pty::start_in(&[("TERM", "dumb")], args, 120, 40);
        assert_eq!(pty.wait_exit(), 2);
        assert!(pty.screen().contains("TERM is dumb") && !pty.raw().contains('\x1b'), "{}", pty.raw());
    }
}

#[test]
fn without_a_terminal_there_is_a_reason() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"))
        .args(["demo", "payments"])
        .stdin(std::process::Stdio::null())
        .output()
        .expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("needs a terminal"), "{error}");
}

#[test]
fn the_deciding_function_is_read_off_the_screen() {
    for (pod, function) in [
        ("1-fewest-violations", "MinNumPDBViolations"),
        ("2-lowest-priority", "MinHighestPriority"),
        ("3-smallest-sum", "MinSumPriorities"),
        ("4-fewest-victims", "MinNumPods"),
        ("5-latest-start", "LatestStartTime"),
    ] {
        let mut pty = Pty::start(&["demo", "tie-breaks", "--pod", &format!("demo/{pod}")], 120, 40);
        pty.wait_for(&format!("decided by {function}"));
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0);
    }
}

#[test]
fn the_dry_run_of_a_node_is_reported_in_order() {
    let mut pty = Pty::start(&["demo", "budgets"], 120, 40);
    pty.wait_for("shop/checkout");
    pty.send(ENTER);
    pty.wait_for("decided by MinHighestPriority");
    pty.send("2");
    pty.send(ENTER);
    pty.wait_for("victim     shop/report-0");
    let screen = pty.wait_for("h return");
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text} is not on\n{screen}"));
    assert!(at("removed    shop/cart-0") < at("reprieved  shop/cart-1"), "{screen}");
    assert!(at("reprieved  shop/cart-2") < at("victim     shop/cart-0"), "{screen}");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn time_passes_branches_part_and_the_session_is_saved() {
    let mut pty = demo(120, 40);
    pty.send("S");
    pty.wait_for("9 pods still pending");
    pty.send("\x1b[H");
    command(&mut pty, "cordon worker-a2");
    pty.wait_for("on new branch 2");
    pty.wait_for("branch 2 of 2");
    pty.send("S");
    pty.wait_for("pods still pending");
    pty.send("=");
    let screen = pty.wait_for("main compared with branch 2");
    assert!(screen.contains("shop/payments: on worker-a2 → on "), "{screen}");
    pty.send(ESC);
    pty.wait_gone("main compared with branch 2");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    command(&mut pty, &format!("save {}", path.display()));
    pty.wait_for("saved to");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();

    let path = path.display().to_string();
    let mut again = Pty::start(&["open", &path], 120, 40);
    again.wait_for("branch 2 of 2");
    again.send("q");
    assert_eq!(again.wait_exit(), 0);
}

#[test]
fn queues_begin_as_observed_when_asked() {
    let mut pty = Pty::start(&["demo", "queues", "--queues", "observed"], 120, 40);
    pty.wait_for("as observed");
    command(&mut pty, "start fresh");
    pty.wait_for("fresh start: all");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn the_reader_s_settings_are_used_and_what_is_wrong_with_them_is_reported() {
    let home = tempfile::tempdir().expect("a folder");
    let own = home.path().join("schedscope");
    std::fs::create_dir_all(own.join("themes")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(own.join(name), text).expect("a file");
    write("config.toml", "theme = 'mine'\nglyphs = 'ascii'\n[keys.global]\nstep = 'm'\nrun = 'c'\n");
    write("themes/mine.toml", "inherits = 'dark'\n[palette]\nink = '#010203'\n");
    let folder = home.path().display().to_string();
    let start = |args: &[&str]| Pty::start_in(&[("XDG_CONFIG_HOME", folder.as_str())], args, 120, 40);

    let mut pty = start(&["demo", "payments"]);
    pty.wait_for("keys.global.run: \"c\" is the key of keys.global.cycle");
    pty.send("1");
    let screen = pty.wait_for("m takes the first step, c a whole cycle");
    assert!(screen.contains('#') && !screen.contains('┃'), "{screen}");
    let painted = |pty: &Pty, (r, g, b): (u8, u8, u8)| {
        pty.wait_until("the theme is shown", |s| {
            let cells = (0..40).flat_map(|y| (0..120).map(move |x| (y, x)));
            cells.filter_map(|(y, x)| s.cell(y, x)).any(|c| c.fgcolor() == vt100::Color::Rgb(r, g, b))
        });
    };
    painted(&pty, (1, 2, 3));
    pty.send("i");
    pty.wait_for("Settings that are not used:");
    pty.send(ESC);
    pty.wait_gone("Settings that are not used:");
    pty.send("m");
    pty.wait_for("rev 1/1");

    // Selecting a theme previews it; Esc goes back.
    command(&mut pty, "theme");
    pty.wait_for("high-contrast");
    pty.send("g");
    painted(&pty, (0xc9, 0xd1, 0xe3));
    pty.send("G");
    painted(&pty, (1, 2, 3));
    pty.send("g");
    painted(&pty, (0xc9, 0xd1, 0xe3));
    pty.send(ESC);
    painted(&pty, (1, 2, 3));
    pty.wait_gone("high-contrast");

    // A theme that became invalid is reported when selected again, and the default is shown.
    write("themes/mine.toml", "inherits = 'dark'\n[roles]\nwinner = 'moss'\n");
    command(&mut pty, "theme mine");
    pty.wait_for("mine.toml: roles.winner: the palette has no \"moss\"");
    painted(&pty, (0xc9, 0xd1, 0xe3));
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);

    let mut pty = start(&["demo", "payments"]);
    pty.wait_for("2 settings are not used (i shows them): ");
    pty.send("i");
    pty.wait_for("mine.toml: roles.winner: the palette has no \"moss\"");
    pty.send(ESC);
    pty.wait_gone("Settings that are not used:");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    let mut pty = start(&["demo", "payments", "--theme", "nope"]);
    pty.wait_for("--theme: no theme is called \"nope\"; there are dark, light");
    assert_ne!(pty.wait_exit(), 0);
}

/// Returns a server that accepts connections and never answers, and a kubeconfig for it.
fn silent_cluster(folder: &std::path::Path) -> (std::net::TcpListener, String) {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("an address");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: quiet\ncontexts: [{{name: quiet, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: 'http://{address}'}}}}]\nusers: [{{name: u, user: {{token: t}}}}]\n"
    );
    let path = folder.join("kubeconfig");
    std::fs::write(&path, text).expect("a file");
    (server, path.display().to_string())
}

#[test]
fn loading_shows_how_far_it_has_got_and_can_be_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_server, kubeconfig) = silent_cluster(folder.path());
    for (leave, code) in [("q", 0), (ESC, 0), ("\x03", 130)] {
        let mut pty = Pty::start(&["live", "--kubeconfig", &kubeconfig], 100, 30);
        let screen = pty.wait_for("connecting");
        assert!(screen.contains("schedscope  live cluster") && screen.contains("q leaves"), "{screen}");
        pty.assert_taken();
        pty.resize(60, 16);
        pty.wait_until("the hint is on the last line", |s| s.contents().lines().nth(15).is_some_and(|l| l.contains("q leaves")));
        pty.send(leave);
        assert_eq!(pty.wait_exit(), code, "{leave:?}");
        pty.assert_restored();
    }
    let mut pty = Pty::start(&["live", "--kubeconfig", &kubeconfig], 100, 30);
    pty.wait_for("connecting");
    pty.signal("TERM");
    assert_eq!(pty.wait_exit(), 143);
    pty.assert_restored();
}

#[test]
fn what_cannot_be_loaded_is_reported_on_the_screen_that_was_there_before() {
    let mut pty = Pty::start(&["open", "/nowhere/at/all.yaml"], 100, 30);
    let screen = pty.wait_for("nothing could be read");
    assert!(screen.contains("/nowhere/at/all.yaml"), "{screen}");
    assert_eq!(pty.wait_exit(), 3);
}

#[test]
fn a_story_and_a_dump_are_opened_from_the_start_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_server, kubeconfig) = silent_cluster(folder.path());
    let dump = folder.path().join("one.yaml");
    std::fs::write(&dump, "apiVersion: v1\nkind: Node\nmetadata: {name: only-node}\n").expect("a file");
    let mut pty = Pty::start_in(&[("KUBECONFIG", kubeconfig.as_str())], &[], 120, 40);
    let screen = pty.wait_for("Live clusters");
    assert!(screen.contains("quiet") && screen.contains("the current context") && screen.contains("payments"), "{screen}");
    pty.assert_taken();

    // Cancelling the connection leads back.
    pty.send(ENTER);
    pty.wait_for("connecting");
    pty.send("q");
    pty.wait_for("Live clusters");

    // Open the demo, and in it the pod.
    pty.send("/");
    pty.send("payments");
    pty.wait_gone("quiet");
    pty.send(ENTER);
    pty.wait_for("activeQ");
    command(&mut pty, "pod shop/payments");
    pty.wait_for("★ worker-a2");

    // A mistyped path does not end the session; the start screen reports a source with nothing in it.
    command(&mut pty, "open /nowhere/at/all.yaml");
    let screen = pty.wait_for("/nowhere/at/all.yaml cannot be read");
    assert!(screen.contains("★ worker-a2"), "{screen}");
    let empty = folder.path().join("empty.yaml");
    std::fs::write(&empty, "").expect("a file");
    command(&mut pty, &format!("open {}", empty.display()));
    let screen = pty.wait_for("Live clusters");
    assert!(screen.contains("empty.yaml"), "{screen}");
    pty.send("o");
    let path = dump.display().to_string();
    let typed = path.strip_suffix("e.yaml").expect("its name");
    pty.send(typed);
    pty.wait_for("one.yaml");
    pty.send("\t");
    pty.wait_for(&path);
    pty.send(ENTER);
    pty.wait_for("1 node");
    command(&mut pty, "open");
    pty.wait_for("Live clusters");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
    pty.assert_restored();
}

#[test]
fn without_a_terminal_the_help_stands_for_the_start_screen() {
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_schedscope")).stdin(std::process::Stdio::null()).output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("Usage: schedscope") && error.contains("demo"), "{error}");
}

#[test]
fn a_pod_that_is_not_there_is_named_with_the_one_that_was_meant_and_the_first_screen_is_shown() {
    for (pod, words) in [
        ("payments", "there is no Pod default/payments; did you mean shop/payments?"),
        ("shop/paymnets", "there is no Pod shop/paymnets; did you mean shop/payments?"),
        ("batch/reports-646f8d7fc5-2c9vf", "is not waiting to be scheduled: it is on worker-c2"),
    ] {
        let mut pty = Pty::start(&["demo", "payments", "--pod", pod], 120, 40);
        pty.wait_for(words);
        pty.wait_for("Overview");
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0);
    }
}
