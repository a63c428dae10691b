//! Reads what a dump says about itself and its scheduler, beside its objects: when it was taken, the API server's version,
//! and how the scheduler is configured.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::Deserialize;
use serde_yaml::Value;

use crate::cluster::{Object, Pod};
use crate::source::read::split::Syntax;

/// What the source tells about the scheduler's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerHint {
    /// What it is, as one line: `kube-scheduler v1.31.2, started with --config=/etc/kubernetes/scheduler.yaml`.
    pub what: String,
    /// Where it stands, as `file:line`.
    pub place: String,
    /// A KubeSchedulerConfiguration, as text that `--config` takes.
    pub config: Option<String>,
}

/// The API server's version, and what tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    /// `v1.31.2`.
    pub version: String,
    /// The file or the objects that tell it.
    pub source: String,
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.version, self.source)
    }
}

/// What one object tells about the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct SchedulerMetadata {
    pub(in crate::source) what: String,
    pub(in crate::source) config: Option<String>,
}

fn parse(text: &[u8], syntax: Syntax) -> Option<Value> {
    match syntax {
        Syntax::Json => serde_json::from_slice(text).ok(),
        Syntax::Yaml => Value::deserialize(serde_yaml::Deserializer::from_slice(text)).ok(),
    }
}

/// What a pod tells that runs a kube-scheduler: its version and its arguments.
pub(in crate::source) fn of_pod(object: &Object, text: &[u8], syntax: Syntax) -> Option<SchedulerMetadata> {
    let Object::Pod(pod) = object else { return None };
    let container = scheduler_container(pod)?;
    let image = pod.spec.containers[container].image.as_str();
    let version = image.rsplit_once(':').map(|(_, tag)| tag).filter(|tag| tag.starts_with('v') && !tag.contains('/'));
    let value = parse(text, syntax)?;
    let container = value.get("spec")?.get("containers")?.get(container)?;
    let words = |key: &str| container.get(key).and_then(Value::as_sequence).into_iter().flatten().filter_map(Value::as_str);
    // A shell's script may be among them: only options that matter are repeated, word for word.
    let options: Vec<&str> = words("command")
        .chain(words("args"))
        .flat_map(str::split_whitespace)
        .filter(|word| {
            ["--config", "--feature-gates", "--kube-api-", "--leader-elect-resource-name"].iter().any(|known| word.starts_with(known))
        })
        .collect();
    let mut what = format!("kube-scheduler {}", version.unwrap_or(if image.is_empty() { "of an unknown image" } else { image }));
    if !options.is_empty() {
        what.push_str(&format!(", started with {}", options.join(" ")));
    }
    Some(SchedulerMetadata { what, config: None })
}

/// Which of a pod's containers is a kube-scheduler.
fn scheduler_container(pod: &Pod) -> Option<usize> {
    pod.spec.containers.iter().position(|c| c.name == "kube-scheduler")
}

/// What an object tells that configures a scheduler: a KubeSchedulerConfiguration, or OpenShift's `Scheduler`.
pub(in crate::source) fn of_configuration(kind: &str, text: &[u8], syntax: Syntax) -> Option<SchedulerMetadata> {
    let value = parse(text, syntax)?;
    if kind == "KubeSchedulerConfiguration" {
        let mut value = value;
        if let Value::Mapping(mapping) = &mut value {
            // An export of the simulator leaves both out.
            let mut set = |key: &str, text: &str| {
                if mapping.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
                    mapping.insert(key.into(), text.into());
                }
            };
            set("apiVersion", "kubescheduler.config.k8s.io/v1");
            set("kind", "KubeSchedulerConfiguration");
        }
        let profiles: Vec<&str> = value
            .get("profiles")
            .and_then(Value::as_sequence)
            .into_iter()
            .flatten()
            .filter_map(|p| p.get("schedulerName")?.as_str())
            .collect();
        let of = if profiles.is_empty() { String::new() } else { format!(" of {}", profiles.join(", ")) };
        return Some(SchedulerMetadata { what: format!("KubeSchedulerConfiguration{of}"), config: serde_yaml::to_string(&value).ok() });
    }
    let spec = value.get("spec").unwrap_or(&Value::Null);
    let text = |key: &str| spec.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let profile = text("profile").unwrap_or("LowNodeUtilization");
    let selector = text("defaultNodeSelector").map_or_else(String::new, |s| format!(", default node selector {s}"));
    Some(SchedulerMetadata { what: format!("OpenShift scheduler profile {profile}{selector}"), config: None })
}

/// The API server's version in a file that tells it.
pub(in crate::source) fn server_version(text: &str) -> Option<String> {
    let value: Value = serde_yaml::from_str(text).ok()?;
    let info = value.get("info").unwrap_or(&value);
    let version = ["gitVersion", "kubernetesVersion"].iter().find_map(|key| info.get(key)?.as_str());
    version.or_else(|| value.get("string")?.as_str()).filter(|v| !v.is_empty()).map(str::to_owned)
}

