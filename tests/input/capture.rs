//! A captured cluster, opened again, equals the original; a redacted one decides the same.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use pretty_assertions::assert_eq;
use regex::Regex;
use schedscope::analysis::{Agreements, MatchKind};
use schedscope::cluster::{Cluster, Key, Kind, ObservedEvent, Str};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, InitialQueues, Options, Scheduler};
use schedscope::session::{PodLocation, Session};
use schedscope::source::capture::{Capture, Vocabulary};
use schedscope::source::{Input, Loaded, STORIES, Story, load};
use serde_json::Value;
use strum::IntoEnumIterator as _;

use crate::deciding::{decision, scheduler};

const NONE: &BTreeSet<Kind> = &BTreeSet::new();

/// The words that redaction keeps in messages.
static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(schedscope::framework::reason_texts()));

fn plain(loaded: &Loaded) -> Vec<Value> {
    loaded.cluster().objects().map(|object| serde_json::to_value(object).unwrap()).collect()
}

fn written(capture: &Capture<'_>) -> String {
    let mut text = Vec::new();
    capture.write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn read(text: &str) -> Loaded {
    load(&[Input::Bytes { name: "capture".into(), bytes: text.as_bytes().to_vec().into() }])
}

/// Returns the decisions about all pending pods, by pod.
fn decisions(cluster: &Cluster) -> BTreeMap<Key, Value> {
    let start = "2026-11-21T00:00:00Z".parse().unwrap();
    let scheduler = scheduler(cluster.objects().collect(), start);
    let waiting: Vec<Key> = cluster.pods.iter().filter(|pod| pod.node_name.is_empty() && !pod.is_terminal()).map(|pod| pod.key()).collect();
    waiting.into_iter().map(|key| (key.clone(), decision(&scheduler, &key))).collect()
}

/// Replaces redacted names by the originals.
fn translate(text: &str, originals: &BTreeMap<String, String>) -> String {
    let replacement = Regex::new(r"\br[0-9]+\b").unwrap();
    replacement
        .replace_all(text, |found: &regex::Captures<'_>| originals.get(&found[0]).cloned().unwrap_or_else(|| found[0].to_owned()))
        .into_owned()
}

/// A redacted dump of a cluster, opened again, decides as the cluster does, up to names.
fn check_redacted(what: &str, cluster: &Cluster) {
    let capture = Capture { cluster, events: &[], neighbors: None, version: None, unknown: NONE, redact: Some(&WORDS) };
    let originals = capture.replacements();
    let again = read(&written(&capture));
    assert!(again.diagnostics.iter().all(|d| d.message.contains("bound to nodes")), "{what}: {:?}", again.diagnostics);
    let by_text = |decisions: &BTreeMap<Key, Value>| {
        decisions.iter().map(|(key, decision)| (key.to_string(), decision.to_string())).collect::<BTreeMap<_, _>>()
    };
    let redacted = by_text(&decisions(&again.cluster()));
    let mut redacted: BTreeMap<_, _> =
        redacted.iter().map(|(key, text)| (translate(key, &originals), translate(text, &originals))).collect();
    let mut plain = by_text(&decisions(cluster));
    for (key, text) in &mut plain {
        if let Some(other) = redacted.get_mut(key).filter(|other| *other != text) {
            leave_out_facts(text, other);
        }
    }
    assert_eq!(redacted, plain, "{what}");
}

/// Removes the parts in brackets before the semicolon of two sentences that differ: a sentence includes facts only
/// where they fit, and with longer names they may not. The reasons are compared separately with all their facts. A
/// sentence about an error ends with as much of its message as fits: the common length is compared, and the message as
/// a whole.
fn leave_out_facts(a: &mut String, b: &mut String) {
    let in_brackets = Regex::new(r" \([^)]*\)").unwrap();
    let mut decisions = [&*a, &*b].map(|text| serde_json::from_str::<Value>(text).unwrap());
    let sentences = decisions.each_ref().map(|d| d["why"].as_str().unwrap_or_default().to_owned());
    let is_error = decisions.iter().all(|d| d["outcome"] == "error");
    let cut = |why: &str| why.trim_end_matches('.').trim_end_matches('…').chars().count();
    let shared = sentences.iter().map(|why| cut(why)).min().unwrap_or_default();
    for (decision, why) in decisions.iter_mut().zip(&sentences) {
        decision["why"] = if is_error {
            assert!(shared > 100, "{why}");
            why.chars().take(shared).collect::<String>().into()
        } else {
            let (cause, then) = why.split_once("; ").unwrap_or((why, ""));
            format!("{}; {then}", in_brackets.replace_all(cause, "")).into()
        };
    }
    let [first, second] = decisions;
    (*a, *b) = (first.to_string(), second.to_string());
}

#[test]
fn a_capture_is_opened_as_what_it_was_made_of() {
    for story in &STORIES {
        let loaded = load(&[story.input()]);
        let cluster = loaded.cluster();
        let event = ObservedEvent {
            pod: Key::new("shop", "payments"),
            uid: "u".into(),
            reason: "FailedScheduling".into(),
            note: "0/3 nodes are available".into(),
            controller: "default-scheduler".into(),
            count: 3,
            first: "2026-11-20T00:00:00Z".parse().ok(),
            last: "2026-11-20T01:00:00Z".parse().ok(),
        };
        let events = vec![event.clone(), ObservedEvent { first: None, last: None, uid: "".into(), ..event }];
        let capture = Capture { cluster: &cluster, events: &events, neighbors: None, version: None, unknown: NONE, redact: None };
        let folder = tempfile::tempdir().unwrap();
        for name in ["dump.json", "dump.json.gz"] {
            let path = folder.path().join(name);
            assert_eq!(capture.save(&path).unwrap(), loaded.objects.len() + 2);
            let again = load(&[Input::Path(path.clone())]);
            assert_eq!(plain(&again), plain(&loaded), "{} in {name}", story.name);
            assert_eq!(again.events, events);
            assert!(
                again.diagnostics.is_empty() && again.report.absent.is_empty() && !again.report.budgets_unknown(),
                "{:?}",
                again.diagnostics
            );
            assert_eq!(std::fs::read(&path).unwrap().starts_with(b"{"), name == "dump.json");
            assert_eq!(decisions(&again.cluster()), decisions(&cluster));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }
}

#[test]
fn what_is_unknown_stays_unknown() {
    let cluster = Cluster::default();
    let unknown = [Kind::PodDisruptionBudget].into();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.json");
    assert_eq!(
        Capture { cluster: &cluster, events: &[], neighbors: None, version: None, unknown: &unknown, redact: None }.save(&path).unwrap(),
        0
    );
    let again = load(&[Input::Path(path)]);
    assert!(again.report.budgets_unknown());
    let known: Vec<Kind> = again.report.kinds.keys().copied().collect();
    assert!(known.len() == Kind::iter().count() - 1 && !known.contains(&Kind::PodDisruptionBudget), "{known:?}");
    let nowhere = Path::new("/nowhere/at/all");
    assert!(Capture { cluster: &cluster, events: &[], neighbors: None, version: None, unknown: NONE, redact: None }.save(nowhere).is_err());
}

#[test]
fn a_version_that_is_no_version_is_written_with_escapes() {
    let cluster = Cluster::default();
    let version = "v1.36.0\u{1b}[2J\u{202e}";
    let text = written(&Capture { cluster: &cluster, events: &[], neighbors: None, version: Some(version), unknown: NONE, redact: None });
    assert!(text.contains(r"v1.36.0\u001b[2J\u202e") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

/// Collects all texts in a value, and the keys of labels and similar maps.
fn collect(value: &Value, keys: bool, out: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(out.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| collect(item, false, out)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if keys {
                    out.insert(name.clone());
                }
                let of_labels = ["labels", "annotations", "matchLabels", "nodeSelector", "disruptedPods"].contains(&name.as_str());
                collect(value, of_labels, out);
            }
        }
        _ => {}
    }
}

#[test]
fn a_redacted_capture_names_nothing() {
    for story in &STORIES {
        let loaded = load(&[story.input()]);
        let cluster = loaded.cluster();
        let note = "0/3 nodes are available: pod shop/payments cannot; Successfully assigned shop/payments to gpu-a1".to_owned();
        let events =
            [ObservedEvent { pod: Key::new("shop", "payments"), reason: "Scheduled".into(), note, count: 1, ..Default::default() }];
        let capture = Capture { cluster: &cluster, events: &events, neighbors: None, version: None, unknown: NONE, redact: Some(&WORDS) };
        let text = written(&capture);
        let of: BTreeMap<String, String> =
            capture.replacements().into_iter().map(|(replacement, original)| (original, replacement)).collect();
        let pod = format!("{}/{}", of["shop"], of["payments"]);
        let expected = format!("0/3 nodes are available: pod {pod} cannot; Successfully assigned {pod} to {}", of["gpu-a1"]);
        assert!(text.contains(&expected), "{expected}");
        let mut texts = BTreeSet::new();
        for list in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
            collect(&list.unwrap()["items"], false, &mut texts);
        }
        let words: BTreeSet<&str> = texts.iter().flat_map(|text| text.split(['/', ' ', ':'])).collect();
        // Names that every cluster has, or that are also names of fields, reveal nothing.
        let resources: BTreeSet<&str> =
            cluster.nodes.iter().flat_map(|node| node.status.allocatable.iter()).map(|(name, _)| name.as_str()).collect();
        let public = |name: &str| {
            // Messages keep kube-scheduler's own words, among them "topology spread constraints".
            ["", "default", "r", "spread"].contains(&name)
                || name.starts_with("system-")
                || resources.iter().any(|r| r.split('/').any(|part| part == name))
        };
        for object in cluster.objects() {
            let meta = object.meta();
            let labels = meta.labels.iter().filter(|(key, _)| !key.contains("kubernetes.io/"));
            let uid = Str::from(meta.uid.clone());
            let names = [&meta.name, &meta.namespace, &uid].into_iter().chain(labels.flat_map(|(key, value)| [key, value]));
            for name in names.filter(|name| !public(name)) {
                assert!(!words.contains(name.as_str()), "{}: {name} is in the text", story.name);
            }
        }
        check_redacted(story.name, &cluster);
    }
}

/// A redacted capture keeps the messages of the cluster's scheduler, for the same pods.
#[test]
fn a_redacted_capture_agrees_as_before() {
    let loaded = load(&[Story::named("aftermath").unwrap().input()]);
    let cluster = loaded.cluster();
    let capture =
        Capture { cluster: &cluster, events: &loaded.events, neighbors: None, version: None, unknown: NONE, redact: Some(&WORDS) };
    let originals = capture.replacements();
    let redacted = read(&written(&capture));
    let agreements = |loaded: &Loaded| {
        let options = Options {
            start: loaded.report.newest.unwrap(),
            queues: InitialQueues::AsObserved,
            events: loaded.events.clone(),
            ..Options::default()
        };
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects.clone(), options);
        let found = Agreements::of(&scheduler, &loaded.events, Vec::new(), |_| true, |_| true);
        let session = Session::new(scheduler, "captured");
        let moment = session.timeline().keyframe();
        let queues: BTreeSet<String> = moment
            .cluster
            .pods
            .iter()
            .filter(|pod| pod.node_name.is_empty() && !pod.is_terminal())
            .map(|pod| translate(&format!("{}: {}", pod.key(), PodLocation::of(&moment.cluster, &moment.queues, &pod.key())), &originals))
            .collect();
        (found, queues)
    };
    let ((before, queues), (after, queues_after)) = (agreements(&loaded), agreements(&redacted));
    assert_eq!(after.counts(), before.counts(), "{}", after.text());
    assert_eq!(after.counts(), [(MatchKind::ChangedSince, 5), (MatchKind::Same, 8), (MatchKind::NotOurs, 1)]);
    assert_eq!(queues_after, queues);
    let found =
        |found: &Agreements| found.preempted.iter().map(|p| translate(&p.sentence().to_string(), &originals)).collect::<BTreeSet<_>>();
    assert_eq!(found(&after), found(&before));
    assert!(after.preempted.len() == 5 && after.preempted.iter().all(|p| p.preemptor.is_some() && p.going));
    let messages = |loaded: &Loaded| -> BTreeMap<String, String> {
        let conditions = loaded
            .cluster()
            .pods
            .iter()
            .flat_map(|pod| {
                pod.status.conditions.iter().map(|c| (format!("{} {}", pod.key(), c.kind), c.message.to_string())).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>();
        let events = loaded.events.iter().map(|e| (format!("{} {}", e.pod, e.reason), e.note.clone()));
        conditions.into_iter().chain(events).map(|(what, text)| (translate(&what, &originals), translate(&text, &originals))).collect()
    };
    assert_eq!(messages(&redacted), messages(&loaded), "every text of the scheduler's is there");
}

/// The reasons of all plugins, from which queue places are inferred, and those that preemption adds.
const SAID: [&str; 37] = [
    "node(s) were unschedulable",
    "node(s) didn't match the requested node name",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match scheduler-enforced node affinity",
    "node(s) didn't match Pod's node affinity/selector",
    "pod affinity terms conflict",
    "node(s) didn't have free ports for the requested pod ports",
    "Too many pods",
    "Insufficient cpu",
    "Insufficient memory",
    "Insufficient ephemeral-storage",
    "Insufficient nvidia.com/gpu",
    "Insufficient hugepages-2Mi",
    "node(s) had no available disk",
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    "node(s) exceed max volume count",
    "ebs.csi.aws.com CSI driver is not installed on the node",
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    "node(s) had no available volume zone",
    "pod has unbound immediate PersistentVolumeClaims",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "cannot allocate all claims",
    "resourceclaim not available on the node",
    "cannot fit resource",
    "cannot schedule extended resource claim",
    "invalid resource pools were encountered",
    "node(s) didn't match Pod's required features",
    "node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding]",
    "No preemption victims found for incoming pod",
    "Preemption is not helpful for scheduling",
];

#[test]
fn every_reason_survives() {
    let tails = [
        "",
        " no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
        " preemption: not eligible due to a terminating pod on the nominated node.",
        " still not schedulable, preemption: 0/12 nodes are available: 2 No preemption victims found for incoming pod, 10 Preemption is not helpful for scheduling.",
    ];
    let messages: Vec<String> = SAID
        .iter()
        .flat_map(|reason| tails.iter().map(move |tail| format!("0/12 nodes are available: 10 {reason}, 2 Insufficient cpu.{tail}")))
        .collect();
    let pods: Vec<Value> = messages
        .iter()
        .enumerate()
        .map(|(number, message)| {
            serde_json::json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": format!("p{number:03}"), "namespace": "shop"},
                "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]}})
        })
        .collect();
    let loaded = read(&serde_json::json!({"kind": "List", "apiVersion": "v1", "items": pods}).to_string());
    let cluster = loaded.cluster();
    let redacted =
        read(&written(&Capture { cluster: &cluster, events: &[], neighbors: None, version: None, unknown: NONE, redact: Some(&WORDS) }));
    let kept: Vec<String> = redacted
        .cluster()
        .pods
        .iter()
        .flat_map(|pod| pod.status.conditions.iter().map(|c| c.message.to_string()).collect::<Vec<_>>())
        .collect();
    assert_eq!(kept, messages);
}

/// The recorded clusters contain everything that affects decisions; uses those with the default configuration.
#[test]
fn a_redacted_capture_decides_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("decisions-") {
            continue;
        }
        for line in BufReader::new(GzDecoder::new(std::fs::File::open(&path).unwrap())).lines() {
            let case: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if !case["config"].is_null() {
                continue;
            }
            let dump = read(&case["cluster"].to_string());
            check_redacted(&format!("{name} {}", case["id"]), &dump.cluster());
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

/// Expressions that see more of an attribute than its equality, and claims that are derived from pods.
#[test]
fn attributes_and_ephemeral_claims_decide_the_same_when_redacted() {
    let serial = r#"device.attributes["gpu.acme.com"].serial"#;
    let device = |expression: &str, serial: &str| {
        serde_json::json!([
            {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}},
            {"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "gpu"}, "spec": {}},
            {"kind": "ResourceSlice", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "s1"}, "spec": {"driver": "gpu.acme.com",
                "nodeName": "n1", "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "g0", "attributes": {"serial": {"string": serial}, "other": {"string": "Z"}}}]}},
            {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "cl", "namespace": "d", "uid": "cu"},
                "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount",
                    "count": 1, "selectors": [{"cel": {"expression": expression}}]}}]}}},
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {
                "schedulerName": "default-scheduler", "resourceClaims": [{"name": "x", "resourceClaimName": "cl"}],
                "containers": [{"name": "c", "resources": {"claims": [{"name": "x"}]}}]}, "status": {"phase": "Pending"}},
        ])
    };
    let pod = |namespace: &str, name: &str, volume: &str| {
        serde_json::json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace, "uid": format!("{name}{namespace}")},
            "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c"}], "volumes": [{"name": volume, "ephemeral":
                {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "sc"}}}}]}, "status": {"phase": "Pending"}})
    };
    let claim = |namespace: &str, owner: &str| {
        serde_json::json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "a-b-c", "namespace": namespace,
            "uid": format!("claim-{namespace}"),
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": format!("{owner}{namespace}"), "controller": true}]},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "sc"}, "status": {"phase": "Pending"}})
    };
    let claims = serde_json::json!([
        {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}},
        {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "sc"}, "provisioner": "x.com",
            "volumeBindingMode": "WaitForFirstConsumer"},
        pod("n1", "a-b", "c"), pod("n2", "a", "b-c"), claim("n1", "a-b"), claim("n2", "a"),
    ]);
    for (what, items) in [
        ("semver", device(&format!("semver({serial}).isGreaterThan(semver('1.0.0'))"), "1.2.3")),
        ("quantity", device(&format!("quantity({serial}).isGreaterThan(quantity('1Gi'))"), "80Gi")),
        ("comment", device(&format!("{serial} == 'GPU-1' // it's\n && device.attributes['gpu.acme.com'].other == 'Z'"), "GPU-1")),
        ("escapes", device(&format!("{serial} == 'GPU\\u002d1' && {serial} != r'GPU-2'"), "GPU-1")),
        ("driver", device(&format!("{serial} == device.driver"), "gpu.acme.com")),
        ("computed", device("device.attributes['gpu.acme.com']['ser' + 'ial'].startsWith('GPU')", "GPU-1")),
        ("claims", claims),
    ] {
        let dump = read(&serde_json::json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string());
        let cluster = dump.cluster();
        let decided = decisions(&cluster);
        let scheduled = decided.values().filter(|decision| decision["outcome"] == "scheduled").count();
        assert_eq!(scheduled, cluster.pods.iter().count(), "{what}: {decided:?}");
        check_redacted(what, &cluster);
    }
}

