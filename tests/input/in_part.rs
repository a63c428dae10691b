//! Sources that were read in part: what may be missing is known to be unknown.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use schedscope::cluster::{Cluster, Kind, MissingKinds, MissingReason};
use schedscope::source::capture::Capture;
use schedscope::source::{Input, Loaded, load};
use serde_json::{Value, json};

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}})
}

fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"}, "spec": {"containers": []}})
}

fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})
}

/// Returns a list as an API server writes it, its kind first.
fn typed(kind: &str, items: &[Value]) -> String {
    format!(r#"{{"kind":"{kind}List","apiVersion":"v1","items":{}}}"#, Value::from(items))
}

fn missing(bytes: &[u8]) -> MissingKinds {
    load(&[Input::Bytes { name: "in".to_owned(), bytes: Cow::Owned(bytes.to_vec()) }]).report.missing()
}

/// Returns the dump in several forms, each with the offset behind its last item.
fn forms() -> Vec<(String, usize)> {
    let items = [node("n1"), node("n2"), pod("a"), pod("b"), pod("c")];
    let compact = list(&items).to_string();
    let pretty = serde_json::to_string_pretty(&list(&items)).unwrap();
    let yaml = serde_yaml::to_string(&list(&items)).unwrap();
    let lists = format!("{}\n{}\n", typed("Node", &items[..2]), typed("Pod", &items[2..]));
    let end = |text: &str, mark: &str| text.rfind(mark).unwrap();
    [(compact, "]"), (pretty, "]"), (yaml, "kind: List"), (lists, "]")]
        .into_iter()
        .map(|(text, mark)| (text.clone(), end(&text, mark)))
        .collect()
}

proptest! {
    /// Wherever a list is cut, nodes or pods are known to be known in part.
    #[test]
    fn a_cut_list_is_known_in_part(form in 0..4_usize, at in 0.0..1.0_f64) {
        let (text, end) = &forms()[form];
        let at = 1 + (at * (*end - 2) as f64) as usize;
        prop_assume!(text.is_char_boundary(at));
        let lists_end = text.find("}\n{").map(|at| at + 1);
        // Between two whole lists nothing shows that another one was to come.
        prop_assume!(lists_end.is_none_or(|between| at != between && at != between + 1));
        prop_assert!(missing(&text.as_bytes()[..at]).decides_on_part(), "{}", &text[..at]);
    }
}

#[test]
fn whole_lists_are_known() {
    for (text, _) in forms() {
        let missing = missing(text.as_bytes());
        assert!(!missing.decides_on_part() && missing.incomplete.is_empty() && missing.failed.is_empty(), "{text}");
    }
}

#[test]
fn a_cut_typed_list_takes_its_kind_only() {
    let text = format!("{}\n{}", typed("Node", &[node("n1")]), typed("Pod", &[pod("a"), pod("b")]));
    let missing = missing(&text.as_bytes()[..text.len() - 8]);
    assert_eq!(missing.why(Kind::Pod), Some(MissingReason::Failed));
    assert_eq!(missing.why(Kind::Node), None);
    assert_eq!(missing.incomplete.iter().count(), 0);
}

fn folder(build: impl FnOnce(&Path)) -> MissingKinds {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("nodes.json"), list(&[node("n1")]).to_string()).unwrap();
    build(folder.path());
    load(&[Input::Path(folder.path().to_owned())]).report.missing()
}

