//! Untrusted text on its way to a terminal, a ticket or a file: no raw control characters, no credentials, and ordinary
//! errors if a stream is closed or full.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use schedscope::output::is_plain;
use serde_json::{Value, json};

/// Characters of each class that a terminal obeys or a reader cannot see, between letters; and a line that imitates one
/// of the program's own.
const CLASSES: &[(&str, &str)] = &[
    ("escape sequences", "a\u{1b}[2J\u{1b}]0;x\u{7}b"),
    ("line breaks", "a\nFORGED b\r\nFORGED c\rd\u{b}e\u{c}f"),
    ("other control characters", "a\0\u{1}\u{8}\t\u{7f}b"),
    ("C1", "a\u{80}\u{85}\u{9b}31m\u{9d}\u{9f}b"),
    ("directions", "a\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}b"),
    ("no width", "a\u{200b}\u{200d}\u{2060}\u{feff}\u{ad}b"),
    ("separators and tags", "a\u{2028}FORGED\u{2029}\u{e0041}\u{fff9}b"),
    ("markup", "a```\n# FORGED|<img src=x>`` b"),
];

fn run(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(args).current_dir(folder).stdin(Stdio::null()).env_clear();
    command.env("XDG_CONFIG_HOME", folder).env("XDG_STATE_HOME", "/dev/null").env("LC_ALL", "C.UTF-8").env("PATH", "/usr/bin:/bin");
    command.envs(variables.iter().copied()).output().expect("it starts")
}

/// Fails if a text contains raw control characters, or a line forged by input.
fn assert_plain(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    if let Some(c) = text.chars().find(|c| *c != '\n' && !is_plain(*c)) {
        panic!("{what}: {c:?} is raw in\n{text:?}");
    }
    assert!(!text.lines().any(|line| line.trim_start_matches(['#', ' ']).starts_with("FORGED")), "{what}: a line is forged in\n{text}");
}

/// A cluster in which every name and text is hostile.
fn cluster(text: &str) -> String {
    let pod = |name: &str, spec: Value, status: Value| {
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": text,
        "uid": name, "labels": {text: text}, "annotations": {text: text}}, "spec": spec, "status": status})
    };
    let container = |cpu: &str| json!([{"name": text, "image": text, "resources": {"requests": {"cpu": cpu, text: "1"}}}]);
    let condition = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text,
        "lastTransitionTime": "2026-11-20T10:00:00Z"}]);
    json!({"kind": "List", "apiVersion": "v1", "items": [
        {"kind": "Node", "apiVersion": "v1", "metadata": {"name": text, "uid": "n", "labels": {text: text}},
            "spec": {"taints": [{"key": text, "value": text, "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10", text: "1"}, "nodeInfo": {"kubeletVersion": text}}},
        {"kind": "Node", "apiVersion": "v1", "metadata": {"name": format!("{text}2"), "uid": "m"},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}},
        pod(text, json!({"schedulerName": "default-scheduler", "priority": 10, "priorityClassName": text, "containers": container("3"),
            "nodeSelector": {text: "x"}}), json!({"phase": "Pending", "conditions": condition})),
        pod("low", json!({"schedulerName": "default-scheduler", "priority": 1, "nodeName": format!("{text}2"), "containers": container("3")}),
            json!({"phase": "Running"})),
        pod("high", json!({"schedulerName": "default-scheduler", "priority": 5, "containers": [{"name": "c",
            "resources": {"requests": {"cpu": "3"}}}], "tolerations": [{"key": text}]}), json!({"phase": "Pending", "conditions": condition})),
        pod("other", json!({"schedulerName": text, "containers": []}), json!({"phase": "Pending"})),
        {"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": text, "namespace": text},
            "spec": {"selector": {"matchLabels": {text: text}}}, "status": {"disruptionsAllowed": 0}},
        {"kind": "Event", "apiVersion": "v1", "metadata": {"name": text, "namespace": text}, "involvedObject": {"kind": "Pod",
            "namespace": text, "name": text, "uid": text}, "reason": "FailedScheduling", "message": format!("0/2 nodes are available: {text}"),
            "reportingComponent": "default-scheduler", "lastTimestamp": "2026-11-20T10:00:00Z"},
        {"kind": text, "apiVersion": text, "metadata": {"name": text}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": text, "namespace": "broken"}, "spec": {"containers": text}},
    ]})
    .to_string()
}

