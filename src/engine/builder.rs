//! Builds an engine from objects and settings.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::plugin::{self, Plugin};
use super::{Engine, Error, ErrorKind};
use crate::cluster::{Kind, MissingKinds};
use crate::framework::{OutOfTree, PluginName};
use crate::release::{Emulation, FeatureGates, FoundVersion, Release, ReleaseChoice, VersionSource};
use crate::scheduler::{Config, Evictions, InitialQueues, Options, Sampling, Scheduler};
use crate::source::{self, Input, Severity};

/// Makes an out-of-tree plugin from its arguments in the configuration; `Null` if that gives none.
pub(super) type Factory = Arc<dyn Fn(&Value) -> Result<Box<dyn Plugin>, String> + Send + Sync>;

/// Builds an [`Engine`]. Every call but [`build`](Self::build) only notes its argument; `build` reports what is wrong with it.
#[derive(Clone, Default)]
#[must_use]
pub struct Builder {
    release: Option<String>,
    config: Option<String>,
    gates: String,
    inputs: Vec<(String, Vec<u8>)>,
    unknown: Vec<String>,
    now: Option<String>,
    graceful: bool,
    all_nodes: bool,
    plugins: Vec<(String, Factory)>,
    /// The first object that cannot be written as JSON.
    unwritable: Option<Error>,
}

/// The name of the objects that [`Builder::object`] takes.
#[cfg(feature = "k8s-openapi")]
const TYPED: &str = "typed objects";

impl Builder {
    /// Emulates kube-scheduler of a version, such as `1.34` or `v1.31.4-eks-a1b2c3`. Without it, the newest that is verified. A version that
    /// is not emulated is replaced by the closest one, which [`Engine::warnings`] says.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let engine = Engine::builder().release("1.31.4").build()?;
    /// assert_eq!(engine.release(), "1.31.4");
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn release(mut self, version: impl Into<String>) -> Self {
        self.release = Some(version.into());
        self
    }

    /// Reads a KubeSchedulerConfiguration, as YAML or JSON. Without it, kube-scheduler's defaults.
    ///
    /// ```
    /// # use schedscope::engine::{Engine, ErrorKind};
    /// let config = "
    ///   apiVersion: kubescheduler.config.k8s.io/v1
    ///   kind: KubeSchedulerConfiguration
    ///   profiles: [{plugins: {score: {disabled: [{name: ImageLocality}]}}}]";
    /// assert!(Engine::builder().config(config).build().is_ok());
    /// let error = Engine::builder().config("kind: Pod").build().unwrap_err();
    /// assert_eq!((error.kind(), error.input()), (ErrorKind::Config, Some("config")));
    /// ```
    pub fn config(mut self, text: impl Into<String>) -> Self {
        self.config = Some(text.into());
        self
    }

    /// Sets feature gates, as kube-scheduler's `--feature-gates` takes them.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// assert!(Engine::builder().feature_gates("DRAConsumableCapacity=true").release("1.34").build().is_ok());
    /// assert!(Engine::builder().feature_gates("NoSuchGate=true").build().is_err());
    /// ```
    pub fn feature_gates(mut self, gates: impl Into<String>) -> Self {
        self.gates = gates.into();
        self
    }

    /// Adds objects as JSON or YAML: one object, a List, or several documents. Of several copies of an object the newest counts. Kinds
    /// that a scheduler does not read are ignored. Pods that no API server has seen get an API server's defaults.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let nodes = "{kind: Node, metadata: {name: a}}\n---\n{kind: Node, metadata: {name: b}}\n";
    /// let engine = Engine::builder().objects(nodes).objects(br#"{"kind": "Pod", "metadata": {"name": "p"}}"#).build()?;
    /// assert!(engine.decide("default", "p").is_ok());
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn objects(self, text: impl AsRef<[u8]>) -> Self {
        let name = format!("objects {}", self.inputs.iter().filter(|(name, _)| name.starts_with("objects ")).count() + 1);
        self.named_objects(name, text)
    }

    /// Adds objects as [`objects`](Self::objects) does, under a name for errors.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let error = Engine::builder().named_objects("pods.yaml", "kind: Pod\nmetadata: {}\n").build().unwrap_err();
    /// assert_eq!(error.input(), Some("pods.yaml"));
    /// ```
    pub fn named_objects(mut self, name: impl Into<String>, text: impl AsRef<[u8]>) -> Self {
        self.inputs.push((name.into(), text.as_ref().to_vec()));
        self
    }

