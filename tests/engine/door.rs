//! The door for embedders: the recorded decisions through it, its public surface, and the schemas of answers.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use schedscope::engine::{Engine, ErrorKind, Filter, NodeView, Outcome, Plugin, PodView, Score, Verdict};
use schedscope::report::AnswerSchema;
use serde_json::{Value, json};

use crate::cases;
use crate::conformance::differences;

fn story(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stories").join(name)).expect("a story")
}

#[test]
fn the_documentation_of_the_library_is_that_of_the_engine() {
    let root = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("the root of the crate");
    let lines: Vec<&str> = root.lines().collect();
    let shown = lines.windows(2).filter(|pair| pair[1].starts_with("pub mod ") && !pair[0].contains("doc(hidden)"));
    assert_eq!(shown.map(|pair| pair[1]).collect::<Vec<_>>(), ["pub mod engine;"]);
}

/// Decides a recorded case through the door.
fn decide(case: &Value) -> Value {
    let mut builder = Engine::builder().objects(case["cluster"].to_string()).now("2026-11-20T00:00:00Z");
    if let Some(version) = case["version"].as_str() {
        builder = builder.release(version);
    }
    if let Some(gates) = case["featureGates"].as_object() {
        builder = builder.feature_gates(gates.iter().map(|(name, on)| format!("{name}={on}")).collect::<Vec<_>>().join(","));
    }
    if !case["config"].is_null() {
        builder = builder.config(case["config"].to_string());
    }
    let (namespace, name) = case["pod"].as_str().and_then(|pod| pod.split_once('/')).expect("namespace/name");
    builder.build().and_then(|engine| engine.decide(namespace, name)).unwrap_or_else(|error| panic!("{}: {error}", case["id"])).to_json()
}

fn check(folder: &Path) {
    let schema = schema("explain");
    cases::check(folder, "decisions-", |case| {
        let (mut wrong, decision) = (Vec::new(), decide(case));
        differences(&case["expected"], &decision, "", &mut wrong);
        wrong.extend(violation(&schema, &schema, &decision, "$").map(|violation| ("schema".to_owned(), violation)));
        wrong
    });
}

#[test]
fn decisions_through_the_door_are_those_of_kube_scheduler() {
    check(&cases::folder());
}

#[test]
fn decisions_of_other_releases_through_the_door_are_theirs() {
    for folder in cases::other_releases("decisions-") {
        check(&folder);
    }
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&AnswerSchema::named(name).expect("a schema").text()).expect("JSON")
}

/// Returns where a value first breaks a schema; `None` if it does not. Knows the keywords that the schemas use.
fn violation(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(target) = schema["$ref"].as_str() {
        let definition = root.pointer(target.trim_start_matches('#')).expect("a definition");
        return violation(root, definition, value, path)
            .or_else(|| if target == "#/$defs/reason" { reason_violation(value, path) } else { None });
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let found: Vec<Option<String>> = any.iter().map(|schema| violation(root, schema, value, path)).collect();
        return if found.contains(&None) { None } else { found.into_iter().next().flatten() };
    }
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    };
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::String(name) => is(name),
        names => names.as_array().expect("types").iter().any(|name| is(name.as_str().expect("a type"))),
    };
    if !fits {
        return Some(format!("{path} is no {}: {value}", schema["type"]));
    }
    if schema.get("const").is_some_and(|only| only != value) || schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        return Some(format!("{path} is {value}"));
    }
    let fields = value.as_object().into_iter().flatten();
    let missing = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|name| value.as_object().is_some_and(|fields| !fields.contains_key(*name)));
    if let Some(missing) = missing {
        return Some(format!("{path} lacks {missing}"));
    }
    let of_field = |(name, value): (&String, &Value)| {
        let path = format!("{path}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(schema), _) => violation(root, schema, value, &path),
            (None, Value::Bool(true)) => None,
            (None, Value::Object(_)) => violation(root, &schema["additionalProperties"], value, &path),
            // A field that the schema of its object does not name.
            (None, _) if schema["properties"].is_object() => Some(format!("{path} is not described")),
            (None, _) => None,
        }
    };
    if let Some(found) = fields.map(of_field).find_map(|found| found) {
        return Some(found);
    }
    let items = value.as_array().into_iter().flatten().enumerate();
    if schema["items"].is_object() {
        return items.map(|(at, item)| violation(root, &schema["items"], item, &format!("{path}[{at}]"))).find_map(|found| found);
    }
    None
}

