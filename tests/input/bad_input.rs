//! Broken, odd or hostile input: it never panics, its sound part loads, and diagnostics name the place of the rest.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::path::Path;

use schedscope::cluster::{Kind, Object};
use schedscope::report::completeness;
use schedscope::source::{Input, Loaded, Severity, load};

fn load_bytes(bytes: impl Into<Vec<u8>>) -> Loaded {
    load(&[Input::Bytes { name: "in".to_owned(), bytes: Cow::Owned(bytes.into()) }])
}

fn names(loaded: &Loaded) -> Vec<String> {
    loaded.objects.iter().map(|o| format!("{} {}", o.kind(), o.key())).collect()
}

/// Returns all diagnostics as `severity place: message`.
fn remarks(loaded: &Loaded) -> Vec<String> {
    loaded.diagnostics.iter().map(|d| format!("{} {d}", d.severity)).collect()
}

/// Checks the loaded objects and the diagnostics; a diagnostic is given by its start.
#[track_caller]
fn check(input: impl Into<Vec<u8>>, objects: &[&str], expected: &[&str]) -> Loaded {
    let loaded = load_bytes(input);
    assert_eq!(names(&loaded), objects);
    let remarks = remarks(&loaded);
    let fits = remarks.len() == expected.len() && remarks.iter().zip(expected).all(|(found, start)| found.starts_with(start));
    assert!(fits, "expected {expected:#?}, found {remarks:#?}");
    assert_eq!(loaded.report.objects() == 0, objects.is_empty());
    loaded
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn pod(name: &str) -> String {
    format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop"}}}}"#)
}

fn list(items: &[String]) -> String {
    format!("{{\"apiVersion\":\"v1\",\"items\":[\n{}\n],\"kind\":\"List\"}}", items.join(",\n"))
}

const NODE_YAML: &str = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n";

#[test]
fn nothing_at_all() {
    check("", &[], &["warning in: is empty"]);
    check("  \n\n", &[], &["warning in: contains no objects"]);
    check("# a comment\n---\n...\n", &[], &["warning in: contains no objects"]);
    check("null", &[], &["warning in: contains no objects"]);
    check(r#"{"apiVersion":"v1","kind":"List","items":[]}"#, &[], &["warning in: contains no objects"]);
    check("apiVersion: v1\nkind: List\nitems: []\n", &[], &["warning in: contains no objects"]);
    check("apiVersion: v1\nkind: List\nitems:\n", &[], &["warning in: contains no objects"]);
    assert_eq!(load(&[]).report.objects(), 0);
}

#[test]
fn text_that_is_no_dump() {
    check("hello", &[], &["error in:1: expected an object, found a string"]);
    check("42", &[], &["error in:1: expected an object, found a number or a word"]);
    check("[1, \"a\", [2]]", &[], &["error in:1: items[0]: expected an object, found a number or a word; skipped; 2 more"]);
    check(r#"{"a":1}"#, &[], &["error in:1: object without a kind"]);
    check("a: 1\n", &[], &["error in:1: object without a kind"]);
    check(r#"{"kind":"List","items":{"a":1}}"#, &[], &["error in:1: `items` is not a list"]);
    check("kind: List\nitems: 7\n", &[], &["error in:1: `items` is not a list"]);
    check(vec![0u8, 1, 2, 3, 4, 5, 6, 7, 8, 14, 15, 16, 255], &[], &["error in: contains no text"]);
    check("{", &[], &["error in:1: "]);
    check("}", &[], &["error in:1: "]);
    check("[", &[], &["warning in: ends within a list"]);
}

#[test]
fn a_broken_object_leaves_its_neighbours_alone() {
    let items = |bad: &str| list(&[pod("a"), bad.to_owned(), pod("b")]);
    let ab = ["Pod shop/a", "Pod shop/b"];
    let bad_cpu = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"shop"},
        "spec":{"containers":[{"name":"c",
        "resources":{"requests":{"cpu":"1..5"}}}]}}"#;
    let loaded = check(items(bad_cpu), &ab, &["error in:5: Pod shop/x: quantity \"1..5\" is not a number"]);
    assert_eq!((loaded.report.kinds[&Kind::Pod].read, loaded.report.kinds[&Kind::Pod].unreadable), (2, 1));
    for (bad, expected) in [
        (r#"{"apiVersion":"v1","kind":"Pod","metadata":"x"}"#, "error in:3: Pod items[1]: invalid type: string \"x\""),
        (r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":[]}"#, "error in:3: Pod x: invalid"),
        (r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","name":"y"}}"#, "error in:3: Pod items[1]: duplicate field `name`"),
        (r#"{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop"}}"#, "error in:3: items[1]: Pod without a name"),
        (r#"{"apiVersion":"v1","metadata":{"name":"x"}}"#, "error in:3: items[1]: object without a kind"),
        ("\"text\"", "error in:3: items[1]: expected an object, found a string"),
        ("[1]", "error in:3: items[1]: expected an object, found a list"),
        (r#"{"apiVersion":"v1" "kind":"Pod"}"#, "error in:3: Pod items[1]: expected `,` or `}`"),
        (
            r#"{"apiVersion":"resource.k8s.io/v1alpha2","kind":"ResourceClaim","metadata":{"name":"x"}}"#,
            "warning in:3: items[1]: ResourceClaim of",
        ),
        ("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\0b\"}}", "error in:3: Pod items[1]: control character"),
    ] {
        check(items(bad), &ab, &[expected]);
    }
    check(items("null"), &ab, &[]);
    let mut bytes = items(r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x?"}}"#).into_bytes();
    let at = bytes.iter().position(|b| *b == b'?').unwrap();
    bytes[at] = 0xff;
    check(bytes, &ab, &["error in:3: Pod items[1]: invalid unicode"]);
}

#[test]
fn a_broken_entry_of_a_yaml_list_leaves_its_neighbours_alone() {
    let entry = |text: &str| format!("- apiVersion: v1\n  kind: Pod\n{text}\n");
    let items = |bad: &str| {
        let good = |name: &str| entry(&format!("  metadata:\n    name: {name}\n    namespace: shop"));
        format!("apiVersion: v1\nitems:\n{}{}{}kind: List\n", good("a"), entry(bad), good("b"))
    };
    let ab = ["Pod shop/a", "Pod shop/b"];
    for (bad, expected) in [
        ("  metadata:\n    name: x\n\tnamespace: shop", "error in:12: Pod items[1]: found a tab character"),
        (
            "  metadata:\n    name: x\n  spec:\n    containers:\n    - name: c\n      resources:\n        requests:\n          cpu: 1..5",
            "error in:17: Pod x: ",
        ),
        ("  metadata:\n    name: x\n    name: y", "error in:11: Pod items[1]: metadata: duplicate field `name`"),
        ("  metadata: x", "error in:10: Pod items[1]: "),
        ("  metadata:\n    name: x\n  status: {", "error in:"),
        ("  metadata:\n    name: \"x", "error in:"),
        ("  metadata:\n    name: *nobody", "error in:"),
    ] {
        let loaded = load_bytes(items(bad));
        assert_eq!(names(&loaded), ab, "{bad}: {:#?}", remarks(&loaded));
        let remarks = remarks(&loaded);
        assert!(remarks.len() == 1 && remarks[0].starts_with(expected), "{bad}: {remarks:#?}");
    }
    let mut bytes = items("  metadata:\n    name: x?").into_bytes();
    let at = bytes.iter().position(|b| *b == b'?').unwrap();
    bytes[at] = 0xff;
    let loaded = load_bytes(bytes);
    assert_eq!((names(&loaded).len(), loaded.diagnostics.len()), (2, 1));
}

#[test]
fn a_broken_document_or_line_leaves_the_others_alone() {
    check(format!("{NODE_YAML}---\nkind: [\n---\n{}", NODE_YAML.replace("n1", "n2")), &["Node n1", "Node n2"], &["error in:"]);
    let lines = format!("{}\n{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"x}}}}\n{}\n", pod("a"), pod("b"));
    check(lines, &["Pod shop/a", "Pod shop/b"], &["error in:2: Pod: "]);
    check(format!("{}\n%%%\n{}\n", pod("a"), pod("b")), &["Pod shop/a", "Pod shop/b"], &["error in:2: expected a JSON object here"]);
}

#[test]
fn files_cut_short_keep_what_stands_before_the_cut() {
    let text = list(&[pod("a"), pod("b")]);
    let cut = &text[..text.find("\"b\"").unwrap()];
    check(cut, &["Pod shop/a"], &["error in:3: items[1]: the file ends within this object", "warning in: ends within a list"]);
    check(&text[..text.len() - 3], &["Pod shop/a", "Pod shop/b"], &["error in:4: ", "warning in: ends within a list"]);

    let compressed = gzip(text.as_bytes());
    let cut = compressed.len() - text.len() / 2;
    let loaded = load_bytes(&compressed[..cut]);
    assert_eq!(names(&loaded), ["Pod shop/a"]);
    assert!(remarks(&loaded).iter().any(|r| r.starts_with("error in: is truncated")), "{:#?}", remarks(&loaded));

    let yaml = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n1\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n2\n  spec:\n    unschedulable: true\nkind: List\n";
    let compressed = gzip(yaml.as_bytes());
    let loaded = load_bytes(&compressed[..compressed.len() - 50]);
    assert_eq!(names(&loaded), ["Node n1"], "half an entry must not pass for a whole one: {:#?}", remarks(&loaded));
    check(&yaml[..yaml.find("  spec").unwrap()], &["Node n1", "Node n2"], &["warning in: ends within a list"]);
    check([0x1f, 0x8b], &[], &["error in: is truncated"]);
    check([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], &[], &["error in: is truncated"]);
}

#[test]
fn kinds_that_are_not_for_us_are_counted() {
    let kind =
        |kind: &str, version: &str| format!(r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"x"}},"data":{{"a":"b"}}}}"#);
    let text = list(&[
        kind("Secret", "v1"),
        kind("ConfigMap", "v1"),
        kind("Secret", "v1"),
        kind("Deployment", "apps/v1"),
        kind("Service", "serving.knative.dev/v1"),
        pod("a"),
    ]);
    let loaded = check(text, &["Pod shop/a"], &["note 3 objects were skipped unread"]);
    let report = &loaded.report;
    assert_eq!((report.unread_kinds["Secret"], report.unread_kinds["ConfigMap"]), (2, 1));
    assert_eq!((report.other_kinds["Deployment"], report.other_kinds["Service"]), (1, 1));
    assert!(!report.kinds.contains_key(&Kind::Service));
    // The content of a Secret is never parsed: it may well be broken.
    check("apiVersion: v1\nkind: Secret\ndata: {{{\n", &[], &["note 1 object was skipped unread"]);
}

#[test]
fn lists_may_stand_in_lists() {
    let inner = list(&[pod("b"), list(&[pod("c"), "{}".to_owned()])]);
    check(
        list(&[pod("a"), inner, pod("d")]),
        &["Pod shop/a", "Pod shop/b", "Pod shop/c", "Pod shop/d"],
        &["error in:7: items[1]: object without a kind"],
    );
    let yaml = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: NodeList\n  items:\n  - metadata:\n      name: n1\n  - metadata:\n      name: n2\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n3\n";
    check(yaml, &["Node n1", "Node n2", "Node n3"], &[]);
    let mut deep = pod("a");
    for _ in 0..2000 {
        deep = list(&[deep]);
    }
    let loaded = load_bytes(deep);
    assert!(loaded.objects.is_empty() && !loaded.diagnostics.is_empty());
}

#[test]
fn lists_within_lists_are_read_up_to_a_depth() {
    let within = |depth: usize| (0..depth).fold(pod("a"), |inner, _| list(&[inner]));
    let depth = usize::from(schedscope::limits::sources::LISTS_WITHIN);
    check(within(depth), &["Pod shop/a"], &[]);
    let loaded = load_bytes(within(depth + 3));
    assert!(loaded.objects.is_empty());
    assert!(loaded.diagnostics.iter().any(|d| d.message.contains("lists are nested too deeply")), "{:?}", loaded.diagnostics);
}

#[test]
fn typed_lists_name_the_kind_of_their_items() {
    let items = r#"[{"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]"#;
    let nodes = ["Node n1", "Node n2"];
    check(format!(r#"{{"kind":"NodeList","apiVersion":"v1","items":{items}}}"#), &nodes, &[]);
    check(format!(r#"{{"apiVersion":"v1","items":{items},"kind":"NodeList"}}"#), &nodes, &[]);
    check(format!(r#"{{"items":{items},"kind":"NodeList","apiVersion":"v1"}}"#), &nodes, &[]);
    check("apiVersion: v1\nitems:\n- metadata:\n    name: n1\n- metadata:\n    name: n2\nkind: NodeList\n", &nodes, &[]);
    check(format!(r#"{{"apiVersion":"metrics.k8s.io/v1beta1","items":{items},"kind":"NodeMetricsList"}}"#), &[], &[]);
    check(
        format!(r#"{{"apiVersion":"v1","items":{items},"kind":"List"}}"#),
        &[],
        &["error in:1: items[0]: object without a kind; skipped; 1 more item"],
    );
}

#[test]
fn objects_in_many_forms_read_alike() {
    let (a, b) = (pod("a"), pod("b"));
    let ab = ["Pod shop/a", "Pod shop/b"];
    for text in [
        format!("{a}{b}"),
        format!("{a}\n{b}\n"),
        format!("[{a},\n{b}]"),
        format!("[{a}]\n[{b}]"),
        format!("\u{1e}{a}\n\u{1e}{b}\n"),
        format!("{a}\r\n{b}\r\n"),
        format!("\u{feff}{a}\n{b}"),
        format!("{}{}", list(std::slice::from_ref(&a)), list(std::slice::from_ref(&b))),
        format!("---\n{a}\n---\n{b}\n"),
        format!("--- {a}\n...\n--- # comment\n{b}"),
        format!("- {a}\n- {b}\n"),
        format!("apiVersion: v1\nkind: List\nitems: [{a}, {b}]\n"),
        format!("%YAML 1.1\n---\napiVersion: v1\nkind: List\nitems:\n  - {a}\n  # between\n\n  -   {b}\n"),
        "\u{feff}# first\napiVersion: v1\r\nitems:\r\n- apiVersion: v1\r\n  kind: Pod\r\n  metadata: {name: a, namespace: shop}\r\n-\r\n  apiVersion: v1\r\n  kind: \"Pod\" # quoted\r\n  metadata:\r\n    name: b\r\n    namespace: shop\r\nkind: List\r\n".to_owned(),
        "items:\n- &first\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a, namespace: &ns shop}\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b, namespace: *ns}\nkind: List\n".to_owned(),
        "items:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    namespace: shop\n    annotations:\n      script: |\n        items:\n        - x\n\n        ---\n      quoted: \"one\n- two\n  kind: Node\n\"\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b, namespace: shop}\nkind: List\n".to_owned(),
        "- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}\n- apiVersion: v1\n  \"kind\": Pod\n  metadata: {name: b, namespace: shop}\n".to_owned(),
        "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}, {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop}}]}".to_owned(),
    ] {
        let loaded = load_bytes(text.as_bytes());
        assert_eq!(names(&loaded), ab, "{text}\n{:#?}", remarks(&loaded));
        let remarks = remarks(&loaded);
        assert!(remarks.is_empty() || (remarks.len() == 1 && remarks[0].contains("ends within a list")), "{text}\n{remarks:#?}");
        let compressed = load_bytes(gzip(text.as_bytes()));
        assert_eq!(compressed.objects, loaded.objects);
    }
    let utf16: Vec<u8> = format!("\u{feff}{}", list(&[a, b])).encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(utf16, &ab, &[]);
}

#[test]
fn null_is_nothing_everywhere() {
    let text = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":null,"labels":null,"creationTimestamp":null,
        "ownerReferences":null},"spec":{"containers":null,"priority":null,"affinity":null,"tolerations":[null],"volumes":null},"status":null}"#;
    let loaded = check(text, &["Pod default/a"], &["note in: 1 object without a namespace"]);
    let yaml = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace:\n  labels: ~\nspec:\n  containers: null\n  tolerations:\n  -\nstatus:\n";
    assert_eq!(load_bytes(yaml).objects, loaded.objects);
    check(r#"{"apiVersion":"v1","kind":"Pod","metadata":null}"#, &[], &["error in:1: Pod: Pod without a name"]);
    check("apiVersion: v1\nkind: Node\nmetadata:\n", &[], &["error in:1: Node: Node without a name"]);
}

#[test]
fn long_lines_and_deep_nesting_are_no_danger() {
    let long = pod("a").replace("\"namespace\"", &format!("\"annotations\":{{\"big\":\"{}\"}},\"namespace\"", "x".repeat(10 << 20)));
    check(list(&[long.clone(), pod("b")]), &["Pod shop/a", "Pod shop/b"], &[]);
    check(format!("{long}\n{}", pod("b")), &["Pod shop/a", "Pod shop/b"], &[]);
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(200_000), close.repeat(200_000));
    for text in [deep("[", "]"), deep("{\"a\":", "}"), "- ".repeat(50_000), "? ".repeat(50_000), "[".repeat(200_000), deep("{a: [", "]}")] {
        let loaded = load_bytes(text);
        assert!(loaded.objects.is_empty() && !loaded.diagnostics.is_empty());
    }
    let within = pod("x").replace("\"namespace\"", &format!("\"labels\":{},\"namespace\"", deep("{\"a\":", "}")));
    check(list(&[pod("a"), within, pod("b")]), &["Pod shop/a", "Pod shop/b"], &["error in:"]);
}

#[test]
fn duplicates_leave_the_newest_state() {
    let version = |name: &str, version: &str, uid: &str, node: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop","resourceVersion":"{version}","uid":"{uid}"}},"spec":{{"nodeName":"{node}"}}}}"#
        )
    };
    let node_of = |loaded: &Loaded| match &loaded.objects[0] {
        Object::Pod(pod) => pod.node_name.to_string(),
        other => panic!("{other:?}"),
    };
    for (first, second, stays, severity) in [
        (("9", "u"), ("10", "u"), "two", Severity::Note),
        (("10", "u"), ("9", "u"), "one", Severity::Note),
        (("10", "u"), ("10", "u"), "one", Severity::Note),
        (("", ""), ("", ""), "two", Severity::Note),
        (("9", "u"), ("10", "v"), "two", Severity::Warning),
    ] {
        let texts = [version("a", first.0, first.1, "one"), version("a", second.0, second.1, "two")];
        let inputs = texts.map(|text| Input::Bytes { name: "in".into(), bytes: Cow::Owned(text.into_bytes()) });
        let loaded = load(&inputs);
        assert_eq!((loaded.objects.len(), node_of(&loaded).as_str()), (1, stays), "{first:?} {second:?}");
        let about = loaded.diagnostics.iter().find(|d| d.message.contains("newest")).unwrap();
        assert_eq!(about.severity, severity);
        assert_eq!((loaded.report.kinds[&Kind::Pod].read, loaded.report.kinds[&Kind::Pod].superseded), (1, 1));
    }
}

#[test]
fn files_and_directories() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    write("b/pods.json", pod("b").as_bytes());
    write("a/pods.json.gz", &gzip(pod("a").as_bytes()));
    write("a/logs.txt", b"not: [looked at");
    write("c.yaml", NODE_YAML.as_bytes());
    write("c.json", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 14, 15, 16]);
    write("values.yaml", b"replicas: 3\n");
    write(".hidden/pods.json", pod("hidden").as_bytes());
    let load_path = |path: &Path| load(&[Input::Path(path.to_owned())]);
    let loaded = load_path(dir.path());
    assert_eq!(names(&loaded), ["Pod shop/a", "Pod shop/b", "Node n1"]);
    let found = remarks(&loaded);
    assert!(
        found.len() == 3
            && found[0].starts_with("note 3 files hold no Kubernetes objects")
            && found[1].starts_with("note 1 hidden file")
            && found[2].ends_with("c.json is not text, though its name promises objects; some may be missing"),
        "{found:#?}"
    );
    for (kind, name, line, start) in
        [(Kind::Pod, "a", 1, r#"{"apiVersion":"v1","kind":"Pod""#), (Kind::Node, "n1", 1, "apiVersion: v1\nkind: Node")]
    {
        let object = loaded.objects.iter().find(|o| o.kind() == kind && o.meta().name == name).unwrap();
        assert_eq!(loaded.report.file_and_line(kind, &object.key()).unwrap().1, line);
        assert!(loaded.report.original(kind, &object.key()).unwrap().unwrap().starts_with(start));
    }

    let missing = load_path(&dir.path().join("nowhere.json"));
    assert_eq!(missing.report.objects(), 0);
    assert_eq!(missing.diagnostics[0].severity, Severity::Error);
    assert!(missing.diagnostics[0].message.starts_with("cannot be read: "));
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(load_path(empty.path()).report.objects(), 0);
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_or_round_in_a_circle() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("pod.json"), pod("a")).unwrap();
    std::os::unix::fs::symlink("missing.json", dir.path().join("link.json")).unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("loop")).unwrap();
    let loaded = load(&[Input::Path(dir.path().to_owned())]);
    assert_eq!(names(&loaded), ["Pod shop/a"]);
    let found = remarks(&loaded);
    assert!(found.len() == 1 && found[0].contains("link.json: cannot be read"), "{found:#?}");
}

#[test]
fn a_storm_of_errors_is_counted() {
    let bad = r#"{"apiVersion":"v1","kind":"Pod","metadata":1}"#.to_owned();
    let loaded = load_bytes(list(&vec![bad; 500]));
    assert_eq!(loaded.report.kinds[&Kind::Pod].unreadable, 500);
    assert_eq!(loaded.diagnostics.len(), 51);
    assert!(loaded.diagnostics[50].message.starts_with("450 more"));
}

#[test]
fn a_name_that_no_api_server_accepts_is_an_error() {
    let long = "x".repeat(1025);
    let labelled = pod("d").replace(r#""namespace":"shop""#, &format!(r#""namespace":"shop","labels":{{"a":"{long}"}}"#));
    let objects = [pod("a"), pod(&long), pod("b"), pod("c").replace("shop", &long), pod(&long[..1024]), labelled];
    let loaded = load_bytes(list(&objects));
    let remarks: Vec<String> = remarks(&loaded).into_iter().filter(|text| text.contains("accepts")).collect();
    let expected = [(2, "name"), (4, "name"), (6, "label")].map(|(line, what)| {
        format!("error in:{}: Pod items[{}]: has a {what} of 1025 bytes, which no API server accepts; skipped", line + 1, line - 1)
    });
    assert_eq!(remarks, expected);
    assert_eq!((loaded.report.kinds[&Kind::Pod].read, loaded.report.kinds[&Kind::Pod].unreadable), (3, 3));
}

#[test]
fn an_invalid_selector_loads() {
    let text = pod("a").replace(
        "}}",
        r#"},"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
        {"topologyKey":"","labelSelector":{"matchExpressions":[{"key":"-","operator":"Maybe","values":["x"]}]}}]}}}}"#,
    );
    check(text, &["Pod shop/a"], &[]);
}

#[test]
fn what_is_missing_is_said() {
    let bound = pod("a").replace("}}", r#"},"spec":{"nodeName":"n9","priorityClassName":"gone"}}"#);
    let loaded = check(
        bound,
        &["Pod shop/a"],
        &["warning in:1: Pod shop/a: priority class gone", "warning 1 pod is bound to nodes that were not read"],
    );
    assert_eq!(loaded.report.pods_on_unknown_nodes.iter().map(|(k, v)| (k.as_str(), *v)).collect::<Vec<_>>(), [("n9", 1)]);
    assert_eq!(loaded.report.absent.len(), 19);
    // A list of all nodes shows that the node is gone.
    let bound = pod("a").replace("}}", r#"},"spec":{"nodeName":"n9"}}"#);
    let nodes = r#"{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}"#;
    let loaded = check(
        format!("{nodes}\n{bound}"),
        &["Node n1", "Pod shop/a"],
        &["warning 1 pod is bound to nodes that do not exist: they were deleted, and ignored (the first node is n9)"],
    );
    assert!(completeness(&loaded.report).iter().any(|line| line == "ignored: 1 pod on 1 node that does not exist (deleted)"));
    assert!(loaded.report.absent.iter().any(|a| a.kind == Kind::PodDisruptionBudget && a.effect.ends_with("is unknown.")));
    let versionless = pod("a").replace(r#""apiVersion":"v1","#, "");
    check(versionless, &["Pod shop/a"], &["warning in: 1 object without an apiVersion"]);
}

#[test]
fn the_newest_time_is_that_of_the_dump() {
    let text = format!(
        "{}\n{}\n{}",
        r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","creationTimestamp":"2026-01-01T00:00:00Z"}}"#,
        r#"{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"lastTimestamp":"2026-01-01T00:00:05Z","eventTime":null}"#,
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"x","deletionTimestamp":"2026-01-02T00:00:00Z"},
            "status":{"startTime":"2026-01-01T00:00:03Z"}}"#
    );
    assert_eq!(load_bytes(text).report.newest.unwrap().to_string(), "2026-01-01T00:00:05Z");
}

#[test]
fn a_load_can_be_watched_and_stopped() {
    use std::sync::Arc;

    use schedscope::source::{Limits, Progress, load_watched};

    let text = "kind: Node\napiVersion: v1\nmetadata: {name: a}\n---\nkind: Node\napiVersion: v1\nmetadata: {name: b}\n";
    let input = [Input::Bytes { name: "two.yaml".to_owned(), bytes: text.as_bytes().into() }];
    let progress = Arc::new(Progress::default());
    assert_eq!(load_watched(&input, &Limits::default(), &progress).objects.len(), 2);
    assert_eq!((progress.bytes(), progress.objects(), progress.file().as_str()), (text.len() as u64, 2, "two.yaml"));
    progress.cancel();
    assert!(load_watched(&input, &Limits::default(), &progress).objects.is_empty());
}

/// A dump without a list of budgets means unknown, an empty list means 0.
#[test]
fn an_empty_list_of_budgets_is_not_the_same_as_none_taken() {
    let world = r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","pods":"9"}}}
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"weak","namespace":"a","uid":"w"},
         "spec":{"nodeName":"n","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running"}}
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"strong","namespace":"a","uid":"s"},
         "spec":{"priority":9,"schedulerName":"default-scheduler","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}"#;
    let explain = |text: &str, output: &str| {
        let mut file = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("written");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"));
        let out = command.args(["explain", "strong", "-n", "a", "-o", output, "--from"]).arg(file.path()).output().expect("it runs");
        assert_eq!(out.status.code(), Some(1), "it does not fit: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("UTF-8")
    };
    let text = explain(world, "text");
    assert!(text.contains("whether that violates a budget is unknown") && text.contains("n     1        ?"), "{text}");
    let decision: serde_json::Value = serde_json::from_str(&explain(world, "json")).expect("JSON");
    assert_eq!(decision["budgetsUnknown"], true);
    // Parts compared with kube-scheduler's have its keys and no others.
    let keys: Vec<&String> = decision["preemption"]["candidates"][0].as_object().expect("a candidate").keys().collect();
    assert_eq!(keys, ["node", "pdbViolations", "victims"]);
    let with_list = format!("{world}{}", r#"{"kind":"PodDisruptionBudgetList","apiVersion":"policy/v1","items":[]}"#);
    let text = explain(&with_list, "text");
    assert!(text.contains("violates no budget") && !text.contains('?') && !text.contains("is unknown"), "{text}");
    assert!(!explain(&with_list, "json").contains("budgetsUnknown"));
}

/// Tapes and block devices are padded with zeros.
#[test]
fn what_stands_behind_a_whole_gzip_is_left_alone() {
    let text = "kind: Node\napiVersion: v1\nmetadata: {name: a}\n---\nkind: Node\napiVersion: v1\nmetadata: {name: b}\n";
    let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("memory");
    let mut bytes = file.finish().expect("memory");
    bytes.extend([0; 100]);
    let loaded = load(&[Input::Bytes { name: "a.yaml.gz".to_owned(), bytes: bytes.into() }]);
    assert_eq!((loaded.objects.len(), loaded.diagnostics.len()), (2, 0), "{:?}", loaded.diagnostics);
}

#[test]
fn items_that_are_no_objects_are_one_line_for_each_file() {
    let items = vec!["[1]".to_owned(), pod("a"), "\"text\"".to_owned(), "{\"a\":1}".to_owned()];
    let loaded = check(
        list(&items),
        &["Pod shop/a"],
        &["error in:2: items[0]: expected an object, found a list; skipped; 2 more items were skipped too"],
    );
    assert_eq!(loaded.report.unknown, 3);
}

#[test]
fn lists_without_a_kind_are_not_cut_short() {
    check(r#"{"items":[]}"#, &[], &["warning in: contains no objects"]);
    check(format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{}]}}"#, pod("a")), &["Pod shop/a"], &[]);
    check(format!("items:\n- {}\n", pod("a")), &["Pod shop/a"], &[]);
    // An API server's list has its kind after its items.
    check(format!("apiVersion: v1\nitems:\n- {}\n", pod("a")), &["Pod shop/a"], &["warning in: ends within a list"]);
    check(format!(r#"{{"items":[{}"#, pod("a")), &["Pod shop/a"], &["warning in: ends within a list"]);
}

#[test]
fn lines_that_kubectl_prints_around_objects_are_no_errors() {
    let dumped = "Cluster info dumped to standard output";
    check(format!("{}\n{dumped}\n", pod("a")), &["Pod shop/a"], &[]);
    check(format!("{}\n{dumped}", list(&[pod("a")])), &["Pod shop/a"], &[]);
    check(format!("Warning: v1 ComponentStatus is deprecated\n{}\n", pod("a")), &["Pod shop/a"], &[]);
    check(format!("Warning: old\n{NODE_YAML}{dumped}\n"), &["Node n1"], &[]);
    check(format!("apiVersion: v1\nitems:\n- {}\nkind: List\n{dumped}\n", pod("a")), &["Pod shop/a"], &[]);
    check(format!("{}\nCluster\n", pod("a")), &["Pod shop/a"], &["error in:2: expected a JSON object here"]);
}

#[test]
fn times_that_are_none_are_named_and_the_rest_is_kept() {
    let text =
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","creationTimestamp":"soon"},"spec":{"nodeName":"n"}}"#;
    let loaded = load_bytes(format!("{text}\n{NODE_YAML}").replace(NODE_YAML, &pod("b")));
    assert_eq!(names(&loaded), ["Pod shop/a", "Pod shop/b"]);
    let said = r#"warning in:1: Pod shop/a: metadata.creationTimestamp "soon" is not a time; the object was read without it"#;
    assert_eq!(remarks(&loaded)[0], said);
    assert_eq!(loaded.cluster().pods.get(&schedscope::cluster::Key::new("shop", "a")).unwrap().node_name, "n");
    // Another error in the same object takes precedence.
    let both = text.replace("\"nodeName\":\"n\"", "\"nodeName\":5");
    assert!(remarks(&load_bytes(both))[0].starts_with("error in:1: Pod shop/a: invalid type: integer"));
}

#[test]
fn keys_that_yaml_merges_are_part_of_objects() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: &of {name: a, namespace: shop}\nspec:\n  containers:\n  - name: c\n    \
                resources:\n      requests: &r {cpu: \"2\"}\n      limits:\n        <<: *r\n        memory: 1Gi\n";
    let loaded = check(text, &["Pod shop/a"], &[]);
    let pod = loaded.cluster().pods.get(&schedscope::cluster::Key::new("shop", "a")).unwrap().clone();
    assert_eq!(pod.spec.containers[0].resources.limits.len(), 2);
}

#[test]
fn aliases_that_expand_to_too_much_are_refused() {
    let keys: String = (0..5000).map(|i| format!("k{i}: a, ")).collect();
    let merged = format!("kind: Pod\nmetadata: {{name: a, labels: &l {{{keys}}}, annotations: {{<<: [{}]}}}}\n", "*l, ".repeat(10_000));
    let listed = format!("kind: List\nx: &l {{{keys}}}\nitems:\n{}", "- *l\n".repeat(10_000));
    for text in [merged, listed] {
        let loaded = load_bytes(text);
        assert!(loaded.objects.is_empty());
        assert!(remarks(&loaded).iter().any(|remark| remark.contains("its aliases expand to too much")), "{:?}", remarks(&loaded));
    }
    // Words that only look like aliases, and a few of them.
    let script = format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: shop\n  annotations:\n    s: |\n{}",
        "      rm *tmp & ls *.c\n".repeat(20_000)
    );
    check(script, &["Pod shop/a"], &[]);
}

#[test]
fn events_and_paths_of_the_api_tell_kinds() {
    let event = r#"{"metadata":{"name":"e","namespace":"shop"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"a"},"reason":"FailedScheduling","message":"m"}"#;
    let loaded = check(format!("{event}\n{}", pod("a")), &["Pod shop/a"], &[]);
    assert_eq!(loaded.report.events.read, 1);
    let linked = r#"{"metadata":{"name":"n","selfLink":"/api/v1/nodes/n"}}"#;
    check(linked, &["Node n"], &[]);
    let other = r#"{"metadata":{"name":"version","selfLink":"/apis/config.openshift.io/v1/clusterversions/version"}}"#;
    let loaded = check(format!("{other}\n{linked}"), &["Node n"], &[]);
    assert_eq!(loaded.report.other_kinds["clusterversions.config.openshift.io"], 1);
}

#[cfg(unix)]
#[test]
fn files_that_never_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let long = |name: &str, bytes: u64| {
        let path = folder.path().join(name);
        fs::File::create(&path).unwrap().set_len(bytes).unwrap();
        path.display().to_string()
    };
    let pipe = folder.path().join("pipe").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = |args: &[&str], expected: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"));
        let output = command.args(args).env("XDG_STATE_HOME", "/dev/null").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(expected), "{args:?}: {said}");
    };
    for path in ["/dev/zero", &pipe] {
        refused(&["run", "--demo", "payments", "--ops", path], "is not a regular file");
        refused(&["run", "--demo", "payments", "--config", path], "is not a regular file");
    }
    refused(&["run", "--demo", "payments", "--config", &long("config", (2 << 20) + 1)], "is longer than 2 MiB");
    refused(&["run", "--demo", "payments", "--ops", &long("ops", (256 << 20) + 1)], "is longer than 256 MiB");
}
