//! Finds and opens inputs: files, directories, standard input and embedded text, in UTF-8 or UTF-16.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archive::{self, Sort, Stream};
#[cfg(feature = "dumps")]
use super::etcd;
use super::limits::{Budget, size};
use crate::limits::sources::{HIDDEN_FILES, STDIN};

/// An input to load.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file, an archive, or a directory whose files are read in name order; `-` is standard input.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Text in memory, such as an embedded demo.
    Bytes {
        /// The name that diagnostics use.
        name: String,
        /// The text, which may be compressed or an archive.
        bytes: Cow<'static, [u8]>,
    },
    /// Text that is made while it is read, such as the state of a journal.
    Text {
        /// The name that diagnostics use.
        name: String,
        text: Arc<dyn OpenText>,
    },
}

/// A text that can be read several times, and is made while it is read.
pub trait OpenText: std::fmt::Debug + Send + Sync {
    /// Returns the text from its start.
    ///
    /// # Errors
    /// Returns an error if it cannot be made.
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>>;

    /// Returns whether the objects are those of etcd's database.
    fn is_of_etcd(&self) -> bool {
        false
    }
}

/// The source of a document's bytes.
#[derive(Clone, Debug)]
pub(in crate::source) enum Content {
    File(PathBuf),
    Memory(Arc<Cow<'static, [u8]>>),
    Made(Arc<dyn OpenText>),
}

pub(in crate::source) type BoxRead<'a> = Box<dyn Read + Send + 'a>;

impl Content {
    /// Opens the raw bytes; returns them and their number.
    pub(in crate::source) fn open(&self) -> io::Result<(BoxRead<'_>, u64)> {
        Ok(match self {
            Self::File(path) => {
                let file = File::open(path)?;
                let size = file.metadata()?.len();
                (Box::new(file), size)
            }
            Self::Memory(bytes) => (Box::new(Cursor::new(&***bytes)), bytes.len() as u64),
            Self::Made(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Opens the bytes from their start, decompressed.
    pub(in crate::source) fn stream(&self, budget: &Budget) -> io::Result<Stream<'_>> {
        #[cfg(feature = "dumps")]
        if let Self::File(path) = self {
            let mut file = File::open(path)?;
            let mut head = Vec::new();
            file.by_ref().take(etcd::HEAD as u64).read_to_end(&mut head)?;
            if etcd::is_database(&head) {
                let size = file.metadata()?.len();
                return Ok(archive::database(file, size, budget));
            }
        }
        if let Self::Made(text) = self {
            if text.is_of_etcd() {
                return Ok(Stream { reader: text.open()?, size: None, sort: Sort::Database, compressed: true });
            }
            return Ok(archive::open(text.open()?, None, budget));
        }
        let (raw, size) = self.open()?;
        Ok(archive::open(raw, Some(size), budget))
    }
}

/// The place of a document: a file or memory, the index of its member if that is an archive, and so on inwards.
#[derive(Clone, Debug)]
pub(in crate::source) struct Place {
    pub(in crate::source) base: Content,
    pub(in crate::source) members: Vec<u32>,
}

impl Place {
    /// Opens the document again and passes its stream to `read`.
    pub(in crate::source) fn with(&self, read: &mut dyn FnMut(Stream<'_>) -> io::Result<String>) -> io::Result<String> {
        self.within(&Budget::unlimited(), read)
    }

    /// Does the same as [`Self::with()`], within a budget.
    pub(in crate::source) fn within(&self, budget: &Budget, read: &mut dyn FnMut(Stream<'_>) -> io::Result<String>) -> io::Result<String> {
        descend(self.base.stream(budget)?, Some(&self.base), &self.members, budget, read)
    }

    /// Returns a part of the document without reading what precedes it; `None` where that is not possible, because the document is
    /// packed or not in UTF-8.
    pub(in crate::source) fn part(&self, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        match &self.base {
            _ if !self.members.is_empty() => Ok(None),
            Content::File(path) => part(File::open(path)?, offset, length),
            Content::Memory(bytes) => part(Cursor::new(&***bytes), offset, length),
            Content::Made(_) => Ok(None),
        }
    }
}

fn part(mut reader: impl Read + Seek, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    reader.by_ref().take(512).read_to_end(&mut head)?;
    if !archive::is_plain(&head) || head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Ok(None);
    }
    let mark = if head.starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 };
    reader.seek(SeekFrom::Start(mark + offset))?;
    // Room is made as far as memory allows, instead of the program's end.
    let mut text = Vec::new();
    if reader.take(length as u64).read_to_end(&mut text)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(text))
}

fn descend(
    stream: Stream<'_>,
    base: Option<&Content>,
    members: &[u32],
    budget: &Budget,
    read: &mut dyn FnMut(Stream<'_>) -> io::Result<String>,
) -> io::Result<String> {
    let Some((member, inward)) = members.split_first() else { return read(stream) };
    let mut found = None;
    archive::members(stream, base, budget, Some(*member), &mut |_, head, reader| {
        found = Some(descend(archive::open(reader, head.size, budget), None, inward, budget, read));
        false
    })?;
    found.unwrap_or_else(|| Err(io::Error::new(io::ErrorKind::NotFound, "the archive no longer holds it")))
}

/// A document to read.
#[derive(Clone, Debug)]
pub(in crate::source) struct Document {
    pub(in crate::source) name: String,
    /// The path below its input, with `/` as the separator; layouts are detected by it.
    pub(in crate::source) path: String,
    pub(in crate::source) content: Content,
    /// It was found in a directory, not named by the user. It is skipped if it holds no objects.
    pub(in crate::source) found: bool,
    /// The index of its input.
    pub(in crate::source) input: usize,
}

/// Text opened for reading, as UTF-8 without a byte order mark.
pub(in crate::source) struct Opened<'a> {
    pub(in crate::source) reader: BoxRead<'a>,
    /// The number of bytes, if known, which bounds the memory reserved.
    pub(in crate::source) size: Option<u64>,
}

impl<'a> Opened<'a> {
    pub(in crate::source) fn new(stream: Stream<'a>) -> io::Result<Self> {
        let (reader, size) = without_mark(stream.reader, stream.size)?;
        Ok(Self { reader, size })
    }
}

/// Returns the first bytes of a stream (fewer if it is shorter), and the stream still with them.
pub(in crate::source) fn peek(mut reader: BoxRead<'_>, count: usize) -> (Vec<u8>, BoxRead<'_>) {
    let mut head = Vec::with_capacity(count);
    match reader.by_ref().take(count as u64).read_to_end(&mut head) {
        Ok(_) => (head.clone(), Box::new(Cursor::new(head).chain(reader))),
        // A compressed stream may break off at its very start; later reads return the error.
        Err(error) => (head.clone(), broken_behind(head, error)),
    }
}

/// Returns a stream of these bytes and then the error.
pub(in crate::source) fn broken_behind<'a>(bytes: Vec<u8>, error: io::Error) -> BoxRead<'a> {
    Box::new(Cursor::new(bytes).chain(Broken(Some(error))))
}

/// The end of a stream that returns an error.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Removes a UTF-8 byte order mark, and converts UTF-16, which Windows shells write, to UTF-8.
fn without_mark(reader: BoxRead<'_>, size: Option<u64>) -> io::Result<(BoxRead<'_>, Option<u64>)> {
    let (head, mut reader) = peek(reader, 3);
    let decode: fn([u8; 2]) -> u16 = match head.as_slice() {
        [0xef, 0xbb, 0xbf] => {
            reader.read_exact(&mut [0; 3])?;
            return Ok((reader, size));
        }
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return Ok((reader, size)),
    };
    reader.read_exact(&mut [0; 2])?;
    Ok((Box::new(Utf16 { reader, decode, bytes: Vec::new(), units: Vec::new(), text: Vec::new(), read: 0, is_at_end: false }), None))
}

/// Bytes of UTF-16 that are converted at once.
const UTF16_PART: u64 = 64 << 10;

/// UTF-16 that is converted to UTF-8 while it is read. Each unit that is none of a character becomes U+FFFD.
struct Utf16<'a> {
    reader: BoxRead<'a>,
    decode: fn([u8; 2]) -> u16,
    /// Half of a unit.
    bytes: Vec<u8>,
    /// Half of a pair of units.
    units: Vec<u16>,
    text: Vec<u8>,
    /// The bytes of `text` that were read.
    read: usize,
    is_at_end: bool,
}

impl Utf16<'_> {
    /// Converts the next part.
    fn convert(&mut self) -> io::Result<()> {
        let count = self.reader.by_ref().take(UTF16_PART).read_to_end(&mut self.bytes)?;
        self.is_at_end = count == 0;
        if self.is_at_end && !self.bytes.is_empty() {
            self.bytes.clear();
            self.units.push(0xdc00);
        }
        let (pairs, rest) = self.bytes.as_chunks::<2>();
        self.units.extend(pairs.iter().map(|pair| (self.decode)(*pair)));
        self.bytes = rest.to_vec();
        let half = self.units.pop_if(|last| !self.is_at_end && (0xd800..0xdc00).contains(last));
        self.text = String::from_utf16_lossy(&self.units).into_bytes();
        self.units = half.into_iter().collect();
        self.read = 0;
        Ok(())
    }
}

impl Read for Utf16<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() && !self.is_at_end {
            self.convert()?;
        }
        let count = (&self.text[self.read..]).read(out)?;
        self.read += count;
        Ok(count)
    }
}

