//! Opening inputs: files and directories, standard input, embedded text; plain or gzip, UTF-8 or UTF-16.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

/// Something to load.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file, or a directory whose files are read in name order; `-` is standard input.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Text that is there already, such as an embedded story.
    Bytes {
        /// The name that diagnostics use.
        name: String,
        /// The text; gzip is fine too.
        bytes: Cow<'static, [u8]>,
    },
}

/// One stretch of text to load; it can be opened more than once.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) name: String,
    pub(super) content: Content,
    /// Found in a directory, not named by the user: what is no text is passed over.
    pub(super) found: bool,
}

/// Where a document's bytes are.
#[derive(Clone, Debug)]
pub(super) enum Content {
    File(PathBuf),
    Memory(Cow<'static, [u8]>),
}

/// A document opened for reading.
pub(super) struct Opened<'a> {
    pub(super) reader: Box<dyn Read + Send + 'a>,
    /// How many bytes there are, where that is known: reading need not take more memory than that.
    pub(super) size: Option<u64>,
}

const GZIP: [u8; 2] = [0x1f, 0x8b];

impl Document {
    /// Opens the document from its start, decompressed and as UTF-8 without a byte order mark.
    pub(super) fn open(&self) -> io::Result<Opened<'_>> {
        let (raw, size): (Box<dyn Read + Send + '_>, u64) = match &self.content {
            Content::File(path) => {
                let file = File::open(path)?;
                let size = file.metadata()?.len();
                (Box::new(file), size)
            }
            Content::Memory(bytes) => (Box::new(Cursor::new(&**bytes)), bytes.len() as u64),
        };
        let (head, reader) = peek(raw, 2);
        let (reader, size): (Box<dyn Read + Send + '_>, _) =
            if head == GZIP { (Box::new(MultiGzDecoder::new(reader)), None) } else { (reader, Some(size)) };
        let (reader, size) = without_mark(reader, size)?;
        Ok(Opened { reader, size })
    }
}

type BoxRead<'a> = Box<dyn Read + Send + 'a>;

/// The first bytes of a stream (fewer where it is shorter), and the stream with them still in it.
fn peek(mut reader: BoxRead<'_>, count: usize) -> (Vec<u8>, BoxRead<'_>) {
    let mut head = Vec::with_capacity(count);
    match reader.by_ref().take(count as u64).read_to_end(&mut head) {
        Ok(_) => (head.clone(), Box::new(Cursor::new(head).chain(reader))),
        // A compressed stream may break off right at its start: whoever reads on finds out.
        Err(error) => (head.clone(), Box::new(Cursor::new(head).chain(Broken(Some(error))))),
    }
}

/// The end of a stream that broke.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Drops a UTF-8 byte order mark; turns UTF-16, which a shell on Windows may write, into UTF-8.
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
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    let units: Vec<u16> = bytes[2..].as_chunks::<2>().0.iter().map(|pair| decode(*pair)).collect();
    let text = String::from_utf16_lossy(&units).into_bytes();
    let size = text.len() as u64;
    Ok((Box::new(Cursor::new(text)), Some(size)))
}

/// What was found below the inputs.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) documents: Vec<Document>,
    /// Files of other sorts in directories, not looked into.
    pub(super) passed_over: Vec<String>,
    /// What could not be opened, and why.
    pub(super) failed: Vec<(String, io::Error)>,
}

impl Found {
    /// Lists the documents of `inputs` in order; standard input is read here.
    pub(super) fn new(inputs: &[Input]) -> Self {
        let mut found = Self::default();
        for input in inputs {
            match input {
                Input::Stdin => found.add_stdin(),
                Input::Path(path) if path.as_os_str() == "-" => found.add_stdin(),
                Input::Path(path) if path.is_dir() => found.walk(path, &mut Vec::new()),
                Input::Path(path) => {
                    let (name, content) = (path.display().to_string(), Content::File(path.clone()));
                    found.documents.push(Document { name, content, found: false });
                }
                Input::Bytes { name, bytes } => {
                    found.documents.push(Document { name: name.clone(), content: Content::Memory(bytes.clone()), found: false });
                }
            }
        }
        found
    }

    fn add_stdin(&mut self) {
        let mut bytes = Vec::new();
        match io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => self.documents.push(Document { name: "-".to_owned(), content: Content::Memory(bytes.into()), found: false }),
            Err(error) => self.failed.push(("-".to_owned(), error)),
        }
    }

    /// Adds the files below a directory in name order; `above` are the directories that lead here, by their real paths,
    /// so that a link cannot lead round in a circle.
    fn walk(&mut self, directory: &Path, above: &mut Vec<PathBuf>) {
        let real = directory.canonicalize();
        let entries = std::fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let (real, mut entries) = match (real, entries) {
            (Ok(real), Ok(entries)) => (real, entries),
            (Err(error), _) | (_, Err(error)) => {
                self.failed.push((directory.display().to_string(), error));
                return;
            }
        };
        if above.contains(&real) {
            return;
        }
        above.push(real);
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for path in entries.into_iter().map(|e| e.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            match path.metadata() {
                Ok(meta) if meta.is_dir() => self.walk(&path, above),
                Ok(meta) if meta.is_file() && may_hold_objects(&name) => {
                    self.documents.push(Document { name: path.display().to_string(), content: Content::File(path), found: true });
                }
                Ok(_) => self.passed_over.push(path.display().to_string()),
                Err(error) => self.failed.push((path.display().to_string(), error)),
            }
        }
        above.pop();
    }
}

/// Whether a file in a directory is worth opening, by its name: dumps also hold logs and other long text.
fn may_hold_objects(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    Path::new(name)
        .extension()
        .is_none_or(|ending| ["json", "yaml", "yml", "jsonl", "ndjson"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Whether text starts like something binary.
pub(super) fn is_binary(start: &[u8]) -> bool {
    let start = &start[..start.len().min(4096)];
    let strange = start.iter().filter(|b| **b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x1e)).count();
    // A stray control character makes no text binary: the object that holds it is reported.
    strange > 8 && strange * 50 > start.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: Vec<u8>) -> String {
        let document = Document { name: "x".into(), content: Content::Memory(bytes.into()), found: false };
        let mut text = String::new();
        document.open().unwrap().reader.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn opens_plain_gzip_and_utf16_text_alike() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all("\u{feff}kind: Pod".as_bytes()).unwrap();
        let mut gzip = gzip.finish().unwrap();
        assert_eq!(read(gzip.clone()), "kind: Pod");
        // gzip files may be joined.
        let mut more = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        more.write_all(b"\n---").unwrap();
        gzip.extend(more.finish().unwrap());
        assert_eq!(read(gzip), "kind: Pod\n---");
        let le: Vec<u8> = "\u{feff}kind: Pöd".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = "\u{feff}kind: Pöd".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!((read(le), read(be)), ("kind: Pöd".into(), "kind: Pöd".into()));
        for short in ["", "a", "ab", "\u{feff}"] {
            assert_eq!(read(short.into()), short.trim_start_matches('\u{feff}'));
        }
    }

    #[test]
    fn names_tell_what_to_open() {
        for (name, expected) in [
            ("a.json", true),
            ("a.YAML", true),
            ("a.yml.gz", true),
            ("dump", true),
            ("logs.txt", false),
            ("a.tar.gz", false),
            ("a.log", false),
        ] {
            assert_eq!(may_hold_objects(name), expected, "{name}");
        }
    }
}