#[test]
fn a_folder_in_part_is_reported_by_what_is_left_out() {
    let pods = list(&[pod("a")]).to_string();
    assert_eq!(folder(|at| fs::write(at.join("pods.json"), &pods).unwrap()).why(Kind::Pod), None);
    let in_part = |build: &dyn Fn(&Path)| {
        let missing = folder(build);
        assert_eq!(missing.why(Kind::Node), None);
        missing.why(Kind::Pod)
    };
    let partial = Some(MissingReason::Incomplete);
    assert_eq!(in_part(&|at| fs::write(at.join("pods.json"), "").unwrap()), partial, "empty");
    assert_eq!(in_part(&|at| fs::write(at.join("pods.json"), "{{{").unwrap()), partial, "broken");
    assert_eq!(in_part(&|at| fs::write(at.join("pods.json"), [1; 999]).unwrap()), partial, "binary");
    assert_eq!(in_part(&|at| fs::write(at.join(".pods.json"), &pods).unwrap()), partial, "hidden");
    assert_eq!(in_part(&|at| fs::write(at.join("._pods.json"), &pods).unwrap()), Some(MissingReason::NotInSource), "a shadow");
    let hidden = |at: &Path| {
        fs::create_dir(at.join(".old")).unwrap();
        fs::write(at.join(".old/pods.json"), &pods).unwrap();
    };
    assert_eq!(in_part(&hidden), partial, "in a hidden folder");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;
        assert_eq!(in_part(&|at| symlink("/nowhere/pods.json", at.join("pods.json")).unwrap()), partial, "a broken link");
        assert_eq!(in_part(&|at| symlink("/dev/null", at.join("pods.json")).unwrap()), partial, "a link out");
        assert_eq!(in_part(&|at| drop(UnixListener::bind(at.join("pods.json")).unwrap())), partial, "a socket");
    }
    // A file that names no kind may have held any.
    let all = folder(|at| fs::write(at.join("dump.json"), "{\"kind\": [").unwrap());
    assert_eq!((all.why(Kind::Pod), all.why(Kind::StorageClass)), (partial, partial));
}

/// Returns why pods are not known where a folder also holds a file.
fn with_file(name: &str, content: &[u8]) -> Option<MissingReason> {
    let pods = list(&[pod("a")]).to_string();
    folder(|at| {
        fs::write(at.join("pods.json"), &pods).unwrap();
        fs::write(at.join(name), content).unwrap();
    })
    .why(Kind::Pod)
}

