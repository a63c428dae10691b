//! Answers as pages of HTML: each holds all that it needs, and a browser shows it without an error.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Names that would be tags, attributes, entities or control characters, if a page let them.
const HOSTILE: [&str; 7] = [
    "</style><script>document.title='taken'</script>",
    "<img src=http://127.0.0.1:9/x onerror=alert(1)>",
    "\"'><svg/onload=alert(2)>",
    "&lt;b&gt; &amp;",
    "a\u{202e}b\u{1b}[31m",
    "<!--",
    "<img src=x onerror=alert(3)>",
];

fn schedscope(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", "/nowhere").env("XDG_STATE_HOME", "/dev/null");
    command.output().expect("it starts")
}

/// Returns the page of a command that ends with 0 or 1.
fn page(folder: &Path, args: &[&str]) -> String {
    let output = schedscope(folder, &[args, &["-o", "html"]].concat());
    assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Checks that a page is whole and names nothing outside of it.
fn assert_alone(what: &str, page: &str) {
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">\n") && page.ends_with("</html>\n"), "{what}: {page}");
    let tags: Vec<&str> = page.split('<').skip(1).filter_map(|rest| rest.split('>').next()).collect();
    for tag in &tags {
        let name = tag.trim_start_matches('/').split([' ', '>']).next().unwrap_or_default();
        assert!(!["script", "img", "link", "iframe", "object", "svg", "form", "base"].contains(&name), "{what}: <{tag}>");
        for (at, _) in tag.match_indices("href=") {
            assert!(tag[at..].starts_with("href=\"#"), "{what}: <{tag}>");
        }
        assert!(!tag.contains(" src=") && !tag.contains(" on"), "{what}: <{tag}>");
    }
    for name in ["details", "ul", "li", "table", "pre"] {
        let number = |begin: &str| tags.iter().filter(|tag| tag.split(' ').next() == Some(begin)).count();
        assert_eq!(number(name), number(&format!("/{name}")), "{what}: {name}");
    }
}

/// Returns the tags of a page's body, in order.
fn tags(page: &str) -> Vec<&str> {
    let body = page.split_once("<body>").map_or("", |(_, body)| body);
    body.split('<').skip(1).filter_map(|rest| rest.split('>').next()).collect()
}

/// Writes a cluster whose every name is hostile.
fn hostile_cluster(folder: &Path) {
    let mut items = Vec::new();
    for name in HOSTILE {
        items.push(serde_json::json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "spec": {"taints": [{"key": name, "value": name, "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "1", "pods": "10"}},
        }));
        items.push(serde_json::json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": name},
            "spec": {"schedulerName": "default-scheduler", "priority": 5, "nodeSelector": {name: name},
                "containers": [{"name": name, "resources": {"requests": {"cpu": "2"}}}]},
            "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": name,
                "lastTransitionTime": "2026-01-01T00:00:00Z"}]},
        }));
    }
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
    fs::write(folder.join("hostile.json"), list.to_string()).expect("written");
}

