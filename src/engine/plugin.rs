//! Out-of-tree plugins: the traits of an embedder, as plugins of the framework.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;

use super::builder::Factory;
use crate::cluster::Str;
use crate::framework::{
    self, Context, CycleState, FieldErrors, FilterPlugin, MAX_NODE_SCORE, NodeInfo, OutOfTreeFactory, PluginName, PodInfo,
    PodResourcesOptions, Resource, ScorePlugin, Status, pod_requests,
};

/// An out-of-tree plugin: it filters nodes, scores them, or both.
///
/// A Filter that keeps pods off nodes of another tenant:
///
/// ```
/// use schedscope::engine::{Engine, Filter, NodeView, Plugin, PodView, Verdict};
///
/// struct Tenants;
///
/// impl Plugin for Tenants {
///     fn filter(&self) -> Option<&dyn Filter> {
///         Some(self)
///     }
/// }
///
/// impl Filter for Tenants {
///     fn filter(&self, pod: &PodView<'_>, node: &NodeView<'_>) -> Verdict {
///         match node.label("tenant") {
///             Some(tenant) if tenant != pod.namespace() => Verdict::rejects_always("node(s) belonged to another tenant"),
///             _ => Verdict::Fits,
///         }
///     }
/// }
///
/// let cluster = "
/// {kind: Node, metadata: {name: a, labels: {tenant: shop}}, status: {allocatable: {cpu: 4, pods: 10}}}
/// ---
/// {kind: Node, metadata: {name: b, labels: {tenant: bank}}, status: {allocatable: {cpu: 4, pods: 10}}}
/// ---
/// {kind: Pod, metadata: {name: web, namespace: bank}}
/// ";
/// let engine = Engine::builder().objects(cluster).plugin("Tenants", |_args| Ok(Box::new(Tenants))).build()?;
/// let decision = engine.decide("bank", "web")?;
/// assert_eq!(decision.node(), Some("b"));
/// assert_eq!(decision.rejections()[0].plugin(), "Tenants");
/// # Ok::<(), schedscope::engine::Error>(())
/// ```
///
/// A Score that prefers nodes with the cheapest label, weighed by its arguments in the configuration:
///
/// ```
/// use schedscope::engine::{Engine, NodeView, Plugin, PodView, Score};
///
/// struct Cheap {
///     label: String,
/// }
///
/// impl Plugin for Cheap {
///     fn score(&self) -> Option<&dyn Score> {
///         Some(self)
///     }
/// }
///
/// impl Score for Cheap {
///     fn score(&self, _pod: &PodView<'_>, node: &NodeView<'_>) -> i64 {
///         let price = node.label(&self.label).and_then(|price| price.parse().ok()).unwrap_or(100);
///         100 - i64::clamp(price, 0, 100)
///     }
/// }
///
/// let config = "
/// apiVersion: kubescheduler.config.k8s.io/v1
/// kind: KubeSchedulerConfiguration
/// profiles:
/// - plugins: {score: {enabled: [{name: Cheap, weight: 50}]}}
///   pluginConfig: [{name: Cheap, args: {label: price}}]
/// ";
/// let cluster = "
/// {kind: Node, metadata: {name: a, labels: {price: '40'}}, status: {allocatable: {cpu: 4, pods: 10}}}
/// ---
/// {kind: Node, metadata: {name: b, labels: {price: '10'}}, status: {allocatable: {cpu: 4, pods: 10}}}
/// ---
/// {kind: Pod, metadata: {name: web}}
/// ";
/// let cheap = |args: &serde_json::Value| match args["label"].as_str() {
///     Some(label) => Ok(Box::new(Cheap { label: label.to_owned() }) as Box<dyn Plugin>),
///     None => Err("label is required".to_owned()),
/// };
/// let engine = Engine::builder().objects(cluster).config(config).plugin("Cheap", cheap).build()?;
/// assert_eq!(engine.decide("default", "web")?.node(), Some("b"));
/// # Ok::<(), schedscope::engine::Error>(())
/// ```
pub trait Plugin: Send + Sync {
    /// Returns the Filter point; `None` if the plugin does not filter.
    fn filter(&self) -> Option<&dyn Filter> {
        None
    }

    /// Returns the Score point; `None` if the plugin does not score.
    fn score(&self) -> Option<&dyn Score> {
        None
    }
}

/// Decides whether a node can take a pod.
pub trait Filter {
    /// Returns the verdict on one node. It is asked again with other pods on the node, to find out whether preemption helps. Equal
    /// arguments must get equal answers. A panic is an error of the decision.
    fn filter(&self, pod: &PodView<'_>, node: &NodeView<'_>) -> Verdict;
}

/// Ranks the nodes that a pod fits on.
pub trait Score {
    /// Returns the score of one node, from 0 to 100. Any other number is an error of the decision.
    fn score(&self, pod: &PodView<'_>, node: &NodeView<'_>) -> i64;
}

/// The answer of a [`Filter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The node can take the pod.
    Fits,
    /// It cannot, and evicting pods may help; holds the reason, as kube-scheduler's message has it.
    Rejects(String),
    /// It cannot, and evicting pods does not help; holds the reason.
    RejectsAlways(String),
    /// The attempt ends with this error.
    Error(String),
}

impl Verdict {
    /// Rejects a node; evicting pods may help.
    ///
    /// ```
    /// # use schedscope::engine::Verdict;
    /// assert_eq!(Verdict::rejects("full"), Verdict::Rejects("full".to_owned()));
    /// ```
    pub fn rejects(reason: impl Into<String>) -> Self {
        Self::Rejects(reason.into())
    }

