//! Says whether 20 replicas of a Deployment fit: `cargo run --example will_it_fit`.

use std::error::Error;

use schedscope::engine::Engine;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let nodes: Vec<_> = (0..4)
        .map(|i| json!({
            "kind": "Node", "metadata": {"name": format!("node-{i}"), "labels": {"topology.kubernetes.io/zone": if i < 2 { "a" } else { "b" }}},
            "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}}
        }))
        .collect();
    let engine = Engine::builder().objects(json!({"kind": "List", "items": nodes}).to_string()).build()?;
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "resources": {"requests": {"cpu": "900m", "memory": "1Gi"}}}]}
            }
        }
    });
    let placed = engine.place(&deployment, 20)?;
    println!("{} of {} fit", placed.fit(), placed.pods().len());
    for pod in placed.pods() {
        println!("  {}: {}", pod.name(), pod.node().unwrap_or_else(|| pod.why()));
    }
    Ok(())
}
