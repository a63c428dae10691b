//! Answers of the command line beside its main ones: names that do not exist, formats, and when a pod is tried.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::Command;

/// Returns the exit code, standard output and standard error of a command.
fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn names_that_no_object_has_are_wrong_usage() {
    let (code, _, said) = run(&["explain", "--pending", "-n", "shp", "--demo", "payments"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no object is in the namespace \"shp\"; did you mean shop?"), "{said}");
    for args in [
        &["explain", "payments", "-n", "shp"][..],
        &["explain", "payments", "-o", "json", "-n", "shp"],
        &["explain", "payments", "spread", "-o", "json", "-n", "shp"],
        &["explain", "-l", "app=web", "-n", "shp"],
        &["explain", "payments", "--fixes", "-n", "shp"],
        &["explain", "deployment/web", "-n", "shp"],
        &["explain", "web-1", "--evicted", "-n", "shp"],
        &["explain", "--pending", "--watch", "-n", "shp"],
    ] {
        let (code, text, said) = run(&[args, &["--demo", "payments"]].concat());
        assert!(code == 2 && text.is_empty() && said.contains("namespace \"shp\"; did you mean shop?"), "{args:?}: {code} {text} {said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("pod.json");
    std::fs::write(&manifest, r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}"#).unwrap();
    let of_manifest = |namespace: &str| run(&["explain", "-f", manifest.to_str().unwrap(), "-n", namespace, "--demo", "payments"]);
    let (code, _, said) = of_manifest("shp");
    assert!(code == 2 && said.contains("namespace \"shp\"; did you mean shop?"), "{code} {said}");
    assert_ne!(of_manifest("shop").0, 2);
    let (_, text, _) = run(&["explain", "--pending", "-n", "kube-system", "--demo", "payments"]);
    assert!(text.contains("No pod is pending in namespace kube-system; others have 15 (-A shows them)."), "{text}");
    let (code, _, said) = run(&["explain", "-A", "--demo", "payments"]);
    assert!(code == 2 && said.contains("-A names no pod: --pending explains all that wait"), "{code} {said}");
    let (code, _, said) = run(&["explain", "shop/checkout-6bdb4d6684-2csfs", "--fixes", "--demo", "payments"]);
    assert!(code == 0 && said.contains("--fixes is left out: pod shop/checkout-6bdb4d6684-2csfs has a node"), "{code} {said}");
    let (code, text, _) = run(&["explain", "deployment/shop/spread", "--demo", "payments"]);
    assert!(code == 1 && text.contains("shop/spread"), "{code} {text}");
    let (code, _, said) = run(&["explain", "deployment/shop/spread", "-n", "batch", "--demo", "payments"]);
    assert!(code == 2 && said.contains("deployment/shop/spread is in namespace shop, but -n names another"), "{code} {said}");
    let (code, _, said) = run(&["explain", "deployment/web", "--demo", "payments"]);
    assert!(code == 2 && said.contains("there is no Deployment default/web in the source"), "{code} {said}");
}

#[test]
fn formats_of_a_run_are_what_they_say() {
    let (code, yaml, _) = run(&["run", "--demo", "budgets", "-o", "yaml"]);
    assert!(code == 0 && yaml.starts_with("---\n"), "{yaml}");
    let documents = yaml.split("---\n").filter(|text| !text.is_empty());
    let read: Result<Vec<serde_yaml::Value>, _> = documents.map(serde_yaml::from_str).collect();
    assert!(read.is_ok_and(|all| !all.is_empty() && all.iter().all(serde_yaml::Value::is_mapping)), "{yaml}");
    let (code, markdown, _) = run(&["run", "--demo", "budgets", "-o", "markdown"]);
    assert!(code == 0 && markdown.starts_with("# Run of the scheduler\n") && markdown.contains("\n- "), "{markdown}");
}

#[test]
fn metrics_are_of_all_pending_pods() {
    let (code, text, _) = run(&["explain", "-A", "--pending", "--demo", "payments", "-o", "metrics"]);
    let value = |series: &str| text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse::<usize>().ok());
    assert_eq!(code, 1, "pods do not fit");
    assert_eq!(value("schedscope_pending_pods{namespace=\"shop\"}"), Some(8), "{text}");
    let all: usize = text
        .lines()
        .filter(|line| line.starts_with("schedscope_pending_pods{"))
        .filter_map(|line| line.split(' ').next_back()?.parse::<usize>().ok())
        .sum();
    assert_eq!(all, 15, "{text}");
    assert_eq!(
        value("schedscope_pending_pods_by_cause{cause=\"Insufficient(cpu)+NodeUnschedulable+UntoleratedTaint\"}"),
        Some(3),
        "{text}"
    );
    assert_eq!(value("schedscope_pending_pods_rejected_by{plugin=\"InterPodAffinity\"}"), Some(2), "{text}");
    assert_eq!(value("schedscope_pending_pods_compared{result=\"agrees\"}"), Some(1), "{text}");
    // Each family is said once, before its series.
    let families: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert_eq!(families.iter().collect::<std::collections::BTreeSet<_>>().len(), families.len(), "{text}");
    for (args, words) in [
        (&["explain", "payments", "-n", "shop", "--demo", "payments"][..], "-o metrics is of all pending pods"),
        (&["run", "--demo", "payments"], "invalid value 'metrics'"),
    ] {
        let (code, _, said) = run(&[args, &["-o", "metrics"]].concat());
        assert!(code == 2 && said.contains(words), "{said}");
    }
}

#[test]
fn a_release_that_is_not_supported_is_replaced_and_said() {
    for command in [&["info"][..], &["explain", "shop/payments", "--demo", "payments"]] {
        let (_, _, said) = run(&[command, &["--emulate", "1.99"]].concat());
        assert!(said.starts_with("emulates kube-scheduler v1.37.0: v1.99 was requested"), "{said}");
    }
}

#[test]
fn a_restarted_scheduler_pops_equal_pods_in_any_order_from_1_36_on() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.json");
    let pod = |name: &str| {
        format!(
            r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"a"}},"spec":{{"containers":[{{"name":"c"}}]}}}}"#
        )
    };
    std::fs::write(
        &dump,
        format!(r#"{{"kind":"List","items":[{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"n"}}}},{},{}]}}"#, pod("p"), pod("q")),
    )
    .unwrap();
    for (release, random) in [("1.36", true), ("1.35", false)] {
        let (_, text, _) = run(&["run", "--from", dump.to_str().unwrap(), "--emulate", release]);
        assert_eq!(text.contains("in random order, as their priorities are equal: each comes first in 1 of "), random, "{release}: {text}");
    }
}

