//! What-ifs: commands about named and selected objects, on branches.

use serde_json::{Value, json};

use super::Screen;
use crate::trace::Outcome;
use crate::ui::branch_label;

fn node(name: &str, cpu: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": name}},
           "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "20"}}})
}

fn pod(name: &str, node: &str, set: &str) -> Value {
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": set, "controller": true});
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name,
        "labels": {"app": set}, "ownerReferences": [owner]}, "spec": {"schedulerName": "default-scheduler",
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Pending"}});
    if !node.is_empty() {
        (pod["spec"]["nodeName"], pod["status"]["phase"]) = (json!(node), json!("Running"));
    }
    pod
}

/// Two nodes of two CPUs: two pods on `a`, one on `b`, and one that waits.
fn screen() -> Screen {
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1}});
    let items = [node("a", "2"), node("b", "2"), pod("web-1", "a", "web"), pod("web-2", "a", "web"), pod("api-1", "b", "api"), budget];
    Screen::listed(&items, 120, 40)
}

#[test]
fn a_drain_answers_and_begins_a_branch() {
    let mut screen = screen();
    let said = screen.command("drain a");
    assert_eq!(said, "a is drained, 1 pod placed, 1 pod pending on new branch 2; main is unchanged; = compares");
    let text = screen.overlay();
    assert!(
        text.starts_with("What if: drain a\n") && text.contains("\n  a is cordoned and drained\n  shop/web-2 on a → shop/web-"),
        "{text}"
    );
    assert!(text.contains(" pending: 0/2 nodes are available: 1 Insufficient cpu"), "{text}");
    assert_eq!(branch_label(&screen.explorer), "branch 2 of 2");
    screen.keys("=");
    let text = screen.overlay();
    assert!(text.starts_with("main compared with branch 2") && text.contains("drain a: "), "{text}");
    // The replacements never were on main.
    assert!(text.contains(": not created → on b") && text.contains(": on a → gone"), "{text}");
    // A further one goes on with the branch.
    let said = screen.command("add 1 like b");
    assert!(said.starts_with("add 1 like b: b-") && said.contains(" is added; "), "{said}");
    screen.keys("esc");
    let said = screen.command("drain a");
    let ends = said.strip_prefix("a is drained; shop/web-").is_some_and(|rest| rest.ends_with(" stays on b-like-1; = compares"));
    assert!(ends, "{said}: the pod that was pending, and is on show, is on the new node");
    assert_eq!(screen.explorer.branches().len(), 2);
    screen.keys("esc");
    // Back in the past it begins another.
    screen.keys("home");
    assert!(screen.command("lose zone=b").contains("on new branch 3; "));
}

#[test]
fn a_fix_that_takes_back_what_the_user_did_is_a_last_resort() {
    let node = |name: &str, taints: Value| {
        json!({"kind": "Node", "metadata": {"name": name}, "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})
    };
    let db = json!([{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]);
    let pod = |name: &str| {
        json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"phase": "Pending"}})
    };
    let items = [node("a", json!([])), node("db", db), pod("one"), pod("two")];
    for (act, fix) in [
        ("drain a", "uncordon a"),
        ("cordon a", "uncordon a"),
        ("taint a dedicated=x:NoSchedule", "remove taint dedicated=x:NoSchedule from a"),
    ] {
        let mut screen = Screen::listed(&items, 120, 40).with_first_screen();
        screen.command(act);
        if screen.state.overlay.is_some() {
            screen.keys("esc");
        }
        screen.wait();
        // The overview and the page of one pod agree.
        let text = screen.text();
        assert!(text.contains("fix: tolerate dedicated=db:NoSchedule (frees 2 of 2)"), "{act}: {text}");
        screen.act("enter j j x");
        let text = screen.overlay().split_whitespace().collect::<Vec<_>>().join(" ");
        let (first, last) = text.split_once("Only if nothing else helps:").unwrap_or_default();
        assert!(first.contains("1. tolerate dedicated=db:NoSchedule") && !first.contains(fix), "{act}: {text}");
        assert!(last.contains(fix) && last.contains(&format!("(it takes back \"{act}\" of this session)")), "{act}: {text}");
    }
}

