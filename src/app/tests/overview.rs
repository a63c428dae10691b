//! The overview of pending pods: the first screen, its filter and sort orders, and the way from a cause to its fix and to
//! its pods.

use serde_json::{Value, json};

use super::golden::SIZES;
use super::*;
use crate::analysis::{FixSearch, Overview, Stage};
use crate::ui::model::list::RowId;
use crate::ui::model::overview::{CauseKind, CauseRow, OverviewRow};
use crate::ui::model::rows::NodePaneRow;

/// A full node, one with a taint and room for twenty pods, and this number of pods that wait.
fn cluster(waiting: usize) -> Vec<Value> {
    let node = |name: &str, cpu: &str, taints: Value| {
        json!({"kind": "Node", "metadata": {"name": name, "uid": name}, "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}}})
    };
    let pod = |i: usize| {
        json!({"kind": "Pod", "metadata": {"name": format!("api-{i:02}"), "namespace": "shop", "uid": format!("api-{i}"),
                "creationTimestamp": "2026-11-20T17:26:12Z"},
            "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"phase": "Pending"}})
    };
    let taint = json!([{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]);
    let mut items = vec![node("a", "100m", json!([])), node("db", "20", taint)];
    items.extend((0..waiting).map(pod));
    items
}

/// Returns the causes in sight: kind, number of pods, sentence.
fn causes(screen: &Screen) -> Vec<(CauseKind, usize, String)> {
    let cause = |row: &OverviewRow| match row {
        OverviewRow::Cause(CauseRow { kind, matching, sentence, .. }) => Some((*kind, *matching, sentence.clone())),
        _ => None,
    };
    screen.state.view_model.rows.overview.iter().filter_map(cause).collect()
}

/// Returns the pods in sight, by name.
fn pods(screen: &Screen) -> Vec<String> {
    let pod = |row: &OverviewRow| if let OverviewRow::Pod(pod) = row { Some(pod.key.to_string()) } else { None };
    screen.state.view_model.rows.overview.iter().filter_map(pod).collect()
}

#[test]
fn the_overview_is_whole_again_after_it_was_left() {
    let mut screen = Screen::with_overview("payments", 80, 24);
    let all = causes(&screen);
    assert!(all.len() > 3);
    for away in ["n", "c b", ":pod shop/payments; 3"] {
        screen.act(away);
        assert_ne!(screen.state.arrangement.whole, Some(Pane::OVERVIEW), "{away}");
        screen.act("0");
        assert!(causes(&screen).len() > 3, "{away}");
    }
}

#[test]
fn the_fix_of_a_claim_that_may_exist_is_unknown() {
    let mut items = cluster(1);
    items[2]["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}]);
    let claims: crate::cluster::KindSet = [crate::cluster::Kind::PersistentVolumeClaim].into_iter().collect();
    items[0]["status"]["allocatable"]["cpu"] = json!("4");
    for (unknown, expected) in [
        (MissingKinds { absent: claims, ..MissingKinds::default() }, "no fix known: whether PersistentVolumeClaim \"data-0\" exists"),
        (MissingKinds::default(), "fix: create PersistentVolumeClaim"),
    ] {
        let mut screen = Screen::lacking(&items, unknown, 120, 40);
        screen.act("0");
        screen.wait();
        assert!(screen.text().contains(expected), "{}", screen.text());
        // The row may be cut; below the list the reason is whole.
        let whole = screen.text().contains("NO FIX IS KNOWN") && screen.text().contains("not all objects of this kind are known");
        assert_eq!(whole, expected.starts_with("no fix"), "{}", screen.text());
    }
}

#[test]
fn pods_that_came_since_the_last_look_are_marked_until_the_next() {
    let mut screen = Screen::listed(&cluster(3), 120, 40).with_first_screen();
    assert!(screen.text().contains("Overview: 3 pending pods, 1 cause ━"), "{}", screen.text());
    // At the last look one pod was deleted, which is then undone.
    screen.act(":delete pod shop/api-00; 1 U 0");
    let text = screen.text();
    assert!(text.contains("Overview: 3 pending pods, 1 cause, 1 new") && text.contains("3 pods (1 new)"), "{text}");
    screen.act("enter");
    assert!(screen.text().contains("shop/api-00 (new)") && !screen.text().contains("shop/api-01 (new)"), "{}", screen.text());
    screen.act("0");
    assert!(!screen.text().contains("new)"), "{}", screen.text());
}

#[test]
fn an_applied_fix_is_left_for_good_and_compared_once_both_have_settled() {
    let mut screen = Screen::with_overview("payments", 80, 24);
    screen.act("x enter");
    let (branches, current) = (screen.explorer.branches(), screen.explorer.current());
    assert_eq!((branches.len(), current), (2, 1), "{}", screen.text());
    screen.keys("esc");
    assert!(screen.state.overlay.is_none(), "{}", screen.text());
    screen.act("=");
    let compared = screen.overlay();
    assert!(compared.contains("Both are compared after running until nothing changes."), "{compared}");
    assert!(compared.contains("elsewhere (main → branch 2):"), "{compared}");
}

#[test]
fn the_overview_at_four_sizes() {
    for (name, story, words) in [
        ("overview", "payments", ""),
        ("overview_opened", "payments", "j enter"),
        ("overview_filtered", "payments", "/ 'plugin:affinity !ns:ml' enter"),
        ("overview_by_priority", "queues", "o o enter j"),
        ("overview_compared", "aftermath", "enter j j"),
    ] {
        for (width, height) in SIZES {
            let mut screen = Screen::with_overview(story, width, height);
            screen.act(words);
            let text = if name == "overview" { screen.text() } else { screen.part() };
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), text);
        }
    }
    let mut fixes = Screen::listed(&cluster(20), 80, 24).with_first_screen();
    fixes.act("x");
    insta::assert_snapshot!("overview_fix", fixes.part());
}

#[test]
fn the_first_screen_is_the_overview_the_only_pod_s_decision_or_that_nothing_waits() {
    let waiting_pods = |waiting| Screen::listed(&cluster(waiting), 80, 24).with_first_screen();
    let several = waiting_pods(2);
    assert_eq!((several.state.arrangement.whole, several.state.focus), (Some(Pane::OVERVIEW), Pane::OVERVIEW));
    let only = waiting_pods(1);
    assert_eq!(only.state.arrangement.whole, None);
    assert_eq!(only.timeline().cycle().start.as_ref().map(|start| start.pod.to_string()).as_deref(), Some("shop/api-00"));
    let none = waiting_pods(0).text();
    assert!(
        none.contains("no pod is pending: 0 pods on 2 nodes") && none.contains("activeQ 0 backoff 0 unsched. 0 gated 0 flight 0 Permit 0"),
        "{none}"
    );
    // Where not all pods are known, it is unknown.
    let selected = MissingKinds { selected: [crate::cluster::Kind::Pod].into_iter().collect(), ..MissingKinds::default() };
    let part = Screen::lacking(&cluster(0), selected, 120, 40).with_first_screen().text();
    let unknown = "whether pods are pending is unknown: the source seems to hold only some of the Pods";
    assert!(part.contains(unknown) && !part.contains("no pod is pending"), "{part}");
    // A session that is not at its start stays where it is.
    let mut elsewhere = Screen::listed(&cluster(2), 80, 24);
    elsewhere.act("c");
    assert_eq!(elsewhere.with_first_screen().state.arrangement.whole, None);
}

#[test]
fn the_first_frame_lists_every_pod_before_any_is_decided() {
    let mut screen = Screen::listed(&cluster(20), 80, 24);
    assert_eq!(show_overview_first(&mut screen.state, &mut screen.explorer), None);
    let all: usize = causes(&screen).iter().map(|(_, pods, _)| pods).sum();
    assert_eq!(all, 20);
    screen.wait();
    let stage = screen.state.overview.newest.as_ref().map(|overview| overview.stage);
    assert_eq!((stage, causes(&screen)[0].1), (Some(Stage::Complete), 20));
}

#[test]
fn all_pods_of_one_cause_take_two_keys() {
    let mut screen = Screen::with_overview("payments", 120, 40);
    let expected = causes(&screen)[1].clone();
    assert_eq!(pods(&screen), [""; 0]);
    let keys = ["j", "enter"];
    for key in keys {
        screen.press(key);
    }
    assert_eq!((keys.len(), pods(&screen).len()), (2, expected.1));
    assert!(pods(&screen).iter().all(|pod| pod.starts_with("platform/ingress-extra-")), "{:?}", pods(&screen));
    assert!(expected.2.contains("anti-affinity"), "{}", expected.2);
    screen.act("h");
    assert_eq!(pods(&screen), [""; 0]);
}

#[test]
fn the_fix_that_frees_twenty_pods_is_proved_on_a_branch() {
    let mut screen = Screen::listed(&cluster(22), 120, 40).with_first_screen();
    let waiting = causes(&screen);
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].0, waiting[0].1), (CauseKind::Waits, 22));
    assert!(screen.text().contains("fix: tolerate dedicated=db:NoSchedule (frees 20 of 22)"), "{}", screen.text());
    screen.act("x enter");
    assert_eq!(
        screen.said(),
        "tolerate dedicated=db:NoSchedule: 20 changes on new branch 2; main is unchanged; S schedules them, = compares"
    );
    // The branch is decided anew: the freed pods fit, the others have no toleration.
    let on_branch: Vec<(CauseKind, usize)> = causes(&screen).iter().map(|(kind, pods, _)| (*kind, *pods)).collect();
    assert_eq!(on_branch, [(CauseKind::Waits, 2), (CauseKind::Fits, 20)]);
    screen.act("S");
    let bound = screen.timeline().keyframe().cluster.pods.iter().filter(|pod| pod.node_name == "db").count();
    assert_eq!(bound, 20, "{}", screen.text());
    assert_eq!(causes(&screen).iter().map(|(kind, pods, _)| (*kind, *pods)).collect::<Vec<_>>(), [(CauseKind::Waits, 2)]);
    let main = &screen.explorer.branches()[0];
    assert!(main.timeline().end().cluster.pods.iter().all(|pod| pod.node_name.is_empty()));
    // The same by the row of the fix, which shows it first.
    let mut screen = Screen::listed(&cluster(22), 120, 40).with_first_screen();
    screen.act("enter j enter enter");
    assert!(screen.said().starts_with("tolerate dedicated=db:NoSchedule: 20 changes on new branch 2"), "{}", screen.said());
}

#[test]
fn a_pod_leads_to_its_decision_and_back() {
    for (width, height) in SIZES {
        let mut screen = Screen::with_overview("payments", width, height);
        screen.act("/ 'payments' enter j j enter");
        assert_eq!(screen.state.arrangement.whole, None);
        assert_eq!(screen.timeline().cycle().start.as_ref().map(|start| start.pod.to_string()).as_deref(), Some("shop/payments"));
        screen.act("esc");
        assert_eq!(screen.state.arrangement.whole, Some(Pane::OVERVIEW));
        screen.act("esc");
        assert_eq!(screen.state.filter(Pane::OVERVIEW), "");
        // Steps leave it, and `0` and the command go to it.
        screen.act("n");
        assert_eq!(screen.state.arrangement.whole, None);
        screen.act("0");
        assert_eq!(screen.state.arrangement.whole, Some(Pane::OVERVIEW));
        screen.act("1 :overview;");
        assert_eq!(screen.state.arrangement.whole, Some(Pane::OVERVIEW));
    }
}

#[test]
fn filters_and_orders_keep_the_causes_of_their_pods() {
    let mut screen = Screen::with_overview("payments", 200, 60);
    let all: usize = causes(&screen).iter().map(|(_, pods, _)| pods).sum();
    assert_eq!(all, screen.timeline().keyframe().cluster.pods.iter().filter(|pod| pod.is_pending()).count());
    let mut filtered = |text: &str| {
        screen.act(&format!("/ '{text}' enter"));
        let found = pods(&screen);
        screen.act("esc");
        found
    };
    assert_eq!(filtered("queue:gated"), ["batch/gated"]);
    assert_eq!(filtered("cause:quota"), ["batch/gated"]);
    assert_eq!(filtered("plugin:VolumeRestrictions"), ["platform/needs-volume"]);
    assert_eq!(filtered("priority:>=100000 ns:shop"), ["shop/payments"]);
    assert_eq!(filtered("priority:>=100000").len(), 4);
    assert_eq!(filtered("ns:ml"), ["ml/gpu-hungry", "ml/no-toleration"]);
    assert_eq!(filtered("ns:ml !reason:gpu"), ["ml/no-toleration"]);
    assert_eq!(filtered("zzz"), [""; 0]);
    // Each order has the extreme first.
    let mut first = |order: &str| {
        screen.act("o");
        assert_eq!(screen.said(), format!("overview: {order}"));
        causes(&screen)[0].2.clone()
    };
    first("by name");
    assert!(first("by priority").contains("free cpu"), "of shop/payments");
    for order in ["oldest first", "by attempts", "by queue", "where preemption helps first", "disagreements first", "most pods first"] {
        first(order);
    }
}

#[test]
fn a_filter_of_pods_selects_the_first_and_one_of_causes_the_cause() {
    let mut screen = Screen::sized("payments", 80, 24).with_first_screen();
    let mut selected = |filter: &str| {
        screen.act(&format!("/ '{filter}' enter"));
        let selected = screen.state.list(Pane::OVERVIEW).selected.clone();
        screen.act("esc g");
        match selected {
            Some(RowId::Pod(pod)) => pod.to_string(),
            other => format!("{}", matches!(other, Some(RowId::Cause(_)))),
        }
    };
    assert_eq!(selected("name:payments"), "shop/payments", "1 of 3 pods");
    assert_eq!(selected("name:needs-volume"), "platform/needs-volume", "the only pod");
    assert_eq!(selected("cause:cpu"), "true", "all pods of a cause");
    assert_eq!(selected("zzz"), "false");
}

#[test]
fn the_tour_is_walked_by_the_reader_s_keys() {
    for (width, height) in SIZES {
        let mut screen = Screen::sized("payments", width, height);
        screen.state.lesson = Some(0);
        let mut screen = screen.with_first_screen();
        let steps = ["j enter", "/ 'name:payments' enter", "enter", "2", "d", "3", "j enter", "C r n b", "1", "x"];
        for (at, keys) in steps.into_iter().enumerate() {
            assert_eq!(screen.state.lesson, Some(at), "{width}x{height} before {keys}");
            let text = screen.text();
            assert!(text.contains(&format!("{}/10 ", at + 1)), "{text}");
            screen.act(keys);
        }
        // The list of fixes lies over the panes, the lesson stays below.
        screen.act("esc :learn;");
        assert_eq!(screen.state.lesson, None);
        assert_eq!(screen.command("learn 11"), "! learn needs a number from 1 to 10");
    }
    let mut screen = Screen::sized("payments", 80, 24);
    screen.state.lesson = Some(0);
    insta::assert_snapshot!("tour", screen.with_first_screen().text());
}

#[test]
fn off_its_path_the_tour_says_how_to_go_on() {
    let mut screen = Screen::sized("payments", 80, 24);
    screen.state.lesson = Some(0);
    let mut screen = screen.with_first_screen();
    let mut check = |keys: &str, words: &str| {
        screen.act(keys);
        let text = screen.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words) && text.contains("(:learn ends)"), "{keys}: {}", screen.text());
    };
    check("n", "1/10 This page is about the overview: 0 goes back to it.");
    check(":overview;", "1/10 All pending pods, by cause.");
    check("j enter / 'name:payments' enter enter 2", "5/10 d opens the selected node");
    check("1", "5/10 This page is about the nodes: 2 goes back to them.");
    check("2 d 3 1", "7/10 This page is about the preemption: 3 goes back to it.");
    check("0", "7/10 This page is about the decision on shop/payments: type :pod shop/payments");
    check(":pod shop/payments; 3 j enter", "8/10 Walk it:");
    // The page of a candidate is empty before preemption has come to it.
    check("C r", "8/10 Walk it:");
    check("n", "9/10 1 are the queues.");
}

