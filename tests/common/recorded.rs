//! Reads recorded runs in the format of `fixtures/conformance`.

use schedscope::cluster::{Kind, Object};
use schedscope::scheduler::Operation;
use serde_json::Value;

/// Reads an object; `None` for a kind without a watch.
pub(crate) fn object(value: &Value) -> Option<Object> {
    let kind: Kind = value["kind"].as_str()?.parse().ok()?;
    Some(Object::deserialize_kind(kind, value).expect("a valid object"))
}

/// Reads an operation; `None` for a kind without a watch.
pub(crate) fn operation(value: &Value) -> Option<Operation> {
    match value["op"].as_str().expect("an operation") {
        "schedule" => Some(Operation::Schedule),
        "advance" => Some(Operation::Advance { seconds: value["seconds"].as_u64().expect("seconds") }),
        "create" => object(&value["object"]).map(|object| Operation::Create { object }),
        "update" => object(&value["object"]).map(|object| Operation::Update { object }),
        "delete" => object(&value["object"]).map(|object| Operation::Delete { object }),
        other => panic!("unknown operation {other}"),
    }
}
