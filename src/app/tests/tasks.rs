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
    check("why is it pending", "", 0, &["8 of 12 nodes lack 6 free cpu", "3 have a taint"]);
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
