//! Compares cycles with extenders with those recorded from kube-scheduler v1.36.2. The extenders answer from the tables of the
//! cases; nothing leaves the process.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use schedscope::cluster::{Key, Kind};
use schedscope::extenders::{Answer, AnswerBody, Asker, Asking, Extender, ExtenderTransport, Originals, RecordedCall};
use schedscope::framework::ExtenderVerb;
use schedscope::report::{Decision, OperationReport};
use schedscope::scheduler::{DryOptions, Evictions, ObjectEdit, Options, PostFilter, Sampling, Scheduler};
use schedscope::session::Session;
use schedscope::trace::CycleView;
use serde_json::{Value, json};

use crate::cases::{self, config};
use crate::contract::within;
use crate::recorded::{object, operation};

/// Calls in order, as the cases have them.
type Asked = Arc<Mutex<Vec<Value>>>;

/// Extenders that answer as a case's tables say.
struct Table {
    case: Value,
    asked: Asked,
}

impl Table {
    fn answer(&self, extender: &Extender, verb: ExtenderVerb, request: &Value) -> Answer {
        let table = &self.case["extenders"][extender.name.index];
        let name = verb.to_string();
        let said = &table[&name];
        let post = |text: &str| Answer::failed(format!("Post {:?}: {text}", extender.shown_url(verb)));
        let body = match table["transport"][&name].as_str() {
            Some("timeout") => return post("context deadline exceeded (Client.Timeout exceeded while awaiting headers)"),
            Some("500") => return Answer::response(500, ""),
            Some("404") => return Answer::response(404, ""),
            Some("badjson") => return Answer::response(200, "this is not JSON"),
            Some("empty") => return Answer::response(200, ""),
            Some("null") => return Answer::response(200, "null"),
            Some("badtype") => {
                return Answer::response(200, r#"{"nodenames": 7, "NodeNameToMetaVictims": 7, "error": 7}"#);
            }
            _ => match verb {
                ExtenderVerb::Filter => self.filter(extender, said, request),
                ExtenderVerb::Prioritize => prioritize(said, request),
                ExtenderVerb::Preempt => self.preempt(said, request),
                ExtenderVerb::Bind => panic!("nobody is asked to bind"),
            },
        };
        Answer::response(if table["transport"][&name] == "201" { 201 } else { 200 }, body.to_string())
    }

    fn filter(&self, extender: &Extender, said: &Value, request: &Value) -> Value {
        let asked = nodes_of(request);
        let kept = |node: &String| said.get("keep").is_none_or(|keep| texts(keep).contains(node));
        let keep: Vec<String> = asked.iter().filter(|node| kept(node)).cloned().chain(texts(&said["extra"])).collect();
        let form = said["as"].as_str().unwrap_or(if extender.node_cache_capable { "names" } else { "nodes" });
        let about = |key: &str| -> Value {
            let all = said[key].as_object().cloned().unwrap_or_default();
            Value::Object(all.into_iter().filter(|(node, _)| asked.contains(node)).collect())
        };
        let mut answer = json!({"error": said["error"].as_str().unwrap_or_default(), "failedNodes": about("failed"),
            "failedAndUnresolvableNodes": about("unresolvable")});
        if ["names", "both"].contains(&form) {
            answer["nodenames"] = json!(keep);
        }
        if ["nodes", "both"].contains(&form) {
            let items: Vec<Value> = keep.iter().map(|node| self.node(node, &said["edit"][node], request)).collect();
            answer["nodes"] = json!({"items": items});
        }
        answer
    }

    /// A node as it was sent, or as the cluster has it, with some fields changed.
    fn node(&self, name: &str, edit: &Value, request: &Value) -> Value {
        let sent = request["Nodes"]["items"].as_array().into_iter().flatten().find(|node| node["metadata"]["name"] == name);
        let known = || self.original(Kind::Node, &Key::new("", name));
        let mut node = known().or_else(|| sent.cloned()).unwrap_or_else(|| json!({"metadata": {"name": name}}));
        for (path, value) in edit.as_object().into_iter().flatten() {
            let at = path.split('.').fold(&mut node, |at, part| &mut at[part]);
            *at = value.clone();
        }
        node
    }

    fn preempt(&self, said: &Value, request: &Value) -> Value {
        let asked = if request["NodeNameToVictims"].is_null() { &request["NodeNameToMetaVictims"] } else { &request["NodeNameToVictims"] };
        let mut answer = serde_json::Map::new();
        for (node, row) in said.as_object().into_iter().flatten() {
            let offered = asked.get(node);
            let uids: Vec<Value> = match (row.get("uids"), offered) {
                (Some(uids), _) => uids.as_array().expect("uids").clone(),
                (None, None) => continue,
                (None, Some(offered)) if row["victims"] == json!(["*"]) => {
                    let pods = offered["Pods"].as_array().expect("pods").iter();
                    pods.map(|pod| pod.get("UID").unwrap_or(&pod["metadata"]["uid"]).clone()).collect()
                }
                (None, Some(_)) => {
                    let uid = |pod: &String| {
                        let (namespace, name) = pod.split_once('/').expect("namespace/name");
                        self.original(Kind::Pod, &Key::new(namespace, name)).expect("the pod")["metadata"]["uid"].clone()
                    };
                    texts(&row["victims"]).iter().map(uid).collect()
                }
            };
            let violations = row.get("pdbViolations").or_else(|| offered?.get("NumPDBViolations")).cloned().unwrap_or_else(|| 0.into());
            let pods: Vec<Value> = uids.into_iter().map(|uid| json!({"uid": uid})).collect();
            answer.insert(node.clone(), json!({"pods": pods, "numPDBViolations": violations}));
        }
        json!({"nodeNameToMetaVictims": answer})
    }

    fn original(&self, kind: Kind, key: &Key) -> Option<Value> {
        original(&self.case, kind, key)
    }
}

fn original(case: &Value, kind: Kind, key: &Key) -> Option<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let is = |object: &&Value| {
        let meta = &object["metadata"];
        text(&object["kind"]) == kind.to_string() && text(&meta["name"]) == *key.name && text(&meta["namespace"]) == *key.namespace
    };
    case["cluster"]["items"].as_array().into_iter().flatten().find(is).cloned()
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

fn nodes_of(request: &Value) -> Vec<String> {
    if request["NodeNames"].is_array() {
        return texts(&request["NodeNames"]);
    }
    let items = request["Nodes"]["items"].as_array().into_iter().flatten();
    items.map(|node| node["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
}

fn prioritize(said: &Value, request: &Value) -> Value {
    let scored = nodes_of(request).into_iter().filter_map(|node| Some(json!({"score": said.get(&node)?, "host": node})));
    scored.collect()
}

impl ExtenderTransport for Table {
    fn send(&self, extender: &Extender, verb: ExtenderVerb, body: &str) -> Answer {
        assert!(verb != ExtenderVerb::Bind, "nobody is asked to bind");
        let url = extender.url(verb);
        assert_eq!(url.expose(), &extender.shown_url(verb), "no case has a password");
        let post = |text: &str| Answer::failed(format!("Post {:?}: {text}", url.expose()));
        if url.expose().contains("127.0.0.1:18881") {
            return post("dial tcp 127.0.0.1:18881: connect: connection refused");
        }
        if url.expose().starts_with("https://127.0.0.1:18882") && !extender.tls.insecure {
            return post("tls: failed to verify certificate: x509: certificate signed by unknown authority");
        }
        let path = url.expose().split_once("//").and_then(|(_, rest)| rest.split_once('/')).expect("a path").1;
        let request: Value = serde_json::from_str(body).expect("a request is JSON");
        let index = extender.name.index;
        let call = json!({"extender": index, "verb": verb.to_string(), "path": format!("POST /{path}"), "body": request});
        self.asked.lock().expect("a lock").push(call);
        self.answer(extender, verb, &request)
    }
}

/// The objects of a case.
struct CaseObjects(Value);

impl Originals for CaseObjects {
    fn original(&self, kind: Kind, key: &Key) -> Option<Value> {
        original(&self.0, kind, key)
    }
}

/// A scheduler whose extenders answer from the case's tables, and the list of what they were asked.
fn scheduler(case: &Value, evictions: Evictions) -> (Scheduler, Asked) {
    let asked = Asked::default();
    let table = Table { case: case.clone(), asked: asked.clone() };
    let asker = Asker::of_answers([]).with_transport(Box::new(table)).with_originals(Box::new(CaseObjects(case.clone())));
    (scheduler_with(case, asker, evictions), asked)
}

fn scheduler_with(case: &Value, asker: Asker, evictions: Evictions) -> Scheduler {
    let config = config(case).asked_by(Arc::new(asker), |_| true);
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, ..Sampling::default() };
    let objects = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(object).collect();
    let start = "2026-11-20T00:00:00Z".parse().expect("a time");
    Scheduler::new(config, objects, Options { start, sampling, evictions, ..Options::default() })
}

/// The pod of a decision case.
fn pod_of(case: &Value) -> Key {
    let (namespace, name) = case["pod"].as_str().and_then(|pod| pod.split_once('/')).expect("namespace/name");
    Key::new(namespace, name)
}

fn asking() -> DryOptions<'static> {
    DryOptions { asking: Asking::Ask, ..DryOptions::default() }
}

fn decide(case: &Value, scheduler: &Scheduler) -> Value {
    let pod = scheduler.state().cluster().pods.get(&pod_of(case)).expect("the pod").clone();
    serde_json::to_value(Decision::of(&CycleView::of(&scheduler.explain_with(&pod, asking())))).expect("plain data")
}

/// The keys in which a decision disagrees.
fn differences(expected: &Value, got: &Value, path: &str, out: &mut Vec<(String, String)>) {
    let bind_fails = expected["bind"]["error"].is_string();
    for (key, want) in expected.as_object().expect("an object") {
        let got = &got[key];
        let any_of = |set: &str| expected[set].as_array().is_some_and(|set| set.contains(got));
        let right = match (key.as_str(), want) {
            ("requests", _) => true,
            // The answer of a bind verb is unknown, as it is never called.
            ("outcome" | "node" | "message" | "unschedulablePlugins", _) if bind_fails => true,
            ("bind", _) => bind_fails || got["by"] == want["by"],
            ("preemption", Value::Object(_)) if got.is_object() => {
                differences(want, got, "preemption.", out);
                true
            }
            ("node", Value::String(_)) => any_of("bestNodes"),
            ("unschedulablePlugins", Value::Null) => got.as_array().is_none_or(Vec::is_empty),
            ("selected", Value::String(_)) => any_of("bestCandidates"),
            _ => *want == within(want, got),
        };
        if !right {
            out.push((format!("{path}{key}"), format!("expected {want}\n      actual   {got}")));
        }
    }
}

/// Calls without what the cases leave out, those of one round of scoring by extender.
fn comparable(calls: &[Value], with_body: bool) -> Vec<Value> {
    let cut = |call: &Value| {
        let mut call = call.clone();
        match call.get_mut("body").filter(|_| with_body) {
            Some(body) => without_versions(body),
            None => drop(call.as_object_mut().and_then(|call| call.remove("body"))),
        }
        call
    };
    let mut calls: Vec<Value> = calls.iter().filter(|call| call["verb"] != "bind").map(cut).collect();
    calls.sort_by_key(|call| if call["verb"] == "prioritize" { call["extender"].as_u64() } else { None });
    calls
}

fn without_versions(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Object(meta)) = fields.get_mut("metadata") {
                meta.remove("resourceVersion");
            }
            fields.values_mut().for_each(without_versions);
        }
        Value::Array(items) => items.iter_mut().for_each(without_versions),
        _ => {}
    }
}

