//! Reads manifests: the files that `kubectl apply -f` takes, as JSON objects with their places.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::decode::{is_too_deep, may_expand_too_far};
use crate::admission::remove_nulls;
use crate::limits::sources::{MANIFEST, MANIFEST_OBJECTS};
use crate::plural::count;

#[derive(Clone, Debug, PartialEq)]
pub struct ManifestObject {
    /// The object. Fields that are null are left out, as an API server does.
    pub value: Value,
    /// Where it is.
    pub place: ManifestPlace,
}

/// The place of an object or error in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestPlace {
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
}

impl std::fmt::Display for ManifestPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 { f.write_str(&self.file) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}

/// Why a manifest cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ManifestError {
    /// Where it is.
    pub place: ManifestPlace,
    /// The error.
    pub message: String,
}

/// Reads files, folders (their own files that end in `.yaml`, `.yml` or `.json`) and `-` for standard input.
///
/// # Errors
/// When something cannot be read, or is no object with `apiVersion`, `kind` and `metadata.name`; all such errors of a manifest.
pub fn read_manifests(paths: &[PathBuf]) -> Result<Vec<ManifestObject>, Vec<ManifestError>> {
    let mut reading = Reading { left: MANIFEST, most: MANIFEST_OBJECTS, ..Reading::default() };
    for path in paths {
        reading.path(path);
    }
    if reading.objects.is_empty() && reading.errors.is_empty() {
        let file = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        reading.error(&file, 0, "contains no objects".to_owned());
    }
    if reading.errors.is_empty() { Ok(reading.objects) } else { Err(reading.errors) }
}

#[derive(Default)]
struct Reading {
    objects: Vec<ManifestObject>,
    errors: Vec<ManifestError>,
    /// Bytes that may still be read.
    left: u64,
    /// Number of objects that are read at most.
    most: usize,
}

impl Reading {
    fn error(&mut self, file: &str, line: usize, message: String) {
        self.errors.push(ManifestError { place: ManifestPlace { file: file.to_owned(), line }, message });
    }

    fn path(&mut self, path: &Path) {
        let name = path.display().to_string();
        if name == "-" {
            return self.stream("standard input", io::stdin().lock());
        }
        if name.starts_with("http://") || name.starts_with("https://") {
            return self.error(&name, 0, "is a URL, and nothing is fetched: download it, or pipe it to -f -".to_owned());
        }
        match fs::metadata(path) {
            Err(error) => self.error(&name, 0, format!("cannot be read: {error}")),
            Ok(about) if about.is_dir() => self.folder(path, &name),
            Ok(about) => match open(path, &about) {
                Ok(file) => self.stream(&name, file),
                Err(error) => self.error(&name, 0, format!("cannot be read: {error}")),
            },
        }
    }

