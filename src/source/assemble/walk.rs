//! Walks the documents that were found: decompresses them, opens archives, reads the files that may hold objects, and
//! skips the others.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ingest::Ingest;
use super::losses::names_database;
use super::{Assembly, FileToRead, Tally};
use crate::limits::sources::ARCHIVES_WITHIN;
use crate::plural::and_more;
use crate::source::decode::patterns::Patterns;
use crate::source::decode::windows::{self, BrokenOff};
use crate::source::layout::{self, Hint, Role, Task};
use crate::source::read::archive::{self, End, Head, MemberKind, Sort, Stream};
use crate::source::read::input::{BoxRead, Content, Document, Place, broken_behind, is_binary, peek};
use crate::source::read::limits::{Budget, Limits};
use crate::source::read::progress::Progress;
use crate::source::read::sniff::{Claim, is_blank, is_message, unkept_claim, worth_reading};

/// Bytes of a tar archive without members, at least.
const EMPTY_TAR: usize = 1024;

/// Members of archives up to this size, in bytes, are held in memory so that they can be read a second time. Larger ones
/// are streamed.
const MEMBER_IN_MEMORY: u64 = 64 << 20;

/// Bytes at the start of a file that decide whether it may hold objects.
const GLANCE: usize = 4096;

/// Bytes that are read of a file with a fact about the dump.
const MAX_FACT: u64 = 64 << 10;

/// The maximal number of logs recorded.
const MAX_LOGS: usize = 1000;

/// Walks documents one after another.
pub(in crate::source) struct Walk<'a> {
    pub(in crate::source) assembly: &'a mut Assembly,
    budget: Budget,
    files: usize,
    patterns: Patterns,
    /// Other threads took part in decoding.
    pub(in crate::source) spread: bool,
}

impl<'a> Walk<'a> {
    pub(in crate::source) fn new(assembly: &'a mut Assembly, limits: &Limits, progress: &Arc<Progress>) -> Self {
        Self { assembly, budget: Budget::new(limits, progress.clone()), files: limits.files, patterns: Patterns::default(), spread: false }
    }

    /// Counts a file; returns false if there are too many or the load was cancelled.
    fn admit(&mut self, name: &str) -> bool {
        if self.budget.progress().is_cancelled() {
            return false;
        }
        self.budget.progress().enter(name);
        if self.files == 0 {
            self.assembly.too_many.add(|| name.to_owned());
            self.assembly.lose_rest();
            return false;
        }
        self.files -= 1;
        true
    }

    /// Reads a document, or skips it.
    pub(in crate::source) fn document(&mut self, document: Document) {
        let Document { name, path, content, found, input } = document;
        if !self.admit(&name) {
            return;
        }
        let role = layout::role(&path);
        self.assembly.layouts.note(input, role.as_ref());
        if found && role.as_ref().is_some_and(|role| role.task == Task::Skip) {
            let place = Place { base: content, members: Vec::new() };
            self.skip(FileToRead { name, path, found, input, place });
            return;
        }
        match content.stream(&self.budget) {
            Ok(stream) => {
                self.assembly.note_name(&name);
                let file = FileToRead { name, path, found, input, place: Place { base: content.clone(), members: Vec::new() } };
                self.stream(&file, role, stream, Some(&content));
            }
            Err(error) => {
                let file = FileToRead { name, path, found, input, place: Place { base: content.clone(), members: Vec::new() } };
                self.assembly.add_unopened(&file, &error);
            }
        }
    }

    /// Records a log of kube-scheduler for later, and skips any other file without objects.
    fn skip(&mut self, file: FileToRead) {
        if is_scheduler_log(&file.path) && self.assembly.logs.len() < MAX_LOGS {
            self.assembly.logs.push((file.name, file.place));
        } else {
            self.assembly.pass_over(&file);
        }
    }

