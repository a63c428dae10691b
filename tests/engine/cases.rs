//! Recorded cases of kube-scheduler: their folders, and the comparison of a folder with the engine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use schedscope::release::{Emulation, FeatureGates, Release, nearest};
use schedscope::scheduler::Config;
use serde_json::Value;

/// Returns `fixtures/conformance`.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance")
}

/// Returns the folder in `SCHEDSCOPE_CONFORMANCE`, else [`fixtures`].
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("SCHEDSCOPE_CONFORMANCE").map_or_else(fixtures, PathBuf::from)
}

/// Returns the files of a folder whose names start with `prefix`, by name.
fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix)));
    files.sort();
    files
}

/// Returns the cases of a file, in order.
fn read(file: &Path) -> impl Iterator<Item = Value> + use<> {
    let lines = BufReader::new(GzDecoder::new(std::fs::File::open(file).expect("the file"))).lines();
    lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON"))
}

/// Returns the cases in the files of a folder whose names start with `prefix`.
pub(crate) fn cases(folder: &Path, prefix: &str) -> impl Iterator<Item = Value> {
    files(folder, prefix).into_iter().flat_map(|file| read(&file))
}

/// Returns the folders of other releases, which their versions name, that have files whose names start with `prefix`.
pub(crate) fn other_releases(prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixtures()).expect("the folder").map(|e| e.expect("an entry").path());
    let found: Vec<PathBuf> = entries.filter(|path| path.is_dir() && is_version(path) && !files(path, prefix).is_empty()).collect();
    let least = if prefix == "decisions-" { 24 } else { 7 };
    assert!(found.len() >= least, "{found:?}");
    found
}

/// Whether the name of a folder is a version.
fn is_version(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the configuration of a case, for its release and gates; the newest release if it names none.
pub(crate) fn config(case: &Value) -> Config {
    let release: Option<Release> = case["version"].as_str().map(|version| version.parse().expect("a version"));
    let mut emulation = release.map_or_else(Emulation::default, |release| nearest(release).profile.into());
    if let Some(gates) = case["featureGates"].as_object() {
        let gates: Vec<String> = gates.iter().map(|(name, on)| format!("{name}={on}")).collect();
        let gates = FeatureGates::parse(&gates.join(","), emulation.profile()).expect("valid gates");
        emulation = Emulation::new(emulation.profile(), gates);
    }
    match &case["config"] {
        Value::Null => Config::defaults(emulation),
        config => Config::parse(&config.to_string(), emulation).expect("a valid configuration"),
    }
}

/// Number of cases of a file whose differences are printed.
const SHOWN: usize = 5;

/// Compares all cases of a folder with the engine. `differences` returns the keys of a case that disagree, with the
/// expected and the actual value. `SCHEDSCOPE_ONLY` selects a single case.
pub(crate) fn check(folder: &Path, prefix: &str, differences: impl Fn(&Value) -> Vec<(String, String)>) {
    let only = std::env::var_os("SCHEDSCOPE_ONLY");
    let is_wanted = |case: &Value| only.as_ref().is_none_or(|id| case["id"].as_str().map(OsString::from).as_ref() == Some(id));
    let (mut good, mut total, mut report) = (0, 0, String::new());
    for file in files(folder, prefix) {
        let (mut file_good, mut file_total) = (0, 0);
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for case in read(&file).filter(is_wanted) {
            let wrong = differences(&case);
            file_total += 1;
            file_good += usize::from(wrong.is_empty());
            if !wrong.is_empty() && file_total - file_good <= SHOWN {
                for (key, what) in wrong.iter().take(4) {
                    let _ = writeln!(report, "  {} {key}\n      {}", case["id"], what.chars().take(2500).collect::<String>());
                }
            }
            for (key, _) in wrong {
                *keys.entry(key).or_default() += 1;
            }
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let _ = writeln!(report, "{name}: {file_good}/{file_total} agree {keys:?}");
        good += file_good;
        total += file_total;
    }
    println!("{report}{good} of {total} cases agree");
    assert!(total > 0, "no case was found in {}", folder.display());
    assert_eq!(good, total, "\n{report}");
}