#[test]
fn when_a_pod_is_tried_is_one_line() {
    let (_, text, _) = run(&["explain", "batch/too-big", "--demo", "aftermath"]);
    let line = text.lines().skip_while(|line| *line != "WHEN").nth(1).unwrap_or_default();
    assert!(line.starts_with("  waits until a ") && line.contains("; tried anyway by the flush after "), "{text}");
    let (_, text, _) = run(&["explain", "shop/payments", "--demo", "aftermath"]);
    assert!(
        text.contains("WHEN\n  tried again when the pods evicted for it on worker-a2 are gone, at the latest 18:31:12 (in 5 min)\n"),
        "{text}"
    );
    let (_, text, _) = run(&["explain", "batch/gated", "--demo", "aftermath"]);
    assert!(text.contains("WHEN\n  tried once its scheduling gate is removed: example.com/quota\n"), "{text}");
}

/// The end of a pod that is being deleted, and its preemptor, are said without an option.
#[test]
fn a_pod_that_is_being_deleted_says_who_preempted_it_and_when_it_is_gone() {
    let args = ["explain", "batch/reports-646f8d7fc5-zgcpb", "--demo", "aftermath"];
    let (code, text, _) = run(&args);
    assert_eq!(code, 0, "{text}");
    for part in [
        "is being deleted on worker-a2\n\nWHEN\n  gone at the latest 18:31:12 (in 5 min)\n",
        "EVICTIONS\n  shop/payments preempted it on worker-a2",
        "shop/payments waits for the pods evicted for it on worker-a2 to end.",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let (_, text, _) = run(&[&args[..], &["-o", "json"]].concat());
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["evictions"][0]["preemptor"], "shop/payments", "{text}");
    assert_eq!(found["when"]["at"], "2026-11-20T18:31:12Z", "{text}");
}

#[test]
fn every_command_has_examples() {
    for command in ["demo", "open", "live", "capture", "explain", "run", "log", "completions", "info"] {
        let (code, help, _) = run(&[command, "--help"]);
        assert!(code == 0 && help.contains("\nExamples:\n  "), "{command}: {help}");
    }
}

