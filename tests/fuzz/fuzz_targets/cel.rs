//! Device selectors: any text compiles or is refused, and every evaluation ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::cel::{Environment, Outcome, evaluate};
use schedscope::cluster::resource::Device;

fuzz_target!(|input: (&str, bool, &str)| {
    let (expression, list_attributes, model) = input;
    let device = serde_json::json!({
        "attributes": {"model": {"string": model}, "numa": {"int": 1}, "healthy": {"bool": true}, "version": {"version": "1.2.3"}},
        "capacity": {"memory": {"value": "80Gi"}},
    });
    let device: Device = serde_json::from_value(device).expect("a device");
    let environment = Environment { list_attributes, ..Environment::default() };
    let first = evaluate(expression, environment, &"gpu.example.com".into(), &device);
    assert_eq!(first, evaluate(expression, environment, &"gpu.example.com".into(), &device), "{expression}");
    if let Outcome::Failed { cost, .. } | Outcome::Verdict { cost, .. } = first {
        assert!(cost <= 1_000_000 || matches!(first, Outcome::Failed { .. }), "{expression} cost {cost}");
    }
});
