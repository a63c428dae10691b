//! Prompts: completion on Enter, and commands that take the selected row.

use super::*;

fn title(screen: &Screen) -> String {
    screen.timeline().revisions().last().map(|revision| revision.title.clone()).unwrap_or_default()
}

#[test]
fn commands_take_the_selected_row() {
    let check = |keys: &str, expected: &str| {
        let mut screen = Screen::asked(120, 40);
        screen.act(keys);
        let said = screen.said();
        assert!(said.contains(expected), "{keys}: {said:?}, {}", title(&screen));
    };
    check("c 2 j :cordon;", "worker-b1");
    check("c 3 :cordon;", "worker-a2");
    check("c d :cordon;", "worker-a2");
    check("c 1 j :delete;", "shop/patient-job");
    check("c 2 :delete;", "worker-a2");
    check("c 1 :patch {\"spec\":{\"priority\":7}};", "shop/payments");
    check(":cordon;", "cordon needs a node name");
    let mut screen = Screen::asked(120, 40);
    screen.act("c 2 j :node;");
    assert_eq!(screen.state.detail.as_deref(), Some("worker-b1"));
    screen.act("1 j :pod;");
    assert_eq!(screen.timeline().cycle().start.as_ref().unwrap().pod.to_string(), "shop/patient-job");
}

#[test]
fn one_match_completes_on_enter() {
    let mut screen = Screen::asked(120, 40);
    screen.act(":node a2;");
    assert_eq!(screen.state.detail.as_ref().map(ToString::to_string).as_deref(), Some("worker-a2"), "{}", screen.said());
    screen.act(":pod patient;");
    assert_eq!(screen.timeline().cycle().start.as_ref().unwrap().pod.to_string(), "shop/patient-job");
    // The only command that begins so, on the selected row.
    screen.act("2 : 'unc' enter");
    assert!(screen.said().contains("would not change"), "{}", screen.said());
    // Several matches: the line runs as it is typed.
    assert!(screen.command("node worker").contains("there is no node \"worker\""));
    // One match that needs more goes on in the prompt.
    screen.act(": 'unti' enter");
    let Some(Overlay::Prompt(prompt)) = &screen.state.overlay else { panic!("{:?}", screen.state.overlay) };
    assert_eq!(prompt.input.value(), "until ");
}

#[test]
fn each_stop_condition_says_what_it_means() {
    let mut screen = Screen::asked(120, 40);
    screen.act("u");
    let text = screen.text();
    assert!(text.contains("a pod may preempt, and the dry runs begin") && text.contains("budget"), "{text}");
}
