//! Declarations of a selector's environment: functions with their overloads, types and variables.
//!
//! The overloads are those of cel-go's `common/stdlib/standard.go`, `cel/library.go` and `ext`, and of
//! `staging/src/k8s.io/apiserver/pkg/cel/library`, in the order in which `environment/base.go` adds them.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::types::Type;

/// An overload of a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) id: String,
    /// Whether it is called as `target.name(…)`; the target is then the first parameter.
    pub(super) member: bool,
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
}

/// Name, identifier and signature of each overload. The signature of a member function begins with a dot. A line with
/// `#` is repeated for each comparable type, one with `+` for each addable type.
const TABLE: &str = include_str!("declarations.txt");

/// The comparable types, as overload identifiers name them.
const COMPARABLE: [(&str, &str); 8] = [
    ("int", "int"),
    ("uint", "uint"),
    ("double", "double"),
    ("bool", "bool"),
    ("google.protobuf.Duration", "duration"),
    ("google.protobuf.Timestamp", "timestamp"),
    ("string", "string"),
    ("bytes", "bytes"),
];

const SUMMABLE: [&str; 4] = ["int", "uint", "double", "duration"];

#[derive(Debug)]
pub(super) struct Functions {
    overloads: Vec<Overload>,
    by_name: BTreeMap<String, Vec<usize>>,
}

pub(super) static FUNCTIONS: LazyLock<Functions> = LazyLock::new(Functions::read);

impl Functions {
    fn read() -> Self {
        let mut functions = Self { overloads: Vec::new(), by_name: BTreeMap::new() };
        for line in TABLE.lines().filter(|l| !l.is_empty() && !l.starts_with("//")) {
            if line.contains('#') {
                for (name, ty) in COMPARABLE {
                    functions.declare(&line.replace("##", name).replace('#', ty));
                }
            } else if line.contains('~') {
                for ty in SUMMABLE {
                    functions.declare(&line.replace('~', ty));
                }
            } else {
                functions.declare(line);
            }
        }
        functions
    }

    fn declare(&mut self, line: &str) {
        let mut words = line.splitn(3, ' ');
        let (Some(name), Some(id), Some(signature)) = (words.next(), words.next(), words.next()) else { return };
        let (member, signature) = signature.strip_prefix('.').map_or((false, signature), |rest| (true, rest));
        let Some((params, result)) = signature.split_once(" -> ") else { return };
        let params = split(params.trim_start_matches('(').strip_suffix(')').unwrap_or(params)).into_iter().map(parse_type).collect();
        self.by_name.entry(name.to_owned()).or_default().push(self.overloads.len());
        self.overloads.push(Overload { id: id.to_owned(), member, params, result: parse_type(result) });
    }

    /// Returns the overloads of a function; `None` if there is no such function.
    pub(super) fn named(&self, name: &str) -> Option<&[usize]> {
        self.by_name.get(name).map(Vec::as_slice)
    }

    pub(super) fn overload(&self, index: usize) -> &Overload {
        &self.overloads[index]
    }
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn parse_type(text: &str) -> Type {
    let of = |name: &str| text.strip_prefix(name).and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.strip_suffix(')'));
    if let Some(element) = of("list") {
        return Type::list(parse_type(element));
    }
    if let Some(value) = of("optional") {
        return Type::optional(parse_type(value));
    }
    if let Some(ty) = of("type") {
        return Type::type_of(parse_type(ty));
    }
    if let Some(&[key, value]) = of("map").map(split).as_deref() {
        return Type::map(parse_type(key), parse_type(value));
    }
    match text {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "Quantity" => QUANTITY,
        "Semver" => SEMVER,
        "URL" => URL,
        "Format" => FORMAT,
        "IP" => IP,
        "CIDR" => CIDR,
        "Authorizer" => Type::Object("kubernetes.authorization.Authorizer"),
        "PathCheck" => Type::Object("kubernetes.authorization.PathCheck"),
        "GroupCheck" => Type::Object("kubernetes.authorization.GroupCheck"),
        "ResourceCheck" => Type::Object("kubernetes.authorization.ResourceCheck"),
        "Decision" => Type::Object("kubernetes.authorization.Decision"),
        _ => match text.as_bytes() {
            [name @ b'A'..=b'Z'] => Type::Param(*name as char),
            _ => Type::Dyn,
        },
    }
}