    /// Rejects a node; evicting pods does not help.
    ///
    /// ```
    /// # use schedscope::engine::Verdict;
    /// assert_eq!(Verdict::rejects_always("other tenant"), Verdict::RejectsAlways("other tenant".to_owned()));
    /// ```
    pub fn rejects_always(reason: impl Into<String>) -> Self {
        Self::RejectsAlways(reason.into())
    }
}

/// A pod, as a plugin sees it.
#[derive(Clone, Copy)]
pub struct PodView<'a>(&'a PodInfo);

impl<'a> PodView<'a> {
    /// Returns the namespace.
    pub fn namespace(&self) -> &'a str {
        self.0.namespace()
    }

    /// Returns the name.
    pub fn name(&self) -> &'a str {
        &self.0.pod.metadata.name
    }

    /// Returns a label.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.0.pod.metadata.labels.get(key).map(Str::as_str)
    }

    /// Returns all labels, by key.
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.pod.metadata.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns the priority.
    pub fn priority(&self) -> i32 {
        self.0.priority()
    }

    /// Returns the request of a resource: thousandths of a core for `cpu`, bytes or units for others.
    pub fn request(&self, resource: &str) -> i64 {
        amount(&Resource::from_list(&pod_requests(&self.0.pod, PodResourcesOptions::default())), resource)
    }

    /// Returns the pod as JSON, with the fields that scheduling reads.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(&*self.0.pod).unwrap_or_default()
    }
}

/// A node with its pods, as a plugin sees it.
#[derive(Clone, Copy)]
pub struct NodeView<'a>(&'a NodeInfo);

impl<'a> NodeView<'a> {
    /// Returns the name.
    pub fn name(&self) -> &'a str {
        self.0.name()
    }

    /// Returns a label.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.0.node.metadata.labels.get(key).map(Str::as_str)
    }

    /// Returns all labels, by key.
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.node.metadata.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns whether the node is cordoned.
    pub fn unschedulable(&self) -> bool {
        self.0.unschedulable()
    }

    /// Returns the taints, as key, value and effect.
    pub fn taints(&self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        self.0.taints().iter().map(|taint| (taint.key.as_str(), taint.value.as_str(), taint.effect.as_str()))
    }

    /// Returns the pods on the node.
    pub fn pods(&self) -> impl Iterator<Item = PodView<'a>> {
        self.0.pods.iter().map(|pod| PodView(pod))
    }

    /// Returns the allocatable amount of a resource, in the units of [`PodView::request`].
    pub fn allocatable(&self, resource: &str) -> i64 {
        if resource == "pods" { self.0.allocatable.allowed_pod_number } else { amount(&self.0.allocatable, resource) }
    }

    /// Returns the sum of the requests of the pods on the node, in the units of [`PodView::request`].
    pub fn requested(&self, resource: &str) -> i64 {
        if resource == "pods" { self.0.pods.len() as i64 } else { amount(&self.0.requested, resource) }
    }

    /// Returns the node as JSON, with the fields that scheduling reads.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(&*self.0.node).unwrap_or_default()
    }
}

fn amount(of: &Resource, resource: &str) -> i64 {
    match resource {
        "cpu" => of.milli_cpu,
        "memory" => of.memory,
        "ephemeral-storage" => of.ephemeral_storage,
        name => of.scalar(name),
    }
}

/// An embedder's plugin, as a plugin of the framework.
struct Adapted {
    name: PluginName,
    inner: Box<dyn Plugin>,
}

/// Returns the factory of a plugin of the framework.
pub(super) fn adapted(name: PluginName, factory: Factory) -> OutOfTreeFactory {
    Arc::new(move |args, _| {
        let refused = |message: String| {
            let mut errors = FieldErrors::default();
            errors.add("", message);
            errors
        };
        let made = catch_unwind(AssertUnwindSafe(|| factory(args.unwrap_or(&Value::Null))));
        match made {
            Ok(Ok(inner)) => Ok(Arc::new(Adapted { name, inner }) as Arc<dyn framework::Plugin>),
            Ok(Err(message)) => Err(refused(message)),
            Err(_) => Err(refused("the plugin panicked".to_owned())),
        }
    })
}

impl framework::Plugin for Adapted {
    fn name(&self) -> PluginName {
        self.name
    }

    fn filter(&self) -> Option<&dyn FilterPlugin> {
        self.inner.filter().map(|_| self as &dyn FilterPlugin)
    }

    fn score(&self) -> Option<&dyn ScorePlugin> {
        self.inner.score().map(|_| self as &dyn ScorePlugin)
    }
}

impl FilterPlugin for Adapted {
    fn filter(&self, _: &Context<'_>, _: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(point) = self.inner.filter() else { return Status::success() };
        match catch_unwind(AssertUnwindSafe(|| point.filter(&PodView(pod), &NodeView(node)))) {
            Ok(Verdict::Fits) => Status::success(),
            Ok(Verdict::Rejects(reason)) => Status::unschedulable(reason),
            Ok(Verdict::RejectsAlways(reason)) => Status::unresolvable(reason),
            Ok(Verdict::Error(message)) => Status::error(message),
            Err(_) => Status::error("the plugin panicked"),
        }
    }
}

impl ScorePlugin for Adapted {
    fn score(&self, _: &Context<'_>, _: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let Some(point) = self.inner.score() else { return Ok(0) };
        match catch_unwind(AssertUnwindSafe(|| point.score(&PodView(pod), &NodeView(node)))) {
            Ok(score) if (0..=MAX_NODE_SCORE).contains(&score) => Ok(score),
            Ok(score) => Err(Status::error(format!("the score {score} of {} is not from 0 to {MAX_NODE_SCORE}", node.name()))),
            Err(_) => Err(Status::error("the plugin panicked")),
        }
    }
}
