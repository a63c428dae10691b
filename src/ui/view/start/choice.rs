//! The start screen: sources in a list with a filter, and a prompt for a path.

use std::path::MAIN_SEPARATOR;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Span;
use tui_input::Input;

use crate::ui::config::action::{Action, Direction, Motion, Mouse};
use crate::ui::config::context::Context;
use crate::ui::config::key;
use crate::ui::config::keymap::Keymap;
use crate::ui::config::theme::Role;
use crate::ui::model::fuzzy::Fuzzy;
use crate::ui::model::overlay;
use crate::ui::model::text;
use crate::ui::view::start::Palette;

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
    /// Its group.
    pub group: Group,
    /// Its name.
    pub name: String,
    /// Its description.
    pub about: String,
}

/// The state of the start screen.
#[derive(Clone, Debug)]
pub struct Start {
    /// All offers.
    pub offers: Vec<Offer>,
    /// Groups without offers, and why.
    pub empty: Vec<(Group, String)>,
    /// Why the last choice failed to open.
    pub notice: Option<String>,
    /// The keymap.
    pub keymap: Keymap,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Completions of the typed path.
    pub completions: Vec<String>,
    filter: String,
    typing: Option<Typing>,
    /// Whether the help is shown in place of the list.
    helps: bool,
    /// The index of the selection among the offers shown.
    selected: usize,
    offset: usize,
}

/// The prompt.
#[derive(Clone, Debug)]
enum Typing {
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
enum Row {
    Heading(Group),
    /// The note of a group without offers.
    Empty(Group),
    /// An offer: its index among all, and among those shown.
    Offer(usize, usize),
    Blank,
}

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

    /// Applies a request. Returns the user's choice if it makes one.
    pub fn update(&mut self, action: Action) -> Option<Choice> {
        if !matches!(action, Action::Resize(..) | Action::Mouse(Mouse::Release | Mouse::Drag, ..)) {
            self.notice = None;
        }
        if self.helps {
            match action {
                Action::SUSPEND => return Some(Choice::Suspend),
                Action::Resize(width, height) => self.size = (width, height),
                Action::BACK | Action::HELP | Action::OPEN | Action::QUIT => self.helps = false,
                other => self.offset = other.motion().map_or(self.offset, |motion| self.scrolled(motion)),
            }
            if !self.helps {
                self.offset = 0;
                self.settle();
            }
            return None;
        }
        match action {
            Action::QUIT => return Some(Choice::Quit),
            Action::HELP => {
                (self.helps, self.offset) = (true, 0);
                return None;
            }
            Action::SUSPEND => return Some(Choice::Suspend),
            Action::FILTER => self.typing = Some(Typing::Filter(self.filter.clone().into())),
            Action::COMMAND => self.typing = Some(Typing::Path(Input::default())),
            Action::COMPLETE => self.complete(),
            Action::BACK => match self.typing.take() {
                Some(Typing::Path(_)) => {}
                _ => self.set_filter(String::new()),
            },
            Action::SUBMIT => match self.typing.take() {
                Some(Typing::Path(input)) if !input.value().trim().is_empty() => {
                    return Some(Choice::Path(input.value().trim().to_owned()));
                }
                // Enter in the filter opens the selected match.
                Some(Typing::Filter(_)) => return self.chosen(),
                _ => {}
            },
            Action::OPEN => return self.chosen(),
            Action::Resize(width, height) => self.size = (width, height),
            Action::Paste(text) => self.type_in(|input| overlay::paste(input, &text)),
            Action::Mouse(Mouse::Scroll(Direction::Forward), ..) => self.go(Motion::Down),
            Action::Mouse(Mouse::Scroll(Direction::Back), ..) => self.go(Motion::Up),
            Action::Mouse(Mouse::Press, _, y) => return self.press(y),
            other => match (other.edit(), other.motion()) {
                (Some(edit), _) => self.type_in(|input| overlay::edit(input, edit)),
                (None, Some(motion)) => self.go(motion),
                (None, None) => {}
            },
        }
        self.settle();
        None
    }

    fn type_in(&mut self, edit: impl FnOnce(&mut Input)) {
        match &mut self.typing {
            Some(Typing::Path(input)) => edit(input),
            Some(Typing::Filter(input)) => {
                edit(input);
                let text = input.value().to_owned();
                self.set_filter(text);
            }
            None => {}
        }
    }

