//! Reads the user's configuration file and themes from the configuration directory.
//!
//! No problem in them keeps the explorer from starting: a setting that cannot be used is reported with its file and
//! key, and all others are used.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::limits::terminal::SETTINGS;
use crate::ui::config::theme::SyntaxError;
use crate::ui::{self, ASCII, FileError, Glyphs, Keymap, Library, UNICODE};

/// Settings of a configuration file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Configured {
    /// Name of the theme.
    pub(super) theme: Option<String>,
    /// Set of glyphs.
    pub(super) glyphs: Option<Glyphs>,
    /// Whether the mouse is used; without it, the terminal selects text.
    pub(super) mouse: bool,
    /// Bindings of keys to actions.
    pub(super) keymap: Keymap,
    /// Settings that cannot be used, one sentence each.
    pub(super) problems: Vec<String>,
}

impl Default for Configured {
    fn default() -> Self {
        Self { theme: None, glyphs: None, mouse: true, keymap: ui::keymap(), problems: Vec::new() }
    }
}

/// Returns schedscope's folder below the directory in an environment variable, if that is absolute, else below
/// `in_home` in the home directory.
pub fn folder(var: impl Fn(&str) -> Option<String>, variable: &str, in_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(in_home)))?;
    Some(base.join("schedscope"))
}

/// Reads the configuration file in a folder. A missing file counts as an empty one.
pub(super) fn read(folder: Option<&Path>) -> Configured {
    let Some(path) = folder.map(|f| f.join("config.toml")) else { return Configured::default() };
    if fs::symlink_metadata(&path).is_err() {
        return Configured::default();
    }
    let file = path.display().to_string();
    match text(&path) {
        Ok(text) => parse(&file, &text),
        Err(why) => Configured { problems: vec![format!("{file}: {why}")], ..Configured::default() },
    }
}

fn parse(file: &str, text: &str) -> Configured {
    let mut found = Configured::default();
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            found.problems.push(format!("{file}: {}", SyntaxError::new(text, &error)));
            return found;
        }
    };
    let mut problems = Vec::new();
    for (key, value) in &table {
        match (key.as_str(), value, value.as_str()) {
            ("theme", _, Some(name)) => found.theme = Some(name.to_owned()),
            ("glyphs", _, Some("ascii")) => found.glyphs = Some(ASCII),
            ("glyphs", _, Some("unicode")) => found.glyphs = Some(UNICODE),
            ("mouse", toml::Value::Boolean(mouse), _) => found.mouse = *mouse,
            ("keys", toml::Value::Table(keys), _) => (found.keymap, problems) = found.keymap.configured(keys),
            ("theme", ..) => found.problems.push("theme: must be a string".to_owned()),
            ("glyphs", ..) => found.problems.push("glyphs: must be \"ascii\" or \"unicode\"".to_owned()),
            ("mouse", ..) => found.problems.push("mouse: must be true or false".to_owned()),
            ("keys", ..) => found.problems.push("keys: must be a table".to_owned()),
            _ => found.problems.push(format!("{key}: is not one of theme, glyphs, mouse, keys")),
        }
    }
    found.problems.extend(problems);
    for problem in &mut found.problems {
        *problem = format!("{file}: {problem}");
    }
    found
}

/// Returns the embedded themes and those in a folder: every file that ends in `.toml`.
pub(super) fn library(folder: Option<&Path>) -> Library {
    let files = folder.and_then(|f| fs::read_dir(f).ok()).into_iter().flatten().flatten().map(|entry| entry.path());
    Library::new(files.filter(|path| path.extension().is_some_and(|e| e == "toml")).filter_map(|path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        Some((name, path.display().to_string(), text(&path)))
    }))
}

/// Reads a regular file.
fn text(path: &Path) -> Result<String, FileError> {
    // Opening a pipe would block.
    if !fs::metadata(path)?.is_file() {
        return Err(FileError::NotAFile);
    }
    let mut text = String::new();
    let size = File::open(path).and_then(|f| f.take(SETTINGS + 1).read_to_string(&mut text))?;
    if size as u64 > SETTINGS {
        return Err(FileError::TooLarge(SETTINGS));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
