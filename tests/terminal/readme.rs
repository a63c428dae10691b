//! The README and the book under `docs` are true: every command in them is run, or its promise is checked, and every link leads
//! somewhere.
//!
//! Commands are parsed from the text. One that the test does not know how to run fails it.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use pretty_assertions::assert_eq;
use schedscope::cluster::Kind;
use schedscope::cluster::neighbors::NeighborKind;
use schedscope::session::GRAMMAR;
use schedscope::source::journal::{Journal, JournalOptions, JournalWriter, RecordedState};
use schedscope::source::{Input, load};
use schedscope::ui::actions::verbs;
use serde_json::{Value, json};
use strum::IntoEnumIterator as _;
use tempfile::TempDir;

use crate::api_server::ApiServer;
use crate::pty::Pty;

const README: &str = include_str!("../../README.md");
/// The README and the chapters of the book, by path.
static PAGES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chapters = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| format!("docs/{}", entry.unwrap().file_name().display()));
    let mut paths: Vec<String> = chapters.filter(|path| Path::new(path).extension().is_some_and(|ending| ending == "md")).collect();
    paths.sort();
    paths.insert(0, "README.md".to_owned());
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(root.join(path)).unwrap())).collect()
});
const MANIFEST: &str = include_str!("../../Cargo.toml");
const CI: &str = include_str!("../../.ci/run");
const STORY: &str = include_str!("../../fixtures/stories/payments.yaml");

/// Returns the lines of the command blocks, without their comments.
fn block_lines() -> BTreeSet<&'static str> {
    let blocks = PAGES.iter().flat_map(|(_, text)| text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()));
    let lines = blocks.flat_map(str::lines).map(|line| line.split("  #").next().unwrap().trim());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Returns the texts in single backticks, outside blocks.
fn code_spans() -> Vec<&'static str> {
    let prose = PAGES.iter().flat_map(|(_, text)| text.split("```").step_by(2));
    prose.flat_map(|text| text.split('`').skip(1).step_by(2)).collect()
}

/// Splits a line as a shell does.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    assert_eq!(quote, None, "{line}");
    words.extend(word);
    words
}

/// Returns the commands of a usage line: with all optional parts, and without. Placeholders are replaced by existing
/// names.
fn usages(line: &str) -> Vec<String> {
    let part = |line: &str, keep: bool| {
        let (mut out, mut depth, mut inner) = (String::new(), 0, String::new());
        for c in line.chars() {
            match c {
                '[' => depth += 1,
                ']' => {
                    depth -= 1;
                    out.push_str(if keep { &inner } else { "" });
                    inner.clear();
                }
                c if depth > 0 => inner.push(c),
                c => out.push(c),
            }
        }
        out
    };
    let mut found: Vec<String> = [true, false].into_iter().map(|keep| filled(&part(line, keep))).collect();
    found.dedup();
    found
}

fn filled(usage: &str) -> String {
    let mut words = Vec::new();
    let mut before = "";
    for word in usage.split_whitespace() {
        words.push(match (before, word) {
            ("capture", "FILE") => "captured.json".to_owned(),
            ("--ops", "FILE") => "ops.json".to_owned(),
            ("-f", "FILE...") => "web.json".to_owned(),
            ("--replicas", "N") => "2".to_owned(),
            ("open", "FILE") => "saved".to_owned(),
            (_, "JOURNAL") => "new.journal".to_owned(),
            ("log" | "--scheduler-log", "FILE...") => "scheduler.log".to_owned(),
            (_, "KIND/NAME") => "deployment/spread".to_owned(),
            ("--what-if", "VERB") => "\"add 1 like worker-a1\"".to_owned(),
            (_, "OLD") => "old.json".to_owned(),
            (_, "NEW") => "new.json".to_owned(),
            (_, "STORY") => "payments".to_owned(),
            (_, "PATH...") => "cluster.json".to_owned(),
            (_, "NS") => "shop".to_owned(),
            ("man", "DIR") => "pages".to_owned(),
            ("schema", "NAME") => "explain".to_owned(),
            (_, "SHELL") => "bash".to_owned(),
            (_, "VERSION") => "1.36".to_owned(),
            (_, word) if word.ends_with("NAME") => word.replace("NAME", "payments"),
            (_, word) => word.to_owned(),
        });
        before = word;
    }
    words.join(" ")
}

