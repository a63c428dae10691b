//! The messages that Kubernetes writes into etcd: for each the number, name in JSON and type of its fields.
//!
//! `schema.txt` has a message a paragraph: its name, and for a kind its `apiVersion` and `kind`; below it a field a line, in the
//! order of JSON: number, name and type. The facts are the `protobuf` and `json` tags of `k8s.io/api` 1.36 and
//! `k8s.io/apimachinery`; field numbers never change, so older objects are read by it too.
//!
//! | type | is |
//! | --- | --- |
//! | `s`, `i`, `b`, `d` | text, integer, true or false, floating point |
//! | `q`, `t`, `m`, `o` | quantity, time, time with microseconds, number or text |
//! | `f`, `r` | JSON as bytes: a set of fields, any object |
//! | a name | a message |
//! | `[]T`, `{}T` | a list, a map from text |
//!
//! | mark | the field is in JSON |
//! | --- | --- |
//! | `!` | always |
//! | `?` | if it is not empty; a message, if it was written |
//! | `*` | if it was written |
//!
//! A name `-` takes the fields of the message itself.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The messages of the table.
pub(super) struct Schema {
    pub(super) messages: Vec<Message>,
    /// Indexes of messages by `apiVersion` and `kind`.
    kinds: HashMap<(&'static str, &'static str), usize>,
    /// The index of `ObjectMeta`.
    pub(super) object_meta: usize,
}

/// A message's fields, in the order of JSON.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) fields: Vec<Field>,
}

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// Its name in JSON; `None` where its own fields are in its place.
    pub(super) name: Option<&'static str>,
    pub(super) of: Type,
    pub(super) shape: Shape,
    pub(super) presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    List,
    Map,
}

/// When a field is in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Always,
    NotEmpty,
    Written,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Integer,
    Bool,
    Float,
    Quantity,
    Time,
    MicroTime,
    IntOrString,
    /// Bytes that are JSON, in field 1.
    Json,
    /// A message, by its index.
    Message(usize),
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::read(include_str!("schema.txt")));

/// Returns the table.
pub(super) fn schema() -> &'static Schema {
    &SCHEMA
}

impl Schema {
    /// Returns the message of a kind.
    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<usize> {
        self.kinds.get(&(api_version, kind)).copied()
    }

    fn read(text: &'static str) -> Self {
        let heads = text.lines().filter(|line| !line.starts_with(' '));
        let indexes: HashMap<&str, usize> =
            heads.filter_map(|line| line.split(' ').next()).enumerate().map(|(at, name)| (name, at)).collect();
        let mut schema = Self {
            messages: Vec::new(),
            kinds: HashMap::new(),
            object_meta: indexes.get("meta/v1.ObjectMeta").copied().unwrap_or_default(),
        };
        for line in text.lines() {
            let parts: Vec<&'static str> = line.split_whitespace().collect();
            match (line.starts_with(' '), parts.as_slice()) {
                (false, [_, api_version, kind]) => {
                    schema.kinds.insert((api_version, kind), schema.messages.len());
                    schema.messages.push(Message::default());
                }
                (false, _) => schema.messages.push(Message::default()),
                (true, [number, name, of]) => {
                    let field = field(number, name, of, &indexes);
                    if let (Some(field), Some(message)) = (field, schema.messages.last_mut()) {
                        message.fields.push(field);
                    }
                }
                (true, _) => {}
            }
        }
        schema
    }
}

fn field(number: &str, name: &'static str, of: &str, indexes: &HashMap<&str, usize>) -> Option<Field> {
    let (of, presence) = match of.split_at(of.len() - 1) {
        (of, "!") => (of, Presence::Always),
        (of, "?") => (of, Presence::NotEmpty),
        (of, "*") => (of, Presence::Written),
        _ => (of, Presence::Always),
    };
    let (of, shape) = match (of.strip_prefix("[]"), of.strip_prefix("{}")) {
        (Some(of), _) => (of, Shape::List),
        (_, Some(of)) => (of, Shape::Map),
        _ => (of, Shape::One),
    };
    let of = match of {
        "s" => Type::Text,
        "i" => Type::Integer,
        "b" => Type::Bool,
        "d" => Type::Float,
        "q" => Type::Quantity,
        "t" => Type::Time,
        "m" => Type::MicroTime,
        "o" => Type::IntOrString,
        "f" | "r" => Type::Json,
        message => Type::Message(*indexes.get(message)?),
    };
    Some(Field { number: number.parse().ok()?, name: (name != "-").then_some(name), of, shape, presence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_message_or_a_field() {
        let text = include_str!("schema.txt");
        let lines = text.lines().filter(|line| line.starts_with(' ')).count();
        let fields: usize = schema().messages.iter().map(|message| message.fields.len()).sum();
        assert_eq!(fields, lines);
        assert!(lines > 1_000);
        for (api_version, kind) in [("v1", "Pod"), ("policy/v1", "PodDisruptionBudget"), ("resource.k8s.io/v1", "ResourceClaim")] {
            assert!(schema().kind(api_version, kind).is_some(), "{kind}");
        }
        assert!(schema().kind("v1", "Secret").is_none() && schema().kind("v1", "ConfigMap").is_none());
    }

    #[test]
    fn no_message_contains_itself() {
        fn depth(of: usize, above: &mut Vec<usize>) -> usize {
            assert!(!above.contains(&of), "{above:?}");
            above.push(of);
            let inner = schema().messages[of].fields.iter().filter_map(|field| match field.of {
                Type::Message(of) => Some(depth(of, above)),
                _ => None,
            });
            let deepest = inner.max().unwrap_or(0);
            above.pop();
            deepest + 1
        }
        let deepest = (0..schema().messages.len()).map(|of| depth(of, &mut Vec::new())).max();
        assert!(deepest < Some(20), "{deepest:?}");
    }
}
