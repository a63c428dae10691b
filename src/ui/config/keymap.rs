//! The keymap: the verb of each key, by default and as `[keys]` of the configuration changes it.
//!
//! Every row names its verb; names are unique within a context. The configuration replaces the keys of a row. Ctrl-C cannot
//! be bound to another verb.

mod error;

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use error::EntryError;

use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::key;

/// The key that is always bound to quit.
const FIXED: &str = "ctrl-c";

/// All keys and commands, as data. Help, hints, completion and docs/keys.md are made from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// All contexts, in the order of the help.
    pub contexts: Vec<Context>,
    /// All rows. Within a context, in the order of the help.
    pub bindings: Vec<Binding>,
    /// All listed commands, in alphabetical order.
    pub commands: Vec<CommandHelp>,
}

/// A row of the table: keys of a verb in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    pub context: Context,
    /// The keys, as [`key::name`] spells them. Hints show the first.
    pub keys: &'static [&'static str],
    /// The name of the verb.
    pub verb: &'static str,
    /// One or two words for the hints; empty for keys without a hint.
    pub short: &'static str,
    /// A phrase for the help.
    pub help: &'static str,
}

/// A command in help and completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandHelp {
    pub name: &'static str,
    /// Its arguments; empty for none.
    pub args: &'static str,
    /// A phrase for the help.
    pub help: &'static str,
}

/// The table with the configured keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    table: Arc<Table>,
    /// The keys of every row of the table, in the same order.
    keys: Vec<Vec<String>>,
}

/// A row of the table with its current keys.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The keys, as [`key::name`] spells them. Hints show the first.
    pub keys: &'a [String],
    /// The row of the table.
    pub binding: &'a Binding,
}

impl Row<'_> {
    /// Returns the key that hints show; empty for a row without keys.
    pub fn label(&self) -> String {
        self.keys.first().map(|k| key::label(k)).unwrap_or_default()
    }
}

/// A row's keys in the configuration.
struct Entry {
    row: usize,
    keys: Vec<String>,
}

impl Keymap {
    /// Returns the default keys of a table.
    pub fn new(table: Table) -> Self {
        let keys = table.bindings.iter().map(|row| row.keys.iter().map(|k| (*k).to_owned()).collect()).collect();
        Self { table: Arc::new(table), keys }
    }

