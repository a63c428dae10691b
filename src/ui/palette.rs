//! What a command that is being typed could become: commands by name, then by what they do, and their arguments.

use strum::IntoEnumIterator;

use crate::cluster::{Key, Kind, Str};
use crate::session::UNTIL_WORDS;
use crate::trace::{Event, StepSize};
use crate::ui::action::Motion;
use crate::ui::commands::{COMMANDS, Command};
use crate::ui::driver::Driver;
use crate::ui::fuzzy::Fuzzy;
use crate::ui::grouping;
use crate::ui::overlay::{Completion, Prompt, Typing};
use crate::ui::settings::Settings;

/// How many arguments are offered.
const OFFERED: usize = 12;
/// How many pods are looked at for them; they stand in order.
const LOOKED_AT: usize = 1000;

fn plain(word: impl Into<String>) -> Completion {
    Completion { word: word.into(), takes: "", help: "" }
}

fn begins(candidate: &str, word: &str) -> bool {
    candidate.starts_with(word) && candidate != word
}

/// What the last word of a command could become, the likeliest first.
pub(super) fn completions(driver: &dyn Driver, settings: &Settings, prompt: &Prompt) -> Vec<Completion> {
    if !matches!(prompt.typing, Typing::Command) {
        return Vec::new();
    }
    let line = prompt.input.value();
    let Some((name, rest)) = line.split_once(' ') else { return commands(line) };
    let (name, word) = argument(name, rest);
    arguments(driver, settings, name, word)
}

fn commands(line: &str) -> Vec<Completion> {
    let of = |c: &Command| Completion { word: c.names[0].to_owned(), takes: c.args, help: c.help };
    let listed = || COMMANDS.iter().filter(|c| !c.help.is_empty());
    let mut found: Vec<Completion> = listed().filter(|c| c.names[0].starts_with(line)).map(of).collect();
    if line.len() > 1 {
        let typed = line.to_lowercase();
        let mut fuzzy = Fuzzy::new(line);
        let mut says = |c: &Command| c.help.split(' ').any(|word| word.to_lowercase().starts_with(&typed)) || fuzzy.keeps(c.names[0]);
        found.extend(listed().filter(|c| !c.names[0].starts_with(line) && says(c)).map(of));
    }
    // What is typed to its end needs no list, unless it is one of several.
    found.retain(|c| c.word != line || !c.takes.is_empty());
    found
}

fn arguments(driver: &dyn Driver, settings: &Settings, name: &str, word: &str) -> Vec<Completion> {
    let timeline = driver.timeline();
    let mut fuzzy = Fuzzy::new(word);
    let mut offer = |mut all: Vec<String>| -> Vec<Completion> {
        all.sort();
        all.dedup();
        // Names that begin so, or whose own name does, come before others that match.
        let own = |name: &String| name.rsplit('/').next().is_some_and(|own| own.starts_with(word));
        let rank = |name: &String| if name.starts_with(word) { 0 } else { 1 + u8::from(!own(name)) };
        all.retain(|name| name != word && fuzzy.keeps(name));
        all.sort_by_key(rank);
        all.into_iter().take(OFFERED).map(plain).collect()
    };
    match name {
        "pod" => {
            let tried = timeline.frames().iter().flat_map(|f| f.events.iter()).filter_map(|e| match e {
                Event::CycleStarted(start) => Some(&start.pod),
                _ => None,
            });
            offer(timeline.queues().entries.keys().chain(tried).take(LOOKED_AT).map(Key::to_string).collect())
        }
        "node" => offer(timeline.moment().snapshot.nodes().iter().map(|n| n.name()).map(Str::to_string).collect()),
        "theme" => settings.themes.iter().filter(|t| begins(&t.name, word)).map(|t| plain(&t.name)).collect(),
        "group" => {
            grouping::names(timeline.moment().snapshot.nodes()).into_iter().filter(|n| begins(n, word)).take(OFFERED).map(plain).collect()
        }
        "export" => ["screen", "decision"].into_iter().filter(|n| begins(n, word)).map(plain).collect(),
        "start" => ["fresh", "observed"].into_iter().filter(|n| begins(n, word)).map(plain).collect(),
        "until" => UNTIL_WORDS.into_iter().filter(|n| begins(n, word)).map(plain).collect(),
        "kind" => Kind::iter().map(|k| k.to_string().to_lowercase()).filter(|n| begins(n, word)).map(plain).collect(),
        "step" => StepSize::iter().map(|g| g.to_string()).filter(|n| begins(n, word)).map(plain).collect(),
        _ => Vec::new(),
    }
}

