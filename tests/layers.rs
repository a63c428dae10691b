//! Data flows one way: a module imports only from the layers above it.

use std::path::{Path, PathBuf};

use schedscope::release::Profile;

/// Top-level modules, each with the modules it may import from.
const LAYERS: &[(&str, &[&str])] = &[
    ("cluster", &[]),
    ("release", &["cluster"]),
    ("framework", &["release", "cluster"]),
    ("trace", &["framework", "release", "cluster"]),
    ("preemption", &["trace", "framework", "release", "cluster"]),
    ("plugins", &["framework", "release", "cluster", "preemption"]),
    ("scheduler", &["framework", "release", "cluster", "preemption", "plugins", "trace"]),
    ("session", &["scheduler", "trace", "framework", "release", "cluster"]),
    ("source", &["cluster"]),
    ("report", &["session", "scheduler", "source", "trace", "framework", "release", "cluster"]),
    ("ui", &["session", "report", "trace", "framework", "release", "cluster"]),
    ("app", &["ui", "report", "session", "source", "scheduler", "trace", "framework", "release", "cluster"]),
    ("cli", &["app", "ui", "report", "session", "source", "scheduler", "trace", "framework", "release", "cluster", "plugins"]),
];

/// Rooms of `src/ui`, each with the rooms it may import from.
const UI_ROOMS: &[(&str, &[&str])] =
    &[("config", &[]), ("model", &["config"]), ("view", &["model", "config"]), ("actions", &["view", "model", "config"])];

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

/// The code of a file without its tests and comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    before_tests.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Whether a file is only there for tests.
fn is_test(file: &Path) -> bool {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    name.contains("test") || name == "fixture" || file.components().any(|c| c.as_os_str() == "tests")
}

#[test]
fn modules_import_only_from_the_layers_above() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (module, allowed) in LAYERS {
        let mut files = Vec::new();
        rust_files(&src.join(module), &mut files);
        for file in files {
            if is_test(&file) {
                continue;
            }
            seen += 1;
            let code = code(&file);
            for (other, _) in LAYERS.iter().filter(|(other, _)| other != module && !allowed.contains(other)) {
                if code.contains(&format!("crate::{other}::")) || code.contains(&format!("crate::{other};")) {
                    wrong.push(format!("{} imports crate::{other}", file.strip_prefix(&src).unwrap_or(&file).display()));
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rooms_of_the_screen_import_only_from_the_rooms_below() {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui");
    let folders: Vec<String> = std::fs::read_dir(&ui)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir() && path.join("mod.rs").exists())
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    assert!(folders.iter().all(|folder| UI_ROOMS.iter().any(|(room, _)| room == folder)), "{folders:?}");
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (room, allowed) in UI_ROOMS {
        let mut files = Vec::new();
        rust_files(&ui.join(room), &mut files);
        for file in files.into_iter().filter(|file| !is_test(file)) {
            seen += 1;
            let code = code(&file);
            let place = file.strip_prefix(&ui).unwrap_or(&file).display();
            // `crate::ui::State` and the like would hide which room is meant.
            let imports = code.split("crate::ui::").skip(1);
            for import in imports {
                let name: String = import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if name != *room && !allowed.contains(&name.as_str()) {
                    wrong.push(format!("{place} imports crate::ui::{name}"));
                }
            }
            if code.contains("use crate::ui;") || code.contains("use crate::ui::{") {
                wrong.push(format!("{place} imports crate::ui as a whole"));
            }
        }
    }
    assert!(seen > 100, "only {seen} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a line of code compares versions, rather than hand one to `src/release`.
fn compares_versions(line: &str) -> bool {
    let versions = ["release()", ".release", "Release::", ".minor()"];
    let comparisons = [" == ", " != ", " < ", " <= ", " > ", " >= ", ".cmp(", ".eq(", "partial_cmp", ".max(", ".min(", "matches!("];
    versions.iter().any(|v| line.contains(v)) && comparisons.iter().any(|c| line.contains(c))
}

#[test]
fn versions_are_compared_and_written_in_release_only() {
    assert!(compares_versions("if cx.emulation.release() >= Release::parse(text)? {"));
    assert!(compares_versions("if profile.release == other {"));
    assert!(!compares_versions("row.releases.contains(emulation.release())"));

    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let names: Vec<String> = Profile::all().iter().map(|profile| profile.release.minor()).collect();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in files.iter().filter(|file| !is_test(file) && !file.starts_with(src.join("release"))) {
        seen += 1;
        for line in code(file).lines() {
            if compares_versions(line) || names.iter().any(|name| line.contains(name)) {
                wrong.push(format!("{}: {}", file.strip_prefix(&src).unwrap_or(file).display(), line.trim()));
            }
        }
    }
    assert!(seen > 50, "only {seen} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
