//! What an embedder of the engine compiles: the crates without default features.

use std::collections::BTreeSet;
use std::process::Command;

/// Limit on the crates that are compiled besides this one.
const CRATES: usize = 45;

/// The platforms of operators.
const TARGETS: [&str; 3] = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];

/// Returns the crates that a build for a target has, with versions.
fn crates(target: &str, features: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--edges", "normal", "--target", target, "--prefix", "none", "--format", "{p}"]).args(features);
    let found = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    String::from_utf8(found.stdout)
        .expect("UTF-8")
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .filter(|line| !line.starts_with("schedscope "))
        .collect()
}

#[test]
fn the_engine_alone_has_few_crates() {
    for target in TARGETS {
        let found = crates(target, &["--no-default-features"]);
        assert!(found.len() > 20 && found.len() <= CRATES, "{target}: {} crates: {found:#?}", found.len());
        assert_lean(&found);
    }
    assert!(crates(TARGETS[0], &[]).len() > 200, "the program has all of them");
}

/// Asserts that what only the program needs is missing.
#[track_caller]
fn assert_lean(found: &BTreeSet<String>) {
    for unwanted in ["tokio", "ratatui", "kube", "rustls", "clap", "k8s-openapi", "zip", "flate2", "tracing"] {
        let has = found.iter().any(|name| name.split(' ').next() == Some(unwanted));
        assert!(!has, "{unwanted} is compiled");
    }
}

/// The API version is the embedder's choice.
#[test]
fn objects_of_k8s_openapi_force_no_version_of_the_api() {
    let manifest = include_str!("../../Cargo.toml");
    assert!(manifest.contains("\nk8s-openapi = [\"dep:k8s-openapi\"]\n"));
    let dependency = manifest.lines().find(|line| line.starts_with("k8s-openapi = {")).expect("a dependency");
    assert!(!dependency.contains("features = ["), "{dependency}");
}