    /// Reads the manifests of a folder, by name. Folders in it are left out, as kubectl does without `-R`.
    fn folder(&mut self, path: &Path, name: &str) {
        let entries = match fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.error(name, 0, format!("cannot be read: {error}")),
        };
        // Anything but a regular file is refused by name, rather than left out.
        let is_manifest =
            |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json") && !path.is_dir();
        let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(is_manifest).collect();
        files.sort();
        if files.is_empty() {
            self.error(name, 0, "has no files that end in .yaml, .yml or .json".to_owned());
        }
        for file in &files {
            self.path(file);
        }
    }

    fn stream(&mut self, name: &str, reader: impl Read) {
        let mut bytes = Vec::new();
        if let Err(error) = reader.take(self.left + 1).read_to_end(&mut bytes) {
            return self.error(name, 0, format!("cannot be read: {error}"));
        }
        let length = bytes.len() as u64;
        if length > self.left {
            self.left = 0;
            return self.error(name, 0, format!("manifests are longer than {} MiB together", MANIFEST >> 20));
        }
        self.left -= length;
        self.text(name, bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
    }

    fn text(&mut self, name: &str, text: &[u8]) {
        if text.trim_ascii_start().starts_with(b"{") && self.json(name, text) {
            return;
        }
        let Ok(text) = std::str::from_utf8(text) else { return self.error(name, 0, "is not UTF-8 text".to_owned()) };
        let mut start = 0;
        let (mut line, mut first) = (0, 0);
        for piece in text.split_inclusive('\n') {
            let is_mark = piece.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
            if is_mark {
                let at = piece.as_ptr() as usize - text.as_ptr() as usize;
                self.yaml(name, &text[start..at], first);
                // Text may follow the mark on its line.
                (start, first) = (at + 3, line);
            }
            line += 1;
        }
        self.yaml(name, &text[start..], first);
    }

    /// Reads JSON objects, one after another. Returns false if the text is not JSON, and may be YAML in flow style.
    fn json(&mut self, name: &str, text: &[u8]) -> bool {
        let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
        let mut found = Vec::new();
        loop {
            let start = stream.byte_offset();
            let start = start + text[start..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match stream.next() {
                Some(Ok(value)) => found.push((line_of(text, start), value)),
                Some(Err(_)) if serde_yaml::Deserializer::from_slice(text).all(|doc| serde::de::IgnoredAny::deserialize(doc).is_ok()) => {
                    return false;
                }
                Some(Err(error)) => {
                    let full = error.to_string();
                    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message).to_owned();
                    self.error(name, error.line(), message);
                    return true;
                }
                None => break,
            }
        }
        for (line, value) in found {
            self.object(name, line, value);
        }
        true
    }

    /// Reads a YAML document that starts after `before` lines.
    fn yaml(&mut self, name: &str, text: &str, before: usize) {
        let blank = text.lines().take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#')).count();
        let line = before + blank + 1;
        if text.lines().count() == blank {
            return;
        }
        if is_too_deep(text.as_bytes()) {
            return self.error(name, line, "brackets are nested too deeply".to_owned());
        }
        if may_expand_too_far(text.as_bytes()) {
            return self.error(name, line, "its aliases expand to too much".to_owned());
        }
        let parsed = serde_yaml::Value::deserialize(serde_yaml::Deserializer::from_str(text)).and_then(|mut value| {
            value.apply_merge()?;
            Ok(value)
        });
        match parsed {
            Err(error) => {
                let at = error.location().map_or(line, |at| before + at.line());
                let full = error.to_string();
                let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message).to_owned();
                self.error(name, at, message);
            }
            Ok(value) => match serde_json::to_value(value) {
                Ok(value) => self.object(name, line, value),
                Err(error) => self.error(name, line, error.to_string()),
            },
        }
    }

    /// Takes an object, or the items of a list.
    fn object(&mut self, name: &str, line: usize, mut value: Value) {
        remove_nulls(&mut value);
        if value.is_null() {
            return;
        }
        let Some(object) = value.as_object_mut() else {
            return self.error(name, line, "is not an object".to_owned());
        };
        let text = |object: &serde_json::Map<String, Value>, field: &str| {
            object.get(field).and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
        };
        let kind = text(object, "kind");
        if kind.as_deref().is_some_and(|kind| kind.ends_with("List"))
            && let Some(Value::Array(items)) = object.remove("items")
        {
            for item in items {
                self.object(name, line, item);
            }
            return;
        }
        let lacks = match (&kind, text(object, "apiVersion")) {
            (None, _) => "has no kind",
            (_, None) => "has no apiVersion",
            _ if object.get("metadata").is_some_and(|metadata| !metadata.is_object()) => "has metadata that is not an object",
            _ => {
                let metadata = object.get("metadata").and_then(Value::as_object);
                let is_named = metadata.is_some_and(|metadata| text(metadata, "name").or_else(|| text(metadata, "generateName")).is_some());
                if is_named { "" } else { "has no metadata.name" }
            }
        };
        if !lacks.is_empty() {
            return self.error(name, line, format!("{}{lacks}", kind.map(|kind| format!("{kind} ")).unwrap_or_default()));
        }
        if self.objects.len() == self.most {
            if !self.errors.iter().any(|error| error.message.starts_with("has more than")) {
                self.error(name, line, format!("has more than {}", count(self.most, "object")));
            }
            return;
        }
        self.objects.push(ManifestObject { value, place: ManifestPlace { file: name.to_owned(), line } });
    }
}

/// Opens a file, or a pipe that a shell has opened: another pipe may never have a writer.
fn open(path: &Path, about: &fs::Metadata) -> io::Result<fs::File> {
    let is_open = ["/dev/fd", "/proc/self/fd", "/dev/stdin"].iter().any(|open| path.starts_with(open));
    if !is_open && !about.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    fs::File::open(path)
}

/// Returns the line of a byte, from 1.
fn line_of(text: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text[..at.min(text.len())]).count() + 1
}

#[cfg(test)]
mod tests;