/// A folder with the files that the README's commands use, and a live cluster.
struct Place {
    folder: TempDir,
    _server: ApiServer,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let story: Value = serde_yaml::from_str(STORY).unwrap();
        let server = ApiServer::new(story["items"].as_array().unwrap());
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("kubeconfig", &server.kubeconfig());
        let place = Self { folder, _server: server };
        place.record();
        place.renew();
        place
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a journal of twenty minutes.
    fn record(&self) {
        let loaded = load(&[Input::Bytes { name: "story".to_owned(), bytes: STORY.as_bytes().into() }]);
        let state = RecordedState::new(&loaded, schedscope::cluster::KindSet::default(), None);
        let mut writer = JournalWriter::open(&self.path().join("cluster.journal"), JournalOptions::default()).unwrap();
        let begin: Timestamp = "2026-11-27T03:00:00Z".parse().unwrap();
        writer.begin(&state, begin);
        for seconds in (10..=1200).step_by(10) {
            writer.append(&[], &state, begin.checked_add(SignedDuration::from_secs(seconds)).unwrap());
        }
    }

    /// Starts a recorder, waits until it records, and ends it.
    fn recorder(&self, line: &str, arguments: &[String]) {
        // The journal that others read stays as it is.
        let mut arguments = arguments.to_vec();
        "new.journal".clone_into(&mut arguments[1]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
        command.args(&arguments).current_dir(self.path()).envs(self.variables()).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(said.contains("\"state\":\"recording\""), "{line}: {said}");
        assert!(Journal::is_at(&self.path().join("new.journal")), "{line}");
    }

    /// Deletes the files that other commands wrote.
    fn renew(&self) {
        for entry in std::fs::read_dir(self.path()).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_dir() {
                if entry.file_name() != "cluster.journal" {
                    std::fs::remove_dir_all(entry.path()).unwrap();
                }
            } else if entry.file_name() != "kubeconfig" {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let write = |name: &str, text: &str| std::fs::write(self.path().join(name), text).unwrap();
        let story: Value = serde_yaml::from_str(STORY).unwrap();
        write("cluster.json", &story.to_string());
        write("old.json", &story.to_string());
        let mut newer = story;
        let metadata = json!({"name": "new", "creationTimestamp": "2026-11-20T18:40:00Z"});
        newer["items"].as_array_mut().unwrap().push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
        write("new.json", &newer.to_string());
        write("devices.json", &json!({"apiVersion": "v1", "kind": "List", "items": [], "metadata": {"resourceVersion": ""}}).to_string());
        write("scheduler.log", include_str!("../../fixtures/scheduler-logs/story-1.34.log"));
        std::fs::copy(root.join("fixtures/dumps/etcd/snapshot-1.31.db.xz"), self.path().join("snapshot.db")).unwrap();
        std::fs::create_dir_all(self.path().join("fixtures/workloads")).unwrap();
        write("fixtures/workloads/01-quota.yaml", include_str!("../../fixtures/workloads/01-quota.yaml"));
        write("ops.json", &json!([{"op": "schedule"}]).to_string());
        let template = json!({"metadata": {"labels": {"app": "new"}}, "spec": {"containers": [{"name": "c"}]}});
        let spec = json!({"replicas": 3, "selector": {"matchLabels": {"app": "new"}}, "template": template});
        let new = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "new", "namespace": "shop"}, "spec": spec});
        write("web.json", &new.to_string());
    }

    fn variables(&self) -> [(String, String); 4] {
        let kubeconfig = self.path().join("kubeconfig").display().to_string();
        [
            ("KUBECONFIG".to_owned(), kubeconfig),
            ("HOME".to_owned(), "/dev/null".to_owned()),
            ("XDG_CONFIG_HOME".to_owned(), "/dev/null".to_owned()),
            ("XDG_STATE_HOME".to_owned(), "/dev/null".to_owned()),
        ]
    }

    /// Runs a command without a screen; returns its exit code and standard output.
    fn run(&self, arguments: &[String]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
        command.args(arguments).current_dir(self.path()).envs(self.variables()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("schedscope: ") && !error.contains("error: "), "{arguments:?}: {error}");
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// Starts the explorer, waits for its first frame, runs `then`, and quits.
    fn explore(&self, arguments: &[String], then: impl FnOnce(&mut Pty)) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let variables = self.variables();
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut pty = Pty::start_at(self.path(), &variables, &arguments, 120, 40);
        pty.wait_for("activeQ");
        then(&mut pty);
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0, "{arguments:?}");
    }

    /// Runs a line that begins with the program's name, and checks its effect.
    fn schedscope(&self, line: &str) {
        self.renew();
        let mut arguments = words(line).split_off(1);
        // The shell's part: the output is checked in any case.
        arguments.truncate(arguments.iter().position(|a| a == ">").unwrap_or(arguments.len()));
        // The kubeconfig of this test has one context.
        arguments.iter_mut().filter(|a| *a == "prod").for_each(|a| "test".clone_into(a));
        let says = |word: &str| arguments.iter().any(|a| a == word);
        let written = |name: &str| std::fs::metadata(self.path().join(name)).is_ok_and(|m| m.len() > 0);
        match arguments.first().map(String::as_str) {
            Some("demo" | "open" | "live") if says("--print") => {
                assert_eq!(self.run(&arguments), (0, String::new()), "{line}");
                assert!(arguments.iter().any(|a| a.contains('.') && written(a)), "{line}: nothing was written");
            }
            Some("demo" | "open" | "live") => {
                if says("saved") {
                    self.explore(&["demo".to_owned()], |pty| {
                        pty.send(":save saved\r");
                        pty.wait_for("saved to saved");
                    });
                }
                self.explore(&arguments, |_| {});
            }
            Some("record") => self.recorder(line, &arguments),
            Some("man") => {
                assert_eq!(self.run(&arguments), (0, String::new()), "{line}");
                assert!(written(&format!("{}/schedscope-explain.1", arguments[1])), "{line}");
            }
            Some("capture") => {
                let file = arguments.iter().skip(1).find(|a| !a.starts_with('-')).unwrap();
                // Files are not overwritten.
                let _ = std::fs::remove_file(self.path().join(file));
                assert_eq!(self.run(&arguments), (0, String::new()), "{line}");
                assert!(written(file), "{line}: {file} is not there");
                let opened = ["explain", "--pending", "-A", "--from", file].map(str::to_owned);
                assert_eq!(self.run(&opened).0, 1, "what {line} wrote can be read, and has pods that do not fit");
            }
            Some("explain") if says("snapshot.db") => {
                let (code, said) = self.run(&arguments);
                assert!(code < 2 && (said.contains("pending pods") || said.contains("c701-0135")), "{line}: {code} {said}");
            }
            Some("explain") if says("--pending") => {
                let (code, said) = self.run(&arguments);
                let said = if says("pods.prom") { std::fs::read_to_string(self.path().join("pods.prom")).unwrap() } else { said };
                // Without -A, the namespace is that of the kubeconfig's context.
                let pods = if says("-A") { 15 } else { 8 };
                let found = if says("json") {
                    serde_json::from_str::<Value>(&said).unwrap()["pods"].as_array().map(Vec::len) == Some(pods)
                } else if says("metrics") {
                    said.contains("schedscope_pending_pods{namespace=\"shop\"} ")
                } else {
                    said.contains(&format!("{pods} pending pods"))
                };
                assert!(code == i32::from(!says("--exit-zero")) && found, "{line}: {code} {said}");
            }
            Some("explain") if says("-f") => {
                let (code, said) = self.run(&arguments);
                assert!(code < 2 && said.contains("Deployment shop/new"), "{line}: {code} {said}");
            }
            Some("explain") if says("deployment/web") => {
                let (code, said) = self.run(&arguments);
                assert!(code == 1 && said.contains("1 of 1 used"), "{line}: {code} {said}");
            }
            Some("explain") if says("deployment/spread") || says("--evicted") => {
                let (code, said) = self.run(&arguments);
                let words = ["shop/new", "spread", "payments"].iter().any(|word| said.contains(word));
                assert!(code < 2 && words, "{line}: {code} {said}");
            }
            Some("explain") => {
                let (code, said) = self.run(&arguments);
                assert_eq!(code, 1, "shop/payments does not fit: {line}");
                let json = says("json").then(|| serde_json::from_str::<Value>(&said).unwrap());
                let whom = json.map_or_else(|| said.contains("worker-a2 is nominated"), |v| v["preemption"]["selected"] == "worker-a2");
                assert!(whom, "{line}: {said}");
            }
            Some("diff") => {
                let (code, said) = self.run(&arguments);
                assert!(code < 2 && said.contains("Namespace"), "{line}: {code} {said}");
            }
            Some("log") if says("cluster.journal") => {
                // The journal of this test has no log.
                let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
                let output = command.args(&arguments).current_dir(self.path()).envs(self.variables()).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.code() == Some(3) && said.contains("no log of kube-scheduler could be read"), "{line}: {said}");
            }
            Some("run" | "info" | "completions" | "log" | "schema") => {
                let (code, said) = self.run(&arguments);
                // On the demo a pod of worker-a1 finds no other node.
                let expected = i32::from(arguments.iter().any(|a| a == "drain worker-a1"));
                assert!(code == expected && !said.trim().is_empty(), "{line}: {code} {said}");
            }
            other => panic!("{line}: how is {other:?} run?"),
        }
    }
}

