//! Pictures of the screen, drawn without a terminal.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn print(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for name in ["NO_COLOR", "COLORTERM", "TERM", "LC_ALL", "LANG"] {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nowhere").env("XDG_STATE_HOME", "/dev/null").envs(variables.iter().copied());
    command.output().expect("it starts")
}

#[test]
fn keys_are_pressed_and_the_screen_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, variables: &[(&str, &str)], more: &[&str]| {
        let output = print(folder.path(), variables, &[&["demo", "payments", "--print", name], more].concat());
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        std::fs::read_to_string(folder.path().join(name)).expect("it was written")
    };
    let keys = ["--size", "100x30", "--keys", ": 'pod shop/payments' enter 3 j"];
    let text = file("a.txt", &[], &keys);
    assert!(text.lines().count() == 30 && text.contains("★ worker-a2") && text.contains("▸3 Preemption"), "{text}");
    let picture = file("a.svg", &[], &keys);
    assert!(picture.contains("width=\"860\" height=\"530\"") && picture.contains("#94cf8e"), "{picture}");
    // Byte for byte the same, whatever the terminal.
    assert_eq!(file("b.svg", &[("TERM", "dumb"), ("LC_ALL", "C")], &keys), picture);
    let light = file("c.svg", &[], &["--theme", "light"]);
    assert!(light.contains("fill=\"#ffffff\""), "{light}");
    let plain = file("d.svg", &[("NO_COLOR", "1")], &keys);
    assert!(!plain.contains("#94cf8e"), "{plain}");
    // The picture is drawn after long jobs have finished.
    let settled = file("e.txt", &[], &["--keys", "S"]);
    assert!(settled.contains("settled after"), "{settled}");
    let moving = file("g.svg", &[], &["--size", "100x30", "--animate", "1.5", "--keys", ": 'pod shop/payments' enter"]);
    assert_eq!(moving.matches("<g class=\"f\">").count(), 4, "a screen before the first key and after each");
    let steps = file("h.html", &[], &["--size", "100x30", "--animate", "1.5", "--keys", ": 'pod shop/payments' enter"]);
    assert_eq!(steps.matches("<section class=\"step\"").count(), 4, "a screen before the first key and after each");
    let page = file("i.html", &[], &keys);
    assert!(page.matches("<section ").count() == 1 && page.contains("worker-a2") && !page.contains("<a "), "{page}");
    let source = file("f.txt", &[], &["--keys", "1 y"]);
    assert!(source.contains("kind: Pod"), "{source}");
}

/// The pictures in the README equal the output of the README's own commands. `INSTA_UPDATE=always` recreates them, as it
/// does other pictures of the screen.
#[test]
fn the_readme_s_pictures_are_up_to_date() {
    let readme = concat!(include_str!("../../README.md"), include_str!("../../docs/tickets.md"));
    for name in ["explorer.svg", "journey.svg"] {
        let start = format!("schedscope demo payments --print {name}");
        let line = readme.lines().find(|l| l.starts_with(&start)).expect("the command");
        assert!(readme.contains(&format!("fixtures/screens/{name})")), "{name} is shown");
        let (before, keys) = line.split_once(" --keys ").expect("keys");
        let args: Vec<&str> = before.split(' ').skip(1).chain(["--keys", keys.trim_matches('"')]).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let output = print(folder.path(), &[], &args);
        assert!(output.status.success(), "{output:?}");
        let made = std::fs::read_to_string(folder.path().join(name)).expect("it was written");
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens").join(name);
        if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
            std::fs::write(&kept, &made).expect("it can be written");
        }
        let same = std::fs::read_to_string(&kept).is_ok_and(|kept| kept == made);
        assert!(same, "{} is not what the screen looks like; INSTA_UPDATE=always makes it anew", kept.display());
    }
}

