//! Names of pods in commands.

use crate::cluster::Key;
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

/// Returns a condition with the name of its pod in full: its first word, then a pod where one is named.
pub fn with_pod(session: &dyn SessionHandle, args: &str) -> Result<String, CommandError> {
    match args.trim().split_once(char::is_whitespace) {
        Some((word, name)) if !matches!(word, "node" | "plugin" | "budget") => Ok(format!("{word} {}", pod_key(session, name.trim())?)),
        _ => Ok(args.to_owned()),
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
    let pods = &session.timeline().moment().cluster.pods;
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
    let cluster = &session.timeline().moment().cluster;
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