pub(super) const QUANTITY: Type = Type::Object("kubernetes.Quantity");
pub(super) const SEMVER: Type = Type::Object("kubernetes.Semver");
pub(super) const URL: Type = Type::Object("kubernetes.URL");
pub(super) const FORMAT: Type = Type::Object("kubernetes.NamedFormat");
pub(super) const IP: Type = Type::Opaque("net.IP");
pub(super) const CIDR: Type = Type::Opaque("net.CIDR");
/// The run-time type of optionals.
pub(super) const OPTIONAL: Type = Type::Opaque("optional_type");
pub(super) const DEVICE: Type = Type::Object("kubernetes.DRADevice");

/// The meaning of a name that is not a macro's variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Named {
    /// The variable `device`.
    Device,
    /// A type that can be used as a value.
    Type(Type),
    /// A type that passes the check but fails when the program is made.
    UndefinedType(Type),
    Int(i64),
}

impl Named {
    /// Returns the type of the name.
    pub(super) fn ty(&self) -> Type {
        match self {
            Self::Device => DEVICE,
            Self::Type(ty) | Self::UndefinedType(ty) => Type::type_of(ty.clone()),
            Self::Int(_) => Type::Int,
        }
    }
}

/// Looks a name up.
pub(super) fn named(name: &str) -> Option<Named> {
    let wrapper = |ty| Some(Named::UndefinedType(Type::Wrapper(Arc::new(ty))));
    let defined = |ty| Some(Named::Type(ty));
    match name {
        "device" => Some(Named::Device),
        "bool" => defined(Type::Bool),
        "bytes" => defined(Type::Bytes),
        "double" => defined(Type::Double),
        "int" => defined(Type::Int),
        "list" => defined(Type::list(Type::Param('A'))),
        "map" => defined(Type::map(Type::Param('A'), Type::Param('B'))),
        "null_type" => defined(Type::Null),
        "string" => defined(Type::String),
        "type" => defined(Type::Type(None)),
        "uint" => defined(Type::Uint),
        "google.protobuf.Duration" => defined(Type::Duration),
        "google.protobuf.Timestamp" => defined(Type::Timestamp),
        "net.IP" => defined(IP),
        "net.CIDR" => defined(CIDR),
        "optional_type" => defined(OPTIONAL),
        "google.protobuf.BoolValue" => wrapper(Type::Bool),
        "google.protobuf.BytesValue" => wrapper(Type::Bytes),
        "google.protobuf.DoubleValue" | "google.protobuf.FloatValue" => wrapper(Type::Double),
        "google.protobuf.Int64Value" | "google.protobuf.Int32Value" => wrapper(Type::Int),
        "google.protobuf.UInt64Value" | "google.protobuf.UInt32Value" => wrapper(Type::Uint),
        "google.protobuf.StringValue" => wrapper(Type::String),
        "google.protobuf.Any" => Some(Named::UndefinedType(Type::Any)),
        "google.protobuf.ListValue" => Some(Named::UndefinedType(Type::list(Type::Dyn))),
        "google.protobuf.Struct" => Some(Named::UndefinedType(Type::map(Type::String, Type::Dyn))),
        "google.protobuf.Value" => Some(Named::UndefinedType(Type::Dyn)),
        "google.protobuf.Empty" => defined(Type::Object("google.protobuf.Empty")),
        "google.protobuf.NullValue.NULL_VALUE" => Some(Named::Int(0)),
        "duration" => Some(Named::UndefinedType(Type::Duration)),
        "timestamp" => Some(Named::UndefinedType(Type::Timestamp)),
        "kubernetes.DRADevice" => Some(Named::UndefinedType(DEVICE)),
        _ => None,
    }
}
