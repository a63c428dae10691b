//! The object whose template makes a pod, and whether a change of that template reaches the pod.
//!
//! A pod may differ from the template: it is of an older revision, or admission (a namespace's node selector, a VerticalPodAutoscaler,
//! another webhook) set a field when it was created, and sets it again in every new pod. A controller may also keep what it has, or
//! another object may write the template.

use serde_json::Value;

use super::patches::Targets;
use crate::cluster::neighbors::{Neighbor, NeighborKind, NeighborMeta, OwnerFacts, Template, TemplateContainer, TemplateSpec};
use crate::cluster::{
    Affinity, Cluster, Container, Controller, Key, Kind, Map, OwnerReference, Pod, PodSpec, Quantity, ResourceRequirements, Str, Toleration,
};
use crate::controllers::{Workload, deployment_of};
use crate::fixes::{Lowered, PodChange, RequestPlace};

/// Why no command brings a change of a pod about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoCommand {
    /// This object makes the pod, and nothing is known of its template.
    MadeBy(Workload),
    /// Another object writes the owner's template.
    WrittenBy {
        /// The owner.
        what: Workload,
        by: Workload,
    },
    /// The owner was not read, and another object may write its template.
    Unread(Workload),
    /// The Job was not read. It is immutable, so that it would have to be replaced.
    JobUnread(Workload),
    /// The owner is being deleted.
    Deleting(Workload),
    /// The Deployment rolls nothing out.
    Paused(Workload),
    /// The StatefulSet keeps pods below this number at their revision.
    Partition(Workload, i64),
    /// The pod is of an older ReplicaSet.
    OlderReplicaSet { replica_set: Str, deployment: Workload },
    /// The field of the pod is not from the template, but is set when a pod is created.
    SetAtCreation { owner: Workload, field: &'static str, by: Setter },
    /// The template has another value of the field: the pod is of an older revision, or the field was set when it was created.
    OtherTemplate { owner: Workload, field: &'static str },
    /// The pods that it would evict are of the Job that is replaced.
    EvictsOwn(Workload),
    /// A pod on the host's network has its ports on the host.
    HostNetwork,
}

/// The program that sets a field when a pod is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setter {
    /// An annotation of the namespace: its key and the namespace.
    Namespace(&'static str, Str),
    /// A VerticalPodAutoscaler, as it notes in the pod.
    VerticalPodAutoscaler,
    /// A webhook or another program that was not read.
    Unknown,
}

/// Annotations of a namespace with a node selector that its pods get (`plugin/pkg/admission/podnodeselector`, and that of OpenShift).
const NODE_SELECTORS: [&str; 2] = ["scheduler.alpha.kubernetes.io/node-selector", "openshift.io/node-selector"];
/// The annotation in which a VerticalPodAutoscaler notes the fields that it set.
const VPA_UPDATES: &str = "vpaUpdates";

/// The way in which a change of an owner's template reaches the pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way<'a> {
    /// The controller replaces its pods.
    Template,
    /// The controller keeps its pods, so that the pod must be deleted.
    TemplateThenDelete,
    /// The Job is replaced. Its selector is kept if it is the user's.
    Job {
        manual_selector: bool,
        /// The CronJob that makes such Jobs.
        cron: Option<CronJob<'a>>,
    },
}

/// A CronJob whose template is changed too.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CronJob<'a> {
    pub(super) name: Str,
    /// Its pods' template; `None` where it was not read.
    pub(super) template: Option<&'a TemplateSpec>,
}

/// The owner of a pod whose template is changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Owner<'a> {
    pub(super) workload: Workload,
    /// The kind, as kubectl takes it.
    pub(super) resource: &'static str,
    pub(super) way: Way<'a>,
    /// The template; `None` where it was not read.
    pub(super) template: Option<&'a TemplateSpec>,
    /// Whether the pod is known to be made from this template.
    is_newest: bool,
}

