//! Reads a dump's metadata: when it was taken, the API server's version, and the scheduler's configuration.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::Deserialize;
use serde_yaml::Value;

use super::yaml_cost;
use crate::cluster::{Object, Pod};
use crate::limits::sources::VERSION_TEXT;
use crate::output::url_without_password;
use crate::source::read::split::Syntax;

/// A statement in the source about the scheduler's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerHint {
    /// The statement in one line: `kube-scheduler v1.31.2, started with --config=/etc/kubernetes/scheduler.yaml`.
    pub what: String,
    /// Its place, as `file:line`.
    pub place: String,
    /// A KubeSchedulerConfiguration, as text for `--config`.
    pub config: Option<String>,
}

/// A version of the cluster, and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    /// The version, such as `v1.31.2`.
    pub version: String,
    /// The source of the version.
    pub found_in: VersionPlace,
}

/// The sources of a cluster's version, the most reliable first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionPlace {
    /// The live API server of this name.
    Server(String),
    /// A file of this name.
    File(String),
    /// The `ClusterOperator` of OpenShift's kube-scheduler, in the file of this name.
    ClusterOperator(String),
    /// The newest kubelet.
    Kubelets,
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found_in {
            VersionPlace::Server(name) | VersionPlace::File(name) => write!(f, "{} ({name})", self.version),
            VersionPlace::ClusterOperator(name) => write!(f, "{} (ClusterOperator kube-scheduler in {name})", self.version),
            VersionPlace::Kubelets => write!(f, "at least {}, the newest kubelet's version", self.version),
        }
    }
}

/// Metadata that one object holds about the scheduler or the cluster's version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct SchedulerMetadata {
    /// A line about the scheduler; empty if the object holds only a version.
    pub(in crate::source) what: String,
    pub(in crate::source) config: Option<String>,
    /// A version, and its source as a function of the file's name.
    #[allow(clippy::type_complexity, reason = "made here and taken apart once")]
    pub(in crate::source) version: Option<(String, fn(String) -> VersionPlace)>,
}

fn parse(text: &[u8], syntax: Syntax) -> Option<Value> {
    match syntax {
        Syntax::Json => serde_json::from_slice(text).ok(),
        Syntax::Yaml => Value::deserialize(serde_yaml::Deserializer::from_slice(text)).ok(),
    }
}

/// Returns the version and arguments of a kube-scheduler's pod.
pub(in crate::source) fn of_pod(object: &Object, text: &[u8], syntax: Syntax) -> Option<SchedulerMetadata> {
    let Object::Pod(pod) = object else { return None };
    let container = scheduler_container(pod)?;
    let image = pod.spec.containers[container].image.as_str();
    let version = image.rsplit_once(':').map(|(_, tag)| tag).filter(|tag| tag.starts_with('v') && !tag.contains('/'));
    let value = parse(text, syntax)?;
    let container = value.get("spec")?.get("containers")?.get(container)?;
    let words = |key: &str| container.get(key).and_then(Value::as_sequence).into_iter().flatten().filter_map(Value::as_str);
    // The arguments may hold a shell script, so only relevant options are shown.
    let options: Vec<Cow<'_, str>> =
        words("command").chain(words("args")).flat_map(str::split_whitespace).filter_map(shown_option).collect();
    let mut what = format!("kube-scheduler {}", version.unwrap_or(if image.is_empty() { "of an unknown image" } else { image }));
    if !options.is_empty() {
        what.push_str(&format!(", started with {}", options.join(" ")));
    }
    Some(SchedulerMetadata { what, config: None, version: None })
}

/// The options of kube-scheduler that say what it decides with.
const OPTIONS: [&str; 6] =
    ["--config", "--feature-gates", "--kube-api-burst", "--kube-api-content-type", "--kube-api-qps", "--leader-elect-resource-name"];

/// Returns an option of kube-scheduler without the passwords that its value may have; `None` for other options.
fn shown_option(word: &str) -> Option<Cow<'_, str>> {
    match word.split_once('=') {
        Some((name, value)) if OPTIONS.contains(&name) => Some(match without_url_secrets(value) {
            Cow::Borrowed(_) => word.into(),
            Cow::Owned(value) => format!("{name}={value}").into(),
        }),
        None if OPTIONS.contains(&word) => Some(word.into()),
        _ => None,
    }
}

/// Returns a text without the parts in which a URL has passwords.
fn without_url_secrets(text: &str) -> Cow<'_, str> {
    if text.contains("://") || text.contains(['?', '@']) { url_without_password(text).into() } else { text.into() }
}

/// Returns whether a pod runs kube-scheduler.
pub(in crate::source) fn is_scheduler(pod: &Pod) -> bool {
    scheduler_container(pod).is_some()
}

/// Returns the index of the kube-scheduler among a pod's containers.
fn scheduler_container(pod: &Pod) -> Option<usize> {
    pod.spec.containers.iter().position(|c| c.name == "kube-scheduler")
}

