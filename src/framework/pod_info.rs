//! A pod with the data that the scheduler derives from it once; mirrors `PodInfo` in `pkg/scheduler/framework/types.go`
//! and `AffinityTerm` in `staging/src/k8s.io/kube-scheduler/framework/types.go`.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::{LabelBloom, PodResource, Resource, host_ports, unix_nanoseconds};
use crate::cluster::{
    CowArc, HostPorts, Key, LabelSelector, Labels, MetaTemplate, Pod, PodAffinityTerm, PodSpec, RarePodStatus, SelectorError, Str,
    WeightedPodAffinityTerm,
};
use crate::release::{Emulation, Gate};

/// A pod with what the scheduler derives from it. Dereferences to the part that pods of one workload share.
#[derive(Clone, Debug, PartialEq)]
pub struct PodInfo {
    /// The pod object.
    pub pod: Arc<Pod>,
    parts: Arc<PodParts>,
    /// [`PodRow::id`].
    id: u64,
    /// [`NOT_STARTED`] without a start time.
    start_time: i64,
}

/// The derived data that most pods of a workload share.
#[derive(Debug, PartialEq)]
pub struct PodParts {
    /// The resources that the pod occupies on its node.
    pub resource: PodResource,
    /// Inter-pod affinity terms; `None` if the pod has none, as most pods.
    pub terms: Option<Arc<AffinityTerms>>,
    /// The row without the id.
    row: PodRow,
    namespace: Str,
    template: CowArc<MetaTemplate>,
}

impl Deref for PodInfo {
    type Target = PodParts;
    #[inline]
    fn deref(&self) -> &PodParts {
        &self.parts
    }
}

/// The value without a start time.
const NOT_STARTED: i64 = i64::MIN;

/// The most-read data of a pod. A node stores the rows of its pods contiguously, so that walking all pods of a cluster
/// does not fetch each pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PodRow {
    /// Bits of the namespace and labels.
    pub(super) bits: LabelBloom,
    /// Equal for objects that are the same pod.
    pub(super) id: u64,
    /// The pod's priority.
    pub(super) priority: i32,
    /// Whether the pod uses host ports or claims on its node.
    pub(super) takes_more: bool,
    /// Whether the pod has any label.
    pub(super) labelled: bool,
    /// Whether host ports of sidecars count.
    sidecar_ports: bool,
}

impl PodRow {
    fn of(pod: &Pod, emulation: Emulation) -> Self {
        let claims = pod.spec.volumes.iter().any(|v| v.persistent_volume_claim.is_some());
        let takes_more = claims || host_ports(pod, emulation).next().is_some();
        let labelled = !pod.metadata.labels.is_empty();
        Self {
            bits: LabelBloom::of(pod),
            id: Self::id_of(pod),
            priority: pod.priority(),
            takes_more,
            labelled,
            sidecar_ports: emulation.behaviour().resources.sidecar_ports,
        }
    }