fn compare_calls(want: &[Value], got: &[Value], out: &mut Vec<(String, String)>) {
    let with_body = want.iter().any(|call| call.get("body").is_some());
    let (want, got) = (comparable(want, with_body), comparable(got, with_body));
    if want.len() != got.len() {
        out.push(("requests".to_owned(), format!("expected {}\n      actual   {}", want.len(), got.len())));
    }
    for (want, got) in want.iter().zip(&got).filter(|(want, got)| want != got) {
        out.push(("requests".to_owned(), format!("expected {want}\n      actual   {got}")));
    }
}

#[test]
fn decisions_and_requests_are_those_of_kube_scheduler() {
    cases::check(&cases::fixtures(), "extenders-decisions", |case| {
        let (scheduler, asked) = scheduler(case, Evictions::AtOnce);
        let mut wrong = Vec::new();
        differences(&case["expected"], &decide(case, &scheduler), "", &mut wrong);
        let want = case["expected"]["requests"].as_array().cloned().unwrap_or_default();
        compare_calls(&want, &asked.lock().expect("a lock"), &mut wrong);
        wrong
    });
}

#[test]
fn queues_move_as_those_of_kube_scheduler() {
    cases::check(&cases::fixtures(), "extenders-runs", |case| {
        let evictions = if case["graceful"] == true { Evictions::Marked } else { Evictions::AtOnce };
        let (mut scheduler, asked) = scheduler(case, evictions);
        let (ops, expected) = (case["ops"].as_array().expect("operations"), case["expected"].as_array().expect("answers"));
        for (index, (op, want)) in ops.iter().zip(expected).enumerate() {
            let events = operation(op).map(|o| scheduler.apply(o)).unwrap_or_default();
            let got = serde_json::to_value(OperationReport::of(&events, &scheduler)).expect("plain data");
            let wrong = want.as_object().expect("an object").iter().find(|(key, want)| *key != "requests" && **want != got[*key]);
            if let Some((key, want)) = wrong {
                return vec![(key.clone(), format!("op {index}\n      expected {want}\n      actual   {}", got[key]))];
            }
        }
        let want: Vec<Value> = expected.iter().flat_map(|e| e["requests"].as_array().cloned().unwrap_or_default()).collect();
        let mut wrong = Vec::new();
        compare_calls(&want, &asked.lock().expect("a lock"), &mut wrong);
        wrong
    });
}

