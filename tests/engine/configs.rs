//! Reads configuration files: those of `tests/configs/valid` are accepted, those of `tests/configs/invalid` are refused
//! with exactly the errors that their leading comments list, one per line.

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use schedscope::release::{Emulation, Gate};
use schedscope::scheduler::{Config, Framework};
use serde_json::{Value, json};

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() > 5, "the files are there");
    files.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a text file"))).collect()
}

fn valid(name: &str) -> Config {
    let (_, text) = files("valid").into_iter().find(|(path, _)| path.file_stem().is_some_and(|s| s == name)).expect("the file");
    Config::parse(&text, Emulation::default()).expect("a valid configuration")
}

#[test]
fn valid_files_are_accepted() {
    for (path, text) in files("valid") {
        let config = Config::parse(&text, Emulation::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(!config.profiles.is_empty(), "{}", path.display());
    }
}

#[test]
fn invalid_files_are_refused_with_every_error() {
    for (path, text) in files("invalid") {
        let expected: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let error = Config::parse(&text, Emulation::default()).err().unwrap_or_else(|| panic!("{} was accepted", path.display()));
        // A text that is not YAML is refused in the parser's words, followed by a line number.
        let actual = error.to_string();
        let actual: Vec<&str> =
            actual.lines().map(|l| if error.0[0].path.is_empty() { l.split(" at line").next().unwrap_or(l) } else { l }).collect();
        assert!(!expected.is_empty(), "{} lists no error", path.display());
        assert_eq!(sorted(expected), sorted(actual), "{}", path.display());
    }
}

/// Sorts errors: their order follows the structure of the code and is not tested.
fn sorted(mut lines: Vec<&str>) -> Vec<&str> {
    lines.sort_unstable();
    lines
}

fn scores(profile: &Framework) -> Vec<(&str, i64)> {
    profile.score.iter().map(|(plugin, weight)| (plugin.name().as_str(), *weight)).collect()
}

#[test]
fn weights_are_those_of_kube_scheduler() {
    assert_eq!(
        scores(&valid("bare").profiles[0]),
        [
            ("TaintToleration", 3),
            ("NodeAffinity", 2),
            ("NodeResourcesFit", 1),
            ("VolumeBinding", 1),
            ("PodTopologySpread", 2),
            ("InterPodAffinity", 2),
            ("DynamicResources", 2),
            ("NodeResourcesBalancedAllocation", 1),
            ("ImageLocality", 1),
        ]
    );
    assert_eq!(
        scores(&valid("weights").profiles[0]),
        [
            ("TaintToleration", 1),
            ("NodeAffinity", 1),
            ("InterPodAffinity", 7),
            ("NodeResourcesFit", 1),
            ("VolumeBinding", 1),
            ("PodTopologySpread", 5),
            ("DynamicResources", 2),
            ("NodeResourcesBalancedAllocation", 1),
        ]
    );
    assert_eq!(scores(&valid("weight-negative-last").profiles[0]), [("NodeAffinity", -1)]);
}

#[test]
fn what_is_said_is_kept() {
    let config = valid("everything");
    assert_eq!((config.percentage_of_nodes_to_score, config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds), (50, 1, 1));
    assert_eq!(config.profiles[0].percentage_of_nodes_to_score, Some(0));
    for name in ["bare", "nulls"] {
        let config = valid(name);
        let numbers = (config.percentage_of_nodes_to_score, config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds);
        assert_eq!((numbers, config.profiles[0].name.as_str()), ((0, 1, 10), "default-scheduler"), "{name}");
    }
    let names: Vec<String> = valid("profiles").profiles.iter().map(|p| p.name.to_string()).collect();
    assert_eq!(names, ["default-scheduler", "packer", "no-scoring"]);
    assert!(valid("profiles").profiles[2].score.is_empty());
}

#[test]
fn what_is_not_emulated_is_remembered_where_it_has_a_say() {
    for (name, expected) in [
        ("bare", vec![]),
        ("from-elsewhere", vec![("Coscheduling", vec!["multiPoint", "queueSort"]), ("MyBinder", vec!["bind"])]),
        ("pod-groups", vec![]),
        ("extenders", vec![("extender https://extender.example.com (extenders[0])", vec!["filter", "prioritize", "bind"])]),
    ] {
        let expected: Vec<(String, Vec<&str>)> = expected.into_iter().map(|(n, points)| (n.to_owned(), points)).collect();
        assert_eq!(valid(name).profiles[0].not_emulated, expected, "{name}");
    }
}

#[test]
fn gates_decide_what_is_valid() {
    let head = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{pluginConfig: [";
    let parse = |args: &str, gate: Gate, on| {
        let mut gates = Emulation::default();
        gates.set(gate, on);
        Config::parse(&format!("{head}{args}]}}]}}"), gates).map(|c| c.profiles[0].all.len()).map_err(|e| e.to_string())
    };
    let shape = "{name: VolumeBinding, args: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}";
    let gate = Gate::StorageCapacityScoring;
    assert_eq!(parse(shape, gate, true), Ok(20));
    assert!(parse(shape, gate, false).is_err());
    let timeout = "{name: DynamicResources, args: {bindingTimeout: 5s}}";
    assert_eq!(parse(timeout, Gate::DRADeviceBindingConditions, true), Ok(20));
    assert_eq!(
        parse(timeout, Gate::DRADeviceBindingConditions, false).unwrap_err(),
        "profiles[0].pluginConfig[0].args.bindingTimeout: Forbidden: \
         DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
    );
    assert_eq!(parse("", Gate::NodeDeclaredFeatures, false), Ok(19));
}

/// Returns every value in which `other` replaces one part of `value`.
fn replaced(value: &Value, other: &Value) -> Vec<Value> {
    let mut all = vec![other.clone()];
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                all.extend(replaced(inner, other).into_iter().map(|inner| {
                    let mut map = map.clone();
                    map.insert(key.clone(), inner);
                    Value::Object(map)
                }));
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                all.extend(replaced(inner, other).into_iter().map(|inner| {
                    let mut list = list.clone();
                    list[i] = inner;
                    Value::Array(list)
                }));
            }
        }
        _ => {}
    }
    all
}

#[test]
fn no_value_in_any_place_is_too_much() {
    let (mut accepted, mut refused) = (0, 0);
    for name in ["everything", "extenders", "weights"] {
        let (_, text) = files("valid").into_iter().find(|(path, _)| path.file_stem().is_some_and(|s| s == name)).expect("the file");
        let whole: Value = serde_yaml::from_str(&text).expect("YAML");
        for other in [
            json!(null),
            json!([]),
            json!([null]),
            json!({}),
            json!({"name": "*"}),
            json!(""),
            json!("-1ns"),
            json!(-1),
            json!(1.5),
            json!(true),
        ] {
            for value in replaced(&whole, &other) {
                match Config::parse(&value.to_string(), Emulation::default()) {
                    Ok(_) => accepted += 1,
                    Err(error) => {
                        assert!(!error.to_string().is_empty(), "{value}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(accepted > 100 && refused > 1000, "{accepted} were accepted, {refused} refused");
}
