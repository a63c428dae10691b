//! A recorder on an API server in this process: its journal is the cluster as it was, whatever happens to the recorder.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pretty_assertions::assert_eq;
use schedscope::app;
use schedscope::cluster::Key;
use schedscope::cluster::neighbors::NeighborKind;
use schedscope::source::capture::Capture;
use schedscope::source::journal::{GapReason, Journal, Moment};
use schedscope::source::live::{ConnectOptions, NeighborsQuestion, connect};
use schedscope::source::{Input, Loaded, Story, load};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api_server::{ApiServer, Fault, PATIENCE};

/// Pause between two looks at a journal.
const LOOK: Duration = Duration::from_millis(50);

fn story(name: &str) -> Vec<Value> {
    load(&[Story::named(name).unwrap().input()]).objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect()
}

fn pod(name: &str) -> Value {
    // Admission sets the priority and what follows from it.
    let spec = json!({"schedulerName": "default-scheduler", "priority": 0, "preemptionPolicy": "PreemptLowerPriority", "containers": [{"name": "c", "resources": {"requests": {"cpu": "64"}}}]});
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop"}, "spec": spec})
}

/// A recorder, which is killed when it is dropped.
struct Recorder {
    child: Child,
    errors: BufReader<ChildStderr>,
    journal: PathBuf,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Recorder {
    fn start(server: &ApiServer, folder: &TempDir, more: &[&str]) -> Self {
        let config = folder.path().join("config");
        std::fs::write(&config, server.kubeconfig()).unwrap();
        let journal = folder.path().join("journal");
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
        command.arg("record").arg(&journal).args(more).env("KUBECONFIG", config).stderr(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, errors, journal }
    }

    /// Returns the next line about the recorder's health.
    fn health(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.errors.read_line(&mut line).unwrap() > 0, "the recorder ended");
            if line.starts_with('{') {
                return serde_json::from_str(&line).unwrap();
            }
        }
    }

    /// Waits until the state at the journal's end meets a condition.
    #[track_caller]
    fn until(&self, what: &str, holds: impl Fn(&Moment, &Loaded) -> bool) -> Timestamp {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(journal) = Journal::open(&self.journal) {
                let moment = journal.at(journal.end()).unwrap();
                if holds(&moment, &state(&moment)) {
                    return journal.end();
                }
            }
            assert!(Instant::now() < deadline, "{what} did not come");
            std::thread::sleep(LOOK);
        }
    }
}

fn state(moment: &Moment) -> Loaded {
    load(&[Input::Text { name: "journal".to_owned(), text: moment.text() }])
}

fn has_pod(loaded: &Loaded, name: &str) -> bool {
    loaded.cluster().pods.get(&Key::new("shop", name)).is_some()
}

