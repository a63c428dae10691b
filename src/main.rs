//! Passes the arguments to the library and returns its exit code.

#![deny(clippy::print_stdout, clippy::print_stderr)]

fn main() -> std::process::ExitCode {
    schedscope::cli::main(std::env::args_os().collect())
}