    /// Returns the table that the keymap was made from.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the rows of a context that have keys, in order.
    pub fn of(&self, context: Context) -> impl Iterator<Item = Row<'_>> {
        self.rows().filter(move |r| r.binding.context == context && !r.keys.is_empty())
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.table.bindings.iter().zip(&self.keys).map(|(binding, keys)| Row { keys, binding })
    }

    /// Returns the first key of an action in a context, as displayed; the verb in brackets if it has no key.
    pub fn label(&self, context: Context, action: &Action) -> String {
        let Action::Verb(verb) = action else { return String::new() };
        let found = self.of(context).find(|r| r.binding.verb == *verb);
        found.map_or_else(|| format!("({verb})"), |row| row.label())
    }

    /// Returns the action of a key. Tries the contexts in order. In the prompt, an unbound character is typed.
    pub fn lookup(&self, contexts: &[Context], key: &KeyEvent) -> Option<Action> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let name = key::name(key)?;
        match (self.named(contexts, &name), key.code) {
            (Some(action), _) => Some(action),
            (None, KeyCode::Char(c))
                if contexts == [Context::PROMPT] && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                Some(Action::Type(c))
            }
            _ => None,
        }
    }

    /// Returns the action of a key by its name. In the prompt, an unbound character is typed.
    pub fn pressed(&self, contexts: &[Context], name: &str) -> Option<Action> {
        let typed = || match (name, name.chars().next(), name.chars().nth(1)) {
            ("space", ..) => Some(' '),
            (_, Some(c), None) => Some(c),
            _ => None,
        };
        let types = contexts == [Context::PROMPT];
        self.named(contexts, name).or_else(|| typed().filter(|_| types).map(Action::Type))
    }

    fn named(&self, contexts: &[Context], name: &str) -> Option<Action> {
        let row = contexts.iter().find_map(|c| self.of(*c).find(|r| r.keys.iter().any(|k| k == name)))?;
        Some(Action::Verb(row.binding.verb))
    }

    /// Returns the keymap with the changes of `[keys]`, and a sentence for each rejected entry, which begins with the key of
    /// the file.
    pub fn configured(&self, table: &toml::Table) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        for (place, values) in table {
            let Some(context) = self.table.contexts.iter().find(|c| c.key == place) else {
                let known: Vec<&str> = self.table.contexts.iter().map(|c| c.key).collect();
                problems.push(format!("keys.{place}: is not one of {}", known.join(", ")));
                continue;
            };
            let Some(values) = values.as_table() else {
                problems.push(format!("keys.{place}: must be a table of actions and their keys"));
                continue;
            };
            for (verb, value) in values {
                match self.entry(*context, verb, value) {
                    Ok(entry) => entries.push(entry),
                    Err(error) => problems.push(format!("keys.{place}.{verb}: {error}")),
                }
            }
        }
        loop {
            let map = self.with(&entries);
            let Some((at, words)) = entries.iter().enumerate().rev().find_map(|(i, e)| Some((i, map.clash(e)?))) else {
                problems.sort();
                return (map, problems);
            };
            // Other entries may depend on this one: check all of them again without it.
            let binding = &self.table.bindings[entries.remove(at).row];
            problems.push(format!("keys.{}.{}: {words}", binding.context.key, binding.verb));
        }
    }

    fn with(&self, entries: &[Entry]) -> Self {
        let mut map = self.clone();
        for entry in entries {
            map.keys[entry.row].clone_from(&entry.keys);
        }
        map
    }

    /// Returns why an entry is rejected: another row that works in the same part of the screen has one of its keys.
    fn clash(&self, entry: &Entry) -> Option<String> {
        let own = &self.table.bindings[entry.row];
        let mut others = self.rows().enumerate().filter(|(i, r)| *i != entry.row && own.context.meets(r.binding.context));
        others.find_map(|(_, row)| {
            let key = entry.keys.iter().find(|k| row.keys.contains(k))?;
            let other = format!("{}.{}", row.binding.context.key, row.binding.verb);
            Some(format!("{key:?} is the key of keys.{other}; give that another one first"))
        })
    }

    fn entry(&self, context: Context, verb: &str, value: &toml::Value) -> Result<Entry, EntryError> {
        let bindings = &self.table.bindings;
        let row = bindings.iter().position(|b| b.context == context && b.verb == verb).ok_or_else(|| {
            let known: Vec<&str> = bindings.iter().filter(|b| b.context == context).map(|b| b.verb).collect();
            if known.is_empty() { EntryError::NoActions(context.key) } else { EntryError::UnknownAction(known) }
        })?;
        let texts: Vec<&str> = match value {
            toml::Value::String(text) => vec![text],
            toml::Value::Array(all) => all.iter().map(toml::Value::as_str).collect::<Option<_>>().ok_or(EntryError::NotKeys)?,
            _ => return Err(EntryError::NotKeys),
        };
        let mut keys: Vec<String> = Vec::new();
        for text in texts {
            let key = key::parse(text)?;
            if key == FIXED {
                return Err(EntryError::Fixed);
            }
            if context == Context::PROMPT && key.chars().count() == 1 {
                return Err(EntryError::Typed(text.to_owned()));
            }
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let binding = &bindings[row];
        let essential = [Action::BACK, Action::QUIT, Action::SUBMIT, Action::COMMAND].contains(&Action::Verb(binding.verb));
        if keys.is_empty() && essential {
            return Err(EntryError::NoKey);
        }
        keys.extend(binding.keys.iter().filter(|k| **k == FIXED).map(|k| (*k).to_owned()));
        Ok(Entry { row, keys })
    }
}