/// Bytes at the start of standard input that show whether it is binary.
const INPUT_HEAD: usize = 4096;

/// Returns the bytes of standard input, or its start if that is neither text nor packed; an error if it has more than `limit` bytes.
fn read_input(input: &mut dyn Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(INPUT_HEAD as u64).read_to_end(&mut bytes)?;
    let is_marked = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_binary(&bytes) && !is_marked && archive::is_plain(&bytes) {
        return Ok(bytes);
    }
    let left = (limit + 1).saturating_sub(bytes.len() as u64);
    input.take(left).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("has more than {}; name a file instead", size(limit))));
    }
    Ok(bytes)
}

/// The files found below the inputs.
#[derive(Debug, Default)]
pub(in crate::source) struct Found {
    pub(in crate::source) documents: Vec<Document>,
    /// Files and directories that could not be opened, with the error.
    pub(in crate::source) failed: Vec<Failed>,
    /// Hidden files and directories, which are not read.
    pub(in crate::source) hidden: Vec<String>,
    /// Files in hidden directories.
    pub(in crate::source) in_hidden: Vec<String>,
    /// Links that lead out of the given directory and are not followed.
    pub(in crate::source) led_out: Vec<LedOut>,
    /// Pipes, devices and sockets, which are not read.
    pub(in crate::source) special: Vec<String>,
}

