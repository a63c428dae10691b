//! Why a pod is refused, in the API server's words.

use std::collections::HashSet;
use std::fmt;

use crate::cluster::{Key, Quantity, Str};

/// A refusal, with the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedPod {
    /// The pod. Its name is empty if the manifest has none.
    pub pod: Key,
    /// Why it is refused.
    pub refusal: Refusal,
}

/// Writes the error that the API server returns.
impl fmt::Display for RefusedPod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.pod.name;
        match &self.refusal {
            Refusal::NoNamespace(namespace) => write!(f, "namespaces \"{namespace}\" not found"),
            Refusal::Invalid(errors) => write!(f, "Pod \"{name}\" is invalid: {}", aggregate(errors)),
            other => write!(f, "pods \"{name}\" is forbidden: {other}"),
        }
    }
}

impl std::error::Error for RefusedPod {}

/// Why an API server refuses a pod. The text is that of the API server, without the pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The namespace does not exist.
    NoNamespace(Str),
    /// The namespace is being deleted.
    NamespaceTerminating(Str),
    /// The service account does not exist.
    NoServiceAccount(Key),
    /// The priority class does not exist.
    NoPriorityClass(Str),
    /// The pod names another priority than its class.
    OtherPriority {
        /// The priority of the pod.
        given: i32,
        /// The priority of the class.
        computed: i32,
    },
    /// The pod names another preemption policy than its class.
    OtherPreemptionPolicy {
        /// The policy of the pod.
        given: Str,
        /// The policy of the class.
        computed: Str,
    },
    /// The runtime class does not exist.
    NoRuntimeClass(Str),
    /// The pod has an overhead and its runtime class, if it names one, has none.
    OverheadWithoutClass,
    /// The pod has another overhead than its runtime class.
    OtherOverhead,
    /// The pod selects another value of a label than its runtime class.
    OtherSelector {
        /// The label key.
        key: Str,
        /// The value of the class.
        class: Str,
        /// The value of the pod.
        given: Str,
    },
    /// A LimitRange forbids it.
    LimitRange {
        /// The LimitRange.
        range: Key,
        /// The bounds that the pod violates, each once.
        breaches: Vec<LimitBreach>,
        /// Whether it violates more.
        left_out: bool,
    },
    /// A quota needs requests or limits that containers lack.
    QuotaNeeds {
        quota: Key,
        /// The resources, each with the containers that lack it.
        missing: Vec<(Str, Vec<Str>)>,
    },
    /// A quota has too little left.
    QuotaExceeded {
        quota: Key,
        /// The resources of which too little is left.
        amounts: Vec<QuotaAmount>,
    },
    /// With the defaults of LimitRanges it is larger than an API server stores.
    TooLarge,
    /// Fields are missing or invalid.
    Invalid(Vec<FieldError>),
}

/// A resource of which a quota has too little left.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotaAmount {
    /// The resource as the quota names it.
    pub resource: Str,
    /// The amount that the pod needs.
    pub requested: Quantity,
    /// The amount that is used.
    pub used: Quantity,
    /// The amount that the quota allows.
    pub hard: Quantity,
}

/// A bound of a LimitRange that a pod or container violates. The text is the API server's.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitBreach {
    pub resource: Str,
    /// `Container` or `Pod`.
    pub of: Str,
    pub bound: Bound,
    /// The value of the bound.
    pub enforced: Quantity,
    /// The value that violates it.
    pub found: Found,
}

/// A bound of a LimitRange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `min`.
    Minimum,
    /// `max`.
    Maximum,
    /// `maxLimitRequestRatio`.
    Ratio,
}

/// A value that violates a bound of a LimitRange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// No request is given.
    NoRequest,
    /// No limit is given.
    NoLimit,
    Request(Quantity),
    Limit(Quantity),
    /// The limit divided by the request.
    Ratio(f64),
}

/// A field that the API server rejects. The text is the API server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The path, such as `spec.containers[0].name`.
    pub path: String,
    /// The error.
    pub detail: String,
}