#[test]
fn trials_and_dry_decisions_ask_nobody_and_know_what_was_answered() {
    let (mut decided, mut unknown) = (0, 0);
    for case in cases::cases(&cases::fixtures(), "extenders-decisions") {
        let (scheduler, asked) = scheduler(&case, Evictions::AtOnce);
        let pod = scheduler.state().cluster().pods.get(&pod_of(&case)).expect("the pod").clone();
        // Before anything was asked: what hangs on an answer is unknown, and not that the pod fits.
        let before = scheduler.dry_decision(&pod, PostFilter::Run);
        let text = before.message();
        unknown += usize::from(text.contains("unknown: extender"));
        let trial = scheduler.with_edits([ObjectEdit::Remove(Kind::Pod, Key::new("no", "pod"))]);
        drop((trial.dry_decision(&pod, PostFilter::Run), trial.explain(&pod), scheduler.explain(&pod)));
        assert!(asked.lock().expect("a lock").is_empty(), "{}", case["id"]);
        let first = scheduler.explain_with(&pod, asking());
        let calls = asked.lock().expect("a lock").len();
        if calls > 0 {
            let filters = |call: &Value| call["verb"] == "filter";
            let filtered = asked.lock().expect("a lock").iter().any(filters);
            assert!(!filtered || before.best().is_empty() || text.is_empty(), "{}: {text}", case["id"]);
            assert!(!filtered || text.contains("unknown: extender"), "{}: {text}", case["id"]);
        }
        // From then on the last answers hold.
        assert_eq!(scheduler.explain(&pod), first, "{}", case["id"]);
        assert_eq!(trial.explain(&pod), first, "{}", case["id"]);
        assert_eq!(asked.lock().expect("a lock").len(), calls, "{}", case["id"]);
        decided += usize::from(calls > 0);
    }
    assert!(decided > 20 && unknown > 10, "{decided} {unknown}");
}

