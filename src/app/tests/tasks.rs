//! Tasks of an operator, with their keys counted: after `open --pod`, text typed in quotes counts as one name.

use super::*;

/// Presses keys after the decision about a pod is shown, and returns the screen with the number of keys. Typed names do not
/// count.
fn after(story: &str, pod: &str, keys: &str) -> (String, usize) {
    let mut screen = Screen::sized(story, 80, 24);
    screen.act(&format!(":pod {pod};"));
    screen.act(keys);
    let names = keys.matches('\'').count() / 2;
    let pressed = keys.split_whitespace().filter(|key| !key.starts_with('\'')).count();
    assert!(names <= 1, "one name at most");
    (screen.text(), pressed)
}

#[test]
fn the_answers_are_few_keys_away() {
    let check = |what: &str, keys: &str, most: usize, expected: &[&str]| {
        let (text, pressed) = after("payments", "shop/payments", keys);
        assert!(expected.iter().all(|words| text.contains(words)), "{what}: {expected:?}\n{text}");
        assert!(pressed <= most, "{what}: {pressed} keys");
    };
    check("why is it pending", "", 0, &["8 of 12 nodes have less than 6 cpu free", "have a taint"]);
    check("who would be evicted", "", 0, &["VICTIMS ON WORKER-A2", "batch/reports"]);
    check("which node is closest", "2", 1, &["★ worker-a2", "lacks 2.4 of 6 cpu", "3.6/8"]);
    check("who blocks", "2 enter", 2, &["Node worker-a2", "because", "victim     batch/reports"]);
    check("which nodes have the taint", "2 / 'taint' enter", 3, &["/taint: 3", "gpu-a1", "infra-1"]);
    check("what single change", "x", 2, &["Fixes for shop/payments"]);
    check("what if the node were cordoned", "2 : 'cordon' enter", 3, &["worker-a2 updated on new branch 2"]);
    check("take it back", "2 : 'cordon' enter U", 4, &["undone: "]);
    check("all of one pane", "2 +", 2, &["worker-c3", "infra-1"]);
    check("what the signs mean", "?", 1, &["Signs", "unsched.: eviction might help"]);
}

#[test]
fn the_cause_stays_on_the_smallest_screen() {
    for story in ["payments", "budgets"] {
        let mut screen = Screen::sized(story, 60, 16);
        screen.act("c");
        let text = screen.text();
        let answer: Vec<&str> = text.lines().skip(1).take(2).collect();
        assert!(answer.concat().contains("ending because") || answer.concat().contains("Fits on"), "{text}");
    }
}

/// A hundred and twenty nodes, of which a search finds enough before it has evaluated all.
#[test]
fn odds_over_all_starts_are_in_headline_and_column_once_they_are_counted() {
    let node = |i: usize| {
        let allocatable = serde_json::json!({"cpu": "4", "memory": "8Gi", "pods": "10"});
        serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{i:03}")}, "status": {"allocatable": allocatable}})
    };
    let mut items: Vec<serde_json::Value> = (0..120).map(node).collect();
    let pod = |name: &str| {
        let containers = serde_json::json!([{"name": "c", "resources": {"requests": {"cpu": "1"}}}]);
        serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "a", "uid": name},
            "spec": {"schedulerName": "default-scheduler", "containers": containers}})
    };
    items.extend([pod("p"), pod("q")]);
    let mut screen = Screen::listed(&items, 120, 40);
    screen.act(":start observed;");
    assert!(screen.text().contains("a/p is the next to be tried (2 came together, and each is as likely)"), "{}", screen.text());
    screen.act("1");
    screen.act("z");
    assert!(screen.text().contains("popped first in 1 of 2 cases, as is"), "{}", screen.text());
    screen.act("z");
    assert_eq!(screen.command("odds"), "! no node is selected here: odds are counted for a decision that takes one");
    screen.act(":pod a/p;");
    assert!(!screen.text().contains("over all starting nodes"), "{}", screen.text());
    screen.act(":odds;");
    assert_eq!(screen.said(), "over all starting nodes of the search n000 is picked in less than 1 of 100 cases, else one of 119 others");
    assert!(screen.text().contains("over all starting nodes of the search n000 is picked"), "{}", screen.text());
    screen.act("2");
    screen.act("z");
    let text = screen.text();
    assert!(text.contains("over all starting nodes of the search n000 is picked"), "{text}");
    assert!(text.contains("ODDS") && text.contains("0.8 %"), "{text}");
    screen.act(":cordon n000; :pod a/p;");
    assert!(!screen.text().contains("over all starting nodes"), "another decision has other odds\n{}", screen.text());
}

#[test]
fn criteria_that_a_release_does_not_have_have_no_column() {
    let mut screen = Screen::new("payments");
    for (release, has_times) in [("1.12", false), ("1.20", true)] {
        screen.act(&format!(":release {release}; :pod shop/payments; 3"));
        let text = screen.text();
        let heading = text.lines().find(|line| line.contains("CANDIDATE")).unwrap_or_else(|| panic!("{text}"));
        assert!(heading.contains("Min") && heading.contains("LatestStart") == has_times, "{release}: {heading}");
    }
}
