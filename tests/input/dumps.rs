//! Dumps of the story `budgets` as tools write them: each decides about `shop/checkout` as the story does, or names the
//! missing facts. `fixtures/dumps` holds them as directories and texts; the tests build archives of these.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use schedscope::cluster::{Key, Kind, MissingReason, Object};
use schedscope::source::{Input, Limits, Loaded, Severity, Story, load, load_within};
use serde_json::Value;

use crate::archives::{bzip2, gzip, members, nested, tar, tar_with_links, xz, zip, zstd};
use crate::deciding::{decision, scheduler};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dumps").join(name)
}

fn load_path(name: &str) -> Loaded {
    load(&[Input::Path(fixture(name))])
}

fn load_bytes(name: &str, bytes: Vec<u8>) -> Loaded {
    load(&[Input::Bytes { name: name.to_owned(), bytes: Cow::Owned(bytes) }])
}

/// Decides about the preemptor in a cluster of these objects, without the kinds in `without`.
fn decided(objects: &[Object], without: &[Kind]) -> Value {
    let objects = objects.iter().filter(|o| !without.contains(&o.kind())).cloned().collect();
    decision(&scheduler(objects, "2026-11-20T12:00:00Z".parse().unwrap()), &Key::new("shop", "checkout"))
}

fn of_story(without: &[Kind]) -> Value {
    decided(&load(&[Story::named("budgets").unwrap().input()]).objects, without)
}

/// Returns all diagnostics as `severity place: message`, without the path of the fixtures.
fn remarks(loaded: &Loaded) -> Vec<String> {
    let folder = format!("{}/", fixture("").display());
    loaded
        .diagnostics
        .iter()
        .map(|d| format!("{} {d}", d.severity).replace(&folder, "").replace(folder.trim_end_matches('/'), ""))
        .collect()
}

/// The expected properties of a dump: its layout, server version and time, its facts about the scheduler, its missing
/// kinds, and the start of each diagnostic.
struct Expected {
    layout: &'static str,
    version: &'static str,
    taken: &'static str,
    scheduler: &'static [&'static str],
    lacks: &'static [Kind],
    remarks: &'static [&'static str],
}

const PLAIN: Expected = Expected { layout: "", version: "v1.31.2", taken: "", scheduler: &[], lacks: &[], remarks: &[] };

#[track_caller]
fn check(loaded: &Loaded, expected: &Expected) {
    let report = &loaded.report;
    assert_eq!(report.layout.to_string(), expected.layout);
    assert_eq!(report.server_version.as_ref().map_or("", |v| v.version.as_str()), expected.version);
    assert_eq!(report.taken.map_or_else(String::new, |t| t.to_string()), expected.taken);
    assert_eq!(report.scheduler.iter().map(|h| h.what.as_str()).collect::<Vec<_>>(), expected.scheduler);
    for kind in expected.lacks {
        assert!(report.absent.iter().any(|absence| absence.kind == *kind), "{kind} is there");
    }
    let found = remarks(loaded);
    let fits = found.len() == expected.remarks.len() && found.iter().zip(expected.remarks).all(|(found, start)| found.starts_with(start));
    assert!(fits, "expected {:#?}, found {found:#?}", expected.remarks);
    assert_eq!(decided(&loaded.objects, &[]), of_story(expected.lacks));
    for object in &loaded.objects {
        let text = report.original(object.kind(), &object.key()).unwrap().unwrap();
        assert!(text.contains(object.meta().name.as_str()), "{} {}: {text}", object.kind(), object.key());
    }
}

const STATIC_POD: &[&str] = &["kube-scheduler v1.31.2, started with --config=/etc/kubernetes/scheduler.yaml"];

fn cluster_info() -> Expected {
    Expected { layout: "kubectl cluster-info dump", scheduler: STATIC_POD, lacks: &[Kind::PodDisruptionBudget, Kind::Namespace], ..PLAIN }
}

fn support_bundle() -> Expected {
    Expected {
        layout: "Replicated support bundle",
        scheduler: STATIC_POD,
        remarks: &["note 3 files hold no Kubernetes objects", "warning 1 file says that not everything could be collected: "],
        ..PLAIN
    }
}