fn program(arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(arguments).args(paths).env("KUBECONFIG", "/dev/null").stdin(Stdio::null()).output().unwrap()
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[test]
fn a_journal_answers_as_a_dump_of_the_same_moment() {
    let server = ApiServer::new(&story("payments"));
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&server, &folder, &[]);
    assert_eq!(recorder.health()["state"], "recording");
    server.put(pod("huge"));
    let first = recorder.until("the pod", |moment, loaded| has_pod(loaded, "huge") && moment.knowledge.neighbors.is_some());
    let dump = folder.path().join("dump.json");
    let options = ConnectOptions { kubeconfig: Some(folder.path().join("config")), watch: false, ..ConnectOptions::default() };
    let live = connect(&options).unwrap();
    let loaded = live.wait_first(Some(Instant::now() + PATIENCE)).unwrap();
    let mut neighbors = live.followed_neighbors();
    neighbors.extend(live.ask_neighbors(NeighborsQuestion::all(None, PATIENCE)).recv().unwrap());
    let (cluster, unknown, version) = (loaded.cluster(), app::unknown_kinds(&loaded.report), app::known_version(&loaded.report));
    let capture = Capture {
        cluster: &cluster,
        events: &loaded.events,
        neighbors: Some(&neighbors),
        version: version.as_deref(),
        unknown: &unknown,
        redact: None,
    };
    capture.write(std::fs::File::create(&dump).unwrap()).unwrap();
    server.delete("Pod", "shop", "huge");
    server.put(pod("after"));
    recorder.until("the deletion", |_, loaded| !has_pod(loaded, "huge") && has_pod(loaded, "after"));
    drop(recorder);

    // The capture of the moment is, byte for byte, that of a dump of the cluster in that moment.
    let (journal, at) = (folder.path().join("journal"), first.to_string());
    let captured = |name: &str, at: &[&str], source: &Path| {
        let path = folder.path().join(name);
        let output = program(&[&["capture", path.to_str().unwrap()], at, &["--from"]].concat(), &[source]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read_to_string(&path).unwrap()
    };
    assert_eq!(captured("again.json", &["--at", &at], &journal), captured("expected.json", &[], &dump));
    let mut made = String::new();
    let moment = Journal::open(&journal).unwrap().at(first).unwrap();
    std::io::Read::read_to_string(&mut moment.text().open().unwrap(), &mut made).unwrap();
    assert_eq!(made, std::fs::read_to_string(&dump).unwrap());

    // So are all answers.
    let start = ["--start", &at];
    let answer = |arguments: &[&str], source: &Path, at: &[&str]| {
        let output = program(&[arguments, &start[..], at, &["--from"]].concat(), &[source]);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let pods = load(&[Input::Path(dump.clone())]).cluster();
    let pending: Vec<String> = pods.pods.iter().filter(|pod| pod.is_pending()).map(|pod| pod.key().to_string()).collect();
    assert!(pending.len() > 3 && pending.contains(&"shop/huge".to_owned()), "{pending:?}");
    for pod in &pending {
        for output in ["wide", "json"] {
            let arguments = ["explain", pod, "-o", output];
            let (expected, found) = (answer(&arguments, &dump, &[]), answer(&arguments, &journal, &["--at", &at]));
            // The names differ, and a journal knows the time of the moment.
            let unnamed = |(code, out, err): (Option<i32>, String, String)| {
                let out = out.replace(&dump.display().to_string(), "SOURCE").replace(&journal.display().to_string(), "SOURCE");
                let is_time = |line: &str| ["  taken: ", "  newest time: "].iter().any(|start| line.starts_with(start));
                (code, out.lines().filter(|line| !is_time(line)).map(str::to_owned).collect::<Vec<_>>(), err)
            };
            assert_eq!(unnamed(found), unnamed(expected), "{pod} -o {output}");
        }
    }
    let arguments = ["explain", "--pending", "-A", "-o", "json"];
    assert_eq!(answer(&arguments, &journal, &["--at", &at]).1, answer(&arguments, &dump, &[]).1);
    // At the end, the pod is gone.
    assert_eq!(answer(&["explain", "shop/huge"], &journal, &[]).0, Some(2));
    let before = answer(&["explain", "shop/huge", "--evicted"], &journal, &[]);
    assert!(before.2.contains("shop/huge was deleted after"), "{before:?}");
    let early = answer(&["explain", "shop/huge"], &journal, &["--at", "2001-01-01T00:00:00Z"]);
    assert!(early.0 == Some(3) && early.2.contains("the journal begins at"), "{early:?}");
    let no_journal = answer(&["explain", "shop/huge"], &dump, &["--at", "03:12"]);
    assert!(no_journal.0 == Some(2) && no_journal.2.contains("--at needs one journal"), "{no_journal:?}");
}

#[test]
fn a_recorder_that_is_killed_goes_on_with_a_gap() {
    let server = ApiServer::new(&story("budgets"));
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&server, &folder, &[]);
    recorder.health();
    server.put(pod("before"));
    let before = recorder.until("the pod", |_, loaded| has_pod(loaded, "before"));
    // A second recorder is refused.
    let config = folder.path().join("config");
    let mut second = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    let second = second.arg("record").arg(&recorder.journal).env("KUBECONFIG", config).output().unwrap();
    assert!(second.status.code() == Some(3) && text(&second.stderr).contains("is being written by another recorder"));
    drop(recorder);
    server.delete("Pod", "shop", "before");
    server.put(pod("meanwhile"));
    let mut recorder = Recorder::start(&server, &folder, &[]);
    recorder.health();
    let after = recorder.until("the pod", |_, loaded| has_pod(loaded, "meanwhile") && !has_pod(loaded, "before"));
    let journal = Journal::open(&recorder.journal).unwrap();
    assert!(has_pod(&state(&journal.at(before).unwrap()), "before"));
    let gaps = journal.at(after).unwrap().gaps;
    assert!(gaps.iter().any(|gap| gap.reason == GapReason::NotRunning && gap.from >= before && gap.to <= after), "{gaps:?}");
}

#[test]
fn workloads_are_recorded_with_the_events_about_them() {
    let mut objects = story("budgets");
    objects.push(json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "shop", "uid": "web"},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "c"}]}}}, "status": {"replicas": 0, "conditions": [
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: compute"}]}}));
    let server = ApiServer::new(&objects);
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&server, &folder, &[]);
    recorder.health();
    let web = Key::new("shop", "web");
    let listed = recorder.until("the workload", |_, loaded| loaded.neighbors.get(NeighborKind::Deployment, &web).is_some());
    drop(recorder);
    let journal = folder.path().join("journal");
    let output = program(&["explain", "deployment/web", "-n", "shop", "--at", &listed.to_string(), "--from"], &[&journal]);
    assert!(text(&output.stdout).contains("0 of 3 pods are ready"), "{}{}", text(&output.stdout), text(&output.stderr));
    // Before the first list it is unknown whether there are any.
    let begin = Journal::open(&journal).unwrap().begin().to_string();
    let before = program(&["explain", "deployment/web", "-n", "shop", "--at", &begin, "--from"], &[&journal]);
    assert!(!text(&before.stdout).contains("0 of 3 pods are ready") && before.status.code() != Some(0), "{}", text(&before.stdout));
}

