//! A configuration file as written; mirrors `staging/src/k8s.io/kube-scheduler/config/v1/types.go` and how
//! `cmd/kube-scheduler/app/options/configfile.go` decodes it.

use std::collections::BTreeMap;

use std::time::Duration;

use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::bytes::Bytes;
use super::fields::{CONFIGURATION, plugin_args};
use super::policy;
use crate::extenders::{self, TlsSettings};
use crate::framework::{DurationError, ExtenderName, FieldErrors, parse_duration};
use crate::limits::engine::{CONFIG_BYTES, CONFIG_DEPTH, CONFIG_VALUES, CONFIG_WITH_ALIASES};
use crate::output::{Secret, url_without_password};
use crate::release::{Emulation, Profile as Release};

/// The group of all kinds.
const GROUP: &str = "kubescheduler.config.k8s.io";
const KIND: &str = "KubeSchedulerConfiguration";

/// The fields of a file that have an effect; only the types of all others are checked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ConfigFile {
    /// The apiVersion; without a file, that of the release's defaults.
    pub(super) api_version: String,
    pub(super) parallelism: Option<i32>,
    pub(super) leader_election: LeaderElection,
    pub(super) client_connection: ClientConnection,
    pub(super) percentage_of_nodes_to_score: Option<i32>,
    pub(super) pod_initial_backoff_seconds: Option<i64>,
    pub(super) pod_max_backoff_seconds: Option<i64>,
    pub(super) profiles: Vec<Profile>,
    pub(super) extenders: Vec<Extender>,
    /// Whether the file was a policy: its plugins replace the defaults.
    #[serde(skip)]
    pub(super) is_policy: bool,
    /// Whether all filters run on a node even after one rejects it.
    #[serde(skip)]
    pub(super) runs_all_filters: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LeaderElection {
    pub(super) leader_elect: Option<bool>,
    pub(super) lease_duration: GoDuration,
    pub(super) renew_deadline: GoDuration,
    pub(super) retry_period: GoDuration,
    pub(super) resource_lock: String,
}

/// A duration; zero if it is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct GoDuration(pub(super) SignedDuration);

impl TryFrom<String> for GoDuration {
    type Error = DurationError;

