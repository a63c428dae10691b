//! JSON Schemas of answers, kept by hand and compared with real answers by tests.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The JSON Schema of an answer.
#[derive(Debug)]
pub struct AnswerSchema {
    /// The name that `schedscope schema` takes.
    pub name: &'static str,
    /// The answer in a few words.
    pub about: &'static str,
    /// The schema, as JSON, without the definitions that it shares with others. Further ones have the keys that it adds to it.
    own: &'static [&'static str],
}

/// The definitions that several schemas refer to, by name.
const SHARED: &str = include_str!("schemas/shared.json");
/// The decision about one pod, to which others add keys.
const EXPLAIN: &str = include_str!("schemas/explain.json");
/// The beginning of a reference to a definition.
const REFERENCE: &str = "#/$defs/";

/// Every schema.
pub static SCHEMAS: &[AnswerSchema] = &[
    AnswerSchema { name: "explain", about: "the decision about one pod", own: &[EXPLAIN] },
    AnswerSchema { name: "fixes", about: "the decision about one pod with fixes", own: &[EXPLAIN, include_str!("schemas/fixes.json")] },
    AnswerSchema { name: "pending", about: "all pending pods: explain --pending", own: &[include_str!("schemas/pending.json")] },
    AnswerSchema { name: "workload", about: "a workload: explain KIND/NAME", own: &[include_str!("schemas/workload.json")] },
    AnswerSchema { name: "manifest", about: "a manifest: explain -f", own: &[include_str!("schemas/manifest.json")] },
    AnswerSchema { name: "placed", about: "a pod that has a node, or was evicted", own: &[include_str!("schemas/placed.json")] },
    AnswerSchema { name: "run", about: "one operation of a run, a line of run -o json", own: &[include_str!("schemas/run.json")] },
    AnswerSchema { name: "what-if", about: "what-ifs: run --what-if", own: &[include_str!("schemas/what-if.json")] },
    AnswerSchema { name: "compare", about: "two releases compared: run --compare", own: &[include_str!("schemas/compare.json")] },
    AnswerSchema { name: "diff", about: "two dumps compared: diff", own: &[include_str!("schemas/diff.json")] },
    AnswerSchema { name: "watch", about: "a line of explain --pending --watch", own: &[include_str!("schemas/watch.json")] },
    AnswerSchema { name: "info", about: "the emulated release", own: &[include_str!("schemas/info.json")] },
    AnswerSchema { name: "reasons", about: "the kinds of reasons with their parameters", own: &[include_str!("schemas/reasons.json")] },
    AnswerSchema { name: "place", about: "whether new pods fit, of the library", own: &[include_str!("schemas/place.json")] },
    AnswerSchema { name: "settled", about: "a run until nothing changes, of the library", own: &[include_str!("schemas/settled.json")] },
];

impl AnswerSchema {
    /// Returns the schema of an answer.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCHEMAS.iter().find(|schema| schema.name == name)
    }

    /// Returns the schema as JSON, whole: with the definitions that it refers to.
    pub fn text(&self) -> String {
        let shared: BTreeMap<&str, &RawValue> = serde_json::from_str(SHARED).unwrap_or_default();
        let (mut names, mut unread) = (BTreeSet::new(), self.own.to_vec());
        while let Some(text) = unread.pop() {
            let mut found = Vec::new();
            references(&serde_json::from_str(text).unwrap_or_default(), &mut found);
            for (name, definition) in found.iter().filter_map(|name| shared.get_key_value(name.as_str())) {
                if names.insert(*name) {
                    unread.push(definition.get());
                }
            }
        }
        let whole = self.own.iter().map(|own| (*own).to_owned()).reduce(|whole, more| extended(&whole, &more)).unwrap_or_default();
        let own = whole.trim_end();
        let Some(open) = own.strip_suffix("\n}").filter(|_| !names.is_empty()) else { return format!("{own}\n") };
        let indented = |name: &str| shared[name].get().replace('\n', "\n ");
        let definitions: Vec<String> = names.iter().map(|name| format!("  \"{name}\": {}", indented(name))).collect();
        format!("{open},\n \"$defs\": {{\n{}\n }}\n}}\n", definitions.join(",\n"))
    }
}

/// The parts of the schema of an object.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(rename = "$schema", borrow)]
    schema: &'a RawValue,
    #[serde(borrow)]
    title: &'a RawValue,
    #[serde(borrow)]
    properties: &'a RawValue,
    #[serde(borrow)]
    required: &'a RawValue,
}

/// Returns a schema with the title and the keys of another one.
fn extended(schema: &str, more: &str) -> String {
    let (Ok(base), Ok(more)) = (serde_json::from_str::<Parts<'_>>(schema), serde_json::from_str::<Parts<'_>>(more)) else {
        return String::new();
    };
    let inside = |value: &RawValue| value.get().trim_matches(['{', '}', '[', ']']).trim_end().to_owned();
    let both = |base, more| format!("{},{}", inside(base), inside(more));
    let (properties, required) = (both(base.properties, more.properties), both(base.required, more.required));
    let head = format!("{{\n \"$schema\": {},\n \"title\": {},\n \"type\": \"object\",\n", base.schema, more.title);
    format!("{head} \"properties\": {{{properties}\n }},\n \"required\": [{required}\n ]\n}}\n")
}

/// Collects the names of the definitions that a schema refers to.
fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            names.extend(fields.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(REFERENCE)).map(str::to_owned));
            fields.values().for_each(|value| references(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
