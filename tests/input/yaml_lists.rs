//! Lists cut into entries read like a parse of the whole document.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::borrow::Cow;

use proptest::prelude::*;
use schedscope::cluster::{Kind, Object};
use schedscope::source::{Input, Loaded, load};
use serde::Deserialize;
use serde_json::{Value, json};

fn load_text(text: &str) -> Loaded {
    load(&[Input::Bytes { name: "in".to_owned(), bytes: Cow::Owned(text.as_bytes().to_vec()) }])
}

/// Text that makes YAML hard: dashes, quotes, line breaks, document markers.
fn awkward() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z]{1,6}",
        Just("\n".to_owned()),
        Just("\n- ".to_owned()),
        Just("- a: b".to_owned()),
        Just("\n---\n".to_owned()),
        Just("items:".to_owned()),
        Just("\n  kind: Node\n".to_owned()),
        Just("# c".to_owned()),
        Just(": ".to_owned()),
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just("\t".to_owned()),
        Just("  ".to_owned()),
        Just("*x".to_owned()),
        Just("&x".to_owned()),
        Just("é".to_owned()),
        Just("{[".to_owned()),
        Just("true".to_owned()),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

fn item(index: usize, pod: bool, text: &str, other: &str) -> Value {
    let name = format!("o{index}");
    if pod {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "x", "labels": {"text": text}},
            "spec": {"schedulerName": other, "containers": [{"name": text, "image": other, "resources": {"requests": {"cpu": "1500m"}}}]},
            "status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": other}]},
        })
    } else {
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"text": text}, "annotations": {"a": other}},
            "spec": {"taints": [{"key": other, "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "4"}},
        })
    }
}

fn whole(items: &[Value]) -> Vec<Object> {
    let read = |item: &Value| {
        let kind: Kind = item["kind"].as_str().unwrap().parse().unwrap();
        let yaml = serde_yaml::to_string(item).unwrap();
        let mut object =
            Object::deserialize_kind(kind, serde_yaml::Value::deserialize(serde_yaml::Deserializer::from_str(&yaml)).unwrap()).unwrap();
        if let Object::Pod(pod) = &mut object
            && pod.spec.scheduler_name.is_empty()
        {
            std::sync::Arc::make_mut(pod).spec_mut().scheduler_name = "default-scheduler".into();
        }
        object
    };
    items.iter().map(read).collect()
}

proptest! {
    #[test]
    fn entries_read_as_the_whole_document_does(
        parts in prop::collection::vec((any::<bool>(), awkward(), awkward()), 1..6),
        indented in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let items: Vec<Value> = parts.iter().enumerate().map(|(i, (pod, text, other))| item(i, *pod, text, other)).collect();
        let expected = whole(&items);
        let list = json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
        let mut text = serde_yaml::to_string(&list).unwrap();
        if indented {
            text = text.lines().map(|line| match line.chars().next() {
                Some('-' | ' ') if !line.starts_with("  resourceVersion") => format!("  {line}\n"),
                _ => format!("{line}\n"),
            }).collect();
        }
        // A carriage return inside a quoted scalar would be content.
        if crlf && !text.contains("\\\n") {
            text = text.replace('\n', "\r\n");
        }
        let loaded = load_text(&text);
        prop_assert_eq!(&loaded.objects, &expected, "{}\n{:#?}", text, loaded.diagnostics);
        prop_assert!(loaded.diagnostics.is_empty(), "{}\n{:#?}", text, loaded.diagnostics);

        for (other, form) in [
            (serde_yaml::to_string(&items).unwrap(), "sequence"),
            (items.iter().map(|i| format!("---\n{}", serde_yaml::to_string(i).unwrap())).collect(), "documents"),
            (serde_json::to_string(&list).unwrap(), "compact JSON"),
            (serde_json::to_string_pretty(&list).unwrap(), "JSON"),
            (serde_json::to_string_pretty(&items).unwrap(), "JSON array"),
            (items.iter().map(|i| format!("{i}\n")).collect(), "JSON lines"),
        ] {
            let loaded = load_text(&other);
            prop_assert_eq!(&loaded.objects, &expected, "{}: {}\n{:#?}", form, other, loaded.diagnostics);
            prop_assert!(loaded.diagnostics.is_empty(), "{}: {}\n{:#?}", form, other, loaded.diagnostics);
        }
    }

    #[test]
    fn any_damage_is_survived(at in 0usize..2000, what in any::<u8>(), yaml in any::<bool>(), cut in any::<bool>()) {
        let items: Vec<Value> = (0..4).map(|i| item(i, i % 2 == 0, "some text", "- more")).collect();
        let list = json!({"apiVersion": "v1", "items": items, "kind": "List"});
        let text = if yaml { serde_yaml::to_string(&list).unwrap() } else { serde_json::to_string_pretty(&list).unwrap() };
        let mut bytes = text.into_bytes();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = what;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let loaded = load(&[Input::Bytes { name: "in".to_owned(), bytes: Cow::Owned(bytes) }]);
        // One changed byte costs one object, or splits one in two; in the list's own head it may cost the list.
        let found = loaded.objects.len() >= 3 || !loaded.diagnostics.is_empty() || !loaded.report.other_kinds.is_empty();
        prop_assert!(cut || found, "{} {:?} {:#?}", text, loaded.objects.iter().map(Object::key).collect::<Vec<_>>(), loaded.report);
    }
}
