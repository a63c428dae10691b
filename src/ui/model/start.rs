//! The start screen: sources in a list with a filter, and a prompt for a path.

use tui_input::Input;

use crate::ui::config::context::Context;
use crate::ui::config::key;
use crate::ui::config::keymap::Keymap;
use crate::ui::model::fuzzy::Fuzzy;

/// A group of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum Group {
    /// Contexts of the kubeconfig.
    #[strum(to_string = "Live clusters, which are only read")]
    Clusters,
    /// Files.
    #[strum(to_string = "Dumps in this folder")]
    Dumps,
    /// Embedded stories.
    #[strum(to_string = "Stories")]
    Stories,
}

const GROUPS: [Group; 3] = [Group::Clusters, Group::Dumps, Group::Stories];

/// A source to explore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub group: Group,
    pub name: String,
    /// Its description.
    pub about: String,
}

/// The state of the start screen.
#[derive(Clone, Debug)]
pub struct Start {
    pub offers: Vec<Offer>,
    /// Groups without offers, and why.
    pub empty: Vec<(Group, String)>,
    /// Why the last choice failed to open.
    pub notice: Option<String>,
    pub keymap: Keymap,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Completions of the typed path.
    pub completions: Vec<String>,
    pub(in crate::ui) filter: String,
    pub(in crate::ui) typing: Option<Typing>,
    /// Whether the help is shown in place of the list.
    pub(in crate::ui) helps: bool,
    /// The index of the selection among the offers shown.
    pub(in crate::ui) selected: usize,
    /// The first row shown.
    pub(in crate::ui) offset: usize,
}

/// The prompt.
#[derive(Clone, Debug)]
pub(in crate::ui) enum Typing {
    Filter(Input),
    Path(Input),
}

/// The user's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// An offer, by its index.
    Offer(usize),
    /// A file or folder.
    Path(String),
    /// Exit.
    Quit,
    /// Suspend the program.
    Suspend,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ui) enum Row {
    Heading(Group),
    /// The note of a group without offers.
    Empty(Group),
    /// An offer: its index among all, and among those shown.
    Offer(usize, usize),
    Blank,
}

/// The first row of the list.
pub(in crate::ui) const TOP: u16 = 2;

impl Start {
    /// Starts with the first offer selected.
    pub fn new(offers: Vec<Offer>, empty: Vec<(Group, String)>, keymap: Keymap, size: (u16, u16)) -> Self {
        Self {
            offers,
            empty,
            notice: None,
            keymap,
            size,
            completions: Vec::new(),
            filter: String::new(),
            typing: None,
            helps: false,
            selected: 0,
            offset: 0,
        }
    }

    /// Returns the contexts of keys now.
    pub fn contexts(&self) -> Vec<Context> {
        vec![if self.typing.is_some() { Context::PROMPT } else { Context::START }]
    }

    /// Returns the path that is being typed.
    pub fn path(&self) -> Option<&str> {
        match &self.typing {
            Some(Typing::Path(input)) => Some(input.value()),
            _ => None,
        }
    }

    pub(in crate::ui) fn set_filter(&mut self, text: String) {
        if self.filter != text {
            (self.filter, self.selected, self.offset) = (text, 0, 0);
        }
    }

    /// Returns the indices of the offers that match the filter.
    pub(in crate::ui) fn shown(&self) -> Vec<usize> {
        let text = |at: &usize| format!("{} {}", self.offers[*at].name, self.offers[*at].about);
        let (all, filter) = (0..self.offers.len(), self.filter.to_lowercase());
        let contains = |at: &usize| filter.split_whitespace().all(|word| text(at).to_lowercase().contains(word));
        let found: Vec<usize> = all.clone().filter(contains).collect();
        if !found.is_empty() {
            return found;
        }
        let mut fuzzy = Fuzzy::new(&self.filter);
        all.filter(|at| fuzzy.keeps(&text(at))).collect()
    }

    /// Returns the rows of the list.
    pub(in crate::ui) fn rows(&self) -> Vec<Row> {
        let shown = self.shown();
        let mut rows = Vec::new();
        for group in GROUPS {
            let mine: Vec<Row> = (shown.iter().enumerate())
                .filter(|(_, at)| self.offers[**at].group == group)
                .map(|(place, at)| Row::Offer(*at, place))
                .collect();
            let none = self.filter.is_empty() && self.empty.iter().any(|(of, _)| *of == group);
            if mine.is_empty() && !none {
                continue;
            }
            if !rows.is_empty() {
                rows.push(Row::Blank);
            }
            rows.push(Row::Heading(group));
            if mine.is_empty() {
                rows.push(Row::Empty(group));
            }
            rows.extend(mine);
        }
        rows
    }

    /// Returns the choice of the selected offer.
    pub(in crate::ui) fn chosen(&self) -> Option<Choice> {
        self.shown().get(self.selected).copied().map(Choice::Offer)
    }

    /// Returns the rows available for the list.
    pub(in crate::ui) fn room(&self) -> usize {
        usize::from(self.size.1.saturating_sub(TOP + 2))
    }

    /// Keeps the selection in sight, and a group's heading above its first row.
    pub(in crate::ui) fn settle(&mut self) {
        let rows = self.rows();
        let at = rows.iter().position(|row| matches!(row, Row::Offer(_, place) if *place == self.selected)).unwrap_or(0);
        let top = if at > 0 && matches!(rows[at - 1], Row::Heading(_)) { at - 1 } else { at };
        self.offset = self.offset.min(top).max((at + 1).saturating_sub(self.room()));
    }

    /// Returns the lines of the help: what is on the left, and what on the right; a heading has nothing on the right.
    pub(in crate::ui) fn help(&self) -> Vec<(String, &'static str)> {
        let heading = |words: &str| (words.to_owned(), "");
        let names = |keys: &[String]| keys.iter().map(|k| key::label(k)).collect::<Vec<String>>().join(" ");
        let keys = self.keymap.of(Context::START).map(|row| (names(row.keys), row.binding.help));
        let opened = [
            ("a context", "a live cluster of the kubeconfig; it is only read"),
            ("a file or folder", "what kubectl, support bundles or etcd wrote, and sessions"),
            ("a story", "an embedded cluster to try things on"),
        ];
        let commands = [
            ("causes", "schedscope explain --pending -A"),
            ("one pod", "schedscope explain NAMESPACE/POD --fixes"),
            ("all commands", "schedscope --help"),
        ];
        let rows = |rows: &[(&str, &'static str)]| rows.iter().map(|(left, right)| ((*left).to_owned(), *right)).collect::<Vec<_>>();
        let mut lines = vec![heading("Keys")];
        lines.extend(keys);
        lines.push(heading(""));
        lines.push(heading("What can be opened"));
        lines.extend(rows(&opened));
        lines.push(heading(""));
        lines.push(heading("Without a screen"));
        lines.extend(rows(&commands));
        lines
    }
}