impl<'a> Owner<'a> {
    /// Returns the owner of a pod whose template is to be changed; `None` for a pod without a controller.
    pub(super) fn of(targets: &Targets<'a>, pod: &Pod) -> Result<Option<Self>, NoCommand> {
        let Some(owner) = pod.metadata.controller() else { return Ok(None) };
        let workload = workload(&owner.kind, &pod.metadata.namespace, &owner.name);
        match owner.kind.as_str() {
            "ReplicaSet" => Self::of_replica_set(targets, pod, workload),
            "ReplicationController" => Self::of_controller(targets, workload),
            "StatefulSet" => Self::of_stateful_set(targets, pod, workload),
            "DaemonSet" => {
                let known = known(targets, NeighborKind::DaemonSet, &workload)?;
                let on_delete = known.and_then(Neighbor::facts).is_some_and(|facts| facts.spec.update_strategy.kind == "OnDelete");
                let way = if on_delete { Way::TemplateThenDelete } else { Way::Template };
                Ok(Self::with("daemonset", way, workload, known))
            }
            "Job" => Self::of_job(targets, workload),
            _ => Err(NoCommand::MadeBy(workload)),
        }
        .map(Some)
    }

    fn with(resource: &'static str, way: Way<'a>, workload: Workload, known: Option<&'a Neighbor>) -> Self {
        let template = known.and_then(Neighbor::facts).and_then(|facts| template(&facts.spec.template));
        Self { workload, resource, way, template, is_newest: false }
    }

    fn of_replica_set(targets: &Targets<'a>, pod: &Pod, set: Workload) -> Result<Self, NoCommand> {
        let own = targets.cluster.replica_sets.get(&set.key);
        let known = targets.neighbors.get(NeighborKind::ReplicaSet, &set.key);
        let above = own.map(|own| own.metadata.controller()).or_else(|| known.map(|known| known.metadata.controller()));
        let deployment = match above {
            Some(Some(above)) if above.kind == "Deployment" => above.name.clone(),
            Some(Some(above)) => return Err(written_by(set, above)),
            Some(None) => return Ok(Self::with("replicaset", Way::TemplateThenDelete, set, known.map(|known| &**known))),
            None => match deployment_of(targets.cluster, pod, &set.key.name) {
                Some(name) => name,
                None => return Err(NoCommand::Unread(set)),
            },
        };
        let deployment = workload("Deployment", &set.key.namespace, &deployment);
        let above = self::known(targets, NeighborKind::Deployment, &deployment)?;
        if above.and_then(Neighbor::facts).is_some_and(|facts| facts.spec.paused) {
            return Err(NoCommand::Paused(deployment));
        }
        let of_set = known.and_then(|known| known.facts()).and_then(|facts| template(&facts.spec.template));
        let mut owner = Self::with("deployment", Way::Template, deployment, above);
        if let (Some(of_set), Some(newest)) = (of_set, owner.template) {
            if of_set != newest {
                return Err(NoCommand::OlderReplicaSet { replica_set: set.key.name, deployment: owner.workload });
            }
            owner.is_newest = true;
        }
        Ok(owner)
    }

    fn of_controller(targets: &Targets<'a>, controller: Workload) -> Result<Self, NoCommand> {
        let own = targets.cluster.replication_controllers.get(&controller.key);
        let known = known(targets, NeighborKind::ReplicationController, &controller)?;
        if let Some(above) = own.and_then(|own| own.metadata.controller()) {
            return Err(written_by(controller, above));
        }
        if own.is_none() && known.is_none() {
            return Err(NoCommand::Unread(controller));
        }
        Ok(Self::with("replicationcontroller", Way::TemplateThenDelete, controller, known))
    }

