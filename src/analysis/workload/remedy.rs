//! Changes that let pods be created, as text, patches and `kubectl` commands.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::fixes::shell_words;
use crate::cluster::Quantity;
use crate::cluster::neighbors::About;
use crate::framework::cores;
use crate::workload::{QuotaRaise, Remedy};

/// A change of an object that holds pods back.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemedyReport {
    /// The change in words.
    pub text: String,
    /// Patches that make it; empty for an object that is created.
    pub patches: Vec<Value>,
    /// The commands that make it.
    pub commands: Vec<String>,
}

/// The next step for a user.
pub(super) enum NextStep {
    /// A change that can be computed.
    Change(RemedyReport),
    /// An object to look at. Holds the command.
    LookAt(String),
}

pub(super) fn next_step(remedy: &Remedy) -> NextStep {
    NextStep::Change(match remedy {
        Remedy::RaiseQuota(raise) => raise_quota(raise),
        Remedy::CreateServiceAccount(key) => RemedyReport {
            text: format!("create the service account {}", key.name),
            patches: Vec::new(),
            commands: vec![shell_words(["kubectl", "create", "serviceaccount", &key.name, "-n", &key.namespace])],
        },
        Remedy::CreatePriorityClass(name) => RemedyReport {
            text: format!("create the priority class {name} (with the value that is meant)"),
            patches: Vec::new(),
            commands: vec![shell_words(["kubectl", "create", "priorityclass", name.as_str(), "--value=0"])],
        },
        Remedy::Unsuspend(about) => {
            let patch = json!({"spec": {"suspend": false}});
            patched(format!("unsuspend {about}"), about, &patch)
        }
        Remedy::Resume(about) => RemedyReport {
            text: format!("resume the rollout of {about}"),
            patches: vec![patch_of(about, &json!({"spec": {"paused": false}}))],
            commands: vec![shell_words(["kubectl", "rollout", "resume", about.to_string().as_str(), "-n", &about.key.namespace])],
        },
        Remedy::LookAt(about) => return NextStep::LookAt(look(about)),
    })
}

fn raise_quota(raise: &QuotaRaise) -> RemedyReport {
    let words = raise.hard.iter().map(|(resource, from, to)| match from {
        Some(from) => format!("{resource} from {} to {}", in_cores(resource, from), in_cores(resource, to)),
        None => format!("{resource} to {}", in_cores(resource, to)),
    });
    let text = format!("raise the quota {}: {}", raise.quota.key.name, words.collect::<Vec<_>>().join(", "));
    let hard: serde_json::Map<String, Value> = raise.hard.iter().map(|(resource, _, to)| (resource.to_string(), json!(to))).collect();
    patched(text, &raise.quota, &json!({"spec": {"hard": hard}}))
}

/// Returns an amount of a quota in the unit that people compare: cpu in cores, others as they are written.
pub(super) fn in_cores(resource: &str, amount: &str) -> String {
    let is_cpu = matches!(resource, "cpu" | "requests.cpu" | "limits.cpu");
    match amount.parse::<Quantity>() {
        Ok(quantity) if is_cpu => cores(quantity.milli_value()),
        _ => amount.to_owned(),
    }
}

fn patched(text: String, about: &About, patch: &Value) -> RemedyReport {
    let (object, merged) = (about.to_string(), patch.to_string());
    let command = shell_words(["kubectl", "patch", &object, "-n", &about.key.namespace, "--type", "merge", "-p", &merged]);
    RemedyReport { text, patches: vec![patch_of(about, patch)], commands: vec![command] }
}

fn patch_of(about: &About, patch: &Value) -> Value {
    json!({"kind": about.kind, "namespace": about.key.namespace, "name": about.key.name, "patch": patch})
}

/// Returns the command that shows an object with its events.
fn look(about: &About) -> String {
    let kind = about.kind.to_lowercase();
    let mut words = vec!["kubectl", "describe", kind.as_str()];
    words.extend((!about.key.name.is_empty()).then_some(about.key.name.as_str()));
    if !about.key.namespace.is_empty() {
        words.extend(["-n", about.key.namespace.as_str()]);
    }
    shell_words(words)
}