#[test]
fn several_pods_are_explained_one_after_another() {
    let demo = |more: &[&str]| run(&[&["explain", "--demo", "payments"], more].concat());
    let pods = |text: &str| -> Vec<String> {
        let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("one object a line");
        text.lines()
            .map(read)
            .map(|answer| format!("{}/{}", answer["namespace"].as_str().unwrap(), answer["pod"].as_str().unwrap()))
            .collect()
    };
    let (code, json, _) = demo(&["shop/payments", "batch/gated", "-o", "json"]);
    assert_eq!((code, pods(&json)), (1, vec!["shop/payments".to_owned(), "batch/gated".to_owned()]));
    let (code, text, said) = demo(&["payments", "paymets", "-n", "shop"]);
    assert!(code == 2 && said.contains("there is no Pod shop/paymets"), "{said}");
    assert!(text.starts_with("shop/payments · ") && text.ends_with("\n\n"), "{text}");
    let (_, yaml, _) = demo(&["shop/payments", "batch/gated", "-o", "yaml"]);
    assert_eq!(yaml.matches("---\n").count(), 2);
    // Labels select pending pods.
    let (code, json, _) = demo(&["-A", "-l", "app=spread", "-o", "json"]);
    assert!(code == 0 && pods(&json).len() == 5 && pods(&json).iter().all(|pod| pod.starts_with("shop/spread-")), "{json}");
    // A file gets the same as standard output, but whole.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.json").display().to_string();
    let (code, printed, _) = demo(&["-A", "-l", "app=spread", "-o", "json", "--output-file", &file]);
    assert_eq!((code, printed.as_str(), std::fs::read_to_string(&file).unwrap()), (0, "", json));
    let (code, json, _) = demo(&["-n", "batch", "-l", "app=spread", "-o", "json"]);
    assert_eq!((code, json.as_str()), (0, ""));
    assert_eq!(demo(&["-l", "app in (a)"]).0, 2);
    assert_eq!(demo(&["shop/payments", "-A"]).0, 2);
    assert_eq!(demo(&["-A"]).0, 2);
}

