//! Tickets: each is about what is on the screen, and every command in it works.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(folder: &Path, args: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", "/nowhere").env("XDG_STATE_HOME", "/dev/null");
    command.output().expect("it starts")
}

/// Presses keys in a demo and returns the ticket that they write.
fn ticket(folder: &Path, keys: &str) -> String {
    let _ = std::fs::remove_file(folder.join("t.md"));
    let _ = std::fs::remove_file(folder.join("screen.txt"));
    let args = ["demo", "payments", "--print", "screen.txt", "--keys", keys].map(str::to_owned);
    let output = run(folder, &args);
    assert!(output.status.success(), "{keys}: {output:?}");
    let screen = std::fs::read_to_string(folder.join("screen.txt")).unwrap_or_default();
    std::fs::read_to_string(folder.join("t.md")).unwrap_or_else(|error| panic!("{keys}: {error}\n{screen}"))
}

/// Splits a command as a shell does, as far as single quotes go.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

/// Runs every command of a ticket about this program, and returns them. Objects that `kubectl` is given exist.
fn commands(folder: &Path, ticket: &str) -> Vec<String> {
    let source = include_str!("../../fixtures/stories/payments.yaml");
    let mut found = Vec::new();
    let mut in_code = false;
    for line in ticket.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code && line.starts_with("schedscope ") {
            let output = run(folder, &words(line)[1..]);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {output:?}");
            assert!(!output.stdout.is_empty(), "{line}");
            found.push(line.to_owned());
        } else if in_code && line.starts_with("kubectl ") {
            let all = words(line);
            let name = match all[1].as_str() {
                "uncordon" => &all[2],
                "taint" | "delete" | "patch" | "get" => &all[3],
                _ => continue,
            };
            assert!(source.contains(name.as_str()), "{line}");
        }
    }
    found
}

const DEPLOYMENT: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: x, resources: {requests: {cpu: "2"}}}]
"#;

#[test]
fn every_ticket_is_about_what_is_on_the_screen_and_its_commands_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let export = ": 'export t.md' enter";
    for (keys, title, contains, command) in [
        (String::new(), "# Pending pods", "preemption helps", "schedscope explain --pending -A --demo payments -o markdown"),
        (
            ": 'pod shop/payments' enter".to_owned(),
            "# shop/payments is pending",
            "## Preemption",
            "schedscope explain payments -n shop --demo payments --fixes -o markdown",
        ),
        (
            ": 'drain worker-a1' enter esc".to_owned(),
            "# ",
            "worker-a1",
            "schedscope run --what-if 'drain worker-a1' --demo payments -o markdown",
        ),
        (
            ": 'pod shop/payments' enter : 'drain worker-a1' enter esc".to_owned(),
            "# shop/payments ",
            "## ",
            "schedscope run --what-if 'drain worker-a1' --demo payments -o markdown",
        ),
    ] {
        let keys = if keys.is_empty() { export.to_owned() } else { format!("{keys} {export}") };
        let text = ticket(folder.path(), &keys);
        assert!(text.starts_with(title) && text.contains(contains), "{keys}\n{text}");
        assert_eq!(commands(folder.path(), &text), [command], "{keys}\n{text}");
        assert!(!text.contains(" changes\n") && !text.contains("- schedule "), "the command makes the steps: {text}");
        assert!(text.lines().filter(|line| !line.starts_with('|') && !line.starts_with('-')).all(|line| line.len() < 1500), "{text}");
    }
    // A manifest, from its answer and from the overview.
    std::fs::write(folder.path().join("dep.yaml"), DEPLOYMENT).expect("written");
    for keys in
        [": 'apply dep.yaml' enter p 't.md' enter", ": 'apply dep.yaml' enter esc : 'pod shop/payments' enter : 'export t.md' enter"]
    {
        let text = ticket(folder.path(), keys);
        assert!(
            text.contains("With what-if: apply dep.yaml. The cluster itself is not changed.") && !text.contains("apply workload"),
            "{text}"
        );
        let own = commands(folder.path(), &text);
        assert_eq!(own, ["schedscope explain -f dep.yaml --demo payments -o markdown"], "{keys}\n{text}");
    }
    // That command does not make other changes.
    let text = ticket(folder.path(), ": 'cordon worker-a1' enter : 'apply dep.yaml' enter p 't.md' enter");
    assert!(!text.contains("explain -f") && text.contains("- cordon worker-a1"), "{text}");
    // Texts over the screen: fixes of a pod, and a comparison.
    let text = ticket(folder.path(), "1 x p 't.md' enter");
    assert!(text.starts_with("# Fixes for ") && text.contains("## Fixes"), "{text}");
    assert_eq!(commands(folder.path(), &text).len(), 1, "{text}");
    let text = ticket(folder.path(), ": 'workload deployment/shop/spread' enter p 't.md' enter");
    assert!(text.starts_with("# Workload deployment/spread") && text.contains("wanted"), "{text}");
    let command = "schedscope explain deployment/spread -n shop --demo payments -o markdown";
    assert_eq!(commands(folder.path(), &text), [command], "{text}");
    let text = ticket(folder.path(), ": 'drain worker-a1' enter esc = p 't.md' enter");
    assert!(text.contains("compared with") && text.contains("Both are compared after running until nothing changes."), "{text}");
    assert_eq!(commands(folder.path(), &text), ["schedscope run --what-if 'drain worker-a1' --demo payments -o markdown"], "{text}");
}

#[test]
fn many_pods_and_what_ifs_are_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let markdown = |args: &str| {
        let args: Vec<String> = words(args);
        let output = run(folder.path(), &args);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let pending = markdown("explain --pending -A --demo payments -o markdown");
    assert!(pending.contains("| Pods | Cause | Preemption | Fix |") && pending.contains("## Causes"), "{pending}");
    let drained = markdown("run --demo payments --what-if 'drain worker-a1' -o markdown");
    assert!(drained.starts_with("# What if\n") && !drained.contains("```"), "{drained}");
}