/// Returns where a reason first breaks the schema of its kind.
fn reason_violation(reason: &Value, path: &str) -> Option<String> {
    static REASONS: LazyLock<Value> = LazyLock::new(|| schema("reasons"));
    let of_kind = REASONS["oneOf"].as_array().expect("kinds").iter().find(|of| of["title"] == reason["kind"]);
    let Some(of_kind) = of_kind else { return Some(format!("{path} is of no kind: {reason}")) };
    let inner = (reason["kind"] == "preemption").then(|| reason_violation(&reason["reason"], &format!("{path}.reason"))).flatten();
    violation(&REASONS, of_kind, reason, path).or(inner)
}

#[track_caller]
fn assert_described(name: &str, value: &Value) {
    let schema = schema(name);
    assert_eq!(violation(&schema, &schema, value, "$"), None, "{name}");
    assert_eq!(value["schemaVersion"], 1, "{name}");
}

#[test]
fn answers_are_as_their_schemas_describe() {
    let engine = Engine::builder().objects(story("payments.yaml")).build().unwrap();
    assert_described("explain", &engine.decide("shop", "payments").unwrap().to_json());
    assert_described("fixes", &engine.fixes("shop", "payments").unwrap().to_json());
    assert_described("what-if", &engine.what_if("drain worker-a1").unwrap().to_json());
    assert_described("what-if", &engine.what_if("flood shop/payments").unwrap().to_json());
    let mut fork = engine.clone();
    assert_described("run", &fork.apply(&json!({"op": "schedule"})).unwrap().to_json());
    assert_described("settled", &fork.settle().unwrap().to_json());
    let pod = json!({"kind": "Pod", "metadata": {"name": "new", "namespace": "shop"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}});
    let placed = engine.place(&pod, 20).unwrap();
    assert!(!placed.all_fit() && placed.fit() > 0);
    assert_described("place", &placed.to_json());
}

#[test]
fn answers_of_the_program_are_as_their_schemas_describe() {
    assert_described("pending", &program(&["explain", "--demo", "payments", "--pending", "-A"]));
    assert_described("info", &program(&["info"]));
    assert_described("info", &program(&["info", "--emulate", "1.37"]));
    assert_described("compare", &program(&["run", "--demo", "budgets", "--compare", "1.30"]));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut sources: Vec<String> = Vec::new();
    for folder in ["stories", "workloads"] {
        let files = std::fs::read_dir(fixtures.join(folder)).unwrap().map(|file| file.unwrap().path());
        let yaml = files.filter(|file| file.extension().is_some_and(|ending| ending == "yaml"));
        sources.extend(yaml.map(|file| file.to_str().expect("UTF-8").to_owned()));
    }
    sources.push(fixtures.join("dumps/etcd").to_str().expect("UTF-8").to_owned());
    sources.sort();
    assert!(sources.len() > 20, "{sources:?}");
    let (mut gone, mut fixed) = (0, 0);
    for source in &sources {
        let pending = program(&["explain", "--pending", "-A", "--from", source]);
        assert_described("pending", &pending);
        gone += pending["preempted"].as_array().into_iter().flatten().filter(|eviction| eviction["preemptor"].is_null()).count();
        let Some(pod) = pending["causes"][0]["pods"][0].as_str() else { continue };
        let fixes = program(&["explain", pod, "--fixes", "--from", source]);
        assert_described("fixes", &fixes);
        fixed += fixes["fixes"]["fixes"].as_array().map_or(0, Vec::len);
    }
    assert!(gone > 0 && fixed > 10, "{gone} preemptors are gone, {fixed} fixes");
    let stories: Vec<&String> = sources.iter().filter(|source| source.contains("/stories/")).collect();
    for pair in stories.windows(2) {
        assert_described("diff", &program(&["diff", pair[0], pair[1]]));
        assert_described("diff", &program(&["diff", pair[1], pair[0]]));
    }
}

/// Runs the program and returns its answer.
fn program(arguments: &[&str]) -> Value {
    let out =
        std::process::Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).args(["-o", "json"]).output().expect("it starts");
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&out.stderr)))
}