/// Checks the promise of a line about other programs.
fn promise(place: &Place, line: &str) {
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        // The package builds the program of that name.
        ["cargo", "install", "--path", "."] => {
            assert!(MANIFEST.contains("[[bin]]\nname = \"schedscope\"\n"), "{line}");
            let least = MANIFEST.lines().find_map(|l| l.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
            assert!(README.contains(&format!("stable Rust {least} or later")), "the README says from which Rust on");
        }
        // Arguments after the dashes are the program's.
        ["cargo", "run", "--release", "--", ref arguments @ ..] => place.schedscope(&format!("schedscope {}", arguments.join(" "))),
        ["cargo", "test"] => assert!(CI.lines().any(|l| l == line), "{line} is what is run before a change lands"),
        ["kubectl", "get", kinds, "-A", "-o", "json", ">", file] => {
            let (of_devices, kinds): (bool, Vec<&str>) = (file == "devices.json", kinds.split(',').collect());
            assert!(of_devices || file == "cluster.json", "{line}");
            // kubectl fails on a kind that the server does not have: devices come with 1.34, and few have PodGroups or DeviceTaintRules.
            let is_of_devices = |kind: &Kind| kind.to_string().starts_with("Resource") || *kind == Kind::DeviceClass;
            let read: BTreeSet<String> = Kind::iter()
                .filter(|kind| ![Kind::PodGroup, Kind::DeviceTaintRule].contains(kind) && is_of_devices(kind) == of_devices)
                .map(|kind| kind.to_string().to_lowercase())
                .collect();
            let neighbors: BTreeSet<String> = NeighborKind::iter()
                .filter(|kind| {
                    !of_devices && kind.groups().iter().any(|group| ["", "apps", "batch", "autoscaling", "node.k8s.io"].contains(group))
                })
                .map(|kind| kind.resource().to_owned())
                .collect();
            let singular = |kind: &str| Kind::named(kind).map(|k| k.to_string().to_lowercase());
            let (scheduling, others): (Vec<&str>, Vec<&str>) = kinds.iter().partition(|kind| singular(kind).is_some());
            assert_eq!(
                scheduling.iter().filter_map(|kind| singular(kind)).collect::<BTreeSet<_>>(),
                read,
                "all that decides about scheduling"
            );
            let others: BTreeSet<String> = others.into_iter().map(str::to_owned).collect();
            let events = if of_devices { BTreeSet::new() } else { BTreeSet::from(["events".to_owned()]) };
            let scheduled: BTreeSet<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            let expected: BTreeSet<String> = neighbors.difference(&scheduled).cloned().chain(events.clone()).collect();
            assert!(expected.iter().all(|kind| others.contains(kind)), "what workloads and quotas need: {expected:?} of {others:?}");
            assert!(others.iter().all(|kind| neighbors.contains(kind) || events.contains(kind)), "and nothing else: {others:?}");
            assert_eq!(scheduled.len(), kinds.len(), "each once");
        }
        ["benches/program.py", "dump.json", "shop/web", "--only", names] => {
            let measures = include_str!("../../benches/program.py");
            assert!(names.split(',').all(|name| measures.contains(&format!("    \"{name}\": ["))), "{line}");
        }
        _ => panic!("{line}: what does it promise?"),
    }
}