/// A file or directory that could not be opened.
#[derive(Debug)]
pub(in crate::source) struct Failed {
    pub(in crate::source) path: String,
    pub(in crate::source) error: io::Error,
    /// It was found in a directory, not named by the user.
    pub(in crate::source) found: bool,
    /// It is a directory.
    pub(in crate::source) is_directory: bool,
}

/// A link that leads out of the given directory.
#[derive(Debug)]
pub(in crate::source) struct LedOut {
    pub(in crate::source) path: String,
    /// It leads to a directory.
    pub(in crate::source) is_directory: bool,
}

/// The walk through one given directory.
struct DirectoryWalk {
    input: usize,
    /// Its real path, which links must not leave.
    root: PathBuf,
    /// Real paths visited so far: links may form cycles or lead to one place many times.
    seen: HashSet<PathBuf>,
}

impl Found {
    /// Lists the documents of `inputs` in order; reads standard input.
    pub(in crate::source) fn new(inputs: &[Input]) -> Self {
        let mut found = Self::default();
        for (number, input) in inputs.iter().enumerate() {
            match input {
                Input::Stdin => found.add_stdin(number),
                Input::Path(path) if path.as_os_str() == "-" => found.add_stdin(number),
                Input::Path(path) if path.is_dir() => match path.canonicalize() {
                    Ok(root) => {
                        let mut walk = DirectoryWalk { input: number, seen: HashSet::from([root.clone()]), root: root.clone() };
                        found.walk(path, &root, "", &mut walk);
                    }
                    Err(error) => found.fail(path.display().to_string(), error, false, true),
                },
                Input::Path(path) => found.add_named(number, path.display().to_string(), Content::File(path.clone())),
                Input::Bytes { name, bytes } => found.add_named(number, name.clone(), Content::Memory(Arc::new(bytes.clone()))),
                Input::Text { name, text } => found.add_named(number, name.clone(), Content::Made(Arc::clone(text))),
            }
        }
        found
    }

