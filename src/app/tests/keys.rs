//! Effects of keys and the mouse on the panes and the selection.

use super::*;
use crate::ui::model::list::{ListView, RowId};
use crate::ui::view::panes;

/// Runs keys and commands, then compares the cursor, the focused pane, the pane beside the queues and the selected row.
fn check(words: &str, expected: &str) {
    let mut screen = Screen::asked(120, 40);
    screen.act(words);
    let state = &screen.state;
    let cursor = screen.timeline().cursor();
    let selected = |list: &ListView| match &list.selected {
        Some(RowId::Pod(key)) => key.to_string(),
        Some(RowId::Node(node)) => node.to_string(),
        Some(RowId::Group(key)) => key.words().to_owned(),
        Some(RowId::Budget(key)) => key.to_string(),
        Some(RowId::Line(kind, _)) => (*kind).to_owned(),
        Some(other) => format!("{other:?}"),
        None => "-".to_owned(),
    };
    let list = match state.focus {
        Pane::QUEUES => selected(state.list(Pane::QUEUES)),
        Pane::NODES => selected(state.list(Pane::NODES)),
        Pane::PREEMPTION => selected(state.list(Pane::PREEMPTION)),
        Pane::NODE => format!("{} {}", state.subjects.node.as_ref().unwrap(), selected(state.list(Pane::NODE))),
        Pane::STEPS | Pane::MESSAGE => "-".to_owned(),
        page => selected(state.list(page)),
    };
    let actual = format!("{}:{} {:?}/{:?} {list}", cursor.revision, cursor.event, state.focus, state.arrangement.right);
    assert_eq!(actual, expected, "after {words}");
}

#[test]
fn keys_move_in_time() {
    check("", "0:0 Queues/Preemption shop/payments");
    check("n", "0:1 Queues/Nodes shop/payments");
    check("n n", "0:12 Queues/Nodes shop/payments");
    check("n n b", "0:1 Queues/Nodes shop/payments");
    check("n n N N N N", "0:0 Queues/Nodes shop/payments");
    check("r", "0:26 Queues/Preemption shop/payments");
    check("r r", "0:107 Queues/Preemption shop/payments");
    check("c", "0:107 Queues/Preemption shop/payments");
    check("c c", "1:33 Queues/Nodes shop/payments");
    check("c c C", "1:0 Queues/Nodes shop/payments");
    check("c c C C", "0:0 Queues/Nodes shop/payments");
    check("c c c c c c", "5:33 Queues/Nodes shop/payments");
    check("c c home", "0:0 Queues/Nodes shop/payments");
    check("c c home end", "1:33 Queues/Nodes shop/payments");
    check("E n n", "0:2 Queues/Nodes shop/payments");
    check("n 5 j j k", "0:2 Steps/Nodes -");
    check("5 j j", "0:2 Steps/Nodes -");
    check("n 5 G", "0:107 Steps/Preemption -");
    check("c home n n n b b b c", "0:107 Queues/Preemption shop/payments");
}

/// The page of a node shows a change as soon as its event has happened.
#[test]
fn pages_follow_the_steps_of_a_change() {
    let mut screen = Screen::asked(120, 40);
    screen.act(":taint worker-a2 dedicated=gpu:NoSchedule;");
    screen.act(":node worker-a2; home");
    let tainted = |screen: &Screen| {
        let node = screen.timeline().keyframe().snapshot.get("worker-a2").expect("the node").node.clone();
        node.spec.taints.iter().any(|taint| taint.key == "dedicated")
    };
    let updated =
        |screen: &Screen| screen.timeline().current().is_some_and(|event| event.sentence().contains("Node worker-a2 was updated"));
    let mut seen = false;
    for _ in 0..40 {
        assert_eq!(tainted(&screen), seen || updated(&screen), "{:?}", screen.timeline().cursor());
        seen |= updated(&screen);
        screen.press("n");
    }
    assert!(seen);
}