/// Writes two dumps of a cluster, between which a node gets a taint that a pod does not tolerate, and an older one of the hostile cluster.
fn two_dumps(folder: &Path) {
    let state = |taints: &str| {
        format!(
            r#"{{"kind": "List", "apiVersion": "v1", "items": [
                {{"kind": "Node", "apiVersion": "v1", "metadata": {{"name": "w1"}}, "spec": {{"taints": [{taints}]}},
                    "status": {{"allocatable": {{"cpu": "4", "pods": "10"}}}}}},
                {{"kind": "Pod", "apiVersion": "v1", "metadata": {{"name": "web", "namespace": "shop"}},
                    "spec": {{"containers": [{{"name": "c"}}]}}}}]}}"#
        )
    };
    fs::write(folder.join("older.json"), state("")).expect("written");
    fs::write(folder.join("newer.json"), state(r#"{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}"#)).expect("written");
    let hostile = fs::read_to_string(folder.join("hostile.json")).expect("a dump");
    fs::write(folder.join("before.json"), hostile.replace(r#""cpu":"2""#, r#""cpu":"3""#)).expect("written");
}

/// Returns pages of every answer that has one, by name.
fn pages(folder: &Path) -> Vec<(&'static str, String)> {
    hostile_cluster(folder);
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: new, namespace: shop}\nspec:\n  replicas: 3\n  selector: {matchLabels: \
                    {app: new}}\n  template:\n    metadata: {labels: {app: new}}\n    spec: {containers: [{name: c}]}\n";
    fs::write(folder.join("new.yaml"), manifest).expect("written");
    two_dumps(folder);
    let demo = |args: &[&str]| page(folder, &[args, &["--demo", "payments"]].concat());
    vec![
        ("decision", demo(&["explain", "payments", "-n", "shop", "--fixes"])),
        ("overview", demo(&["explain", "--pending", "-A"])),
        ("workload", demo(&["explain", "deployment/spread", "-n", "shop"])),
        ("manifest", demo(&["explain", "-f", "new.yaml"])),
        ("what-if", demo(&["run", "--what-if", "drain worker-a1"])),
        ("run", demo(&["run"])),
        ("comparison", demo(&["run", "--compare", "1.30"])),
        ("info", page(folder, &["info"])),
        ("two dumps", page(folder, &["diff", "older.json", "newer.json"])),
        ("hostile dumps", page(folder, &["diff", "before.json", "hostile.json"])),
        ("hostile pods", page(folder, &["explain", "--pending", "-A", "--from", "hostile.json"])),
        ("hostile pod", page(folder, &["explain", HOSTILE[6], "-n", HOSTILE[6], "--fixes", "--from", "hostile.json"])),
    ]
}

#[test]
fn every_answer_is_a_page_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = pages(folder.path());
    for (what, page) in &pages {
        assert_alone(what, page);
    }
    let of = |name: &str| &pages.iter().find(|(what, _)| *what == name).expect("a page").1;
    for part in [
        "<h2>Candidates</h2>",
        "<summary><h3><bdi class=\"node\">worker-a2</bdi>: 2 victims, no violations, nominated</h3></summary>",
        "<h2>Tie-break</h2>",
        "-o html\n</code></pre>",
    ] {
        assert!(of("decision").contains(part), "{part} in {}", of("decision"));
    }
    let two = of("two dumps");
    assert!(two.contains("<title>Differences</title>") && two.contains("since then w1 got the taint dedicated=gpu:NoSchedule"), "{two}");
    assert!(of("hostile dumps").contains("&lt;!--"), "{}", of("hostile dumps"));
    assert!(of("workload").contains("<h2>Causes</h2>") && of("overview").contains("<th scope=\"col\">Cause</th>"));
    assert!(of("hostile pods").contains("&lt;img src=http://127.0.0.1:9/x onerror=alert(1)&gt;"), "{}", of("hostile pods"));
    let several = schedscope(folder.path(), &["explain", "payments", "search", "-n", "shop", "--demo", "payments", "-o", "html"]);
    let said = String::from_utf8_lossy(&several.stderr);
    assert!(several.status.code() == Some(2) && said.contains("-o html holds one answer"), "{several:?}");
}

#[test]
fn the_explorer_exports_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    for (keys, title) in [
        (": 'export why.html' enter", "<title>Pending pods</title>"),
        (": 'pod shop/payments' enter : 'export why.html' enter", "<title>shop/payments is pending</title>"),
        (": 'drain worker-a1' enter esc : 'export why.html' enter", "drain worker-a1"),
    ] {
        let _ = fs::remove_file(folder.path().join("why.html"));
        let _ = fs::remove_file(folder.path().join("screen.txt"));
        let output = schedscope(folder.path(), &["demo", "payments", "--print", "screen.txt", "--keys", keys]);
        assert!(output.status.success(), "{keys}: {output:?}");
        let page = fs::read_to_string(folder.path().join("why.html")).unwrap_or_else(|error| panic!("{keys}: {error}"));
        assert_alone(keys, &page);
        assert!(page.contains(title) && page.contains("-o html"), "{keys}: {page}");
    }
}