fn must_gather() -> Expected {
    Expected {
        layout: "OpenShift must-gather",
        taken: "2026-11-20T10:01:30.25Z",
        scheduler: &[
            "kube-scheduler quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:0b1c, started with \
             --config=/etc/kubernetes/static-pod-resources/configmaps/config/config.yaml",
            "OpenShift scheduler profile HighNodeUtilization",
        ],
        remarks: &[
            "note 3 files hold no Kubernetes objects",
            "warning ",
            "note this OpenShift must-gather holds the platform's own namespaces",
        ],
        ..PLAIN
    }
}

/// The pods of a single namespace, on nodes with kubelets.
const NAMESPACED: &[&str] = &["note all pods are of the namespace shop; if those of others were left out"];

#[test]
fn kubectl_lists_and_watches() {
    check(&load_path("kubectl.json"), &Expected { layout: "kubectl get", remarks: NAMESPACED, ..PLAIN });
    check(&load_path("watch.json"), &Expected { layout: "kubectl get", remarks: NAMESPACED, ..PLAIN });
}

#[test]
fn layouts_that_hold_only_some_pods_say_so() {
    let why = |name: &str| load_path(name).report.missing().why(Kind::Pod);
    let partial = ["kubectl.json", "cluster-info", "insights"];
    for name in partial {
        assert_eq!(why(name), Some(MissingReason::Selected), "{name}");
    }
    for name in ["kwok.yaml", "velero", "202611201000_sonobuoy_0b1c"] {
        assert_eq!(why(name), None, "{name}");
    }
}

#[test]
fn cluster_info_dumps_as_directory_and_as_text() {
    let partial: &[&str] = &["note 1 file holds no Kubernetes objects", "warning kubectl cluster-info dump took kube-system and shop only"];
    check(&load_path("cluster-info"), &Expected { remarks: partial, ..cluster_info() });
    for name in ["cluster-info.json.txt", "cluster-info.yaml.txt"] {
        check(&load_path(name), &cluster_info());
    }
}

#[test]
fn must_gathers_of_several_roots() {
    let loaded = load_path("must-gather");
    check(&loaded, &must_gather());
    let empty = "inspect.local.42/namespaces/openshift-kube-scheduler/core/pods.yaml is empty, though its name promises objects";
    assert!(remarks(&loaded).iter().any(|remark| remark.contains(empty)), "{:#?}", remarks(&loaded));
    // The list wins over the older copy next to it.
    let pod = loaded.cluster().pods.get(&Key::new("shop", "cart-0")).unwrap().clone();
    assert_eq!(pod.node_name, "big-1");
}

#[test]
fn dumps_of_old_kubectls_print_internal_types() {
    let loaded = load_path("cluster-info-v1.13");
    let lacks = &[Kind::PodDisruptionBudget, Kind::Namespace];
    check(&loaded, &Expected { layout: "kubectl get", lacks, remarks: NAMESPACED, ..PLAIN });
    // The list of services is empty, and only its path names the kind.
    assert!(loaded.report.absent.iter().all(|absence| absence.kind != Kind::Service));
    let text = loaded.report.original(Kind::Pod, &Key::new("shop", "cart-0")).unwrap().unwrap();
    assert!(schedscope::source::as_yaml(&text, Kind::Pod, &Key::new("shop", "cart-0")).unwrap().contains("NodeName: big-1"));
}

#[test]
fn insights_archives_hold_objects_that_only_paths_name() {
    let loaded = load_path("insights");
    let expected = Expected {
        layout: "OpenShift Insights archive",
        lacks: &[Kind::Service],
        remarks: &[
            "note 4 files hold no Kubernetes objects; skipped",
            "note 1 object was not read, since no path or field shows a kind: ",
            "note this OpenShift Insights archive holds a selection of the platform's pods",
        ],
        ..PLAIN
    };
    check(&loaded, &expected);
    assert_eq!(loaded.report.kinds[&Kind::Pod].read, 10);
    // Alerts are no objects of the cluster, so that nothing of it is left out.
    let missing = loaded.report.missing();
    assert_eq!((loaded.report.left_out, missing.incomplete.iter().count(), missing.why(Kind::Pod)), (0, 0, Some(MissingReason::Selected)));
}

