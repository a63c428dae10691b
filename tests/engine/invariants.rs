//! The invariants in the map of the crate (`src/lib.rs`), as far as the source shows them. Who imports whom is in `layers.rs`.

use std::path::{Path, PathBuf};

/// The rooms below the screen and the sources, where chance and time are parameters.
const ENGINE: [&str; 17] = [
    "cluster",
    "release",
    "odds",
    "framework",
    "admission",
    "extenders",
    "trace",
    "preemption",
    "cel",
    "plugins",
    "scheduler",
    "controllers",
    "fixes",
    "session",
    "whatif",
    "analysis",
    "workspace",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rust_files(path: &Path, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder") {
            rust_files(&entry.expect("an entry").path(), out);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        out.push(path.to_owned());
    }
}

/// Returns the lines of code of a room, without tests and comments, each with its file below `src`.
fn lines(room: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    rust_files(&source().join(room), &mut files);
    assert!(!files.is_empty(), "{room} has no files");
    let is_test = |file: &PathBuf| file.to_string_lossy().contains("test");
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !is_test(file)) {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let name = file.strip_prefix(source()).expect("below src").to_string_lossy().into_owned();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        found.extend(code.lines().filter(is_code).map(|line| (name.clone(), line.to_owned())));
    }
    found
}

/// Returns the lines that contain one of the texts, in files other than those allowed.
fn with_one_of(lines: Vec<(String, String)>, texts: &[&str], allowed: &[&str]) -> Vec<String> {
    let found = lines.into_iter().filter(|(file, line)| !allowed.contains(&file.as_str()) && texts.iter().any(|text| line.contains(text)));
    found.map(|(file, line)| format!("{file}: {}", line.trim())).collect()
}

#[test]
fn chance_and_time_are_parameters() {
    let texts = ["Timestamp::now", "SystemTime", "Instant::now", "rand::", "RandomState"];
    // Work is shared among threads by the time that it takes; the results are the same.
    let allowed = ["framework/parallel.rs"];
    let found: Vec<String> = ENGINE.iter().flat_map(|room| with_one_of(lines(room), &texts, &allowed)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn events_come_from_the_scheduler_and_the_session() {
    let made = ["push(Event::", "record(|| Event::", "vec![Event::", "| Event::Logged"];
    let mut rooms: Vec<&str> = ENGINE.into_iter().filter(|room| !["scheduler", "trace"].contains(room)).collect();
    rooms.extend(["report", "ui"]);
    let allowed = ["session/recording.rs", "session/logged.rs"];
    let found: Vec<String> = rooms.iter().flat_map(|room| with_one_of(lines(room), &made, &allowed)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(with_one_of(lines("session"), &made, &[]).len(), 2, "the start of a scheduler, and a line of a log");
}

#[test]
fn the_screen_knows_no_engine() {
    let engine = ["crate::scheduler::", "crate::plugins::", "crate::preemption::", "crate::extenders::", "crate::extender_client::"];
    let found = with_one_of(lines("ui"), &engine, &[]);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn requests_to_a_cluster_only_read() {
    let methods = ["Method::POST", "Method::PUT", "Method::PATCH", "Method::DELETE", "::post(", "::put(\"", "::patch(", "::delete("];
    let found = with_one_of(lines("source/live"), &methods, &[]);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let guard = with_one_of(lines("source/live"), &["Method::GET"], &[]);
    assert!(guard.iter().any(|line| line.contains("!= Method::GET")), "each request is checked: {guard:?}");
}