#[test]
fn answers_about_workloads_are_as_their_schema_describes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workloads");
    let (mut stages, mut fixed, mut said) = (std::collections::BTreeSet::new(), 0, 0);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 19, "{files:?}");
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let kind =
            ["Deployment", "StatefulSet", "DaemonSet", "JobSet", "Job"].iter().find(|kind| text.contains(&format!("kind: {kind}\n")));
        let kind = kind.unwrap_or(&"ReplicaSet");
        let name = text.split(&format!("kind: {kind}\n")).nth(1).and_then(|rest| rest.split("name: ").nth(1)).unwrap();
        let name = name.split([',', '}', '\n']).next().unwrap();
        let answer = program(&["explain", &format!("{kind}/{name}").to_lowercase(), "-n", "shop", "--from", file.to_str().unwrap()]);
        assert_described("workload", &answer);
        for cause in answer["causes"].as_array().unwrap() {
            stages.insert(cause["stage"].to_string());
            fixed += usize::from(cause["fix"].is_object());
        }
        said += answer["others"].as_array().unwrap().len();
    }
    assert!(stages.len() >= 2 && fixed >= 4 && said >= 6, "the fixtures show {stages:?}, {fixed} fixes and {said} words of others");
    assert_described("workload", &program(&["explain", "deployment/spread", "-n", "shop", "--demo", "payments"]));
}

