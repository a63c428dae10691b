//! Packages agree with each other and with the program: names of archives, kubectl's and k9s' ways of calling it, man pages.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_yaml::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_schedscope");
const ARCHIVE: &str = include_str!("../../packaging/archive.sh");
const CONTAINER: &str = include_str!("../../packaging/container/Containerfile");
const K9S: &str = include_str!("../../packaging/k9s/plugins.yaml");
const KREW: &str = include_str!("../../packaging/krew/schedscope.yaml");
const MANIFEST: &str = include_str!("../../Cargo.toml");
const RELEASE: &str = include_str!("../../.github/workflows/release.yml");

fn run(program: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).env("HOME", "/dev/null").env("XDG_STATE_HOME", "/dev/null").env_remove("KUBECONFIG");
    command.output().expect("it starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the texts under a key, at any depth.
fn under<'v>(value: &'v Value, key: &str, out: &mut Vec<&'v str>) {
    match value {
        Value::Mapping(map) => {
            for (name, value) in map {
                if let (Some(name), Some(text)) = (name.as_str(), value.as_str())
                    && name == key
                {
                    out.push(text);
                }
                under(value, key, out);
            }
        }
        Value::Sequence(list) => list.iter().for_each(|value| under(value, key, out)),
        _ => {}
    }
}

#[test]
fn archives_have_one_name_wherever_they_are_named() {
    let workflow: Value = serde_yaml::from_str(RELEASE).expect("YAML");
    let mut built = Vec::new();
    under(&workflow, "target", &mut built);
    assert!(built.len() >= 6, "{built:?}");
    assert!(ARCHIVE.contains("name=schedscope-v$version-$target\n") && ARCHIVE.contains("target/packages/$name.tar.gz"), "{ARCHIVE}");
    let of_binstall =
        |key: &str| MANIFEST.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = ")).expect("a key").trim_matches('"');
    assert_eq!(of_binstall("pkg-url"), "{ repo }/releases/download/v{ version }/{ name }-v{ version }-{ target }.tar.gz");
    assert_eq!(of_binstall("bin-dir"), "{ name }-v{ version }-{ target }/{ bin }{ binary-ext }");

    // As krew-release-bot fills it in.
    let filled: String = KREW
        .lines()
        .map(|line| match line.trim().strip_prefix("{{addURIAndSha \"").and_then(|rest| rest.split_once('"')) {
            Some((uri, _)) => format!("      uri: {uri}\n      sha256: {}\n", "0".repeat(64)),
            None => format!("{line}\n"),
        })
        .collect();
    let manifest: Value = serde_yaml::from_str(&filled.replace("{{ .TagName }}", "v1.2.3")).expect("YAML");
    let text = |pointer: &[&str]| pointer.iter().fold(&manifest, |value, key| &value[*key]).as_str().expect("a text");
    assert_eq!(text(&["apiVersion"]), "krew.googlecontainertools.github.com/v1alpha2");
    assert_eq!((text(&["metadata", "name"]), text(&["spec", "version"])), ("schedscope", "v1.2.3"));
    assert!(text(&["spec", "shortDescription"]).len() < 50, "a few words");
    let platforms = manifest["spec"]["platforms"].as_sequence().expect("a list");
    assert!(platforms.len() >= 5);
    let mut systems = BTreeSet::new();
    for platform in platforms {
        let (uri, bin) = (platform["uri"].as_str().expect("a URI"), platform["bin"].as_str().expect("a path"));
        let name = uri.rsplit_once('/').and_then(|(_, file)| file.strip_suffix(".tar.gz")).expect("an archive");
        let target = name.strip_prefix("schedscope-v1.2.3-").expect("the name of an archive");
        assert!(built.contains(&target), "{target} is not built by the workflow");
        assert_eq!(uri, format!("https://github.com/schedscope/schedscope/releases/download/v1.2.3/{name}.tar.gz"));
        let ending = if target.contains("windows") { ".exe" } else { "" };
        assert_eq!(bin, format!("{name}/schedscope{ending}"));
        let labels = &platform["selector"]["matchLabels"];
        let (os, arch) = (labels["os"].as_str().expect("an OS"), labels["arch"].as_str().expect("an architecture"));
        assert!(target.contains(os) && target.starts_with(if arch == "amd64" { "x86_64" } else { "aarch64" }), "{os}/{arch}: {target}");
        assert!(systems.insert((os, arch)), "{os}/{arch} twice");
    }
}