    /// The [`Self::id`] of a pod.
    pub(super) fn id_of(pod: &Pod) -> u64 {
        let mut hasher = DefaultHasher::new();
        if pod.metadata.uid.is_empty() {
            (&pod.metadata.namespace, &pod.metadata.name).hash(&mut hasher);
        } else {
            pod.metadata.uid.hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// The data of a pod that a dry run of preemption reads. A node stores those of its pods contiguously, as it does the rows.
#[derive(Clone, Debug)]
pub(super) struct VictimRow {
    parts: Arc<PodParts>,
    start_time: i64,
}

impl PartialEq for VictimRow {
    /// The parts are compared with the pods.
    fn eq(&self, other: &Self) -> bool {
        self.start_time == other.start_time
    }
}

impl VictimRow {
    pub(super) fn start_time(&self) -> Option<i64> {
        (self.start_time != NOT_STARTED).then_some(self.start_time)
    }

    pub(super) fn requests(&self) -> &Resource {
        &self.parts.resource.resource
    }

    /// Returns the addresses of the template and the namespace's name; `None` without a template.
    pub(super) fn label_addresses(&self) -> Option<(usize, usize)> {
        Some((Arc::as_ptr(self.parts.template.handle()?) as usize, self.parts.namespace.as_ptr() as usize))
    }
}

/// The properties of a pod that selectors and the terms of other pods read, and its own terms.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct PodClass<'a> {
    pub(super) namespace: &'a Str,
    pub(super) labels: &'a Labels,
    pub(super) terminating: bool,
    terms: Option<&'a AffinityTerms>,
}

/// The inter-pod affinity terms of one pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AffinityTerms {
    /// `podAffinity.required…`
    pub required_affinity: Vec<AffinityTerm>,
    /// `podAntiAffinity.required…`
    pub required_anti_affinity: Vec<AffinityTerm>,
    /// `podAffinity.preferred…`
    pub preferred_affinity: Vec<WeightedAffinityTerm>,
    /// `podAntiAffinity.preferred…`
    pub preferred_anti_affinity: Vec<WeightedAffinityTerm>,
    /// Parse errors, in kube-scheduler's words. A list with an error is empty.
    pub errors: Vec<String>,
    /// Bits common to all pods that any of the terms can match.
    wanted: LabelBloom,
    /// Bits common to all pods that any required anti-affinity term can match.
    wanted_by_required_anti_affinity: LabelBloom,
}

/// The data parsed from earlier pods under one release, by the addresses of their parts. Most pods of a workload share all of these.
#[derive(Debug, Default)]
pub struct KnownPods {
    terms: HashMap<(*const PodSpec, Str), TermsOf>,
    alike: Vec<Alike>,
    /// The places in [`Self::alike`].
    places: HashMap<PartAddresses, usize>,
    /// The last place: by name, pods of one workload follow each other.
    last: Option<(PartAddresses, usize)>,
}

/// The terms of a spec. The `Arc` keeps the spec alive, so that its address is not reused.
type TermsOf = (Arc<PodSpec>, Option<Arc<AffinityTerms>>);

/// The addresses of all parts of a pod that its resources, terms and row are read from, apart from its identity. 0 is an empty part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PartAddresses {
    spec: usize,
    template: usize,
    status: usize,
    namespace: usize,
}

/// The data that pods with the same parts share.
#[derive(Debug)]
struct Alike {
    parts: Arc<PodParts>,
    /// One of the pods. It keeps the parts alive, so that their addresses are not reused.
    _pod: Arc<Pod>,
}

impl PartAddresses {
    /// Returns those of a pod that shares its spec; a spec of its own is like no other.
    fn of(pod: &Pod) -> Option<Self> {
        (Arc::strong_count(&pod.spec) > 1).then(|| Self {
            spec: Arc::as_ptr(&pod.spec) as usize,
            template: pod.metadata.template.handle().map_or(0, |template| Arc::as_ptr(template) as usize),
            status: pod.status.rare.handle().map_or(0, |status| Arc::as_ptr(status) as usize),
            namespace: pod.metadata.namespace.as_ptr() as usize,
        })
    }
}

/// Returns whether two pods share the spec and no status of a resize tells their requests apart.
pub(super) fn has_same_requests(a: &Pod, b: &Pod) -> bool {
    let is_sized_by_spec = |pod: &Pod| {
        let RarePodStatus { container_statuses, init_container_statuses, resources, allocated_resources, .. } = &*pod.status.rare;
        let no_status = container_statuses.is_empty() && init_container_statuses.is_empty();
        no_status && resources.is_none() && allocated_resources.is_empty()
    };
    Arc::ptr_eq(&a.spec, &b.spec) && (is_sized_by_spec(a) && is_sized_by_spec(b) || a.status.rare == b.status.rare)
}

/// Returns whether two pods share all that their resources, terms and rows are read from, apart from their identity.
fn reads_alike(a: &Pod, b: &Pod) -> bool {
    let template = |pod: &Pod| pod.metadata.template.handle().map(Arc::as_ptr);
    has_same_requests(a, b) && template(a) == template(b) && a.metadata.namespace == b.metadata.namespace
}

impl KnownPods {
    fn terms_of(&mut self, pod: &Pod, emulation: Emulation) -> Option<Arc<AffinityTerms>> {
        pod.spec.affinity.as_ref()?;
        let parse = || (pod.spec.clone(), AffinityTerms::of(pod, emulation).map(Arc::new));
        self.terms.entry((Arc::as_ptr(&pod.spec), pod.metadata.namespace.clone())).or_insert_with(parse).1.clone()
    }

    fn alike(&mut self, parts: PartAddresses) -> Option<&Alike> {
        let last = self.last.filter(|(known, _)| *known == parts);
        self.last = last.or_else(|| self.places.get(&parts).map(|place| (parts, *place)));
        self.last.map(|(_, place)| &self.alike[place])
    }
}

