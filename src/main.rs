//! The binary: hands its arguments over to the library.

#![deny(clippy::print_stdout, clippy::print_stderr)]

fn main() -> std::process::ExitCode {
    schedscope::cli::main(std::env::args_os().collect())
}