    /// Mirrors `newVersionedStatefulSetPod` in `pkg/controller/statefulset/stateful_set_utils.go`: a pod below the partition is made
    /// at the current revision again.
    fn of_stateful_set(targets: &Targets<'a>, pod: &Pod, set: Workload) -> Result<Self, NoCommand> {
        if let Some(above) = targets.cluster.stateful_sets.get(&set.key).and_then(|set| set.metadata.controller()) {
            return Err(written_by(set, above));
        }
        let known = known(targets, NeighborKind::StatefulSet, &set)?;
        if let Some(facts) = known.and_then(Neighbor::facts)
            && facts.spec.update_strategy.kind != "OnDelete"
            && let Some(partition) = facts.spec.update_strategy.rolling_update.partition
            && ordinal(pod).is_none_or(|ordinal| ordinal < facts.spec.ordinals.start.saturating_add(partition))
        {
            return Err(NoCommand::Partition(set, partition));
        }
        Ok(Self::with("statefulset", Way::TemplateThenDelete, set, known))
    }

    fn of_job(targets: &Targets<'a>, job: Workload) -> Result<Self, NoCommand> {
        let Some(own) = targets.neighbors.get(NeighborKind::Job, &job.key) else { return Err(NoCommand::JobUnread(job)) };
        is_left_alone(&own.metadata, &job)?;
        let cron = match own.metadata.controller() {
            Some(above) if above.kind == "CronJob" => cron_job(targets, &job, above),
            Some(above) => return Err(written_by(job, above)),
            None => None,
        };
        let manual_selector = own.facts().is_some_and(|facts| facts.spec.manual_selector);
        Ok(Self::with("job", Way::Job { manual_selector, cron }, job, Some(own)))
    }

    /// Returns the owner with another template, of a CronJob that makes such Jobs.
    pub(super) fn with_template(&self, template: Option<&'a TemplateSpec>) -> Self {
        Self { template, ..self.clone() }
    }

