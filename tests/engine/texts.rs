//! Text is made at the edge, once, and never taken apart: what is asked for again is a field or a span.

use std::path::{Path, PathBuf};

/// Turns that take a finished text of the program apart.
const FORBIDDEN: [&str; 10] = [
    "ends_with(':')",
    "strip_suffix(':')",
    "starts_with(' ')",
    "trim_end_matches('.')",
    "trim_start_matches(\"",
    "trim_end_matches(\"",
    "replacen(",
    "split(\"  #",
    "split_once(\": \")",
    "rsplit_once(\": \")",
];

/// The modules that make texts.
const ROOMS: [&str; 5] = ["analysis", "report", "ui", "app", "cli"];

/// Files that read a text of others: messages of kube-scheduler, YAML of an object, scripts of a library.
const READERS: [&str; 4] =
    ["analysis/agreement/message_parse.rs", "analysis/agreement/last_reported.rs", "ui/view/overlays/object.rs", "cli/completion.rs"];

/// Files that still take a text of the program apart: titles of revisions, and sentences of events that have too little room.
const TO_MEND: [&str; 2] = ["app/ticket.rs", "ui/view/panes/steps.rs"];

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn no_finished_text_is_taken_apart() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for room in ROOMS {
        let mut files = Vec::new();
        rust_files(&src.join(room), &mut files);
        for file in files {
            let name = file.strip_prefix(&src).expect("below src").to_string_lossy().replace('\\', "/");
            if name.contains("tests") || READERS.contains(&name.as_str()) || TO_MEND.contains(&name.as_str()) {
                continue;
            }
            seen += 1;
            let text = std::fs::read_to_string(&file).expect("UTF-8");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for (number, line) in code.lines().enumerate() {
                if FORBIDDEN.iter().any(|turn| line.contains(turn)) {
                    wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert!(seen > 200, "only {seen} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