#[test]
fn answers_about_manifests_are_as_their_schema_describes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, class: &str, replicas: u32| {
        let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}},
                "spec": {"priorityClassName": class, "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "900m"}}}]}}}});
        let path = folder.path().join(format!("{name}.json"));
        std::fs::write(&path, manifest.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (many, wrong) = (write("many", "", 30), write("wrong", "nope", 2));
    let config = folder.path().join("config.yaml").to_str().unwrap().to_owned();
    std::fs::write(&config, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n").unwrap();
    let answer = program(&["explain", "--demo", "payments", "--odds", "-f", &many, "-f", &wrong, "-f", &config]);
    assert_described("manifest", &answer);
    for part in ["placed", "pending", "refused", "victims", "workloads", "unknown"] {
        assert!(!answer[part].as_array().unwrap().is_empty(), "{part} is empty: {answer}");
    }
    let counted = program(&["explain", "--demo", "payments", "--capacity", "--replicas", "1", "-f", &many]);
    assert_described("manifest", &counted);
    assert!(counted["capacity"]["fits"].as_u64().unwrap() > 0, "{counted}");
}

#[test]
fn answers_about_pods_with_a_node_are_as_their_schema_describes() {
    let loaded = schedscope::source::load(&[schedscope::source::STORIES[0].input()]);
    let cluster = loaded.cluster();
    let bound = cluster.pods.iter().find(|pod| !pod.node_name.is_empty()).expect("a bound pod");
    let (namespace, name) = (bound.metadata.namespace.as_str(), bound.metadata.name.as_str());
    let answer = program(&["explain", name, "-n", namespace, "--demo", schedscope::source::STORIES[0].name]);
    assert_described("placed", &answer);
    assert!(answer["again"].is_object() && answer["node"].is_string(), "{answer}");
    let evicted = program(&["explain", name, "-n", namespace, "--evicted", "--demo", schedscope::source::STORIES[0].name]);
    assert_described("placed", &evicted);
    assert!(evicted["evictions"].is_array(), "{evicted}");
}

/// A decision through the door is the answer of `explain -o json`.
#[test]
fn a_decision_is_the_answer_of_explain() {
    for (file, namespace, name) in [("payments.yaml", "shop", "payments"), ("budgets.yaml", "shop", "checkout")] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stories").join(file);
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"))
            .args(["explain", "--emulate", "1.36", "-o", "json", "-n", namespace, name, "--from"])
            .arg(&path)
            .output()
            .unwrap();
        let mut expected: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let engine = Engine::builder().release("1.36").objects(story(file)).build().unwrap();
        let mut found = engine.decide(namespace, name).unwrap().to_json();
        for answer in [&mut expected, &mut found] {
            // The door does not look for the cluster's version, and takes the objects as all that there are.
            answer["release"]["cluster"] = Value::Null;
            answer["missing"] = Value::Null;
            answer.as_object_mut().unwrap().remove("budgetsUnknown");
        }
        assert_eq!(found, expected, "{file}");
    }
}

struct Broken;

impl Plugin for Broken {
    fn filter(&self) -> Option<&dyn Filter> {
        Some(self)
    }

    fn score(&self) -> Option<&dyn Score> {
        Some(self)
    }
}

impl Filter for Broken {
    fn filter(&self, pod: &PodView<'_>, node: &NodeView<'_>) -> Verdict {
        match pod.label("mode") {
            Some("panic") => panic!("broken"),
            Some("error") => Verdict::Error("no answer".to_owned()),
            Some("full") if node.pods().count() > 0 => Verdict::rejects("node(s) were taken"),
            _ => Verdict::Fits,
        }
    }
}

impl Score for Broken {
    fn score(&self, _pod: &PodView<'_>, _node: &NodeView<'_>) -> i64 {
        101
    }
}

#[test]
fn wrong_answers_of_plugins_are_errors_of_decisions() {
    let cluster = "
{kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{kind: Pod, metadata: {name: low}, spec: {nodeName: a, priority: -5}}
---
{kind: Pod, metadata: {name: low2}, spec: {nodeName: b, priority: -5}}
---
{kind: Pod, metadata: {name: panics, labels: {mode: panic}}}
---
{kind: Pod, metadata: {name: fails, labels: {mode: error}}}
---
{kind: Pod, metadata: {name: scores}}
---
{kind: Pod, metadata: {name: waits, labels: {mode: full}}}
";
    let engine = Engine::builder().objects(cluster).plugin("Broken", |_| Ok(Box::new(Broken))).build().unwrap();
    for (pod, words) in [("panics", "the plugin panicked"), ("fails", "no answer"), ("scores", "is not from 0 to 100")] {
        let decision = engine.decide("default", pod).unwrap();
        assert_eq!(decision.outcome(), Outcome::Error, "{pod}");
        assert!(decision.message().contains(words), "{}", decision.message());
    }
    let decision = engine.decide("default", "waits").unwrap();
    assert!(decision.message().starts_with("0/2 nodes are available: 2 node(s) were taken."), "{}", decision.message());
    let (node, victims) = decision.preemption().expect("a preemption");
    assert_eq!((node, victims.collect::<Vec<_>>()), ("a", vec!["default/low"]));
}

#[test]
fn wrong_input_names_input_object_and_line() {
    let error = |text: &str| Engine::builder().objects("{kind: Node, metadata: {name: a}}").objects(text).build().unwrap_err();
    let found = error("{kind: Pod, metadata: {name: a}}\n---\nkind: Pod\nmetadata: {name: b}\nspec: {priority: high}\n");
    assert_eq!((found.kind(), found.input(), found.object()), (ErrorKind::Object, Some("objects 2"), Some("Pod b")));
    assert!(found.line().is_some_and(|line| line >= 3), "{found}");
    for text in ["{", "kind: [", "\u{0}\u{1}", "{\"kind\": \"List\", \"items\": [3]}"] {
        // Broken text is an error or nothing, and never a panic.
        let _ = Engine::builder().objects(text).build();
    }
    for name in ["", "a b", "NodeName", "x\u{1b}[31m"] {
        let found = Engine::builder().plugin(name, |_| Ok(Box::new(Broken))).build().unwrap_err();
        assert_eq!(found.kind(), ErrorKind::Plugin);
        assert!(!found.to_string().contains('\u{1b}'));
    }
    let refused = Engine::builder().plugin("Refuses", |_| Err("no arguments".to_owned())).build().unwrap_err();
    assert!(refused.kind() == ErrorKind::Config && refused.to_string().contains("no arguments"), "{refused}");
    let mut engine = Engine::builder().build().unwrap();
    for operation in [json!(null), json!({"op": "dance"}), json!({"op": "delete", "kind": "Pod", "name": "none"}), json!([])] {
        assert_eq!(engine.apply(&operation).unwrap_err().kind(), ErrorKind::Operation);
    }
    let create =
        json!({"op": "create", "object": {"kind": "Pod", "metadata": {"name": "x", "namespace": "a"}, "spec": {"priority": "high"}}});
    for (operation, object) in [
        (create, Some("Pod a/x")),
        (json!({"op": "delete", "kind": "Pod", "name": "none"}), Some("Pod none")),
        (json!({"op": "create", "object": {"kind": "Pod", "spec": 7}}), Some("Pod")),
        (json!({"op": "dance"}), None),
    ] {
        let found = engine.apply(&operation).unwrap_err();
        assert_eq!((found.input(), found.object()), (Some("operation"), object), "{found}");
    }
    let found = Engine::builder().config("apiVersion: kubescheduler.config.k8s.io/v1\nkind: [\n").build().unwrap_err();
    assert!((found.kind(), found.input()) == (ErrorKind::Config, Some("config")) && found.line() == Some(3), "{found}");
    let config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: many\n";
    let found = Engine::builder().config(config).build().unwrap_err();
    assert_eq!(found.to_string(), "config:3: parallelism: cannot unmarshal string into a field of type int32");
    let pod = |spec: Value| json!({"kind": "Pod", "metadata": {"name": "web"}, "spec": spec});
    let lots = pod(json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "lots"}}}]}));
    for (found, object, words) in [
        (engine.place(&lots, 20).unwrap_err(), "Pod default/web", "quantity \"lots\""),
        (engine.admit(&pod(json!(7))).unwrap_err(), "Pod web", "spec: Invalid value: must be an object"),
        (schedscope::engine::admit(&json!([])).unwrap_err(), "Pod", "must be an object"),
    ] {
        assert!(found.kind() == ErrorKind::Refused && found.object() == Some(object) && found.message().contains(words), "{found:?}");
    }
    assert_eq!(engine.place(&json!({"kind": "Service"}), 1).unwrap_err().object(), Some("Service"));
    let other = Engine::builder().release("1.99").build().unwrap();
    assert!(other.warnings().any(|warning| warning.starts_with("emulates kube-scheduler v1.37.0: v1.99 was requested")));
    for object in [json!(null), json!([]), json!({"kind": "Pod", "metadata": 3}), json!({"kind": "Deployment", "apiVersion": "apps/v1"})] {
        assert!(engine.place(&object, 2).is_err() || engine.place(&object, 2).unwrap().fit() == 0, "{object}");
    }
}