/// Returns a dump with a node, a pod that waits, and the time of its newest object.
fn dump(time: &str, taints: &str) -> String {
    format!(
        r#"{{"kind":"List","items":[
        {{"kind":"Namespace","apiVersion":"v1","metadata":{{"name":"kube-system","uid":"c1"}}}},
        {{"kind":"Node","apiVersion":"v1","metadata":{{"name":"w1","uid":"w1"}},"spec":{{"taints":[{taints}]}},"status":{{"allocatable":{{"cpu":"4","pods":"10"}}}}}},
        {{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web","namespace":"shop","uid":"web","creationTimestamp":"{time}"}},
          "spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"Pending"}}}}]}}"#
    )
}

#[test]
fn two_dumps_are_compared_and_explained_on_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (old, new) = (path("old.json"), path("new.json"));
    std::fs::write(&old, dump("2026-01-01T00:00:00Z", "")).unwrap();
    std::fs::write(&new, dump("2026-01-01T01:00:00Z", r#"{"key":"dedicated","value":"gpu","effect":"NoSchedule"}"#)).unwrap();
    let sentence = "shop/web fitted on w1; it does not fit on any node now: since then w1 got the taint dedicated=gpu:NoSchedule.";

    let (code, text, said) = run(&["diff", &old, &new]);
    assert!(code == 1 && text.contains(sentence) && said.is_empty(), "{code} {text} {said}");
    assert!(text.contains("spec.taints[dedicated:NoSchedule]: none → dedicated=gpu:NoSchedule"), "{text}");
    let (code, text, _) = run(&["diff", &old, &old]);
    assert!(
        code == 0 && text.contains("no object that scheduling reads changed; no decision changed, 1 pending pod has the same"),
        "{text}"
    );
    let (code, json, _) = run(&["diff", &old, &new, "-o", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(code == 1 && value["pods"][0]["because"]["how"] == "one" && value["changes"][0]["kind"] == "Node", "{json}");
    let (_, markdown, _) = run(&["diff", &old, &new, "-o", "markdown"]);
    assert!(markdown.starts_with("# Differences\n") && markdown.contains("\n## Decisions\n"), "{markdown}");
    let (code, _, said) = run(&["diff", &old, &new, "-n", "shp"]);
    assert!(code == 2 && said.contains("did you mean shop?"), "{said}");
    let (_, _, said) = run(&["diff", &new, &old]);
    assert!(said.contains("the older dump comes first"), "{said}");
    assert_eq!(run(&["diff", &old, "/nowhere.json"]).0, 3);

    // The order on the command line does not matter.
    for from in [[&old, &new], [&new, &old]] {
        let from = ["--from", from[0], from[1]];
        let (code, text, _) = run(&[&["explain", "shop/web"][..], &from].concat());
        assert!(code == 1 && text.contains("SINCE THE DUMP BEFORE") && text.contains(sentence), "{text}");
        let (_, json, _) = run(&[&["explain", "shop/web", "-o", "json"][..], &from].concat());
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(value["since"]["sentence"] == sentence && value["since"]["changes"][0]["name"] == "w1", "{json}");
        let (_, text, _) = run(&[&["explain", "--pending", "-A"][..], &from].concat());
        assert!(text.contains(sentence), "{text}");
        let (_, text, _) = run(&[&["explain", "shop/web", "--merge"][..], &from].concat());
        assert!(!text.contains("SINCE THE DUMP BEFORE"), "{text}");
    }
    // A state that never was is not made without being asked for.
    let copy = path("copy.json");
    for command in [&["run"][..], &["run", "--what-if", "drain w1"], &["run", "--compare", "1.36"], &["capture", &copy]] {
        let (code, text, said) = run(&[command, &["--from", &new, &old]].concat());
        let expected = format!(
            "{old} of 2026-01-01T00:00:00Z and {new} of 2026-01-01T01:00:00Z are dumps of one cluster at different times: name one of them, or add --merge to merge them"
        );
        assert!(code == 2 && text.is_empty() && said.contains(&expected), "{command:?}: {code} {text} {said}");
        let (code, _, said) = run(&[command, &["--merge", "--from", &new, &old]].concat());
        assert!(code < 2, "{command:?}: {code} {said}");
    }
    // Times need not differ: an object of both that is not the same is enough, and the order is that of the arguments then.
    let (before, after) = (path("before.json"), path("after.json"));
    std::fs::write(&before, dump("2026-01-01T00:00:00Z", "")).unwrap();
    std::fs::write(&after, dump("2026-01-01T00:00:00Z", r#"{"key":"dedicated","value":"gpu","effect":"NoSchedule"}"#)).unwrap();
    let (code, text, _) = run(&["explain", "shop/web", "--from", &before, &after]);
    assert!(code == 1 && text.contains(sentence), "{text}");
    let (code, _, said) = run(&["run", "--from", &before, &after]);
    assert!(code == 2 && said.contains("are dumps of one cluster at different times"), "{said}");
    assert_eq!(run(&["run", "--from", &before, &before]).0, 0);
    let screen = path("screen.txt");
    let (code, _, said) = run(&["open", &old, &new, "--print", &screen, "--keys", ": \"diff\" enter"]);
    let shown = std::fs::read_to_string(&screen).unwrap_or_default();
    // The box wraps the sentence.
    let words = shown.split(|c: char| c.is_whitespace() || "│┃".contains(c)).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    assert!(code == 0 && words.contains("since then w1 got the taint"), "{said} {shown}");
    assert!(words.contains("spec.taints[dedicated:NoSchedule]: none → dedicated=gpu:NoSchedule"), "{shown}");
}

#[cfg(unix)]
#[test]
fn changes_between_dumps_are_lines_and_a_folder_is_watched_until_ctrl_c() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (old, new) = (path("1.json"), path("2.json"));
    let without = dump("2026-01-01T00:00:00Z", "").replace(r#""status":{"phase":"Pending"}"#, r#""status":{"phase":"Succeeded"}"#);
    std::fs::write(&old, &without).unwrap();
    std::fs::write(&new, dump("2026-01-01T01:00:00Z", "")).unwrap();
    let watch = ["explain", "--pending", "-A", "--watch", "--from"];
    let (code, text, said) = run(&[&watch[..], &[&old, &new]].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (code, &lines[..]),
        (
            0,
            &[
                "2026-01-01T00:00:00Z watching: pending pods: 0, violated budgets: ?",
                "2026-01-01T00:00:00Z unknown: the source contains no PodDisruptionBudgets",
                "2026-01-01T01:00:00Z pending shop/web: Fits on w1, the only node."
            ][..]
        ),
        "{said}"
    );
    let (_, json, _) = run(&[&watch[..], &[&old, &new, "-o", "json"]].concat());
    let last: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert!(last["event"] == "pending" && last["pod"]["name"] == "web" && last["time"] == "2026-01-01T01:00:00Z", "{json}");
    assert!(json.lines().all(|line| line.starts_with("{\"schemaVersion\":1,")), "{json}");

    std::fs::remove_file(&new).unwrap();
    crate::interrupts::let_children_be_interrupted();
    let mut child = Command::new(env!("CARGO_BIN_EXE_schedscope")).args(watch).arg(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("watching: pending pods: 0"));
    assert!(lines.next().unwrap().unwrap().contains("unknown: the source contains no PodDisruptionBudgets"));
    std::fs::write(path("3.tmp"), dump("2026-01-01T02:00:00Z", "")).unwrap();
    std::fs::rename(path("3.tmp"), path("3.json")).unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "2026-01-01T02:00:00Z pending shop/web: Fits on w1, the only node.");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let (code, _, said) = run(&[&watch[..], &["/nowhere"]].concat());
    assert!(code == 3 && said.contains("no such file"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_state_that_was_not_read_whole_ends_no_pod_and_a_folder_says_what_it_leaves_out() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let part = dump("2026-01-01T01:00:00Z", "");
    // The pod that waits has a request that cannot be read.
    let unreadable = part.replace(r#""name":"web","#, r#""name":"other","#).replacen(
        r#""items":["#,
        r#""items":[{"kind":"Pod","apiVersion":"v1",
        "metadata":{"name":"web","namespace":"shop"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"zz"}}}]}},"#,
        1,
    );
    let (old, new) = (path("1.json"), path("2.json"));
    std::fs::write(&old, dump("2026-01-01T00:00:00Z", "")).unwrap();
    std::fs::write(&new, &unreadable).unwrap();
    let watch = ["explain", "--pending", "-A", "--watch", "--from"];
    let (code, text, said) = run(&[&watch[..], &[&old, &new]].concat());
    assert!(code == 3 && said.contains("Pod shop/web"), "{code} {said}");
    assert!(!text.contains("pending no more") && text.contains("01:00:00Z unknown: not all Pods could be read"), "{text}");

    // Of two dumps, neither their difference says that it went.
    let (code, text, _) = run(&["diff", &old, &new]);
    assert!(code == 3 && !text.contains("was deleted") && text.contains("whether it still waits is unknown"), "{text}");
    assert!(text.contains("1 Pod that only") && text.contains("not all Pods could be read"), "{text}");

    std::fs::write(&new, "{").unwrap();
    crate::interrupts::let_children_be_interrupted();
    let mut child = Command::new(env!("CARGO_BIN_EXE_schedscope"))
        .args(watch)
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let left_out = lines.map(Result::unwrap).find(|line| line.contains("2.json is left out"));
    assert!(left_out.unwrap().ends_with("it does not hold nodes, pods and a time"));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// It does not follow from a node that could not be read that its pod would move.
#[test]
fn a_pod_on_a_node_that_the_source_may_lack_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json").display().to_string();
    let text = r#"{"kind":"List","apiVersion":"v1","items":[
        {"kind":"Node","apiVersion":"v1","metadata":{"name":"w1"},"status":{"allocatable":{"cpu":"zz","pods":"10"}}},
        {"kind":"Node","apiVersion":"v1","metadata":{"name":"w2"},"status":{"allocatable":{"cpu":"4","pods":"10"}}},
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop"},
         "spec":{"nodeName":"w1","schedulerName":"default-scheduler","containers":[{"name":"c"}]},"status":{"phase":"Running"}}]}"#;
    std::fs::write(&path, text).unwrap();
    let (code, text, said) = run(&["explain", "shop/web", "--from", &path]);
    let words =
        "The source does not have w1, so whether it would land there again is unknown; of the nodes that are known it would get w2.";
    assert!(code == 3 && text.contains(words) && text.contains("UNKNOWN\n  Not all Nodes could be read"), "{text}{said}");
    let (_, json, _) = run(&["explain", "shop/web", "--from", &path, "-o", "json"]);
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(found["again"]["same"].is_null() && found["missing"].as_array().unwrap().iter().any(|kind| kind["kind"] == "Node"), "{json}");
}

