//! The binary: parses arguments and hands over to the library.

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    schedscope::cli::run(schedscope::cli::Cli::parse_from(schedscope::cli::as_plugin(arguments)))
}