#[test]
fn the_empty_page_of_a_candidate_gives_way() {
    for (width, height) in SIZES {
        let mut screen = Screen::sized("payments", width, height);
        screen.act(":pod shop/payments; 8 C");
        assert_eq!(screen.state.focus, Pane::NODES, "{}", screen.text());
        screen.act("r");
        assert_eq!(screen.state.focus, Pane::PREEMPTION, "{}", screen.text());
        assert!(!screen.text().contains("there is no candidate here"), "{}", screen.text());
        // A page with a dry run stays.
        screen.act("n 8 n");
        assert_eq!(screen.state.focus, Pane::CANDIDATE, "{}", screen.text());
    }
}

#[test]
fn a_fix_that_frees_all_pods_of_a_cause_says_so() {
    let mut screen = Screen::with_overview("payments", 120, 40);
    for (filter, words) in [("name:gated", "the fix below frees it"), ("name:ingress", "the fix below frees all")] {
        screen.act(&format!("/ '{filter}' enter g"));
        assert!(screen.text().contains(words), "{}", screen.text());
        screen.act("esc");
    }
}

#[test]
fn workloads_are_named_as_in_what_ifs_too() {
    let mut screen = Screen::new("payments");
    for name in ["deployment/shop/spread", "shop/deployment/spread", "deploy/spread", "shop/spread", "spread"] {
        let said = screen.command(&format!("workload {name}"));
        assert!(!said.starts_with('!'), "{name}: {said}");
        let page = screen.overlay();
        assert!(page.contains("deployment/spread in namespace shop") && !page.contains(".."), "{name}: {page}");
        assert!(page.contains("\n  created         5\n  gated           0\n"), "{page}");
        screen.keys("esc");
    }
    assert!(screen.command("workload deployment/shop/none").contains("there is no workload deployment/shop/none"));
}