/// Nodes or pods that the source does not hold are unknown, not none.
#[test]
fn a_source_without_nodes_or_pods_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, items: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, format!(r#"{{"kind":"List","apiVersion":"v1","items":[{items}]}}"#)).unwrap();
        path
    };
    let node = r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"w1"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}"#;
    let pod = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop"},
        "spec":{"schedulerName":"default-scheduler","containers":[{"name":"c"}]},"status":{"phase":"Pending"}}"#;
    let (nodes, pods) = (write("nodes.json", node), write("pods.json", pod));
    let no_pods = "UNKNOWN\n  The source contains no Pods";
    for (arguments, expected) in [(&["run", "--what-if", "drain w1"][..], 0), (&["run"], 0), (&["explain", "-A", "--pending"], 3)] {
        let (code, text, said) = run(&[arguments, &["--from", &nodes]].concat());
        assert!(code == expected && text.contains(no_pods), "{arguments:?}: {code} {text}{said}");
    }
    let (code, text, said) = run(&["run", "-o", "json", "--from", &nodes]);
    assert!(code == 0 && text.is_empty() && said.contains("The source contains no Pods"), "{text}{said}");
    let (code, _, said) = run(&["explain", "web", "-n", "shop", "--from", &nodes]);
    assert!(code == 3 && said.contains("the source contains no Pods"), "{said}");
    let manifest = folder.path().join("pod.json");
    std::fs::write(&manifest, pod).unwrap();
    let (code, text, said) = run(&["explain", "-f", manifest.to_str().unwrap(), "--from", &nodes]);
    assert!(code == 0 && text.starts_with("1 fits") && text.contains(no_pods), "{text}{said}");
    for arguments in [&["explain", "web", "-n", "shop"][..], &["explain", "-A", "--pending"], &["run"]] {
        let (code, text, said) = run(&[arguments, &["--from", &pods]].concat());
        assert!(code < 2 && text.contains("UNKNOWN\n  The source contains no Nodes"), "{arguments:?}: {code} {text}{said}");
    }
    let both = write("both.json", &format!("{node},{pod}"));
    assert_eq!(run(&["explain", "web", "-n", "shop", "--from", &both]).0, 0);
}

