//! The list of licences matches the lock file, and the README names the unusual ones.

use std::collections::BTreeSet;

const LOCK: &str = include_str!("../../Cargo.lock");
const LIST: &str = include_str!("../../LICENSE-THIRD-PARTY.md");
const README: &str = include_str!("../../README.md");

/// Returns the external packages of the lock file, with their versions.
fn locked() -> BTreeSet<(&'static str, &'static str)> {
    let value = |block: &'static str, key: &str| block.lines().find_map(|line| line.strip_prefix(key)?.strip_suffix('"'));
    LOCK.split("[[package]]")
        .filter(|block| block.contains("\nsource = "))
        .map(|block| (value(block, "name = \"").expect("a name"), value(block, "version = \"").expect("a version")))
        .collect()
}

/// Returns the rows of the list: package, version and licence.
fn listed() -> Vec<[&'static str; 3]> {
    let rows = LIST.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| package") && !line.starts_with("| ---"));
    rows.map(|row| row.trim_matches(['|', ' ']).split(" | ").collect::<Vec<_>>().try_into().expect("three cells")).collect()
}

#[test]
fn every_locked_package_is_listed_with_its_licence_and_no_other() {
    let rows = listed();
    let found: BTreeSet<_> = rows.iter().map(|[name, version, _]| (*name, *version)).collect();
    let locked = locked();
    assert!(locked.len() > 100, "the lock file is read");
    assert_eq!(found.len(), rows.len(), "no package is listed twice");
    let missing: Vec<_> = locked.difference(&found).collect();
    let gone: Vec<_> = found.difference(&locked).collect();
    assert!(missing.is_empty() && gone.is_empty(), ".ci/licences writes the list anew: missing {missing:?}, no longer used {gone:?}");
    assert!(rows.iter().all(|[_, _, licence]| !licence.is_empty()));
}

#[test]
fn the_readme_names_licences_that_are_neither_mit_nor_apache() {
    let sentence = README.split("## Licence").nth(1).expect("a section");
    for [name, _, licence] in listed() {
        if !licence.contains("MIT") && !licence.contains("Apache-2.0") {
            assert!(sentence.contains(&format!("`{name}`")) && sentence.contains(licence.trim_end_matches('+')), "{name}: {licence}");
        }
    }
}