    /// Reads a stream. `again` can open it a second time.
    fn stream(&mut self, file: &FileToRead, role: Option<Role>, stream: Stream<'_>, again: Option<&Content>) {
        if stream.compressed && self.budget.is_spent() {
            self.assembly.lose_unread(&file.path, file.found);
            return self.assembly.unaffordable.add(|| file.name.clone());
        }
        match stream.sort {
            Sort::Plain => self.text(file, role, stream, again),
            Sort::Database => {
                self.assembly.layouts.note_database(file.input);
                self.text(file, role, stream, again);
            }
            Sort::Tar | Sort::Zip => self.archive(file, stream, again),
        }
    }

    fn archive(&mut self, file: &FileToRead, stream: Stream<'_>, base: Option<&Content>) {
        if file.place.members.len() == ARCHIVES_WITHIN {
            self.assembly.lose_unread(&file.path, file.found);
            return self.assembly.error(&file.name, "an archive inside two others is not opened".to_owned());
        }
        let budget = self.budget.clone();
        let mut unreadable = Tally::default();
        let before = self.assembly.looked_at();
        let end = archive::members(stream, base, &budget, None, &mut |place, head, reader| {
            self.member(file, place, &head, reader, &mut unreadable)
        });
        if unreadable.count > 0 {
            let Tally { count, first } = unreadable;
            let others = and_more(count);
            self.assembly.error(&file.name, format!("a member cannot be read: {first}{others}"));
        }
        match end {
            Ok(End::Unmarked) => {
                self.assembly.lose_rest();
                self.assembly.warn(&file.name, "has no end-of-archive marker; it may be truncated".to_owned());
            }
            Ok(End::Followed) => {
                self.assembly.lose_rest();
                self.assembly.warn(&file.name, "is followed by other bytes, such as another archive, which were not read".to_owned());
            }
            Ok(End::Unlisted) => {
                self.assembly.lose_rest();
                let message =
                    "holds bytes that its directory does not list once each, such as members of an earlier archive, which were not read";
                self.assembly.warn(&file.name, message.to_owned());
            }
            Ok(End::Whole | End::Stopped) => {}
            Err(error) => {
                self.assembly.lose_rest();
                self.assembly.error(&file.name, BrokenOff::of(&error).to_string());
            }
        }
        if self.assembly.looked_at() == before && !file.found {
            self.assembly.warn(&file.name, "contains no objects".to_owned());
        }
    }

    /// Reads a member of an archive; returns false to stop.
    fn member(&mut self, archive: &FileToRead, place: u32, head: &Head, reader: BoxRead<'_>, unreadable: &mut Tally) -> bool {
        let path = plain_path(&head.name);
        let name = format!("{}!/{path}", archive.name);
        match head.kind {
            MemberKind::File => {}
            MemberKind::Other => return true,
            MemberKind::Link => {
                self.assembly.links.add(|| name);
                self.assembly.lose_path(&path, true);
                return true;
            }
            MemberKind::Unreadable(reason) => {
                unreadable.add(|| format!("{path}: {reason}"));
                self.assembly.lose_unread(&path, true);
                return true;
            }
        }
        if !self.admit(&name) {
            return false;
        }
        let role = layout::role(&path);
        self.assembly.layouts.note(archive.input, role.as_ref());
        let members = archive.place.members.iter().copied().chain([place]).collect();
        let place = Place { base: archive.place.base.clone(), members };
        let file = FileToRead { name, path, found: true, input: archive.input, place };
        if role.as_ref().is_some_and(|role| role.task == Task::Skip) {
            self.skip(file);
            return true;
        }
        if hidden(&file.path) {
            self.assembly.lose_hidden(&file.path);
            self.assembly.pass_over(&file);
            return true;
        }
        self.admitted_member(&file, role, head.size, reader);
        true
    }

