//! The victims of preemption, their nodes, and the reasons for the choice.

use super::{ENTER, ESC, assert_order, decide, line, quit, story, wait_line, words};
use crate::pty::Pty;

/// "payments is pending. Why, and how would preemption help, in one sentence?"
/// Too little cpu on eight nodes; preemption would evict two pods on worker-a2 (or equally worker-b1).
#[test]
fn why_payments_is_pending_in_one_sentence() {
    // Only a wide screen has room for the opening words and the free amount.
    for (size, opening, free) in [((80, 24), "", ""), ((120, 40), "", ""), ((200, 60), "Pending because ", " (at most 3.6 free)")] {
        let mut pty = story("payments", size);
        decide(&mut pty, "payments");
        let said = words(&pty.wait_for("violates no budget"));
        let want = format!(
            "✗ shop/payments: {opening}8 of 12 nodes have less than 6 cpu free{free}, 3 have a taint it does not tolerate and 1 is cordoned; \
             preempting 2 pods of priority -10 on worker-a2 (1 of 2 equal candidates) makes room and violates no budget."
        );
        assert!(said.contains(&want), "{size:?}: {said}");
        quit(pty);
    }
    // Where the sentence does not fit, the pod, the cause and the remedy remain.
    let mut pty = story("payments", (60, 16));
    decide(&mut pty, "payments");
    let said = words(&pty.wait_for("8 of 12 nodes"));
    let want = "✗ shop/payments: 8 of 12 nodes have less than 6 cpu free, 3 have a taint it does not tolerate and 1 is cordoned";
    assert!(said.contains(want), "{said}");
    quit(pty);
}

/// "Which pods would be evicted for payments, and what recreates them?"
/// Two pods of batch/reports, which a Deployment owns through a ReplicaSet.
#[test]
fn find_who_would_be_evicted_for_payments_and_who_owns_them() {
    let mut pty = story("payments", (80, 24));
    decide(&mut pty, "payments");
    pty.wait_for("★ worker-a2");
    pty.send(ENTER);
    let screen = pty.wait_for("▸8 Candidate");
    line(&screen, &["evicts", "2 pods; no budget is violated"]);
    pty.send("/");
    pty.wait_for("filter ");
    pty.send("reports");
    pty.wait_until("both victims are left", |s| s.contents().matches("✗ batch/reports-").count() == 2);
    pty.send(ENTER);
    pty.wait_gone("Enter keep");
    pty.send(ENTER);
    let screen = pty.wait_for("Pod batch/reports-646f8d7fc5-");
    assert!(screen.contains("‹ Candidate ‹ Preemption"), "{screen}");
    line(&screen, &["owner", "Deployment reports (by ReplicaSet reports-646f8d7fc5)"]);
    quit(pty);
}

/// "Checkout could go to big-2. Which budget is against it, which pod would violate it, and how many disruptions were
/// left?"
/// shop/search, by search-1, which allows no more disruptions.
#[test]
fn find_which_budget_blocks_big_2() {
    let mut pty = story("budgets", (80, 24));
    decide(&mut pty, "checkout");
    pty.wait_for("decided by MinHighestPriority");
    pty.send("9");
    pty.wait_for("▸9 Budgets");
    wait_line(&pty, &["shop/search", "0", "kept on big-1; violated on big-2"]);
    wait_line(&pty, &["shop/cart", "1", "kept"]);
    // The pods that it covers.
    pty.send(ENTER);
    pty.wait_for("▾ shop/search");
    let screen = pty.wait_for("shop/search-2");
    assert_order(&screen, &["▾ shop/search", "shop/search-0", "shop/search-1", "shop/search-2", "shop/cart"]);

    // The pod that would violate it, on the page of the candidate.
    pty.send("3G");
    pty.wait_for("VICTIMS ON BIG-2");
    pty.send("8");
    pty.wait_for("Candidate big-2");
    wait_line(&pty, &["eliminated by MinNumPDBViolations"]);
    wait_line(&pty, &["✗ shop/search-1", "‼ violates search (allows 0)"]);
    pty.send("G");
    pty.wait_for("REPRIEVED (1)");
    wait_line(&pty, &["‼ shop/search ", " 0 ", " search-1"]);
    quit(pty);
}