/// Damage counts whatever a name promises, and readable files of other kinds do not.
#[test]
fn files_that_cannot_be_read_count_whatever_their_names_are() {
    use crate::archives::{gzip, tar, zip};
    let partial = Some(MissingReason::Incomplete);
    let text = list(&[pod("b")]).to_string().into_bytes();
    let packed = gzip(&text);
    let noise: Vec<u8> = (0..5_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for (name, content) in [
        ("b.bin", &packed[..12]),
        ("cluster.dump.gz", &packed[..10]),
        ("b.dump.gz", &packed[..packed.len() / 3]),
        ("b.tar.gz", b""),
        ("b.tar.gz", &noise),
        ("b.tar.gz", b"502 Bad Gateway"),
        ("b.zip", b""),
        ("b.json.gz", b""),
        ("b.json", &[b'\n'; 6_000]),
        ("snap.db", b""),
        ("db", &[0; 10_000]),
        ("segment-0000000001.ssj", b"ssj2\0\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f"),
    ] {
        assert_eq!(with_file(name, content), partial, "{name} {} bytes", content.len());
        // In an archive as well.
        let members =
            [("nodes.json".to_owned(), list(&[node("n1"), pod("a")]).to_string().into_bytes()), (name.to_owned(), content.to_vec())];
        for archive in [tar(&members), zip(&members)] {
            assert_eq!(missing(&archive).why(Kind::Pod), partial, "{name} in an archive");
        }
    }
    let log = gzip(b"I1120 one line of a log\n");
    for (name, content) in [
        ("kubelet.log", &noise[..]),
        ("kubelet.log.gz", &log[..20]),
        ("kubelet.log.gz", b"I1120 plain\n"),
        ("messages.gz", &log),
        ("notes.txt.gz", b"plain text\n"),
        ("index.html", b"<html></html>"),
        ("a.png", &noise),
        ("history.db", b"SQLite format 3\0"),
        ("empty.txt", b""),
        // Archives without members.
        ("archive.tar", &[0; 1024]),
        ("archive.tar", &[0; 10_240]),
    ] {
        assert_eq!(with_file(name, content), None, "{name}");
    }
}

/// A folder that cannot be listed may hold anything, whatever its name is.
#[cfg(unix)]
#[test]
fn folders_that_are_not_listed_count() {
    use std::os::unix::fs::symlink;
    let elsewhere = tempfile::tempdir().unwrap();
    let pods = list(&[pod("a")]).to_string();
    for name in ["ns.prod", "prod", "old.log"] {
        let why = |link: &Path| {
            let of = |at: &Path| {
                fs::write(at.join("pods.json"), &pods).unwrap();
                symlink(link, at.join(name)).unwrap();
            };
            folder(of).why(Kind::Pod)
        };
        assert_eq!(why(elsewhere.path()), Some(MissingReason::Incomplete), "{name}");
    }
    let file = elsewhere.path().join("kubelet.log");
    fs::write(&file, "").unwrap();
    let of = |at: &Path| {
        fs::write(at.join("pods.json"), &pods).unwrap();
        symlink(&file, at.join("kubelet.log")).unwrap();
    };
    assert_eq!(folder(of).why(Kind::Pod), None);
}

#[test]
fn a_capture_keeps_what_is_unknown() {
    let reasons = [MissingReason::Refused, MissingReason::Failed, MissingReason::Incomplete, MissingReason::Partial];
    let folder = tempfile::tempdir().unwrap();
    for why in reasons {
        for has_objects in [false, true] {
            let loaded =
                load(&[Input::Bytes { name: "in".to_owned(), bytes: list(&[node("n1"), pod("a")]).to_string().into_bytes().into() }]);
            let kind = if has_objects { Kind::Pod } else { Kind::PodDisruptionBudget };
            let mut cluster: Cluster = loaded.objects.into_iter().collect();
            let set = [kind].into_iter().collect();
            match why {
                MissingReason::Refused => cluster.unknown.refused = set,
                MissingReason::Failed => cluster.unknown.failed = set,
                MissingReason::Incomplete => cluster.unknown.incomplete = set,
                _ => cluster.unknown.partial = set,
            }
            let unknown = [kind].into();
            let path = folder.path().join(format!("{why:?}{has_objects}.json"));
            Capture { cluster: &cluster, events: &[], neighbors: None, version: None, unknown: &unknown, redact: None }
                .save(&path)
                .unwrap();
            let again = load(&[Input::Path(path)]);
            assert_eq!(again.report.missing().why(kind), Some(why), "{kind}");
            assert_eq!(again.objects.len(), 2);
            if !has_objects && why != MissingReason::Partial {
                assert!(again.report.missing().budgets);
            }
        }
    }
}

/// A capture of a source in part is written, and ends as every answer about it.
#[test]
fn a_capture_of_a_source_in_part_ends_with_3() {
    let folder = tempfile::tempdir().unwrap();
    let dump = typed("PodList", &[pod("a"), pod("b")]);
    for (text, expected) in [(&dump[..], 0), (&dump[..dump.len() - 30], 3)] {
        let of = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let (nodes, pods) = (of("nodes.json", &typed("NodeList", &[node("n1")])), of("pods.json", text));
        let captured = folder.path().join(format!("{expected}.json"));
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"))
            .args(["capture".as_ref(), captured.as_os_str(), "--from".as_ref(), nodes.as_os_str(), "--from".as_ref(), pods.as_os_str()])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(expected), "{output:?}");
        assert!(captured.exists());
    }
}

/// Returns the exit code, standard output and standard error of an answer about a source, and of its capture.
fn explained(args: &[&str], source: &Path) -> [(i32, String); 2] {
    let capture = source.parent().unwrap().join(format!("{}-captured.json", source.file_stem().unwrap().to_str().unwrap()));
    let run = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (out.status.code().unwrap(), text(out.stdout) + &text(out.stderr))
    };
    if !capture.exists() {
        run(&["capture", capture.to_str().unwrap(), "--from", source.to_str().unwrap()]);
    }
    [source, &capture].map(|from| run(&[args, &["--from", from.to_str().unwrap()]].concat()))
}

