//! The table of limits: every row has a test, and the documentation lists them all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use schedscope::limits;

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Returns the table as the documentation has it, a line a row.
fn table() -> String {
    let mut lines = vec!["//! | limit | amount | about | test |".to_owned(), "//! | --- | --- | --- | --- |".to_owned()];
    let rows = limits::all();
    lines
        .extend(rows.map(|row| format!("//! | [`{}::{}`] | {} | {} | `{}` |", row.part, row.name, row.amount, row.about.trim(), row.test)));
    lines.join("\n")
}

#[test]
fn the_documentation_lists_every_limit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/limits/mod.rs");
    let text = fs::read_to_string(&path).expect("UTF-8");
    let (begin, end) = ("//! <!-- limits -->\n", "\n//! <!-- /limits -->");
    let at = text.find(begin).expect("a mark") + begin.len();
    let until = at - 1 + text[at - 1..].find(end).expect("a mark");
    if std::env::var_os("SCHEDSCOPE_UPDATE_LIMITS").is_some() {
        let after = text[until..].trim_start_matches('\n');
        fs::write(&path, format!("{}{}\n{after}", &text[..at], table())).expect("written");
        return;
    }
    assert_eq!(text[at.min(until)..until].trim(), table(), "run with SCHEDSCOPE_UPDATE_LIMITS=1");
}

#[test]
fn every_limit_has_a_name_of_its_own_and_a_test_that_reaches_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests"] {
        rust_files(&root.join(folder), &mut files);
    }
    let code: String =
        files.iter().filter(|f| !f.starts_with(root.join("src/limits"))).map(|f| fs::read_to_string(f).expect("UTF-8")).collect();
    let mut names = BTreeSet::new();
    for limit in limits::all() {
        assert!(names.insert(limit.name), "two limits are called {}", limit.name);
        assert!(code.contains(&format!("fn {}(", limit.test)), "{}: no test {}", limit.name, limit.test);
    }
}
