use super::*;

const PLAIN: &str = r#"I1122 10:15:35.117990       1 schedule_one.go:123] "Attempting to schedule pod" pod="a/b""#;

#[test]
fn every_prefix_goes_and_says_who_wrote() {
    let rows = [
        ("", "", None),
        ("[pod/kube-scheduler-cp-1/kube-scheduler] ", "kube-scheduler-cp-1/kube-scheduler", None),
        ("2026-11-22T10:15:35.117991234Z ", "", Some(())),
        ("2026-11-22T10:15:35.117991234Z stderr F ", "", Some(())),
        ("2026-11-22T11:15:35.117991+01:00 stderr F ", "", Some(())),
        ("[pod/s/kube-scheduler] 2026-11-22T10:15:35.117991234Z ", "s/kube-scheduler", Some(())),
        ("Nov 22 10:15:35 cp-1 kube-scheduler[1312]: ", "cp-1", None),
        ("2026-11-22T10:15:35+00:00 cp-1 k3s[99]: ", "cp-1", Some(())),
        ("kube-scheduler-cp-1 kube-scheduler ", "kube-scheduler-cp-1 kube-scheduler", None),
    ];
    for (prefix, source, time) in rows {
        let line = format!("{prefix}{PLAIN}");
        let found = strip(line.as_bytes());
        assert_eq!((&*found.text, &*found.source), (PLAIN.as_bytes(), source.as_bytes()), "{prefix}");
        assert_eq!(found.time.is_some(), time.is_some(), "{prefix}");
        let value = format!("{prefix}\tNode name: a");
        if !prefix.starts_with("kube-scheduler-cp-1 ") {
            assert_eq!(&*strip(value.as_bytes()).text, b"\tNode name: a", "{prefix}");
        }
    }
}

#[test]
fn prefixes_are_removed_up_to_a_number() {
    let line = "I1122 10:00:00.000000       1 a.go:1] \"m\"";
    let prefixed = |number: usize| format!("{}{line}", "2026-11-22T08:00:00.000001Z ".repeat(number));
    assert_eq!(strip(prefixed(LOG_PREFIXES).as_bytes()).text, line.as_bytes());
    assert_ne!(strip(prefixed(LOG_PREFIXES + 1).as_bytes()).text, line.as_bytes());
}

#[test]
fn envelopes_are_opened() {
    let docker = serde_json::json!({"log": format!("{PLAIN}\n"), "stream": "stderr", "time": "2026-11-22T10:15:35.1Z"}).to_string();
    let found = strip(docker.as_bytes());
    assert_eq!((&*found.text, found.partial, found.time.is_some()), (PLAIN.as_bytes(), false, true));
    let journal = serde_json::json!({"MESSAGE": PLAIN, "_HOSTNAME": "cp-1", "__REALTIME_TIMESTAMP": "1795342656805663"}).to_string();
    let found = strip(journal.as_bytes());
    assert_eq!((&*found.text, &*found.source, found.time), (PLAIN.as_bytes(), b"cp-1".as_slice(), Some(1_795_342_656_805_663)));
    for partial in [r#"{"log":"I1122 10","time":"x"}"#, "2026-11-22T10:15:35.1Z stderr P I1122 10"] {
        let found = strip(partial.as_bytes());
        assert!(found.partial && &*found.text == b"I1122 10", "{partial}");
    }
}

#[test]
fn anything_else_stays_as_it_is() {
    for line in ["", "{", "[pod/", "kind: Pod", "2026", "2026-99-99T10:15:35Z x", "Nov 22 10:15:35 cp-1 x", "{\"ts\":1}", "\u{1}\u{2}"] {
        assert_eq!(&*strip(line.as_bytes()).text, line.as_bytes(), "{line}");
    }
}