#[test]
fn a_workload_of_a_kind_that_was_not_read_whole_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let deployment = |name: &str, replicas: Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"}, "spec": {"replicas": replicas}});
    let (web, api) = (deployment("web", json!("three")), deployment("api", json!(3)));
    let refusal = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
        "details": {"group": "apps", "kind": "deployments"}});
    let deployments = format!(r#"{{"kind":"DeploymentList","apiVersion":"apps/v1","items":[{api},{web}]}}"#);
    let whole = format!("{}{}", typed("Node", &[node("n1")]), typed("Pod", &[pod("a")]));
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    };
    write("unreadable.json", &list(&[node("n1"), web, api.clone()]).to_string());
    write("refused.json", &list(&[node("n1"), refusal]).to_string());
    write("cut.json", &format!("{whole}{}", &deployments[..deployments.len() - 9]));
    for (file, text) in [("nodes", typed("Node", &[node("n1")])), ("pods", typed("Pod", &[pod("a")]))] {
        write(&format!("folder/{file}.json"), &text);
        write(&format!("empty/{file}.json"), &text);
    }
    write("folder/deployments.json", &deployments[..deployments.len() - 9]);
    write("empty/deployments.json", "");
    for (source, why) in [
        ("unreadable.json", "may be missing"),
        ("refused.json", "cannot be read"),
        ("cut.json", "could be read"),
        ("folder", "could be read"),
        ("empty", "may be missing"),
    ] {
        for (code, said) in explained(&["explain", "deployment/web", "-n", "shop"], &folder.path().join(source)) {
            assert!(code == 3 && said.contains("Deployments") && said.contains(why), "{source}: {code} {said}");
        }
    }
    let refused = folder.path().join("refused.json");
    let screen = folder.path().join("screen.txt");
    let args = ["open", refused.to_str().unwrap(), "--workload", "deployment/shop/web", "--print", screen.to_str().unwrap()];
    let out = Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("no workload deployment/shop/web in the source; Deployments cannot be read (no permission)"), "{said}");
    // Pods and nodes are whole there.
    for (code, said) in explained(&["explain", "a", "-n", "shop"], &folder.path().join("folder")) {
        assert_eq!(code, 0, "{said}");
    }
    // A namespace that only has a workload exists.
    write("short.json", &format!("{}{}", list(&[node("n1"), api.clone()]), typed("Pod", &[])));
    for (code, said) in explained(&["explain", "deployment/api", "-n", "shop"], &folder.path().join("short.json")) {
        assert!(code == 1 && said.contains("0 of 3 pods are ready"), "{code} {said}");
    }
    // Without a pod or an empty list of them it is unknown how many there are.
    write("uncounted.json", &list(&[node("n1"), api]).to_string());
    for (code, said) in explained(&["explain", "deployment/api", "-n", "shop"], &folder.path().join("uncounted.json")) {
        let sentence = "3 pods are wanted; how many exist is unknown: the source contains no Pods.";
        assert!(code == 3 && said.contains(sentence) && said.contains("UNKNOWN"), "{code} {said}");
    }
}

/// Returns the reason for which a kind is unknown in a file.
fn why(text: &str, kind: Kind) -> Option<MissingReason> {
    loaded(text).report.missing().why(kind)
}

fn loaded(text: &str) -> Loaded {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    load(&[Input::Path(file.path().to_owned())])
}

