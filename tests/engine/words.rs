//! Turns of phrase that cost every reader a translation stay out of comments, docs and sentences.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Banned in comments, in documents and in the program's own sentences.
const TURNS: &str = r"(?i)\b(so many|(some|no)body|(is|are|was|were|be|been) told|stands?|comes? to nothing|came of it|looks? on|one more of|(is|are|was|were|be) looked at|asked alone|tells? of)\b";

/// A comment or a sentence of it that opens with "What" and asks nothing.
const OPENING: &str = r"(^|[.:;] )What [^?]*$";

fn files(under: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(under).unwrap_or_else(|e| panic!("{}: {e}", under.display())) {
        let path = entry.unwrap_or_else(|e| panic!("{}: {e}", under.display())).path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

/// Returns the text of the comment that the line holds, without its marks.
fn comment(line: &str) -> Option<&str> {
    let at = line.find("// ").or_else(|| line.find("/// ")).or_else(|| line.find("//! "))?;
    Some(line[at..].trim_start_matches(['/', '!']).trim())
}

#[test]
fn plain_words_are_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (turns, opening) = (Regex::new(TURNS).unwrap(), Regex::new(OPENING).unwrap());
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches"] {
        files(&root.join(folder), "rs", &mut paths);
    }
    files(&root.join("docs"), "md", &mut paths);
    paths.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map(|name| root.join(name)));
    paths.sort();

    let mut found = Vec::new();
    for path in &paths {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if name == "tests/engine/words.rs" {
            continue;
        }
        let is_prose = path.extension().is_some_and(|e| e == "md");
        // Of test code only the comments count: its strings are often those of others.
        let comments_only = !name.starts_with("src/") && !is_prose;
        for (number, line) in (1..).zip(fs::read_to_string(path).unwrap().lines()) {
            let comment = if is_prose { Some(line) } else { comment(line) };
            let prose = if comments_only { comment } else { Some(line) };
            let hit = prose.is_some_and(|p| turns.is_match(p)) || comment.is_some_and(|c| opening.is_match(c));
            if hit {
                found.push(format!("{name}:{number}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{} lines with a banned turn:\n{}", found.len(), found.join("\n"));
}

/// Parts of names that belong to no vocabulary but ours.
const PARTS: [&str; 5] = ["told", "heard", "news", "beside", "anew"];

/// Returns the parts of a name in snake case or camel case, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && parts.last().is_some_and(|p| p.ends_with(char::is_lowercase))) {
            parts.push(String::new());
        }
        if letter != '_' {
            parts.last_mut().expect("one part is always there").extend(letter.to_lowercase());
        }
    }
    parts
}

#[test]
fn names_are_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Comments and texts are cut away first.
    let other = Regex::new(r#"//.*|"(?:[^"\\]|\\.)*""#).unwrap();
    let name = Regex::new(r"[A-Za-z_][A-Za-z0-9_]*").unwrap();
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        files(&root.join(folder), "rs", &mut paths);
    }
    paths.sort();

    let mut found = Vec::new();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let code = other.replace_all(line, " ");
            let banned = name.find_iter(&code).find(|n| parts(n.as_str()).iter().any(|p| PARTS.contains(&p.as_str())));
            found.extend(banned.map(|n| format!("{}:{number}: {}", path.display(), n.as_str())));
        }
    }
    assert!(found.is_empty(), "{} names with a banned part:\n{}", found.len(), found.join("\n"));
    assert_eq!(parts("asTold_before"), ["as", "told", "before"]);
}