#[test]
fn every_command_in_a_block_does_what_it_says() {
    let place = Place::new();
    let lines = block_lines();
    assert!(lines.len() >= 10, "{lines:?}");
    for line in lines {
        if line.starts_with("schedscope ") { place.schedscope(line) } else { promise(&place, line) }
    }
}

#[test]
fn every_command_in_the_table_and_in_the_text_does_what_it_says() {
    let place = Place::new();
    // A span may be broken over two lines.
    let spans: Vec<String> = code_spans().iter().map(|s| s.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let commands: BTreeSet<&String> = spans.iter().filter(|s| s.starts_with("schedscope ")).collect();
    let table = README.lines().filter(|l| l.starts_with("| `schedscope ")).count();
    let subcommands: BTreeSet<&str> = commands.iter().filter_map(|c| c.split(' ').nth(1)).collect();
    assert_eq!(
        subcommands.into_iter().collect::<Vec<_>>(),
        ["capture", "completions", "demo", "diff", "explain", "info", "live", "log", "man", "open", "record", "run", "schema"]
    );
    assert!(table >= 8 && commands.len() >= table, "{commands:?}");
    for usage in commands {
        for line in usages(usage) {
            place.schedscope(&line);
        }
    }
}

#[test]
fn every_what_if_of_the_table_is_taken_and_no_verb_is_left_out() {
    let place = Place::new();
    let chapter = &PAGES.iter().find(|(path, _)| path == "docs/what-if.md").unwrap().1;
    let cells = chapter.lines().filter_map(|line| line.strip_prefix("| `:")?.split(" | ").next());
    let verbs: Vec<&str> = cells.flat_map(|cell| cell.trim_end_matches('`').split("`, `:")).collect();
    let words: BTreeSet<&str> = verbs.iter().filter_map(|verb| verb.split(' ').next()).collect();
    assert_eq!(words, GRAMMAR.iter().map(|row| row.word).collect());
    for verb in verbs {
        // No pod of a demo waits on Permit.
        if !verb.ends_with(" POD") {
            let arguments = ["run", "--demo", "payments", "--what-if", verb].map(str::to_owned);
            let (code, said) = place.run(&arguments);
            assert!(code < 2 && !said.is_empty(), "{verb}: {code} {said}");
        }
    }
    let (code, said) = place.run(&["run", "--what-if", "help"].map(str::to_owned));
    assert!(code == 0 && GRAMMAR.iter().all(|row| said.contains(&format!("\n{} ", row.word)) || said.starts_with(row.word)), "{said}");
}

#[test]
fn every_command_of_the_explorer_in_the_text_is_one() {
    let typed: BTreeSet<&str> = code_spans().into_iter().filter_map(|s| s.strip_prefix(':')).filter(|s| !s.is_empty()).collect();
    assert!(typed.len() >= 8, "{typed:?}");
    for line in typed {
        let name = line.split(' ').next().unwrap();
        assert!(verbs::command(name).is_some(), ":{line}");
    }
}

/// Returns the targets of a page's links and pictures, outside code.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2).flat_map(|text| text.split('`').step_by(2));
    prose.flat_map(|text| text.split("](").skip(1).filter_map(|rest| rest.split(')').next())).collect()
}