impl FieldError {
    /// Returns the error of a field that is below a path of another object.
    #[must_use]
    pub fn below(self, path: &str) -> Self {
        let path = if self.path.is_empty() { path.to_owned() } else { format!("{path}.{}", self.path) };
        Self { path, ..self }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.detail) } else { write!(f, "{}: {}", self.path, self.detail) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNamespace(namespace) => write!(f, "namespace {namespace} not found"),
            Self::NamespaceTerminating(namespace) => {
                write!(f, "unable to create new content in namespace {namespace} because it is being terminated")
            }
            Self::NoServiceAccount(key) => {
                write!(f, "error looking up service account {key}: serviceaccount \"{}\" not found", key.name)
            }
            Self::NoPriorityClass(name) => write!(f, "no PriorityClass with name {name} was found"),
            Self::OtherPriority { given, computed } => write!(
                f,
                "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {computed} from the given PriorityClass name"
            ),
            Self::OtherPreemptionPolicy { given, computed } => write!(
                f,
                "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission controller computed {computed} from the given PriorityClass name"
            ),
            Self::NoRuntimeClass(name) => write!(f, "pod rejected: RuntimeClass \"{name}\" not found"),
            Self::OverheadWithoutClass => f.write_str("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"),
            Self::OtherOverhead => f.write_str("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"),
            Self::OtherSelector { key, class, given } => {
                write!(f, "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {class}; pod.spec.nodeSelector[{key}] = {given}")
            }
            Self::LimitRange { breaches, left_out, .. } => {
                write!(f, "{}{}", aggregate(breaches), if *left_out { " and more" } else { "" })
            }
            Self::TooLarge => f.write_str("etcdserver: request is too large"),
            Self::QuotaNeeds { quota, missing } => {
                let of = |(resource, containers): &(Str, Vec<Str>)| format!("{resource} for: {}", join(containers, ","));
                let missing: Vec<String> = missing.iter().map(of).collect();
                write!(f, "failed quota: {}: must specify {}", quota.name, missing.join("; "))
            }
            Self::QuotaExceeded { quota, amounts } => {
                let list = |amount: &dyn Fn(&QuotaAmount) -> Quantity| {
                    let pairs: Vec<String> = amounts.iter().map(|a| format!("{}={}", a.resource, amount(a))).collect();
                    pairs.join(",")
                };
                let (requested, used, hard) = (list(&|a| a.requested), list(&|a| a.used), list(&|a| a.hard));
                write!(f, "exceeded quota: {}, requested: {requested}, used: {used}, limited: {hard}", quota.name)
            }
            Self::Invalid(errors) => f.write_str(&aggregate(errors)),
        }
    }
}

impl fmt::Display for LimitBreach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, of, enforced, .. } = self;
        match self.bound {
            Bound::Minimum => write!(f, "minimum {resource} usage per {of} is {enforced}")?,
            Bound::Maximum => write!(f, "maximum {resource} usage per {of} is {enforced}")?,
            Bound::Ratio => write!(f, "{resource} max limit to request ratio per {of} is {enforced}")?,
        }
        match (self.found, self.bound) {
            (Found::NoRequest, Bound::Ratio) => f.write_str(", but no request is specified or request is 0"),
            (Found::NoLimit, Bound::Ratio) => f.write_str(", but no limit is specified or limit is 0"),
            (Found::NoRequest, _) => f.write_str(".  No request is specified"),
            (Found::NoLimit, _) => f.write_str(".  No limit is specified"),
            (Found::Request(amount), _) => write!(f, ", but request is {amount}"),
            (Found::Limit(amount), _) => write!(f, ", but limit is {amount}"),
            (Found::Ratio(ratio), _) => write!(f, ", but provided ratio is {ratio:.6}"),
        }
    }
}

fn join(texts: &[Str], between: &str) -> String {
    texts.iter().map(Str::as_str).collect::<Vec<_>>().join(between)
}

/// Writes errors as `utilerrors.NewAggregate` does: one alone, several in brackets without repetitions.
fn aggregate<T: fmt::Display>(errors: &[T]) -> String {
    let mut seen = HashSet::new();
    let mut texts: Vec<String> = errors.iter().map(T::to_string).filter(|text| seen.insert(text.clone())).collect();
    if texts.len() == 1 { texts.remove(0) } else { format!("[{}]", texts.join(", ")) }
}