#[test]
fn lists_of_anything_else_are_no_part_of_the_cluster_but_objects_without_a_kind_are() {
    let node = r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}"#;
    for (name, text, may_lack) in [
        ("alerts.json", r#"[{"labels":{"alertname":"x"}},{"labels":{}}]"#, false),
        ("errors.json", r#"["release: not found"]"#, false),
        ("overlap.json", r#"[["a","b"],["c"]]"#, false),
        ("results.yaml", "name: e2e\nitems:\n- name: junit\n  status: failed\n", false),
        ("objects.json", r#"[{"metadata":{"name":"a"},"spec":{}}]"#, true),
        ("pods.json", r#"["release: not found"]"#, true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("nodes.json"), node).unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        let loaded = schedscope::source::load(&[schedscope::source::Input::Path(folder.path().to_owned())]);
        let incomplete = loaded.report.missing().incomplete.contains(Kind::Pod);
        assert_eq!((incomplete, loaded.report.left_out > 0), (may_lack, may_lack), "{name}: {:?}", loaded.diagnostics);
    }
}

#[test]
fn support_bundles() {
    check(&load_path("support-bundle-2026-11-20T10_00_30"), &support_bundle());
}

#[test]
fn sonobuoy_snapshots() {
    check(
        &load_path("202611201000_sonobuoy_0b1c"),
        &Expected { layout: "Sonobuoy snapshot", remarks: &["note 3 files hold no Kubernetes objects"], ..PLAIN },
    );
}

#[test]
fn velero_backups_count_each_object_once() {
    let loaded = load_path("velero");
    check(&loaded, &Expected { layout: "Velero backup", remarks: &["note 1 file holds no Kubernetes objects"], ..PLAIN });
    assert_eq!(loaded.report.kinds[&Kind::PodDisruptionBudget].superseded, 0);
}

#[test]
fn exports_and_records_of_the_simulator() {
    let export = Expected {
        layout: "kube-scheduler-simulator export",
        scheduler: &["KubeSchedulerConfiguration of default-scheduler"],
        lacks: &[Kind::PodDisruptionBudget],
        ..PLAIN
    };
    let loaded = load_path("simulator-export.json");
    check(&loaded, &export);
    let config = loaded.report.scheduler[0].config.as_deref().unwrap();
    assert!(config.contains("apiVersion: kubescheduler.config.k8s.io/v1") && config.contains("ImageLocality"), "{config}");
    let record = Expected { layout: "kube-scheduler-simulator record", lacks: &[Kind::PodDisruptionBudget], ..PLAIN };
    check(&load_path("simulator-record.jsonl"), &record);
}

#[test]
fn kwok_snapshots() {
    check(&load_path("kwok.yaml"), &Expected { layout: "kwokctl snapshot", lacks: &[Kind::PodDisruptionBudget], ..PLAIN });
}

#[test]
fn rancher_support_bundles() {
    let expected = Expected {
        layout: "Rancher support bundle",
        version: "v1.31.2+k3s1",
        taken: "2026-11-20T10:00:30Z",
        remarks: &["note 2 files hold no Kubernetes objects", "note this Rancher support bundle holds the platform's own namespaces"],
        ..PLAIN
    };
    check(&load_path("supportbundle_0b1c_2026-11-20T10-00-30Z"), &expected);
}

#[test]
fn crash_diagnostics() {
    let remarks: &[&str] = &["note 1 file holds no Kubernetes objects"];
    check(&load_path("crashd"), &Expected { layout: "Crash Diagnostics dump", remarks, ..PLAIN });
}

#[test]
fn cluster_api_artifacts() {
    check(&load_path("cluster-api"), &Expected { layout: "Cluster API artifacts", ..PLAIN });
}

#[test]
fn manifests() {
    let expected = Expected {
        layout: "manifests",
        scheduler: &["KubeSchedulerConfiguration of default-scheduler"],
        remarks: &["note 2 files hold no Kubernetes objects; skipped (1 .md, 1 .yaml)"],
        ..PLAIN
    };
    check(&load_path("manifests"), &expected);
}

#[test]
fn every_archive_reads_as_the_directory_does() {
    let name = "support-bundle-2026-11-20T10_00_30";
    let files = members(&fixture(name), name);
    let tarred = tar(&files);
    let taken = Some("2026-11-20T10:00:30".to_owned());
    for (ending, archive) in [
        ("tar", tarred.clone()),
        ("tar.gz", gzip(&tarred)),
        ("tar.xz", xz(&tarred)),
        ("tar.zst", zstd(&tarred)),
        ("tar.bz2", bzip2(&tarred)),
        ("zip", zip(&files)),
        ("zip.gz", gzip(&zip(&files))),
        // The name makes no difference.
        ("json", gzip(&tarred)),
    ] {
        let loaded = load_bytes(&format!("{name}.{ending}"), archive.clone());
        check(&loaded, &support_bundle());
        assert_eq!(loaded.report.taken_by_name.map(|t| t.to_string()), taken);
        let (file, line) = loaded.report.file_and_line(Kind::Node, &Key::new("", "big-2")).unwrap();
        assert_eq!(file, format!("{name}.{ending}!/{name}/cluster-resources/nodes.json"));
        assert_eq!(line, 31);

        // The same as a file in a directory, and in another archive.
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("bundle"), &archive).unwrap();
        check(&load(&[Input::Path(dir.path().join("bundle"))]), &support_bundle());
        check(&load(&[Input::Path(dir.path().to_owned())]), &support_bundle());
        for outer in [tar as fn(&[(String, Vec<u8>)]) -> Vec<u8>, zip] {
            let outer = outer(&[("collected/bundle".to_owned(), archive.clone())]);
            let loaded = load_bytes("outer", outer);
            check(&loaded, &support_bundle());
            let (file, _) = loaded.report.file_and_line(Kind::Node, &Key::new("", "big-2")).unwrap();
            assert_eq!(file, format!("outer!/collected/bundle!/{name}/cluster-resources/nodes.json"));
        }
    }
    let gathered = tar(&members(&fixture("must-gather"), "must-gather"));
    check(&load_bytes("must-gather.tar.gz", gzip(&gathered)), &must_gather());
}

/// A taint that evicts dates the last change of its node, which agreement with the cluster's scheduler needs.
#[test]
fn the_time_of_a_taint_dates_its_node() {
    let node = |taint: &str| {
        let text = format!(
            r#"{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n", "managedFields": [
                 {{"manager": "x", "time": "2026-11-20T00:00:00Z", "fieldsV1": {{"f:spec": {{}}}}}}]}},
                 "spec": {{"taints": [{{"key": "k", "effect": "NoExecute"{taint}}}]}}}}"#
        );
        let loaded = load_bytes("node.json", text.into_bytes());
        loaded.objects[0].meta().changed.map(|t| t.to_string())
    };
    assert_eq!(node("").as_deref(), Some("2026-11-20T00:00:00Z"));
    assert_eq!(node(r#", "timeAdded": "2026-11-20T01:00:00Z""#).as_deref(), Some("2026-11-20T01:00:00Z"));
    assert_eq!(node(r#", "timeAdded": "2026-11-19T01:00:00Z""#).as_deref(), Some("2026-11-20T00:00:00Z"));
}

#[test]
fn every_compression_of_a_single_text() {
    let text = std::fs::read(fixture("kubectl.json")).unwrap();
    for compress in [gzip, xz, zstd, bzip2] {
        check(&load_bytes("dump", compress(&text)), &Expected { layout: "kubectl get", remarks: NAMESPACED, ..PLAIN });
    }
}

#[test]
fn archives_nest_one_level_and_no_more() {
    let files = members(&fixture("velero"), "");
    let deep = nested(&zip(&files), 2);
    let loaded = load_bytes("deep", deep);
    assert!(loaded.objects.is_empty());
    let found = remarks(&loaded);
    assert!(found[0].starts_with("error deep!/inner!/inner: an archive inside two others is not opened"), "{found:#?}");
}

fn pod(name: &str) -> Vec<u8> {
    format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop"}}}}"#).into_bytes()
}

fn names(loaded: &Loaded) -> Vec<String> {
    loaded.objects.iter().map(|o| o.key().to_string()).collect()
}

#[test]
fn names_of_members_are_only_names_and_links_are_not_followed() {
    let files = [("../../etc/a.json".to_owned(), pod("a")), ("/etc/b.json".to_owned(), pod("b"))];
    for archive in [tar_with_links(&files), zip(&files)] {
        let loaded = load_bytes("x", archive);
        assert_eq!(names(&loaded), ["shop/a", "shop/b"]);
        assert_eq!(loaded.report.file_and_line(Kind::Pod, &Key::new("shop", "a")).unwrap().0, "x!/etc/a.json");
        assert!(
            loaded.diagnostics.iter().all(|d| d.message.starts_with("2 links in archives were not followed")),
            "{:#?}",
            remarks(&loaded)
        );
    }
}

#[test]
fn cut_and_damaged_archives_leave_what_stands_before() {
    let files = [("a.json".to_owned(), pod("a")), ("b.json".to_owned(), pod("b")), ("c.json".to_owned(), pod("c"))];
    let archive = tar(&files);
    let loaded = load_bytes("x.tar", archive[..2 * 1024 + 700].to_vec());
    assert_eq!(names(&loaded), ["shop/a", "shop/b", "shop/c"]);
    let loaded = load_bytes("x.tar", archive[..2 * 1024 + 520].to_vec());
    assert_eq!(names(&loaded), ["shop/a", "shop/b"]);
    let found = remarks(&loaded);
    assert!(found.iter().any(|r| r.starts_with("error x.tar: is truncated (the archive ends within a member)")), "{found:#?}");
    assert!(found.iter().any(|r| r.starts_with("error x.tar!/c.json")), "{found:#?}");
    let mut damaged = archive.clone();
    damaged[1024] = b'?';
    let found = remarks(&load_bytes("x.tar", damaged));
    assert!(found[0].starts_with("error x.tar: is truncated (the header of a member is damaged)"), "{found:#?}");
    let unmarked = remarks(&load_bytes("x.tar", archive[..3 * 1024].to_vec()));
    assert!(unmarked[0].starts_with("warning x.tar: has no end-of-archive marker"), "{unmarked:#?}");

    let whole = gzip(&archive);
    for compressed in [whole[..whole.len() - 12].to_vec(), {
        let x = xz(&archive);
        x[..x.len() / 2].to_vec()
    }] {
        let loaded = load_bytes("x.tar.gz", compressed);
        assert!(
            loaded.diagnostics.iter().any(|d| d.severity == Severity::Error && d.message.contains("is truncated")),
            "{:#?}",
            remarks(&loaded)
        );
    }
    let zipped = zip(&files);
    let loaded = load_bytes("x.zip", zipped[..zipped.len() / 2].to_vec());
    assert!(loaded.objects.is_empty() && loaded.diagnostics[0].severity == Severity::Error, "{:#?}", remarks(&loaded));
    let at = zipped.windows(4).position(|w| w == b"\"b\",").unwrap_or(90);
    let mut damaged = zipped.clone();
    damaged[at] ^= 0xff;
    assert!(!load_bytes("x.zip", damaged).diagnostics.is_empty());
}

#[test]
fn files_that_are_not_what_their_name_says() {
    for (name, content, expected) in [
        ("a.tar.gz", b"hello".to_vec(), "warning a.tar.gz: is not the tar archive that its name suggests: its content is plain text"),
        ("a.tgz", gzip(&pod("a")), "warning a.tgz: is not the tar archive that its name suggests"),
        ("a.zip", Vec::new(), "warning a.zip: is not the zip archive that its name suggests: it is empty"),
        ("a.json.gz", pod("a"), "warning a.json.gz: is not the gzip file that its name suggests"),
        ("a.tar", vec![1; 600], "warning a.tar: is not the tar archive that its name suggests: its content is neither"),
    ] {
        let loaded = load_bytes(name, content.clone());
        assert!(remarks(&loaded)[0].starts_with(expected), "{:#?}", remarks(&loaded));
        // In a directory as well.
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), content).unwrap();
        std::fs::write(dir.path().join("b.json"), pod("b")).unwrap();
        let loaded = load(&[Input::Path(dir.path().to_owned())]);
        assert!(names(&loaded).contains(&"shop/b".to_owned()));
        assert!(loaded.diagnostics[0].message.starts_with("is not the "), "{:#?}", remarks(&loaded));
    }
}

#[test]
fn objects_of_packed_files_are_known_and_read() {
    let key = Key::new("shop", "a");
    for (bytes, packed) in [(pod("a"), false), (gzip(&pod("a")), true), (tar(&[("a.json".to_owned(), pod("a"))]), true)] {
        let loaded = load_bytes("x", bytes);
        assert_eq!(loaded.report.is_packed(Kind::Pod, &key), packed);
        assert_eq!(loaded.report.original(Kind::Pod, &key).unwrap().unwrap().as_bytes(), pod("a"));
    }
}

#[test]
fn bombs_end_at_the_limit_and_the_rest_loads() {
    let bomb = gzip(&vec![b' '; 8 << 20]);
    let files = [("a.json".to_owned(), pod("a")), ("bomb.json.gz".to_owned(), bomb), ("b.json".to_owned(), pod("b"))];
    let limits = Limits { decompressed: 1 << 20, ..Limits::default() };
    let loaded = load_within(&[Input::Bytes { name: "x.tar".into(), bytes: Cow::Owned(tar(&files)) }], &limits);
    assert_eq!(names(&loaded), ["shop/a", "shop/b"]);
    let found = remarks(&loaded);
    assert!(found[0].starts_with("error x.tar!/bomb.json.gz: is truncated (more than 1 MiB came out"), "{found:#?}");

    let inputs: Vec<Input> =
        (0..5).map(|i| Input::Bytes { name: format!("{i}.gz"), bytes: Cow::Owned(gzip(&vec![b' '; 700 << 10])) }).collect();
    let found = remarks(&load_within(&inputs, &limits));
    assert!(found.iter().any(|r| r.starts_with("error 3 compressed files were not read")), "{found:#?}");

    let limits = Limits { files: 2, ..Limits::default() };
    let loaded = load_within(&[Input::Bytes { name: "x.tar".into(), bytes: Cow::Owned(tar(&files)) }], &limits);
    assert_eq!(names(&loaded), ["shop/a"]);
    assert!(
        remarks(&loaded).iter().any(|r| r.starts_with("error x.tar!/bomb.json.gz: is beyond the limit on files")),
        "{:#?}",
        remarks(&loaded)
    );
}

#[cfg(unix)]
#[test]
fn links_must_not_leave_the_directory() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("secret.json"), pod("outside")).unwrap();
    std::fs::create_dir(dir.path().join(".real")).unwrap();
    std::fs::write(dir.path().join(".real/pods.json"), pod("inside")).unwrap();
    for (target, name) in [
        (outside.path().to_owned(), "a"),
        (outside.path().join("secret.json"), "b.json"),
        (PathBuf::from(".real/pods.json"), "pods.json"),
        (PathBuf::from(".real/pods.json"), "twice.json"),
    ] {
        std::os::unix::fs::symlink(target, dir.path().join(name)).unwrap();
    }
    let loaded = load(&[Input::Path(dir.path().to_owned())]);
    assert_eq!(names(&loaded), ["shop/inside"]);
    let found = remarks(&loaded);
    assert!(
        found.len() == 2
            && found[1].starts_with("note 1 hidden file")
            && found[0].contains("leads out of the directory that was given, and is not followed (and 1 more)"),
        "{found:#?}"
    );
}