/// Creating what the user deleted, a node in place of one that was lost, and giving up a label that was taken from a node.
#[test]
fn a_fix_that_makes_up_for_what_the_user_deleted_is_a_last_resort() {
    let node = |name: &str, zone: &str, taints: Value| {
        json!({"kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}}, "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}})
    };
    let db = json!([{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]);
    let bound = json!({"kind": "Pod", "metadata": {"name": "held", "namespace": "shop"},
        "spec": {"nodeName": "b", "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]}, "status": {"phase": "Running"}});
    let pod = |selector: Value| {
        json!({"kind": "Pod", "metadata": {"name": "one", "namespace": "shop"},
            "spec": {"schedulerName": "default-scheduler", "nodeSelector": selector,
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"phase": "Pending"}})
    };
    for (act, selector, words) in [
        ("lose a", json!({}), "takes back"),
        ("delete node a", json!({}), "takes back"),
        ("label a zone-", json!({"zone": "x"}), "makes up for"),
        ("label a zone=z", json!({"zone": "x"}), "makes up for"),
    ] {
        let items = [node("a", "x", json!([])), node("b", "y", json!([])), node("db", "x", db.clone()), bound.clone(), pod(selector)];
        let mut screen = Screen::listed(&items, 120, 40).with_first_screen();
        screen.command(act);
        if screen.state.overlay.is_some() {
            screen.keys("esc");
        }
        screen.wait();
        screen.act(":pod shop/one; x");
        let text = screen.overlay().split_whitespace().collect::<Vec<_>>().join(" ");
        let (first, last) = text.split_once("Only if nothing else helps:").unwrap_or_default();
        assert!(first.contains("tolerate dedicated=db:NoSchedule"), "{act}: {text}");
        assert!(last.contains(&format!("(it {words} \"")) && !first.contains("(it "), "{act}: {text}");
    }
    // Of several acts on a label the last one counts.
    let items = [node("a", "x", json!([])), node("b", "y", json!([])), node("db", "x", db), bound, pod(json!({"zone": "q"}))];
    let mut screen = Screen::listed(&items, 120, 40).with_first_screen();
    screen.command("label a zone=q");
    screen.command("label a zone=x");
    screen.act(":pod shop/one; x");
    let text = screen.overlay();
    assert!(text.contains("it makes up for \"label a zone=x\""), "{text}");
}

#[test]
fn a_drain_is_undone_and_leaving_asks_about_it() {
    let mut screen = screen();
    let cordoned = |screen: &Screen| screen.timeline().keyframe().cluster.nodes.iter().any(|node| node.unschedulable());
    screen.command("drain a");
    screen.keys("esc");
    assert!(cordoned(&screen));
    assert_eq!(screen.act("q"), None);
    assert!(screen.said().contains("not saved"), "{}", screen.said());
    screen.act("U");
    assert!(!cordoned(&screen) && screen.said().starts_with("undone: drain a"), "{}", screen.said());
    screen.act("ctrl-r");
    assert!(cordoned(&screen), "{}", screen.said());
}

#[test]
fn the_selected_row_is_the_argument() {
    let mut screen = screen();
    // The first node is selected in the list of nodes.
    screen.act(":node b; 2");
    let said = screen.command("label disk=ssd");
    assert!(said.starts_with("label ") && said.contains(" disk=ssd: applied on new branch 2"), "{said}");
    let name = said.split(' ').nth(1).unwrap().to_owned();
    let labels = &screen.timeline().keyframe().cluster.nodes.named(&name.as_str().into()).unwrap().metadata.labels;
    assert!(labels.contains_key("disk"));
    assert!(screen.command("lose").starts_with(&format!("{name} is lost")));
    screen.keys("esc");
    // Budgets.
    screen.keys("home 9 j");
    assert!(screen.command("relax").starts_with("relax shop/web: applied"), "{}", screen.said());
    assert_eq!(screen.timeline().keyframe().cluster.pod_disruption_budgets.iter().next().unwrap().status.disruptions_allowed, 2);
    screen.act(":capacity shop/api-1;");
    let text = screen.overlay();
    assert!(
        text.starts_with(
            "How many more of shop/api-1 fit\ncapacity shop/api-1: 1 more pod like it fits\n  the next one does not fit because "
        ),
        "{text}"
    );
}

#[test]
fn names_that_do_not_exist_leave_everything_as_it_was() {
    let mut screen = screen();
    for (line, said) in [
        ("drain c", "! there is no Node c"),
        ("lose zoen=a", "! no node has the label zoen=a; did you mean zone=a?"),
        ("evict web-3", "! there is no Pod web-3; did you mean shop/web-1?"),
        ("relax wbe", "! there is no PodDisruptionBudget wbe; did you mean shop/web?"),
        ("scale deploy/web 3", "! there is no deployment/web"),
        ("weights NodeResourceFit=2", "! there is no plugin \"NodeResourceFit\"; did you mean NodeResourcesFit?"),
        ("plugin off NodeResourcesFitt", "! there is no plugin \"NodeResourcesFitt\"; did you mean NodeResourcesFit?"),
        ("gate NoSuchGate=true", "! unrecognized feature gate: NoSuchGate"),
        ("weights", "! weights needs PLUGIN=N..."),
        ("capacity nothing", "! there is no Pod nothing"),
        ("taint a x", "! \"x\" is not KEY[=VALUE]:EFFECT"),
    ] {
        let answer = screen.command(line);
        assert!(answer.starts_with(said), "{line}: {answer}");
        assert_eq!((screen.explorer.branches().len(), screen.state.overlay.is_none()), (1, true), "{line}");
    }
}

#[test]
fn a_decision_is_taken_again_under_another_taint_weight_or_gate() {
    let mut screen = Screen::asked(120, 40);
    screen.act("c");
    assert_eq!(screen.timeline().cycle().outcome, Some(Outcome::Unschedulable));
    screen.command("plugin off NodeResourcesFit");
    assert_eq!(screen.timeline().cycle().outcome, Some(Outcome::Scheduled), "{}", screen.said());
    assert_eq!(branch_label(&screen.explorer), "branch 2 of 2");
    screen.keys("=");
    assert!(screen.overlay().contains("plugin off NodeResourcesFit"));
    // The decision is at the end of the branch, so the next edit leaves it as it is.
    let node = screen.timeline().cycle().scoring.selected.as_ref().map(|(node, ..)| node.to_string()).unwrap();
    screen.command(&format!("taint {node} out=now:NoSchedule"));
    let now = screen.timeline().cycle().scoring.selected.as_ref().map(|(node, ..)| node.to_string());
    assert_ne!(now.as_deref(), Some(node.as_str()));
    assert!(screen.command("priority shop/payments 5").starts_with("priority shop/payments 5: applied"), "{}", screen.said());
}

#[test]
fn arguments_are_completed() {
    let screen = screen();
    let words = |command: &str, typed: &str| {
        let (verb, _) = crate::ui::actions::verbs::command(command).unwrap();
        verb.complete(&screen.explorer, &screen.state, typed).into_iter().map(|c| c.word).collect::<Vec<_>>()
    };
    assert_eq!(words("drain", "a "), ["a", "b"]);
    assert_eq!(words("lose", "zone"), ["zone=a", "zone=b"]);
    assert_eq!(words("add", "3 like "), ["a", "b"]);
    assert_eq!(words("scale", "web"), ["replicaset/shop/web"]);
    assert_eq!(words("evict", "web"), ["shop/web-1", "shop/web-2"]);
    assert_eq!(words("relax", ""), ["shop/web"]);
    assert_eq!(words("plugin", "off ImageL"), ["ImageLocality"]);
    assert_eq!(words("weights", "ImageLocality=2 TaintT"), ["TaintToleration"]);
    assert_eq!(words("gate", "SchedulerPop"), ["SchedulerPopFromBackoffQ=true", "SchedulerPopFromBackoffQ=false"]);
}

#[test]
fn a_what_if_at_a_decision_ends_at_that_pod() {
    let about = |screen: &Screen| screen.timeline().cycle().start.as_ref().map(|start| start.pod.to_string());
    let mut screen = Screen::asked(120, 40);
    let said = screen.command("drain infra-1");
    assert_eq!(said, "infra-1 is drained on new branch 2; shop/payments ends on worker-a2; main is unchanged; = compares");
    screen.keys("esc");
    assert_eq!((about(&screen).as_deref(), screen.timeline().cycle().outcome), (Some("shop/payments"), Some(Outcome::Scheduled)));
    assert!(!screen.timeline().at_end(), "other pods were tried later");
    // A further one goes on at the end of the branch.
    let said = screen.command("add 1 like worker-a1");
    assert!(said.contains("; shop/payments stays on worker-a2") && !said.contains("new branch"), "{said}");
    screen.keys("esc");
    assert_eq!(screen.explorer.branches().len(), 2);
    // One that moves the pod is about the pod, too.
    screen.keys("home");
    screen.act(":pod ml/gpu-hungry;");
    let said = screen.command("lose gpu-a1");
    screen.keys("esc");
    assert!(said.starts_with("gpu-a1 is lost, ") && said.contains("; ml/gpu-hungry stays pending, for other reasons"), "{said}");
    assert_eq!((about(&screen).as_deref(), screen.timeline().cycle().outcome), (Some("ml/gpu-hungry"), Some(Outcome::Unschedulable)));
    assert!(screen.timeline().at_end());
    screen.act(":pod shop/payments;");
    assert!(screen.command("evict shop/payments").contains("; shop/payments is gone"), "{}", screen.said());
}

#[test]
fn an_edit_at_an_attempt_decides_again_about_its_pod_and_continues() {
    let mut screen = Screen::new("payments");
    screen.act("c");
    let pod = screen.timeline().cycle().start.as_ref().map(|start| start.pod.clone());
    screen.act(":cordon worker-a2; :cordon worker-a1;");
    assert_eq!(screen.timeline().cycle().start.as_ref().map(|start| start.pod.clone()), pod);
    let titles: Vec<&str> = screen.timeline().revisions().iter().map(|revision| revision.title.as_str()).collect();
    let decided = format!("explain {}", pod.unwrap());
    assert_eq!(titles[1..], ["cordon worker-a2", &decided, "cordon worker-a1", &decided]);
}

#[test]
fn a_replacement_that_is_preempted_is_said_to_be() {
    let mut screen = Screen::sized("payments", 120, 40);
    let said = screen.command("drain worker-a1");
    assert!(said.starts_with("worker-a1 is drained, 2 pods placed, 1 pod pending, 1 replacement preempted"), "{said}");
    let text = screen.overlay();
    assert!(text.contains("batch/reports-646f8d7fc5-69t9c on worker-a1 → batch/reports-646f8d7fc5-scqcs preempted"), "{text}");
}