    /// Reads a member whose place and role are known.
    fn admitted_member(&mut self, file: &FileToRead, role: Option<Role>, size: Option<u64>, reader: BoxRead<'_>) {
        // Long text without objects is not even held in memory.
        let (start, mut reader) = peek(reader, GLANCE);
        let raw = archive::open(Box::new(start.as_slice()), None, &self.budget);
        if raw.sort == Sort::Plain && !raw.compressed && role.is_none() && start.len() == GLANCE && !worth_reading(&file.path, &start) {
            drop(raw);
            return self.pass_over_text(file, false, &start);
        }
        let streams = raw.sort == Sort::Tar && !raw.compressed;
        drop(raw);
        if streams || size.is_none_or(|size| size > MEMBER_IN_MEMORY) {
            let stream = archive::open(reader, size, &self.budget);
            return self.stream(file, role, stream, None);
        }
        let mut bytes = Vec::new();
        let room = bytes.try_reserve_exact(size.unwrap_or_default().min(MEMBER_IN_MEMORY) as usize).map_err(io::Error::from);
        // A zip may claim any size, so the claim must not decide how much is read.
        match room.and_then(|()| reader.by_ref().take(MEMBER_IN_MEMORY + 1).read_to_end(&mut bytes)) {
            Ok(_) => {
                if bytes.len() as u64 > MEMBER_IN_MEMORY {
                    bytes.truncate(MEMBER_IN_MEMORY as usize);
                    self.assembly.lose_unread(&file.path, file.found);
                    self.assembly.error(&file.name, "is larger than its archive says; only its start was read".to_owned());
                }
                let content = Content::Memory(Arc::new(bytes.into()));
                match content.stream(&self.budget) {
                    Ok(stream) => self.stream(file, role, stream, Some(&content)),
                    Err(error) => self.assembly.add_unopened(file, &error),
                }
            }
            Err(error) => {
                let stream = archive::open(broken_behind(bytes, error), None, &self.budget);
                self.stream(file, role, stream, None);
            }
        }
    }

    /// Reports a file whose name promises an archive or a compressed file that its content is not. Returns whether that loses objects:
    /// all but text that is read in place of it, and uncompressed text of another kind.
    fn weigh_claim(&mut self, file: &FileToRead, compressed: bool, start: &[u8]) -> bool {
        let Some(claim) = unkept_claim(&file.path, compressed) else { return false };
        // An archive without members is its end alone: blocks of zeros.
        if matches!(claim, Claim::Tar) && start.len() >= EMPTY_TAR && start.iter().all(|byte| *byte == 0) {
            return false;
        }
        let what = match (start.is_empty(), is_binary(start)) {
            (true, _) => "it is empty",
            (false, true) => "its content is neither a known archive nor text",
            (false, false) => "its content is plain text",
        };
        self.assembly.warn(&file.name, format!("is not the {claim} that its name suggests: {what}"));
        let has_objects = !is_blank(start) && worth_reading(&file.path, start);
        let is_lost = !has_objects && (claim.is_archive() || is_blank(start) || is_binary(start));
        if is_lost {
            self.assembly.lose_unread(&file.path, file.found);
        }
        is_lost
    }

    /// Skips a file whose start is not that of objects, with the losses that its name shows.
    fn pass_over_text(&mut self, file: &FileToRead, compressed: bool, start: &[u8]) {
        if !self.weigh_claim(file, compressed, start) {
            self.note_hollow(file, start);
        }
        self.assembly.pass_over(file);
    }

    fn note_hollow(&mut self, file: &FileToRead, start: &[u8]) {
        if names_database(&file.path) && is_blank(start) {
            self.assembly.lose_blank(file);
        } else if is_segment(&file.path, start) {
            self.assembly.lose_unread(&file.path, file.found);
            self.assembly.segments.add(|| file.name.clone());
        } else {
            self.assembly.lose_hollow(file, "is not text");
        }
    }