    /// Checks that pods of the changed template get the changed values, and are otherwise like the pod.
    pub(super) fn check(&self, targets: &Targets<'_>, pod: &Pod, changes: &[&PodChange]) -> Result<(), NoCommand> {
        let Some(template) = self.template else { return Ok(()) };
        let compared = Compared { cluster: targets.cluster, template, pod: &unmerged(pod) };
        let changed = |change: &&PodChange| !compared.is_changed_by(change) && !defaults(targets, pod, compared, change);
        let differing = changes.iter().copied().filter(changed).map(PodChange::field).next();
        if let Some(field) = differing {
            let by = setter(targets, pod, field);
            if self.is_newest || by != Setter::Unknown {
                return Err(NoCommand::SetAtCreation { owner: self.workload.clone(), field, by });
            }
            return Err(NoCommand::OtherTemplate { owner: self.workload.clone(), field });
        }
        // An annotation of the namespace also holds where the template has the same value.
        let selects = |change: &&&PodChange| selector_key(change).is_some_and(|key| namespace_selects(targets, pod, key).is_some());
        if let Some(change) = changes.iter().find(selects) {
            let (field, by) = (change.field(), setter(targets, pod, change.field()));
            return Err(NoCommand::SetAtCreation { owner: self.workload.clone(), field, by });
        }
        // Admission sets the same fields in new pods; those of another revision differ for good.
        match compared.difference().filter(|_| !self.is_newest) {
            Some(field) if setter(targets, pod, field) == Setter::Unknown => {
                Err(NoCommand::OtherTemplate { owner: self.workload.clone(), field })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the kinds that say which fixes of a pod hold and whether a command brings one about, and that scheduling does not read: those of
/// its owners, the policies of admission, and Jobs, which may fail with an evicted pod.
pub fn fix_kinds(pod: &Pod) -> impl Iterator<Item = NeighborKind> + use<> {
    use NeighborKind::{Job, LimitRange, ResourceQuota, RuntimeClass, ServiceAccount};
    owner_kinds(pod).iter().copied().chain([Job, LimitRange, ResourceQuota, RuntimeClass, ServiceAccount])
}

fn owner_kinds(pod: &Pod) -> &'static [NeighborKind] {
    use NeighborKind::{CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet};
    match pod.metadata.controller().map(|owner| owner.kind.as_str()) {
        Some("ReplicaSet") => &[ReplicaSet, Deployment],
        Some("ReplicationController") => &[ReplicationController],
        Some("StatefulSet") => &[StatefulSet],
        Some("DaemonSet") => &[DaemonSet],
        Some("Job") => &[Job, CronJob],
        _ => &[],
    }
}

fn workload(kind: &str, namespace: &Str, name: &Str) -> Workload {
    Workload { kind: kind.into(), key: Key::new(namespace.clone(), name.clone()) }
}

fn written_by(what: Workload, by: &OwnerReference) -> NoCommand {
    let by = workload(&by.kind, &what.key.namespace, &by.name);
    NoCommand::WrittenBy { what, by }
}

/// Returns an owner that was read; an error if another object writes it, or if it is being deleted.
fn known<'a>(targets: &Targets<'a>, kind: NeighborKind, workload: &Workload) -> Result<Option<&'a Neighbor>, NoCommand> {
    let Some(known) = targets.neighbors.get(kind, &workload.key) else { return Ok(None) };
    if let Some(above) = known.metadata.controller() {
        return Err(written_by(workload.clone(), above));
    }
    is_left_alone(&known.metadata, workload)?;
    Ok(Some(known))
}

/// Checks that no other object writes the Deployment whose rollout is changed.
pub(super) fn check_rollout(targets: &Targets<'_>, deployment: &Key) -> Result<(), NoCommand> {
    known(targets, NeighborKind::Deployment, &workload("Deployment", &deployment.namespace, &deployment.name)).map(drop)
}

fn is_left_alone(metadata: &NeighborMeta, workload: &Workload) -> Result<(), NoCommand> {
    if metadata.deletion_timestamp.is_empty() { Ok(()) } else { Err(NoCommand::Deleting(workload.clone())) }
}

/// Returns the CronJob of a Job, unless another object writes it.
fn cron_job<'a>(targets: &Targets<'a>, job: &Workload, cron: &OwnerReference) -> Option<CronJob<'a>> {
    let known = targets.neighbors.get(NeighborKind::CronJob, &Key::new(job.key.namespace.clone(), cron.name.clone()));
    if known.is_some_and(|known| known.metadata.controller().is_some() || !known.metadata.deletion_timestamp.is_empty()) {
        return None;
    }
    let of_jobs = |facts: &'a OwnerFacts| template(&facts.spec.job_template.as_ref()?.spec.template);
    Some(CronJob { name: cron.name.clone(), template: known.and_then(|known| known.facts()).and_then(of_jobs) })
}

/// Returns a template that is kept in full.
fn template(template: &Template) -> Option<&TemplateSpec> {
    Some(&template.spec).filter(|spec| !spec.containers.is_empty())
}

/// Returns the number at the end of a pod's name.
fn ordinal(pod: &Pod) -> Option<i64> {
    pod.metadata.name.rsplit_once('-')?.1.parse().ok()
}

/// Returns the label key of a change of the node selector.
fn selector_key(change: &PodChange) -> Option<&Str> {
    match change {
        PodChange::DropSelector { key, .. } | PodChange::SetSelector { key, .. } | PodChange::RenameSelector { from: key, .. } => Some(key),
        _ => None,
    }
}

