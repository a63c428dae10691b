//! Recorded runs as the files of `fixtures/conformance` hold them.

use schedscope::cluster::{Kind, Object};
use schedscope::scheduler::Operation;
use serde_json::Value;

/// `None` for an object of a kind that nobody watches.
pub(crate) fn object(value: &Value) -> Option<Object> {
    let kind: Kind = value["kind"].as_str()?.parse().ok()?;
    Some(Object::deserialize_kind(kind, value).expect("a valid object"))
}

/// `None` for an operation on a kind that nobody watches.
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