/// Whether a text is part of a string or key.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(list) => list.iter().any(|value| holds(value, text)),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains(text) || holds(value, text)),
        _ => false,
    }
}

#[test]
fn nothing_raw_leaves_whatever_comes_in() {
    for (class, text) in CLASSES {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        fs::write(folder.join("c.json"), cluster(text)).unwrap();
        // File names contain neither separators nor NUL.
        let file = format!("{}.yaml", text.replace(['/', '\0'], "_"));
        fs::write(folder.join(&file), format!("kind: Pod\nspec: [{text}\n")).unwrap();
        let mut tar = tar::Builder::new(GzEncoder::new(fs::File::create(folder.join("a.tgz")).unwrap(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.set_size(9);
        header.set_mode(0o644);
        tar.append_data(&mut header, &file, &b"kind: [x\n"[..]).unwrap();
        tar.into_inner().unwrap().finish().unwrap();
        let config = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{}: 1\nprofiles: [{{schedulerName: {0}}}]\n",
            serde_json::to_string(text).unwrap()
        );
        fs::write(folder.join("config.yaml"), config).unwrap();
        let quoted = serde_json::to_string(text).unwrap();
        fs::write(
            folder.join("kubeconfig"),
            format!("current-context: {quoted}\ncontexts: [{{name: {quoted}, context: {{cluster: {quoted}}}}}]\n"),
        )
        .unwrap();
        fs::write(folder.join("ops.json"), format!("[{{\"op\": {quoted}}}]")).unwrap();
        fs::create_dir_all(folder.join("schedscope")).unwrap();
        fs::write(folder.join("schedscope/config.toml"), format!("theme = {quoted}\n{quoted} = 1\n")).unwrap();
        let name = text.replace('\0', "");
        let source = ["--from", "c.json", &file, "a.tgz"];
        let check = |args: &[&str]| {
            let output = run(folder, &[], args);
            let what = format!("{class}: {args:?}");
            assert!(output.status.code().is_some_and(|code| code <= 3), "{what}: {output:?}");
            assert_plain(&what, &output.stdout);
            assert_plain(&what, &output.stderr);
            output
        };
        for format in ["text", "wide", "json", "yaml", "markdown", "html"] {
            for pod in [&name, "high"] {
                let output = check(&[&["explain", pod, "-n", &name, "-o", format][..], &source].concat());
                if format == "json" && !text.contains('\0') {
                    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
                    assert!(holds(&value, text), "{class}: {value}");
                }
            }
            check(&[&["explain", "--pending", "-A", "-o", format][..], &source].concat());
        }
        check(&[&["explain", "--pending", "-A", "-o", "metrics"][..], &source].concat());
        check(&[&["run"][..], &source].concat());
        check(&[&["run", "-o", "wide"][..], &source].concat());
        check(&[&["run", "-o", "json"][..], &source].concat());
        let capture = check(&[&["capture", "-"][..], &source].concat());
        assert!(capture.stdout.starts_with(b"{\"kind\":\""), "{class}");
        check(&["explain", "high", "-n", &name, "--from", "c.json", "--config", "config.yaml"]);
        check(&["run", "--from", "c.json", "--ops", "ops.json"]);
        check(&["run", "--from", "c.json", "--ops", &name]);
        for args in [
            &["explain", &name][..],
            &["explain", "x", "--from", &name],
            &["explain", "x", "--from", "c.json", "--feature-gates", &name],
            &["explain", "x", "--from", "c.json", "-o", &name],
            &["explain", "x", "--from", "c.json", "--emulate", &name],
            &["explain", "x", "--from", "c.json", "--config", &name],
            &["explain", "x", "--kubeconfig", "kubeconfig"],
            &["explain", "x", "--kubeconfig", "kubeconfig", "--context", &name],
            &["explain", "x", "--kubeconfig", &name],
            &["capture", "/nowhere/x", "--from", &name],
            &["demo", &name, "--print", "x.txt"],
            &["demo", "payments", "--print", &name],
            &["demo", "payments", "--print", "x.txt", "--pod", &name],
            &["demo", "payments", "--print", "x.txt", "--keys", &name],
            &["demo", "payments", "--print", "y.txt", "--theme", &name],
            &["demo", "payments", "--log", &format!("/nowhere/{name}")],
            &["completions", &name],
            &[&name],
            &[&format!("--{name}")],
        ] {
            check(args);
        }
        // The screen, on pages that show most of the input, and the files written from it.
        let keys = "c : 'export t.txt' enter : 'export t.md' enter : 'export t.yaml' enter : 'export screen s.svg' enter";
        for (number, keys) in [keys, "2 enter", "3", "4", "5", "i", "y", "S", "A", "?"].iter().enumerate() {
            let print = format!("screen{number}.txt");
            let output = check(&["open", "c.json", &file, "a.tgz", "--merge", "--print", &print, "--size", "160x50", "--keys", keys]);
            // Not every key has an effect everywhere; the files that are written are plain.
            if output.status.success() {
                assert_plain(&format!("{class}: {keys}"), &fs::read(folder.join(&print)).unwrap());
            }
        }
        assert!(folder.join("screen0.txt").exists() && folder.join("t.md").exists(), "{class}");
        for written in ["t.txt", "t.md", "t.yaml", "s.svg"] {
            assert_plain(&format!("{class}: {written}"), &fs::read(folder.join(written)).unwrap());
        }
    }
}

const SECRET: &str = "hunter2";

#[test]
fn credentials_are_nowhere() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let kubeconfig = |name: &str, cluster: &str, user: &str| {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\nclusters: [{{name: k, cluster: {cluster}}}]\nusers:\n- name: u\n  user: {user}\n"
        );
        fs::write(folder.join(name), text).unwrap();
    };
    let here = "{server: 'http://127.0.0.1:1'}";
    let plugin = |script: &str| {
        format!(
            "{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: sh, args: ['-c', '{script}', 'x{SECRET}'], \
             env: [{{name: TOKEN, value: {SECRET}}}], interactiveMode: Never}}}}"
        )
    };
    let token = format!("{{token: {SECRET}}}");
    kubeconfig("fails", here, &plugin(&format!("echo {SECRET}; echo {SECRET} >&2; exit 7")));
    kubeconfig("answers", here, &plugin(&format!("echo \"{{token: {SECRET}\"")));
    kubeconfig(
        "expires",
        here,
        &plugin(&format!(
            "echo \"{{\\\"kind\\\": \\\"ExecCredential\\\", \\\"status\\\": {{\\\"expirationTimestamp\\\": \\\"{SECRET}\\\", \\\"token\\\": \\\"{SECRET}\\\"}}}}\""
        )),
    );
    kubeconfig("server", &format!("{{server: 'http://me:{SECRET}@127.0.0.1:1'}}"), &token);
    kubeconfig("proxy", &format!("{{server: 'http://10.0.0.1', proxy-url: 'http://me:{SECRET}@127.0.0.1:1'}}"), &token);
    kubeconfig("noproxy", &format!("{{server: 'http://10.0.0.1', proxy-url: 'http://me:{SECRET}@ x'}}"), &token);
    kubeconfig("plain", "{server: 'http://10.0.0.1'}", &token);
    kubeconfig("control", here, &format!("{{token: \"a\\n{SECRET}\"}}"));
    kubeconfig("basic", here, &format!("{{username: me, password: {SECRET}}}"));
    fs::write(folder.join("broken"), format!("users:\n- name: u\n  user: {{token: {SECRET}\nclusters: ]\n")).unwrap();
    fs::write(folder.join("typed"), format!("users: {SECRET}\n")).unwrap();
    let mut said = Vec::new();
    let mut check = |variables: &[(&str, &str)], args: &[&str]| {
        let output = run(folder, variables, args);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains(SECRET), "{variables:?} {args:?}: {text}");
        said.push(text.clone());
        text
    };
    let proxy = format!("http://me:{SECRET}@127.0.0.1:1");
    let proxies: &[(&str, &str)] = &[("HTTP_PROXY", &proxy), ("HTTPS_PROXY", &proxy)];
    for name in ["fails", "answers", "expires", "server", "proxy", "noproxy", "plain", "control", "basic", "broken", "typed"] {
        for variables in [&[][..], proxies] {
            if name == "plain" && variables.is_empty() {
                // The address refuses connections.
                continue;
            }
            for args in [&["explain", "x"][..], &["capture", "x.json"]] {
                let text = check(variables, &[args, &["--kubeconfig", name]].concat());
                assert!(!text.is_empty(), "{name}");
            }
            let log = format!("{name}.log");
            check(variables, &["live", "--kubeconfig", name, "--print", "live.txt", "--log", &log]);
        }
    }
    let failed = check(&[], &["explain", "x", "--kubeconfig", "fails"]);
    assert!(failed.contains("the credential plugin ") && failed.contains("failed (exit status: 7); run it by hand, "), "{failed}");
    assert!(check(&[], &["explain", "x", "--kubeconfig", "broken"]).contains("failed to parse kubeconfig YAML at line "));
    let config = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
         extenders: [{{urlPrefix: 'https://me:{SECRET}@extender/x', filterVerb: filter, tlsConfig: {{insecure: true, keyData: {}}}}}]\n",
        "aHVudGVyMg==",
    );
    fs::write(folder.join("config.yaml"), config).unwrap();
    for format in ["text", "wide", "json", "yaml", "markdown", "html"] {
        let text = check(&[], &["explain", "payments", "-n", "shop", "--demo", "payments", "--config", "config.yaml", "-o", format]);
        assert!(text.contains("extender https://extender/x"), "{text}");
    }
    check(&[], &["run", "--demo", "payments", "--config", "config.yaml", "-o", "json"]);
    let keys = "c : 'save s.session' enter : 'capture c.json' enter : 'export t.md' enter i";
    check(&[], &["demo", "payments", "--config", "config.yaml", "--print", "s.svg", "--log", "demo.log", "--keys", keys]);
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut bytes = fs::read(&path).unwrap_or_default();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut text = Vec::new();
            GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
            bytes = text;
        }
        if [".log", ".session", ".svg", ".json", ".md", ".txt"].iter().any(|end| name.ends_with(end)) {
            files += 1;
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET) && !text.contains("aHVudGVyMg=="), "{name}: {text}");
        }
    }
    assert!(files >= 5 && folder.join("s.session").exists() && folder.join("demo.log").exists(), "{files}");
}

