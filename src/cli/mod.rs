//! The command line: arguments, subcommands, exit codes.

mod args;
mod explain;

pub use args::{Cli, Command, Output, SourceArgs};

use std::process::ExitCode;

use crate::framework::{FeatureGates, Gate};
use crate::scheduler::Config;
use crate::source::{self, Input, Loaded, Severity};

/// The pod fits, or the command did its job.
pub const EXIT_OK: u8 = 0;
/// The pod does not fit.
pub const EXIT_NO_FIT: u8 = 1;
/// Wrong usage.
pub const EXIT_USAGE: u8 = 2;
/// The source could not be read, or the cluster could not be reached.
pub const EXIT_SOURCE: u8 = 3;

/// Why a command ended without an answer, and the exit code that says so.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What to tell the user.
    pub message: String,
}

impl Failure {
    fn usage(message: impl Into<String>) -> Self {
        Self { code: EXIT_USAGE, message: message.into() }
    }

    fn source(message: impl Into<String>) -> Self {
        Self { code: EXIT_SOURCE, message: message.into() }
    }
}

/// Runs a command; answers go to standard output, diagnostics to standard error.
pub fn run(cli: Cli) -> ExitCode {
    let result = match cli.command {
        Command::Explain(args) => explain::run(&args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("schedscope: {failure}");
            ExitCode::from(failure.code)
        }
    }
}

/// Reads the configuration that a command names, or the defaults.
fn config(source: &SourceArgs) -> Result<Config, Failure> {
    let gates = gates(source.feature_gates.as_deref().unwrap_or(""))?;
    let Some(path) = &source.config else { return Ok(Config::defaults(gates)) };
    let text = std::fs::read_to_string(path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?;
    Config::parse(&text, gates).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))
}

/// Reads `A=true,B=false`.
fn gates(text: &str) -> Result<FeatureGates, Failure> {
    let mut gates = FeatureGates::default();
    for pair in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| Failure::usage(format!("--feature-gates: {pair:?} is not NAME=true or NAME=false")))?;
        let gate: Gate =
            name.parse().map_err(|_| Failure::usage(format!("--feature-gates: {name:?} is not a feature gate that changes a decision")))?;
        let on = value.parse().map_err(|_| Failure::usage(format!("--feature-gates: {name}={value} is neither true nor false")))?;
        gates.set(gate, on);
    }
    Ok(gates)
}

/// Loads what a command names; diagnostics go to standard error.
fn load(source: &SourceArgs) -> Result<Loaded, Failure> {
    if source.from.is_empty() {
        return Err(Failure::usage("name a source: --from PATH..., or --demo STORY"));
    }
    let inputs: Vec<Input> =
        source.from.iter().map(|path| if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path.clone()) }).collect();
    let loaded = source::load(&inputs);
    for diagnostic in loaded.diagnostics.iter().filter(|d| d.severity != Severity::Note) {
        eprintln!("{diagnostic}");
    }
    if loaded.objects.is_empty() {
        return Err(Failure::source("nothing could be read"));
    }
    Ok(loaded)
}

/// A reader that goes away is no error.
fn ignore_closed_pipe(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::source(format!("standard output: {error}"))),
        _ => Ok(()),
    }
}