    /// Adds an object of the crate `k8s-openapi`, of any version of its API. Needs the feature `k8s-openapi`. An object that cannot be
    /// written as JSON is an error of [`build`](Self::build).
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// use k8s_openapi::api::core::v1::{Node, Pod};
    ///
    /// let (mut node, mut pod) = (Node::default(), Pod::default());
    /// node.metadata.name = Some("a".into());
    /// pod.metadata.name = Some("web".into());
    /// pod.metadata.namespace = Some("shop".into());
    /// let engine = Engine::builder().object(&node).object(&pod).build()?;
    /// assert!(engine.decide("shop", "web").is_ok());
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    #[cfg(feature = "k8s-openapi")]
    pub fn object<T: k8s_openapi::Resource + serde::Serialize>(mut self, object: &T) -> Self {
        let line = serde_json::to_value(object).and_then(|mut value| {
            if let Value::Object(fields) = &mut value {
                fields.entry("kind").or_insert_with(|| T::KIND.into());
                fields.entry("apiVersion").or_insert_with(|| T::API_VERSION.into());
            }
            serde_json::to_vec(&value)
        });
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                self.unwritable.get_or_insert_with(|| Error::new(ErrorKind::Object, error).in_input(TYPED).about(T::KIND));
                return self;
            }
        };
        // One input for all of them: a line is an object.
        let at = self.inputs.iter().position(|(name, _)| name == TYPED).unwrap_or_else(|| {
            self.inputs.push((TYPED.to_owned(), Vec::new()));
            self.inputs.len() - 1
        });
        self.inputs[at].1.extend(line.into_iter().chain([b'\n']));
        self
    }

    /// Names kinds that could not be read, such as `PodDisruptionBudget`: they are unknown, not none, and answers that depend on them
    /// say so.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let engine = Engine::builder().unknown(["PodDisruptionBudget"]).objects("{kind: Pod, metadata: {name: p}}").build()?;
    /// assert_eq!(engine.decide("default", "p")?.to_json()["budgetsUnknown"], true);
    /// assert!(Engine::builder().unknown(["Budget"]).build().is_err());
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn unknown<K: AsRef<str>>(mut self, kinds: impl IntoIterator<Item = K>) -> Self {
        self.unknown.extend(kinds.into_iter().map(|kind| kind.as_ref().to_owned()));
        self
    }

    /// Sets the time, as RFC 3339. Without it, the newest time in the objects.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// let engine = Engine::builder().now("2026-11-20T00:00:00Z").build()?;
    /// assert_eq!(engine.now(), "2026-11-20T00:00:00Z");
    /// # Ok::<(), schedscope::engine::Error>(())
    /// ```
    pub fn now(mut self, time: impl Into<String>) -> Self {
        self.now = Some(time.into());
        self
    }

    /// Sets whether evicted pods keep their grace period. Without it, they are deleted at once.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// assert!(Engine::builder().graceful(true).build().is_ok());
    /// ```
    pub fn graceful(mut self, graceful: bool) -> Self {
        self.graceful = graceful;
        self
    }

    /// Sets whether every node is filtered, and every candidate of preemption tried, instead of the number that kube-scheduler stops at
    /// in large clusters.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// assert!(Engine::builder().all_nodes(true).build().is_ok());
    /// ```
    pub fn all_nodes(mut self, all: bool) -> Self {
        self.all_nodes = all;
        self
    }

    /// Adds an out-of-tree plugin. A configuration may enable it at points of its choice, with arguments and a weight; a profile that
    /// does not name it gets it behind the plugins of kube-scheduler, with weight 1. See [`Plugin`] for one of each kind.
    ///
    /// The name has letters, digits, `-`, `_` and `.`, and is none of kube-scheduler's. A process may use 8 different names.
    pub fn plugin<F>(mut self, name: impl Into<String>, factory: F) -> Self
    where
        F: Fn(&Value) -> Result<Box<dyn Plugin>, String> + Send + Sync + 'static,
    {
        self.plugins.push((name.into(), Arc::new(factory)));
        self
    }

    /// Builds the engine. Every pending pod is new to its scheduler, as after a restart.
    ///
    /// # Errors
    /// When an object cannot be read, kube-scheduler would not start with the configuration or the feature gates, or another argument is
    /// not what its call takes.
    ///
    /// ```
    /// # use schedscope::engine::Engine;
    /// assert!(Engine::builder().build().is_ok(), "an empty cluster is one, too");
    /// ```
    pub fn build(self) -> Result<Engine, Error> {
        if let Some(error) = self.unwritable {
            return Err(error);
        }
        let choice = self.choice()?;
        let gates = FeatureGates::parse(&self.gates, choice.profile());
        let gates = gates.map_err(|error| Error::new(ErrorKind::FeatureGates, error).in_input("feature gates"))?;
        let emulation = Emulation::new(choice.profile(), gates);
        let config = Config::read(self.config.as_deref(), emulation, &self.out_of_tree()?)
            .map_err(|errors| Error::of_config(&errors, self.config.as_deref().unwrap_or_default()))?;
        let kinds = self.unknown.iter().map(|name| kind_named(name)).collect::<Result<Vec<Kind>, Error>>()?;
        let now = self.now.as_deref().map(str::parse::<Timestamp>).transpose();
        let now = now.map_err(|error| Error::new(ErrorKind::Time, error).in_input("now"))?;
        let inputs: Vec<Input> = self.inputs.into_iter().map(|(name, bytes)| Input::Bytes { name, bytes: Cow::Owned(bytes) }).collect();
        let mut loaded = source::load(&inputs);
        if let Some(error) = Error::of_objects(loaded.diagnostics.iter().filter(|found| found.severity == Severity::Error)) {
            return Err(error);
        }
        let mut unknown: MissingKinds = loaded.report.missing_for(emulation.gated_kinds());
        for kind in kinds {
            unknown.refused.insert(kind);
        }
        unknown.budgets |= unknown.budgets_withheld();
        let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, all_nodes: self.all_nodes, ..Sampling::default() };
        let evictions = if self.graceful { Evictions::AfterGracePeriod } else { Evictions::AtOnce };
        let start = now.or(loaded.report.newest).unwrap_or_default();
        let (queues, events) = (InitialQueues::Fresh, Vec::new());
        let options = Options { start, sampling, evictions, queues, events, unknown, release: choice, source_bytes: None };
        let scheduler = Scheduler::new(config, std::mem::take(&mut loaded.objects), options);
        Ok(Engine::new(scheduler, loaded))
    }

    /// Returns the release to emulate.
    fn choice(&self) -> Result<ReleaseChoice, Error> {
        let Some(version) = &self.release else { return Ok(ReleaseChoice::default()) };
        let release = version.parse::<Release>().map_err(|error| Error::new(ErrorKind::Release, error).in_input("release"))?;
        Ok(ReleaseChoice { wanted: Some(FoundVersion { release, source: VersionSource::Flag }), cluster: None })
    }

    fn out_of_tree(&self) -> Result<OutOfTree, Error> {
        let mut plugins = OutOfTree::default();
        for (name, factory) in &self.plugins {
            let wrong = |message: &str| Err(Error::new(ErrorKind::Plugin, message).in_input(&format!("plugin {name:?}")));
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
            if name.is_empty() || name.len() > LONGEST_NAME || !is_plain {
                return wrong("a name has 1 to 63 letters, digits, \"-\", \"_\" and \".\"");
            }
            if name.parse::<PluginName>().is_ok() {
                return wrong("kube-scheduler has a plugin of this name");
            }
            let Some(plugin) = PluginName::out_of_tree(name) else { return wrong("the process uses too many names of plugins") };
            plugins.add(plugin, plugin::adapted(plugin, factory.clone()));
        }
        Ok(plugins)
    }
}

/// Limit on the length of a plugin's name.
const LONGEST_NAME: usize = 63;

fn kind_named(name: &str) -> Result<Kind, Error> {
    name.parse().map_err(|_| Error::new(ErrorKind::UnknownKind, format_args!("a scheduler reads no kind {name:?}")).in_input("unknown"))
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let inputs: Vec<&str> = self.inputs.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Builder").field("release", &self.release).field("inputs", &inputs).finish_non_exhaustive()
    }
}
