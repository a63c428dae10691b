//! Dumps as arguments: several are parts of one state, or one cluster at different times.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Failure;
use crate::cluster::{Cluster, Kind};
use crate::session::in_order_of_time;
use crate::source::{Input, Loaded};

/// A dump of its own, with its name.
pub(super) struct Dump {
    pub(super) name: String,
    pub(super) loaded: Loaded,
}

impl Dump {
    /// Returns the time of the newest object, if known.
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.loaded.report.newest
    }

    /// Returns the name and the contents.
    pub(super) fn into_parts(self) -> (String, Loaded) {
        (self.name, self.loaded)
    }
}

/// Reads a dump that has nodes and pods; `None` for a part of one.
pub(super) fn whole_dump(path: &Path, read: &dyn Fn(&[Input]) -> Loaded) -> Option<Dump> {
    if !path.exists() {
        return None;
    }
    let loaded = read(&[Input::Path(path.to_owned())]);
    let has = |kind: Kind| loaded.objects.iter().any(|object| object.kind() == kind);
    (has(Kind::Node) && has(Kind::Pod)).then(|| Dump { name: path.display().to_string(), loaded })
}

/// Reads each dump alone and returns them oldest first; `None` if they are parts of one state, or of different clusters. The smallest
/// file comes first: that one of them is a part is found before the large ones are read twice.
pub(super) fn series(paths: &[PathBuf], read: &dyn Fn(&[Input]) -> Loaded) -> Option<Vec<Dump>> {
    if paths.len() < 2 || paths.iter().any(|path| path.as_os_str() == "-") {
        return None;
    }
    let size = |at: &usize| std::fs::metadata(&paths[*at]).map_or(u64::MAX, |about| if about.is_dir() { u64::MAX } else { about.len() });
    let mut by_size: Vec<usize> = (0..paths.len()).collect();
    by_size.sort_by_key(size);
    let mut dumps: Vec<Option<Dump>> = paths.iter().map(|_| None).collect();
    for at in by_size {
        dumps[at] = Some(whole_dump(&paths[at], read)?);
    }
    let clusters: Vec<(Cluster, Option<Timestamp>)> = dumps.iter().flatten().map(|dump| (dump.loaded.cluster(), dump.time())).collect();
    let states: Vec<(&Cluster, Option<Timestamp>)> = clusters.iter().map(|(cluster, time)| (cluster, *time)).collect();
    in_order_of_time(&states)?.into_iter().map(|at| dumps[at].take()).collect()
}

/// Returns the newest dump, and the one before it, if the paths are dumps of one cluster at different times.
pub(super) fn newest_two(paths: &[PathBuf], read: &dyn Fn(&[Input]) -> Loaded) -> Option<(Dump, Dump)> {
    let mut dumps = series(paths, read)?;
    let newest = dumps.pop()?;
    Some((newest, dumps.pop()?))
}

/// Fails if several paths are dumps of one cluster at different times: merged, they would be a state that never was.
///
/// # Errors
/// The failure names the newest two.
pub(super) fn refuse_series(paths: &[PathBuf], read: &dyn Fn(&[Input]) -> Loaded) -> Result<(), Failure> {
    let Some((newest, before)) = newest_two(paths, read) else { return Ok(()) };
    let [older, newer] = [&before, &newest].map(|dump| match dump.time() {
        Some(time) => format!("{} of {time}", dump.name),
        None => dump.name.clone(),
    });
    Err(Failure::usage(format!(
        "{older} and {newer} are dumps of one cluster at different times: name one of them, or add --merge to merge them"
    )))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::source;

    #[test]
    fn a_part_is_found_before_a_larger_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let node = r#"{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"n","resourceVersion":"1"}}"#;
        let pod = |name: &str, version: u32| {
            format!(
                r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"x","uid":"u","resourceVersion":"{version}"}}}}"#
            )
        };
        let list = |items: &[&str]| format!(r#"{{"kind":"List","apiVersion":"v1","items":[{}]}}"#, items.join(","));
        let whole = |name: &str, version| write(name, list(&[node, &pod("web", version), &pod("a-second-pod-of-a-longer-name", 1)]));
        let asked = RefCell::new(Vec::new());
        let read = |inputs: &[Input]| {
            asked.borrow_mut().extend(inputs.iter().map(|input| match input {
                Input::Path(path) => path.file_name().unwrap().to_str().unwrap().to_owned(),
                _ => "another".to_owned(),
            }));
            source::load(inputs)
        };
        let (one, other) = (whole("1.json", 5), whole("2.json", 9));
        let part = write("nodes.json", list(&[node]));
        let names = |dumps: Option<Vec<Dump>>| dumps.map(|dumps| dumps.into_iter().map(|dump| dump.name).collect::<Vec<_>>());
        assert_eq!(names(series(&[one.clone(), part.clone()], &read)), None);
        assert_eq!(*asked.borrow(), ["nodes.json"], "the large one is read once, with the part");
        let [first, second] = [&one, &other].map(|path| path.display().to_string());
        assert_eq!(names(series(&[other.clone(), one.clone()], &read)), Some(vec![first, second]));
        assert!(refuse_series(&[one.clone(), other.clone()], &read).is_err() && refuse_series(&[one.clone(), part], &read).is_ok());
        assert!(series(&[one], &read).is_none() && series(&[other, "-".into()], &read).is_none());
    }
}