/// The public items of a file as rustfmt writes it, a line each.
fn surface(file: &str, text: &str, out: &mut String) {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let (mut block, mut lines) = (String::new(), text.lines().peekable());
    while let Some(line) = lines.next() {
        let item = line.trim_start();
        let depth = line.len() - item.len();
        let mut whole = item.to_owned();
        let opens = |whole: &str| whole.ends_with('{') || whole.ends_with(';') || whole.ends_with('}') || whole.ends_with(',');
        let is_item = ["pub fn", "pub struct", "pub enum", "pub trait", "pub use", "pub const", "pub static", "pub type", "impl"]
            .iter()
            .any(|start| item.starts_with(start))
            || item.starts_with("fn ") && block.starts_with("pub trait") && depth == 4;
        if is_item && depth <= 4 {
            while !opens(&whole) || whole.ends_with(',') {
                let Some(next) = lines.next() else { break };
                whole.push(' ');
                whole.push_str(next.trim());
            }
            let whole = whole.trim_end_matches([' ', '{', ';']).to_owned();
            if depth == 0 {
                block.clone_from(&whole);
            }
            if depth == 0 && (whole.starts_with("pub") || whole.contains(" for ")) {
                let _ = writeln!(out, "{file}: {whole}");
            } else if depth == 4 && (!block.contains(" for ")) {
                let _ = writeln!(out, "{file}: {block} :: {whole}");
            }
        } else if depth == 0 && item == "}" {
            block.clear();
        } else if depth == 4 && block.starts_with("pub enum") && item.starts_with(|c: char| c.is_uppercase()) {
            let _ = writeln!(out, "{file}: {block} :: {}", item.trim_end_matches(','));
        }
    }
}

/// A change of the public surface is a decision: `SCHEDSCOPE_UPDATE_API=1 cargo test --test engine door` writes the list anew.
#[test]
fn the_public_surface_is_as_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(root.join("src/engine")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut found = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        // Private parts.
        if !["lines", "operation"].contains(&name.as_str()) {
            surface(&name, &std::fs::read_to_string(&file).unwrap(), &mut found);
        }
    }
    let list = root.join("tests/public_api.txt");
    if std::env::var_os("SCHEDSCOPE_UPDATE_API").is_some() {
        std::fs::write(&list, &found).unwrap();
    }
    let listed = std::fs::read_to_string(list).unwrap_or_default();
    pretty_assertions::assert_eq!(found, listed);
}

#[test]
fn the_words_of_others_about_a_pod_are_in_its_decision() {
    let time = "2026-11-20T10:00:00Z";
    let cluster = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "pods": "10"}}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "a", "uid": "u"},
         "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}},
        {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "a"}, "type": "Normal", "reason": "TriggeredScaleUp",
         "message": "pod triggered scale-up: [{pool 1->2 (max: 3)}]", "source": {"component": "cluster-autoscaler"}, "count": 1,
         "involvedObject": {"kind": "Pod", "namespace": "a", "name": "web", "uid": "u"}, "firstTimestamp": time, "lastTimestamp": time},
    ]});
    let answer = Engine::builder().objects(cluster.to_string()).build().unwrap().decide("a", "web").unwrap().to_json();
    let other = &answer["others"][0];
    assert_eq!((&other["speaker"], &other["reason"]), (&"cluster-autoscaler".into(), &"TriggeredScaleUp".into()), "{answer}");
}
