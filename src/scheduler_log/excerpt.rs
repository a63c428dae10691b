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
mod tests {
    use super::*;
    use crate::scheduler_log::{FileFacts, Reader, SchedulerLog};

    const LOG: &str = "2026-11-21T01:00:00.25Z I1121 01:00:00.250000       1 a.go:1] \"Using component config\" config=<\n\
        2026-11-21T01:00:00.25Z \tkind: KubeSchedulerConfiguration\n\
        2026-11-21T01:00:00.25Z  >\n\
        2026-11-21T01:00:00.30Z I1121 01:00:00.300000       1 a.go:1] \"Listening\" secret=<\n\
        2026-11-21T01:00:00.30Z \tkind: KubeSchedulerConfiguration\n\
        2026-11-21T01:00:00.30Z  >\n\
        2026-11-21T01:00:01.25Z I1121 01:00:01.250000       1 a.go:1] \"Serving securely on [::]:10259\"\n\
        2026-11-21T01:00:02.25Z I1121 01:00:02.250000       1 a.go:1] \"Attempting to schedule pod\" pod=\"shop/web\"\n\
        2026-11-21T01:00:03.25Z I1121 01:00:03.250000       1 a.go:1] \"Unable to schedule pod; no fit; waiting\" pod=\"shop/web\" err=\"0/1 nodes are available: 1 Insufficient cpu.\"\n\
        2026-11-21T01:00:03.50Z I1121 01:00:03.500000       1 a.go:1] \"Pod moved to an internal scheduling queue\" pod=\"shop/web\" event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\" schedulingCycle=1 hint=0 unschedulable plugins={\"NodeResourcesFit\":{}}\n";

    fn read(text: &[u8]) -> SchedulerLog {
        let mut reader = Reader::default();
        reader.file("log", &FileFacts::default(), &mut &*text, &mut |_| true);
        reader.finish()
    }

    #[test]
    fn lines_that_a_reader_understands_are_kept_however_the_log_is_cut() {
        let mut whole = Vec::new();
        Excerpt::default().take(LOG.as_bytes(), &mut whole);
        let kept = String::from_utf8(whole.clone()).unwrap();
        assert!(!kept.contains("Listening") && !kept.contains("Serving"), "{kept}");
        assert_eq!(kept.matches("KubeSchedulerConfiguration").count(), 1, "{kept}");
        let (mut excerpt, mut lines) = (Excerpt::default(), Vec::new());
        LOG.split_inclusive('\n').for_each(|line| excerpt.take(line.as_bytes(), &mut lines));
        assert_eq!(lines, whole);
        let (expected, found) = (read(LOG.as_bytes()), read(&whole));
        assert_eq!(format!("{:?}", found.attempts), format!("{:?}", expected.attempts));
        assert_eq!(found.processes[0].configuration, expected.processes[0].configuration);
    }

    #[test]
    fn a_line_that_was_taken_apart_is_read_as_before() {
        let near = "2026-11-21T01:00:00Z".parse().unwrap();
        let parts: Vec<LineParts> = LOG.lines().filter_map(|line| LineParts::of(line.as_bytes(), near)).collect();
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0].named, json!({"pod": {"namespace": "shop", "name": "web"}}));
        let text: String = parts.into_iter().map(|parts| parts.line() + "\n").collect();
        let (expected, found) = (read(LOG.as_bytes()), read(text.as_bytes()));
        let facts = |log: &SchedulerLog| {
            let names = |name| log.names.text(name).to_owned();
            let of = |attempt: &crate::scheduler_log::Attempt| {
                let plugins = attempt.requeued.and_then(|to| to.plugins).map(|set| log.plugin_sets[set as usize].len());
                (names(attempt.pod), attempt.outcome, names(attempt.message), attempt.begin_logged, plugins)
            };
            log.attempts.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!((facts(&found), found.attempts.len()), (facts(&expected), 1));
        // Without a prefix, the year is that of the time nearby.
        let bare = LineParts::of(b"I1121 01:00:02.250000       1 a.go:1] \"Attempting to schedule pod\" pod=\"shop/web\"", near).unwrap();
        assert!(bare.line().starts_with("{\"ts\":1795222802250.0,"), "a time in 2026");
        assert_eq!(LineParts::of(b"I1121 01:00:02.250000       1 a.go:1] Attempting to schedule pod: shop/web", near), None);
    }
}
