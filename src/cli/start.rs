//! The offers of the start screen: contexts of the kubeconfig (not contacted), dumps in the current folder, and the
//! embedded stories.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::args::{ConnectArgs, SchedulerArgs};
use super::history::Past;
use super::opening::{Source, Wanted};
use crate::app::{AppError, Console, Exit, Options, typed_path};
use crate::limits::terminal::OFFERED_DUMPS;
use crate::session::{SESSION_HEAD, is_session_file};
use crate::source::live::contexts;
use crate::source::{Limits, STORIES, looks_like_dump};
use crate::ui::model::start::{Choice, Group, Offer};

/// Limit on the files examined.
const LOOKED_AT: usize = 400;

/// The offers, each with the source that it opens.
struct Offers {
    offers: Vec<(Offer, Source)>,
    /// Groups without an offer, and why.
    empty: Vec<(Group, String)>,
}

/// Shows the start screen and returns the choice. The inner error is how the user left.
pub(super) fn choose(why: Option<String>, options: &Options, console: &mut Console) -> Result<Result<Wanted, Exit>, AppError> {
    let Offers { offers, empty } = offers(Path::new("."));
    let (shown, mut sources): (Vec<Offer>, Vec<Source>) = offers.into_iter().unzip();
    let choice = match console.choose(shown, empty, why, options)? {
        Ok(choice) => choice,
        Err(exit) => return Ok(Err(exit)),
    };
    let source = match choice {
        Choice::Offer(at) if at < sources.len() => sources.swap_remove(at),
        Choice::Path(path) => at_path(&path),
        Choice::Offer(_) | Choice::Quit | Choice::Suspend => return Ok(Err(Exit::Quit)),
    };
    Ok(Ok(Wanted { source, scheduler: SchedulerArgs::default() }))
}

/// Returns the source at a typed path.
pub(super) fn at_path(path: &str) -> Source {
    let (path, limits) = (typed_path(path), Limits::default());
    match Past::at(&path) {
        Some(past) => Source::Past { past, at: None, limits },
        None => Source::Dumps { paths: vec![path], limits, merge: false },
    }
}

fn offers(folder: &Path) -> Offers {
    let mut found = Offers { offers: Vec::new(), empty: Vec::new() };
    match contexts(None) {
        Ok(known) if known.names.is_empty() => found.empty.push((Group::Clusters, "the kubeconfig has no contexts".to_owned())),
        Ok(known) => {
            let is_current = |name: &String| known.current.as_ref() == Some(name);
            let mut names = known.names.clone();
            names.sort_by_key(|name| !is_current(name));
            for name in names {
                let about = if is_current(&name) { "the current context" } else { "" };
                let connect = ConnectArgs { context: Some(name.clone()), ..ConnectArgs::default() };
                found.push(Group::Clusters, name, about, Source::Cluster(connect));
            }
        }
        Err(error) => found.empty.push((Group::Clusters, error.to_string())),
    }
    let dumps = dumps(folder);
    if dumps.is_empty() {
        found.empty.push((Group::Dumps, "none in this directory; enter a path to open another".to_owned()));
    }
    for (path, about) in dumps {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push(Group::Dumps, name, &about, Source::Dumps { paths: vec![path], limits: Limits::default(), merge: false });
    }
    for story in &STORIES {
        found.push(Group::Stories, story.name.to_owned(), story.title, Source::Story(story));
    }
    found
}

impl Offers {
    fn push(&mut self, group: Group, name: String, about: &str, source: Source) {
        self.offers.push((Offer { group, name, about: about.to_owned() }, source));
    }
}

/// Returns the files of a folder that look like dumps or saved sessions, by name, with a description.
fn dumps(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_symlink()));
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.path()).take(LOOKED_AT).collect();
    paths.sort();
    let known = paths.into_iter().filter_map(|path| {
        let size = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
        let what = if is_session(&path) {
            "a saved session"
        } else if looks_like_dump(&path) {
            "a dump"
        } else {
            return None;
        };
        let path = path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
        Some((path, format!("{what}, {}", crate::ui::model::text::memory(i64::try_from(size).unwrap_or(i64::MAX)))))
    });
    known.take(OFFERED_DUMPS).collect()
}

fn is_session(path: &Path) -> bool {
    let mut start = Vec::new();
    File::open(path).and_then(|file| file.take(SESSION_HEAD).read_to_end(&mut start)).is_ok() && is_session_file(&start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_of_a_folder_are_offered_in_order_and_no_more_than_there_is_room_for() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("b.yaml", "kind: Pod\n"), ("a.json", "{\"kind\": \"Node\"}"), ("package.json", "{}"), ("x.txt", "kind: Pod")]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let found = offers(folder.path());
        let names = |group: Group, found: &Offers| -> Vec<String> {
            found.offers.iter().filter(|(o, _)| o.group == group).map(|(o, _)| o.name.clone()).collect()
        };
        assert_eq!(names(Group::Dumps, &found), ["a.json", "b.yaml"]);
        assert_eq!(found.offers.iter().find(|(o, _)| o.name == "a.json").map(|(o, _)| o.about.as_str()), Some("a dump, 16"));
        assert_eq!(names(Group::Stories, &found).len(), STORIES.len());
        for n in 0..OFFERED_DUMPS + 5 {
            std::fs::write(folder.path().join(format!("{n:03}.yaml")), "kind: Pod\n").unwrap();
        }
        assert_eq!(names(Group::Dumps, &offers(folder.path())).len(), OFFERED_DUMPS);
        let nothing = offers(&folder.path().join("nowhere"));
        assert!(nothing.empty.iter().any(|(group, _)| *group == Group::Dumps));
    }
}
