//! An API server's refusal of a pod, by the shape of its text.

use crate::cluster::{Key, Str};

/// Why an API server refused to create a pod.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Refusal {
    /// A ResourceQuota has no room: its name, and what the pod requests, what is used and what is allowed, by resource.
    Quota {
        /// The quota's name.
        quota: Str,
        /// The resources that exceed the quota, with the pod's amounts.
        requested: Vec<(Str, Str)>,
        /// The amounts used.
        used: Vec<(Str, Str)>,
        /// The amounts allowed.
        limited: Vec<(Str, Str)>,
    },
    /// A ResourceQuota demands that the pod says what it uses: its name, and the fields that lack.
    #[strum(serialize = "quota-needs-requests")]
    QuotaNeeds {
        /// The quota's name.
        quota: Str,
        /// The fields, as the API server names them.
        fields: String,
    },
    /// A LimitRange allows less or more.
    LimitRange(String),
    /// The service account does not exist.
    ServiceAccount(Key),
    /// The priority class does not exist.
    PriorityClass(Str),
    /// Pod Security Admission: the level and what violates it.
    PodSecurity(String),
    /// JobSet creates followers once their leader has a node.
    LeaderFirst,
    /// A webhook refused it: its name and message.
    WebhookDenied {
        /// The webhook's name.
        webhook: Str,
        /// The webhook's message.
        message: String,
    },
    /// A webhook could not be asked: its name and the error.
    WebhookUnreachable {
        /// The webhook's name.
        webhook: Str,
        /// The error.
        message: String,
    },
    /// The namespace is being deleted.
    NamespaceTerminating,
    /// Another reason, in the server's words.
    #[strum(serialize = "refused")]
    Other(String),
}

impl Refusal {
    /// Reads the message of a `FailedCreate` event or of a `ReplicaFailure` condition.
    pub fn of(message: &str) -> Self {
        quota(message)
            .or_else(|| quota_needs(message))
            .or_else(|| leader_first(message))
            .or_else(|| webhook(message))
            .or_else(|| limit_range(message))
            .or_else(|| service_account(message))
            .or_else(|| priority_class(message))
            .or_else(|| pod_security(message))
            .or_else(|| message.contains("because it is being terminated").then_some(Self::NamespaceTerminating))
            .unwrap_or_else(|| Self::Other(message.to_owned()))
    }

    /// Returns a stable key of the kind of refusal.
    pub fn key(&self) -> &'static str {
        self.into()
    }
}

/// Returns the text behind a phrase.
fn after<'a>(message: &'a str, phrase: &str) -> Option<&'a str> {
    message.find(phrase).map(|at| &message[at + phrase.len()..])
}

/// Returns the text within the quotes that follow a phrase, and the text behind them.
fn quoted<'a>(message: &'a str, phrase: &str) -> Option<(&'a str, &'a str)> {
    let rest = after(message, phrase)?.strip_prefix('"')?;
    rest.split_once('"')
}

/// `exceeded quota: Q, requested: a=1,b=2, used: a=3,b=4, limited: a=3,b=5`.
fn quota(message: &str) -> Option<Refusal> {
    let rest = after(message, "exceeded quota: ")?;
    let (quota, rest) = rest.split_once(", requested: ")?;
    let (requested, rest) = rest.split_once(", used: ")?;
    let (used, limited) = rest.split_once(", limited: ")?;
    Some(Refusal::Quota { quota: quota.into(), requested: amounts(requested), used: amounts(used), limited: amounts(limited) })
}

fn amounts(text: &str) -> Vec<(Str, Str)> {
    text.split(',').filter_map(|pair| pair.trim().split_once('=')).map(|(name, amount)| (name.into(), amount.into())).collect()
}

/// `failed quota: Q: must specify limits.cpu for: c; limits.memory for: c`.
fn quota_needs(message: &str) -> Option<Refusal> {
    let fields = after(message, "must specify ")?.to_owned();
    let quota = after(message, "failed quota: ").and_then(|rest| rest.split_once(':')).map_or(Str::default(), |(quota, _)| quota.into());
    Some(Refusal::QuotaNeeds { quota, fields })
}

fn limit_range(message: &str) -> Option<Refusal> {
    let begins = ["maximum ", "minimum "].iter().find_map(|begin| {
        let at = message.find(begin)?;
        let rest = &message[at..];
        (rest.contains(" usage per ") || rest.contains(" storage usage")).then_some(rest)
    });
    let ratio = || {
        message.contains(" max limit to request ratio per ").then(|| message.rsplit_once("forbidden: ").map_or(message, |(_, rest)| rest))
    };
    begins.or_else(ratio).map(|text| Refusal::LimitRange(text.to_owned()))
}

/// `error looking up service account shop/robot: serviceaccount "robot" not found`.
fn service_account(message: &str) -> Option<Refusal> {
    let rest = after(message, "error looking up service account ")?;
    let (key, _) = rest.split_once(": ").unwrap_or((rest, ""));
    let (namespace, name) = key.split_once('/')?;
    Some(Refusal::ServiceAccount(Key::new(namespace, name)))
}

/// `no PriorityClass with name high was found`.
fn priority_class(message: &str) -> Option<Refusal> {
    let (name, _) = after(message, "no PriorityClass with name ")?.split_once(" was found")?;
    Some(Refusal::PriorityClass(name.into()))
}

/// `violates PodSecurity "restricted:latest": ...`.
fn pod_security(message: &str) -> Option<Refusal> {
    Some(Refusal::PodSecurity(after(message, "violates PodSecurity ")?.to_owned()))
}

fn leader_first(message: &str) -> Option<Refusal> {
    message.contains("leader pod not yet scheduled, not creating follower pod").then_some(Refusal::LeaderFirst)
}

fn webhook(message: &str) -> Option<Refusal> {
    if let Some((webhook, rest)) = quoted(message, "admission webhook ")
        && let Some(said) = rest.strip_prefix(" denied the request")
    {
        let message = said.strip_prefix(": ").unwrap_or_default().to_owned();
        return Some(Refusal::WebhookDenied { webhook: webhook.into(), message });
    }
    let (webhook, rest) = quoted(message, "failed calling webhook ")?;
    Some(Refusal::WebhookUnreachable { webhook: webhook.into(), message: rest.strip_prefix(": ").unwrap_or(rest).to_owned() })
}

#[cfg(test)]
mod tests;