#[test]
fn without_an_asker_nobody_is_asked_and_the_answer_names_who_would_be() {
    for case in cases::cases(&cases::fixtures(), "extenders-decisions") {
        let config = config(&case);
        let with_say: BTreeSet<String> = config.profiles.iter().flat_map(|p| &p.not_emulated).map(|(name, _)| name.clone()).collect();
        let objects = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(object).collect();
        let scheduler = Scheduler::new(config, objects, Options::default());
        let answer = decide(&case, &scheduler);
        assert!(answer["bind"].is_null() && answer["extenders"].is_null(), "{}", case["id"]);
        let named: BTreeSet<String> =
            texts(&answer["notEmulated"]).iter().filter_map(|t| Some(t.split_once(": it")?.0.to_owned())).collect();
        if answer["outcome"] != "gated" && answer["message"].as_str().is_none_or(|text| !text.starts_with("skip schedule")) {
            assert_eq!(named, with_say, "{}", case["id"]);
        }
    }
}

/// Extenders are among the plugins that reject a pod from a patch on.
#[test]
fn extenders_reject_pods_from_a_patch_on() {
    for (version, expected) in [
        ("1.26.11", false),
        ("1.26.12", true),
        ("1.27.8", false),
        ("1.27.9", true),
        ("1.28.4", false),
        ("1.28.5", true),
        ("1.29.9", false),
        ("1.29.10", true),
        ("1.30.1", true),
    ] {
        let mut compared = 0;
        for mut case in cases::cases(&cases::fixtures(), "extenders-decisions").take(40) {
            case["version"] = version.into();
            let decision = decide(&case, &scheduler(&case, Evictions::AtOnce).0);
            let by_extender = |node: &&Value| node["plugin"] == "Extender";
            if decision["filter"].as_array().is_some_and(|nodes| nodes.iter().any(|node| by_extender(&node)))
                && decision["outcome"] == "unschedulable"
            {
                let named = texts(&decision["unschedulablePlugins"]).iter().any(|plugin| plugin == "Extender");
                assert_eq!(named, expected, "{version} {}", case["id"]);
                compared += 1;
            }
        }
        assert!(compared > 0, "{version}");
    }
}