#[test]
fn a_volume_that_contradicts_a_selector_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json").display().to_string();
    let text = r#"{"kind":"List","items":[
        {"kind":"Node","apiVersion":"v1","metadata":{"name":"w1","labels":{"topology.kubernetes.io/zone":"a"}},"status":{"allocatable":{"cpu":"4","pods":"10"}}},
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"db","namespace":"shop"},"spec":{"nodeSelector":{"topology.kubernetes.io/zone":"b"},
          "containers":[{"name":"c"}],"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"data"}}]},"status":{"phase":"Pending"}},
        {"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"data","namespace":"shop"},"spec":{"volumeName":"pv"}},
        {"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv"},"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["a"]}]}]}}}}]}"#;
    std::fs::write(&path, text).unwrap();
    let (code, text, _) = run(&["explain", "shop/db", "--from", &path]);
    let sentence = "the volume pv of claim data is on nodes with topology.kubernetes.io/zone=a, and the pod asks for topology.kubernetes.io/zone=b: no node has both.";
    assert!(code == 1 && text.contains("VOLUMES") && text.contains(sentence), "{text}");
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap().replace(r#""values":["a"]"#, r#""values":["a","b"]"#)).unwrap();
    let (_, text, _) = run(&["explain", "shop/db", "--from", &path]);
    assert!(!text.contains("VOLUMES"), "{text}");
}

#[test]
fn a_folder_of_too_many_files_is_not_watched() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..=schedscope::limits::sources::WATCHED_FILES {
        std::fs::write(folder.path().join(number.to_string()), "").unwrap();
    }
    let (code, _, said) = run(&["explain", "--pending", "-A", "--watch", "--from", folder.path().to_str().unwrap()]);
    assert!(code == 3 && said.contains("holds more than 10000 files"), "{said}");
}

/// A claim that is not in a source without claims may exist: no answer says otherwise, and none proposes to create it.
#[test]
fn an_object_of_a_kind_that_the_source_lacks_may_exist() {
    let folder = tempfile::tempdir().unwrap();
    let pod = |spec: serde_json::Value| {
        let mut pod = serde_json::json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c"}]}, "status": {"phase": "Pending"}});
        pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        pod
    };
    let node = serde_json::json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}});
    let dump = |name: &str, pod: &serde_json::Value, kinds: &[(&str, &str)]| {
        let mut lists = vec![serde_json::json!({"kind": "List", "apiVersion": "v1", "items": [node, pod]}).to_string()];
        let empty = |(kind, version): &(&str, &str)| format!(r#"{{"kind":"{kind}List","apiVersion":"{version}","items":[]}}"#);
        lists.extend(kinds.iter().map(empty));
        let path = folder.path().join(name);
        std::fs::write(&path, lists.join("\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let claims = pod(serde_json::json!({"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}));
    let devices = pod(serde_json::json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}));
    let of_claims = [("PersistentVolumeClaim", "v1"), ("PersistentVolume", "v1"), ("StorageClass", "storage.k8s.io/v1")];
    let of_devices = [("ResourceClaim", "resource.k8s.io/v1"), ("DeviceClass", "resource.k8s.io/v1")];
    for (name, pod, kind, kinds) in
        [("claims", &claims, "PersistentVolumeClaim", &of_claims[..]), ("devices", &devices, "ResourceClaim", &of_devices[..])]
    {
        let (without, with) = (dump(name, pod, &[]), dump(&format!("{name}-listed"), pod, kinds));
        let (code, text, _) = run(&["explain", "shop/web", "--from", &without]);
        let gap = format!("The source contains no {kind}s: ");
        assert!(code == 1 && text.contains(&gap), "{text}");
        assert!(!text.contains("does not exist"), "{text}");
        let (_, fixes, _) = run(&["explain", "shop/web", "--fixes", "--from", &without]);
        assert!(!fixes.contains("create ") && fixes.contains("exists is unknown"), "{fixes}");
        let (_, overview, _) = run(&["explain", "-A", "--pending", "--from", &without]);
        assert!(!overview.contains("does not exist") && !overview.contains("create "), "{overview}");
        let (_, text, _) = run(&["explain", "shop/web", "--from", &with]);
        assert!(!text.contains(&gap) && !text.contains("is unknown"), "{text}");
    }
}

