//! Steps through an opened decision, runs to conditions and breakpoints.

use super::*;
use crate::framework::DryRunStep;
use crate::session::Cursor;
use crate::trace::{Event, ExtensionPoint};
use crate::ui::model::list::RowId;

/// Presses a key until the screen says something that ends in these words, and returns the number of presses.
fn presses_until(screen: &mut Screen, key: &str, words: &str) -> usize {
    for n in 1..=400 {
        screen.keys(key);
        if screen.said().contains(words) {
            return n;
        }
    }
    panic!("{key} never says {words:?}: {}", screen.text());
}

/// The end of a grace period comes from outside, and is no part of a cycle's preemption.
#[test]
fn the_end_of_a_grace_period_is_an_event_before_the_queues() {
    let mut screen = Screen::new("aftermath");
    screen.act("t t t t");
    let ended = screen.timeline().revisions().iter().flat_map(|revision| revision.events.others());
    let ended: Vec<&Event> = ended.filter(|event| matches!(event, Event::GracePeriodEnded { .. })).collect();
    assert!(!ended.is_empty());
    for event in ended {
        assert_eq!(event.extension_point(), ExtensionPoint::Queue);
        assert!(event.sentence().contains(" is gone from worker-"), "{}", event.sentence());
    }
}

#[test]
fn steps_walk_an_opened_decision_and_stop_at_its_ends() {
    let mut screen = Screen::new("payments");
    screen.act(":pod shop/payments;");
    let end = screen.timeline().cursor();
    screen.keys("n");
    assert_eq!(screen.said(), "end of the decision about shop/payments; n again starts the next cycle");
    assert_eq!(screen.timeline().cursor(), end);
    // A step back takes the stop away.
    screen.keys("b n");
    assert_eq!((screen.said().as_str(), screen.timeline().cursor()), ("", end));
    screen.keys("n n");
    assert_eq!(screen.title(), "schedule batch/too-big", "the second step goes on");

    // With a cycle before it, the start is an end too.
    let mut screen = Screen::new("payments");
    screen.act("c :pod shop/payments;");
    let revision = screen.timeline().cursor().revision;
    assert!(revision > 0);
    presses_until(&mut screen, "b", "start of the decision about shop/payments; b again goes to the cycle before");
    assert_eq!(screen.timeline().cursor(), Cursor { revision, event: 0 });
    screen.keys("b");
    assert!(screen.timeline().cursor().revision < revision);
    // Elsewhere steps go on without a word.
    screen.keys("c n");
    assert_eq!(screen.said(), "");
}

#[test]
fn a_step_inside_post_filter_is_a_phase_of_preemption() {
    let mut screen = Screen::new("budgets");
    screen.act(":pod shop/checkout; C");
    let mut seen = Vec::new();
    while !screen.said().starts_with("end of") {
        screen.keys("n");
        if let Some(event) = screen.timeline().current().filter(|e| e.extension_point() == ExtensionPoint::PostFilter) {
            seen.push(event.sentence());
        }
    }
    seen.dedup();
    let expected = ["DynamicResources: no new claims to deallocate", "preemption may help on 3 nodes"];
    assert_eq!(seen[..2], expected);
    for part in
        ["is reprieved", "is a candidate", "must be evicted", "MinNumPDBViolations keeps", "MinHighestPriority keeps", "big-1 is nominated"]
    {
        assert!(seen.iter().any(|s| s.contains(part)), "{part} in {seen:#?}");
    }
    // One whole extension point is one step.
    screen.act("C :step extension-point;");
    let steps = presses_until(&mut screen, "n", "end of the decision");
    assert!(steps < seen.len(), "{steps}");
}

