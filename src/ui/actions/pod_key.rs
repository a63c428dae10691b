//! Names of pods in commands.

use crate::cluster::Key;
use crate::ui::actions::error::CommandError;
use crate::ui::model::session_handle::SessionHandle;

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
        (None, _) => Err(CommandError::NoPodCalled(args.to_owned())),
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(CommandError::SeveralPods(one, other)),
    }
}