#[test]
fn a_pod_that_is_in_no_queue_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let pod = |name: &str, spec: &str| format!("{{kind: Pod, apiVersion: v1, metadata: {{name: {name}, namespace: shop}}, spec: {spec}}}");
    let list = format!(
        "{}\n---\n{}\n---\n{{kind: Node, apiVersion: v1, metadata: {{name: n1}}}}\n",
        pod("elsewhere", "{schedulerName: my-scheduler}"),
        pod("bound", "{nodeName: n1}")
    );
    std::fs::write(folder.path().join("dump.yaml"), list).expect("a file");
    for (pod, words) in [
        ("shop/elsewhere", "Pod shop/elsewhere belongs to the scheduler my-scheduler, which is not emulated"),
        ("shop/bound", "Pod shop/bound is not waiting to be scheduled: it is on n1"),
        ("shop/none", "there is no Pod shop/none in the source"),
    ] {
        let output = print(folder.path(), &[], &["open", "dump.yaml", "--pod", pod, "--print", "a.txt"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(words), "{error}");
    }
}

#[test]
fn what_cannot_be_written_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("there.svg"), "").expect("a file");
    for (args, words) in [
        (&["--print", "there.svg"][..], "there.svg already exists; it is not overwritten"),
        (&["--print", "a.png"], "a.png: the screen can be written to a file that ends in .svg, .html or .txt"),
        (&["--print", "a.svg", "--keys", "xx"], "--keys: \"xx\" is not a key"),
        (&["--print", "a.svg", "--keys", "f9"], "--keys: f9 is not bound where it is pressed"),
        (&["--print", "a.svg", "--keys", "'word'"], "--keys: \"word\" is not bound where it is pressed"),
        (&["--print", "a.svg", "--keys", "q"], "--keys: q leaves before the screen is written"),
        (&["--print", "a.svg", "--size", "0x9"], "expected COLUMNSxROWS, each from 1 to 1000, for example 120x40"),
        (
            &["--print", "a.txt", "--animate", "1"],
            "--animate: only a picture or a page, a file that ends in .svg or .html, can be animated",
        ),
        (&["--print", "a.svg", "--animate", "0"], "expected seconds from 0.1 to 60, for example 1.5"),
        (&["--print", "a.svg", "--pod", "shop/nobody"], "there is no Pod shop/nobody in the source"),
        (&["--print", "a.svg", "--workload", "deploy/none"], "there is no workload deploy/none in the source"),
        (&["--print", "a.svg", "--workload", "deploy/none", "--pod", "shop/x"], "cannot be used with"),
        (&["--size", "80x24"], "--print"),
    ] {
        let output = print(folder.path(), &[], &[&["demo"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(words), "{args:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing was written");
}

#[test]
fn the_page_of_a_workload_comes_first_if_it_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, words) in [("long", "deployment/shop/spread"), ("short", "spread")] {
        let file = format!("{name}.txt");
        let output = print(folder.path(), &[], &["demo", "payments", "--workload", words, "--print", &file]);
        assert!(output.status.success(), "{output:?}");
        let screen = std::fs::read_to_string(folder.path().join(&file)).expect("a screen");
        assert!(screen.contains("Workload deployment/spread"), "{screen}");
        assert!(screen.contains("5 pods have no node") && !screen.contains("not decided yet"), "{screen}");
    }
}

/// The odds of a decision are in text and JSON, and the start of the dry run can be chosen.
#[test]
fn explain_tells_the_odds_and_run_starts_the_dry_run_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = |args: &[&str]| {
        let output = print(folder.path(), &[], &[args, &["--demo", "payments"]].concat());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let text = output(&["explain", "payments", "-n", "shop"]);
    assert!(text.contains("ODDS (equal candidates)\n  worker-a2 in 1 of 2 cases, else another node\n"), "{text}");
    let decision: serde_json::Value = serde_json::from_str(&output(&["explain", "payments", "-n", "shop", "-o", "json"])).expect("JSON");
    assert_eq!(decision["odds"]["node"], serde_json::json!({"worker-a2": "1/2", "worker-b1": "1/2"}));
    let first_dry_run = |args: &[&str]| {
        let lines = output(&[&["run", "-o", "json"], args].concat());
        let sampling = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["sampling"].clone();
        lines.lines().map(sampling).find(|sampling| sampling["dryRun"].is_array()).expect("a dry run")
    };
    let (usual, moved) = (first_dry_run(&[]), first_dry_run(&["--dry-run-offset", "3"]));
    assert_eq!((&usual["offset"], &moved["offset"]), (&0.into(), &3.into()));
    assert_eq!(usual["candidates"], moved["candidates"]);
}
