//! Settings of the screen: keys and themes. The app reads the files.

use crate::output::Document;
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
    pub fn report(&self, source: Vec<String>) -> Document {
        let mut doc = Document::default();
        if !self.problems.is_empty() {
            doc.heading(2, "Settings that are not used");
            self.problems.iter().for_each(|problem| doc.item(2, problem.as_str()));
            doc.blank();
        }
        doc.append(source.into_iter().collect());
        if !self.log.is_empty() {
            doc.blank();
            doc.paragraph(self.log.as_str());
        }
        doc
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Headings;
    use crate::ui::config::keymap::Table;

    #[test]
    fn problems_come_first_in_the_report_and_the_log_last() {
        let mut settings = Settings::new(Keymap::new(Table::default()));
        let report = |settings: &Settings| settings.report(vec!["a".to_owned()]).plain(Headings::Colon).into_vec();
        assert_eq!(report(&settings), ["a"]);
        settings.log = "Log: /x".to_owned();
        assert_eq!(report(&settings), ["a", "", "Log: /x"]);
        settings.log.clear();
        settings.problems.push("theme: odd".to_owned());
        assert_eq!(report(&settings), ["Settings that are not used:", "  theme: odd", "", "a"]);
    }
}
