//! Steps, runs, branches and navigation in time.

use super::{ENTER, ESC, HOME, PAGE_DOWN, assert_order, command, decide, line, place, quit, story};
use crate::pty::Pty;

/// Runs until nothing changes.
fn settle(pty: &mut Pty) {
    pty.send("S");
    pty.wait_for("settled after");
}

/// "gpu-hungry is still pending at the end. How often was it tried, why was it requeued, and which reason did the
/// second attempt give?"
/// Three times; the second attempt is cycle 18, and Enter goes there.
#[test]
fn read_the_history_of_gpu_hungry_and_go_to_its_second_attempt() {
    for size in [(80, 24), (120, 40)] {
        let mut pty = story("payments", size);
        settle(&mut pty);
        pty.wait_for("rev 30/30");
        pty.send("1/");
        pty.wait_for("filter queues");
        pty.send("gpu-hungry");
        pty.wait_for("/gpu-hungry");
        pty.send(ENTER);
        pty.wait_gone("filter queues");
        pty.send("v");
        pty.wait_for("Pod ml/gpu-hungry");
        pty.send("G");
        let screen = pty.wait_for("▸ 30  18:32:03  Pending");
        line(&screen, &["6", "18:26:03  Pending because 10 of 12 nodes do not offer 8"]);
        line(&screen, &["14", "18:26:03  to activeQ: wait 29.9 s"]);
        pty.send("kk");
        pty.send(ENTER);
        let screen = pty.wait_for("rev 18/30");
        assert!(screen.contains("✗ ml/gpu-hungry: Pending because"), "{screen}");
        quit(pty);
    }
}

/// "What if worker-a2 is cordoned: where does payments go then, and which pods are evicted for it?"
/// To worker-b1, and other reports are evicted.
#[test]
fn compare_before_and_after_cordoning_worker_a2() {
    let mut pty = story("payments", (80, 24));
    settle(&mut pty);
    pty.send(HOME);
    pty.wait_for("step 0/");
    command(&mut pty, "cordon worker-a2");
    pty.wait_for("on new branch 2");
    settle(&mut pty);
    pty.send("=");
    let screen = pty.wait_for("main compared with branch 2");
    line(&screen, &["shop/payments: on worker-a2 → on worker-b1"]);
    assert_order(&screen, &["Evicted only on main:", "batch/reports-646f8d7fc5-zgcpb", "batch/reports-646f8d7fc5-kdjfj"]);
    pty.send(PAGE_DOWN);
    let screen = pty.wait_gone("They diverge from the start");
    assert_order(&screen, &["Evicted only on branch 2:", "batch/reports-646f8d7fc5-"]);
    pty.send("G");
    pty.wait_for(" of 133 ━");
    pty.wait_until("the end is shown", |s| s.contents().contains("-133 of 133"));
    pty.send(ESC);
    pty.wait_gone("main compared with branch 2");
    quit(pty);
}

/// "Back to the state before I cordoned it."
/// The list of branches leads there, and the node is schedulable again.
#[test]
fn go_back_to_the_branch_before_the_cordon() {
    let mut pty = story("payments", (120, 40));
    decide(&mut pty, "payments");
    pty.wait_for("★ worker-a2");
    pty.send("C");
    pty.wait_for("step 0/");
    command(&mut pty, "cordon worker-a2");
    pty.wait_for("branch 2 of 2");
    command(&mut pty, "pod shop/payments");
    pty.wait_for("★ worker-b1");
    pty.send("B");
    let screen = pty.wait_for("━ Branches ━");
    line(&screen, &["2 branch 2: ", "cordon worker-a2"]);
    pty.send("k");
    pty.send(ENTER);
    let screen = pty.wait_for("this is main");
    assert!(screen.contains("main (1 of 2)"), "{screen}");
    pty.send("c");
    pty.wait_for("★ worker-a2");
    quit(pty);
}

/// "Drag the bar to the beginning and to the end again."
#[test]
fn drag_the_scrub_bar_to_the_start_and_back() {
    let mut pty = story("payments", (120, 40));
    settle(&mut pty);
    let (x, y) = place(&pty.wait_for("●"), "●");
    pty.send(&format!("\x1b[<0;{x};{y}M\x1b[<32;{};{y}M", x / 2));
    pty.wait_gone("rev 30/30");
    pty.send(&format!("\x1b[<32;1;{y}M\x1b[<0;1;{y}m"));
    let screen = pty.wait_for("step 0/");
    // The steps in focus have more rows, so that the bar is elsewhere.
    let (least, y) = place(&screen, "●");
    assert!(least <= 2, "{screen}");
    pty.send(&format!("\x1b[<0;2;{y}M\x1b[<32;{x};{y}M\x1b[<0;{x};{y}m"));
    pty.wait_for("rev 30/30");
    quit(pty);
}

/// "I resize the window while I type."
/// No key is lost, whatever the size at that time, and the answer appears in the end.
#[test]
fn lose_no_key_while_the_window_changes() {
    let mut pty = story("payments", (200, 60));
    for (size, keys) in [((50, 12), ":no"), ((80, 24), "de wor"), ((60, 16), "ker-"), ((120, 40), "b1")] {
        pty.send(keys);
        pty.resize(size.0, size.1);
    }
    pty.wait_for(":node worker-b1");
    pty.resize(80, 24);
    pty.send(ENTER);
    pty.wait_for("Node worker-b1");
    quit(pty);
}

/// "Run until the first pod is bound: which one is it, and where?"
/// web/small, on node-2, the only one that takes it.
#[test]
fn run_until_something_is_bound() {
    let mut pty = story("queues", (60, 16));
    pty.send("u");
    pty.wait_for("until ");
    pty.send("bound");
    pty.wait_for(":until bound");
    pty.send(ENTER);
    let screen = pty.wait_for(" was bound");
    line(&screen, &["▸ Bind", "web/small was bound to node-2"]);
    quit(pty);
}

/// "Walk me through the decision about payments, and only that."
/// Steps stop at its end and say so; the next one goes on. Breakpoints stop a run in it.
#[test]
fn walk_a_decision_to_its_end_and_stop_at_a_breakpoint() {
    let mut pty = Pty::start(&["demo", "payments", "--pod", "shop/payments"], 80, 24);
    pty.wait_for("8 of 12 nodes");
    pty.send("n");
    pty.wait_for("end of the decision about shop/payments; n again starts the next cycle");
    pty.send("C");
    pty.wait_for("step 0/");
    command(&mut pty, "break node worker-b1");
    pty.wait_for("breakpoint: node worker-b1; r runs to the next one");
    pty.send("r");
    let screen = pty.wait_gone("r runs to the next one");
    line(&screen, &["breakpoint: node worker-b1"]);
    line(&screen, &["▸ Filter", "worker-b1: "]);
    command(&mut pty, "break");
    pty.wait_for("━ Breakpoints ━");
    pty.send(ENTER);
    pty.wait_for("none: :break pod NAME");
    pty.send(ESC);
    pty.wait_gone("━ Breakpoints ━");
    pty.send("n");
    pty.wait_gone("step 17/107");
    quit(pty);
}
