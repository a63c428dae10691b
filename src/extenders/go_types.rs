//! The types of a Node as Go decodes it, for the words of an error about a value of a wrong type.

use std::fmt;

use super::go_json::Json;

/// The type of a field.
#[derive(Clone, Copy, Debug)]
enum Type {
    /// A string, or a type made of one.
    Text(&'static str),
    Bool,
    /// An integer, with its number of bits.
    Int(&'static str, u32),
    /// A time, which reads itself.
    Time,
    /// An amount of a resource, which reads itself.
    Quantity,
    /// A map from strings.
    Map(&'static str, &'static Type),
    List(&'static str, &'static Type),
    /// A struct: its name, and its fields.
    Struct(&'static str, &'static [(&'static str, Type)]),
}

use Type::{Bool, Int, List, Map, Quantity, Struct, Text, Time};

const STRING: Type = Text("string");
const STRINGS: Type = List("[]string", &STRING);
const AMOUNTS: Type = Map("v1.ResourceList", &Quantity);

const OWNER: Type = Struct(
    "OwnerReference",
    &[
        ("apiVersion", STRING),
        ("kind", STRING),
        ("name", STRING),
        ("uid", Text("types.UID")),
        ("controller", Bool),
        ("blockOwnerDeletion", Bool),
    ],
);

const METADATA: Type = Struct(
    "ObjectMeta",
    &[
        ("name", STRING),
        ("generateName", STRING),
        ("namespace", STRING),
        ("selfLink", STRING),
        ("uid", Text("types.UID")),
        ("resourceVersion", STRING),
        ("generation", Int("int64", 64)),
        ("creationTimestamp", Time),
        ("deletionTimestamp", Time),
        ("deletionGracePeriodSeconds", Int("int64", 64)),
        ("labels", Map("map[string]string", &STRING)),
        ("annotations", Map("map[string]string", &STRING)),
        ("ownerReferences", List("[]v1.OwnerReference", &OWNER)),
        ("finalizers", STRINGS),
    ],
);

const TAINT: Type = Struct("Taint", &[("key", STRING), ("value", STRING), ("effect", Text("v1.TaintEffect")), ("timeAdded", Time)]);

const SPEC: Type = Struct(
    "NodeSpec",
    &[
        ("podCIDR", STRING),
        ("podCIDRs", STRINGS),
        ("providerID", STRING),
        ("unschedulable", Bool),
        ("taints", List("[]v1.Taint", &TAINT)),
        ("externalID", STRING),
    ],
);

const CONDITION: Type = Struct(
    "NodeCondition",
    &[
        ("type", Text("v1.NodeConditionType")),
        ("status", Text("v1.ConditionStatus")),
        ("lastHeartbeatTime", Time),
        ("lastTransitionTime", Time),
        ("reason", STRING),
        ("message", STRING),
    ],
);

const ADDRESS: Type = Struct("NodeAddress", &[("type", Text("v1.NodeAddressType")), ("address", STRING)]);
const IMAGE: Type = Struct("ContainerImage", &[("names", STRINGS), ("sizeBytes", Int("int64", 64))]);
const ENDPOINT: Type = Struct("DaemonEndpoint", &[("Port", Int("int32", 32))]);
const VOLUME: Type = Struct("AttachedVolume", &[("name", Text("v1.UniqueVolumeName")), ("devicePath", STRING)]);

const INFO: Type = Struct(
    "NodeSystemInfo",
    &[
        ("machineID", STRING),
        ("systemUUID", STRING),
        ("bootID", STRING),
        ("kernelVersion", STRING),
        ("osImage", STRING),
        ("containerRuntimeVersion", STRING),
        ("kubeletVersion", STRING),
        ("kubeProxyVersion", STRING),
        ("operatingSystem", STRING),
        ("architecture", STRING),
    ],
);

const STATUS: Type = Struct(
    "NodeStatus",
    &[
        ("capacity", AMOUNTS),
        ("allocatable", AMOUNTS),
        ("phase", Text("v1.NodePhase")),
        ("conditions", List("[]v1.NodeCondition", &CONDITION)),
        ("addresses", List("[]v1.NodeAddress", &ADDRESS)),
        ("daemonEndpoints", Struct("NodeDaemonEndpoints", &[("kubeletEndpoint", ENDPOINT)])),
        ("nodeInfo", INFO),
        ("images", List("[]v1.ContainerImage", &IMAGE)),
        ("volumesInUse", List("[]v1.UniqueVolumeName", &Text("v1.UniqueVolumeName"))),
        ("volumesAttached", List("[]v1.AttachedVolume", &VOLUME)),
        ("declaredFeatures", STRINGS),
    ],
);

const NODE: Type = Struct("Node", &[("kind", STRING), ("apiVersion", STRING), ("metadata", METADATA), ("spec", SPEC), ("status", STATUS)]);

/// A value of a wrong type, with where Go would put it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrongType {
    pub(super) what: String,
    /// The innermost struct, and the fields from the outermost on, with dots.
    pub(super) field: Option<(String, String)>,
    pub(super) go_type: String,
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, field, go_type } = self;
        match field {
            Some((of, path)) => write!(f, "json: cannot unmarshal {what} into Go struct field {of}.{path} of type {go_type}"),
            None => write!(f, "json: cannot unmarshal {what} into Go value of type {go_type}"),
        }
    }
}

/// Why a value that reads itself fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ValueError {
    #[error("{0}")]
    Time(WrongType),
    #[error("{}", FORMAT_WRONG)]
    QuantityFormat,
    #[error("{}", SUFFIX_WRONG)]
    QuantitySuffix,
}

/// An error in a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// A value is of a wrong type. Decoding goes on, and the first such error counts.
    Type(WrongType),
    /// A value that reads itself fails. Decoding ends.
    Value(ValueError),
}