/// Returns the name of a browser that can be started.
fn browser() -> Option<&'static str> {
    let starts =
        |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    BROWSERS.into_iter().find(starts)
}

/// A browser in a folder of its own.
struct Browser {
    program: &'static str,
    folder: tempfile::TempDir,
}

impl Browser {
    /// Returns a browser; `None`, with a word about it, if there is none and none is needed.
    fn new() -> Option<Self> {
        let Some(program) = browser() else {
            assert!(std::env::var_os("SCHEDSCOPE_BROWSER_NEEDED").is_none(), "none of {BROWSERS:?} can be started");
            schedscope::output::say("skipped: pages were not opened, because there is no Chromium");
            return None;
        };
        Some(Self { program, folder: tempfile::tempdir().expect("a folder") })
    }

    /// Opens a page, at a part of it if one is named, and returns its elements as the browser has them. The console must stay empty: errors of
    /// the page, and requests that its policy refuses, would be lines of it.
    fn open(&self, what: &str, page: &str, part: &str, more: &[&str]) -> String {
        let folder = self.folder.path();
        let file = folder.join("page.html");
        fs::write(&file, page).expect("written");
        let mut command = Command::new(self.program);
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]);
        command.args(["--enable-logging=stderr", "--log-level=0", "--virtual-time-budget=1000", "--dump-dom"]).args(more);
        command.arg(format!("--user-data-dir={}", folder.join("profile").display())).arg(format!("file://{}{part}", file.display()));
        let output = command.env("HOME", folder).stdin(Stdio::null()).output().expect("it starts");
        let (shown, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && shown.contains("</html>"), "{what}: {output:?}");
        assert!(!said.contains("CONSOLE"), "{what}: {said}");
        shown.into_owned()
    }
}

#[test]
fn a_browser_shows_each_page_without_an_error_and_runs_nothing_in_it() {
    let Some(browser) = Browser::new() else { return };
    for (what, page) in pages(browser.folder.path()) {
        let shown = browser.open(what, &page, "", &[]);
        assert_eq!(tags(&shown.replace(" open=\"\"", " open")), tags(&page), "{what}: the browser reads other tags than were written");
        let title =
            |page: &str| page.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).map(|(title, _)| title.to_owned());
        let plain = |title: Option<String>| title.map(|title| title.replace("&quot;", "\"").replace("&#39;", "'"));
        assert_eq!(plain(title(&shown)), plain(title(&page)), "{what}");
    }
}

/// A page of screens shows one step at a time, and its policy lets the style through: each step is a screenshot of its own, and an unknown
/// part of the page shows the first.
#[test]
fn a_browser_shows_the_steps_one_by_one() {
    let Some(browser) = Browser::new() else { return };
    let folder = browser.folder.path();
    let keys = ": 'pod shop/payments' enter 3";
    let args = ["demo", "payments", "--print", "steps.html", "--size", "80x24", "--animate", "0.5", "--keys", keys];
    let output = schedscope(folder, &args);
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(folder.join("steps.html")).expect("a page");
    assert!(!page.contains("<script") && page.matches("<section ").count() == 5, "{page}");
    let picture = |part: &str| {
        let file = folder.join("picture.png");
        let shown = browser.open(part, &page, part, &[]);
        assert_eq!(shown.matches("<section ").count(), 5, "{part}");
        let screenshot = format!("--screenshot={}", file.display());
        browser.open(part, &format!("{page}\n"), part, &[&screenshot, "--window-size=900,700"]);
        let picture = fs::read(&file).expect("a screenshot");
        fs::remove_file(&file).expect("removed");
        picture
    };
    let (first, last) = (picture("#s1"), picture("#s5"));
    assert!(first != last && picture("") == first && picture("#none") == first);
}
