//! The binary: parses arguments and hands over to the library.

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    schedscope::cli::run(schedscope::cli::Cli::parse())
}
