//! KubeSchedulerConfiguration, or the Policy of older releases, and the profiles it makes.
//!
//! A file is decoded strictly, completed with the defaults of `pkg/scheduler/apis/config/v1/defaults.go`, validated,
//! and built into profiles, as kube-scheduler does when it starts. The first step that fails ends the process and
//! returns every error it found. Out-of-tree plugins are accepted, because a scheduler may be built with them, and
//! recorded as not emulated; so are extenders that are not called.

mod bytes;
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
use crate::extenders::{Asker, Extender, Extenders};
use crate::framework::{ExtenderVerb, FieldErrors, OutOfTree, PluginName};
use crate::release::{Algorithm, Emulation, FilterRun};
pub use edit::{ConfigEdit, ConfigEditError};
pub use file::value_without_credentials;
use file::{ConfigFile, without_credentials};

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
    /// The extenders, and who asks them.
    pub extenders: Extenders,
    /// The file it was read from, if there was one.
    text: Option<Arc<str>>,
    /// Edits of plugins since, in order.
    edits: Vec<ConfigEdit>,
    /// Plugins that are not kube-scheduler's.
    out_of_tree: OutOfTree,
}

impl Config {
    /// Returns the configuration of a kube-scheduler without a configuration file.
    ///
    /// # Panics
    ///
    /// Never: the defaults are valid under all gates.
    pub fn defaults(emulation: Emulation) -> Self {
        Self::read(None, emulation, &OutOfTree::default()).expect("the default configuration is valid")
    }

    /// Reads a configuration as YAML or JSON; refuses one with which kube-scheduler would not start.
    pub fn parse(text: &str, emulation: Emulation) -> Result<Self, ConfigError> {
        Self::read(Some(text), emulation, &OutOfTree::default())
    }

    /// Reads a configuration, or the defaults, with out-of-tree plugins. Profiles that name none of their extension points get them
    /// after those of kube-scheduler.
    ///
    /// # Errors
    /// Returns the errors if kube-scheduler would not start with it, or the release has no out-of-tree plugins.
    pub fn read(text: Option<&str>, emulation: Emulation, out_of_tree: &OutOfTree) -> Result<Self, ConfigError> {
        let config = match (emulation.behaviour().algorithm, text) {
            (Algorithm::Plugins, Some(text)) => Self::build(ConfigFile::decode(text, emulation)?, emulation, out_of_tree)?,
            (Algorithm::Plugins, None) => Self::build(ConfigFile::default(), emulation, out_of_tree)?,
            (Algorithm::PredicatesAndPriorities, _) if out_of_tree.names().next().is_some() => {
                let mut errors = FieldErrors::default();
                errors.add("", format!("kube-scheduler {} has no out-of-tree plugins", emulation.release()));
                return Err(errors);
            }
            (Algorithm::PredicatesAndPriorities, Some(text)) => legacy::parse(text, emulation)?,
            (Algorithm::PredicatesAndPriorities, None) => legacy::defaults(emulation)?,
        };
        let text = text.and_then(without_credentials).map(Into::into);
        Ok(Self { text, out_of_tree: out_of_tree.clone(), ..config })
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
        let read = Self::read(self.text(), emulation, &self.out_of_tree)?;
        Ok(read.with_edits_of(self)?.asked_as(self))
    }

    /// Returns whether kube-scheduler would call any extender for pods.
    pub fn has_extenders(&self) -> bool {
        self.extenders.list().iter().any(|extender| !calls(extender).is_empty())
    }

    /// Lets those extenders be asked, or their answers be recalled, that `is_asked` picks.
    #[must_use]
    pub fn asked_by(mut self, asker: Arc<Asker>, is_asked: impl Fn(&Extender) -> bool) -> Self {
        self.extenders = self.extenders.asked_by(asker, is_asked);
        for profile in &mut self.profiles {
            for extender in self.extenders.list().iter().filter(|extender| self.extenders.is_asked(extender)) {
                let name = extender.name.to_string();
                profile.not_emulated.retain(|(known, _)| *known != name);
            }
        }
        self
    }

    /// Lets the extenders of the same file be asked as those of another configuration are.
    fn asked_as(self, other: &Self) -> Self {
        let Some(asker) = other.extenders.asker() else { return self };
        // The text that was parsed again has no passwords.
        let list = other.extenders.list().to_vec();
        let config = Self { extenders: Extenders::new(list), ..self };
        config.asked_by(asker.clone(), |extender| other.extenders.is_asked(extender))
    }

    /// Returns the profile for pods of a scheduler name.
    pub fn profile(&self, scheduler_name: &str) -> Option<&Framework> {
        self.profiles.iter().find(|p| p.name == scheduler_name)
    }

    fn build(mut file: ConfigFile, emulation: Emulation, out_of_tree: &OutOfTree) -> Result<Self, ConfigError> {
        file.set_defaults(emulation);
        validation::validate(&file, emulation).into_result()?;
        apply_extenders(&mut file)?;
        let mut errors = FieldErrors::default();
        let extenders = built(&file.extenders);
        let mut profiles = profile::build(&file.api_version, &file.profiles, emulation, out_of_tree, &mut errors);
        errors.into_result()?;
        for profile in &mut profiles {
            if file.runs_all_filters {
                profile.filters = FilterRun::All;
            }
            profile.not_emulated.extend(not_emulated(&extenders));
        }
        let (pod_initial_backoff_seconds, pod_max_backoff_seconds) = file.backoff_seconds();
        Ok(Self {
            profiles,
            percentage_of_nodes_to_score: file.percentage_of_nodes_to_score.unwrap_or(0),
            pod_initial_backoff_seconds,
            pod_max_backoff_seconds,
            emulation,
            extenders: Extenders::new(extenders),
            text: None,
            edits: Vec::new(),
            out_of_tree: OutOfTree::default(),
        })
    }
}

/// Returns the extenders as they are called, in configuration order.
fn built(configured: &[file::Extender]) -> Vec<Extender> {
    configured.iter().enumerate().map(|(index, extender)| extender.built(index)).collect()
}

/// Returns the calls that kube-scheduler makes to an extender.
fn calls(extender: &Extender) -> Vec<&'static str> {
    let verbs = [
        ("filter", ExtenderVerb::Filter),
        ("prioritize", ExtenderVerb::Prioritize),
        ("preempt", ExtenderVerb::Preempt),
        ("bind", ExtenderVerb::Bind),
    ];
    verbs.into_iter().filter(|(_, verb)| extender.has(*verb)).map(|(name, _)| name).collect()
}

/// Returns the extenders with the calls that kube-scheduler would make; those without a verb are left out.
fn not_emulated(extenders: &[Extender]) -> impl Iterator<Item = (String, Vec<&'static str>)> {
    let of = |extender: &Extender| (extender.name.to_string(), calls(extender));
    extenders.iter().map(of).filter(|(_, calls)| !calls.is_empty())
}

/// Replaces the ignored resources of NodeResourcesFit by those that extenders manage and the scheduler ignores; mirrors
/// `buildExtenders` in `pkg/scheduler/scheduler.go`.
fn apply_extenders(file: &mut ConfigFile) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    for (i, extender) in file.extenders.iter().enumerate() {
        let tls = &extender.tls_config;
        if tls.insecure && !(tls.ca_file.is_empty() && tls.ca_data.0.is_empty()) {
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