/// Returns the anchors of a page's headings, as code hosts and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#').trim().to_lowercase());
    headings.map(|heading| heading.replace(' ', "-").chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = 0;
    for (path, text) in PAGES.iter() {
        for link in links(text).into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { root.join(path) } else { root.join(path).parent().unwrap().join(file) };
            let there = std::fs::metadata(&target).unwrap_or_else(|_| panic!("{path}: {link} is not there"));
            found += 1;
            if !anchor.is_empty() && there.is_file() {
                assert!(anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor), "{path}: {link} has no such heading");
            }
        }
    }
    assert!(found > 20, "{found} links");
}

/// Returns the longest part of an error's text that is the same wherever it occurs: names in capitals, in quotation marks or of the demo
/// are replaced by others.
fn fixed_part(error: &str) -> String {
    let is_name = |word: &&str| {
        word.contains("shop/")
            || word.chars().any(|c| c == '"' || c == '.')
            || word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase())
    };
    let mut parts = vec![Vec::new()];
    for word in error.split(' ') {
        if is_name(&word.trim_end_matches(',')) || word.trim_end_matches(',') == "X" {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(word);
        }
    }
    parts.into_iter().map(|words| words.join(" ")).max_by_key(String::len).unwrap_or_default()
}

#[test]
fn every_error_of_the_troubleshooting_chapter_is_one_that_the_program_writes() {
    fn code_of(folder: &Path, out: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                code_of(&path, out);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                // Texts that are broken over lines.
                out.push_str(&std::fs::read_to_string(path).unwrap().replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
    let mut code = String::new();
    code_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut code);
    let chapter = &PAGES.iter().find(|(path, _)| path == "docs/troubleshooting.md").unwrap().1;
    let errors: Vec<&str> = chapter.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(errors.len() >= 15, "{errors:?}");
    for error in errors {
        let part = fixed_part(error);
        assert!(part.len() > 8 && code.contains(&part), "{error:?}: nothing says {part:?}");
    }
}

#[test]
fn the_summary_lists_every_chapter() {
    let summary = &PAGES.iter().find(|(path, _)| path == "docs/SUMMARY.md").unwrap().1;
    let listed: BTreeSet<String> = links(summary).into_iter().map(|link| format!("docs/{link}")).collect();
    let chapters: BTreeSet<String> =
        PAGES.iter().map(|(path, _)| path.clone()).filter(|path| path.starts_with("docs/") && path != "docs/SUMMARY.md").collect();
    assert_eq!(listed, chapters);
    assert!(README.lines().count() <= 150, "the README is a page to read");
}

#[test]
fn usages_are_read_as_people_read_them() {
    assert_eq!(usages("schedscope demo [STORY]"), ["schedscope demo payments", "schedscope demo"]);
    assert_eq!(
        usages("schedscope explain [pod/]NAME -n NS"),
        ["schedscope explain pod/payments -n shop", "schedscope explain payments -n shop"]
    );
    assert_eq!(words("a --keys \": 'pod x' enter\" b"), ["a", "--keys", ": 'pod x' enter", "b"]);
}