/// A parsed affinity term.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AffinityTerm {
    /// Sorted namespaces of the term; the pod's own if the term names none and has no namespace selector.
    pub namespaces: Vec<Str>,
    /// Selects pods; `None` matches nothing.
    pub selector: Option<LabelSelector>,
    /// The node label whose values are the domains.
    pub topology_key: Str,
    /// Selects further namespaces; `None` matches nothing.
    pub namespace_selector: Option<LabelSelector>,
}

/// A term with its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightedAffinityTerm {
    pub term: AffinityTerm,
    pub weight: i32,
}

impl AffinityTerm {
    fn new(pod: &Pod, term: &PodAffinityTerm, emulation: Emulation) -> Result<Self, SelectorError> {
        let namespace_selector = term.namespace_selector.as_ref().filter(|_| emulation.enabled(Gate::PodAffinityNamespaceSelector));
        for selector in term.label_selector.as_ref().into_iter().chain(namespace_selector) {
            selector.validate_in(emulation.behaviour().messages.selector_words)?;
        }
        let mut namespaces: Vec<Str> = term.namespaces.iter().cloned().collect();
        if namespaces.is_empty() && namespace_selector.is_none() {
            namespaces.push(pod.metadata.namespace.clone());
        }
        namespaces.sort();
        namespaces.dedup();
        Ok(Self {
            namespaces,
            selector: term.label_selector.clone(),
            topology_key: term.topology_key.clone(),
            namespace_selector: namespace_selector.cloned(),
        })
    }

    /// Parses the terms of `pod`, in order; the error is that of the first invalid one.
    pub fn parse(pod: &Pod, terms: &[PodAffinityTerm]) -> Result<Vec<Self>, SelectorError> {
        Self::parse_as(pod, terms, Emulation::default())
    }

    /// Parses the terms by the rules of a release.
    fn parse_as(pod: &Pod, terms: &[PodAffinityTerm], emulation: Emulation) -> Result<Vec<Self>, SelectorError> {
        terms.iter().map(|t| Self::new(pod, t, emulation)).collect()
    }

    /// Returns the bits common to all pods that the term can match.
    pub fn wanted_bits(&self) -> LabelBloom {
        let selected = self.selector.as_ref().map(LabelBloom::selected_by).unwrap_or_default();
        match (self.namespaces.as_slice(), &self.namespace_selector) {
            ([only], None) => selected.and(LabelBloom::namespace(only)),
            _ => selected,
        }
    }

    /// Whether the term matches `pod`, given the labels of the pod's namespace.
    pub fn matches(&self, pod: &Pod, namespace_labels: &Labels) -> bool {
        let in_namespace = self.namespaces.binary_search(&pod.metadata.namespace).is_ok()
            || self.namespace_selector.as_ref().is_some_and(|s| s.matches(namespace_labels));
        in_namespace && self.selector.as_ref().is_some_and(|s| s.matches(&pod.metadata.labels))
    }
}

impl PodInfo {
    /// Parses a pod, with all gates at their defaults.
    pub fn new(pod: Arc<Pod>) -> Self {
        Self::with_emulation(pod, Emulation::default())
    }

    /// Parses a pod.
    pub fn with_emulation(pod: Arc<Pod>, emulation: Emulation) -> Self {
        let terms = AffinityTerms::of(&pod, emulation).map(Arc::new);
        Self::with_terms(pod, emulation, terms)
    }

    /// Does the same as [`Self::with_emulation`] for many pods. Pods that share a spec share their terms.
    pub fn among(pod: Arc<Pod>, emulation: Emulation, known: &mut KnownPods) -> Self {
        let addresses = PartAddresses::of(&pod);
        if let Some(Alike { parts, .. }) = addresses.and_then(|addresses| known.alike(addresses)) {
            let (id, parts) = (PodRow::id_of(&pod), parts.clone());
            return Self::of_parts(pod, parts, id);
        }
        let terms = known.terms_of(&pod, emulation);
        let info = Self::with_terms(pod, emulation, terms);
        if let Some(addresses) = addresses {
            known.places.insert(addresses, known.alike.len());
            known.alike.push(Alike { parts: info.parts.clone(), _pod: info.pod.clone() });
        }
        info
    }

    /// Does the same as [`Self::with_emulation`], given another pod that was parsed under the same release: a pod with the same spec and
    /// labels, as of the same workload or after a change of its status, shares what was parsed.
    #[must_use]
    pub fn like(&self, pod: Arc<Pod>, emulation: Emulation) -> Self {
        if !reads_alike(&self.pod, &pod) {
            return Self::with_emulation(pod, emulation);
        }
        debug_assert_eq!(self.parts.resource, PodResource::with_emulation(&pod, emulation), "{}", pod.key());
        let id = PodRow::id_of(&pod);
        Self::of_parts(pod, self.parts.clone(), id)
    }

