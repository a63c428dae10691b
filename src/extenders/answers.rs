//! Answers of extenders, decoded as Go's `encoding/json` decodes them into the types of
//! `staging/src/k8s.io/kube-scheduler/extender/v1/types.go`: names in any case, unknown ones passed over, and of several
//! values of a wrong type the first is the error.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize as _;

use super::go_json::{Json, SyntaxError, first_value};
use super::go_types::{ValueError, Wrong, WrongType, wrong_in_node};
use crate::cluster::{Node, Str};
use crate::limits::extenders::ANSWER_NODES;

/// An `ExtenderFilterResult`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FilterResult {
    /// With their JSON.
    pub(super) nodes: Option<Vec<(Arc<Node>, Box<str>)>>,
    pub(super) node_names: Option<Vec<Str>>,
    pub(super) failed: BTreeMap<Str, String>,
    pub(super) unresolvable: BTreeMap<Str, String>,
    pub(super) error: String,
}

/// A pod that is to be evicted; `None` for `null`.
pub(super) type MetaPod = Option<String>;

/// The victims on a node, which Go calls `MetaVictims`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct MetaVictims {
    pub(super) pods: Vec<MetaPod>,
    pub(super) pdb_violations: i64,
}

/// A place in a type, for errors.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The innermost struct, and the fields from the outermost on, with dots.
    field: Option<(&'a str, &'a str)>,
}

impl Place<'_> {
    /// Returns the error about what cannot be put there.
    fn wrong(self, what: &str, go_type: &str) -> WrongType {
        let field = self.field.map(|(of, path)| (of.to_owned(), path.to_owned()));
        WrongType { what: what.to_owned(), field, go_type: go_type.to_owned() }
    }
}

/// Why an answer cannot be read. The texts are Go's.
#[derive(Debug, thiserror::Error)]
pub(super) enum AnswerError {
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    #[error("{0}")]
    Type(WrongType),
    #[error(transparent)]
    Value(ValueError),
    #[error("json: cannot unmarshal a node: {0}")]
    Node(serde_json::Error),
    /// See [`ANSWER_NODES`].
    #[error("the answer has {nodes} nodes, and it was asked about {asked}")]
    ManyNodes { nodes: usize, asked: usize },
}

/// Reads values, and remembers the first that is of a wrong type.
#[derive(Default)]
struct Decoder {
    /// The number of nodes that were asked about.
    asked: usize,
    error: Option<AnswerError>,
    /// The error that ended the decoding, which counts before the first other one.
    ended: Option<AnswerError>,
}

impl Decoder {
    fn wrong(&mut self, place: Place<'_>, what: &str, go_type: &str) {
        self.error.get_or_insert_with(|| AnswerError::Type(place.wrong(what, go_type)));
    }

    fn finish<T>(self, value: T) -> Result<T, AnswerError> {
        self.ended.or(self.error).map_or(Ok(value), Err)
    }

    fn object(&mut self, value: Json, place: Place<'_>, go_type: &str) -> Vec<(String, Json)> {
        match value {
            Json::Object(fields) => fields,
            Json::Null => Vec::new(),
            other => {
                self.wrong(place, other.kind(), go_type);
                Vec::new()
            }
        }
    }

    fn array(&mut self, value: Json, place: Place<'_>, go_type: &str) -> Option<Vec<Json>> {
        match value {
            Json::Array(items) => Some(items),
            Json::Null => None,
            other => {
                self.wrong(place, other.kind(), go_type);
                None
            }
        }
    }

    fn text(&mut self, value: Json, place: Place<'_>) -> String {
        match value {
            Json::Text(text) => text,
            Json::Null => String::new(),
            other => {
                self.wrong(place, other.kind(), "string");
                String::new()
            }
        }
    }

    fn int64(&mut self, value: Json, place: Place<'_>) -> i64 {
        match value {
            Json::Number(text) => text.parse().unwrap_or_else(|_| {
                self.wrong(place, &format!("number {text}"), "int64");
                0
            }),
            Json::Null => 0,
            other => {
                self.wrong(place, other.kind(), "int64");
                0
            }
        }
    }

    fn texts(&mut self, value: Json, place: Place<'_>) -> BTreeMap<Str, String> {
        let fields = self.object(value, place, "v1.FailedNodesMap");
        fields.into_iter().map(|(name, value)| (name.into(), self.text(value, place))).collect()
    }

    fn nodes(&mut self, value: Json) -> Option<Vec<(Arc<Node>, Box<str>)>> {
        if value == Json::Null {
            return None;
        }
        let place = Place { field: Some(("ExtenderFilterResult", "Nodes")) };
        let mut nodes = Vec::new();
        for (name, value) in self.object(value, place, "v1.NodeList") {
            if name.eq_ignore_ascii_case("items") {
                let place = Place { field: Some(("NodeList", "Nodes.items")) };
                nodes = self.array(value, place, "[]v1.Node").unwrap_or_default();
            }
        }
        if nodes.len() > self.asked.saturating_add(ANSWER_NODES) {
            self.ended.get_or_insert(AnswerError::ManyNodes { nodes: nodes.len(), asked: self.asked });
            return None;
        }
        Some(nodes.into_iter().map(|node| self.node(node)).collect())
    }