/// A verb without an argument is about the selected row, which the filter leaves.
#[test]
fn verbs_without_an_argument_are_about_the_first_pod_of_the_selected_cause() {
    let mut screen = Screen::with_overview("payments", 120, 40);
    screen.act("/ 'spread' enter");
    let answer = |screen: &mut Screen, verb: &str| {
        screen.act(&format!(":{verb};"));
        // A gated pod and one of another scheduler are refused.
        if screen.state.overlay.is_some() { screen.overlay() } else { screen.said() }
    };
    for verb in ["capacity", "flood"] {
        let said = answer(&mut screen, verb);
        assert!(said.contains("shop/spread-") && !said.contains("too-big"), "{verb}: {said}");
    }
    // Without a filter, on each cause's row.
    let mut screen = Screen::with_overview("payments", 120, 40);
    let firsts: Vec<(crate::cluster::Str, Option<Key>)> = screen
        .state
        .view_model
        .rows
        .overview
        .iter()
        .filter_map(|row| if let OverviewRow::Cause(cause) = row { Some((cause.key.clone(), cause.first.clone())) } else { None })
        .collect();
    assert!(firsts.len() > 4);
    for (at, (cause, first)) in firsts.into_iter().enumerate() {
        if at > 0 {
            screen.act("j");
        }
        assert_eq!(screen.state.list(Pane::OVERVIEW).selected, Some(RowId::Cause(cause.clone())));
        let first = first.expect("a pod");
        let said = answer(&mut screen, "capacity");
        assert!(said.contains(&first.to_string()), "{cause}: {first}: {said}");
    }
    screen.act("/ 'zzz' enter");
    assert!(screen.command("priority 5").starts_with("! "), "{}", screen.said());
}

