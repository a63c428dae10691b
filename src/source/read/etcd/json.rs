//! Writes a stored object as the JSON that an API server gives for it.

use std::io::Write as _;

use jiff::Timestamp;

use super::schema::{Field, Message, Presence, Schema, Shape, Type};
use super::wire::{Fields, Wire, varint};

/// Why an object cannot be written: the field, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Flaw {
    /// The path of the field from its end.
    path: Vec<&'static str>,
    what: &'static str,
}

impl Flaw {
    fn new(what: &'static str) -> Self {
        Self { path: Vec::new(), what }
    }

    fn within(mut self, field: &Field) -> Self {
        self.path.extend(field.name);
        self
    }
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path: Vec<&str> = self.path.iter().rev().copied().collect();
        if path.is_empty() { f.write_str(self.what) } else { write!(f, "{}: {}", path.join("."), self.what) }
    }
}

/// Writes an object of the message `of`, with its type and its `resourceVersion`.
pub(super) fn object(out: &mut Vec<u8>, schema: &Schema, of: usize, head: &Head<'_>, bytes: &[u8]) -> Result<(), Flaw> {
    head.begin(out);
    let mut writer = Writer { schema, found: Vec::new(), version: Some(head.version) };
    writer.fields(out, of, bytes, &mut false)?;
    out.push(b'}');
    Ok(())
}

/// Writes only the type and the metadata of an object whose message is not in the table.
pub(super) fn metadata(out: &mut Vec<u8>, schema: &Schema, head: &Head<'_>, bytes: &[u8]) -> Result<(), Flaw> {
    head.begin(out);
    let metadata = Fields::new(bytes).find_map(|field| match field {
        Ok((1, Wire::Bytes(bytes))) => Some(bytes),
        _ => None,
    });
    out.extend(b",\"metadata\":{");
    head.resource_version(out);
    let mut writer = Writer { schema, found: Vec::new(), version: None };
    writer.fields(out, schema.object_meta, metadata.unwrap_or_default(), &mut false)?;
    out.extend(b"}}");
    Ok(())
}

/// The type of an object, and the revision of its last change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    pub(super) version: u64,
}

impl Head<'_> {
    fn begin(&self, out: &mut Vec<u8>) {
        out.extend(b"{\"apiVersion\":");
        text(out, self.api_version.as_bytes());
        out.extend(b",\"kind\":");
        text(out, self.kind.as_bytes());
    }

    fn resource_version(&self, out: &mut Vec<u8>) {
        write_version(out, self.version);
    }
}

fn write_version(out: &mut Vec<u8>, version: u64) {
    let _ = write!(out, "\"resourceVersion\":\"{version}\"");
}

struct Writer<'a, 's> {
    schema: &'s Schema,
    /// Fields of the messages being written, each by its place in its message.
    found: Vec<(u16, Wire<'a>)>,
    /// The `resourceVersion` that the next metadata gets.
    version: Option<u64>,
}

impl<'a, 's> Writer<'a, 's> {
    /// Writes the fields of a message, without braces. `first` is false where a comma precedes them.
    fn fields(&mut self, out: &mut Vec<u8>, of: usize, bytes: &'a [u8], first: &mut bool) -> Result<(), Flaw> {
        let message: &'s Message = &self.schema.messages[of];
        let start = self.found.len();
        for field in Fields::new(bytes) {
            let (number, value) = field.map_err(|_| Flaw::new("is malformed"))?;
            // A field that the table does not have is of a newer release, and nothing reads it.
            if let Some(place) = message.fields.iter().position(|field| field.number == number) {
                self.found.push((place as u16, value));
            }
        }
        self.found[start..].sort_by_key(|(place, _)| *place);
        let end = self.found.len();
        let mut next = start;
        for (place, field) in message.fields.iter().enumerate() {
            let from = next;
            while next < end && usize::from(self.found[next].0) == place {
                next += 1;
            }
            self.field(out, field, from, next, first).map_err(|flaw| flaw.within(field))?;
        }
        self.found.truncate(start);
        Ok(())
    }

