//! Names of pods in commands.

use crate::cluster::{Cluster, Key};
use crate::ui::actions::error::CommandError;
use crate::ui::actions::selected;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::whatif::WhatIfError;

/// Returns the pod with a name, as [`pod_key`] does; without a name the selected one.
pub fn pod_named_or_selected(state: &State, session: &dyn SessionHandle, args: &str) -> Result<Key, CommandError> {
    match selected::pod(state, session) {
        Some(pod) if args.is_empty() => Ok(pod),
        _ => pod_key(session, args),
    }
}

/// Returns a condition with the name of its object in full: its first word, then the name of a pod, or of a node, plugin or
/// budget after these words. The object exists.
pub fn with_object(session: &dyn SessionHandle, args: &str) -> Result<String, CommandError> {
    let Some((word, name)) = args.trim().split_once(char::is_whitespace) else { return Ok(args.to_owned()) };
    let (name, keyframe) = (name.trim(), session.timeline().keyframe());
    match word {
        "node" if keyframe.snapshot.get(name).is_none() => Err(CommandError::NoNode(name.to_owned())),
        "node" | "plugin" => Ok(args.to_owned()),
        "budget" => Ok(format!("{word} {}", budget_key(&keyframe.cluster, name)?)),
        _ => {
            let pod = pod_key(session, name)?;
            if keyframe.cluster.pods.get(&pod).is_none() {
                return Err(no_pod(session, &pod));
            }
            Ok(format!("{word} {pod}"))
        }
    }
}

/// Returns the budget with a name: `namespace/name`, or a name that only one budget has.
fn budget_key(cluster: &Cluster, name: &str) -> Result<Key, CommandError> {
    let is_meant = |key: &Key| key.name == *name || key.to_string() == name;
    let mut called = cluster.pod_disruption_budgets.iter().map(|budget| budget.metadata.key()).filter(is_meant);
    match (called.next(), called.next()) {
        (None, _) => Err(CommandError::NoBudget(name.to_owned())),
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(CommandError::SeveralPods(one, other)),
    }
}

/// Returns the pod with a name: `namespace/name`, or a name that only one pod has.
pub fn pod_key(session: &dyn SessionHandle, args: &str) -> Result<Key, CommandError> {
    if let Some((namespace, name)) = args.split_once('/') {
        return Ok(Key::new(namespace, name));
    }
    if args.is_empty() {
        return Err(CommandError::NoPodName);
    }
    let pods = &session.timeline().keyframe().cluster.pods;
    let mut called = pods.iter().filter(|pod| pod.metadata.name.as_str() == args).map(|pod| pod.key());
    match (called.next(), called.next()) {
        (None, _) => Err(no_pod_called(session, args)),
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(CommandError::SeveralPods(one, other)),
    }
}

/// Returns the error about a pod that does not exist, with the pods that may be meant.
pub fn no_pod(session: &dyn SessionHandle, key: &Key) -> CommandError {
    similar(session, &key.to_string(), |pod| pod.namespace == key.namespace && pod.name.starts_with(key.name.as_str()))
        .unwrap_or_else(|| CommandError::NoPod(key.clone()))
}

/// Returns the error about a name that no pod has.
fn no_pod_called(session: &dyn SessionHandle, name: &str) -> CommandError {
    similar(session, name, |pod| pod.name.starts_with(name)).unwrap_or_else(|| CommandError::NoPodCalled(name.to_owned()))
}

/// Returns the error that names the pods with a name that begins as typed, or else the nearest one.
fn similar(session: &dyn SessionHandle, typed: &str, begins: impl Fn(&Key) -> bool) -> Option<CommandError> {
    let cluster = &session.timeline().keyframe().cluster;
    let mut found = cluster.pods.iter().map(|pod| pod.key()).filter(begins);
    let meant = match (found.next(), found.count()) {
        (Some(only), 0) => only.to_string(),
        (Some(_), others) => return Some(CommandError::PodsMatch { typed: typed.to_owned(), number: others + 1 }),
        (None, _) => match crate::whatif::pod_named(cluster, typed) {
            Err(WhatIfError::NotFound { meant, .. }) => meant?,
            _ => return None,
        },
    };
    Some(CommandError::PodMeant { typed: typed.to_owned(), meant })
}
