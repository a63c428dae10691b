//! Reads logs of kube-scheduler from files, directories, archives and standard input, as dumps are read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::read::archive::{self, MemberKind, Sort, Stream};
use super::read::input::{BoxRead, Content, Failed, Found, Input, Place, peek};
use super::read::limits::{Budget, Limits};
use super::read::progress::Progress;
use crate::limits::sources::{ARCHIVES_WITHIN, LOG_LINE};
use crate::scheduler_log::{FileFacts, Reader, SchedulerLog, Stamp, first_stamp};
use crate::source::assemble::Loaded;
use crate::source::assemble::unpacked::Unpacked;

/// Bytes at the start of a file that are searched for its first time.
const GLANCE: usize = 64 << 10;

/// How to read the times of text logs, which lack year and zone.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogTimes {
    /// A time near the end of logs that have no file time, such as when the dump was taken.
    pub latest: Option<Timestamp>,
    /// Seconds east of UTC.
    pub offset: Option<i32>,
}

/// A log to read.
struct Log {
    name: String,
    place: Place,
    facts: FileFacts,
    first: Option<Stamp>,
}

/// Reads logs of kube-scheduler in the order of their times. It never fails as a whole: errors become
/// [`SchedulerLog::findings`]. Of directories and archives, it reads the files whose path names a scheduler.
pub fn read_scheduler_logs(inputs: &[Input], times: LogTimes, limits: &Limits, progress: &Arc<Progress>) -> SchedulerLog {
    let budget = Budget::new(limits, Arc::clone(progress));
    let mut reader = Reader::default();
    let is_stdin = |input: &Input| matches!(input, Input::Stdin) || matches!(input, Input::Path(path) if path.as_os_str() == "-");
    let (stdin, others): (Vec<Input>, Vec<Input>) = inputs.iter().cloned().partition(is_stdin);
    let found = Found::new(&others);
    for Failed { path, error, .. } in &found.failed {
        reader.failed(path, &error.to_string());
    }
    let mut logs = Vec::new();
    for document in found.documents.into_iter().take(limits.files) {
        if document.found && !names_scheduler(&document.path) && document.path.contains('/') {
            continue;
        }
        let latest = times.latest.or_else(|| modified(&document.content));
        let writer = document.found.then(|| writer(&document.path)).flatten();
        let facts = FileFacts { writer, found: document.found, latest, offset: times.offset };
        let place = Place { base: document.content.clone(), members: Vec::new() };
        match document.content.stream(&budget) {
            Ok(stream) => list(&document.name, stream, &place, &facts, &budget, &mut logs),
            Err(error) => reader.failed(&document.name, &error.to_string()),
        }
    }
    read_all(&mut reader, logs, &budget);
    // Standard input is read as it arrives, so it cannot be ordered among the files.
    if !stdin.is_empty() {
        let facts = FileFacts { latest: times.latest, offset: times.offset, ..FileFacts::default() };
        progress.enter("-");
        let stream = archive::open(Box::new(io::stdin()), None, &budget);
        match stream.sort {
            Sort::Plain => {
                let mut input = stream.reader;
                reader.file("-", &facts, &mut *input, &mut |bytes| watch(&budget, bytes));
            }
            Sort::Tar | Sort::Zip | Sort::Database => reader.failed("-", "an archive on standard input is not read as a log"),
        }
    }
    reader.finish()
}

/// A log that is followed in a file, over rotations.
#[derive(Debug)]
pub struct LogTail {
    path: PathBuf,
    /// The open file with its identity, and the offset of the next byte.
    file: Option<(File, (u64, u64), u64)>,
    /// The start of a line whose end is not written yet.
    rest: Vec<u8>,
}

/// Bytes that are read of a followed file at once.
const TAIL: u64 = 16 << 20;

