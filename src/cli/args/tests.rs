use super::*;

#[test]
fn labels_are_read_as_kubectl_reads_them() {
    let labels: Labels = [("app", "web"), ("tier", "front")].into_iter().map(|(k, v)| (k, v.into())).collect();
    for (query, expected) in [
        ("app=web", true),
        ("app==web, tier!=back", true),
        ("app,!spot", true),
        ("app=web,tier=back", false),
        ("gpu", false),
        ("gpu!=a100", true),
        ("!app", false),
        ("app=", false),
    ] {
        assert_eq!(query.parse::<LabelQuery>().map(|query| query.matches(&labels)), Ok(expected), "{query}");
    }
    for query in ["", "app in (a)", "=x", "a,,b"] {
        assert!(query.parse::<LabelQuery>().is_err(), "{query}");
    }
}

#[test]
fn completions_know_stories_and_themes_and_any_value_is_taken() {
    use clap::CommandFactory as _;
    let mut script = Vec::new();
    clap_complete::generate(clap_complete::Shell::Zsh, &mut Cli::command(), "schedscope", &mut script);
    let script = String::from_utf8(script).unwrap();
    assert!(script.contains("payments") && script.contains("high-contrast"), "{script}");
    assert!(Cli::try_parse_from(["schedscope", "demo", "no-such-story", "--theme", "mine"]).is_ok());
}

#[test]
fn a_release_is_named_as_distributions_do_or_looked_for() {
    for (text, valid) in [("1.31", true), ("v1.31.4-eks-a1b2c3", true), ("auto", true), ("latest", false), ("2.0", false), ("", false)] {
        let parsed = Cli::try_parse_from(["schedscope", "explain", "pod/a", "--from", "x", "--emulate", text]);
        assert_eq!(parsed.is_ok(), valid, "{text}");
        assert!(
            parsed.err().is_none_or(|error| error.exit_code() == 2 && error.to_string().contains("emulated are 1.11 to 1.37")),
            "{text}"
        );
    }
}

#[test]
fn sizes_are_read_as_kubernetes_writes_them() {
    for (text, expected) in [("1Gi", Some(1 << 30)), ("1000", Some(1000)), ("2k", Some(2000)), ("-1", None), ("much", None)] {
        for args in [["explain", "pod/a", "--from", "x"].as_slice(), &["open", "x"]] {
            let size = format!("--max-bytes={text}");
            let parsed = Cli::try_parse_from(["schedscope"].iter().chain(args).copied().chain([size.as_str()]));
            let limits = parsed.ok().map(|cli| match cli.command {
                Some(Command::Explain(args)) => args.cluster.limits.limits().decompressed,
                Some(Command::Open(args)) => args.limits.limits().decompressed,
                _ => unreachable!("one of the two was asked for"),
            });
            assert_eq!(limits, expected, "{text}");
        }
    }
    assert_eq!(LimitArgs::default().limits(), Limits::default());
}
