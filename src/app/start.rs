//! Runs the loop of the start screen, and completes paths that are typed there.

use std::fs;
use std::path::{MAIN_SEPARATOR, PathBuf};

use crossterm::event::Event;

use super::input::{Input, Inputs, mouse_action};
use super::terminal::Terminal;
use super::{AppError, Exit};
use crate::ui::Action;
use crate::ui::model::start::{Choice, Start};
use crate::ui::view::start::{Palette, choice};

/// Maximum number of completions to offer.
const OFFERED: usize = 8;
/// Maximum number of directory entries to read.
const LOOKED_AT: usize = 10_000;

/// Returns a typed path. Expands `~/`, as no shell has done so.
pub fn typed_path(path: &str) -> PathBuf {
    let home = path.strip_prefix("~/").and_then(|rest| Some(PathBuf::from(std::env::var_os("HOME")?).join(rest)));
    home.unwrap_or_else(|| PathBuf::from(path))
}

/// Shows the start screen until the user chooses, or a signal ends the program.
pub(super) async fn choose(
    mut start: Start,
    palette: Palette<'_>,
    terminal: &mut Terminal,
    inputs: &mut Inputs,
) -> Result<Result<Choice, Exit>, AppError> {
    loop {
        terminal.show(|area, buf| choice::draw(&start, palette, area, buf))?;
        let action = match inputs.next().await? {
            Input::End(number) => return Ok(Err(Exit::Signal(number))),
            Input::Stop => Some(Action::SUSPEND),
            Input::Continue => {
                terminal.enter_again()?;
                None
            }
            Input::Theme(_) => None,
            Input::Dropped(why) => {
                start.notice = Some(why.to_string());
                None
            }
            Input::Event(event) => action_of(&start, event),
        };
        match action.and_then(|action| start.update(action)) {
            None => {}
            Some(Choice::Suspend) => {
                terminal.suspend()?;
                start.size = terminal.size()?;
            }
            Some(Choice::Quit) => return Ok(Err(Exit::Quit)),
            Some(choice) => return Ok(Ok(choice)),
        }
        start.completions = start.path().map(completions).unwrap_or_default();
    }
}

fn action_of(start: &Start, event: Event) -> Option<Action> {
    match event {
        Event::Key(key) => start.keymap.lookup(&start.contexts(), &key),
        Event::Paste(text) => Some(Action::Paste(text)),
        Event::Resize(width, height) => Some(Action::Resize(width, height)),
        Event::Mouse(mouse) => mouse_action(mouse),
        Event::FocusGained | Event::FocusLost => None,
    }
}

/// Returns completions of a typed path, sorted. Folders end in a slash; hidden files need a typed dot.
fn completions(typed: &str) -> Vec<String> {
    let (folder, begun) = typed.rfind(MAIN_SEPARATOR).map_or(("", typed), |at| typed.split_at(at + 1));
    let place = if folder.is_empty() { "." } else { folder };
    let entries = fs::read_dir(place).into_iter().flatten().take(LOOKED_AT).flatten();
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hit = name.starts_with(begun) && (begun.starts_with('.') || !name.starts_with('.'));
            let end = if hit && entry.path().is_dir() { MAIN_SEPARATOR.to_string() } else { String::new() };
            hit.then(|| format!("{folder}{name}{end}"))
        })
        .collect();
    found.sort();
    found.truncate(OFFERED);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_completed_within_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pods.json", "prod.yaml", "other", ".hidden"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("pile")).unwrap();
        let at = |rest: &str| format!("{}/{rest}", folder.path().display());
        let check = |typed: &str, expected: &[&str]| {
            assert_eq!(completions(&at(typed)), expected.iter().map(|name| at(name)).collect::<Vec<_>>(), "{typed}");
        };
        check("p", &["pile/", "pods.json", "prod.yaml"]);
        check("", &["other", "pile/", "pods.json", "prod.yaml"]);
        check(".", &[".hidden"]);
        check("x", &[]);
        check("nowhere/x", &[]);
        for n in 0..20 {
            fs::write(folder.path().join(format!("many{n}")), "").unwrap();
        }
        assert_eq!(completions(&at("many")).len(), OFFERED);
    }
}