    fn with_terms(pod: Arc<Pod>, emulation: Emulation, terms: Option<Arc<AffinityTerms>>) -> Self {
        let row = PodRow::of(&pod, emulation);
        let (namespace, template) = (pod.metadata.namespace.clone(), pod.metadata.template.clone());
        let resource = PodResource::with_emulation(&pod, emulation);
        let parts = PodParts { resource, terms, row: PodRow { id: 0, ..row }, namespace, template };
        Self::of_parts(pod, Arc::new(parts), row.id)
    }

    fn of_parts(pod: Arc<Pod>, parts: Arc<PodParts>, id: u64) -> Self {
        let start_time = pod.status.start_time.map_or(NOT_STARTED, |time| unix_nanoseconds(time).max(NOT_STARTED + 1));
        Self { pod, parts, id, start_time }
    }

    /// Returns `namespace/name`.
    pub fn key(&self) -> Key {
        self.pod.key()
    }

    /// Returns the bits of the pod's namespace and labels.
    #[inline]
    pub fn bits(&self) -> LabelBloom {
        self.row.bits
    }

    /// Returns the pod's namespace.
    #[inline]
    pub fn namespace(&self) -> &Str {
        &self.namespace
    }

    /// Returns the part of the metadata that pods of one workload mostly share, labels among it; `None` where it is empty.
    #[inline]
    pub fn template(&self) -> Option<&Arc<MetaTemplate>> {
        self.template.handle()
    }

    /// Returns the pod's priority.
    #[inline]
    pub fn priority(&self) -> i32 {
        self.row.priority
    }

    /// Returns the host ports that the pod takes on its node.
    pub fn host_ports(&self) -> &HostPorts {
        self.pod.spec.host_ports(self.row.sidecar_ports)
    }

    /// Returns whether the pod has any label.
    #[inline]
    pub fn is_labelled(&self) -> bool {
        self.row.labelled
    }

    /// Returns `status.startTime`, in nanoseconds since 1970.
    #[inline]
    pub fn start_time(&self) -> Option<i64> {
        (self.start_time != NOT_STARTED).then_some(self.start_time)
    }

    /// Returns the properties that the pod shares with others of its class.
    pub(super) fn class(&self) -> PodClass<'_> {
        let meta = &self.pod.metadata;
        let terminating = self.pod.is_terminating();
        PodClass { namespace: &meta.namespace, labels: &meta.labels, terminating, terms: self.terms.as_deref() }
    }

    /// Returns the addresses of the parts that decide about the class; `None` if no other pod has this template.
    pub(super) fn class_addresses(&self) -> Option<(usize, usize, usize)> {
        let template = self.template().filter(|template| Arc::strong_count(template) > 2)?;
        let terms = self.terms.as_ref().map_or(0, |terms| Arc::as_ptr(terms) as usize);
        Some((Arc::as_ptr(template) as usize, self.namespace.as_ptr() as usize, terms))
    }

    /// Returns a hash that is equal for objects that are the same pod.
    #[inline]
    pub fn id_hash(&self) -> u64 {
        self.id
    }

    /// Returns whether both are the same pod.
    #[inline]
    pub fn is_same_pod(&self, other: &Self) -> bool {
        self.id == other.id && super::is_same_pod(&self.pod, &other.pod)
    }

    /// Returns the most-read data.
    #[inline]
    pub(super) fn row(&self) -> PodRow {
        PodRow { id: self.id, ..self.row }
    }

    /// Returns what a dry run of preemption reads of the pod.
    pub(super) fn victim_row(&self) -> VictimRow {
        VictimRow { parts: self.parts.clone(), start_time: self.start_time }
    }

    /// Whether the pod has any valid `podAffinity` or `podAntiAffinity` term.
    pub fn has_affinity(&self) -> bool {
        self.terms.as_ref().is_some_and(|t| {
            !(t.required_affinity.is_empty()
                && t.required_anti_affinity.is_empty()
                && t.preferred_affinity.is_empty()
                && t.preferred_anti_affinity.is_empty())
        })
    }

    /// Returns why the pod's terms cannot be used, in kube-scheduler's words; `None` if they can.
    pub fn parse_error(&self) -> Option<SelectorError> {
        self.terms.as_ref().and_then(|t| SelectorError::aggregate(t.errors.iter().cloned()))
    }

    /// Returns the bits common to all pods that any of the terms can match.
    pub(super) fn wanted_bits(&self) -> LabelBloom {
        self.terms.as_ref().map_or(LabelBloom::ALL, |t| t.wanted)
    }

    /// Returns the bits common to all pods that any required anti-affinity term can match.
    pub(super) fn wanted_by_required_anti_affinity(&self) -> LabelBloom {
        self.terms.as_ref().map_or(LabelBloom::ALL, |t| t.wanted_by_required_anti_affinity)
    }

    pub fn required_affinity(&self) -> &[AffinityTerm] {
        self.terms.as_ref().map_or(&[], |t| &t.required_affinity)
    }

    pub fn required_anti_affinity(&self) -> &[AffinityTerm] {
        self.terms.as_ref().map_or(&[], |t| &t.required_anti_affinity)
    }

    pub fn preferred_affinity(&self) -> &[WeightedAffinityTerm] {
        self.terms.as_ref().map_or(&[], |t| &t.preferred_affinity)
    }

    pub fn preferred_anti_affinity(&self) -> &[WeightedAffinityTerm] {
        self.terms.as_ref().map_or(&[], |t| &t.preferred_anti_affinity)
    }
}