#[test]
fn a_saved_session_opens_in_any_layout() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let keys = "c : 'save s.gz' enter";
    assert!(run(folder, &[], &["demo", "payments", "--print", "a.txt", "--keys", keys]).status.success());
    let mut text = String::new();
    GzDecoder::new(fs::File::open(folder.join("s.gz")).unwrap()).read_to_string(&mut text).unwrap();
    let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let pretty: Vec<String> = values.iter().map(|value| serde_json::to_string_pretty(value).unwrap()).collect();
    fs::write(folder.join("plain"), &text).unwrap();
    fs::write(folder.join("pretty"), pretty.join("\r\n")).unwrap();
    fs::write(folder.join("array"), serde_json::to_string_pretty(&values).unwrap()).unwrap();
    let screen = |name: &str| {
        let print = format!("{name}.txt");
        let output = run(folder, &[], &["open", name, "--print", &print]);
        assert!(output.status.success(), "{name}: {output:?}");
        fs::read_to_string(folder.join(print)).unwrap()
    };
    let expected = screen("s.gz");
    assert!(expected.contains("rev 1/1"), "{expected}");
    for name in ["plain", "pretty", "array"] {
        assert_eq!(screen(name), expected, "{name}");
    }
}

/// Every printing command, on a stream that accepts nothing.
#[test]
fn a_full_disk_and_a_closed_pipe_are_ordinary_errors() {
    let home = tempfile::tempdir().unwrap();
    let commands: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["explain", "--help"],
        &["completions", "zsh"],
        &["info"],
        &["demo", "--list"],
        &["explain", "payments", "-n", "shop", "--demo", "payments"],
        &["explain", "--pending", "-A", "-o", "json", "--demo", "payments"],
        &["run", "--demo", "payments"],
        &["run", "-o", "json", "--demo", "payments"],
        &["capture", "-", "--demo", "payments"],
    ];
    let program = env!("CARGO_BIN_EXE_schedscope");
    for args in commands {
        let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        let start = || {
            let mut command = Command::new(program);
            command.args(*args).current_dir(home.path()).stdin(Stdio::null());
            command
        };
        let output = start().stdout(full()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        assert!(said.contains("standard output: No space left on device"), "{args:?}: {said}");
        // Without a stream for the message it still exits normally.
        let status = start().stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(3), "{args:?}");
        let mut child = start().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code <= 1) && !said.contains("standard output:"), "{args:?}: {output:?}");
    }
    // A reader that closes after one byte.
    let mut child = Command::new(program).args(["completions", "zsh"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code() == Some(0) && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn inputs_that_would_take_long_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    fs::write(folder.join("deep"), "[".repeat(80_000)).unwrap();
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(b"{\"format\":\"schedscope session\",\"x\":\"").unwrap();
    for _ in 0..100 {
        bomb.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    fs::write(folder.join("bomb"), bomb.finish().unwrap()).unwrap();
    for (args, expected) in [
        (&["explain", "x", "--demo", "payments", "--config", "deep"][..], "deep: brackets are nested too deeply"),
        (&["explain", "x", "--demo", "payments", "--config", "/dev/zero"], "/dev/zero: is not a regular file"),
        (&["run", "--demo", "payments", "--ops", "/dev/zero"], "/dev/zero: is not a regular file"),
        (&["run", "--demo", "payments", "--ops", "deep"], "deep: recursion limit exceeded"),
        (&["open", "bomb", "--print", "x.txt"], "bomb: this is not a saved session"),
    ] {
        let output = run(folder, &[], args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(2 | 3)) && said.contains(expected), "{args:?}: {said}");
    }
}

/// Too few threads, descriptors or too little memory give an error, not an abort.
#[test]
fn little_of_everything_is_an_ordinary_error() {
    let home = tempfile::tempdir().unwrap();
    for (limit, values) in [("-n", &["3", "4", "5", "6", "8", "10", "16"][..]), ("-v", &["300000", "500000", "1000000"])] {
        for value in values {
            for args in ["explain payments -n shop --demo payments", "demo payments --print x.txt", "capture - --demo payments"] {
                let script = format!("ulimit {limit} {value} && rm -f x.txt && exec {} {args}", env!("CARGO_BIN_EXE_schedscope"));
                let output = Command::new("/bin/sh").args(["-c", &script]).current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                let loads = said.contains("error while loading shared libraries");
                assert!(loads || output.status.code().is_some_and(|code| code <= 3), "ulimit {limit} {value}: {args}: {output:?}");
            }
        }
    }
}

/// Address space that the allocator reserved ahead would count.
#[cfg(target_os = "linux")]
#[test]
fn address_space_that_is_enough_gives_an_answer() {
    for kib in [400_000, 500_000, 600_000, 900_000, 1_150_000, 2_200_000] {
        let script = format!("ulimit -v {kib} && exec {} explain payments -n shop --demo payments", env!("CARGO_BIN_EXE_schedscope"));
        let output = Command::new("/bin/sh").args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{kib} KiB: {output:?}");
    }
}

/// Some limit leaves the program less than it wants and more than it needs to start.
#[cfg(target_os = "linux")]
#[test]
fn little_memory_ends_with_a_reason() {
    let ends = |kib: u64| {
        let script = format!("ulimit -v {kib} && exec {} explain payments -n shop --demo payments", env!("CARGO_BIN_EXE_schedscope"));
        let output = Command::new("/bin/sh").args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut limits = (4..200).map(|step| step * (6 << 10)).map(|kib| (kib, ends(kib)));
    let (kib, (code, said)) = limits.find(|(_, (_, said))| said.contains("out of memory")).unwrap();
    assert_eq!((code, said.trim()), (Some(3), format!("schedscope: out of memory: the system's limit is {} MiB", kib >> 10).as_str()));
}

/// The terminal is not read, so that writes to it block.
#[test]
fn a_signal_ends_the_explorer_though_nobody_reads_its_terminal() {
    let size = portable_pty::PtySize { rows: 60, cols: 200, pixel_width: 0, pixel_height: 0 };
    let pair = portable_pty::native_pty_system().openpty(size).expect("a pseudo terminal");
    let mut command = portable_pty::CommandBuilder::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(["demo", "payments"]);
    command.env("TERM", "xterm-256color");
    command.env("XDG_STATE_HOME", "/dev/null");
    let mut child = pair.slave.spawn_command(command).expect("the program starts");
    let id = child.process_id().expect("it runs").to_string();
    let modes = || format!("{:?}", pair.master.get_termios().expect("a terminal"));
    assert!(modes().contains("ICANON"));
    while modes().contains("ICANON") {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended");
        std::thread::yield_now();
    }
    // Frames are larger than what the terminal's driver holds: the program rests once it waits to write the rest.
    let mut keys = pair.master.take_writer().expect("a writer");
    keys.write_all(&b"?\x1b[A\x1b[B".repeat(60)).expect("keys");
    let work = || -> Vec<String> {
        let threads = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok()).collect()
    };
    let (mut before, mut since) = (work(), std::time::Instant::now());
    while since.elapsed() < std::time::Duration::from_secs(1) {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let now = work();
        if now != before {
            (before, since) = (now, std::time::Instant::now());
        }
    }
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().expect("kill").success());
    let begin = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            break status;
        }
        assert!(begin.elapsed() < std::time::Duration::from_secs(30), "it goes on");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(status.exit_code(), 143);
    assert!(begin.elapsed() > std::time::Duration::from_secs(1), "it could write");
    assert!(modes().contains("ICANON"), "{}", modes());
}