    /// Writes a field, whose values are those found from one index to another.
    fn field(&mut self, out: &mut Vec<u8>, field: &Field, from: usize, to: usize, first: &mut bool) -> Result<(), Flaw> {
        let value = (from < to).then(|| self.found[to - 1].1);
        let Some(name) = field.name else {
            return match (field.of, value, field.presence) {
                (_, None, Presence::NotEmpty) => Ok(()),
                (Type::Message(of), value, _) => self.fields(out, of, bytes_of(value.unwrap_or(Wire::Bytes(&[])))?, first),
                _ => Ok(()),
            };
        };
        let (length, was_first) = (out.len(), *first);
        if !std::mem::replace(first, false) {
            out.push(b',');
        }
        text(out, name.as_bytes());
        out.push(b':');
        let written = match field.shape {
            Shape::One => self.one(out, field, value)?,
            Shape::List => self.list(out, field.of, from, to)?,
            Shape::Map => self.map(out, field.of, from, to)?,
        };
        if !written {
            out.truncate(length);
            *first = was_first;
        }
        Ok(())
    }

    fn one(&mut self, out: &mut Vec<u8>, field: &Field, value: Option<Wire<'a>>) -> Result<bool, Flaw> {
        let empty = match field.of {
            Type::Text | Type::Message(_) | Type::Quantity | Type::Time | Type::MicroTime | Type::IntOrString | Type::Json => {
                Wire::Bytes(&[])
            }
            Type::Integer | Type::Bool => Wire::Varint(0),
            Type::Float => Wire::Fixed64(0),
        };
        let value = match (value, field.presence) {
            (None, Presence::Default(text)) => Wire::Bytes(text.as_bytes()),
            (Some(value), Presence::Default(text)) if value == empty => Wire::Bytes(text.as_bytes()),
            (None, Presence::Always) => empty,
            (None, _) => return Ok(false),
            (Some(value), Presence::NotEmpty) if value == empty && !matches!(field.of, Type::Message(_)) => return Ok(false),
            (Some(value), _) => value,
        };
        self.value(out, field.of, value)
    }

    fn list(&mut self, out: &mut Vec<u8>, of: Type, from: usize, to: usize) -> Result<bool, Flaw> {
        out.push(b'[');
        let mut some = false;
        for at in from..to {
            let value = self.found[at].1;
            match (of, value) {
                (Type::Integer | Type::Bool, Wire::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        let number = varint(&mut packed).ok_or(Flaw::new("is malformed"))?;
                        comma(out, &mut some);
                        self.value(out, of, Wire::Varint(number))?;
                    }
                }
                _ => {
                    comma(out, &mut some);
                    if !self.value(out, of, value)? {
                        out.extend(b"null");
                    }
                }
            }
        }
        out.push(b']');
        Ok(some)
    }

    /// Writes a map by its keys in order. The last value of a key counts.
    fn map(&mut self, out: &mut Vec<u8>, of: Type, from: usize, to: usize) -> Result<bool, Flaw> {
        let mut entries = Vec::with_capacity(to - from);
        for at in from..to {
            let (mut key, mut value) = (&[][..], None);
            for field in Fields::new(bytes_of(self.found[at].1)?) {
                match field.map_err(|_| Flaw::new("is malformed"))? {
                    (1, wire) => key = bytes_of(wire)?,
                    (2, wire) => value = Some(wire),
                    _ => {}
                }
            }
            entries.push((key, value));
        }
        entries.sort_by(|a, b| a.0.cmp(b.0));
        out.push(b'{');
        let mut some = false;
        for (at, (key, value)) in entries.iter().enumerate() {
            if entries.get(at + 1).is_some_and(|(next, _)| next == key) {
                continue;
            }
            comma(out, &mut some);
            text(out, key);
            out.push(b':');
            if !self.value(out, of, value.unwrap_or(Wire::Bytes(&[])))? {
                out.extend(b"null");
            }
        }
        out.push(b'}');
        Ok(some)
    }

