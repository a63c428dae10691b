//! Operations as JSON, in the form of `run --ops`.

use serde_json::Value;

use crate::cluster::{Cluster, Key, Kind, Object};
use crate::scheduler::Operation;
use crate::session::{Edit, EditError};

/// One entry of `--ops`.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An operation that needs no object of the cluster.
    Operation(Operation),
    /// A change of an object in the cluster.
    Edit(Edit),
}

impl Step {
    pub(crate) fn on(self, cluster: &Cluster) -> Result<Operation, EditError> {
        match self {
            Self::Operation(operation) => Ok(operation),
            Self::Edit(edit) => edit.operation(cluster),
        }
    }
}

/// Why a JSON value is not an operation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperationError {
    #[error("missing field {0:?}")]
    Missing(&'static str),
    /// The value, as JSON.
    #[error("unknown kind {0}")]
    UnknownKind(String),
    #[error(transparent)]
    Object(#[from] serde_json::Error),
    #[error("\"seconds\" is not a whole number")]
    Seconds,
    #[error("unknown operation {0:?}; expected schedule, create, update, patch, delete or advance")]
    Unknown(String),
}

/// Returns the object that an operation is about, such as `Pod shop/web`; `None` if it names none.
pub(super) fn subject(operation: &Value) -> Option<String> {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let about = match operation.get("object") {
        Some(object) => (text(object, "kind"), text(&object["metadata"], "namespace"), text(&object["metadata"], "name")),
        None => (text(operation, "kind"), text(operation, "namespace"), text(operation, "name")),
    };
    let (kind, namespace, name) = about;
    match (kind.is_empty(), name.is_empty()) {
        (true, true) => None,
        (_, true) => Some(kind),
        (true, _) => Some(Key::new(namespace, name).to_string()),
        _ => Some(format!("{kind} {}", Key::new(namespace, name))),
    }
}

/// Reads an operation.
pub(crate) fn operation(value: &Value) -> Result<Step, OperationError> {
    let name = value["op"].as_str().ok_or(OperationError::Missing("op"))?.to_owned();
    let kind_of = |value: &Value| {
        let kind = value["kind"].as_str().unwrap_or_default().parse::<Kind>();
        kind.map_err(|_| OperationError::UnknownKind(value["kind"].to_string()))
    };
    let object = || -> Result<Object, OperationError> {
        let object = value.get("object").ok_or(OperationError::Missing("object"))?;
        Ok(Object::deserialize_kind(kind_of(object)?, object)?)
    };
    let key = || -> Result<(Kind, Key), OperationError> {
        let name = value["name"].as_str().ok_or(OperationError::Missing("name"))?;
        Ok((kind_of(value)?, Key::new(value["namespace"].as_str().unwrap_or_default(), name)))
    };
    match name.as_str() {
        "schedule" => Ok(Step::Operation(Operation::Schedule)),
        "advance" => {
            let seconds = value["seconds"].as_u64().ok_or(OperationError::Seconds)?;
            Ok(Step::Operation(Operation::Advance { seconds }))
        }
        "create" => Ok(Step::Operation(Operation::Create { object: object()? })),
        "update" => Ok(Step::Operation(Operation::Update { object: object()? })),
        "patch" => {
            let patch = value.get("patch").filter(|p| p.is_object()).ok_or(OperationError::Missing("patch"))?;
            let (kind, key) = key()?;
            Ok(Step::Edit(Edit::Patch(kind, key, patch.clone())))
        }
        "delete" if value.get("object").is_none() => {
            let (kind, key) = key()?;
            Ok(Step::Edit(Edit::Delete(kind, key)))
        }
        "delete" => Ok(Step::Operation(Operation::Delete { object: object()? })),
        other => Err(OperationError::Unknown(other.to_owned())),
    }
}