    /// Returns a node with its JSON as text, which takes a fraction of the memory of its values.
    fn node(&mut self, value: Json) -> (Arc<Node>, Box<str>) {
        let place = Place { field: Some(("NodeList", "Nodes.items")) };
        match value {
            Json::Null => (Arc::default(), "null".into()),
            Json::Object(_) => {
                match wrong_in_node(&value, "NodeList", "Nodes.items") {
                    Some(Wrong::Type(wrong)) => drop(self.error.get_or_insert(AnswerError::Type(wrong))),
                    Some(Wrong::Value(error)) => drop(self.ended.get_or_insert(AnswerError::Value(error))),
                    None => {}
                }
                let value = value.into_value();
                let node = Node::deserialize(&value).unwrap_or_else(|error| {
                    self.error.get_or_insert(AnswerError::Node(error));
                    Node::default()
                });
                (Arc::new(node), value.to_string().into())
            }
            other => {
                self.wrong(place, other.kind(), "v1.Node");
                (Arc::default(), "null".into())
            }
        }
    }
}

/// Reads the answer to `filter` about a number of nodes.
pub(super) fn filter_result(body: &[u8], asked: usize) -> Result<FilterResult, AnswerError> {
    let mut decoder = Decoder { asked, ..Decoder::default() };
    let mut result = FilterResult::default();
    for (name, value) in decoder.object(first_value(body)?, Place { field: None }, "v1.ExtenderFilterResult") {
        let at = |field| Place { field: Some(("ExtenderFilterResult", field)) };
        match name.to_ascii_lowercase().as_str() {
            "nodes" => result.nodes = decoder.nodes(value),
            "nodenames" => {
                let names = decoder.array(value, at("NodeNames"), "[]string");
                result.node_names = names.map(|names| names.into_iter().map(|n| decoder.text(n, at("NodeNames")).into()).collect());
            }
            "failednodes" => result.failed.extend(decoder.texts(value, at("FailedNodes"))),
            "failedandunresolvablenodes" => result.unresolvable.extend(decoder.texts(value, at("FailedAndUnresolvableNodes"))),
            "error" => result.error = decoder.text(value, at("Error")),
            _ => {}
        }
    }
    decoder.finish(result)
}

/// Reads the answer to `prioritize`: nodes with their scores, in order.
pub(super) fn host_priorities(body: &[u8]) -> Result<Vec<(Str, i64)>, AnswerError> {
    let mut decoder = Decoder::default();
    let rows = decoder.array(first_value(body)?, Place { field: None }, "v1.HostPriorityList");
    let mut found = Vec::new();
    for row in rows.unwrap_or_default() {
        let (mut host, mut score) = (String::new(), 0);
        for (name, value) in decoder.object(row, Place { field: None }, "v1.HostPriority") {
            let at = |field| Place { field: Some(("HostPriority", field)) };
            match name.to_ascii_lowercase().as_str() {
                "host" => host = decoder.text(value, at("Host")),
                "score" => score = decoder.int64(value, at("Score")),
                _ => {}
            }
        }
        found.push((host.into(), score));
    }
    decoder.finish(found)
}

/// Reads the answer to `preempt`: victims by node, `None` for `null`.
pub(super) fn preemption_result(body: &[u8]) -> Result<BTreeMap<Str, Option<MetaVictims>>, AnswerError> {
    const ROOT: &str = "NodeNameToMetaVictims";
    let mut decoder = Decoder::default();
    let mut found = BTreeMap::new();
    for (name, value) in decoder.object(first_value(body)?, Place { field: None }, "v1.ExtenderPreemptionResult") {
        if !name.eq_ignore_ascii_case(ROOT) {
            continue;
        }
        let at = Place { field: Some(("ExtenderPreemptionResult", ROOT)) };
        for (node, value) in decoder.object(value, at, "map[string]*v1.MetaVictims") {
            let victims = (value != Json::Null).then(|| meta_victims(&mut decoder, value, at));
            found.insert(node.into(), victims);
        }
    }
    decoder.finish(found)
}

fn meta_victims(decoder: &mut Decoder, value: Json, at: Place<'_>) -> MetaVictims {
    let mut victims = MetaVictims::default();
    for (name, value) in decoder.object(value, at, "v1.MetaVictims") {
        match name.to_ascii_lowercase().as_str() {
            "pods" => {
                let at = Place { field: Some(("MetaVictims", "NodeNameToMetaVictims.Pods")) };
                let pods = decoder.array(value, at, "[]*v1.MetaPod").unwrap_or_default();
                victims.pods = pods.into_iter().map(|pod| (pod != Json::Null).then(|| meta_pod(decoder, pod, at))).collect();
            }
            "numpdbviolations" => {
                let at = Place { field: Some(("MetaVictims", "NodeNameToMetaVictims.NumPDBViolations")) };
                victims.pdb_violations = decoder.int64(value, at);
            }
            _ => {}
        }
    }
    victims
}

fn meta_pod(decoder: &mut Decoder, value: Json, at: Place<'_>) -> String {
    let mut uid = String::new();
    for (name, value) in decoder.object(value, at, "v1.MetaPod") {
        if name.eq_ignore_ascii_case("uid") {
            uid = decoder.text(value, Place { field: Some(("MetaPod", "NodeNameToMetaVictims.Pods.UID")) });
        }
    }
    uid
}

#[cfg(test)]
mod tests;
