//! Completion: commands by name, then by their help, and their arguments.

use crate::ui::actions::verbs;
use crate::ui::config::keymap::{CommandHelp, Table};
use crate::ui::model::fuzzy::Fuzzy;
use crate::ui::model::overlay::{Completion, Prompt, Typing};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;

/// Returns completions of the last word of a command, likeliest first; none for a filter.
pub fn completions(session: &dyn SessionHandle, state: &State, prompt: &Prompt) -> Vec<Completion> {
    if !matches!(prompt.typing, Typing::Command) {
        return Vec::new();
    }
    let line = prompt.input.value();
    let Some((name, args)) = line.split_once(' ') else { return commands(state.settings.keymap.table(), line) };
    verbs::command(name).map_or_else(Vec::new, |(verb, _)| verb.complete(session, state, args))
}

fn commands(table: &Table, line: &str) -> Vec<Completion> {
    let of = |c: &CommandHelp| Completion { word: c.name.to_owned(), takes: c.args, help: c.help };
    let mut found: Vec<Completion> = table.commands.iter().filter(|c| c.name.starts_with(line)).map(of).collect();
    if line.len() > 1 {
        let typed = line.to_lowercase();
        let says = |c: &CommandHelp| c.help.split(' ').any(|word| word.to_lowercase().starts_with(&typed)) || c.name.contains(&typed);
        found.extend(table.commands.iter().filter(|c| !c.name.starts_with(line) && says(c)).map(of));
        if found.is_empty() {
            let mut fuzzy = Fuzzy::new(line);
            found.extend(table.commands.iter().filter(|c| fuzzy.keeps(c.name)).map(of));
        }
    }
    // A complete name needs no list, unless other names begin with it.
    found.retain(|c| c.word != line || !c.takes.is_empty());
    found
}

/// Splits a line before its last word.
fn last_word(line: &str) -> (&str, &str) {
    line.rfind(' ').map_or(("", line), |at| line.split_at(at + 1))
}

/// Returns whether a completed line ends in a space, that is, needs arguments.
pub fn wants_more(line: &str) -> bool {
    line.ends_with(' ')
}

/// Replaces the last word of a line. With `goes_on`, a space follows a word that takes arguments.
fn with(line: &str, completion: &Completion, continues: bool) -> String {
    let (head, _) = last_word(line);
    let word = completion.word.as_str();
    let is_command = || verbs::command(word).is_some_and(|(_, command)| !command.args.is_empty());
    let takes_more = !completion.takes.is_empty() || (head.is_empty() && is_command());
    format!("{head}{word}{}", if takes_more && continues { " " } else { "" })
}

/// Returns whether a command needs some of its arguments: not all of them are in brackets.
fn needs_arguments(takes: &str) -> bool {
    let all_optional = takes.starts_with('[') && takes.ends_with(']');
    !(takes.is_empty() || all_optional)
}

/// Returns the line with the chosen completion; `None` if none is chosen.
pub fn chosen(prompt: &Prompt) -> Option<String> {
    let chosen = prompt.completions.get(prompt.chosen?)?;
    let needs = needs_arguments(chosen.takes);
    Some(with(prompt.input.value(), chosen, needs))
}

/// Returns the line with the only completion, or the only one that begins with the last word; `None` if there are several, if
/// nothing is typed, if the word is complete, or if it is an argument that the completion does not contain.
pub fn only(prompt: &Prompt) -> Option<String> {
    let line = prompt.input.value();
    let (_, word) = last_word(line);
    let all = &prompt.completions;
    if word.is_empty() || all.iter().any(|c| c.word == word) {
        return None;
    }
    let mut beginning =
        all.iter().filter(|c| c.word.starts_with(word) || c.word.rsplit('/').next().is_some_and(|own| own.starts_with(word)));
    let (([found], ..) | (_, Some(found), None)) = (all.as_slice(), beginning.next(), beginning.next()) else { return None };
    let (head, _) = last_word(line);
    if !head.is_empty() && !found.word.to_lowercase().contains(&word.to_lowercase()) {
        return None;
    }
    let needs = needs_arguments(found.takes);
    Some(with(line, found, needs))
}

/// Completes the last word to the longest prefix that all candidates share, or to the first match.
pub fn complete(prompt: &Prompt) -> Option<String> {
    let line = prompt.input.value();
    if let Some(chosen) = prompt.chosen.and_then(|at| prompt.completions.get(at)) {
        return Some(with(line, chosen, true));
    }
    let (_, word) = last_word(line);
    // A complete word may begin longer ones.
    let begin: Vec<&Completion> = prompt.completions.iter().filter(|c| c.word.starts_with(word) && c.word != word).collect();
    let Some(first) = begin.first() else { return Some(with(line, prompt.completions.first()?, true)) };
    let mut shared = first.word.as_str();
    for other in &begin[1..] {
        let other = other.word.as_str();
        let same =
            shared.char_indices().zip(other.chars()).find(|((_, a), b)| a != b).map_or(shared.len().min(other.len()), |((i, _), _)| i);
        shared = &shared[..same];
    }
    let shared = if shared.len() > word.len() { shared } else { first.word.as_str() };
    let shared = Completion { word: shared.to_owned(), ..(*first).clone() };
    Some(with(line, &shared, begin.len() == 1))
}

#[cfg(test)]
mod tests;
