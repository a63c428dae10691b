//! KubeSchedulerConfiguration, or the Policy of older releases, and the profiles it makes.
//!
//! A file is decoded strictly, completed with the defaults of `pkg/scheduler/apis/config/v1/defaults.go`, validated,
//! and built into profiles, as kube-scheduler does when it starts. The first step that fails ends the process and
//! returns every error it found. Out-of-tree plugins are accepted, because a scheduler may be built with them, and so
//! are extenders; both are recorded as not emulated.

mod defaults;
mod edit;
mod fields;
mod file;
mod legacy;
mod policy;
mod profile;
mod schema;
mod validation;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::runtime::Framework;
use crate::framework::{FieldErrors, PluginName};
use crate::output::url_without_password;
use crate::release::{Algorithm, Emulation, FilterRun};
pub use edit::{ConfigEdit, ConfigEditError};
use file::{ConfigFile, Extender, without_credentials};

/// The errors of a configuration, by field.
pub type ConfigError = FieldErrors;

/// A configuration ready for use.
#[derive(Clone, Debug)]
pub struct Config {
    /// The profiles, in order.
    pub profiles: Vec<Framework>,
    /// Global `percentageOfNodesToScore`; 0 adapts.
    pub percentage_of_nodes_to_score: i32,
    /// `podInitialBackoffSeconds`.
    pub pod_initial_backoff_seconds: i64,
    /// `podMaxBackoffSeconds`.
    pub pod_max_backoff_seconds: i64,
    /// Feature gates.
    pub emulation: Emulation,
    /// The file it was read from, if there was one.
    text: Option<Arc<str>>,
    /// Edits of plugins since, in order.
    edits: Vec<ConfigEdit>,
}

impl Config {
    /// Returns the configuration of a kube-scheduler without a configuration file.
    ///
    /// # Panics
    ///
    /// Never: the defaults are valid under all gates.
    pub fn defaults(emulation: Emulation) -> Self {
        let defaults = match emulation.behaviour().algorithm {
            Algorithm::Plugins => Self::build(ConfigFile::default(), emulation),
            Algorithm::PredicatesAndPriorities => legacy::defaults(emulation),
        };
        defaults.expect("the default configuration is valid")
    }

    /// Reads a configuration as YAML or JSON; refuses one with which kube-scheduler would not start.
    pub fn parse(text: &str, emulation: Emulation) -> Result<Self, ConfigError> {
        let config = match emulation.behaviour().algorithm {
            Algorithm::Plugins => Self::build(ConfigFile::decode(text, emulation)?, emulation)?,
            Algorithm::PredicatesAndPriorities => legacy::parse(text, emulation)?,
        };
        let text = without_credentials(text).unwrap_or_else(|| text.to_owned());
        Ok(Self { text: Some(text.into()), ..config })
    }

    /// Returns the text that [`Self::parse`] read, without credentials for extenders; `None` for the defaults.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns the same configuration as another release reads it, or that release's defaults if there is no file.
    ///
    /// # Errors
    /// Returns the errors if that release refuses it.
    pub fn of_release(&self, emulation: Emulation) -> Result<Self, ConfigError> {
        let read = self.text().map_or_else(|| Ok(Self::defaults(emulation)), |text| Self::parse(text, emulation));
        read?.with_edits_of(self)
    }

    /// Returns whether any extender is called for pods.
    pub fn has_extenders(&self) -> bool {
        self.profiles.iter().flat_map(|p| &p.not_emulated).any(|(name, _)| name.starts_with("extender "))
    }

    /// Returns the profile for pods of a scheduler name.
    pub fn profile(&self, scheduler_name: &str) -> Option<&Framework> {
        self.profiles.iter().find(|p| p.name == scheduler_name)
    }

    fn build(mut file: ConfigFile, emulation: Emulation) -> Result<Self, ConfigError> {
        file.set_defaults(emulation);
        validation::validate(&file, emulation).into_result()?;
        apply_extenders(&mut file)?;
        let mut errors = FieldErrors::default();
        let mut profiles = profile::build(&file.api_version, &file.profiles, emulation, &mut errors);
        errors.into_result()?;
        for profile in &mut profiles {
            if file.runs_all_filters {
                profile.filters = FilterRun::All;
            }
            profile.not_emulated.extend(file.extenders.iter().enumerate().filter_map(|(i, e)| not_emulated(i, e)));
        }
        let (pod_initial_backoff_seconds, pod_max_backoff_seconds) = file.backoff_seconds();
        Ok(Self {
            profiles,
            percentage_of_nodes_to_score: file.percentage_of_nodes_to_score.unwrap_or(0),
            pod_initial_backoff_seconds,
            pod_max_backoff_seconds,
            emulation,
            text: None,
            edits: Vec::new(),
        })
    }
}

/// Returns an extender with the extension points at which it could decide; `None` for one that is never called.
fn not_emulated(at: usize, extender: &Extender) -> Option<(String, Vec<&'static str>)> {
    let verbs = [
        ("filter", &extender.filter_verb),
        ("prioritize", &extender.prioritize_verb),
        ("preempt", &extender.preempt_verb),
        ("bind", &extender.bind_verb),
    ];
    let called: Vec<&str> = verbs.into_iter().filter(|(_, verb)| !verb.is_empty()).map(|(point, _)| point).collect();
    (!called.is_empty()).then(|| (format!("extender {} (extenders[{at}])", url_without_password(&extender.url_prefix)), called))
}

/// Replaces the ignored resources of NodeResourcesFit by those that extenders manage and the scheduler ignores; mirrors
/// `buildExtenders` in `pkg/scheduler/scheduler.go`.
fn apply_extenders(file: &mut ConfigFile) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    for (i, extender) in file.extenders.iter().enumerate() {
        let tls = &extender.tls_config;
        if tls.insecure && !(tls.ca_file.is_empty() && tls.ca_data.is_empty()) {
            let path = format!("extenders[{i}].tlsConfig");
            errors.add(path, "specifying a root certificates file with the insecure flag is not allowed");
        }
    }
    let resources = file.extenders.iter().flat_map(|e| &e.managed_resources).filter(|r| r.ignored_by_scheduler);
    let ignored: Vec<Value> = resources.map(|r| r.name.clone().into()).collect();
    for (i, profile) in file.profiles.iter_mut().enumerate().filter(|_| !ignored.is_empty()) {
        if let Some(config) = profile.plugin_config.iter_mut().find(|c| c.name == PluginName::NodeResourcesFit.as_str()) {
            let args = config.args.get_or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(args) = args {
                args.insert("ignoredResources".to_owned(), Value::Array(ignored.clone()));
            }
        } else {
            errors.add(format!("profiles[{i}].pluginConfig"), "can't find NodeResourcesFitArgs in plugin config");
        }
    }
    errors.into_result()
}