/// A dump whose capture takes the longer to write, the more pods it has.
fn dump_of(pods: usize) -> String {
    let pods: Vec<Value> = (0..pods)
        .map(|n| {
            json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": format!("p{n}"), "namespace": "a", "uid": n.to_string()},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}})
        })
        .collect();
    json!({"kind": "List", "apiVersion": "v1", "items": pods}).to_string()
}

#[test]
fn a_signal_leaves_no_unfinished_file() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    crate::interrupts::let_children_be_interrupted();
    let (dump, answer) = (folder.join("c.json"), folder.join("out.json"));
    let mut pods = 20_000;
    fs::write(&dump, dump_of(pods)).unwrap();
    let unfinished = || fs::read_dir(folder).unwrap().flatten().any(|entry| entry.file_name().to_string_lossy().ends_with(".partial"));
    // Returns the exit code after a signal that is sent once the file is begun.
    let interrupted = |signal: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
        let args = ["capture", "out.json", "--from", "c.json"];
        let mut child = command.args(args).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !unfinished() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let id = child.id().to_string();
        let _ended_already = Command::new("kill").args(["-s", signal, &id]).stderr(Stdio::null()).status().unwrap();
        child.wait().unwrap().code()
    };
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let code = loop {
            let code = interrupted(signal);
            // The file may be whole before the signal comes: a larger one takes longer.
            if code != Some(0) || pods > 500_000 {
                break code;
            }
            fs::remove_file(&answer).unwrap();
            pods *= 2;
            fs::write(&dump, dump_of(pods)).unwrap();
        };
        assert_eq!(code, Some(128 + number), "{signal}");
        assert!(!unfinished() && !answer.exists(), "{signal}");
    }
}