/// Returns the first error of Go in a node that is at `path` of an answer, and ends decoding if it does so.
pub(super) fn wrong_in_node(value: &Json, of: &'static str, path: &str) -> Option<Wrong> {
    let mut first = None;
    match check(value, &NODE, &Place { of, path: path.to_owned() }, &mut first) {
        Err(error) => Some(Wrong::Value(error)),
        Ok(()) => first.map(Wrong::Type),
    }
}

/// The innermost struct, and the fields from the outermost on.
struct Place {
    of: &'static str,
    path: String,
}

/// Checks a value; `Err` where decoding ends.
fn check(value: &Json, wanted: &Type, place: &Place, first: &mut Option<WrongType>) -> Result<(), ValueError> {
    let mut wrong = |what: &str, go_type: &str| {
        let field = || Some((place.of.to_owned(), place.path.clone()));
        first.get_or_insert_with(|| WrongType { what: what.to_owned(), field: field(), go_type: go_type.to_owned() });
    };
    match (wanted, value) {
        (_, Json::Null) | (Text(_), Json::Text(_)) | (Bool, Json::Bool(_)) => {}
        (Text(go_type), other) => wrong(other.kind(), go_type),
        (Bool, other) => wrong(other.kind(), "bool"),
        (Int(go_type, bits), Json::Number(text)) => {
            let fits = text.parse::<i64>().is_ok_and(|number| *bits == 64 || i32::try_from(number).is_ok());
            if !fits {
                wrong(&format!("number {text}"), go_type);
            }
        }
        (Int(go_type, _), other) => wrong(other.kind(), go_type),
        (Time, Json::Text(_)) => {}
        (Time, other) => {
            return Err(ValueError::Time(WrongType { what: other.kind().to_owned(), field: None, go_type: "string".to_owned() }));
        }
        (Quantity, Json::Text(text) | Json::Number(text)) => check_quantity(text)?,
        (Quantity, _) => return Err(ValueError::QuantityFormat),
        (Map(_, inner), Json::Object(fields)) => {
            for (_, value) in fields {
                check(value, inner, place, first)?;
            }
        }
        (List(_, inner), Json::Array(items)) => {
            for value in items {
                check(value, inner, place, first)?;
            }
        }
        (Struct(name, known), Json::Object(fields)) => {
            for (field, value) in fields {
                let exact = known.iter().find(|(name, _)| name == field);
                let Some((name_of_field, wanted)) = exact.or_else(|| known.iter().find(|(name, _)| name.eq_ignore_ascii_case(field)))
                else {
                    continue;
                };
                check(value, wanted, &Place { of: name, path: format!("{}.{name_of_field}", place.path) }, first)?;
            }
        }
        (Map(go_type, _) | List(go_type, _), other) => wrong(other.kind(), go_type),
        (Struct(name, _), other) => wrong(other.kind(), &format!("v1.{name}")),
    }
    Ok(())
}

/// `ErrFormatWrong` in `staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go`.
const FORMAT_WRONG: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
/// `ErrSuffix` there.
const SUFFIX_WRONG: &str = "unable to parse quantity's suffix";

fn check_quantity(text: &str) -> Result<(), ValueError> {
    let text = text.trim();
    if text.parse::<crate::cluster::Quantity>().is_ok() {
        return Ok(());
    }
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let suffix = after.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let exponent = suffix.strip_prefix(['+', '-']).unwrap_or(suffix);
    let matches = after.len() < rest.len() && exponent.bytes().all(|byte| byte.is_ascii_digit());
    Err(if matches { ValueError::QuantitySuffix } else { ValueError::QuantityFormat })
}

#[cfg(test)]
mod tests;