#[test]
fn a_filter_that_matches_no_pod_does_not_say_that_none_is_pending() {
    let mut screen = Screen::with_overview("payments", 80, 24);
    screen.act("/ 'zzz' enter");
    let text = screen.text();
    assert!(text.contains("no pending pod matches") && !text.contains("no pod is pending"), "{text}");
}

/// A fix makes a branch, and is seen before.
#[test]
fn enter_on_the_row_of_a_fix_shows_it_and_applies_nothing() {
    let mut screen = Screen::with_overview("tie-breaks", 80, 24);
    screen.act("enter j");
    assert!(matches!(screen.state.list(Pane::OVERVIEW).selected, Some(RowId::CauseFix(_))), "{}", screen.text());
    let branches = screen.explorer.branches().len();
    screen.act("enter");
    assert_eq!(screen.explorer.branches().len(), branches);
    let said = screen.overlay();
    assert!(said.contains("Fix for"), "{said}");
}

/// The pages of nodes list first the pod that is said to be the next victim, also where several are equally important.
#[test]
fn the_next_victim_is_the_first_pod_of_a_node() {
    let mut screen = Screen::new("payments");
    let nodes: Vec<String> = screen.timeline().keyframe().snapshot.nodes().iter().map(|node| node.name().to_string()).collect();
    let mut seen = 0;
    for node in nodes {
        screen.act(&format!(":node {node};"));
        let rows = &screen.state.view_model.rows.node_pane;
        let victim = rows.iter().find_map(|row| if let NodePaneRow::Fact("next victim", words) = row { Some(words.clone()) } else { None });
        let first = rows.iter().find_map(|row| if let NodePaneRow::Pod(pod) = row { Some(pod.to_string()) } else { None });
        let (Some(victim), Some(first)) = (victim, first) else { continue };
        // A budget moves others to the front.
        assert!(victim.starts_with(&format!("{first} (")) || victim.contains("budget"), "{node}: {first}; {victim}");
        seen += usize::from(victim.starts_with(&first));
    }
    assert!(seen > 5, "{seen}");
}