#[test]
fn a_run_continues_until_a_named_pod_is_bound() {
    let mut screen = Screen::new("queues");
    let said = screen.command("until bound web/small");
    assert_eq!(said, "web/small is bound");
    assert!(matches!(screen.timeline().current(), Some(Event::PodBound { pod, .. }) if *pod == Key::new("web", "small")));
    let mut screen = Screen::new("payments");
    assert_eq!(screen.command("until nominated payments"), "shop/payments is nominated", "the namespace is found");
    assert!(matches!(screen.timeline().current(), Some(Event::PodNominated { pod, .. }) if *pod == Key::new("shop", "payments")));
    // Its victims end only once time has passed.
    assert_eq!(screen.command("until bound payments"), "shop/payments is bound");
    assert!(screen.timeline().clock() > screen.timeline().start().clock);
    assert_eq!(screen.command("until bound shop/nope"), "! there is no pod shop/nope");
    let rest = screen.command("until bound payments");
    assert_eq!(rest, "nothing is left to schedule, and this did not happen: shop/payments is bound");
}

#[test]
fn before_preemption_has_run_nothing_is_said_of_it() {
    let mut screen = Screen::new("payments");
    screen.act(":pod shop/payments; C");
    for _ in 0..400 {
        screen.keys("n");
        assert!(!screen.text().contains("no preemption"), "{}", screen.text());
        if screen.said().starts_with("end of the decision") {
            return;
        }
    }
    panic!("the decision does not end: {}", screen.text());
}

#[test]
fn another_source_is_not_opened_over_unsaved_what_ifs() {
    let mut screen = Screen::new("payments");
    screen.command("cordon worker-a1");
    assert_eq!(screen.command("open /nowhere"), "! what-ifs are not saved: :open! drops them, :save FILE keeps them");
}

#[test]
fn a_stop_is_shown_where_the_run_began_in_the_overview() {
    let mut screen = Screen::new("budgets");
    screen.keys("0");
    assert_eq!(screen.state.arrangement.whole, Some(Pane::OVERVIEW));
    assert_eq!(screen.command("until node big-2"), "big-2 is touched");
    assert_eq!(screen.state.arrangement.whole, None);
}

#[test]
fn breakpoints_are_set_listed_removed_and_saved() {
    let mut screen = Screen::new("budgets");
    assert_eq!(screen.command("break node big-2"), "breakpoint: node big-2; r runs to the next one");
    assert_eq!(screen.command("break budget search"), "breakpoint: budget shop/search; r runs to the next one");
    assert_eq!(screen.command("break budget shop/search"), "there is already a breakpoint: budget shop/search");
    assert_eq!(screen.command("break plugin Nope"), "! there is no plugin \"Nope\"");
    screen.keys("r");
    assert_eq!(screen.said(), "breakpoint: node big-2");
    assert!(matches!(screen.timeline().current(), Some(Event::NodeFiltered { node, .. }) if *node == "big-2"));
    screen.keys("r r");
    assert_eq!(screen.said(), "breakpoint: budget shop/search");
    assert!(screen.timeline().current().unwrap().sentence().contains("shop/search-1"), "{:?}", screen.timeline().current());

    screen.command("break");
    let list = screen.overlay();
    assert!(list.starts_with("Breakpoints\n1  node big-2\n2  budget shop/search\n"), "{list}");
    // Enter removes the selected one and shows the others.
    screen.command("break");
    screen.keys("enter");
    assert_eq!(screen.said(), "removed the breakpoint: node big-2");
    assert!(screen.overlay().starts_with("Breakpoints\n1  budget shop/search\n"));

    // They come back with the session.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.schedscope");
    screen.command(&format!("save {}", path.display()));
    let again = crate::session::Session::load(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(again.breakpoints().iter().map(ToString::to_string).collect::<Vec<_>>(), ["budget shop/search"]);

    assert_eq!(screen.command("unbreak 7"), "! unbreak needs a number from 1 to 1");
    assert_eq!(screen.command("unbreak pod shop/checkout"), "! there is no breakpoint: pod shop/checkout");
    assert_eq!(screen.command("unbreak budget shop/search"), "removed; 0 breakpoints left");
    assert_eq!(screen.command("unbreak all"), "there are no breakpoints");
}

#[test]
fn a_run_without_a_breakpoint_to_hit_says_so() {
    let mut screen = Screen::new("budgets");
    assert_eq!(screen.command("break pod shop/nope"), "! there is no pod shop/nope");
    assert_eq!(screen.command("break node nope"), "! there is no node \"nope\"");
    assert_eq!(screen.command("break budget nope"), "! there is no PodDisruptionBudget \"nope\"");
    screen.command("break plugin DefaultBinder");
    screen.keys("r");
    assert_eq!(screen.said(), "nothing is left to schedule, and no breakpoint was hit");
}

#[test]
fn the_winner_shows_its_room_before_the_binding() {
    let mut screen = Screen::sized("queues", 200, 60);
    screen.act(":until bound web/small; c 2");
    let (node, ..) = screen.timeline().cycle().scoring.selected.clone().expect("a node was selected");
    let revision = screen.timeline().revision().unwrap();
    let free = |keyframe: &crate::session::Keyframe| {
        let node = keyframe.snapshot.get(&node).unwrap();
        crate::ui::model::text::cpu(node.allocatable.milli_cpu - node.requested.milli_cpu)
    };
    let (before, after) = (free(&revision.before), free(&revision.after));
    assert_ne!(before, after);
    let text = screen.text();
    let row = text.lines().find(|line| line.contains(&format!("★ {node} "))).unwrap();
    assert!(row.contains(&format!("▁ {before}/")) || row.contains(&format!("▇ {before}/")), "{before}, not {after}: {row}");
}

#[test]
fn a_tie_break_is_explained_at_every_width_from_80() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut screen = Screen::sized("tie-breaks", width, height);
        let pending: Vec<Key> = screen.timeline().queues().entries.keys().cloned().collect();
        let mut explained = 0;
        for pod in pending {
            screen.act(&format!(":pod {pod}; 3"));
            let text = screen.text();
            let eliminates = screen
                .timeline()
                .cycle()
                .preemption
                .as_ref()
                .is_some_and(|p| p.score_functions().iter().any(|f| f.remaining.len() < f.scores.len()));
            if !eliminates {
                continue;
            }
            explained += 1;
            assert!(text.contains("decided by ") || text.contains("any of these "), "{text}");
            let line = text.lines().find(|l| l.contains("✗ ") && l.contains(" eliminated")).unwrap_or_else(|| panic!("{text}"));
            assert!(!line.contains('…') && (line.contains(", on ") || line.contains(", best ")), "{line}");
        }
        assert!(explained >= 5, "{explained}");
    }
}

