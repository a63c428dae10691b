//! Nodes, pods, objects and keys, found without instructions.

use super::{ENTER, ESC, PAGE_DOWN, assert_order, click, close_filtered, line, place, quit, story};
use crate::pty::Pty;

/// "payments, on a terminal of this size, decided."
fn payments(columns: u16, rows: u16) -> Pty {
    let pty = Pty::start(&["demo", "payments", "--pod", "shop/payments"], columns, rows);
    pty.wait_for("★ worker-a2");
    pty
}

/// "If payments tolerated the taint of infra-1, would it fit there?"
/// No: it would also fail for cpu.
#[test]
fn find_what_would_also_fail_on_infra_1() {
    let mut pty = payments(80, 24);
    pty.send("2/");
    pty.wait_for("filter nodes");
    pty.send("infra");
    pty.wait_gone("worker-a1");
    pty.send(ENTER);
    pty.wait_gone("filter nodes");
    pty.send("d");
    let screen = pty.wait_for("Node infra-1 ‹ Nodes");
    line(&screen, &["because", "TaintToleration: node(s) had untolerated taint(s)"]);
    line(&screen, &["would also fail", "NodeResourcesFit: Insufficient cpu"]);
    line(&screen, &["taints", "dedicated=infra:NoExecute"]);
    quit(pty);
}

/// "Which nodes are closest to having room for payments?"
/// worker-a2 and worker-b1 lack the least cpu, 2.4.
#[test]
fn find_which_nodes_are_closest_to_fitting() {
    let mut pty = payments(60, 16);
    pty.send("2");
    let screen = pty.wait_for("lacks 2.4 of 6 cpu");
    let first = line(&screen, &["lacks "]);
    assert!(first.contains("worker-a2") && first.contains("lacks 2.4 of 6 cpu") && first.contains("3.6/8"), "{screen}");
    quit(pty);
}

/// "How full are the zones, and which nodes are in zone b?"
/// Four of the twelve nodes: three are full, and one has a taint.
#[test]
fn find_how_the_zones_stand_and_open_one() {
    for (columns, rows) in [(120, 40), (200, 60)] {
        let mut pty = payments(columns, rows);
        pty.send("2");
        for _ in 0..4 {
            if pty.screen().contains("eu-west-1a") {
                break;
            }
            let before = pty.wait_until("the nodes are shown", |s| s.contents().contains("━ 2 Nodes"));
            pty.send("z");
            pty.wait_until("they are grouped otherwise", |s| s.contents() != before);
        }
        let screen = pty.wait_for("▸ eu-west-1a");
        line(&screen, &["▸ eu-west-1a", "5 nodes", "3 ✗", "2 ⊘"]);
        line(&screen, &["▸ eu-west-1b", "4 nodes", "3 ✗", "1 ⊘"]);
        line(&screen, &["▸ eu-west-1c", "3 nodes", "2 ✗", "1 ⊘"]);
        pty.send("g");
        pty.send(ENTER);
        let screen = pty.wait_for("▾ eu-west-1b");
        assert_order(&screen, &["▾ eu-west-1b", "worker-b1", "worker-b3", "worker-b2", "gpu-b1", "▸ eu-west-1c"]);
        pty.send("h");
        pty.wait_for("▸ eu-west-1b");
        quit(pty);
    }
}

/// "Where does the priority of payments come from, how much does it request, and what would recreate it?"
/// From the class critical; 6 cpu and 8Gi; nothing.
#[test]
fn find_where_the_priority_of_payments_comes_from() {
    let mut pty = payments(80, 24);
    pty.send("v");
    let screen = pty.wait_for("Pod shop/payments ‹ Preemption");
    line(&screen, &["owner", "none: it will not be recreated"]);
    line(&screen, &["app", "container, added", "6", "8Gi"]);
    // One page down selects the last line on the screen, the next one scrolls.
    pty.send(PAGE_DOWN);
    pty.send(PAGE_DOWN);
    let screen = pty.wait_for("from class");
    line(&screen, &["effective", "what a node must have free", "6", "8Gi"]);
    line(&screen, &["priority", "100000 from class critical"]);
    quit(pty);
}

/// "Show me infra-1 as the cluster has it, with its line in the dump, and then go on where I was."
#[test]
fn read_the_yaml_of_infra_1_and_go_back() {
    let mut pty = payments(120, 40);
    super::command(&mut pty, "node infra-1");
    let before = pty.wait_for("Node infra-1 ‹ ");
    pty.send("y");
    let screen = pty.wait_for("Node infra-1: demo payments, line 80 ━");
    assert_order(&screen, &["kind: Node", "name: infra-1", "labels:", "pool: infra", "taints:", "effect: NoExecute", "key: dedicated"]);
    // Filter its lines.
    pty.send("/");
    pty.wait_for("filter these lines");
    pty.send("zone");
    let screen = pty.wait_gone("kind: Node");
    line(&screen, &["topology.kubernetes.io/zone: eu-west-1a"]);
    close_filtered(&mut pty, "line 80");
    pty.wait_until("the screen is as it was", |s| s.contents() == before);
    quit(pty);
}

