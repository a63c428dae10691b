//! Checks the layers: a module imports only from the layers above it.

use std::path::{Path, PathBuf};

use schedscope::release::Profile;

/// Modules of one parent, each with the siblings that it may import from.
type Rooms = &'static [(&'static str, &'static [&'static str])];

/// Top-level modules.
const LAYERS: Rooms = &[
    ("plural", &[]),
    ("suggest", &[]),
    ("limits", &["plural"]),
    ("cluster", &["limits"]),
    ("output", &["limits", "cluster"]),
    ("proxies", &["output"]),
    ("release", &["limits", "cluster"]),
    ("odds", &["limits", "cluster"]),
    ("framework", &["limits", "odds", "release", "cluster"]),
    ("admission", &["limits", "framework", "release", "cluster"]),
    ("extenders", &["limits", "framework", "release", "cluster", "output"]),
    ("extender_client", &["limits", "extenders", "framework", "output", "proxies"]),
    ("trace", &["limits", "output", "framework", "odds", "release", "cluster", "plural"]),
    ("preemption", &["limits", "odds", "trace", "framework", "release", "cluster"]),
    ("cel", &["limits", "cluster"]),
    ("plugins", &["limits", "cel", "framework", "release", "cluster", "preemption"]),
    ("scheduler", &["limits", "extenders", "odds", "output", "framework", "release", "cluster", "preemption", "plugins", "trace"]),
    ("controllers", &["limits", "admission", "plugins", "framework", "release", "scheduler", "cluster"]),
    (
        "fixes",
        &["limits", "admission", "cel", "controllers", "scheduler", "plugins", "trace", "framework", "release", "cluster", "suggest"],
    ),
    ("session", &["limits", "extenders", "odds", "output", "scheduler", "trace", "framework", "release", "cluster", "suggest"]),
    (
        "whatif",
        &[
            "limits",
            "admission",
            "extenders",
            "session",
            "fixes",
            "controllers",
            "scheduler",
            "plugins",
            "trace",
            "framework",
            "release",
            "cluster",
            "suggest",
        ],
    ),
    ("workload", &["limits", "plugins", "release", "cluster", "suggest"]),
    ("scheduler_log", &["limits"]),
    ("source", &["limits", "admission", "cel", "scheduler_log", "cluster", "output", "plural", "proxies"]),
    (
        "analysis",
        &[
            "limits",
            "extenders",
            "odds",
            "output",
            "session",
            "fixes",
            "controllers",
            "workload",
            "preemption",
            "scheduler",
            "source",
            "scheduler_log",
            "trace",
            "framework",
            "release",
            "cluster",
            "plural",
            "suggest",
        ],
    ),
    (
        "report",
        &[
            "limits",
            "analysis",
            "admission",
            "odds",
            "output",
            "session",
            "fixes",
            "controllers",
            "whatif",
            "workload",
            "scheduler",
            "source",
            "scheduler_log",
            "trace",
            "framework",
            "release",
            "cluster",
            "plural",
            "suggest",
        ],
    ),
    (
        "workspace",
        &[
            "admission",
            "analysis",
            "output",
            "report",
            "whatif",
            "source",
            "session",
            "fixes",
            "scheduler",
            "trace",
            "framework",
            "release",
            "cluster",
        ],
    ),
    (
        "engine",
        &[
            "limits",
            "admission",
            "analysis",
            "output",
            "report",
            "session",
            "fixes",
            "controllers",
            "whatif",
            "scheduler",
            "source",
            "trace",
            "framework",
            "release",
            "cluster",
            "plural",
        ],
    ),
    (
        "ui",
        &[
            "workspace",
            "limits",
            "admission",
            "odds",
            "output",
            "session",
            "fixes",
            "controllers",
            "whatif",
            "workload",
            "analysis",
            "report",
            "scheduler_log",
            "trace",
            "framework",
            "release",
            "cluster",
            "plural",
            "suggest",
        ],
    ),
    (
        "app",
        &[
            "workspace",
            "limits",
            "admission",
            "odds",
            "output",
            "ui",
            "analysis",
            "report",
            "session",
            "fixes",
            "controllers",
            "whatif",
            "workload",
            "source",
            "scheduler_log",
            "scheduler",
            "trace",
            "framework",
            "release",
            "cluster",
            "suggest",
        ],
    ),
    (
        "cli",
        &[
            "workspace",
            "engine",
            "limits",
            "admission",
            "odds",
            "app",
            "output",
            "ui",
            "analysis",
            "report",
            "session",
            "fixes",
            "controllers",
            "whatif",
            "workload",
            "source",
            "scheduler_log",
            "scheduler",
            "trace",
            "framework",
            "release",
            "cluster",
            "plugins",
            "extenders",
            "extender_client",
            "plural",
            "suggest",
        ],
    ),
];