#[test]
fn a_kind_whose_changes_do_not_arrive_is_known_in_part() {
    let server = ApiServer::new(&story("budgets"));
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&server, &folder, &[]);
    recorder.health();
    server.wait_until("the watch of pods", |world| world.watching.get("pods") == Some(&1));
    server.fault("/api/v1/pods", usize::MAX / 2, Fault::Status(503, None));
    server.end_watches();
    let stale = recorder.health();
    assert_eq!((&stale["state"], &stale["stale"]), (&json!("stale"), &json!(["Pod"])));
    let during = recorder.until("the failure", |_, loaded| loaded.report.missing().decides_on_part());
    server.forgive();
    recorder.until("the recovery", |_, loaded| !loaded.report.missing().decides_on_part());
    let output = program(&["explain", "--pending", "-A", "--at", &during.to_string(), "--from"], &[&recorder.journal]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
}

#[test]
fn metrics_are_served_while_recording() {
    use std::io::{Read as _, Write as _};
    let server = ApiServer::new(&story("budgets"));
    let folder = tempfile::tempdir().unwrap();
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut recorder = Recorder::start(&server, &folder, &["--metrics", &address.to_string()]);
    recorder.health();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    for line in
        ["schedscope_recorder_objects{kind=\"Node\"} 3", "schedscope_recorder_not_writing 0", "# TYPE schedscope_recorder_stale gauge"]
    {
        assert!(answer.contains(line), "{line}: {answer}");
    }
}

const RECORDER: &str = include_str!("../../packaging/recorder.yaml");
const CRON_JOB: &str = include_str!("../../packaging/cronjob.yaml");

/// Returns the objects of an example.
fn example(text: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).unwrap()).collect()
}