impl LogTail {
    /// Follows a file, from its end on or from its beginning.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub fn open(path: &Path, from_end: bool) -> io::Result<Self> {
        let mut tail = Self { path: path.to_owned(), file: None, rest: Vec::new() };
        tail.reopen()?;
        if let Some((file, _, at)) = tail.file.as_mut().filter(|_| from_end) {
            *at = file.seek(SeekFrom::End(0))?;
        }
        Ok(tail)
    }

    fn reopen(&mut self) -> io::Result<()> {
        let file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("is not a regular file"));
        }
        self.rest.clear();
        self.file = Some((file, (metadata.dev(), metadata.ino()), 0));
        Ok(())
    }

    /// Returns the whole lines that were written since the last call. A file that was replaced is read to its end first.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read; a later call may succeed.
    pub fn read(&mut self) -> io::Result<Vec<u8>> {
        let Some((file, identity, at)) = &mut self.file else {
            self.reopen()?;
            return self.read();
        };
        if file.metadata()?.len() < *at {
            // It was cut, and begins anew.
            *at = file.seek(SeekFrom::Start(0))?;
            self.rest.clear();
        }
        let before = self.rest.len();
        *at += file.take(TAIL).read_to_end(&mut self.rest)? as u64;
        if self.rest.len() == before && std::fs::metadata(&self.path).is_ok_and(|now| (now.dev(), now.ino()) != *identity) {
            self.file = None;
            return Ok(Vec::new());
        }
        let whole = memchr::memrchr(b'\n', &self.rest).map_or(0, |at| at + 1);
        if whole == 0 && self.rest.len() > LOG_LINE {
            self.rest.clear();
        }
        Ok(self.rest.drain(..whole).collect())
    }
}

/// Counts bytes; returns false if the load was cancelled.
fn watch(budget: &Budget, bytes: u64) -> bool {
    budget.progress().add(bytes, 0);
    !budget.progress().is_cancelled()
}

fn read_all(reader: &mut Reader, mut logs: Vec<Log>, budget: &Budget) {
    // Files without a time come last; the sort keeps the given order of equal times.
    logs.sort_by_key(|log| log.first.map_or((true, None), |first| (false, Some(first))));
    for log in &logs {
        budget.progress().enter(&log.name);
        let read = log.place.within(budget, &mut |stream| {
            let mut input = stream.reader;
            reader.file(&log.name, &log.facts, &mut *input, &mut |bytes| watch(budget, bytes));
            Ok(String::new())
        });
        if let Err(error) = read {
            reader.failed(&log.name, &error.to_string());
        }
    }
}

/// Reads the logs of kube-scheduler in a dump; `None` if it has none.
pub fn read_logs_of_dump(loaded: &Loaded, times: LogTimes, limits: &Limits, progress: &Arc<Progress>) -> Option<SchedulerLog> {
    if loaded.logs.0.is_empty() {
        return None;
    }
    let budget = Budget::new(limits, Arc::clone(progress));
    let mut reader = Reader::default();
    let mut logs = Vec::new();
    // The logs of one archive come one after another.
    let unpacked = Unpacked::default();
    for (name, place) in &loaded.logs.0 {
        let kept = unpacked.place(place);
        let place = kept.as_ref().unwrap_or(place);
        let path = name.rsplit("!/").next().unwrap_or(name);
        let facts = FileFacts { writer: writer(path), found: true, latest: times.latest, offset: times.offset };
        let listed = place.within(&budget, &mut |stream| {
            list(name, stream, place, &facts, &budget, &mut logs);
            Ok(String::new())
        });
        if let Err(error) = listed {
            reader.failed(name, &error.to_string());
        }
    }
    read_all(&mut reader, logs, &budget);
    Some(reader.finish()).filter(|log| !log.is_empty())
}

