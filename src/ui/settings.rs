//! What the reader set for good, as the screen needs it: keys and themes. Reading files is up to others.

use crate::ui::keys::Keymap;
use crate::ui::themes::{DEFAULT, Library, ThemeEntry};

/// Keys and themes.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What keys do.
    pub keymap: Keymap,
    /// The themes there are, those of the program first.
    pub themes: Vec<ThemeEntry>,
    /// The theme that is shown.
    pub theme: String,
    /// What of the reader's settings could not be used, a sentence each.
    pub problems: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { keymap: Keymap::default(), themes: Library::default().entries(), theme: DEFAULT.to_owned(), problems: Vec::new() }
    }
}

impl Settings {
    /// What was read from the source, and before it what is wrong with the settings.
    pub fn report(&self, source: Vec<String>) -> Vec<String> {
        if self.problems.is_empty() {
            return source;
        }
        let mut lines = vec!["Settings that are not used:".to_owned()];
        lines.extend(self.problems.iter().map(|p| format!("  {p}")));
        lines.push(String::new());
        lines.extend(source);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_come_first_in_the_report() {
        let mut settings = Settings::default();
        assert_eq!(settings.report(vec!["a".to_owned()]), ["a"]);
        settings.problems.push("theme: odd".to_owned());
        assert_eq!(settings.report(vec!["a".to_owned()]), ["Settings that are not used:", "  theme: odd", "", "a"]);
    }
}