#[test]
fn the_example_asks_for_exactly_the_rights_that_the_recorder_uses() {
    let server = ApiServer::new(&story("budgets"));
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&server, &folder, &[]);
    recorder.health();
    server.wait_until("the watches", |world| world.watching.values().filter(|open| **open > 0).count() >= 21);
    drop(recorder);
    let requests = server.world().requests.clone();
    let mut used = BTreeSet::new();
    for request in &requests {
        let path = request.strip_prefix("GET ").unwrap_or_else(|| panic!("{request} is no GET"));
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (group, resource) = match parts[..] {
            // Every user may ask for these.
            ["version" | "api" | "apis"] | ["api", _] | ["apis", _, _] => continue,
            ["api", "v1", resource] => ("", resource),
            ["apis", group, _, resource] => (group, resource),
            _ => panic!("{request} is none of what the role allows"),
        };
        let verb = if query.contains("watch=true") { "watch" } else { "list" };
        used.insert((group.to_owned(), resource.to_owned(), verb.to_owned()));
    }
    let objects = example(RECORDER);
    let roles: Vec<&Value> = objects.iter().filter(|object| object["kind"] == "ClusterRole").collect();
    let texts = |value: &Value| value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let rights = |role: &Value| {
        let mut allowed = BTreeSet::new();
        for rule in role["rules"].as_array().unwrap() {
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    allowed.extend(texts(&rule["verbs"]).into_iter().map(|verb| (group.clone(), resource.clone(), verb)));
                }
            }
        }
        allowed
    };
    let (allowed, optional) = (rights(roles[0]), rights(roles[1]));
    let all: BTreeSet<_> = allowed.union(&optional).cloned().collect();
    let beyond: Vec<_> = used.difference(&all).collect();
    assert!(beyond.is_empty(), "not allowed: {beyond:?}");
    // The server of this test has no kinds behind gates; where watches bring the first state, nothing needs to be listed first.
    let resources = |set: &BTreeSet<(String, String, String)>| set.iter().map(|(g, r, _)| (g.clone(), r.clone())).collect::<BTreeSet<_>>();
    let unused: Vec<_> = resources(&allowed).difference(&resources(&used)).cloned().collect();
    let gated = [("resource.k8s.io", "devicetaintrules"), ("scheduling.k8s.io", "podgroups")];
    assert_eq!(unused, gated.map(|(group, resource)| (group.to_owned(), resource.to_owned())));
    let verbs: BTreeSet<&str> = allowed.iter().map(|(.., verb)| verb.as_str()).collect();
    assert_eq!(verbs, ["list", "watch"].into());
    // The optional rights are those of the chapter on live clusters.
    let chapter = include_str!("../../docs/live.md").split("```yaml\n").find(|block| block.contains("schedscope-workloads")).unwrap();
    let documented: Value = serde_yaml::from_str(chapter.split("```").next().unwrap()).unwrap();
    assert_eq!(optional, rights(&documented));
    // A report needs the same.
    let report = example(CRON_JOB);
    let rules = |objects: &[Value]| {
        let roles = objects.iter().filter(|object| object["kind"] == "ClusterRole");
        roles.map(|role| role["rules"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(rules(&report), rules(&objects));
}

/// Checks that the objects of an example name each other, and that its pods run without rights on their node. Returns the arguments of
/// the program.
fn fitting(objects: &[Value], kind: &str, template: &str) -> Vec<String> {
    let kinds: Vec<&str> = objects.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    let roles = ["ClusterRole", "ClusterRoleBinding"];
    let expected = [&["Namespace", "ServiceAccount"][..], &roles, &roles, &["PersistentVolumeClaim", kind]].concat();
    assert_eq!(kinds, expected);
    let [namespace, account, role, binding, optional, optional_binding, claim, workload] = objects else { panic!("eight objects") };
    for object in objects {
        assert!(object["apiVersion"].is_string() && object["metadata"]["name"].is_string(), "{object}");
    }
    let name = |object: &Value| object["metadata"]["name"].clone();
    for object in [account, claim, workload] {
        assert_eq!(object["metadata"]["namespace"], name(namespace));
    }
    assert_eq!(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
    assert_eq!(binding["roleRef"]["name"], name(role));
    assert_eq!((&optional_binding["roleRef"]["name"], &optional_binding["subjects"]), (&name(optional), &binding["subjects"]));
    assert_eq!(binding["subjects"], json!([{"kind": "ServiceAccount", "name": name(account), "namespace": name(namespace)}]));
    let spec = &workload.pointer(template).unwrap()["spec"];
    let user = json!({"runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"}});
    assert_eq!((&spec["serviceAccountName"], &spec["securityContext"]), (&name(account), &user));
    let container = &spec["containers"][0];
    let restricted = json!({"readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
    assert_eq!(container["securityContext"], restricted);
    assert!(container["resources"]["limits"]["memory"].is_string(), "{container}");
    assert_eq!(spec["volumes"][0]["persistentVolumeClaim"]["claimName"], name(claim));
    assert_eq!(container["volumeMounts"][0]["name"], spec["volumes"][0]["name"]);
    let args: Vec<String> = container["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap().to_owned()).collect();
    let mount = container["volumeMounts"][0]["mountPath"].as_str().unwrap();
    assert!(args.iter().any(|arg| arg.starts_with(&format!("{mount}/"))), "{args:?}");
    args
}

#[test]
fn the_example_fits_together() {
    let objects = example(RECORDER);
    let args = fitting(&objects, "Deployment", "/spec/template");
    let deployment = objects.last().unwrap();
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], deployment["spec"]["template"]["metadata"]["labels"]);
    // The program takes these arguments: it fails at the cluster, not at them.
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let args: Vec<&str> = args
        .iter()
        .map(|arg| match arg.as_str() {
            "/journal/cluster" => journal.to_str().unwrap(),
            "0.0.0.0:9809" => "127.0.0.1:0",
            arg => arg,
        })
        .collect();
    let output = program(&args, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

/// Lines of the scheduler, as the server gives them.
fn log_lines(pod: &str, minute: u32) -> String {
    let line = |second: u32, text: &str| {
        format!("2026-11-21T01:{minute:02}:{second:02}.250000000Z I1121 01:{minute:02}:{second:02}.250000       1 a.go:1] {text}\n")
    };
    [
        line(0, "Serving securely on [::]:10259"),
        line(1, &format!("\"Add event for unscheduled pod\" pod=\"shop/{pod}\"")),
        line(2, &format!("\"Attempting to schedule pod\" pod=\"shop/{pod}\"")),
        line(
            3,
            &format!(
                "\"Unable to schedule pod; no fit; waiting\" pod=\"shop/{pod}\" err=\"0/12 nodes are available: 12 Insufficient cpu.\""
            ),
        ),
    ]
    .concat()
}

/// Waits until the journal's log meets a condition.
#[track_caller]
fn until_log(journal: &Path, what: &str, holds: impl Fn(&str) -> bool) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Ok(journal) = Journal::open(journal) {
            let log = journal.log(journal.begin(), journal.end()).unwrap();
            let text: String = log.writers.values().map(|text| text_of(text)).collect();
            if holds(&text) {
                return text;
            }
        }
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::sleep(LOOK);
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_log_of_the_scheduler_is_recorded_and_gives_its_attempts_back() {
    const POD: &str = "kube-system/kube-scheduler-cp-1";
    let mut objects = story("payments");
    objects.push(json!({"kind": "Pod", "metadata": {"name": "kube-scheduler-cp-1", "namespace": "kube-system"},
        "spec": {"nodeName": "worker-a1", "priority": 0, "containers": [{"name": "kube-scheduler", "image": "kube-scheduler:v1.36.2"}]}}));
    let server = ApiServer::new(&objects);
    server.log(POD, &log_lines("payments", 0));
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&server, &folder, &["--scheduler-log", "live"]);
    recorder.health();
    let journal = recorder.journal.clone();
    let first = until_log(&journal, "the first lines", |log| log.contains("12 Insufficient cpu"));
    assert!(!first.contains("Serving securely"), "{first}");
    // A recorder that goes on reads no line again.
    drop(recorder);
    let mut recorder = Recorder::start(&server, &folder, &["--scheduler-log", "live"]);
    recorder.health();
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%9fZ").to_string();
    let later: String = log_lines("later", 30).lines().map(|line| format!("{now}{}\n", &line[30..])).collect();
    server.log(POD, &later);
    let both = until_log(&journal, "the later lines", |log| log.contains("shop/later"));
    assert_eq!(both.matches("Attempting to schedule pod").count(), 2, "{both}");
    drop(recorder);
    let output = program(&["log"], &[&journal]);
    let said = text(&output.stdout);
    assert!(output.status.success() && said.contains("shop/payments") && said.contains("shop/later"), "{said}{}", text(&output.stderr));
    // The state is read as before, with the log beside it.
    let output = program(&["explain", "shop/payments", "--from"], &[&journal]);
    assert!(text(&output.stdout).contains("Insufficient cpu"), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn a_log_in_a_file_is_followed_and_redacted_as_objects_are() {
    let server = ApiServer::new(&story("payments"));
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("kube-scheduler.log");
    std::fs::write(&log, log_lines("payments", 0)).unwrap();
    let mut recorder = Recorder::start(&server, &folder, &["--redact", "--scheduler-log", log.to_str().unwrap()]);
    recorder.health();
    let journal = recorder.journal.clone();
    let found = until_log(&journal, "the lines", |log| log.contains("12 Insufficient cpu"));
    drop(recorder);
    assert!(!found.contains("payments") && !found.contains("shop"), "{found}");
    let at = Journal::open(&journal).unwrap();
    let loaded = state(&at.at(at.end()).unwrap());
    let output = program(&["log", "-o", "json"], &[&journal]);
    let said = text(&output.stdout);
    let pods = loaded.cluster().pods.iter().filter(|pod| said.contains(&format!("\"{}\"", pod.key()))).count();
    assert_eq!(pods, 1, "the attempt is of a pod of the recorded cluster: {said}{}", text(&output.stderr));
    // Without a scheduler's pod there is no log to read.
    let config = folder.path().join("config");
    let mut second = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    let second = second.arg("record").arg(folder.path().join("other")).args(["--scheduler-log", "live"]).env("KUBECONFIG", config);
    let second = second.output().unwrap();
    assert!(second.status.code() == Some(3) && text(&second.stderr).contains("no visible pod runs kube-scheduler"));
}

#[test]
fn the_report_of_a_cron_job_replaces_its_file_and_does_not_fail_for_pending_pods() {
    let objects = example(CRON_JOB);
    let args = fitting(&objects, "CronJob", "/spec/jobTemplate/spec/template");
    let spec = &objects.last().unwrap()["spec"];
    assert_eq!((&spec["concurrencyPolicy"], &spec["jobTemplate"]["spec"]["backoffLimit"]), (&json!("Forbid"), &json!(0)));
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("schedscope.prom");
    std::fs::write(&report, "old").unwrap();
    let server = ApiServer::new(&story("payments"));
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();
    let run = |kubeconfig: &Path| {
        let args = args.iter().map(|arg| if arg.starts_with("/report/") { report.to_str().unwrap() } else { arg });
        Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).env("KUBECONFIG", kubeconfig).stdin(Stdio::null()).output().unwrap()
    };
    let output = run(&kubeconfig);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()), "{}", text(&output.stderr));
    let written = std::fs::read_to_string(&report).unwrap();
    assert!(written.contains("schedscope_pending_pods{namespace=\"shop\"} "), "{written}");
    // A cluster that cannot be read fails the job and leaves the file.
    let output = run(&folder.path().join("nowhere"));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&report).unwrap(), written);
}