#[test]
fn a_key_without_a_binding_ends_a_notice() {
    let mut screen = Screen::new("payments");
    screen.command("nope");
    assert!(screen.said().starts_with("! there is no command"));
    let key = crossterm::event::KeyEvent::new(crossterm::event::KeyCode::F(12), crossterm::event::KeyModifiers::NONE);
    let action = crate::app::input::action_of(&screen.state, crossterm::event::Event::Key(key)).unwrap();
    update(&mut screen.state, &mut screen.explorer, action);
    assert_eq!(screen.said(), "");
}

#[test]
fn a_node_says_which_budget_stops_its_drain() {
    let mut screen = Screen::new("budgets");
    screen.act("c :node big-2;");
    let text = screen.text();
    assert!(text.contains("drain        stopped by budget shop/search"), "{text}");
    screen.act("G");
    assert!(screen.text().contains("shop/search allows 0, covers 2 pods here: shop/search-0, shop/search-1 stay"), "{}", screen.text());
}

/// Returns the node of the selected candidate.
fn selected_candidate(screen: &Screen) -> String {
    match &screen.state.list(Pane::PREEMPTION).selected {
        Some(RowId::Node(node)) => node.to_string(),
        other => panic!("{other:?}: {}", screen.text()),
    }
}

#[test]
fn a_dry_run_is_watched_while_it_is_stepped() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut screen = Screen::asked(width, height);
        let (mut nodes, mut fates) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
        while !screen.said().starts_with("end of") {
            screen.keys("n");
            let text = screen.text();
            let line = |part: &str| text.lines().any(|line| line.contains(part));
            match screen.timeline().current().expect("an event") {
                Event::DryRunStepped(at) => {
                    let node = at.node();
                    nodes.insert(node.clone());
                    assert_eq!(selected_candidate(&screen), node.as_str());
                    assert!(line("BEING TRIED") && line(&format!("PODS ON {}", node.to_uppercase())), "{text}");
                    let (fate, verdict) = match at.step().expect("a step") {
                        DryRunStep::Reprieved(_) => ("reprieved", "is reprieved"),
                        DryRunStep::NotReprieved(..) => ("victim", "must be evicted"),
                        DryRunStep::Removed(_) => ("removed", "remove "),
                        DryRunStep::Filtered(_) => continue,
                    };
                    fates.insert(fate);
                    assert!(line(&format!("▸ {fate}")), "{fate} in {text}");
                    assert!(text.lines().any(|line| line.contains("▸ PostFilter") && line.contains(verdict)), "{verdict} in {text}");
                }
                Event::DryRunFinished(run) => {
                    assert_eq!(selected_candidate(&screen), run.node.as_str());
                    assert!(!line("BEING TRIED") && line(&format!("VICTIMS ON {}", run.node.to_uppercase())), "{text}");
                }
                _ => assert!(!line("BEING TRIED"), "{text}"),
            }
        }
        assert_eq!((nodes.len(), fates.into_iter().collect::<Vec<_>>()), (8, vec!["reprieved", "victim"]));
        let preemption = screen.timeline().cycle().preemption.as_ref().unwrap();
        assert_eq!(selected_candidate(&screen), preemption.selected().unwrap().0.as_str(), "at the end it is the winner");
        // One event is one pod, while they are removed too, and the way back shows the same.
        screen.act("C :step event; :until preemption; n n");
        let text = screen.text();
        assert!(text.contains("2 pods removed") && text.contains("▸ removed"), "{text}");
        screen.keys("n b");
        assert_eq!(screen.text(), text);
    }
}