/// Adds a file, or the members of an archive, to `logs`.
fn list(name: &str, stream: Stream<'_>, place: &Place, facts: &FileFacts, budget: &Budget, logs: &mut Vec<Log>) {
    if stream.sort == Sort::Plain {
        let (start, _) = peek(stream.reader, GLANCE);
        let first = first_stamp(&start, facts);
        if first.is_some() || !facts.found {
            logs.push(Log { name: name.to_owned(), place: place.clone(), facts: facts.clone(), first });
        }
        return;
    }
    if stream.sort == Sort::Database || place.members.len() == ARCHIVES_WITHIN {
        return;
    }
    let base = place.members.is_empty().then(|| place.base.clone());
    // An archive that breaks off is reported when its members are read.
    let _ = archive::members(stream, base.as_ref(), budget, None, &mut |number, head, reader: BoxRead<'_>| {
        if head.kind == MemberKind::File && names_scheduler(&head.name) {
            let members = place.members.iter().copied().chain([number]).collect();
            let inner = Place { base: place.base.clone(), members };
            let facts = FileFacts { writer: writer(&head.name), found: true, ..facts.clone() };
            let stream = archive::open(reader, head.size, budget);
            list(&format!("{name}!/{}", head.name), stream, &inner, &facts, budget, logs);
        }
        true
    });
}

fn names_scheduler(path: &str) -> bool {
    path.to_ascii_lowercase().contains("scheduler")
}

/// Returns the directory of a path that names a scheduler's pod, such as `kube-scheduler-cp-1` or
/// `openshift-kube-scheduler-cp-1`. Files of one pod are of one scheduler.
fn writer(path: &str) -> Option<String> {
    let (directories, file) = path.rsplit_once('/')?;
    let named = |part: &&str| part.contains("kube-scheduler-");
    directories.split('/').rev().find(named).map(str::to_owned).or_else(|| {
        // `kube-system/kube-scheduler-cp-1.log`, or with the container after the pod.
        Some(file).filter(named).map(|file| file.split('.').next().unwrap_or(file).to_owned())
    })
}

fn modified(content: &Content) -> Option<Timestamp> {
    let Content::File(path) = content else { return None };
    Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_followed_over_a_rotation() {
        use std::io::Write as _;
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("a.log"), folder.path().join("a.log.1"));
        std::fs::write(&path, "1\n2\n3").unwrap();
        let read = |tail: &mut LogTail| String::from_utf8(tail.read().unwrap()).unwrap();
        let mut tail = LogTail::open(&path, false).unwrap();
        let mut from_end = LogTail::open(&path, true).unwrap();
        assert_eq!((read(&mut tail), read(&mut tail), read(&mut from_end)), ("1\n2\n".into(), String::new(), String::new()));
        File::options().append(true).open(&path).unwrap().write_all(b"3\n").unwrap();
        std::fs::rename(&path, old).unwrap();
        std::fs::write(&path, "4\n").unwrap();
        assert_eq!((read(&mut tail), read(&mut from_end)), ("33\n".into(), "3\n".into()));
        assert_eq!((read(&mut tail), read(&mut tail)), (String::new(), "4\n".into()));
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(&mut tail), "");
        File::options().append(true).open(&path).unwrap().write_all(b"5\n").unwrap();
        assert_eq!(read(&mut tail), "5\n");
        assert!(LogTail::open(folder.path(), false).is_err());
    }

    #[test]
    fn a_pod_is_known_by_its_directory() {
        for (path, expected) in [
            ("kube-system/kube-scheduler-cp-1/logs.txt", Some("kube-scheduler-cp-1")),
            ("ns/pods/openshift-kube-scheduler-cp-1/kube-scheduler/kube-scheduler/logs/current.log", Some("openshift-kube-scheduler-cp-1")),
            ("logs/kube-scheduler-cp-1.log", Some("kube-scheduler-cp-1")),
            ("scheduler.log", None),
            ("logs/scheduler.1.log", None),
        ] {
            assert_eq!(writer(path).as_deref(), expected, "{path}");
        }
    }
}