/// "Which score function chose the node for each of these preemptors?"
/// Each of the five is decided by one function; for the sixth pod none decides, and any of the nodes is right.
#[test]
fn find_which_score_function_decided() {
    let mut pty = story("tie-breaks", (60, 16));
    for (pod, answer) in [
        ("5-latest", "decided by LatestStartTime"),
        ("4-fewest", "decided by MinNumPods"),
        ("3-smallest", "decided by MinSumPriorities"),
        ("2-lowest", "decided by MinHighestPriority"),
        ("1-fewest", "decided by MinNumPDBViolations"),
        ("6-", "any of these"),
    ] {
        decide(&mut pty, pod);
        pty.wait_for(answer);
        pty.send("1");
        let filtered = format!("━ 1 /{pod}: ");
        pty.wait_for(&filtered);
        pty.send(ESC);
        pty.wait_gone(&filtered);
    }
    quit(pty);
}

/// "Why would the reports on worker-b1 be evicted and the catalog stay? And let me find my way back."
/// They are added back one by one, the catalog first; each Esc goes one page back, as the title says.
#[test]
fn follow_worker_b1_from_preemption_to_a_pod_and_back() {
    let mut pty = story("payments", (120, 40));
    decide(&mut pty, "payments");
    pty.wait_for("= worker-b1");
    pty.send("j");
    pty.wait_for("VICTIMS ON WORKER-B1");
    pty.send(ENTER);
    let screen = pty.wait_for("Candidate worker-b1 ‹ Preemption");
    line(&screen, &["as good as the one chosen: kube-scheduler may take either"]);
    pty.send("d");
    let screen = pty.wait_for("Node worker-b1 ‹ Candidate ‹ Preemption");
    assert_order(
        &screen,
        &[
            "DRY RUN, IN ORDER",
            "removed    shop/catalog-",
            "✓ reprieved  shop/catalog-",
            "✗ victim     batch/reports-",
            "✗ victim     batch/reports-",
        ],
    );
    pty.send("G");
    pty.wait_for("PODS");
    pty.send(ENTER);
    pty.wait_for("‹ worker-b1 ‹ Candidate");
    for title in ["Node worker-b1 ‹ Candidate ‹ Preemption", "Candidate worker-b1 ‹ Preemption", "VICTIMS ON WORKER-B1"] {
        pty.send(ESC);
        pty.wait_for(title);
    }
    quit(pty);
}

/// "The reports must not be evicted: which node would it be without any of their priority?"
/// worker-a2 is chosen because its victims have the lowest priority; MinHighestPriority eliminates the others.
#[test]
fn find_at_which_score_function_worker_a1_falls() {
    let mut pty = Pty::start(&["demo", "payments", "--pod", "shop/payments"], 200, 60);
    let screen = pty.wait_for("MinHighest");
    let row = line(&screen, &["worker-a1", "1000 ✗"]);
    assert!(row.contains("0 ✓"), "it violates no budget: {row}");
    pty.send("3/");
    pty.send("worker-a1");
    pty.wait_for("VICTIMS ON WORKER-A1");
    pty.send(ENTER);
    pty.wait_gone("filter preemption");
    pty.send(ENTER);
    let screen = pty.wait_for("Candidate worker-a1");
    line(&screen, &["result", "eliminated by MinHighestPriority"]);
    quit(pty);
}

/// "Which pod blocks checkout on big-2, and by which budget?"
/// Two keys after `--pod`: the budgets, and the first of them opened.
#[test]
fn two_keys_say_who_blocks_checkout() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut pty = Pty::start(&["demo", "budgets", "--pod", "shop/checkout"], columns, rows);
        pty.wait_for("shop/checkout: Pending");
        let keys = ["9", ENTER];
        pty.send(keys[0]);
        let screen = pty.wait_for("violated on big-2");
        line(&screen, &["▸ shop/search", "1 of 1", "0", "kept on big-1; violated on big-2"]);
        pty.send(keys[1]);
        let screen = pty.wait_for("▾ shop/search");
        line(&screen, &["minAvailable 1: 1 pod expected, 1 healthy, 1 needed"]);
        line(&screen, &["‼   shop/search-1", "big-2: violates it"]);
        assert_eq!(keys.len(), 2);
        quit(pty);
    }
}

/// "worker-a1 is eliminated: why, in numbers?"
/// One key after `--pod` and the row's own: its highest victim has priority 1000, on worker-a2 -10.
#[test]
fn the_row_of_a_loser_says_why_it_is_eliminated() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut pty = Pty::start(&["demo", "payments", "--pod", "shop/payments"], columns, rows);
        pty.wait_for("8 of 12 nodes");
        pty.send("3");
        pty.wait_for("any of these 2 may win");
        pty.send("jj");
        let screen = pty.wait_for("✗ worker-a1 is eliminated");
        line(&screen, &["its highest victim has priority 1000, ", "-10"]);
        assert!(screen.contains("any of these 2 may win"), "{screen}");
        quit(pty);
    }
}
