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
fn a_panic_leaves_the_terminal_as_it_was() {
    let mut terminal = Terminal::start(&["demo"], 80, 24);
    terminal.wait_for("activeQ 13");
    terminal.press(":panic\r");
    let ended = terminal.end();
    assert!(ended.restored, "{}", ended.screen);
    assert!(ended.code != 0, "a panic is no success");
    assert!(ended.screen.contains("panic"), "{}", ended.screen);
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let terminal = Terminal::start(&["demo"], 80, 24);
        terminal.wait_for("activeQ 13");
        let sent = std::process::Command::new("kill").args([format!("-{signal}"), terminal.pid().to_string()]).status();
        assert!(sent.expect("kill").success());
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