/// A node's wish to avoid the pods of a controller counts in v1.20.
#[test]
fn nodes_avoid_the_same_pods_when_redacted() {
    let controller =
        serde_json::json!({"apiVersion": "v1", "kind": "ReplicationController", "name": "rc", "uid": "uid-1", "controller": true});
    let avoid = serde_json::json!({"preferAvoidPods": [{"podSignature": {"podController": controller}}]}).to_string();
    let node = |name: &str, cpu: &str, annotations: Value| {
        serde_json::json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "annotations": annotations},
            "status": {"allocatable": {"cpu": cpu, "pods": "10"}}})
    };
    let items = serde_json::json!([
        node("big", "64", serde_json::json!({"scheduler.alpha.kubernetes.io/preferAvoidPods": avoid})),
        node("small", "4", serde_json::json!({})),
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "d", "uid": "u", "ownerReferences": [controller]},
            "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"phase": "Pending"}},
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("dump.json"), serde_json::json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string()).unwrap();
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    run(&["capture", &path("redacted.json"), "--redact", "--from", &path("dump.json")]);
    for from in ["dump.json", "redacted.json"] {
        let pods = load(&[Input::Path(path(from).into())]).cluster().pods.iter().map(|pod| pod.key()).collect::<Vec<_>>();
        let [pod] = &pods[..] else { panic!("{pods:?}") };
        let answer = run(&["explain", &pod.name, "-n", &pod.namespace, "--from", &path(from), "--emulate", "1.20", "-o", "json"]);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        // Names sort as before: the second one is the small node.
        assert_eq!(answer["node"], answer["feasible"][1], "{from}: {answer}");
        assert_eq!(answer["score"][0]["plugins"]["NodePreferAvoidPods"], 0, "{from}: {answer}");
    }
}

