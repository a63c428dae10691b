//! What an embedder of the engine compiles: the crates without default features.

use std::collections::BTreeSet;
use std::process::Command;

/// Limit on the crates, this one included.
const CRATES: usize = 45;

/// Returns the crates that a build with these arguments has, without versions.
fn crates(features: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--edges", "normal", "--target", "all", "--prefix", "none", "--format", "{p}"]).args(features);
    let found = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    String::from_utf8(found.stdout).expect("UTF-8").lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn the_engine_alone_has_few_crates() {
    let found = crates(&["--no-default-features"]);
    assert!(found.len() > 20 && found.len() <= CRATES, "{} crates: {found:#?}", found.len());
    for unwanted in ["tokio", "ratatui", "kube", "rustls", "clap", "k8s-openapi", "zip", "flate2", "tracing"] {
        let has = found.iter().any(|name| name.split(' ').next() == Some(unwanted));
        assert!(!has, "{unwanted} is compiled");
    }
    assert!(crates(&[]).len() > 200, "the program has all of them");
}

/// The API version is the embedder's choice.
#[test]
fn objects_of_k8s_openapi_force_no_version_of_the_api() {
    let manifest = include_str!("../../Cargo.toml");
    assert!(manifest.contains("\nk8s-openapi = [\"dep:k8s-openapi\"]\n"));
    let dependency = manifest.lines().find(|line| line.starts_with("k8s-openapi = {")).expect("a dependency");
    assert!(!dependency.contains("features = ["), "{dependency}");
}