    fn add_named(&mut self, input: usize, name: String, content: Content) {
        let path = Path::new(&name).file_name().map_or_else(|| name.clone(), |n| n.to_string_lossy().into_owned());
        self.documents.push(Document { name, path, content, found: false, input });
    }

    fn add_stdin(&mut self, input: usize) {
        match read_input(&mut io::stdin().lock(), STDIN) {
            Ok(bytes) => self.add_named(input, "-".to_owned(), Content::Memory(Arc::new(bytes.into()))),
            Err(error) => self.fail("-".to_owned(), error, false, false),
        }
    }

    fn fail(&mut self, path: String, error: io::Error, found: bool, is_directory: bool) {
        self.failed.push(Failed { path, error, found, is_directory });
    }

    /// Adds the names of the files in a hidden directory, which may be those of a dump.
    fn add_hidden_files(&mut self, path: &Path) {
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
            && let Ok(entries) = std::fs::read_dir(path)
        {
            let files = entries.take(HIDDEN_FILES).filter_map(Result::ok);
            self.in_hidden.extend(files.map(|file| file.path().display().to_string()));
        }
    }

    /// Adds the files below a directory in name order. `real` is its real path, `below` its path under the input.
    fn walk(&mut self, directory: &Path, real: &Path, below: &str, walk: &mut DirectoryWalk) {
        let entries = std::fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.fail(directory.display().to_string(), error, !below.is_empty(), true),
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with('.') {
                self.hidden.push(entry.path().display().to_string());
                self.add_hidden_files(&entry.path());
                continue;
            }
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let target = if is_link { path.canonicalize() } else { Ok(real.join(&name)) };
            let (target, meta) = match target.and_then(|target| path.metadata().map(|meta| (target, meta))) {
                Ok(found) => found,
                Err(error) => {
                    self.fail(path.display().to_string(), error, true, false);
                    continue;
                }
            };
            if !target.starts_with(&walk.root) {
                self.led_out.push(LedOut { path: path.display().to_string(), is_directory: meta.is_dir() });
                continue;
            }
            if !walk.seen.insert(target.clone()) {
                continue;
            }
            let below = if below.is_empty() { name.to_string_lossy().into_owned() } else { format!("{below}/{}", name.to_string_lossy()) };
            if meta.is_dir() {
                self.walk(&path, &target, &below, walk);
            } else if meta.is_file() {
                let name = path.display().to_string();
                self.documents.push(Document { name, path: below, content: Content::File(path), found: true, input: walk.input });
            } else {
                self.special.push(path.display().to_string());
            }
        }
    }
}

/// Returns whether text starts like a binary file.
pub(in crate::source) fn is_binary(start: &[u8]) -> bool {
    let start = &start[..start.len().min(4096)];
    let strange = start.iter().filter(|b| **b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x1e)).count();
    // A few control characters do not make text binary: the object that holds them is reported.
    strange > 8 && strange * 50 > start.len()
}

#[cfg(test)]
mod tests;