/// "How do I see the budgets?"
/// The help, filtered, says: 9.
#[test]
fn find_the_key_for_budgets_in_the_help() {
    for (columns, rows) in [(60, 16), (80, 24), (120, 40)] {
        let mut pty = story("budgets", (columns, rows));
        pty.send("?");
        pty.wait_for("keys and commands");
        pty.send("/");
        pty.wait_for("filter these lines");
        pty.send("budgets, and");
        let screen = pty.wait_for("all budgets, and what");
        assert!(line(&screen, &["all budgets, and what"]).contains(" 9 "), "{screen}");
        close_filtered(&mut pty, "keys and commands");
        pty.send("9");
        pty.wait_for("ALLOWED");
        quit(pty);
    }
}

/// "Read all of the help, page by page, and back from its end."
/// A page begins no later than the previous one ended, and one key leaves the last page.
#[test]
fn read_the_help_by_pages() {
    let mut pty = story("payments", (80, 24));
    pty.send("?");
    pty.wait_for(" 1-20 of ");
    pty.send(PAGE_DOWN);
    pty.wait_for(" 20-39 of ");
    pty.send("G");
    let screen = pty.wait_for("move the scrub bar");
    let foot = line(&screen, &[" of "]);
    pty.send("k");
    pty.wait_until("it goes up", |s| !s.contents().contains(&foot));
    pty.send(ESC);
    pty.wait_gone("keys and commands");
    quit(pty);
}

/// "With the mouse: sort the candidates by name, and back; select another candidate."
#[test]
fn sort_and_choose_candidates_with_the_mouse() {
    let mut pty = payments(120, 40);
    let usual = ["★ worker-a2", "= worker-b1", "worker-a1"];
    assert_order(&pty.screen(), &usual);
    click(&mut pty, "CANDIDATE");
    let screen = pty.wait_for("━ 3 Preemption  by name ━");
    assert_order(&screen, &["CANDIDATE", "  worker-a1", "★ worker-a2", "  worker-a3", "= worker-b1"]);
    click(&mut pty, "= worker-b1");
    pty.wait_for("VICTIMS ON WORKER-B1");
    click(&mut pty, "CANDIDATE");
    let screen = pty.wait_gone("━ 3 Preemption  by name ━");
    assert_order(&screen, &usual);
    assert!(screen.contains("VICTIMS ON WORKER-B1"), "what is selected stays so\n{screen}");
    click(&mut pty, "2 Nodes");
    pty.wait_for("Nodes for shop/payments");
    quit(pty);
}

/// "The queue is longer than the pane: scroll it with the wheel, and keep the keyboard focus."
#[test]
fn turn_the_wheel_over_the_queues() {
    let mut pty = payments(120, 32);
    let (x, y) = place(&pty.wait_for("batch/too-big"), "batch/too-big");
    pty.send(&format!("\x1b[<65;{x};{y}M").repeat(2));
    let screen = pty.wait_gone("batch/too-big");
    assert!(screen.contains("▸3 Preemption"), "the focus stays\n{screen}");
    pty.send(&format!("\x1b[<64;{x};{y}M").repeat(2));
    pty.wait_for("batch/too-big");
    quit(pty);
}

/// "Does this agree with the cluster's scheduler? And if not, why?"
/// Of fourteen pods nine agree or belong to another scheduler; five differ because the cluster has changed.
#[test]
fn find_whether_the_answers_agree_with_the_cluster_s_scheduler() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut pty = Pty::start(&["demo", "aftermath"], columns, rows);
        pty.wait_for("0 Overview");
        pty.send("A");
        let screen = pty.wait_for("Compared with the cluster's scheduler");
        line(&screen, &["14 pending pods. Compared with the cluster's scheduler: 5 explained"]);
        line(&screen, &["Insufficient cpu: the scheduler said 1 node, schedscope says 2"]);
        pty.send("j");
        pty.send(ENTER);
        pty.wait_gone("Compared with the cluster's scheduler");
        let screen = pty.wait_for("✗ platform/ingress-extra-");
        assert!(screen.contains("TRIED, NOT A CANDIDATE (8)"), "{screen}");
        if columns >= 120 {
            assert!(screen.contains("the cluster's scheduler reported otherwise"), "{screen}");
        }
        quit(pty);
    }
}

/// "What holds the gated pod back?"
/// A scheduling gate; its name is next to the pod, and the remedy below.
#[test]
fn find_which_gate_holds_a_pod_back() {
    let mut pty = story("payments", (80, 24));
    pty.send("/");
    pty.wait_for("filter queues");
    pty.send("gated");
    let screen = pty.wait_for("gated by SchedulingGates: example.com/quota");
    line(&screen, &["batch/gated", "example.com/quota"]);
    line(&screen, &["woken by SchedulingGates: its last scheduling gate is removed"]);
    pty.send(ENTER);
    pty.wait_gone("filter queues");
    quit(pty);
}