#[test]
fn keys_on_the_page_of_a_pod_are_about_that_pod() {
    let mut screen = Screen::asked(120, 40);
    // The cycle is about shop/payments, the page about another pod.
    screen.act("c 1 j v");
    let page = screen.state.subjects.pod.clone().expect("a pod");
    assert_ne!(page.to_string(), "shop/payments");
    screen.act("x");
    assert!(screen.overlay().starts_with(&format!("Fixes for {page}")));
    screen.act("[");
    assert!(screen.said().contains(&page.to_string()), "{}", screen.said());
    screen.act("s");
    assert!(screen.said().contains(&format!("before the decision about {page}")), "{}", screen.said());
}

/// `Y` copies the answer about what is selected in short: sentence, best fix, command.
#[test]
fn answers_in_short_are_copied_wherever_they_are() {
    let copied = |screen: &mut Screen, keys: &str| match screen.act(keys) {
        Some(Effect::Copy(text)) => text,
        other => panic!("{keys}: {other:?}, {}", screen.said()),
    };
    let mut screen = Screen::asked(120, 40);
    let text = copied(&mut screen, "1 Y");
    assert!(text.starts_with("shop/payments: Pending because 8 of 12 nodes have less than 6 cpu free"), "{text}");
    assert!(text.contains("\nNo fix is needed: preemption places it on worker-a2 (1 of 2 equal candidates), which evicts "), "{text}");
    assert!(
        text.contains(
            "\nWithout evictions: uncordon worker-c3, unless it is being drained: fits on worker-c3\nkubectl uncordon worker-c3\n"
        ),
        "{text}"
    );
    assert_eq!(screen.said(), "copied the answer about shop/payments (4 lines)");
    // Another pod is selected than the cycle is about.
    let text = copied(&mut screen, "c 1 j Y");
    assert!(text.starts_with("shop/patient-job: "), "{text}");
    let text = copied(&mut screen, "v Y");
    assert!(text.starts_with("shop/patient-job: "), "{text}");
    let mut screen = Screen::asked(120, 40);
    let text = copied(&mut screen, "c 2 Y");
    assert!(text.starts_with("shop/payments on worker-a2: Insufficient cpu"), "{text}");
    // The commands of the selected fix, not all that is on the screen.
    let mut screen = Screen::asked(120, 40);
    let text = copied(&mut screen, "1 x Y");
    assert_eq!(text, "kubectl uncordon worker-c3\n");
    // Those of the fix of a cause, which is selected in its text.
    let mut screen = Screen::with_overview("payments", 120, 40);
    let text = copied(&mut screen, "x Y");
    assert!(text.starts_with("kubectl "), "{text}");
    // The selected cause.
    let mut screen = Screen::with_overview("payments", 120, 40);
    let text = copied(&mut screen, "Y");
    assert!(text.starts_with("3 pods: 8 of 12 nodes have too little free cpu") && text.contains("; without evictions: fix"), "{text}");
}

#[test]
fn digits_keep_the_way_back_to_a_page() {
    check("c 3 j enter d 2 esc", "0:107 Node/Node worker-b1 verdict");
    check("c 3 j enter d 2 esc esc", "0:107 Candidate/Candidate result");
    check("c 3 j enter d 2 1 esc esc esc", "0:107 Preemption/Preemption worker-b1");
}

#[test]
fn all_pods_are_listed_found_and_opened() {
    check("P", "0:0 Pods/Preemption batch/gated");
    check("P / 'shop/pay' enter", "0:0 Pods/Preemption shop/payments");
    check("P / 'shop/pay' enter enter", "0:0 Pod/Pod where it is");
    check("P / 'shop/pay' enter enter esc", "0:0 Pods/Preemption shop/payments");
    check("P esc", "0:0 Queues/Preemption shop/payments");
    check(":pods shop/pay;", "0:0 Pods/Preemption shop/payments");
    check("c 2 P esc", "0:107 Nodes/Nodes worker-a2");
    let mut screen = Screen::sized("payments", 120, 40);
    screen.act(":pods node:worker-a1 priority:<0;");
    let text = screen.text();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("┃  ") && line.contains('/')).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.contains("worker-a1") && row.contains("-10")), "{text}");
    screen.act(":pods no-such-name;");
    assert!(screen.text().contains(": 0 of "), "{}", screen.text());
}

