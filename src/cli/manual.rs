//! The part of help and man pages beside the arguments: examples, operations, exit codes.

/// The part of a command's help that is written by hand.
pub(super) struct Manual {
    /// The command; empty for the program.
    pub(super) command: &'static str,
    /// Command lines.
    pub(super) examples: &'static [&'static str],
    /// Operations of `run --ops`.
    pub(super) operations: &'static [&'static str],
    /// The exit codes with their meanings; empty where they are those of the program.
    pub(super) exit_codes: &'static [(&'static str, &'static str)],
}

const NONE: Manual = Manual { command: "", examples: &[], operations: &[], exit_codes: &[] };

static MANUALS: &[Manual] = &[
    Manual {
        command: "",
        exit_codes: &[
            ("0", "the pod fits, or the command succeeded"),
            ("1", "it does not fit"),
            ("2", "wrong usage"),
            ("3", "the source could not be read"),
        ],
        ..NONE
    },
    Manual { command: "demo", examples: &["schedscope demo", "schedscope demo tie-breaks", "schedscope demo --list"], ..NONE },
    Manual {
        command: "open",
        examples: &[
            "schedscope open dump.json",
            "schedscope open nodes.json pods.json --scheduler-log kube-scheduler.log",
            "schedscope open snapshot.db --at rev:12047",
            "schedscope capture cluster.json.gz && schedscope open cluster.json.gz",
        ],
        ..NONE
    },
    Manual {
        command: "live",
        examples: &["schedscope live", "schedscope live --context prod", "schedscope live --only-namespace shop"],
        ..NONE
    },
    Manual { command: "capture", examples: &["schedscope capture cluster.json.gz", "schedscope capture --redact cluster.json.gz"], ..NONE },
    Manual {
        command: "record",
        examples: &[
            "schedscope record cluster.journal --keep 24h --max-size 2Gi",
            "schedscope record cluster.journal --scheduler-log live",
            "schedscope explain shop/web-0 --from cluster.journal --at 03:12",
            "schedscope open cluster.journal --at -5m",
        ],
        ..NONE
    },
    Manual {
        command: "explain",
        examples: &[
            "schedscope explain web-0 -n shop --from dump.json",
            "schedscope explain shop/web-0 --fixes",
            "schedscope explain --pending -A -o json",
            "schedscope explain --pending -A --watch",
            "schedscope explain --pending -A -o metrics --output-file pods.prom --exit-zero",
            "schedscope explain shop/payments --demo payments -o markdown",
            "schedscope explain shop/payments --demo payments --fixes -o html > why.html",
        ],
        ..NONE
    },
    Manual {
        command: "run",
        examples: &[
            "schedscope run --from dump.json",
            "schedscope run --from dump.json --what-if 'drain worker-a1'",
            "schedscope run --from dump.json --ops ops.json -o json",
        ],
        operations: &[
            "{\"op\": \"schedule\"}",
            "{\"op\": \"advance\", \"seconds\": 60}",
            "{\"op\": \"create\", \"object\": {\"kind\": \"Pod\", ...}}    also update",
            "{\"op\": \"patch\", \"kind\": \"Node\", \"name\": \"n1\", \"patch\": {\"spec\": {\"unschedulable\": true}}}",
            "{\"op\": \"delete\", \"kind\": \"Pod\", \"namespace\": \"shop\", \"name\": \"web-0\"}",
        ],
        ..NONE
    },
    Manual {
        command: "diff",
        examples: &["schedscope diff before.json after.json", "schedscope diff before.json after.json -n shop -o json"],
        exit_codes: &[
            ("0", "no decision changed"),
            ("1", "a decision changed"),
            ("2", "wrong usage"),
            ("3", "a dump could not be read, or its nodes or pods"),
        ],
        ..NONE
    },
    Manual {
        command: "log",
        examples: &[
            "schedscope log kube-scheduler.log",
            "kubectl logs -n kube-system kube-scheduler-cp-1 | schedscope log -",
            "schedscope log kube-scheduler.log --from dump.json -o json",
        ],
        ..NONE
    },
    Manual {
        command: "completions",
        examples: &[
            "schedscope completions bash > ~/.local/share/bash-completion/completions/schedscope",
            "source <(schedscope completions zsh)",
        ],
        ..NONE
    },
    Manual { command: "info", examples: &["schedscope info", "schedscope info -o json"], ..NONE },
    Manual { command: "schema", examples: &["schedscope schema", "schedscope schema explain"], ..NONE },
];

impl Manual {
    /// Returns the part of a command; of one without any, an empty one.
    pub(super) fn of(command: &str) -> &'static Self {
        MANUALS.iter().find(|manual| manual.command == command).unwrap_or(&NONE)
    }

    /// Returns the exit codes: its own, or those of the program.
    pub(super) fn all_exit_codes(&self) -> &'static [(&'static str, &'static str)] {
        if self.exit_codes.is_empty() { Self::of("").exit_codes } else { self.exit_codes }
    }
}

/// Returns the end of a command's help.
pub(super) fn after_help(command: &str) -> String {
    let manual = Manual::of(command);
    let list = |title: &str, lines: &[&str]| {
        let lines: String = lines.iter().map(|line| format!("\n  {line}")).collect();
        (!lines.is_empty()).then(|| format!("{title}:{lines}"))
    };
    let codes: Vec<String> = manual.exit_codes.iter().map(|(code, meaning)| format!("{code} {meaning}")).collect();
    let codes = (!codes.is_empty()).then(|| format!("Exit codes: {}.", codes.join("; ")));
    let parts = [list("Examples", manual.examples), list("Operations (a JSON array, or one after another)", manual.operations), codes];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_that_is_shown_has_examples_which_it_takes() {
        let program = Cli::command();
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let manual = Manual::of(command.get_name());
            assert!(!manual.examples.is_empty(), "{}", command.get_name());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert_eq!(help, after_help(command.get_name()), "{}", command.get_name());
        }
        for manual in MANUALS.iter().filter(|manual| !manual.command.is_empty()) {
            assert!(program.find_subcommand(manual.command).is_some(), "{}", manual.command);
        }
        assert_eq!(Manual::of("open").all_exit_codes().len(), 4);
        assert!(after_help("diff").ends_with("or its nodes or pods.") && after_help("run").contains("\n\nOperations"));
    }
}
