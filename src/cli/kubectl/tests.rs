//! Tests of `kubectl`.

use super::*;

/// Returns the candidates of a line without their descriptions, and the directive.
fn completed(line: &str) -> String {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let (found, directive) = candidates(&words);
    let names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
    format!("{} :{directive}", names.join(" "))
}

#[test]
fn subcommands_options_and_values_are_completed() {
    for (line, expected) in [
        ("e", "explain :4"),
        ("expl", "explain :4"),
        ("explain --sel", "--selector :4"),
        ("explain x -o m", "markdown metrics :4"),
        ("explain x --output=j", "json :4"),
        ("info -o m", "markdown :4"),
        ("completions z", "zsh :4"),
        ("explain --demo payments --fixes shop/pay", "shop/payments :4"),
        ("explain --from ", " :0"),
        ("open ", " :0"),
        ("--only-n", "--only-namespace :4"),
        ("explain --all-nodes --kubeconfig=", " :0"),
        ("no-such-command x", " :4"),
        ("explain -- ", " :4"),
    ] {
        assert_eq!(completed(line), expected, "{line}");
    }
    assert!(completed("").contains("demo open live capture record explain run") && !completed("").contains(" man"), "{}", completed(""));
    assert_eq!(candidates(&[]), (Vec::new(), NO_FILES));
    let (found, _) = candidates(&["explain".to_owned(), "--fix".to_owned()]);
    assert!(found[0].1.starts_with("Find the smallest changes"), "{found:?}");
}

#[test]
fn a_completion_that_takes_too_long_is_empty() {
    let (_keeps_open, never) = mpsc::channel::<()>();
    assert_eq!(within(Duration::from_millis(1), move || never.recv().is_ok()), None);
    assert_eq!(within(COMPLETION, || 1), Some(1));
}

#[test]
fn as_a_plugin_the_program_calls_itself_by_what_was_typed() {
    let usage = |name: &str| parse(&[name.into(), "explain".into()]).map(|_| ()).unwrap_err().to_string();
    assert!(usage("/usr/bin/kubectl-schedscope").contains("Usage: kubectl schedscope explain "), "{}", usage("kubectl-schedscope"));
    assert!(usage("schedscope").contains("Usage: schedscope explain "), "{}", usage("schedscope"));
    assert!(parse(&["kubectl-schedscope".into(), "info".into()]).is_ok());
}
