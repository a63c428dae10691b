//! The door for embedders: any objects, configurations, what-ifs, operations and workloads give an answer or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::engine::{Engine, admit};

fuzz_target!(|parts: (&str, &str, &str, &str)| {
    let (objects, config, words, json) = parts;
    let builder = Engine::builder().objects(objects);
    let builder = if config.is_empty() { builder } else { builder.config(config) };
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let _ = admit(&value);
    let Ok(mut engine) = builder.build() else { return };
    let pending: Vec<String> = engine.queues().active().take(3).map(str::to_owned).collect();
    for pod in &pending {
        if let Some((namespace, name)) = pod.split_once('/') {
            if let Ok(decision) = engine.decide(namespace, name) {
                let _ = (decision.rejections(), decision.to_json());
            }
        }
    }
    let _ = engine.what_if(words);
    let _ = engine.place(&value, 3);
    let _ = engine.admit(&value);
    let _ = engine.apply(&value);
});
