//! The changelog has an entry for the version of the crate.

#[test]
fn the_wheel_has_the_version_of_the_crate() {
    let version = format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"));
    for (name, text) in [
        ("python/pyproject.toml", include_str!("../../python/pyproject.toml")),
        ("python/Cargo.toml", include_str!("../../python/Cargo.toml")),
    ] {
        assert!(text.contains(&version), "{name} has another version");
    }
}

#[test]
fn the_library_is_documented_with_the_version_of_the_crate() {
    let minor = env!("CARGO_PKG_VERSION").rsplit_once('.').expect("three numbers").0;
    for (name, text) in
        [("docs/library.md", include_str!("../../docs/library.md")), ("src/engine/mod.rs", include_str!("../../src/engine/mod.rs"))]
    {
        let named: Vec<&str> = text.split("schedscope = { version = \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(!named.is_empty() && named.iter().all(|version| *version == minor), "{name}: {named:?}");
    }
}

#[test]
fn the_changelog_has_an_entry_for_the_version() {
    let text = include_str!("../../CHANGELOG.md");
    let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings.first(), Some(&"Unreleased"), "changes since the last version are collected at the top");
    let version = env!("CARGO_PKG_VERSION");
    assert!(headings.iter().any(|heading| heading.split(' ').next() == Some(version)), "CHANGELOG.md has no entry for {version}");
}
