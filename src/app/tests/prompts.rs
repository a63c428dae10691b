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
    assert_eq!(screen.state.subjects.node.as_deref(), Some("worker-b1"));
    screen.act("1 j :pod;");
    assert_eq!(screen.timeline().cycle().start.as_ref().unwrap().pod.to_string(), "shop/patient-job");
}

#[test]
fn one_match_completes_on_enter() {
    let mut screen = Screen::asked(120, 40);
    screen.act(":node a2;");
    assert_eq!(screen.state.subjects.node.as_ref().map(ToString::to_string).as_deref(), Some("worker-a2"), "{}", screen.said());
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

/// A pod on a node is found as well as a pending one, and letters in order lead to no other pod.
#[test]
fn the_pod_command_knows_all_pods() {
    let mut screen = next_to_the_queues();
    screen.act(": 'pod boun'");
    let offered = |screen: &Screen| match &screen.state.overlay {
        Some(Overlay::Prompt(prompt)) => prompt.completions.iter().map(|c| c.word.clone()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(offered(&screen), ["shop/bound"]);
    screen.act("esc : 'pod shop/en'");
    assert_eq!(offered(&screen), ["shop/ended"]);
    screen.act("esc : 'pod wb' enter");
    assert!(screen.said().contains("\"wb\""), "it is not completed: {}", screen.said());
}

#[test]
fn each_stop_condition_says_what_it_means() {
    let mut screen = Screen::asked(120, 40);
    screen.act("u");
    let text = screen.text();
    assert!(text.contains("a pod may preempt, and the dry runs begin") && text.contains("budget"), "{text}");
}

/// Returns a cluster with a pod of another scheduler, one on a node, one that has finished, and several with like names.
fn next_to_the_queues() -> Screen {
    let pod = |name: &str, spec: serde_json::Value, phase: &str| serde_json::json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name}, "spec": spec, "status": {"phase": phase}});
    let node = serde_json::json!({"kind": "Node", "metadata": {"name": "n1", "uid": "n1"},
        "status": {"allocatable": {"cpu": "4", "memory": "64Gi", "pods": "110"}}});
    let items = [
        node,
        pod("elsewhere", serde_json::json!({"schedulerName": "my-scheduler"}), "Pending"),
        pod("bound", serde_json::json!({"nodeName": "n1"}), "Running"),
        pod("ended", serde_json::json!({"nodeName": "n1"}), "Succeeded"),
        pod("web-a", serde_json::json!({}), "Pending"),
        pod("web-b", serde_json::json!({}), "Pending"),
    ];
    Screen::listed(&items, 120, 40)
}

#[test]
fn a_pod_that_is_in_no_queue_is_shown_with_the_reason() {
    for (pod, words) in [
        ("elsewhere", "! shop/elsewhere belongs to the scheduler my-scheduler, which is not emulated; this is the pod"),
        ("bound", "! shop/bound is not waiting to be scheduled: it is on n1; this is the pod"),
        ("ended", "! shop/ended is not waiting to be scheduled: it has finished; this is the pod"),
    ] {
        let mut screen = next_to_the_queues();
        assert_eq!(screen.command(&format!("pod shop/{pod}")), words);
        assert_eq!(screen.state.subjects.pod.as_ref().map(|pod| pod.name.to_string()).as_deref(), Some(pod));
    }
}

#[test]
fn of_a_name_that_no_pod_has_the_pods_that_may_be_meant_are_said() {
    let mut screen = next_to_the_queues();
    assert_eq!(screen.command("pod web"), "! 2 pods match \"web\": give more of the name");
    assert_eq!(screen.command("pod shop/web"), "! 2 pods match \"shop/web\": give more of the name");
    assert_eq!(screen.command("decide shop/eldewhere"), "! there is no pod \"shop/eldewhere\"; did you mean shop/elsewhere?");
    assert_eq!(screen.command("until bound boun"), "! there is no pod \"boun\"; did you mean shop/bound?");
    assert_eq!(screen.command("pod zzzzz"), "! there is no pod \"zzzzz\"");
}

#[test]
fn an_unknown_command_names_those_that_begin_so() {
    let mut screen = Screen::asked(120, 40);
    assert_eq!(screen.command("d"), "! there is no command \"d\" (? lists them); decide, delete, diff and drain begin so");
    assert!(screen.command("co").starts_with("! there is no command \"co\" (? lists them); compare"), "{}", screen.said());
    assert_eq!(screen.command("cordno worker-a1"), "! there is no command \"cordno\" (? lists them); did you mean cordon?");
    assert_eq!(screen.command("zzz"), "! there is no command \"zzz\" (? lists them)");
}

#[test]
fn errors_are_about_the_arguments_that_are_missing() {
    let mut screen = Screen::sized("payments", 120, 40);
    assert_eq!(screen.command("priority shop/payments"), "! priority needs a number or a PriorityClass after the pod");
    assert_eq!(screen.command("taint"), "! taint needs [NODE] KEY[=VALUE]:EFFECT | KEY-");
    // A name without a namespace is found in any.
    assert!(screen.command("patch pod payments {\"spec\":{\"priority\":7}}").contains("shop/payments updated"), "{}", screen.said());
}

#[test]
fn breakpoints_and_scale_take_the_selected_row() {
    let mut screen = Screen::asked(120, 40);
    screen.act("c 2 j");
    assert!(screen.command("break node").starts_with("breakpoint: node worker-b1; "), "{}", screen.said());
    screen.act("1");
    assert!(screen.command("break pod").starts_with("breakpoint: pod shop/payments; "), "{}", screen.said());
    assert_eq!(screen.command("unbreak pod"), "removed; 1 breakpoint left");
    screen.act("9");
    let Some(budget) = crate::ui::actions::selected::budget(&screen.state).cloned() else { panic!("{}", screen.text()) };
    assert!(screen.command("break budget").starts_with(&format!("breakpoint: budget {budget}; ")), "{}", screen.said());
    // The Deployment of the selected pod, whose ReplicaSet was read or shows in the pod's name.
    let mut screen = Screen::sized("payments", 120, 40);
    screen.act("1 / 'spread' enter g");
    assert!(screen.command("scale 7").starts_with("scale deployment/shop/spread 7: "), "{}", screen.said());
    // A pod without a workload cannot be scaled.
    let mut screen = next_to_the_queues();
    assert_eq!(screen.command("scale 3"), "! scale needs [KIND/[NAMESPACE/]NAME] N");
}

#[test]
fn help_begins_with_its_word() {
    let mut screen = Screen::sized("payments", 80, 24);
    screen.command("help until");
    let text = screen.text();
    assert!(text.contains("/until") && text.contains("run until something happens"), "{text}");
}

#[test]
fn a_long_message_is_shown_in_full() {
    for (width, height) in [(60, 16), (80, 24), (120, 40)] {
        let mut screen = Screen::sized("payments", width, height);
        let said = screen.command("export nothing.pdf");
        let all = |screen: &Screen| screen.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.len() > 60 && all(&screen).contains(said.trim_start_matches("! ")), "{}", screen.text());
        // Also over a text.
        screen.state.notice = None;
        screen.act("i");
        screen.state.warn(said.clone());
        assert!(all(&screen).contains(&said), "{}", screen.text());
        screen.act("esc j");
        assert!(!all(&screen).contains(&said), "{}", screen.text());
    }
}