/// Two dumps have one scheduler: its log gives the configuration of both.
#[test]
fn a_log_configures_both_dumps_that_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let dump = |version: u32| {
        format!(
            r#"{{"kind": "List", "apiVersion": "v1", "items": [
            {{"kind": "Node", "apiVersion": "v1", "metadata": {{"name": "a", "uid": "n"}}, "spec": {{"taints": [{{"key": "x", "effect": "NoSchedule"}}]}},
             "status": {{"allocatable": {{"cpu": "{version}", "pods": "9"}}}}}},
            {{"kind": "Pod", "apiVersion": "v1", "metadata": {{"name": "web", "namespace": "shop", "uid": "p"}},
             "spec": {{"schedulerName": "mine", "containers": [{{"name": "c", "resources": {{"requests": {{"cpu": "2"}}}}}}]}}, "status": {{"phase": "Pending"}}}}]}}"#
        )
    };
    let config = r"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: mine\n  plugins:\n    multiPoint:\n      disabled:\n      - name: TaintToleration\n";
    let log = format!(
        "I1120 18:25:28.000001       1 server.go:183] \"Starting Kubernetes Scheduler\" version=\"v1.36.2\"\n\
         I1120 18:25:28.000002       1 configfile.go:102] \"Using component config\" config=\"{config}\"\n"
    );
    let (old, new, log) = (write("old.json", &dump(1)), write("new.json", &dump(2)), write("scheduler.log", &log));
    let (code, answer, said) = run(&["diff", &old, &new, "--scheduler-log", &log, "--config-from-log", "-o", "json"]);
    assert_eq!(code, 1, "{said}");
    // The log's profile has the pod's name, and does not look at taints.
    assert!(answer.contains("\"outcome\": \"unschedulable\"") && answer.contains("\"outcome\": \"scheduled\""), "{answer}");
    let (code, _, said) = run(&["diff", &old, &new, "--config-from-log"]);
    assert_eq!((code, said.contains("name one with --scheduler-log")), (2, true), "{said}");
}
