//! An out-of-tree plugin that filters and scores: nodes take pods of their own team only, and older generations come first.
//! `cargo run --example plugin`.

use std::error::Error;

use schedscope::engine::{Engine, Filter, NodeView, Plugin, PodView, Score, Verdict};
use serde_json::{Value, json};

/// Keeps teams apart by a label whose key is the argument `key`.
struct Teams {
    key: String,
}

impl Plugin for Teams {
    fn filter(&self) -> Option<&dyn Filter> {
        Some(self)
    }

    fn score(&self) -> Option<&dyn Score> {
        Some(self)
    }
}

impl Filter for Teams {
    fn filter(&self, pod: &PodView<'_>, node: &NodeView<'_>) -> Verdict {
        match (node.label(&self.key), pod.label(&self.key)) {
            (Some(team), own) if own != Some(team) => Verdict::rejects_always("node(s) belonged to another team"),
            _ => Verdict::Fits,
        }
    }
}

impl Score for Teams {
    fn score(&self, _pod: &PodView<'_>, node: &NodeView<'_>) -> i64 {
        let generation: i64 = node.label("generation").and_then(|text| text.parse().ok()).unwrap_or(10);
        (100 - 10 * generation).clamp(0, 100)
    }
}

fn teams(args: &Value) -> Result<Box<dyn Plugin>, String> {
    let key = args.get("key").map_or(Some("team"), Value::as_str).ok_or("key is no text")?;
    Ok(Box::new(Teams { key: key.to_owned() }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let node = |name: &str, team: &str, generation: &str| {
        json!({"kind": "Node", "metadata": {"name": name, "labels": {"team": team, "generation": generation}},
            "status": {"allocatable": {"cpu": "4", "pods": "110"}}})
    };
    let pod = json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "labels": {"team": "blue"}}});
    let objects = json!({"kind": "List", "items": [node("a", "red", "1"), node("b", "blue", "3"), node("c", "blue", "1"), pod]});
    let engine = Engine::builder().objects(objects.to_string()).plugin("Teams", teams).build()?;
    let decision = engine.decide("shop", "web")?;
    println!("{}", decision.why());
    for rejection in decision.rejections() {
        println!("  {} is rejected by {}: {}", rejection.node(), rejection.plugin(), rejection.reasons()[0].text());
    }
    Ok(())
}