#[test]
fn a_recording_replayed_and_a_saved_session_decide_the_same() {
    let mut replayed = 0;
    for case in cases::cases(&cases::fixtures(), "extenders-decisions").take(25) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let table = Table { case: case.clone(), asked: Asked::default() };
        let recorded = lines.clone();
        let asker = Asker::of_answers([]).with_transport(Box::new(table)).with_recorder(Box::new(move |call: &RecordedCall| {
            recorded.lock().expect("a lock").push(serde_json::to_string(call).expect("plain data"));
        }));
        // Requests have the originals; a replay has none.
        let asker = asker.with_originals(Box::new(CaseObjects(case.clone())));
        let scheduler = scheduler_with(&case, asker, Evictions::AtOnce);
        let first = decide(&case, &scheduler);
        let lines = lines.lock().expect("a lock").clone();
        replayed += lines.len();
        for line in &lines {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert!(line["extender"].is_string() && line["verb"].is_string() && line["request"].is_object(), "{line}");
            assert!(line["body"].is_string() && line["status"].is_u64() || line["error"].is_string(), "{line}");
        }
        let calls = lines.iter().map(|line| serde_json::from_str(line).expect("a call"));
        let again = scheduler_with(&case, Asker::of_recording(calls), Evictions::AtOnce);
        assert_eq!(decide(&case, &again), first, "{}", case["id"]);

        let mut session = Session::new(scheduler, "a case");
        if session.explain(&pod_of(&case)).is_none() {
            continue;
        }
        let mut file = Vec::new();
        session.save(&mut file).expect("it can be saved");
        let loaded = Session::load(&file[..]).expect("it can be read");
        let events = |session: &Session| session.timeline().revisions().iter().map(|r| r.events.clone()).collect::<Vec<_>>();
        assert_eq!(events(&loaded), events(&session), "{}", case["id"]);
    }
    assert!(replayed > 20, "{replayed}");
}

struct Failing(Mutex<Vec<String>>);

impl ExtenderTransport for Failing {
    fn send(&self, extender: &Extender, verb: ExtenderVerb, _body: &str) -> Answer {
        let url = extender.url(verb);
        assert!(url.expose().contains("me:hunter2@"), "who asks needs it");
        self.0.lock().expect("a lock").push(format!("{extender:?}"));
        Answer::failed(format!("Post {:?}: EOF", url.expose()))
    }
}

#[test]
fn no_password_is_recorded_or_printed() {
    let case = cases::cases(&cases::fixtures(), "extenders-decisions")
        .find(|case| case["expected"]["requests"][0]["verb"] == "filter")
        .expect("a case that filters");
    let mut case = case;
    for extender in case["config"]["extenders"].as_array_mut().expect("extenders") {
        let url = extender["urlPrefix"].as_str().expect("a URL").replace("://", "://me:hunter2@");
        extender["urlPrefix"] = url.into();
    }
    let lines = Arc::new(Mutex::new(String::new()));
    let recorded = lines.clone();
    let asker = Asker::of_answers([]).with_transport(Box::new(Failing(Mutex::default()))).with_recorder(Box::new(move |call| {
        assert!(matches!(call.answer.body, AnswerBody::Error(_)));
        recorded.lock().expect("a lock").push_str(&serde_json::to_string(call).expect("plain data"));
    }));
    let scheduler = scheduler_with(&case, asker, Evictions::AtOnce);
    let text =
        decide(&case, &scheduler).to_string() + &lines.lock().expect("a lock") + &format!("{:?}", scheduler.state().config().extenders);
    assert!(text.contains("EOF") && !text.contains("hunter2"), "{text}");
    let mut file = Vec::new();
    Session::new(scheduler, "a case").save(&mut file).expect("it can be saved");
    let mut saved = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&file[..]), &mut saved).expect("text");
    assert!(saved.contains("127.0.0.1") && !saved.contains("hunter2"));
}
