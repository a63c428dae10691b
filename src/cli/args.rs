//! Arguments, as typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Explore Kubernetes scheduling: why is this pod pending, and what would preemption do about it?
#[derive(Debug, Parser)]
#[command(name = "schedscope", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// One pod's decision, without a screen
    Explain(ExplainArgs),
}

/// Where the cluster comes from, and how its scheduler is configured.
#[derive(Clone, Debug, Default, Args)]
pub struct SourceArgs {
    /// Dumps to read, merged: files, directories, or - for standard input
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub from: Vec<PathBuf>,
    /// An embedded story
    #[arg(long, value_name = "STORY", conflicts_with = "from")]
    pub demo: Option<String>,
    /// A KubeSchedulerConfiguration file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Feature gates, as A=true,B=false
    #[arg(long, value_name = "GATES")]
    pub feature_gates: Option<String>,
    /// Look at every node and dry-run every candidate
    #[arg(long)]
    pub all_nodes: bool,
}

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct ExplainArgs {
    /// The pod, as NAME or pod/NAME
    #[arg(value_name = "[pod/]NAME")]
    pub pod: String,
    /// Its namespace
    #[arg(short, long, default_value = "default")]
    pub namespace: String,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
    /// The cluster
    #[command(flatten)]
    pub source: SourceArgs,
}

/// How to print an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For reading
    Text,
    /// For programs
    Json,
}