/// Returns the metadata of an object that configures a scheduler: a KubeSchedulerConfiguration, or OpenShift's
/// `Scheduler` or `ClusterOperator` of kube-scheduler.
pub(in crate::source) fn of_configuration(kind: &str, text: &[u8], syntax: Syntax) -> Option<SchedulerMetadata> {
    let value = parse(text, syntax)?;
    if kind == "KubeSchedulerConfiguration" {
        let mut value = value;
        if let Value::Mapping(mapping) = &mut value {
            // The simulator's exports omit both.
            let mut set = |key: &str, text: &str| {
                if mapping.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
                    mapping.insert(key.into(), text.into());
                }
            };
            set("apiVersion", "kubescheduler.config.k8s.io/v1");
            set("kind", "KubeSchedulerConfiguration");
        }
        let profiles: Vec<Cow<'_, str>> = value
            .get("profiles")
            .and_then(Value::as_sequence)
            .into_iter()
            .flatten()
            .filter_map(|p| p.get("schedulerName")?.as_str().map(without_url_secrets))
            .collect();
        let of = if profiles.is_empty() { String::new() } else { format!(" of {}", profiles.join(", ")) };
        let config = serde_yaml::to_string(&value).ok();
        return Some(SchedulerMetadata { what: format!("KubeSchedulerConfiguration{of}"), config, version: None });
    }
    if kind == "ClusterOperator" {
        let versions = value.get("status").filter(|_| name_is(&value, "kube-scheduler"))?.get("versions")?.as_sequence()?;
        let own = versions.iter().find(|v| v.get("name").and_then(Value::as_str) == Some("kube-scheduler"))?;
        let version = own.get("version")?.as_str().filter(|v| looks_like_version(v))?;
        let version = (format!("v{}", version.trim_start_matches('v')), VersionPlace::ClusterOperator as fn(String) -> VersionPlace);
        return Some(SchedulerMetadata { what: String::new(), config: None, version: Some(version) });
    }
    let spec = value.get("spec").unwrap_or(&Value::Null);
    let text = |key: &str| spec.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let profile = text("profile").unwrap_or("LowNodeUtilization");
    let selector = text("defaultNodeSelector").map_or_else(String::new, |s| format!(", default node selector {s}"));
    Some(SchedulerMetadata { what: format!("OpenShift scheduler profile {profile}{selector}"), config: None, version: None })
}

fn name_is(object: &Value, name: &str) -> bool {
    object.get("metadata").and_then(|m| m.get("name")).and_then(Value::as_str) == Some(name)
}

/// Returns whether a text begins like a version of Kubernetes.
fn looks_like_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    text.split_once('.').is_some_and(|(major, rest)| major == "1" && rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the version in an object without a kind: the output of `kubectl version -o json|yaml`, which captures also
/// end with, or of `/version` (`version.Info` in `k8s.io/apimachinery/pkg/version`).
pub(in crate::source) fn of_kindless(text: &[u8], syntax: Syntax) -> Option<SchedulerMetadata> {
    if text.len() > VERSION_TEXT || memchr::memmem::find(text, b"gitVersion").is_none() {
        return None;
    }
    let value = parse(text, syntax)?;
    let info = value.get("serverVersion").or_else(|| Some(&value).filter(|v| v.get("major").is_some()))?;
    let version = info.get("gitVersion")?.as_str().filter(|v| looks_like_version(v))?.to_owned();
    Some(SchedulerMetadata { what: String::new(), config: None, version: Some((version, VersionPlace::File)) })
}

/// Returns the API server's version in a file that holds it.
pub(in crate::source) fn server_version(text: &str) -> Option<String> {
    if yaml_cost(text.as_bytes()).is_some() {
        return None;
    }
    let value: Value = serde_yaml::from_str(text).ok()?;
    let info = value.get("info").or_else(|| value.get("serverVersion")).unwrap_or(&value);
    let version = ["gitVersion", "kubernetesVersion"].iter().find_map(|key| info.get(key)?.as_str());
    version.or_else(|| value.get("string")?.as_str()).filter(|v| looks_like_version(v)).map(str::to_owned)
}

/// Returns the last time in a text, in RFC 3339 or as Go prints times (`2026-01-02 03:04:05.678 +0000 UTC m=+0.1`).
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

/// Returns the time in the name of an archive, as in Sonobuoy's `202601021504_sonobuoy_...` and Replicated's
/// `support-bundle-2026-01-02T15_04_05`. Its zone is unknown.
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

/// Returns the first error in a file of collection errors; `None` if it holds none.
pub(in crate::source) fn collection_error(text: &str) -> Option<String> {
    let errors = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(errors) => errors,
        Err(_) if text.trim().is_empty() => return None,
        Err(error) => return Some(format!("cannot be read: {error}")),
    };
    let first = match errors {
        serde_json::Value::Array(errors) => errors.into_iter().find(|e| !e.is_null())?,
        serde_json::Value::Object(errors) => errors.into_iter().find(|(_, e)| !e.is_null()).map(|(at, e)| format!("{at}: {e}").into())?,
        serde_json::Value::Null => return None,
        other => other,
    };
    let text = first.as_str().map_or_else(|| first.to_string(), str::to_owned);
    Some(text.lines().next().unwrap_or_default().chars().take(200).collect()).filter(|t: &String| !t.is_empty())
}

#[cfg(test)]
mod tests;
