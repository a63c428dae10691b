//! Device selectors compared with the results, errors and costs of Kubernetes' own evaluator.
//!
//! `SCHEDSCOPE_CONFORMANCE=DIR cargo test --test engine selectors` runs the cases of another folder's `cel`.

use std::fmt::Write as _;

use schedscope::cel::{Environment, Outcome, evaluate};
use schedscope::cluster::resource::Device;
use serde_json::Value;

use crate::cases::{cases, folder};

/// Returns the recorded outcome, without the cost.
fn expected(case: &Value) -> Outcome {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(error) = text(&case["compile"]["error"]) {
        return Outcome::Refused(error);
    }
    match text(&case["error"]) {
        Some(error) => Outcome::Failed { error, cost: 0 },
        None => Outcome::Verdict { selected: case["result"].as_bool().expect("a result"), cost: 0 },
    }
}

/// Separates the cost from the outcome.
fn split(outcome: Outcome) -> (Outcome, Option<u64>) {
    match outcome {
        Outcome::Failed { error, cost } => (Outcome::Failed { error, cost: 0 }, Some(cost)),
        Outcome::Verdict { selected, cost } => (Outcome::Verdict { selected, cost: 0 }, Some(cost)),
        refused @ Outcome::Refused(_) => (refused, None),
    }
}

#[test]
fn results_errors_and_costs_are_as_recorded() {
    let (mut tried, mut wrong) = (0, String::new());
    for prefix in ["expressions", "cel-"] {
        let folder = folder().join("cel");
        for case in cases(&folder, prefix) {
            let list_attributes = case["featureGates"]["DRAListTypeAttributes"] == true;
            let environment = Environment { list_attributes, ..Environment::default() };
            let device = device(&case);
            let driver = case["device"]["driver"].as_str().unwrap_or_default().into();
            let (outcome, cost) = split(evaluate(case["expression"].as_str().expect("an expression"), environment, &driver, &device));
            let expected = expected(&case);
            let same_cost = cost.zip(case["cost"].as_u64()).is_none_or(|(cost, recorded)| cost == recorded);
            if outcome != expected || !same_cost {
                writeln!(wrong, "{} {}: {outcome:?} at {cost:?}, not {expected:?}", case["id"], case["expression"]).unwrap();
            }
            tried += 1;
        }
    }
    assert!(tried > 1_000, "{tried} cases");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns the device as in a ResourceSlice, with the driver of the slice.
fn device(case: &Value) -> Device {
    let mut device = case["device"].clone();
    device.as_object_mut().expect("a device").remove("driver");
    serde_json::from_value(device).expect("a device")
}

/// Expressions that would take unbounded time or memory if only their cost counted.
#[test]
fn no_expression_runs_away() {
    let device = Device::default();
    let doubled = (1..200).fold("[1, 2]".to_owned(), |list, _| format!("cel.bind(x, {list}, x + x)"));
    let nested = (1..200).fold("[1]".to_owned(), |list, _| format!("cel.bind(x, {list}, [x, x])"));
    let maps = (1..200).fold("{1: 2}".to_owned(), |map, _| format!("cel.bind(x, {map}, {{1: x, 2: x}})"));
    let keys = (1..200).fold("1".to_owned(), |key, _| format!("cel.bind(x, {key}, {{x: x}})"));
    let chain = ".optMap(x, x)".repeat(200);
    for expression in [
        "lists.range(9223372036854775807).size() == 1".to_owned(),
        "lists.range(1000000).distinct().size() == 1".to_owned(),
        "lists.range(900000).all(x, lists.range(900000).all(y, x < y || x >= y))".to_owned(),
        format!("{doubled}.size() == 1"),
        format!("cel.bind(y, {nested}, y == y)"),
        format!("cel.bind(y, {nested}, \"%s\".format([y]) == \"\")"),
        format!("cel.bind(y, {nested}, [y].indexOf(y) == 1)"),
        format!("cel.bind(y, {maps}, y == y)"),
        format!("cel.bind(y, {keys}, y == y)"),
        format!("optional.of(1){chain} == optional.of(1)"),
        format!("\"{}\".replace(\"\", \"{}\").replace(\"\", \"{}\").size() == 1", "a".repeat(3_000), "b".repeat(3_000), "c".repeat(3_000)),
        format!("\"{}\".matches(\"{}\")", "a".repeat(4_000), "(a?){500}".repeat(10)),
        format!("{}true{}", "[1].all(x, ".repeat(240), ")".repeat(240)),
        format!("{}true{}", "(".repeat(5_000), ")".repeat(5_000)),
        format!("{}1{}", "[".repeat(249), "]".repeat(249)),
        format!("1{} == 1", " + 1".repeat(2_000)),
        format!("{}true", "true ? true : ".repeat(700)),
    ] {
        let _ = evaluate(&expression, Environment::default(), &"x".into(), &device);
    }
}