    fn try_from(text: String) -> Result<Self, DurationError> {
        parse_duration(&text).map(Self)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClientConnection {
    pub(super) burst: i32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Profile {
    pub(super) scheduler_name: Option<String>,
    pub(super) percentage_of_nodes_to_score: Option<i32>,
    pub(super) plugins: Plugins,
    pub(super) plugin_config: Vec<PluginConfig>,
}

/// The sets of plugins by extension point, among them `multiPoint`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Plugins(BTreeMap<String, PluginSet>);

impl Plugins {
    /// Returns the set of an extension point, such as `preFilter`.
    pub(super) fn at(&self, point: &str) -> &PluginSet {
        static EMPTY: PluginSet = PluginSet { enabled: Vec::new(), disabled: Vec::new() };
        self.0.get(point).unwrap_or(&EMPTY)
    }

    /// Whether a plugin is enabled anywhere.
    pub(super) fn enables(&self, name: &str) -> bool {
        self.0.values().any(|set| set.enabled_names().any(|n| n == name))
    }

    /// Sets the plugins of an extension point.
    pub(super) fn set(&mut self, point: &str, set: PluginSet) {
        self.0.insert(point.to_owned(), set);
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct PluginSet {
    pub(super) enabled: Vec<Plugin>,
    pub(super) disabled: Vec<Plugin>,
}

impl PluginSet {
    /// Whether a name is disabled; `*` is an ordinary name here.
    pub(super) fn disables(&self, name: &str) -> bool {
        self.disabled.iter().any(|d| d.name == name)
    }

    /// Returns the enabled names, in order.
    pub(super) fn enabled_names(&self) -> impl Iterator<Item = &str> {
        self.enabled.iter().map(|p| p.name.as_str())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Plugin {
    pub(super) name: String,
    /// Zero if it is missing.
    pub(super) weight: i32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PluginConfig {
    pub(super) name: String,
    pub(super) args: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Extender {
    pub(super) url_prefix: String,
    pub(super) filter_verb: String,
    pub(super) preempt_verb: String,
    pub(super) prioritize_verb: String,
    pub(super) weight: i64,
    pub(super) bind_verb: String,
    #[serde(rename = "enableHTTPS")]
    pub(super) enable_https: bool,
    pub(super) tls_config: TLSConfig,
    pub(super) http_timeout: Timeout,
    pub(super) node_cache_capable: bool,
    pub(super) managed_resources: Vec<ManagedResource>,
    pub(super) ignorable: bool,
}

/// A duration as text, or in nanoseconds, as old policies have it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Timeout {
    Text(GoDuration),
    Nanoseconds(i64),
}

impl Default for Timeout {
    fn default() -> Self {
        Self::Nanoseconds(0)
    }
}

impl Timeout {
    fn duration(self) -> SignedDuration {
        match self {
            Self::Text(GoDuration(duration)) => duration,
            Self::Nanoseconds(nanoseconds) => SignedDuration::from_nanos(nanoseconds),
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TLSConfig {
    pub(super) insecure: bool,
    pub(super) server_name: String,
    pub(super) cert_file: String,
    pub(super) key_file: String,
    pub(super) ca_file: String,
    pub(super) cert_data: Bytes,
    pub(super) key_data: Bytes,
    pub(super) ca_data: Bytes,
}

/// How long a call may take where an extender does not say.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

impl Extender {
    /// Returns the extender at a place of the list, as it is asked; mirrors `NewHTTPExtender` in `pkg/scheduler/extender.go`.
    pub(super) fn built(&self, index: usize) -> extenders::Extender {
        let TLSConfig { insecure, server_name, cert_file, key_file, ca_file, cert_data, key_data, ca_data } = self.tls_config.clone();
        let has_ca = !(ca_file.is_empty() && ca_data.0.is_empty());
        let timeout = self.http_timeout.duration();
        extenders::Extender {
            name: ExtenderName { index, url: url_without_password(&self.url_prefix).into() },
            url_prefix: Secret::new(self.url_prefix.clone()),
            filter_verb: self.filter_verb.clone(),
            prioritize_verb: self.prioritize_verb.clone(),
            preempt_verb: self.preempt_verb.clone(),
            bind_verb: self.bind_verb.clone(),
            weight: self.weight,
            node_cache_capable: self.node_cache_capable,
            managed_resources: self.managed_resources.iter().map(|r| r.name.as_str().into()).collect(),
            ignorable: self.ignorable,
            timeout: if timeout.is_zero() { CALL_TIMEOUT } else { Duration::try_from(timeout).unwrap_or(Duration::ZERO) },
            tls: TlsSettings {
                insecure: insecure || (self.enable_https && !has_ca),
                server_name,
                ca_file,
                ca_data: ca_data.0,
                cert_file,
                cert_data: cert_data.0,
                key_file,
                key_data: Secret::new(key_data.0),
            },
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ManagedResource {
    pub(super) name: String,
    pub(super) ignored_by_scheduler: bool,
}

impl ConfigFile {
    /// Decodes YAML or JSON strictly: an unknown field, a duplicate field or a wrong type is an error.
    pub(super) fn decode(text: &str, emulation: Emulation) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut value = parse(text).map_err(|e| one_error("", e.to_string()))?;
        if let Some(text) = policy::in_config_map(&value).filter(|_| emulation.profile().reads_policies()) {
            value = parse(text).map_err(|e| one_error("data", e.to_string()))?;
        }
        if policy::is_policy(&value, emulation) {
            return policy::decode(value, emulation);
        }
        let api_version = check_type(&value, emulation.profile())?.to_owned();
        refuse_fields(&value, (&api_version, emulation.profile()), &mut errors);
        let mut value = CONFIGURATION.read(value, "", &mut errors).unwrap_or_default();
        for (i, profile) in items(&mut value, "profiles").enumerate() {
            for (j, config) in items(profile, "pluginConfig").enumerate() {
                decode_args(config, &format!("profiles[{i}].pluginConfig[{j}]"), (&api_version, emulation.profile()), &mut errors);
            }
        }
        errors.into_result()?;
        Self::deserialize(value).map_err(|e| one_error("", e.to_string()))
    }
}

/// Returns a configuration as JSON, without comments, the passwords and queries in its URLs, and the keys of its extenders; emulation
/// needs none of them. `None` if it cannot be read.
pub(super) fn without_credentials(text: &str) -> Option<String> {
    value_without_credentials(text).map(|value| value.to_string())
}

/// Does the same as a value. The cost of reading is bounded.
pub fn value_without_credentials(text: &str) -> Option<Value> {
    let mut value = parse(text).ok()?;
    strip_credentials(&mut value);
    Some(value)
}

/// Removes credentials from a value and all that it holds. A policy spells its keys in any case.
fn strip_credentials(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !key.eq_ignore_ascii_case("keyData"));
            for (key, value) in fields {
                match value {
                    // A ConfigMap holds a policy as text.
                    Value::String(text) if key.eq_ignore_ascii_case("policy.cfg") || is_document(text) => {
                        *text = without_credentials(text).unwrap_or_default();
                    }
                    _ => strip_credentials(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip_credentials),
        Value::String(text) if text.contains("://") => *text = url_without_password(text),
        _ => {}
    }
}

/// Whether a text may be a configuration of its own, as a ConfigMap holds it under any name.
fn is_document(text: &str) -> bool {
    text.contains('\n') && (text.contains("://") || text.to_ascii_lowercase().contains("keydata"))
}

pub(super) fn one_error(path: &str, message: impl Into<String>) -> FieldErrors {
    let mut errors = FieldErrors::default();
    errors.add(path, message);
    errors
}

/// Why a text is no configuration.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextError {
    #[error("has more than {} bytes", CONFIG_BYTES)]
    Long,
    #[error("brackets are nested too deeply")]
    Deep,
    #[error("has more than {} values", CONFIG_VALUES)]
    ManyValues,
    #[error("has aliases and more than {} bytes", CONFIG_WITH_ALIASES)]
    LongWithAliases,
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Returns why a text is too expensive to parse.
fn excess(text: &str) -> Option<TextError> {
    if text.len() > CONFIG_BYTES {
        return Some(TextError::Long);
    }
    let mut depth = 0_usize;
    let is_deep = text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > CONFIG_DEPTH
    });
    if is_deep {
        return Some(TextError::Deep);
    }
    let starts_alias = |pair: &[u8]| pair[0] == b'*' && !pair[1].is_ascii_whitespace() && !b",[]{}'\"".contains(&pair[1]);
    let has_aliases = text.contains('&') && text.as_bytes().windows(2).any(starts_alias);
    (has_aliases && text.len() > CONFIG_WITH_ALIASES).then_some(TextError::LongWithAliases)
}

/// Returns whether a value has no more values in it than `left`, which it lowers.
fn has_values(value: &serde_yaml::Value, left: &mut usize) -> bool {
    let Some(less) = left.checked_sub(1) else { return false };
    *left = less;
    match value {
        serde_yaml::Value::Sequence(list) => list.iter().all(|item| has_values(item, left)),
        serde_yaml::Value::Mapping(fields) => fields.values().all(|field| has_values(field, left)),
        serde_yaml::Value::Tagged(tagged) => has_values(&tagged.value, left),
        _ => true,
    }
}

/// Parses the first document of a text; ignores further YAML documents.
pub(super) fn parse(text: &str) -> Result<Value, TextError> {
    if let Some(why) = excess(text) {
        return Err(why);
    }
    let document = serde_yaml::Deserializer::from_str(text).next();
    let yaml = document.map_or(Ok(serde_yaml::Value::Null), serde_yaml::Value::deserialize);
    match yaml.and_then(|mut yaml| yaml.apply_merge().map(|()| yaml)) {
        Ok(yaml) if !has_values(&yaml, &mut CONFIG_VALUES.clone()) => Err(TextError::ManyValues),
        Ok(yaml) => Ok(serde_json::to_value(yaml)?),
        // Indentation with tabs is valid JSON and invalid YAML.
        Err(error) => serde_json::from_str(text).map_err(|_| error.into()),
    }
}

/// Reports fields that only other apiVersions or releases have.
fn refuse_fields(value: &Value, (api_version, release): (&str, &Release), errors: &mut FieldErrors) {
    let mut refuse = |owner: &str, object: &Value, path: &str| {
        let Some(object) = object.as_object() else { return };
        for field in object.keys().filter(|field| !release.has_config_field(api_version, owner, field)) {
            let dot = if path.is_empty() { "" } else { "." };
            errors.add(format!("{path}{dot}{field}"), "unknown field");
        }
    };
    refuse("configuration", value, "");
    for (i, profile) in value.get("profiles").and_then(Value::as_array).into_iter().flatten().enumerate() {
        refuse("profile", profile, &format!("profiles[{i}]"));
        refuse("plugins", profile.get("plugins").unwrap_or(&Value::Null), &format!("profiles[{i}].plugins"));
        for (j, config) in profile.get("pluginConfig").and_then(Value::as_array).into_iter().flatten().enumerate() {
            let name = config.get("name").and_then(Value::as_str).unwrap_or_default();
            let path = format!("profiles[{i}].pluginConfig[{j}].args");
            refuse(name, config.get("args").unwrap_or(&Value::Null), &path);
        }
    }
}

/// Returns the items of a list in a field; none if there is no such list.
fn items<'a>(value: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Returns the apiVersion, one that the release supports.
pub(super) fn check_type<'a>(value: &'a Value, release: &Release) -> Result<&'a str, FieldErrors> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() {
        return Err(one_error("kind", "Object 'Kind' is missing"));
    }
    if api_version.is_empty() {
        return Err(one_error("apiVersion", "Object 'apiVersion' is missing"));
    }
    let known = release.config_api_versions.contains(&api_version);
    if known && kind == KIND {
        return Ok(api_version);
    }
    if !is_registered(api_version, kind, release) {
        return Err(one_error(if known { "kind" } else { "apiVersion" }, not_registered(api_version, kind)));
    }
    Err(one_error("kind", format!("couldn't decode as {KIND}, got {api_version}, Kind={kind}")))
}

fn is_registered(api_version: &str, kind: &str, release: &Release) -> bool {
    release.config_api_versions.contains(&api_version)
        && (kind == KIND || kind.strip_suffix("Args").is_some_and(|p| plugin_args(p).is_some()))
}

fn not_registered(api_version: &str, kind: &str) -> String {
    format!("no kind {kind:?} is registered for version {api_version:?}")
}

/// Checks the arguments of a plugin against their type and removes those without an effect; mirrors
/// `decodeNestedObjects`.
fn decode_args(config: &mut Value, path: &str, (own_version, release): (&str, &Release), errors: &mut FieldErrors) {
    let Some(config) = config.as_object_mut() else { return };
    let name = config.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(schema) = plugin_args(&name) else { return };
    let mut args = config.remove("args").filter(|a| !a.is_null()).unwrap_or_else(|| Value::Object(Map::new()));
    let text = |field: &str| args.get(field).and_then(Value::as_str).filter(|t| !t.is_empty());
    let wanted = format!("{name}Args");
    let (api_version, kind) = (text("apiVersion").unwrap_or(own_version), text("kind").unwrap_or(&wanted));
    if !is_registered(api_version, kind, release) {
        errors.add(path, format!("decoding args for plugin {name}: {}", not_registered(api_version, kind)));
        return;
    }
    if kind != wanted {
        errors.add(path, format!("args for plugin {name} were not of type {wanted}.{GROUP}, got {kind}.{GROUP}"));
        return;
    }
    args = schema.read(args, &format!("{path}.args"), errors).unwrap_or_default();
    config.insert("args".to_owned(), args);
}

#[cfg(test)]
mod tests;