/// As `nohup` and shells start programs.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_signal_stays_ignored() {
    let script = format!("trap '' HUP; exec '{}' explain x --from -", env!("CARGO_BIN_EXE_schedscope"));
    let mut child =
        Command::new("/bin/sh").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    // The thread that waits for signals runs.
    while fs::read_dir(format!("/proc/{id}/task")).unwrap().count() < 2 {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-s", "HUP", &id]).status().unwrap().success());
    child.stdin.take().unwrap().write_all(cluster("x").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some_and(|code| code <= 3), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let program = env!("CARGO_BIN_EXE_schedscope");
    for command in [
        "explain payments -n shop --demo payments",
        "explain --pending -A --demo payments -o json",
        "run --demo payments",
        "completions bash",
        "--help",
        "capture - --demo payments",
    ] {
        let output = Command::new("sh")
            .args(["-c", &format!("'{program}' {command} > /dev/full")])
            .env("XDG_STATE_HOME", "/dev/null")
            .output()
            .expect("a shell");
        assert_eq!(output.status.code(), Some(3), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output: "), "{command}");
        let output = Command::new("sh").args(["-c", &format!("'{program}' {command} | head -c 1")]).output().expect("a shell");
        // A capture says that it is not whole.
        assert!(output.stderr.is_empty() || command.starts_with("capture"), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
