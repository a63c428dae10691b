//! Settings of the screen: keys and themes. The app reads the files.

use crate::ui::config::keymap::Keymap;
use crate::ui::config::themes::{DEFAULT, Library, ThemeEntry};

/// Keys and themes.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The keys.
    pub keymap: Keymap,
    /// The available themes, embedded ones first.
    pub themes: Vec<ThemeEntry>,
    /// The current theme.
    pub theme: String,
    /// The rejected settings, a sentence each.
    pub problems: Vec<String>,
    /// Where the log is, or why there is none; empty to leave it out of the report.
    pub log: String,
}

impl Settings {
    /// Returns the default settings with a keymap.
    pub fn new(keymap: Keymap) -> Self {
        Self { keymap, themes: Library::default().entries(), theme: DEFAULT.to_owned(), problems: Vec::new(), log: String::new() }
    }

    /// Returns the report on the source, preceded by the rejected settings and followed by the log's place.
    pub fn report(&self, source: Vec<String>) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.problems.is_empty() {
            lines.push("Settings that are not used:".to_owned());
            lines.extend(self.problems.iter().map(|p| format!("  {p}")));
            lines.push(String::new());
        }
        lines.extend(source);
        if !self.log.is_empty() {
            lines.extend([String::new(), self.log.clone()]);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::config::keymap::Table;

    #[test]
    fn problems_come_first_in_the_report_and_the_log_last() {
        let mut settings = Settings::new(Keymap::new(Table::default()));
        assert_eq!(settings.report(vec!["a".to_owned()]), ["a"]);
        settings.log = "Log: /x".to_owned();
        assert_eq!(settings.report(vec!["a".to_owned()]), ["a", "", "Log: /x"]);
        settings.log.clear();
        settings.problems.push("theme: odd".to_owned());
        assert_eq!(settings.report(vec!["a".to_owned()]), ["Settings that are not used:", "  theme: odd", "", "a"]);
    }
}
