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
        assert_eq!(text.contains("a restarted scheduler pops them in random order: each is first in 1 of "), random, "{release}: {text}");
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
    let (code, json, _) = demo(&["-n", "batch", "-l", "app=spread", "-o", "json"]);
    assert_eq!((code, json.as_str()), (0, ""));
    assert_eq!(demo(&["-l", "app in (a)"]).0, 2);
    assert_eq!(demo(&["shop/payments", "-A"]).0, 2);
    assert_eq!(demo(&["-A"]).0, 2);
}