#[test]
fn keys_move_the_selection_and_the_focus() {
    check("j", "0:0 Queues/Preemption shop/patient-job");
    check("j j k", "0:0 Queues/Preemption shop/patient-job");
    check("G", "0:0 Queues/Preemption batch/gated");
    check("G g", "0:0 Queues/Preemption batch/too-big");
    check("tab", "0:0 Nodes/Nodes worker-a2");
    check("tab tab tab tab tab", "0:0 Queues/Preemption shop/payments");
    check("shift-tab", "0:0 Message/Preemption -");
    check("c 3", "0:107 Preemption/Preemption worker-a2");
    check("c 3 j", "0:107 Preemption/Preemption worker-b1");
    check("c 3 j enter", "0:107 Candidate/Candidate result");
    check("c 3 j enter esc", "0:107 Preemption/Preemption worker-b1");
    check("c 3 j enter d", "0:107 Node/Node worker-b1 verdict");
    check("c 3 j enter d esc", "0:107 Candidate/Candidate result");
    check("c 3 j enter d esc esc", "0:107 Preemption/Preemption worker-b1");
    check("v", "0:0 Pod/Pod where it is");
    check("v esc", "0:0 Queues/Preemption shop/payments");
    check("9", "0:0 Budgets/Budgets ml/trainers");
    check("c 2 enter", "0:107 Node/Node worker-a2 verdict");
    check("c d", "0:107 Node/Node worker-a2 verdict");
    check("c j enter", "1:29 Queues/Nodes shop/patient-job");
    check("c c / 'pay' enter enter", "0:107 Queues/Preemption shop/payments");
}

#[test]
fn a_pane_that_was_chosen_stays_until_the_next_cycle() {
    check("2 r", "0:26 Nodes/Nodes worker-a2");
    check("2 r r", "0:107 Nodes/Nodes worker-a2");
    check("3 c c", "1:33 Nodes/Nodes worker-a2");
}

/// On a small screen the queues hide the other panes, so whoever goes there sees them over all cycles, until a decision is opened.
#[test]
fn queues_that_were_chosen_stay_in_sight_on_a_small_screen() {
    let mut screen = Screen::sized("payments", 80, 24);
    screen.keys("2 1 c c n b c");
    assert!(screen.state.focus == Pane::QUEUES && screen.text().contains("━ 1 Queues "), "{}", screen.text());
    screen.act(":pod shop/payments;");
    assert!(screen.text().contains("━ 3 Preemption "), "{}", screen.text());
    screen.keys("1 c C 2 c");
    assert!(screen.text().contains("━ 2 Nodes "), "{}", screen.text());
}

#[test]
fn filters_groups_and_commands() {
    check("/ 'gated'", "0:0 Queues/Preemption batch/gated");
    check("/ 'gated' enter", "0:0 Queues/Preemption batch/gated");
    check("/ 'gated' esc", "0:0 Queues/Preemption batch/gated");
    check("/ 'nothing' enter", "0:0 Queues/Preemption -");
    check("/ 'nothing' enter esc", "0:0 Queues/Preemption shop/payments");
    check("c 2 z", "0:107 Nodes/Nodes Insufficient cpu");
    check("c 2 z enter j", "0:107 Nodes/Nodes worker-a2");
    check("c 2 z enter j h", "0:107 Nodes/Nodes Insufficient cpu");
    check(":node worker-b3;", "0:0 Node/Node worker-b3 verdict");
    check(": 'nod' tab 'worker-c' tab tab enter", "0:0 Node/Node worker-c1 verdict");
    check(":step event; n", "0:1 Queues/Nodes shop/payments");
    check(":step;", "0:1 Queues/Nodes shop/payments");
    check("c c :cycle 1;", "0:107 Queues/Preemption shop/payments");
    check(":pod shop/payments;", "0:107 Queues/Preemption shop/payments");
}

#[test]
fn commands_that_cannot_be_done_say_why() {
    for (command, words) in [
        ("nope", "there is no command \"nope\""),
        ("node", "node needs a name"),
        ("node x", "there is no node \"x\""),
        ("pod x", "there is no pod \"x\""),
        ("pod shop/catalog-746f66cf94-a1", "there is no pod shop/catalog-746f66cf94-a1"),
        ("cycle 7", "cycle needs a number from 1 to 0"),
        ("step far", "\"far\" is not one of event, plugin"),
    ] {
        let mut screen = Screen::sized("payments", 80, 24);
        let effect = screen.enter(command);
        let notice = screen.state.notice.clone().unwrap();
        assert!(notice.warning && notice.text.contains(words), "{command}: {notice:?}");
        assert_eq!(effect, None);
        screen.keys("j");
        assert_eq!(screen.state.notice, None, "a notice goes with the next key");
    }
}