impl AffinityTerms {
    fn of(pod: &Pod, emulation: Emulation) -> Option<Self> {
        let affinity = pod.spec.affinity.as_ref()?;
        let (pos, neg) = (affinity.pod_affinity.as_ref(), affinity.pod_anti_affinity.as_ref());
        if pos.is_none() && neg.is_none() {
            return None;
        }
        let mut terms = Self::default();
        let mut errors = Vec::new();
        let mut take = |what: &str, error: SelectorError| errors.push(format!("{what}: {error}"));
        let required = |list: &[PodAffinityTerm]| AffinityTerm::parse_as(pod, list, emulation);
        let preferred = |list: &[WeightedPodAffinityTerm]| {
            list.iter()
                .map(|w| {
                    AffinityTerm::new(pod, &w.pod_affinity_term, emulation).map(|term| WeightedAffinityTerm { term, weight: w.weight })
                })
                .collect::<Result<Vec<_>, _>>()
        };
        match required(pos.map_or(&[], |a| &a.required)) {
            Ok(list) => terms.required_affinity = list,
            Err(error) => take("requiredAffinityTerms", error),
        }
        match required(neg.map_or(&[], |a| &a.required)) {
            Ok(list) => terms.required_anti_affinity = list,
            Err(error) => take("requiredAntiAffinityTerms", error),
        }
        match preferred(pos.map_or(&[], |a| &a.preferred)) {
            Ok(list) => terms.preferred_affinity = list,
            Err(error) => take("preferredAffinityTerms", error),
        }
        match preferred(neg.map_or(&[], |a| &a.preferred)) {
            Ok(list) => terms.preferred_anti_affinity = list,
            Err(error) => take("preferredAntiAffinityTerms", error),
        }
        if !emulation.behaviour().affinity.errors_add_up {
            errors.drain(..errors.len().saturating_sub(1));
        }
        terms.errors = errors;
        let common = |bits: LabelBloom, term: &AffinityTerm| bits.common(term.wanted_bits());
        let weighted = terms.preferred_affinity.iter().chain(&terms.preferred_anti_affinity).map(|w| &w.term);
        let anti_affinity = terms.required_anti_affinity.iter().fold(LabelBloom::ALL, common);
        terms.wanted = terms.required_affinity.iter().chain(weighted).fold(anti_affinity, common);
        terms.wanted_by_required_anti_affinity = anti_affinity;
        Some(terms)
    }
}

/// The pod that was parsed last: pods that come one after another are often of one workload.
#[derive(Clone, Debug, Default)]
pub struct LastPod(Option<(Emulation, Arc<PodInfo>)>);

impl LastPod {
    /// Parses a pod, which shares what was parsed of the last one if it is alike and of the same release.
    pub fn parse(&mut self, pod: Arc<Pod>, emulation: Emulation) -> Arc<PodInfo> {
        let info = Arc::new(match &self.0 {
            Some((of, last)) if *of == emulation => last.like(pod, emulation),
            _ => PodInfo::with_emulation(pod, emulation),
        });
        self.0 = Some((emulation, info.clone()));
        info
    }
}

#[cfg(test)]
mod tests;