/// The last line says what Enter does to a fix: in the list it shows it, and what is shown is applied.
#[test]
fn hints_say_whether_a_fix_is_shown_or_applied() {
    let mut screen = Screen::with_overview("payments", 80, 24);
    screen.act("j enter j");
    assert!(screen.text().contains("Enter show fix "), "{}", screen.text());
    screen.act("enter");
    assert!(screen.text().contains("Enter apply "), "{}", screen.text());
    // The words above the panes name this key; a narrow screen has no room for it beside that of the queues.
    let mut screen = Screen::sized("payments", 80, 24);
    for pane in [":pod shop/payments; 2", "3", ":node worker-a1;"] {
        screen.act(pane);
        assert!(screen.text().contains(" c cycle "), "{pane}: {}", screen.text());
    }
}

/// On a narrow screen causes have fewer words instead of half of them, and fixes begin with the number of pods that they free.
#[test]
fn causes_are_whole_on_a_narrow_screen() {
    for (story, words) in [
        (
            "payments",
            ["8 of 12 nodes have too little free cpu, 4 others", "preemption places shop/payments; or fix (1 of 3): uncordon worker-c3"],
        ),
        (
            "aftermath",
            ["6 of 12 nodes are ruled out by their own anti-affinity, 6 others", "fix (2 of 4): uncordon worker-c3, unless it is being"],
        ),
        ("queues", ["2 of 3 nodes have too little free cpu", "last resort (1 of 1): nodeSelector disk=hdd instead of ssd"]),
    ] {
        let screen = Screen::with_overview(story, 80, 24);
        let text = screen.text();
        let signs = ["\u{25b8} ", "\u{25be} "];
        for line in text.lines().filter(|line| signs.iter().any(|sign| line.contains(&format!("\u{2503}{sign}")))) {
            assert!(!line.contains('\u{2026}'), "{story}: {line}\n{text}");
        }
        assert!(words.iter().all(|words| text.contains(words)), "{text}");
    }
}