/// Texts in every place of every kind that users or drivers fill are in no redacted capture.
#[test]
fn planted_names_are_in_no_redacted_capture() {
    let planted = |kind: &str, version: &str, rest: Value| {
        let mut object = serde_json::json!({"kind": kind, "apiVersion": version, "metadata": {
            "name": format!("planted-{}", kind.to_lowercase()), "namespace": "planted-ns", "uid": "planted-uid",
            "labels": {"planted.io/key": "planted-value", "kubernetes.io/cluster/planted-cluster": "owned", "node.kubernetes.io/planted-pool": "x"},
            "annotations": {"planted.io/note": "planted-note", "kubernetes.io/planted-annotation": "planted", "pv.kubernetes.io/provisioned-by": "d.io"},
            "finalizers": ["kubernetes.io/planted-finalizer"],
        }});
        for (key, value) in rest.as_object().unwrap() {
            object[key] = value.clone();
        }
        object
    };
    let key = "example.kubernetes.io/planted-key";
    let items = [
        planted(
            "Node",
            "v1",
            serde_json::json!({"spec": {"taints": [{"key": key, "value": "planted-taint", "effect": "NoSchedule"}], "providerID": "planted-id"},
                "status": {"allocatable": {"cpu": "4", "pods": "10"}, "conditions": [{"type": "PlantedCondition", "reason": "PlantedReason", "message": "planted message"}],
                    "images": [{"names": ["planted.io/image:planted-tag"], "sizeBytes": 1}]}}),
        ),
        planted(
            "Pod",
            "v1",
            serde_json::json!({"spec": {"containers": [{"name": "planted-c", "image": "planted-image:v1", "command": ["planted-command"],
                    "env": [{"name": "PLANTED", "value": "planted-secret"}]}],
                "nodeSelector": {key: "planted-selector"}, "tolerations": [{"key": key, "value": "planted-tolerated"}],
                "schedulingGates": [{"name": "kubernetes.io/planted-gate"}], "schedulerName": "default-scheduler"},
                "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "PlantedReason", "message": "planted message"}]}}),
        ),
        planted(
            "ResourceSlice",
            "resource.k8s.io/v1",
            serde_json::json!({"spec": {"driver": "d.io", "pool": {"name": "planted-pool", "generation": 1, "resourceSliceCount": 1}, "nodeName": "planted-node",
                "sharedCounters": [{"name": "planted-set", "counters": {"planted-counter": {"value": "8"}}}],
                "devices": [{"name": "planted-device", "attributes": {"serial": {"string": "planted-serial"}},
                    "consumesCounters": [{"counterSet": "planted-set", "counters": {"planted-counter": {"value": "4"}}}],
                    "taints": [{"key": key, "value": "planted-taint", "effect": "NoSchedule"}]}]}}),
        ),
        planted(
            "PodDisruptionBudget",
            "policy/v1",
            serde_json::json!({"spec": {"selector": {"matchLabels": {key: "planted-match"}}}, "status": {"disruptedPods": {"planted-pod": "2026-01-01T00:00:00Z"}}}),
        ),
    ];
    let list = serde_json::json!({"kind": "List", "apiVersion": "v1", "items": items});
    let loaded = load(&[Input::Bytes { name: "in".to_owned(), bytes: list.to_string().into_bytes().into() }]);
    let cluster = loaded.cluster();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("redacted.json");
    assert_eq!(
        Capture { cluster: &cluster, events: &[], neighbors: None, version: None, unknown: NONE, redact: Some(&WORDS) }
            .save(&path)
            .unwrap(),
        4
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.to_lowercase().find("planted");
    assert_eq!(at.map(|at| &text[at.saturating_sub(60)..(at + 60).min(text.len())]), None);
}