/// Returns the annotation of the pod's namespace that sets a key of the node selector.
fn namespace_selects(targets: &Targets<'_>, pod: &Pod, key: &str) -> Option<&'static str> {
    let namespace = targets.written(Kind::Namespace, &Key::new("", pod.metadata.namespace.clone()))?;
    NODE_SELECTORS.into_iter().find(|annotation| {
        let text = namespace["metadata"]["annotations"][annotation].as_str().unwrap_or_default();
        text.split(',').any(|pair| pair.split('=').next().is_some_and(|own| own.trim() == key))
    })
}

/// Returns who sets a field when a pod is created.
fn setter(targets: &Targets<'_>, pod: &Pod, field: &str) -> Setter {
    match field {
        "nodeSelector" => {
            let mut keys = pod.spec.node_selector.iter().flat_map(Map::keys);
            let annotation = keys.find_map(|key| namespace_selects(targets, pod, key));
            annotation.map_or(Setter::Unknown, |annotation| Setter::Namespace(annotation, pod.metadata.namespace.clone()))
        }
        "resources" => {
            let written = targets.written(Kind::Pod, &pod.key());
            let notes = written.is_some_and(|pod| pod["metadata"]["annotations"][VPA_UPDATES].is_string());
            if notes { Setter::VerticalPodAutoscaler } else { Setter::Unknown }
        }
        _ => Setter::Unknown,
    }
}

/// Returns whether a request that a change lowers is the default of a LimitRange, which a value in the template replaces.
fn defaults(targets: &Targets<'_>, pod: &Pod, compared: Compared<'_>, change: &PodChange) -> bool {
    let PodChange::Lower(lowered) = change else { return false };
    let ranges = || targets.neighbors.in_namespace(NeighborKind::LimitRange, &pod.metadata.namespace);
    lowered.parts.iter().all(|part| {
        let resource = lowered.resource.as_str();
        let is_default = |item: &Value| {
            item["type"] == "Container"
                && ["defaultRequest", "default"].iter().any(|kind| amount(&item[kind][resource]) == part.from.parse().ok())
        };
        let limits =
            |range: &Neighbor| range.field("/spec/limits").and_then(Value::as_array).is_some_and(|items| items.iter().any(is_default));
        part.to.is_some()
            && compared.resources(&part.place).is_some_and(|own| request(own, resource).is_none())
            && ranges().any(|range| limits(range))
    })
}

fn amount(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// Returns the request of a resource. A pod gets its limit where it has none (`SetDefaults_Pod` in `pkg/apis/core/v1/defaults.go`).
fn request(resources: &ResourceRequirements, resource: &str) -> Option<Quantity> {
    resources.requests.get(resource).or_else(|| resources.limits.get(resource)).copied()
}

/// A template, compared with a pod.
#[derive(Clone, Copy)]
struct Compared<'a> {
    cluster: &'a Cluster,
    template: &'a TemplateSpec,
    pod: &'a Pod,
}

impl<'a> Compared<'a> {
    fn spec(self) -> &'a PodSpec {
        &self.pod.spec
    }

    /// Returns the resources of the template at the place of a request.
    fn resources(self, place: &RequestPlace) -> Option<&'a ResourceRequirements> {
        let named = |list: &'a [TemplateContainer], name: &Str| list.iter().find(|one| one.name == *name).map(|one| &one.resources);
        match place {
            RequestPlace::Container(_, name) => named(&self.template.containers, name),
            RequestPlace::InitContainer(_, name) => named(&self.template.init_containers, name),
            RequestPlace::Pod => self.template.resources.as_deref(),
        }
    }

    /// Returns whether the template has the values that a change replaces.
    fn is_changed_by(self, change: &PodChange) -> bool {
        let Self { template, .. } = self;
        let spec = self.spec();
        match change {
            PodChange::DropSelector { key, value }
            | PodChange::SetSelector { key, from: value, .. }
            | PodChange::RenameSelector { from: key, value, .. } => template.node_selector.get(key) == Some(value),
            PodChange::DropRequirement { .. } | PodChange::AddValue { .. } | PodChange::DropNodeAffinity => self.node_affinity_is_equal(),
            PodChange::DropPodTerm { anti, .. } => {
                let terms = |affinity: &'a Option<Affinity>| {
                    let affinity = affinity.as_ref()?;
                    let kind = if *anti { &affinity.pod_anti_affinity } else { &affinity.pod_affinity };
                    kind.as_ref().map(|kind| &kind.required)
                };
                terms(&template.affinity) == terms(&spec.affinity)
            }
            PodChange::DropSpread { .. } | PodChange::MaxSkew { .. } => {
                template.topology_spread_constraints == spec.topology_spread_constraints
            }
            PodChange::Lower(lowered) => self.requests_are_equal(lowered),
            PodChange::DropHostPorts(_) => self.host_ports_are_equal(),
            PodChange::Priority { .. } | PodChange::Preempt => self.class_is_equal(),
            PodChange::RemoveGates(gates) => gates.iter().all(|gate| template.scheduling_gates.iter().any(|own| own.name == *gate)),
            PodChange::SchedulerName { .. } => self.scheduler_is_equal(),
            PodChange::Tolerate(_) | PodChange::DropVolume(_) | PodChange::DropClaim(_) => true,
        }
    }

    /// Returns a field that the template does not give to the pod; `None` if the pod can be made from it.
    fn difference(self) -> Option<&'static str> {
        let Self { template, .. } = self;
        let spec = self.spec();
        let selects = |(key, value): (&Str, &Str)| spec.node_selector.as_ref().and_then(|own| own.get(key)) == Some(value);
        let has_toleration = |toleration: &Toleration| spec.tolerations.contains(toleration);
        let affinity = template.affinity.as_ref();
        let terms = |affinity: &Affinity| (affinity.pod_affinity.clone(), affinity.pod_anti_affinity.clone());
        match () {
            () if !template.node_selector.iter().all(selects) => Some("nodeSelector"),
            () if affinity.is_some() && !self.node_affinity_is_equal() => Some("affinity.nodeAffinity"),
            () if affinity.is_some_and(|affinity| terms(affinity) != spec.affinity.as_ref().map(terms).unwrap_or_default()) => {
                Some("affinity")
            }
            () if !template.tolerations.iter().all(has_toleration) => Some("tolerations"),
            () if !template.topology_spread_constraints.is_empty()
                && template.topology_spread_constraints != spec.topology_spread_constraints =>
            {
                Some("topologySpreadConstraints")
            }
            () if !self.containers_are_given() => Some("resources"),
            () if !self.host_ports_are_equal() && spec.host_network != Some(true) => Some("ports"),
            () if !self.scheduler_is_equal() => Some("schedulerName"),
            () if !self.class_is_equal() => Some("priority"),
            () => None,
        }
    }

    fn scheduler_is_equal(self) -> bool {
        let name = |name: &'a Str| if name.is_empty() { "default-scheduler" } else { name.as_str() };
        name(&self.template.scheduler_name) == name(&self.spec().scheduler_name)
    }

    /// The controller of a DaemonSet writes the node into the affinity of each pod.
    fn node_affinity_is_equal(self) -> bool {
        let required = |affinity: &'a Option<Affinity>| affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref();
        Controller::of(self.pod) == Controller::DaemonSet || required(&self.template.affinity) == required(&self.spec().affinity)
    }

    fn requests_are_equal(self, lowered: &Lowered) -> bool {
        lowered.parts.iter().all(|part| {
            let own = self.resources(&part.place).and_then(|own| request(own, &lowered.resource));
            own.is_some() && own == part.from.parse().ok()
        })
    }

    /// Returns whether the pod has the containers of the template with its requests.
    fn containers_are_given(self) -> bool {
        let given = |own: &TemplateContainer, of_pod: &[Container]| {
            let Some(container) = of_pod.iter().find(|container| container.name == own.name) else { return false };
            let names = own.resources.requests.keys().chain(own.resources.limits.keys());
            names.into_iter().all(|name| request(&own.resources, name) == request(&container.resources, name))
        };
        let spec = self.spec();
        self.template.containers.iter().all(|own| given(own, &spec.containers))
            && self.template.init_containers.iter().all(|own| given(own, &spec.init_containers))
    }

    fn host_ports_are_equal(self) -> bool {
        let spec = self.spec();
        let of_pod =
            |container: &Container| container.ports.iter().filter(|port| port.host_port.is_some_and(|n| n != 0)).cloned().collect();
        let equal = |own: &[TemplateContainer], of: &[Container]| {
            of.iter().all(|container| {
                let ports: Vec<_> = of_pod(container);
                let own = own.iter().find(|own| own.name == container.name);
                let bare = |port: &crate::cluster::ContainerPort| (port.host_port, port.host_ip.clone(), protocol(&port.protocol));
                own.map_or(ports.is_empty(), |own| own.ports.iter().map(bare).eq(ports.iter().map(bare)))
            })
        };
        equal(&self.template.containers, &spec.containers) && equal(&self.template.init_containers, &spec.init_containers)
    }

    /// Returns whether the pod has the class of the template, or the default class.
    fn class_is_equal(self) -> bool {
        let (own, of_pod) = (&self.template.priority_class_name, &self.spec().priority_class_name);
        let is_default = || self.cluster.priority_classes.named(of_pod).is_some_and(|class| class.global_default == Some(true));
        own == of_pod || own.is_empty() && is_default()
    }
}