#[test]
fn old_versions_read_as_the_present_ones() {
    let pdb = |version: &str, selector: &str| {
        format!(
            r#"{{"apiVersion":"policy/{version}","kind":"PodDisruptionBudget","metadata":{{"name":"a","namespace":"x"}},"spec":{{{selector}}}}}"#
        )
    };
    let selects_nothing = |text: String| match &load_bytes("x", text.into_bytes()).objects[0] {
        Object::PodDisruptionBudget(budget) => budget.spec.selector.is_none(),
        other => panic!("{other:?}"),
    };
    assert!(selects_nothing(pdb("v1beta1", r#""selector":{}"#)) && !selects_nothing(pdb("v1", r#""selector":{}"#)));
    assert!(selects_nothing(pdb("v1beta1", "")) && selects_nothing(pdb("v1", "")));
    let read = |version: &str, rest: &str| {
        let text = format!(r#"{{"apiVersion":"{version}","metadata":{{"name":"a","namespace":"x"}},{rest}}}"#);
        let loaded = load_bytes("x", text.into_bytes());
        assert!(loaded.diagnostics.is_empty(), "{:#?}", remarks(&loaded));
        loaded.objects
    };
    for (old, new, rest) in [
        (
            "storage.k8s.io/v1beta1",
            "storage.k8s.io/v1",
            r#""kind":"CSINode","spec":{"drivers":[{"name":"d","nodeID":"n","allocatable":{"count":3}}]}"#,
        ),
        ("storage.k8s.io/v1beta1", "storage.k8s.io/v1", r#""kind":"CSIStorageCapacity","storageClassName":"s","capacity":"5Gi""#),
        ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1", r#""kind":"PriorityClass","value":7"#),
    ] {
        assert_eq!(read(old, rest), read(new, rest));
    }
    let claim = |request: &str| format!(r#""kind":"ResourceClaim","spec":{{"devices":{{"requests":[{request}]}}}}"#);
    let old = claim(r#"{"name":"r","deviceClassName":"gpu","allocationMode":"ExactCount","count":2}"#);
    let new = claim(r#"{"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}}"#);
    assert_eq!(read("resource.k8s.io/v1beta1", &old), read("resource.k8s.io/v1", &new));
    assert_eq!(read("resource.k8s.io/v1beta2", &new), read("resource.k8s.io/v1", &new));
    let loaded = load_bytes("x", br#"{"apiVersion":"resource.k8s.io/v1alpha3","kind":"ResourceClaim","metadata":{"name":"a"}}"#.to_vec());
    assert!(remarks(&loaded)[0].contains("ResourceClaim of resource.k8s.io/v1alpha3 cannot be read"), "{:#?}", remarks(&loaded));
}

/// The configuration of a dump is used on request; its absence is an error with a message.
#[test]
fn the_configuration_in_the_dump_can_be_taken() {
    let run = |dump: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dumps").join(dump);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"));
        let output = command.args(["run", "--config-from-dump", "--from"]).arg(path).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run("manifests").0, Some(0));
    let (code, said) = run("kubectl.json");
    assert_eq!(code, Some(2));
    assert!(said.contains("--config-from-dump: the source contains no KubeSchedulerConfiguration"), "{said}");
}

/// Of a bound pod, the node alone proves that it was scheduled; of a pending one, the whole condition matters.
#[test]
fn that_a_bound_pod_is_scheduled_is_not_kept_twice() {
    for (node, status, kept) in
        [("n", "True", vec!["Other"]), ("", "True", vec!["PodScheduled", "Other"]), ("n", "False", vec!["PodScheduled", "Other"])]
    {
        let pod = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","namespace":"s"}},"spec":{{"nodeName":"{node}"}},
            "status":{{"conditions":[{{"type":"PodScheduled","status":"{status}"}},{{"type":"Ready","status":"True"}},
            {{"type":"Other","status":"True"}}]}}}}"#
        );
        let loaded = load_bytes("x", pod.into_bytes());
        let Object::Pod(pod) = &loaded.objects[0] else { panic!("{:?}", loaded.objects) };
        assert_eq!(pod.status.conditions.iter().map(|c| c.kind.as_str()).collect::<Vec<_>>(), kept, "{node} {status}");
    }
}

/// A caller without use for the origins of objects can drop them.
#[test]
fn origins_can_be_given_up() {
    let mut report = load_path("kubectl.json").report;
    let key = Key::new("", "big-2");
    assert!(report.file_and_line(Kind::Node, &key).is_some());
    report.forget_origins();
    assert!(report.file_and_line(Kind::Node, &key).is_none() && report.original(Kind::Node, &key).unwrap().is_none());
}

#[test]
fn encrypted_members_are_named_and_the_others_are_read() {
    let mut archive = zip(&[("a.json".to_owned(), pod("a")), ("b.json".to_owned(), pod("b"))]);
    // The flag is in the member's own header, and in the directory at the end.
    for (mark, flags, name) in [(&b"PK\x03\x04"[..], 6, 30), (b"PK\x01\x02", 8, 46)] {
        let starts: Vec<usize> = archive.windows(4).enumerate().filter(|(_, w)| *w == mark).map(|(at, _)| at).collect();
        for at in starts.into_iter().filter(|at| archive[at + name] == b'b').collect::<Vec<_>>() {
            archive[at + flags] |= 1;
        }
    }
    let loaded = load_bytes("x.zip", archive);
    assert_eq!(names(&loaded), ["shop/a"]);
    assert_eq!(remarks(&loaded)[0], "error x.zip: a member cannot be read: b.json: it is encrypted");
}