/// The last time in a text, written as RFC 3339 or as Go prints times (`2026-01-02 03:04:05.678 +0000 UTC m=+0.1`).
pub(in crate::source) fn last_time(text: &str) -> Option<Timestamp> {
    text.lines().filter_map(time_in_line).max()
}

fn time_in_line(line: &str) -> Option<Timestamp> {
    let line = line.trim();
    let value = line.rsplit_once(": ").map_or(line, |(_, value)| value).trim_matches(['"', '\'']);
    if let Ok(time) = value.parse() {
        return Some(time);
    }
    let mut words = value.split_whitespace();
    let (date, time, offset) = (words.next()?, words.next()?, words.next()?);
    if offset.len() != 5 || !offset.is_ascii() {
        return None;
    }
    let (hours, minutes) = offset.split_at(3);
    format!("{date}T{time}{hours}:{minutes}").parse().ok()
}

/// The time that some tools put into the names of their archives: Sonobuoy's `202601021504_sonobuoy_...` and
/// Replicated's `support-bundle-2026-01-02T15_04_05`. Whose clock that was is not told.
pub(in crate::source) fn time_in_name(name: &str) -> Option<DateTime> {
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<i16>().ok()).flatten();
    name.split(['/', '!']).find_map(|part| {
        let fields: [&str; 6] = if let Some(rest) = part.strip_prefix("support-bundle-") {
            [rest.get(..4)?, rest.get(5..7)?, rest.get(8..10)?, rest.get(11..13)?, rest.get(14..16)?, rest.get(17..19)?]
        } else {
            let digits = part.get(..12).filter(|_| part.get(12..).is_some_and(|rest| rest.starts_with("_sonobuoy")))?;
            [&digits[..4], &digits[4..6], &digits[6..8], &digits[8..10], &digits[10..], "00"]
        };
        let [year, month, day, hour, minute, second] = fields.map(number);
        let small = |number: Option<i16>| number.and_then(|n| i8::try_from(n).ok());
        DateTime::new(year?, small(month)?, small(day)?, small(hour)?, small(minute)?, small(second)?, 0).ok()
    })
}

/// What could not be collected, in a file of errors; `None` where there is nothing.
pub(in crate::source) fn collection_error(text: &str) -> Option<String> {
    let first = match serde_json::from_str::<serde_json::Value>(text).ok()? {
        serde_json::Value::Array(errors) => errors.into_iter().find(|e| !e.is_null())?,
        serde_json::Value::Object(errors) => errors.into_iter().find(|(_, e)| !e.is_null()).map(|(at, e)| format!("{at}: {e}").into())?,
        serde_json::Value::Null => return None,
        other => other,
    };
    let text = first.as_str().map_or_else(|| first.to_string(), str::to_owned);
    Some(text.lines().next().unwrap_or_default().chars().take(200).collect()).filter(|t: &String| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_in_texts_and_names() {
        for (text, expected) in [
            ("2021-06-14 13:05:26.5 +0000 UTC m=+0.1\n2021-06-14 15:06:00 +0200 CEST m=+34\n", Some("2021-06-14T13:06:00Z")),
            ("bundleCreatedAt: \"2026-01-02T03:04:05Z\"", Some("2026-01-02T03:04:05Z")),
            ("nothing\n\u{fc}\u{fc} a \u{fc}\u{fc}b", None),
        ] {
            assert_eq!(last_time(text).map(|t| t.to_string()).as_deref(), expected, "{text}");
        }
        for (name, expected) in [
            ("a/202601021504_sonobuoy_0b.tar.gz", Some("2026-01-02T15:04:00")),
            ("support-bundle-2026-01-02T15_04_05.tar.gz", Some("2026-01-02T15:04:05")),
            ("support-bundle-2026", None),
            ("support-bundle-\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}", None),
            ("209901", None),
        ] {
            assert_eq!(time_in_name(name).map(|t| t.to_string()).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn versions_are_found_in_their_files() {
        for (text, expected) in [
            (r#"{"major":"1","gitVersion":"v1.31.2"}"#, Some("v1.31.2")),
            (r#"{"info":{"gitVersion":"v1.30.0"},"string":"v1.30.0"}"#, Some("v1.30.0")),
            ("projectName: Longhorn\nkubernetesVersion: v1.29.1+k3s1\n", Some("v1.29.1+k3s1")),
            ("{}", None),
            (": [", None),
        ] {
            assert_eq!(server_version(text).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("null", None),
            ("[]", None),
            ("{}", None),
            (r#"{"shop":"pods is forbidden"}"#, Some("shop: \"pods is forbidden\"")),
            (r#"["a\nb"]"#, Some("a")),
        ] {
            assert_eq!(collection_error(text).as_deref(), expected, "{text}");
        }
    }
}
