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
mod tests {
    use super::*;
    use crate::ui::{Action, Depth};

    #[test]
    fn the_folder_is_where_the_environment_has_it() {
        let check = |vars: &[(&str, &str)], expected: Option<&str>| {
            let var = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            assert_eq!(folder(var, "XDG_CONFIG_HOME", ".config"), expected.map(PathBuf::from), "{vars:?}");
        };
        check(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")], Some("/x/schedscope"));
        check(&[("XDG_CONFIG_HOME", ""), ("HOME", "/h")], Some("/h/.config/schedscope"));
        let state = |name: &str| (name == "HOME").then(|| "/h".to_owned());
        assert_eq!(folder(state, "XDG_STATE_HOME", ".local/state"), Some(PathBuf::from("/h/.local/state/schedscope")));
        check(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")], Some("/h/.config/schedscope"));
        check(&[("HOME", "")], None);
        check(&[], None);
    }

    #[test]
    fn a_configuration_says_theme_signs_and_keys() {
        let found = parse("c.toml", "theme = 'mine'\nglyphs = 'ascii'\n[keys.global]\nstep = ['m', 'space']");
        assert_eq!((found.theme.as_deref(), found.glyphs, found.problems), (Some("mine"), Some(ASCII), Vec::new()));
        let step = Action::STEP;
        assert_eq!(found.keymap.label(crate::ui::Context::GLOBAL, &step), "m");
        assert_eq!(parse("c.toml", "glyphs = 'unicode'").glyphs, Some(UNICODE));
        assert_eq!(parse("c.toml", ""), Configured::default());
        assert_eq!(["", "mouse = true", "mouse = false"].map(|text| parse("c.toml", text).mouse), [true, true, false]);
    }

    #[test]
    fn the_examples_of_the_book_can_be_used() {
        let page = include_str!("../../docs/configuration.md");
        let blocks: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        let [config, theme] = blocks[..] else { panic!("{blocks:?}") };
        let found = parse("config.toml", config);
        assert_eq!(found.problems, Vec::<String>::new());
        assert!(found.theme.is_some() && found.glyphs.is_some() && found.keymap != ui::keymap());
        let library = Library::new([("mine".to_owned(), "mine.toml".to_owned(), Ok(theme.to_owned()))]);
        assert!(library.load("mine", Depth::True).is_ok());
    }

    #[test]
    fn problems_name_the_file_and_the_key_and_keep_the_rest() {
        let check = |text: &str, expected: &str| {
            let found = parse("/c.toml", &format!("{text}\n[keys.global]\nuntil = 'Z'"));
            assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
            assert!(found.problems[0].starts_with(&format!("/c.toml: {expected}")), "{:?}", found.problems);
            assert_eq!(found.keymap, parse("", "keys.global.until = 'Z'").keymap, "{text}");
        };
        check("theme = 1", "theme: must be a string");
        check("glyphs = 'emoji'", "glyphs: must be \"ascii\" or \"unicode\"");
        check("colour = 1", "colour: is not one of theme, glyphs, mouse, keys");
        check("mouse = 'off'", "mouse: must be true or false");
        check("keys.queues.foo = 'x'", "keys.queues.foo: is not one of step-in, open");
        let found = parse("/c.toml", "theme = 'a'\nglyphs =");
        assert_eq!(found.theme, None);
        assert!(found.problems[0].starts_with("/c.toml: line 2, column 9: "), "{:?}", found.problems);
        assert_eq!(parse("/c.toml", "keys = 1").problems, ["/c.toml: keys: must be a table"]);
    }

    #[test]
    fn files_are_found_and_what_cannot_be_read_is_reported() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("schedscope");
        assert_eq!(read(Some(&own)), Configured::default());
        assert_eq!(read(None), Configured::default());
        fs::create_dir_all(own.join("themes/folder.toml")).unwrap();
        fs::create_dir_all(own.join("config.toml")).unwrap();
        assert_eq!(read(Some(&own)).problems, [format!("{}: is not a file", own.join("config.toml").display())]);
        fs::remove_dir(own.join("config.toml")).unwrap();
        fs::write(own.join("config.toml"), [0xff, 0xfe]).unwrap();
        assert!(read(Some(&own)).problems[0].contains("UTF-8"), "{:?}", read(Some(&own)).problems);
        fs::write(own.join("config.toml"), "theme = 'mine'").unwrap();
        assert_eq!(read(Some(&own)).theme.as_deref(), Some("mine"));
        for (name, text) in [("mine.toml", "inherits = 'light'"), ("broken.toml", "[roles]\nx = 1"), ("notes.txt", "")] {
            fs::write(own.join("themes").join(name), text).unwrap();
        }
        fs::write(own.join("themes/large.toml"), "#".repeat(1 << 20) + "#").unwrap();
        let library = library(Some(&own.join("themes")));
        assert_eq!(library.load("mine", Depth::True).unwrap().name(), "mine");
        let wrong: Vec<String> = library.entries().into_iter().filter_map(|e| e.problem).collect();
        let path = |name: &str| own.join("themes").join(name).display().to_string();
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert_eq!(wrong[0], format!("{}: roles.x: there is no such role", path("broken.toml")));
        assert_eq!(wrong[1], format!("{}: is not a file", path("folder.toml")));
        assert_eq!(wrong[2], format!("{}: is larger than 1048576 bytes", path("large.toml")));
    }
}