#[test]
fn the_container_runs_as_a_number_and_trusts_what_it_brings() {
    let user = CONTAINER.lines().find_map(|line| line.strip_prefix("USER ")).expect("a user");
    assert!(user.chars().all(|c| c.is_ascii_digit() || c == ':') && !user.starts_with("0:"), "{user}");
    assert!(CONTAINER.contains("FROM scratch\n") && CONTAINER.contains("SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"));
}

#[test]
fn the_key_of_k9s_opens_the_explorer_on_its_pod() {
    let plugins: Value = serde_yaml::from_str(K9S).expect("YAML");
    let plugin = &plugins["plugins"]["schedscope"];
    assert_eq!(plugin["command"].as_str(), Some("schedscope"));
    assert_eq!(plugin["scopes"][0].as_str(), Some("pods"));
    let variables = [("$CONTEXT", "prod"), ("$NAMESPACE", "shop"), ("$NAME", "payments")];
    let fill = |word: &str| variables.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value));
    let args: Vec<String> = plugin["args"].as_sequence().expect("a list").iter().map(|word| fill(word.as_str().expect("a word"))).collect();
    assert_eq!(args, ["live", "--context", "prod", "--pod", "shop/payments"]);
    let args: Vec<&str> = args.iter().map(String::as_str).chain(["--kubeconfig", "/nowhere", "--print", "never.txt"]).collect();
    // The words are understood: what fails is the kubeconfig.
    let output = run(Path::new(PROGRAM), &args);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

#[cfg(unix)]
#[test]
fn kubectl_finds_completions_under_the_name_that_it_looks_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = |name: &str| {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink(PROGRAM, &path).expect("a link");
        path
    };
    let complete = link("kubectl_complete-schedscope");
    for (words, candidates, directive) in [
        (&["expl"][..], &["explain"][..], ":4"),
        (&["explain", "--demo", "payments", "--fixes", "shop/pay"], &["shop/payments"], ":4"),
        (&["explain", "-o", "y"], &["yaml"], ":4"),
        (&["open", ""], &[], ":0"),
        (&["explain", "--from", "/nowhere", "--fixes", "x"], &[], ":4"),
        (&["live", "--kubeconfig", "/dev/zero", "--context", ""], &[], ":4"),
        (&[""], &["demo", "open", "live", "capture", "explain", "run", "log", "completions", "info", "schema"], ":4"),
        (&[], &[], ":4"),
    ] {
        let output = run(&complete, words);
        let text = said(&output);
        let mut lines: Vec<&str> = text.lines().collect();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
        assert_eq!(lines.pop(), Some(directive), "{words:?}");
        let found: BTreeSet<&str> = lines.iter().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        let missing: Vec<&&str> = candidates.iter().filter(|name| !found.contains(**name)).collect();
        assert!(missing.is_empty() && (!candidates.is_empty() || found.is_empty()) && !found.contains("man"), "{words:?}: {text}");
    }
    let plugin = link("kubectl-schedscope");
    let usage = String::from_utf8_lossy(&run(&plugin, &["explain"]).stderr).into_owned();
    assert!(usage.contains("Usage: kubectl schedscope explain "), "{usage}");
    assert_eq!(run(&plugin, &["explain", "payments", "-n", "shop", "--demo", "payments"]).status.code(), Some(1));
}

#[test]
fn man_pages_are_new_files_of_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("share/man1").to_string_lossy().into_owned();
    assert!(run(Path::new(PROGRAM), &["man", &path]).status.success(), "the folder is created");
    let page = Path::new(&path).join("schedscope-explain.1");
    let explain = std::fs::read_to_string(&page).expect("a page");
    let probe = folder.path().join("probe");
    std::fs::write(&probe, "").expect("a file");
    let mode = |path: &Path| std::fs::metadata(path).expect("a file").permissions().mode();
    assert_eq!(mode(&page), mode(&probe), "others may read it, as any file");
    assert!(explain.contains(".TH schedscope-explain 1") && explain.contains("\\-\\-pending"), "{explain}");
    let again = run(Path::new(PROGRAM), &["man", &path]);
    let error = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.code() == Some(3) && error.contains("schedscope.1"), "files are not overwritten: {error}");
    assert!(!said(&run(Path::new(PROGRAM), &["--help"])).contains("  man "), "the command is for packagers");
}
