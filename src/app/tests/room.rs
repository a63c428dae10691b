//! Facts that stay whole where a screen or a column has little room.

use serde_json::json;

use super::*;

fn check(screen: &Screen, present: &[&str], absent: &[&str]) {
    let text = screen.text();
    for words in present {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    for words in absent {
        assert!(!text.contains(words), "{words:?} in\n{text}");
    }
}

/// Returns the line with a text.
fn line(screen: &Screen, part: &str) -> String {
    let text = screen.text();
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part:?} in\n{text}")).to_owned()
}

fn node(name: &str) -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
        "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "110" } },
    })
}

fn pod(name: &str, priority: i32, cpu: &str, place: Option<(&str, &str)>) -> serde_json::Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "a", "name": name, "labels": { "app": name } },
        "spec": {
            "schedulerName": "default-scheduler", "priority": priority,
            "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu } } }],
        },
    });
    if let Some((node, started)) = place {
        pod["spec"]["nodeName"] = node.into();
        pod["status"] = json!({ "phase": "Running", "startTime": started });
    }
    pod
}

/// Opens a cluster where the victim on n1 started today and that on n2 in another year, and goes to the decision about a/p.
fn of_other_days(priority: i32, width: u16, height: u16) -> Screen {
    let victim = |name, node, started| pod(name, priority, "4", Some((node, started)));
    let items = [
        node("n1"),
        node("n2"),
        victim("v1", "n1", "2026-11-20T10:00:00Z"),
        victim("v2", "n2", "2025-11-20T09:00:00Z"),
        pod("p", 10, "2", None),
    ];
    let mut screen = Screen::listed(&items, width, height);
    screen.act(":pod a/p;");
    screen
}

#[test]
fn times_that_are_compared_all_have_their_day() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut screen = of_other_days(5, width, height);
        screen.act("3 j");
        check(&screen, &["2025-11-20 09:00:00 ✗", "2026-11-20 10:00:00 ★"], &["…"]);
        screen.act("enter + G");
        let row = line(&screen, "✗ LatestStartTime");
        assert!(row.contains("2025-11-20 09:00:00") && row.contains("2026-11-20 10:00:00"), "{row}");
    }
    let mut screen = of_other_days(5, 80, 24);
    screen.act("3 j");
    check(&screen, &["n2 eliminated: highest victim started 2025-11-20, best 2026-11-20"], &[]);
}

#[test]
fn the_least_priority_is_whole_in_every_pane() {
    let mut screen = of_other_days(i32::MIN, 80, 24);
    for keys in ["3", "enter", ":node n1; + G", "+ :pod a/p; C r :step event; n 3"] {
        screen.act(keys);
        check(&screen, &["-2147483648"], &[]);
    }
}

#[test]
fn the_resource_that_can_never_fit_comes_first_and_whole() {
    let mut screen = Screen::sized("payments", 80, 24);
    screen.act(":pod ml/gpu-hungry; 2");
    check(&screen, &["too small: 4 of 8 nvidia.com/gpu ", "no nvidia.com/gpu, lacks 1.9 of 4 cpu "], &["gpu…", "nvidi…"]);
}

#[test]
fn a_node_shows_the_budgets_of_its_pods_before_a_dry_run_does() {
    // Without a dry run; of pods that are removed in one that fails; before pods are put back.
    for keys in
        [":node worker-a1;", ":pod platform/ingress-extra-66cb5965df-mkwvj; :node worker-a1;", ":pod shop/payments; C r :node worker-c1;"]
    {
        let mut screen = Screen::new("payments");
        screen.act(&format!("{keys} + G"));
        let pods = screen.text();
        let (_, pods) = pods.split_once("PODS ON THE NODE").unwrap();
        let row = |name: &str| pods.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{keys}: {name}\n{pods}"));
        assert!(row("shop/catalog-").contains("catalog allows 1"), "{keys}\n{pods}");
        assert!(row("shop/checkout-").contains("checkout allows "), "{keys}\n{pods}");
    }
}

#[test]
fn a_node_s_totals_are_in_sight_at_any_width() {
    for (width, height, totals) in [
        (60, 16, "cpu 3.6/8 · mem 21.5Gi/32Gi free"),
        (80, 24, "cpu 3.6/8 free · mem 21.5Gi/32Gi free · 4 pods"),
        (200, 60, "cpu 3.6/8 free · mem 21.5Gi/32Gi free · 4 pods"),
    ] {
        let mut screen = Screen::sized("payments", width, height);
        screen.act(":pod shop/payments; 3 enter d");
        check(&screen, &["worker-a2", totals], &[]);
    }
}

#[test]
fn candidates_match_by_budgets_and_say_that_none_does() {
    let mut screen = Screen::asked(80, 24);
    screen.act("c 3 / 'budget:nosuch' enter");
    check(&screen, &["/budget:nosuch: 0 of 8", "no node matches the filter: Esc ends it"], &["VICTIMS ON", "CANDIDATE"]);
    screen.act("/ ctrl-u 'budget:checkout' enter");
    check(&screen, &["/budget:checkout: 6 of 8", "CANDIDATE", "VICTIMS ON", "✓ checkout allows"], &[]);
    // Those that allow the eviction match as well as those that are violated, which have a field of their own.
    let mut screen = Screen::new("budgets");
    screen.act("c 3 / 'budget:search' enter");
    let any = screen.state.view_model.rows.candidates.len();
    screen.act("/ ctrl-u 'violates:search' enter");
    let violated = screen.state.view_model.rows.candidates.len();
    assert!(violated > 0 && any >= violated, "{any} and {violated}");
}

#[test]
fn the_smallest_screen_shows_where_one_is() {
    let mut screen = Screen::sized("payments", 60, 16);
    screen.act(":pod shop/payments; C r n n n 5");
    check(&screen, &["▸PostFilter", "▸ worker-c1"], &[" 0-0 of", "·  ·"]);
    while !screen.timeline().at_end() {
        screen.keys("n");
        assert!(line(&screen, "5 Steps").contains('▸'), "{}", screen.text());
    }
    // The tab of the shown page is whole, whatever is open beside it.
    screen.act(":pod shop/payments; 3 enter :node worker-a2; v");
    for (keys, tab) in [("v", "▸7 Pod"), ("4", "▸4 worker-a2"), ("8", "▸8 Candidate"), ("9", "▸9 Budgets"), ("1", "▸1 Queues")] {
        screen.act(keys);
        check(&screen, &[tab], &[]);
    }
    screen.act("6 +");
    check(&screen, &["━ 6 Message ━", "┗━"], &[]);
    screen.act("+ 5 +");
    check(&screen, &["━ 5 Steps ", "┗━"], &[]);
}
