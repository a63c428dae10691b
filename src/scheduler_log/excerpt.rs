//! Excerpts: the lines of a log that a [`Reader`](super::Reader) understands, and their parts, for a copy of the log.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::entry::{Entry, Values, is_header, set};
use super::message::{inline, known};
use super::prefix::{Stripped, strip};
use super::time::{Calendar, When};

/// Keys whose value is a pod.
const PODS: [&str; 3] = ["pod", "preemptor", "victim"];
/// Keys whose value is a node.
const NODES: [&str; 2] = ["node", "nominatedNodeName"];
/// Keys whose value is a text, or a name that may be of a plugin of the user.
const TEXTS: [&str; 3] = ["err", "status", "plugin"];
/// Keys whose value is a word of the scheduler.
const WORDS: [&str; 3] = ["event", "queue", "version"];
/// Keys whose value is a number.
const NUMBERS: [&str; 5] = ["hint", "schedulingCycle", "score", "evaluatedNodes", "feasibleNodes"];
/// The key whose value is a set of plugins.
const PLUGINS: &str = "unschedulable plugins";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    /// A value of several lines that is kept.
    Kept,
    /// A value of several lines that is not.
    Skipped,
    #[default]
    Nothing,
}

/// Selects the lines that a reader understands from the log of one writer.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    within: Within,
    /// The line before is continued by the next one.
    is_continued: bool,
}

impl Excerpt {
    /// Appends the lines of a text that a reader understands, with their prefixes. The text ends with a line.
    pub fn take(&mut self, text: &[u8], out: &mut Vec<u8>) {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if self.takes(line.trim_ascii_end()) {
                out.extend_from_slice(line);
            }
        }
    }

    fn takes(&mut self, line: &[u8]) -> bool {
        let stripped = strip(line);
        if self.is_continued || stripped.partial {
            self.is_continued = stripped.partial;
            return true;
        }
        let text = &stripped.text;
        let is_of_value = text.is_empty() || text.first() == Some(&b'\t') || text.starts_with(b" >");
        if self.within != Within::Nothing && is_of_value {
            let keeps = self.within == Within::Kept;
            if text.starts_with(b" >") && !text.ends_with(b"=<") {
                self.within = Within::Nothing;
            }
            return keeps;
        }
        let text = String::from_utf8_lossy(text);
        let keeps = Entry::parse(&text).is_some_and(|entry| known(&entry.message).is_some() || inline(&entry.message).is_some());
        let begins_value = text.ends_with("=<") && is_header(text.as_bytes());
        self.within = match (begins_value, keeps) {
            (true, true) => Within::Kept,
            (true, false) => Within::Skipped,
            (false, _) => Within::Nothing,
        };
        keeps
    }
}

/// A line of a log, with what names objects apart from the scheduler's own words.
#[derive(Clone, Debug, PartialEq)]
pub struct LineParts {
    /// Names and texts by key: `{"namespace", "name"}` of a pod, `{"name"}` of a node, `{"message"}` of a text or of plugins.
    pub named: Value,
    /// The time in milliseconds since 1970, the message, numbers and words of the scheduler.
    own: Map<String, Value>,
}

impl LineParts {
    /// Takes a line apart. `near` is a time near that of the line, for logs without years. Returns `None` for a line with values over
    /// several lines, one of a release that writes names into its messages, and one that a reader does not understand.
    pub fn of(line: &[u8], near: Timestamp) -> Option<Self> {
        let Stripped { text, time, partial, .. } = strip(line.trim_ascii_end());
        let text: Cow<'_, str> = String::from_utf8_lossy(&text);
        if partial || text.ends_with("=<") {
            return None;
        }
        let entry = Entry::parse(&text)?;
        known(&entry.message)?;
        let micros = match (entry.when, time) {
            (When::Unix(micros), _) | (_, Some(micros)) => micros,
            (when, None) => {
                let clock = super::Clock { year: true, offset: None };
                clock.timestamp(Calendar::new(Some(near)).stamp(when))?.as_microsecond()
            }
        };
        let mut own = Map::new();
        own.insert("ts".to_owned(), json!(micros as f64 / 1000.0));
        own.insert("msg".to_owned(), json!(entry.message));
        let (mut named, values) = (Map::new(), &entry.values);
        for key in PODS {
            let Some(text) = values.text(key) else { continue };
            let (namespace, name) = text.split_once('/').unwrap_or(("", &text));
            named.insert(key.to_owned(), json!({"namespace": namespace, "name": name}));
        }
        for key in NODES {
            named.extend(values.text(key).map(|text| (key.to_owned(), json!({"name": text}))));
        }
        for key in TEXTS {
            named.extend(values.text(key).map(|text| (key.to_owned(), json!({"message": text}))));
        }
        named.extend(values.raw(PLUGINS).map(|raw| (PLUGINS.to_owned(), json!({"message": set(raw)}))));
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./+-".contains(&byte));
        for key in WORDS {
            own.extend(word(values, key).filter(|text| is_word(text)).map(|text| (key.to_owned(), json!(text))));
        }
        for key in NUMBERS {
            own.extend(values.number(key).map(|number| (key.to_owned(), json!(number))));
        }
        Some(Self { named: Value::Object(named), own })
    }

    /// Writes the line as klog does in JSON.
    pub fn line(self) -> String {
        let mut fields = self.own;
        if let Value::Object(named) = self.named {
            for (key, mut value) in named {
                let is_pod = value.get("namespace").is_some();
                let short = if is_pod { None } else { value.get_mut("name").or(None).map(Value::take) };
                let short = short.or_else(|| value.get_mut("message").map(Value::take));
                fields.insert(key, short.unwrap_or(value));
            }
        }
        // A reader finds JSON lines by their first key.
        let time = fields.remove("ts").unwrap_or_default();
        let rest = Value::Object(fields).to_string();
        format!("{{\"ts\":{time},{}", rest.strip_prefix('{').unwrap_or("}"))
    }
}

/// Returns a word of the scheduler. Events of kinds of others name these kinds.
fn word<'a>(values: &'a Values<'_>, key: &str) -> Option<Cow<'a, str>> {
    values.text(key).filter(|text| key != "event" || text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests;