/// The room below the list names the victims, the node and the time of a preemption that is under way.
#[test]
fn a_cause_under_way_says_which_pods_end_where_and_until_when() {
    let mut screen = Screen::with_overview("aftermath", 120, 40);
    screen.act("j");
    let text = screen.text();
    assert!(text.contains("shop/payments waits for 2 evicted pods to end on worker-a2, at the latest 18:31:12 (in 5 min)"), "{text}");
}

/// The first message is drawn above the hints, which a newcomer needs.
#[test]
fn the_first_message_leaves_the_hints_in_sight() {
    let mut screen = Screen::with_overview("payments", 80, 24);
    screen.state.say_first("the source contains no PodDisruptionBudgets: violations are unknown, shown as ? (i shows all)", true);
    let text = screen.text();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    assert!(lines[lines.len() - 1].contains("? help"), "{text}");
    assert!(lines[lines.len() - 3].contains("the source contains no PodDisruptionBudgets"), "{text}");
    screen.keys("j");
    assert!(!screen.text().contains("violations are unknown"), "{}", screen.text());
}

/// The answer of a what-if leads to the comparison with one key.
#[test]
fn a_comparison_follows_the_answer_of_a_what_if() {
    let mut screen = Screen::with_overview("payments", 80, 24);
    screen.command("drain worker-a1");
    screen.act("=");
    let page = screen.overlay();
    assert!(page.starts_with("main compared with branch 2"), "{page}");
}