/// What kind of word is being typed, and the word so far.
fn argument<'a>(command: &'a str, rest: &'a str) -> (&'a str, &'a str) {
    let (first, second) = rest.split_once(' ').map_or((rest, None), |(first, second)| (first, Some(second)));
    match (command, first, second) {
        ("cordon" | "uncordon", ..) => ("node", rest),
        ("decide" | "allow" | "reject", ..) => ("pod", rest),
        ("until", "pod", Some(word)) | ("delete" | "patch", "pod" | "po" | "pods", Some(word)) => ("pod", word),
        ("until", "node", Some(word)) | ("delete" | "patch", "node" | "no" | "nodes", Some(word)) => ("node", word),
        ("delete" | "patch" | "source", _, None) => ("kind", first),
        (_, _, Some(_)) => ("", rest),
        (_, _, None) => (command, rest),
    }
}

/// The line without its last word, and that word.
fn last_word(line: &str) -> (&str, &str) {
    line.rfind(' ').map_or(("", line), |at| line.split_at(at + 1))
}

/// Whether a line is the name of a command that wants more, and a space.
pub(super) fn wants_more(line: &str) -> bool {
    line.ends_with(' ')
}

/// The line with a word in place of its last; a command that takes something is followed by a space.
fn with(line: &str, word: &str, goes_on: bool) -> String {
    let (head, _) = last_word(line);
    let takes_more = head.is_empty() && COMMANDS.iter().any(|c| c.names[0] == word && !c.args.is_empty());
    format!("{head}{word}{}", if takes_more && goes_on { " " } else { "" })
}

/// The line with the completion that is chosen.
pub(super) fn chosen(prompt: &Prompt) -> Option<String> {
    let chosen = prompt.completions.get(prompt.chosen?)?;
    let needs = !chosen.takes.is_empty() && !chosen.takes.starts_with('[');
    Some(with(prompt.input.value(), &chosen.word, needs))
}

/// The line with its last word completed as far as all that begin so agree, or to the first that matches.
pub(super) fn complete(prompt: &Prompt) -> Option<String> {
    let line = prompt.input.value();
    if let Some(chosen) = prompt.chosen.and_then(|at| prompt.completions.get(at)) {
        return Some(with(line, &chosen.word, true));
    }
    let (_, word) = last_word(line);
    let begin: Vec<&str> = prompt.completions.iter().map(|c| c.word.as_str()).filter(|w| w.starts_with(word)).collect();
    let Some(first) = begin.first() else { return Some(with(line, &prompt.completions.first()?.word, true)) };
    let mut shared = *first;
    for other in &begin[1..] {
        let same =
            shared.char_indices().zip(other.chars()).find(|((_, a), b)| a != b).map_or(shared.len().min(other.len()), |((i, _), _)| i);
        shared = &shared[..same];
    }
    let word = if shared.len() > word.len() { shared } else { first };
    Some(with(line, word, begin.len() == 1))
}

/// Moves the choice among the completions.
pub(super) fn choose(prompt: &mut Prompt, motion: Motion) {
    let last = match prompt.completions.len() {
        0 => return,
        count => count - 1,
    };
    prompt.chosen = match (motion, prompt.chosen) {
        (Motion::Up, None) => Some(last),
        (Motion::Up, Some(0)) => None,
        (Motion::Up, Some(at)) => Some(at - 1),
        (_, None) => Some(0),
        (_, Some(at)) if at == last => None,
        (_, Some(at)) => Some(at + 1),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(line: &str, words: &[&str], chosen: Option<usize>) -> Prompt {
        Prompt {
            typing: Typing::Command,
            input: line.into(),
            before: String::new(),
            completions: words.iter().map(|w| plain(*w)).collect(),
            chosen,
        }
    }

    #[test]
    fn words_complete_as_far_as_they_agree() {
        let check = |line: &str, words: &[&str], expected: Option<&str>| {
            assert_eq!(complete(&prompt(line, words, None)).as_deref(), expected, "{line} of {words:?}");
        };
        check("nod", &["node", "uncordon"], Some("node "));
        check("node worker-a", &["worker-a1", "worker-a2"], Some("node worker-a1"));
        check("node w", &["worker-a1", "worker-a2"], Some("node worker-a"));
        check("cordon a2", &["worker-a2"], Some("cordon worker-a2"));
        check("x", &[], None);
        assert_eq!(complete(&prompt("node w", &["worker-a1", "worker-a2"], Some(1))).as_deref(), Some("node worker-a2"));
    }

    #[test]
    fn commands_are_found_by_what_they_do() {
        let names = |line: &str| commands(line).into_iter().map(|c| c.word).collect::<Vec<_>>();
        assert_eq!(names("bran"), ["branch", "branches", "compare"]);
        assert!(names("zzz").is_empty() && names("").len() > 20);
        assert_eq!(names("dump"), ["capture", "open"]);
    }

    #[test]
    fn the_choice_goes_round_through_none() {
        let mut prompt = prompt("", &["a", "b"], None);
        let mut go = |motion| {
            choose(&mut prompt, motion);
            prompt.chosen
        };
        assert_eq!([go(Motion::Down), go(Motion::Down), go(Motion::Down)], [Some(0), Some(1), None]);
        assert_eq!([go(Motion::Up), go(Motion::Up), go(Motion::Up)], [Some(1), Some(0), None]);
    }
}