/// The stages of `source`.
const SOURCE: Rooms = &[
    ("read", &[]),
    ("layout", &["read"]),
    ("decode", &["layout", "read"]),
    ("assemble", &["decode", "layout", "read"]),
    ("live", &["assemble", "decode", "layout", "read"]),
    ("capture", &["decode"]),
    ("journal", &["live", "capture", "assemble", "decode", "layout", "read"]),
    ("history", &["journal", "read"]),
    ("logs", &["assemble", "read"]),
    ("manifest", &["decode"]),
];

/// The layers of `ui`.
const UI: Rooms = &[("config", &[]), ("model", &["config"]), ("view", &["model", "config"]), ("actions", &["view", "model", "config"])];

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

/// Returns the code of a file without its tests and comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    before_tests.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Whether a file contains only tests.
fn is_test(file: &Path) -> bool {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    name.contains("test") || name == "testing" || file.components().any(|c| c.as_os_str() == "tests")
}

/// Returns the paths in a file's code that begin with `crate` or `super`, relative to the crate's root.
fn paths(code: &str, module: &[&str]) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = &code[..at];
            if !before.ends_with(|c| is_word(c) || c == ':') && !before.ends_with("pub(in ") {
                tree(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    let absolute = |path: Vec<String>| {
        let up = path.iter().take_while(|part| *part == "super").count();
        let base = if up == 0 { &[] } else { &module[..module.len().saturating_sub(up)] };
        base.iter().map(|part| (*part).to_owned()).chain(path.into_iter().skip(up.max(1))).collect()
    };
    found.into_iter().map(absolute).collect()
}

/// Reads a path, or a tree of paths in braces, and returns the rest of the text.
fn tree<'a>(mut text: &'a str, prefix: &mut Vec<String>, out: &mut Vec<Vec<String>>) -> &'a str {
    let depth = prefix.len();
    loop {
        text = text.trim_start();
        if let Some(mut inner) = text.strip_prefix('{') {
            loop {
                inner = tree(inner, prefix, out).trim_start_matches(|c: char| c == ',' || c.is_whitespace());
                if inner.is_empty() {
                    return inner;
                }
                if let Some(rest) = inner.strip_prefix('}') {
                    text = rest;
                    break;
                }
            }
            break;
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        prefix.push(text[..end].to_owned());
        text = &text[end..];
        if end > 0
            && let Some(rest) = text.strip_prefix("::")
        {
            text = rest;
        } else {
            out.push(prefix.clone());
            // `as name` and `*` add nothing to the path.
            text = &text[text.find([',', '}', ';']).unwrap_or(text.len())..];
            break;
        }
    }
    prefix.truncate(depth);
    text
}

/// Asserts that each of the modules in `parent` imports only from those that its row allows. Items of the parent itself
/// are above all of them, and off limits.
#[track_caller]
fn assert_layered(parent: &[&str], rooms: Rooms) {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (room, allowed) in rooms {
        let (mut files, folder) = (Vec::new(), parent.iter().fold(src.clone(), |path, part| path.join(part)).join(room));
        match folder.with_extension("rs") {
            file if file.is_file() => files.push(file),
            _ => rust_files(&folder, &mut files),
        }
        files.retain(|file| !is_test(file));
        assert!(!files.is_empty(), "{room} has no files");
        for file in files {
            let name = file.strip_prefix(&src).expect("below src").with_extension("");
            let mut module: Vec<&str> = name.iter().map(|part| part.to_str().expect("UTF-8")).collect();
            module.pop_if(|part| *part == "mod");
            for path in paths(&code(&file), &module) {
                let Some(rest) = path.strip_prefix(parent.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>().as_slice()) else {
                    continue;
                };
                let target = rest.first().map_or("", String::as_str);
                // The crate's root contains only modules.
                let counts = !parent.is_empty() || rooms.iter().any(|(other, _)| *other == target);
                if counts && target != *room && !allowed.contains(&target) {
                    wrong.push(format!("{} imports {}", name.display(), path.join("::")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn paths_are_found_however_they_are_written() {
    let code = "use crate::a::{self, b::{c, d as e}, f::*};\nuse super::{x, y};\npub(super) fn g() -> super::super::z::Z { crate::h() }";
    let found: Vec<String> = paths(code, &["m", "n", "o"]).into_iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a::self", "a::b::c", "a::b::d", "a::f::", "h", "m::n::x", "m::n::y", "m::z::Z"]);
}

#[test]
fn modules_import_only_from_the_layers_above() {
    assert_layered(&[], LAYERS);
}

#[test]
fn stages_of_source_import_only_from_the_stages_above() {
    assert_layered(&["source"], SOURCE);
}

#[test]
fn rooms_of_the_screen_import_only_from_the_rooms_below() {
    assert_layered(&["ui"], UI);
}

/// Whether a line of code compares versions, which only `src/release` may do.
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