/// The fix of a workload's cause comes before the names of its pods, which may fill the screen.
#[test]
fn the_page_of_a_workload_has_its_fix_before_its_pods() {
    let mut items = cluster(8);
    for pod in items.iter_mut().filter(|item| item["kind"] == "Pod") {
        pod["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api", "uid": "r", "controller": true}]);
    }
    items.push(json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "api", "namespace": "shop", "uid": "r"},
        "spec": {"replicas": 8, "selector": {"matchLabels": {"app": "api"}}}}));
    let mut screen = Screen::listed(&items, 80, 24).with_first_screen();
    screen.command("workload replicaset/shop/api");
    let page = screen.overlay();
    let (fix, pods) = (page.find("fix: "), page.find("shop/api-00"));
    assert!(fix.is_some() && pods.is_some() && fix < pods, "{page}");
    assert!(page.contains("\n\nCauses:\n"), "{page}");
}

/// A digit goes from a pod of the overview to a pane of its decision.
#[test]
fn panes_are_about_the_pod_that_is_selected_in_the_overview() {
    for (width, height) in [(80, 24), (120, 40)] {
        for (keys, words) in [("2", "Nodes for shop/payments"), ("3", "VICTIMS ON WORKER-A2")] {
            let mut screen = Screen::with_overview("payments", width, height);
            screen.act(&format!("enter j j j j {keys}"));
            let text = screen.text();
            assert!(text.contains(words) && text.contains("shop/payments: "), "{text}");
            screen.keys("esc");
            assert!(screen.text().contains("0 Overview"), "{}", screen.text());
        }
        let mut screen = Screen::with_overview("payments", width, height);
        screen.act("2");
        assert!(!screen.text().contains("Nodes for "), "a cause is no pod: {}", screen.text());
    }
}

/// `x` on a cause whose fix is still being searched for shows that fix when it is found, and not those of one pod.
#[test]
fn a_fix_that_is_asked_for_early_is_shown_when_it_is_found() {
    let early = |keys: &str| {
        let mut screen = Screen::with_overview("payments", 120, 40);
        screen.act(keys);
        let mut overview = Overview::clone(screen.state.overview.newest.as_ref().unwrap());
        overview.causes.iter_mut().for_each(|cause| cause.fix = FixSearch::Ahead);
        screen.state.overview.newest = Some(std::sync::Arc::new(overview));
        screen
    };
    let mut screen = early("j");
    screen.act("x");
    let page = screen.overlay();
    assert!(page.starts_with("Fix for 2 pods\n"), "{page}");
    let mut screen = early("g");
    screen.state.subjects.wanted_fix = Some("another cause".into());
    screen.act("j");
    assert!(screen.state.overlay.is_none() && screen.state.subjects.wanted_fix.is_none());
}