    /// Writes a value; returns false if it has no form in JSON, as a time that was never set.
    fn value(&mut self, out: &mut Vec<u8>, of: Type, value: Wire<'a>) -> Result<bool, Flaw> {
        match of {
            Type::Text => text(out, bytes_of(value)?),
            Type::Integer => {
                let _ = write!(out, "{}", number_of(value)? as i64);
            }
            Type::Bool => out.extend(if number_of(value)? == 0 { &b"false"[..] } else { b"true" }),
            Type::Float => match value {
                Wire::Fixed64(bits) if f64::from_bits(bits).is_finite() => {
                    let _ = write!(out, "{}", f64::from_bits(bits));
                }
                _ => return Err(Flaw::new("is no number")),
            },
            Type::Quantity => match part(bytes_of(value)?, 1)? {
                Some(quantity) => text(out, bytes_of(quantity)?),
                None => text(out, b"0"),
            },
            Type::Time => return time(out, bytes_of(value)?, 0),
            Type::MicroTime => return time(out, bytes_of(value)?, 6),
            Type::IntOrString => {
                let bytes = bytes_of(value)?;
                match part(bytes, 1)?.map(number_of).transpose()?.unwrap_or(0) {
                    0 => {
                        let number = part(bytes, 2)?.map(number_of).transpose()?.unwrap_or(0);
                        let _ = write!(out, "{}", number as i64);
                    }
                    _ => text(out, part(bytes, 3)?.map(bytes_of).transpose()?.unwrap_or_default()),
                }
            }
            Type::Json => match part(bytes_of(value)?, 1)?.map(bytes_of).transpose()? {
                None | Some([]) => return Ok(false),
                Some(json) => {
                    let valid: &serde_json::value::RawValue = serde_json::from_slice(json).map_err(|_| Flaw::new("is not JSON"))?;
                    out.extend(valid.get().as_bytes());
                }
            },
            Type::Message(of) => {
                out.push(b'{');
                let mut first = true;
                if of == self.schema.object_meta
                    && let Some(version) = self.version.take()
                {
                    write_version(out, version);
                    first = false;
                }
                self.fields(out, of, bytes_of(value)?, &mut first)?;
                out.push(b'}');
            }
        }
        Ok(true)
    }
}

fn comma(out: &mut Vec<u8>, some: &mut bool) {
    if std::mem::replace(some, true) {
        out.push(b',');
    }
}

fn bytes_of(value: Wire<'_>) -> Result<&[u8], Flaw> {
    match value {
        Wire::Bytes(bytes) => Ok(bytes),
        _ => Err(Flaw::new("is a number instead of bytes")),
    }
}

fn number_of(value: Wire<'_>) -> Result<u64, Flaw> {
    match value {
        Wire::Varint(number) => Ok(number),
        _ => Err(Flaw::new("is not a number")),
    }
}

/// Returns the last value of a field of a message.
fn part(bytes: &[u8], number: u32) -> Result<Option<Wire<'_>>, Flaw> {
    let mut found = None;
    for field in Fields::new(bytes) {
        let (of, value) = field.map_err(|_| Flaw::new("is malformed"))?;
        if of == number {
            found = Some(value);
        }
    }
    Ok(found)
}

/// Writes a time in RFC 3339 with a number of decimals; returns false for a time that was never set.
fn time(out: &mut Vec<u8>, bytes: &[u8], decimals: usize) -> Result<bool, Flaw> {
    if bytes.is_empty() {
        return Ok(false);
    }
    let number = |of: u32| Ok(part(bytes, of)?.map(number_of).transpose()?.unwrap_or(0) as i64);
    let nanos = i32::try_from(number(2)?).map_err(|_| Flaw::new("is no time"))?;
    let time = Timestamp::new(number(1)?, nanos).map_err(|_| Flaw::new("is no time"))?;
    let _ = if decimals == 0 { write!(out, "\"{}\"", time.strftime("%Y-%m-%dT%H:%M:%SZ")) } else { write!(out, "\"{time:.decimals$}\"") };
    Ok(true)
}

/// Writes text as a JSON string. Bytes that are not UTF-8 are replaced, as an API server does.
pub(super) fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    // Writing into a vector cannot fail.
    let _ = serde_json::to_writer(&mut *out, &*String::from_utf8_lossy(bytes));
}