    fn text(&mut self, file: &FileToRead, role: Option<Role>, stream: Stream<'_>, again: Option<&Content>) {
        let compressed = stream.compressed;
        let (start, mut reader) = peek(stream.reader, GLANCE);
        if compressed && start.len() < GLANCE && (start.is_empty() || !worth_reading(&file.path, &start)) {
            // A short stream is at its end, or has an error that would go unseen otherwise.
            if let Err(error) = io::copy(&mut reader, &mut io::sink()) {
                let message = BrokenOff::of(&error).to_string();
                self.assembly.lose_unread(&file.path, file.found);
                return self.assembly.error(&file.name, message);
            }
            reader = Box::new(io::Cursor::new(start.clone()));
        }
        let is_lost = self.weigh_claim(file, compressed, &start);
        let (hint, fact) = match role.map(|role| role.task) {
            Some(Task::Objects(hint)) => (hint, None),
            Some(Task::Fact(fact)) => (Hint::default(), Some(fact)),
            Some(Task::Skip) | None => (layout::general_hint(&file.path), None),
        };
        if let Some(fact) = fact {
            let mut text = Vec::new();
            // Errors are ignored: the objects of the dump are in other files.
            let _ = reader.take(MAX_FACT).read_to_end(&mut text);
            return self.assembly.add_fact(file, fact, &String::from_utf8_lossy(&text));
        }
        if file.found && !worth_reading(&file.path, &start) {
            if !is_lost {
                self.note_hollow(file, &start);
            }
            return self.assembly.pass_over(file);
        }
        let is_blank = start.trim_ascii().is_empty();
        if file.found && is_blank && start.len() < GLANCE {
            if !is_lost {
                self.assembly.lose_hollow(file, "is empty");
            }
        } else if file.found && is_message(&start) {
            self.assembly.lose_hollow(file, "holds an error of kubectl");
            return self.assembly.pass_over(file);
        }
        let has_text = AtomicBool::new(!is_blank);
        if is_blank && start.len() == GLANCE {
            reader = Box::new(Watched { reader, has_text: &has_text });
        }
        let stream = Stream { reader, size: stream.size, sort: Sort::Plain, compressed };
        let mut ingest = Ingest::new(file, hint.rank);
        match windows::read(stream, again, &hint, &self.patterns, &self.budget, &mut |entries| self.assembly.take(&mut ingest, entries)) {
            Ok(contents) => {
                self.spread |= contents.spread;
                self.assembly.add(ingest, contents);
                if file.found && start.len() == GLANCE && !has_text.into_inner() {
                    self.assembly.lose_hollow(file, "is empty");
                }
            }
            Err(error) => self.assembly.add_unopened(file, &error),
        }
    }
}

/// A text that begins with white space, and notes whether anything else follows.
struct Watched<'a, 'b> {
    reader: BoxRead<'a>,
    has_text: &'b AtomicBool,
}

impl Read for Watched<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        if !out[..count].trim_ascii().is_empty() {
            self.has_text.store(true, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// Returns whether a path is of a log of kube-scheduler's pod: `kube-system/kube-scheduler-cp-1/logs.txt`,
/// `.../openshift-kube-scheduler-cp-1/kube-scheduler/kube-scheduler/logs/current.log`.
#[allow(clippy::case_sensitive_file_extension_comparisons, reason = "tools write these names so")]
fn is_scheduler_log(path: &str) -> bool {
    let is_log = path.split('/').next_back().is_some_and(|file| file.contains("log") || file.ends_with(".txt"));
    is_log && path.split('/').any(|part| part.contains("kube-scheduler-")) && !path.contains("guard")
}

/// Returns whether a file is a segment of a journal.
fn is_segment(path: &str, start: &[u8]) -> bool {
    path.rsplit('.').next() == Some("ssj") && start.starts_with(b"ssj")
}

/// Returns a member's name as a path, without `..` and a leading `/`.
fn plain_path(name: &str) -> String {
    let name = name.replace('\\', "/");
    name.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect::<Vec<_>>().join("/")
}

/// Returns whether a path is hidden. Hidden files hold no dumps; archives made on a Mac have a hidden shadow of every
/// file.
fn hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_members_are_only_names() {
        for (name, expected) in [("./a/b", "a/b"), ("/etc/passwd", "etc/passwd"), ("../../a", "a"), ("a\\b", "a/b"), ("a//b/", "a/b")] {
            assert_eq!(plain_path(name), expected);
        }
        for (path, expected) in [
            ("kube-system/kube-scheduler-cp-1/logs.txt", true),
            ("must/pods/openshift-kube-scheduler-cp-1/kube-scheduler/kube-scheduler/logs/previous.log", true),
            ("kube-system/kube-controller-manager-cp-1/logs.txt", false),
            ("kube-system/kube-scheduler-cp-1/pod.yaml", false),
        ] {
            assert_eq!(is_scheduler_log(path), expected, "{path}");
        }
        assert!(hidden("a/._b.json") && !hidden("a/b.json"));
    }
}
