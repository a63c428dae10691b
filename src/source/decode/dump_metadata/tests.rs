//! Tests of `dump_metadata`.

use super::*;

#[test]
fn times_are_found_in_texts_and_names() {
    for (text, expected) in [
        ("2021-06-14 13:05:26.5 +0000 UTC m=+0.1\n2021-06-14 15:06:00 +0200 CEST m=+34\n", Some("2021-06-14T13:06:00Z")),
        ("bundleCreatedAt: \"2026-01-02T03:04:05Z\"", Some("2026-01-02T03:04:05Z")),
        ("nothing\n\u{fc}\u{fc} a \u{fc}\u{fc}b", None),
    ] {
        assert_eq!(last_time(text).map(|t| t.to_string()).as_deref(), expected, "{text}");
    }
    for (name, expected) in [
        ("a/202601021504_sonobuoy_0b.tar.gz", Some("2026-01-02T15:04:00")),
        ("support-bundle-2026-01-02T15_04_05.tar.gz", Some("2026-01-02T15:04:05")),
        ("support-bundle-2026", None),
        ("support-bundle-\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}", None),
        ("209901", None),
    ] {
        assert_eq!(time_in_name(name).map(|t| t.to_string()).as_deref(), expected, "{name}");
    }
}

#[test]
fn versions_are_found_in_their_files() {
    for (text, expected) in [
        (r#"{"major":"1","gitVersion":"v1.31.2"}"#, Some("v1.31.2")),
        (r#"{"info":{"gitVersion":"v1.30.0"},"string":"v1.30.0"}"#, Some("v1.30.0")),
        ("projectName: Longhorn\nkubernetesVersion: v1.29.1+k3s1\n", Some("v1.29.1+k3s1")),
        (r#"{"gitVersion":"unknown"}"#, None),
        ("{}", None),
        (": [", None),
    ] {
        assert_eq!(server_version(text).as_deref(), expected, "{text}");
    }
    let long = format!(r#"{{"serverVersion":{{"gitVersion":"v1.31.2"}},"x":"{}"}}"#, "y".repeat(VERSION_TEXT));
    assert!(of_kindless(long.as_bytes(), Syntax::Json).is_none_or(|m| m.version.is_none()));
    for (text, expected) in [
        (r#"{"clientVersion":{"gitVersion":"v1.35.0"},"serverVersion":{"gitVersion":"v1.31.2"}}"#, Some("v1.31.2")),
        ("clientVersion: {gitVersion: v1.35.0}\nserverVersion: {gitVersion: v1.30.1-gke.1}\n", Some("v1.30.1-gke.1")),
        (r#"{"major":"1","minor":"29","gitVersion":"v1.29.1"}"#, Some("v1.29.1")),
        (r#"{"gitVersion":"v1.29.1"}"#, None),
        (r#"{"clientVersion":{"gitVersion":"v1.35.0"}}"#, None),
        (r#"{"serverVersion":{"gitVersion":"latest"}}"#, None),
    ] {
        let syntax = if text.starts_with('{') { Syntax::Json } else { Syntax::Yaml };
        let found = of_kindless(text.as_bytes(), syntax).and_then(|m| m.version);
        assert_eq!(found.map(|(version, _)| version).as_deref(), expected, "{text}");
    }
    let operator = |name: &str, version: &str| {
        let text = format!(
            "metadata: {{name: {name}}}\nstatus: {{versions: [{{name: operator, version: 4.8.0}}, {{name: kube-scheduler, version: {version}}}]}}"
        );
        of_configuration("ClusterOperator", text.as_bytes(), Syntax::Yaml).and_then(|m| m.version).map(|(version, _)| version)
    };
    assert_eq!(operator("kube-scheduler", "1.21.1").as_deref(), Some("v1.21.1"));
    assert_eq!((operator("kube-scheduler", "4.8.0"), operator("etcd", "1.21.1")), (None, None));
    for (text, expected) in [
        ("null", None),
        ("[]", None),
        ("{}", None),
        (r#"{"shop":"pods is forbidden"}"#, Some("shop: \"pods is forbidden\"")),
        (r#"["a\nb"]"#, Some("a")),
    ] {
        assert_eq!(collection_error(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn options_are_shown_without_passwords() {
    for (word, expected) in [
        ("--config=/etc/kubernetes/scheduler.yaml", Some("--config=/etc/kubernetes/scheduler.yaml")),
        ("--feature-gates=A=true,B=false", Some("--feature-gates=A=true,B=false")),
        ("--config", Some("--config")),
        ("--config=http://bob:hunter2@h/?token=canary", Some("--config=http://h/")),
        ("--config=/x?token=canary", Some("--config=/x")),
        ("--kube-api-qps=50", Some("--kube-api-qps=50")),
        ("--kube-api-token=canary", None),
        ("--config-password=canary", None),
        ("--kubeconfig=/etc/x", None),
    ] {
        assert_eq!(shown_option(word).as_deref(), expected, "{word}");
    }
    let text = b"profiles: [{schedulerName: 'a?token=canary'}, {schedulerName: b}]";
    assert_eq!(of_configuration("KubeSchedulerConfiguration", text, Syntax::Yaml).unwrap().what, "KubeSchedulerConfiguration of a, b");
}

/// A file with a version costs no more than an object of its length may.
#[test]
fn versions_in_costly_files_are_not_looked_for() {
    let version = "gitVersion: v1.31.2\n";
    let aliases = format!("{version}a: &a [{}]\nb: [{}]\n", "x, ".repeat(1_000), "*a, ".repeat(1_000));
    let deep = format!("{version}a: {}{}\n", "[".repeat(2_000), "]".repeat(2_000));
    assert_eq!([version, &aliases, &deep].map(|text| server_version(text).is_some()), [true, false, false]);
}