#[test]
fn a_list_with_an_item_that_is_none_lacks_it() {
    let (head, a, b) = (r#"{"kind":"PodList","apiVersion":"v1","items":["#, pod("a"), pod("b"));
    let nodes = typed("Node", &[node("n1")]);
    let failed = Some(MissingReason::Failed);
    let kind_last = |items: &str| format!(r#"{{"apiVersion":"v1","items":[{items}],"kind":"PodList","metadata":{{}}}}"#);
    for (what, list) in [
        ("a string", format!("{head}{a},\"oops\",{b}]}}")),
        ("the same with the kind behind", kind_last(&format!("{a},\"oops\",{b}"))),
        ("a list", format!("{head}{a},[],{b}]}}")),
        ("a stray bracket", format!("{head}{a}}},{b}]}}")),
        ("another bracket", format!("{head}{a}]],{b}]}}")),
        ("two lists of items", format!("{head}{a}],\"items\":[{b}]}}")),
        ("broken syntax", format!("{head}{a},{{\"kind\" \"Pod\"}},{b}]}}")),
        (
            "a list within a list",
            json!({"kind": "List", "apiVersion": "v1", "items": [{"kind": "PodList", "apiVersion": "v1", "items": [a, 7, b]}]}).to_string(),
        ),
    ] {
        assert_eq!(why(&format!("{nodes}\n{list}"), Kind::Pod), failed, "{what}: {list}");
        assert_eq!(why(&format!("{list}\n{nodes}"), Kind::Node), None, "{what}: {list}");
    }
    let yaml = |items: &str| format!("apiVersion: v1\nitems:\n{items}kind: PodList\nmetadata: {{}}\n");
    let item = "- metadata:\n    name: a\n  spec:\n    containers: []\n";
    assert_eq!(why(&yaml(item), Kind::Pod), None);
    for broken in ["- metadata:\n    name: b\n  \0\0\0\0:\n    containers: []\n", "- text\n", "Error from server (Timeout): try again\n"] {
        assert_eq!(why(&yaml(&format!("{item}{broken}{item}")), Kind::Pod), failed, "{broken:?}");
    }
    // Of a list of any kinds, it may be one of each.
    let mixed = json!({"kind": "List", "apiVersion": "v1", "items": [node("n1"), a, {"metadata": {"name": "c"}}]}).to_string();
    assert_eq!((why(&mixed, Kind::Pod), why(&mixed, Kind::Node)), (Some(MissingReason::Incomplete), Some(MissingReason::Incomplete)));
    // So may a document behind others.
    let documents = format!("{}---\n{}---\napiVers", serde_yaml::to_string(&a).unwrap(), serde_yaml::to_string(&node("n1")).unwrap());
    assert_eq!(why(&documents, Kind::Pod), Some(MissingReason::Incomplete));
}

#[test]
fn a_page_of_a_list_lacks_the_others() {
    let page = json!({"continue": "eyJ2Ijo", "remainingItemCount": 77});
    let first = json!({"kind": "PodList", "apiVersion": "v1", "metadata": page, "items": [pod("a")]});
    let last = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": ""}, "items": [pod("a")]});
    let kind_last = format!(r#"{{"apiVersion":"v1","items":[{}],"kind":"PodList","metadata":{page}}}"#, pod("a"));
    let within = json!({"kind": "List", "apiVersion": "v1", "items": [first]});
    for (list, expected) in [(&first, true), (&last, false), (&within, true)] {
        let yaml = serde_yaml::to_string(list).unwrap();
        for text in [list.to_string(), serde_json::to_string_pretty(list).unwrap(), yaml.clone(), format!("# merged\nx: &x {{}}\n{yaml}")] {
            assert_eq!(why(&text, Kind::Pod), expected.then_some(MissingReason::Failed), "{text}");
        }
    }
    assert_eq!(why(&kind_last, Kind::Pod), Some(MissingReason::Failed));
    let said = loaded(&first.to_string()).diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(said.contains(": holds a page of a longer list of Pods: 77 more items was left out"), "{said}");
}

#[test]
fn a_list_counts_for_the_kind_of_its_group() {
    let empty = |kind: &str, version: &str| json!({"kind": format!("{kind}List"), "apiVersion": version, "items": []}).to_string();
    let absent = Some(MissingReason::NotInSource);
    for (kind, version, model, expected) in [
        ("Node", "v1", Kind::Node, None),
        ("Node", "longhorn.io/v1beta2", Kind::Node, absent),
        ("Service", "serving.knative.dev/v1", Kind::Service, absent),
        ("PodDisruptionBudget", "policy/v1", Kind::PodDisruptionBudget, None),
        ("PodDisruptionBudget", "v1", Kind::PodDisruptionBudget, absent),
    ] {
        assert_eq!(why(&format!("{}\n{}", empty(kind, version), pod("a")), model), expected, "{kind} {version}");
    }
    // An empty list is one in any form.
    for text in [
        r#"{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":null}"#,
        "apiVersion: policy/v1\nitems: []\nkind: PodDisruptionBudgetList\n",
        "kind: PodDisruptionBudgetList\napiVersion: policy/v1\nitems: []\n",
    ] {
        let loaded = loaded(text);
        assert_eq!((loaded.report.missing().why(Kind::PodDisruptionBudget), loaded.diagnostics.len()), (None, 0), "{text}");
    }
}

#[test]
fn an_error_in_place_of_objects_loses_what_its_file_promised() {
    let unauthorized =
        r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#;
    assert_eq!(folder(|at| fs::write(at.join("pods.json"), unauthorized).unwrap()).why(Kind::Pod), Some(MissingReason::Incomplete));
    assert_eq!(why(&format!("{}\n{unauthorized}", pod("a")), Kind::Pod), Some(MissingReason::Incomplete));
    let watch = format!(r#"{{"type":"ADDED","object":{}}}"#, pod("a"));
    let ended = format!("{watch}\n{{\"type\":\"ERROR\",\"object\":{unauthorized}}}\n");
    assert_eq!((why(&watch, Kind::Pod), why(&ended, Kind::Pod)), (None, Some(MissingReason::Incomplete)));
    // A file of a folder that names no kind may have held any, where its extension promises objects.
    for text in [
        "",
        "\0\0\0\0\0\0\0\0",
        "Unable to connect to the server: EOF\n",
        "Error from server (Forbidden): pods is forbidden\n",
        "all is lost",
    ] {
        let lost = folder(|at| fs::write(at.join("shop.json"), text).unwrap());
        assert_eq!((lost.why(Kind::Pod), lost.why(Kind::Node)), (Some(MissingReason::Incomplete), None), "{text}");
    }
    for (name, text) in [
        ("notes.txt", "all is lost"),
        ("mode.json", "\"local\""),
        ("values.yaml", "replicas: 2\n"),
        ("values.json", "{\"replicas\": 2}"),
        ("list.json", "[{\"a\": 1}]"),
    ] {
        let pods = typed("Pod", &[pod("a")]);
        let known = folder(|at| {
            fs::write(at.join("pods.json"), &pods).unwrap();
            fs::write(at.join(name), text).unwrap();
        });
        assert_eq!((known.why(Kind::Pod), known.why(Kind::PodDisruptionBudget)), (None, Some(MissingReason::NotInSource)), "{name}");
    }
}

#[test]
fn what_follows_a_compressed_text_or_an_archive_is_not_left_out_silently() {
    use std::io::Write;
    let gzip = |text: &str| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    };
    let (nodes, pods) = (gzip(&typed("Node", &[node("n1")])), gzip(&typed("Pod", &[pod("a")])));
    let together = |tail: &[u8]| missing(&[&nodes[..], &pods, tail].concat());
    assert_eq!((together(&[]).why(Kind::Pod), together(&[0; 700]).why(Kind::Pod)), (None, None));
    for tail in [&b"oops"[..], &pods[1..], &pods[..pods.len() - 3], b"\0\0x"] {
        assert!(together(tail).decides_on_part(), "{tail:?}");
    }
    let tar = |name: &str, text: &str| {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        let mut out = tar::Builder::new(Vec::new());
        out.append_data(&mut header, name, text.as_bytes()).unwrap();
        out.into_inner().unwrap()
    };
    let both = [tar("nodes.json", &typed("Node", &[node("n1")])), tar("pods.json", &typed("Pod", &[pod("a")]))].concat();
    assert_eq!(missing(&both).why(Kind::Pod), Some(MissingReason::Incomplete));
}

#[test]
fn lists_of_one_namespace_say_nothing_of_others() {
    let budgets = r#"{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":[]}"#;
    let of = |namespaces: &[&str]| {
        folder(|at| {
            fs::write(at.join("pods.json"), typed("Pod", &[pod("a")])).unwrap();
            fs::create_dir_all(at.join("cluster-resources/pod-disruption-budgets")).unwrap();
            for namespace in namespaces {
                fs::write(at.join(format!("cluster-resources/pod-disruption-budgets/{namespace}.json")), budgets).unwrap();
            }
        })
        .why(Kind::PodDisruptionBudget)
    };
    assert_eq!((of(&["kube-system"]), of(&["kube-system", "shop"])), (Some(MissingReason::Partial), None));
}