#[test]
fn the_first_decision_has_the_focus_on_its_answer() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut screen = Screen::with_overview("budgets", width, height);
        assert_eq!((screen.state.focus, selected_candidate(&screen).as_str()), (Pane::PREEMPTION, "big-1"), "{width}");
        screen.keys("j");
        assert_eq!(selected_candidate(&screen), "big-3", "{width}");
        // The same from the overview.
        let mut screen = Screen::with_overview("payments", width, height);
        screen.act("enter j j j enter");
        assert!(screen.timeline().cycle().start.is_some() && screen.state.focus != Pane::QUEUES, "{width} {}", screen.text());
    }
}

#[test]
fn a_small_screen_has_the_cause_the_remedy_and_every_elimination() {
    let mut screen = Screen::sized("payments", 60, 16);
    screen.act(":pod ml/gpu-hungry;");
    let text = screen.text();
    let answer: Vec<&str> = text.lines().skip(1).take(3).map(str::trim).collect();
    let answer = answer.join(" ");
    assert!(answer.contains("1 is cordoned; evicting pods would not help"), "{text}");
    assert!(!text.contains("   …"), "a message of one row is clipped as one line: {text}");
    let text = Screen::with_overview("budgets", 80, 24).text();
    for part in ["big-3 is eliminated: its highest victim", "big-2 is eliminated: 1 of its victims violates a budget"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn nodes_that_the_search_never_reached_say_so() {
    let node = |i: usize| {
        serde_json::json!({"kind": "Node", "metadata": {"name": format!("n{i:03}"), "uid": format!("n{i}")},
            "status": {"allocatable": {"cpu": "4", "memory": "64Gi", "pods": "110"}}})
    };
    let pod = serde_json::json!({"kind": "Pod", "metadata": {"name": "a", "namespace": "shop", "uid": "a"},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Pending"}});
    let items: Vec<serde_json::Value> = (0..150).map(node).chain([pod]).collect();
    for (width, height) in [(80, 24), (200, 60)] {
        let mut screen = Screen::listed(&items, width, height);
        screen.act(":pod shop/a; 2");
        let text = screen.text();
        let row = text.lines().find(|line| line.contains("▸ 50 nodes")).unwrap_or_else(|| panic!("{text}"));
        assert!(row.contains("not evaluated") && row.contains("stopped at 100") && !row.contains("not yet"), "{row}");
        assert!(text.contains("· 50 not evaluated"), "{text}");
        screen.act("C");
        let text = screen.text();
        assert!(text.contains("· not yet") && !text.contains("stopped at"), "{text}");
    }
}
