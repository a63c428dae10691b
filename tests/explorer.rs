//! The real binary in a pseudo-terminal, as an operator uses it.
#![cfg(unix)]

mod common;

use common::pty::Terminal;

/// shop/payments is the fourth pod that kube-scheduler would pop.
const CYCLES_TO_PAYMENTS: usize = 4;

#[test]
fn step_to_the_preemption_read_it_go_back_and_quit() {
    let mut terminal = Terminal::start(&["demo"], 200, 60);
    terminal.wait_for("shop/payments");
    for cycle in 1..CYCLES_TO_PAYMENTS {
        terminal.press("c");
        terminal.wait_for(&format!("cycle {cycle}/{cycle}"));
    }
    // To the start of preemption, then to the end of the cycle.
    terminal.press("r");
    terminal.wait_for("cycle 4/4");
    terminal.press("c");
    let facts = [
        "nominated to worker-a2",
        "8 dry-run, 8 candidates",
        "worker-b1",
        "MinNumPDBViolations",
        "LatestStartTime",
        "batch/reports-646f8d7fc5-zgcpb",
        "batch/reports-646f8d7fc5-kdjfj",
        "any of these 2 is right",
    ];
    terminal.wait_for_all(&facts);
    terminal.press("C");
    terminal.wait("the start of the cycle", |s| !s.contains("8 dry-run, 8 candidates"));
    terminal.press("c");
    terminal.wait_for_all(&facts);
    terminal.press("q");
    let ended = terminal.end();
    assert_eq!((ended.code, ended.restored), (0, true), "{}", ended.screen);
}

#[test]
fn the_deciding_function_is_on_the_screen() {
    let mut terminal = Terminal::start(&["demo", "tie-breaks", "--pod", "demo/4-fewest-victims"], 120, 40);
    terminal.wait_for_all(&["decided by MinNumPods", "count-2", "count-1"]);
    terminal.press("q");
    assert!(terminal.end().restored);
}

#[test]
fn the_dry_run_of_a_node_is_told_in_order() {
    let mut terminal = Terminal::start(&["demo", "budgets"], 120, 40);
    terminal.wait_for("shop/checkout");
    terminal.press("\r");
    terminal.wait_for("decided by MinHighestPriority");
    terminal.press("2");
    terminal.press("\r");
    let told =
        ["DRY RUN, IN ORDER", "removed    shop/cart-0", "reprieved  shop/cart-1", "reprieved  shop/cart-2", "victim     shop/cart-0"];
    let screen = terminal.wait_for_all(&told);
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text} is not on\n{screen}"));
    assert!(at("removed    shop/cart-0") < at("reprieved  shop/cart-1"), "{screen}");
    assert!(at("reprieved  shop/cart-2") < at("victim     shop/cart-0"), "{screen}");
    terminal.press("q");
    assert_eq!(terminal.end().code, 0);
}

#[test]
fn small_terminals_and_resizing() {
    let mut terminal = Terminal::start(&["demo"], 80, 24);
    terminal.wait_for("activeQ 13");
    terminal.resize(40, 10);
    terminal.wait_for("needs a little more room");
    terminal.resize(120, 40);
    terminal.wait_for("activeQ 13");
    terminal.press("?");
    terminal.wait_for("list the keys");
    terminal.press("q");
    terminal.wait("the help to close", |s| !s.contains("list the keys"));
    terminal.press("q");
    assert!(terminal.end().restored);
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_leaves_the_terminal_as_it_was() {
    let mut terminal = Terminal::start(&["demo"], 80, 24);
    terminal.wait_for("activeQ 13");
    terminal.press(":panic\r");
    let ended = terminal.end();
    assert!(ended.restored, "{}", ended.screen);
    assert!(ended.code != 0, "a panic is no success");
    assert!(ended.screen.contains("a panic was asked for"), "reported on the main screen: {}", ended.screen);
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let terminal = Terminal::start(&["demo"], 80, 24);
        terminal.wait_for("activeQ 13");
        terminal.signal(signal);
        let ended = terminal.end();
        assert_eq!((ended.code, ended.restored), (code, true), "{signal}: {}", ended.screen);
    }
}

#[test]
fn control_c_quits() {
    let mut terminal = Terminal::start(&["demo"], 80, 24);
    terminal.wait_for("activeQ 13");
    terminal.press("\u{3}");
    assert!(terminal.end().restored);
}

#[test]
fn stopping_gives_the_terminal_back_and_going_on_takes_it_again() {
    let mut terminal = Terminal::start(&["demo"], 100, 30);
    terminal.wait_for("activeQ 13");
    for by_key in [true, false] {
        if by_key {
            terminal.press("\u{1a}");
        } else {
            terminal.signal("TSTP");
        }
        terminal.wait_stopped();
        terminal.wait_restored(true);
        terminal.signal("CONT");
        terminal.wait_restored(false);
        terminal.wait_for("activeQ 13");
    }
    // Stopped from outside without a word; when it goes on, keys work as before.
    terminal.signal("STOP");
    terminal.wait_stopped();
    terminal.signal("CONT");
    terminal.press("?");
    terminal.wait_for("list the keys");
    terminal.press("\u{3}");
    assert!(terminal.end().restored);
}

#[test]
fn without_colours_and_without_unicode_it_says_the_same() {
    let colours = |raw: &str| ["\x1b[38;2;", "\x1b[38;5;", "\x1b[48;2;", "\x1b[48;5;"].iter().any(|c| raw.contains(c));
    let cases = [
        ("", "--pod=shop/payments", "★ worker-a2", true),
        ("", "--no-color", "★ worker-a2", false),
        ("NO_COLOR=1", "--pod=shop/payments", "★ worker-a2", false),
        ("NO_COLOR=1 LC_ALL=C", "--pod=shop/payments", "* worker-a2", false),
    ];
    for (variables, argument, winner, coloured) in cases {
        let pairs: Vec<(&str, &str)> = variables.split_whitespace().filter_map(|v| v.split_once('=')).collect();
        let mut arguments = vec!["demo", "--pod=shop/payments"];
        arguments.extend(Some(argument).filter(|a| !a.starts_with("--pod")));
        let mut terminal = Terminal::start_in(&pairs, &arguments, 120, 40);
        let screen = terminal.wait_for_all(&[winner, "any of these 2 is right"]);
        assert_eq!(screen.is_ascii(), winner.starts_with('*'), "{screen}");
        terminal.press("q");
        assert_eq!(colours(&terminal.end().raw), coloured, "{variables} {argument}");
    }
}

#[test]
fn filters_the_mouse_and_pastes() {
    let mut terminal = Terminal::start(&["demo"], 120, 40);
    terminal.wait_for("shop/spread");
    terminal.press("/patient");
    terminal.wait("the others to go", |s| s.contains("/patient") && !s.contains("shop/spread"));
    terminal.press("\r\x1b");
    terminal.wait_for("shop/spread");
    // Outside a line to type into, a paste types nothing and quits nothing; inside one it is text.
    terminal.press("\x1b[200~q:q\r\x1b[201~");
    terminal.press(":");
    terminal.press("\x1b[200~node work\ner-a1\x1b[201~\r");
    terminal.wait_for("Node worker-a1");
    // The left button on the tab of preemption.
    terminal.press("\x1b[<0;55;2M\x1b[<0;55;2m");
    terminal.wait_for("nothing has been tried yet");
    terminal.press("q");
    assert_eq!(terminal.end().code, 0);
}

#[test]
fn without_a_terminal_there_is_a_reason() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope")).arg("demo").output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("needs a terminal"), "{error}");
}