    /// Completes the path to the longest prefix that all completions share.
    fn complete(&mut self) {
        let Some(Typing::Path(input)) = &mut self.typing else { return };
        let Some(first) = self.completions.first() else { return };
        let shared = self.completions[1..].iter().fold(first.as_str(), |shared, other| {
            let same = shared.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
            &shared[..same.map_or(shared.len().min(other.len()), |((at, _), _)| at)]
        });
        if shared.len() > input.value().len() {
            *input = shared.to_owned().into();
        }
    }

    fn set_filter(&mut self, text: String) {
        if self.filter != text {
            (self.filter, self.selected, self.offset) = (text, 0, 0);
        }
    }

    /// Returns the indices of the offers that match the filter.
    fn shown(&self) -> Vec<usize> {
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

    fn rows(&self) -> Vec<Row> {
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

    fn chosen(&self) -> Option<Choice> {
        self.shown().get(self.selected).copied().map(Choice::Offer)
    }

    fn go(&mut self, motion: Motion) {
        let last = self.shown().len().saturating_sub(1);
        self.selected = motion.target(Some(self.selected), last, self.room());
    }

    /// Selects the clicked offer; opens it if it was selected.
    fn press(&mut self, y: u16) -> Option<Choice> {
        let row = usize::from(y.checked_sub(TOP)?);
        if row >= self.room() {
            return None;
        }
        let Some(Row::Offer(_, place)) = self.rows().get(self.offset + row).copied() else { return None };
        if place == self.selected {
            return self.chosen();
        }
        self.selected = place;
        None
    }

    /// Returns the rows available for the list.
    fn room(&self) -> usize {
        usize::from(self.size.1.saturating_sub(TOP + 2))
    }

    /// Returns the first line of the help after a motion.
    fn scrolled(&self, motion: Motion) -> usize {
        let last = help(self).len().saturating_sub(self.room());
        motion.target(Some(self.offset), last, self.room()).min(last)
    }

    /// Keeps the selection in sight, and a group's heading above its first row.
    fn settle(&mut self) {
        let rows = self.rows();
        let at = rows.iter().position(|row| matches!(row, Row::Offer(_, place) if *place == self.selected)).unwrap_or(0);
        let top = if at > 0 && matches!(rows[at - 1], Row::Heading(_)) { at - 1 } else { at };
        self.offset = self.offset.min(top).max((at + 1).saturating_sub(self.room()));
    }
}

/// The first row of the list.
const TOP: u16 = 2;

/// Draws the screen.
pub fn draw(start: &Start, palette: Palette<'_>, area: Rect, buf: &mut Buffer) {
    buf.set_style(area, palette.theme.style(Role::Text));
    let lead = palette.span(Role::Title, " schedscope  ");
    palette.row(
        buf,
        area,
        0,
        &[lead, palette.span(Role::Strong, "why is this pod pending?"), palette.span(Role::Muted, "  choose a cluster")],
    );
    if start.helps {
        draw_help(start, palette, area, buf);
        return;
    }
    let rows = start.rows();
    let names = start.offers.iter().map(|offer| text::width(&offer.name)).max().unwrap_or(0).min(usize::from(area.width) / 3);
    for (i, row) in rows.iter().skip(start.offset).take(start.room()).enumerate() {
        let at = TOP + i as u16;
        match row {
            Row::Blank => {}
            Row::Heading(group) => palette.row(buf, area, at, &[palette.span(Role::Column, format!(" {group}"))]),
            Row::Empty(group) => {
                let why = start.empty.iter().find(|(of, _)| of == group).map_or("", |(_, why)| why.as_str());
                palette.row(buf, area, at, &[palette.span(Role::Muted, format!("   {why}"))]);
            }
            Row::Offer(of, place) => {
                let offer = &start.offers[*of];
                let here = *place == start.selected;
                let sign = if here { palette.glyphs.here } else { " " };
                let name = text::clip_middle(&offer.name, names.max(1), palette.glyphs.ellipsis);
                let pad = " ".repeat(names.saturating_sub(text::width(&name)) + 2);
                let spans = [
                    palette.span(Role::Accent, format!(" {sign} ")),
                    palette.span(Role::Strong, name.into_owned()),
                    Span::raw(pad),
                    palette.span(Role::Muted, offer.about.as_str()),
                ];
                palette.row(buf, area, at, &spans);
                if here && at < area.height {
                    buf.set_style(Rect { y: area.y + at, height: 1, ..area }, palette.theme.style(Role::Selection));
                }
            }
        }
    }
    if rows.is_empty() {
        palette.row(buf, area, TOP, &[palette.span(Role::Muted, format!("   nothing is called {:?}", start.filter))]);
    }
    if area.height > TOP {
        foot(start, palette, area, buf);
    }
}

/// Returns the lines of the help: what is on the left, and what on the right; a heading has nothing on the right.
fn help(start: &Start) -> Vec<(String, &'static str)> {
    let heading = |words: &str| (words.to_owned(), "");
    let names = |keys: &[String]| keys.iter().map(|k| key::label(k)).collect::<Vec<String>>().join(" ");
    let keys = start.keymap.of(Context::START).map(|row| (names(row.keys), row.binding.help));
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

/// Draws the help.
fn draw_help(start: &Start, palette: Palette<'_>, area: Rect, buf: &mut Buffer) {
    let lines = help(start);
    let column = lines.iter().filter(|(_, right)| !right.is_empty()).map(|(left, _)| text::width(left)).max().unwrap_or(0) + 2;
    for (i, (left, right)) in lines.iter().skip(start.offset).take(start.room()).enumerate() {
        let at = TOP + i as u16;
        if right.is_empty() {
            palette.row(buf, area, at, &[palette.span(Role::Column, format!(" {left}"))]);
        } else {
            let pad = " ".repeat(column.saturating_sub(text::width(left)));
            palette.row(buf, area, at, &[palette.span(Role::Key, format!("   {left}{pad}")), palette.span(Role::Text, *right)]);
        }
    }
    if area.height > TOP {
        let key = start.keymap.label(Context::START, &Action::BACK);
        palette.row(buf, area, area.height - 1, &[palette.span(Role::Key, format!(" {key}")), palette.span(Role::Muted, " closes")]);
    }
}

/// Draws the last two lines: the prompt with completions, a notice, or the key hints.
fn foot(start: &Start, palette: Palette<'_>, area: Rect, buf: &mut Buffer) {
    let last = area.height - 1;
    let key = |context, action| start.keymap.label(context, &action);
    if let Some(typing) = &start.typing {
        let (what, input) = match typing {
            Typing::Filter(input) => ("/", input),
            Typing::Path(input) => ("open ", input),
        };
        let room = usize::from(area.width).saturating_sub(text::width(what) + 3);
        let skip = input.visual_scroll(room);
        let value: String = input
            .value()
            .chars()
            .scan(0, |at, c| {
                *at += text::width(c.encode_utf8(&mut [0; 4]));
                Some((*at, c))
            })
            .filter(|(at, _)| *at > skip)
            .map(|(_, c)| c)
            .collect();
        palette.row(buf, area, last, &[palette.span(Role::Key, format!(" {what}")), palette.span(Role::Strong, value)]);
        let x = 1 + text::width(what) + input.visual_cursor().saturating_sub(skip);
        if let Ok(x) = u16::try_from(x)
            && x < area.width
        {
            buf[(area.x + x, area.y + last)].set_style(palette.theme.style(Role::Strong).add_modifier(Modifier::REVERSED));
        }
        if matches!(typing, Typing::Path(_)) && !start.completions.is_empty() {
            let folder = |path: &str| path.trim_end_matches(MAIN_SEPARATOR).rfind(MAIN_SEPARATOR).map_or(0, |at| at + 1);
            let words: Vec<&str> = start.completions.iter().map(|path| &path[folder(path)..]).collect();
            palette.row(buf, area, last - 1, &[palette.span(Role::Accent, format!("   {}", words.join("  ")))]);
        }
        return;
    }
    if let Some(notice) = &start.notice {
        // A notice may take both lines.
        let words = notice.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = text::wrapped(&words, usize::from(area.width.saturating_sub(4))).next().map_or(0, |first| first.end);
        let (first, rest) = words.split_at(end);
        let rows = if rest.is_empty() { vec![first] } else { vec![first, rest.trim_start()] };
        for (row, words) in (last + 1 - rows.len() as u16..).zip(&rows) {
            let sign = if row == last + 1 - rows.len() as u16 { palette.glyphs.failed } else { " " };
            palette.row(buf, area, row, &[palette.span(Role::Warning, format!(" {sign} {words}"))]);
        }
        return;
    }
    let mut spans = vec![Span::raw(" ")];
    let mut shown: Vec<_> = start.keymap.of(Context::START).filter(|row| !row.binding.short.is_empty()).collect();
    shown.sort_by_key(|row| matches!(row.binding.short, "help" | "quit"));
    for row in shown {
        spans.push(palette.span(Role::Key, row.label()));
        spans.push(palette.span(Role::Muted, format!(" {}  ", row.binding.short)));
    }
    palette.row(buf, area, last, &spans);
    if !start.filter.is_empty() {
        let words = format!("   /{}  ({} shows all)", start.filter, key(Context::START, Action::BACK));
        palette.row(buf, area, last - 1, &[palette.span(Role::Accent, words)]);
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
