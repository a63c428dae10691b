//! JSON Schemas of answers, kept by hand and compared with real answers by tests.

/// The JSON Schema of an answer.
#[derive(Debug)]
pub struct AnswerSchema {
    /// The name that `schedscope schema` takes.
    pub name: &'static str,
    /// The answer in a few words.
    pub about: &'static str,
    /// The schema, as JSON.
    pub text: &'static str,
}

/// Every schema.
pub static SCHEMAS: &[AnswerSchema] = &[
    AnswerSchema { name: "explain", about: "the decision about one pod", text: include_str!("schemas/explain.json") },
    AnswerSchema { name: "fixes", about: "the decision about one pod with fixes", text: include_str!("schemas/fixes.json") },
    AnswerSchema { name: "pending", about: "all pending pods: explain --pending", text: include_str!("schemas/pending.json") },
    AnswerSchema { name: "workload", about: "a workload: explain KIND/NAME", text: include_str!("schemas/workload.json") },
    AnswerSchema { name: "manifest", about: "a manifest: explain -f", text: include_str!("schemas/manifest.json") },
    AnswerSchema { name: "placed", about: "a pod that has a node, or was evicted", text: include_str!("schemas/placed.json") },
    AnswerSchema { name: "run", about: "one operation of a run, a line of run -o json", text: include_str!("schemas/run.json") },
    AnswerSchema { name: "what-if", about: "what-ifs: run --what-if", text: include_str!("schemas/what-if.json") },
    AnswerSchema { name: "compare", about: "two releases compared: run --compare", text: include_str!("schemas/compare.json") },
    AnswerSchema { name: "diff", about: "two dumps compared: diff", text: include_str!("schemas/diff.json") },
    AnswerSchema { name: "watch", about: "a line of explain --pending --watch", text: include_str!("schemas/watch.json") },
    AnswerSchema { name: "info", about: "the emulated release", text: include_str!("schemas/info.json") },
    AnswerSchema { name: "reasons", about: "the kinds of reasons with their parameters", text: include_str!("schemas/reasons.json") },
    AnswerSchema { name: "place", about: "whether new pods fit, of the library", text: include_str!("schemas/place.json") },
    AnswerSchema { name: "settled", about: "a run until nothing changes, of the library", text: include_str!("schemas/settled.json") },
];

impl AnswerSchema {
    /// Returns the schema of an answer.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCHEMAS.iter().find(|schema| schema.name == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use strum::IntoEnumIterator as _;

    use super::*;
    use crate::framework::ReasonKind;

    #[test]
    fn every_kind_of_reason_is_in_the_schema_and_no_other() {
        let schema: Value = serde_json::from_str(AnswerSchema::named("reasons").unwrap().text).unwrap();
        let described: BTreeSet<String> =
            schema["oneOf"].as_array().unwrap().iter().map(|reason| reason["title"].as_str().unwrap().to_owned()).collect();
        let camel = |kind: ReasonKind| {
            let name = kind.to_string();
            name[..1].to_lowercase() + &name[1..]
        };
        assert_eq!(described, ReasonKind::iter().map(camel).collect());
        for name in ["explain", "fixes"] {
            let schema: Value = serde_json::from_str(AnswerSchema::named(name).unwrap().text).unwrap();
            let kinds = schema["$defs"]["reason"]["properties"]["kind"]["enum"].as_array().unwrap();
            assert_eq!(kinds.iter().map(|kind| kind.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(), described, "{name}");
        }
    }

    #[test]
    fn schemas_are_json_with_a_title_and_describe_each_key() {
        for schema in SCHEMAS {
            let value: Value = serde_json::from_str(schema.text).unwrap();
            assert!(value["title"].is_string() && value["$schema"].is_string(), "{}", schema.name);
            // Keys may be added, so that none may be forbidden.
            assert!(!schema.text.contains("\"additionalProperties\": false"), "{}", schema.name);
            let Some(properties) = value["properties"].as_object() else { continue };
            assert_eq!(properties["schemaVersion"]["const"], super::super::SCHEMA_VERSION, "{}", schema.name);
            let bare: Vec<&String> = properties.iter().filter(|(_, of)| !of["description"].is_string()).map(|(name, _)| name).collect();
            assert!(bare.is_empty(), "{}: {bare:?} have no description", schema.name);
        }
    }
}