#[test]
fn what_is_left_to_the_event_loop() {
    for (keys, expected) in [
        ("q", Some(Effect::Quit)),
        ("ctrl-c", Some(Effect::Quit)),
        ("ctrl-z", Some(Effect::Suspend)),
        (":q;", Some(Effect::Quit)),
        (":theme;", Some(Effect::Theme("dark".to_owned()))),
        (":theme; j", Some(Effect::Theme("light".to_owned()))),
        (":theme; G k", Some(Effect::Theme("colour-blind".to_owned()))),
        (":theme; j enter", None),
        (":theme; j j esc", Some(Effect::Theme("dark".to_owned()))),
        (":theme; ctrl-c", Some(Effect::Quit)),
        (":mouse off;", Some(Effect::Mouse(false))),
        (":mouse on;", Some(Effect::Mouse(true))),
        (":theme light;", Some(Effect::Theme("light".to_owned()))),
        #[cfg(debug_assertions)]
        (":panic;", Some(Effect::Panic { in_thread: false })),
        ("? q", None),
        ("? ctrl-c", Some(Effect::Quit)),
        (": ctrl-c", None),
        (": enter", None),
    ] {
        assert_eq!(Screen::sized("payments", 80, 24).act(keys), expected, "{keys}");
    }
}

#[test]
fn the_mouse_selects_opens_scrolls_and_scrubs() {
    let mut screen = Screen::asked(120, 40);
    screen.keys("c");
    let plan = Plan::of(&screen.state);
    let list = panes::def(Pane::PREEMPTION).list_in(&plan);
    screen.mouse(Mouse::Press, list.x + 3, list.y + 1);
    assert_eq!(
        (screen.state.focus, screen.state.selected_candidate(screen.timeline().cycle()).unwrap().as_str()),
        (Pane::PREEMPTION, "worker-b1")
    );
    screen.mouse(Mouse::Press, list.x + 3, list.y + 1);
    assert_eq!(screen.state.focus, Pane::CANDIDATE, "a second press opens");
    let plan = Plan::of(&screen.state);
    let tabs = plan.tabs.unwrap();
    screen.mouse(Mouse::Press, tabs.x + 2, tabs.y);
    assert_eq!(screen.state.focus, Pane::NODES, "the first tab");
    screen.mouse(Mouse::Press, plan.scrub.x, plan.scrub.y);
    assert!(screen.timeline().at_start());
    screen.mouse(Mouse::Drag, plan.scrub.right() + 5, plan.scrub.y + 1);
    assert!(screen.timeline().at_end(), "a drag goes on outside the bar");
    screen.mouse(Mouse::Release, 0, 0);
    screen.mouse(Mouse::Drag, plan.scrub.x, plan.scrub.y);
    assert!(screen.timeline().at_end(), "and ends with the button");
    screen.mouse(Mouse::Scroll(Direction::Back), plan.scrub.x, plan.scrub.y);
    assert_eq!(screen.timeline().cursor().event, 106);
    let queues = panes::def(Pane::QUEUES).list_in(&plan);
    screen.mouse(Mouse::Press, queues.x, queues.y);
    assert_eq!(screen.state.focus, Pane::QUEUES, "a heading cannot be selected, but the pane can");
    screen.mouse(Mouse::Press, 500, 500);
}

#[test]
fn a_pod_that_is_asked_about_comes_next() {
    let mut screen = Screen::sized("payments", 80, 24);
    screen.keys("j j j j s");
    let notice = screen.state.notice.clone().unwrap().text;
    assert!(notice.starts_with("before the decision about shop/patient-job"), "{notice}");
    assert_eq!(screen.timeline().cursor().event, 0);
    screen.keys("c");
    assert_eq!(screen.timeline().cycle().start.as_ref().unwrap().pod.to_string(), "shop/patient-job");
}
