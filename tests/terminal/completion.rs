//! Completion of contexts and namespaces, as a shell asks for it.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_schedscope");

const KUBECONFIG: &str = r"
current-context: prod
contexts:
- {name: prod, context: {cluster: east, user: me, namespace: shop}}
- {name: 'arn:aws:eks:eu-1:1:cluster/a', context: {cluster: east, user: me}}
- {name: 'arn:aws:eks:eu-1:1:cluster/b', context: {cluster: east, user: me}}
clusters:
- {name: east, cluster: {server: 'https://127.0.0.1:1'}}
users:
- {name: me, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: [-c, touch ran], interactiveMode: Never}}}
";

fn with_home(command: &mut Command, home: &Path) -> Output {
    command.current_dir(home).env("HOME", home).env_remove("KUBECONFIG").output().unwrap()
}

/// Returns a home folder with a kubeconfig and a dump.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".kube")).unwrap();
    std::fs::write(home.path().join(".kube/config"), KUBECONFIG).unwrap();
    let pod = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"from-dump"}}"#;
    std::fs::write(home.path().join("dump.json"), pod).unwrap();
    home
}

#[test]
fn names_come_from_files_and_nothing_is_said_about_what_fails() {
    let home = home();
    std::fs::write(home.path().join("broken"), "contexts: [{name: a, user: {token: hidden}}\n- x").unwrap();
    for (words, expected) in [
        (&["live", "--context", ""][..], "arn:aws:eks:eu-1:1:cluster/a\narn:aws:eks:eu-1:1:cluster/b\nprod\n"),
        (&["live", "--context=p"], "prod\n"),
        (&["explain", "web", "-n", ""], "default\nkube-system\nshop\n"),
        (&["explain", "web", "--from", "dump.json", "-n", ""], "from-dump\n"),
        (&["explain", "web", "--from", "nowhere.json", "-n", ""], ""),
        (&["explain", "web", "--from", "broken", "-n", ""], ""),
        (&["live", "--kubeconfig", "broken", "--context", ""], ""),
        (&["live", "--theme", ""], ""),
        (&[], ""),
    ] {
        let output = with_home(Command::new(PROGRAM).arg("__complete").args(words), home.path());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{words:?}");
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    }
    assert!(!home.path().join("ran").exists(), "no program for credentials was run");
}

/// The source may be named after the word that is completed.
#[test]
fn bash_reads_what_follows_the_cursor() {
    let home = home();
    let script = with_home(Command::new(PROGRAM).args(["completions", "bash"]), home.path()).stdout;
    std::fs::write(home.path().join("completion.bash"), script).unwrap();
    for (before, after, expected) in [
        ("schedscope explain shop/paym", " --demo payments", "shop/payments"),
        ("schedscope explain paym", " -n shop --demo payments", "payments"),
        ("schedscope explain web -n from", " --from dump.json", "from-dump"),
    ] {
        let ask = format!(
            "source completion.bash; schedscope() {{ '{PROGRAM}' \"$@\"; }}; COMP_LINE={:?}; COMP_POINT={}; \
             COMP_WORDS=({before}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _schedscope_or_names schedscope \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[*]}}\"",
            format!("{before}{after}"),
            before.len()
        );
        let output = with_home(Command::new("bash").args(["--norc", "--noprofile", "-c", &ask]), home.path());
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected, "{before}|{after}: {output:?}");
    }
}

/// Sources the script in bash, and completes a line as readline asks for it: with the words that it breaks at `:` and `=` too.
#[test]
fn bash_completes_the_part_that_it_replaces() {
    let home = home();
    let script = with_home(Command::new(PROGRAM).args(["completions", "bash"]), home.path()).stdout;
    std::fs::write(home.path().join("completion.bash"), script).unwrap();
    for (line, words, expected) in [
        ("schedscope live --context ", "schedscope live --context ''", "arn:aws:eks:eu-1:1:cluster/a arn:aws:eks:eu-1:1:cluster/b prod"),
        ("schedscope live --context pr", "schedscope live --context pr", "prod"),
        ("schedscope live --context=pr", "schedscope live --context = pr", "prod"),
        (
            "schedscope live --context arn:aws:eks:eu-1:1:cl",
            "schedscope live --context arn : aws : eks : eu-1 : 1 : cl",
            "cluster/a cluster/b",
        ),
        ("schedscope explain web -n s", "schedscope explain web -n s", "shop"),
        ("schedscope run --demo payments --what-if dr", "schedscope run --demo payments --what-if dr", "drain"),
        (
            "schedscope run --demo payments --what-if 'drain worker-a",
            "schedscope run --demo payments --what-if 'drain worker-a'",
            "drain worker-a1 drain worker-a2 drain worker-a3",
        ),
        // bash leaves the quotation open where there are two ways on.
        ("schedscope run --demo payments --what-if 'dr", "schedscope run --demo payments --what-if dr", "drain  drain ..."),
        ("schedscope explain --demo payments shop/paym", "schedscope explain --demo payments shop/paym", "shop/payments"),
        ("schedscope schema wor", "schedscope schema wor", "workload"),
        // Everything else is left to the generated part.
        ("schedscope demo --theme high", "schedscope demo --theme high", "high-contrast"),
        ("schedscope cap", "schedscope cap", "capture"),
    ] {
        let ask = format!(
            "source completion.bash; schedscope() {{ '{PROGRAM}' \"$@\"; }}; COMP_LINE={line:?}; COMP_POINT=${{#COMP_LINE}}; \
             COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _schedscope_or_names schedscope \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let output = with_home(Command::new("bash").args(["--norc", "--noprofile", "-c", &ask]), home.path());
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected, "{line}: {output:?}");
    }
}