fn protocol(name: &Str) -> Str {
    if name.is_empty() { "TCP".into() } else { name.clone() }
}

/// Returns a pod without the expressions that the API server merged into its selectors for `matchLabelKeys` and `mismatchLabelKeys`.
fn unmerged(pod: &Pod) -> Pod {
    let written = serde_json::to_value(pod).ok();
    let without = written.and_then(|mut written| {
        unmerge(&mut written);
        serde_json::from_value(written).ok()
    });
    without.unwrap_or_else(|| pod.clone())
}

/// Removes from a pod as JSON the expressions that the API server merged into its selectors for `matchLabelKeys` and
/// `mismatchLabelKeys`. A new pod gets those of its own labels (`pkg/registry/core/pod/strategy.go`).
pub(super) fn unmerge(pod: &mut Value) {
    let labels = pod["metadata"]["labels"].clone();
    let Some(spec) = pod.get_mut("spec") else { return };
    let constraints = spec.get_mut("topologySpreadConstraints").and_then(Value::as_array_mut);
    constraints.into_iter().flatten().for_each(|one| unmerge_selector(one, &labels));
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = spec.get_mut("affinity").and_then(|affinity| affinity.get_mut(kind)) else { continue };
        for list in ["requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"] {
            for term in affinity.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                match term.get_mut("podAffinityTerm") {
                    Some(inner) => unmerge_selector(inner, &labels),
                    None => unmerge_selector(term, &labels),
                }
            }
        }
    }
}

fn unmerge_selector(term: &mut Value, labels: &Value) {
    let keys = |name: &str| term.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let merged: Vec<(Value, &str)> = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")]
        .into_iter()
        .flat_map(|(name, operator)| keys(name).into_iter().map(move |key| (key, operator)))
        .collect();
    if merged.is_empty() {
        return;
    }
    let Some(selector) = term.get_mut("labelSelector").and_then(Value::as_object_mut) else { return };
    let Some(expressions) = selector.get_mut("matchExpressions").and_then(Value::as_array_mut) else { return };
    expressions.retain(|expression| {
        let is_merged = |(key, operator): &(Value, &str)| {
            let value = key.as_str().and_then(|key| labels.get(key));
            expression["key"] == *key
                && expression["operator"] == *operator
                && value.is_some_and(|value| expression["values"].as_array().is_some_and(|values| values[..] == [value.clone()]))
        };
        !merged.iter().any(is_merged)
    });
    if expressions.is_empty() {
        selector.remove("matchExpressions");
    }
}
