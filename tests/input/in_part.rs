//! Sources that were read in part: what may be missing is known to be unknown.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use schedscope::cluster::{Cluster, Kind, MissingKinds, MissingReason};
use schedscope::source::capture::Capture;
use schedscope::source::{Input, load};
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
