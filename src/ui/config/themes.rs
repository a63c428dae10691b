//! All themes: the embedded ones, and those of the configuration folder.

use std::collections::BTreeMap;

use crate::ui::config::theme::{Depth, FileError, Theme, ThemeError};

/// The default theme, also used in place of a broken one.
pub const DEFAULT: &str = "dark";

/// The embedded themes.
pub(super) const EMBEDDED: [(&str, &str); 5] = [
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("colour-blind", include_str!("../../../themes/colour-blind.toml")),
    ("16-colour", include_str!("../../../themes/16-colour.toml")),
];

/// The embedded themes and the user's. A user's theme replaces the embedded one of the same name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    user: BTreeMap<String, UserTheme>,
}

#[derive(Clone, Debug)]
struct UserTheme {
    file: String,
    text: Result<String, FileError>,
}

/// A theme in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeEntry {
    pub name: String,
    /// Its file; `None` for an embedded one.
    pub file: Option<String>,
    /// Why it cannot be used; `None` for a valid theme.
    pub problem: Option<String>,
}

impl Library {
    /// Makes a library of the embedded themes and the user's: name, file, and its text or why it cannot be read.
    pub fn new(user: impl IntoIterator<Item = (String, String, Result<String, FileError>)>) -> Self {
        Self { user: user.into_iter().map(|(name, file, text)| (name, UserTheme { file, text })).collect() }
    }

    pub fn load(&self, name: &str, depth: Depth) -> Result<Theme, ThemeError> {
        Theme::load(self, name, depth)
    }

    /// Returns the names of the embedded themes.
    pub fn embedded_names() -> impl Iterator<Item = &'static str> {
        EMBEDDED.iter().map(|(name, _)| *name)
    }

    /// Returns all names, embedded themes first, then the user's by name.
    pub fn names(&self) -> Vec<String> {
        let own = self.user.keys().filter(|n| !EMBEDDED.iter().any(|(e, _)| e == n));
        EMBEDDED.iter().map(|(n, _)| (*n).to_owned()).chain(own.cloned()).collect()
    }

    /// Returns all themes in the order of [`Library::names`], with their problems.
    pub fn entries(&self) -> Vec<ThemeEntry> {
        let entry = |name: String| {
            let file = self.user.get(&name).map(|t| t.file.clone());
            let problem = self.load(&name, Depth::True).err().map(|e| e.to_string());
            ThemeEntry { name, file, problem }
        };
        self.names().into_iter().map(entry).collect()
    }

    /// Returns the file and the text of a theme. `heir` is the file that inherits it.
    pub(super) fn find(&self, name: &str, heir: Option<&str>) -> Result<(String, &str), ThemeError> {
        let embedded = || EMBEDDED.iter().find(|(n, _)| *n == name).map(|(n, text)| (format!("themes/{n}.toml"), *text));
        match self.user.get(name) {
            Some(theme) if heir != Some(theme.file.as_str()) || embedded().is_none() => match &theme.text {
                Ok(text) => Ok((theme.file.clone(), text)),
                Err(error) => Err(ThemeError::File { file: theme.file.clone(), error: error.clone() }),
            },
            _ => embedded().ok_or_else(|| ThemeError::Unknown {
                file: heir.map(str::to_owned),
                name: name.to_owned(),
                known: self.names().join(", "),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
