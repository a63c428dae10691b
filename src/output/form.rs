//! Formats for programs and tickets. Characters that are not plain are written in the format's own escapes.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::Text;
use super::escape::is_plain;

/// JSON on one line, in which every character that is not plain is written as `\uXXXX`.
pub type Json = Safe<CompactFormatter>;

/// JSON over several lines, with the same escapes.
pub type PrettyJson = Safe<PrettyFormatter<'static>>;

/// A JSON formatter that escapes every character that is not plain.
#[derive(Clone, Debug, Default)]
pub struct Safe<F>(F);

impl<F: Formatter> Formatter for Safe<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| !is_plain(*c)) {
            out.write_all(&text.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        out.write_all(&text.as_bytes()[plain..])
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

/// Bytes of an answer up to which its buffer doubles. A longer one is measured before it is written, as a buffer that grows holds it
/// twice.
const DOUBLED: usize = 16 << 20;

/// A buffer that only counts, once it is given more than [`DOUBLED`] bytes.
#[derive(Default)]
struct Measured {
    bytes: Vec<u8>,
    length: usize,
}

impl io::Write for Measured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len();
        if self.length <= DOUBLED {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.bytes = Vec::new();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn json<F: Formatter + Default>(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut measured = Measured::default();
    value.serialize(&mut Serializer::with_formatter(&mut measured, F::default()))?;
    let mut out = measured.bytes;
    if measured.length > DOUBLED {
        out = Vec::with_capacity(measured.length + 1);
        value.serialize(&mut Serializer::with_formatter(&mut out, F::default()))?;
    }
    out.push(b'\n');
    String::from_utf8(out).map_err(<serde_json::Error as serde::ser::Error>::custom)
}

/// Returns a value as JSON over several lines.
pub fn to_json(value: &impl Serialize) -> Result<Text, serde_json::Error> {
    json::<PrettyJson>(value).map(Text::written)
}

pub fn to_json_line(value: &impl Serialize) -> Result<Text, serde_json::Error> {
    json::<Json>(value).map(Text::written)
}

/// Returns the start of an object whose last field is an empty list, as JSON up to the first item of that list.
pub fn to_json_open(value: &impl Serialize) -> Result<Text, serde_json::Error> {
    let mut text = json::<Json>(value)?;
    text.truncate(text.len().saturating_sub("]}\n".len()));
    Ok(Text::written(text))
}

/// Returns items of the list that [`to_json_open`] leaves open, one a line.
pub fn to_json_items(items: &[impl Serialize], first: bool) -> Result<Text, serde_json::Error> {
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        out.push_str(if first && at == 0 { "\n" } else { ",\n" });
        out.push_str(json::<Json>(item)?.trim_end());
    }
    Ok(Text::written(out))
}

/// Returns the end of the list and of the object that [`to_json_open`] leaves open, with more fields, which begin with a comma.
pub fn json_close(more: &str) -> Text {
    Text::written(format!("\n]{more}}}\n"))
}

/// Returns a value as YAML, in which strings that are not plain are in double quotes and escaped.
pub fn to_yaml(value: &impl Serialize) -> Result<Text, serde_yaml::Error> {
    let text = serde_yaml::to_string(value)?;
    // Each line of a block string looks like a line of the document, so documents with blocks are quoted instead.
    let has_block = text.lines().any(|line| line.trim_end_matches(|c: char| matches!(c, '-' | '+' | '0'..='9')).ends_with('|'));
    if !has_block && text.chars().all(|c| c == '\n' || is_plain(c)) {
        return Ok(Text::written(text));
    }
    // The emitter leaves most of Unicode raw. Each string that is not plain is replaced by a placeholder before
    // emitting, and each placeholder by the quoted string after it.
    let mut value = serde_json::to_value(value).map_err(<serde_yaml::Error as serde::ser::Error>::custom)?;
    let word = (0..=text.len()).map(|n| format!("schedscope-string-{n}-")).find(|word| !text.contains(word.as_str())).unwrap_or_default();
    let mut stand_ins = BTreeMap::new();
    replace(&mut value, &mut |string| {
        (!string.chars().all(is_plain)).then(|| {
            let stand_in = format!("{word}{}-", stand_ins.len());
            stand_ins.insert(stand_in.clone(), quoted(string));
            stand_in
        })
    });
    if stand_ins.is_empty() {
        return Ok(Text::written(text));
    }
    let text = serde_yaml::to_string(&value)?;
    let mut parts = text.split(word.as_str());
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('-').unwrap_or((part, ""));
        out.push_str(stand_ins.get(&format!("{word}{number}-")).map_or("", String::as_str));
        out.push_str(rest);
    }
    Ok(Text::written(out))
}

/// Returns rows as lines of cells with a tab between them. A tab or a line break within a cell came from outside, and is escaped.
pub fn to_tab_separated(rows: &[Vec<String>]) -> Text {
    let line = |row: &Vec<String>| row.iter().map(|cell| super::escape(cell).into_owned()).collect::<Vec<_>>().join("\t") + "\n";
    Text::written(rows.iter().map(line).collect())
}

/// Replaces strings and keys, recursively.
fn replace(value: &mut Value, with: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(other) = with(text) {
                *text = other;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| replace(value, with)),
        Value::Object(map) => {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(key, mut value)| {
                    let key = with(&key).unwrap_or(key);
                    replace(&mut value, with);
                    (key, value)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a string in double quotes, escaped for YAML.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_plain(c) => out.push(c),
            c if u32::from(c) > 0xffff => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Returns a section of Markdown: a heading, and the lines in a code block. Backticks, pipes and HTML in them have no
/// effect.
pub fn to_markdown(title: &str, body: &super::Lines) -> Text {
    let title = super::escape(title);
    let heading = if title.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '.' | '/')) {
        title.into_owned()
    } else {
        let fence = "`".repeat(longest_run(&title) + 1);
        format!("{fence} {title} {fence}")
    };
    let body = body.to_string();
    let fence = "`".repeat((longest_run(&body) + 1).max(3));
    Text::written(format!("### {heading}\n\n{fence}\n{body}{fence}\n"))
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Lines;
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{200b}\n\t\r\0\u{85}\u{2028}\u{e0041}\"\\ - : #'b";

    #[test]
    fn a_long_answer_is_the_same_text() {
        let long = "x".repeat(DOUBLED);
        let text = to_json_line(&[long.as_str(), "y"]).unwrap();
        assert!(text.as_str() == format!("[\"{long}\",\"y\"]\n"));
    }

    #[test]
    fn json_and_yaml_read_back_and_hold_nothing_raw() {
        let value = json!({ HOSTILE: [HOSTILE, "plain", 1, null, {"b": HOSTILE, "schedscope-string-0-": "x"}], "z": "two\nlines" });
        for (name, text) in [("json", to_json(&value).unwrap()), ("line", to_json_line(&value).unwrap())] {
            assert!(text.as_str().chars().all(|c| c == '\n' || is_plain(c)), "{name}: {text:?}");
            assert_eq!(serde_json::from_str::<Value>(text.as_str()).unwrap(), value, "{name}");
        }
        assert_eq!(to_json_line(&value).unwrap().as_str().matches('\n').count(), 1);
        let text = to_yaml(&value).unwrap();
        assert!(text.as_str().chars().all(|c| c == '\n' || is_plain(c)), "{text:?}");
        assert_eq!(serde_yaml::from_str::<Value>(text.as_str()).unwrap(), value, "{}", text.as_str());
        assert_eq!(to_yaml(&json!({"a": ["b", "two\nlines"]})).unwrap().as_str(), "a:\n- b\n- \"two\\nlines\"\n");
        let plain = json!({"a": ["b |", "c"]});
        assert_eq!(to_yaml(&plain).unwrap().as_str(), serde_yaml::to_string(&plain).unwrap());
    }

    #[test]
    fn tabs_are_between_cells_only() {
        let rows = [vec!["a\tb".to_owned(), "c".to_owned()], vec![":4".to_owned()]];
        assert_eq!(to_tab_separated(&rows).as_str(), "a\\tb\tc\n:4\n");
    }

    #[test]
    fn markdown_stays_a_heading_and_a_block() {
        let body: Lines = ["```", "````x", "| a | <b>"].into_iter().map(str::to_owned).collect();
        let text = to_markdown("shop/a", &body);
        assert_eq!(text.as_str(), "### shop/a\n\n`````\n```\n````x\n| a | <b>\n`````\n");
        let text = to_markdown("<b>`x`</b>\n# y", &Lines::from("z"));
        assert_eq!(text.as_str(), "### `` <b>`x`</b>\\n# y ``\n\n```\nz\n```\n");
    }
}
